// SPDX-License-Identifier: MIT
// Conversions of line ends: which bytes look converted, and that undoing one restores the bytes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/line_ends.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 3 * 4096 };

static bool is_likely(const uint8_t *bytes, size_t length, size_t piece)
{
    struct extract_line_ends ends = {0};

    for (size_t at = 0; at < length; at += piece)
        extract_line_ends_add(&ends, bytes + at, length - at < piece ? length - at : piece);
    return extract_line_ends_are_likely(&ends);
}

static bool is_likely_image(const uint8_t *bytes, size_t length)
{
    struct extract_line_ends ends = {0};

    extract_line_ends_add(&ends, bytes, length);
    return extract_line_ends_are_likely_of_image(&ends, length);
}

static size_t convert(uint8_t *to, const uint8_t *from, size_t length)
{
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        if (from[i] == '\n')
            to[used++] = '\r';
        to[used++] = from[i];
    }
    return used;
}

// Random bytes of each length are recognized once they were converted, never before, and restored.
static void test_random(void **state)
{
    static uint8_t bytes[MOST], converted[2 * MOST];
    (void)state;

    srand(36);
    for (size_t length = 1; length <= MOST; length += 97) {
        size_t ends = 0;
        for (size_t i = 0; i < length; i++) {
            bytes[i] = (uint8_t)(rand() >> 7);
            ends += bytes[i] == '\n';
        }
        bytes[0] = 0;
        size_t more = convert(converted, bytes, length);
        assert_int_equal(is_likely(converted, more, more), ends >= 8);
        assert_int_equal(is_likely(converted, more, 7), ends >= 8);
        assert_int_equal(is_likely(converted, more, 1), ends >= 8);
        assert_false(ends >= 2 && is_likely(bytes, length, length));
        assert_int_equal(extract_line_ends_undo(converted, more), length);
        assert_memory_equal(converted, bytes, length);
    }
}

// The bytes before a 0x0A may be those of the original: one 0x0D is removed.
static void test_pairs_before(void **state)
{
    uint8_t bytes[] = "\r\n\r\r\nx\n\r", converted[2 * sizeof bytes];
    (void)state;

    size_t more = convert(converted, bytes, sizeof bytes);
    assert_int_equal(extract_line_ends_undo(converted, more), sizeof bytes);
    assert_memory_equal(converted, bytes, sizeof bytes);
}

// A text has no byte 0, and a memory with lines of text has a round length.
static void test_text(void **state)
{
    static uint8_t memory[4096], converted[2 * sizeof memory];
    uint8_t text[64];
    (void)state;

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t) "ok\r\n"[i % 4];
    assert_false(is_likely(text, sizeof text, sizeof text));
    memcpy(memory, text, sizeof text);
    assert_true(is_likely(memory, sizeof memory, sizeof memory));
    assert_false(is_likely_image(memory, sizeof memory));
    assert_false(is_likely_image(memory, sizeof memory / 2));
    assert_true(is_likely_image(converted, convert(converted, memory, sizeof memory)));
}

// Two bytes are enough if the file had a number of whole pages before.
static void test_pages(void **state)
{
    static uint8_t memory[4096], converted[2 * sizeof memory];
    (void)state;

    memory[100] = '\n';
    assert_false(is_likely_image(converted, convert(converted, memory, sizeof memory)));
    memory[200] = '\n';
    assert_true(is_likely_image(converted, convert(converted, memory, sizeof memory)));
    assert_false(is_likely_image(converted, convert(converted, memory, sizeof memory / 2)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_pairs_before),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_pages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
