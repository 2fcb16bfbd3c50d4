// SPDX-License-Identifier: MIT
// serve: describes threads and registers for GDB (words.h).
#include "serve/words.h"
#include "base/xml.h"
#include "kernel/kernel_room.h"
#include "serve/serve_packet.h"
#include "serve/saved_fpu.h"

void serve_put_state(struct extract_text *text, const struct debug_threads *threads,
                     const struct debug_thread *served)
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

void serve_put_thread_words(struct extract_text *text, const struct debug_threads *threads,
                            const struct debug_thread *thread, size_t most)
{
    struct extract_text state;

    extract_text_init(&state, NULL, NULL);
    extract_text_escaped(&state, thread->name);
    extract_text_puts(&state, ": ");
    serve_put_state(&state, threads, thread);
    serve_put_hex(text, (const uint8_t *)state.data, state.used < most ? state.used : most);
    extract_text_free(&state);
}

void serve_put_thread_list(struct extract_text *text, const struct debug_threads *threads)
{
    struct extract_text part;

    extract_text_init(&part, NULL, NULL);
    extract_text_puts(text, "<?xml version=\"1.0\"?>\n<threads>\n");
    for (size_t i = 0; i < threads->count; i++) {
        const struct debug_thread *thread = &threads->list[i];
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
