// SPDX-License-Identifier: MIT
// Shared by the examples: error handling, and printing of streams, logs and their events.
#ifndef RINGSIDE_EXAMPLE_H
#define RINGSIDE_EXAMPLE_H

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

// Exits with a message if `error` is not 0. Trace functions return an error number and do not set
// errno.
static inline void need(int error, const char *what)
{
    if (!error)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(error);
}

// Waits for a complete line of standard input. Returns 0 at the end of the input.
static inline int wait_for_line(void)
{
    int c;
    do
        c = getchar();
    while (c != '\n' && c != EOF);
    return c == '\n';
}

// Prints a name. The traced process chooses names, so they may contain anything.
static inline void print_name(trace_id_t trid, trace_event_id_t event)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    need(posix_trace_eventid_get_name(trid, event, name), "posix_trace_eventid_get_name");
    for (const char *c = name; *c; c++)
        putchar(isprint((unsigned char)*c) ? *c : '?');
}

// Prints an event as "name" or "name: data in hexadecimal".
static inline void print_event(trace_id_t trid, const struct posix_trace_event_info *event,
                               const unsigned char *data, size_t bytes)
{
    print_name(trid, event->posix_event_id);
    if (bytes)
        putchar(':');
    for (size_t i = 0; i < bytes; i++)
        printf(" %02X", data[i]);
    if (event->posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED)
        printf(" (cut)");
    putchar('\n');
}

// Prints who made the stream, the maximum size of its data, and whether events were lost: since the
// last call, or in a log at any time.
static inline void print_status(trace_id_t trid)
{
    struct posix_trace_status_info status;
    trace_attr_t attr;
    char version[TRACE_NAME_MAX];
    size_t bytes;
    need(posix_trace_get_status(trid, &status), "posix_trace_get_status");
    need(posix_trace_get_attr(trid, &attr), "posix_trace_get_attr");
    need(posix_trace_attr_getgenversion(&attr, version), "posix_trace_attr_getgenversion");
    need(posix_trace_attr_getmaxdatasize(&attr, &bytes), "posix_trace_attr_getmaxdatasize");
    need(posix_trace_attr_destroy(&attr), "posix_trace_attr_destroy");
    printf("made by: %s\nbytes of data: %zu at most\n", version, bytes);
    if (status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN)
        puts("events were lost");
}

// Prints the names of all event types.
static inline void print_types(trace_id_t trid)
{
    trace_event_id_t event;
    int unavailable;
    need(posix_trace_eventtypelist_rewind(trid), "posix_trace_eventtypelist_rewind");
    for (;;) {
        need(posix_trace_eventtypelist_getnext_id(trid, &event, &unavailable),
             "posix_trace_eventtypelist_getnext_id");
        if (unavailable)
            return;
        printf("type: ");
        print_name(trid, event);
        putchar('\n');
    }
}

// Prints the events that can be read now from a stream that still records.
static inline void print_available(trace_id_t trid)
{
    struct posix_trace_event_info event;
    unsigned char data[256];
    size_t bytes;
    int unavailable;
    for (;;) {
        need(posix_trace_trygetnext_event(trid, &event, data, sizeof data, &bytes, &unavailable),
             "posix_trace_trygetnext_event");
        if (unavailable)
            return;
        print_event(trid, &event, data, bytes);
    }
}

// Returns the size of a buffer that is large enough for the data of every event.
static inline size_t data_bytes(trace_id_t trid)
{
    trace_attr_t attr;
    size_t bytes;
    need(posix_trace_get_attr(trid, &attr), "posix_trace_get_attr");
    need(posix_trace_attr_getmaxdatasize(&attr, &bytes), "posix_trace_attr_getmaxdatasize");
    need(posix_trace_attr_destroy(&attr), "posix_trace_attr_destroy");
    // System events have data, too: at most two event sets.
    return bytes > 2 * sizeof(trace_event_set_t) ? bytes : 2 * sizeof(trace_event_set_t);
}

// Prints all events of a stream that has ended: of a log or an image of memory.
static inline void print_recorded(trace_id_t trid)
{
    struct posix_trace_event_info event;
    size_t room = data_bytes(trid), bytes;
    unsigned char *data = malloc(room);
    int unavailable;
    need(data ? 0 : ENOMEM, "memory for data");
    for (;;) {
        need(posix_trace_getnext_event(trid, &event, data, room, &bytes, &unavailable),
             "posix_trace_getnext_event");
        if (unavailable)
            break;
        print_event(trid, &event, data, bytes);
    }
    free(data);
}

#endif
