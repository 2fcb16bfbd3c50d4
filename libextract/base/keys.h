// SPDX-License-Identifier: MIT
// base: search in numbers, or in items by a number, that are in ascending order.
#ifndef EXTRACT_BASE_KEYS_H
#define EXTRACT_BASE_KEYS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Returns the index of the last of `count` ascending keys that is <= key. The caller makes sure
// that count > 0 and keys[0] <= key. The loop has no branches that depend on the data, because a
// wrong prediction costs more than a step.
static inline size_t extract_keys_last_up_to(const uint64_t *keys, size_t count, uint64_t key)
{
    const uint64_t *base = keys;

    while (count > 1) {
        size_t half = count / 2;
        base = base[half] <= key ? base + half : base;
        count -= half;
    }
    return (size_t)(base - keys);
}

// Returns how many of `count` items have a key <= key. The items are in ascending order of their
// keys. The key of an item is the uint64_t at its start.
static inline size_t extract_keys_count_up_to(const void *items, size_t count, size_t item_bytes,
                                              uint64_t key)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t start;
        memcpy(&start, (const char *)items + middle * item_bytes, sizeof start);
        if (start <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
