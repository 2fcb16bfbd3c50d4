// SPDX-License-Identifier: MIT
// Tests the beginning and the end of a recording, of a trace and of a target's run. Each event at
// these points is recorded, reported lost, or covered by a loss of unknown size. Truth: the events
// that the simulated target wrote.
#include "follow/follow_room.h"
#include "tests/unit/record/sim.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static struct sim_session session;

// Simulates firmware whose symbols give the address of the pointer to the write position.
enum extract_code __real_threadx_read_ring(struct extract_ring *ring, struct extract_memory *memory,
                                           struct extract_symbols *symbols, uint64_t address,
                                           struct extract_error *error);
enum extract_code __wrap_threadx_read_ring(struct extract_ring *ring, struct extract_memory *memory,
                                           struct extract_symbols *symbols, uint64_t address,
                                           struct extract_error *error);
enum extract_code __wrap_threadx_read_ring(struct extract_ring *ring, struct extract_memory *memory,
                                           struct extract_symbols *symbols, uint64_t address,
                                           struct extract_error *error)
{
    enum extract_code code = __real_threadx_read_ring(ring, memory, symbols, address, error);
    ring->current_symbol = SIM_LIVE;
    ring->pointer_bytes = 4;
    return code;
}

// Starts a recording of a ring that already holds `before` events. During the start, the writer
// makes `per_ns` events per nanosecond.
static void begin_while(double per_ns, uint32_t slots, uint64_t before)
{
    struct extract_error error;
    struct sim *sim = &session.sim;
    assert_true(sim_make(sim, slots));
    sim->latency = 1000;
    sim->word_ns = 6;
    sim->stamp = 1000;
    sim_run(sim, before);
    sim->per_ns = per_ns;
    if (sim_open(&session, &error))
        fail_msg("%s: %s", error.what, error.why);
}

static void begin(uint32_t slots, uint64_t before)
{
    begin_while(0, slots, before);
}

static void poll_after(uint64_t events)
{
    sim_run(&session.sim, events);
    session.sim.now += 100000000;
    assert_int_equal(sim_poll(&session), EXTRACT_OK);
}

// Ends the recording and returns its final status.
static struct extract_record_status end(void)
{
    struct extract_record_status status;
    session.judge.poll_start = session.sim.stores;
    assert_int_equal(extract_recorder_finish(session.recorder, &status, NULL), EXTRACT_OK);
    extract_memory_close(session.memory);
    free(session.sim.words);
    if (session.judge.fault)
        fail_msg("%s", session.judge.fault);
    assert_int_equal(status.entries, session.judge.entries);
    assert_int_equal(status.lost, session.judge.lost);
    assert_int_equal(session.judge.marks[EXTRACT_MARK_STOP], 1);
    return status;
}

static void ends_with(uint64_t entries, uint64_t lost, bool known)
{
    struct extract_record_status status = end();
    assert_int_equal(status.entries, entries);
    assert_int_equal(status.lost, lost);
    assert_int_equal(!status.gaps_not_exact, known);
}

static unsigned marks(enum extract_log_mark kind)
{
    return session.judge.marks[kind];
}

// Enables the trace, which empties the ring. The write position must be the first slot.
static void enable(void)
{
    assert_int_equal(session.sim.number % session.sim.slots, 0);
    sim_boot(&session.sim);
    session.sim.off = false;
}

// The slowest writer makes a lap in 3.2 ms. Verifying entries takes 4 reads of 1 ms. So the
// recorder knows what is lost only when the recording ends.
static void test_beyond_the_link(void **state)
{
    (void)state;
    for (double rate = 20e-6; rate < 150e-6; rate *= 2.2) {
        begin(64, 1);
        session.sim.latency = 1000000;
        session.sim.word_ns = 40000;
        session.sim.per_ns = rate;
        sim_record(&session, 3000000000);
        struct extract_record_status status = end();
        assert_in_range(status.entries, 1, 100);
        assert_true(status.lost > 1000);
        assert_true(status.gaps_not_exact > 0);
        assert_true(session.judge.pending > 1000 && session.judge.modulo);
    }
}

static void test_empty(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 2; first++) {
        begin(64, first);
        for (uint64_t i = 1; i < 30; i++) {
            poll_after(5);
            assert_int_equal(session.judge.entries, first + 5 * i);
        }
        ends_with(first + 145, 0, true);
    }
}

// The ring is empty when the recording starts, and wraps before the next poll. The lost entries
// come after START.
static void test_empty_then_lapped(void **state)
{
    (void)state;
    begin(64, 0);
    poll_after(100);
    // The slot at the write position cannot be verified. One more may be written during the read.
    assert_in_range(session.judge.entries, 62, 63);
    ends_with(session.judge.entries, 0, false);
}

// The writer overwrites a full ring while its first entries are read. No entry can be verified
// until the writer pauses.
static void test_lapped_before_the_first(void **state)
{
    (void)state;
    // The writer makes several laps during each read.
    begin_while(0.5, 64, 64);
    assert_int_equal(session.judge.entries, 0);
    session.sim.per_ns = 0;
    poll_after(0);
    assert_in_range(session.judge.entries, 1, 64);
    ends_with(session.judge.entries, 0, false);
}

static void test_reset_to_empty(void **state)
{
    (void)state;
    begin(64, 60);
    // The reset comes before these events are read.
    sim_run(&session.sim, 4);
    sim_boot(&session.sim);
    poll_after(0);
    assert_int_equal(marks(EXTRACT_MARK_RESET), 1);
    for (unsigned i = 1; i < 8; i++) {
        poll_after(5);
        assert_int_equal(session.judge.entries, 60 + 5 * i);
    }
    ends_with(95, 0, false);
}

static void test_reset_then_stop(void **state)
{
    (void)state;
    begin(64, 60);
    sim_run(&session.sim, 4);
    sim_boot(&session.sim);
    poll_after(0);
    ends_with(60, 0, false);
    assert_int_equal(session.judge.modulo, EXTRACT_LOG_ANY_MORE);
}

static void test_off(void **state)
{
    (void)state;
    begin(64, 20);
    session.sim.off = true;
    poll_after(44);
    poll_after(0);
    assert_int_equal(session.judge.entries, 64);
    assert_int_equal(marks(EXTRACT_MARK_DISABLED), 1);
    for (unsigned i = 0; i < 20; i++)
        poll_after(0);
    enable();
    poll_after(10);
    assert_int_equal(marks(EXTRACT_MARK_ENABLED), 1);
    poll_after(10);
    ends_with(84, 0, true);
    assert_int_equal(marks(EXTRACT_MARK_DISABLED), 1);
}

static void test_off_behind_laps(void **state)
{
    (void)state;
    for (uint64_t more = 60; more < 400; more++) {
        begin(64, 50);
        session.sim.off = true;
        for (unsigned i = 0; i < 3; i++)
            poll_after(i ? 0 : more);
        assert_int_equal(marks(EXTRACT_MARK_DISABLED), 1);
        assert_int_equal((session.judge.entries + session.judge.lost) % 64, (50 + more) % 64);
        assert_in_range(session.judge.entries, 50 + 63 - (more < 63 ? 63 - more : 0), 50 + 64);
        bool lapped = session.judge.gaps > 0;
        // 64 new events overwrite the last recorded entry, so the recorder sees a lap.
        assert_int_equal(lapped, more > 63);
        assert_int_equal(!end().gaps_not_exact, !lapped);
    }
}

// Entries that the recorder could not read in time can be read after the writer stops.
static void test_off_under_load(void **state)
{
    struct sim *sim = &session.sim;
    (void)state;
    begin(64, 11);
    sim->latency = 300000;
    sim->per_ns = 20e-6;
    sim_record(&session, 1000000000);
    sim->per_ns = 0;
    while (sim->store)
        sim_store(sim);
    sim_poll(&session);
    uint64_t entries = session.judge.entries + extract_recorder_status(session.recorder)->pending;
    uint64_t lost = session.judge.lost;
    sim_run(sim, 60);
    sim->off = true;
    for (unsigned i = 0; i < 3; i++)
        sim_poll(&session);
    assert_int_equal(session.judge.entries, entries + 60);
    assert_int_equal(session.judge.lost, lost);
    assert_int_equal(marks(EXTRACT_MARK_DISABLED), 1);
    end();
}

static void test_off_with_much_left(void **state)
{
    (void)state;
    begin(20000, 50);
    session.sim.off = true;
    poll_after(12000);
    poll_after(0);
    assert_int_equal(session.judge.entries, 12050);
    ends_with(12050, 0, true);
}

// The recording ends while many entries are still unread.
static void test_off_and_stop(void **state)
{
    (void)state;
    begin(40000, 50);
    sim_run(&session.sim, 39000);
    session.sim.off = true;
    ends_with(39050, 0, true);
    assert_int_equal(marks(EXTRACT_MARK_DISABLED), 1);
}

static void test_on_between_two_looks(void **state)
{
    (void)state;
    begin(64, 20);
    session.sim.off = true;
    poll_after(44);
    poll_after(0);
    enable();
    sim_run(&session.sim, 30);
    session.sim.off = true;
    poll_after(0);
    poll_after(0);
    assert_int_equal(session.judge.entries, 94);
    assert_int_equal(marks(EXTRACT_MARK_ENABLED), 1);
    assert_int_equal(marks(EXTRACT_MARK_DISABLED), 2);
    // The loss is not exact: the trace may have been enabled more than once between two polls.
    ends_with(94, 0, false);
}

// The trace is disabled while some entries cannot be read, and enabled before they can be read. So
// the number of lost entries is not known.
static void test_on_before_all_was_read(void **state)
{
    (void)state;
    begin(64, 20);
    session.sim.hole = 30;
    session.sim.holes = 34;
    session.sim.off = true;
    poll_after(44);
    assert_int_equal(session.judge.entries, 30);
    session.sim.holes = 0;
    enable();
    poll_after(7);
    assert_int_equal(marks(EXTRACT_MARK_DISABLED), 1);
    assert_int_equal(marks(EXTRACT_MARK_ENABLED), 1);
    ends_with(37, 0, false);
}

static void test_unreadable_at_the_end(void **state)
{
    (void)state;
    begin(64, 11);
    session.sim.hole = 15;
    session.sim.holes = 5;
    poll_after(20);
    ends_with(15, 16, true);
    assert_int_equal(session.judge.lost_by[EXTRACT_LOSS_UNREADABLE], 16);
}

// While the trace is disabled, the recorder tries unreadable entries again and finally gives them
// up.
static void test_unreadable_when_off(void **state)
{
    (void)state;
    // The hole is first in the middle of the new entries, then at their end.
    for (unsigned last = 0; last < 2; last++) {
        begin(64, 11);
        session.sim.hole = last ? 26 : 15;
        session.sim.holes = 5;
        session.sim.off = true;
        poll_after(20);
        assert_int_equal(marks(EXTRACT_MARK_DISABLED), 0);
        for (unsigned i = 0; i < 12; i++)
            poll_after(0);
        assert_int_equal(marks(EXTRACT_MARK_DISABLED), 1);
        assert_int_equal(session.judge.entries + session.judge.lost, 31);
        assert_in_range(session.judge.lost, 5, 10);
        assert_int_equal(session.judge.lost_by[EXTRACT_LOSS_UNREADABLE], session.judge.lost);
        assert_int_equal(end().gaps_not_exact, 0);
    }
}

static void test_gone_at_the_end(void **state)
{
    (void)state;
    begin(64, 11);
    session.sim.dead = true;
    poll_after(5);
    ends_with(11, 0, false);
    assert_int_equal(session.judge.modulo, EXTRACT_LOG_ANY_MORE);
    begin(64, 11);
    session.sim.off = true;
    poll_after(5);
    poll_after(0);
    session.sim.dead = true;
    poll_after(0);
    // Nothing is lost: the trace was disabled and completely read.
    ends_with(16, 0, true);
}

// ---- A reset after which the ring filled again before the next poll ----

static void test_refilled(void **state)
{
    (void)state;
    for (unsigned turns = 2; turns < 6; turns++) {
        begin(64, 11);
        session.sim.per_ns = 1e-6;
        sim_record(&session, 1000000000);
        sim_boot(&session.sim);
        session.sim.stamp = 0;
        poll_after(64 * turns + 7);
        // Only the timestamps show the reset, and they do not prove it.
        assert_int_equal(marks(EXTRACT_MARK_RESET), 0);
        assert_int_equal(marks(EXTRACT_MARK_CLOCK), 1);
        assert_true(end().gaps_not_exact > 0);
    }
}

// Makes the writer lap the reader after `ns`, in which the clock advances by `ticks`. Returns how
// many RESET and CLOCK markers the recorder wrote.
static unsigned resets_after(uint32_t mask, uint32_t step, uint64_t ns, uint32_t ticks)
{
    begin(64, 11);
    struct sim *sim = &session.sim;
    extract_recorder_close(session.recorder, NULL);
    extract_memory_close(session.memory);
    sim->mask = sim->words[1] = mask;
    sim->step = step;
    sim_run(sim, 64);
    assert_int_equal(sim_open(&session, NULL), EXTRACT_OK);
    sim->per_ns = 1e-6;
    sim_record(&session, 1000000000);
    sim->per_ns = 0;
    sim->now += ns;
    sim->stamp += ticks;
    poll_after(200);
    assert_true(extract_recorder_status(session.recorder)->laps > 0);
    unsigned resets = marks(EXTRACT_MARK_RESET) + marks(EXTRACT_MARK_CLOCK);
    end();
    return resets;
}

static void test_no_reset(void **state)
{
    const uint64_t minute = UINT64_C(60) * 1000000000;
    (void)state;
    // The clock makes 977 ticks per millisecond, 58,620,000 per minute.
    assert_int_equal(resets_after(UINT32_MAX, 977, minute, 0), 0);
    assert_int_equal(resets_after(UINT32_MAX, 977, 10 * minute, 0), 0); // the clock stopped
    assert_int_equal(resets_after(UINT32_MAX, 977, minute, 58620000), 0);
    assert_int_equal(resets_after(UINT32_MAX, 977, 10 * minute, 586200000), 0);
    assert_int_equal(resets_after(UINT32_MAX, -977u, 10 * minute, -586200000u), 0); // counts down
    // A clock of 16 bits wraps 15 times a second.
    assert_int_equal(resets_after(0xFFFF, 977, 10 * minute, 0), 0);
    assert_int_equal(resets_after(0xFFFF, 977, 10 * minute, 586200000), 0);
    assert_int_equal(resets_after(0xFFFF, 2, 10 * minute, 1200000), 0);
    assert_int_equal(resets_after(UINT32_MAX, 0, minute, 0), 0);
}

static bool went_back(uint32_t stamp, uint64_t ns, bool is_held)
{
    uint32_t entry[SIM_ENTRY] = {0x20010000, 0, 1, stamp};
    const struct extract_recorder *r = session.recorder;
    return ring_clock_went_back(&r->slots.clock, &r->ring, (const uint8_t *)entry,
                                r->slots.clock.time_ns + ns, is_held);
}

// Truth: calculated by hand for 977,000 ticks per second. The clock's period is 4,396 s. A step of
// more than half a period (2,198 s) counts as a step back. It does not if the host's clock shows
// that a quarter of a period may have passed. A smaller step never counts as a step back.
static void test_went_back(void **state)
{
    const uint64_t second = 1000000000;
    (void)state;
    begin(64, 11);
    session.sim.per_ns = 1e-6;
    sim_record(&session, 3 * second);
    uint32_t stamp = (uint32_t)((struct extract_recorder *)session.recorder)->slots.clock.stamp;
    assert_false(went_back(stamp, 0, false));
    assert_false(went_back(stamp, 100 * second, false));
    assert_false(went_back(stamp + 977000, second, false));
    assert_false(went_back(stamp + 3100000, second, false));
    assert_false(went_back(stamp + 2000000000, second, false));
    assert_true(went_back(stamp - 1, second, false));
    assert_true(went_back(0, second, false));
    assert_true(went_back(0, 1000 * second, false));
    assert_false(went_back(0, 1200 * second, false));
    assert_true(went_back(0, 1200 * second, true)); // the host's clock is ignored
    assert_false(went_back(stamp + 977000, 1200 * second, true));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beyond_the_link),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_empty_then_lapped),
        cmocka_unit_test(test_lapped_before_the_first),
        cmocka_unit_test(test_reset_to_empty),
        cmocka_unit_test(test_reset_then_stop),
        cmocka_unit_test(test_off),
        cmocka_unit_test(test_off_behind_laps),
        cmocka_unit_test(test_off_under_load),
        cmocka_unit_test(test_off_with_much_left),
        cmocka_unit_test(test_off_and_stop),
        cmocka_unit_test(test_on_between_two_looks),
        cmocka_unit_test(test_on_before_all_was_read),
        cmocka_unit_test(test_unreadable_at_the_end),
        cmocka_unit_test(test_unreadable_when_off),
        cmocka_unit_test(test_gone_at_the_end),
        cmocka_unit_test(test_refilled),
        cmocka_unit_test(test_no_reset),
        cmocka_unit_test(test_went_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
