// SPDX-License-Identifier: MIT
// qemu-tests/checkers/attach: A to D: attributes, streams, starting and stopping, policies.
#include "attach.h"
#include <time.h>

enum { CONTROLLERS = 0 }; // the stream that a controller gets first, once the firmware's is free

// ---- A ----

// Returns whether as many events of the greatest size as the sizes promise are there, none lost.
// `bytes`: of the stream, 0 for the default; `most`: bytes of data, 0 for the default.
static bool keeps_size_contract(int policy, size_t bytes, size_t most)
{
    trace_attr_t attr;
    size_t stream = 0, size = 1;
    struct event event;

    posix_trace_attr_init(&attr);
    posix_trace_attr_setstreamfullpolicy(&attr, policy);
    if (bytes)
        posix_trace_attr_setstreamsize(&attr, bytes);
    if (most)
        posix_trace_attr_setmaxdatasize(&attr, most);
    trace_id_t trid = create("A7 size contract: create", &attr);
    posix_trace_get_attr(trid, &attr);
    posix_trace_attr_getstreamsize(&attr, &stream);
    posix_trace_attr_getmaxdatasize(&attr, &most);
    posix_trace_attr_getmaxusereventsize(&attr, most, &size);
    uint32_t count = (uint32_t)((bytes ? bytes : stream) / size);
    posix_trace_start(trid);
    record(count, (uint32_t)most);
    bool good =
        (bytes || count > 10) &&
        status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN) &&
        comes(trid, POSIX_TRACE_START, &event) && events_come(trid, 0, count) && none(trid);
    end("A7 size contract: shutdown", trid);
    return good;
}

static void test_size_contract(void)
{
    bool good = true;

    check("A7 size contract: a loop", keeps_size_contract(POSIX_TRACE_LOOP, 0, 0));
    check("A7 size contract: until it is full", keeps_size_contract(POSIX_TRACE_UNTIL_FULL, 0, 0));
    if (!is_host) // a ring of firmware has one size
        return;
    for (size_t bytes = 211; bytes < 3000; bytes += 211)
        good = good && keeps_size_contract(POSIX_TRACE_LOOP, bytes, 8) &&
               keeps_size_contract(POSIX_TRACE_UNTIL_FULL, bytes, 64);
    check("A7 size contract: small streams", good);
    check("A7 size contract: a large stream",
          keeps_size_contract(POSIX_TRACE_UNTIL_FULL, 261120, 37));
}

static void test_copied(void)
{
    trace_attr_t attr = attributes(POSIX_TRACE_UNTIL_FULL, 32);
    char name[TRACE_NAME_MAX] = "";
    int policy = 0;
    size_t most = 0;
    struct timespec resolution = {0};
    posix_trace_attr_setname(&attr, "first");
    trace_id_t trid = create("A8 attributes: create", &attr);
    posix_trace_attr_setname(&attr, "second");
    posix_trace_attr_destroy(&attr);
    memset(&attr, 0x5A, sizeof attr);
    returns("A8 attributes: get_attr", 0, posix_trace_get_attr(trid, &attr));
    posix_trace_attr_getname(&attr, name);
    check("A8 attributes: the name of creation", !strcmp(name, "first"));
    posix_trace_attr_getstreamfullpolicy(&attr, &policy);
    posix_trace_attr_getmaxdatasize(&attr, &most);
    check("A8 attributes: policy and size of data", policy == POSIX_TRACE_UNTIL_FULL && most == 32);
    posix_trace_attr_getclockres(&attr, &resolution);
    double ticks = seconds(&resolution) * target_hz();
    check("A8 attributes: the target's clock", ticks >= 1 && ticks < 1.01);
    if (is_host) { // a stream of a process has any size
        posix_trace_attr_getstreamsize(&attr, &most);
        check("A8 attributes: size", most == (size_t)RING_WORDS * 4);
        end("A8 attributes: shutdown", trid);
        return;
    }
    posix_trace_attr_setstreamsize(&attr, (size_t)RING_WORDS * 4);
    end("A8 attributes: shutdown", trid);
    returns("A8 attributes: more than the ring has", ENOMEM,
            posix_trace_create(process, &attr, &trid));
}

static void test_defaults(void)
{
    trace_attr_t attr;
    char name[TRACE_NAME_MAX] = "?", version[TRACE_NAME_MAX] = "";
    struct timespec before, after, made = {0};
    int policy = 0, inherited = 0;
    size_t size, last = 0;
    bool good = true;
    clock_gettime(CLOCK_REALTIME, &before);
    trace_id_t trid = create("A1 defaults: create", NULL);
    clock_gettime(CLOCK_REALTIME, &after);
    posix_trace_get_attr(trid, &attr);
    posix_trace_attr_getname(&attr, name);
    posix_trace_attr_getgenversion(&attr, version);
    posix_trace_attr_getstreamfullpolicy(&attr, &policy);
    posix_trace_attr_getinherited(&attr, &inherited);
    posix_trace_attr_getcreatetime(&attr, &made);
    check("A1 defaults: name, version, policies", !*name && !strncmp(version, "ringside ", 9) &&
                                                      policy == POSIX_TRACE_LOOP &&
                                                      inherited == POSIX_TRACE_CLOSE_FOR_CHILD);
    check("A1 defaults: the time of creation",
          seconds(&made) >= seconds(&before) - 1e-6 && seconds(&made) <= seconds(&after) + 1e-6);
    for (size_t length = 0; length < 2 * sizeof attr; length++) {
        good = good && !posix_trace_attr_getmaxusereventsize(&attr, length, &size) && size >= last;
        last = size;
    }
    check("A5 event sizes: no more data, no more bytes", good);
    end("A1 shutdown", trid);
    memset(&attr, 0x5A, sizeof attr);
    returns("A6 attributes that were never made", EINVAL,
            posix_trace_create(process, &attr, &trid));
}

// In the stream's attributes, and in the target's memory.
static bool is_named(const char *name, const char *stored)
{
    trace_attr_t attr = attributes(POSIX_TRACE_LOOP, 0);
    char got[TRACE_NAME_MAX] = "?", there[TRACE_NAME_MAX] = "?";
    trace_id_t image = 0;
    posix_trace_attr_setname(&attr, name);
    trace_id_t trid = create("A4 names: create", &attr);
    posix_trace_get_attr(trid, &attr);
    posix_trace_attr_getname(&attr, got);
    if (!extract_posix_open_memory(memory, symbols, 0, CONTROLLERS, &image, NULL)) {
        posix_trace_get_attr(image, &attr);
        posix_trace_attr_getname(&attr, there);
        posix_trace_close(image);
    }
    end("A4 shutdown", trid);
    return !strcmp(got, stored) && (is_host || !strcmp(there, stored));
}

static void test_stream_names(void)
{
    check("A4 names: none", is_named("", ""));
    check("A4 names: of eight characters", is_named("my_trace", "my_trace"));
    check("A4 names: as long as may be", is_named("fifteen letters", "fifteen letters"));
    check("A4 names: longer", is_named("sixteen letters!", "sixteen letters"));
    check("A4 names: much longer",
          is_named("many more letters than there is room for", "many more lette"));
}

void test_attributes(void)
{
    trace_attr_t attr = attributes(POSIX_TRACE_FLUSH, 0);
    trace_id_t trid;
    test_defaults();
    test_stream_names();
    returns("A9 flush without a log", EINVAL, posix_trace_create(process, &attr, &trid));
    test_size_contract();
    test_copied();
}

// ---- B ----

static void test_own_kind(void)
{
    struct posix_trace_status_info status;
    trace_id_t trid = create("B4 kinds: create", NULL), stale = trid;
    returns("B4 kinds: rewind", EINVAL, posix_trace_rewind(trid));
    returns("B4 kinds: close", EINVAL, posix_trace_close(trid));
    returns("B4 kinds: flush", EINVAL, posix_trace_flush(trid));
    returns("B4 kinds: no such id", EINVAL, posix_trace_get_status(trid + 1, &status));
    returns("B4 kinds: id 0", EINVAL, posix_trace_get_status(0, &status));
    end("B4 kinds: shutdown", trid);
    returns("B4 kinds: shut down", EINVAL, posix_trace_shutdown(stale));
    trid = create("B4 kinds: create in its place", NULL);
    returns("B4 kinds: of the stream before", EINVAL, posix_trace_start(stale));
    returns("B4 kinds: the types of the stream before", EINVAL,
            posix_trace_eventtypelist_rewind(stale));
    end("B4 kinds: shutdown of the second", trid);
}

// A process has as many streams as there may be, again and again.
static void test_all_streams(void)
{
    trace_id_t trids[TRACE_SYS_MAX], more;

    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < TRACE_SYS_MAX; i++)
            trids[i] = create("B2 create", NULL);
        returns("B2 create: one more than there are", EAGAIN,
                posix_trace_create(process, NULL, &more));
        for (unsigned i = 0; i < TRACE_SYS_MAX; i++)
            end("B2 shutdown", trids[i]);
    }
}

// The firmware has bound the first stream, whose positions begin at 0 again: the second one is
// taken before it.
void test_create(void)
{
    enum { HEAD = 48 };
    uint64_t head = stream_word(0, HEAD);
    trace_event_set_t set, empty;
    trace_id_t other, more;
    posix_trace_eventset_empty(&empty);
    memset(&set, 0xA5, sizeof set);
    returns("B3 create: another process", ESRCH, posix_trace_create(PID + 1, NULL, &other));
    trace_id_t trid = create("B1 create", NULL);
    check("B1 create: suspended, not full, not overrun",
          status_is(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
    check("B1 create: no filter",
          !posix_trace_get_filter(trid, &set) && !memcmp(&set, &empty, sizeof set));
    record(1, 1);
    check("B1 create: nothing is recorded", none(trid));
    if (is_host) {
        end("B1 shutdown", trid);
        test_all_streams();
        test_own_kind();
        return;
    }
    other = create_started("I9 create: of the stream that the firmware has bound", NULL);
    returns("B2 create: one more than there are", EAGAIN, posix_trace_create(process, NULL, &more));
    check("I6 positions: before they wrap", peek(head) > UINT32_MAX - 1000);
    bool good = true;
    for (int i = 0; i < 5; i++) {
        record(40, 4);
        good = good && events_come(other, 0, 40);
    }
    check("I6 positions: the events while they wrap", good && none(other));
    check("I6 positions: after it", peek(head) < 10000);
    check("B1 create: the other one has none of it", none(trid));
    end("B1 shutdown", trid);
    end("I9 shutdown", other);
    test_own_kind();
}

// ---- C ----

static void test_once_each(void)
{
    struct event event;
    trace_id_t trid = create("C1 start: create", NULL);
    for (int i = 0; i < 2; i++) {
        returns("C1 start", 0, posix_trace_start(trid));
        settle();
    }
    check("C1 start: running",
          status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
    record(2, 4);
    for (int i = 0; i < 2; i++) {
        returns("C1 stop", 0, posix_trace_stop(trid));
        settle();
    }
    check("C1 stop: suspended",
          status_is(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
    record(3, 4);
    returns("C1 start again", 0, posix_trace_start(trid));
    record(1, 9);
    check("C1 start: once", comes(trid, POSIX_TRACE_START, &event) && events_come(trid, 0, 2));
    check("C1 stop: once, by request",
          comes(trid, POSIX_TRACE_STOP, &event) && number_in(&event) == 0);
    check("C1 nothing in between", comes(trid, POSIX_TRACE_START, &event) &&
                                       comes(trid, user_type, &event) && event.length == 9 &&
                                       none(trid));
    end("C1 shutdown", trid);
}

static void test_start_filter(void)
{
    enum { HIGH_TYPE = 200 }; // more than firmware has
    trace_event_set_t set, got;
    struct event event;
    trace_id_t trid = create("C2 start has the filter: create", NULL);
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(POSIX_TRACE_ERROR, &set);
    posix_trace_eventset_add(is_host ? HIGH_TYPE : POSIX_TRACE_UNNAMED_USEREVENT, &set);
    returns("C2 start has the filter: set", 0,
            posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
    posix_trace_start(trid);
    settle();
    check("C2 start has the filter", comes(trid, POSIX_TRACE_START, &event) &&
                                         event.length == sizeof got &&
                                         !memcmp(event.data, &set, sizeof set));
    end("C2 shutdown", trid);
}

static void test_origin(void)
{
    struct timespec before, after;
    struct extract_symbol function;
    struct event event;
    uint64_t offset;
    trace_id_t trid = create_started("C3 origin: create", NULL);
    clock_gettime(CLOCK_REALTIME, &before);
    record(1, 1);
    clock_gettime(CLOCK_REALTIME, &after);
    check("C3 origin: an event", comes(trid, user_type, &event));
    if (is_host) {
        check("C3 origin: process, thread and place", host_recorded(&event.info));
        check("C3 origin: time", seconds(&event.info.posix_timestamp) >= seconds(&before) &&
                                     seconds(&event.info.posix_timestamp) <= seconds(&after));
        end("C3 shutdown", trid);
        return;
    }
    check("C3 origin: process", event.info.posix_pid == CORE_PID);
    check("C3 origin: thread",
          (uint64_t)(uintptr_t)event.info.posix_thread_id == address_of("calls_thread"));
    check("C3 origin: place",
          extract_symbols_by_address(symbols, (uint64_t)(uintptr_t)event.info.posix_prog_address,
                                     &function, &offset, NULL) &&
              !strcmp(function.name, "calls_record"));
    end("C3 shutdown", trid);
}

void test_start(void)
{
    test_once_each();
    test_start_filter();
    test_origin();
}

// ---- D ----

static void test_loop(void)
{
    trace_attr_t attr = attributes(POSIX_TRACE_LOOP, 0);
    struct event overflow, resume, event;
    trace_id_t trid = create_started("D1 loop: create", &attr);
    record(OVERFULL, 4);
    check("D1 loop: running, full, overrun",
          status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN));
    check("D1 loop: overrun is reported once",
          status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_FULL, POSIX_TRACE_NO_OVERRUN));
    bool good = comes(trid, POSIX_TRACE_OVERFLOW, &overflow) &&
                comes(trid, POSIX_TRACE_RESUME, &resume) && comes(trid, user_type, &event);
    check("D1 loop: overflow, resume, the rest", good);
    check("D1 loop: overflow at the first lost",
          good && are_apart(&overflow, 0, &event, event.data[0]));
    check("D1 loop: resume at the first that is there",
          good && !memcmp(&resume.info.posix_timestamp, &event.info.posix_timestamp,
                          sizeof event.info.posix_timestamp));
    check("D1 loop: the newest, in order", good && event.data[0] > OVERFULL / 2 &&
                                               events_come(trid, event.data[0] + 1U, OVERFULL) &&
                                               none(trid));
    check("D1 loop: read, it is not full",
          status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
    end("D1 shutdown", trid);
}

static void test_loop_stops(void)
{
    trace_attr_t attr = attributes(POSIX_TRACE_LOOP, 0);
    struct event event, last = {0};
    trace_id_t trid = create_started("D2 loop stops: create", &attr);
    record(OVERFULL, 4);
    check("D2 loop stops: running, full, overrun",
          status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN));
    posix_trace_stop(trid);
    settle();
    check("D2 loop stops: suspended, full, overrun",
          status_is(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN));
    while (!(event = take(trid)).unavailable)
        last = event;
    check("D2 loop stops: STOP is the last",
          last.info.posix_event_id == POSIX_TRACE_STOP && number_in(&last) == 0);
    end("D2 shutdown", trid);
}

// One turn of a stream until it is full, up to its being read.
static void fill_and_drain(trace_id_t trid)
{
    struct event event;
    uint32_t count = 0;
    record(OVERFULL, 4);
    check("D3 until full: suspended, full, overrun",
          status_is(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN));
    check("D3 until full: overrun is reported once",
          status_is(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_NO_OVERRUN));
    record(1, 4);
    check("D3 until full: an event is refused",
          status_is(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN));
    returns("D3 until full: start", 0, posix_trace_start(trid));
    settle();
    check("D3 until full: START first", comes(trid, POSIX_TRACE_START, &event));
    while ((event = take(trid)).info.posix_event_id == user_type && is_of_order(&event, count, 4))
        count++;
    check("D3 until full: the oldest, in order", count > RING_WORDS / 16 && count < OVERFULL);
    check("D3 until full: STOP last, by itself",
          event.info.posix_event_id == POSIX_TRACE_STOP && number_in(&event) != 0 && none(trid));
    check("D3 until full: read, it runs",
          status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
}

static void test_until_full(void)
{
    trace_attr_t attr = attributes(POSIX_TRACE_UNTIL_FULL, 0);
    trace_id_t trid = create("D3 until full: create", &attr);
    struct event event;
    posix_trace_start(trid);
    for (int i = 0; i < 3; i++)
        fill_and_drain(trid);
    record(1, 4);
    check("D3 until full: the next event starts it",
          comes(trid, POSIX_TRACE_START, &event) && events_come(trid, 0, 1) && none(trid));
    end("D3 shutdown", trid);
}

static void test_partly_read(void)
{
    trace_attr_t attr = attributes(POSIX_TRACE_UNTIL_FULL, 0);
    trace_id_t trid = create_started("D4 partly read: create", &attr);
    record(OVERFULL, 4);
    check("D4 partly read: the first", events_come(trid, 0, 1));
    check("D4 partly read: still full",
          status_is(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN));
    check("D4 partly read: the second", events_come(trid, 1, 2));
    end("D4 shutdown", trid);
}

static void test_clear(int policy)
{
    trace_attr_t attr = attributes(policy, 0);
    char name[TRACE_EVENT_NAME_MAX + 1] = "";
    trace_id_t trid = create_started("D5 clear: create", &attr);
    record(OVERFULL, 4);
    returns("D5 clear", 0, posix_trace_clear(trid));
    settle();
    struct event event;
    if (policy == POSIX_TRACE_UNTIL_FULL) { // it stopped itself, and stays suspended
        check("D5 clear: suspended, neither full nor overrun",
              status_is(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
        returns("D5 start", 0, posix_trace_start(trid));
        settle();
        check("D5 start", comes(trid, POSIX_TRACE_START, &event));
    }
    check("D5 clear: running, neither full nor overrun",
          status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
    record(2, 7);
    event = take(trid);
    check("D5 clear: what follows, and nothing else",
          is_of_order(&event, 0, 7) && events_come(trid, 1, 2) && none(trid));
    check("D5 clear: the names stay",
          !posix_trace_eventid_get_name(trid, user_type, name) && !strcmp(name, "told"));
    end("D5 shutdown", trid);
}

void test_policies(void)
{
    test_loop();
    test_loop_stops();
    test_until_full();
    test_partly_read();
    test_clear(POSIX_TRACE_LOOP);
    test_clear(POSIX_TRACE_UNTIL_FULL);
}
