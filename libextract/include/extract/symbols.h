// SPDX-License-Identifier: MIT
// What the ELF of the firmware says: names, addresses, lines, types. Read once into sorted tables.
#ifndef EXTRACT_SYMBOLS_H
#define EXTRACT_SYMBOLS_H

#include <extract/error.h>
#include <extract/memory.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct extract_symbols;

// A symbol. `name` belongs to the symbols object and lives as long as it does.
struct extract_symbol {
    const char *name;
    uint64_t address; // Thumb bit cleared
    uint64_t size;    // bytes; 0 when the ELF does not say
    bool function;    // STT_FUNC; else an object or untyped symbol
    bool global;      // false: a local (static) symbol
};

struct extract_place {
    const char *file; // as DWARF names it; belongs to the symbols object
    unsigned line;
};

// Reads the ELF file `path` (ELF32/ELF64, both byte orders, any machine) into memory. Function,
// object and untyped symbols of .symtab (or .dynsym) are sorted once; mapping symbols, temporary
// labels and names with control characters are left out. DWARF is read on the first question that
// needs it; without symbols or DWARF the object works with less.
// Errors: IO, NOMEM, TRUNCATED (a table or section lies behind the end of the file), LIMIT (a file
// of more than 1 GiB), BAD (not an ELF, a core, an object file, or damaged beyond use).
enum extract_code extract_symbols_open(struct extract_symbols **symbols, const char *path,
                                       struct extract_error *error);

void extract_symbols_close(struct extract_symbols *symbols);

enum extract_byte_order extract_symbols_byte_order(const struct extract_symbols *symbols);
unsigned extract_symbols_pointer_bytes(const struct extract_symbols *symbols); // 4 or 8
const char *extract_symbols_path(const struct extract_symbols *symbols);

// Whether the program may be loaded anywhere (ELF type DYN), so that the addresses in its file are
// not yet those of a process.
bool extract_symbols_is_position_independent(const struct extract_symbols *symbols);

// Says where the program was loaded: so that its entry point lies at `entry`. From then on, all
// addresses are those of the process. A program of fixed addresses lies where its file says; so
// does one whose entry point cannot have come there, as it is another program's.
void extract_symbols_move(struct extract_symbols *symbols, uint64_t entry);

// Where that was, as it was told. False: it was not, or the program has fixed addresses.
bool extract_symbols_entry(const struct extract_symbols *symbols, uint64_t *entry);

// The i-th symbol, by its address. False behind the last.
bool extract_symbols_at(const struct extract_symbols *symbols, size_t i,
                        struct extract_symbol *symbol);

// Name to symbol, exact; a global one wins over local ones. False when there is none.
bool extract_symbols_by_name(const struct extract_symbols *symbols, const char *name,
                             struct extract_symbol *symbol);

// Address to symbol: the nearest function or object at or below it that covers it. A symbol of
// size 0 covers up to the next symbol of its section, but takes nothing from a sized one around it;
// an absolute one without a size covers nothing. *offset (may be NULL) is address - symbol
// address. For ARM functions bit 0 of `address` is ignored. Amortized by a last-hit cache in
// *cache (may be NULL; start it at 0). False when nothing covers it.
bool extract_symbols_by_address(const struct extract_symbols *symbols, uint64_t address,
                                struct extract_symbol *symbol, uint64_t *offset, size_t *cache);

// What lies at an address, as one would write it: the symbol that covers it, and behind that, with
// `members`, the member by its name ("server.equeue", "timers[2]") where DWARF tells, else the
// distance ("server+0x10"). Cut to what fits. False when nothing covers it.
bool extract_symbols_describe(struct extract_symbols *symbols, uint64_t address, bool members,
                              char *buffer, size_t size);

// Where a variable, or each element of an array of them, has a member.
struct extract_inner {
    uint64_t count, stride; // elements, and bytes from one to the next
    bool behind;            // the member is in what a pointer of the variable leads to
    uint64_t pointer;       // that pointer's offset in the variable
    uint64_t member, size;  // of the member: its offset in what holds it, and its bytes
    bool has_beside;
    uint64_t beside; // offset of the second member
};

// An enumeration of the firmware's source, as DWARF tells it.
struct extract_enum {
    const char *name;    // its tag, or else that of a typedef; "" when it has neither
    size_t first, count; // of its enumerators; `first` is for extract_symbols_enumerator
};

typedef void extract_value_taker(void *context, uint64_t value);

// The i-th span of memory that the program writes to, as its sections say: variables and what else
// the linker has laid out, not all of the RAM that the board has. False behind the last.
bool extract_symbols_writable(const struct extract_symbols *symbols, size_t index,
                              struct extract_region *region);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
