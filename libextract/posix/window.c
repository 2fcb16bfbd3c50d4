// SPDX-License-Identifier: MIT
// posix: copies of a stretch of a ring that its writer may go on with.
// In: a place. Out: words behind it of which nothing was overwritten before they were read.
//
// What counts is a tail that is read after the words (docs/formats/posix-ring.md, "Consistency").
// Words are read in the order of their positions, so that a record that is done has its data.
#include "posix/room.h"

static uint64_t ring_address(const struct posix_trace *trace)
{
    return trace->target->address + trace->reader.block.ring_at;
}

// Words of an object cannot lie behind its end.
static bool ring_lies_inside(const struct posix_trace *trace)
{
    const struct posix_stream *block = &trace->reader.block;
    uint32_t total = trace->target->block.total_bytes;
    return block->ring_at <= total && (uint64_t)block->ring_words * 4 <= total - block->ring_at;
}

static int copy(struct posix_trace *trace, uint32_t at, uint32_t words)
{
    struct posix_reader *r = &trace->reader;
    uint32_t place = at & (r->block.ring_words - 1), first = r->block.ring_words - place;
    uint64_t ring = ring_address(trace);
    size_t got;
    if (first > words)
        first = words;
    if (!ring_lies_inside(trace) ||
        extract_memory_read(trace->target->memory, ring + (uint64_t)place * 4, r->bytes,
                            (size_t)first * 4, &got, NULL))
        return EIO;
    if (first < words &&
        extract_memory_read(trace->target->memory, ring, r->bytes + (size_t)first * 4,
                            (size_t)(words - first) * 4, &got, NULL))
        return EIO;
    r->window_at = at;
    r->window = words;
    return 0;
}

// Reads `words` from `at` on, then the block again. The window is empty where the ring began anew
// meanwhile. EAGAIN: all that was read may have been overwritten.
static int copy_proven(struct posix_trace *trace, uint32_t at, uint32_t words)
{
    struct posix_reader *r = &trace->reader;
    uint32_t generation = r->generation;
    int error = copy(trace, at, words);
    if (!error)
        error = posix_ring_look(trace);
    if (error || !r->begun || r->generation != generation) {
        r->window = 0;
        return error;
    }
    const struct posix_stream *block = &r->block;
    bool whole = block->head - at <= block->head - block->tail, partly = block->tail - at < words;
    if (!whole && !partly)
        r->window = 0;
    return whole || partly ? 0 : EAGAIN;
}

static uint32_t window_word(const struct posix_reader *r, uint32_t position)
{
    struct extract_cursor c =
        extract_cursor_make(r->bytes, (size_t)r->window * 4, r->block.layout.order);
    extract_cursor_seek(&c, (uint64_t)(position - r->window_at) * 4);
    return extract_cursor_u32(&c);
}

// Walks back from `head` over whole records of the window, down to the tail; the reader's place is
// where that ends.
static void walk_back(struct posix_reader *r, uint32_t head)
{
    uint32_t tail = r->block.tail, at = head, length;
    uint32_t least = tail - r->window_at < r->window ? tail : r->window_at;
    while (at != least && (length = posix_trailer_words(window_word(r, at - 1), at)) &&
           length <= at - least)
        at -= length;
    r->at = at;
}

// A reader that is slower than the writer takes the newest that it can prove: half of the ring, or
// less and less of it.
static int jump(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    uint32_t words = r->block.ring_words, head = r->block.head;
    int error = EAGAIN;
    while (error == EAGAIN && r->begun && (words /= 2) >= POSIX_RING_LEAST / 4) {
        head = r->block.head;
        if (words <= POSIX_WINDOW && words <= head - r->block.tail)
            error = copy_proven(trace, head - words, words);
    }
    if (!error && r->window)
        walk_back(r, head);
    return error;
}

int posix_window_fill(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    int error = posix_ring_look(trace);
    if (error)
        return error;
    posix_ring_note(r);
    uint32_t words = r->block.head - r->at;
    if (!words)
        return EAGAIN;
    error = copy_proven(trace, r->at, words < r->batch ? words : r->batch);
    posix_ring_note(r);
    if (error == EAGAIN && r->begun)
        error = jump(trace);
    return error;
}
