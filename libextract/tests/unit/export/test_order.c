// SPDX-License-Identifier: MIT
// Changes in order of time: in memory and through a temporary file, with parts of any size. Each
// change states when it was added, so the order is checked without sorting. A temporary file that
// cannot be made, written or read is an error, and so is a failed allocation.
#include "export/export_order.h"
#include "tests/unit/scratch.h"
#include <errno.h>

FILE *__wrap_tmpfile(void);
FILE *__real_tmpfile(void);

static int tmpfile_fails; // errno; 0: it works

FILE *__wrap_tmpfile(void)
{
    errno = tmpfile_fails;
    return tmpfile_fails ? NULL : __real_tmpfile();
}

// ---- what was added, and what came out ----

static uint32_t state_of_random = 1;

static uint32_t random_word(void)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 17;
    return state_of_random ^= state_of_random << 5;
}

enum pattern { RANDOM, FEW_TIMES, EQUAL, ASCENDING, DESCENDING, ONE_EARLY, PATTERNS };

static uint64_t time_of(enum pattern pattern, size_t i, size_t count)
{
    switch (pattern) {
    case RANDOM:
        return (uint64_t)random_word() << 20;
    case FEW_TIMES:
        return random_word() % 7;
    case EQUAL:
        return 5;
    case ASCENDING:
        return i;
    case DESCENDING:
        return count - i;
    default:
        return i + 1 == count ? 0 : i + 1;
    }
}

struct output {
    size_t count;
    uint64_t sum; // of the numbers of the changes, so that each must come once
    struct export_change last;
    bool is_wrong;
};

// Checks that a change follows the one before: it is later, or was added later at the same time.
static void take(void *context, const struct export_change *change)
{
    struct output *output = context;

    if (output->count)
        output->is_wrong |= change->at < output->last.at ||
                            (change->at == output->last.at && change->value <= output->last.value);
    output->is_wrong |= change->track != (uint32_t)~change->value || change->kind != 3;
    output->sum += change->value;
    output->last = *change;
    output->count++;
}

static void add(struct export_order *order, enum pattern pattern, size_t count)
{
    struct extract_error error;

    for (size_t i = 0; i < count; i++) {
        struct export_change change = {time_of(pattern, i, count), i, (uint32_t)~i, 3};
        assert_int_equal(export_order_add(order, &change, &error), EXTRACT_OK);
    }
}

static void expect(struct export_order *order, size_t count)
{
    struct output output = {.count = 0};

    assert_int_equal(export_order_run(order, take, &output, NULL), EXTRACT_OK);
    assert_false(output.is_wrong);
    assert_int_equal(output.count, count);
    assert_int_equal(output.sum, count ? (uint64_t)count * (count - 1) / 2 : 0);
}

// ---- order ----

static void test_order(void **state)
{
    // Parts that are smaller and larger than what is read of one at once (1,024).
    static const size_t parts[] = {1, 2, 3, 8, 1023, 1024, 1025, 3000};

    (void)state;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        for (enum pattern pattern = RANDOM; pattern < PATTERNS; pattern++) {
            size_t counts[] = {0,
                               1,
                               parts[k] - 1,
                               parts[k],
                               parts[k] + 1,
                               5 * parts[k],
                               5 * parts[k] + parts[k] / 2};
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
                struct export_order order = {.part = parts[k]};
                add(&order, pattern, counts[i]);
                assert_int_equal(order.parts, counts[i] ? (counts[i] - 1) / parts[k] : 0);
                expect(&order, counts[i]);
                export_order_free(&order);
            }
        }
    assert_int_equal(alloc_live, 0);
}

// With the default size, 512 k changes are in a part.
static void test_default_part(void **state)
{
    enum { PART = 1 << 19, COUNT = 3 * PART + 12345 };
    struct export_order order = {.count = 0};

    (void)state;
    add(&order, FEW_TIMES, COUNT);
    assert_int_equal(order.part, PART);
    assert_int_equal(order.parts, 3);
    expect(&order, COUNT);
    export_order_free(&order);
}

static void test_used_again(void **state)
{
    struct export_order order = {.part = 10};

    (void)state;
    add(&order, RANDOM, 95);
    expect(&order, 95);
    expect(&order, 0);
    add(&order, DESCENDING, 33);
    expect(&order, 33);
    add(&order, RANDOM, 5);
    expect(&order, 5);
    export_order_free(&order);
}

// ---- failures ----

// Adds changes until one is refused. Returns its error.
static enum extract_code add_until_error(struct export_order *order, size_t most,
                                         struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    for (size_t i = 0; i < most && !code; i++)
        code = export_order_add(order, &(struct export_change){.at = most - i}, error);
    return code;
}

static void test_no_file(void **state)
{
    struct export_order order = {.part = 4};
    struct extract_error error;

    (void)state;
    tmpfile_fails = EACCES;
    assert_int_equal(add_until_error(&order, 4, &error), EXTRACT_OK);
    assert_int_equal(add_until_error(&order, 4, &error), EXTRACT_IO);
    assert_string_equal(error.what, "temporary file");
    assert_non_null(strstr(error.why, "Permission denied"));
    assert_non_null(strstr(error.hint, "free space"));
    tmpfile_fails = 0;
    export_order_free(&order);
}

// /dev/full refuses all writes, as a full disk does. A part that is larger than stdio's buffer
// fails when it is written; a smaller one fails before the merge.
static void test_full_disk(void **state)
{
    static const size_t parts[] = {4, 100000};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct export_order order = {.part = parts[i]};
        struct output output = {.count = 0};
        struct extract_error error;
        order.file = fopen("/dev/full", "w+");
        assert_non_null(order.file);
        enum extract_code code = add_until_error(&order, parts[i] + 1, &error);
        if (!code)
            code = export_order_run(&order, take, &output, &error);
        assert_int_equal(code, EXTRACT_IO);
        assert_string_equal(error.what, "temporary file");
        assert_non_null(strstr(error.why, "No space left"));
        assert_int_equal(output.count, 0);
        export_order_free(&order);
    }
}

static void test_file_cut(void **state)
{
    struct export_order order = {.part = 3000};
    struct output output = {.count = 0};
    struct extract_error error;

    (void)state;
    add(&order, RANDOM, 10000);
    assert_int_equal(fflush(order.file), 0);
    assert_int_equal(ftruncate(fileno(order.file), 5000 * sizeof(struct export_change)), 0);
    assert_int_equal(export_order_run(&order, take, &output, &error), EXTRACT_IO);
    assert_string_equal(error.what, "temporary file");
    assert_string_equal(error.why, "cannot be read again");
    assert_true(output.count < 10000);
    expect(&order, 0);
    export_order_free(&order);
}

static void test_no_memory(void **state)
{
    (void)state;
    for (long i = 0;; i++) {
        struct export_order order = {.part = 10};
        struct output output = {.count = 0};
        struct extract_error error;
        alloc_countdown = i;
        enum extract_code code = add_until_error(&order, 25, &error);
        if (!code)
            code = export_order_run(&order, take, &output, &error);
        bool has_failed = alloc_countdown < 0;
        alloc_countdown = -1;
        assert_int_equal(code, has_failed ? EXTRACT_NOMEM : EXTRACT_OK);
        // The order can be used nevertheless.
        export_order_run(&order, take, &output, NULL);
        add(&order, RANDOM, 25);
        expect(&order, 25);
        export_order_free(&order);
        assert_int_equal(alloc_live, 0);
        if (!has_failed)
            return;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),      cmocka_unit_test(test_default_part),
        cmocka_unit_test(test_used_again), cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_full_disk),  cmocka_unit_test(test_file_cut),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
