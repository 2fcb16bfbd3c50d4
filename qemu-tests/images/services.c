// SPDX-License-Identifier: MIT
// qemu-tests/images: the kernel's services checked against what they promise. In: nothing. Out:
// services_passed and services_failed; services_first_failure is the line of the first check that
// failed; services_done when all have run.
#include "image.h"

enum { HELPERS = 3, TESTER_PRIORITY = 10 };

volatile uint32_t services_passed, services_failed, services_first_failure, services_done;

static ULONG trace_ring[IMAGE_RING_BYTES / sizeof(ULONG)];
static TX_THREAD tester, helper[HELPERS];
static _Alignas(8) UCHAR stacks[1 + HELPERS][IMAGE_STACK_BYTES];
static TX_QUEUE queue;
static TX_SEMAPHORE semaphore;
static TX_MUTEX mutex;
static TX_EVENT_FLAGS_GROUP flags;
static TX_BLOCK_POOL blocks;
static TX_BYTE_POOL bytes;
static TX_TIMER timer;
static ULONG area[64];
static volatile ULONG counts[HELPERS]; // what the helpers did
static volatile ULONG results[HELPERS];

#define CHECK(condition) check(condition, __LINE__)

static void check(bool holds, uint32_t line)
{
    if (holds) {
        services_passed++;
        return;
    }
    if (services_failed++ == 0)
        services_first_failure = line;
}

void board_device_interrupt(void)
{
}

static void help(ULONG number, void (*entry)(ULONG), UINT priority)
{
    counts[number] = results[number] = 0;
    image_thread(&helper[number], "helper", entry, number, stacks[1 + number], priority);
}

static void dismiss(ULONG number)
{
    bout_thread_terminate(&helper[number]);
    CHECK(bout_thread_delete(&helper[number]) == BOUT_SUCCESS);
}

static void test_sleep(void)
{
    bout_thread_sleep(1); // to the beginning of a tick
    ULONG before = bout_time_get();
    CHECK(bout_thread_sleep(5) == BOUT_SUCCESS);
    CHECK(bout_time_get() - before == 5);
}

static void get_semaphore(ULONG number)
{
    results[number] = bout_semaphore_get(&semaphore, BOUT_WAIT_FOREVER);
    counts[number]++;
}

static void test_semaphore(void)
{
    bout_semaphore_create(&semaphore, "semaphore", 1);
    CHECK(bout_semaphore_get(&semaphore, BOUT_NO_WAIT) == BOUT_SUCCESS);
    CHECK(bout_semaphore_get(&semaphore, BOUT_NO_WAIT) == BOUT_NO_INSTANCE);
    ULONG before = bout_time_get();
    CHECK(bout_semaphore_get(&semaphore, 3) == BOUT_NO_INSTANCE);
    CHECK(bout_time_get() - before == 3);
    help(0, get_semaphore, 8);
    help(1, get_semaphore, 7);
    help(2, get_semaphore, 9);
    bout_semaphore_put(&semaphore); // first come, first served, whatever the priority
    CHECK(counts[0] == 1 && counts[1] == 0 && counts[2] == 0);
    bout_semaphore_put(&semaphore);
    CHECK(counts[1] == 1 && counts[2] == 0);
    dismiss(0);
    dismiss(1);
    help(0, get_semaphore, 8);
    dismiss(2); // leaves the line
    bout_semaphore_put(&semaphore);
    CHECK(counts[0] == 1);
    dismiss(0);
    help(0, get_semaphore, 8);
    bout_semaphore_delete(&semaphore);
    CHECK(counts[0] == 1 && results[0] == BOUT_DELETED);
    dismiss(0);
}

static void send_three(ULONG number)
{
    for (ULONG message[2] = {1, ~1UL}; message[0] <= 3; message[0]++, message[1] = ~message[0]) {
        bout_queue_send(&queue, message, BOUT_WAIT_FOREVER);
        counts[number]++;
    }
}

static void test_queue(void)
{
    ULONG message[2];
    bout_queue_create(&queue, "queue", 2, area, 4 * sizeof(ULONG));
    help(0, send_three, 8);
    CHECK(counts[0] == 2); // the third does not fit
    for (ULONG i = 1; i <= 3; i++) {
        CHECK(bout_queue_receive(&queue, message, BOUT_NO_WAIT) == BOUT_SUCCESS);
        CHECK(message[0] == i && message[1] == ~i);
    }
    CHECK(counts[0] == 3);
    CHECK(bout_queue_receive(&queue, message, 2) == BOUT_QUEUE_EMPTY);
    dismiss(0);
    help(0, send_three, 11); // sends when this thread waits
    CHECK(bout_queue_receive(&queue, message, BOUT_WAIT_FOREVER) == BOUT_SUCCESS);
    CHECK(message[0] == 1 && counts[0] == 0);
    dismiss(0);
    bout_queue_send(&queue, message, BOUT_NO_WAIT);
    bout_queue_send(&queue, message, BOUT_NO_WAIT);
    CHECK(bout_queue_send(&queue, message, BOUT_NO_WAIT) == BOUT_QUEUE_FULL);
    bout_queue_delete(&queue);
}

static void own_mutex(ULONG number)
{
    bout_mutex_get(&mutex, BOUT_WAIT_FOREVER);
    bout_mutex_get(&mutex, BOUT_WAIT_FOREVER);
    counts[number]++;
    bout_thread_sleep(3);
    results[number] = helper[number].tx_thread_priority;
    bout_mutex_put(&mutex);
    bout_mutex_put(&mutex);
    counts[number]++;
    bout_thread_sleep(100);
}

static void count_up(ULONG number)
{
    for (;;)
        counts[number]++;
}

// A thread of priority 12 would like to run while one of priority 20 owns what this one waits for.
static void test_mutex(bool inherit)
{
    bout_mutex_create(&mutex, "mutex", inherit);
    help(0, own_mutex, 20);
    bout_thread_sleep(1);
    CHECK(counts[0] == 1);
    CHECK(bout_mutex_put(&mutex) == BOUT_NOT_OWNED);
    CHECK(bout_mutex_get(&mutex, 1) == BOUT_NOT_AVAILABLE);
    help(1, count_up, 12);
    enum bout_status status = bout_mutex_get(&mutex, 10);
    CHECK(status == (inherit ? BOUT_SUCCESS : BOUT_NOT_AVAILABLE));
    CHECK(results[0] == (inherit ? TESTER_PRIORITY : 0));
    CHECK(counts[1] > 0); // it ran while the owner slept
    CHECK(helper[0].tx_thread_priority == 20);
    dismiss(1);
    dismiss(0); // lets go what it owns
    if (!inherit)
        CHECK(bout_mutex_get(&mutex, BOUT_NO_WAIT) == BOUT_SUCCESS);
    CHECK(mutex.tx_mutex_owner == &tester);
    bout_mutex_put(&mutex);
    bout_mutex_delete(&mutex);
}

static void want_two_flags(ULONG number)
{
    ULONG got = 0;
    bout_event_flags_get(&flags, 0x5, BOUT_AND_CLEAR, &got, BOUT_WAIT_FOREVER);
    results[number] = got;
    counts[number]++;
}

static void test_event_flags(void)
{
    ULONG got = 0;
    bout_event_flags_create(&flags, "flags");
    help(0, want_two_flags, 8);
    bout_event_flags_set(&flags, 0x3, BOUT_OR);
    CHECK(counts[0] == 0);
    CHECK(bout_event_flags_get(&flags, 0x6, BOUT_OR, &got, BOUT_NO_WAIT) == BOUT_SUCCESS);
    CHECK(got == 0x3);
    bout_event_flags_set(&flags, 0x4, BOUT_OR);
    CHECK(counts[0] == 1 && results[0] == 0x7);
    CHECK(bout_event_flags_get(&flags, 0x5, BOUT_OR, &got, BOUT_NO_WAIT) == BOUT_NO_EVENTS);
    CHECK(bout_event_flags_get(&flags, 0x2, BOUT_OR_CLEAR, &got, 1) == BOUT_SUCCESS && got == 0x2);
    CHECK(bout_event_flags_get(&flags, 0x2, BOUT_OR, &got, 2) == BOUT_NO_EVENTS);
    bout_event_flags_set(&flags, 0xF, BOUT_OR);
    bout_event_flags_set(&flags, 0x8, BOUT_AND);
    CHECK(bout_event_flags_get(&flags, 0xF, BOUT_OR, &got, BOUT_NO_WAIT) == BOUT_SUCCESS);
    CHECK(got == 0x8);
    dismiss(0);
    bout_event_flags_delete(&flags);
}

static void want_block(ULONG number)
{
    void *block;
    bout_block_allocate(&blocks, &block, BOUT_WAIT_FOREVER);
    results[number] = (ULONG)block;
}

static void test_block_pool(void)
{
    void *first, *second, *third = NULL;
    bout_block_pool_create(&blocks, "blocks", 3 * sizeof(ULONG), area, 8 * sizeof(ULONG));
    CHECK(bout_block_allocate(&blocks, &first, BOUT_NO_WAIT) == BOUT_SUCCESS);
    CHECK(bout_block_allocate(&blocks, &second, BOUT_NO_WAIT) == BOUT_SUCCESS);
    CHECK(bout_block_allocate(&blocks, &third, 2) == BOUT_NO_MEMORY && third == NULL);
    CHECK((UCHAR *)second - (UCHAR *)first == 4 * sizeof(ULONG));
    help(0, want_block, 8);
    bout_block_release(second);
    CHECK(results[0] == (ULONG)second);
    dismiss(0);
    bout_block_pool_delete(&blocks);
}

static void want_bytes(ULONG number)
{
    void *memory;
    bout_byte_allocate(&bytes, &memory, 24 * sizeof(ULONG), BOUT_WAIT_FOREVER);
    results[number] = (ULONG)memory;
}

static void test_byte_pool(void)
{
    void *piece[3], *whole;
    bout_byte_pool_create(&bytes, "bytes", area, 40 * sizeof(ULONG));
    for (ULONG i = 0; i < 3; i++)
        CHECK(bout_byte_allocate(&bytes, &piece[i], 10 * sizeof(ULONG), 0) == BOUT_SUCCESS);
    CHECK(bout_byte_allocate(&bytes, &whole, 10 * sizeof(ULONG), 1) == BOUT_NO_MEMORY);
    help(0, want_bytes, 8);
    bout_byte_release(piece[0]);
    bout_byte_release(piece[2]);
    CHECK(results[0] == 0); // there is room, but not in one piece
    bout_byte_release(piece[1]);
    CHECK(results[0] == (ULONG)piece[0]);
    bout_byte_release((void *)results[0]);
    CHECK(bout_byte_allocate(&bytes, &whole, 36 * sizeof(ULONG), 0) == BOUT_SUCCESS);
    CHECK(bytes.tx_byte_pool_available == 0);
    dismiss(0);
    bout_byte_pool_delete(&bytes);
}

static void count_once(ULONG number)
{
    counts[number]++;
}

static void test_preemption_threshold(void)
{
    bout_thread_preemption_change(&tester, 5);
    help(0, count_once, 7);
    CHECK(counts[0] == 0); // more urgent than the priority, not than the threshold
    help(1, count_once, 4);
    CHECK(counts[1] == 1 && counts[0] == 0);
    bout_thread_preemption_change(&tester, TESTER_PRIORITY);
    CHECK(counts[0] == 1);
    dismiss(0);
    dismiss(1);
    help(0, count_once, 12);
    bout_thread_priority_change(&helper[0], 9);
    CHECK(counts[0] == 1);
    dismiss(0);
}

static void test_time_slice(void)
{
    for (ULONG i = 0; i < 2; i++) {
        help(i, count_up, 15);
        helper[i].tx_thread_time_slice = helper[i].tx_thread_new_time_slice = 2;
    }
    bout_thread_sleep(3);
    CHECK(counts[0] > 0 && counts[1] > 0);
    ULONG before = counts[0];
    bout_thread_sleep(4);
    CHECK(counts[0] > before);
    dismiss(0);
    dismiss(1);
}

static void relinquish_twice(ULONG number)
{
    for (ULONG i = 0; i < 2; i++) {
        counts[number]++;
        bout_thread_relinquish();
    }
}

static void test_relinquish_and_suspend(void)
{
    help(0, relinquish_twice, TESTER_PRIORITY);
    CHECK(counts[0] == 0);
    bout_thread_relinquish();
    CHECK(counts[0] == 1);
    CHECK(bout_thread_suspend(&helper[0]) == BOUT_SUCCESS);
    bout_thread_relinquish();
    CHECK(counts[0] == 1);
    CHECK(bout_thread_delete(&helper[0]) == BOUT_CALLER_ERROR);
    bout_thread_resume(&helper[0]);
    bout_thread_relinquish();
    CHECK(counts[0] == 2);
    bout_thread_relinquish();
    CHECK(helper[0].tx_thread_state == BOUT_COMPLETED);
    dismiss(0);
}

static void timer_expired(ULONG number)
{
    counts[number]++;
}

static void test_timer(void)
{
    counts[0] = 0;
    bout_timer_create(&timer, "timer", timer_expired, 0, 2, 3, true);
    bout_thread_sleep(1);
    CHECK(counts[0] == 0);
    bout_thread_sleep(8); // expires after 2, 5 and 8 ticks
    CHECK(counts[0] == 3);
    bout_timer_deactivate(&timer);
    bout_thread_sleep(4);
    CHECK(counts[0] == 3);
    bout_timer_activate(&timer);
    bout_thread_sleep(3);
    CHECK(counts[0] == 4);
    bout_timer_delete(&timer);
    bout_thread_sleep(4);
    CHECK(counts[0] == 4);
}

static void tester_entry(ULONG unused)
{
    (void)unused;
    test_sleep();
    test_semaphore();
    test_queue();
    test_mutex(true);
    test_mutex(false);
    test_event_flags();
    test_block_pool();
    test_byte_pool();
    test_preemption_threshold();
    test_time_slice();
    test_relinquish_and_suspend();
    test_timer();
    services_done = 1;
}

static void define(void)
{
    image_trace_start(trace_ring, sizeof trace_ring, IMAGE_SLOTS);
    image_thread(&tester, "tester", tester_entry, 0, stacks[0], TESTER_PRIORITY);
}

void image_main(void)
{
    bout_start(define);
}
