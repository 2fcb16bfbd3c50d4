// SPDX-License-Identifier: MIT
// tests: the services of the simulated kernel, one step at a time, with the entries that ThreadX
// records for them.
#include "tests/unit/schedule/simulator.h"

static struct sim_thread *caller_of(struct simulator *sim, int core)
{
    return sim->cores[core].depth ? NULL : &sim->threads[sim->cores[core].current];
}

// Goes on with another step of a service after a while. Preemption is disabled until then.
static void continue_service(struct simulator *sim, struct sim_frame *frame, enum sim_step step)
{
    sim->preempt_disable++;
    frame->step = step;
    frame->delay = sim_random(sim, 3) ? 0 : sim_random(sim, 20);
}

// ---- waits ----

// Takes a thread off the list of the object that it waits for.
void sim_forget_wait(struct simulator *sim, int thread)
{
    struct sim_thread *t = &sim->threads[thread];
    struct sim_object *o = t->object == SIM_NONE ? NULL : &sim->objects[t->object];

    for (unsigned i = 0; o && i < o->waiting_count; i++)
        if (o->waiting[i] == thread) {
            memmove(&o->waiting[i], &o->waiting[i + 1],
                    (o->waiting_count - i - 1) * sizeof *o->waiting);
            o->waiting_count--;
        }
}

static void begin_wait(struct simulator *sim, int core, enum sim_state state, int object,
                       uint32_t wait)
{
    int thread = sim->cores[core].current;
    struct sim_thread *t = &sim->threads[thread];

    t->state = state;
    t->object = object;
    t->wait = wait;
    t->timeout = wait && wait != UINT32_MAX ? sim->ticks + wait : 0;
    t->is_suspending = true;
    if (object != SIM_NONE)
        sim->objects[object].waiting[sim->objects[object].waiting_count++] = thread;
    continue_service(sim, &t->frame, STEP_SUSPEND);
}

// Takes a thread off its object's list, and wakes it in a later step of a frame.
static void release_waiter(struct simulator *sim, struct sim_frame *frame, int thread)
{
    sim_forget_wait(sim, thread);
    sim->threads[thread].timeout = 0;
    frame->list[frame->list_count++] = thread;
}

static void wake_list(struct simulator *sim, struct sim_frame *frame)
{
    if (frame->list_count)
        continue_service(sim, frame, STEP_WAKE);
}

static void wake_next(struct simulator *sim, int core, struct sim_frame *frame)
{
    int thread = frame->list[0];
    struct sim_thread *t = &sim->threads[thread];

    sim->preempt_disable--;
    frame->list_count--;
    memmove(frame->list, frame->list + 1, frame->list_count * sizeof *frame->list);
    int object = t->object;
    bool is_handover = t->state == SIM_MUTEX && sim->objects[object].owner == thread;
    sim_resume(sim, core, thread, frame->cause);
    sim->has_met[CASE_HANDED_OVER] |= is_handover;
    if (is_handover)
        sim_own(sim, object, thread);
    wake_list(sim, frame);
}

// ---- priorities ----

// Gives a thread a priority. A ready thread moves to the end of its new priority.
static void set_priority(struct simulator *sim, int core, int thread, unsigned priority)
{
    struct sim_thread *t = &sim->threads[thread];
    bool moves = t->is_ready;

    if (moves) {
        sim_make_unready(sim, thread);
        sim_record(sim, core, 2, t->address, SIM_PRIORITY, 0x100, sim_next(sim, core));
    }
    t->priority = t->threshold = priority;
    if (moves) {
        sim_make_ready(sim, thread);
        sim_record(sim, core, 1, t->address, SIM_PRIORITY, 0x100, sim_next(sim, core));
    }
}

// ---- objects ----

static void get_mutex(struct simulator *sim, int core, struct sim_frame *frame)
{
    struct sim_object *o = &sim->objects[frame->object];
    int thread = sim->cores[core].current;

    frame->cause = sim_record(sim, core, 52, o->address, frame->value,
                              o->owner == SIM_NONE ? 0 : sim->threads[o->owner].address, o->count);
    if (o->owner == SIM_NONE) {
        o->owner = thread;
        sim_own(sim, frame->object, thread);
    }
    if (o->owner == thread) {
        o->count++;
        return;
    }
    if (!frame->value)
        return;
    begin_wait(sim, core, SIM_MUTEX, frame->object, frame->value);
    if (o->inherits && sim->threads[o->owner].priority > sim->threads[thread].priority)
        frame->step = STEP_INHERIT;
}

static void put_mutex(struct simulator *sim, int core, struct sim_frame *frame)
{
    struct sim_object *o = &sim->objects[frame->object];
    int thread = sim->cores[core].current;
    struct sim_thread *t = &sim->threads[thread];

    frame->cause =
        sim_record(sim, core, 57, o->address,
                   o->owner == SIM_NONE ? 0 : sim->threads[o->owner].address, o->count, 0x100);
    if (o->owner != thread || --o->count)
        return;
    o->owner = SIM_NONE;
    if (o->waiting_count) {
        o->owner = o->waiting[0];
        o->count = 1;
        release_waiter(sim, frame, o->waiting[0]);
    } else {
        sim_own(sim, frame->object, SIM_NONE);
    }
    bool has_other = false;
    for (int i = 0; i < sim->object_count; i++)
        has_other |= sim->objects[i].kind == SIM_MUTEX && sim->objects[i].owner == thread;
    if (o->inherits && t->priority != t->own_priority && !has_other)
        continue_service(sim, frame, STEP_RESTORE);
    else
        wake_list(sim, frame);
}

static bool is_satisfied(const struct sim_object *o, const struct sim_thread *t)
{
    uint32_t present = o->count & t->wanted;

    return t->option & 2 ? present == t->wanted : present != 0;
}

static void get_flags(struct simulator *sim, int core, struct sim_frame *frame)
{
    struct sim_object *o = &sim->objects[frame->object];
    struct sim_thread *t = caller_of(sim, core);

    t->wanted = 1 + sim_random(sim, 7);
    t->option = sim_random(sim, 4);
    sim_record(sim, core, 32, o->address, t->wanted, o->count, t->option);
    if (is_satisfied(o, t))
        o->count &= t->option & 1 ? ~t->wanted : UINT32_MAX;
    else if (frame->value)
        begin_wait(sim, core, SIM_FLAGS, frame->object, frame->value);
}

static void set_flags(struct simulator *sim, int core, struct sim_frame *frame)
{
    struct sim_object *o = &sim->objects[frame->object];
    uint32_t flags = 1U << sim_random(sim, 3), clear = 0;

    frame->cause = sim_record(sim, core, 36, o->address, flags, 0, o->waiting_count);
    o->count |= flags;
    for (unsigned i = 0; i < o->waiting_count;) {
        struct sim_thread *t = &sim->threads[o->waiting[i]];
        if (!is_satisfied(o, t)) {
            i++;
            continue;
        }
        clear |= t->option & 1 ? t->wanted : 0;
        release_waiter(sim, frame, o->waiting[i]);
    }
    o->count &= ~clear;
    sim->has_met[CASE_SEVERAL] |= frame->list_count > 1;
    wake_list(sim, frame);
}

static void use_queue(struct simulator *sim, int core, struct sim_frame *frame, bool sends)
{
    struct sim_object *o = &sim->objects[frame->object];
    unsigned id = !sends ? 68 : sim_random(sim, 5) ? 69 : 63;
    int first = o->waiting_count ? o->waiting[0] : SIM_NONE;

    frame->cause = sim_record(sim, core, id, o->address, 0x200, frame->value, o->count);
    if (sends && first != SIM_NONE && !sim->threads[first].is_sender) {
        release_waiter(sim, frame, first); // the message goes to it directly
        wake_list(sim, frame);
    } else if (sends ? o->count < o->capacity : o->count > 0) {
        o->count += sends ? 1U : -1U;
        if (!sends && first != SIM_NONE) { // a sender waits, whose message there is room for now
            o->count++;
            release_waiter(sim, frame, first);
            wake_list(sim, frame);
        }
    } else if (frame->value && !sim->cores[core].depth && sim->cores[core].current) {
        caller_of(sim, core)->is_sender = sends;
        begin_wait(sim, core, SIM_QUEUE, frame->object, frame->value);
    }
}

// Gets or puts a unit of a semaphore, or a block of a pool.
static void use_units(struct simulator *sim, int core, struct sim_frame *frame, bool puts)
{
    struct sim_object *o = &sim->objects[frame->object];
    bool is_pool = o->kind == SIM_POOL;

    if (puts) {
        frame->cause =
            is_pool ? sim_record(sim, core, 17, o->address, 0x300, o->waiting_count, 0x100)
                    : sim_record(sim, core, 88, o->address, o->count, o->waiting_count, 0x100);
        if (o->waiting_count)
            release_waiter(sim, frame, o->waiting[0]);
        else
            o->count++;
        wake_list(sim, frame);
        return;
    }
    if (is_pool)
        sim_record(sim, core, 10, o->address, 0, frame->value, o->count);
    else
        sim_record(sim, core, 83, o->address, frame->value, o->count, 0x100);
    if (o->count)
        o->count--;
    else if (frame->value)
        begin_wait(sim, core, o->kind, frame->object, frame->value);
}

static void use_object(struct simulator *sim, int core, struct sim_frame *frame, bool puts)
{
    switch (sim->objects[frame->object].kind) {
    case SIM_MUTEX:
        (puts ? put_mutex : get_mutex)(sim, core, frame);
        break;
    case SIM_FLAGS:
        (puts ? set_flags : get_flags)(sim, core, frame);
        break;
    case SIM_QUEUE:
        use_queue(sim, core, frame, puts);
        break;
    default:
        use_units(sim, core, frame, puts);
        break;
    }
}

// ---- threads ----

static void stop_thread(struct simulator *sim, int core, struct sim_frame *frame)
{
    struct sim_thread *t = &sim->threads[frame->thread];

    sim_record(sim, core, 114, t->address, t->state, 0x100, 0);
    if (frame->thread == sim->cores[core].current) {
        begin_wait(sim, core, SIM_SUSPENDED, SIM_NONE, 0);
    } else if (t->is_ready) {
        t->state = SIM_SUSPENDED;
        sim_suspend(sim, core, frame->thread);
    } else if (t->state > SIM_SUSPENDED) {
        t->is_stopped = true;
    }
}

static void continue_thread(struct simulator *sim, int core, struct sim_frame *frame)
{
    struct sim_thread *t = &sim->threads[frame->thread];

    frame->cause = sim_record(sim, core, 111, t->address, t->state, 0x100, 0);
    if (t->state == SIM_SUSPENDED) {
        release_waiter(sim, frame, frame->thread);
        wake_list(sim, frame);
    } else {
        t->is_stopped = false;
    }
}

static void abort_wait(struct simulator *sim, int core, struct sim_frame *frame)
{
    struct sim_thread *t = &sim->threads[frame->thread];

    frame->cause = sim_record(sim, core, 117, t->address, t->state, 0, 0);
    release_waiter(sim, frame, frame->thread);
    wake_list(sim, frame);
}

static void terminate_thread(struct simulator *sim, int core, struct sim_frame *frame)
{
    struct sim_thread *t = &sim->threads[frame->thread];

    int entry = sim_record(sim, core, 115, t->address, t->state, 0x100, 0);
    sim_forget_wait(sim, frame->thread);
    t->object = SIM_NONE;
    t->timeout = 0;
    t->is_stopped = false;
    t->state = SIM_TERMINATED;
    if (t->is_ready)
        sim_suspend(sim, core, frame->thread);
    else
        sim_end_response(sim, t, entry);
    t->frame = (struct sim_frame){.cause = SIM_NONE};
}

static void change_threshold(struct simulator *sim, int core)
{
    struct sim_thread *t = caller_of(sim, core);
    unsigned threshold = t->threshold < t->priority ? t->priority : t->priority / 2;

    sim_record(sim, core, 107, t->address, threshold, t->threshold, 0);
    t->threshold = threshold;
    sim_choose(sim);
}

static void change_priority(struct simulator *sim, int core, struct sim_frame *frame)
{
    struct sim_thread *t = &sim->threads[frame->thread];
    unsigned priority = 1 + sim_random(sim, 14);

    sim_record(sim, core, 108, t->address, priority, t->priority, t->state);
    t->own_priority = priority;
    set_priority(sim, core, frame->thread, priority);
}

static void yield_core(struct simulator *sim, int core)
{
    struct sim_thread *t = caller_of(sim, core);

    if (t->threshold == t->priority) {
        t->order = ++sim->order;
        if (sim->options.cores == 1)
            sim->cores[core].next = SIM_NONE;
        sim_choose(sim);
    }
    sim_record(sim, core, 109, 0x100, sim_next(sim, core), 0, 0);
}

// ---- time ----

static bool is_expired(const struct simulator *sim, const struct sim_thread *t)
{
    return t->timeout && t->timeout <= sim->ticks;
}

// The timer's interrupt: wakes the System Timer Thread if a time is over.
static void tick(struct simulator *sim, int core, struct sim_frame *frame)
{
    bool is_over = false;

    for (int i = 0; i < sim->thread_count; i++)
        is_over |= is_expired(sim, &sim->threads[i]);
    for (int i = 0; i < SIM_APP_TIMERS; i++)
        is_over |= sim->app_timer[i] <= sim->ticks;
    if (is_over)
        sim_resume(sim, core, 0, SIM_NONE);
    frame->step = STEP_TIME_SLICE;
    frame->delay = sim_random(sim, 6);
}

// Ends the time slice of the interrupted thread, if it has one.
static void end_time_slice(struct simulator *sim, int core, struct sim_frame *frame)
{
    int current = sim->cores[core].current;
    struct sim_thread *t = current == SIM_NONE ? NULL : &sim->threads[current];

    frame->step = STEP_EXIT;
    frame->delay = sim_random(sim, 6);
    if (!t || !t->slice || sim->cores[core].is_switching || --t->slice_left)
        return;
    t->slice_left = t->slice;
    sim->has_met[CASE_TIME_SLICE] = true;
    if (!sim->preempt_disable && t->is_ready && t->threshold == t->priority) {
        t->order = ++sim->order;
        if (sim->options.cores == 1 && sim->cores[core].next == current) {
            sim->cores[core].next = SIM_NONE;
            sim_choose(sim);
        } else if (sim->options.cores > 1) {
            sim_choose(sim);
        }
    }
    sim_record(sim, core, 5, sim_next(sim, 0), sim->cores[core].depth, sim->preempt_disable, 0x100);
}

// Wakes a thread whose time is over. Returns false if there is none.
static bool end_timeout(struct simulator *sim, int core)
{
    for (int i = 1; i < sim->thread_count; i++)
        if (is_expired(sim, &sim->threads[i])) {
            sim_forget_wait(sim, i);
            sim_resume(sim, core, i, SIM_NONE);
            return true;
        }
    return false;
}

// Returns whether a thread waits for all of its event flags. If a timer's function sets some of
// them just before this wait is over, the trace does not show which of the two ended the wait.
static bool has_waiter_for_all(const struct simulator *sim, const struct sim_object *o)
{
    for (unsigned i = 0; i < o->waiting_count; i++)
        if (o->kind == SIM_FLAGS && sim->threads[o->waiting[i]].option & 2)
            return true;
    return false;
}

// Begins the function of a timer that has expired: it puts to an object. Returns false if there is
// no such timer.
static bool start_app_timer(struct simulator *sim, struct sim_frame *frame)
{
    for (int i = 0; i < SIM_APP_TIMERS; i++)
        if (sim->app_timer[i] <= sim->ticks) {
            sim->app_timer[i] = sim->ticks + 1 + sim_random(sim, 12);
            frame->object = (int)sim_random(sim, (unsigned)sim->object_count);
            frame->value = 0;
            if (sim->objects[frame->object].kind != SIM_MUTEX &&
                !has_waiter_for_all(sim, &sim->objects[frame->object])) {
                frame->step = STEP_PUT;
                return true;
            }
        }
    return false;
}

// Ends one time that is over, in the System Timer Thread, or suspends it.
static void run_timers(struct simulator *sim, int core, struct sim_frame *frame)
{
    bool done;

    frame->step = STEP_TIMERS;
    frame->delay = sim_random(sim, 3) ? 0 : sim_random(sim, 9);
    if (sim_random(sim, 2))
        done = end_timeout(sim, core) || start_app_timer(sim, frame);
    else
        done = start_app_timer(sim, frame) || end_timeout(sim, core);
    if (done)
        return;
    sim->threads[0].state = SIM_SUSPENDED;
    sim_suspend(sim, core, 0);
}

static void exit_isr(struct simulator *sim, int core, struct sim_frame *frame)
{
    sim_record(sim, core, 4, 0x100, frame->number, sim->cores[core].depth, sim->preempt_disable);
    sim->cores[core].depth--;
}

// ---- steps ----

static void finish_wait(struct simulator *sim, int core)
{
    int thread = sim->cores[core].current;

    sim->preempt_disable--;
    if (sim->threads[thread].is_suspending)
        sim_suspend(sim, core, thread);
}

static void inherit_priority(struct simulator *sim, int core, struct sim_frame *frame)
{
    const struct sim_object *o = &sim->objects[frame->object];
    const struct sim_thread *t = caller_of(sim, core);

    if (t->is_suspending && o->owner != SIM_NONE && sim->threads[o->owner].priority > t->priority) {
        set_priority(sim, core, o->owner, t->priority);
        sim->has_met[CASE_INHERITED] = true;
    }
    sim->preempt_disable--;
    continue_service(sim, frame, STEP_SUSPEND);
    if (!t->is_suspending)
        frame->delay = 0;
}

static void restore_priority(struct simulator *sim, int core, struct sim_frame *frame)
{
    sim->preempt_disable--;
    set_priority(sim, core, sim->cores[core].current, caller_of(sim, core)->own_priority);
    wake_list(sim, frame);
}

static void do_step(struct simulator *sim, int core, struct sim_frame *frame, enum sim_step step)
{
    switch (step) {
    case STEP_USER:
        sim_record(sim, core, 4096, 0, 1, 2, 3);
        break;
    case STEP_GET:
    case STEP_PUT:
        use_object(sim, core, frame, step == STEP_PUT);
        break;
    case STEP_SLEEP:
        sim_record(sim, core, 112, frame->value, 0, 0x100, 0);
        begin_wait(sim, core, SIM_SLEEP, SIM_NONE, frame->value);
        break;
    case STEP_RELINQUISH:
        yield_core(sim, core);
        break;
    case STEP_STOP:
        stop_thread(sim, core, frame);
        break;
    case STEP_CONTINUE:
        continue_thread(sim, core, frame);
        break;
    case STEP_THRESHOLD:
        change_threshold(sim, core);
        break;
    case STEP_PRIORITY:
        change_priority(sim, core, frame);
        break;
    case STEP_ABORT:
        abort_wait(sim, core, frame);
        break;
    case STEP_TERMINATE:
        terminate_thread(sim, core, frame);
        break;
    case STEP_COMPLETE:
        begin_wait(sim, core, SIM_COMPLETED, SIM_NONE, 0);
        break;
    case STEP_RESET:
        sim_record(sim, core, 110, sim->threads[frame->thread].address,
                   sim->threads[frame->thread].state, 0, 0);
        sim->threads[frame->thread].state = SIM_SUSPENDED;
        sim->has_met[CASE_RESET] = true;
        break;
    case STEP_SUSPEND:
        finish_wait(sim, core);
        break;
    case STEP_WAKE:
        wake_next(sim, core, frame);
        break;
    case STEP_INHERIT:
        inherit_priority(sim, core, frame);
        break;
    case STEP_RESTORE:
        restore_priority(sim, core, frame);
        break;
    case STEP_TICK:
        tick(sim, core, frame);
        break;
    case STEP_TIME_SLICE:
        end_time_slice(sim, core, frame);
        break;
    case STEP_EXIT:
        exit_isr(sim, core, frame);
        break;
    case STEP_TIMERS:
        run_timers(sim, core, frame);
        break;
    case STEP_PLAN:
        break;
    }
}

void sim_step(struct simulator *sim, int core)
{
    struct sim_frame *frame = sim_frame(sim, core);
    enum sim_step step = frame->step;

    frame->delay = 0;
    if (step == STEP_PLAN) {
        if (sim->options.system)
            sim_plan_system(sim, core);
        else
            sim_plan(sim, core);
        step = frame->step;
    }
    if (frame->delay)
        return;
    frame->step = STEP_PLAN;
    do_step(sim, core, frame, step);
}
