// SPDX-License-Identifier: MIT
// target: the running task of FreeRTOS, for the header that RINGSIDE_TRACE_PORT names
// (ringside_freertos.h).
#ifndef RINGSIDE_FREERTOS_THREAD_H
#define RINGSIDE_FREERTOS_THREAD_H

#include <stdint.h>

// The control block of the task that has the core; NULL until the scheduler starts.
extern void *volatile ringside_freertos_thread;

#define RINGSIDE_TRACE_THREAD() ringside_freertos_thread

// The number of the interrupt that the newest entry reported; 0 in tasks. On RISC-V, no register
// contains it.
extern volatile uintptr_t ringside_freertos_interrupt;

#if defined __riscv && !defined RINGSIDE_TRACE_INTERRUPT
#define RINGSIDE_TRACE_INTERRUPT() ringside_freertos_interrupt
#endif

#endif
