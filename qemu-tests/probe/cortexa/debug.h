// SPDX-License-Identifier: MIT
// probe/cortexa: the debug registers of an Armv7-A core, which QEMU does not have, on a bus of
// their own. In: accesses. Out: control of the core; instructions that it executes in Debug state.
// Standard: Arm Architecture Reference Manual, Armv7-A (DDI 0406), C8 (the debug communications
// channel), C11 (the debug registers).
#ifndef PROBE_CORTEXA_DEBUG_H
#define PROBE_CORTEXA_DEBUG_H

#include "probe/cortexa/core.h"

// The debug communications channel: a register in each direction.
struct channel_register {
    uint32_t value;
    bool is_full;
};

struct cortexa {
    struct core core;
    uint32_t control;               // DBGDSCR, the bits that are written
    uint32_t sticky;                // and those that stay until they are cleared
    uint32_t instruction;           // DBGITR, in fast mode
    uint32_t didr, midr;            // 0: not read yet
    bool is_unlocked;               // DBGOSLSR
    struct channel_register rx, tx; // DBGDTRRX: to the core; DBGDTRTX: from it
};

// Puts the registers on the bus `debug`. It holds nothing that must be freed.
void cortexa_target(struct target *debug, struct cortexa *cortexa, struct qemu *qemu);

#endif
