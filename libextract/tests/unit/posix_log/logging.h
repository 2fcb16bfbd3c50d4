// SPDX-License-Identifier: MIT
// tests: streams with a log, and the log when it is read again. In: attributes, numbers as events.
// Out: what the log contains.
#ifndef TESTS_POSIX_LOG_LOGGING_H
#define TESTS_POSIX_LOG_LOGGING_H

#include "tests/unit/posix/reading.h"
#include <fcntl.h>
#include <unistd.h>

// A new file without a name.
static inline int new_file(void)
{
    char path[] = "/tmp/posix-log-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    return fd;
}

static inline trace_attr_t log_attributes(int stream_policy, int log_policy, size_t stream_size,
                                          size_t log_size)
{
    trace_attr_t attr;
    assert_int_equal(posix_trace_attr_init(&attr), 0);
    assert_int_equal(posix_trace_attr_setstreamfullpolicy(&attr, stream_policy), 0);
    assert_int_equal(posix_trace_attr_setlogfullpolicy(&attr, log_policy), 0);
    assert_int_equal(posix_trace_attr_setstreamsize(&attr, stream_size), 0);
    assert_int_equal(posix_trace_attr_setlogsize(&attr, log_size), 0);
    return attr;
}

static inline trace_id_t create_log(int fd, const trace_attr_t *attr)
{
    trace_id_t trid;
    assert_int_equal(posix_trace_create_withlog(0, attr, fd, &trid), 0);
    return trid;
}

static inline void event_numbers(trace_event_id_t id, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        posix_trace_event(id, &i, sizeof i);
}

static inline trace_id_t open_log(int fd)
{
    trace_id_t trid;
    assert_int_equal(posix_trace_open(fd, &trid), 0);
    return trid;
}

static inline uint32_t number_in(const struct got *got)
{
    uint32_t number;
    assert_int_equal(got->length, sizeof number);
    memcpy(&number, got->data, sizeof number);
    return number;
}

// Returns the next event of a log; events of flushing are skipped.
static inline struct got next_of_stream(trace_id_t trid)
{
    struct got got = next(trid);
    while (!got.unavailable && (got.info.posix_event_id == POSIX_TRACE_FLUSH_START ||
                                got.info.posix_event_id == POSIX_TRACE_FLUSH_STOP))
        got = next(trid);
    return got;
}

// Checks that the next event is of this type. Returns it.
static inline struct got expect_logged(trace_id_t trid, trace_event_id_t id)
{
    struct got got = next_of_stream(trid);
    assert_int_equal(got.unavailable, 0);
    assert_int_equal(got.info.posix_event_id, id);
    return got;
}

static inline void expect_end(trace_id_t trid)
{
    struct got got = next(trid);
    assert_none(&got);
}

static inline struct posix_trace_status_info status_of(trace_id_t trid)
{
    struct posix_trace_status_info status;
    memset(&status, 0xFF, sizeof status);
    assert_int_equal(posix_trace_get_status(trid, &status), 0);
    return status;
}

#endif
