// SPDX-License-Identifier: MIT
// base: the hash map from keys to indices: making it, adding keys, growing. map.h has the lookup.
#include "base/map.h"
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

// Takes the seed from the random bytes that the kernel gave the process (AT_RANDOM), or constants
// if it gave none.
static void draw_seed(uint64_t seed[2])
{
    const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);
    seed[0] = UINT64_C(0x9E3779B97F4A7C15);
    seed[1] = UINT64_C(0xD1B54A32D192ED03);
    if (random)
        memcpy(seed, random, 2 * sizeof *seed);
    seed[1] |= 1;
}

static bool allocate(struct extract_map *map, uint32_t size)
{
    *map = (struct extract_map){.keys = calloc(size, sizeof *map->keys),
                                .values = calloc(size, sizeof *map->values),
                                .mask = size - 1};
    draw_seed(map->seed);
    if (map->keys && map->values)
        return true;
    extract_map_free(map);
    return false;
}

bool extract_map_init(struct extract_map *map, size_t count)
{
    uint32_t size = 16;

    while (size < count * 2 && size < UINT32_C(1) << 30)
        size *= 2;
    return allocate(map, size);
}

void extract_map_free(struct extract_map *map)
{
    free(map->keys);
    free(map->values);
    map->keys = NULL;
    map->values = NULL;
}

// Returns the bucket of a key, or the free one in which it would be stored.
static uint32_t bucket_of(const struct extract_map *map, uint64_t key)
{
    uint32_t at = extract_map_home(map, key);

    while (map->values[at] && map->keys[at] != key)
        at = (at + 1) & map->mask;
    return at;
}

static bool grow(struct extract_map *map)
{
    struct extract_map larger;

    if (map->mask >= UINT32_MAX / 2 || !allocate(&larger, (map->mask + 1) * 2))
        return false;
    larger.used = map->used;
    for (uint32_t i = 0; i <= map->mask; i++) {
        if (!map->values[i])
            continue;
        uint32_t at = bucket_of(&larger, map->keys[i]);
        larger.keys[at] = map->keys[i];
        larger.values[at] = map->values[i];
    }
    extract_map_free(map);
    *map = larger;
    return true;
}

uint32_t *extract_map_add(struct extract_map *map, uint64_t key)
{
    uint32_t at = bucket_of(map, key);

    if (map->values[at])
        return &map->values[at];
    if (map->used > map->mask / 2) {
        if (!grow(map))
            return NULL;
        at = bucket_of(map, key);
    }
    map->used++;
    map->keys[at] = key;
    return &map->values[at];
}
