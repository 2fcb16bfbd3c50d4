// SPDX-License-Identifier: MIT
// registers: values by name, as debuggers print them.
#ifndef EXTRACT_REGISTERS_REGISTER_TEXT_H
#define EXTRACT_REGISTERS_REGISTER_TEXT_H

#include "registers/registers_room.h"
#include <extract/error.h>
#include <stddef.h>

enum { REGISTER_NAME = 64, REGISTER_VALUES = 2048 };

struct register_value {
    char name[REGISTER_NAME]; // as written
    uint64_t value;
    unsigned digits; // of the value, after 0x; 0: it has none
};

struct register_values {
    struct register_value list[REGISTER_VALUES];
    size_t count;
};

// Reads a text with one register per line, as GDB's "info registers", OpenOCD's "reg", or a user
// writes it: "pc 0x1234", "pc: 0x1234", "(15) pc (/32): 0x1234". Empty lines and those that begin
// with '#' or '=' are skipped, and so are registers without a number (vectors, "<unavailable>") and
// messages of GDB, such as "[Inferior 1 (Remote target) detached]". One of them, "[Current thread
// is 1 (LWP 4711)]", is read as the register "lwp". `name` is for messages. Errors: BAD (a line is
// none of these; with its number), LIMIT.
// Of a register that GDB also prints with "(raw 0x...)" or "u64 = 0x...", that value is read.
enum extract_code register_values_parse(struct register_values *values, const char *name,
                                        const void *bytes, size_t length,
                                        struct extract_error *error);

// Finds a register by name, without regard to case. Returns false if there is none.
bool register_values_find(const struct register_values *values, const char *name, uint64_t *value);

// Takes the registers of a machine out of the values. Returns whether there is a general one.
bool register_values_general(const struct register_values *values,
                             const struct register_machine *machine,
                             struct extract_registers *registers);
// Does the same with several cores. The registers after a line "core 1", or "Thread 2" as GDB's
// "thread apply all" prints it, are those of core 1; those before, of core 0. Returns one more than
// the highest number of a core with a general register; 0: there is none. Cores from `most` on are
// left out.
size_t register_values_cores(const struct register_values *values,
                             const struct register_machine *machine,
                             struct extract_registers *registers, size_t most);

// Returns whether a register is one of several that a machine has of it, such as sp_irq, ESR_EL1 or
// DFSR_S: the state of the core decides whether it is that of the core.
bool register_is_variant(const struct register_machine *machine, const char *name);
// Sets those registers of a core, of which the others are known, that its state chooses among
// such values.
void register_values_choose(const struct register_values *values,
                            const struct register_machine *machine,
                            struct extract_registers *registers);

#endif
