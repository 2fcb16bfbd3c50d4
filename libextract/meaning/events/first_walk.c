// SPDX-License-Identifier: MIT
// events: the first walk over all events of a trace. It finds the threads that events name, the
// names that entries give, and what the events show of the kernel; it feeds runs, signals, seek
// points and the loss estimator on the way.
#include "events/event_names.h"

enum { BATCH = 256 };

// Notes that an event changes the priority of a thread, or deletes it: then the present one, or
// that of another thread there, is not the one before. `is_first`: no event before is about it.
static void note_priority(struct build *build, const struct extract_event *event,
                          const struct extract_role_fields *role, uint64_t address, bool is_first)
{
    uint64_t priority = extract_role_field(event, role->priority);
    struct extract_trace *trace = build->trace;
    const struct extract_object *found = extract_names_find(trace, true, address, event->seq);

    if (!found)
        return;
    size_t i = (size_t)(found - trace->objects);
    build->offsets[i].has_priorities = true;
    if (is_first && role->role == EXTRACT_ROLE_CREATE && priority < EXTRACT_NO_PRIORITY)
        trace->objects[i].priority = (uint16_t)priority;
}

// Notes whether a thread goes to sleep without a call for it. Either the event before is also its
// own, and another call: nothing else is between such a call and the suspension, except for
// interrupts. Or it does so twice in a trace without a call: one of them may precede the trace.
static void note_sleep(struct build *build, const struct extract_event *event,
                       const struct extract_role_fields *role)
{
    bool is_mark = extract_event_is_mark(event);
    bool is_suspend = role->role == EXTRACT_ROLE_SUSPEND;

    if (is_mark || event->flags & EXTRACT_FLAG_GAP)
        build->last_thread = build->sleeper = 0;
    if (is_mark || event->context != EXTRACT_THREAD)
        return;
    build->calls_sleep |= !is_suspend && role->begins == EXTRACT_WAIT_SLEEP;
    if (is_suspend && role->state && extract_role_field(event, role->thread) == event->thread &&
        extract_role_field(event, role->state) == EXTRACT_WAIT_SLEEP) {
        bool is_again = build->sleeper == event->thread && !build->calls_sleep;
        build->trace->has_silent_sleeps |=
            is_again || (event->thread == build->last_thread && !build->has_called_sleep);
        build->sleeper = build->sleeper ? build->sleeper : event->thread;
    }
    build->last_thread = event->thread;
    build->has_called_sleep = !is_suspend && role->begins == EXTRACT_WAIT_SLEEP;
}

// Notes a mutex that is not in the registry any more: threads may inherit priorities by it.
static void note_mutex(struct build *build, const struct extract_event *event,
                       const struct extract_role_fields *role)
{
    struct extract_trace *trace = build->trace;
    const struct extract_object *object =
        extract_names_find(trace, false, extract_role_field(event, role->object), event->seq);
    uint32_t type = trace->snapshot->ring.format->kernel->mutex_type;

    trace->may_inherit |= !object || !object->registered || object->type != type;
}

// Adds the threads that an event names: its own or the interrupted one, the one that runs next, and
// in a format without a registry of threads also the one that it is about.
static bool add_threads(struct build *build, const struct extract_event *event)
{
    const struct extract_ring *ring = &build->trace->snapshot->ring;
    struct extract_event scratch;
    const struct extract_event *meant = event;
    const struct extract_role_fields *role = extract_ring_role(ring, &meant, &scratch);
    bool is_translated = meant != event;
    uint64_t about = is_translated ? extract_role_field(meant, role->thread) : 0;

    // Posts and begins of steps show a schedule only together with the ends of steps.
    build->trace->has_roles |= role->role != EXTRACT_ROLE_NONE && role->role != EXTRACT_ROLE_POST &&
                               role->role != EXTRACT_ROLE_STEP_BEGIN;
    build->trace->has_switches |= role->role == EXTRACT_ROLE_SWITCH;
    build->trace->has_moves |=
        role->role == EXTRACT_ROLE_SUSPEND || role->role == EXTRACT_ROLE_RESUME;
    note_sleep(build, meant, role);
    overlap_note(&build->overlap, ring->format->kernel, meant, role);
    if (role->role >= EXTRACT_ROLE_MUTEX_GET && role->role <= EXTRACT_ROLE_MUTEX_DELETE &&
        !build->trace->may_inherit)
        note_mutex(build, meant, role);
    if (event->context == EXTRACT_THREAD && !extract_event_is_mark(event)) {
        build->first_thread = build->first_thread ? build->first_thread : event->thread;
        build->trace->needs_moves |=
            event->thread != build->first_thread || role->begins == EXTRACT_WAIT_SLEEP;
    }
    build->trace->has_isr_entries |=
        role->role == EXTRACT_ROLE_ISR_ENTER || role->role == EXTRACT_ROLE_ISR_EXIT;
    bool is_change = role->priority || (is_translated && role->role == EXTRACT_ROLE_DELETE);
    bool is_first = is_change && !extract_names_find(build->trace, true, about, event->seq);
    uint64_t next = extract_role_field(meant, role->next);
    bool fits =
        (!event->thread || names_add_thread(build, event->thread, event->priority, event->seq)) &&
        (!next || names_add_thread(build, next, EXTRACT_NO_PRIORITY, event->seq)) &&
        (!about || names_add_thread(build, about, EXTRACT_NO_PRIORITY, event->seq)) &&
        (!role->has_name || names_note_thread(build, meant, role)) &&
        lives_note(build, meant, role);
    if (fits && is_change)
        note_priority(build, meant, role, about, is_first);
    return fits;
}

// Sets the number of cores: that of the ring, or that which the events prove, if it is higher.
static void count_cores(struct extract_trace *trace)
{
    const struct extract_ring *ring = &trace->snapshot->ring;
    struct extract_info *info = &trace->info;

    // Only merged logs have several cores if entries of their format do not name one.
    if (!ring->format->has_cores && trace->cores_seen <= 1)
        return;
    if (ring->cores && ring->cores >= trace->cores_seen) {
        info->cores = ring->cores;
        info->cores_from = (enum extract_cores_from)ring->cores_from;
    } else if (trace->cores_seen) {
        info->cores = trace->cores_seen;
        info->cores_from = EXTRACT_CORES_SEEN;
    }
    if (info->cores > 1) // their clocks may differ, which looks like turns of one clock
        info->clock.likely_modulus = info->clock.turns = info->clock.fall = 0;
    for (size_t i = 0; trace->snapshots && i < trace->epoch_count; i++) // logs
        info->clock.is_still &= trace->epochs[i].clock.is_still;
}

// Notes the order of priorities of a kernel. If the kernels of two boards have different ones, the
// order in the trace is not known.
void names_note_order(struct build *build, enum extract_priority_order order)
{
    struct extract_trace *trace = build->trace;

    if (!order || build->has_orders)
        return;
    build->has_orders = trace->priority_order && trace->priority_order != order;
    trace->priority_order = build->has_orders ? EXTRACT_PRIORITY_ORDER_UNKNOWN : order;
}

// Finds the types of user events by their names. If two of one number have different types, the
// events are user events like any other.
static void find_named_types(struct build *build)
{
    struct extract_trace *trace = build->trace;
    const struct extract_named_types *types = trace->snapshot->ring.format->named_types;
    bool is_found[EXTRACT_NAMED_TYPES] = {false};

    for (size_t i = 0; types && i < trace->object_count; i++) {
        const struct extract_object *object = &trace->objects[i];
        if (object->number_kind != EXTRACT_KIND_USER_EVENT ||
            object->address >= EXTRACT_NAMED_TYPES)
            continue;
        const void *type = types->find(trace->names.data + build->offsets[i].name);
        const void **place = &trace->named_types[object->address];
        *place = is_found[object->address] && *place != type ? NULL : type;
        is_found[object->address] = true;
        trace->has_named_types |= type != NULL;
        if (type)
            names_note_order(build, types->order(type));
    }
}

// Notes whether threads may inherit priorities by the mutexes of the registry, or by one that did
// not fit in it. Kernels whose events show what is inherited have no type of mutexes.
static void note_inheritance(struct extract_trace *trace)
{
    const struct extract_ring *ring = &trace->snapshot->ring;
    uint32_t type = ring->format->kernel ? ring->format->kernel->mutex_type : 0, used = 0;

    trace->may_inherit = !type;
    for (size_t i = 0; i < trace->object_count && type; i++) {
        const struct extract_object *object = &trace->objects[i];
        used += object->registered;
        trace->may_inherit |= object->registered && object->type == type && object->param1;
    }
    trace->may_inherit |= used >= ring->registry.count;
}

// Walks over all events once. Finds the threads that did not fit in the registry, names that
// entries give, and whatever else later readers need.
bool names_walk(struct build *build)
{
    struct extract_trace *trace = build->trace;
    struct extract_event events[BATCH];
    struct extract_reader reader, before;
    uint64_t highest = trace->start.ticks;
    size_t got;

    find_named_types(build);
    note_inheritance(trace);
    extract_reader_init(&reader, trace);
    if (trace->snapshots)
        extract_log_events_begin(trace);
    while (before = reader, (got = extract_reader_next(&reader, events, BATCH))) {
        for (size_t i = 0; i < got; i++) {
            bool is_break = extract_event_is_mark(&events[i]) ? extract_event_is_break(&events[i])
                                                              : events[i].flags & EXTRACT_FLAG_GAP;
            build->has_break |= is_break && (i || trace->events); // not before the first event
            highest = events[i].ticks > highest ? events[i].ticks : highest;
            core_ids_note(trace, &events[i]);
            if (!extract_trace_note_event(trace, &events[i]) || !add_threads(build, &events[i]) ||
                !names_note_entry(build, &events[i]) ||
                !extract_runs_note(trace, &events[i], build->begins_run) ||
                !extract_signals_note(trace, &events[i]))
                return false;
        }
        if (trace->snapshots && !extract_log_events_note(trace, &before, events, got))
            return false;
        trace->events += got;
    }
    if (trace->snapshot->ring.format->entry_name) { // objects with a name entry are registered
        trace->info.objects = 0;
        for (size_t i = 0; i < trace->object_count; i++)
            trace->info.objects += trace->objects[i].registered;
    }
    trace->info.span_ticks = highest;
    trace->info.hides_cores =
        !trace->snapshot->ring.format->has_cores && overlap_is_likely(&build->overlap);
    trace->info.may_hide_periods &= highest >= trace->info.clock.modulus;
    count_cores(trace);
    trace->end = reader;
    trace->end.started &= trace->snapshot->ring.rkh.walked.stamp_known;
    if (trace->snapshots)
        extract_log_events_end(trace, &reader);
    extract_runs_end(trace);
    if (trace->run_count > 1) // each restart of the program may set its clock back
        trace->info.clock.likely_modulus = trace->info.clock.turns = trace->info.clock.fall = 0;
    return true;
}
