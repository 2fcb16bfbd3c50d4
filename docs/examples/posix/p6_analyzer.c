// SPDX-License-Identifier: MIT
// P6: an analyser that prints all that is in the file LOG: its status, its event types, and its
// events with their data.
#define _POSIX_C_SOURCE 200809L
#include "example.h"
#include <errno.h>
#include <fcntl.h>

static size_t data_bytes(trace_id_t trid)
{
    trace_attr_t attr;
    size_t bytes;
    need(posix_trace_get_attr(trid, &attr), "posix_trace_get_attr");
    need(posix_trace_attr_getmaxdatasize(&attr, &bytes), "posix_trace_attr_getmaxdatasize");
    need(posix_trace_attr_destroy(&attr), "posix_trace_attr_destroy");
    // The system's own events have data, too: two sets at most.
    return bytes > 2 * sizeof(trace_event_set_t) ? bytes : 2 * sizeof(trace_event_set_t);
}

static void print_events(trace_id_t trid)
{
    struct posix_trace_event_info event;
    size_t room = data_bytes(trid), bytes;
    unsigned char *data = malloc(room);
    int unavailable;
    need(data ? 0 : ENOMEM, "data");
    for (;;) {
        need(posix_trace_getnext_event(trid, &event, data, room, &bytes, &unavailable),
             "posix_trace_getnext_event");
        if (unavailable)
            break;
        print_event(trid, &event, data, bytes);
    }
    free(data);
}

int main(int argc, char **argv)
{
    trace_id_t trid;
    if (argc != 2) {
        fprintf(stderr, "usage: %s LOG\n", argv[0]);
        return EINVAL;
    }
    int log = open(argv[1], O_RDONLY);
    need(log < 0 ? errno : 0, argv[1]);
    need(posix_trace_open(log, &trid), argv[1]);
    print_status(trid);
    print_types(trid);
    print_events(trid);
    need(posix_trace_close(trid), "posix_trace_close");
    return close(log) ? errno : 0;
}
