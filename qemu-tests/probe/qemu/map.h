// SPDX-License-Identifier: MIT
// probe/qemu: the layout of the guest's bus. In: QEMU's own list, or ADDRESS:LENGTH arguments. Out:
// whether an access meets something.
#ifndef PROBE_MAP_H
#define PROBE_MAP_H

#include <extract/text.h>
#include <stdint.h>

struct map_region {
    uint32_t first, last; // addresses, both in it
    bool is_memory;       // RAM or ROM: may be read in blocks, and twice
    char name[40];
};

struct map {
    struct map_region *regions; // owned
    size_t count, size;
    bool is_cortex_m; // it has a Cortex-M's system registers
};

// Adds what the monitor command "info mtree -f" lists (NUL-ended) for the first processor. What
// QEMU has a place for, but no device (it then reads 0), is left out. Errors: BAD, NOMEM.
enum extract_code map_add_tree(struct map *map, const char *tree, struct extract_error *error);

// Adds "ADDRESS:LENGTH". Errors: USAGE, NOMEM.
enum extract_code map_add_word(struct map *map, const char *word, struct extract_error *error);

// The region that holds all of these bytes, or NULL.
const struct map_region *map_find(const struct map *map, uint32_t address, unsigned bytes);

void map_describe(const struct map *map, struct extract_text *text);
void map_free(struct map *map);

#endif
