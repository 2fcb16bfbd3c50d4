// SPDX-License-Identifier: MIT
// base: which characters of untrusted text may reach a terminal, a report or a picture unescaped.
// Names of threads, files and symbols are untrusted: they come from the target.
#ifndef EXTRACT_BASE_PRINTABLE_H
#define EXTRACT_BASE_PRINTABLE_H

#include <stddef.h>
#include <stdint.h>

// The longest result of extract_printable: a character of four bytes and its variation selector.
// A caller whose text does not end in a NUL copies this many bytes of it and adds a NUL.
enum { EXTRACT_PRINTABLE_BYTES = 8 };

// Returns the bytes of the character at `string` (NUL-ended, not at its end), with the variation
// selector that belongs to it, if it is valid UTF-8, visible, and controls nothing. Returns 0 if
// its first byte must be escaped.
size_t extract_printable(const char *string);

// Returns how many columns of a terminal the character at `string`, which is printable, takes: 0
// for a mark that combines with the one before it, 2 for letters of East Asia and emoji,
// otherwise 1.
unsigned extract_printable_columns(const char *string);

// Returns how many bytes at the start of printable text (NUL-ended) fit into `most` columns, and
// sets *columns to how many they take. A character is whole with its marks.
size_t extract_printable_fitting(const char *string, unsigned most, unsigned *columns);

// Returns how many bytes at the start of `string` (NUL-ended) are printable ASCII characters other
// than the quote and the backslash: what JSON and terminals take as it is. Most names are nothing
// else.
size_t extract_plain(const char *string);

// Decodes the character at `string` (NUL-ended). Returns its length in bytes, or 0 if no valid
// UTF-8 begins there.
size_t extract_utf8_decode(const char *string, uint32_t *character);

#endif
