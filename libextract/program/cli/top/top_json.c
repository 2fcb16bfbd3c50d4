// SPDX-License-Identifier: MIT
// cli/top: a snapshot as one JSON object on one line (RFC 8259). It contains facts on the
// recording, and statistics and events as `stats --json` and `report --json` print them.
#include "cli/top/top.h"
#include "report/kv_writer.h"
#include "report/text_table.h"

enum { NEWEST_EVENTS = 10 };

static void put_number(struct kv_writer *kv, const char *key, const struct top_number *number)
{
    if (number->is_known)
        kv_put_number(kv, key, number->value);
    else
        kv_put_unknown(kv, key);
}

static void put_rate(struct kv_writer *kv, const struct top_number *rate)
{
    if (!rate->is_known) {
        kv_put_unknown(kv, "events per second");
        return;
    }
    kv_put_key(kv, "events per second");
    extract_text_printf(kv->text, "%llu.%03u", (unsigned long long)(rate->value / 1000),
                        (unsigned)(rate->value % 1000));
}

static void put_facts(struct kv_writer *kv, const struct top_facts *facts)
{
    kv_put_string(kv, "target", facts->target);
    kv_put_string(kv, "state", facts->state);
    kv_put_number(kv, "resets", facts->counts.resets);
    kv_put_number(kv, "entries", facts->counts.entries);
    bool is_exact = !facts->counts.gaps_not_exact;
    if (is_exact)
        kv_put_number(kv, "events lost", facts->counts.lost);
    else
        kv_put_unknown(kv, "events lost");
    kv_put_number(kv, "events lost at least", facts->counts.lost);
    kv_put_bool(kv, "events lost exact", is_exact);
    kv_put_number(kv, "gaps", facts->counts.gaps);
    kv_put_number(kv, "gaps not exact", facts->counts.gaps_not_exact);
    put_rate(kv, &facts->events_per_1000_s);
    kv_put_number(kv, "ring entries", facts->ring_entries);
    put_number(kv, "fill", &facts->fill);
    put_number(kv, "link bytes per second", &facts->link_bytes_per_second);
    put_number(kv, "poll period ns", &facts->poll_period_ns);
    put_number(kv, "quiet ns", &facts->quiet_ns);
    put_number(kv, "halted thousandths", &facts->halted_thousandths);
}

// Joins the lines of a report, which begin at `start`, with commas, and removes the last line end.
static void join_lines(struct extract_text *text, size_t start)
{
    if (text->used > start && text->data[text->used - 1] == '\n')
        text->used--;
    for (size_t i = start; i < text->used; i++)
        if (text->data[i] == '\n')
            text->data[i] = ',';
}

static void put_stats(struct kv_writer *kv, const char *key, const struct extract_stats *stats,
                      const struct extract_report_options *report)
{
    kv_put_key(kv, key);
    size_t start = kv->text->used;
    if (stats)
        extract_report_stats(kv->text, stats, report);
    else
        extract_text_puts(kv->text, "null");
    join_lines(kv->text, start);
}

static void put_filtered(struct kv_writer *kv, const struct top_snapshot *snapshot,
                         const struct top_view *view)
{
    struct extract_stats *stats;
    struct extract_error error;

    kv_put_string(kv, "filter", view->filter_line);
    top_snapshot_stats(snapshot, view->filter_line, view->report.hz, &stats, &error);
    put_stats(kv, "filtered", stats, &view->report);
    extract_stats_free(stats);
}

static void put_newest(struct kv_writer *kv, const struct top_snapshot *snapshot,
                       const struct top_view *view)
{
    struct extract_error error;

    kv_put_key(kv, "newest");
    extract_text_putc(kv->text, '[');
    size_t start = kv->text->used;
    if (snapshot->trace)
        top_snapshot_events(snapshot, view->filter_line, NEWEST_EVENTS, &view->report, kv->text,
                            &error);
    join_lines(kv->text, start);
    extract_text_putc(kv->text, ']');
}

void top_draw_json(struct extract_text *text, const struct top_snapshot *snapshot,
                   const struct top_view *view)
{
    struct kv_writer kv;

    kv_open(&kv, text, true);
    put_facts(&kv, &snapshot->facts);
    put_stats(&kv, "stats", snapshot->stats, &view->report);
    if (snapshot->trace && view->filter_line[0])
        put_filtered(&kv, snapshot, view);
    put_newest(&kv, snapshot, view);
    kv_close(&kv);
}
