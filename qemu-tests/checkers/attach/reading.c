// SPDX-License-Identifier: MIT
// qemu-tests/checkers/attach: creates streams and logs, and reads their events one by one.
#include "attach.h"
#include <stdlib.h>
#include <unistd.h>

trace_attr_t attributes(int policy, size_t max_data)
{
    trace_attr_t attr;
    posix_trace_attr_init(&attr);
    if (policy)
        posix_trace_attr_setstreamfullpolicy(&attr, policy);
    if (max_data)
        posix_trace_attr_setmaxdatasize(&attr, max_data);
    if (is_host) // as much as a stream of the firmware has
        posix_trace_attr_setstreamsize(&attr, (size_t)RING_WORDS * 4);
    return attr;
}

trace_id_t create(const char *name, const trace_attr_t *attr)
{
    trace_id_t trid = 0;
    returns(name, 0, posix_trace_create(process, attr, &trid));
    settle();
    return trid;
}

trace_id_t create_started(const char *name, const trace_attr_t *attr)
{
    struct event event;
    trace_id_t trid = create(name, attr);
    int error = posix_trace_start(trid);
    settle();
    if (error || !comes(trid, POSIX_TRACE_START, &event))
        check(name, false);
    return trid;
}

void end(const char *name, trace_id_t trid)
{
    returns(name, 0, posix_trace_shutdown(trid));
    settle();
    if (posix_trace_shutdown(trid) != EINVAL) // its id is no longer valid
        check(name, false);
}

struct event take(trace_id_t trid)
{
    struct event event = {.unavailable = 1};
    int error = posix_trace_trygetnext_event(trid, &event.info, event.data, sizeof event.data,
                                             &event.length, &event.unavailable);
    if (error)
        printf("# no event: %s\n", strerror(error));
    return event;
}

bool comes(trace_id_t trid, trace_event_id_t type, struct event *event)
{
    *event = take(trid);
    bool good = !event->unavailable && event->info.posix_event_id == type;
    if (event->unavailable)
        printf("# no event, not one of type %u\n", (unsigned)type);
    else if (!good)
        printf("# an event of type %u, not %u\n", (unsigned)event->info.posix_event_id,
               (unsigned)type);
    return good;
}

bool none(trace_id_t trid)
{
    struct event event = take(trid);
    if (!event.unavailable)
        printf("# an event of type %u\n", (unsigned)event.info.posix_event_id);
    return event.unavailable;
}

bool is_of_order(const struct event *event, uint32_t number, size_t bytes)
{
    bool good = event->info.posix_event_id == user_type && event->length == bytes;
    for (size_t k = 0; k < bytes && good; k++)
        good = event->data[k] == (uint8_t)(number + k);
    if (!good)
        printf("# type %u, %zu bytes, the first %u: not event %u\n",
               (unsigned)event->info.posix_event_id, event->length, event->data[0],
               (unsigned)number);
    return good;
}

bool events_come(trace_id_t trid, uint32_t from, uint32_t to)
{
    struct event event;
    for (; from < to; from++)
        if (!comes(trid, user_type, &event) || !is_of_order(&event, from, event.length) ||
            !event.length)
            return false;
    return true;
}

int number_in(const struct event *event)
{
    int value = -1;
    if (event->length == sizeof value)
        memcpy(&value, event->data, sizeof value);
    return value;
}

uint32_t storm_number(const struct event *event)
{
    uint32_t number = 0;
    for (unsigned k = 0; k < 4; k++)
        number |= (uint32_t)event->data[k] << 8 * k;
    return number;
}

struct posix_trace_status_info status_of(trace_id_t trid)
{
    struct posix_trace_status_info status = {.posix_stream_status = -1};
    posix_trace_get_status(trid, &status);
    return status;
}

bool status_is(trace_id_t trid, int running, int full, int overrun)
{
    struct posix_trace_status_info s;
    int error = posix_trace_get_status(trid, &s);
    bool good = !error && s.posix_stream_status == running && s.posix_stream_full_status == full &&
                s.posix_stream_overrun_status == overrun;
    bool rests = s.posix_stream_flush_status == POSIX_TRACE_NOT_FLUSHING &&
                 s.posix_stream_flush_error == 0 &&
                 s.posix_log_overrun_status == POSIX_TRACE_NO_OVERRUN &&
                 s.posix_log_full_status == POSIX_TRACE_NOT_FULL;
    if (!good || !rests)
        printf("# status: error %d, running %d, full %d, overrun %d, flush or log: %s\n", error,
               s.posix_stream_status, s.posix_stream_full_status, s.posix_stream_overrun_status,
               rests ? "as expected" : "not idle");
    return good && rests;
}

double seconds(const struct timespec *time)
{
    return (double)time->tv_sec + (double)time->tv_nsec / 1e9;
}

bool are_apart(const struct event *event, uint32_t number, const struct event *later,
               uint32_t later_number)
{
    struct span span = ticks_between(number, later_number);
    double ticks = (seconds(&later->info.posix_timestamp) - seconds(&event->info.posix_timestamp)) *
                   target_hz();
    const double rounding = 1e-6 * target_hz() + 2; // of a double that has the time of day
    bool good = ticks >= span.least - rounding && ticks <= span.most + rounding;
    if (!good)
        printf("# %.1f ticks, not %u to %u\n", ticks, (unsigned)span.least, (unsigned)span.most);
    return good;
}

// ---- logs ----

int new_file(void)
{
    char name[] = "/tmp/posix-attach-XXXXXX";
    int fd = mkstemp(name);
    if (fd >= 0)
        unlink(name);
    return fd;
}

trace_attr_t log_attributes(int stream_policy, int log_policy, size_t log_size)
{
    trace_attr_t attr = attributes(stream_policy, 0);
    posix_trace_attr_setlogfullpolicy(&attr, log_policy);
    posix_trace_attr_setlogsize(&attr, log_size);
    posix_trace_attr_setname(&attr, "logged");
    return attr;
}

trace_id_t create_log(const char *name, int fd, const trace_attr_t *attr)
{
    trace_id_t trid = 0;
    returns(name, 0, posix_trace_create_withlog(process, attr, fd, &trid));
    settle();
    posix_trace_start(trid);
    settle();
    return trid;
}

trace_id_t open_log(const char *name, int fd)
{
    trace_id_t trid = 0;
    returns(name, 0, posix_trace_open(fd, &trid));
    return trid;
}

struct event next(trace_id_t trid)
{
    struct event event = {.unavailable = 1};
    if (posix_trace_getnext_event(trid, &event.info, event.data, sizeof event.data, &event.length,
                                  &event.unavailable))
        event.unavailable = 1;
    return event;
}

struct event next_logged(trace_id_t trid)
{
    struct event event = next(trid);
    while (!event.unavailable && (event.info.posix_event_id == POSIX_TRACE_FLUSH_START ||
                                  event.info.posix_event_id == POSIX_TRACE_FLUSH_STOP))
        event = next(trid);
    return event;
}

bool is_type(const struct event *event, trace_event_id_t type)
{
    bool good = !event->unavailable && event->info.posix_event_id == type;
    if (!good)
        printf("# %s of type %u, not %u\n", event->unavailable ? "none" : "one",
               (unsigned)event->info.posix_event_id, (unsigned)type);
    return good;
}

bool logged(trace_id_t trid, trace_event_id_t type)
{
    struct event event = next_logged(trid);
    return is_type(&event, type);
}

bool are_logged(trace_id_t trid, uint32_t count, size_t bytes)
{
    for (uint32_t i = 0; i < count; i++) {
        struct event event = next_logged(trid);
        if (event.unavailable || !is_of_order(&event, i, bytes))
            return false;
    }
    return true;
}

bool ends(trace_id_t trid)
{
    return next_logged(trid).unavailable;
}
