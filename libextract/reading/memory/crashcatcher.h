// SPDX-License-Identifier: MIT
// memory: dumps of CrashCatcher: the registers of the fault, which are beside the memory, and how
// such a dump is recognized.
#ifndef EXTRACT_MEMORY_CRASHCATCHER_H
#define EXTRACT_MEMORY_CRASHCATCHER_H

#include "memory/images.h"

enum {
    CRASHCATCHER_GENERAL = 17, // r0 to r12, sp, lr, pc, xpsr
    CRASHCATCHER_FPU = 33      // s0 to s31, fpscr
};

// The registers of a Cortex-M core when a fault happened, before its exception changed them.
struct extract_crashcatcher {
    uint32_t general[CRASHCATCHER_GENERAL];
    bool has_stacks;      // version 3
    uint32_t msp, psp;    // when the handler began
    uint32_t handler_psr; // of the handler: the number of its exception
    bool has_fpu;
    uint32_t fpu[CRASHCATCHER_FPU];
};

// Returns the registers of a memory that is such a dump; NULL: it is none. They are valid as long
// as the memory.
const struct extract_crashcatcher *extract_crashcatcher_of(const struct extract_memory *memory);

// Returns whether a file begins as such a dump, binary or as text.
bool extract_crashcatcher_is(const uint8_t *bytes, size_t length);

// Returns whether a text file contains such a dump after other lines.
bool extract_crashcatcher_is_in(const char *path);

#endif
