// SPDX-License-Identifier: MIT
// target: the port for programs on Linux: memory shared with other processes, one lock, no system
// call and no change of the signal mask at a trace point. A signal handler that finds its own
// thread in the critical section queues its event; the interrupted call writes it on leaving.
//
// Standard: IEEE Std 1003.1-2017 (clock_gettime, pthread_self, signal concepts).
#ifndef RINGSIDE_PORT_LINUX_H
#define RINGSIDE_PORT_LINUX_H

#define RINGSIDE_TRACE_STREAMS     8
#define RINGSIDE_TRACE_WORDS       (1 << 22)
#define RINGSIDE_TRACE_MAX_DATA    16384
#define RINGSIDE_TRACE_USER_EVENTS 256
#define RINGSIDE_TRACE_NAME_BYTES  64
#define RINGSIDE_PORT_RING_ALIGN   4096

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

// A process that writes into the object: its streams are the bits of `streams`. pid 0: free.
struct ringside_entry {
    uint32_t pid, birth[2], streams;
};
enum { RINGSIDE_ENTRIES = 256 };
#define RINGSIDE_PORT_MEMORY                                                                       \
    uint64_t device, inode;                                                                        \
    struct ringside_entry entries[RINGSIDE_ENTRIES];

#include "../layout.h"

#define RINGSIDE_TRACE_CLOCK_HZ     1000000000
#define RINGSIDE_TRACE_ENAMETOOLONG ENAMETOOLONG
#define RINGSIDE_PORT_STAMP_BITS    64
#define RINGSIDE_PORT_PROCESS       1
#define RINGSIDE_PORT_LAYOUT        (7 << 16) // process ids, nanoseconds, a lock that is shared
#define RINGSIDE_PORT_STREAMS(m)    ringside_traced_streams()
#define RINGSIDE_PORT_CALLER(adr)   ((uintptr_t)(adr)-1)
#define RINGSIDE_PORT_RING_WORDS(s)                                                                \
    (((*(const volatile uint32_t *)&(s)->ring_words - 1) & (RINGSIDE_TRACE_WORDS - 1)) + 1)
#define RINGSIDE_CORE

// ---- this process, as a traced one: what posix_trace_event forces to be global ----
struct ringside_traced {
    struct ringside_memory *memory; // NULL: not looked for yet, or there is none
    struct ringside_entry *self;    // in memory
    uint32_t pid;
};
extern struct ringside_traced ringside_traced;

enum { RINGSIDE_QUEUE = 4, RINGSIDE_QUEUE_BYTES = 96 };
struct ringside_queued {
    uintptr_t caller;
    uint32_t event, bytes;
    uint8_t data[RINGSIDE_QUEUE_BYTES];
};
struct ringside_thread {
    uint32_t id;     // of the kernel's; 0: not asked for yet
    uint32_t inside; // the critical section
    uint32_t draining;
    uint32_t queued; // events of signal handlers, those without a place included
    struct ringside_queued queue[RINGSIDE_QUEUE];
};
extern _Thread_local struct ringside_thread ringside_thread
    __attribute__((tls_model("initial-exec")));

// ---- the lock ----
typedef bool ringside_port_state;

// Waits for the lock: `patience` in steps of some 50 us, 0: for ever. A holder that died is robbed.
bool ringside_linux_wait(struct ringside_memory *m, uint32_t patience);
void ringside_linux_drain(void);
void ringside_linux_know_thread(void);

static inline bool ringside_linux_lock(struct ringside_memory *m)
{
    uint32_t nobody = 0;
    return __atomic_compare_exchange_n(&m->process.lock, &nobody, ringside_thread.id, false,
                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline ringside_port_state ringside_port_enter(struct ringside_memory *m)
{
    ringside_thread.inside = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return ringside_linux_lock(m) || ringside_linux_wait(m, 0);
}

static inline void ringside_port_leave(struct ringside_memory *m, ringside_port_state state)
{
    (void)state;
    __atomic_store_n(&m->process.lock, 0, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    ringside_thread.inside = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(ringside_thread.queued != 0, 0))
        ringside_linux_drain();
}

static inline void ringside_port_barrier(void)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void ringside_port_fence(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

// ---- what records tell ----
static inline void ringside_port_stamp(uint32_t *stamp)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    stamp[0] = (uint32_t)ns;
    stamp[1] = (uint32_t)(ns >> 32);
}

static inline uintptr_t ringside_port_thread(uint32_t *flags)
{
    (void)flags;
    return (uintptr_t)pthread_self();
}

static inline uint32_t ringside_port_process(void)
{
    return __atomic_load_n(&ringside_traced.pid, __ATOMIC_RELAXED);
}

static inline uint32_t ringside_traced_streams(void)
{
    return *(volatile uint32_t *)&ringside_traced.self->streams;
}

// In the critical section, once a lap of the ring: is the controller still there?
void ringside_port_lap(struct ringside_memory *m, unsigned stream);
// In the critical section, when an event was refused: is there somebody to wait for?
void ringside_port_stuck(struct ringside_memory *m, unsigned stream);

// ---- the recorder (ringside_trace.c); attend, refuse and mend in the critical section ----
void ringside_core_make(struct ringside_memory *m, uint32_t pid);
void ringside_core_attend(struct ringside_memory *m);
void ringside_core_refuse(struct ringside_memory *m, uint32_t id);
void ringside_core_mend(struct ringside_memory *m, unsigned stream);
bool ringside_core_open(struct ringside_memory *m, unsigned stream); // a record is open
int ringside_core_name(struct ringside_memory *m, const char *name, trace_event_id_t *event);
void ringside_core_event(struct ringside_memory *m, uint32_t active, uint32_t id, const void *data,
                         size_t bytes, uintptr_t caller);

// ---- processes and their objects (linux_object.c) ----
struct ringside_life {
    char state; // as in field 3 of /proc/PID/stat
    pid_t parent;
    long threads;
    uint64_t birth;
};
bool ringside_life_read(pid_t pid, struct ringside_life *life);
bool ringside_process_dead(struct ringside_memory *m, uint32_t pid);
bool ringside_controller_gone(struct ringside_memory *m, unsigned stream);

// The entry of a process, and one made for it, in the critical section; NULL: there is none.
struct ringside_entry *ringside_entry_find(struct ringside_memory *m, pid_t pid, uint64_t birth);
struct ringside_entry *ringside_entry_take(struct ringside_memory *m, pid_t pid, uint64_t birth);

// Maps the object of process `pid`. `create`: makes it where there is none; `share`: before that,
// tries the parent's. Returns 0, *m and *file (to be closed), or an error number.
int ringside_object_map(pid_t pid, bool create, bool share, struct ringside_memory **m, int *file);
void ringside_object_unmap(struct ringside_memory *m);
bool ringside_object_link(pid_t from, pid_t to); // a second name
void ringside_object_unlink(pid_t pid);
void ringside_objects_sweep(void); // removes names of processes that are gone

#endif
