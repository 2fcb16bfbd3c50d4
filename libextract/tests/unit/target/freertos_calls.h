// SPDX-License-Identifier: MIT
// unit: FreeRTOS's trace macros, called as its kernel calls them, with its names of variables and
// arguments around them. A test defines RINGSIDE_FREERTOS_TICKS first. What the macros record is
// kept as text, one event per line.
//
// Source: the public sources of FreeRTOS 10.0 to 11.3, where they call these macros.
#ifndef TEST_FREERTOS_CALLS_H
#define TEST_FREERTOS_CALLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

typedef uint32_t TickType_t;
typedef long BaseType_t;
typedef unsigned long UBaseType_t;

#define portMAX_DELAY ((TickType_t)UINT32_MAX)

enum {
    queueQUEUE_TYPE_BASE,
    queueQUEUE_TYPE_MUTEX,
    queueQUEUE_TYPE_COUNTING_SEMAPHORE,
    queueQUEUE_TYPE_BINARY_SEMAPHORE,
    queueQUEUE_TYPE_RECURSIVE_MUTEX
};

typedef struct {
    UBaseType_t uxPriority;
    char pcTaskName[8];
    volatile uint32_t ulNotifiedValue[2];
    volatile uint8_t ucNotifyState[2];
} TCB_t;

// Without configUSE_TRACE_FACILITY, a queue does not state its type.
typedef struct {
    int8_t *pcHead;
    union {
        struct {
            TCB_t *xMutexHolder;
        } xSemaphore;
    } u;
    UBaseType_t uxMessagesWaiting, uxLength, uxItemSize;
} Queue_t;

static uintptr_t serving; // number of the interrupt that is served; 0: a task runs

#define RINGSIDE_FREERTOS_INTERRUPT()      serving
#define RINGSIDE_FREERTOS_TICK_INTERRUPT() serving
#include "target/ringside_freertos.h"

static char said[2000];
static TCB_t tasks[2];
static TCB_t *pxCurrentTCB;
static volatile TickType_t xTickCount;
static volatile UBaseType_t uxSchedulerSuspended;

// ---- the recorder ----

int posix_trace_eventid_open(const char *name, trace_event_id_t *id)
{
    static trace_event_id_t ids = 1;

    (void)name;
    *id = ids++;
    return 0;
}

static const char *name_of(trace_event_id_t id)
{
#define NAME(key, name)                                                                            \
    if (ringside_rtos_events.key == id)                                                            \
        return name;
    RINGSIDE_RTOS_EVENTS(NAME)
#undef NAME
    return "?";
}

static const char *word_of(uintptr_t word, char text[24])
{
    if (word == (uintptr_t)&tasks[0] || word == (uintptr_t)&tasks[1])
        return word == (uintptr_t)&tasks[0] ? "a" : "b";
    snprintf(text, 24, word > 0xFFFF ? "q" : "%lu", (unsigned long)word);
    return text;
}

void posix_trace_event(trace_event_id_t id, const void *data, size_t bytes)
{
    const size_t words = id == ringside_rtos_events.object_name ? 1 : bytes / sizeof(uintptr_t);
    size_t used = strlen(said);
    char text[24];

    used += (size_t)snprintf(said + used, sizeof said - used, "%s", name_of(id) + strlen("rtos_"));
    for (size_t i = 0; i < words; i++) {
        uintptr_t word;
        memcpy(&word, (const char *)data + i * sizeof word, sizeof word);
        used += (size_t)snprintf(said + used, sizeof said - used, " %s", word_of(word, text));
    }
    snprintf(said + used, sizeof said - used, "\n");
}

static inline void expect(const char *text)
{
    assert_string_equal(said, text);
    *said = 0;
}

static inline int open_hooks(void **state)
{
    (void)state;
    if (!ringside_rtos_events.tick)
        ringside_rtos_hooks_open();
    *said = 0;
    serving = 0;
    pxCurrentTCB = &tasks[0];
    xTickCount = 7;
    uxSchedulerSuspended = 0;
    ringside_freertos_thread = &tasks[0];
    ringside_freertos_interrupt = 0;
    memset(&ringside_freertos_interrupts, 0, sizeof ringside_freertos_interrupts);
    return 0;
}

// ---- the kernel ----

// One tick: it wakes a task, or switches to one that is as urgent, or does neither.
static inline BaseType_t xTaskIncrementTick(TCB_t *woken, BaseType_t is_slice_over)
{
    BaseType_t xSwitchRequired = 0;

    traceTASK_INCREMENT_TICK(xTickCount);
    if (uxSchedulerSuspended)
        return xSwitchRequired;
    xTickCount++;
    if (woken)
        traceMOVED_TASK_TO_READY_STATE(woken);
    if (woken || is_slice_over)
        xSwitchRequired = 1;
    return xSwitchRequired;
}

// The handler of a port that reports the tick's interrupt, as those for Cortex-M from 11.0 on do.
static inline void handle_reported_tick(TCB_t *woken, BaseType_t is_slice_over)
{
    serving = 15;
    traceISR_ENTER();
    if (xTaskIncrementTick(woken, is_slice_over))
        traceISR_EXIT_TO_SCHEDULER();
    else
        traceISR_EXIT();
    serving = 0;
}

// That of a port that does not, as those for RISC-V.
static inline void handle_silent_tick(TCB_t *woken, BaseType_t is_slice_over)
{
    serving = 7;
    (void)xTaskIncrementTick(woken, is_slice_over);
    serving = 0;
}

#endif
