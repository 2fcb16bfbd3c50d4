// SPDX-License-Identifier: MIT
// serve: the registers of the FPU of threads, for GDB: those of a core, and those of threads that
// do not run, which are in their frames.
#ifndef EXTRACT_SERVE_SAVED_FPU_H
#define EXTRACT_SERVE_SAVED_FPU_H

#include "kernel/debug_threads.h"
#include <extract/text.h>

// The registers that GDB is told of.
struct saved_fpu {
    unsigned bytes; // of each, other than those of control; 0: there are none
    unsigned count; // of them, without those of control
    bool has_control;
};

// A register of the FPU as GDB is told of it.
struct saved_fpu_register {
    char name[16];
    unsigned number; // of registers/fpu.h
    unsigned bytes;
};

// Returns the registers: if the calls of the program use them (GDB refuses a target of RISC-V
// without them), if a core has them, or if a thread has them in its frame.
struct saved_fpu saved_fpu_find(const struct extract_symbols *symbols,
                                const struct register_machine *machine,
                                const struct debug_threads *threads);

// Gets the registers in the order of their numbers in the protocol. Returns false after the last
// one.
bool saved_fpu_register(const struct register_machine *machine, struct saved_fpu fpu,
                        uint64_t index, struct saved_fpu_register *reg);
// Returns the number of the first one in the protocol, over a dump.
unsigned saved_fpu_first(const struct register_machine *machine);

// Writes the feature of the target description with them.
void saved_fpu_describe(struct extract_text *text, const struct register_machine *machine,
                        struct saved_fpu fpu);

// Reads the value of such a register of a thread, in the byte order of the target. Returns false if
// it is not known.
bool saved_fpu_read(const struct debug_thread *thread, struct extract_memory *memory,
                    unsigned number, uint8_t *value, unsigned bytes, enum extract_byte_order order);
// Appends it as hexadecimal digits; one that is not known is "xx".
void saved_fpu_put(struct extract_text *text, const struct debug_thread *thread,
                   struct extract_memory *memory, unsigned number, unsigned bytes,
                   enum extract_byte_order order);

#endif
