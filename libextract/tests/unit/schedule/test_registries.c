// SPDX-License-Identifier: MIT
// unit: schedules of logs whose registry of threads changes while it is not known yet what had the
// core after the last event: a thread gets another name, and one is new.
//
// Truth: by hand. Whoever has the core at an event had it since the event before.
#include "tests/unit/log_builder.h"
#include "tests/unit/scratch.h"
#include <extract/stats.h>

enum { A = RING_FIRST_THREAD, B = A + RING_THREAD_BYTES, D = 0x20008000 };
enum { RESUME = 1, SUSPEND, USER = 4096 };

static struct ring_image image;

static void add(uint64_t stamp, uint64_t thread, uint64_t id, uint64_t i1, uint64_t i2, uint64_t i4)
{
    ring_insert(&image, &(struct ring_entry){
                            thread, UINT64_C(1) << 31 | 5 << 16 | 5, id, stamp, {i1, i2, 0, i4}});
}

static uint64_t ticks_of(const struct extract_stats *stats, uint64_t address, const char *name)
{
    uint64_t ticks = 0;

    for (size_t i = 0; i < stats->thread_count; i++)
        if (stats->threads[i].thread->address == address &&
            (!name || strcmp(stats->threads[i].thread->name, name) == 0))
            ticks += stats->threads[i].ticks;
    return ticks;
}

static void test_registry_changes_during_a_step(void **state)
{
    const struct ring_object renamed = {.type = 1, .address = A, .name = "a again"};
    const struct ring_object added = {.type = 1, .address = D, .name = "d"};
    struct log_file log;
    struct log_look look;
    (void)state;

    ring_build_threads(&image);
    add(10, A, USER, 0, 0, 0);
    add(30, A, SUSPEND, A, 3, B); // B has the core until the next event
    add(70, B, RESUME, A, 3, A);  // A has, then
    add(90, A, USER, 0, 0, 0);
    add(95, A, SUSPEND, A, 3, D); // and D
    add(195, D, USER, 0, 0, 0);
    log_open(&log, scratch_path("registries.log"), &image);
    log_entries(&log, &image, 0, 2);
    ring_register(&image, 0, &renamed);
    log_objects(&log, &image);
    log_entries(&log, &image, 2, 3);
    ring_register(&image, RING_THREADS, &added);
    log_objects(&log, &image);
    log_entries(&log, &image, 5, 1);
    log_close(&log);

    struct extract_stats *stats;
    log_look_open(&look, log.path, NULL);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, NULL), EXTRACT_OK);
    assert_int_equal(stats->span_ticks, 185);
    assert_int_equal(ticks_of(stats, A, NULL), 20 + 25);
    assert_int_equal(ticks_of(stats, A, "a again"), 25);
    assert_int_equal(ticks_of(stats, B, NULL), 40);
    assert_int_equal(ticks_of(stats, D, "d"), 100);
    assert_int_equal(stats->context_switches, 3);
    extract_stats_free(stats);
    log_look_close(&look);
}

// What the core did before the new name belongs to the old one, although A never loses the core.
static void test_name_changes_while_a_thread_runs(void **state)
{
    const struct ring_object renamed = {.type = 1, .address = A, .name = "a again"};
    struct extract_stats *stats;
    struct log_file log;
    struct log_look look;
    (void)state;

    ring_build_threads(&image);
    add(10, A, USER, 0, 0, 0);
    add(30, A, USER, 0, 0, 0);
    add(70, A, USER, 0, 0, 0);
    add(150, A, USER, 0, 0, 0);
    log_open(&log, scratch_path("renamed.log"), &image);
    log_entries(&log, &image, 0, 2);
    ring_register(&image, 0, &renamed);
    log_objects(&log, &image);
    log_entries(&log, &image, 2, 2);
    log_close(&log);

    log_look_open(&look, log.path, NULL);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, NULL), EXTRACT_OK);
    assert_int_equal(ticks_of(stats, A, NULL), 140);
    assert_int_equal(ticks_of(stats, A, "a again"), 80);
    extract_stats_free(stats);
    log_look_close(&look);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_name_changes_while_a_thread_runs),
        cmocka_unit_test(test_registry_changes_during_a_step),
    };

    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
