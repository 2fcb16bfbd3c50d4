// SPDX-License-Identifier: MIT
// tests: systems for the simulated kernel whose threads repeat a few steps each (struct
// sim_system). Times vary around their means.
#include "tests/unit/schedule/simulator.h"
#include <stdio.h>

unsigned sim_around(struct simulator *sim, unsigned mean)
{
    return mean ? mean / 5 + sim_random(sim, mean * 8 / 5 + 1) : 0;
}

void sim_create_system(struct simulator *sim)
{
    const struct sim_system *system = sim->options.system;

    sim->object_count = system->object_count;
    for (int i = 0; i < sim->object_count; i++) {
        struct sim_object *o = &sim->objects[i];
        *o = (struct sim_object){.kind = system->objects[i].kind,
                                 .address = 0x20001000 + 0x100 * (unsigned)i,
                                 .owner = SIM_NONE,
                                 .inherits = system->objects[i].inherits,
                                 .count = system->objects[i].count,
                                 .capacity = system->objects[i].capacity};
        if (system->objects[i].name)
            snprintf(o->name, sizeof o->name, "%s", system->objects[i].name);
        else
            snprintf(o->name, sizeof o->name, "object %d", i);
        sim->owner[i] = (struct extract_ownership){.mutex = o->address};
    }
    sim->thread_count = system->thread_count;
    for (int i = 0; i < sim->thread_count; i++) {
        struct sim_thread *t = &sim->threads[i];
        unsigned priority = system->threads[i].priority;
        *t = (struct sim_thread){.address = 0x20004000 + 0x200 * (unsigned)i,
                                 .object = SIM_NONE,
                                 .order = ++sim->order,
                                 .is_ready = i > 0,
                                 .priority = priority,
                                 .own_priority = priority,
                                 .threshold = priority,
                                 .state = i ? SIM_READY : SIM_SUSPENDED,
                                 .frame = {.cause = SIM_NONE, .delay = sim_random(sim, 200)}};
        snprintf(t->name, sizeof t->name, "%s",
                 i ? system->threads[i].name : "System Timer Thread");
    }
    for (int i = 0; i < SIM_APP_TIMERS; i++)
        sim->app_timer[i] = UINT64_MAX;
    for (int i = 0; i < system->device_count; i++)
        sim->device_at[i] = 1 + sim_around(sim, system->devices[i].every);
}

// Plans the next step of an interrupt: it puts to the object of its device, and ends.
static void plan_device(struct simulator *sim, struct sim_frame *frame)
{
    const struct sim_system *system = sim->options.system;
    int i = 0;

    while (system->devices[i].number != frame->number)
        i++;
    int object = system->devices[i].object;
    bool puts = object != SIM_NONE && frame->services;
    if (frame->services) // the interrupt has just begun
        frame->delay = sim_around(sim, system->devices[i].work);
    frame->services = 0;
    frame->object = object;
    frame->value = 0;
    frame->step = puts ? STEP_PUT : STEP_EXIT;
}

void sim_plan_system(struct simulator *sim, int core)
{
    struct sim_frame *frame = sim_frame(sim, core);
    int self = sim->cores[core].current;

    frame->list_count = 0;
    if (sim->cores[core].depth) {
        plan_device(sim, frame);
        return;
    }
    if (self == 0) {
        frame->step = STEP_TIMERS;
        return;
    }
    struct sim_thread *t = &sim->threads[self];
    const struct sim_loop_step *loop = sim->options.system->threads[self].loop;
    if (loop[t->at].step == STEP_PLAN)
        t->at = 0;
    const struct sim_loop_step *step = &loop[t->at++];
    frame->delay = sim_around(sim, step->work);
    frame->object = step->object;
    frame->value = step->value;
    frame->step = step->step;
}
