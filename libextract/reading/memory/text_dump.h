// SPDX-License-Identifier: MIT
// memory: how dumps of memory as text are recognized.
#ifndef EXTRACT_MEMORY_TEXT_DUMP_H
#define EXTRACT_MEMORY_TEXT_DUMP_H

#include "memory/images.h"

// Returns whether bytes are a text with such a dump: at least two lines that continue each other.
bool extract_text_dump_is(const uint8_t *bytes, size_t length);

// Returns whether a file is such a text, which may have other lines before the dump.
bool extract_text_dump_is_in(const char *path);

#endif
