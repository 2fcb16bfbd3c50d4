// SPDX-License-Identifier: MIT
// qemu-tests/checkers/attach: B5 to B8: which trace ids may use which functions.
// In: a target that records what it is told. Out: a line for each assertion.
#include "attach.h"
#include <time.h>
#include <unistd.h>

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
    struct event event;
    return posix_trace_getnext_event(trid, &event.info, event.data, sizeof event.data,
                                     &event.length, &event.unavailable);
}

static int timed_next(trace_id_t trid)
{
    static const struct timespec past = {1, 0};
    struct event event;
    return posix_trace_timedgetnext_event(trid, &event.info, event.data, sizeof event.data,
                                          &event.length, &event.unavailable, &past);
}

static int try_next(trace_id_t trid)
{
    struct event event;
    return posix_trace_trygetnext_event(trid, &event.info, event.data, sizeof event.data,
                                        &event.length, &event.unavailable);
}

static int open_type(trace_id_t trid)
{
    trace_event_id_t id;
    return posix_trace_trid_eventid_open(trid, "told", &id);
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
    {"posix_trace_trygetnext_event", try_next, ACTIVE},
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

static bool uses_are(trace_id_t trid, int kind)
{
    bool good = true;
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        int error = uses[i].call(trid), want = uses[i].kinds & kind ? 0 : EINVAL;
        if (error != want)
            printf("# %s of kind %d: %d, not %d\n", uses[i].name, kind, error, want);
        good = good && error == want;
        if (kind & STREAMS)
            settle();
    }
    return good;
}

// The ends come last: `end_it` is that of that kind.
static void test_kind(const char *name, trace_id_t trid, int kind, int (*end_it)(trace_id_t),
                      int (*other)(trace_id_t))
{
    bool good = uses_are(trid, kind) && other(trid) == EINVAL && end_it(trid) == 0 &&
                uses_are(trid, 0) && other(trid) == EINVAL && end_it(trid) == EINVAL;
    settle();
    check(name, good);
}

void test_kinds(void)
{
    static const trace_id_t none[] = {0, (trace_id_t)-1, 0x7FFFFFFF};
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 100000);
    trace_id_t trid = 0;
    bool good = true;
    int fd = new_file();
    test_kind("B5 a stream without a log", create("B5 create", NULL), ACTIVE, posix_trace_shutdown,
              posix_trace_close);
    test_kind("B6 a stream with a log", create_log("B6 create", fd, &attr), LOGGED,
              posix_trace_shutdown, posix_trace_close);
    trid = create_log("B7 create", fd, &attr);
    record(3, 4);
    end("B7 shutdown", trid);
    test_kind("B7 a log", open_log("B7 open", fd), RECORDED, posix_trace_close,
              posix_trace_shutdown);
    close(fd);
    returns("B7 open what lies there", EXTRACT_OK,
            (int)extract_posix_open_memory(memory, symbols, 0, 0, &trid, NULL));
    test_kind("B7 a stream as it lies there", trid, RECORDED, posix_trace_close,
              posix_trace_shutdown);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        good = good && uses_are(none[i], 0) && posix_trace_shutdown(none[i]) == EINVAL &&
               posix_trace_close(none[i]) == EINVAL;
    check("B8 ids of nothing", good);
}
