// SPDX-License-Identifier: MIT
// formats/posix: decodes records to events, and the names of event types to objects, and defines
// the format.
//
// Source: docs/formats/posix-ring.md; IEEE Std 1003.1-2008, 2.11.2, for the system's event types.
#include "formats/posix/posix.h"

// Fields of every event. The last one is only present in interrupts.
#define FIELDS(label, kind)                                                                        \
    .fields = 5, .field = {{label, kind},                                                          \
                           {"address", EXTRACT_KIND_CODE},                                         \
                           {"truncated", EXTRACT_KIND_BOOL},                                       \
                           {"pid", EXTRACT_KIND_DEC},                                              \
                           {"interrupt", EXTRACT_KIND_DEC}}

static const struct extract_event_type user_event = {.id = POSIX_USER,
                                                     .symbol = "POSIX_TRACE_USER_EVENT",
                                                     .name = "user event",
                                                     .class_ = EXTRACT_APPL,
                                                     .range = true,
                                                     FIELDS("event", EXTRACT_KIND_USER_EVENT)};

static const struct extract_event_type unknown_event = {.symbol = "POSIX_TRACE_SYSTEM_EVENT",
                                                        .name = "system event",
                                                        .class_ = EXTRACT_KERN,
                                                        .range = true,
                                                        FIELDS("event", EXTRACT_KIND_DEC)};

// System event types, which have the standard's names.
#define SYSTEM(which, name_, class, label, kind)                                                   \
    [POSIX_ID_##which] = {.id = POSIX_ID_##which,                                                  \
                          .symbol = "POSIX_TRACE_" #which,                                         \
                          .name = "posix_trace_" name_,                                            \
                          .class_ = EXTRACT_##class,                                               \
                          FIELDS(label, EXTRACT_KIND_##kind)}

static const struct extract_event_type system_events[] = {
    SYSTEM(ERROR, "error", KERN, "error", DEC),
    SYSTEM(START, "start", SVC, "", NONE),
    SYSTEM(STOP, "stop", SVC, "auto", BOOL),
    SYSTEM(OVERFLOW, "overflow", KERN, "", NONE),
    SYSTEM(RESUME, "resume", KERN, "", NONE),
    SYSTEM(FILTER, "filter", SVC, "", NONE),
    SYSTEM(FLUSH_START, "flush_start", KERN, "", NONE),
    SYSTEM(FLUSH_STOP, "flush_stop", KERN, "", NONE),
};

static const struct extract_event_type *type_of(uint32_t id)
{
    if (id >= POSIX_USER)
        return &user_event;
    bool known = id < sizeof system_events / sizeof *system_events && system_events[id].symbol;
    return known ? &system_events[id] : &unknown_event;
}

// Returns the first field: a user event's number, or the number that is a system event's data.
static uint64_t first_field(const struct posix_record *record, const uint8_t *data,
                            enum extract_byte_order order)
{
    struct extract_cursor c = extract_cursor_make(data, record->data_bytes, order);

    if (record->id >= POSIX_USER)
        return record->id - POSIX_USER;
    if (record->id == POSIX_ID_ERROR || record->id == POSIX_ID_STOP)
        return extract_cursor_u32(&c);
    return record->id;
}

static void decode_record(const struct posix_record *record, const uint8_t *bytes,
                          enum extract_byte_order order, struct extract_event *event)
{
    const uint8_t *data = bytes + record->data_at;

    *event = (struct extract_event){.id = record->id,
                                    .type = type_of(record->id),
                                    .raw_stamp = record->stamp,
                                    .thread = record->interrupt ? 0 : record->thread,
                                    .context = record->interrupt ? EXTRACT_ISR : EXTRACT_THREAD,
                                    .priority = EXTRACT_NO_PRIORITY,
                                    .threshold = EXTRACT_NO_PRIORITY,
                                    .core = record->core,
                                    .fields = record->interrupt ? 5 : 4,
                                    .data = data,
                                    .data_bytes = record->data_bytes};
    event->field[0] = first_field(record, data, order);
    event->field[1] = record->address;
    event->field[2] = record->cut;
    event->field[3] = record->pid;
    event->field[4] = record->interrupt ? record->thread : 0;
}

static void decode_slots(const struct extract_snapshot *snapshot, uint32_t slot, size_t count,
                         struct extract_event *events)
{
    struct posix_stream stream;

    posix_stream_read(&stream, snapshot->ring.header, sizeof snapshot->ring.header);
    for (size_t i = 0; i < count; i++) {
        const struct extract_extent *place = &snapshot->index[slot + i];
        const uint8_t *bytes = snapshot->bytes + place->offset;
        struct extract_cursor c =
            extract_cursor_make(bytes, place->length, snapshot->ring.byte_order);
        struct posix_record record;
        // The position was checked when the record was found; here the record's own one is used.
        uint32_t position = extract_cursor_u32(&c) & 0xFFFF;
        posix_record_read(&record, bytes, place->length, &stream.layout, position);
        decode_record(&record, bytes, stream.layout.order, &events[i]);
    }
}

// ---- Names of event types ----

static bool decode_object(const struct extract_snapshot *snapshot, uint32_t slot,
                          struct extract_object *object, const uint8_t **name, size_t *name_bytes)
{
    static const struct extract_field_type no_params[2] = {{"", EXTRACT_KIND_NONE},
                                                           {"", EXTRACT_KIND_NONE}};
    uint32_t bytes = snapshot->ring.registry.slot_bytes;

    *name = posix_copy_names(snapshot) + (uint64_t)slot * bytes;
    *name_bytes = bytes;
    *object = (struct extract_object){.address = slot,
                                      .type_name = "event type",
                                      .param_types = no_params,
                                      .in_use = true,
                                      .registered = true,
                                      .number_kind = EXTRACT_KIND_USER_EVENT,
                                      .priority = EXTRACT_NO_PRIORITY,
                                      .slot = slot};
    return bytes && **name;
}

static const struct extract_open_entries open_entries = {
    .finished = posix_finished,
    .is_begun = posix_is_begun,
    .boundary = posix_boundary,
    .object = posix_entry_object,
};

static const struct extract_counted_ring counted = {
    .live_from = POSIX_STREAM_AT_GENERATION,
    .live_to = POSIX_HEADER,
    .length = posix_length,
    .open = &open_entries,
};

static const struct extract_stream posix_stream_of_bytes = {
    .slack_bytes = posix_slack_bytes,
    .read_live = extract_stream_read_counters,
    .read_counters = posix_read_counters,
    .newest_is_known = true,
    .copy_side_data = posix_copy_side_data,
    .resolve_layout = extract_stream_has_one_layout,
    .walk = posix_walk,
    .stamp_mask = extract_stream_has_one_mask,
    .is_untimed = extract_stream_has_all_stamps,
    .note_verdicts = extract_stream_ignores_verdicts,
    .describe = posix_describe,
    .counted = &counted,
};

static const struct extract_named_types named_types = {posix_rtos_find, posix_rtos_apply,
                                                       posix_rtos_events, posix_rtos_order};

static const struct extract_scheduler kernel = {.translate = posix_rtos_translate,
                                                .field_type = posix_rtos_field_type,
                                                .is_control = posix_rtos_is_control,
                                                .needs_switches = true,
                                                .idle_threads = "IDLE*",
                                                .name_pointer = posix_rtos_name_pointer,
                                                .priority = posix_rtos_priority};

static const struct extract_hook_entries entries = {posix_entry, extract_hook_entry_is_no_mark};

static const char *const unprinted[] = {"rtos_", "posix_", NULL};

const struct extract_format extract_format_posix = {
    .name = "posix",
    .title = "POSIX trace",
    .suffix = "ptr",
    .find = posix_find,
    .is_meant = extract_format_is_never_meant,
    .read_header = posix_read_ring,
    .apply_symbols = posix_apply_symbols,
    .magics = {POSIX_PROCESS_MAGIC, POSIX_STREAM_MAGIC},
    .is_valid_header = posix_is_header,
    .complete = posix_complete,
    .contradicts = posix_contradicts,
    .rebuild = posix_rebuild,
    .symbol = "ringside_posix",
    .type = type_of,
    .decode = decode_slots,
    .object = decode_object,
    .streams = true,
    .user_ids = POSIX_USER,
    .unprinted = unprinted,
    .users_share = true,
    .has_ownerless = true,
    .thread_type = "thread",
    .direction = EXTRACT_CLOCK_UP,
    .hooks = EXTRACT_HOOKS_PLAIN,
    .named_types = &named_types,
    .entry_name = posix_rtos_name,
    .stream = &posix_stream_of_bytes,
    .kernel = &kernel,
    .entries = &entries,
    .encoder = &posix_encoder,
};
