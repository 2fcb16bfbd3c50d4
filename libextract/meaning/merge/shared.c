// SPDX-License-Identifier: MIT
// merge: aligns the clocks of boards by events that they share with the first board.
//
// An event and its counterpart have the same value in a field, such as the number of a message. If
// no field is given, the n-th event of one board belongs to the n-th event of the other.
//
// Two boards may record the same event, which then happened at the same time for both:
//
//     --align 'sync:info1'                         the line with the smallest distance from all
//
// Or one board sends what the other one receives, and a receipt is never before its sending:
//
//     --align 'send:info1 .. receive:info1'        messages to the first board: the line is nowhere
//                                                  above these points; messages from it: nowhere
//                                                  below them
//
// If there are messages both ways, the true line is bounded on both sides. If there are not, the
// shortest time of a message is not known, and neither is the uncertainty of the line.
#define _GNU_SOURCE // memrchr
#include "events/values.h"
#include "merge/merge.h"
#include <extract/filter.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SEEN = 65536, MAX_TEXT = 256 };

static const char hint_offset[] = "use --offset FILE=TICKS";

// What events are to be collected: their name, and the field that numbers them.
struct selection {
    char event[MAX_TEXT], field[MAX_TEXT]; // field: "" if they are counted
};

// A value that events of a trace had, and when.
struct seen {
    uint64_t value, ticks;
    uint64_t count; // of events that had it
};

// The events of one kind in one trace. If there are too many, only values whose hash ends in
// `bits` zero bits are kept, which are the same values in every trace.
struct occurrences {
    struct seen *list;
    size_t count, capacity;
    struct extract_map by_value;
    unsigned bits;
    uint64_t events; // that were counted
};

// The state of collecting the events of one kind in one trace.
struct collection {
    struct occurrences *to;
    const struct value_known *known; // the field; NULL: `label`
    struct value_label *label;
    bool is_counted; // the events are numbered by their order
    bool is_short;   // memory ran out
};

// ---- the option ----

// Copies a part of the option without the blanks around it. Returns false if it is empty or too
// long.
static bool copy_part(char to[MAX_TEXT], const char *from, size_t length)
{
    for (; length && *from == ' '; length--)
        from++;
    while (length && from[length - 1] == ' ')
        length--;
    if (!length || length >= MAX_TEXT)
        return false;
    memcpy(to, from, length);
    to[length] = 0;
    return true;
}

static bool parse_selection(struct selection *selection, const char *text, size_t length)
{
    const char *colon = memrchr(text, ':', length);

    selection->field[0] = 0;
    if (!colon)
        return copy_part(selection->event, text, length);
    return copy_part(selection->event, text, (size_t)(colon - text)) &&
           copy_part(selection->field, colon + 1, length - (size_t)(colon + 1 - text));
}

// Parses "EVENT[:FIELD]" or "SEND[:FIELD] .. RECEIVE[:FIELD]".
static enum extract_code parse_align(const char *text, struct selection selections[2],
                                     bool *is_directed, struct extract_error *error)
{
    const char *dots = strstr(text, "..");
    size_t length = dots ? (size_t)(dots - text) : strlen(text);
    bool is_valid = parse_selection(&selections[0], text, length);

    *is_directed = dots != NULL;
    if (dots)
        is_valid = is_valid && parse_selection(&selections[1], dots + 2, strlen(dots + 2)) &&
                   !selections[0].field[0] == !selections[1].field[0];
    if (is_valid)
        return EXTRACT_OK;
    return extract_error_set(error, EXTRACT_USAGE, "--align",
                             "use EVENT:FIELD, or SEND:FIELD .. RECEIVE:FIELD",
                             "\"%.80s\" does not name shared events", text);
}

// ---- collecting ----

static void free_occurrences(struct occurrences *occurrences)
{
    extract_map_free(&occurrences->by_value);
    free(occurrences->list);
}

// Returns whether a value is kept when `bits` bits of its hash must be zero.
static bool is_kept(uint64_t value, unsigned bits)
{
    uint64_t hash = value * UINT64_C(0x9E3779B97F4A7C15);

    return !bits || !(hash >> (64 - bits));
}

// Drops about half of the values. Returns false if memory ran out.
static bool thin_out(struct occurrences *o)
{
    size_t kept = 0;

    o->bits++;
    extract_map_free(&o->by_value);
    if (!extract_map_init(&o->by_value, MAX_SEEN))
        return false;
    for (size_t i = 0; i < o->count; i++) {
        if (!is_kept(o->list[i].value, o->bits))
            continue;
        uint32_t *place = extract_map_at(&o->by_value, o->list[i].value);
        if (!place)
            return false;
        o->list[kept++] = o->list[i];
        *place = (uint32_t)kept;
    }
    o->count = kept;
    return true;
}

static bool add_value(struct occurrences *o, uint64_t value, uint64_t ticks)
{
    if (!is_kept(value, o->bits))
        return true;
    while (o->count >= MAX_SEEN && o->bits < 63)
        if (!thin_out(o))
            return false;
    if (!is_kept(value, o->bits))
        return true;
    uint32_t *place = extract_map_at(&o->by_value, value);
    struct seen *list = extract_grow(o->list, &o->capacity, o->count, sizeof *list);
    if (list)
        o->list = list;
    if (!place || !list)
        return false;
    if (*place) {
        list[*place - 1].count++;
        return true;
    }
    list[o->count++] = (struct seen){value, ticks, 1};
    *place = (uint32_t)o->count;
    return true;
}

static bool collect_events(void *context, const struct extract_event *events, size_t count)
{
    struct collection *c = context;

    for (size_t i = 0; i < count && !c->is_short; i++) {
        uint64_t value = c->to->events;
        bool has_value = c->is_counted;
        if (extract_event_is_mark(&events[i]) || events[i].flags & EXTRACT_FLAG_UNTIMED)
            continue;
        if (c->known)
            has_value = value_of_name(&events[i], c->known->name, &value);
        else if (!c->is_counted)
            has_value = value_of_label(c->label, &events[i], &value);
        c->to->events++;
        if (has_value)
            c->is_short = !add_value(c->to, value, events[i].ticks);
    }
    return !c->is_short;
}

// Finds the field that a selection names.
static enum extract_code find_field(struct collection *c, struct value_label *label,
                                    const struct extract_trace *trace, struct selection *selection,
                                    struct extract_error *error)
{
    c->is_counted = !selection->field[0];
    if (c->is_counted)
        return EXTRACT_OK;
    c->known = value_known_find(selection->field);
    if (c->known && c->known->has_numbers)
        return EXTRACT_OK;
    c->known = NULL;
    *label = (struct value_label){.text = selection->field};
    c->label = label;
    return value_label_find(label, trace) ? EXTRACT_OK
                                          : value_refuse_name(trace, selection->field, error);
}

// Collects the events of a selection in a trace. A trace that has none is not an error.
static enum extract_code collect(struct occurrences *occurrences, const struct extract_trace *trace,
                                 struct selection *selection, struct extract_error *error)
{
    struct collection c = {.to = occurrences};
    const struct extract_sink sink = {.events = collect_events, .context = &c};
    struct extract_filter *filter = NULL;
    struct extract_view *view = NULL;
    struct value_label label;

    *occurrences = (struct occurrences){0};
    if (!extract_map_init(&occurrences->by_value, MAX_SEEN))
        return extract_error_set(error, EXTRACT_NOMEM, "--align", NULL, "out of memory");
    enum extract_code code = find_field(&c, &label, trace, selection, error);
    if (!code)
        code = extract_filter_new(&filter, error);
    if (!code)
        code = extract_filter_add(filter, EXTRACT_FILTER_EVENT, selection->event, error);
    if (!code)
        code = extract_view_new(&view, filter, trace, 0, error);
    if (!code)
        extract_view_run(view, &sink);
    if (code == EXTRACT_NOTFOUND)
        code = EXTRACT_OK;
    if (c.is_short)
        code = extract_error_set(error, EXTRACT_NOMEM, "--align", NULL, "out of memory");
    extract_view_free(view);
    extract_filter_free(filter);
    return code;
}

// ---- points ----

struct points {
    struct merge_point *list;
    size_t count;
};

static bool is_single(const struct occurrences *o, const struct seen *seen,
                      const struct seen **other)
{
    uint32_t place = extract_map_get(&o->by_value, seen->value);

    *other = place ? &o->list[place - 1] : NULL;
    return seen->count == 1 && place && o->list[place - 1].count == 1;
}

// Makes a point for each value that exactly one event has in both traces: `x` of the board that is
// aligned, `y` of the first one. The timestamps are rounded down, so that the true times are up to
// a tick later; `x_slack` and `y_slack` are added to them.
static bool make_points(struct points *points, const struct occurrences *x,
                        const struct occurrences *y, double x_slack, double y_slack)
{
    const struct seen *other;

    *points = (struct points){malloc((x->count + 1) * sizeof *points->list), 0};
    for (size_t i = 0; points->list && i < x->count; i++)
        if (is_single(y, &x->list[i], &other))
            points->list[points->count++] = (struct merge_point){(double)x->list[i].ticks + x_slack,
                                                                 (double)other->ticks + y_slack};
    return points->list != NULL;
}

// The events of one trace: those that both share, or those that were sent and received.
struct side {
    struct occurrences sent, received;
};

static void free_side(struct side *side)
{
    free_occurrences(&side->sent);
    free_occurrences(&side->received);
}

static enum extract_code collect_side(struct side *side, const struct merge_input *input,
                                      struct selection selections[2], bool is_directed,
                                      struct extract_error *error)
{
    enum extract_code code = collect(&side->sent, input->trace, &selections[0], error);

    if (!code && is_directed)
        code = collect(&side->received, input->trace, &selections[1], error);
    return code;
}

// Finds the clock of an input from points on both of its sides, or on one.
static enum extract_code fit_points(struct merge_input *input, struct points *lower,
                                    struct points *upper, bool is_directed,
                                    struct extract_error *error)
{
    double from = (double)input->ticks_first, to = (double)input->ticks_last;
    struct points *all = lower->count ? lower : upper;
    size_t count = is_directed ? lower->count + upper->count : lower->count;
    struct merge_point *spare = malloc((all->count + 1) * sizeof *spare);
    bool is_possible = true;

    input->shared = count;
    if (!spare)
        return extract_error_set(error, EXTRACT_NOMEM, "--align", NULL, "out of memory");
    if (!is_directed && count)
        merge_line_through(all->list, spare, count, from, to, &input->clock);
    else if (lower->count && upper->count)
        is_possible = merge_line_between(lower->list, lower->count, upper->list, upper->count, from,
                                         to, &input->clock);
    else if (count)
        merge_line_touching(all->list, spare, count, lower->count != 0, &input->clock);
    free(spare);
    if (!count)
        return extract_error_set(error, EXTRACT_NOTFOUND, input->name, hint_offset,
                                 "no event of --align is in it and in the first input, each time "
                                 "with a number of its own");
    if (!is_possible || !(input->clock.rate > 0))
        return extract_error_set(error, EXTRACT_BAD, input->name, hint_offset,
                                 "the %llu events of --align contradict each other: no clock with "
                                 "a constant rate fits them",
                                 (unsigned long long)count);
    return EXTRACT_OK;
}

// If events are numbered by their order, both traces must have all of them.
static enum extract_code check_counts(const struct merge_input *input, uint64_t count,
                                      uint64_t other, struct extract_error *error)
{
    if (count == other)
        return EXTRACT_OK;
    return extract_error_set(error, EXTRACT_NOTFOUND, input->name,
                             "name a field that numbers them, as in EVENT:info1, or use --offset",
                             "it has %llu events of --align, and the first input has %llu",
                             (unsigned long long)count, (unsigned long long)other);
}

static enum extract_code align_input(struct merge_input *input, const struct side *first,
                                     const struct side *own, bool is_directed, bool is_counted,
                                     struct extract_error *error)
{
    struct points lower = {0}, upper = {0};
    enum extract_code code = EXTRACT_OK;
    bool has_memory;

    if (is_counted && is_directed) {
        code = check_counts(input, own->received.events, first->sent.events, error);
        code = code ? code : check_counts(input, own->sent.events, first->received.events, error);
    } else if (is_counted) {
        code = check_counts(input, own->sent.events, first->sent.events, error);
    }
    if (code)
        return code;
    if (is_directed)
        has_memory = make_points(&lower, &own->received, &first->sent, 1, 0) &&
                     make_points(&upper, &own->sent, &first->received, 0, 1);
    else
        has_memory = make_points(&lower, &own->sent, &first->sent, 0, 0);
    code = has_memory ? fit_points(input, &lower, &upper, is_directed, error)
                      : extract_error_set(error, EXTRACT_NOMEM, "--align", NULL, "out of memory");
    free(lower.list);
    free(upper.list);
    return code;
}

enum extract_code merge_align(struct merge *merge, struct extract_error *error)
{
    struct selection selections[2];
    struct side first = {0};
    bool is_directed;
    enum extract_code code = parse_align(merge->options.align, selections, &is_directed, error);

    if (!code)
        code = collect_side(&first, &merge->inputs[0], selections, is_directed, error);
    for (size_t i = 1; i < merge->count && !code; i++) {
        struct side own = {0};
        if (merge->inputs[i].has_offset)
            continue;
        code = collect_side(&own, &merge->inputs[i], selections, is_directed, error);
        if (!code)
            code = align_input(&merge->inputs[i], &first, &own, is_directed,
                               !selections[0].field[0], error);
        free_side(&own);
    }
    free_side(&first);
    return code;
}
