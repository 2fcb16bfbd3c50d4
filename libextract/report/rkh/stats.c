// SPDX-License-Identifier: MIT
// report/rkh: the figures of an RKH stream. In: a view. Out: facts and tables, or one JSON object.
#include "report/rkh/rkh_report.h"

void rkh_put_mean(struct extract_text *text, const struct rkh_spread *spread)
{
    uint64_t thousandths =
        spread->count ? (uint64_t)((unsigned __int128)spread->sum * 1000 / spread->count) : 0;
    extract_text_printf(text, "%llu.%03u", (unsigned long long)(thousandths / 1000),
                        (unsigned)(thousandths % 1000));
}

static void put_facts(struct rkh_figures *figures)
{
    const struct rkh_analysis *study = figures->study;
    struct facts facts;
    facts_open(&facts, figures->text, false);
    facts_number(&facts, "events", study->events);
    facts_number(&facts, "span ticks", study->now.span);
    if (study->timed)
        facts_seconds(&facts, study->now.span, figures->options->hz);
    else
        facts_note(&facts, "no stamp tells a time");
    if (study->timed && study->untimed)
        facts_note(&facts, "of the runs with stamps; the times of others are not known");
    if (study->mixed)
        facts_note(&facts, "the ticks of its runs differ in length; choose one with --from and "
                           "--to");
    stats_note_stretch(&facts, figures->stats);
    facts_number(&facts, "losses", study->losses);
    if (study->losses)
        facts_note(&facts, "places where frames are missing or damaged");
    facts_number(&facts, "restarts", study->restarts);
    facts_number(&facts, "posts", study->posts);
    facts_number(&facts, "gets", study->gets);
    facts_number(&facts, "uncertain gets", study->uncertain);
    if (study->uncertain)
        facts_note(&facts, "their post was not seen, or the queue's order was not known");
    facts_number(&facts, "state changes", study->state_changes);
    facts_number(&facts, "synchronous events", study->synchronous);
    facts_number(&facts, "assertions", study->assertion_count);
    facts_close(&facts);
}

static void put_all(struct rkh_figures *figures)
{
    if (figures->options->json) {
        rkh_put_json(figures);
        return;
    }
    put_facts(figures);
    rkh_put_text_tables(figures);
    rkh_put_timeline(figures);
    extract_text_putc(figures->text, '\n');
    stats_put_services(figures->text, figures->stats, figures->options);
}

enum extract_code rkh_report_stats(struct extract_text *text, const struct extract_view *view,
                                   const struct extract_trace *trace,
                                   const struct extract_report_options *options,
                                   struct extract_error *error)
{
    struct rkh_analysis *study = NULL;
    struct extract_stats *stats = NULL;
    enum extract_code code = extract_stats_new(&stats, view, trace, error);
    if (!code)
        code = rkh_analysis_new(&study, view, trace, error);
    if (!code) {
        struct rkh_figures figures = {text, study, stats, options, {.trace = NULL}};
        value_names_init(&figures.naming, trace);
        put_all(&figures);
        value_names_free(&figures.naming);
    }
    rkh_analysis_free(study);
    extract_stats_free(stats);
    return code;
}
