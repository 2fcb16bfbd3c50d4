// SPDX-License-Identifier: MIT
// probe/cortexa: the debug registers. In: accesses. Out: control of the core, instructions for it.
// Standard: Arm Architecture Reference Manual, Armv7-A (DDI 0406), C11.10 (a map of the registers),
// C11.11 (their bits); CoreSight Architecture (IHI 0029), chapter D (ROM tables).
#include "probe/cortexa/debug.h"
#include "probe/cortexa/instructions.h"

enum {
    DIDR = 0x000,
    VCR = 0x01C,
    DTRRX = 0x080,
    ITR = 0x084,
    DSCR = 0x088,
    DTRTX = 0x08C,
    DRCR = 0x090,
    BVR = 0x100,
    BCR = 0x140,
    OSLAR = 0x300,
    OSLSR = 0x304,
    PRSR = 0x314,
    MIDR = 0xD00,
    DEVTYPE = 0xFCC,
    PIDR4 = 0xFD0,
    PIDR0 = 0xFE0,
    REGISTERS_END = 0x1000
};

// DBGDSCR
enum {
    DSCR_HALTED = 1 << 0,
    DSCR_RESTARTED = 1 << 1,
    DSCR_ENTRY = 2, // shift
    DSCR_ABORT = 1 << 6,
    DSCR_UNDEFINED = 1 << 8,
    DSCR_MASKED = 1 << 11,
    DSCR_EXECUTES = 1 << 13,
    DSCR_MODE = 3 << 20,
    MODE_FAST = 2 << 20,
    DSCR_KEPT = DSCR_MODE | 0x8FC00,
    DSCR_COMPLETE = 1 << 24,
    DSCR_ADVANCED = 1 << 25,
    DSCR_TX_WAS_FULL = 1 << 26,
    DSCR_RX_WAS_FULL = 1 << 27,
    DSCR_TX_FULL = 1 << 29,
    DSCR_RX_FULL = 1 << 30
};

enum { REQUEST_HALT = 1 << 0, REQUEST_RESTART = 1 << 1, CLEAR_STICKY = 1 << 2 }; // DBGDRCR
enum { PRSR_POWERED = 1 << 0, PRSR_WAS_RESET = 1 << 3, PRSR_HALTED = 1 << 4 };   // DBGPRSR
enum { OSLSR_HAS_LOCK = 1 << 3, OSLSR_LOCKED = 1 << 1 };                         // DBGOSLSR
enum { VCR_RESET = 1 << 0, DIDR_SECURITY = 1 << 12, DIDR_BREAKPOINTS = 24 /* shift */ };
#define OSLAR_LOCK UINT32_C(0xC5ACCE55)

// A ROM table with one entry, and what it leads to.
#define ROM_TABLE UINT32_C(0x80000000)
enum { DEBUG_AT = 0x1000, PRESENT = 3 };

static const uint8_t rom_id[4] = {0x0D, 0x10, 0x05, 0xB1};
static const uint8_t debug_id[4] = {0x0D, 0x90, 0x05, 0xB1};
static const uint8_t cortex_a15[4] = {0x0F, 0xBC, 0x0B, 0x00};

// DBGDIDR and MIDR are the guest's own, for which it is halted for a moment; but it has other
// breakpoints, and its Monitor mode is not shown.
static void learn(struct cortexa *a)
{
    struct gdbstub *gdb = &a->core.qemu->gdb;
    const bool runs = !core_is_halted(&a->core);
    uint64_t didr = 0, midr = 0;
    if (a->didr || (runs && !qmp_update(&a->core.qemu->qmp)))
        return;
    const bool moves = runs && !a->core.qemu->qmp.stopped;
    if (runs && !qemu_halt(a->core.qemu))
        return;
    gdb_read_register(gdb, "DBGDIDR", &didr);
    gdb_read_register(gdb, "MIDR", &midr);
    didr &= ~(UINT64_C(0xF) << DIDR_BREAKPOINTS);
    didr |= (CORE_BREAKPOINTS - 1) << DIDR_BREAKPOINTS;
    didr &= ~(uint64_t)DIDR_SECURITY;
    a->didr = (uint32_t)didr;
    a->midr = (uint32_t)midr;
    if (moves)
        qemu_go(a->core.qemu);
}

static uint32_t read_dscr(struct cortexa *a)
{
    const bool halted = core_is_halted(&a->core);
    uint32_t value = a->control | a->sticky | DSCR_COMPLETE | DSCR_ADVANCED;
    value |= (uint32_t)a->core.entry << DSCR_ENTRY;
    value |= halted ? DSCR_HALTED : 0;
    value |= DSCR_RESTARTED;
    value |= a->rx.is_full ? DSCR_RX_FULL | DSCR_RX_WAS_FULL : 0;
    value |= a->tx.is_full ? DSCR_TX_FULL | DSCR_TX_WAS_FULL : 0;
    return value;
}

static bool is_fast(const struct cortexa *a)
{
    return (a->control & DSCR_MODE) == MODE_FAST;
}

// After an error, instructions are ignored until the debugger has seen it.
static void execute(struct cortexa *a)
{
    if (a->sticky || !(a->control & DSCR_EXECUTES) || !core_is_halted(&a->core))
        return;
    switch (instruction_execute(a, a->instruction)) {
    case INSTRUCTION_DONE:
        break;
    case INSTRUCTION_ABORT:
        a->sticky |= DSCR_ABORT;
        break;
    case INSTRUCTION_UNDEFINED:
        a->sticky |= DSCR_UNDEFINED;
        break;
    }
}

static void write_itr(struct cortexa *a, uint32_t value)
{
    a->instruction = value;
    if (!is_fast(a))
        execute(a);
}

static void write_dtrrx(struct cortexa *a, uint32_t value)
{
    a->rx = (struct channel_register){value, true};
    if (is_fast(a))
        execute(a);
}

static uint32_t read_dtrtx(struct cortexa *a)
{
    const uint32_t value = a->tx.value;
    a->tx.is_full = false;
    if (is_fast(a))
        execute(a);
    return value;
}

static void write_drcr(struct cortexa *a, uint32_t value)
{
    const bool halted = core_is_halted(&a->core);
    if (value & CLEAR_STICKY)
        a->sticky = 0;
    if (value & REQUEST_HALT && !halted)
        core_halt(&a->core);
    else if (value & REQUEST_RESTART && halted && instructions_end(a))
        core_resume(&a->core, a->control & DSCR_MASKED);
}

static uint32_t read_prsr(struct cortexa *a)
{
    uint32_t value = PRSR_POWERED;
    value |= a->core.was_reset ? PRSR_WAS_RESET : 0;
    value |= core_is_halted(&a->core) ? PRSR_HALTED : 0;
    a->core.was_reset = false;
    return value;
}

// The registers with which a component identifies itself, from 0xFD0 on, a byte each.
static uint32_t read_id(uint32_t offset, const uint8_t part[4], const uint8_t component[4])
{
    const uint32_t at = (offset - PIDR0) / 4;
    if (offset < PIDR0)
        return offset == PIDR4 ? 4 : 0;
    return at < 4 ? part[at] : component[at - 4];
}

static uint32_t read_rom_table(uint32_t offset)
{
    static const uint8_t no_part[4] = {0};
    if (offset >= PIDR4)
        return read_id(offset, no_part, rom_id);
    return offset ? 0 : DEBUG_AT | PRESENT;
}

static bool is_of(uint32_t offset, uint32_t first)
{
    return offset >= first && offset < first + 4 * CORE_BREAKPOINTS;
}

static uint32_t read_register(struct cortexa *a, uint32_t offset)
{
    if (is_of(offset, BVR))
        return a->core.breakpoints[(offset - BVR) / 4].address;
    if (is_of(offset, BCR))
        return a->core.breakpoints[(offset - BCR) / 4].control;
    if (offset >= PIDR4)
        return read_id(offset, cortex_a15, debug_id);
    switch (offset) {
    case DIDR:
        learn(a);
        return a->didr;
    case MIDR:
        learn(a);
        return a->midr;
    case VCR:
        return a->core.catches_reset ? VCR_RESET : 0;
    case DTRRX:
        return a->rx.value;
    case DSCR:
        return read_dscr(a);
    case DTRTX:
        return read_dtrtx(a);
    case OSLSR:
        return OSLSR_HAS_LOCK | (a->is_unlocked ? 0 : OSLSR_LOCKED);
    case PRSR:
        return read_prsr(a);
    case DEVTYPE:
        return 0x15;
    default:
        return 0;
    }
}

static void write_register(struct cortexa *a, uint32_t offset, uint32_t value)
{
    if (is_of(offset, BVR))
        a->core.breakpoints[(offset - BVR) / 4].address = value & ~UINT32_C(3);
    else if (is_of(offset, BCR))
        a->core.breakpoints[(offset - BCR) / 4].control = value;
    else if (offset == VCR)
        a->core.catches_reset = value & VCR_RESET;
    else if (offset == DTRRX)
        write_dtrrx(a, value);
    else if (offset == ITR)
        write_itr(a, value);
    else if (offset == DSCR)
        a->control = value & DSCR_KEPT;
    else if (offset == DTRTX)
        a->tx.value = value;
    else if (offset == DRCR)
        write_drcr(a, value);
    else if (offset == OSLAR)
        a->is_unlocked = value != OSLAR_LOCK;
}

static bool read_bus(void *context, uint32_t address, unsigned bytes, uint64_t *value)
{
    const uint32_t offset = address - ROM_TABLE;
    if (bytes != 4 || offset >= DEBUG_AT + REGISTERS_END)
        return false;
    *value = offset < DEBUG_AT ? read_rom_table(offset) : read_register(context, offset - DEBUG_AT);
    return true;
}

static bool write_bus(void *context, uint32_t address, unsigned bytes, uint64_t value)
{
    const uint32_t offset = address - ROM_TABLE;
    if (bytes != 4 || offset >= DEBUG_AT + REGISTERS_END)
        return false;
    if (offset >= DEBUG_AT)
        write_register(context, offset - DEBUG_AT, (uint32_t)value);
    return true;
}

void cortexa_target(struct target *debug, struct cortexa *cortexa, struct qemu *qemu)
{
    *cortexa = (struct cortexa){.didr = 0};
    core_open(&cortexa->core, qemu);
    *debug = (struct target){.context = cortexa,
                             .rom_table = ROM_TABLE | PRESENT,
                             .read = read_bus,
                             .write = write_bus,
                             .event_fd = -1};
}
