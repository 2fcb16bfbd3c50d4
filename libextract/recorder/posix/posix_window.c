// SPDX-License-Identifier: MIT
// posix: verified copies of the words of a ring that its writer continues to write.
//
// A copy is verified by what is read after it, not by its contents. The writer stores `tail` before
// it overwrites the words that `tail` passes. The reader copies words, then reads `tail`. Whatever
// is at or after that tail was not overwritten while it was copied.
//
//   writer (target)                           reader (this file)
//   ───────────────────────────────────       ─────────────────────────────────────────
//   1 tail = past the oldest record           1 read head and tail
//     ── barrier ──                           2 copy words, in the order of positions
//   2 first word: open; all but the data      3 read the block again: generation, tail
//     ── barrier ──                           4 accept what is at or after that tail
//   3 head = past the new record
//     ── barrier ──
//   4 data
//     ── barrier ──
//   5 first word: done
//
//   old tail      new tail                       head, as read in 1
//      ├─────────────┼──────────────────────────────┤
//      │  discarded  │  accepted                    │  not copied
//
// Words are copied in the order of their positions, so the first word of a record is read no later
// than its data. A record that is done in the copy therefore has its data in the copy. A copy that
// wraps at the end of the ring reads the start of the ring second. Shared memory is read in that
// order by ringside_trace_object_read. (docs/formats/posix-ring.md, "Consistency")
//
// A reader that is slower than the writer is lapped if it copies from its own position: the writer
// passes that position during each copy. Such a reader starts at a safe distance from the head
// instead (`safe_words`) and skips the records before it.
//
//                       a copy from `at` was overwritten
//   KEEPS UP ─────────────────────────────────────────────────► FALLS BEHIND
//   safe_words == 0                                             safe_words > 0
//   copies up to batch_words from `at`                          copies the last safe_words before
//        ▲                                                      head, from a record boundary there
//        │                a copy from `at` survived                  │
//        └───────────────────────────────────────────────────────────┘
#include "posix/posix_room.h"

// Copies `words` words from position `at` on into the window. Refuses a ring that reaches beyond
// the end of its object.
static int copy_words(struct posix_trace *trace, uint32_t at, uint32_t words)
{
    struct posix_reader *r = &trace->reader;
    const struct posix_stream *block = &r->block;
    struct extract_memory *memory = trace->target->memory;
    uint32_t total = trace->target->block.total_bytes;

    if (block->ring_at > total || (uint64_t)block->ring_words * 4 > total - block->ring_at)
        return EIO;

    uint64_t ring = trace->target->address + block->ring_at;
    uint32_t slot = at & (block->ring_words - 1), first = block->ring_words - slot;
    size_t got;
    if (first > words)
        first = words;
    if (extract_memory_read(memory, ring + (uint64_t)slot * 4, r->bytes, (size_t)first * 4, &got,
                            NULL))
        return EIO;
    if (first < words && extract_memory_read(memory, ring, r->bytes + (size_t)first * 4,
                                             (size_t)(words - first) * 4, &got, NULL))
        return EIO;
    r->window_at = at;
    r->window_words = words;
    return 0;
}

// Updates the safe distance after a copy of `words` words, during which the writer wrote `written`
// words. If the next copy is as slow, the writer overwrites at most three quarters of the ring
// while it lasts. A lower value is taken at once, since too high a value costs a whole copy. A
// higher value is approached in steps of a quarter.
static void update_safe_words(struct posix_reader *r, uint32_t words, uint32_t written)
{
    uint64_t max_written = (uint64_t)r->block.ring_words / 4 * 3;
    uint32_t fits = (uint32_t)(max_written * words / ((uint64_t)words + written)) + 1;
    uint32_t grown = r->safe_words + r->safe_words / 4 + 1;

    r->safe_words = r->safe_words && fits > grown ? grown : fits;
}

// Copies `words` words from `at` on, then reads the block again to verify them. Leaves the window
// empty if the ring has a new generation or the stream is no longer ours. Returns EAGAIN if
// everything that was copied may have been overwritten.
static int copy_verified(struct posix_trace *trace, uint32_t at, uint32_t words)
{
    struct posix_reader *r = &trace->reader;
    uint32_t generation = r->generation, head = r->block.head;
    int error = copy_words(trace, at, words);

    if (!error)
        error = posix_ring_poll(trace);
    if (error || !r->is_started || r->generation != generation) {
        r->safe_words = error == EAGAIN && r->is_started ? words / 2 + 1 : r->safe_words;
        r->window_words = 0;
        return error;
    }
    const struct posix_stream *block = &r->block;
    bool complete = block->head - at <= block->head - block->tail;
    bool partial = block->tail - at < words;
    if (complete && at == r->at)
        r->safe_words = 0;
    else
        update_safe_words(r, words, block->head - head);
    return complete || partial ? 0 : EAGAIN;
}

// Returns the word of the window at a position.
static uint32_t window_word(const struct posix_reader *r, uint32_t position)
{
    struct extract_cursor c =
        extract_cursor_make(r->bytes, (size_t)r->window_words * 4, r->block.layout.order);

    extract_cursor_seek(&c, (uint64_t)(position - r->window_at) * 4);
    return extract_cursor_u32(&c);
}

// Walks back from `head` over complete records of the window, by their last words, and stops at the
// tail. Returns the position of the oldest record that was reached; `head` if there is none.
static uint32_t walk_back(const struct posix_reader *r, uint32_t head)
{
    uint32_t tail = r->block.tail, at = head, length;
    uint32_t oldest = tail - r->window_at < r->window_words ? tail : r->window_at;

    while (at != oldest && (length = posix_trailer_words(window_word(r, at - 1), at)) &&
           length <= at - oldest)
        at -= length;
    return at;
}

// Reads where the writer is. A slow reader reads head and tail only, since copy_verified reads the
// whole block after the copy.
static int poll_head(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    uint64_t address = posix_stream_address(trace->target, trace->stream);
    uint32_t head_and_tail[2];

    if (!r->safe_words || !r->is_started || !r->block.ring_words)
        return posix_ring_poll(trace);
    if (posix_read_words(trace->target, address + POSIX_STREAM_AT_HEAD, head_and_tail, 2))
        return EIO;
    r->block.head = head_and_tail[0];
    r->block.tail = head_and_tail[1];
    return posix_stream_has_valid_positions(&r->block) ? 0 : posix_ring_poll(trace);
}

// Copies the last `safe_words` words before the head and moves the reading position to the first
// record boundary in them. Fewer words than the newest record has contain no boundary, so the safe
// distance is at least the length of that record. Returns EAGAIN if no boundary was found.
static int skip_to_newest(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    uint32_t head = r->block.head, words = head - r->at;

    words = words < r->safe_words ? words : r->safe_words;
    words = words < POSIX_WINDOW ? words : POSIX_WINDOW;
    int error = copy_verified(trace, head - words, words);
    if (!r->window_words)
        return error;
    uint32_t newest = posix_trailer_words(window_word(r, head - 1), head);
    uint32_t at = error ? head : walk_back(r, head);
    r->safe_words = newest > r->safe_words ? newest : r->safe_words;
    r->window_words = at == head ? 0 : r->window_words;
    if (at == head)
        return EAGAIN;
    if (at != r->at) { // the records before `at` are lost
        r->at = at;
        r->is_overrun = true;
        r->gap = r->gap == POSIX_NO_GAP ? POSIX_OVERFLOWED : r->gap;
    }
    return 0;
}

// Tries to continue with the newest records after a copy was overwritten.
static int resync(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    int error = EAGAIN;

    for (unsigned i = 0; i < POSIX_MAX_TRIES && error == EAGAIN && r->is_started; i++) {
        error = poll_head(trace);
        if (error)
            return error;
        posix_ring_note_loss(r);
        if (r->block.head != r->at)
            error = skip_to_newest(trace);
    }
    return error;
}

int posix_window_fill(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    int error = poll_head(trace);

    if (error)
        return error;
    posix_ring_note_loss(r);
    uint32_t words = r->block.head - r->at;
    if (!words)
        return EAGAIN;
    if (r->safe_words && words > r->safe_words) {
        error = skip_to_newest(trace);
    } else {
        error = copy_verified(trace, r->at, words < r->batch_words ? words : r->batch_words);
        posix_ring_note_loss(r);
    }
    return error == EAGAIN && r->is_started ? resync(trace) : error;
}
