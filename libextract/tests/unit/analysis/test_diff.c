// SPDX-License-Identifier: MIT
// extract_diff_new on pairs of traces of simulated systems (simulator.h): the second system has a
// regression, which must rank first. The two runs have different seeds and lengths.
#include "tests/unit/schedule/simulator.h"
#include "tests/unit/samples.h"
#include <extract/diff.h>
#include <stdio.h>
#include <stdlib.h>

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

// Returns how many systems with a regression have it first.
static unsigned count_found(enum regression regression)
{
    static void (*const inject[])(struct sim_system *, struct expected *) = {
        NULL, lengthen_hold, change_priority, add_interrupt};
    unsigned found = 0;

    for (uint32_t seed = 1; seed <= SYSTEMS; seed++) {
        struct sim_system system;
        struct expected expected = {.thread = ""};
        struct extract_diff *diff;
        make_system(&system, seed);
        record(&first, &system, seed, FIRST_ENTRIES);
        inject[regression](&system, &expected);
        record(&second, &system, seed + 1000, SECOND_ENTRIES);
        struct extract_error error;
        if (extract_diff_new(&diff, first.look.trace, 1000000, second.look.trace, 1000000, &error)) {
            printf("seed %u: %s: %s\n", seed, error.what, error.why);
            fail();
        }
        bool is_first = diff->change_count && is_expected(&diff->changes[0], &expected);
        found += is_first;
        if (!is_first && getenv("SHOW")) {
            printf("seed %u: expected %d %d %s %s\n", seed, expected.kind, expected.activity,
                   expected.thread, expected.object);
            for (size_t i = 0; i < diff->change_count && i < 5; i++) {
                const struct extract_change *c = &diff->changes[i];
                printf("   kind %d act %d %s %s %d cert %d a %g b %g rate %g time %g least %g total %g "
                       "follows %zu load %g\n",
                       c->kind, c->activity, c->thread ? c->thread : "", c->object ? c->object : "",
                       (int)c->number, c->certainty, c->a, c->b, c->rate, c->time, c->least,
                       c->total, c->follows, diff->load);
            }
            for (size_t i = 0; i < diff->change_count; i++) {
                const struct extract_change *c = &diff->changes[i];
                if (is_expected(c, &expected))
                    printf("   at %zu: time %g least %g a %g b %g\n", i, c->time, c->least, c->a,
                           c->b);
            }
        }
        extract_diff_free(diff);
        look_close(&first.look);
        look_close(&second.look);
    }
    return found;
}

static void longer_holds_rank_first(void **state)
{
    (void)state;
    unsigned found = count_found(LONGER_HOLD);
    printf("%u\n", found);
    assert_true(found >= 95);
}

static void other_priorities_rank_first(void **state)
{
    (void)state;
    unsigned found = count_found(OTHER_PRIORITY);
    printf("%u\n", found);
    assert_true(found >= 95);
}

static void extra_interrupts_rank_first(void **state)
{
    (void)state;
    unsigned found = count_found(EXTRA_INTERRUPT);
    printf("%u\n", found);
    assert_true(found >= 95);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longer_holds_rank_first),
        cmocka_unit_test(other_priorities_rank_first),
        cmocka_unit_test(extra_interrupts_rank_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
