// SPDX-License-Identifier: MIT
// Crash: why a target stopped, from what is left of it: registers, control blocks, stacks, memory
// and the trace.
//
//     extract_crash_new(&crash, &remains, trace, hz, &error);
//     extract_report_crash(&text, crash, &options);
//     extract_crash_free(crash);
//
// Every statement names its source, and how sure it is. What nothing shows is unknown.
#ifndef EXTRACT_CRASH_H
#define EXTRACT_CRASH_H

#include <extract/event.h>
#include <extract/kernel.h>
#include <extract/trace.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct register_machine;

enum extract_crash_certainty {
    EXTRACT_CRASH_POSSIBLE = 0,
    EXTRACT_CRASH_LIKELY,
    EXTRACT_CRASH_CERTAIN
};

enum { EXTRACT_FINDING_TEXT = 320, EXTRACT_SOURCE_LINE = 256, EXTRACT_CRASH_FRAMES = 32 };

struct extract_finding {
    const char *kind;   // such as "stack overflow"; static
    const char *source; // "registers", "control block", "stack", "memory" or "trace"; static
    enum extract_crash_certainty certainty;
    char text[EXTRACT_FINDING_TEXT]; // as in memory, not escaped
};

// A place in the program.
struct extract_crash_place {
    bool is_known;
    enum extract_crash_certainty certainty;
    uint64_t pc;
    const char *function;      // that contains pc; of the symbols; NULL: unknown
    uint64_t offset;           // of pc in the function, in bytes
    struct extract_place line; // file NULL: unknown
};

// What a thread did last, as the trace shows it.
struct extract_crash_wait {
    bool is_known;
    bool is_least;  // it may be in its state for longer: the trace has no event of it
    uint64_t ticks; // since it is in its state
};

// A cycle of threads each of which waits for what the next one holds.
struct extract_deadlock {
    size_t first, count; // in `cycle`
};

struct extract_crash {
    const char *kind; // of the cause; static: see ringside-crash(1)
    enum extract_crash_certainty certainty;
    const char *source;              // of the cause
    char text[EXTRACT_FINDING_TEXT]; // what happened, in words
    unsigned core;                   // that stopped
    size_t core_count;               // whose registers are known; 0: none
    // A program of Linux: the number of the thread with the signal, whose registers these are; each
    // of its threads counts as a core. 0: the program has a kernel of its own, or it is not known.
    uint64_t lwp;
    struct extract_registers registers;         // of the core that stopped
    const struct register_machine *machine;     // the names of the registers; NULL: unknown
    const struct extract_kernel *kernel;        // NULL: none
    const struct extract_kernel_thread *thread; // that had the core; NULL: none, or unknown
    bool has_no_thread; // the kernel has no thread for running: it idles, or has not started
    // The thread that had the core before a reset, which has cleared the kernel; 0: no reset. As
    // the trace names it.
    uint64_t last_thread;
    char last_thread_name[EXTRACT_KERNEL_NAME];
    enum extract_crash_certainty thread_certainty; // of one of them
    char
        context[64]; // "HardFault" or "interrupt 5": what the core was in; "": a thread, or unknown
    struct extract_frame frames[EXTRACT_CRASH_FRAMES]; // that led to the cause, the innermost first
    size_t frame_count;
    struct extract_crash_place place;   // of the cause
    struct extract_crash_wait *waits;   // one for each thread of the kernel
    size_t *cycle;                      // indices of threads, for `deadlocks`
    struct extract_deadlock *deadlocks; // as they were found
    size_t deadlock_count;
    struct extract_finding *findings; // the most certain ones first
    size_t finding_count;
    uint64_t hz; // ticks per second of the trace; 0: unknown
};

// Finds out why a target stopped, from its remains and its trace, which may be NULL. `hz`: ticks
// per second of the trace; 0: unknown. The result must not outlive any of them. The caller frees
// *crash with extract_crash_free. Errors: NOMEM.
enum extract_code extract_crash_new(struct extract_crash **crash,
                                    const struct extract_remains *remains,
                                    const struct extract_trace *trace, uint64_t hz,
                                    struct extract_error *error);
void extract_crash_free(struct extract_crash *crash); // NULL is allowed

// Returns "possible", "likely" or "certain".
const char *extract_crash_certainty_name(enum extract_crash_certainty certainty);
// Returns the name of a register of the machine by its index; NULL: there is none.
const char *extract_crash_register(const struct extract_crash *crash, unsigned index);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
