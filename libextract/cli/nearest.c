// SPDX-License-Identifier: MIT
// cli: suggests the known word that a user probably meant by an unknown one.
#include "cli/cli.h"
#include <stdio.h>
#include <string.h>

enum { MAX_LETTERS = 24, MAX_EDITS = 2 };

static unsigned min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

// Returns how many letters must be added, removed, replaced, or exchanged with their neighbor to
// make one word of the other. Both have at most MAX_LETTERS.
static unsigned edits_between(const char *from, const char *to)
{
    unsigned rows[3][MAX_LETTERS + 1] = {{0}};
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

const char *cli_nearest(const char *word, const char *(*known)(const void *context, size_t i),
                        const void *context)
{
    const char *candidate, *nearest = NULL;
    size_t length = strlen(word);
    unsigned least = MAX_EDITS + 1;

    for (size_t i = 0; length <= MAX_LETTERS && (candidate = known(context, i)); i++) {
        if (strlen(candidate) > MAX_LETTERS)
            continue;
        unsigned edits = edits_between(word, candidate);
        if (edits < least && edits * 2 < length) {
            least = edits;
            nearest = candidate;
        }
    }
    return nearest;
}

int cli_refuse_unknown(const char *word, const char *kind, const char *nearest, const char *hint)
{
    char suggestion[128], why[48];

    snprintf(suggestion, sizeof suggestion, "use '%s', or %s", nearest, hint);
    snprintf(why, sizeof why, "unknown %s", kind);
    return cli_refuse(word, nearest ? suggestion : hint, why);
}
