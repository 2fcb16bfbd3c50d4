// SPDX-License-Identifier: MIT
// The attributes object, sets of event types, limits. Truth: IEEE Std 1003.1-2008, and arithmetic
// on the record of docs/formats/posix-ring.md.
#include "tests/unit/posix/reading.h"
#include <extract/posix/attach.h>
#include <unistd.h>

static void test_a1_defaults(void **state)
{
    trace_attr_t attr;
    struct timespec resolution, clock;
    char name[TRACE_NAME_MAX], version[TRACE_NAME_MAX];
    int value;
    size_t size;
    (void)state;
    memset(&attr, 0xA5, sizeof attr);
    assert_int_equal(posix_trace_attr_init(&attr), 0);
    assert_int_equal(posix_trace_attr_getname(&attr, name), 0);
    assert_string_equal(name, "");
    assert_int_equal(posix_trace_attr_getgenversion(&attr, version), 0);
    assert_int_equal(strncmp(version, "ringside ", 9), 0);
    assert_int_equal(posix_trace_attr_getclockres(&attr, &resolution), 0);
    assert_int_equal(clock_getres(CLOCK_REALTIME, &clock), 0);
    assert_int_equal(nanoseconds(&resolution), nanoseconds(&clock));
    assert_int_equal(posix_trace_attr_getstreamfullpolicy(&attr, &value), 0);
    assert_int_equal(value, POSIX_TRACE_LOOP);
    assert_int_equal(posix_trace_attr_getlogfullpolicy(&attr, &value), 0);
    assert_int_equal(value, POSIX_TRACE_LOOP);
    assert_int_equal(posix_trace_attr_getinherited(&attr, &value), 0);
    assert_int_equal(value, POSIX_TRACE_CLOSE_FOR_CHILD);
    assert_int_equal(posix_trace_attr_getstreamsize(&attr, &size), 0);
    assert_true(size >= 4096);
    assert_int_equal(posix_trace_attr_getlogsize(&attr, &size), 0);
    assert_true(size >= 4096);
    assert_int_equal(posix_trace_attr_getmaxdatasize(&attr, &size), 0);
    assert_true(size >= 64);
    assert_int_equal(posix_trace_attr_destroy(&attr), 0);
}

static void check_choice(int (*set)(trace_attr_t *, int),
                         int (*get)(const trace_attr_t *restrict, int *restrict), const int *values,
                         unsigned count, int bad)
{
    trace_attr_t attr;
    int value;
    assert_int_equal(posix_trace_attr_init(&attr), 0);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(set(&attr, values[i]), 0);
        assert_int_equal(get(&attr, &value), 0);
        assert_int_equal(value, values[i]);
        assert_int_equal(set(&attr, bad), EINVAL);
        assert_int_equal(get(&attr, &value), 0);
        assert_int_equal(value, values[i]);
    }
    assert_int_equal(posix_trace_attr_destroy(&attr), 0);
    assert_int_equal(set(&attr, values[0]), EINVAL);
    assert_int_equal(get(&attr, &value), EINVAL);
}

static void test_a2_choices(void **state)
{
    static const int log[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND};
    static const int stream[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH};
    static const int inherited[] = {POSIX_TRACE_INHERITED, POSIX_TRACE_CLOSE_FOR_CHILD};
    (void)state;
    check_choice(posix_trace_attr_setlogfullpolicy, posix_trace_attr_getlogfullpolicy, log, 3,
                 POSIX_TRACE_FLUSH);
    check_choice(posix_trace_attr_setstreamfullpolicy, posix_trace_attr_getstreamfullpolicy, stream,
                 3, POSIX_TRACE_APPEND);
    check_choice(posix_trace_attr_setinherited, posix_trace_attr_getinherited, inherited, 2, 7);
}

static void check_size(int (*set)(trace_attr_t *, size_t),
                       int (*get)(const trace_attr_t *restrict, size_t *restrict))
{
    static const size_t sizes[] = {0, 1, 100, 12345};
    trace_attr_t attr;
    size_t size;
    assert_int_equal(posix_trace_attr_init(&attr), 0);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(set(&attr, sizes[i]), 0);
        assert_int_equal(get(&attr, &size), 0);
        assert_int_equal(size, sizes[i]);
    }
    assert_int_equal(posix_trace_attr_destroy(&attr), 0);
    assert_int_equal(set(&attr, 1), EINVAL);
    assert_int_equal(get(&attr, &size), EINVAL);
}

static void test_a3_sizes(void **state)
{
    trace_attr_t attr;
    (void)state;
    check_size(posix_trace_attr_setlogsize, posix_trace_attr_getlogsize);
    check_size(posix_trace_attr_setmaxdatasize, posix_trace_attr_getmaxdatasize);
    check_size(posix_trace_attr_setstreamsize, posix_trace_attr_getstreamsize);
    assert_int_equal(posix_trace_attr_init(&attr), 0);
    assert_int_equal(posix_trace_attr_setmaxdatasize(&attr, 65536), EINVAL);
}

static void check_name(const char *name, const char *stored)
{
    trace_attr_t attr;
    char got[TRACE_NAME_MAX];
    assert_int_equal(posix_trace_attr_init(&attr), 0);
    assert_int_equal(posix_trace_attr_setname(&attr, "another one"), 0);
    assert_int_equal(posix_trace_attr_setname(&attr, name), 0);
    assert_int_equal(posix_trace_attr_getname(&attr, got), 0);
    assert_string_equal(got, stored);
}

static void test_a4_names(void **state)
{
    (void)state;
    check_name("", "");
    check_name("my_trace", "my_trace");
    check_name("fifteen letters", "fifteen letters");
    check_name("sixteen letters!", "sixteen letters");
    check_name("many more letters than there is room for", "many more lette");
}

// An event is header, data and trailer: on this host 10 words without the data.
static void test_a5_event_sizes(void **state)
{
    trace_attr_t attr;
    size_t size, before = 0;
    (void)state;
    assert_int_equal(posix_trace_attr_init(&attr), 0);
    assert_int_equal(posix_trace_attr_setmaxdatasize(&attr, 30), 0);
    for (size_t length = 0; length < 100; length++) {
        assert_int_equal(posix_trace_attr_getmaxusereventsize(&attr, length, &size), 0);
        assert_true(size >= before);
        before = size;
    }
    assert_int_equal(before, (sizeof(void *) == 8 ? 40 : 32) + 32);
    assert_int_equal(posix_trace_attr_getmaxsystemeventsize(&attr, &size), 0);
    assert_int_equal(size, (sizeof(void *) == 8 ? 40 : 32) + 2 * sizeof(trace_event_set_t));
}

static void test_a6_never_made(void **state)
{
    trace_attr_t attr;
    char name[TRACE_NAME_MAX];
    struct timespec time;
    trace_id_t trid;
    (void)state;
    memset(&attr, 0, sizeof attr);
    assert_int_equal(posix_trace_attr_destroy(&attr), EINVAL);
    assert_int_equal(posix_trace_attr_getname(&attr, name), EINVAL);
    assert_int_equal(posix_trace_attr_getgenversion(&attr, name), EINVAL);
    assert_int_equal(posix_trace_attr_getcreatetime(&attr, &time), EINVAL);
    assert_int_equal(posix_trace_attr_getclockres(&attr, &time), EINVAL);
    assert_int_equal(posix_trace_attr_setname(&attr, "x"), EINVAL);
    assert_int_equal(posix_trace_create(0, &attr, &trid), EINVAL);
}

// ---- G: sets ----

static bool has(const trace_event_set_t *set, trace_event_id_t id)
{
    int member = -1;
    assert_int_equal(posix_trace_eventset_ismember(id, set, &member), 0);
    return member;
}

static void test_g1_sets(void **state)
{
    trace_event_set_t set, copy;
    (void)state;
    memset(&set, 0xA5, sizeof set);
    assert_int_equal(posix_trace_eventset_empty(&set), 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set), 0);
    assert_int_equal(posix_trace_eventset_add(287, &set), 0);
    copy = set;
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(posix_trace_eventset_del(287, &set), 0);
    assert_true(has(&set, 32) && !has(&set, 287) && has(&copy, 287) && !has(&set, 33));
    assert_int_equal(posix_trace_eventset_add(288, &set), EINVAL);
    assert_int_equal(posix_trace_eventset_add(9, &set), EINVAL);
    assert_int_equal(posix_trace_eventset_del(0, &set), EINVAL);
    int member;
    assert_int_equal(posix_trace_eventset_ismember(1000000, &set, &member), EINVAL);
}

static void test_g2_fill(void **state)
{
    trace_event_set_t set;
    (void)state;
    assert_int_equal(posix_trace_eventset_fill(&set, POSIX_TRACE_WOPID_EVENTS), 0);
    assert_true(!has(&set, POSIX_TRACE_START) && !has(&set, 32));
    assert_int_equal(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS), 0);
    for (trace_event_id_t id = 1; id <= 8; id++)
        assert_true(has(&set, id));
    assert_false(has(&set, 32));
    assert_int_equal(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS), 0);
    assert_true(has(&set, POSIX_TRACE_ERROR) && has(&set, 32) && has(&set, 287));
    assert_int_equal(posix_trace_eventset_fill(&set, 0), EINVAL);
    assert_int_equal(posix_trace_eventset_fill(&set, 4), EINVAL);
}

// ---- limits ----

static void test_a10_limits(void **state)
{
    (void)state;
    assert_int_equal(extract_posix_sysconf(_SC_TRACE), 200809);
    assert_int_equal(extract_posix_sysconf(_SC_TRACE_LOG), 200809);
    assert_int_equal(extract_posix_sysconf(_SC_TRACE_INHERIT), 200809);
    assert_int_equal(extract_posix_sysconf(_SC_TRACE_EVENT_FILTER), 200809);
    assert_true(extract_posix_sysconf(_SC_TRACE_EVENT_NAME_MAX) >= _POSIX_TRACE_EVENT_NAME_MAX);
    assert_true(extract_posix_sysconf(_SC_TRACE_NAME_MAX) >= _POSIX_TRACE_NAME_MAX);
    assert_true(extract_posix_sysconf(_SC_TRACE_SYS_MAX) >= _POSIX_TRACE_SYS_MAX);
    assert_true(extract_posix_sysconf(_SC_TRACE_USER_EVENT_MAX) >= _POSIX_TRACE_USER_EVENT_MAX);
    assert_int_equal(extract_posix_sysconf(_SC_PAGESIZE), sysconf(_SC_PAGESIZE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a1_defaults),    cmocka_unit_test(test_a2_choices),
        cmocka_unit_test(test_a3_sizes),       cmocka_unit_test(test_a4_names),
        cmocka_unit_test(test_a5_event_sizes), cmocka_unit_test(test_a6_never_made),
        cmocka_unit_test(test_g1_sets),        cmocka_unit_test(test_g2_fill),
        cmocka_unit_test(test_a10_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
