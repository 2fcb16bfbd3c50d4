// SPDX-License-Identifier: MIT
// symbols: makes libdw safe to call inside a debugger, and declares the lookups that need DWARF.
//
// If memory runs out, libdw ends the process, unless its handler jumps out of the call. Therefore
// every call goes through extract_dwarf_run, which sets up that jump. libdw also has no limits of
// its own. Whatever hostile DWARF could use to keep it busy forever is therefore checked once, when
// the DWARF is opened.
#ifndef EXTRACT_SYMBOLS_DWARF_H
#define EXTRACT_SYMBOLS_DWARF_H

#include "symbols_room.h"
#include <dwarf.h>
#include <elfutils/libdw.h>

// A line table in .debug_line.
struct line_start {
    uint64_t offset; // offset in .debug_line; must be the first field: see base/keys.h
    bool taken;      // true after the table was read
};

struct extract_dwarf {
    Dwarf *dw;
    const struct elf_file *file;
    uint64_t largest;          // size of the largest unit in bytes
    struct line_start *tables; // line tables that libdw may read, by offset
    size_t table_count;
    size_t table_capacity;
};

// Opens the DWARF of a file. `zero_is_code`: a function starts at address 0. Returns NULL
// if the file has no DWARF, if its DWARF needs other files or exceeds the limits, or if memory runs
// out. The file must outlive the result.
struct extract_dwarf *extract_dwarf_open(const struct elf_file *file, bool zero_is_code);
void extract_dwarf_close(struct extract_dwarf *dwarf);

// Calls `work`, and returns what it returns. libdw may be called only inside `work`. If libdw runs
// out of memory, `work` is abandoned at that call, *dwarf is closed and set to NULL, and the result
// is false. Therefore `work` must keep whatever it allocates in `context`.
bool extract_dwarf_run(struct extract_dwarf **dwarf, bool (*work)(void *context), void *context);

// Returns the bytes that libdw uses for the debug section of that name. Returns NULL if there is no
// such section, or more than one.
Elf_Data *extract_dwarf_data(const struct elf_file *file, const char *name);

// Reads an unsigned LEB128 number (DWARF 5, section 7.6). Bits above 63 are dropped.
uint64_t extract_dwarf_uleb(struct extract_cursor *c);

// Finds the line tables that libdw may read, and prepares them (see tables.c). Returns false if
// memory runs out.
bool extract_dwarf_tables(struct extract_dwarf *dwarf, bool zero_is_code);

// Calls `take` with each value that constants of the program have in the typedef of an integer
// named `type`. The values are in variables, in members of structs, and in members of array
// elements. Without DWARF, or in a build without libdw, `take` is not called.
void extract_symbols_constants(struct extract_symbols *symbols, const char *type,
                               extract_value_taker *take, void *context);

// Return e_machine and e_flags of the ELF file.
uint16_t extract_symbols_machine(const struct extract_symbols *symbols);
uint32_t extract_symbols_flags(const struct extract_symbols *symbols);
// Returns whether a loader adds shared libraries to the program (PT_INTERP): not all of its code is
// in the ELF file.
bool extract_symbols_has_libraries(const struct extract_symbols *symbols);

// Returns what to do to have the debug information, if the file shows that it is in another file or
// in a form that is not read; NULL: the file does not show that.
const char *extract_symbols_debug_hint(const struct extract_symbols *symbols);

// Finds the build id: its address in the memory of the program, and its bytes, of which at most
// `size` are copied. Returns how many there are; 0: the program has none.
size_t extract_symbols_build_id(const struct extract_symbols *symbols, uint64_t *address,
                                uint8_t *bytes, size_t size);

// Returns whether the program is one for Arm's M-profile, by its build attributes.
bool extract_symbols_is_m_profile(const struct extract_symbols *symbols);

// Returns the number of symbols.
size_t extract_symbols_count(const struct extract_symbols *symbols);

// Gets the enumeration of index `i`. An enumeration that several units include counts once. The
// first call reads all of them. Returns false after the last one, without DWARF, if memory runs
// out, and in a build without libdw. The names belong to the symbols object.
bool extract_symbols_enum(struct extract_symbols *symbols, size_t i,
                          struct extract_enum *enumeration);

// Gets the enumerator of index `i` of an enumeration. Returns false after the last one.
bool extract_symbols_enumerator(struct extract_symbols *symbols,
                                const struct extract_enum *enumeration, size_t i, const char **name,
                                int64_t *value);

// Returns true if the constants of the ELF file contain a text with its NUL. It may be the end of a
// longer text, since linkers merge the two.
bool extract_symbols_has_text(const struct extract_symbols *symbols, const char *text);

// Finds the member named `member` in the variable at an address. The search covers the struct of
// the variable and the structs in it. If it fails and `is_indirect` is true, the targets of the
// pointers in these structs are searched. `second` (may be NULL) names a second member of the same
// struct. Returns false without DWARF, or if no such member exists.
bool extract_symbols_inner(struct extract_symbols *symbols, uint64_t address, const char *member,
                           const char *second, bool is_indirect, struct extract_inner *inner);

// Gets the offset and size in bytes of a member of a type. The path "a.b" is a member of a nested
// struct; members of anonymous structs are found without a prefix. The type is named as in
// extract_symbols_type_size. Returns false if the type or the member is not found.
bool extract_symbols_member(struct extract_symbols *symbols, const char *type, const char *member,
                            uint64_t *offset, uint64_t *size);

// Writes the path of the member at an offset of a type in bytes: "stack.size" for a nested struct,
// "queue[3].next" for an array. If the path does not fit into `size` bytes, its last parts are left
// out. Returns false if no member covers the offset.
bool extract_symbols_member_at(struct extract_symbols *symbols, const char *type, uint64_t offset,
                               char *buffer, size_t size);

// Opens an ELF file from its bytes, which are copied. `name` appears in messages. Errors and
// ownership are those of extract_symbols_open.
enum extract_code extract_symbols_open_bytes(struct extract_symbols **symbols, const char *name,
                                             const void *bytes, size_t length,
                                             struct extract_error *error);

// Finds the source place of a code address. A file in the directory of its unit, or below it, is
// given relative to that. The first call reads all line tables; if memory runs out then, this and
// all later calls return false. Returns false if no row covers the address, without DWARF, and in a
// build without libdw.
bool extract_symbols_place(struct extract_symbols *symbols, uint64_t address,
                           struct extract_place *place);

// The registers of a frame of a stack, by their numbers in DWARF.
enum { EXTRACT_UNWOUND = 34 };
struct extract_unwound {
    uint64_t known; // bit i: value[i] is known
    uint64_t value[EXTRACT_UNWOUND];
    uint64_t pc;
    bool is_interrupted; // pc is not a return address: the frame before is one of a signal
};
// Reads a number of the target's memory.
struct extract_unwind_memory {
    bool (*read)(void *context, uint64_t address, unsigned bytes, uint64_t *value);
    void *context;
};

// Replaces a frame by that of its caller. `sp`: number of the stack pointer; `is_first`: pc is not
// a return address. Returns false at the end of the stack, if the file has no rules for pc, and in
// a build without libdw.
bool extract_symbols_caller(struct extract_symbols *symbols,
                            const struct extract_unwind_memory *memory, unsigned sp, bool is_first,
                            struct extract_unwound *frame);

// Returns whether the rules for an address are those of the frame of a signal. A handler returns to
// the first instruction of such code, before which there is no call. In a build without libdw, it
// does not.
bool extract_symbols_is_signal_frame(struct extract_symbols *symbols, uint64_t address);

// Gets the address of the program's first instruction. Returns false if the file states none.
bool extract_symbols_start(const struct extract_symbols *symbols, uint64_t *start);

// Copies up to `length` bytes at a target address from the ELF file, out of its code and constants
// (read-only allocated sections). Returns the number of bytes copied, or 0 if the file has none
// there. Writable sections are not used, since their content at run time is not in the file.
size_t extract_symbols_read_constant(const struct extract_symbols *symbols, uint64_t address,
                                     void *buffer, size_t length);
// The same, also out of writable sections: for members that keep what the program starts with.
size_t extract_symbols_read_initial(const struct extract_symbols *symbols, uint64_t address,
                                    void *buffer, size_t length);
// Returns whether the program cannot change what is at an address: it is in a read-only section, or
// in one that a loader makes read-only.
bool extract_symbols_is_constant(const struct extract_symbols *symbols, uint64_t address);

// Gets the size in bytes of a type by its name: "TX_THREAD" (a typedef), "struct TX_THREAD_STRUCT"
// or the bare tag. If a name has several definitions, the first counts. The first call builds the
// index of types. If memory runs out, all lookups of types and members fail from then on, as they
// do in a build without libdw.
bool extract_symbols_type_size(struct extract_symbols *symbols, const char *type, uint64_t *size);

#endif
