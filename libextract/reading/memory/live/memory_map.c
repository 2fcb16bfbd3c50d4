// SPDX-License-Identifier: MIT
// memory/live: reads the memory map of a GDB server (memory_map.h).
//
// This is not an XML parser: it finds the <memory ...> elements and three of their attributes. One
// bad region of RAM discards the whole map.
#include "memory/live/memory_map.h"
#include "memory/live/live_memory.h"
#include <stdlib.h>

#define MAX_RAM (UINT64_C(64) << 20) // most RAM that a map may name in all, in bytes

// Finds an attribute of the element in [element, end). Returns its value from the opening quote on,
// or NULL if the element does not have it.
static const char *attribute(const char *element, const char *end, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = element; at + length + 2 < end; at++) {
        bool starts = at[0] == ' ' || at[0] == '\n' || at[0] == '\t' || at[0] == '\r';
        if (starts && memcmp(at + 1, name, length) == 0 && at[length + 1] == '=' &&
            (at[length + 2] == '"' || at[length + 2] == '\''))
            return at + length + 2;
    }
    return NULL;
}

// Reads an attribute that is a number. Returns false if it is missing or not a quoted number.
static bool number_of(const char *element, const char *end, const char *name, uint64_t *value)
{
    const char *quoted = attribute(element, end, name);

    if (!quoted)
        return false;
    struct extract_cursor c =
        extract_cursor_make(quoted + 1, (size_t)(end - quoted - 1), EXTRACT_LITTLE);
    return live_number(&c, 0, value) && extract_cursor_u8(&c) == (uint8_t)*quoted;
}

static bool is_ram(const char *element, const char *end)
{
    const char *type = attribute(element, end, "type");

    return type && end - type > 4 && memcmp(type + 1, "ram", 3) == 0 && type[4] == type[0];
}

// Adds the region of an element if it is RAM. Returns false if the region is malformed or the map
// is full.
static bool add(struct map *map, const char *element, const char *end)
{
    struct extract_region *r = &map->list[map->count];

    if (!is_ram(element, end))
        return true;
    if (map->count == MAP_REGIONS || !number_of(element, end, "start", &r->address) ||
        !number_of(element, end, "length", &r->length) || !r->length ||
        r->length - 1 > UINT64_MAX - r->address)
        return false;
    map->count++;
    return true;
}

static int compare_regions(const void *a, const void *b)
{
    uint64_t x = ((const struct extract_region *)a)->address;
    uint64_t y = ((const struct extract_region *)b)->address;

    return x < y ? -1 : x > y;
}

// Sorts the regions. Returns whether they are disjoint and have at most MAX_RAM bytes in all.
static bool make_sense(struct map *map)
{
    uint64_t ram = 0;

    qsort(map->list, map->count, sizeof *map->list, compare_regions);
    for (size_t i = 0; i < map->count; i++) {
        const struct extract_region *r = &map->list[i];
        if (r->length > MAX_RAM || (ram += r->length) > MAX_RAM)
            return false;
        if (i && r->address - r[-1].address < r[-1].length)
            return false;
    }
    return true;
}

void map_read(struct map *map, const char *xml, size_t length)
{
    static const char tag[] = "<memory";
    const char *end = xml + length, *at = xml;
    bool good = true;

    map->count = 0;
    while (good && (at = memchr(at, '<', (size_t)(end - at)))) {
        const char *close = memchr(at, '>', (size_t)(end - at));
        good = close != NULL;
        // "<memory-" starts <memory-map>, the element that contains the others.
        if (good && close - at >= (ptrdiff_t)sizeof tag && memcmp(at, tag, sizeof tag - 1) == 0 &&
            at[sizeof tag - 1] != '-')
            good = add(map, at + sizeof tag - 1, close);
        at = close;
    }
    if (!good || !make_sense(map))
        map->count = 0;
}
