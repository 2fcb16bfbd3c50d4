// SPDX-License-Identifier: MIT
// Why threads of a kernel in POSIX traces lose the core, what they wait for, and a clock that
// stands still. Truth: counters in the scheduler of FreeRTOS, and computation by hand.
#define _GNU_SOURCE // memmem
#include "tests/unit/posix_format/rtos_events.h"
#include <extract/assert.h>
#include <extract/report.h>
#include <extract/why.h>
#include <string.h>

// Adds one round of two threads with the same priority: a is switched out at a tick, then b without
// one.
static void put_round(bool has_tick)
{
    put("rtos_isr_enter", TICK_ISR, 0, 0, 0);
    if (has_tick)
        put("rtos_tick", TICK_ISR, 7, 0, 0);
    put("rtos_isr_exit", TICK_ISR, 0, 0, 0);
    put("rtos_switch", A, A, B, 0);
    put("rtos_notify_get", B, B, 0, 0);
    put("rtos_switch", B, B, A, 0);
}

// Between threads of the same priority, a tick ends a time slice, and without a tick, a thread has
// yielded. A more urgent one preempts, also at a tick. Without any tick, nothing is known.
static void test_time_slices(void **state)
{
    enum { C = 0x20004500 };
    struct look look;

    (void)state;
    for (unsigned has_ticks = 0; has_ticks < 2; has_ticks++) {
        begin(&narrow);
        (void)id_of("rtos_priority_high_first");
        put("rtos_thread_priority", A, A, 1, 0);
        put("rtos_thread_priority", A, B, 1, 0);
        put("rtos_thread_priority", A, C, 2, 0);
        put_round(has_ticks);
        put_round(has_ticks);
        put("rtos_isr_enter", TICK_ISR, 0, 0, 0);
        if (has_ticks)
            put("rtos_tick", TICK_ISR, 8, 0, 0);
        put("rtos_thread_ready", TICK_ISR, C, 0, 0);
        put("rtos_isr_exit", TICK_ISR, 0, 0, 0);
        put("rtos_switch", A, A, C, 0);
        put("rtos_thread_sleep", C, C, 5, 0);
        put("rtos_switch", C, C, B, 0);

        struct extract_stats *stats = open_stats(&look);
        assert_int_equal(stats->switches[EXTRACT_SWITCH_PREEMPTED], 1);
        assert_int_equal(stats->switches[EXTRACT_SWITCH_GAVE_UP], 1);
        assert_int_equal(stats->switches[EXTRACT_SWITCH_TIME_SLICED], has_ticks ? 2 : 0);
        assert_int_equal(stats->switches[EXTRACT_SWITCH_YIELDED], has_ticks ? 2 : 0);
        assert_int_equal(stats->switches[EXTRACT_SWITCH_UNKNOWN], has_ticks ? 0 : 4);
        assert_int_equal(stats->time_slices, has_ticks ? 2 : 0);
        extract_stats_free(stats);
        look_close(&look);
    }
}

static void put_tick(unsigned number)
{
    put("rtos_isr_enter", TICK_ISR, 0, 0, 0);
    put("rtos_tick", TICK_ISR, number, 0, 0);
    put("rtos_isr_exit", TICK_ISR, 0, 0, 0);
}

// Begins with two threads of the same priority, both ready, and ticks that leave the core to a.
static void begin_with_ticks(unsigned ticks)
{
    begin(&narrow);
    (void)id_of("rtos_priority_high_first");
    put("rtos_thread_priority", A, A, 1, 0);
    put("rtos_thread_priority", A, B, 1, 0);
    put("rtos_thread_ready", A, B, 0, 0);
    for (unsigned i = 0; i < ticks; i++) {
        now += 1000;
        put_tick(i);
    }
}

// Ticks that leave the core to a thread, while another one is ready that is as urgent, show a
// kernel without time slices: a switch after a tick may be a yield there.
static void test_no_time_slices(void **state)
{
    struct look look;

    (void)state;
    begin_with_ticks(3);
    put("rtos_switch", A, A, B, 0);
    struct extract_stats *stats = open_stats(&look);
    assert_int_equal(stats->switches[EXTRACT_SWITCH_UNKNOWN], 1);
    assert_int_equal(stats->switches[EXTRACT_SWITCH_TIME_SLICED], 0);
    extract_stats_free(stats);
    look_close(&look);
}

// A switch long after a tick that left the core to the thread is a yield, and shows that ticks end
// no slices: whether one at a tick is a yield is not known then.
static void test_late_switch(void **state)
{
    struct look look;

    (void)state;
    begin_with_ticks(2);
    now += 500;
    put("rtos_switch", A, A, B, 0);
    now += 500;
    put_tick(2);
    put("rtos_switch", B, B, A, 0);
    struct extract_stats *stats = open_stats(&look);
    assert_int_equal(stats->switches[EXTRACT_SWITCH_YIELDED], 1);
    assert_int_equal(stats->switches[EXTRACT_SWITCH_UNKNOWN], 1);
    assert_int_equal(stats->switches[EXTRACT_SWITCH_TIME_SLICED], 0);
    extract_stats_free(stats);
    look_close(&look);
}

// A thread waits for its own notification.
static void test_object_of_notification(void **state)
{
    struct look look;

    (void)state;
    begin(&narrow);
    put("rtos_notify_block", A, A, 0, 0);
    put("rtos_switch", A, A, B, 0);
    put("rtos_notify", B, A, 0, 0);
    put("rtos_thread_ready", B, A, 0, 0);
    put("rtos_switch", B, B, A, 0);
    put("rtos_notify_block", A, A, 0, 0);
    put("rtos_switch", A, A, B, 0);
    struct extract_stats *stats = open_stats(&look);
    assert_int_equal(stats->wait_count, 1);
    assert_int_equal(stats->waits[0].object_address, A);
    extract_stats_free(stats);
    look_close(&look);
}

enum { SYSTEM_START = 2 }; // a system event type of the standard

static void put_pause(void)
{
    ptr_put(&ptr, 0, &(struct ptr_record){.id = SYSTEM_START, .stamp = now += step});
}

// Threads that have cores at the same time show that events are of several cores, which they do not
// name: then nobody is said to have had a core. Switches that were not recorded do not show that.
static void test_cores_at_once(void **state)
{
    enum { C = 0x20004500, D = 0x20004600 };
    static const struct {
        const char *name;
        uint64_t switches[8][2]; // the threads that lose and get a core; 0, 0: a pause
        bool hides_cores;
    } rows[] = {
        {"one core", {{A, B}, {B, C}, {C, A}, {A, D}, {D, C}}, false},
        {"two cores", {{A, B}, {C, D}, {B, A}, {D, C}, {A, B}, {C, D}}, true},
        {"a core that becomes idle", {{A, 0}, {C, D}, {0, A}, {D, C}, {A, 0}, {C, D}}, true},
        {"switches that are missing", {{A, B}, {C, D}, {A, B}, {B, D}, {C, B}, {B, D}}, false},
        {"pauses", {{A, B}, {0, 0}, {C, D}, {0, 0}, {B, A}, {0, 0}, {D, C}}, false},
    };
    const struct extract_why_options options = {.thread = "0x20004000"};
    struct extract_error error = {.code = EXTRACT_OK};
    struct extract_why *why = NULL;
    struct extract_text text;
    struct look look;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool hides_cores = rows[i].hides_cores;
        begin(&narrow);
        for (unsigned k = 0; k < 8; k++) {
            const uint64_t left = rows[i].switches[k][0], entered = rows[i].switches[k][1];
            if (left || entered)
                put("rtos_switch", left, left, entered, 0);
            else if (k + 1 < 8 && rows[i].switches[k + 1][0])
                put_pause();
        }
        struct extract_stats *stats = open_stats(&look);
        assert_int_equal(extract_trace_info(look.trace)->hides_cores, hides_cores);
        assert_int_equal(stats->has_loads, !hides_cores);
        assert_int_equal(stats->knows_time_slices, !hides_cores);
        extract_stats_free(stats);
        text = (struct extract_text){.data = NULL};
        assert_int_equal(extract_report_damage(&text, look.trace), EXTRACT_OK);
        assert_int_equal(text.used && memmem(text.data, text.used, "of several cores", 16),
                         hides_cores);
        extract_text_free(&text);
        if (hides_cores) {
            assert_int_equal(extract_why_new(&why, look.trace, &options, &error),
                             EXTRACT_UNSUPPORTED);
            assert_non_null(strstr(error.why, "of several cores"));
        }
        look_close(&look);
    }
}

// A clock that stands still is a fact of its own, and its responses are counted, but not explained.
static void test_still_clock(void **state)
{
    const struct extract_why_options options = {.thread = "a"};
    struct extract_error error = {.code = EXTRACT_OK};
    struct extract_assertion_result result;
    struct extract_assertions *assertions;
    struct extract_why *why = NULL;
    const uint64_t words[] = {A};
    uint8_t name[9] = {[4] = 'a'};
    struct extract_text text;
    struct look look;

    (void)state;
    for (unsigned is_still = 0; is_still < 2; is_still++) {
        begin(&narrow);
        step = is_still ? 0 : 10;
        put_bytes("rtos_object_name", A, false, name, store_words(name, words, 1) + 1);
        put("rtos_thread_sleep", A, A, 5, 0);
        put("rtos_switch", A, A, B, 0);
        put("rtos_thread_ready", B, A, 0, 0);
        put("rtos_switch", B, B, A, 0);
        put("rtos_thread_sleep", A, A, 5, 0);
        put("rtos_switch", A, A, B, 0);
        step = 10;
        struct extract_stats *stats = open_stats(&look);
        assert_int_equal(stats->clock_is_still, is_still);
        extract_stats_free(stats);
        assert_int_equal(extract_trace_info(look.trace)->clock.is_still, is_still);
        text = (struct extract_text){.data = NULL};
        assert_int_equal(extract_report_damage(&text, look.trace), EXTRACT_OK);
        assert_int_equal(text.used && memmem(text.data, text.used, "the clock stands still", 22),
                         is_still);
        extract_text_free(&text);
        enum extract_code code = extract_why_new(&why, look.trace, &options, &error);
        assert_int_equal(code, is_still ? EXTRACT_NOTFOUND : EXTRACT_OK);
        if (is_still)
            assert_string_equal(error.why, "all responses of this thread (1) took 0 ticks: the "
                                           "clock stands still");
        extract_why_free(why);
        why = NULL;
        assert_int_equal(extract_assertions_new(&assertions, look.trace, NULL, 0, true, NULL),
                         EXTRACT_OK);
        assert_int_equal(
            extract_assertions_check(assertions, "response(a).max < 100", &result, NULL),
            EXTRACT_OK);
        assert_int_equal(result.result,
                         is_still ? EXTRACT_ASSERTION_UNKNOWN : EXTRACT_ASSERTION_HOLDS);
        extract_assertions_free(assertions);
        look_close(&look);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_slices),   cmocka_unit_test(test_no_time_slices),
        cmocka_unit_test(test_late_switch),   cmocka_unit_test(test_object_of_notification),
        cmocka_unit_test(test_cores_at_once), cmocka_unit_test(test_still_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
