// SPDX-License-Identifier: MIT
// bench: a clock, and random numbers that are the same in each run.
#ifndef TESTS_MEASURE_H
#define TESTS_MEASURE_H

#include <stdint.h>
#include <time.h>

// Seconds.
static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline uint32_t random_word(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

#endif
