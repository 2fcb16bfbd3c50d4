// SPDX-License-Identifier: MIT
// posix: trace ids, and the targets behind them.
// In: ids from callers. Out: traces, taken and locked.
//
// The functions of <trace.h> name streams by numbers that hold in the whole process, so their table
// is one of the process: this file has the only variables of the room.
#include "posix/internal.h"
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { TABLE_SLOTS = 255 };

static struct table {
    pthread_mutex_t lock;
    pthread_cond_t left; // somebody left a trace that is over
    struct posix_trace *slots[TABLE_SLOTS];
    uint32_t generations[TABLE_SLOTS];
    struct posix_target *targets;
    pid_t process; // whose they are
} table = {.lock = PTHREAD_MUTEX_INITIALIZER, .left = PTHREAD_COND_INITIALIZER};

static pthread_once_t table_once = PTHREAD_ONCE_INIT;

// ---- the process' end, and its children ----

// Ends the trace in that slot; of a `target`, if it is given, else whatever it is.
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

static void at_exit(void)
{
    for (unsigned i = 0; i < TABLE_SLOTS && getpid() == table.process; i++)
        end_slot(i, NULL);
}

static void before_fork(void)
{
    pthread_mutex_lock(&table.lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&table.lock);
}

// Whether no thread of the parent was at work on the target: else what it left in the child may be
// half done, and is not touched.
static bool was_idle(struct posix_target *target)
{
    bool idle = !pthread_mutex_trylock(&target->lock);
    if (idle)
        pthread_mutex_unlock(&target->lock);
    return idle;
}

// A child controls nothing: what its parent's ids stood for is the parent's alone. Nothing is
// finished here, only freed.
static void in_child(void)
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

static void begin(void)
{
    table.process = getpid();
    pthread_atfork(before_fork, in_parent, in_child);
    atexit(at_exit);
}

static void lock_table(void)
{
    pthread_once(&table_once, begin);
    pthread_mutex_lock(&table.lock);
}

// ---- trace ids: slot + 1 below, the slot's generation above ----

int posix_table_add(struct posix_trace *trace, trace_id_t *id)
{
    unsigned slot = 0;
    lock_table();
    while (slot < TABLE_SLOTS && table.slots[slot])
        slot++;
    int error = trace->target->detached ? ESRCH : slot < TABLE_SLOTS ? 0 : EAGAIN;
    if (!error) {
        table.generations[slot]++;
        *id = trace->id = table.generations[slot] << 8 | (slot + 1);
        table.slots[slot] = trace;
    }
    pthread_mutex_unlock(&table.lock);
    return error;
}

static struct posix_trace *find(trace_id_t id)
{
    unsigned slot = (id & 0xFF) - 1;
    struct posix_trace *trace = slot < TABLE_SLOTS ? table.slots[slot] : NULL;
    return trace && trace->id == id ? trace : NULL;
}

// Gives a trace back; the last one to leave one that is over is waited for.
static void leave_trace(struct posix_trace *trace)
{
    pthread_mutex_lock(&table.lock);
    trace->users--;
    pthread_cond_broadcast(&table.left);
    pthread_mutex_unlock(&table.lock);
}

int posix_enter(struct posix_use *use, trace_id_t id, unsigned kinds)
{
    lock_table();
    use->trace = find(id);
    if (use->trace && !(use->trace->kind & kinds))
        use->trace = NULL;
    if (use->trace)
        use->trace->users++;
    pthread_mutex_unlock(&table.lock);
    if (!use->trace)
        return EINVAL;
    // Locks are held below, so nobody may be cancelled but where it waits.
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &use->cancel);
    int error = posix_resume(use);
    if (error)
        posix_leave(use);
    return error;
}

void posix_leave(struct posix_use *use)
{
    posix_pause(use);
    leave_trace(use->trace);
    pthread_setcancelstate(use->cancel, NULL);
}

void posix_pause(struct posix_use *use)
{
    posix_target_unlock(use->trace->target);
}

int posix_resume(struct posix_use *use)
{
    posix_target_lock(use->trace->target);
    return use->trace->over ? EINVAL : 0;
}

// With the target's lock held: in a slot there is no trace that is finished.
static void clear_slot(const struct posix_trace *trace)
{
    pthread_mutex_lock(&table.lock);
    table.slots[(trace->id & 0xFF) - 1] = NULL;
    pthread_mutex_unlock(&table.lock);
}

static void wait_for_users(struct posix_trace *trace)
{
    pthread_mutex_lock(&table.lock);
    while (trace->users > 1)
        pthread_cond_wait(&table.left, &table.lock);
    pthread_mutex_unlock(&table.lock);
}

int posix_end(struct posix_use *use)
{
    struct posix_trace *trace = use->trace;
    trace->over = true;
    if (trace->waker >= 0)
        eventfd_write(trace->waker, 1);
    int error = trace->ops->finish(trace);
    clear_slot(trace);
    posix_pause(use);
    wait_for_users(trace);
    trace->ops->free(trace);
    pthread_setcancelstate(use->cancel, NULL);
    return error;
}

// ---- targets ----

static struct posix_target *target_of(pid_t pid)
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

// One whose process has ended stays for the traces that there are of it.
int posix_target_take(struct posix_target **target, pid_t pid)
{
    int error = 0;
    lock_table();
    *target = target_of(pid);
    if (*target && posix_target_lives(*target))
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

void posix_target_drop(struct posix_target *target)
{
    lock_table();
    if (!--target->users) {
        unlink_target(target);
        posix_target_free(target);
    }
    pthread_cond_broadcast(&table.left);
    pthread_mutex_unlock(&table.lock);
}

int posix_target_add(struct posix_target *target)
{
    lock_table();
    struct posix_target *other = target_of(target->pid);
    bool free = !other || !other->attached;
    if (free)
        link_target(target);
    pthread_mutex_unlock(&table.lock);
    return free ? 0 : EEXIST;
}

bool posix_table_uses(const struct posix_target *target, unsigned stream)
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

// Calls that are under way have it, too, until they give it back.
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

int posix_target_detach(pid_t pid)
{
    lock_table();
    struct posix_target *target = target_of(pid);
    if (target && !target->attached)
        target = NULL;
    if (target) {
        unlink_target(target);
        target->detached = true;
    }
    pthread_mutex_unlock(&table.lock);
    if (!target)
        return ESRCH;
    for (unsigned i = 0; i < TABLE_SLOTS; i++)
        end_slot(i, target);
    wait_for_target(target);
    posix_target_drop(target);
    return 0;
}
