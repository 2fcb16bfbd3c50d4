// SPDX-License-Identifier: MIT
// cli/top: the meaning of a window. In: the window as a snapshot, filter lines. Out: its trace,
// statistics, each thread's newest event, and the newest events as text.
#include "cli/top/top.h"
#include <stdlib.h>
#include <string.h>

static enum extract_code open_log(struct top_snapshot *snapshot, const struct top_window *window,
                                  const struct extract_trace_options *options,
                                  struct extract_error *error)
{
    enum extract_code code = top_window_log(window, &snapshot->log, error);

    return code ? code : extract_trace_open_log(&snapshot->trace, snapshot->log, options, error);
}

// Names are taken from the registry and the ELF only: a look must not read from the target.
static enum extract_code open_trace(struct top_snapshot *snapshot, const struct top_source *source,
                                    const struct extract_user_types *types,
                                    struct extract_error *error)
{
    struct extract_trace_options options = {.size = sizeof options,
                                            .symbols = source->symbols,
                                            .user_types = types,
                                            .modulus = source->options->session.modulus,
                                            .rkh = source->options->session.rkh,
                                            .cores_seen = source->window.cores};

    if (source->window.streams)
        return open_log(snapshot, &source->window, &options, error);
    enum extract_code code = top_window_snapshot(&source->window, &snapshot->slots, error);
    return code ? code : extract_trace_open(&snapshot->trace, &snapshot->slots, &options, error);
}

static bool note_last(void *context, const struct extract_event *events, size_t count)
{
    struct top_snapshot *snapshot = context;
    const struct extract_object *first;

    extract_trace_objects(snapshot->trace, &first);
    for (size_t i = 0; i < count; i++) {
        const struct extract_object *thread =
            events[i].context == EXTRACT_THREAD
                ? extract_trace_thread(snapshot->trace, events[i].thread)
                : NULL;
        if (thread)
            snapshot->last[thread - first] = (struct top_last){events[i].type, events[i].id};
    }
    return true;
}

static enum extract_code study(struct top_snapshot *snapshot, struct extract_error *error)
{
    const struct extract_object *objects;
    struct extract_sink sink = {.events = note_last, .context = snapshot};
    struct extract_view *view = NULL;

    snapshot->last =
        calloc(extract_trace_objects(snapshot->trace, &objects) + 1, sizeof *snapshot->last);
    if (!snapshot->last)
        return extract_error_set(error, EXTRACT_NOMEM, "threads", NULL, "out of memory");
    enum extract_code code = extract_view_new(&view, NULL, snapshot->trace, 0, error);
    if (!code) {
        extract_view_run(view, &sink);
        code = extract_stats_new(&snapshot->stats, view, snapshot->trace, error);
    }
    extract_view_free(view);
    return code;
}

// A window over a stream may not hold yet what tells how its entries are laid out.
static bool is_patient(const struct top_snapshot *snapshot, enum extract_code code)
{
    return snapshot->log && code && code != EXTRACT_NOMEM && code != EXTRACT_IO;
}

enum extract_code top_snapshot_open(struct top_snapshot *snapshot, struct top_source *source,
                                    const struct extract_user_types *types,
                                    struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    struct extract_error fault;

    memset(snapshot, 0, sizeof *snapshot);
    top_source_facts(source, &snapshot->facts);
    if (source->window.has_ring) {
        code = open_trace(snapshot, source, types, &fault);
        if (is_patient(snapshot, code))
            snapshot->fault = fault;
        else if (code && error)
            *error = fault;
        else
            code = code ? code : study(snapshot, error);
    }
    // A window may hold entries of one core only. There are several all the same.
    if (snapshot->trace)
        source->window.cores = extract_trace_info(snapshot->trace)->cores;
    code = snapshot->fault.code ? EXTRACT_OK : code;
    if (code)
        top_snapshot_close(snapshot);
    return code;
}

void top_snapshot_close(struct top_snapshot *snapshot)
{
    extract_stats_free(snapshot->stats);
    extract_trace_close(snapshot->trace);
    extract_log_free(snapshot->log);
    extract_snapshot_free(&snapshot->slots);
    free(snapshot->last);
    memset(snapshot, 0, sizeof *snapshot);
}

static enum extract_code make_view(const struct top_snapshot *snapshot, const char *line,
                                   uint64_t most, uint64_t hz, struct extract_view **view,
                                   struct extract_error *error)
{
    struct extract_filter *filter;

    *view = NULL;
    enum extract_code code = top_filter_line_filter(line, most, &filter, error);
    if (code)
        return code;
    code = extract_view_new(view, filter, snapshot->trace, hz, error);
    extract_filter_free(filter);
    return code;
}

enum extract_code top_snapshot_stats(const struct top_snapshot *snapshot, const char *line,
                                     uint64_t hz, struct extract_stats **stats,
                                     struct extract_error *error)
{
    struct extract_view *view;

    *stats = NULL;
    enum extract_code found = make_view(snapshot, line, 0, hz, &view, error);
    enum extract_code code = view ? extract_stats_new(stats, view, snapshot->trace, error) : found;
    extract_view_free(view);
    return code ? code : found;
}

enum extract_code top_snapshot_events(const struct top_snapshot *snapshot, const char *line,
                                      uint64_t most, const struct extract_report_options *report,
                                      struct extract_text *text, struct extract_error *error)
{
    struct extract_view *view;
    enum extract_code code = make_view(snapshot, line, most, report->hz, &view, error);

    if (view)
        extract_report_events(text, view, snapshot->trace, report, NULL);
    extract_view_free(view);
    return code;
}
