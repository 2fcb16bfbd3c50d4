// SPDX-License-Identifier: MIT
// formats/rkh/target: what the firmware and the target reveal of RKH's events, filters and active
// objects: terms of filters, bits of filter tables, active objects, names of signals.
//
// Source: docs/formats/rkh.md, "Filters".
#ifndef EXTRACT_FORMATS_RKH_TARGET_H
#define EXTRACT_FORMATS_RKH_TARGET_H

#include "formats/rkh/rkh.h"

enum { RKH_GROUPS = 8, RKH_GROUP_EVENTS = 32, RKH_GROUP_USER = 6, RKH_NAME_BYTES = 64 };

// ---- filter_terms.c. Events have the ids of 3.x. ----
extern const struct extract_target_filter rkh_target_filter;
const char *rkh_group_name(unsigned group);
bool rkh_group_fits(unsigned group, const char *pattern);
// Returns a name such as "SMA_FIFO" or "USER9"; NULL if there is no such event.
const char *rkh_event_name(unsigned id, char name[static RKH_NAME_BYTES]);
bool rkh_event_fits(unsigned id, const char *pattern);

// ---- actors.c ----

// An active object among the variables of the firmware.
struct rkh_actor {
    uint64_t address;
    uint16_t priority;
    char name[RKH_NAME_BYTES];   // its own name; may be empty
    char symbol[RKH_NAME_BYTES]; // name of the variable
};

// ---- signals.c ----

// The enumerations of the firmware that may name signals.
enum { RKH_SIGNAL_ENUMS = 8 };

struct rkh_signals {
    struct extract_symbols *symbols;
    enum extract_signals_from
        from; // how they were found; UNNAMED: it is not certain which is right
    struct extract_enum list[RKH_SIGNAL_ENUMS];
    size_t known; // number of enumerations in `list`
    size_t count; // number of enumerations that fit, which may be more
};

// Finds the enumerations. `numbers` are those of the signals in a trace, with the names that its
// records contain. Errors: USAGE (the enumeration that the user named does not exist), NOMEM.
enum extract_code rkh_signals_find(struct rkh_signals *signals, const struct extract_rkh *rkh,
                                   struct extract_symbols *symbols,
                                   const struct extract_numbers *numbers,
                                   struct extract_error *error);
// Returns the name of a signal; NULL if no name is certain.
const char *rkh_signals_name(const struct rkh_signals *signals, uint64_t number);
// Returns the i-th number that may have a name. Returns false after the last.
bool rkh_signals_at(const struct rkh_signals *signals, size_t i, uint64_t *number,
                    const char **name);
// Finds the number of an enumerator in the whole program. Returns false if there is none, or
// several.
bool rkh_signal_number(struct extract_symbols *symbols, const char *name, uint64_t *number);

// An iterator over all active objects. Set the first two members, and the rest to zero.
struct rkh_actors {
    struct extract_symbols *symbols;
    struct extract_memory *memory;
    size_t next;      // index of the next symbol
    uint64_t element; // index of the next element, if the symbol is an array
    uint32_t asked;   // number of symbols whose types were examined
};

bool rkh_actors_next(struct rkh_actors *walk, struct rkh_actor *actor);
// Reads an active object's priority, by its address. Returns false if it is not known.
bool rkh_actor_priority(struct extract_memory *memory, struct extract_symbols *symbols,
                        uint64_t address, uint16_t *priority);

// ---- places.c ----

// The locations of the events' bits in a target's filter table.
struct rkh_places {
    enum rkh_family family;
    uint8_t offset[RKH_GROUPS], range[RKH_GROUPS]; // of each group, bytes
    uint32_t bytes;                                // size of the table
};

// Determines the locations. `version` may be 0 for unknown. `map` is the target's own table of
// locations, of `length` bytes; 0 if it has none. Errors: UNSUPPORTED (the version is needed and
// not known, or its locations are not known), BAD (they do not fit into the table).
enum extract_code rkh_places_find(struct rkh_places *places, uint32_t version, uint32_t bytes,
                                  const uint8_t *map, size_t length, struct extract_error *error);
// Returns the event that has the i-th bit of all groups (RKH_GROUPS * RKH_GROUP_EVENTS bits), and
// in *bit the number of that bit in the table. Returns -1 if no event has it.
int rkh_places_event(const struct rkh_places *places, unsigned i, uint32_t *bit);

#endif
