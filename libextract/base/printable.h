// SPDX-License-Identifier: MIT
// base: which characters of a foreign text may reach a terminal, a report or a picture as they are.
#ifndef EXTRACT_BASE_PRINTABLE_H
#define EXTRACT_BASE_PRINTABLE_H

#include <stddef.h>
#include <stdint.h>

// The longest result of extract_printable: a character of four bytes and its variation selector.
// A caller whose text does not end in a NUL copies this many bytes of it, and adds one.
enum { EXTRACT_PRINTABLE_BYTES = 8 };

// Bytes of the character at `string` (NUL-ended, not at its end), with the variation selector that
// belongs to it, when it is valid UTF-8, visible, and controls nothing. 0 when its first byte must
// be escaped.
size_t extract_printable(const char *string);

// Reads the character at `string` (NUL-ended). Returns its length in bytes; 0 when no valid UTF-8
// begins there.
size_t extract_utf8_decode(const char *string, uint32_t *character);

#endif
