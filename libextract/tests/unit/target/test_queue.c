// SPDX-License-Identifier: MIT
// unit: a signal handler's events while its thread is in the critical section. The test makes the
// ring read-only, so the trace point itself raises the signal while it has the lock. The handler
// traces and makes the ring writable. No event with a slot in the queue is lost, and the others are
// counted. Further handlers fork, or interrupt each other while their data are copied.
#include "target/ports/linux.h"
#include "target/linux_object.h"
#include "tests/unit/target/host_object.h"
#include "tests/unit/target/ring_reader.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

enum {
    WORDS = 1 << 16,
    DATA_WORDS = 200,
    MAX_DATA = 4 * DATA_WORDS,
    LOCK = 80,   // offset in the object
    DATA_AT = 9, // offset in a record of its first word of data
    INTERRUPTED = 40,
    QUEUED = 41
};

static struct ring_stream stream;
static struct ringside_trace_object *object;
static unsigned number;
static size_t mapped;                                // bytes from stream.object on
static unsigned handled;                             // events that the handler makes
static trace_event_id_t known, unknown, still_known; // names, as the handler finds them
static uint32_t *guarded;                            // the ring in the mapping of the trace points

static void guard(bool on)
{
    assert_int_equal(mprotect(guarded, WORDS * 4, on ? PROT_READ : PROT_READ | PROT_WRITE), 0);
}

// Traces data that are different in each word of each event.
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
    (void)state;
    if (ringside_trace_object_open(0, true, &object) ||
        ringside_trace_object_bind(object, &bind, &number))
        return -1;
    stream = ring_stream(map_object(0, &mapped), number);
    ring_set(stream.block, RING_WANTED, 3);
    ring_set(stream.block, RING_REQUEST, ring_of(stream, RING_REQUEST) + 1);
    ringside_trace_object_attend(object);
    trace(INTERRUPTED, 0); // makes the process find its object
    (void)posix_trace_eventid_open("known", &known);
    guarded = ringside_traced.memory->rings[number];
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ringside_trace_object_release(object, number);
    ringside_trace_object_close(object);
    munmap((void *)(uintptr_t)stream.object, mapped);
    return 0;
}

// Makes a trace point that `count` events interrupt, then one without interruption.
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

// A handler in the critical section registers no name, and leaves the lock as it is.
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

// ---- a handler that forks ----

static pid_t child;
static int child_status;
static uint32_t lock; // value after the child's end

// Forks. The parent continues after the child has ended.
static void fork_here(void)
{
    child = fork();
    if (child) {
        waitpid(child, &child_status, 0);
        lock = ring_get(stream.object, LOCK);
    }
}

static void on_signal_fork(int signal)
{
    (void)signal;
    trace(QUEUED, 0);
    fork_here();
    guard(false);
}

static void trace_one(void)
{
    trace(INTERRUPTED, 1);
}

static void attend(void)
{
    ringside_trace_object_attend(object);
}

static void fork_in(void (*call)(void))
{
    void (*before)(int) = signal(SIGSEGV, on_signal_fork);
    lock = 0;
    guard(true);
    call();
    if (!child) {
        trace(INTERRUPTED, 3); // the child does not inherit the stream
        _exit(0);
    }
    signal(SIGSEGV, before);
    assert_true(child > 0);
    assert_int_equal(child_status, 0);
    assert_int_equal(lock, ringside_thread.id);
}

// The interrupted call and the queued events belong to the parent.
static void test_fork(void **state)
{
    (void)state;
    fork_in(trace_one);
    trace(INTERRUPTED, 2);
    check(1, 0);
}

// Returns the controller's mapping of the object's file. Trace points and this test have other
// ones.
static uint8_t *controllers_mapping(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    uint8_t *found = NULL;
    assert_non_null(maps);
    while (!found && fgets(line, sizeof line, maps)) {
        uint8_t *start = (uint8_t *)(uintptr_t)strtoull(line, NULL, 16);
        bool other = start != (uint8_t *)ringside_traced.memory && start != stream.object;
        bool first = strstr(line, " 00000000 "); // a core contains parts of a mapping
        found = strstr(line, "/ringside-posix.") && other && first ? start : NULL;
    }
    fclose(maps);
    assert_non_null(found);
    return found;
}

// A controller's call that a fork interrupts belongs to the parent, too.
static void test_fork_of_controller(void **state)
{
    (void)state;
    guarded = (uint32_t *)(void *)(controllers_mapping() + ring_of(stream, 16));
    ring_set(stream.block, RING_WANTED, 1);
    ring_set(stream.block, RING_REQUEST, ring_of(stream, RING_REQUEST) + 1);
    fork_in(attend);
    assert_int_equal(ring_get(stream.object, LOCK), 0);
    assert_int_equal(ring_of(stream, RING_DONE), ring_of(stream, RING_REQUEST));
    assert_int_equal(ring_of(stream, RING_STATE), 1);
    assert_int_equal(ring_of(stream, RING_RECORDED), 3); // START, the first event, STOP
    assert_int_equal(ring_of(stream, RING_REFUSED), 0);
}

// ---- data that cannot be read yet ----

static uint8_t *pages; // one page for each event
static size_t page;

static void map_pages(unsigned count)
{
    page = (size_t)sysconf(_SC_PAGESIZE);
    pages = mmap(NULL, count * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
}

static sigjmp_buf away;

static void on_unreadable_fork(int signal)
{
    (void)signal;
    fork_here();
    if (!child)
        siglongjmp(away, 1);
    assert_int_equal(mprotect(pages, page, PROT_READ), 0);
}

// A child that jumps out of the call leaves the parent's record alone.
static void test_fork_and_jump(void **state)
{
    void (*before)(int) = signal(SIGSEGV, on_unreadable_fork);
    struct ring_record r;
    (void)state;
    map_pages(1);
    uint32_t at = ring_of(stream, RING_HEAD);
    if (!sigsetjmp(away, 1))
        posix_trace_event(INTERRUPTED, pages, 4);
    if (!child)
        _exit(0);
    signal(SIGSEGV, before);
    assert_int_equal(child_status, 0);
    assert_true(ring_record(stream, at, &r));
    assert_false(r.open || r.cut);
    assert_int_equal(r.bytes, 4);
    munmap(pages, page);
}

// ---- handlers that interrupt each other ----

enum { NESTED = RINGSIDE_CALLS + 2 };
static unsigned depth;

static void on_unreadable(int signal)
{
    (void)signal;
    unsigned here = ++depth;
    if (here < NESTED)
        posix_trace_event(QUEUED, pages + here * page, 4);
    assert_int_equal(mprotect(pages + (here - 1) * page, page, PROT_READ), 0);
}

// When the outermost call ends, all events are recorded, although more calls are nested than can be
// begun at once.
static void test_nested(void **state)
{
    struct sigaction before, action = {.sa_handler = on_unreadable, .sa_flags = SA_NODEFER};
    (void)state;
    map_pages(NESTED);
    depth = 0;
    uint32_t recorded = ring_of(stream, RING_RECORDED);
    sigaction(SIGSEGV, &action, &before);
    posix_trace_event(INTERRUPTED, pages, 4);
    sigaction(SIGSEGV, &before, NULL);
    assert_int_equal(depth, NESTED);
    assert_int_equal(ring_of(stream, RING_RECORDED) - recorded, NESTED);
    assert_int_equal(ring_of(stream, RING_REFUSED), 0);
    munmap(pages, NESTED * page);
}

// ---- a thread ends after a jump of which the recorder was not told ----

static void *back[5];

static void on_signal_jump(int which)
{
    signal(which, SIG_DFL);
    __builtin_longjmp(back, 1);
}

// Is deeper in the stack than the next trace point.
static __attribute__((noinline)) void leave(void)
{
    posix_trace_event(INTERRUPTED, pages, 4);
}

static __attribute__((noinline)) void spoil_stack(void)
{
    volatile uint8_t bytes[8192];
    for (unsigned k = 0; k < sizeof bytes; k++)
        bytes[k] = 0xA5;
}

static void *leave_and_end(void *unused)
{
    sigset_t set;
    if (!__builtin_setjmp(back))
        leave();
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    posix_trace_event(INTERRUPTED, NULL, 0); // finds what the jump left
    spoil_stack();
    pthread_exit(unused);
}

static void test_left_and_ended(void **state)
{
    pthread_t thread;
    void (*before)(int) = signal(SIGSEGV, on_signal_jump);
    (void)state;
    map_pages(1);
    assert_int_equal(pthread_create(&thread, NULL, leave_and_end, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    signal(SIGSEGV, before);
    munmap(pages, page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_event, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_places, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_place, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fork, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fork_of_controller, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fork_and_jump, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nested, setup, teardown),
        cmocka_unit_test_setup_teardown(test_left_and_ended, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
