// SPDX-License-Identifier: MIT
// Tests of the searches of a cursor (base/cursor.h). They look at blocks of words; the oracle is a
// loop over single words.
#include "base/cursor.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { WORDS = 3 * EXTRACT_BLOCK_WORDS + 5, WANTED = 0x51525354 };

static void put(uint8_t *bytes, size_t word, uint32_t value, enum extract_byte_order order)
{
    extract_store(bytes + 4 * word, value, 4, order);
}

// One word is the wanted one: it is found from every place before it, and from none after it.
static void test_word(void **state)
{
    uint8_t bytes[4 * WORDS + 3] = {0};

    (void)state;
    for (size_t at = 0; at < WORDS; at++) {
        enum extract_byte_order order = at % 2 ? EXTRACT_BIG : EXTRACT_LITTLE;
        put(bytes, at, WANTED, order);
        for (size_t from = 0; from <= WORDS; from++) {
            struct extract_cursor c = extract_cursor_make(bytes, sizeof bytes, EXTRACT_LITTLE);
            c.at = 4 * from;
            bool is_found = extract_cursor_find(&c, 7, WANTED);
            assert_int_equal(is_found, from <= at);
            assert_int_equal(is_found ? c.at : 0, is_found ? 4 * at : 0);
        }
        put(bytes, at, 0, order);
    }
}

EXTRACT_INLINED static bool is_wanted(uint32_t raw, uint32_t next, bool swap)
{
    return (raw == (swap ? __builtin_bswap32(WANTED) : WANTED)) &
           (next == (swap ? __builtin_bswap32(~(uint32_t)WANTED) : ~(uint32_t)WANTED));
}

// Two words are the wanted ones, in either byte order.
static void test_words(void **state)
{
    static const enum extract_byte_order orders[] = {EXTRACT_LITTLE, EXTRACT_BIG};
    uint8_t bytes[4 * WORDS + 3] = {0};

    (void)state;
    for (size_t at = 0; at + 1 < WORDS; at++)
        for (size_t i = 0; i < 2; i++) {
            put(bytes, at, WANTED, orders[i]);
            put(bytes, at + 1, ~(uint32_t)WANTED, orders[i]);
            for (size_t from = 0; from <= WORDS; from += 1 + from % 3) {
                struct extract_cursor c = extract_cursor_make(bytes, sizeof bytes, orders[i]);
                c.at = 4 * from;
                bool is_found = extract_cursor_find_words(&c, is_wanted);
                assert_int_equal(is_found, from <= at);
                assert_int_equal(is_found ? c.at : 0, is_found ? 4 * at : 0);
                c = extract_cursor_make(bytes, sizeof bytes, orders[!i]);
                assert_false(extract_cursor_find_words(&c, is_wanted));
            }
            put(bytes, at, 0, orders[i]);
            put(bytes, at + 1, 0, orders[i]);
        }
}

static void test_zeros(void **state)
{
    uint8_t bytes[8 * EXTRACT_BLOCK_WORDS + 5] = {0};

    (void)state;
    for (size_t at = 0; at < sizeof bytes; at++) {
        bytes[at] = 1;
        struct extract_cursor c = extract_cursor_make(bytes, sizeof bytes, EXTRACT_LITTLE);
        extract_cursor_skip_zeros(&c);
        assert_int_equal(c.at, at / 8 * 8);
        bytes[at] = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_word), cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_zeros)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
