// SPDX-License-Identifier: MIT
// test_line.c: tests the line between two clocks. Random clocks have a known offset and rate, and
// messages take random times. The line must differ from the true one by at most its uncertainty.
#include "merge/line.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

enum { CASES = 400, MOST = 400 };

static uint64_t state;

// Returns a random number from 0 to 1 (xorshift64*).
static double random_share(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (double)(state * UINT64_C(0x2545F4914F6CDD1D) >> 11) / 0x1p53;
}

static double between(double least, double most)
{
    return least + (most - least) * random_share();
}

static double absolute(double a)
{
    return a < 0 ? -a : a;
}

// A clock: it shows x when the other one shows start + rate * x.
struct clock {
    double start, rate, span; // span: of y
};

static struct clock make_clock(unsigned seed)
{
    state = UINT64_C(0x9E3779B97F4A7C15) * (seed + 1);
    struct clock clock = {between(-1e6, 1e6), between(0.999, 1.001), between(1e5, 1e9)};
    if (seed % 5 == 0) // clocks of different frequencies
        clock.rate = between(0.01, 100);
    return clock;
}

// Returns the timestamp of a moment, which is rounded down.
static double stamp(double time)
{
    double whole = (double)(int64_t)time;

    return whole > time ? whole - 1 : whole;
}

static double own_stamp(const struct clock *clock, double y)
{
    return stamp((y - clock->start) / clock->rate);
}

// Returns the greatest distance of a line from a clock, over all times of the clock.
static double distance(const struct merge_line *line, const struct clock *clock)
{
    double farthest = 0;

    for (unsigned end = 0; end < 2; end++) {
        double x = ((end ? clock->span : 0) - clock->start) / clock->rate;
        double off = absolute(line->start + line->rate * x - clock->start - clock->rate * x);
        farthest = off > farthest ? off : farthest;
    }
    return farthest;
}

static double range_start(const struct clock *clock)
{
    return -clock->start / clock->rate;
}

static double range_end(const struct clock *clock)
{
    return (clock->span - clock->start) / clock->rate;
}

// Messages both ways, with delays of `least` to `most` ticks.
static size_t make_messages(const struct clock *clock, double least, double most,
                            struct merge_point *lower, struct merge_point *upper)
{
    size_t count = (size_t)between(10, MOST);

    for (size_t i = 0; i < count; i++) {
        double sent = between(0, clock->span), received = sent + between(least, most);
        lower[i] = (struct merge_point){own_stamp(clock, received) + 1, stamp(sent)};
        sent = between(0, clock->span);
        received = sent + between(least, most);
        upper[i] = (struct merge_point){own_stamp(clock, sent), stamp(received) + 1};
    }
    return count;
}

static void test_messages_both_ways(void **context)
{
    struct merge_point lower[MOST], upper[MOST];
    unsigned unbounded = 0;
    (void)context;

    for (unsigned seed = 0; seed < CASES; seed++) {
        struct clock clock = make_clock(seed);
        double most = between(10, 5000);
        struct merge_line line;
        size_t count = make_messages(&clock, between(0, most), most, lower, upper);
        assert_true(merge_line_between(lower, count, upper, count, range_start(&clock),
                                       range_end(&clock), &line));
        unbounded += line.certainty != MERGE_CERTAIN;
        if (line.certainty != MERGE_CERTAIN)
            continue;
        assert_true(line.has_rate);
        assert_true(distance(&line, &clock) <= line.uncertainty);
        // It is not a bound that holds for any line.
        assert_true(line.uncertainty < 3 * (most + 2 + clock.rate));
    }
    assert_true(unbounded == 0);
}

static void test_simultaneous_events(void **context)
{
    struct merge_point points[MOST], spare[MOST];
    (void)context;

    for (unsigned seed = 0; seed < CASES; seed++) {
        struct clock clock = make_clock(seed);
        double jitter = between(0, 500);
        size_t count = (size_t)between(20, MOST);
        struct merge_line line;
        for (size_t i = 0; i < count; i++) {
            double y = between(0, clock.span);
            points[i] =
                (struct merge_point){own_stamp(&clock, y), stamp(y + between(-jitter, jitter))};
        }
        merge_line_through(points, spare, count, range_start(&clock), range_end(&clock), &line);
        assert_int_equal(line.certainty, MERGE_LIKELY);
        assert_true(distance(&line, &clock) <= line.uncertainty);
        assert_true(line.uncertainty < 8 * (jitter + 2 + clock.rate));
    }
}

// With messages one way only, a receipt is still never before its sending, and the delay is not
// known.
static void test_messages_one_way(void **context)
{
    struct merge_point lower[MOST], upper[MOST], spare[MOST], kept[MOST];
    (void)context;

    for (unsigned seed = 0; seed < CASES; seed++) {
        struct clock clock = make_clock(seed);
        struct merge_line line;
        size_t count = make_messages(&clock, 100, 1000, lower, upper);
        bool above = seed % 2;
        struct merge_point *points = above ? lower : upper;
        for (size_t i = 0; i < count; i++)
            kept[i] = points[i];
        merge_line_touching(points, spare, count, above, &line);
        assert_int_equal(line.certainty, MERGE_UNKNOWN);
        for (size_t i = 0; i < count; i++) {
            double off = line.start + line.rate * kept[i].x - kept[i].y;
            assert_true(above ? off > -0.01 : off < 0.01);
        }
        assert_true(distance(&line, &clock) < 3000);
    }
}

static void test_contradictions(void **context)
{
    struct merge_point lower[] = {{0, 0}, {1000, 1000}}, upper[] = {{0, 10}, {1000, 1010}};
    struct merge_point late[] = {{0, 0}, {500, 600}, {1000, 1000}};
    struct merge_line line;
    (void)context;

    assert_true(merge_line_between(lower, 2, upper, 2, 0, 1000, &line));
    struct merge_point again[] = {{0, 10}, {1000, 1010}};
    assert_false(merge_line_between(late, 3, again, 2, 0, 1000, &line));
    struct merge_point above[] = {{0, 5}}, below[] = {{0, 4}};
    assert_false(merge_line_between(above, 1, below, 1, 0, 0, &line));
}

// One event does not show a rate, and two events bound it only if they are at different times.
static void test_few_points(void **context)
{
    struct merge_point lower[] = {{100, 200}}, upper[] = {{100, 204}};
    struct merge_point two[] = {{100, 200}}, later[] = {{300, 404}};
    struct merge_line line;
    (void)context;

    assert_true(merge_line_between(lower, 1, upper, 1, 0, 1000, &line));
    assert_int_equal(line.certainty, MERGE_UNKNOWN);
    assert_false(line.has_rate);
    assert_true(absolute(line.start + 100 * line.rate - 202) < 0.01);
    assert_true(line.rate == 1);
    assert_true(merge_line_between(two, 1, later, 1, 0, 1000, &line));
    assert_int_equal(line.certainty, MERGE_UNKNOWN);
    assert_false(line.has_rate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_both_ways), cmocka_unit_test(test_simultaneous_events),
        cmocka_unit_test(test_messages_one_way),   cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_few_points),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
