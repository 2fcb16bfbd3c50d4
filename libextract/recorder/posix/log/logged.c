// SPDX-License-Identifier: MIT
// posix/log: streams with a log, from posix_trace_create_withlog to posix_trace_shutdown.
//
// Such a stream is an active stream whose events are read from its log, not from the stream. It is
// created as any other, then gets its log, then operations of its own (logged_ops).
//
//               posix_trace_create_withlog         posix_trace_shutdown, exit
//   (no trace) ────────────────────────────► LOGGED ─────────────────────────► finish_logged
//                                            │    ▲
//                        posix_trace_flush,  │    │
//                        flushing thread     └────┘
//
// finish_logged stops the stream, flushes what is left, writes the final status, and releases the
// stream, in this order.
//
// The last flush waits for a record that is still being written, and for the event of the stop, but
// not forever: firmware stops at its next trace point, which may never come.
//
// Source: IEEE Std 1003.1-2008, posix_trace_create_withlog, posix_trace_flush, posix_trace_clear,
// posix_trace_get_status.
#include "posix/log/posix_log.h"
#include "log/log_block.h"
#include "target/linux_object.h"
#include "memory/memory_hooks.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_RECORD_WAITS = 500, // polls that wait for a record that is being written
    MAX_STOP_WAITS = 100,   // polls that wait for the stop
    WAIT_NS = 1000000
};

// Events of such a stream are read from its log.
static int refuse_next(struct posix_trace *trace, struct posix_event *event)
{
    (void)trace;
    (void)event;
    return EINVAL;
}

static int logged_status(struct posix_trace *trace, struct posix_trace_status_info *status)
{
    int error = posix_ring_status(trace, status);

    if (error)
        return error;
    struct posix_log *log = trace->log;
    status->posix_stream_flush_status =
        log->is_flushing ? POSIX_TRACE_FLUSHING : POSIX_TRACE_NOT_FLUSHING;
    status->posix_stream_flush_error = log->flush_error;
    status->posix_log_overrun_status =
        log->is_overrun ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
    status->posix_log_full_status =
        posix_log_is_full(trace) ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
    log->is_overrun = false;
    log->flush_error = 0;
    return 0;
}

// Writes the final status and closes the log.
static int close_log(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    struct posix_trace_status_info last = {0};

    if (!log->writer)
        return 0;
    int error = logged_status(trace, &last);
    last.posix_stream_status = POSIX_TRACE_SUSPENDED; // even if the next event would start it again
    if (!error)
        error = posix_log_put_settings(trace, &last, true);
    if (!error && !log->is_full)
        error = posix_log_put_mark(trace, EXTRACT_MARK_STOP);
    int closed = posix_log_errno(extract_log_close(log->writer, NULL));
    log->writer = NULL;
    return error ? error : closed;
}

// Flushes everything that is in the stream.
static int flush_all(struct posix_trace *trace)
{
    const struct timespec pause = {0, WAIT_NS};
    const struct posix_reader *r = &trace->reader;
    bool moves = extract_memory_is_running(trace->target->memory);
    int error = posix_log_flush(trace, NULL, false);

    for (unsigned i = 0; moves && !error; i++) {
        bool has_more = r->at != r->block.head;
        bool must_wait = has_more || !posix_request_is_done(&r->block);
        if (!must_wait || i >= (has_more ? MAX_RECORD_WAITS : MAX_STOP_WAITS))
            break;
        posix_target_sleep(trace->target, &pause);
        if (trace->target->object)
            ringside_trace_object_attend(trace->target->object);
        error = posix_log_flush(trace, NULL, false);
    }
    if (error || r->at == r->block.head)
        return error;
    trace->kind = POSIX_RECORDED; // skips records that were left open
    return posix_log_flush(trace, NULL, false);
}

// Ends the stream. The stream is released even if its last events cannot be written.
static int finish_logged(struct posix_trace *trace)
{
    trace->log->is_finished = true;
    posix_read_wants(trace);
    trace->wants.is_running = false;
    posix_send_request(trace, true);
    trace->log->is_flushing = false;
    int error = flush_all(trace);
    int closed = close_log(trace);
    posix_unbind(trace);
    return error ? error : closed;
}

// Frees a trace and its log. In a child of the process, the trace is freed but not finished: the
// log and its thread are the parent's.
static void free_logged(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;

    if (log->is_finished)
        posix_log_end_thread(log);
    extract_log_detach(log->writer);
    if (log->fd >= 0)
        close(log->fd);
    free(log);
    posix_free(trace);
}

static const struct posix_ops logged_ops = {.next = refuse_next,
                                            .status = logged_status,
                                            .attr = posix_ring_attr,
                                            .name = posix_ring_name,
                                            .next_named = posix_ring_next_named,
                                            .finish = finish_logged,
                                            .free = free_logged};

// ---- creating ----

// Returns EBADF for a descriptor that cannot be written, EINVAL for one that is not a regular file.
static int check_descriptor(int fd)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || fstat(fd, &st) != 0)
        return EBADF;
    return S_ISREG(st.st_mode) ? 0 : EINVAL;
}

// Gives a trace its log.
static int add_log(struct posix_trace *trace, int fd)
{
    struct posix_log *log = calloc(1, sizeof *log);

    if (!log)
        return ENOMEM;
    log->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    trace->log = log;
    trace->reader.batch_words = POSIX_WINDOW;
    int error = log->fd < 0 ? errno : posix_log_start(trace);
    if (!error && trace->attr.stream_policy == POSIX_TRACE_FLUSH)
        error = posix_log_start_thread(trace);
    if (!error) {
        trace->ops = &logged_ops;
        return 0;
    }
    trace->log = NULL;
    extract_log_close(log->writer, NULL);
    if (log->fd >= 0)
        close(log->fd);
    free(log);
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
    error = add_log(use.trace, file_desc);
    if (error)
        posix_end(&use);
    else
        posix_leave(&use);
    return error;
}

// ---- flush and clear ----

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

// A flush in progress notices the new start_count and ends. A log with the policy APPEND keeps what
// it has; in other logs, the cleared events must not remain.
int posix_log_clear(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;

    log->is_following = log->is_flushing = log->is_overrun = false;
    log->start_count++;
    return trace->attr.log_policy == POSIX_TRACE_APPEND
               ? posix_log_put_mark(trace, EXTRACT_MARK_START)
               : posix_log_start(trace);
}
