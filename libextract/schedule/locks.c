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
// Interrupts that use a lock are not followed, unless their events name a thread.
#include "base/grow.h"
#include "schedule/internal.h"
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
    *lock =
        (struct lock){.address = address,
                      .owned_from = schedule->start > schedule->locks_from ? schedule->start
                                                                           : schedule->locks_from};
    *index = (uint32_t)schedule->lock_count;
    return lock;
}

static void send_owner(const struct schedule *schedule, uint64_t lock, uint64_t thread,
                       uint64_t from, uint64_t to)
{
    struct extract_ownership owner = {.from = from, .to = to, .mutex = lock, .thread = thread};

    if (from < to && schedule->sink->owner && schedule_clip(schedule, &owner.from, &owner.to))
        schedule->sink->owner(schedule->sink->context, &owner);
}

// ---- holders ----

static struct lock_holder *find_holder(struct lock *lock, uint64_t thread)
{
    for (unsigned i = 0; i < lock->holder_count; i++)
        if (lock->holders[i].thread == thread)
            return &lock->holders[i];
    return NULL;
}

static void add_holder(struct lock *lock, uint64_t thread, uint64_t at)
{
    struct lock_holder *holder = find_holder(lock, thread);

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
    lock->holders[lock->holder_count++] = (struct lock_holder){.thread = thread, .count = 1};
}

// Completes the time of an owner. Times of a lock never go back.
static void end_ownership(struct schedule *schedule, struct lock *lock, uint64_t thread,
                          uint64_t at)
{
    send_owner(schedule, lock->address, thread, lock->owned_from, at);
    lock->owned_from = at > lock->owned_from ? at : lock->owned_from;
}

static void remove_holder(struct schedule *schedule, struct lock *lock, bool is_new,
                          uint64_t thread, uint64_t at)
{
    struct lock_holder *holder = find_holder(lock, thread);

    if (!holder) {
        lock->others -= lock->others != 0;
        if (is_new) // it has had the lock since the start
            end_ownership(schedule, lock, thread, at);
    } else if (--holder->count) {
        return;
    } else {
        if (holder == lock->holders)
            end_ownership(schedule, lock, thread, at);
        size_t rest = lock->holder_count-- - (size_t)(holder - lock->holders) - 1;
        memmove(holder, holder + 1, rest * sizeof *holder);
    }
    if (lock->holder_count || lock->others)
        return;
    lock->freed_at = at;
    lock->was_freed = true;
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
    bool names_thread = role->thread != 0, is_new;
    struct thread *thread =
        names_thread ? schedule_thread(schedule, extract_role_field(event, role->thread))
        : event->context == EXTRACT_THREAD ? schedule_thread(schedule, event->thread)
                                           : NULL;
    struct lock *lock = address && thread ? find_lock(schedule, address, &is_new) : NULL;

    if (!lock)
        return;
    // No event has shown yet that the thread has the core again.
    if (!names_thread && thread->now.state == EXTRACT_STATE_BLOCKED &&
        thread->wait == EXTRACT_WAIT_LOCK)
        thread_run(schedule, thread->now.thread, event->ticks, event->core, false);
    switch (role->role) {
    case EXTRACT_ROLE_LOCK_GET:
        add_holder(lock, thread->now.thread, event->ticks);
        break;
    case EXTRACT_ROLE_LOCK_RELEASE:
        remove_holder(schedule, lock, is_new, thread->now.thread, event->ticks);
        return;
    default:
        break;
    }
    bool is_miss = role->role == EXTRACT_ROLE_LOCK_MISS;
    set_spinning(schedule, thread, is_miss ? address : 0, event->ticks);
}

uint64_t schedule_lock_owner(struct schedule *schedule, uint64_t address)
{
    uint32_t index = extract_map_get(&schedule->lock_map, address);
    const struct lock *lock = index ? &schedule->locks[index - 1] : NULL;

    return lock && lock->holder_count ? lock->holders[0].thread : 0;
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
            send_owner(schedule, lock->address, lock->holders[0].thread, lock->owned_from, at);
    }
    extract_map_free(&schedule->lock_map);
    schedule->failed |= !extract_map_init(&schedule->lock_map, 16);
    schedule->lock_count = 0;
    schedule->locks_from = at;
}
