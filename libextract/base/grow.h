// SPDX-License-Identifier: MIT
// base: arrays that grow. In: an array, its room and how many items are in it. Out: room for one
// more.
#ifndef EXTRACT_BASE_GROW_H
#define EXTRACT_BASE_GROW_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// Where the array lies now, with room for one more than `count` items. NULL when memory is short;
// the array and its room are as before then.
static inline void *extract_grow(void *items, size_t *room, size_t count, size_t item_bytes)
{
    if (count < *room)
        return items;
    size_t wanted = *room ? *room * 2 : 16;
    void *grown = wanted > SIZE_MAX / item_bytes ? NULL : realloc(items, wanted * item_bytes);
    if (grown)
        *room = wanted;
    return grown;
}

// A block that will be used from end to end, just allocated: a large one comes in large pages,
// where the system has them, for else half of the time of a copy goes into getting small ones.
void extract_block_advise(void *block, size_t bytes);

#endif
