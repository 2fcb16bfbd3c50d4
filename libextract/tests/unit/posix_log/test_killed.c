// SPDX-License-Identifier: MIT
// A controller is killed (SIGKILL) at any moment: what a flush had put into the log by then is
// there, in order, and nothing is there twice. KILLS=N kills N times under each pair of policies.
#include "tests/unit/posix_log/logging.h"
#include <poll.h>
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
    MAX_RECORD = 56
};

// What the controller reports about itself while it lives.
struct shared {
    volatile uint32_t flushed; // numbers below it were, by calls that have returned
    volatile uint32_t flushes;
    volatile uint32_t written; // the number of the last event of the traced process, if another
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
    bool full;    // as the status says
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
    struct posix_trace_status_info status = status_of(trid);
    result.full = status.posix_log_full_status == POSIX_TRACE_FULL;
    if (result.full)
        assert_int_equal(status.posix_log_overrun_status, POSIX_TRACE_OVERRUN);
    assert_int_equal(posix_trace_close(trid), 0);
    return result;
}

static unsigned kills(void)
{
    const char *text = getenv("KILLS");
    return text ? (unsigned)strtoul(text, NULL, 10) : KILLS;
}

// STREAM has space for a step, so that the policy of the stream loses nothing.
static void check(int stream_policy, int log_policy)
{
    for (unsigned i = 0; i < kills(); i++) {
        int fd = new_file();
        run_and_kill(fd, stream_policy, log_policy);
        struct result result = read_log(fd);
        if (log_policy != POSIX_TRACE_LOOP)
            assert_int_equal(result.first, 0);
        if (log_policy == POSIX_TRACE_UNTIL_FULL)
            assert_int_equal(result.full, result.stopped);
        if (log_policy == POSIX_TRACE_UNTIL_FULL && result.stopped)
            assert_true(result.count * 3 * MAX_RECORD >= LOG * 9 / 10); // two tell of a flush
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

static void test_h52_killed_loop(void **state)
{
    (void)state;
    check_stream(POSIX_TRACE_LOOP);
}

static void test_h53_killed_until_full(void **state)
{
    (void)state;
    check_stream(POSIX_TRACE_UNTIL_FULL);
}

static void test_h54_killed_flush(void **state)
{
    (void)state;
    check_stream(POSIX_TRACE_FLUSH);
}

// ---- a controller of another process ----

// The traced process: events with rising numbers until its pipe is closed.
static _Noreturn void be_traced(int go)
{
    struct pollfd end = {.fd = go, .events = POLLIN};
    for (uint32_t number = 1; poll(&end, 1, 0) <= 0; number++) {
        posix_trace_event(USER, &number, sizeof number);
        shared->written = number;
    }
    _exit(0);
}

// The controller. Of the events after the start, those that were recorded before a flush are
// flushed. The events of flushing are filtered out: they would fill the log while the traced
// process waits for its turn.
static _Noreturn void control_other(pid_t traced, int fd, int stream_policy, int log_policy)
{
    trace_attr_t attr = log_attributes(stream_policy, log_policy, STREAM, LOG);
    trace_event_set_t set;
    trace_id_t trid;
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(POSIX_TRACE_FLUSH_START, &set);
    posix_trace_eventset_add(POSIX_TRACE_FLUSH_STOP, &set);
    if (posix_trace_create_withlog(traced, &attr, fd, &trid) ||
        posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET) || posix_trace_start(trid))
        _exit(1);
    for (uint32_t start = shared->written;;) {
        uint32_t number = shared->written;
        if (posix_trace_flush(trid))
            _exit(1);
        if (number - start < 3) // it may have been about to record that, and not started yet
            continue;
        shared->flushed = number;
        shared->flushes++;
    }
}

// Reads the log of a process that nobody waits for. Numbers rise, and a gap is only where the log
// reports one. Returns the last number; 0: there is none.
static uint32_t read_rising(int fd)
{
    uint32_t before = 0;
    bool told = true;
    trace_id_t trid = open_log(fd);
    for (struct got got = next(trid); !got.unavailable; got = next(trid)) {
        // A stream that loops reports what it lost; a stream that was full reports its stop.
        if (got.info.posix_event_id != USER) {
            told |= got.info.posix_event_id == POSIX_TRACE_OVERFLOW ||
                    got.info.posix_event_id == POSIX_TRACE_STOP;
            continue;
        }
        uint32_t number = number_in(&got);
        assert_true(told ? number > before : number == before + 1);
        before = number;
        told = false;
    }
    assert_int_equal(posix_trace_close(trid), 0);
    return before;
}

static void kill_other(pid_t traced, int stream_policy, int log_policy)
{
    uint32_t until = random_word() % 20;
    time_t end = time(NULL) + WAIT;
    int fd = new_file(), status;
    shared->flushed = shared->flushes = 0;
    pid_t controller = fork();
    assert_true(controller >= 0);
    if (!controller)
        control_other(traced, fd, stream_policy, log_policy);
    while (shared->flushes <= until && time(NULL) < end)
        sched_yield();
    for (volatile uint32_t i = random_word() % SPINS; i; i--)
        ;
    kill(controller, SIGKILL);
    assert_int_equal(waitpid(controller, &status, 0), controller);
    assert_true(WIFSIGNALED(status));
    uint32_t last = read_rising(fd);
    assert_true(last || !shared->flushed);
    if (stream_policy == POSIX_TRACE_LOOP && log_policy != POSIX_TRACE_UNTIL_FULL)
        assert_true(last >= shared->flushed); // which keeps the newest
    close(fd);
}

// The traced process continues, whichever of its controllers is killed, and the next controller
// gets a stream.
static void test_h50_other_controller_killed(void **state)
{
    static const int streams[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH};
    static const int logs[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND};
    int go[2], status;
    (void)state;
    assert_int_equal(pipe(go), 0);
    pid_t traced = fork();
    assert_true(traced >= 0);
    if (!traced) {
        close(go[1]);
        be_traced(go[0]);
    }
    for (unsigned i = 0; i < 9 * kills(); i++)
        kill_other(traced, streams[i % 3], logs[i / 3 % 3]);
    uint32_t written = shared->written;
    for (time_t end = time(NULL) + WAIT; shared->written == written && time(NULL) < end;)
        sched_yield();
    assert_int_not_equal(shared->written, written);
    close(go[0]);
    close(go[1]);
    assert_int_equal(waitpid(traced, &status, 0), traced);
    assert_int_equal(status, 0);
}

// A controller that exits shuts its streams down.
static void test_h51_exit(void **state)
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
        cmocka_unit_test(test_h52_killed_loop),  cmocka_unit_test(test_h53_killed_until_full),
        cmocka_unit_test(test_h54_killed_flush), cmocka_unit_test(test_h50_other_controller_killed),
        cmocka_unit_test(test_h51_exit),
    };
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
