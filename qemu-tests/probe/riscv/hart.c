// SPDX-License-Identifier: MIT
// probe/riscv: the hart. In: halt, resume, numbers of registers. Out: packets of the gdbstub.
// Standard: RISC-V External Debug Support 0.13.2, 3.6 (numbers of registers), 4.8 (dcsr, dpc), 5.2
// (tselect, tdata1, tdata2, tinfo).
#include "probe/riscv/hart.h"

enum {
    TSELECT = 0x7A0,
    TDATA1 = 0x7A1,
    TDATA2 = 0x7A2,
    TINFO = 0x7A4,
    DCSR = 0x7B0,
    DPC = 0x7B1,
    CSRS = 0x1000, // their count, from 0 on; then x0 to x31 and f0 to f31
    FIRST_F = CSRS + 32,
    REGISTERS = FIRST_F + 32,
    MSTATUS = 0x300
};

enum {
    DCSR_VERSION = 4 << 28,
    DCSR_STEP = 1 << 2,
    DCSR_STEP_INTERRUPTS = 1 << 11,
    DCSR_KEPT = 0xB000 | DCSR_STEP_INTERRUPTS | DCSR_STEP, // the first are of ebreak
    DCSR_PRIVILEGE = 3,
    CAUSE_TRIGGER = 2,
    CAUSE_HALT = 3,
    CAUSE_STEP = 4,
    CAUSE_RESET_HALT = 5
};

enum {
    TRIGGER_ADDRESS = 2, // the type of trigger that matches an address
    TRIGGER_EXECUTE = 1 << 2,
    TRIGGER_MODES = 0x58, // M, S and U
    TRIGGER_HALTS = 1 << 12,
    TRIGGER_KEPT = TRIGGER_EXECUTE | TRIGGER_MODES | TRIGGER_HALTS
};

bool hart_is_64_bit(const struct hart *hart)
{
    return hart->qemu->gdb.sizes[0] == 8;
}

// The type and the debugger's own bit are the highest five of tdata1.
static unsigned type_shift(const struct hart *hart)
{
    return hart_is_64_bit(hart) ? 59 : 27;
}

static bool is_set(const struct hart *hart, size_t trigger)
{
    uint64_t control = hart->triggers[trigger].control;
    return control & TRIGGER_EXECUTE && control & TRIGGER_HALTS;
}

static void remove_all(struct hart *hart)
{
    while (hart->inserted_count)
        gdb_remove(&hart->qemu->gdb, hart->inserted[--hart->inserted_count]);
}

// Gives the gdbstub what the triggers ask for.
static void insert_all(struct hart *hart)
{
    for (size_t i = 0; i < HART_TRIGGERS; i++) {
        uint64_t address = hart->triggers[i].address;
        if (is_set(hart, i) && gdb_insert(&hart->qemu->gdb, address))
            hart->inserted[hart->inserted_count++] = address;
    }
}

static bool stand(struct hart *hart, unsigned cause)
{
    hart->qemu->processor.halted = true;
    hart->cause = cause;
    return true;
}

bool hart_is_halted(struct hart *hart)
{
    if (!hart->qemu->processor.halted && qemu_met_breakpoint(hart->qemu))
        stand(hart, CAUSE_TRIGGER);
    return hart->qemu->processor.halted;
}

bool hart_halt(struct hart *hart)
{
    return qemu_halt(hart->qemu) && stand(hart, CAUSE_HALT);
}

// A step leaves the present instruction, also one that a trigger is set at.
static bool step(struct hart *hart)
{
    remove_all(hart);
    return qemu_step(hart->qemu, !(hart->dcsr & DCSR_STEP_INTERRUPTS)) && stand(hart, CAUSE_STEP);
}

static bool go(struct hart *hart)
{
    remove_all(hart);
    insert_all(hart);
    hart->qemu->processor.halted = false;
    return qemu_go(hart->qemu);
}

bool hart_resume(struct hart *hart)
{
    return hart->dcsr & DCSR_STEP ? step(hart) : go(hart);
}

bool hart_reset(struct hart *hart, bool asserted, bool halts)
{
    struct qemu *qemu = hart->qemu;
    bool is_end = !asserted && qemu->in_reset;
    if (!qemu_reset(qemu, asserted, halts || hart->qemu->processor.halted))
        return false;
    if (!is_end)
        return true;
    hart->was_reset = true;
    hart->dcsr = 0;
    if (halts)
        return qemu_halt(qemu) && stand(hart, CAUSE_RESET_HALT);
    return !hart->qemu->processor.halted || go(hart);
}

static uint64_t read_dcsr(struct hart *hart)
{
    uint64_t privilege = DCSR_PRIVILEGE;
    gdb_read_register(&hart->qemu->gdb, "priv", &privilege);
    return DCSR_VERSION | hart->dcsr | hart->cause << 6 | (privilege & DCSR_PRIVILEGE);
}

static void write_dcsr(struct hart *hart, uint64_t value)
{
    hart->dcsr = value & DCSR_KEPT;
    if ((value ^ read_dcsr(hart)) & DCSR_PRIVILEGE)
        gdb_write_register(&hart->qemu->gdb, "priv", value & DCSR_PRIVILEGE);
}

// The number that the gdbstub has for a register; -1: none.
static int number_in_gdb(const struct hart *hart, unsigned number)
{
    const struct gdbstub *gdb = &hart->qemu->gdb;
    if (number == DPC)
        return gdb_number(gdb, "pc");
    if (number < CSRS)
        return gdb_number(gdb, "mstatus") - MSTATUS + (int)number;
    if (number < FIRST_F)
        return (int)(number - CSRS);
    int first = gdb_number(gdb, "ft0");
    return number < REGISTERS && first >= 0 ? first + (int)(number - FIRST_F) : -1;
}

bool hart_read(struct hart *hart, unsigned number, uint64_t *value)
{
    const unsigned shift = type_shift(hart);
    switch (number) {
    case DCSR:
        *value = read_dcsr(hart);
        return true;
    case TSELECT:
        *value = hart->selected;
        return true;
    case TDATA1:
        *value = hart->triggers[hart->selected].control | (uint64_t)TRIGGER_ADDRESS << (shift + 1);
        return true;
    case TDATA2:
        *value = hart->triggers[hart->selected].address;
        return true;
    case TINFO:
        *value = 1 << TRIGGER_ADDRESS;
        return true;
    default:
        return gdb_read_number(&hart->qemu->gdb, number_in_gdb(hart, number), value);
    }
}

// A trigger for loads and stores, or with other conditions, is not stored.
bool hart_write(struct hart *hart, unsigned number, uint64_t value)
{
    const uint64_t own = UINT64_C(1) << type_shift(hart);
    switch (number) {
    case DCSR:
        write_dcsr(hart, value);
        return true;
    case TSELECT:
        if (value < HART_TRIGGERS)
            hart->selected = (unsigned)value;
        return true;
    case TDATA1:
        hart->triggers[hart->selected].control = value & (TRIGGER_KEPT | own);
        return true;
    case TDATA2:
        hart->triggers[hart->selected].address = value;
        return true;
    default:
        return gdb_write_number(&hart->qemu->gdb, number_in_gdb(hart, number), value);
    }
}

static bool reset(void *context, bool asserted)
{
    struct hart *hart = context;
    return hart_reset(hart, asserted, hart->qemu->processor.halted);
}

void hart_target(struct target *target, struct hart *hart, struct qemu *qemu)
{
    *hart = (struct hart){.qemu = qemu, .was_reset = true};
    qemu->processor = (struct processor){.context = hart, .reset = reset};
    qemu_target(target, qemu);
}
