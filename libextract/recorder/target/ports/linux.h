// SPDX-License-Identifier: MIT
// target: the port for programs on Linux: memory shared with other processes, one lock, no system
// call and no change of the signal mask at a trace point (but, once in 100 ms at most, where a ring
// begins again or is full, a look at whether its controller is there; and where a record that is
// open is in the way, each 64th time, one at whether its writer is). A signal handler that finds
// its own thread in the critical section queues its event; the interrupted call writes it on
// leaving. A handler may also leave the interrupted call for good (siglongjmp): what that left
// undone is settled as the jump is made, or at the thread's next trace point. For a thread that
// keeps the lock and is stopped, or is of another process and does not get on, it waits a while;
// then events are refused.
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
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

// A process that writes into the object: its streams are the bits of `streams`. pid 0: free.
struct ringside_entry {
    uint32_t pid, birth[2], streams;
};
enum { RINGSIDE_ENTRIES = 4096 };
enum { RINGSIDE_READ_WORDS = 128 }; // that ringside_object_read compares at a time
// kept_by: the thread that a trace point has given up waiting for.
#define RINGSIDE_PORT_MEMORY                                                                       \
    uint64_t device, inode;                                                                        \
    uint32_t kept_by;                                                                              \
    struct ringside_entry entries[RINGSIDE_ENTRIES];

// turn_state: while the record of a change of state is put, the state that follows; turn_head: the
// head before.
#define RINGSIDE_PORT_STREAM                                                                       \
    uint32_t controller_file, controller_checked;                                                  \
    uint32_t bound_at;               /* by the clock that `birth` is of */                         \
    uint32_t missed, missed_counted; /* events; of them, those that are in refused */              \
    uint32_t missed_stamp[2];        /* of the first of the others */                              \
    uint32_t turn_state, turn_head;

#include "../layout.h"

#define RINGSIDE_TRACE_CLOCK_HZ     1000000000
#define RINGSIDE_TRACE_ENAMETOOLONG ENAMETOOLONG
#define RINGSIDE_PORT_STAMP_BITS    64
#define RINGSIDE_PORT_PROCESS       1
#define RINGSIDE_PORT_LAYOUT        (7 << 16) // process ids, nanoseconds, a lock that is shared
#define RINGSIDE_PORT_STREAMS(m)    ringside_traced_streams()
#define RINGSIDE_PORT_CALLER(adr)   ((uintptr_t)(adr)-1)
#define RINGSIDE_LOAD(word)         __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define RINGSIDE_STORE(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELAXED)
#define RINGSIDE_PORT_RING_WORDS(s)                                                                \
    (((RINGSIDE_LOAD((s)->ring_words) - 1) & (RINGSIDE_TRACE_WORDS - 1)) + 1)
#define RINGSIDE_CORE

// ---- this process, as a traced one: what posix_trace_event forces to be global ----
struct ringside_traced {
    struct ringside_memory *memory;  // NULL: not looked for yet, or there is none
    struct ringside_memory *outside; // where memory is NULL: would be it, but had no place left
    struct ringside_entry *self;     // in memory
    uint32_t pid;
    uint32_t tried;  // to get into `outside`: when, in ns
    uint32_t dumped; // the word `active` when the process chose what its core contains
};
extern struct ringside_traced ringside_traced;

// A call that may hold the lock and is not over, so that it can be settled where it is left.
struct ringside_call {
    uintptr_t frame;                // where it lies on the stack
    struct ringside_memory *memory; // whose lock; NULL: the process' own
    uint32_t event;                 // 0: the call is of no event
    uint32_t draining;              // as it was before
    uint32_t next;                  // stream: those before it have the event in their counts
    uint32_t step;                  // number of the stream * RINGSIDE_STEPS + what is done there
    uint32_t position, count;       // tail, head or missed, and the counter, before
    uint32_t place;                 // of the queued event that it writes; RINGSIDE_QUEUE: none
    void *cleanup, *outer;          // its clean-up, and the thread's next one
};
enum {
    RINGSIDE_NOTHING, // that would have to be settled
    RINGSIDE_TURNS,   // the event comes to the stream
    RINGSIDE_PASSES,
    RINGSIDE_RECORDS,
    RINGSIDE_SYSTEM, // records an event of the system's
    RINGSIDE_REFUSES,
    RINGSIDE_COUNTS, // missed events
    RINGSIDE_STEPS
};

// What a call has on its stack, for glibc to find where it is left.
#ifdef __GLIBC__
typedef struct _pthread_cleanup_buffer ringside_cleanup;
#else
typedef char ringside_cleanup;
#endif

// For each function that has one: AddressSanitizer may put its variables elsewhere, where glibc
// takes it for one that is gone, and forgets all cleanups of the thread.
#define RINGSIDE_ON_STACK __attribute__((no_sanitize_address))

// A call, as it lies on the stack. Where it interrupts one that is about to begin, that has
// described itself in the same place: this is put back.
struct ringside_begun {
    ringside_cleanup cleanup;
    uint32_t depth;
    struct ringside_call before;
};

enum { RINGSIDE_QUEUE = 64, RINGSIDE_CALLS = 8 };
struct ringside_thread {
    uint32_t id;     // of the kernel's; 0: not asked for yet
    uint32_t inside; // handlers queue their events, as they do where it holds the lock
    uint32_t draining;
    uint32_t queued;    // there are events of signal handlers
    uint32_t turn;      // of the one that was queued last
    uint32_t unplaced;  // that had no place, nor was there an object yet to count them in
    uint32_t depth;     // calls that are not over: of handlers that interrupted each other
    uintptr_t settling; // where what settles calls lies on the stack; 0: nothing does
    struct ringside_memory *settled;            // what it may have the lock of
    struct ringside_memory *volatile guarded;   // what it works on while another process has it
    volatile bool was_taken;                    // that memory was taken away meanwhile
    struct ringside_call calls[RINGSIDE_CALLS]; // the first is of nobody
};
extern _Thread_local struct ringside_thread ringside_thread
    __attribute__((tls_model("initial-exec")));

// ---- the lock ----
typedef bool ringside_port_state;

// Waits for the lock, for some seconds; a trace point (`traces`) not for one who is stopped, nor
// again for one whom it gave up. A holder that died is robbed.
bool ringside_linux_wait(struct ringside_memory *m, bool traces);
void ringside_linux_drain(void);
void ringside_linux_forget(void); // in a child: calls and queued events, which are its parent's
void ringside_linux_know_thread(void);
bool ringside_linux_attached(void); // looks for the process' object, the first time
void ringside_linux_outside(uint32_t event);
void ringside_linux_attach_later(void); // this thread does not go on with it
void ringside_linux_trace(uint32_t event, const void *data, size_t bytes, uintptr_t caller);

// A controller's stretch that takes the lock of `m`, from here to there; `here` lies on the stack
// of who calls. False: there are too many.
bool ringside_linux_begin(struct ringside_begun *here, struct ringside_memory *m);
void ringside_linux_end(struct ringside_begun *here);
void ringside_linux_unmaps(const struct ringside_memory *m); // nothing of it is to be settled

static inline bool ringside_linux_lock(struct ringside_memory *m)
{
    uint32_t nobody = 0;
    return __atomic_compare_exchange_n(&m->process.lock, &nobody, ringside_thread.id, false,
                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline bool ringside_linux_holds(const struct ringside_memory *m)
{
    uint32_t holder = RINGSIDE_LOAD(m->process.lock);
    return holder && holder == ringside_thread.id;
}

static inline ringside_port_state ringside_port_enter(struct ringside_memory *m)
{
    return ringside_linux_lock(m) || ringside_linux_wait(m, true);
}

static inline bool ringside_port_entered(ringside_port_state state)
{
    return state;
}

static inline void ringside_port_leave(struct ringside_memory *m, ringside_port_state state)
{
    (void)state;
    __atomic_store_n(&m->process.lock, 0, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(ringside_thread.queued != 0, 0))
        ringside_linux_drain();
}

static inline void ringside_port_note(const struct ringside_stream *s, unsigned stream,
                                      uint32_t what)
{
    struct ringside_call *c = &ringside_thread.calls[ringside_thread.depth];
    if (what == RINGSIDE_PASSES)
        c->position = s->tail, c->count = s->overwritten;
    if (what == RINGSIDE_RECORDS || what == RINGSIDE_SYSTEM)
        c->position = s->head, c->count = s->recorded;
    if (what == RINGSIDE_REFUSES)
        c->count = s->refused;
    if (what == RINGSIDE_COUNTS)
        c->position = RINGSIDE_LOAD(s->missed), c->count = s->refused;
    if (what == RINGSIDE_TURNS)
        c->next = stream;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    c->step = stream * RINGSIDE_STEPS + what;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void ringside_port_turn(struct ringside_stream *s, uint32_t state)
{
    RINGSIDE_STORE(s->turn_head, s->head);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    RINGSIDE_STORE(s->turn_state, state);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
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
    return RINGSIDE_LOAD(ringside_traced.self->streams);
}

// An event that the lock was kept from. Counted outside of the critical section; who comes in next
// takes the count, and the stamp of the first of them.
void ringside_port_miss(struct ringside_memory *m, unsigned stream);
uint32_t ringside_port_take_missed(struct ringside_memory *m, unsigned stream, uint32_t *stamp);
void ringside_port_counted_missed(struct ringside_memory *m, unsigned stream); // what was taken
static inline bool ringside_port_missed(const struct ringside_stream *s)
{
    return RINGSIDE_LOAD(s->missed) != RINGSIDE_LOAD(s->missed_counted);
}

// In the critical section, once a lap of the ring: is the controller still there?
void ringside_port_lap(struct ringside_memory *m, unsigned stream);
// In the critical section, when an event was refused: is there somebody to wait for?
void ringside_port_stuck(struct ringside_memory *m, unsigned stream);

// ---- work on another process' memory (linux_guard.c) ----
struct ringside_guard {
    sigset_t mask; // the thread's own
};
// From begin to end, a SIGBUS of this thread in the mapping of `m` ends neither the thread nor the
// process: memory that is nobody's lies in its place from then on. `end` returns whether the memory
// was there all the time.
void ringside_guard_begin(struct ringside_guard *guard, struct ringside_memory *m);
bool ringside_guard_end(const struct ringside_guard *guard);

// ---- the recorder (ringside_trace.c); all but name, known and event in the critical section ----
void ringside_core_make(struct ringside_memory *m, uint32_t pid);
void ringside_core_attend(struct ringside_memory *m);
void ringside_core_lose(struct ringside_memory *m, unsigned from, uint32_t id, bool inside);
void ringside_core_resume(struct ringside_memory *m); // where a holder of the lock did not go on
void ringside_core_mend(struct ringside_memory *m, unsigned stream, uint32_t most);
void ringside_core_close(struct ringside_memory *m, unsigned stream, uint32_t at);
bool ringside_core_open(struct ringside_memory *m, unsigned stream); // a record is open
int ringside_core_name(struct ringside_memory *m, const char *name, trace_event_id_t *event);
// The same, of a name that is there; else, and where `m` is NULL, the unnamed event.
int ringside_core_known(struct ringside_memory *m, const char *name, trace_event_id_t *event);
void ringside_core_event(struct ringside_memory *m, uint32_t active, uint32_t id, const void *data,
                         size_t bytes, uintptr_t caller);

// ---- processes and their objects (linux_object.c) ----
struct ringside_life {
    char state; // as in field 3 of /proc/PID/stat
    pid_t parent;
    long threads;
    uint64_t birth;
};
// False: it is over, or that cannot be told, since no file can be opened.
bool ringside_life_read(pid_t pid, struct ringside_life *life);
bool ringside_life_over(pid_t pid);                    // there is no such process or thread
bool ringside_life_goes_on(pid_t pid, uint64_t birth); // of that process, no later one
bool ringside_process_dead(struct ringside_memory *m, uint32_t pid);
bool ringside_controller_gone(struct ringside_memory *m, unsigned stream);

// The entry of a process; and one made for it, in the critical section. NULL: there is none.
struct ringside_entry *ringside_entry_find(struct ringside_memory *m, pid_t pid, uint64_t birth);
struct ringside_entry *ringside_entry_take(struct ringside_memory *m, pid_t pid, uint64_t birth);

// An object that was found.
struct ringside_mapping {
    struct ringside_memory *memory; // NULL: it is not mapped
    int file;                       // to be closed
    pid_t owner;                    // by whose name it was found
    uid_t user;                     // whose it is
    uint64_t birth;                 // of the process that it was looked for
    uint32_t streams;               // where that is an ancestor's: those that are inherited; else 0
};
// Finds the object of process `pid`; where it has none, the one of its nearest ancestor that has,
// if a stream there is inherited, or (`share`) that is its parent; else one is made, if `create` is
// set. Returns 0; ESRCH (no such process), ENOENT (it has no object), EPERM (the process or the
// object is another user's), EACCES (others than its user may open the object), EINVAL, ENOMEM.
int ringside_object_find(pid_t pid, bool create, bool share, struct ringside_mapping *mapping);
int ringside_object_map(struct ringside_mapping *mapping); // ENOMEM
// A mapping is not part of a core, since a kernel that writes one gives all of it pages. This makes
// the blocks, and the rings of these streams (bits) that are bound, part of the core.
void ringside_object_dump(struct ringside_memory *m, uint32_t streams);
// Reads an object that is not mapped, so that nothing happens to the reader where it is cut short,
// and no page is allocated where it has none. Bytes are read in the order of their addresses:
// those behind are no older, and words of 32 bits are whole. Returns how many were read.
size_t ringside_object_read(int file, size_t at, void *to, size_t bytes);
// Of an object that is not mapped: whether process `pid` is there and has a place in it; whether
// some process is there that writes to one of these streams.
bool ringside_process_lives(int file, pid_t pid);
bool ringside_streams_are_written(int file, uint32_t streams);
// Makes an ancestor's object that of process `pid`, too; false: no place, or the lock is kept.
bool ringside_object_join(const struct ringside_mapping *mapping, pid_t pid);
bool ringside_object_exists(pid_t pid);
// Gives a stretch of the object its pages; false: there are none left, and it has none.
bool ringside_object_allocate(int file, size_t at, size_t bytes);
// Of an entry's streams, those that a child has that began at `birth`.
uint32_t ringside_inherited(const struct ringside_memory *m, uint32_t streams, uint64_t birth);
void ringside_object_unmap(struct ringside_memory *m);
// Maps an object at another address, NULL: it cannot. At this one, memory that is nobody's follows.
struct ringside_memory *ringside_object_leave(struct ringside_memory *m);
void ringside_object_unlink(pid_t pid);
// Removes the names of processes that are gone, except of those that were killed while they were
// traced: the latest are kept, so many and of so many bytes together.
enum { RINGSIDE_LEFT_MOST = 16, RINGSIDE_LEFT_BYTES = 256 << 20 };
void ringside_objects_sweep(void);
// Finds the object that a process has left. Returns 0, or ESRCH (there is none).
int ringside_object_find_left(pid_t pid, struct ringside_mapping *mapping);
// Returns whether a core of the process will contain its object (bit 3 of coredump_filter, see
// core(5)); if `wanted`, sets that first.
bool ringside_core_has_object(pid_t pid, bool wanted);

#endif
