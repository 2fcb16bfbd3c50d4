// SPDX-License-Identifier: MIT
// qemu-tests/images/hooks: hook words as fast as they can be written, from two threads that take
// turns and an interrupt, which the tick's interrupts; the kernel's own lie between them. Each
// proves itself (shared.h). The ring wraps thousands of times, and so do its positions.
#include "shared.h"

enum { SOURCE_INTERRUPT = 2, TURN = 100, LOOSE_WORD = 0x0CD00000 };

// What each source has written; the last record of a source has the number below it.
volatile uint32_t storm_produced[PROOF_SOURCES];
// Turns of an empty loop before each record of a thread, and records of an interrupt: several,
// so that others interrupt it in between. Written by tests.
volatile uint32_t storm_pause, storm_burst = 16;

static TX_THREAD storm_a_thread, storm_b_thread;
static _Alignas(8) UCHAR stacks[2][IMAGE_STACK_BYTES];

static void produce(uint32_t source, uint32_t thread)
{
    uint32_t sequence = storm_produced[source];
    hooks_prove(source, sequence, thread);
    storm_produced[source] = sequence + 1;
}

void board_device_interrupt(void)
{
    for (uint32_t i = 0; i < storm_burst; i++)
        produce(SOURCE_INTERRUPT, PROOF_INTERRUPT);
}

static void storm_entry(ULONG source)
{
    uint32_t self = (uint32_t)(uintptr_t)bout_thread_identify();
    for (ULONG i = 1;; i++) {
        for (uint32_t turn = 0; turn < storm_pause; turn++) {
        }
        produce((uint32_t)source, self);
        TRCHKL1(LOOSE_WORD, i); // nothing but the recorder keeps interrupts out
        if (i % TURN == 0)
            bout_thread_relinquish();
    }
}

static void define(void)
{
    bout_hooks_open(HOOK_BUFFER_BYTES, false);
    // The positions are about to begin at 0 again.
    ringside_hooks.head = ringside_hooks.tail = ~(uint32_t)HOOK_BUFFER_BYTES + 1;
    image_thread(&storm_a_thread, "storm A", storm_entry, 0, stacks[0], 8);
    image_thread(&storm_b_thread, "storm B", storm_entry, 1, stacks[1], 8);
    board_device_start(487);
}

void image_main(void)
{
    bout_start(define);
}
