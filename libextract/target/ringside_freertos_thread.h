// SPDX-License-Identifier: MIT
// target: the running task of FreeRTOS, for the header that RINGSIDE_TRACE_PORT names
// (ringside_freertos.h).
#ifndef RINGSIDE_FREERTOS_THREAD_H
#define RINGSIDE_FREERTOS_THREAD_H

// The control block of the task that has the core; NULL until the scheduler starts.
extern void *volatile ringside_freertos_thread;

#define RINGSIDE_TRACE_THREAD() ringside_freertos_thread

#endif
