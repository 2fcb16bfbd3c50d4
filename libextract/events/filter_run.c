// SPDX-License-Identifier: MIT
// events: running a view. In: the trace's events. Out: those that are wanted, into a sink.
#include "events/filter.h"
#include <string.h>

enum {
    BATCH = 128,
    TIME_CHECKS = 1 << EXTRACT_FILTER_FROM | 1 << EXTRACT_FILTER_TO,
    LAST_CHECK = 1 << EXTRACT_FILTER_LAST,
    // Losses and damage concern whatever is asked for: only their ids and their time may rule them
    // out.
    LOSS_CHECKS = 1 << EXTRACT_FILTER_EVENT | TIME_CHECKS
};

static bool type_passes(const struct extract_view *view, const struct extract_event *event)
{
    uint32_t id = event->id;
    if (id >= EXTRACT_COMMON_IDS)
        return filter_set_has(&view->rare_ids, id);
    return view->ids[id / 8] >> id % 8 & 1;
}

// Whether an address is in a set, or the object that lay there at the event in the other.
static bool has_address(const struct extract_trace *trace, const struct filter_set *addresses,
                        const struct filter_set *objects, bool thread, uint64_t address,
                        uint64_t seq)
{
    const struct extract_object *object = NULL;
    if (filter_set_has(addresses, address))
        return true;
    if (objects->count)
        object = extract_names_find(trace, thread, address, seq);
    return object && filter_set_has(objects, (uint64_t)(object - trace->objects));
}

static bool thread_passes(const struct extract_trace *trace, const struct filter_addresses *threads,
                          const struct extract_event *event)
{
    if (event->context == EXTRACT_RECORDER)
        return !threads->narrows;
    bool thread = event->context == EXTRACT_THREAD;
    unsigned context = event->context <= EXTRACT_INIT ? event->context : EXTRACT_THREAD;
    bool in = threads->in_context[context], out = threads->out_context[context];
    if (thread) {
        in =
            has_address(trace, &threads->in, &threads->in_objects, true, event->thread, event->seq);
        out = has_address(trace, &threads->out, &threads->out_objects, true, event->thread,
                          event->seq);
    }
    return (in || !threads->narrows) && !out;
}

static bool objects_pass(const struct extract_trace *trace, const struct filter_addresses *objects,
                         const struct extract_event *event)
{
    const struct extract_event_type *type = event->type;
    bool in = !objects->narrows, out = false;
    for (unsigned i = 0; i < event->fields && i < type->fields; i++) {
        uint64_t key;
        if (!extract_value_key(type->field[i].kind, event->field[i], &key))
            continue;
        in = in || has_address(trace, &objects->in, &objects->in_objects, false, key, event->seq);
        out =
            out || has_address(trace, &objects->out, &objects->out_objects, false, key, event->seq);
    }
    return in && !out;
}

// An event without a time is in no range of times.
static bool is_in_time(const struct extract_view *view, const struct extract_event *event)
{
    unsigned times = 1u << EXTRACT_FILTER_FROM | 1u << EXTRACT_FILTER_TO;
    if (event->flags & EXTRACT_FLAG_UNTIMED)
        return !(view->checks & times);
    return (!(view->checks & 1u << EXTRACT_FILTER_FROM) || event->ticks >= view->from) &&
           (!(view->checks & 1u << EXTRACT_FILTER_TO) || event->ticks <= view->to);
}

// Whether an event is one that is asked for, whenever it happened.
static bool passes(const struct extract_view *view, const struct extract_event *event)
{
    unsigned checks = view->checks;
    if (extract_id_is_loss(event->id))
        checks &= LOSS_CHECKS;
    return (!(checks & 1u << EXTRACT_FILTER_EVENT) || type_passes(view, event)) &&
           (!(checks & 1u << EXTRACT_FILTER_CLASS) || view->classes >> event->type->class_ & 1) &&
           (!(checks & 1u << EXTRACT_FILTER_THREAD) ||
            thread_passes(view->trace, &view->threads, event)) &&
           (!(checks & 1u << EXTRACT_FILTER_OBJECT) ||
            objects_pass(view->trace, &view->objects, event));
}

// Says of each event of a batch how it stands to the view. The first *skip of those that it would
// let through are older than the newest few that are wanted, and are taken off it. Returns how many
// are let through.
static size_t sift(const struct extract_view *view, const struct extract_event *events,
                   size_t count, uint64_t *skip, uint8_t *standing)
{
    bool chooses = view->checks & ~(unsigned)(TIME_CHECKS | LAST_CHECK);
    const uint8_t too_old = chooses ? EXTRACT_LEFT_OUT : EXTRACT_OUTSIDE;
    size_t kept = 0;
    if (!(view->checks & ~(unsigned)LAST_CHECK) && !*skip) {
        memset(standing, EXTRACT_LET_THROUGH, count);
        return count;
    }
    for (size_t i = 0; i < count; i++) {
        standing[i] = EXTRACT_OUTSIDE;
        if (is_in_time(view, &events[i]))
            standing[i] =
                !chooses || passes(view, &events[i]) ? EXTRACT_LET_THROUGH : EXTRACT_LEFT_OUT;
        if (standing[i] == EXTRACT_LET_THROUGH && *skip) {
            standing[i] = too_old;
            --*skip;
        }
        kept += standing[i] == EXTRACT_LET_THROUGH;
    }
    return kept;
}

// Moves the wanted events to the front.
static void gather(struct extract_event *events, size_t count, const uint8_t *standing)
{
    for (size_t i = 0, to = 0; i < count; i++) {
        if (standing[i] != EXTRACT_LET_THROUGH)
            continue;
        if (to != i)
            events[to] = events[i];
        to++;
    }
}

static bool deliver(const struct extract_sink *sink, struct extract_event *events, size_t count,
                    const uint8_t *standing, size_t kept)
{
    if (sink->all)
        return sink->all(sink->context, events, standing, count);
    if (kept && kept < count)
        gather(events, count, standing);
    return !kept || sink->events(sink->context, events, kept);
}

static bool has_check(const struct extract_view *view, enum extract_filter_word word)
{
    return view->checks >> word & 1;
}

static bool is_last_alone(const struct extract_view *view)
{
    return view->checks == LAST_CHECK;
}

// Where events can be wanted: from the reader's place on, and `most` events from the start of all
// at most. What lies before is taken off *skip. Returns how many events lie before.
static uint64_t seek(const struct extract_view *view, struct extract_reader *reader, uint64_t *skip,
                     uint64_t *most)
{
    const struct extract_trace *trace = view->trace;
    const struct extract_seek_point *start = NULL;
    for (size_t i = 0; i < trace->seek_point_count; i++) {
        const struct extract_seek_point *place = &trace->seek_points[i];
        bool by_count = is_last_alone(view) && place->events <= *skip;
        bool by_time = has_check(view, EXTRACT_FILTER_FROM) && place->highest < view->from;
        if (by_count || by_time)
            start = place;
        if (has_check(view, EXTRACT_FILTER_TO) && place->lowest > view->to) {
            *most = place->events;
            break;
        }
    }
    if (!start)
        return 0;
    *reader = start->reader;
    *skip -= is_last_alone(view) ? start->events : 0;
    return start->events;
}

// One walk over the trace. Without a sink it only counts. A sink that wants all events gets them.
static uint64_t walk(const struct extract_view *view, uint64_t skip,
                     const struct extract_sink *sink)
{
    struct extract_event events[BATCH];
    uint8_t standing[BATCH];
    struct extract_reader reader;
    uint64_t sent = 0, passed = 0, most = UINT64_MAX;
    size_t count;

    extract_reader_init(&reader, view->trace);
    if (!sink || !sink->all)
        passed = seek(view, &reader, &skip, &most);
    while (passed < most && (count = extract_reader_next(&reader, events, BATCH))) {
        size_t kept = sift(view, events, count, &skip, standing);
        sent += kept;
        passed += count;
        if (sink && !deliver(sink, events, count, standing, kept))
            break;
    }
    return sent;
}

uint64_t extract_view_run(const struct extract_view *view, const struct extract_sink *sink)
{
    uint64_t skip = 0;
    if (has_check(view, EXTRACT_FILTER_LAST)) {
        uint64_t all = is_last_alone(view) ? view->trace->events : walk(view, 0, NULL);
        skip = all > view->last ? all - view->last : 0;
    }
    return walk(view, skip, sink);
}
