// SPDX-License-Identifier: MIT
// probe/jtag: the memory bus. In: beats. Out: accesses of the target, with what a user has set.
#include "probe/jtag/bus.h"
#include "probe/targets/tear.h"

// What is due for a beat; false: it must fail.
static bool begin(struct bus *bus, uint32_t address, unsigned bytes)
{
    struct counters *counters = &bus->knobs->counters;
    counters->beats++;
    counters->bytes += bytes;
    knobs_charge(bus->knobs, bytes, bus->new_transaction);
    bus->new_transaction = false;
    return !knobs_is_fault(bus->knobs, address, bytes);
}

static bool end(struct bus *bus, bool done)
{
    bus->knobs->counters.faults += !done;
    tear_beat(bus->tear);
    return done;
}

bool bus_read(struct bus *bus, uint32_t address, unsigned bytes, uint64_t *value)
{
    const struct target *target = bus->target;
    *value = 0;
    return end(bus,
               begin(bus, address, bytes) && target->read(target->context, address, bytes, value));
}

bool bus_write(struct bus *bus, uint32_t address, unsigned bytes, uint64_t value)
{
    const struct target *target = bus->target;
    return end(bus,
               begin(bus, address, bytes) && target->write(target->context, address, bytes, value));
}
