// SPDX-License-Identifier: MIT
// memory: recognizes the control block of a hook-word ring. Both the dump file (memory_hooks.c) and
// the format (formats/hook) need it. Source: docs/formats/hook.md, "The control block".
#ifndef EXTRACT_MEMORY_MEMORY_HOOKS_H
#define EXTRACT_MEMORY_MEMORY_HOOKS_H

#include <extract/memory.h>

#define EXTRACT_HOOKS_MAGIC  0x4B4F4F48u
#define EXTRACT_HOOKS_STREAM 0xEFDF1114u // the first word of a raw stream of 64-bit hook words

enum { EXTRACT_HOOKS_HEADER = 64, EXTRACT_HOOKS_VERSION = 1 };

// Offsets in bytes of the control block's words.
enum extract_hooks_word {
    EXTRACT_HOOKS_AT_MAGIC = 0,
    EXTRACT_HOOKS_AT_VERSION = 4,
    EXTRACT_HOOKS_AT_HEADER_BYTES = 8,
    EXTRACT_HOOKS_AT_BUFFER_BYTES = 12,
    EXTRACT_HOOKS_AT_FLAGS = 16,
    EXTRACT_HOOKS_AT_CLOCK_HZ = 20,
    EXTRACT_HOOKS_AT_CLOCK_BITS = 24,
    EXTRACT_HOOKS_AT_HEAD = 28,
    EXTRACT_HOOKS_AT_TAIL = 32,
    EXTRACT_HOOKS_AT_RECORDS = 36,
    EXTRACT_HOOKS_AT_LOST = 40,
    EXTRACT_HOOKS_AT_GENERATION = 44,
    EXTRACT_HOOKS_AT_WORD_BYTES = 48,
    EXTRACT_HOOKS_AT_CPUS = 52,
    EXTRACT_HOOKS_AT_ADDRESS = 56, // lower half, then upper half; in files only
    EXTRACT_HOOKS_AT_END = 64
};

// Returns the byte order of the magic number, UNKNOWN if the bytes do not begin with it.
enum extract_byte_order extract_hooks_order(const uint8_t *bytes, size_t length);
// Returns whether bytes begin like a control block: with magic, version and header_bytes.
bool extract_hooks_is(const uint8_t *bytes, size_t length);
// Returns the byte order of a raw stream of 64-bit hook words by its first word, UNKNOWN if the
// bytes are not such a stream.
enum extract_byte_order extract_hooks_stream_order(const uint8_t *bytes, size_t length);

// Returns whether the target may run while its memory is read.
bool extract_memory_is_running(const struct extract_memory *memory);

// Bytes of memory that the input announces and does not hold, since it was cut off (an ELF core).
uint64_t extract_memory_missing(const struct extract_memory *memory);

// The i-th readable region, in order of addresses; false when there is none. A source made of
// callbacks has known regions where it offers them.
bool extract_memory_region(const struct extract_memory *memory, size_t i,
                           struct extract_region *region);

// The address of a ring's control header, if the source itself states it, as a dump of a ring does.
// False when it does not say.
bool extract_memory_start(const struct extract_memory *memory, uint64_t *address);

#endif
