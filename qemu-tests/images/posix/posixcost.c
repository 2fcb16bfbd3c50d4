// SPDX-License-Identifier: MIT
// qemu-tests/images/posix: what a trace point costs. Each kind is executed ROUNDS times. The result
// is the count of the board's timer 0 during that time, less the count of the loop itself. If QEMU
// counts instructions (-icount shift=0), 40 of them are one tick of that timer.
#include "shared.h"

enum { ROUNDS = 1000, INSTRUCTIONS_PER_TICK = 40 };

// In tenths of an instruction, for one trace point.
volatile struct {
    uint32_t inactive, none, three, eight, eight_overwriting, sixty_four_overwriting, filtered;
} posix_cost;

static trace_event_id_t type;
static UCHAR data[64];

void board_device_interrupt(void)
{
}

// Four in a row: little of the loop is left in what a measurement leaves over.
#define MEASURE(result, ...)                                                                       \
    do {                                                                                           \
        uint32_t begin = (uint32_t)bout_port_stamp();                                              \
        for (uint32_t i = 0; i < ROUNDS / 4; i++)                                                  \
            __asm__ volatile("");                                                                  \
        uint32_t middle = (uint32_t)bout_port_stamp();                                             \
        for (uint32_t i = 0; i < ROUNDS / 4; i++) {                                                \
            __asm__ volatile("");                                                                  \
            __VA_ARGS__;                                                                           \
            __VA_ARGS__;                                                                           \
            __VA_ARGS__;                                                                           \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
        uint32_t both = (uint32_t)bout_port_stamp() - middle - (middle - begin);                   \
        (result) = both * (10 * INSTRUCTIONS_PER_TICK) / ROUNDS;                                   \
    } while (0)

// A ring that is empty except for the start.
static void begin_anew(void)
{
    ringside_trace_init();
    type = posix_type("measured");
    ringside_trace_start(POSIX_TRACE_LOOP);
}

static void define(void)
{
    type = POSIX_TRACE_UNNAMED_USEREVENT;
    MEASURE(posix_cost.inactive, posix_trace_event(type, data, 8));
    begin_anew();
    MEASURE(posix_cost.eight, posix_trace_event(type, data, 8));
    MEASURE(posix_cost.eight_overwriting, posix_trace_event(type, data, 8));
    begin_anew();
    MEASURE(posix_cost.none, posix_trace_event(type, NULL, 0));
    begin_anew();
    MEASURE(posix_cost.three, posix_trace_event(type, data, 3));
    MEASURE(posix_cost.sixty_four_overwriting, posix_trace_event(type, data, 64));
    posix_stream(0)[POSIX_WANTED_FILTER + type / 32] = UINT32_C(1) << type % 32;
    posix_ask(0, POSIX_BOUND | POSIX_RUNNING);
    MEASURE(posix_cost.filtered, posix_trace_event(type, data, 8));
    ringside_wrap_marker();
}

void image_main(void)
{
    bout_start(define);
}
