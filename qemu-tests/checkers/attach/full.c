// SPDX-License-Identifier: MIT
// qemu-tests/checkers/attach: C and D for streams that are full: the times of what was lost, and
// what stopping and clearing mean then.
#include "attach.h"

// ---- C4 to C6 ----

static trace_id_t create_full(const char *name)
{
    trace_attr_t attr = attributes(POSIX_TRACE_UNTIL_FULL, 0);
    trace_id_t trid = create_started(name, &attr);
    record(OVERFULL, 4);
    bool good = status_is(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN) &&
                !posix_trace_stop(trid);
    settle();
    check(name,
          good && status_is(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_NO_OVERRUN));
    return trid;
}

// Reads what is there. Returns whether STOP was the last event.
static bool read_all(trace_id_t trid)
{
    trace_event_id_t last = 0;
    for (struct event event = take(trid); !event.unavailable; event = take(trid))
        last = event.info.posix_event_id;
    return last == POSIX_TRACE_STOP;
}

static void test_stop_does_nothing(void)
{
    trace_event_set_t set;
    struct event event;
    trace_id_t trid = create_full("C4 stop of a full one");
    check("C4 stop of a full one: read, it runs",
          read_all(trid) &&
              status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
    record(1, 5);
    check("C4 stop of a full one: it continues",
          comes(trid, POSIX_TRACE_START, &event) && events_come(trid, 0, 1) && none(trid));
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(POSIX_TRACE_ERROR, &set);
    posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET);
    record(1, 5);
    check("C4 stop of a full one: nor with a later request",
          comes(trid, POSIX_TRACE_FILTER, &event) && events_come(trid, 0, 1) && none(trid) &&
              status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
    end("C4 shutdown", trid);
}

static void test_clear_keeps_suspended(void)
{
    trace_event_set_t set;
    struct event event;
    trace_id_t trid = create_full("C5 clear of a full one");
    returns("C5 clear", 0, posix_trace_clear(trid));
    record(1, 5);
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(POSIX_TRACE_ERROR, &set);
    returns("C5 filter", 0, posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
    record(1, 5);
    check("C5 clear of a full one: it stays suspended",
          none(trid) &&
              status_is(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
    returns("C5 start", 0, posix_trace_start(trid));
    record(1, 5);
    check("C5 clear of a full one: a start starts it",
          comes(trid, POSIX_TRACE_START, &event) && events_come(trid, 0, 1) && none(trid) &&
              status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
    end("C5 shutdown", trid);
}

// A stream that was full, and was read to its end, runs again: clearing keeps that, too.
static void test_clear_keeps_running(void)
{
    struct event event;
    trace_id_t trid = create_full("C5 clear of one that was full");
    check("C5 clear of one that was full: read", read_all(trid));
    returns("C5 clear", 0, posix_trace_clear(trid));
    settle();
    check("C5 clear of one that was full: it runs",
          status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
    record(1, 5);
    check("C5 clear of one that was full: the next event",
          comes(trid, POSIX_TRACE_START, &event) && events_come(trid, 0, 1) && none(trid));
    end("C5 shutdown", trid);
}

static void test_stop_when_read(void)
{
    struct event event;
    trace_id_t trid = create_full("C6 stop of one that was full");
    check("C6 stop of one that was full: read", read_all(trid));
    returns("C6 stop", 0, posix_trace_stop(trid));
    record(1, 5);
    check("C6 stop of one that was full: it stays",
          none(trid) &&
              status_is(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
    posix_trace_start(trid);
    record(1, 5);
    check("C6 stop of one that was full: until it is started",
          comes(trid, POSIX_TRACE_START, &event) && events_come(trid, 0, 1) && none(trid));
    end("C6 shutdown", trid);
}

// ---- D7, D8 ----

static void test_overrun_after_reading(void)
{
    struct event event;
    bool good = true;
    trace_attr_t attr = attributes(POSIX_TRACE_LOOP, 0);
    trace_id_t trid = create_started("D7 overrun after reading: create", &attr);
    for (unsigned round = 0; round < 2; round++) {
        record(OVERFULL, 4);
        good = good && comes(trid, POSIX_TRACE_OVERFLOW, &event);
        while (!take(trid).unavailable)
            continue;
        good =
            good && status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_OVERRUN);
        for (unsigned i = 0; i < 2; i++)
            good = good && status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL,
                                     POSIX_TRACE_NO_OVERRUN);
    }
    check("D7 overrun after reading: it is reported once", good);
    end("D7 shutdown", trid);
}

// Returns whether the times around a loss are right. OVERFLOW has the time of the first event that
// was lost. For events that were lost after a copy, firmware does not show which one was the first:
// then it has the time of the event before. RESUME has the time of the next event, and nothing
// comes between the two.
static bool has_times_of_loss(const struct event *overflow, const struct event *before,
                              uint32_t lost, const struct event *resume, const struct event *event)
{
    bool same = lost &&
                overflow->info.posix_timestamp.tv_sec == before->info.posix_timestamp.tv_sec &&
                overflow->info.posix_timestamp.tv_nsec == before->info.posix_timestamp.tv_nsec;
    return event->data[0] > lost && (same || are_apart(overflow, lost, event, event->data[0])) &&
           !memcmp(&resume->info.posix_timestamp, &event->info.posix_timestamp,
                   sizeof event->info.posix_timestamp);
}

// Events up to the next loss, one after the other from the number `next`; whether OVERFLOW follows.
static bool read_to_loss(trace_id_t trid, struct event *before, struct event *overflow,
                         uint32_t *next)
{
    bool good = true;
    for (*overflow = take(trid); overflow->info.posix_event_id == user_type && good;
         *overflow = take(trid)) {
        good = is_of_order(overflow, (*next)++, 4);
        *before = *overflow;
    }
    return good && !overflow->unavailable && overflow->info.posix_event_id == POSIX_TRACE_OVERFLOW;
}

static void check_times(const char *name, bool before_resume, bool before_event)
{
    enum { FIRST = 90, HOST_STREAM_BYTES = 500 };
    // A reader of firmware keeps a copy, and meets the loss after it once.
    const uint32_t more = is_host ? 40 : 80;
    uint32_t made = FIRST, next = 0;
    struct event before = {0}, overflow, resume, event;
    bool good = true;
    trace_attr_t attr = attributes(POSIX_TRACE_LOOP, 0);
    if (is_host)
        posix_trace_attr_setstreamsize(&attr, HOST_STREAM_BYTES);
    trace_id_t trid = create_started("D8 times of losses: create", &attr);
    record_from(0, made);
    for (unsigned turn = 0; turn < 2 && good; turn++) {
        good = read_to_loss(trid, &before, &overflow, &next);
        if (before_resume && (is_host || !turn))
            record_from(made, made + more), made += more;
        good = good && comes(trid, POSIX_TRACE_RESUME, &resume);
        if (before_event && (is_host || !turn))
            record_from(made, made + more), made += more;
        good = good && comes(trid, user_type, &event) &&
               has_times_of_loss(&overflow, &before, next, &resume, &event);
        before = event;
        next = event.data[0] + 1U;
    }
    check(name, good && (is_host || (events_come(trid, next, made) && none(trid))));
    end("D8 shutdown", trid);
}

void test_full(void)
{
    test_stop_does_nothing();
    test_clear_keeps_suspended();
    test_clear_keeps_running();
    test_stop_when_read();
    test_overrun_after_reading();
    check_times("D8 times of losses: more before RESUME", true, false);
    check_times("D8 times of losses: more before the event", false, true);
    check_times("D8 times of losses: more before both", true, true);
}
