// SPDX-License-Identifier: MIT
// probe/jtag: the debug port. In: 35-bit scans. Out: acknowledgements, and requests to the access
// port. Standard: Arm ADIv5 (IHI 0031), chapters B2 (DP registers) and B3 (JTAG-DP).
#ifndef PROBE_DP_H
#define PROBE_DP_H

#include "probe/jtag/ap.h"

struct dp {
    struct ap *ap;
    struct knobs *knobs;
    uint32_t control, select;
    uint32_t result;   // of the last request; what the next scan takes out
    uint64_t requests; // AP requests since the last that a WAIT answer followed
    uint64_t waiting;  // WAIT answers that are still to be given
    bool refused;      // the scan under way was answered with WAIT: its request is not taken
};

// The scan register at Capture-DR: the result of the last request and an acknowledgement.
uint64_t dp_capture(struct dp *dp, bool to_ap);

// The scan register at Update-DR: a request to the DP, or to the AP that is selected.
void dp_access(struct dp *dp, bool to_ap, uint64_t scan);

// DAPABORT: gives up the request under way.
void dp_abort(struct dp *dp);

#endif
