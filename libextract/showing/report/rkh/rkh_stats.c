// SPDX-License-Identifier: MIT
// report/rkh: the statistics of an RKH stream, as key-value lines, tables and a timeline, or as one
// JSON object.
#include "report/rkh/rkh_report.h"

void rkh_put_mean(struct extract_text *text, const struct rkh_spread *spread)
{
    uint64_t thousandths =
        spread->count ? (uint64_t)((unsigned __int128)spread->sum * 1000 / spread->count) : 0;

    extract_text_printf(text, "%llu.%03u", (unsigned long long)(thousandths / 1000),
                        (unsigned)(thousandths % 1000));
}

static void put_totals(struct rkh_report *report)
{
    const struct rkh_analysis *analysis = report->analysis;
    struct kv_writer kv;

    kv_open(&kv, report->text, false);
    kv_put_number(&kv, "events", analysis->events);
    kv_put_number(&kv, "span ticks", analysis->now.span);
    if (analysis->has_times)
        kv_put_seconds(&kv, analysis->now.span, report->options->hz);
    else
        kv_put_note(&kv, "no stamp gives a time");
    kv_put_still_clock(&kv, report->stats->clock_is_still);
    if (analysis->has_times && analysis->has_untimed_runs)
        kv_put_note(&kv, "of the runs with stamps; the times of others are not known");
    if (analysis->has_mixed_rates)
        kv_put_note(&kv, "the ticks of its runs differ in length; choose one run with --from and "
                         "--to");
    stats_note_range(&kv, report->stats);
    kv_put_number(&kv, "losses", analysis->losses);
    if (analysis->losses)
        kv_put_note(&kv, "places where frames are missing or damaged");
    kv_put_number(&kv, "restarts", analysis->restarts);
    kv_put_number(&kv, "posts", analysis->posts);
    kv_put_number(&kv, "gets", analysis->gets);
    kv_put_number(&kv, "uncertain gets", analysis->uncertain);
    if (analysis->uncertain)
        kv_put_note(&kv, "their post was not seen, or the queue's order was not known");
    kv_put_number(&kv, "state changes", analysis->state_changes);
    kv_put_number(&kv, "synchronous events", analysis->synchronous);
    kv_put_number(&kv, "assertions", analysis->assertion_count);
    kv_close(&kv);
}

enum extract_code rkh_report_stats(struct extract_text *text, const struct extract_view *view,
                                   const struct extract_trace *trace,
                                   const struct extract_report_options *options,
                                   struct extract_error *error)
{
    struct rkh_analysis *analysis = NULL;
    struct extract_stats *stats = NULL;
    enum extract_code code = extract_stats_new(&stats, view, trace, error);

    if (!code)
        code = rkh_analysis_new(&analysis, view, trace, error);
    if (!code) {
        struct rkh_report report = {text, analysis, stats, options, {.trace = NULL}};
        value_names_init(&report.names, trace);
        if (options->json) {
            rkh_put_json(&report);
        } else {
            put_totals(&report);
            rkh_put_text_tables(&report);
            rkh_put_timeline(&report);
            if (stats->has_loads) {
                extract_text_putc(text, '\n');
                stats_put_threads(text, stats, options);
                stats_put_schedule(text, stats, options);
            }
            stats_put_spans(text, stats, options);
            extract_text_putc(text, '\n');
            stats_put_services(text, stats, options);
        }
        value_names_free(&report.names);
    }
    rkh_analysis_free(analysis);
    extract_stats_free(stats);
    return code;
}
