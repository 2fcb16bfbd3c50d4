// SPDX-License-Identifier: MIT
// crash: what the control blocks of the kernel show: stacks that have overflowed and whose memory
// they hit, threads that wait for each other, and objects that are full or empty.
#include "crash/crash_room.h"
#include "kernel/kernel_room.h"
#include "kernel/debug_threads.h"
#include "symbols/dwarf.h"
#include <extract/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t index_of(const struct extract_kernel *kernel, uint64_t address)
{
    for (size_t i = 0; i < kernel->thread_count; i++)
        if (kernel->threads[i].address == address)
            return i;
    return SIZE_MAX;
}

// ---- stacks ----

// Returns the end of the memory of a thread that is below a stack, of that which ends last: of its
// stack or its control block; 0: it has none there. A stack whose end is not known may reach up to
// the address.
static uint64_t end_below(const struct extract_kernel_thread *thread, uint64_t address)
{
    enum { LEAST_BLOCK = 64 }; // bytes of a control block
    uint64_t block = thread->address < address ? thread->address + LEAST_BLOCK : 0;
    uint64_t stack = thread->stack_start < address ? thread->stack_start : 0;

    if (stack && thread->stack_end)
        stack = thread->stack_end <= address ? thread->stack_end : 0;
    return block > stack ? block : stack;
}

const struct extract_kernel_thread *crash_victim(const struct extract_kernel *kernel,
                                                 const struct extract_kernel_thread *thread)
{
    enum { MOST = 1 << 16 }; // bytes from the victim's memory, as far as it is known, to the stack
    const struct extract_kernel_thread *victim = NULL;
    uint64_t nearest = 0;

    for (size_t i = 0; thread->stack_start && i < kernel->thread_count; i++) {
        const struct extract_kernel_thread *other = &kernel->threads[i];
        uint64_t end = end_below(other, thread->stack_start);
        if (end <= nearest || thread->stack_start - end > MOST)
            continue;
        nearest = end;
        victim = other;
    }
    return victim == thread ? NULL : victim;
}

// Writes what is directly below a stack, as far as it is known; otherwise "".
static void describe_below(const struct crash_build *build,
                           const struct extract_kernel_thread *thread, char *text, size_t size)
{
    enum { GAP = 16, NEAR_BLOCK = 512 }; // bytes: of alignment; of a control block
    const struct extract_kernel_thread *victim = crash_victim(build->remains->kernel, thread);
    const uint64_t start = thread->stack_start;
    struct extract_symbol symbol;
    char name[24];

    text[0] = 0;
    if (victim && victim->stack_end && victim->stack_end <= start &&
        start - victim->stack_end <= GAP)
        snprintf(text, size, "; the stack of \"%s\" is below it",
                 crash_name(victim->name, victim->address, name));
    else if (victim && victim->address < start && start - victim->address <= NEAR_BLOCK &&
             (victim->address > victim->stack_start || victim->stack_start > start))
        snprintf(text, size, "; the control block of \"%s\" is below it",
                 crash_name(victim->name, victim->address, name));
    else if (build->remains->symbols && start &&
             extract_symbols_by_address(build->remains->symbols, start - 1, &symbol, NULL, NULL))
        snprintf(text, size, "; %s is below it", symbol.name);
}

static void find_overflow(struct crash_build *build, const struct extract_kernel_thread *thread)
{
    bool is_proven = thread->overflow == EXTRACT_OVERFLOW_PROVEN;
    bool is_below = thread->has_sp && thread->sp < thread->stack_start;
    const char *source = is_below ? "control block" : is_proven ? "registers" : "stack";
    char name[24], below[EXTRACT_KERNEL_NAME + 48];
    const char *what = is_proven  ? "has overflowed: its stack pointer is below its stack"
                       : is_below ? "may have overflowed: its stack pointer is below its stack"
                       : thread->has_spilled
                           ? "may have overflowed: return addresses are on both sides of its end"
                           : "is used to its end, so that it may have overflowed";

    if (!build->is_stack_checked &&
        (!build->overflow || thread->overflow > build->overflow->overflow))
        build->overflow = thread;
    describe_below(build, thread, below, sizeof below);
    crash_find(build, "stack overflow", source,
               is_proven ? EXTRACT_CRASH_CERTAIN : EXTRACT_CRASH_LIKELY, "the stack of \"%s\" %s%s",
               crash_name(thread->name, thread->address, name), what, below);
}

// ---- deadlocks ----

static bool figure_of(const struct extract_kernel_object *object, const char *name, uint64_t *value)
{
    for (size_t i = 0; i < EXTRACT_KERNEL_FIGURES && object->figures[i].name; i++)
        if (strcmp(object->figures[i].name, name) == 0) {
            *value = object->figures[i].value;
            return true;
        }
    return false;
}

// Returns whether the mutex that a thread waits for is not held, although it has an owner: one of
// the two is damaged.
static bool is_doubtful(const struct extract_kernel *kernel,
                        const struct extract_kernel_thread *thread)
{
    uint64_t held;

    return thread->object < kernel->object_count &&
           figure_of(&kernel->objects[thread->object], "held", &held) && !held;
}

// Follows the holders from a thread on. Returns whether they lead back to it.
static bool is_in_cycle(const struct extract_kernel *kernel, size_t first)
{
    size_t at = first;

    for (size_t steps = 0; steps <= kernel->thread_count; steps++) {
        if (kernel->threads[at].state != EXTRACT_KERNEL_BLOCKED || !kernel->threads[at].holder)
            return false;
        at = index_of(kernel, kernel->threads[at].holder);
        if (at == SIZE_MAX || at == first)
            return at == first;
    }
    return false;
}

// Adds the cycle that a thread belongs to, and marks its threads.
//
// FreeRTOS without INCLUDE_vTaskSuspend counts the longest wait, portMAX_DELAY, like all others. At
// the usual rates of ticks, half of it takes weeks.
static void add_deadlock(struct crash_build *build, size_t first, bool *seen)
{
    const uint64_t forever = UINT32_MAX / 2;
    const struct extract_kernel *kernel = build->remains->kernel;
    struct extract_crash *crash = build->crash;
    struct extract_deadlock *deadlock = &crash->deadlocks[crash->deadlock_count++];
    const struct extract_kernel_thread *limited = NULL; // whose wait ends by itself
    struct extract_text words;
    size_t at = first;

    enum extract_crash_certainty certainty = EXTRACT_CRASH_CERTAIN;
    extract_text_init(&words, NULL, NULL);
    deadlock->first = build->cycle_count;
    do {
        const struct extract_kernel_thread *thread = &kernel->threads[at];
        char name[24], object[24];
        crash->cycle[build->cycle_count++] = at;
        deadlock->count++;
        if (is_doubtful(kernel, thread) || thread->limit == EXTRACT_LIMIT_UNKNOWN)
            certainty = EXTRACT_CRASH_LIKELY;
        seen[at] = true;
        if (thread->limit == EXTRACT_LIMIT_TICKS && thread->ticks_left > forever)
            certainty = EXTRACT_CRASH_LIKELY;
        else if (thread->limit == EXTRACT_LIMIT_TICKS &&
                 (!limited || thread->ticks_left < limited->ticks_left))
            limited = thread;
        extract_text_printf(&words, "%s\"%s\" waits for %s", deadlock->count > 1 ? ", " : "",
                            crash_name(thread->name, thread->address, name),
                            thread->wait ? thread->wait : "an object");
        if (thread->object < kernel->object_count || thread->waiting_for)
            extract_text_printf(&words, " \"%s\"",
                                crash_name(thread->object < kernel->object_count
                                               ? kernel->objects[thread->object].name
                                               : "",
                                           thread->waiting_for, object));
        at = index_of(kernel, thread->holder);
    } while (at != first);
    char name[24];
    if (words.code) {
        build->failed = true;
    } else if (limited) {
        crash_find(build, "waits in a circle", "control block", certainty,
                   "%.*s, which the first one holds; \"%s\" waits for %llu more ticks at most",
                   (int)words.used, words.data, crash_name(limited->name, limited->address, name),
                   (unsigned long long)limited->ticks_left);
        build->cycle_count -= deadlock->count;
        crash->deadlock_count--;
        *deadlock = (struct extract_deadlock){.count = 0};
    } else
        crash_find(build, "deadlock", "control block", certainty, "%.*s, which the first one holds",
                   (int)words.used, words.data);
    extract_text_free(&words);
}

static void find_deadlocks(struct crash_build *build)
{
    const struct extract_kernel *kernel = build->remains->kernel;
    struct extract_crash *crash = build->crash;
    bool *seen = calloc(kernel->thread_count + 1, sizeof *seen);

    crash->cycle = calloc(kernel->thread_count + 1, sizeof *crash->cycle);
    crash->deadlocks = calloc(kernel->thread_count + 1, sizeof *crash->deadlocks);
    if (!seen || !crash->cycle || !crash->deadlocks)
        build->failed = true;
    for (size_t i = 0; !build->failed && i < kernel->thread_count; i++)
        if (!seen[i] && is_in_cycle(kernel, i))
            add_deadlock(build, i, seen);
    free(seen);
}

// ---- objects ----

// Returns whether a thread waits for an object, without a limit, for half of the trace or longer.
// Otherwise, a queue may be full only because its sender is faster, as in many systems.
static bool is_stuck(const struct crash_build *build, size_t object)
{
    const struct extract_kernel *kernel = build->remains->kernel;

    for (size_t i = 0; i < kernel->thread_count; i++)
        if (kernel->threads[i].object == object && kernel->threads[i].limit == EXTRACT_LIMIT_NONE &&
            build->crash->waits[i].is_known && build->trace_ticks &&
            build->crash->waits[i].ticks >= build->trace_ticks / 2)
            return true;
    return false;
}

// Finds queues that are full, and pools that are empty, if threads have waited for them for long.
void crash_read_levels(struct crash_build *build)
{
    const struct extract_kernel *kernel = build->remains->kernel;

    for (size_t i = 0; kernel && i < kernel->object_count; i++) {
        const struct extract_kernel_object *object = &kernel->objects[i];
        if (!is_stuck(build, i))
            continue;
        char name[24];
        uint64_t used, all;
        if (figure_of(object, "messages", &used) && figure_of(object, "capacity", &all) && all &&
            used >= all)
            crash_find(build, "full queue", "control block", EXTRACT_CRASH_CERTAIN,
                       "the queue \"%s\" is full: %llu messages",
                       crash_name(object->name, object->address, name), (unsigned long long)used);
        if (figure_of(object, "available", &used) && !used)
            crash_find(build, "empty pool", "control block", EXTRACT_CRASH_CERTAIN,
                       "the %s \"%s\" has nothing left", object->type,
                       crash_name(object->name, object->address, name));
    }
}

// ---- who had the core ----

static void find_thread(struct crash_build *build)
{
    enum { EXCEPTION = 0x1FF }; // of xpsr
    const struct extract_remains *remains = build->remains;
    struct debug_threads threads;
    struct extract_crash *crash = build->crash;
    uint64_t sp, address, psr;

    if (!remains->core_count || !build->machine) {
        for (size_t i = 0; i < remains->kernel->thread_count; i++)
            if (remains->kernel->threads[i].has_core &&
                remains->kernel->threads[i].core == crash->core) {
                crash->thread = &remains->kernel->threads[i];
                crash->thread_certainty =
                    EXTRACT_CRASH_LIKELY; // an interrupt may have had the core
            }
        return;
    }
    if (!debug_threads_build(&threads, remains->kernel, build->machine, remains->cores,
                             remains->core_count)) {
        build->failed = true;
        return;
    }
    for (size_t i = 0; i < threads.count; i++) {
        const struct debug_thread *served = &threads.list[i];
        if (!served->on_core || !served->thread || served->thread->core != crash->core ||
            build->is_start_up)
            continue;
        crash->thread = served->thread;
        bool is_unsure = kernel_is_arm_exception(build->machine, &crash->registers) ||
                         !register_get(&crash->registers, build->machine->sp, &sp);
        crash->thread_certainty = is_unsure ? EXTRACT_CRASH_LIKELY : EXTRACT_CRASH_CERTAIN;
    }
    debug_threads_free(&threads);
    // A trap on another stack than the thread's: it has interrupted the thread that runs. Without
    // an exception, it is start-up code that has another stack.
    bool is_start_up = build->is_start_up ||
                       (build->machine->is_m_profile &&
                        register_get(&crash->registers, ARM_PSR, &psr) && !(psr & EXCEPTION));
    for (size_t i = 0; !is_start_up && !crash->thread && i < remains->kernel->thread_count; i++)
        if (remains->kernel->threads[i].has_core &&
            remains->kernel->threads[i].core == crash->core) {
            crash->thread = &remains->kernel->threads[i];
            // A thread of a process is of a core only if the control block proves it.
            crash->thread_certainty = crash->lwp ? EXTRACT_CRASH_CERTAIN : EXTRACT_CRASH_LIKELY;
        }
    if (!crash->thread &&
        kernel_read_current(remains->memory, remains->symbols, crash->core, &address) && !address &&
        !kernel_is_switching(remains->memory, remains->symbols, crash->core)) {
        crash->has_no_thread = true;
        crash->thread_certainty = EXTRACT_CRASH_CERTAIN;
    }
}

void crash_read_threads(struct crash_build *build)
{
    const struct extract_kernel *kernel = build->remains->kernel;

    if (!kernel)
        return;
    find_thread(build);
    find_deadlocks(build);
    for (size_t i = 0; i < kernel->thread_count; i++)
        if (kernel->threads[i].overflow >= EXTRACT_OVERFLOW_SUSPECTED)
            find_overflow(build, &kernel->threads[i]);
}
