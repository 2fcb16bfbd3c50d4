// SPDX-License-Identifier: MIT
// registers: names, places and values of the registers of the FPU (fpu.h).
//
// Sources: Debugging with GDB, "Standard Target Features"; RISC-V ABIs Specification 1.0, register
// convention; RISC-V Unprivileged ISA, 11.2 (fcsr).
#include "registers/fpu.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FFLAGS = 0x1F, FRM_SHIFT = 5 }; // of fcsr

// Registers whose names are a text and a number that counts up.
static const struct {
    uint16_t machine;
    const char *prefix;
    uint8_t from, to; // numbers in the names
    uint8_t number;   // of the first one
} names[] = {
    {EM_ARM, "d", 0, 31, 0},     {EM_AARCH64, "v", 0, 31, 0}, {EM_RISCV, "f", 0, 31, 0},
    {EM_RISCV, "ft", 0, 7, 0},   {EM_RISCV, "fs", 0, 1, 8},   {EM_RISCV, "fa", 0, 7, 10},
    {EM_RISCV, "fs", 2, 11, 18}, {EM_RISCV, "ft", 8, 11, 28},
};

static const struct {
    uint16_t machine;
    const char *name;
    uint8_t number;
} controls[] = {
    {EM_ARM, "fpscr", EXTRACT_FPU_CONTROL},    {EM_RISCV, "fcsr", EXTRACT_FPU_CONTROL},
    {EM_RISCV, "fflags", FPU_FFLAGS},          {EM_RISCV, "frm", FPU_FRM},
    {EM_AARCH64, "fpsr", EXTRACT_FPU_CONTROL}, {EM_AARCH64, "fpcr", FPU_FPCR},
};

unsigned fpu_register_number(const struct register_machine *machine, const char *name)
{
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
        if (controls[i].machine == machine->elf_machine && !strcasecmp(controls[i].name, name))
            return controls[i].number;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i].prefix);
        if (names[i].machine != machine->elf_machine ||
            strncasecmp(names[i].prefix, name, length) != 0)
            continue;
        size_t digits = strspn(name + length, "0123456789");
        unsigned long number = strtoul(name + length, NULL, 10);
        if (digits && digits <= 2 && !name[length + digits] && number >= names[i].from &&
            number <= names[i].to)
            return (unsigned)(names[i].number + number - names[i].from);
    }
    return NO_REGISTER;
}

static const struct extract_fpu_part *find_part(const struct extract_fpu_part *parts,
                                                unsigned number)
{
    for (size_t i = 0; parts && i < EXTRACT_FPU_PARTS; i++)
        if (number >= parts[i].first && number - parts[i].first < parts[i].count)
            return &parts[i];
    return NULL;
}

bool fpu_register_read(const struct extract_fpu_part *parts, struct extract_memory *memory,
                       unsigned number, uint8_t *value, unsigned bytes)
{
    const bool is_control = number >= EXTRACT_FPU_CONTROL;
    const unsigned stored = is_control ? EXTRACT_FPU_CONTROL : number;
    const struct extract_fpu_part *part = find_part(parts, stored);
    size_t got = 0;

    if (!part || bytes < part->bytes || (bytes > part->bytes && !is_control))
        return false;
    memset(value, 0, bytes); // the bits of a register of control beyond its last one
    uint64_t address = part->address + (uint64_t)(stored - part->first) * part->step;
    (void)extract_memory_read(memory, address, value, part->bytes, &got, NULL);
    if (number == FPU_FFLAGS || number == FPU_FRM) {
        memset(value + 1, 0, bytes - 1);
        value[0] = (uint8_t)(number == FPU_FFLAGS ? value[0] & FFLAGS : value[0] >> FRM_SHIFT);
    }
    return got == part->bytes;
}

void fpu_register_set(struct extract_registers *registers, unsigned number, unsigned bytes,
                      const uint64_t value[2])
{
    registers->fpu_known |= UINT64_C(1) << number;
    registers->fpu[number][0] = value[0];
    registers->fpu[number][1] = value[1];
    if (number < EXTRACT_FPU_CONTROL)
        registers->fpu_bytes = (uint8_t)bytes;
}

bool fpu_register_put(const struct extract_registers *registers, unsigned number, uint8_t *value,
                      unsigned bytes, enum extract_byte_order order)
{
    const bool is_part = number == FPU_FFLAGS || number == FPU_FRM;
    const unsigned stored = is_part ? EXTRACT_FPU_CONTROL : number;

    if (stored >= EXTRACT_FPU_REGISTERS || !(registers->fpu_known >> stored & 1) ||
        (stored < EXTRACT_FPU_CONTROL && bytes != registers->fpu_bytes))
        return false;
    uint64_t words[2] = {registers->fpu[stored][0], registers->fpu[stored][1]};
    if (is_part)
        words[0] = number == FPU_FFLAGS ? words[0] & FFLAGS : words[0] >> FRM_SHIFT;
    for (unsigned i = 0; i < bytes; i++) {
        unsigned at = order == EXTRACT_BIG ? bytes - 1 - i : i;
        uint64_t byte = at < sizeof words ? words[at / 8] >> at % 8 * 8 : 0;
        value[i] = (uint8_t)byte;
    }
    return true;
}
