// SPDX-License-Identifier: MIT
// serve: the threads that GDB sees: those of the kernel, and a core on which none of them runs.
//
//     kernel's threads ─┐
//                       ├─> who has which core ──> id, name, state, registers of each
//     cores' registers ─┘
#ifndef EXTRACT_SERVE_THREADS_H
#define EXTRACT_SERVE_THREADS_H

#include "registers/registers.h"
#include <extract/serve.h>
#include <extract/text.h>

struct serve_thread {
    uint64_t id;
    const struct extract_kernel_thread *thread; // NULL: a core with the kernel or an interrupt
    const char *name;                           // as in memory; not NULL
    bool on_core;                               // its registers are those of a core
    bool is_likely;     // an exception interrupted it, and its registers were searched for
    bool psp_is_likely; // an exception interrupted it, and its frame was searched for
    struct extract_registers registers;
    const struct extract_fpu_part *fpu; // EXTRACT_FPU_PARTS of its frame; NULL: none are known
};

struct serve_threads {
    struct serve_thread *list;
    size_t count;
    size_t current; // index of the thread that GDB selects first
    const struct extract_kernel *kernel;
};

// Builds the list. `kernel` and `cores` may be NULL. Threads that have ended are left out, since
// they have no registers. There is at least one thread. Returns false if memory is short.
bool serve_threads_build(struct serve_threads *threads, const struct extract_kernel *kernel,
                         const struct register_machine *machine,
                         const struct extract_registers *cores, size_t core_count);
// Moves the thread that an exception interrupted out of the core, where GDB cannot unwind through
// the exception: the thread gets the registers of the frame, and the exception becomes a thread of
// its own. With `keeps_core`, the thread still counts as the one on the core, which GDB selects
// first; otherwise the exception does. Returns false if memory is short.
bool serve_threads_split(struct serve_threads *threads, struct extract_memory *memory,
                         struct extract_symbols *symbols, bool keeps_core);
void serve_threads_free(struct serve_threads *threads);

// Returns whether a thread that the kernel has for running has the core with these registers.
bool serve_has_core(const struct extract_kernel_thread *thread,
                    const struct register_machine *machine,
                    const struct extract_registers *registers);

// Returns whether serve_threads_split moves a thread out of the core with these registers, where no
// register shows GDB the frame of the exception, as Arm's M-profile does.
bool serve_is_split(const struct register_machine *machine, struct extract_memory *memory,
                    struct extract_symbols *symbols, const struct extract_registers *registers);

// Returns the thread with an id; NULL: there is none.
const struct serve_thread *serve_thread_find(const struct serve_threads *threads, uint64_t id);

// Writes what a thread does: "blocked on mutex "bus", held by "logger", priority 6".
void serve_put_state(struct extract_text *text, const struct serve_threads *threads,
                     const struct serve_thread *thread);
// Writes the name and the state, as pairs of hexadecimal digits of at most `most` bytes.
void serve_put_thread_words(struct extract_text *text, const struct serve_threads *threads,
                            const struct serve_thread *thread, size_t most);
// Writes the document that qXfer:threads:read returns.
void serve_put_thread_list(struct extract_text *text, const struct serve_threads *threads);
// Writes the target description: the registers of a machine. `feature_count` of its features;
// `fpu`: as saved_fpu_find returns it.
struct saved_fpu;
void serve_put_description(struct extract_text *text, const struct register_machine *machine,
                           unsigned feature_count, const struct saved_fpu *fpu);

#endif
