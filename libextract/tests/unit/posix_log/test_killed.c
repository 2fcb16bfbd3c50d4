// SPDX-License-Identifier: MIT
// A controller that is killed (SIGKILL) at any moment: what a flush had put into the log by then is
// there, in order, and none of it twice. KILLS=N kills N times under each pair of policies.
#include "tests/unit/posix_log/logging.h"
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

enum {
    USER = 32,
    KILLS = 12,
    STREAM = 20000,
    LOG = 60000,
    STEPS = 60,
    SPINS = 60000,
    WAIT = 60,
    RECORD_MOST = 56
};

// What the controller tells of itself while it lives.
struct shared {
    volatile uint32_t flushed; // numbers below it were, by calls that have returned
    volatile uint32_t flushes;
};

static struct shared *shared;
static uint32_t state_of_random = 0x2545F491;

static uint32_t random_word(void)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 17;
    return state_of_random ^= state_of_random << 5;
}

// The child: traces itself until it is killed.
static _Noreturn void control(int fd, int stream_policy, int log_policy, uint32_t step)
{
    trace_attr_t attr = log_attributes(stream_policy, log_policy, STREAM, LOG);
    trace_id_t trid;
    if (posix_trace_create_withlog(0, &attr, fd, &trid) || posix_trace_start(trid))
        _exit(1);
    for (uint32_t number = 0;; number += step) {
        event_numbers(USER, number, number + step);
        if (posix_trace_flush(trid))
            _exit(1);
        shared->flushed = number + step;
        shared->flushes++;
    }
}

static void run_and_kill(int fd, int stream_policy, int log_policy)
{
    uint32_t until = random_word() % 60, step = 1 + random_word() % STEPS;
    time_t end = time(NULL) + WAIT;
    int status;
    shared->flushed = shared->flushes = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child)
        control(fd, stream_policy, log_policy, step);
    while (shared->flushes <= until && time(NULL) < end)
        sched_yield();
    for (volatile uint32_t i = random_word() % SPINS; i; i--)
        ;
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

struct result {
    uint32_t first, count;
    bool stopped; // the system's STOP was the last event
};

// The numbers in the log: each one more than that before.
static struct result read_log(int fd)
{
    struct result result = {0};
    trace_id_t trid = open_log(fd);
    for (struct got got = next(trid); !got.unavailable; got = next(trid)) {
        if (got.info.posix_event_id != USER) {
            result.stopped = got.info.posix_event_id == POSIX_TRACE_STOP;
            continue;
        }
        if (!result.count)
            result.first = number_in(&got);
        assert_int_equal(number_in(&got), result.first + result.count);
        result.count++;
        result.stopped = false;
    }
    assert_int_equal(posix_trace_close(trid), 0);
    return result;
}

static unsigned kills(void)
{
    const char *text = getenv("KILLS");
    return text ? (unsigned)strtoul(text, NULL, 10) : KILLS;
}

// STREAM has room for a step, so that the policy of the stream loses nothing.
static void check(int stream_policy, int log_policy)
{
    for (unsigned i = 0; i < kills(); i++) {
        int fd = new_file();
        run_and_kill(fd, stream_policy, log_policy);
        struct result result = read_log(fd);
        if (log_policy != POSIX_TRACE_LOOP)
            assert_int_equal(result.first, 0);
        if (log_policy == POSIX_TRACE_UNTIL_FULL && result.stopped)
            assert_true(result.count * 3 * RECORD_MOST >= LOG * 9 / 10); // two tell of a flush
        else
            assert_true(result.first + result.count >= shared->flushed);
        close(fd);
    }
}

static void check_stream(int stream_policy)
{
    check(stream_policy, POSIX_TRACE_LOOP);
    check(stream_policy, POSIX_TRACE_UNTIL_FULL);
    check(stream_policy, POSIX_TRACE_APPEND);
}

static void test_killed_loop(void **state)
{
    (void)state;
    check_stream(POSIX_TRACE_LOOP);
}

static void test_killed_until_full(void **state)
{
    (void)state;
    check_stream(POSIX_TRACE_UNTIL_FULL);
}

static void test_killed_flush(void **state)
{
    (void)state;
    check_stream(POSIX_TRACE_FLUSH);
}

// A controller that exits shuts its streams down.
static void test_exit(void **state)
{
    int fd = new_file(), status;
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        trace_attr_t attr = log_attributes(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP, STREAM, LOG);
        trace_id_t trid = create_log(fd, &attr);
        posix_trace_start(trid);
        event_numbers(USER, 0, 100);
        exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    struct result result = read_log(fd);
    assert_int_equal(result.count, 100);
    assert_true(result.stopped);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_loop), cmocka_unit_test(test_killed_until_full),
        cmocka_unit_test(test_killed_flush), cmocka_unit_test(test_exit)};
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
