// SPDX-License-Identifier: MIT
// Logs where memory is short: each allocation fails in turn. Truth: all that was taken is given
// back, and the errors are the standard's.
#include "tests/unit/posix_log/logging.h"
#include "tests/unit/scratch.h"

static enum extract_code code_of(int error)
{
    assert_true(error == 0 || error == ENOMEM);
    return error ? EXTRACT_NOMEM : EXTRACT_OK;
}

static enum extract_code read_all(int fd)
{
    struct got got = {0};
    trace_id_t trid;
    int error = posix_trace_open(fd, &trid);
    if (error)
        return code_of(error);
    while (!error && !got.unavailable)
        error = posix_trace_getnext_event(trid, &got.info, got.data, sizeof got.data, &got.length,
                                          &got.unavailable);
    assert_int_equal(posix_trace_close(trid), 0);
    return code_of(error);
}

static enum extract_code write_and_read(void)
{
    trace_attr_t attr = log_attributes(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP, 20000, 100000);
    int fd = new_file();
    trace_id_t trid;
    int error = posix_trace_create_withlog(0, &attr, fd, &trid);
    if (!error) {
        posix_trace_start(trid);
        event_numbers(POSIX_TRACE_UNNAMED_USEREVENT, 0, 100);
        error = posix_trace_flush(trid);
        int closed = posix_trace_shutdown(trid);
        error = error ? error : closed;
    }
    enum extract_code code = error ? code_of(error) : read_all(fd);
    close(fd);
    return code;
}

static void test_failing_allocations(void **state)
{
    (void)state;
    assert_int_equal(write_and_read(), EXTRACT_OK);
    each_allocation_fails(write_and_read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
