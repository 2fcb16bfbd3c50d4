// SPDX-License-Identifier: MIT
// A family: a traced process forks. The attributes of the stream decide whether the child is traced
// into the same stream. Each event holds the id of its process.
#define _POSIX_C_SOURCE 200809L
#include "../example.h"
#include <errno.h>
#include <sys/wait.h>

static void pass(const char *name)
{
    trace_event_id_t event;
    pid_t me = getpid();
    need(posix_trace_eventid_open(name, &event), "posix_trace_eventid_open");
    posix_trace_event(event, &me, sizeof me);
}

static void wait_for(pid_t child)
{
    need(waitpid(child, NULL, 0) == child ? 0 : errno, "waitpid");
}

// The traced process: waits for its stream, then forks.
static void live(int gate)
{
    char go;
    if (read(gate, &go, 1) != 1) // the controller has failed
        _exit(1);
    pass("forks");
    pid_t child = fork();
    need(child < 0 ? errno : 0, "fork");
    if (child == 0) {
        pass("is born");
        _exit(0);
    }
    wait_for(child);
    pass("has waited");
    _exit(0);
}

static void print_family(trace_id_t trid, pid_t parent)
{
    struct posix_trace_event_info event;
    pid_t itself;
    size_t bytes;
    int unavailable;
    for (;;) {
        need(posix_trace_trygetnext_event(trid, &event, &itself, sizeof itself, &bytes,
                                          &unavailable),
             "posix_trace_trygetnext_event");
        if (unavailable)
            return;
        if (event.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
            continue;
        printf(event.posix_pid != itself   ? "another process "
               : event.posix_pid == parent ? "the parent "
                                           : "the child ");
        print_name(trid, event.posix_event_id);
        putchar('\n');
    }
}

static void trace_family(int inherited)
{
    trace_attr_t attr;
    trace_id_t trid;
    int gate[2];
    need(pipe(gate) ? errno : 0, "pipe");
    fflush(stdout);
    pid_t parent = fork();
    need(parent < 0 ? errno : 0, "fork");
    if (parent == 0) {
        close(gate[1]);
        live(gate[0]);
    }
    close(gate[0]);
    need(posix_trace_attr_init(&attr), "posix_trace_attr_init");
    need(posix_trace_attr_setinherited(&attr, inherited), "posix_trace_attr_setinherited");
    need(posix_trace_create(parent, &attr, &trid), "posix_trace_create");
    need(posix_trace_attr_destroy(&attr), "posix_trace_attr_destroy");
    need(posix_trace_start(trid), "posix_trace_start");
    need(write(gate[1], "g", 1) == 1 ? 0 : errno, "write");
    close(gate[1]);
    wait_for(parent);
    need(posix_trace_stop(trid), "posix_trace_stop");
    print_family(trid, parent);
    need(posix_trace_shutdown(trid), "posix_trace_shutdown");
}

int main(void)
{
    puts("POSIX_TRACE_INHERITED:");
    trace_family(POSIX_TRACE_INHERITED);
    puts("POSIX_TRACE_CLOSE_FOR_CHILD:");
    trace_family(POSIX_TRACE_CLOSE_FOR_CHILD);
    return 0;
}
