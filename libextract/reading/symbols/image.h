// SPDX-License-Identifier: MIT
// symbols: an ELF file in memory, with a section table that is safe to use.
//
// After extract_elf_open succeeds, every section is inside the bytes of the file.
#ifndef EXTRACT_SYMBOLS_IMAGE_H
#define EXTRACT_SYMBOLS_IMAGE_H

#include <extract/memory.h>
#include "../base/cursor.h"
#include <gelf.h>

// A section. Its bytes are inside those of the file.
struct elf_section {
    const char *name; // unchecked text in the bytes of the file; "" if the name table is damaged
    uint64_t flags;
    uint64_t address;
    uint64_t size;  // size in the target in bytes; SHT_NOBITS sections have no bytes in the file
    uint64_t entry; // size of one table entry in bytes, unchecked
    const uint8_t *bytes; // NULL if the file has none
    size_t length;        // number of bytes at `bytes`
    uint32_t type;
    uint32_t link;
};

// An ELF file in memory.
struct elf_file {
    uint8_t *bytes; // owned; libelf and libdw may write to them
    size_t length;
    Elf *elf; // libelf's view of the bytes
    enum extract_byte_order order;
    unsigned word;                // 4 or 8: ELFCLASS32 or ELFCLASS64
    uint16_t machine;             // e_machine
    uint32_t flags;               // e_flags
    struct elf_section *sections; // owned
    uint32_t section_count;
};

// Reads the headers of the `length` bytes at `bytes`, which `file` owns from here on. On failure,
// the bytes are freed. `name` appears in messages. Errors: NOMEM, TRUNCATED, BAD.
enum extract_code extract_elf_open(struct elf_file *file, const char *name, uint8_t *bytes,
                                   size_t length, struct extract_error *error);

// Frees the bytes and everything that was read from them.
void extract_elf_close(struct elf_file *file);

// Returns the string at an offset of `length` bytes. Returns NULL if its NUL is not among them or
// not within 16 KiB.
const char *extract_elf_string(const void *bytes, size_t length, uint64_t offset);

// Truncates strings of more than `most` bytes by writing a NUL after each `most` bytes.
void extract_elf_cut(uint8_t *bytes, size_t length, size_t most);

// Returns true if a name has no control characters. Compilers and linkers write none; a name with
// some may be an attack on the terminal.
bool extract_elf_clean(const char *name);

#endif
