// SPDX-License-Identifier: MIT
// probe/jtag: the AHB access port. In: register accesses. Out: beats on the target's bus.
// Standard: Arm ADIv5 (IHI 0031), chapter C2 "The Memory Access Port".
#ifndef PROBE_AP_H
#define PROBE_AP_H

#include "probe/jtag/bus.h"

struct ap {
    struct bus *bus;
    uint32_t csw, tar;
};

void ap_init(struct ap *ap);

// A register by its address, 0 to 0xFC. False: a bus fault, which the DP makes sticky.
bool ap_read(struct ap *ap, unsigned reg, uint32_t *value);
bool ap_write(struct ap *ap, unsigned reg, uint32_t value);

#endif
