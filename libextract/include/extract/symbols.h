// SPDX-License-Identifier: MIT
// Symbols, source lines and types from the ELF file of the firmware.
//
// A caller opens the ELF file once and then looks up symbols by name or by address. The symbols are
// sorted when the file is opened; the debug information (DWARF) is read on the first lookup that
// needs it.
#ifndef EXTRACT_SYMBOLS_H
#define EXTRACT_SYMBOLS_H

#include <extract/error.h>
#include <extract/memory.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct extract_symbols;

// A symbol. `name` belongs to the symbols object and is valid until that is closed.
struct extract_symbol {
    const char *name;
    uint64_t address; // target address, with the Thumb bit cleared
    uint64_t size;    // size in bytes; 0 if the ELF file gives none
    bool function;    // code: a function, or a label without a type in a section of code
    bool global;      // true for a global or weak symbol; false for a local (static) one
    bool is_thumb;    // Arm: the function is Thumb code
};

// A place in the source.
struct extract_place {
    const char *file; // path as DWARF gives it; belongs to the symbols object
    unsigned line;    // line number, from 1
};

// Reads the ELF file `path` (ELF32/ELF64, both byte orders, any machine) into memory. Function,
// object and untyped symbols of .symtab (or .dynsym) are sorted once; mapping symbols, temporary
// labels and names with control characters are left out. If the file has no symbols or no DWARF,
// opening succeeds, and the lookups that need them return false. The caller frees *symbols with
// extract_symbols_close; it is NULL after an error.
// Errors: IO, NOMEM, TRUNCATED (a table or section extends past the end of the file), LIMIT (the
// file is larger than 1 GiB), BAD (not an ELF file, a core file, an object file, or too damaged).
enum extract_code extract_symbols_open(struct extract_symbols **symbols, const char *path,
                                       struct extract_error *error);

// Closes the object, which may be NULL, and frees every name that came from it.
void extract_symbols_close(struct extract_symbols *symbols);

// Returns the byte order of the target.
enum extract_byte_order extract_symbols_byte_order(const struct extract_symbols *symbols);

// Returns the size of a pointer of the target in bytes: 4 or 8.
unsigned extract_symbols_pointer_bytes(const struct extract_symbols *symbols);

// Returns the path or name that the object was opened with. The object owns it.
const char *extract_symbols_path(const struct extract_symbols *symbols);

// Returns true if the program can be loaded at any address (ELF type DYN). The addresses in its
// file are then not those of a process.
bool extract_symbols_is_position_independent(const struct extract_symbols *symbols);

// Moves all addresses to where the program was loaded, with its entry point at `entry`. From then
// on, addresses that go in or come out are those of the process. The call has no effect if the
// program has fixed addresses, or if no loader can have moved the entry point of this program to
// `entry`.
void extract_symbols_move(struct extract_symbols *symbols, uint64_t entry);

// Gets the entry point that extract_symbols_move accepted. Returns false if there was none.
bool extract_symbols_entry(const struct extract_symbols *symbols, uint64_t *entry);

// Gets the symbol of index `i`, in the order of addresses. Returns false after the last one.
bool extract_symbols_at(const struct extract_symbols *symbols, size_t i,
                        struct extract_symbol *symbol);

// Finds the symbol with exactly that name. A global symbol takes precedence over a weak one, and
// both over local ones. Returns false if no symbol has the name.
bool extract_symbols_by_name(const struct extract_symbols *symbols, const char *name,
                             struct extract_symbol *symbol);

// Finds the symbol that covers an address: the one with the nearest start at or below it. A symbol
// of size 0 extends to the next symbol of its section, but never covers a part of a sized symbol
// around it. An absolute symbol without a size covers nothing. For Arm functions, bit 0 of
// `address` is ignored. *offset (may be NULL) is the distance from the symbol in bytes. *cache (may
// be NULL) starts at 0 and speeds up lookups of nearby addresses. Returns false if no symbol covers
// the address.
bool extract_symbols_by_address(const struct extract_symbols *symbols, uint64_t address,
                                struct extract_symbol *symbol, uint64_t *offset, size_t *cache);

// Writes an address as source code would: the symbol that covers it, followed by what is at the
// offset. With `members`, this is the member or element that DWARF gives ("server.equeue",
// "timers[2]"); otherwise, or if DWARF gives none, it is the distance ("server+0x10"). The text is
// truncated to `size` bytes with its NUL. Returns false if no symbol covers the address.
bool extract_symbols_describe(struct extract_symbols *symbols, uint64_t address, bool members,
                              char *buffer, size_t size);

// The position of a member in a variable, or in each element of an array. All numbers are in bytes.
struct extract_inner {
    uint64_t count, stride; // number of elements (1 if not an array), distance between elements
    bool is_indirect;       // true if a pointer of the element leads to the struct of the member
    uint64_t pointer;       // offset of that pointer in the element; of use only with `is_indirect`
    uint64_t member, size;  // offset of the member in the element or in the pointer's target; size
    bool has_second;        // true if the second member was found in the same struct
    uint64_t second;        // offset of the second member, counted as `member` is
};

// An enumeration in the source of the firmware, as described by DWARF.
struct extract_enum {
    const char *name;    // tag; without one, the name of a typedef; "" if it has neither
    size_t first, count; // index of the first enumerator (internal), and number of enumerators
};

// Receives one value. `context` is the pointer that came with the function.
typedef void extract_value_taker(void *context, uint64_t value);

// Gets the writable memory of index `index`, from the section table: variables and whatever else
// the linker has placed, but not all of the RAM of the board. Returns false after the last one.
bool extract_symbols_writable(const struct extract_symbols *symbols, size_t index,
                              struct extract_region *region);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
