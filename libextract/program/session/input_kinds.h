// SPDX-License-Identifier: MIT
// session: recognizes the kind of a file by its first bytes.
#ifndef EXTRACT_SESSION_INPUT_KINDS_H
#define EXTRACT_SESSION_INPUT_KINDS_H

#include <stddef.h>
#include <stdint.h>

// Returns the kind by which users name it (extract_memory_detect); "raw" if only more bytes tell.
const char *extract_kind_of(const uint8_t *bytes, size_t length);

#endif
