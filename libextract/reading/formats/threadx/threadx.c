// SPDX-License-Identifier: MIT
// formats/threadx: decodes the registry to objects and the entries to events, and defines the
// format.
//
// Source: TraceX user guide, chapter 11, "Object registry" and "Trace entries". The event tables
// threadx-events.tsv and threadx-objects.tsv (ThreadX 6.4, FileX, NetX Duo, USBX).
#include "formats/threadx/threadx.h"

static const struct extract_event_type types[] = {
#include "threadx_events.inc"
};

struct object_type {
    uint32_t type;
    const char *name;
    struct extract_field_type params[2];
};

static const struct object_type object_types[] = {
#include "threadx_objects.inc"
};

enum { TYPES = sizeof types / sizeof *types };
enum { OBJECT_TYPES = sizeof object_types / sizeof *object_types };

#define RAW_FIELDS                                                                                 \
    {                                                                                              \
        {"info1", EXTRACT_KIND_HEX}, {"info2", EXTRACT_KIND_HEX}, {"info3", EXTRACT_KIND_HEX},     \
            {"info4", EXTRACT_KIND_HEX},                                                           \
    }

static const struct extract_event_type unknown = {0, "UNKNOWN", "event",   EXTRACT_APPL,
                                                  4, true,      RAW_FIELDS};
static const struct object_type unknown_object = {
    0, "unknown", {{"param1", EXTRACT_KIND_HEX}, {"param2", EXTRACT_KIND_HEX}}};

// Index of an id's row + 1, 0 for none. The last row stands for all user events.
static const uint16_t row_of[] = {
#define EXTRACT_CATALOGUE_INDEX
#include "threadx_events.inc"
#undef EXTRACT_CATALOGUE_INDEX
};

const struct extract_event_type *threadx_type(uint32_t id)
{
    uint32_t row = id < sizeof row_of / sizeof *row_of ? row_of[id] : 0;

    if (row)
        return &types[row - 1];
    return id >= types[TYPES - 1].id ? &types[TYPES - 1] : &unknown;
}

static const struct object_type *object_type(uint32_t type)
{
    for (size_t i = 0; i < OBJECT_TYPES; i++)
        if (object_types[i].type == type)
            return &object_types[i];
    return &unknown_object;
}

static bool threadx_object(const struct extract_snapshot *snapshot, uint32_t slot,
                           struct extract_object *object, const uint8_t **name, size_t *name_bytes)
{
    const struct extract_ring *ring = &snapshot->ring;
    struct extract_cursor all =
        extract_cursor_make(snapshot->bytes, (size_t)ring->length, ring->byte_order);

    extract_cursor_seek(&all, ring->registry.start - ring->address +
                                  (uint64_t)slot * ring->registry.slot_bytes);
    const uint8_t *bytes = extract_cursor_span(&all, ring->registry.slot_bytes);
    struct extract_cursor c =
        extract_cursor_make(bytes, ring->registry.slot_bytes, ring->byte_order);
    uint8_t available = extract_cursor_u8(&c), type = extract_cursor_u8(&c);
    uint8_t high = extract_cursor_u8(&c), low = extract_cursor_u8(&c);
    extract_cursor_span(&c, ring->word_bytes - 4);
    object->address = extract_cursor_word(&c, ring->word_bytes);
    object->param1 = extract_cursor_word(&c, ring->word_bytes);
    object->param2 = extract_cursor_word(&c, ring->word_bytes);
    *name_bytes = ring->name_bytes;
    *name = extract_cursor_span(&c, ring->name_bytes);
    if (c.failed || type == 0 || object->address == 0)
        return false;
    const struct object_type *known = object_type(type);
    object->type = type;
    object->type_name = known->name;
    object->param_types = known->params;
    object->in_use = available == 0;
    object->registered = true;
    object->slot = slot;
    object->priority = EXTRACT_NO_PRIORITY;
    if (type == THREADX_TYPE_THREAD && high & 0x80)
        object->priority = (uint16_t)((high & 0x7f) << 8 | low);
    return true;
}

// Decodes what the thread word and the priority word show about the context. A thread's priority
// word contains the priority and, if bit 31 is set, the threshold. Old kernels do not set bit 31.
static inline void decode_context(struct extract_event *event, uint64_t thread, uint64_t word)
{
    event->priority_word = word;
    event->priority = event->threshold = EXTRACT_NO_PRIORITY;
    if (thread == THREADX_IN_ISR) {
        event->context = EXTRACT_ISR;
        event->thread = word;
    } else if (thread == THREADX_IN_INIT) {
        event->context = EXTRACT_INIT;
        event->thread = 0;
    } else {
        event->context = EXTRACT_THREAD;
        event->thread = thread;
        event->priority = (uint16_t)(word & 0x3FF);
        if (word & 0x80000000u)
            event->threshold = (uint16_t)(word >> 16 & 0x3FF);
    }
}

// Decodes slots. Each combination of word size and byte order gets its own copy of this loop, so
// that the loop has no branches for them.
static inline __attribute__((always_inline)) void decode_slots(const struct extract_ring *ring,
                                                               const uint8_t *bytes, unsigned word,
                                                               bool swap, size_t count,
                                                               struct extract_event *events)
{
    const struct extract_event_type *type = &unknown;
    uint32_t type_id = UINT32_MAX;

    for (size_t i = 0; i < count; i++, bytes += 8 * word) {
        struct extract_cursor c = {bytes, 8 * word, 0, swap, false};
        struct extract_event *event = &events[i];
        uint64_t thread = extract_cursor_word(&c, word);
        decode_context(event, thread, extract_cursor_word(&c, word));
        uint64_t id = extract_cursor_word(&c, word);
        event->raw_stamp = extract_cursor_word(&c, word);
        for (unsigned k = 0; k < 4; k++)
            event->field[k] = extract_cursor_word(&c, word);
        event->fields = 4;
        event->data = NULL;
        event->data_bytes = 0;
        event->id = threadx_event_id(ring, id, &event->core);
        if (event->id != type_id) {
            type_id = event->id;
            type = threadx_type(type_id);
        }
        event->type = type;
    }
}

static void threadx_decode(const struct extract_snapshot *snapshot, uint32_t slot, size_t count,
                           struct extract_event *events)
{
    const struct extract_ring *ring = &snapshot->ring;
    struct extract_cursor all =
        extract_cursor_make(snapshot->bytes, (size_t)ring->length, ring->byte_order);

    extract_cursor_seek(&all, ring->entries.start - ring->address +
                                  (uint64_t)slot * ring->entries.slot_bytes);
    const uint8_t *bytes = extract_cursor_span(&all, (uint64_t)count * ring->entries.slot_bytes);
    if (!bytes)
        return;
    if (ring->word_bytes == 4 && !all.swap)
        decode_slots(ring, bytes, 4, false, count, events);
    else if (ring->word_bytes == 4)
        decode_slots(ring, bytes, 4, true, count, events);
    else
        decode_slots(ring, bytes, 8, all.swap, count, events);
}

static const struct extract_scheduler kernel = {.roles = threadx_roles,
                                                .order = EXTRACT_PRIORITY_LOW_FIRST,
                                                .mutex_type = 5,
                                                .role_count = &threadx_role_count,
                                                .field_type = threadx_field_type,
                                                .is_thread_service = threadx_is_thread_service,
                                                .figures = threadx_figures,
                                                .timer_thread = "System Timer Thread",
                                                .name_pointer = threadx_name_pointer};

const struct extract_format extract_format_threadx = {
    .name = "threadx",
    .title = "ThreadX event trace",
    .suffix = "trx",
    .find = threadx_ring_find,
    .is_meant = extract_format_is_never_meant,
    .read_header = threadx_read_ring,
    .apply_symbols = threadx_apply_symbols,
    .magics = {THREADX_ID},
    .is_valid_header = threadx_is_header,
    .is_moved_header = threadx_is_moved_header,
    .complete = extract_format_is_complete,
    .contradicts = threadx_contradicts,
    .rebuild = threadx_rebuild,
    .type = threadx_type,
    .decode = threadx_decode,
    .object = threadx_object,
    .has_cores = true,
    .core_shift = 24,
    .thread_type = "thread",
    .hooks = EXTRACT_HOOKS_PLAIN,
    .slots = &threadx_slots,
    .kernel = &kernel,
    .encoder = &threadx_encoder,
};
