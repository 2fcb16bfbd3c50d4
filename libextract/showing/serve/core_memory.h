// SPDX-License-Identifier: MIT
// serve: the memory that goes into an ELF core (core_file.c).
//
//     regions of the memory, or of a live target: what a crash report needs ──> sorted, joined
//         ──> read ──> ranges that could be read, with their bytes
#ifndef EXTRACT_SERVE_CORE_MEMORY_H
#define EXTRACT_SERVE_CORE_MEMORY_H

#include <extract/memory.h>
#include <extract/serve.h>

// The ranges of the memory that can be read. Their bytes are kept if they are few, so that a target
// is read once.
struct core_memory {
    struct extract_region *list;
    size_t count, capacity;
    bool is_kept, failed;
    struct extract_text bytes; // of all ranges, one after the other
};

// Finds the ranges, and reads them. `failed`: out of memory, or too many ranges.
void core_memory_read(struct core_memory *memory, const struct extract_remains *remains,
                      enum extract_core_memory part);
// Appends the bytes of all ranges to a text.
void core_memory_put(const struct core_memory *memory, struct extract_memory *source,
                     struct extract_text *text);
void core_memory_free(struct core_memory *memory);

#endif
