// SPDX-License-Identifier: MIT
// qemu-tests/images/posix: a small product that is recorded by POSIX trace, from start-up to the
// end of its work. A device interrupt brings samples, which go sensor -> queue -> filter ->
// semaphore -> logger; each of them has a type of event of its own. Then recording stops, and
// posix_done is 1. From then on a heart beats, which records whenever a controller starts the
// stream again.
#include "shared.h"

enum { SAMPLES = 20, LONG_BYTES = 100 };

// What the application itself has done, for tests; then what the kernel had counted when recording
// stopped.
volatile struct {
    uint32_t samples, measured, messages, logged, cut, beats;
} posix_made;
volatile uint32_t posix_kernel[BOUT_POSIX_KINDS];
volatile uint32_t posix_done;

static trace_event_id_t sample_type, measured_type, message_type, logged_type, long_type, beat_type;
static TX_THREAD sensor_thread, filter_thread, logger_thread, closer_thread;
static _Alignas(8) UCHAR stacks[4][IMAGE_STACK_BYTES];
static TX_QUEUE sample_queue;
static TX_SEMAPHORE device_semaphore, log_semaphore, end_semaphore;
static TX_MUTEX log_mutex;
static ULONG sample_area[8];

void board_device_interrupt(void)
{
    if (posix_made.samples == SAMPLES)
        return;
    uint32_t sample = ++posix_made.samples;
    posix_trace_event(sample_type, &sample, sizeof sample);
    bout_semaphore_put(&device_semaphore);
}

static void sensor_entry(ULONG unused)
{
    (void)unused;
    for (ULONG sample = 1; sample <= SAMPLES; sample++) {
        bout_semaphore_get(&device_semaphore, BOUT_WAIT_FOREVER);
        uint32_t both[] = {(uint32_t)sample, (uint32_t)(sample * sample + 7)};
        posix_trace_event(measured_type, both, sizeof both);
        posix_made.measured++;
        bout_queue_send(&sample_queue, &sample, BOUT_WAIT_FOREVER);
    }
}

static void filter_entry(ULONG unused)
{
    (void)unused;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        ULONG sample;
        char text[20];
        bout_queue_receive(&sample_queue, &sample, BOUT_WAIT_FOREVER);
        posix_trace_event(message_type, text, image_message(sample, text));
        posix_made.messages++;
        bout_semaphore_put(&log_semaphore);
    }
}

static void logger_entry(ULONG unused)
{
    (void)unused;
    for (uint32_t i = 1; i <= SAMPLES; i++) {
        bout_semaphore_get(&log_semaphore, BOUT_WAIT_FOREVER);
        bout_mutex_get(&log_mutex, BOUT_WAIT_FOREVER);
        posix_trace_event(logged_type, NULL, 0);
        posix_made.logged++;
        bout_mutex_put(&log_mutex);
    }
    bout_semaphore_put(&end_semaphore);
}

static void record_long(void)
{
    UCHAR bytes[LONG_BYTES];
    for (uint32_t i = 0; i < LONG_BYTES; i++)
        bytes[i] = (UCHAR)i;
    posix_trace_event(long_type, bytes, sizeof bytes);
    posix_made.cut++;
}

static void finish(void)
{
    ULONG lock = bout_lock();
    ringside_trace_stop();
    for (unsigned kind = 0; kind < BOUT_POSIX_KINDS; kind++)
        posix_kernel[kind] = bout_posix_counts[kind];
    posix_done = 1;
    ringside_wrap_marker();
    bout_unlock(lock);
}

static void closer_entry(ULONG unused)
{
    (void)unused;
    bout_semaphore_get(&end_semaphore, BOUT_WAIT_FOREVER);
    record_long();
    finish();
    for (;;) {
        uint32_t beat = ++posix_made.beats;
        posix_trace_event(beat_type, &beat, sizeof beat);
        bout_thread_sleep(2);
    }
}

static void define(void)
{
    bout_posix_open();
    sample_type = posix_type("sample");
    measured_type = posix_type("measured");
    message_type = posix_type("message");
    logged_type = posix_type("logged");
    long_type = posix_type("long");
    beat_type = posix_type("beat");
    ringside_trace_start(POSIX_TRACE_LOOP);
    bout_queue_create(&sample_queue, "samples", 1, sample_area, sizeof sample_area);
    bout_mutex_create(&log_mutex, "log", true);
    bout_semaphore_create(&device_semaphore, "device", 0);
    bout_semaphore_create(&log_semaphore, "log", 0);
    bout_semaphore_create(&end_semaphore, "end", 0);
    image_thread(&sensor_thread, "sensor", sensor_entry, 0, stacks[0], 6);
    image_thread(&filter_thread, "filter", filter_entry, 0, stacks[1], 8);
    image_thread(&logger_thread, "logger", logger_entry, 0, stacks[2], 10);
    image_thread(&closer_thread, "closer", closer_entry, 0, stacks[3], 12);
    board_device_start(50);
}

void image_main(void)
{
    bout_start(define);
}
