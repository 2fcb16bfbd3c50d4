// SPDX-License-Identifier: MIT
// schedule: why a thread loses its core, in kernels whose events name the thread that they choose
// to run next. Events come in; the kinds of switches go out.
//
// The kernel has chosen one thread to run next on a core: at most times the thread that has the
// core. The event that changes this choice is the reason for the switch, which may come later: if
// preemption is disabled, or at the end of an interrupt.
//
//                        resume names another thread
//    the core's thread -------------------------------> PREEMPTED
//        is chosen     -------------------------------> TIME SLICED ---+
//                          time slice names another one     ^          | resume names a third one
//                      -------------------------------> YIELDED        +-----> PREEMPTED
//                        relinquish names another one
//
// So a time slice that ends after a more urgent thread became ready changes nothing: its event
// names the thread that was chosen already. A slice that changes the choice gives the core to a
// thread as urgent as the one before. What was chosen is not known if the trace begins inside an
// interrupt, and in kernels whose resumptions do not name the next thread. Then priorities decide,
// and the kind is unknown without them.
#include "events/event_filter.h"
#include "schedule/schedule_room.h"

// How urgent the thread that gets a core is, compared with the one that loses it.
enum urgency { URGENCY_UNKNOWN, LESS_URGENT, AS_URGENT, MORE_URGENT };

static enum urgency compare_urgency(struct schedule *schedule, struct holder owner,
                                    struct holder before)
{
    schedule_thread(schedule, before.thread); // adding a thread may move the others
    const struct thread *next =
        owner.runner == EXTRACT_RUNNER_THREAD ? schedule_thread(schedule, owner.thread) : NULL;
    const struct thread *left = next ? schedule_thread(schedule, before.thread) : NULL;

    if (!left || next->priority == EXTRACT_NO_PRIORITY || left->priority == EXTRACT_NO_PRIORITY)
        return URGENCY_UNKNOWN;
    unsigned now = extract_trace_urgency(schedule->trace, next->priority);
    unsigned was = extract_trace_urgency(schedule->trace, left->priority);
    return now < was ? MORE_URGENT : now > was ? LESS_URGENT : AS_URGENT;
}

bool schedule_waits(struct schedule *schedule, struct holder owner)
{
    const struct thread *thread =
        owner.runner == EXTRACT_RUNNER_THREAD ? schedule_thread(schedule, owner.thread) : NULL;

    return thread && thread->now.state > EXTRACT_STATE_READY;
}

static bool is_of_thread(struct holder holder, uint64_t thread)
{
    return holder.runner == EXTRACT_RUNNER_THREAD && holder.thread == thread;
}

// Returns the kind of a switch from a thread that could have run on.
static enum extract_switch_kind kind_of_loss(struct schedule *schedule, const struct core *core,
                                             struct holder owner)
{
    enum urgency urgency = compare_urgency(schedule, owner, core->owner);
    bool is_chosen = core->chosen.runner && core->chosen.thread == owner.thread;
    bool may_choose =
        core->may_switch && !core->next.runner && core->step.context == EXTRACT_THREAD;
    bool is_kept = is_of_thread(core->chosen, core->owner.thread) && !may_choose;

    if (schedule->lacks_thread_calls && !is_chosen) // it, or another thread, may have yielded
        return urgency == MORE_URGENT ? EXTRACT_SWITCH_PREEMPTED : EXTRACT_SWITCH_UNKNOWN;
    switch (core->way) {
    case EXTRACT_SWITCH_YIELDED:
        return core->is_way_proven || urgency != MORE_URGENT ? core->way : EXTRACT_SWITCH_PREEMPTED;
    case EXTRACT_SWITCH_TIME_SLICED:
        if (core->is_way_proven && is_chosen)
            return core->way;
        return urgency == MORE_URGENT ? EXTRACT_SWITCH_PREEMPTED
               : urgency == AS_URGENT ? core->way
                                      : EXTRACT_SWITCH_UNKNOWN;
    case EXTRACT_SWITCH_PREEMPTED:
        // Nothing has chosen the thread that gets the core: the event that did was not recorded.
        return is_kept && urgency != MORE_URGENT ? EXTRACT_SWITCH_UNKNOWN : core->way;
    default: // UNKNOWN: the trace begins with the interrupt that chose the next thread
        return urgency == MORE_URGENT ? EXTRACT_SWITCH_PREEMPTED : core->way;
    }
}

enum extract_switch_kind choices_kind(struct schedule *schedule, const struct core *core,
                                      struct holder owner)
{
    if (core->owner.runner != EXTRACT_RUNNER_THREAD)
        return EXTRACT_SWITCH_OTHER;
    if (core->states_way)
        return core->way;
    if (schedule_waits(schedule, core->owner))
        return EXTRACT_SWITCH_GAVE_UP;
    return schedule->lacks_waits ? EXTRACT_SWITCH_UNKNOWN : kind_of_loss(schedule, core, owner);
}

// Returns whether events name each choice. On several cores, those of other cores change it, too.
static bool is_tracked(const struct schedule *schedule)
{
    return !schedule->has_switches && !schedule->has_silent_switches;
}

void choices_set_owner(const struct schedule *schedule, struct core *core, struct holder owner)
{
    if (is_tracked(schedule) &&
        (owner.runner != core->owner.runner || owner.thread != core->owner.thread))
        core->chosen = owner;
    core->owner = owner;
}

void choices_begin(const struct schedule *schedule, struct core *core,
                   const struct extract_event *event)
{
    core->way = EXTRACT_SWITCH_PREEMPTED;
    if (event->context != EXTRACT_ISR || !schedule->may_have_missed)
        return;
    core->chosen = (struct holder){EXTRACT_RUNNER_UNKNOWN, 0};
    core->way = EXTRACT_SWITCH_UNKNOWN;
}

// Notes what an event chooses. Returns whether it names another thread than was chosen before. What
// is chosen after a thread was moved to another priority is not known: the kernel may take it back.
static bool follow_choice(struct core *core, const struct extract_event *event,
                          const struct extract_role_fields *role)
{
    const struct holder before = core->chosen, named = core->next;

    if (named.runner)
        core->chosen = named;
    else if (role->role == EXTRACT_ROLE_RESUME)
        core->chosen = (struct holder){EXTRACT_RUNNER_UNKNOWN, 0};
    else if (event->context == EXTRACT_THREAD && !before.runner)
        core->chosen = core->owner;
    return named.runner && (!before.runner || before.thread != named.thread);
}

// Returns whether an event stops a thread. One that is moved to another priority goes on.
static bool is_stop_of(struct holder owner, const struct extract_event *event,
                       const struct extract_role_fields *role)
{
    bool is_stop = role->role == EXTRACT_ROLE_SUSPEND || role->role == EXTRACT_ROLE_STEP_END;
    bool is_move = role->state && extract_role_field(event, role->state) == EXTRACT_WAIT_PRIORITY;

    return is_stop && !is_move && is_of_thread(owner, extract_role_field(event, role->thread));
}

void choices_add_event(const struct schedule *schedule, struct core *core,
                       const struct extract_event *event, const struct extract_role_fields *role)
{
    const struct holder before = core->chosen;
    bool was_own = !before.runner || is_of_thread(before, core->owner.thread);
    uint64_t thread = extract_role_field(event, role->thread);
    bool is_renamed = follow_choice(core, event, role);
    bool is_own = is_of_thread(core->chosen, core->owner.thread);

    if (is_stop_of(core->owner, event, role)) {
        core->way = EXTRACT_SWITCH_GAVE_UP;
    } else if (is_own) {
        core->way = EXTRACT_SWITCH_PREEMPTED;
    } else if (role->role == EXTRACT_ROLE_RELINQUISH) {
        core->way = EXTRACT_SWITCH_YIELDED;
        core->is_way_proven = core->chosen.runner != EXTRACT_RUNNER_UNKNOWN;
    } else if (role->role == EXTRACT_ROLE_TIME_SLICE && was_own) {
        core->way = EXTRACT_SWITCH_TIME_SLICED;
        core->is_way_proven = before.runner && core->chosen.runner;
    } else if ((role->role == EXTRACT_ROLE_RESUME && is_renamed && core->chosen.thread == thread) ||
               (event->context == EXTRACT_THREAD && was_own)) {
        core->way = EXTRACT_SWITCH_PREEMPTED;
    }
    if (!is_tracked(schedule))
        core->chosen = (struct holder){EXTRACT_RUNNER_UNKNOWN, 0};
}
