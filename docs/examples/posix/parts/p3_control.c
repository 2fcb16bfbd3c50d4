// SPDX-License-Identifier: MIT
// P3: a controller that filters. Traces process PID into the file LOG, in four steps:
// my_second_event only; nothing; my_second_event again; my_first_event only. Each step lasts until
// Enter is pressed.
#define _POSIX_C_SOURCE 200809L
#include "../example.h"
#include <errno.h>
#include <fcntl.h>

static void step(const char *what)
{
    puts(what);
    fflush(stdout);
    wait_for_line();
}

// Sets the filter so that all types except `name` are recorded.
static void leave_out(trace_id_t trid, const char *name)
{
    trace_event_set_t set;
    trace_event_id_t event;
    need(posix_trace_trid_eventid_open(trid, name, &event), "posix_trace_trid_eventid_open");
    need(posix_trace_eventset_empty(&set), "posix_trace_eventset_empty");
    need(posix_trace_eventset_add(event, &set), "posix_trace_eventset_add");
    need(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), "posix_trace_set_filter");
}

static trace_id_t create(pid_t pid, int log, trace_attr_t *attr)
{
    trace_id_t trid;
    need(posix_trace_attr_init(attr), "posix_trace_attr_init");
    need(posix_trace_attr_setname(attr, "chosen"), "posix_trace_attr_setname");
    need(posix_trace_attr_setmaxdatasize(attr, 16), "posix_trace_attr_setmaxdatasize");
    need(posix_trace_attr_setlogfullpolicy(attr, POSIX_TRACE_UNTIL_FULL),
         "posix_trace_attr_setlogfullpolicy");
    need(posix_trace_create_withlog(pid, attr, log, &trid), "posix_trace_create_withlog");
    return trid;
}

int main(int argc, char **argv)
{
    trace_attr_t attr;
    char name[TRACE_NAME_MAX];
    if (argc != 3) {
        fprintf(stderr, "usage: %s PID LOG\n", argv[0]);
        return EINVAL;
    }
    int log = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
    need(log < 0 ? errno : 0, argv[2]);
    trace_id_t trid = create((pid_t)atol(argv[1]), log, &attr);

    leave_out(trid, "my_first_event");
    need(posix_trace_start(trid), "posix_trace_start");
    step("tracing");
    need(posix_trace_stop(trid), "posix_trace_stop");
    step("suspended");
    need(posix_trace_start(trid), "posix_trace_start");
    step("tracing");
    leave_out(trid, "my_second_event");
    step("tracing the other one");
    need(posix_trace_stop(trid), "posix_trace_stop");

    need(posix_trace_get_attr(trid, &attr), "posix_trace_get_attr");
    need(posix_trace_attr_getname(&attr, name), "posix_trace_attr_getname");
    printf("stream \"%s\" is over\n", name);
    need(posix_trace_attr_destroy(&attr), "posix_trace_attr_destroy");
    need(posix_trace_shutdown(trid), "posix_trace_shutdown");
    return close(log) ? errno : 0;
}
