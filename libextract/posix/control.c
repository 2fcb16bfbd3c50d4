// SPDX-License-Identifier: MIT
// posix: what a controller asks of its stream: start, stop, clear, filter.
// In: what is wanted. Out: request words in the target's memory (docs/formats/posix-ring.md,
// "Requests").
#include "posix/log/log.h"
#include "target/linux.h"
#include <string.h>

bool posix_asked_done(const struct posix_stream *block)
{
    return block->request == block->request_done;
}

static uint32_t filter_words(const struct posix_target *target)
{
    return target->block.ids / 32;
}

// Everything but the request itself.
static int write_wants(struct posix_trace *trace, uint64_t address, bool bound)
{
    const struct posix_wants *w = &trace->wants;
    struct posix_target *target = trace->target;
    uint32_t state = !bound ? 0 : POSIX_STATE_BOUND | (w->running ? POSIX_STATE_RUNNING : 0);
    int error = posix_poke(target, address + POSIX_STREAM_AT_WANTED, &state, 1);
    if (!error)
        error = posix_poke(target, address + POSIX_STREAM_AT_WANTED_CLEARS, &w->clears, 1);
    if (!error)
        error = posix_poke(target, address + posix_wanted_filter_at(target->block.ids),
                           w->filter.ringside_words, filter_words(target));
    return error;
}

bool posix_went_back(const struct posix_trace *trace, const struct posix_stream *block)
{
    const struct posix_reader *r = &trace->reader;
    bool unbound = (int32_t)(block->request - trace->wants.bind) < 0;
    bool emptied = r->begun && (int32_t)(block->head - r->at) < 0;
    return !trace->target->object && (int32_t)(block->request - trace->wants.last) < 0 &&
           (unbound || emptied);
}

int posix_learn(struct posix_trace *trace)
{
    struct posix_target *target = trace->target;
    struct posix_wants wants = trace->wants;
    struct posix_stream block;
    uint64_t address = posix_stream_address(target, trace->stream);
    int error = posix_stream_look(target, trace->stream, &block);
    if (error)
        return error == ENOENT ? 0 : error;
    if (trace->restarted || posix_went_back(trace, &block)) {
        posix_bind_again(trace, &block);
        return 0;
    }
    if (!(block.wanted & POSIX_STATE_BOUND) || (int32_t)(block.request - wants.bind) < 0)
        return 0;
    wants.running = block.wanted & POSIX_STATE_RUNNING;
    wants.clears = block.wanted_clears;
    error = posix_peek(target, address + posix_wanted_filter_at(target->block.ids),
                       wants.filter.ringside_words, filter_words(target));
    if (!error)
        trace->wants = wants;
    return error;
}

int posix_ask(struct posix_trace *trace, bool bound)
{
    static const uint32_t all = UINT32_MAX;
    struct posix_target *target = trace->target;
    struct posix_stream block;
    uint32_t request = 0;
    uint64_t address = posix_stream_address(target, trace->stream);
    int error = posix_stream_look(target, trace->stream, &block);
    if (!error) {
        request = block.request + 1 + (block.request + 1 == block.request_done);
        error = write_wants(trace, address, bound);
    }
    if (!error)
        error = posix_poke(target, address + POSIX_STREAM_AT_REQUEST, &request, 1);
    if (!error)
        error = posix_poke(target, target->address + POSIX_BLOCK_AT_ACTIVE, &all, 1);
    if (!error && target->object)
        ringside_trace_object_attend(target->object);
    if (!error)
        trace->wants.last = request;
    return error == ENOENT ? EIO : error;
}

// Takes a stream, and what is asked of it by now, also by others.
static int enter(struct posix_use *use, trace_id_t trid)
{
    int error = posix_enter(use, trid, POSIX_ACTIVE | POSIX_LOGGED);
    if (error)
        return error;
    error = posix_learn(use->trace);
    if (error)
        posix_leave(use);
    return error;
}

// Asks for something else; what was wanted before stands when that cannot be done, also in the
// target, so that the next request does not bring it about. Of a stream that is to be bound again,
// it is asked for then.
static int change(struct posix_trace *trace, const struct posix_wants *wants)
{
    struct posix_wants before = trace->wants;
    trace->wants = *wants;
    int error = trace->restarted ? 0 : posix_ask(trace, true);
    if (error) {
        trace->wants = before;
        write_wants(trace, posix_stream_address(trace->target, trace->stream), true);
    }
    return error;
}

// Returns whether an UNTIL_FULL stream has stopped itself and stays full: it is neither read to its
// end nor about to be cleared. Start and stop then change nothing. (A FLUSH stream is emptied
// sooner or later without being asked, and a stop takes effect then.)
static bool stays_full(const struct posix_trace *trace)
{
    struct posix_stream block;
    return !posix_stream_look(trace->target, trace->stream, &block) &&
           posix_stream_stays_full(&block);
}

static int run(trace_id_t trid, bool running)
{
    struct posix_use use;
    int error = enter(&use, trid);
    if (error)
        return error;
    struct posix_wants wants = use.trace->wants;
    wants.running = running;
    if (running || !stays_full(use.trace))
        error = change(use.trace, &wants);
    posix_leave(&use);
    return error;
}

int posix_trace_start(trace_id_t trid)
{
    return run(trid, true);
}

int posix_trace_stop(trace_id_t trid)
{
    return run(trid, false);
}

int posix_trace_clear(trace_id_t trid)
{
    struct posix_use use;
    int error = enter(&use, trid);
    if (error)
        return error;
    struct posix_wants wants = use.trace->wants;
    wants.clears++;
    wants.running = wants.running && !stays_full(use.trace); // clear keeps a suspended stream so
    error = change(use.trace, &wants);
    if (!error) {
        posix_reader_again(&use.trace->reader);
        use.trace->reader.overrun = false;
    }
    if (!error && use.trace->log)
        error = posix_log_clear(use.trace);
    posix_leave(&use);
    return error;
}

int posix_trace_get_filter(trace_id_t trid, trace_event_set_t *set)
{
    struct posix_use use;
    int error = set ? enter(&use, trid) : EINVAL;
    if (error)
        return error;
    *set = use.trace->wants.filter;
    posix_leave(&use);
    return 0;
}

static uint32_t combine(uint32_t old, uint32_t word, int how)
{
    return how == POSIX_TRACE_ADD_EVENTSET   ? old | word
           : how == POSIX_TRACE_SUB_EVENTSET ? old & ~word
                                             : word;
}

int posix_trace_set_filter(trace_id_t trid, const trace_event_set_t *set, int how)
{
    struct posix_use use;
    if (!set || how < POSIX_TRACE_SET_EVENTSET || how > POSIX_TRACE_SUB_EVENTSET)
        return EINVAL;
    int error = enter(&use, trid);
    if (error)
        return error;
    struct posix_wants wants = use.trace->wants;
    for (unsigned i = 0; i < POSIX_SET_WORDS; i++)
        wants.filter.ringside_words[i] =
            combine(wants.filter.ringside_words[i], set->ringside_words[i], how);
    error = change(use.trace, &wants);
    posix_leave(&use);
    return error;
}
