// SPDX-License-Identifier: MIT
// report: one look at a trace. In: a memory, symbols and a user's options. Out: the text of verbs.
#include <extract/session.h>
#include <stdlib.h>
#include <string.h>

struct extract_session {
    struct extract_snapshot snapshot;
    struct extract_trace *trace;
    struct extract_filter *filter;
    struct extract_report_options report;
    uint64_t shown;
};

static enum extract_code make_filter(struct extract_session *session,
                                     const struct extract_session_options *options,
                                     struct extract_error *error)
{
    enum extract_code code = extract_filter_new(&session->filter, error);
    for (size_t i = 0; i < options->condition_count && !code; i++)
        code = extract_filter_add(session->filter, options->conditions[i].word,
                                  options->conditions[i].value, error);
    return code;
}

static struct extract_trace_options meaning_of(struct extract_symbols *symbols,
                                               const struct extract_session_options *options)
{
    return (struct extract_trace_options){.size = sizeof(struct extract_trace_options),
                                          .symbols = symbols,
                                          .user_types = options->user_types,
                                          .modulus = options->modulus,
                                          .hz = options->hz};
}

static enum extract_code read_trace(struct extract_session *session, struct extract_memory *memory,
                                    struct extract_symbols *symbols,
                                    const struct extract_session_options *options,
                                    struct extract_error *error)
{
    struct extract_ring_options where = {sizeof where, options->format, options->ring_known,
                                         options->ring};
    struct extract_trace_options meaning = meaning_of(symbols, options);
    struct extract_ring ring;
    meaning.memory = memory;
    enum extract_code code = extract_ring_find(&ring, memory, symbols, &where, error);
    if (!code)
        code = extract_snapshot_take(&session->snapshot, memory, &ring, error);
    if (!code)
        code = extract_trace_open(&session->trace, &session->snapshot, &meaning, error);
    return code;
}

// A log says itself what was recorded and where that lay.
static enum extract_code read_log(struct extract_session *session, struct extract_log *log,
                                  struct extract_symbols *symbols,
                                  const struct extract_session_options *options,
                                  struct extract_error *error)
{
    struct extract_trace_options meaning = meaning_of(symbols, options);
    enum extract_code code = extract_trace_open_log(&session->trace, log, &meaning, error);
    if (code)
        return code;
    const struct extract_ring *ring = &extract_trace_snapshot(session->trace)->ring;
    if (options->format && strcmp(options->format, extract_ring_format(ring)))
        return extract_error_set(error, EXTRACT_USAGE, options->format,
                                 "leave the format out: the log says it",
                                 "the log is one of format %s", extract_ring_format(ring));
    if (options->ring_known && options->ring != ring->address)
        return extract_error_set(
            error, EXTRACT_USAGE, "ring", "leave its address out: the log says it",
            "the log is one of the ring at 0x%llx", (unsigned long long)ring->address);
    return EXTRACT_OK;
}

// A session over a memory or, when there is none, over a log.
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
    s->report = (struct extract_report_options){sizeof s->report, options->hz, options->json,
                                                options->no_header, options->color};
    enum extract_code code = make_filter(s, options, error);
    if (!code)
        code = memory ? read_trace(s, memory, symbols, options, error)
                      : read_log(s, log, symbols, options, error);
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
    extract_filter_free(session->filter);
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

static enum extract_code run_objects(struct extract_session *session, struct extract_text *text,
                                     struct extract_error *error)
{
    (void)error;
    return extract_report_objects(text, session->trace, &session->report);
}

static enum extract_code run_damage(struct extract_session *session, struct extract_text *text,
                                    struct extract_error *error)
{
    (void)error;
    return extract_report_damage(text, session->trace);
}

static enum extract_code run_cost(struct extract_session *session, struct extract_text *text,
                                  struct extract_error *error)
{
    (void)error;
    return extract_report_cost(text, session->trace);
}

static enum extract_code run_report(struct extract_session *session, struct extract_text *text,
                                    struct extract_error *error)
{
    struct extract_view *view;
    enum extract_code found =
        extract_view_new(&view, session->filter, session->trace, session->report.hz, error);
    if (view)
        extract_report_events(text, view, session->trace, &session->report, &session->shown);
    extract_view_free(view);
    return found;
}

static enum extract_code run_stats(struct extract_session *session, struct extract_text *text,
                                   struct extract_error *error)
{
    struct extract_stats *stats = NULL;
    struct extract_view *view;
    enum extract_code found =
        extract_view_new(&view, session->filter, session->trace, session->report.hz, error);
    enum extract_code code = view ? extract_stats_new(&stats, view, session->trace, error) : found;
    if (!code) {
        extract_report_stats(text, stats, &session->report);
        extract_stats_free(stats);
    }
    extract_view_free(view);
    return code ? code : found;
}

static enum extract_code text_fault(const struct extract_text *text, struct extract_error *error)
{
    return extract_error_set(error, text->code, "output", NULL, "%s",
                             text->code == EXTRACT_NOMEM ? "out of memory"
                                                         : "it could not be written");
}

enum extract_code extract_session_run(struct extract_session *session, const char *verb,
                                      struct extract_text *text, struct extract_error *error)
{
    static const struct {
        const char *name;
        enum extract_code (*run)(struct extract_session *, struct extract_text *,
                                 struct extract_error *);
    } verbs[] = {{"info", run_info},   {"objects", run_objects}, {"report", run_report},
                 {"stats", run_stats}, {"damage", run_damage},   {"cost", run_cost}};

    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(verb, verbs[i].name))
            continue;
        enum extract_code code = verbs[i].run(session, text, error);
        return text->code ? text_fault(text, error) : code;
    }
    return extract_error_set(error, EXTRACT_USAGE, verb,
                             "the verbs are info, objects, report, stats, damage and cost",
                             "there is no such verb");
}

static bool log_is_whole(const struct extract_log_info *log)
{
    for (unsigned i = 0; i < EXTRACT_LOSS_REASONS; i++)
        if (log->losses[i].places)
            return false;
    return log->status.closed && !log->status.cut && !log->status.damaged && !log->status.missing &&
           !log->unreadable;
}

bool extract_session_is_whole(const struct extract_session *session)
{
    const struct extract_info *info = extract_trace_info(session->trace);
    const struct extract_snapshot *snapshot = extract_trace_snapshot(session->trace);
    return (!info->log || log_is_whole(info->log)) && !info->entries_damaged &&
           !(info->lost_known && info->events_lost) && !snapshot->registry_missing &&
           !snapshot->ring.doubtful;
}

uint64_t extract_session_shown(const struct extract_session *session)
{
    return session->shown;
}

const struct extract_trace *extract_session_trace(const struct extract_session *session)
{
    return session->trace;
}
