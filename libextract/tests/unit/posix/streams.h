// SPDX-License-Identifier: MIT
// tests: streams of this process. In: attributes, numbers as events. Out: trace ids, and the
// numbers read back.
#ifndef TESTS_POSIX_STREAMS_H
#define TESTS_POSIX_STREAMS_H

#include "tests/unit/posix/reading.h"
#include <signal.h>
#include <sys/time.h>

static inline trace_id_t create(const trace_attr_t *attr)
{
    trace_id_t trid;
    assert_int_equal(posix_trace_create(0, attr, &trid), 0);
    return trid;
}

static inline trace_id_t create_started(const trace_attr_t *attr)
{
    trace_id_t trid = create(attr);
    assert_int_equal(posix_trace_start(trid), 0);
    expect(trid, POSIX_TRACE_START);
    return trid;
}

static inline void end(trace_id_t trid)
{
    assert_int_equal(posix_trace_shutdown(trid), 0);
    assert_int_equal(posix_trace_shutdown(trid), EINVAL);
}

static inline trace_attr_t attributes(int policy, size_t size, size_t data)
{
    trace_attr_t attr;
    assert_int_equal(posix_trace_attr_init(&attr), 0);
    assert_int_equal(posix_trace_attr_setstreamfullpolicy(&attr, policy), 0);
    assert_int_equal(posix_trace_attr_setstreamsize(&attr, size), 0);
    assert_int_equal(posix_trace_attr_setmaxdatasize(&attr, data), 0);
    return attr;
}

static inline trace_event_id_t type(const char *name)
{
    trace_event_id_t id;
    assert_int_equal(posix_trace_eventid_open(name, &id), 0);
    return id;
}

static inline void event_number(trace_event_id_t id, uint32_t number)
{
    posix_trace_event(id, &number, sizeof number);
}

static inline uint32_t number_of(const struct got *got)
{
    uint32_t number;
    assert_int_equal(got->length, sizeof number);
    memcpy(&number, got->data, sizeof number);
    return number;
}

// ---- signals ----

static volatile sig_atomic_t signals __attribute__((unused));

static inline void count_signal(int number)
{
    (void)number;
    signals++;
}

// Alarms come from now on, one every so many microseconds; 0: no more. Their handler would have
// system calls restarted.
static inline void catch_alarms(long microseconds)
{
    const struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
    const struct itimerval times = {{0, microseconds}, {0, microseconds}};
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &times, NULL), 0);
}

#endif
