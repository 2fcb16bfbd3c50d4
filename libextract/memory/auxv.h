// SPDX-License-Identifier: MIT
// memory: the auxiliary vector of a process: what Linux tells a program at its start, as
// /proc/PID/auxv and cores hold it.
#ifndef EXTRACT_MEMORY_AUXV_H
#define EXTRACT_MEMORY_AUXV_H

#include "base/cursor.h"

// Finds where the program's entry point was loaded, in pairs of words of `word_bytes` (4 or 8).
// False: the vector does not say.
bool extract_auxv_entry(const uint8_t *bytes, size_t length, enum extract_byte_order order,
                        unsigned word_bytes, uint64_t *entry);

#endif
