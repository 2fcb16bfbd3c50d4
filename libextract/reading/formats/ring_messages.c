// SPDX-License-Identifier: MIT
// formats: the variable parts of messages.
//
// A format lists the conditions that a ring's header must meet; extract_checks_run turns the first
// one that does not hold into a message. A listing collects names for a message, and ends with
// "..." where it would become too long.
#include "formats/format.h"
#include <stdio.h>
#include <string.h>

enum extract_code extract_checks_run(const struct extract_check *checks, size_t count,
                                     const char *title, uint64_t address,
                                     struct extract_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (checks[i].holds)
            continue;
        char what[64];
        snprintf(what, sizeof what, "%s at 0x%llx", title, (unsigned long long)address);
        extract_error_set(error, EXTRACT_BAD, what,
                          "check the address, and that the dump is complete", "%s is 0x%llx: %s",
                          checks[i].field, (unsigned long long)checks[i].value, checks[i].reason);
        if (error)
            error->where = address;
        return EXTRACT_BAD;
    }
    return EXTRACT_OK;
}

void extract_listing_put(struct extract_listing *listing, const char *name)
{
    static const char more[] = ", ...";
    size_t capacity = sizeof listing->text - listing->used, length = strlen(name);
    const char *end = listing->text + listing->used;
    bool is_last = listing->used >= length && strcmp(end - length, name) == 0 &&
                   (listing->used == length || end[-(ptrdiff_t)length - 1] == ' ');

    if (listing->full || is_last)
        return;
    listing->full = length + 2 + sizeof more > capacity;
    int used = listing->full ? snprintf(listing->text + listing->used, capacity, "%s", more)
                             : snprintf(listing->text + listing->used, capacity, "%s%s",
                                        listing->used ? ", " : "", name);
    listing->used += used > 0 ? (size_t)used : 0;
}
