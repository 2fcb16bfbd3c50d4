// SPDX-License-Identifier: MIT
// analysis: the distribution of times: smallest, median, 99th percentile and largest.
//
// Up to DISTRIBUTION_EXACT values are kept as they are. Of more values, only their number in
// logarithmic buckets is kept: then the median and the percentile are off by at most 1/64, and
// memory does not grow with the trace.
#ifndef EXTRACT_ANALYSIS_DISTRIBUTION_H
#define EXTRACT_ANALYSIS_DISTRIBUTION_H

#include <extract/stats.h>

enum { DISTRIBUTION_EXACT = 4096 };

struct distribution {
    uint64_t *values; // the first DISTRIBUTION_EXACT
    size_t capacity;
    uint64_t *buckets; // of all values; NULL: `values` has all
    uint64_t count, sum, min, max;
    // Sums of the differences to the first value, and of their squares: unlike sums of squares of
    // the values, they keep small differences of large values.
    uint64_t first;
    double differences, squares;
};

// Adds a value. Returns false if memory is short.
bool distribution_add(struct distribution *distribution, uint64_t value);
// Returns the figures.
struct extract_distribution distribution_result(struct distribution *distribution);
void distribution_free(struct distribution *distribution);

#endif
