// SPDX-License-Identifier: MIT
// gdb-reader: what is new since the last look.
//
// In: a look, and the place where the last one's newest event was. Out: the events behind it.
#include "query.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// Event numbers start again with every look, so the event is known by its slot and what is in it.
static bool is_place(const struct place *place, const struct extract_event *event)
{
    return event->slot == place->slot && event->raw_stamp == place->stamp &&
           event->id == place->id && event->thread == place->thread;
}

// The number of the first new event. 0 also when the place is not there any more: then *gone.
static uint64_t first_new(const struct query *query, bool *gone)
{
    const struct extract_trace *trace = extract_session_trace(query->session);
    const struct place *place = &query->state->place;
    struct extract_reader reader;
    struct extract_event event[64];
    uint64_t first = 0;
    size_t count;

    *gone = place->known;
    if (!place->known || place->ring != extract_trace_snapshot(trace)->ring.address)
        return 0;
    extract_reader_init(&reader, trace);
    while ((count = extract_reader_next(&reader, event, 64)) > 0)
        for (size_t i = 0; i < count; i++)
            if (is_place(place, &event[i]))
                first = event[i].seq + 1;
    *gone = first == 0;
    return first;
}

static enum extract_code make_view(const struct query *query, const struct query_options *choice,
                                   struct extract_view **view, struct extract_error *error)
{
    struct extract_condition conditions[CHOICE_CONDITIONS];
    size_t count = choice_conditions(choice, conditions);
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

struct tally {
    uint64_t first;
    uint64_t count;
};

static bool count_new(void *context, const struct extract_event *events, size_t count)
{
    struct tally *tally = context;

    for (size_t i = 0; i < count; i++)
        tally->count += events[i].seq >= tally->first;
    return true;
}

// How many of the new events the choice lets through.
static enum extract_code count_news(const struct query *query, const struct query_options *choice,
                                    struct tally *tally, struct extract_error *error)
{
    const struct extract_sink sink = {.events = count_new, .context = tally};
    struct extract_view *view;
    enum extract_code code = make_view(query, choice, &view, error);

    if (view)
        extract_view_run(view, &sink);
    extract_view_free(view);
    return code;
}

static enum extract_code report(struct query *query, const struct query_options *choice,
                                struct extract_text *text, uint64_t *shown,
                                struct extract_error *error)
{
    struct extract_view *view;
    enum extract_code code = make_view(query, choice, &view, error);

    if (!code)
        code = query_report(query, view, text, error);
    *shown = extract_session_shown(query->session);
    extract_view_free(view);
    return code;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

enum extract_code query_news(struct query *query, const struct query_options *choice,
                             uint64_t newest, struct extract_text *text, uint64_t *shown,
                             struct extract_error *error)
{
    struct query_options news = *choice;
    struct tally tally = {0, 0};
    char number[24];
    bool gone;

    tally.first = first_new(query, &gone);
    if (gone)
        extract_text_puts(text, "Events were lost: the ring has wrapped past the last snapshot.\n");
    news.word[EXTRACT_FILTER_LAST] = NULL;
    enum extract_code code = count_news(query, &news, &tally, error);
    if (code)
        return code;
    if (newest)
        tally.count = smaller(tally.count, newest);
    if (choice->word[EXTRACT_FILTER_LAST])
        tally.count = smaller(tally.count, strtoull(choice->word[EXTRACT_FILTER_LAST], NULL, 0));
    if (!tally.count) {
        extract_text_puts(text, "No new events since the last snapshot.\n");
        return EXTRACT_OK;
    }
    snprintf(number, sizeof number, "%" PRIu64, tally.count);
    news.word[EXTRACT_FILTER_LAST] = number;
    return report(query, &news, text, shown, error);
}
