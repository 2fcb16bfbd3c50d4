// SPDX-License-Identifier: MIT
// posix/log: flushing: copies what is in a stream to its log, and gives its space back.
//
// A flush takes what is in the ring when it starts (flush_end), a block at a time:
//
//   posix_log_flush
//     └► flush_ring
//          names ─► for each record: gap before it, failure, FLUSH_START ─► record
//          ─► refused events ─► FLUSH_STOP ─► block
//
// The events FLUSH_START and FLUSH_STOP are made here and get their place by time: FLUSH_START
// after the events that were recorded before the flush, FLUSH_STOP after the last event that it
// took. If the target has a clock that the host cannot read, both get timestamps of events next to
// them.
//
//                start                    all taken
//   IDLE ────────────────► FLUSHING ─────────────────► IDLE
//    ▲                      │   ▲ │
//    │                      │   └─┘ unlocked between two blocks, so that others can use the trace
//    │                      │
//    │                      ├─ log started again, or stream shut down: the flush ends silently
//    └── log->failed_flush ─┴─ write error: the reader returns to log->at; the next flush makes an
//                              ERROR event of it
//
// Between two blocks, other threads may read the status, change the filter, or clear the stream. A
// clear starts the log again (start_count), which ends the flush: its records are gone.
//
// A stream with the policy FLUSH has a thread that flushes when a quarter of the ring is full, the
// stream stopped itself, or a second has passed. The thread polls after 1, 2, 4, … 50 ms. A flush
// makes it poll at the shortest interval again, since more events are likely to follow.
#include "base/now.h"
#include "log/log_block.h"
#include "posix/log/posix_log.h"
#include <poll.h>
#include <signal.h>

enum {
    MIN_PAUSE_MS = 1, // between two polls of the thread
    MAX_PAUSE_MS = 50,
    MAX_AGE_MS = 1000, // events are flushed after this time, however few they are
    FILL_FRACTION = 4, // a ring is flushed when 1/4 of it is full
    MAX_COUNTS = 8,    // attempts to count what a fast writer has overwritten
    STACK = 256 * 1024 // bytes
};

// A flush in progress.
struct flush {
    struct posix_trace *trace;
    struct posix_use *use;
    bool has_host_clock;    // timestamps are of a clock that the host can read, too
    uint64_t start;         // timestamp of the start, if has_host_clock
    bool makes_events;      // FLUSH_START and FLUSH_STOP are events of the stream
    bool start_is_logged;   // FLUSH_START was made
    struct posix_lost lost; // in the gap before the record that was found
};

// ---- the ring ----

// Returns whether two generations are of the same ring, whose positions can be compared.
static bool is_same_ring(const struct posix_generation *a, const struct posix_generation *b)
{
    return a->process == b->process && a->stream == b->stream;
}

// Writes what the log needs to know of a ring with a new generation: the target was reset, the
// stream was cleared, or this is the first flush. A reader of the log finds the RESET marker where
// the ring changed.
static int follow_ring(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    const struct posix_reader *r = &trace->reader;
    struct posix_generation generation = {trace->generation, r->generation};
    bool was_following = log->is_following;

    if (was_following && is_same_ring(&log->generation, &generation))
        return 0;
    int error = was_following ? posix_log_put_mark(trace, EXTRACT_MARK_RESET) : 0;
    // If a block after the marker cannot be written, the next flush tries again.
    log->is_following = log->is_following && error;
    if (!error && !is_same_ring(&log->logged_ring, &generation))
        error = posix_log_put_ring(trace);
    if (!error)
        error = posix_log_put_program(trace);
    if (error)
        return error;
    log->is_following = true;
    log->generation = generation;
    log->reported_refused = 0;
    log->gap_is_logged = false;
    posix_log_count_start(trace);
    log->at = log->end = r->at;
    return 0;
}

// Writes what the writer overwrote before it was flushed, with the events OVERFLOW and RESUME.
static int put_gap(struct posix_trace *trace, const struct posix_lost *lost, uint64_t stamp)
{
    struct posix_log *log = trace->log;
    struct posix_reader *r = &trace->reader;

    if (r->gap == POSIX_NO_GAP)
        return 0;
    int error = 0;
    // A gap that the log reports already is met again after a write that failed.
    if (!log->gap_is_logged || log->ring_records || lost->least) {
        error = posix_log_put_loss(trace, EXTRACT_LOSS_LAPPED, lost->least, lost->is_exact);
        if (!error)
            posix_log_note_reported(trace, lost);
    }
    log->gap_is_logged |= !error;
    if (!error)
        error = posix_log_add_event(trace, POSIX_ID_OVERFLOW, r->block.lost_stamp, NULL);
    if (!error)
        error = posix_log_add_event(trace, POSIX_ID_RESUME, stamp, NULL);
    r->gap = error ? r->gap : POSIX_NO_GAP;
    return error;
}

// ---- one flush ----

// Makes an event of the flush, unless the stream is stopped.
static int log_event(struct flush *flush, trace_event_id_t id, uint64_t stamp,
                     const uint32_t *number)
{
    return flush->makes_events ? posix_log_add_event(flush->trace, id, stamp, number) : 0;
}

// Makes the ERROR event of an earlier flush that failed. `stamp` is the timestamp of the next
// event, which the ERROR event gets if the host cannot read the target's clock.
static int log_failure(struct flush *flush, uint64_t stamp)
{
    struct posix_log *log = flush->trace->log;
    const uint32_t number = (uint32_t)log->failed_flush;

    if (!log->failed_flush || log->failure_in_block ||
        (flush->has_host_clock && stamp <= log->failed_flush_ns))
        return 0;
    int error = log_event(flush, POSIX_ID_ERROR,
                          flush->has_host_clock ? log->failed_flush_ns : stamp, &number);
    log->failure_in_block = !error;
    return error;
}

// Makes FLUSH_START if the next event, with this timestamp, is later than the start.
static int log_start(struct flush *flush, uint64_t stamp)
{
    if (flush->start_is_logged || (flush->has_host_clock && stamp <= flush->start))
        return 0;
    int error =
        log_event(flush, POSIX_ID_FLUSH_START, flush->has_host_clock ? flush->start : stamp, NULL);
    flush->start_is_logged = !error;
    return error;
}

// Unlocks the target for a moment, so that others may use the trace. Returns ECANCELED if the trace
// was shut down or its log was started again.
static int yield_lock(struct flush *flush)
{
    struct posix_log *log = flush->trace->log;
    unsigned begun = log->start_count;

    if (!flush->use)
        return 0;
    posix_pause(flush->use);
    if (posix_resume(flush->use))
        return ECANCELED;
    return log->start_count == begun ? 0 : ECANCELED;
}

// Finds the next record and counts the loss before it. If the writer has passed everything that was
// copied, the newest records are copied instead. If that happens each time, the loss is unknown.
static int find_record(struct flush *flush, struct posix_record *record, const uint8_t **bytes)
{
    struct posix_trace *trace = flush->trace;
    struct posix_reader *r = &trace->reader;
    int error = 0;

    for (unsigned i = 0; i < MAX_COUNTS && !error; i++) {
        error = posix_ring_find_record(trace, record, bytes);
        if (!error)
            error = follow_ring(trace);
        if (error || r->gap == POSIX_NO_GAP)
            break;
        flush->lost = posix_log_count_lost(trace);
        if (!flush->lost.is_unknown)
            break;
        r->window_words = i + 1 < MAX_COUNTS ? 0 : r->window_words;
    }
    return error;
}

// Copies the records up to flush_end to the log.
static int copy_records(struct flush *flush)
{
    struct posix_trace *trace = flush->trace;
    struct posix_record record;
    const uint8_t *bytes;
    int error = 0;

    while (!error && (int32_t)(trace->log->flush_end - trace->reader.at) > 0) {
        bool put = false;
        error = find_record(flush, &record, &bytes);
        if (!error)
            error = put_gap(trace, &flush->lost, record.stamp);
        if (!error)
            error = log_failure(flush, record.stamp);
        if (!error)
            error = log_start(flush, record.stamp);
        if (!error)
            error = posix_log_add_record(trace, &record, bytes, &put);
        if (!error && put)
            error = yield_lock(flush);
    }
    return error == EAGAIN ? 0 : error;
}

// Makes the whole flush: names, records, refused events, and the events of the flush itself.
static int flush_ring(struct flush *flush)
{
    struct posix_trace *trace = flush->trace;
    struct posix_log *log = trace->log;
    int error = posix_read_wants(trace); // the filter decides which events are made

    if (!error)
        error = posix_log_put_names(trace);
    if (!error)
        error = copy_records(flush);
    uint32_t refused = trace->reader.block.refused, lost = refused - log->reported_refused;
    if (!error && lost)
        error = posix_log_put_loss(trace, EXTRACT_LOSS_REFUSED, lost, true);
    if (!error)
        log->reported_refused = refused;

    uint64_t next = flush->has_host_clock ? UINT64_MAX : log->block_stamp;
    // Without the host's clock and without a record, there is no timestamp for an event.
    flush->makes_events &= flush->has_host_clock || log->next_number || log->block_records;
    if (!error)
        error = log_failure(flush, next);
    if (!error)
        error = log_start(flush, next);
    uint64_t end = flush->start > log->block_stamp ? flush->start : log->block_stamp;
    if (!error)
        error = log_event(flush, POSIX_ID_FLUSH_STOP, end, NULL);
    return error ? error : posix_log_put_block(trace);
}

// Notes a flush that failed and returns its error. The reader returns to the first record that is
// not in the file. If there is a gap after that record, it will be met again.
static int note_failure(struct posix_trace *trace, int error)
{
    struct posix_log *log = trace->log;
    struct posix_reader *r = &trace->reader;
    const struct posix_generation generation = {trace->generation, r->generation};

    log->block_bytes = log->block_records = log->ring_records = 0;
    log->last_id = 0;
    log->block_stamp = log->written_stamp;
    log->failure_in_block = false;
    if (!log->failed_flush) {
        log->failed_flush = error;
        log->failed_flush_ns = extract_wall();
    }
    if (log->is_following && is_same_ring(&log->generation, &generation)) {
        r->gap = log->end != log->at ? POSIX_NO_GAP : r->gap;
        r->at = log->end = log->at;
    }
    r->window_words = 0;
    if (!log->flush_error)
        log->flush_error = error;
    return error;
}

// Only one flush of a stream is in progress at a time. A flush that is requested in the meantime
// extends it. A flush that the thread would start is not needed then.
int posix_log_flush(struct posix_trace *trace, struct posix_use *use, bool always)
{
    struct posix_log *log = trace->log;
    struct flush flush = {.trace = trace, .use = use, .start = extract_wall()};

    if (log->is_flushing && !always)
        return 0;
    if (log->is_flushing) { // the flush in progress takes what is in the ring now, too
        int error = posix_ring_poll(trace);
        if (!error)
            log->flush_end = trace->reader.block.head;
        return error == EAGAIN ? 0 : error;
    }
    int error = posix_ring_poll(trace);
    if (error)
        return error == EAGAIN ? 0 : error;
    if (!log->writer)
        error = posix_log_start(trace);
    if (error)
        return note_failure(trace, error);
    extract_log_note_limit(log->writer);
    error = follow_ring(trace);
    const struct posix_reader *r = &trace->reader;
    bool has_new_events = r->block.head != r->at || r->block.refused != log->reported_refused;
    if (!error && !always && !has_new_events)
        return 0;
    log->is_flushing = true;
    log->flush_end = r->block.head;
    flush.has_host_clock = r->block.layout.realtime;
    flush.makes_events = r->block.state & POSIX_STATE_RUNNING;
    flush.start = flush.has_host_clock ? flush.start : 0;
    if (!error)
        error = flush_ring(&flush);
    if (error == ECANCELED)
        return 0; // the stream or the log that it was for is gone
    log->is_flushing = false;
    return error ? note_failure(trace, error) : 0;
}

// ---- the thread ----

// Returns whether it is time to flush, `waited_ms` after the last flush.
static bool is_due(const struct posix_trace *trace, uint32_t waited_ms)
{
    const struct posix_stream *block = &trace->reader.block;
    uint32_t fill = block->head - trace->reader.at;
    bool has_stopped = block->state & POSIX_STATE_STOPPED_FULL;

    return waited_ms >= MAX_AGE_MS || has_stopped || fill > block->ring_words / FILL_FRACTION;
}

// Polls the stream and flushes it when it is time. Sets *pause_ms to the time until the next poll.
// Returns false if the trace is over.
static bool poll_stream(const struct posix_log *log, int *pause_ms, uint32_t *waited_ms)
{
    struct posix_use use;

    if (posix_enter(&use, log->id, POSIX_LOGGED))
        return false;
    bool due = !posix_ring_poll(use.trace) && is_due(use.trace, *waited_ms);
    if (due)
        posix_log_flush(use.trace, &use, false);
    posix_leave(&use);
    *waited_ms = due ? 0 : *waited_ms;
    *pause_ms = due ? MIN_PAUSE_MS : *pause_ms * 2 < MAX_PAUSE_MS ? *pause_ms * 2 : MAX_PAUSE_MS;
    return true;
}

// The thread: polls until the trace is over.
static void *run_flush_thread(void *context)
{
    const struct posix_log *log = context;
    struct pollfd waker = {.fd = log->waker_fd, .events = POLLIN};
    int pause_ms = MIN_PAUSE_MS;
    uint32_t waited_ms = 0;

    while (poll(&waker, 1, pause_ms) <= 0) {
        waited_ms += (uint32_t)pause_ms;
        if (!poll_stream(log, &pause_ms, &waited_ms))
            break;
    }
    return NULL;
}

// The thread blocks all signals: the program's own threads handle them.
int posix_log_start_thread(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    pthread_attr_t attr;
    sigset_t all, before;

    log->id = trace->id;
    log->waker_fd = trace->waker_fd;
    if (pthread_attr_init(&attr))
        return ENOMEM;
    pthread_attr_setstacksize(&attr, STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    log->has_thread = !pthread_create(&log->thread, &attr, run_flush_thread, log);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return log->has_thread ? 0 : EAGAIN;
}

void posix_log_end_thread(struct posix_log *log)
{
    if (log->has_thread)
        pthread_join(log->thread, NULL);
    log->has_thread = false;
}
