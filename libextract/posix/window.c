// SPDX-License-Identifier: MIT
// posix: copies of a stretch of a ring that its writer may go on with.
// In: a place. Out: words behind it of which nothing was overwritten before they were read.
//
// What counts is a tail that is read after the words (docs/formats/posix-ring.md, "Consistency").
// Words are read in the order of their positions, so that a record that is done has its data.
//
// A reader that is slower than the writer is overtaken wherever it goes on at its place. It takes
// the newest, as far behind the head as what it copies will hold: its reach.
#include "posix/internal.h"

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

// Three quarters of the ring are to be written, and no more, while as far as the reach goes is
// copied at the writer's speed of the last copy. Less is believed at once, more bit by bit.
static void note_reach(struct posix_reader *r, uint32_t words, uint32_t written)
{
    uint64_t most = (uint64_t)r->block.ring_words / 4 * 3;
    uint32_t fits = (uint32_t)(most * words / ((uint64_t)words + written)) + 1;
    uint32_t grown = r->safe_words + r->safe_words / 4 + 1;
    r->safe_words = r->safe_words && fits > grown ? grown : fits;
}

// Reads `words` from `at` on, then the block again. The window is empty where the ring began again
// meanwhile. EAGAIN: all that was read may have been overwritten.
static int copy_proven(struct posix_trace *trace, uint32_t at, uint32_t words)
{
    struct posix_reader *r = &trace->reader;
    uint32_t generation = r->generation, head = r->block.head;
    int error = copy(trace, at, words);
    if (!error)
        error = posix_ring_look(trace);
    if (error || !r->begun || r->generation != generation) {
        r->safe_words = error == EAGAIN && r->begun ? words / 2 + 1 : r->safe_words;
        r->window = 0;
        return error;
    }
    const struct posix_stream *block = &r->block;
    bool whole = block->head - at <= block->head - block->tail, partly = block->tail - at < words;
    if (whole && at == r->at)
        r->safe_words = 0;
    else
        note_reach(r, words, block->head - head);
    return whole || partly ? 0 : EAGAIN;
}

static uint32_t window_word(const struct posix_reader *r, uint32_t position)
{
    struct extract_cursor c =
        extract_cursor_make(r->bytes, (size_t)r->window * 4, r->block.layout.order);
    extract_cursor_seek(&c, (uint64_t)(position - r->window_at) * 4);
    return extract_cursor_u32(&c);
}

// Walks back from `head` over whole records of the window, down to the tail. Returns where that
// ends.
static uint32_t walk_back(const struct posix_reader *r, uint32_t head)
{
    uint32_t tail = r->block.tail, at = head, length;
    uint32_t least = tail - r->window_at < r->window ? tail : r->window_at;
    while (at != least && (length = posix_trailer_words(window_word(r, at - 1), at)) &&
           length <= at - least)
        at -= length;
    return at;
}

// Where the writer is. A slow reader reads no more for that, since all of the block is read behind
// what it copies.
static int look(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    uint64_t address = posix_stream_address(trace->target, trace->stream);
    uint32_t places[2];
    if (!r->safe_words || !r->begun || !r->block.ring_words)
        return posix_ring_look(trace);
    if (posix_peek(trace->target, address + POSIX_STREAM_AT_HEAD, places, 2))
        return EIO;
    r->block.head = places[0];
    r->block.tail = places[1];
    return posix_stream_places(&r->block) ? 0 : posix_ring_look(trace);
}

// Goes on at a record of the window; others in front of it were not read.
static void skip_to(struct posix_reader *r, uint32_t at)
{
    if (at == r->at)
        return;
    r->at = at;
    r->overrun = true;
    r->gap = r->gap == POSIX_NO_GAP ? POSIX_OVERFLOWED : r->gap;
}

// Copies as far as the reach goes, and goes on at the first border there. What is shorter than the
// newest record has none: then the reach is not less than that.
static int take_newest(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    uint32_t head = r->block.head, words = head - r->at;
    words = words < r->safe_words ? words : r->safe_words;
    words = words < POSIX_WINDOW ? words : POSIX_WINDOW;
    int error = copy_proven(trace, head - words, words);
    if (!r->window)
        return error;
    uint32_t newest = posix_trailer_words(window_word(r, head - 1), head);
    uint32_t at = error ? head : walk_back(r, head);
    r->safe_words = newest > r->safe_words ? newest : r->safe_words;
    r->window = at == head ? 0 : r->window;
    if (at == head)
        return EAGAIN;
    skip_to(r, at);
    return 0;
}

static int jump(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    int error = EAGAIN;
    for (unsigned i = 0; i < POSIX_TRIES && error == EAGAIN && r->begun; i++) {
        error = look(trace);
        if (error)
            return error;
        posix_ring_note(r);
        if (r->block.head != r->at)
            error = take_newest(trace);
    }
    return error;
}

int posix_window_fill(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    int error = look(trace);
    if (error)
        return error;
    posix_ring_note(r);
    uint32_t words = r->block.head - r->at;
    if (!words)
        return EAGAIN;
    if (r->safe_words && words > r->safe_words) {
        error = take_newest(trace);
    } else {
        error = copy_proven(trace, r->at, words < r->batch ? words : r->batch);
        posix_ring_note(r);
    }
    return error == EAGAIN && r->begun ? jump(trace) : error;
}
