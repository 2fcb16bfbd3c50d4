// SPDX-License-Identifier: MIT
// report: the statistics. In: struct extract_stats. Out: facts and tables, or one JSON object.
#include "report/internal.h"
#include "report/text_table.h"

static void optional_number(struct facts *facts, const char *key, bool known, uint64_t value)
{
    if (known)
        facts_number(facts, key, value);
    else
        facts_unknown(facts, key);
}

static void put_inversions(struct facts *facts, const struct extract_stats *stats)
{
    const char *format = facts->json ? "{\"deterministic\":%llu,\"undeterministic\":%llu}"
                                     : "%llu deterministic, %llu undeterministic";
    if (!stats->has_loads && !facts->json) {
        facts_unknown(facts, "priority inversions");
        return;
    }
    facts_key(facts, "priority inversions");
    if (!stats->has_loads)
        format = "{\"deterministic\":null,\"undeterministic\":null}";
    extract_text_printf(facts->text, format, (unsigned long long)stats->inversions_deterministic,
                        (unsigned long long)stats->inversions_undeterministic);
}

void stats_note_stretch(struct facts *facts, const struct extract_stats *stats)
{
    if (stats->events != stats->stretch_events)
        facts_note(facts,
                   "times and percentages are those of all %llu events, counts those of the "
                   "filtered ones",
                   (unsigned long long)stats->stretch_events);
}

static void put_ticks(struct facts *facts, const char *key, const struct extract_stats *stats,
                      uint64_t ticks, uint64_t hz)
{
    optional_number(facts, key, stats->has_loads, ticks);
    if (stats->has_loads)
        facts_seconds(facts, ticks, hz);
}

static void put_totals(struct facts *facts, const struct extract_stats *stats, uint64_t hz)
{
    bool loads = stats->has_loads;
    facts_number(facts, "events", stats->events);
    optional_number(facts, "context switches", loads, stats->context_switches);
    optional_number(facts, "preemptions", loads, stats->preemptions);
    facts_number(facts, "time slices", stats->time_slices);
    facts_number(facts, "suspends", stats->suspends);
    facts_number(facts, "resumes", stats->resumes);
    facts_number(facts, "interrupts", stats->interrupts);
    facts_number(facts, "nested interrupts", stats->nested_interrupts);
    put_inversions(facts, stats);
    put_ticks(facts, "idle ticks", stats, stats->idle_ticks, hz);
    put_ticks(facts, "interrupt ticks", stats, stats->interrupt_ticks, hz);
    put_ticks(facts, "init ticks", stats, stats->init_ticks, hz);
    facts_number(facts, "span ticks", stats->span_ticks);
    facts_seconds(facts, stats->span_ticks, hz);
    stats_note_stretch(facts, stats);
}

static void json_thread(struct extract_text *text, const struct extract_thread_stats *thread,
                        const struct extract_stats *stats)
{
    const char *name = value_names_of(thread->thread);
    bool prio = thread->priority_low != EXTRACT_NO_PRIORITY;
    struct facts facts = {text, true, true};

    extract_text_putc(text, '{');
    if (name)
        facts_word(&facts, "name", name);
    else
        facts_unknown(&facts, "name");
    facts_number(&facts, "address", thread->thread->address);
    facts_number(&facts, "events", thread->events);
    optional_number(&facts, "ticks", stats->has_loads, thread->ticks);
    if (stats->has_loads) {
        facts_key(&facts, "percent");
        text_table_put_percent(text, thread->ticks, stats->span_ticks);
    } else {
        facts_unknown(&facts, "percent");
    }
    optional_number(&facts, "stack size", thread->stack_size != 0, thread->stack_size);
    optional_number(&facts, "stack min free", thread->stack_known, thread->stack_free);
    optional_number(&facts, "stack min seq", thread->stack_known, thread->stack_seq);
    optional_number(&facts, "priority low", prio, thread->priority_low);
    optional_number(&facts, "priority high", prio, thread->priority_high);
    facts_number(&facts, "suspends", thread->suspends);
    facts_number(&facts, "resumes", thread->resumes);
    extract_text_putc(text, '}');
}

static void json_service(struct extract_text *text, const struct extract_service_stats *service)
{
    struct facts facts = {text, true, true};
    extract_text_putc(text, '{');
    facts_number(&facts, "id", service->id);
    facts_word(&facts, "event", service->type->symbol);
    if (service->named)
        facts_word(&facts, "name", service->named->name);
    facts_word(&facts, "class", extract_class_name(service->type->class_));
    facts_number(&facts, "count", service->count);
    extract_text_putc(text, '}');
}

void stats_put_services_json(struct facts *facts, const struct extract_stats *stats)
{
    struct extract_text *text = facts->text;
    facts_key(facts, "services");
    for (size_t i = 0; i < stats->service_count && !text->code; i++) {
        extract_text_putc(text, i ? ',' : '[');
        json_service(text, &stats->services[i]);
    }
    extract_text_puts(text, stats->service_count ? "]" : "[]");
}

static void put_json(struct extract_text *text, const struct extract_stats *stats)
{
    struct facts facts;
    facts_open(&facts, text, true);
    put_totals(&facts, stats, 0);
    facts_key(&facts, "threads");
    for (size_t i = 0; i < stats->thread_count && !text->code; i++) {
        extract_text_putc(text, i ? ',' : '[');
        json_thread(text, &stats->threads[i], stats);
    }
    extract_text_puts(text, stats->thread_count ? "]" : "[]");
    stats_put_services_json(&facts, stats);
    facts_close(&facts);
}

static void optional_cell(struct text_table *table, bool known, uint64_t value)
{
    if (known)
        text_table_number(table, value);
    else
        text_table_cell(table, "-");
}

static void priority_cell(struct text_table *table, const struct extract_thread_stats *thread)
{
    if (thread->priority_low == EXTRACT_NO_PRIORITY)
        extract_text_putc(&table->cells, '-');
    else
        extract_text_dec(&table->cells, thread->priority_low);
    if (thread->priority_high != thread->priority_low) {
        extract_text_putc(&table->cells, '-');
        extract_text_dec(&table->cells, thread->priority_high);
    }
    text_table_close_cell(table);
}

static void put_threads(struct extract_text *text, const struct extract_stats *stats,
                        const struct extract_report_options *options)
{
    static const char *const heads[] = {"thread",   "prio",       "events",   "ticks",
                                        "percent",  "stack size", "min free", "at event",
                                        "suspends", "resumes"};
    enum { COLUMNS = sizeof heads / sizeof *heads };
    struct text_table table;

    text_table_open(&table, COLUMNS, ~1u);
    for (unsigned i = 0; i < COLUMNS; i++)
        text_table_cell(&table, heads[i]);
    for (size_t i = 0; i < stats->thread_count && !table.cells.code; i++) {
        const struct extract_thread_stats *thread = &stats->threads[i];
        text_table_cell(&table, thread->thread->shown);
        priority_cell(&table, thread);
        text_table_number(&table, thread->events);
        optional_cell(&table, stats->has_loads, thread->ticks);
        if (stats->has_loads)
            text_table_put_percent(&table.cells, thread->ticks, stats->span_ticks);
        else
            extract_text_putc(&table.cells, '-');
        text_table_close_cell(&table);
        optional_cell(&table, thread->stack_size != 0, thread->stack_size);
        optional_cell(&table, thread->stack_known, thread->stack_free);
        optional_cell(&table, thread->stack_known, thread->stack_seq);
        text_table_number(&table, thread->suspends);
        text_table_number(&table, thread->resumes);
    }
    text_table_print(&table, text, options);
}

static void service_cell(struct text_table *table, const struct extract_service_stats *service)
{
    extract_text_escaped(&table->cells, service->type->name);
    if (service->named)
        extract_text_printf(&table->cells, " %s", service->named->shown);
    else if (service->type->range)
        extract_text_printf(&table->cells, " %u", service->id);
    text_table_close_cell(table);
}

void stats_put_services(struct extract_text *text, const struct extract_stats *stats,
                        const struct extract_report_options *options)
{
    static const char *const heads[] = {"count", "percent", "class", "event"};
    enum { COLUMNS = sizeof heads / sizeof *heads };
    struct text_table table;

    text_table_open(&table, COLUMNS, 3);
    for (unsigned i = 0; i < COLUMNS; i++)
        text_table_cell(&table, heads[i]);
    for (size_t i = 0; i < stats->service_count && !table.cells.code; i++) {
        const struct extract_service_stats *service = &stats->services[i];
        text_table_number(&table, service->count);
        text_table_put_percent(&table.cells, service->count, stats->stretch_events);
        text_table_close_cell(&table);
        text_table_cell(&table, extract_class_name(service->type->class_));
        service_cell(&table, service);
    }
    text_table_print(&table, text, options);
}

enum extract_code extract_report_stats(struct extract_text *text, const struct extract_stats *stats,
                                       const struct extract_report_options *options)
{
    struct facts facts;
    if (options->json) {
        put_json(text, stats);
        return text->code;
    }
    facts_open(&facts, text, false);
    put_totals(&facts, stats, options->hz);
    facts_close(&facts);
    if (!stats->has_loads)
        extract_text_puts(text, "Loads of several cores are not computed.\n");
    extract_text_putc(text, '\n');
    put_threads(text, stats, options);
    extract_text_putc(text, '\n');
    stats_put_services(text, stats, options);
    return text->code;
}
