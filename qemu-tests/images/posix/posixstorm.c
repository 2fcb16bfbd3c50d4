// SPDX-License-Identifier: MIT
// qemu-tests/images/posix: events as fast as they can be recorded, from two threads that take
// turns, an interrupt, and the beginning of every interrupt, the tick's among them, which
// interrupts the other one where the board can. Each proves itself (shared.h); the kernel's own lie
// between them. The ring wraps all the time, and so do its positions.
#include "shared.h"

enum {
    SOURCE_DEVICE = 2,
    SOURCE_ANY_INTERRUPT = 3,
    TURN = 100,
    LAST_WORDS = 63,
    NEXT_WORDS = 4096
};

// Turns of an empty loop before each event of a thread, and events of an interrupt: several,
// so that others interrupt it in between. Once a source has recorded its number, it is silent.
// Written by tests.
volatile uint32_t storm_pause, storm_burst = 16, storm_most = UINT32_MAX;

static TX_THREAD storm_a_thread, storm_b_thread;
static _Alignas(8) UCHAR stacks[2][IMAGE_STACK_BYTES];

// Places for breakpoints: the positions are about to begin at 0 again, or have just done so;
// nothing more will be recorded, and no event is on its way.
static __attribute__((noinline)) void storm_wraps(void)
{
    __asm__ volatile("");
}
static __attribute__((noinline)) void storm_is_silent(void)
{
    __asm__ volatile("");
}

// Every source checks the head. A burst of the kernel's own events may still carry it past the last
// words unseen.
static bool produce(uint32_t source, uint32_t thread)
{
    if (posix_stream(0)[POSIX_HEAD] - (UINT32_MAX - LAST_WORDS) < LAST_WORDS + NEXT_WORDS)
        storm_wraps();
    bool goes_on = posix_produced[source] < storm_most;
    if (goes_on)
        posix_prove(source, thread);
    return goes_on;
}

void board_device_interrupt(void)
{
    for (uint32_t i = 0; i < storm_burst; i++)
        (void)produce(SOURCE_DEVICE, PROOF_INTERRUPT);
}

static void any_interrupt(void)
{
    (void)produce(SOURCE_ANY_INTERRUPT, PROOF_INTERRUPT);
}

static void storm_entry(ULONG source)
{
    uint32_t self = (uint32_t)(uintptr_t)bout_thread_identify(), silent = 0;
    for (ULONG i = 1;; i++) {
        for (uint32_t turn = 0; turn < storm_pause; turn++) {
        }
        // The other thread has had a turn since it fell silent.
        if (!produce((uint32_t)source, self) && ++silent > 2 * TURN)
            storm_is_silent();
        if (i % TURN == 0)
            bout_thread_relinquish();
    }
}

static void define(void)
{
    bout_posix_open();
    posix_prove_open();
    // The positions are about to begin at 0 again.
    volatile uint32_t *stream = posix_stream(0);
    stream[POSIX_HEAD] = stream[POSIX_TAIL_WORD] = stream[POSIX_READ_POS] = UINT32_MAX - 799;
    ringside_trace_start(POSIX_TRACE_LOOP);
    bout_posix_interrupted = any_interrupt;
    image_thread(&storm_a_thread, "storm A", storm_entry, 0, stacks[0], 8);
    image_thread(&storm_b_thread, "storm B", storm_entry, 1, stacks[1], 8);
    board_device_start(487);
}

void image_main(void)
{
    bout_start(define);
}
