// SPDX-License-Identifier: MIT
// qemu-tests/checkers/attach: H: streams with a log, and the log read back.
#include "attach.h"
#include <fcntl.h>
#include <unistd.h>

static bool log_status_is(trace_id_t trid, int overrun, int log_full, int log_overrun)
{
    struct posix_trace_status_info s;
    return !posix_trace_get_status(trid, &s) && s.posix_stream_overrun_status == overrun &&
           s.posix_log_full_status == log_full && s.posix_log_overrun_status == log_overrun &&
           s.posix_stream_flush_error == 0 &&
           s.posix_stream_flush_status == POSIX_TRACE_NOT_FLUSHING;
}

// ---- a whole one ----

static void test_attributes_of(trace_id_t trid)
{
    trace_attr_t attr;
    char name[TRACE_NAME_MAX] = "";
    size_t size = 0, most = 0, expected = 64; // bytes of data in a stream of the firmware
    int stream_policy = 0, log_policy = 0;
    if (is_host) {
        posix_trace_attr_init(&attr);
        posix_trace_attr_getmaxdatasize(&attr, &expected);
    }
    memset(&attr, 0x5A, sizeof attr);
    returns("H1 reopened: get_attr", 0, posix_trace_get_attr(trid, &attr));
    posix_trace_attr_getname(&attr, name);
    posix_trace_attr_getlogsize(&attr, &size);
    posix_trace_attr_getmaxdatasize(&attr, &most);
    posix_trace_attr_getstreamfullpolicy(&attr, &stream_policy);
    posix_trace_attr_getlogfullpolicy(&attr, &log_policy);
    check("H1 reopened: name", !strcmp(name, "logged"));
    check("H1 reopened: sizes", size == 100000 && most == expected);
    check("H1 reopened: policies",
          stream_policy == POSIX_TRACE_UNTIL_FULL && log_policy == POSIX_TRACE_LOOP);
}

static void test_names_of(trace_id_t trid)
{
    char name[TRACE_EVENT_NAME_MAX + 1] = "";
    trace_event_id_t id = 0;
    int unavailable = 0, seen = 0;
    check("H2 names: the firmware's",
          !posix_trace_eventid_get_name(trid, user_type, name) && !strcmp(name, "told"));
    check("H2 names: the system's",
          !posix_trace_eventid_get_name(trid, POSIX_TRACE_FLUSH_START, name) &&
              !strcmp(name, "posix_trace_flush_start"));
    returns("H2 names: none", EINVAL, posix_trace_eventid_get_name(trid, user_type + 20, name));
    while (!posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) && !unavailable)
        seen += id == user_type || id == POSIX_TRACE_UNNAMED_USEREVENT || id == POSIX_TRACE_START;
    check("H2 names: the list, which ends", seen == 3 && unavailable);
}

static void test_foreign_calls(trace_id_t trid)
{
    struct event event;
    trace_event_set_t set;
    trace_event_id_t id;
    posix_trace_eventset_empty(&set);
    returns("H5 on a log: try", EINVAL,
            posix_trace_trygetnext_event(trid, &event.info, event.data, sizeof event.data,
                                         &event.length, &event.unavailable));
    returns("H5 on a log: start", EINVAL, posix_trace_start(trid));
    returns("H5 on a log: stop", EINVAL, posix_trace_stop(trid));
    returns("H5 on a log: clear", EINVAL, posix_trace_clear(trid));
    returns("H5 on a log: flush", EINVAL, posix_trace_flush(trid));
    returns("H5 on a log: shutdown", EINVAL, posix_trace_shutdown(trid));
    returns("H5 on a log: get_filter", EINVAL, posix_trace_get_filter(trid, &set));
    returns("H5 on a log: set_filter", EINVAL,
            posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
    returns("H5 on a log: open a name", EINVAL, posix_trace_trid_eventid_open(trid, "h5", &id));
}

// The status of a log is that of the end.
static void test_status_of(int stream_policy)
{
    trace_attr_t attr = log_attributes(stream_policy, POSIX_TRACE_APPEND, 0);
    struct posix_trace_status_info status;
    int fd = new_file();

    trace_id_t trid = create_log("H3 status: create", fd, &attr);
    record(OVERFULL, 4);
    end("H3 shutdown", trid);
    trid = open_log("H3 reopened", fd);
    status = status_of(trid);
    check("H3 status: suspended, neither flushing nor failed",
          status.posix_stream_status == POSIX_TRACE_SUSPENDED &&
              status.posix_stream_flush_status == POSIX_TRACE_NOT_FLUSHING &&
              status.posix_stream_flush_error == 0);
    check("H3 status: overrun, the log neither full nor overrun",
          log_status_is(trid, POSIX_TRACE_OVERRUN, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
    returns("H3 close", 0, posix_trace_close(trid));
    close(fd);
}

static void test_reopened(void)
{
    trace_attr_t attr = log_attributes(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP, 100000);
    int fd = new_file();
    trace_id_t trid = create_log("H1 create_withlog", fd, &attr);
    record(20, 4);
    record(OVERFULL, 5); // more than there is space for
    end("H1 shutdown", trid);
    trid = open_log("H1 reopened", fd);
    test_attributes_of(trid);
    test_names_of(trid);
    bool good = true;
    for (int i = 0; i < 3; i++)
        good = good && log_status_is(trid, POSIX_TRACE_OVERRUN, POSIX_TRACE_NOT_FULL,
                                     POSIX_TRACE_NO_OVERRUN);
    check("H3 status: that of the end, however often it is asked for", good);
    for (int i = 0; i < 2; i++) {
        check("H4 rewind: the same again", logged(trid, POSIX_TRACE_START) &&
                                               are_logged(trid, 20, 4) && are_logged(trid, 10, 5));
        returns("H4 rewind", 0, posix_trace_rewind(trid));
    }
    test_foreign_calls(trid);
    returns("H1 close", 0, posix_trace_close(trid));
    returns("H1 close again", EINVAL, posix_trace_close(trid));
    close(fd);
}

// ---- flushing ----

// Returns whether events and flushes of a process are in the order in which they were made, and
// their times, too.
static bool has_flushes_in_order(trace_id_t trid)
{
    const trace_event_id_t expected[] = {POSIX_TRACE_START,
                                         user_type,
                                         user_type,
                                         POSIX_TRACE_FLUSH_START,
                                         POSIX_TRACE_FLUSH_STOP,
                                         user_type,
                                         POSIX_TRACE_FLUSH_START,
                                         POSIX_TRACE_FLUSH_STOP,
                                         POSIX_TRACE_STOP};
    double before = 0;
    bool good = true;

    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct event event = next(trid);
        double time = seconds(&event.info.posix_timestamp);
        good = good && is_type(&event, expected[i]) && time >= before;
        before = time;
    }
    return good && next(trid).unavailable;
}

// The target's clock is halted while its memory is read, so that its events and the host's flushes
// have no order of time between them.
static void test_flush_events(void)
{
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, 100000);
    struct event event;
    int starts = 0, stops = 0, fd = new_file();
    bool good = true;
    trace_id_t trid = create_log("H12 flush events: create", fd, &attr);
    returns("H8 an active one: rewind", EINVAL, posix_trace_rewind(trid));
    returns("H8 an active one: try", EINVAL,
            posix_trace_trygetnext_event(trid, &event.info, event.data, sizeof event.data,
                                         &event.length, &event.unavailable));
    record(2, 4);
    returns("H12 flush", 0, posix_trace_flush(trid));
    record(1, 5);
    returns("H12 flush again", 0, posix_trace_flush(trid));
    posix_trace_stop(trid);
    settle();
    end("H12 shutdown", trid);
    trid = open_log("H12 reopened", fd);
    while (!(event = next(trid)).unavailable) {
        starts += event.info.posix_event_id == POSIX_TRACE_FLUSH_START;
        stops += event.info.posix_event_id == POSIX_TRACE_FLUSH_STOP;
        good = good && (starts == stops || starts == stops + 1);
    }
    check("H12 flush events: two for each flush", good && starts == 2 && stops == 2);
    if (is_host) {
        returns("H12 rewind", 0, posix_trace_rewind(trid));
        check("H12 flush events: where they were made", has_flushes_in_order(trid));
    }
    returns("H12 rewind", 0, posix_trace_rewind(trid));
    check("H12 flush events: the events around them",
          logged(trid, POSIX_TRACE_START) && are_logged(trid, 2, 4) && are_logged(trid, 1, 5) &&
              logged(trid, POSIX_TRACE_STOP) && ends(trid));
    returns("H12 close", 0, posix_trace_close(trid));
    close(fd);
}

static void test_flush_frees(void)
{
    trace_attr_t attr = log_attributes(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, 0);
    struct event event;
    uint32_t count = 0;
    int fd = new_file();
    trace_id_t trid = create_log("H14 flush frees: create", fd, &attr);
    record(OVERFULL, 4);
    check("H14 flush frees: suspended, full, overrun",
          status_is(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN));
    returns("H14 flush", 0, posix_trace_flush(trid));
    check("H14 flush frees: it runs",
          status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
    record(1, 6);
    posix_trace_stop(trid);
    settle();
    end("H14 shutdown", trid);
    trid = open_log("H14 reopened", fd);
    bool good = logged(trid, POSIX_TRACE_START);
    while ((event = next_logged(trid)).info.posix_event_id == user_type &&
           is_of_order(&event, count, 4))
        count++;
    check("H14 flush frees: the oldest, in order",
          good && count > RING_WORDS / 16 && count < OVERFULL);
    check("H14 flush frees: STOP last, by itself",
          is_type(&event, POSIX_TRACE_STOP) && number_in(&event) != 0);
    check("H14 flush frees: and started by the next event", logged(trid, POSIX_TRACE_START) &&
                                                                are_logged(trid, 1, 6) &&
                                                                logged(trid, POSIX_TRACE_STOP));
    returns("H14 close", 0, posix_trace_close(trid));
    close(fd);
}

// ---- policies of the log ----

static void test_log_full(void)
{
    enum { SIZE = 6000 };
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, SIZE);
    struct event event, last = {0};
    uint32_t count = 0;
    int fd = new_file();
    size_t size = 0;
    trace_id_t trid = create_log("H9 log until full: create", fd, &attr);
    check(
        "H9 log until full: not yet",
        log_status_is(trid, POSIX_TRACE_NO_OVERRUN, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
    for (int i = 0; i < 10; i++) {
        record(30, 4);
        posix_trace_flush(trid);
    }
    check("H9 log until full: full, overrun",
          log_status_is(trid, POSIX_TRACE_NO_OVERRUN, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN));
    check("H9 log until full: overrun is reported once",
          log_status_is(trid, POSIX_TRACE_NO_OVERRUN, POSIX_TRACE_FULL, POSIX_TRACE_NO_OVERRUN));
    posix_trace_get_attr(trid, &attr);
    posix_trace_attr_getmaxusereventsize(&attr, 4, &size);
    end("H9 shutdown", trid);
    trid = open_log("H9 reopened", fd);
    check("H9 log until full: the log says so, too",
          status_of(trid).posix_log_full_status == POSIX_TRACE_FULL);
    bool good = logged(trid, POSIX_TRACE_START);
    for (; !(event = next_logged(trid)).unavailable; last = event)
        if (event.info.posix_event_id == user_type)
            good = good && is_of_order(&event, count++ % 30, 4);
    check("H9 log until full: the oldest, in order", good && count > 60 && count < 300);
    if (is_host) // whose sizes are those of its records
        check("H9 log until full: as much as it may take",
              count * size <= SIZE && count * size >= SIZE * 9 / 10);
    check("H9 log until full: STOP is the last", is_type(&last, POSIX_TRACE_STOP));
    returns("H9 close", 0, posix_trace_close(trid));
    close(fd);
}

// An existing log is continued.
static void test_append(int stream_policy)
{
    enum { RUNS = 3 };
    trace_attr_t attr = log_attributes(stream_policy, POSIX_TRACE_APPEND, 0);
    bool is_large = is_host && stream_policy == POSIX_TRACE_FLUSH;
    uint32_t most = is_large ? 1000 : 10;
    int fd = new_file();

    if (is_large)
        posix_trace_attr_setstreamsize(&attr, (size_t)most * 100);
    for (uint32_t run = 0; run < RUNS; run++) {
        trace_id_t trid = create_log("H11 append: create", fd, &attr);
        for (uint32_t i = 0; i < most + run; i += 10)
            record_from(i, i + 10 < most + run ? i + 10 : most + run);
        posix_trace_stop(trid);
        settle();
        end("H11 shutdown", trid);
    }
    trace_id_t trid = open_log("H11 reopened", fd);
    for (uint32_t run = 0; run < RUNS; run++)
        check("H11 append: one run after the other", logged(trid, POSIX_TRACE_START) &&
                                                         are_logged(trid, most + run, 4) &&
                                                         logged(trid, POSIX_TRACE_STOP));
    check("H11 append: nothing more", ends(trid));
    returns("H11 close", 0, posix_trace_close(trid));
    close(fd);
}

// ---- files ----

static void test_files(void)
{
    trace_id_t trid;
    int fd = open("/dev/null", O_WRONLY), text = new_file();
    returns("H7 descriptors: not open", EBADF,
            posix_trace_create_withlog(process, NULL, -1, &trid));
    returns("H7 descriptors: no file", EINVAL,
            posix_trace_create_withlog(process, NULL, fd, &trid));
    close(fd);
    fd = open("/dev/null", O_RDONLY);
    returns("H7 descriptors: for reading", EBADF,
            posix_trace_create_withlog(process, NULL, fd, &trid));
    close(fd);
    check("H6 no log: a text", write(text, "a text and no log\n", 18) == 18);
    returns("H6 no log", EINVAL, posix_trace_open(text, &trid));
    returns("H7 descriptors: what is no log", EINVAL,
            posix_trace_create_withlog(process, NULL, text, &trid));
    close(text);
}

void test_logs(void)
{
    test_reopened();
    test_status_of(POSIX_TRACE_LOOP);
    test_status_of(POSIX_TRACE_UNTIL_FULL);
    test_flush_events();
    test_flush_frees();
    test_log_full();
    test_append(POSIX_TRACE_LOOP);
    if (is_host) // on targets, H15: such a stream reads memory by itself, while others give orders
        test_append(POSIX_TRACE_FLUSH);
    test_files();
}
