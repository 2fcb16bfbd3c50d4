// SPDX-License-Identifier: MIT
// kernel: what an overflow has left below a stack, after its functions have returned. In: threads,
// and memory. Kernels that do not fill stacks have no other trace of it.
//
// Return addresses at both sides of the low end are those of frames that have crossed it, if
// nothing else may have put them there:
//
//     lower addresses                                                        higher addresses
//     ... control block, heap header  |  low end of the stack
//              return address         |     return address
//
// A control block has no return addresses. Below may also be the stack of another thread, which has
// its own: then an address that is on both sides shows a function that called itself. Memory of a
// heap may have been another stack before, unless the heap's header below the stack is damaged.
#include "base/cursor.h"
#include "kernel/kernel_room.h"
#include "symbols/dwarf.h"
#include <elf.h>

enum { SIDE = 128, MOST_WORDS = SIDE / 4 }; // bytes that are looked at on each side

// Returns whether a word is the address to which a function returns.
static bool is_return(struct kernel_reader *reader, uint64_t word)
{
    const uint64_t thumb = reader->registers && reader->registers->is_m_profile;
    const uint64_t address = word & ~thumb;
    struct extract_symbol symbol;
    uint64_t offset;

    return (word & thumb) == thumb &&
           extract_symbols_by_address(reader->symbols, address, &symbol, &offset, NULL) &&
           symbol.function && offset && !kernel_is_no_return(reader->symbols, address);
}

// Reads the return addresses in SIDE bytes of memory, and where they are. Returns how many.
static size_t read_returns(struct kernel_reader *reader, uint64_t from, uint64_t values[MOST_WORDS],
                           uint64_t at[MOST_WORDS])
{
    uint8_t bytes[SIDE];
    size_t got, count = 0;

    (void)extract_memory_read(reader->memory, from, bytes, sizeof bytes, &got, NULL);
    struct extract_cursor c = extract_cursor_make(bytes, got, reader->order);
    while (extract_cursor_left(&c) >= reader->word_bytes) {
        at[count] = from + c.at;
        values[count] = extract_cursor_word(&c, reader->word_bytes);
        count += is_return(reader, values[count]);
    }
    return count;
}

static bool is_in_block(const struct extract_kernel *kernel, uint64_t address, uint64_t block_bytes)
{
    for (size_t i = 0; i < kernel->thread_count; i++)
        if (address >= kernel->threads[i].address &&
            address - kernel->threads[i].address < block_bytes)
            return true;
    return false;
}

// Returns whether an address may be in the stack of a thread: one whose end is not known reaches up
// to the next stack or control block.
static bool may_be_in_stack(const struct extract_kernel *kernel, uint64_t address)
{
    uint64_t stack = 0, end = 0, block = 0;

    for (size_t i = 0; i < kernel->thread_count; i++) {
        const struct extract_kernel_thread *thread = &kernel->threads[i];
        if (thread->stack_start && thread->stack_start <= address && thread->stack_start > stack) {
            stack = thread->stack_start;
            end = thread->stack_end;
        }
        if (thread->address <= address && thread->address > block)
            block = thread->address;
    }
    return stack && (end ? address < end : block < stack);
}

// Returns whether memory is that of a variable, and was no other stack before: no heap has it, or
// its header says so no longer.
static bool is_variable(struct kernel_reader *reader, const struct extract_kernel_thread *thread)
{
    struct extract_symbol symbol;

    return !thread->stack_end &&
           extract_symbols_by_address(reader->symbols, thread->stack_start, &symbol, NULL, NULL) &&
           !symbol.function && symbol.size;
}

bool kernel_has_spilled(struct kernel_reader *reader, const struct extract_kernel_thread *thread)
{
    const struct kernel_description *description = kernel_detect(reader->symbols);
    const uint64_t start = thread->stack_start;
    uint64_t below[MOST_WORDS], above[MOST_WORDS], at[MOST_WORDS], unused[MOST_WORDS], bytes;

    if (!description || start < SIDE || start % reader->word_bytes ||
        !extract_symbols_type_size(reader->symbols, description->type, &bytes))
        return false;
    const size_t below_count = read_returns(reader, start - SIDE, below, at);
    const size_t above_count = read_returns(reader, start, above, unused);
    for (size_t i = 0; above_count && i < below_count; i++) {
        if (is_in_block(reader->kernel, at[i], bytes))
            return true;
        if (!may_be_in_stack(reader->kernel, at[i]) && is_variable(reader, thread))
            return true;
        for (size_t k = 0; k < above_count; k++)
            if (below[i] == above[k])
                return true;
    }
    return false;
}

bool kernel_find_own_spill(struct kernel_reader *reader, const struct extract_kernel_thread *thread,
                           uint64_t *stack_start)
{
    enum { MOST_ALIGNMENT = 16 };
    const struct kernel_description *description = kernel_detect(reader->symbols);
    const struct extract_kernel *kernel = reader->kernel;
    uint64_t values[MOST_WORDS], at[MOST_WORDS], bytes;
    bool is_overwritten = false;

    // Ports with an MPU save registers in the control block.
    if (!description || !thread->has_core || thread->no_registers ||
        !extract_symbols_type_size(reader->symbols, description->type, &bytes))
        return false;
    const uint64_t end =
        (thread->address + bytes + MOST_ALIGNMENT - 1) & ~(uint64_t)(MOST_ALIGNMENT - 1);
    for (size_t i = 0; i < kernel->thread_count; i++)
        if (&kernel->threads[i] != thread && kernel->threads[i].stack_start > thread->address &&
            kernel->threads[i].stack_start - thread->address <= bytes + SIDE)
            return false; // that is the stack above
    const size_t count = end < SIDE ? 0 : read_returns(reader, end - SIDE, values, at);
    for (size_t i = 0; i < count; i++)
        is_overwritten |= at[i] >= thread->address;
    *stack_start = end;
    return is_overwritten && read_returns(reader, end, values, at);
}
