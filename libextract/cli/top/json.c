// SPDX-License-Identifier: MIT
// cli/top: a look as one JSON object a line (RFC 8259). In: a look, the filter line. Out: facts on
// the recording, and statistics and events as `stats --json` and `report --json` print them.
#include "cli/top/top.h"
#include "report/kv_writer.h"
#include "report/text_table.h"

enum { NEWEST = 10 };

static void put_number(struct kv_writer *facts, const char *key, const struct top_number *number)
{
    if (number->known)
        kv_put_number(facts, key, number->value);
    else
        kv_put_unknown(facts, key);
}

static void put_rate(struct kv_writer *facts, const struct top_number *rate)
{
    if (!rate->known) {
        kv_put_unknown(facts, "events per second");
        return;
    }
    kv_put_key(facts, "events per second");
    extract_text_printf(facts->text, "%llu.%03u", (unsigned long long)(rate->value / 1000),
                        (unsigned)(rate->value % 1000));
}

static void put_facts(struct kv_writer *facts, const struct top_facts *from)
{
    kv_put_string(facts, "target", from->target);
    kv_put_string(facts, "state", from->state);
    kv_put_number(facts, "resets", from->counts.resets);
    kv_put_number(facts, "entries", from->counts.entries);
    bool is_exact = !from->counts.gaps_not_exact;
    if (is_exact)
        kv_put_number(facts, "events lost", from->counts.lost);
    else
        kv_put_unknown(facts, "events lost");
    kv_put_number(facts, "events lost at least", from->counts.lost);
    kv_put_bool(facts, "events lost exact", is_exact);
    kv_put_number(facts, "gaps", from->counts.gaps);
    kv_put_number(facts, "gaps not exact", from->counts.gaps_not_exact);
    put_rate(facts, &from->rate);
    kv_put_number(facts, "ring entries", from->slots);
    put_number(facts, "fill", &from->fill);
    put_number(facts, "link bytes per second", &from->link);
    put_number(facts, "poll period ns", &from->period);
    put_number(facts, "quiet ns", &from->quiet);
    put_number(facts, "halted thousandths", &from->halted);
}

// Takes the line end off what a report wrote behind `start`; between its lines come commas.
static void join_lines(struct extract_text *text, size_t start)
{
    if (text->used > start && text->data[text->used - 1] == '\n')
        text->used--;
    for (size_t i = start; i < text->used; i++)
        if (text->data[i] == '\n')
            text->data[i] = ',';
}

static void put_stats(struct kv_writer *facts, const char *key, const struct extract_stats *stats,
                      const struct extract_report_options *report)
{
    kv_put_key(facts, key);
    size_t start = facts->text->used;
    if (stats)
        extract_report_stats(facts->text, stats, report);
    else
        extract_text_puts(facts->text, "null");
    join_lines(facts->text, start);
}

static void put_filtered(struct kv_writer *facts, const struct top_snapshot *snapshot,
                         const struct top_view *view)
{
    struct extract_stats *stats;
    struct extract_error error;

    kv_put_string(facts, "filter", view->line);
    top_snapshot_stats(snapshot, view->line, view->report.hz, &stats, &error);
    put_stats(facts, "filtered", stats, &view->report);
    extract_stats_free(stats);
}

static void put_newest(struct kv_writer *facts, const struct top_snapshot *snapshot,
                       const struct top_view *view)
{
    struct extract_error error;

    kv_put_key(facts, "newest");
    extract_text_putc(facts->text, '[');
    size_t start = facts->text->used;
    if (snapshot->trace)
        top_snapshot_events(snapshot, view->line, NEWEST, &view->report, facts->text, &error);
    join_lines(facts->text, start);
    extract_text_putc(facts->text, ']');
}

void top_draw_json(struct extract_text *text, const struct top_snapshot *snapshot,
                   const struct top_view *view)
{
    struct kv_writer facts;

    kv_open(&facts, text, true);
    put_facts(&facts, &snapshot->facts);
    put_stats(&facts, "stats", snapshot->stats, &view->report);
    if (snapshot->trace && view->line[0])
        put_filtered(&facts, snapshot, view);
    put_newest(&facts, snapshot, view);
    kv_close(&facts);
}
