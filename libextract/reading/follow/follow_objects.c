// SPDX-License-Identifier: MIT
// follow: keeps the log's copy of the registry of objects up to date. It reads the registry again
// when an entry names an address that the last copy does not have. The recorder decides when it can
// afford that.
#include "follow/follow_room.h"
#include <stdlib.h>
#include <string.h>

enum {
    MAX_UNKNOWN = 1024,             // addresses that no registry has, and that cause one reread
    MAX_REGISTRY = 16 * 1024 * 1024 // bytes: a larger one is not read
};

enum extract_code objects_start(struct objects *objects, const struct extract_ring *ring,
                                struct extract_error *error)
{
    objects_free(objects);
    bool fits = ring->registry.end - ring->registry.start <= MAX_REGISTRY;
    objects->capacity = (size_t)ring->registry.count + MAX_UNKNOWN;
    objects->length = fits ? (size_t)(ring->registry.end - ring->registry.start) : 0;
    objects->bytes = malloc(2 * objects->length + 1); // as it was, and as it is
    if (objects->bytes && extract_map_init(&objects->known, objects->capacity)) {
        memset(objects->bytes, 0, objects->length);
        return EXTRACT_OK;
    }
    objects_free(objects);
    return extract_error_set(error, EXTRACT_NOMEM, "object registry", NULL, "out of memory");
}

void objects_free(struct objects *objects)
{
    free(objects->bytes);
    extract_map_free(&objects->known);
    *objects = (struct objects){0};
}

// True when the address is a new one.
static bool learn(struct objects *objects, uint64_t address)
{
    if (objects->count >= objects->capacity || extract_map_get(&objects->known, address))
        return false;
    *extract_map_at(&objects->known, address) = 1;
    objects->count++;
    return true;
}

void objects_note_address(struct objects *objects, uint64_t address)
{
    objects->is_wanted |= learn(objects, address);
}

void objects_note_entries(struct objects *objects, const struct extract_ring *ring,
                          const struct extract_follower_span *span)
{
    uint64_t addresses[EXTRACT_NAMED];

    for (uint32_t i = 0; i < span->count; i++) {
        const uint8_t *entry = span->entries + (size_t)i * ring->entries.slot_bytes;
        size_t count = ring->format->slots->objects(ring, entry, addresses);
        for (size_t k = 0; k < count; k++)
            objects_note_address(objects, addresses[k]);
        bool is_new = ring->format->slots->creates_object(ring, entry);
        objects->has_new |= is_new;
        objects->is_wanted |= is_new;
    }
}

// Notes the addresses that the registry has. A decoder takes a snapshot, of which the registry is
// enough here.
static void learn_all(struct extract_recorder *r)
{
    struct objects *objects = &r->objects;
    struct extract_snapshot snapshot = {.ring = r->ring};
    const uint8_t *name;
    size_t name_bytes;
    struct extract_object object;

    snapshot.ring.address = r->ring.registry.start;
    snapshot.ring.header_bytes = 0;
    snapshot.ring.length = objects->length;
    snapshot.bytes = objects->bytes;
    for (uint32_t slot = 0; slot < r->ring.registry.count; slot++)
        if (r->ring.format->object(&snapshot, slot, &object, &name, &name_bytes))
            learn(objects, object.address);
}

enum extract_code objects_read(struct extract_recorder *r, struct extract_error *error)
{
    struct objects *objects = &r->objects;
    uint8_t *now = objects->bytes + objects->length;
    objects->last = record_now(r);
    objects->is_wanted = false;
    if (!objects->length || !record_read(r, r->ring.registry.start, now, objects->length))
        return EXTRACT_OK;
    // An object in the place of another one, with the same name, is another object.
    if (objects->was_read && !objects->has_new && memcmp(objects->bytes, now, objects->length) == 0)
        return EXTRACT_OK;
    objects->has_new = false;
    memcpy(objects->bytes, now, objects->length);
    objects->was_read = true;
    learn_all(r);
    return out_objects(&r->out, &r->ring, objects->bytes, objects->length, error);
}
