// SPDX-License-Identifier: MIT
// probe/riscv: the debug transport module. In: scans. Out: requests to the debug module.
// Standard: RISC-V External Debug Support 0.13.2, chapter 6 "Debug Transport Module (DTM)".
#ifndef PROBE_DTM_H
#define PROBE_DTM_H

#include "probe/jtag/tap.h"
#include "probe/riscv/dm.h"

struct dtm {
    struct dm *dm;
    struct knobs *knobs;
    uint32_t address, data; // of the last request; what the next scan takes out
    bool busy;              // sticky: requests are not taken until it is cleared
};

// The module as the device of a TAP.
struct tap_device dtm_device(struct dtm *dtm);

#endif
