// SPDX-License-Identifier: MIT
// Which trace ids may use which functions: those of a stream without a log, of one with a log, of a
// log that is read, and ids that are none.
#include "tests/unit/posix_log/logging.h"
#include "tests/unit/posix_log/uses.h"

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
