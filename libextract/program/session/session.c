// SPDX-License-Identifier: MIT
// session: one snapshot of a trace and the texts that users ask for. Opening a session does all
// steps from the target's memory, or from a log, to a trace with names and a filter. Each command
// then writes one report. The command line, GDB and the unit tests all use it, so that a command
// prints the same bytes everywhere.
#include "events/event_filter.h"
#include "events/events_room.h"
#include "export/export_room.h"
#include "report/report_room.h"
#include "report/rkh/rkh_report.h"
#include "log/log_block.h"
#include "report/columns/columns.h"
#include <extract/session.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct extract_session {
    struct extract_snapshot snapshot;
    struct extract_trace *trace;
    struct extract_filter *filter;
    struct extract_spans *spans; // NULL: none
    struct extract_report_options report;
    struct extract_report_part part; // state of a report that is written in parts
    uint64_t hz;                     // ticks per second that the user gives; 0: none
    bool has_stamps;                 // timestamps of an RKH stream were read
    struct extract_columns columns;
    struct extract_report_outcome outcome; // counts of the last report
    struct extract_templates *templates;   // NULL until a report needs them
    enum extract_code templates_code;      // result of reading them
    struct extract_error templates_error;
    const char *const *template_files;
    size_t template_count;
    bool only_templates;
    unsigned dialect;
};

static enum extract_code create_filter(struct extract_session *session,
                                       const struct extract_session_options *options,
                                       struct extract_error *error)
{
    enum extract_code code = extract_filter_new(&session->filter, error);

    for (size_t i = 0; i < options->condition_count && !code; i++)
        code = extract_filter_add(session->filter, options->conditions[i].word,
                                  options->conditions[i].value, error);
    return code;
}

// Adds a marker to the filter. Markers have ids of their own, which reports print as F00 to FFF.
static enum extract_code add_marker(struct extract_session *session, const char *digits, bool drop,
                                    struct extract_error *error)
{
    char value[16];
    uint64_t id;

    snprintf(value, sizeof value, "%s0xFFFFFF%.2s", drop ? "!" : "", digits + 1);
    if (!extract_number_parse(value + drop, &id) || extract_mark_type((uint32_t)id)->id != id)
        return EXTRACT_OK;
    return extract_filter_add(session->filter, EXTRACT_FILTER_EVENT, value, error);
}

// Adds a list of hook ids, as reports print them and with commas or blanks between them, to the
// filter, as event ids of the trace's format.
static enum extract_code add_hook_ids(struct extract_session *session, const char *list, bool drop,
                                      struct extract_error *error)
{
    const char *name = extract_trace_info(session->trace)->format;
    const struct extract_format *format = extract_format_by_name(name);
    bool wide = !format || format->hooks == EXTRACT_HOOKS_PLAIN;
    enum extract_code code = EXTRACT_OK;

    while (!code) {
        char value[24];
        list += strspn(list, " \t");
        size_t length = strcspn(list, ", \t"), digits = strspn(list, "0123456789abcdefABCDEF");
        if (digits < 3 || digits > (wide ? 8 : 4) || digits != length)
            return extract_error_set(
                error, EXTRACT_USAGE, drop ? "not_hooks" : "only_hooks",
                "use ids as the report prints them, separated by commas or blanks",
                "\"%.*s\" is not a hook id", (int)length, list);
        snprintf(value, sizeof value, "%s0x%.*s%s", drop ? "!" : "", (int)digits, list,
                 digits == 3 && !wide ? "0" : "");
        code = extract_filter_add(session->filter, EXTRACT_FILTER_EVENT, value, error);
        if (!code && digits == 3 && (*list == 'F' || *list == 'f'))
            code = add_marker(session, list, drop, error);
        list += length + strspn(list + length, " \t");
        if (!*list)
            break;
        list += *list == ',';
    }
    return code;
}

static struct extract_trace_options
make_trace_options(struct extract_symbols *symbols, const struct extract_session_options *options)
{
    return (struct extract_trace_options){.size = sizeof(struct extract_trace_options),
                                          .symbols = symbols,
                                          .user_types = options->user_types,
                                          .modulus = options->modulus,
                                          .hz = options->hz,
                                          .rkh = options->rkh,
                                          .hook_roles = options->hook_roles,
                                          .core_ids = options->core_ids};
}

static enum extract_code read_trace(struct extract_session *session, struct extract_memory *memory,
                                    struct extract_symbols *symbols,
                                    const struct extract_session_options *options,
                                    struct extract_error *error)
{
    struct extract_ring_options where = {sizeof where,       options->format, options->ring_known,
                                         options->ring,      options->rkh,    options->stream,
                                         options->hook_roles};
    struct extract_trace_options meaning = make_trace_options(symbols, options);
    struct extract_ring ring;

    meaning.memory = memory;
    enum extract_code code = extract_ring_find(&ring, memory, symbols, &where, error);
    if (!code)
        code = extract_snapshot_take(&session->snapshot, memory, &ring, error);
    if (options->is_continued)
        meaning.direction = ring.format->direction; // few timestamps do not show it
    if (!code)
        code = extract_trace_open(&session->trace, &session->snapshot, &meaning, error);
    return code;
}

// Uses the rate that the stream announces, until a clock of the stream has another rate. From then
// on there is none: ticks of two rates do not add up to seconds.
static void update_rate(struct extract_session *session, const struct extract_ring *ring)
{
    if (session->hz || (session->has_stamps && !ring->rkh.value[EXTRACT_RKH_TS]))
        return;
    bool differs = session->has_stamps && ring->hz != session->report.hz;
    session->report.hz = differs ? 0 : ring->hz;
    session->has_stamps = ring->rkh.value[EXTRACT_RKH_TS];
}

enum extract_code extract_session_continue(struct extract_session *session,
                                           struct extract_memory *memory,
                                           const struct extract_ring *ring, bool restarted,
                                           struct extract_error *error)
{
    struct extract_snapshot old = session->snapshot, next;
    enum extract_code code = extract_snapshot_take(&next, memory, ring, error);

    if (code)
        return code;
    session->snapshot = next;
    update_rate(session, &next.ring);
    code = extract_trace_continue(session->trace, &session->snapshot, restarted, error);
    extract_snapshot_free(&old);
    return code;
}

// Opens the trace of a log. A log states its format and the ring's address itself; options that
// contradict it are refused.
static enum extract_code read_log(struct extract_session *session, struct extract_log *log,
                                  struct extract_symbols *symbols,
                                  const struct extract_session_options *options,
                                  struct extract_error *error)
{
    struct extract_trace_options meaning = make_trace_options(symbols, options);
    uint64_t entry;

    if (symbols && extract_log_program(log, &entry))
        extract_symbols_move(symbols, entry);
    enum extract_code code = extract_trace_open_log(&session->trace, log, &meaning, error);
    if (code)
        return code;
    const struct extract_ring *ring = &extract_trace_snapshot(session->trace)->ring;
    if (options->format && strcmp(options->format, extract_ring_format(ring)) != 0)
        return extract_error_set(error, EXTRACT_USAGE, options->format,
                                 "omit the format: the log states it", "the log is of format %s",
                                 extract_ring_format(ring));
    if (options->ring_known && options->ring != ring->address)
        return extract_error_set(
            error, EXTRACT_USAGE, "ring", "omit its address: the log states it",
            "the log is of the ring at 0x%llx", (unsigned long long)ring->address);
    return EXTRACT_OK;
}

static void apply_options(struct extract_session *session,
                          const struct extract_session_options *options)
{
    if (options->columns)
        session->columns = *options->columns;
    else
        extract_columns_init(&session->columns, false);
    session->report = (struct extract_report_options){.size = sizeof session->report,
                                                      .hz = options->hz,
                                                      .json = options->json,
                                                      .no_header = options->no_header,
                                                      .color = options->color,
                                                      .columns = &session->columns,
                                                      .may_continue = options->may_continue,
                                                      .context = options->context,
                                                      .width = options->width,
                                                      .ascii = options->ascii};
    session->report.part = options->is_continued ? &session->part : NULL;
    session->hz = options->hz;
    session->template_files = options->template_files;
    session->template_count = options->template_count;
    session->only_templates = options->only_templates;
    session->dialect = options->dialect;
}

// Opens a session over a memory or, if that is NULL, over a log.
static enum extract_code open_session(struct extract_session **session,
                                      struct extract_memory *memory, struct extract_log *log,
                                      struct extract_symbols *symbols,
                                      const struct extract_session_options *options,
                                      struct extract_error *error)
{
    struct extract_session *s = calloc(1, sizeof *s);

    *session = NULL;
    if (!s)
        return extract_error_set(error, EXTRACT_NOMEM, "trace", NULL, "out of memory");
    apply_options(s, options);
    enum extract_code code = create_filter(s, options, error);
    if (!code && options->span_count)
        code = extract_spans_new(&s->spans, options->spans, options->span_count, error);
    s->report.spans = s->spans;
    if (!code)
        code = memory ? read_trace(s, memory, symbols, options, error)
                      : read_log(s, log, symbols, options, error);
    s->report.has_ended = memory && extract_memory_has_ended(memory);
    if (!code)
        update_rate(s, &extract_trace_snapshot(s->trace)->ring);
    if (!code && options->only_hooks)
        code = add_hook_ids(s, options->only_hooks, false, error);
    if (!code && options->not_hooks)
        code = add_hook_ids(s, options->not_hooks, true, error);
    if (code) {
        extract_session_close(s);
        return code;
    }
    *session = s;
    return EXTRACT_OK;
}

enum extract_code extract_session_open(struct extract_session **session,
                                       struct extract_memory *memory,
                                       struct extract_symbols *symbols,
                                       const struct extract_session_options *options,
                                       struct extract_error *error)
{
    return open_session(session, memory, NULL, symbols, options, error);
}

enum extract_code extract_session_open_log(struct extract_session **session,
                                           struct extract_log *log, struct extract_symbols *symbols,
                                           const struct extract_session_options *options,
                                           struct extract_error *error)
{
    return open_session(session, NULL, log, symbols, options, error);
}

void extract_session_close(struct extract_session *session)
{
    if (!session)
        return;
    extract_report_part_free(&session->part);
    extract_templates_close(session->templates);
    extract_filter_free(session->filter);
    extract_spans_free(session->spans);
    extract_trace_close(session->trace);
    extract_snapshot_free(&session->snapshot);
    free(session);
}

static enum extract_code run_info(struct extract_session *session, struct extract_text *text,
                                  struct extract_error *error)
{
    (void)error;
    return extract_report_info(text, session->trace, &session->report);
}

static enum extract_code run_status(struct extract_session *session, struct extract_text *text,
                                    struct extract_error *error)
{
    (void)error;
    return extract_report_status(text, session->trace, &session->report);
}

static enum extract_code run_objects(struct extract_session *session, struct extract_text *text,
                                     struct extract_error *error)
{
    (void)error;
    return extract_report_objects(text, session->trace, &session->report);
}

// Writes what the last report could not format, and what it omitted.
static void print_outcome(const struct extract_report_outcome *outcome, struct extract_text *text)
{
    if (outcome->faults)
        extract_text_printf(text,
                            "%" PRIu64 " event%s could not be formatted to the end by %s (%s%sat "
                            "seq %" PRIu64 ", hook id %s)\n",
                            outcome->faults, outcome->faults == 1 ? "" : "s",
                            outcome->faults == 1 ? "its template" : "their templates",
                            outcome->fault, outcome->faults == 1 ? ", " : "; the first ",
                            outcome->fault_seq, outcome->fault_hook);
    if (outcome->merged)
        extract_text_printf(text,
                            "%" PRIu64 " event%s the previous one and %s not shown "
                            "(removedups)\n",
                            outcome->merged, outcome->merged == 1 ? " repeats" : "s repeat",
                            outcome->merged == 1 ? "is" : "are");
    if (outcome->undrawn)
        extract_text_printf(text,
                            "%" PRIu64 " older lines are not in the chart: --last, --from and "
                            "--to choose\n",
                            outcome->undrawn);
}

static enum extract_code run_damage(struct extract_session *session, struct extract_text *text,
                                    struct extract_error *error)
{
    (void)error;
    extract_report_damage(text, session->trace);
    if (!session->hz)
        report_rkh_rates(text, session->trace);
    print_outcome(&session->outcome, text);
    return text->code;
}

static enum extract_code run_cost(struct extract_session *session, struct extract_text *text,
                                  struct extract_error *error)
{
    (void)error;
    return extract_report_cost(text, session->trace);
}

static enum extract_code read_templates(struct extract_session *session)
{
    struct extract_error *error = &session->templates_error;
    enum extract_code code = extract_templates_open(&session->templates, session->dialect, error);

    for (size_t i = 0; i < session->template_count && !code; i++)
        code = extract_templates_add_file(session->templates, session->template_files[i], error);
    if (!code && !session->only_templates)
        code = extract_templates_add_builtin(session->templates,
                                             extract_trace_info(session->trace)->format, error);
    return code ? code : extract_templates_link(session->templates, error);
}

// Reads the templates, once, if the report uses any. JSON has everything without templates, and
// Trazer's layout uses none.
static enum extract_code prepare_templates(struct extract_session *session,
                                           struct extract_error *error)
{
    const char *format = extract_trace_info(session->trace)->format;

    if (session->columns.trazer && strcmp(format, "rkh") != 0)
        return extract_error_set(error, EXTRACT_USAGE, "layout of Trazer", "omit it",
                                 "only for RKH, but the format of this trace is %s", format);
    if ((session->report.json && !session->template_count) || session->columns.trazer)
        return EXTRACT_OK;
    if (!session->templates)
        session->templates_code = read_templates(session);
    enum extract_code code = session->templates_code;
    if (code && error)
        *error = session->templates_error;
    if (code && code != EXTRACT_BAD) { // no diagnostics to keep: the next report tries again
        extract_templates_close(session->templates);
        session->templates = NULL;
    }
    session->report.templates = session->templates;
    return code;
}

enum extract_code extract_session_report(struct extract_session *session,
                                         const struct extract_view *view, struct extract_text *text,
                                         struct extract_error *error)
{
    enum extract_code code = prepare_templates(session, error);

    if (!code)
        code =
            extract_report_events(text, view, session->trace, &session->report, &session->outcome);
    return code;
}

// Returns NOTFOUND if the filter is about events of which this trace has none. A later part of a
// stream may have some. `shows_states`: as in filter_check_empty.
static enum extract_code check_absent(const struct extract_session *session,
                                      const struct extract_view *view, bool shows_states,
                                      struct extract_error *error)
{
    if (session->report.part)
        return EXTRACT_OK;
    if (view->absent.code && error)
        *error = view->absent;
    return view->absent.code
               ? view->absent.code
               : filter_check_empty(view, session->filter, session->report.hz, shows_states, error);
}

// Compiles the filter. Returns NOTFOUND if it fits nothing of the trace. The view is then NULL if
// it lets nothing through, so that no empty report comes before the error.
static enum extract_code open_view(struct extract_session *session, struct extract_view **view,
                                   bool shows_states, struct extract_error *error)
{
    enum extract_code code =
        extract_view_new(view, session->filter, session->trace, session->report.hz, error);

    bool is_empty = *view && (*view)->excludes_all;
    if (!code) {
        code = check_absent(session, *view, shows_states, error);
        is_empty = code != EXTRACT_OK;
    }
    if (is_empty) {
        extract_view_free(*view);
        *view = NULL;
    }
    return code;
}

static enum extract_code run_report(struct extract_session *session, struct extract_text *text,
                                    struct extract_error *error)
{
    struct extract_view *view = NULL;
    enum extract_code code = prepare_templates(session, error);

    session->outcome = (struct extract_report_outcome){0};
    if (code)
        return code;
    enum extract_code found = open_view(session, &view, false, error);
    if (view)
        extract_report_events(text, view, session->trace, &session->report, &session->outcome);
    extract_view_free(view);
    return found;
}

static enum extract_code run_raw(struct extract_session *session, struct extract_text *text,
                                 struct extract_error *error)
{
    struct extract_view *view;
    enum extract_code found = open_view(session, &view, false, error);
    enum extract_code code =
        view ? extract_export_hooks(text, view, session->trace, session->report.hz, error) : found;

    extract_view_free(view);
    return code ? code : found;
}

static enum extract_code run_schedule(struct extract_session *session, struct extract_text *text,
                                      struct extract_error *error)
{
    struct extract_view *view;
    enum extract_code found = open_view(session, &view, true, error);
    enum extract_code code =
        view ? extract_report_schedule(text, view, session->trace, &session->report, error) : found;

    extract_view_free(view);
    return code ? code : found;
}

static enum extract_code run_timeline(struct extract_session *session, struct extract_text *text,
                                      struct extract_error *error)
{
    struct extract_view *view;
    enum extract_code code = open_view(session, &view, true, error);

    if (!code) // a picture without the threads that were asked for would mislead
        code = extract_report_timeline(text, view, session->trace, &session->report, error);
    extract_view_free(view);
    return code;
}

static enum extract_code run_stats(struct extract_session *session, struct extract_text *text,
                                   struct extract_error *error)
{
    struct extract_stats *stats = NULL;
    struct extract_view *view;
    enum extract_code found = open_view(session, &view, false, error);
    bool rkh = strcmp(extract_trace_info(session->trace)->format, "rkh") == 0;
    enum extract_code code = view ? EXTRACT_OK : found;

    if (!code && session->spans)
        code =
            extract_spans_find(session->spans, view, session->trace, session->report.hz, 0, error);
    if (!code && rkh)
        code = rkh_report_stats(text, view, session->trace, &session->report, error);
    else if (!code)
        code = extract_stats_new(&stats, view, session->trace, error);
    if (stats) {
        extract_report_stats(text, stats, &session->report);
        extract_stats_free(stats);
    }
    extract_view_free(view);
    return code ? code : found;
}

static enum extract_code run_chart(struct extract_session *session, struct extract_text *text,
                                   bool signalling, struct extract_error *error)
{
    struct extract_view *view;
    enum extract_code found = open_view(session, &view, false, error);
    enum extract_code code = found;

    session->outcome = (struct extract_report_outcome){0};
    if (view)
        code = extract_report_chart(text, view, session->trace, signalling, &session->report,
                                    &session->outcome, error);
    extract_view_free(view);
    return code ? code : found;
}

static enum extract_code run_svg(struct extract_session *session, struct extract_text *text,
                                 struct extract_error *error)
{
    return run_chart(session, text, false, error);
}

static enum extract_code run_signalling(struct extract_session *session, struct extract_text *text,
                                        struct extract_error *error)
{
    return run_chart(session, text, true, error);
}

static enum extract_code text_fault(const struct extract_text *text, struct extract_error *error)
{
    return extract_error_set(error, text->code, "output", NULL, "%s",
                             text->code == EXTRACT_NOMEM ? "out of memory" : "cannot be written");
}

enum extract_code extract_session_crash(struct extract_session *session,
                                        const struct extract_remains *remains,
                                        const struct extract_report_options *options,
                                        struct extract_text *text, struct extract_error *error)
{
    struct extract_crash *crash;
    struct extract_text events;
    enum extract_code code = EXTRACT_OK;

    extract_text_init(&events, NULL, NULL);
    if (session)
        code = extract_session_run(session, "report", &events, error);
    if (!code)
        code = extract_crash_new(&crash, remains, session ? session->trace : NULL,
                                 session ? session->report.hz : 0, error);
    if (!code) {
        code = extract_report_crash(text, crash, &events, options);
        extract_crash_free(crash);
        code = code ? text_fault(text, error) : EXTRACT_OK;
    }
    extract_text_free(&events);
    return code;
}

enum extract_code extract_session_why(struct extract_session *session,
                                      const struct extract_why_options *options,
                                      struct extract_text *text, struct extract_error *error)
{
    struct extract_why_options choice = *options;
    struct extract_why *why;

    choice.hz = choice.hz ? choice.hz : session->report.hz;
    choice.spans = session->spans;
    enum extract_code code = extract_why_new(&why, session->trace, &choice, error);
    if (code)
        return code;
    code = extract_report_why(text, why, session->trace, &session->report);
    extract_why_free(why);
    return code ? text_fault(text, error) : EXTRACT_OK;
}

// Finds what an export needs of a session. Returns NOTFOUND with a view if a condition names
// nothing of its trace. The caller frees side->view, which is NULL after other errors.
static enum extract_code open_side(struct extract_session *session,
                                   struct extract_export_side *side, struct extract_view **view,
                                   struct extract_error *error)
{
    *view = NULL;
    if (!session->templates)
        session->templates_code = read_templates(session);
    if (session->templates_code) {
        if (error)
            *error = session->templates_error;
        return session->templates_code;
    }
    enum extract_code code =
        extract_view_new(view, session->filter, session->trace, session->report.hz, error);
    side->view = *view;
    side->trace = session->trace;
    side->templates = session->templates;
    side->hz = session->report.hz;
    return code;
}

static enum extract_code export_side(const struct extract_export_side *side,
                                     struct extract_export_options *choice,
                                     struct extract_text *text, struct extract_error *error)
{
    choice->hz = side->hz;
    choice->templates = side->templates;
    return extract_export_run(text, side->view, side->trace, choice, error);
}

enum extract_code extract_session_export(struct extract_session *session,
                                         const struct extract_export_options *options,
                                         struct extract_text *text, struct extract_error *error)
{
    struct extract_export_options choice = *options;
    struct extract_export_side side;
    struct extract_view *view;
    enum extract_code found = open_side(session, &side, &view, error);
    bool shows_states = export_shows_states(choice.to, session->trace);
    enum extract_code absent =
        found ? EXTRACT_OK : check_absent(session, view, shows_states, error);
    const struct extract_export_kind *kind = extract_export_kind_find(choice.to);
    // After a failure, what has the name of the file or directory must stay.
    bool is_kept =
        absent ||
        (found && kind && (kind->output != EXTRACT_EXPORT_STREAM || (view && view->excludes_all)));
    found = found ? found : absent;
    enum extract_code code = view && !is_kept ? export_side(&side, &choice, text, error) : found;

    extract_view_free(view);
    return code ? code : found;
}

enum extract_code extract_session_export_two(struct extract_session *a, struct extract_session *b,
                                             const char *title_b,
                                             const struct extract_export_options *options,
                                             struct extract_text *text, struct extract_error *error)
{
    struct extract_export_options choice = *options;
    struct extract_export_side first, second = {.title = title_b};
    struct extract_view *views[2] = {NULL, NULL};
    enum extract_code found = open_side(a, &first, &views[0], error), code = found;

    if (views[0]) {
        code = open_side(b, &second, &views[1], found ? NULL : error);
        found = found ? found : code;
        choice.beside = &second;
    }
    bool shows_states = export_shows_states(choice.to, a->trace);
    // One of the two may have none.
    if (views[1] && !found && check_absent(a, views[0], shows_states, NULL))
        code = found = check_absent(b, views[1], shows_states, error);
    if (views[1] && !code)
        code = export_side(&first, &choice, text, error);
    extract_view_free(views[0]);
    extract_view_free(views[1]);
    return code ? code : found;
}

enum extract_code extract_session_diff(struct extract_session *a, struct extract_session *b,
                                       struct extract_text *text, struct extract_error *error)
{
    struct extract_diff *diff;
    enum extract_code code =
        extract_diff_new(&diff, a->trace, a->report.hz, b->trace, b->report.hz, error);

    if (code)
        return code;
    code = extract_report_diff(text, diff, &a->report);
    extract_diff_free(diff);
    return code ? text_fault(text, error) : EXTRACT_OK;
}

enum extract_code extract_session_assertions(struct extract_session *session,
                                             struct extract_assertions **assertions,
                                             struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    if (session->spans)
        code =
            extract_spans_find(session->spans, NULL, session->trace, session->report.hz, 0, error);
    return code ? code
                : extract_assertions_new(assertions, session->trace, session->spans,
                                         session->report.hz, extract_session_is_whole(session),
                                         error);
}

enum extract_code extract_session_run(struct extract_session *session, const char *command,
                                      struct extract_text *text, struct extract_error *error)
{
    static const struct {
        const char *name;
        enum extract_code (*run)(struct extract_session *, struct extract_text *,
                                 struct extract_error *);
    } commands[] = {
        {"info", run_info},     {"objects", run_objects},   {"report", run_report},
        {"stats", run_stats},   {"damage", run_damage},     {"cost", run_cost},
        {"raw", run_raw},       {"chart", run_svg},         {"signalling", run_signalling},
        {"status", run_status}, {"schedule", run_schedule}, {"timeline", run_timeline}};

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(command, commands[i].name) != 0)
            continue;
        enum extract_code code = commands[i].run(session, text, error);
        return text->code ? text_fault(text, error) : code;
    }
    return extract_error_set(error, EXTRACT_USAGE, command,
                             "use info, objects, report, stats, schedule, timeline, damage, cost, "
                             "raw, chart, signalling or status",
                             "unknown command");
}

static bool is_complete_log(const struct extract_log_info *log)
{
    for (unsigned i = 0; i < EXTRACT_LOSS_REASONS; i++)
        if (log->losses[i].gaps)
            return false;
    return log->status.closed && !log->status.cut && !log->status.damaged && !log->status.missing &&
           !log->unreadable;
}

bool extract_session_is_whole(const struct extract_session *session)
{
    const struct extract_info *info = extract_trace_info(session->trace);
    const struct extract_snapshot *snapshot = extract_trace_snapshot(session->trace);

    return !session->outcome.faults && (!info->log || is_complete_log(info->log)) &&
           !info->entries_damaged && !info->entries_unread && !snapshot->unwritten &&
           !snapshot->registry_missing && !snapshot->ring.missing_end && !snapshot->ring.is_moved &&
           !snapshot->ring.doubtful && snapshot->ring.origin != EXTRACT_FROM_EARLIER &&
           snapshot->ring.origin != EXTRACT_FROM_REBUILT;
}

uint64_t extract_session_shown(const struct extract_session *session)
{
    return session->outcome.shown;
}

const struct extract_templates *extract_session_templates(const struct extract_session *session)
{
    return session->templates;
}

const struct extract_trace *extract_session_trace(const struct extract_session *session)
{
    return session->trace;
}
