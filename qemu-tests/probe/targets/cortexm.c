// SPDX-License-Identifier: MIT
// probe/targets: Cortex-M debug registers. In: accesses. Out: control of the processor.
// Standard: Armv7-M Architecture Reference Manual (DDI 0403): C1.6 (debug control registers), C1.11
// (flash patch and breakpoint unit), B3.2 (AIRCR), C1.2 (ROM table).
#include "probe/targets/cortexm.h"
#include <stdio.h>

#define ROM_TABLE UINT32_C(0xE00FF000)
#define DWT_CTRL  UINT32_C(0xE0001000)
#define FP_CTRL   UINT32_C(0xE0002000)
#define FP_REMAP  UINT32_C(0xE0002004)
#define FP_COMP   UINT32_C(0xE0002008)
#define VTOR      UINT32_C(0xE000ED08)
#define AIRCR     UINT32_C(0xE000ED0C)
#define DFSR      UINT32_C(0xE000ED30)
#define DHCSR     UINT32_C(0xE000EDF0)
#define DCRSR     UINT32_C(0xE000EDF4)
#define DCRDR     UINT32_C(0xE000EDF8)
#define DEMCR     UINT32_C(0xE000EDFC)

enum {
    C_DEBUGEN = 1 << 0,
    C_HALT = 1 << 1,
    C_STEP = 1 << 2,
    C_MASKINTS = 1 << 3,
    C_WRITABLE = 0x2F,
    S_REGRDY = 1 << 16,
    S_HALT = 1 << 17,
    S_RETIRE_ST = 1 << 24,
    S_RESET_ST = 1 << 25,
    DEBUG_KEY = 0xA05F, // upper half of DHCSR
    DFSR_HALTED = 1 << 0,
    DFSR_BKPT = 1 << 1,
    DFSR_VCATCH = 1 << 3,
    VC_CORERESET = 1 << 0,
    REG_WRITE = 1 << 16, // DCRSR
    RESET_KEY = 0x05FA,  // upper half of AIRCR
    VECTRESET = 1 << 0,
    SYSRESETREQ = 1 << 2,
    FP_ENABLE = 1 << 0,
    FP_KEY = 1 << 1,
    FP_VERSION_2 = 1 << 28 // comparators hold whole addresses
};

// Faults whose handler's first instruction can be caught: bits of DEMCR, number of the exception.
static const struct {
    uint32_t bits;
    uint32_t exception;
} catches[CORTEXM_CATCHES] = {{1 << 10, 3}, {1 << 4, 4}, {1 << 8, 5}, {0xE0, 6}};

// A register by REGSEL of DCRSR: its name in QEMU's description. Those without one of their own
// have the name next to it, of which they are a part or the nearest thing.
struct selected {
    const char *name, *instead;
    unsigned shift; // bits
    uint32_t mask;
};

static bool select_register(unsigned regsel, char name[GDB_NAME], struct selected *selected)
{
    *selected = (struct selected){.name = name, .instead = NULL, .shift = 0, .mask = UINT32_MAX};
    if (regsel < 13)
        snprintf(name, GDB_NAME, "r%u", regsel);
    else if (regsel >= 0x40 && regsel < 0x60) { // S0 to S31 are the halves of D0 to D15
        snprintf(name, GDB_NAME, "d%u", (regsel - 0x40) / 2);
        selected->shift = regsel % 2 * 32;
    } else {
        static const struct {
            unsigned regsel;
            const char *name, *instead;
        } rows[] = {{13, "sp", NULL},  {14, "lr", NULL},  {15, "pc", NULL},     {16, "xpsr", NULL},
                    {17, "msp", "sp"}, {18, "psp", "sp"}, {0x21, "fpscr", NULL}};
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            if (rows[i].regsel != regsel)
                continue;
            selected->name = rows[i].name;
            selected->instead = rows[i].instead;
            return true;
        }
        return false;
    }
    return true;
}

static bool read_named(struct cortexm *m, const struct selected *selected, uint64_t *value)
{
    return gdb_read_register(&m->qemu->gdb, selected->name, value) ||
           (selected->instead && gdb_read_register(&m->qemu->gdb, selected->instead, value));
}

// CONTROL, FAULTMASK, BASEPRI and PRIMASK share a word, from the highest byte down.
static const char *const special[] = {"primask", "basepri", "faultmask", "control"};

static uint32_t read_special(struct cortexm *m)
{
    uint32_t word = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t value;
        if (gdb_read_register(&m->qemu->gdb, special[i], &value))
            word |= (uint32_t)(value & 0xFF) << 8 * i;
    }
    return word;
}

static void transfer(struct cortexm *m, uint32_t request)
{
    char name[GDB_NAME];
    struct selected selected;
    uint64_t value = 0;
    unsigned regsel = request & 0x7F;
    struct gdbstub *gdb = &m->qemu->gdb;
    if (!m->qemu->processor.halted)
        return;
    if (regsel == 20) {
        for (unsigned i = 0; i < 4 && request & REG_WRITE; i++)
            gdb_write_register(gdb, special[i], m->data >> 8 * i & 0xFF);
        m->data = read_special(m);
        return;
    }
    if (!select_register(regsel, name, &selected) || !read_named(m, &selected, &value)) {
        m->data = request & REG_WRITE ? m->data : 0;
        return;
    }
    if (request & REG_WRITE) {
        uint64_t part = (uint64_t)UINT32_MAX << selected.shift;
        gdb_write_register(gdb, selected.name,
                           (value & ~part) | (uint64_t)m->data << selected.shift);
        return;
    }
    m->data = (uint32_t)(value >> selected.shift);
}

static bool is_inserted(const struct cortexm *m, uint32_t address)
{
    for (size_t i = 0; i < m->inserted_count; i++)
        if (m->inserted[i] == address)
            return true;
    return false;
}

static void insert(struct cortexm *m, uint32_t address)
{
    if (!is_inserted(m, address) && gdb_insert(&m->qemu->gdb, address))
        m->inserted[m->inserted_count++] = address;
}

static void remove_all(struct cortexm *m)
{
    while (m->inserted_count)
        gdb_remove(&m->qemu->gdb, m->inserted[--m->inserted_count]);
}

static bool handler_of(struct cortexm *m, uint32_t exception, uint32_t *address)
{
    uint64_t table = 0, vector;
    if (!qemu_read(m->qemu, VTOR, 4, &table) ||
        !qemu_read(m->qemu, (uint32_t)table + 4 * exception, 4, &vector))
        return false;
    *address = (uint32_t)vector & ~UINT32_C(1); // Thumb
    return *address != 0;
}

// Gives the gdbstub what the comparators and DEMCR ask for.
static void insert_all(struct cortexm *m)
{
    uint32_t address;
    remove_all(m);
    for (size_t i = 0; i < CORTEXM_COMPARATORS && m->enabled; i++)
        if (m->comparators[i] & 1)
            insert(m, m->comparators[i] & ~UINT32_C(1));
    m->catch_first = m->inserted_count;
    for (size_t i = 0; i < CORTEXM_CATCHES; i++)
        if (m->monitor & catches[i].bits && handler_of(m, catches[i].exception, &address))
            insert(m, address);
}

static bool is_catch(const struct cortexm *m, uint64_t pc)
{
    for (size_t i = m->catch_first; i < m->inserted_count; i++)
        if (m->inserted[i] == pc)
            return true;
    return false;
}

static void stand(struct cortexm *m, uint32_t reason)
{
    m->qemu->processor.halted = true;
    m->control |= C_HALT;
    m->status |= reason;
}

// The gdbstub is used from the first halt or vector catch on.
static void halt(struct cortexm *m, uint32_t reason)
{
    if (qemu_halt(m->qemu))
        stand(m, reason);
}

// Returns whether the processor hit a breakpoint.
static void look(struct cortexm *m)
{
    uint64_t pc = 0;
    if (m->qemu->processor.halted || !qemu_met_breakpoint(m->qemu))
        return;
    gdb_read_register(&m->qemu->gdb, "pc", &pc);
    stand(m, is_catch(m, pc) ? DFSR_VCATCH : DFSR_BKPT);
}

static void step(struct cortexm *m)
{
    qemu_step(m->qemu, m->control & C_MASKINTS);
    m->has_run = true;
}

// A breakpoint of ours at the next instruction would hit without an instruction in between; a
// vector catch does not.
static void resume(struct cortexm *m)
{
    uint64_t pc = 0;
    gdb_read_register(&m->qemu->gdb, "pc", &pc);
    if (is_catch(m, pc)) {
        remove_all(m);
        step(m);
    }
    insert_all(m);
    m->qemu->processor.halted = false;
    m->has_run = true;
    qemu_go(m->qemu);
}

// Vectors are caught from now on, also by a processor that runs: the gdbstub takes breakpoints
// while the guest is stopped for a moment.
static void arm(struct cortexm *m)
{
    uint64_t pc = 0;
    look(m);
    if (m->qemu->processor.halted || !qmp_update(&m->qemu->qmp))
        return;
    bool stood = m->qemu->qmp.stopped;
    halt(m, 0);
    if (!m->qemu->processor.halted)
        return;
    gdb_read_register(&m->qemu->gdb, "pc", &pc);
    if (is_inserted(m, (uint32_t)pc)) { // met in this moment
        stand(m, is_catch(m, pc) ? DFSR_VCATCH : DFSR_BKPT);
        return;
    }
    m->control &= ~(uint32_t)C_HALT;
    if (!stood) {
        resume(m);
        return;
    }
    insert_all(m);
    m->qemu->processor.halted = false;
}

static uint32_t caught(uint32_t monitor)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < CORTEXM_CATCHES; i++)
        bits |= monitor & catches[i].bits;
    return bits;
}

static void write_demcr(struct cortexm *m, uint32_t value)
{
    bool changes = caught(value) != caught(m->monitor);
    m->monitor = value;
    if (changes)
        arm(m);
}

static void write_dhcsr(struct cortexm *m, uint32_t value)
{
    if (value >> 16 != DEBUG_KEY)
        return;
    look(m);
    m->control = value & C_DEBUGEN ? value & C_WRITABLE : value & C_WRITABLE & ~(uint32_t)C_HALT;
    bool wants_halt = m->control & C_HALT;
    if (wants_halt && !m->qemu->processor.halted)
        halt(m, DFSR_HALTED);
    else if (!wants_halt && m->qemu->processor.halted && value & C_DEBUGEN && value & C_STEP) {
        insert_all(m);
        step(m);
        stand(m, DFSR_HALTED);
    } else if (!wants_halt && m->qemu->processor.halted)
        resume(m);
}

static uint32_t read_dhcsr(struct cortexm *m)
{
    look(m);
    uint32_t value = m->control | S_REGRDY;
    value |= m->qemu->processor.halted ? S_HALT : 0;
    value |= m->has_run || !m->qemu->processor.halted ? S_RETIRE_ST : 0;
    value |= m->was_reset ? S_RESET_ST : 0;
    m->was_reset = m->has_run = false;
    return value;
}

// With VC_CORERESET the processor stops before the first instruction.
static bool reset(void *context, bool asserted)
{
    struct cortexm *m = context;
    bool catches_reset = m->control & C_DEBUGEN && m->monitor & VC_CORERESET;
    if (!asserted && m->qemu->in_reset)
        m->was_reset = true;
    if (!qemu_reset(m->qemu, asserted, catches_reset))
        return false;
    if (!asserted && catches_reset)
        halt(m, DFSR_VCATCH);
    return true;
}

// QEMU cannot reset the processor alone: VECTRESET, too, is a reset of the system.
static void write_aircr(struct cortexm *m, uint32_t value)
{
    if (value >> 16 == RESET_KEY && value & (SYSRESETREQ | VECTRESET)) {
        reset(m, true);
        reset(m, false);
    } else {
        qemu_write(m->qemu, AIRCR, 4, value);
    }
}

// Entries for the system control space, DWT and FPB, and the identification of a ROM table
// (class 1).
static uint32_t rom_table(uint32_t offset)
{
    static const uint32_t entries[] = {0xFFF0F003, 0xFFF02003, 0xFFF03003};
    static const uint32_t id[] = {0x0D, 0x10, 0x05, 0xB1};
    if (offset < sizeof entries)
        return entries[offset / 4];
    return offset >= 0xFF0 ? id[(offset - 0xFF0) / 4] : 0;
}

static bool is_comparator(uint32_t address)
{
    return address >= FP_COMP && address < FP_COMP + 4 * CORTEXM_COMPARATORS;
}

// Returns true if this file has the register.
static bool read_register(struct cortexm *m, uint32_t address, uint32_t *value)
{
    if (address >= ROM_TABLE && address - ROM_TABLE < 4096)
        *value = rom_table(address - ROM_TABLE);
    else if (is_comparator(address))
        *value = m->comparators[(address - FP_COMP) / 4];
    else if (address == FP_CTRL)
        *value = FP_VERSION_2 | CORTEXM_COMPARATORS << 4 | (m->enabled ? FP_ENABLE : 0);
    else if (address == FP_REMAP || address == DWT_CTRL || address == DCRSR)
        *value = 0; // no remapping, no watchpoints
    else if (address == DFSR)
        *value = m->status;
    else if (address == DHCSR)
        *value = read_dhcsr(m);
    else if (address == DCRDR)
        *value = m->data;
    else if (address == DEMCR)
        *value = m->monitor;
    else
        return false;
    return true;
}

static bool write_register(struct cortexm *m, uint32_t address, uint32_t value)
{
    if (is_comparator(address))
        m->comparators[(address - FP_COMP) / 4] = value;
    else if (address == FP_CTRL)
        m->enabled = value & FP_KEY ? value & FP_ENABLE : m->enabled;
    else if (address == DFSR)
        m->status &= ~value;
    else if (address == DHCSR)
        write_dhcsr(m, value);
    else if (address == DCRSR)
        transfer(m, value);
    else if (address == DCRDR)
        m->data = value;
    else if (address == DEMCR)
        write_demcr(m, value);
    else if (address == AIRCR)
        write_aircr(m, value);
    else
        return address == DWT_CTRL || address == FP_REMAP;
    return true;
}

static bool read_bus(void *context, uint32_t address, unsigned bytes, uint64_t *value)
{
    struct qemu *qemu = context;
    uint32_t word;
    if (address >> 20 != 0xE00 ||
        !read_register(qemu->processor.context, address & ~UINT32_C(3), &word))
        return qemu_read(qemu, address, bytes, value);
    *value = word >> 8 * (address & 3);
    return true;
}

static bool write_bus(void *context, uint32_t address, unsigned bytes, uint64_t value)
{
    struct qemu *qemu = context;
    return (address >> 20 == 0xE00 && bytes == 4 &&
            write_register(qemu->processor.context, address, (uint32_t)value)) ||
           qemu_write(qemu, address, bytes, value);
}

void cortexm_target(struct target *target, struct cortexm *cortexm, struct qemu *qemu)
{
    *cortexm = (struct cortexm){.qemu = qemu, .enabled = true, .has_run = true};
    qemu->processor = (struct processor){.context = cortexm, .reset = reset};
    qemu_target(target, qemu);
    target->rom_table = ROM_TABLE | 3;
    target->read = read_bus;
    target->write = write_bus;
}
