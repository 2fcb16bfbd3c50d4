// SPDX-License-Identifier: MIT
// Compares the losses that a recording reports with the true losses. There are six loads, over a
// slow link and over a fast link whose host pauses at times. The recordings are simulated in
// virtual time, and their logs are read as a report reads them. Truth: every event of the target
// carries its number, so the size of each gap is known.
//
// Prints one line per load and link: the gaps, how many of them are not exact, the lost events, the
// certain part, how many 90 % intervals contain the truth, and their widths.
#include "tests/unit/log_builder.h"
#include "tests/unit/record/sim.h"
#include "tests/unit/scratch.h"
#include <stdio.h>

enum {
    SLOTS = 462,
    RUNS = 3, // recordings of each load over each link
    MAX_GAPS = 1 << 16,
#ifdef __SANITIZE_ADDRESS__
    RUN_SECONDS = 12
#else
    RUN_SECONDS = 100 // an hour in all: 6 loads, 2 links, 3 runs
#endif
};

static struct sim_session session;

// ---- Six loads ----

// Returns a random value, uniform from 0 to `mean` * 2.
static double about(struct sim *sim, double mean)
{
    return 2 * mean * sim_random(sim);
}

static double steady(struct sim *sim)
{
    return about(sim, 1e9 / 3000);
}

// A timer tick every 4 ms makes 12 events at once.
static double periodic(struct sim *sim)
{
    sim->load[0] += 1;
    if (sim->load[0] < 12)
        return 8000;
    sim->load[0] = 0;
    return 4e6 - 11 * 8000;
}

// Alternates bursts of 15,000 events/s and rests of 100 events/s. load[0] is the end of the current
// phase, and load[1] tells whether it is a burst.
static double bursts(struct sim *sim)
{
    if (sim->due >= sim->load[0]) {
        sim->load[1] = sim->load[1] > 0 ? 0 : 1;
        sim->load[0] = sim->due + about(sim, sim->load[1] > 0 ? 0.15e9 : 1e9);
    }
    return about(sim, 1e9 / (sim->load[1] > 0 ? 15000 : 100));
}

// Changes to another rate from 250 to 8,000 events/s every few seconds.
static double phases(struct sim *sim)
{
    if (sim->due >= sim->load[0]) {
        sim->load[0] = sim->due + about(sim, 6e9);
        sim->load[1] = 250 * (double)(1 << (unsigned)(6 * sim_random(sim)));
    }
    return about(sim, 1e9 / sim->load[1]);
}

// Makes a few events per second, and at times 20,000 events/s for a while.
static double idle(struct sim *sim)
{
    if (sim->due >= sim->load[0]) {
        sim->load[1] = sim->load[1] > 0 ? 0 : 1;
        sim->load[0] = sim->due + about(sim, sim->load[1] > 0 ? 0.2e9 : 4e9);
    }
    return about(sim, 1e9 / (sim->load[1] > 0 ? 20000 : 8));
}

// Makes 1,000 events/s, with storms of some thousands of events at 50,000 events/s.
static double storm(struct sim *sim)
{
    if (sim->load[0] <= 0 && sim_random(sim) < 0.002)
        sim->load[0] = about(sim, 2000);
    sim->load[0] -= 1;
    return about(sim, 1e9 / (sim->load[0] > 0 ? 50000 : 1000));
}

static const struct {
    const char *name;
    double (*next)(struct sim *sim);
} loads[] = {{"steady", steady}, {"periodic", periodic}, {"bursts", bursts},
             {"phases", phases}, {"idle", idle},         {"storm", storm}};

static const struct {
    const char *name;
    double bytes_per_second;
    uint64_t latency; // ns
    double away;      // chance that the host pauses for about 1.5 s after a poll
} links[] = {{"slow", 100e3, 1000000, 0.001}, {"fast", 600e3, 140000, 0.02}};

// ---- Reported losses against true losses ----

struct verdict {
    unsigned gaps, not_exact, estimated, covered, most_right;
    uint64_t lost, certain;
    uint64_t widths[MAX_GAPS]; // entries
};

static struct verdict verdict;

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Compares a gap of `lost` events with `event`, which reports it.
static void judge_gap(const struct extract_event *event, uint64_t lost)
{
    uint64_t least = event->field[EXTRACT_LOST_AT_LEAST];
    verdict.gaps++;
    verdict.lost += lost;
    verdict.certain += least;
    if (event->field[EXTRACT_LOST_EXACT]) {
        assert_int_equal(least, lost);
        return;
    }
    assert_true(least <= lost);
    assert_int_equal((lost - least) % event->field[EXTRACT_LOST_MODULO], 0);
    verdict.not_exact++;
    if (event->fields <= EXTRACT_LOST_HIGH || verdict.estimated == MAX_GAPS)
        return;
    uint64_t low = event->field[EXTRACT_LOST_LOW], high = event->field[EXTRACT_LOST_HIGH];
    uint64_t most = event->field[EXTRACT_LOST_AT_MOST];
    assert_true(least <= low && low <= high && high <= most);
    verdict.widths[verdict.estimated++] = high - low;
    verdict.covered += low <= lost && lost <= high;
    verdict.most_right += lost <= most;
}

static void judge_log(void)
{
    struct log_look look;
    struct extract_reader reader;
    struct extract_event events[64], loss = {.id = 0};
    uint64_t next = 0;
    bool is_first = true;
    size_t got;

    log_look_open(&look, scratch_path("sim.log"), NULL);
    assert_int_equal(look.info->log->resets, 0);
    extract_reader_init(&reader, look.trace);
    while ((got = extract_reader_next(&reader, events, 64)) > 0)
        for (size_t i = 0; i < got; i++) {
            assert_int_not_equal(events[i].id, EXTRACT_ID_MARK + EXTRACT_MARK_CLOCK);
            if (events[i].id == EXTRACT_ID_LOST)
                loss = events[i];
            if (extract_event_is_mark(&events[i]))
                continue;
            uint64_t number = events[i].field[0];
            if (loss.id && !is_first)
                judge_gap(&loss, number - next);
            else if (!is_first)
                assert_int_equal(number, next);
            is_first = false;
            loss.id = 0;
            next = number + 1;
        }
    log_look_close(&look);
}

// ---- Recordings ----

static void record(size_t load, size_t link, unsigned run)
{
    struct sim *sim = &session.sim;
    const struct extract_memory_source source = {
        .read = sim_read, .context = sim, .byte_order = EXTRACT_LITTLE, .running = true};
    const struct extract_log_options log = {.size = sizeof log, .policy = EXTRACT_LOG_APPEND};
    struct extract_record_options options = {.size = sizeof options,
                                             .ring_known = true,
                                             .ring = SIM_ADDRESS,
                                             .now = sim_now,
                                             .clock = sim};

    assert_true(sim_make(sim, SLOTS));
    sim->latency = links[link].latency;
    sim->word_ns = 4e9 / links[link].bytes_per_second;
    sim->next = loads[load].next;
    sim->random = 1 + run;
    sim_pass(sim, 1e9);
    unlink(scratch_path("sim.log"));
    assert_int_equal(extract_memory_new(&session.memory, &source, NULL), EXTRACT_OK);
    assert_int_equal(extract_log_create(&options.log, scratch_path("sim.log"), &log, NULL), 0);
    assert_int_equal(extract_recorder_open(&session.recorder, session.memory, NULL, &options, NULL),
                     EXTRACT_OK);
    for (uint64_t end = sim->now + RUN_SECONDS * UINT64_C(1000000000); sim->now < end;) {
        uint64_t due = extract_recorder_due(session.recorder);
        sim_pass(sim, due ? (double)due : 1000);
        assert_int_equal(extract_recorder_poll(session.recorder, NULL), EXTRACT_OK);
        if (sim_random(sim) < links[link].away)
            sim_pass(sim, about(sim, 1.5e9));
    }
    assert_int_equal(extract_recorder_status(session.recorder)->resets, 0);
    assert_int_equal(extract_recorder_close(session.recorder, NULL), EXTRACT_OK);
    assert_int_equal(extract_log_close(options.log, NULL), EXTRACT_OK);
    extract_memory_close(session.memory);
    free(sim->words);
}

static void judge(size_t load, size_t link)
{
    memset(&verdict, 0, sizeof verdict);
    for (unsigned run = 0; run < RUNS; run++) {
        record(load, link, run);
        judge_log();
    }
    unsigned n = verdict.estimated;
    qsort(verdict.widths, n, sizeof *verdict.widths, compare);
    print_message(
        "# %-8s %s: %u gaps, %u not exact, %llu lost, %llu certain; of %u intervals %.1f %% "
        "hold, width %.1f and %.1f rings (median, 90 %%); at most: %.1f %% hold\n",
        loads[load].name, links[link].name, verdict.gaps, verdict.not_exact,
        (unsigned long long)verdict.lost, (unsigned long long)verdict.certain, n,
        n ? 100.0 * verdict.covered / n : 100,
        n ? (double)verdict.widths[n / 2] / (double)SLOTS : 0,
        n ? (double)verdict.widths[n * 9 / 10] / (double)SLOTS : 0,
        n ? 100.0 * verdict.most_right / n : 100);
    // With few gaps, chance would decide.
    if (n >= 50) {
        assert_true(verdict.covered * 100 >= n * 88);
        assert_true(verdict.most_right * 100 >= n * 98);
    }
}

#define TEST_LOAD(name, load)                                                                      \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        judge(load, 0);                                                                            \
        judge(load, 1);                                                                            \
    }
TEST_LOAD(test_steady, 0)
TEST_LOAD(test_periodic, 1)
TEST_LOAD(test_bursts, 2)
TEST_LOAD(test_phases, 3)
TEST_LOAD(test_idle, 4)
TEST_LOAD(test_storm, 5)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steady), cmocka_unit_test(test_periodic),
        cmocka_unit_test(test_bursts), cmocka_unit_test(test_phases),
        cmocka_unit_test(test_idle),   cmocka_unit_test(test_storm),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
