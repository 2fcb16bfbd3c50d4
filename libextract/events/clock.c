// SPDX-License-Identifier: MIT
// events: the clock of a trace. In: the stamps of a snapshot, or of a log with the host's times at
// which they were read. Out: mask, modulus, direction and rate.
//
// Of a log, every stamp of its beginning is asked, and then those in the heads of its blocks.
#include "base/stamps.h"
#include "events/internal.h"
#include <stdlib.h>

enum {
    STUDY_ENTRIES = 1 << 16, // of a log
    TIMES = 256,             // between blocks, that tell the usual one
    LONG_TIME = 4,           // times the usual one
    RATE_BLOCKS = 2048,      // that the rate is guessed from
    NANOSECONDS = 1000000000
};

// The first stamp, or the first behind a break: what lies between is no step of the clock.
static void tally_start(struct extract_tally *tally, uint64_t raw_stamp)
{
    uint64_t to = raw_stamp & tally->mask;
    tally->last = to;
    tally->largest = to > tally->largest ? to : tally->largest;
    tally->count += !tally->count;
}

static void tally_add(struct extract_tally *tally, uint64_t raw_stamp, bool *broken)
{
    if (*broken)
        tally_start(tally, raw_stamp);
    else
        extract_tally_add(tally, raw_stamp);
    *broken = false;
}

static void tally_slots(struct extract_tally *tally, const struct extract_snapshot *snapshot,
                        uint32_t oldest, bool *broken)
{
    uint32_t count = snapshot->ring.entries.count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = (uint32_t)(((uint64_t)oldest + i) % count);
        if (snapshot->verdict[slot] <= EXTRACT_PROVISIONAL)
            tally_add(tally, extract_snapshot_stamp(snapshot, slot), broken);
    }
}

// A walk over a log's blocks by their heads.
struct heads {
    struct extract_log_snapshots *snapshots;
    size_t next, end;
    bool any; // a block was given
    struct extract_log_block block;
    struct extract_log_block before; // the block of entries in front of it
    uint64_t expected;               // number of the next entry
    bool joined; // the block's entries follow those of the block before without a break
};

static bool is_mark_of_time(const struct extract_log_block *block)
{
    return block->type == EXTRACT_LOG_LOSS || block->type == EXTRACT_LOG_GONE ||
           (block->type == EXTRACT_LOG_MARK && block->kind != EXTRACT_MARK_FILTER &&
            block->kind != EXTRACT_MARK_ERROR);
}

// The next block of entries.
static bool next_head(struct heads *heads)
{
    const struct extract_log_block *block;
    heads->joined = heads->any;
    heads->before = heads->block;
    while (heads->next < heads->end &&
           (block = extract_log_snapshots_block(heads->snapshots, heads->next))) {
        heads->next++;
        heads->joined &= !is_mark_of_time(block);
        if (!extract_log_holds_entries(block) || !block->count)
            continue;
        heads->joined &= block->first == heads->expected;
        heads->expected = block->first + block->count;
        heads->block = *block;
        heads->any = true;
        return true;
    }
    return false;
}

static struct heads heads_of(const struct extract_trace *trace, const struct extract_epoch *epoch)
{
    struct heads heads = {.snapshots = trace->snapshots, .next = epoch->from, .end = epoch->to};
    return heads;
}

static void tally_log(const struct extract_trace *trace, const struct extract_epoch *epoch,
                      struct extract_tally *tally)
{
    struct heads heads = heads_of(trace, epoch);
    struct extract_tally rest = *tally;
    bool broken = true, rest_broken = true;
    uint64_t studied = 0;
    while (next_head(&heads)) {
        const struct extract_log_block *block = &heads.block;
        broken |= !heads.joined;
        rest_broken |= !heads.joined;
        if (studied < STUDY_ENTRIES) {
            const struct extract_snapshot *piece =
                extract_log_snapshots_entries(trace->snapshots, block);
            if (piece)
                tally_slots(tally, piece, 0, &broken);
            broken |= !piece;
            studied += block->count;
        } else if (block->flags & EXTRACT_LOG_STAMPS) {
            tally_add(&rest, block->first_stamp, &rest_broken);
            tally_add(&rest, block->last_stamp, &rest_broken);
        }
    }
    tally->has_fallen |= rest.has_fallen;
    tally->largest = rest.largest > tally->largest ? rest.largest : tally->largest;
}

// ---- the rate ----

uint64_t extract_rate_ticks(const struct extract_rate *rate, uint64_t nanoseconds)
{
    if (!rate->nanoseconds)
        return 0;
    unsigned __int128 ticks = (unsigned __int128)nanoseconds * rate->ticks / rate->nanoseconds;
    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// From the newest entry of one block to that of the next; 0 nanoseconds when something is missing
// between, or their times are not told.
static bool next_rate(struct heads *heads, const struct extract_clock *clock,
                      struct extract_rate *rate)
{
    if (!next_head(heads))
        return false;
    const struct extract_log_block *block = &heads->block, *last = &heads->before;
    bool told = heads->joined && block->flags & last->flags & EXTRACT_LOG_STAMPS;
    *rate = (struct extract_rate){0, 0};
    if (told && last->wall && block->wall > last->wall)
        *rate = (struct extract_rate){extract_clock_step(clock, last->last_stamp & clock->mask,
                                                         block->last_stamp & clock->mask),
                                      block->wall - last->wall};
    return true;
}

// Whole turns of the clock that make `step` ticks fit best to `wanted`.
static uint64_t turns_for(uint64_t modulus, uint64_t wanted, uint64_t step)
{
    uint64_t rest = wanted > step ? wanted - step : 0;
    return rest / modulus + (rest % modulus > modulus / 2);
}

// Ticks from the newest entry of the block before to that of this one, by all stamps between: the
// clock may go round more often than the host reads. 0: not known.
static uint64_t ticks_by_entries(const struct heads *heads, const struct extract_clock *clock)
{
    const struct extract_snapshot *piece =
        extract_log_snapshots_entries(heads->snapshots, &heads->block);
    uint64_t first, span, ticks;
    if (!piece || !extract_snapshot_valid(piece))
        return 0;
    span = extract_piece_span(piece, clock, &first);
    struct extract_step step =
        extract_clock_advance(clock, heads->before.last_stamp & clock->mask, first);
    return step.back || __builtin_add_overflow(span, step.ticks, &ticks) ? 0 : ticks;
}

// Adds `one`, of which the true ticks are told. False, and nothing is added: too much.
static bool add_rate(struct extract_rate *sum, const struct extract_rate *one, uint64_t ticks)
{
    struct extract_rate more;
    if (__builtin_add_overflow(sum->ticks, ticks, &more.ticks) ||
        __builtin_add_overflow(sum->nanoseconds, one->nanoseconds, &more.nanoseconds))
        return false;
    *sum = more;
    return true;
}

// The usual time between two blocks; 0: it is not told.
static uint64_t usual_time(const struct extract_trace *trace, const struct extract_epoch *epoch)
{
    uint64_t times[TIMES];
    struct extract_rate one;
    struct heads heads = heads_of(trace, epoch);
    size_t count = 0;
    while (count < TIMES && next_rate(&heads, &epoch->clock, &one))
        if (one.nanoseconds)
            times[count++] = one.nanoseconds;
    if (count)
        qsort(times, count, sizeof *times, by_size);
    return count ? times[count / 2] : 0;
}

// The rate over the longest stretch without a gap near the epoch's start. Where it took unusually
// long to the next entries, the clock may have wrapped unseen: such times are left out.
static struct extract_rate guess_rate(const struct extract_trace *trace,
                                      const struct extract_epoch *epoch)
{
    struct extract_rate one, sum = {0, 0}, longest = {0, 0};
    struct heads heads = heads_of(trace, epoch);
    uint64_t usual = usual_time(trace, epoch);
    for (unsigned i = 0; i < RATE_BLOCKS && next_rate(&heads, &epoch->clock, &one); i++) {
        if (one.nanoseconds && one.nanoseconds / LONG_TIME > usual)
            continue;
        uint64_t ticks = one.nanoseconds ? ticks_by_entries(&heads, &epoch->clock) : 0;
        if (!ticks || !add_rate(&sum, &one, ticks))
            sum = (struct extract_rate){0, 0};
        else if (sum.nanoseconds > longest.nanoseconds)
            longest = sum;
    }
    return longest;
}

// The whole of the longest stretch without a gap, by the heads of its blocks: the guess says how
// often the clock went round between two of them.
static struct extract_rate longest_rate(const struct extract_trace *trace,
                                        const struct extract_epoch *epoch,
                                        const struct extract_rate *guess)
{
    struct extract_rate one, sum = {0, 0}, longest = *guess;
    uint64_t modulus = epoch->clock.modulus, hidden, ticks;
    struct heads heads = heads_of(trace, epoch);
    while (next_rate(&heads, &epoch->clock, &one)) {
        uint64_t wanted = extract_rate_ticks(guess, one.nanoseconds);
        uint64_t turns = modulus ? turns_for(modulus, wanted, one.ticks) : 0;
        if (!one.nanoseconds || __builtin_mul_overflow(turns, modulus, &hidden) ||
            __builtin_add_overflow(hidden, one.ticks, &ticks) || !add_rate(&sum, &one, ticks))
            sum = (struct extract_rate){0, 0};
        else if (sum.nanoseconds > longest.nanoseconds && sum.ticks)
            longest = sum;
    }
    return longest;
}

// Where the clock wraps as fast as the host may be late, only the guess is right.
static void study_rate(const struct extract_trace *trace, struct extract_epoch *epoch)
{
    const struct extract_clock *clock = &epoch->clock;
    struct extract_rate guess = guess_rate(trace, epoch);
    bool slow = !clock->modulus || clock->modulus >= extract_rate_ticks(&guess, EXTRACT_SLOW_TURN);
    epoch->rate = guess.nanoseconds && slow ? longest_rate(trace, epoch, &guess) : guess;
}

// ---- epochs ----

const struct extract_epoch *extract_epoch_of(const struct extract_trace *trace, size_t block)
{
    size_t low = 0, high = trace->epoch_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (trace->epochs[middle].from <= block)
            low = middle;
        else
            high = middle;
    }
    return &trace->epochs[low];
}

// Whether two rings are of one run of one firmware, as far as can be told.
static bool is_same_clock(const struct extract_ring *a, const struct extract_ring *b)
{
    return a->format == b->format && a->timer_mask == b->timer_mask &&
           a->word_bytes == b->word_bytes && a->byte_order == b->byte_order &&
           a->entries.start == b->entries.start && a->entries.end == b->entries.end;
}

static bool add_epoch(struct extract_trace *trace, size_t *room, size_t from,
                      const struct extract_ring *ring)
{
    struct extract_epoch *epochs =
        extract_grow(trace->epochs, room, trace->epoch_count, sizeof *epochs);
    if (!epochs)
        return false;
    trace->epochs = epochs;
    if (trace->epoch_count)
        trace->epochs[trace->epoch_count - 1].to = from;
    trace->epochs[trace->epoch_count++] = (struct extract_epoch){
        .from = from, .to = SIZE_MAX, .mask = ring->timer_mask, .word_bytes = ring->word_bytes};
    return true;
}

// Where the stamps of a log go on by another clock. There is one epoch at least, of a ring, too.
static bool find_epochs(struct extract_trace *trace)
{
    struct extract_ring last = {0};
    size_t room = 0, block;
    for (size_t n = 0; trace->snapshots; n++) {
        const struct extract_ring *ring = extract_log_snapshots_ring(trace->snapshots, n, &block);
        if (block == SIZE_MAX)
            break;
        if (!ring || (trace->epoch_count && is_same_clock(&last, ring)))
            continue;
        last = *ring;
        if (!add_epoch(trace, &room, trace->epoch_count ? block : 0, ring))
            return false;
    }
    return trace->epoch_count || add_epoch(trace, &room, 0, &trace->snapshot->ring);
}

// Fills what the stamps tell, and what the options tell better.
static enum extract_code set_clock(struct extract_clock *clock, const struct extract_tally *tally,
                                   const struct extract_trace_options *options,
                                   struct extract_error *error)
{
    extract_tally_clock(tally, clock);
    if (options && options->direction != EXTRACT_CLOCK_NONE)
        clock->direction = options->direction;
    if (options && options->modulus)
        clock->modulus = options->modulus;
    if (options && options->modulus && tally->largest >= clock->modulus)
        return extract_error_set(error, EXTRACT_USAGE, "modulus",
                                 "give the number of ticks after which the clock starts again",
                                 "a stamp of %llu is not below it",
                                 (unsigned long long)tally->largest);
    return EXTRACT_OK;
}

static enum extract_code study_epoch(struct extract_trace *trace, struct extract_epoch *epoch,
                                     const struct extract_trace_options *options,
                                     struct extract_error *error)
{
    struct extract_tally tally;
    extract_tally_begin(&tally, epoch->mask, epoch->word_bytes);
    tally.direction = trace->snapshot->ring.format->direction;
    tally_log(trace, epoch, &tally);
    enum extract_code code = set_clock(&epoch->clock, &tally, options, error);
    if (options && options->hz)
        epoch->rate = (struct extract_rate){options->hz, NANOSECONDS};
    else if (!code && epoch->clock.direction != EXTRACT_CLOCK_NONE && !epoch->clock.counts_events)
        study_rate(trace, epoch);
    return code;
}

enum extract_code extract_clock_study(struct extract_trace *trace,
                                      const struct extract_trace_options *options,
                                      struct extract_error *error)
{
    const struct extract_snapshot *snapshot = trace->snapshot;
    enum extract_code code = EXTRACT_OK;
    struct extract_tally tally;
    bool broken = true;
    if (!find_epochs(trace))
        return extract_error_set(error, EXTRACT_NOMEM, "trace", NULL, "out of memory");
    if (!trace->snapshots) {
        extract_tally_begin(&tally, snapshot->ring.timer_mask, snapshot->ring.word_bytes);
        tally.direction = snapshot->ring.format->direction;
        tally_slots(&tally, snapshot, trace->oldest, &broken);
        return set_clock(&trace->info.clock, &tally, options, error);
    }
    for (size_t i = 0; i < trace->epoch_count && !code; i++)
        code = study_epoch(trace, &trace->epochs[i], options, error);
    trace->info.clock = trace->epochs[trace->epoch_count - 1].clock;
    return code;
}
