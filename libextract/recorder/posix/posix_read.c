// SPDX-License-Identifier: MIT
// posix: posix_trace_getnext_event, its variants with a timeout and without waiting, and the
// functions that rewind and close a pre-recorded stream.
//
// A call locks the target, reads the next event of the trace and copies that to the caller. If
// there is no event, the call waits and reads again. The writer cannot wake a reader, which may be
// in another process or on another machine, so waiting is polling: after 1, 2, 4, … 16 ms.
//
//            event               ┌────────────────────────────────────────────┐
//   READING ───────► 0           │ during a pause:                            │
//    │    ▲                      │   target lock  released, target runs       │
//    │    │ pause is over        │   signals      unblocked, by ppoll         │
//    ▼    │                      │   cancellation enabled                     │
//   PAUSING ─┬─ signal ─────────►│ EINTR                                      │
//            ├─ abstime ────────►│ ETIMEDOUT                                  │
//            ├─ stream shut down►│ EINVAL (posix_end writes to waker_fd)      │
//            └─ process ended ──►│ its last events, then ESRCH                │
//                                └────────────────────────────────────────────┘
//
// Outside of a pause, signals are blocked: a handler that runs between the read and the pause would
// otherwise not end the wait. Faults of the thread itself are never blocked.
//
// Source: IEEE Std 1003.1-2008, posix_trace_getnext_event.
#define _GNU_SOURCE // ppoll
#include "posix/posix_room.h"
#include "target/linux_object.h"
#include <poll.h>
#include <signal.h>
#include <string.h>

enum {
    MIN_WAIT_NS = 1000000, // first pause between two reads
    MAX_WAIT_NS = 16000000
};

// How long a call may wait for an event.
enum wait_limit { NO_WAIT, UNTIL, FOREVER };

// Where the caller wants the event.
struct destination {
    struct posix_trace_event_info *event;
    void *data;
    size_t capacity; // bytes at `data`
    size_t *data_len;
    int *unavailable;
};

// The waiting of one call. Signals are blocked from the first pause on, except during pauses.
struct wait {
    enum wait_limit wait_limit;
    const struct timespec *end; // absolute time, for UNTIL
    struct timespec pause;      // length of the next pause
    sigset_t mask;              // the thread's signal mask, if signals are blocked
    bool signals_blocked;
    int error; // result of the last pause
};

// Copies an event to the caller, and as much of its data as there is space for.
static void copy_event(const struct posix_event *event, const struct destination *to)
{
    size_t length = event->data_bytes < to->capacity ? event->data_bytes : to->capacity;
    struct posix_trace_event_info *info = to->event;

    *info = (struct posix_trace_event_info){.posix_event_id = event->id,
                                            .posix_pid = event->pid,
                                            .posix_prog_address = (void *)(uintptr_t)event->address,
                                            .posix_thread_id = (pthread_t)event->thread,
                                            .posix_timestamp = event->time,
                                            .posix_truncation_status =
                                                event->is_truncated ? POSIX_TRACE_TRUNCATED_RECORD
                                                                    : POSIX_TRACE_NOT_TRUNCATED};
    if (length)
        memcpy(to->data, event->data, length);
    if (length < event->data_bytes)
        info->posix_truncation_status = POSIX_TRACE_TRUNCATED_READ;
    *to->data_len = length;
}

// ---- waiting ----

// Blocks all signals except those that a fault of this thread raises. ppoll unblocks them for the
// duration of a pause, so a signal ends the pause and is not lost before it.
static void block_signals(struct wait *wait)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t all;

    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_BLOCK, &all, &wait->mask);
    wait->signals_blocked = true;
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

// Shortens a pause that would last beyond `end`. Returns ETIMEDOUT if that time has come.
static int limit_pause(struct timespec *pause, const struct timespec *end)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (!is_later(end, &now))
        return ETIMEDOUT;
    struct timespec left = {end->tv_sec - now.tv_sec, end->tv_nsec - now.tv_nsec};
    if (left.tv_nsec < 0) {
        left.tv_sec--;
        left.tv_nsec += 1000000000;
    }
    if (is_later(pause, &left))
        *pause = left;
    return 0;
}

// What a thread that is canceled during a pause must clean up. The target is unlocked then.
struct canceled {
    struct posix_use *use;
    struct wait *wait;
    bool was_running; // whether the target was running when the call locked it
};

// Locks the target again after a pause, so that the call leaves it running if it found it running.
static int relock(const struct canceled *c)
{
    int over = posix_resume(c->use);

    c->use->trace->target->was_running = c->was_running;
    return over;
}

// Runs when the thread is canceled during a pause: locks the target, leaves the trace as the end of
// the call would, and restores the signal mask.
static void leave_canceled(void *context)
{
    const struct canceled *c = context;

    relock(c);
    posix_leave(c->use);
    pthread_sigmask(SIG_SETMASK, &c->wait->mask, NULL);
}

// Waits for the duration of `pause`, a signal, or the end of the trace.
static int pause_for(struct posix_use *use, struct wait *wait, const struct timespec *pause)
{
    struct posix_target *target = use->trace->target;
    struct canceled canceled = {use, wait, target->was_running};
    struct pollfd waker = {.fd = use->trace->waker_fd, .events = POLLIN};
    int disabled;

    posix_target_let_run(target);
    posix_pause(use);
    pthread_cleanup_push(leave_canceled, &canceled);
    pthread_setcancelstate(use->cancel_state, &disabled);
    wait->error = ppoll(&waker, 1, pause, &wait->mask) < 0 ? errno : 0;
    pthread_setcancelstate(disabled, NULL);
    pthread_cleanup_pop(0);
    int over = relock(&canceled);
    return over ? over : wait->error;
}

// Pauses once, twice as long as the time before. Returns 0 if the stream is to be read again.
static int wait_once(struct posix_use *use, struct wait *wait)
{
    const struct timespec *end = wait->end;

    if (wait->wait_limit == UNTIL && (end->tv_nsec < 0 || end->tv_nsec >= 1000000000))
        return EINVAL;
    if (!wait->signals_blocked)
        block_signals(wait);
    struct timespec pause = wait->pause;
    int error = wait->wait_limit == UNTIL ? limit_pause(&pause, end) : 0;
    if (wait->pause.tv_nsec < MAX_WAIT_NS)
        wait->pause.tv_nsec *= 2;
    return error ? error : pause_for(use, wait, &pause);
}

// ---- reading ----

// Reads the next event, and waits for it if the call may. Returns EAGAIN if there is none and the
// call may not wait, ESRCH if the process has ended and all its events were read.
static int next_event(struct posix_use *use, struct wait *wait, struct posix_event *event)
{
    struct posix_trace *trace = use->trace;
    int error = trace->ops->next(trace, event);
    bool waits = wait->wait_limit != NO_WAIT && trace->kind != POSIX_RECORDED;

    while (waits && error == EAGAIN) {
        if (posix_stream_has_ended(trace->target, trace->stream)) {
            // Records that the process left open are closed first: no other process will finish
            // them.
            ringside_trace_object_attend(trace->target->object);
            error = trace->ops->next(trace, event);
            return error == EAGAIN ? ESRCH : error;
        }
        error = wait_once(use, wait);
        if (!error)
            error = trace->ops->next(trace, event);
    }
    return error;
}

// Reads one event for the three functions below. `unavailable` is set as the standard demands:
// there was no event, and the call did not fail. A process that has ended yields ESRCH after its
// last event.
static int read_event(trace_id_t trid, const struct destination *to, enum wait_limit wait_limit,
                      const struct timespec *end)
{
    struct posix_use use;
    struct posix_event event;
    struct wait wait = {.wait_limit = wait_limit, .end = end, .pause = {0, MIN_WAIT_NS}};
    unsigned kinds = wait_limit == NO_WAIT ? POSIX_ACTIVE | POSIX_LOGGED : POSIX_ALL;
    bool given = to->event && to->data_len && to->unavailable && (to->data || !to->capacity) &&
                 (end || wait_limit != UNTIL);
    int error = given ? posix_enter(&use, trid, kinds) : EINVAL;

    if (error)
        return error;
    error = next_event(&use, &wait, &event);
    if (!error)
        copy_event(&event, to);
    if (!error || error == EAGAIN || error == ESRCH)
        *to->unavailable = error != 0;
    posix_leave(&use);
    if (wait.signals_blocked)
        pthread_sigmask(SIG_SETMASK, &wait.mask, NULL);
    return error == EAGAIN ? 0 : error;
}

int posix_trace_getnext_event(trace_id_t trid, struct posix_trace_event_info *restrict event,
                              void *restrict data, size_t num_bytes, size_t *restrict data_len,
                              int *restrict unavailable)
{
    const struct destination to = {event, data, num_bytes, data_len, unavailable};

    return read_event(trid, &to, FOREVER, NULL);
}

int posix_trace_timedgetnext_event(trace_id_t trid, struct posix_trace_event_info *restrict event,
                                   void *restrict data, size_t num_bytes, size_t *restrict data_len,
                                   int *restrict unavailable,
                                   const struct timespec *restrict abstime)
{
    const struct destination to = {event, data, num_bytes, data_len, unavailable};

    return read_event(trid, &to, UNTIL, abstime);
}

int posix_trace_trygetnext_event(trace_id_t trid, struct posix_trace_event_info *restrict event,
                                 void *restrict data, size_t num_bytes, size_t *restrict data_len,
                                 int *restrict unavailable)
{
    const struct destination to = {event, data, num_bytes, data_len, unavailable};

    return read_event(trid, &to, NO_WAIT, NULL);
}

// ---- pre-recorded streams ----

int posix_trace_rewind(trace_id_t trid)
{
    struct posix_use use;
    int error = posix_enter(&use, trid, POSIX_RECORDED);

    if (error)
        return error;
    error = use.trace->ops->rewind(use.trace);
    posix_leave(&use);
    return error;
}

int posix_trace_close(trace_id_t trid)
{
    struct posix_use use;
    int error = posix_enter(&use, trid, POSIX_RECORDED);

    return error ? error : posix_end(&use);
}
