// SPDX-License-Identifier: MIT
// unit: FreeRTOS's ticks if not all of them are recorded (RINGSIDE_FREERTOS_TICKS is 0): a tick and
// its interrupt are left out, unless they wake or switch a task, or something else is recorded in
// them.
#define RINGSIDE_FREERTOS_TICKS 0
#include "tests/unit/target/freertos_calls.h"

static void test_idle_ticks(void **state)
{
    (void)state;
    handle_silent_tick(NULL, 0); // which shows that this interrupt is the tick's
    expect("");
    handle_silent_tick(NULL, 0);
    uxSchedulerSuspended = 1;
    handle_silent_tick(NULL, 0);
    uxSchedulerSuspended = 0;
    (void)xTaskIncrementTick(NULL, 0);
    RINGSIDE_RTOS_THREAD_SUSPEND(&tasks[0]);
    expect("thread_suspend a\n");
}

// The first interrupt of a port that reports it is recorded: nothing shows yet that it is the
// tick's.
static void test_reported_ticks(void **state)
{
    (void)state;
    handle_reported_tick(NULL, 0);
    expect("isr_enter 0\ntick 7\nisr_exit 0\n");
    handle_reported_tick(NULL, 0);
    expect("");
    handle_reported_tick(&tasks[1], 0);
    expect("isr_enter 15\ntick 9\nthread_ready b\nisr_exit 0\n");
    handle_reported_tick(NULL, 1); // the end of a time slice
    expect("isr_enter 15\ntick 10\nisr_exit 0\n");
    handle_reported_tick(NULL, 0);
    expect("");
}

static void test_ticks_that_wake(void **state)
{
    (void)state;
    handle_silent_tick(&tasks[1], 0);
    expect("isr_enter 7\ntick 7\nthread_ready b\nisr_exit 7\n");
    handle_silent_tick(NULL, 1);
    expect("isr_enter 7\ntick 8\nisr_exit 7\n");
    (void)xTaskIncrementTick(&tasks[1], 0); // by a task
    expect("tick 9\nthread_ready b\n");
}

// An interrupt of another device is recorded whole, also within an idle tick.
static void test_other_interrupts(void **state)
{
    (void)state;
    handle_reported_tick(NULL, 0);
    *said = 0;
    serving = 25;
    traceISR_ENTER();
    traceISR_EXIT();
    expect("isr_enter 0\nisr_exit 0\n");
    serving = 15;
    traceISR_ENTER();
    serving = 25;
    traceISR_ENTER();
    traceISR_EXIT();
    serving = 15;
    traceISR_EXIT();
    serving = 0;
    expect("isr_enter 15\nisr_enter 0\nisr_exit 0\nisr_exit 0\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, open_hooks)
    const struct CMUnitTest tests[] = {
        TEST(test_idle_ticks),
        TEST(test_reported_ticks),
        TEST(test_ticks_that_wake),
        TEST(test_other_interrupts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
