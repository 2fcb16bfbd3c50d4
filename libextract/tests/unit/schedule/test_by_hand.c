// SPDX-License-Identifier: MIT
// unit: schedules of small ThreadX rings, of which each says what a thread, a core or a mutex did.
//
// Truth: by hand, from what the kernel does between the calls that the entries show. A resumption
// is recorded before the kernel changes threads, so that the next thread has the core from there
// on.
#include "tests/unit/ring_builder.h"
#include <extract/schedule.h>
#include <extract/stats.h>
#include <extract/why.h>

enum { A = RING_FIRST_THREAD, B = A + RING_THREAD_BYTES, C = B + RING_THREAD_BYTES };
enum { MUTEX = 0x20004600, QUEUE = 0x20004700 };
enum { RESUME = 1, SUSPEND, ISR_ENTER, ISR_EXIT, MUTEX_CREATE = 50, MUTEX_DELETE, MUTEX_GET };
enum { MUTEX_PUT = 57, QUEUE_SEND = 69, CHANGE_PRIORITY = 108, SLEEP = 112, TERMINATE = 115 };
enum { ABORT = 117, USER = 4096 };
enum { FOREVER = 0xFFFFFFFF, MAX_PARTS = 64 };

static struct ring_image image;
static struct look look;
static struct extract_interval intervals[MAX_PARTS];
static struct extract_state states[MAX_PARTS];
static struct extract_ownership owners[MAX_PARTS];
static struct extract_response responses[MAX_PARTS];
static size_t interval_count, state_count, owner_count, response_count;

static void begin(void)
{
    ring_build_threads(&image);
}

// Begins a ring whose registry has the threads, a mutex, and space for one more object.
static void begin_with_mutex(uint64_t inherits)
{
    struct ring_spec spec = ring_plain;

    spec.entries = 32;
    spec.objects = 5;
    ring_build(&image, &spec);
    for (unsigned i = 0; i < RING_THREADS; i++)
        ring_register(
            &image, i,
            &(struct ring_object){.type = 1, .address = A + RING_THREAD_BYTES * i, .name = ""});
    ring_register(
        &image, RING_THREADS,
        &(struct ring_object){.type = 5, .address = MUTEX, .param1 = inherits, .name = "mutex"});
}

// Adds an entry of a thread, or of an interrupt that a thread's word follows.
static void add(uint64_t stamp, uint64_t thread, uint64_t id, uint64_t i1, uint64_t i2, uint64_t i3,
                uint64_t i4)
{
    static const unsigned priorities[] = {20, 15, 5};
    uint64_t own = priorities[(thread - A) / 0x200 % 3];
    uint64_t word = thread == RING_IN_ISR ? 0 : UINT64_C(1) << 31 | own << 16 | own;

    ring_insert(&image, &(struct ring_entry){thread, word, id, stamp, {i1, i2, i3, i4}});
}

// Adds an interrupt during which a thread of the last entry becomes ready and gets the core.
static void add_wake(uint64_t stamp, uint64_t interrupted, uint64_t thread, uint64_t was)
{
    const struct ring_entry entries[] = {
        {RING_IN_ISR, interrupted, ISR_ENTER, stamp, {0, 7, 1, 0}},
        {RING_IN_ISR, interrupted, RESUME, stamp + 2, {thread, was, 0, thread}},
        {RING_IN_ISR, interrupted, ISR_EXIT, stamp + 4, {0, 7, 1, 0}}};

    for (size_t i = 0; i < 3; i++)
        ring_insert(&image, &entries[i]);
}

static void add_interval(void *context, const struct extract_interval *interval)
{
    (void)context;
    assert_true(interval_count < MAX_PARTS);
    intervals[interval_count++] = *interval;
}

static void add_state(void *context, const struct extract_state *state)
{
    (void)context;
    assert_true(state_count < MAX_PARTS);
    states[state_count++] = *state;
}

static void add_owner(void *context, const struct extract_ownership *owner)
{
    (void)context;
    assert_true(owner_count < MAX_PARTS);
    owners[owner_count++] = *owner;
}

static void add_response(void *context, const struct extract_response *response)
{
    (void)context;
    assert_true(response_count < MAX_PARTS);
    responses[response_count++] = *response;
}

static void end(void)
{
    const struct extract_schedule_sink sink = {
        .interval = add_interval, .state = add_state, .owner = add_owner, .response = add_response};

    interval_count = state_count = owner_count = response_count = 0;
    look_open(&look, &image);
    assert_int_equal(extract_schedule_run(NULL, look.trace, &sink, NULL), EXTRACT_OK);
}

static const struct extract_state *state_at(uint64_t thread, uint64_t at)
{
    for (size_t i = 0; i < state_count; i++)
        if (states[i].thread == thread && states[i].from <= at && at < states[i].to)
            return &states[i];
    fail_msg("no state of 0x%llx at %llu", (unsigned long long)thread, (unsigned long long)at);
    return NULL;
}

static const struct extract_interval *interval_at(uint64_t at)
{
    for (size_t i = 0; i < interval_count; i++)
        if (intervals[i].from <= at && at < intervals[i].to)
            return &intervals[i];
    fail_msg("nothing has the core at %llu", (unsigned long long)at);
    return NULL;
}

enum { UNKNOWN_OWNER = 1 };

// Returns the owner of the mutex, or of an earlier one at its address; 0: nobody.
static uint64_t owner_at(uint64_t at)
{
    uint64_t owner = UNKNOWN_OWNER;

    for (size_t i = 0; i < owner_count; i++) {
        if (extract_trace_address(look.trace, owners[i].mutex) != MUTEX || owners[i].from > at ||
            at >= owners[i].to)
            continue;
        assert_int_equal(owner, UNKNOWN_OWNER); // it has one owner at a time
        owner = owners[i].thread;
    }
    return owner;
}

// A has released the mutex, and is interrupted before its next entry. Meanwhile, C deletes the
// mutex, and creates and gets one at the same address.
static void test_mutex_is_deleted_after_a_release(void **state)
{
    (void)state;
    begin();
    add(0, A, MUTEX_GET, MUTEX, 0, 0, 0);
    add(100, A, MUTEX_PUT, MUTEX, A, 1, 0);
    add_wake(110, A, C, 3);
    add(200, C, MUTEX_DELETE, MUTEX, 0, 0, 0);
    add(210, C, MUTEX_CREATE, MUTEX, 0, 0, 0);
    add(300, C, MUTEX_GET, MUTEX, 0, 0, 0);
    add(600, C, SLEEP, 5, 0, 0, 0);
    add(601, C, SUSPEND, C, 4, 0, A);
    add(700, A, USER, 1, 0, 0, 0);
    add(1100, A, USER, 2, 0, 0, 0);
    end();
    assert_int_equal(owner_at(99), A);
    assert_int_equal(owner_at(150), UNKNOWN_OWNER); // a thread of which nothing is seen may wait
    assert_int_equal(owner_at(250), 0);
    assert_int_equal(owner_at(300), C);
    assert_int_equal(owner_at(1099), C);
    look_close(&look);
}

// B terminates A, which sleeps; the kernel releases A's mutex in the context of B.
static void test_termination_releases_a_mutex(void **state)
{
    (void)state;
    begin();
    add(0, A, MUTEX_GET, MUTEX, 0, 0, 0);
    add(50, A, SLEEP, 5, 0, 0, 0);
    add(51, A, SUSPEND, A, 4, 0, B);
    add(60, B, TERMINATE, A, 4, 0, 0);
    add(62, B, MUTEX_PUT, MUTEX, A, 1, 0);
    add(100, B, USER, 1, 0, 0, 0);
    add(200, B, USER, 2, 0, 0, 0);
    end();
    assert_int_equal(owner_at(61), A);
    assert_int_equal(owner_at(62), 0);
    assert_int_equal(owner_at(199), 0);
    assert_int_equal(state_at(A, 150)->state, EXTRACT_STATE_TERMINATED);
    look_close(&look);
}

// B puts a mutex that A owns: that fails, and changes nothing.
static void test_only_the_owner_releases_a_mutex(void **state)
{
    (void)state;
    begin();
    add(0, A, MUTEX_GET, MUTEX, 0, 0, 0);
    add(50, A, SLEEP, 5, 0, 0, 0);
    add(51, A, SUSPEND, A, 4, 0, B);
    add(62, B, MUTEX_PUT, MUTEX, A, 1, 0);
    add(100, B, USER, 1, 0, 0, 0);
    add(200, B, USER, 2, 0, 0, 0);
    end();
    assert_int_equal(owner_at(199), A);
    look_close(&look);
}

// A terminates itself. It still has the core while the kernel hands its mutex over to B.
static void test_thread_ends_with_a_mutex(void **state)
{
    (void)state;
    begin();
    add(0, A, MUTEX_GET, MUTEX, 0, 0, 0);
    add(50, A, SLEEP, 5, 0, 0, 0);
    add(51, A, SUSPEND, A, 4, 0, B);
    add(60, B, MUTEX_GET, MUTEX, FOREVER, A, 1);
    add(61, B, SUSPEND, B, 13, 0, 0);
    add_wake(100, 0, A, 4);
    add(200, A, TERMINATE, A, 0, 0, 0);
    add(201, A, SUSPEND, A, 2, 0, 0);
    add(202, A, MUTEX_PUT, MUTEX, A, 1, 0);
    add(203, A, RESUME, B, 13, 0, B);
    add(300, B, USER, 1, 0, 0, 0);
    add(400, B, USER, 2, 0, 0, 0);
    end();
    assert_int_equal(interval_at(202)->thread, A);
    assert_int_equal(state_at(A, 202)->state, EXTRACT_STATE_TERMINATED);
    assert_int_equal(state_at(A, 399)->state, EXTRACT_STATE_TERMINATED);
    assert_int_equal(state_at(B, 202)->state, EXTRACT_STATE_BLOCKED);
    assert_int_equal(owner_at(202), A);
    assert_int_equal(owner_at(203), B);
    look_close(&look);
}

// A sends to a queue for which nobody waits, and yields later by a call that is not recorded. When
// B got the core is not known before B's entry.
static void test_switch_without_an_entry(void **state)
{
    (void)state;
    begin();
    add(0, C, SUSPEND, C, 3, 0, A);
    add(50, A, USER, 1, 0, 0, 0);
    add(100, A, QUEUE_SEND, QUEUE, 0, 0, 0);
    add(900, B, USER, 2, 0, 0, 0);
    add(1000, B, USER, 3, 0, 0, 0);
    end();
    assert_false(interval_at(99)->is_unsure);
    assert_true(interval_at(100)->is_unsure);
    assert_false(interval_at(900)->is_unsure);
    assert_true(state_at(A, 500)->is_unsure);
    assert_true(state_at(B, 500)->is_unsure);
    assert_int_equal(state_at(B, 950)->state, EXTRACT_STATE_RUNNING);
    assert_false(state_at(B, 950)->is_unsure);
    assert_false(state_at(A, 950)->is_unsure);
    look_close(&look);
}

// An interrupt suspends A. Which thread has the core then is not known, but A is suspended.
static void test_suspension_is_certain(void **state)
{
    const struct ring_entry suspension = {RING_IN_ISR, A, SUSPEND, 100, {A, 3, 0, B}};

    (void)state;
    begin();
    add(0, A, USER, 1, 0, 0, 0);
    ring_insert(&image, &suspension);
    add(900, C, USER, 2, 0, 0, 0);
    add(1000, C, USER, 3, 0, 0, 0);
    end();
    assert_int_equal(state_at(A, 500)->state, EXTRACT_STATE_SUSPENDED);
    assert_false(state_at(A, 500)->is_unsure);
    look_close(&look);
}

// A thread sleeps, but no call for it is recorded: other calls about threads are missing, too. If
// another thread comes between, nothing shows what the thread called last.
static void test_calls_about_threads_are_left_out(void **state)
{
    (void)state;
    enum { CALL, NO_CALL, OTHER_BETWEEN };
    for (int kind = CALL; kind <= OTHER_BETWEEN; kind++) {
        begin();
        add(0, A, MUTEX_GET, MUTEX, 0, 0, 0);
        if (kind == CALL)
            add(1, A, SLEEP, 5, 0, 0, 0);
        if (kind == OTHER_BETWEEN)
            add(1, B, USER, 1, 0, 0, 0);
        add(2, A, SUSPEND, A, 4, 0, B);
        add(40, B, USER, 1, 0, 0, 0);
        add(50, B, MUTEX_PUT, MUTEX, A, 1, 0); // it fails, unless A was terminated
        add(60, B, USER, 1, 0, 0, 0);
        end();
        assert_int_equal(interval_at(45)->is_unsure, kind == NO_CALL);
        assert_int_equal(state_at(A, 45)->is_unsure, kind == NO_CALL);
        assert_int_equal(state_at(A, 45)->state, EXTRACT_STATE_SLEEPING);
        assert_int_equal(owner_at(45), A);
        assert_int_equal(owner_at(55), kind == NO_CALL ? UNKNOWN_OWNER : A);
        look_close(&look);
    }
}

// The ring begins while B waits for a queue. The call that ends the wait states it; the resumption
// that follows does not.
static void test_wait_is_ended_by_a_call(void **state)
{
    (void)state;
    begin();
    add(0, A, USER, 1, 0, 0, 0);
    add(900, A, ABORT, B, 5, 0, 0);
    add(905, A, RESUME, B, 3, 0, B);
    add(1000, B, USER, 1, 0, 0, 0);
    end();
    assert_int_equal(state_at(B, 500)->state, EXTRACT_STATE_BLOCKED);
    assert_string_equal(state_at(B, 500)->wait, "queue");
    look_close(&look);
}

// A call to end a wait is followed by no resumption in its context: that of an interrupt is another
// one, which states what it ends.
static void test_call_that_ends_no_wait(void **state)
{
    (void)state;
    begin();
    add(0, A, USER, 1, 0, 0, 0);
    add(10, A, ABORT, B, 5, 0, 0);
    add(20, A, SLEEP, 5, 0, 0, 0);
    add(21, A, SUSPEND, A, 4, 0, 0);
    add_wake(30, 0, B, 3);
    add(100, B, USER, 1, 0, 0, 0);
    add(200, B, USER, 2, 0, 0, 0);
    end();
    assert_int_equal(state_at(B, 5)->state, EXTRACT_STATE_SUSPENDED);
    look_close(&look);
}

// A (20) owns the mutex, for which B (15) and then C (5) wait. A hands it over to B.
static void add_two_waiters(uint64_t third_runs)
{
    begin();
    add(0, A, MUTEX_GET, MUTEX, 0, 0, 0);
    add_wake(10, A, B, 3);
    add(20, B, MUTEX_GET, MUTEX, FOREVER, A, 1);
    add(21, B, SUSPEND, B, 13, 0, A);
    add_wake(30, A, C, 3);
    add(40, C, MUTEX_GET, MUTEX, FOREVER, A, 1);
    add(41, C, SUSPEND, C, 13, 0, A);
    add(100, A, MUTEX_PUT, MUTEX, A, 1, 0);
    add(101, A, RESUME, B, 13, 0, B);
    if (third_runs) {
        add(600, B, SLEEP, 1, 0, 0, 0);
        add(601, B, SUSPEND, B, 4, 0, A);
        add_wake(601 + third_runs, A, B, 4);
    }
    add(1100, B, MUTEX_PUT, MUTEX, B, 1, 0);
    add(1101, B, RESUME, C, 13, 0, C);
    add(1200, C, USER, 1, 0, 0, 0);
    add(1300, C, USER, 2, 0, 0, 0);
}

// Returns the statistics of the ring, which the caller frees.
static struct extract_stats *count(void)
{
    struct extract_view *view;
    struct extract_stats *stats;

    assert_int_equal(extract_view_new(&view, NULL, look.trace, 0, NULL), EXTRACT_OK);
    assert_int_equal(extract_stats_new(&stats, view, look.trace, NULL), EXTRACT_OK);
    extract_view_free(view);
    return stats;
}

// The thread that a mutex is handed over to owns it: that it runs is no inversion. That A runs
// while B has the mutex is one.
static void test_inversion_follows_the_owner(void **state)
{
    enum { RUNS = 80 };

    (void)state;
    for (unsigned runs = 0; runs <= RUNS; runs += RUNS) {
        add_two_waiters(runs);
        end();
        assert_int_equal(owner_at(100), A);
        assert_int_equal(owner_at(101), B);
        struct extract_stats *stats = count();
        assert_int_equal(stats->inversion_count, runs ? 1 : 0);
        if (runs) {
            assert_int_equal(stats->inversions[0].ticks, RUNS);
            assert_int_equal(stats->inversions[0].waiter, C);
            assert_int_equal(stats->inversions[0].holder, B);
            assert_int_equal(stats->inversions[0].third, A);
            assert_false(stats->inversions[0].is_least);
        }
        extract_stats_free(stats);
        look_close(&look);
    }
}

// C (5) waits for the mutex of A (20), and B (15) runs for 50 ticks and then for 30. In between, B
// gives A a priority. A less urgent one need not be in force, since A may have inherited another.
static void test_priority_changes_during_a_wait(void **state)
{
    static const struct {
        uint64_t priority, ticks;
        bool is_least;
    } changes[] = {{25, 50, true}, {10, 80, false}, {4, 50, false}};

    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        begin();
        add(0, A, MUTEX_GET, MUTEX, 0, 0, 0);
        add_wake(10, A, B, 3);
        add(16, B, USER, 1, 0, 0, 0);
        add_wake(18, B, C, 3);
        add(28, C, MUTEX_GET, MUTEX, FOREVER, A, 1);
        add(29, C, SUSPEND, C, 13, 0, B);
        add(79, B, CHANGE_PRIORITY, A, changes[i].priority, 20, 0);
        add(109, B, SUSPEND, B, 3, 0, A);
        add(110, A, MUTEX_PUT, MUTEX, A, 1, 0);
        add(111, A, RESUME, C, 13, 0, C);
        add(120, C, USER, 1, 0, 0, 0);
        end();
        struct extract_stats *stats = count();
        assert_int_equal(stats->inversion_count, 1);
        assert_int_equal(stats->inversions[0].ticks, changes[i].ticks);
        assert_int_equal(stats->inversions[0].is_least, changes[i].is_least);
        extract_stats_free(stats);
        look_close(&look);
    }
}

// No mutex of the registry lets threads inherit priorities. A lower priority is then in force at
// once.
static void test_no_mutex_inherits(void **state)
{
    (void)state;
    for (uint64_t inherits = 0; inherits < 2; inherits++) {
        begin_with_mutex(inherits);
        add(0, A, MUTEX_GET, MUTEX, 0, 0, 0);
        add_wake(10, A, B, 3);
        add(16, B, USER, 1, 0, 0, 0);
        add_wake(18, B, C, 3);
        add(28, C, MUTEX_GET, MUTEX, FOREVER, A, 1);
        add(29, C, SUSPEND, C, 13, 0, B);
        add(79, B, CHANGE_PRIORITY, A, 25, 20, 0);
        add(109, B, SUSPEND, B, 3, 0, A);
        add(110, A, MUTEX_PUT, MUTEX, A, 1, 0);
        add(111, A, RESUME, C, 13, 0, C);
        add(120, C, USER, 1, 0, 0, 0);
        end();
        struct extract_stats *stats = count();
        assert_int_equal(stats->inversion_count, 1);
        assert_int_equal(stats->inversions[0].ticks, inherits ? 50 : 80);
        assert_int_equal(stats->inversions[0].is_least, inherits);
        extract_stats_free(stats);
        look_close(&look);
    }
}

// TraceX compares the priorities that events were recorded with, whatever a call has set since.
static void test_tracex_takes_recorded_priorities(void **state)
{
    (void)state;
    begin();
    add(0, A, MUTEX_GET, MUTEX, 0, 0, 0);
    add_wake(10, A, B, 3);
    add(20, B, CHANGE_PRIORITY, A, 25, 20, 0);
    add_wake(30, B, C, 3);
    add(40, C, MUTEX_GET, MUTEX, FOREVER, A, 1);
    add(41, C, SUSPEND, C, 13, 0, B);
    add(60, B, SUSPEND, B, 3, 0, A);
    add(70, A, MUTEX_PUT, MUTEX, A, 1, 0);
    add(71, A, RESUME, C, 13, 0, C);
    add(80, C, USER, 1, 0, 0, 0);
    end();
    struct extract_stats *stats = count();
    assert_int_equal(stats->inversions_deterministic + stats->inversions_undeterministic, 1);
    extract_stats_free(stats);
    look_close(&look);
}

// C (5) waits for the mutex of A (20). A call of B (15) shows that B owns it: the hand-over was not
// recorded, so that it is not known who owned the mutex before.
static void test_owner_is_unknown_during_a_wait(void **state)
{
    (void)state;
    begin();
    add(0, A, MUTEX_GET, MUTEX, 0, 0, 0);
    add_wake(10, A, B, 3);
    add(16, B, USER, 1, 0, 0, 0);
    add_wake(18, B, C, 3);
    add(28, C, MUTEX_GET, MUTEX, FOREVER, A, 1);
    add(29, C, SUSPEND, C, 13, 0, B);
    add(60, B, MUTEX_GET, MUTEX, FOREVER, B, 1);
    add(70, B, SUSPEND, B, 3, 0, A);
    add(100, A, USER, 1, 0, 0, 0);
    add(110, A, USER, 2, 0, 0, 0);
    end();
    struct extract_stats *stats = count();
    assert_int_equal(stats->inversion_count, 1);
    assert_true(stats->inversions[0].is_least);
    extract_stats_free(stats);
    look_close(&look);
}

// What a thread does that only releases a mutex, at the start of a trace whose beginning is
// missing, is not certain: it may have ended with the mutex. Any other event of it shows that it
// has not.
static void test_thread_may_have_ended_before(void **state)
{
    enum { SLOTS = 32 };
    (void)state;
    for (int is_alive = 0; is_alive < 2; is_alive++) {
        begin();
        for (unsigned i = 0; i < SLOTS; i++) // all of these are overwritten
            add(i, B, USER, 0, 0, 0, 0);
        add(100, A, MUTEX_PUT, MUTEX, A, 1, 0);
        add(110, A, MUTEX_PUT, MUTEX + 0x40, A, 1, 0);
        add(120, A, is_alive ? USER : MUTEX_PUT, MUTEX + 0x80, A, 1, 0);
        add(130, A, MUTEX_PUT, MUTEX + 0xC0, A, 1, 0);
        for (unsigned i = 5; i < SLOTS; i++)
            add(140 + i, B, USER, 0, 0, 0, 0);
        add(180, B, SUSPEND, B, 6, 0, 0);
        end();
        assert_int_equal(state_at(A, 5)->state, EXTRACT_STATE_RUNNING);
        assert_int_equal(state_at(A, 5)->is_unsure, !is_alive);
        assert_int_equal(state_at(A, 40)->state,
                         is_alive ? EXTRACT_STATE_READY : EXTRACT_STATE_UNKNOWN);
        look_close(&look);
    }
}

// B has core 0 and C has core 1, while A, which is ready, waits for a core. What had the core of A
// is known in a window that ends before A gets it. The second time, A is still ready at the end.
static void test_window_ends_before_a_core_is_free(void **state)
{
    (void)state;
    for (int gets_core = 1; gets_core >= 0; gets_core--) {
        begin();
        add(10, B, USER, 0, 0, 0, 0);
        add(12, C, USER | 1 << 24, 0, 0, 0, 0);
        add(20, B, RESUME, A, 6, 0, B);
        add(30, C, USER | 1 << 24, 0, 0, 0, 0);
        add(40, B, USER, 0, 0, 0, 0);
        if (gets_core) {
            add(100, B, SUSPEND, B, 6, 0, A);
            add(110, A, USER, 0, 0, 0, 0);
        }
        add(120, C, USER | 1 << 24, 0, 0, 0, 0);
        look_open(&look, &image);
        const struct extract_why_options options = {
            .size = sizeof options, .thread = "0x20004000", .from = "15", .to = "28"};
        struct extract_why *why;
        struct extract_error error;
        assert_int_equal(extract_why_new(&why, look.trace, &options, &error), EXTRACT_OK);
        assert_int_equal(why->segment_count, 1);
        const struct extract_segment *segment = &why->segments[0];
        assert_int_equal(segment->to - segment->from, 13);
        assert_int_equal(segment->kind,
                         gets_core ? EXTRACT_SEGMENT_PREEMPTED : EXTRACT_SEGMENT_UNKNOWN);
        assert_int_equal(segment->who, gets_core ? B : 0);
        assert_int_equal(segment->is_ready, !gets_core);
        extract_why_free(why);
        look_close(&look);
    }
}

// Adds what C does after a wake-up: it sleeps again.
static void add_sleep(uint64_t stamp)
{
    add(stamp, C, SLEEP, 5, 0, 0, 0);
    add(stamp + 2, C, SUSPEND, C, 4, 0, A);
}

// Time steps back from 1404 to 1300, within the second response of C. Its length is not known, nor
// is the time from its wake-up to the one before or after. The third response is whole, but since
// the times of states do not go back, when C got the core is not known. The last interrupt ends
// before it begins.
static void test_response_across_a_step_back(void **state)
{
    static const uint64_t from[] = {1102, 1322, 1602}, to[] = {1202, 1342, 1702};
    const struct extract_thread_stats *thread = NULL;
    struct extract_stats *stats;

    (void)state;
    begin();
    add(0, A, USER, 1, 0, 0, 0);
    add_wake(1100, A, C, 4);
    add_sleep(1200);
    add_wake(1400, A, C, 4);
    add_sleep(1300);
    add_wake(1320, A, C, 4);
    add_sleep(1340);
    add_wake(1600, A, C, 4);
    add_sleep(1700);
    ring_insert(&image, &(struct ring_entry){RING_IN_ISR, A, ISR_ENTER, 1800, {0, 7, 1, 0}});
    ring_insert(&image, &(struct ring_entry){RING_IN_ISR, A, ISR_EXIT, 1750, {0, 7, 1, 0}});
    end();
    assert_int_equal(response_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(responses[i].from, from[i]);
        assert_int_equal(responses[i].to, to[i]);
        assert_int_equal(responses[i].has_ran, i != 1);
        assert_int_equal(responses[i].follows_unknown, i == 1);
    }
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, NULL), EXTRACT_OK);
    for (size_t i = 0; i < stats->thread_count; i++)
        if (stats->threads[i].thread->address == C)
            thread = &stats->threads[i];
    assert_non_null(thread);
    assert_int_equal(thread->response.count, 3);
    assert_int_equal(thread->response.max, 100);
    assert_int_equal(thread->latency.count, 2);
    assert_int_equal(thread->latency.max, 2); // the interrupt that wakes it goes on until then
    assert_int_equal(thread->period.count, 1);
    assert_int_equal(thread->period.max, 280);
    assert_int_equal(stats->interrupt_list[0].count, 5);
    assert_int_equal(stats->interrupt_list[0].duration.count, 4);
    extract_stats_free(stats);
    look_close(&look);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mutex_is_deleted_after_a_release),
        cmocka_unit_test(test_termination_releases_a_mutex),
        cmocka_unit_test(test_only_the_owner_releases_a_mutex),
        cmocka_unit_test(test_thread_ends_with_a_mutex),
        cmocka_unit_test(test_switch_without_an_entry),
        cmocka_unit_test(test_calls_about_threads_are_left_out),
        cmocka_unit_test(test_wait_is_ended_by_a_call),
        cmocka_unit_test(test_call_that_ends_no_wait),
        cmocka_unit_test(test_suspension_is_certain),
        cmocka_unit_test(test_inversion_follows_the_owner),
        cmocka_unit_test(test_priority_changes_during_a_wait),
        cmocka_unit_test(test_no_mutex_inherits),
        cmocka_unit_test(test_tracex_takes_recorded_priorities),
        cmocka_unit_test(test_owner_is_unknown_during_a_wait),
        cmocka_unit_test(test_thread_may_have_ended_before),
        cmocka_unit_test(test_window_ends_before_a_core_is_free),
        cmocka_unit_test(test_response_across_a_step_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
