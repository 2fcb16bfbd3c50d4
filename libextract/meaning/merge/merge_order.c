// SPDX-License-Identifier: MIT
// merge: finds whether snapshots have the order of their timestamps.
//
// Snapshots that have no entries in common follow each other as they are given. If time goes back
// between two of them, the clock has wrapped, the target was reset, or the order is wrong. The
// timestamps do not show which, but whether there is an order in which time never goes back.
#include "merge/merge.h"

// Sets the place of an input among all. Returns false if its time overlaps with that of a snapshot
// with which it has no entries in common, so that they are of different times.
static bool find_place(const struct merge *merge, struct merge_input *input)
{
    __int128 start = merge_first_difference(merge, input);
    __int128 end = start + (input->ticks_last - input->ticks_first);

    input->place = 0;
    for (size_t i = 0; i < merge->count; i++) {
        const struct merge_input *other = &merge->inputs[i];
        __int128 other_start = merge_first_difference(merge, other);
        __int128 other_end = other_start + (other->ticks_last - other->ticks_first);
        if (other->chain != input->chain && start <= other_end && other_start <= end)
            return false;
        input->place += other_start < start || (other_start == start && other < input);
    }
    return true;
}

void merge_find_time_order(struct merge *merge)
{
    bool goes_back = false;

    for (size_t i = 0; i < merge->count; i++)
        goes_back |= merge->inputs[i].back != 0;
    merge->has_time_order = goes_back;
    for (size_t i = 0; i < merge->count && merge->has_time_order; i++)
        merge->has_time_order = find_place(merge, &merge->inputs[i]);
}
