// SPDX-License-Identifier: MIT
// follow: what both kinds of byte rings share: the buffer, reads that wrap, and the anchor.
// terminated_ring.c and counted_ring.c follow a ring with it.
//
// A byte ring has no slots. Places in it are counted from the array's start on and only grow, so a
// place modulo the array's size is an offset in the array. The anchor is a copy of the newest bytes
// before the next place to read.
#include "follow/follow_room.h"
#include <stdlib.h>
#include <string.h>

uint32_t bytes_size(const struct extract_recorder *r)
{
    return (uint32_t)(r->ring.entries.end - r->ring.entries.start);
}

void bytes_free(struct byte_ring *b)
{
    free(b->anchor);
    free(b->frame);
    *b = (struct byte_ring){0};
}

enum extract_code bytes_start(struct extract_recorder *r, struct extract_error *error)
{
    bytes_free(&r->bytes);
    free(r->buffer);
    r->buffer = malloc((size_t)bytes_size(r) + BYTES_MAX_ANCHOR);
    r->bytes = (struct byte_ring){
        .anchor = malloc(BYTES_MAX_ANCHOR), .frame = malloc(BYTES_ENTRY_CAPACITY), .number = -1};
    if (!r->buffer || !r->bytes.anchor || !r->bytes.frame)
        return extract_error_set(error, EXTRACT_NOMEM, "recorder", NULL, "out of memory");
    r->measure = r->ring;
    r->measure.entries.slot_bytes = 1;
    r->measure.entries.count = bytes_size(r);
    return EXTRACT_OK;
}

bool bytes_read(struct extract_recorder *r, uint64_t place, uint32_t length, uint8_t *to)
{
    uint32_t size = bytes_size(r), first = (uint32_t)(place % size);
    uint32_t here = length < size - first ? length : size - first;
    uint64_t start = r->ring.entries.start;

    return (!here || record_read(r, start + first, to, here)) &&
           (here == length || record_read(r, start, to + here, length - here));
}

void bytes_set_anchor(struct byte_ring *b, const uint8_t *newest, uint32_t length)
{
    uint32_t more = length < BYTES_MAX_ANCHOR ? length : BYTES_MAX_ANCHOR;
    uint32_t keep =
        b->anchor_bytes < BYTES_MAX_ANCHOR - more ? b->anchor_bytes : BYTES_MAX_ANCHOR - more;

    memmove(b->anchor, b->anchor + b->anchor_bytes - keep, keep);
    memcpy(b->anchor + keep, newest + length - more, more);
    b->anchor_bytes = keep + more;
}

enum extract_code bytes_report_gone(struct extract_recorder *r, struct extract_error *error)
{
    if (r->phase == RECORD_SEARCHING || !r->status.gone || r->drained)
        return EXTRACT_OK;
    return out_loss(&r->out, EXTRACT_LOSS_UNREADABLE, 0, EXTRACT_LOG_ANY_MORE, error);
}
