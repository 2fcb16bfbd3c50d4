// SPDX-License-Identifier: MIT
// formats: the index of the entries in a copied ring of bytes. In: a snapshot. Out: room for more.
#include "base/grow.h"
#include "formats/format.h"
#include <stdlib.h>

enum { INDEX_LEAST = 64 };

bool extract_snapshot_reserve(struct extract_snapshot *snapshot, uint32_t more)
{
    uint32_t room = snapshot->index_room * 2 + INDEX_LEAST;
    uint32_t count = snapshot->ring.entries.count;
    if (more <= snapshot->index_room - count)
        return true;
    room = room - count < more ? count + more : room;
    struct extract_extent *index = realloc(snapshot->index, room * sizeof *index);
    if (!index)
        return false;
    snapshot->index = index;
    extract_block_advise(index, room * sizeof *index);
    uint8_t *verdict = realloc(snapshot->verdict, room);
    if (!verdict)
        return false;
    snapshot->verdict = verdict;
    snapshot->index_room = room;
    return true;
}
