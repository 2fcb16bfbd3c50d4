// SPDX-License-Identifier: MIT
// qemu-tests/images: events as fast as they can be written, from two threads that take turns and
// an interrupt; each proves itself (proof.h). The ring wraps thousands of times. A test may slow
// the threads down while they run.
#include "image.h"
#include "kernel.h"
#include "proof.h"

enum { SOURCE_INTERRUPT = 2, TURN = 100 };

// What each source has written; the last event of a source has the number below it.
volatile uint32_t storm_produced[PROOF_SOURCES];
// Turns of an empty loop before each event of a thread; written by tests.
volatile uint32_t storm_pause;

static ULONG trace_ring[IMAGE_RING_BYTES / sizeof(ULONG)];
static TX_THREAD storm_a_thread, storm_b_thread;
static _Alignas(8) UCHAR stacks[2][IMAGE_STACK_BYTES];

static void produce(uint32_t source, uint32_t thread)
{
    uint32_t sequence = storm_produced[source];
    ULONG lock = bout_lock(); // nothing comes between the entry's number and the entry
    struct proof proof = proof_make(source, sequence, bout_trace_inserted, thread);
    bout_trace_user_event(PROOF_FIRST_ID + source, proof.info[0], proof.info[1], proof.info[2],
                          proof.info[3]);
    bout_unlock(lock);
    storm_produced[source] = sequence + 1;
}

void board_device_interrupt(void)
{
    produce(SOURCE_INTERRUPT, PROOF_INTERRUPT);
}

static void storm_entry(ULONG source)
{
    uint32_t self = (uint32_t)(uintptr_t)bout_thread_identify();
    for (ULONG i = 1;; i++) {
        for (uint32_t turn = 0; turn < storm_pause; turn++) {
        }
        produce((uint32_t)source, self);
        if (i % TURN == 0)
            bout_thread_relinquish();
    }
}

static void define(void)
{
    image_trace_start(trace_ring, sizeof trace_ring, IMAGE_SLOTS);
    image_thread(&storm_a_thread, "storm A", storm_entry, 0, stacks[0], 8);
    image_thread(&storm_b_thread, "storm B", storm_entry, 1, stacks[1], 8);
    board_device_start(487);
}

void image_main(void)
{
    bout_start(define);
}
