// SPDX-License-Identifier: MIT
// gdb-reader: the fast path for long texts into GDB.
//
// GDB reads scripts one character at a time, with a system call for each, so a report of 2,000
// lines takes nearly half a second. The fast path is a setting: GDB expands a leading tilde in the
// value of a file-name setting through the readline library. For names that are not users, that
// library calls a hook (GNU Readline Library, tilde.h: tilde_expansion_failure_hook). The hook
// expands "~ringside-text" to the next chunk of the text. The setting is one that exists for GDB's
// own tests, `maint set test-settings filename`.
#define _GNU_SOURCE
#include "bulk.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// GDB's printf copies a string to its stack, so chunks must be small.
enum { CHUNK_BYTES = 32 << 10 };

typedef char *tilde_hook(char *name);

// Global, because the hook has no context parameter.
static struct {
    tilde_hook **hook; // readline's variable; NULL: not installed
    tilde_hook *previous;
    char *text; // owned
    size_t length;
    size_t position; // of the next chunk
} bulk;

static char *take_next_chunk(void)
{
    size_t length = bulk.length - bulk.position;

    if (length > CHUNK_BYTES)
        length = CHUNK_BYTES;
    char *chunk = bulk.text ? malloc(length + 1) : NULL;
    if (!chunk)
        return NULL;
    memcpy(chunk, bulk.text + bulk.position, length);
    chunk[length] = 0;
    bulk.position += length;
    if (bulk.position == bulk.length) {
        free(bulk.text);
        bulk.text = NULL;
    }
    return chunk;
}

// The hook.
static char *expand_tilde(char *name)
{
    if (strcmp(name, "ringside-text") == 0)
        return take_next_chunk();
    return bulk.previous ? bulk.previous(name) : NULL;
}

bool bulk_install(void)
{
    if (bulk.hook)
        return true;
    bulk.hook = (tilde_hook **)dlsym(RTLD_DEFAULT, "tilde_expansion_failure_hook");
    if (!bulk.hook)
        return false;
    bulk.previous = *bulk.hook;
    *bulk.hook = expand_tilde;
    return true;
}

void bulk_remove(void)
{
    if (bulk.hook && *bulk.hook == expand_tilde) {
        *bulk.hook = bulk.previous;
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
    bulk.position = 0;
    for (size_t i = 0; i < length; i++)
        if (text[i]) // a setting cannot hold a NUL
            bulk.text[bulk.length++] = text[i];
    return (bulk.length + CHUNK_BYTES - 1) / CHUNK_BYTES;
}
