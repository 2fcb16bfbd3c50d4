// SPDX-License-Identifier: MIT
// babeltrace: the message iterator. It reads a few events at a time and makes messages of them, so
// memory does not grow with the trace.
//
// Each core has a stream. Its events are in packets. A loss ends the packet before it, and an empty
// packet ends it, so that a loss is between packets as CTF 1.8 has it:
//
//     packet: events, markers of the loss │ discarded events │ empty packet │ packet: events
//                                      time before         time after
//
// A ring does not show on which core entries were lost: losses are in the stream of core 0, as
// their markers are.
#include "babeltrace/source.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 128,          // events that are read at once
    PACKET_EVENTS = 4096, // maximum of a packet
    QUEUE = 32,           // more than the messages of one event
    NUMBER_TEXT = 24
};

// The latest time. With the largest offsets, it fits into 63 bits.
static const uint64_t MAX_NS = 4000000000000000000;

struct stream_state {
    bool has_begun;
    bt_packet *packet; // the open packet; NULL: none
    unsigned events;   // in it
};

struct iterator {
    bt_self_message_iterator *self;
    struct source *source;
    struct extract_reader reader;
    struct extract_event events[BATCH];
    size_t count, at;               // of `events`
    const bt_message *queue[QUEUE]; // messages that were made and not passed on
    size_t first, queued;           // of `queue`
    struct stream_state streams[SOURCE_CORES];
    bool has_begun;     // `now` is valid
    uint64_t now;       // time of the last event, ticks
    uint64_t max_ticks; // MAX_NS as ticks
    bool has_loss;      // entries are missing after the last event
    bool loss_is_exact; // `lost` is their number
    uint64_t lost;
    bool ending;     // all events were read
    unsigned to_end; // next stream to end
};

// ---- messages ----

static bool fail(struct iterator *it, const char *what)
{
    BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(it->self, "%s: %s", it->source->name,
                                                               what);
    return false;
}

static bool fail_for_memory(struct iterator *it)
{
    return fail(it, "out of memory");
}

// Adds a message to the queue; NULL: memory is short.
static bool push(struct iterator *it, const bt_message *message)
{
    if (!message)
        return fail_for_memory(it);
    it->queue[it->queued++] = message;
    return true;
}

// Begins a packet, and the stream if it has not begun, unless a packet is open.
static bool begin_packet(struct iterator *it, unsigned core, uint64_t time)
{
    struct stream_state *state = &it->streams[core];
    bt_stream *stream = source_stream(it->source, core);

    if (state->packet)
        return true;
    if (!stream)
        return fail_for_memory(it);
    if (!state->has_begun && !push(it, bt_message_stream_beginning_create(it->self, stream)))
        return false;
    state->has_begun = true;
    state->packet = bt_packet_create(stream);
    if (!state->packet)
        return fail_for_memory(it);
    bt_field *context = bt_packet_borrow_context_field(state->packet);
    bt_field_integer_unsigned_set_value(bt_field_structure_borrow_member_field_by_index(context, 0),
                                        core);
    state->events = 0;
    return push(it, bt_message_packet_beginning_create_with_default_clock_snapshot(
                        it->self, state->packet, time));
}

static bool end_packet(struct iterator *it, unsigned core, uint64_t time)
{
    struct stream_state *state = &it->streams[core];

    if (!state->packet)
        return true;
    bool is_made = push(it, bt_message_packet_end_create_with_default_clock_snapshot(
                                it->self, state->packet, time));
    bt_packet_put_ref(state->packet);
    state->packet = NULL;
    return is_made;
}

// ---- losses ----

// Notes the loss that a marker reports. Losses between two events add up.
static void note_loss(struct iterator *it, const struct extract_event *marker)
{
    const struct extract_log_info *log = extract_trace_info(it->source->trace)->log;
    bool is_exact = true;
    uint64_t lost = 0;

    switch (marker->id) {
    case EXTRACT_ID_LOST:
        is_exact = marker->field[EXTRACT_LOST_EXACT];
        lost = marker->field[EXTRACT_LOST_AT_LEAST];
        break;
    case EXTRACT_ID_BROKEN:
        lost = marker->field[1];
        break;
    case EXTRACT_ID_DAMAGED:
        lost = marker->field[0];
        is_exact = lost != 0;
        break;
    case EXTRACT_ID_MARK + EXTRACT_MARK_FULL: // the log states whether more was to come
        if (!log || !log->losses[EXTRACT_LOSS_LOG_FULL].gaps)
            return;
        is_exact = false;
        break;
    default:
        return;
    }
    it->loss_is_exact = is_exact && (!it->has_loss || it->loss_is_exact);
    it->lost = it->has_loss ? it->lost + lost : lost;
    it->has_loss = true;
}

// Makes the messages of the loss between the last event and `time`.
static bool put_loss(struct iterator *it, uint64_t time)
{
    bool is_empty = it->loss_is_exact && !it->lost;

    it->has_loss = false;
    if (is_empty)
        return true;
    if (!begin_packet(it, 0, it->now) || !end_packet(it, 0, it->now))
        return false;
    bt_message *message = bt_message_discarded_events_create_with_default_clock_snapshots(
        it->self, source_stream(it->source, 0), it->now, time);
    if (message && it->loss_is_exact)
        bt_message_discarded_events_set_count(message, it->lost);
    return push(it, message) && begin_packet(it, 0, time) && end_packet(it, 0, time);
}

// ---- events ----

// The fields of a structure, which are set in the order of its members.
struct cursor {
    bt_field *structure;
    uint64_t at;
};

static bt_field *next_field(struct cursor *cursor)
{
    return bt_field_structure_borrow_member_field_by_index(cursor->structure, cursor->at++);
}

static void put_number(struct cursor *cursor, uint64_t value)
{
    bt_field_integer_unsigned_set_value(next_field(cursor), value);
}

// Returns false if memory is short, as it is if `string` is NULL.
static bool put_string(struct cursor *cursor, const char *string)
{
    return string && bt_field_string_set_value(next_field(cursor), string) == 0;
}

static unsigned layout_of(const struct extract_event *event, uint64_t time)
{
    bool is_thread = event->context == EXTRACT_THREAD;
    bool is_isr = event->context == EXTRACT_ISR;
    bool is_timed = !(event->flags & EXTRACT_FLAG_UNTIMED);

    return (is_thread ? EVENT_HAS_THREAD : 0u) |
           (is_isr && event->thread ? EVENT_HAS_INTERRUPTED : 0u) |
           (is_thread && event->priority != EXTRACT_NO_PRIORITY ? EVENT_HAS_PRIORITY : 0u) |
           (is_thread && event->threshold != EXTRACT_NO_PRIORITY ? EVENT_HAS_THRESHOLD : 0u) |
           (event->flags ? EVENT_HAS_FLAGS : 0u) |
           (is_timed && event->ticks != time ? EVENT_HAS_TICKS : 0u) |
           (event->data ? EVENT_HAS_DATA : 0u);
}

// Writes a value without a name as reports print it. An empty string would be the name of the event
// before it after a way through CTF: source.ctf.fs 2.0.4 keeps what an empty string had.
static const char *number_text(enum extract_kind kind, uint64_t value, char text[NUMBER_TEXT])
{
    bool is_decimal = kind >= EXTRACT_KIND_SIGNAL;

    if (!value && (kind == EXTRACT_KIND_OBJECT || kind == EXTRACT_KIND_CODE))
        return "none";
    if (kind == EXTRACT_KIND_IPV4)
        snprintf(text, NUMBER_TEXT, "%u.%u.%u.%u", (unsigned)(value >> 24 & 255),
                 (unsigned)(value >> 16 & 255), (unsigned)(value >> 8 & 255),
                 (unsigned)(value & 255));
    else
        snprintf(text, NUMBER_TEXT, is_decimal ? "%" PRIu64 : "0x%" PRIx64, value);
    return text;
}

static const char *thread_name(const struct iterator *it, const struct extract_event *event,
                               char text[NUMBER_TEXT])
{
    const struct extract_object *thread =
        extract_trace_thread_at(it->source->trace, event->thread, event->seq);

    return thread ? thread->shown : number_text(EXTRACT_KIND_OBJECT, event->thread, text);
}

static const char *flags_text(const struct extract_event *event, char text[64])
{
    static const struct {
        unsigned flag;
        const char *word;
    } words[] = {{EXTRACT_FLAG_PROVISIONAL, "provisional "},
                 {EXTRACT_FLAG_GAP, "gap "},
                 {EXTRACT_FLAG_BACKWARDS, "backwards "},
                 {EXTRACT_FLAG_UNTIMED, "untimed "}};

    *text = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (event->flags & words[i].flag)
            strcat(text, words[i].word);
    if (*text)
        text[strlen(text) - 1] = 0;
    return text;
}

static void set_common_context(const struct extract_event *event, bt_field *structure)
{
    struct cursor to = {structure, 0};

    put_number(&to, event->seq);
    put_number(&to, event->id);
    put_number(&to, event->raw_stamp);
    put_number(&to, event->context);
}

static bool set_context(const struct iterator *it, const struct extract_event *event,
                        unsigned layout, bt_field *structure)
{
    struct cursor to = {structure, 0};
    char flags[64], number[NUMBER_TEXT];

    if (layout & (EVENT_HAS_THREAD | EVENT_HAS_INTERRUPTED)) {
        put_number(&to, event->thread);
        if (!put_string(&to, thread_name(it, event, number)))
            return false;
    }
    if (layout & EVENT_HAS_PRIORITY)
        put_number(&to, event->priority);
    if (layout & EVENT_HAS_THRESHOLD)
        put_number(&to, event->threshold);
    if (layout & EVENT_HAS_TICKS)
        put_number(&to, event->ticks);
    return !(layout & EVENT_HAS_FLAGS) || put_string(&to, flags_text(event, flags));
}

static bool set_data(const struct extract_event *event, struct cursor *to)
{
    put_number(to, event->data_bytes);
    bt_field *bytes = next_field(to);
    if (bt_field_array_dynamic_set_length(bytes, event->data_bytes))
        return false;
    for (uint32_t i = 0; i < event->data_bytes; i++)
        bt_field_integer_unsigned_set_value(bt_field_array_borrow_element_field_by_index(bytes, i),
                                            event->data[i]);
    return true;
}

static bool set_payload(const struct iterator *it, const struct event_class *class,
                        const struct extract_event *event, bt_field *structure)
{
    struct cursor to = {structure, 0};
    char number[NUMBER_TEXT];

    for (unsigned i = 0; i < class->fields; i++) {
        uint64_t value = event->field[i];
        enum extract_kind kind = class->field[i].kind;
        if (kind == EXTRACT_KIND_NONE)
            continue;
        if (kind == EXTRACT_KIND_OBJECT)
            put_number(&to, extract_trace_address(it->source->trace, value));
        else if (kind != EXTRACT_KIND_TEXT)
            put_number(&to, value);
        if (!class->field[i].has_name)
            continue;
        const char *name = extract_value_name(it->source->names, event->seq, kind, value);
        if (name && !*name && kind != EXTRACT_KIND_TEXT)
            name = number_text(kind, value, number);
        if (!put_string(&to, name))
            return false;
    }
    return !(class->layout & EVENT_HAS_DATA) || set_data(event, &to);
}

static bool put_event(struct iterator *it, const struct extract_event *event, uint64_t time)
{
    unsigned layout = layout_of(event, time);
    const struct event_class *class = source_event_class(it->source, event, layout);
    struct stream_state *state = &it->streams[event->core];

    if (!class)
        return fail_for_memory(it);
    if (!begin_packet(it, event->core, time))
        return false;
    bt_message *message = bt_message_event_create_with_packet_and_default_clock_snapshot(
        it->self, class->class, state->packet, time);
    if (!push(it, message))
        return false;
    bt_event *made = bt_message_event_borrow_event(message);
    set_common_context(event, bt_event_borrow_common_context_field(made));
    if (!set_context(it, event, layout, bt_event_borrow_specific_context_field(made)) ||
        !set_payload(it, class, event, bt_event_borrow_payload_field(made)))
        return fail_for_memory(it);
    return ++state->events < PACKET_EVENTS || end_packet(it, event->core, time);
}

// Makes the messages of an event. The times of messages never go back: an event whose time is
// before that of the event before it, or that has no time, gets the time of the event before it.
static bool take_event(struct iterator *it, const struct extract_event *event)
{
    bool is_mark = extract_event_is_mark(event);
    bool is_timed = !(event->flags & EXTRACT_FLAG_UNTIMED);
    uint64_t time = is_timed && event->ticks > it->now ? event->ticks : it->now;

    if (time > it->max_ticks)
        return fail(it, it->source->hz
                            ? "times exceed 126 years at this clock rate; check the "
                              "parameter hz, and whether the timestamps are damaged"
                            : "times exceed 4 * 10^18 ticks; check whether the timestamps "
                              "are damaged");
    if (!it->has_begun)
        it->now = time;
    it->has_begun = true;
    if (!is_mark && event->flags & EXTRACT_FLAG_GAP && !it->has_loss) {
        it->has_loss = true;
        it->loss_is_exact = false;
    }
    if (!is_mark && it->has_loss && !put_loss(it, time))
        return false;
    it->now = time;
    if (is_mark)
        note_loss(it, event);
    return put_event(it, event, time);
}

// ---- the iterator ----

// Ends the streams, one per call. Returns false after the last.
static bool end_stream(struct iterator *it, bool *is_failed)
{
    if (it->has_loss) {
        *is_failed = !put_loss(it, it->now);
        return true;
    }
    while (it->to_end < SOURCE_CORES && !it->streams[it->to_end].has_begun)
        it->to_end++;
    if (it->to_end == SOURCE_CORES)
        return false;
    *is_failed =
        !end_packet(it, it->to_end, it->now) ||
        !push(it, bt_message_stream_end_create(it->self, source_stream(it->source, it->to_end)));
    it->to_end++;
    return true;
}

// Makes the next messages. Returns false if there are none.
static bool make_messages(struct iterator *it, bool *is_failed)
{
    it->first = it->queued = 0;
    if (it->at == it->count && !it->ending) {
        it->count = extract_reader_next(&it->reader, it->events, BATCH);
        it->at = 0;
        it->ending = it->count == 0;
    }
    if (it->ending)
        return end_stream(it, is_failed);
    *is_failed = !take_event(it, &it->events[it->at++]);
    return true;
}

static void drop(struct iterator *it)
{
    for (size_t i = it->first; i < it->queued; i++)
        bt_message_put_ref(it->queue[i]);
    for (size_t i = 0; i < SOURCE_CORES; i++)
        bt_packet_put_ref(it->streams[i].packet);
    memset(it->streams, 0, sizeof it->streams);
    it->first = it->queued = 0;
}

bt_message_iterator_class_next_method_status source_iterator_next(bt_self_message_iterator *self,
                                                                  bt_message_array_const messages,
                                                                  uint64_t capacity,
                                                                  uint64_t *count)
{
    struct iterator *it = bt_self_message_iterator_get_data(self);
    bool is_failed = false;

    *count = 0;
    while (*count < capacity && !is_failed) {
        if (it->first == it->queued && !make_messages(it, &is_failed))
            break;
        while (*count < capacity && it->first < it->queued && !is_failed)
            messages[(*count)++] = it->queue[it->first++];
    }
    if (is_failed) {
        for (uint64_t i = 0; i < *count; i++)
            bt_message_put_ref(messages[i]);
        return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
    }
    return *count ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK
                  : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
}

// Goes to the start. Events that were lost at an unknown time are reported there.
static void rewind_to_start(struct iterator *it)
{
    const struct extract_info *info = extract_trace_info(it->source->trace);

    drop(it);
    extract_reader_init(&it->reader, it->source->trace);
    it->count = it->at = 0;
    it->now = 0;
    it->lost = info->lost_known && !info->gaps ? info->events_lost : 0;
    it->has_loss = it->loss_is_exact = it->lost != 0;
    it->has_begun = it->ending = false;
    it->to_end = 0;
}

bt_message_iterator_class_seek_beginning_method_status
source_iterator_rewind(bt_self_message_iterator *self)
{
    rewind_to_start(bt_self_message_iterator_get_data(self));
    return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_OK;
}

bt_message_iterator_class_can_seek_beginning_method_status
source_iterator_can_rewind(bt_self_message_iterator *self, bt_bool *can_seek)
{
    (void)self;
    *can_seek = BT_TRUE;
    return BT_MESSAGE_ITERATOR_CLASS_CAN_SEEK_BEGINNING_METHOD_STATUS_OK;
}

bt_message_iterator_class_initialize_method_status
source_iterator_new(bt_self_message_iterator *self,
                    bt_self_message_iterator_configuration *configuration,
                    bt_self_component_port_output *port)
{
    bt_self_component *component = bt_self_message_iterator_borrow_component(self);
    struct iterator *it = calloc(1, sizeof *it);

    (void)port;
    // All messages but the begins and ends of streams have times, which never go back.
    bt_self_message_iterator_configuration_set_can_seek_forward(configuration, BT_TRUE);
    if (!it)
        return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
    it->self = self;
    it->source = bt_self_component_get_data(component);
    const uint64_t hz = it->source->hz ? it->source->hz : 1000000000;
    const unsigned __int128 max_ticks = (unsigned __int128)MAX_NS * hz / 1000000000;
    it->max_ticks = max_ticks > INT64_MAX ? INT64_MAX : (uint64_t)max_ticks;
    rewind_to_start(it);
    bt_self_message_iterator_set_data(self, it);
    return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void source_iterator_free(bt_self_message_iterator *self)
{
    struct iterator *it = bt_self_message_iterator_get_data(self);

    if (it)
        drop(it);
    free(it);
}
