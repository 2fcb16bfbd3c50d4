// SPDX-License-Identifier: MIT
// cli: suggests the known word that a user probably meant by an unknown one.
#include "base/nearest.h"
#include "cli/cli.h"
#include <stdio.h>

const char *cli_nearest(const char *word, const char *(*known)(const void *context, size_t i),
                        const void *context)
{
    const char *candidate, *nearest = NULL;
    unsigned least = NEAREST_TOO_FAR;

    for (size_t i = 0; (candidate = known(context, i)); i++)
        if (nearest_is_better(word, candidate, &least))
            nearest = candidate;
    return nearest;
}

int cli_refuse_unknown(const char *word, const char *kind, const char *nearest, const char *hint)
{
    char suggestion[128], why[48];

    snprintf(suggestion, sizeof suggestion, "use '%s', or %s", nearest, hint);
    snprintf(why, sizeof why, "unknown %s", kind);
    return cli_refuse(word, nearest ? suggestion : hint, why);
}
