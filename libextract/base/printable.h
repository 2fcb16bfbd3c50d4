// SPDX-License-Identifier: MIT
// base: which bytes of a foreign text may reach a terminal as they are.
#ifndef EXTRACT_BASE_PRINTABLE_H
#define EXTRACT_BASE_PRINTABLE_H

#include <stddef.h>

// Bytes of the character at `string` (NUL-ended, not at its end) when it is valid UTF-8 and does
// not control a terminal; 0 when its first byte must be escaped.
size_t extract_printable(const char *string);

#endif
