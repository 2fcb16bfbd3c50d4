// SPDX-License-Identifier: MIT
// tests: which trace ids may use which functions (B5 to B8), on hosts and on targets. A use by any
// other is EINVAL. Truth: the lists of IEEE Std 1003.1-2008, 2.11.3; where it leaves a choice,
// docs/man/posix.
#ifndef TESTS_POSIX_LOG_USES_H
#define TESTS_POSIX_LOG_USES_H

#include <time.h>
#include <trace.h>

enum { ACTIVE = 1, LOGGED = 2, RECORDED = 4, STREAMS = ACTIVE | LOGGED, ALL = STREAMS | RECORDED };

struct use_event {
    struct posix_trace_event_info info;
    unsigned char data[256];
    size_t length;
    int unavailable;
};

static int get_name(trace_id_t trid)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
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
    struct use_event event;
    return posix_trace_getnext_event(trid, &event.info, event.data, sizeof event.data,
                                     &event.length, &event.unavailable);
}

static int timed_next(trace_id_t trid)
{
    static const struct timespec past = {1, 0};
    struct use_event event;
    return posix_trace_timedgetnext_event(trid, &event.info, event.data, sizeof event.data,
                                          &event.length, &event.unavailable, &past);
}

static int try_one(trace_id_t trid)
{
    struct use_event event;
    return posix_trace_trygetnext_event(trid, &event.info, event.data, sizeof event.data,
                                        &event.length, &event.unavailable);
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

#endif
