// SPDX-License-Identifier: MIT
// serve: whether the control blocks of a live target are those of a program that was there before:
// after a load or a reset, they are, until start-up code has cleared them.
#ifndef EXTRACT_SERVE_STALE_H
#define EXTRACT_SERVE_STALE_H

#include "registers/registers_room.h"
#include <extract/kernel.h>

struct stale {
    bool is_stale;
    bool has_continued; // the target, after that began
    uint64_t sum;       // of the control blocks when that began
};

// Begins: a program was loaded, or the target was reset.
void stale_begin(struct stale *stale, struct extract_memory *memory,
                 struct extract_symbols *symbols);
// Notes that the target continues, and not just by a step.
void stale_continue(struct stale *stale);
// Returns whether the control blocks are still those of before. They are not if they have changed,
// or if the target has continued, and a core (NULL: not known) uses the stack of the thread that
// the kernel has for running on it: a program that is started twice may come to the same state.
// It also begins if the registers prove that the program was started again (kernel/start.c).
bool stale_check(struct stale *stale, struct extract_memory *memory,
                 struct extract_symbols *symbols, unsigned core,
                 const struct extract_registers *registers);
// Returns whether a qRcmd packet resets the target: the first word of its command, in hexadecimal,
// is one that QEMU or OpenOCD has for that.
bool stale_is_reset(const char *packet);
// Returns whether a packet (M or X) writes code, and not just a breakpoint: `load` does.
bool stale_is_load(const char *packet, struct extract_symbols *symbols);

#endif
