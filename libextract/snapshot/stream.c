// SPDX-License-Identifier: MIT
// snapshot: the consistent copy of a ring of bytes. In: such a ring in memory. Out: its bytes, and
// an index of its entries with a verdict for each.
//
// The header's places are read in front of the copy and behind it. What lies between the later tail
// and the earlier head was whole before the copy began and not touched until it ended.
#include "snapshot/internal.h"
#include <stdlib.h>
#include <string.h>

enum {
    TRIES = 8, // copies, each of half as much as the one before
    READS = 4, // of a header whose words do not fit
    LOOKS = 4, // for two that are alike, since what is counted holds then
    HOLES = 64 // that are told apart
};

struct hole {
    uint64_t from, to; // bytes from the buffer's start
};

struct copy {
    struct extract_snapshot *snapshot;
    struct extract_memory *memory;
    struct extract_ring_counters before, after;
    bool resolved; // the words of `before` fit each other
    struct hole holes[HOLES];
    uint32_t hole_count;
    uint64_t missing;        // bytes of all holes
    enum extract_code fault; // of a copy that failed
};

// ---- the places ----

// Reads the header's words that change. False: they cannot be read, or do not fit.
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

// The places that the copy starts from. The first copy of a target that stands takes those that
// the ring was found with; one that runs, and counts, is looked at until two looks are alike.
static bool read_before(struct copy *copy, bool again)
{
    struct extract_snapshot *snapshot = copy->snapshot;
    struct extract_ring *ring = &snapshot->ring;
    struct extract_ring_counters first;
    bool fits = ring->format->stream->read_counters(ring, ring->header, &first);
    copy->before = first;
    copy->resolved = fits && !again;
    unsigned looks = !again ? 0 : first.has_no_counts || first.has_overwritten_count ? 1 : LOOKS;
    for (unsigned i = 0; !copy->resolved && i < looks; i++) {
        bool read = read_ring_counters(copy, ring->header, &copy->before);
        copy->resolved = fits && read && is_same(&first, &copy->before);
        first = copy->before;
        fits = read;
    }
    memcpy(snapshot->bytes, ring->header, ring->header_bytes);
    return fits;
}

// A target that does not answer any more may have moved; a file has not.
static bool read_after(struct copy *copy)
{
    uint8_t header[EXTRACT_HEADER_MAX];
    memcpy(header, copy->snapshot->ring.header, sizeof header);
    if (read_ring_counters(copy, header, &copy->after))
        return true;
    copy->after = copy->before;
    return !extract_memory_is_running(copy->memory);
}

// ---- the bytes ----

// Where the buffer begins in the copy: it ends with it.
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

// A stretch of the buffer.
static void copy_part(struct copy *copy, uint64_t first, uint64_t length)
{
    const struct extract_ring *ring = &copy->snapshot->ring;
    uint64_t start = buffer_at(ring), base = ring->entries.start - start;
    if (length)
        extract_snapshot_copy(copy->snapshot, copy->memory, base, start + first,
                              start + first + length, note_hole, copy);
}

// The bytes between two places, in their order: what goes over the buffer's end comes behind it, so
// that no byte of an entry is older than one in front of it.
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

// ---- one copy ----

enum outcome { WHOLE, PASSED, FAILED };

// Copies the newest `most` bytes, and finds the entries in what the writer has not come to.
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
        copy->after.head - to > INT32_MAX) // it began again
        return PASSED;
    uint32_t passed = copy->after.tail - from; // bytes, when it lies behind
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

// Of a ring that counts nothing, the numbers that its entries may have tell what is missing between
// them; of one that is full, nobody knows how many were overwritten.
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

// What the writer has summed up itself. What was read is not lost, though it is not there.
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

// What counts tell of the ring as a whole.
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
        extract_snapshot_free(snapshot);
        return extract_error_set(error, EXTRACT_UNREADABLE, "trace ring",
                                 "is the dump whole, and the target still there?",
                                 "none of its bytes can be read");
    }
    ring->format->stream->copy_side_data(snapshot, memory);
    sum_up(&copy, outcome == WHOLE);
    return EXTRACT_OK;
}
