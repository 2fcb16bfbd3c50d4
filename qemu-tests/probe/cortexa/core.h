// SPDX-License-Identifier: MIT
// probe/cortexa: an Armv7-A core, as its debug registers see it. In: requests. Out: halt, resume,
// step, breakpoints and reset, done through QMP and the gdbstub.
// Standard: Arm Architecture Reference Manual, Armv7-A (DDI 0406), C3 (debug events), C5 (Debug
// state).
#ifndef PROBE_CORTEXA_CORE_H
#define PROBE_CORTEXA_CORE_H

#include "probe/qemu/qemu.h"

enum { CORE_BREAKPOINTS = 6 };

// DBGDSCR.MOE: why a core has entered Debug state.
enum core_entry { ENTRY_REQUEST = 0, ENTRY_BREAKPOINT = 1, ENTRY_VECTOR_CATCH = 5 };

struct core {
    struct qemu *qemu;
    enum core_entry entry;
    bool was_reset; // and the debugger has not acknowledged it
    bool catches_reset;
    struct {
        uint32_t address, control; // DBGBVR, DBGBCR
    } breakpoints[CORE_BREAKPOINTS];
    // While it is halted: it is in User mode, for which QEMU's core is in System mode; and the page
    // of memory that was accessed last.
    bool is_user;
    struct {
        bool is_known;
        uint32_t address, physical;
    } page;
    uint32_t inserted[CORE_BREAKPOINTS]; // what the gdbstub has been given
    size_t inserted_count;
};

// Puts itself into `qemu`. It holds nothing that must be freed.
void core_open(struct core *core, struct qemu *qemu);

// Returns whether the core is halted now. A running core may have hit a breakpoint.
bool core_is_halted(struct core *core);

bool core_halt(struct core *core);

// Goes on; or makes one step, if a breakpoint is set at all addresses but the present one.
// `masked`: the step takes no interrupt.
bool core_resume(struct core *core, bool masked);

#endif
