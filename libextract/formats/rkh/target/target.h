// SPDX-License-Identifier: MIT
// formats/rkh/target: what a target that runs RKH calls its events and active objects.
//
// Source: docs/formats/rkh.md, "Filters".
#ifndef EXTRACT_FORMATS_RKH_TARGET_H
#define EXTRACT_FORMATS_RKH_TARGET_H

#include "formats/rkh/rkh.h"

enum { RKH_GROUPS = 8, RKH_GROUP_EVENTS = 32, RKH_GROUP_USER = 6, RKH_NAME_ROOM = 64 };

// words.c. Events have the ids of 3.x.
extern const struct extract_target_filter rkh_target_filter;
const char *rkh_group_name(unsigned group);
bool rkh_group_fits(unsigned group, const char *pattern);
// "SMA_FIFO", "USER9"; NULL: there is no such event.
const char *rkh_event_name(unsigned id, char name[static RKH_NAME_ROOM]);
bool rkh_event_fits(unsigned id, const char *pattern);

// actors.c. An active object among the variables of the firmware.
struct rkh_actor {
    uint64_t address;
    uint16_t priority;
    char name[RKH_NAME_ROOM];   // that it has itself; may be empty
    char symbol[RKH_NAME_ROOM]; // of the variable
};

// signals.c. The enumerations of the firmware that may name signals.
enum { RKH_SIGNAL_ENUMS = 8 };

struct rkh_signals {
    struct extract_symbols *symbols;
    enum extract_signals_from from; // UNNAMED: it is not certain which one does
    struct extract_enum list[RKH_SIGNAL_ENUMS];
    size_t known; // of the list
    size_t count; // that fit, in all
};

// `numbers` are those of signals that a trace holds, and the names that its records tell. Errors:
// USAGE (a user has named an enumeration that is not there).
enum extract_code rkh_signals_find(struct rkh_signals *signals, const struct extract_rkh *rkh,
                                   struct extract_symbols *symbols,
                                   const struct extract_numbers *numbers,
                                   struct extract_error *error);
// The name of a signal. NULL: none is certain.
const char *rkh_signals_name(const struct rkh_signals *signals, uint64_t number);
// The i-th number that may have one. False: no more.
bool rkh_signals_at(const struct rkh_signals *signals, size_t i, uint64_t *number,
                    const char **name);
// The number that an enumerator of that name has in the whole program. False: none, or several.
bool rkh_signal_number(struct extract_symbols *symbols, const char *name, uint64_t *number);

// A walk over all of them. Zero-initialize but for the first two.
struct rkh_actors {
    struct extract_symbols *symbols;
    struct extract_memory *memory;
    size_t next;      // symbol
    uint64_t element; // of an array
    uint32_t asked;
};

bool rkh_actors_next(struct rkh_actors *walk, struct rkh_actor *actor);
// Its priority, by its address (struct extract_format, priority).
bool rkh_actor_priority(struct extract_memory *memory, struct extract_symbols *symbols,
                        uint64_t address, uint16_t *priority);

// places.c. Where the bits of events lie in a target's table.
struct rkh_places {
    enum rkh_family family;
    uint8_t offset[RKH_GROUPS], range[RKH_GROUPS]; // of the groups, bytes
    uint32_t bytes;                                // of the table
};

// `version` is 0 where none is known, `map` the target's own table of places (`length` bytes, 0:
// there is none). Errors: UNSUPPORTED (the version is needed and not known, or no places of it
// are), BAD (they do not fit).
enum extract_code rkh_places_find(struct rkh_places *places, uint32_t version, uint32_t bytes,
                                  const uint8_t *map, size_t length, struct extract_error *error);
// The event that has the i-th bit of the groups, RKH_GROUPS * RKH_GROUP_EVENTS of them in all, and
// that bit in the table. -1: none has it.
int rkh_places_event(const struct rkh_places *places, unsigned i, uint32_t *bit);

#endif
