// SPDX-License-Identifier: MIT
// kernel: reads the control blocks of an RTOS. In: memory, and the symbols and types of the
// program. Out: threads and objects (extract/kernel.h).
//
// A kernel is one file, which knows names: of variables, types, members and states. It reads its
// lists with the functions here, which find the offsets and check each address. kernel_read.c has
// the functions that all kernels use, contexts.c the frames in which ports save registers,
// coldfire.c that of an exception, kernel_cores.c which notes of a core file are those of cores,
// code_calls.c the instructions that call functions, and stacks.c measures stacks.
//
//     kernel_kernels[] ── detect ──> read: lists ──> blocks ──> threads, objects
//                                                       │
//                             contexts.c: registers <───┴─> stacks.c: use, overflow
#ifndef EXTRACT_KERNEL_KERNEL_ROOM_H
#define EXTRACT_KERNEL_KERNEL_ROOM_H

#include "base/map.h"
#include "registers/registers_room.h"
#include <extract/kernel.h>
#include <extract/text.h>

enum {
    KERNEL_BLOCK_BYTES = 2048, // maximum of a control block
    KERNEL_MEMBERS = 128,      // members whose offsets are remembered
    KERNEL_CURRENTS = 2
};

// The place of a member in its type; of size 0 if the type has no such member.
struct kernel_member {
    const char *type, *name;
    uint64_t offset, size; // bytes
};

// One read of a kernel.
struct kernel_reader {
    struct extract_kernel *kernel; // the result
    struct extract_memory *memory;
    struct extract_symbols *symbols;
    enum extract_byte_order order;
    unsigned word_bytes;                      // of a pointer
    uint16_t machine;                         // e_machine of the ELF file
    uint32_t elf_flags;                       // e_flags
    const struct register_machine *registers; // NULL: no frames are known
    uint8_t fill;                             // byte with which the kernel fills stacks before use
    size_t thread_capacity, object_capacity, problem_capacity;
    struct kernel_member members[KERNEL_MEMBERS];
    size_t member_count;
    uint64_t followed; // instructions of Arm code, for kernel_find_arm_stack
    bool is_brief;     // without registers and stacks
    bool failed;       // out of memory
};

// Returns a reader that adds what it finds to a kernel; NULL: it only reads.
struct kernel_reader kernel_reader_make(struct extract_kernel *kernel,
                                        struct extract_memory *memory,
                                        struct extract_symbols *symbols);

// A copy of a control block.
struct kernel_block {
    const char *type;
    uint64_t address;
    size_t length; // bytes that were read
    uint8_t bytes[KERNEL_BLOCK_BYTES];
};

// Where a kernel has saved the registers of a thread.
struct kernel_saved {
    uint64_t sp;                     // stack pointer in the control block
    uint64_t stack_start, stack_end; // of the thread; 0: not known
    bool has_fpu;                    // the control block says that registers of an FPU are there
    struct extract_fpu_part fpu[EXTRACT_FPU_PARTS]; // set: where registers of the FPU are
    const char *problem; // set where the registers are not known: why; static; NULL: damaged
};

// A kernel that is known.
struct kernel_description {
    const char *name;
    const char *symbol;     // that only programs with this kernel have
    const char *type;       // of a thread's control block
    uint8_t fill;           // byte with which it fills stacks before use
    bool owner_never_waits; // who has a mutex and takes it again does not wait for it
    // Variables that point to the thread on a core: an array, or one of core 0. NULL: no other one.
    const char *current[KERNEL_CURRENTS];
    // The variable that points to the thread that gets core 0 next, an array, too; NULL: none.
    const char *next;
    // A variable that has one of these values while the kernel schedules threads; NULL: none has.
    struct {
        const char *symbol;
        uint64_t least, most;
    } started;
    const char *ticks; // a variable that the interrupt of the clock counts up
    // A variable that counts the interrupts being handled, in ports that keep it; NULL: none does.
    const char *interrupts;
    // What names of its functions begin with; NULL after the last.
    const char *const *prefixes;
    // Reads the frame of a thread that does not run.
    bool (*context)(struct kernel_reader *reader, struct kernel_saved *saved,
                    struct extract_registers *registers);
    // Reads all. Returns false if the memory does not contain the kernel's variables.
    bool (*read)(struct kernel_reader *reader);
    // Reads the object of a type at an address, if its control block proves that there is one;
    // NULL: all objects are in lists.
    void (*read_object)(struct kernel_reader *reader, const char *type, uint64_t address);
};

extern const struct kernel_description kernel_threadx, kernel_bout, kernel_freertos;

// ---- kernel_read.c ----

// Returns the kernel of a program; NULL: none is known.
const struct kernel_description *kernel_detect(struct extract_symbols *symbols);
// Adds the object that events call one of a type at an address to a kernel, if it has it not, and
// the control block there proves it. Returns NULL if nothing was added.
const struct extract_kernel_object *kernel_read_object(struct extract_kernel *kernel,
                                                       struct extract_memory *memory,
                                                       struct extract_symbols *symbols,
                                                       const char *type, uint64_t address);
// Reads the address of the thread that has a core, or 0: none, or the kernel has not started.
// Returns false if it is not known.
bool kernel_read_current(struct extract_memory *memory, struct extract_symbols *symbols,
                         unsigned core, uint64_t *address);
// Returns whether a core has no thread, and gets one next: the kernel switches threads.
bool kernel_is_switching(struct extract_memory *memory, struct extract_symbols *symbols,
                         unsigned core);
// Returns whether the registers of a core prove that the program was started again, and that its
// start-up code has not begun to clear the kernel's variables (start.c).
bool kernel_is_of_run_before(struct extract_memory *memory, struct extract_symbols *symbols,
                             unsigned core, const struct extract_registers *registers);
// Returns whether the kernel has not begun to schedule threads, by a variable of its own: start-up
// code runs, whatever thread the kernel has chosen for its start.
bool kernel_is_before_start(struct kernel_reader *reader);
// Returns how many cores the kernel schedules; 1 if its variables do not show it.
size_t kernel_count_cores(struct extract_symbols *symbols);

// Reads an unsigned number of 1, 2, 4 or 8 bytes. Returns false if it cannot be read.
bool kernel_read_number(struct kernel_reader *reader, uint64_t address, uint64_t bytes,
                        uint64_t *value);
bool kernel_read_pointer(struct kernel_reader *reader, uint64_t address, uint64_t *value);
// Reads a variable; of an array of pointers, element `index`. Returns false if the program has no
// such variable, or if it cannot be read.
bool kernel_read_variable(struct kernel_reader *reader, const char *symbol, size_t index,
                          uint64_t *value);
// Finds a member. Returns NULL if the type has none of that name.
const struct kernel_member *kernel_member(struct kernel_reader *reader, const char *type,
                                          const char *name);
// Reads a control block. Returns false if its first bytes cannot be read.
bool kernel_read_block(struct kernel_reader *reader, const char *type, uint64_t address,
                       struct kernel_block *block);
// Gets a number in a block. Returns false if the type has no such member, or if it was not read.
bool kernel_block_get(struct kernel_reader *reader, const struct kernel_block *block,
                      const char *member, uint64_t *value);
// Copies the text at an address; "" if there is none.
void kernel_read_text(struct kernel_reader *reader, uint64_t address,
                      char name[EXTRACT_KERNEL_NAME]);
// Does the same with the name to which a control block points, of a thread or an object of a type.
// One that is not text is left out, and becomes a problem. Returns whether the name begins there:
// if it is the end of a longer text, the pointer may be damaged. Linkers make such names, too.
bool kernel_read_name(struct kernel_reader *reader, const char *type, uint64_t owner,
                      uint64_t address, char name[EXTRACT_KERNEL_NAME]);

// A linked list. Each item points to the next one.
struct kernel_list {
    const char *what;     // "thread list", for messages
    uint64_t first, end;  // the first item, and the one that ends the list (first: a ring)
    uint64_t next_offset; // of the pointer in an item
    const char *type;     // of what the items are in; NULL: not known
    uint64_t offset;      // of an item in it
    bool has_threads;     // it is a thread
};
// Passes each item to `visit`, until that returns false. Damage ends the walk and becomes a
// problem. Returns false if the images end the walk, because they do not have an item. If that is
// a thread, it is added, and nothing more is known of it.
bool kernel_walk(struct kernel_reader *reader, const struct kernel_list *list,
                 bool (*visit)(struct kernel_reader *reader, uint64_t item, void *context),
                 void *context);

// Add to the result. Return NULL if memory is short, or if there are too many.
struct extract_kernel_thread *kernel_add_thread(struct kernel_reader *reader, uint64_t address);
struct extract_kernel_object *kernel_add_object(struct kernel_reader *reader, uint64_t address,
                                                const char *type);
// Appends a name in quotes, or the address of what has none.
void kernel_put_name(struct extract_text *text, const char *name, uint64_t address);
void kernel_add_problem(struct kernel_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Adds the problem that the images do not have `what`, and the range to dump. Returns false if they
// have it, or if the ELF file has no variable there: then a pointer is damaged. A live target has
// no images.
bool kernel_note_missing(struct kernel_reader *reader, const char *what, uint64_t address,
                         uint64_t bytes);
// Does the same with the control block of a thread, which is added.
bool kernel_note_missing_thread(struct kernel_reader *reader, const char *type, uint64_t address);

// Adds a number to an object. Unless there is space, it is left out.
void kernel_put_figure(struct extract_kernel_object *object, const char *name, uint64_t value);
// Does the same with a number of a control block, unless it cannot be read.
void kernel_add_figure(struct kernel_reader *reader, struct extract_kernel_object *object,
                       const struct kernel_block *block, const char *name, const char *member);

// ---- contexts.c ----

// Read the registers of a thread that does not run, as a port saves them. Each returns false if
// there is no frame that is known at the saved stack pointer.
bool kernel_context_threadx(struct kernel_reader *reader, struct kernel_saved *saved,
                            struct extract_registers *registers);
bool kernel_context_bout(struct kernel_reader *reader, struct kernel_saved *saved,
                         struct extract_registers *registers);
bool kernel_context_freertos(struct kernel_reader *reader, struct kernel_saved *saved,
                             struct extract_registers *registers);
// Reads the frame that ThreadX's port for RISC-V saves when an interrupt or a trap begins: s0, what
// functions need not preserve, ra and pc. What they preserve is in the registers of the core, until
// the thread loses the core.
bool kernel_context_threadx_trap(struct kernel_reader *reader, uint64_t address,
                                 const struct extract_registers *core,
                                 struct extract_registers *registers);
// Reads the frame that an exception of an Arm core of M-profile has pushed.
bool kernel_context_exception(struct extract_memory *memory, enum extract_byte_order order,
                              uint64_t address, bool has_fpu, struct extract_registers *registers);
// Sets the saved registers of a thread, or why they are not known. The stack of the thread is set.
void kernel_read_context(struct kernel_reader *reader, struct extract_kernel_thread *thread,
                         bool has_fpu,
                         bool (*context)(struct kernel_reader *reader, struct kernel_saved *saved,
                                         struct extract_registers *registers));
// Notes that the images do not have the newest part of the stack of a thread with a core.
void kernel_check_stack(struct kernel_reader *reader, struct extract_kernel_thread *thread);
// Sets the registers of a thread, and the function and the line of its pc.
void kernel_set_context(struct kernel_reader *reader, struct extract_kernel_thread *thread,
                        const struct extract_registers *registers);

// ---- kernel_cores.c ----

// If the registers of the cores are those of a core file with a note for each thread, chooses the
// notes that are those of a core.
void kernel_choose_cores(struct extract_remains *remains);

// ---- coldfire.c ----

// Whether a core is in the handler of an exception. OTHER: the vector table leads elsewhere;
// UNKNOWN: no vector table is known.
enum kernel_handler { KERNEL_HANDLER_UNKNOWN, KERNEL_HANDLER_OTHER, KERNEL_HANDLER_ENTERED };

// The frame of an exception on the stack of a ColdFire core.
struct kernel_coldfire_frame {
    unsigned format, vector, fault_status;
    enum kernel_handler handler;        // UNKNOWN: the words may be other data
    struct extract_registers registers; // of what was interrupted
};
// Reads the frame at the stack pointer, where it is until a handler pushes something. Returns false
// if there is none.
bool kernel_read_coldfire_frame(struct extract_memory *memory, struct extract_symbols *symbols,
                                const struct extract_registers *core,
                                struct kernel_coldfire_frame *frame);
// Gets the registers of what an exception has interrupted, if the core is in its handler.
bool kernel_interrupted_coldfire(struct extract_memory *memory, struct extract_symbols *symbols,
                                 const struct extract_registers *core,
                                 struct extract_registers *interrupted);

// ---- arm_exception.c ----

// The exceptions of an Arm core of A- or R-profile that interrupt a program.
enum kernel_arm_exception {
    KERNEL_ARM_UNDEFINED,
    KERNEL_ARM_CALL,
    KERNEL_ARM_PREFETCH_ABORT,
    KERNEL_ARM_DATA_ABORT,
    KERNEL_ARM_IRQ
};
struct kernel_arm_frame {
    enum kernel_arm_exception exception;
    bool is_at_start;     // the core is at the first instruction of the handler
    bool is_likely;       // some register was not known, and the vectors are those of the program
    bool is_in_interrupt; // it was an interrupt that was interrupted, as the kernel has counted
    bool is_searched;     // sp or lr was found by search
    struct extract_registers registers; // of what was interrupted
};
// Returns whether a core is an Arm core of A- or R-profile in a mode that only an exception leads
// to, other than a call of the kernel.
bool kernel_is_arm_exception(const struct register_machine *machine,
                             const struct extract_registers *core);
// Gets what an exception has interrupted, as long as the core is in the function to which the
// vector leads. Returns false if it is not known to be, or in no exception.
bool kernel_read_arm_frame(struct extract_memory *memory, struct extract_symbols *symbols,
                           const struct extract_registers *core, struct kernel_arm_frame *frame);
// Gets where a supervisor call was executed, if the core is in the handler of such calls, and that
// is an endless loop, or no code of the program has that call. Returns false otherwise: programs
// with a kernel may make such calls all the time.
bool kernel_read_arm_call(struct extract_memory *memory, struct extract_symbols *symbols,
                          const struct extract_registers *core, struct kernel_arm_frame *frame);
// Adds sp and lr of the mode that was interrupted, if the debugger does not show them: they are
// searched for on the stack of the thread that has the core, or in an interrupt, around the core's
// own stack.
void kernel_complete_arm_frame(const struct extract_kernel *kernel, struct extract_memory *memory,
                               struct extract_symbols *symbols, unsigned core,
                               const struct extract_registers *registers,
                               struct kernel_arm_frame *frame);

// ---- arm_stack.c ----

// Where the stack is that an exception has interrupted.
struct kernel_arm_stack {
    uint64_t from, to;
    bool is_of_thread; // and ends with the frame of the thread's first function
    uint64_t entry;    // of the thread; 0: unknown
};
// Finds sp and lr of what an exception has interrupted, of which the other registers are known.
// Sets what it finds: lr only where the function at pc has not saved it, and sp only if there is no
// other one. Returns false if the stack does not show them.
bool kernel_find_arm_stack(struct kernel_reader *reader, const struct kernel_arm_stack *stack,
                           struct extract_registers *registers);

// ---- arm_block.c ----

// Follows the code of a function that leads to the call before `site`, of a core of A- or
// R-profile. `at_call`: registers r0 to sp that are known at the call. Sets *called to where the
// call leads; 0: unknown. Returns false if the code cannot have led to those registers and to the
// memory as it is.
bool kernel_follow_arm_block(struct kernel_reader *reader, const struct extract_symbol *function,
                             uint64_t site, const struct extract_registers *at_call,
                             uint64_t *called);

// Returns whether an instruction that ends at `site` may be a call: Arm code may look like a call
// of Thumb code, and half of an instruction, or data, like another one.
bool kernel_is_arm_call(struct kernel_reader *reader, const struct extract_symbol *function,
                        uint64_t site);
// Returns whether a function jumps to an address: the function there returns to its caller.
// `registers`: those that are known after the jump, by which it may be.
bool kernel_jumps_to(struct kernel_reader *reader, const struct extract_symbol *function,
                     uint64_t address, const struct extract_registers *registers);
// Returns whether the functions above have followed so many instructions that they know nothing of
// any others.
bool kernel_has_followed_most(const struct kernel_reader *reader);

// ---- moved.c ----

// Finds an image that is not where the target had it. Sets where it begins now, and where it began
// on the target. Returns false if none is known to be.
bool kernel_find_moved(struct kernel_reader *reader, uint64_t *now, uint64_t *before);

// ---- riscv_trap.c ----

// Reads the frame of a trap where the kernel has noted the stack pointer of the thread that it
// interrupted. Returns false if its pc is not the core's mepc.
bool kernel_take_riscv_frame(struct kernel_reader *reader,
                             const struct extract_kernel_thread *thread,
                             const struct extract_registers *core, struct extract_registers *found);
// Finds the frame that a trap of a RISC-V core has pushed, between two addresses. Its pc is the
// core's mepc. `is_exact`: there is nothing else there, so that mepc may be an address without
// code, if the frame has the call that leads to it.
bool kernel_find_riscv_frame(struct kernel_reader *reader, const struct extract_registers *core,
                             uint64_t from, uint64_t to, bool is_exact,
                             struct extract_registers *found);
// Returns the stack pointer of the code that has called the functions of the handler, as far as
// their rules lead: the frame of a trap is there. 0: it is not known.
uint64_t kernel_find_riscv_handler(struct kernel_reader *reader,
                                   const struct extract_registers *core);
// Gets the registers that a trap of a RISC-V core has interrupted, if its handler has saved none
// where a kernel's port does: those of the core, without what the functions of the handler have
// saved on the stack. Returns false unless ra is one of a call that leads to mepc.
bool kernel_unwind_riscv_trap(struct kernel_reader *reader, const struct extract_registers *core,
                              struct extract_registers *found);

// ---- fault.c ----

// Returns the end of a stack; if it is not known, the next stack or control block above, which it
// does not exceed, or UINT64_MAX.
uint64_t kernel_stack_limit(const struct extract_kernel *kernel,
                            const struct extract_kernel_thread *thread);

// Returns whether the lr of a handler of Armv8-M shows that a secure handler has interrupted code
// on a stack of non-secure code. Which of its two stacks that is, it does not show.
bool kernel_is_from_nonsecure(uint64_t lr);

// ---- code_calls.c ----

// Returns whether code ends with an instruction that calls a function. For machines whose
// instructions are not known, it does.
bool kernel_ends_in_call(const struct register_machine *machine, const uint8_t *bytes,
                         size_t length, enum extract_byte_order order);
// Returns whether the ELF file shows that no instruction before an address calls a function, so
// that no function returns to it.
bool kernel_is_no_return(struct extract_symbols *symbols, uint64_t address);
// Gets the address that the call at the end of code leads to, which is before `address`.
// `registers` are those with which the called function has begun. Returns false if it is not known.
bool kernel_call_target(const struct register_machine *machine, const uint8_t *bytes, size_t length,
                        enum extract_byte_order order, uint64_t address,
                        const struct extract_registers *registers, uint64_t *called);
// Does the same for the call before a return address, in the code of the ELF file.
bool kernel_find_called(struct extract_symbols *symbols, uint64_t address,
                        const struct extract_registers *registers, uint64_t *called);

// ---- spill.c ----

// Returns whether the memory below a stack, which the kernel does not fill, has what only frames of
// that stack can have left there.
bool kernel_has_spilled(struct kernel_reader *reader, const struct extract_kernel_thread *thread);
// Returns whether frames of the stack above have overwritten the control block of a thread that has
// a core, so that its own stack may be there. Sets where that begins.
bool kernel_find_own_spill(struct kernel_reader *reader, const struct extract_kernel_thread *thread,
                           uint64_t *stack_start);

// ---- stacks.c ----

// Measures the stacks of all threads.
void kernel_measure_stacks(struct kernel_reader *reader);
// Notes that the stack of the thread that runs on a core has overflowed, if the core's registers
// show it: an Arm core of M-profile has a stack pointer of its own for threads.
void kernel_check_running(struct extract_kernel *kernel, unsigned core,
                          const struct register_machine *machine,
                          const struct extract_registers *registers);

#endif
