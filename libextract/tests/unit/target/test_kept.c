// SPDX-License-Identifier: MIT
// unit: what a trace point does when it cannot record at once. If the lock's holder does not
// continue, the trace point returns, and its events are counted as lost. If a handler has
// interrupted its own thread in the critical section, its events are recorded later, whatever their
// size. If a stream is full and is then stopped, it stays full.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
// clang-format off
#include <cmocka.h>
#include "tests/unit/target/host_stream.h"
// clang-format on

enum { LOCK = 80, ACTIVE = 20, TYPE = 42, EVENTS = 1000 };

static void write_events(uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        posix_trace_event(TYPE, &k, sizeof k);
}

// ---- somebody else holds the lock ----

static void check_kept(struct traced *t, uint32_t holder, const char *name)
{
    uint32_t recorded = ring_of(t->stream, RING_RECORDED),
             refused = ring_of(t->stream, RING_REFUSED);
    trace_event_id_t id;
    ring_set(t->bytes, LOCK, holder);
    write_events(EVENTS);
    assert_int_equal(posix_trace_eventid_open(name, &id), 0);
    assert_int_equal(id, POSIX_TRACE_UNNAMED_USEREVENT);
    assert_int_equal(ring_get(t->bytes, LOCK), holder);
    assert_int_equal(ring_of(t->stream, RING_RECORDED), recorded);
    assert_int_equal(ring_of(t->stream, RING_REFUSED), refused);
    ring_set(t->bytes, LOCK, 0);
    write_events(1);
    assert_int_equal(ring_of(t->stream, RING_RECORDED), recorded + 1);
    assert_int_equal(ring_of(t->stream, RING_REFUSED), refused + EVENTS);
    assert_int_equal(ring_get(t->bytes, ACTIVE), 1u << t->number);
    assert_int_equal(posix_trace_eventid_open(name, &id), 0);
    assert_int_not_equal(id, POSIX_TRACE_UNNAMED_USEREVENT);
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

// Starts a child that poses as the lock's holder. Children take the lock as they begin; this one
// has already released it when the function returns.
static pid_t begin_holder(void)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (!child) {
        alarm(60);
        if (write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    await_byte(ready[0]);
    close(ready[0]);
    close(ready[1]);
    return child;
}

// The holder first waits in pause(), and is then stopped by SIGSTOP.
static void test_lock_is_kept(void **state)
{
    int status;
    (void)state;
    write_events(1);
    struct traced t = bind_stream(0, POSIX_TRACE_LOOP, 256, false);
    pid_t holder = begin_holder();
    check_kept(&t, (uint32_t)holder, "first");
    assert_int_equal(ring_of(t.stream, RING_EPISODES), 1);
    ring_set(t.stream.block, RING_READ, ring_of(t.stream, RING_HEAD));
    kill(holder, SIGSTOP);
    assert_int_equal(waitpid(holder, &status, WUNTRACED), holder);
    uint64_t before = now();
    check_kept(&t, (uint32_t)holder, "second");
    uint64_t lost =
        ring_of(t.stream, RING_LOST_STAMP) | (uint64_t)ring_of(t.stream, RING_LOST_STAMP + 4) << 32;
    assert_int_equal(ring_of(t.stream, RING_EPISODES), 2);
    assert_true(before <= lost && lost <= now()); // that of the first loss, not of the count
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    let_go(&t);
}

// ---- a thread that was cancelled ----

// Cancels its own thread, then calls the recorder. Sets `*passed` if no call was a cancellation
// point.
static void *pass_cancelled(void *passed)
{
    trace_event_id_t id;
    pthread_cancel(pthread_self());
    posix_trace_eventid_open("cancelled", &id);
    write_events(1);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    *(bool *)passed = true;
    return NULL;
}

static void check_cancelled(void)
{
    pthread_t thread;
    bool passed = false;
    assert_int_equal(pthread_create(&thread, NULL, pass_cancelled, &passed), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(passed);
}

// The recorder has no cancellation points. The first check searches for the process' object; the
// second one waits for the lock.
static void test_cancelled(void **state)
{
    (void)state;
    check_cancelled();
    struct traced t = bind_stream(0, POSIX_TRACE_LOOP, 256, false);
    pid_t holder = begin_holder();
    ring_set(t.bytes, LOCK, (uint32_t)holder);
    check_cancelled();
    ring_set(t.bytes, LOCK, 0);
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    let_go(&t);
}

// A process without a free file descriptor cannot inspect the lock's holder, so it leaves the lock
// alone.
static void test_no_descriptor(void **state)
{
    struct rlimit limit, none;
    (void)state;
    write_events(1);
    struct traced t = bind_stream(0, POSIX_TRACE_LOOP, 256, false);
    pid_t holder = begin_holder();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    check_kept(&t, (uint32_t)holder, "third");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    let_go(&t);
}

// An event that the filter excludes is not lost while another process holds the lock.
static void test_filtered_is_not_lost(void **state)
{
    (void)state;
    struct traced t = bind_stream(0, POSIX_TRACE_LOOP, 256, false);
    pid_t holder = begin_holder();
    ring_set(t.stream.block, RING_FILTER + TYPE / 32 * 4, 1u << TYPE % 32);
    ring_set(t.bytes, LOCK, (uint32_t)holder);
    write_events(1);
    ring_set(t.bytes, LOCK, 0);
    ringside_trace_object_attend(t.object);
    assert_int_equal(ring_of(t.stream, RING_REFUSED), 0);
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    let_go(&t);
}

// Records `before` events, loses one because another process holds the lock, and records `behind`
// more.
static struct traced miss_one(int policy, uint32_t before, bool read, uint32_t behind)
{
    struct traced t = bind_stream(0, policy, 1024, false);
    pid_t holder = begin_holder();
    write_events(before);
    if (read)
        ring_set(t.stream.block, RING_READ, ring_of(t.stream, RING_HEAD));
    ring_set(t.bytes, LOCK, (uint32_t)holder);
    write_events(1);
    ring_set(t.bytes, LOCK, 0);
    write_events(behind);
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    return t;
}

// A lost event does not make an until-full stream overwrite records.
static void test_full_behind_a_miss(void **state)
{
    (void)state;
    struct traced t = miss_one(POSIX_TRACE_UNTIL_FULL, 50, false, 300);
    assert_int_equal(ring_of(t.stream, RING_STATE), 5);
    assert_int_equal(ring_of(t.stream, RING_OVERWRITTEN), 0);
    assert_int_equal(ring_of(t.stream, RING_RECORDED) + ring_of(t.stream, RING_REFUSED),
                     50 + 1 + 300 + 2); // START, STOP
    let_go(&t);
}

// Overwriting records that were read is not a loss. The first 50 events take 550 words, the other
// 60 take 660.
static void test_read_before_a_miss(void **state)
{
    (void)state;
    struct traced t = miss_one(POSIX_TRACE_LOOP, 50, true, 60);
    assert_int_equal(ring_of(t.stream, RING_OVERWRITTEN), 0);
    assert_int_equal(ring_of(t.stream, RING_REFUSED), 1);
    assert_int_equal(ring_of(t.stream, RING_RECORDED), 50 + 60 + 1); // START
    let_go(&t);
}

// ---- events that wait in the queue ----

enum { PLACES = 64, LONGEST = 16340 };
static uint8_t data[LONGEST + 1000];

static size_t size_of(unsigned k)
{
    return k == 5 ? LONGEST + 1000 : LONGEST - 251 * k;
}

static void check_places(struct traced *t)
{
    struct ring_record r;
    uint32_t at = ring_of(t->stream, RING_TAIL), head = ring_of(t->stream, RING_HEAD), words = 0;
    for (unsigned k = 0; at != head; at += words, k++) {
        assert_true(ring_record(t->stream, at, &r) && !r.open);
        words = r.words;
        if (k < 1 || k > PLACES) // START, and events after the queued ones
            continue;
        size_t size = size_of(k - 1);
        assert_int_equal(r.bytes, size < LONGEST ? size : LONGEST);
        assert_int_equal(r.cut, size > LONGEST);
        assert_memory_equal(r.data, data + k - 1, sizeof r.data);
        uint32_t last = r.bytes / 4 * 4 - 4, word;
        memcpy(&word, data + k - 1 + last, 4);
        assert_int_equal(ring_word(t->stream, at + r.words - 1 - (r.bytes + 3) / 4 + last / 4),
                         word);
    }
}

// The thread itself has the lock, as when a signal handler interrupts the critical section.
static void test_places(void **state)
{
    const uint32_t self = (uint32_t)syscall(SYS_gettid);
    (void)state;
    for (unsigned k = 0; k < sizeof data; k++)
        data[k] = (uint8_t)(k * 31 + k / 256);
    write_events(1);
    struct traced t = bind_sized(
        0, (struct ringside_trace_bind){POSIX_TRACE_UNTIL_FULL, 1 << 20, LONGEST, false, "places"});
    assert_int_equal(ring_of(t.stream, RING_MAX_DATA), LONGEST);
    for (unsigned round = 1; round < 4; round++) {
        ring_set(t.bytes, LOCK, self);
        for (unsigned k = 0; k < PLACES; k++)
            posix_trace_event(TYPE, data + k, size_of(k));
        write_events(round); // no slot of the queue is left for these
        ring_set(t.bytes, LOCK, 0);
        assert_int_equal(ring_of(t.stream, RING_RECORDED), 1 + (round - 1) * (PLACES + 1));
        write_events(1);
        assert_int_equal(ring_of(t.stream, RING_RECORDED), 1 + round * (PLACES + 1));
        ringside_trace_object_attend(t.object);
        assert_int_equal(ring_of(t.stream, RING_REFUSED), round * (round + 1) / 2);
        if (round == 1)
            check_places(&t);
        ring_set(t.stream.block, RING_READ, ring_of(t.stream, RING_HEAD));
    }
    let_go(&t);
}

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
    (void)number;
    for (unsigned k = 0; k < 8; k++)
        posix_trace_event(TYPE + 1, data, 200);
    handled = handled + 1;
}

// A timer's handler records more events, with more data each, than the trace point that it
// interrupts.
static void test_timer(void **state)
{
    const struct sigaction action = {.sa_handler = on_signal};
    const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    uint32_t made = 0;
    (void)state;
    struct traced t =
        bind_sized(0, (struct ringside_trace_bind){POSIX_TRACE_LOOP, 1 << 20, 256, false, "timer"});
    handled = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (; handled < 1000; made++)
        write_events(1);
    setitimer(ITIMER_REAL, &never, NULL);
    assert_int_equal(ring_of(t.stream, RING_REFUSED), 0);
    assert_int_equal(ring_of(t.stream, RING_RECORDED), 1 + made + 8 * (uint32_t)handled);
    let_go(&t);
}

// ---- a full stream that is stopped ----

static struct traced full_and_stopped(void)
{
    struct traced t = bind_stream(0, POSIX_TRACE_UNTIL_FULL, 64, false);
    write_events(20);
    assert_int_equal(ring_of(t.stream, RING_STATE), 5);
    request(&t, 1);
    assert_int_equal(ring_of(t.stream, RING_STATE), 5);
    return t;
}

static void test_full_and_stopped(void **state)
{
    (void)state;
    struct traced t = full_and_stopped();
    uint32_t recorded = ring_of(t.stream, RING_RECORDED), refused = ring_of(t.stream, RING_REFUSED);
    ring_set(t.stream.block, RING_READ, ring_of(t.stream, RING_HEAD));
    write_events(20);
    assert_int_equal(ring_of(t.stream, RING_STATE), 1);
    assert_int_equal(ring_of(t.stream, RING_RECORDED), recorded);
    assert_int_equal(ring_of(t.stream, RING_REFUSED), refused);
    request(&t, 3);
    write_events(1);
    assert_int_equal(ring_of(t.stream, RING_STATE), 3);
    assert_int_equal(ring_of(t.stream, RING_RECORDED), recorded + 2); // START, and the event
    let_go(&t);
}

static void test_cleared_and_stopped(void **state)
{
    (void)state;
    struct traced t = full_and_stopped();
    ring_set(t.stream.block, RING_WANTED_CLEARS, 1);
    request(&t, 1);
    write_events(20);
    assert_int_equal(ring_of(t.stream, RING_STATE), 1);
    assert_int_equal(ring_of(t.stream, RING_RECORDED), 0);
    let_go(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cancelled), // first, as it needs the process' first trace point
        cmocka_unit_test(test_lock_is_kept),
        cmocka_unit_test(test_no_descriptor),
        cmocka_unit_test(test_filtered_is_not_lost),
        cmocka_unit_test(test_full_behind_a_miss),
        cmocka_unit_test(test_read_before_a_miss),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_timer),
        cmocka_unit_test(test_full_and_stopped),
        cmocka_unit_test(test_cleared_and_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
