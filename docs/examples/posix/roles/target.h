// SPDX-License-Identifier: MIT
// Shared by the examples about boards: error handling for the library's own functions.
#ifndef RINGSIDE_EXAMPLE_TARGET_H
#define RINGSIDE_EXAMPLE_TARGET_H

#include "../example.h"
#include <errno.h>
#include <extract/memory.h>
#include <extract/posix/attach.h>
#include <extract/symbols.h>

// Prints what failed, why, and how to fix it.
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
