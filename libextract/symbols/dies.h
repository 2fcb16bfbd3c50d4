// SPDX-License-Identifier: MIT
// symbols: shared by the files that read types: DWARF entries (DIEs), and queries about types.
//
// extract_types_ask finds a type and calls a function to answer the query. Both spend steps from
// the budget of the query, which ends it if the DWARF is hostile.
#ifndef EXTRACT_SYMBOLS_DIES_H
#define EXTRACT_SYMBOLS_DIES_H

#include "dwarf.h"

// Chains of typedefs and qualifiers, and nested structs, longer than this are cyclic or hostile.
#define TYPE_DEPTH_MAX 32
// What one question may cost: far above honest input.
#define STEPS_OF_A_QUESTION (1u << 26)

// An entry: its shape, and those of its attributes that say something about types.
struct die {
    const struct elf_file *file;
    Dwarf_Die die;
    int tag;
    const char *name;           // NULL without one, or when it holds control characters
    Dwarf_Attribute type;       // its form is 0 when there is none
    Dwarf_Attribute definition; // of a declaration: leads to a type unit
    Dwarf_Attribute declared;   // of a definition: leads to its declaration
    uint64_t address;           // of a variable that is placed
    uint64_t size;
    uint64_t location; // offset of a member
    uint64_t count;    // of a subrange
    int64_t value;     // of an enumerator, where `valued`
    bool sized;
    bool valued;
    bool bitfield;
    bool declaration;
    bool placed;
};

struct type_entry {
    const char *name;
    Dwarf_Die die;
    int tag;
};

struct placed_entry {
    uint64_t address; // first: see room_count_up_to
    Dwarf_Die die;
};

// A question under way, or the building of the index: what it may still cost, about in bytes of
// .debug_info. No question about honest input comes near it.
struct asking {
    struct extract_dwarf *dwarf;
    const struct type_index *index;
    uint64_t steps;
};

// Spends steps; false when none are left.
bool extract_die_spend(struct asking *asking, uint64_t steps);

// Reads the attributes of an entry. False at damage.
bool extract_die_read(struct asking *asking, const Dwarf_Die *at, struct die *die);

// Moves to the first child, and to the next sibling. False when there is none.
bool extract_die_child(struct asking *asking, const Dwarf_Die *parent, struct die *child);
bool extract_die_sibling(struct asking *asking, struct die *die);

bool extract_die_is_struct(const struct die *die);

// The type that an entry has; a declaration leads to its definition, by its tag.
bool extract_types_of(struct asking *asking, const struct die *die, struct die *type);

// Bytes of a type; false when DWARF does not say.
bool extract_types_size(struct asking *asking, const struct die *type, uint64_t *size);

// The element type of an array and how many elements it has, over all of its dimensions (0: DWARF
// does not say). False for anything else.
bool extract_types_array(struct asking *asking, const struct die *type, struct die *element,
                         uint64_t *total);

// A question about a type: its name, what is asked of it, and how it goes on.
struct type_question {
    const char *type; // NULL: that of the variable at `address`
    uint64_t address;
    bool (*answer)(struct asking *asking, const struct die *type, struct type_question *question);
    const char *member, *beside;
    uint64_t offset, size;
    bool behind; // pointers, too
    struct extract_inner *inner;
    char *buffer;
    size_t buffer_size;
    struct asking asking; // set by extract_types_ask
};

// The DWARF of the ELF, whose types are indexed on the first call. NULL: there is none.
struct extract_dwarf *extract_types_dwarf(struct extract_symbols *symbols);

// Finds the type and has the question answered. The index is built on the first one.
bool extract_types_ask(struct extract_symbols *symbols, struct type_question *question);

#endif
