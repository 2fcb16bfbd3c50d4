// SPDX-License-Identifier: MIT
// Tests copies of a ring of hook words while its recorder writes to it. The recorder works store by
// store, in the order of docs/formats/hook.md, and continues while every word is read. Events that
// are shown must be those that were recorded, complete, in order and without a gap. The reported
// losses must add up. Truth: the recorder's own numbers, and checksums in each record.
#include "tests/unit/hook/machine.h"

enum { RATES = 60 };

// Returns how many events were shown.
static size_t look_once(void)
{
    struct extract_memory_source source = {.read = read_live, .running = true};
    struct extract_memory *memory;
    struct look look;
    size_t count;
    assert_int_equal(extract_memory_new(&memory, &source, NULL), EXTRACT_OK);
    look_open_memory(&look, memory, ADDRESS, NULL);
    const struct extract_event *events = look_events(&look, &count);
    const struct extract_info *info = extract_trace_info(look.trace);
    uint32_t first = count ? (uint32_t)events[0].field[0] : 0;
    for (size_t i = 0; i < count; i++)
        check_event(&events[i], first + (uint32_t)i);
    assert_int_equal(info->entries_damaged, 0);
    assert_true(first + count <= machine.number);
    if (info->lost_known && count) // a record is counted just before the head passes it
        assert_true(info->events_lost == first || info->events_lost == first + 1);
    look_close(&look);
    return count;
}

static void test_nothing_torn(void **state)
{
    size_t shown = 0, looks = 0;
    (void)state;
    for (unsigned rate = 0; rate < RATES; rate++)
        for (unsigned before = 0; before < 3000; before += 7, looks++) {
            start(rate, before, rate * 7919 + before);
            shown += look_once();
        }
    assert_true(shown > looks * 2); // the test proves nothing if too few events are shown
}

// The recorder is slow. The loss is exact although the target runs, and most of the ring is read.
static void test_slow(void **state)
{
    (void)state;
    for (unsigned before = 3000; before < 3100; before++) {
        start(1, before, before);
        assert_true(look_once() >= 5);
    }
}

// The target is halted between two stores: at that moment, the count and the entries may differ by
// one.
static void test_halted_anywhere(void **state)
{
    (void)state;
    for (unsigned before = 0; before < 3000; before++) {
        struct extract_memory_source source = {.read = read_live};
        struct extract_memory *memory;
        struct look look;
        size_t count;
        start(0, before, 1);
        assert_int_equal(extract_memory_new(&memory, &source, NULL), EXTRACT_OK);
        look_open_memory(&look, memory, ADDRESS, NULL);
        const struct extract_event *events = look_events(&look, &count);
        const struct extract_info *info = extract_trace_info(look.trace);
        uint32_t first = count ? (uint32_t)events[0].field[0] : machine.number;
        for (size_t i = 0; i < count; i++)
            check_event(&events[i], first + (uint32_t)i);
        assert_int_equal(first + count, machine.number);
        assert_true(info->lost_known && info->entries_damaged == 0);
        assert_int_equal(info->events_lost, first + (machine.step == STEP_HEAD));
        look_close(&look);
    }
}

// The ring is cleared while it is copied. No event from before is shown as a current one.
static size_t clear_reads;

static size_t read_cleared(void *context, uint64_t address, void *buffer, size_t length)
{
    struct hooks *h = &machine.hooks;
    if (++clear_reads == 3) { // after the copy
        hooks_word(h, HOOKS_GENERATION, 1);
        h->tail = h->head;
        hooks_word(h, HOOKS_TAIL, h->tail);
        hooks_word(h, HOOKS_RECORDS, h->records = 0);
    }
    return read_live(context, address, buffer, length);
}

static void test_cleared_meanwhile(void **state)
{
    struct extract_memory_source source = {.read = read_cleared, .running = true};
    struct extract_memory *memory;
    struct look look;
    size_t count;
    (void)state;
    start(0, 900, 1);
    clear_reads = 0;
    assert_int_equal(extract_memory_new(&memory, &source, NULL), EXTRACT_OK);
    look_open_memory(&look, memory, ADDRESS, NULL);
    look_events(&look, &count);
    assert_int_equal(count, 0);
    assert_true(clear_reads > 3);
    look_close(&look);
}

// The ring is opened again after the copy. Its positions begin at 0 again, as they did before.
static size_t read_reopened(void *context, uint64_t address, void *buffer, size_t length)
{
    struct hooks *h = &machine.hooks;
    if (++clear_reads == 4) {
        hooks_build(h, false, SIZE, 0);
        hooks_word(h, HOOKS_GENERATION, 1);
        for (unsigned i = 0; i < 12; i++)
            hooks_put_plain(h, 500 + i, i);
    }
    return read_live(context, address, buffer, length);
}

static void test_opened_anew_meanwhile(void **state)
{
    struct extract_memory_source source = {.read = read_reopened, .running = true};
    struct extract_memory *memory;
    struct look look;
    size_t count;
    (void)state;
    start(0, 0, 1);
    hooks_build(&machine.hooks, false, SIZE, 0);
    for (unsigned i = 0; i < 5; i++)
        hooks_put_plain(&machine.hooks, i, i);
    clear_reads = 0;
    assert_int_equal(extract_memory_new(&memory, &source, NULL), EXTRACT_OK);
    look_open_memory(&look, memory, ADDRESS, NULL);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(count, 12);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(events[i].field[0], 500 + i);
    look_close(&look);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_torn),          cmocka_unit_test(test_slow),
        cmocka_unit_test(test_halted_anywhere),       cmocka_unit_test(test_cleared_meanwhile),
        cmocka_unit_test(test_opened_anew_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
