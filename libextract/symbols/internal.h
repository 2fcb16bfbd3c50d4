// SPDX-License-Identifier: MIT
// symbols: shared by the files of this room: struct extract_symbols and its tables.
//
// Each table has one owner: table.c and segments.c fill the symbols, lines.c the source lines,
// types.c the types, and enums.c the enumerations. All addresses in the tables are those of the ELF
// file; the lookups add `load_bias`.
#ifndef EXTRACT_SYMBOLS_ROOM_H
#define EXTRACT_SYMBOLS_ROOM_H

#include <extract/symbols.h>
#include <extract/text.h>
#include "base/grow.h"
#include "image.h"

#define NO_OWNER UINT32_MAX

// The symbols, sorted by address, and two indexes over them.
struct symbol_table {
    struct extract_symbol *symbols; // by address, the better one of an address first
    uint32_t *by_name;              // indexes into symbols, by name, the better one first
    size_t count;
    // Disjoint segments of the address space, so that one binary search over a compact array
    // answers a look-up: segment i is [starts[i], starts[i + 1]) and belongs to owners[i].
    uint64_t *starts;
    uint32_t *owners; // NO_OWNER: a gap
    size_t segment_count;
    char *names; // what the symbols' names point to
};

// A row of the line tables, which holds up to the next row's address.
struct line_row {
    uint32_t file; // offset into line_table.names; 0: unknown
    uint32_t line; // 0: no source from here on
};

struct line_table {
    uint64_t *addresses; // ascending
    struct line_row *rows;
    size_t count;
    struct extract_text names; // NUL-ended strings, one behind the other
    bool read;
};

// The named types, and libdw's handle, which stays open for questions about them.
struct type_index {
    struct extract_dwarf *dwarf; // NULL without DWARF, and when memory ran short
    struct type_entry *entries;  // by name, then by what a bare name means first
    size_t count;
    size_t capacity;
    struct placed_entry *placed; // variables of whole units, by address
    size_t placed_count;
    size_t placed_capacity;
    bool read;
};

struct enumerator {
    uint32_t name; // offset into enum_table.names
    int64_t value;
};

struct enumeration {
    uint32_t name;         // offset into enum_table.names; UINT32_MAX: it has none
    uint32_t first, count; // of its enumerators
    uint64_t offset;       // in .debug_info
};

// The enumerations of all units, each once.
struct enum_table {
    struct enumeration *list;
    size_t count;
    size_t capacity;
    struct enumerator *enumerators;
    size_t enumerator_count;
    size_t enumerator_capacity;
    struct extract_text names; // NUL-ended strings, one behind the other
    bool read;
};

struct extract_symbols {
    char *path;
    uint64_t load_bias; // how far above the addresses of its file the program was loaded
    bool placed;        // that was told, by the place of its entry point:
    uint64_t entry;
    struct elf_file file;
    struct symbol_table table;
    struct line_table lines;
    struct type_index types;
    struct enum_table enums;
};

// Reads .symtab (or .dynsym). A file without either leaves the table empty.
enum extract_code extract_table_read(struct symbol_table *table, const struct elf_file *file,
                                     const char *path, struct extract_error *error);
void extract_table_free(struct symbol_table *table);

// Cuts the address space into segments. ends[i] is the end of symbol i's cover (its own address
// when it covers nothing). False when memory is short.
bool extract_segments_build(struct symbol_table *table, const uint64_t *ends);

// extract_symbols_member_at for the variable that lies at an address, by its type.
bool extract_symbols_variable_member(struct extract_symbols *symbols, uint64_t address,
                                     uint64_t offset, char *buffer, size_t size);

void extract_lines_free(struct line_table *lines);
void extract_types_free(struct type_index *types);
void extract_enums_free(struct enum_table *enums);

// The index of the last of `count` (> 0) ascending keys that is <= key; keys[0] <= key is given.
// Without branches that depend on the data: a wrong guess costs more than the step.
static inline size_t room_last_at_or_below(const uint64_t *keys, size_t count, uint64_t key)
{
    const uint64_t *base = keys;

    while (count > 1) {
        size_t half = count / 2;
        base = base[half] <= key ? base + half : base;
        count -= half;
    }
    return (size_t)(base - keys);
}

// How many of `count` items, ascending by the uint64_t that each starts with, start with one that
// is <= key.
static inline size_t room_count_up_to(const void *items, size_t count, size_t item_bytes,
                                      uint64_t key)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t start;
        memcpy(&start, (const char *)items + middle * item_bytes, sizeof start);
        if (start <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
