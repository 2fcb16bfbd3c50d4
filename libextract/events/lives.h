// SPDX-License-Identifier: MIT
// events: lives while they are collected (lives.c, life_names.c).
#ifndef EXTRACT_EVENTS_LIVES_H
#define EXTRACT_EVENTS_LIVES_H

#include "events/names.h"

enum { LIFE_THREAD = 1, MAX_LIFE_NUMBER = 0xFFF };

// Returns the key of an older life of an address, from 1 on. The upper 16 bits of an address are
// equal; those of a key are the number, and whether they were set. Databases and JSON have it as a
// number, which stays below 2^61, and exact below 2^53 for a while.
static inline uint64_t lives_key(uint64_t address, uint64_t number)
{
    return (address >> 63) << 60 | number << 48 | (address & UINT64_C(0xFFFFFFFFFFFF));
}

// Lists the objects that were at an address, and returns their number.
size_t lives_places_at(const struct life_changes *changes, uint64_t address,
                       const struct life_place **list);
// Removes the lives with `is_removed`, and those that are then alone at their address.
void lives_remove(struct build *build);
// Makes each life findable by its key and its address. Returns false if memory is short.
bool lives_arrange(struct extract_trace *trace);
// Gives each life an object with its name. Returns false if memory is short.
bool lives_name(struct build *build);

#endif
