// SPDX-License-Identifier: MIT
// P11: a trace point that each thread enables for itself.
#define _POSIX_C_SOURCE 200809L
#include "../example.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t traced;
static trace_event_id_t my;

static void prepare(void)
{
    need(posix_trace_eventid_open("my", &my), "posix_trace_eventid_open");
    need(pthread_key_create(&traced, NULL), "pthread_key_create");
}

static void trace_me(void)
{
    need(pthread_once(&once, prepare), "pthread_once");
    need(pthread_setspecific(traced, &my), "pthread_setspecific");
}

static void trace_point(int value)
{
    need(pthread_once(&once, prepare), "pthread_once");
    if (pthread_getspecific(traced))
        posix_trace_event(my, &value, sizeof value);
}

static void *switched_on(void *unused)
{
    trace_me();
    trace_point(1);
    trace_point(2);
    return unused;
}

static void *switched_off(void *unused)
{
    trace_point(3);
    return unused;
}

static void print_events(trace_id_t trid, pthread_t on)
{
    struct posix_trace_event_info event;
    size_t bytes;
    int value, unavailable;
    for (;;) {
        need(posix_trace_trygetnext_event(trid, &event, &value, sizeof value, &bytes, &unavailable),
             "posix_trace_trygetnext_event");
        if (unavailable)
            return;
        if (event.posix_event_id == my)
            printf("my %d, of the thread that is switched %s\n", value,
                   pthread_equal(event.posix_thread_id, on) ? "on" : "off");
    }
}

int main(void)
{
    pthread_t on, off;
    trace_id_t trid;
    need(posix_trace_create(0, NULL, &trid), "posix_trace_create");
    need(posix_trace_start(trid), "posix_trace_start");
    need(pthread_create(&on, NULL, switched_on, NULL), "pthread_create");
    need(pthread_create(&off, NULL, switched_off, NULL), "pthread_create");
    need(pthread_join(on, NULL), "pthread_join");
    need(pthread_join(off, NULL), "pthread_join");
    print_events(trid, on);
    need(posix_trace_shutdown(trid), "posix_trace_shutdown");
    return 0;
}
