// SPDX-License-Identifier: MIT
// posix: posix_trace_getnext_event and its kin.
// In: events of a trace, one at a time. Out: what the caller has room for, and when.
//
// Source: IEEE Std 1003.1-2008, posix_trace_getnext_event.
#define _GNU_SOURCE // ppoll
#include "posix/internal.h"
#include "target/linux.h"
#include <poll.h>
#include <signal.h>
#include <string.h>

enum {
    WAIT_LEAST = 1000000, // nanoseconds between two looks
    MAX_WAIT = 16000000
};

// How long a call may wait.
enum patience { NO_WAIT, UNTIL, FOREVER };

// Where the event goes, as callers give it.
struct place {
    struct posix_trace_event_info *event;
    void *data;
    size_t room;
    size_t *data_len;
    int *unavailable;
};

// A wait, with signals held back but while it waits: none is missed between two looks.
struct wait {
    enum patience patience;
    const struct timespec *end;
    struct timespec pause;
    sigset_t mask; // the thread's own
    bool masked;
    int error; // of the last pause
};

static void give(const struct posix_event *event, const struct place *place)
{
    size_t length = event->data_bytes < place->room ? event->data_bytes : place->room;
    struct posix_trace_event_info *info = place->event;
    *info = (struct posix_trace_event_info){.posix_event_id = event->id,
                                            .posix_pid = event->pid,
                                            .posix_prog_address = (void *)(uintptr_t)event->address,
                                            .posix_thread_id = (pthread_t)event->thread,
                                            .posix_timestamp = event->time,
                                            .posix_truncation_status =
                                                event->cut ? POSIX_TRACE_TRUNCATED_RECORD
                                                           : POSIX_TRACE_NOT_TRUNCATED};
    if (length)
        memcpy(place->data, event->data, length);
    if (length < event->data_bytes)
        info->posix_truncation_status = POSIX_TRACE_TRUNCATED_READ;
    *place->data_len = length;
}

// ---- waiting ----

static void hold_signals(struct wait *wait)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_BLOCK, &all, &wait->mask);
    wait->masked = true;
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

// Shortens a pause that would go on behind the end. ETIMEDOUT: that has come.
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

// What a thread that is cancelled while it waits leaves to do; its lock is given back already.
struct cancelled {
    struct posix_use *use;
    struct wait *wait;
    bool ran; // the target did, when the call found it
};

// Takes the lock again; the target will be left as it was found.
static int go_on(const struct cancelled *c)
{
    int over = posix_resume(c->use);
    c->use->trace->target->ran = c->ran;
    return over;
}

static void clean_up(void *context)
{
    const struct cancelled *c = context;
    go_on(c);
    posix_leave(c->use);
    pthread_sigmask(SIG_SETMASK, &c->wait->mask, NULL);
}

static int pause_for(struct posix_use *use, struct wait *wait, const struct timespec *pause)
{
    struct posix_target *target = use->trace->target;
    struct cancelled cancelled = {use, wait, target->ran};
    struct pollfd waker = {.fd = use->trace->waker, .events = POLLIN};
    int disabled;
    posix_target_let_run(target);
    posix_pause(use);
    pthread_cleanup_push(clean_up, &cancelled);
    pthread_setcancelstate(use->cancel, &disabled);
    wait->error = ppoll(&waker, 1, pause, &wait->mask) < 0 ? errno : 0;
    pthread_setcancelstate(disabled, NULL);
    pthread_cleanup_pop(0);
    int over = go_on(&cancelled);
    return over ? over : wait->error;
}

// Waits for what may come. 0: look again.
static int wait_once(struct posix_use *use, struct wait *wait)
{
    const struct timespec *end = wait->end;
    if (wait->patience == UNTIL && (end->tv_nsec < 0 || end->tv_nsec >= 1000000000))
        return EINVAL;
    if (!wait->masked)
        hold_signals(wait);
    struct timespec pause = wait->pause;
    int error = wait->patience == UNTIL ? limit_pause(&pause, end) : 0;
    if (wait->pause.tv_nsec < MAX_WAIT)
        wait->pause.tv_nsec *= 2;
    return error ? error : pause_for(use, wait, &pause);
}

// ---- reading ----

// What a process that has ended recorded last. Records that it left open are closed, since nobody
// will finish them. ESRCH: nothing is left.
static int last_event(struct posix_trace *trace, struct posix_event *event)
{
    ringside_trace_object_attend(trace->target->object);
    int error = trace->ops->next(trace, event);
    return error == EAGAIN ? ESRCH : error;
}

// EAGAIN: there is none, and none is waited for. ESRCH: none will ever come.
static int next_event(struct posix_use *use, struct wait *wait, struct posix_event *event)
{
    struct posix_trace *trace = use->trace;
    int error = trace->ops->next(trace, event);
    bool waits = wait->patience != NO_WAIT && trace->kind != POSIX_RECORDED;
    while (waits && error == EAGAIN) {
        if (posix_stream_has_ended(trace->target, trace->stream))
            return last_event(trace, event);
        error = wait_once(use, wait);
        if (!error)
            error = trace->ops->next(trace, event);
    }
    return error;
}

static int getnext(trace_id_t trid, const struct place *place, enum patience patience,
                   const struct timespec *end)
{
    struct posix_use use;
    struct posix_event event;
    struct wait wait = {.patience = patience, .end = end, .pause = {0, WAIT_LEAST}};
    unsigned kinds = patience == NO_WAIT ? POSIX_ACTIVE | POSIX_LOGGED : POSIX_ALL;
    bool given = place->event && place->data_len && place->unavailable &&
                 (place->data || !place->room) && (end || patience != UNTIL);
    int error = given ? posix_enter(&use, trid, kinds) : EINVAL;
    if (error)
        return error;
    error = next_event(&use, &wait, &event);
    if (!error)
        give(&event, place);
    if (!error || error == EAGAIN || error == ESRCH)
        *place->unavailable = error != 0;
    posix_leave(&use);
    if (wait.masked)
        pthread_sigmask(SIG_SETMASK, &wait.mask, NULL);
    return error == EAGAIN ? 0 : error;
}

int posix_trace_getnext_event(trace_id_t trid, struct posix_trace_event_info *restrict event,
                              void *restrict data, size_t num_bytes, size_t *restrict data_len,
                              int *restrict unavailable)
{
    const struct place place = {event, data, num_bytes, data_len, unavailable};
    return getnext(trid, &place, FOREVER, NULL);
}

int posix_trace_timedgetnext_event(trace_id_t trid, struct posix_trace_event_info *restrict event,
                                   void *restrict data, size_t num_bytes, size_t *restrict data_len,
                                   int *restrict unavailable,
                                   const struct timespec *restrict abstime)
{
    const struct place place = {event, data, num_bytes, data_len, unavailable};
    return getnext(trid, &place, UNTIL, abstime);
}

int posix_trace_trygetnext_event(trace_id_t trid, struct posix_trace_event_info *restrict event,
                                 void *restrict data, size_t num_bytes, size_t *restrict data_len,
                                 int *restrict unavailable)
{
    const struct place place = {event, data, num_bytes, data_len, unavailable};
    return getnext(trid, &place, NO_WAIT, NULL);
}

// ---- streams that are over ----

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
