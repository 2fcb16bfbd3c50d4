// SPDX-License-Identifier: MIT
// symbols: finds the source line of an address.
//
// The first lookup reads all line tables through libdw, each once, and merges their rows into one
// array that is sorted by address. Later lookups search only that array. Rows outside the code
// sections are ignored: tables.c has moved the rows of dropped functions there. Inside a trace
// point that was expanded in place, the place of the call counts, not that of the row (inlined.c).
// Standard: DWARF 5, section 6.2 "Line Number Information" (versions 2 to 5).
#ifdef EXTRACT_HAVE_DW
#include "inlined.h"
#include "symbols/dwarf.h"

#define PATH_LONGEST 4096u      // PATH_MAX: no file has a longer path
#define CALLS_STEPS  (1u << 28) // steps for finding calls: one is about a byte of .debug_info
#define NAMES_MAX    (1u << 28) // bytes of file names that libdw may hold

// A row of a line table, before sorting.
struct row {
    uint64_t address;
    uint32_t file;
    uint32_t line;
    uint32_t order;
    bool end; // true if the row ends a sequence
};

struct span {
    uint64_t start; // must be the first field: see base/keys.h
    uint64_t end;
};

// The current line table.
struct unit_lines {
    Dwarf_Lines *lines;
    Dwarf_Files *files;
    size_t line_count;
    size_t file_count;
    const char *directory; // directory of the unit; may be NULL
};

struct building {
    const struct extract_symbols *symbols;
    struct extract_dwarf *dwarf;
    struct extract_text names;
    uint32_t *name_of;   // per file of the current table: offset into names, 0 if not yet read
    uint64_t names_left; // bytes that the file names of libdw may still use
    struct row *rows;
    size_t row_count;
    size_t row_capacity;
    struct span *code; // code sections, by address
    size_t code_count;
    struct inlined_call *calls;
    size_t call_count;
    size_t call_capacity;
    struct inlined_walk walk; // finds the calls
    const struct unit_lines *unit;
};

static int by_start(const void *left, const void *right)
{
    uint64_t a = ((const struct span *)left)->start, b = ((const struct span *)right)->start;

    return (a > b) - (a < b);
}

// Collects the code sections.
static bool find_code(struct building *b, const struct elf_file *file)
{
    const uint64_t wanted = SHF_ALLOC | SHF_EXECINSTR;

    b->code = malloc(((size_t)file->section_count + 1) * sizeof *b->code);
    if (!b->code)
        return false;
    for (uint32_t i = 0; i < file->section_count; i++) {
        const struct elf_section *s = &file->sections[i];
        if ((s->flags & wanted) == wanted && s->size && s->address + s->size > s->address)
            b->code[b->code_count++] = (struct span){s->address, s->address + s->size};
    }
    qsort(b->code, b->code_count, sizeof *b->code, by_start);
    return true;
}

static bool is_code(const struct building *b, uint64_t address)
{
    size_t n = extract_keys_count_up_to(b->code, b->code_count, sizeof *b->code, address);

    return n > 0 && address < b->code[n - 1].end;
}

// Stores the name of a file and returns its offset, or 0 if the name is unusable. If DWARF gives a
// relative name, libdw prepends the directory of the unit, which is removed here.
static uint32_t put_name(struct building *b, const struct unit_lines *u, const char *name)
{
    size_t length = u->directory ? strlen(u->directory) : 0;
    uint32_t at = (uint32_t)b->names.used;

    if (length && strncmp(name, u->directory, length) == 0 && name[length] == '/')
        name += length + 1;
    if (!*name || strlen(name) >= PATH_LONGEST || !extract_elf_clean(name))
        return 0;
    extract_text_puts(&b->names, name);
    extract_text_putc(&b->names, 0);
    return at;
}

static uint32_t file_name(struct building *b, const struct unit_lines *u, uint64_t index)
{
    const char *name;

    if (index >= u->file_count)
        return 0;
    if (!b->name_of[index] && (name = dwarf_filesrc(u->files, index, NULL, NULL)))
        b->name_of[index] = put_name(b, u, name);
    return b->name_of[index];
}

static bool put_row(struct building *b, const struct unit_lines *u, Dwarf_Line *line)
{
    struct row row = {.order = (uint32_t)b->row_count};
    Dwarf_Files *files;
    size_t file;
    int number;

    if (dwarf_lineaddr(line, &row.address) != 0 || dwarf_lineendsequence(line, &row.end) != 0 ||
        dwarf_lineno(line, &number) != 0)
        return true;
    if (!is_code(b, row.end ? row.address - 1 : row.address))
        return true;
    if (!row.end) {
        row.line = number > 0 ? (uint32_t)number : 0;
        row.file = dwarf_line_file(line, &files, &file) == 0 ? file_name(b, u, file) : 0;
    }
    void *grown = b->row_count < UINT32_MAX
                      ? extract_grow(b->rows, &b->row_capacity, b->row_count, sizeof row)
                      : NULL;
    if (!grown)
        return false;
    b->rows = grown;
    b->rows[b->row_count++] = row;
    return true;
}

static bool put_rows(struct building *b, const struct unit_lines *u)
{
    for (size_t i = 0; i < u->file_count; i++) {
        const char *name = dwarf_filesrc(u->files, i, NULL, NULL);
        size_t length = name ? strlen(name) : 0;
        if (length > b->names_left)
            return false;
        b->names_left -= length;
    }
    free(b->name_of);
    b->name_of = calloc(u->file_count + 1, sizeof *b->name_of);
    if (!b->name_of)
        return false;
    for (size_t i = 0; i < u->line_count; i++)
        if (!put_row(b, u, dwarf_onesrcline(u->lines, i)))
            return false;
    return true;
}

static bool take_call(void *context, uint64_t start, uint64_t end, uint64_t file, uint64_t line)
{
    struct building *b = context;
    struct inlined_call call = {start, end, {file_name(b, b->unit, file), (uint32_t)line}};

    if (!is_code(b, start) || !call.place.file || !line || line > UINT32_MAX)
        return true;
    void *grown = extract_grow(b->calls, &b->call_capacity, b->call_count, sizeof call);
    if (!grown)
        return false;
    b->calls = grown;
    b->calls[b->call_count++] = call;
    return true;
}

// Returns true, and marks the table as read, if the offset has a table that was not read yet.
static bool read_table(struct extract_dwarf *d, uint64_t offset)
{
    size_t n = extract_keys_count_up_to(d->tables, d->table_count, sizeof *d->tables, offset);

    if (!n || d->tables[n - 1].offset != offset || d->tables[n - 1].taken)
        return false;
    return d->tables[n - 1].taken = true;
}

static bool read_unit(struct building *b, Dwarf_Die *unit)
{
    struct unit_lines u = {0};
    Dwarf_Attribute attribute;
    Dwarf_Word offset;

    // A unit of a type shares the table of a unit with code.
    if (dwarf_tag(unit) == DW_TAG_type_unit ||
        dwarf_formudata(dwarf_attr(unit, DW_AT_stmt_list, &attribute), &offset) != 0 ||
        !read_table(b->dwarf, offset) || dwarf_getsrclines(unit, &u.lines, &u.line_count) != 0 ||
        dwarf_getsrcfiles(unit, &u.files, &u.file_count) != 0)
        return true;
    u.directory = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    b->unit = &u;
    return put_rows(b, &u) && extract_inlined_read(&b->walk, unit);
}

static bool read_units(void *context)
{
    struct building *b = context;
    Dwarf_CU *cu = NULL;
    Dwarf_Die unit;

    extract_text_putc(&b->names, 0); // offset 0: no name
    b->walk = (struct inlined_walk){{.dwarf = b->dwarf, .steps = CALLS_STEPS}, take_call, b};
    while (dwarf_get_units(b->dwarf->dw, cu, &cu, NULL, NULL, &unit, NULL) == 0)
        if (!read_unit(b, &unit))
            return false;
    return b->names.code == EXTRACT_OK;
}

// Compares rows by address. At the same address, the end of a sequence comes first, and the others
// keep the order of the tables.
static int by_address(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->end != b->end)
        return a->end ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

// Returns true if padding follows at an address where a sequence ends. A row there is either the
// first of the next sequence, or an empty one that libdw has sorted after the end. In the second
// case no symbol covers the address.
static bool is_padding(const struct building *b, uint64_t address)
{
    struct extract_symbol symbol;

    return b->symbols->table.count &&
           !extract_symbols_by_address(b->symbols, address + b->symbols->load_bias, &symbol, NULL,
                                       NULL);
}

static int by_first_address(const void *left, const void *right)
{
    const struct inlined_call *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

// Sorts the rows into the table. Of several rows with the same address, the last one counts.
static bool lay_out(struct building *b, struct line_table *lines)
{
    uint64_t end = 0;

    lines->addresses = malloc((b->row_count + 1) * sizeof *lines->addresses);
    lines->rows = malloc((b->row_count + 1) * sizeof *lines->rows);
    if (!lines->addresses || !lines->rows)
        return false;
    if (b->row_count)
        qsort(b->rows, b->row_count, sizeof *b->rows, by_address);
    for (size_t i = 0; i < b->row_count; i++) {
        const struct row *row = &b->rows[i];
        if (row->end)
            end = row->address;
        else if (row->address == end && end && is_padding(b, end))
            continue;
        if (lines->count && lines->addresses[lines->count - 1] == row->address)
            lines->count--;
        const struct line_row *last = lines->count ? &lines->rows[lines->count - 1] : NULL;
        if (last && last->file == row->file && last->line == row->line)
            continue;
        lines->addresses[lines->count] = row->address;
        lines->rows[lines->count++] = (struct line_row){row->file, row->line};
    }
    return true;
}

static bool function_at_zero(const struct symbol_table *table)
{
    for (size_t i = 0; i < table->count && table->symbols[i].address == 0; i++)
        if (table->symbols[i].function)
            return true;
    return table->count == 0;
}

static void read_lines(struct extract_symbols *symbols)
{
    struct line_table *lines = &symbols->lines;
    struct building b = {.symbols = symbols, .names_left = NAMES_MAX};

    extract_text_init(&b.names, NULL, NULL);
    b.dwarf = extract_dwarf_open(&symbols->file, function_at_zero(&symbols->table));
    bool done = find_code(&b, &symbols->file) && extract_dwarf_run(&b.dwarf, read_units, &b) &&
                lay_out(&b, lines);
    extract_dwarf_close(b.dwarf);
    if (b.call_count)
        qsort(b.calls, b.call_count, sizeof *b.calls, by_first_address);
    lines->names = b.names;
    lines->calls = b.calls;
    lines->call_count = b.call_count;
    free(b.code);
    free(b.rows);
    free(b.name_of);
    if (!done)
        extract_lines_free(lines);
    lines->read = true;
}

void extract_lines_free(struct line_table *lines)
{
    free(lines->addresses);
    free(lines->rows);
    free(lines->calls);
    extract_text_free(&lines->names);
    memset(lines, 0, sizeof *lines);
}

bool extract_symbols_place(struct extract_symbols *symbols, uint64_t address,
                           struct extract_place *place)
{
    struct line_table *lines = &symbols->lines;

    if (!lines->read)
        read_lines(symbols);
    address -= symbols->load_bias;
    // The Thumb bit does not matter, because the rows of Thumb code start at even addresses.
    size_t n =
        extract_keys_count_up_to(lines->calls, lines->call_count, sizeof *lines->calls, address);
    const struct line_row *row = NULL;
    if (n && address < lines->calls[n - 1].end)
        row = &lines->calls[n - 1].place;
    else if (lines->count && address >= lines->addresses[0])
        row = &lines->rows[extract_keys_last_up_to(lines->addresses, lines->count, address)];
    if (!row || !row->line || !row->file)
        return false;
    place->file = lines->names.data + row->file;
    place->line = row->line;
    return true;
}
#endif
