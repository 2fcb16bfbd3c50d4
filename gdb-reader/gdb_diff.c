// SPDX-License-Identifier: MIT
// gdb-reader: the events that are new since the last snapshot, for `ringside diff` and `auto`.
//
// Event numbers start at 0 with every snapshot, so the last event of the previous snapshot is found
// again by its slot and its contents. All events after it are new. If it is no longer in the ring,
// all events are new, and others were lost.
#include "query.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_last_event(const struct last_event *last, const struct extract_event *event)
{
    return event->slot == last->slot && event->raw_stamp == last->stamp && event->id == last->id &&
           event->thread == last->thread;
}

// Returns the number of the first new event. If the last event was overwritten, returns 0 and sets
// *was_overwritten.
static uint64_t find_first_new(const struct query *query, bool *was_overwritten)
{
    const struct extract_trace *trace = extract_session_trace(query->session);
    const struct last_event *last = &query->state->last_event;
    struct extract_reader reader;
    struct extract_event event[64];
    uint64_t first = 0;
    size_t count;

    *was_overwritten = last->is_known;
    if (!last->is_known || last->ring != extract_trace_snapshot(trace)->ring.address)
        return 0;
    extract_reader_init(&reader, trace);
    while ((count = extract_reader_next(&reader, event, 64)) > 0)
        for (size_t i = 0; i < count; i++)
            if (is_last_event(last, &event[i]))
                first = event[i].seq + 1;
    *was_overwritten = first == 0;
    return first;
}

static enum extract_code make_view(const struct query *query, const struct query_options *options,
                                   struct extract_view **view, struct extract_error *error)
{
    struct extract_condition conditions[QUERY_MAX_CONDITIONS];
    size_t count = query_conditions(options, conditions);
    struct extract_filter *filter;
    enum extract_code code = extract_filter_new(&filter, error);

    *view = NULL;
    for (size_t i = 0; i < count && !code; i++)
        code = extract_filter_add(filter, conditions[i].word, conditions[i].value, error);
    if (!code)
        code = extract_view_new(view, filter, extract_session_trace(query->session),
                                query->state->options.hz, error);
    extract_filter_free(filter);
    return code;
}

struct new_events {
    uint64_t first; // number of the first one
    uint64_t count; // of those that match the filters
};

static bool count_events(void *context, const struct extract_event *events, size_t count)
{
    struct new_events *new_events = context;

    for (size_t i = 0; i < count; i++)
        new_events->count += events[i].seq >= new_events->first;
    return true;
}

static enum extract_code count_new_events(const struct query *query,
                                          const struct query_options *options,
                                          struct new_events *new_events,
                                          struct extract_error *error)
{
    const struct extract_sink sink = {.events = count_events, .context = new_events};
    struct extract_view *view;
    enum extract_code code = make_view(query, options, &view, error);

    if (view)
        extract_view_run(view, &sink);
    extract_view_free(view);
    return code;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

enum extract_code query_print_new_events(struct query *query, const struct query_options *options,
                                         uint64_t max_events, struct extract_text *text,
                                         uint64_t *printed, struct extract_error *error)
{
    const char *last = options->filter[EXTRACT_FILTER_LAST];
    struct query_options without_last = *options;
    struct new_events new_events = {0, 0};
    struct extract_view *view;
    char number[24];
    bool was_overwritten;

    new_events.first = find_first_new(query, &was_overwritten);
    if (was_overwritten)
        extract_text_puts(text, "The ring wrapped since the last snapshot: events are lost.\n");
    without_last.filter[EXTRACT_FILTER_LAST] = NULL;
    enum extract_code code = count_new_events(query, &without_last, &new_events, error);
    if (code)
        return code;
    if (max_events)
        new_events.count = smaller(new_events.count, max_events);
    if (last)
        new_events.count = smaller(new_events.count, strtoull(last, NULL, 0));
    if (!new_events.count) {
        extract_text_puts(text, "Nothing new since the last snapshot.\n");
        return EXTRACT_OK;
    }
    // The new events are the newest ones that match, so --last N prints them.
    snprintf(number, sizeof number, "%" PRIu64, new_events.count);
    without_last.filter[EXTRACT_FILTER_LAST] = number;
    code = make_view(query, &without_last, &view, error);
    if (!code)
        code = query_report(query, view, text, error);
    *printed = extract_session_shown(query->session);
    extract_view_free(view);
    return code;
}
