// SPDX-License-Identifier: MIT
// control: what its files share: the tables of a target's filters, and names for their bits.
#ifndef EXTRACT_CONTROL_CONTROL_H
#define EXTRACT_CONTROL_CONTROL_H

#include "formats/rkh/target/target.h"
#include <extract/filter.h>

// A table of bits, one after the other.
struct control_table {
    uint64_t address;
    uint32_t bytes; // 0: the firmware has none
    uint8_t *before, *after;
};

struct extract_control {
    const struct extract_trace *trace; // of RKH; or NULL
    struct control_table table[EXTRACT_TARGET_KINDS];
    struct rkh_places places;
    struct extract_error unplaced; // why the bits of events are not known; code 0: they are
    struct extract_symbols *symbols;
    struct rkh_signals signals; // that the ELF names, where there is no trace
    struct rkh_actor *actors;   // that the ELF knows; owned
    size_t actor_count, actor_room;
};

static inline uint32_t control_bits(const struct extract_control *control,
                                    enum extract_target_kind kind)
{
    return kind == EXTRACT_TARGET_GROUP ? RKH_GROUPS : 8 * control->table[kind].bytes;
}

// names.c. The n-th name of an active object, a signal or a user event that trace or ELF know, and
// its number: priority, signal, id. *n moves on.
bool control_known(const struct extract_control *control, enum extract_target_kind kind, size_t *n,
                   const char **name, uint64_t *number);
// The name of a bit, its number where none is known, into `name` at the latest. Bits of events are
// counted as rkh_places_event does. NULL: it is no bit of anything.
const char *control_bit_name(const struct extract_control *control, enum extract_target_kind kind,
                             uint32_t bit, char name[static RKH_NAME_ROOM]);
// What there is, where nothing has the name in `word`. Returns NOTFOUND.
enum extract_code control_refuse_name(const struct extract_control *control,
                                      enum extract_target_kind kind, const char *word,
                                      const char *name, struct extract_error *error);

#endif
