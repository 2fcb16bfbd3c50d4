// SPDX-License-Identifier: MIT
// qemu-tests/rtos/posix: the kernel's types of events (hooks.h). In: nothing. Out: their ids, and
// how many there were of each kind.
#include "kernel.h"

struct ringside_rtos_events ringside_rtos_events;
volatile uint32_t bout_posix_counts[BOUT_POSIX_KINDS];
volatile ULONG bout_posix_interrupt;
void (*volatile bout_posix_interrupted)(void);

void bout_posix_open(void)
{
    ringside_trace_init();
    ringside_rtos_hooks_open();
    for (unsigned kind = 0; kind < BOUT_POSIX_KINDS; kind++)
        bout_posix_counts[kind] = 0;
}
