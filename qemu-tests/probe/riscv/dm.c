// SPDX-License-Identifier: MIT
// probe/riscv: the debug module: one hart, no program buffer, abstract commands that access
// registers, system bus access. In: accesses of registers. Out: what they do.
// Standard: RISC-V External Debug Support 0.13.2, 3.4 to 3.7 and 3.12 (registers).
#include "probe/riscv/dm.h"

enum {
    DM_DATA0 = 0x04,
    DM_DATA1 = 0x05,
    DM_CONTROL = 0x10,
    DM_STATUS = 0x11,
    DM_ABSTRACT = 0x16,
    DM_COMMAND = 0x17,
    DM_SUMMARY0 = 0x40,
    DATA_COUNT = 2
};

enum {
    CONTROL_ACTIVE = 1 << 0,
    CONTROL_RESET = 1 << 1,
    CONTROL_CLEAR_RESET_HALT = 1 << 2,
    CONTROL_SET_RESET_HALT = 1 << 3,
    CONTROL_ACK_RESET = 1 << 28,
    CONTROL_RESUME = 1 << 30
};
#define CONTROL_HALT (UINT32_C(1) << 31)

// There is one hart, so both of each pair of "any" and "all" are set.
enum {
    STATUS_VERSION = 2, // 0.13
    STATUS_HAS_RESET_HALT = 1 << 5,
    STATUS_AUTHENTICATED = 1 << 7,
    STATUS_HALTED = 3 << 8,
    STATUS_RUNNING = 3 << 10,
    STATUS_UNAVAILABLE = 3 << 12,
    STATUS_RESUMED = 3 << 16,
    STATUS_WAS_RESET = 3 << 18
};

enum {
    COMMAND_REGISTER = 0, // cmdtype
    COMMAND_WRITE = 1 << 16,
    COMMAND_TRANSFER = 1 << 17,
    COMMAND_POSTEXEC = 1 << 18,
    COMMAND_INCREMENT = 1 << 19,
    SIZE_32 = 2, // aarsize
    SIZE_64 = 3,
    ERROR_UNSUPPORTED = 2, // cmderr
    ERROR_EXCEPTION = 3,
    ERROR_STATE = 4
};

static uint32_t read_status(struct dm *dm)
{
    uint32_t value = STATUS_VERSION | STATUS_AUTHENTICATED | STATUS_HAS_RESET_HALT;
    if (dm->in_reset)
        value |= STATUS_UNAVAILABLE;
    else
        value |= hart_is_halted(dm->hart) ? STATUS_HALTED : STATUS_RUNNING;
    value |= dm->resumed ? STATUS_RESUMED : 0;
    value |= dm->hart->was_reset ? STATUS_WAS_RESET : 0;
    return value;
}

static void set_reset(struct dm *dm, bool asserted, bool halts)
{
    if (asserted != dm->in_reset)
        hart_reset(dm->hart, asserted, halts || dm->halts_on_reset);
    dm->in_reset = asserted;
}

// dmactive is 0: all but the hart is as at the start.
static void deactivate(struct dm *dm)
{
    struct bus *bus = dm->sba.bus;
    struct hart *hart = dm->hart;
    dm->halts_on_reset = false;
    set_reset(dm, false, false);
    *dm = (struct dm){.hart = hart, .sba = {.bus = bus}};
    sba_reset(&dm->sba);
}

// There is one hart: whatever is selected, it is hart 0.
static void write_control(struct dm *dm, uint32_t value)
{
    if (!(value & CONTROL_ACTIVE)) {
        deactivate(dm);
        return;
    }
    dm->active = true;
    if (value & CONTROL_CLEAR_RESET_HALT)
        dm->halts_on_reset = false;
    else if (value & CONTROL_SET_RESET_HALT)
        dm->halts_on_reset = true;
    set_reset(dm, value & CONTROL_RESET, value & CONTROL_HALT);
    if (value & CONTROL_ACK_RESET)
        dm->hart->was_reset = false;
    if (dm->in_reset)
        return;
    bool halted = hart_is_halted(dm->hart);
    if (value & CONTROL_HALT && !halted)
        hart_halt(dm->hart);
    else if (!(value & CONTROL_HALT) && value & CONTROL_RESUME && halted)
        dm->resumed = hart_resume(dm->hart);
}

static unsigned transfer(struct dm *dm, uint32_t command, unsigned size)
{
    unsigned number = command & 0xFFFF;
    uint64_t value = dm->data[0] | (size == SIZE_64 ? (uint64_t)dm->data[1] << 32 : 0);
    if (command & COMMAND_WRITE)
        return hart_write(dm->hart, number, value) ? 0 : ERROR_EXCEPTION;
    if (!hart_read(dm->hart, number, &value))
        return ERROR_EXCEPTION;
    dm->data[0] = (uint32_t)value;
    if (size == SIZE_64)
        dm->data[1] = (uint32_t)(value >> 32);
    return 0;
}

static unsigned execute(struct dm *dm, uint32_t command)
{
    unsigned size = command >> 20 & 7;
    if (command >> 24 != COMMAND_REGISTER || command & (COMMAND_POSTEXEC | COMMAND_INCREMENT))
        return ERROR_UNSUPPORTED;
    if (dm->in_reset || !hart_is_halted(dm->hart))
        return ERROR_STATE;
    if (!(command & COMMAND_TRANSFER))
        return 0;
    if (size != SIZE_32 && (size != SIZE_64 || !hart_is_64_bit(dm->hart)))
        return ERROR_UNSUPPORTED;
    return transfer(dm, command, size);
}

uint32_t dm_read(struct dm *dm, unsigned reg)
{
    if (!dm->active)
        return 0;
    switch (reg) {
    case DM_DATA0:
    case DM_DATA1:
        return dm->data[reg - DM_DATA0];
    case DM_CONTROL:
        return CONTROL_ACTIVE | (dm->in_reset ? CONTROL_RESET : 0);
    case DM_STATUS:
        return read_status(dm);
    case DM_ABSTRACT:
        return dm->error << 8 | DATA_COUNT;
    case DM_SUMMARY0:
        return !dm->in_reset && hart_is_halted(dm->hart);
    default:
        return sba_read(&dm->sba, reg);
    }
}

void dm_write(struct dm *dm, unsigned reg, uint32_t value)
{
    if (reg == DM_CONTROL)
        write_control(dm, value);
    else if (!dm->active)
        return;
    else if (reg == DM_DATA0 || reg == DM_DATA1)
        dm->data[reg - DM_DATA0] = value;
    else if (reg == DM_ABSTRACT)
        dm->error &= ~(value >> 8);
    else if (reg == DM_COMMAND)
        dm->error = dm->error ? dm->error : execute(dm, value);
    else
        sba_write(&dm->sba, reg, value);
}
