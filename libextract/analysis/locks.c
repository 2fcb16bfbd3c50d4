// SPDX-License-Identifier: MIT
// analysis: locks, by the events that a role file names.
//
//   thread T    miss    wait              get                  release
//            ----+-------+-----------------+----------------------+----
//                |        waited           |         held         |
//
// A lock may have several holders at a time, as locks for readers do. A thread that gets a lock
// again holds it until it has released it as often.
// Source: what AIX's manual "Performance Tools Guide and Reference" says of the report of splat.
#include "analysis/internal.h"
#include "base/grow.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_USERS = 64 }; // of a lock at a time; the times of others are not measured

// A thread that holds a lock or wants it.
struct lock_user {
    uint64_t thread;
    uint64_t held_from, wanted_from;
    unsigned holds; // how often it has it
    bool wants;
};

struct lock_times {
    struct lock_user *users;
    size_t user_count, user_capacity;
    struct distribution held, waited;
};

struct locks {
    struct extract_map lock_of_address; // index + 1
    struct lock_times *times;           // per lock
    size_t lock_capacity, times_count, times_capacity;
};

bool locks_begin(struct analysis *analysis)
{
    analysis->locks = calloc(1, sizeof *analysis->locks);
    return analysis->locks && extract_map_init(&analysis->locks->lock_of_address, 16);
}

void locks_free(struct analysis *analysis)
{
    struct locks *locks = analysis->locks;

    if (!locks)
        return;
    for (size_t i = 0; i < locks->times_count; i++) {
        distribution_free(&locks->times[i].held);
        distribution_free(&locks->times[i].waited);
        free(locks->times[i].users);
    }
    free(locks->times);
    extract_map_free(&locks->lock_of_address);
    free(locks);
}

// Returns the index of a lock, which it adds if needed; SIZE_MAX: out of memory.
static size_t find_lock(struct analysis *analysis, uint64_t address)
{
    struct locks *locks = analysis->locks;
    struct extract_stats *stats = analysis->stats;
    uint32_t *index = extract_map_at(&locks->lock_of_address, address);

    if (index && *index)
        return *index - 1;
    struct extract_lock_stats *list =
        index ? extract_grow(stats->locks, &locks->lock_capacity, stats->lock_count, sizeof *list)
              : NULL;
    if (list)
        stats->locks = list;
    struct lock_times *times =
        list ? extract_grow(locks->times, &locks->times_capacity, locks->times_count, sizeof *times)
             : NULL;
    if (!times) {
        analysis->failed = true;
        return SIZE_MAX;
    }
    locks->times = times;
    times[locks->times_count++] = (struct lock_times){.users = NULL};
    list[stats->lock_count++] = (struct extract_lock_stats){
        .address = address, .object = extract_trace_object(analysis->trace, address)};
    *index = (uint32_t)stats->lock_count;
    return stats->lock_count - 1;
}

// Returns what is known of a thread and a lock, which it adds if needed; NULL: it is not followed.
static struct lock_user *find_user(struct analysis *analysis, size_t lock, uint64_t thread)
{
    struct lock_times *times = &analysis->locks->times[lock];

    for (size_t i = 0; i < times->user_count; i++)
        if (times->users[i].thread == thread)
            return &times->users[i];
    if (times->user_count == MAX_USERS) {
        analysis->stats->locks[lock].has_more_users = true;
        return NULL;
    }
    struct lock_user *users =
        extract_grow(times->users, &times->user_capacity, times->user_count, sizeof *users);
    if (!users) {
        analysis->failed = true;
        return NULL;
    }
    times->users = users;
    users[times->user_count] = (struct lock_user){.thread = thread};
    return &users[times->user_count++];
}

static void add_time(struct analysis *analysis, struct distribution *distribution, uint64_t from,
                     uint64_t to)
{
    if (!distribution_add(distribution, to > from ? to - from : 0))
        analysis->failed = true;
}

// Follows a thread through an event of a lock.
static void follow_user(struct analysis *analysis, size_t lock, struct lock_user *user,
                        const struct extract_event *event, enum extract_role role, bool is_counted)
{
    struct lock_times *times = &analysis->locks->times[lock];

    switch (role) {
    case EXTRACT_ROLE_LOCK_GET:
        if (user->wants && is_counted)
            add_time(analysis, &times->waited, user->wanted_from, event->ticks);
        user->wants = false;
        if (!user->holds++)
            user->held_from = event->ticks;
        break;
    case EXTRACT_ROLE_LOCK_MISS:
    case EXTRACT_ROLE_LOCK_WAIT:
        if (!user->wants)
            user->wanted_from = event->ticks;
        user->wants = true;
        break;
    case EXTRACT_ROLE_LOCK_RELEASE:
        if (user->holds == 1 && is_counted)
            add_time(analysis, &times->held, user->held_from, event->ticks);
        user->holds -= user->holds != 0;
        break;
    default: // EXTRACT_ROLE_LOCK_BUSY
        user->wants = false;
        break;
    }
    if (!user->holds && !user->wants)
        *user = times->users[--times->user_count];
}

void locks_add_event(struct analysis *analysis, const struct extract_event *event,
                     const struct extract_role_fields *role, bool is_counted)
{
    if (role->role < EXTRACT_ROLE_LOCK_GET || role->role > EXTRACT_ROLE_LOCK_RELEASE)
        return;
    size_t i = find_lock(analysis, extract_role_field(event, role->object));
    if (i == SIZE_MAX)
        return;
    struct extract_lock_stats *lock = &analysis->stats->locks[i];
    if (is_counted) {
        lock->acquisitions += role->role == EXTRACT_ROLE_LOCK_GET;
        lock->misses += role->role == EXTRACT_ROLE_LOCK_MISS;
        lock->waits += role->role == EXTRACT_ROLE_LOCK_WAIT;
        lock->busy += role->role == EXTRACT_ROLE_LOCK_BUSY;
    }
    uint64_t thread = role->thread ? extract_role_field(event, role->thread) : event->thread;
    if (event->context == EXTRACT_ISR && !role->thread)
        thread = ~(uint64_t)event->core; // the interrupts of a core use locks like one thread
    struct lock_user *user = thread ? find_user(analysis, i, thread) : NULL;
    if (user)
        follow_user(analysis, i, user, event, role->role, is_counted);
}

void locks_add_gap(struct analysis *analysis)
{
    struct locks *locks = analysis->locks;

    for (size_t i = 0; i < locks->times_count; i++) {
        struct lock_times *times = &locks->times[i];
        for (size_t k = 0; k < times->user_count; k++)
            analysis->stats->locks[i].still_held += times->users[k].holds != 0;
        times->user_count = 0;
    }
}

static int compare_locks(const void *a, const void *b)
{
    const struct extract_lock_stats *x = a, *y = b;

    if (x->held.sum != y->held.sum)
        return x->held.sum < y->held.sum ? 1 : -1;
    return (x->address > y->address) - (x->address < y->address);
}

void locks_end(struct analysis *analysis)
{
    struct extract_stats *stats = analysis->stats;

    locks_add_gap(analysis); // what is held now has no release
    for (size_t i = 0; i < stats->lock_count; i++) {
        stats->locks[i].held = distribution_result(&analysis->locks->times[i].held);
        stats->locks[i].waited = distribution_result(&analysis->locks->times[i].waited);
    }
    if (stats->lock_count)
        qsort(stats->locks, stats->lock_count, sizeof *stats->locks, compare_locks);
}
