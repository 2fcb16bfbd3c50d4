// SPDX-License-Identifier: MIT
// How many samples the tests with long loops take. Every test takes all of them by default. With
// SAMPLE_STEP=N in the environment, a long loop takes every Nth: `make test` does so under the
// sanitizers, where each sample is several times slower, since the plain build has taken them all.
#ifndef TESTS_SAMPLES_H
#define TESTS_SAMPLES_H

#include <stdlib.h>

// Returns the step of a long loop, which is at least 1.
static inline unsigned sample_step(void)
{
    const char *text = getenv("SAMPLE_STEP");
    unsigned long step = text ? strtoul(text, NULL, 10) : 1;
    return step ? (unsigned)step : 1;
}

#endif
