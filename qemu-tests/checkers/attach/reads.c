// SPDX-License-Identifier: MIT
// qemu-tests/checkers/attach: E and F: reading, names.
// In: a target that records what it is told. Out: a line for each assertion.
#include "attach.h"
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

// ---- E ----

// An event of `bytes` bytes, read with room for `room`.
static bool is_cut(trace_id_t trid, uint32_t bytes, size_t room, size_t length, int status)
{
    struct event event;
    memset(event.data, 0xEE, sizeof event.data);
    record(1, bytes);
    int error = posix_trace_getnext_event(trid, &event.info, room ? event.data : NULL, room,
                                          &event.length, &event.unavailable);
    return !error && !event.unavailable && is_told(&event, 0, length) &&
           event.info.posix_truncation_status == status && event.data[length] == 0xEE;
}

static void test_truncation(void)
{
    trace_attr_t attr = attributes(POSIX_TRACE_LOOP, 10);
    trace_id_t trid = create_started("E1 truncation: create", &attr);
    check("E1 no data, no buffer", is_cut(trid, 0, 0, 0, POSIX_TRACE_NOT_TRUNCATED));
    check("E1 no data", is_cut(trid, 0, 32, 0, POSIX_TRACE_NOT_TRUNCATED));
    check("E1 all", is_cut(trid, 10, 32, 10, POSIX_TRACE_NOT_TRUNCATED));
    check("E1 all, without more room", is_cut(trid, 10, 10, 10, POSIX_TRACE_NOT_TRUNCATED));
    check("E1 cut by the record", is_cut(trid, 11, 32, 10, POSIX_TRACE_TRUNCATED_RECORD));
    check("E1 cut by both", is_cut(trid, 11, 9, 9, POSIX_TRACE_TRUNCATED_READ));
    check("E1 cut by the read", is_cut(trid, 5, 3, 3, POSIX_TRACE_TRUNCATED_READ));
    check("E1 data, no buffer", is_cut(trid, 5, 0, 0, POSIX_TRACE_TRUNCATED_READ));
    end("E1 shutdown", trid);
}

static void test_order(void)
{
    trace_id_t a = create_started("E3 two streams: create", NULL);
    trace_id_t b = create_started("E3 two streams: create another", NULL);
    bool good = true;
    for (uint32_t i = 0; i < 5; i++) {
        record(20 + i, 1 + i);
        good = good && events_come(a, 0, 20 + i) && none(a);
    }
    check("E2 in order, each once", good);
    record(3, 4);
    check("E3 two streams: both have it", events_come(a, 0, 3));
    end("E3 shutdown", a);
    posix_trace_clear(b);
    record(2, 5);
    check("E3 two streams: one goes on", events_come(b, 0, 2) && none(b));
    end("E3 shutdown of the other", b);
}

// The event comes while the call waits, and so for the target, too.
static void test_blocks(void)
{
    struct event event = {0};
    trace_id_t trid = create_started("E4 blocks: create", NULL);
    post(&(struct order){.verb = LATE, .type = told, .count = 1, .bytes = 6, .ticks = 30});
    returns("E4 blocks", 0,
            posix_trace_getnext_event(trid, &event.info, event.data, sizeof event.data,
                                      &event.length, &event.unavailable));
    check("E4 blocks: until the event is there", !event.unavailable && is_told(&event, 0, 6));
    settle();
    end("E4 shutdown", trid);
}

static void *read_one(void *context)
{
    struct event event;
    static int result;
    result = posix_trace_getnext_event(*(trace_id_t *)context, &event.info, event.data,
                                       sizeof event.data, &event.length, &event.unavailable);
    return &result;
}

static void test_shutdown_wakes(void)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    pthread_t thread;
    void *result = NULL;
    trace_id_t trid = create_started("E5 shutdown wakes: create", NULL);
    if (pthread_create(&thread, NULL, read_one, &trid)) {
        check("E5 shutdown wakes: a thread", false);
        return;
    }
    nanosleep(&pause, NULL);
    end("E5 shutdown wakes: shutdown", trid);
    pthread_join(thread, &result);
    returns("E5 shutdown wakes: the reader", EINVAL, *(int *)result);
}

static void on_alarm(int signal)
{
    (void)signal;
}

static void test_interrupted(void)
{
    const struct itimerval soon = {{0, 50000}, {0, 50000}}, never = {0};
    struct sigaction action = {.sa_handler = on_alarm};
    struct event event;
    trace_id_t trid = create_started("E7 interrupted: create", NULL);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    returns(
        "E7 interrupted", EINTR,
        posix_trace_getnext_event(trid, &event.info, NULL, 0, &event.length, &event.unavailable));
    setitimer(ITIMER_REAL, &never, NULL);
    record(1, 3);
    check("E7 interrupted: the next one comes", events_come(trid, 0, 1));
    end("E7 shutdown", trid);
}

static int timed(trace_id_t trid, const struct timespec *then)
{
    struct event event;
    return posix_trace_timedgetnext_event(trid, &event.info, event.data, sizeof event.data,
                                          &event.length, &event.unavailable, then);
}

static void test_timed(void)
{
    static const struct timespec past = {1, 0}, bad = {1, 1000000000};
    trace_id_t trid = create_started("E8 timed: create", NULL);
    record(3, 4);
    returns("E8 timed: a time that is over, an event is there", 0, timed(trid, &past));
    returns("E8 timed: no time at all, an event is there", 0, timed(trid, &bad));
    check("E8 timed: each was read once", events_come(trid, 2, 3));
    returns("E8 timed: a time that is over, none is there", ETIMEDOUT, timed(trid, &past));
    returns("E8 timed: no time at all, none is there", EINVAL, timed(trid, &bad));
    check("E9 try: none is there", none(trid));
    end("E8 shutdown", trid);
}

void test_reads(void)
{
    test_truncation();
    test_order();
    test_blocks();
    test_shutdown_wakes();
    test_interrupted();
    test_timed();
}

// ---- F ----

static void test_same_name(void)
{
    trace_event_id_t a = 0, b = 0, c = 0;
    trace_id_t first = create("F1 same name: create", NULL);
    trace_id_t second = create("F1 same name: create another", NULL);
    returns("F1 same name: of the firmware's", 0, posix_trace_trid_eventid_open(first, "told", &a));
    returns("F1 same name: from the other stream", 0,
            posix_trace_trid_eventid_open(second, "told", &b));
    check("F1 same name: same id", a == told && b == told);
    returns("F1 same name: of the controller's", 0,
            posix_trace_trid_eventid_open(first, "asked first", &c));
    check("F1 same name: same id in the firmware", named_there("asked first") == c);
    check("F1 same name: equal, and not equal", posix_trace_eventid_equal(first, a, b) != 0 &&
                                                    posix_trace_eventid_equal(first, a, c) == 0);
    end("F1 shutdown", first);
    end("F1 shutdown of the other", second);
}

static void test_lengths(void)
{
    enum { SLOT = 32 }; // bytes of a name that firmware keeps
    size_t slot = is_host ? TRACE_EVENT_NAME_MAX + 1 : SLOT;
    char name[TRACE_EVENT_NAME_MAX + 2], got[TRACE_EVENT_NAME_MAX + 1] = "";
    trace_event_id_t id = 0;
    trace_id_t trid = create("F2 lengths: create", NULL);
    memset(name, 'n', sizeof name);
    for (size_t length = slot - 2; length < slot; length++) {
        name[length] = '\0';
        returns("F2 lengths: fits", 0, posix_trace_trid_eventid_open(trid, name, &id));
        check("F2 lengths: the name that was given",
              !posix_trace_eventid_get_name(trid, id, got) && !strcmp(got, name));
        check("F2 lengths: the firmware's, too", named_there(name) == id);
        name[length] = 'n';
    }
    name[slot] = '\0';
    returns("F2 lengths: one too long", ENAMETOOLONG,
            posix_trace_trid_eventid_open(trid, name, &id));
    returns("F2 a type of nobody's", EINVAL, posix_trace_eventid_get_name(trid, 9, got));
    returns("F2 a type that is not registered", EINVAL,
            posix_trace_eventid_get_name(trid, told + 20, got));
    end("F2 shutdown", trid);
}

static void test_predefined(void)
{
    static const char *const names[] = {[POSIX_TRACE_ERROR] = "posix_trace_error",
                                        [POSIX_TRACE_START] = "posix_trace_start",
                                        [POSIX_TRACE_STOP] = "posix_trace_stop",
                                        [POSIX_TRACE_OVERFLOW] = "posix_trace_overflow",
                                        [POSIX_TRACE_RESUME] = "posix_trace_resume",
                                        [POSIX_TRACE_FILTER] = "posix_trace_filter",
                                        [POSIX_TRACE_FLUSH_START] = "posix_trace_flush_start",
                                        [POSIX_TRACE_FLUSH_STOP] = "posix_trace_flush_stop",
                                        [POSIX_TRACE_UNNAMED_USEREVENT] =
                                            "posix_trace_unnamed_userevent"};
    trace_id_t trid = create("F5 predefined names: create", NULL);
    bool controllers = true, firmwares = true;
    for (trace_event_id_t id = 0; id < sizeof names / sizeof *names; id++) {
        trace_event_id_t given = 0;
        if (!names[id])
            continue;
        controllers =
            controllers && !posix_trace_trid_eventid_open(trid, names[id], &given) && given == id;
        firmwares = firmwares && named_there(names[id]) == id;
    }
    check("F5 predefined names: the controller's", controllers);
    check("F5 predefined names: the firmware's", firmwares);
    end("F5 shutdown", trid);
}

static void test_list(void)
{
    static const char *const names[] = {"posix_trace_error",
                                        "posix_trace_start",
                                        "posix_trace_stop",
                                        "posix_trace_overflow",
                                        "posix_trace_resume",
                                        "posix_trace_filter",
                                        "posix_trace_flush_start",
                                        "posix_trace_flush_stop",
                                        "posix_trace_unnamed_userevent",
                                        "told",
                                        "asked first"};
    enum { ALL = (1 << sizeof names / sizeof *names) - 1 };
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_event_id_t id;
    trace_id_t trid = create("F3 list: create", NULL);
    for (int round = 0; round < 2; round++) {
        unsigned seen = 0, twice = 0;
        int unavailable = 0;
        returns("F3 list: rewind", 0, posix_trace_eventtypelist_rewind(trid));
        while (!posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) && !unavailable)
            for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
                if (!posix_trace_eventid_get_name(trid, id, name) && !strcmp(name, names[i])) {
                    twice |= seen & 1U << i;
                    seen |= 1U << i;
                }
        check("F3 list: has each once, and ends", seen == ALL && !twice && unavailable);
    }
    end("F3 shutdown", trid);
}

void test_names(void)
{
    test_same_name();
    test_lengths();
    test_predefined();
    test_list();
}

// The last one of its target, since names are never given back.
void test_full_table(void)
{
    enum { FIRMWARE_TYPES = 32 };
    unsigned capacity = is_host ? TRACE_USER_EVENT_MAX : FIRMWARE_TYPES;
    char name[16];
    trace_event_id_t id = 0, last = 0;
    unsigned count = 0;
    trace_id_t trid = create("F4 full table: create", NULL);
    bool good = true;
    for (; good && count <= capacity && id != POSIX_TRACE_UNNAMED_USEREVENT; count++) {
        snprintf(name, sizeof name, "name %u", count);
        last = id;
        good = !posix_trace_trid_eventid_open(trid, name, &id);
    }
    check("F4 full table: the unnamed type", good && count > 1 && count <= capacity);
    check("F4 full table: in the firmware, too",
          named_there("one more") == POSIX_TRACE_UNNAMED_USEREVENT);
    snprintf(name, sizeof name, "name %u", count - 2);
    check("F4 full table: what is there is found",
          !posix_trace_trid_eventid_open(trid, name, &id) && id == last &&
              named_there(name) == last);
    end("F4 shutdown", trid);
}
