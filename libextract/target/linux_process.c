// SPDX-License-Identifier: MIT
// target: a traced process on Linux. In: its trace points. Out: records in its object's streams.
//
// posix_trace_event works on the process as a whole, so this file holds the room's global state:
// where the object is, and for each thread whether it is in the critical section.
#include "ports/linux.h"
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const uint32_t unknown = 1, none; // in place of the word `active`

static const uint32_t *active_word = &unknown;
static uint32_t attaching;
static struct ringside_entry nobody;
struct ringside_traced ringside_traced = {NULL, &nobody, 0};
_Thread_local struct ringside_thread ringside_thread;

void ringside_linux_know_thread(void)
{
    ringside_thread.id = (uint32_t)syscall(SYS_gettid);
    __atomic_store_n(&ringside_traced.pid, (uint32_t)getpid(), __ATOMIC_RELAXED);
}

// ---- the lock ----

static bool thread_dead(uint32_t id)
{
    struct ringside_life life;
    return !ringside_life_read((pid_t)id, &life) || life.state == 'Z' || life.state == 'X';
}

// Takes the lock from a thread that died with it. What it left is sound: each step of a critical
// section is, and a record that is open is closed when it is in the way.
static bool rob(struct ringside_memory *m)
{
    uint32_t holder = __atomic_load_n(&m->process.lock, __ATOMIC_RELAXED);
    return holder && thread_dead(holder) &&
           __atomic_compare_exchange_n(&m->process.lock, &holder, ringside_thread.id, false,
                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

// Spins, then gives way, then sleeps, so that a holder of lower priority gets on.
bool ringside_linux_wait(struct ringside_memory *m, uint32_t patience)
{
    enum { SPINS = 200, YIELDS = 300, ASK = 64 };
    static const struct timespec nap = {0, 50000};
    int saved = errno;
    bool got = false;
    for (uint32_t n = 0; !got && (!patience || n < YIELDS + patience); n++) {
        if (n >= YIELDS)
            nanosleep(&nap, NULL);
        else if (n >= SPINS)
            sched_yield();
        got = ringside_linux_lock(m) || (n >= YIELDS && n % ASK == 0 && rob(m));
    }
    errno = saved;
    return got;
}

// ---- events of signal handlers ----

static void queue(uint32_t event, const void *data, size_t bytes, uintptr_t caller)
{
    if (event - POSIX_TRACE_UNNAMED_USEREVENT >= RINGSIDE_TRACE_USER_EVENTS)
        return; // no event: takes no place
    uint32_t place = __atomic_fetch_add(&ringside_thread.queued, 1, __ATOMIC_RELAXED);
    if (place >= RINGSIDE_QUEUE)
        return;
    struct ringside_queued *q = &ringside_thread.queue[place];
    *q = (struct ringside_queued){.caller = caller, .event = event, .bytes = UINT32_MAX};
    if (bytes > sizeof q->data)
        return;
    q->bytes = (uint32_t)bytes;
    if (bytes)
        memcpy(q->data, data, bytes);
}

static void write_queued(uint32_t place)
{
    struct ringside_memory *m = ringside_traced.memory;
    const struct ringside_queued *q = &ringside_thread.queue[place < RINGSIDE_QUEUE ? place : 0];
    if (place < RINGSIDE_QUEUE && q->bytes <= sizeof q->data) {
        ringside_core_event(m, m->process.active, q->event, q->data, q->bytes, q->caller);
        return;
    }
    ringside_port_state inside = ringside_port_enter(m);
    ringside_core_refuse(m, q->event);
    ringside_port_leave(m, inside);
}

// What handlers queued while it works is written as well; the queue is empty at the end.
void ringside_linux_drain(void)
{
    struct ringside_thread *t = &ringside_thread;
    uint32_t written = 0, queued = t->queued;
    if (t->draining)
        return;
    t->draining = 1;
    do {
        for (; written < queued; written++)
            if (ringside_traced.memory)
                write_queued(written);
    } while (!__atomic_compare_exchange_n(&t->queued, &queued, 0, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    t->draining = 0;
}

// ---- the process' object ----

static struct ringside_entry *own_entry(struct ringside_memory *m)
{
    struct ringside_life life;
    if (!ringside_life_read(getpid(), &life))
        return NULL;
    ringside_port_state inside = ringside_port_enter(m);
    struct ringside_entry *e = ringside_entry_find(m, getpid(), life.birth);
    ringside_port_leave(m, inside);
    return e;
}

static void publish(struct ringside_memory *m, struct ringside_entry *self)
{
    ringside_traced.self = self;
    ringside_traced.memory = m;
    __atomic_store_n(&active_word, m ? &m->process.active : &none, __ATOMIC_RELEASE);
}

static void look_for_object(void)
{
    struct ringside_memory *m;
    struct ringside_entry *self = NULL;
    int file, saved = errno;
    if (!ringside_object_map(getpid(), true, false, &m, &file)) {
        close(file);
        self = own_entry(m);
        if (!self)
            ringside_object_unmap(m);
    }
    publish(self ? m : NULL, self ? self : &nobody);
    errno = saved;
}

// Once in a process; other threads wait. A handler that interrupts it queues its events.
static void attach(void)
{
    uint32_t free_ = 0;
    ringside_linux_know_thread();
    ringside_thread.inside = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__atomic_compare_exchange_n(&attaching, &free_, 1, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
        look_for_object();
    while (__atomic_load_n(&active_word, __ATOMIC_ACQUIRE) == &unknown)
        sched_yield();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    ringside_thread.inside = 0;
    if (ringside_thread.queued)
        ringside_linux_drain();
}

static bool attached(void)
{
    if (__atomic_load_n(&active_word, __ATOMIC_ACQUIRE) == &unknown)
        attach();
    if (!ringside_thread.id)
        ringside_linux_know_thread();
    return ringside_traced.memory;
}

static __attribute__((noinline)) void trace(uint32_t event, const void *data, size_t bytes,
                                            uintptr_t caller)
{
    if (ringside_thread.inside)
        queue(event, data, bytes, caller);
    else if (attached())
        ringside_core_event(ringside_traced.memory, ringside_traced.memory->process.active, event,
                            data, bytes, caller);
}

// Not inlined: its return address tells the call.
__attribute__((noinline)) void posix_trace_event(trace_event_id_t event, const void *data,
                                                 size_t bytes)
{
    const volatile uint32_t *active = __atomic_load_n(&active_word, __ATOMIC_RELAXED);
    if (*active)
        trace(event, data, bytes, RINGSIDE_PORT_CALLER(__builtin_return_address(0)));
}

int posix_trace_eventid_open(const char *name, trace_event_id_t *event)
{
    if (attached())
        return ringside_core_name(ringside_traced.memory, name, event);
    *event = POSIX_TRACE_UNNAMED_USEREVENT;
    return strlen(name) < RINGSIDE_TRACE_NAME_BYTES ? 0 : ENAMETOOLONG;
}

// ---- fork and exit ----

static uint32_t inherited(const struct ringside_memory *m, uint32_t streams)
{
    for (unsigned i = 0; i < RINGSIDE_TRACE_STREAMS; i++)
        if (!(m->streams[i].flags & RINGSIDE_INHERIT))
            streams &= ~(UINT32_C(1) << i);
    return streams;
}

// The child shares the object and its names, and goes on in the streams that are inherited.
static void in_child(void)
{
    struct ringside_memory *m = ringside_traced.memory;
    pid_t parent = (pid_t)ringside_traced.pid;
    uint32_t streams = ringside_traced_streams();
    struct ringside_life life;
    int saved = errno;
    ringside_linux_know_thread();
    if (!m) {
        attaching = 0;
        active_word = &unknown;
        return;
    }
    struct ringside_entry *self = NULL;
    if (ringside_life_read(getpid(), &life)) {
        ringside_port_state inside = ringside_port_enter(m);
        self = ringside_entry_take(m, getpid(), life.birth);
        if (self)
            self->streams |= inherited(m, streams);
        ringside_port_leave(m, inside);
    }
    publish(self ? m : NULL, self ? self : &nobody);
    if (self)
        ringside_object_link(parent, getpid());
    errno = saved;
}

static __attribute__((constructor)) void at_load(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

static __attribute__((destructor)) void at_exit(void)
{
    if (!ringside_traced.memory || ringside_traced.pid != (uint32_t)getpid())
        return;
    ringside_traced.self->streams = 0;
    ringside_traced.self->pid = 0;
    ringside_object_unlink(getpid());
    ringside_objects_sweep(); // of children that had no exit of their own
}
