// SPDX-License-Identifier: MIT
// probe/riscv: the debug module. In: accesses of its registers. Out: control of the hart, its
// registers through abstract commands, and memory through system bus access.
// Standard: RISC-V External Debug Support 0.13.2, chapter 3 "Debug Module (DM)".
#ifndef PROBE_DM_H
#define PROBE_DM_H

#include "probe/riscv/hart.h"
#include "probe/riscv/sba.h"

struct dm {
    struct hart *hart;
    struct sba sba;
    bool active;         // dmcontrol.dmactive
    bool in_reset;       // dmcontrol.ndmreset
    bool halts_on_reset; // set through dmcontrol.setresethaltreq
    bool resumed;        // dmstatus.anyresumeack
    unsigned error;      // abstractcs.cmderr
    uint32_t data[2];
};

uint32_t dm_read(struct dm *dm, unsigned reg);
void dm_write(struct dm *dm, unsigned reg, uint32_t value);

#endif
