// SPDX-License-Identifier: MIT
// analysis: the distribution of times, exact for few values and in logarithmic buckets for many.
#include "analysis/distribution.h"
#include "base/grow.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A bucket is 1/32 of a power of two wide. Values below 32 have a bucket each.
enum { PARTS_LOG2 = 5, PARTS = 1 << PARTS_LOG2, BUCKETS = PARTS * (64 - PARTS_LOG2 + 1) };

static unsigned bucket_of(uint64_t value)
{
    if (value < PARTS)
        return (unsigned)value;
    unsigned log2 = 63 - (unsigned)__builtin_clzll(value);
    unsigned part = (unsigned)(value >> (log2 - PARTS_LOG2)) & (PARTS - 1);
    return PARTS * (log2 - PARTS_LOG2 + 1) + part;
}

// Returns the value in the middle of a bucket.
static uint64_t middle_of(unsigned bucket)
{
    if (bucket < PARTS)
        return bucket;
    unsigned shift = bucket / PARTS - 1;
    uint64_t low = (uint64_t)(PARTS + bucket % PARTS) << shift;
    return low + ((UINT64_C(1) << shift) >> 1);
}

static bool open_buckets(struct distribution *distribution)
{
    distribution->buckets = calloc(BUCKETS, sizeof *distribution->buckets);
    if (!distribution->buckets)
        return false;
    for (uint64_t i = 0; i < distribution->count; i++)
        distribution->buckets[bucket_of(distribution->values[i])]++;
    free(distribution->values);
    distribution->values = NULL;
    return true;
}

bool distribution_add(struct distribution *distribution, uint64_t value)
{
    struct distribution *d = distribution;

    if (d->count >= DISTRIBUTION_EXACT && !d->buckets && !open_buckets(d))
        return false;
    if (d->buckets) {
        d->buckets[bucket_of(value)]++;
    } else {
        uint64_t *grown = extract_grow(d->values, &d->capacity, d->count, sizeof *grown);
        if (!grown)
            return false;
        d->values = grown;
        d->values[d->count] = value;
    }
    d->min = !d->count || value < d->min ? value : d->min;
    d->max = value > d->max ? value : d->max;
    d->sum += value;
    d->count++;
    d->first = d->count == 1 ? value : d->first;
    double difference = value < d->first ? -(double)(d->first - value) : (double)(value - d->first);
    d->differences += difference;
    d->squares += difference * difference;
    return true;
}

// Returns the value that would be at a place if the values were sorted (Hoare's selection, which
// moves them).
static uint64_t select_value(uint64_t *values, size_t count, size_t place)
{
    size_t low = 0, high = count - 1;

    while (low < high) {
        uint64_t pivot = values[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;; i++, j--) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i >= j)
                break;
            uint64_t value = values[i];
            values[i] = values[j];
            values[j] = value;
        }
        // Up to j, none is greater than the pivot; after j, none is less.
        if (place <= j)
            high = j;
        else
            low = j + 1;
    }
    return values[place];
}

// Returns the value of that rank, from 1 on.
static uint64_t value_at(const struct distribution *distribution, uint64_t rank)
{
    uint64_t seen = 0;

    if (!distribution->buckets)
        return select_value(distribution->values, distribution->count, rank - 1);
    for (unsigned i = 0; i < BUCKETS; i++) {
        seen += distribution->buckets[i];
        if (seen < rank)
            continue;
        uint64_t value = middle_of(i);
        return value < distribution->min   ? distribution->min
               : value > distribution->max ? distribution->max
                                           : value;
    }
    return distribution->max;
}

// Returns which of the bars, which divide the range from the smallest to the largest value evenly,
// a value belongs to.
static unsigned bar_of(const struct distribution *distribution, uint64_t value)
{
    uint64_t range = distribution->max - distribution->min;
    double part = range ? (double)(value - distribution->min) / (double)range : 0;
    unsigned bar = (unsigned)(part * (double)EXTRACT_BARS);

    return bar < EXTRACT_BARS ? bar : EXTRACT_BARS - 1;
}

struct extract_distribution distribution_result(struct distribution *distribution)
{
    struct distribution *d = distribution;
    struct extract_distribution result = {.count = d->count, .min = d->min, .max = d->max};

    if (!d->count)
        return result;
    result.is_exact = !d->buckets;
    result.sum = d->sum;
    double count = (double)d->count;
    double squares = d->squares - d->differences * d->differences / count;
    result.deviation = d->count > 1 && squares > 0 ? sqrt(squares / (count - 1)) : 0;
    result.median = value_at(d, (d->count + 1) / 2);
    result.p99 = value_at(d, d->count - d->count / 100);
    if (!d->buckets)
        for (uint64_t i = 0; i < d->count; i++)
            result.bars[bar_of(d, d->values[i])]++;
    for (unsigned i = 0; d->buckets && i < BUCKETS; i++)
        if (d->buckets[i]) {
            uint64_t value = middle_of(i);
            value = value < d->min ? d->min : value > d->max ? d->max : value;
            result.bars[bar_of(d, value)] += d->buckets[i];
        }
    return result;
}

void distribution_free(struct distribution *distribution)
{
    free(distribution->values);
    free(distribution->buckets);
    *distribution = (struct distribution){.count = 0};
}

bool extract_period_jitter(const struct extract_distribution *period, uint64_t *jitter)
{
    uint64_t below = period->median - period->min, above = period->max - period->median;

    *jitter = below > above ? below : above;
    return period->count >= EXTRACT_MIN_PERIODS && period->median;
}
