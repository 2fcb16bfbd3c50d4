// SPDX-License-Identifier: MIT
// qemu-tests/checkers/attach: G: filters.
#include "attach.h"
#include <signal.h>
#include <sys/time.h>

static int change_filter(trace_id_t trid, trace_event_id_t type, int how)
{
    trace_event_set_t set;
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(type, &set);
    int error = posix_trace_set_filter(trid, &set, how);
    settle();
    return error;
}

// Returns whether an event FILTER comes, from what is in `old` to what is in `new`.
static bool filter_comes(trace_id_t trid, const trace_event_set_t *old,
                         const trace_event_set_t *new)
{
    struct event event;
    return comes(trid, POSIX_TRACE_FILTER, &event) && event.length == 2 * sizeof *old &&
           !memcmp(event.data, old, sizeof *old) &&
           !memcmp(event.data + sizeof *old, new, sizeof *new);
}

static void test_filtered(void)
{
    enum { UNNAMED = POSIX_TRACE_UNNAMED_USEREVENT };
    const struct order unnamed = {.verb = RECORD, .type = UNNAMED, .count = 1, .bytes = 1};
    trace_event_set_t a, both, got;
    struct event event;
    trace_id_t trid = create("G3 filter: create", NULL);
    posix_trace_eventset_empty(&a);
    posix_trace_eventset_add(UNNAMED, &a);
    both = a;
    posix_trace_eventset_add(user_type, &both);
    returns("G3 filter: set", 0, change_filter(trid, UNNAMED, POSIX_TRACE_SET_EVENTSET));
    posix_trace_start(trid);
    settle();
    check("G3 filter: no FILTER while suspended",
          comes(trid, POSIX_TRACE_START, &event) && none(trid));
    obey(&unnamed);
    record(1, 1);
    check("G3 filter: what is in it is absent", events_come(trid, 0, 1) && none(trid));
    returns("G3 filter: add", 0, change_filter(trid, user_type, POSIX_TRACE_ADD_EVENTSET));
    record(1, 1);
    obey(&unnamed);
    check("G3 filter: FILTER, with the old one and the new one", filter_comes(trid, &a, &both));
    check("G3 filter: both are absent", none(trid));
    returns("G3 filter: take away", 0, change_filter(trid, user_type, POSIX_TRACE_SUB_EVENTSET));
    check("G3 filter: FILTER, back", filter_comes(trid, &both, &a));
    returns("G3 filter: take away once more", 0,
            change_filter(trid, user_type, POSIX_TRACE_SUB_EVENTSET));
    record(1, 1);
    check("G3 filter: it comes again", events_come(trid, 0, 1) && none(trid));
    check("G3 filter: get", !posix_trace_get_filter(trid, &got) && !memcmp(&got, &a, sizeof a));
    returns("G3 filter: no way to", EINVAL, posix_trace_set_filter(trid, &a, 0));
    returns("G3 filter: nor another one", EINVAL, posix_trace_set_filter(trid, &a, 4));
    end("G3 shutdown", trid);
    trid = create("G3 filter: create the next one", NULL);
    posix_trace_start(trid);
    settle();
    posix_trace_eventset_empty(&both);
    check("G3 filter: the next stream has none of it", comes(trid, POSIX_TRACE_START, &event) &&
                                                           event.length == sizeof both &&
                                                           !memcmp(event.data, &both, sizeof both));
    end("G3 shutdown of the next one", trid);
}

static void test_system_types(void)
{
    trace_event_set_t set;
    struct event event;
    trace_attr_t attr = attributes(POSIX_TRACE_UNTIL_FULL, 0);
    trace_id_t trid = create("G4 system types: create", &attr);
    posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS);
    posix_trace_eventset_del(user_type, &set);
    returns("G4 system types: set", 0,
            posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
    posix_trace_start(trid);
    settle();
    returns("G4 system types: take away", 0,
            change_filter(trid, POSIX_TRACE_START, POSIX_TRACE_SUB_EVENTSET));
    record(1, 1);
    check("G4 system types: neither START nor FILTER", events_come(trid, 0, 1) && none(trid));
    posix_trace_stop(trid);
    settle();
    check("G4 system types: no STOP", none(trid));
    posix_trace_start(trid);
    record(OVERFULL, 4);
    check("G4 system types: full",
          status_is(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN));
    check("G4 system types: START", comes(trid, POSIX_TRACE_START, &event));
    bool others = false;
    while (!(event = take(trid)).unavailable)
        others = others || event.info.posix_event_id != user_type;
    check("G4 system types: no STOP by itself", !others);
    end("G4 shutdown", trid);
}

static trace_event_set_t set_of(trace_event_id_t a, trace_event_id_t b)
{
    trace_event_set_t set;
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(a, &set);
    posix_trace_eventset_add(b, &set);
    return set;
}

static bool filter_is(trace_id_t trid, const trace_event_set_t *set)
{
    trace_event_set_t got;
    return !posix_trace_get_filter(trid, &got) && !memcmp(&got, set, sizeof got);
}

// What is added may be there, and what is taken away may not; before and after it is carried out.
static void test_algebra(void)
{
    const trace_event_set_t ab = set_of(40, 41), bc = set_of(41, 42), a = set_of(40, 40),
                            none = {0};
    trace_event_set_t abc = ab;
    posix_trace_eventset_add(42, &abc);
    const struct {
        const trace_event_set_t *set, *then;
        int how;
    } steps[] = {{&ab, &ab, POSIX_TRACE_SET_EVENTSET},   {&bc, &a, POSIX_TRACE_SUB_EVENTSET},
                 {&ab, &ab, POSIX_TRACE_ADD_EVENTSET},   {&bc, &abc, POSIX_TRACE_ADD_EVENTSET},
                 {&bc, &bc, POSIX_TRACE_SET_EVENTSET},   {&none, &bc, POSIX_TRACE_ADD_EVENTSET},
                 {&none, &bc, POSIX_TRACE_SUB_EVENTSET}, {&none, &none, POSIX_TRACE_SET_EVENTSET}};
    bool good = true;
    trace_id_t trid = create("G5 algebra: create", NULL);
    for (unsigned round = 0; round < 4; round++) { // the last two while it runs
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            good = good && !posix_trace_set_filter(trid, steps[i].set, steps[i].how);
            if (round % 2)
                settle();
            good = good && filter_is(trid, steps[i].then);
        }
        if (round == 1)
            posix_trace_start(trid);
    }
    check("G5 algebra", good);
    end("G5 shutdown", trid);
}

static volatile sig_atomic_t interruptions;

static void on_signal(int signal)
{
    (void)signal;
    interruptions = 1;
}

// A call that a signal interrupts changes nothing; one that succeeds did all that it was for.
static void test_interrupted_filter(void)
{
    const struct itimerval often = {{0, 300}, {0, 300}}, never = {0};
    // The handler of a process would have system calls restarted.
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = is_host ? SA_RESTART : 0};
    const trace_event_set_t sets[] = {set_of(40, 41), set_of(42, 43)};
    unsigned now = 0, wrong = 0;
    trace_id_t trid = create("G6 interrupted: create", NULL);
    posix_trace_set_filter(trid, &sets[0], POSIX_TRACE_SET_EVENTSET);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (unsigned i = 0; i < (is_host ? 2000 : 300) || !interruptions; i++) {
        int error = posix_trace_set_filter(trid, &sets[!now], POSIX_TRACE_SET_EVENTSET);
        wrong += error && error != EINTR;
        now = error ? now : !now;
        wrong += !filter_is(trid, &sets[now]);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    check("G6 interrupted: nothing is half done", !wrong);
    settle();
    check("G6 interrupted: what is in force", filter_is(trid, &sets[now]));
    end("G6 shutdown", trid);
}

// A link that breaks before the last word of a request: nothing of it comes about, not even with
// the next one.
static void check_half_done(uint32_t offset)
{
    const trace_event_set_t before = set_of(33, 34), after = set_of(35, 36);
    struct event event;
    trace_id_t trid = create("G7 failed: create", NULL);
    posix_trace_set_filter(trid, &before, POSIX_TRACE_SET_EVENTSET);
    settle();
    refused = stream_word(0, offset);
    returns("G7 failed: set", EIO, posix_trace_set_filter(trid, &after, POSIX_TRACE_ADD_EVENTSET));
    refused = 0;
    settle();
    check("G7 failed: as it was", filter_is(trid, &before));
    posix_trace_start(trid);
    settle();
    check("G7 failed: nor with the next request", comes(trid, POSIX_TRACE_START, &event) &&
                                                      !memcmp(event.data, &before, sizeof before) &&
                                                      none(trid));
    end("G7 shutdown", trid);
}

void test_refused_filter(void)
{
    enum { REQUEST = 92, WANTED = 96, WANTED_CLEARS = 108, FILTER = 144, IDS_AT = 64 };
    uint32_t ids = peek(address_of("ringside_posix") + IDS_AT);
    const uint32_t words[] = {WANTED, WANTED_CLEARS, FILTER + ids / 8, REQUEST};
    if (passing_attach("G7 failed: attach", true))
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            check_half_done(words[i]);
    passing_detach("G7 failed: detach");
}

void test_filter(void)
{
    test_filtered();
    test_system_types();
    test_algebra();
    test_interrupted_filter();
}
