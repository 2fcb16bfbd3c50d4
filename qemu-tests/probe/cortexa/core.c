// SPDX-License-Identifier: MIT
// probe/cortexa: the core. In: halt, resume, reset. Out: packets of the gdbstub.
// Standard: Arm Architecture Reference Manual, Armv7-A (DDI 0406), C11.11.2 (DBGBCR).
#include "probe/cortexa/core.h"

enum {
    CONTROL_ENABLED = 1 << 0,
    CONTROL_BYTES = 0xF << 5, // which of the word are meant
    CONTROL_UPPER_HALF = 0xC << 5,
    CONTROL_TYPE = 0xF << 20,
    TYPE_ADDRESS = 0 << 20,
    TYPE_OTHER_ADDRESSES = 4 << 20
};

static bool is_set(const struct core *core, size_t number, uint32_t type)
{
    const uint32_t control = core->breakpoints[number].control;
    return control & CONTROL_ENABLED && (control & CONTROL_TYPE) == type;
}

static void remove_all(struct core *core)
{
    while (core->inserted_count)
        gdb_remove(&core->qemu->gdb, core->inserted[--core->inserted_count]);
}

static void insert_all(struct core *core)
{
    for (size_t i = 0; i < CORE_BREAKPOINTS; i++) {
        const bool is_upper = (core->breakpoints[i].control & CONTROL_BYTES) == CONTROL_UPPER_HALF;
        const uint32_t address = core->breakpoints[i].address + (is_upper ? 2 : 0);
        if (is_set(core, i, TYPE_ADDRESS) && gdb_insert(&core->qemu->gdb, address))
            core->inserted[core->inserted_count++] = address;
    }
}

// While the core is halted, the gdbstub has no breakpoints: instructions are executed for the
// debugger.
static bool enter_debug_state(struct core *core, enum core_entry entry)
{
    remove_all(core);
    core->qemu->processor.halted = true;
    core->entry = entry;
    core->is_user = false;
    core->page.is_known = false;
    return true;
}

bool core_is_halted(struct core *core)
{
    if (!core->qemu->processor.halted && qemu_met_breakpoint(core->qemu))
        enter_debug_state(core, ENTRY_BREAKPOINT);
    return core->qemu->processor.halted;
}

bool core_halt(struct core *core)
{
    return qemu_halt(core->qemu) && enter_debug_state(core, ENTRY_REQUEST);
}

static bool has_step(const struct core *core)
{
    for (size_t i = 0; i < CORE_BREAKPOINTS; i++)
        if (is_set(core, i, TYPE_OTHER_ADDRESSES))
            return true;
    return false;
}

bool core_resume(struct core *core, bool masked)
{
    if (has_step(core))
        return qemu_step(core->qemu, masked) && enter_debug_state(core, ENTRY_BREAKPOINT);
    insert_all(core);
    core->qemu->processor.halted = false;
    return qemu_go(core->qemu);
}

// The end of a reset also ends Debug state, unless it is entered before the first instruction.
static bool reset(void *context, bool asserted)
{
    struct core *core = context;
    const bool is_end = !asserted && core->qemu->in_reset;
    if (!qemu_reset(core->qemu, asserted, core->catches_reset))
        return false;
    if (!is_end)
        return true;
    core->was_reset = true;
    if (core->catches_reset)
        return qemu_halt(core->qemu) && enter_debug_state(core, ENTRY_VECTOR_CATCH);
    if (!core->qemu->processor.halted)
        return true;
    core->qemu->processor.halted = false;
    return qemu_go(core->qemu);
}

void core_open(struct core *core, struct qemu *qemu)
{
    *core = (struct core){.qemu = qemu};
    qemu->processor = (struct processor){.context = core, .reset = reset};
}
