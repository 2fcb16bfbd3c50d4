// SPDX-License-Identifier: MIT
// export: writes a ThreadX trace as a dump file (.trx): header, registry and entries as they are in
// memory. Two things are added for later readers. Threads that the registry had no slot for get
// one, and entries that were lost become blank entries.
//
// Source: TraceX user guide, chapter 11: a dump is the trace buffer's memory, byte by byte.
#include "export/export_room.h"
#include "formats/threadx/threadx.h"
#include <stdlib.h>

struct image {
    const struct extract_ring *ring;
    uint8_t *bytes;
    uint64_t length;
    uint64_t added; // bytes of new registry slots, before the old ones
};

static void put_pointer(struct image *image, uint32_t words, uint64_t value)
{
    unsigned word = image->ring->word_bytes;

    extract_store(image->bytes + words * word, value, word, image->ring->byte_order);
}

static void put_name(struct image *image, uint8_t *slot, const char *name)
{
    char *to = (char *)slot + 4 * image->ring->word_bytes;

    memset(to, 0, image->ring->name_bytes);
    memcpy(to, name, strnlen(name, image->ring->name_bytes - 1));
}

// Writes a registry slot for a thread that the registry had no slot for.
static void put_thread(struct image *image, uint8_t *slot, const struct extract_object *object)
{
    unsigned word = image->ring->word_bytes;

    memset(slot, 0, image->ring->registry.slot_bytes);
    slot[1] = THREADX_TYPE_THREAD;
    extract_store(slot + word, object->address, word, image->ring->byte_order);
    put_name(image, slot, object->name);
}

static bool needs_slot(const struct extract_object *object)
{
    return object->from_memory && !object->registered;
}

static void put_names(struct image *image, const struct extract_trace *trace)
{
    const struct extract_object *objects;
    size_t count = extract_trace_objects(trace, &objects);
    uint32_t slot_bytes = image->ring->registry.slot_bytes;
    uint8_t *added = image->bytes + image->ring->header_bytes, *old = added + image->added;

    for (size_t i = 0; i < count; i++) {
        if (needs_slot(&objects[i])) {
            put_thread(image, added, &objects[i]);
            added += slot_bytes;
        } else if (objects[i].from_memory) {
            put_name(image, old + (uint64_t)objects[i].slot * slot_bytes, objects[i].name);
        }
    }
}

// Moves the header down by the bytes that were added, so that registry and entries keep their
// addresses.
static void put_header(struct image *image, const struct extract_snapshot *snapshot)
{
    const struct extract_ring *ring = image->ring;
    uint64_t base = ring->address - ring->base_delta - image->added;
    uint64_t current = ring->entries.start - ring->base_delta +
                       (uint64_t)snapshot->current * ring->entries.slot_bytes;

    put_pointer(image, 2, base);
    put_pointer(image, 3, base + ring->header_bytes);
    put_pointer(image, 8, current);
}

// Blanks entries whose contents are unknown. One that was written gets a thread and the id of no
// event, and one that was never written gets no thread: whether the ring has wrapped stays visible.
static void blank_lost(struct image *image, const struct extract_snapshot *snapshot)
{
    const struct extract_ring *ring = image->ring;
    unsigned word = ring->word_bytes;
    uint8_t *entry = image->bytes + image->added + (ring->entries.start - ring->address);

    for (uint32_t slot = 0; slot < ring->entries.count; slot++, entry += ring->entries.slot_bytes) {
        bool written = snapshot->wrapped || slot < snapshot->current;
        bool unreadable = snapshot->verdict[slot] == EXTRACT_UNREADABLE_ENTRY;
        if (written && (unreadable || snapshot->verdict[slot] == EXTRACT_OVERWRITTEN)) {
            extract_store(entry, THREADX_IN_INIT, word, ring->byte_order);
            extract_store(entry + 2 * word, THREADX_NO_EVENT, word, ring->byte_order);
        } else if (unreadable) {
            extract_store(entry, 0, word, ring->byte_order);
        }
    }
}

enum extract_code export_threadx(struct extract_text *text, const struct extract_trace *trace,
                                 struct extract_error *error)
{
    const struct extract_snapshot *snapshot = extract_trace_snapshot(trace);
    const struct extract_ring *ring = &snapshot->ring;
    struct image image = {ring, NULL, ring->length, 0};
    const struct extract_object *objects;
    size_t count = extract_trace_objects(trace, &objects);

    for (size_t i = 0; i < count; i++)
        image.added += needs_slot(&objects[i]) ? ring->registry.slot_bytes : 0;
    image.length += image.added;
    image.bytes = malloc((size_t)image.length);
    if (!image.bytes)
        return extract_error_set(error, EXTRACT_NOMEM, "trace dump", NULL, "out of memory");
    memcpy(image.bytes, snapshot->bytes, ring->header_bytes);
    memcpy(image.bytes + ring->header_bytes + image.added, snapshot->bytes + ring->header_bytes,
           (size_t)(ring->length - ring->header_bytes));
    put_header(&image, snapshot);
    put_names(&image, trace);
    blank_lost(&image, snapshot);
    extract_text_put(text, (const char *)image.bytes, (size_t)image.length);
    free(image.bytes);
    return text->code ? extract_error_set(error, text->code, "trace dump", NULL, "out of memory")
                      : EXTRACT_OK;
}
