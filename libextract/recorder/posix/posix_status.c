// SPDX-License-Identifier: MIT
// posix: posix_trace_get_status and posix_trace_get_attr, from the words of the stream block.
//
// The status of a stream depends on its state in the target and on what was read of it here. A
// stream that stopped itself since it was full (UNTIL_FULL, FLUSH) starts again with its next event
// once all of it was read:
//
//           start requested            no space left
//   STOPPED ───────────────► RUNNING ───────────────► STOPPED_FULL
//      ▲                        │  ▲                        │
//      └───── stop requested ───┘  └── everything was read ─┘
//
// A request that the target has not carried out yet counts as carried out. The overrun status is
// that of the time since the last call of posix_trace_get_status.
//
// Source: IEEE Std 1003.1-2008, 2.11.1, posix_trace_get_status, posix_trace_get_attr.
#include "posix/posix_room.h"
#include <string.h>

// Returns whether a stream that stopped itself has been read to its end. Its next event starts it
// again, if no stop was requested in the meantime.
static bool is_emptied(const struct posix_trace *trace)
{
    const struct posix_reader *r = &trace->reader;

    return trace->kind != POSIX_RECORDED && r->block.head == r->at;
}

// Returns whether the stream records. Until the target has carried out the newest request, the
// requested state counts, so a caller that starts a stream sees it run.
static bool is_running(const struct posix_trace *trace)
{
    const struct posix_stream *block = &trace->reader.block;
    bool wanted = block->wanted & POSIX_STATE_RUNNING;

    if (trace->kind != POSIX_RECORDED && !posix_request_is_done(block))
        return wanted;
    if (block->state & POSIX_STATE_STOPPED_FULL)
        return is_emptied(trace) && wanted;
    return block->state & POSIX_STATE_RUNNING;
}

// A LOOP stream is full while the writer overwrites records that were not read. Other streams are
// full when they stopped themselves and were not read to their end since.
static bool is_full(const struct posix_trace *trace)
{
    const struct posix_reader *r = &trace->reader;
    const struct posix_stream *block = &r->block;

    if (trace->kind == POSIX_RECORDED)
        return posix_stream_is_full(block);
    if (block->policy == POSIX_POLICY_LOOP)
        return posix_ring_is_lapped(r) || (r->at == block->tail && posix_stream_is_full(block));
    return block->state & POSIX_STATE_STOPPED_FULL && !is_emptied(trace);
}

// Returns whether events were lost since the status was read last; for a pre-recorded stream, ever.
static bool is_overrun(const struct posix_trace *trace)
{
    const struct posix_reader *r = &trace->reader;
    bool lost = posix_ring_is_lapped(r) && r->block.tail != r->reported_tail;

    if (trace->kind == POSIX_RECORDED)
        return r->block.overwritten || r->block.refused;
    return r->is_overrun || lost || r->block.refused != r->reported_refused;
}

int posix_ring_status(struct posix_trace *trace, struct posix_trace_status_info *status)
{
    struct posix_reader *r = &trace->reader;
    bool ended =
        trace->kind != POSIX_RECORDED && posix_stream_has_ended(trace->target, trace->stream);
    int error = posix_ring_poll(trace);

    *status = (struct posix_trace_status_info){0};
    if (error == EAGAIN) { // not bound for this trace yet, or just being cleared
        posix_read_wants(trace);
        status->posix_stream_status =
            trace->wants.is_running && !ended ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED;
        return 0;
    }
    if (error)
        return error;
    status->posix_stream_status =
        is_running(trace) && !ended ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED;
    status->posix_stream_full_status = is_full(trace) ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
    status->posix_stream_overrun_status =
        is_overrun(trace) ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
    r->is_overrun = false;
    r->reported_tail = r->block.tail;
    r->reported_refused = r->block.refused;
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

// Returns the resolution of the stream's clock, rounded up to nanoseconds; 0 if its rate is
// unknown.
static struct timespec find_resolution(const struct posix_stream *block)
{
    uint64_t hz = block->layout.realtime ? 1000000000 : block->clock_hz;
    long ns = hz ? (long)((hz + 999999999) / hz) : 0;

    return ns == 1000000000 ? (struct timespec){1, 0} : (struct timespec){0, ns};
}

// The ring is larger than the stream size: it has space for the events of a start and a stop.
void posix_attr_from_ring(struct posix_attr *attr, const struct posix_stream *block, uint32_t ids)
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
    attr->resolution = find_resolution(block);
}

// The ring of a program has what was requested. The ring of other memory was sized when the
// firmware was compiled.
int posix_ring_attr(struct posix_trace *trace, struct posix_attr *attr)
{
    *attr = trace->attr;
    if (trace->target->object)
        return 0;
    int error = posix_ring_poll(trace);
    if (!error)
        posix_attr_from_ring(attr, &trace->reader.block, trace->target->block.ids);
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
