// SPDX-License-Identifier: MIT
// base: a hash map from 64-bit keys, such as addresses, to indices.
#ifndef EXTRACT_BASE_MAP_H
#define EXTRACT_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Open addressing in a power of two of places, of which at least half are free. A value is an index
// + 1, or 0 for a free place.
struct extract_map {
    uint64_t *keys;
    uint32_t *values;
    uint32_t mask;
    uint32_t used;
    uint64_t seed[2];
};

// Where a key is looked for first. It depends on numbers that no trace can know: keys cannot be
// chosen that all have one place.
static inline uint32_t extract_map_home(const struct extract_map *map, uint64_t key)
{
    const uint64_t odd = UINT64_C(0xD6E8FEB86659FD93); // which spreads bits well
    uint64_t mix = (key ^ map->seed[0]) * map->seed[1];
    mix = (mix ^ mix >> 32) * odd;
    mix = (mix ^ mix >> 32) * odd;
    return (uint32_t)(mix >> 32) & map->mask;
}

// Makes a map with room for `count` keys, which grows beyond. False: out of memory.
bool extract_map_init(struct extract_map *map, size_t count);
void extract_map_free(struct extract_map *map);
// The place of a key: its value, or 0 with room to store index + 1 there, which the caller does.
// NULL: out of memory, for a key beyond `count`.
uint32_t *extract_map_at(struct extract_map *map, uint64_t key);
// The value of a key, or 0.
static inline uint32_t extract_map_get(const struct extract_map *map, uint64_t key)
{
    uint32_t at = extract_map_home(map, key);
    while (map->values[at] && map->keys[at] != key)
        at = (at + 1) & map->mask;
    return map->values[at];
}

#endif
