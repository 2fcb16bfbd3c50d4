// SPDX-License-Identifier: MIT
// memory/live: the memory map of a GDB server.
//
// A GDB server may describe its target's memory as XML. map_read takes the regions of RAM from it,
// in which a ring can then be searched. Source: Debugging with GDB, appendix "Memory Map Format".
#ifndef EXTRACT_LIVE_MEMORY_MAP_H
#define EXTRACT_LIVE_MEMORY_MAP_H

#include <extract/memory.h>

enum { MAP_REGIONS = 64 };

// The regions of RAM, sorted by address and disjoint.
struct map {
    struct extract_region list[MAP_REGIONS];
    size_t count;
};

// Reads a map of `length` bytes. The result has no regions if the map is malformed, has more than
// MAP_REGIONS regions, or names implausibly much RAM: OpenOCD reports everything but flash as RAM.
void map_read(struct map *map, const char *xml, size_t length);

#endif
