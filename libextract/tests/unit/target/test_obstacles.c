// SPDX-License-Identifier: MIT
// unit: obstacles for a program that searches for its object, waits for the lock, or allocates
// pages. A thread leaves in the middle, a thread has a lower priority, no file can be opened, or
// signals come. The test wraps the library's system calls to produce these cases.
#include "target/linux_object.h"
#include "trace.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
// clang-format off
#include <cmocka.h>
#include "tests/unit/target/host_stream.h"
// clang-format on

enum { LOCK = 80 };

// ---- the system calls ----

static void (*at_open)(void); // runs at the next open()
static bool opens_fail;
static bool signals_come;
static unsigned pieces; // the allocation that fails, counted from 1; 0: none
static pthread_t first_thread;
static _Atomic bool slept; // a thread other than the first one has slept

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);
int __real_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_posix_fallocate(int file, off_t at, off_t bytes);
int __real_posix_fallocate(int file, off_t at, off_t bytes);

int __wrap_open(const char *path, int flags, ...)
{
    void (*happens)(void) = at_open;
    va_list arguments;
    va_start(arguments, flags);
    int mode = va_arg(arguments, int);
    va_end(arguments);
    at_open = NULL;
    if (happens)
        happens();
    errno = EMFILE;
    return opens_fail ? -1 : __real_open(path, flags, mode);
}

// While no file can be opened, sleeping takes no time.
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest)
{
    slept = slept || !pthread_equal(pthread_self(), first_thread);
    return opens_fail ? 0 : __real_nanosleep(time, rest);
}

// If signals come, the first allocation fails.
int __wrap_posix_fallocate(int file, off_t at, off_t bytes)
{
    static bool came;
    if (pieces && !--pieces)
        return ENOSPC;
    came = signals_come && !came;
    return came ? EINTR : __real_posix_fallocate(file, at, bytes);
}

// ---- a thread that leaves while it searches for the object ----

static sigjmp_buf back;

static void jump(void)
{
    siglongjmp(back, 1);
}

static void end_thread(void)
{
    pthread_exit(NULL);
}

static void *open_name(void *unused)
{
    trace_event_id_t id;
    posix_trace_eventid_open("a name", &id);
    return unused;
}

static void *write_one(void *unused)
{
    posix_trace_event(40, NULL, 0);
    return unused;
}

static void in_thread(void *(*run)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL) || pthread_join(thread, NULL))
        _exit(1);
}

// Calls `run` in a process that has not searched for its object yet.
static void in_process(void (*run)(void))
{
    pid_t child = fork();
    if (!child) {
        alarm(100);
        first_thread = pthread_self();
        run();
        _exit(0);
    }
    wait_for(child, 0);
}

static void check_traced(void)
{
    trace_event_id_t id, same;
    in_thread(write_one);
    if (posix_trace_eventid_open("one", &id) || posix_trace_eventid_open("one", &same))
        _exit(2);
    if (id != same || id == POSIX_TRACE_UNNAMED_USEREVENT)
        _exit(3);
}

static void run_jump(void)
{
    at_open = jump;
    if (!sigsetjmp(back, 1)) {
        open_name(NULL);
        _exit(4);
    }
    check_traced();
}

static void run_thread_end(void)
{
    at_open = end_thread;
    in_thread(open_name);
    check_traced();
}

static void test_left(void **state)
{
    (void)state;
    in_process(run_jump);
    in_process(run_thread_end);
}

// ---- handlers trace in the meantime, more events than the queue has slots ----

enum { PLACES = 64, EVENTS = PLACES + 6 };

static void write_too_many(void)
{
    for (unsigned k = 0; k < EVENTS; k++)
        write_one(NULL);
}

static void run_handlers(void)
{
    struct traced t = bind_stream(0, POSIX_TRACE_LOOP, 4096, false);
    at_open = write_too_many;
    write_one(NULL);
    ringside_trace_object_attend(t.object);
    if (ring_of(t.stream, RING_RECORDED) != 1 + 1 + PLACES ||
        ring_of(t.stream, RING_REFUSED) != EVENTS - PLACES)
        _exit(6);
    let_go(&t);
}

static void test_handlers(void **state)
{
    (void)state;
    in_process(run_handlers);
}

// ---- a thread that gets the processor only while others sleep ----

static pthread_t other;

static void start_other(void)
{
    if (pthread_create(&other, NULL, write_one, NULL))
        _exit(1);
    while (!slept)
        usleep(1000);
}

static void run_low_priority(void)
{
    at_open = start_other;
    write_one(NULL);
    if (pthread_join(other, NULL))
        _exit(5);
}

static void test_low_priority(void **state)
{
    (void)state;
    in_process(run_low_priority);
}

// ---- no file can be opened ----

static _Atomic uint32_t holder;
static pthread_mutex_t ends = PTHREAD_MUTEX_INITIALIZER;

static void *hold(void *unused)
{
    holder = (uint32_t)syscall(SYS_gettid);
    pthread_mutex_lock(&ends);
    pthread_mutex_unlock(&ends);
    return unused;
}

// The lock's holder exists, although no file about it can be read.
static void test_no_files(void **state)
{
    pthread_t thread;
    (void)state;
    struct traced t = bind_stream(0, POSIX_TRACE_LOOP, 256, false);
    write_one(NULL);
    pthread_mutex_lock(&ends);
    assert_int_equal(pthread_create(&thread, NULL, hold, NULL), 0);
    while (!holder)
        usleep(1000);
    ring_set(t.bytes, LOCK, holder);
    opens_fail = true;
    write_one(NULL);
    opens_fail = false;
    assert_int_equal(ring_get(t.bytes, LOCK), holder);
    assert_int_equal(ring_of(t.stream, RING_RECORDED), 2);
    ring_set(t.bytes, LOCK, 0);
    pthread_mutex_unlock(&ends);
    pthread_join(thread, NULL);
    write_one(NULL);
    assert_int_equal(ring_of(t.stream, RING_RECORDED), 3);
    assert_int_equal(ring_of(t.stream, RING_REFUSED), 1);
    let_go(&t);
}

// ---- pages ----

enum { MANY_WORDS = 1 << 20 };

static uint64_t object_bytes(void)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/dev/shm/ringside-posix.%d", (int)getpid());
    assert_int_equal(stat(path, &status), 0);
    return (uint64_t)status.st_blocks * 512;
}

static void test_signals(void **state)
{
    (void)state;
    write_one(NULL);
    uint64_t before = object_bytes();
    signals_come = true;
    struct traced t = bind_stream(0, POSIX_TRACE_LOOP, MANY_WORDS, false);
    signals_come = false;
    assert_true(object_bytes() - before >= (MANY_WORDS - 4096) * 4); // some words had pages before
    let_go(&t);
}

// If there are too few pages, the recorder frees those that it allocated.
static void test_too_few_pages(void **state)
{
    const struct ringside_trace_bind bind = {POSIX_TRACE_LOOP, MANY_WORDS, 64, false, ""};
    unsigned stream;
    (void)state;
    struct traced t = bind_stream(0, POSIX_TRACE_LOOP, 256, false); // this ring has pages
    uint64_t before = object_bytes();
    pieces = 8;
    assert_int_equal(ringside_trace_object_bind(t.object, &bind, &stream), ENOMEM);
    assert_int_equal(pieces, 0);
    assert_int_equal(object_bytes(), before);
    let_go(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_left),         cmocka_unit_test(test_handlers),
        cmocka_unit_test(test_low_priority), cmocka_unit_test(test_no_files),
        cmocka_unit_test(test_signals),      cmocka_unit_test(test_too_few_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
