// SPDX-License-Identifier: MIT
// The schedule and the chains of why, against the truth of a simulated kernel (simulator.h), over
// random systems.
#include "tests/unit/samples.h"
#include "tests/unit/schedule/simulator.h"
#include <extract/why.h>
#include <stdio.h>
#include <stdlib.h>

// What the library derived.
struct derived {
    struct extract_interval intervals[SIM_PARTS];
    struct extract_state states[SIM_PARTS];
    struct extract_wake wakes[SIM_PARTS];
    struct extract_ownership owners[SIM_PARTS];
    struct extract_response responses[SIM_PARTS];
    size_t interval_count, state_count, wake_count, owner_count, response_count;
};

// How a trace is made of a system's entries.
struct recording {
    unsigned kept;            // entries that the ring holds
    unsigned gap, gap_length; // entries of the ring that are damaged
};

// One system with its trace.
static struct {
    struct simulator sim;
    struct recording recording;
    struct ring_image image;
    struct look look;
    struct derived derived;
    int first;       // entry that is the oldest of the trace
    uint64_t offset; // time of that entry
    unsigned unsure, longest_mistake;
} run;

#define KEEP(items, count)                                                                         \
    struct derived *derived = context;                                                             \
    assert_true(derived->count < SIM_PARTS);                                                       \
    derived->items[derived->count++] = *part

static void keep_interval(void *context, const struct extract_interval *part)
{
    KEEP(intervals, interval_count);
}

static void keep_state(void *context, const struct extract_state *part)
{
    KEEP(states, state_count);
}

static void keep_wake(void *context, const struct extract_wake *part)
{
    KEEP(wakes, wake_count);
}

static void keep_owner(void *context, const struct extract_ownership *part)
{
    KEEP(owners, owner_count);
}

static void keep_response(void *context, const struct extract_response *part)
{
    KEEP(responses, response_count);
}

// ---- making a trace ----

static void register_all(void)
{
    unsigned slot = 0;
    const struct simulator *sim = &run.sim;

    for (int i = 0; i < sim->thread_count; i++)
        ring_register(&run.image, slot++,
                      &(struct ring_object){.type = 1,
                                            .reserved1 = 0x80,
                                            .address = sim->threads[i].address,
                                            .name = sim->threads[i].name});
    for (int i = 0; i < sim->object_count; i++) {
        enum sim_state kind = sim->objects[i].kind;
        ring_register(&run.image, slot++,
                      &(struct ring_object){.type = kind == SIM_QUEUE       ? 3
                                                    : kind == SIM_SEMAPHORE ? 4
                                                    : kind == SIM_MUTEX     ? 5
                                                    : kind == SIM_FLAGS     ? 6
                                                                            : 7,
                                            .address = sim->objects[i].address,
                                            .name = sim->objects[i].name});
    }
}

// Runs a system, writes its entries into a ring, and derives the schedule.
static void run_system(const struct sim_options *options, const struct recording *recording)
{
    struct ring_spec spec = ring_plain;
    const struct extract_schedule_sink sink = {.context = &run.derived,
                                               .interval = keep_interval,
                                               .state = keep_state,
                                               .wake = keep_wake,
                                               .owner = keep_owner,
                                               .response = keep_response};

    sim_run(&run.sim, options);
    run.recording = *recording;
    run.first = (int)(options->entries - recording->kept);
    run.offset = run.sim.entries[run.first].stamp;
    spec.objects = SIM_THREADS + SIM_OBJECTS;
    spec.entries = recording->kept;
    ring_build(&run.image, &spec);
    register_all();
    for (unsigned i = 0; i < options->entries; i++) {
        struct ring_entry entry = run.sim.entries[i];
        entry.stamp = (entry.stamp + options->seed * 7919ULL * 65537) & 0xFFFFFFFF;
        if (options->cores == 1)
            entry.id &= 0xFFFFFF;
        ring_insert(&run.image, &entry);
    }
    for (unsigned i = 0; i < recording->gap_length; i++)
        ring_word(&run.image, (run.image.current + recording->gap + i) % recording->kept, 0, 0);
    look_open(&run.look, &run.image);
    memset(&run.derived, 0, offsetof(struct derived, interval_count));
    run.derived.interval_count = run.derived.state_count = run.derived.wake_count =
        run.derived.owner_count = run.derived.response_count = 0;
    assert_int_equal(extract_schedule_run(NULL, run.look.trace, &sink, NULL), EXTRACT_OK);
}

// ---- comparing ----

#define FAIL(...)                                                                                  \
    do {                                                                                           \
        fprintf(stderr, "seed %u: ", run.sim.options.seed);                                        \
        fprintf(stderr, __VA_ARGS__);                                                              \
        fprintf(stderr, "\n");                                                                     \
        fail();                                                                                    \
    } while (0)

static unsigned long long ull(uint64_t number)
{
    return number;
}

static bool is_same_interval(const struct extract_interval *mine,
                             const struct extract_interval *true_one)
{
    return mine->runner == true_one->runner && mine->thread == true_one->thread &&
           (mine->runner != EXTRACT_RUNNER_ISR || mine->isr == true_one->isr);
}

// Notes that something is wrong from one time to another.
static void note_mistake(uint64_t from, uint64_t to, const char *what, const void *mine)
{
    (void)mine;
    if (to - from > run.sim.options.latency)
        FAIL("%s is wrong from %llu to %llu", what, ull(from), ull(to));
}

static void check_interval(const struct extract_interval *mine)
{
    const struct sim_truth *truth = &run.sim.truth;
    uint64_t wrong = UINT64_MAX;

    assert_true(mine->from < mine->to);
    run.unsure += mine->is_unsure;
    if (mine->is_unsure || mine->runner == EXTRACT_RUNNER_UNKNOWN)
        return;
    for (size_t i = 0; i < truth->interval_count; i++) {
        const struct extract_interval *one = &truth->intervals[i];
        uint64_t from = one->from < run.offset ? 0 : one->from - run.offset;
        if (one->core != mine->core || one->to <= run.offset + mine->from ||
            one->from >= run.offset + mine->to)
            continue;
        from = from < mine->from ? mine->from : from;
        if (is_same_interval(mine, one)) {
            if (wrong != UINT64_MAX)
                note_mistake(wrong, from, "an interval", mine);
            wrong = UINT64_MAX;
        } else if (wrong == UINT64_MAX) {
            wrong = from;
        }
    }
    if (wrong != UINT64_MAX)
        note_mistake(wrong, mine->to, "an interval", mine);
}

static bool is_same_state(const struct extract_state *mine, const struct extract_state *true_one)
{
    return mine->state == true_one->state &&
           (mine->state != EXTRACT_STATE_RUNNING || mine->core == true_one->core) &&
           (!mine->object || mine->object == true_one->object) &&
           (!mine->wait || strcmp(mine->wait, true_one->wait) == 0) &&
           (!mine->timeout_known || mine->timeout == true_one->timeout);
}

static void check_state(const struct extract_state *mine)
{
    const struct sim_truth *truth = &run.sim.truth;
    uint64_t wrong = UINT64_MAX;

    assert_true(mine->from < mine->to);
    if (mine->state == EXTRACT_STATE_UNKNOWN)
        return;
    for (size_t i = 0; i < truth->state_count; i++) {
        const struct extract_state *one = &truth->states[i];
        uint64_t from = one->from < run.offset ? 0 : one->from - run.offset;
        if (one->thread != mine->thread || one->to <= run.offset + mine->from ||
            one->from >= run.offset + mine->to)
            continue;
        from = from < mine->from ? mine->from : from;
        if (is_same_state(mine, one)) {
            if (wrong != UINT64_MAX)
                note_mistake(wrong, from, extract_thread_state_name(mine->state), mine);
            wrong = UINT64_MAX;
        } else if (wrong == UINT64_MAX) {
            wrong = from;
        }
    }
    if (wrong != UINT64_MAX)
        note_mistake(wrong, mine->to, extract_thread_state_name(mine->state), mine);
}

static void check_wakes(void)
{
    const struct sim_truth *truth = &run.sim.truth;
    const struct derived *derived = &run.derived;
    size_t k = 0;

    for (size_t i = 0; i < derived->wake_count; i++) {
        const struct extract_wake *mine = &derived->wakes[i];
        while (k < truth->wake_count && truth->wakes[k].seq < mine->seq + (unsigned)run.first)
            k++;
        const struct extract_wake *one = &truth->wakes[k];
        if (k == truth->wake_count || one->seq != mine->seq + (unsigned)run.first)
            FAIL("wake-up %llu does not exist", ull(mine->seq));
        if (mine->at + run.offset != one->at || mine->thread != one->thread ||
            mine->by != one->by || mine->in_isr != one->in_isr ||
            mine->is_suspended != one->is_suspended)
            FAIL("wake-up %llu is wrong", ull(mine->seq));
        if (mine->reason != EXTRACT_WAKE_UNKNOWN && mine->reason != one->reason)
            FAIL("wake-up %llu: reason %s, not %s", ull(mine->seq),
                 extract_wake_reason_name(mine->reason), extract_wake_reason_name(one->reason));
        if (mine->reason == EXTRACT_WAKE_SERVICE &&
            (mine->cause + (unsigned)run.first != one->cause ||
             (mine->object && mine->object != one->object)))
            FAIL("wake-up %llu: cause %llu (object %llx), not %llu (%llx)", ull(mine->seq),
                 ull(mine->cause), ull(mine->object), ull(one->cause) - (unsigned)run.first,
                 ull(one->object));
    }
}

// Checks that all is there: no wake-up or response is missing, and each thread's state is known
// from its first evidence on.
static void check_whole(void)
{
    const struct sim_truth *truth = &run.sim.truth;
    const struct derived *derived = &run.derived;

    assert_int_equal(derived->wake_count, truth->wake_count);
    for (size_t i = 0; i < derived->wake_count; i++)
        if (derived->wakes[i].reason == EXTRACT_WAKE_UNKNOWN)
            FAIL("wake-up %llu has no reason", ull(derived->wakes[i].seq));
    assert_int_equal(derived->response_count, truth->response_count);
}

static void check_responses(void)
{
    const struct sim_truth *truth = &run.sim.truth;

    for (size_t i = 0; i < run.derived.response_count; i++) {
        const struct extract_response *mine = &run.derived.responses[i];
        size_t k = 0;
        while (k < truth->response_count &&
               (truth->responses[k].from_seq != mine->from_seq + (unsigned)run.first ||
                truth->responses[k].to_seq != mine->to_seq + (unsigned)run.first))
            k++;
        const struct extract_response *one = &truth->responses[k];
        if (k == truth->response_count || one->thread != mine->thread ||
            one->from != mine->from + run.offset || one->to != mine->to + run.offset)
            FAIL("the response from event %llu is wrong", ull(mine->from_seq));
    }
}

static void check_owner(const struct extract_ownership *mine)
{
    const struct sim_truth *truth = &run.sim.truth;

    assert_true(mine->from < mine->to);
    for (size_t i = 0; i < truth->owner_count; i++) {
        const struct extract_ownership *one = &truth->owners[i];
        if (one->mutex == mine->mutex && one->thread != mine->thread &&
            one->to > mine->from + run.offset && one->from < mine->to + run.offset)
            FAIL("the owner of %llx from %llu to %llu is wrong", ull(mine->mutex), ull(mine->from),
                 ull(mine->to));
    }
}

// ---- completeness ----

// Returns the time of the first entry that shows what a thread does; UINT64_MAX: none does.
static uint64_t first_evidence(uint32_t thread)
{
    const struct simulator *sim = &run.sim;

    for (unsigned i = (unsigned)run.first; i < sim->options.entries; i++) {
        const struct ring_entry *entry = &sim->entries[i];
        bool is_own =
            entry->thread == thread || (entry->thread == RING_IN_ISR && entry->priority == thread);
        bool moves = ((entry->id & 0xFF) == 1 || (entry->id & 0xFF) == 2) &&
                     entry->info[0] == thread && entry->info[1] != SIM_PRIORITY;
        if (is_own || moves)
            return entry->stamp - run.offset;
    }
    return UINT64_MAX;
}

// Checks that parts follow each other without gaps from the start to the end of the trace, and that
// each thread's state is known from its first evidence on.
static void check_cover(void)
{
    const struct derived *derived = &run.derived;
    uint64_t end = run.sim.ends_at - run.offset;

    for (uint8_t core = 0; core < run.sim.options.cores; core++) {
        uint64_t at = UINT64_MAX;
        for (size_t i = 0; i < derived->interval_count; i++) {
            const struct extract_interval *one = &derived->intervals[i];
            if (one->core != core)
                continue;
            if (at != UINT64_MAX && one->from != at)
                FAIL("core %d has a gap at %llu", core, ull(at));
            if (one->runner == EXTRACT_RUNNER_UNKNOWN)
                FAIL("core %d is unknown at %llu", core, ull(one->from));
            at = one->to;
        }
        if (run.sim.options.cores == 1 && at != end && end)
            FAIL("core %d ends at %llu, not at %llu", core, ull(at), ull(end));
    }
    for (int k = 0; k < run.sim.thread_count; k++) {
        uint32_t thread = run.sim.threads[k].address;
        uint64_t evidence = first_evidence(thread), at = 0;
        for (size_t i = 0; i < derived->state_count; i++) {
            const struct extract_state *one = &derived->states[i];
            if (one->thread != thread)
                continue;
            if (one->from != at)
                FAIL("thread %x has a gap at %llu", thread, ull(at));
            at = one->to;
            if (one->state == EXTRACT_STATE_UNKNOWN && one->to > evidence)
                FAIL("thread %x is unknown from %llu", thread, ull(one->from));
        }
        if (evidence != UINT64_MAX && at != end)
            FAIL("thread %x ends at %llu, not at %llu", thread, ull(at), ull(end));
    }
}

static void check_all(void)
{
    const struct derived *derived = &run.derived;

    run.unsure = 0;
    for (size_t i = 0; i < derived->interval_count; i++)
        check_interval(&derived->intervals[i]);
    for (size_t i = 0; i < derived->state_count; i++)
        check_state(&derived->states[i]);
    for (size_t i = 0; i < derived->owner_count; i++)
        check_owner(&derived->owners[i]);
    check_wakes();
    check_responses();
}

// ---- tests ----

enum { SYSTEMS = 1000 };

// Notes which cases the systems of a test have met.
static void note_cases(bool *met)
{
    for (unsigned i = 0; i < CASES; i++)
        met[i] |= run.sim.has_met[i];
}

static void assert_all_met(const bool *met)
{
    for (unsigned i = 0; i < CASES; i++)
        if (!met[i])
            FAIL("no system has met case %u", i);
}

static void one_core_is_true(void **state)
{
    bool met[CASES] = {false};

    (void)state;
    for (unsigned seed = 1; seed <= SYSTEMS; seed += sample_step()) {
        struct sim_options options = {.seed = seed, .cores = 1, .entries = 100 + seed % 900};
        run_system(&options, &(struct recording){.kept = options.entries});
        check_all();
        check_whole();
        check_cover();
        if (run.unsure)
            FAIL("%u intervals are unsure", run.unsure);
        note_cases(met);
        look_close(&run.look);
    }
    assert_all_met(met);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_core_is_true),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
