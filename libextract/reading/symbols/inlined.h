// SPDX-License-Identifier: MIT
// symbols: the trace points that a compiler has expanded in place (inlined.c).
#ifndef EXTRACT_SYMBOLS_INLINED_H
#define EXTRACT_SYMBOLS_INLINED_H

#include "dies.h"

// Gets a part of the code of a trace point, at addresses of the ELF file, and the place of its
// call. `file` is an index into the files of the unit. Returns false to end the walk.
typedef bool inlined_taker(void *context, uint64_t start, uint64_t end, uint64_t file,
                           uint64_t line);

struct inlined_walk {
    struct query query; // with the steps that are left for all units
    inlined_taker *take;
    void *context;
};

// Calls `take` with each part of the code of each expanded trace point of a unit. Returns false if
// `take` did.
bool extract_inlined_read(struct inlined_walk *walk, Dwarf_Die *unit);

#endif
