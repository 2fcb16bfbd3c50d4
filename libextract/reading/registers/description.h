// SPDX-License-Identifier: MIT
// registers: the registers of a live server, as its target description lists them.
#ifndef EXTRACT_REGISTERS_DESCRIPTION_H
#define EXTRACT_REGISTERS_DESCRIPTION_H

#include "registers/registers_room.h"

enum { DESCRIBED_MOST = 512, DESCRIBED_NAME = 16 };

struct described_register {
    unsigned number; // in the protocol
    unsigned bytes;
    unsigned index; // of registers_room.h; NO_REGISTER: another one
    unsigned fpu;   // number of a register of the FPU (fpu.h); NO_REGISTER: another one
    char variant[DESCRIBED_NAME]; // one of several registers (register_text.h); "": another one
};

struct description {
    struct described_register list[DESCRIBED_MOST]; // by number
    size_t count;
    unsigned next; // number of the next register without one
};

// Adds the registers of a document of the target description (target.xml, or one that it includes).
void description_add(struct description *description, const struct register_machine *machine,
                     const char *xml, size_t length);
// Finds the file that a document includes next, after *at. Returns false after the last one.
bool description_next_include(const char *xml, size_t length, size_t *at, char *name, size_t size);

// Finds a register by its index of registers_room.h. Returns NULL if it is not described.
const struct described_register *description_find(const struct description *description,
                                                  unsigned index);

// Reads the value of a register from its two digits per byte. Returns false if it is not known
// ("xx"), or too long.
bool described_value(const struct described_register *reg, const char *digits,
                     enum extract_byte_order order, uint64_t *value);
// Adds a register of the FPU, in the same form. One that is not known, or too long, is left out.
void described_fpu_take(const struct described_register *reg, const char *digits,
                        enum extract_byte_order order, struct extract_registers *registers);
// Takes the registers out of a server's answer to g: those with the lowest numbers, one after the
// other. Returns how many of the list there are.
size_t description_take(const struct description *description, const char *text, size_t length,
                        enum extract_byte_order order, struct extract_registers *registers);

#endif
