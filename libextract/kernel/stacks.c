// SPDX-License-Identifier: MIT
// kernel: measures stacks, which grow towards lower addresses. A kernel that fills stacks before
// use leaves bytes at their lowest addresses that were never written.
#include "kernel/kernel.h"

// In bytes. BUDGET is for all stacks together, which may overlap in a damaged memory.
enum { CHUNK = 4096, BUDGET = 1 << 28, PROOF = 8 };

// Counts the bytes at the start of a stack that hold the fill byte. Returns false if they cannot be
// read, or if they exceed the budget.
static bool count_untouched(struct kernel_reader *reader, struct extract_kernel_thread *thread,
                            uint64_t *budget)
{
    uint8_t bytes[CHUNK];
    // Where the end is not known, the saved stack pointer is in the stack.
    uint64_t end = thread->stack_end ? thread->stack_end : thread->has_sp ? thread->sp : 0;
    uint64_t at = thread->stack_start;
    size_t got;

    if (!at || end <= at || end - at > *budget)
        return false;
    while (at < end) {
        size_t wanted = end - at < CHUNK ? (size_t)(end - at) : CHUNK, i = 0;
        (void)extract_memory_read(reader->memory, at, bytes, wanted, &got, NULL);
        while (i < got && bytes[i] == reader->fill)
            i++;
        at += i;
        if (i < got)
            break;
        if (got < wanted) // what is not readable may have been written
            return false;
    }
    thread->has_untouched = true;
    thread->untouched = at - thread->stack_start;
    *budget -= thread->untouched;
    return true;
}

void kernel_measure_stacks(struct kernel_reader *reader)
{
    struct extract_kernel *kernel = reader->kernel;
    uint64_t budget = BUDGET;
    bool is_filled = false;

    for (size_t i = 0; i < kernel->thread_count; i++)
        if (count_untouched(reader, &kernel->threads[i], &budget))
            is_filled |= kernel->threads[i].untouched >= PROOF;
    for (size_t i = 0; i < kernel->thread_count; i++) {
        struct extract_kernel_thread *thread = &kernel->threads[i];
        bool is_below = thread->has_sp && thread->stack_start && thread->sp < thread->stack_start;
        if (is_below)
            thread->overflow = EXTRACT_OVERFLOW_PROVEN;
        else if (thread->has_untouched && thread->untouched >= PROOF)
            thread->overflow = EXTRACT_OVERFLOW_NO;
        else if (thread->has_untouched && is_filled)
            thread->overflow = EXTRACT_OVERFLOW_SUSPECTED;
        // No stack contains the fill byte: the kernel does not fill them.
        thread->has_untouched &= is_filled;
        if (thread->has_sp && thread->stack_end && thread->sp > thread->stack_end)
            kernel_add_problem(reader,
                               "thread at 0x%llx: its stack pointer 0x%llx is above its "
                               "stack",
                               (unsigned long long)thread->address, (unsigned long long)thread->sp);
    }
}
