// SPDX-License-Identifier: MIT
// qemu-tests/rtos/freertos: control blocks with the names that FreeRTOS documents, and the rest
// that its trace macros see. The kernel's threads and objects each have such a block beside their
// own.
#ifndef BOUT_FREERTOS_H
#define BOUT_FREERTOS_H

#include "bout.h"
#include "freertos/FreeRTOSConfig.h"

typedef uint32_t TickType_t;
typedef long BaseType_t;
typedef unsigned long UBaseType_t;

#define portMAX_DELAY ((TickType_t)UINT32_MAX)

enum { FREERTOS_TASKS = 8, FREERTOS_QUEUES = 8 };

// What a queue is used for, as FreeRTOS numbers it.
enum {
    queueQUEUE_TYPE_BASE,
    queueQUEUE_TYPE_MUTEX,
    queueQUEUE_TYPE_COUNTING_SEMAPHORE,
    queueQUEUE_TYPE_BINARY_SEMAPHORE,
    queueQUEUE_TYPE_RECURSIVE_MUTEX
};

typedef struct QueueDefinition {
    int8_t *pcHead;
    union {
        struct {
            struct tskTaskControlBlock *xMutexHolder;
        } xSemaphore;
    } u;
    UBaseType_t uxMessagesWaiting, uxLength, uxItemSize;
    uint8_t ucQueueType;
} Queue_t;

typedef struct tskTaskControlBlock {
    void *pxTopOfStack;
    UBaseType_t uxPriority;
    char pcTaskName[configMAX_TASK_NAME_LEN];
    // What the kernel here gives to a task that waits, a task of FreeRTOS takes when it runs again.
    Queue_t *wanted;
} TCB_t;

// What the image counts, for tests.
struct freertos_counts {
    uint32_t switches, takes, gives, blocks, sleeps;
};
extern volatile struct freertos_counts freertos_counts;
extern TCB_t *volatile pxCurrentTCB;
extern volatile TickType_t xTickCount;
extern volatile UBaseType_t uxSchedulerSuspended;

// Return the blocks of a thread (NULL: the idle task) and of an object.
TCB_t *freertos_task(const TX_THREAD *thread);
Queue_t *freertos_queue(const void *object);

void freertos_open(void);
// What the kernel's hooks call.
void freertos_create_task(const TX_THREAD *thread);
void freertos_create_queue(const void *object, const char *name, uint8_t ucQueueType, ULONG length);
void freertos_create_counting(const void *object, const char *name, ULONG length,
                              UBaseType_t uxInitialCount);
void freertos_switch(const TX_THREAD *entered);
void freertos_waited(bool is_success);
void freertos_send(const void *object, ULONG messages);
void freertos_receive(const void *object, ULONG messages, bool may_wait);
void freertos_give(const TX_MUTEX *mutex);
void freertos_take(const TX_MUTEX *mutex, bool may_wait);
void freertos_ready(const TX_THREAD *thread);
void freertos_sleep(TickType_t xTicksToDelay);
void freertos_suspend(const TX_THREAD *thread);
void freertos_isr_enter(ULONG exception);
void freertos_isr_exit(void);

#endif
