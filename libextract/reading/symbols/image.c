// SPDX-License-Identifier: MIT
// symbols: reads the headers of an ELF file.
//
// The bytes may be hostile. This file returns libelf's view of them, and a section table in which
// every section is inside the file. libelf gets the bytes only after the ELF header and the bounds
// of the section table are checked here. The checks also distinguish a truncated file from a
// damaged one, which libelf does not. Standard: System V ABI, gABI 4.1 (chapters 4, 5) and its
// later drafts.
#include "image.h"
#include "base/line_ends.h"
#include <stdlib.h>

// The fields of the ELF header that are needed here.
struct header {
    uint64_t sections; // file offset of the section table
    uint16_t type;
    uint16_t entry; // size of one section header in bytes, unchecked
    uint16_t count;
};

#define STRING_LONGEST ((size_t)16384)
#define HINT_NOT_ELF   "use the linked program (.elf, .axf, .out) that runs on the target"

const char *extract_elf_string(const void *bytes, size_t length, uint64_t offset)
{
    if (!bytes || offset >= length)
        return NULL;
    const char *string = (const char *)bytes + offset;
    size_t left = length - (size_t)offset;
    return memchr(string, 0, left < STRING_LONGEST ? left : STRING_LONGEST) ? string : NULL;
}

void extract_elf_cut(uint8_t *bytes, size_t length, size_t most)
{
    size_t run = 0;

    for (size_t i = 0; i < length; i++) {
        if (++run > most)
            bytes[i] = 0;
        if (!bytes[i])
            run = 0;
    }
}

bool extract_elf_clean(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < 0x20 || *name == 0x7f)
            return false;
    return true;
}

// Reads the class and the byte order from the identification bytes.
static enum extract_code read_identity(struct elf_file *file, const char *name,
                                       struct extract_error *error)
{
    const uint8_t *id = file->bytes;

    if (file->length < EI_NIDENT || memcmp(id, ELFMAG, SELFMAG) != 0)
        return extract_error_set(error, EXTRACT_BAD, name, HINT_NOT_ELF, "is not an ELF file");
    if (id[EI_CLASS] != ELFCLASS32 && id[EI_CLASS] != ELFCLASS64)
        return extract_error_set(error, EXTRACT_BAD, name, "check the file, or link it again",
                                 "has ELF class %u, which is neither 32-bit nor 64-bit",
                                 id[EI_CLASS]);
    if (id[EI_DATA] != ELFDATA2LSB && id[EI_DATA] != ELFDATA2MSB)
        return extract_error_set(error, EXTRACT_BAD, name, "check the file, or link it again",
                                 "has ELF byte order %u, which is neither little nor big",
                                 id[EI_DATA]);
    file->word = id[EI_CLASS] == ELFCLASS64 ? 8 : 4;
    file->order = id[EI_DATA] == ELFDATA2MSB ? EXTRACT_BIG : EXTRACT_LITTLE;
    return EXTRACT_OK;
}

static enum extract_code check_type(uint16_t type, const char *name, struct extract_error *error)
{
    if (type == ET_CORE)
        return extract_error_set(error, EXTRACT_BAD, name,
                                 "use the program that wrote the core, and pass the core as the "
                                 "memory to read",
                                 "is a core file, which holds no symbols");
    if (type == ET_REL)
        return extract_error_set(error, EXTRACT_BAD, name, HINT_NOT_ELF,
                                 "is an object file whose addresses are not yet fixed");
    if (type != ET_EXEC && type != ET_DYN)
        return extract_error_set(error, EXTRACT_BAD, name, HINT_NOT_ELF,
                                 "has ELF type %u, which is not a program", type);
    return EXTRACT_OK;
}

static enum extract_code read_header(struct elf_file *file, struct header *header, const char *name,
                                     struct extract_error *error)
{
    enum extract_code code = read_identity(file, name, error);
    struct extract_cursor c = extract_cursor_make(file->bytes, file->length, file->order);

    if (code != EXTRACT_OK)
        return code;
    extract_cursor_seek(&c, EI_NIDENT);
    header->type = extract_cursor_u16(&c);
    file->machine = extract_cursor_u16(&c);
    extract_cursor_u32(&c);              // e_version
    extract_cursor_word(&c, file->word); // e_entry
    extract_cursor_word(&c, file->word); // e_phoff
    header->sections = extract_cursor_word(&c, file->word);
    file->flags = extract_cursor_u32(&c);
    extract_cursor_span(&c, 3 * 2); // e_ehsize, e_phentsize, e_phnum
    header->entry = extract_cursor_u16(&c);
    header->count = extract_cursor_u16(&c);
    extract_cursor_u16(&c); // e_shstrndx
    if (c.failed)
        return extract_error_set(error, EXTRACT_TRUNCATED, name, "copy or link the file again",
                                 "ends inside its ELF header");
    return check_type(header->type, name, error);
}

// Returns the number of sections. If it does not fit into 16 bits, it is stored in the size of
// section 0 (gABI, "Section Header").
static uint64_t count_sections(const struct header *header, struct extract_cursor c, unsigned word)
{
    if (header->count)
        return header->count;
    extract_cursor_span(&c, 2 * 4 + 3 * (uint64_t)word); // up to sh_size
    return extract_cursor_word(&c, word);
}

static enum extract_code section_error(struct extract_error *error, const char *name,
                                       const char *what)
{
    return extract_error_set(error, EXTRACT_TRUNCATED, name, "copy or link the file again",
                             "%s past the end of the file", what);
}

// Sets the bytes of a section. Returns false if they are not all inside the file.
static bool place_section(const struct elf_file *file, struct elf_section *section, uint64_t offset)
{
    if (section->type == SHT_NOBITS || section->type == SHT_NULL || section->size == 0)
        return true;
    if (offset > file->length || section->size > file->length - offset)
        return false;
    section->bytes = file->bytes + offset;
    section->length = (size_t)section->size;
    return true;
}

// Makes the table of section names end in a NUL, as the gABI requires ("String Table"), and
// truncates overlong names. Otherwise libelf and libdw would search for the last NUL again for each
// name, and for the end of each overlong name.
static void cut_names(struct elf_file *file, size_t names)
{
    struct elf_section table = {0};
    GElf_Shdr header;

    if (!gelf_getshdr(elf_getscn(file->elf, names), &header))
        return;
    table.type = header.sh_type;
    table.size = header.sh_size;
    if (table.type != SHT_STRTAB || !place_section(file, &table, header.sh_offset) || !table.length)
        return;
    uint8_t *bytes = file->bytes + header.sh_offset;
    bytes[table.length - 1] = 0;
    extract_elf_cut(bytes, table.length, STRING_LONGEST - 1);
}

static bool read_section(const struct elf_file *file, struct elf_section *section, uint32_t index,
                         size_t names)
{
    GElf_Shdr header;
    Elf_Scn *scn = elf_getscn(file->elf, index);

    section->name = "";
    if (!scn || !gelf_getshdr(scn, &header))
        return false;
    const char *name = elf_strptr(file->elf, names, header.sh_name);
    if (name)
        section->name = name;
    section->type = header.sh_type;
    section->flags = header.sh_flags;
    section->address = header.sh_addr;
    section->size = header.sh_size;
    section->link = header.sh_link;
    section->entry = header.sh_entsize;
    return place_section(file, section, header.sh_offset);
}

// Opens libelf on a file and reads its sections. The caller has checked that all `count` entries of
// the section table are inside the file.
static enum extract_code read_sections(struct elf_file *file, uint64_t count, const char *name,
                                       struct extract_error *error)
{
    size_t names = 0;

    if (elf_version(EV_CURRENT) != EV_NONE)
        file->elf = elf_memory((char *)file->bytes, file->length);
    file->sections = calloc((size_t)count + 1, sizeof *file->sections);
    if (!file->elf || !file->sections)
        return extract_error_set(error, EXTRACT_NOMEM, name, "", "no memory for %llu sections",
                                 (unsigned long long)count);
    if (elf_kind(file->elf) != ELF_K_ELF)
        return extract_error_set(error, EXTRACT_BAD, name, "check the file, or link it again",
                                 "has an unknown ELF version");
    if (elf_getshdrstrndx(file->elf, &names) != 0)
        names = 0;
    cut_names(file, names);
    file->section_count = (uint32_t)count;
    for (uint32_t i = 0; i < count; i++)
        if (!read_section(file, &file->sections[i], i, names))
            return section_error(error, name, "a section extends");
    return EXTRACT_OK;
}

static enum extract_code check_sections(struct elf_file *file, const struct header *header,
                                        const char *name, struct extract_error *error)
{
    const size_t entry = file->word == 8 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
    struct extract_cursor c = extract_cursor_make(file->bytes, file->length, file->order);

    if (header->sections == 0)
        return read_sections(file, 0, name, error);
    if (header->entry != entry)
        return extract_error_set(error, EXTRACT_BAD, name, "check the file, or link it again",
                                 "has section headers of %u bytes instead of %zu", header->entry,
                                 entry);
    if (!extract_cursor_seek(&c, header->sections))
        return section_error(error, name, "the section table starts");
    uint64_t count = count_sections(header, c, file->word);
    if (count > extract_cursor_left(&c) / entry)
        return section_error(error, name, "the section table extends");
    return read_sections(file, count, name, error);
}

enum extract_code extract_elf_open(struct elf_file *file, const char *name, uint8_t *bytes,
                                   size_t length, struct extract_error *error)
{
    struct header header = {0};

    memset(file, 0, sizeof *file);
    file->bytes = bytes;
    file->length = length;
    enum extract_code code = read_header(file, &header, name, error);
    if (code == EXTRACT_OK)
        code = check_sections(file, &header, name, error);
    if (code != EXTRACT_OK) {
        struct extract_line_ends ends = {0};
        extract_line_ends_add(&ends, bytes, length);
        code = extract_line_ends_explain(&ends, code, error);
        extract_elf_close(file);
    }
    return code;
}

void extract_elf_close(struct elf_file *file)
{
    elf_end(file->elf);
    free(file->sections);
    free(file->bytes);
    memset(file, 0, sizeof *file);
}
