// SPDX-License-Identifier: MIT
// symbols: libdw, made safe to call from inside of a debugger.
//
// libdw ends the process when memory is short, unless a handler jumps out of it; so every call
// goes through extract_dwarf_run. And it bounds nothing: what hostile DWARF could make it do for
// ever is checked once, before it is asked.
#ifndef EXTRACT_SYMBOLS_DWARF_H
#define EXTRACT_SYMBOLS_DWARF_H

#include "internal.h"
#include <dwarf.h>
#include <elfutils/libdw.h>

// A table in .debug_line.
struct line_start {
    uint64_t offset; // first: see room_count_up_to
    bool taken;
};

struct extract_dwarf {
    Dwarf *dw;
    const struct elf_file *file;
    uint64_t largest;          // bytes of the largest unit
    struct line_start *tables; // by offset: those that libdw may read
    size_t table_count;
    size_t table_capacity;
};

// Opens the DWARF of a file. NULL without any, for DWARF that leans on other files or is built to
// exhaust, and when memory is short. `zero_is_code`: a function starts at address 0.
struct extract_dwarf *extract_dwarf_open(const struct elf_file *file, bool zero_is_code);
void extract_dwarf_close(struct extract_dwarf *dwarf);

// Runs `work`, the only place where libdw may be called. False when `work` says so, and when memory
// runs short in libdw: *dwarf is then closed and NULL, and `work` was left at any call of libdw.
bool extract_dwarf_run(struct extract_dwarf **dwarf, bool (*work)(void *context), void *context);

// libdw's bytes of the debug section of that name. NULL when there is none, or more than one.
Elf_Data *extract_dwarf_data(const struct elf_file *file, const char *name);

// An unsigned LEB128 number (DWARF 5, section 7.6).
uint64_t extract_dwarf_uleb(struct extract_cursor *c);

// Finds the tables of lines that libdw may read, and makes it safe and right to do so. False when
// memory is short.
bool extract_dwarf_tables(struct extract_dwarf *dwarf, bool zero_is_code);

#endif
