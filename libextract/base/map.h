// SPDX-License-Identifier: MIT
// base: a hash map from 64-bit keys, such as addresses, to 32-bit indices into a caller's array.
//
// Keys come from the target, so that a hostile trace could choose keys that all collide. The hash
// therefore depends on random numbers of the process, which no trace can know.
#ifndef EXTRACT_BASE_MAP_H
#define EXTRACT_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Open addressing in a power of two of buckets, of which at least half are free. A value is an
// index + 1, or 0 in a free bucket.
struct extract_map {
    uint64_t *keys;
    uint32_t *values;
    uint32_t mask; // buckets - 1
    uint32_t used; // buckets that are not free
    uint64_t seed[2];
};

// Returns the bucket in which the search for a key starts.
static inline uint32_t extract_map_home(const struct extract_map *map, uint64_t key)
{
    const uint64_t odd = UINT64_C(0xD6E8FEB86659FD93); // a multiplier that spreads bits well
    uint64_t mix = (key ^ map->seed[0]) * map->seed[1];
    mix = (mix ^ mix >> 32) * odd;
    mix = (mix ^ mix >> 32) * odd;
    return (uint32_t)(mix >> 32) & map->mask;
}

// Makes a map with a capacity of `count` keys; it grows when more are added. Returns false if
// memory is short.
bool extract_map_init(struct extract_map *map, size_t count);
void extract_map_free(struct extract_map *map);
// Does what extract_map_at does, for keys that are not in their first bucket.
uint32_t *extract_map_add(struct extract_map *map, uint64_t key);
// Finds or adds a key. Returns where its value is; of a key that was added it is 0, and the caller
// stores index + 1 there. Returns NULL if memory is short, which happens only beyond `count` keys.
static inline uint32_t *extract_map_at(struct extract_map *map, uint64_t key)
{
    uint32_t at = extract_map_home(map, key);
    bool is_found = map->values[at] && map->keys[at] == key; // as most are
    return is_found ? &map->values[at] : extract_map_add(map, key);
}
// Returns the value of a key, or 0 if the map does not hold it.
static inline uint32_t extract_map_get(const struct extract_map *map, uint64_t key)
{
    uint32_t at = extract_map_home(map, key);
    while (map->values[at] && map->keys[at] != key)
        at = (at + 1) & map->mask;
    return map->values[at];
}

#endif
