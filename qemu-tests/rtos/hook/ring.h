// SPDX-License-Identifier: MIT
// qemu-tests/rtos/hook: what the recorder's own files share. In: the parts of an entry. Out: a
// record in the ring.
#ifndef BOUT_HOOK_RING_H
#define BOUT_HOOK_RING_H

#include "hook.h"

#define HOOK_FRAME_WIDE 0x10000UL // words of 64 bits

// All parts are in the target's byte order, aligned to 4 bytes but for the buffer.
struct hook_parts {
    uint32_t frame; // HOOK_FRAME_WIDE or 0
    bool stamped;
    const void *hook;
    uint32_t hook_bytes;
    const void *data;
    uint32_t data_bytes;
    const void *buffer;
    uint32_t buffer_bytes;
};

void hook_ring_write(const struct hook_parts *parts);

#endif
