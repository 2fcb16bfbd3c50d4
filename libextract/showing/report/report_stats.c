// SPDX-License-Identifier: MIT
// report: the statistics of a trace. Prints totals, then one table of threads and one of events, or
// a single JSON object. Times are unknown if the format's events do not show a schedule.
#include "report/report_room.h"
#include "report/text_table.h"

// ---- totals ----

void stats_note_range(struct kv_writer *kv, const struct extract_stats *stats)
{
    if (stats->events != stats->range_events)
        kv_put_note(kv,
                    "times and percentages are those of all %llu events, counts those of the "
                    "filtered ones",
                    (unsigned long long)stats->range_events);
}

static void put_inversions(struct kv_writer *kv, const struct extract_stats *stats)
{
    if (!kv->is_json && !stats->has_tracex) {
        if (!stats->has_inversions)
            kv_put_unknown(kv, "priority inversions");
        else
            kv_put_number(kv, "priority inversions", stats->inversion_count);
        if (stats->inversions_unsure)
            kv_put_number(kv, "maybe inversions", stats->inversions_unsure);
        return;
    }
    kv_put_key(kv, "priority inversions");
    if (!kv->is_json) {
        extract_text_printf(kv->text, "%llu deterministic, %llu undeterministic",
                            (unsigned long long)stats->inversions_deterministic,
                            (unsigned long long)stats->inversions_undeterministic);
        if (stats->inversions_unsure)
            kv_put_number(kv, "maybe inversions", stats->inversions_unsure);
        return;
    }
    struct kv_writer object = kv_open_object(kv->text);
    kv_put_optional(&object, "deterministic", stats->has_tracex, stats->inversions_deterministic);
    kv_put_optional(&object, "undeterministic", stats->has_tracex,
                    stats->inversions_undeterministic);
    kv_close_object(&object);
}

static void put_ticks(struct kv_writer *kv, const char *key, const struct extract_stats *stats,
                      uint64_t ticks, uint64_t hz)
{
    kv_put_optional(kv, key, stats->has_loads, ticks);
    if (stats->has_loads)
        kv_put_seconds(kv, ticks, hz);
}

// Notes how TraceX counts, if that is another number.
static void note_tracex(struct kv_writer *kv, const struct extract_stats *stats, uint64_t ours,
                        uint64_t theirs)
{
    if (stats->has_tracex && ours != theirs)
        kv_put_note(kv, "TraceX: %llu", (unsigned long long)theirs);
}

static void put_switches(struct kv_writer *kv, const struct extract_stats *stats)
{
    static const char *const kinds[] = {"gave up",     "yielded", "preempted",
                                        "time sliced", "other",   "unknown"};
    bool is_known = stats->has_loads;
    uint64_t preemptions = stats->switches[EXTRACT_SWITCH_PREEMPTED];
    uint64_t unknown = stats->switches[EXTRACT_SWITCH_UNKNOWN];

    kv_put_optional(kv, "context switches", is_known, stats->context_switches);
    if (is_known && stats->unsure_ticks)
        kv_put_note(kv, "at least");
    note_tracex(kv, stats, stats->context_switches, stats->tracex.context_switches);
    bool is_hidden = stats->core_count > 1 && stats->unsure_ticks; // on cores that recorded nothing
    bool is_minimum = !kv->is_json && (unknown || is_hidden) && preemptions;
    kv_put_optional(kv, "preemptions",
                    stats->has_switch_kinds && ((!unknown && !is_hidden) || is_minimum),
                    preemptions);
    if (is_minimum)
        kv_put_note(kv, "at least");
    note_tracex(kv, stats, preemptions, stats->tracex.preemptions);
    kv_put_optional(kv, "time slices", stats->knows_time_slices, stats->time_slices);
    note_tracex(kv, stats, stats->time_slices, stats->tracex.time_slices);
    if (!kv->is_json && !stats->has_switch_kinds)
        return;
    kv_put_key(kv, "switch kinds");
    if (!kv->is_json) {
        for (unsigned i = 0; i < EXTRACT_SWITCHES - !unknown; i++)
            extract_text_printf(kv->text, "%s%llu %s", i ? ", " : "",
                                (unsigned long long)stats->switches[i], kinds[i]);
        if (is_hidden)
            kv_put_note(kv, "each at least");
        return;
    }
    struct kv_writer object = kv_open_object(kv->text);
    for (unsigned i = 0; i < EXTRACT_SWITCHES; i++)
        kv_put_optional(&object, kinds[i], stats->has_switch_kinds, stats->switches[i]);
    kv_close_object(&object);
    kv_put_key(kv, "tracex");
    object = kv_open_object(kv->text);
    is_known = stats->has_tracex;
    kv_put_optional(&object, "context switches", is_known, stats->tracex.context_switches);
    kv_put_optional(&object, "preemptions", is_known, stats->tracex.preemptions);
    kv_put_optional(&object, "time slices", is_known, stats->tracex.time_slices);
    kv_close_object(&object);
}

static void put_totals(struct kv_writer *kv, const struct extract_stats *stats, uint64_t hz)
{
    kv_put_number(kv, "events", stats->events);
    put_switches(kv, stats);
    kv_put_number(kv, "suspends", stats->suspends);
    kv_put_number(kv, "resumes", stats->resumes);
    kv_put_number(kv, "interrupts", stats->interrupts);
    kv_put_number(kv, "nested interrupts", stats->nested_interrupts);
    put_inversions(kv, stats);
    put_ticks(kv, "idle ticks", stats, stats->idle_ticks, hz);
    if (kv->is_json || stats->maybe_idle_ticks) {
        put_ticks(kv, "maybe idle ticks", stats, stats->maybe_idle_ticks, hz);
        kv_put_note(kv, "of threads without a name");
    }
    put_ticks(kv, "interrupt ticks", stats, stats->interrupt_ticks, hz);
    put_ticks(kv, "init ticks", stats, stats->init_ticks, hz);
    if (kv->is_json || stats->unknown_ticks)
        put_ticks(kv, "unknown ticks", stats, stats->unknown_ticks, hz);
    if (kv->is_json || stats->unsure_ticks) {
        put_ticks(kv, "unsure ticks", stats, stats->unsure_ticks, hz);
        kv_put_note(kv, "in which the events do not prove who had a core");
    }
    kv_put_number(kv, "span ticks", stats->span_ticks);
    kv_put_seconds(kv, stats->span_ticks, hz);
    if (stats->span_is_minimum)
        kv_put_note(kv, "at least");
    if (stats->gaps)
        kv_put_note(kv, "without %llu gap%s", (unsigned long long)stats->gaps,
                    stats->gaps == 1 ? "" : "s");
    kv_put_likely_modulus(kv, stats->likely_modulus, stats->modulus_above);
    kv_put_still_clock(kv, stats->clock_is_still);
    stats_note_range(kv, stats);
    if (kv->is_json)
        stats_put_figures_json(kv, stats);
    else
        stats_put_figures(kv, stats);
}

// ---- JSON ----

static void put_thread_json(struct extract_text *text, const struct extract_thread_stats *thread,
                            const struct extract_stats *stats)
{
    const char *name = value_name_of_object(thread->thread);
    bool knows_states = stats->has_waits && thread->has_states;
    bool has_priority = thread->priority_low != EXTRACT_NO_PRIORITY;
    struct kv_writer kv = kv_open_object(text);

    if (name)
        kv_put_string(&kv, "name", name);
    else
        kv_put_unknown(&kv, "name");
    kv_put_number(&kv, "address", thread->thread->key);
    kv_put_number(&kv, "events", thread->events);
    kv_put_optional(&kv, "ticks", stats->has_loads, thread->ticks);
    if (stats->has_loads) {
        kv_put_key(&kv, "percent");
        text_put_percent(text, thread->ticks, stats->span_ticks);
    } else {
        kv_put_unknown(&kv, "percent");
    }
    kv_put_optional(&kv, "stack size", thread->stack_size != 0, thread->stack_size);
    kv_put_optional(&kv, "stack min free", thread->stack_known, thread->stack_free);
    kv_put_optional(&kv, "stack min seq", thread->stack_known, thread->stack_seq);
    kv_put_optional(&kv, "priority low", has_priority, thread->priority_low);
    kv_put_optional(&kv, "priority high", has_priority, thread->priority_high);
    kv_put_number(&kv, "suspends", thread->suspends);
    kv_put_number(&kv, "resumes", thread->resumes);
    stats_put_services_json(&kv, thread->services, thread->service_count);
    if (stats->has_loads) {
        kv_put_optional(&kv, "ready ticks", knows_states, thread->ready_ticks);
        kv_put_optional(&kv, "blocked ticks", knows_states, thread->blocked_ticks);
        kv_put_optional(&kv, "sleeping ticks", knows_states, thread->sleeping_ticks);
        kv_put_optional(&kv, "suspended ticks", knows_states, thread->suspended_ticks);
        kv_put_number(&kv, "unknown ticks", thread->unknown_ticks);
        stats_put_distribution_json(&kv, "latency", &thread->latency);
        stats_put_distribution_json(&kv, "response", &thread->response);
        stats_put_distribution_json(&kv, "period", &thread->period);
    }
    if (stats->has_modes) {
        kv_put_optional(&kv, "process", thread->process_known, thread->process);
        kv_put_number(&kv, "syscalls", thread->syscalls);
        stats_put_dispatches_json(&kv, &thread->dispatches);
        stats_put_switches_json(&kv, stats, thread->switches);
        stats_put_mode_ticks_json(&kv, thread->mode_ticks);
    }
    kv_close_object(&kv);
}

void stats_put_services_json(struct kv_writer *kv, const struct extract_service_stats *services,
                             size_t count)
{
    struct extract_text *text = kv->text;

    kv_put_key(kv, "services");
    extract_text_putc(text, '[');
    for (size_t i = 0; i < count && !text->code; i++) {
        const struct extract_service_stats *service = &services[i];
        extract_text_puts(text, i ? "," : "");
        struct kv_writer object = kv_open_object(text);
        kv_put_number(&object, "id", service->id);
        kv_put_string(&object, "event", service->type->symbol);
        if (service->named)
            kv_put_string(&object, "name", service->named->name);
        kv_put_string(&object, "class", extract_class_name(service->type->class_));
        kv_put_number(&object, "count", service->count);
        kv_close_object(&object);
    }
    extract_text_putc(text, ']');
}

void stats_put_threads_json(struct kv_writer *kv, const struct extract_stats *stats)
{
    kv_put_key(kv, "threads");
    extract_text_putc(kv->text, '[');
    for (size_t i = 0; i < stats->thread_count && !kv->text->code; i++) {
        extract_text_puts(kv->text, i ? "," : "");
        put_thread_json(kv->text, &stats->threads[i], stats);
    }
    extract_text_putc(kv->text, ']');
}

static void put_json(struct extract_text *text, const struct extract_stats *stats,
                     const struct extract_spans *spans)
{
    struct kv_writer kv;

    kv_open(&kv, text, true);
    put_totals(&kv, stats, 0);
    stats_put_threads_json(&kv, stats);
    stats_put_services_json(&kv, stats->services, stats->service_count);
    if (stats->has_loads)
        stats_put_schedule_json(&kv, stats);
    if (stats->has_modes)
        stats_put_modes_json(&kv, stats);
    if (spans)
        stats_put_spans_json(&kv, stats, spans);
    kv_close(&kv);
}

// ---- text ----

// Writes one priority, or the range of priorities that a thread had.
static void put_priorities(struct text_table *table, const struct extract_thread_stats *thread)
{
    if (thread->priority_low == EXTRACT_NO_PRIORITY)
        extract_text_putc(&table->cells, '-');
    else
        extract_text_dec(&table->cells, thread->priority_low);
    if (thread->priority_high != thread->priority_low) {
        extract_text_putc(&table->cells, '-');
        extract_text_dec(&table->cells, thread->priority_high);
    }
    text_table_end_cell(table);
}

void stats_put_threads(struct extract_text *text, const struct extract_stats *stats,
                       const struct extract_report_options *options)
{
    static const char *const headings[] = {"thread",   "prio",     "events",   "ticks",
                                           "percent",  "ready",    "blocked",  "stack size",
                                           "min free", "at event", "suspends", "resumes"};
    struct text_table table;

    text_table_open(&table, sizeof headings / sizeof *headings, ~1u);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < stats->thread_count && !table.cells.code; i++) {
        const struct extract_thread_stats *thread = &stats->threads[i];
        bool knows_states = stats->has_waits && thread->has_states;
        text_table_put_string(&table, thread->thread->shown);
        put_priorities(&table, thread);
        text_table_put_number(&table, thread->events);
        text_table_put_optional(&table, stats->has_loads, thread->ticks);
        if (stats->has_loads)
            text_put_percent(&table.cells, thread->ticks, stats->span_ticks);
        else
            extract_text_putc(&table.cells, '-');
        text_table_end_cell(&table);
        text_table_put_optional(&table, knows_states, thread->ready_ticks);
        text_table_put_optional(&table, knows_states, thread->blocked_ticks);
        text_table_put_optional(&table, thread->stack_size != 0, thread->stack_size);
        text_table_put_optional(&table, thread->stack_known, thread->stack_free);
        text_table_put_optional(&table, thread->stack_known, thread->stack_seq);
        text_table_put_number(&table, thread->suspends);
        text_table_put_number(&table, thread->resumes);
    }
    text_table_print(&table, text, options);
}

// Appends the cells of a service: its count, its percentage of `all` events, its class and name.
static void put_service(struct text_table *table, const struct extract_service_stats *service,
                        uint64_t all)
{
    text_table_put_number(table, service->count);
    text_put_percent(&table->cells, service->count, all);
    text_table_end_cell(table);
    text_table_put_string(table, extract_class_name(service->type->class_));
    extract_text_escaped(&table->cells, service->type->name);
    if (service->named)
        extract_text_printf(&table->cells, " %s", service->named->shown);
    else if (service->type->range)
        text_put_type_number(&table->cells, service->type, service->id);
    text_table_end_cell(table);
}

void stats_put_services(struct extract_text *text, const struct extract_stats *stats,
                        const struct extract_report_options *options)
{
    enum { COUNT, PERCENT };
    static const char *const headings[] = {"count", "percent", "class", "event"};
    struct text_table table;

    text_table_open(&table, sizeof headings / sizeof *headings, 1u << COUNT | 1u << PERCENT);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < stats->service_count && !table.cells.code; i++) {
        put_service(&table, &stats->services[i], stats->range_events);
    }
    text_table_print(&table, text, options);
}

// Writes the most frequent services of each thread.
static void put_services_of_threads(struct extract_text *text, const struct extract_stats *stats,
                                    const struct extract_report_options *options)
{
    enum { COUNT = 1, PERCENT, MOST = 5 };
    static const char *const headings[] = {"thread", "count", "percent", "class", "event"};
    struct text_table table;
    size_t listed = 0;

    for (size_t i = 0; i < stats->thread_count; i++)
        listed += stats->threads[i].service_count;
    if (!listed)
        return;
    text_table_open(&table, sizeof headings / sizeof *headings, 1u << COUNT | 1u << PERCENT);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < stats->thread_count && !table.cells.code; i++) {
        const struct extract_thread_stats *thread = &stats->threads[i];
        for (size_t k = 0; k < thread->service_count && k < MOST; k++) {
            text_table_put_string(&table, thread->thread->shown);
            put_service(&table, &thread->services[k], thread->events);
        }
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
}

enum extract_code extract_report_stats(struct extract_text *text, const struct extract_stats *stats,
                                       const struct extract_report_options *options)
{
    struct kv_writer kv;

    if (options->json) {
        put_json(text, stats, options->spans);
        return text->code;
    }
    kv_open(&kv, text, false);
    put_totals(&kv, stats, options->hz);
    kv_close(&kv);
    if (!stats->has_loads)
        extract_text_puts(text, "The events of this trace do not show who ran.\n");
    extract_text_putc(text, '\n');
    stats_put_threads(text, stats, options);
    if (stats->has_loads)
        stats_put_schedule(text, stats, options);
    if (stats->has_modes)
        stats_put_modes(text, stats, options);
    stats_put_spans(text, stats, options);
    extract_text_putc(text, '\n');
    stats_put_services(text, stats, options);
    put_services_of_threads(text, stats, options);
    return text->code;
}
