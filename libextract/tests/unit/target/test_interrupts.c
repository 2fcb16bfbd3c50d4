// SPDX-License-Identifier: MIT
// unit: signal handlers that trace, and then return or jump, inside a trace point of their own
// thread. A child runs the trace point step by step under ptrace. It gets one signal, and a second
// one some steps after the first handler. The test tries each pair of steps from the start of the
// trace point. Whatever a signal interrupts, each event is either recorded or counted as refused,
// exactly once.
#include "target/linux_object.h"
#include "tests/unit/target/host_object.h"
#include "tests/unit/target/ring_reader.h"
#include "tests/unit/target/stepping.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

// FIRST: steps before the first signal. SECOND: steps from its handler's return to the second
// signal. RETURN: the most steps that the handler needs to return.
enum { FIRST = 400, SECOND = 3, RETURN = 400, WORDS = 256 };

// The child's report of its last round. `first` and `second` are the stack frames of the handlers.
// They are equal if the first handler has returned before the second one starts.
struct report {
    volatile uint32_t counted, wrong, finish;
    volatile uint32_t jumps; // the second handler jumps instead of returning
    volatile uintptr_t first, second;
};

static struct report *report;

// ---- the child ----

static struct ring_stream stream;
static sigjmp_buf back;

static void event(uint32_t id)
{
    const uint32_t data[2] = {id, ~id};
    posix_trace_event(id, data, sizeof data);
}

static void stop_here(void)
{
    syscall(SYS_tgkill, getpid(), getpid(), SIGSTOP);
}

static void on_first(int number)
{
    (void)number;
    report->first = (uintptr_t)__builtin_frame_address(0);
    event(41);
    stop_here();
}

static void on_second(int number)
{
    (void)number;
    report->second = (uintptr_t)__builtin_frame_address(0);
    event(42);
    if (report->jumps)
        siglongjmp(back, 1);
}

static uint32_t counted(void)
{
    return ring_of(stream, RING_RECORDED) + ring_of(stream, RING_REFUSED);
}

static bool is_sound(void)
{
    struct ring_record r[WORDS / 8];
    int there = ring_records(stream, r, WORDS / 8);
    for (int k = 0; k < there; k++)
        if (r[k].open)
            return false;
    return there >= 0 &&
           ring_of(stream, RING_RECORDED) == (uint32_t)there + ring_of(stream, RING_OVERWRITTEN);
}

static void run_round(void)
{
    uint32_t before = counted();
    if (!sigsetjmp(back, 1)) {
        stop_here(); // the parent steps from here on
        event(40);
    }
    report->counted = counted() - before;
    report->wrong = !is_sound() || ring_get(stream.object, 80);
    stop_here();
}

static void bind_stream(void)
{
    const struct ringside_trace_bind bind = {POSIX_TRACE_LOOP, WORDS, 64, false, "interrupts"};
    struct ringside_trace_object *object;
    size_t length;
    unsigned number;
    event(40);
    if (ringside_trace_object_open(0, true, &object) ||
        ringside_trace_object_bind(object, &bind, &number))
        _exit(2);
    uint8_t *bytes = map_object(0, &length);
    stream = ring_stream(bytes, number);
    ring_set(stream.block, RING_WANTED, 3);
    ring_set(stream.block, RING_REQUEST, ring_of(stream, RING_REQUEST) + 1);
    ring_set(bytes, 20, UINT32_MAX);
    ringside_trace_object_attend(object);
}

static void run_child(void)
{
    alarm(300);
    bind_stream();
    signal(SIGUSR1, on_first);
    signal(SIGUSR2, on_second);
    for (unsigned k = 0; k < 100; k++)
        event(40); // fills the ring
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) {
        fprintf(stderr, "test_interrupts: ptrace: not allowed here\n");
        _exit(3);
    }
    while (!report->finish)
        run_round();
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/ringside-posix.%d", (int)getpid());
    unlink(path);
    _exit(0);
}

// ---- the parent ----

static void step_on(pid_t child, unsigned times)
{
    for (unsigned k = 0; k < times; k++)
        step(child, 0);
}

static pid_t begin_child(void)
{
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(report, MAP_FAILED);
    return begin_stepping(run_child);
}

static void end_child(pid_t child)
{
    report->finish = 1;
    go_on(child, 0);
    end_stepping(child, 0);
    munmap(report, sizeof *report);
}

// Returns the number of events that were counted.
static uint32_t interrupt(pid_t child, unsigned first, unsigned second)
{
    step_on(child, first);
    go_on(child, SIGUSR1);
    step_on(child, second);
    go_on(child, SIGUSR2);
    uint32_t events = report->counted;
    assert_false(report->wrong);
    go_on(child, 0); // continues to the next round
    return events;
}

static void interrupt_twice(pid_t child, unsigned first, unsigned second)
{
    assert_int_equal(interrupt(child, first, second), 3);
}

// Returns how many steps the first handler needs from its stop to its return.
static unsigned steps_to_return(pid_t child)
{
    unsigned steps = 0;
    do
        interrupt_twice(child, 0, ++steps);
    while (report->second != report->first && steps < RETURN);
    assert_int_equal(report->second, report->first);
    return steps;
}

static void test_two_that_return(void **state)
{
    (void)state;
    pid_t child = begin_child();
    unsigned to_return = steps_to_return(child);
    for (unsigned first = 0; first < FIRST; first++)
        for (unsigned second = 0; second < SECOND; second++)
            interrupt_twice(child, first, to_return + second);
    end_child(child);
}

// The second handler jumps out of the trace point that the first handler returned to. The second
// signal comes only after that trace point has begun, so that all three events count.
static void test_one_that_jumps(void **state)
{
    enum { STEPS = 16, MOST = 4000, TRIES = 100 };
    (void)state;
    pid_t child = begin_child();
    unsigned to_return = steps_to_return(child), begun = 0;
    report->jumps = 1;
    while (interrupt(child, 0, to_return + begun) == 2)
        assert_true((begun += STEPS) < MOST);
    for (unsigned first = 0; first < begun; first += 1 + begun / TRIES)
        interrupt_twice(child, first, to_return + begun - first + STEPS);
    report->jumps = 0;
    end_child(child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_that_return),
        cmocka_unit_test(test_one_that_jumps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
