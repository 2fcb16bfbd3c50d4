// SPDX-License-Identifier: MIT
// report: what changed between two traces (extract/diff.h), as text or as one JSON object.
#include "base/percent.h"
#include "report/report_room.h"
#include "report/text_table.h"
#include <extract/diff.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_WAITS = 10, MAX_COUNTS = 20 };

// ---- numbers ----

// Writes a time: in seconds, ms, us or ns, or in ticks if the rate is not known.
static void put_time(struct extract_text *text, const struct extract_diff *diff, double time)
{
    static const struct {
        double at_least;
        const char *unit;
        double factor;
    } units[] = {{1, "s", 1}, {1e-3, "ms", 1e3}, {1e-6, "us", 1e6}, {0, "ns", 1e9}};
    size_t i = 0;

    if (!diff->has_seconds) {
        extract_text_printf(text, time == (double)(uint64_t)time ? "%.0f ticks" : "%.1f ticks",
                            time);
        return;
    }
    while (time < units[i].at_least)
        i++;
    extract_text_printf(text, "%.1f %s", time * units[i].factor, units[i].unit);
}

// Writes a rate: per second, or per million ticks.
static void put_rate(struct extract_text *text, const struct extract_diff *diff, double rate)
{
    if (diff->has_seconds)
        extract_text_printf(text, "%.1f/s", rate);
    else
        extract_text_printf(text, "%.1f per million ticks", rate * 1e6);
}

static double share_of(const struct extract_diff_side *side, uint64_t ticks)
{
    return side->stats->span_ticks ? (double)ticks * 100 / (double)side->stats->span_ticks : 0;
}

// ---- changes as text ----

static void put_interrupt(struct extract_text *text, const struct extract_change *change)
{
    extract_text_puts(text, change->is_second_level ? "second-level interrupt" : "interrupt");
    if (change->has_number)
        extract_text_printf(text, " %llu", (unsigned long long)change->number);
}

// Writes the verb of an activity: "sensor responds".
static void put_happening(struct extract_text *text, const struct extract_change *change)
{
    if (change->activity == EXTRACT_ACTIVITY_INTERRUPT) {
        put_interrupt(text, change);
        extract_text_puts(text, " comes");
        return;
    }
    extract_text_puts(text, change->thread);
    if (change->activity == EXTRACT_ACTIVITY_HOLD)
        extract_text_printf(text, " gets mutex %s", change->object);
    else
        extract_text_puts(text, " responds");
}

static void put_change(struct extract_text *text, const struct extract_diff *diff,
                       const struct extract_change *change)
{
    switch (change->kind) {
    case EXTRACT_CHANGE_PRIORITY:
        extract_text_printf(text, "priority of %s is %.0f instead of %.0f", change->thread,
                            change->b, change->a);
        return;
    case EXTRACT_CHANGE_COST:
        if (change->activity == EXTRACT_ACTIVITY_INTERRUPT)
            put_interrupt(text, change);
        else
            extract_text_puts(text, change->thread);
        extract_text_puts(text,
                          change->activity == EXTRACT_ACTIVITY_INTERRUPT ? " takes " : " runs ");
        put_time(text, diff, change->b);
        if (change->activity == EXTRACT_ACTIVITY_HOLD)
            extract_text_printf(text, " while it holds mutex %s", change->object);
        else if (change->activity == EXTRACT_ACTIVITY_RESPONSE)
            extract_text_puts(text, " per response");
        extract_text_puts(text, ", instead of ");
        put_time(text, diff, change->a);
        extract_text_puts(text, "; ");
        put_rate(text, diff, change->rate);
        return;
    case EXTRACT_CHANGE_RATE:
        put_happening(text, change);
        extract_text_putc(text, ' ');
        put_rate(text, diff, change->in_b ? change->b : change->a);
        if (!change->in_b) {
            extract_text_puts(text, " in A, and not in B");
        } else if (!change->in_a) {
            extract_text_puts(text, " in B, and not in A");
        } else {
            extract_text_puts(text, ", instead of ");
            put_rate(text, diff, change->a);
        }
        if (change->is_late)
            extract_text_puts(text, "; its responses take longer");
        return;
    }
}

// Adds the row of a change, and below it those that follow it.
static void add_rows(struct text_table *table, const struct extract_diff *diff, size_t i,
                     unsigned depth, unsigned *rank)
{
    const struct extract_change *change = &diff->changes[i];

    if (depth)
        text_table_put_string(table, "");
    else
        text_table_put_number(table, ++*rank);
    extract_text_printf(&table->cells, "%+.3f", change->time * 100);
    text_table_end_cell(table);
    text_table_put_string(table, extract_certainty_name(change->certainty));
    extract_text_pad(&table->cells, ' ', depth * 2);
    put_change(&table->cells, diff, change);
    if (depth)
        extract_text_puts(&table->cells, " (follows)");
    text_table_end_cell(table);
    // Changes that follow another one make a forest, so that this ends.
    for (size_t k = 0; k < diff->change_count; k++)
        if (diff->changes[k].follows == i + 1)
            add_rows(table, diff, k, depth + 1, rank);
}

static void put_changes(struct extract_text *text, const struct extract_diff *diff,
                        const struct extract_report_options *options)
{
    static const char *const headings[] = {"rank", "percent", "certainty", "change"};
    struct text_table table;
    unsigned rank = 0;
    size_t by_chance = 0;

    text_table_open(&table, 4, 1 | 1 << 1);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < diff->change_count; i++) {
        const struct extract_change *change = &diff->changes[i];
        by_chance += change->certainty == EXTRACT_BY_CHANCE;
        if (change->certainty != EXTRACT_BY_CHANCE && !change->follows)
            add_rows(&table, diff, i, 0, &rank);
    }
    extract_text_putc(text, '\n');
    if (rank)
        text_table_print(&table, text, options);
    else
        extract_text_free(&table.cells);
    if (!rank)
        extract_text_puts(text, "no change is certain or likely\n");
    if (by_chance)
        extract_text_printf(text, "%zu %sdifference%s may be chance%s\n", by_chance,
                            rank ? "other " : "", by_chance == 1 ? "" : "s", "; --json has all");
    if (diff->is_cut)
        extract_text_puts(text, "there are too many activities: some are not compared\n");
}

// ---- tables ----

// Adds a cell with a percentage, or with "-".
static void add_share(struct text_table *table, bool is_known, double percent)
{
    if (is_known)
        extract_text_printf(&table->cells, "%.3f", percent_cut(percent));
    else
        extract_text_putc(&table->cells, '-');
    text_table_end_cell(table);
}

// Adds a cell with the 99th percentile of a distribution.
static void add_p99(struct text_table *table, const struct extract_diff *diff,
                    const struct extract_diff_side *side, const struct extract_distribution *d)
{
    if (!d || !d->count || !diff->has_seconds) {
        text_table_put_optional(table, d && d->count, d ? d->p99 : 0);
        return;
    }
    put_time(&table->cells, diff, (double)d->p99 / (double)side->hz);
    text_table_end_cell(table);
}

static void put_threads(struct extract_text *text, const struct extract_diff *diff,
                        const struct extract_report_options *options)
{
    static const char *const headings[] = {"thread", "run % A",        "B", "ready % A",
                                           "B",      "blocked % A",    "B", "latency p99 A",
                                           "B",      "response p99 A", "B"};
    struct text_table table;

    text_table_open(&table, sizeof headings / sizeof *headings, ~1u);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < diff->thread_count; i++) {
        const struct extract_thread_stats *a = diff->threads[i].a, *b = diff->threads[i].b;
        extract_text_puts(&table.cells, (b ? b : a)->thread->shown);
        text_table_end_cell(&table);
        add_share(&table, a, a ? share_of(&diff->a, a->ticks) : 0);
        add_share(&table, b, b ? share_of(&diff->b, b->ticks) : 0);
        add_share(&table, a, a ? share_of(&diff->a, a->ready_ticks) : 0);
        add_share(&table, b, b ? share_of(&diff->b, b->ready_ticks) : 0);
        add_share(&table, a, a ? share_of(&diff->a, a->blocked_ticks) : 0);
        add_share(&table, b, b ? share_of(&diff->b, b->blocked_ticks) : 0);
        add_p99(&table, diff, &diff->a, a ? &a->latency : NULL);
        add_p99(&table, diff, &diff->b, b ? &b->latency : NULL);
        add_p99(&table, diff, &diff->a, a ? &a->response : NULL);
        add_p99(&table, diff, &diff->b, b ? &b->response : NULL);
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
}

static void put_waits(struct extract_text *text, const struct extract_diff *diff,
                      const struct extract_report_options *options)
{
    static const char *const headings[] = {"blocked on", "percent A", "B"};
    struct text_table table;

    if (!diff->wait_count)
        return;
    text_table_open(&table, 3, ~1u);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < diff->wait_count && i < MAX_WAITS; i++) {
        const struct extract_diff_wait *wait = &diff->waits[i];
        extract_text_printf(&table.cells, "%s %s", wait->wait, wait->object);
        text_table_end_cell(&table);
        add_share(&table, true, wait->a * 100);
        add_share(&table, true, wait->b * 100);
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
}

static void put_counts(struct extract_text *text, const struct extract_diff *diff,
                       const struct extract_report_options *options)
{
    const char *const headings[] = {"event", diff->has_seconds ? "per second A" : "per million A",
                                    "B"};
    double factor = diff->has_seconds ? 1 : 1e6;
    struct text_table table;
    size_t count = 0;

    text_table_open(&table, 3, ~1u);
    text_table_put_headings(&table, headings);
    for (; count < diff->count_count && diff->counts[count].is_likely && count < MAX_COUNTS;
         count++) {
        const struct extract_diff_count *item = &diff->counts[count];
        text_table_put_string(&table, item->name);
        extract_text_printf(&table.cells, "%.1f", item->a * factor);
        text_table_end_cell(&table);
        extract_text_printf(&table.cells, "%.1f", item->b * factor);
        text_table_end_cell(&table);
    }
    if (!count) {
        extract_text_free(&table.cells);
        return;
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
}

// ---- text ----

static void put_side(struct extract_text *text, const struct extract_diff *diff, char letter,
                     const struct extract_diff_side *side)
{
    extract_text_printf(text, "%c: ", letter);
    put_time(text, diff, side->span);
    extract_text_printf(text, ", %llu events\n", (unsigned long long)side->stats->events);
}

// Explains the response that got worse, on both sides.
static void put_worse(struct extract_text *text, const struct extract_diff *diff,
                      const struct extract_report_options *options)
{
    const struct extract_diff_side *sides[] = {&diff->a, &diff->b};

    if (!diff->worse) {
        extract_text_puts(text, "\nno response is likely to have got worse\n");
        return;
    }
    extract_text_printf(text, "\nresponses of %s got worse most; one near their p99:\n",
                        diff->worse);
    for (unsigned i = 0; i < 2; i++) {
        struct extract_report_options of_side = *options;
        of_side.hz = sides[i]->hz;
        extract_text_printf(text, "\nin %c: ", "AB"[i]);
        if (sides[i]->why)
            extract_report_why(text, sides[i]->why, sides[i]->trace, &of_side);
        else
            extract_text_puts(text, "unknown\n");
    }
}

static void put_text(struct extract_text *text, const struct extract_diff *diff,
                     const struct extract_report_options *options)
{
    put_side(text, diff, 'A', &diff->a);
    put_side(text, diff, 'B', &diff->b);
    if (diff->load != 1)
        extract_text_printf(text,
                            "B likely has %.2f times the load of A: rates that differ by about as "
                            "much are no changes\n",
                            diff->load);
    put_changes(text, diff, options);
    put_threads(text, diff, options);
    put_waits(text, diff, options);
    put_counts(text, diff, options);
    put_worse(text, diff, options);
}

// ---- JSON ----

// Whole numbers, such as ticks, are exact.
static void put_double(struct kv_writer *kv, const char *key, double value)
{
    bool is_exact = fabs(value) < 9e15 && value == nearbyint(value);

    kv_put_key(kv, key);
    extract_text_printf(kv->text, is_exact ? "%.0f" : "%.9g", value);
}

static void put_name(struct kv_writer *kv, const char *key, const char *name)
{
    if (name)
        kv_put_string(kv, key, name);
    else
        kv_put_unknown(kv, key);
}

static void put_json_side(struct kv_writer *kv, const char *key,
                          const struct extract_diff_side *side)
{
    kv_put_key(kv, key);
    struct kv_writer object = kv_open_object(kv->text);
    put_double(&object, "span", side->span);
    kv_put_number(&object, "events", side->stats->events);
    kv_put_optional(&object, "hz", side->hz != 0, side->hz);
    kv_close_object(&object);
}

static void put_json_change(struct extract_text *text, const struct extract_diff *diff, size_t i)
{
    const struct extract_change *change = &diff->changes[i];
    struct extract_text words;
    bool is_activity = change->kind != EXTRACT_CHANGE_PRIORITY;
    bool is_interrupt = is_activity && change->activity == EXTRACT_ACTIVITY_INTERRUPT;

    struct kv_writer object = kv_open_object(text);
    kv_put_number(&object, "rank", i + 1);
    kv_put_string(&object, "kind", extract_change_kind_name(change->kind));
    put_name(&object, "of", is_activity ? extract_activity_name(change->activity) : "thread");
    put_name(&object, "thread", change->thread);
    put_name(&object, "object", change->object);
    kv_put_optional(&object, "isr", is_interrupt && change->has_number, change->number);
    kv_put_string(&object, "certainty", extract_certainty_name(change->certainty));
    put_double(&object, "a", change->a);
    put_double(&object, "b", change->b);
    if (change->kind == EXTRACT_CHANGE_COST)
        put_double(&object, "rate", change->rate);
    put_double(&object, "time", change->time);
    put_double(&object, "least", change->least);
    kv_put_bool(&object, "late", change->is_late);
    kv_put_optional(&object, "follows", change->follows != 0, change->follows);
    extract_text_init(&words, NULL, NULL);
    put_change(&words, diff, change);
    kv_put_key(&object, "text");
    extract_text_putc(&words, 0);
    extract_text_json(text, words.code ? "" : words.data);
    if (words.code)
        text->code = words.code;
    extract_text_free(&words);
    kv_close_object(&object);
}

static void put_json_thread(struct extract_text *text, const struct extract_diff *diff,
                            const struct extract_diff_thread *thread)
{
    const struct {
        const char *key;
        const struct extract_diff_side *side;
        const struct extract_thread_stats *stats;
    } sides[] = {{"a", &diff->a, thread->a}, {"b", &diff->b, thread->b}};
    struct kv_writer object = kv_open_object(text);

    kv_put_string(&object, "name", (thread->b ? thread->b : thread->a)->thread->shown);
    for (unsigned i = 0; i < 2; i++) {
        const struct extract_thread_stats *stats = sides[i].stats;
        if (!stats) {
            kv_put_unknown(&object, sides[i].key);
            continue;
        }
        kv_put_key(&object, sides[i].key);
        struct kv_writer side = kv_open_object(text);
        put_double(&side, "run_percent", share_of(sides[i].side, stats->ticks));
        put_double(&side, "ready_percent", share_of(sides[i].side, stats->ready_ticks));
        put_double(&side, "blocked_percent", share_of(sides[i].side, stats->blocked_ticks));
        stats_put_distribution_json(&side, "latency", &stats->latency);
        stats_put_distribution_json(&side, "response", &stats->response);
        kv_close_object(&side);
    }
    kv_close_object(&object);
}

static void put_json_why(struct kv_writer *kv, const char *key,
                         const struct extract_diff_side *side,
                         const struct extract_report_options *options)
{
    struct extract_report_options of_side = *options;

    of_side.hz = side->hz;
    kv_put_key(kv, key);
    if (side->why)
        extract_report_why(kv->text, side->why, side->trace, &of_side);
    else
        extract_text_puts(kv->text, "null");
}

static void put_json(struct extract_text *text, const struct extract_diff *diff,
                     const struct extract_report_options *options)
{
    struct kv_writer kv;

    kv_open(&kv, text, true);
    kv_put_string(&kv, "unit", diff->has_seconds ? "seconds" : "ticks");
    put_json_side(&kv, "a", &diff->a);
    put_json_side(&kv, "b", &diff->b);
    put_double(&kv, "load", diff->load);
    kv_put_bool(&kv, "cut", diff->is_cut);
    kv_put_key(&kv, "changes");
    extract_text_putc(text, '[');
    for (size_t i = 0; i < diff->change_count && !text->code; i++) {
        extract_text_puts(text, i ? "," : "");
        put_json_change(text, diff, i);
    }
    extract_text_putc(text, ']');
    kv_put_key(&kv, "threads");
    extract_text_putc(text, '[');
    for (size_t i = 0; i < diff->thread_count && !text->code; i++) {
        extract_text_puts(text, i ? "," : "");
        put_json_thread(text, diff, &diff->threads[i]);
    }
    extract_text_putc(text, ']');
    kv_put_key(&kv, "blocked");
    extract_text_putc(text, '[');
    for (size_t i = 0; i < diff->wait_count && !text->code; i++) {
        extract_text_puts(text, i ? "," : "");
        struct kv_writer object = kv_open_object(text);
        kv_put_string(&object, "class", diff->waits[i].wait);
        kv_put_string(&object, "object", diff->waits[i].object);
        put_double(&object, "a", diff->waits[i].a);
        put_double(&object, "b", diff->waits[i].b);
        kv_close_object(&object);
    }
    extract_text_putc(text, ']');
    kv_put_key(&kv, "counts");
    extract_text_putc(text, '[');
    for (size_t i = 0; i < diff->count_count && !text->code; i++) {
        extract_text_puts(text, i ? "," : "");
        struct kv_writer object = kv_open_object(text);
        kv_put_string(&object, "event", diff->counts[i].name);
        put_double(&object, "a", diff->counts[i].a);
        put_double(&object, "b", diff->counts[i].b);
        kv_put_bool(&object, "likely", diff->counts[i].is_likely);
        kv_close_object(&object);
    }
    extract_text_putc(text, ']');
    kv_put_key(&kv, "worse");
    struct kv_writer worse = kv_open_object(text);
    put_name(&worse, "thread", diff->worse);
    put_json_why(&worse, "a", &diff->a, options);
    put_json_why(&worse, "b", &diff->b, options);
    kv_close_object(&worse);
    kv_close(&kv);
}

enum extract_code extract_report_diff(struct extract_text *text, const struct extract_diff *diff,
                                      const struct extract_report_options *options)
{
    if (options->json)
        put_json(text, diff, options);
    else
        put_text(text, diff, options);
    return text->code;
}
