// SPDX-License-Identifier: MIT
// Calls that wait, several threads, a controller that ends. No test here measures time: what is
// waited for comes, or the test hangs. Truth: IEEE Std 1003.1-2008, posix_trace_getnext_event.
#define _GNU_SOURCE // pthread_tryjoin_np
#include "tests/unit/posix/streams.h"
#include "tests/unit/target/host_object.h"
#include "tests/unit/target/ring_reader.h"
#include <sys/wait.h>
#include <unistd.h>

// A thread that reads one event.
struct reader {
    trace_id_t trid;
    pthread_t thread;
    int about_to_read;
    int error;
    struct got got;
};

static void *read_one(void *context)
{
    struct reader *r = context;
    __atomic_store_n(&r->about_to_read, 1, __ATOMIC_RELEASE);
    r->error = posix_trace_getnext_event(r->trid, &r->got.info, r->got.data, sizeof r->got.data,
                                         &r->got.length, &r->got.unavailable);
    return NULL;
}

static void pause_ms(long ms)
{
    const struct timespec pause = {0, ms * 1000000};
    nanosleep(&pause, NULL);
}

static void start_reader(struct reader *reader, trace_id_t trid)
{
    memset(reader, 0, sizeof *reader);
    reader->trid = trid;
    assert_int_equal(pthread_create(&reader->thread, NULL, read_one, reader), 0);
    while (!__atomic_load_n(&reader->about_to_read, __ATOMIC_ACQUIRE))
        pause_ms(1);
    pause_ms(30); // it waits, most likely; nothing depends on it
}

// ---- threads ----

enum { WRITERS = 4, EACH = 2000 };

static void *write_events(void *context)
{
    uint32_t words[2] = {(uint32_t)(uintptr_t)context, 0};
    for (; words[1] < EACH; words[1]++)
        posix_trace_event(32, words, sizeof words);
    return NULL;
}

// Several threads write while this one reads: each event once, those of a thread in order.
static void test_e10_threads(void **state)
{
    pthread_t writers[WRITERS];
    uint32_t expected[WRITERS] = {0}, words[2];
    (void)state;
    trace_id_t trid;
    trace_attr_t attr;
    posix_trace_attr_init(&attr);
    posix_trace_attr_setstreamsize(&attr, 1 << 20); // room for all
    assert_int_equal(posix_trace_create(0, &attr, &trid), 0);
    assert_int_equal(posix_trace_start(trid), 0);
    expect(trid, POSIX_TRACE_START);
    for (uintptr_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, write_events, (void *)i), 0);
    for (unsigned i = 0; i < WRITERS * EACH; i++) {
        struct got got = next(trid);
        assert_int_equal(got.info.posix_event_id, 32);
        assert_int_equal(got.length, sizeof words);
        memcpy(words, got.data, sizeof words);
        assert_true(words[0] < WRITERS);
        assert_int_equal(words[1], expected[words[0]]++);
    }
    for (unsigned i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(writers[i], NULL), 0);
    expect_none(trid);
    assert_int_equal(posix_trace_shutdown(trid), 0);
}

// ---- a writer that is faster than its reader ----

enum { STORM = 60000, STORM_WORDS = 6 };

static void *write_storm(void *context)
{
    uint32_t words[STORM_WORDS];
    (void)context;
    for (uint32_t i = 0; i < STORM; i++) {
        for (uint32_t k = 0; k < STORM_WORDS; k++)
            words[k] = i * 2654435761U + k;
        words[0] = i;
        posix_trace_event(32, words, 4 + 4 * (i % STORM_WORDS));
    }
    return NULL;
}

// Checks that the event is complete. Returns its number.
static uint32_t check_storm_event(const struct got *got)
{
    uint32_t words[STORM_WORDS];
    memcpy(words, got->data, sizeof words);
    assert_int_equal(got->length, 4 + 4 * (words[0] % STORM_WORDS));
    for (uint32_t k = 1; k < got->length / 4; k++)
        assert_int_equal(words[k], words[0] * 2654435761U + k);
    return words[0];
}

// In a ring of a few records: nothing torn, nothing twice, and no gap without an OVERFLOW.
static void test_d6_storm(void **state)
{
    trace_id_t trid;
    trace_attr_t attr;
    pthread_t writer;
    uint32_t expected = 0;
    bool told = false;
    (void)state;
    posix_trace_attr_init(&attr);
    posix_trace_attr_setstreamsize(&attr, 200);
    posix_trace_attr_setmaxdatasize(&attr, 4 * STORM_WORDS);
    assert_int_equal(posix_trace_create(0, &attr, &trid), 0);
    assert_int_equal(posix_trace_start(trid), 0);
    expect(trid, POSIX_TRACE_START);
    assert_int_equal(pthread_create(&writer, NULL, write_storm, NULL), 0);
    while (expected < STORM) {
        struct got got = next(trid);
        told = told || got.info.posix_event_id == POSIX_TRACE_OVERFLOW;
        if (got.info.posix_event_id != 32)
            continue;
        uint32_t number = check_storm_event(&got);
        assert_true(told ? number >= expected : number == expected);
        expected = number + 1; // the last event stays in the ring
        told = false;
    }
    assert_int_equal(pthread_join(writer, NULL), 0);
    assert_int_equal(posix_trace_shutdown(trid), 0);
}

// Streams come and go in several threads at once.
static void *come_and_go(void *context)
{
    int *failed = context;
    for (unsigned i = 0; i < 50; i++) {
        trace_id_t trid;
        int error = posix_trace_create(0, NULL, &trid);
        if (error == EAGAIN)
            continue;
        *failed += error || posix_trace_start(trid) || posix_trace_stop(trid) ||
                   posix_trace_clear(trid) || posix_trace_shutdown(trid);
    }
    return NULL;
}

static void test_b13_many_controllers(void **state)
{
    pthread_t threads[4];
    int failed[4] = {0};
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &failed[i]), 0);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(failed[i], 0);
    }
}

// ---- the end of a controller ----

// A controller that exits releases its streams: all of them can be created again, several times.
static void test_b14_exit_shuts_down(void **state)
{
    trace_id_t trids[TRACE_SYS_MAX];
    pid_t traced = getpid();
    int status;
    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        pid_t child = fork();
        if (!child) {
            bool good = true;
            for (unsigned i = 0; i < TRACE_SYS_MAX; i++)
                good = good && !posix_trace_create(traced, NULL, &trids[i]) &&
                       !posix_trace_start(trids[i]);
            exit(good ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    for (unsigned i = 0; i < TRACE_SYS_MAX; i++)
        assert_int_equal(posix_trace_create(0, NULL, &trids[i]), 0);
    for (unsigned i = 0; i < TRACE_SYS_MAX; i++)
        assert_int_equal(posix_trace_shutdown(trids[i]), 0);
}

// ---- the end of a traced process ----

enum { EVENTS = 3 };

// A process that records when the test asks for it, reports that, and exits when the test asks
// again.
struct traced {
    pid_t pid;
    int tell[2], said[2];
};

static void await_told(const struct traced *t)
{
    char byte;
    if (read(t->tell[0], &byte, 1) != 1)
        _exit(1);
}

static struct traced start_traced(bool forks)
{
    struct traced t;
    assert_int_equal(pipe(t.tell), 0);
    assert_int_equal(pipe(t.said), 0);
    t.pid = fork();
    if (t.pid)
        return t;
    alarm(60);
    await_told(&t);
    if (forks && fork())
        _exit(0); // its child goes on
    for (uint32_t i = 0; i < EVENTS; i++)
        event_number(32, i);
    if (write(t.said[1], "x", 1) != 1)
        _exit(1);
    await_told(&t);
    exit(0);
}

static void tell(const struct traced *t)
{
    assert_int_equal(write(t->tell[1], "x", 1), 1);
}

static void await_said(const struct traced *t)
{
    char byte;
    assert_int_equal(read(t->said[0], &byte, 1), 1);
}

static void forget(struct traced *t)
{
    close(t->tell[0]), close(t->tell[1]), close(t->said[0]), close(t->said[1]);
}

static trace_id_t trace_it(const struct traced *t, int inherited)
{
    trace_attr_t attr = attributes(POSIX_TRACE_LOOP, 10000, 16);
    trace_id_t trid;
    assert_int_equal(posix_trace_attr_setinherited(&attr, inherited), 0);
    assert_int_equal(posix_trace_create(t->pid, &attr, &trid), 0);
    assert_int_equal(posix_trace_start(trid), 0);
    return trid;
}

// Nothing is left to read, and nothing will come: nobody waits for it.
static void expect_ended(trace_id_t trid)
{
    const struct timespec far = {INT32_MAX, 0};
    struct got got = {0};
    expect_status(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    assert_int_equal(posix_trace_getnext_event(trid, &got.info, got.data, sizeof got.data,
                                               &got.length, &got.unavailable),
                     ESRCH);
    assert_none(&got);
    got.unavailable = 0;
    assert_int_equal(posix_trace_timedgetnext_event(trid, &got.info, got.data, sizeof got.data,
                                                    &got.length, &got.unavailable, &far),
                     ESRCH);
    assert_none(&got);
    expect_none(trid);
}

// What it recorded is read to its end, with and without waiting, be it killed or not, and whether
// or not its parent has waited for it.
static void test_e11_process_ends(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 8; kind++) {
        bool killed = kind & 1, reaped = kind & 2, waits = kind & 4;
        struct traced t = start_traced(false);
        struct reader reader;
        trace_id_t trid = trace_it(&t, POSIX_TRACE_CLOSE_FOR_CHILD);
        tell(&t);
        await_said(&t);
        expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
        if (waits) {
            assert_int_equal(next(trid).info.posix_event_id, POSIX_TRACE_START);
            for (uint32_t i = 0; i < EVENTS; i++)
                next(trid);
            start_reader(&reader, trid);
        }
        if (killed)
            kill(t.pid, SIGKILL);
        else
            tell(&t);
        if (reaped)
            waitpid(t.pid, NULL, 0);
        if (waits) {
            assert_int_equal(pthread_join(reader.thread, NULL), 0);
            assert_int_equal(reader.error, ESRCH);
            assert_none(&reader.got);
        } else {
            assert_int_equal(next(trid).info.posix_event_id, POSIX_TRACE_START);
            for (uint32_t i = 0; i < EVENTS; i++) {
                struct got got = next(trid);
                assert_int_equal(number_of(&got), i);
            }
        }
        if (!reaped)
            waitid(P_PID, (id_t)t.pid, &(siginfo_t){0}, WEXITED | WNOWAIT);
        expect_ended(trid);
        assert_int_equal(posix_trace_shutdown(trid), 0);
        if (!reaped)
            waitpid(t.pid, NULL, 0);
        forget(&t);
    }
}

// A stream that a child has inherited ends with the child.
static void test_e11_last_child_ends(void **state)
{
    struct reader reader;
    (void)state;
    struct traced t = start_traced(true);
    trace_id_t trid = trace_it(&t, POSIX_TRACE_INHERITED);
    tell(&t);
    assert_int_equal(waitpid(t.pid, NULL, 0), t.pid);
    await_said(&t);
    assert_int_equal(next(trid).info.posix_event_id, POSIX_TRACE_START);
    for (uint32_t i = 0; i < EVENTS; i++)
        next(trid);
    expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    start_reader(&reader, trid);
    assert_int_not_equal(pthread_tryjoin_np(reader.thread, NULL), 0);
    tell(&t);
    assert_int_equal(pthread_join(reader.thread, NULL), 0);
    assert_int_equal(reader.error, ESRCH);
    expect_ended(trid);
    assert_int_equal(posix_trace_shutdown(trid), 0);
    forget(&t);
}

// A record that a process was writing when it was killed will not be finished: it comes cut,
// without its data, and what follows it comes as well.
static void test_e11_record_left_open(void **state)
{
    size_t length;
    struct ring_record record;
    (void)state;
    struct traced t = start_traced(false);
    trace_id_t trid = trace_it(&t, POSIX_TRACE_CLOSE_FOR_CHILD);
    tell(&t);
    await_said(&t);
    uint8_t *bytes = map_object(t.pid, &length);
    kill(t.pid, SIGKILL);
    waitpid(t.pid, NULL, 0);
    struct ring_stream stream = ring_stream(bytes, 0);
    uint32_t at = ring_of(stream, RING_TAIL);
    assert_true(ring_record(stream, at, &record)); // START
    at += record.words;
    uint8_t *first = bytes + ring_of(stream, 16) + 4 * (at % ring_of(stream, RING_WORDS));
    ring_set(first, 0, (ring_get(first, 0) & ~(UINT32_C(3) << 30)) | UINT32_C(1) << 30);
    assert_int_equal(next(trid).info.posix_event_id, POSIX_TRACE_START);
    struct got cut = next(trid), whole = next(trid);
    assert_int_equal(cut.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
    assert_int_equal(cut.length, 0);
    assert_int_equal(number_of(&whole), 1);
    next(trid);
    expect_ended(trid);
    assert_int_equal(posix_trace_shutdown(trid), 0);
    munmap(bytes, length);
    forget(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_e10_threads),
        cmocka_unit_test(test_e11_process_ends),
        cmocka_unit_test(test_e11_last_child_ends),
        cmocka_unit_test(test_e11_record_left_open),
        cmocka_unit_test(test_d6_storm),
        cmocka_unit_test(test_b13_many_controllers),
        cmocka_unit_test(test_b14_exit_shuts_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
