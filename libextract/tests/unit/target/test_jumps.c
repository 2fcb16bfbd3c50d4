// SPDX-License-Identifier: MIT
// unit: a signal handler that leaves a trace point by a jump, wherever that was: a child makes the
// trace point step by step under ptrace, and then gets the signal; each test begins with another
// instruction, and goes on in strides, so that together they meet all of them. Whatever
// was left is settled: nobody hangs, records are whole, and the event is recorded or counted as
// refused once, from one instruction on.
//
// The jump is siglongjmp, of which the recorder is told, or the compiler's own, of which it is not:
// that is found by the thread's next trace point.
#include "target/linux.h"
#include "tests/unit/target/ring_reader.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

enum { ROUNDS = 110, WORDS = 256, MANY = 1000000 };

struct variant {
    int policy;
    bool told;      // the jump is siglongjmp
    bool traces;    // the handler passes a trace point of its own before
    bool apart;     // it runs on a stack of its own
    bool two;       // another signal comes before, and its handler traces
    unsigned most;  // events that a round makes
    unsigned begin; // steps in its first round
};

// What the child tells of its last round.
struct report {
    volatile uint32_t jumped, counted, wrong, round, finish, armed;
};

static struct variant variant;
static struct report *report;

// ---- the child ----

static sigjmp_buf back;
static void *plain_back[5];
static struct ring_stream stream;
static volatile uint32_t asked, answered;

static uint32_t counted(void)
{
    return ring_of(stream, RING_RECORDED) + ring_of(stream, RING_REFUSED);
}

static void event(uint32_t id)
{
    const uint32_t data[2] = {id, ~id};
    posix_trace_event(id, data, sizeof data);
}

static void on_first(int number)
{
    (void)number;
    event(42);
}

static void on_second(int number)
{
    (void)number;
    if (!report->armed)
        return;
    report->armed = 0;
    if (variant.traces)
        event(41);
    if (variant.told)
        siglongjmp(back, 1);
    __builtin_longjmp(plain_back, 1);
}

// Another thread, which goes on whatever was left.
static void *answer(void *argument)
{
    for (;; sched_yield())
        if (answered != asked) {
            event(43);
            answered = asked;
        }
    return argument;
}

static void ask(void)
{
    asked = asked + 1;
    while (answered != asked)
        sched_yield();
}

// What is in the ring: whole records, none open, as many as the counts say.
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

// The trace point. Returns whether it was left.
static __attribute__((noinline)) bool pass(void)
{
    if (variant.told ? sigsetjmp(back, 1) : __builtin_setjmp(plain_back))
        return true;
    report->armed = 1;
    raise(SIGSTOP); // from here on step by step
    event(40);
    report->armed = 0;
    return false;
}

static void run_round(void)
{
    uint32_t before = counted();
    report->jumped = pass();
    if (!variant.told)
        event(44); // finds what was left
    report->counted = counted() - before - !variant.told;
    report->wrong = !is_sound() || ring_get(stream.object, 80);
    before = counted();
    ask();
    event(44);
    report->wrong |= counted() - before != 2 || !is_sound();
    report->round++;
}

static void bind_stream(void)
{
    const struct ringside_trace_bind bind = {variant.policy, WORDS, 64, false, "jumps"};
    struct ringside_trace_object *object;
    size_t length;
    unsigned number;
    event(40);
    if (ringside_trace_object_open(0, true, &object) ||
        ringside_trace_object_bind(object, &bind, &number))
        _exit(2);
    uint8_t *bytes = ringside_trace_object_bytes(object, &length);
    stream = ring_stream(bytes, number);
    ring_set(stream.block, RING_WANTED, 3);
    ring_set(stream.block, RING_REQUEST, ring_of(stream, RING_REQUEST) + 1);
    ring_set(bytes, 20, UINT32_MAX);
    ringside_trace_object_attend(object);
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER};
    action.sa_flags |= variant.apart ? SA_ONSTACK : 0;
    sigaction(number, &action, NULL);
}

static void run_child(void)
{
    stack_t own = {.ss_sp = malloc(1 << 17), .ss_size = 1 << 17};
    pthread_t other;
    alarm(100);
    bind_stream();
    if (variant.apart)
        sigaltstack(&own, NULL);
    handle(SIGUSR2, on_first);
    handle(SIGUSR1, on_second);
    pthread_create(&other, NULL, answer, NULL);
    for (unsigned k = 0; k < 100; k++)
        event(40); // the ring is full
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) {
        fprintf(stderr, "test_jumps: ptrace: not allowed here\n");
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

static void await_stop(pid_t child, int number)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(WSTOPSIG(status), number);
}

static void step(pid_t child, long number)
{
    assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)number), 0);
    await_stop(child, SIGTRAP);
}

static void go_on(pid_t child, long number)
{
    assert_int_equal(ptrace(PTRACE_CONT, child, NULL, (void *)number), 0);
}

static pid_t begin_child(void)
{
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(report, MAP_FAILED);
    pid_t child = fork();
    if (!child)
        run_child();
    await_stop(child, SIGSTOP);
    assert_int_equal(ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_EXITKILL), 0);
    return child;
}

static void end_child(pid_t child)
{
    int status;
    report->finish = 1;
    go_on(child, 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    munmap(report, sizeof *report);
}

// A trace point's instructions, and those around it.
static unsigned length_of(pid_t child)
{
    unsigned steps = 0;
    for (; report->armed; steps++)
        step(child, 0);
    assert_in_range(steps, 50, MANY);
    go_on(child, 0);
    await_stop(child, SIGSTOP);
    assert_false(report->jumped || report->wrong);
    return steps;
}

static void jump_after(pid_t child, unsigned steps, unsigned length)
{
    for (unsigned k = 0; k < steps; k++)
        step(child, 0);
    if (variant.two) {
        step(child, SIGUSR2);
        for (unsigned k = steps * 7919 % length; k > 0 && report->armed; k--)
            step(child, 0);
    }
    go_on(child, SIGUSR1);
    await_stop(child, SIGSTOP);
    assert_false(report->wrong);
}

static void jump_from_everywhere(struct variant v)
{
    variant = v;
    pid_t child = begin_child();
    unsigned length = length_of(child), least = 0, jumps = 0;
    for (unsigned steps = v.begin; steps < length; steps += 1 + length / ROUNDS) {
        jump_after(child, steps, length);
        if (!report->jumped) // this one was short
            continue;
        jumps++;
        assert_in_range(report->counted, least, variant.most);
        if (!variant.two)
            least = report->counted; // what has begun does not end otherwise
    }
    assert_true(jumps > 50 && (variant.two || least == variant.most));
    end_child(child);
}

static void test_siglongjmp(void **state)
{
    (void)state;
    jump_from_everywhere((struct variant){POSIX_TRACE_LOOP, .told = true, .most = 1});
}

static void test_own_stack(void **state)
{
    (void)state;
    jump_from_everywhere((struct variant){POSIX_TRACE_LOOP, true, .apart = true, .traces = true,
                                          .most = 2, .begin = 1});
}

static void test_untold(void **state)
{
    (void)state;
    jump_from_everywhere((struct variant){POSIX_TRACE_LOOP, .most = 1, .begin = 2});
}

static void test_untold_own_stack(void **state)
{
    (void)state;
    jump_from_everywhere(
        (struct variant){POSIX_TRACE_LOOP, .apart = true, .traces = true, .most = 2, .begin = 3});
}

static void test_refused(void **state)
{
    (void)state;
    jump_from_everywhere(
        (struct variant){POSIX_TRACE_UNTIL_FULL, .told = true, .most = 1, .begin = 4});
}

// The jump is out of a handler that interrupted the trace point, its queue, or what writes that.
static void test_two_handlers(void **state)
{
    (void)state;
    jump_from_everywhere((struct variant){POSIX_TRACE_LOOP, .told = true, .two = true, .most = 2});
}

static void test_two_handlers_untold(void **state)
{
    (void)state;
    jump_from_everywhere((struct variant){POSIX_TRACE_LOOP, .two = true, .most = 2, .begin = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_siglongjmp),
        cmocka_unit_test(test_own_stack),
        cmocka_unit_test(test_untold),
        cmocka_unit_test(test_untold_own_stack),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_two_handlers),
        cmocka_unit_test(test_two_handlers_untold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
