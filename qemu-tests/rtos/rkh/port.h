// SPDX-License-Identifier: MIT
// qemu-tests/rtos/rkh: what the recorder asks of the kernel. In: nothing. Out: a critical section,
// and how fast the stamps are that the application gives. To record without this kernel, write
// another one of these, and name it by RKH_PORT.
#ifndef RKH_PORT_H
#define RKH_PORT_H

#include "kernel.h"

// Ticks of the stamps in a second: some 40000, as the stream has 16 bits for it.
#define RKH_STAMP_SHIFT (BOUT_PORT_STAMP_300KHZ_SHIFT + 3)
#define RKH_STAMP_HZ    (BOUT_PORT_STAMP_HZ >> RKH_STAMP_SHIFT)

static inline ULONG rkh_port_lock(void)
{
    return bout_port_lock();
}

// Nothing becomes ready by being recorded, so there is no switch to look for.
static inline void rkh_port_unlock(ULONG lock)
{
    bout_port_unlock(lock);
}

#endif
