// SPDX-License-Identifier: MIT
// formats: a list of names for a message, cut off with "..." where it would become too long.
#include "formats/format.h"
#include <stdio.h>
#include <string.h>

void extract_listing_put(struct extract_listing *listing, const char *name)
{
    static const char more[] = ", ...";
    size_t capacity = sizeof listing->text - listing->used;

    if (listing->full)
        return;
    listing->full = strlen(name) + 2 + sizeof more > capacity;
    int used = listing->full ? snprintf(listing->text + listing->used, capacity, "%s", more)
                             : snprintf(listing->text + listing->used, capacity, "%s%s",
                                        listing->used ? ", " : "", name);
    listing->used += used > 0 ? (size_t)used : 0;
}
