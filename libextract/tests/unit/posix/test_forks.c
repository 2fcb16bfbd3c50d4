// SPDX-License-Identifier: MIT
// Controllers that fork: what is theirs stays theirs, whatever their children do. Truth: the
// numbers that the trace points were given.
#define _GNU_SOURCE // _Fork
#include "tests/unit/posix_log/logging.h"
#include <sanitizer/lsan_interface.h>
#include <sys/wait.h>

enum { USER = 32, FORKS = 20, EACH = 50 };

static pid_t parent;

// With AddressSanitizer, children run no leak check: it would wait forever for a lock of the
// sanitizer's allocator that another thread of the parent held during the fork. It would also call
// it a leak that a child does not free a target that such a thread was using.
__attribute__((visibility("default"))) int __lsan_is_turned_off(void)
{
    return parent && getpid() != parent;
}

static void join(pid_t child)
{
    int status;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void leave_at_once(void)
{
    _exit(0);
}

static void leave_by_exit(void)
{
    exit(0);
}

#ifndef __SANITIZE_ADDRESS__
// A child that has a stream and a log of its own. It allocates, which may wait for the same lock.
static void record_and_leave(void)
{
    trace_attr_t attr = log_attributes(POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 1000, 1);
    trace_id_t trid = create_log(new_file(), &attr);
    bool good = !posix_trace_start(trid) && !posix_trace_flush(trid) && !posix_trace_shutdown(trid);
    exit(good ? 0 : 1);
}
#endif

static void (*const children[])(void) = {
    leave_at_once,
    leave_by_exit,
#ifndef __SANITIZE_ADDRESS__
    record_and_leave,
#endif
};
enum { CHILDREN = sizeof children / sizeof *children };

static trace_id_t create_started(int fd, int policy)
{
    trace_attr_t attr = log_attributes(policy, POSIX_TRACE_APPEND, 1 << 20, 1);
    trace_id_t trid = create_log(fd, &attr);
    assert_int_equal(posix_trace_start(trid), 0);
    return trid;
}

// All that was recorded is in the log, in order, and nothing of it is lost.
static void check_log(int fd, uint32_t count)
{
    trace_id_t trid = open_log(fd);
    expect_logged(trid, POSIX_TRACE_START);
    for (uint32_t i = 0; i < count; i++) {
        struct got got = expect_logged(trid, USER);
        assert_int_equal(number_in(&got), i);
    }
    expect_logged(trid, POSIX_TRACE_STOP);
    struct got got = next(trid);
    while (!got.unavailable && got.info.posix_event_id == POSIX_TRACE_FLUSH_STOP)
        got = next(trid);
    assert_none(&got);
    struct posix_trace_status_info status = status_of(trid);
    assert_int_equal(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
    assert_int_equal(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    assert_int_equal(posix_trace_close(trid), 0);
    close(fd);
}

// A flush before the child's end, and one while it ends.
static void test_b12_flushed_around(void **state)
{
    int fd = new_file();
    (void)state;
    trace_id_t trid = create_started(fd, POSIX_TRACE_LOOP);
    for (uint32_t i = 0; i < FORKS; i++) {
        event_numbers(USER, EACH * i, EACH * (i + 1));
        assert_int_equal(posix_trace_flush(trid), 0);
        pid_t child = fork();
        if (!child)
            children[i % CHILDREN]();
        assert_int_equal(posix_trace_flush(trid), 0);
        join(child);
    }
    assert_int_equal(posix_trace_shutdown(trid), 0);
    check_log(fd, FORKS * EACH);
}

// The thread that flushes may be anywhere.
static void test_b12_flushed_meanwhile(void **state)
{
    int fd = new_file();
    (void)state;
    trace_id_t trid = create_started(fd, POSIX_TRACE_FLUSH);
    for (uint32_t i = 0; i < 5 * FORKS; i++) {
        event_numbers(USER, EACH * i, EACH * (i + 1));
        pid_t child = fork();
        if (!child)
            children[i % CHILDREN]();
        join(child);
    }
    assert_int_equal(posix_trace_shutdown(trid), 0);
    check_log(fd, 5 * FORKS * EACH);
}

// A log that is being written belongs to one process, even after a child that inherited it has
// exited.
static void test_b12_log_stays_held(void **state)
{
    int fd = new_file();
    trace_id_t trid, other;
    (void)state;
    trid = create_started(fd, POSIX_TRACE_LOOP);
    for (unsigned i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (!child)
            children[i]();
        join(child);
        assert_int_equal(posix_trace_create_withlog(0, NULL, fd, &other), EINVAL);
    }
    event_numbers(USER, 0, 1);
    assert_int_equal(posix_trace_shutdown(trid), 0);
    check_log(fd, 1);
}

// The end of a child whose handlers of fork did not run.
static void test_b12_without_handlers(void **state)
{
    int fd = new_file();
    (void)state;
    trace_id_t trid = create_started(fd, POSIX_TRACE_LOOP);
    pid_t child = _Fork();
    if (!child)
        exit(0);
    join(child);
    event_numbers(USER, 0, 3);
    assert_int_equal(posix_trace_shutdown(trid), 0);
    check_log(fd, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_b12_flushed_around),
        cmocka_unit_test(test_b12_flushed_meanwhile),
        cmocka_unit_test(test_b12_log_stays_held),
        cmocka_unit_test(test_b12_without_handlers),
    };
    parent = getpid();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
