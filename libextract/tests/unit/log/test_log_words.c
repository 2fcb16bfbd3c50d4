// SPDX-License-Identifier: MIT
// The words in which users say what a log is to be.
#include "log/log_block.h"
#include <extract/log.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void test_policies(void **state)
{
    enum extract_log_policy policy = EXTRACT_LOG_APPEND;
    (void)state;
    assert_true(extract_log_policy_parse("loop", &policy));
    assert_int_equal(policy, EXTRACT_LOG_LOOP);
    assert_true(extract_log_policy_parse("until_full", &policy));
    assert_int_equal(policy, EXTRACT_LOG_UNTIL_FULL);
    assert_false(extract_log_policy_parse("Loop", &policy));
    assert_false(extract_log_policy_parse("", &policy));
    assert_int_equal(policy, EXTRACT_LOG_UNTIL_FULL);
    assert_string_equal(extract_log_policy_name(EXTRACT_LOG_APPEND), "append");
}

static void test_sizes(void **state)
{
    static const struct {
        const char *text;
        uint64_t size;
    } good[] = {{"1", 1},
                {"16384", 16384},
                {"0x10", 16},
                {"16k", 16384},
                {"3M", 3145728},
                {"2G", UINT64_C(2147483648)},
                {"18446744073709551615", UINT64_MAX}};
    static const char *const bad[] = {"",
                                      "0",
                                      "0k",
                                      "k",
                                      "-1",
                                      "1kk",
                                      "1 k",
                                      "1K",
                                      "1m",
                                      "1.5M",
                                      "18446744073709551616",
                                      "17179869184G",
                                      "000000000000000000000000001"};
    uint64_t size = 7;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(extract_log_size_parse(bad[i], &size));
    assert_int_equal(size, 7);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(extract_log_size_parse(good[i].text, &size));
        assert_true(size == good[i].size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
