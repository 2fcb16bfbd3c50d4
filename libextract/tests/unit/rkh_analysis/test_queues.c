// SPDX-License-Identifier: MIT
// Tests which post a get belongs to, if there is something between them. A marker after which
// events may be lost makes the pair uncertain. It does not affect posts that come after it. Truth:
// frames written by hand. In the model, a signal 7 is posted and taken twice.
#include "tests/unit/ring_builder.h"
#include "tests/unit/trazer/rkh_stream.h"
#include "report/rkh/trazer.h"

enum { POST_FIRST = 1, GET_FIRST, POST_LAST, GET_LAST, EVENTS };

static void open_stream(struct look *look)
{
    struct extract_memory *memory;
    struct extract_error error;
    struct stream s;
    stream_begin(&s);
    for (unsigned i = 0; i < 2; i++) {
        stream_put(&s, 67, "3C010020 07 00000000 00 00 01 01");
        stream_put(&s, 66, "3C010020 07 00 00 00 01");
    }
    const char *path = scratch_write("stream.bin", s.bytes, s.used);
    assert_int_equal(extract_rkh_stream_open(&memory, path, &error), EXTRACT_OK);
    look_open_memory(look, memory, 0, NULL);
}

// Takes all events, with the marker `mark` between the first post and its get. 0 means no marker.
static void take_all(const struct extract_event *events, uint32_t mark, bool first_sure,
                     bool numbered)
{
    const struct extract_event between = {.id = mark};
    struct rkh_post_queues queues;
    struct rkh_post_match match;
    assert_true(rkh_post_queues_init(&queues));
    for (unsigned i = 0; i < EVENTS; i++) {
        if (mark && i == GET_FIRST)
            assert_true(rkh_post_queues_add_event(&queues, &between, &match));
        assert_true(rkh_post_queues_add_event(&queues, &events[i], &match));
        if (i == GET_FIRST)
            assert_int_equal(match.is_sure, first_sure);
        if (i == GET_LAST) {
            assert_true(match.is_sure);
            assert_int_equal(match.number, numbered ? 2 : -1);
        }
    }
    rkh_post_queues_free(&queues);
}

static void test_marks(void **state)
{
    static const uint32_t none[] = {0, EXTRACT_ID_MARK + EXTRACT_MARK_STOP,
                                    EXTRACT_ID_MARK + EXTRACT_MARK_ERROR};
    static const uint32_t hide[] = {EXTRACT_ID_LOST, EXTRACT_ID_MARK + EXTRACT_MARK_FILTER};
    struct look look;
    size_t count;
    (void)state;
    open_stream(&look);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(count, EVENTS);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        take_all(events, none[i], true, true);
    for (size_t i = 0; i < sizeof hide / sizeof *hide; i++)
        take_all(events, hide[i], false, false);
    take_all(events, EXTRACT_ID_MARK + EXTRACT_MARK_START, false, true);
    look_close(&look);
}

// The first record of a queue states that 254 other events are before it. They share one element of
// the queue.
static void test_unseen(void **state)
{
    struct rkh_post_queues queues;
    struct rkh_post_match match;
    struct extract_memory *memory;
    struct extract_error error;
    struct look look;
    struct stream s;
    size_t count;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 67, "3C010020 07 00000000 00 00 FF 01");
    stream_put(&s, 68, "3C010020 08 00000000 00 00 00 01"); // 256 events, which a byte stores as 0
    stream_put(&s, 66, "3C010020 07 00 00 FE 01");
    stream_put(&s, 66, "3C010020 07 00 00 00 01");
    const char *path = scratch_write("unseen.bin", s.bytes, s.used);
    assert_int_equal(extract_rkh_stream_open(&memory, path, &error), EXTRACT_OK);
    look_open_memory(&look, memory, 0, NULL);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(count, 5);
    assert_true(rkh_post_queues_init(&queues));
    assert_true(rkh_post_queues_add_event(&queues, &events[1], &match));
    assert_int_equal(queues.queues[0].length, 255);
    assert_int_equal(queues.queues[0].used_count, 2);
    assert_int_equal(match.post->number, 1);
    assert_true(rkh_post_queues_add_event(&queues, &events[3], &match));
    assert_int_equal(queues.queues[0].length, 254);
    assert_null(match.post);
    assert_true(rkh_post_queues_add_event(&queues, &events[4], &match));
    assert_int_equal(queues.queues[0].length, 0);
    assert_non_null(match.post);
    assert_int_equal(match.post->number, 1);
    // The first post is before the events that were not seen. More of those come after it.
    assert_true(rkh_post_queues_add_event(&queues, &events[1], &match));
    assert_true(rkh_post_queues_add_event(&queues, &events[2], &match));
    assert_int_equal(queues.queues[0].length, 1);
    assert_int_equal(match.post->signal, 8);
    assert_true(rkh_post_queues_add_event(&queues, &events[3], &match));
    assert_int_equal(queues.queues[0].length, 254);
    assert_int_equal(queues.queues[0].used_count, 2);
    rkh_post_queues_free(&queues);
    look_close(&look);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_marks), cmocka_unit_test(test_unseen)};
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
