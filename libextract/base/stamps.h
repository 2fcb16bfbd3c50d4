// SPDX-License-Identifier: MIT
// base: arithmetic of time stamps: direction, wrap and steps of a counter that is only known by
// its values.
#ifndef EXTRACT_BASE_STAMPS_H
#define EXTRACT_BASE_STAMPS_H

#include <extract/trace.h>

// Cores that share a ring may store out of order. A step of a whole turn, less this part of it or
// less, is a step back.
enum { EXTRACT_BACKWARDS_SHARE = 1024 };

// A running tally over a series of stamps, oldest first.
struct extract_tally {
    uint64_t mask; // bits that count
    uint64_t last, largest;
    uint64_t count, up, down, by_one_up, by_one_down;
    bool has_fallen;                  // by more than a clock of 32 bits ever steps back
    enum extract_direction direction; // that is known beforehand; else NONE
};

// `mask` 0 is taken for all bits of a word of `word_bytes`.
void extract_tally_begin(struct extract_tally *tally, uint64_t mask, unsigned word_bytes);
void extract_tally_add(struct extract_tally *tally, uint64_t raw_stamp);

// What the series says of the clock that made it.
void extract_tally_clock(const struct extract_tally *tally, struct extract_clock *clock);

// Steps from one masked stamp to the next in the clock's direction, modulo its modulus.
static inline uint64_t extract_clock_step(const struct extract_clock *clock, uint64_t from,
                                          uint64_t to)
{
    uint64_t a = clock->direction == EXTRACT_CLOCK_DOWN ? to : from;
    uint64_t b = clock->direction == EXTRACT_CLOCK_DOWN ? from : to;
    return b >= a ? b - a : b - a + clock->modulus; // modulus 0 is 2^64
}

#endif
