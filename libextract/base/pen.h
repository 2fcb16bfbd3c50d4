// SPDX-License-Identifier: MIT
// base: the fast way into an extract_text. In: numbers and pieces. Out: bytes in its buffer.
//
// A pen holds the free part of the buffer in two pointers: one comparison (pen_need) a few items,
// then plain stores. Numbers are written eight digits at a time.
#ifndef EXTRACT_BASE_PEN_H
#define EXTRACT_BASE_PEN_H

#include <extract/text.h>
#include <string.h>

enum {
    PEN_BLOCK = 32,  // bytes that pen_piece copies at least: sources and room are padded so far
    PEN_NUMBER = 48, // room that any number of this file needs, with its padding block
    PEN_EIGHT = 100000000, // 10^8
    PEN_NANO = 1000000000
};

struct pen {
    struct extract_text *text;
    char *at, *end;
};

extern const char pen_blank[PEN_BLOCK];

void pen_open(struct pen *pen, struct extract_text *text);
// Gives what was written to the text. The pen must not be used until it is opened again.
void pen_close(struct pen *pen);
// Makes room for `length` bytes; false when the text has failed.
bool pen_more(struct pen *pen, size_t length);

static inline bool pen_need(struct pen *pen, size_t length)
{
    return (size_t)(pen->end - pen->at) >= length || pen_more(pen, length);
}

// What follows writes without a look at the room: pen_need comes first.

static inline void pen_char(struct pen *pen, char c)
{
    *pen->at++ = c;
}

static inline void pen_copy(struct pen *pen, const void *bytes, size_t length)
{
    memcpy(pen->at, bytes, length);
    pen->at += length;
}

#define PEN_LITERAL(pen, literal) pen_copy(pen, literal, sizeof(literal) - 1)

// A piece whose bytes are padded to PEN_BLOCK behind their end; needs length + PEN_BLOCK.
static inline void pen_piece(struct pen *pen, const char *bytes, size_t length)
{
    memcpy(pen->at, bytes, PEN_BLOCK);
    if (length > PEN_BLOCK)
        memcpy(pen->at + PEN_BLOCK, bytes + PEN_BLOCK, length - PEN_BLOCK);
    pen->at += length;
}

// Needs count + PEN_BLOCK.
static inline void pen_pad(struct pen *pen, size_t count)
{
    memcpy(pen->at, pen_blank, PEN_BLOCK);
    if (count > PEN_BLOCK)
        memset(pen->at + PEN_BLOCK, ' ', count - PEN_BLOCK);
    pen->at += count;
}

extern const uint64_t pen_powers[20]; // 10^0 to 10^19

// log10 is close to log2 * 1233 / 4096; the table settles the rest without a branch.
static inline unsigned pen_digits(uint64_t value)
{
    uint64_t one = value | 1; // 0 has a digit too; no power of ten is reached by this
    unsigned guess = (64u - (unsigned)__builtin_clzll(one)) * 1233 >> 12;
    return guess + (one >= pen_powers[guess]);
}

// Stores eight characters of which the first `count` count; 1 to 8.
static inline void pen_eight(struct pen *pen, uint64_t characters, unsigned count)
{
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        characters = __builtin_bswap64(characters);
    memcpy(pen->at, &characters, sizeof characters);
    pen->at += count;
}

// The eight decimal digits of a value below 10^8, the first in the lowest byte: two numbers of four
// digits, then four of two, then eight of one, side by side.
static inline uint64_t pen_dec_eight(uint32_t value)
{
    uint64_t x = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t high = x * 10486 >> 20 & UINT64_C(0x0000007f0000007f); // of each, what 100 goes into
    x = high | (x - high * 100) << 16;
    high = x * 103 >> 10 & UINT64_C(0x000f000f000f000f); // … 10
    x = high | (x - high * 10) << 8;
    return x | UINT64_C(0x3030303030303030);
}

// Exactly `digits` digits (1 to 20), the value's lowest.
static inline void pen_fixed(struct pen *pen, uint64_t value, unsigned digits)
{
    unsigned low = digits < 8 ? digits : 8, more = digits - low;
    uint64_t rest = value / PEN_EIGHT;
    for (unsigned i = more; i > 0; i--, rest /= 10)
        pen->at[i - 1] = (char)('0' + rest % 10);
    pen->at += more;
    pen_eight(pen, pen_dec_eight((uint32_t)(value % PEN_EIGHT)) >> (8 - low) * 8, low);
}

static inline void pen_dec(struct pen *pen, uint64_t value)
{
    if (value < 10)
        pen_char(pen, (char)('0' + value));
    else
        pen_fixed(pen, value, pen_digits(value));
}

// Right-aligned in `width` columns; needs PEN_NUMBER + width.
static inline void pen_dec_right(struct pen *pen, uint64_t value, unsigned width)
{
    unsigned digits = pen_digits(value);
    if (width > digits)
        pen_pad(pen, width - digits);
    pen_fixed(pen, value, digits);
}

static inline void pen_hex(struct pen *pen, uint64_t value)
{
    unsigned nibbles = (67u - (unsigned)__builtin_clzll(value | 1)) / 4;
    PEN_LITERAL(pen, "0x");
    for (unsigned i = nibbles; i > 0; i--, value >>= 4)
        pen->at[i - 1] = "0123456789abcdef"[value & 15];
    pen->at += nibbles;
}

// Eight upper-case hexadecimal digits of a 32-bit value, the first in the lowest byte: a nibble a
// byte, then all bytes to ASCII.
static inline uint64_t pen_upper_eight(uint32_t value)
{
    uint64_t x = value;
    x = (x << 16 | x) & UINT64_C(0x0000ffff0000ffff);
    x = (x << 8 | x) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x << 4 | x) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    uint64_t letters = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    return __builtin_bswap64(x + UINT64_C(0x3030303030303030) + letters * 7);
}

// Exactly `digits` (1 to 16) upper-case hexadecimal digits, the value's lowest.
static inline void pen_upper(struct pen *pen, uint64_t value, unsigned digits)
{
    unsigned low = digits < 8 ? digits : 8;
    if (digits > 8) {
        uint64_t high = pen_upper_eight((uint32_t)(value >> 32));
        pen_eight(pen, high >> (16 - digits) * 8, digits - 8);
    }
    pen_eight(pen, pen_upper_eight((uint32_t)value) >> (8 - low) * 8, low);
}

// Ticks as seconds and billionths, cut (not rounded): times then never show a later order.
struct pen_seconds {
    uint64_t whole;
    uint32_t nano;
};

static inline struct pen_seconds pen_split(uint64_t ticks, uint64_t hz)
{
    uint64_t rest = ticks % hz;
    bool wide = rest > UINT64_MAX / PEN_NANO;
    return (struct pen_seconds){ticks / hz,
                                wide ? (uint32_t)((unsigned __int128)rest * PEN_NANO / hz)
                                     : (uint32_t)(rest * PEN_NANO / hz)};
}

static inline void pen_seconds(struct pen *pen, uint64_t ticks, uint64_t hz)
{
    struct pen_seconds s = pen_split(ticks, hz);
    pen_dec(pen, s.whole);
    pen_char(pen, '.');
    pen_fixed(pen, s.nano, 9);
}

#endif
