// SPDX-License-Identifier: MIT
// What streams keep and leave out: full policies, filters. Truth: what the trace points were given,
// and IEEE Std 1003.1-2008, 2.11.
#include "tests/unit/posix/image.h"
#include "tests/unit/posix/streams.h"

// ---- D: policies ----

static void test_d1_loop(void **state)
{
    trace_attr_t attr = attributes(POSIX_TRACE_LOOP, 4000, 16);
    struct timespec before, after;
    struct got got;
    uint32_t first, count = 0;
    (void)state;
    trace_id_t trid = create_started(&attr);
    clock_gettime(CLOCK_REALTIME, &before);
    event_number(32, 0); // the first that is lost
    clock_gettime(CLOCK_REALTIME, &after);
    for (uint32_t i = 1; i < 1000; i++)
        event_number(32, i);
    expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN);
    expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_FULL, POSIX_TRACE_NO_OVERRUN);
    struct got overflow = expect(trid, POSIX_TRACE_OVERFLOW);
    struct got resume = expect(trid, POSIX_TRACE_RESUME);
    got = expect(trid, 32);
    first = number_of(&got);
    assert_true(first > 500); // the newest
    // RESUME has the stamp of the first that is there, OVERFLOW that of the first that is not.
    assert_int_equal(nanoseconds(&got.info.posix_timestamp),
                     nanoseconds(&resume.info.posix_timestamp));
    assert_in_range(nanoseconds(&overflow.info.posix_timestamp), nanoseconds(&before),
                    nanoseconds(&after));
    for (count = 1; first + count < 1000; count++) {
        got = expect(trid, 32);
        assert_int_equal(number_of(&got), first + count);
    }
    expect_none(trid);
    expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    end(trid);
}

// A full loop can be stopped, and says so.
static void test_d2_loop_stops(void **state)
{
    trace_attr_t attr = attributes(POSIX_TRACE_LOOP, 1000, 16);
    struct got got, last = {0};
    (void)state;
    trace_id_t trid = create(&attr);
    assert_int_equal(posix_trace_start(trid), 0);
    for (uint32_t i = 0; i < 100; i++) // nobody has looked yet
        event_number(32, i);
    expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN);
    assert_int_equal(posix_trace_stop(trid), 0);
    expect_status(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN);
    while (!(got = try_next(trid)).unavailable)
        last = got;
    assert_int_equal(last.info.posix_event_id, POSIX_TRACE_STOP);
    end(trid);
}

static void test_d3_until_full(void **state)
{
    trace_attr_t attr = attributes(POSIX_TRACE_UNTIL_FULL, 1000, 16);
    struct got got;
    int by_itself = 0;
    uint32_t count = 0;
    (void)state;
    trace_id_t trid = create(&attr);
    for (unsigned round = 0; round < 3; round++) {
        if (!round)
            assert_int_equal(posix_trace_start(trid), 0);
        for (uint32_t i = 0; i < 200; i++)
            event_number(32, i);
        expect_status(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN);
        expect_status(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_NO_OVERRUN);
        event_number(32, 200);
        expect_status(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN);
        // Neither starts nor stops what is full.
        assert_int_equal(posix_trace_start(trid), 0);
        expect(trid, POSIX_TRACE_START);
        for (count = 0; (got = try_next(trid)).info.posix_event_id == 32; count++)
            assert_int_equal(number_of(&got), count);
        assert_true(count >= 1000 / 44);
        assert_int_equal(got.info.posix_event_id, POSIX_TRACE_STOP);
        memcpy(&by_itself, got.data, sizeof by_itself);
        assert_int_not_equal(by_itself, 0);
        expect_none(trid);
        expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    }
    end(trid);
}

// Of a full stream, what is left stays readable while the rest is refused.
static void test_d4_partly_read(void **state)
{
    trace_attr_t attr = attributes(POSIX_TRACE_UNTIL_FULL, 1000, 16);
    (void)state;
    trace_id_t trid = create_started(&attr);
    for (uint32_t i = 0; i < 200; i++)
        event_number(32, i);
    struct got got = expect(trid, 32);
    assert_int_equal(number_of(&got), 0);
    expect_status(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN);
    got = expect(trid, 32);
    assert_int_equal(number_of(&got), 1);
    end(trid);
}

static void test_d5_clear(void **state)
{
    static const int policies[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        trace_attr_t attr = attributes(policies[i], 1000, 16);
        trace_id_t trid = create_started(&attr);
        trace_event_id_t id = type("kept over a clear");
        char name[TRACE_EVENT_NAME_MAX + 1];
        for (uint32_t k = 0; k < 200; k++)
            event_number(32, k);
        assert_int_equal(posix_trace_clear(trid), 0);
        if (policies[i] == POSIX_TRACE_UNTIL_FULL) { // it stopped itself, and stays suspended
            expect_status(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL,
                          POSIX_TRACE_NO_OVERRUN);
            assert_int_equal(posix_trace_start(trid), 0);
            expect(trid, POSIX_TRACE_START);
        }
        expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
        event_number(id, 7);
        struct got got = expect(trid, id);
        assert_int_equal(number_of(&got), 7);
        expect_none(trid);
        assert_int_equal(posix_trace_eventid_get_name(trid, id, name), 0);
        assert_string_equal(name, "kept over a clear");
        end(trid);
    }
}

// A reader that met the gap first leaves the overrun to be told of, once.
static void test_d7_overrun_after_reading(void **state)
{
    trace_attr_t attr = attributes(POSIX_TRACE_LOOP, 1000, 16);
    (void)state;
    trace_id_t trid = create_started(&attr);
    for (unsigned round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 200; i++)
            event_number(32, i);
        expect(trid, POSIX_TRACE_OVERFLOW);
        while (!try_next(trid).unavailable)
            continue;
        expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_OVERRUN);
        for (unsigned i = 0; i < 2; i++)
            expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    }
    end(trid);
}

// ---- G: filters ----

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

static void test_g3_filtered(void **state)
{
    trace_event_set_t set, sets[2], got_set;
    (void)state;
    trace_event_id_t a = type("filtered a"), b = type("filtered b");
    trace_id_t trid = create(NULL);
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(a, &set);
    assert_int_equal(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
    assert_int_equal(posix_trace_start(trid), 0);
    expect(trid, POSIX_TRACE_START); // and no FILTER in front of it
    event_number(a, 1);
    event_number(b, 2);
    expect(trid, b);
    expect_none(trid);
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(b, &set);
    assert_int_equal(posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET), 0);
    event_number(a, 3);
    event_number(b, 4);
    struct got got = expect(trid, POSIX_TRACE_FILTER);
    assert_int_equal(got.length, sizeof sets);
    memcpy(sets, got.data, sizeof sets);
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(a, &set);
    assert_memory_equal(&sets[0], &set, sizeof set);
    posix_trace_eventset_add(b, &set);
    assert_memory_equal(&sets[1], &set, sizeof set);
    expect_none(trid);
    posix_trace_eventset_del(b, &set);
    assert_int_equal(posix_trace_set_filter(trid, &set, POSIX_TRACE_SUB_EVENTSET), 0);
    expect(trid, POSIX_TRACE_FILTER);
    event_number(a, 5);
    got = expect(trid, a);
    assert_int_equal(number_of(&got), 5);
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(b, &set);
    assert_int_equal(posix_trace_get_filter(trid, &got_set), 0);
    assert_memory_equal(&got_set, &set, sizeof set);
    assert_int_equal(posix_trace_set_filter(trid, &set, 0), EINVAL);
    assert_int_equal(posix_trace_set_filter(trid, &set, 4), EINVAL);
    end(trid);
    trid = create(NULL); // the next one has none of it
    assert_int_equal(posix_trace_start(trid), 0);
    got = expect(trid, POSIX_TRACE_START);
    memcpy(&got_set, got.data, sizeof got_set);
    posix_trace_eventset_empty(&set);
    assert_memory_equal(&got_set, &set, sizeof set);
    end(trid);
}

// The system's types can be filtered like the others.
static void test_g4_system_types(void **state)
{
    trace_attr_t attr = attributes(POSIX_TRACE_UNTIL_FULL, 1000, 16);
    trace_event_set_t set, start;
    struct got got;
    (void)state;
    trace_event_id_t a = type("filtered a");
    trace_id_t trid = create(&attr);
    posix_trace_eventset_empty(&start);
    posix_trace_eventset_add(POSIX_TRACE_START, &start);
    posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS);
    posix_trace_eventset_del(a, &set);
    assert_int_equal(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
    assert_int_equal(posix_trace_start(trid), 0);
    assert_int_equal(posix_trace_set_filter(trid, &start, POSIX_TRACE_SUB_EVENTSET), 0);
    event_number(a, 1);
    expect(trid, a); // neither START nor FILTER
    assert_int_equal(posix_trace_stop(trid), 0);
    expect_none(trid);
    assert_int_equal(posix_trace_start(trid), 0);
    expect(trid, POSIX_TRACE_START);
    for (uint32_t i = 0; i < 100; i++)
        event_number(a, i);
    expect_status(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN);
    while (!(got = try_next(trid)).unavailable) // and no STOP
        assert_int_equal(got.info.posix_event_id, a);
    end(trid);
}

// What is added may be there, and what is taken away may not.
static void test_g5_algebra(void **state)
{
    trace_event_set_t ab = set_of(40, 41), bc = set_of(41, 42), a = set_of(40, 40), none = {0};
    trace_event_set_t abc = set_of(40, 41);
    (void)state;
    posix_trace_eventset_add(42, &abc);
    trace_id_t trid = create(NULL);
    for (unsigned started = 0; started < 2; started++) {
        assert_int_equal(posix_trace_set_filter(trid, &ab, POSIX_TRACE_SET_EVENTSET), 0);
        assert_filter(trid, &ab);
        assert_int_equal(posix_trace_set_filter(trid, &bc, POSIX_TRACE_SUB_EVENTSET), 0);
        assert_filter(trid, &a);
        assert_int_equal(posix_trace_set_filter(trid, &ab, POSIX_TRACE_ADD_EVENTSET), 0);
        assert_filter(trid, &ab);
        assert_int_equal(posix_trace_set_filter(trid, &bc, POSIX_TRACE_ADD_EVENTSET), 0);
        assert_filter(trid, &abc);
        assert_int_equal(posix_trace_set_filter(trid, &bc, POSIX_TRACE_SET_EVENTSET), 0);
        assert_filter(trid, &bc);
        assert_int_equal(posix_trace_set_filter(trid, &none, POSIX_TRACE_SET_EVENTSET), 0);
        assert_filter(trid, &none);
        assert_int_equal(posix_trace_start(trid), 0);
    }
    end(trid);
}

// A call that a signal interrupts changes nothing; one that succeeds did all that it was for.
static void test_g6_interrupted(void **state)
{
    const trace_event_set_t sets[] = {set_of(40, 41), set_of(42, 43)};
    unsigned now = 0;
    (void)state;
    trace_id_t trid = create_started(NULL);
    assert_int_equal(posix_trace_set_filter(trid, &sets[0], POSIX_TRACE_SET_EVENTSET), 0);
    catch_alarms(100);
    for (unsigned i = 0; i < 2000 || !signals; i++) {
        int error = posix_trace_set_filter(trid, &sets[!now], POSIX_TRACE_SET_EVENTSET);
        assert_true(error == 0 || error == EINTR);
        now = error ? now : !now;
        assert_filter(trid, &sets[now]);
    }
    catch_alarms(0);
    end(trid);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_d1_loop),       cmocka_unit_test(test_d2_loop_stops),
        cmocka_unit_test(test_d3_until_full), cmocka_unit_test(test_d4_partly_read),
        cmocka_unit_test(test_d5_clear),      cmocka_unit_test(test_d7_overrun_after_reading),
        cmocka_unit_test(test_g3_filtered),   cmocka_unit_test(test_g4_system_types),
        cmocka_unit_test(test_g5_algebra),    cmocka_unit_test(test_g6_interrupted),
        cmocka_unit_test(test_g7_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
