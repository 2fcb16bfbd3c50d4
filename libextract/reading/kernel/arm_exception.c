// SPDX-License-Identifier: MIT
// kernel: what an exception of an Arm core of A- or R-profile has interrupted. In: the registers of
// a core that was halted, with its banks. Out: the registers of what it has interrupted.
//
// The mode shows which exceptions the core has taken, and lr is after the instruction, until the
// handler calls a function. So the core has to be in the function to which the vector leads, and lr
// must not be after a call of that function. r0 to r12 are those of the core as long as it is at
// the first instruction; those that functions preserve are so later, too.
//
// Source: Arm Architecture Reference Manual for Armv7-A, B1.8.1 (vectors), B1.8.3 (link values),
// B1.3.3 (CPSR), B4.1.130 (SCTLR).
#include "base/cursor.h"
#include "kernel/kernel_room.h"
#include "symbols/dwarf.h"
#include <elf.h>

enum { MODE = 0x1F, MODE_FIQ = 0x11, THUMB = 1 << 5 };
#define HIGH_VECTORS     (UINT64_C(1) << 13) // of SCTLR
#define THUMB_EXCEPTIONS (UINT64_C(1) << 30)
#define HIGH_BASE        UINT64_C(0xFFFF0000)

// By exception: the mode that it leads to, its vector, and how far lr is after the instruction.
static const struct {
    uint8_t mode, vector, link, thumb_link;
} exceptions[] = {[KERNEL_ARM_UNDEFINED] = {0x1B, 0x04, 4, 2},
                  [KERNEL_ARM_CALL] = {0x13, 0x08, 4, 2},
                  [KERNEL_ARM_PREFETCH_ABORT] = {0x17, 0x0C, 4, 4},
                  [KERNEL_ARM_DATA_ABORT] = {0x17, 0x10, 8, 8},
                  [KERNEL_ARM_IRQ] = {0x12, 0x18, 4, 4}};

// Reads a word of the program, or of its memory.
static bool read_word(struct extract_memory *memory, struct extract_symbols *symbols,
                      uint64_t address, enum extract_byte_order order, uint64_t *word)
{
    uint8_t bytes[4];
    size_t got = extract_symbols_read_constant(symbols, address, bytes, sizeof bytes);

    if (got != sizeof bytes &&
        extract_memory_read(memory, address, bytes, sizeof bytes, &got, NULL))
        return false;
    struct extract_cursor c = extract_cursor_make(bytes, got, order);
    *word = extract_cursor_u32(&c);
    return !c.failed;
}

// Finds out where the table of vectors is. Returns false if that is not known, or if the vectors
// are Thumb code. Where a server shows none of the registers that say it, that of the program is
// likely.
static bool find_table(const struct extract_registers *core, const struct extract_symbols *symbols,
                       uint64_t *table, bool *is_likely)
{
    static const char *const names[] = {"__vectors", "_vectors", "vectors", "vector_table",
                                        "_vector_table"};
    uint64_t control = 0;
    const bool has_control = register_get(core, ARM_SCTLR, &control);
    struct extract_symbol symbol;

    if (control & THUMB_EXCEPTIONS)
        return false;
    if (control & HIGH_VECTORS)
        *table = HIGH_BASE;
    else if (!register_get(core, ARM_VBAR, table)) {
        *table = 0;
        for (size_t i = 0; i < sizeof names / sizeof *names && !*is_likely; i++)
            if (extract_symbols_by_name(symbols, names[i], &symbol)) {
                *table = symbol.address;
                *is_likely = true;
            }
    }
    return has_control || *is_likely;
}

// Follows a vector: B, or LDR PC with an address next to it. Another instruction begins the
// handler.
static bool read_vector(struct extract_memory *memory, struct extract_symbols *symbols,
                        uint64_t address, uint64_t *handler)
{
    enum { EF_BE8 = 0x00800000, AHEAD = 8 };
    const enum extract_byte_order order = extract_symbols_byte_order(symbols);
    const bool is_be8 = extract_symbols_flags(symbols) & EF_BE8;
    uint64_t word;

    if (!read_word(memory, symbols, address, is_be8 ? EXTRACT_LITTLE : order, &word))
        return false;
    *handler = address;
    if (word >> 24 == 0xEA)
        *handler = (address + AHEAD + ((word & 0xFFFFFF) ^ 0x800000) * 4 - 0x2000000) & UINT32_MAX;
    else if (word >> 12 == 0xE59FF)
        return read_word(memory, symbols, address + AHEAD + (word & 0xFFF), order, handler);
    else if (word >> 12 == 0xE51FF)
        return read_word(memory, symbols, address + AHEAD - (word & 0xFFF), order, handler);
    return true;
}

static bool is_same_function(const struct extract_symbols *symbols, uint64_t a, uint64_t b)
{
    struct extract_symbol of_a, of_b;

    return extract_symbols_by_address(symbols, a, &of_a, NULL, NULL) &&
           extract_symbols_by_address(symbols, b, &of_b, NULL, NULL) &&
           of_a.address == of_b.address;
}

// Returns whether the core is in the handler of an exception.
static bool is_in_handler(struct extract_memory *memory, struct extract_symbols *symbols,
                          const struct extract_registers *core, struct kernel_arm_frame *frame)
{
    uint64_t table, handler, pc;

    if (!find_table(core, symbols, &table, &frame->is_likely) || !register_get(core, ARM_PC, &pc) ||
        !read_vector(memory, symbols, table + exceptions[frame->exception].vector, &handler))
        return false;
    handler &= ~UINT64_C(1); // Thumb
    frame->is_at_start = pc == handler;
    return frame->is_at_start || is_same_function(symbols, pc, handler);
}

// A breakpoint leads to a prefetch abort that does not set IFAR (B3.13.3).
static bool is_breakpoint(const struct extract_registers *core)
{
    const uint64_t long_descriptors = 1 << 9;
    uint64_t status;

    return register_get(core, ARM_IFSR, &status) &&
           (status & long_descriptors ? (status & 0x3F) == 0x22 : (status & 0x40F) == 0x02);
}

// Both aborts lead to the same mode, and a program may handle them by one function: IFAR has the
// address of the instruction that was not fetched. If it is not known, the handler of each has to
// be another function.
static bool is_possible(struct extract_memory *memory, struct extract_symbols *symbols,
                        const struct extract_registers *core, enum kernel_arm_exception exception,
                        uint64_t link)
{
    struct kernel_arm_frame other = {.exception = exception == KERNEL_ARM_DATA_ABORT
                                                      ? KERNEL_ARM_PREFETCH_ABORT
                                                      : KERNEL_ARM_DATA_ABORT};
    uint64_t address;
    const bool is_known = register_get(core, ARM_IFAR, &address) && !is_breakpoint(core);
    const bool was_fetch = is_known && address == link - exceptions[KERNEL_ARM_PREFETCH_ABORT].link;

    if (!is_known && exception == KERNEL_ARM_PREFETCH_ABORT)
        return !is_in_handler(memory, symbols, core, &other);
    return was_fetch ? exception != KERNEL_ARM_DATA_ABORT : exception != KERNEL_ARM_PREFETCH_ABORT;
}

static bool is_code(struct extract_symbols *symbols, uint64_t address)
{
    struct extract_symbol symbol;

    return extract_symbols_by_address(symbols, address, &symbol, NULL, NULL) && symbol.function;
}

// Returns whether the memory has something at an address that is not code of the program: the core
// can have executed that, if it has gone there.
static bool is_data(struct extract_memory *memory, struct extract_symbols *symbols,
                    uint64_t address)
{
    uint64_t word;

    return !is_code(symbols, address) &&
           read_word(memory, symbols, address, extract_symbols_byte_order(symbols), &word);
}

// Returns whether an instruction that was not one is likely Thumb code, of which no saved status
// tells it: lr, which is after it, is no address of Arm code, or UDF is before it.
static bool is_likely_thumb(struct extract_symbols *symbols, uint64_t link)
{
    enum { EF_BE8 = 0x00800000 };
    const bool is_be8 = extract_symbols_flags(symbols) & EF_BE8;
    const enum extract_byte_order order =
        is_be8 ? EXTRACT_LITTLE : extract_symbols_byte_order(symbols);
    uint8_t bytes[2];

    if (link & 2)
        return true;
    if (extract_symbols_read_constant(symbols, link - 2, bytes, sizeof bytes) != sizeof bytes)
        return false;
    struct extract_cursor c = extract_cursor_make(bytes, sizeof bytes, order);
    const uint16_t half = extract_cursor_u16(&c);
    return (half & 0xFF00) == 0xDE00 || (half & 0xFFF0) == 0xF7F0;
}

// Sets the registers of what was interrupted.
static void set_interrupted(struct kernel_arm_frame *frame, const struct extract_registers *core,
                            uint64_t pc, uint64_t status)
{
    enum { PRESERVED = 4, LAST_PRESERVED = 11 };
    const unsigned first = frame->is_at_start ? 0 : PRESERVED;
    const unsigned last = frame->is_at_start ? ARM_SP - 1 : LAST_PRESERVED;
    struct extract_registers *registers = &frame->registers;
    uint64_t value;

    *registers = (struct extract_registers){.known = 0};
    for (unsigned i = first; i <= last && (status & MODE) != MODE_FIQ; i++)
        if (register_get(core, i, &value))
            register_set(registers, i, value);
    if (register_get(core, ARM_BEFORE_SP, &value))
        register_set(registers, ARM_SP, value);
    if (register_get(core, ARM_BEFORE_LR, &value))
        register_set(registers, ARM_LR, value);
    register_set(registers, ARM_PC, pc);
    if (!frame->is_likely)
        register_set(registers, ARM_PSR, status);
}

bool kernel_is_arm_exception(const struct register_machine *machine,
                             const struct extract_registers *core)
{
    const uint64_t modes = 1 << 0x1 | 1 << 0x2 | 1 << 0x7 | 1 << 0xB; // FIQ, IRQ, abort, undefined
    uint64_t status;

    return machine && machine->elf_machine == EM_ARM && !machine->is_m_profile &&
           register_get(core, ARM_PSR, &status) && modes >> (status & 0xF) & 1;
}

bool kernel_read_arm_frame(struct extract_memory *memory, struct extract_symbols *symbols,
                           const struct extract_registers *core, struct kernel_arm_frame *frame)
{
    uint64_t now, before = 0, link, pc;

    if (!symbols || !register_get(core, ARM_PSR, &now) || !register_get(core, ARM_LR, &link) ||
        !register_get(core, ARM_PC, &pc))
        return false;
    const bool has_before = register_get(core, ARM_SPSR, &before);
    for (unsigned i = KERNEL_ARM_UNDEFINED; i <= KERNEL_ARM_IRQ; i++) {
        const bool is_thumb = has_before ? before & THUMB : is_likely_thumb(symbols, link);
        const uint64_t back = is_thumb ? exceptions[i].thumb_link : exceptions[i].link;
        const uint64_t place = (link - back) & UINT32_MAX;
        *frame = (struct kernel_arm_frame){.exception = (enum kernel_arm_exception)i};
        if (i == KERNEL_ARM_CALL || (now & MODE) != exceptions[i].mode ||
            !is_possible(memory, symbols, core, frame->exception, link) ||
            !is_in_handler(memory, symbols, core, frame))
            continue;
        frame->is_likely |= !has_before;
        // A function that the handler has called has returned, and lr is still what it was then.
        const bool is_after_call =
            !kernel_is_no_return(symbols, link) && is_same_function(symbols, pc, link - 2);
        if (is_after_call || (i != KERNEL_ARM_PREFETCH_ABORT && !is_code(symbols, place) &&
                              !(frame->is_at_start && is_data(memory, symbols, place))))
            return false;
        set_interrupted(frame, core, place, before);
        return true;
    }
    return false;
}

// Gets the place of the SVC instruction that ends at an address, of Arm or of Thumb code.
static bool find_svc(struct extract_memory *memory, struct extract_symbols *symbols, uint64_t link,
                     uint64_t *place)
{
    enum { EF_BE8 = 0x00800000 };
    const enum extract_byte_order order = extract_symbols_flags(symbols) & EF_BE8
                                              ? EXTRACT_LITTLE
                                              : extract_symbols_byte_order(symbols);
    uint64_t word;

    if (!read_word(memory, symbols, link - 4, order, &word))
        return false;
    const uint64_t second = order == EXTRACT_LITTLE ? word >> 16 : word & 0xFFFF;
    *place = link - (word >> 24 == 0xEF && !(link & 2) ? 4 : 2);
    return *place == link - 4 || second >> 8 == 0xDF;
}

// Returns whether the instruction at an address of the program jumps to itself.
static bool is_endless(struct extract_memory *memory, struct extract_symbols *symbols,
                       uint64_t address)
{
    const uint64_t to_itself = 0xEAFFFFFE;
    uint64_t word;

    return read_word(memory, symbols, address, extract_symbols_byte_order(symbols), &word) &&
           (word == to_itself || (word & 0xFFFF) == 0xE7FE);
}

bool kernel_read_arm_call(struct extract_memory *memory, struct extract_symbols *symbols,
                          const struct extract_registers *core, struct kernel_arm_frame *frame)
{
    uint64_t now, link, pc, place, before = 0;

    *frame = (struct kernel_arm_frame){.exception = KERNEL_ARM_CALL};
    if (!symbols || !register_get(core, ARM_PSR, &now) || !register_get(core, ARM_LR, &link) ||
        !register_get(core, ARM_PC, &pc) || (now & MODE) != exceptions[KERNEL_ARM_CALL].mode ||
        !is_in_handler(memory, symbols, core, frame) || !frame->is_at_start ||
        !find_svc(memory, symbols, link, &place) ||
        (is_code(symbols, place) && !is_endless(memory, symbols, pc)))
        return false;
    frame->is_likely |= !register_get(core, ARM_SPSR, &before);
    set_interrupted(frame, core, place, before);
    return true;
}

// Returns whether the kernel has counted an interrupt that is being handled.
static bool is_in_interrupt(struct kernel_reader *reader, unsigned core)
{
    enum { MOST_NESTED = 255 }; // above: start-up code
    const struct kernel_description *description = kernel_detect(reader->symbols);
    uint64_t count;

    return description && description->interrupts &&
           kernel_read_variable(reader, description->interrupts, core, &count) && count &&
           count <= MOST_NESTED;
}

// Returns the memory around a stack pointer in which there is no stack of a thread.
static struct kernel_arm_stack stack_around(const struct extract_kernel *kernel, uint64_t sp)
{
    enum { NEAR = 8 << 10 };
    struct kernel_arm_stack stack = {sp > NEAR ? sp - NEAR : 0, sp + NEAR, false, 0};

    for (size_t i = 0; i < kernel->thread_count; i++) {
        const struct extract_kernel_thread *thread = &kernel->threads[i];
        if (thread->stack_end > stack.from && thread->stack_end <= sp)
            stack.from = thread->stack_end;
        if (thread->stack_start >= sp && thread->stack_start < stack.to)
            stack.to = thread->stack_start;
    }
    return stack;
}

void kernel_complete_arm_frame(const struct extract_kernel *kernel, struct extract_memory *memory,
                               struct extract_symbols *symbols, unsigned core,
                               const struct extract_registers *registers,
                               struct kernel_arm_frame *frame)
{
    struct kernel_reader reader = kernel_reader_make(NULL, memory, symbols);
    uint64_t sp;

    if (!kernel || !reader.registers)
        return;
    // The interrupt itself is counted, too.
    frame->is_in_interrupt = frame->exception != KERNEL_ARM_IRQ && is_in_interrupt(&reader, core);
    if (register_get(&frame->registers, ARM_SP, &sp))
        return;
    if (frame->is_in_interrupt) {
        if (!register_get(registers, ARM_SP, &sp))
            return;
        const struct kernel_arm_stack stack = stack_around(kernel, sp);
        frame->is_searched = kernel_find_arm_stack(&reader, &stack, &frame->registers);
        return;
    }
    for (size_t i = 0; i < kernel->thread_count && !frame->is_searched; i++) {
        const struct extract_kernel_thread *thread = &kernel->threads[i];
        const struct kernel_arm_stack stack = {thread->stack_start, thread->stack_end, true,
                                               thread->entry};
        frame->is_searched = thread->has_core && thread->core == core && thread->stack_start &&
                             kernel_find_arm_stack(&reader, &stack, &frame->registers);
    }
}
