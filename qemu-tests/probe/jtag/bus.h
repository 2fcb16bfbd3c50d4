// SPDX-License-Identifier: MIT
// probe/jtag: the memory bus as an access port drives it. In: beats. Out: their values; each beat
// is counted, charged to the link, failed where a fault is set, and followed by what the tear
// injector has for it.
#ifndef PROBE_BUS_H
#define PROBE_BUS_H

#include "probe/jtag/knobs.h"
#include "probe/targets/target.h"

struct tear;

struct bus {
    const struct target *target;
    struct knobs *knobs;
    struct tear *tear;
    bool new_transaction; // the next beat begins one
};

// One beat, as in target.h. False: a bus fault.
bool bus_read(struct bus *bus, uint32_t address, unsigned bytes, uint64_t *value);
bool bus_write(struct bus *bus, uint32_t address, unsigned bytes, uint64_t value);

#endif
