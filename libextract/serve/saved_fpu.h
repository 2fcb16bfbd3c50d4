// SPDX-License-Identifier: MIT
// serve: the registers of the FPU of threads that do not run, for GDB: they are in their frames.
#ifndef EXTRACT_SERVE_SAVED_FPU_H
#define EXTRACT_SERVE_SAVED_FPU_H

#include "serve/threads.h"

enum { SAVED_FPU_FIRST = 33 }; // number of the first one in the protocol, over a dump

// A register of the FPU as GDB is told of it.
struct saved_fpu_register {
    char name[16];
    unsigned number; // of registers/fpu.h
    unsigned bytes;
};

// Returns the bytes of the registers of the FPU, other than those of control: if the calls of the
// program use them (GDB refuses a target of RISC-V without them), or if a thread has them in its
// frame. 0: there are none.
unsigned saved_fpu_bytes(const struct extract_symbols *symbols,
                         const struct register_machine *machine,
                         const struct serve_threads *threads);

// Gets the registers in the order of their numbers in the protocol. Returns false after the last
// one. `fpu_bytes`: as saved_fpu_bytes returns it.
bool saved_fpu_register(const struct register_machine *machine, unsigned fpu_bytes, uint64_t index,
                        struct saved_fpu_register *reg);

// Writes the feature of the target description with them.
void saved_fpu_describe(struct extract_text *text, const struct register_machine *machine,
                        unsigned fpu_bytes);

// Appends the value of such a register of a thread; one that is not known is "xx".
void saved_fpu_put(struct extract_text *text, const struct serve_thread *thread,
                   struct extract_memory *memory, unsigned number, unsigned bytes);

#endif
