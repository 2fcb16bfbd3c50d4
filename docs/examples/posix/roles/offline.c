// SPDX-License-Identifier: MIT
// Offline analysis: a program traces itself into the file LOG, and then reads that file.
#define _POSIX_C_SOURCE 200809L
#include "../example.h"
#include <errno.h>
#include <fcntl.h>

static void record(const char *path)
{
    trace_event_id_t square;
    trace_id_t trid;
    int log = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    need(log < 0 ? errno : 0, path);
    need(posix_trace_eventid_open("square", &square), "posix_trace_eventid_open");
    need(posix_trace_create_withlog(0, NULL, log, &trid), "posix_trace_create_withlog");
    need(posix_trace_start(trid), "posix_trace_start");
    for (unsigned char i = 1; i <= 4; i++) {
        unsigned char data[] = {i, (unsigned char)(i * i)};
        posix_trace_event(square, data, sizeof data);
    }
    need(posix_trace_flush(trid), "posix_trace_flush");
    need(posix_trace_shutdown(trid), "posix_trace_shutdown");
    close(log);
}

static unsigned print_squares(trace_id_t trid)
{
    struct posix_trace_event_info event;
    unsigned char data[2];
    unsigned count = 0;
    size_t bytes;
    int unavailable;
    for (;;) {
        need(posix_trace_getnext_event(trid, &event, data, sizeof data, &bytes, &unavailable),
             "posix_trace_getnext_event");
        if (unavailable)
            return count;
        if (event.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
            continue;
        printf("%u * %u = %u\n", data[0], data[0], data[1]);
        count++;
    }
}

int main(int argc, char **argv)
{
    trace_id_t trid;
    if (argc != 2) {
        fprintf(stderr, "usage: %s LOG\n", argv[0]);
        return EINVAL;
    }
    record(argv[1]);
    int log = open(argv[1], O_RDONLY);
    need(log < 0 ? errno : 0, argv[1]);
    need(posix_trace_open(log, &trid), argv[1]);
    unsigned first = print_squares(trid);
    need(posix_trace_rewind(trid), "posix_trace_rewind");
    printf("%u events, and %u after a rewind\n", first, print_squares(trid));
    need(posix_trace_close(trid), "posix_trace_close");
    return close(log) ? errno : 0;
}
