// SPDX-License-Identifier: MIT
// Online analysis: prints the events of process PID as they arrive, until Enter is pressed.
#define _POSIX_C_SOURCE 200809L
#include "../example.h"
#include <errno.h>

static trace_id_t trid;

// Prints events up to the one that posix_trace_stop records.
static void *print_events(void *unused)
{
    struct posix_trace_event_info event;
    unsigned char data[256];
    size_t bytes;
    int unavailable;
    do {
        int error =
            posix_trace_getnext_event(trid, &event, data, sizeof data, &bytes, &unavailable);
        if (error == ESRCH) {
            puts("the process has ended; press Enter");
            fflush(stdout);
            break;
        }
        need(error, "posix_trace_getnext_event");
        print_event(trid, &event, data, bytes);
        fflush(stdout);
    } while (event.posix_event_id != POSIX_TRACE_STOP);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t reader;
    if (argc != 2) {
        fprintf(stderr, "usage: %s PID\n", argv[0]);
        return EINVAL;
    }
    need(posix_trace_create((pid_t)atol(argv[1]), NULL, &trid), argv[1]);
    need(posix_trace_start(trid), "posix_trace_start");
    need(pthread_create(&reader, NULL, print_events, NULL), "pthread_create");
    wait_for_line();
    need(posix_trace_stop(trid), "posix_trace_stop");
    need(pthread_join(reader, NULL), "pthread_join");
    need(posix_trace_shutdown(trid), "posix_trace_shutdown");
    return 0;
}
