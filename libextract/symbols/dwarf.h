// SPDX-License-Identifier: MIT
// symbols: makes libdw safe to call inside a debugger, and declares the lookups that need DWARF.
//
// If memory runs out, libdw ends the process, unless its handler jumps out of the call. Therefore
// every call goes through extract_dwarf_run, which sets up that jump. libdw also has no limits of
// its own. Whatever hostile DWARF could use to keep it busy forever is therefore checked once, when
// the DWARF is opened.
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

// Calls `take` with each value that a constant of the program has in the type of that name, a
// typedef of an integer: variables, members of structs, and those of the elements of arrays.
// Nothing is found without DWARF, or in a build without libdw.
void extract_symbols_constants(struct extract_symbols *symbols, const char *type,
                               extract_value_taker *take, void *context);

// Returns the number of symbols.
size_t extract_symbols_count(const struct extract_symbols *symbols);

// The i-th enumeration; the same one in several units is one. The first call reads them all. False
// behind the last, without DWARF, when memory runs short, and in a build without libdw. Names
// belong to the symbols object.
bool extract_symbols_enum(struct extract_symbols *symbols, size_t i,
                          struct extract_enum *enumeration);

// The i-th enumerator of an enumeration. False behind the last.
bool extract_symbols_enumerator(struct extract_symbols *symbols,
                                const struct extract_enum *enumeration, size_t i, const char **name,
                                int64_t *value);

// Whether the constants of the ELF file hold a text with its NUL: by itself, or as the end of a
// longer one, since linkers merge the two.
bool extract_symbols_has_text(const struct extract_symbols *symbols, const char *text);

// Finds a member of that name in the variable that lies at an address: in its struct, in those that
// are members of it, else, where `behind` is true, behind one pointer. `beside` (may be NULL) names
// a second member of the same struct. False without DWARF, or when there is none.
bool extract_symbols_inner(struct extract_symbols *symbols, uint64_t address, const char *member,
                           const char *beside, bool behind, struct extract_inner *inner);

// Offset and size in bytes of a member ("tx_thread_name"; "a.b" reaches into nested structs and
// into anonymous members) of a type named as above.
bool extract_symbols_member(struct extract_symbols *symbols, const char *type, const char *member,
                            uint64_t *offset, uint64_t *size);

// The member at a byte offset of a type: "stack.size" for nested ones, "queue[3].next" for arrays,
// into `buffer` (cut to what fits in whole parts). False when no member covers it. Used to name
// addresses inside objects.
bool extract_symbols_member_at(struct extract_symbols *symbols, const char *type, uint64_t offset,
                               char *buffer, size_t size);

// Opens the ELF file in `bytes`, which are copied, as extract_symbols_open does. `name` is used in
// messages.
enum extract_code extract_symbols_open_bytes(struct extract_symbols **symbols, const char *name,
                                             const void *bytes, size_t length,
                                             struct extract_error *error);

// Source place of a code address, from the line table. False without DWARF or without a row, and
// always in a build without libdw. `file` is relative to the unit's own directory when it lies
// below that. The first call reads the line tables into one sorted table; when memory is short
// then, there are no places from then on.
bool extract_symbols_place(struct extract_symbols *symbols, uint64_t address,
                           struct extract_place *place);

// Copies up to `length` bytes that the ELF file itself holds at a target address (read-only
// allocated sections: code and constants). Returns how many from the start; 0 when it holds none.
// Writable sections are left out, since their run-time content is not in the file.
size_t extract_symbols_read_constant(const struct extract_symbols *symbols, uint64_t address,
                                     void *buffer, size_t length);

// Bytes of a type by its name: "TX_THREAD" (typedef), "struct TX_THREAD_STRUCT" or the bare tag.
// The first call reads which types there are. (Of a name with several definitions the first.) When
// memory runs short, this and the next two have no answers from then on; nor have they any in a
// build without libdw.
bool extract_symbols_type_size(struct extract_symbols *symbols, const char *type, uint64_t *size);

#endif
