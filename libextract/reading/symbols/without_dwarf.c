// SPDX-License-Identifier: MIT
// symbols: replaces the DWARF lookups in a build without libdw.
//
// Every lookup of lines, types, members, enumerations and constants finds nothing.
#ifndef EXTRACT_HAVE_DW
#include "symbols_room.h"
#include "symbols/dwarf.h"

void extract_lines_free(struct line_table *lines)
{
    (void)lines;
}

void extract_types_free(struct type_index *types)
{
    (void)types;
}

void extract_enums_free(struct enum_table *enums)
{
    (void)enums;
}

bool extract_symbols_enum(struct extract_symbols *symbols, size_t i, struct extract_enum *found)
{
    (void)symbols, (void)i, (void)found;
    return false;
}

bool extract_symbols_enumerator(struct extract_symbols *symbols, const struct extract_enum *of,
                                size_t i, const char **name, int64_t *value)
{
    (void)symbols, (void)of, (void)i, (void)name, (void)value;
    return false;
}

void extract_symbols_constants(struct extract_symbols *symbols, const char *type,
                               extract_value_taker *take, void *context)
{
    (void)symbols, (void)type, (void)take, (void)context;
}

bool extract_symbols_place(struct extract_symbols *symbols, uint64_t address,
                           struct extract_place *place)
{
    (void)symbols, (void)address, (void)place;
    return false;
}

bool extract_symbols_type_size(struct extract_symbols *symbols, const char *type, uint64_t *size)
{
    (void)symbols, (void)type, (void)size;
    return false;
}

bool extract_symbols_member(struct extract_symbols *symbols, const char *type, const char *member,
                            uint64_t *offset, uint64_t *size)
{
    (void)symbols, (void)type, (void)member, (void)offset, (void)size;
    return false;
}

bool extract_symbols_member_at(struct extract_symbols *symbols, const char *type, uint64_t offset,
                               char *buffer, size_t size)
{
    (void)symbols, (void)type, (void)offset;
    if (size)
        *buffer = 0;
    return false;
}

bool extract_symbols_variable_member(struct extract_symbols *symbols, uint64_t address,
                                     uint64_t offset, char *buffer, size_t size)
{
    (void)symbols, (void)address, (void)offset;
    if (size)
        *buffer = 0;
    return false;
}

bool extract_symbols_inner(struct extract_symbols *symbols, uint64_t address, const char *member,
                           const char *second, bool is_indirect, struct extract_inner *inner)
{
    (void)symbols, (void)address, (void)member, (void)second, (void)is_indirect, (void)inner;
    return false;
}

bool extract_symbols_is_signal_frame(struct extract_symbols *symbols, uint64_t address)
{
    (void)symbols;
    (void)address;
    return false;
}

bool extract_symbols_caller(struct extract_symbols *symbols,
                            const struct extract_unwind_memory *memory, unsigned sp, bool is_first,
                            struct extract_unwound *frame)
{
    (void)symbols, (void)memory, (void)sp, (void)is_first, (void)frame;
    return false;
}
#endif
