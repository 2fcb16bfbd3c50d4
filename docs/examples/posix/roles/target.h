// SPDX-License-Identifier: MIT
// What the examples about boards share: errors of the library's own functions.
#ifndef RINGSIDE_EXAMPLE_TARGET_H
#define RINGSIDE_EXAMPLE_TARGET_H

#include "../example.h"
#include <errno.h>
#include <extract/memory.h>
#include <extract/posix/attach.h>
#include <extract/symbols.h>

// Prints what went wrong, why, and a way out.
static inline void must(enum extract_code code, const struct extract_error *error)
{
    char text[600];
    if (code == EXTRACT_OK)
        return;
    extract_error_format(error, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    exit(1);
}

#endif
