// SPDX-License-Identifier: MIT
// posix: times of events, from timestamps of the target's clock to seconds and nanoseconds.
//
// A timestamp of fewer than 64 bits wraps. Its upper bits come from the event before it: both are
// less than one clock period apart, so the timestamp is the first one after the previous event that
// has these lower bits.
//
//   last_stamp  0x0001_FFF0 ──┐ 16 bits counted
//   in record        0x0010   │ 0x0010 is below 0xFFF0: the clock wrapped
//   extended    0x0002_0010 ◄─┘
//
// A clock that is not CLOCK_REALTIME needs one pair of timestamp and time of day (origin_stamp,
// origin_time). For an active stream, it is taken when the first event is read. A memory image has
// no such moment, so its times count from the clock's zero.
#include "base/now.h"
#include "posix/posix_room.h"

static uint64_t stamp_mask(const struct posix_layout *layout)
{
    return layout->stamp_bits >= 64 ? UINT64_MAX : (UINT64_C(1) << layout->stamp_bits) - 1;
}

// Returns `time` plus `ticks` of a clock with `hz` ticks per second; nanoseconds if hz is 0.
static struct timespec add_ticks(struct timespec time, uint64_t ticks, uint32_t hz)
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

// Extends a timestamp to 64 bits. If `may_be_older` is set, the timestamp may be of an event before
// the last one, whose timestamp is returned then.
static uint64_t extend_stamp(const struct posix_reader *r, uint64_t stamp, bool may_be_older)
{
    uint64_t mask = stamp_mask(&r->block.layout), forward = (stamp - r->last_stamp) & mask;

    if (!r->clock_is_set)
        return stamp & mask;
    return may_be_older && forward > mask / 2 ? r->last_stamp : r->last_stamp + forward;
}

// Returns the time of an extended timestamp: the time of day itself, or the origin plus the ticks
// since.
static struct timespec convert_stamp(const struct posix_reader *r, uint64_t stamp)
{
    static const struct timespec zero = {0, 0};
    bool day = is_time_of_day(&r->block.layout);

    return day ? add_ticks(zero, stamp, 0)
               : add_ticks(r->origin_time, stamp - r->origin_stamp, r->block.clock_hz);
}

// Relates a timestamp to the time of day, which is now.
static void set_clock_origin(struct posix_trace *trace, uint64_t stamp)
{
    struct posix_reader *r = &trace->reader;

    r->last_stamp = stamp & stamp_mask(&r->block.layout);
    r->origin_stamp = trace->kind == POSIX_RECORDED ? 0 : r->last_stamp;
    r->origin_time = (struct timespec){0, 0};
    if (trace->kind != POSIX_RECORDED)
        clock_gettime(CLOCK_REALTIME, &r->origin_time);
    r->clock_is_set = true;
}

struct timespec posix_time_of_event(struct posix_trace *trace, uint64_t stamp)
{
    struct posix_reader *r = &trace->reader;
    if (!r->clock_is_set)
        set_clock_origin(trace, stamp);
    r->last_stamp = extend_stamp(r, stamp, false);
    return convert_stamp(r, r->last_stamp);
}

struct timespec posix_time_of_loss(struct posix_trace *trace, uint64_t stamp)
{
    if (!trace->reader.clock_is_set)
        set_clock_origin(trace, stamp);
    return convert_stamp(&trace->reader, extend_stamp(&trace->reader, stamp, true));
}
