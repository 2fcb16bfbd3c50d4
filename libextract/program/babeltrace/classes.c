// SPDX-License-Identifier: MIT
// babeltrace: the classes of traces, clocks, streams, events and fields.
//
// Classes of events are made when the first event of each is read: only then it is known what its
// entries hold. Names of types and fields come from the trace, so they are made printable and
// unique.
#include "babeltrace/source.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 32 }; // more than the words of a kind

// ---- field classes ----

// Makes an unsigned integer of `bits` bits. Returns NULL if memory is short.
static bt_field_class *make_integer(struct source *source, unsigned bits, bool is_hex)
{
    bt_field_class *class = bt_field_class_integer_unsigned_create(source->trace_class);

    if (class)
        bt_field_class_integer_set_field_value_range(class, bits);
    if (class && is_hex)
        bt_field_class_integer_set_preferred_display_base(
            class, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
    return class;
}

// Adds a label for the values of two ranges, which may be the same.
static bool add_label_of_two(bt_field_class *class, const char *label, const uint64_t a[2],
                             const uint64_t b[2])
{
    bt_integer_range_set_unsigned *ranges = bt_integer_range_set_unsigned_create();
    bool is_added = ranges && bt_integer_range_set_unsigned_add_range(ranges, a[0], a[1]) == 0 &&
                    (b == a || bt_integer_range_set_unsigned_add_range(ranges, b[0], b[1]) == 0) &&
                    bt_field_class_enumeration_unsigned_add_mapping(class, label, ranges) == 0;

    bt_integer_range_set_unsigned_put_ref(ranges);
    return is_added;
}

// Adds a label for the values from `lower` to `upper`.
static bool add_label(bt_field_class *class, const char *label, uint64_t lower, uint64_t upper)
{
    const uint64_t range[2] = {lower, upper};

    return add_label_of_two(class, label, range, range);
}

// Adds a label for each value of a kind that has a word. The first values of a kind are those that
// have words. A timeout is endless if all bits of a word of 32 or 64 bits are set.
static bool add_words(struct source *source, bt_field_class *class, enum extract_kind kind,
                      uint64_t seq)
{
    bool is_added = true;

    if (kind == EXTRACT_KIND_POOL)
        return add_label(class, "none", EXTRACT_NO_POOL, EXTRACT_NO_POOL);
    if (kind == EXTRACT_KIND_BOOL)
        return add_label(class, "no", 0, 0) && add_label(class, "yes", 1, UINT64_MAX);
    if (kind == EXTRACT_KIND_WAIT)
        return add_label(class, "none", 0, 0) &&
               add_label_of_two(class, "forever", (const uint64_t[]){UINT32_MAX, UINT32_MAX},
                                (const uint64_t[]){UINT64_MAX, UINT64_MAX});
    for (uint64_t value = 0; value < WORDS && is_added; value++) {
        const char *word = extract_value_name(source->names, seq, kind, value);
        is_added = word && (!*word || add_label(class, word, value, value));
    }
    return is_added;
}

static bool has_words(enum extract_kind kind)
{
    switch (kind) {
    case EXTRACT_KIND_WAIT:
    case EXTRACT_KIND_BOOL:
    case EXTRACT_KIND_THREAD_STATE:
    case EXTRACT_KIND_TCP_STATE:
    case EXTRACT_KIND_FLAGS_GET:
    case EXTRACT_KIND_FLAGS_SET:
    case EXTRACT_KIND_LOSS:
    case EXTRACT_KIND_ACTION:
    case EXTRACT_KIND_VERDICT:
    case EXTRACT_KIND_POOL:
        return true;
    default:
        return false;
    }
}

static bool has_name(enum extract_kind kind)
{
    switch (kind) {
    case EXTRACT_KIND_OBJECT:
    case EXTRACT_KIND_CODE:
    case EXTRACT_KIND_STRING:
    case EXTRACT_KIND_IPV4:
    case EXTRACT_KIND_TEXT:
    case EXTRACT_KIND_SIGNAL:
    case EXTRACT_KIND_POOL:
    case EXTRACT_KIND_USER_EVENT:
    case EXTRACT_KIND_EVENT:
        return true;
    default:
        return false;
    }
}

static bt_field_class *make_enumeration(struct source *source, enum extract_kind kind, uint64_t seq)
{
    bt_field_class *class = bt_field_class_enumeration_unsigned_create(source->trace_class);

    if (class && !add_words(source, class, kind, seq)) {
        bt_field_class_put_ref(class);
        return NULL;
    }
    return class;
}

static bt_field_class *make_value(struct source *source, enum extract_kind kind, uint64_t seq)
{
    bool is_decimal =
        kind == EXTRACT_KIND_DEC || kind == EXTRACT_KIND_TICKS || kind >= EXTRACT_KIND_THREAD_STATE;

    return has_words(kind) ? make_enumeration(source, kind, seq)
                           : make_integer(source, 64, !is_decimal);
}

// ---- structures ----

// Adds a member, whose class may be NULL (memory is short) and is consumed. If another member has
// the name, a number is added to it. Returns false if memory is short.
static bool add_member(bt_field_class *structure, const char *name, bt_field_class *member)
{
    char unique[SOURCE_NAME + 8];
    bool is_added = false;

    snprintf(unique, sizeof unique, "%s", name);
    for (unsigned i = 2;
         bt_field_class_structure_borrow_member_by_name_const(structure, unique) != NULL; i++)
        snprintf(unique, sizeof unique, "%s_%u", name, i);
    if (member)
        is_added = bt_field_class_structure_append_member(structure, unique, member) == 0;
    bt_field_class_put_ref(member);
    return is_added;
}

static bool add_string(struct source *source, bt_field_class *structure, const char *name)
{
    return add_member(structure, name, bt_field_class_string_create(source->trace_class));
}

// Makes an identifier of a label.
static void make_name(const char *label, char name[SOURCE_NAME])
{
    size_t at = 0;

    if (*label >= '0' && *label <= '9')
        name[at++] = 'n';
    for (; *label && at < SOURCE_LABEL; label++) {
        bool is_plain = (*label >= 'a' && *label <= 'z') || (*label >= 'A' && *label <= 'Z') ||
                        (*label >= '0' && *label <= '9');
        name[at++] = is_plain ? *label : '_';
    }
    if (!at)
        name[at++] = '_';
    name[at] = 0;
}

// Makes the name of the string that names a field. A field of the type may have that name already.
static void make_name_of_string(const struct extract_event_type *type, char name[SOURCE_NAME])
{
    char other[SOURCE_NAME];

    strcat(name, "_name");
    for (unsigned i = 0; i < type->fields; i++) {
        make_name(type->field[i].label, other);
        if (type->field[i].kind != EXTRACT_KIND_NONE && strcmp(other, name) == 0) {
            strcat(name, "_2");
            return;
        }
    }
}

// Makes the class of the payload's bytes, whose number is the last member of the payload so far, of
// the class `length`. Returns NULL if memory is short.
static bt_field_class *make_bytes(struct source *source, const bt_field_class *payload,
                                  bt_field_class *byte, bt_field_class *length)
{
#ifdef SOURCE_HAS_MIP_1
    if (bt_self_component_get_graph_mip_version(source->self) >= 1) {
        uint64_t last = bt_field_class_structure_get_member_count(payload) - 1;
        const char *name = bt_field_class_structure_member_get_name(
            bt_field_class_structure_borrow_member_by_index_const(payload, last));
        const bt_field_location *location = bt_field_location_create(
            source->trace_class, BT_FIELD_LOCATION_SCOPE_EVENT_PAYLOAD, &name, 1);
        bt_field_class *bytes =
            location ? bt_field_class_array_dynamic_with_length_field_location_create(
                           source->trace_class, byte, location)
                     : NULL;
        bt_field_location_put_ref(location);
        return bytes;
    }
#endif
    (void)payload;
    return bt_field_class_array_dynamic_create(source->trace_class, byte, length);
}

// Adds the payload's bytes with their number.
static bool add_data(struct source *source, bt_field_class *payload)
{
    bt_field_class *length = make_integer(source, 32, false);
    bt_field_class *byte = make_integer(source, 8, true);
    bool is_added = false;

    if (length && byte) {
        bt_field_class_get_ref(length);
        is_added = add_member(payload, "data_length", length) &&
                   add_member(payload, "data", make_bytes(source, payload, byte, length));
    }
    bt_field_class_put_ref(length);
    bt_field_class_put_ref(byte);
    return is_added;
}

static bt_field_class *make_payload(struct source *source, struct event_class *class, uint64_t seq)
{
    bt_field_class *payload = bt_field_class_structure_create(source->trace_class);
    bool is_made = payload;
    char name[SOURCE_NAME];

    for (unsigned i = 0; i < class->fields && is_made; i++) {
        enum extract_kind kind = class->field[i].kind;
        if (kind == EXTRACT_KIND_NONE)
            continue;
        make_name(class->type->field[i].label, name);
        if (kind != EXTRACT_KIND_TEXT) { // whose number means nothing
            is_made = add_member(payload, name, make_value(source, kind, seq));
            make_name_of_string(class->type, name);
        }
        if (is_made && class->field[i].has_name)
            is_made = add_string(source, payload, name);
    }
    if (is_made && class->layout & EVENT_HAS_DATA)
        is_made = add_data(source, payload);
    if (is_made)
        return payload;
    bt_field_class_put_ref(payload);
    return NULL;
}

static bt_field_class *make_context(struct source *source, unsigned layout)
{
    bt_field_class *context = bt_field_class_structure_create(source->trace_class);
    bool is_made = context;

    if (is_made && layout & EVENT_HAS_THREAD)
        is_made = add_member(context, "thread", make_integer(source, 64, true)) &&
                  add_string(source, context, "thread_name");
    if (is_made && layout & EVENT_HAS_INTERRUPTED)
        is_made = add_member(context, "interrupted", make_integer(source, 64, true)) &&
                  add_string(source, context, "interrupted_name");
    if (is_made && layout & EVENT_HAS_PRIORITY)
        is_made = add_member(context, "priority", make_integer(source, 16, false));
    if (is_made && layout & EVENT_HAS_THRESHOLD)
        is_made = add_member(context, "threshold", make_integer(source, 16, false));
    if (is_made && layout & EVENT_HAS_TICKS)
        is_made = add_member(context, "ticks", make_integer(source, 64, false));
    if (is_made && layout & EVENT_HAS_FLAGS)
        is_made = add_string(source, context, "flags");
    if (is_made)
        return context;
    bt_field_class_put_ref(context);
    return NULL;
}

// ---- event classes ----

// Writes a text of the trace without characters that must not reach a terminal. The caller frees
// it; NULL: memory is short.
static char *make_printable(const char *string)
{
    struct extract_text text;

    extract_text_init(&text, NULL, NULL);
    extract_text_escaped(&text, string);
    extract_text_putc(&text, 0);
    if (!text.code)
        return text.data;
    extract_text_free(&text);
    return NULL;
}

static const bt_event_class *make_event_class(struct source *source, struct event_class *class,
                                              uint64_t seq)
{
    bt_event_class *made = bt_event_class_create_with_id(source->stream_class, source->next_class);
    bt_field_class *payload = make_payload(source, class, seq);
    bt_field_class *context = make_context(source, class->layout);
    char *name = make_printable(class->type->symbol);
    bool is_made = made && payload && context && name && bt_event_class_set_name(made, name) == 0;

    // Without a class, an event has no such structure, rather than an empty one.
    if (is_made && bt_field_class_structure_get_member_count(payload))
        is_made = bt_event_class_set_payload_field_class(made, payload) == 0;
    if (is_made && bt_field_class_structure_get_member_count(context))
        is_made = bt_event_class_set_specific_context_field_class(made, context) == 0;
    source->next_class += made != NULL;
    free(name);
    bt_field_class_put_ref(context);
    bt_field_class_put_ref(payload);
    if (is_made)
        return made;
    bt_event_class_put_ref(made);
    return NULL;
}

static struct event_class **class_slot(struct source *source, const struct extract_event_type *type,
                                       unsigned layout, unsigned fields)
{
    uint64_t key = (uintptr_t)type / sizeof(void *) * 64 + layout * 16 + fields;

    return &source->classes[key * UINT64_C(0x9E3779B97F4A7C15) >> 54];
}

const struct event_class *source_event_class(struct source *source,
                                             const struct extract_event *event, unsigned layout)
{
    unsigned fields = source_field_count(event);
    struct event_class **slot = class_slot(source, event->type, layout, fields);

    for (struct event_class *class = *slot; class; class = class->next)
        if (class->type == event->type && class->layout == layout && class->fields == fields)
            return class;
    struct event_class *class = calloc(1, sizeof *class);
    if (!class)
        return NULL;
    class->type = event->type;
    class->layout = layout;
    class->fields = fields;
    for (unsigned i = 0; i < fields; i++) {
        class->field[i].kind = event->type->field[i].kind;
        class->field[i].has_name = has_name(class->field[i].kind);
    }
    class->class = make_event_class(source, class, event->seq);
    if (!class->class) {
        free(class);
        return NULL;
    }
    class->next = *slot;
    return *slot = class;
}

// ---- traces and streams ----

// Clocks that count from the oldest event of their trace are the same clock for babeltrace2, so
// that it shows several traces side by side.
static bool identify_clock(struct source *source)
{
#ifdef SOURCE_HAS_MIP_1
    if (bt_self_component_get_graph_mip_version(source->self) >= 1)
        return bt_clock_class_set_namespace(source->clock_class, "ringside") == 0 &&
               bt_clock_class_set_uid(source->clock_class, "since the oldest event") == 0;
#endif
    static const uint8_t uuid[16] = {0x92, 0x78, 0xea, 0xa8, 0x78, 0xe3, 0x48, 0x04,
                                     0x8a, 0x46, 0x70, 0x9a, 0x79, 0x5c, 0xf9, 0xa1};
    bt_clock_class_set_uuid(source->clock_class, uuid);
    return true;
}

static bool set_clock(struct source *source, const struct source_options *options)
{
    bt_clock_class *clock = source->clock_class = bt_clock_class_create(source->self);
    const int64_t giga = 1000000000;
    // Seconds and nanoseconds of the offset, of which the latter are not negative.
    int64_t ns = options->offset_ns % giga;
    int64_t seconds = options->offset_s + options->offset_ns / giga - (ns < 0);

    if (!clock)
        return false;
    ns += ns < 0 ? giga : 0;
    uint64_t hz = source->hz ? source->hz : (uint64_t)giga;
    bt_clock_class_set_frequency(clock, hz);
    bt_clock_class_set_offset(clock, seconds,
                              (uint64_t)((unsigned __int128)ns * hz / (uint64_t)giga));
    bt_clock_class_set_origin_is_unix_epoch(clock, options->is_unix_epoch);
    return identify_clock(source) && bt_clock_class_set_name(clock, "trace") == 0 &&
           bt_clock_class_set_description(
               clock, source->hz ? "Time since the oldest event of the trace"
                                 : "Ticks since the oldest event of the trace; their rate is "
                                   "unknown, and 1 tick is shown as 1 ns") == 0;
}

static bool set_common_context(struct source *source)
{
    bt_field_class *context = bt_field_class_structure_create(source->trace_class);
    bt_field_class *kind = bt_field_class_enumeration_unsigned_create(source->trace_class);
    bool is_set = context && kind && add_label(kind, "thread", EXTRACT_THREAD, EXTRACT_THREAD) &&
                  add_label(kind, "isr", EXTRACT_ISR, EXTRACT_ISR) &&
                  add_label(kind, "init", EXTRACT_INIT, EXTRACT_INIT) &&
                  add_label(kind, "recorder", EXTRACT_RECORDER, EXTRACT_RECORDER) &&
                  add_member(context, "seq", make_integer(source, 64, false)) &&
                  add_member(context, "id", make_integer(source, 32, false)) &&
                  add_member(context, "raw_stamp", make_integer(source, 64, true));

    if (kind)
        bt_field_class_integer_set_field_value_range(kind, 8);
    if (is_set)
        is_set = add_member(context, "context", kind) &&
                 bt_stream_class_set_event_common_context_field_class(source->stream_class,
                                                                      context) == 0;
    else
        bt_field_class_put_ref(kind);
    bt_field_class_put_ref(context);
    return is_set;
}

static bool set_stream_class(struct source *source)
{
    bt_stream_class *class = source->stream_class = bt_stream_class_create(source->trace_class);
    bt_field_class *packet = bt_field_class_structure_create(source->trace_class);
    bool is_set = class && packet &&
                  bt_stream_class_set_default_clock_class(class, source->clock_class) == 0 &&
                  add_member(packet, "cpu_id", make_integer(source, 32, false)) &&
                  set_common_context(source);

    if (is_set) {
        bt_stream_class_set_assigns_automatic_event_class_id(class, BT_FALSE);
        bt_stream_class_set_assigns_automatic_stream_id(class, BT_FALSE);
        bt_stream_class_set_supports_packets(class, BT_TRUE, BT_TRUE, BT_TRUE);
        bt_stream_class_set_supports_discarded_events(class, BT_TRUE, BT_TRUE);
        is_set = bt_stream_class_set_packet_context_field_class(class, packet) == 0;
    }
    bt_field_class_put_ref(packet);
    return is_set;
}

static bool set_environment(struct source *source)
{
    const struct extract_info *info = extract_trace_info(source->trace);
    static const char *const orders[] = {[EXTRACT_LITTLE] = "little", [EXTRACT_BIG] = "big"};
    const char *order = orders[info->byte_order] ? orders[info->byte_order] : "unknown";
    bt_trace *trace = source->bt_trace;
    struct number {
        const char *name;
        uint64_t value;
        bool is_known;
    } numbers[] = {
        {"word_bytes", info->word_bytes, info->word_bytes != 0},
        {"cores", info->cores, info->cores != 0},
        {"clock_hz", source->hz, source->hz != 0},
        {"events", info->entries_valid, true},
        {"entries_damaged", info->entries_damaged, true},
        {"entries_unread", info->entries_unread, true},
        {"events_lost", info->events_lost, info->lost_known},
        {"events_lost_at_least", info->lost_at_least, !info->lost_known},
    };
    bool is_set = bt_trace_set_environment_entry_string(trace, "reader", "ringside") == 0 &&
                  bt_trace_set_environment_entry_string(trace, "format", info->format) == 0 &&
                  bt_trace_set_environment_entry_string(trace, "target_byte_order", order) == 0;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && is_set; i++)
        if (numbers[i].is_known && numbers[i].value <= INT64_MAX)
            is_set = bt_trace_set_environment_entry_integer(trace, numbers[i].name,
                                                            (int64_t)numbers[i].value) == 0;
    return is_set;
}

// Names the trace after the file, without its directories.
static bool set_name(struct source *source)
{
    const char *slash = strrchr(source->name, '/');
    char *name = make_printable(slash && slash[1] ? slash + 1 : source->name);
    bool is_set = name && bt_trace_set_name(source->bt_trace, name) == 0;

    free(name);
    return is_set;
}

bool source_classes_new(struct source *source, const struct source_options *options)
{
    source->trace_class = bt_trace_class_create(source->self);
    if (!source->trace_class || !set_clock(source, options) || !set_stream_class(source))
        return false;
    source->bt_trace = bt_trace_create(source->trace_class);
    return source->bt_trace && set_name(source) && set_environment(source);
}

bt_stream *source_stream(struct source *source, unsigned core)
{
    char name[24];

    if (source->streams[core])
        return source->streams[core];
    bt_stream *stream = bt_stream_create_with_id(source->stream_class, source->bt_trace, core);
    snprintf(name, sizeof name, "core-%u", core);
    if (stream && bt_stream_set_name(stream, name) == 0)
        return source->streams[core] = stream;
    bt_stream_put_ref(stream);
    return NULL;
}

void source_classes_free(struct source *source)
{
    for (size_t i = 0; i < EVENT_CLASS_SLOTS; i++)
        for (struct event_class *class = source->classes[i], *next; class; class = next) {
            next = class->next;
            bt_event_class_put_ref(class->class);
            free(class);
        }
    for (size_t i = 0; i < SOURCE_CORES; i++)
        bt_stream_put_ref(source->streams[i]);
    bt_trace_put_ref(source->bt_trace);
    bt_stream_class_put_ref(source->stream_class);
    bt_clock_class_put_ref(source->clock_class);
    bt_trace_class_put_ref(source->trace_class);
}
