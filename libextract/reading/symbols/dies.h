// SPDX-License-Identifier: MIT
// symbols: shared by the files that read types: DWARF entries (DIEs), and queries about types.
//
// extract_types_query finds a type and calls a function to answer the query. Both spend steps from
// the budget of the query, which ends it if the DWARF is hostile.
#ifndef EXTRACT_SYMBOLS_DIES_H
#define EXTRACT_SYMBOLS_DIES_H

#include "dwarf.h"

// Limit for chains of typedefs and qualifiers, and for nested structs. Longer ones are cyclic or
// hostile.
#define TYPE_DEPTH_MAX 32
// Budget of one query, in steps: far above what honest input needs.
#define STEPS_OF_A_QUESTION (1u << 26)

// A DWARF entry, with the attributes that matter for types.
struct die {
    const struct elf_file *file;
    Dwarf_Die die;
    int tag;
    const char *name;           // NULL if it has none, or one with control characters
    Dwarf_Attribute type;       // form 0 if the entry has no type
    Dwarf_Attribute definition; // in a declaration: reference to a type unit
    Dwarf_Attribute declared;   // in a definition: reference to its declaration
    uint64_t address;           // address of a variable, if `placed`
    uint64_t size;              // size in bytes, if `sized`
    uint64_t location;          // offset of a member in bytes
    uint64_t count;             // number of elements of a subrange; 0 if unknown
    int64_t value;              // value of an enumerator, if `valued`
    bool sized;                 // DWARF gives the size
    bool valued;                // DWARF gives the value of the enumerator
    bool bitfield;              // the member is a bit-field
    bool declaration;           // the type is declared here, but defined elsewhere
    bool placed;                // the variable has a fixed address
};

// A named type of the index.
struct type_entry {
    const char *name;
    Dwarf_Die die;
    int tag;
};

// A variable with a fixed address.
struct placed_entry {
    uint64_t address; // must be the first field: see base/keys.h
    Dwarf_Die die;
};

// A query in progress, or the building of the index, with the steps that it has left. A step is
// about one byte of .debug_info.
struct query {
    struct extract_dwarf *dwarf;
    const struct type_index *index;
    uint64_t steps; // steps left
};

// Spends `steps` of the budget. Returns false, and sets the budget to 0, if fewer are left.
bool extract_die_spend(struct query *query, uint64_t steps);

// Reads the attributes of an entry. Returns false if the entry is damaged or the budget is spent.
bool extract_die_read(struct query *query, const Dwarf_Die *at, struct die *die);

// Reads the first child of an entry, or replaces an entry with its next sibling. Returns false
// after the last one, at damage, and if the budget is spent.
bool extract_die_child(struct query *query, const Dwarf_Die *parent, struct die *child);
bool extract_die_sibling(struct query *query, struct die *die);

// Replaces an entry with its next sibling, without reading it. Returns false as above.
bool extract_die_next(struct query *query, Dwarf_Die *at);

// Returns true for a struct, class or union.
bool extract_die_is_struct(const struct die *die);

// Gets the type of an entry, without typedefs and qualifiers. A declaration is replaced with the
// definition of the same name and tag. Returns false if there is no type, or at damage.
bool extract_types_of(struct query *query, const struct die *die, struct die *type);

// Gets the size of a type in bytes. Returns false if DWARF does not give it.
bool extract_types_size(struct query *query, const struct die *type, uint64_t *size);

// Gets the element type of an array, and its number of elements over all dimensions (0 if DWARF
// does not give it). Returns false for any other type.
bool extract_types_array(struct query *query, const struct die *type, struct die *element,
                         uint64_t *total);

// A query about a type. The fields after `answer` are its arguments and results; each `answer` uses
// some of them.
struct type_question {
    const char *type; // name of the type; NULL for the type of the variable at `address`
    uint64_t address; // address in the ELF file
    bool (*answer)(struct query *query, const struct die *type, struct type_question *question);
    const char *member, *second;
    uint64_t offset, size;
    bool is_indirect; // search also in the targets of pointers
    struct extract_inner *inner;
    char *buffer;
    size_t buffer_size;
    struct query query; // set by extract_types_query
};

// Returns the DWARF of the ELF file, and builds the index of types on the first call. Returns NULL
// if there is no DWARF, or if memory ran out.
struct extract_dwarf *extract_types_dwarf(struct extract_symbols *symbols);

// Finds the type of the query and calls `answer`. Returns false if the type is not found, or what
// `answer` returns. The first query builds the index.
bool extract_types_query(struct extract_symbols *symbols, struct type_question *question);

#endif
