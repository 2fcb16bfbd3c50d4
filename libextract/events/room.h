// SPDX-License-Identifier: MIT
// events: what the files of this room share: the trace and its names.
#ifndef EXTRACT_EVENTS_ROOM_H
#define EXTRACT_EVENTS_ROOM_H

#include "formats/format.h"
#include <extract/text.h>

// Addresses to objects: open addressing, a power of two of places, index + 1 or 0.
struct extract_map {
    uint64_t *keys;
    uint32_t *values;
    uint32_t mask;
};

struct extract_trace {
    const struct extract_snapshot *snapshot;
    struct extract_symbols *symbols;
    const struct extract_user_types *user_types;
    struct extract_info info;
    struct extract_object *objects;
    size_t object_count;
    uint32_t oldest; // slot that the events start with
    struct extract_map by_address, threads;
    struct extract_text names; // storage of every name string
};

// names.c: fills objects, maps and names. Errors: NOMEM.
enum extract_code extract_names_build(struct extract_trace *trace, struct extract_memory *memory,
                                      struct extract_error *error);
void extract_names_free(struct extract_trace *trace);

static inline uint32_t extract_map_hash(uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

// map.c. A map for up to `count` keys; false: out of memory.
bool extract_map_init(struct extract_map *map, size_t count);
void extract_map_free(struct extract_map *map);
// The place of a key: its value, or 0 with room to store index + 1 there.
uint32_t *extract_map_at(struct extract_map *map, uint64_t key);
// The value of a key, or 0.
static inline uint32_t extract_map_get(const struct extract_map *map, uint64_t key)
{
    uint32_t at = extract_map_hash(key) & map->mask;
    while (map->values[at] && map->keys[at] != key)
        at = (at + 1) & map->mask;
    return map->values[at];
}

// user_types.c: the type of an id, or NULL.
const struct extract_event_type *extract_user_types_find(const struct extract_user_types *types,
                                                         uint32_t id);

#endif
