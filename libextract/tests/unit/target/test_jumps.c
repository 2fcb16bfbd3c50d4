// SPDX-License-Identifier: MIT
// unit: a signal handler that leaves a trace point by a jump, from any instruction of it. A child
// runs the trace point step by step under ptrace, and then gets the signal. Each test begins with
// another instruction and continues in strides, so that together the tests meet all instructions.
//
// The recorder repairs whatever was left: nobody hangs, and records are complete. From one
// instruction on, the event is recorded or counted as refused, exactly once. A stream that was
// about to start or to change does so at the next trace points. Calls that register a name or carry
// out a request behave alike.
//
// The jump is siglongjmp, which tells the recorder, or the compiler's own, which does not. In the
// second case, the thread's next trace point finds what was left.
#include "target/ports/linux.h"
#include "target/linux_object.h"
#include "tests/unit/samples.h"
#include "tests/unit/target/host_object.h"
#include "tests/unit/target/ring_reader.h"
#include "tests/unit/target/stepping.h"
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
    void (*prepare)(void); // runs before each call; NULL: nothing
    void (*call)(void);    // the call that the jump leaves; NULL: a trace point
    bool misses;           // another event must be counted, too
    bool full;             // the stream is full, and nobody reads it
    bool told;             // the jump is siglongjmp
    bool traces;           // the handler passes a trace point before it jumps
    bool apart;            // the handler runs on a stack of its own
    bool two;              // another signal comes first, and its handler traces
    unsigned most;         // the most events in a round
    unsigned begin;        // steps in the first round
};

// The child's report of its last round.
struct report {
    volatile uint32_t jumped, counted, wrong, round, finish, armed;
};

static struct variant variant;
static struct report *report;

// ---- the child ----

static sigjmp_buf back;
static void *plain_back[5];
static struct ring_stream stream, other;
static struct ringside_trace_object *object;
static volatile uint32_t asked, answered;
static uint32_t head_before, refused_before;

static void begin_count(void)
{
    head_before = ring_of(stream, RING_HEAD);
    refused_before = ring_of(stream, RING_REFUSED);
}

// Returns the number of user events since begin_count(). The ring still contains all that were
// recorded.
static uint32_t counted(void)
{
    struct ring_record r[WORDS / 8];
    uint32_t count = ring_of(stream, RING_REFUSED) - refused_before;
    int there = ring_records(stream, r, WORDS / 8);
    for (int k = 0; k < there; k++)
        count +=
            r[k].id >= POSIX_TRACE_UNNAMED_USEREVENT && (int32_t)(r[k].position - head_before) >= 0;
    return count;
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

// Another thread, which continues whatever the jump has left.
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

// Returns whether the ring contains only complete records, none of them open, and as many as the
// counts say. Those that were read before they were overwritten are in no count.
static bool is_sound(struct ring_stream s)
{
    struct ring_record r[WORDS / 8];
    int there = ring_records(s, r, WORDS / 8);
    for (int k = 0; k < there; k++)
        if (r[k].open)
            return false;
    uint32_t gone = ring_of(s, RING_RECORDED) - (uint32_t)there - ring_of(s, RING_OVERWRITTEN);
    return there >= 0 && (ring_of(s, RING_READ) ? gone <= INT32_MAX : !gone);
}

// Returns whether the recorder has carried out all requests.
static bool is_done(struct ring_stream s, uint32_t state)
{
    uint32_t ids = ring_get(s.object, 64);
    return ring_of(s, RING_REQUEST) == ring_of(s, RING_DONE) && ring_of(s, RING_STATE) == state &&
           !memcmp(s.block + RING_FILTER, s.block + RING_FILTER + ids / 8, ids / 8);
}

// Asks for another filter. It changes a type that nobody records.
static void ask_filter(struct ring_stream s)
{
    uint32_t at = RING_FILTER + ring_get(s.object, 64) / 8 + 2 * 4;
    ring_set(s.block, at, ring_of(s, at) ^ 1);
    ring_set(s.block, RING_REQUEST, ring_of(s, RING_REQUEST) + 1);
    ring_set((uint8_t *)(uintptr_t)s.object, 20, UINT32_MAX);
}

// ---- what a round prepares and calls ----

static void read_all_of_full(void)
{
    while (ring_of(stream, RING_STATE) == 3)
        event(40);
    ring_set(stream.block, RING_READ, ring_of(stream, RING_HEAD));
}

static void ask_other(void)
{
    ask_filter(other);
}

static void ask_this(void)
{
    ask_filter(stream);
}

// Acts as if another holder of the lock had made an event miss the ring.
static void miss_one(void)
{
    struct ringside_stream *s = (struct ringside_stream *)(void *)stream.block;
    s->missed++;
    ring_set((uint8_t *)(uintptr_t)stream.object, 20, UINT32_MAX);
}

static void attend(void)
{
    ringside_trace_object_attend(object);
}

static void open_name(void)
{
    trace_event_id_t id;
    (void)posix_trace_eventid_open("a name", &id);
}

// Empties the table of names, so that all rounds are alike.
static void forget_names(void)
{
    ring_set((uint8_t *)(uintptr_t)stream.object, 48, 1);
}

// Returns whether names can still be registered.
static bool has_names(void)
{
    trace_event_id_t id, same;
    return !posix_trace_eventid_open("a name", &id) && !posix_trace_eventid_open("a name", &same) &&
           id == same && id == POSIX_TRACE_UNNAMED_USEREVENT + 1;
}

static void trace(void)
{
    event(40);
}

// Makes the call. Returns whether a jump left it.
static __attribute__((noinline)) bool pass(void)
{
    if (variant.told ? sigsetjmp(back, 1) : __builtin_setjmp(plain_back))
        return true;
    report->armed = 1;
    raise(SIGSTOP); // the parent steps from here on
    variant.call();
    report->armed = 0;
    return false;
}

static void run_round(void)
{
    if (variant.prepare)
        variant.prepare();
    begin_count();
    report->jumped = pass();
    if (!variant.told)
        event(44); // finds what the jump left
    report->counted = counted() - !variant.told;
    report->wrong = !is_sound(stream) || ring_get(stream.object, 80);
    uint32_t before = variant.misses && report->counted ? 2 : variant.misses;
    if (!variant.misses)
        begin_count();
    ask();
    event(44);
    report->wrong |= counted() - before != 2 || !is_sound(stream) || !is_sound(other) ||
                     !is_done(stream, variant.full ? 5 : 3) || !is_done(other, 3) || !has_names();
    report->round++;
}

static struct ring_stream bind_stream(int policy)
{
    const struct ringside_trace_bind bind = {policy, WORDS, 64, false, "jumps"};
    size_t length;
    unsigned number;
    if (ringside_trace_object_bind(object, &bind, &number))
        _exit(2);
    uint8_t *bytes = map_object(0, &length);
    struct ring_stream s = ring_stream(bytes, number);
    ring_set(s.block, RING_WANTED, 3);
    ring_set(s.block, RING_REQUEST, ring_of(s, RING_REQUEST) + 1);
    ring_set(bytes, 20, UINT32_MAX);
    ringside_trace_object_attend(object);
    return s;
}

static void bind_streams(void)
{
    event(40);
    if (ringside_trace_object_open(0, true, &object))
        _exit(2);
    stream = bind_stream(variant.policy);
    other = bind_stream(POSIX_TRACE_LOOP);
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER};
    action.sa_flags |= variant.apart ? SA_ONSTACK : 0;
    sigaction(number, &action, NULL);
}

static void be_traced(void)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) {
        fprintf(stderr, "test_jumps: ptrace: not allowed here\n");
        _exit(3);
    }
}

static void end(int status)
{
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/ringside-posix.%d", (int)getpid());
    unlink(path);
    _exit(status);
}

static void run_child(void)
{
    stack_t own = {.ss_sp = malloc(1 << 17), .ss_size = 1 << 17};
    pthread_t thread;
    alarm(100);
    bind_streams();
    if (variant.apart)
        sigaltstack(&own, NULL);
    handle(SIGUSR2, on_first);
    handle(SIGUSR1, on_second);
    pthread_create(&thread, NULL, answer, NULL);
    for (unsigned k = 0; k < 100; k++)
        event(40); // fills the ring
    be_traced();
    while (!report->finish)
        run_round();
    end(0);
}

// The child makes its first call before any stream exists, so that it searches for its object.
static void run_new_child(void)
{
    alarm(100);
    handle(SIGUSR1, on_second);
    be_traced();
    report->jumped = pass();
    bind_streams();
    begin_count();
    event(40);
    end(counted() != 1 || !is_sound(stream) || !is_done(stream, 3) || !has_names());
}

// ---- the parent ----

static pid_t begin_child(void (*run)(void))
{
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(report, MAP_FAILED);
    return begin_stepping(run);
}

// Continues a child with signal `number` to its end.
static void end_child(pid_t child, long number)
{
    report->finish = 1;
    end_stepping(child, number);
    munmap(report, sizeof *report);
}

// Returns the number of instructions of a trace point and of the code around it.
static unsigned length_of(pid_t child)
{
    unsigned steps = 0;
    for (; report->armed; steps++)
        step(child, 0);
    assert_in_range(steps, 50, MANY);
    go_on(child, 0);
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
    assert_false(report->wrong);
}

static void jump_from_everywhere(struct variant v)
{
    variant = v;
    if (!v.call)
        variant.call = trace;
    pid_t child = begin_child(run_child);
    unsigned length = MANY, least = 0, jumps = 0;
    for (int i = 0; i < 3; i++) { // a call may be longer, as when a clock is read again
        unsigned own = length_of(child);
        length = own < length ? own : length;
    }
    unsigned rounds = sample_step() > 1 ? ROUNDS / 2 : ROUNDS;
    // A call that is longer than the least one goes on after that number of instructions.
    for (unsigned steps = v.begin;
         steps < length || (!v.two && least < v.most && steps < 2 * length);
         steps += 1 + length / rounds) {
        jump_after(child, steps, length);
        if (!report->jumped) // the call ended before the signal
            continue;
        jumps++;
        assert_in_range(report->counted, least, variant.most);
        if (!variant.two)
            least = report->counted; // jumps from later instructions count no fewer events
    }
    assert_true(jumps > (rounds == ROUNDS ? 50 : 25) && (variant.two || least == variant.most));
    end_child(child, 0);
}

static void test_siglongjmp(void **state)
{
    (void)state;
    jump_from_everywhere((struct variant){POSIX_TRACE_LOOP, .told = true, .most = 1});
}

static void test_own_stack(void **state)
{
    (void)state;
    jump_from_everywhere((struct variant){POSIX_TRACE_LOOP, .told = true, .apart = true,
                                          .traces = true, .most = 2, .begin = 1});
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
    jump_from_everywhere((struct variant){POSIX_TRACE_UNTIL_FULL, .full = true, .told = true,
                                          .most = 1, .begin = 4});
}

// The handler that jumps has interrupted the trace point, the queue, or the code that writes queued
// events.
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

// The trace point starts the stream again, since all records were read.
static void test_starting(void **state)
{
    (void)state;
    jump_from_everywhere((struct variant){POSIX_TRACE_UNTIL_FULL, .prepare = read_all_of_full,
                                          .told = true, .most = 1});
}

// The trace point carries out a request to the next stream before it records in the first one.
static void test_request_to_another(void **state)
{
    (void)state;
    jump_from_everywhere((struct variant){POSIX_TRACE_LOOP, .prepare = ask_other, .told = true,
                                          .most = 1, .begin = 5});
}

static void test_request(void **state)
{
    (void)state;
    jump_from_everywhere((struct variant){POSIX_TRACE_LOOP, .prepare = ask_this, .told = true,
                                          .most = 1, .begin = 6});
}

// The event that missed the ring is counted once, no matter when.
static void test_missed(void **state)
{
    (void)state;
    jump_from_everywhere((struct variant){POSIX_TRACE_LOOP, .prepare = miss_one, .misses = true,
                                          .told = true, .most = 2, .begin = 7});
}

static void test_controller(void **state)
{
    (void)state;
    jump_from_everywhere(
        (struct variant){POSIX_TRACE_LOOP, .prepare = ask_this, .call = attend, .told = true});
}

static void test_name(void **state)
{
    (void)state;
    jump_from_everywhere((struct variant){POSIX_TRACE_LOOP, .prepare = forget_names,
                                          .call = open_name, .told = true, .begin = 1});
}

static void test_first_call(void **state)
{
    static const unsigned after[] = {10, 100, 500, 2000, 5000, 10000, 20000, 40000};
    unsigned jumps = 0;
    (void)state;
    variant = (struct variant){POSIX_TRACE_LOOP, .call = open_name, .told = true};
    for (unsigned k = 0; k < sizeof after / sizeof *after; k++) {
        pid_t child = begin_child(run_new_child);
        for (unsigned n = 0; n < after[k] && (n < after[0] || report->armed); n++)
            step(child, 0);
        jumps += report->armed;
        end_child(child, SIGUSR1);
    }
    assert_in_range(jumps, 4, sizeof after / sizeof *after);
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
        cmocka_unit_test(test_starting),
        cmocka_unit_test(test_request_to_another),
        cmocka_unit_test(test_request),
        cmocka_unit_test(test_missed),
        cmocka_unit_test(test_controller),
        cmocka_unit_test(test_name),
        cmocka_unit_test(test_first_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
