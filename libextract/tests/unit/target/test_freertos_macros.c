// SPDX-License-Identifier: MIT
// unit: FreeRTOS's trace macros as events (ringside_freertos.h). Truth: what the kernel's variables
// are when it has done what it calls the macro for, as seen in real kernels.
#define RINGSIDE_FREERTOS_TICKS 1
#include "tests/unit/target/freertos_calls.h"

static void prvInitialiseNewQueue(Queue_t *queue, const uint8_t ucQueueType, UBaseType_t length,
                                  UBaseType_t item_bytes)
{
    *queue = (Queue_t){.pcHead = (int8_t *)queue, .uxLength = length, .uxItemSize = item_bytes};
    traceQUEUE_CREATE(queue);
}

// A mutex is not a semaphore at its creation, also if it does not state its type.
static void test_creation(void **state)
{
    Queue_t queue;

    (void)state;
    prvInitialiseNewQueue(&queue, queueQUEUE_TYPE_BASE, 3, 4);
    expect("queue_create q 3\n");
    prvInitialiseNewQueue(&queue, queueQUEUE_TYPE_BINARY_SEMAPHORE, 1, 0);
    expect("semaphore_create q 0\n");
    prvInitialiseNewQueue(&queue, queueQUEUE_TYPE_RECURSIVE_MUTEX, 1, 0);
    expect("mutex_create q\n");
    prvInitialiseNewQueue(&queue, queueQUEUE_TYPE_MUTEX, 1, 0);
    queue.pcHead = NULL;
    traceQUEUE_SEND(&queue);
    expect("mutex_create q\nmutex_put q 0\n");
}

// Giving what is not taken fails. What is given keeps its type.
static void test_failed_gives(void **state)
{
    Queue_t queue = {.pcHead = (int8_t *)&queue, .uxItemSize = 0};

    (void)state;
    traceQUEUE_SEND_FAILED(&queue);
    traceQUEUE_SEND_FROM_ISR_FAILED(&queue);
    queue.pcHead = NULL;
    traceQUEUE_SEND_FAILED(&queue);
    queue = (Queue_t){.pcHead = (int8_t *)&queue, .uxItemSize = 4};
    traceQUEUE_SEND_FAILED(&queue);
    expect("semaphore_put_failed q\nsemaphore_put_failed q\nmutex_put_failed q\n"
           "queue_send_failed q\n");
}

static void test_counting_semaphore(void **state)
{
    const UBaseType_t uxInitialCount = 4;
    Queue_t queue, *const xHandle = &queue;

    (void)state;
    prvInitialiseNewQueue(xHandle, queueQUEUE_TYPE_COUNTING_SEMAPHORE, 9, 0);
    xHandle->uxMessagesWaiting = uxInitialCount;
    traceCREATE_COUNTING_SEMAPHORE();
    traceQUEUE_SEND(xHandle);
    expect("semaphore_create q 4\nsemaphore_put q 5\n");
}

static void test_overwritten_message(void **state)
{
    Queue_t queue;

    (void)state;
    prvInitialiseNewQueue(&queue, queueQUEUE_TYPE_BASE, 1, 4);
    traceQUEUE_SEND(&queue);
    queue.uxMessagesWaiting = 1;
    traceQUEUE_SEND(&queue);
    traceQUEUE_SEND_FROM_ISR(&queue);
    expect("queue_create q 1\nqueue_send q 1\nqueue_send q 1\nqueue_send q 1\n");
}

static void test_delays(void **state)
{
    const TickType_t xTicksToDelay = 5;

    (void)state;
    traceTASK_DELAY();
    traceTASK_DELAY_UNTIL(xTickCount + 3);
    traceTASK_DELAY_UNTIL(xTickCount + portMAX_DELAY);
    xTickCount = UINT32_MAX;
    traceTASK_DELAY_UNTIL((TickType_t)1); // after the overflow
    expect("thread_sleep a 5\nthread_sleep a 3\nthread_sleep a 0\nthread_sleep a 2\n");
}

static void test_notifications(void **state)
{
    TCB_t *pxTCB = &tasks[1];

    (void)state;
    traceTASK_NOTIFY();                // before 10.4
    traceTASK_NOTIFY_FROM_ISR(0);      // from then on
    traceTASK_NOTIFY_GIVE_FROM_ISR(0); // with the number of the notification
    traceTASK_NOTIFY_TAKE_BLOCK(0);
    expect("notify b\nnotify b\nnotify b\nnotify_block a\n");
}

// A task that has waited too long gets no notification.
static void test_missed_notifications(void **state)
{
    enum { WAITING = 1, RECEIVED };

    (void)state;
    memset(tasks, 0, sizeof tasks);
    tasks[0].ucNotifyState[1] = WAITING;
    traceTASK_NOTIFY_TAKE(1);
    traceTASK_NOTIFY_WAIT(1);
    traceTASK_NOTIFY_TAKE(); // before 10.4
    traceTASK_NOTIFY_WAIT();
    expect("");
    tasks[0].ucNotifyState[1] = RECEIVED;
    tasks[0].ulNotifiedValue[1] = 3;
    traceTASK_NOTIFY_TAKE(1);
    traceTASK_NOTIFY_WAIT(1);
    expect("notify_get a\nnotify_get a\n");
}

// Each tick is in its interrupt, whether the port reports it or not, and in one only.
static void test_ticks(void **state)
{
    (void)state;
    handle_reported_tick(NULL, 0);
    expect("isr_enter 0\ntick 7\nisr_exit 0\n");
    handle_reported_tick(&tasks[1], 0);
    expect("isr_enter 0\ntick 8\nthread_ready b\nisr_exit 0\n");
    handle_silent_tick(&tasks[1], 0);
    expect("isr_enter 7\ntick 9\nthread_ready b\nisr_exit 7\n");
    assert_int_equal(ringside_freertos_interrupt, 0);
}

// A tick that comes while the scheduler is suspended is counted later, by a task: outside of an
// interrupt.
static void test_ticks_of_a_suspended_scheduler(void **state)
{
    (void)state;
    uxSchedulerSuspended = 1;
    handle_silent_tick(NULL, 0);
    uxSchedulerSuspended = 0;
    (void)xTaskIncrementTick(NULL, 0);
    expect("isr_enter 7\nisr_exit 7\ntick 7\n");
}

// FreeRTOS 11 reports the exit of each handler that may switch, whether an entry was reported or
// not, and again if the handler does so, too.
static void test_exits(void **state)
{
    (void)state;
    serving = 25;
    traceISR_EXIT_TO_SCHEDULER();
    expect("");
    traceISR_ENTER();
    assert_int_equal(ringside_freertos_interrupt, 25);
    traceISR_EXIT_TO_SCHEDULER();
    traceISR_EXIT();
    expect("isr_enter 0\nisr_exit 0\n");
    assert_int_equal(ringside_freertos_interrupt, 0);
}

static void test_timer_has_a_name(void **state)
{
    struct {
        const char *pcTimerName;
    } timer = {"beat"};

    (void)state;
    traceTIMER_CREATE(&timer);
    expect("timer_create q\nobject_name q\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, open_hooks)
    const struct CMUnitTest tests[] = {
        TEST(test_creation),
        TEST(test_failed_gives),
        TEST(test_counting_semaphore),
        TEST(test_overwritten_message),
        TEST(test_delays),
        TEST(test_notifications),
        TEST(test_missed_notifications),
        TEST(test_ticks),
        TEST(test_ticks_of_a_suspended_scheduler),
        TEST(test_exits),
        TEST(test_timer_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
