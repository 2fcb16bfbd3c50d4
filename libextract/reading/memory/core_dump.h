// SPDX-License-Identifier: MIT
// memory: ELF cores: their header and notes, for other files that need more than the memory, and
// the resolution of overlapping segments.
#ifndef EXTRACT_MEMORY_CORE_DUMP_H
#define EXTRACT_MEMORY_CORE_DUMP_H

#include "memory/images.h"

// The fields of an ELF header that reading a core needs.
struct extract_elf {
    enum extract_byte_order byte_order;
    bool wide;          // ELF64
    uint16_t type;      // ET_*
    uint16_t machine;   // EM_*
    uint64_t phoff;     // file offset of the program headers
    uint64_t shoff;     // file offset of the section headers; 0 if there are none
    uint16_t phentsize; // bytes of a program header
    uint16_t phnum;     // number of program headers; if PN_XNUM, it is in section header 0
    uint16_t shentsize, shnum;
    bool cut; // the file ends inside the header
};

// A copy of the bytes of a PT_NOTE segment that the file holds (NULL and 0 if it holds none).
struct extract_note_span {
    uint8_t *bytes; // owned
    uint64_t length;
};

struct extract_core {
    struct extract_elf elf;
    size_t note_count;
    struct extract_note_span notes[];
};

// Reads an ELF header. Returns false if the bytes are not ELF of a known class and byte order.
bool extract_elf_identify(const uint8_t *bytes, size_t length, struct extract_elf *elf);

// Returns header and notes of a memory that is a core, NULL for another memory. They are valid as
// long as the memory.
const struct extract_core *extract_core_of(const struct extract_memory *memory);

void extract_core_free(struct extract_core *core);

// The owner and the type of the note in which `ringside core` keeps the registers of a core, as a
// text with one register per line. NT_PRSTATUS has those of threads, without the ones of faults.
#define EXTRACT_CORE_OWNER "RINGSIDE"
enum { EXTRACT_CORE_REGISTERS = 0x52530001 };

// A note that Linux, GDB or Ringside wrote, and where the next one begins. Initialize with zeros.
struct extract_core_note {
    uint32_t type;        // NT_* or EXTRACT_CORE_REGISTERS
    uint32_t length;      // bytes
    const uint8_t *bytes; // inside of the memory's file
    size_t index;         // of the span
    uint64_t at;          // in the span
    size_t seen;
};

// Finds the next note. Returns false after the last one.
bool extract_core_next_note(const struct extract_core *core, struct extract_core_note *note);

// Finds where the entry point of the core's program was loaded, by the auxiliary vector that Linux
// gave to the process. Returns false if the core has no such note, or the note is truncated.
bool extract_core_entry(const struct extract_core *core, uint64_t *entry);

// A segment of the file: bytes for a span of addresses. Segments may overlap.
struct extract_segment {
    uint64_t address;
    uint64_t length;      // > 0, not past 2^64
    const uint8_t *bytes; // NULL: they are read from the file
    uint64_t offset;      // in the file
};

// Makes sorted, disjoint spans out of overlapping segments: each address gets its byte from the
// first segment that has it. Takes O(n log n), whatever the overlaps. The caller frees *spans.
// `count` must be less than 2^31. Errors: NOMEM.
enum extract_code extract_overlay(const struct extract_segment *segments, size_t count,
                                  const char *name, struct extract_image **spans,
                                  size_t *span_count, struct extract_error *error);

#endif
