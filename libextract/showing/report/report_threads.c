// SPDX-License-Identifier: MIT
// report: the threads and objects of a kernel as its control blocks show them, as tables or as one
// JSON object per line.
#include "report/report_threads.h"
#include "kernel/kernel_room.h"
#include "report/report_room.h"
#include "report/text_table.h"
#include <extract/kernel.h>

// Returns the stack that a thread uses now, or has ever used, in bytes. *is_known: whether it can
// be told.
static uint64_t used_now(const struct extract_kernel_thread *thread, bool *is_known)
{
    *is_known = thread->has_sp && thread->stack_end && thread->sp <= thread->stack_end;
    return thread->stack_end - thread->sp;
}

static uint64_t used_ever(const struct extract_kernel_thread *thread, bool *is_known)
{
    *is_known = thread->has_untouched && thread->stack_end;
    return thread->stack_end - thread->stack_start - thread->untouched;
}

static const struct extract_kernel_object *waited_object(const struct extract_kernel *kernel,
                                                         const struct extract_kernel_thread *thread)
{
    return thread->object < kernel->object_count ? &kernel->objects[thread->object] : NULL;
}

// ---- threads as JSON ----

static void put_optional_string(struct kv_writer *kv, const char *key, const char *string)
{
    if (string)
        kv_put_string(kv, key, string);
    else
        kv_put_unknown(kv, key);
}

static void put_stack_json(struct kv_writer *kv, const struct extract_kernel_thread *thread)
{
    bool is_known;
    uint64_t bytes = used_now(thread, &is_known);

    kv_put_optional(kv, "stack_start", thread->stack_start != 0, thread->stack_start);
    kv_put_optional(kv, "stack_end", thread->stack_end != 0, thread->stack_end);
    kv_put_optional(kv, "stack_used", is_known, bytes);
    bytes = used_ever(thread, &is_known);
    kv_put_optional(kv, "stack_most_used", is_known, bytes);
    kv_put_optional(kv, "stack_never_used", thread->has_untouched, thread->untouched);
    kv_put_string(kv, "stack_overflow", extract_kernel_overflow_name(thread->overflow));
}

void threads_put_json(struct extract_text *text, const struct extract_kernel *kernel, size_t i,
                      const struct extract_crash_wait *wait)
{
    const struct extract_kernel_thread *thread = &kernel->threads[i];
    const struct extract_kernel_object *object = waited_object(kernel, thread);
    struct kv_writer kv = kv_open_object(text);

    kv_put_number(&kv, "address", thread->address);
    kv_put_string(&kv, "name", thread->name);
    kv_put_string(&kv, "state", extract_kernel_state_name(thread->state));
    kv_put_optional(&kv, "core", thread->has_core, thread->core);
    kv_put_optional(&kv, "priority", thread->has_priority, thread->priority);
    kv_put_optional(&kv, "base_priority", thread->has_base_priority, thread->base_priority);
    kv_put_optional(&kv, "waiting_for", thread->waiting_for != 0, thread->waiting_for);
    put_optional_string(&kv, "object_type", thread->wait);
    put_optional_string(&kv, "object_name", object && object->name[0] ? object->name : NULL);
    kv_put_optional(&kv, "holder", thread->holder != 0, thread->holder);
    kv_put_optional(&kv, "ticks_left", thread->limit == EXTRACT_LIMIT_TICKS, thread->ticks_left);
    kv_put_bool(&kv, "waits_forever", thread->limit == EXTRACT_LIMIT_NONE);
    put_optional_string(&kv, "change",
                        thread->change ? extract_kernel_change_name(thread->change) : NULL);
    put_stack_json(&kv, thread);
    kv_put_optional(&kv, "sp", thread->has_sp, thread->sp);
    kv_put_optional(&kv, "pc", thread->has_pc, thread->pc);
    put_optional_string(&kv, "registers_unknown", thread->no_registers);
    put_optional_string(&kv, "function", thread->function);
    put_optional_string(&kv, "file", thread->place.file);
    kv_put_optional(&kv, "line", thread->place.file != NULL, thread->place.line);
    if (wait) {
        kv_put_optional(&kv, "state_ticks", wait->is_known && !wait->is_least, wait->ticks);
        kv_put_optional(&kv, "state_ticks_at_least", wait->is_known, wait->ticks);
    }
    kv_close_object(&kv);
}

// ---- threads as a table ----

static void put_wait_cell(struct text_table *table, const struct extract_kernel *kernel,
                          const struct extract_kernel_thread *thread)
{
    const struct extract_kernel_object *object = waited_object(kernel, thread);
    const struct extract_kernel_thread *holder =
        thread->holder ? extract_kernel_thread_at(kernel, thread->holder) : NULL;

    if (thread->state != EXTRACT_KERNEL_BLOCKED) {
        text_table_put_string(table, "");
        return;
    }
    extract_text_puts(&table->cells, thread->wait ? thread->wait : "unknown");
    if (thread->waiting_for) {
        extract_text_putc(&table->cells, ' ');
        kernel_put_name(&table->cells, object ? object->name : "", thread->waiting_for);
    }
    if (thread->holder) {
        extract_text_puts(&table->cells, ", held by ");
        kernel_put_name(&table->cells, holder ? holder->name : "", thread->holder);
    }
    text_table_end_cell(table);
}

static void put_place_cell(struct text_table *table, const struct extract_kernel_thread *thread)
{
    if (!thread->has_pc) {
        if (thread->no_registers)
            extract_text_printf(&table->cells, "unknown: %s", thread->no_registers);
        else
            extract_text_putc(&table->cells, '-');
        text_table_end_cell(table);
        return;
    }
    if (thread->function)
        extract_text_escaped(&table->cells, thread->function);
    else
        extract_text_hex(&table->cells, thread->pc, 8);
    if (thread->place.file) {
        extract_text_puts(&table->cells, " at ");
        extract_text_escaped(&table->cells, thread->place.file);
        extract_text_printf(&table->cells, ":%u", thread->place.line);
    }
    text_table_end_cell(table);
}

static void put_thread_row(struct text_table *table, const struct extract_kernel *kernel,
                           const struct extract_kernel_thread *thread,
                           const struct extract_crash_wait *wait, uint64_t hz)
{
    bool has_size = thread->stack_start && thread->stack_end, is_known;
    uint64_t bytes;

    kernel_put_name(&table->cells, thread->name, thread->address);
    text_table_end_cell(table);
    extract_text_puts(&table->cells, extract_kernel_state_name(thread->state));
    if (thread->has_core && thread->core)
        extract_text_printf(&table->cells, " on core %u", thread->core);
    if (thread->change)
        extract_text_printf(&table->cells, ", %s", extract_kernel_change_name(thread->change));
    text_table_end_cell(table);
    if (wait && wait->is_known) {
        extract_text_puts(&table->cells, wait->is_least ? ">= " : "");
        text_put_time(&table->cells, wait->ticks, hz);
        text_table_end_cell(table);
    } else if (wait) {
        text_table_put_string(table, "-");
    }
    text_table_put_optional(table, thread->has_priority, thread->priority);
    put_wait_cell(table, kernel, thread);
    if (thread->limit == EXTRACT_LIMIT_NONE)
        text_table_put_string(table, "forever");
    else
        text_table_put_optional(table, thread->limit == EXTRACT_LIMIT_TICKS, thread->ticks_left);
    text_table_put_optional(table, has_size, thread->stack_end - thread->stack_start);
    bytes = used_now(thread, &is_known);
    text_table_put_optional(table, is_known, bytes);
    bytes = used_ever(thread, &is_known);
    text_table_put_optional(table, is_known, bytes);
    text_table_put_string(table, extract_kernel_overflow_name(thread->overflow));
    put_place_cell(table, thread);
}

void threads_put_table(struct extract_text *text, const struct extract_kernel *kernel,
                       const struct extract_crash_wait *waits, uint64_t hz,
                       const struct extract_report_options *options)
{
    enum { STATE_TIME = 2, PRIORITY = 2, LEFT = 4, STACK, USED, MOST };
    static const char *const headings[] = {"thread",    "state",      "for",         "prio",
                                           "waits for", "ticks left", "stack",       "used",
                                           "most",      "overflow",   "continues in"};
    const char *chosen[sizeof headings / sizeof *headings];
    struct text_table table;
    unsigned count = 0,
             numbers = 1u << PRIORITY | 1u << LEFT | 1u << STACK | 1u << USED | 1u << MOST;

    for (unsigned i = 0; i < sizeof headings / sizeof *headings; i++)
        if (waits || i != STATE_TIME)
            chosen[count++] = headings[i];
    text_table_open(&table, count, waits ? numbers << 1 | 1u << STATE_TIME : numbers);
    text_table_put_headings(&table, chosen);
    for (size_t i = 0; i < kernel->thread_count && !table.cells.code; i++)
        put_thread_row(&table, kernel, &kernel->threads[i], waits ? &waits[i] : NULL, hz);
    text_table_print(&table, text, options);
}

enum extract_code extract_report_threads(struct extract_text *text,
                                         const struct extract_kernel *kernel,
                                         const struct extract_report_options *options)
{
    if (!options->json)
        threads_put_table(text, kernel, NULL, 0, options);
    for (size_t i = 0; options->json && i < kernel->thread_count && !text->code; i++) {
        threads_put_json(text, kernel, i, NULL);
        extract_text_putc(text, '\n');
    }
    return text->code;
}

// ---- objects ----

void objects_put_json(struct extract_text *text, const struct extract_kernel_object *object)
{
    struct kv_writer kv = kv_open_object(text), figures;

    kv_put_number(&kv, "address", object->address);
    kv_put_string(&kv, "type", object->type);
    kv_put_string(&kv, "name", object->name);
    kv_put_optional(&kv, "owner", object->owner != 0, object->owner);
    kv_put_number(&kv, "waiters", object->waiters);
    kv_put_key(&kv, "figures");
    figures = kv_open_object(text);
    for (size_t i = 0; i < EXTRACT_KERNEL_FIGURES && object->figures[i].name; i++)
        kv_put_number(&figures, object->figures[i].name, object->figures[i].value);
    kv_close_object(&figures);
    kv_close_object(&kv);
}

static void put_object_row(struct text_table *table, const struct extract_kernel *kernel,
                           const struct extract_kernel_object *object)
{
    const struct extract_kernel_thread *owner =
        object->owner ? extract_kernel_thread_at(kernel, object->owner) : NULL;

    extract_text_hex(&table->cells, object->address, 8);
    text_table_end_cell(table);
    text_table_put_string(table, object->type);
    text_table_put_string(table, object->name);
    if (object->owner)
        kernel_put_name(&table->cells, owner ? owner->name : "", object->owner);
    text_table_end_cell(table);
    text_table_put_number(table, object->waiters);
    for (size_t i = 0; i < EXTRACT_KERNEL_FIGURES && object->figures[i].name; i++)
        extract_text_printf(&table->cells, "%s%s %llu", i ? ", " : "", object->figures[i].name,
                            (unsigned long long)object->figures[i].value);
    text_table_end_cell(table);
}

void objects_put_table(struct extract_text *text, const struct extract_kernel *kernel,
                       const struct extract_report_options *options)
{
    enum { WAITERS = 4 };
    static const char *const headings[] = {"address", "type",    "name",
                                           "held by", "waiters", "figures"};
    struct text_table table;

    text_table_open(&table, sizeof headings / sizeof *headings, 1u << WAITERS);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < kernel->object_count && !table.cells.code; i++)
        put_object_row(&table, kernel, &kernel->objects[i]);
    text_table_print(&table, text, options);
}

enum extract_code extract_report_kernel_objects(struct extract_text *text,
                                                const struct extract_kernel *kernel,
                                                const struct extract_report_options *options)
{
    if (!options->json)
        objects_put_table(text, kernel, options);
    for (size_t i = 0; options->json && i < kernel->object_count && !text->code; i++) {
        objects_put_json(text, &kernel->objects[i]);
        extract_text_putc(text, '\n');
    }
    return text->code;
}
