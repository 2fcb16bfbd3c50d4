// SPDX-License-Identifier: MIT
// events: runs a view over its trace and sends the wanted events to a sink.
//
// Events are read in batches, and each batch gets one standing per event (enum extract_standing).
// LAST needs to know how many events are wanted before the first is sent, so it takes two walks:
// the first only counts. For a log, a walk starts at a seek point if the conditions on time or
// number allow it.
#include "events/event_filter.h"
#include "events/where.h"
#include <string.h>

enum {
    BATCH = 128,
    TIME_CHECKS = 1 << EXTRACT_FILTER_FROM | 1 << EXTRACT_FILTER_TO,
    LAST_CHECK = 1 << EXTRACT_FILTER_LAST,
    // Losses and damage concern every event. Only conditions on event ids and on time leave their
    // markers out.
    LOSS_CHECKS = 1 << EXTRACT_FILTER_EVENT | TIME_CHECKS
};

static bool passes_type(const struct extract_view *view, const struct extract_event *event)
{
    uint32_t id = event->id;

    if (id >= EXTRACT_COMMON_IDS)
        return filter_set_has(&view->rare_ids, id);
    return view->ids[id / 8] >> id % 8 & 1;
}

// Returns whether the address or the key is in a set, or the object that was there at the event is
// in the other.
static bool holds_address(const struct extract_trace *trace, const struct filter_set *addresses,
                          const struct filter_set *objects, bool thread, uint64_t key, uint64_t seq)
{
    const struct extract_object *object = NULL;
    uint64_t address = extract_trace_address(trace, key);

    if (filter_set_has(addresses, key) || (address != key && filter_set_has(addresses, address)))
        return true;
    if (objects->count)
        object = extract_names_find(trace, thread, key, seq);
    return object && filter_set_has(objects, (uint64_t)(object - trace->objects));
}

static bool passes_thread(const struct extract_trace *trace, const struct filter_addresses *threads,
                          const struct extract_event *event)
{
    if (event->context == EXTRACT_RECORDER)
        return !threads->has_in;
    bool thread = event->context == EXTRACT_THREAD;
    unsigned context = event->context <= EXTRACT_INIT ? event->context : EXTRACT_THREAD;
    bool in = threads->in_context[context], out = threads->out_context[context];
    if (thread) {
        in = holds_address(trace, &threads->in, &threads->in_objects, true, event->thread,
                           event->seq);
        out = holds_address(trace, &threads->out, &threads->out_objects, true, event->thread,
                            event->seq);
    }
    return (in || !threads->has_in) && !out;
}

bool filter_passes_context(const struct extract_view *view, enum extract_context context,
                           uint64_t thread)
{
    const struct extract_event event = {
        .context = (uint8_t)context, .thread = thread, .seq = UINT64_MAX};

    return !(view->checks & 1u << EXTRACT_FILTER_THREAD) ||
           passes_thread(view->trace, &view->threads, &event);
}

static bool passes_objects(const struct extract_trace *trace,
                           const struct filter_addresses *objects,
                           const struct extract_event *event)
{
    const struct extract_event_type *type = event->type;
    bool in = !objects->has_in, out = false;

    for (unsigned i = 0; i < event->fields && i < type->fields; i++) {
        uint64_t key;
        if (!extract_value_key(type->field[i].kind, event->field[i], &key))
            continue;
        in = in || holds_address(trace, &objects->in, &objects->in_objects, false, key, event->seq);
        out = out ||
              holds_address(trace, &objects->out, &objects->out_objects, false, key, event->seq);
    }
    return in && !out;
}

// Returns whether an event is between FROM and TO. An event without a time is in no range of times.
static bool is_in_time(const struct extract_view *view, const struct extract_event *event)
{
    unsigned times = 1u << EXTRACT_FILTER_FROM | 1u << EXTRACT_FILTER_TO;

    if (event->flags & EXTRACT_FLAG_UNTIMED)
        return !(view->checks & times);
    return (!(view->checks & 1u << EXTRACT_FILTER_FROM) || event->ticks >= view->from) &&
           (!(view->checks & 1u << EXTRACT_FILTER_TO) || event->ticks <= view->to);
}

bool filter_names_address(const struct extract_view *view, uint64_t address, uint64_t seq)
{
    const struct filter_addresses *objects = &view->objects;

    return holds_address(view->trace, &objects->in, &objects->in_objects, false, address, seq);
}

bool filter_passes(const struct extract_view *view, const struct extract_event *event)
{
    unsigned checks = view->checks;

    if (extract_id_is_loss(event->id))
        checks &= LOSS_CHECKS;
    return (!(checks & 1u << EXTRACT_FILTER_EVENT) || passes_type(view, event)) &&
           (!(checks & 1u << EXTRACT_FILTER_CLASS) || view->classes >> event->type->class_ & 1) &&
           (!(checks & 1u << EXTRACT_FILTER_CORE) || filter_set_has(&view->cores, event->core)) &&
           (!(checks & 1u << EXTRACT_FILTER_THREAD) ||
            passes_thread(view->trace, &view->threads, event)) &&
           (!(checks & 1u << EXTRACT_FILTER_OBJECT) ||
            passes_objects(view->trace, &view->objects, event)) &&
           (!(checks & 1u << EXTRACT_FILTER_WHERE) || where_passes(view->where, event));
}

// Sets the standing of each event of a batch. The first *skip wanted events are too old for LAST;
// they count down *skip. Returns the number of events that are let through.
static size_t set_standings(const struct extract_view *view, const struct extract_event *events,
                            size_t count, uint64_t *skip, uint8_t *standing)
{
    bool chooses = view->checks & ~(unsigned)(TIME_CHECKS | LAST_CHECK);
    bool has_history = view->where && where_has_history(view->where);
    const uint8_t too_old = chooses ? EXTRACT_LEFT_OUT : EXTRACT_OUTSIDE;
    size_t kept = 0;

    if (!(view->checks & ~(unsigned)LAST_CHECK) && !*skip) {
        memset(standing, EXTRACT_LET_THROUGH, count);
        return count;
    }
    for (size_t i = 0; i < count; i++) {
        standing[i] = EXTRACT_OUTSIDE;
        if (has_history)
            where_note(view->where, &events[i]);
        if (is_in_time(view, &events[i]))
            standing[i] = !chooses || filter_passes(view, &events[i]) ? EXTRACT_LET_THROUGH
                                                                      : EXTRACT_LEFT_OUT;
        if (standing[i] == EXTRACT_LET_THROUGH && *skip) {
            standing[i] = too_old;
            --*skip;
        }
        kept += standing[i] == EXTRACT_LET_THROUGH;
    }
    return kept;
}

// Sends a batch to a sink: all events with their standings, or only the `kept` wanted ones, which
// are moved to the front.
static bool send_batch(const struct extract_sink *sink, struct extract_event *events, size_t count,
                       const uint8_t *standing, size_t kept)
{
    if (sink->all)
        return sink->all(sink->context, events, standing, count);
    for (size_t i = 0, to = 0; kept && kept < count && i < count; i++) {
        if (standing[i] != EXTRACT_LET_THROUGH)
            continue;
        if (to != i)
            events[to] = events[i];
        to++;
    }
    return !kept || sink->events(sink->context, events, kept);
}

static bool has_check(const struct extract_view *view, enum extract_filter_word word)
{
    return view->checks >> word & 1;
}

// Moves the reader to the last seek point before which no event is wanted, and takes the wanted
// events that are skipped off *skip. Sets *end to the number of events after which none is wanted.
// Returns how many events are before the reader.
static uint64_t skip_to_seek_point(const struct extract_view *view, struct extract_reader *reader,
                                   uint64_t *skip, uint64_t *end)
{
    const struct extract_trace *trace = view->trace;
    const struct extract_seek_point *start = NULL;

    for (size_t i = 0; i < trace->seek_point_count; i++) {
        const struct extract_seek_point *point = &trace->seek_points[i];
        bool by_count = view->checks == LAST_CHECK && point->events <= *skip;
        bool by_time = has_check(view, EXTRACT_FILTER_FROM) && point->highest < view->from;
        if (by_count || by_time)
            start = point;
        if (has_check(view, EXTRACT_FILTER_TO) && point->lowest > view->to) {
            *end = point->events;
            break;
        }
    }
    if (!start)
        return 0;
    *reader = start->reader;
    *skip -= view->checks == LAST_CHECK ? start->events : 0;
    return start->events;
}

// Walks over the trace once and returns the number of wanted events. Without a sink, only counts.
static uint64_t walk_trace(const struct extract_view *view, uint64_t skip,
                           const struct extract_sink *sink)
{
    struct extract_event events[BATCH];
    uint8_t standing[BATCH];
    struct extract_reader reader;
    bool has_history = view->where && where_has_history(view->where);
    uint64_t sent = 0, passed = 0, end = UINT64_MAX;
    size_t count;

    extract_reader_init(&reader, view->trace);
    if (has_history)
        where_begin(view->where, &reader);
    else if (!sink || !sink->all)
        passed = skip_to_seek_point(view, &reader, &skip, &end);
    while (passed < end && (count = extract_reader_next(&reader, events, BATCH))) {
        size_t kept = set_standings(view, events, count, &skip, standing);
        sent += kept;
        passed += count;
        if (sink && !send_batch(sink, events, count, standing, kept))
            break;
    }
    return sent;
}

uint64_t extract_view_run(const struct extract_view *view, const struct extract_sink *sink)
{
    uint64_t skip = 0;

    if (has_check(view, EXTRACT_FILTER_LAST)) {
        uint64_t all = view->checks == LAST_CHECK ? view->trace->events : walk_trace(view, 0, NULL);
        skip = all > view->last ? all - view->last : 0;
    }
    return walk_trace(view, skip, sink);
}
