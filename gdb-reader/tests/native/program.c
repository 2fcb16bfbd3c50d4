// SPDX-License-Identifier: MIT
// gdb-reader tests: a host program with a POSIX trace ring. In each of ROUNDS rounds it records
// BURST events, whose data is their number, and calls checkpoint(), where GDB stops it.
#include "ringside_trace.h"

enum { ROUNDS = 20 };
#ifndef BURST
#define BURST 5
#endif

uint32_t clock_of_test;

__attribute__((noinline)) void checkpoint(unsigned events)
{
    __asm__ volatile("" : : "r"(events));
}

int main(void)
{
    trace_event_id_t step;
    uint32_t number = 0;

    ringside_trace_init();
    posix_trace_eventid_open("step", &step);
    ringside_trace_start(POSIX_TRACE_LOOP);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < BURST; i++, number++, clock_of_test++)
            posix_trace_event(step, &number, sizeof number);
        checkpoint(number);
    }
    return 0;
}
