// SPDX-License-Identifier: MIT
// target: FreeRTOS's trace macros as events of ringside_rtos_hooks.h, for FreeRTOS from 10.1 on, on
// one core.
//
// To use it:
//   1. Include it at the end of FreeRTOSConfig.h.
//   2. Compile ringside_trace.c. The header that RINGSIDE_TRACE_PORT names has, before it includes
//      the core's port:
//          #include "ringside_freertos_thread.h"
//   3. At the start of main(), call
//          ringside_trace_init();
//          ringside_rtos_hooks_open();
//          ringside_trace_start(POSIX_TRACE_LOOP);
//
// Tasks have the names in their control blocks, if the firmware has DWARF. Other objects have the
// names of FreeRTOS's queue registry, or those of the variables that contain them.
//
// Source: FreeRTOS's documentation, "Trace Hook Macros".
#ifndef RINGSIDE_FREERTOS_H
#define RINGSIDE_FREERTOS_H
#ifndef __ASSEMBLER__ // some ports include FreeRTOSConfig.h in assembler files

// The second name is that of FreeRTOS 10 for several cores.
#if (defined configNUMBER_OF_CORES && configNUMBER_OF_CORES > 1) ||                                \
    (defined configNUM_CORES && configNUM_CORES > 1)
#error "ringside_freertos.h is for FreeRTOS on one core: set configNUMBER_OF_CORES to 1"
#endif
// 1: record each tick. 0: record a tick, and its interrupt, only if it wakes or switches a task, or
// if something else is recorded in it.
#ifndef RINGSIDE_FREERTOS_TICKS
#define RINGSIDE_FREERTOS_TICKS 1
#endif
#if !RINGSIDE_FREERTOS_TICKS
#define RINGSIDE_RTOS_BEFORE()                                                                     \
    do {                                                                                           \
        if (ringside_freertos_interrupts.held_entry || ringside_freertos_interrupts.holds_tick)    \
            ringside_freertos_report_tick();                                                       \
    } while (0)
#endif

#define RINGSIDE_RTOS_HIGH_FIRST 1
#include "ringside_freertos_thread.h"
#include "ringside_rtos_hooks.h"

// What is known of interrupts.
struct ringside_freertos_interrupts {
    volatile unsigned nesting; // entries without an exit
    volatile uintptr_t tick;   // number of the tick's interrupt; 0: not known yet
    // Without all ticks: the entry, and the tick, that are recorded if another event follows.
    volatile uintptr_t held_entry; // number of the interrupt; 0: none
    volatile uintptr_t held_count; // of ticks
    volatile unsigned char holds_tick;
};

// Each file that includes this header offers the variables; the linker keeps one of each.
__attribute__((weak)) struct ringside_rtos_events ringside_rtos_events;
__attribute__((weak)) void *volatile ringside_freertos_thread;
__attribute__((weak)) volatile uintptr_t ringside_freertos_interrupt;
__attribute__((weak)) struct ringside_freertos_interrupts ringside_freertos_interrupts;

// ---- interrupts ----

// RINGSIDE_FREERTOS_INTERRUPT(): the number of the interrupt that is served.
// RINGSIDE_FREERTOS_TICK_INTERRUPT(): the same in xTaskIncrementTick, or 0 if a task called it, to
// catch up on ticks that came while the scheduler was suspended.
#ifdef RINGSIDE_FREERTOS_TICK_INTERRUPT
#elif defined __ARM_ARCH_PROFILE && __ARM_ARCH_PROFILE == 'M'
#define RINGSIDE_FREERTOS_INTERRUPT()      ringside_freertos_ipsr()
#define RINGSIDE_FREERTOS_TICK_INTERRUPT() ringside_freertos_ipsr()
static inline uintptr_t ringside_freertos_ipsr(void)
{
    uintptr_t number;
    __asm__ volatile("mrs %0, ipsr" : "=r"(number));
    return number;
}
#elif defined __riscv
// The cause keeps its value after the trap, so that it does not show whether a task runs. But a
// task is in a critical section then, in which no interrupt is served. Releases before 10.5 count
// these sections in the control block.
#define RINGSIDE_FREERTOS_INTERRUPT() ringside_freertos_mcause()
#define RINGSIDE_FREERTOS_TICK_INTERRUPT()                                                         \
    (RINGSIDE_FREERTOS_JOIN(RINGSIDE_FREERTOS_NESTING_, portCRITICAL_NESTING_IN_TCB)               \
         ? 0                                                                                       \
         : ringside_freertos_mcause())
#define RINGSIDE_FREERTOS_JOIN(a, b)  RINGSIDE_FREERTOS_JOIN_(a, b)
#define RINGSIDE_FREERTOS_JOIN_(a, b) a##b
#define RINGSIDE_FREERTOS_NESTING_0   xCriticalNesting
#define RINGSIDE_FREERTOS_NESTING_1   pxCurrentTCB->uxCriticalNesting
static inline uintptr_t ringside_freertos_mcause(void)
{
    uintptr_t cause;
    __asm__ volatile("csrr %0, mcause" : "=r"(cause));
    return cause & 0xFFF;
}
#else // the core's port must report the interrupts
#define RINGSIDE_FREERTOS_TICK_INTERRUPT() 0
#endif
#ifndef RINGSIDE_FREERTOS_INTERRUPT
#define RINGSIDE_FREERTOS_INTERRUPT() 0
#endif

#if !RINGSIDE_FREERTOS_TICKS
__attribute__((noinline, unused)) static void ringside_freertos_report_tick(void)
{
    struct ringside_freertos_interrupts *it = &ringside_freertos_interrupts;
    const uintptr_t entry = it->held_entry;
    const unsigned char holds_tick = it->holds_tick;

    it->held_entry = it->holds_tick = 0;
    if (entry)
        RINGSIDE_RTOS_RECORD(isr_enter, entry);
    if (holds_tick)
        RINGSIDE_RTOS_RECORD(tick, it->held_count);
}
#endif

// Reports the entry to an interrupt; `number`: 0 if the recorder's port knows it.
static inline void ringside_freertos_isr_enter(uintptr_t number)
{
    const uintptr_t served = number ? number : RINGSIDE_FREERTOS_INTERRUPT();

    ringside_freertos_interrupts.nesting++;
    ringside_freertos_interrupt = served;
#if !RINGSIDE_FREERTOS_TICKS
    if (served && served == ringside_freertos_interrupts.tick) {
        ringside_freertos_interrupts.held_entry = served;
        return;
    }
#endif
    RINGSIDE_RTOS_ISR_ENTER(number);
}

// Reports the exit. FreeRTOS 11 does so at the end of each handler that may switch tasks, also if
// nothing has reported the entry.
static inline void ringside_freertos_isr_exit(uintptr_t number, unsigned char is_switched)
{
    struct ringside_freertos_interrupts *it = &ringside_freertos_interrupts;
    const unsigned char is_held = it->held_entry != 0 && !is_switched;

    if (!it->nesting)
        return;
    it->nesting--;
    if (is_held)
        it->held_entry = it->holds_tick = 0;
    else
        RINGSIDE_RTOS_ISR_EXIT(number);
    if (!it->nesting)
        ringside_freertos_interrupt = 0;
}

// A tick, until xTaskIncrementTick returns.
struct ringside_freertos_tick {
    const unsigned char *is_switched; // FreeRTOS's variable: whether a task is switched
    uintptr_t bytes;                  // of the variable
    uintptr_t interrupt;              // whose exit the port does not report; 0: none
};

static inline struct ringside_freertos_tick
ringside_freertos_tick_begin(uintptr_t count, unsigned char is_counted, uintptr_t interrupt,
                             const void *is_switched, uintptr_t bytes)
{
    struct ringside_freertos_interrupts *it = &ringside_freertos_interrupts;
    struct ringside_freertos_tick tick = {(const unsigned char *)is_switched, bytes, interrupt};

    it->tick = interrupt ? interrupt : it->tick;
    if (it->nesting && ringside_freertos_interrupt == interrupt)
        tick.interrupt = 0;
    if (tick.interrupt)
        ringside_freertos_isr_enter(interrupt);
    if (!is_counted) // a task will catch up on it
        return tick;
#if RINGSIDE_FREERTOS_TICKS
    RINGSIDE_RTOS_TICK(count);
#else
    it->held_count = count;
    it->holds_tick = 1;
    if (interrupt && !it->held_entry) // something was recorded in the interrupt
        ringside_freertos_report_tick();
#endif
    return tick;
}

static inline void ringside_freertos_tick_end(const struct ringside_freertos_tick *tick)
{
    unsigned char is_switched = 0;

    for (uintptr_t i = 0; i < tick->bytes; i++)
        is_switched |= tick->is_switched[i];
    if (tick->interrupt)
        ringside_freertos_isr_exit(tick->interrupt, is_switched);
    else if (!ringside_freertos_interrupts.nesting)
        ringside_freertos_interrupts.holds_tick = 0; // a task has caught up on it
}

// ---- the running task ----

// FreeRTOS reports a task that gets the core even if it had it before.
static inline void ringside_freertos_enter(void *task)
{
    void *left = ringside_freertos_thread;

    if (left == task)
        return;
    if (left)
        RINGSIDE_RTOS_SWITCH(left, task);
    else
        RINGSIDE_RTOS_START(task);
    ringside_freertos_thread = task;
}

// clang-format off

// ---- tasks ----

#define traceTASK_SWITCHED_IN() ringside_freertos_enter((void *)pxCurrentTCB)
#define traceTASK_CREATE(task)                                                                     \
    do {                                                                                           \
        RINGSIDE_RTOS_THREAD_CREATE(task, (task)->uxPriority);                                     \
        RINGSIDE_RTOS_OBJECT_NAME(task, (task)->pcTaskName);                                       \
    } while (0)
#define traceTASK_DELETE(task)                       RINGSIDE_RTOS_THREAD_DELETE(task)
#define traceTASK_PRIORITY_SET(task, priority)       RINGSIDE_RTOS_THREAD_PRIORITY(task, priority)
#define traceTASK_PRIORITY_INHERIT(task, priority)   RINGSIDE_RTOS_PRIORITY_INHERIT(task, priority)
#define traceTASK_PRIORITY_DISINHERIT(task, priority)                                              \
    RINGSIDE_RTOS_PRIORITY_DISINHERIT(task, priority)
#define traceMOVED_TASK_TO_READY_STATE(task)         RINGSIDE_RTOS_THREAD_READY(task)
#define traceTASK_DELAY()                                                                          \
    RINGSIDE_RTOS_THREAD_SLEEP(pxCurrentTCB, xTicksToDelay)
// The timer task waits for a command with it, too, without a limit if no timer runs.
#define traceTASK_DELAY_UNTIL(wake)                                                                \
    RINGSIDE_RTOS_THREAD_SLEEP(pxCurrentTCB, (TickType_t)((wake) - xTickCount) == portMAX_DELAY    \
                                                 ? 0                                               \
                                                 : (TickType_t)((wake) - xTickCount))
#define traceTASK_SUSPEND(task)                      RINGSIDE_RTOS_THREAD_SUSPEND(task)
#define traceTASK_RESUME(task)                       RINGSIDE_RTOS_THREAD_RESUME(task)
#define traceTASK_RESUME_FROM_ISR(task)              RINGSIDE_RTOS_THREAD_RESUME(task)

// Notifications. FreeRTOS 10.4 and newer pass the number of the notification. The task that gets it
// is a variable of the functions that call these.
#define traceTASK_NOTIFY(...)                        RINGSIDE_RTOS_NOTIFY(pxTCB)
#define traceTASK_NOTIFY_FROM_ISR(...)               RINGSIDE_RTOS_NOTIFY(pxTCB)
#define traceTASK_NOTIFY_GIVE_FROM_ISR(...)          RINGSIDE_RTOS_NOTIFY(pxTCB)
#define traceTASK_NOTIFY_TAKE_BLOCK(...)             RINGSIDE_RTOS_NOTIFY_BLOCK(pxCurrentTCB)
#define traceTASK_NOTIFY_WAIT_BLOCK(...)             RINGSIDE_RTOS_NOTIFY_BLOCK(pxCurrentTCB)
// They are also called if the time is over: then the value is 0, or the state is not "received".
// Both are arrays from 10.4 on.
#define RINGSIDE_FREERTOS_NOTIFIED(type, member, ...)                                              \
    (((const volatile type *)&pxCurrentTCB->member)[__VA_ARGS__ + 0])
#define traceTASK_NOTIFY_TAKE(...)                                                                 \
    do {                                                                                           \
        if (RINGSIDE_FREERTOS_NOTIFIED(uint32_t, ulNotifiedValue, __VA_ARGS__))                    \
            RINGSIDE_RTOS_NOTIFY_GET(pxCurrentTCB);                                                \
    } while (0)
#define traceTASK_NOTIFY_WAIT(...)                                                                 \
    do {                                                                                           \
        if (RINGSIDE_FREERTOS_NOTIFIED(uint8_t, ucNotifyState, __VA_ARGS__) == 2)                  \
            RINGSIDE_RTOS_NOTIFY_GET(pxCurrentTCB);                                                \
    } while (0)

// ---- interrupts and the tick ----

#define traceISR_ENTER()                             ringside_freertos_isr_enter(0)
#define traceISR_EXIT()                              ringside_freertos_isr_exit(0, 0)
#define traceISR_EXIT_TO_SCHEDULER()                 ringside_freertos_isr_exit(0, 1)
// If the port does not report the tick's interrupt, it begins here, and ends when
// xTaskIncrementTick returns. Ports for Cortex-M do from FreeRTOS 11.0 on, those for RISC-V never.
#define traceTASK_INCREMENT_TICK(count)                                                            \
    __attribute__((cleanup(ringside_freertos_tick_end), unused))                                   \
    const struct ringside_freertos_tick ringside_tick = ringside_freertos_tick_begin(              \
        count, uxSchedulerSuspended == 0, RINGSIDE_FREERTOS_TICK_INTERRUPT(), &xSwitchRequired,    \
        sizeof xSwitchRequired)
#define traceLOW_POWER_IDLE_BEGIN()                  RINGSIDE_RTOS_IDLE_ENTER()
#define traceLOW_POWER_IDLE_END()                    RINGSIDE_RTOS_IDLE_EXIT()

// ---- queues, semaphores and mutexes, which are all queues ----

// A mutex has no storage, a semaphore has messages without bytes.
#if defined configUSE_TRACE_FACILITY && configUSE_TRACE_FACILITY == 1
#define RINGSIDE_FREERTOS_IS_MUTEX(q)     ((q)->ucQueueType == 1 || (q)->ucQueueType == 4)
#define RINGSIDE_FREERTOS_IS_SEMAPHORE(q) ((q)->ucQueueType == 2 || (q)->ucQueueType == 3)
#else
#define RINGSIDE_FREERTOS_IS_MUTEX(q)     ((q)->pcHead == NULL)
#define RINGSIDE_FREERTOS_IS_SEMAPHORE(q) ((q)->uxItemSize == 0)
#endif
#define RINGSIDE_FREERTOS_BY_TYPE(q, of_mutex, of_semaphore, of_queue)                             \
    do {                                                                                           \
        if (RINGSIDE_FREERTOS_IS_MUTEX(q))                                                         \
            of_mutex;                                                                              \
        else if (RINGSIDE_FREERTOS_IS_SEMAPHORE(q))                                                \
            of_semaphore;                                                                          \
        else                                                                                       \
            of_queue;                                                                              \
    } while (0)

// A new object is not yet what it will be: its type is an argument of the function that calls this.
// A counting semaphore gets its count afterwards.
#define traceQUEUE_CREATE(q)                                                                       \
    do {                                                                                           \
        if (ucQueueType == queueQUEUE_TYPE_MUTEX ||                                                \
            ucQueueType == queueQUEUE_TYPE_RECURSIVE_MUTEX)                                        \
            RINGSIDE_RTOS_MUTEX_CREATE(q);                                                         \
        else if (ucQueueType == queueQUEUE_TYPE_BINARY_SEMAPHORE)                                  \
            RINGSIDE_RTOS_SEMAPHORE_CREATE(q, 0);                                                  \
        else if (ucQueueType != queueQUEUE_TYPE_COUNTING_SEMAPHORE)                                \
            RINGSIDE_RTOS_QUEUE_CREATE(q, (q)->uxLength);                                          \
    } while (0)
#define traceCREATE_COUNTING_SEMAPHORE()                                                           \
    RINGSIDE_RTOS_SEMAPHORE_CREATE(xHandle, uxInitialCount)
#define traceQUEUE_DELETE(q)                                                                       \
    RINGSIDE_FREERTOS_BY_TYPE(q, RINGSIDE_RTOS_MUTEX_DELETE(q), RINGSIDE_RTOS_SEMAPHORE_DELETE(q), \
                              RINGSIDE_RTOS_QUEUE_DELETE(q))
#define traceQUEUE_REGISTRY_ADD(q, name)             RINGSIDE_RTOS_OBJECT_NAME(q, name)
// FreeRTOS calls these before it changes the count, and before it changes a mutex's holder. A full
// queue stays full if its message is overwritten.
#define RINGSIDE_FREERTOS_AFTER_SEND(q)                                                            \
    ((q)->uxMessagesWaiting + ((q)->uxMessagesWaiting < (q)->uxLength))
#define traceQUEUE_SEND(q)                                                                         \
    RINGSIDE_FREERTOS_BY_TYPE(                                                                     \
        q, RINGSIDE_RTOS_MUTEX_PUT(q, (q)->u.xSemaphore.xMutexHolder),                             \
        RINGSIDE_RTOS_SEMAPHORE_PUT(q, RINGSIDE_FREERTOS_AFTER_SEND(q)),                           \
        RINGSIDE_RTOS_QUEUE_SEND(q, RINGSIDE_FREERTOS_AFTER_SEND(q)))
#define traceQUEUE_RECEIVE(q)                                                                      \
    RINGSIDE_FREERTOS_BY_TYPE(q, RINGSIDE_RTOS_MUTEX_GET(q, ringside_freertos_thread),             \
                              RINGSIDE_RTOS_SEMAPHORE_GET(q, (q)->uxMessagesWaiting - 1),          \
                              RINGSIDE_RTOS_QUEUE_RECEIVE(q, (q)->uxMessagesWaiting - 1))
#define traceQUEUE_SEND_FAILED(q)                                                                  \
    RINGSIDE_FREERTOS_BY_TYPE(q, RINGSIDE_RTOS_MUTEX_PUT_FAILED(q),                                \
                              RINGSIDE_RTOS_SEMAPHORE_PUT_FAILED(q),                               \
                              RINGSIDE_RTOS_QUEUE_SEND_FAILED(q))
#define traceQUEUE_RECEIVE_FAILED(q)                                                               \
    RINGSIDE_FREERTOS_BY_TYPE(q, RINGSIDE_RTOS_MUTEX_GET_FAILED(q),                                \
                              RINGSIDE_RTOS_SEMAPHORE_GET_FAILED(q),                               \
                              RINGSIDE_RTOS_QUEUE_RECEIVE_FAILED(q))
#define traceQUEUE_SEND_FROM_ISR(q)                  traceQUEUE_SEND(q)
#define traceQUEUE_RECEIVE_FROM_ISR(q)               traceQUEUE_RECEIVE(q)
#define traceQUEUE_SEND_FROM_ISR_FAILED(q)           traceQUEUE_SEND_FAILED(q)
#define traceQUEUE_RECEIVE_FROM_ISR_FAILED(q)        traceQUEUE_RECEIVE_FAILED(q)
#define traceBLOCKING_ON_QUEUE_SEND(q)                                                             \
    RINGSIDE_RTOS_QUEUE_BLOCK(q, ringside_freertos_thread, 1)
#define traceBLOCKING_ON_QUEUE_PEEK(q)                                                             \
    RINGSIDE_RTOS_QUEUE_BLOCK(q, ringside_freertos_thread, 0)
#define traceBLOCKING_ON_QUEUE_RECEIVE(q)                                                          \
    RINGSIDE_FREERTOS_BY_TYPE(                                                                     \
        q,                                                                                         \
        RINGSIDE_RTOS_MUTEX_BLOCK(q, ringside_freertos_thread, (q)->u.xSemaphore.xMutexHolder),    \
        RINGSIDE_RTOS_SEMAPHORE_BLOCK(q, ringside_freertos_thread),                                \
        RINGSIDE_RTOS_QUEUE_BLOCK(q, ringside_freertos_thread, 0))

// ---- event groups ----

#define traceEVENT_GROUP_CREATE(group)               RINGSIDE_RTOS_FLAGS_CREATE(group)
#define traceEVENT_GROUP_DELETE(group)               RINGSIDE_RTOS_FLAGS_DELETE(group)
#define traceEVENT_GROUP_SET_BITS(group, bits)       RINGSIDE_RTOS_FLAGS_SET(group, bits)
#define traceEVENT_GROUP_CLEAR_BITS(group, bits)     RINGSIDE_RTOS_FLAGS_CLEAR(group, bits)
#define traceEVENT_GROUP_WAIT_BITS_BLOCK(group, bits)                                              \
    RINGSIDE_RTOS_FLAGS_BLOCK(group, ringside_freertos_thread, bits)
#define traceEVENT_GROUP_SYNC_BLOCK(group, set, bits)                                              \
    RINGSIDE_RTOS_FLAGS_BLOCK(group, ringside_freertos_thread, bits)

// ---- stream and message buffers ----

// They wait for a notification, which is recorded, too. Tools take the two as one wait.

#define traceSTREAM_BUFFER_CREATE(stream, ...)       RINGSIDE_RTOS_STREAM_CREATE(stream)
#define traceSTREAM_BUFFER_DELETE(stream)            RINGSIDE_RTOS_STREAM_DELETE(stream)
#define traceSTREAM_BUFFER_SEND(stream, bytes)       RINGSIDE_RTOS_STREAM_SEND(stream, bytes)
#define traceSTREAM_BUFFER_SEND_FROM_ISR(stream, bytes)                                            \
    RINGSIDE_RTOS_STREAM_SEND(stream, bytes)
#define traceBLOCKING_ON_STREAM_BUFFER_SEND(stream)                                                \
    RINGSIDE_RTOS_STREAM_BLOCK(stream, ringside_freertos_thread, 1)
#define traceBLOCKING_ON_STREAM_BUFFER_RECEIVE(stream)                                             \
    RINGSIDE_RTOS_STREAM_BLOCK(stream, ringside_freertos_thread, 0)
#define traceSTREAM_BUFFER_RECEIVE(stream, bytes)    RINGSIDE_RTOS_STREAM_RECEIVE(stream, bytes)
#define traceSTREAM_BUFFER_RECEIVE_FROM_ISR(stream, bytes)                                         \
    RINGSIDE_RTOS_STREAM_RECEIVE(stream, bytes)

// ---- software timers and the heap ----

#define traceTIMER_CREATE(timer)                                                                   \
    do {                                                                                           \
        RINGSIDE_RTOS_TIMER_CREATE(timer);                                                         \
        RINGSIDE_RTOS_OBJECT_NAME(timer, (timer)->pcTimerName);                                    \
    } while (0)
#define traceTIMER_EXPIRED(timer)                    RINGSIDE_RTOS_TIMER_EXPIRE(timer)
#define traceMALLOC(address, bytes)                  RINGSIDE_RTOS_MEMORY_ALLOCATE(address, bytes)
#define traceFREE(address, bytes)                    RINGSIDE_RTOS_MEMORY_FREE(address, bytes)

// clang-format on

#endif
#endif
