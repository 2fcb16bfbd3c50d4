// SPDX-License-Identifier: MIT
// extract_diff_new on pairs of traces of simulated systems (simulator.h): the second system has a
// regression, which must rank first. The two runs have different seeds and lengths.
#include "tests/unit/schedule/simulator.h"
#include "tests/unit/samples.h"
#include <extract/diff.h>
#include <stdio.h>

enum { SYSTEMS = 100, MUTEXES = 3, FIRST_ENTRIES = 1500, SECOND_ENTRIES = SIM_ENTRIES };

enum regression { NO_REGRESSION, LONGER_HOLD, OTHER_PRIORITY, EXTRA_INTERRUPT, REGRESSIONS };

// A trace, and what it is made of.
struct recorded {
    struct simulator sim;
    struct ring_image image;
    struct look look;
};

static struct recorded first, second;
static uint64_t random_state;

static unsigned choose(unsigned limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((random_state >> 33) % limit);
}

// ---- systems ----

static int add_object(struct sim_system *system, enum sim_state kind, unsigned capacity)
{
    int i = system->object_count++;

    system->objects[i].kind = kind;
    system->objects[i].capacity = capacity;
    system->objects[i].inherits = choose(2);
    return i;
}

static struct sim_loop_step *add_thread(struct sim_system *system, const char *name,
                                        unsigned priority)
{
    int i = system->thread_count++;

    system->threads[i].name = name;
    system->threads[i].priority = priority;
    return system->threads[i].loop;
}

// Adds a thread that sleeps, and uses one or two mutexes.
static void add_locker(struct sim_system *system, const char *name)
{
    struct sim_loop_step *step = add_thread(system, name, 3 + choose(9));

    for (unsigned n = 1 + choose(2); n; n--) {
        int mutex = (int)choose(MUTEXES);
        *step++ = (struct sim_loop_step){STEP_GET, mutex, UINT32_MAX, 20 + choose(200)};
        *step++ = (struct sim_loop_step){STEP_PUT, mutex, 0, 40 + choose(200)};
    }
    *step++ = (struct sim_loop_step){STEP_SLEEP, 0, 1 + choose(3), 20 + choose(150)};
}

// Adds a device whose interrupt sets a semaphore, for which a thread waits.
static void add_device(struct sim_system *system, const char *name, unsigned number)
{
    int object = add_object(system, SIM_SEMAPHORE, 100), i = system->device_count++;
    struct sim_loop_step *step = add_thread(system, name, 2 + choose(11));

    system->devices[i].number = number;
    system->devices[i].every = 1000 + choose(2500);
    system->devices[i].work = 8 + choose(30);
    system->devices[i].object = object;
    *step++ = (struct sim_loop_step){STEP_GET, object, UINT32_MAX, 0};
    *step++ = (struct sim_loop_step){STEP_USER, 0, 0, 30 + choose(200)};
}

static void add_producer(struct sim_system *system)
{
    int queue = add_object(system, SIM_QUEUE, 4);
    struct sim_loop_step *step = add_thread(system, "producer", 3 + choose(9));

    *step++ = (struct sim_loop_step){STEP_PUT, queue, UINT32_MAX, 30 + choose(150)};
    *step++ = (struct sim_loop_step){STEP_SLEEP, 0, 1 + choose(3), 10};
    step = add_thread(system, "consumer", 3 + choose(9));
    *step++ = (struct sim_loop_step){STEP_GET, queue, UINT32_MAX, 0};
    *step++ = (struct sim_loop_step){STEP_USER, 0, 0, 30 + choose(250)};
}

static void make_system(struct sim_system *system, uint32_t seed)
{
    *system = (struct sim_system){.thread_count = 1};
    random_state = seed * UINT64_C(0xD6E8FEB86659FD93) + 1;
    for (unsigned i = 0; i < MUTEXES; i++)
        add_object(system, SIM_MUTEX, 1);
    add_locker(system, "locker 1");
    add_locker(system, "locker 2");
    if (choose(2))
        add_locker(system, "locker 3");
    add_device(system, "handler 1", 20);
    if (choose(2))
        add_device(system, "handler 2", 21);
    if (choose(2))
        add_producer(system);
    if (choose(2))
        *add_thread(system, "spinner", 15) = (struct sim_loop_step){STEP_RELINQUISH, 0, 0, 300};
}

// Makes everything that begins by itself happen half as often.
static void calm_down(struct sim_system *system)
{
    for (int i = 0; i < system->device_count; i++)
        system->devices[i].every *= 2;
    for (int i = 0; i < system->thread_count; i++)
        for (struct sim_loop_step *step = system->threads[i].loop; step->step; step++)
            if (step->step == STEP_SLEEP)
                step->value *= 2;
}

// What must rank first.
struct expected {
    enum extract_change_kind kind;
    enum extract_activity activity;
    char thread[24], object[24];
    uint64_t number;
};

static void lengthen_hold(struct sim_system *system, struct expected *expected)
{
    int i = 1 + (int)choose(2);
    struct sim_loop_step *put = &system->threads[i].loop[1];

    expected->kind = EXTRACT_CHANGE_COST;
    expected->activity = EXTRACT_ACTIVITY_HOLD;
    snprintf(expected->thread, sizeof expected->thread, "%s", system->threads[i].name);
    snprintf(expected->object, sizeof expected->object, "object %d", put->object);
    put->work = put->work * (25 + choose(25)) / 10;
}

static void change_priority(struct sim_system *system, struct expected *expected)
{
    int i = 1 + (int)choose((unsigned)system->thread_count - 1);
    unsigned *priority = &system->threads[i].priority;

    expected->kind = EXTRACT_CHANGE_PRIORITY;
    snprintf(expected->thread, sizeof expected->thread, "%s", system->threads[i].name);
    *priority = *priority >= 7 ? 1 : 14;
}

static void add_interrupt(struct sim_system *system, struct expected *expected)
{
    int i = system->device_count++;

    expected->kind = EXTRACT_CHANGE_RATE;
    expected->activity = EXTRACT_ACTIVITY_INTERRUPT;
    expected->number = 30;
    system->devices[i].number = 30;
    system->devices[i].every = 800 + choose(800);
    system->devices[i].work = 20 + choose(60);
    system->devices[i].object = SIM_NONE;
}

// ---- traces ----

static void record(struct recorded *recorded, const struct sim_system *system, uint32_t seed,
                   unsigned entries)
{
    const struct sim_options options = {
        .system = system, .seed = seed, .cores = 1, .entries = entries};
    struct ring_spec spec = ring_plain;
    struct simulator *sim = &recorded->sim;
    unsigned slot = 0;

    sim_run(sim, &options);
    spec.objects = SIM_THREADS + SIM_OBJECTS;
    spec.entries = entries;
    ring_build(&recorded->image, &spec);
    for (int i = 0; i < sim->thread_count; i++)
        ring_register(&recorded->image, slot++,
                      &(struct ring_object){.type = 1,
                                            .reserved1 = 0x80,
                                            .reserved2 = (uint8_t)system->threads[i].priority,
                                            .address = sim->threads[i].address,
                                            .name = sim->threads[i].name});
    for (int i = 0; i < sim->object_count; i++) {
        enum sim_state kind = sim->objects[i].kind;
        ring_register(&recorded->image, slot++,
                      &(struct ring_object){.type = kind == SIM_QUEUE       ? 3
                                                    : kind == SIM_SEMAPHORE ? 4
                                                                            : 5,
                                            .address = sim->objects[i].address,
                                            .name = sim->objects[i].name});
    }
    for (unsigned i = 0; i < entries; i++) {
        struct ring_entry entry = sim->entries[i];
        entry.id &= 0xFFFFFF;
        ring_insert(&recorded->image, &entry);
    }
    look_open(&recorded->look, &recorded->image);
}

static bool is_expected(const struct extract_change *change, const struct expected *expected)
{
    if (change->kind != expected->kind)
        return false;
    if (change->kind != EXTRACT_CHANGE_PRIORITY && change->activity != expected->activity)
        return false;
    if (change->activity == EXTRACT_ACTIVITY_INTERRUPT)
        return change->number == expected->number;
    return strcmp(change->thread, expected->thread) == 0 &&
           (!*expected->object || strcmp(change->object, expected->object) == 0);
}

// Compares the two traces of a system, which has a regression in the second one.
static struct extract_diff *compare(uint32_t seed, enum regression regression, bool is_busier,
                                    struct expected *expected)
{
    static void (*const inject[])(struct sim_system *,
                                  struct expected *) = {[LONGER_HOLD] = lengthen_hold,
                                                        [OTHER_PRIORITY] = change_priority,
                                                        [EXTRA_INTERRUPT] = add_interrupt};
    struct sim_system system, calmer;
    struct extract_diff *diff;

    make_system(&system, seed);
    calmer = system;
    if (is_busier)
        calm_down(&calmer);
    *expected = (struct expected){.thread = ""};
    record(&first, &calmer, seed, FIRST_ENTRIES);
    if (inject[regression])
        inject[regression](&system, expected);
    record(&second, &system, seed + SYSTEMS, SECOND_ENTRIES);
    assert_int_equal(
        extract_diff_new(&diff, first.look.trace, 1000000, second.look.trace, 1000000, NULL),
        EXTRACT_OK);
    return diff;
}

static void end(struct extract_diff *diff)
{
    extract_diff_free(diff);
    look_close(&first.look);
    look_close(&second.look);
}

// Expects a regression first in 95 of 100 systems.
static void expect_first(enum regression regression, bool is_busier)
{
    unsigned found = 0, count = 0;

    for (uint32_t seed = 1; seed <= SYSTEMS; seed += sample_step(), count++) {
        struct expected expected;
        struct extract_diff *diff = compare(seed, regression, is_busier, &expected);
        found += diff->change_count && is_expected(&diff->changes[0], &expected);
        end(diff);
    }
    if (found * 100 < count * 95)
        fail_msg("%u of %u", found, count);
}

static void longer_holds_are_first(void **state)
{
    (void)state;
    expect_first(LONGER_HOLD, false);
    expect_first(LONGER_HOLD, true);
}

static void other_priorities_are_first(void **state)
{
    (void)state;
    expect_first(OTHER_PRIORITY, false);
    expect_first(OTHER_PRIORITY, true);
}

static void extra_interrupts_are_first(void **state)
{
    (void)state;
    expect_first(EXTRA_INTERRUPT, false);
    expect_first(EXTRA_INTERRUPT, true);
}

// Two runs of the same system differ by chance only.
static void chance_is_called_so(void **state)
{
    (void)state;
    size_t likely = 0, changes = 0;

    for (uint32_t seed = 1; seed <= SYSTEMS; seed += sample_step()) {
        struct expected expected;
        struct extract_diff *diff = compare(seed, NO_REGRESSION, false, &expected);
        changes += diff->change_count;
        for (size_t i = 0; i < diff->change_count; i++) {
            assert_int_not_equal(diff->changes[i].certainty, EXTRACT_CERTAIN);
            likely += diff->changes[i].certainty == EXTRACT_LIKELY;
        }
        end(diff);
    }
    if (likely * 100 > changes)
        fail_msg("%zu of %zu changes", likely, changes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longer_holds_are_first),
        cmocka_unit_test(other_priorities_are_first),
        cmocka_unit_test(extra_interrupts_are_first),
        cmocka_unit_test(chance_is_called_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
