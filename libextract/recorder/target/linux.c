// SPDX-License-Identifier: MIT
// target: the controller's side on Linux. In: the object of a traced process. Out: streams bound,
// released, attended to.
#include "ports/linux.h"
#include "target/linux_object.h"
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CHECK_NS = 100 * 1000000, // between two looks at whether a controller is there
    STUCK = 64,               // refused events between two looks at what they wait for
    NEAREST = 16,             // records that are looked at then
    ATTEMPTS = 1000
};

// The memory of another process is read through its file. It is mapped only for what has to be done
// there, and that is guarded: the process may cut its object short at any time.
struct ringside_trace_object {
    struct ringside_mapping mapping;
    pid_t pid;
    bool is_lost; // the memory was taken away
};

// A stretch of work on the mapping, from begin_work to end_work.
struct work {
    struct ringside_guard guard;
    bool is_guarded;
};

// Returns false when the memory is lost, or cannot be mapped. What a process does to its own memory
// is its own matter.
static bool begin_work(struct ringside_trace_object *o, struct work *work)
{
    if (o->is_lost || (!o->mapping.memory && ringside_object_map(&o->mapping)))
        return false;
    work->is_guarded = o->pid != getpid();
    if (work->is_guarded)
        ringside_guard_begin(&work->guard, o->mapping.memory);
    return true;
}

// Returns whether the memory was there all the time.
static bool end_work(struct ringside_trace_object *o, struct work *work)
{
    if (work->is_guarded && !ringside_guard_end(&work->guard))
        o->is_lost = true;
    return !o->is_lost;
}

// ---- objects ----

// Makes an ancestor's object the process', too. Returns false when there is no place for it.
static bool join(struct ringside_trace_object *o)
{
    struct work work;
    if (!begin_work(o, &work))
        return false;
    bool joined = ringside_object_join(&o->mapping, o->pid);
    return end_work(o, &work) && joined;
}

static void leave_object(struct ringside_trace_object *o)
{
    if (o->mapping.memory) {
        ringside_linux_unmaps(o->mapping.memory);
        ringside_object_unmap(o->mapping.memory);
    }
    close(o->mapping.file);
}

// Finds the process' object. One that it gets meanwhile is found the second time.
static int find_own(struct ringside_trace_object *o, bool create)
{
    for (int n = 0; n < 2; n++) {
        int error = ringside_object_find(o->pid, create, create, &o->mapping);
        if (error || !create || o->mapping.owner == o->pid || join(o))
            return error;
        leave_object(o);
    }
    return ENOMEM;
}

int ringside_trace_object_open(pid_t pid, bool create, struct ringside_trace_object **object)
{
    struct ringside_trace_object *o = calloc(1, sizeof *o);
    if (!o)
        return ENOMEM;
    ringside_linux_know_thread();
    if (create)
        ringside_objects_sweep();
    o->pid = pid ? pid : getpid();
    int error = find_own(o, create);
    if (error) {
        free(o);
        return error;
    }
    *object = o;
    return 0;
}

int ringside_trace_object_open_left(pid_t pid, struct ringside_trace_object **object)
{
    struct ringside_trace_object *o = calloc(1, sizeof *o);
    if (!o)
        return ENOMEM;
    o->pid = pid;
    int error = ringside_object_find_left(pid, &o->mapping);
    if (error) {
        free(o);
        return error;
    }
    *object = o;
    return 0;
}

void ringside_trace_object_close(struct ringside_trace_object *object)
{
    if (!object)
        return;
    leave_object(object);
    free(object);
}

bool ringside_trace_object_lives(const struct ringside_trace_object *object)
{
    return ringside_process_lives(object->mapping.file, object->pid);
}

bool ringside_trace_object_is_written(const struct ringside_trace_object *object, uint32_t streams)
{
    return ringside_life_goes_on(object->pid, object->mapping.birth) ||
           ringside_streams_are_written(object->mapping.file, streams);
}

size_t ringside_trace_object_read(const struct ringside_trace_object *object, uint64_t at, void *to,
                                  size_t bytes)
{
    uint64_t total = sizeof(struct ringside_memory);
    if (at >= total)
        return 0;
    return ringside_object_read(object->mapping.file, (size_t)at, to,
                                bytes < total - at ? bytes : (size_t)(total - at));
}

bool ringside_trace_object_write(struct ringside_trace_object *object, uint64_t at,
                                 const uint32_t *words, size_t count)
{
    const uint64_t total = sizeof(struct ringside_memory) / sizeof *words;
    struct work work;
    if (at % sizeof *words || at / sizeof *words > total || count > total - at / sizeof *words ||
        !begin_work(object, &work))
        return false;
    uint32_t *to = (uint32_t *)(void *)((char *)object->mapping.memory + at);
    for (size_t i = 0; i < count; i++)
        __atomic_store_n(&to[i], words[i], __ATOMIC_RELEASE);
    return end_work(object, &work);
}

// The lock for a controller, which gives up after some seconds. `here` lies on the caller's stack.
static bool enter(struct ringside_memory *m, struct ringside_begun *here)
{
    if (!ringside_linux_begin(here, m))
        return false;
    bool got = ringside_linux_lock(m) || ringside_linux_wait(m, false);
    if (!got)
        ringside_linux_end(here);
    return got;
}

static void leave(struct ringside_memory *m, struct ringside_begun *here)
{
    ringside_port_leave(m, true);
    ringside_linux_end(here);
}

// ---- streams ----

static void disown(struct ringside_memory *m, unsigned stream)
{
    for (unsigned k = 0; k < RINGSIDE_ENTRIES; k++) {
        uint32_t streams = RINGSIDE_LOAD(m->entries[k].streams);
        if (streams >> stream & 1)
            RINGSIDE_STORE(m->entries[k].streams, streams - (UINT32_C(1) << stream));
    }
}

// As ringside_life_read tells when processes began.
static uint32_t ticks_now(void)
{
    struct timespec now;
    uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint32_t)((uint64_t)now.tv_sec * hz + (uint64_t)now.tv_nsec * hz / 1000000000);
}

// In the critical section.
static void release(struct ringside_memory *m, unsigned stream)
{
    struct ringside_stream *s = &m->streams[stream];
    s->wanted = 0;
    s->request++;
    s->controller = 0;
    ringside_core_attend(m);
    disown(m, stream);
}

void ringside_port_lap(struct ringside_memory *m, unsigned stream)
{
    struct ringside_stream *s = &m->streams[stream];
    uint32_t now[2];
    int saved = errno;
    ringside_port_stamp(now);
    if (now[0] - s->controller_checked < CHECK_NS)
        return;
    s->controller_checked = now[0];
    if (ringside_controller_gone(m, stream))
        release(m, stream);
    errno = saved;
}

// A stream that is full waits for its controller only.
void ringside_port_stuck(struct ringside_memory *m, unsigned stream)
{
    const struct ringside_stream *s = &m->streams[stream];
    int saved = errno;
    if (s->refused % STUCK != 1)
        return;
    if (!(s->state & RINGSIDE_FULL))
        ringside_core_mend(m, stream, NEAREST);
    ringside_port_lap(m, stream);
    errno = saved;
}

// A stream that can be bound, reserved for this controller. Its last writers have to be done with
// it.
static bool reserve(struct ringside_trace_object *o, unsigned *stream)
{
    struct ringside_memory *m = o->mapping.memory;
    for (unsigned i = 0; i < RINGSIDE_TRACE_STREAMS; i++) {
        struct ringside_stream *s = &m->streams[i];
        if (s->controller || s->state) {
            if (!ringside_controller_gone(m, i))
                continue;
            release(m, i);
        }
        ringside_core_mend(m, i, UINT32_MAX);
        if (ringside_core_open(m, i))
            continue;
        s->controller = ringside_port_process();
        s->controller_file = (uint32_t)o->mapping.file;
        *stream = i;
        return true;
    }
    return false;
}

static RINGSIDE_ON_STACK int reserve_locked(struct ringside_trace_object *o, unsigned *stream)
{
    struct ringside_begun here;
    for (int n = 0; n < 100; n++) {
        if (!enter(o->mapping.memory, &here))
            return EAGAIN;
        bool got = reserve(o, stream);
        leave(o->mapping.memory, &here);
        if (got)
            return 0;
        sched_yield();
    }
    return EAGAIN;
}

static void ask_for(struct ringside_trace_object *o, unsigned stream,
                    const struct ringside_trace_bind *bind)
{
    struct ringside_memory *m = o->mapping.memory;
    struct ringside_stream *s = &m->streams[stream];
    struct ringside_life life;
    struct ringside_entry *e = NULL;
    disown(m, stream);
    if (ringside_life_read(o->pid, &life))
        e = ringside_entry_take(m, o->pid, life.birth);
    if (e)
        RINGSIDE_STORE(e->streams, e->streams | UINT32_C(1) << stream);
    s->tail = s->head; // the ring may change its size
    s->ring_words = bind->ring_words;
    s->bound_at = ticks_now();
    s->pid = (uint32_t)o->pid;
    s->flags = bind->inherit ? RINGSIDE_INHERIT : 0;
    memset(s->name, 0, sizeof s->name);
    strncpy(s->name, bind->name ? bind->name : "", sizeof s->name - 1);
    memset(s->wanted_filter, 0, sizeof s->wanted_filter);
    s->read_pos = s->head;
    s->wanted = RINGSIDE_BOUND;
    s->wanted_policy = (uint32_t)bind->policy;
    s->wanted_max_data = bind->max_data;
    s->request++;
    ringside_core_attend(m);
}

static bool valid(const struct ringside_trace_bind *bind)
{
    return bind->policy >= POSIX_TRACE_LOOP && bind->policy <= POSIX_TRACE_FLUSH &&
           bind->ring_words >= 64 && !(bind->ring_words & (bind->ring_words - 1));
}

// With the memory guarded.
static RINGSIDE_ON_STACK int bind(struct ringside_trace_object *object,
                                  const struct ringside_trace_bind *bind, unsigned *stream)
{
    struct ringside_memory *m = object->mapping.memory;
    struct ringside_begun here;
    int error = reserve_locked(object, stream);
    if (error)
        return error;
    size_t at = (size_t)((const char *)m->rings[*stream] - (const char *)m);
    bool pages = ringside_object_allocate(object->mapping.file, at, (size_t)bind->ring_words * 4);
    if (!enter(m, &here))
        return EAGAIN;
    if (pages)
        ask_for(object, *stream, bind);
    else
        m->streams[*stream].controller = 0;
    leave(m, &here);
    return pages ? 0 : ENOMEM;
}

int ringside_trace_object_bind(struct ringside_trace_object *object,
                               const struct ringside_trace_bind *wanted, unsigned *stream)
{
    struct work work;
    if (!valid(wanted))
        return EINVAL;
    if (wanted->ring_words > RINGSIDE_TRACE_WORDS)
        return ENOMEM;
    if (!begin_work(object, &work))
        return EIO;
    int error = bind(object, wanted, stream);
    if (!error)
        (void)ringside_core_has_object(object->pid, true);
    return end_work(object, &work) ? error : EIO;
}

RINGSIDE_ON_STACK void ringside_trace_object_release(struct ringside_trace_object *object,
                                                     unsigned stream)
{
    struct ringside_begun here;
    struct work work;
    if (stream >= RINGSIDE_TRACE_STREAMS || !begin_work(object, &work))
        return;
    bool entered = enter(object->mapping.memory, &here);
    if (entered) {
        release(object->mapping.memory, stream);
        leave(object->mapping.memory, &here);
    }
    end_work(object, &work);
    if (entered)
        ringside_objects_sweep(); // the process may have ended before
}

// One attempt; whether nothing is left to do.
static RINGSIDE_ON_STACK bool attend(struct ringside_memory *m)
{
    struct ringside_begun here;
    bool done = true;
    if (!enter(m, &here))
        return true;
    for (unsigned i = 0; i < RINGSIDE_TRACE_STREAMS; i++)
        if (m->streams[i].state)
            ringside_core_mend(m, i, UINT32_MAX);
    ringside_core_attend(m);
    for (unsigned i = 0; i < RINGSIDE_TRACE_STREAMS; i++)
        done = done && m->streams[i].request == m->streams[i].request_done;
    leave(m, &here);
    return done;
}

void ringside_trace_object_attend(struct ringside_trace_object *object)
{
    static const struct timespec nap = {0, 1000000};
    bool done = false;
    for (int n = 0; n < ATTEMPTS && !done; n++) {
        struct work work;
        if (n)
            nanosleep(&nap, NULL);
        if (!begin_work(object, &work))
            return;
        done = attend(object->mapping.memory);
        end_work(object, &work);
    }
}

// With the memory guarded.
static RINGSIDE_ON_STACK int name_type(struct ringside_memory *m, const char *name,
                                       trace_event_id_t *event)
{
    struct ringside_begun here;
    if (!ringside_linux_begin(&here, m))
        return ringside_core_known(m, name, event);
    int error = ringside_core_name(m, name, event);
    ringside_linux_end(&here);
    return error;
}

int ringside_trace_object_name(struct ringside_trace_object *object, const char *name,
                               trace_event_id_t *event)
{
    struct work work;
    if (!begin_work(object, &work))
        return EIO;
    int error = name_type(object->mapping.memory, name, event);
    return end_work(object, &work) ? error : EIO;
}
