// SPDX-License-Identifier: MIT
// unit: the recorder in programs on Linux: threads, signals, children, and the death of each party.
// The tests read nothing but the bytes of the shared memory.
//
// Truth: the writers' own counts of their events.
#define _GNU_SOURCE // pipe2
#include "target/ports/linux.h"
#include "target/linux_object.h"
#include "trace.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
#include "tests/unit/target/host_stream.h"
// clang-format on

enum { STREAMS = 8, THREADS = 8, EACH = 20000, FLAG_CHILD_EXEC = 77 };

static void test_one_event(void **state)
{
    struct ring_record r[4];
    trace_event_id_t id, same;
    char name[65] = "";
    (void)state;
    struct traced t = bind_stream(0, POSIX_TRACE_LOOP, 256, false);
    assert_int_equal(posix_trace_eventid_open("one", &id), 0);
    assert_int_equal(ringside_trace_object_name(t.object, "one", &same), 0);
    assert_int_equal(same, id);
    memset(name, 'x', 64);
    assert_int_equal(posix_trace_eventid_open(name, &same), ENAMETOOLONG);
    assert_int_equal(ringside_trace_object_name(t.object, name, &same), ENAMETOOLONG);
    name[63] = 0;
    assert_int_equal(posix_trace_eventid_open(name, &same), 0);
    posix_trace_event(id, "12345678", 8);
    assert_int_equal(ring_records(t.stream, r, 4), 2);
    assert_int_equal(r[0].id, POSIX_TRACE_START);
    assert_int_equal(r[1].id, id);
    assert_int_equal(r[1].pid, getpid());
    assert_int_equal(r[1].thread, (uintptr_t)pthread_self());
    assert_memory_equal(r[1].data, "12345678", 8);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    assert_true(r[1].stamp <= ns && r[0].stamp <= r[1].stamp);
    assert_string_equal((char *)t.stream.block + 128, "a name that is ");
    let_go(&t);
}

static void test_object(void **state)
{
    char path[64];
    struct stat status;
    struct ringside_trace_object *o;
    (void)state;
    assert_int_equal(ringside_trace_object_open(0, true, &o), 0);
    snprintf(path, sizeof path, "/dev/shm/ringside-posix.%d", (int)getpid());
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    ringside_trace_object_close(o);
    pid_t gone = fork();
    if (!gone)
        _exit(0);
    wait_for(gone, 0);
    assert_int_equal(ringside_trace_object_open(gone, true, &o), ESRCH);
    assert_int_equal(ringside_trace_object_open(-1, true, &o), EINVAL);
    snprintf(path, sizeof path, "/dev/shm/ringside-posix.%d", (int)gone);
    assert_int_equal(access(path, F_OK), -1); // the sweep removed the child's name
}

static void test_another_user(void **state)
{
    struct ringside_trace_object *o;
    (void)state;
    if (geteuid() != 0)
        skip();
    pid_t child = fork();
    if (!child) {
        if (setuid(65534))
            _exit(1);
        int mine = ringside_trace_object_open(getppid(), true, &o);
        _exit(mine == EPERM ? 0 : 2);
    }
    wait_for(child, 0);
}

static void test_all_streams(void **state)
{
    struct traced t[STREAMS];
    struct ringside_trace_bind bind = {POSIX_TRACE_LOOP, 64, 8, false, NULL};
    unsigned number;
    (void)state;
    for (unsigned k = 0; k < STREAMS; k++)
        t[k] = bind_stream(0, POSIX_TRACE_LOOP, 64u << k, false);
    assert_int_equal(ringside_trace_object_bind(t[0].object, &bind, &number), EAGAIN);
    for (int k = 0; k < 1000; k++)
        posix_trace_event(40, &k, sizeof k);
    for (unsigned k = 0; k < STREAMS; k++)
        assert_int_equal(ring_of(t[k].stream, RING_RECORDED), 1001);
    bind.ring_words = 100;
    assert_int_equal(ringside_trace_object_bind(t[0].object, &bind, &number), EINVAL);
    bind.ring_words = 1u << 31;
    assert_int_equal(ringside_trace_object_bind(t[0].object, &bind, &number), ENOMEM);
    for (unsigned k = 0; k < STREAMS; k++)
        let_go(&t[k]);
}

// ---- threads and signals ----

static void *write_many(void *argument)
{
    uint32_t data[2] = {(uint32_t)(uintptr_t)argument, 0};
    for (; data[1] < EACH; data[1]++)
        posix_trace_event(40, data, sizeof data);
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    for (uintptr_t k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, write_many, (void *)k), 0);
    for (unsigned k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
}

// The ring can contain everything. All events are there in order, and so are their timestamps.
static void test_threads_lose_nothing(void **state)
{
    struct ring_record r;
    uint32_t next[THREADS] = {0};
    uint64_t stamp = 0;
    (void)state;
    struct traced t = bind_stream(0, POSIX_TRACE_UNTIL_FULL, 1 << 21, false);
    run_threads();
    uint32_t at = ring_of(t.stream, RING_TAIL), head = ring_of(t.stream, RING_HEAD);
    assert_int_equal(ring_of(t.stream, RING_RECORDED), 1 + THREADS * EACH);
    assert_int_equal(ring_of(t.stream, RING_REFUSED), 0);
    for (; at != head; at += r.words) {
        assert_true(ring_record(t.stream, at, &r) && !r.open);
        if (r.id == 40) {
            uint32_t who = ring_get(r.data, 0);
            assert_true(who < THREADS);
            assert_int_equal(ring_get(r.data, 4), next[who]++);
        }
        assert_true(r.stamp >= stamp || r.id != 40);
        stamp = r.stamp;
    }
    for (unsigned k = 0; k < THREADS; k++)
        assert_int_equal(next[k], EACH);
    let_go(&t);
}

// The rings are small. Each event that they do not contain was counted.
static void test_threads_in_small_rings(void **state)
{
    (void)state;
    struct traced loop = bind_stream(0, POSIX_TRACE_LOOP, 64, false);
    struct traced full = bind_stream(0, POSIX_TRACE_UNTIL_FULL, 1024, false);
    run_threads();
    ringside_trace_object_attend(loop.object); // counts the last refused events
    uint32_t produced = 1 + THREADS * EACH;
    assert_int_equal(ring_of(loop.stream, RING_RECORDED) + ring_of(loop.stream, RING_REFUSED),
                     produced);
    uint32_t there = count_of(&loop, 40, (uint32_t)getpid());
    assert_int_equal(ring_of(loop.stream, RING_RECORDED),
                     there + ring_of(loop.stream, RING_OVERWRITTEN));
    // The streams also record START and STOP.
    assert_int_equal(ring_of(full.stream, RING_RECORDED) + ring_of(full.stream, RING_REFUSED),
                     produced + 1);
    let_go(&loop);
    let_go(&full);
}

enum { ROUNDS = 300, BURST = 8 };
static _Atomic int handled, nested, all_sent;

static void on_signal(int number)
{
    static const uint8_t no_type[200]; // an id that is not an event type is not a loss, either
    uint32_t data[2] = {(uint32_t)number, (uint32_t)handled};
    nested++;
    handled++;
    posix_trace_event(41, data, sizeof data);
    posix_trace_event(UINT32_MAX, no_type, sizeof no_type);
    nested--;
}

// Sends signals while others are handled. The handlers' stack has space for a few of them.
static void *send_signals(void *argument)
{
    pthread_t target = *(pthread_t *)argument;
    for (unsigned round = 0; round < ROUNDS; round++) {
        int before = handled;
        for (unsigned k = 0; k < BURST; k++)
            pthread_kill(target, k & 1 ? SIGUSR1 : SIGUSR2);
        while (handled == before || nested > BURST)
            sched_yield();
    }
    all_sent = 1;
    return NULL;
}

// Handlers that interrupt trace points, and each other, lose no event without counting it.
static void test_signals(void **state)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER};
    pthread_t self = pthread_self(), sender;
    uint32_t data[2] = {0, 0}, produced = 1;
    (void)state;
    handled = nested = all_sent = 0;
    sigaction(SIGUSR1, &action, NULL);
    action.sa_flags = 0;
    sigaction(SIGUSR2, &action, NULL);
    struct traced t = bind_stream(0, POSIX_TRACE_LOOP, 256, false);
    assert_int_equal(pthread_create(&sender, NULL, send_signals, &self), 0);
    for (; !all_sent; data[1]++)
        posix_trace_event(40, data, sizeof data);
    pthread_join(sender, NULL);
    produced += data[1] + (uint32_t)handled;
    ringside_trace_object_attend(t.object); // counts the last refused events
    assert_int_equal(ring_of(t.stream, RING_RECORDED) + ring_of(t.stream, RING_REFUSED), produced);
    uint32_t there = count_of(&t, 40, (uint32_t)getpid()) + count_of(&t, 41, (uint32_t)getpid());
    assert_int_equal(ring_of(t.stream, RING_RECORDED), there + ring_of(t.stream, RING_OVERWRITTEN));
    let_go(&t);
}

// ---- children ----

static void write_some(uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        posix_trace_event(42, &k, sizeof k);
}

static void test_fork(void **state)
{
    (void)state;
    write_some(1); // makes the process find its object
    struct traced shared = bind_stream(0, POSIX_TRACE_LOOP, 4096, true);
    struct traced own = bind_stream(0, POSIX_TRACE_LOOP, 4096, false);
    pid_t child = fork();
    if (!child) {
        trace_event_id_t id;
        write_some(10);
        _exit(posix_trace_eventid_open("of the child", &id) ? 1 : (int)id);
    }
    trace_event_id_t id;
    int status;
    waitpid(child, &status, 0);
    write_some(5);
    assert_int_equal(posix_trace_eventid_open("of the child", &id), 0);
    assert_int_equal(WEXITSTATUS(status), id); // parent and child share one table of names
    assert_int_equal(count_of(&shared, 42, (uint32_t)child), 10);
    assert_int_equal(count_of(&shared, 42, (uint32_t)getpid()), 5);
    assert_int_equal(count_of(&own, 42, (uint32_t)child), 0);
    assert_int_equal(count_of(&own, 42, (uint32_t)getpid()), 5);
    let_go(&shared);
    let_go(&own);
}

// A stream of its own, made after the fork, traces the child.
static void test_stream_of_a_child(void **state)
{
    int go[2];
    (void)state;
    assert_int_equal(pipe(go), 0);
    write_some(1);
    pid_t child = fork();
    if (!child) {
        await_byte(go[0]);
        write_some(10);
        _exit(0);
    }
    struct traced t = bind_stream(child, POSIX_TRACE_LOOP, 4096, false);
    write_some(7);
    assert_int_equal(write(go[1], "x", 1), 1);
    siginfo_t end;
    assert_int_equal(waitid(P_PID, (id_t)child, &end, WEXITED | WNOWAIT), 0);
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/ringside-posix.%d", (int)child);
    assert_int_equal(access(path, F_OK), 0); // _exit does not run at_exit()
    wait_for(child, 0);
    assert_int_equal(count_of(&t, 42, (uint32_t)child), 10);
    assert_int_equal(count_of(&t, 42, (uint32_t)getpid()), 0);
    let_go(&t);
    assert_int_equal(access(path, F_OK), -1);
    close(go[0]);
    close(go[1]);
}

// A child that no stream traces does not call the recorder, even if a stream traces its parent. The
// child finds a stream of its own.
static void test_not_inherited(void **state)
{
    int ready[2], go[2];
    (void)state;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(go), 0);
    struct traced parents = bind_stream(0, POSIX_TRACE_LOOP, 4096, false);
    write_some(1);
    pid_t child = fork();
    if (!child) {
        write_some(1);
        if (*posix_trace_active_word || write(ready[1], "x", 1) != 1)
            _exit(1);
        await_byte(go[0]);
        write_some(10);
        _exit(0);
    }
    close(ready[1]);
    await_byte(ready[0]);
    struct traced t = bind_stream(child, POSIX_TRACE_LOOP, 4096, false);
    assert_int_equal(write(go[1], "x", 1), 1);
    wait_for(child, 0);
    assert_int_equal(count_of(&t, 42, (uint32_t)child), 10);
    assert_int_equal(count_of(&parents, 42, (uint32_t)child), 0);
    let_go(&t);
    let_go(&parents);
    close(ready[0]);
    close(go[0]);
    close(go[1]);
}

// The process remains traced when exec replaces its image.
static void test_exec(void **state)
{
    (void)state;
    write_some(1);
    struct traced t = bind_stream(0, POSIX_TRACE_LOOP, 4096, true);
    pid_t child = fork();
    if (!child) {
        write_some(3);
        execl("/proc/self/exe", "test_linux", "write", (char *)NULL);
        _exit(1);
    }
    wait_for(child, FLAG_CHILD_EXEC);
    assert_int_equal(count_of(&t, 42, (uint32_t)child), 3 + 4);
    let_go(&t);
}

// ---- death ----

// Writers are killed at any moment. The others continue, and the contents of the ring are sound.
static void test_killed_writers(void **state)
{
    (void)state;
    write_some(1);
    struct traced t = bind_stream(0, POSIX_TRACE_LOOP, 256, true);
    for (unsigned round = 0; round < 100; round++) {
        pid_t child = fork();
        if (!child) {
            alarm(60);
            for (;;)
                write_some(1000);
        }
        usleep(200 + round * 37 % 2000);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        uint32_t before = ring_of(t.stream, RING_RECORDED);
        write_some(1000);
        assert_true(ring_of(t.stream, RING_RECORDED) - before > 1000 - 130);
        assert_true(count_of(&t, 42, (uint32_t)getpid()) > 5);
    }
    let_go(&t);
}

// Returns the word of the ring at a position.
static uint8_t *word_at(struct traced *t, uint32_t position)
{
    return t->bytes + ring_of(t->stream, 16) + position % ring_of(t->stream, RING_WORDS) * 4;
}

static pid_t end_child(void)
{
    pid_t gone = fork();
    if (!gone)
        _exit(0);
    wait_for(gone, 0);
    return gone;
}

// The test makes by hand what two dead writers leave: a lock that one held, and an open record.
static void test_left_behind(void **state)
{
    struct ring_record r[8];
    (void)state;
    struct traced t = bind_stream(0, POSIX_TRACE_LOOP, 256, false);
    pid_t gone = end_child();
    write_some(1);
    assert_int_equal(ring_records(t.stream, r, 8), 2);
    uint8_t *first = word_at(&t, r[1].position);
    ring_set(first, 0, ring_get(first, 0) - (1u << 30)); // marks it open
    ring_set(word_at(&t, r[1].position + 6), 0, (uint32_t)gone);
    ring_set(t.bytes, 80, (uint32_t)gone); // the lock
    ringside_trace_object_attend(t.object);
    assert_int_equal(ring_get(t.bytes, 80), 0);
    assert_true(ring_get(first, 0) >> 30 == 2 && ring_get(first, 0) >> 28 & 1);
    assert_int_equal(ring_get(word_at(&t, r[1].position + 1), 0) >> 16, 0);
    write_some(1);
    let_go(&t);
}

// A writer died as it started the stream, or just before it marked the stream as full.
static void test_left_between_states(void **state)
{
    (void)state;
    struct traced t = bind_stream(0, POSIX_TRACE_LOOP, 1024, false);
    struct ringside_stream *s = (struct ringside_stream *)(void *)t.stream.block;
    write_some(1);
    uint32_t recorded = s->recorded;
    s->state = RINGSIDE_BOUND; // not the state that its record reports
    s->turn_state = RINGSIDE_BOUND | RINGSIDE_RUNNING;
    s->turn_head = s->head - 1;
    ring_set(t.bytes, 80, (uint32_t)end_child());
    ringside_trace_object_attend(t.object);
    write_some(1);
    assert_int_equal(s->state, RINGSIDE_BOUND | RINGSIDE_RUNNING);
    assert_int_equal(s->recorded, recorded + 1);
    s->state = RINGSIDE_BOUND; // no record was written: START follows
    ring_set(t.bytes, 80, (uint32_t)end_child());
    ringside_trace_object_attend(t.object);
    write_some(1);
    assert_int_equal(s->state, RINGSIDE_BOUND | RINGSIDE_RUNNING);
    assert_int_equal(s->recorded, recorded + 3);
    s->turn_state = RINGSIDE_BOUND | RINGSIDE_FULL; // no record was written: nothing follows
    s->turn_head = s->head;
    ring_set(t.bytes, 80, (uint32_t)end_child());
    ringside_trace_object_attend(t.object);
    assert_int_equal(s->state, RINGSIDE_BOUND | RINGSIDE_RUNNING);
    assert_int_equal(s->request, s->request_done);
    let_go(&t);
}

// If another process overwrites words of the block, the recorder stores nothing outside of the
// ring.
static void test_damaged_block(void **state)
{
    static const uint8_t data[20000];
    (void)state;
    struct traced t = bind_stream(0, POSIX_TRACE_LOOP, 1 << 14, false);
    struct ringside_stream *s = (struct ringside_stream *)(void *)t.stream.block;
    for (size_t length = 16330; length < 16360; length++) { // around the greatest possible length
        s->data_end = s->max_data = UINT32_MAX;
        s->tail = s->head = 0;
        posix_trace_event(42, data, length);
        s->limit = (uint32_t)length * 1000;
        s->head = s->tail - 5;
        posix_trace_event(42, data, sizeof data);
        write_some(3);
    }
    let_go(&t);
}

// A controller dies. The traced process shuts its stream down.
static void controller_ends(bool execs)
{
    int ready[2], go[2];
    pid_t traced = getpid();
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    assert_int_equal(pipe2(go, O_CLOEXEC), 0);
    write_some(1);
    pid_t controller = fork();
    if (!controller) {
        alarm(60);
        struct traced t = bind_stream(traced, POSIX_TRACE_LOOP, 64, false);
        if (write(ready[1], &t.number, sizeof t.number) != sizeof t.number)
            _exit(1);
        await_byte(go[0]);
        if (execs)
            execl("/bin/sleep", "sleep", "1000", (char *)NULL);
        for (;;)
            pause();
    }
    unsigned number;
    size_t length;
    struct ringside_trace_object *o;
    assert_int_equal(read(ready[0], &number, sizeof number), sizeof number);
    assert_int_equal(ringside_trace_object_open(traced, false, &o), 0);
    struct ring_stream s = ring_stream(map_object(traced, &length), number);
    write_some(50);
    assert_int_equal(ring_of(s, RING_STATE), 3);
    if (!execs)
        kill(controller, SIGKILL);
    assert_int_equal(write(go[1], "x", 1), 1);
    for (unsigned n = 0; n < 600 && ring_of(s, RING_STATE); n++) {
        write_some(100);
        usleep(50000);
    }
    assert_int_equal(ring_of(s, RING_STATE), 0);
    kill(controller, SIGKILL);
    waitpid(controller, NULL, 0);
    ringside_trace_object_close(o);
    close(ready[0]);
    close(ready[1]);
    close(go[0]);
    close(go[1]);
}

static void test_controller_killed(void **state)
{
    (void)state;
    controller_ends(false);
}

static void test_controller_execs(void **state)
{
    (void)state;
    controller_ends(true);
}

// Returns the number of the object's entries for exactly this child: its number, and when it began.
static unsigned entries_of(const uint8_t *bytes, pid_t pid, bool spoil)
{
    unsigned count = 0;
    uint32_t end = ring_get(bytes + ring_get(bytes, 32), 16);
    for (uint32_t at = ring_get(bytes, 32); at + 16 <= end; at += 4)
        if (ring_get(bytes, at) == (uint32_t)pid && ring_get(bytes, at + 4) > 1) {
            count++;
            if (spoil)
                ring_set((uint8_t *)(uintptr_t)bytes, at + 4, 1);
        }
    return count;
}

// The entry of an older process with the same number is not used for this one.
static void test_stale_entry(void **state)
{
    struct ringside_trace_object *o, *again;
    size_t length;
    int forked[2];
    (void)state;
    assert_int_equal(pipe(forked), 0);
    pid_t child = fork();
    if (!child) {
        alarm(60);
        if (write(forked[1], "x", 1) == 1)
            pause();
        _exit(0);
    }
    await_byte(forked[0]); // it has entered the object, if it inherits one
    assert_int_equal(ringside_trace_object_open(child, true, &o), 0);
    uint8_t *bytes = map_object(child, &length);
    assert_int_equal(entries_of(bytes, child, true), 1);
    assert_int_equal(ringside_trace_object_open(child, false, &again), ENOENT);
    assert_int_equal(ringside_trace_object_open(child, true, &again), 0);
    assert_int_equal(entries_of(map_object(child, &length), child, false), 1);
    ringside_trace_object_close(again);
    ringside_trace_object_close(o);
    close(forked[0]);
    close(forked[1]);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

// A limit on the size of files leads to an error, and to no signal. Binding still works, since the
// rings of an existing object are within the limit.
static void test_file_limit(void **state)
{
    const struct ringside_trace_bind bind = {POSIX_TRACE_LOOP, 4096, 64, false, "small"};
    struct ringside_trace_object *object, *other;
    struct rlimit before, small;
    unsigned stream;
    (void)state;
    assert_int_equal(ringside_trace_object_open(0, true, &object), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 4096;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int bound = ringside_trace_object_bind(object, &bind, &stream);
    int opened = ringside_trace_object_open(getppid(), true, &other); // the parent has no object
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(bound, 0);
    assert_int_equal(opened, ENOMEM);
    ringside_trace_object_release(object, stream);
    ringside_trace_object_close(object);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "write")) {
        write_some(4);
        return FLAG_CHILD_EXEC;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_event),
        cmocka_unit_test(test_object),
        cmocka_unit_test(test_another_user),
        cmocka_unit_test(test_all_streams),
        cmocka_unit_test(test_threads_lose_nothing),
        cmocka_unit_test(test_threads_in_small_rings),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_stream_of_a_child),
        cmocka_unit_test(test_not_inherited),
        cmocka_unit_test(test_exec),
        cmocka_unit_test(test_killed_writers),
        cmocka_unit_test(test_left_behind),
        cmocka_unit_test(test_left_between_states),
        cmocka_unit_test(test_damaged_block),
        cmocka_unit_test(test_controller_killed),
        cmocka_unit_test(test_controller_execs),
        cmocka_unit_test(test_stale_entry),
        cmocka_unit_test(test_file_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
