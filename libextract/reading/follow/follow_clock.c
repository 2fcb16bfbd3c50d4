// SPDX-License-Identifier: MIT
// follow: what the timestamps of a slot ring say while it is recorded.
//
// The recorder copies entries and states only what is certain, so it takes little from timestamps:
// whether they count events (then the stamps on both sides of a gap give its exact length), whether
// they move at all (then one word of an entry identifies it), and whether they stepped back across
// a gap. How many entries a gap is likely to hold is for the reader of the log to estimate, from
// all of the recording (events/loss_estimator.c).
#include "base/now.h"
#include "follow/follow_room.h"

enum {
    SETTLING_ENTRIES = 9, // a new kind of clock is believed after that many
    RATE_LAPS = 4         // laps of the ring that the clock's rate remembers
};

// A clock that returns to zero sooner than this wraps within an ordinary stop of a debugger.
#define WIDE_PERIOD (UINT64_C(1) << 32)

static uint64_t stamp_of(const struct extract_ring *ring, const uint8_t *entry)
{
    return ring->format->slots->stamp(ring, entry);
}

static uint64_t step(const struct ring_clock *clock, uint64_t from, uint64_t to)
{
    uint64_t mask = clock->clock.mask;

    return extract_clock_step(&clock->clock, from & mask, to & mask);
}

static double period_of(const struct ring_clock *clock)
{
    return clock->clock.modulus ? (double)clock->clock.modulus : 0x1p64;
}

void ring_clock_start(struct ring_clock *clock, const struct extract_ring *ring)
{
    *clock = (struct ring_clock){.has_entry = false};
    extract_tally_begin(&clock->tally, ring->timer_mask, ring->word_bytes);
    extract_tally_clock(&clock->tally, &clock->clock);
}

// Updates what is known of the clock. A few entries after a gap do not change that, and a period
// that was found once stays while no timestamp contradicts it.
static void update_clock(struct ring_clock *clock)
{
    struct extract_clock found;
    bool is_settled = clock->clock.direction != EXTRACT_CLOCK_NONE;

    extract_tally_clock(&clock->tally, &found);
    if (is_settled && clock->tally.count < SETTLING_ENTRIES)
        return;
    if (is_settled && found.modulus > clock->clock.modulus &&
        clock->tally.largest < clock->clock.modulus)
        found.modulus = clock->clock.modulus;
    clock->clock = found;
}

void ring_clock_add(struct ring_clock *clock, const struct extract_ring *ring,
                    const struct extract_follower_span *span, bool after_gap)
{
    uint32_t bytes = ring->entries.slot_bytes;

    if (!span->count)
        return;
    after_gap |= !clock->has_entry;
    if (after_gap)
        extract_tally_begin(&clock->tally, ring->timer_mask, ring->word_bytes);
    for (uint32_t i = 0; i < span->count; i++)
        extract_tally_add(&clock->tally, stamp_of(ring, span->entries + (size_t)i * bytes));
    update_clock(clock);

    uint64_t last = after_gap ? stamp_of(ring, span->entries) : clock->stamp;
    for (uint32_t i = 0; i < span->count; i++) {
        uint64_t stamp = stamp_of(ring, span->entries + (size_t)i * bytes);
        clock->new_ticks += (double)step(clock, last, stamp);
        last = stamp;
    }
    clock->new_entries += span->count;
    clock->has_gap |= after_gap;
    clock->stamp = last;
    clock->has_entry = true;
}

void ring_clock_note_poll(struct ring_clock *clock, const struct extract_ring *ring, uint64_t now)
{
    if (!clock->has_gap && clock->new_entries) {
        clock->entries += (double)clock->new_entries;
        clock->ticks += clock->new_ticks;
        clock->ns += (double)(now - clock->time_ns);
    }
    if (clock->has_gap || clock->new_entries)
        clock->time_ns = now;
    clock->new_entries = 0;
    clock->new_ticks = 0;
    clock->has_gap = false;
    if (clock->entries > (double)ring->entries.count * (double)RATE_LAPS) {
        clock->entries /= 2;
        clock->ticks /= 2;
        clock->ns /= 2;
    }
}

bool ring_clock_went_back(const struct ring_clock *clock, const struct extract_ring *ring,
                          const uint8_t *newest, uint64_t now, bool ignore_host_clock)
{
    if (!clock->has_entry || clock->clock.direction == EXTRACT_CLOCK_NONE)
        return false;
    double period = period_of(clock), elapsed = 0;
    double ticks = (double)step(clock, clock->stamp, stamp_of(ring, newest));
    // Without a rate or a host clock, only a wide clock can be assumed not to have wrapped.
    if (ignore_host_clock || clock->ns <= 0)
        return period >= (double)WIDE_PERIOD && ticks > period / 2;
    elapsed = (double)(now - clock->time_ns) * clock->ticks / clock->ns;
    return ticks > period / 2 &&
           2 * elapsed + clock->ticks / clock->ns * EXTRACT_SECOND < period / 2;
}

bool ring_clock_counts(const struct ring_clock *clock, const struct extract_ring *ring,
                       const uint8_t *newest, uint64_t least, uint64_t *distance)
{
    if (!clock->has_entry || !clock->clock.counts_events)
        return false;
    *distance = step(clock, clock->stamp, stamp_of(ring, newest));
    return *distance >= least && (*distance - least) % ring->entries.count == 0;
}
