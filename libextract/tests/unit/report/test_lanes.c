// SPDX-License-Identifier: MIT
// Tests the labels of an axis of times: multiples of their distance, few, and within the picture,
// whatever the times are.
#include "report/lanes.h"
// cmocka.h needs the headers before it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void check_labels(uint64_t from, uint64_t to, uint64_t hz, unsigned columns, unsigned least)
{
    enum { DISTANCE = 16 };
    struct lanes lanes = {.from = from, .to = to};
    struct lanes_axis axis = lanes_axis_choose(&lanes, hz, columns, DISTANCE);
    uint64_t time, last = 0;
    unsigned count = 0;

    assert_true(axis.step > 0);
    for (bool has_label = lanes_axis_first(&lanes, &axis, &time); has_label;
         has_label = lanes_axis_next(&lanes, &axis, &time)) {
        assert_true(time >= from && time < to && time % axis.step == 0);
        assert_true(!count || time - last == axis.step);
        last = time;
        assert_in_range(++count, 1, columns / DISTANCE + 1);
    }
    assert_true(count >= least);
}

static void test_labels(void **state)
{
    (void)state;
    check_labels(0, 1000, 0, 64, 2); // 0, 500
    check_labels(1, 1000, 0, 64, 1); // 500
    check_labels(3, 4, 0, 64, 1);
    check_labels(1975000, 2000000, 25000000, 61, 1);
}

static void test_ends_of_the_numbers(void **state)
{
    (void)state;
    check_labels(0, UINT64_MAX, 0, 61, 2);
    check_labels(0, UINT64_MAX, 0, 10, 1); // the distance of two labels is above 64 bits
    check_labels(0, UINT64_MAX, 1, 10, 1);
    check_labels(0, UINT64_MAX, UINT64_MAX, 1000, 1);
    check_labels(1, UINT64_MAX, 0, 10, 0);
    check_labels(UINT64_MAX - 1, UINT64_MAX, 0, 61, 1);
    check_labels(UINT64_MAX - 100, UINT64_MAX, 1000, 61, 1);
    check_labels(UINT64_MAX / 2 + 5, UINT64_MAX, 0, 20, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_ends_of_the_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
