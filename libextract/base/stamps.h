// SPDX-License-Identifier: MIT
// base: arithmetic of timestamps. A trace does not describe the counter that made its timestamps,
// so that direction, wrapping and period are found from the values themselves.
#ifndef EXTRACT_BASE_STAMPS_H
#define EXTRACT_BASE_STAMPS_H

#include <extract/trace.h>

// Cores that share a ring may store out of order. A step forward of nearly a full clock period is
// then a step backward: one that falls short of the period by at most this fraction of it.
enum { EXTRACT_BACKWARDS_SHARE = 1024 };

// One direction in a series of timestamps.
struct extract_steps {
    uint64_t count, by_one;
    uint64_t longest, total; // ticks; a total that is too large is UINT64_MAX
    uint64_t shortest;       // ticks; 0 without steps
    uint64_t low;            // the lower one of the two timestamps of the newest step
    uint64_t last;           // number of timestamps before the newest step
    uint64_t widest;         // most timestamps from one step to the next
};

// Counts over a series of timestamps, oldest first.
struct extract_tally {
    uint64_t mask; // the bits of a timestamp that count
    uint64_t last, largest, smallest;
    uint64_t count;
    struct extract_steps up, down;
    enum extract_direction direction; // known beforehand by the format; NONE if it is not
};

// Starts a tally. A `mask` of 0 means all bits of a word of `word_bytes`.
void extract_tally_begin(struct extract_tally *tally, uint64_t mask, unsigned word_bytes);
void extract_tally_add(struct extract_tally *tally, uint64_t raw_stamp);
// Adds a timestamp after a break: what is in between is not a step of the clock.
void extract_tally_resume(struct extract_tally *tally, uint64_t raw_stamp);

// Returns the ticks between the smallest and the largest timestamp; 0 without any.
uint64_t extract_tally_span(const struct extract_tally *tally);

// Returns the largest step back of a clock that wraps at `modulus` without other evidence; 0: none.
uint64_t extract_clock_usual_back(uint64_t modulus);

// Derives mask, period, direction and kind of the clock that made the series, and the period that
// it is likely to have if it seems to return to its start far below the mask.
void extract_tally_clock(const struct extract_tally *tally, struct extract_clock *clock);

// Returns the ticks from one masked timestamp to the next in the clock's direction, modulo its
// period.
static inline uint64_t extract_clock_step(const struct extract_clock *clock, uint64_t from,
                                          uint64_t to)
{
    uint64_t a = clock->direction == EXTRACT_CLOCK_DOWN ? to : from;
    uint64_t b = clock->direction == EXTRACT_CLOCK_DOWN ? from : to;
    return b >= a ? b - a : b - a + clock->modulus; // modulus 0 is 2^64
}

// Returns whether a step, as extract_clock_step counts it, is one back in time.
static inline bool extract_clock_is_back(const struct extract_clock *clock, uint64_t step)
{
    return step && clock->modulus - step <= clock->back; // modulus 0 is 2^64
}

#endif
