// SPDX-License-Identifier: MIT
// Times and statistics over the gaps of a log. Truth: clocks whose true time is known for every
// entry, and statistics by hand.
#include "tests/unit/log_builder.h"
#include "tests/unit/scratch.h"
#include <extract/stats.h>
#include <stdlib.h>

enum { A = 0x20004000, B = 0x20004200, PER_BLOCK = 4 };

static struct ring_image image;
static struct log_file file;
static struct log_look look;
static uint64_t truth[MAX_EVENTS]; // the true time of each entry, in ticks
static size_t entries;

static void begin(uint64_t mask)
{
    struct ring_spec spec = ring_plain;
    spec.entries = 32;
    spec.mask = mask;
    ring_build(&image, &spec);
    ring_register(&image, 0, &(struct ring_object){0, 1, 0, 0, A, 0x20005000, 512, "a"});
    ring_register(&image, 1, &(struct ring_object){0, 1, 0, 0, B, 0x20006000, 512, "b"});
    unlink(scratch_path("times.log"));
    log_open(&file, scratch_path("times.log"), &image);
    entries = 0;
}

// A block of entries that were made every `step` ticks, the last of them at `last`; and read when
// the host's clock had come to `wall`.
static void block(uint64_t last, uint64_t step, uint64_t wall)
{
    for (unsigned i = 0; i < PER_BLOCK; i++) {
        uint64_t time = last - (PER_BLOCK - 1 - i) * step;
        struct ring_entry entry = {
            .thread = A, .priority = 0x80100010, .id = 88, .stamp = time & image.spec.mask};
        ring_put(&image, i, &entry);
        truth[entries++] = time;
    }
    file.wall = wall;
    log_entries(&file, &image, 0, PER_BLOCK);
}

static void check_times(uint64_t hz)
{
    struct extract_session_options options = {.size = sizeof options, .hz = hz};
    size_t count, entry = 0;
    log_close(&file);
    log_look_open(&look, file.path, &options);
    const struct extract_event *events = log_events(&look, &count);
    for (size_t i = 0; i < count; i++) {
        if (extract_event_is_mark(&events[i]))
            continue;
        assert_int_equal(events[i].ticks, truth[entry] - truth[0]);
        entry++;
    }
    assert_int_equal(entry, entries);
    log_look_close(&look);
}

enum { MS = 1000000, START_WALL = 1000 };

// A tick is a microsecond, the clock wraps every 65.536 ms, and a poll comes every 10 ms.
static void short_turns(unsigned blocks)
{
    begin(0xFFFF);
    for (uint64_t i = 1; i <= blocks; i++)
        block(i * 10000, 2500, START_WALL + i * 10 * MS);
}

static void test_turns_in_a_gap(void **state)
{
    (void)state;
    short_turns(40);
    log_loss(&file, EXTRACT_LOSS_LAPPED, 400, 32);
    // The polls are late by up to 3 ms; the gap is of 15 turns and a bit.
    block(1410000, 2500, START_WALL + 1413 * (uint64_t)MS);
    block(1420000, 2500, START_WALL + 1421 * (uint64_t)MS);
    log_loss(&file, EXTRACT_LOSS_UNREADABLE, 0, EXTRACT_LOG_ANY_MORE);
    block(9000000, 2500, START_WALL + 9000 * (uint64_t)MS);
    check_times(0);
}

// Reads that are late in turn: most of the times between two of them are too short.
static void test_turns_by_the_long_run(void **state)
{
    (void)state;
    begin(0xFFFF);
    for (uint64_t i = 1; i <= 40; i++)
        block(i * 10000, 2500, START_WALL + (i * 10 + 2 - i % 3) * MS);
    log_loss(&file, EXTRACT_LOSS_LAPPED, 400, 0);
    block(1410000, 2500, START_WALL + 1410 * (uint64_t)MS);
    check_times(0);
}

static void test_turns_by_hz(void **state)
{
    (void)state;
    begin(0xFFFF);
    block(10000, 2500, START_WALL + 10 * MS);
    log_loss(&file, EXTRACT_LOSS_LAPPED, 400, 0);
    block(1410000, 2500, START_WALL + 1410 * (uint64_t)MS);
    check_times(1000000);
}

// Without a rate, whole wraps are not known: the time is that of the stamps.
static void test_turns_unknown(void **state)
{
    size_t count;
    (void)state;
    begin(0xFFFF);
    block(10000, 2500, 0);
    log_loss(&file, EXTRACT_LOSS_LAPPED, 400, 0);
    block(10000 + 3 * 65536 + 9000, 2500, 0);
    log_close(&file);
    log_look_open(&look, file.path, NULL);
    const struct extract_event *events = log_events(&look, &count);
    assert_int_equal(events[count - 1].ticks, 7500 + 9000);
    log_look_close(&look);
}

// Nothing is missing, but nothing happened for three turns of a minute.
static void test_idle_for_turns(void **state)
{
    (void)state;
    begin(0xFFFF); // a tick is a millisecond
    for (uint64_t i = 1; i <= 10; i++)
        block(i * 10000, 2500, START_WALL + i * 10000 * MS);
    block(300000, 2500, START_WALL + (uint64_t)300000 * MS);
    block(310000, 2500, START_WALL + (uint64_t)310000 * MS);
    check_times(0);
}

// A clock that wraps faster than the host reads: where nothing is missing the stamps are
// right, however late the host was.
static void test_late_polls(void **state)
{
    static const uint64_t late[] = {0, 1, 2, 1, 0, 2, 1};
    (void)state;
    begin(0xFFFF); // a tick is 40 ns, a turn 2.6 ms
    for (uint64_t i = 1; i <= 60; i++)
        block(i * 80000, 20000, START_WALL + i * 3200000 + late[i % 7] * MS);
    // The rate is known all the same: 20 turns and 30,000 ticks without entries.
    log_loss(&file, EXTRACT_LOSS_LAPPED, 400, 0);
    block(60 * 80000 + 1340720, 20000, START_WALL + 60 * 3200000 + 1340720 * 40);
    check_times(0);
}

static void test_down_clock(void **state)
{
    (void)state;
    begin(0xFFFF);
    for (unsigned i = 0; i < 8; i++) {
        struct ring_entry entry = {.thread = A, .id = 88, .stamp = (60000 - i * 15000) & 0xFFFF};
        ring_put(&image, i, &entry);
        truth[entries++] = i * 15000;
    }
    log_entries(&file, &image, 0, 3);
    log_entries(&file, &image, 3, 5);
    check_times(0);
}

// A target that starts again has no more time than the host says.
static void test_reset(void **state)
{
    size_t count;
    (void)state;
    short_turns(40);
    log_mark(&file, EXTRACT_MARK_RESET, 0, "");
    block(7600, 2500, START_WALL + 450 * (uint64_t)MS);
    block(17600, 2500, START_WALL + 460 * (uint64_t)MS);
    log_close(&file);
    log_look_open(&look, file.path, NULL);
    const struct extract_event *events = log_events(&look, &count);
    assert_int_equal(count, 42 * PER_BLOCK + 1);
    // 400,000 at the end of the first 40, and 50 ms more at the end of the block after the reset.
    const struct extract_event *behind = &events[40 * PER_BLOCK + 1];
    assert_int_equal(behind[-2].ticks, 400000 - 2500);
    assert_int_equal(behind[0].ticks, 450000 - 2500 - 7500);
    assert_int_equal(behind[0].flags, EXTRACT_FLAG_GAP);
    assert_int_equal(behind[3].ticks, 450000 - 2500);
    assert_int_equal(behind[7].ticks, 460000 - 2500);
    log_look_close(&look);
}

static void test_damaged_walls(void **state)
{
    size_t count;
    (void)state;
    begin(0xFFFF);
    for (uint64_t i = 1; i <= 20; i++) {
        block(i * 10000, 2500, i % 5 ? START_WALL + i * 10 * MS : UINT64_MAX - i);
        log_loss(&file, EXTRACT_LOSS_LAPPED, 1, 0);
    }
    log_close(&file);
    log_look_open(&look, file.path, NULL);
    const struct extract_event *events = log_events(&look, &count);
    for (size_t i = 1; i < count; i++)
        assert_true(events[i].ticks >= events[i - 1].ticks);
    log_look_close(&look);
}

// ---- statistics ----

static struct extract_stats *stats;

static void add(unsigned slot, uint64_t stamp, uint64_t thread, uint64_t id, uint64_t next)
{
    struct ring_entry entry = {thread, 0x80100010, id, stamp, {0, 0, 0, next}};
    ring_put(&image, slot, &entry);
}

static void count_all(void)
{
    struct extract_filter *filter;
    struct extract_view *view;
    log_close(&file);
    log_look_open(&look, file.path, NULL);
    assert_int_equal(extract_filter_new(&filter, NULL), EXTRACT_OK);
    assert_int_equal(extract_view_new(&view, filter, look.trace, 0, NULL), EXTRACT_OK);
    assert_int_equal(extract_stats_new(&stats, view, look.trace, NULL), EXTRACT_OK);
    extract_view_free(view);
    extract_filter_free(filter);
}

static void done(void)
{
    extract_stats_free(stats);
    log_look_close(&look);
}

// a has events at 0 and 10, and b at 110 and 130. Without a gap, b runs from 10 on, since no event
// of another thread comes in between.
static void make_gap(void)
{
    begin(0xFFFFFFFF);
    add(0, 1000, A, 88, 0);
    add(1, 1010, A, 88, 0);
    add(2, 1110, B, 88, 0);
    add(3, 1130, B, 88, 0);
    log_entries(&file, &image, 0, 2);
}

static void check_gap(uint64_t switches, uint64_t ticks_of_b, uint64_t span)
{
    log_entries(&file, &image, 2, 2);
    count_all();
    assert_int_equal(stats->events, 4);
    assert_int_equal(stats->context_switches, switches);
    assert_int_equal(stats->threads[0].ticks, 10);
    assert_int_equal(stats->threads[1].ticks, ticks_of_b);
    assert_int_equal(stats->span_ticks, span);
    assert_int_equal(stats->service_count, 1);
    done();
}

static void test_stats_over_gaps(void **state)
{
    (void)state;
    make_gap();
    check_gap(1, 120, 130);
    make_gap();
    log_mark(&file, EXTRACT_MARK_FILTER, 1, "");
    check_gap(1, 120, 130);
    make_gap();
    log_loss(&file, EXTRACT_LOSS_LAPPED, 7, 0);
    check_gap(0, 20, 30);
    make_gap();
    log_mark(&file, EXTRACT_MARK_RESET, 0, "");
    check_gap(0, 20, 30);
    make_gap();
    log_mark(&file, EXTRACT_MARK_DISABLED, 0, "");
    log_mark(&file, EXTRACT_MARK_ENABLED, 0, "");
    check_gap(0, 20, 30);
    make_gap();
    file.next += 5; // entries that are missing without a word
    check_gap(0, 20, 30);
}

// After a reset, a thread's priority is not known until an entry states it again. Priorities that
// were seen before remain counted.
static void test_priorities_over_resets(void **state)
{
    (void)state;
    make_gap();
    log_entries(&file, &image, 2, 2);
    for (unsigned i = 0; i < 2; i++)
        log_mark(&file, EXTRACT_MARK_RESET, 0, "");
    log_entries(&file, &image, 2, 2);
    count_all();
    assert_int_equal(stats->threads[0].last_priority, EXTRACT_NO_PRIORITY);
    assert_int_equal(stats->threads[0].priority_low, 16);
    assert_int_equal(stats->threads[1].last_priority, 16);
    done();
}

// An interrupt that was left in a gap is not nested in the next one.
static void test_interrupts_over_gaps(void **state)
{
    enum { ENTER = 3, EXIT = 4 };
    (void)state;
    begin(0xFFFFFFFF);
    add(0, 1000, RING_IN_ISR, ENTER, 0);
    add(1, 1005, RING_IN_ISR, 88, 0);
    add(2, 1100, RING_IN_ISR, ENTER, 0);
    add(3, 1103, RING_IN_ISR, EXIT, 0);
    log_entries(&file, &image, 0, 2);
    log_loss(&file, EXTRACT_LOSS_LAPPED, 7, 0);
    log_entries(&file, &image, 2, 2);
    count_all();
    assert_int_equal(stats->interrupts, 2);
    assert_int_equal(stats->nested_interrupts, 0);
    assert_int_equal(stats->interrupt_ticks, 5 + 3);
    done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns_in_a_gap),
        cmocka_unit_test(test_turns_by_the_long_run),
        cmocka_unit_test(test_turns_by_hz),
        cmocka_unit_test(test_turns_unknown),
        cmocka_unit_test(test_idle_for_turns),
        cmocka_unit_test(test_late_polls),
        cmocka_unit_test(test_down_clock),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_damaged_walls),
        cmocka_unit_test(test_stats_over_gaps),
        cmocka_unit_test(test_priorities_over_resets),
        cmocka_unit_test(test_interrupts_over_gaps),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
