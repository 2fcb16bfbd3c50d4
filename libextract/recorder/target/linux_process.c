// SPDX-License-Identifier: MIT
// target: a traced process on Linux. In: its first trace point, its forks and its end. Out: its
// object, attached; the lock that those share who write there.
//
// posix_trace_event works on the process as a whole, so this file holds the room's global state:
// where the object is, and for each thread what it does in there.
#define RINGSIDE_TRACE_FUNCTION // posix_trace_event is the function, which this file defines
#include "ports/linux.h"
#include "trace.h"
#include <sched.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

static const uint32_t unknown = 1, none; // in place of the word `active`

const volatile uint32_t *volatile posix_trace_active_word = &unknown;
static uint32_t attaching;           // the thread that looks for the object; 0: none
static struct ringside_entry nobody; // of a process that has no place: the streams that it misses
struct ringside_traced ringside_traced = {.self = &nobody};
_Thread_local struct ringside_thread ringside_thread;

void ringside_linux_know_thread(void)
{
    ringside_thread.id = (uint32_t)syscall(SYS_gettid);
    __atomic_store_n(&ringside_traced.pid, (uint32_t)getpid(), __ATOMIC_RELAXED);
}

// ---- the lock ----

enum holder { BUSY, STOPPED, GONE };
enum { SPINS = 200, YIELDS = 210 };

// Spins, then gives way, then sleeps, so that who is waited for gets on, also where its priority is
// lower. `n` counts the looks. A trace point is no place for a cancellation.
static void wait_a_while(uint32_t n)
{
    static const struct timespec nap = {0, 50000};
    int saved = errno, cancel;
    if (n >= YIELDS) {
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
        nanosleep(&nap, NULL);
        pthread_setcancelstate(cancel, NULL);
    } else if (n >= SPINS) {
        sched_yield();
    }
    errno = saved;
}

// This thread does not wait for itself: what it holds is of a call that it left.
static enum holder look_at(uint32_t holder)
{
    struct ringside_life life;
    if (holder == ringside_thread.id)
        return GONE;
    if (!ringside_life_read((pid_t)holder, &life))
        return ringside_life_over((pid_t)holder) ? GONE : BUSY;
    if (life.state == 'Z' || life.state == 'X')
        return GONE;
    return life.state == 'T' || life.state == 't' ? STOPPED : BUSY;
}

// Takes the lock from a thread that died with it. What it left is sound, as each step of a critical
// section is; what it was at is resumed, and a record that is open is closed when it is in the way.
// `stopped` counts the looks at holders that were found stopped.
static bool rob(struct ringside_memory *m, uint32_t *stopped)
{
    uint32_t holder = RINGSIDE_LOAD(m->process.lock);
    enum holder is = holder ? look_at(holder) : BUSY;
    *stopped = is == STOPPED ? *stopped + 1 : 0;
    bool got =
        is == GONE && __atomic_compare_exchange_n(&m->process.lock, &holder, ringside_thread.id,
                                                  false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
    if (got)
        ringside_core_resume(m);
    return got;
}

// Who keeps the lock is not waited for again, until somebody got it.
static bool given_up(const struct ringside_memory *m)
{
    uint32_t kept_by = RINGSIDE_LOAD(m->kept_by);
    return kept_by && kept_by == RINGSIDE_LOAD(m->process.lock);
}

bool ringside_linux_wait(struct ringside_memory *m, bool traces)
{
    enum { NAPS = 20000, ASK = 64, STOPPED_LOOKS = 16 };
    int saved = errno;
    bool got = false;
    uint32_t stopped = 0;
    for (uint32_t n = 0; !got && n < YIELDS + NAPS; n++) {
        if (traces && n >= SPINS && (stopped >= STOPPED_LOOKS || given_up(m)))
            break;
        wait_a_while(n);
        got = ringside_linux_lock(m) || (n >= YIELDS && n % ASK == 0 && rob(m, &stopped));
    }
    if (traces)
        RINGSIDE_STORE(m->kept_by, got ? 0 : RINGSIDE_LOAD(m->process.lock));
    errno = saved;
    return got;
}

void ringside_port_miss(struct ringside_memory *m, unsigned stream)
{
    struct ringside_stream *s = &m->streams[stream];
    uint32_t now[2];
    if (!ringside_port_missed(s)) {
        ringside_port_stamp(now);
        RINGSIDE_STORE(s->missed_stamp[0], now[0]);
        RINGSIDE_STORE(s->missed_stamp[1], now[1]);
    }
    __atomic_fetch_add(&s->missed, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&m->process.active, UINT32_MAX, __ATOMIC_SEQ_CST);
}

uint32_t ringside_port_take_missed(struct ringside_memory *m, unsigned stream, uint32_t *stamp)
{
    struct ringside_stream *s = &m->streams[stream];
    if (!ringside_port_missed(s))
        return 0;
    RINGSIDE_STORE(m->kept_by, 0);
    stamp[0] = RINGSIDE_LOAD(s->missed_stamp[0]);
    stamp[1] = RINGSIDE_LOAD(s->missed_stamp[1]);
    ringside_port_note(s, stream, RINGSIDE_COUNTS);
    return ringside_thread.calls[ringside_thread.depth].position - s->missed_counted;
}

void ringside_port_counted_missed(struct ringside_memory *m, unsigned stream)
{
    struct ringside_stream *s = &m->streams[stream];
    RINGSIDE_STORE(s->missed_counted, ringside_thread.calls[ringside_thread.depth].position);
    ringside_port_note(s, stream, RINGSIDE_NOTHING);
}

// ---- the process' object ----

static void publish(struct ringside_memory *m, struct ringside_entry *self)
{
    ringside_traced.self = self;
    RINGSIDE_STORE(ringside_traced.dumped, 0);
    __atomic_store_n(&ringside_traced.memory, m, __ATOMIC_RELEASE);
    ringside_traced.outside = NULL;
    __atomic_store_n(&posix_trace_active_word, m ? &m->process.active : &none, __ATOMIC_RELEASE);
}

// The process is to be traced into `streams`, and there is no place for it: it counts what it
// loses.
static void publish_outside(struct ringside_memory *m, uint32_t streams)
{
    uint32_t now[2];
    ringside_port_stamp(now);
    RINGSIDE_STORE(nobody.streams, streams);
    RINGSIDE_STORE(ringside_traced.tried, now[0]);
    ringside_traced.self = &nobody;
    ringside_traced.memory = NULL;
    ringside_traced.outside = m;
    __atomic_store_n(&posix_trace_active_word, &m->process.active, __ATOMIC_RELEASE);
}

static void publish_unknown(void)
{
    __atomic_store_n(&attaching, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&posix_trace_active_word, &unknown, __ATOMIC_RELEASE);
}

// Takes this process into the object, as one that has the mapping's streams, if it has no place
// there yet.
static void enter_object(const struct ringside_mapping *mapping)
{
    struct ringside_memory *m = mapping->memory, *outside = ringside_traced.outside;
    struct ringside_life life;
    struct ringside_entry *self = NULL;
    if (mapping->owner != getpid())
        (void)ringside_object_join(mapping, getpid());
    if (ringside_life_read(getpid(), &life))
        self = ringside_entry_find(m, getpid(), life.birth);
    if (self && mapping->owner == getpid()) { // after an exec, that of the new program
        const uint64_t entry = getauxval(AT_ENTRY);
        RINGSIDE_STORE(m->process.entry[0], (uint32_t)entry);
        RINGSIDE_STORE(m->process.entry[1], (uint32_t)(entry >> 32));
    }
    if (self)
        publish(m, self);
    else if (mapping->streams)
        publish_outside(outside ? outside : m, mapping->streams);
    else
        publish(NULL, &nobody);
    if (!self && (outside || !mapping->streams))
        ringside_object_unmap(m);
}

// Returns whether there is one.
static bool look_for_object(bool create)
{
    struct ringside_mapping mapping;
    int saved = errno, cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    int error = ringside_object_find(getpid(), create, false, &mapping);
    if (!error) {
        error = ringside_object_map(&mapping);
        close(mapping.file);
    }
    if (!error)
        enter_object(&mapping);
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
    return !error;
}

static bool is_known(void)
{
    return __atomic_load_n(&posix_trace_active_word, __ATOMIC_ACQUIRE) != &unknown;
}

void ringside_linux_attach_later(void)
{
    uint32_t self = ringside_thread.id;
    if (!is_known())
        __atomic_compare_exchange_n(&attaching, &self, 0, false, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED);
}

// One thread does it, others wait. A handler that interrupts it queues its events.
static void attach(void)
{
    ringside_linux_know_thread();
    ringside_thread.inside = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    for (uint32_t n = 0; !is_known(); n += n < YIELDS) {
        uint32_t by = 0;
        bool ours = __atomic_compare_exchange_n(&attaching, &by, ringside_thread.id, false,
                                                __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
        if (!ours && by != ringside_thread.id)
            wait_a_while(n);
        else if (!look_for_object(true))
            publish(NULL, &nobody);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    ringside_thread.inside = 0;
    if (ringside_thread.queued)
        ringside_linux_drain();
}

bool ringside_linux_attached(void)
{
    if (!is_known())
        attach();
    if (!ringside_thread.id)
        ringside_linux_know_thread();
    return ringside_traced.memory;
}

// An event of a process that has no object, or no place in it: looks for one again after a second.
void ringside_linux_outside(uint32_t event)
{
    enum { SECOND = 1000000000 };
    struct ringside_memory *m = ringside_traced.outside;
    uint32_t now[2], tried = RINGSIDE_LOAD(ringside_traced.tried);
    if (!m)
        return;
    ringside_core_lose(m, 0, event, false);
    ringside_port_stamp(now);
    if (now[0] - tried >= SECOND &&
        __atomic_compare_exchange_n(&ringside_traced.tried, &tried, now[0], false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
        publish_unknown();
}

// Not inlined: its return address tells the call.
__attribute__((noinline)) void posix_trace_record_event(trace_event_id_t event, const void *data,
                                                        size_t bytes)
{
    const volatile uint32_t *active = __atomic_load_n(&posix_trace_active_word, __ATOMIC_RELAXED);
    if (RINGSIDE_LOAD(*active))
        ringside_linux_trace(event, data, bytes, RINGSIDE_PORT_CALLER(__builtin_return_address(0)));
}
void posix_trace_event(trace_event_id_t event, const void *data, size_t bytes)
    __attribute__((alias("posix_trace_record_event")));

// ---- fork and exit ----

// The child shares the object and its names, and goes on in the streams that are inherited. Where
// the parent has not looked for its object, but has one, the child does that now, since the parent
// may be gone later. A call that the fork interrupted, in a signal handler, is the parent's: what
// it still writes here is for nobody.
static void in_child(void)
{
    struct ringside_mapping mapping = {
        .memory = ringside_traced.memory, .owner = (pid_t)ringside_traced.pid, .user = geteuid()};
    uint32_t streams = ringside_traced_streams();
    int saved = errno;
    if (mapping.memory && (ringside_thread.depth || ringside_thread.settling))
        mapping.memory = ringside_object_leave(mapping.memory);
    ringside_linux_know_thread();
    ringside_linux_forget();
    if (mapping.memory) {
        mapping.streams = ringside_inherited(mapping.memory, streams, UINT64_MAX);
        enter_object(&mapping);
        if (!ringside_traced.memory && !ringside_traced.outside)
            publish_unknown();
    } else {
        publish_unknown();
        if (ringside_object_exists(getppid()))
            (void)look_for_object(false);
    }
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
    RINGSIDE_STORE(ringside_traced.self->streams, 0);
    RINGSIDE_STORE(ringside_traced.self->pid, 0);
    ringside_objects_sweep(); // of children that had no exit of their own
    ringside_object_unlink(getpid());
}
