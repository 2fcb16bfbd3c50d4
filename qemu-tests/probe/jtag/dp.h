// SPDX-License-Identifier: MIT
// probe/jtag: the debug port. In: 35-bit scans. Out: acknowledgements, and requests to the access
// port. Standard: Arm ADIv5 (IHI 0031), chapters B2 (DP registers) and B3 (JTAG-DP).
#ifndef PROBE_DP_H
#define PROBE_DP_H

#include "probe/jtag/ap.h"
#include "probe/jtag/tap.h"

struct dp {
    struct ap *aps; // the access ports, from number 0 on
    size_t ap_count;
    struct knobs *knobs;
    uint32_t control, select;
    uint32_t result; // of the last request; what the next scan takes out
    bool refused;    // the scan under way was answered with WAIT: its request is not taken
};

// The JTAG debug port as the device of a TAP.
struct tap_device dp_device(struct dp *dp);

#endif
