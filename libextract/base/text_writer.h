// SPDX-License-Identifier: MIT
// base: the fast way to append to an extract_text, for reports with millions of lines.
//
// A writer holds the free part of the text's buffer in two pointers. The caller makes one check of
// the space (text_writer_need) for several items, and then appends them with plain stores. Strings
// are copied in blocks of fixed size, and numbers are converted eight digits at a time, both
// without a loop or a branch per character.
#ifndef EXTRACT_BASE_TEXT_WRITER_H
#define EXTRACT_BASE_TEXT_WRITER_H

#include <extract/text.h>
#include <string.h>

enum {
    TEXT_WRITER_BLOCK = 32,  // bytes of a block; text_writer_piece copies at least one
    TEXT_WRITER_NUMBER = 48, // bytes that any number of this file needs, with its padding block
    TEXT_WRITER_EIGHT = 100000000, // 10^8
    TEXT_WRITER_NANO = 1000000000
};

struct text_writer {
    struct extract_text *text; // not to be used directly while the writer is open
    char *at, *end;            // where to write next, and the end of the buffer
};

extern const char text_writer_blank[TEXT_WRITER_BLOCK]; // spaces

// Opens a writer that appends to `text`.
void text_writer_open(struct text_writer *writer, struct extract_text *text);
// Adds what was written to the text. The writer must not be used until it is opened again.
void text_writer_close(struct text_writer *writer);
// Makes space for `length` bytes, and flushes the text if necessary. Returns false if the text has
// failed.
bool text_writer_more(struct text_writer *writer, size_t length);

// Ensures that there is space for `length` bytes. Returns false if the text has failed.
static inline bool text_writer_need(struct text_writer *writer, size_t length)
{
    return (size_t)(writer->end - writer->at) >= length || text_writer_more(writer, length);
}

// The functions below do not check the space: the caller calls text_writer_need first.

static inline void text_writer_char(struct text_writer *writer, char c)
{
    *writer->at++ = c;
}

static inline void text_writer_copy(struct text_writer *writer, const void *bytes, size_t length)
{
    memcpy(writer->at, bytes, length);
    writer->at += length;
}

#define TEXT_WRITER_LITERAL(writer, literal) text_writer_copy(writer, literal, sizeof(literal) - 1)

// Appends a string. At least TEXT_WRITER_BLOCK bytes must be readable at `bytes`. Needs length +
// TEXT_WRITER_BLOCK.
static inline void text_writer_piece(struct text_writer *writer, const char *bytes, size_t length)
{
    memcpy(writer->at, bytes, TEXT_WRITER_BLOCK);
    if (length > TEXT_WRITER_BLOCK)
        memcpy(writer->at + TEXT_WRITER_BLOCK, bytes + TEXT_WRITER_BLOCK,
               length - TEXT_WRITER_BLOCK);
    writer->at += length;
}

// Appends `count` spaces. Needs count + TEXT_WRITER_BLOCK.
static inline void text_writer_pad(struct text_writer *writer, size_t count)
{
    memcpy(writer->at, text_writer_blank, TEXT_WRITER_BLOCK);
    if (count > TEXT_WRITER_BLOCK)
        memset(writer->at + TEXT_WRITER_BLOCK, ' ', count - TEXT_WRITER_BLOCK);
    writer->at += count;
}

extern const uint64_t text_writer_powers[20]; // 10^0 to 10^19

// Returns the number of decimal digits of a value. log10 is close to log2 * 1233 / 4096; the table
// corrects the guess without a branch.
static inline unsigned text_writer_digits(uint64_t value)
{
    uint64_t one = value | 1; // 0 has a digit too; no power of ten is reached by this
    unsigned guess = (64u - (unsigned)__builtin_clzll(one)) * 1233 >> 12;
    return guess + (one >= text_writer_powers[guess]);
}

// Stores eight characters and advances by the first `count` of them, 1 to 8.
static inline void text_writer_eight(struct text_writer *writer, uint64_t characters,
                                     unsigned count)
{
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        characters = __builtin_bswap64(characters);
    memcpy(writer->at, &characters, sizeof characters);
    writer->at += count;
}

// Returns the eight decimal digits of a value below 10^8, the first in the lowest byte. Splits the
// value side by side: into two numbers of four digits, four of two, and eight of one.
static inline uint64_t text_writer_dec_eight(uint32_t value)
{
    uint64_t x = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t high = x * 10486 >> 20 & UINT64_C(0x0000007f0000007f); // of each, what 100 goes into
    x = high | (x - high * 100) << 16;
    high = x * 103 >> 10 & UINT64_C(0x000f000f000f000f); // … 10
    x = high | (x - high * 10) << 8;
    return x | UINT64_C(0x3030303030303030);
}

// Appends exactly `digits` digits (1 to 20), the value's lowest.
static inline void text_writer_fixed(struct text_writer *writer, uint64_t value, unsigned digits)
{
    unsigned low = digits < 8 ? digits : 8, more = digits - low;
    uint64_t rest = value / TEXT_WRITER_EIGHT;
    for (unsigned i = more; i > 0; i--, rest /= 10)
        writer->at[i - 1] = (char)('0' + rest % 10);
    writer->at += more;
    text_writer_eight(
        writer, text_writer_dec_eight((uint32_t)(value % TEXT_WRITER_EIGHT)) >> (8 - low) * 8, low);
}

// Appends a decimal number. Needs TEXT_WRITER_NUMBER.
static inline void text_writer_dec(struct text_writer *writer, uint64_t value)
{
    if (value < 10)
        text_writer_char(writer, (char)('0' + value));
    else
        text_writer_fixed(writer, value, text_writer_digits(value));
}

// Appends a value right-aligned in `width` columns. Needs TEXT_WRITER_NUMBER + width.
static inline void text_writer_dec_right(struct text_writer *writer, uint64_t value, unsigned width)
{
    unsigned digits = text_writer_digits(value);
    if (width > digits)
        text_writer_pad(writer, width - digits);
    text_writer_fixed(writer, value, digits);
}

enum { TEXT_WRITER_UPPER = 'A' - '0' - 10, TEXT_WRITER_LOWER = 'a' - '0' - 10 };

// Returns the eight hexadecimal digits of a 32-bit value, the first in the lowest byte. Spreads the
// nibbles to one per byte, and then turns all bytes into ASCII at once. `gap` is UPPER or LOWER:
// how far letters are from the character that would follow 9.
static inline uint64_t text_writer_hex_eight(uint32_t value, unsigned gap)
{
    uint64_t x = value;
    x = (x << 16 | x) & UINT64_C(0x0000ffff0000ffff);
    x = (x << 8 | x) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x << 4 | x) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    uint64_t letters = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    return __builtin_bswap64(x + UINT64_C(0x3030303030303030) + letters * gap);
}

// Appends exactly `digits` (1 to 16) hexadecimal digits, the value's lowest.
static inline void text_writer_nibbles(struct text_writer *writer, uint64_t value, unsigned digits,
                                       unsigned gap)
{
    unsigned low = digits < 8 ? digits : 8;
    if (digits > 8) {
        uint64_t high = text_writer_hex_eight((uint32_t)(value >> 32), gap);
        text_writer_eight(writer, high >> (16 - digits) * 8, digits - 8);
    }
    text_writer_eight(writer, text_writer_hex_eight((uint32_t)value, gap) >> (8 - low) * 8, low);
}

// Appends 0x and lower-case hexadecimal digits. Needs TEXT_WRITER_NUMBER.
static inline void text_writer_hex(struct text_writer *writer, uint64_t value)
{
    TEXT_WRITER_LITERAL(writer, "0x");
    text_writer_nibbles(writer, value, (67u - (unsigned)__builtin_clzll(value | 1)) / 4,
                        TEXT_WRITER_LOWER);
}

// Appends exactly `digits` (1 to 16) upper-case hexadecimal digits, the value's lowest.
static inline void text_writer_upper(struct text_writer *writer, uint64_t value, unsigned digits)
{
    text_writer_nibbles(writer, value, digits, TEXT_WRITER_UPPER);
}

// Ticks as seconds and billionths, truncated, not rounded: two times never print in the wrong
// order.
struct text_writer_seconds {
    uint64_t whole;
    uint32_t nano;
};

// Converts ticks to seconds. `hz` is ticks per second and not 0.
static inline struct text_writer_seconds text_writer_split(uint64_t ticks, uint64_t hz)
{
    uint64_t rest = ticks % hz;
    bool wide = rest > UINT64_MAX / TEXT_WRITER_NANO;
    return (struct text_writer_seconds){
        ticks / hz, wide ? (uint32_t)((unsigned __int128)rest * TEXT_WRITER_NANO / hz)
                         : (uint32_t)(rest * TEXT_WRITER_NANO / hz)};
}

// Appends ticks as seconds with nine decimals. Needs TEXT_WRITER_NUMBER.
static inline void text_writer_seconds(struct text_writer *writer, uint64_t ticks, uint64_t hz)
{
    struct text_writer_seconds s = text_writer_split(ticks, hz);
    text_writer_dec(writer, s.whole);
    text_writer_char(writer, '.');
    text_writer_fixed(writer, s.nano, 9);
}

#endif
