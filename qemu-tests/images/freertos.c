// SPDX-License-Identifier: MIT
// qemu-tests/images: a product whose kernel calls FreeRTOS's trace macros. A device interrupt wakes
// the task sensor, which sends samples to the task filter. filter and logger share the mutex bus;
// logger holds it long, so that filter has to wait for it. When all samples have come, recording
// stops, and freertos_done is 1.
#include "freertos/freertos.h"
#include "image.h"
#include "kernel.h"

enum { SAMPLES = 20, LONG_WORK = 50000, SHORT_WORK = 500 };

volatile uint32_t freertos_done;
// The longest time between two stamps of filter, around its call for the mutex.
volatile uint32_t freertos_longest_take;

static TX_THREAD sensor_thread, filter_thread, logger_thread;
static _Alignas(8) UCHAR stacks[3][IMAGE_STACK_BYTES];
static TX_QUEUE sample_queue;
static TX_SEMAPHORE device_semaphore;
static TX_MUTEX bus_mutex;
static ULONG sample_area[8];
static volatile uint32_t work_done, samples;

static void work(uint32_t amount)
{
    for (uint32_t i = 0; i < amount; i++)
        work_done++;
}

void board_device_interrupt(void)
{
    if (samples == SAMPLES)
        return;
    samples++;
    bout_semaphore_put(&device_semaphore);
}

static void sensor_entry(ULONG unused)
{
    (void)unused;
    for (ULONG sample = 1; sample <= SAMPLES; sample++) {
        bout_semaphore_get(&device_semaphore, BOUT_WAIT_FOREVER);
        work(SHORT_WORK);
        bout_queue_send(&sample_queue, &sample, BOUT_WAIT_FOREVER);
    }
    bout_thread_sleep(1000);
}

static void finish(void)
{
    ULONG lock = bout_lock();
    ringside_trace_stop();
    freertos_done = 1;
    ringside_wrap_marker();
    bout_unlock(lock);
}

static void filter_entry(ULONG unused)
{
    (void)unused;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        ULONG sample;
        bout_queue_receive(&sample_queue, &sample, BOUT_WAIT_FOREVER);
        uint32_t before = (uint32_t)bout_port_stamp();
        bout_mutex_get(&bus_mutex, BOUT_WAIT_FOREVER);
        uint32_t took = (uint32_t)bout_port_stamp() - before;
        if (took > freertos_longest_take)
            freertos_longest_take = took;
        work(SHORT_WORK);
        bout_mutex_put(&bus_mutex);
    }
    finish();
    bout_thread_sleep(1000);
}

static void logger_entry(ULONG unused)
{
    (void)unused;
    for (;;) {
        bout_mutex_get(&bus_mutex, BOUT_WAIT_FOREVER);
        work(LONG_WORK);
        bout_mutex_put(&bus_mutex);
        bout_thread_sleep(1);
    }
}

static void define(void)
{
    freertos_open();
    ringside_trace_start(POSIX_TRACE_LOOP);
    bout_queue_create(&sample_queue, "samples", 1, sample_area, sizeof sample_area);
    bout_semaphore_create(&device_semaphore, "device", 0);
    bout_mutex_create(&bus_mutex, "bus", true);
    image_thread(&sensor_thread, "sensor", sensor_entry, 0, stacks[0], 6);
    image_thread(&filter_thread, "filter", filter_entry, 0, stacks[1], 8);
    image_thread(&logger_thread, "logger", logger_entry, 0, stacks[2], 10);
    board_device_start(53); // not at the same time in each of the tasks' periods
}

void image_main(void)
{
    bout_start(define);
}
