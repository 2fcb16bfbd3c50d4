// SPDX-License-Identifier: MIT
// serve: finds who has each core, and describes threads for GDB (threads.h).
#include "serve/threads.h"
#include "base/xml.h"
#include "kernel/kernel.h"
#include "serve/packet.h"
#include "serve/saved_fpu.h"
#include "symbols/dwarf.h"
#include <elf.h>
#include <stdlib.h>

// ---- who has a core ----

enum { ARM_EXCEPTION = 0x1FF, ARM_PENDSV = 14 }; // xpsr: number of the exception

// On Arm's M-profile, an exception that interrupts a thread leaves the thread's stack pointer in
// psp. Other machines switch to a stack of the kernel, so that the core is not the thread's for
// that time; A-profile has one for each mode.
bool serve_has_core(const struct extract_kernel_thread *thread,
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
    return serve_has_core(&limited, machine, registers);
}

bool serve_threads_build(struct serve_threads *threads, const struct extract_kernel *kernel,
                         const struct register_machine *machine,
                         const struct extract_registers *cores, size_t core_count)
{
    size_t kernel_count = kernel ? kernel->thread_count : 0;
    size_t most = kernel_count + (core_count ? core_count : 1);

    *threads = (struct serve_threads){.kernel = kernel, .current = SIZE_MAX};
    threads->list = calloc(most, sizeof *threads->list);
    if (!threads->list)
        return false;
    // The ids of threads follow those of the cores, so that both keep theirs.
    for (size_t i = 0; i < core_count; i++) {
        const struct extract_kernel_thread *running = running_on(kernel, i);
        if (running && has_core(kernel, running, machine, &cores[i]))
            continue;
        threads->list[threads->count++] = (struct serve_thread){.id = i + 1,
                                                                .name = kernel ? "kernel" : "core",
                                                                .on_core = true,
                                                                .registers = cores[i]};
    }
    for (size_t i = 0; i < kernel_count; i++) {
        const struct extract_kernel_thread *thread = &kernel->threads[i];
        struct serve_thread *added = &threads->list[threads->count];
        if (has_ended(thread))
            continue;
        *added = (struct serve_thread){.id = (core_count ? core_count : 1) + i + 1,
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
        threads->list[threads->count++] = (struct serve_thread){.id = 1, .name = "core"};
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

bool serve_threads_split(struct serve_threads *threads, struct extract_memory *memory,
                         struct extract_symbols *symbols, bool keeps_core)
{
    size_t count = threads->count;
    struct serve_thread *grown = realloc(threads->list, 2 * count * sizeof *grown);

    if (!grown)
        return false;
    threads->list = grown;
    for (size_t i = 0; i < count; i++) {
        struct extract_registers interrupted;
        if (!grown[i].on_core || !grown[i].thread ||
            !extract_kernel_interrupted(memory, symbols, &grown[i].registers, &interrupted))
            continue;
        grown[threads->count] = (struct serve_thread){.id = grown[i].thread->core + 1,
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

bool serve_is_split(const struct register_machine *machine, struct extract_memory *memory,
                    struct extract_symbols *symbols, const struct extract_registers *registers)
{
    struct extract_registers interrupted;

    return !machine->is_m_profile &&
           extract_kernel_interrupted(memory, symbols, registers, &interrupted);
}

void serve_threads_free(struct serve_threads *threads)
{
    free(threads->list);
    *threads = (struct serve_threads){.list = NULL};
}

const struct serve_thread *serve_thread_find(const struct serve_threads *threads, uint64_t id)
{
    for (size_t i = 0; i < threads->count; i++)
        if (threads->list[i].id == id)
            return &threads->list[i];
    return NULL;
}

// ---- words for GDB ----

void serve_put_state(struct extract_text *text, const struct serve_threads *threads,
                     const struct serve_thread *served)
{
    const struct extract_kernel_thread *thread = served->thread, *holder;
    const struct extract_kernel *kernel = threads->kernel;

    if (!thread) {
        extract_text_puts(text, "on the core");
        return;
    }
    extract_text_puts(text, extract_kernel_state_name(thread->state));
    if (thread->change)
        extract_text_printf(text, ", %s", extract_kernel_change_name(thread->change));
    if (thread->state == EXTRACT_KERNEL_RUNNING && served->is_likely)
        extract_text_puts(text, ", interrupted, registers likely");
    else if (thread->state == EXTRACT_KERNEL_RUNNING && !served->on_core)
        extract_text_puts(text, served->registers.known ? ", interrupted" : ", registers unknown");
    else if (served->psp_is_likely)
        extract_text_puts(text, ", psp likely");
    if (thread->state == EXTRACT_KERNEL_BLOCKED) {
        extract_text_printf(text, " on %s", thread->wait ? thread->wait : "unknown");
        if (thread->waiting_for) {
            extract_text_putc(text, ' ');
            kernel_put_name(
                text,
                thread->object < kernel->object_count ? kernel->objects[thread->object].name : "",
                thread->waiting_for);
        }
        if (thread->holder) {
            holder = extract_kernel_thread_at(kernel, thread->holder);
            extract_text_puts(text, ", held by ");
            kernel_put_name(text, holder ? holder->name : "", thread->holder);
        }
    }
    if (thread->has_priority)
        extract_text_printf(text, ", priority %llu", (unsigned long long)thread->priority);
    if (thread->overflow >= EXTRACT_OVERFLOW_SUSPECTED)
        extract_text_printf(text, ", stack overflow %s",
                            extract_kernel_overflow_name(thread->overflow));
}

void serve_put_thread_words(struct extract_text *text, const struct serve_threads *threads,
                            const struct serve_thread *thread, size_t most)
{
    struct extract_text state;

    extract_text_init(&state, NULL, NULL);
    extract_text_escaped(&state, thread->name);
    extract_text_puts(&state, ": ");
    serve_put_state(&state, threads, thread);
    serve_put_hex(text, (const uint8_t *)state.data, state.used < most ? state.used : most);
    extract_text_free(&state);
}

void serve_put_thread_list(struct extract_text *text, const struct serve_threads *threads)
{
    struct extract_text part;

    extract_text_init(&part, NULL, NULL);
    extract_text_puts(text, "<?xml version=\"1.0\"?>\n<threads>\n");
    for (size_t i = 0; i < threads->count; i++) {
        const struct serve_thread *thread = &threads->list[i];
        extract_text_printf(text, "<thread id=\"%llx\" name=\"", (unsigned long long)thread->id);
        extract_xml_escaped(text, thread->name);
        extract_text_puts(text, "\">");
        part.used = 0;
        serve_put_state(&part, threads, thread);
        extract_xml_put(text, part.data, part.used);
        extract_text_puts(text, "</thread>\n");
    }
    extract_text_puts(text, "</threads>\n");
    if (part.code && !text->code)
        text->code = part.code;
    extract_text_free(&part);
}

void serve_put_description(struct extract_text *text, const struct register_machine *machine,
                           unsigned feature_count, const struct saved_fpu *fpu)
{
    extract_text_printf(text,
                        "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
                        "<target version=\"1.0\">\n<architecture>%s</architecture>\n",
                        machine->name);
    for (unsigned i = 0; i < feature_count && machine->features[i].name; i++) {
        const struct register_feature *feature = &machine->features[i];
        extract_text_printf(text, "<feature name=\"%s\">\n", feature->name);
        for (unsigned k = feature->first; k < feature->first + feature->count; k++)
            extract_text_printf(text, "<reg name=\"%s\" bitsize=\"%u\" regnum=\"%u\"%s/>\n",
                                machine->names[k], machine->word_bytes * 8U, k,
                                k == machine->pc   ? " type=\"code_ptr\""
                                : k == machine->sp ? " type=\"data_ptr\""
                                                   : "");
        extract_text_puts(text, "</feature>\n");
    }
    saved_fpu_describe(text, machine, *fpu);
    extract_text_puts(text, "</target>\n");
}
