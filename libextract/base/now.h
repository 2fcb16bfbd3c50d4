// SPDX-License-Identifier: MIT
// base: the clocks. Out: nanoseconds; of spans of time, and of the calendar.
#ifndef EXTRACT_BASE_NOW_H
#define EXTRACT_BASE_NOW_H

#include <stdint.h>
#include <time.h>

#define EXTRACT_SECOND UINT64_C(1000000000) // ns

static inline uint64_t extract_clock(clockid_t clock)
{
    struct timespec t = {0, 0};
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * EXTRACT_SECOND + (uint64_t)t.tv_nsec;
}

// Spans are measured with it.
static inline uint64_t extract_now(void)
{
    return extract_clock(CLOCK_MONOTONIC);
}

// Since 1970 (UTC).
static inline uint64_t extract_wall(void)
{
    return extract_clock(CLOCK_REALTIME);
}

#endif
