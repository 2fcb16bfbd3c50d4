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

void freertos_create_queue(const void *object, const char *name, uint8_t type, ULONG length)
{
    for (unsigned i = 0; i < FREERTOS_QUEUES; i++) {
        if (objects[i])
            continue;
        Queue_t *queue = &queues[i];
        objects[i] = object;
        *queue = (Queue_t){.pcHead = type == 1 ? NULL : (int8_t *)queue,
                           .uxLength = length,
                           .uxItemSize = type ? 0 : sizeof(ULONG),
                           .ucQueueType = type};
        traceQUEUE_CREATE(queue);
        traceQUEUE_REGISTRY_ADD(queue, name);
        return;
    }
}

static void receive(Queue_t *queue)
{
    freertos_counts.takes++;
    traceQUEUE_RECEIVE(queue);
    if (queue->ucQueueType == 1)
        queue->u.xSemaphore.xMutexHolder = pxCurrentTCB;
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
        queue->uxMessagesWaiting++;
        receive(queue);
        queue->uxMessagesWaiting--;
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

void freertos_sleep(void)
{
    freertos_counts.sleeps++;
    traceTASK_DELAY();
}

// FreeRTOS has no macro for the wait of its timer task.
void freertos_suspend(const TX_THREAD *thread)
{
    if (thread != &bout_timer_thread)
        traceTASK_SUSPEND(freertos_task(thread));
}

void freertos_isr_enter(void)
{
    traceISR_ENTER();
}

void freertos_isr_exit(void)
{
    traceISR_EXIT();
}
