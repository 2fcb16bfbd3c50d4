// SPDX-License-Identifier: MIT
// posix/log: how many records a ring has overwritten before they were in the log.
// In: the ring's own count, the records that were had. Out: a number that is exact, or a least one.
//
// `overwritten` counts what the tail passes while it lies behind `read_pos`, be it in the log or
// not: a part of what is in the log is counted until its room is given back. So a base is kept, the
// count at which all that it counts was had or told of, and how many records were had since. The
// base is set again when room was given back and the tail, read behind that, has not come to it.
//
// Count and tail are two words. They belong together when two looks found them alike; where the
// memory is shared, with nobody in the critical section between.
#include "posix/log/log.h"
#include <time.h>

enum {
    LOOKS_SHARED = 2500, // which cost little
    LOOKS = 4,
    PATIENCE = 50,
    PAUSE = 1000000, // nanoseconds
    COUNTS = 64,     // looks at a gap
    COUNTS_AFAR = 8, // where each of them costs
    CHECK = 16       // records between two looks at the tail
};

// Words of a stream block from its generation on.
enum { GENERATION = 0, TAIL = 5, OVERWRITTEN = 7, WORDS };

// Where the tail is, and the count there.
struct count {
    uint32_t tail, overwritten;
};

static int read_words(const struct posix_trace *trace, uint32_t words[WORDS])
{
    uint64_t address = posix_stream_address(trace->target, trace->stream);
    return posix_peek(trace->target, address + POSIX_STREAM_AT_GENERATION, words, WORDS);
}

// Whether nobody who shares the memory is about to change it.
static bool is_open(const struct posix_trace *trace)
{
    const struct posix_target *target = trace->target;
    uint32_t lock = 1;
    if (!trace->reader.block.layout.shared)
        return true;
    return !posix_peek(trace->target, target->address + POSIX_BLOCK_AT_LOCK, &lock, 1) && !lock;
}

static bool is_alike(const uint32_t a[WORDS], const uint32_t b[WORDS])
{
    return a[GENERATION] == b[GENERATION] && a[TAIL] == b[TAIL] && a[OVERWRITTEN] == b[OVERWRITTEN];
}

// False: the ring was never found at rest, or is another one by now.
static bool look(const struct posix_trace *trace, struct count *count)
{
    const struct timespec pause = {0, PAUSE};
    bool shared = trace->reader.block.layout.shared;
    uint32_t words[WORDS], again[WORDS];
    for (unsigned i = 0; i < (shared ? LOOKS_SHARED : LOOKS); i++) {
        if (read_words(trace, words))
            return false;
        bool open = is_open(trace);
        if (read_words(trace, again))
            return false;
        if (open && is_alike(words, again)) {
            *count = (struct count){again[TAIL], again[OVERWRITTEN]};
            return again[GENERATION] == trace->reader.generation;
        }
        if (i % PATIENCE == PATIENCE - 1) // who holds the lock may not be running
            nanosleep(&pause, NULL);
    }
    return false;
}

// How many records of the window begin in front of `place`. False: it is no border of theirs.
static bool count_to(const struct posix_trace *trace, uint32_t place, uint32_t *records)
{
    const struct posix_reader *r = &trace->reader;
    struct posix_record record;
    uint32_t at = r->at;
    for (*records = 0; at != place; at += record.words, ++*records) {
        uint32_t offset = at - r->window_at;
        if (offset >= r->window ||
            !posix_record_read(&record, r->bytes + (size_t)offset * 4, (r->window - offset) * 4,
                               &r->block.layout, at))
            return false;
    }
    return true;
}

static bool is_behind(uint32_t place, uint32_t from)
{
    return (int32_t)(place - from) > 0;
}

void posix_log_count_start(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    log->base = log->had = log->taken = 0;
    log->based = log->sure = true;
}

// Words of the record at a place of the ring; 0: it is none.
static uint32_t words_at(const struct posix_trace *trace, uint32_t place)
{
    const struct posix_stream *block = &trace->reader.block;
    uint64_t ring = trace->target->address + block->ring_at;
    uint32_t first;
    if (posix_peek(trace->target, ring + (uint64_t)(place & (block->ring_words - 1)) * 4, &first,
                   1))
        return 0;
    return posix_record_words(first, place);
}

// How many records the reader has left out in front of its place, which the tail has not come to.
// Those in front of `read_pos` are had, and the writer does not count them when it passes them.
// False: the tail has moved on, or there is something else.
static bool count_skipped(const struct posix_trace *trace, uint32_t tail, uint32_t *records)
{
    const struct posix_reader *r = &trace->reader;
    uint32_t to = r->at, words[WORDS];
    uint32_t at = is_behind(r->block.read_pos, tail) ? r->block.read_pos : tail;
    if (!r->block.layout.shared || is_behind(at, to))
        return false;
    for (*records = 0; at != to; ++*records) {
        uint32_t length = words_at(trace, at);
        bool asks = *records % CHECK == 0 || length >= to - at;
        if (!length || length > to - at || (asks && read_words(trace, words)) ||
            (asks && words[TAIL] != tail))
            return false;
        at += length;
    }
    return true;
}

// Those in front of the reader's place, by a look. False: another one may tell.
static bool count_by(const struct posix_trace *trace, const struct count *count,
                     struct posix_lost *lost)
{
    const struct posix_log *log = trace->log;
    uint32_t ahead, skipped = 0;
    if (is_behind(trace->reader.at, count->tail)) {
        if (!count_skipped(trace, count->tail, &skipped))
            return false;
        lost->base = count->overwritten + skipped;
    } else {
        lost->passed = !count_to(trace, count->tail, &ahead);
        if (lost->passed)
            return true;
        lost->base = count->overwritten - ahead;
    }
    lost->based = true;
    lost->least = lost->base - log->base - log->had - log->taken;
    if (!log->based || (int32_t)lost->least < 0)
        lost->least = 0;
    lost->exact = log->sure && lost->least;
    return true;
}

struct posix_lost posix_log_count_lost(const struct posix_trace *trace)
{
    struct posix_lost lost = {0};
    struct count count;
    unsigned looks = trace->reader.block.layout.shared ? COUNTS : COUNTS_AFAR;
    for (unsigned i = 0; i < looks && look(trace, &count); i++)
        if (count_by(trace, &count, &lost))
            break;
    return lost;
}

void posix_log_count_told(struct posix_trace *trace, const struct posix_lost *lost)
{
    struct posix_log *log = trace->log;
    log->base = lost->base;
    log->had = log->taken = 0;
    log->based = log->sure = lost->based;
}

// Where the tail has passed the place, the next gap's count has all that was had in it, which is
// known as long as nothing of it is given back.
void posix_log_release(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    const struct posix_reader *r = &trace->reader;
    struct count count;
    bool counts = r->block.policy == POSIX_POLICY_LOOP && r->gap == POSIX_NO_GAP;
    if (r->block.read_pos == r->at)
        return;
    if (counts && look(trace, &count) && is_behind(count.tail, r->at))
        return;
    posix_ring_release(trace);
    log->sure = counts && look(trace, &count) && !is_behind(count.tail, r->at);
    if (!log->sure)
        return;
    log->based = true;
    log->base = count.overwritten;
    log->had = 0;
}
