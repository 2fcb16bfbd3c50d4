// SPDX-License-Identifier: MIT
// posix: what a controller requests of its stream: start, stop, clear, filter.
//
// A request is a group of words in the stream block. The target compares `request` with
// `request_done` at each of its trace points.
//
//   controller (this file)                        target (target/ringside_trace.c)
//   ─────────────────────────────────────         ──────────────────────────────────────────
//   1 wanted state, clears, filter
//   2 request = the next number
//   3 active  = all ones                  ──────► trace point: request != request_done
//                                                 carries out: bind or release, clear,
//                                                              filter, run
//     until then, what is wanted counts   ◄────── request_done = request
//     as the state (posix_status.c)
//
// The words are stored in this order, so a target that sees the new number sees the new words. In
// shared memory, the controller then carries out the request itself, under the target's lock.
//
// Several controllers may control one stream. Each reads what is wanted before it changes a part of
// it (posix_read_wants). Request numbers only grow, so a lower number means that the target was
// reset. The stream is then bound again (posix_rebind) with what was wanted before the reset.
#include "posix/log/posix_log.h"
#include "target/linux_object.h"
#include <string.h>

bool posix_request_is_done(const struct posix_stream *block)
{
    return block->request == block->request_done;
}

// Returns the number of words of a filter.
static uint32_t count_filter_words(const struct posix_target *target)
{
    return target->block.ids / 32;
}

// Writes all words of a request except its number.
static int write_wants(struct posix_trace *trace, uint64_t address, bool bound)
{
    const struct posix_wants *w = &trace->wants;
    struct posix_target *target = trace->target;
    uint32_t state = !bound ? 0 : POSIX_STATE_BOUND | (w->is_running ? POSIX_STATE_RUNNING : 0);
    int error = posix_write_words(target, address + POSIX_STREAM_AT_WANTED, &state, 1);

    if (!error)
        error = posix_write_words(target, address + POSIX_STREAM_AT_WANTED_CLEARS, &w->clears, 1);
    if (!error)
        error = posix_write_words(target, address + posix_wanted_filter_at(target->block.ids),
                                  w->filter.ringside_words, count_filter_words(target));
    return error;
}

// Numbers are compared as distances, since they wrap at 2^32.
bool posix_memory_was_cleared(const struct posix_trace *trace, const struct posix_stream *block)
{
    const struct posix_reader *r = &trace->reader;
    bool unbound = (int32_t)(block->request - trace->wants.bind) < 0;
    bool emptied = r->is_started && (int32_t)(block->head - r->at) < 0;

    return !trace->target->object && (int32_t)(block->request - trace->wants.last) < 0 &&
           (unbound || emptied);
}

int posix_read_wants(struct posix_trace *trace)
{
    struct posix_target *target = trace->target;
    struct posix_wants wants = trace->wants;
    struct posix_stream block;
    uint64_t address = posix_stream_address(target, trace->stream);
    int error = posix_stream_load(target, trace->stream, &block);

    if (error)
        return error == ENOENT ? 0 : error;
    if (trace->was_reset || posix_memory_was_cleared(trace, &block)) {
        posix_rebind(trace, &block);
        return 0;
    }
    if (!(block.wanted & POSIX_STATE_BOUND) || (int32_t)(block.request - wants.bind) < 0)
        return 0;
    wants.is_running = block.wanted & POSIX_STATE_RUNNING;
    wants.clears = block.wanted_clears;
    error = posix_read_words(target, address + posix_wanted_filter_at(target->block.ids),
                             wants.filter.ringside_words, count_filter_words(target));
    if (!error)
        trace->wants = wants;
    return error;
}

// The number of a request differs from request_done, also after the numbers have wrapped: equal
// numbers would mean that there is nothing to do.
int posix_send_request(struct posix_trace *trace, bool bound)
{
    static const uint32_t all = UINT32_MAX;
    struct posix_target *target = trace->target;
    struct posix_stream block;
    uint32_t request = 0;
    uint64_t address = posix_stream_address(target, trace->stream);
    int error = posix_stream_load(target, trace->stream, &block);

    if (!error) {
        request = block.request + 1 + (block.request + 1 == block.request_done);
        error = write_wants(trace, address, bound);
    }
    if (!error)
        error = posix_write_words(target, address + POSIX_STREAM_AT_REQUEST, &request, 1);
    if (!error)
        error = posix_write_words(target, target->address + POSIX_BLOCK_AT_ACTIVE, &all, 1);
    if (!error && target->object)
        ringside_trace_object_attend(target->object);
    if (!error)
        trace->wants.last = request;
    return error == ENOENT ? EIO : error;
}

// Enters a trace and reads what controllers, including others, request of its stream now.
static int enter_stream(struct posix_use *use, trace_id_t trid)
{
    int error = posix_enter(use, trid, POSIX_ACTIVE | POSIX_LOGGED);

    if (error)
        return error;
    error = posix_read_wants(use->trace);
    if (error)
        posix_leave(use);
    return error;
}

// Requests a change. If the request cannot be written, what was wanted before is restored, in the
// target as well: otherwise, the next request would carry out this one. For a stream that must be
// bound again, the change is requested when it is bound.
static int request_change(struct posix_trace *trace, const struct posix_wants *wants)
{
    struct posix_wants before = trace->wants;

    trace->wants = *wants;
    int error = trace->was_reset ? 0 : posix_send_request(trace, true);
    if (error) {
        trace->wants = before;
        write_wants(trace, posix_stream_address(trace->target, trace->stream), true);
    }
    return error;
}

// Returns whether an UNTIL_FULL stream has stopped itself and stays full: it is neither read to its
// end nor about to be cleared. Start and stop then change nothing. A FLUSH stream is emptied by its
// log sooner or later, and a stop takes effect then.
static bool stays_full(const struct posix_trace *trace)
{
    struct posix_stream block;

    return !posix_stream_load(trace->target, trace->stream, &block) &&
           posix_stream_stays_full(&block);
}

static int set_running(trace_id_t trid, bool is_running)
{
    struct posix_use use;
    int error = enter_stream(&use, trid);

    if (error)
        return error;
    struct posix_wants wants = use.trace->wants;
    wants.is_running = is_running;
    if (is_running || !stays_full(use.trace))
        error = request_change(use.trace, &wants);
    posix_leave(&use);
    return error;
}

int posix_trace_start(trace_id_t trid)
{
    return set_running(trid, true);
}

int posix_trace_stop(trace_id_t trid)
{
    return set_running(trid, false);
}

int posix_trace_clear(trace_id_t trid)
{
    struct posix_use use;
    int error = enter_stream(&use, trid);

    if (error)
        return error;
    struct posix_wants wants = use.trace->wants;
    wants.clears++;
    // A stream that stopped itself stays suspended after a clear.
    wants.is_running = wants.is_running && !stays_full(use.trace);
    error = request_change(use.trace, &wants);
    if (!error) {
        posix_reader_restart(&use.trace->reader);
        use.trace->reader.is_overrun = false;
    }
    if (!error && use.trace->log)
        error = posix_log_clear(use.trace);
    posix_leave(&use);
    return error;
}

int posix_trace_get_filter(trace_id_t trid, trace_event_set_t *set)
{
    struct posix_use use;
    int error = set ? enter_stream(&use, trid) : EINVAL;

    if (error)
        return error;
    *set = use.trace->wants.filter;
    posix_leave(&use);
    return 0;
}

int posix_trace_set_filter(trace_id_t trid, const trace_event_set_t *set, int how)
{
    struct posix_use use;

    if (!set || how < POSIX_TRACE_SET_EVENTSET || how > POSIX_TRACE_SUB_EVENTSET)
        return EINVAL;
    int error = enter_stream(&use, trid);
    if (error)
        return error;
    struct posix_wants wants = use.trace->wants;
    for (unsigned i = 0; i < POSIX_SET_WORDS; i++) {
        uint32_t old = wants.filter.ringside_words[i], word = set->ringside_words[i];
        wants.filter.ringside_words[i] = how == POSIX_TRACE_ADD_EVENTSET   ? old | word
                                         : how == POSIX_TRACE_SUB_EVENTSET ? old & ~word
                                                                           : word;
    }
    error = request_change(use.trace, &wants);
    posix_leave(&use);
    return error;
}
