// SPDX-License-Identifier: MIT
// Full policies of logs and streams, flushing, and a disk that fails. Truth: the numbers that the
// trace points were given, and IEEE Std 1003.1-2008.
#include "tests/unit/posix_log/disk.h"
#include "tests/unit/posix_log/logging.h"
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

enum { USER = 32, WAITS = 6000, WAIT = 10000000 };

static trace_id_t create_started(int fd, int stream_policy, int log_policy, size_t log_size)
{
    trace_attr_t attr = log_attributes(stream_policy, log_policy, 100000, log_size);
    trace_id_t trid = create_log(fd, &attr);
    assert_int_equal(posix_trace_start(trid), 0);
    return trid;
}

static void flush(trace_id_t trid)
{
    assert_int_equal(posix_trace_flush(trid), 0);
}

static void shut_down(trace_id_t trid)
{
    assert_int_equal(posix_trace_shutdown(trid), 0);
}

static void close_both(trace_id_t trid, int fd)
{
    assert_int_equal(posix_trace_close(trid), 0);
    close(fd);
}

// Checks the numbers of the events of a log from its start on: each is one more than the one
// before. START is skipped. Returns how many there are; *first is the first, and *last the type
// after them.
static uint32_t count_numbers(trace_id_t trid, uint32_t *first, trace_event_id_t *last)
{
    uint32_t count = 0;
    for (struct got got = next(trid); !got.unavailable; got = next(trid)) {
        assert_int_not_equal(got.info.posix_event_id, POSIX_TRACE_OVERFLOW);
        bool flushes = got.info.posix_event_id == POSIX_TRACE_FLUSH_START ||
                       got.info.posix_event_id == POSIX_TRACE_FLUSH_STOP;
        if (!flushes)
            *last = got.info.posix_event_id;
        if (got.info.posix_event_id != USER)
            continue;
        if (!count)
            *first = number_in(&got);
        assert_int_equal(number_in(&got), *first + count);
        count++;
    }
    return count;
}

// ---- full policies of logs ----

// Sizes that are as good as none: every event has room.
static void test_h9_no_limit(void **state)
{
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4};
    (void)state;
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int fd = new_file();
        uint32_t first = 1;
        trace_event_id_t last = 0;
        trace_id_t trid = create_started(fd, POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, sizes[i]);
        event_numbers(USER, 0, 100);
        shut_down(trid);
        trid = open_log(fd);
        assert_int_equal(count_numbers(trid, &first, &last), 100);
        assert_int_equal(status_of(trid).posix_log_full_status, POSIX_TRACE_NOT_FULL);
        close_both(trid, fd);
    }
}

// ---- flushing ----

struct watch {
    trace_id_t trid;
    atomic_bool seen, end;
};

// Asks for the status until it shows a flush, or until the test ends it.
static void *await_flushing(void *context)
{
    struct posix_trace_status_info status;
    struct watch *watch = context;
    while (!watch->end && !watch->seen)
        if (!posix_trace_get_status(watch->trid, &status))
            watch->seen = status.posix_stream_flush_status == POSIX_TRACE_FLUSHING;
    return NULL;
}

// During a flush, the status shows it.
static void test_h24_flushing(void **state)
{
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 1 << 20, 1 << 20);
    int fd = new_file();
    struct watch watch = {0};
    pthread_t thread;
    (void)state;
    watch.trid = create_log(fd, &attr);
    posix_trace_start(watch.trid);
    assert_int_equal(pthread_create(&thread, NULL, await_flushing, &watch), 0);
    for (time_t end = time(NULL) + 60; !watch.seen && time(NULL) < end;) {
        event_numbers(USER, 0, 10000);
        flush(watch.trid);
    }
    watch.end = true;
    pthread_join(thread, NULL);
    assert_true(watch.seen);
    assert_int_equal(status_of(watch.trid).posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
    shut_down(watch.trid);
    close(fd);
}

// A stream of that policy is flushed by itself: what waits, and one that is full.
static void test_h15_by_itself(void **state)
{
    const struct timespec pause = {0, WAIT};
    trace_attr_t attr = log_attributes(POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 20000, 0);
    uint32_t first = 1, count = 0;
    trace_event_id_t last = 0;
    int fd = new_file();
    (void)state;
    trace_id_t trid = create_log(fd, &attr), log;
    posix_trace_start(trid);
    event_numbers(USER, 0, 5);
    for (unsigned i = 0; i < WAITS && count < 5; i++) {
        nanosleep(&pause, NULL);
        log = open_log(fd);
        count = count_numbers(log, &first, &last);
        assert_int_equal(posix_trace_close(log), 0);
    }
    assert_int_equal(count, 5);
    event_numbers(USER, 5, 2000); // more than there is room for
    struct posix_trace_status_info status = {0};
    for (unsigned i = 0; i < WAITS && status.posix_stream_status != POSIX_TRACE_RUNNING; i++) {
        nanosleep(&pause, NULL);
        status = status_of(trid);
    }
    assert_int_equal(status.posix_stream_status, POSIX_TRACE_RUNNING);
    assert_int_equal(status.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
    shut_down(trid);
    close(fd);
}

// ---- a disk that fails ----

static void each_policy(void (*check)(int stream_policy, int log_policy), bool flushed)
{
    static const int streams[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH};
    static const int logs[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND};
    for (unsigned i = 0; i < 2U + flushed; i++)
        for (unsigned k = 0; k < 3; k++)
            check(streams[i], logs[k]);
}

// The first error remains until it is asked for. Nothing is lost by it.
static void check_full_disk(int stream_policy, int log_policy)
{
    uint32_t first = 1;
    trace_event_id_t last = 0;
    int fd = new_file();
    trace_id_t trid = create_started(fd, stream_policy, log_policy, 1 << 20);
    event_numbers(USER, 0, 500);
    flush(trid);
    event_numbers(USER, 500, 700);
    reason = ENOSPC;
    assert_int_equal(posix_trace_flush(trid), ENOSPC);
    event_numbers(USER, 700, 750);
    reason = EFBIG;
    assert_int_equal(posix_trace_flush(trid), EFBIG);
    assert_int_equal(status_of(trid).posix_stream_flush_error, ENOSPC);
    assert_int_equal(status_of(trid).posix_stream_flush_error, 0);
    reason = 0;
    trace_id_t log = open_log(fd);
    assert_int_equal(count_numbers(log, &first, &last), 500);
    assert_int_equal(posix_trace_close(log), 0);
    event_numbers(USER, 750, 770);
    flush(trid);
    event_numbers(USER, 770, 800);
    shut_down(trid);
    trid = open_log(fd);
    assert_int_equal(count_numbers(trid, &first, &last), 800);
    assert_int_equal(first, 0);
    close_both(trid, fd);
}

// This excludes streams that are flushed automatically, which may fail between any two calls.
static void test_h18_full_disk(void **state)
{
    (void)state;
    each_policy(check_full_disk, false);
}

// A flush that fails frees nothing: what it read still blocks the events that come then.
static void check_kept(int stream_policy, int log_policy)
{
    trace_attr_t attr = log_attributes(stream_policy, log_policy, 4000, 1 << 20);
    struct timespec before, after;
    uint32_t number = 0;
    int fd = new_file();
    trace_id_t trid = create_log(fd, &attr);
    assert_int_equal(posix_trace_start(trid), 0);
    event_numbers(USER, 0, 20);
    flush(trid);
    reason = ENOSPC;
    clock_gettime(CLOCK_REALTIME, &before);
    event_numbers(USER, 20, 21); // the first that LOOP overwrites
    clock_gettime(CLOCK_REALTIME, &after);
    event_numbers(USER, 21, 40);
    assert_int_equal(posix_trace_flush(trid), ENOSPC);
    for (uint32_t i = 40; i < 1000; i += 240) {
        event_numbers(USER, i, i + 240);
        assert_int_equal(posix_trace_flush(trid), ENOSPC);
    }
    struct posix_trace_status_info status = status_of(trid);
    assert_int_equal(status.posix_stream_full_status, POSIX_TRACE_FULL);
    assert_int_equal(status.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
    reason = 0;
    flush(trid);
    shut_down(trid);
    trid = open_log(fd);
    expect_logged(trid, POSIX_TRACE_START);
    struct got got = expect_logged(trid, USER);
    for (; got.info.posix_event_id == USER; got = next_of_stream(trid))
        assert_int_equal(number_in(&got), number++);
    if (stream_policy == POSIX_TRACE_LOOP) {
        assert_int_equal(number, 20);
        assert_int_equal(got.info.posix_event_id, POSIX_TRACE_OVERFLOW);
        assert_in_range(nanoseconds(&got.info.posix_timestamp), nanoseconds(&before),
                        nanoseconds(&after));
    } else {
        assert_true(number >= 4000 / 48 + 20);
        assert_int_equal(got.info.posix_event_id, POSIX_TRACE_STOP);
        assert_int_not_equal(number_in(&got), 0);
    }
    close_both(trid, fd);
}

static void test_h48_failed_flush_keeps(void **state)
{
    (void)state;
    each_policy(check_kept, true);
}

// A log reports a failed flush once, at its place in time. A filter can leave it out.
static void check_error(bool filtered)
{
    trace_attr_t attr = log_attributes(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, 100000, 0);
    trace_event_set_t set;
    int fd = new_file();
    trace_id_t trid = create_log(fd, &attr);
    posix_trace_eventset_empty(&set);
    if (filtered)
        posix_trace_eventset_add(POSIX_TRACE_ERROR, &set);
    assert_int_equal(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
    assert_int_equal(posix_trace_start(trid), 0);
    event_numbers(USER, 0, 10);
    reason = ENOSPC;
    assert_int_equal(posix_trace_flush(trid), ENOSPC);
    event_numbers(USER, 10, 20);
    reason = EIO;
    assert_int_equal(posix_trace_flush(trid), EIO);
    reason = 0;
    flush(trid);
    flush(trid);
    shut_down(trid);
    trid = open_log(fd);
    expect_logged(trid, POSIX_TRACE_START);
    for (uint32_t i = 0; i < 20; i++) {
        struct got error = {0};
        if (i == 10 && !filtered)
            error = expect_logged(trid, POSIX_TRACE_ERROR);
        struct got got = expect_logged(trid, USER);
        assert_int_equal(number_in(&got), i);
        if (error.length) {
            assert_int_equal(number_in(&error), ENOSPC);
            assert_true(nanoseconds(&error.info.posix_timestamp) <=
                        nanoseconds(&got.info.posix_timestamp));
        }
    }
    expect_logged(trid, POSIX_TRACE_STOP);
    expect_end(trid);
    close_both(trid, fd);
}

static void test_h40_error(void **state)
{
    (void)state;
    check_error(false);
    check_error(true);
}

static void check_full_disk_at_the_end(int stream_policy, int log_policy)
{
    uint32_t first = 1;
    trace_event_id_t last = 0;
    trace_id_t trid, other;
    int fd = new_file(), more = new_file();
    trid = create_started(fd, stream_policy, log_policy, 1 << 20);
    event_numbers(USER, 0, 500);
    flush(trid);
    reason = ENOSPC;
    event_numbers(USER, 500, 700);
    assert_int_equal(posix_trace_create_withlog(0, NULL, more, &other), ENOSPC);
    assert_int_equal(posix_trace_shutdown(trid), ENOSPC);
    reason = 0;
    assert_int_equal(posix_trace_flush(trid), EINVAL);
    trid = open_log(fd);
    assert_int_equal(count_numbers(trid, &first, &last), 500);
    close(more);
    close_both(trid, fd);
}

static void test_h19_full_disk_at_the_end(void **state)
{
    (void)state;
    each_policy(check_full_disk_at_the_end, true);
}

static void set_limit(const struct rlimit *limit)
{
    assert_int_equal(setrlimit(RLIMIT_FSIZE, limit), 0);
}

static void check_file_limit(bool later)
{
    struct rlimit before, small;
    uint32_t first = 1;
    trace_event_id_t last = 0;
    int fd = new_file();
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 50000;
    set_limit(later ? &before : &small);
    trace_id_t trid = create_started(fd, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, 0);
    set_limit(&small);
    event_numbers(USER, 0, 2000);
    int error = posix_trace_flush(trid);
    assert_int_equal(posix_trace_shutdown(trid), EFBIG);
    set_limit(&before);
    assert_int_equal(error, EFBIG);
    trid = open_log(fd);
    assert_true(count_numbers(trid, &first, &last) > 100);
    assert_int_equal(first, 0);
    close_both(trid, fd);
}

// The limit of the size of files may be set at any time: no signal comes, and what fits is in the
// log.
static void test_h20_file_limit(void **state)
{
    (void)state;
    check_file_limit(false);
    check_file_limit(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_h9_no_limit),    cmocka_unit_test(test_h15_by_itself),
        cmocka_unit_test(test_h18_full_disk),  cmocka_unit_test(test_h19_full_disk_at_the_end),
        cmocka_unit_test(test_h20_file_limit), cmocka_unit_test(test_h24_flushing),
        cmocka_unit_test(test_h40_error),      cmocka_unit_test(test_h48_failed_flush_keeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
