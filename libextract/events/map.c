// SPDX-License-Identifier: MIT
// events: a small hash map from addresses to indices.
#include "events/room.h"
#include <stdlib.h>

bool extract_map_init(struct extract_map *map, size_t count)
{
    uint32_t size = 16;
    while (size < count * 2 && size < UINT32_C(1) << 30)
        size *= 2;
    map->keys = calloc(size, sizeof *map->keys);
    map->values = calloc(size, sizeof *map->values);
    map->mask = size - 1;
    if (map->keys && map->values)
        return true;
    extract_map_free(map);
    return false;
}

void extract_map_free(struct extract_map *map)
{
    free(map->keys);
    free(map->values);
    map->keys = NULL;
    map->values = NULL;
}

uint32_t *extract_map_at(struct extract_map *map, uint64_t key)
{
    uint32_t at = extract_map_hash(key) & map->mask;
    while (map->values[at] && map->keys[at] != key)
        at = (at + 1) & map->mask;
    map->keys[at] = key;
    return &map->values[at];
}
