// SPDX-License-Identifier: MIT
// symbols: an ELF file in memory, with a section table that is safe to use.
//
// After extract_elf_open succeeds, every section is inside the bytes of the file.
#ifndef EXTRACT_SYMBOLS_IMAGE_H
#define EXTRACT_SYMBOLS_IMAGE_H

#include <extract/memory.h>
#include "../base/cursor.h"
#include <gelf.h>

struct elf_section {
    const char *name; // in the file's bytes, not cleaned; "" when the table of names is damaged
    uint64_t flags;
    uint64_t address;
    uint64_t size;        // in the target; the file holds as much, or nothing (SHT_NOBITS)
    uint64_t entry;       // bytes of one entry of a table, as the file claims
    const uint8_t *bytes; // NULL when the file holds none
    size_t length;        // of bytes
    uint32_t type;
    uint32_t link;
};

struct elf_file {
    uint8_t *bytes; // owned; libelf and libdw may write to them
    size_t length;
    Elf *elf; // libelf's view of the bytes
    enum extract_byte_order order;
    unsigned word; // 4 or 8: ELFCLASS32 or ELFCLASS64
    uint16_t machine;
    struct elf_section *sections; // owned
    uint32_t section_count;
};

// Reads the headers of the `length` bytes at `bytes`. `file` owns the bytes from here on, on
// failure too. `name` is for messages.
enum extract_code extract_elf_open(struct elf_file *file, const char *name, uint8_t *bytes,
                                   size_t length, struct extract_error *error);
void extract_elf_close(struct elf_file *file);

// The NUL-ended string at an offset of `length` bytes; NULL when it does not end inside, or is
// longer than 16 KiB.
const char *extract_elf_string(const void *bytes, size_t length, uint64_t offset);

// Puts a NUL behind each `most` bytes of strings that go on for longer.
void extract_elf_cut(uint8_t *bytes, size_t length, size_t most);

// True when a name holds no control characters: what a compiler or linker wrote, not an attack on
// the terminal.
bool extract_elf_clean(const char *name);

#endif
