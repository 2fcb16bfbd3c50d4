// SPDX-License-Identifier: MIT
// cli/top: the meaning of a window. It is opened as a trace, like any other snapshot, and gives
// statistics, the newest event of each thread, and the newest events as text.
#include "cli/top/top.h"
#include "formats/format.h"
#include <stdlib.h>
#include <string.h>

// Opens the window as a trace. No memory is passed, so names come from the registry and the ELF
// only: a refresh must not read from the target.
static enum extract_code open_trace(struct top_snapshot *snapshot, const struct top_source *source,
                                    const struct extract_user_types *types,
                                    struct extract_error *error)
{
    struct extract_trace_options options = {.size = sizeof options,
                                            .symbols = source->symbols,
                                            .user_types = types,
                                            .hook_roles = source->roles,
                                            .modulus = source->options->session.modulus,
                                            .rkh = source->options->session.rkh,
                                            .cores_seen = source->window.cores_seen,
                                            .is_part = true};

    enum extract_code code;

    if (source->window.is_stream) {
        code = top_window_make_log(&source->window, &snapshot->log, error);
        return code ? code
                    : extract_trace_open_log(&snapshot->trace, snapshot->log, &options, error);
    }
    code = top_window_make_snapshot(&source->window, &snapshot->slots, error);
    if (!code && source->roles) // only hook words have roles, so this fails
        code = extract_ring_set_roles(&snapshot->slots.ring, source->roles, error);
    return code ? code : extract_trace_open(&snapshot->trace, &snapshot->slots, &options, error);
}

static bool note_last_events(void *context, const struct extract_event *events, size_t count)
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
            snapshot->last_events[thread - first] =
                (struct top_last_event){events[i].type, events[i].id};
    }
    return true;
}

static enum extract_code compute_statistics(struct top_snapshot *snapshot,
                                            struct extract_error *error)
{
    const struct extract_object *objects;
    struct extract_sink sink = {.events = note_last_events, .context = snapshot};
    struct extract_view *view = NULL;

    snapshot->last_events =
        calloc(extract_trace_objects(snapshot->trace, &objects) + 1, sizeof *snapshot->last_events);
    if (!snapshot->last_events)
        return extract_error_set(error, EXTRACT_NOMEM, "threads", NULL, "out of memory");
    enum extract_code code = extract_view_new(&view, NULL, snapshot->trace, 0, error);
    if (!code) {
        extract_view_run(view, &sink);
        code = extract_stats_new(&snapshot->stats, view, snapshot->trace, error);
    }
    extract_view_free(view);
    return code;
}

enum extract_code top_snapshot_open(struct top_snapshot *snapshot, struct top_source *source,
                                    const struct extract_user_types *types,
                                    struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    struct extract_error fault;

    memset(snapshot, 0, sizeof *snapshot);
    top_source_read_facts(source, &snapshot->facts);
    if (source->window.has_ring) {
        code = open_trace(snapshot, source, types, &fault);
        // A window over a byte ring may not contain the layout of its entries yet.
        bool may_pass =
            code && code != EXTRACT_NOMEM && code != EXTRACT_IO && code != EXTRACT_USAGE;
        if (snapshot->log && may_pass)
            snapshot->fault = fault;
        else if (code && error)
            *error = fault;
        else
            code = code ? code : compute_statistics(snapshot, error);
    }
    // Later windows may hold entries of one core only, although the ring has those of several.
    if (snapshot->trace)
        source->window.cores_seen = extract_trace_info(snapshot->trace)->cores;
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
    free(snapshot->last_events);
    memset(snapshot, 0, sizeof *snapshot);
}

static enum extract_code make_view(const struct top_snapshot *snapshot, const char *line,
                                   uint64_t max_events, uint64_t hz, struct extract_view **view,
                                   struct extract_error *error)
{
    struct extract_filter *filter;

    *view = NULL;
    enum extract_code code = top_filter_line_parse(line, max_events, &filter, error);
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
                                      uint64_t max_events,
                                      const struct extract_report_options *report,
                                      struct extract_text *text, struct extract_error *error)
{
    struct extract_view *view;
    enum extract_code code = make_view(snapshot, line, max_events, report->hz, &view, error);

    if (view)
        extract_report_events(text, view, snapshot->trace, report, NULL);
    extract_view_free(view);
    return code;
}
