// SPDX-License-Identifier: MIT
// babeltrace: what the files of the plug-in share.
//
//   parameters ─► source_input.c ─► the trace ─► source_messages.c ─► messages of the graph
//                                      │             │
//                                      │ classes.c: classes of traces, streams, events and fields
//                                      └─► ranges.c: times of streams, for --stream-intersection
//
// A component is a struct source. Its classes, streams and names serve all of its message
// iterators, of which only one is used at a time.
#ifndef EXTRACT_BABELTRACE_SOURCE_H
#define EXTRACT_BABELTRACE_SOURCE_H

#include <babeltrace2/babeltrace.h>
#include <extract/session.h>

enum {
    SOURCE_CORES = 256,
    // Characters of the name of a field: its label, which is shortened, and a suffix.
    SOURCE_LABEL = 64,
    SOURCE_NAME = SOURCE_LABEL + 16
};

// ---- source_input.c ----

// The parameters of a component, as the options of the program `ringside` with the same names.
// Strings are borrowed from the parameters.
struct source_options {
    const char **inputs, **roles; // owned
    size_t input_count, role_count;
    const char *elf, *format, *hook, *rkh, *ring, *user_events;
    uint64_t hz, modulus; // 0: not given
    uint32_t stream;      // 1 + its number; 0: any
    int64_t offset_s, offset_ns;
    bool is_unix_epoch;
};

// What is open of the input.
struct source_input {
    struct extract_memory *memory;
    struct extract_log *log; // instead of a memory
    struct extract_symbols *symbols;
    struct extract_user_types *types;
    struct extract_hook_roles *roles;
    struct extract_rkh rkh;
    struct extract_session *session;
};

// Opens the input. After an error, it must be closed, too.
enum extract_code source_input_open(struct source_input *input,
                                    const struct source_options *options,
                                    struct extract_error *error);
void source_input_close(struct source_input *input);
// Returns how certain it is that the plug-in can read a file, a directory or a string, 0 to 1.
double source_input_weight(const char *path, const char *type);

// ---- classes.c ----

// What an event has in addition to what all events have. Each combination makes another event
// class, so that what is not known is left out.
enum {
    EVENT_HAS_THREAD = 1,      // a thread executed
    EVENT_HAS_INTERRUPTED = 2, // the thread that an interrupt interrupted
    EVENT_HAS_PRIORITY = 4,
    EVENT_HAS_THRESHOLD = 8,
    EVENT_HAS_FLAGS = 16,
    EVENT_HAS_TICKS = 32, // its own time is not that of its message
    EVENT_HAS_DATA = 64   // a payload
};

// An event class, with the plan of its fields.
struct event_class {
    const struct extract_event_type *type;
    unsigned layout; // EVENT_HAS_…
    unsigned fields; // number of fields of the event that it covers
    struct {
        enum extract_kind kind; // NONE: the field has no meaning, and the payload lacks it
        bool has_name;          // a string with its name follows
    } field[EXTRACT_FIELDS_MAX];
    const bt_event_class *class;
    struct event_class *next; // of those with the same hash
};

enum { EVENT_CLASS_SLOTS = 1024 };

// The name of the only output port.
#define SOURCE_PORT "out"

struct source {
    bt_self_component *self;             // NULL in a query, which has no component
    bt_self_component_class *self_class; // in a query
    struct source_input input;
    const struct extract_trace *trace;
    struct extract_value_names *names;
    const char *name; // name of the input, for messages; owned
    uint64_t hz;      // ticks per second; 0: unknown

    bt_trace_class *trace_class;
    bt_clock_class *clock_class;
    bt_stream_class *stream_class;
    bt_trace *bt_trace;
    bt_stream *streams[SOURCE_CORES]; // NULL: no event of this core was read yet
    uint64_t next_class;              // id of the next event class
    struct event_class *classes[EVENT_CLASS_SLOTS];
};

// Makes the classes of trace, clock and stream, and the trace. Returns false if memory is short.
bool source_classes_new(struct source *source, const struct source_options *options);
void source_classes_free(struct source *source);
// Returns the class of an event, which has what `layout` states; NULL if memory is short.
const struct event_class *source_event_class(struct source *source,
                                             const struct extract_event *event, unsigned layout);
// Returns the stream of a core; NULL if memory is short.
bt_stream *source_stream(struct source *source, unsigned core);

// Returns the number of fields of an event that its type describes.
static inline unsigned source_field_count(const struct extract_event *event)
{
    return event->fields < event->type->fields ? event->fields : event->type->fields;
}

// ---- ranges.c ----

// Answers babeltrace.trace-infos: when the events of each core begin and end. The source needs no
// classes. Returns NULL if memory is short.
bt_value *source_make_ranges(const struct source *source, const struct source_options *options);

// ---- source_messages.c ----

bt_message_iterator_class_initialize_method_status
source_iterator_new(bt_self_message_iterator *self,
                    bt_self_message_iterator_configuration *configuration,
                    bt_self_component_port_output *port);
void source_iterator_free(bt_self_message_iterator *self);
bt_message_iterator_class_next_method_status source_iterator_next(bt_self_message_iterator *self,
                                                                  bt_message_array_const messages,
                                                                  uint64_t capacity,
                                                                  uint64_t *count);
bt_message_iterator_class_seek_beginning_method_status
source_iterator_rewind(bt_self_message_iterator *self);
bt_message_iterator_class_can_seek_beginning_method_status
source_iterator_can_rewind(bt_self_message_iterator *self, bt_bool *can_seek);

#endif
