// SPDX-License-Identifier: MIT
// snapshot: the consistent copy of a ring of bytes, with an index of its entries and one verdict
// per entry.
//
// The header's counters are read before and after the copy. What is between the later tail and the
// earlier head was complete before the copy began, and unchanged until it ended. If the writer laps
// the copy, the next attempt copies only half as many of the newest bytes.
#include "snapshot/snapshot_room.h"
#include "memory/memory_hooks.h"
#include <stdlib.h>
#include <string.h>

enum {
    TRIES = 8, // attempts to copy, each with half as many bytes as the one before
    READS = 4, // attempts to read a header whose words contradict each other
    POLLS = 4, // reads of the header until two are alike: then the counts are those of the copy
    HOLES = 64 // holes that are kept apart; further ones extend the last
};

struct hole {
    uint64_t from, to; // offsets from the buffer's start, bytes
};

struct copy {
    struct extract_snapshot *snapshot;
    struct extract_memory *memory;
    struct extract_ring_counters before, after;
    bool resolved; // the words of `before` are consistent with each other
    struct hole holes[HOLES];
    uint32_t hole_count;
    uint64_t missing;        // sum of all holes, bytes
    enum extract_code fault; // why `outcome` is FAILED
};

// ---- The counters ----

// Reads the header's words that change. Returns false if they cannot be read, or are inconsistent.
static bool read_ring_counters(struct copy *copy, uint8_t *header,
                               struct extract_ring_counters *counters)
{
    const struct extract_ring *ring = &copy->snapshot->ring;
    const struct extract_stream *stream = ring->format->stream;
    unsigned reads = stream->counted ? READS : 1;

    for (unsigned i = 0; i < reads; i++) {
        if (!stream->read_live(copy->memory, ring, header))
            return false;
        if (stream->read_counters(ring, header, counters))
            return true;
    }
    return false;
}

static bool is_same(const struct extract_ring_counters *a, const struct extract_ring_counters *b)
{
    return a->tail == b->tail && a->head == b->head && a->written == b->written &&
           a->lost == b->lost && a->generation == b->generation;
}

// Reads the counters that the copy starts from. The first copy of a halted target uses those that
// the ring was found with. A running target that counts is polled until two reads are alike.
static bool read_before(struct copy *copy, bool again)
{
    struct extract_snapshot *snapshot = copy->snapshot;
    struct extract_ring *ring = &snapshot->ring;
    struct extract_ring_counters first;
    bool fits = ring->format->stream->read_counters(ring, ring->header, &first);

    copy->before = first;
    copy->resolved = fits && !again;
    unsigned polls = !again ? 0 : first.has_no_counts || first.has_overwritten_count ? 1 : POLLS;
    for (unsigned i = 0; !copy->resolved && i < polls; i++) {
        bool read = read_ring_counters(copy, ring->header, &copy->before);
        copy->resolved = fits && read && is_same(&first, &copy->before);
        first = copy->before;
        fits = read;
    }
    memcpy(snapshot->bytes, ring->header, ring->header_bytes);
    return fits;
}

// Reads the counters after the copy. If a running target stops responding, its ring may have
// changed; a file has not.
static bool read_after(struct copy *copy)
{
    uint8_t header[EXTRACT_HEADER_MAX];

    memcpy(header, copy->snapshot->ring.header, sizeof header);
    if (copy->snapshot->ring.origin == EXTRACT_FROM_REBUILT) { // the target's header is damaged
        copy->after = copy->before;
        return true;
    }
    if (read_ring_counters(copy, header, &copy->after))
        return true;
    copy->after = copy->before;
    return !extract_memory_is_running(copy->memory);
}

// ---- The bytes ----

// Returns the offset of the buffer in the copy. The copy ends with the buffer.
static uint64_t buffer_at(const struct extract_ring *ring)
{
    return ring->length - (ring->entries.end - ring->entries.start);
}

static void note_hole(void *context, uint64_t from, uint64_t to)
{
    struct copy *copy = context;
    const struct extract_ring *ring = &copy->snapshot->ring;
    uint64_t start = buffer_at(ring);

    copy->missing += to - from;
    if (copy->hole_count == HOLES)
        copy->holes[HOLES - 1].to = to - start;
    else
        copy->holes[copy->hole_count++] = (struct hole){from - start, to - start};
}

// Copies a part of the buffer.
static void copy_part(struct copy *copy, uint64_t first, uint64_t length)
{
    const struct extract_ring *ring = &copy->snapshot->ring;
    uint64_t start = buffer_at(ring), base = ring->entries.start - start;

    if (length)
        extract_snapshot_copy(copy->snapshot, copy->memory, base, start + first,
                              start + first + length, note_hole, copy);
}

// Copies the bytes between two positions in their order. A part that passes the buffer's end is
// copied last, so that no byte of an entry is older than one before it.
static void copy_bytes(struct copy *copy, uint32_t from, uint32_t to)
{
    const struct extract_ring *ring = &copy->snapshot->ring;
    uint64_t size = ring->entries.end - ring->entries.start;
    uint64_t first = from % size, length = to - from;
    uint64_t here = length < size - first ? length : size - first;

    copy->hole_count = 0;
    copy->missing = 0;
    copy_part(copy, first, here);
    copy_part(copy, 0, length - here);
}

static bool touches(const struct hole *hole, const struct extract_extent *place, uint64_t size)
{
    uint64_t end = (uint64_t)place->at + place->length;

    return (hole->from < end && hole->to > place->at) || (end > size && hole->from < end - size);
}

static void validate_holes(struct copy *copy)
{
    struct extract_snapshot *snapshot = copy->snapshot;
    uint64_t size = snapshot->ring.entries.end - snapshot->ring.entries.start;

    for (uint32_t k = 0; k < copy->hole_count; k++)
        for (uint32_t i = 0; i < snapshot->ring.entries.count; i++)
            if (touches(&copy->holes[k], &snapshot->index[i], size))
                snapshot->verdict[i] = EXTRACT_UNREADABLE_ENTRY;
}

// ---- One copy ----

enum outcome { WHOLE, PASSED, FAILED };

// Copies the newest `most` bytes, and finds the entries in those that the writer has not
// overwritten.
static enum outcome copy_newest(struct copy *copy, uint64_t most, struct extract_error *error)
{
    struct extract_snapshot *snapshot = copy->snapshot;
    uint32_t to = copy->before.head, from = copy->before.tail;
    const struct extract_stream *stream = snapshot->ring.format->stream;
    bool boundary = to - from <= most && !copy->before.tail_may_be_inside_entry;

    if (to - from > most)
        from = to - (uint32_t)most / 4 * 4;
    copy_bytes(copy, from, to);
    if (!read_after(copy) || copy->after.generation != copy->before.generation ||
        copy->after.head - to > INT32_MAX) // the ring was cleared, or its positions restarted
        return PASSED;
    uint32_t passed = copy->after.tail - from; // bytes that the writer overwrote, if any
    if (passed && copy->after.tail - copy->before.tail >= from - copy->before.tail) {
        if (passed > to - from)
            return PASSED;
        from = copy->after.tail;
        boundary = !copy->after.tail_may_be_inside_entry;
    }
    copy->fault = stream->resolve_layout(snapshot, from, to, error);
    if (!copy->fault && !stream->walk(snapshot, from, to, boundary))
        copy->fault = extract_error_set(error, EXTRACT_NOMEM, "trace ring", NULL, "out of memory");
    if (copy->fault)
        return FAILED;
    validate_holes(copy);
    if (copy->hole_count)
        stream->note_verdicts(snapshot, 0);
    return WHOLE;
}

// Sums up a ring without counts. Numbers of entries show what is missing between them. If the ring
// is full, it is not known how many entries were overwritten.
static void sum_up_uncounted(struct copy *copy, bool copied)
{
    struct extract_snapshot *snapshot = copy->snapshot;
    uint64_t lost = 0;

    for (uint32_t i = 0; i < snapshot->ring.entries.count; i++)
        lost += snapshot->index[i].lost;
    snapshot->lost_known &= copied && !copy->before.full;
    snapshot->lost = snapshot->unwritten = lost;
    snapshot->wrapped = snapshot->full = copy->before.full;
    snapshot->overrun = copy->before.full || lost;
}

// Sums up a ring whose writer counts what was overwritten. Entries that were read are not lost,
// although they are no longer there.
static void sum_up_told(struct copy *copy, bool copied)
{
    struct extract_snapshot *snapshot = copy->snapshot;
    const struct extract_ring_counters *counters = &copy->before;

    snapshot->lost_known = copied;
    snapshot->lost = copied ? (uint64_t)counters->lost + counters->overwritten : 0;
    snapshot->unwritten = counters->lost;
    snapshot->wrapped = counters->written != snapshot->ring.entries.count;
    snapshot->overrun = counters->lost || counters->overwritten;
    snapshot->full = counters->full;
}

// Sums up a ring by its count of written entries.
static void sum_up_counts(struct copy *copy, bool copied)
{
    struct extract_snapshot *snapshot = copy->snapshot;
    const struct extract_ring_counters *counters = &copy->before;
    uint32_t count = snapshot->ring.entries.count, missing = counters->written - count;
    bool damaged = !copied;

    for (uint32_t i = 0; i < count; i++)
        damaged |= snapshot->verdict[i] > EXTRACT_PROVISIONAL;
    snapshot->lost_known = !damaged && copy->resolved && missing <= INT32_MAX;
    snapshot->lost = snapshot->lost_known ? (uint64_t)missing + counters->lost : 0;
    snapshot->unwritten = counters->lost;
    snapshot->wrapped = snapshot->lost_known ? missing != 0 : counters->tail != 0;
    snapshot->overrun = snapshot->wrapped || counters->lost;
    snapshot->full =
        counters->keeps_oldest ? counters->lost && !counters->running : snapshot->wrapped;
}

static void sum_up(struct copy *copy, bool copied)
{
    struct extract_snapshot *snapshot = copy->snapshot;
    const struct extract_ring_counters *counters = &copy->before;

    snapshot->ring.enabled = counters->running;
    snapshot->ring.enabled_known = !counters->has_no_counts;
    snapshot->moved = !is_same(&copy->before, &copy->after);
    snapshot->moved_entries = copy->after.written - counters->written;
    (counters->has_no_counts           ? sum_up_uncounted
     : counters->has_overwritten_count ? sum_up_told
                                       : sum_up_counts)(copy, copied);
    if (snapshot->ring.origin == EXTRACT_FROM_REBUILT) { // its counts were in the header
        snapshot->ring.enabled_known = snapshot->lost_known = false;
        snapshot->lost = snapshot->unwritten = 0;
    }
}

enum extract_code extract_stream_take(struct extract_snapshot *snapshot,
                                      struct extract_memory *memory, struct extract_error *error)
{
    const struct extract_ring *ring = &snapshot->ring;
    uint64_t size = ring->entries.end - ring->entries.start;
    struct copy copy = {.snapshot = snapshot, .memory = memory};
    bool again = extract_memory_is_running(memory);
    enum outcome outcome = PASSED;
    enum extract_code code =
        extract_snapshot_allocate(snapshot, memory, ring->format->stream->slack_bytes(ring), error);

    if (code)
        return code;
    for (unsigned i = 0; i < TRIES && outcome == PASSED && read_before(&copy, again); i++) {
        outcome = copy_newest(&copy, size >> i, error);
        again = true;
    }
    if (outcome == FAILED) {
        extract_snapshot_free(snapshot);
        return copy.fault;
    }
    if (!snapshot->index && !extract_snapshot_reserve(snapshot, 1)) {
        extract_snapshot_free(snapshot);
        return extract_error_set(error, EXTRACT_NOMEM, "trace ring", NULL, "out of memory");
    }
    if (copy.missing && copy.missing >= (uint32_t)(copy.before.head - copy.before.tail)) {
        code = extract_snapshot_unreadable(ring, error);
        extract_snapshot_free(snapshot);
        return code;
    }
    ring->format->stream->copy_side_data(snapshot, memory);
    sum_up(&copy, outcome == WHOLE);
    return EXTRACT_OK;
}
