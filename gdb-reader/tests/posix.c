// SPDX-License-Identifier: MIT
// gdb-reader tests: firmware with the POSIX trace recorder. In each round it records 3
// events, and calls checkpoint(), where GDB stops it.
#include "ringside_trace.h"

static trace_event_id_t door, window;
volatile unsigned rounds;
uint32_t clock_of_test;

__attribute__((noinline)) void checkpoint(unsigned round)
{
    __asm__ volatile("" : : "r"(round));
}

static void record_round(void)
{
    static const uint8_t data[3] = {1, 2, 3};
    clock_of_test += 10;
    posix_trace_event(door, data, sizeof data);
    posix_trace_event(door, 0, 0);
    posix_trace_event(window, data, 1);
}

int main(void)
{
    ringside_trace_init();
    posix_trace_eventid_open("door", &door);
    posix_trace_eventid_open("window", &window);
    ringside_trace_start(POSIX_TRACE_LOOP);
    for (;;) {
        record_round();
        checkpoint(++rounds);
    }
}
