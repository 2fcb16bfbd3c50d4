// SPDX-License-Identifier: MIT
// tests: events of a trace, one at a time. In: a trace id. Out: all that a call gave.
#ifndef TESTS_POSIX_READING_H
#define TESTS_POSIX_READING_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <cmocka.h>

struct got {
    struct posix_trace_event_info info;
    uint8_t data[80];
    size_t length;
    int unavailable;
};

static inline struct got next(trace_id_t trid)
{
    struct got got = {0};
    assert_int_equal(posix_trace_getnext_event(trid, &got.info, got.data, sizeof got.data,
                                               &got.length, &got.unavailable),
                     0);
    return got;
}

static inline struct got try_next(trace_id_t trid)
{
    struct got got = {0};
    assert_int_equal(posix_trace_trygetnext_event(trid, &got.info, got.data, sizeof got.data,
                                                  &got.length, &got.unavailable),
                     0);
    return got;
}

static inline uint64_t nanoseconds(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

static inline void assert_none(const struct got *got)
{
    assert_int_not_equal(got->unavailable, 0);
}

// Checks that the next event is of this type. Returns it.
static inline struct got expect(trace_id_t trid, trace_event_id_t id)
{
    struct got got = try_next(trid);
    assert_int_equal(got.unavailable, 0);
    assert_int_equal(got.info.posix_event_id, id);
    return got;
}

static inline void expect_none(trace_id_t trid)
{
    struct got got = try_next(trid);
    assert_none(&got);
}

static inline void expect_status(trace_id_t trid, int stream, int full, int overrun)
{
    struct posix_trace_status_info status;
    memset(&status, 0xFF, sizeof status);
    assert_int_equal(posix_trace_get_status(trid, &status), 0);
    assert_int_equal(status.posix_stream_status, stream);
    assert_int_equal(status.posix_stream_full_status, full);
    assert_int_equal(status.posix_stream_overrun_status, overrun);
    assert_int_equal(status.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
    assert_int_equal(status.posix_stream_flush_error, 0);
    assert_int_equal(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
    assert_int_equal(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
}

#endif
