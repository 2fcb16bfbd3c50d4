// SPDX-License-Identifier: MIT
// unit: the checked cursor. The bytes are at the very end of a page whose neighbor cannot be read,
// so that reading too far ends the test.
//
// Truth: values that are written by hand in both byte orders.
#include "base/cursor.h"
#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

static const uint8_t counting[16] = {0x81, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x88,
                                     0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x90};
static uint8_t *wall; // the first byte that cannot be read

static int build_wall(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0)
        return -1;
    wall = pages + page;
    memcpy(wall - sizeof counting, counting, sizeof counting);
    return 0;
}

// Returns a cursor over the last `length` of the counting bytes.
static struct extract_cursor cursor(size_t length, enum extract_byte_order order)
{
    return extract_cursor_make(wall - length, length, order);
}

static void little_endian_values(void **state)
{
    struct extract_cursor c = cursor(16, EXTRACT_LITTLE);
    (void)state;
    assert_int_equal(extract_cursor_u8(&c), 0x81);
    assert_int_equal(extract_cursor_u16(&c), 0x0302);
    assert_int_equal(extract_cursor_u32(&c), 0x07060504);
    assert_int_equal(extract_cursor_u64(&c), 0x0f0e0d0c0b0a0988);
    assert_int_equal(c.at, 15);
    assert_int_equal(extract_cursor_left(&c), 1);
    assert_false(c.failed);
}

static void big_endian_values(void **state)
{
    struct extract_cursor c = cursor(16, EXTRACT_BIG);
    (void)state;
    assert_int_equal(extract_cursor_u8(&c), 0x81);
    assert_int_equal(extract_cursor_u16(&c), 0x0203);
    assert_int_equal(extract_cursor_u32(&c), 0x04050607);
    assert_int_equal(extract_cursor_u64(&c), 0x88090a0b0c0d0e0f);
    assert_false(c.failed);
}

static void words_have_the_targets_size(void **state)
{
    struct extract_cursor c = cursor(16, EXTRACT_BIG);
    (void)state;
    assert_int_equal(extract_cursor_word(&c, 4), 0x81020304);
    assert_int_equal(c.at, 4);
    assert_int_equal(extract_cursor_word(&c, 8), 0x05060788090a0b0c);
    assert_int_equal(c.at, 12);
}

// Asserts that reading `bytes` from one byte less returns 0 and fails, and does not move the
// cursor.
static void assert_past_the_end(unsigned bytes, enum extract_byte_order order)
{
    struct extract_cursor c = cursor(bytes - 1, order);
    uint64_t value = bytes == 1   ? extract_cursor_u8(&c)
                     : bytes == 2 ? extract_cursor_u16(&c)
                     : bytes == 4 ? extract_cursor_u32(&c)
                                  : extract_cursor_u64(&c);
    assert_int_equal(value, 0);
    assert_true(c.failed);
    assert_int_equal(c.at, 0);
}

static void reads_past_the_end_fail(void **state)
{
    (void)state;
    for (unsigned bytes = 1; bytes <= 8; bytes *= 2) {
        assert_past_the_end(bytes, EXTRACT_LITTLE);
        assert_past_the_end(bytes, EXTRACT_BIG);
    }
}

static void failure_is_sticky(void **state)
{
    struct extract_cursor c = cursor(3, EXTRACT_BIG);
    (void)state;
    assert_int_equal(extract_cursor_u32(&c), 0);
    assert_true(c.failed);
    assert_true(extract_cursor_seek(&c, 1));
    assert_true(c.failed);
}

static void spans_are_bounded(void **state)
{
    struct extract_cursor c = cursor(16, EXTRACT_LITTLE);
    (void)state;
    assert_ptr_equal(extract_cursor_span(&c, 10), wall - 16);
    assert_null(extract_cursor_span(&c, 7));
    assert_true(c.failed);
    assert_int_equal(c.at, 10);
    c.failed = false;
    assert_null(extract_cursor_span(&c, UINT64_MAX));
    assert_null(extract_cursor_span(&c, UINT64_MAX - 9)); // 10 + this wraps to 0
    assert_true(c.failed);
    c.failed = false;
    assert_ptr_equal(extract_cursor_span(&c, 6), wall - 6);
    assert_ptr_equal(extract_cursor_span(&c, 0), wall);
    assert_false(c.failed);
}

static void seeks_are_bounded(void **state)
{
    struct extract_cursor c = cursor(16, EXTRACT_LITTLE);
    (void)state;
    assert_true(extract_cursor_seek(&c, 15));
    assert_int_equal(extract_cursor_u8(&c), 0x90);
    assert_true(extract_cursor_seek(&c, 16));
    assert_int_equal(extract_cursor_left(&c), 0);
    assert_false(c.failed);
    assert_false(extract_cursor_seek(&c, 17));
    assert_true(c.failed);
    assert_int_equal(c.at, 16);
    assert_false(extract_cursor_seek(&c, UINT64_MAX));
}

static void no_bytes_are_an_empty_span(void **state)
{
    struct extract_cursor c = extract_cursor_make(NULL, 100, EXTRACT_LITTLE);
    (void)state;
    assert_int_equal(extract_cursor_left(&c), 0);
    assert_int_equal(extract_cursor_u8(&c), 0);
    assert_true(c.failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_endian_values),        cmocka_unit_test(big_endian_values),
        cmocka_unit_test(words_have_the_targets_size), cmocka_unit_test(reads_past_the_end_fail),
        cmocka_unit_test(failure_is_sticky),           cmocka_unit_test(spans_are_bounded),
        cmocka_unit_test(seeks_are_bounded),           cmocka_unit_test(no_bytes_are_an_empty_span),
    };
    return cmocka_run_group_tests(tests, build_wall, NULL);
}
