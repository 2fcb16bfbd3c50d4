// SPDX-License-Identifier: MIT
// base: the checked cursor, the only code that touches the bytes of a trace.
//
// A cursor reads integers and spans from bytes in memory, in their byte order. A read past the end
// returns 0 and sets `failed`, which stays set; no byte outside of the given ones is ever touched.
// So a caller reads a complete structure and tests `failed` once.
#ifndef EXTRACT_BASE_CURSOR_H
#define EXTRACT_BASE_CURSOR_H

#include <extract/memory.h>
#include <string.h>

#define EXTRACT_HOST_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

struct extract_cursor {
    const uint8_t *bytes;
    size_t length;
    size_t at;
    bool swap; // the byte order is not the host's
    bool failed;
};

static inline struct extract_cursor extract_cursor_make(const void *bytes, size_t length,
                                                        enum extract_byte_order order)
{
    struct extract_cursor c = {bytes ? bytes : "", bytes ? length : 0, 0,
                               (order == EXTRACT_BIG) != EXTRACT_HOST_BIG, false};
    return c;
}

static inline size_t extract_cursor_left(const struct extract_cursor *c)
{
    return c->length - c->at;
}

// Moves to an absolute offset. Past the end is a failure; the end itself is allowed.
static inline bool extract_cursor_seek(struct extract_cursor *c, uint64_t offset)
{
    if (offset > c->length) {
        c->failed = true;
        return false;
    }
    c->at = (size_t)offset;
    return true;
}

// Returns the `length` bytes at the cursor and moves past them. Returns NULL past the end.
static inline const uint8_t *extract_cursor_span(struct extract_cursor *c, uint64_t length)
{
    if (length > extract_cursor_left(c)) {
        c->failed = true;
        return NULL;
    }
    const uint8_t *p = c->bytes + c->at;
    c->at += (size_t)length;
    return p;
}

static inline uint8_t extract_cursor_u8(struct extract_cursor *c)
{
    const uint8_t *p = extract_cursor_span(c, 1);
    return p ? p[0] : 0;
}

static inline uint16_t extract_cursor_u16(struct extract_cursor *c)
{
    const uint8_t *p = extract_cursor_span(c, 2);
    uint16_t v = 0;
    if (!p)
        return 0;
    memcpy(&v, p, sizeof v);
    return c->swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t extract_cursor_u32(struct extract_cursor *c)
{
    const uint8_t *p = extract_cursor_span(c, 4);
    uint32_t v = 0;
    if (!p)
        return 0;
    memcpy(&v, p, sizeof v);
    return c->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t extract_cursor_u64(struct extract_cursor *c)
{
    const uint8_t *p = extract_cursor_span(c, 8);
    uint64_t v = 0;
    if (!p)
        return 0;
    memcpy(&v, p, sizeof v);
    return c->swap ? __builtin_bswap64(v) : v;
}

// Reads a target word of 4 or 8 bytes.
static inline uint64_t extract_cursor_word(struct extract_cursor *c, unsigned word_bytes)
{
    return word_bytes == 8 ? extract_cursor_u64(c) : extract_cursor_u32(c);
}

// Reads a number of 1, 2, 4 or 8 bytes. Another size fails.
static inline uint64_t extract_cursor_number(struct extract_cursor *c, unsigned bytes)
{
    switch (bytes) {
    case 1:
        return extract_cursor_u8(c);
    case 2:
        return extract_cursor_u16(c);
    case 4:
        return extract_cursor_u32(c);
    case 8:
        return extract_cursor_u64(c);
    default:
        c->failed = true;
        return 0;
    }
}

// For what loops over words call: only without a call, compilers test several words at once.
#define EXTRACT_INLINED __attribute__((always_inline)) inline

// Searches look at blocks of this many words. The loop over a block has no branches, so that
// compilers test several words at once.
enum { EXTRACT_BLOCK_WORDS = 64 };

// Returns a word of bytes as this host reads it.
EXTRACT_INLINED static uint32_t extract_raw_word(const uint8_t *bytes)
{
    uint32_t word;

    memcpy(&word, bytes, sizeof word);
    return word;
}

// Moves to the next word, at a multiple of 4 bytes, that is one of two values in either byte order.
// Returns false at the end.
static inline bool extract_cursor_find(struct extract_cursor *c, uint32_t a, uint32_t b)
{
    const uint32_t swapped_a = __builtin_bswap32(a), swapped_b = __builtin_bswap32(b);
    const size_t block = 4 * EXTRACT_BLOCK_WORDS;
    uint32_t found = 0;

    for (; extract_cursor_left(c) >= block; c->at += block) {
        const uint8_t *from = c->bytes + c->at;
        for (unsigned i = 0; i < EXTRACT_BLOCK_WORDS; i++) {
            uint32_t v = extract_raw_word(from + 4 * (size_t)i);
            found |= (uint32_t)((v == a) | (v == b) | (v == swapped_a) | (v == swapped_b));
        }
        if (found)
            break;
    }
    for (; extract_cursor_left(c) >= 4; c->at += 4) {
        uint32_t v = extract_raw_word(c->bytes + c->at);
        if (v == a || v == b || v == swapped_a || v == swapped_b)
            return true;
    }
    return false;
}

// Tests a word as this host reads it, and the word after it, without branches. `swap`: their byte
// order is not the host's.
typedef bool extract_words_test(uint32_t raw, uint32_t next, bool swap);

// Moves to the next word, at a multiple of 4 bytes, that a test accepts with the word after it.
// Returns false at the end.
EXTRACT_INLINED static bool extract_find_words(struct extract_cursor *c, extract_words_test *test,
                                               bool swap)
{
    const size_t block = 4 * EXTRACT_BLOCK_WORDS;
    uint32_t found = 0;

    for (; extract_cursor_left(c) >= block + 4; c->at += block) {
        const uint8_t *from = c->bytes + c->at;
        for (unsigned i = 0; i < EXTRACT_BLOCK_WORDS; i++)
            found |= test(extract_raw_word(from + 4 * (size_t)i),
                          extract_raw_word(from + 4 * (size_t)i + 4), swap);
        if (found)
            break;
    }
    for (; extract_cursor_left(c) >= 8; c->at += 4)
        if (test(extract_raw_word(c->bytes + c->at), extract_raw_word(c->bytes + c->at + 4), swap))
            return true;
    return false;
}

// Does the same in the byte order of the cursor: each order has a loop of its own.
EXTRACT_INLINED static bool extract_cursor_find_words(struct extract_cursor *c,
                                                      extract_words_test *test)
{
    return c->swap ? extract_find_words(c, test, true) : extract_find_words(c, test, false);
}

// Moves past words of 8 bytes that are 0.
static inline void extract_cursor_skip_zeros(struct extract_cursor *c)
{
    enum { WORDS = 8 };
    uint64_t v[WORDS];

    for (; extract_cursor_left(c) >= sizeof v; c->at += sizeof v) {
        memcpy(v, c->bytes + c->at, sizeof v);
        if (v[0] | v[1] | v[2] | v[3] | v[4] | v[5] | v[6] | v[7])
            break;
    }
    for (; extract_cursor_left(c) >= sizeof *v; c->at += sizeof *v) {
        memcpy(v, c->bytes + c->at, sizeof *v);
        if (*v)
            return;
    }
}

// Returns the byte order in which the bytes begin with a magic number, UNKNOWN if they do not.
static inline enum extract_byte_order extract_magic_order(const void *bytes, size_t length,
                                                          uint32_t magic)
{
    struct extract_cursor c = extract_cursor_make(bytes, length, EXTRACT_LITTLE);
    uint32_t first = extract_cursor_u32(&c);
    if (c.failed)
        return EXTRACT_ORDER_UNKNOWN;
    if (first == magic)
        return EXTRACT_LITTLE;
    return first == __builtin_bswap32(magic) ? EXTRACT_BIG : EXTRACT_ORDER_UNKNOWN;
}

// Stores the low `bytes` bytes of a value in a byte order. Returns the place after them.
static inline uint8_t *extract_store(uint8_t *to, uint64_t value, unsigned bytes,
                                     enum extract_byte_order order)
{
    for (unsigned i = 0; i < bytes; i++)
        to[order == EXTRACT_BIG ? bytes - 1 - i : i] = (uint8_t)(value >> (8 * i));
    return to + bytes;
}

#endif
