// SPDX-License-Identifier: MIT
// memory: the auxiliary vector, which Linux passes to a program at its start. /proc/PID/auxv and
// cores hold a copy of it.
#ifndef EXTRACT_MEMORY_AUXV_H
#define EXTRACT_MEMORY_AUXV_H

#include "base/cursor.h"

// Finds the address at which the program's entry point was loaded. The vector's words have
// `word_bytes` (4 or 8). Returns false if the vector does not hold it.
bool extract_auxv_entry(const uint8_t *bytes, size_t length, enum extract_byte_order order,
                        unsigned word_bytes, uint64_t *entry);

#endif
