// SPDX-License-Identifier: MIT
// tests: the random systems that the simulated kernel runs: their threads and objects, and what
// threads and interrupts do next.
#include "tests/unit/schedule/simulator.h"
#include <stdio.h>

static void create_objects(struct simulator *sim)
{
    static const enum sim_state kinds[] = {SIM_MUTEX,     SIM_MUTEX, SIM_QUEUE, SIM_SEMAPHORE,
                                           SIM_SEMAPHORE, SIM_FLAGS, SIM_POOL};

    sim->object_count = 4 + (int)sim_random(sim, SIM_OBJECTS - 3);
    for (int i = 0; i < sim->object_count; i++) {
        struct sim_object *o = &sim->objects[i];
        *o = (struct sim_object){.kind = kinds[sim_random(sim, 7)],
                                 .address = 0x20001000 + 0x100 * (unsigned)i,
                                 .owner = SIM_NONE,
                                 .inherits = sim_random(sim, 2),
                                 .capacity = 1 + sim_random(sim, 3)};
        if (o->kind == SIM_SEMAPHORE || o->kind == SIM_POOL)
            o->count = sim_random(sim, 3);
        snprintf(o->name, sizeof o->name, "object %d", i);
        sim->owner[i] = (struct extract_ownership){.mutex = o->address};
    }
}

void sim_create(struct simulator *sim)
{
    create_objects(sim);
    sim->thread_count = 3 + (int)sim_random(sim, SIM_THREADS - 2);
    for (int i = 0; i < sim->thread_count; i++) {
        struct sim_thread *t = &sim->threads[i];
        unsigned priority = i ? 1 + sim_random(sim, 14) : 0;
        *t = (struct sim_thread){.address = 0x20004000 + 0x200 * (unsigned)i,
                                 .object = SIM_NONE,
                                 .order = ++sim->order,
                                 .is_ready = i && sim_random(sim, 4),
                                 .frame = {.cause = SIM_NONE, .delay = sim_random(sim, 200)}};
        t->is_spinner = i + 1 == sim->thread_count && sim_random(sim, 2);
        t->state = t->is_ready ? SIM_READY : SIM_SUSPENDED;
        if (t->is_spinner)
            priority = 15;
        t->priority = t->own_priority = t->threshold = priority;
        if (i && sim->options.cores == 1 && !sim_random(sim, 5))
            t->threshold = priority / 2;
        t->slice = t->slice_left = i && !sim_random(sim, 3) ? 1 + sim_random(sim, 3) : 0;
        snprintf(t->name, sizeof t->name, i ? "thread %d" : "System Timer Thread", i);
    }
}

// Returns a mutex that a thread owns; SIM_NONE: it owns none.
static int owned_mutex(struct simulator *sim, int thread)
{
    int found = SIM_NONE;

    for (int i = 0; i < sim->object_count; i++)
        if (sim->objects[i].kind == SIM_MUTEX && sim->objects[i].owner == thread)
            found = found == SIM_NONE || sim_random(sim, 2) ? i : found;
    return found;
}

static uint32_t random_wait(struct simulator *sim)
{
    unsigned kind = sim_random(sim, 5);

    return kind == 0 ? 0 : kind < 3 ? UINT32_MAX : 1 + sim_random(sim, 6);
}

static bool is_waiting(const struct sim_thread *t)
{
    return !t->is_ready && !t->is_suspending && t->state > SIM_SUSPENDED;
}

// Returns whether the kernel has begun to wake a thread.
static bool is_being_woken(const struct simulator *sim, int thread)
{
    for (int i = 0; i < sim->thread_count; i++)
        for (unsigned k = 0; k < sim->threads[i].frame.list_count; k++)
            if (sim->threads[i].frame.list[k] == thread)
                return true;
    for (unsigned i = 0; i < sim->options.cores; i++)
        for (unsigned n = 0; n < sim->cores[i].depth; n++)
            for (unsigned k = 0; k < sim->cores[i].isr[n].list_count; k++)
                if (sim->cores[i].isr[n].list[k] == thread)
                    return true;
    return false;
}

static bool is_running(const struct simulator *sim, int thread)
{
    for (unsigned i = 0; i < sim->options.cores; i++)
        if (sim->cores[i].current == thread)
            return true;
    return false;
}

// Plans a service on another thread, if the state of that thread allows it.
static enum sim_step plan_on_thread(struct simulator *sim, struct sim_frame *frame, int self)
{
    int other = 1 + (int)sim_random(sim, (unsigned)sim->thread_count - 1);
    struct sim_thread *t = &sim->threads[other];
    bool owns = owned_mutex(sim, other) != SIM_NONE;

    frame->thread = other;
    frame->delay = 0; // so that the state is still the same
    if (other == self || is_being_woken(sim, other) || is_running(sim, other) || t->is_suspending)
        return STEP_USER;
    if (t->state == SIM_COMPLETED || t->state == SIM_TERMINATED)
        return STEP_RESET;
    if (t->state == SIM_SUSPENDED)
        return STEP_CONTINUE;
    switch (sim_random(sim, 8)) {
    case 0:
        return is_waiting(t) ? STEP_ABORT : STEP_USER;
    case 1:
        return owns || t->frame.step > STEP_RESET || t->is_spinner ? STEP_USER : STEP_TERMINATE;
    case 2:
        return owns ? STEP_USER : STEP_PRIORITY;
    case 3:
    case 4:
        return is_waiting(t) && t->is_stopped ? STEP_CONTINUE : STEP_USER;
    default:
        return owns || (t->is_ready && t->frame.step > STEP_RESET) ? STEP_USER : STEP_STOP;
    }
}

static enum sim_step plan_use(struct simulator *sim, struct sim_frame *frame, bool in_thread)
{
    frame->object = (int)sim_random(sim, (unsigned)sim->object_count);
    frame->value = in_thread ? random_wait(sim) : 0;
    if (sim->objects[frame->object].kind == SIM_MUTEX)
        return in_thread ? STEP_GET : STEP_USER;
    return in_thread && sim_random(sim, 2) ? STEP_GET : STEP_PUT;
}

static enum sim_step plan_thread(struct simulator *sim, struct sim_frame *frame, int self)
{
    int mutex = owned_mutex(sim, self);

    frame->delay = sim_random(sim, 6) ? sim_random(sim, 400) : 0;
    if (sim->threads[self].is_spinner) {
        frame->delay += 200;
        return sim_random(sim, 3) ? STEP_USER : STEP_RELINQUISH;
    }
    if (mutex != SIM_NONE && sim_random(sim, 3)) {
        frame->object = mutex;
        return STEP_PUT;
    }
    frame->value = 1 + sim_random(sim, 6);
    switch (sim_random(sim, 20)) {
    case 0:
        return STEP_RELINQUISH;
    case 1:
        return sim->options.cores == 1 &&
                       sim->threads[self].own_priority == sim->threads[self].priority
                   ? STEP_THRESHOLD
                   : STEP_USER;
    case 2:
    case 3:
    case 4:
        return plan_on_thread(sim, frame, self);
    case 5:
        frame->thread = self;
        return mutex == SIM_NONE ? STEP_STOP : STEP_USER;
    case 6:
        return mutex == SIM_NONE && !sim_random(sim, 4) ? STEP_COMPLETE : STEP_USER;
    case 7:
    case 8:
        return STEP_SLEEP;
    case 9:
        return STEP_PLAN; // think for a while
    default:
        return plan_use(sim, frame, true);
    }
}

static enum sim_step plan_isr(struct simulator *sim, struct sim_frame *frame)
{
    int other = 1 + (int)sim_random(sim, (unsigned)sim->thread_count - 1);
    struct sim_thread *t = &sim->threads[other];

    if (!frame->services) {
        frame->delay = sim_random(sim, 20);
        return STEP_EXIT;
    }
    frame->services--;
    frame->thread = other;
    if (!sim_random(sim, 3) && t->state == SIM_SUSPENDED && !is_being_woken(sim, other)) {
        frame->delay = 0;
        return STEP_CONTINUE;
    }
    frame->delay = sim_random(sim, 20);
    return plan_use(sim, frame, false);
}

void sim_plan(struct simulator *sim, int core)
{
    struct sim_frame *frame = sim_frame(sim, core);
    int self = sim->cores[core].current;

    frame->list_count = 0;
    frame->step = sim->cores[core].depth ? plan_isr(sim, frame)
                  : self == 0            ? STEP_TIMERS
                                         : plan_thread(sim, frame, self);
}
