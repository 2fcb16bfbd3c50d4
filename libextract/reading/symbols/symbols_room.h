// SPDX-License-Identifier: MIT
// symbols: what the files of this directory share: struct extract_symbols and its tables.
//
// Each table has one owner: symbol_table.c and segments.c fill the symbols, lines.c the source
// lines, types.c the types, and enums.c the enumerations. All addresses in the tables are those of
// the ELF file; the lookups add `load_bias`.
#ifndef EXTRACT_SYMBOLS_SYMBOLS_ROOM_H
#define EXTRACT_SYMBOLS_SYMBOLS_ROOM_H

#include <extract/symbols.h>
#include <extract/text.h>
#include "base/grow.h"
#include "base/keys.h"
#include "image.h"

#define NO_OWNER UINT32_MAX

// The symbols, sorted by address, and two indexes over them.
struct symbol_table {
    struct extract_symbol *symbols; // by address; the best of each address first
    uint32_t *by_name;              // indexes into `symbols`, by name; the best of each name first
    size_t count;
    // Disjoint segments of the address space: segment i is [starts[i], starts[i + 1]) and belongs
    // to symbols[owners[i]]. A lookup is one binary search in a compact array.
    uint64_t *starts;
    uint32_t *owners; // NO_OWNER for a gap
    size_t segment_count;
    char *names; // text of the names of all symbols
};

// A row of the line table. It is valid up to the address of the next row.
struct line_row {
    uint32_t file; // offset into line_table.names; 0 if unknown
    uint32_t line; // line number; 0 if no source is known for the addresses of the row
};

// A part of the code of a trace point that was expanded in place, and the place of its call.
struct inlined_call {
    uint64_t start; // must be the first field: see base/keys.h
    uint64_t end;
    struct line_row place;
};

// The source lines of all units.
struct line_table {
    uint64_t *addresses; // ascending
    struct line_row *rows;
    size_t count;
    struct inlined_call *calls; // by address
    size_t call_count;
    struct extract_text names; // strings, each with its NUL
    bool read;                 // true after the first lookup, even if it failed
};

// The named types, with the handle of libdw, which stays open for queries about them.
struct type_index {
    struct extract_dwarf *dwarf; // NULL without DWARF, and after memory ran out
    struct type_entry *entries;  // by name; of one name, the one that a bare name means first
    size_t count;
    size_t capacity;
    struct placed_entry *placed; // variables at the top level of all units, by address
    size_t placed_count;
    size_t placed_capacity;
    bool read;
};

// A name and value of an enumeration.
struct enumerator {
    uint32_t name; // offset into enum_table.names
    int64_t value;
};

// An enumeration.
struct enumeration {
    uint32_t name;         // offset into enum_table.names; UINT32_MAX if it has none
    uint32_t first, count; // index of the first enumerator, and number of enumerators
    uint64_t offset;       // offset in .debug_info
};

// The enumerations of all units, each once.
struct enum_table {
    struct enumeration *list;
    size_t count;
    size_t capacity;
    struct enumerator *enumerators;
    size_t enumerator_count;
    size_t enumerator_capacity;
    struct extract_text names; // strings, each with its NUL
    bool read;                 // true after the first lookup, even if it failed
};

struct extract_symbols {
    char *path;
    uint64_t load_bias; // distance of the loaded program from the addresses of its file in bytes
    bool placed;        // extract_symbols_move has accepted an entry point
    uint64_t entry;     // address of that entry point
    struct elf_file file;
    struct symbol_table table;
    struct line_table lines;
    struct type_index types;
    struct enum_table enums;
};

// Reads .symtab (or .dynsym). If the file has neither, the table stays empty. Errors: BAD, NOMEM.
enum extract_code extract_table_read(struct symbol_table *table, const struct elf_file *file,
                                     const char *path, struct extract_error *error);
void extract_table_free(struct symbol_table *table);

// Divides the address space into segments. ends[i] is the address after the last that symbol i
// covers, or its own address if it covers nothing. Returns false if memory runs out.
bool extract_segments_build(struct symbol_table *table, const uint64_t *ends);

// Writes the path of the member at an offset of the variable at `address`, as
// extract_symbols_member_at does. If members begin at the offset, the outermost is written.
bool extract_symbols_variable_member(struct extract_symbols *symbols, uint64_t address,
                                     uint64_t offset, char *buffer, size_t size);

void extract_lines_free(struct line_table *lines);
void extract_types_free(struct type_index *types);
void extract_enums_free(struct enum_table *enums);

#endif
