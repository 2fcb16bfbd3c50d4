// SPDX-License-Identifier: MIT
// qemu-tests/images: a poor target. The registry has 8 slots for 15 threads and a semaphore, names
// have 16 bytes, and the timestamp is a 16-bit down counter with garbage above it. Two control
// blocks come from a pool, so that no symbol has their names either.
#include "image.h"
#include "port.h"
#include "small_config.h"

enum { SLOTS = 8, CREW = 14, POOLED = 2, EVENT_SHIFT = 4096, EVENT_WATCH = 5000 };

static ULONG trace_ring[IMAGE_RING_BYTES / 2 / sizeof(ULONG)];
static TX_THREAD captain, pilot, navigator, engineer, cook, doctor, carpenter, gunner, purser,
    steward, stoker, lookout;
static TX_THREAD *const crew[CREW - POOLED] = {&captain, &pilot,   &navigator, &engineer,
                                               &cook,    &doctor,  &carpenter, &gunner,
                                               &purser,  &steward, &stoker,    &lookout};
static char *const names[CREW] = {"captain",
                                  "pilot",
                                  "navigator",
                                  "engineer",
                                  "cook",
                                  "doctor",
                                  "carpenter with a long name",
                                  "gunner",
                                  "purser",
                                  "steward",
                                  "stoker",
                                  "lookout",
                                  "stowaway A",
                                  "stowaway B"};
static _Alignas(8) UCHAR stacks[CREW][IMAGE_STACK_BYTES];
static TX_SEMAPHORE wheel;
static TX_BLOCK_POOL cabins;
static ULONG cabin_area[POOLED * (sizeof(TX_THREAD) / sizeof(ULONG) + 2)];

// Some 300 kHz on each board, so the counter wraps about five times a second.
ULONG small_stamp(void)
{
    static uint32_t random = 1;
    random = random * 1664525 + 1013904223;
    ULONG down = ~(bout_port_stamp() >> BOUT_PORT_STAMP_300KHZ_SHIFT);
    return (down & TX_TRACE_TIME_MASK) | (random & 0xFFFF0000UL);
}

void board_device_interrupt(void)
{
    static ULONG watch;
    bout_trace_user_event(EVENT_WATCH, watch++, 0, 0, 0);
}

static void crew_entry(ULONG number)
{
    for (ULONG shift = 0;; shift++) {
        bout_semaphore_get(&wheel, BOUT_WAIT_FOREVER);
        bout_trace_user_event(EVENT_SHIFT + number, shift, number, 0, 0);
        bout_semaphore_put(&wheel);
        bout_thread_sleep(9 + number % 7 * 2);
    }
}

static void define(void)
{
    image_trace_start(trace_ring, sizeof trace_ring, SLOTS);
    bout_block_pool_create(&cabins, "cabins", sizeof(TX_THREAD), cabin_area, sizeof cabin_area);
    bout_semaphore_create(&wheel, "wheel", 1);
    for (UINT i = 0; i < CREW; i++) {
        void *block = NULL;
        if (i < CREW - POOLED)
            block = crew[i];
        else
            bout_block_allocate(&cabins, &block, BOUT_NO_WAIT);
        image_thread(block, names[i], crew_entry, i, stacks[i], 4 + i % 6);
    }
    board_device_start(5);
}

void image_main(void)
{
    bout_start(define);
}
