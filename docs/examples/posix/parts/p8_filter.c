// SPDX-License-Identifier: MIT
// P8: a filter. Event types in its set are not recorded.
#define _POSIX_C_SOURCE 200809L
#include "../example.h"

static trace_event_id_t type(trace_id_t trid, const char *name)
{
    trace_event_id_t event;
    need(posix_trace_trid_eventid_open(trid, name, &event), "posix_trace_trid_eventid_open");
    return event;
}

static void leave_out(trace_id_t trid, trace_event_id_t one, trace_event_id_t other)
{
    trace_event_set_t set;
    int in_set;
    need(posix_trace_eventset_empty(&set), "posix_trace_eventset_empty");
    need(posix_trace_eventset_fill(&set, POSIX_TRACE_WOPID_EVENTS), "posix_trace_eventset_fill");
    need(posix_trace_eventset_add(one, &set), "posix_trace_eventset_add");
    need(posix_trace_eventset_add(other, &set), "posix_trace_eventset_add");
    need(posix_trace_eventset_del(POSIX_TRACE_ERROR, &set), "posix_trace_eventset_del");
    need(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), "posix_trace_set_filter");
    need(posix_trace_get_filter(trid, &set), "posix_trace_get_filter");
    need(posix_trace_eventset_ismember(one, &set, &in_set), "posix_trace_eventset_ismember");
    printf("my_first_event is %s\n", in_set ? "left out" : "recorded");
}

int main(void)
{
    trace_id_t trid;
    need(posix_trace_create(0, NULL, &trid), "posix_trace_create");
    trace_event_id_t first = type(trid, "my_first_event");
    trace_event_id_t second = type(trid, "my_second_event");
    trace_event_id_t third = type(trid, "my_third_event");
    leave_out(trid, first, second);
    need(posix_trace_start(trid), "posix_trace_start");
    posix_trace_event(first, NULL, 0);
    posix_trace_event(second, NULL, 0);
    posix_trace_event(third, NULL, 0);
    need(posix_trace_stop(trid), "posix_trace_stop");
    print_available(trid);
    need(posix_trace_shutdown(trid), "posix_trace_shutdown");
    return 0;
}
