// SPDX-License-Identifier: MIT
// Tests recording in virtual time: loads up to the link's limit and beyond it, laps and the
// reported losses, the cost of polls, resets, and targets that do not respond. test_follow.c has
// the model check. Truth: the events that the simulated target wrote.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include "follow/follow_room.h"
#include "tests/unit/record/rate.h"
#include <cmocka.h>

static struct sim_session session;

static void begin(uint32_t slots, double events_per_second)
{
    struct extract_error error;
    assert_true(rate_setup(&session.sim, &rate_links[1], slots, events_per_second));
    if (sim_open(&session, &error))
        fail_msg("%s: %s", error.what, error.why);
}

static const struct extract_record_status *status(void)
{
    return extract_recorder_status(session.recorder);
}

// Stops the writer and the recording. Every event since the first recorded one must be recorded or
// reported lost.
static void end(void)
{
    const struct sim_validate *judge = &session.judge;
    struct sim *sim = &session.sim;
    sim->per_ns = 0;
    while (sim->store)
        sim_store(sim);
    uint64_t number = sim->number, slots = sim->slots;
    sim_close(&session);
    if (judge->fault)
        fail_msg("%s", judge->fault);
    assert_int_equal((number - judge->next - judge->pending) % slots, 0);
    assert_int_equal(judge->marks[EXTRACT_MARK_START], 1);
    assert_int_equal(judge->marks[EXTRACT_MARK_STOP], 1);
}

static void test_bound(void **state)
{
    static const uint32_t rings[] = {256, 1024, 8192};
    (void)state;
    for (size_t link = 0; link < 2; link++)
        for (size_t i = 0; i < 3; i++) {
            double rate = 0.85 * rate_links[link].bytes_per_second / 32;
            assert_true(rate_recorder_follows(&session, &rate_links[link], rings[i], rate));
            assert_false(rate_naive_follows(&session, &rate_links[link], rings[i], rate));
            assert_true(rate_naive_follows(&session, &rate_links[link], rings[i], rate / 2));
        }
}

// The recorder estimates the link from its own reads: 0.14 ms latency and 600 KB/s.
static void test_advice(void **state)
{
    (void)state;
    begin(1024, 1000);
    const struct extract_record_advice *advice = &status()->advice;
    assert_in_range(advice->latency, 139000, 141000);
    assert_in_range(advice->rate, 599000, 601000);
    // Reading half of the ring (510 entries) takes 3 latencies, 20 bytes and 16320 bytes: 27.65 ms.
    assert_in_range(advice->events, 18300, 18600);
    assert_int_equal(advice->slots, 1024);
    assert_int_equal(advice->slots_wanted, 0);
    sim_record(&session, 2000000000);
    assert_in_range(status()->events_per_second, 990, 1010);
    // 1,000 events/s fill an eighth of the ring in 128 ms. The idle period is shorter: the time for
    // 256 entries at 18,450 events/s, which is 13.9 ms.
    assert_in_range(advice->period, 13000000, 14500000);
    assert_int_equal(status()->lost, 0);
    end();
}

// For 12,000 events/s, a poll must read half of the ring. The ring then needs 2 w (3 l + 20 / rate)
// / (1 - w e) + 4 slots, rounded up to 32. Here w e = 0.64 and 3 l + 20 / rate = 453 us, so it
// needs 34.2 slots.
static void test_too_small(void **state)
{
    (void)state;
    begin(24, 12000);
    sim_record(&session, 1000000000);
    assert_in_range(status()->advice.slots_wanted, 32, 64);
    end();
    begin(1024, 30000);
    sim_record(&session, 1000000000);
    assert_int_equal(status()->advice.slots_wanted, UINT32_MAX);
    end();
}

// Beyond the link's limit, the recorder still reads a share of the events that matches the bytes it
// transfers. While the anchor is unchanged, the number of lost entries is known.
static void test_overload(void **state)
{
    static const double loads[] = {1.2, 2, 5, 20};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        begin(1024, loads[i] * 18750);
        sim_record(&session, 3000000000);
        print_message("# %.1f times the link: %llu of %.0f, %llu gaps\n", loads[i],
                      (unsigned long long)session.judge.entries, 3 * loads[i] * 18750,
                      (unsigned long long)session.judge.gaps);
        assert_in_range(session.judge.entries,
                        loads[i] < 3   ? 40000
                        : loads[i] < 6 ? 30000
                                       : 10000,
                        60000);
        assert_true(session.judge.lost > 0);
        assert_true(status()->advice.link_is_too_slow);
        end();
    }
}

// The host pauses while the writer makes from one to a hundred laps. The judge checks the certain
// part of each loss. Timestamps that count events make each loss exact.
static void laps(uint32_t mask, uint32_t step)
{
    unsigned many = 0;
    begin(256, 10000);
    session.sim.mask = session.sim.words[1] = mask;
    extract_recorder_close(session.recorder, NULL);
    extract_memory_close(session.memory);
    session.sim.step = step;
    sim_run(&session.sim, 300);
    struct extract_error error;
    assert_int_equal(sim_open(&session, &error), EXTRACT_OK);
    for (; many < 100; many++) {
        sim_record(&session, 300000000);
        sim_pass(&session.sim, 30e6 + 25e6 * many);
    }
    sim_record(&session, 300000000);
    assert_in_range(session.judge.gaps, 95, 100);
    assert_int_equal(session.judge.exact_gaps, step == 1 ? session.judge.gaps : 0);
    assert_int_equal(!status()->gaps_not_exact, step == 1);
    assert_int_equal(session.judge.marks[EXTRACT_MARK_RESET], 0);
    assert_int_equal(session.judge.marks[EXTRACT_MARK_CLOCK], 0);
    end();
}

static void test_laps(void **state)
{
    (void)state;
    laps(UINT32_MAX, 977);
    laps(UINT32_MAX, -977u); // the clock counts down
    laps(0xFFFF, 977);       // the clock wraps every 67 events
    laps(UINT32_MAX, 1);     // the timestamps count events
    laps(UINT32_MAX, 0);     // the clock does not advance
}

// A poll with k new entries costs at most 8 k + 48 words, where each read counts as 4 words. The
// recorder does not read the registry again within a second, so the registry adds nothing.
static void test_cost(void **state)
{
    (void)state;
    begin(512, 0);
    session.sim.patches = true;
    // The link is fast enough to follow this load.
    session.sim.latency = 1;
    session.sim.word_ns = 0.01;
    for (uint32_t k = 0; k < 250; k += 1 + k / 8)
        for (unsigned turn = 0; turn < 9; turn++) {
            session.sim.now += 1000000;
            sim_run(&session.sim, k);
            uint64_t words = session.sim.words_read, reads = session.sim.reads;
            uint32_t pending = status()->pending;
            sim_poll(&session);
            words = session.sim.words_read - words;
            reads = session.sim.reads - reads;
            if (words + 4 * reads > 8 * k + 48)
                fail_msg("%u new, %u pending: %llu words in %llu reads", k, pending,
                         (unsigned long long)words, (unsigned long long)reads);
            if (!k && !pending)
                assert_int_equal(words, 1);
        }
    assert_int_equal(session.judge.lost, 0);
    end();
}

static void test_reset(void **state)
{
    (void)state;
    begin(128, 500);
    sim_record(&session, 500000000);
    for (unsigned i = 0; i < 5; i++) {
        sim_boot(&session.sim);
        session.sim.stamp = 0;
        sim_record(&session, 50000000 + 40000000 * i);
    }
    assert_int_equal(status()->resets, 5);
    assert_int_equal(session.judge.marks[EXTRACT_MARK_RESET], 5);
    assert_int_equal(session.judge.rings, 6);
    assert_true(status()->gaps_not_exact || !status()->gaps);
    end();
}

static void test_gone(void **state)
{
    (void)state;
    begin(1024, 1000);
    sim_record(&session, 500000000);
    session.sim.dead = true;
    sim_record(&session, 400000000); // shorter than a lap of the ring
    assert_true(status()->gone);
    session.sim.dead = false;
    sim_record(&session, 500000000);
    assert_false(status()->gone);
    assert_int_equal(session.judge.marks[EXTRACT_MARK_GONE], 1);
    assert_int_equal(session.judge.marks[EXTRACT_MARK_BACK], 1);
    assert_int_equal(status()->lost, 0);
    end();
}

// The recorder gives up entries that cannot be read and continues with the rest. It loses at most
// twice as many entries as the hole holds.
static void test_hole(void **state)
{
    (void)state;
    begin(256, 1000);
    session.sim.hole = 100;
    session.sim.holes = 8;
    sim_record(&session, 2000000000);
    uint64_t turns = session.sim.number / 256;
    assert_in_range(session.judge.lost, 8 * (turns - 5), 16 * turns + 16);
    assert_true(session.judge.entries > 1500);
    session.sim.holes = 0;
    end();
}

static void test_objects(void **state)
{
    (void)state;
    begin(64, 100);
    assert_int_equal(session.judge.objects, 1);
    // The entries name threads that no registry knows. The registry is unchanged, so it is written
    // only once.
    sim_record(&session, 3000000000);
    assert_int_equal(session.judge.objects, 1);
    session.sim.words[SIM_HEADER + 5] = 0x21212121;
    end(); // the recorder reads the registry again at the end
    assert_int_equal(session.judge.objects, 2);
}

static bool is_wanted(struct objects *objects, const struct extract_ring *ring, uint32_t id)
{
    uint32_t entry[SIM_ENTRY] = {0x20010000, 0x80100010, id, 7, 0x20020000};
    struct extract_follower_span span = {.entries = (uint8_t *)entry, .count = 1};
    objects->is_wanted = false;
    objects_note_entries(objects, ring, &span);
    return objects->is_wanted;
}

// The recorder reads the registry if an entry has a new address, or if it creates an object at a
// known address.
static void test_created_again(void **state)
{
    (void)state;
    begin(64, 100);
    const struct extract_ring *ring = extract_recorder_ring(session.recorder);
    struct objects objects = {0};
    assert_int_equal(objects_start(&objects, ring, NULL), EXTRACT_OK);
    assert_true(is_wanted(&objects, ring, 104)); // thread info get: two addresses
    assert_false(is_wanted(&objects, ring, 104));
    assert_true(is_wanted(&objects, ring, 100));  // thread create
    assert_true(is_wanted(&objects, ring, 60));   // queue create
    assert_false(is_wanted(&objects, ring, 101)); // thread delete
    objects_free(&objects);
    end();
}

static void test_never_written(void **state)
{
    (void)state;
    assert_true(sim_make(&session.sim, 64));
    sim_run(&session.sim, 10);
    assert_int_equal(sim_open(&session, NULL), EXTRACT_OK);
    assert_int_equal(session.judge.entries, 10);
    assert_int_equal(session.judge.lost, 0);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound),         cmocka_unit_test(test_advice),
        cmocka_unit_test(test_too_small),     cmocka_unit_test(test_overload),
        cmocka_unit_test(test_laps),          cmocka_unit_test(test_cost),
        cmocka_unit_test(test_reset),         cmocka_unit_test(test_gone),
        cmocka_unit_test(test_hole),          cmocka_unit_test(test_objects),
        cmocka_unit_test(test_created_again), cmocka_unit_test(test_never_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
