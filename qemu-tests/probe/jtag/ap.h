// SPDX-License-Identifier: MIT
// probe/jtag: a memory access port. In: register accesses. Out: beats on the target's bus.
// Standard: Arm ADIv5 (IHI 0031), chapter C2 "The Memory Access Port".
#ifndef PROBE_AP_H
#define PROBE_AP_H

#include "probe/jtag/bus.h"

struct ap {
    struct bus *bus;
    uint32_t idr; // what the port is
    uint32_t csw, tar;
};

#define AP_AHB UINT32_C(0x24770011) // the bus of the system
#define AP_APB UINT32_C(0x24770002) // the bus of debug registers

void ap_init(struct ap *ap, struct bus *bus, uint32_t idr);

// A register by its address, 0 to 0xFC. False: a bus fault, which the DP makes sticky.
bool ap_read(struct ap *ap, unsigned reg, uint32_t *value);
bool ap_write(struct ap *ap, unsigned reg, uint32_t value);

#endif
