// SPDX-License-Identifier: MIT
// Tests recording of a target that a debugger halts between polls. The polls are far apart, and the
// host's clock does not show how long the target ran. The recording ends without another poll.
// Truth: the events of the simulated target.
#include <setjmp.h>
#include <stdarg.h>
#include "tests/unit/record/sim.h"
#include <cmocka.h>

enum { SLOTS = 256, THINKING = 600 }; // THINKING: seconds that the user spends at a stop

static struct sim_session session;

static void begin(void)
{
    struct sim *sim = &session.sim;
    struct extract_error error;
    const struct extract_memory_source source = {
        .read = sim_read, .context = sim, .byte_order = EXTRACT_LITTLE};
    const struct extract_record_options options = {.size = sizeof options,
                                                   .ring_known = true,
                                                   .ring = SIM_ADDRESS,
                                                   .sink = sim_validate,
                                                   .context = &session.judge,
                                                   .now = sim_now,
                                                   .clock = sim,
                                                   .ignore_host_clock = true};
    assert_true(sim_make(sim, SLOTS));
    sim->latency = 1000;
    sim_run(sim, SLOTS + 10);
    session.judge = (struct sim_validate){.sim = sim};
    assert_int_equal(extract_memory_new(&session.memory, &source, &error), EXTRACT_OK);
    assert_int_equal(
        extract_recorder_open(&session.recorder, session.memory, NULL, &options, &error),
        EXTRACT_OK);
}

// Runs the target for `events` events, and polls `seconds` later.
static void stop(uint64_t events, uint64_t seconds)
{
    sim_run(&session.sim, events);
    session.sim.now += seconds * 1000000000 + 1000000;
    assert_int_equal(sim_poll(&session), EXTRACT_OK);
    if (session.judge.fault)
        fail_msg("%s", session.judge.fault);
}

static void end(void)
{
    uint64_t number = session.sim.number, slots = session.sim.slots;
    sim_close(&session);
    if (session.judge.fault)
        fail_msg("%s", session.judge.fault);
    assert_int_equal((number - session.judge.next - session.judge.pending) % slots, 0);
    assert_int_equal(session.judge.marks[EXTRACT_MARK_RESET], 0);
    assert_int_equal(session.judge.marks[EXTRACT_MARK_STOP], 1);
}

// A few events in a long host time do not mean a slow clock. Many events in a short host time do
// not mean a reset.
static void test_thinking(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 20; i++)
        stop(40, THINKING);
    assert_int_equal(session.judge.lost, 0);
    stop(5000, 0);
    assert_int_equal(extract_recorder_status(session.recorder)->resets, 0);
    assert_int_equal(session.judge.gaps, 1);
    assert_int_equal(session.judge.exact_gaps, 0);
    stop(40, THINKING);
    stop(3000, THINKING);
    assert_int_equal(session.judge.gaps, 2);
    end();
}

// Each poll at a stop records all that the ring holds, even if the writer is exactly one lap ahead.
static void test_all_of_it(void **state)
{
    static const uint64_t runs[] = {SLOTS, 10 * SLOTS, SLOTS - 1, 5 * SLOTS + 77, SLOTS, 3};
    (void)state;
    begin();
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        uint64_t had = session.judge.entries, most = runs[i] < SLOTS ? runs[i] : SLOTS;
        stop(runs[i], 1);
        uint64_t new =
            session.judge.entries - had + extract_recorder_status(session.recorder)->pending;
        assert_in_range(new, most - 1, most + 3);
    }
    end();
}

// The recording ends where the last poll ended, and the target is not read again.
static void test_leave(void **state)
{
    (void)state;
    begin();
    session.sim.patches = true;
    stop(40, 1);
    stop(21, 1);
    uint64_t number = session.sim.number, reads = session.sim.reads;
    assert_true(extract_recorder_status(session.recorder)->pending > 0);
    sim_run(&session.sim, 10);
    assert_int_equal(extract_recorder_close_offline(session.recorder, NULL), EXTRACT_OK);
    assert_null(session.judge.fault);
    assert_int_equal(session.sim.reads, reads);
    assert_int_equal(session.judge.next, number);
    assert_int_equal(session.judge.lost, 0);
    assert_int_equal(session.judge.marks[EXTRACT_MARK_STOP], 1);
    assert_int_equal(session.judge.marks[EXTRACT_MARK_GONE], 0);
    extract_memory_close(session.memory);
    free(session.sim.words);
    assert_int_equal(extract_recorder_close_offline(NULL, NULL), EXTRACT_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thinking),
        cmocka_unit_test(test_all_of_it),
        cmocka_unit_test(test_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
