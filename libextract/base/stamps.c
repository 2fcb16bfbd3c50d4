// SPDX-License-Identifier: MIT
// base: derives a clock from a series of timestamps. The caller adds them oldest first, and the
// counts of steps up and down then decide direction and period.
#include "base/stamps.h"
#include <string.h>

enum {
    NANOSECONDS = 1000000000,
    COUNTER_MIN = 8,
    WIDE_CLOCK_BITS = 24,
    BACK_MAX_SHARE = 8, // a step back is at most this fraction of the period
    UNUSUAL = 4,        // a silence is unusual at this multiple of the longest other one
    TURNS_MIN = 8,      // a period below the mask is believed after that many turns,
    TURN_STAMPS = 64,   // that many timestamps,
    TURN_SPANS = 4,     // and that many times the ticks between their extremes; no part of the
    TURN_PARTS = 4,     // series as large as this fraction of it is without a turn
    FEW_TURNS = 2,      // below that, so many are turns if each falls by at least this fraction of
    FEW_FALL = 2,       // the ticks between the extremes, and no step forward is as long as
    FEW_STEP = 4,       // this fraction of them
    ROUNDER_SHARE = 50  // a rounder period may be above all timestamps by this fraction of it
};

// A clock of at least this period is not silent for most of it.
#define LONG_PERIOD (UINT64_C(1) << 32)

void extract_tally_begin(struct extract_tally *tally, uint64_t mask, unsigned word_bytes)
{
    uint64_t all = word_bytes == 8 ? UINT64_MAX : UINT32_MAX;

    memset(tally, 0, sizeof *tally);
    tally->mask = mask ? mask : all;
    tally->smallest = UINT64_MAX;
}

static void add_step(struct extract_steps *steps, uint64_t ticks, uint64_t low, uint64_t at)
{
    steps->low = low;
    steps->shortest = !steps->count || ticks < steps->shortest ? ticks : steps->shortest;
    steps->count++;
    steps->longest = ticks > steps->longest ? ticks : steps->longest;
    steps->total = ticks < UINT64_MAX - steps->total ? steps->total + ticks : UINT64_MAX;
    steps->widest = at - steps->last > steps->widest ? at - steps->last : steps->widest;
    steps->last = at;
}

void extract_tally_add(struct extract_tally *tally, uint64_t raw_stamp)
{
    uint64_t to = raw_stamp & tally->mask, from = tally->count ? tally->last : to;

    tally->up.by_one += ((to - from) & tally->mask) == 1;
    tally->down.by_one += ((from - to) & tally->mask) == 1;
    if (to > from)
        add_step(&tally->up, to - from, from, tally->count);
    else if (to < from)
        add_step(&tally->down, from - to, to, tally->count);
    tally->count++;
    extract_tally_resume(tally, raw_stamp);
}

void extract_tally_resume(struct extract_tally *tally, uint64_t raw_stamp)
{
    uint64_t to = raw_stamp & tally->mask;

    tally->count += !tally->count;
    tally->largest = to > tally->largest ? to : tally->largest;
    tally->smallest = to < tally->smallest ? to : tally->smallest;
    tally->last = to;
}

uint64_t extract_tally_span(const struct extract_tally *tally)
{
    return tally->count ? tally->largest - tally->smallest : 0;
}

// Returns the smallest 2^n above every bit of the mask, or 0 for 2^64.
static uint64_t modulus_of(uint64_t mask)
{
    return mask >> 63 ? 0 : UINT64_C(1) << (64 - __builtin_clzll(mask));
}

uint64_t extract_clock_usual_back(uint64_t modulus)
{
    uint64_t share = (modulus ? modulus : UINT64_MAX) / EXTRACT_BACKWARDS_SHARE;

    return share >= UINT64_C(1) << (WIDE_CLOCK_BITS - 10) ? share - 1 : 0;
}

// Returns the largest step against the clock's direction that is a step back in time and not a
// wrap: the place to which it leads is near the time of the series, and as a wrap it would be a
// silence of most of a long period, far longer than any other.
static uint64_t find_back(const struct extract_steps *forward, uint64_t modulus)
{
    uint64_t usual = extract_clock_usual_back(modulus), period = modulus ? modulus : UINT64_MAX;
    uint64_t back = period / BACK_MAX_SHARE;

    if (period < LONG_PERIOD || forward->longest >= period / UNUSUAL)
        return usual;
    if (forward->total < back / 2)
        back = 2 * forward->total;
    if (period - UNUSUAL * forward->longest < back)
        back = period - UNUSUAL * forward->longest;
    return back > usual ? back : usual;
}

// Returns the smallest power of two that is not below `least`, which is above 0 and below 2^63.
static uint64_t power_up(uint64_t least)
{
    return least > 1 ? UINT64_C(1) << (64 - __builtin_clzll(least - 1)) : 1;
}

static bool is_near(uint64_t period, uint64_t least)
{
    return period - least < period / ROUNDER_SHARE;
}

// Returns the smallest number of at most two significant digits that is not below `least`. A power
// of two, as the period of a counter of 16 or 24 bits, is taken instead if it is not above that
// number or hardly above `least`, and a number of one digit if it is hardly above `least`.
static uint64_t round_up(uint64_t least)
{
    uint64_t unit = 1, power = power_up(least), tens, number;

    while (least / unit >= 100)
        unit *= 10;
    tens = (least + 10 * unit - 1) / (10 * unit) * (10 * unit);
    number = (least + unit - 1) / unit * unit;
    if (power <= number || is_near(power, least))
        return power;
    return is_near(tens, least) ? tens : number;
}

// Returns whether the clock wraps often, all over the series, so that its extremes show its period.
static bool turns_often(const struct extract_tally *tally, const struct extract_steps *forward,
                        const struct extract_steps *turns)
{
    uint64_t part = tally->count / TURN_PARTS;

    return turns->count >= TURNS_MIN && tally->count >= TURN_STAMPS &&
           forward->total / TURN_SPANS >= extract_tally_span(tally) && turns->widest <= part &&
           tally->count - turns->last <= part;
}

// Returns whether the clock wraps, although too seldom to show its period. After a step back for
// another reason, such as an old entry, time would soon go forward by as much.
static bool turns_seldom(const struct extract_tally *tally, const struct extract_steps *forward,
                         const struct extract_steps *turns)
{
    uint64_t span = extract_tally_span(tally);

    return turns->count >= FEW_TURNS && turns->shortest >= span / FEW_FALL &&
           forward->longest < span / FEW_STEP;
}

// Judges the only step against the clock's direction, if as a wrap of all bits of the mask, it
// would be a silence far longer than any other. A clock that turns below its mask comes from one
// end of its period to the other: its timestamps continue at 0, or end at the mask. So a step
// between two other places is a step back, and also one after which time goes forward by as much.
// From end to end, it may be either. It is likely to be a turn only if the period would be a power
// of two, as that of a counter of 16 or 24 bits.
static void judge_fall(const struct extract_tally *tally, struct extract_clock *clock,
                       const struct extract_steps *forward, const struct extract_steps *turns,
                       uint64_t least)
{
    uint64_t fall = turns->longest, silence = clock->modulus - fall; // modulus 0 is 2^64
    uint64_t power = power_up(least + 1);
    bool is_wide = !clock->modulus || clock->modulus >= LONG_PERIOD;
    bool is_turn =
        forward->longest < fall / FEW_STEP &&
        (turns->low <= forward->longest || tally->mask - (turns->low + fall) <= forward->longest);

    if (forward->longest > silence / UNUSUAL)
        return;
    if (is_turn && is_near(power, least + 1) && power - fall <= forward->longest)
        clock->likely_modulus = power;
    else if (is_turn || (is_wide && fall > clock->back))
        clock->fall = fall;
    clock->above = least;
}

// Finds the period that a clock is likely to have if it turns within a small part of what its mask
// allows. Timestamps never reach the last tick, and periods are mostly round numbers.
static void find_turns(const struct extract_tally *tally, struct extract_clock *clock)
{
    bool is_down = clock->direction == EXTRACT_CLOCK_DOWN;
    const struct extract_steps *forward = is_down ? &tally->down : &tally->up;
    const struct extract_steps *turns = is_down ? &tally->up : &tally->down;
    uint64_t span = extract_tally_span(tally);
    uint64_t half = clock->modulus ? clock->modulus / 2 : UINT64_C(1) << 63;
    uint64_t least = tally->smallest <= span                ? tally->largest
                     : tally->mask - tally->largest <= span ? tally->mask - tally->smallest
                                                            : span;

    if (clock->direction == EXTRACT_CLOCK_NONE || clock->counts_events || span >= half ||
        least >= half)
        return;
    if (turns_often(tally, forward, turns)) {
        uint64_t likely = round_up(least + 1);
        clock->likely_modulus = likely < half ? likely : 0;
    } else if (turns_seldom(tally, forward, turns)) {
        clock->turns = turns->count;
        clock->above = least;
    } else if (turns->count == 1) {
        judge_fall(tally, clock, forward, turns, least);
    }
}

// The Linux port's timestamps are the nanoseconds of a second, whatever the mask is. That is proven
// by a fall that is an ordinary step if the clock wraps at 10^9. Falls of any size are wraps then,
// too, since a pause in a debugger may end anywhere in a second.
static bool counts_nanoseconds(const struct extract_tally *tally)
{
    uint64_t step = NANOSECONDS - tally->down.longest;

    return tally->mask == UINT32_MAX && tally->largest < NANOSECONDS && tally->down.count &&
           (step <= tally->up.longest || step <= NANOSECONDS / EXTRACT_BACKWARDS_SHARE);
}

void extract_tally_clock(const struct extract_tally *tally, struct extract_clock *clock)
{
    uint64_t steps = tally->count ? tally->count - 1 : 0;

    *clock = (struct extract_clock){.mask = tally->mask, .modulus = modulus_of(tally->mask)};
    if (tally->up.count || tally->down.count)
        clock->direction =
            tally->up.count >= tally->down.count ? EXTRACT_CLOCK_UP : EXTRACT_CLOCK_DOWN;
    clock->is_still = tally->count > 1 && clock->direction == EXTRACT_CLOCK_NONE;
    clock->counts_events =
        steps >= COUNTER_MIN && (tally->up.by_one == steps || tally->down.by_one == steps);
    if (tally->direction != EXTRACT_CLOCK_NONE)
        clock->direction = clock->direction ? tally->direction : EXTRACT_CLOCK_NONE;
    else if (clock->direction == EXTRACT_CLOCK_UP && counts_nanoseconds(tally))
        clock->modulus = NANOSECONDS;
    clock->back =
        clock->modulus == NANOSECONDS
            ? extract_clock_usual_back(clock->modulus)
            : find_back(clock->direction == EXTRACT_CLOCK_DOWN ? &tally->down : &tally->up,
                        clock->modulus);
    find_turns(tally, clock);
}
