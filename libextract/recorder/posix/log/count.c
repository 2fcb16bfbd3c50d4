// SPDX-License-Identifier: MIT
// posix/log: how many records the writer overwrote before they were in the log.
//
// The ring counts in `overwritten` the records that its tail passes while they are after
// `read_pos`. Whether such a record is in the log already does not matter to the ring, since its
// space was not given back. So this file keeps a base: the count at a moment when every record that
// it counts was logged or reported, and the number of records logged since then. A later count then
// gives the loss:
//
//   lost = (overwritten, if the tail were at `at`) - base - logged since the base
//
//   1. The tail has not reached `at`. The skipped records between them are added to the count.
//
//        read_pos      tail              at             head
//      ─────┴────────────┴────────────────┴───────────────┴───
//                        │ skipped here   │
//
//   2. The tail has passed `at`. The records of the window between them are subtracted.
//
//                       at               tail           head
//      ──────────────────┴────────────────┴───────────────┴───
//                        │ in the window  │
//
// An example: the base is 100, and 40 records were logged since. The tail is at `at`, and the count
// is now 155. Of the 55 records that the tail has passed since, 40 are in the log, so 15 are lost.
//
// The base is set again each time that space is given back and the tail, read after that, has not
// reached the position. Until then the base is no longer exact.
//
// `overwritten` and `tail` are two words of the target. They belong together if two reads in a row
// find both unchanged, and, in shared memory, no writer was in the critical section between these
// reads:
//
//   writer, in its critical section        reader
//   ───────────────────────────────        ──────────────────────────────
//   lock = thread                          1 read tail, overwritten
//   tail = …                               2 read lock: must be 0
//   overwritten = …                        3 read both again: unchanged
//   lock = 0
#include "posix/log/posix_log.h"
#include <time.h>

enum {
    MAX_READS_SHARED = 2500, // attempts to find the ring at rest, in shared memory
    MAX_READS = 4,           // attempts through a debugger
    READS_PER_PAUSE = 50,
    PAUSE_NS = 1000000,
    MAX_COUNTS_SHARED = 64, // attempts to count a gap, in shared memory
    MAX_COUNTS = 8,         // attempts through a debugger
    RECORDS_PER_CHECK = 16  // records to walk over before the tail is checked again
};

// Words of a stream block, counted from its generation.
enum { GENERATION = 0, TAIL = 5, OVERWRITTEN = 7, WORDS };

// A tail, and the count that belongs to it.
struct count {
    uint32_t tail, overwritten;
};

static int read_words(const struct posix_trace *trace, uint32_t words[WORDS])
{
    uint64_t address = posix_stream_address(trace->target, trace->stream);

    return posix_read_words(trace->target, address + POSIX_STREAM_AT_GENERATION, words, WORDS);
}

// Returns whether no writer that shares the memory is in its critical section.
static bool is_at_rest(const struct posix_trace *trace)
{
    const struct posix_target *target = trace->target;
    uint32_t lock = 1;

    if (!trace->reader.block.layout.shared)
        return true;
    return !posix_read_words(trace->target, target->address + POSIX_BLOCK_AT_LOCK, &lock, 1) &&
           !lock;
}

static bool is_same_count(const uint32_t a[WORDS], const uint32_t b[WORDS])
{
    return a[GENERATION] == b[GENERATION] && a[TAIL] == b[TAIL] && a[OVERWRITTEN] == b[OVERWRITTEN];
}

// Reads a tail and the count that belongs to it. Returns false if the ring was never found at rest,
// or has another generation now.
static bool read_count(const struct posix_trace *trace, struct count *count)
{
    const struct timespec pause = {0, PAUSE_NS};
    bool shared = trace->reader.block.layout.shared;
    uint32_t words[WORDS], again[WORDS];

    for (unsigned i = 0; i < (shared ? MAX_READS_SHARED : MAX_READS); i++) {
        if (read_words(trace, words))
            return false;
        bool at_rest = is_at_rest(trace);
        if (read_words(trace, again))
            return false;
        if (at_rest && is_same_count(words, again)) {
            *count = (struct count){again[TAIL], again[OVERWRITTEN]};
            return again[GENERATION] == trace->reader.generation;
        }
        if (i % READS_PER_PAUSE == READS_PER_PAUSE - 1) // the thread with the lock may be waiting
            nanosleep(&pause, NULL);
    }
    return false;
}

// Counts the records of the window that begin before `end`. Returns false if no record ends there.
static bool count_window(const struct posix_trace *trace, uint32_t end, uint32_t *records)
{
    const struct posix_reader *r = &trace->reader;
    struct posix_record record;
    uint32_t at = r->at;

    for (*records = 0; at != end; at += record.words, ++*records) {
        uint32_t offset = at - r->window_at;
        if (offset >= r->window_words ||
            !posix_record_read(&record, r->bytes + (size_t)offset * 4,
                               (r->window_words - offset) * 4, &r->block.layout, at))
            return false;
    }
    return true;
}

// Returns whether a position is after another one; positions wrap.
static bool is_after(uint32_t position, uint32_t other)
{
    return (int32_t)(position - other) > 0;
}

// A new ring has counted nothing, so the base is 0 and exact.
void posix_log_count_start(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;

    log->base = log->logged_records = log->ring_records = 0;
    log->has_base = log->base_is_exact = true;
}

// Counts the records that the reader has skipped before its position, in the ring itself, while the
// tail has not reached them. Records before `read_pos` are free, and the writer does not count them
// when it passes them. Returns false if the tail has moved, or the words there are not a record.
static bool count_skipped(const struct posix_trace *trace, uint32_t tail, uint32_t *records)
{
    const struct posix_stream *block = &trace->reader.block;
    uint64_t ring = trace->target->address + block->ring_at;
    uint32_t end = trace->reader.at, words[WORDS], first;
    uint32_t at = is_after(block->read_pos, tail) ? block->read_pos : tail;

    if (!block->layout.shared || is_after(at, end))
        return false;
    for (*records = 0; at != end; ++*records) {
        uint64_t slot = at & (block->ring_words - 1);
        if (posix_read_words(trace->target, ring + slot * 4, &first, 1))
            return false;
        uint32_t length = posix_record_words(first, at);
        if (!length || length > end - at)
            return false;
        bool must_check = *records % RECORDS_PER_CHECK == 0 || length == end - at;
        if (must_check && (read_words(trace, words) || words[TAIL] != tail))
            return false;
        at += length;
    }
    return true;
}

// Computes the loss from one count. Returns false if the ring changed too much: the next count may
// succeed.
static bool apply_count(const struct posix_trace *trace, const struct count *count,
                        struct posix_lost *lost)
{
    const struct posix_log *log = trace->log;
    uint32_t in_window, skipped = 0;

    if (is_after(trace->reader.at, count->tail)) {
        if (!count_skipped(trace, count->tail, &skipped))
            return false;
        lost->base = count->overwritten + skipped;
    } else {
        lost->is_unknown = !count_window(trace, count->tail, &in_window);
        if (lost->is_unknown)
            return true;
        lost->base = count->overwritten - in_window;
    }
    lost->has_base = true;
    lost->least = lost->base - log->base - log->logged_records - log->ring_records;
    if (!log->has_base || (int32_t)lost->least < 0)
        lost->least = 0;
    lost->is_exact = log->base_is_exact && lost->least;
    return true;
}

// A fast writer may change the ring between a count and the walk over the records that belong to
// it. The count is then repeated. Without a result, the loss is at least 0, which the log reports
// as unknown.
struct posix_lost posix_log_count_lost(const struct posix_trace *trace)
{
    struct posix_lost lost = {0};
    struct count count;
    unsigned max = trace->reader.block.layout.shared ? MAX_COUNTS_SHARED : MAX_COUNTS;
    for (unsigned i = 0; i < max && read_count(trace, &count); i++)
        if (apply_count(trace, &count, &lost))
            break;
    return lost;
}

// What was counted becomes the base for the next gap. If there is no base, later losses have no
// exact number until space is given back again.
void posix_log_note_reported(struct posix_trace *trace, const struct posix_lost *lost)
{
    struct posix_log *log = trace->log;

    log->base = lost->base;
    log->logged_records = log->ring_records = 0;
    log->has_base = log->base_is_exact = lost->has_base;
}

// If the tail has passed the reading position, the space is not given back now. The count then
// still contains every record that was logged, and the next gap can be counted exactly.
void posix_log_release(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    const struct posix_reader *r = &trace->reader;
    struct count count;
    bool counts = r->block.policy == POSIX_POLICY_LOOP && r->gap == POSIX_NO_GAP;

    if (r->block.read_pos == r->at)
        return;
    if (counts && read_count(trace, &count) && is_after(count.tail, r->at))
        return;
    posix_ring_release(trace);
    log->base_is_exact = counts && read_count(trace, &count) && !is_after(count.tail, r->at);
    if (!log->base_is_exact)
        return;
    log->has_base = true;
    log->base = count.overwritten;
    log->logged_records = 0;
}
