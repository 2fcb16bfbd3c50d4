// SPDX-License-Identifier: MIT
// cli: a traced program whose event types and stream have names that must not reach a terminal. It
// traces itself, prints "ready", and ends when its standard input ends.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

static const char *const names[] = {
    "\033[31mred\033[0m",            // colors
    "two\nlines\ttab\rback",         // forge lines
    "\377\376 \303( \355\240\200",   // not UTF-8
    "\302\2332Jclear\2332J\007\177", // CSI as one character, and as one byte
    "\"quote\\back\":{}",            // special in JSON
    "%s%n$(reboot)`reboot`",         // special in printf and shells
};

static void need(int error, const char *what)
{
    if (!error)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(error);
}

static void pass_trace_points(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        trace_event_id_t event;
        need(posix_trace_eventid_open(names[i], &event), "posix_trace_eventid_open");
        posix_trace_event(event, names[i], strlen(names[i]));
    }
}

int main(void)
{
    trace_attr_t attr;
    trace_id_t trid;
    need(posix_trace_attr_init(&attr), "posix_trace_attr_init");
    need(posix_trace_attr_setname(&attr, "\033]0;title\007\n"), "posix_trace_attr_setname");
    need(posix_trace_create(0, &attr, &trid), "posix_trace_create");
    need(posix_trace_start(trid), "posix_trace_start");
    pass_trace_points();
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF)
        continue;
    need(posix_trace_shutdown(trid), "posix_trace_shutdown");
    return 0;
}
