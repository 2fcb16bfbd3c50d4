// SPDX-License-Identifier: MIT
// P9: the status of a stream that is too small for its events. The status reports the loss once.
#define _POSIX_C_SOURCE 200809L
#include "../example.h"

int main(void)
{
    trace_attr_t attr;
    trace_id_t trid;
    need(posix_trace_attr_init(&attr), "posix_trace_attr_init");
    need(posix_trace_attr_setstreamsize(&attr, 1024), "posix_trace_attr_setstreamsize");
    need(posix_trace_attr_setmaxdatasize(&attr, 32), "posix_trace_attr_setmaxdatasize");
    need(posix_trace_create(0, &attr, &trid), "posix_trace_create");
    need(posix_trace_attr_destroy(&attr), "posix_trace_attr_destroy");
    need(posix_trace_start(trid), "posix_trace_start");
    for (int i = 0; i < 1000; i++)
        posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &i, sizeof i);
    need(posix_trace_stop(trid), "posix_trace_stop");
    puts("asked once:");
    print_status(trid);
    puts("asked again:");
    print_status(trid);
    need(posix_trace_shutdown(trid), "posix_trace_shutdown");
    return 0;
}
