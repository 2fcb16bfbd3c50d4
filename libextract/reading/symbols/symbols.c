// SPDX-License-Identifier: MIT
// symbols: opens and closes the symbols object, and looks up names and addresses in it.
//
// The object is built from an ELF file or from its bytes. The file is read into memory and not
// mapped: a build that shrinks a mapped file would kill the debugger that runs this code (SIGBUS).
// Lookups here need only the symbol table and the sections; those that need DWARF are in the other
// files of this directory.
#define _GNU_SOURCE // memmem
#include "base/file.h"
#include "symbols_room.h"
#include "symbols/dwarf.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (1u << 30)

enum { MEMBER_MAX = 256 };

static enum extract_code too_large(struct extract_error *error, const char *path)
{
    return extract_error_set(error, EXTRACT_LIMIT, path,
                             "remove unneeded symbols with strip --strip-unneeded",
                             "is larger than 1 GiB");
}

static char *copy_string(const char *string)
{
    size_t size = strlen(string) + 1;
    char *copy = malloc(size);

    return copy ? memcpy(copy, string, size) : NULL;
}

// Builds the object. It takes ownership of `bytes`, also on failure.
static enum extract_code open_owned(struct extract_symbols **symbols, const char *path,
                                    uint8_t *bytes, size_t length, struct extract_error *error)
{
    struct extract_symbols *s = calloc(1, sizeof *s);
    enum extract_code code;

    if (s)
        s->path = copy_string(path);
    if (!s || !s->path) {
        free(bytes);
        free(s);
        return extract_error_set(error, EXTRACT_NOMEM, path, "", "no memory to read the file");
    }
    code = extract_elf_open(&s->file, path, bytes, length, error);
    if (code == EXTRACT_OK)
        code = extract_table_read(&s->table, &s->file, path, error);
    if (code != EXTRACT_OK) {
        extract_symbols_close(s);
        return code;
    }
    *symbols = s;
    return EXTRACT_OK;
}

enum extract_code extract_symbols_open_bytes(struct extract_symbols **symbols, const char *name,
                                             const void *bytes, size_t length,
                                             struct extract_error *error)
{
    *symbols = NULL;
    if (length > FILE_MAX)
        return too_large(error, name);
    uint8_t *copy = malloc(length + 1);
    if (!copy)
        return extract_error_set(error, EXTRACT_NOMEM, name, "", "no memory to read the file");
    if (length)
        memcpy(copy, bytes, length);
    return open_owned(symbols, name, copy, length, error);
}

static enum extract_code read_whole(int fd, const char *path, uint8_t *bytes, size_t length,
                                    struct extract_error *error)
{
    for (size_t done = 0; done < length;) {
        ssize_t got = read(fd, bytes + done, length - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return extract_error_set(error, EXTRACT_IO, path, "", "%s", strerror(errno));
        if (got == 0)
            return extract_error_set(error, EXTRACT_TRUNCATED, path, "try again after the build",
                                     "was truncated while being read");
        done += (size_t)got;
    }
    return EXTRACT_OK;
}

static enum extract_code read_file(int fd, const char *path, uint8_t **bytes, size_t *length,
                                   struct extract_error *error)
{
    struct stat facts;

    if (fstat(fd, &facts) != 0)
        return extract_error_set(error, EXTRACT_IO, path, "", "%s", strerror(errno));
    if (!S_ISREG(facts.st_mode))
        return extract_error_set(error, EXTRACT_IO, path, "use an ELF file",
                                 "is not a regular file");
    if (facts.st_size > FILE_MAX)
        return too_large(error, path);
    *length = (size_t)facts.st_size;
    *bytes = malloc(*length + 1);
    if (!*bytes)
        return extract_error_set(error, EXTRACT_NOMEM, path, "", "no memory to read the file");
    return read_whole(fd, path, *bytes, *length, error);
}

enum extract_code extract_symbols_open(struct extract_symbols **symbols, const char *path,
                                       struct extract_error *error)
{
    uint8_t *bytes = NULL;
    size_t length = 0;

    *symbols = NULL;
    // Opening a pipe or a device must not block: read_file rejects it.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return extract_file_error(path, "check the path", error);
    enum extract_code code = read_file(fd, path, &bytes, &length, error);
    close(fd);
    if (code != EXTRACT_OK) {
        free(bytes);
        return code;
    }
    return open_owned(symbols, path, bytes, length, error);
}

void extract_symbols_close(struct extract_symbols *symbols)
{
    if (!symbols)
        return;
    extract_enums_free(&symbols->enums);
    extract_types_free(&symbols->types);
    extract_lines_free(&symbols->lines);
    extract_table_free(&symbols->table);
    extract_elf_close(&symbols->file);
    free(symbols->path);
    free(symbols);
}

enum extract_byte_order extract_symbols_byte_order(const struct extract_symbols *symbols)
{
    return symbols->file.order;
}

unsigned extract_symbols_pointer_bytes(const struct extract_symbols *symbols)
{
    return symbols->file.word;
}

uint16_t extract_symbols_machine(const struct extract_symbols *symbols)
{
    return symbols->file.machine;
}

uint32_t extract_symbols_flags(const struct extract_symbols *symbols)
{
    return symbols->file.flags;
}

const char *extract_symbols_debug_hint(const struct extract_symbols *symbols)
{
    static const struct {
        const char *section, *hint;
    } hints[] = {{".gnu_debuglink", "merge it with its file of debug information: eu-unstrip "
                                    "STRIPPED DEBUG -o WHOLE"},
                 {".gnu_debugaltlink", "build the file without dwz"},
                 {".zdebug_info", "decompress it: objcopy --decompress-debug-sections FILE"},
                 {".debug_gnu_pubnames", "build it without -gsplit-dwarf"}};

    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        for (uint32_t k = 0; k < symbols->file.section_count; k++)
            if (strcmp(symbols->file.sections[k].name, hints[i].section) == 0)
                return hints[i].hint;
    return NULL;
}

size_t extract_symbols_count(const struct extract_symbols *symbols)
{
    return symbols->table.count;
}

bool extract_symbols_at(const struct extract_symbols *symbols, size_t i,
                        struct extract_symbol *symbol)
{
    if (i >= symbols->table.count)
        return false;
    *symbol = symbols->table.symbols[i];
    symbol->address += symbols->load_bias;
    return true;
}

// Returns the page size in bytes: a loader moves a program only by a multiple of it. It is the
// smallest alignment of the loaded segments, but at most 4096 (gABI, "Program Loading").
static uint64_t page_of(Elf *elf)
{
    uint64_t page = 4096;
    size_t count = 0;
    GElf_Phdr segment;

    if (elf_getphdrnum(elf, &count) != 0)
        return 1;
    for (size_t i = 0; i < count && i < INT32_MAX; i++)
        if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
            segment.p_align < page)
            page = segment.p_align ? segment.p_align : 1;
    return page;
}

bool extract_symbols_is_position_independent(const struct extract_symbols *symbols)
{
    GElf_Ehdr header;

    return gelf_getehdr(symbols->file.elf, &header) && header.e_type == ET_DYN;
}

bool extract_symbols_has_libraries(const struct extract_symbols *symbols)
{
    GElf_Phdr program;
    size_t count;

    if (elf_getphdrnum(symbols->file.elf, &count))
        return false;
    for (size_t i = 0; i < count && i < INT_MAX; i++)
        if (gelf_getphdr(symbols->file.elf, (int)i, &program) && program.p_type == PT_INTERP)
            return true;
    return false;
}

void extract_symbols_move(struct extract_symbols *symbols, uint64_t entry)
{
    GElf_Ehdr header;

    if (!extract_symbols_is_position_independent(symbols) ||
        !gelf_getehdr(symbols->file.elf, &header) || !header.e_entry)
        return;
    // Whether bit 0 is set in the address of Thumb code depends on the source of the address.
    uint64_t bits = symbols->file.machine == EM_ARM ? ~UINT64_C(1) : UINT64_MAX;
    uint64_t load_bias = (entry & bits) - (header.e_entry & bits);
    if (load_bias % page_of(symbols->file.elf))
        return;
    symbols->load_bias = load_bias;
    symbols->entry = entry;
    symbols->placed = true;
}

bool extract_symbols_entry(const struct extract_symbols *symbols, uint64_t *entry)
{
    *entry = symbols->entry;
    return symbols->placed;
}

bool extract_symbols_start(const struct extract_symbols *symbols, uint64_t *start)
{
    GElf_Ehdr header;

    if (!gelf_getehdr(symbols->file.elf, &header) || !header.e_entry)
        return false;
    *start = header.e_entry + symbols->load_bias;
    return true;
}

const char *extract_symbols_path(const struct extract_symbols *symbols)
{
    return symbols->path;
}

bool extract_symbols_by_name(const struct extract_symbols *symbols, const char *name,
                             struct extract_symbol *symbol)
{
    const struct symbol_table *table = &symbols->table;
    size_t low = 0, high = table->count;

    // The first symbol of that name is the best one.
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(table->symbols[table->by_name[middle]].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == table->count || strcmp(table->symbols[table->by_name[low]].name, name) != 0)
        return false;
    *symbol = table->symbols[table->by_name[low]];
    symbol->address += symbols->load_bias;
    return true;
}

// Returns the index of the segment that contains the address. The caller makes sure that a segment
// starts at or below it.
static size_t find_segment(const struct symbol_table *table, uint64_t address, size_t *cache)
{
    size_t at = cache ? *cache : table->segment_count;

    if (at < table->segment_count && table->starts[at] <= address &&
        (at + 1 == table->segment_count || address < table->starts[at + 1]))
        return at;
    at = extract_keys_last_up_to(table->starts, table->segment_count, address);
    if (cache)
        *cache = at;
    return at;
}

bool extract_symbols_by_address(const struct extract_symbols *symbols, uint64_t address,
                                struct extract_symbol *symbol, uint64_t *offset, size_t *cache)
{
    const struct symbol_table *table = &symbols->table;

    address -= symbols->load_bias;
    if (!table->segment_count || address < table->starts[0])
        return false;
    uint32_t owner = table->owners[find_segment(table, address, cache)];
    if (owner == NO_OWNER)
        return false;
    *symbol = table->symbols[owner];
    if (offset) {
        *offset = address - symbol->address;
        // A pointer to Thumb code has bit 0 set, but the address of the symbol is even.
        if (symbols->file.machine == EM_ARM && symbol->function)
            *offset &= ~(uint64_t)1;
    }
    symbol->address += symbols->load_bias;
    return true;
}

bool extract_symbols_describe(struct extract_symbols *symbols, uint64_t address, bool members,
                              char *buffer, size_t size)
{
    struct extract_symbol symbol;
    uint64_t offset;
    char member[MEMBER_MAX];

    if (!extract_symbols_by_address(symbols, address, &symbol, &offset, NULL))
        return false;
    if (!offset)
        snprintf(buffer, size, "%s", symbol.name);
    else if (members && !symbol.function &&
             extract_symbols_variable_member(symbols, symbol.address, offset, member,
                                             sizeof member))
        snprintf(buffer, size, "%s%s%s", symbol.name, *member == '[' ? "" : ".", member);
    else
        snprintf(buffer, size, "%s+0x%" PRIx64, symbol.name, offset);
    return true;
}

static bool is_constant(const struct elf_section *s)
{
    return s->type == SHT_PROGBITS && (s->flags & (SHF_ALLOC | SHF_WRITE)) == SHF_ALLOC && s->bytes;
}

bool extract_symbols_has_text(const struct extract_symbols *symbols, const char *text)
{
    const struct elf_file *file = &symbols->file;
    size_t length = strlen(text) + 1;

    for (uint32_t i = 0; i < file->section_count; i++) {
        const struct elf_section *s = &file->sections[i];
        if (is_constant(s) && memmem(s->bytes, s->length, text, length))
            return true;
    }
    return false;
}

// Reads from the first section with bytes at an address: one of constants, or any.
static size_t read_section(const struct extract_symbols *symbols, bool constant, uint64_t address,
                           void *buffer, size_t length)
{
    const struct elf_file *file = &symbols->file;

    address -= symbols->load_bias;
    for (uint32_t i = 0; i < file->section_count; i++) {
        const struct elf_section *s = &file->sections[i];
        bool fits =
            constant ? is_constant(s) : s->type == SHT_PROGBITS && s->flags & SHF_ALLOC && s->bytes;
        if (!fits || address < s->address || address - s->address >= s->length)
            continue;
        size_t at = (size_t)(address - s->address);
        size_t count = length < s->length - at ? length : s->length - at;
        memcpy(buffer, s->bytes + at, count);
        return count;
    }
    return 0;
}

size_t extract_symbols_read_constant(const struct extract_symbols *symbols, uint64_t address,
                                     void *buffer, size_t length)
{
    return read_section(symbols, true, address, buffer, length);
}

size_t extract_symbols_read_initial(const struct extract_symbols *symbols, uint64_t address,
                                    void *buffer, size_t length)
{
    return read_section(symbols, false, address, buffer, length);
}

bool extract_symbols_is_constant(const struct extract_symbols *symbols, uint64_t address)
{
    static const char relocated[] = ".data.rel.ro";
    const struct elf_file *file = &symbols->file;

    address -= symbols->load_bias;
    for (uint32_t i = 0; i < file->section_count; i++) {
        const struct elf_section *s = &file->sections[i];
        if (s->bytes && address >= s->address && address - s->address < s->length)
            return is_constant(s) || strncmp(s->name, relocated, sizeof relocated - 1) == 0;
    }
    return false;
}

bool extract_symbols_writable(const struct extract_symbols *symbols, size_t index,
                              struct extract_region *region)
{
    const struct elf_file *file = &symbols->file;
    const uint64_t wanted = SHF_ALLOC | SHF_WRITE;

    for (uint32_t i = 0; i < file->section_count; i++) {
        const struct elf_section *s = &file->sections[i];
        if ((s->flags & (wanted | SHF_TLS)) != wanted || !s->size ||
            s->address + s->size < s->address)
            continue;
        if (index-- == 0) {
            *region = (struct extract_region){s->address + symbols->load_bias, s->size};
            return true;
        }
    }
    return false;
}
