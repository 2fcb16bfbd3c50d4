// SPDX-License-Identifier: MIT
// symbols: prepares the line tables of .debug_line before libdw reads them.
//
// A linker that drops functions (--gc-sections) leaves their line sequences at address 0. On a
// Cortex-M, real code is there too. libdw sorts the rows of a table across its sequences, after
// which they cannot be separated. Therefore this file first moves the sequences of dropped
// functions to an address without code, by changing .debug_line in memory. Only the first sequence
// at address 0 stays, and only if a function starts there. The file also records the offset of each
// table that libdw may read, and truncates overlong paths. Standard: DWARF 5, section 6.2 "Line
// Number Information" (versions 2 to 5).
#ifdef EXTRACT_HAVE_DW
#include "dwarf.h"

#define HEADER_MAX 65536u // bytes of the lists of directories and files of a table
#define MAX_STRING 4096u  // PATH_MAX: no file has a longer path

// The state of the walk through .debug_line.
struct walk {
    uint8_t *bytes;
    struct extract_cursor c; // position in the current table, and its end
    bool zero_is_code;       // the next sequence at address 0 is that of a function
    bool at_zero;            // inside that sequence
    uint8_t first;           // first special opcode
    const uint8_t *lengths;  // number of operands of each opcode below `first`
};

// Truncates the strings of a section. libdw joins the name of each file with that of its directory.
// Both may be stored once and used often, so that only their length limits the memory for the
// result.
static void cut_strings(const struct elf_file *file, const char *section)
{
    Elf_Data *data = extract_dwarf_data(file, section);

    if (data && data->d_buf)
        extract_elf_cut(data->d_buf, data->d_size, MAX_STRING);
}

// Reads an extended opcode (6.2.5.3), and moves a sequence at address 0 away if it is not code.
static void read_extended(struct walk *w)
{
    const uint64_t length = extract_dwarf_uleb(&w->c);
    struct extract_cursor operand = w->c;

    if (!extract_cursor_span(&w->c, length) || !length)
        return;
    uint8_t opcode = extract_cursor_u8(&operand);
    if (opcode == DW_LNE_end_sequence) {
        w->zero_is_code &= !w->at_zero;
        w->at_zero = false;
    }
    if (opcode != DW_LNE_set_address || (length != 5 && length != 9))
        return;
    uint8_t *address = w->bytes + operand.at;
    bool zero = extract_cursor_word(&operand, (unsigned)length - 1) == 0;
    w->at_zero |= zero && w->zero_is_code;
    // The new address is the same in both byte orders, and no machine has code there.
    if (zero && !w->at_zero)
        memset(address, length == 5 ? 0xff : 0x80, (size_t)length - 1);
}

static void read_opcodes(struct walk *w)
{
    while (extract_cursor_left(&w->c) && !w->c.failed) {
        uint8_t opcode = extract_cursor_u8(&w->c);
        if (opcode >= w->first)
            continue;
        if (opcode == 0)
            read_extended(w);
        else if (opcode == DW_LNS_fixed_advance_pc)
            extract_cursor_u16(&w->c);
        else
            for (unsigned n = w->lengths[opcode - 1]; n; n--)
                extract_dwarf_uleb(&w->c);
    }
    w->at_zero = false;
}

// Reads the initial length of a unit (7.5.1): gets its end, and whether its offsets have 4 or 8
// bytes. Returns false if the unit does not end inside the section.
static bool read_length(struct extract_cursor *c, uint64_t *end, unsigned *offset_bytes)
{
    uint64_t length = extract_cursor_u32(c);

    *offset_bytes = 4;
    if (length == UINT32_MAX) {
        *offset_bytes = 8;
        length = extract_cursor_u64(c);
    }
    if (c->failed || length > extract_cursor_left(c))
        return false;
    *end = c->at + length;
    return true;
}

// Reads the header of a table (6.2.4), and moves to the start of its program. Returns false if the
// header is unsupported or damaged.
static bool read_header(struct walk *w, unsigned offset_bytes)
{
    struct extract_cursor *c = &w->c;
    unsigned version = extract_cursor_u16(c);

    if (version >= 5)
        extract_cursor_u16(c); // address_size, segment_selector_size
    uint64_t length = extract_cursor_word(c, offset_bytes);
    uint64_t program = c->at + length;
    // minimum_instruction_length, maximum_operations, default_is_stmt, line_base, line_range
    extract_cursor_span(c, version >= 4 ? 5 : 4);
    w->first = extract_cursor_u8(c);
    w->lengths = extract_cursor_span(c, (uint64_t)w->first - 1);
    return version >= 2 && version <= 5 && length <= HEADER_MAX && !c->failed &&
           extract_cursor_seek(c, program);
}

bool extract_dwarf_tables(struct extract_dwarf *dwarf, bool zero_is_code)
{
    Elf_Data *data = extract_dwarf_data(dwarf->file, ".debug_line");
    struct walk w = {.zero_is_code = zero_is_code};
    unsigned offset_bytes;
    uint64_t end;

    if (!data || !data->d_buf)
        return true;
    cut_strings(dwarf->file, ".debug_str");
    cut_strings(dwarf->file, ".debug_line_str");
    w.bytes = data->d_buf;
    struct extract_cursor c = extract_cursor_make(w.bytes, data->d_size, dwarf->file->order);
    for (uint64_t at = 0; read_length(&c, &end, &offset_bytes); at = end) {
        w.c = c;
        w.c.length = (size_t)end;
        extract_cursor_seek(&c, end);
        if (!read_header(&w, offset_bytes))
            continue;
        void *grown = extract_grow(dwarf->tables, &dwarf->table_capacity, dwarf->table_count,
                                   sizeof *dwarf->tables);
        if (!grown)
            return false;
        dwarf->tables = grown;
        dwarf->tables[dwarf->table_count++] = (struct line_start){at, false};
        read_opcodes(&w);
    }
    return true;
}
#endif
