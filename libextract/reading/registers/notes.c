// SPDX-License-Identifier: MIT
// registers: reads the notes of a core that have registers (notes.h).
#include "registers/notes.h"
#include "base/cursor.h"
#include "memory/core_dump.h"
#include "registers/register_text.h"
#include <elf.h>
#include <signal.h>
#include <stdlib.h>

enum { SIGNAL_AT = 12 };

// siginfo_t: signal, error, code (above 0: from the kernel), and for faults the address. The note
// follows its thread.
static void take_siginfo(struct extract_cursor c, const struct register_machine *machine,
                         struct extract_registers *registers)
{
    uint32_t number = extract_cursor_u32(&c);

    extract_cursor_u32(&c);
    int32_t code = (int32_t)extract_cursor_u32(&c);
    if (machine->word_bytes == 8)
        extract_cursor_u32(&c);
    uint64_t address = extract_cursor_word(&c, machine->word_bytes);
    bool has_address =
        number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL;
    if (!c.failed && has_address && code > 0)
        register_set(registers, FAULT_SIGNAL_ADDRESS, address);
}

size_t register_notes_of_cores(const struct extract_memory *memory,
                               const struct register_machine *machine,
                               struct extract_registers *registers, size_t most)
{
    const struct extract_core *core = extract_core_of(memory);
    struct register_values *values = malloc(sizeof *values);
    struct extract_core_note note = {.index = 0};
    size_t count = 0;
    bool has_any = false, is_core = core && core->elf.machine == machine->elf_machine;

    while (values && is_core && count < most && extract_core_next_note(core, &note)) {
        if (note.type != EXTRACT_CORE_REGISTERS)
            continue;
        if (register_values_parse(values, EXTRACT_CORE_OWNER, note.bytes, note.length, NULL))
            values->count = 0;
        has_any |= register_values_general(values, machine, &registers[count++]);
    }
    free(values);
    return has_any ? count : 0;
}

size_t register_notes_read(const struct extract_memory *memory,
                           const struct register_machine *machine,
                           struct extract_registers *registers, size_t most)
{
    const struct extract_core *core = extract_core_of(memory);
    struct extract_core_note note = {.index = 0};
    size_t count = 0;

    if (!core || core->elf.machine != machine->elf_machine)
        return 0;
    // A core that Ringside wrote has a note for each thread, too, which are not cores.
    if ((count = register_notes_of_cores(memory, machine, registers, most)) != 0)
        return count;
    while (count < most && extract_core_next_note(core, &note)) {
        struct extract_cursor c =
            extract_cursor_make(note.bytes, note.length, core->elf.byte_order);
        if (note.type == NT_SIGINFO && count)
            take_siginfo(c, machine, &registers[count - 1]);
        if (note.type != NT_PRSTATUS || note.length < machine->note_bytes)
            continue;
        extract_cursor_seek(&c, SIGNAL_AT);
        unsigned number = extract_cursor_u16(&c);
        extract_cursor_seek(&c, machine->pid_at);
        uint64_t thread = extract_cursor_u32(&c);
        extract_cursor_seek(&c, machine->registers_at);
        struct extract_registers *next = &registers[count];
        *next = (struct extract_registers){.known = 0};
        for (unsigned i = 0; i < machine->slots; i++) {
            uint64_t value = extract_cursor_word(&c, machine->word_bytes);
            if (machine->order[i] != NO_REGISTER)
                register_set(next, machine->order[i], value);
        }
        if (number)
            register_set(next, FAULT_SIGNAL, number);
        register_set(next, FAULT_LWP, thread);
        count++;
    }
    return count;
}
