// SPDX-License-Identifier: MIT
// probe/qemu: the memory map. In: text. Out: regions.
// A line of QEMU's list:  0000000020000000-00000000203fffff (prio 0, ram): mps.ssram23 @0000…
#include "probe/qemu/map.h"
#include <extract/filter.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNIMPLEMENTED = -1000 }; // the priority of QEMU's stand-ins for devices that it lacks

static enum extract_code add(struct map *map, const struct map_region *region,
                             struct extract_error *error)
{
    if (map->count == map->size) {
        size_t size = map->size ? map->size * 2 : 64;
        struct map_region *regions = realloc(map->regions, size * sizeof *regions);
        if (!regions)
            return extract_error_set(error, EXTRACT_NOMEM, "memory map", NULL, "out of memory");
        map->regions = regions;
        map->size = size;
    }
    map->regions[map->count++] = *region;
    return EXTRACT_OK;
}

static enum extract_code add_line(struct map *map, const char *line, struct extract_error *error)
{
    uint64_t first, last;
    int priority;
    char kind[8];
    struct map_region region = {0};
    if (sscanf(line, " %" SCNx64 "-%" SCNx64 " (prio %d, %7[^)]): %39[^\r\n]", &first, &last,
               &priority, kind, region.name) != 5)
        return EXTRACT_OK;
    if (priority == UNIMPLEMENTED || first > UINT32_MAX || first > last)
        return EXTRACT_OK;
    region.first = (uint32_t)first;
    region.last = last > UINT32_MAX ? UINT32_MAX : (uint32_t)last;
    region.is_memory = !strcmp(kind, "ram") || !strcmp(kind, "rom");
    map->is_cortex_m |= !strncmp(region.name, "nvic_sysregs", 12);
    return add(map, &region, error);
}

// The list has a view for each address space: its start, by the space's name.
static const char *find_view(const char *tree, const char *space)
{
    const char *view = tree;
    while ((view = strstr(view, "FlatView #"))) {
        const char *next = strstr(view + 1, "FlatView #"), *at = strstr(view, space);
        if (at && (!next || at < next))
            return at;
        view++;
    }
    return NULL;
}

enum extract_code map_add_tree(struct map *map, const char *tree, struct extract_error *error)
{
    const char *view = find_view(tree, "AS \"cpu-memory-0\"");
    if (!view)
        view = find_view(tree, "AS \"memory\"");
    const char *end = view ? strstr(view, "FlatView #") : NULL;
    for (const char *line = view; line && (!end || line < end);) {
        enum extract_code code = add_line(map, line, error);
        if (code)
            return code;
        line = strchr(line, '\n');
        line += line != NULL;
    }
    return map->count ? EXTRACT_OK
                      : extract_error_set(error, EXTRACT_BAD, "memory map", "use --map",
                                          "QEMU's \"info mtree -f\" cannot be read");
}

enum extract_code map_add_word(struct map *map, const char *word, struct extract_error *error)
{
    struct map_region region = {.name = "option"};
    uint64_t address = 0, length = 0;
    const char *colon = strchr(word, ':');
    char *left = colon ? strndup(word, (size_t)(colon - word)) : NULL;
    bool good = left && extract_number_parse(left, &address) &&
                extract_number_parse(colon + 1, &length) && length && address <= UINT32_MAX &&
                length <= (UINT64_C(1) << 32) - address;
    free(left);
    if (!good)
        return extract_error_set(error, EXTRACT_USAGE, word, "write --map ADDRESS:LENGTH",
                                 "no 32-bit span of memory");
    region.first = (uint32_t)address;
    region.last = (uint32_t)(address + length - 1);
    return add(map, &region, error);
}

const struct map_region *map_find(const struct map *map, uint32_t address, unsigned bytes)
{
    for (size_t i = 0; i < map->count; i++) {
        const struct map_region *region = &map->regions[i];
        if (address >= region->first && address <= region->last &&
            region->last - address >= bytes - 1)
            return region;
    }
    return NULL;
}

void map_describe(const struct map *map, struct extract_text *text)
{
    for (size_t i = 0; i < map->count; i++) {
        const struct map_region *region = &map->regions[i];
        extract_text_printf(text, "%s0x%08" PRIx32 " 0x%" PRIx64 " %s ", i ? ", " : "",
                            region->first, (uint64_t)region->last - region->first + 1,
                            region->is_memory ? "memory" : "io");
        extract_text_escaped(text, region->name);
    }
}

void map_free(struct map *map)
{
    free(map->regions);
    *map = (struct map){0};
}
