// SPDX-License-Identifier: MIT
// kernel: what a trap of a RISC-V core has interrupted. In: the registers of a core that was halted
// in the handler of the trap, with mepc. Out: the registers of what it has interrupted.
//
// The core saves pc only, in mepc; all else is up to the handler. A port of a kernel pushes a frame
// as for a thread that it interrupts. The handler that a program has from its start-up code, or
// from a compiler, pushes what it changes, so that the rules of its functions lead back.
// Source: RISC-V Privileged Architecture 1.12, 3.1.14 (mepc), 3.1.15 (mcause).
#include "kernel/kernel_room.h"
#include "symbols/dwarf.h"
#include <string.h>

enum { LINK = 1, STACK_MOST = 1 << 20 };

static bool is_code(struct extract_symbols *symbols, uint64_t address)
{
    struct extract_symbol symbol;

    return extract_symbols_by_address(symbols, address, &symbol, NULL, NULL) && symbol.function;
}

static bool is_same_function(struct extract_symbols *symbols, uint64_t a, uint64_t b)
{
    struct extract_symbol of_a, of_b;

    return extract_symbols_by_address(symbols, a, &of_a, NULL, NULL) &&
           extract_symbols_by_address(symbols, b, &of_b, NULL, NULL) &&
           of_a.address == of_b.address;
}

// ---- a frame of the kernel's port ----

// Returns whether a return address may be that of a call that led to an address without code.
static bool may_have_called(struct kernel_reader *reader, const struct extract_registers *frame,
                            uint64_t link, uint64_t address)
{
    uint64_t called;

    return is_code(reader->symbols, link - 2) && !kernel_is_no_return(reader->symbols, link) &&
           (!kernel_find_called(reader->symbols, link, frame, &called) ||
            (called | 1) == (address | 1)); // a jump clears bit 0
}

// FreeRTOS lets a task go on after the instruction that trapped, and adds 4 for it. The code of a
// frame, or after a call of an address without code that of its caller, is that of the program:
// memory that was never written looks like a frame at 0.
static bool is_of_trap(struct kernel_reader *reader, const struct extract_registers *frame,
                       uint64_t mepc)
{
    enum { AFTER = 4 };
    uint64_t pc, link;

    return register_get(frame, RISCV_PC, &pc) && (pc == mepc || pc == mepc + AFTER) &&
           (is_code(reader->symbols, mepc) ||
            (register_get(frame, LINK, &link) && may_have_called(reader, frame, link, mepc)));
}

// Returns whether a frame is that of a call of an address without code: its call leads to mepc.
static bool has_called(struct kernel_reader *reader, const struct extract_registers *frame,
                       uint64_t mepc)
{
    uint64_t link, called;

    return register_get(frame, LINK, &link) &&
           kernel_find_called(reader->symbols, link, frame, &called) && called == mepc;
}

bool kernel_take_riscv_frame(struct kernel_reader *reader,
                             const struct extract_kernel_thread *thread,
                             const struct extract_registers *core, struct extract_registers *found)
{
    const struct kernel_member *saved = kernel_member(reader, "TX_THREAD", "tx_thread_stack_ptr");
    uint64_t mepc, sp;

    if (kernel_detect(reader->symbols) != &kernel_threadx || !saved || !saved->size ||
        !register_get(core, FAULT_MEPC, &mepc) ||
        !kernel_read_pointer(reader, thread->address + saved->offset, &sp) ||
        !kernel_context_threadx_trap(reader, sp, core, found) || !is_of_trap(reader, found, mepc))
        return false;
    register_set(found, RISCV_PC, mepc);
    return true;
}

bool kernel_find_riscv_frame(struct kernel_reader *reader, const struct extract_registers *core,
                             uint64_t from, uint64_t to, bool is_exact,
                             struct extract_registers *found)
{
    const struct kernel_description *description = kernel_detect(reader->symbols);
    uint64_t mepc;

    if (!description || !register_get(core, FAULT_MEPC, &mepc))
        return false;
    for (uint64_t at = from; at < to && at - from < STACK_MOST; at += reader->word_bytes) {
        struct kernel_saved saved = {.sp = at};
        bool is_found =
            (description->context(reader, &saved, found) && is_of_trap(reader, found, mepc)) ||
            (description == &kernel_threadx &&
             kernel_context_threadx_trap(reader, at, core, found) &&
             is_of_trap(reader, found, mepc) &&
             (is_code(reader->symbols, mepc) || (is_exact && has_called(reader, found, mepc))));
        if (!is_found)
            continue;
        register_set(found, RISCV_PC, mepc);
        return true;
    }
    return false;
}

// ---- no such frame ----

static bool read_word(void *context, uint64_t address, unsigned bytes, uint64_t *value)
{
    struct kernel_reader *reader = context;

    return kernel_read_number(reader, address, bytes, value);
}

// Returns whether registers are those of the code at mepc: its function was called from before
// ra, or has called another one there. After a jump to an address without code, ra is that of any
// call, but not of the one that has led to the handler's own function.
static bool fits(struct kernel_reader *reader, const struct extract_registers *registers,
                 uint64_t mepc, uint64_t handler)
{
    struct extract_symbols *symbols = reader->symbols;
    uint64_t link, called;

    if (!register_get(registers, LINK, &link) || !is_code(symbols, link - 2) ||
        kernel_is_no_return(symbols, link))
        return false;
    bool is_known = kernel_find_called(symbols, link, registers, &called);
    if (!is_code(symbols, mepc))
        return !is_known || !is_same_function(symbols, called, handler);
    return is_same_function(symbols, link - 2, mepc) ||
           (is_known && is_same_function(symbols, called, mepc));
}

static struct extract_registers registers_of(const struct register_machine *machine,
                                             const struct extract_unwound *frame, uint64_t mepc)
{
    struct extract_registers registers = {.known = frame->known};

    memcpy(registers.value, frame->value, machine->general * sizeof *registers.value);
    register_set(&registers, RISCV_PC, mepc);
    return registers;
}

bool kernel_unwind_riscv_trap(struct kernel_reader *reader, const struct extract_registers *core,
                              struct extract_registers *found)
{
    enum { DEEPEST = 8 };
    const struct register_machine *machine = reader->registers;
    const struct extract_unwind_memory source = {read_word, reader};
    struct extract_unwound frame = {.known = core->known};
    uint64_t mepc, handler;

    if (!machine || !register_get(core, FAULT_MEPC, &mepc) ||
        !register_get(core, RISCV_PC, &frame.pc))
        return false;
    frame.known &= (UINT64_C(1) << machine->general) - 1;
    memcpy(frame.value, core->value, machine->general * sizeof *frame.value);
    for (unsigned depth = 0; depth < DEEPEST; depth++) {
        handler = frame.pc - (depth > 0);
        *found = registers_of(machine, &frame, mepc);
        bool is_unwound =
            extract_symbols_caller(reader->symbols, &source, machine->sp, !depth, &frame);
        struct extract_registers outer = registers_of(machine, &frame, mepc);
        // The handler would return to ra if it were a function.
        register_set(&outer, LINK, frame.pc);
        if (is_unwound && fits(reader, &outer, mepc, handler)) {
            *found = outer;
            return true;
        }
        // A function without rules to unwind it has pushed nothing.
        if (!is_unwound)
            return !depth && fits(reader, found, mepc, handler);
    }
    return false;
}

uint64_t kernel_find_riscv_handler(struct kernel_reader *reader,
                                   const struct extract_registers *core)
{
    enum { DEEPEST = 8 };
    const struct register_machine *machine = reader->registers;
    const struct extract_unwind_memory source = {read_word, reader};
    struct extract_unwound frame = {.known = core->known};

    if (!register_get(core, RISCV_PC, &frame.pc))
        return 0;
    frame.known &= (UINT64_C(1) << machine->general) - 1;
    memcpy(frame.value, core->value, machine->general * sizeof *frame.value);
    for (unsigned depth = 0; depth < DEEPEST; depth++)
        if (!extract_symbols_caller(reader->symbols, &source, machine->sp, !depth, &frame))
            break;
    return frame.value[machine->sp];
}
