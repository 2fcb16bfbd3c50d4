// SPDX-License-Identifier: MIT
// tests: the simulated kernel: time, cores, the choice of threads, entries, and the truth.
#include "tests/unit/schedule/simulator.h"

unsigned sim_random(struct simulator *sim, unsigned limit)
{
    sim->random = sim->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((sim->random >> 33) % limit);
}

struct sim_frame *sim_frame(struct simulator *sim, int core)
{
    struct sim_core *c = &sim->cores[core];

    if (c->depth)
        return &c->isr[c->depth - 1];
    return c->current == SIM_NONE || c->is_switching ? NULL : &sim->threads[c->current].frame;
}

// ---- entries ----

static uint32_t address_of(const struct simulator *sim, int thread)
{
    return thread == SIM_NONE ? 0 : sim->threads[thread].address;
}

uint32_t sim_next(const struct simulator *sim, int core)
{
    return address_of(sim, sim->cores[core].next);
}

int sim_record(struct simulator *sim, int core, unsigned id, uint32_t a, uint32_t b, uint32_t c,
               uint32_t d)
{
    const struct sim_core *on = &sim->cores[core];
    bool in_isr = on->depth > 0;
    int number = sim->entry_count++;

    if (number >= (int)sim->options.entries)
        return number;
    const struct sim_thread *thread = &sim->threads[in_isr ? 0 : on->current];
    sim->entries[number] = (struct ring_entry){
        .thread = in_isr ? RING_IN_ISR : thread->address,
        .priority = in_isr ? address_of(sim, on->current)
                           : 0x80000000 | thread->threshold << 16 | thread->priority,
        .id = id | (unsigned)core << 24,
        .stamp = (uint32_t)sim->now,
        .info = {a, b, c, d}};
    sim->ends_at = sim->now;
    return number;
}

// ---- truth ----

#define ADD_TRUTH(sim, items, count, item)                                                         \
    do {                                                                                           \
        assert_true((sim)->truth.count < SIM_PARTS);                                               \
        (sim)->truth.items[(sim)->truth.count++] = (item);                                         \
    } while (0)

static struct extract_interval true_interval(const struct simulator *sim, int core)
{
    const struct sim_core *c = &sim->cores[core];
    struct extract_interval interval = {.core = (uint8_t)core,
                                        .from = sim->now,
                                        .thread = address_of(sim, c->current),
                                        .runner = c->depth                 ? EXTRACT_RUNNER_ISR
                                                  : c->current == SIM_NONE ? EXTRACT_RUNNER_IDLE
                                                                           : EXTRACT_RUNNER_THREAD};

    if (c->depth) {
        interval.isr = c->isr[c->depth - 1].number;
        interval.isr_known = true;
    }
    return interval;
}

static const char *wait_name(enum sim_state state)
{
    switch (state) {
    case SIM_QUEUE:
        return "queue";
    case SIM_SEMAPHORE:
        return "semaphore";
    case SIM_FLAGS:
        return "event flags";
    case SIM_POOL:
        return "block pool";
    case SIM_MUTEX:
        return "mutex";
    default:
        return NULL;
    }
}

static struct extract_state true_state(const struct simulator *sim, int thread)
{
    const struct sim_thread *t = &sim->threads[thread];
    struct extract_state state = {.from = sim->now, .thread = t->address};

    if (t->is_ready) {
        state.state = EXTRACT_STATE_READY;
        for (unsigned i = 0; i < sim->options.cores; i++)
            if (sim->cores[i].current == thread) {
                state.state = EXTRACT_STATE_RUNNING;
                state.core = (uint8_t)i;
            }
    } else if (t->state == SIM_COMPLETED) {
        state.state = EXTRACT_STATE_COMPLETED;
    } else if (t->state == SIM_TERMINATED) {
        state.state = EXTRACT_STATE_TERMINATED;
    } else if (t->state == SIM_SUSPENDED) {
        state.state = EXTRACT_STATE_SUSPENDED;
    } else {
        state.state = t->state == SIM_SLEEP ? EXTRACT_STATE_SLEEPING : EXTRACT_STATE_BLOCKED;
        state.wait = wait_name(t->state);
        state.timeout = t->wait;
        state.object = t->object == SIM_NONE ? 0 : sim->objects[t->object].address;
    }
    return state;
}

// Notes what is true from now on. Nothing is noted of what lasts no time.
static void note_truth(struct simulator *sim)
{
    for (int i = 0; i < (int)sim->options.cores; i++) {
        struct extract_interval *open = &sim->cores[i].truth, now = true_interval(sim, i);
        if (open->runner == now.runner && open->thread == now.thread && open->isr == now.isr)
            continue;
        open->to = sim->now;
        if (open->from < open->to)
            ADD_TRUTH(sim, intervals, interval_count, *open);
        *open = now;
    }
    for (int i = 0; i < sim->thread_count; i++) {
        struct extract_state *open = &sim->threads[i].truth, now = true_state(sim, i);
        if (open->state == now.state && open->core == now.core && open->object == now.object &&
            open->wait == now.wait && open->timeout == now.timeout)
            continue;
        open->to = sim->now;
        if (open->from < open->to)
            ADD_TRUTH(sim, states, state_count, *open);
        *open = now;
    }
}

void sim_own(struct simulator *sim, int object, int thread)
{
    struct extract_ownership *open = &sim->owner[object];

    open->to = sim->now;
    if (open->from < open->to)
        ADD_TRUTH(sim, owners, owner_count, *open);
    open->from = sim->now;
    open->thread = address_of(sim, thread);
}

// Ends all that is open.
static void end_truth(struct simulator *sim)
{
    for (int i = 0; i < (int)sim->options.cores; i++) {
        struct extract_interval *open = &sim->cores[i].truth;
        open->to = sim->now;
        if (open->from < open->to)
            ADD_TRUTH(sim, intervals, interval_count, *open);
    }
    for (int i = 0; i < sim->thread_count; i++) {
        struct extract_state *open = &sim->threads[i].truth;
        open->to = sim->now;
        if (open->from < open->to)
            ADD_TRUTH(sim, states, state_count, *open);
    }
    for (int i = 0; i < sim->object_count; i++)
        if (sim->objects[i].kind == SIM_MUTEX)
            sim_own(sim, i, sim->objects[i].owner);
}

// ---- the choice of threads ----

static bool is_before(const struct sim_thread *a, const struct sim_thread *b)
{
    return a->priority != b->priority ? a->priority < b->priority : a->order < b->order;
}

// Returns the best ready thread that is not in a set; SIM_NONE: there is none.
static int best_thread(const struct simulator *sim, unsigned except)
{
    int best = SIM_NONE;

    for (int i = 0; i < sim->thread_count; i++)
        if (sim->threads[i].is_ready && !(except & 1U << i) &&
            (best == SIM_NONE || is_before(&sim->threads[i], &sim->threads[best])))
            best = i;
    return best;
}

static void choose_one(struct simulator *sim)
{
    int *next = &sim->cores[0].next, best = best_thread(sim, 0);
    struct sim_thread *t = *next == SIM_NONE ? NULL : &sim->threads[*next];

    if (t && t->is_ready) {
        if (best == *next || sim->threads[best].priority >= t->threshold)
            return;
        t->was_preempted = t->threshold < t->priority;
        sim->has_met[CASE_THRESHOLD] |= t->was_preempted;
        *next = best;
        return;
    }
    // A thread whose threshold was in force goes on before threads that could not preempt it.
    int preempted = SIM_NONE;
    for (int i = 0; i < sim->thread_count; i++)
        if (sim->threads[i].is_ready && sim->threads[i].was_preempted &&
            sim->threads[i].threshold <= sim->threads[best].priority &&
            (preempted == SIM_NONE || is_before(&sim->threads[i], &sim->threads[preempted])))
            preempted = i;
    *next = preempted == SIM_NONE ? best : preempted;
    if (*next != SIM_NONE)
        sim->threads[*next].was_preempted = false;
}

// On several cores, the best threads run, and stay on their cores.
static void choose_several(struct simulator *sim)
{
    unsigned chosen = 0, placed = 0;

    for (unsigned i = 0; i < sim->options.cores; i++) {
        int best = best_thread(sim, chosen);
        if (best != SIM_NONE)
            chosen |= 1U << best;
    }
    for (unsigned i = 0; i < sim->options.cores; i++) {
        int *next = &sim->cores[i].next;
        if (*next != SIM_NONE && chosen & 1U << *next)
            placed |= 1U << *next;
        else
            *next = SIM_NONE;
    }
    for (unsigned i = 0; i < sim->options.cores; i++) {
        int *next = &sim->cores[i].next;
        for (int k = 0; k < sim->thread_count && *next == SIM_NONE; k++)
            if (chosen & ~placed & 1U << k)
                *next = k;
        if (*next != SIM_NONE)
            placed |= 1U << *next;
    }
}

void sim_choose(struct simulator *sim)
{
    if (sim->options.cores == 1)
        choose_one(sim);
    else
        choose_several(sim);
}

void sim_make_ready(struct simulator *sim, int thread)
{
    sim->threads[thread].is_ready = true;
    sim->threads[thread].order = ++sim->order;
    sim_choose(sim);
}

void sim_make_unready(struct simulator *sim, int thread)
{
    sim->threads[thread].is_ready = false;
    sim->threads[thread].was_preempted = false;
    sim_choose(sim);
}

// Gives a core its next thread. If another core has not let that thread go, the core is idle.
static void switch_core(struct simulator *sim, int core)
{
    struct sim_core *c = &sim->cores[core];

    c->is_switching = false;
    c->current = c->next;
    for (unsigned i = 0; i < sim->options.cores; i++)
        if ((int)i != core && sim->cores[i].current == c->next)
            c->current = SIM_NONE;
}

// Begins to give a core its next thread, if it has another one. While preemption is disabled, only
// threads that could run on keep their cores.
static void reschedule(struct simulator *sim, int core)
{
    struct sim_core *c = &sim->cores[core];
    bool could_run = c->current != SIM_NONE && sim->threads[c->current].is_ready;

    if (c->depth || c->is_switching || c->current == c->next ||
        (sim->preempt_disable && (could_run || sim->options.cores == 1)))
        return;
    c->switch_delay = sim_random(sim, sim->options.latency + 1);
    c->is_switching = c->switch_delay > 0;
    if (!c->is_switching)
        switch_core(sim, core);
}

// ---- suspending and resuming ----

static bool is_for_resource(enum sim_state state)
{
    return state == SIM_MUTEX || state == SIM_POOL;
}

void sim_end_response(struct simulator *sim, struct sim_thread *t, int entry)
{
    if (t->has_response && entry < (int)sim->options.entries) {
        t->response.to = sim->now;
        t->response.to_seq = (uint64_t)entry;
        ADD_TRUTH(sim, responses, response_count, t->response);
    }
    t->has_response = false;
}

static void note_wake(struct simulator *sim, int core, int thread, int entry, int cause)
{
    struct sim_thread *t = &sim->threads[thread];
    struct extract_wake wake = {.at = sim->now,
                                .seq = (uint64_t)entry,
                                .thread = t->address,
                                .by = address_of(sim, sim->cores[core].current),
                                .in_isr = sim->cores[core].depth > 0,
                                .is_suspended = t->is_stopped,
                                .reason = thread == 0             ? EXTRACT_WAKE_TICK
                                          : cause != SIM_NONE     ? EXTRACT_WAKE_SERVICE
                                          : t->state == SIM_SLEEP ? EXTRACT_WAKE_SLEPT
                                                                  : EXTRACT_WAKE_TIMEOUT};

    if (cause != SIM_NONE) { // a thread that was suspended waits for itself to be resumed
        wake.cause = (uint64_t)cause;
        wake.object = t->object == SIM_NONE ? t->address : sim->objects[t->object].address;
    }
    if (entry < (int)sim->options.entries)
        ADD_TRUTH(sim, wakes, wake_count, wake);
}

void sim_resume(struct simulator *sim, int core, int thread, int cause)
{
    struct sim_thread *t = &sim->threads[thread];
    enum sim_state was = t->state;
    bool waits = !t->is_suspending && !t->is_ready;
    bool is_stopped = t->is_stopped && waits;

    sim->has_met[CASE_NO_WAIT] |= t->is_suspending;
    sim->has_met[CASE_STOPPED] |= is_stopped;
    sim->has_met[CASE_TIMER_BUSY] |= thread == 0 && !waits;
    t->timeout = 0;
    t->state = is_stopped ? SIM_SUSPENDED : SIM_READY;
    if (waits && !is_stopped)
        sim_make_ready(sim, thread);
    if (t->is_suspending)
        t->frame.delay = 0; // the kernel sees at once that the thread need not wait
    t->is_suspending = false;
    int entry = sim_record(sim, core, 1, t->address, was, 0x100, sim_next(sim, core));
    if (waits) {
        t->state = was;
        note_wake(sim, core, thread, entry, cause);
        t->state = is_stopped ? SIM_SUSPENDED : SIM_READY;
        if (is_stopped) {
            sim_end_response(sim, t, entry);
        } else if (!is_for_resource(was)) {
            t->response = (struct extract_response){
                .from = sim->now, .from_seq = (uint64_t)entry, .thread = t->address};
            t->has_response = true;
        }
    }
    t->is_stopped = t->is_stopped && !waits;
    t->object = SIM_NONE;
}

void sim_suspend(struct simulator *sim, int core, int thread)
{
    struct sim_thread *t = &sim->threads[thread];

    t->is_suspending = false;
    sim_make_unready(sim, thread);
    int entry = sim_record(sim, core, 2, t->address, t->state, 0x100, sim_next(sim, core));
    if (!is_for_resource(t->state))
        sim_end_response(sim, t, entry);
}

// ---- time ----

static void enter_isr(struct simulator *sim, int core, unsigned number)
{
    struct sim_core *c = &sim->cores[core];

    if (c->depth == SIM_NESTING)
        return;
    sim->has_met[CASE_NESTED] |= c->depth > 0;
    sim->has_met[CASE_IN_SERVICE] |= c->depth == 0 && sim->preempt_disable;
    c->isr[c->depth++] =
        (struct sim_frame){.step = number == 15 ? STEP_TICK : STEP_PLAN,
                           .delay = 1 + sim_random(sim, 10),
                           .number = number,
                           .services = sim->options.system ? 1 : sim_random(sim, 3),
                           .cause = SIM_NONE};
    sim_record(sim, core, 3, 0x100, number, c->depth, sim->preempt_disable);
}

// Returns the time until something happens on a core.
static uint64_t core_delay(struct simulator *sim, int core)
{
    const struct sim_core *c = &sim->cores[core];
    const struct sim_frame *frame = sim_frame(sim, core);

    if (!c->depth && c->is_switching)
        return c->switch_delay;
    return frame ? frame->delay : UINT64_MAX;
}

static void pass_time(struct simulator *sim, uint64_t time)
{
    for (int i = 0; i < (int)sim->options.cores; i++) {
        struct sim_core *c = &sim->cores[i];
        struct sim_frame *frame = sim_frame(sim, i);
        if (!c->depth && c->is_switching)
            c->switch_delay -= (unsigned)time;
        else if (frame)
            frame->delay -= (unsigned)time;
    }
    sim->now += time;
}

// Sets the time of the next interrupt of any device.
static void choose_device(struct simulator *sim)
{
    sim->next_device = UINT64_MAX;
    for (int i = 0; i < sim->options.system->device_count; i++)
        if (sim->device_at[i] < sim->next_device)
            sim->next_device = sim->device_at[i];
}

static void interrupt_by_device(struct simulator *sim)
{
    const struct sim_system *system = sim->options.system;

    for (int i = 0; i < system->device_count; i++)
        if (sim->device_at[i] == sim->next_device) {
            sim->device_at[i] += 1 + sim_around(sim, system->devices[i].every);
            choose_device(sim);
            enter_isr(sim, 0, system->devices[i].number);
            return;
        }
}

// Does what comes next, and lets the time until then pass.
static void advance(struct simulator *sim)
{
    uint64_t tick = (sim->ticks + 1) * SIM_TICK - sim->now, device = sim->next_device - sim->now;
    uint64_t soonest = tick < device ? tick : device;
    int core = SIM_NONE;

    for (int i = 0; i < (int)sim->options.cores; i++)
        if (core_delay(sim, i) < soonest) {
            soonest = core_delay(sim, i);
            core = i;
        }
    pass_time(sim, soonest);
    if (core != SIM_NONE && !sim->cores[core].depth && sim->cores[core].is_switching) {
        switch_core(sim, core);
    } else if (core != SIM_NONE) {
        sim_step(sim, core);
    } else if (tick <= device) {
        sim->ticks++;
        enter_isr(sim, 0, 15);
    } else if (sim->options.system) {
        interrupt_by_device(sim);
    } else {
        sim->next_device += 20 + sim_random(sim, 1500);
        enter_isr(sim, (int)sim_random(sim, sim->options.cores), 20 + sim_random(sim, 3));
    }
    // A core that lets a thread go may be the one for which another core waits.
    for (int i = 0; i < (int)(sim->options.cores * sim->options.cores); i++)
        reschedule(sim, i % (int)sim->options.cores);
    note_truth(sim);
}

void sim_run(struct simulator *sim, const struct sim_options *options)
{
    memset(sim, 0, sizeof *sim);
    sim->options = *options;
    sim->random = options->seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    for (int i = 0; i < SIM_CORES; i++)
        sim->cores[i].current = sim->cores[i].next = SIM_NONE;
    for (int i = 0; i < SIM_APP_TIMERS; i++)
        sim->app_timer[i] = 1 + sim_random(sim, 12);
    sim->next_device = sim_random(sim, 1500);
    if (options->system) {
        sim_create_system(sim);
        choose_device(sim);
    } else {
        sim_create(sim);
    }
    sim_choose(sim);
    for (unsigned i = 0; i < options->cores; i++) {
        sim->cores[i].current = sim->cores[i].next;
        sim->cores[i].truth = true_interval(sim, (int)i);
    }
    for (int i = 0; i < sim->thread_count; i++)
        sim->threads[i].truth = true_state(sim, i);
    while (sim->entry_count < (int)options->entries)
        advance(sim);
    end_truth(sim);
}
