// SPDX-License-Identifier: MIT
// formats: growing the index of a copied ring of bytes, as its walk finds entries.
#include "base/grow.h"
#include "formats/format.h"
#include <stdlib.h>

enum { MIN_INDEX_ENTRIES = 64 };

bool extract_snapshot_reserve(struct extract_snapshot *snapshot, uint32_t more)
{
    uint32_t capacity = snapshot->index_capacity * 2 + MIN_INDEX_ENTRIES;
    uint32_t count = snapshot->ring.entries.count;

    if (more <= snapshot->index_capacity - count)
        return true;
    capacity = capacity - count < more ? count + more : capacity;
    struct extract_extent *index = realloc(snapshot->index, capacity * sizeof *index);
    if (!index)
        return false;
    snapshot->index = index;
    extract_block_advise(index, capacity * sizeof *index);
    uint8_t *verdict = realloc(snapshot->verdict, capacity);
    if (!verdict)
        return false;
    snapshot->verdict = verdict;
    snapshot->index_capacity = capacity;
    return true;
}
