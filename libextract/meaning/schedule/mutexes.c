// SPDX-License-Identifier: MIT
// schedule: who holds which mutex. Calls to get and to put a mutex come in, with the owner that the
// kernel recorded; times of ownership go out.
//
// A put that releases a mutex frees it, unless the kernel hands it over to a thread that waits:
// then the resumption of that thread follows in the same context, and the mutex was never free. So
// a release is held back in the thread that made it, until the thread's next event, or until
// another thread's call shows that the mutex is free. If resumptions were not recorded, the owner
// is unknown from the release to the next call.
#include "base/grow.h"
#include "schedule/schedule_room.h"

static struct mutex *find_mutex(struct schedule *schedule, uint64_t address)
{
    if (address && address == schedule->recent_mutex)
        return &schedule->mutexes[schedule->recent_mutex_index];
    uint32_t *index = address ? extract_map_at(&schedule->mutex_map, address) : NULL;

    if (index && *index) {
        schedule->recent_mutex = address;
        schedule->recent_mutex_index = *index - 1;
        return &schedule->mutexes[*index - 1];
    }
    struct mutex *grown = index ? extract_grow(schedule->mutexes, &schedule->mutex_capacity,
                                               schedule->mutex_count, sizeof *grown)
                                : NULL;
    if (!grown) {
        schedule->failed |= address != 0;
        return NULL;
    }
    schedule->mutexes = grown;
    struct mutex *mutex = &grown[schedule->mutex_count++];
    *mutex = (struct mutex){.now = {.mutex = address}};
    *index = (uint32_t)schedule->mutex_count;
    return mutex;
}

static void send_owner(const struct schedule *schedule, const struct mutex *mutex, uint64_t to)
{
    struct extract_ownership owner = mutex->now;

    owner.to = to;
    if (mutex->is_known && schedule->sink->owner && schedule_clip(schedule, &owner.from, &owner.to))
        schedule->sink->owner(schedule->sink->context, &owner);
}

// Notes the owner of a mutex from a time on; 0: it is free, or the owner is not known.
static void change_owner(struct schedule *schedule, struct mutex *mutex, uint64_t thread,
                         uint64_t at, bool is_known)
{
    const struct schedule_observer *observer = schedule->observer;
    bool was_known = mutex->is_known;

    mutex->now.from = at;
    mutex->now.thread = thread;
    mutex->is_known = is_known;
    mutex->releaser = NULL;
    if (observer->owned)
        observer->owned(observer->context, mutex->now.mutex, thread, was_known && is_known);
}

static void set_owner(struct schedule *schedule, uint64_t address, uint64_t thread, uint64_t at)
{
    struct mutex *mutex = find_mutex(schedule, address);

    if (!mutex || (mutex->is_known && mutex->now.thread == thread))
        return;
    send_owner(schedule, mutex, at);
    change_owner(schedule, mutex, thread, at, true);
}

// Notes who owns a mutex by a call that did not change it. If the owner was not known, nobody else
// has had the mutex since the start. If another was, a change was not recorded, and what was known
// is not sent.
static void confirm_owner(struct schedule *schedule, uint64_t address, uint64_t thread, uint64_t at)
{
    struct mutex *mutex = find_mutex(schedule, address);

    if (!mutex || (mutex->is_known && mutex->now.thread == thread))
        return;
    const struct thread *owner = schedule_thread(schedule, thread);
    uint64_t since = owner && owner->mutex_since > schedule->board->start ? owner->mutex_since
                                                                          : schedule->board->start;
    since = since > mutex->since ? since : mutex->since;
    if (mutex->is_known || schedule->lacks_moves)
        since = at;
    mutex->is_known = false; // until now
    change_owner(schedule, mutex, thread, since, true);
}

static void forget_owner(struct schedule *schedule, uint64_t address, uint64_t at)
{
    struct mutex *mutex = find_mutex(schedule, address);

    if (!mutex)
        return;
    send_owner(schedule, mutex, at);
    change_owner(schedule, mutex, 0, at, false);
}

// Returns the thread that has released a mutex and may hand it over; NULL: none.
static struct thread *find_releaser(struct schedule *schedule, uint64_t address)
{
    const struct mutex *mutex = find_mutex(schedule, address);
    struct thread *releaser = mutex ? mutex->releaser : NULL;

    return releaser && releaser->released == address ? releaser : NULL;
}

void mutexes_hand_over(struct schedule *schedule, struct thread *from, uint64_t to, uint64_t at)
{
    if (find_releaser(schedule, from->released) == from) // nothing else has happened to it
        set_owner(schedule, from->released, to, to ? at : from->released_at);
    from->released = 0;
}

// Notes that a thread has released a mutex of its own, or one of a thread that has ended. Nobody
// else can release it. If calls about threads were left out, it is not known which threads have
// ended.
static void release(struct schedule *schedule, const struct extract_event *event, uint64_t address,
                    uint64_t owner)
{
    struct thread *thread = schedule_thread(schedule, event->thread);
    struct mutex *mutex = find_mutex(schedule, address);

    bool is_own = owner == event->thread;
    bool is_of_ended = !is_own && thread_has_ended(schedule, owner);
    bool may_have_ended = !is_own && schedule->lacks_thread_calls;
    if (!thread || !mutex || !(is_own || is_of_ended || may_have_ended))
        return;
    if (schedule->lacks_moves || (may_have_ended && !is_of_ended)) {
        forget_owner(schedule, address, event->ticks);
        return;
    }
    thread->released = address;
    thread->released_at = event->ticks;
    mutex->releaser = thread;
}

void mutexes_add_call(struct schedule *schedule, const struct extract_event *event,
                      const struct extract_role_fields *role)
{
    uint64_t address = extract_role_field(event, role->object);
    uint64_t owner = extract_role_field(event, role->owner);
    uint64_t count = extract_role_field(event, role->count);

    uint64_t getter = role->thread ? extract_role_field(event, role->thread) : event->thread;

    if (event->context != EXTRACT_THREAD)
        return;
    struct thread *releaser =
        !count || schedule->has_silent_switches ? find_releaser(schedule, address) : NULL;
    if (releaser && count && owner != find_mutex(schedule, address)->now.thread)
        return;             // another core is handing it over
    if (releaser && !count) // it is free
        mutexes_hand_over(schedule, releaser, 0, event->ticks);
    confirm_owner(schedule, address, count ? owner : 0, event->ticks);
    if (role->role == EXTRACT_ROLE_MUTEX_GET) {
        if (!count)
            set_owner(schedule, address, getter, event->ticks);
        return;
    }
    if (role->frees) {
        set_owner(schedule, address, 0, event->ticks);
        return;
    }
    if (count == 1)
        release(schedule, event, address, owner);
}

void mutexes_add_life(struct schedule *schedule, const struct extract_event *event,
                      const struct extract_role_fields *role)
{
    struct mutex *mutex = find_mutex(schedule, extract_role_field(event, role->object));

    if (!mutex)
        return;
    const struct thread *releaser = find_releaser(schedule, mutex->now.mutex);
    if (releaser) // whether it has handed the mutex over will not be known
        forget_owner(schedule, mutex->now.mutex, releaser->released_at);
    send_owner(schedule, mutex, event->ticks);
    mutex->since = event->ticks;
    change_owner(schedule, mutex, 0, event->ticks, role->role == EXTRACT_ROLE_MUTEX_CREATE);
}

void mutexes_add_wait(struct schedule *schedule, const struct extract_event *event,
                      const struct extract_role_fields *role)
{
    uint64_t owner = extract_role_field(event, role->owner);

    if (owner)
        confirm_owner(schedule, extract_role_field(event, role->object), owner, event->ticks);
}

void mutexes_end(struct schedule *schedule, uint64_t at)
{
    // Whether a mutex that was released last is handed over will not be known.
    for (size_t i = 0; i < schedule->thread_count; i++) {
        const struct thread *thread = schedule->threads[i];
        struct mutex *mutex = find_mutex(schedule, thread->released);
        if (find_releaser(schedule, thread->released) != thread)
            continue;
        send_owner(schedule, mutex, thread->released_at);
        mutex->is_known = false;
    }
    for (size_t i = 0; i < schedule->mutex_count; i++)
        send_owner(schedule, &schedule->mutexes[i], at);
    extract_map_free(&schedule->mutex_map);
    schedule->failed |= !extract_map_init(&schedule->mutex_map, 16);
    schedule->mutex_count = 0;
    schedule->recent_mutex = 0;
}
