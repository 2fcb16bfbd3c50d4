// SPDX-License-Identifier: MIT
// P5: an analyzer. Prints the names of the events in the file LOG.
#define _POSIX_C_SOURCE 200809L
#include "../example.h"
#include <errno.h>
#include <fcntl.h>

int main(int argc, char **argv)
{
    struct posix_trace_event_info event;
    trace_id_t trid;
    size_t bytes;
    int unavailable;
    if (argc != 2) {
        fprintf(stderr, "usage: %s LOG\n", argv[0]);
        return EINVAL;
    }
    int log = open(argv[1], O_RDONLY);
    need(log < 0 ? errno : 0, argv[1]);
    need(posix_trace_open(log, &trid), argv[1]);
    for (;;) {
        need(posix_trace_getnext_event(trid, &event, NULL, 0, &bytes, &unavailable),
             "posix_trace_getnext_event");
        if (unavailable)
            break;
        print_name(trid, event.posix_event_id);
        putchar('\n');
    }
    need(posix_trace_close(trid), "posix_trace_close");
    return close(log) ? errno : 0;
}
