// SPDX-License-Identifier: MIT
// qemu-tests/images/hooks: a ring of hook words in one state after the other: empty, of every size,
// full to the last byte, too small, stopped, cleared, beyond the last position. In each of them
// ringside_wrap_marker is called, and hooks_state has what the ring must have. Each record
// proves itself (shared.h).
#include "shared.h"

enum { SOURCE = 1, FILLER_WORD = 0x0CE00000, ROUNDS = 200 };

// What a test compares with.
volatile struct {
    uint32_t number;  // of the state, from 1
    uint32_t bytes;   // of the buffer
    uint32_t written; // records since the ring was opened or cleared
    uint32_t lost;
    uint32_t generation;
    uint32_t next;     // number of the record that would come next
    uint32_t running;  // 1: recording continues
    uint32_t overrun;  // 1: older records were overwritten
    uint32_t finished; // 1: this was the last state
} hooks_state;

static TX_THREAD tester;
static _Alignas(8) UCHAR tester_stack[IMAGE_STACK_BYTES];
static UCHAR filler[HOOK_MAX_GENERIC + 1];

void board_device_interrupt(void)
{
}

static void show(void)
{
    hooks_state.number++;
    ringside_wrap_marker();
}

static void begin(uint32_t bytes, bool until_full)
{
    bout_hooks_open(bytes, until_full);
    hooks_state.bytes = bytes;
    hooks_state.written = hooks_state.lost = hooks_state.overrun = 0;
    hooks_state.generation++;
    hooks_state.running = 1;
}

static void prove(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        hooks_prove(SOURCE, hooks_state.next++, (uint32_t)(uintptr_t)&tester);
        hooks_state.written++;
    }
}

// A generic entry without a stamp, whose record has `bytes` in all.
static void fill(uint32_t bytes)
{
    TRCGEN(0, FILLER_WORD, 0, bytes - 4 - 3 * (uint32_t)sizeof(ULONG), filler);
}

static void empty_and_smallest(void)
{
    begin(HOOK_BUFFER_LEAST, false);
    show();
    fill(HOOK_BUFFER_LEAST);
    hooks_state.written = 1;
    show();
    fill(HOOK_BUFFER_LEAST + 4);
    hooks_state.lost = 1;
    show();
    for (ULONG i = 0; i < ROUNDS; i++)
        TRCHKL1T(FILLER_WORD, i);
    hooks_state.written += ROUNDS;
    hooks_state.overrun = 1;
    show();
}

static void every_size(void)
{
    for (uint32_t bytes = 2 * HOOK_BUFFER_LEAST; bytes <= HOOK_BUFFER_BYTES; bytes *= 2) {
        begin(bytes, false);
        prove(bytes / 16 + 7);
        hooks_state.overrun = 1;
        show();
    }
}

static void buffers_of_every_length(void)
{
    begin(HOOK_BUFFER_BYTES, false);
    for (uint32_t length = 0; length < 16; length++)
        TRCGENT(0, FILLER_WORD, length, length, filler);
    TRCGEN(0, FILLER_WORD, 16, HOOK_MAX_GENERIC, filler);
    TRCGEN(0, FILLER_WORD, 17, HOOK_MAX_GENERIC + 1, filler);
    TRCGEN(1, FILLER_WORD, 18, 1, filler); // no such channel
    hooks_state.written = 17;
    hooks_state.lost = 1;
    show();
}

static void until_full(void)
{
    begin(4 * HOOK_BUFFER_LEAST, true);
    fill(3 * HOOK_BUFFER_LEAST);
    fill(HOOK_BUFFER_LEAST);
    hooks_state.written = 2;
    show();
    TRCHKL0(FILLER_WORD);
    TRCHKL0(FILLER_WORD); // after the one that did not fit nothing is recorded
    hooks_state.lost = 1;
    hooks_state.running = 0;
    show();
}

static void cleared_and_begun_anew(void)
{
    bout_hooks_clear();
    hooks_state.generation++;
    hooks_state.written = hooks_state.lost = 0;
    show();
    bout_hooks_start();
    hooks_state.running = 1;
    prove(1);
    show();
}

static void behind_the_last_position(void)
{
    begin(4 * HOOK_BUFFER_LEAST, false);
    ringside_hooks.head = ringside_hooks.tail = UINT32_MAX - 2 * HOOK_BUFFER_LEAST + 1;
    prove(3);
    show();
    prove(ROUNDS);
    hooks_state.overrun = 1;
    show();
}

// Records and a place that were overwritten: the recorder gives up what it cannot distinguish.
static void written_over(void)
{
    for (int i = 0; i < HOOK_BUFFER_LEAST; i++)
        ringside_hooks.buffer[i] = 0xFFFFFFFFUL;
    prove(ROUNDS);
    ringside_hooks.tail = ringside_hooks.head + 4;
    prove(ROUNDS);
    show();
}

// Interrupts are locked, and nobody has counted the entries.
static void tester_entry(ULONG unused)
{
    (void)unused;
    ULONG lock = bout_lock();
    hooks_state.generation = ~0U;
    empty_and_smallest();
    every_size();
    buffers_of_every_length();
    until_full();
    cleared_and_begun_anew();
    behind_the_last_position();
    written_over();
    bout_hooks_stop();
    hooks_state.running = 0;
    hooks_state.finished = 1;
    show();
    bout_unlock(lock);
}

static void define(void)
{
    image_thread(&tester, "tester", tester_entry, 0, tester_stack, 8);
}

void image_main(void)
{
    bout_start(define);
}
