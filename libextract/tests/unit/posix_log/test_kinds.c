// SPDX-License-Identifier: MIT
// Which trace ids may use which functions: those of a stream without a log, of one with a log, of a
// log that is read, and ids that are none. Truth: the lists of IEEE Std 1003.1-2008, 2.11.3; where
// it leaves a choice, docs/man/posix.
#include "tests/unit/posix_log/logging.h"

enum { ACTIVE = 1, LOGGED = 2, RECORDED = 4, STREAMS = ACTIVE | LOGGED, ALL = STREAMS | RECORDED };

static int get_name(trace_id_t trid)
{
    char name[TRACE_EVENT_NAME_MAX];
    return posix_trace_eventid_get_name(trid, POSIX_TRACE_START, name);
}

static int next_type(trace_id_t trid)
{
    trace_event_id_t id;
    int unavailable;
    return posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable);
}

static int get_attr(trace_id_t trid)
{
    trace_attr_t attr;
    return posix_trace_get_attr(trid, &attr);
}

static int get_status(trace_id_t trid)
{
    struct posix_trace_status_info status;
    return posix_trace_get_status(trid, &status);
}

static int get_next(trace_id_t trid)
{
    struct got got;
    return posix_trace_getnext_event(trid, &got.info, got.data, sizeof got.data, &got.length,
                                     &got.unavailable);
}

static int timed_next(trace_id_t trid)
{
    static const struct timespec past = {1, 0};
    struct got got;
    return posix_trace_timedgetnext_event(trid, &got.info, got.data, sizeof got.data, &got.length,
                                          &got.unavailable, &past);
}

static int try_one(trace_id_t trid)
{
    struct got got;
    return posix_trace_trygetnext_event(trid, &got.info, got.data, sizeof got.data, &got.length,
                                        &got.unavailable);
}

static int open_type(trace_id_t trid)
{
    trace_event_id_t id;
    return posix_trace_trid_eventid_open(trid, "kinds", &id);
}

static int get_filter(trace_id_t trid)
{
    trace_event_set_t set;
    return posix_trace_get_filter(trid, &set);
}

static int set_filter(trace_id_t trid)
{
    trace_event_set_t set;
    posix_trace_eventset_empty(&set);
    return posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
}

// In this order, so that there is something to read.
static const struct use {
    const char *name;
    int (*call)(trace_id_t trid);
    int kinds;
} uses[] = {
    {"posix_trace_start", posix_trace_start, STREAMS},
    {"posix_trace_stop", posix_trace_stop, STREAMS},
    {"posix_trace_getnext_event", get_next, ACTIVE | RECORDED},
    {"posix_trace_timedgetnext_event", timed_next, ACTIVE | RECORDED},
    {"posix_trace_trygetnext_event", try_one, ACTIVE},
    {"posix_trace_flush", posix_trace_flush, LOGGED},
    {"posix_trace_rewind", posix_trace_rewind, RECORDED},
    {"posix_trace_clear", posix_trace_clear, STREAMS},
    {"posix_trace_eventid_get_name", get_name, ALL},
    {"posix_trace_eventtypelist_getnext_id", next_type, ALL},
    {"posix_trace_eventtypelist_rewind", posix_trace_eventtypelist_rewind, ALL},
    {"posix_trace_get_attr", get_attr, ALL},
    {"posix_trace_get_status", get_status, ALL},
    {"posix_trace_trid_eventid_open", open_type, STREAMS},
    {"posix_trace_get_filter", get_filter, STREAMS},
    {"posix_trace_set_filter", set_filter, STREAMS},
};

static void check_use(const struct use *use, trace_id_t trid, int kind)
{
    int error = use->call(trid), want = use->kinds & kind ? 0 : EINVAL;
    if (error != want)
        fail_msg("%s of kind %d: %d, not %d", use->name, kind, error, want);
}

// The ends come last: `ends` is the one of that kind.
static void check_kind(trace_id_t trid, int kind, int (*ends)(trace_id_t), int (*other)(trace_id_t))
{
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        check_use(&uses[i], trid, kind);
    assert_int_equal(other(trid), EINVAL);
    assert_int_equal(ends(trid), 0);
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        check_use(&uses[i], trid, 0);
    assert_int_equal(other(trid), EINVAL);
    assert_int_equal(ends(trid), EINVAL);
}

static void test_b5_active(void **state)
{
    trace_id_t trid;
    (void)state;
    assert_int_equal(posix_trace_create(0, NULL, &trid), 0);
    check_kind(trid, ACTIVE, posix_trace_shutdown, posix_trace_close);
}

static void test_b6_logged(void **state)
{
    int fd = new_file();
    (void)state;
    check_kind(create_log(fd, NULL), LOGGED, posix_trace_shutdown, posix_trace_close);
    close(fd);
}

static void test_b7_recorded(void **state)
{
    int fd = new_file();
    (void)state;
    trace_id_t trid = create_log(fd, NULL);
    assert_int_equal(posix_trace_start(trid), 0);
    event_numbers(32, 0, 10);
    assert_int_equal(posix_trace_shutdown(trid), 0);
    check_kind(open_log(fd), RECORDED, posix_trace_close, posix_trace_shutdown);
    close(fd);
}

static void test_b8_none(void **state)
{
    static const trace_id_t none[] = {0, (trace_id_t)-1, 0x7FFFFFFF};
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        for (size_t k = 0; k < sizeof uses / sizeof *uses; k++)
            check_use(&uses[k], none[i], 0);
        assert_int_equal(posix_trace_shutdown(none[i]), EINVAL);
        assert_int_equal(posix_trace_close(none[i]), EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_b5_active),
        cmocka_unit_test(test_b6_logged),
        cmocka_unit_test(test_b7_recorded),
        cmocka_unit_test(test_b8_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
