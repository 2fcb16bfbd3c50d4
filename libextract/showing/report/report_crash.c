// SPDX-License-Identifier: MIT
// report: why a target stopped (extract/crash.h), as one page of text or one JSON object.
#include "base/file.h"
#include "kernel/kernel_room.h"
#include "report/crash_html.h"
#include "report/report_room.h"
#include "report/text_table.h"
#include "report/report_threads.h"
#include <extract/crash.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Copies the line of the source file that a place names. Returns false if the file is not there.
static bool read_source_line(const struct extract_place *place, char line[EXTRACT_SOURCE_LINE])
{
    enum { LIMIT = 16 << 20 };
    uint8_t *bytes;
    size_t length, at = 0;

    if (!place->file || !place->line || strcmp(place->file, "-") == 0 ||
        extract_file_read(place->file, LIMIT, &bytes, &length, NULL))
        return false;
    for (unsigned number = 1; number < place->line && at < length; number++) {
        const uint8_t *end = memchr(bytes + at, '\n', length - at);
        at = end ? (size_t)(end - bytes) + 1 : length;
    }
    size_t used = 0;
    while (at + used < length && bytes[at + used] != '\n' && used < EXTRACT_SOURCE_LINE - 1) {
        line[used] = bytes[at + used] == '\t' ? ' ' : (char)bytes[at + used];
        used++;
    }
    line[used] = 0;
    free(bytes);
    return used != 0;
}

static uint64_t known_registers(const struct extract_crash *crash)
{
    return crash->machine ? crash->registers.known : 0;
}

// ---- JSON ----

static void put_string_or_null(struct kv_writer *kv, const char *key, const char *string)
{
    if (string)
        kv_put_string(kv, key, string);
    else
        kv_put_unknown(kv, key);
}

// Returns whether a core of the kernel has stopped. A process has threads that are of none.
static bool has_core(const struct extract_crash *crash)
{
    const struct extract_kernel_thread *thread = crash->thread;

    return crash->core_count && (!crash->lwp || !crash->kernel ||
                                 (thread && thread->has_core && thread->core == crash->core));
}

static void put_cause_json(struct kv_writer *kv, const struct extract_crash *crash)
{
    struct kv_writer cause, registers;

    kv_put_key(kv, "cause");
    cause = kv_open_object(kv->text);
    kv_put_string(&cause, "kind", crash->kind);
    kv_put_string(&cause, "text", crash->text);
    kv_put_string(&cause, "source", crash->source);
    kv_put_string(&cause, "certainty", extract_crash_certainty_name(crash->certainty));
    kv_put_optional(&cause, "core", has_core(crash), crash->core);
    kv_put_key(&cause, "registers");
    registers = kv_open_object(kv->text);
    for (unsigned i = 0; i < EXTRACT_REGISTERS; i++)
        if (known_registers(crash) >> i & 1)
            kv_put_number(&registers, extract_crash_register(crash, i), crash->registers.value[i]);
    kv_close_object(&registers);
    kv_close_object(&cause);
}

static void put_place_json(struct kv_writer *kv, const struct extract_crash *crash)
{
    const struct extract_crash_place *place = &crash->place;
    struct kv_writer object;
    char line[EXTRACT_SOURCE_LINE];

    kv_put_key(kv, "thread");
    if (crash->thread || crash->last_thread) {
        const struct extract_kernel_thread *thread = crash->thread;
        object = kv_open_object(kv->text);
        kv_put_string(&object, "name", thread ? thread->name : crash->last_thread_name);
        kv_put_number(&object, "address", thread ? thread->address : crash->last_thread);
        kv_put_string(&object, "certainty", extract_crash_certainty_name(crash->thread_certainty));
        kv_close_object(&object);
    } else {
        extract_text_puts(kv->text, "null");
    }
    put_string_or_null(kv, "context", *crash->context ? crash->context : NULL);
    kv_put_key(kv, "place");
    object = kv_open_object(kv->text);
    kv_put_optional(&object, "pc", place->is_known, place->pc);
    put_string_or_null(&object, "function", place->function);
    put_string_or_null(&object, "file", place->line.file);
    kv_put_optional(&object, "line", place->line.file != NULL, place->line.line);
    put_string_or_null(&object, "source", read_source_line(&place->line, line) ? line : NULL);
    put_string_or_null(&object, "certainty",
                       place->is_known ? extract_crash_certainty_name(place->certainty) : NULL);
    kv_close_object(&object);
}

static void put_frames_json(struct kv_writer *kv, const struct extract_crash *crash)
{
    kv_put_key(kv, "frames");
    extract_text_putc(kv->text, '[');
    for (size_t i = 0; i < crash->frame_count; i++) {
        const struct extract_frame *frame = &crash->frames[i];
        if (i)
            extract_text_putc(kv->text, ',');
        struct kv_writer object = kv_open_object(kv->text);
        kv_put_number(&object, "pc", frame->pc);
        put_string_or_null(&object, "function", frame->function);
        put_string_or_null(&object, "file", frame->place.file);
        kv_put_optional(&object, "line", frame->place.file != NULL, frame->place.line);
        kv_close_object(&object);
    }
    extract_text_putc(kv->text, ']');
}

static void put_findings_json(struct kv_writer *kv, const struct extract_crash *crash)
{
    const struct extract_kernel *kernel = crash->kernel;

    kv_put_key(kv, "deadlocks");
    extract_text_putc(kv->text, '[');
    for (size_t i = 0; i < crash->deadlock_count; i++) {
        extract_text_puts(kv->text, i ? ",[" : "[");
        for (size_t k = 0; k < crash->deadlocks[i].count; k++) {
            const struct extract_kernel_thread *thread =
                &kernel->threads[crash->cycle[crash->deadlocks[i].first + k]];
            if (k)
                extract_text_putc(kv->text, ',');
            extract_text_json(kv->text, thread->name);
        }
        extract_text_putc(kv->text, ']');
    }
    extract_text_putc(kv->text, ']');
    kv_put_key(kv, "findings");
    extract_text_putc(kv->text, '[');
    for (size_t i = 0; i < crash->finding_count; i++) {
        const struct extract_finding *finding = &crash->findings[i];
        if (i)
            extract_text_putc(kv->text, ',');
        struct kv_writer object = kv_open_object(kv->text);
        kv_put_string(&object, "kind", finding->kind);
        kv_put_string(&object, "text", finding->text);
        kv_put_string(&object, "source", finding->source);
        kv_put_string(&object, "certainty", extract_crash_certainty_name(finding->certainty));
        kv_close_object(&object);
    }
    extract_text_putc(kv->text, ']');
}

// Writes the lines of a report as the elements of a list.
static void put_events_json(struct kv_writer *kv, const struct extract_text *events)
{
    size_t used = events ? events->used : 0;

    kv_put_key(kv, "events");
    extract_text_putc(kv->text, '[');
    while (used && events->data[used - 1] == '\n')
        used--;
    for (size_t i = 0; i < used; i++)
        extract_text_putc(kv->text, events->data[i] == '\n' ? ',' : events->data[i]);
    extract_text_putc(kv->text, ']');
}

static void put_json(struct extract_text *text, const struct extract_crash *crash,
                     const struct extract_text *events)
{
    struct kv_writer kv;

    kv_open(&kv, text, true);
    put_cause_json(&kv, crash);
    put_place_json(&kv, crash);
    put_frames_json(&kv, crash);
    kv_put_key(&kv, "threads");
    extract_text_putc(text, '[');
    for (size_t i = 0; crash->kernel && i < crash->kernel->thread_count && !text->code; i++) {
        if (i)
            extract_text_putc(text, ',');
        threads_put_json(text, crash->kernel, i, &crash->waits[i]);
    }
    extract_text_putc(text, ']');
    kv_put_key(&kv, "objects");
    extract_text_putc(text, '[');
    for (size_t i = 0; crash->kernel && i < crash->kernel->object_count && !text->code; i++) {
        if (i)
            extract_text_putc(text, ',');
        objects_put_json(text, &crash->kernel->objects[i]);
    }
    extract_text_putc(text, ']');
    put_findings_json(&kv, crash);
    put_events_json(&kv, events);
    kv_close(&kv);
}

// ---- text ----

static void put_heading(struct extract_text *text, const char *heading,
                        const struct extract_report_options *options)
{
    extract_text_printf(text, options->color ? "\n\033[1m%s\033[0m\n" : "\n%s\n", heading);
}

static void put_place(struct extract_text *text, const struct extract_crash *crash)
{
    const struct extract_crash_place *place = &crash->place;
    char line[EXTRACT_SOURCE_LINE];

    extract_text_puts(text, "where   ");
    if (!place->is_known) {
        extract_text_puts(text, "unknown\n");
        return;
    }
    if (place->function) {
        extract_text_escaped(text, place->function);
        if (place->offset)
            extract_text_printf(text, "+%llu", (unsigned long long)place->offset);
        if (place->line.file) {
            extract_text_puts(text, " at ");
            extract_text_escaped(text, place->line.file);
            extract_text_printf(text, ":%u", place->line.line);
        }
        extract_text_puts(text, ", ");
    }
    extract_text_puts(text, "pc ");
    extract_text_hex(text, place->pc, 8);
    extract_text_printf(text, " (%s)\n", extract_crash_certainty_name(place->certainty));
    if (read_source_line(&place->line, line)) {
        extract_text_printf(text, "        %u: ", place->line.line);
        extract_text_escaped(text, line + strspn(line, " "));
        extract_text_putc(text, '\n');
    }
}

static void put_frames(struct extract_text *text, const struct extract_crash *crash,
                       const struct extract_report_options *options)
{
    if (crash->frame_count < 2)
        return;
    put_heading(text, "Stack", options);
    for (size_t i = 0; i < crash->frame_count; i++) {
        const struct extract_frame *frame = &crash->frames[i];
        extract_text_printf(text, "#%-2zu ", i);
        extract_text_hex(text, frame->pc, 8);
        extract_text_putc(text, ' ');
        extract_text_escaped(text, frame->function ? frame->function : "?");
        if (frame->place.file) {
            extract_text_puts(text, " at ");
            extract_text_escaped(text, frame->place.file);
            extract_text_printf(text, ":%u", frame->place.line);
        }
        extract_text_putc(text, '\n');
    }
}

static void put_context(struct extract_text *text, const struct extract_crash *crash)
{
    extract_text_puts(text, "in      ");
    if (crash->lwp && !crash->thread) {
        extract_text_printf(text, "thread %llu (certain)", (unsigned long long)crash->lwp);
        if (crash->core_count > 1 && !crash->kernel)
            extract_text_printf(text, ", of %zu", crash->core_count);
    } else if (crash->thread) {
        extract_text_puts(text, "thread ");
        kernel_put_name(text, crash->thread->name, crash->thread->address);
        extract_text_printf(text, " (%s)", extract_crash_certainty_name(crash->thread_certainty));
        if (crash->lwp && has_core(crash))
            extract_text_printf(text, ", thread %llu of the process",
                                (unsigned long long)crash->lwp);
        if (*crash->context)
            extract_text_printf(text, ", interrupted by %s", crash->context);
    } else if (crash->last_thread) {
        extract_text_puts(text, "thread ");
        kernel_put_name(text, crash->last_thread_name, crash->last_thread);
        extract_text_printf(text, " (%s), the last one before the reset",
                            extract_crash_certainty_name(crash->thread_certainty));
    } else if (crash->has_no_thread) {
        extract_text_printf(text, "%s%sno thread: the kernel has none for running (%s)",
                            crash->context, *crash->context ? ", " : "",
                            extract_crash_certainty_name(crash->thread_certainty));
    } else {
        extract_text_puts(text, *crash->context ? crash->context : "unknown");
    }
    if (crash->core_count > 1 && (!crash->lwp || crash->kernel) && has_core(crash))
        extract_text_printf(text, ", on core %u", crash->core);
    extract_text_putc(text, '\n');
}

static void put_registers(struct extract_text *text, const struct extract_crash *crash,
                          const struct extract_report_options *options)
{
    bool is_wide = false;
    unsigned printed = 0;
    char heading[48];

    if (!known_registers(crash))
        return;
    if (crash->lwp)
        snprintf(heading, sizeof heading, "Registers of thread %llu",
                 (unsigned long long)crash->lwp);
    else
        snprintf(heading, sizeof heading,
                 crash->core_count > 1 ? "Registers of core %u" : "Registers", crash->core);
    put_heading(text, heading, options);
    for (unsigned i = 0; i < EXTRACT_REGISTERS; i++)
        is_wide |= known_registers(crash) >> i & 1 && crash->registers.value[i] > UINT32_MAX;
    const unsigned columns = is_wide ? 3 : 4;
    for (unsigned i = 0; i < EXTRACT_REGISTERS; i++) {
        char cell[64];
        if (!(known_registers(crash) >> i & 1))
            continue;
        snprintf(cell, sizeof cell, "%s 0x%08llx", extract_crash_register(crash, i),
                 (unsigned long long)crash->registers.value[i]);
        if (++printed % columns)
            extract_text_printf(text, "%-*s ", is_wide ? 28 : 19, cell);
        else
            extract_text_printf(text, "%s\n", cell);
    }
    if (printed % columns)
        extract_text_putc(text, '\n');
}

static void put_findings(struct extract_text *text, const struct extract_crash *crash,
                         const struct extract_report_options *options)
{
    static const char *const headings[] = {"how sure", "source", "finding"};
    struct text_table table;

    if (!crash->finding_count)
        return;
    put_heading(text, "Findings", options);
    text_table_open(&table, sizeof headings / sizeof *headings, 0);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < crash->finding_count; i++) {
        const struct extract_finding *finding = &crash->findings[i];
        text_table_put_string(&table, extract_crash_certainty_name(finding->certainty));
        text_table_put_string(&table, finding->source);
        extract_text_printf(&table.cells, "%s: ", finding->kind);
        extract_text_escaped(&table.cells, finding->text);
        text_table_end_cell(&table);
    }
    text_table_print(&table, text, options);
}

static void put_html(struct extract_text *text, const struct extract_crash *crash,
                     const struct extract_text *events,
                     const struct extract_report_options *options)
{
    struct extract_report_options plain = *options;
    char line[EXTRACT_SOURCE_LINE] = "";
    struct extract_text threads, objects;

    plain.color = false;
    extract_text_init(&threads, NULL, NULL);
    extract_text_init(&objects, NULL, NULL);
    if (crash->kernel && crash->kernel->thread_count)
        threads_put_table(&threads, crash->kernel, crash->waits, crash->hz, &plain);
    if (crash->kernel && crash->kernel->object_count)
        objects_put_table(&objects, crash->kernel, &plain);
    if (!read_source_line(&crash->place.line, line))
        line[0] = 0;
    crash_put_html(text, crash, line, &threads, &objects, events);
    if (threads.code || objects.code)
        text->code = threads.code ? threads.code : objects.code;
    extract_text_free(&threads);
    extract_text_free(&objects);
}

enum extract_code extract_report_crash(struct extract_text *text, const struct extract_crash *crash,
                                       const struct extract_text *events,
                                       const struct extract_report_options *options)
{
    if (options->json) {
        put_json(text, crash, events);
        return text->code;
    }
    if (options->html) {
        put_html(text, crash, events, options);
        return text->code;
    }
    extract_text_printf(text, "cause   %s: ", crash->kind);
    extract_text_escaped(text, crash->text);
    extract_text_printf(text, " (%s, %s)\n", extract_crash_certainty_name(crash->certainty),
                        crash->source);
    put_place(text, crash);
    put_context(text, crash);
    put_frames(text, crash, options);
    put_findings(text, crash, options);
    put_registers(text, crash, options);
    if (crash->kernel && crash->kernel->thread_count) {
        put_heading(text, "Threads", options);
        threads_put_table(text, crash->kernel, crash->waits, crash->hz, options);
    }
    if (crash->kernel && crash->kernel->object_count) {
        put_heading(text, "Objects", options);
        objects_put_table(text, crash->kernel, options);
    }
    if (events && events->used) {
        put_heading(text, "Newest events", options);
        extract_text_put(text, events->data, events->used);
    }
    return text->code;
}
