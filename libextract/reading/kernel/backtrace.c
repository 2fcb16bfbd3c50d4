// SPDX-License-Identifier: MIT
// kernel: the functions on the stack of a thread (extract_kernel_backtrace).
#include "base/cursor.h"
#include "kernel/kernel_room.h"
#include "symbols/dwarf.h"
#include <elf.h>

static bool read_word(void *context, uint64_t address, unsigned bytes, uint64_t *value)
{
    struct kernel_reader *reader = context;

    return kernel_read_number(reader, address, bytes, value);
}

static void name_frame(struct extract_symbols *symbols, struct extract_frame *frame, bool is_return)
{
    struct extract_symbol symbol;
    uint64_t pc = frame->pc - is_return; // of a caller: the call, not what comes after it

    frame->function =
        extract_symbols_by_address(symbols, pc, &symbol, NULL, NULL) && symbol.function
            ? symbol.name
            : NULL;
    if (!extract_symbols_place(symbols, pc, &frame->place))
        frame->place = (struct extract_place){.file = NULL};
}

// Returns whether a function begins at an address. Kernels let the entry function of a thread
// return to such a one, or to none.
static bool is_start(struct extract_symbols *symbols, uint64_t address)
{
    struct extract_symbol symbol;
    uint64_t offset;

    return extract_symbols_by_address(symbols, address, &symbol, &offset, NULL) &&
           symbol.function && !offset;
}

// Returns a return address of AArch64 without the code that signs it, which is in the bits above
// those of addresses, except for bit 55. How many bits addresses have is not known: 36 to 52.
// Source: Arm Architecture Reference Manual for A-profile, D8.10 (pointer authentication).
static uint64_t without_signature(struct extract_symbols *symbols, uint64_t pc)
{
    enum { LEAST_BITS = 36, MOST_BITS = 52, UPPER_HALF = 55 };
    struct extract_symbol symbol;
    uint64_t found = pc;

    for (unsigned bits = MOST_BITS + 1; bits >= LEAST_BITS; bits--) {
        if (extract_symbols_by_address(symbols, found, &symbol, NULL, NULL) && symbol.function)
            return found;
        uint64_t signature = ~UINT64_C(0) << (bits - 1);
        found = pc >> UPPER_HALF & 1 ? pc | signature : pc & ~signature;
    }
    return pc;
}

// Returns whether a return address is in the upper part of a frame. A function that does not return
// need not save its own: then the rules give the one into it again.
static bool is_saved(struct kernel_reader *reader, const struct register_machine *machine,
                     uint64_t from, uint64_t to, uint64_t pc)
{
    enum { MOST = 4096 };
    uint64_t value, thumb = machine->elf_machine == EM_ARM;

    if (to > from && to - from > MOST)
        from = to - MOST;
    uint64_t length = to > from ? to - from : 0;
    for (uint64_t at = 0; at < length; at += machine->word_bytes) // the end may be that of memory
        if (kernel_read_number(reader, from + at, machine->word_bytes, &value) &&
            (value | thumb) == (pc | thumb))
            return true;
    return false;
}

size_t extract_kernel_backtrace(struct extract_memory *memory, struct extract_symbols *symbols,
                                const struct extract_registers *registers,
                                struct extract_frame *frames, size_t most)
{
    const struct register_machine *machine = register_machine_of(symbols);
    struct kernel_reader reader = {
        .memory = memory, .symbols = symbols, .order = extract_symbols_byte_order(symbols)};
    const struct extract_unwind_memory source = {read_word, &reader};
    struct extract_unwound frame = {.known = registers->known};
    size_t count = 0;

    if (!machine || !register_get(registers, machine->pc, &frame.pc))
        return 0;
    // The numbers of general registers are those of DWARF.
    frame.known &= (UINT64_C(1) << machine->general) - 1;
    for (unsigned i = 0; i < machine->general; i++)
        frame.value[i] = registers->value[i];
    while (frame.pc && count < most) {
        uint64_t sp = frame.value[machine->sp];
        frames[count] = (struct extract_frame){.pc = frame.pc};
        bool is_return =
            count && !frame.is_interrupted &&
            !(is_start(symbols, frame.pc) && extract_symbols_is_signal_frame(symbols, frame.pc));
        name_frame(symbols, &frames[count], is_return);
        // What is not a function is shown if the core was there, but nothing is known of a caller.
        if (!frames[count].function)
            return count ? count : 1;
        frames[count].is_impossible = is_return && kernel_is_no_return(symbols, frame.pc);
        if (frames[count].is_impossible && is_start(symbols, frame.pc))
            break;
        count++;
        if (!extract_symbols_caller(symbols, &source, machine->sp, !is_return, &frame))
            break;
        if (machine->elf_machine == EM_ARM)
            frame.pc &= ~UINT64_C(1); // the bit of Thumb
        else if (machine->elf_machine == EM_AARCH64)
            frame.pc = without_signature(symbols, frame.pc);
        if (frame.pc == frames[count - 1].pc &&
            !is_saved(&reader, machine, sp, frame.value[machine->sp], frame.pc))
            break;
    }
    // The place to which a thread's entry function would return is neither a call nor a frame.
    return count - (count > 1 && frames[count - 1].is_impossible);
}
