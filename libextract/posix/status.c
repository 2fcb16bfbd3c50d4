// SPDX-License-Identifier: MIT
// posix: status and attributes of a trace. In: its stream block. Out: the standard's words for it.
//
// Source: IEEE Std 1003.1-2008, 2.11.1, posix_trace_get_status, posix_trace_get_attr.
#include "posix/internal.h"
#include <string.h>

// A stream that stopped by itself goes on when all of it was read: its next event starts it, unless
// it was stopped meanwhile.
static bool is_emptied(const struct posix_trace *trace)
{
    const struct posix_reader *r = &trace->reader;
    return trace->kind != POSIX_RECORDED && r->block.head == r->at;
}

static bool is_running(const struct posix_trace *trace)
{
    const struct posix_stream *block = &trace->reader.block;
    bool wanted = block->wanted & POSIX_STATE_RUNNING;
    if (trace->kind != POSIX_RECORDED && !posix_asked_done(block))
        return wanted;
    if (block->state & POSIX_STATE_STOPPED_FULL)
        return is_emptied(trace) && wanted;
    return block->state & POSIX_STATE_RUNNING;
}

static bool is_full(const struct posix_trace *trace)
{
    const struct posix_reader *r = &trace->reader;
    const struct posix_stream *block = &r->block;
    if (trace->kind == POSIX_RECORDED)
        return posix_stream_is_full(block);
    if (block->policy == POSIX_POLICY_LOOP)
        return posix_ring_lapped(r) || (r->at == block->tail && posix_stream_is_full(block));
    return block->state & POSIX_STATE_STOPPED_FULL && !is_emptied(trace);
}

static bool is_overrun(const struct posix_trace *trace)
{
    const struct posix_reader *r = &trace->reader;
    bool lost = posix_ring_lapped(r) && r->block.tail != r->told_tail;
    if (trace->kind == POSIX_RECORDED)
        return r->block.overwritten || r->block.refused;
    return r->overrun || lost || r->block.refused != r->told_refused;
}

int posix_ring_status(struct posix_trace *trace, struct posix_trace_status_info *status)
{
    struct posix_reader *r = &trace->reader;
    bool ended =
        trace->kind != POSIX_RECORDED && posix_stream_has_ended(trace->target, trace->stream);
    int error = posix_ring_look(trace);
    *status = (struct posix_trace_status_info){0};
    if (error == EAGAIN) { // not ours yet, or cleared in a moment
        posix_learn(trace);
        status->posix_stream_status =
            trace->wants.running && !ended ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED;
        return 0;
    }
    if (error)
        return error;
    status->posix_stream_status =
        is_running(trace) && !ended ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED;
    status->posix_stream_full_status = is_full(trace) ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
    status->posix_stream_overrun_status =
        is_overrun(trace) ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
    r->overrun = false;
    r->told_tail = r->block.tail;
    r->told_refused = r->block.refused;
    return 0;
}

int posix_trace_get_status(trace_id_t trid, struct posix_trace_status_info *statusinfo)
{
    struct posix_use use;
    int error = statusinfo ? posix_enter(&use, trid, POSIX_ALL) : EINVAL;
    if (error)
        return error;
    error = use.trace->ops->status(use.trace, statusinfo);
    posix_leave(&use);
    return error;
}

// Of a clock; nothing where its rate is not known.
static struct timespec resolution_of(const struct posix_stream *block)
{
    uint64_t hz = block->layout.realtime ? 1000000000 : block->clock_hz;
    long ns = hz ? (long)((hz + 999999999) / hz) : 0;
    return ns == 1000000000 ? (struct timespec){1, 0} : (struct timespec){0, ns};
}

void posix_attr_of_ring(struct posix_attr *attr, const struct posix_stream *block, uint32_t ids)
{
    uint64_t bytes = (uint64_t)block->ring_words * 4, reserve;
    attr->head_bytes = posix_record_head(&block->layout) + 4;
    attr->set_bytes = posix_filter_bytes(ids);
    attr->max_data = block->max_data;
    attr->stream_policy = (int32_t)block->policy;
    attr->inherited =
        block->flags & POSIX_FLAG_INHERIT ? POSIX_TRACE_INHERITED : POSIX_TRACE_CLOSE_FOR_CHILD;
    reserve = 2 * (uint64_t)posix_attr_system_bytes(attr);
    attr->stream_size = bytes > reserve ? bytes - reserve : 0;
    attr->resolution = resolution_of(block);
}

int posix_ring_attr(struct posix_trace *trace, struct posix_attr *attr)
{
    *attr = trace->attr;
    if (trace->target->object)
        return 0;
    int error = posix_ring_look(trace);
    if (!error)
        posix_attr_of_ring(attr, &trace->reader.block, trace->target->block.ids);
    return error == EAGAIN ? 0 : error;
}

int posix_trace_get_attr(trace_id_t trid, trace_attr_t *attr)
{
    struct posix_use use;
    int error = attr ? posix_enter(&use, trid, POSIX_ALL) : EINVAL;
    if (error)
        return error;
    error = use.trace->ops->attr(use.trace, (struct posix_attr *)attr);
    posix_leave(&use);
    return error;
}
