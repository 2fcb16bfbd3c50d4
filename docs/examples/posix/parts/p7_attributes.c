// SPDX-License-Identifier: MIT
// P7: a stream with attributes other than the defaults, and a log of at most 100,000 bytes.
#define _POSIX_C_SOURCE 200809L
#include "../example.h"
#include <errno.h>
#include <fcntl.h>

static void print_attributes(trace_id_t trid)
{
    trace_attr_t attr;
    char name[TRACE_NAME_MAX];
    int policy;
    size_t bytes;
    need(posix_trace_get_attr(trid, &attr), "posix_trace_get_attr");
    need(posix_trace_attr_getname(&attr, name), "posix_trace_attr_getname");
    need(posix_trace_attr_getstreamfullpolicy(&attr, &policy),
         "posix_trace_attr_getstreamfullpolicy");
    need(posix_trace_attr_getlogsize(&attr, &bytes), "posix_trace_attr_getlogsize");
    need(posix_trace_attr_destroy(&attr), "posix_trace_attr_destroy");
    printf("name: %s\nstream policy: %s\nlog size: %zu\n", name,
           policy == POSIX_TRACE_LOOP ? "loop" : "another", bytes);
}

int main(int argc, char **argv)
{
    trace_attr_t attr;
    trace_id_t trid;
    if (argc != 2) {
        fprintf(stderr, "usage: %s LOG\n", argv[0]);
        return EINVAL;
    }
    int log = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    need(log < 0 ? errno : 0, argv[1]);
    need(posix_trace_attr_init(&attr), "posix_trace_attr_init");
    need(posix_trace_attr_setname(&attr, "my_trace"), "posix_trace_attr_setname");
    need(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP),
         "posix_trace_attr_setstreamfullpolicy");
    need(posix_trace_attr_setlogsize(&attr, 100000), "posix_trace_attr_setlogsize");
    need(posix_trace_create_withlog(0, &attr, log, &trid), "posix_trace_create_withlog");
    need(posix_trace_attr_destroy(&attr), "posix_trace_attr_destroy");
    print_attributes(trid);
    need(posix_trace_shutdown(trid), "posix_trace_shutdown");
    return close(log) ? errno : 0;
}
