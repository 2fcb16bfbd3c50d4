// SPDX-License-Identifier: MIT
// kernel: the threads that a debugger shows: those of the kernel, and a core on which none of them
// runs.
//
//     kernel's threads ─┐
//                       ├─> who has which core ──> id, name, state, registers of each
//     cores' registers ─┘
#ifndef EXTRACT_KERNEL_DEBUG_THREADS_H
#define EXTRACT_KERNEL_DEBUG_THREADS_H

#include "registers/registers_room.h"
#include <extract/kernel.h>

struct debug_thread {
    uint64_t id;
    const struct extract_kernel_thread *thread; // NULL: a core with the kernel or an interrupt
    const char *name;                           // as in memory; not NULL
    bool on_core;                               // its registers are those of a core
    bool is_likely;     // an exception interrupted it, and its registers were searched for
    bool psp_is_likely; // an exception interrupted it, and its frame was searched for
    struct extract_registers registers;
    const struct extract_fpu_part *fpu; // EXTRACT_FPU_PARTS of its frame; NULL: none are known
};

struct debug_threads {
    struct debug_thread *list;
    size_t count;
    size_t current; // index of the thread that GDB selects first
    const struct extract_kernel *kernel;
};

// Builds the list. `kernel` and `cores` may be NULL. Threads that have ended are left out, since
// they have no registers. There is at least one thread. Returns false if memory is short.
bool debug_threads_build(struct debug_threads *threads, const struct extract_kernel *kernel,
                         const struct register_machine *machine,
                         const struct extract_registers *cores, size_t core_count);
// Moves the thread that an exception interrupted out of the core, where GDB cannot unwind through
// the exception: the thread gets the registers of the frame, and the exception becomes a thread of
// its own. With `keeps_core`, the thread still counts as the one on the core, which GDB selects
// first; otherwise the exception does. Returns false if memory is short.
bool debug_threads_split(struct debug_threads *threads, struct extract_memory *memory,
                         struct extract_symbols *symbols, bool keeps_core);
void debug_threads_free(struct debug_threads *threads);

// Returns whether a thread that the kernel has for running has the core with these registers.
bool debug_thread_has_core(const struct extract_kernel_thread *thread,
                           const struct register_machine *machine,
                           const struct extract_registers *registers);

// Returns whether debug_threads_split moves a thread out of the core with these registers, where no
// register shows GDB the frame of the exception, as Arm's M-profile does.
bool debug_threads_are_split(const struct register_machine *machine, struct extract_memory *memory,
                             struct extract_symbols *symbols,
                             const struct extract_registers *registers);

// Returns the thread with an id; NULL: there is none.
const struct debug_thread *debug_thread_find(const struct debug_threads *threads, uint64_t id);

#endif
