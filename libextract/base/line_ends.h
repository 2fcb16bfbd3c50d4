// SPDX-License-Identifier: MIT
// base: recognizes and undoes a conversion of line ends, which inserts a byte 0x0D before each 0x0A
// of a file. Editors, FTP in its ASCII mode and terminals do so to what they take for text.
//
// In a binary file of some size, hardly ever does each 0x0A follow a 0x0D. A file of text may be
// so, and has no byte 0.
#ifndef EXTRACT_BASE_LINE_ENDS_H
#define EXTRACT_BASE_LINE_ENDS_H

#include <extract/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct extract_line_ends {
    uint64_t count; // bytes 0x0A
    bool is_mixed;  // one of them does not follow a 0x0D: no conversion took place
    bool has_zero;
    uint8_t before; // the last byte so far
};

// Adds the next bytes of a file. The structure begins as zeros.
void extract_line_ends_add(struct extract_line_ends *ends, const uint8_t *bytes, size_t length);
// Adds an open file from its start to its length, to the first 0x0A without a 0x0D, or to a limit:
// files may have holes of any length.
enum { EXTRACT_LINE_ENDS_LIMIT = 64 << 20 };
void extract_line_ends_add_file(struct extract_line_ends *ends, int file, uint64_t length);

// Returns whether a binary file was probably converted: it has enough bytes 0x0A, and no other
// explanation.
bool extract_line_ends_are_likely(const struct extract_line_ends *ends);

// Returns whether this is so for an image of memory, whose length is a round number. Memory may
// contain text whose lines end in 0x0D 0x0A, but then its length is as round as it can be.
bool extract_line_ends_are_likely_of_image(const struct extract_line_ends *ends, uint64_t length);

// Removes the byte 0x0D before each 0x0A, and returns the new length.
size_t extract_line_ends_undo(uint8_t *bytes, size_t length);

// Adds to the error about a file, which must be set, that its line ends were probably converted, if
// they were. Returns the error's code.
enum extract_code extract_line_ends_explain(const struct extract_line_ends *ends,
                                            enum extract_code code, struct extract_error *error);

#endif
