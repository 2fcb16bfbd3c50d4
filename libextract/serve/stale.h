// SPDX-License-Identifier: MIT
// serve: whether the control blocks of a live target are those of a program that was there before:
// after a load or a reset, they are, until start-up code has cleared them.
#ifndef EXTRACT_SERVE_STALE_H
#define EXTRACT_SERVE_STALE_H

#include <extract/kernel.h>

struct stale {
    bool is_stale;
    uint64_t sum; // of the control blocks when that began
};

// Begins: a program was loaded, or the target was reset.
void stale_begin(struct stale *stale, struct extract_memory *memory,
                 struct extract_symbols *symbols);
// Returns whether the control blocks are still unchanged. Does not read anything if nothing began.
bool stale_check(struct stale *stale, struct extract_memory *memory,
                 struct extract_symbols *symbols);
// Returns whether a qRcmd packet resets the target: the first word of its command, in hexadecimal,
// is one that QEMU or OpenOCD has for that.
bool stale_is_reset(const char *packet);

#endif
