// SPDX-License-Identifier: MIT
// P10: the event types of a stream.
#define _POSIX_C_SOURCE 200809L
#include "../example.h"

int main(void)
{
    trace_event_id_t first, second, again;
    trace_id_t trid;
    need(posix_trace_create(0, NULL, &trid), "posix_trace_create");
    need(posix_trace_eventid_open("my_first_event", &first), "posix_trace_eventid_open");
    need(posix_trace_trid_eventid_open(trid, "my_second_event", &second),
         "posix_trace_trid_eventid_open");
    need(posix_trace_eventid_open("my_second_event", &again), "posix_trace_eventid_open");
    if (!posix_trace_eventid_equal(trid, second, again))
        puts("one name has two ids");
    print_types(trid);
    need(posix_trace_shutdown(trid), "posix_trace_shutdown");
    return 0;
}
