// SPDX-License-Identifier: MIT
// unit: a signal handler's events while its thread is in the critical section. The ring cannot be
// written there, so the trace point itself meets the signal, with the lock held; the handler traces
// and lets it go on. Nothing is lost that had a place, and the rest is counted.
#include "target/ports/linux.h"
#include "target/linux.h"
#include "tests/unit/target/ring_reader.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
// clang-format off
#include <cmocka.h>
// clang-format on

enum {
    WORDS = 1 << 16,
    DATA_WORDS = 200,
    MAX_DATA = 4 * DATA_WORDS,
    DATA_AT = 9, // of a record: the first word of its data
    INTERRUPTED = 40,
    QUEUED = 41
};

static struct ring_stream stream;
static struct ringside_trace_object *object;
static unsigned number;
static unsigned handled;                             // events that the handler makes
static trace_event_id_t known, unknown, still_known; // as the handler finds names
static uint32_t *guarded;                            // the ring, as trace points see it

static void guard(bool on)
{
    assert_int_equal(mprotect(guarded, WORDS * 4, on ? PROT_READ : PROT_READ | PROT_WRITE), 0);
}

// Different in each word of each event.
static void trace(uint32_t id, uint32_t event)
{
    uint32_t data[DATA_WORDS];
    for (uint32_t k = 0; k < DATA_WORDS; k++)
        data[k] = event * DATA_WORDS + k;
    posix_trace_event(id, data, sizeof data);
}

static void on_signal(int signal)
{
    (void)signal;
    for (unsigned k = 0; k < handled; k++)
        trace(QUEUED, k);
    (void)posix_trace_eventid_open("known", &still_known);
    (void)posix_trace_eventid_open("unknown", &unknown);
    guard(false);
}

static int setup(void **state)
{
    const struct ringside_trace_bind bind = {POSIX_TRACE_UNTIL_FULL, WORDS, MAX_DATA, false, ""};
    size_t length;
    (void)state;
    if (ringside_trace_object_open(0, true, &object) ||
        ringside_trace_object_bind(object, &bind, &number))
        return -1;
    stream = ring_stream(ringside_trace_object_bytes(object, &length), number);
    ring_set(stream.block, RING_WANTED, 3);
    ring_set(stream.block, RING_REQUEST, ring_of(stream, RING_REQUEST) + 1);
    ringside_trace_object_attend(object);
    trace(INTERRUPTED, 0); // the process has its object
    (void)posix_trace_eventid_open("known", &known);
    guarded = ringside_traced.memory->rings[number];
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ringside_trace_object_release(object, number);
    ringside_trace_object_close(object);
    return 0;
}

// A trace point that is interrupted by `count` events, and one that is not.
static void interrupt_by(unsigned count)
{
    void (*before)(int) = signal(SIGSEGV, on_signal);
    handled = count;
    guard(true);
    trace(INTERRUPTED, 1);
    signal(SIGSEGV, before);
    trace(INTERRUPTED, 2);
}

static void check_record(uint32_t *at, uint32_t id, uint32_t event)
{
    struct ring_record r;
    assert_true(ring_record(stream, *at, &r));
    assert_false(r.open || r.cut);
    assert_int_equal(r.id, id);
    assert_int_equal(r.bytes, MAX_DATA);
    for (uint32_t k = 0; k < DATA_WORDS; k++)
        assert_int_equal(ring_word(stream, *at + DATA_AT + k), event * DATA_WORDS + k);
    *at += r.words;
}

static void check(unsigned queued, unsigned refused)
{
    struct ring_record start;
    uint32_t at = ring_of(stream, RING_TAIL);
    assert_true(ring_record(stream, at, &start));
    assert_int_equal(start.id, POSIX_TRACE_START);
    at += start.words;
    check_record(&at, INTERRUPTED, 0);
    check_record(&at, INTERRUPTED, 1);
    for (unsigned k = 0; k < queued; k++)
        check_record(&at, QUEUED, k);
    check_record(&at, INTERRUPTED, 2);
    assert_int_equal(at, ring_of(stream, RING_HEAD));
    assert_int_equal(ring_of(stream, RING_REFUSED), refused);
}

static void test_one_event(void **state)
{
    (void)state;
    interrupt_by(1);
    check(1, 0);
}

// A handler in the critical section registers none: it leaves the lock where it is.
static void test_names(void **state)
{
    (void)state;
    interrupt_by(1);
    check(1, 0);
    assert_int_not_equal(known, POSIX_TRACE_UNNAMED_USEREVENT);
    assert_int_equal(still_known, known);
    assert_int_equal(unknown, POSIX_TRACE_UNNAMED_USEREVENT);
    assert_int_equal(posix_trace_eventid_open("unknown", &unknown), 0);
    assert_int_not_equal(unknown, POSIX_TRACE_UNNAMED_USEREVENT);
}

static void test_all_places(void **state)
{
    (void)state;
    interrupt_by(RINGSIDE_QUEUE);
    check(RINGSIDE_QUEUE, 0);
}

static void test_no_place(void **state)
{
    (void)state;
    interrupt_by(RINGSIDE_QUEUE + 3);
    check(RINGSIDE_QUEUE, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_event, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_places, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_place, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
