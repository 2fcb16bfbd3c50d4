// SPDX-License-Identifier: MIT
// gdb-reader: the fast path for long texts into GDB.
#ifndef RINGSIDE_BULK_H
#define RINGSIDE_BULK_H

#include <stdbool.h>
#include <stddef.h>

// Hooks into GDB's readline library. Returns false if GDB does not use a shared one: the script
// must then hold long texts.
bool bulk_install(void);

// Removes the hook, and frees the text.
void bulk_remove(void);

// Keeps a copy of the text for _ringside-print, and drops the rest of an earlier one. Returns the
// number of chunks in which GDB fetches it; 0 if bulk is not installed, the text is empty, or
// memory is short.
size_t bulk_offer(const char *text, size_t length);

#endif
