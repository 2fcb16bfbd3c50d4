// SPDX-License-Identifier: MIT
// formats/hook: decodes records to events, presents them to report templates, and defines the
// format.
//
// Source: docs/formats/hook.md; the entries of AIX as "trc_read" and trcfmt files show them.
#include "formats/hook/hook.h"
#include "formats/hook/roles.h"

#define DATA_WORD(label)                                                                           \
    {                                                                                              \
        label, EXTRACT_KIND_HEX                                                                    \
    }

// Templates define what a hook id means. Without a template, an event has the class KERN.
static const struct extract_event_type hook_event = {
    .symbol = "HOOK",
    .name = "hook",
    .class_ = EXTRACT_KERN,
    .fields = HOOK_MAX_FIELDS,
    .range = EXTRACT_HOOK_RANGE,
    .field = {DATA_WORD("D1"), DATA_WORD("D2"), DATA_WORD("D3"), DATA_WORD("D4"), DATA_WORD("D5"),
              DATA_WORD("D6"), DATA_WORD("D7"), DATA_WORD("D8")}};

static const struct extract_event_type *hook_type(uint32_t id)
{
    (void)id;
    return &hook_event;
}

static void decode_record(const struct extract_ring *ring, const struct hook_record *record,
                          const uint8_t *bytes, struct extract_event *event)
{
    uint32_t unit = hook_unit(&record->word), payload = hook_record_payload(record);
    struct extract_cursor c = extract_cursor_make(bytes + record->head, payload, ring->byte_order);

    event->thread = record->tid;
    event->context = record->frame & HOOK_FRAME_ISR ? EXTRACT_ISR : EXTRACT_THREAD;
    if (record->frame & HOOK_FRAME_INIT) {
        event->context = EXTRACT_INIT;
        event->thread = 0;
    }
    event->type = &hook_event;
    event->priority_word = record->frame | (uint64_t)record->board << 32;
    event->priority = event->threshold = EXTRACT_NO_PRIORITY;
    event->id = record->word.id;
    event->core = (uint8_t)(record->frame >> 24);
    event->data = bytes + record->head;
    event->data_bytes = payload;
    event->fields = (uint8_t)record->words;
    extract_cursor_seek(&c, unit);
    for (uint32_t i = 0; i < HOOK_MAX_FIELDS; i++)
        event->field[i] = i < record->words ? extract_cursor_word(&c, unit) : 0;
}

static void hook_decode(const struct extract_snapshot *snapshot, uint32_t slot, size_t count,
                        struct extract_event *events)
{
    const struct extract_ring *ring = &snapshot->ring;
    struct hook_limits limits = hook_limits_of(ring);

    for (size_t i = 0; i < count; i++) {
        const struct extract_extent *place = &snapshot->index[slot + i];
        const uint8_t *bytes = snapshot->bytes + place->offset;
        struct hook_record record = {0};
        hook_record_read(&record, bytes, place->length, ring->byte_order, limits);
        decode_record(ring, &record, bytes, &events[i]);
        events[i].raw_stamp = place->stamp;
    }
}

// ---- Entries as AIX has them ----

// Stores hook word and data words with the highest byte first, and the buffer unchanged. Returns
// false if they are incomplete or too long.
static bool store_big_endian(const struct extract_event *event, const struct hook_word *word,
                             struct extract_cursor *c, uint8_t *buffer)
{
    uint32_t unit = hook_unit(word);
    uint8_t *to = extract_store(buffer, hook_word_value(word), unit, EXTRACT_BIG);

    for (unsigned i = 0; i < event->fields; i++)
        to = extract_store(to, event->field[i], unit, EXTRACT_BIG);
    if (!extract_cursor_span(c, (uint64_t)event->fields * unit))
        return false;
    size_t left = extract_cursor_left(c);
    const uint8_t *rest = extract_cursor_span(c, left);
    if (left > EXTRACT_ENTRY_CAPACITY - (size_t)(to - buffer))
        return false;
    memcpy(to, rest, left);
    return true;
}

static bool make_hook_entry(const struct extract_ring *ring, const struct extract_event *event,
                            struct extract_entry *entry, uint8_t *buffer)
{
    struct extract_cursor c = extract_cursor_make(event->data, event->data_bytes, ring->byte_order);
    struct hook_word word;

    hook_word_read(&word, &c, event->priority_word & HOOK_FRAME_WIDE);
    uint32_t unit = hook_unit(&word);
    if (c.failed || event->fields > HOOK_MAX_FIELDS)
        return false;
    bool as_it_is = ring->byte_order == EXTRACT_BIG;
    if (!as_it_is && !store_big_endian(event, &word, &c, buffer))
        return false;
    *entry = (struct extract_entry){.bytes = as_it_is ? event->data : buffer,
                                    .length = event->data_bytes,
                                    .bits = (uint8_t)(8 * unit),
                                    .generic = word.generic,
                                    .little = !as_it_is,
                                    .hook = word.id,
                                    .type = word.type,
                                    .data = word.data,
                                    .bytes_of_data = event->data_bytes - unit,
                                    .cpu = event->core,
                                    .priority = event->priority,
                                    .pid = event->thread,
                                    .tid = event->thread,
                                    .log_offset = event->slot,
                                    .event = event};
    if (word.generic)
        entry->bytes_of_data = hook_word_buffer(&word);
    return true;
}

// A report that is saved as a file (`report -r`) contains loss markers as entries: hook id F01 for
// the first, and so on, with the marker's own id as hook data. Returns that id; 0 for other events.
static uint32_t saved_loss_mark(const struct extract_ring *ring, const struct extract_event *event)
{
    struct extract_cursor c = extract_cursor_make(event->data, event->data_bytes, ring->byte_order);
    struct hook_word word;

    if ((event->id & 0xFF0F) != 0xF000 || !(event->priority_word & HOOK_FRAME_WIDE))
        return 0;
    hook_word_read(&word, &c, true);
    uint32_t id = EXTRACT_ID_MARKS + (event->id >> 4 & 0xFF);
    return !c.failed && word.data == (uint16_t)id && extract_id_is_loss(id) ? id : 0;
}

static const struct extract_counted_ring counted = {
    .live_from = EXTRACT_HOOKS_AT_FLAGS,
    .live_to = EXTRACT_HOOKS_AT_WORD_BYTES,
    .length = hook_length,
};

static const struct extract_stream hook_stream = {
    .slack_bytes = hook_slack_bytes,
    .read_live = extract_stream_read_counters,
    .read_counters = hook_read_counters,
    .newest_is_known = true,
    .copy_side_data = extract_stream_has_no_side_data,
    .resolve_layout = hook_resolve,
    .walk = hook_walk,
    .stamp_mask = extract_stream_has_one_mask,
    .is_untimed = hook_is_untimed,
    .note_verdicts = hook_fill_stamps,
    .describe = extract_stream_has_a_header,
    .counted = &counted,
};

static const struct extract_hook_entries entries = {make_hook_entry, saved_loss_mark};

const struct extract_format extract_format_hook = {
    .name = "hook",
    .title = "hook words",
    .suffix = "hook",
    .find = hook_ring_find,
    .is_meant = extract_format_is_never_meant,
    .read_header = hook_read_ring,
    .apply_symbols = hook_apply_symbols,
    .magics = {EXTRACT_HOOKS_MAGIC},
    .is_valid_header = hook_is_header,
    .complete = extract_format_is_complete,
    .contradicts = hook_contradicts,
    .rebuild = hook_rebuild,
    .symbol = "ringside_hooks",
    .type = hook_type,
    .decode = hook_decode,
    .object = extract_format_has_no_objects,
    .has_cores = true,
    .thread_type = "thread",
    .direction = EXTRACT_CLOCK_UP,
    .hooks = EXTRACT_HOOKS_16,
    .stream = &hook_stream,
    .kernel = &hook_kernel,
    .entries = &entries,
    .encoder = &hook_encoder,
};
