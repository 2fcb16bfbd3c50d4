// SPDX-License-Identifier: MIT
// formats/posix: decodes one record, if it is one.
//
// Source: docs/formats/posix-ring.md, "A record".
#include "formats/posix/posix.h"

enum {
    FIRST_CUT = 1 << 28,
    FIRST_INTERRUPT = 1 << 29,
    STATE_OPEN = 1,
    STATE_DONE = 2,
    TRAILER = 0xA,
    LEAST = 3,        // words of a record
    TIED = 0x0FFFFFFF // bits that the first and last word have in common: position and length
};

static uint32_t words_of(uint32_t first)
{
    return first >> 16 & 0xFFF;
}

static uint32_t stamp_words(const struct posix_layout *layout)
{
    return layout->stamp_bits > 32 ? 2 : 1;
}

uint32_t posix_record_head(const struct posix_layout *layout)
{
    return 8 + 2u * layout->address_bytes + (layout->pids ? 4 : 0) + (layout->cores ? 4 : 0) +
           4 * stamp_words(layout);
}

uint32_t posix_trailer_words(uint32_t last, uint32_t position)
{
    uint32_t words = words_of(last);
    bool fits = last >> 28 == TRAILER && (last & 0xFFFF) == ((position - words) & 0xFFFF);

    return fits ? words : 0;
}

uint32_t posix_record_words(uint32_t first, uint32_t position)
{
    uint32_t words = words_of(first), state = first >> 30;
    bool fits = (state == STATE_OPEN || state == STATE_DONE) && words >= LEAST &&
                (first & 0xFFFF) == (position & 0xFFFF);

    return fits ? words : 0;
}

// Reads a number of one word or two. The lower word comes first in either byte order.
static uint64_t read_number(struct extract_cursor *c, uint32_t words)
{
    uint64_t low = extract_cursor_u32(c);

    return words == 2 ? low | (uint64_t)extract_cursor_u32(c) << 32 : low;
}

bool posix_record_read(struct posix_record *r, const uint8_t *bytes, uint32_t length,
                       const struct posix_layout *layout, uint32_t position)
{
    struct extract_cursor c = extract_cursor_make(bytes, length, layout->order);
    uint32_t address_words = layout->address_bytes / 4, first = extract_cursor_u32(&c);

    *r = (struct posix_record){.words = words_of(first),
                               .done = first >> 30 == STATE_DONE,
                               .cut = first & FIRST_CUT,
                               .interrupt = first & FIRST_INTERRUPT};
    // The first and the last word must agree with each other and with the position.
    uint32_t words = c.failed ? 0 : posix_record_words(first, position);
    if (!words || !extract_cursor_seek(&c, (uint64_t)(words - 1) * 4))
        return false;
    uint32_t last = extract_cursor_u32(&c);
    if (c.failed || last != ((first & TIED) | (uint32_t)TRAILER << 28))
        return false;
    extract_cursor_seek(&c, 4);
    uint32_t second = extract_cursor_u32(&c);
    r->id = second & 0xFFFF;
    r->data_bytes = second >> 16;
    r->address = read_number(&c, address_words);
    r->thread = read_number(&c, address_words);
    r->pid = layout->pids ? extract_cursor_u32(&c) : 0;
    uint32_t core = layout->cores ? extract_cursor_u32(&c) : 0;
    r->core = (uint8_t)core;
    r->stamp = read_number(&c, stamp_words(layout));
    r->data_at = (uint32_t)c.at;
    uint32_t filled = r->data_at + (r->data_bytes + 3) / 4 * 4 + 4;
    bool died = r->cut && !r->data_bytes; // the writer died before it copied the data
    return !c.failed && core <= UINT8_MAX &&
           (r->words * 4 == filled || (died && r->words * 4 > filled));
}
