// SPDX-License-Identifier: MIT
// qemu-tests/images/rkh: an RKH stream as fast as it can be written, from two threads that take
// turns and an interrupt. Nobody takes it: the ring wraps all the time. Each source has a user
// event, which proves itself:
//   u32  the number of the source's event, from 0
//   x32  the same with all bits turned
//   mem  number % STORM_TAIL bytes, of which the i-th is the lowest byte of (number + i)
#include "shared.h"

enum { STORM_TAIL = 20, SOURCE_INTERRUPT = 2, SOURCES, TURN = 100, BURST = 4 };

// What each source has written; the last event of a source has the number below it.
volatile uint32_t storm_produced[SOURCES];
// Turns of an empty loop before each event of a thread. Written by tests.
volatile uint32_t storm_pause;

static TX_THREAD storm_a_thread, storm_b_thread;
static _Alignas(8) UCHAR stacks[2][IMAGE_STACK_BYTES];

static void produce(uint32_t source)
{
    UCHAR tail[STORM_TAIL];
    uint32_t number = storm_produced[source];
    for (uint32_t i = 0; i < number % STORM_TAIL; i++)
        tail[i] = (UCHAR)(number + i);
    RKH_TRC_USR_BEGIN((rui8_t)(RKH_TE_USER + source));
    RKH_TUSR_U32(0, number);
    RKH_TUSR_X32(8, ~number);
    RKH_TUSR_MEM(tail, (rui8_t)(number % STORM_TAIL));
    RKH_TRC_USR_END();
    storm_produced[source] = number + 1;
}

void board_device_interrupt(void)
{
    for (uint32_t i = 0; i < BURST; i++)
        produce(SOURCE_INTERRUPT);
}

static void storm_entry(ULONG source)
{
    for (ULONG i = 1;; i++) {
        for (uint32_t turn = 0; turn < storm_pause; turn++) {
        }
        produce((uint32_t)source);
        if (i % TURN == 0)
            bout_thread_relinquish();
    }
}

static void define(void)
{
    rkh_sends = 0;
    rkh_trc_init();
    rkh_filter_everything(RKH_FILTER_OFF);
    rkh_trc_describe();
    image_thread(&storm_a_thread, "storm A", storm_entry, 0, stacks[0], 8);
    image_thread(&storm_b_thread, "storm B", storm_entry, 1, stacks[1], 8);
    board_device_start(487);
}

void image_main(void)
{
    bout_start(define);
}
