// SPDX-License-Identifier: MIT
// memory/live: the memory map of a GDB server. In: its XML. Out: the regions of RAM, sorted.
// Source: Debugging with GDB, appendix "Memory Map Format".
#ifndef EXTRACT_LIVE_MAP_H
#define EXTRACT_LIVE_MAP_H

#include <extract/memory.h>

enum { MAP_REGIONS = 64 };

struct map {
    struct extract_region list[MAP_REGIONS];
    size_t count;
};

// A map that is malformed, too large, or that names more RAM than can be meant (OpenOCD calls RAM
// whatever is no flash) gives no regions at all.
void map_read(struct map *map, const char *xml, size_t length);

#endif
