// SPDX-License-Identifier: MIT
// export: a trace of Perfetto.
//
//   track "ThreadX"
//     "core 0"        what had the core, with a track for each interrupt and thread
//     "states"        a state track for each thread
//     "counters"      the load of each core, queues, pools, stacks
//     "recorder"      losses, damage, restarts
//
// The scheduler's view of Perfetto gets the states as events of a generic kernel. It has no wakers,
// so a wake-up is also a flow, from the event that shows it to the slice in which the thread runs.
// Packets need not be in order of time. Without a clock rate, a tick is a nanosecond.
// Source: Perfetto's public protos, docs/formats in ringside-export(1).
#include "base/grow.h"
#include "export/exporter.h"
#include "export/flows.h"
#include "export/proto.h"
#include <stdio.h>
#include <stdlib.h>

// Fields of messages.
enum {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_DESCRIPTOR = 60,
    PACKET_TASK_STATE = 117,
    PACKET_PROCESSES = 122,
    INTERNED_CATEGORIES = 1,
    INTERNED_NAMES = 2,
    INTERNED_LABELS = 3,
    INTERNED_IID = 1,
    INTERNED_NAME = 2,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_ORDERING = 11,
    TRACK_RANK = 12,
    TRACK_STATE = 18,
    COUNTER_UNIT_NAME = 6,
    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_COUNT = 30,
    EVENT_FRACTION = 44,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48,
    ANNOTATION_LABEL = 1,
    ANNOTATION_UINT = 3,
    ANNOTATION_STRING = 6,
    ANNOTATION_POINTER = 7,
    TASK_CPU = 1,
    TASK_NAME = 2,
    TASK_TID = 3,
    TASK_STATE = 4,
    TASK_PRIORITY = 5,
    PROCESSES_PROCESS = 1,
    PROCESSES_THREAD = 2,
    PROCESS_PID = 1,
    PROCESS_NAME = 3,
    THREAD_TID = 1,
    THREAD_PID = 2,
    THREAD_NAME = 3
};

enum event_type { SLICE_BEGIN = 1, SLICE_END, INSTANT, COUNTER, STATE };
enum { ORDERED_EXPLICITLY = 3, CLEARED = 1, NEEDS_STATE = 2, SEQUENCE = 1, PID = 1 };
// States of a task of a generic kernel.
enum {
    TASK_UNKNOWN = 0,
    TASK_RUNNABLE = 2,
    TASK_RUNNING,
    TASK_SLEEPS,
    TASK_STOPPED = 6,
    TASK_DEAD
};

// What a track, or an interned name, is for. Its key is number << KEY_BITS | kind | core << 8.
enum track_kind {
    TRACK_ROOT,
    TRACK_CORE,
    TRACK_ISR,
    TRACK_OTHER, // unknown, start-up, an interrupt whose number is not known
    TRACK_THREAD,
    TRACK_STATES,
    TRACK_STATES_OF,
    TRACK_COUNTERS,
    TRACK_COUNTER_OF, // + enum export_counter_kind
    TRACK_RECORDER = TRACK_COUNTER_OF + EXPORT_COUNTERS,
    NAME_TYPE,
    NAME_EVENT, // of its own
    NAME_THREAD,
    NAME_ISR,
    NAME_RUNNER,
    NAME_STATE, // + enum extract_thread_state
    NAME_LABEL = NAME_STATE + 8
};
enum { KEY_BITS = 16 };

// What is known of a thread.
struct perfetto_thread {
    uint64_t states_to; // time up to which its states are written
    struct export_flows flows;
    uint16_t priority;
    bool has_states;
};

struct perfetto {
    struct proto packet;
    struct export_numbers threads, objects, interrupts, types, waits, keys; // keys: tracks, names
    struct perfetto_thread *known; // by number of the thread; owned
    size_t known_count;
    struct extract_text scratch;
    uint64_t flows;  // number of them
    uint64_t newest; // time of the newest event
    uint64_t last;   // the latest end of a slice or state
    uint64_t oldest; // time of the first event; valid if has_oldest
    bool has_oldest;
    size_t losses; // slices of losses that no event has ended yet
    struct {
        uint64_t seq, at, by, flow;
        uint8_t core;
        bool in_isr;
    } wake; // flow 0: none, or it was written
    bool has_packets;
};

static struct perfetto *perfetto_of(struct export_run *run)
{
    return run->state;
}

// ---- packets ----

static struct proto *open_packet(struct export_run *run, size_t *begin)
{
    struct perfetto *perfetto = perfetto_of(run);
    struct proto *proto = &perfetto->packet;

    *begin = proto_open(proto, TRACE_PACKET);
    proto_uint(proto, PACKET_SEQUENCE, SEQUENCE);
    proto_uint(proto, PACKET_FLAGS, perfetto->has_packets ? NEEDS_STATE : CLEARED);
    perfetto->has_packets = true;
    return proto;
}

static void close_packet(struct export_run *run, size_t begin)
{
    struct proto *proto = &perfetto_of(run)->packet;

    proto_close(proto, begin);
    if (proto->has_failed)
        export_fail(run, EXTRACT_NOMEM, "export", "out of memory");
    else
        extract_text_put(run->text, (const char *)proto->bytes, proto->used);
    proto->used = 0;
}

static uint64_t key_of(uint64_t number, unsigned kind, unsigned core)
{
    return (number << 8 | core) << KEY_BITS | kind;
}

// Returns the iid of a key that was used before; 0: it was not.
static uint64_t known_iid(struct export_run *run, uint64_t number, unsigned kind, unsigned core)
{
    const struct export_numbers *keys = &perfetto_of(run)->keys;

    return keys->count ? extract_map_get(&keys->map, key_of(number, kind, core)) : 0;
}

// Returns the iid of a key, and sets *is_new if it is used for the first time.
static uint64_t key_iid(struct export_run *run, uint64_t number, unsigned kind, unsigned core,
                        bool *is_new)
{
    struct perfetto *perfetto = perfetto_of(run);
    size_t known = perfetto->keys.count;
    size_t i = export_number(run, &perfetto->keys, key_of(number, kind, core));

    *is_new = i == known;
    return i + 1;
}

// Writes a packet that gives a name to an iid.
static void put_interned(struct export_run *run, uint32_t table, uint64_t iid, const char *name)
{
    size_t packet, data, entry;
    struct proto *proto = open_packet(run, &packet);

    data = proto_open(proto, PACKET_INTERNED);
    entry = proto_open(proto, table);
    proto_uint(proto, INTERNED_IID, iid);
    proto_string(proto, INTERNED_NAME, name);
    proto_close(proto, entry);
    proto_close(proto, data);
    close_packet(run, packet);
}

// ---- threads ----

static struct perfetto_thread *find_thread(struct export_run *run, uint64_t address, size_t *number)
{
    struct perfetto *perfetto = perfetto_of(run);
    size_t known = perfetto->threads.count, packet, tree, thread;
    char buffer[EXPORT_NAME_BYTES];

    *number = export_number(run, &perfetto->threads, address);
    if (*number == SIZE_MAX)
        return NULL;
    if (*number >= perfetto->known_count) {
        struct perfetto_thread *grown =
            extract_grow(perfetto->known, &perfetto->known_count, *number, sizeof *grown);
        if (!grown) {
            export_fail(run, EXTRACT_NOMEM, "export", "out of memory");
            return NULL;
        }
        perfetto->known = grown;
    }
    if (*number < known)
        return &perfetto->known[*number];
    perfetto->known[*number] = (struct perfetto_thread){.priority = EXTRACT_NO_PRIORITY};
    struct proto *proto = open_packet(run, &packet);
    tree = proto_open(proto, PACKET_PROCESSES);
    if (!known) {
        thread = proto_open(proto, PROCESSES_PROCESS);
        proto_uint(proto, PROCESS_PID, PID);
        proto_string(proto, PROCESS_NAME, extract_trace_info(run->trace)->format);
        proto_close(proto, thread);
    }
    thread = proto_open(proto, PROCESSES_THREAD);
    proto_uint(proto, THREAD_TID, PID + 1 + *number);
    proto_uint(proto, THREAD_PID, PID);
    proto_string(proto, THREAD_NAME, export_name(run, true, address, buffer));
    proto_close(proto, thread);
    proto_close(proto, tree);
    close_packet(run, packet);
    return &perfetto->known[*number];
}

// ---- tracks ----

// Returns the word for what is no thread, and no interrupt with a number.
static const char *runner_name(enum extract_runner runner)
{
    return runner == EXTRACT_RUNNER_ISR    ? "interrupt"
           : runner == EXTRACT_RUNNER_INIT ? "start-up"
                                           : "unknown";
}

struct track {
    uint64_t number;
    enum track_kind kind;
    unsigned core;
    const char *name;
    const char *unit; // of a counter
    uint64_t parent;
    uint64_t rank; // among the tracks of the same parent
};

// Returns the uuid of a track, which it describes when it is first used.
static uint64_t track_uuid(struct export_run *run, const struct track *track)
{
    size_t packet, descriptor, part;
    bool is_new;
    uint64_t uuid = key_iid(run, track->number, track->kind, track->core, &is_new);

    if (!is_new)
        return uuid;
    struct proto *proto = open_packet(run, &packet);
    descriptor = proto_open(proto, PACKET_DESCRIPTOR);
    proto_uint(proto, TRACK_UUID, uuid);
    proto_string(proto, TRACK_NAME, track->name);
    if (track->parent)
        proto_uint(proto, TRACK_PARENT, track->parent);
    if (track->unit) {
        part = proto_open(proto, TRACK_COUNTER);
        proto_string(proto, COUNTER_UNIT_NAME, track->unit);
        proto_close(proto, part);
    }
    if (track->kind == TRACK_STATES_OF) {
        part = proto_open(proto, TRACK_STATE);
        proto_close(proto, part);
    }
    if (track->kind <= TRACK_CORE || track->kind == TRACK_STATES || track->kind == TRACK_COUNTERS)
        proto_uint(proto, TRACK_ORDERING, ORDERED_EXPLICITLY);
    proto_uint(proto, TRACK_RANK, track->rank);
    proto_close(proto, descriptor);
    close_packet(run, packet);
    return uuid;
}

static uint64_t root_track(struct export_run *run)
{
    char name[128];
    uint64_t known = known_iid(run, 0, TRACK_ROOT, 0);

    if (known)
        return known;
    snprintf(name, sizeof name, "%s%s", extract_trace_info(run->trace)->format,
             run->hz ? "" : " (unknown clock rate: 1 tick is shown as 1 ns)");
    return track_uuid(run, &(struct track){.kind = TRACK_ROOT, .name = name});
}

static uint64_t core_track(struct export_run *run, unsigned core)
{
    char name[24];
    uint64_t known = known_iid(run, 0, TRACK_CORE, core);

    if (known)
        return known;
    snprintf(name, sizeof name, "core %u", core);
    return track_uuid(run, &(struct track){.kind = TRACK_CORE,
                                           .core = core,
                                           .name = name,
                                           .parent = root_track(run),
                                           .rank = core});
}

static uint64_t thread_track(struct export_run *run, unsigned core, uint64_t address)
{
    char buffer[EXPORT_NAME_BYTES];
    size_t number;

    if (!find_thread(run, address, &number))
        return 0;
    uint64_t known = known_iid(run, number, TRACK_THREAD, core);
    if (known)
        return known;
    return track_uuid(run, &(struct track){.number = number,
                                           .kind = TRACK_THREAD,
                                           .core = core,
                                           .name = export_name(run, true, address, buffer),
                                           .parent = core_track(run, core),
                                           .rank = 1000 + number});
}

// Returns the track of what is no thread: an interrupt, start-up code, or unknown.
static uint64_t other_track(struct export_run *run, unsigned core, enum extract_runner runner)
{
    return track_uuid(run, &(struct track){.number = runner,
                                           .kind = TRACK_OTHER,
                                           .core = core,
                                           .name = runner_name(runner),
                                           .parent = core_track(run, core),
                                           .rank = runner == EXTRACT_RUNNER_UNKNOWN ? 999 : 0});
}

static uint64_t interrupt_track(struct export_run *run, unsigned core, uint64_t isr, size_t number)
{
    char name[40];
    uint64_t known = known_iid(run, number, TRACK_ISR, core);

    if (known)
        return known;
    snprintf(name, sizeof name, "interrupt %llu", (unsigned long long)isr);
    return track_uuid(run, &(struct track){.number = number,
                                           .kind = TRACK_ISR,
                                           .core = core,
                                           .name = name,
                                           .parent = core_track(run, core),
                                           .rank = 1 + (isr < 900 ? isr : 900)});
}

// ---- events ----

struct event {
    enum event_type type;
    uint64_t at; // ticks
    uint64_t track;
    uint64_t name;    // iid; 0: none
    const char *text; // name without an iid; NULL: none
    size_t text_length;
    uint64_t flow, ended_flow; // 0: none
    bool is_likely;
};

// Begins a packet with an event of a track.
static struct proto *open_event(struct export_run *run, const struct event *event, size_t *packet,
                                size_t *begin)
{
    struct proto *proto = open_packet(run, packet);

    proto_uint(proto, PACKET_TIMESTAMP, export_ns(run, event->at));
    *begin = proto_open(proto, PACKET_EVENT);
    proto_uint(proto, EVENT_TYPE, event->type);
    proto_uint(proto, EVENT_TRACK, event->track);
    if (event->name)
        proto_uint(proto, EVENT_NAME_IID, event->name);
    if (event->text)
        proto_bytes(proto, EVENT_NAME, event->text, event->text_length);
    if (event->flow)
        proto_fixed(proto, EVENT_FLOW, event->flow);
    if (event->ended_flow)
        proto_fixed(proto, EVENT_FLOW_END, event->ended_flow);
    return proto;
}

static void close_event(struct export_run *run, size_t packet, size_t begin)
{
    proto_close(&perfetto_of(run)->packet, begin);
    close_packet(run, packet);
}

// Returns the iid of a label of annotations.
static uint64_t label_iid(struct export_run *run, uint64_t number, const char *label)
{
    bool is_new;
    uint64_t iid = key_iid(run, number, NAME_LABEL, 0, &is_new);

    if (is_new)
        put_interned(run, INTERNED_LABELS, iid, label);
    return iid;
}

static void put_event_of(struct export_run *run, const struct event *event)
{
    size_t packet, begin, annotation;
    uint64_t label = event->is_likely ? label_iid(run, UINT32_MAX, "certainty") : 0;
    struct proto *proto = open_event(run, event, &packet, &begin);

    if (event->is_likely) {
        annotation = proto_open(proto, EVENT_ANNOTATION);
        proto_uint(proto, ANNOTATION_LABEL, label);
        proto_string(proto, ANNOTATION_STRING, "likely");
        proto_close(proto, annotation);
    }
    close_event(run, packet, begin);
}

static uint64_t name_iid(struct export_run *run, uint64_t number, unsigned kind, const char *name)
{
    bool is_new;
    uint64_t iid = key_iid(run, number, kind, 0, &is_new);

    if (is_new)
        put_interned(run, INTERNED_NAMES, iid, name);
    return iid;
}

// Writes a field of an event: its name in words if it has one, otherwise its number.
static void put_annotation(struct export_run *run, struct proto *proto, uint64_t label,
                           enum extract_kind kind, uint64_t value)
{
    struct perfetto *perfetto = perfetto_of(run);
    size_t begin = proto_open(proto, EVENT_ANNOTATION);
    const char *name = value_names_find(&run->names, kind, value);
    bool is_pointer = kind == EXTRACT_KIND_HEX || kind == EXTRACT_KIND_OBJECT ||
                      kind == EXTRACT_KIND_STACK || kind == EXTRACT_KIND_DATA ||
                      kind == EXTRACT_KIND_CODE || kind == EXTRACT_KIND_STRING;

    proto_uint(proto, ANNOTATION_LABEL, label);
    if (name) {
        perfetto->scratch.used = 0;
        extract_text_escaped(&perfetto->scratch, name);
        proto_bytes(proto, ANNOTATION_STRING, perfetto->scratch.used ? perfetto->scratch.data : "",
                    perfetto->scratch.used);
    } else {
        proto_uint(proto, is_pointer ? ANNOTATION_POINTER : ANNOTATION_UINT, value);
    }
    proto_close(proto, begin);
}

// Writes the wake-up whose event was filtered out, as an instant of the waker.
static void flush_wake(struct export_run *run)
{
    struct perfetto *perfetto = perfetto_of(run);
    bool by_thread = perfetto->wake.by && !perfetto->wake.in_isr;

    if (!perfetto->wake.flow)
        return;
    struct event event = {.type = INSTANT,
                          .at = perfetto->wake.at,
                          .track = by_thread
                                       ? thread_track(run, perfetto->wake.core, perfetto->wake.by)
                                       : core_track(run, perfetto->wake.core),
                          .text = "wake-up",
                          .text_length = strlen("wake-up"),
                          .flow = perfetto->wake.flow};
    perfetto->wake.flow = 0;
    put_event_of(run, &event);
}

static void end_losses(struct export_run *run, uint64_t at);

static void put_event(struct export_run *run, const struct extract_event *event)
{
    struct perfetto *perfetto = perfetto_of(run);
    const struct extract_event_type *type = event->type;
    size_t packet, begin, number = export_number(run, &perfetto->types, (uintptr_t)type);
    uint64_t labels[EXTRACT_FIELDS_MAX];
    unsigned fields = report_fields(event);
    bool by_thread = event->context == EXTRACT_THREAD && event->thread;

    if (event->flags & EXTRACT_FLAG_UNTIMED || number == SIZE_MAX)
        return;
    if (perfetto->wake.seq != event->seq)
        flush_wake(run);
    end_losses(run, event->ticks);
    for (unsigned i = 0; i < fields; i++)
        if (type->field[i].kind != EXTRACT_KIND_NONE)
            labels[i] = label_iid(run, number * EXTRACT_FIELDS_MAX + i, type->field[i].label);
    const char *name = export_event_name(run, event);
    struct event instant = {.type = INSTANT,
                            .at = event->ticks,
                            .name = name == type->name ? name_iid(run, number, NAME_TYPE, name)
                                                       : name_iid(run, event->id, NAME_EVENT, name),
                            .flow = perfetto->wake.flow};
    if (by_thread) {
        size_t thread_number;
        struct perfetto_thread *thread = find_thread(run, event->thread, &thread_number);
        if (thread)
            thread->priority = event->priority;
        instant.track = thread_track(run, event->core, event->thread);
    } else {
        instant.track = core_track(run, event->core);
    }
    perfetto->wake.flow = 0;
    perfetto->oldest = perfetto->has_oldest ? perfetto->oldest : event->ticks;
    perfetto->has_oldest = true;
    perfetto->newest = event->ticks;
    struct proto *proto = open_event(run, &instant, &packet, &begin);
    proto_uint(proto, EVENT_CATEGORY, 1 + (uint64_t)type->class_);
    for (unsigned i = 0; i < fields; i++)
        if (type->field[i].kind != EXTRACT_KIND_NONE)
            put_annotation(run, proto, labels[i], type->field[i].kind, event->field[i]);
    close_event(run, packet, begin);
}

static uint64_t recorder_track(struct export_run *run)
{
    return track_uuid(run, &(struct track){.kind = TRACK_RECORDER,
                                           .name = "recorder",
                                           .parent = root_track(run),
                                           .rank = 1003});
}

// A loss is a slice from the event before it to the next one; a restart and the like an instant.
static void put_loss(struct export_run *run, const struct extract_event *marker)
{
    struct perfetto *perfetto = perfetto_of(run);
    bool is_loss = extract_id_is_loss(marker->id);
    struct event event = {.type = is_loss ? SLICE_BEGIN : INSTANT, .at = marker->ticks};

    flush_wake(run);
    event.track = recorder_track(run);
    event.text = export_event_text(run, marker, &event.text_length);
    if (is_loss && perfetto->newest < marker->ticks)
        event.at = perfetto->newest;
    perfetto->losses += is_loss;
    put_event_of(run, &event);
}

static void end_losses(struct export_run *run, uint64_t at)
{
    struct perfetto *perfetto = perfetto_of(run);

    for (; perfetto->losses; perfetto->losses--)
        put_event_of(run,
                     &(struct event){.type = SLICE_END, .at = at, .track = recorder_track(run)});
}

// ---- the schedule ----

static void put_slice(struct export_run *run, const struct extract_interval *slice)
{
    struct perfetto *perfetto = perfetto_of(run);
    struct event event = {.type = SLICE_BEGIN, .at = slice->from, .is_likely = slice->is_unsure};
    char name[EXPORT_NAME_BYTES + 24];
    size_t number;

    if (slice->runner == EXTRACT_RUNNER_IDLE) // what no track shows
        return;
    if (slice->runner == EXTRACT_RUNNER_THREAD) {
        event.track = thread_track(run, slice->core, slice->thread);
        struct perfetto_thread *thread = find_thread(run, slice->thread, &number);
        if (!thread)
            return;
        event.name =
            name_iid(run, number, NAME_THREAD, export_name(run, true, slice->thread, name));
        event.ended_flow = export_flows_take(&thread->flows, slice->from).from;
    } else if (slice->runner == EXTRACT_RUNNER_ISR && slice->isr_known) {
        number = export_number(run, &perfetto->interrupts, slice->isr);
        event.track = interrupt_track(run, slice->core, slice->isr, number);
        event.name = known_iid(run, number, NAME_ISR, 0);
        if (!event.name) {
            snprintf(name, sizeof name, "interrupt %llu", (unsigned long long)slice->isr);
            event.name = name_iid(run, number, NAME_ISR, name);
        }
    } else {
        event.track = other_track(run, slice->core, slice->runner);
        event.name = name_iid(run, slice->runner, NAME_RUNNER, runner_name(slice->runner));
    }
    put_event_of(run, &event);
    put_event_of(run, &(struct event){.type = SLICE_END, .at = slice->to, .track = event.track});
    if (slice->to > perfetto->last)
        perfetto->last = slice->to;
}

// Writes a state for Perfetto's own view of the scheduler.
static void put_task(struct export_run *run, const struct extract_state *state, size_t number)
{
    static const uint8_t tasks[] = {
        [EXTRACT_STATE_UNKNOWN] = TASK_UNKNOWN, [EXTRACT_STATE_RUNNING] = TASK_RUNNING,
        [EXTRACT_STATE_READY] = TASK_RUNNABLE,  [EXTRACT_STATE_BLOCKED] = TASK_SLEEPS,
        [EXTRACT_STATE_SLEEPING] = TASK_SLEEPS, [EXTRACT_STATE_SUSPENDED] = TASK_STOPPED,
        [EXTRACT_STATE_COMPLETED] = TASK_DEAD,  [EXTRACT_STATE_TERMINATED] = TASK_DEAD,
    };
    uint16_t priority = perfetto_of(run)->known[number].priority;
    char buffer[EXPORT_NAME_BYTES];
    size_t packet, task;
    struct proto *proto = open_packet(run, &packet);

    proto_uint(proto, PACKET_TIMESTAMP, export_ns(run, state->from));
    task = proto_open(proto, PACKET_TASK_STATE);
    proto_uint(proto, TASK_CPU, state->state == EXTRACT_STATE_RUNNING ? state->core : 0);
    proto_string(proto, TASK_NAME, export_name(run, true, state->thread, buffer));
    proto_uint(proto, TASK_TID, PID + 1 + number);
    proto_uint(proto, TASK_STATE, tasks[state->is_unsure ? EXTRACT_STATE_UNKNOWN : state->state]);
    if (priority != EXTRACT_NO_PRIORITY)
        proto_uint(proto, TASK_PRIORITY, priority);
    proto_close(proto, task);
    close_packet(run, packet);
}

// Returns the iid of the name of a state: "blocked on mutex bus".
static uint64_t state_iid(struct export_run *run, const struct extract_state *state)
{
    struct perfetto *perfetto = perfetto_of(run);
    struct extract_text *name = &perfetto->scratch;
    char buffer[EXPORT_NAME_BYTES];
    uint64_t object = state->object ? export_number(run, &perfetto->objects, state->object) + 1 : 0;
    uint64_t wait = state->wait ? export_number(run, &perfetto->waits, (uintptr_t)state->wait) : 0;

    unsigned kind = NAME_STATE + (unsigned)state->state;
    uint64_t known = known_iid(run, object << 8 | wait, kind, 0);
    if (known)
        return known;
    name->used = 0;
    extract_text_puts(name, extract_thread_state_name(state->state));
    if (state->wait)
        extract_text_printf(name, "%s on %s",
                            state->state == EXTRACT_STATE_RUNNING ? ", spins" : "", state->wait);
    if (state->object)
        extract_text_printf(name, " %s", export_name(run, false, state->object, buffer));
    extract_text_putc(name, 0);
    return name->code ? 0 : name_iid(run, object << 8 | wait, kind, name->data);
}

// Writes a state to its track and for Perfetto's own view.
static void put_state_of(struct export_run *run, const struct extract_state *state, size_t number)
{
    char buffer[EXPORT_NAME_BYTES];
    struct track track = {
        .kind = TRACK_STATES, .name = "states", .parent = root_track(run), .rank = 1001};

    track = (struct track){.number = number,
                           .kind = TRACK_STATES_OF,
                           .name = export_name(run, true, state->thread, buffer),
                           .parent = track_uuid(run, &track),
                           .rank = number};
    put_event_of(run, &(struct event){.type = STATE,
                                      .at = state->from,
                                      .name = state_iid(run, state),
                                      .track = track_uuid(run, &track),
                                      .is_likely = state->is_unsure});
    put_task(run, state, number);
}

// Perfetto draws a state until the next one, so the time from its end to `to` becomes unknown.
static void put_gap(struct export_run *run, size_t number, uint64_t to)
{
    const struct perfetto *perfetto = perfetto_of(run);
    const struct perfetto_thread *thread = &perfetto->known[number];

    if (thread->has_states && thread->states_to < to)
        put_state_of(run,
                     &(struct extract_state){.thread = perfetto->threads.keys[number],
                                             .from = thread->states_to},
                     number);
}

static void put_state(struct export_run *run, const struct extract_state *state)
{
    struct perfetto *perfetto = perfetto_of(run);
    size_t number;

    if (!find_thread(run, state->thread, &number))
        return;
    put_gap(run, number, state->from);
    put_state_of(run, state, number);
    perfetto->known[number].states_to = state->to;
    perfetto->known[number].has_states = true;
    if (state->to > perfetto->last)
        perfetto->last = state->to;
}

static void put_wake(struct export_run *run, const struct extract_wake *wake)
{
    struct perfetto *perfetto = perfetto_of(run);
    size_t number;
    struct perfetto_thread *thread = find_thread(run, wake->thread, &number);

    flush_wake(run);
    if (!thread || wake->is_suspended)
        return;
    export_flows_add(&thread->flows, wake->at, ++perfetto->flows);
    perfetto->wake.seq = wake->seq;
    perfetto->wake.at = wake->at;
    perfetto->wake.by = wake->by;
    perfetto->wake.core = wake->core;
    perfetto->wake.in_isr = wake->in_isr;
    perfetto->wake.flow = perfetto->flows;
}

static void put_counter(struct export_run *run, const struct export_counter *counter)
{
    static const char *const units[EXPORT_COUNTERS] = {"messages", "", "", "bytes", "%"};
    struct perfetto *perfetto = perfetto_of(run);
    bool is_load = counter->kind == EXPORT_COUNTER_LOAD;
    char buffer[EXPORT_NAME_BYTES], name[256];
    size_t packet, begin;

    if (is_load)
        snprintf(name, sizeof name, "load of core %u", (unsigned)counter->object);
    else
        snprintf(name, sizeof name, "%s: %s", export_counter_name(counter->kind),
                 export_name(run, counter->kind == EXPORT_COUNTER_STACK, counter->object, buffer));
    const struct track parent = {
        .kind = TRACK_COUNTERS, .name = "counters", .parent = root_track(run), .rank = 1002};
    struct track track = {.kind = TRACK_COUNTER_OF + (unsigned)counter->kind,
                          .name = name,
                          .unit = units[counter->kind],
                          .parent = track_uuid(run, &parent)};
    track.number =
        is_load ? counter->object : export_number(run, &perfetto->objects, counter->object);
    track.rank = ((uint64_t)!is_load << 16) + track.number;
    struct event event = {.type = COUNTER, .at = counter->at, .track = track_uuid(run, &track)};
    struct proto *proto = open_event(run, &event, &packet, &begin);
    if (is_load)
        proto_double(proto, EVENT_FRACTION,
                     counter->is_unknown ? (double)EXPORT_UNKNOWN : (double)counter->value / 10);
    else
        proto_uint(proto, EVENT_COUNT,
                   counter->is_unknown ? (uint64_t)EXPORT_UNKNOWN : counter->value);
    close_event(run, packet, begin);
}

static void begin(struct export_run *run)
{
    for (unsigned i = 0; i < EXTRACT_CLASSES; i++)
        put_interned(run, INTERNED_CATEGORIES, 1 + i, extract_class_name((enum extract_class)i));
    root_track(run);
}

// Adds a slice of the whole time if events were lost at a time that is not known.
static void put_lost_sometime(struct export_run *run)
{
    struct perfetto *perfetto = perfetto_of(run);
    uint64_t lost = export_lost_sometime(run);
    char text[64];

    if (!lost)
        return;
    snprintf(text, sizeof text, "%llu event%s lost, at an unknown time", (unsigned long long)lost,
             lost == 1 ? "" : "s");
    put_event_of(run, &(struct event){.type = SLICE_BEGIN,
                                      .at = perfetto->oldest,
                                      .track = recorder_track(run),
                                      .text = text,
                                      .text_length = strlen(text)});
    perfetto->losses++;
}

static void end(struct export_run *run)
{
    struct perfetto *perfetto = perfetto_of(run);

    flush_wake(run);
    put_lost_sometime(run);
    end_losses(run, perfetto->newest);
    for (size_t number = 0; number < perfetto->threads.count; number++)
        put_gap(run, number, perfetto->last);
}

static void close_perfetto(struct export_run *run)
{
    struct perfetto *perfetto = perfetto_of(run);

    export_numbers_free(&perfetto->threads);
    export_numbers_free(&perfetto->objects);
    export_numbers_free(&perfetto->interrupts);
    export_numbers_free(&perfetto->types);
    export_numbers_free(&perfetto->waits);
    export_numbers_free(&perfetto->keys);
    extract_text_free(&perfetto->scratch);
    free(perfetto->known);
    free(perfetto->packet.bytes);
}

const struct exporter export_perfetto = {
    .kind = {"perfetto", ".pftrace", "a trace for ui.perfetto.dev", EXTRACT_EXPORT_STREAM},
    .state_bytes = sizeof(struct perfetto),
    .begin = begin,
    .event = put_event,
    .slice = put_slice,
    .state = put_state,
    .wake = put_wake,
    .counter = put_counter,
    .loss = put_loss,
    .end = end,
    .close = close_perfetto,
};
