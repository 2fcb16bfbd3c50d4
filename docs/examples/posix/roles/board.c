// SPDX-License-Identifier: MIT
// A board in place of a program. Traces the firmware ELF through the GDB server SERVER: records
// only events of TYPE, prints four of them, and then filters them out.
#define _POSIX_C_SOURCE 200809L
#include "target.h"

enum { BOARD = 1, EVENTS = 4, PATIENCE = 100 };

static struct extract_memory *memory;

struct found {
    struct posix_trace_event_info event;
    unsigned char data[256];
    size_t bytes;
};

// Lets the target run for a while. A GDB server halts its target while memory is read, and firmware
// carries out requests only while it runs. (With OpenOCD, this is only a pause.)
static void let_run(void)
{
    const struct timespec pause = {0, 200000000};
    struct extract_error error;
    must(extract_live_resume(memory, &error), &error);
    nanosleep(&pause, NULL);
    must(extract_live_halt(memory, &error), &error);
}

// Creates the stream. The firmware may first have to release a stream of its own.
static trace_id_t create(void)
{
    trace_id_t trid;
    int error = posix_trace_create(BOARD, NULL, &trid);
    for (int i = 0; i < PATIENCE && error == EAGAIN; i++) {
        let_run();
        error = posix_trace_create(BOARD, NULL, &trid);
    }
    need(error, "posix_trace_create");
    return trid;
}

static void print_running(trace_id_t trid)
{
    struct posix_trace_status_info status;
    need(posix_trace_get_status(trid, &status), "posix_trace_get_status");
    puts(status.posix_stream_status == POSIX_TRACE_RUNNING ? "the stream runs"
                                                           : "the stream is suspended");
}

// Waits for the next event of a type, and passes over all others.
static void find(trace_id_t trid, trace_event_id_t type, struct found *found)
{
    int unavailable, waits = 0;
    do {
        need(posix_trace_trygetnext_event(trid, &found->event, found->data, sizeof found->data,
                                          &found->bytes, &unavailable),
             "posix_trace_trygetnext_event");
        if (unavailable)
            let_run();
        waits += unavailable;
        need(waits > PATIENCE ? ETIMEDOUT : 0, "no event");
    } while (unavailable || !posix_trace_eventid_equal(trid, found->event.posix_event_id, type));
}

static void filter(trace_id_t trid, const trace_event_set_t *set, trace_event_id_t type)
{
    trace_event_set_t now;
    int in_set;
    need(posix_trace_set_filter(trid, set, POSIX_TRACE_SET_EVENTSET), "posix_trace_set_filter");
    need(posix_trace_get_filter(trid, &now), "posix_trace_get_filter");
    need(posix_trace_eventset_ismember(type, &now, &in_set), "posix_trace_eventset_ismember");
    puts(in_set ? "events of this type are filtered out" : "events of this type are recorded");
}

static void trace(const char *name)
{
    struct found found;
    trace_event_set_t set;
    trace_event_id_t type;
    trace_id_t trid = create();
    print_running(trid);
    need(posix_trace_trid_eventid_open(trid, name, &type), "posix_trace_trid_eventid_open");
    need(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS), "posix_trace_eventset_fill");
    need(posix_trace_eventset_del(type, &set), "posix_trace_eventset_del");
    need(posix_trace_eventset_del(POSIX_TRACE_FILTER, &set), "posix_trace_eventset_del");
    filter(trid, &set, type);
    need(posix_trace_start(trid), "posix_trace_start");
    print_running(trid);
    for (int i = 0; i < EVENTS; i++) {
        find(trid, type, &found);
        print_event(trid, &found.event, found.data, found.bytes);
    }
    need(posix_trace_eventset_add(type, &set), "posix_trace_eventset_add");
    filter(trid, &set, type);
    find(trid, POSIX_TRACE_FILTER, &found);
    puts("the board has changed its filter");
    need(posix_trace_shutdown(trid), "posix_trace_shutdown");
}

int main(int argc, char **argv)
{
    struct extract_symbols *symbols;
    struct extract_error error;
    if (argc != 4) {
        fprintf(stderr, "usage: %s ELF SERVER TYPE\n", argv[0]);
        return EINVAL;
    }
    must(extract_symbols_open(&symbols, argv[1], &error), &error);
    must(extract_memory_open_remote(&memory, argv[2], NULL, &error), &error);
    must(extract_posix_attach(BOARD, memory, symbols, 0, &error), &error);
    trace(argv[3]);
    must(extract_posix_detach(BOARD, &error), &error);
    extract_memory_close(memory);
    extract_symbols_close(symbols);
    return 0;
}
