// SPDX-License-Identifier: MIT
// The estimate of what gaps hold: sequences of gaps of simulated recorders and of a real one, whose
// truth is known, and cases by hand. Recordings as a whole: record/test_losses.c.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include "events/loss_estimator.h"
#include <extract/log.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

enum { LAP = 462, MAX_GAPS = 1000 };

static struct loss_estimator estimator;

static uint64_t ticks(double seconds)
{
    return (uint64_t)(seconds * 25e6 + 0.5);
}

// `count` entries, evenly from one time to another.
static void enter(double from, double to, unsigned count)
{
    for (unsigned i = 1; i <= count; i++)
        loss_estimator_entry(&estimator, ticks(from + (to - from) * i / count));
}

// ---- Sequences with a known truth ----

// A line of a sequence: what came between two polls ("run"), or a gap, exact or not.
struct line {
    char kind[8];
    unsigned run;
    double from, to, until; // s; `until`: the end of what was read after the gap
    double fastest;         // entries/s of a part of that
    unsigned count, least, after;
};

static bool find(const char *text, const char *key, double *value)
{
    const char *at = strstr(text, key);
    if (at)
        *value = atof(at + strlen(key));
    return at != NULL;
}

static bool read_line(FILE *file, struct line *line)
{
    char text[512];
    double run = 0, count = 0, least = 0, after = 0;
    *line = (struct line){.run = 0};
    if (!fgets(text, sizeof text, file) || !find(text, "\"run\": ", &run) ||
        !find(text, "\"t0\": ", &line->from) || !find(text, "\"t1\": ", &line->to))
        return false;
    const char *kind = strstr(text, "\"kind\": \"");
    assert_non_null(kind);
    sscanf(kind + 9, "%7[a-z]", line->kind);
    assert_true(find(text, "\"count\": ", &count) || find(text, "\"true\": ", &count));
    find(text, "\"least\": ", &least);
    find(text, "\"behind\": ", &after);
    find(text, "\"t2\": ", &line->until);
    find(text, "\"peak_behind\": ", &line->fastest);
    line->run = (unsigned)run;
    line->count = (unsigned)count;
    line->least = (unsigned)least;
    line->after = (unsigned)after;
    return true;
}

struct tally {
    unsigned truth[MAX_GAPS];
    unsigned gaps, given, held;
};

static void judge_run(struct tally *tally)
{
    loss_estimator_end(&estimator);
    for (unsigned i = 0; i < tally->gaps; i++) {
        const struct loss_estimate *e = loss_estimator_find(&estimator, i);
        if (!e)
            continue;
        assert_true(tally->truth[i] <= e->at_most);
        tally->given++;
        tally->held += e->low <= tally->truth[i] && tally->truth[i] <= e->high;
    }
    tally->gaps = 0;
    loss_estimator_free(&estimator);
}

// What was read after the gap: as many as fit at the fastest rate come last, at that rate.
static void enter_after(const struct line *line)
{
    unsigned burst = line->after < LAP / 4 ? line->after : LAP / 4;
    double length = line->fastest > 0 ? burst / line->fastest : 0;
    if (length <= 0 || length > line->until - line->to)
        burst = 0;
    length = burst ? length : 0;
    enter(line->to, line->until - length, line->after - burst);
    enter(line->until - length, line->until, burst);
}

static void test_sequence(const char *name)
{
    static struct tally tally;
    struct line line;
    unsigned run = UINT32_MAX;
    char command[512];
    const char *data = getenv("RINGSIDE_DATA");
    snprintf(command, sizeof command, "zcat '%s/loss/%s.jsonl.gz' 2>/dev/null",
             data ? data : "../shared/data", name);
    FILE *file = popen(command, "r");
    assert_non_null(file);
    memset(&tally, 0, sizeof tally);
    while (read_line(file, &line)) {
        if (line.run != run) {
            if (run != UINT32_MAX)
                judge_run(&tally);
            run = line.run;
            loss_estimator_start(&estimator, LAP);
            loss_estimator_entry(&estimator, ticks(line.from));
        }
        bool is_new = ticks(line.to) > estimator.last; // runs after a gap repeat what came with it
        if (!strcmp(line.kind, "run")) {
            enter(line.from, line.to, is_new ? line.count : 0);
        } else if (!strcmp(line.kind, "xgap")) {
            loss_estimator_gap(&estimator, UINT64_MAX, line.count, 0);
            loss_estimator_entry(&estimator, ticks(line.to));
        } else {
            assert_true(tally.gaps < MAX_GAPS);
            tally.truth[tally.gaps] = line.count;
            loss_estimator_gap(&estimator, tally.gaps++, line.least, LAP);
            loss_estimator_entry(&estimator, ticks(line.to));
            enter_after(&line);
        }
    }
    pclose(file);
    if (run == UINT32_MAX)
        skip();
    judge_run(&tally);
    print_message("# %s: %u of %u intervals hold\n", name, tally.held, tally.given);
    assert_true(tally.given >= 10 && tally.held * 10 >= tally.given * 9);
}

static void test_steady_slow(void **state)
{
    (void)state;
    test_sequence("steady_slow");
}

static void test_bursty_slow(void **state)
{
    (void)state;
    test_sequence("bursty_slow");
}

static void test_idle_stalls(void **state)
{
    (void)state;
    test_sequence("idle_stalls");
}

static void test_real(void **state)
{
    (void)state;
    test_sequence("real_demolim");
}

// ---- By hand ----

// 1,000 entries/s for 3 s, a gap of 2 s: 2,000 is the only candidate near. 2000 = 152 + 4 * 462.
static void test_steady_by_hand(void **state)
{
    (void)state;
    loss_estimator_start(&estimator, LAP);
    loss_estimator_entry(&estimator, 0);
    enter(0, 3, 3000);
    loss_estimator_gap(&estimator, 7, 152, LAP);
    enter(5, 8, 3000);
    loss_estimator_end(&estimator);
    const struct loss_estimate *e = loss_estimator_find(&estimator, 7);
    assert_non_null(e);
    assert_true(e->low <= 2000 && e->high >= 2000 && e->high <= 2000 + LAP);
    assert_true(e->at_most >= 2000 && e->at_most <= 3000);
    assert_null(loss_estimator_find(&estimator, 6));
    assert_null(loss_estimator_find(&estimator, 8));
    loss_estimator_free(&estimator);
}

static void expect_none(uint64_t id)
{
    loss_estimator_end(&estimator);
    assert_null(loss_estimator_find(&estimator, id));
    loss_estimator_free(&estimator);
}

// Where too little was seen, or a gap's end is not known, nothing is said.
static void test_nothing_known(void **state)
{
    (void)state;
    loss_estimator_start(&estimator, LAP); // a few entries
    enter(0, 1, 20);
    loss_estimator_gap(&estimator, 1, 5, LAP);
    enter(2, 3, 20);
    expect_none(1);
    loss_estimator_start(&estimator, LAP); // nothing before it
    loss_estimator_gap(&estimator, 1, 5, LAP);
    enter(2, 5, 3000);
    expect_none(1);
    loss_estimator_start(&estimator, LAP); // nothing after it
    enter(0, 3, 3000);
    loss_estimator_gap(&estimator, 1, 5, LAP);
    expect_none(1);
    loss_estimator_start(&estimator, LAP); // a reset in it
    enter(0, 3, 3000);
    loss_estimator_gap(&estimator, 1, 5, LAP);
    loss_estimator_break(&estimator);
    enter(4, 7, 3000);
    expect_none(1);
    loss_estimator_start(&estimator, LAP); // two in a row
    enter(0, 3, 3000);
    loss_estimator_gap(&estimator, 1, 5, LAP);
    loss_estimator_gap(&estimator, 2, 5, LAP);
    enter(4, 7, 3000);
    expect_none(1);
    loss_estimator_start(&estimator, LAP); // any number may be missing
    enter(0, 3, 3000);
    loss_estimator_gap(&estimator, 1, 5, EXTRACT_LOG_ANY_MORE);
    enter(4, 7, 3000);
    expect_none(1);
    loss_estimator_start(&estimator, LAP); // an exact gap needs none
    enter(0, 3, 3000);
    loss_estimator_gap(&estimator, 1, 5, 0);
    enter(4, 7, 3000);
    expect_none(1);
}

// A gap of years, and a clock that does not move: bounds stay in order, and nothing overflows.
static void test_extremes(void **state)
{
    static const uint64_t ends[] = {1, UINT64_C(1) << 40, UINT64_C(1) << 62, UINT64_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        loss_estimator_start(&estimator, LAP);
        for (unsigned k = 0; k < 3000; k++)
            loss_estimator_entry(&estimator, ends[i] > 3000 ? k : 0);
        loss_estimator_gap(&estimator, 1, UINT64_MAX - 5, LAP);
        loss_estimator_entry(&estimator, ends[i] / 2);
        loss_estimator_gap(&estimator, 2, 3, LAP);
        for (unsigned k = 0; k < 3000; k++)
            loss_estimator_entry(&estimator, ends[i]);
        loss_estimator_end(&estimator);
        for (uint64_t id = 1; id <= 2; id++) {
            const struct loss_estimate *e = loss_estimator_find(&estimator, id);
            if (e)
                assert_true(e->at_least <= e->low && e->low <= e->high && e->high <= e->at_most);
        }
        loss_estimator_free(&estimator);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steady_slow),    cmocka_unit_test(test_bursty_slow),
        cmocka_unit_test(test_idle_stalls),    cmocka_unit_test(test_real),
        cmocka_unit_test(test_steady_by_hand), cmocka_unit_test(test_nothing_known),
        cmocka_unit_test(test_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
