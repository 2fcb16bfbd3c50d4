// SPDX-License-Identifier: MIT
// crash: finds out why a target stopped. In: registers, memory, the threads of a kernel, a trace.
// Out: a cause, a place, a thread, and findings (extract/crash.h).
//
//     registers ──> faults.c: what the machine says of the fault, and where; overflow.c: Linux;
//                   fault_status.c: the status of non-secure code
//                   stops.c: assertions, loops, and hooks in which a program stops itself
//     kernel    ──> crash_threads.c: overflows, deadlocks        ──> findings ──> crash.c: cause
//     trace     ──> crash_history.c: storms, starvation, clock
//     both      ──> crash_names.c: names that differ
//     memory    ──> program.c: is this the program that ran?
//
// The cause is the most telling finding, in the order of the table in crash.c.
#ifndef EXTRACT_CRASH_INTERNAL_H
#define EXTRACT_CRASH_INTERNAL_H

#include "registers/registers_room.h"
#include <extract/crash.h>

struct crash_build {
    struct extract_crash *crash;
    const struct extract_remains *remains;
    const struct extract_trace *trace;      // NULL: none
    const char *moved;                      // an image is at another address; NULL: none is known
    const struct register_machine *machine; // NULL: unknown
    size_t finding_capacity, cycle_count;
    // Registers of the thread that an interrupt, and not a fault, has interrupted.
    struct extract_registers interrupted;
    bool is_interrupted;
    bool has_foreign_fault;                       // a fault that wrong memory may have led to
    const struct extract_kernel_thread *overflow; // the thread whose stack has overflowed
    const struct extract_kernel_thread *hog;      // that starves others
    uint64_t ran_last; // a reset: the thread that had the core before; 0: unknown
    const char *ran_last_name;
    uint64_t trace_ticks;  // from the oldest event to the newest one
    bool is_old_status;    // the fault status may be that of an earlier fault
    bool is_stack_checked; // the kernel has found that overflow
    bool is_start_up;      // the fault was in code that ran on the main stack, before threads do
    bool is_stack_access;  // the access that Linux refused was one below a stack
    bool failed;           // out of memory
};

// Adds a finding. The text is cut if it is too long.
void crash_find(struct crash_build *build, const char *kind, const char *source,
                enum extract_crash_certainty certainty, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

// Sets the place of the cause, unless there is one already that is not less certain.
void crash_set_place(struct crash_build *build, uint64_t pc,
                     enum extract_crash_certainty certainty);

// Returns the name of a thread or object for a text: the name, or its address in `buffer`.
const char *crash_name(const char *name, uint64_t address, char buffer[static 24]);

// Sets the frames, and the place, from registers. Functions that `is_passed` names are passed over
// for the place; NULL: none.
void crash_set_origin(struct crash_build *build, const struct extract_registers *origin,
                      enum extract_crash_certainty certainty,
                      bool (*is_passed)(const struct crash_build *build, const char *function));

// Returns the thread whose stack or control block is below a stack: the memory that an overflow
// hits first; NULL: none.
const struct extract_kernel_thread *crash_victim(const struct extract_kernel *kernel,
                                                 const struct extract_kernel_thread *thread);

// Lowers a certainty to another one.
void crash_limit(enum extract_crash_certainty *certainty, enum extract_crash_certainty most);

// Returns whether a core of M-profile cannot take a fault: it then stands still at an address that
// it has for that. Source: Arm v7-M and v8-M Architecture Reference Manuals, "Lockup".
bool crash_is_locked_up(const struct crash_build *build);

// Returns whether the ring shows that its image begins at another address.
bool crash_is_moved(const struct crash_build *build);

// Returns whether a fault is among the findings.
bool crash_has_fault(const struct extract_crash *crash);

// A bit of a fault status register, or a number of a cause.
struct crash_meaning {
    uint8_t number;
    const char *kind; // of the cause
    const char *text;
};

// Returns the meaning of a number; NULL: the list has none.
const struct crash_meaning *crash_meaning_of(const struct crash_meaning *list, size_t count,
                                             uint64_t number);

// Finds a call through a wrong pointer: pc is not code. Its place is that of the caller. Other
// jumps there, such as a return to a wrong address, leave the link register of an earlier call, so
// that the place is likely only, unless the call is proven.
void crash_find_bad_call(struct crash_build *build, struct extract_registers *origin,
                         enum extract_crash_certainty *certainty);

// The modes of an Arm core of A- or R-profile after a fault.
enum { CRASH_ARM_MODE = 0x1F, CRASH_ARM_ABORT = 0x17, CRASH_ARM_UNDEFINED = 0x1B };
void crash_read_classic_arm(struct crash_build *build); // arm_faults.c

void crash_read_faults(struct crash_build *build); // faults.c
// Adds the fault status of non-secure code, if a secure handler has interrupted that:
// fault_status.c.
void crash_add_nonsecure_status(struct crash_build *build);
void crash_read_assertion(struct crash_build *build); // stops.c; the core's registers are known
void crash_read_stop(struct crash_build *build);      // stops.c; the place is known
void crash_read_overflow(struct crash_build *build);  // overflow.c; the frames are known
void crash_read_threads(struct crash_build *build);   // crash_threads.c
void crash_read_history(struct crash_build *build);   // crash_history.c
void crash_read_levels(struct crash_build *build);    // crash_threads.c; the trace was read
void crash_check_names(struct crash_build *build);    // crash_names.c; the cause is chosen
void crash_check_program(struct crash_build *build);  // program.c

#endif
