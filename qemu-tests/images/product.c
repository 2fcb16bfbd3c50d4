// SPDX-License-Identifier: MIT
// qemu-tests/images: a plausible product, more than 1000 events a second of all classes. A device
// interrupt brings samples, which go sensor -> queue -> filter -> event flags -> comms. A control
// loop shares a bus with a slow logger (the mutex inherits: a short priority inversion), a display
// shares the screen with it (it does not inherit: telemetry runs inside of the inversion). The
// supervisor deletes and re-creates objects, so the registry has freed and reused slots.
#include "image.h"
#include "port.h"

enum { SAMPLE_TAKEN = 0x1, SAMPLE_LOUD = 0x2 };
enum { EVENT_CONTROL = 4096, EVENT_SAMPLE, EVENT_PACKET, EVENT_ROUND, EVENT_JOB };
enum { JOBS = 3 };

// Written by a test: jobs have names in turn, and each says which one it is.
volatile uint32_t product_jobs_differ;

struct sample {
    ULONG number, value, channel, taken_at;
};

static TX_THREAD supervisor_thread, control_thread, sensor_thread, filter_thread, comms_thread,
    display_thread, telemetry_thread, logger_thread, worker_a_thread, worker_b_thread, job_thread;
static _Alignas(8) UCHAR stacks[11][IMAGE_STACK_BYTES];

static TX_TIMER control_timer, watchdog_timer;
static TX_QUEUE sample_queue;
static TX_SEMAPHORE device_semaphore, control_semaphore, burst_semaphore;
static TX_MUTEX bus_mutex, screen_mutex;
static TX_EVENT_FLAGS_GROUP sample_flags;
static TX_BLOCK_POOL sample_pool;
static TX_BYTE_POOL packet_pool;
static ULONG sample_area[4 * sizeof(struct sample *)];
static ULONG sample_blocks[40];
static ULONG packet_area[160];

static ULONG samples_taken;
static volatile ULONG work_result;
static volatile ULONG watchdog_barks;

static void work(ULONG rounds)
{
    ULONG value = work_result;
    for (ULONG i = 0; i < rounds; i++)
        value = value * 69069 + 1;
    work_result = value;
}

// Long enough for the tick to come in between now and then, and a tick at most: on a busy host an
// interrupt of many ticks leaves no time for threads.
void board_device_interrupt(void)
{
    const ULONG tick = BOUT_PORT_STAMP_HZ / BOUT_TICKS_PER_SECOND, begin = bout_port_stamp();

    samples_taken++;
    for (int i = 0; i < 100 && bout_port_stamp() - begin < tick; i++)
        work(8000);
    bout_semaphore_put(&device_semaphore);
}

static void control_timer_expired(ULONG unused)
{
    (void)unused;
    bout_semaphore_put(&control_semaphore);
}

static void watchdog_timer_expired(ULONG unused)
{
    (void)unused;
    watchdog_barks++;
}

static void control_entry(ULONG unused)
{
    (void)unused;
    for (ULONG cycle = 0;; cycle++) {
        bout_semaphore_get(&control_semaphore, BOUT_WAIT_FOREVER);
        bout_mutex_get(&bus_mutex, BOUT_WAIT_FOREVER);
        work(2000);
        bout_trace_user_event(EVENT_CONTROL, cycle, work_result & 0xFFF, samples_taken, 0);
        bout_mutex_put(&bus_mutex);
        if (cycle % 8 == 0) {
            bout_timer_deactivate(&watchdog_timer);
            bout_timer_activate(&watchdog_timer);
        }
    }
}

static void sensor_entry(ULONG unused)
{
    (void)unused;
    for (;;) {
        void *block;
        bout_semaphore_get(&device_semaphore, BOUT_WAIT_FOREVER);
        if (bout_block_allocate(&sample_pool, &block, 5) != BOUT_SUCCESS)
            continue;
        struct sample *sample = block;
        *sample =
            (struct sample){samples_taken, work_result & 0xFFF, samples_taken % 3, bout_time_get()};
        bout_queue_send(&sample_queue, &sample, BOUT_WAIT_FOREVER);
    }
}

static void filter_entry(ULONG unused)
{
    (void)unused;
    for (;;) {
        struct sample *sample;
        bout_queue_receive(&sample_queue, &sample, BOUT_WAIT_FOREVER);
        work(sample->channel * 1000);
        ULONG flags = sample->value > 0x800 ? SAMPLE_TAKEN | SAMPLE_LOUD : SAMPLE_TAKEN;
        bout_trace_user_event(EVENT_SAMPLE, sample->number, sample->value, sample->channel,
                              sample->taken_at);
        // Now and then two samples are kept for a while, and the sensor has to wait for a block.
        if (sample->number % 32 == 0)
            bout_thread_sleep(16);
        bout_block_release(sample);
        bout_event_flags_set(&sample_flags, flags, BOUT_OR);
    }
}

static void comms_entry(ULONG unused)
{
    (void)unused;
    for (ULONG packet = 0;; packet++) {
        ULONG flags = 0;
        void *memory;
        bout_event_flags_get(&sample_flags, SAMPLE_TAKEN | SAMPLE_LOUD, BOUT_OR_CLEAR, &flags,
                             BOUT_WAIT_FOREVER);
        if (bout_byte_allocate(&packet_pool, &memory, 100 + packet % 7 * 20, BOUT_NO_WAIT) !=
            BOUT_SUCCESS)
            continue;
        bout_mutex_get(&bus_mutex, 10);
        work(3000);
        bout_trace_user_event(EVENT_PACKET, packet, flags, (ULONG)memory, 0);
        bout_mutex_put(&bus_mutex);
        bout_byte_release(memory);
    }
}

static void display_entry(ULONG unused)
{
    (void)unused;
    for (;;) {
        bout_mutex_get(&screen_mutex, BOUT_WAIT_FOREVER);
        work(5000);
        bout_mutex_put(&screen_mutex);
        bout_thread_sleep(10);
    }
}

// Takes most of the packet pool for a while, so that others find it empty or wait.
static void telemetry_entry(ULONG bytes)
{
    for (;;) {
        void *memory;
        if (bout_byte_allocate(&packet_pool, &memory, bytes, 6) == BOUT_SUCCESS) {
            bout_thread_sleep(3);
            bout_byte_release(memory);
        }
        bout_thread_sleep(4);
    }
}

// Sleeps while it owns what others want: its flash is slow.
static void logger_entry(ULONG unused)
{
    (void)unused;
    for (;;) {
        bout_mutex_get(&bus_mutex, BOUT_WAIT_FOREVER);
        bout_mutex_get(&bus_mutex, BOUT_WAIT_FOREVER);
        bout_thread_sleep(5);
        bout_mutex_put(&bus_mutex);
        bout_mutex_put(&bus_mutex);
        bout_mutex_get(&screen_mutex, BOUT_WAIT_FOREVER);
        bout_thread_sleep(6);
        work(20000);
        bout_mutex_put(&screen_mutex);
        bout_thread_sleep(15);
    }
}

// Two of these share a priority: time slices and relinquishing change between them. Both begin at
// the same ticks.
static void worker_entry(ULONG period)
{
    for (ULONG round = 0;; round++) {
        work(200000);
        bout_thread_relinquish();
        if (round % 2 == 0)
            work(6000000);
        bout_thread_sleep(period - bout_time_get() % period);
    }
}

static void job_entry(ULONG round)
{
    if (product_jobs_differ)
        bout_trace_user_event(EVENT_JOB, round, round % JOBS, 0, 0);
    if (round % 2)
        return; // completes
    bout_semaphore_get(&burst_semaphore, BOUT_WAIT_FOREVER);
}

static void job_start(ULONG round)
{
    static char *const names[JOBS] = {"job red", "job green", "job blue"};

    bout_semaphore_create(&burst_semaphore, "burst", 0);
    image_thread(&job_thread, product_jobs_differ ? names[round % JOBS] : "job", job_entry, round,
                 stacks[10], 9);
}

static void job_end(void)
{
    bout_thread_terminate(&job_thread);
    bout_thread_delete(&job_thread);
    bout_semaphore_delete(&burst_semaphore);
}

static void supervisor_entry(ULONG unused)
{
    (void)unused;
    for (ULONG round = 0;; round++) {
        job_start(round);
        bout_thread_sleep(20);
        job_end();
        bout_trace_user_event(EVENT_ROUND, round, bout_time_get(), (ULONG)bout_thread_identify(),
                              0);
        if (bout_thread_suspend(&worker_a_thread) == BOUT_SUCCESS)
            bout_thread_resume(&worker_a_thread);
        bout_thread_priority_change(&worker_b_thread, round % 2 ? 25 : 24);
        bout_thread_preemption_change(&comms_thread, round % 2 ? 10 : 8);
        bout_interrupt_control(bout_interrupt_control(0));
    }
}

static void define_objects(void)
{
    bout_queue_create(&sample_queue, "samples", 1, sample_area, sizeof sample_area);
    bout_semaphore_create(&device_semaphore, "device", 0);
    bout_semaphore_create(&control_semaphore, "control period", 0);
    bout_mutex_create(&bus_mutex, "bus", true);
    bout_mutex_create(&screen_mutex, "screen", false);
    bout_event_flags_create(&sample_flags, "sample flags");
    bout_block_pool_create(&sample_pool, "sample blocks", sizeof(struct sample), sample_blocks,
                           12 * sizeof(ULONG));
    bout_byte_pool_create(&packet_pool, "packets", packet_area, sizeof packet_area);
    bout_timer_create(&control_timer, "control timer", control_timer_expired, 0, 6, 6, true);
    bout_timer_create(&watchdog_timer, "watchdog", watchdog_timer_expired, 0, 50, 0, false);
}

static void define_threads(void)
{
    image_thread(&supervisor_thread, "supervisor", supervisor_entry, 0, stacks[0], 2);
    image_thread(&control_thread, "control", control_entry, 0, stacks[1], 4);
    image_thread(&sensor_thread, "sensor", sensor_entry, 0, stacks[2], 6);
    image_thread(&filter_thread, "filter", filter_entry, 0, stacks[3], 8);
    image_thread(&comms_thread, "comms", comms_entry, 0, stacks[4], 10);
    image_thread(&display_thread, "display", display_entry, 0, stacks[5], 12);
    image_thread(&telemetry_thread, "telemetry", telemetry_entry, sizeof packet_area * 3 / 4,
                 stacks[6], 16);
    image_thread(&logger_thread, "logger", logger_entry, 0, stacks[7], 20);
    bout_thread_create(&worker_a_thread,
                       &(struct bout_thread_options){.name = "worker A",
                                                     .entry = worker_entry,
                                                     .parameter = 8,
                                                     .stack = stacks[8],
                                                     .stack_size = IMAGE_STACK_BYTES,
                                                     .priority = 24,
                                                     .preempt_threshold = 24,
                                                     .time_slice = 1});
    bout_thread_create(&worker_b_thread,
                       &(struct bout_thread_options){.name = "worker B",
                                                     .entry = worker_entry,
                                                     .parameter = 8,
                                                     .stack = stacks[9],
                                                     .stack_size = IMAGE_STACK_BYTES,
                                                     .priority = 24,
                                                     .preempt_threshold = 24,
                                                     .time_slice = 1});
}

void product_define(void)
{
    define_objects();
    define_threads();
    board_device_start(19);
}
