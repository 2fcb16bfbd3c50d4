// SPDX-License-Identifier: MIT
// unit: statistics of small traces.
//
// Truth: computation by hand after the rules of docs/man/ringside-stats.1. Each trace has its sums
// next to it.
#include "tests/unit/ring_builder.h"
#include "memory/memory_hooks.h"
#include <extract/stats.h>
#include <stdio.h>
#include <stdlib.h>

enum { A = 0x20004000, B = 0x20004200, C = 0x20004400, MUTEX = 0x20004600, SEMAPHORE = 0x20004700 };
enum {
    RESUME = 1,
    SUSPEND,
    ISR_ENTER,
    ISR_EXIT,
    TIME_SLICE,
    RUNNING,
    MUTEX_GET = 52,
    MUTEX_PUT = 57
};
enum { SEMAPHORE_PUT = 88, RELINQUISH = 109, PRIORITY_BIT = 31 };

static struct ring_image image;
static struct look look;
static struct extract_stats *stats;

static uint64_t priority(unsigned value)
{
    return UINT64_C(1) << PRIORITY_BIT | value << 16 | value;
}

static void begin(void)
{
    ring_build_threads(&image);
}

static void add(uint64_t stamp, uint64_t thread, uint64_t word, uint64_t id, uint64_t i1,
                uint64_t i2, uint64_t i3, uint64_t i4)
{
    ring_insert(&image, &(struct ring_entry){thread, word, id, stamp, {i1, i2, i3, i4}});
}

// Checks that every counted tick belongs to a thread, interrupts, start-up or idle time, or is
// unknown.
static void check_sum(void)
{
    uint64_t sum =
        stats->idle_ticks + stats->interrupt_ticks + stats->init_ticks + stats->unknown_ticks;
    for (size_t i = 0; i < stats->thread_count; i++)
        sum += stats->threads[i].ticks;
    assert_int_equal(sum, stats->span_ticks);
    // The load has no part after the end.
    assert_true(!stats->load_part_count ||
                (stats->load_part_count - 1) * stats->load_part_ticks < stats->span_ticks);
}

static void count_filtered(const struct extract_filter *filter)
{
    struct extract_view *view;
    assert_int_equal(extract_view_new(&view, filter, look.trace, 0, NULL), EXTRACT_OK);
    assert_int_equal(extract_stats_new(&stats, view, look.trace, NULL), EXTRACT_OK);
    extract_view_free(view);
    assert_true(stats->has_loads);
    check_sum();
}

// Computes the statistics of what one condition selects, or of the whole trace if `value` is NULL.
static void count(enum extract_filter_word word, const char *value)
{
    struct extract_filter *filter;
    assert_int_equal(extract_filter_new(&filter, NULL), EXTRACT_OK);
    if (value)
        assert_int_equal(extract_filter_add(filter, word, value, NULL), EXTRACT_OK);
    count_filtered(filter);
    extract_filter_free(filter);
    if (!value)
        assert_int_equal(stats->span_ticks, extract_trace_info(look.trace)->span_ticks);
}

static void end(void)
{
    look_open(&look, &image);
    count(EXTRACT_FILTER_LAST, NULL);
}

static void done(void)
{
    extract_stats_free(stats);
    look_close(&look);
}

static const struct extract_thread_stats *thread(uint64_t address)
{
    for (size_t i = 0; i < stats->thread_count; i++)
        if (stats->threads[i].thread->address == address)
            return &stats->threads[i];
    fail_msg("no thread at 0x%llx", (unsigned long long)address);
    return NULL;
}

static void add_profile(void)
{
    add(0, A, priority(10), RUNNING, 0, 0, 0, 0);                // a 10
    add(10, A, priority(10), SEMAPHORE_PUT, SEMAPHORE, 0, 1, 0); // a 10
    add(20, A, priority(10), RESUME, B, 6, 0x20005300, B);       // b 5
    add(25, B, priority(5), SEMAPHORE_PUT, SEMAPHORE, 0, 1, 0);  // b 15
    add(40, B, priority(5), SUSPEND, B, 6, 0x20006200, A);       // a 10
    add(50, RING_IN_ISR, A, ISR_ENTER, 0, 15, 1, 0);             // interrupt 3
    add(53, RING_IN_ISR, A, ISR_EXIT, 0, 15, 1, 0);              // a 7
    add(60, A, priority(10), SUSPEND, A, 4, 0x20005100, 0);      // idle 40
    add(100, RING_IN_ISR, 0, ISR_ENTER, 0, 15, 1, 0);            // interrupt 4
    add(104, RING_IN_ISR, 0, RESUME, B, 6, 0, B);                // interrupt 1
    add(105, RING_IN_ISR, 0, ISR_EXIT, 0, 15, 1, 0);             // b 5
    add(110, B, priority(5), SEMAPHORE_PUT, SEMAPHORE, 0, 1, 0); // b 10
    add(120, B, priority(5), SEMAPHORE_PUT, SEMAPHORE, 0, 1, 0);
}

// The time between two events belongs to the context that runs after the first one.
static void test_profile(void **state)
{
    (void)state;
    begin();
    add_profile();
    end();
    assert_int_equal(stats->events, 13);
    assert_int_equal(thread(A)->ticks, 37);
    assert_int_equal(thread(B)->ticks, 35);
    assert_int_equal(thread(C)->ticks, 0);
    assert_int_equal(stats->interrupt_ticks, 8);
    assert_int_equal(stats->idle_ticks, 40);
    assert_int_equal(stats->init_ticks, 0);
    assert_int_equal(stats->span_ticks, 120);
    assert_int_equal(stats->context_switches, 4); // a b a idle b
    assert_int_equal(stats->suspends, 2);
    assert_int_equal(stats->resumes, 2);
    assert_int_equal(stats->interrupts, 2);
    assert_int_equal(stats->nested_interrupts, 0);
    assert_int_equal(thread(A)->events, 4);
    assert_int_equal(thread(B)->events, 4);
    assert_int_equal(thread(A)->suspends, 1);
    assert_int_equal(thread(A)->resumes, 0);
    assert_int_equal(thread(B)->suspends, 1);
    assert_int_equal(thread(B)->resumes, 2); // by a, and by an interrupt
    done();
}

static void test_stacks_and_priorities(void **state)
{
    (void)state;
    begin();
    add(0, A, priority(10), SUSPEND, A, 4, 0x20005300, A); // 0x300 bytes are free
    add(1, A, priority(7), SUSPEND, A, 4, 0x20005080, A);  // 0x80
    add(2, A, priority(12), SUSPEND, A, 4, 0x20005200, A);
    add(3, B, priority(5), SUSPEND, B, 4, 0x20005010, A); // not a stack pointer: outside of b
    end();
    assert_true(thread(A)->stack_known);
    assert_int_equal(thread(A)->stack_size, 1024);
    assert_int_equal(thread(A)->stack_free, 0x80);
    assert_int_equal(thread(A)->stack_seq, 1);
    assert_int_equal(thread(A)->priority_low, 7);
    assert_int_equal(thread(A)->priority_high, 12);
    assert_int_equal(thread(A)->last_priority, 12);
    assert_false(thread(B)->stack_known);
    assert_int_equal(thread(C)->priority_low, EXTRACT_NO_PRIORITY);
    done();
}

static void test_interrupts(void **state)
{
    (void)state;
    begin();
    add(0, A, priority(10), RUNNING, 0, 0, 0, 0);
    add(10, RING_IN_ISR, A, ISR_ENTER, 0, 1, 1, 0);
    add(20, RING_IN_ISR, A, ISR_ENTER, 0, 2, 2, 0); // nested
    add(30, RING_IN_ISR, A, ISR_EXIT, 0, 2, 2, 0);
    add(40, RING_IN_ISR, A, ISR_EXIT, 0, 1, 1, 0);
    add(50, A, priority(10), RUNNING, 0, 0, 0, 0);
    add(60, RING_IN_ISR, A, SEMAPHORE_PUT, SEMAPHORE, 0, 1, 0); // its entry was not recorded
    add(70, A, priority(10), RUNNING, 0, 0, 0, 0);
    end();
    assert_int_equal(stats->interrupts, 3);
    assert_int_equal(stats->nested_interrupts, 1);
    assert_int_equal(stats->interrupt_ticks, 30); // 10 to 40
    assert_int_equal(thread(A)->ticks, 40);
    done();
}

static void test_preemptions(void **state)
{
    (void)state;
    begin();
    add(0, A, priority(10), RESUME, B, 6, 0x20005300, B); // b preempts a
    add(1, B, priority(5), RESUME, C, 6, 0x20006300, B);  // b continues
    add(2, B, priority(5), SUSPEND, B, 6, 0x20006300, A); // b gives up the core
    add(3, A, priority(10), TIME_SLICE, C, 0, 0, 0);      // the time slice of a is over
    add(4, C, priority(10), RELINQUISH, 0x20007300, A, 0, 0);
    add(5, A, priority(10), RUNNING, 0, 0, 0, 0);
    end();
    assert_int_equal(stats->switches[EXTRACT_SWITCH_PREEMPTED], 1);   // a by b
    assert_int_equal(stats->switches[EXTRACT_SWITCH_GAVE_UP], 1);     // b to a
    assert_int_equal(stats->switches[EXTRACT_SWITCH_TIME_SLICED], 1); // a to c
    assert_int_equal(stats->switches[EXTRACT_SWITCH_YIELDED], 1);     // c to a
    assert_int_equal(stats->switches[EXTRACT_SWITCH_OTHER], 0);
    assert_int_equal(stats->time_slices, 1);
    assert_int_equal(stats->context_switches, 4);
    // TraceX: the first resumption names another thread, and after the time slice one is next.
    assert_int_equal(stats->tracex.context_switches, 4);
    assert_int_equal(stats->tracex.preemptions, 2);
    assert_int_equal(stats->tracex.time_slices, 0);
    done();
}

// The end of a time slice, and a yield, give the core to a thread as urgent as the one before. If a
// more urgent one became ready meanwhile, the thread was preempted.
static void test_preempted_meanwhile(void **state)
{
    (void)state;
    begin();
    add(0, B, priority(5), SUSPEND, B, 4, 0x20006300, A);
    add(1, A, priority(10), RUNNING, 0, 0, 0, 0);
    add(2, RING_IN_ISR, A, RESUME, B, 4, 0, B);
    add(3, RING_IN_ISR, A, TIME_SLICE, B, 0, 0, 0);
    add(4, B, priority(5), SUSPEND, B, 4, 0x20006300, A);
    add(5, A, priority(10), RELINQUISH, 0x20007300, A, 0, 0); // nobody else is ready
    add(6, RING_IN_ISR, A, RESUME, B, 4, 0, B);
    add(7, B, priority(5), RUNNING, 0, 0, 0, 0);
    end();
    assert_int_equal(stats->switches[EXTRACT_SWITCH_GAVE_UP], 2);
    assert_int_equal(stats->switches[EXTRACT_SWITCH_PREEMPTED], 2);
    assert_int_equal(stats->switches[EXTRACT_SWITCH_TIME_SLICED], 0);
    assert_int_equal(stats->switches[EXTRACT_SWITCH_YIELDED], 0);
    assert_int_equal(stats->time_slices, 1); // events
    assert_true(stats->knows_time_slices);
    done();
}

// Priority 20 owns the mutex and 5 waits for it. Then 10 runs although 5 is waiting.
static void add_inversion(uint64_t stamp, bool third)
{
    add(stamp, A, priority(20), MUTEX_GET, MUTEX, 0, 0, 0);
    add(stamp + 1, B, priority(5), MUTEX_GET, MUTEX, 0xFFFFFFFF, A, 1);
    if (third)
        add(stamp + 2, C, priority(10), SEMAPHORE_PUT, SEMAPHORE, 0, 1, 0);
    add(stamp + 3, A, priority(20), MUTEX_PUT, MUTEX, A, 1, 0);
}

static void test_inversions(void **state)
{
    (void)state;
    begin();
    add_inversion(0, false);
    add_inversion(10, true);
    add_inversion(20, true);
    end();
    assert_int_equal(stats->inversions_deterministic, 1);
    assert_int_equal(stats->inversions_undeterministic, 2);
    done();
}

// A mutex that a more urgent thread holds, or that is free, is not an inversion.
static void test_no_inversions(void **state)
{
    (void)state;
    begin();
    add(0, B, priority(5), MUTEX_GET, MUTEX, 0, 0, 0);
    add(1, A, priority(20), MUTEX_GET, MUTEX, 0xFFFFFFFF, B, 1);
    add(2, B, priority(5), MUTEX_PUT, MUTEX, B, 1, 0);
    end();
    assert_int_equal(stats->inversions_deterministic, 0);
    assert_int_equal(stats->inversions_undeterministic, 0);
    done();
}

static void test_services(void **state)
{
    static const uint64_t order[] = {88, 4099, 4096, 65535}, counts[] = {3, 2, 1, 1};
    (void)state;
    begin();
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k < counts[i]; k++)
            add(i, A, priority(10), order[i], 0, 0, 0, 0);
    end();
    assert_int_equal(stats->service_count, 4);
    for (unsigned i = 0; i < 4; i++) { // most frequent first, equal counts by id
        assert_int_equal(stats->services[i].id, order[i]);
        assert_int_equal(stats->services[i].count, counts[i]);
    }
    done();
}

// Ids have no limit: two that differ above their lowest 16 bits are two services, in any order,
// also of one thread.
static void test_services_above_16_bits(void **state)
{
    static const uint64_t order[] = {70000, 4464, 135536, 16777215}, counts[] = {4, 3, 2, 1};
    (void)state;
    begin();
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k < 4; k++)
            if (i < counts[k])
                add(4 * i + k, A, priority(10), order[k], 0, 0, 0, 0);
    end();
    assert_int_equal(stats->service_count, 4);
    assert_int_equal(stats->threads[0].service_count, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(stats->services[i].id, order[i]);
        assert_int_equal(stats->services[i].count, counts[i]);
        assert_int_equal(stats->threads[0].services[i].id, order[i]);
        assert_int_equal(stats->threads[0].services[i].count, counts[i]);
    }
    done();
}

// The lists of threads have what each of them called; an interrupt's events belong to none.
static void test_services_of_threads(void **state)
{
    (void)state;
    begin();
    add(0, A, priority(10), 4099, 0, 0, 0, 0);
    add(1, B, priority(10), 88, 0, 0, 0, 0);
    add(2, B, priority(10), 4099, 0, 0, 0, 0);
    add(3, B, priority(10), 4099, 0, 0, 0, 0);
    add(4, 0xFFFFFFFF, 0, 4099, 0, 0, 0, 0);
    end();
    assert_int_equal(stats->threads[0].service_count, 1);
    assert_int_equal(stats->threads[0].services[0].id, 4099);
    assert_int_equal(stats->threads[0].services[0].count, 1);
    assert_int_equal(stats->threads[1].service_count, 2);
    assert_int_equal(stats->threads[1].services[0].id, 4099);
    assert_int_equal(stats->threads[1].services[0].count, 2);
    assert_int_equal(stats->threads[1].services[1].id, 88);
    assert_int_equal(stats->threads[1].services[1].count, 1);
    assert_int_equal(stats->threads[2].service_count, 0);
    done();
}

static void test_empty(void **state)
{
    (void)state;
    begin();
    end();
    assert_int_equal(stats->events, 0);
    assert_int_equal(stats->thread_count, 3);
    assert_int_equal(stats->span_ticks, 0);
    assert_int_equal(stats->service_count, 0);
    done();
}

// Before the scheduler starts, time belongs to no thread.
static void test_start_up(void **state)
{
    (void)state;
    begin();
    add(0, RING_IN_INIT, 0, 100, A, 10, 0x20005300, 1024);
    add(30, RING_IN_INIT, 0, 100, B, 5, 0x20006300, 1024);
    add(50, A, priority(10), RUNNING, 0, 0, 0, 0);
    add(55, A, priority(10), RUNNING, 0, 0, 0, 0);
    end();
    assert_int_equal(stats->init_ticks, 30);
    assert_int_equal(thread(A)->ticks, 25); // from a's start at 30, which the next event reveals
    done();
}

// ---- Parts of a trace ----

// By the sums of add_profile(): ticks of a, b, interrupts, idle; switches, suspends, interrupts.
static const struct window {
    enum extract_filter_word word;
    const char *value;
    uint64_t events, a, b, isr, idle, switches, suspends, interrupts;
} windows[] = {
    {EXTRACT_FILTER_LAST, "13", 13, 37, 35, 8, 40, 4, 2, 2},
    {EXTRACT_FILTER_LAST, "5", 5, 0, 15, 5, 0, 1, 0, 1}, // from 100: 4 and 1, 5 and 10
    {EXTRACT_FILTER_LAST, "1", 1, 0, 0, 0, 0, 0, 0, 0},
    {EXTRACT_FILTER_LAST, "0", 0, 0, 0, 0, 0, 0, 0, 0},
    {EXTRACT_FILTER_FROM, "100", 5, 0, 15, 5, 0, 1, 0, 1},
    {EXTRACT_FILTER_TO, "20", 3, 20, 0, 0, 0, 1, 0, 0}, // not until the next one, 25
    // These conditions select events, not a period: the loads are those of the whole trace.
    {EXTRACT_FILTER_THREAD, "a", 4, 37, 35, 8, 40, 2, 1, 0}, // 0, 10, 20 and 60
    {EXTRACT_FILTER_THREAD, "b", 4, 37, 35, 8, 40, 1, 1, 0}, // 25, 40, 110 and 120
    {EXTRACT_FILTER_THREAD, "isr", 5, 37, 35, 8, 40, 1, 0, 2},
    {EXTRACT_FILTER_EVENT, "2", 2, 37, 35, 8, 40, 2, 2, 0}, // 40 and 60
    {EXTRACT_FILTER_CLASS, "INT", 4, 37, 35, 8, 40, 1, 0, 2},
    {EXTRACT_FILTER_OBJECT, "0x20004700", 4, 37, 35, 8, 40, 0, 0, 0},
    {EXTRACT_FILTER_EVENT, "!2", 11, 37, 35, 8, 40, 2, 0, 2},
};

// Of several conditions, only times select the period of the loads. The newest N events that other
// conditions leave are not a period.
static const struct combination {
    struct {
        enum extract_filter_word word;
        const char *value;
    } of[3];
    uint64_t events, stretch, a, b, isr, idle;
} combinations[] = {
    {{{EXTRACT_FILTER_FROM, "100"}, {EXTRACT_FILTER_THREAD, "b"}}, 2, 5, 0, 15, 5, 0},
    {{{EXTRACT_FILTER_FROM, "20"}, {EXTRACT_FILTER_TO, "50"}, {EXTRACT_FILTER_THREAD, "a"}},
     1,
     4,
     10,
     20,
     0,
     0}, // b from 20, a from 40
    {{{EXTRACT_FILTER_LAST, "1"}, {EXTRACT_FILTER_THREAD, "a"}}, 1, 13, 37, 35, 8, 40},
    {{{EXTRACT_FILTER_LAST, "2"}, {EXTRACT_FILTER_TO, "53"}}, 2, 2, 0, 0, 3, 0},
    {{{EXTRACT_FILTER_LAST, "3"}, {EXTRACT_FILTER_TO, "53"}, {EXTRACT_FILTER_EVENT, "88"}},
     2,
     7,
     30,
     20,
     3,
     0},
};

static void test_windows(void **state)
{
    (void)state;
    begin();
    add_profile();
    look_open(&look, &image);
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        const struct window *w = &windows[i];
        count(w->word, w->value);
        assert_int_equal(stats->events, w->events);
        assert_int_equal(stats->span_ticks, w->a + w->b + w->isr + w->idle);
        assert_int_equal(thread(A)->ticks, w->a);
        assert_int_equal(thread(B)->ticks, w->b);
        assert_int_equal(stats->interrupt_ticks, w->isr);
        assert_int_equal(stats->idle_ticks, w->idle);
        assert_int_equal(stats->context_switches, w->switches);
        assert_int_equal(stats->suspends, w->suspends);
        assert_int_equal(stats->interrupts, w->interrupts);
        extract_stats_free(stats);
    }
    look_close(&look);
}

static void test_combinations(void **state)
{
    (void)state;
    begin();
    add_profile();
    look_open(&look, &image);
    for (size_t i = 0; i < sizeof combinations / sizeof *combinations; i++) {
        const struct combination *c = &combinations[i];
        struct extract_filter *filter;
        assert_int_equal(extract_filter_new(&filter, NULL), EXTRACT_OK);
        for (size_t k = 0; k < 3 && c->of[k].value; k++)
            assert_int_equal(extract_filter_add(filter, c->of[k].word, c->of[k].value, NULL),
                             EXTRACT_OK);
        count_filtered(filter);
        extract_filter_free(filter);
        assert_int_equal(stats->events, c->events);
        assert_int_equal(stats->range_events, c->stretch);
        assert_int_equal(stats->span_ticks, c->a + c->b + c->isr + c->idle);
        assert_int_equal(thread(A)->ticks, c->a);
        assert_int_equal(thread(B)->ticks, c->b);
        assert_int_equal(stats->interrupt_ticks, c->isr);
        assert_int_equal(stats->idle_ticks, c->idle);
        extract_stats_free(stats);
    }
    look_close(&look);
}

// Windows of all lengths span several batches of events.
static void test_long_windows(void **state)
{
    struct ring_spec spec = ring_plain;
    uint64_t stamp = 50;
    (void)state;
    spec.entries = 400;
    ring_build(&image, &spec);
    ring_run(&image, 399, &stamp, 7);
    look_open(&look, &image);
    for (unsigned last = 1; last <= 399; last++) {
        char value[16];
        snprintf(value, sizeof value, "%u", last);
        count(EXTRACT_FILTER_LAST, value);
        assert_int_equal(stats->events, last);
        assert_int_equal(stats->span_ticks, 7 * (last - 1));
        extract_stats_free(stats);
    }
    look_close(&look);
}

// ---- Every tick ----

// The last part of the load ends above 64 bits.
static void test_end_of_the_numbers(void **state)
{
    (void)state;
    const uint64_t quarter = UINT64_C(1) << 62;
    struct ring_spec spec = ring_plain;
    spec.word_bytes = 8;
    spec.mask = UINT64_MAX;
    spec.entries = 8;
    ring_build(&image, &spec);
    for (uint64_t i = 0; i < 4; i++)
        add(i * quarter, A, priority(10), RUNNING, 0, 0, 0, 0);
    add(UINT64_MAX, A, priority(10), RUNNING, 0, 0, 0, 0);
    look_open(&look, &image);
    count(EXTRACT_FILTER_LAST, NULL);
    assert_int_equal(thread(A)->ticks, UINT64_MAX);
    uint64_t busy = 0;
    for (size_t i = 0; i < stats->load_part_count; i++)
        busy += stats->load[i];
    assert_int_equal(busy, UINT64_MAX);
    assert_int_equal(stats->load[stats->load_part_count - 1], stats->load_part_ticks - 1);
    done();
}

// Some threads run next or are interrupted, but no event comes from them and no registry names
// them.
static void test_threads_in_passing(void **state)
{
    enum { X = 0x20009000, Y = 0x20009200 };
    (void)state;
    begin();
    add(10, A, priority(10), SUSPEND, A, 6, 0x20005300, X); // y 100: the interrupt shows it
    add(110, RING_IN_ISR, Y, ISR_ENTER, 0, 15, 1, 0);       // interrupt 40
    add(150, RING_IN_ISR, Y, ISR_EXIT, 0, 15, 1, 0);        // y 50
    add(200, RING_IN_ISR, Y, SEMAPHORE_PUT, SEMAPHORE, 0, 1, 0);
    end();
    assert_int_equal(stats->span_ticks, 190);
    assert_int_equal(thread(X)->ticks, 0);
    assert_int_equal(thread(Y)->ticks, 150);
    assert_int_equal(stats->interrupt_ticks, 40);
    assert_int_equal(thread(X)->events, 0);
    done();
}

// Adds pseudo-random events of every role. There are threads inside and outside of the registry;
// nested, unbalanced and unannounced interrupts; start-up; and a 16-bit clock that wraps.
static void add_noise(unsigned seed, unsigned events)
{
    static const uint64_t ids[] = {RESUME,  SUSPEND,   ISR_ENTER, ISR_EXIT,      TIME_SLICE,
                                   RUNNING, MUTEX_GET, MUTEX_PUT, SEMAPHORE_PUT, RELINQUISH,
                                   4711,    RESUME,    SUSPEND};
    static const uint64_t contexts[] = {A, B, C, 0x20009000, 0x20009200, RING_IN_ISR, RING_IN_INIT};
    uint64_t stamp = 0, random = seed;
    for (unsigned i = 0; i < events; i++) {
        uint64_t field[4];
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        for (unsigned k = 0; k < 4; k++) // 0, or one of 15 addresses
            field[k] = random >> (20 + 4 * k) & 15 ? A + (random >> (20 + 4 * k) & 15) * 0x100 : 0;
        uint64_t context = contexts[(random >> 40) % 7];
        uint64_t word = context == RING_IN_ISR ? field[0] : priority(random >> 50 & 15);
        stamp += random >> 55;
        add(stamp, context, word, ids[(random >> 36) % 13], field[0], field[1], field[2], field[3]);
    }
}

static void test_sums(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 400; seed++) {
        struct ring_spec spec = ring_plain;
        spec.entries = 40 + seed;
        spec.mask = 0xFFFF;
        ring_build(&image, &spec);
        ring_register(&image, 0, &(struct ring_object){0, 1, 0, 0, A, 0x20005000, 1024, "a"});
        ring_register(&image, 1, &(struct ring_object){1, 1, 0, 0, B, 0x20006000, 1024, "gone"});
        ring_register(&image, 2, &(struct ring_object){0, 4, 0, 0, C, 0, 0, "no thread"});
        add_noise(seed, 2 * seed);
        end();
        assert_true(seed < 10 || stats->span_ticks > 100);
        done();
    }
}

static void test_sums_of_samples(void **state)
{
    static const char *const names[] = {"demo_threadx", "demo_filex", "cm3_slow"};
    const char *folder = getenv("RINGSIDE_DATA");
    struct extract_memory *memory;
    struct extract_region region;
    char path[512];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/threadx/%s.trx", folder ? folder : "../shared/data",
                 names[i]);
        FILE *file = fopen(path, "rb");
        if (!file)
            skip();
        fclose(file);
        assert_int_equal(extract_memory_open_trx(&memory, path, NULL), EXTRACT_OK);
        assert_true(extract_memory_region(memory, 0, &region));
        look_open_memory(&look, memory, region.address, NULL);
        count(EXTRACT_FILTER_LAST, NULL);
        assert_true(stats->span_ticks > 0);
        extract_stats_free(stats);
        count(EXTRACT_FILTER_LAST, "100");
        assert_int_equal(stats->events, 100);
        done();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_stacks_and_priorities),
        cmocka_unit_test(test_interrupts),
        cmocka_unit_test(test_preemptions),
        cmocka_unit_test(test_preempted_meanwhile),
        cmocka_unit_test(test_inversions),
        cmocka_unit_test(test_no_inversions),
        cmocka_unit_test(test_services),
        cmocka_unit_test(test_services_above_16_bits),
        cmocka_unit_test(test_services_of_threads),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_start_up),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_combinations),
        cmocka_unit_test(test_long_windows),
        cmocka_unit_test(test_threads_in_passing),
        cmocka_unit_test(test_end_of_the_numbers),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_sums_of_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
