// SPDX-License-Identifier: MIT
// P6: an analyzer that prints the file LOG: its status, its event types, and its events with their
// data.
#define _POSIX_C_SOURCE 200809L
#include "../example.h"
#include <errno.h>
#include <fcntl.h>

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
    print_recorded(trid);
    need(posix_trace_close(trid), "posix_trace_close");
    return close(log) ? errno : 0;
}
