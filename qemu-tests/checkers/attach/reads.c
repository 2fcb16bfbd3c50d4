// SPDX-License-Identifier: MIT
// qemu-tests/checkers/attach: E and F: reading, and names of event types.
#include "attach.h"
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

// ---- E ----

// Reads an event of `bytes` bytes into a buffer of `room` bytes.
static bool is_cut(trace_id_t trid, uint32_t bytes, size_t room, size_t length, int status)
{
    struct event event;
    memset(event.data, 0xEE, sizeof event.data);
    record(1, bytes);
    int error = posix_trace_getnext_event(trid, &event.info, room ? event.data : NULL, room,
                                          &event.length, &event.unavailable);
    return !error && !event.unavailable && is_of_order(&event, 0, length) &&
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

// A stream of a process has space for thousands; the read waits for none of them.
static void test_many(void)
{
    enum { MANY = 3000 };
    trace_attr_t attr = attributes(POSIX_TRACE_LOOP, 0);
    bool good = true;

    posix_trace_attr_setstreamsize(&attr, (size_t)MANY * 64);
    trace_id_t trid = create_started("E2 many: create", &attr);
    record(MANY, 4);
    for (uint32_t i = 0; i < MANY; i++) {
        struct event event = next(trid);
        good = good && is_of_order(&event, i, 4);
    }
    check("E2 many: in order, each once", good && none(trid));
    end("E2 shutdown", trid);
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
    if (is_host)
        test_many();
    record(3, 4);
    check("E3 two streams: both have it", events_come(a, 0, 3));
    end("E3 shutdown", a);
    posix_trace_clear(b);
    record(2, 5);
    check("E3 two streams: one continues", events_come(b, 0, 2) && none(b));
    end("E3 shutdown of the other", b);
}

// The event comes while the call waits, and so for the target, too.
static void test_blocks(void)
{
    struct event event = {0};
    trace_id_t trid = create_started("E4 blocks: create", NULL);
    post(&(struct order){.verb = LATE, .type = user_type, .count = 1, .bytes = 6, .ticks = 30});
    returns("E4 blocks", 0,
            posix_trace_getnext_event(trid, &event.info, event.data, sizeof event.data,
                                      &event.length, &event.unavailable));
    check("E4 blocks: until the event is there", !event.unavailable && is_of_order(&event, 0, 6));
    settle();
    end("E4 shutdown", trid);
}

enum { WAITING = 3 };

struct waiting {
    trace_id_t trid;
    pthread_t thread;
    int error;
};

static void *wait_for_one(void *context)
{
    struct waiting *waiting = context;
    struct event event;
    waiting->error =
        posix_trace_getnext_event(waiting->trid, &event.info, event.data, sizeof event.data,
                                  &event.length, &event.unavailable);
    return NULL;
}

static void test_shutdown_wakes(void)
{
    struct waiting readers[WAITING];
    bool good = true;
    trace_id_t trid = create_started("E5 shutdown wakes: create", NULL);
    for (unsigned i = 0; i < WAITING; i++) {
        readers[i] = (struct waiting){.trid = trid};
        good = good && !pthread_create(&readers[i].thread, NULL, wait_for_one, &readers[i]);
    }
    pause_ms(100);
    end("E5 shutdown wakes: shutdown", trid);
    for (unsigned i = 0; i < WAITING && good; i++)
        good = !pthread_join(readers[i].thread, NULL) && readers[i].error == EINVAL;
    check("E5 shutdown wakes: the readers", good);
}

static void on_alarm(int signal)
{
    (void)signal;
}

static void test_interrupted(void)
{
    enum { ROUNDS = 20 };
    const struct itimerval soon = {{0, 7000}, {0, 7000}}, never = {0};
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct event event;
    sigset_t mask;
    bool good = true;
    trace_id_t trid = create_started("E7 interrupted: create", NULL);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    for (unsigned i = 0; i < ROUNDS; i++)
        good = good && posix_trace_getnext_event(trid, &event.info, NULL, 0, &event.length,
                                                 &event.unavailable) == EINTR;
    check("E7 interrupted: each time, though system calls would be restarted", good);
    setitimer(ITIMER_REAL, &never, NULL);
    check("E7 interrupted: the signal mask is as it was",
          !pthread_sigmask(SIG_BLOCK, NULL, &mask) && sigismember(&mask, SIGALRM) == 0);
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
    static const struct timespec past = {1, 0}, bad = {1, 1000000000}, negative = {1, -1};
    struct timespec soon, now;
    struct event event;
    trace_id_t trid = create_started("E8 timed: create", NULL);
    record(4, 4);
    returns("E8 timed: a time that is over, an event is there", 0, timed(trid, &past));
    returns("E8 timed: no time at all, an event is there", 0, timed(trid, &bad));
    returns("E8 timed: a negative time, an event is there", 0, timed(trid, &negative));
    check("E8 timed: each was read once", events_come(trid, 3, 4));
    returns("E8 timed: a time that is over, none is there", ETIMEDOUT, timed(trid, &past));
    returns("E8 timed: no time at all, none is there", EINVAL, timed(trid, &bad));
    returns("E8 timed: a negative time, none is there", EINVAL, timed(trid, &negative));
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += 30000000;
    soon.tv_sec += soon.tv_nsec / 1000000000;
    soon.tv_nsec %= 1000000000;
    returns("E8 timed: soon", ETIMEDOUT, timed(trid, &soon));
    clock_gettime(CLOCK_REALTIME, &now);
    check("E8 timed: not before", seconds(&now) >= seconds(&soon) - 1e-6);
    check("E9 try: none is there", none(trid));
    end("E8 shutdown", trid);
    returns("E9 try: shut down", EINVAL,
            posix_trace_trygetnext_event(trid, &event.info, NULL, 0, &event.length,
                                         &event.unavailable));
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
    check("F1 same name: same id", a == user_type && b == user_type);
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
    trace_event_id_t id = 0, other = 0;
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
    name[slot - 1] = '\0';
    name[0] = 'm';
    returns("F2 lengths: another first letter", 0,
            posix_trace_trid_eventid_open(trid, name, &other));
    check("F2 lengths: another type", other != id);
    returns("F2 no name", EINVAL, posix_trace_eventid_open(NULL, &other));
    returns("F2 no name for the stream", EINVAL, posix_trace_trid_eventid_open(trid, NULL, &other));
    returns("F2 no type", EINVAL, posix_trace_eventid_open("level", NULL));
    returns("F2 a type without a name", EINVAL, posix_trace_eventid_get_name(trid, 9, got));
    returns("F2 a type that is not registered", EINVAL,
            posix_trace_eventid_get_name(trid, user_type + 20, got));
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
    static const char *const others[] = {"posix_trace_", "posix_trace_starts", "Posix_trace_start"};
    trace_id_t trid = create_started("F5 predefined names: create", NULL);
    bool controllers = true, firmwares = true, differ = true;
    for (trace_event_id_t id = 0; id < sizeof names / sizeof *names; id++) {
        trace_event_id_t given = 0;
        if (!names[id])
            continue;
        controllers =
            controllers && !posix_trace_trid_eventid_open(trid, names[id], &given) && given == id;
        firmwares = firmwares && named_there(names[id]) == id;
        if (id != POSIX_TRACE_UNNAMED_USEREVENT)
            obey(&(struct order){.verb = RECORD, .type = id, .count = 1});
    }
    check("F5 predefined names: only the system records its types", none(trid));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        differ = differ && named_there(others[i]) > POSIX_TRACE_UNNAMED_USEREVENT;
    check("F5 predefined names: others are no such", differ);
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
    if (is_host) // each type has the next id
        check("F4 full table: the last id",
              last == POSIX_TRACE_UNNAMED_USEREVENT + TRACE_USER_EVENT_MAX - 1);
    check("F4 full table: in the firmware, too",
          named_there("one more") == POSIX_TRACE_UNNAMED_USEREVENT);
    snprintf(name, sizeof name, "name %u", count - 2);
    check("F4 full table: an old name is found", !posix_trace_trid_eventid_open(trid, name, &id) &&
                                                     id == last && named_there(name) == last);
    end("F4 shutdown", trid);
}
