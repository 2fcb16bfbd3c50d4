// SPDX-License-Identifier: MIT
// posix: trace ids, their targets, and the life of both.
//
// The functions of <trace.h> name a stream by a number that is valid in the whole process. So this
// table belongs to the process: it holds the only variables of this directory.
//
// A trace id consists of a slot number and of a generation, so an id that was shut down is not
// valid for the next trace in its slot:
//
//   trace id:   │ generation of the slot │ slot + 1 │
//                31                    8   7      0
//
// A trace lives until its last user leaves it. Each call is a user.
//
//   posix_table_add        posix_end                    last user leaves
//   ───────────────► IN TABLE ─────► OVER, finished ──────────────────────► freed
//                     │   ▲            no id; waits end with EINVAL
//        posix_enter  │   │ posix_leave
//                     ▼   │
//                    IN USE (users > 0, target locked)
//
// A target lives until its last trace is freed; an attached one also until it is detached.
//
// After a fork, the child controls nothing. Its copies of the traces are freed, but not finished:
// the streams are the parent's. A target that a thread of the parent was using during the fork may
// be inconsistent in the child, so it is not touched at all.
#include "posix/posix_room.h"
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { TABLE_SLOTS = 255 };

static struct table {
    pthread_mutex_t lock;
    pthread_cond_t left; // a user has left a trace or a target
    struct posix_trace *slots[TABLE_SLOTS];
    uint32_t generations[TABLE_SLOTS]; // of the slots
    struct posix_target *targets;
    pid_t process; // process that owns the traces
} table = {.lock = PTHREAD_MUTEX_INITIALIZER, .left = PTHREAD_COND_INITIALIZER};

static pthread_once_t table_once = PTHREAD_ONCE_INIT;

// ---- exit and fork ----

// Ends the trace in a slot if it is one of `target`; NULL stands for any target.
static void end_slot(unsigned slot, const struct posix_target *target)
{
    struct posix_use use;

    pthread_mutex_lock(&table.lock);
    const struct posix_trace *trace = table.slots[slot];
    trace_id_t id = trace && (!target || trace->target == target) ? trace->id : 0;
    pthread_mutex_unlock(&table.lock);
    if (id && !posix_enter(&use, id, POSIX_ALL))
        posix_end(&use);
}

// Ends all traces when the process exits, so that their logs are complete.
static void end_all_traces(void)
{
    for (unsigned i = 0; i < TABLE_SLOTS && getpid() == table.process; i++)
        end_slot(i, NULL);
}

// The table is locked across a fork, so the child's copy of it is consistent. The targets' locks
// are not taken: a thread may hold one for as long as a broken link takes.
static void lock_before_fork(void)
{
    pthread_mutex_lock(&table.lock);
}

static void unlock_in_parent(void)
{
    pthread_mutex_unlock(&table.lock);
}

// Returns whether no thread of the parent was using the target during the fork.
static bool was_idle(struct posix_target *target)
{
    bool idle = !pthread_mutex_trylock(&target->lock);

    if (idle)
        pthread_mutex_unlock(&target->lock);
    return idle;
}

// Frees what the child inherited, without finishing it. The table gets a new lock and a new
// condition: threads of the parent that waited for the old ones do not exist in the child.
static void free_in_child(void)
{
    pthread_mutex_init(&table.lock, NULL);
    pthread_cond_init(&table.left, NULL);
    table.process = getpid();
    for (unsigned i = 0; i < TABLE_SLOTS; i++) {
        struct posix_trace *trace = table.slots[i];
        table.slots[i] = NULL;
        if (trace && was_idle(trace->target))
            trace->ops->free(trace);
    }
    while (table.targets) {
        struct posix_target *target = table.targets;
        table.targets = target->next;
        if (was_idle(target))
            posix_target_free(target);
    }
}

static void set_up_process(void)
{
    table.process = getpid();
    pthread_atfork(lock_before_fork, unlock_in_parent, free_in_child);
    atexit(end_all_traces);
}

static void lock_table(void)
{
    pthread_once(&table_once, set_up_process);
    pthread_mutex_lock(&table.lock);
}

// ---- trace ids ----

// A slot's generation is incremented each time the slot is used, so the ids of two traces that used
// the same slot differ. The slot number is stored plus 1, so no id is 0.
int posix_table_add(struct posix_trace *trace, trace_id_t *id)
{
    unsigned slot = 0;

    lock_table();
    while (slot < TABLE_SLOTS && table.slots[slot])
        slot++;
    int error = trace->target->is_detached ? ESRCH : slot < TABLE_SLOTS ? 0 : EAGAIN;
    if (!error) {
        table.generations[slot]++;
        *id = trace->id = table.generations[slot] << 8 | (slot + 1);
        table.slots[slot] = trace;
    }
    pthread_mutex_unlock(&table.lock);
    return error;
}

// Returns the trace with that id; NULL if there is none. The table is locked.
static struct posix_trace *find_trace(trace_id_t id)
{
    unsigned slot = (id & 0xFF) - 1;
    struct posix_trace *trace = slot < TABLE_SLOTS ? table.slots[slot] : NULL;

    return trace && trace->id == id ? trace : NULL;
}

// Counts one user less and wakes a thread that waits for the last one.
static void leave_trace(struct posix_trace *trace)
{
    pthread_mutex_lock(&table.lock);
    trace->users--;
    pthread_cond_broadcast(&table.left);
    pthread_mutex_unlock(&table.lock);
}

// The table is unlocked before the target is locked: a target may be locked for as long as a read
// of its memory takes, and other targets must not wait for that. The trace cannot be freed in
// between, since the caller counts as its user.
int posix_enter(struct posix_use *use, trace_id_t id, unsigned kinds)
{
    lock_table();
    use->trace = find_trace(id);
    if (use->trace && !(use->trace->kind & kinds))
        use->trace = NULL;
    if (use->trace)
        use->trace->users++;
    pthread_mutex_unlock(&table.lock);
    if (!use->trace)
        return EINVAL;
    // The caller holds locks from here on, so it must not be canceled except while it waits.
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &use->cancel_state);
    int error = posix_resume(use);
    if (error)
        posix_leave(use);
    return error;
}

void posix_leave(struct posix_use *use)
{
    posix_pause(use);
    leave_trace(use->trace);
    pthread_setcancelstate(use->cancel_state, NULL);
}

void posix_pause(struct posix_use *use)
{
    posix_target_unlock(use->trace->target);
}

int posix_resume(struct posix_use *use)
{
    posix_target_lock(use->trace->target);
    return use->trace->is_over ? EINVAL : 0;
}

// The trace is finished while the target is locked, then its id is removed. Calls that wait for the
// target find `is_over` set when they get the lock, and leave. The last of them lets the trace be
// freed.
int posix_end(struct posix_use *use)
{
    struct posix_trace *trace = use->trace;

    trace->is_over = true;
    if (trace->waker_fd >= 0)
        eventfd_write(trace->waker_fd, 1);
    int error = trace->ops->finish(trace);
    // The slot is cleared while the target is locked: no slot holds a trace that is finished.
    pthread_mutex_lock(&table.lock);
    table.slots[(trace->id & 0xFF) - 1] = NULL;
    pthread_mutex_unlock(&table.lock);
    posix_pause(use);
    pthread_mutex_lock(&table.lock);
    while (trace->users > 1)
        pthread_cond_wait(&table.left, &table.lock);
    pthread_mutex_unlock(&table.lock);
    trace->ops->free(trace);
    pthread_setcancelstate(use->cancel_state, NULL);
    return error;
}

// ---- targets ----

static struct posix_target *find_target(pid_t pid)
{
    struct posix_target *target = table.targets;

    while (target && target->pid != pid)
        target = target->next;
    return target;
}

static void link_target(struct posix_target *target)
{
    target->next = table.targets;
    table.targets = target;
}

// A target whose process has ended stays in the list for the traces that it still has. A new
// process with the same id gets a target of its own.
int posix_target_acquire(struct posix_target **target, pid_t pid)
{
    int error = 0;

    lock_table();
    *target = find_target(pid);
    if (*target && posix_target_is_alive(*target))
        (*target)->users++;
    else if (!(error = posix_target_open(target, pid)))
        link_target(*target);
    pthread_mutex_unlock(&table.lock);
    return error;
}

static void unlink_target(const struct posix_target *target)
{
    struct posix_target **link = &table.targets;

    while (*link && *link != target)
        link = &(*link)->next;
    if (*link)
        *link = target->next;
}

void posix_target_release(struct posix_target *target)
{
    lock_table();
    if (!--target->users) {
        unlink_target(target);
        posix_target_free(target);
    }
    pthread_cond_broadcast(&table.left);
    pthread_mutex_unlock(&table.lock);
}

// An attached target hides a program with the same process id, since it comes first in the list.
int posix_target_add(struct posix_target *target)
{
    lock_table();
    struct posix_target *other = find_target(target->pid);
    bool free = !other || !other->is_attached;
    if (free)
        link_target(target);
    pthread_mutex_unlock(&table.lock);
    return free ? 0 : EEXIST;
}

bool posix_stream_is_used(const struct posix_target *target, unsigned stream)
{
    bool used = false;

    lock_table();
    for (unsigned i = 0; i < TABLE_SLOTS; i++) {
        const struct posix_trace *trace = table.slots[i];
        used = used || (trace && trace->target == target && trace->stream == stream);
    }
    pthread_mutex_unlock(&table.lock);
    return used;
}

// Waits for calls that still use the target.
static void wait_for_target(struct posix_target *target)
{
    int cancel;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pthread_mutex_lock(&table.lock);
    while (target->users > 1)
        pthread_cond_wait(&table.left, &table.lock);
    pthread_mutex_unlock(&table.lock);
    pthread_setcancelstate(cancel, NULL);
}

// The target is removed from the list first, so no new trace is made of it. Its traces are then
// ended one by one, and calls that still hold it are waited for. After that, the caller may free
// its memory.
int posix_target_detach(pid_t pid)
{
    lock_table();
    struct posix_target *target = find_target(pid);
    if (target && !target->is_attached)
        target = NULL;
    if (target) {
        unlink_target(target);
        target->is_detached = true;
    }
    pthread_mutex_unlock(&table.lock);
    if (!target)
        return ESRCH;
    for (unsigned i = 0; i < TABLE_SLOTS; i++)
        end_slot(i, target);
    wait_for_target(target);
    posix_target_release(target);
    return 0;
}
