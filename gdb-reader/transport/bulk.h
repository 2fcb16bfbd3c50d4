// SPDX-License-Identifier: MIT
// gdb-reader: the fast way for long texts into GDB.
#ifndef RINGSIDE_BULK_H
#define RINGSIDE_BULK_H

#include <stdbool.h>
#include <stddef.h>

// Hooks into GDB's readline library, where GDB uses a shared one. False: long texts have to go
// through the script.
bool bulk_install(void);
void bulk_remove(void);

// Keeps a copy of the text for _ringside-print, in place of what was left of the one before.
// Returns in how many pieces GDB will get it; 0 when bulk is not installed, for an empty text, and
// when there is no memory.
size_t bulk_offer(const char *text, size_t length);

#endif
