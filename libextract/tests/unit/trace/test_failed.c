// SPDX-License-Identifier: MIT
// unit: assertions about calls that failed.
//
// Truth: computation by hand. The kernel returns an error from a call that may not wait if there is
// nothing to get or no room, and from one whose time is over before it gets something.
#include "tests/unit/ring_builder.h"
#include <extract/assert.h>
#include <stdio.h>

enum { A = 0x20004000, B = 0x20004200, TIMER = 0x20004400 };
enum { QUEUE = 0x20004600, SEMAPHORE = 0x20004700, MUTEX = 0x20004800, POOL = 0x20004900 };
enum {
    RESUME = 1,
    SUSPEND = 2,
    BLOCK_ALLOCATE = 10,
    MUTEX_GET = 52,
    QUEUE_RECEIVE = 68,
    QUEUE_SEND = 69,
    SEMAPHORE_GET = 83,
    SLEEP = 112,
    WAIT_ABORT = 117
};
enum { FOREVER = 0xFFFFFFFF, STATE_QUEUE = 5, STATE_SEMAPHORE = 6 };

static struct ring_image image;
static uint64_t now;

// Three threads, and a queue with room for 4 messages of 2 words.
static void begin(void)
{
    static const struct ring_object objects[] = {
        {0, 1, 0, 0, A, 0x20005000, 1024, "a"},
        {0, 1, 0, 0, B, 0x20006000, 1024, "b"},
        {0, 1, 0, 0, TIMER, 0x20007000, 1024, "System Timer Thread"},
        {0, 3, 0, 0, QUEUE, 32, 2, "queue"}};
    struct ring_spec spec = ring_plain;

    spec.entries = 32;
    ring_build(&image, &spec);
    ring_fill(&image, objects, sizeof objects / sizeof *objects, NULL, 0);
    now = 0;
}

static void add(uint64_t thread, uint64_t id, uint64_t i1, uint64_t i2, uint64_t i3, uint64_t i4)
{
    ring_insert(&image, &(struct ring_entry){thread, 0x80100010, id, now += 10, {i1, i2, i3, i4}});
}

static enum extract_assertion decide(const char *text)
{
    struct extract_assertion_result result;
    struct extract_assertions *assertions;
    struct look look;

    look_open(&look, &image);
    assert_int_equal(extract_assertions_new(&assertions, look.trace, NULL, 0, true, NULL),
                     EXTRACT_OK);
    assert_int_equal(extract_assertions_check(assertions, text, &result, NULL), EXTRACT_OK);
    extract_assertions_free(assertions);
    look_close(&look);
    return result.result;
}

// Checks the number of failed calls of an event.
static void check_failed(const char *event, unsigned count)
{
    char text[100];

    snprintf(text, sizeof text, "count(%s failed) == %u", event, count);
    if (decide(text) != EXTRACT_ASSERTION_HOLDS)
        fail_msg("not so: %s", text);
}

static void test_calls_that_may_not_wait(void **state)
{
    (void)state;
    begin();
    add(A, QUEUE_SEND, QUEUE, 0, 0, 3);    // room for one more
    add(A, QUEUE_SEND, QUEUE, 0, 0, 4);    // full
    add(A, QUEUE_RECEIVE, QUEUE, 0, 0, 1); // a message
    add(A, QUEUE_RECEIVE, QUEUE, 0, 0, 0); // empty
    add(B, QUEUE_RECEIVE, QUEUE, 0, 0, 0); // empty
    add(A, SEMAPHORE_GET, SEMAPHORE, 0, 1, 0);
    add(A, SEMAPHORE_GET, SEMAPHORE, 0, 0, 0); // none left
    add(A, MUTEX_GET, MUTEX, 0, 0, 0);         // free
    add(A, MUTEX_GET, MUTEX, 0, A, 1);         // its own
    add(B, MUTEX_GET, MUTEX, 0, A, 2);         // another thread's
    add(A, BLOCK_ALLOCATE, POOL, 0, 0, 1);
    add(A, BLOCK_ALLOCATE, POOL, 0, 0, 0); // none left
    check_failed("queue_send", 1);
    check_failed("queue_receive", 2);
    check_failed("semaphore_get", 1);
    check_failed("mutex_get", 1);
    check_failed("block_allocate", 1);
    check_failed("thread_sleep", 0);
}

// A call that waits fails if the timer thread ends the wait, or if the wait is aborted.
static void test_calls_that_wait(void **state)
{
    (void)state;
    begin();
    add(TIMER, SUSPEND, TIMER, 3, 0, A);
    add(A, QUEUE_RECEIVE, QUEUE, 0, 5, 0);
    add(A, SUSPEND, A, STATE_QUEUE, 0, B);
    add(B, QUEUE_SEND, QUEUE, 0, 0, 0); // ends the wait
    add(B, RESUME, A, STATE_QUEUE, 0, A);
    add(A, QUEUE_RECEIVE, QUEUE, 0, 5, 0);
    add(A, SUSPEND, A, STATE_QUEUE, 0, B);
    add(B, SLEEP, 9, 0, 0, 0);
    add(B, SUSPEND, B, 4, 0, TIMER);
    add(TIMER, RESUME, A, STATE_QUEUE, 0, A); // the time is over
    add(TIMER, SUSPEND, TIMER, 3, 0, A);
    add(A, SEMAPHORE_GET, SEMAPHORE, FOREVER, 0, 0);
    add(A, SUSPEND, A, STATE_SEMAPHORE, 0, TIMER);
    add(TIMER, RESUME, B, 4, 0, B); // the end of a sleep is no failure
    add(TIMER, SUSPEND, TIMER, 3, 0, B);
    add(B, WAIT_ABORT, A, STATE_SEMAPHORE, 0, 0);
    add(B, RESUME, A, STATE_SEMAPHORE, 0, A);
    add(A, SLEEP, 9, 0, 0, 0);
    check_failed("queue_receive", 1);
    check_failed("queue_send", 0);
    check_failed("semaphore_get", 1);
    check_failed("thread_sleep", 0);
}

// The timer thread's first resumption may belong to a service that was called before the trace.
static void test_calls_that_may_have_failed(void **state)
{
    (void)state;
    begin();
    add(A, QUEUE_RECEIVE, QUEUE, 0, 5, 0);
    add(A, SUSPEND, A, STATE_QUEUE, 0, TIMER);
    add(TIMER, RESUME, A, STATE_QUEUE, 0, A);
    assert_int_equal(decide("never(queue_receive failed)"), EXTRACT_ASSERTION_UNKNOWN);
    assert_int_equal(decide("count(queue_receive failed) < 1"), EXTRACT_ASSERTION_UNKNOWN);
    assert_int_equal(decide("count(queue_receive failed) < 2"), EXTRACT_ASSERTION_HOLDS);
    assert_int_equal(decide("never(queue_send failed)"), EXTRACT_ASSERTION_HOLDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_that_may_not_wait),
        cmocka_unit_test(test_calls_that_wait),
        cmocka_unit_test(test_calls_that_may_have_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
