// SPDX-License-Identifier: MIT
// events: finds the clock of a trace from its timestamps: which bits count, after how many ticks it
// wraps, whether it counts up or down, and, in a log, how fast it runs by the host's clock.
//
// A ring shows every timestamp, so extract_tally (base/stamps.h) sees all of them. A log is divided
// into epochs, one per clock. In each, the timestamps of the first entries are tallied, and after
// that only those in the block headers. The rate comes from pairs of blocks without a gap between
// them: the ticks between their newest entries, and the time between their reads.
//
// If the clock wraps faster than the host polls, two timestamps do not show how often it wrapped in
// between. guess_rate therefore adds up every step from entry to entry; longest_rate extends the
// result over the whole log, with the guess as a measure of the hidden wraps.
#include "base/stamps.h"
#include "events/events_room.h"
#include "snapshot/snapshot_room.h"
#include <stdlib.h>

enum {
    MAX_TALLIED_ENTRIES = 1 << 16, // entries of a log that are tallied one by one
    MAX_TIMES = 256,               // times between blocks from which the usual one is taken
    LONG_TIME = 4,                 // a time is too long at this multiple of the usual one
    MAX_RATE_BLOCKS = 2048,        // blocks from which the rate is guessed
    NANOSECONDS = 1000000000
};

static void tally_add(struct extract_tally *tally, uint64_t raw_stamp, bool *broken)
{
    if (*broken)
        extract_tally_resume(tally, raw_stamp);
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

// A walk over the block headers of a log.
struct header_walk {
    struct extract_log_snapshots *snapshots;
    size_t next, end;
    bool has_block; // `block` is valid
    struct extract_log_block block;
    struct extract_log_block before; // the block of entries before `block`
    uint64_t expected;               // number of the next entry
    bool joined; // the entries of `block` follow those of `before` without a break
};

static bool breaks_time(const struct extract_log_block *block)
{
    return block->type == EXTRACT_LOG_LOSS || block->type == EXTRACT_LOG_GONE ||
           (block->type == EXTRACT_LOG_MARK && block->kind != EXTRACT_MARK_FILTER &&
            block->kind != EXTRACT_MARK_ERROR);
}

// Moves to the next block of entries. Returns false at the end.
static bool next_header(struct header_walk *walk)
{
    const struct extract_log_block *block;

    walk->joined = walk->has_block;
    walk->before = walk->block;
    while (walk->next < walk->end &&
           (block = extract_log_snapshots_block(walk->snapshots, walk->next))) {
        walk->next++;
        walk->joined &= !breaks_time(block);
        if (!extract_log_holds_entries(block) || !block->count)
            continue;
        walk->joined &= block->first == walk->expected;
        walk->expected = block->first + block->count;
        walk->block = *block;
        walk->has_block = true;
        return true;
    }
    return false;
}

static struct header_walk start_header_walk(const struct extract_trace *trace,
                                            const struct extract_epoch *epoch)
{
    struct header_walk walk = {
        .snapshots = trace->snapshots, .next = epoch->from, .end = epoch->to};

    return walk;
}

// Tallies the timestamps of an epoch: those of its first entries, then those in block headers. The
// headers only show the extremes, and the longest fall.
static void tally_log(const struct extract_trace *trace, const struct extract_epoch *epoch,
                      struct extract_tally *tally)
{
    struct header_walk walk = start_header_walk(trace, epoch);
    struct extract_tally rest = *tally;
    bool broken = true, rest_broken = true;
    uint64_t tallied = 0;

    while (next_header(&walk)) {
        const struct extract_log_block *block = &walk.block;
        broken |= !walk.joined;
        rest_broken |= !walk.joined;
        if (tallied < MAX_TALLIED_ENTRIES) {
            const struct extract_snapshot *entries =
                extract_log_snapshots_entries(trace->snapshots, block);
            if (entries)
                tally_slots(tally, entries, 0, &broken);
            broken |= !entries;
            tallied += block->count;
        } else if (block->flags & EXTRACT_LOG_STAMPS) {
            tally_add(&rest, block->first_stamp, &rest_broken);
            tally_add(&rest, block->last_stamp, &rest_broken);
        }
    }
    if (rest.down.count && !tally->down.count) {
        tally->down.count = 1;
        tally->down.low = rest.down.low;
    }
    if (rest.down.longest > tally->down.longest)
        tally->down.longest = rest.down.longest;
    tally->largest = rest.largest > tally->largest ? rest.largest : tally->largest;
    tally->smallest = rest.smallest < tally->smallest ? rest.smallest : tally->smallest;
}

// ---- the rate ----

uint64_t extract_rate_ticks(const struct extract_rate *rate, uint64_t nanoseconds)
{
    if (!rate->nanoseconds)
        return 0;
    unsigned __int128 ticks = (unsigned __int128)nanoseconds * rate->ticks / rate->nanoseconds;
    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

static int compare_sizes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

// Moves to the next block and computes ticks and time from the newest entry of the block before to
// its own; 0 nanoseconds if entries are missing in between or the times are not known. Returns
// false at the end.
static bool next_rate(struct header_walk *walk, const struct extract_clock *clock,
                      struct extract_rate *rate)
{
    if (!next_header(walk))
        return false;
    const struct extract_log_block *block = &walk->block, *last = &walk->before;
    bool has_stamps = walk->joined && block->flags & last->flags & EXTRACT_LOG_STAMPS;
    *rate = (struct extract_rate){0, 0};
    if (has_stamps && last->wall && block->wall > last->wall)
        *rate = (struct extract_rate){extract_clock_step(clock, last->last_stamp & clock->mask,
                                                         block->last_stamp & clock->mask),
                                      block->wall - last->wall};
    return true;
}

// Returns how many whole clock periods must be added to `step` to come nearest to `wanted`.
static uint64_t count_wraps(uint64_t modulus, uint64_t wanted, uint64_t step)
{
    uint64_t rest = wanted > step ? wanted - step : 0;

    return rest / modulus + (rest % modulus > modulus / 2);
}

// Returns the ticks from the newest entry of the block before to that of this one, added up over
// all entries in between: the clock may wrap more often than the host polls. Returns 0 if not
// known.
static uint64_t ticks_by_entries(const struct header_walk *walk, const struct extract_clock *clock)
{
    const struct extract_snapshot *entries =
        extract_log_snapshots_entries(walk->snapshots, &walk->block);
    uint64_t first, span, ticks;

    if (!entries || !extract_snapshot_valid(entries))
        return 0;
    span = extract_snapshot_span(entries, clock, &first);
    struct extract_step step =
        extract_clock_advance(clock, walk->before.last_stamp & clock->mask, first);
    return step.back || __builtin_add_overflow(span, step.ticks, &ticks) ? 0 : ticks;
}

// Adds the time of `one`, with its true ticks. Returns false, and adds nothing, on overflow.
static bool add_rate(struct extract_rate *sum, const struct extract_rate *one, uint64_t ticks)
{
    struct extract_rate more;

    if (__builtin_add_overflow(sum->ticks, ticks, &more.ticks) ||
        __builtin_add_overflow(sum->nanoseconds, one->nanoseconds, &more.nanoseconds))
        return false;
    *sum = more;
    return true;
}

// Returns the median of the times between blocks; 0 if they are not known.
static uint64_t usual_time(const struct extract_trace *trace, const struct extract_epoch *epoch)
{
    uint64_t times[MAX_TIMES];
    struct extract_rate one;
    struct header_walk walk = start_header_walk(trace, epoch);
    size_t count = 0;

    while (count < MAX_TIMES && next_rate(&walk, &epoch->clock, &one))
        if (one.nanoseconds)
            times[count++] = one.nanoseconds;
    if (count)
        qsort(times, count, sizeof *times, compare_sizes);
    return count ? times[count / 2] : 0;
}

// Returns the rate over the longest part without a gap near the start of the epoch. Unusually long
// times are left out: the clock may have wrapped unseen before the next entries.
static struct extract_rate guess_rate(const struct extract_trace *trace,
                                      const struct extract_epoch *epoch)
{
    struct extract_rate one, sum = {0, 0}, longest = {0, 0};
    struct header_walk walk = start_header_walk(trace, epoch);
    uint64_t usual = usual_time(trace, epoch);

    for (unsigned i = 0; i < MAX_RATE_BLOCKS && next_rate(&walk, &epoch->clock, &one); i++) {
        if (one.nanoseconds && one.nanoseconds / LONG_TIME > usual)
            continue;
        uint64_t ticks = one.nanoseconds ? ticks_by_entries(&walk, &epoch->clock) : 0;
        if (!ticks || !add_rate(&sum, &one, ticks))
            sum = (struct extract_rate){0, 0};
        else if (sum.nanoseconds > longest.nanoseconds)
            longest = sum;
    }
    return longest;
}

// Returns the rate over the longest part of the epoch without a gap, from block headers. The guess
// shows how often the clock wrapped between two of them.
static struct extract_rate longest_rate(const struct extract_trace *trace,
                                        const struct extract_epoch *epoch,
                                        const struct extract_rate *guess)
{
    struct extract_rate one, sum = {0, 0}, longest = *guess;
    uint64_t modulus = epoch->clock.modulus, hidden, ticks;
    struct header_walk walk = start_header_walk(trace, epoch);

    while (next_rate(&walk, &epoch->clock, &one)) {
        uint64_t wanted = extract_rate_ticks(guess, one.nanoseconds);
        uint64_t wraps = modulus ? count_wraps(modulus, wanted, one.ticks) : 0;
        if (!one.nanoseconds || __builtin_mul_overflow(wraps, modulus, &hidden) ||
            __builtin_add_overflow(hidden, one.ticks, &ticks) || !add_rate(&sum, &one, ticks))
            sum = (struct extract_rate){0, 0};
        else if (sum.nanoseconds > longest.nanoseconds && sum.ticks)
            longest = sum;
    }
    return longest;
}

// Sets the rate of an epoch. If the clock may wrap while the host is late, only the guess is right.
static void find_rate(const struct extract_trace *trace, struct extract_epoch *epoch)
{
    const struct extract_clock *clock = &epoch->clock;
    struct extract_rate guess = guess_rate(trace, epoch);
    bool is_slow =
        !clock->modulus || clock->modulus >= extract_rate_ticks(&guess, EXTRACT_MIN_WRAP_NS);

    epoch->rate = guess.nanoseconds && is_slow ? longest_rate(trace, epoch, &guess) : guess;
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

// Returns whether two rings are of the same run of the same firmware, as far as their words show.
static bool is_same_clock(const struct extract_ring *a, const struct extract_ring *b)
{
    return a->format == b->format && a->timer_mask == b->timer_mask &&
           a->word_bytes == b->word_bytes && a->byte_order == b->byte_order &&
           a->entries.start == b->entries.start && a->entries.end == b->entries.end;
}

static bool add_epoch(struct extract_trace *trace, size_t *capacity, size_t from,
                      const struct extract_ring *ring)
{
    struct extract_epoch *epochs =
        extract_grow(trace->epochs, capacity, trace->epoch_count, sizeof *epochs);

    if (!epochs)
        return false;
    trace->epochs = epochs;
    if (trace->epoch_count)
        trace->epochs[trace->epoch_count - 1].to = from;
    trace->epochs[trace->epoch_count++] = (struct extract_epoch){
        .from = from, .to = SIZE_MAX, .mask = ring->timer_mask, .word_bytes = ring->word_bytes};
    return true;
}

// Divides a log into epochs. A ring, and a log without a ring, have one.
static bool find_epochs(struct extract_trace *trace)
{
    struct extract_ring last = {0};
    size_t capacity = 0, block;

    for (size_t n = 0; trace->snapshots; n++) {
        const struct extract_ring *ring = extract_log_snapshots_ring(trace->snapshots, n, &block);
        if (block == SIZE_MAX)
            break;
        if (!ring || (trace->epoch_count && is_same_clock(&last, ring)))
            continue;
        last = *ring;
        if (!add_epoch(trace, &capacity, trace->epoch_count ? block : 0, ring))
            return false;
    }
    return trace->epoch_count || add_epoch(trace, &capacity, 0, &trace->snapshot->ring);
}

// Returns whether timestamps that are all equal prove that the clock stands still. In a stream
// whose entries may have none, those of 0 may be missing.
static bool has_stamps(const struct extract_trace *trace, const struct extract_tally *tally)
{
    const struct extract_format *format = trace->snapshot->ring.format;

    return !format->stream || format->stream->is_untimed == extract_stream_has_all_stamps ||
           tally->largest;
}

// Fills a clock with what the timestamps show. The options take precedence.
static enum extract_code set_clock(const struct extract_trace *trace, struct extract_clock *clock,
                                   const struct extract_tally *tally,
                                   const struct extract_trace_options *options,
                                   struct extract_error *error)
{
    extract_tally_clock(tally, clock);
    clock->is_still &= has_stamps(trace, tally);
    if (options && options->direction != EXTRACT_CLOCK_NONE)
        clock->direction = options->direction;
    if (!options || !options->modulus)
        return EXTRACT_OK;
    clock->modulus = options->modulus;
    clock->back = extract_clock_usual_back(clock->modulus);
    clock->likely_modulus = clock->turns = clock->fall = 0;
    uint64_t span = extract_tally_span(tally);
    if (span >= clock->modulus)
        return extract_error_set(
            error, EXTRACT_USAGE, "modulus", "use the number of ticks after which the clock wraps",
            "not above the span of the timestamps, %llu (%llu to %llu)", (unsigned long long)span,
            (unsigned long long)tally->smallest, (unsigned long long)tally->largest);
    return EXTRACT_OK;
}

static enum extract_code find_epoch_clock(struct extract_trace *trace, struct extract_epoch *epoch,
                                          const struct extract_trace_options *options,
                                          struct extract_error *error)
{
    struct extract_tally tally;

    extract_tally_begin(&tally, epoch->mask, epoch->word_bytes);
    tally.direction = trace->snapshot->ring.format->direction;
    tally_log(trace, epoch, &tally);
    enum extract_code code = set_clock(trace, &epoch->clock, &tally, options, error);
    if (options && options->hz)
        epoch->rate = (struct extract_rate){options->hz, NANOSECONDS};
    else if (!code && epoch->clock.direction != EXTRACT_CLOCK_NONE && !epoch->clock.counts_events)
        find_rate(trace, epoch);
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
        return set_clock(trace, &trace->info.clock, &tally, options, error);
    }
    for (size_t i = 0; i < trace->epoch_count && !code; i++)
        code = find_epoch_clock(trace, &trace->epochs[i], options, error);
    trace->info.clock = trace->epochs[trace->epoch_count - 1].clock;
    return code;
}
