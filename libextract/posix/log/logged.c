// SPDX-License-Identifier: MIT
// posix/log: streams with a log, from posix_trace_create_withlog to posix_trace_shutdown.
// In: a descriptor, attributes. Out: an active stream that is flushed to the file.
//
// Source: IEEE Std 1003.1-2008, posix_trace_create_withlog, posix_trace_flush, posix_trace_clear,
// posix_trace_get_status.
#include "posix/log/log.h"
#include "log/block.h"
#include "target/linux.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LAST_WAITS = 500, STOP_WAITS = 100, LAST_WAIT = 1000000 }; // times, nanoseconds

// Events of such a stream are in the log.
static int next(struct posix_trace *trace, struct posix_event *event)
{
    (void)trace;
    (void)event;
    return EINVAL;
}

static void add_log(const struct posix_trace *trace, struct posix_trace_status_info *status)
{
    const struct posix_log *log = trace->log;
    status->posix_stream_flush_status =
        log->flushing ? POSIX_TRACE_FLUSHING : POSIX_TRACE_NOT_FLUSHING;
    status->posix_stream_flush_error = log->flush_error;
    status->posix_log_overrun_status = log->overrun ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
    status->posix_log_full_status =
        posix_log_is_full(trace) ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
}

static int status(struct posix_trace *trace, struct posix_trace_status_info *status)
{
    int error = posix_ring_status(trace, status);
    if (error)
        return error;
    add_log(trace, status);
    trace->log->overrun = false;
    trace->log->flush_error = 0;
    return 0;
}

// The final status, and the end of the log.
static int close_log(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    struct posix_trace_status_info last = {0};
    if (!log->writer)
        return 0;
    int error = status(trace, &last);
    last.posix_stream_status = POSIX_TRACE_SUSPENDED; // also where it would go on, were it not over
    if (!error)
        error = posix_log_put_facts(trace, &last, true);
    if (!error && !log->full)
        error = posix_log_put_mark(trace, EXTRACT_MARK_STOP);
    int closed = posix_log_errno(extract_log_close(log->writer, NULL));
    log->writer = NULL;
    return error ? error : closed;
}

// A record that is being written is waited for, and the event of the stop, but not forever:
// firmware stops at its next trace point.
static bool is_due(const struct posix_reader *r, unsigned waits)
{
    return waits < (r->at != r->block.head ? LAST_WAITS : STOP_WAITS) &&
           (r->at != r->block.head || !posix_asked_done(&r->block));
}

// Flushes all that is there.
static int flush_all(struct posix_trace *trace)
{
    const struct timespec pause = {0, LAST_WAIT};
    const struct posix_reader *r = &trace->reader;
    bool moves = extract_memory_is_running(trace->target->memory);
    int error = posix_log_flush(trace, NULL, false);
    for (unsigned i = 0; moves && !error && is_due(r, i); i++) {
        posix_target_nap(trace->target, &pause);
        if (trace->target->object)
            ringside_trace_object_attend(trace->target->object);
        error = posix_log_flush(trace, NULL, false);
    }
    if (error || r->at == r->block.head)
        return error;
    trace->kind = POSIX_RECORDED; // what is open is passed over
    return posix_log_flush(trace, NULL, false);
}

// Nothing that is lost here keeps the stream from being freed.
static int finish(struct posix_trace *trace)
{
    trace->log->finished = true;
    posix_learn(trace);
    trace->wants.running = false;
    posix_ask(trace, true);
    trace->log->flushing = false;
    int error = flush_all(trace);
    int closed = close_log(trace);
    posix_unbind(trace);
    return error ? error : closed;
}

static void free_log(struct posix_log *log)
{
    if (log->fd >= 0)
        close(log->fd);
    free(log);
}

// In a child of the process, which is not asked to finish it first, the log is the parent's.
static void free_logged(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    if (log->finished)
        posix_log_end_thread(log);
    extract_log_detach(log->writer);
    free_log(log);
    posix_free(trace);
}

static const struct posix_ops logged_ops = {.next = next,
                                            .status = status,
                                            .attr = posix_ring_attr,
                                            .name = posix_ring_name,
                                            .named = posix_ring_named,
                                            .finish = finish,
                                            .free = free_logged};

// ---- creating ----

static int check_descriptor(int fd)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || fstat(fd, &st) != 0)
        return EBADF;
    return S_ISREG(st.st_mode) ? 0 : EINVAL;
}

// Gives a trace its log.
static int add(struct posix_trace *trace, int fd)
{
    struct posix_log *log = calloc(1, sizeof *log);
    if (!log)
        return ENOMEM;
    log->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    trace->log = log;
    trace->reader.batch = POSIX_WINDOW;
    int error = log->fd < 0 ? errno : posix_log_begin(trace);
    if (!error && trace->attr.stream_policy == POSIX_TRACE_FLUSH)
        error = posix_log_start_thread(trace);
    if (!error) {
        trace->ops = &logged_ops;
        return 0;
    }
    trace->log = NULL;
    extract_log_close(log->writer, NULL);
    free_log(log);
    return error;
}

int posix_trace_create_withlog(pid_t pid, const trace_attr_t *restrict attr, int file_desc,
                               trace_id_t *restrict trid)
{
    struct posix_use use;
    int error = trid ? check_descriptor(file_desc) : EINVAL;
    if (!error)
        error = posix_make(POSIX_LOGGED, pid, attr, trid);
    if (!error)
        error = posix_enter(&use, *trid, POSIX_LOGGED);
    if (error)
        return error;
    error = add(use.trace, file_desc);
    if (error)
        posix_end(&use);
    else
        posix_leave(&use);
    return error;
}

// ---- the rest ----

int posix_trace_flush(trace_id_t trid)
{
    struct posix_use use;
    int error = posix_enter(&use, trid, POSIX_LOGGED);
    if (error)
        return error;
    error = posix_log_flush(use.trace, &use, true);
    posix_leave(&use);
    return error;
}

int posix_log_clear(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    log->followed = log->flushing = log->overrun = false;
    log->begun++;
    return trace->attr.log_policy == POSIX_TRACE_APPEND
               ? posix_log_put_mark(trace, EXTRACT_MARK_START)
               : posix_log_begin(trace);
}
