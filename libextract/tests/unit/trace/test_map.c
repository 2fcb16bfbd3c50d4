// SPDX-License-Identifier: MIT
// unit: the map from addresses to indices finds every key. Nobody can choose keys that all fall
// into one part of the map.
//
// Truth: the keys themselves; the inverse of a multiplier that a map could use.
#include "base/map.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { KEYS = 1 << 15, MAX_ROW = 1024 };

// Returns the key number `i` against a multiplier: the products of these keys differ in their low
// bits alone.
static uint64_t chosen(uint64_t multiplier, uint64_t i)
{
    uint64_t inverse = multiplier; // each step doubles the number of correct bits (J.-M. Muller)
    for (unsigned step = 0; step < 6; step++)
        inverse *= 2 - multiplier * inverse;
    assert_true(multiplier * inverse == 1);
    return inverse * i;
}

static uint32_t longest_row(const struct extract_map *map)
{
    uint32_t row = 0, longest = 0;
    for (uint32_t at = 0; at <= map->mask; at++) {
        row = map->values[at] ? row + 1 : 0;
        longest = row > longest ? row : longest;
    }
    return longest;
}

static void check_keys(uint64_t multiplier)
{
    struct extract_map map;
    assert_true(extract_map_init(&map, 0));
    for (uint32_t i = 1; i <= KEYS; i++)
        *extract_map_at(&map, chosen(multiplier, i)) = i;
    for (uint32_t i = 1; i <= KEYS; i++)
        assert_int_equal(extract_map_get(&map, chosen(multiplier, i)), i);
    assert_int_equal(extract_map_get(&map, chosen(multiplier, KEYS + 1)), 0);
    assert_int_equal(map.used, KEYS);
    assert_true(longest_row(&map) < MAX_ROW);
    extract_map_free(&map);
}

static void test_keys(void **state)
{
    (void)state;
    check_keys(1);
    check_keys(UINT64_C(0x9E3779B97F4A7C15)); // from the golden ratio, a common choice
    check_keys(UINT64_C(0xD1B54A32D192ED03));
}

static void check_row(unsigned shift, const uint64_t seed[2])
{
    struct extract_map map;
    assert_true(extract_map_init(&map, KEYS));
    if (seed) {
        map.seed[0] = seed[0];
        map.seed[1] = seed[1] | 1;
    }
    for (uint32_t i = 1; i <= KEYS; i++)
        *extract_map_at(&map, (uint64_t)i << shift) = i;
    assert_int_equal(map.used, KEYS);
    assert_true(longest_row(&map) < MAX_ROW);
    extract_map_free(&map);
}

// The keys are spaced as the addresses of objects are. The seeds are the process' own, some that
// were bad for a hash of one product, and a series of others.
static void test_rows_of_addresses(void **state)
{
    uint64_t seed[2] = {0, 1};
    (void)state;
    for (unsigned shift = 0; shift <= 48; shift++) {
        check_row(shift, NULL);
        check_row(shift, (const uint64_t[]){0, 1});
        check_row(shift, (const uint64_t[]){UINT64_MAX, UINT64_MAX});
        check_row(shift, (const uint64_t[]){1, UINT64_C(1) << 63});
    }
    for (unsigned i = 0; i < 200; i++) {
        seed[0] = seed[0] * UINT64_C(6364136223846793005) + 1442695040888963407;
        seed[1] = seed[0] ^ seed[0] >> 29;
        check_row(i % 48, seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_keys),
                                       cmocka_unit_test(test_rows_of_addresses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
