// SPDX-License-Identifier: MIT
// formats: names for a message. In: one after the other. Out: a line of those that have room.
#include "formats/format.h"
#include <stdio.h>
#include <string.h>

void extract_listing_put(struct extract_listing *listing, const char *name)
{
    static const char more[] = ", ...";
    size_t room = sizeof listing->text - listing->used;
    if (listing->full)
        return;
    listing->full = strlen(name) + 2 + sizeof more > room;
    int used = listing->full ? snprintf(listing->text + listing->used, room, "%s", more)
                             : snprintf(listing->text + listing->used, room, "%s%s",
                                        listing->used ? ", " : "", name);
    listing->used += used > 0 ? (size_t)used : 0;
}
