// SPDX-License-Identifier: MIT
// gdb-reader: the fast way for long texts into GDB.
//
// In: a text. Out: the expansions of "~ringside-text", one piece after the other.
//
// GDB reads its scripts a character at a time, with a system call for each, so a report of 2,000
// lines would take near half a second. But GDB expands a leading tilde in the value of a file-name
// setting through the readline library, which has a hook for names that are no users (GNU Readline
// Library, tilde.h: tilde_expansion_failure_hook). So a setting that exists for GDB's own tests,
// `maint set test-settings filename`, carries the text over.
#define _GNU_SOURCE
#include "bulk.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// GDB's printf puts a string on its stack, so pieces stay small.
enum { PIECE = 32 << 10 };

typedef char *tilde_hook(char *name);

// The hook is called without a context, so this is the process's one.
static struct {
    tilde_hook **hook; // readline's variable; NULL when not installed
    tilde_hook *before;
    char *text; // owned
    size_t length;
    size_t at;
} bulk;

static char *next_piece(void)
{
    size_t length = bulk.length - bulk.at;

    if (length > PIECE)
        length = PIECE;
    char *piece = bulk.text ? malloc(length + 1) : NULL;
    if (!piece)
        return NULL;
    memcpy(piece, bulk.text + bulk.at, length);
    piece[length] = 0;
    bulk.at += length;
    if (bulk.at == bulk.length) {
        free(bulk.text);
        bulk.text = NULL;
    }
    return piece;
}

static char *expand(char *name)
{
    if (strcmp(name, "ringside-text") == 0)
        return next_piece();
    return bulk.before ? bulk.before(name) : NULL;
}

bool bulk_install(void)
{
    if (bulk.hook)
        return true;
    bulk.hook = (tilde_hook **)dlsym(RTLD_DEFAULT, "tilde_expansion_failure_hook");
    if (!bulk.hook)
        return false;
    bulk.before = *bulk.hook;
    *bulk.hook = expand;
    return true;
}

void bulk_remove(void)
{
    if (bulk.hook && *bulk.hook == expand) {
        *bulk.hook = bulk.before;
        bulk.hook = NULL;
    }
    free(bulk.text);
    bulk.text = NULL;
}

size_t bulk_offer(const char *text, size_t length)
{
    free(bulk.text);
    bulk.text = bulk.hook && length ? malloc(length) : NULL;
    if (!bulk.text)
        return 0;
    bulk.length = 0;
    bulk.at = 0;
    for (size_t i = 0; i < length; i++)
        if (text[i]) // a NUL cannot be part of a setting
            bulk.text[bulk.length++] = text[i];
    return (bulk.length + PIECE - 1) / PIECE;
}
