// SPDX-License-Identifier: MIT
// events: small sets of addresses for a filter. In: addresses in any order. Out: membership.
#include "events/filter.h"
#include <stdlib.h>

bool filter_set_add(struct filter_set *set, uint64_t address)
{
    uint64_t *at = extract_grow(set->at, &set->room, set->count, sizeof *at);
    if (!at)
        return false;
    set->at = at;
    set->at[set->count++] = address;
    return true;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void filter_set_close(struct filter_set *set)
{
    size_t kept = 0;
    if (!set->count)
        return;
    qsort(set->at, set->count, sizeof *set->at, compare);
    for (size_t i = 0; i < set->count; i++)
        if (!kept || set->at[kept - 1] != set->at[i])
            set->at[kept++] = set->at[i];
    set->count = kept;
}

bool filter_set_has(const struct filter_set *set, uint64_t address)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->at[middle] == address)
            return true;
        if (set->at[middle] < address)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}
