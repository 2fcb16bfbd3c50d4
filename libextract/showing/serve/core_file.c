// SPDX-License-Identifier: MIT
// serve: writes an ELF core with one note per thread (extract/serve.h).
//
//     ELF header | program headers | notes | memory
//
// Standard: System V ABI (gABI) 4.1, chapters 4 and 5; notes as GDB reads them for bare metal:
// NT_PRSTATUS per thread, then NT_ARM_VFP or NT_FPREGSET if all its registers of the FPU are known,
// and NT_GDB_TDESC with the target description, for Arm's M-profile and for an FPU. A note per
// core, which GDB skips, has all its registers as text: Ringside reads the core with them.
#include "base/file.h"
#include "memory/core_dump.h"
#include "registers/fpu.h"
#include "serve/core_memory.h"
#include "serve/saved_fpu.h"
#include "serve/words.h"
#include "symbols/dwarf.h"
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NOTE_ALIGN = 4,
    SIGNAL_AT = 12,
    TRAP = 5,
    CHUNK = 65536,
    TDESC = (int)0xff000000,
    ARM_VFP_BYTES = 32 * 8,      // of NT_ARM_VFP, before fpscr
    AARCH64_FPU_BYTES = 33 * 16, // of NT_FPREGSET
    RISCV_FCSR_BYTES = 8,        // of NT_FPREGSET, even if fcsr is not known
    FPU_MOST = AARCH64_FPU_BYTES
};

// The file while it is made. Numbers have the byte order of the target.
struct writer {
    struct extract_text text; // headers and notes
    bool is_big;
    unsigned word_bytes;
    uint64_t note_bytes;
};

static void put_number(struct writer *w, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        extract_text_putc(&w->text, (char)(value >> 8 * (w->is_big ? bytes - 1 - i : i)));
}

static void put_word(struct writer *w, uint64_t value)
{
    put_number(w, value, w->word_bytes);
}

static void put_elf_header(struct writer *w, uint16_t machine, uint32_t flags, uint64_t programs)
{
    bool is_wide = w->word_bytes == 8;
    const unsigned char ident[EI_NIDENT] = {ELFMAG0,
                                            ELFMAG1,
                                            ELFMAG2,
                                            ELFMAG3,
                                            is_wide ? ELFCLASS64 : ELFCLASS32,
                                            w->is_big ? ELFDATA2MSB : ELFDATA2LSB,
                                            EV_CURRENT};

    extract_text_put(&w->text, (const char *)ident, sizeof ident);
    put_number(w, ET_CORE, 2);
    put_number(w, machine, 2);
    put_number(w, EV_CURRENT, 4);
    put_word(w, 0);                                                 // entry
    put_word(w, is_wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)); // program headers
    put_word(w, 0);                                                 // section headers
    put_number(w, flags, 4);
    put_number(w, is_wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), 2);
    put_number(w, is_wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), 2);
    put_number(w, programs, 2);
    put_number(w, 0, 2);
    put_number(w, 0, 2);
    put_number(w, 0, 2);
}

static void put_program_header(struct writer *w, uint32_t type, uint64_t offset, uint64_t address,
                               uint64_t bytes)
{
    bool is_wide = w->word_bytes == 8;
    uint32_t flags = type == PT_LOAD ? PF_R | PF_W | PF_X : 0;

    put_number(w, type, 4);
    if (is_wide)
        put_number(w, flags, 4);
    put_word(w, offset);
    put_word(w, address);
    put_word(w, 0);
    put_word(w, bytes);
    put_word(w, type == PT_LOAD ? bytes : 0);
    if (!is_wide)
        put_number(w, flags, 4);
    put_word(w, 1);
}

static void put_note_header(struct writer *w, const char *name, size_t bytes, uint32_t type)
{
    size_t name_bytes = strlen(name) + 1;

    put_number(w, name_bytes, 4);
    put_number(w, bytes, 4);
    put_number(w, type, 4);
    extract_text_put(&w->text, name, name_bytes);
    extract_text_pad(&w->text, 0, -name_bytes & (NOTE_ALIGN - 1));
}

static void put_thread_note(struct writer *w, const struct register_machine *machine,
                            const struct debug_thread *thread)
{
    size_t start;

    put_note_header(w, "CORE", machine->note_bytes, NT_PRSTATUS);
    start = w->text.used;
    extract_text_pad(&w->text, 0, SIGNAL_AT);
    put_number(w, thread->on_core ? TRAP : 0, 2);
    extract_text_pad(&w->text, 0, machine->pid_at - SIGNAL_AT - 2);
    put_number(w, thread->id, 4);
    extract_text_pad(&w->text, 0, machine->registers_at - machine->pid_at - 4);
    for (unsigned i = 0; i < machine->slots; i++) {
        uint64_t value = 0; // a core cannot say that a register is unknown
        (void)register_get(&thread->registers, machine->order[i], &value);
        put_number(w, value, machine->word_bytes);
    }
    if (w->text.code)
        return;
    extract_text_pad(&w->text, 0, start + machine->note_bytes - w->text.used);
    extract_text_pad(&w->text, 0, -machine->note_bytes & (NOTE_ALIGN - 1));
}

// Writes all registers of the FPU of a thread: a core cannot say that one is unknown. Returns false
// if one is.
static bool put_fpu_note(struct writer *w, const struct extract_remains *remains,
                         struct saved_fpu fpu, const struct debug_thread *thread)
{
    const struct register_machine *machine = register_machine_of(remains->symbols);
    const bool is_arm = machine->elf_machine == EM_ARM;
    const enum extract_byte_order order = w->is_big ? EXTRACT_BIG : EXTRACT_LITTLE;
    char bytes[FPU_MOST] = "";
    size_t used = 0;
    struct saved_fpu_register reg;

    for (unsigned i = 0; saved_fpu_register(machine, fpu, i, &reg); i++) {
        if (reg.number == EXTRACT_FPU_CONTROL && is_arm)
            used = ARM_VFP_BYTES;
        if (machine->elf_machine == EM_RISCV && reg.number > EXTRACT_FPU_CONTROL)
            continue; // parts of fcsr
        if (!saved_fpu_read(thread, remains->memory, reg.number, (uint8_t *)bytes + used, reg.bytes,
                            order))
            return false;
        used += reg.bytes;
    }
    if (!used)
        return false;
    if (machine->elf_machine == EM_RISCV)
        used = fpu.count * (size_t)fpu.bytes + RISCV_FCSR_BYTES;
    else if (machine->elf_machine == EM_AARCH64)
        used = AARCH64_FPU_BYTES;
    put_note_header(w, is_arm ? "LINUX" : "CORE", used, is_arm ? NT_ARM_VFP : NT_FPREGSET);
    extract_text_put(&w->text, bytes, used);
    extract_text_pad(&w->text, 0, -used & (NOTE_ALIGN - 1));
    return true;
}

// The banks of stack pointers are left out: GDB cannot unwind with them in a core.
static void put_description_note(struct writer *w, const struct register_machine *machine,
                                 const struct saved_fpu *fpu)
{
    struct extract_text xml;

    extract_text_init(&xml, NULL, NULL);
    serve_put_description(&xml, machine, 1, fpu);
    extract_text_putc(&xml, 0);
    put_note_header(w, "GDB", xml.used, (uint32_t)TDESC);
    extract_text_put(&w->text, xml.data, xml.used);
    extract_text_pad(&w->text, 0, -xml.used & (NOTE_ALIGN - 1));
    if (xml.code)
        w->text.code = xml.code;
    extract_text_free(&xml);
}

// Writes the registers of the FPU of a core, each with all its digits, which show its size.
static void put_core_fpu(struct extract_text *lines, const struct register_machine *machine,
                         const struct extract_registers *core)
{
    const struct saved_fpu fpu = {core->fpu_bytes, EXTRACT_FPU_CONTROL, true};
    struct saved_fpu_register reg;

    for (unsigned i = 0; saved_fpu_register(machine, fpu, i, &reg); i++)
        if (core->fpu_known >> reg.number & 1 && reg.bytes <= sizeof(uint64_t))
            extract_text_printf(lines, "%s 0x%0*llx\n", reg.name, (int)reg.bytes * 2,
                                (unsigned long long)core->fpu[reg.number][0]);
}

// Writes the registers of a core, with those of a fault, as --registers reads them. A stack pointer
// that was found by search is left out: it would be read as known.
static void put_core_note(struct writer *w, const struct register_machine *machine,
                          const struct extract_registers *core, bool psp_is_likely)
{
    struct extract_text lines;
    uint64_t value;

    extract_text_init(&lines, NULL, NULL);
    for (unsigned i = 0; i < FAULT_END; i++) {
        const char *name = i < machine->count   ? machine->names[i]
                           : i >= EXTRACT_FAULT ? register_fault_name(i)
                                                : NULL;
        bool is_found = machine->is_m_profile && psp_is_likely && (i == ARM_MSP || i == ARM_PSP);
        if (name && !is_found && register_get(core, i, &value))
            extract_text_printf(&lines, "%s 0x%llx\n", name, (unsigned long long)value);
    }
    put_core_fpu(&lines, machine, core);
    put_note_header(w, EXTRACT_CORE_OWNER, lines.used, EXTRACT_CORE_REGISTERS);
    extract_text_put(&w->text, lines.data ? lines.data : "", lines.used);
    extract_text_pad(&w->text, 0, -lines.used & (NOTE_ALIGN - 1));
    if (lines.code)
        w->text.code = lines.code;
    extract_text_free(&lines);
}

// ---- threads ----

static enum extract_code no_memory(const struct extract_remains *remains,
                                   struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_NOMEM, extract_symbols_path(remains->symbols), NULL,
                             "out of memory");
}

// Gets the threads in the order of the core's notes: GDB shows the first one.
static enum extract_code list_threads(const struct extract_remains *remains,
                                      struct debug_threads *threads, struct extract_error *error)
{
    const struct register_machine *machine = register_machine_of(remains->symbols);

    if (!machine || !machine->features[0].name)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, extract_symbols_path(remains->symbols),
                                 "use a program for Arm, AArch64, RISC-V or 68k",
                                 "the registers of the machine are not known");
    if (!debug_threads_build(threads, remains->kernel, machine, remains->cores,
                             remains->core_count))
        return no_memory(remains, error);
    size_t kept = 0;
    struct debug_thread first = threads->list[threads->current];
    memmove(threads->list + 1, threads->list, threads->current * sizeof first);
    threads->list[0] = first;
    threads->current = 0;
    // Threads without registers would show zeros as if they were known.
    for (size_t i = 0; i < threads->count; i++)
        if (threads->list[i].registers.known)
            threads->list[kept++] = threads->list[i];
    threads->count = kept;
    if (!kept || debug_threads_split(threads, remains->memory, remains->symbols, true))
        return EXTRACT_OK;
    debug_threads_free(threads);
    return no_memory(remains, error);
}

// ---- the file ----

static void put_core(struct extract_text *text, const struct extract_remains *remains,
                     const struct debug_threads *threads, const struct core_memory *memory)
{
    const struct register_machine *machine = register_machine_of(remains->symbols);
    struct writer notes = {.is_big = extract_symbols_byte_order(remains->symbols) == EXTRACT_BIG,
                           .word_bytes = extract_symbols_pointer_bytes(remains->symbols)};
    struct writer head = notes;

    extract_text_init(&notes.text, NULL, NULL);
    extract_text_init(&head.text, NULL, NULL);
    const struct saved_fpu fpu = saved_fpu_find(remains->symbols, machine, threads);
    bool has_fpu = false;
    for (size_t i = 0; i < threads->count; i++) {
        put_thread_note(&notes, machine, &threads->list[i]);
        has_fpu |= put_fpu_note(&notes, remains, fpu, &threads->list[i]);
    }
    if (machine->is_m_profile || has_fpu)
        put_description_note(&notes, machine, has_fpu ? &fpu : &(struct saved_fpu){.bytes = 0});
    for (size_t i = 0; i < remains->core_count; i++)
        put_core_note(&notes, machine, &remains->cores[i], remains->psp_is_likely);
    bool is_wide = head.word_bytes == 8;
    uint64_t headers = (is_wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)) +
                       (memory->count + 1) * (is_wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
    uint64_t offset = headers + notes.text.used;
    put_elf_header(&head, machine->elf_machine, extract_symbols_flags(remains->symbols),
                   memory->count + 1);
    put_program_header(&head, PT_NOTE, headers, 0, notes.text.used);
    for (size_t i = 0; i < memory->count; i++) {
        put_program_header(&head, PT_LOAD, offset, memory->list[i].address, memory->list[i].length);
        offset += memory->list[i].length;
    }
    extract_text_put(text, head.text.data, head.text.used);
    extract_text_put(text, notes.text.data, notes.text.used);
    core_memory_put(memory, remains->memory, text);
    if (notes.text.code || head.text.code)
        text->code = EXTRACT_NOMEM;
    extract_text_free(&notes.text);
    extract_text_free(&head.text);
}

enum extract_code extract_core_write(struct extract_text *text,
                                     const struct extract_remains *remains,
                                     enum extract_core_memory part, struct extract_error *error)
{
    struct debug_threads threads;
    struct core_memory memory;
    enum extract_code code = list_threads(remains, &threads, error);

    if (code)
        return code;
    core_memory_read(&memory, remains, part);
    if (memory.failed || memory.bytes.code)
        code = no_memory(remains, error);
    else if (!memory.count)
        code = extract_error_set(error, EXTRACT_UNREADABLE, extract_memory_name(remains->memory),
                                 "read the RAM of the target", "no memory can be read");
    else
        put_core(text, remains, &threads, &memory);
    if (!code && text->code)
        code = extract_error_set(error, text->code, extract_memory_name(remains->memory), NULL,
                                 text->code == EXTRACT_NOMEM ? "out of memory"
                                                             : "the core cannot be written");
    core_memory_free(&memory);
    debug_threads_free(&threads);
    return code;
}

// Writes GDB commands that give the threads of the core their names.
static enum extract_code put_names(struct extract_text *text, const struct extract_remains *remains,
                                   struct extract_error *error)
{
    struct debug_threads threads;
    enum extract_code code = list_threads(remains, &threads, error);

    if (code)
        return code;
    extract_text_puts(text, "# GDB commands: the names of the threads in the core.\n");
    for (size_t i = 0; i < threads.count; i++) {
        const char *name = threads.list[i].name;
        if (!*name)
            continue;
        extract_text_printf(text, "thread apply %zu -s -q thread name ", i + 1);
        extract_text_escaped(text, name);
        // GDB joins a line that ends in a backslash with the next one. It discards the space.
        extract_text_puts(text, name[strlen(name) - 1] == '\\' ? " \n" : "\n");
    }
    debug_threads_free(&threads);
    return text->code ? no_memory(remains, error) : EXTRACT_OK;
}

static enum extract_code create_names(const struct extract_remains *remains, const char *path,
                                      struct extract_error *error)
{
    struct extract_text text;

    extract_text_init(&text, NULL, NULL);
    enum extract_code code = put_names(&text, remains, error);
    if (!code)
        code = extract_file_create(path, text.data, text.used, error);
    extract_text_free(&text);
    return code;
}

// Writes a part of the core; blocks of zeros become holes.
static bool write_part(void *context, const char *data, size_t length)
{
    enum { BLOCK = 4096 };
    static const char zeros[BLOCK];
    bool is_written = true;

    for (size_t at = 0, end; at < length && is_written; at = end) {
        size_t first = length - at < BLOCK ? length - at : BLOCK;
        bool is_zero = memcmp(data + at, zeros, first) == 0;
        for (end = at + first; end < length; end += first) {
            first = length - end < BLOCK ? length - end : BLOCK;
            if ((memcmp(data + end, zeros, first) == 0) != is_zero)
                break;
        }
        is_written = is_zero ? extract_atomic_file_write_zeros(context, end - at)
                             : extract_atomic_file_write(context, data + at, end - at);
    }
    return is_written;
}

static enum extract_code create_core(const struct extract_remains *remains, const char *path,
                                     enum extract_core_memory part, struct extract_error *error)
{
    struct extract_atomic_file file;
    struct extract_text text;
    enum extract_code code = extract_atomic_file_open(&file, path, true, error);

    if (code)
        return code;
    extract_text_init(&text, write_part, &file);
    code = extract_core_write(&text, remains, part, error);
    if (!code && extract_text_flush(&text))
        code = extract_file_error(path, NULL, error);
    extract_text_free(&text);
    if (!code)
        return extract_atomic_file_keep(&file, error);
    extract_atomic_file_drop(&file);
    return code;
}

enum extract_code extract_core_save(const char *path, const struct extract_remains *remains,
                                    enum extract_core_memory part, struct extract_error *error)
{
    size_t bytes = strlen(path) + sizeof ".gdb";
    char *names = malloc(bytes);

    if (!names)
        return no_memory(remains, error);
    snprintf(names, bytes, "%s.gdb", path);
    enum extract_code code = create_names(remains, names, error);
    if (!code && (code = create_core(remains, path, part, error)))
        remove(names);
    free(names);
    return code;
}
