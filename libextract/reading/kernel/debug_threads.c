// SPDX-License-Identifier: MIT
// kernel: finds who has each core (debug_threads.h).
#include "kernel/debug_threads.h"
#include "kernel/kernel_room.h"
#include <stdlib.h>

enum { ARM_EXCEPTION = 0x1FF, ARM_PENDSV = 14 }; // xpsr: number of the exception

// On Arm's M-profile, an exception that interrupts a thread leaves the thread's stack pointer in
// psp. Other machines switch to a stack of the kernel, so that the core is not the thread's for
// that time; A-profile has one for each mode.
bool debug_thread_has_core(const struct extract_kernel_thread *thread,
                           const struct register_machine *machine,
                           const struct extract_registers *registers)
{
    uint64_t sp, psr;

    if (!thread->stack_start || !thread->stack_end) // nothing contradicts the kernel
        return true;
    if (machine->is_m_profile && register_get(registers, ARM_PSR, &psr) && psr & ARM_EXCEPTION) {
        if ((psr & ARM_EXCEPTION) == ARM_PENDSV)
            return false; // the kernel switches threads, or idles
        if (register_get(registers, ARM_PSP, &sp) && sp >= thread->stack_start &&
            sp <= thread->stack_end)
            return true;
    }
    // The stack of the exception may end where that of the thread begins.
    if (kernel_is_arm_exception(machine, registers) && register_get(registers, ARM_BEFORE_SP, &sp))
        return false;
    return !register_get(registers, machine->sp, &sp) ||
           (sp >= thread->stack_start && sp <= thread->stack_end);
}

static const struct extract_kernel_thread *running_on(const struct extract_kernel *kernel,
                                                      size_t core)
{
    for (size_t i = 0; kernel && i < kernel->thread_count; i++)
        if (kernel->threads[i].has_core && kernel->threads[i].core == core)
            return &kernel->threads[i];
    return NULL;
}

// On M-profile, msp and psp are banks of the core. A thread that does not run would get its saved
// stack pointer as psp.
static void add_banks(struct extract_registers *registers, const struct register_machine *machine,
                      const struct extract_registers *core)
{
    uint64_t msp, sp;

    if (!machine->is_m_profile || !core || !register_get(core, ARM_MSP, &msp) ||
        !register_get(registers, ARM_SP, &sp))
        return;
    register_set(registers, ARM_MSP, msp);
    register_set(registers, ARM_PSP, sp);
}

static bool has_ended(const struct extract_kernel_thread *thread)
{
    return thread->state == EXTRACT_KERNEL_COMPLETED || thread->state == EXTRACT_KERNEL_TERMINATED;
}

// Does the same with a stack whose end may not be known.
static bool has_core(const struct extract_kernel *kernel,
                     const struct extract_kernel_thread *thread,
                     const struct register_machine *machine,
                     const struct extract_registers *registers)
{
    struct extract_kernel_thread limited = *thread;

    if (thread->stack_start)
        limited.stack_end = kernel_stack_limit(kernel, thread);
    return debug_thread_has_core(&limited, machine, registers);
}

bool debug_threads_build(struct debug_threads *threads, const struct extract_kernel *kernel,
                         const struct register_machine *machine,
                         const struct extract_registers *cores, size_t core_count)
{
    size_t kernel_count = kernel ? kernel->thread_count : 0;
    size_t most = kernel_count + (core_count ? core_count : 1);

    *threads = (struct debug_threads){.kernel = kernel, .current = SIZE_MAX};
    threads->list = calloc(most, sizeof *threads->list);
    if (!threads->list)
        return false;
    // The ids of threads follow those of the cores, so that both keep theirs.
    for (size_t i = 0; i < core_count; i++) {
        const struct extract_kernel_thread *running = running_on(kernel, i);
        if (running && has_core(kernel, running, machine, &cores[i]))
            continue;
        threads->list[threads->count++] = (struct debug_thread){.id = i + 1,
                                                                .name = kernel ? "kernel" : "core",
                                                                .on_core = true,
                                                                .registers = cores[i]};
    }
    for (size_t i = 0; i < kernel_count; i++) {
        const struct extract_kernel_thread *thread = &kernel->threads[i];
        struct debug_thread *added = &threads->list[threads->count];
        if (has_ended(thread))
            continue;
        *added = (struct debug_thread){.id = (core_count ? core_count : 1) + i + 1,
                                       .thread = thread,
                                       .name = thread->name,
                                       .registers = thread->registers};
        if (thread->has_core && thread->core < core_count &&
            has_core(kernel, thread, machine, &cores[thread->core])) {
            added->on_core = true;
            added->registers = cores[thread->core];
        } else {
            add_banks(&added->registers, machine, cores);
            added->fpu = thread->fpu;
        }
        threads->count++;
    }
    if (!threads->count) // the program without a kernel, and without registers
        threads->list[threads->count++] = (struct debug_thread){.id = 1, .name = "core"};
    // First, the thread on a core; then one that the kernel takes for running.
    for (size_t i = 0; i < threads->count && threads->current == SIZE_MAX; i++)
        if (threads->list[i].on_core)
            threads->current = i;
    for (size_t i = 0; i < threads->count && threads->current == SIZE_MAX; i++)
        if (threads->list[i].registers.known)
            threads->current = i;
    if (threads->current == SIZE_MAX)
        threads->current = 0;
    return true;
}

bool debug_threads_split(struct debug_threads *threads, struct extract_memory *memory,
                         struct extract_symbols *symbols, bool keeps_core)
{
    size_t count = threads->count;
    struct debug_thread *grown = realloc(threads->list, 2 * count * sizeof *grown);

    if (!grown)
        return false;
    threads->list = grown;
    for (size_t i = 0; i < count; i++) {
        struct extract_registers interrupted;
        if (!grown[i].on_core || !grown[i].thread ||
            !extract_kernel_interrupted(memory, symbols, &grown[i].registers, &interrupted))
            continue;
        grown[threads->count] = (struct debug_thread){.id = grown[i].thread->core + 1,
                                                      .name = "exception",
                                                      .on_core = true,
                                                      .registers = grown[i].registers};
        threads->count++;
        grown[i].registers = interrupted;
        grown[i].fpu = NULL;
        grown[i].on_core = keeps_core;
        grown[i].is_likely = true;
    }
    return true;
}

bool debug_threads_are_split(const struct register_machine *machine, struct extract_memory *memory,
                             struct extract_symbols *symbols,
                             const struct extract_registers *registers)
{
    struct extract_registers interrupted;

    return !machine->is_m_profile &&
           extract_kernel_interrupted(memory, symbols, registers, &interrupted);
}

void debug_threads_free(struct debug_threads *threads)
{
    free(threads->list);
    *threads = (struct debug_threads){.list = NULL};
}

const struct debug_thread *debug_thread_find(const struct debug_threads *threads, uint64_t id)
{
    for (size_t i = 0; i < threads->count; i++)
        if (threads->list[i].id == id)
            return &threads->list[i];
    return NULL;
}
