// SPDX-License-Identifier: MIT
// base: the clock that spans of time are measured with. Out: nanoseconds of CLOCK_MONOTONIC.
#ifndef EXTRACT_BASE_NOW_H
#define EXTRACT_BASE_NOW_H

#include <stdint.h>
#include <time.h>

#define EXTRACT_SECOND UINT64_C(1000000000) // ns

static inline uint64_t extract_now(void)
{
    struct timespec t = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * EXTRACT_SECOND + (uint64_t)t.tv_nsec;
}

#endif
