// SPDX-License-Identifier: MIT
// templates: a set of user macros, by their numbers. The compiler uses one for the macros that a
// template declares, the linker for those that templates set.
#ifndef EXTRACT_TEMPLATES_COMPILER_MACRO_SET_H
#define EXTRACT_TEMPLATES_COMPILER_MACRO_SET_H

#include "templates/program.h"

struct macro_set {
    uint64_t bits[TEMPLATE_MACROS / 64 + 1];
};

static inline void macro_set_add(struct macro_set *set, uint32_t slot)
{
    set->bits[slot / 64] |= UINT64_C(1) << slot % 64;
}

static inline bool macro_set_has(const struct macro_set *set, uint32_t slot)
{
    return set->bits[slot / 64] >> slot % 64 & 1;
}

// Adds all of `more`. Returns whether that changed the set.
static inline bool macro_set_join(struct macro_set *set, const struct macro_set *more)
{
    uint64_t added = 0;
    for (unsigned i = 0; i < sizeof set->bits / sizeof *set->bits; i++) {
        added |= more->bits[i] & ~set->bits[i];
        set->bits[i] |= more->bits[i];
    }
    return added != 0;
}

#endif
