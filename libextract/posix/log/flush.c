// SPDX-License-Identifier: MIT
// posix/log: flushing. In: a stream with a log. Out: its records in the log, and their room in the
// ring free; when that is done by itself, a thread.
//
// A flush takes what was in the ring when it began. POSIX_TRACE_FLUSH_START and _STOP stand where
// they belong by time: behind the events that were there before it, and behind the last that it
// took.
#include "base/now.h"
#include "log/block.h"
#include "posix/log/log.h"
#include <poll.h>
#include <signal.h>

enum {
    PAUSE_LEAST = 1, // ms between two looks of the thread
    MAX_PAUSE = 50,
    FLUSH_EVERY = 1000, // ms; what is there by then is flushed, be it ever so little
    FILL_SHARE = 4,     // a ring that is full to this part is flushed
    TRIES = 8,          // to count what a fast writer has overwritten
    STACK = 256 * 1024
};

// A flush under way.
struct flush {
    struct posix_trace *trace;
    struct posix_use *use;
    bool day;               // stamps are of a clock that the host knows, too
    uint64_t start;         // stamp of its start, by that
    bool tells;             // its start and end are events of the stream
    bool told;              // its start was
    struct posix_lost lost; // in the gap in front of the record that was found
};

// ---- what follows the ring ----

static bool is_same(const struct posix_generation *a, const struct posix_generation *b)
{
    return a->process == b->process && a->stream == b->stream;
}

// The ring began again: the target did, or the stream was cleared.
static int follow(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    const struct posix_reader *r = &trace->reader;
    struct posix_generation generation = {trace->generation, r->generation};
    bool restarted = log->followed;
    if (restarted && is_same(&log->generation, &generation))
        return 0;
    int error = restarted ? posix_log_put_mark(trace, EXTRACT_MARK_RESET) : 0;
    log->followed = log->followed && error; // what is behind the mark is told again, if need be
    if (!error && !is_same(&log->told, &generation))
        error = posix_log_put_ring(trace);
    if (!error)
        error = posix_log_put_program(trace);
    if (error)
        return error;
    log->followed = true;
    log->generation = generation;
    log->told_refused = 0;
    log->gap_told = false;
    posix_log_count_start(trace);
    log->at = log->end = r->at;
    return 0;
}

static int put_lost(struct posix_trace *trace, const struct posix_lost *lost)
{
    if (trace->log->gap_told && !trace->log->taken && !lost->least)
        return 0; // it is the gap that the log was told of, met again behind a write that failed
    int error = posix_log_put_loss(trace, EXTRACT_LOSS_LAPPED, lost->least, lost->exact);
    if (!error)
        posix_log_count_told(trace, lost);
    return error;
}

// What the writer overwrote before it was flushed.
static int put_gap(struct posix_trace *trace, const struct posix_lost *lost, uint64_t stamp)
{
    struct posix_log *log = trace->log;
    struct posix_reader *r = &trace->reader;
    if (r->gap == POSIX_NO_GAP)
        return 0;
    int error = put_lost(trace, lost);
    log->gap_told |= !error;
    if (!error)
        error = posix_log_make(trace, POSIX_ID_OVERFLOW, r->block.lost_stamp, NULL);
    if (!error)
        error = posix_log_make(trace, POSIX_ID_RESUME, stamp, NULL);
    r->gap = error ? r->gap : POSIX_NO_GAP;
    return error;
}

static int put_refused(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    uint32_t refused = trace->reader.block.refused, lost = refused - log->told_refused;
    int error = lost ? posix_log_put_loss(trace, EXTRACT_LOSS_REFUSED, lost, true) : 0;
    if (!error)
        log->told_refused = refused;
    return error;
}

// ---- one flush ----

static int tell(struct flush *flush, trace_event_id_t id, uint64_t stamp, const uint32_t *number)
{
    return flush->tells ? posix_log_make(flush->trace, id, stamp, number) : 0;
}

// That a flush in front of this one failed. `stamp` is that of the next event; an event of the host
// has none of its own where the clock is the target's.
static int tell_trouble(struct flush *flush, uint64_t stamp)
{
    struct posix_log *log = flush->trace->log;
    const uint32_t number = (uint32_t)log->trouble;
    if (!log->trouble || log->trouble_taken || (flush->day && stamp <= log->trouble_stamp))
        return 0;
    int error = tell(flush, POSIX_ID_ERROR, flush->day ? log->trouble_stamp : stamp, &number);
    log->trouble_taken = !error;
    return error;
}

static int tell_start(struct flush *flush, uint64_t stamp)
{
    if (flush->told || (flush->day && stamp <= flush->start))
        return 0;
    int error = tell(flush, POSIX_ID_FLUSH_START, flush->day ? flush->start : stamp, NULL);
    flush->told = !error;
    return error;
}

static int take_record(struct flush *flush, const struct posix_record *record, const uint8_t *bytes,
                       bool *put)
{
    struct posix_trace *trace = flush->trace;
    int error = put_gap(trace, &flush->lost, record->stamp);
    if (!error)
        error = tell_trouble(flush, record->stamp);
    if (!error)
        error = tell_start(flush, record->stamp);
    return error ? error : posix_log_take(trace, record, bytes, put);
}

// Others may use the trace between two blocks. ECANCELED: it is over, or its log began again.
static int breathe(struct flush *flush)
{
    struct posix_log *log = flush->trace->log;
    unsigned begun = log->begun;
    if (!flush->use)
        return 0;
    posix_pause(flush->use);
    if (posix_resume(flush->use))
        return ECANCELED;
    return log->begun == begun ? 0 : ECANCELED;
}

// The next record, and what is lost in front of it. Where the writer has passed all that was
// copied, the newest is taken; as often as it is that fast, no number is known.
static int find(struct flush *flush, struct posix_record *record, const uint8_t **bytes)
{
    struct posix_trace *trace = flush->trace;
    struct posix_reader *r = &trace->reader;
    int error = 0;
    for (unsigned i = 0; i < TRIES && !error; i++) {
        error = posix_ring_find(trace, record, bytes);
        if (!error)
            error = follow(trace);
        if (error || r->gap == POSIX_NO_GAP)
            break;
        flush->lost = posix_log_count_lost(trace);
        if (!flush->lost.passed)
            break;
        r->window = i + 1 < TRIES ? 0 : r->window;
    }
    return error;
}

static int take_all(struct flush *flush)
{
    struct posix_trace *trace = flush->trace;
    struct posix_record record;
    const uint8_t *bytes;
    int error = 0;
    while (!error && (int32_t)(trace->log->flush_end - trace->reader.at) > 0) {
        bool put = false;
        error = find(flush, &record, &bytes);
        if (!error)
            error = take_record(flush, &record, bytes, &put);
        if (!error && put)
            error = breathe(flush);
    }
    return error == EAGAIN ? 0 : error;
}

static int run(struct flush *flush)
{
    struct posix_trace *trace = flush->trace;
    struct posix_log *log = trace->log;
    int error = posix_learn(trace); // what is filtered
    if (!error)
        error = posix_log_put_names(trace);
    if (!error)
        error = take_all(flush);
    if (!error)
        error = put_refused(trace);
    uint64_t next = flush->day ? UINT64_MAX : log->stamp;
    flush->tells &= flush->day || log->number || log->count; // else no stamp is known
    if (!error)
        error = tell_trouble(flush, next);
    if (!error)
        error = tell_start(flush, next);
    uint64_t end = flush->start > log->stamp ? flush->start : log->stamp;
    if (!error)
        error = tell(flush, POSIX_ID_FLUSH_STOP, end, NULL);
    return error ? error : posix_log_put(trace);
}

// What is not in the log is come back to; so is a gap behind that, which is met again.
static int fail(struct posix_trace *trace, int error)
{
    struct posix_log *log = trace->log;
    struct posix_reader *r = &trace->reader;
    const struct posix_generation generation = {trace->generation, r->generation};
    log->used = log->count = log->taken = 0;
    log->last = 0;
    log->stamp = log->put_stamp;
    log->trouble_taken = false;
    if (!log->trouble) {
        log->trouble = error;
        log->trouble_stamp = extract_wall();
    }
    if (log->followed && is_same(&log->generation, &generation)) {
        r->gap = log->end != log->at ? POSIX_NO_GAP : r->gap;
        r->at = log->end = log->at;
    }
    r->window = 0;
    if (!log->flush_error)
        log->flush_error = error;
    return error;
}

static bool is_worth_it(struct posix_trace *trace)
{
    const struct posix_reader *r = &trace->reader;
    return r->block.head != r->at || r->block.refused != trace->log->told_refused;
}

// One that is under way takes what is there by now, too.
static int flush_more(struct posix_trace *trace)
{
    int error = posix_ring_look(trace);
    if (!error)
        trace->log->flush_end = trace->reader.block.head;
    return error == EAGAIN ? 0 : error;
}

int posix_log_flush(struct posix_trace *trace, struct posix_use *use, bool always)
{
    struct posix_log *log = trace->log;
    struct flush flush = {.trace = trace, .use = use, .start = extract_wall()};
    if (log->flushing)
        return always ? flush_more(trace) : 0;
    int error = posix_ring_look(trace);
    if (error)
        return error == EAGAIN ? 0 : error;
    if (!log->writer)
        error = posix_log_begin(trace);
    if (error)
        return fail(trace, error);
    extract_log_note_limit(log->writer);
    error = follow(trace);
    if (!error && !always && !is_worth_it(trace))
        return 0;
    log->flushing = true;
    log->flush_end = trace->reader.block.head;
    flush.day = trace->reader.block.layout.realtime;
    flush.tells = trace->reader.block.state & POSIX_STATE_RUNNING;
    flush.start = flush.day ? flush.start : 0;
    if (!error)
        error = run(&flush);
    if (error == ECANCELED)
        return 0; // what it was for is no more
    log->flushing = false;
    return error ? fail(trace, error) : 0;
}

// ---- the thread ----

// Whether it is time: the ring fills, or stands since it is full, or what is in it has waited.
static bool is_due(const struct posix_trace *trace, uint32_t waited)
{
    const struct posix_stream *block = &trace->reader.block;
    uint32_t fill = block->head - trace->reader.at;
    bool stands = block->state & POSIX_STATE_STOPPED_FULL;
    return waited >= FLUSH_EVERY || stands || fill > block->ring_words / FILL_SHARE;
}

// A look at the stream, and a flush when it is time. *pause: until the next one, in ms. False: the
// trace is over.
static bool look(const struct posix_log *log, int *pause, uint32_t *waited)
{
    struct posix_use use;
    if (posix_enter(&use, log->id, POSIX_LOGGED))
        return false;
    bool due = !posix_ring_look(use.trace) && is_due(use.trace, *waited);
    if (due)
        posix_log_flush(use.trace, &use, false);
    posix_leave(&use);
    *waited = due ? 0 : *waited;
    *pause = due ? PAUSE_LEAST : *pause * 2 < MAX_PAUSE ? *pause * 2 : MAX_PAUSE;
    return true;
}

static void *flush_often(void *context)
{
    const struct posix_log *log = context;
    struct pollfd waker = {.fd = log->waker, .events = POLLIN};
    int pause = PAUSE_LEAST;
    uint32_t waited = 0;
    while (poll(&waker, 1, pause) <= 0) {
        waited += (uint32_t)pause;
        if (!look(log, &pause, &waited))
            break;
    }
    return NULL;
}

// Signals are the program's.
int posix_log_start_thread(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    pthread_attr_t attr;
    sigset_t all, before;
    log->id = trace->id;
    log->waker = trace->waker;
    if (pthread_attr_init(&attr))
        return ENOMEM;
    pthread_attr_setstacksize(&attr, STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    log->threaded = !pthread_create(&log->thread, &attr, flush_often, log);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return log->threaded ? 0 : EAGAIN;
}

void posix_log_end_thread(struct posix_log *log)
{
    if (log->threaded)
        pthread_join(log->thread, NULL);
    log->threaded = false;
}
