// SPDX-License-Identifier: MIT
// probe/riscv: system bus access. In: accesses of its registers. Out: beats on the target's bus,
// whether the hart runs or is halted.
// Standard: RISC-V External Debug Support 0.13.2, 3.10 and 3.12.18 to 3.12.26.
#ifndef PROBE_SBA_H
#define PROBE_SBA_H

#include "probe/jtag/bus.h"

struct sba {
    struct bus *bus;
    uint32_t control; // sbcs, the bits that are stored
    unsigned error;   // sbcs.sberror
    uint64_t address, data;
};

void sba_reset(struct sba *sba);

// Registers that are not of system bus access read 0, and are not written.
uint32_t sba_read(struct sba *sba, unsigned reg);
void sba_write(struct sba *sba, unsigned reg, uint32_t value);

#endif
