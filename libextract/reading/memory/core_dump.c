// SPDX-License-Identifier: MIT
// memory: loads ELF cores, as debuggers (generate-core-file, gcore) and kernels write them.
//
// The PT_LOAD segments become memory, and the notes are copied. The segments stay in the file,
// which may be sparse and larger than the memory of the host. There are two passes over the program
// headers: one counts, one fills tables of the right size. A core is often truncated (a full disk,
// ulimit -c). The part that exists is read; the missing bytes are holes in memory, and counted.
//
// Standard: System V ABI (gABI) 4.1, chapter 4 "ELF Header" and chapter 5 "Program Header" with
// e_phnum = PN_XNUM, "Note Section"; Linux's NT_AUXV in core(5) and elf(5).
#include "memory/core_dump.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/line_ends.h"
#include "memory/auxv.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A hostile core may have more notes than bytes, since segments of notes may overlap.
enum {
    SEGMENT_LIMIT = 1 << 24,
    NOTES_MAX = 1 << 20,
    NOTE_BYTES = 32 << 20, // of all notes; the rest is cut off
    HEADER_BYTES = sizeof(Elf64_Ehdr),
    PROGRAM_BYTES = sizeof(Elf64_Phdr)
};

// A program header, and the part of its segment that the file holds.
struct program {
    uint32_t type;
    uint64_t offset; // in the file
    uint64_t address;
    uint64_t file_bytes;
    uint64_t memory_bytes;
    uint64_t held; // bytes in the file, at most file_bytes
};

// The program headers while they are read.
struct programs {
    const struct extract_input *input;
    struct extract_elf elf;
    uint64_t announced; // number of program headers by the ELF header
    size_t count;       // number of program headers that the file holds
    size_t loads;       // number of segments of memory with bytes in the file
    size_t notes;       // number of segments of notes
    uint64_t missing;   // bytes of memory that the file should hold and does not
};

// Copies bytes of the file. Returns how many there are.
static size_t read_part(const struct extract_input *input, uint64_t offset, void *buffer,
                        size_t length)
{
    if (offset >= input->length)
        return 0;
    length = length < input->length - offset ? length : (size_t)(input->length - offset);
    if (!input->bytes)
        return extract_file_read_at(input->file, buffer, length, offset);
    memcpy(buffer, input->bytes + offset, length);
    return length;
}

static uint64_t elf_word(struct extract_cursor *c, const struct extract_elf *elf)
{
    return extract_cursor_word(c, elf->wide ? 8 : 4);
}

static bool read_ident(const uint8_t *bytes, size_t length, struct extract_elf *elf)
{
    struct extract_cursor c = extract_cursor_make(bytes, length, EXTRACT_BIG);
    uint32_t magic = extract_cursor_u32(&c);
    uint8_t class = extract_cursor_u8(&c);
    uint8_t data = extract_cursor_u8(&c);

    *elf = (struct extract_elf){.wide = class == ELFCLASS64,
                                .byte_order = data == ELFDATA2MSB ? EXTRACT_BIG : EXTRACT_LITTLE};
    return magic == 0x7f454c46 && (class == ELFCLASS32 || class == ELFCLASS64) &&
           (data == ELFDATA2LSB || data == ELFDATA2MSB);
}

bool extract_elf_identify(const uint8_t *bytes, size_t length, struct extract_elf *elf)
{
    if (!read_ident(bytes, length, elf))
        return false;
    struct extract_cursor c = extract_cursor_make(bytes, length, elf->byte_order);
    extract_cursor_seek(&c, EI_NIDENT);
    elf->type = extract_cursor_u16(&c);
    elf->machine = extract_cursor_u16(&c);
    extract_cursor_u32(&c); // e_version
    elf_word(&c, elf);      // e_entry
    elf->phoff = elf_word(&c, elf);
    elf->shoff = elf_word(&c, elf);
    extract_cursor_u32(&c); // e_flags
    extract_cursor_u16(&c); // e_ehsize
    elf->phentsize = extract_cursor_u16(&c);
    elf->phnum = extract_cursor_u16(&c);
    elf->shentsize = extract_cursor_u16(&c);
    elf->shnum = extract_cursor_u16(&c);
    elf->cut = c.failed;
    return true;
}

// Returns the number of program headers. A core with 65535 or more of them stores it in section
// header 0, which Linux writes at the end of the file. If that was truncated, returns PN_XNUM, the
// largest number that is certain.
static uint64_t program_count(const struct extract_input *input, const struct extract_elf *elf)
{
    if (elf->phnum != PN_XNUM)
        return elf->phnum;
    uint8_t bytes[sizeof(Elf64_Shdr)];
    size_t got = read_part(input, elf->shoff, bytes, sizeof bytes);
    struct extract_cursor c = extract_cursor_make(bytes, got, elf->byte_order);
    extract_cursor_span(&c,
                        elf->wide ? offsetof(Elf64_Shdr, sh_info) : offsetof(Elf32_Shdr, sh_info));
    uint32_t info = extract_cursor_u32(&c);
    return elf->shoff && !c.failed ? info : PN_XNUM;
}

static struct program read_program(const struct programs *programs, size_t i)
{
    const struct extract_input *input = programs->input;
    const struct extract_elf *elf = &programs->elf;
    uint8_t bytes[PROGRAM_BYTES];
    size_t got = read_part(input, elf->phoff + (uint64_t)i * elf->phentsize, bytes, sizeof bytes);
    struct extract_cursor c = extract_cursor_make(bytes, got, elf->byte_order);
    struct program p = {0};

    p.type = extract_cursor_u32(&c);
    if (elf->wide)
        extract_cursor_u32(&c); // p_flags
    p.offset = elf_word(&c, elf);
    p.address = elf_word(&c, elf);
    elf_word(&c, elf); // p_paddr
    p.file_bytes = elf_word(&c, elf);
    p.memory_bytes = elf_word(&c, elf);
    if (p.type == PT_LOAD && p.file_bytes > p.memory_bytes)
        p.file_bytes = p.memory_bytes;
    // Addresses do not wrap: bytes past the end of the address space are ignored.
    uint64_t last = elf->wide ? UINT64_MAX : UINT32_MAX;
    if (p.type == PT_LOAD && p.file_bytes && p.file_bytes - 1 > last - p.address)
        p.file_bytes = last - p.address + 1;
    if (p.offset <= input->length) {
        uint64_t left = input->length - p.offset;
        p.held = p.file_bytes < left ? p.file_bytes : left;
    }
    return p;
}

static enum extract_code bad_core(const char *name, const char *why, struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_BAD, name,
                             "use a core as gdb's generate-core-file writes it", "%s", why);
}

static enum extract_code find_programs(struct programs *programs, struct extract_error *error)
{
    const struct extract_input *input = programs->input;
    struct extract_elf *elf = &programs->elf;
    size_t least = elf->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);

    programs->announced = program_count(input, elf);
    if (programs->announced && elf->phentsize < least)
        return bad_core(input->name, "the program headers are too small for their class", error);
    if (elf->phoff < input->length) {
        uint64_t left = input->length - elf->phoff;
        // The last header may be shorter than the distance between two.
        uint64_t fit = left < least || !elf->phentsize ? 0 : (left - least) / elf->phentsize + 1;
        programs->count = (size_t)(fit < programs->announced ? fit : programs->announced);
    }
    if (programs->count > SEGMENT_LIMIT)
        return extract_error_set(error, EXTRACT_LIMIT, input->name, "dump the RAM of the target",
                                 "has %zu segments, more than %d", programs->count, SEGMENT_LIMIT);
    return EXTRACT_OK;
}

// Counts the segments of each kind, for the tables that collect() fills.
static void count_segments(struct programs *programs)
{
    for (size_t i = 0; i < programs->count; i++) {
        struct program p = read_program(programs, i);
        programs->notes += p.type == PT_NOTE;
        programs->loads += p.type == PT_LOAD && p.held;
        uint64_t missing = p.type == PT_LOAD ? p.file_bytes - p.held : 0;
        if (__builtin_add_overflow(programs->missing, missing, &programs->missing))
            programs->missing = UINT64_MAX;
    }
}

// Copies a segment of notes. Returns false if memory is short.
static bool copy_notes(const struct extract_input *input, const struct program *p, uint64_t *budget,
                       struct extract_note_span *notes)
{
    uint64_t length = p->held < *budget ? p->held : *budget;

    *budget -= length;
    *notes = (struct extract_note_span){.bytes = NULL};
    if (!length)
        return true;
    notes->bytes = malloc((size_t)length);
    if (notes->bytes)
        notes->length = read_part(input, p->offset, notes->bytes, (size_t)length);
    return notes->bytes;
}

// Fills both tables, which have the capacity that count_segments() found. Returns false if memory
// is short.
static bool collect(const struct programs *programs, struct extract_core *core,
                    struct extract_segment *segments)
{
    const struct extract_input *input = programs->input;
    uint64_t budget = NOTE_BYTES;
    size_t loads = 0;

    for (size_t i = 0; i < programs->count; i++) {
        struct program p = read_program(programs, i);
        if (p.type == PT_NOTE && core->note_count < programs->notes) {
            if (!copy_notes(input, &p, &budget, &core->notes[core->note_count++]))
                return false;
        } else if (p.type == PT_LOAD && p.held && loads < programs->loads) {
            segments[loads++] = (struct extract_segment){
                p.address, p.held, input->bytes ? input->bytes + p.offset : NULL, p.offset};
        }
    }
    // The file may have changed since the segments were counted.
    return loads == programs->loads && core->note_count == programs->notes;
}

static enum extract_code no_loads(const struct programs *programs, struct extract_error *error)
{
    if (programs->missing || programs->count < programs->announced || programs->elf.cut)
        return extract_error_set(error, EXTRACT_TRUNCATED, programs->input->name,
                                 "write the core again, with space for all of it",
                                 "ends after %zu bytes, before the first byte of memory",
                                 programs->input->length);
    return bad_core(programs->input->name, "holds no memory", error);
}

static enum extract_code add_segments(struct extract_images *images, struct extract_input *input,
                                      const struct extract_segment *segments, size_t count,
                                      struct extract_error *error)
{
    struct extract_image *spans;
    size_t span_count;
    enum extract_code code =
        extract_overlay(segments, count, input->name, &spans, &span_count, error);

    if (code)
        return code;
    code = extract_images_add(images, input, spans, span_count, error);
    free(spans);
    return code;
}

static enum extract_code load_programs(const struct programs *programs,
                                       struct extract_images *images, struct extract_input *input,
                                       struct extract_error *error)
{
    struct extract_core *core =
        calloc(1, sizeof *core + programs->notes * sizeof(struct extract_note_span));
    struct extract_segment *segments = calloc(programs->loads, sizeof *segments);
    enum extract_code code;

    if (core && segments && collect(programs, core, segments)) {
        core->elf = programs->elf;
        code = add_segments(images, input, segments, programs->loads, error);
    } else {
        code = extract_error_set(error, EXTRACT_NOMEM, input->name, NULL,
                                 "no memory for %zu segments", programs->count);
    }
    free(segments);
    if (code) {
        extract_core_free(core);
        return code;
    }
    images->core = core;
    images->byte_order = programs->elf.byte_order;
    images->missing = programs->missing;
    return EXTRACT_OK;
}

// Returns the number of bytes that the headers describe, at most: up to the end of the segments, or
// of the section headers.
static uint64_t end_of(const struct programs *programs)
{
    const struct extract_elf *elf = &programs->elf;
    uint64_t end = elf->shoff ? elf->shoff + (uint64_t)elf->shnum * elf->shentsize : 0;

    for (size_t i = 0; i < programs->count; i++) {
        struct program p = read_program(programs, i);
        if (p.offset <= programs->input->length && p.offset + p.file_bytes > end)
            end = p.offset + p.file_bytes;
    }
    return end;
}

static bool is_whole(const struct extract_input *input)
{
    struct programs programs = {.input = input};

    return extract_elf_identify(input->bytes, input->length, &programs.elf) && !programs.elf.cut &&
           programs.elf.type == ET_CORE && !find_programs(&programs, NULL) &&
           end_of(&programs) == input->length;
}

enum extract_code extract_core_load(struct extract_images *images, struct extract_input *input,
                                    struct extract_error *error)
{
    struct programs programs = {.input = input};
    uint8_t header[HEADER_BYTES];

    if (input->bytes)
        extract_images_mend_line_ends(images, input, is_whole);
    size_t got = read_part(input, 0, header, sizeof header);
    if (!extract_elf_identify(header, got, &programs.elf))
        return bad_core(input->name, "not an ELF file", error);
    if (programs.elf.cut)
        return no_loads(&programs, error);
    if (programs.elf.type != ET_CORE)
        return bad_core(input->name, "an ELF file, but not a core", error);
    enum extract_code code = find_programs(&programs, error);
    if (code)
        return code;
    count_segments(&programs);
    if (!programs.loads)
        return no_loads(&programs, error);
    return load_programs(&programs, images, input, error);
}

const struct extract_core *extract_core_of(const struct extract_memory *memory)
{
    const struct extract_images *images = extract_images_of(memory);

    return images ? images->core : NULL;
}

static bool is_named(const uint8_t *name, uint32_t length, const char *owner)
{
    return length == strlen(owner) + 1 && memcmp(name, owner, length) == 0;
}

// Reads the note at the cursor: its bytes, and its type if it is of a known owner, else 0. Returns
// false at the end of the notes.
static bool read_note(struct extract_cursor *c, uint32_t *type, const uint8_t **bytes,
                      uint32_t *length)
{
    uint32_t name_bytes = extract_cursor_u32(c);

    *length = extract_cursor_u32(c);
    *type = extract_cursor_u32(c);
    const uint8_t *name = extract_cursor_span(c, name_bytes);
    extract_cursor_span(c, -name_bytes & 3); // name and bytes are each filled up to a word
    *bytes = extract_cursor_span(c, *length);
    if (c->failed)
        return false;
    extract_cursor_span(c, -*length & 3);
    bool is_ours = *type == EXTRACT_CORE_REGISTERS;
    if (!is_named(name, name_bytes, is_ours ? EXTRACT_CORE_OWNER : "CORE"))
        *type = 0;
    return true;
}

bool extract_core_next_note(const struct extract_core *core, struct extract_core_note *note)
{
    for (; note->index < core->note_count; note->index++, note->at = 0) {
        const struct extract_note_span *span = &core->notes[note->index];
        struct extract_cursor c =
            extract_cursor_make(span->bytes, (size_t)span->length, core->elf.byte_order);
        extract_cursor_seek(&c, note->at);
        while (extract_cursor_left(&c) && note->seen++ < NOTES_MAX &&
               read_note(&c, &note->type, &note->bytes, &note->length)) {
            note->at = c.at;
            if (note->type)
                return true;
        }
    }
    return false;
}

bool extract_core_entry(const struct extract_core *core, uint64_t *entry)
{
    struct extract_core_note note = {.index = 0};

    while (extract_core_next_note(core, &note))
        if (note.type == NT_AUXV)
            return extract_auxv_entry(note.bytes, note.length, core->elf.byte_order,
                                      core->elf.wide ? 8 : 4, entry);
    return false;
}

void extract_core_free(struct extract_core *core)
{
    for (size_t i = 0; core && i < core->note_count; i++)
        free(core->notes[i].bytes);
    free(core);
}

enum extract_code extract_memory_open_core(struct extract_memory **memory, const char *path,
                                           struct extract_error *error)
{
    struct extract_input input = {.name = path};
    uint64_t length;

    input.file = extract_images_open_file(path, &length);
    if (input.file < 0)
        return extract_images_open(memory, path, extract_core_load, error);
    input.length = (size_t)length;
    struct extract_line_ends ends = {0};
    extract_line_ends_add_file(&ends, input.file, length);
    if (extract_line_ends_are_likely(&ends)) {
        close(input.file);
        return extract_images_open(memory, path, extract_core_load, error);
    }
    enum extract_code code = extract_memory_new_images(memory, error);
    if (!code)
        code = extract_core_load(extract_images_of(*memory), &input, error);
    if (input.file >= 0)
        close(input.file);
    if (code) {
        extract_memory_close(*memory);
        *memory = NULL;
    }
    return code;
}
