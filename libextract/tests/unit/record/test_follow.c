// SPDX-License-Identifier: MIT
// Tests recording of a ring that is written during the reads. A model check runs many interleavings
// of writer and reader. test_record.c tests loads, laps and faults.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include "tests/unit/record/sim.h"
#include "tests/unit/samples.h"
#include <cmocka.h>

static struct sim_session session;

static struct sim *make(uint32_t slots)
{
    assert_true(sim_make(&session.sim, slots));
    return &session.sim;
}

static void begin(void)
{
    struct extract_error error;
    if (sim_open(&session, &error))
        fail_msg("%s: %s", error.what, error.why);
}

// ---- Model check ----

enum { POINTS = 3 };

static struct {
    uint64_t word;          // words read so far
    uint64_t at[POINTS];    // words before which the writer continues
    uint64_t steps[POINTS]; // how many stores the writer then makes
    unsigned count;
    unsigned long runs, entries, lost;
} model;

static void step_writer(struct sim *sim)
{
    for (unsigned i = 0; i < model.count; i++)
        if (model.at[i] == model.word)
            for (uint64_t k = 0; k < model.steps[i]; k++)
                sim_store(sim);
    model.word++;
}

// The writer has written `before` events. Runs two polls with steps of the writer during them, then
// two polls without.
static void run_model(uint32_t slots, uint64_t before)
{
    struct sim *sim = make(slots);
    sim->patches = true;
    sim_run(sim, before);
    begin();
    sim_run(sim, 1);
    model.word = 0;
    sim->before_word = step_writer;
    for (unsigned i = 0; i < 3 && !session.judge.fault; i++) {
        sim_poll(&session);
        if (i == 1)
            while (sim->store)
                sim_store(sim);
    }
    sim->before_word = NULL;
    while (sim->store)
        sim_store(sim);
    sim_close(&session);
    const struct sim_validate *judge = &session.judge;
    if (judge->fault)
        fail_msg("%s: ring of %u, %llu before; %llu stores at word %llu, %llu at word %llu",
                 judge->fault, slots, (unsigned long long)before,
                 (unsigned long long)model.steps[0], (unsigned long long)model.at[0],
                 (unsigned long long)model.steps[1], (unsigned long long)model.at[1]);
    assert_int_equal((sim->number - judge->next) % slots, 0);
    model.runs++;
    model.entries += judge->entries;
    model.lost += judge->lost;
}

enum { MODEL_WORDS = 36, MODEL_MORE = 20 };

static void every_interleaving(uint32_t slots)
{
    memset(&model, 0, sizeof model);
    model.count = 2;
    for (model.at[0] = 0; model.at[0] < MODEL_WORDS; model.at[0] += sample_step())
        for (model.at[1] = model.at[0] + 1; model.at[1] < MODEL_WORDS; model.at[1]++)
            for (uint64_t a = 0; a <= SIM_STORES * slots + 10; a++)
                for (uint64_t b = 0; b <= MODEL_MORE; b += b > 10 ? 2 : 1) {
                    model.steps[0] = a;
                    model.steps[1] = b;
                    run_model(slots, slots + 3);
                }
    print_message("# ring of %u: %lu runs, %lu entries, %lu lost\n", slots, model.runs,
                  model.entries, model.lost);
    assert_true(model.entries > model.runs && model.lost > 0);
}

static void test_every_interleaving_of_2(void **state)
{
    (void)state;
    every_interleaving(2);
}

static void test_every_interleaving_of_3(void **state)
{
    (void)state;
    every_interleaving(3);
}

static void test_every_interleaving_of_4(void **state)
{
    (void)state;
    every_interleaving(4);
}

static uint64_t dice;

static uint32_t roll(uint32_t sides)
{
    dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(dice >> 33) % sides;
}

static void step_at_random(struct sim *sim)
{
    uint32_t burst = roll(64);
    uint64_t stores = burst == 0 ? roll(9 * sim->slots) : burst < 12 ? roll(12) : 0;
    while (stores--)
        sim_store(sim);
}

static void test_random_interleavings(void **state)
{
    static const uint32_t rings[] = {2, 3, 4, 5, 8, 13, 32, 100};
    uint64_t entries = 0, lost = 0;
    (void)state;
    dice = 1;
    for (unsigned i = 0; i < 16000 / sample_step(); i++) {
        struct sim *sim = make(rings[i % 8]);
        sim->patches = roll(2);
        sim_run(sim, roll(3 * sim->slots) + 1);
        begin();
        sim->before_word = step_at_random;
        for (unsigned polls = roll(8) + 1; polls; polls--) {
            sim_poll(&session);
            sim_run(sim, 0);
        }
        sim->before_word = NULL;
        while (sim->store)
            sim_store(sim);
        entries += session.judge.entries;
        lost += session.judge.lost;
        sim_close(&session);
        if (session.judge.fault)
            fail_msg("run %u, ring of %u: %s at %llu", i, sim->slots, session.judge.fault,
                     (unsigned long long)session.judge.next);
        assert_int_equal((sim->number - session.judge.next) % sim->slots, 0);
    }
    assert_true(entries > 100000 / sample_step() && lost > 100000 / sample_step());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_interleaving_of_2),
        cmocka_unit_test(test_every_interleaving_of_3),
        cmocka_unit_test(test_every_interleaving_of_4),
        cmocka_unit_test(test_random_interleavings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
