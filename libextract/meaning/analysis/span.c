// SPDX-License-Identifier: MIT
// analysis: finds spans: pairs the begins and ends that a user defines.
//
// One walk over the trace serves all definitions. Each definition keeps its open spans in two
// orders:
//
//   key ──> newest open span of the key ──> older one ──> ...    a stack per key
//   oldest <──> ... <──> newest                                  all of them
//
// The key is the value of the definition's field or, without a field, the thread. An end takes the
// newest span of its key. Without a field, it may take the newest span of all.
//
// Memory does not grow with the trace: of more than EXTRACT_SPANS_OPEN open spans, the oldest is
// dropped. It is the one that most likely never ends.
#include "analysis/distribution.h"
#include "analysis/spans.h"
#include "base/grow.h"
#include "base/map.h"
#include "events/where.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_KEYS = 2 * EXTRACT_SPANS_OPEN };

// Indices of open spans and keys count from 1; 0: none.
struct open_span {
    struct extract_span span; // without its end
    bool is_untimed;
    uint32_t key;
    uint32_t older, newer;           // of all; of a free one, `older` is the next free one
    uint32_t older_same, newer_same; // of its key
};

struct span_key {
    uint64_t value;
    uint32_t newest;
};

struct pairing {
    struct span_definition definition;
    struct extract_span_stats stats;
    struct extract_span *worst; // with room for one more than is wanted
    struct distribution durations;
    struct open_span *spans; // EXTRACT_SPANS_OPEN of them
    uint32_t used, free_span, oldest, newest;
    uint32_t open;
    struct span_key *keys; // MAX_KEYS of them
    uint32_t key_count;
    struct extract_map key_of_value;
    bool has_history; // its expressions depend on earlier events
};

struct extract_spans {
    struct pairing *pairings;
    size_t count;
    size_t wanted; // longest spans to keep
    bool has_gap;  // since the newest event in the range
    bool failed;   // out of memory
};

static enum extract_code out_of_memory(struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_NOMEM, "spans", NULL, "out of memory");
}

// ---- open spans ----

// Returns the index of a key, which is added if it is not there. There is room for it.
static uint32_t key_at(struct pairing *pairing, uint64_t value)
{
    uint32_t *index = extract_map_at(&pairing->key_of_value, value);

    if (!index)
        return 0;
    if (!*index) {
        pairing->keys[pairing->key_count++] = (struct span_key){value, 0};
        *index = pairing->key_count;
    }
    return *index;
}

// Makes room for a key: forgets those without an open span. Returns false if memory is short.
static bool renew_keys(struct pairing *pairing)
{
    struct span_key *old = pairing->keys;
    struct span_key *keys = calloc(MAX_KEYS, sizeof *keys);

    extract_map_free(&pairing->key_of_value);
    if (!extract_map_init(&pairing->key_of_value, MAX_KEYS) || !keys) {
        free(keys);
        return false;
    }
    pairing->keys = keys;
    pairing->key_count = 0;
    for (uint32_t i = pairing->oldest; i; i = pairing->spans[i - 1].newer) {
        struct open_span *span = &pairing->spans[i - 1];
        span->key = key_at(pairing, old[span->key - 1].value);
        if (span->key)
            keys[span->key - 1].newest = i;
    }
    free(old);
    return true;
}

// Takes an open span out of both orders.
static struct open_span close_span(struct pairing *pairing, uint32_t index)
{
    struct open_span *spans = pairing->spans;
    struct open_span closed = spans[index - 1];

    if (closed.older)
        spans[closed.older - 1].newer = closed.newer;
    else
        pairing->oldest = closed.newer;
    if (closed.newer)
        spans[closed.newer - 1].older = closed.older;
    else
        pairing->newest = closed.older;
    if (closed.older_same)
        spans[closed.older_same - 1].newer_same = closed.newer_same;
    if (closed.newer_same)
        spans[closed.newer_same - 1].older_same = closed.older_same;
    else
        pairing->keys[closed.key - 1].newest = closed.older_same;
    spans[index - 1].older = pairing->free_span;
    pairing->free_span = index;
    pairing->open--;
    return closed;
}

// Opens a span. Returns false if memory is short.
static bool open_span(struct pairing *pairing, uint64_t value, const struct open_span *begin)
{
    if (pairing->open == EXTRACT_SPANS_OPEN) {
        close_span(pairing, pairing->oldest);
        pairing->stats.dropped++;
        pairing->stats.without_end++;
    }
    if (pairing->key_count == MAX_KEYS && !renew_keys(pairing))
        return false;
    uint32_t key = key_at(pairing, value), index = pairing->free_span;
    if (!key)
        return false;
    if (index)
        pairing->free_span = pairing->spans[index - 1].older;
    else
        index = ++pairing->used;
    struct open_span *span = &pairing->spans[index - 1];
    *span = *begin;
    span->key = key;
    span->older = pairing->newest;
    span->older_same = pairing->keys[key - 1].newest;
    if (span->older)
        pairing->spans[span->older - 1].newer = index;
    else
        pairing->oldest = index;
    if (span->older_same)
        pairing->spans[span->older_same - 1].newer_same = index;
    pairing->newest = pairing->keys[key - 1].newest = index;
    pairing->open++;
    return true;
}

// Forgets all open spans at a gap: their ends may be missing.
static void close_all(struct pairing *pairing)
{
    for (uint32_t i = pairing->oldest; i; i = pairing->spans[i - 1].newer)
        pairing->keys[pairing->spans[i - 1].key - 1].newest = 0;
    pairing->stats.without_end += pairing->open;
    pairing->open = pairing->used = pairing->free_span = pairing->oldest = pairing->newest = 0;
}

// ---- pairs ----

// Keeps a span if it is one of the longest, in order of length.
static void keep_worst(struct pairing *pairing, const struct extract_span *span, size_t wanted)
{
    struct extract_span *worst = pairing->worst;
    size_t place = pairing->stats.worst_count;

    if (span->from == span->to)
        return;
    while (place && worst[place - 1].to - worst[place - 1].from < span->to - span->from)
        place--;
    if (place >= wanted)
        return;
    pairing->stats.worst_count += pairing->stats.worst_count < wanted;
    memmove(&worst[place + 1], &worst[place],
            (pairing->stats.worst_count - place - 1) * sizeof *worst);
    worst[place] = *span;
}

static bool add_begin(struct pairing *pairing, const struct extract_event *event)
{
    bool has_thread = event->context == EXTRACT_THREAD && event->thread;
    const struct open_span begin = {.span = {.from = event->ticks,
                                             .from_seq = event->seq,
                                             .thread = has_thread ? event->thread : 0,
                                             .has_thread = has_thread},
                                    .is_untimed = event->flags & EXTRACT_FLAG_UNTIMED};
    uint64_t key;

    if (span_definition_key(&pairing->definition, event, &key))
        return open_span(pairing, key, &begin);
    pairing->stats.without_end++;
    return true;
}

// Returns whether an event shows what recorded it. Some formats do not show the thread.
static bool has_context(const struct extract_event *event)
{
    return event->context != EXTRACT_THREAD || event->thread;
}

// Pairs an end. Returns false if memory is short. `begins` is set if the event is a begin, too:
// then it need not end anything.
static bool add_end(struct pairing *pairing, const struct extract_event *event, bool begins,
                    size_t wanted)
{
    struct extract_span_stats *stats = &pairing->stats;
    uint64_t value;
    bool has_key = span_definition_key(&pairing->definition, event, &value);
    uint32_t key = has_key ? extract_map_get(&pairing->key_of_value, value) : 0;
    uint32_t index = key ? pairing->keys[key - 1].newest : 0;
    bool is_any_thread = pairing->definition.field == SPAN_FIELD_NONE;
    bool is_likely = is_any_thread && (!index || !has_context(event));

    index = index || !is_any_thread ? index : pairing->newest;
    if (!index) {
        stats->without_begin += !begins;
        return true;
    }
    struct open_span closed = close_span(pairing, index);
    struct extract_span *span = &closed.span;
    if (closed.is_untimed || event->flags & EXTRACT_FLAG_UNTIMED || event->ticks < span->from) {
        stats->untimed++;
        return true;
    }
    span->to = event->ticks;
    span->to_seq = event->seq;
    span->is_likely = is_likely;
    if (!span->has_thread && event->context == EXTRACT_THREAD && event->thread) {
        span->has_thread = true;
        span->thread = event->thread;
    }
    stats->likely += is_likely;
    keep_worst(pairing, span, wanted);
    return distribution_add(&pairing->durations, span->to - span->from);
}

// ---- the walk ----

static bool add_event(struct extract_spans *spans, struct pairing *pairing,
                      const struct extract_event *event)
{
    bool begins = filter_passes(pairing->definition.begin.view, event);
    bool ends = filter_passes(pairing->definition.end.view, event);

    if (ends && !add_end(pairing, event, begins, spans->wanted))
        return false;
    return !begins || add_begin(pairing, event);
}

// Prepares the expressions of an event for a walk from the start of the trace.
static bool begin_history(const struct extract_view *view, const struct extract_trace *trace)
{
    struct extract_reader reader;

    if (!view->where || !where_has_history(view->where))
        return false;
    extract_reader_init(&reader, trace);
    where_begin(view->where, &reader);
    return true;
}

static void note_history(const struct pairing *pairing, const struct extract_event *event)
{
    const struct extract_view *views[] = {pairing->definition.begin.view,
                                          pairing->definition.end.view};

    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        if (views[i]->where && where_has_history(views[i]->where))
            where_note(views[i]->where, event);
}

// Adds events. A gap takes effect at the next event in the range, so that a gap after the range
// has none.
static bool add_events(void *context, const struct extract_event *events, const uint8_t *standing,
                       size_t count)
{
    struct extract_spans *spans = context;

    for (size_t i = 0; i < count; i++) {
        const struct extract_event *event = &events[i];
        bool is_counted = standing[i] != EXTRACT_OUTSIDE && !extract_event_is_mark(event);
        spans->has_gap |= extract_event_is_break(event) || event->flags & EXTRACT_FLAG_GAP;
        for (size_t k = 0; k < spans->count; k++) {
            struct pairing *pairing = &spans->pairings[k];
            if (pairing->has_history)
                note_history(pairing, event);
            if (is_counted && spans->has_gap)
                close_all(pairing);
            if (is_counted && !add_event(spans, pairing, event)) {
                spans->failed = true;
                return false;
            }
        }
        spans->has_gap &= !is_counted;
    }
    return true;
}

// Frees everything but the definition.
static void reset_pairing(struct pairing *pairing)
{
    distribution_free(&pairing->durations);
    extract_map_free(&pairing->key_of_value);
    free(pairing->worst);
    free(pairing->spans);
    free(pairing->keys);
    *pairing = (struct pairing){.definition = pairing->definition,
                                .stats = {.name = pairing->definition.name}};
}

static enum extract_code prepare_pairing(struct pairing *pairing, const struct extract_trace *trace,
                                         uint64_t hz, size_t wanted, struct extract_error *error)
{
    enum extract_code code = span_definition_bind(&pairing->definition, trace, hz, error);

    reset_pairing(pairing);
    if (code)
        return code;
    pairing->has_history = begin_history(pairing->definition.begin.view, trace);
    pairing->has_history |= begin_history(pairing->definition.end.view, trace);
    pairing->worst = calloc(wanted + 1, sizeof *pairing->worst);
    pairing->spans = calloc(EXTRACT_SPANS_OPEN, sizeof *pairing->spans);
    pairing->keys = calloc(MAX_KEYS, sizeof *pairing->keys);
    if (!pairing->worst || !pairing->spans || !pairing->keys ||
        !extract_map_init(&pairing->key_of_value, MAX_KEYS))
        return out_of_memory(error);
    return EXTRACT_OK;
}

enum extract_code extract_spans_find(struct extract_spans *spans, const struct extract_view *view,
                                     const struct extract_trace *trace, uint64_t hz, size_t worst,
                                     struct extract_error *error)
{
    const struct extract_sink sink = {.context = spans, .all = add_events};
    struct extract_view *all = NULL;
    enum extract_code code = EXTRACT_OK;

    spans->wanted = worst < EXTRACT_SPANS_WORST ? worst : EXTRACT_SPANS_WORST;
    spans->has_gap = spans->failed = false;
    for (size_t i = 0; i < spans->count && !code; i++)
        code = prepare_pairing(&spans->pairings[i], trace, hz, spans->wanted, error);
    if (!code && !view)
        code = extract_view_new(&all, NULL, trace, hz, error);
    if (!code)
        extract_view_run(view ? view : all, &sink);
    extract_view_free(all);
    for (size_t i = 0; i < spans->count && !code; i++) {
        struct pairing *pairing = &spans->pairings[i];
        pairing->stats.open = pairing->open;
        pairing->stats.duration = distribution_result(&pairing->durations);
        pairing->stats.worst = pairing->worst;
    }
    return !code && spans->failed ? out_of_memory(error) : code;
}

// ---- lifetime ----

static enum extract_code check_names(const struct extract_spans *spans, struct extract_error *error)
{
    for (size_t i = 0; i < spans->count; i++)
        for (size_t k = 0; k < i; k++) {
            const char *name = spans->pairings[i].definition.name;
            if (strcmp(name, spans->pairings[k].definition.name) == 0)
                return extract_error_set(error, EXTRACT_USAGE, name, "use another name",
                                         "two spans have this name");
        }
    return EXTRACT_OK;
}

enum extract_code extract_spans_new(struct extract_spans **spans, const char *const *definitions,
                                    size_t count, struct extract_error *error)
{
    struct extract_spans *s = calloc(1, sizeof *s);
    enum extract_code code = EXTRACT_OK;

    *spans = NULL;
    if (count > EXTRACT_SPANS_MAX)
        code = extract_error_set(error, EXTRACT_USAGE, "spans", NULL, "more than %d definitions",
                                 EXTRACT_SPANS_MAX);
    else if (s)
        s->pairings = calloc(count + 1, sizeof *s->pairings);
    if (!code && (!s || !s->pairings))
        code = out_of_memory(error);
    while (!code && s->count < count) {
        struct pairing *pairing = &s->pairings[s->count];
        code = span_definition_parse(&pairing->definition, definitions[s->count], error);
        pairing->stats.name = pairing->definition.name;
        s->count++;
    }
    code = code ? code : check_names(s, error);
    if (code) {
        extract_spans_free(s);
        return code;
    }
    *spans = s;
    return EXTRACT_OK;
}

size_t extract_spans_count(const struct extract_spans *spans)
{
    return spans->count;
}

const struct extract_span_stats *extract_spans_get(const struct extract_spans *spans, size_t i)
{
    return &spans->pairings[i].stats;
}

void extract_spans_free(struct extract_spans *spans)
{
    if (!spans)
        return;
    for (size_t i = 0; i < spans->count; i++) {
        reset_pairing(&spans->pairings[i]);
        span_definition_free(&spans->pairings[i].definition);
    }
    free(spans->pairings);
    free(spans);
}
