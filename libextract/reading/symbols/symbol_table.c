// SPDX-License-Identifier: MIT
// symbols: reads the symbol table into arrays that are sorted by address and by name.
//
// The symbols come from .symtab, or from .dynsym if there is none, through libelf. Symbols that are
// of no use to a reader of traces are left out (mapping symbols, temporary labels, symbols that are
// not loaded). If several symbols share an address or a name, the sort order puts the best first.
// Standard: System V ABI, gABI 4.1 chapter 4 "Symbol Table"; ELF for the Arm Architecture
// (2022Q3) 5.5.3 interworking and 5.5.5 mapping symbols; RISC-V psABI 1.0 "Mapping Symbol".
#define _GNU_SOURCE // qsort_r
#include "symbols_room.h"

// A symbol before sorting, with the properties that rank symbols of the same address.
struct candidate {
    struct extract_symbol symbol;
    uint32_t section; // section index, or SHN_ABS
    uint8_t binding;  // 2 for global, 1 for weak, 0 for local
    bool typed;       // a function or object, not a bare label
    bool fixed;       // SHN_ABS: a number that need not be an address
};

struct reading {
    const struct elf_file *file;
    Elf_Data *entries;
    Elf_Data *wide;    // SHT_SYMTAB_SHNDX, for section indexes above 16 bits; may be NULL
    const char *names; // copy that the table owns
    size_t names_length;
    struct candidate *found;
    size_t count;
    uint64_t name_bytes; // bytes of names that may still be read
};

static bool is_arm_code(const struct elf_file *file, unsigned type)
{
    return file->machine == EM_ARM &&
           (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_ARM_TFUNC);
}

// Returns true for labels that assemblers create for their own use: $a, $t, $d and $x mark code and
// data (with a .suffix or, on RISC-V, an ISA string), and .L labels are temporary.
static bool is_mapping(const char *name)
{
    if (name[0] == '.' && name[1] == 'L')
        return true;
    if (name[0] != '$' || !name[1] || !strchr("atdx", name[1]))
        return false;
    return !name[2] || name[2] == '.' || (name[1] == 'x' && name[2] == 'r' && name[3] == 'v');
}

// Returns true for symbols in the address space of the target. Thread-local offsets, sections,
// source files, undefined symbols, and symbols in sections that are not loaded are left out.
static bool is_wanted(const struct reading *r, unsigned type, uint32_t section)
{
    if (type != STT_NOTYPE && type != STT_OBJECT && type != STT_FUNC && type != STT_GNU_IFUNC &&
        type != STT_COMMON && !is_arm_code(r->file, type))
        return false;
    if (section == SHN_ABS)
        return true;
    return section != SHN_UNDEF && section < r->file->section_count &&
           (r->file->sections[section].flags & SHF_ALLOC);
}

// Returns whether a symbol is a function of assembly language that has no type.
static bool is_code_label(const struct reading *r, unsigned type, uint32_t section)
{
    return type == STT_NOTYPE && section < r->file->section_count &&
           (r->file->sections[section].flags & SHF_EXECINSTR);
}

// Returns the text of a name. Returns NULL if the symbol has none, or one that no compiler writes.
static const char *read_name(struct reading *r, uint32_t offset)
{
    const char *name = extract_elf_string(r->names, r->names_length, offset);

    if (!name || !*name)
        return NULL;
    size_t length = strlen(name) + 1;
    if (length > r->name_bytes)
        return NULL;
    r->name_bytes -= length;
    return extract_elf_clean(name) ? name : NULL;
}

static void read_symbol(struct reading *r, int index)
{
    GElf_Sym raw;
    Elf32_Word wide = 0;

    if (!gelf_getsymshndx(r->entries, r->wide, index, &raw, &wide))
        return;
    uint32_t section = raw.st_shndx == SHN_XINDEX ? wide : raw.st_shndx;
    unsigned type = GELF_ST_TYPE(raw.st_info);
    unsigned binding = GELF_ST_BIND(raw.st_info);
    const char *name = is_wanted(r, type, section) ? read_name(r, raw.st_name) : NULL;

    if (!name || (type == STT_NOTYPE && binding == STB_LOCAL && is_mapping(name)))
        return;
    struct candidate *c = &r->found[r->count++];
    c->symbol.name = name;
    c->symbol.address = is_arm_code(r->file, type) ? raw.st_value & ~(uint64_t)1 : raw.st_value;
    c->symbol.size = raw.st_size;
    c->symbol.function = type == STT_FUNC || type == STT_GNU_IFUNC || is_arm_code(r->file, type) ||
                         is_code_label(r, type, section);
    c->symbol.global = binding != STB_LOCAL;
    c->symbol.is_thumb = c->symbol.address != raw.st_value || type == STT_ARM_TFUNC;
    c->section = section;
    c->binding = binding == STB_LOCAL ? 0 : binding == STB_WEAK ? 1 : 2;
    c->typed = type != STT_NOTYPE;
    c->fixed = section == SHN_ABS;
}

static int by_number(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

// Compares symbols by address. At the same address, the better one comes first: sized before
// unsized, typed before bare labels, global before weak before local, then by the shorter name,
// then alphabetically.
static int by_address(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;

    if (a->symbol.address != b->symbol.address)
        return by_number(a->symbol.address, b->symbol.address);
    if (!a->symbol.size != !b->symbol.size)
        return a->symbol.size ? -1 : 1;
    if (a->typed != b->typed)
        return a->typed ? -1 : 1;
    if (a->binding != b->binding)
        return b->binding - a->binding;
    int shorter = by_number(strlen(a->symbol.name), strlen(b->symbol.name));
    return shorter ? shorter : strcmp(a->symbol.name, b->symbol.name);
}

static int by_name(const void *left, const void *right, void *context)
{
    const struct candidate *found = context;
    const struct candidate *a = &found[*(const uint32_t *)left];
    const struct candidate *b = &found[*(const uint32_t *)right];
    int order = strcmp(a->symbol.name, b->symbol.name);

    if (order)
        return order;
    if (a->binding != b->binding)
        return b->binding - a->binding;
    if (!a->symbol.size != !b->symbol.size)
        return a->symbol.size ? -1 : 1;
    return by_number(*(const uint32_t *)left, *(const uint32_t *)right);
}

static uint64_t sized_end(const struct extract_symbol *symbol)
{
    uint64_t end = symbol->address + symbol->size;

    return end < symbol->address ? UINT64_MAX : end;
}

// Sets the address where each symbol ends. A symbol without a size ends at the next symbol of its
// section, or at the end of the section. A fixed number without a size covers nothing, because it
// need not be an address. The loop goes down. `next` has two numbers per section: the lowest
// address so far, and the one above it.
static void find_ends(const struct reading *r, uint64_t *ends, uint64_t *next)
{
    const struct elf_section *sections = r->file->sections;

    for (uint32_t i = 0; i < r->file->section_count; i++)
        next[2 * i] = next[2 * i + 1] = sections[i].address + sections[i].size;
    for (size_t i = r->count; i-- > 0;) {
        const struct candidate *c = &r->found[i];
        ends[i] = sized_end(&c->symbol);
        if (c->fixed)
            continue;
        uint64_t *n = &next[2 * (size_t)c->section];
        if (c->symbol.address < n[0]) {
            n[1] = n[0];
            n[0] = c->symbol.address;
        }
        if (c->symbol.size == 0 && n[1] > c->symbol.address)
            ends[i] = n[1];
    }
}

static bool build_segments(const struct reading *r, struct symbol_table *table)
{
    uint64_t *ends = malloc((r->count + 1) * sizeof *ends);
    uint64_t *next = malloc(((size_t)r->file->section_count + 1) * 2 * sizeof *next);
    bool done = ends && next;

    if (done) {
        find_ends(r, ends, next);
        done = extract_segments_build(table, ends);
    }
    free(ends);
    free(next);
    return done;
}

// Sorts the symbols into the table.
static bool build_table(const struct reading *r, struct symbol_table *table)
{
    table->symbols = malloc((r->count + 1) * sizeof *table->symbols);
    table->by_name = malloc((r->count + 1) * sizeof *table->by_name);
    if (!table->symbols || !table->by_name)
        return false;
    qsort(r->found, r->count, sizeof *r->found, by_address);
    for (size_t i = 0; i < r->count; i++) {
        table->symbols[i] = r->found[i].symbol;
        table->by_name[i] = (uint32_t)i;
    }
    table->count = r->count;
    qsort_r(table->by_name, r->count, sizeof *table->by_name, by_name, r->found);
    return build_segments(r, table);
}

static const struct elf_section *find_type(const struct elf_file *file, uint32_t type)
{
    for (uint32_t i = 0; i < file->section_count; i++)
        if (file->sections[i].type == type)
            return &file->sections[i];
    return NULL;
}

// Returns the data of a section from libelf, in the byte order of the host.
static Elf_Data *section_data(const struct elf_file *file, const struct elf_section *section)
{
    return elf_getdata(elf_getscn(file->elf, (size_t)(section - file->sections)), NULL);
}

static Elf_Data *find_wide(const struct elf_file *file, const struct elf_section *symbols)
{
    for (uint32_t i = 0; i < file->section_count; i++)
        if (file->sections[i].type == SHT_SYMTAB_SHNDX &&
            file->sections[i].link == (uint32_t)(symbols - file->sections))
            return section_data(file, &file->sections[i]);
    return NULL;
}

// Copies the names, because reading DWARF later may change the bytes of the file.
static bool copy_names(struct reading *r, struct symbol_table *table,
                       const struct elf_section *strings)
{
    table->names = malloc(strings->length + 1);
    if (!table->names)
        return false;
    if (strings->length)
        memcpy(table->names, strings->bytes, strings->length);
    r->names = table->names;
    r->names_length = strings->length;
    // Linkers let a name be the tail of another, so the names may exceed the bytes of the table.
    // Far more than that is an attack on the time that sorting takes.
    r->name_bytes = 8 * (uint64_t)strings->length;
    return true;
}

static bool read_all(struct reading *r, size_t entries, struct symbol_table *table,
                     const struct elf_section *strings)
{
    if (!copy_names(r, table, strings))
        return false;
    r->found = malloc((entries + 1) * sizeof *r->found);
    for (size_t i = 0; r->found && i < entries; i++)
        read_symbol(r, (int)i);
    bool done = r->found && build_table(r, table);
    free(r->found);
    return done;
}

enum extract_code extract_table_read(struct symbol_table *table, const struct elf_file *file,
                                     const char *path, struct extract_error *error)
{
    const size_t entry = file->word == 8 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    const struct elf_section *symbols = find_type(file, SHT_SYMTAB);

    if (!symbols || !symbols->length)
        symbols = find_type(file, SHT_DYNSYM);
    if (!symbols || !symbols->length)
        return EXTRACT_OK;
    if (symbols->entry != entry)
        return extract_error_set(error, EXTRACT_BAD, path, "check the file, or link it again",
                                 "has symbol table entries of %llu bytes instead of %zu",
                                 (unsigned long long)symbols->entry, entry);
    if (symbols->link >= file->section_count || file->sections[symbols->link].type != SHT_STRTAB)
        return extract_error_set(error, EXTRACT_BAD, path, "check the file, or link it again",
                                 "has no string table for its symbol table");
    struct reading r = {.file = file, .entries = section_data(file, symbols)};
    r.wide = find_wide(file, symbols);
    if (!r.entries)
        return extract_error_set(error, EXTRACT_BAD, path, "check the file, or link it again",
                                 "symbol table is not readable: %s", elf_errmsg(-1));
    size_t entries = symbols->length / entry;
    if (read_all(&r, entries, table, &file->sections[symbols->link]))
        return EXTRACT_OK;
    extract_table_free(table);
    return extract_error_set(error, EXTRACT_NOMEM, path, "", "no memory for %zu symbols", entries);
}

void extract_table_free(struct symbol_table *table)
{
    free(table->symbols);
    free(table->by_name);
    free(table->starts);
    free(table->owners);
    free(table->names);
    memset(table, 0, sizeof *table);
}
