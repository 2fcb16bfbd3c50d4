// SPDX-License-Identifier: MIT
// base: derives a clock from a series of timestamps. The caller adds them oldest first, and the
// counts of steps up and down then decide direction and period.
#include "base/stamps.h"
#include <string.h>

enum { NANOSECONDS = 1000000000, COUNTER_MIN = 8 };

#define FALL_MIN (((uint64_t)UINT32_MAX + 1) / EXTRACT_BACKWARDS_SHARE) // ticks

void extract_tally_begin(struct extract_tally *tally, uint64_t mask, unsigned word_bytes)
{
    uint64_t all = word_bytes == 8 ? UINT64_MAX : UINT32_MAX;

    memset(tally, 0, sizeof *tally);
    tally->mask = mask ? mask : all;
}

void extract_tally_add(struct extract_tally *tally, uint64_t raw_stamp)
{
    uint64_t to = raw_stamp & tally->mask, from = tally->count++ ? tally->last : to;

    tally->up += to > from;
    tally->down += to < from;
    tally->by_one_up += ((to - from) & tally->mask) == 1;
    tally->by_one_down += ((from - to) & tally->mask) == 1;
    tally->has_fallen |= from > to && from - to >= FALL_MIN;
    tally->largest = to > tally->largest ? to : tally->largest;
    tally->last = to;
}

// Returns the smallest 2^n above every bit of the mask, or 0 for 2^64.
static uint64_t modulus_of(uint64_t mask)
{
    return mask >> 63 ? 0 : UINT64_C(1) << (64 - __builtin_clzll(mask));
}

void extract_tally_clock(const struct extract_tally *tally, struct extract_clock *clock)
{
    uint64_t steps = tally->count ? tally->count - 1 : 0;

    clock->mask = tally->mask;
    clock->modulus = modulus_of(tally->mask);
    clock->direction = EXTRACT_CLOCK_NONE;
    if (tally->up || tally->down)
        clock->direction = tally->up >= tally->down ? EXTRACT_CLOCK_UP : EXTRACT_CLOCK_DOWN;
    clock->counts_events =
        steps >= COUNTER_MIN && (tally->by_one_up == steps || tally->by_one_down == steps);
    if (tally->direction != EXTRACT_CLOCK_NONE) {
        clock->direction = clock->direction ? tally->direction : EXTRACT_CLOCK_NONE;
        return;
    }
    // The Linux port's timestamps are the nanoseconds of a second, whatever the mask is. A pause
    // in a debugger may end anywhere in a second, so that a fall may be a small one. A 32-bit clock
    // that falls without ever reaching 10^9 would have been silent for three quarters of its
    // period.
    if (clock->direction == EXTRACT_CLOCK_UP && tally->mask == UINT32_MAX &&
        tally->largest < NANOSECONDS && tally->has_fallen)
        clock->modulus = NANOSECONDS;
}
