// SPDX-License-Identifier: MIT
// Kernel: what the control blocks of an RTOS say about its threads and objects at one moment.
//
// A trace shows what a system did. Control blocks show its present state: which thread runs, what
// the others wait for, who holds that, and how much of each stack was ever used. They are read from
// any memory (a dump, a core, a live target), and found through the symbols and the types (DWARF)
// of the program's ELF file. Offsets are never assumed.
//
//     extract_kernel_read(&kernel, memory, symbols, &error);
//     for (size_t i = 0; i < kernel->thread_count; i++)
//         use(&kernel->threads[i]);
//     extract_kernel_free(kernel);
//
// A damaged list ends with what was found before the damage, which `problems` names.
#ifndef EXTRACT_KERNEL_H
#define EXTRACT_KERNEL_H

#include <extract/registers.h>
#include <extract/symbols.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum {
    EXTRACT_KERNEL_MOST = 4096,  // threads, and objects; a memory with more is damaged
    EXTRACT_KERNEL_NAME = 64,    // bytes of a name with its NUL; longer ones are cut
    EXTRACT_KERNEL_PROBLEM = 160 // bytes of a problem with its NUL
};

enum extract_kernel_state {
    EXTRACT_KERNEL_UNKNOWN = 0, // the control block holds a number that means nothing
    EXTRACT_KERNEL_RUNNING,     // it has a core, or was interrupted while it had one
    EXTRACT_KERNEL_READY,
    EXTRACT_KERNEL_BLOCKED, // it waits for an object
    EXTRACT_KERNEL_SLEEPING,
    EXTRACT_KERNEL_SUSPENDED,
    EXTRACT_KERNEL_COMPLETED, // its entry function has returned
    EXTRACT_KERNEL_TERMINATED
};

// What the kernel was doing to a thread when it was halted.
enum extract_kernel_change {
    EXTRACT_CHANGE_NONE = 0,
    EXTRACT_CHANGE_LEAVES, // RUNNING: its next state is stored, and it still has the core
    EXTRACT_CHANGE_RESUMES // BLOCKED: it has got the mutex, and is not ready yet
};

// Whether a wait ends by itself.
enum extract_kernel_limit {
    EXTRACT_LIMIT_UNKNOWN = 0,
    EXTRACT_LIMIT_NONE, // the thread waits forever
    EXTRACT_LIMIT_TICKS // it ends after a known number of ticks
};

// Whether a thread has used more stack than it has.
enum extract_kernel_overflow {
    EXTRACT_OVERFLOW_UNKNOWN = 0,
    EXTRACT_OVERFLOW_NO, // bytes at the end of the stack were never written
    // They were written, while those of other threads were not; or the saved stack pointer is below
    // the stack, and nothing else shows it; or return addresses are below a stack that is not
    // filled.
    EXTRACT_OVERFLOW_SUSPECTED,
    // The stack pointer is below the stack; a saved one has a frame there, or the stack was used to
    // its last byte.
    EXTRACT_OVERFLOW_PROVEN
};

struct extract_kernel_thread {
    uint64_t address;               // of its control block
    char name[EXTRACT_KERNEL_NAME]; // as in memory, not escaped; "": none
    bool name_is_likely;            // the pointer to it leads into a longer text
    enum extract_kernel_state state;
    bool has_priority, has_base_priority;
    uint64_t priority;      // in force, as the kernel counts
    uint64_t base_priority; // without inheritance
    bool is_idle;           // the kernel runs it if no other one is ready
    bool has_core;
    unsigned core;        // RUNNING: number of its core
    const char *wait;     // BLOCKED: the type of what it waits for, such as "mutex"; NULL: unknown
    uint64_t waiting_for; // address of that object; 0: unknown, or none
    size_t object;        // its index in `objects`; SIZE_MAX: not among them
    uint64_t holder;      // address of the thread that owns that mutex; 0: none, or unknown
    enum extract_kernel_change change;  // of its state, which was under way
    enum extract_kernel_limit limit;    // BLOCKED, SLEEPING: of the time
    uint64_t ticks_left;                // LIMIT_TICKS: until its wait or sleep ends by itself
    uint64_t entry;                     // address of its entry function; 0: unknown
    uint64_t stack_start, stack_end;    // lowest address, and the one after the highest; 0: unknown
    bool has_sp, has_pc;                // its registers are saved in memory, and were understood
    uint64_t sp, pc;                    // where it continues
    const char *no_registers;           // why they are not known; static; NULL: nothing to say
    struct extract_registers registers; // saved ones
    struct extract_fpu_part fpu[EXTRACT_FPU_PARTS]; // where those of the FPU are saved
    const char *function;       // that contains pc; of the symbols; NULL: unknown
    struct extract_place place; // of pc; file NULL: unknown
    bool has_untouched;         // the kernel fills stacks before use
    uint64_t untouched;         // bytes at the lowest addresses that were never written
    enum extract_kernel_overflow overflow;
    bool has_spilled; // return addresses are below its stack
};

// A number that a control block holds.
struct extract_kernel_figure {
    const char *name; // such as "messages"; static; NULL: none
    uint64_t value;
};

enum { EXTRACT_KERNEL_FIGURES = 3 };

struct extract_kernel_object {
    uint64_t address;               // of its control block
    const char *type;               // such as "mutex"; static
    char name[EXTRACT_KERNEL_NAME]; // as for threads
    bool name_is_likely;
    uint64_t owner; // thread that holds a mutex; 0: none
    size_t waiters; // threads that wait for it
    struct extract_kernel_figure figures[EXTRACT_KERNEL_FIGURES];
};

struct extract_kernel {
    const char *name;            // such as "ThreadX"; static
    const char *const *prefixes; // what names of its functions begin with; NULL after the last
    struct extract_kernel_thread *threads;
    size_t thread_count;
    struct extract_kernel_object *objects; // all but threads
    size_t object_count;
    // What is damaged or missing, one sentence each. Empty: all lists were read to their end.
    char (*problems)[EXTRACT_KERNEL_PROBLEM];
    size_t problem_count;
    size_t missing_count; // of the problems, the first ones: what the images do not have
    bool is_moving;       // one of the problems is that the kernel moves a thread from list to list
    // An image is not where the target had it: that is the only problem, and there are no threads.
    bool is_moved;
};

// Reads the threads and objects of the kernel in a program. A running target should be halted
// before. The caller frees *kernel with extract_kernel_free; it is NULL after an error. The memory
// may be closed before, but not the symbols, which own strings of the result. Errors: NOTFOUND (the
// program contains no known kernel), UNSUPPORTED (the ELF file does not describe the types of its
// control blocks), UNREADABLE (the memory does not contain the kernel's variables), NOMEM.
enum extract_code extract_kernel_read(struct extract_kernel **kernel, struct extract_memory *memory,
                                      struct extract_symbols *symbols, struct extract_error *error);
// Does the same with fewer reads: without the saved registers and the use of stacks.
enum extract_code extract_kernel_read_states(struct extract_kernel **kernel,
                                             struct extract_memory *memory,
                                             struct extract_symbols *symbols,
                                             struct extract_error *error);
void extract_kernel_free(struct extract_kernel *kernel); // NULL is allowed
// Removes the threads and objects if the registers of a live target, which is halted, prove that it
// was started again: its start-up code has not cleared the kernel's variables yet. This becomes a
// problem.
void extract_kernel_check_start(struct extract_kernel *kernel, struct extract_memory *memory,
                                struct extract_symbols *symbols);

// What is left of a target that has stopped. Initialize with zeros, then set what there is. The
// caller owns all that it points to, which must outlive what is made of it.
struct extract_remains {
    size_t size; // sizeof the struct
    struct extract_memory *memory;
    struct extract_symbols *symbols; // NULL: none
    struct extract_kernel *kernel;   // NULL: none
    struct extract_registers *cores; // of the cores, EXTRACT_CORES of them; NULL: not known
    size_t core_count;               // number of them
    bool psp_is_likely;              // psp of a core was found by search (extract_kernel_find_psp)
    // Notes of a core file that has one for each thread, so that the cores' were chosen by the
    // stacks, and are likely; core_count is 0 if that was not possible. 0: each note is one of a
    // core.
    size_t thread_notes;
};
// Reads the kernel, and finds what the registers of the cores lack: psp, and the registers of the
// thread that a trap has interrupted. Sets `kernel`, which the caller frees with
// extract_kernel_free, the cores and what is likely. Errors: as extract_kernel_read; a program
// without a kernel still has the registers of its cores.
enum extract_code extract_remains_read_kernel(struct extract_remains *remains,
                                              struct extract_error *error);

// Returns the thread with a control block at an address; NULL: there is none.
const struct extract_kernel_thread *extract_kernel_thread_at(const struct extract_kernel *kernel,
                                                             uint64_t address);

// Finds the process stack pointer (psp) of an Arm core of M-profile that was halted in an
// exception, if its debugger does not know it, or shows a value outside of the stack of the thread
// that has the core: searches that stack for the frame of the exception. The result is likely, not
// certain. Sets psp and msp of the core's registers. Returns false if psp is known, if the machine
// has none, or if there is no such frame.
bool extract_kernel_find_psp(const struct extract_kernel *kernel, struct extract_memory *memory,
                             struct extract_symbols *symbols, unsigned core,
                             struct extract_registers *registers);

// Finds the registers of the thread that a trap of a RISC-V core has interrupted, if the core's
// mepc is known: searches the stack of the thread that has the core for the frame with that
// address. Sets the registers of the thread. Returns false if there is no such frame.
bool extract_kernel_find_interrupted(struct extract_kernel *kernel, struct extract_memory *memory,
                                     struct extract_symbols *symbols, unsigned core,
                                     const struct extract_registers *registers);

// Finds the registers of an interrupt handler that a trap of a RISC-V core has interrupted, if the
// core's mepc is known: the frame with that address is on the stack on which the core is, which is
// not that of a thread, although a thread has the core. Returns false if there is no such frame.
bool extract_kernel_trap_in_interrupt(struct extract_kernel *kernel, struct extract_memory *memory,
                                      struct extract_symbols *symbols, unsigned core,
                                      const struct extract_registers *registers,
                                      struct extract_registers *found);

// Gets the registers that a trap of a RISC-V core has interrupted, if mepc is known, from those of
// the core: its handler has saved no frame of a kernel, as one that spins. The rules to unwind its
// functions lead back. Returns false if the result is not that of a function at mepc.
bool extract_kernel_unwind_trap(struct extract_memory *memory, struct extract_symbols *symbols,
                                const struct extract_registers *core,
                                struct extract_registers *found);

// Gets the registers of the thread that an exception has interrupted. On Arm's M-profile, they are
// in the frame at psp, and r4 to r11 are those of the core. On ColdFire, the frame is at the stack
// pointer, as long as the handler has pushed nothing; the core has to be in the function to which
// the vector table leads. Returns false if the core is not in an exception, if the frame is on the
// main stack, or if it cannot be read.
bool extract_kernel_interrupted(struct extract_memory *memory, struct extract_symbols *symbols,
                                const struct extract_registers *core,
                                struct extract_registers *interrupted);

// Where an exception of an Arm core of M-profile has come from.
struct extract_origin {
    struct extract_registers registers; // r4 to r11 are those of the core
    unsigned
        exception; // number of the exception that was interrupted; 0: a thread, or start-up code
    bool is_sure;  // the frame is known to be that of the newest exception
    bool is_main;  // it is on the main stack
};

// Gets the registers that an exception has saved: on the stack of a thread, or on the main stack if
// it came in start-up code or in another exception. A handler that has called functions no longer
// shows where: then its frame is searched for, and RETTOBASE of ICSR is used, if the memory has it.
// Registers of which "exception" says that they are those of the fault are returned as they are.
// Returns false if the core is not in an exception, or if no frame is found. Source: Arm v7-M
// Architecture Reference Manual, B1.5.6, B3.2.4.
bool extract_kernel_origin(struct extract_memory *memory, struct extract_symbols *symbols,
                           const struct extract_registers *core, struct extract_origin *origin);

// A function on a stack.
struct extract_frame {
    uint64_t pc;                // where it continues; the first one: where it is
    const char *function;       // of the symbols; NULL: unknown
    struct extract_place place; // of the call; file NULL: unknown
    // The ELF file has no call before `pc`: the stack is damaged, or another program ran.
    bool is_impossible;
};

// Lists the functions that were called, the innermost first, from the registers of a thread or a
// core. Returns how many there are, at most `most`: fewer if the ELF file has no rules to unwind
// one of them, or if the stack is damaged.
size_t extract_kernel_backtrace(struct extract_memory *memory, struct extract_symbols *symbols,
                                const struct extract_registers *registers,
                                struct extract_frame *frames, size_t most);

// Returns the name of a state, such as "blocked", or of an overflow, such as "proven".
const char *extract_kernel_state_name(enum extract_kernel_state state);
const char *extract_kernel_overflow_name(enum extract_kernel_overflow overflow);
const char *extract_kernel_change_name(enum extract_kernel_change change);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
