// SPDX-License-Identifier: MIT
// qemu-tests/images/posix: streams in one state after the other: not made yet, not bound,
// suspended, running, wrapped, filtered, full, read, cleared, beyond the last position, made again,
// with a record that is open. In each of them ringside_wrap_marker is called, and posix_state says
// what stream 0 has to have. A debugger that stops in store_last_word has the open record.
#include "shared.h"

enum { ROUNDS = 300 };

// What a test compares with; of the records, those of the latest binding or clearing.
volatile struct {
    uint32_t number;     // of the state, from 1
    uint32_t made;       // 1: there is a block
    uint32_t bound;      // 1: the stream is in use
    uint32_t running;    // 1: it records
    uint32_t full;       // 1: it stopped because it is full
    uint32_t recorded;   // records, the system's included
    uint32_t refused;    // events that found no space
    uint32_t read;       // 1: some of it was read
    uint32_t generation; // of the block
    uint32_t binding;    // + 1 for each making, each binding and each clearing
    uint32_t second;     // records of stream 1
    uint32_t finished;   // 1: this was the last state
} posix_state;

static TX_THREAD tester;
static _Alignas(8) UCHAR tester_stack[IMAGE_STACK_BYTES];
static UCHAR filler[80];
static trace_event_id_t other_type;

void board_device_interrupt(void)
{
}

static void show(void)
{
    posix_state.number++;
    ringside_wrap_marker();
}

static void prove(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        posix_prove(0, (uint32_t)(uintptr_t)&tester);
    posix_state.recorded += posix_state.running ? count : 0;
}

static void make(void)
{
    ringside_trace_init();
    posix_prove_open();
    other_type = posix_type("other");
    posix_state.made = 1;
    posix_state.generation++;
    posix_state.binding++;
    posix_state.bound = posix_state.running = posix_state.full = 0;
    posix_state.recorded = posix_state.refused = 0;
}

// What is asked for takes `records` of the system's: start, stop, filter.
static void ask(uint32_t running, uint32_t records)
{
    posix_ask(0, POSIX_BOUND | (running ? POSIX_RUNNING : 0));
    posix_state.running = running;
    posix_state.recorded += records;
}

static void bind(uint32_t policy)
{
    posix_stream(0)[POSIX_WANTED_POLICY] = policy;
    posix_stream(0)[POSIX_WANTED_MAX_DATA] = 64;
    posix_state.recorded = posix_state.refused = posix_state.read = 0;
    posix_state.full = 0;
    posix_state.bound = 1;
    posix_state.binding++;
    ask(0, 0);
}

static void release(void)
{
    posix_ask(0, 0);
    posix_state.recorded += posix_state.running;
    posix_state.running = posix_state.bound = posix_state.full = 0;
}

static void from_nothing_to_running(void)
{
    prove(3); // trace points of no effect
    posix_produced[0] = 0;
    show();
    make();
    show();
    bind(POSIX_TRACE_LOOP);
    prove(3);
    posix_produced[0] = 0;
    show();
    ask(1, 1);
    show();
    prove(5);
    show();
}

static void data_of_every_length(void)
{
    for (uint32_t bytes = 0; bytes < sizeof filler; bytes++) {
        filler[bytes] = (UCHAR)bytes;
        posix_trace_event(other_type, filler, bytes);
        posix_state.recorded++;
    }
    posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &filler[1], 7); // not aligned
    posix_state.recorded++;
    posix_trace_event(POSIX_TRACE_START, filler, 4); // recorded by no stream
    posix_trace_event(UINT32_MAX, filler, 4);
    show();
    prove(ROUNDS);
    show();
}

static void stopped_and_filtered(void)
{
    ask(0, 1);
    prove(1);
    posix_produced[0]--;
    show();
    posix_stream(0)[POSIX_WANTED_FILTER + other_type / 32] = UINT32_C(1) << other_type % 32;
    ask(0, 0);
    show();
    ask(1, 1);
    posix_trace_event(other_type, filler, 8);
    prove(2);
    show();
    posix_stream(0)[POSIX_WANTED_FILTER + other_type / 32] = 0;
    ask(1, 1);
    posix_trace_event(other_type, filler, 8);
    posix_state.recorded++;
    show();
    release();
    show();
}

// Each event takes as many words as the first one, so that the space of the stop is known to be
// left.
static void fill_up(void)
{
    volatile uint32_t *stream = posix_stream(0);
    uint32_t before = stream[POSIX_HEAD], words;
    posix_trace_event(other_type, filler, 64);
    posix_state.recorded++;
    words = stream[POSIX_HEAD] - before;
    while (stream[POSIX_HEAD] - stream[POSIX_TAIL_WORD] + words + POSIX_STOP_WORDS <= 512) {
        posix_trace_event(other_type, filler, 64);
        posix_state.recorded++;
    }
}

static void until_full(void)
{
    bind(POSIX_TRACE_UNTIL_FULL);
    ask(1, 1);
    fill_up();
    show();
    posix_trace_event(other_type, filler, 64); // which stops the stream
    posix_trace_event(other_type, filler, 0);
    posix_state.recorded++;
    posix_state.refused += 2;
    posix_state.running = 0;
    posix_state.full = 1;
    show();
    posix_stream(0)[POSIX_READ_POS] = posix_stream(0)[POSIX_HEAD];
    posix_state.read = 1;
    show();
    posix_trace_event(other_type, filler, 8); // which starts it again
    posix_state.recorded += 2;
    posix_state.running = 1;
    posix_state.full = 0;
    show();
}

static void cleared(void)
{
    posix_stream(0)[POSIX_WANTED_CLEARS]++;
    posix_state.recorded = posix_state.refused = posix_state.read = 0;
    posix_state.binding++;
    ask(1, 0);
    show();
    prove(1);
    show();
    release();
}

static void behind_the_last_position(void)
{
    volatile uint32_t *stream = posix_stream(0);
    stream[POSIX_HEAD] = stream[POSIX_TAIL_WORD] = stream[POSIX_READ_POS] = UINT32_MAX - 99;
    bind(POSIX_TRACE_LOOP);
    ask(1, 1);
    prove(3);
    show();
    prove(ROUNDS);
    show();
}

// Both streams record the same events.
static void two_streams(void)
{
    posix_stream(1)[POSIX_WANTED_POLICY] = POSIX_TRACE_FLUSH;
    posix_stream(1)[POSIX_WANTED_MAX_DATA] = 16;
    posix_ask(1, POSIX_BOUND | POSIX_RUNNING);
    posix_trace_event(other_type, filler, 64);
    posix_state.recorded++;
    posix_state.second = 2;
    show();
}

static void made_anew(void)
{
    posix_state.second = 0;
    make();
    show();
    bind(POSIX_TRACE_LOOP);
    ask(1, 1);
    posix_trace_event(other_type, filler, 6);
    posix_state.recorded++;
    show();
}

// With interrupts locked: nothing but what is counted here is recorded.
static void tester_entry(ULONG unused)
{
    (void)unused;
    ULONG lock = bout_lock();
    from_nothing_to_running();
    data_of_every_length();
    stopped_and_filtered();
    until_full();
    cleared();
    behind_the_last_position();
    two_streams();
    made_anew();
    posix_state.finished = 1;
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
