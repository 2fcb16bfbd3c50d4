// SPDX-License-Identifier: MIT
// events: lives while they are collected (lives.c, life_names.c).
#ifndef EXTRACT_EVENTS_LIVES_H
#define EXTRACT_EVENTS_LIVES_H

#include "events/event_names.h"

enum { LIFE_THREAD = 1, MAX_LIVES = 0xFFF }; // at one address

// The keys of older lives begin here: above the addresses of which there are keys, but for those
// whose upper bits are set. They stay below 2^53, so that programs which take numbers of JSON for
// floating-point numbers, such as JavaScript, have them exactly.
#define LIFE_KEYS (UINT64_C(1) << 48)

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
