// SPDX-License-Identifier: MIT
// qemu-tests/images/posix: what the functions of <trace.h> are tried on. In: orders, which a test
// writes. Out: nothing but the events that are ordered, one order after the other, and the clock
// around each of them. Stream 0 is bound by the firmware itself, and its positions are about to
// begin at 0 again.
#include "shared.h"

enum { MOST = 256, MAX_DATA = 96, BEFORE_WRAP = 799, RING_AT = 4, OPEN_OR_DONE = 3 };

enum verb {
    RECORD = 1, // `count` events of the type, the first of the number `first`, of `bytes` bytes
                // each: byte k of event i is i + k
    LATE,       // the same, `ticks` later
    HALF,       // the same, but the first record stays open,
    WHOLE,      // until this
    STORM,      // until the next order: `count` events each tick, numbered, as RECORD's are not
    NAME,       // registers the name, and gives the type
    RENEW,      // makes the recorder's block again
    BOOT        // the same in memory that was cleared, and starts `count` streams itself
};

// Words, and a name's bytes. A test writes `number` last.
volatile struct {
    uint32_t ready; // 1: orders are taken
    uint32_t clock_hz;
    uint32_t done; // the number of the order that was carried out last
    uint32_t number;
    uint32_t verb, type, count, bytes, ticks, first;
    char name[RINGSIDE_TRACE_NAME_BYTES];
} calls_order = {.clock_hz = BOUT_PORT_STAMP_HZ};
volatile uint32_t calls_before[MOST], calls_behind[MOST];

static TX_THREAD calls_thread;
static _Alignas(8) UCHAR stack[IMAGE_STACK_BYTES];

void board_device_interrupt(void)
{
}

static uint32_t now(void)
{
    ULONG lock = bout_lock();
    uint32_t stamp = (uint32_t)bout_port_stamp();
    bout_unlock(lock);
    return stamp;
}

static __attribute__((noinline)) void calls_record(void)
{
    UCHAR data[MAX_DATA];
    uint32_t bytes = calls_order.bytes;
    uint32_t first = calls_order.first, end = first + calls_order.count;
    for (uint32_t i = first; i < end && i < MOST; i++) {
        for (uint32_t k = 0; k < bytes && k < MAX_DATA; k++)
            data[k] = (UCHAR)(i + k);
        calls_before[i] = now();
        posix_trace_event(calls_order.type, data, bytes);
        calls_behind[i] = now();
    }
}

// The word at which a stream's next record begins.
static volatile uint32_t *next_word(uint32_t stream)
{
    volatile uint32_t *block = posix_stream(stream);
    volatile uint32_t *ring = (volatile uint32_t *)(void *)&ringside_posix + block[RING_AT] / 4;
    return ring + block[POSIX_HEAD] % RINGSIDE_TRACE_WORDS;
}

static volatile uint32_t *half[RINGSIDE_TRACE_STREAMS];

// The streams that have recorded something at these places.
static void turn_half(void)
{
    for (uint32_t i = 0; i < RINGSIDE_TRACE_STREAMS; i++)
        if (half[i] != next_word(i))
            *half[i] ^= (uint32_t)OPEN_OR_DONE << 30;
}

// The record is as if its writer had been interrupted between its first word and its last store.
static void record_half(void)
{
    for (uint32_t i = 0; i < RINGSIDE_TRACE_STREAMS; i++)
        half[i] = next_word(i);
    calls_record();
    turn_half();
}

// Four bytes of the number, the lowest first; then as many as its lowest five bits say, each the
// number's lowest byte.
static void storm(uint32_t number)
{
    UCHAR data[36];
    for (uint32_t i = 0; calls_order.number == number; i++) {
        for (uint32_t k = 0; k < sizeof data; k++)
            data[k] = (UCHAR)(k < 4 ? i >> 8 * k : i);
        posix_trace_event(calls_order.type, data, 4 + i % 32);
        if (i % calls_order.count == 0)
            bout_thread_sleep(1);
    }
}

static void boot(void)
{
    enum { TOTAL_BYTES = 3 };
    volatile uint32_t *words = (volatile uint32_t *)(void *)&ringside_posix;
    for (uint32_t left = words[TOTAL_BYTES] / 4; left; left--)
        words[left - 1] = 0;
    ringside_trace_init();
    if (calls_order.count)
        ringside_trace_start(POSIX_TRACE_LOOP);
}

static void obey(uint32_t number)
{
    char name[RINGSIDE_TRACE_NAME_BYTES];
    switch (calls_order.verb) {
    case LATE:
        bout_thread_sleep(calls_order.ticks);
        calls_record();
        break;
    case RECORD:
        calls_record();
        break;
    case HALF:
        record_half();
        break;
    case WHOLE:
        turn_half();
        break;
    case STORM:
        storm(number);
        break;
    case NAME:
        for (uint32_t k = 0; k < sizeof name; k++)
            name[k] = calls_order.name[k];
        calls_order.type = posix_type(name);
        break;
    case RENEW:
        ringside_trace_init();
        break;
    case BOOT:
        boot();
        break;
    default:
        break;
    }
}

static void calls_entry(ULONG unused)
{
    (void)unused;
    calls_order.ready = 1;
    for (;;) {
        uint32_t number = calls_order.number;
        ringside_trace_poll();
        if (number != calls_order.done) {
            obey(number);
            calls_order.done = number;
        }
        bout_thread_sleep(1);
    }
}

static void define(void)
{
    ringside_trace_init();
    volatile uint32_t *stream = posix_stream(0);
    stream[POSIX_HEAD] = stream[POSIX_TAIL_WORD] = stream[POSIX_READ_POS] =
        UINT32_MAX - BEFORE_WRAP;
    ringside_trace_start(POSIX_TRACE_LOOP);
    image_thread(&calls_thread, "calls", calls_entry, 0, stack, 8);
}

void image_main(void)
{
    bout_start(define);
}
