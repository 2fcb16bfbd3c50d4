// SPDX-License-Identifier: MIT
// posix: times of events. In: stamps of the target's clock. Out: seconds and nanoseconds.
//
// A stamp of few bits gets its upper ones from the event in front, of which it is less than a turn
// of the clock away. A clock that does not tell the time of day gets it once.
#include "base/now.h"
#include "posix/internal.h"

static uint64_t stamp_mask(const struct posix_layout *layout)
{
    return layout->stamp_bits >= 64 ? UINT64_MAX : (UINT64_C(1) << layout->stamp_bits) - 1;
}

static struct timespec later(struct timespec time, uint64_t ticks, uint32_t hz)
{
    uint64_t rest = hz ? ticks % hz * EXTRACT_SECOND / hz : ticks % EXTRACT_SECOND;
    uint64_t ns = (uint64_t)time.tv_nsec + rest;
    time.tv_sec += (time_t)(ticks / (hz ? hz : EXTRACT_SECOND) + ns / EXTRACT_SECOND);
    time.tv_nsec = (long)(ns % EXTRACT_SECOND);
    return time;
}

static bool is_time_of_day(const struct posix_layout *layout)
{
    return layout->realtime && layout->stamp_bits >= 64;
}

// The stamp with all its bits. `back`: it may lie in front of the last event, which it then is.
static uint64_t extend(const struct posix_reader *r, uint64_t stamp, bool back)
{
    uint64_t mask = stamp_mask(&r->block.layout), forward = (stamp - r->stamp) & mask;
    if (!r->clocked)
        return stamp & mask;
    return back && forward > mask / 2 ? r->stamp : r->stamp + forward;
}

static struct timespec time_of(const struct posix_reader *r, uint64_t stamp)
{
    static const struct timespec zero = {0, 0};
    bool day = is_time_of_day(&r->block.layout);
    return day ? later(zero, stamp, 0)
               : later(r->anchor_time, stamp - r->anchor, r->block.clock_hz);
}

static void anchor(struct posix_trace *trace, uint64_t stamp)
{
    struct posix_reader *r = &trace->reader;
    r->stamp = stamp & stamp_mask(&r->block.layout);
    r->anchor = trace->kind == POSIX_RECORDED ? 0 : r->stamp;
    r->anchor_time = (struct timespec){0, 0};
    if (trace->kind != POSIX_RECORDED)
        clock_gettime(CLOCK_REALTIME, &r->anchor_time);
    r->clocked = true;
}

struct timespec posix_time_take(struct posix_trace *trace, uint64_t stamp)
{
    struct posix_reader *r = &trace->reader;
    if (!r->clocked)
        anchor(trace, stamp);
    r->stamp = extend(r, stamp, false);
    return time_of(r, r->stamp);
}

struct timespec posix_time_lost(struct posix_trace *trace, uint64_t stamp)
{
    if (!trace->reader.clocked)
        anchor(trace, stamp);
    return time_of(&trace->reader, extend(&trace->reader, stamp, true));
}
