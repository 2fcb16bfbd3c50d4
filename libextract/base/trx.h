// SPDX-License-Identifier: MIT
// base: recognizes the start of a ThreadX trace and its word size. Both the dump file
// (memory/trx_image.c) and the ring's header (formats/threadx/header.c) need it. Source: TraceX
// user guide, chapter 11, "Trace control header".
#ifndef EXTRACT_BASE_TRX_H
#define EXTRACT_BASE_TRX_H

#include "base/cursor.h"

#define EXTRACT_TRX_ID 0x54585442u

enum { EXTRACT_TRX_NARROW_HEADER = 48 }; // bytes of a header whose words have 4 bytes

// Returns the word size of a little-endian header, in which both sizes start alike. The second word
// of 4 bytes is the mask, which is hardly ever 0; in a header of 8-byte words it is the upper half
// of the id, 0. A narrow header with a mask of 0 is recognized by its third and fourth words: base
// and registry are one header apart.
static inline unsigned extract_trx_little_word(struct extract_cursor c)
{
    uint32_t second = extract_cursor_u32(&c);
    uint32_t base = extract_cursor_u32(&c), registry = extract_cursor_u32(&c);
    return second || (!c.failed && registry - base == EXTRACT_TRX_NARROW_HEADER) ? 4 : 8;
}

// Returns the bytes of the target's ULONG, 4 or 8, and its byte order, by the first bytes of a
// control header. Returns 0 if the bytes are not such a header.
static inline unsigned extract_trx_word_bytes(const uint8_t *bytes, size_t length,
                                              enum extract_byte_order *order)
{
    struct extract_cursor big = extract_cursor_make(bytes, length, EXTRACT_BIG);
    struct extract_cursor little = extract_cursor_make(bytes, length, EXTRACT_LITTLE);
    uint32_t first = extract_cursor_u32(&big), second = extract_cursor_u32(&big);
    if (big.failed)
        return 0;
    *order = EXTRACT_BIG;
    if (first == EXTRACT_TRX_ID)
        return 4;
    if (first == 0 && second == EXTRACT_TRX_ID)
        return 8;
    *order = EXTRACT_LITTLE;
    return extract_cursor_u32(&little) == EXTRACT_TRX_ID ? extract_trx_little_word(little) : 0;
}

#endif
