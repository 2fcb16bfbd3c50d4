// SPDX-License-Identifier: MIT
// probe/targets: the debug registers of a Cortex-M, which QEMU does not have. In: accesses to the
// private peripheral bus. Out: halt, resume, step, core registers, breakpoints, vector catch and
// reset, done through QMP and the gdbstub.
// Standard: Armv7-M Architecture Reference Manual (DDI 0403), part C1 "Debug architecture".
#ifndef PROBE_CORTEXM_H
#define PROBE_CORTEXM_H

#include "probe/qemu/qemu.h"

enum { CORTEXM_COMPARATORS = 6, CORTEXM_CATCHES = 4 };

struct cortexm {
    struct qemu *qemu;
    uint32_t control;        // DHCSR, the bits that are written
    uint32_t status;         // DFSR
    uint32_t monitor;        // DEMCR
    uint32_t data;           // DCRDR
    bool was_reset, has_run; // since DHCSR was read
    bool enabled;            // FP_CTRL.ENABLE
    uint32_t comparators[CORTEXM_COMPARATORS];
    // What the gdbstub has been given.
    uint32_t inserted[CORTEXM_COMPARATORS + CORTEXM_CATCHES];
    size_t inserted_count, catch_first; // from `catch_first` on they are vectors'
};

// Puts itself between `target` and QEMU. It holds nothing that must be freed.
void cortexm_target(struct target *target, struct cortexm *cortexm, struct qemu *qemu);

#endif
