// SPDX-License-Identifier: MIT
// control: declarations that its files share: the tables of an RKH target's filters, and names for
// their bits.
#ifndef EXTRACT_CONTROL_CONTROL_H
#define EXTRACT_CONTROL_CONTROL_H

#include "formats/rkh/target/target.h"
#include <extract/filter.h>

// A table of bits in the target, lowest bit first.
struct control_table {
    uint64_t address;        // target address
    uint32_t bytes;          // 0 if the firmware has no such table
    uint8_t *before, *after; // owned, in one allocation: as read, and as it is to be
};

struct extract_control {
    const struct extract_trace *trace; // an RKH trace, or NULL
    struct control_table table[EXTRACT_TARGET_KINDS];
    struct rkh_places places;
    struct extract_error unplaced; // why the bits of events are not known; code 0 if they are known
    struct extract_symbols *symbols;
    struct rkh_signals signals; // signals that the ELF names, if there is no trace
    struct rkh_actor *actors;   // active objects that the ELF names; owned
    size_t actor_count, actor_capacity;
};

static inline uint32_t control_bits(const struct extract_control *control,
                                    enum extract_target_kind kind)
{
    return kind == EXTRACT_TARGET_GROUP ? RKH_GROUPS : 8 * control->table[kind].bytes;
}

// Returns the *n-th name of an active object, a signal or a user event that the trace or the ELF
// knows, with its number: priority, signal, id. Advances *n. Returns false after the last.
bool control_next_name(const struct extract_control *control, enum extract_target_kind kind,
                       size_t *n, const char **name, uint64_t *number);
// Returns the name of a bit, or its number if no name is known; `name` is a buffer for either. Bits
// of events are counted as in rkh_places_event. Returns NULL if the bit stands for nothing.
const char *control_bit_name(const struct extract_control *control, enum extract_target_kind kind,
                             uint32_t bit, char name[static RKH_NAME_BYTES]);
// Fills *error with the names that exist, since nothing has the name in `word`. Returns NOTFOUND.
enum extract_code control_refuse_name(const struct extract_control *control,
                                      enum extract_target_kind kind, const char *word,
                                      const char *name, struct extract_error *error);

#endif
