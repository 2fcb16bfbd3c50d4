// SPDX-License-Identifier: MIT
// memory: what an ELF core says beside its memory, for the rooms that read registers.
#ifndef EXTRACT_MEMORY_CORE_H
#define EXTRACT_MEMORY_CORE_H

#include "memory/images.h"

// The ELF header, as far as a core needs it.
struct extract_elf {
    enum extract_byte_order byte_order;
    bool wide;          // ELF64
    uint16_t type;      // ET_*
    uint16_t machine;   // EM_*
    uint64_t phoff;     // file offset of the program headers
    uint64_t shoff;     // of the section headers; 0 without
    uint16_t phentsize; // bytes of a program header
    uint16_t phnum;     // PN_XNUM: the true number is in section header 0
    bool cut;           // the file ends inside the header
};

// The bytes of a PT_NOTE segment, as far as the file holds them (NULL, 0 when it holds none).
struct extract_note_span {
    const uint8_t *bytes;
    uint64_t length;
};

struct extract_core {
    struct extract_elf elf;
    size_t note_count;
    struct extract_note_span notes[];
};

// Reads an ELF header; false when the bytes are no ELF of a known class and byte order.
bool extract_elf_identify(const uint8_t *bytes, size_t length, struct extract_elf *elf);

// What the core behind a memory says; NULL when the memory is no core. Lives as long as it does.
const struct extract_core *extract_core_of(const struct extract_memory *memory);

void extract_core_free(struct extract_core *core);

// Finds where the entry point of the core's program was loaded, by the auxiliary vector that Linux
// gave to the process. False: the core has no such note, or it was cut off.
bool extract_core_entry(const struct extract_core *core, uint64_t *entry);

// A segment as the file gives it: bytes for a span of addresses. Spans may overlap.
struct extract_segment {
    uint64_t address;
    uint64_t length; // > 0, not past 2^64
    const uint8_t *bytes;
};

// Makes sorted, disjoint spans out of overlapping ones: each address gets its byte from the first
// segment that has it. The caller frees *spans. In O(n log n), whatever the overlaps.
// Errors: NOMEM. `count` is less than 2^31.
enum extract_code extract_overlay(const struct extract_segment *segments, size_t count,
                                  const char *name, struct extract_image **spans,
                                  size_t *span_count, struct extract_error *error);

#endif
