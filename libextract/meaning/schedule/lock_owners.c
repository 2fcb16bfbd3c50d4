// SPDX-License-Identifier: MIT
// schedule: who holds which lock. The events of a role file come in; times of ownership, and the
// states of threads that want a lock, go out.
//
//   thread T    miss       wait                          get                release
//            ----+----------+------------------------------+-------------------+----
//       running, |  running,        blocked, then ready    |  running: T is
//                |  spins                                  |  the owner
//
// Several threads may hold a lock, as locks for readers do. The owner is then the one that has had
// it for the longest time. No event shows that nobody holds a lock: a reader may have got it before
// the trace. So nothing is sent while no holder is known.
//
// An interrupt may hold a lock, too: then it is the owner, and not the thread that it interrupts,
// unless the event names a thread. If it ends without a release, it is not known who has the lock.
// An interrupt that wants a lock spins: it cannot give up the core.
#include "base/grow.h"
#include "schedule/schedule_room.h"
#include <string.h>

static struct lock *find_lock(struct schedule *schedule, uint64_t address, bool *is_new)
{
    uint32_t *index = extract_map_at(&schedule->lock_map, address);

    *is_new = index && !*index;
    if (index && *index)
        return &schedule->locks[*index - 1];
    struct lock *grown = index ? extract_grow(schedule->locks, &schedule->lock_capacity,
                                              schedule->lock_count, sizeof *grown)
                               : NULL;
    if (!grown) {
        schedule->failed = true;
        return NULL;
    }
    schedule->locks = grown;
    struct lock *lock = &grown[schedule->lock_count++];
    *lock = (struct lock){.address = address,
                          .owned_from = schedule->board->start > schedule->locks_from
                                            ? schedule->board->start
                                            : schedule->locks_from};
    *index = (uint32_t)schedule->lock_count;
    return lock;
}

static void send_owner(const struct schedule *schedule, uint64_t lock,
                       const struct lock_holder *holder, uint64_t from, uint64_t to)
{
    struct extract_ownership owner = {.from = from,
                                      .to = to,
                                      .mutex = lock,
                                      .thread = holder->thread,
                                      .in_isr = !holder->thread,
                                      .isr = holder->isr,
                                      .isr_known = holder->isr_known,
                                      .core = holder->core};

    if (from < to && schedule->sink->owner && schedule_clip(schedule, &owner.from, &owner.to))
        schedule->sink->owner(schedule->sink->context, &owner);
}

// ---- holders ----

static struct lock_holder *find_holder(struct lock *lock, const struct lock_holder *user)
{
    for (unsigned i = 0; i < lock->holder_count; i++)
        if (lock->holders[i].thread == user->thread &&
            (user->thread || lock->holders[i].core == user->core))
            return &lock->holders[i];
    return NULL;
}

static void add_holder(struct schedule *schedule, struct lock *lock, const struct lock_holder *user,
                       uint64_t at)
{
    struct lock_holder *holder = find_holder(lock, user);

    if (holder) {
        holder->count++;
        return;
    }
    if (lock->holder_count == MAX_LOCK_HOLDERS) {
        lock->others++;
        return;
    }
    if (!lock->holder_count)
        lock->owned_from = at > lock->owned_from ? at : lock->owned_from;
    lock->holders[lock->holder_count] = *user;
    lock->holders[lock->holder_count++].count = 1;
    if (!user->thread)
        schedule->cores[user->core].lock_holds++;
}

// Completes the time of an owner. Times of a lock never go back.
static void end_ownership(struct schedule *schedule, struct lock *lock,
                          const struct lock_holder *owner, uint64_t at)
{
    send_owner(schedule, lock->address, owner, lock->owned_from, at);
    lock->owned_from = at > lock->owned_from ? at : lock->owned_from;
}

static void drop_holder(struct schedule *schedule, struct lock *lock, struct lock_holder *holder,
                        uint64_t at)
{
    if (holder == lock->holders)
        end_ownership(schedule, lock, holder, at);
    if (!holder->thread)
        schedule->cores[holder->core].lock_holds--;
    size_t rest = lock->holder_count-- - (size_t)(holder - lock->holders) - 1;
    memmove(holder, holder + 1, rest * sizeof *holder);
}

static void remove_holder(struct schedule *schedule, struct lock *lock, bool is_new,
                          const struct lock_holder *user, uint64_t at)
{
    struct lock_holder *holder = find_holder(lock, user);

    if (!holder) {
        lock->others -= lock->others != 0;
        // It has had the lock since the start, unless it is an interrupt that began after it.
        if (is_new && !user->depth)
            end_ownership(schedule, lock, user, at);
    } else if (--holder->count) {
        return;
    } else {
        drop_holder(schedule, lock, holder, at);
    }
    if (lock->holder_count || lock->others)
        return;
    lock->freed_at = at;
    lock->was_freed = true;
}

void schedule_locks_end_interrupts(struct schedule *schedule, const struct extract_event *event,
                                   const struct extract_role_fields *role, unsigned depth)
{
    const struct core *core = &schedule->cores[event->core];
    bool in_isr = event->context == EXTRACT_ISR;
    bool ends_all = !in_isr || role->role == EXTRACT_ROLE_ISR_RETURN ||
                    (role->role == EXTRACT_ROLE_ISR_EXIT && !depth);
    uint64_t at = in_isr ? event->ticks : core->last_ticks;

    for (size_t i = 0; i < schedule->lock_count; i++) {
        struct lock *lock = &schedule->locks[i];
        const struct lock_holder interrupts = {.core = event->core};
        struct lock_holder *holder = find_holder(lock, &interrupts);
        if (!holder || !(ends_all || holder->depth > core->depth))
            continue;
        drop_holder(schedule, lock, holder, at);
        lock->others++; // somebody may still have it
    }
}

// Returns the interrupt in which an event was recorded, as a user of locks.
static struct lock_holder interrupt_of(const struct schedule *schedule,
                                       const struct extract_event *event)
{
    const struct core *core = &schedule->cores[event->core];
    struct lock_holder user = {.core = event->core, .depth = core->depth};

    if (core->depth && core->depth <= MAX_NESTING) {
        user.isr_known = core->isr_known[core->depth - 1];
        user.isr = user.isr_known ? core->isr[core->depth - 1] : 0;
    }
    return user;
}

// ---- threads that want a lock ----

// Notes that a running thread begins or ceases (lock 0) to try to get a lock.
static void set_spinning(struct schedule *schedule, struct thread *thread, uint64_t lock,
                         uint64_t at)
{
    thread->spins_on = lock;
    if (thread->now.state != EXTRACT_STATE_RUNNING || thread->now.object == lock)
        return;
    const struct extract_state state = {.state = EXTRACT_STATE_RUNNING,
                                        .core = thread->now.core,
                                        .object = lock,
                                        .wait = lock ? "lock" : NULL};
    thread_set(schedule, thread, at, &state, NULL);
}

void schedule_locks_add_event(struct schedule *schedule, const struct extract_event *event,
                              const struct extract_role_fields *role)
{
    uint64_t address = extract_role_field(event, role->object);
    bool names_thread = role->thread != 0, is_new = false;
    struct thread *thread =
        names_thread ? schedule_thread(schedule, extract_role_field(event, role->thread))
        : event->context == EXTRACT_THREAD ? schedule_thread(schedule, event->thread)
                                           : NULL;
    bool by_isr = !names_thread && event->context == EXTRACT_ISR;
    struct lock *lock =
        address && (thread || by_isr) ? find_lock(schedule, address, &is_new) : NULL;
    const struct lock_holder user = by_isr   ? interrupt_of(schedule, event)
                                    : thread ? (struct lock_holder){.thread = thread->now.thread}
                                             : (struct lock_holder){.thread = 0};

    if (!lock)
        return;
    // No event has shown yet that the thread has the core again.
    if (thread && !names_thread && thread->now.state == EXTRACT_STATE_BLOCKED &&
        thread->wait == EXTRACT_WAIT_LOCK)
        thread_run(schedule, thread->now.thread, event->ticks, event->core, false);
    switch (role->role) {
    case EXTRACT_ROLE_LOCK_GET:
        add_holder(schedule, lock, &user, event->ticks);
        break;
    case EXTRACT_ROLE_LOCK_RELEASE:
        remove_holder(schedule, lock, is_new, &user, event->ticks);
        return;
    default:
        break;
    }
    uint64_t spins_on = role->role == EXTRACT_ROLE_LOCK_MISS ? address : 0;
    if (thread)
        set_spinning(schedule, thread, spins_on, event->ticks);
    else
        schedule->cores[event->core].spins_on[nesting_slot(&schedule->cores[event->core])] =
            spins_on;
}

void schedule_lock_note_holder(struct schedule *schedule, uint64_t address,
                               struct extract_state *state)
{
    uint32_t index = extract_map_get(&schedule->lock_map, address);
    const struct lock *lock = index ? &schedule->locks[index - 1] : NULL;

    if (!lock || !lock->holder_count)
        return;
    state->holder = lock->holders[0].thread;
    state->holder_in_isr = !state->holder;
    state->holder_isr_known = state->holder_in_isr && lock->holders[0].isr_known;
    state->holder_isr = state->holder_isr_known ? lock->holders[0].isr : 0;
}

bool schedule_lock_freed(struct schedule *schedule, uint64_t address, uint64_t since, uint64_t *at)
{
    uint32_t index = extract_map_get(&schedule->lock_map, address);
    const struct lock *lock = index ? &schedule->locks[index - 1] : NULL;

    if (!lock || !lock->was_freed || lock->freed_at < since)
        return false;
    *at = lock->freed_at;
    return true;
}

void schedule_locks_end(struct schedule *schedule, uint64_t at)
{
    for (size_t i = 0; i < schedule->lock_count; i++) {
        const struct lock *lock = &schedule->locks[i];
        if (lock->holder_count)
            send_owner(schedule, lock->address, &lock->holders[0], lock->owned_from, at);
    }
    extract_map_free(&schedule->lock_map);
    schedule->failed |= !extract_map_init(&schedule->lock_map, 16);
    schedule->lock_count = 0;
    schedule->locks_from = at;
}
