// SPDX-License-Identifier: MIT
// kernel: which notes of a core file have the registers of a core. In: the registers of all notes,
// and the threads of the kernel. Out: the registers of the target's cores.
//
// A core file that GDB writes of a session with an RTOS has a note for each thread, and the first
// is the one that was selected. A note with the registers that the kernel has saved for a thread is
// that thread's. Of the others, the one in an exception is a core's, or else the one that is on no
// thread's stack, or else the one on the stack of the thread that the kernel has for running, or
// else the one on the stack of another thread, which an overflow leads to.
#include "kernel/kernel.h"
#include "memory/core.h"
#include "registers/notes.h"
#include <elf.h>
#include <stdlib.h>

// What a note shows; the greatest is the best evidence of a core.
enum evidence { OF_THREAD, ON_OTHER, ON_RUNNING, OUTSIDE, IN_EXCEPTION };

struct notes {
    const struct extract_remains *remains;
    const struct register_machine *machine;
    struct extract_registers *list;
    size_t count;
};

static bool is_on_stack(const struct extract_kernel_thread *thread, uint64_t sp)
{
    return thread->stack_start && sp >= thread->stack_start && sp <= thread->stack_end;
}

// Returns whether a note has the registers that are saved for a thread.
static bool is_saved(const struct notes *notes, const struct extract_registers *note)
{
    const struct extract_kernel *kernel = notes->remains->kernel;
    uint64_t sp, pc;

    if (!register_get(note, notes->machine->sp, &sp) ||
        !register_get(note, notes->machine->pc, &pc))
        return false;
    for (size_t i = 0; i < kernel->thread_count; i++) {
        const struct extract_kernel_thread *thread = &kernel->threads[i];
        if (!thread->has_core && thread->has_sp && thread->has_pc && thread->sp == sp &&
            thread->pc == pc)
            return true;
    }
    return false;
}

static bool is_in_exception(const struct notes *notes, const struct extract_registers *note)
{
    const uint64_t exception = 0x1FF;
    struct extract_registers interrupted;
    uint64_t psr;

    if (notes->machine->is_m_profile)
        return register_get(note, ARM_PSR, &psr) && psr & exception;
    return extract_kernel_interrupted(notes->remains->memory, notes->remains->symbols, note,
                                      &interrupted);
}

// Returns what a note shows. *core becomes the number of the core, if the note is on the stack of
// the thread that runs there.
static enum evidence judge(const struct notes *notes, const struct extract_registers *note,
                           unsigned *core)
{
    const struct extract_kernel *kernel = notes->remains->kernel;
    enum evidence found = OUTSIDE;
    uint64_t sp;

    if (is_saved(notes, note) || !register_get(note, notes->machine->sp, &sp) || !sp)
        return OF_THREAD; // or GDB has written 0 for what it did not know
    if (is_in_exception(notes, note))
        return IN_EXCEPTION;
    for (size_t i = 0; i < kernel->thread_count; i++) {
        const struct extract_kernel_thread *thread = &kernel->threads[i];
        if (!is_on_stack(thread, sp))
            continue;
        if (thread->has_core) {
            *core = thread->core;
            return ON_RUNNING;
        }
        found = thread->has_pc ? ON_OTHER : OF_THREAD;
    }
    return found;
}

// Finds the only note with the best evidence. Returns NULL if there are several, or none.
static const struct extract_registers *find_best(const struct notes *notes)
{
    const struct extract_registers *best = NULL;
    enum evidence most = OF_THREAD;
    unsigned core = 0;

    for (size_t i = 0; i < notes->count; i++) {
        enum evidence found = judge(notes, &notes->list[i], &core);
        if (found > most)
            best = &notes->list[i];
        else if (found == most)
            best = NULL;
        most = found > most ? found : most;
    }
    return best;
}

// Sets the registers of the cores on whose thread's stack there is one note. Returns how many.
static size_t set_running(const struct notes *notes, struct extract_registers *cores, size_t count)
{
    size_t found = 0;
    unsigned core;

    for (size_t k = 0; k < count; k++) {
        const struct extract_registers *only = NULL;
        size_t candidates = 0;
        for (size_t i = 0; i < notes->count; i++) {
            core = (unsigned)count;
            if (judge(notes, &notes->list[i], &core) != ON_RUNNING || core != k)
                continue;
            only = &notes->list[i];
            candidates++;
        }
        cores[k] = candidates == 1 ? *only : (struct extract_registers){.known = 0};
        found += candidates == 1;
    }
    return found;
}

static void choose(const struct notes *notes, struct extract_remains *remains, size_t cores)
{
    bool has_threads = notes->count > cores;

    for (size_t i = 0; i < notes->count; i++)
        has_threads |= is_saved(notes, &notes->list[i]);
    if (!has_threads)
        return; // each is one of a core
    remains->thread_notes = notes->count;
    if (cores > 1) {
        remains->core_count = set_running(notes, remains->cores, cores) ? cores : 0;
        return;
    }
    const struct extract_registers *best = find_best(notes);
    remains->core_count = best ? 1 : 0;
    if (best)
        remains->cores[0] = *best;
}

void kernel_choose_cores(struct extract_remains *remains)
{
    const struct extract_core *file = extract_core_of(remains->memory);
    size_t cores = kernel_count_cores(remains->symbols);
    struct notes notes = {.remains = remains, .machine = register_machine_of(remains->symbols)};
    uint64_t entry, lwp;

    // A core file of Linux has notes of threads of Linux, of which the first has the signal.
    if (!file || !notes.machine || remains->core_count < 2 || extract_core_entry(file, &entry))
        return;
    for (size_t i = 0; i < remains->core_count; i++)
        if (!register_get(&remains->cores[i], FAULT_LWP, &lwp))
            return; // not from such notes
    notes.list = calloc(EXTRACT_KERNEL_MOST, sizeof *notes.list);
    if (notes.list)
        notes.count =
            register_notes_read(remains->memory, notes.machine, notes.list, EXTRACT_KERNEL_MOST);
    if (notes.count)
        choose(&notes, remains, cores < remains->core_count ? cores : remains->core_count);
    free(notes.list);
}
