// SPDX-License-Identifier: MIT
// probe/cortexa: instructions in Debug state. In: an instruction. Out: its effect. What concerns
// the debugger or faults is done here, with the gdbstub's registers and QEMU's memory; the rest is
// executed by QEMU, at the present place of the core.
// Standard: Arm Architecture Reference Manual, Armv7-A (DDI 0406), A8.8 (encodings), B4.1 (system
// control registers), C5.4 (Debug state), C8.1 (the debug communications channel).
#include "probe/cortexa/instructions.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_MODE = 0x1F, MODE_USER = 0x10, MODE_SYSTEM = 0x1F, STATUS_THUMB = 1 << 5 };
#define STATUS_INSTRUCTION_SET UINT32_C(0x0700FC20) // T, J and IT
enum { PC = 15, PAGE = 4096 };

// The fields of instructions.
static int at_0(uint32_t instruction)
{
    return instruction & 0xF;
}

static int at_12(uint32_t instruction)
{
    return instruction >> 12 & 0xF;
}

static int at_16(uint32_t instruction)
{
    return instruction >> 16 & 0xF;
}

static bool get(struct cortexa *a, int number, uint32_t *value)
{
    uint64_t word = 0;
    const bool done = gdb_read_number(&a->core.qemu->gdb, number, &word);
    *value = (uint32_t)word;
    return done;
}

static bool set(struct cortexa *a, int number, uint32_t value)
{
    return gdb_write_number(&a->core.qemu->gdb, number, value);
}

static bool get_status(struct cortexa *a, uint32_t *value)
{
    const bool done = get(a, gdb_number(&a->core.qemu->gdb, "cpsr"), value);
    if (a->core.is_user)
        *value = (*value & ~(uint32_t)STATUS_MODE) | MODE_USER;
    return done;
}

// The gdbstub leads out of each mode but User mode. System mode has the same registers. Returns
// false also if the core does not have the mode.
static bool set_status(struct cortexa *a, uint32_t value)
{
    const int number = gdb_number(&a->core.qemu->gdb, "cpsr");
    uint32_t before, after;
    if (!get(a, number, &before))
        return false;
    a->core.is_user = (value & STATUS_MODE) == MODE_USER && (before & STATUS_MODE) != MODE_USER;
    if (a->core.is_user)
        value |= MODE_SYSTEM;
    return set(a, number, value) && get(a, number, &after) && !((value ^ after) & STATUS_MODE);
}

bool instructions_end(struct cortexa *a)
{
    const int number = gdb_number(&a->core.qemu->gdb, "cpsr");
    uint32_t status;
    if (!a->core.is_user)
        return true;
    a->core.is_user = false;
    return get(a, number, &status) && set(a, number, (status & ~(uint32_t)STATUS_MODE) | MODE_USER);
}

static enum instruction_end end_of(bool done)
{
    return done ? INSTRUCTION_DONE : INSTRUCTION_UNDEFINED;
}

// ---- Memory, through the MMU ----

// QEMU translates addresses as the core does. A page stays where it is while the core is halted.
static bool translate(struct cortexa *a, uint32_t address, uint32_t *physical)
{
    static const char result[] = "gpa: ";
    const uint32_t page = address & ~(uint32_t)(PAGE - 1);
    char command[32];
    struct extract_text answer;
    if (!a->core.page.is_known || a->core.page.address != page) {
        snprintf(command, sizeof command, "gva2gpa 0x%" PRIx32, page);
        extract_text_init(&answer, NULL, NULL);
        a->core.page.is_known = qmp_monitor(&a->core.qemu->qmp, command, &answer);
        extract_text_putc(&answer, '\0');
        const char *at = answer.data ? strstr(answer.data, result) : NULL;
        a->core.page.is_known &= at != NULL;
        a->core.page.address = page;
        a->core.page.physical = at ? (uint32_t)strtoul(at + strlen(result), NULL, 0) : 0;
        extract_text_free(&answer);
    }
    *physical = a->core.page.physical + (address - page);
    return a->core.page.is_known;
}

static bool read_memory(struct cortexa *a, uint32_t address, unsigned bytes, uint64_t *value)
{
    uint32_t physical;
    return address % bytes == 0 && translate(a, address, &physical) &&
           qemu_read(a->core.qemu, physical, bytes, value);
}

static bool write_memory(struct cortexa *a, uint32_t address, unsigned bytes, uint64_t value)
{
    uint32_t physical;
    return address % bytes == 0 && translate(a, address, &physical) &&
           qemu_write(a->core.qemu, physical, bytes, value);
}

// ---- What the table's instructions do ----

static enum instruction_end do_nothing(struct cortexa *a, uint32_t instruction)
{
    (void)a, (void)instruction;
    return INSTRUCTION_DONE;
}

static enum instruction_end receive(struct cortexa *a, uint32_t instruction)
{
    a->rx.is_full = false;
    return end_of(set(a, at_12(instruction), a->rx.value));
}

static enum instruction_end transmit(struct cortexa *a, uint32_t instruction)
{
    a->tx.is_full = true;
    return end_of(get(a, at_12(instruction), &a->tx.value));
}

// The pc that an instruction reads is two instructions ahead.
static enum instruction_end read_pc(struct cortexa *a, uint32_t instruction)
{
    uint32_t pc, status;
    return end_of(get(a, PC, &pc) && get_status(a, &status) &&
                  set(a, at_12(instruction), pc + (status & STATUS_THUMB ? 4 : 8)));
}

static enum instruction_end write_pc(struct cortexa *a, uint32_t instruction)
{
    uint32_t pc;
    return end_of(get(a, at_0(instruction), &pc) && set(a, PC, pc));
}

// Bit 0 of the target chooses the Thumb instruction set.
static enum instruction_end exchange(struct cortexa *a, uint32_t instruction)
{
    uint32_t pc, status;
    if (!get(a, at_0(instruction), &pc) || !get_status(a, &status))
        return INSTRUCTION_UNDEFINED;
    status = pc & 1 ? status | STATUS_THUMB : status & ~(uint32_t)STATUS_THUMB;
    return end_of(set_status(a, status) && set(a, PC, pc & ~UINT32_C(1)));
}

static enum instruction_end read_status(struct cortexa *a, uint32_t instruction)
{
    uint32_t status;
    return end_of(get_status(a, &status) && set(a, at_12(instruction), status));
}

// A bit for each byte that is written.
static enum instruction_end write_status(struct cortexa *a, uint32_t instruction)
{
    uint32_t status, value, mask = 0;
    for (unsigned i = 0; i < 4; i++)
        mask |= instruction & (UINT32_C(1) << (16 + i)) ? UINT32_C(0xFF) << 8 * i : 0;
    return end_of(get_status(a, &status) && get(a, at_0(instruction), &value) &&
                  set_status(a, (status & ~mask) | (value & mask)));
}

// LDRH and STRH, or LDRB and STRB; then the address advances.
static unsigned bytes_of(uint32_t instruction)
{
    return instruction & 1 << 26 ? 1 : 2;
}

static enum instruction_end load(struct cortexa *a, uint32_t instruction)
{
    const unsigned bytes = bytes_of(instruction);
    const int base = at_16(instruction);
    uint32_t address;
    uint64_t value;
    if (!get(a, base, &address))
        return INSTRUCTION_UNDEFINED;
    if (!read_memory(a, address, bytes, &value))
        return INSTRUCTION_ABORT;
    return end_of(set(a, base, address + bytes) && set(a, at_12(instruction), (uint32_t)value));
}

static enum instruction_end store(struct cortexa *a, uint32_t instruction)
{
    const unsigned bytes = bytes_of(instruction);
    const int base = at_16(instruction);
    uint32_t address, value;
    if (!get(a, base, &address) || !get(a, at_12(instruction), &value))
        return INSTRUCTION_UNDEFINED;
    if (!write_memory(a, address, bytes, value))
        return INSTRUCTION_ABORT;
    return end_of(set(a, base, address + bytes));
}

// The debug communications channel from and to memory, a word each.
static enum instruction_end transmit_memory(struct cortexa *a, uint32_t instruction)
{
    const int base = at_16(instruction);
    uint32_t address;
    uint64_t value;
    if (!get(a, base, &address))
        return INSTRUCTION_UNDEFINED;
    if (!read_memory(a, address, 4, &value))
        return INSTRUCTION_ABORT;
    a->tx = (struct channel_register){(uint32_t)value, true};
    return end_of(set(a, base, address + 4));
}

static enum instruction_end receive_memory(struct cortexa *a, uint32_t instruction)
{
    const int base = at_16(instruction);
    uint32_t address;
    if (!get(a, base, &address))
        return INSTRUCTION_UNDEFINED;
    if (!write_memory(a, address, 4, a->rx.value))
        return INSTRUCTION_ABORT;
    a->rx.is_full = false;
    return end_of(set(a, base, address + 4));
}

static int floating_point_number(const struct cortexa *a, uint32_t instruction)
{
    char name[GDB_NAME];
    snprintf(name, sizeof name, "d%u", (instruction & 0xF) | (instruction >> 1 & 0x10));
    return gdb_number(&a->core.qemu->gdb, name);
}

static enum instruction_end read_double(struct cortexa *a, uint32_t instruction)
{
    uint64_t value;
    return end_of(
        gdb_read_number(&a->core.qemu->gdb, floating_point_number(a, instruction), &value) &&
        set(a, at_12(instruction), (uint32_t)value) &&
        set(a, at_16(instruction), (uint32_t)(value >> 32)));
}

static enum instruction_end write_double(struct cortexa *a, uint32_t instruction)
{
    uint32_t low, high;
    return end_of(get(a, at_12(instruction), &low) && get(a, at_16(instruction), &high) &&
                  gdb_write_number(&a->core.qemu->gdb, floating_point_number(a, instruction),
                                   (uint64_t)high << 32 | low));
}

// Puts the instruction to where the core is, and lets QEMU make a step in the Arm instruction set.
static bool step_over(struct cortexa *a, uint32_t instruction, uint32_t at)
{
    struct gdbstub *gdb = &a->core.qemu->gdb;
    uint64_t kept;
    uint32_t next;
    if (!gdb_read_memory(gdb, at, 4, &kept) || !gdb_write_memory(gdb, at, 4, instruction))
        return false;
    const bool stepped = set(a, PC, at) && qemu_step(a->core.qemu, true) && get(a, PC, &next);
    return gdb_write_memory(gdb, at, 4, (uint32_t)kept) && stepped && next == at + 4;
}

static enum instruction_end execute_in_guest(struct cortexa *a, uint32_t instruction)
{
    const int number = gdb_number(&a->core.qemu->gdb, "cpsr");
    uint32_t pc, status;
    if (!get(a, PC, &pc) || !get(a, number, &status) || (status & STATUS_MODE) == MODE_USER)
        return INSTRUCTION_UNDEFINED;
    a->core.page.is_known = false; // the MMU may change
    bool done = set(a, number, status & ~STATUS_INSTRUCTION_SET) &&
                step_over(a, instruction, pc & ~UINT32_C(3));
    done = set(a, number, status) && done;
    return end_of(set(a, PC, pc) && done);
}

// ---- The table ----

#define ANY_0    UINT32_C(0xFFFFFFF0) // any register in this field
#define ANY_12   UINT32_C(0xFFFF0FFF)
#define ANY_16   UINT32_C(0xFFF0FFFF)
#define TRANSFER UINT32_C(0xFFF00FFF) // in both
#define FIELDS   UINT32_C(0xFFF0FFF0) // any bytes of a status register
#define DOUBLE   UINT32_C(0xFFF00FD0)
#define CACHES   UINT32_C(0xFFFF0F1F) // any register, any operation
// MRC and MCR of a system control register.
#define SYSTEM(op1, n, m, op2)                                                                     \
    UINT32_C(0xFFEF0FFF), UINT32_C(0xEE000F10) | (op1) << 21 | (n) << 16 | (op2) << 5 | (m),       \
        execute_in_guest

static const struct row {
    uint32_t mask, bits;
    enum instruction_end (*execute)(struct cortexa *a, uint32_t instruction);
} rows[] = {
    {ANY_12, 0xEE100E15, receive},          // MRC p14, 0, Rt, c0, c5, 0
    {ANY_12, 0xEE000E15, transmit},         // MCR p14, 0, Rt, c0, c5, 0
    {ANY_16, 0xECA05E01, receive_memory},   // STC p14, c5, [Rn], #4
    {ANY_16, 0xECB05E01, transmit_memory},  // LDC p14, c5, [Rn], #4
    {TRANSFER, 0xE0D000B2, load},           // LDRH Rt, [Rn], #2
    {TRANSFER, 0xE4D00001, load},           // LDRB Rt, [Rn], #1
    {TRANSFER, 0xE0C000B2, store},          // STRH Rt, [Rn], #2
    {TRANSFER, 0xE4C00001, store},          // STRB Rt, [Rn], #1
    {ANY_12, 0xE1A0000F, read_pc},          // MOV Rd, PC
    {ANY_0, 0xE1A0F000, write_pc},          // MOV PC, Rm
    {ANY_0, 0xE12FFF10, exchange},          // BX Rm
    {ANY_12, 0xE10F0000, read_status},      // MRS Rd, CPSR
    {FIELDS, 0xE120F000, write_status},     // MSR CPSR_fields, Rm
    {ANY_12, 0xE14F0000, execute_in_guest}, // MRS Rd, SPSR
    {DOUBLE, 0xEC500B10, read_double},      // VMOV Rt, Rt2, Dm
    {DOUBLE, 0xEC400B10, write_double},     // VMOV Dm, Rt, Rt2
    {CACHES, 0xEE070F15, do_nothing},       // MCR p15, 0, Rt, c7, c5: instruction cache, ISB
    {CACHES, 0xEE070F1A, do_nothing},       // c10: data cache, DSB, DMB
    {CACHES, 0xEE070F1E, do_nothing},       // c14: data cache
    {SYSTEM(0, 0, 0, 0)},                   // MIDR
    {SYSTEM(0, 0, 0, 1)},                   // CTR
    {SYSTEM(0, 0, 0, 5)},                   // MPIDR
    {SYSTEM(1, 0, 0, 0)},                   // CCSIDR
    {SYSTEM(1, 0, 0, 1)},                   // CLIDR
    {SYSTEM(2, 0, 0, 0)},                   // CSSELR
    {SYSTEM(0, 1, 0, 0)},                   // SCTLR
    {SYSTEM(0, 2, 0, 0)},                   // TTBR0
    {SYSTEM(0, 2, 0, 1)},                   // TTBR1
    {SYSTEM(0, 2, 0, 2)},                   // TTBCR
    {SYSTEM(0, 3, 0, 0)},                   // DACR
    {SYSTEM(0, 5, 0, 0)},                   // DFSR
    {SYSTEM(0, 5, 0, 1)},                   // IFSR
    {SYSTEM(0, 6, 0, 0)},                   // DFAR
    {SYSTEM(0, 6, 0, 2)},                   // IFAR
    {SYSTEM(0, 12, 0, 0)},                  // VBAR
    {SYSTEM(0, 13, 0, 1)},                  // CONTEXTIDR
};

enum instruction_end instruction_execute(struct cortexa *a, uint32_t instruction)
{
    enum instruction_end end = INSTRUCTION_UNDEFINED;
    size_t i = 0;
    while (i < sizeof rows / sizeof *rows && (instruction & rows[i].mask) != rows[i].bits)
        i++;
    if (i < sizeof rows / sizeof *rows)
        end = rows[i].execute(a, instruction);
    if (end == INSTRUCTION_UNDEFINED)
        fprintf(stderr, "ringside-probe: instruction 0x%08" PRIx32 ": %s in Debug state\n",
                instruction,
                i < sizeof rows / sizeof *rows ? "QEMU did not execute it" : "is not known");
    return end;
}
