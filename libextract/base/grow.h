// SPDX-License-Identifier: MIT
// base: arrays that grow by doubling. The caller owns an array from malloc(), its capacity and its
// count, and asks for a place for one more item before it stores that item.
#ifndef EXTRACT_BASE_GROW_H
#define EXTRACT_BASE_GROW_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// Returns the array with a capacity for more than `count` items. Returns NULL if memory is short;
// the array and its capacity are then unchanged.
static inline void *extract_grow(void *items, size_t *capacity, size_t count, size_t item_bytes)
{
    if (count < *capacity)
        return items;
    size_t wanted = *capacity ? *capacity * 2 : 16;
    void *grown = wanted > SIZE_MAX / item_bytes ? NULL : realloc(items, wanted * item_bytes);
    if (grown)
        *capacity = wanted;
    return grown;
}

// Advises the system to use large pages for a block that was just allocated and will be used from
// end to end. Without them, getting small pages takes half of the time of a copy.
void extract_block_advise(void *block, size_t bytes);

#endif
