// SPDX-License-Identifier: MIT
// qemu-tests/rtos/freertos: calls FreeRTOS's trace macros where FreeRTOS does. In: what the kernel
// here does. Out: events, by way of ringside_freertos.h; and counts of them, for tests.
#include "freertos/freertos.h"
#include "kernel.h"

// Tasks lie on the heap, so that only their control blocks tell their names.
static union {
    UCHAR bytes[1024];
    TCB_t tasks[FREERTOS_TASKS];
} ucHeap;
static const TX_THREAD *threads[FREERTOS_TASKS]; // of the tasks; the first one is the idle task
static Queue_t queues[FREERTOS_QUEUES];
static const void *objects[FREERTOS_QUEUES];

volatile struct freertos_counts freertos_counts;
TCB_t *volatile pxCurrentTCB;
volatile TickType_t xTickCount;
volatile UBaseType_t uxSchedulerSuspended; // the kernel here never suspends it

static void set_name(TCB_t *task, const char *name)
{
    for (size_t i = 0; i + 1 < sizeof task->pcTaskName && name[i]; i++)
        task->pcTaskName[i] = name[i];
}

void freertos_open(void)
{
    ringside_trace_init();
    ringside_rtos_hooks_open();
    set_name(&ucHeap.tasks[0], "IDLE");
}

TCB_t *freertos_task(const TX_THREAD *thread)
{
    for (unsigned i = 0; i < FREERTOS_TASKS; i++)
        if (threads[i] == thread)
            return &ucHeap.tasks[i];
    return NULL;
}

Queue_t *freertos_queue(const void *object)
{
    for (unsigned i = 0; i < FREERTOS_QUEUES; i++)
        if (objects[i] == object)
            return &queues[i];
    return NULL;
}

void freertos_create_task(const TX_THREAD *thread)
{
    for (unsigned i = 1; i < FREERTOS_TASKS; i++) {
        if (threads[i])
            continue;
        TCB_t *task = &ucHeap.tasks[i];
        threads[i] = thread;
        set_name(task, thread->tx_thread_name);
        task->uxPriority = BOUT_PRIORITIES - 1 - thread->tx_thread_priority;
        traceTASK_CREATE(task);
        return;
    }
}

// Returns the block of a new object; NULL: there are too many. Its type decides what it becomes, as
// in FreeRTOS: a mutex gets its form after the macro, and then is given once.
static Queue_t *create_queue(const void *object, uint8_t ucQueueType, ULONG length)
{
    for (unsigned i = 0; i < FREERTOS_QUEUES; i++) {
        if (objects[i])
            continue;
        Queue_t *queue = &queues[i];
        objects[i] = object;
        *queue = (Queue_t){.pcHead = (int8_t *)queue,
                           .uxLength = length,
                           .uxItemSize = ucQueueType ? 0 : sizeof(ULONG),
                           .ucQueueType = ucQueueType};
        traceQUEUE_CREATE(queue);
        if (ucQueueType == queueQUEUE_TYPE_MUTEX) {
            queue->pcHead = NULL;
            freertos_counts.gives++;
            traceQUEUE_SEND(queue);
            queue->uxMessagesWaiting = 1;
        }
        return queue;
    }
    return NULL;
}

void freertos_create_queue(const void *object, const char *name, uint8_t ucQueueType, ULONG length)
{
    Queue_t *queue = create_queue(object, ucQueueType, length);

    if (queue)
        traceQUEUE_REGISTRY_ADD(queue, name);
}

void freertos_create_counting(const void *object, const char *name, ULONG length,
                              UBaseType_t uxInitialCount)
{
    Queue_t *xHandle = create_queue(object, queueQUEUE_TYPE_COUNTING_SEMAPHORE, length);

    if (!xHandle)
        return;
    xHandle->uxMessagesWaiting = uxInitialCount;
    traceCREATE_COUNTING_SEMAPHORE();
    traceQUEUE_REGISTRY_ADD(xHandle, name);
}

static bool is_mutex(const Queue_t *queue)
{
    return queue->ucQueueType == queueQUEUE_TYPE_MUTEX;
}

static void receive(Queue_t *queue)
{
    freertos_counts.takes++;
    traceQUEUE_RECEIVE(queue);
    if (is_mutex(queue)) {
        queue->u.xSemaphore.xMutexHolder = pxCurrentTCB;
        queue->uxMessagesWaiting = 0;
    }
}

void freertos_switch(const TX_THREAD *entered)
{
    freertos_counts.switches++;
    pxCurrentTCB = freertos_task(entered);
    traceTASK_SWITCHED_IN();
}

void freertos_waited(bool is_success)
{
    ULONG lock = bout_lock();
    Queue_t *queue = pxCurrentTCB->wanted;

    if (queue && is_success) {
        queue->uxMessagesWaiting += !is_mutex(queue);
        receive(queue);
        queue->uxMessagesWaiting -= !is_mutex(queue);
    } else if (queue) {
        traceQUEUE_RECEIVE_FAILED(queue);
    }
    bout_unlock(lock);
}

void freertos_send(const void *object, ULONG messages)
{
    Queue_t *queue = freertos_queue(object);

    if (!queue)
        return;
    queue->uxMessagesWaiting = messages;
    freertos_counts.gives++;
    if (bout_system_state)
        traceQUEUE_SEND_FROM_ISR(queue);
    else
        traceQUEUE_SEND(queue);
}

static void block(Queue_t *queue)
{
    freertos_counts.blocks++;
    traceBLOCKING_ON_QUEUE_RECEIVE(queue);
    pxCurrentTCB->wanted = queue;
}

void freertos_receive(const void *object, ULONG messages, bool may_wait)
{
    Queue_t *queue = freertos_queue(object);

    if (!queue)
        return;
    queue->uxMessagesWaiting = messages;
    if (messages)
        receive(queue);
    else if (may_wait)
        block(queue);
    else
        traceQUEUE_RECEIVE_FAILED(queue);
}

void freertos_give(const TX_MUTEX *mutex)
{
    Queue_t *queue = freertos_queue(mutex);

    if (!queue || mutex->tx_mutex_ownership_count != 1)
        return;
    freertos_counts.gives++;
    traceQUEUE_SEND(queue);
    queue->u.xSemaphore.xMutexHolder = NULL;
    queue->uxMessagesWaiting = 1;
}

void freertos_take(const TX_MUTEX *mutex, bool may_wait)
{
    Queue_t *queue = freertos_queue(mutex);

    if (!queue || mutex->tx_mutex_owner == _tx_thread_current_ptr)
        return;
    if (!mutex->tx_mutex_owner)
        receive(queue);
    else if (may_wait)
        block(queue);
    else
        traceQUEUE_RECEIVE_FAILED(queue);
}

void freertos_ready(const TX_THREAD *thread)
{
    TCB_t *task = freertos_task(thread);

    traceMOVED_TASK_TO_READY_STATE(task);
}

void freertos_sleep(TickType_t xTicksToDelay)
{
    freertos_counts.sleeps++;
    traceTASK_DELAY();
}

// The timer task waits for a command without a limit.
void freertos_suspend(const TX_THREAD *thread)
{
    if (thread == &bout_timer_thread) {
        freertos_counts.sleeps++;
        traceTASK_DELAY_UNTIL(xTickCount + portMAX_DELAY);
    } else {
        traceTASK_SUSPEND(freertos_task(thread));
    }
}

// The tick, without what FreeRTOS does in it. The kernel here switches tasks after it.
static void increment_tick(void)
{
    BaseType_t xSwitchRequired = 0;

    traceTASK_INCREMENT_TICK(xTickCount);
    xTickCount++;
}

void freertos_isr_enter(ULONG exception)
{
    enum { SYSTICK = 15 };

    traceISR_ENTER();
    if (exception == SYSTICK)
        increment_tick();
}

void freertos_isr_exit(void)
{
    traceISR_EXIT();
}
