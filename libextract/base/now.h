// SPDX-License-Identifier: MIT
// base: the host's two clocks, in nanoseconds: one to measure time with, one for dates.
#ifndef EXTRACT_BASE_NOW_H
#define EXTRACT_BASE_NOW_H

#include <stdint.h>
#include <time.h>

#define EXTRACT_SECOND UINT64_C(1000000000) // nanoseconds

static inline uint64_t extract_clock(clockid_t clock)
{
    struct timespec t = {0, 0};
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * EXTRACT_SECOND + (uint64_t)t.tv_nsec;
}

// Returns the time since some fixed moment. It never steps, so that all durations are measured
// with it.
static inline uint64_t extract_now(void)
{
    return extract_clock(CLOCK_MONOTONIC);
}

// Returns the time since 1970 (UTC), which steps when the host's date is set.
static inline uint64_t extract_wall(void)
{
    return extract_clock(CLOCK_REALTIME);
}

#endif
