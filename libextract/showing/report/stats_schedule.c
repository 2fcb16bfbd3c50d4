// SPDX-License-Identifier: MIT
// report: what the schedule adds to the statistics: cores, responses, periods, interrupts, waits,
// levels, inversions and the load over time. Each is a table, or a member of the JSON object.
#include "report/report_room.h"
#include "report/text_table.h"

enum { MAX_JITTER_PERCENT = 50 };

// Writes the name of an object, or its address; "-" if it is not known.
static void put_object_cell(struct text_table *table, const char *before,
                            const struct extract_object *object, uint64_t address)
{
    struct extract_text *cells = &table->cells;

    if (before)
        extract_text_printf(cells, "%s ", before);
    if (object)
        extract_text_puts(cells, object->shown);
    else if (address)
        extract_text_printf(cells, "0x%llx", (unsigned long long)address);
    else
        extract_text_puts(cells, before ? "(unknown)" : "-");
    text_table_end_cell(table);
}

// ---- block characters ----

// Writes a value as one of eight block characters, or a blank for 0.
static void put_block(struct extract_text *text, uint64_t value, uint64_t most)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t level = value && most ? (size_t)((double)value / (double)most * 8 + 0.5) : 0;

    if (value && !level)
        level = 1;
    extract_text_puts(text, blocks[level > 8 ? 8 : level]);
}

void stats_put_shape_cell(struct text_table *table, const struct extract_distribution *d)
{
    uint64_t most = 0;

    for (unsigned i = 0; i < EXTRACT_BARS; i++)
        most = d->bars[i] > most ? d->bars[i] : most;
    extract_text_putc(&table->cells, '|');
    for (unsigned i = 0; i < EXTRACT_BARS; i++)
        put_block(&table->cells, d->bars[i], most);
    extract_text_putc(&table->cells, '|');
    text_table_end_cell(table);
}

static void put_load(struct extract_text *text, const struct extract_stats *stats)
{
    uint64_t most = stats->load_part_ticks * stats->core_count;

    if (!stats->load_part_count)
        return;
    extract_text_puts(text, "load: |");
    for (size_t i = 0; i < stats->load_part_count; i++)
        put_block(text, stats->load[i], most);
    extract_text_printf(text, "| (%llu ticks each)\n", (unsigned long long)stats->load_part_ticks);
}

// ---- tables ----

static void put_cores(struct extract_text *text, const struct extract_stats *stats,
                      const struct extract_report_options *options)
{
    static const char *const headings[] = {"core", "what", "ticks", "percent"};
    struct text_table table;

    text_table_open(&table, sizeof headings / sizeof *headings, ~2u);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < stats->core_count; i++) {
        const struct extract_core_stats *core = &stats->cores[i];
        const struct {
            const char *what;
            uint64_t ticks;
        } others[] = {{"(idle)", core->idle_ticks},
                      {"(interrupts)", core->interrupt_ticks},
                      {"(initialization)", core->init_ticks},
                      {"(unknown)", core->unknown_ticks}};
        for (size_t k = 0; k < stats->thread_count + sizeof others / sizeof *others; k++) {
            bool is_thread = k < stats->thread_count;
            uint64_t ticks =
                is_thread ? core->thread_ticks[k] : others[k - stats->thread_count].ticks;
            if (!ticks)
                continue;
            text_table_put_number(&table, i);
            text_table_put_string(&table, is_thread ? stats->threads[k].thread->shown
                                                    : others[k - stats->thread_count].what);
            text_table_put_number(&table, ticks);
            text_put_percent(&table.cells, ticks, core->span_ticks);
            text_table_end_cell(&table);
        }
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
}

static void put_responses(struct extract_text *text, const struct extract_stats *stats,
                          const struct extract_report_options *options)
{
    enum { SHAPE = 6 };
    static const char *const headings[] = {"thread",      "responses",  "min",   "median",
                                           "p99",         "max",        "shape", "latency median",
                                           "latency p99", "latency max"};
    struct text_table table;
    bool has_rows = false;

    for (size_t i = 0; i < stats->thread_count; i++)
        has_rows |= stats->threads[i].response.count != 0;
    if (!has_rows)
        return;
    text_table_open(&table, sizeof headings / sizeof *headings, ~(1u | 1u << SHAPE));
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < stats->thread_count; i++) {
        const struct extract_distribution *r = &stats->threads[i].response;
        const struct extract_distribution *l = &stats->threads[i].latency;
        if (!r->count)
            continue;
        text_table_put_string(&table, stats->threads[i].thread->shown);
        text_table_put_number(&table, r->count);
        text_table_put_number(&table, r->min);
        text_table_put_number(&table, r->median);
        text_table_put_number(&table, r->p99);
        text_table_put_number(&table, r->max);
        stats_put_shape_cell(&table, r);
        text_table_put_optional(&table, l->count, l->median);
        text_table_put_optional(&table, l->count, l->p99);
        text_table_put_optional(&table, l->count, l->max);
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
}

// Returns whether a thread is periodic, and sets its jitter.
static bool is_periodic(const struct extract_thread_stats *thread, uint64_t *jitter)
{
    return extract_period_jitter(&thread->period, jitter) &&
           (double)*jitter * 100 <= (double)thread->period.median * (double)MAX_JITTER_PERCENT;
}

static void put_periods(struct extract_text *text, const struct extract_stats *stats,
                        const struct extract_report_options *options)
{
    static const char *const headings[] = {
        "periodic thread", "periods", "min", "median", "max", "jitter", "jitter percent"};
    struct text_table table;
    uint64_t jitter;
    bool has_rows = false;

    for (size_t i = 0; i < stats->thread_count; i++)
        has_rows |= is_periodic(&stats->threads[i], &jitter);
    if (!has_rows)
        return;
    text_table_open(&table, sizeof headings / sizeof *headings, ~1u);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < stats->thread_count; i++) {
        const struct extract_distribution *period = &stats->threads[i].period;
        if (!is_periodic(&stats->threads[i], &jitter))
            continue;
        text_table_put_string(&table, stats->threads[i].thread->shown);
        text_table_put_number(&table, period->count);
        text_table_put_number(&table, period->min);
        text_table_put_number(&table, period->median);
        text_table_put_number(&table, period->max);
        text_table_put_number(&table, jitter);
        text_put_percent(&table.cells, jitter, period->median);
        text_table_end_cell(&table);
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
}

static void put_interrupts(struct extract_text *text, const struct extract_stats *stats,
                           const struct extract_report_options *options)
{
    static const char *const headings[] = {"interrupt", "count",  "ticks", "percent", "every",
                                           "min",       "median", "p99",   "max"};
    struct text_table table;

    if (!stats->interrupt_count)
        return;
    text_table_open(&table, sizeof headings / sizeof *headings, ~0u);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < stats->interrupt_count; i++) {
        const struct extract_interrupt_stats *interrupt = &stats->interrupt_list[i];
        const struct extract_distribution *d = &interrupt->duration;
        extract_text_printf(&table.cells, "%s%llu",
                            interrupt->is_second_level ? "second level " : "",
                            (unsigned long long)interrupt->number);
        text_table_end_cell(&table);
        text_table_put_number(&table, interrupt->count);
        text_table_put_number(&table, interrupt->ticks);
        text_put_percent(&table.cells, interrupt->ticks, stats->span_ticks);
        text_table_end_cell(&table);
        text_table_put_optional(&table, interrupt->periods,
                                interrupt->periods ? interrupt->period_ticks / interrupt->periods
                                                   : 0);
        text_table_put_optional(&table, d->count, d->min);
        text_table_put_optional(&table, d->count, d->median);
        text_table_put_optional(&table, d->count, d->p99);
        text_table_put_optional(&table, d->count, d->max);
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
}

static void put_holder_cell(struct text_table *table, const struct extract_wait_stats *wait)
{
    if (!wait->holder_in_isr) {
        put_object_cell(table, NULL, wait->holder, wait->holder_address);
        return;
    }
    if (wait->holder_isr_known)
        extract_text_printf(&table->cells, "interrupt %llu", (unsigned long long)wait->holder_isr);
    else
        extract_text_puts(&table->cells, "an interrupt");
    text_table_end_cell(table);
}

static void put_waits(struct extract_text *text, const struct extract_stats *stats,
                      const struct extract_report_options *options)
{
    static const char *const headings[] = {"waited for", "held by", "waits", "ticks", "longest"};
    struct text_table table;

    if (!stats->wait_count)
        return;
    text_table_open(&table, sizeof headings / sizeof *headings, ~3u);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < stats->wait_count; i++) {
        const struct extract_wait_stats *wait = &stats->waits[i];
        put_object_cell(&table, wait->wait, wait->object, wait->object_address);
        put_holder_cell(&table, wait);
        text_table_put_number(&table, wait->count);
        text_table_put_number(&table, wait->ticks);
        text_table_put_number(&table, wait->most);
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
}

static void put_levels(struct extract_text *text, const struct extract_stats *stats,
                       const struct extract_report_options *options)
{
    static const char *const headings[] = {"queue or pool", "most queued", "fewest left"};
    struct text_table table;

    if (!stats->level_count)
        return;
    text_table_open(&table, sizeof headings / sizeof *headings, ~1u);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < stats->level_count; i++) {
        const struct extract_level_stats *level = &stats->levels[i];
        put_object_cell(&table, NULL, level->object, level->address);
        text_table_put_optional(&table, level->is_queue, level->most_queued);
        text_table_put_optional(&table, !level->is_queue, level->fewest_left);
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
}

static void put_inversions(struct extract_text *text, const struct extract_stats *stats,
                           const struct extract_report_options *options)
{
    static const char *const headings[] = {"inversion of", "mutex", "held by", "ran instead",
                                           "from",         "to",    "ticks",   "events"};
    struct text_table table;

    if (!stats->inversion_list_count)
        return;
    text_table_open(&table, sizeof headings / sizeof *headings, ~15u);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < stats->inversion_list_count; i++) {
        const struct extract_inversion *inversion = &stats->inversions[i];
        put_object_cell(&table, NULL, inversion->waiter_object, inversion->waiter);
        put_object_cell(&table, NULL, inversion->mutex_object, inversion->mutex);
        put_object_cell(&table, NULL, inversion->holder_object, inversion->holder);
        put_object_cell(&table, NULL, inversion->third_object, inversion->third);
        text_table_put_number(&table, inversion->from);
        text_table_put_number(&table, inversion->to);
        extract_text_printf(&table.cells, "%s%llu", inversion->is_least ? ">=" : "",
                            (unsigned long long)inversion->ticks);
        text_table_end_cell(&table);
        extract_text_printf(&table.cells, "#%llu..#%llu", (unsigned long long)inversion->from_seq,
                            (unsigned long long)inversion->to_seq);
        text_table_end_cell(&table);
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
}

void stats_put_schedule(struct extract_text *text, const struct extract_stats *stats,
                        const struct extract_report_options *options)
{
    put_load(text, stats);
    if (stats->core_count > 1)
        put_cores(text, stats, options);
    put_responses(text, stats, options);
    put_periods(text, stats, options);
    put_interrupts(text, stats, options);
    put_waits(text, stats, options);
    put_levels(text, stats, options);
    put_inversions(text, stats, options);
}

// ---- JSON ----

// Starts the next object of an array.
static struct kv_writer next_object(struct extract_text *text, size_t i)
{
    extract_text_puts(text, i ? "," : "");
    return kv_open_object(text);
}

void stats_put_distribution_json(struct kv_writer *kv, const char *key,
                                 const struct extract_distribution *d)
{
    kv_put_key(kv, key);
    struct kv_writer object = kv_open_object(kv->text);
    bool is_known = d->count != 0;
    kv_put_number(&object, "count", d->count);
    kv_put_optional(&object, "min", is_known, d->min);
    kv_put_optional(&object, "median", is_known, d->median);
    kv_put_optional(&object, "p99", is_known, d->p99);
    kv_put_optional(&object, "max", is_known, d->max);
    kv_put_optional(&object, "sum", is_known, d->sum);
    kv_put_bool(&object, "exact", d->is_exact || !is_known);
    kv_close_object(&object);
}

static void put_cores_json(struct kv_writer *kv, const struct extract_stats *stats)
{
    struct extract_text *text = kv->text;

    kv_put_key(kv, "cores");
    extract_text_putc(text, '[');
    for (size_t i = 0; i < stats->core_count && !text->code; i++) {
        const struct extract_core_stats *core = &stats->cores[i];
        struct kv_writer object = next_object(text, i);
        kv_put_number(&object, "core", i);
        kv_put_number(&object, "span ticks", core->span_ticks);
        kv_put_number(&object, "idle ticks", core->idle_ticks);
        kv_put_number(&object, "interrupt ticks", core->interrupt_ticks);
        kv_put_number(&object, "init ticks", core->init_ticks);
        kv_put_number(&object, "unknown ticks", core->unknown_ticks);
        kv_put_number(&object, "switches", core->switches);
        if (stats->has_modes) {
            stats_put_mode_ticks_json(&object, core->mode_ticks);
            stats_put_dispatches_json(&object, &core->dispatches);
            kv_put_number(&object, "idle dispatches", core->idle_dispatches);
        }
        kv_put_key(&object, "threads");
        extract_text_putc(text, '[');
        size_t count = 0;
        for (size_t k = 0; k < stats->thread_count; k++) {
            bool was_dispatched = stats->has_modes && core->thread_dispatches[k];
            if (!core->thread_ticks[k] && !was_dispatched)
                continue;
            struct kv_writer thread = next_object(text, count++);
            const char *name = value_name_of_object(stats->threads[k].thread);
            if (name)
                kv_put_string(&thread, "name", name);
            else
                kv_put_unknown(&thread, "name");
            kv_put_number(&thread, "address", stats->threads[k].thread->key);
            kv_put_number(&thread, "ticks", core->thread_ticks[k]);
            kv_put_key(&thread, "percent");
            text_put_percent(text, core->thread_ticks[k], core->span_ticks);
            if (stats->has_modes)
                kv_put_number(&thread, "dispatches", core->thread_dispatches[k]);
            kv_close_object(&thread);
        }
        extract_text_putc(text, ']');
        kv_close_object(&object);
    }
    extract_text_putc(text, ']');
}

static void put_interrupts_json(struct kv_writer *kv, const struct extract_stats *stats)
{
    struct extract_text *text = kv->text;

    kv_put_key(kv, "interrupt list");
    extract_text_putc(text, '[');
    for (size_t i = 0; i < stats->interrupt_count && !text->code; i++) {
        struct kv_writer object = next_object(text, i);
        kv_put_number(&object, "number", stats->interrupt_list[i].number);
        if (stats->has_modes)
            kv_put_bool(&object, "second level", stats->interrupt_list[i].is_second_level);
        kv_put_number(&object, "count", stats->interrupt_list[i].count);
        kv_put_number(&object, "ticks", stats->interrupt_list[i].ticks);
        stats_put_distribution_json(&object, "duration", &stats->interrupt_list[i].duration);
        kv_close_object(&object);
    }
    extract_text_putc(text, ']');
}

static void put_waits_json(struct kv_writer *kv, const struct extract_stats *stats)
{
    struct extract_text *text = kv->text;

    kv_put_key(kv, "waits");
    extract_text_putc(text, '[');
    for (size_t i = 0; i < stats->wait_count && !text->code; i++) {
        const struct extract_wait_stats *wait = &stats->waits[i];
        struct kv_writer object = next_object(text, i);
        kv_put_string(&object, "wait", wait->wait);
        kv_put_optional(&object, "object", wait->object_address, wait->object_address);
        kv_put_optional(&object, "holder", wait->holder_address, wait->holder_address);
        if (wait->holder_in_isr)
            kv_put_optional(&object, "holder_isr", wait->holder_isr_known, wait->holder_isr);
        kv_put_number(&object, "count", wait->count);
        kv_put_number(&object, "ticks", wait->ticks);
        kv_put_number(&object, "longest", wait->most);
        kv_close_object(&object);
    }
    extract_text_putc(text, ']');
}

static void put_levels_json(struct kv_writer *kv, const struct extract_stats *stats)
{
    struct extract_text *text = kv->text;

    kv_put_key(kv, "levels");
    extract_text_putc(text, '[');
    for (size_t i = 0; i < stats->level_count && !text->code; i++) {
        const struct extract_level_stats *level = &stats->levels[i];
        struct kv_writer object = next_object(text, i);
        kv_put_number(&object, "object", level->address);
        kv_put_optional(&object, "most queued", level->is_queue, level->most_queued);
        kv_put_optional(&object, "fewest left", !level->is_queue, level->fewest_left);
        kv_close_object(&object);
    }
    extract_text_putc(text, ']');
}

static void put_inversions_json(struct kv_writer *kv, const struct extract_stats *stats)
{
    struct extract_text *text = kv->text;

    kv_put_optional(kv, "inversions", stats->has_inversions, stats->inversion_count);
    kv_put_optional(kv, "inversions unsure", stats->has_inversions, stats->inversions_unsure);
    kv_put_key(kv, "inversion list");
    extract_text_putc(text, '[');
    for (size_t i = 0; i < stats->inversion_list_count && !text->code; i++) {
        const struct extract_inversion *inversion = &stats->inversions[i];
        struct kv_writer object = next_object(text, i);
        kv_put_number(&object, "from", inversion->from);
        kv_put_number(&object, "to", inversion->to);
        kv_put_number(&object, "from event", inversion->from_seq);
        kv_put_number(&object, "to event", inversion->to_seq);
        kv_put_number(&object, "thread", inversion->waiter);
        kv_put_number(&object, "mutex", inversion->mutex);
        kv_put_number(&object, "holder", inversion->holder);
        kv_put_number(&object, "ran instead", inversion->third);
        kv_put_number(&object, "ticks", inversion->ticks);
        kv_put_bool(&object, "at least", inversion->is_least);
        kv_close_object(&object);
    }
    extract_text_putc(text, ']');
}

static void put_load_json(struct kv_writer *kv, const struct extract_stats *stats)
{
    struct extract_text *text = kv->text;

    kv_put_key(kv, "load");
    struct kv_writer load = kv_open_object(text);
    kv_put_number(&load, "from", stats->load_from);
    kv_put_number(&load, "part ticks", stats->load_part_ticks);
    kv_put_key(&load, "busy ticks");
    extract_text_putc(text, '[');
    for (size_t i = 0; i < stats->load_part_count; i++)
        extract_text_printf(text, "%s%llu", i ? "," : "", (unsigned long long)stats->load[i]);
    extract_text_putc(text, ']');
    kv_close_object(&load);
}

void stats_put_schedule_json(struct kv_writer *kv, const struct extract_stats *stats)
{
    put_cores_json(kv, stats);
    put_interrupts_json(kv, stats);
    put_waits_json(kv, stats);
    put_levels_json(kv, stats);
    put_inversions_json(kv, stats);
    put_load_json(kv, stats);
}
