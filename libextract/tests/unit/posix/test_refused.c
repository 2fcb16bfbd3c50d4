// SPDX-License-Identifier: MIT
// A change of a filter that a target's memory refuses halfway: it changes nothing. Truth: what was
// put into a target made by hand.
#include "tests/unit/posix/image.h"
#include "tests/unit/posix/streams.h"

static trace_event_set_t set_of(trace_event_id_t a, trace_event_id_t b)
{
    trace_event_set_t set;
    assert_int_equal(posix_trace_eventset_empty(&set), 0);
    assert_int_equal(posix_trace_eventset_add(a, &set), 0);
    assert_int_equal(posix_trace_eventset_add(b, &set), 0);
    return set;
}

static void assert_filter(trace_id_t trid, const trace_event_set_t *want)
{
    trace_event_set_t got;
    assert_int_equal(posix_trace_get_filter(trid, &got), 0);
    assert_memory_equal(&got, want, sizeof got);
}

// A target whose memory takes words up to one of them only.
static void check_half_done(uint32_t refused)
{
    enum { PID = 79 };
    static struct image image, made;
    const trace_event_set_t before = set_of(33, 34), after = set_of(35, 36);
    trace_event_set_t in_start;
    trace_id_t trid;
    image = (struct image){.hz = 1000};
    image_make(&image);
    made = image;
    assert_int_equal(extract_posix_attach(PID, image.memory, NULL, IMAGE_ADDRESS, NULL),
                     EXTRACT_OK);
    assert_int_equal(posix_trace_create(PID, NULL, &trid), 0);
    image_serve(&image);
    assert_int_equal(posix_trace_set_filter(trid, &before, POSIX_TRACE_SET_EVENTSET), 0);
    image_serve(&image);
    image.refused_offset = refused;
    assert_int_equal(posix_trace_set_filter(trid, &after, POSIX_TRACE_ADD_EVENTSET), EIO);
    image.refused_offset = 0;
    assert_filter(trid, &before);
    assert_int_equal(posix_trace_start(trid), 0); // which does not bring it about
    image_serve(&image);
    struct got got = expect(trid, POSIX_TRACE_START);
    memcpy(&in_start, got.data, sizeof in_start);
    assert_memory_equal(&in_start, &before, sizeof before);
    image.refused_offset = refused;
    assert_int_equal(posix_trace_set_filter(trid, &after, POSIX_TRACE_SET_EVENTSET), EIO);
    image.refused_offset = 0;
    memcpy(image.bytes, made.bytes, sizeof image.bytes); // the target is reset
    image_put(&image, IMAGE_GENERATION, 2);
    expect_none(trid);
    assert_filter(trid, &before);
    image_serve(&image);
    assert_int_equal(image_word(&image, 0, IMAGE_FILTER + 4), before.ringside_words[1]);
    assert_int_equal(extract_posix_detach(PID, NULL), EXTRACT_OK);
    image_close(&image);
}

static void test_g7_failed(void **state)
{
    const uint32_t stream = image_block(0);
    (void)state;
    check_half_done(stream + IMAGE_WANTED);
    check_half_done(stream + IMAGE_WANTED_CLEARS);
    check_half_done(stream + IMAGE_WANTED_FILTER);
    check_half_done(stream + IMAGE_REQUEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_g7_failed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
