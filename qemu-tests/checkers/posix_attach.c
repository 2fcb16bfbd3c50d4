// SPDX-License-Identifier: MIT
// qemu-tests: the calls of POSIX trace (<trace.h>) on firmware that runs. In: OpenOCD's port and
// the target's name, or the place of a server of GDB's remote protocol; the image posix
// (images/posix), whose heart beats. Out: "ok NAME" or "not ok NAME: why" for each assertion, which
// has the letter and the number of its group; exit status 1 when one failed.
#include <errno.h>
#include <extract/memory.h>
#include <extract/posix/attach.h>
#include <extract/symbols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace.h>

enum { PID = 700001, CORE_PID = 1, MOST = 4000, PATIENCE = 20 };

static int failed;
static struct extract_memory *memory;
static trace_id_t stream;

static void check(const char *name, bool good)
{
    printf(good ? "ok %s\n" : "not ok %s: it is not so\n", name);
    failed += !good;
}
static void returns(const char *name, int expected, int got)
{
    if (got == expected)
        printf("ok %s\n", name);
    else
        printf("not ok %s: %d (%s), not %d\n", name, got, strerror(got), expected);
    failed += got != expected;
}

static struct timespec in_seconds(int seconds)
{
    struct timespec then;
    clock_gettime(CLOCK_REALTIME, &then);
    then.tv_sec += seconds;
    return then;
}

// The firmware goes on for a while: it passes trace points, and carries out what is asked for.
static void let_run(void)
{
    struct timespec pause = {.tv_nsec = 200000000};
    (void)extract_live_resume(memory, NULL);
    nanosleep(&pause, NULL);
    (void)extract_live_halt(memory, NULL);
}

// One event; false when none comes in time.
struct event {
    struct posix_trace_event_info info;
    uint8_t data[256];
    size_t length;
};
static bool next(struct event *event)
{
    int unavailable = 1, error = 0;
    for (int i = 0; i < PATIENCE * 5 && unavailable && !error; i++) {
        error = posix_trace_trygetnext_event(stream, &event->info, event->data, sizeof event->data,
                                             &event->length, &unavailable);
        if (unavailable && !error)
            let_run();
    }
    if (error || unavailable)
        printf("# no event: %s\n", error ? strerror(error) : "waited in vain");
    return !error && !unavailable;
}
static bool next_of(struct event *event, trace_event_id_t type)
{
    for (int i = 0; i < MOST && next(event); i++)
        if (posix_trace_eventid_equal(stream, event->info.posix_event_id, type))
            return true;
    return false;
}
// What is there now; how many of `type`.
static int drain(trace_event_id_t type)
{
    struct event event;
    int found = 0, unavailable = 0;
    while (!posix_trace_trygetnext_event(stream, &event.info, event.data, sizeof event.data,
                                         &event.length, &unavailable) &&
           !unavailable)
        found += event.info.posix_event_id == type;
    return found;
}

static bool status_is(int running, int full, int overrun)
{
    struct posix_trace_status_info status;
    return !posix_trace_get_status(stream, &status) && status.posix_stream_status == running &&
           status.posix_stream_full_status == full && status.posix_stream_overrun_status == overrun;
}

// The firmware has bound its stream itself, and lets go of it when it runs.
static int create_when_free(const trace_attr_t *attr)
{
    int error = posix_trace_create(PID, attr, &stream);
    for (int i = 0; i < PATIENCE && error == EAGAIN; i++) {
        let_run();
        error = posix_trace_create(PID, attr, &stream);
    }
    return error;
}

static void test_create(void)
{
    trace_attr_t attr;
    char name[TRACE_NAME_MAX];
    trace_id_t other;
    returns("A create: attributes", 0, posix_trace_attr_init(&attr));
    posix_trace_attr_setname(&attr, "bench");
    posix_trace_attr_setmaxdatasize(&attr, 32);
    posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
    returns("B1 create: another pid", ESRCH, posix_trace_create(PID + 1, &attr, &other));
    returns("B1 create: of the attached target", 0, create_when_free(&attr));
    let_run();
    check("B1 create: suspended, not full, not overrun",
          status_is(POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
    memset(&attr, 0, sizeof attr);
    returns("A get_attr", 0, posix_trace_get_attr(stream, &attr));
    check("A get_attr: the name is that of creation",
          !posix_trace_attr_getname(&attr, name) && !strcmp(name, "bench"));
    returns("B2 create: the target has one stream", EAGAIN, posix_trace_create(PID, NULL, &other));
}

static void test_start(trace_event_id_t beat)
{
    struct event event;
    uint32_t first, second;
    returns("C1 start", 0, posix_trace_start(stream));
    returns("C1 start: once more", 0, posix_trace_start(stream));
    check("C1 start: recorded", next(&event) && event.info.posix_event_id == POSIX_TRACE_START);
    check("C1 start: its process", event.info.posix_pid == CORE_PID);
    check("C start: events arrive", next_of(&event, beat) && event.length == 4);
    memcpy(&first, event.data, 4);
    check("E1 the next one follows", next_of(&event, beat));
    memcpy(&second, event.data, 4);
    check("E1 in order, each once", second == first + 1);
    check("E not cut, and from somewhere",
          event.info.posix_truncation_status == POSIX_TRACE_NOT_TRUNCATED &&
              event.info.posix_prog_address != NULL);
    check("C1 status: running",
          status_is(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
}

static void test_reads(void)
{
    struct event event;
    int unavailable = 1;
    size_t length = 0;
    struct timespec then = in_seconds(-1), wrong = {.tv_nsec = 1000000000};
    check("E2 an event is there", next(&event));
    let_run();
    returns(
        "E3 a short buffer", 0,
        posix_trace_trygetnext_event(stream, &event.info, event.data, 1, &length, &unavailable));
    check("E3 a short buffer: cut by the read",
          length <= 1 && (event.length == 0 ||
                          event.info.posix_truncation_status == POSIX_TRACE_TRUNCATED_READ));
    returns("E4 timed: a time that is over, an event is there", 0,
            posix_trace_timedgetnext_event(stream, &event.info, event.data, sizeof event.data,
                                           &length, &unavailable, &then));
    posix_trace_stop(stream);
    let_run();
    drain(0);
    returns("E4 timed: a time that is over, none is there", ETIMEDOUT,
            posix_trace_timedgetnext_event(stream, &event.info, event.data, sizeof event.data,
                                           &length, &unavailable, &then));
    returns("E5 timed: no time at all", EINVAL,
            posix_trace_timedgetnext_event(stream, &event.info, event.data, sizeof event.data,
                                           &length, &unavailable, &wrong));
    returns("E2 try: none is there", 0,
            posix_trace_trygetnext_event(stream, &event.info, event.data, sizeof event.data,
                                         &length, &unavailable));
    check("E2 try: unavailable", unavailable != 0);
    posix_trace_start(stream);
    check("C1 start after a stop: recorded", next_of(&event, POSIX_TRACE_START));
}

static void test_filter(trace_event_id_t beat)
{
    trace_event_set_t set, old;
    struct event event;
    int member = 0;
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(beat, &set);
    returns("G1 filter", 0, posix_trace_set_filter(stream, &set, POSIX_TRACE_ADD_EVENTSET));
    check("G3 filter: recorded", next_of(&event, POSIX_TRACE_FILTER));
    let_run();
    check("G2 filter: no more of that type", drain(beat) == 0);
    returns("G1 filter: got", 0, posix_trace_get_filter(stream, &old));
    check("G1 filter: is what was set",
          !posix_trace_eventset_ismember(beat, &old, &member) && member != 0);
    returns("G1 filter: taken back", 0,
            posix_trace_set_filter(stream, &set, POSIX_TRACE_SUB_EVENTSET));
    check("G2 filter: they come again", next_of(&event, beat));
}

static void test_names(trace_event_id_t beat)
{
    char name[TRACE_EVENT_NAME_MAX];
    trace_event_id_t again = 0, id;
    int unavailable = 0, seen = 0;
    returns("F1 get_name", 0, posix_trace_eventid_get_name(stream, beat, name));
    check("F1 get_name: it is that", !strcmp(name, "beat"));
    returns("F1 the same name", 0, posix_trace_trid_eventid_open(stream, "beat", &again));
    check("F1 the same name: the same id", again == beat);
    returns("F2 a type that nobody has", EINVAL, posix_trace_eventid_get_name(stream, 4000, name));
    returns("F3 rewind", 0, posix_trace_eventtypelist_rewind(stream));
    while (!posix_trace_eventtypelist_getnext_id(stream, &id, &unavailable) && !unavailable)
        seen += id == beat || id == POSIX_TRACE_START || id == POSIX_TRACE_UNNAMED_USEREVENT;
    check("F3 the list has them once, and ends", seen == 3);
}

static void test_stop(trace_event_id_t beat)
{
    struct event event;
    returns("C2 stop", 0, posix_trace_stop(stream));
    check("C2 stop: recorded", next_of(&event, POSIX_TRACE_STOP));
    check("C2 stop: by request", event.length >= 4 && !memcmp(event.data, "\0\0\0", 4));
    let_run();
    check("C3 stopped: nothing comes", drain(beat) == 0);
    check("C2 status: suspended",
          status_is(POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
    returns("C1 start again", 0, posix_trace_start(stream));
    check("C1 start again: events arrive", next_of(&event, beat));
    returns("C4 clear", 0, posix_trace_clear(stream));
    check("C4 clear: it goes on", next_of(&event, beat));
}

static void test_shutdown(void)
{
    returns("B3 shutdown", 0, posix_trace_shutdown(stream));
    returns("B4 after shutdown: no stream", EINVAL, posix_trace_start(stream));
    let_run();
    returns("B5 create: after shutdown", 0, create_when_free(NULL));
    check("detach", extract_posix_detach(PID, NULL) == EXTRACT_OK);
    returns("B4 after detach: no stream", EINVAL, posix_trace_start(stream));
}

static bool open_target(char **argv, struct extract_symbols **symbols)
{
    struct extract_error error = {0};
    struct extract_live_options options = {.size = sizeof options, .target = argv[3]};
    enum extract_code code = extract_symbols_open(symbols, argv[1], &error);
    if (!code)
        code = argv[3] ? extract_memory_open_openocd(&memory, argv[2], &options, &error)
                       : extract_memory_open_remote(&memory, argv[2], &options, &error);
    if (!code)
        code = extract_posix_attach(PID, memory, *symbols, 0, &error);
    if (code)
        printf("not ok attach: %s: %s\n", error.what, error.why);
    return !code;
}

int main(int argc, char **argv)
{
    struct extract_symbols *symbols = NULL;
    trace_event_id_t beat = 0;
    if (argc < 3) {
        puts("usage: posix_attach ELF PLACE [OPENOCD-TARGET]");
        return 1;
    }
    if (!open_target(argv, &symbols))
        return 1;
    test_create();
    returns("F1 open by name", 0, posix_trace_trid_eventid_open(stream, "beat", &beat));
    test_start(beat);
    test_reads();
    test_filter(beat);
    test_names(beat);
    test_stop(beat);
    test_shutdown();
    extract_memory_close(memory);
    extract_symbols_close(symbols);
    return failed > 0;
}
