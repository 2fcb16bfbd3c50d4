// SPDX-License-Identifier: MIT
// registers: the notes of an ELF core that hold registers: NT_PRSTATUS of each thread, and those in
// which `ringside core` keeps all registers of each core.
#ifndef EXTRACT_REGISTERS_NOTES_H
#define EXTRACT_REGISTERS_NOTES_H

#include "registers/registers_room.h"
#include <extract/memory.h>

// Reads the registers of each core of the target, or, if the file does not have them, of each
// thread, at most `most`. Returns how many there are; 0 for memory that is not a core of this
// machine.
size_t register_notes_read(const struct extract_memory *memory,
                           const struct register_machine *machine,
                           struct extract_registers *registers, size_t most);
// Reads only those notes in which `ringside core` keeps the registers of cores. Returns how many
// there are; 0 for another core.
size_t register_notes_of_cores(const struct extract_memory *memory,
                               const struct register_machine *machine,
                               struct extract_registers *registers, size_t most);

#endif
