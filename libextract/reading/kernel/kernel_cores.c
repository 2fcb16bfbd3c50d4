// SPDX-License-Identifier: MIT
// kernel: which notes of a core file have the registers of a core. In: the registers of all notes,
// and the threads of the kernel. Out: the registers of the target's cores.
//
// A core file that GDB writes of a session with an RTOS has a note for each thread, and the first
// is the one that was selected. A note with the registers that the kernel has saved for a thread is
// that thread's. Of the others, the one in an exception is a core's, or else the one that is on no
// thread's stack, or else the one on the stack of the thread that the kernel has for running, or
// else the one on the stack of another thread, which an overflow leads to.
#include "kernel/kernel_room.h"
#include "memory/core_dump.h"
#include "registers/notes.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

// What a note shows; the greatest is the best evidence of a core.
enum evidence { OF_THREAD, ON_OTHER, ON_RUNNING, OUTSIDE, IN_EXCEPTION };

struct note {
    struct extract_registers registers;
    enum evidence evidence;
    unsigned core; // ON_RUNNING: that of the thread
};

struct notes {
    const struct extract_remains *remains;
    const struct register_machine *machine;
    struct note *list;
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

// Finds out what a note shows.
static void judge(const struct notes *notes, struct note *note)
{
    const struct extract_kernel *kernel = notes->remains->kernel;
    uint64_t sp;

    note->evidence = OF_THREAD;
    if (is_saved(notes, &note->registers) ||
        !register_get(&note->registers, notes->machine->sp, &sp) || !sp)
        return; // GDB has written 0 for what it did not know
    note->evidence = OUTSIDE;
    for (size_t i = 0; i < kernel->thread_count && note->evidence != ON_RUNNING; i++) {
        const struct extract_kernel_thread *thread = &kernel->threads[i];
        if (!is_on_stack(thread, sp))
            continue;
        note->evidence = thread->has_core ? ON_RUNNING : thread->has_pc ? ON_OTHER : OF_THREAD;
        note->core = thread->core;
    }
    if (is_in_exception(notes, &note->registers))
        note->evidence = IN_EXCEPTION;
}

// Finds the only note with the best evidence. Returns NULL if there are several, or none.
static const struct note *find_best(const struct notes *notes)
{
    const struct note *best = NULL;
    enum evidence most = OF_THREAD;

    for (size_t i = 0; i < notes->count; i++) {
        const struct note *note = &notes->list[i];
        if (note->evidence > most)
            best = note;
        else if (note->evidence == most)
            best = NULL;
        most = note->evidence > most ? note->evidence : most;
    }
    return best;
}

// Sets the registers of the cores on whose thread's stack there is one note. Returns how many.
static size_t set_running(const struct notes *notes, struct extract_registers *cores, size_t count)
{
    size_t found = 0;

    for (size_t k = 0; k < count; k++) {
        const struct note *only = NULL;
        size_t candidates = 0;
        for (size_t i = 0; i < notes->count; i++) {
            if (notes->list[i].evidence != ON_RUNNING || notes->list[i].core != k)
                continue;
            only = &notes->list[i];
            candidates++;
        }
        cores[k] = candidates == 1 ? only->registers : (struct extract_registers){.known = 0};
        found += candidates == 1;
    }
    return found;
}

static void choose(const struct notes *notes, struct extract_remains *remains, size_t cores)
{
    bool has_threads = notes->count > cores;

    for (size_t i = 0; i < notes->count; i++) {
        judge(notes, &notes->list[i]);
        has_threads |= is_saved(notes, &notes->list[i].registers);
    }
    if (!has_threads)
        return; // each is one of a core
    remains->thread_notes = notes->count;
    if (cores > 1) {
        remains->core_count = set_running(notes, remains->cores, cores) ? cores : 0;
        return;
    }
    const struct note *best = find_best(notes);
    remains->core_count = best ? 1 : 0;
    if (best)
        remains->cores[0] = best->registers;
}

// ---- kernels on Linux ----

// Finds the core whose thread a thread of the process is. ThreadX's ports to Linux keep the
// pthread_t in the control block, and on x86-64, fs_base is the pthread_t.
static bool find_core_of(const struct extract_remains *remains,
                         const struct extract_registers *process_thread, size_t *core)
{
    struct kernel_reader reader = kernel_reader_make(NULL, remains->memory, remains->symbols);
    const struct kernel_description *description = kernel_detect(remains->symbols);
    struct kernel_block block;
    uint64_t pointer, id;

    if (!register_get(process_thread, FAULT_FS_BASE, &pointer) || !pointer)
        return false;
    for (size_t i = 0; i < remains->kernel->thread_count; i++) {
        const struct extract_kernel_thread *thread = &remains->kernel->threads[i];
        if (!thread->has_core || thread->core >= EXTRACT_CORES ||
            !kernel_read_block(&reader, description->type, thread->address, &block) ||
            !kernel_block_get(&reader, &block, "tx_thread_linux_thread_id", &id) || id != pointer)
            continue;
        *core = thread->core;
        return true;
    }
    return false;
}

// The registers of a process are those of its threads, of which the first is the one that stopped.
// Only the registers of threads that the kernel has on a core are those of a core. The thread that
// stopped keeps its number; if it is of no core, it follows the cores.
static void place_process_threads(struct extract_remains *remains)
{
    struct extract_registers placed[EXTRACT_CORES] = {{.known = 0}};
    size_t cores = kernel_count_cores(remains->symbols), core;

    if (cores >= EXTRACT_CORES)
        cores = EXTRACT_CORES - 1;
    size_t count = cores;
    for (size_t i = 0; i < remains->core_count; i++) {
        if (!find_core_of(remains, &remains->cores[i], &core) || core >= cores) {
            if (i)
                continue;
            core = cores;
            count = cores + 1;
        }
        placed[core] = remains->cores[i];
        if (i)
            placed[core].known &= ~(UINT64_C(1) << FAULT_LWP);
    }
    memcpy(remains->cores, placed, sizeof placed);
    remains->core_count = count;
}

static bool is_process(const struct extract_remains *remains)
{
    const struct extract_core *file = extract_core_of(remains->memory);
    uint64_t entry, lwp;

    return remains->core_count && register_get(&remains->cores[0], FAULT_LWP, &lwp) &&
           (!file || extract_core_entry(file, &entry));
}

// ---- core files of GDB ----

static void choose_notes(struct extract_remains *remains)
{
    const struct extract_core *file = extract_core_of(remains->memory);
    size_t cores = kernel_count_cores(remains->symbols);
    struct notes notes = {.remains = remains, .machine = register_machine_of(remains->symbols)};
    uint64_t lwp;

    if (!file || !notes.machine || remains->core_count < 2)
        return;
    for (size_t i = 0; i < remains->core_count; i++)
        if (!register_get(&remains->cores[i], FAULT_LWP, &lwp))
            return; // not from such notes
    struct extract_registers *registers = calloc(EXTRACT_KERNEL_MOST, sizeof *registers);
    if (registers)
        notes.count =
            register_notes_read(remains->memory, notes.machine, registers, EXTRACT_KERNEL_MOST);
    notes.list = calloc(notes.count + 1, sizeof *notes.list);
    for (size_t i = 0; notes.list && i < notes.count; i++)
        notes.list[i].registers = registers[i];
    if (notes.list && notes.count)
        choose(&notes, remains, cores < remains->core_count ? cores : remains->core_count);
    free(notes.list);
    free(registers);
}

void kernel_choose_cores(struct extract_remains *remains)
{
    if (is_process(remains)) {
        place_process_threads(remains);
        return;
    }
    choose_notes(remains);
    // In the core file of a target with a kernel, the numbers of threads are those of GDB.
    for (size_t i = 0; i < remains->core_count; i++)
        remains->cores[i].known &= ~(UINT64_C(1) << FAULT_LWP);
}
