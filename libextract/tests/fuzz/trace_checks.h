// SPDX-License-Identifier: MIT
// Fuzz targets: what must hold for a trace of any format, whatever its bytes: what it tells of
// itself agrees, no text controls a terminal, and what is saved shows the same events.
#ifndef FUZZ_TRACE_CHECKS_H
#define FUZZ_TRACE_CHECKS_H

#include <extract/session.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BATCH = 64 };

static inline void check(bool holds)
{
    if (!holds)
        __builtin_trap();
}

// ---- A trace by itself ----

static inline void check_info(const struct extract_trace *trace)
{
    const struct extract_info *info = extract_trace_info(trace);
    const struct extract_snapshot *snapshot = extract_trace_snapshot(trace);
    uint64_t sum = 0;
    for (unsigned i = 0; i < EXTRACT_VERDICTS; i++)
        sum += snapshot->counts[i];
    check(info->entries_total == snapshot->ring.entries.count);
    check(sum == info->entries_total);
    check(info->entries_valid + info->entries_damaged + info->entries_unused == sum);
}

static inline void check_objects(const struct extract_trace *trace)
{
    const struct extract_object *objects;
    size_t count = extract_trace_objects(trace, &objects);
    for (size_t i = 0; i < count; i++) {
        check(objects[i].shown[0] && objects[i].shown_bytes == strlen(objects[i].shown));
        check(objects[i].name && objects[i].type_name && objects[i].param_types);
        check(extract_trace_object(trace, objects[i].address) != NULL);
    }
}

static inline void check_event(const struct extract_event *event, const struct extract_event *last)
{
    check(event->type && event->type->symbol && event->type->name);
    check(event->fields <= EXTRACT_FIELDS_MAX && event->context <= EXTRACT_INIT);
    if (!last) {
        check(event->seq == 0 && event->ticks == 0);
        return;
    }
    check(event->seq == last->seq + 1 && event->slot != last->slot);
    check(event->ticks >= last->ticks || (event->flags & EXTRACT_FLAG_BACKWARDS));
}

// Returns whether time never steps back.
static inline bool check_events(const struct extract_trace *trace)
{
    struct extract_event events[BATCH], last;
    struct extract_reader reader;
    size_t count, total = 0;
    bool forward = true;
    extract_reader_init(&reader, trace);
    while ((count = extract_reader_next(&reader, events, BATCH)))
        for (size_t i = 0; i < count; i++) {
            check_event(&events[i], total++ ? &last : NULL);
            last = events[i];
            forward = forward && !(last.flags & EXTRACT_FLAG_BACKWARDS);
        }
    check(total == extract_trace_info(trace)->entries_valid);
    check(!total || last.ticks == extract_trace_info(trace)->span_ticks);
    return forward;
}

static inline void check_stats(const struct extract_trace *trace, bool forward)
{
    struct extract_filter *filter = NULL;
    struct extract_view *view = NULL;
    struct extract_stats *stats = NULL;
    uint64_t ticks, services = 0;
    check(!extract_filter_new(&filter, NULL) && !extract_view_new(&view, filter, trace, 0, NULL) &&
          !extract_stats_new(&stats, view, trace, NULL));
    ticks = stats->idle_ticks + stats->interrupt_ticks + stats->init_ticks;
    for (size_t i = 0; i < stats->thread_count; i++)
        ticks += stats->threads[i].ticks;
    for (size_t i = 0; i < stats->service_count; i++)
        services += stats->services[i].count;
    check(stats->events == extract_trace_info(trace)->entries_valid && services == stats->events);
    check(!forward || ticks <= stats->span_ticks);
    extract_stats_free(stats);
    extract_view_free(view);
    extract_filter_free(filter);
}

static inline void check_trace(const struct extract_trace *trace)
{
    check_info(trace);
    check_objects(trace);
    check_stats(trace, check_events(trace));
}

// ---- Reports ----

static inline void check_text(const struct extract_text *text)
{
    check(!text->code);
    for (size_t i = 0; i < text->used; i++) {
        unsigned char c = (unsigned char)text->data[i];
        check((c >= 0x20 || c == '\n') && c != 0x7f);
    }
}

static inline void run_verbs(struct extract_session *session)
{
    static const char *const verbs[] = {"info", "objects", "report", "stats", "damage", "cost"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        struct extract_text text;
        extract_text_init(&text, NULL, NULL);
        check(extract_session_run(session, verbs[i], &text, NULL) == EXTRACT_OK);
        check_text(&text);
        extract_text_free(&text);
    }
    check(extract_session_shown(session) ==
          extract_trace_info(extract_session_trace(session))->entries_valid);
}

// ---- Saving ----

static inline bool same_event(const struct extract_event *a, const struct extract_event *b)
{
    return a->ticks == b->ticks && a->raw_stamp == b->raw_stamp && a->thread == b->thread &&
           a->id == b->id && a->context == b->context && a->core == b->core && a->slot == b->slot &&
           !memcmp(a->field, b->field, a->fields * sizeof *a->field) &&
           a->data_bytes == b->data_bytes &&
           (!a->data_bytes || !memcmp(a->data, b->data, a->data_bytes));
}

static inline void check_same(const struct extract_trace *a, const struct extract_trace *b)
{
    struct extract_event x[BATCH], y[BATCH];
    struct extract_reader from_a, from_b;
    size_t count;
    extract_reader_init(&from_a, a);
    extract_reader_init(&from_b, b);
    do {
        count = extract_reader_next(&from_a, x, BATCH);
        check(extract_reader_next(&from_b, y, BATCH) == count);
        for (size_t i = 0; i < count; i++)
            check(same_event(&x[i], &y[i]));
    } while (count);
}

// What was saved and lies at the same address shows the same events. A look that shows none may
// have nothing that can be opened.
static inline void check_saved(const struct extract_trace *trace)
{
    struct extract_memory *memory;
    struct extract_text text;
    uint64_t address = extract_trace_snapshot(trace)->ring.address;
    extract_text_init(&text, NULL, NULL);
    check(extract_export_ring(&text, trace, NULL) == EXTRACT_OK);
    check(extract_memory_new_images(&memory, NULL) == EXTRACT_OK);
    check(!extract_memory_add_bytes(memory, "saved", text.data, text.used, address, NULL));
    struct extract_session_options options = {
        .size = sizeof options, .ring_known = true, .ring = address};
    struct extract_session *session;
    check(!extract_session_open(&session, memory, NULL, &options, NULL));
    check_same(trace, extract_session_trace(session));
    extract_session_close(session);
    extract_memory_close(memory);
    extract_text_free(&text);
}

// The path of a file that holds these bytes, until the next call.
static inline const char *file_of(const uint8_t *data, size_t size)
{
    static char path[64];
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    check(fd >= 0 && !ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

#endif
