// SPDX-License-Identifier: MIT
// base: counts the edits between two words.
#include "base/nearest.h"
#include <string.h>

static unsigned min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

// Returns how many letters must be added, removed, replaced, or exchanged with their neighbor to
// make one word of the other. Both have at most NEAREST_MAX_LETTERS.
static unsigned edits_between(const char *from, const char *to)
{
    unsigned rows[3][NEAREST_MAX_LETTERS + 1] = {{0}};
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];
    size_t from_length = strlen(from), to_length = strlen(to);

    for (size_t k = 0; k <= to_length; k++)
        last[k] = (unsigned)k;
    for (size_t i = 1; i <= from_length; i++) {
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= to_length; k++) {
            bool is_swap = i > 1 && k > 1 && from[i - 1] == to[k - 2] && from[i - 2] == to[k - 1];
            row[k] = min(min(last[k], row[k - 1]) + 1, last[k - 1] + (from[i - 1] != to[k - 1]));
            row[k] = is_swap ? min(row[k], before[k - 2] + 1) : row[k];
        }
        unsigned *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[to_length];
}

bool nearest_is_better(const char *word, const char *candidate, unsigned *least)
{
    size_t length = strlen(word);

    if (length > NEAREST_MAX_LETTERS || strlen(candidate) > NEAREST_MAX_LETTERS)
        return false;
    unsigned edits = edits_between(word, candidate);
    if (edits >= *least || edits * 2 >= length)
        return false;
    *least = edits;
    return true;
}
