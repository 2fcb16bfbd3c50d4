// SPDX-License-Identifier: MIT
// P2: a controller. Traces process PID into the file LOG until Enter is pressed.
#define _POSIX_C_SOURCE 200809L
#include "../example.h"
#include <errno.h>
#include <fcntl.h>

int main(int argc, char **argv)
{
    trace_attr_t attr;
    trace_id_t trid;
    if (argc != 3) {
        fprintf(stderr, "usage: %s PID LOG\n", argv[0]);
        return EINVAL;
    }
    int log = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
    need(log < 0 ? errno : 0, argv[2]);

    need(posix_trace_attr_init(&attr), "posix_trace_attr_init");
    need(posix_trace_create_withlog((pid_t)atol(argv[1]), &attr, log, &trid), argv[1]);
    need(posix_trace_attr_destroy(&attr), "posix_trace_attr_destroy"); // the stream has a copy

    need(posix_trace_start(trid), "posix_trace_start");
    puts("tracing");
    fflush(stdout);
    wait_for_line();
    need(posix_trace_shutdown(trid), "posix_trace_shutdown");
    return close(log) ? errno : 0;
}
