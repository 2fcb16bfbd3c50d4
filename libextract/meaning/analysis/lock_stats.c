// SPDX-License-Identifier: MIT
// analysis: locks, by the events that a role file names.
//
//   thread T    miss      miss      wait              get                  release
//            ----+---------+---------+-----------------+----------------------+----
//                |       spun        |     waited      |         held         |
//
// A lock may have several holders at a time, as locks for readers do. A thread that gets a lock
// again holds it until it has released it as often.
//
// Events may state from where a lock's functions were called. Then everything is also summed up for
// each calling function, which the symbols of the firmware name.
// Source: what AIX's manual "Performance Tools Guide and Reference" says of the report of splat.
#include "analysis/analysis_room.h"
#include "base/grow.h"
#include <stdlib.h>
#include <string.h>

enum {
    MAX_USERS = 64,     // of a lock at a time; the times of others are not measured
    MAX_LISTED = 256,   // threads of a lock; others are not listed
    MAX_FUNCTIONS = 256 // functions that use a lock; others are not listed
};

enum want { WANTS_NOT = 0, SPINS, WAITS };

// A thread that holds a lock or wants it.
struct lock_user {
    uint64_t thread;
    size_t index;  // of the thread in the statistics; SIZE_MAX: none
    size_t listed; // of its line in the lock's statistics; SIZE_MAX: none
    enum want want;
    uint64_t wanted_from, held_from;
    uint64_t wanted_ran, held_ran; // how long the thread had run by then
    unsigned holds;                // how often it has it
    size_t wanted_by, held_by;     // functions, in the lock's statistics; SIZE_MAX: none
};

struct lock_times {
    struct lock_user *users;
    size_t user_count, user_capacity, listed_capacity, function_capacity;
    struct distribution held, spun, waited;
};

struct locks {
    struct extract_map lock_of_address; // index + 1
    struct lock_times *times;           // per lock
    size_t lock_capacity, times_count, times_capacity;
    uint64_t *ran; // per thread of the statistics: how long it has run
};

bool locks_begin(struct analysis *analysis)
{
    struct locks *locks = analysis->locks = calloc(1, sizeof *locks);

    if (!locks)
        return false;
    locks->ran = calloc(analysis->stats->thread_count + 1, sizeof *locks->ran);
    return locks->ran && extract_map_init(&locks->lock_of_address, 16);
}

void locks_free(struct analysis *analysis)
{
    struct locks *locks = analysis->locks;

    if (!locks)
        return;
    for (size_t i = 0; i < locks->times_count; i++) {
        distribution_free(&locks->times[i].held);
        distribution_free(&locks->times[i].spun);
        distribution_free(&locks->times[i].waited);
        free(locks->times[i].users);
    }
    free(locks->times);
    free(locks->ran);
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

// Returns the number of a thread's line in the statistics of a lock, which it adds if needed;
// SIZE_MAX: none.
static size_t find_line(struct analysis *analysis, size_t i, uint64_t thread, size_t index)
{
    struct extract_lock_stats *lock = &analysis->stats->locks[i];
    bool is_interrupts = ~thread < MAX_CORES;
    uint64_t address = is_interrupts ? ~thread : thread;

    for (size_t k = 0; k < lock->user_count; k++)
        if (lock->users[k].address == address && lock->users[k].is_interrupts == is_interrupts)
            return k;
    if (lock->user_count == MAX_LISTED) {
        lock->has_more_users = true;
        return SIZE_MAX;
    }
    struct extract_lock_user_stats *users = extract_grow(
        lock->users, &analysis->locks->times[i].listed_capacity, lock->user_count, sizeof *users);
    if (!users) {
        analysis->failed = true;
        return SIZE_MAX;
    }
    lock->users = users;
    users[lock->user_count] = (struct extract_lock_user_stats){
        .address = address,
        .is_interrupts = is_interrupts,
        .thread = index == SIZE_MAX ? NULL : analysis->stats->threads[index].thread};
    return lock->user_count++;
}

// Fills in the function from which a lock's function was called. Without a name, the addresses of
// calls from the same function are different functions.
static void name_function(const struct analysis *analysis, uint64_t caller,
                          struct extract_lock_function_stats *function)
{
    struct extract_symbols *symbols = extract_trace_symbols(analysis->trace);
    const struct extract_ring *ring = &extract_trace_snapshot(analysis->trace)->ring;
    struct extract_symbol symbol;

    *function = (struct extract_lock_function_stats){.address = caller, .is_known = caller != 0};
    if (!caller || !symbols ||
        !extract_symbols_by_address(symbols, extract_ring_address(ring, caller), &symbol, NULL,
                                    NULL) ||
        !symbol.function)
        return;
    function->name = symbol.name;
    function->address = symbol.address;
}

// Returns the number of a function's line in the statistics of a lock, which it adds if needed;
// SIZE_MAX: none.
static size_t find_function(struct analysis *analysis, size_t i, uint64_t caller)
{
    struct extract_lock_stats *lock = &analysis->stats->locks[i];
    struct extract_lock_function_stats function;

    name_function(analysis, caller, &function);
    for (size_t k = 0; k < lock->function_count; k++)
        if (lock->functions[k].address == function.address &&
            lock->functions[k].name == function.name)
            return k;
    if (lock->function_count == MAX_FUNCTIONS) {
        lock->has_more_functions = true;
        return SIZE_MAX;
    }
    struct extract_lock_function_stats *functions =
        extract_grow(lock->functions, &analysis->locks->times[i].function_capacity,
                     lock->function_count, sizeof *functions);
    if (!functions) {
        analysis->failed = true;
        return SIZE_MAX;
    }
    lock->functions = functions;
    functions[lock->function_count] = function;
    return lock->function_count++;
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
    size_t index = analysis_thread(analysis, thread);
    users[times->user_count] =
        (struct lock_user){.thread = thread,
                           .index = index,
                           .listed = find_line(analysis, lock, thread, index),
                           .wanted_by = SIZE_MAX,
                           .held_by = SIZE_MAX};
    return &users[times->user_count++];
}

// ---- times ----

// Returns how long a thread has run. Of interrupts, and of a thread that the trace does not know,
// it is the time itself.
static uint64_t ran_until(const struct analysis *analysis, const struct lock_user *user,
                          uint64_t ticks)
{
    return user->index == SIZE_MAX ? ticks : analysis->locks->ran[user->index];
}

static void add_time(struct analysis *analysis, struct distribution *distribution, uint64_t ticks)
{
    if (!distribution_add(distribution, ticks))
        analysis->failed = true;
}

// Returns the statistics of a function; `none` if it is not listed.
static struct extract_lock_function_stats *function_at(struct analysis *analysis, size_t lock,
                                                       size_t function,
                                                       struct extract_lock_function_stats *none)
{
    return function == SIZE_MAX ? none : &analysis->stats->locks[lock].functions[function];
}

// Changes how a thread wants a lock, and adds the time for which it has wanted it in another way.
static void set_want(struct analysis *analysis, size_t lock, struct lock_user *user, uint64_t at,
                     enum want want, size_t function, struct extract_lock_user_stats *sums)
{
    struct lock_times *times = &analysis->locks->times[lock];
    uint64_t ran = ran_until(analysis, user, at);
    uint64_t spun = ran - user->wanted_ran, waited = at - user->wanted_from;
    struct extract_lock_function_stats none = {.name = NULL};

    if (user->want == want)
        return;
    if (at < user->wanted_from || ran < user->wanted_ran)
        sums = NULL; // time stepped back: how long it was is not known
    if (user->want == SPINS && sums) {
        add_time(analysis, &times->spun, spun);
        sums->spun_ticks += spun;
        function_at(analysis, lock, user->wanted_by, &none)->spun_ticks += spun;
    } else if (user->want == WAITS && sums) {
        add_time(analysis, &times->waited, waited);
        sums->waited_ticks += waited;
        function_at(analysis, lock, user->wanted_by, &none)->waited_ticks += waited;
    }
    user->want = want;
    user->wanted_by = function;
    user->wanted_from = at;
    user->wanted_ran = ran;
}

// Adds a hold to the function that got the lock.
static void add_hold(struct extract_lock_function_stats *function, uint64_t held, uint64_t ran)
{
    if (!function->holds || held < function->held_min)
        function->held_min = held;
    if (held > function->held_max)
        function->held_max = held;
    function->holds++;
    function->held_ticks += held;
    function->running_ticks += ran;
}

static void release(struct analysis *analysis, size_t lock, struct lock_user *user, uint64_t at,
                    struct extract_lock_user_stats *sums)
{
    uint64_t ran_at = ran_until(analysis, user, at);
    uint64_t held = at - user->held_from, ran = ran_at - user->held_ran;
    bool is_known = at >= user->held_from && ran_at >= user->held_ran; // time did not step back
    struct extract_lock_function_stats none = {.name = NULL};

    if (user->holds == 1 && sums && is_known) {
        add_time(analysis, &analysis->locks->times[lock].held, held);
        analysis->stats->locks[lock].running_ticks += ran;
        sums->held_ticks += held;
        sums->running_ticks += ran;
        add_hold(function_at(analysis, lock, user->held_by, &none), held, ran);
    }
    user->holds -= user->holds != 0;
}

// Counts an event in what has the same four members: a lock, a thread or a function.
#define COUNT_EVENT(counts, role)                                                                  \
    do {                                                                                           \
        (counts)->acquisitions += (role) == EXTRACT_ROLE_LOCK_GET;                                 \
        (counts)->misses += (role) == EXTRACT_ROLE_LOCK_MISS;                                      \
        (counts)->waits += (role) == EXTRACT_ROLE_LOCK_WAIT;                                       \
        (counts)->busy += (role) == EXTRACT_ROLE_LOCK_BUSY;                                        \
    } while (0)

// Notes how many threads want a lock at a time, and how often the thread has it.
static void note_most(struct extract_lock_stats *lock, const struct lock_times *times,
                      const struct lock_user *user)
{
    unsigned spin = 0, wait = 0;

    for (size_t i = 0; i < times->user_count; i++) {
        spin += times->users[i].want == SPINS;
        wait += times->users[i].want == WAITS;
    }
    lock->most_spinning = spin > lock->most_spinning ? spin : lock->most_spinning;
    lock->most_waiting = wait > lock->most_waiting ? wait : lock->most_waiting;
    lock->most_holds = user->holds > lock->most_holds ? user->holds : lock->most_holds;
}

// Follows a thread through an event of a lock, in a function that uses it.
static void follow_user(struct analysis *analysis, size_t i, struct lock_user *user,
                        const struct extract_event *event, enum extract_role role, size_t function,
                        bool is_counted)
{
    static const enum want wants[] = {[EXTRACT_ROLE_LOCK_MISS - EXTRACT_ROLE_LOCK_GET] = SPINS,
                                      [EXTRACT_ROLE_LOCK_WAIT - EXTRACT_ROLE_LOCK_GET] = WAITS};
    struct extract_lock_stats *lock = &analysis->stats->locks[i];
    struct lock_times *times = &analysis->locks->times[i];
    struct extract_lock_user_stats unlisted = {.address = 0};
    struct extract_lock_user_stats *line =
        user->listed == SIZE_MAX ? &unlisted : &lock->users[user->listed];
    struct extract_lock_user_stats *sums = is_counted ? line : NULL;

    if (is_counted)
        COUNT_EVENT(line, role);
    if (role == EXTRACT_ROLE_LOCK_RELEASE) {
        release(analysis, i, user, event->ticks, sums);
    } else {
        enum want want =
            role == EXTRACT_ROLE_LOCK_BUSY ? WANTS_NOT : wants[role - EXTRACT_ROLE_LOCK_GET];
        set_want(analysis, i, user, event->ticks, want, function, sums);
    }
    if (role == EXTRACT_ROLE_LOCK_GET && !user->holds++) {
        user->held_from = event->ticks;
        user->held_ran = ran_until(analysis, user, event->ticks);
        user->held_by = function;
    }
    if (is_counted)
        note_most(lock, times, user);
    if (!user->holds && !user->want)
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
    size_t function = role->role == EXTRACT_ROLE_LOCK_RELEASE
                          ? SIZE_MAX
                          : find_function(analysis, i, extract_role_field(event, role->caller));
    if (is_counted)
        COUNT_EVENT(lock, role->role);
    if (is_counted && function != SIZE_MAX)
        COUNT_EVENT(&lock->functions[function], role->role);
    uint64_t thread = role->thread ? extract_role_field(event, role->thread) : event->thread;
    if (event->context == EXTRACT_ISR && !role->thread)
        thread = ~(uint64_t)event->core; // the interrupts of a core use locks like one thread
    struct lock_user *user = thread ? find_user(analysis, i, thread) : NULL;
    if (user)
        follow_user(analysis, i, user, event, role->role, function, is_counted);
}

void locks_add_step(struct analysis *analysis, const struct schedule_step *step)
{
    const struct extract_interval *interval = &step->interval;
    size_t i = interval->runner == EXTRACT_RUNNER_THREAD
                   ? analysis_thread(analysis, interval->thread)
                   : SIZE_MAX;

    if (i != SIZE_MAX)
        analysis->locks->ran[i] += interval->to - interval->from;
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

static int compare_users(const void *a, const void *b)
{
    const struct extract_lock_user_stats *x = a, *y = b;

    if (x->held_ticks != y->held_ticks)
        return x->held_ticks < y->held_ticks ? 1 : -1;
    return (x->address > y->address) - (x->address < y->address);
}

static int compare_functions(const void *a, const void *b)
{
    const struct extract_lock_function_stats *x = a, *y = b;

    if (x->held_ticks != y->held_ticks)
        return x->held_ticks < y->held_ticks ? 1 : -1;
    return (x->address > y->address) - (x->address < y->address);
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
        stats->locks[i].spun = distribution_result(&analysis->locks->times[i].spun);
        stats->locks[i].waited = distribution_result(&analysis->locks->times[i].waited);
        if (stats->locks[i].user_count)
            qsort(stats->locks[i].users, stats->locks[i].user_count, sizeof *stats->locks[i].users,
                  compare_users);
        if (stats->locks[i].function_count)
            qsort(stats->locks[i].functions, stats->locks[i].function_count,
                  sizeof *stats->locks[i].functions, compare_functions);
    }
    if (stats->lock_count)
        qsort(stats->locks, stats->lock_count, sizeof *stats->locks, compare_locks);
}
