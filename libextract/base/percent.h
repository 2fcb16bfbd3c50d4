// SPDX-License-Identifier: MIT
// base: how percentages are printed: with three decimals, cut and not rounded, everywhere. What is
// not all of it is then never printed as 100.000.
#ifndef EXTRACT_BASE_PERCENT_H
#define EXTRACT_BASE_PERCENT_H

#include <math.h>

// Cuts a percentage after three decimals, so that "%.3f" prints it. The small number makes up for
// the error of a quotient that has three decimals.
static inline double percent_cut(double percent)
{
    return trunc(percent * 1000 + copysign(1e-6, percent)) / 1000;
}

#endif
