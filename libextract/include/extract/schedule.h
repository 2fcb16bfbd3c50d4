// SPDX-License-Identifier: MIT
// The schedule of a trace: which thread or interrupt had each core, what every thread waited for,
// who made whom ready, and who held which mutex.
//
// The schedule is derived from the events in one walk. Its parts go to a sink as soon as they are
// complete, so memory depends on the number of threads and mutexes and not on the trace's length.
// What the events do not prove is unknown, and is reported as such. All times are ticks as in
// extract_event.ticks. `from` is before `to`, unless only one moment was asked for.
//
// Source: facts of ThreadX's kernel and TraceX user guide, chapter 4; see ringside-schedule(1).
#ifndef EXTRACT_SCHEDULE_H
#define EXTRACT_SCHEDULE_H

#include <extract/filter.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

// What has a core.
enum extract_runner {
    EXTRACT_RUNNER_UNKNOWN = 0,
    EXTRACT_RUNNER_THREAD,
    EXTRACT_RUNNER_ISR,
    EXTRACT_RUNNER_IDLE,
    EXTRACT_RUNNER_INIT // start-up code, before the first thread runs
};

// A time during which the same thread or interrupt had a core.
struct extract_interval {
    uint64_t from, to;
    uint64_t thread; // RUNNER_THREAD: its address; RUNNER_ISR: the interrupted one; 0: none
    uint64_t isr;    // RUNNER_ISR: number of the interrupt, as the event states it
    uint64_t lock;   // RUNNER_ISR: the lock that it tries again and again to get; 0: none
    enum extract_runner runner;
    uint8_t core;
    bool isr_known; // `isr` is valid
    // The events do not show when this thread got the core: it did so at or after `from`.
    bool is_unsure;
};

// Why a thread lost its core to another one, or to idle.
enum extract_switch_kind {
    EXTRACT_SWITCH_GAVE_UP = 0, // it waits
    EXTRACT_SWITCH_YIELDED,     // it relinquished the core
    EXTRACT_SWITCH_PREEMPTED,   // it could have run on
    EXTRACT_SWITCH_TIME_SLICED, // its time slice was over
    EXTRACT_SWITCH_OTHER,       // the core was idle
    EXTRACT_SWITCH_UNKNOWN,     // no event shows whether it waits
    EXTRACT_SWITCHES
};

// What a thread is doing. Interrupts do not change it: an interrupted thread is running.
enum extract_thread_state {
    EXTRACT_STATE_UNKNOWN = 0,
    EXTRACT_STATE_RUNNING,
    EXTRACT_STATE_READY, // it could run, but does not have the core
    EXTRACT_STATE_BLOCKED,
    EXTRACT_STATE_SLEEPING,
    EXTRACT_STATE_SUSPENDED,
    EXTRACT_STATE_COMPLETED,
    EXTRACT_STATE_TERMINATED
};

// A time during which a thread was in one state.
struct extract_state {
    uint64_t from, to;
    uint64_t thread; // address
    uint64_t object; // BLOCKED: what it waits for. RUNNING: the lock that it tries again and again
                     // to get. 0: none, or not known
    uint64_t holder; // BLOCKED on a mutex or lock: the thread that owned it when the wait began;
                     // 0: an interrupt did, or it is not known
    uint64_t holder_isr; // number of that interrupt; see holder_isr_known
    uint64_t timeout;    // BLOCKED and SLEEPING: ticks of the kernel's timer; all ones: forever
    const char *wait;    // the class of what it waits for or tries to get, such as "queue"; or NULL
    enum extract_thread_state state;
    bool timeout_known;    // `timeout` is valid
    bool holder_in_isr;    // an interrupt owned it
    bool holder_isr_known; // `holder_isr` is valid
    // READY, RUNNING: of several cores; it was one of the two. The events do not show when that
    // changed. BLOCKED: `object` is likely.
    bool is_unsure;
    uint8_t core; // RUNNING: the core
};

// Why a thread became ready.
enum extract_wake_reason {
    EXTRACT_WAKE_UNKNOWN = 0,
    EXTRACT_WAKE_SERVICE, // a service that another thread or an interrupt called: `cause`
    EXTRACT_WAKE_SLEPT,   // its sleep is over
    EXTRACT_WAKE_TIMEOUT, // the time for which it waited is over
    EXTRACT_WAKE_TICK     // the timer thread: timers or waits are over
};

// A thread became ready, or would have if it had not been suspended in the meantime.
struct extract_wake {
    uint64_t at;         // time
    uint64_t seq;        // sequence number of the event that shows it
    uint64_t cause;      // SERVICE: sequence number of the service's event
    uint64_t thread, by; // addresses: of the thread; of the thread that made it ready (in an
                         // interrupt, the interrupted one; 0: none)
    uint64_t object;     // SERVICE: what it waited for; 0: not known
    uint64_t isr;        // number of the interrupt; see isr_known
    const struct extract_event_type *service; // SERVICE: type of the cause; otherwise NULL
    enum extract_wake_reason reason;
    uint8_t core;      // on which that was recorded
    bool in_isr;       // an interrupt made it ready
    bool isr_known;    // `isr` is valid
    bool is_aborted;   // SERVICE: its wait ended without success
    bool is_suspended; // a call suspended it while it waited, so it is not ready
    bool is_unsure;    // it may have been suspended so by a call that was not recorded
    bool is_likely;    // SERVICE: otherwise, the time for which it waited was over
};

// A time during which a mutex or a lock had one owner: a thread, or of a lock also an interrupt. If
// there are several holders of a lock, the owner is the one that has held it for the longest time.
struct extract_ownership {
    uint64_t from, to;
    uint64_t mutex, thread; // addresses; thread 0: an interrupt is the owner, or it is free
    uint64_t isr;           // number of the interrupt; see isr_known
    bool in_isr;            // an interrupt is the owner
    bool isr_known;         // `isr` is valid
    uint8_t core;           // of the interrupt
};

// What a thread did from a wake-up to its next wait for work: for a queue, a semaphore, event
// flags, a sleep, a suspension or its end. Waits in between for a resource (a mutex, a block or
// byte pool) are a part of it, since they are what makes it late. One that ends before it begins,
// since time stepped back, has no known length, and is left out.
struct extract_response {
    uint64_t from, to;         // time of the wake-up and of the wait; from <= to
    uint64_t thread;           // address
    uint64_t from_seq, to_seq; // sequence numbers of the events that show them
    uint64_t ran_at;           // time when it first had the core; from <= ran_at <= to
    bool has_ran;              // `ran_at` is valid
    bool follows_unknown;      // the one before it of its thread was left out
};

// A receiver of the schedule. Each member may be NULL. Parts come when they are complete: those of
// one core, one thread or one mutex in order of time, and without gaps from the first on. Between
// the owners of a lock, times in which no holder is known are left out.
struct extract_schedule_sink {
    void *context;
    void (*interval)(void *context, const struct extract_interval *interval);
    void (*state)(void *context, const struct extract_state *state);
    void (*wake)(void *context, const struct extract_wake *wake);
    void (*owner)(void *context, const struct extract_ownership *owner);
    void (*response)(void *context, const struct extract_response *response);
};

// Derives the schedule of a trace and sends what is between the view's FROM and TO to the sink,
// limited to these times. If FROM equals TO, the parts that hold at that moment are sent, with
// `from` equal to `to`. The view may be NULL: everything is sent. LAST chooses the time from the
// first to the last of these events. Other filters of the view have no effect, since only all
// events together show who ran. The trace must outlive the call. Errors: NOMEM; UNSUPPORTED (the
// format's events do not show a schedule, or the target's filter leaves out the scheduler's
// events).
enum extract_code extract_schedule_run(const struct extract_view *view,
                                       const struct extract_trace *trace,
                                       const struct extract_schedule_sink *sink,
                                       struct extract_error *error);

// Return the words that outputs use, such as "thread", "running" and "service".
const char *extract_runner_name(enum extract_runner runner);
const char *extract_thread_state_name(enum extract_thread_state state);
const char *extract_wake_reason_name(enum extract_wake_reason reason);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
