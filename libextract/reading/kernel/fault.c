// SPDX-License-Identifier: MIT
// kernel: finds the process stack pointer of an Arm core that was halted in an exception, where the
// debugger does not know it.
//
// The exception has pushed a frame onto the stack of the thread that it interrupted. At the first
// instructions of the handler, the registers in the frame are still those of the core, and handlers
// of faults pass the address of the frame on.
// Source: Arm v7-M Architecture Reference Manual, B1.5.6 to B1.5.8.
#include "base/cursor.h"
#include "kernel/kernel_room.h"
#include "symbols/dwarf.h"
#include <elf.h>
#include <stdlib.h>

enum {
    EXCEPTION = 0x1FF, // number of the exception in xpsr
    FRAME_BYTES = 32,
    FRAME_ALIGN = 8,
    LIKE_POINTER = 5, // points for a register that holds the address of the frame
    LEAST = 3,        // points that a frame must have
    THUMB = 1 << 24,  // of xpsr
    RESERVED = 3 << 22,
    STACK_MOST = 1 << 20,
    STACK_GUESS = 1 << 14 // a kernel need not note where a stack ends
};

static bool is_code(struct extract_symbols *symbols, uint64_t address)
{
    struct extract_symbol symbol;

    return extract_symbols_by_address(symbols, address, &symbol, NULL, NULL) && symbol.function;
}

// Returns whether an address is code of the program after a call, so that a function returns to it.
static bool is_return(struct extract_symbols *symbols, uint64_t address)
{
    const uint64_t return_to = address & ~UINT64_C(1);

    return is_code(symbols, return_to - 2) && !kernel_is_no_return(symbols, return_to);
}

// Returns how well a frame fits to the registers of the core; 0: not at all.
static unsigned rate_frame(struct extract_cursor c, uint64_t address,
                           const struct extract_registers *core, struct extract_symbols *symbols)
{
    static const uint8_t order[] = {0, 1, 2, 3, 12};
    unsigned points = 0;
    uint64_t live;

    for (size_t i = 0; i < sizeof order; i++) {
        uint32_t value = extract_cursor_u32(&c);
        if (!register_get(core, order[i], &live))
            continue;
        points += live == value;
        points += live == address ? LIKE_POINTER : 0;
    }
    uint64_t lr = extract_cursor_u32(&c);
    uint64_t pc = extract_cursor_u32(&c);
    uint32_t psr = extract_cursor_u32(&c);
    if (c.failed || points < LEAST || psr & (EXCEPTION | RESERVED) ||
        (!(psr & THUMB) && !is_return(symbols, lr)))
        return 0;
    // A call through a wrong pointer leaves any pc: then the other registers have to agree.
    return is_code(symbols, pc & ~UINT64_C(1)) ? points + 1 : points;
}

uint64_t kernel_stack_limit(const struct extract_kernel *kernel,
                            const struct extract_kernel_thread *thread)
{
    uint64_t end = UINT64_MAX;

    if (thread->stack_end)
        return thread->stack_end;
    for (size_t i = 0; i < kernel->thread_count; i++) {
        const struct extract_kernel_thread *other = &kernel->threads[i];
        if (other->address > thread->stack_start && other->address < end)
            end = other->address;
        if (other->stack_start > thread->stack_start && other->stack_start < end)
            end = other->stack_start;
    }
    return end;
}

// Returns the end of a stack, or a guess of it.
static uint64_t stack_end(const struct extract_kernel *kernel,
                          const struct extract_kernel_thread *thread)
{
    const uint64_t limit = kernel_stack_limit(kernel, thread);
    const uint64_t guess = thread->stack_start + STACK_GUESS;

    return thread->stack_end || limit < guess ? limit : guess;
}

static bool find_frame(const struct extract_kernel_thread *thread, uint64_t end,
                       struct extract_memory *memory, struct extract_symbols *symbols,
                       const struct extract_registers *core, uint64_t *found)
{
    uint64_t length = end - thread->stack_start;
    unsigned best = 0;
    size_t got = 0;

    if (!thread->stack_start || end <= thread->stack_start || length > STACK_MOST)
        return false;
    uint8_t *bytes = malloc((size_t)length);
    if (!bytes)
        return false;
    (void)extract_memory_read(memory, thread->stack_start, bytes, (size_t)length, &got, NULL);
    uint64_t first = -thread->stack_start & (FRAME_ALIGN - 1);
    for (size_t at = (size_t)first; at + FRAME_BYTES <= got; at += FRAME_ALIGN) {
        struct extract_cursor c =
            extract_cursor_make(bytes + at, FRAME_BYTES, extract_symbols_byte_order(symbols));
        unsigned points = rate_frame(c, thread->stack_start + at, core, symbols);
        if (points <= best)
            continue;
        best = points;
        *found = thread->stack_start + at;
    }
    free(bytes);
    return best != 0;
}

// Returns whether a word is what lr has when a handler begins: the lower bits are those of Armv6-M
// to Armv8-M, of which bit 1 is always 0, so that -1 is none.
static bool is_exception_return(uint64_t value)
{
    return value >> 7 == 0x1FFFFFF && !(value & 2);
}

bool kernel_is_from_nonsecure(uint64_t lr)
{
    const uint64_t to_secure = 1, secure_stack = 0x40; // ES, S

    return is_exception_return(lr) && lr & to_secure && !(lr & secure_stack);
}

// Returns whether the lr of a handler shows that the frame is on the stack of a thread. For a
// secure handler, non-secure code in thread mode is taken for a thread.
static bool is_of_thread(uint64_t lr)
{
    const uint64_t process_stack = 4, thread_mode = 8;

    return kernel_is_from_nonsecure(lr) ? lr & thread_mode : lr & process_stack;
}

bool extract_kernel_find_psp(const struct extract_kernel *kernel, struct extract_memory *memory,
                             struct extract_symbols *symbols, unsigned core,
                             struct extract_registers *registers)
{
    const struct register_machine *machine = register_machine_of(symbols);
    uint64_t psr, lr, sp, psp;

    if (!machine || !machine->is_m_profile || !register_get(registers, ARM_PSR, &psr) ||
        !(psr & EXCEPTION) || !register_get(registers, ARM_LR, &lr) ||
        !register_get(registers, ARM_SP, &sp))
        return false;
    if (lr >> 8 == 0xFFFFFF && !is_of_thread(lr))
        return false; // the frame is on the main stack
    for (size_t i = 0; i < kernel->thread_count; i++) {
        const struct extract_kernel_thread *thread = &kernel->threads[i];
        if (!thread->has_core || thread->core != core)
            continue;
        // A debugger that cannot read psp may show 0, or an old value.
        if (register_get(registers, ARM_PSP, &psp) && psp >= thread->stack_start &&
            psp < stack_end(kernel, thread))
            return false;
        if (!find_frame(thread, stack_end(kernel, thread), memory, symbols, registers, &psp))
            continue;
        register_set(registers, ARM_PSP, psp);
        register_set(registers, ARM_MSP, sp);
        return true;
    }
    return false;
}

// Whether an exception has interrupted a thread or start-up code, and not another exception.
enum base { BASE_UNKNOWN, BASE_YES, BASE_NO };

static enum base read_base(struct extract_memory *memory)
{
    enum { ICSR_AT = 4, RETTOBASE = 1 << 11 };
    const uint64_t scb = 0xE000ED00;
    uint8_t bytes[8];
    size_t got;

    if (extract_memory_read(memory, scb, bytes, sizeof bytes, &got, NULL))
        return BASE_UNKNOWN;
    struct extract_cursor c = extract_cursor_make(bytes, sizeof bytes, EXTRACT_LITTLE);
    extract_cursor_seek(&c, ICSR_AT);
    return extract_cursor_u32(&c) & RETTOBASE ? BASE_YES : BASE_NO;
}

// Finds the link register of a handler on its stack. A handler that calls functions pushes it
// first, so that the frame of the exception follows. Returns its address; 0: it is not there.
static uint64_t find_pushed_return(struct extract_memory *memory, enum extract_byte_order order,
                                   uint64_t sp, uint64_t *value)
{
    enum { SEARCHED = 512 };
    uint8_t bytes[SEARCHED];
    size_t got = 0;

    (void)extract_memory_read(memory, sp, bytes, sizeof bytes, &got, NULL);
    struct extract_cursor c = extract_cursor_make(bytes, got, order);
    while (extract_cursor_left(&c) >= 4) {
        uint64_t at = sp + c.at;
        *value = extract_cursor_u32(&c);
        if (is_exception_return(*value))
            return at;
    }
    return 0;
}

// Returns whether a frame that may be other data is one: it returns to code, or to the target of a
// call through a wrong pointer. Thumb is 0 after a call of an even address.
static bool is_likely_frame(struct extract_symbols *symbols, const struct extract_registers *frame)
{
    uint64_t pc, lr, psr;

    return register_get(frame, ARM_PC, &pc) && register_get(frame, ARM_LR, &lr) &&
           register_get(frame, ARM_PSR, &psr) &&
           ((psr & THUMB && is_code(symbols, pc)) || is_return(symbols, lr));
}

// Reads a frame on the main stack. Returns false if it is none.
static bool read_main_frame(struct extract_memory *memory, struct extract_symbols *symbols,
                            uint64_t address, bool has_fpu, struct extract_origin *origin)
{
    uint64_t psr;

    if (address % 4 ||
        !kernel_context_exception(memory, extract_symbols_byte_order(symbols), address, has_fpu,
                                  &origin->registers) ||
        !register_get(&origin->registers, ARM_PSR, &psr) ||
        !is_likely_frame(symbols, &origin->registers))
        return false;
    origin->exception = psr & EXCEPTION;
    return true;
}

bool extract_kernel_origin(struct extract_memory *memory, struct extract_symbols *symbols,
                           const struct extract_registers *core, struct extract_origin *origin)
{
    enum { CALLEE_SAVED = 4, CALLEE_SAVED_COUNT = 8 };
    const uint64_t no_fpu = 0x10;
    const struct register_machine *machine = register_machine_of(symbols);
    enum base base = read_base(memory);
    uint64_t psr, psp, sp, lr = 0, value, pushed = 0;

    *origin = (struct extract_origin){.exception = 0};
    if (!machine || !machine->is_m_profile || !register_get(core, ARM_PSR, &psr) ||
        !register_get(core, ARM_SP, &sp))
        return false;
    if (register_get(core, FAULT_EXCEPTION, &value)) {
        origin->registers = *core;
        origin->exception = psr & EXCEPTION;
        return origin->is_sure = true;
    }
    if (!(psr & EXCEPTION))
        return false;
    bool is_in_lr = register_get(core, ARM_LR, &lr) && is_exception_return(lr);
    const bool is_mixed = is_in_lr && kernel_is_from_nonsecure(lr);
    if (!is_in_lr || (!is_mixed && !is_of_thread(lr)))
        pushed = find_pushed_return(memory, extract_symbols_byte_order(symbols), sp, &value);
    if (!is_in_lr && pushed)
        lr = value;
    bool is_known = is_in_lr || pushed;
    bool has_fpu = is_known && !(lr & no_fpu), is_found = false;
    if (is_known ? is_of_thread(lr) : base != BASE_NO) {
        is_found = register_get(core, ARM_PSP, &psp) &&
                   kernel_context_exception(memory, extract_symbols_byte_order(symbols), psp,
                                            has_fpu, &origin->registers) &&
                   ((is_in_lr && !is_mixed) || is_likely_frame(symbols, &origin->registers));
        origin->is_sure = base != BASE_NO && (is_known || base == BASE_YES) && !is_mixed;
    } else if (!is_mixed) {
        is_found = (is_in_lr && read_main_frame(memory, symbols, sp, has_fpu, origin)) ||
                   (pushed && read_main_frame(memory, symbols, pushed + 4, has_fpu, origin));
        origin->is_sure = base == BASE_UNKNOWN || (base == BASE_YES) == !origin->exception;
        origin->is_main = true;
    }
    for (unsigned i = CALLEE_SAVED; is_found && i < CALLEE_SAVED + CALLEE_SAVED_COUNT; i++)
        if (register_get(core, i, &value))
            register_set(&origin->registers, i, value);
    return is_found;
}

bool extract_kernel_interrupted(struct extract_memory *memory, struct extract_symbols *symbols,
                                const struct extract_registers *core,
                                struct extract_registers *interrupted)
{
    enum { CALLEE_SAVED = 4, CALLEE_SAVED_COUNT = 8 };
    const uint64_t process_stack = 4, no_fpu = 0x10;
    const struct register_machine *machine = register_machine_of(symbols);
    uint64_t psr, psp, lr = 0, value;

    if (machine && machine->elf_machine == EM_68K)
        return kernel_interrupted_coldfire(memory, symbols, core, interrupted);
    if (!machine || !machine->is_m_profile || !register_get(core, ARM_PSR, &psr) ||
        !(psr & EXCEPTION) || !register_get(core, ARM_PSP, &psp))
        return false;
    // A handler that has called functions has another lr: no FPU is assumed then.
    bool is_in_lr = register_get(core, ARM_LR, &lr) && lr >> 8 == 0xFFFFFF;
    if ((is_in_lr && !(lr & process_stack)) ||
        !kernel_context_exception(memory, extract_symbols_byte_order(symbols), psp,
                                  is_in_lr && !(lr & no_fpu), interrupted) ||
        !(is_in_lr || is_likely_frame(symbols, interrupted)))
        return false;
    for (unsigned i = CALLEE_SAVED; i < CALLEE_SAVED + CALLEE_SAVED_COUNT; i++)
        if (register_get(core, i, &value))
            register_set(interrupted, i, value);
    return true;
}

// Gives the thread that has an Arm core of A- or R-profile the registers with which an exception
// has interrupted it.
static bool find_arm_thread(struct extract_kernel *kernel, struct extract_memory *memory,
                            struct extract_symbols *symbols, unsigned core,
                            const struct extract_registers *registers)
{
    const struct register_machine *machine = register_machine_of(symbols);
    struct kernel_arm_frame frame;
    uint64_t sp;

    if (!kernel || !machine || machine->elf_machine != EM_ARM || machine->is_m_profile ||
        !kernel_read_arm_frame(memory, symbols, registers, &frame))
        return false;
    kernel_complete_arm_frame(kernel, memory, symbols, core, registers, &frame);
    if (!register_get(&frame.registers, ARM_SP, &sp))
        return false;
    for (size_t i = 0; i < kernel->thread_count; i++) {
        struct extract_kernel_thread *thread = &kernel->threads[i];
        if (!thread->has_core || thread->core != core || thread->has_pc || !thread->stack_start ||
            sp < thread->stack_start || sp > thread->stack_end)
            continue;
        struct kernel_reader reader = kernel_reader_make(kernel, memory, symbols);
        kernel_set_context(&reader, thread, &frame.registers);
        return true;
    }
    return false;
}

bool extract_kernel_find_interrupted(struct extract_kernel *kernel, struct extract_memory *memory,
                                     struct extract_symbols *symbols, unsigned core,
                                     const struct extract_registers *registers)
{
    struct kernel_reader reader = kernel_reader_make(kernel, memory, symbols);
    struct extract_registers found;
    uint64_t mepc, sp;

    if (find_arm_thread(kernel, memory, symbols, core, registers))
        return true;
    if (!kernel || !reader.registers || !register_get(registers, FAULT_MEPC, &mepc))
        return false;
    for (size_t i = 0; i < kernel->thread_count; i++) {
        struct extract_kernel_thread *thread = &kernel->threads[i];
        if (!thread->has_core || thread->core != core || thread->has_pc || !thread->stack_start)
            continue;
        // What is below the stack pointer is the frame of an earlier trap.
        const uint64_t to = stack_end(kernel, thread);
        uint64_t from = thread->stack_start;
        if (register_get(registers, RISCV_SP, &sp) && sp > from && sp < to)
            from = sp & ~(uint64_t)(reader.word_bytes - 1);
        if (!kernel_take_riscv_frame(&reader, thread, registers, &found) &&
            !kernel_find_riscv_frame(&reader, registers, from, to, false, &found) &&
            (!kernel_unwind_riscv_trap(&reader, registers, &found) ||
             !register_get(&found, RISCV_SP, &sp) || sp < from || sp > to))
            continue;
        kernel_set_context(&reader, thread, &found);
        return true;
    }
    return false;
}

bool extract_kernel_trap_in_interrupt(struct extract_kernel *kernel, struct extract_memory *memory,
                                      struct extract_symbols *symbols, unsigned core,
                                      const struct extract_registers *registers,
                                      struct extract_registers *found)
{
    enum {
        NEAR = 1024, // a handler may begin at the top of its stack again
        HANDLER = 64 // it has pushed that at most before it calls functions
    };
    struct kernel_reader reader = kernel_reader_make(kernel, memory, symbols);
    bool has_thread = false;
    uint64_t sp;

    if (!kernel || !reader.registers || !register_get(registers, reader.registers->sp, &sp) ||
        sp < NEAR)
        return false;
    sp -= sp % reader.word_bytes;
    for (size_t i = 0; i < kernel->thread_count; i++) {
        const struct extract_kernel_thread *thread = &kernel->threads[i];
        if (sp >= thread->stack_start && sp < thread->stack_end)
            return false;
        has_thread |= thread->has_core && thread->core == core && !thread->has_pc;
    }
    const uint64_t at = kernel_find_riscv_handler(&reader, registers);
    return has_thread &&
           ((at && kernel_find_riscv_frame(&reader, registers, at, at + HANDLER, true, found)) ||
            kernel_find_riscv_frame(&reader, registers, sp - NEAR, sp + NEAR, false, found));
}

bool extract_kernel_unwind_trap(struct extract_memory *memory, struct extract_symbols *symbols,
                                const struct extract_registers *core,
                                struct extract_registers *found)
{
    struct kernel_reader reader = kernel_reader_make(NULL, memory, symbols);

    return reader.registers && kernel_unwind_riscv_trap(&reader, core, found);
}

enum extract_code extract_remains_read_kernel(struct extract_remains *remains,
                                              struct extract_error *error)
{
    enum extract_code code =
        extract_kernel_read(&remains->kernel, remains->memory, remains->symbols, error);

    if (!code)
        kernel_choose_cores(remains);
    for (unsigned i = 0; !code && i < remains->core_count; i++) {
        struct extract_registers *core = &remains->cores[i];
        (void)extract_kernel_find_interrupted(remains->kernel, remains->memory, remains->symbols, i,
                                              core);
        remains->psp_is_likely |=
            extract_kernel_find_psp(remains->kernel, remains->memory, remains->symbols, i, core);
        if (remains->kernel)
            kernel_check_running(remains->kernel, i, register_machine_of(remains->symbols), core);
    }
    return code;
}
