// SPDX-License-Identifier: MIT
// kernel: measures stacks, which grow towards lower addresses. A kernel that fills stacks before
// use leaves bytes at their lowest addresses that were never written.
#include "base/cursor.h"
#include "kernel/kernel_room.h"

// In bytes. BUDGET is for all stacks together, which may overlap in a damaged memory.
// A stack pointer that is further below a stack than NEAR is damaged, and no proof of an overflow.
// PROOF: bytes at the low end that kernels check themselves.
enum { CHUNK = 4096, BUDGET = 1 << 28, PROOF = 16, NEAR = 1 << 16, LOW_END = 64 };

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

// Returns whether the low end of a stack was cleared: a stack that was used has other values there.
static bool is_cleared(struct kernel_reader *reader, const struct extract_kernel_thread *thread)
{
    uint8_t bytes[LOW_END];
    size_t got;

    if (extract_memory_read(reader->memory, thread->stack_start, bytes, sizeof bytes, &got, NULL))
        return false;
    struct extract_cursor c = extract_cursor_make(bytes, sizeof bytes, reader->order);
    extract_cursor_skip_zeros(&c);
    return !extract_cursor_left(&c);
}

static bool is_just_below(uint64_t sp, uint64_t stack_start)
{
    return stack_start && sp < stack_start && stack_start - sp <= NEAR;
}

// Forgets a stack that cannot be one.
static void check_bounds(struct kernel_reader *reader, struct extract_kernel_thread *thread)
{
    if (thread->stack_end && thread->stack_end <= thread->stack_start) {
        kernel_add_problem(reader, "thread at 0x%llx: invalid stack from 0x%llx to 0x%llx",
                           (unsigned long long)thread->address,
                           (unsigned long long)thread->stack_start,
                           (unsigned long long)thread->stack_end);
        thread->stack_start = thread->stack_end = 0;
    }
}

static bool is_in_stack(const struct extract_kernel_thread *thread, uint64_t sp)
{
    return thread->stack_start && sp >= thread->stack_start &&
           (!thread->stack_end || sp <= thread->stack_end);
}

static bool is_end_untouched(const struct extract_kernel_thread *thread)
{
    return thread->has_untouched && thread->untouched >= PROOF;
}

// Gets the stack pointer of the thread that runs on a core. On Arm's M-profile, start-up code runs
// on the main stack. And while the kernel changes threads in an exception, psp may still be that of
// the thread before. On other machines, it is in the frame that a trap has pushed, if that is
// known; the core may be on another stack.
static bool running_sp(const struct extract_kernel_thread *thread,
                       const struct register_machine *machine,
                       const struct extract_registers *registers, uint64_t *found)
{
    enum { EXCEPTION = 0x1FF, FIRST_FAULT = 3, LAST_FAULT = 7 };
    uint64_t psr, sp;

    *found = thread->sp;
    if (!machine->is_m_profile)
        return thread->has_sp || (register_get(registers, machine->sp, found) &&
                                  is_in_stack(thread, *found) && *found < thread->stack_end);
    if (thread->has_sp || !register_get(registers, ARM_PSR, &psr) ||
        !register_get(registers, ARM_SP, &sp) || !register_get(registers, ARM_PSP, found))
        return false;
    unsigned exception = psr & EXCEPTION;
    return *found &&
           (exception ? exception >= FIRST_FAULT && exception <= LAST_FAULT : sp == *found);
}

void kernel_check_running(struct extract_kernel *kernel, unsigned core,
                          const struct register_machine *machine,
                          const struct extract_registers *registers)
{
    uint64_t sp;

    for (size_t i = 0; machine && i < kernel->thread_count; i++) {
        struct extract_kernel_thread *thread = &kernel->threads[i];
        if (!thread->has_core || thread->core != core ||
            !running_sp(thread, machine, registers, &sp))
            continue;
        if (is_just_below(sp, thread->stack_start))
            thread->overflow = EXTRACT_OVERFLOW_PROVEN;
        else if (thread->overflow == EXTRACT_OVERFLOW_UNKNOWN && is_in_stack(thread, sp) &&
                 is_end_untouched(thread))
            thread->overflow = EXTRACT_OVERFLOW_NO;
    }
}

// Judges a stack pointer that is just below its stack. It proves an overflow if the rest of the
// memory agrees: the stack was used to its end, or the port has saved a frame there. Otherwise, a
// bit of the control block may have flipped.
static enum extract_kernel_overflow judge_below(struct kernel_reader *reader,
                                                const struct extract_kernel_thread *thread,
                                                bool is_filled)
{
    bool has_frame = thread->has_pc && thread->function;
    bool is_untouched = is_end_untouched(thread);

    if (has_frame || (is_filled && thread->has_untouched && !is_untouched))
        return EXTRACT_OVERFLOW_PROVEN;
    if (!is_untouched)
        return EXTRACT_OVERFLOW_SUSPECTED;
    kernel_add_problem(reader,
                       "thread at 0x%llx: its stack pointer 0x%llx is below its stack, whose end "
                       "was never used",
                       (unsigned long long)thread->address, (unsigned long long)thread->sp);
    return EXTRACT_OVERFLOW_UNKNOWN;
}

// Finds a thread whose own stack has overwritten its control block: nothing that this says of the
// thread holds.
static void find_overwritten(struct kernel_reader *reader)
{
    struct extract_kernel *kernel = reader->kernel;
    uint64_t start;

    for (size_t i = 0; i < kernel->thread_count; i++) {
        struct extract_kernel_thread *thread = &kernel->threads[i];
        if (!kernel_find_own_spill(reader, thread, &start))
            continue;
        thread->name[0] = 0;
        thread->has_priority = thread->has_base_priority = false;
        thread->stack_start = start;
        thread->stack_end = 0;
        thread->has_spilled = true;
    }
}

void kernel_measure_stacks(struct kernel_reader *reader)
{
    struct extract_kernel *kernel = reader->kernel;
    uint64_t budget = BUDGET;
    bool is_filled = false;

    find_overwritten(reader);
    for (size_t i = 0; i < kernel->thread_count; i++)
        check_bounds(reader, &kernel->threads[i]);
    for (size_t i = 0; i < kernel->thread_count; i++)
        if (count_untouched(reader, &kernel->threads[i], &budget))
            is_filled |= kernel->threads[i].untouched >= PROOF;
    // Before the start, no thread has run. A port may have noted the stack pointer of start-up
    // code.
    const bool has_run = !kernel_is_before_start(reader);
    for (size_t i = 0; i < kernel->thread_count; i++) {
        struct extract_kernel_thread *thread = &kernel->threads[i];
        bool is_below =
            has_run && thread->has_sp && thread->stack_start && thread->sp < thread->stack_start;
        if (is_below && !is_just_below(thread->sp, thread->stack_start))
            kernel_add_problem(reader,
                               "thread at 0x%llx: its stack pointer 0x%llx is far below its stack",
                               (unsigned long long)thread->address, (unsigned long long)thread->sp);
        else if (is_below)
            thread->overflow = judge_below(reader, thread, is_filled);
        else if (is_end_untouched(thread))
            thread->overflow = thread->has_sp && is_in_stack(thread, thread->sp)
                                   ? EXTRACT_OVERFLOW_NO
                                   : EXTRACT_OVERFLOW_UNKNOWN;
        else if (thread->has_untouched && is_filled && !is_cleared(reader, thread))
            thread->overflow = EXTRACT_OVERFLOW_SUSPECTED;
        else if (has_run && !thread->has_spilled && !is_filled)
            thread->has_spilled = kernel_has_spilled(reader, thread);
        if (thread->has_spilled)
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
