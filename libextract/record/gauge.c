// SPDX-License-Identifier: MIT
// record: how many entries lie in a gap. In: stamps of entries around it, and the host's clock.
// Out: a number with the rest modulo the ring that is known.
//
// Entries a tick, in the stretches before and behind, times the ticks of the gap. The stamps are
// known modulo the clock's turn only: the host's clock says how many turns it made.
#include "base/now.h"
#include "record/room.h"

enum {
    SETTLED = 9,     // entries that tell what kind of clock it is
    TELLING = 16,    // and what load
    FORGET_TURNS = 4 // turns of the ring that the figures remember
};

static uint64_t stamp_of(const struct extract_ring *ring, const uint8_t *entry)
{
    return ring->format->follow->stamp(ring, entry);
}

static uint64_t step(const struct gauge *gauge, uint64_t from, uint64_t to)
{
    const struct extract_clock *clock = &gauge->clock;
    return extract_clock_step(clock, from & clock->mask, to & clock->mask);
}

void gauge_start(struct gauge *gauge, const struct extract_ring *ring)
{
    *gauge = (struct gauge){0};
    extract_tally_begin(&gauge->tally, ring->timer_mask, ring->word_bytes);
    extract_tally_clock(&gauge->tally, &gauge->clock);
}

// What kind of clock it is. A few entries behind a gap do not unsettle what is known, and a turn
// that was found once stays.
static void study(struct gauge *gauge)
{
    struct extract_clock clock;
    bool settled = gauge->clock.direction != EXTRACT_CLOCK_NONE;
    extract_tally_clock(&gauge->tally, &clock);
    if (settled && gauge->tally.count < SETTLED)
        return;
    bool stays = settled && clock.modulus > gauge->clock.modulus &&
                 gauge->tally.largest < gauge->clock.modulus;
    if (stays)
        clock.modulus = gauge->clock.modulus;
    gauge->clock = clock;
}

// Ticks from the first entry of a span to its last.
static double ticks_in(const struct gauge *gauge, const struct extract_ring *ring,
                       const struct extract_delta_span *span)
{
    uint32_t bytes = ring->entries.slot_bytes;
    double ticks = 0;
    uint64_t last = span->count ? stamp_of(ring, span->entries) : 0;
    for (uint32_t i = 1; i < span->count; i++) {
        uint64_t stamp = stamp_of(ring, span->entries + (size_t)i * bytes);
        ticks += (double)step(gauge, last, stamp);
        last = stamp;
    }
    return ticks;
}

static void forget(struct gauge *gauge, double most)
{
    if (gauge->entries > most) {
        gauge->entries /= 2;
        gauge->ticks /= 2;
    }
    if (gauge->counted > most) {
        gauge->counted /= 2;
        gauge->beats /= 2;
        gauge->ns /= 2;
    }
}

// Ticks from the newest entry of before to `stamp`, which was the newest at `now`.
static double ticks_to(const struct gauge *gauge, uint64_t stamp, uint64_t now)
{
    double turn = gauge->clock.modulus ? (double)gauge->clock.modulus : 0x1p64;
    double ticks = (double)step(gauge, gauge->stamp, stamp);
    if (gauge->ns <= 0)
        return ticks;
    double expected = (double)(now - gauge->time) * gauge->beats / gauge->ns;
    double turns = (expected - ticks) / turn + 0.5;
    return turns >= 1 ? ticks + (double)(uint64_t)turns * turn : ticks;
}

bool gauge_went_back(const struct gauge *gauge, const struct extract_ring *ring,
                     const uint8_t *newest, uint64_t now)
{
    if (!gauge->known || gauge->ns <= 0 || gauge->clock.direction == EXTRACT_CLOCK_NONE)
        return false;
    double turn = gauge->clock.modulus ? (double)gauge->clock.modulus : 0x1p64;
    double second = gauge->beats / gauge->ns * EXTRACT_SECOND;
    double expected = (double)(now - gauge->time) * gauge->beats / gauge->ns;
    double most = 2 * expected + second;
    return most < turn / 2 && (double)step(gauge, gauge->stamp, stamp_of(ring, newest)) > most;
}

// So many entries in so many ticks. A load that is quite another one than before makes what was
// before worthless.
static void weigh(struct gauge *gauge, double entries, double ticks)
{
    double expected = gauge->ticks > 0 ? ticks * gauge->entries / gauge->ticks : entries;
    if (entries >= TELLING && (entries > 2 * expected || expected > 2 * entries))
        gauge->entries = gauge->ticks = 0;
    gauge->entries += entries;
    gauge->ticks += ticks;
}

void gauge_add(struct gauge *gauge, const struct extract_ring *ring,
               const struct extract_delta_span *span, bool gap, uint64_t lost, uint64_t now)
{
    uint32_t bytes = ring->entries.slot_bytes;
    if (!span->count)
        return;
    uint64_t first = stamp_of(ring, span->entries);
    bool start = !gauge->known;
    if (gap && !start && lost) // of a known length: the load in the long run
        weigh(gauge, (double)lost + 1, ticks_to(gauge, first, now));
    gap |= start;
    if (gap)
        extract_tally_begin(&gauge->tally, ring->timer_mask, ring->word_bytes);
    for (uint32_t i = 0; i < span->count; i++)
        extract_tally_add(&gauge->tally, stamp_of(ring, span->entries + (size_t)i * bytes));
    study(gauge);
    double ticks = ticks_in(gauge, ring, span), entries = span->count - 1;
    if (!gap) {
        ticks += (double)step(gauge, gauge->stamp, first);
        entries++;
    }
    weigh(gauge, entries, ticks);
    gauge->new_entries += entries;
    gauge->new_ticks += ticks;
    gauge->broken |= gap;
    gauge->stamp = stamp_of(ring, span->entries + (size_t)(span->count - 1) * bytes);
    gauge->known = true;
}

void gauge_time(struct gauge *gauge, const struct extract_ring *ring, uint64_t now)
{
    if (!gauge->broken && gauge->new_entries > 0) {
        gauge->counted += gauge->new_entries;
        gauge->beats += gauge->new_ticks;
        gauge->ns += (double)(now - gauge->time);
    }
    if (gauge->broken || gauge->new_entries > 0)
        gauge->time = now;
    gauge->new_entries = gauge->new_ticks = 0;
    gauge->broken = false;
    forget(gauge, (double)ring->entries.count * FORGET_TURNS);
}

// Entries a tick around a gap of `ticks`: by the stamps before and behind. The writer's places,
// seen one after the other by the host's clock, are asked only when these are too few: what could
// be proven was read in moments when little was written.
static double rate_around(struct gauge *gauge, const struct extract_ring *ring,
                          const struct gauge_gap *gap, double ticks, double ns)
{
    double near = gap->behind->count ? gap->behind->count - 1 : 0;
    if (near > 0)
        weigh(gauge, near, ticks_in(gauge, ring, gap->behind));
    if (gauge->entries < TELLING && ns > 0)
        weigh(gauge, gap->seen, gap->seen_ns * ticks / ns);
    return gauge->ticks > 0 ? gauge->entries / gauge->ticks : 0;
}

uint64_t gauge_distance(struct gauge *gauge, const struct extract_ring *ring,
                        const struct gauge_gap *gap, uint64_t least, bool *exact)
{
    double slots = ring->entries.count, guess = 0, ns = (double)(gap->now - gauge->time);
    *exact = false;
    if (gauge->known && gauge->clock.direction != EXTRACT_CLOCK_NONE) {
        guess = ticks_to(gauge, stamp_of(ring, gap->newest), gap->now);
        if (!gauge->clock.counts_events)
            guess *= rate_around(gauge, ring, gap, guess, ns);
    } else if (gauge->known && gauge->ns + gap->seen_ns > 0) {
        guess = ns * (gauge->counted + gap->seen) / (gauge->ns + gap->seen_ns);
    }
    double turns = (guess - (double)least) / slots + 0.5;
    if (!(turns >= 1) || turns > 0x1p40)
        turns = 0;
    uint64_t distance = least + (uint64_t)turns * ring->entries.count;
    *exact = gauge->known && gauge->clock.counts_events && (double)distance == guess;
    return distance;
}
