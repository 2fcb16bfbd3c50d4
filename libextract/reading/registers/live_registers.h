// SPDX-License-Identifier: MIT
// registers: the registers of the cores of a live target.
#ifndef EXTRACT_REGISTERS_LIVE_REGISTERS_H
#define EXTRACT_REGISTERS_LIVE_REGISTERS_H

#include "registers/registers_room.h"
#include <extract/memory.h>

// Splits the threads of a server, a list of hexadecimal ids such as "1,2" or "p1.1,p1.2", which the
// caller ends with a NUL. Servers that know no RTOS show one thread per core, numbered from 1.
// Returns whether it is such a list. *mask: bit i is set for core i.
bool register_server_cores(const char *list, uint64_t *mask);

// Halts a live target, and reads the registers of its cores, at most `most`, by their numbers. Of a
// server that shows other threads than cores, only the one that it has selected is read, as core 0.
// *count is 0 for a memory that is not live, or without such registers. Errors: IO.
enum extract_code register_live_read(const struct extract_memory *memory,
                                     const struct register_machine *machine,
                                     enum extract_byte_order order,
                                     struct extract_registers *registers, size_t most,
                                     size_t *count, struct extract_error *error);

// Adds the registers of the FPU to those of `count` cores, of which the other registers were read.
// Errors: IO, NOMEM.
enum extract_code register_live_read_fpu(const struct extract_memory *memory,
                                         const struct register_machine *machine,
                                         enum extract_byte_order order,
                                         struct extract_registers *registers, size_t count,
                                         struct extract_error *error);

#endif
