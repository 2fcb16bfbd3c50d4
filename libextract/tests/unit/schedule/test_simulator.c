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
    bool lacks_internal;      // the kernel's filter left out its internal events
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

// Returns whether a filter of internal events leaves an entry out: suspensions, resumptions, begins
// and ends of interrupts, time slices.
static bool is_internal(const struct ring_entry *entry)
{
    return (entry->id & 0xFF) <= 6;
}

// Returns how many entries of a system the ring gets, and moves run.first to the first of them.
static unsigned count_kept(const struct sim_options *options, const struct recording *recording)
{
    unsigned kept = recording->kept;

    run.first = (int)(options->entries - kept);
    if (!recording->lacks_internal)
        return kept;
    while (is_internal(&run.sim.entries[run.first]))
        run.first++;
    kept = 0;
    for (unsigned i = (unsigned)run.first; i < options->entries; i++)
        kept += !is_internal(&run.sim.entries[i]);
    return kept;
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
    spec.entries = count_kept(options, recording);
    run.offset = run.sim.entries[run.first].stamp;
    spec.objects = SIM_THREADS + SIM_OBJECTS;
    ring_build(&run.image, &spec);
    register_all();
    for (unsigned i = 0; i < options->entries; i++) {
        struct ring_entry entry = run.sim.entries[i];
        if (recording->lacks_internal && is_internal(&entry))
            continue;
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

// Returns the simulator's entry of an event.
static uint64_t entry_of(uint64_t seq)
{
    bool is_behind = run.recording.gap_length && seq >= run.recording.gap;

    return seq + (unsigned)run.first + (is_behind ? run.recording.gap_length : 0);
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
           (mine->runner != EXTRACT_RUNNER_ISR || !mine->isr_known || mine->isr == true_one->isr);
}

// Returns how long interrupts ran between two times.
static uint64_t interrupt_time(uint64_t from, uint64_t to)
{
    const struct sim_truth *truth = &run.sim.truth;
    uint64_t time = 0;

    for (size_t i = 0; i < truth->interval_count; i++) {
        const struct extract_interval *one = &truth->intervals[i];
        uint64_t begin = one->from < from + run.offset ? from + run.offset : one->from;
        uint64_t end = one->to > to + run.offset ? to + run.offset : one->to;
        if (one->runner == EXTRACT_RUNNER_ISR && begin < end)
            time += end - begin;
    }
    return time;
}

// Notes that something is wrong from one time to another. Interrupts delay a switch, too. On
// several cores, a thread may have to wait until it is off another core.
static void note_mistake(uint64_t from, uint64_t to, const char *what, const void *mine)
{
    uint64_t latency = run.sim.options.latency * (run.sim.options.cores > 1 ? 2 : 1);

    (void)mine;
    if (to - from > latency && to - from > latency + interrupt_time(from, to) * (latency > 0))
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
    if (mine->state == EXTRACT_STATE_UNKNOWN || mine->is_unsure)
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
        while (k < truth->wake_count && truth->wakes[k].seq < entry_of(mine->seq))
            k++;
        const struct extract_wake *one = &truth->wakes[k];
        if (k == truth->wake_count || one->seq != entry_of(mine->seq))
            FAIL("wake-up %llu does not exist", ull(mine->seq));
        if (mine->at + run.offset != one->at || mine->thread != one->thread ||
            mine->by != one->by || mine->in_isr != one->in_isr ||
            mine->is_suspended > one->is_suspended)
            FAIL("wake-up %llu is wrong", ull(mine->seq));
        if (mine->is_likely)
            continue;
        if (mine->reason != EXTRACT_WAKE_UNKNOWN && mine->reason != one->reason)
            FAIL("wake-up %llu: reason %s, not %s", ull(mine->seq),
                 extract_wake_reason_name(mine->reason), extract_wake_reason_name(one->reason));
        if (mine->reason == EXTRACT_WAKE_SERVICE &&
            (entry_of(mine->cause) != one->cause || (mine->object && mine->object != one->object)))
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
        if (derived->wakes[i].reason == EXTRACT_WAKE_UNKNOWN || derived->wakes[i].is_likely)
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
               (truth->responses[k].from_seq != entry_of(mine->from_seq) ||
                truth->responses[k].to_seq != entry_of(mine->to_seq)))
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

// Returns the time of the first entry that a thread made. Before, a trace that begins in an
// interrupt may be in another one.
static uint64_t first_of_threads(void)
{
    const struct simulator *sim = &run.sim;

    for (unsigned i = (unsigned)run.first; i < sim->options.entries; i++)
        if (sim->entries[i].thread < RING_IN_INIT)
            return sim->entries[i].stamp - run.offset;
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
            if (one->runner == EXTRACT_RUNNER_UNKNOWN && one->from >= first_of_threads())
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

// ---- chains of why ----

// Checks that a runner had a core during a segment.
static void check_runner(const struct extract_segment *segment, enum extract_runner runner,
                         uint64_t who)
{
    const struct sim_truth *truth = &run.sim.truth;
    bool is_wrong[SIM_CORES] = {false};
    unsigned wrong = 0;

    for (size_t i = 0; i < truth->interval_count; i++) {
        const struct extract_interval *one = &truth->intervals[i];
        bool is_same = one->runner == runner &&
                       (runner == EXTRACT_RUNNER_ISR ? one->isr == who : one->thread == who);
        is_wrong[one->core] |= !is_same && one->to > segment->from + run.offset &&
                               one->from < segment->to + run.offset;
    }
    for (unsigned i = 0; i < run.sim.options.cores; i++)
        wrong += is_wrong[i];
    if (wrong == run.sim.options.cores)
        FAIL("a segment from %llu to %llu: not the runner %llx", ull(segment->from),
             ull(segment->to), ull(who));
}

// Checks that a thread was in a state during a segment.
static void check_doing(const struct extract_segment *segment, uint64_t thread,
                        enum extract_thread_state state)
{
    const struct sim_truth *truth = &run.sim.truth;

    for (size_t i = 0; i < truth->state_count; i++) {
        const struct extract_state *one = &truth->states[i];
        bool has_ended = state == EXTRACT_STATE_SUSPENDED && one->state > EXTRACT_STATE_SUSPENDED;
        if (!has_ended && one->thread == thread && one->state != state &&
            one->to > segment->from + run.offset && one->from < segment->to + run.offset)
            FAIL("a segment from %llu to %llu (true %llu-%llu %s): %llx was not %s",
                 ull(segment->from), ull(segment->to), ull(one->from - run.offset),
                 ull(one->to - run.offset), extract_thread_state_name(one->state), ull(thread),
                 extract_thread_state_name(state));
    }
}

// Checks a segment of the chain of a thread.
static void check_segment(const struct extract_segment *segment, uint64_t thread)
{
    switch (segment->kind) {
    case EXTRACT_SEGMENT_RAN:
        check_runner(segment, EXTRACT_RUNNER_THREAD, thread);
        break;
    case EXTRACT_SEGMENT_ISR:
        check_runner(segment, EXTRACT_RUNNER_ISR, segment->who);
        break;
    case EXTRACT_SEGMENT_PREEMPTED:
        check_runner(segment, EXTRACT_RUNNER_THREAD, segment->who);
        check_doing(segment, thread, EXTRACT_STATE_READY);
        break;
    case EXTRACT_SEGMENT_BLOCKED:
        check_doing(segment, thread, EXTRACT_STATE_BLOCKED);
        if (segment->has_who)
            check_owner(&(struct extract_ownership){.from = segment->from,
                                                    .to = segment->to,
                                                    .mutex = segment->object,
                                                    .thread = segment->who});
        break;
    case EXTRACT_SEGMENT_WAITED:
        check_doing(segment, thread, EXTRACT_STATE_BLOCKED);
        break;
    case EXTRACT_SEGMENT_SLEPT:
        check_doing(segment, thread, EXTRACT_STATE_SLEEPING);
        break;
    case EXTRACT_SEGMENT_SUSPENDED:
        check_doing(segment, thread, EXTRACT_STATE_SUSPENDED);
        break;
    default:
        break;
    }
}

enum { DEPTHS = 16 };

// Checks that the segments of each depth follow each other, add up to what they explain, and agree
// with the truth. Returns how many segments explain others.
static unsigned check_chain(const struct extract_why *why, const struct extract_chain *chain)
{
    uint64_t at[DEPTHS] = {chain->from}, end[DEPTHS] = {chain->to},
             thread[DEPTHS] = {chain->thread};
    unsigned depth = 0, nested = 0;

    for (size_t i = chain->first; i < chain->first + chain->count; i++) {
        const struct extract_segment *segment = &why->segments[i];
        assert_true(segment->depth < DEPTHS - 1 && segment->depth <= depth + 1);
        for (; depth > segment->depth; depth--)
            assert_int_equal(at[depth], end[depth]);
        nested += segment->depth > depth;
        depth = segment->depth;
        assert_int_equal(segment->from, at[depth]);
        assert_true(segment->from < segment->to && segment->to <= end[depth]);
        at[depth] = segment->to;
        check_segment(segment, thread[depth]);
        at[depth + 1] = segment->from;
        end[depth + 1] = segment->to;
        thread[depth + 1] = segment->who;
    }
    for (unsigned i = 0; i <= depth; i++)
        assert_int_equal(at[i], end[i]);
    return nested;
}

static unsigned check_chains(void)
{
    unsigned nested = 0;

    for (int k = 0; k < run.sim.thread_count; k++) {
        struct extract_why_options options = {
            .size = sizeof options, .thread = run.sim.threads[k].name, .worst = 10};
        struct extract_why *why = NULL;
        if (extract_why_new(&why, run.look.trace, &options, NULL)) // no event of this thread
            continue;
        for (size_t i = 0; i < why->chain_count; i++)
            nested += check_chain(why, &why->chains[i]);
        extract_why_free(why);
    }
    return nested;
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

// A kernel that needs time between an event and the switch: no boundary is off by more than that.
static void latency_is_the_bound(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= SYSTEMS / 2; seed += sample_step()) {
        struct sim_options options = {
            .seed = seed, .cores = 1, .entries = 100 + seed % 900, .latency = 1 + seed % 4};
        run_system(&options, &(struct recording){.kept = options.entries});
        check_all();
        look_close(&run.look);
    }
}

// A ring that has wrapped begins anywhere: inside a service or an interrupt, while threads wait.
static void wrapped_rings_are_true(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= SYSTEMS; seed += sample_step()) {
        struct sim_options options = {.seed = seed, .cores = 1, .entries = 200 + seed % 800};
        run_system(&options, &(struct recording){.kept = 20 + seed * 7 % 150});
        check_all();
        look_close(&run.look);
    }
}

// Entries that are damaged may have said anything.
static void damaged_rings_are_true(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= SYSTEMS; seed += sample_step()) {
        struct sim_options options = {.seed = seed, .cores = 1, .entries = 200 + seed % 300};
        unsigned gap = 20 + seed * 13 % 150;
        run_system(&options, &(struct recording){
                                 .kept = options.entries, .gap = gap, .gap_length = 1 + seed % 9});
        check_all();
        look_close(&run.look);
    }
}

// Each chain adds up exactly, and says what is true.
static void chains_are_true(void **state)
{
    unsigned nested = 0;

    (void)state;
    for (unsigned seed = 1; seed <= SYSTEMS / 4; seed += sample_step()) {
        struct sim_options options = {.seed = seed, .cores = 1, .entries = 100 + seed % 900};
        run_system(&options, &(struct recording){.kept = options.entries});
        nested += check_chains();
        look_close(&run.look);
    }
    assert_true(nested > 10);
}

// On several cores, what one core does may change the thread of another one, of which the events
// show nothing. All that is claimed is true, and most of the time is claimed.
static void several_cores_are_true(void **state)
{
    uint64_t time = 0, claimed = 0;

    (void)state;
    for (unsigned seed = 1; seed <= SYSTEMS; seed += sample_step()) {
        struct sim_options options = {
            .seed = seed, .cores = 2 + seed % 2, .entries = 100 + seed % 900};
        run_system(&options, &(struct recording){.kept = options.entries});
        check_all();
        if (seed % 4 == 0)
            check_chains();
        for (size_t i = 0; i < run.derived.interval_count; i++) {
            const struct extract_interval *one = &run.derived.intervals[i];
            bool is_claimed = one->runner != EXTRACT_RUNNER_UNKNOWN && !one->is_unsure;
            time += one->to - one->from;
            claimed += is_claimed ? one->to - one->from : 0;
        }
        look_close(&run.look);
    }
    assert_true(claimed * 100 > time * 70);
}

// The same for rings that have wrapped, or in which entries are damaged.
static void parts_of_several_cores_are_true(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= SYSTEMS; seed += sample_step()) {
        struct sim_options options = {
            .seed = seed, .cores = 2 + seed / 2 % 2, .entries = 200 + seed % 800};
        struct recording recording = {.kept = 20 + seed * 7 % 150};
        if (seed % 2)
            recording = (struct recording){
                .kept = options.entries, .gap = 20 + seed * 13 % 150, .gap_length = 1 + seed % 9};
        run_system(&options, &recording);
        check_all();
        look_close(&run.look);
    }
}

// With a latency, a thread leaves one core and comes to another one: two boundaries may be late.
static void latency_of_several_cores_is_the_bound(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= SYSTEMS / 2; seed += sample_step()) {
        struct sim_options options = {.seed = seed,
                                      .cores = 2 + seed % 2,
                                      .entries = 100 + seed % 900,
                                      .latency = 1 + seed % 4};
        run_system(&options, &(struct recording){.kept = options.entries});
        check_all();
        look_close(&run.look);
    }
}

// Without the events of the scheduler, a thread may have slept between two of its events, and
// another one may have run: nothing of it is claimed.
static void filtered_rings_are_true(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= SYSTEMS / 2; seed += sample_step()) {
        struct sim_options options = {
            .seed = seed, .cores = 1 + seed % 2, .entries = 200 + seed % 800};
        run_system(&options, &(struct recording){.kept = options.entries, .lacks_internal = true});
        for (size_t i = 0; i < run.derived.interval_count; i++)
            check_interval(&run.derived.intervals[i]);
        for (size_t i = 0; i < run.derived.state_count; i++)
            check_state(&run.derived.states[i]);
        for (size_t i = 0; i < run.derived.owner_count; i++)
            check_owner(&run.derived.owners[i]);
        assert_int_equal(run.derived.response_count, 0);
        check_chains();
        look_close(&run.look);
    }
}

// Systems in which something rare happens. Preemption is disabled by one core while another one's
// thread goes on after an event that names another thread; a core that an interrupt found idle runs
// a thread that was ready already; an interrupt comes after a thread was named as next, before it
// ran.
static void rare_systems_are_true(void **state)
{
    static const struct {
        unsigned seed, latency;
    } rare[] = {{7978, 0}, {11524, 0}, {606, 3},  {1774, 3},
                {4241, 2}, {6109, 2},  {7313, 2}, {9964, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof rare / sizeof *rare; i++) {
        struct sim_options options = {.seed = rare[i].seed,
                                      .cores = 2 + rare[i].seed % 2,
                                      .entries = 100 + rare[i].seed % 900,
                                      .latency = rare[i].latency};
        run_system(&options, &(struct recording){.kept = options.entries});
        check_all();
        look_close(&run.look);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_core_is_true),
        cmocka_unit_test(latency_is_the_bound),
        cmocka_unit_test(wrapped_rings_are_true),
        cmocka_unit_test(damaged_rings_are_true),
        cmocka_unit_test(chains_are_true),
        cmocka_unit_test(several_cores_are_true),
        cmocka_unit_test(parts_of_several_cores_are_true),
        cmocka_unit_test(latency_of_several_cores_is_the_bound),
        cmocka_unit_test(filtered_rings_are_true),
        cmocka_unit_test(rare_systems_are_true),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
