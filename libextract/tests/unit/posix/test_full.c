// SPDX-License-Identifier: MIT
// Streams that are full: the times of what was lost, and what stopping means then. Truth: the
// clock's time on both sides of each trace point, and IEEE Std 1003.1-2008, 2.11,
// posix_trace_stop.
#include "tests/unit/posix/streams.h"
#include "tests/unit/posix_log/disk.h"
#include "tests/unit/posix_log/logging.h"
#include <time.h>

enum { USER = 32, MOST = 400 };

// When each event was recorded, as far as the program knows.
static uint64_t before[MOST], after[MOST];

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return nanoseconds(&time);
}

static void record(uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        before[i] = now();
        event_numbers(USER, i, i + 1);
        after[i] = now();
    }
}

static trace_id_t create_small(int policy)
{
    const trace_attr_t attr = attributes(policy, 500, 64);
    return create_started(&attr);
}

static void assert_time_of(uint32_t number, const struct got *got)
{
    uint64_t time = nanoseconds(&got->info.posix_timestamp);
    assert_true(time >= before[number] && time <= after[number]);
}

// OVERFLOW has the time of the first event that was lost, RESUME that of the next one that is
// there, and nothing comes between that and its RESUME. Events are lost in front of each read.
static void check_times(bool before_resume, bool before_event)
{
    uint32_t made = 100, lost = 0;
    trace_id_t trid = create_small(POSIX_TRACE_LOOP);
    record(0, made);
    for (unsigned turn = 0; turn < 3; turn++) {
        struct got overflow = expect(trid, POSIX_TRACE_OVERFLOW);
        assert_time_of(lost, &overflow);
        if (before_resume)
            record(made, made + 40), made += 40;
        struct got resume = expect(trid, POSIX_TRACE_RESUME);
        if (before_event)
            record(made, made + 40), made += 40;
        struct got event = expect(trid, USER);
        uint32_t number = number_in(&event);
        assert_true(number > lost);
        assert_time_of(number, &event);
        assert_int_equal(nanoseconds(&event.info.posix_timestamp),
                         nanoseconds(&resume.info.posix_timestamp));
        lost = number + 1;
    }
    end(trid);
}

static void test_d8_times_of_losses(void **state)
{
    (void)state;
    check_times(true, false);
    check_times(false, true);
    check_times(true, true);
}

static void read_all(trace_id_t trid, trace_event_id_t last)
{
    struct got got = try_next(trid);
    trace_event_id_t id = 0;
    for (; !got.unavailable; got = try_next(trid))
        id = got.info.posix_event_id;
    assert_int_equal(id, last);
}

static trace_id_t create_full(void)
{
    trace_id_t trid = create_small(POSIX_TRACE_UNTIL_FULL);
    record(0, 100);
    expect_status(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN);
    assert_int_equal(posix_trace_stop(trid), 0);
    expect_status(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_NO_OVERRUN);
    return trid;
}

// Stopping a stream that is full does nothing: neither when it goes on, nor with what is asked
// for later.
static void test_c4_stop_does_nothing(void **state)
{
    trace_event_set_t set;
    (void)state;
    trace_id_t trid = create_full();
    read_all(trid, POSIX_TRACE_STOP);
    expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    record(100, 101);
    expect(trid, POSIX_TRACE_START);
    expect(trid, USER);
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(POSIX_TRACE_ERROR, &set);
    assert_int_equal(posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET), 0);
    expect(trid, POSIX_TRACE_FILTER);
    record(101, 102);
    expect(trid, USER);
    expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    end(trid);
}

// A stream that stopped itself is suspended, so that it stays suspended when it is cleared, also
// when its filter is changed later. A start starts it.
static void test_c5_clear_keeps_suspended(void **state)
{
    trace_event_set_t set;
    (void)state;
    trace_id_t trid = create_full();
    assert_int_equal(posix_trace_clear(trid), 0);
    expect_status(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    record(100, 101);
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(POSIX_TRACE_ERROR, &set);
    assert_int_equal(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
    record(101, 102);
    expect_none(trid);
    expect_status(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    assert_int_equal(posix_trace_start(trid), 0);
    record(102, 103);
    expect(trid, POSIX_TRACE_START);
    struct got event = expect(trid, USER);
    assert_int_equal(number_in(&event), 102);
    expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    end(trid);
}

// A stream that was full, and was read to its end, runs again: clear keeps that, too.
static void test_c5_clear_keeps_running(void **state)
{
    (void)state;
    trace_id_t trid = create_full();
    read_all(trid, POSIX_TRACE_STOP);
    expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    assert_int_equal(posix_trace_clear(trid), 0);
    expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    record(100, 101);
    expect(trid, POSIX_TRACE_START);
    expect(trid, USER);
    end(trid);
}

// One that was read is not full any more.
static void test_c6_stop_when_read(void **state)
{
    (void)state;
    trace_id_t trid = create_full();
    read_all(trid, POSIX_TRACE_STOP);
    assert_int_equal(posix_trace_stop(trid), 0);
    record(100, 101);
    expect_none(trid);
    expect_status(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    assert_int_equal(posix_trace_start(trid), 0);
    record(101, 102);
    expect(trid, POSIX_TRACE_START);
    expect(trid, USER);
    end(trid);
}

// A stream that is flushed is emptied by itself, so that the stop is meant: it does not go on.
// Here the disk keeps it full until then.
static void test_c7_stop_of_a_flushed_one(void **state)
{
    int fd = new_file();
    (void)state;
    trace_attr_t attr = log_attributes(POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 500, 1);
    trace_id_t trid = create_log(fd, &attr);
    reason = ENOSPC;
    assert_int_equal(posix_trace_start(trid), 0);
    record(0, 100);
    struct posix_trace_status_info status = status_of(trid);
    assert_int_equal(status.posix_stream_full_status, POSIX_TRACE_FULL);
    assert_int_equal(posix_trace_stop(trid), 0);
    reason = 0;
    assert_int_equal(posix_trace_flush(trid), 0);
    record(100, 200);
    status = status_of(trid);
    assert_int_equal(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
    assert_int_equal(status.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
    end(trid);
    trid = open_log(fd);
    for (struct got got = next(trid); !got.unavailable; got = next(trid))
        assert_true(got.info.posix_event_id != USER || number_in(&got) < 100);
    assert_int_equal(posix_trace_close(trid), 0);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_d8_times_of_losses),
        cmocka_unit_test(test_c4_stop_does_nothing),
        cmocka_unit_test(test_c5_clear_keeps_suspended),
        cmocka_unit_test(test_c5_clear_keeps_running),
        cmocka_unit_test(test_c6_stop_when_read),
        cmocka_unit_test(test_c7_stop_of_a_flushed_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
