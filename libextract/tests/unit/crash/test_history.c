// SPDX-License-Identifier: MIT
// Tests of crash/crash_history.c: which interrupts are a storm. The rings are made by hand, with
// times as they were seen on boards.
#include "crash/crash_room.h"
#include "tests/unit/ring_builder.h"
#include <stdlib.h>

enum { ISR_ENTER = 3, ISR_EXIT = 4, QUEUE_SEND = 68, THREAD = 0x20004000, ENTRIES = 400 };

static struct ring_image image;

static void begin(uint64_t *stamp, uint64_t step)
{
    struct ring_spec spec = ring_plain;

    spec.entries = ENTRIES;
    ring_build(&image, &spec);
    ring_run(&image, ENTRIES, stamp, step); // of a thread, before
}

static void interrupt(uint64_t *stamp, uint64_t time, uint64_t pause)
{
    struct ring_entry entry = {RING_IN_ISR, THREAD, ISR_ENTER, *stamp += pause, {0, 7, 1, 0}};

    ring_insert(&image, &entry);
    entry.id = ISR_EXIT;
    entry.stamp = *stamp += time;
    ring_insert(&image, &entry);
}

// Returns whether the history of the ring has a storm.
static bool is_storm(void)
{
    struct extract_remains remains = {.memory = NULL};
    struct extract_crash crash = {.kind = NULL};
    struct look look;

    look_open(&look, &image);
    struct crash_build build = {.crash = &crash, .remains = &remains, .trace = look.trace};
    crash_read_history(&build);
    assert_false(build.failed);
    bool found = false;
    for (size_t i = 0; i < crash.finding_count; i++)
        found |= strcmp(crash.findings[i].kind, "interrupt storm") == 0;
    free(crash.findings);
    look_close(&look);
    return found;
}

// By the time of an event, and that of an interrupt and the pause after it, in ticks of the clock.
static void storms(void **state)
{
    static const struct {
        uint64_t step, time, pause;
        bool is_storm;
    } cases[] = {
        {20, 34, 26, true},    // ThreadX on Cortex-M3, 25 MHz: 56 % of the time
        {13, 14, 34, true},    // on RV64, 10 MHz: 29 %
        {13, 11, 34, true},    // 24 %
        {33, 15, 51, true},    // on Cortex-A9, 24 MHz: 23 %
        {20, 5000, 30, true},  // a long handler
        {20, 440, 810, false}, // 35 % of the time at 20 kHz: a thread has the rest
        {20, 800, 450, false}, // 64 %
        {20, 1000, 250, true}, // 80 %
        {20, 14, 1236, false}, // a tick
        {1, 1, 2, false},      // a clock too slow to show it
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t stamp = 1000;
        begin(&stamp, cases[i].step);
        for (unsigned count = 0; count < 150; count++)
            interrupt(&stamp, cases[i].time, cases[i].pause);
        if (is_storm() != cases[i].is_storm)
            fail_msg("case %zu", i);
    }
}

// A clock that counts events shows no time: a board that is idle but for its tick looks the same.
static void counted(void **state)
{
    uint64_t stamp = 1000;
    (void)state;

    begin(&stamp, 1);
    for (unsigned count = 0; count < ENTRIES; count++)
        interrupt(&stamp, 1, 1);
    assert_false(is_storm());
}

// A kernel whose memory was cleared, and the thread that ran last: the newest event has chosen it,
// or an interrupt after that.
static void resets(void **state)
{
    enum { SUSPEND = 2, RESUME = 1, A = RING_FIRST_THREAD, B = A + RING_THREAD_BYTES };
    static const struct {
        struct ring_entry newest[2];
        uint64_t ran_last;
    } cases[] = {
        {{{A, 0x80100010, SUSPEND, 5000, {A, 4, 0, B}}}, B},
        {{{A, 0x80100010, SUSPEND, 5000, {A, 4, 0, 0}}}, A},
        {{{RING_IN_ISR, A, RESUME, 5000, {B, 4, 0, B}},
          {RING_IN_ISR, A, ISR_EXIT, 5010, {0, 7, 1, 0}}},
         B},
        {{{A, 0x80100010, SUSPEND, 5000, {A, 4, 0, B}},
          {B, 0x80100010, QUEUE_SEND, 5010, {0, 0, 0, 0}}},
         B},
    };
    struct extract_kernel kernel = {.name = "ThreadX"};
    struct extract_remains remains = {.kernel = &kernel};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct extract_crash crash = {.kind = NULL};
        struct look look;
        uint64_t stamp = 1000;
        ring_build_threads(&image);
        ring_run(&image, 20, &stamp, 20);
        for (size_t k = 0; k < 2 && cases[i].newest[k].id; k++)
            ring_insert(&image, &cases[i].newest[k]);
        look_open(&look, &image);
        struct crash_build build = {.crash = &crash, .remains = &remains, .trace = look.trace};
        crash_read_history(&build);
        assert_int_equal(crash.finding_count, 1);
        assert_string_equal(crash.findings[0].kind, "watchdog");
        assert_int_equal(build.ran_last, cases[i].ran_last);
        // The list of threads was not cleared, but overwritten, or no image has it.
        crash.finding_count = 0;
        kernel.problem_count = 1;
        crash_read_history(&build);
        assert_int_equal(crash.finding_count, 0);
        kernel.problem_count = 0;
        free(crash.findings);
        look_close(&look);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(storms), cmocka_unit_test(counted),
                                       cmocka_unit_test(resets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
