// SPDX-License-Identifier: MIT
// unit: the kinds of switches of ThreadX.
//
// Truth: what ThreadX's own counters of preemptions, time slices and yields count in the same
// situations (the kernel's sources, 6.4.2: what each event names as the next thread), stated next
// to each trace. A switch that both ends a slice and goes to a more urgent thread is a preemption.
#include "tests/unit/ring_builder.h"
#include <extract/stats.h>

enum { A = 0x20004000, B = 0x20004200, C = 0x20004400, MUTEX = 0x20004600 };
enum {
    RESUME = 1,
    SUSPEND,
    ISR_ENTER,
    ISR_EXIT,
    TIME_SLICE,
    RUNNING,
    SEMAPHORE_PUT = 88,
    PREEMPTION_CHANGE = 107,
    PRIORITY_CHANGE = 108,
    RELINQUISH = 109
};
enum { SLEEPS = 4, FOR_SEMAPHORE = 6, IS_MOVED = 14 }; // states
enum { ENTRIES = 32, MAX_CASE = 12 };

// The word of an entry: the thread's priority, and its threshold.
#define LOW  (UINT64_C(1) << 31 | 10 << 16 | 10)
#define HIGH (UINT64_C(1) << 31 | 5 << 16 | 5)
// Priority 10 with threshold 4: a thread of priority 5 does not preempt it.
#define HELD (UINT64_C(1) << 31 | 4 << 16 | 10)
// Entries of a thread and of an interrupt, which interrupts a thread.
#define BY(thread, word, id, ...)                                                                  \
    {                                                                                              \
        thread, word, id, 0,                                                                       \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define IN(thread, id, ...)                                                                        \
    {                                                                                              \
        RING_IN_ISR, thread, id, 0,                                                                \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define WAITS(thread, word, next) BY(thread, word, SUSPEND, thread, FOR_SEMAPHORE, 0, next)

struct kinds {
    uint64_t gave_up, yielded, preempted, sliced, unknown;
};

static const struct row {
    const char *name;
    bool is_wrapped; // events before these are overwritten
    struct kinds right;
    struct ring_entry entry[MAX_CASE];
} rows[] = {
    {"a slice ends, of threads that record nothing",
     true,
     {.gave_up = 1, .sliced = 2},
     {WAITS(B, HIGH, A), IN(A, ISR_ENTER, 0, 15), IN(A, TIME_SLICE, C), IN(A, ISR_EXIT, 0, 15),
      IN(C, ISR_ENTER, 0, 15), IN(C, TIME_SLICE, A), IN(C, ISR_EXIT, 0, 15),
      IN(A, ISR_ENTER, 0, 15)}},
    {"a slice ends at the tick that wakes a more urgent thread",
     true,
     {.gave_up = 2, .preempted = 1},
     {WAITS(B, HIGH, A), IN(A, RESUME, B, SLEEPS, 0, B), IN(A, TIME_SLICE, B), WAITS(B, HIGH, A),
      IN(A, ISR_ENTER, 0, 15)}},
    {"a slice that gives the core to nobody, and a wake-up after it",
     true,
     {.gave_up = 2, .preempted = 1},
     {WAITS(B, HIGH, A), IN(A, TIME_SLICE, A), IN(A, RESUME, B, SLEEPS, 0, B), WAITS(B, HIGH, A),
      IN(A, ISR_ENTER, 0, 15)}},
    {"a more urgent thread becomes ready after the slice and before the switch",
     true,
     {.gave_up = 2, .preempted = 1},
     {WAITS(B, HIGH, A), IN(A, TIME_SLICE, C), IN(A, RESUME, B, SLEEPS, 0, B), WAITS(B, HIGH, C),
      IN(C, ISR_ENTER, 0, 15)}},
    {"a slice ends while the thread is inside a service",
     false,
     {.gave_up = 1, .sliced = 1},
     {WAITS(B, HIGH, A), BY(A, LOW, RUNNING, 0), IN(A, TIME_SLICE, C),
      BY(A, LOW, SEMAPHORE_PUT, MUTEX, 1), BY(C, LOW, RUNNING, 0)}},
    {"a thread with a threshold yields to a more urgent one",
     false,
     {.gave_up = 1, .yielded = 1},
     {WAITS(B, HIGH, A), BY(A, HELD, RESUME, B, FOR_SEMAPHORE, 0, A), BY(A, HELD, RELINQUISH, 0, B),
      BY(B, HIGH, RUNNING, 0)}},
    {"a thread that yields is preempted before the switch",
     false,
     {.preempted = 1},
     {BY(A, LOW, RELINQUISH, 0, C), IN(A, RESUME, B, SLEEPS, 0, B), BY(B, HIGH, RUNNING, 0)}},
    {"a thread makes itself less urgent",
     false,
     {.preempted = 1},
     {BY(A, LOW, PRIORITY_CHANGE, A, 12, 10), BY(A, LOW, SUSPEND, A, IS_MOVED, 0, C),
      BY(A, LOW + 0x20002, RESUME, A, IS_MOVED, 0, C), BY(C, LOW, RUNNING, 0)}},
    {"a thread that is moved keeps the core, until its slice ends",
     false,
     {.sliced = 1},
     {BY(A, LOW, PRIORITY_CHANGE, A, 10, 10), BY(A, LOW, SUSPEND, A, IS_MOVED, 0, C),
      BY(A, LOW, RESUME, A, IS_MOVED, 0, C), BY(A, LOW, SEMAPHORE_PUT, MUTEX, 1),
      IN(A, TIME_SLICE, C), BY(C, LOW, RUNNING, 0)}},
    {"a thread lowers its threshold",
     false,
     {.preempted = 1},
     {BY(A, HELD, RESUME, B, FOR_SEMAPHORE, 0, A), BY(A, HELD, PREEMPTION_CHANGE, A, 10, 4),
      BY(B, HIGH, RUNNING, 0)}},
    {"the trace begins in the interrupt after which another thread runs",
     true,
     {.unknown = 1},
     {IN(A, ISR_EXIT, 0, 15), BY(B, HIGH, RUNNING, 0)}},
    {"the trace begins in the interrupt in which a slice ends",
     true,
     {.unknown = 1},
     {IN(A, TIME_SLICE, C), BY(C, LOW, RUNNING, 0)}},
    {"calls about threads were left out: a yield, and a wake-up",
     false,
     {.gave_up = 3, .preempted = 1, .unknown = 1},
     {BY(B, HIGH, SUSPEND, B, SLEEPS, 0, A), IN(A, RESUME, B, SLEEPS, 0, B),
      BY(B, HIGH, SUSPEND, B, SLEEPS, 0, A), BY(A, LOW, SEMAPHORE_PUT, MUTEX, 1),
      IN(C, ISR_ENTER, 0, 15), IN(C, ISR_EXIT, 0, 15), BY(C, LOW, SUSPEND, C, FOR_SEMAPHORE, 0, A),
      BY(A, LOW, RUNNING, 0)}},
};

// Builds the trace of a row. In a wrapped ring, one entry is before it, and the last thread fills
// the rest.
static void build(struct ring_image *image, const struct row *row)
{
    struct ring_entry filler = {A, LOW, RUNNING, 1, {0}};
    unsigned count = 0;

    ring_build_threads(image);
    if (row->is_wrapped)
        ring_insert(image, &filler);
    for (; count < MAX_CASE && row->entry[count].id; count++) {
        struct ring_entry entry = row->entry[count];
        entry.stamp = 2 + count;
        filler = (struct ring_entry){entry.thread, entry.priority, RUNNING, 0, {0}};
        ring_insert(image, &entry);
    }
    for (; row->is_wrapped && count < ENTRIES; count++) {
        filler.stamp = 2 + count;
        ring_insert(image, &filler);
    }
}

static void test_kinds(void **state)
{
    static struct ring_image image;
    struct extract_stats *stats;
    struct look look;
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct kinds *right = &rows[i].right;
        build(&image, &rows[i]);
        look_open(&look, &image);
        assert_int_equal(extract_stats_new(&stats, NULL, look.trace, NULL), EXTRACT_OK);
        const uint64_t *is = stats->switches;
        if (is[EXTRACT_SWITCH_GAVE_UP] != right->gave_up ||
            is[EXTRACT_SWITCH_YIELDED] != right->yielded ||
            is[EXTRACT_SWITCH_PREEMPTED] != right->preempted ||
            is[EXTRACT_SWITCH_TIME_SLICED] != right->sliced ||
            is[EXTRACT_SWITCH_UNKNOWN] != right->unknown || is[EXTRACT_SWITCH_OTHER])
            fail_msg("%s: gave up %d, yielded %d, preempted %d, sliced %d, unknown %d, other %d",
                     rows[i].name, (int)is[EXTRACT_SWITCH_GAVE_UP], (int)is[EXTRACT_SWITCH_YIELDED],
                     (int)is[EXTRACT_SWITCH_PREEMPTED], (int)is[EXTRACT_SWITCH_TIME_SLICED],
                     (int)is[EXTRACT_SWITCH_UNKNOWN], (int)is[EXTRACT_SWITCH_OTHER]);
        extract_stats_free(stats);
        look_close(&look);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
