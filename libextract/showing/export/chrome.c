// SPDX-License-Identifier: MIT
// export: Trace Event JSON, which chrome://tracing, Perfetto and speedscope open.
//
// Process 1 has a track per thread, process 2 a track per core with what had it, and counters.
// Times are microseconds with three decimals; without a clock rate, a tick is a nanosecond. Source:
// "Trace Event Format" (Google, public document): events M, X, i, s, f and C.
#include "base/hash.h"
#include "export/exporter.h"
#include "export/flows.h"
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 1, CORES = 2, PROCESSES = 4 }; // processes; a factor above both

struct chrome {
    struct export_numbers threads; // addresses
    struct export_numbers cores;
    struct export_flows *wakes; // by number of the thread: from track * PROCESSES + process; owned
    size_t wake_count;
    uint64_t flows; // number of them
    bool has_line;
    struct extract_map names; // by hash: an object with the name, + 1, or SHARED
};

#define SHARED UINT32_MAX // several objects have the name

// Names that have one hash count as one.
static uint64_t hash_name(const char *name)
{
    return extract_hash(name, strlen(name));
}

// Notes which names several objects have.
static bool note_names(struct chrome *chrome, const struct extract_trace *trace)
{
    const struct extract_object *objects;
    size_t count = extract_trace_objects(trace, &objects);

    if (!extract_map_init(&chrome->names, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        uint32_t *first = extract_map_at(&chrome->names, hash_name(objects[i].shown));
        if (!first)
            return false;
        bool is_shared = *first && (*first == SHARED || objects[*first - 1].key != objects[i].key);
        *first = is_shared ? SHARED : (uint32_t)i + 1;
    }
    return true;
}

static void put_line(struct export_run *run)
{
    struct chrome *chrome = run->state;

    extract_text_puts(run->text, chrome->has_line ? ",\n" : "\n");
    chrome->has_line = true;
}

static void put_time(struct export_run *run, const char *key, uint64_t ticks)
{
    uint64_t ns = export_ns(run, ticks);
    struct text_writer writer;

    extract_text_puts(run->text, key);
    text_writer_open(&writer, run->text);
    if (text_writer_need(&writer, 2 * TEXT_WRITER_NUMBER)) {
        text_writer_dec(&writer, ns / 1000);
        text_writer_char(&writer, '.');
        text_writer_fixed(&writer, ns % 1000, 3);
    }
    text_writer_close(&writer);
}

static void put_track(struct export_run *run, unsigned process, size_t track)
{
    extract_text_puts(run->text, ",\"pid\":");
    extract_text_dec(run->text, process);
    extract_text_puts(run->text, ",\"tid\":");
    extract_text_dec(run->text, track);
}

static void put_meta(struct export_run *run, const char *what, unsigned process, size_t track,
                     const char *name)
{
    put_line(run);
    extract_text_puts(run->text, "{\"ph\":\"M\",\"name\":");
    extract_text_json(run->text, what);
    put_track(run, process, track);
    extract_text_puts(run->text, ",\"args\":{\"name\":");
    extract_text_json(run->text, name);
    extract_text_puts(run->text, "}}");
}

// Returns the track of a thread, which it names when it is first used. Track 0 is that of
// interrupts and of code before the first thread.
static size_t thread_track(struct export_run *run, uint64_t thread)
{
    struct chrome *chrome = run->state;
    size_t known = chrome->threads.count;
    char buffer[EXPORT_NAME_BYTES];

    if (!thread)
        return 0;
    size_t number = export_number(run, &chrome->threads, thread);
    if (number == known)
        put_meta(run, "thread_name", THREADS, number + 1, export_name(run, true, thread, buffer));
    return number + 1;
}

static size_t core_track(struct export_run *run, unsigned core)
{
    struct chrome *chrome = run->state;
    size_t known = chrome->cores.count;
    char name[24];

    if (export_number(run, &chrome->cores, core) == known) {
        snprintf(name, sizeof name, "core %u", core);
        put_meta(run, "thread_name", CORES, core, name);
    }
    return core;
}

static void put_loss(struct export_run *run, const struct extract_event *marker);

static void begin(struct export_run *run)
{
    struct extract_event marker;

    if (!note_names(run->state, run->trace)) {
        export_fail(run, EXTRACT_NOMEM, "export", "out of memory");
        return;
    }
    extract_text_puts(run->text, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"format\":");
    extract_text_json(run->text, extract_trace_info(run->trace)->format);
    if (extract_trace_info(run->trace)->lost_known)
        extract_text_printf(run->text, ",\"events_lost\":%llu",
                            (unsigned long long)extract_trace_info(run->trace)->events_lost);
    extract_text_puts(run->text, run->hz ? "},\"traceEvents\":["
                                         : ",\"clock\":\"unknown rate: 1 tick is shown as 1 ns\"},"
                                           "\"traceEvents\":[");
    put_meta(run, "process_name", THREADS, 0, "threads");
    put_meta(run, "process_name", CORES, 0, "cores");
    put_meta(run, "thread_name", THREADS, 0, "interrupts and start-up");
    if (export_mark_lost_sometime(run, &marker))
        put_loss(run, &marker);
}

static void put_arguments(struct export_run *run, const struct extract_event *event)
{
    size_t length;
    const char *text = export_event_text(run, event, &length);

    extract_text_puts(run->text, ",\"args\":{\"text\":\"");
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"' || text[i] == '\\')
            extract_text_putc(run->text, '\\');
        extract_text_putc(run->text, text[i] == '\n' ? ' ' : text[i]);
    }
    extract_text_puts(run->text, "\",\"seq\":");
    extract_text_dec(run->text, event->seq);
    extract_text_puts(run->text, "}}");
}

static void put_event(struct export_run *run, const struct extract_event *event)
{
    size_t track = thread_track(run, event->context == EXTRACT_THREAD ? event->thread : 0);

    if (event->flags & EXTRACT_FLAG_UNTIMED)
        return;
    put_line(run);
    extract_text_puts(run->text, "{\"ph\":\"i\",\"s\":\"t\",\"name\":");
    extract_text_json(run->text, export_event_name(run, event));
    put_track(run, THREADS, track);
    put_time(run, ",\"ts\":", event->ticks);
    put_arguments(run, event);
}

static void put_loss(struct export_run *run, const struct extract_event *marker)
{
    put_line(run);
    extract_text_puts(run->text, "{\"ph\":\"i\",\"s\":\"g\",\"name\":");
    extract_text_json(run->text, marker->type->name);
    put_track(run, THREADS, 0);
    put_time(run, ",\"ts\":", marker->ticks);
    put_arguments(run, marker);
}

static void put_slice_of(struct export_run *run, const char *name, unsigned process, size_t track,
                         uint64_t from, uint64_t to)
{
    uint64_t end = export_ns(run, to);

    put_line(run);
    extract_text_puts(run->text, "{\"ph\":\"X\",\"name\":");
    extract_text_json(run->text, name);
    put_track(run, process, track);
    put_time(run, ",\"ts\":", from);
    uint64_t ns = end - export_ns(run, from);
    extract_text_printf(run->text, ",\"dur\":%llu.%03u}", (unsigned long long)(ns / 1000),
                        (unsigned)(ns % 1000));
}

// Writes the flow that leads to a thread's slice, if the thread was woken before.
static void put_flow(struct export_run *run, size_t track, uint64_t at)
{
    struct chrome *chrome = run->state;
    struct export_flow flow = {0, 0};

    if (track && track <= chrome->wake_count)
        flow = export_flows_take(&chrome->wakes[track - 1], at);
    if (!flow.from)
        return;
    put_line(run);
    extract_text_puts(run->text, "{\"ph\":\"s\",\"name\":\"wake\",\"cat\":\"wake\",\"id\":");
    extract_text_dec(run->text, ++chrome->flows);
    put_track(run, (unsigned)(flow.from % PROCESSES), flow.from / PROCESSES);
    put_time(run, ",\"ts\":", flow.at);
    extract_text_puts(run->text,
                      "},\n{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"wake\",\"cat\":\"wake\","
                      "\"id\":");
    extract_text_dec(run->text, chrome->flows);
    put_track(run, THREADS, track);
    put_time(run, ",\"ts\":", at);
    extract_text_putc(run->text, '}');
}

static void put_slice(struct export_run *run, const struct extract_interval *slice)
{
    char name[EXPORT_NAME_BYTES + 24], buffer[EXPORT_NAME_BYTES];
    size_t core = core_track(run, slice->core);
    const char *shown = extract_runner_name(slice->runner);

    if (slice->runner == EXTRACT_RUNNER_THREAD) {
        shown = export_name(run, true, slice->thread, buffer);
    } else if (slice->runner == EXTRACT_RUNNER_ISR && slice->isr_known) {
        snprintf(name, sizeof name, "interrupt %llu", (unsigned long long)slice->isr);
        shown = name;
    }
    put_slice_of(run, shown, CORES, core, slice->from, slice->to);
}

static void put_state(struct export_run *run, const struct extract_state *state)
{
    size_t track = thread_track(run, state->thread);

    put_slice_of(run, extract_thread_state_name(state->state), THREADS, track, state->from,
                 state->to);
    if (state->state == EXTRACT_STATE_RUNNING)
        put_flow(run, track, state->from);
}

static void put_wake(struct export_run *run, const struct extract_wake *wake)
{
    struct chrome *chrome = run->state;
    bool by_thread = wake->by && !wake->in_isr;
    size_t by = by_thread ? thread_track(run, wake->by) : core_track(run, wake->core);
    size_t track = thread_track(run, wake->thread);

    if (wake->is_suspended || !track || track - 1 >= chrome->threads.count)
        return;
    if (chrome->wake_count < chrome->threads.count) {
        size_t count = chrome->threads.capacity;
        struct export_flows *wakes = realloc(chrome->wakes, count * sizeof *wakes);
        if (!wakes) {
            export_fail(run, EXTRACT_NOMEM, "export", "out of memory");
            return;
        }
        memset(&wakes[chrome->wake_count], 0, (count - chrome->wake_count) * sizeof *wakes);
        chrome->wakes = wakes;
        chrome->wake_count = count;
    }
    export_flows_add(&chrome->wakes[track - 1], wake->at,
                     by * PROCESSES + (by_thread ? THREADS : CORES));
}

// Writes the id of an object's counter: its name, and its address if others have the name, too.
static void put_counter_id(struct export_run *run, const struct export_counter *counter)
{
    struct chrome *chrome = run->state;
    char buffer[EXPORT_NAME_BYTES], both[EXPORT_NAME_BYTES + 24];
    const char *name =
        export_name(run, counter->kind == EXPORT_COUNTER_STACK, counter->object, buffer);

    if (extract_map_get(&chrome->names, hash_name(name)) == SHARED) {
        snprintf(both, sizeof both, "%s 0x%llx", name, (unsigned long long)counter->object);
        name = both;
    }
    extract_text_json(run->text, name);
}

static void put_counter(struct export_run *run, const struct export_counter *counter)
{
    bool is_load = counter->kind == EXPORT_COUNTER_LOAD;

    put_line(run);
    extract_text_puts(run->text, "{\"ph\":\"C\",\"name\":\"");
    extract_text_puts(run->text, export_counter_name(counter->kind));
    extract_text_puts(run->text, "\",\"id\":");
    if (is_load)
        extract_text_printf(run->text, "\"core %u\"", (unsigned)counter->object);
    else
        put_counter_id(run, counter);
    put_track(run, is_load ? CORES : THREADS, 0);
    put_time(run, ",\"ts\":", counter->at);
    extract_text_puts(run->text, ",\"args\":{\"value\":");
    if (counter->is_unknown)
        extract_text_printf(run->text, "%d", EXPORT_UNKNOWN);
    else if (is_load)
        extract_text_printf(run->text, "%u.%u", (unsigned)(counter->value / 10),
                            (unsigned)(counter->value % 10));
    else
        extract_text_dec(run->text, counter->value);
    extract_text_puts(run->text, "}}");
}

static void end(struct export_run *run)
{
    extract_text_puts(run->text, "\n]}\n");
}

static void close_chrome(struct export_run *run)
{
    struct chrome *chrome = run->state;

    export_numbers_free(&chrome->threads);
    export_numbers_free(&chrome->cores);
    free(chrome->wakes);
    extract_map_free(&chrome->names);
}

const struct exporter export_chrome = {
    .kind = {"chrome", ".json", "Trace Event JSON, for chrome://tracing", EXTRACT_EXPORT_STREAM},
    .state_bytes = sizeof(struct chrome),
    .begin = begin,
    .event = put_event,
    .slice = put_slice,
    .state = put_state,
    .wake = put_wake,
    .counter = put_counter,
    .loss = put_loss,
    .end = end,
    .close = close_chrome,
};
