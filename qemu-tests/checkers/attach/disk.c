// SPDX-License-Identifier: MIT
// qemu-tests/checkers/attach: H: logs on a disk that fails, streams that are flushed by themselves,
// and what a log states about its target; C7.
#include "attach.h"
#include "tests/unit/posix_log/disk.h"
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 60 }; // seconds

// ---- streams that are flushed by themselves: the target runs, and only they read its memory ----

// Returns whether an event of the storm comes: its number is `*number`, or a loss was reported.
static bool is_of_storm(const struct event *event, uint32_t *number, bool lost)
{
    uint32_t got = storm_number(event);
    bool good = event->length == 4 + got % 32 && (lost ? got >= *number : got == *number);
    if (!good)
        printf("# event %u of %zu bytes, not %u\n", (unsigned)got, event->length,
               (unsigned)*number);
    *number = got + 1;
    return good;
}

// Returns how many events of the storm a log has; -1: they are not in order, or have gaps that are
// not reported. `starts`: how often the stream began to run.
static long storm_in(trace_id_t log, unsigned *starts)
{
    long count = 0;
    uint32_t number = 0;
    bool lost = true, good = true;
    *starts = 0;
    for (struct event event = next(log); !event.unavailable && good; event = next(log)) {
        trace_event_id_t id = event.info.posix_event_id;
        *starts += id == POSIX_TRACE_START;
        lost = lost || id == POSIX_TRACE_OVERFLOW || id == POSIX_TRACE_START;
        if (id != user_type)
            continue;
        good = is_of_storm(&event, &number, lost);
        lost = false;
        count++;
    }
    return good ? count : -1;
}

// Waits until that many are in the log while it is written; whether they come.
static bool storm_comes(int fd, long least)
{
    time_t over = time(NULL) + PATIENCE;
    long count = 0;
    unsigned starts;
    while (count >= 0 && count < least && time(NULL) < over) {
        trace_id_t log = 0;
        pause_ms(20);
        if (!posix_trace_open(fd, &log)) {
            count = storm_in(log, &starts);
            posix_trace_close(log);
        }
    }
    return count >= least;
}

// What waits, and more than there is space for, as fast as the target runs.
static void test_by_itself(void)
{
    enum { EACH_TICK = 200, RINGS = 10 };
    trace_attr_t attr = log_attributes(POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 0);
    trace_id_t trid = 0;
    unsigned starts;
    int fd = new_file();
    post(&(struct order){.verb = STORM, .type = user_type, .count = EACH_TICK});
    bool was_halted = let_run();
    returns("H15 by itself: create", 0, posix_trace_create_withlog(process, &attr, fd, &trid));
    returns("H15 by itself: start", 0, posix_trace_start(trid));
    check("H35 while it is written: it has more and more",
          storm_comes(fd, RINGS * RING_WORDS / 10));
    returns("H15 shutdown", 0, posix_trace_shutdown(trid));
    check("H15 by itself: the target runs as before", !extract_live_halts(memory).now);
    halt_again(was_halted);
    settle();
    trid = open_log("H15 reopened", fd);
    check("H15 by itself: each whole, in order, and gaps are reported",
          storm_in(trid, &starts) > 0);
    returns("H15 close", 0, posix_trace_close(trid));
    close(fd);
}

static rlim_t limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
    return before;
}

// Nothing is printed while the size of files is limited, which a log checks when it begins.
static void test_file_limit(void)
{
    enum { LIMIT = 50000, ROUNDS = 60 };
    trace_attr_t attr = log_attributes(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, 0);
    struct event event;
    uint32_t count = 0;
    int fd = new_file(), error = 0;
    trace_id_t trid = 0;
    rlim_t before = limit_files(LIMIT);
    int made = posix_trace_create_withlog(process, &attr, fd, &trid);
    posix_trace_start(trid);
    for (uint32_t i = 0; i < ROUNDS && !error; i++) {
        record(20, 64);
        error = posix_trace_flush(trid);
    }
    int ended = posix_trace_shutdown(trid);
    limit_files(before);
    settle();
    returns("H20 file limit: create", 0, made);
    returns("H20 file limit: flush", EFBIG, error);
    returns("H20 file limit: shutdown", EFBIG, ended);
    trid = open_log("H20 reopened", fd);
    bool good = logged(trid, POSIX_TRACE_START);
    while ((event = next_logged(trid)).info.posix_event_id == user_type)
        good = good && is_of_order(&event, count++ % 20, 64);
    check("H20 file limit: what fits is there", good && count * 64 > LIMIT / 2);
    returns("H20 close", 0, posix_trace_close(trid));
    close(fd);
}

// Waits until the stream is full; the target runs.
static bool fills(trace_id_t trid)
{
    time_t over = time(NULL) + PATIENCE;
    while (status_of(trid).posix_stream_full_status != POSIX_TRACE_FULL && time(NULL) < over)
        pause_ms(5);
    return status_of(trid).posix_stream_full_status == POSIX_TRACE_FULL;
}

// A stream that is flushed is emptied by the flush. This stop is intended: the stream does not
// continue. The disk keeps it full until then.
static void test_stop_of_a_flushed_one(void)
{
    trace_attr_t attr = log_attributes(POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 0);
    unsigned starts;
    trace_id_t trid = 0;
    int fd = new_file();
    post(&(struct order){.verb = STORM, .type = user_type, .count = 20});
    bool was_halted = let_run();
    returns("C7 stop of a flushed one: create", 0,
            posix_trace_create_withlog(process, &attr, fd, &trid));
    reason = ENOSPC;
    returns("C7 start", 0, posix_trace_start(trid));
    check("C7 stop of a flushed one: full", fills(trid));
    returns("C7 stop", 0, posix_trace_stop(trid));
    reason = 0;
    returns("C7 flush", 0, posix_trace_flush(trid));
    pause_ms(200); // events that the stream does not take
    struct posix_trace_status_info status = status_of(trid);
    check("C7 stop of a flushed one: it stays",
          status.posix_stream_status == POSIX_TRACE_SUSPENDED &&
              status.posix_stream_full_status == POSIX_TRACE_NOT_FULL);
    returns("C7 shutdown", 0, posix_trace_shutdown(trid));
    halt_again(was_halted);
    settle();
    trid = open_log("C7 reopened", fd);
    check("C7 stop of a flushed one: it did not go on",
          storm_in(trid, &starts) > RING_WORDS / 40 && starts == 1);
    returns("C7 close", 0, posix_trace_close(trid));
    close(fd);
}

// ---- H18, H19, H40, H41, H48: a disk that is full ----

static void prepare(const char *name, trace_id_t *trid, int *fd, int stream_policy)
{
    trace_attr_t attr = log_attributes(stream_policy, POSIX_TRACE_APPEND, 0);
    *fd = new_file();
    *trid = create_log(name, *fd, &attr);
}

static void stop_and_end(const char *name, trace_id_t trid)
{
    posix_trace_stop(trid);
    settle();
    end(name, trid);
}

// The first error remains until it is asked for. Nothing is lost by it, and the log has it once.
static void test_full_disk(void)
{
    struct event error = {0}, start, event = {0};
    trace_id_t trid;
    int fd;
    prepare("H18 full disk: create", &trid, &fd, POSIX_TRACE_UNTIL_FULL);
    record_from(0, 10);
    reason = ENOSPC;
    returns("H18 full disk: flush", ENOSPC, posix_trace_flush(trid));
    record_from(10, 20);
    reason = EFBIG;
    returns("H18 full disk: flush again", EFBIG, posix_trace_flush(trid));
    check("H18 full disk: the first error", status_of(trid).posix_stream_flush_error == ENOSPC);
    check("H18 full disk: it is reported once", status_of(trid).posix_stream_flush_error == 0);
    reason = 0;
    returns("H18 flush", 0, posix_trace_flush(trid));
    stop_and_end("H18 shutdown", trid);
    trid = open_log("H18 reopened", fd);
    if (!is_host) // a debugger knows no better place
        error = next_logged(trid);
    start = next_logged(trid);
    bool good = is_type(&start, POSIX_TRACE_START), apart = true;
    for (uint32_t i = 0; i < 20; i++) {
        struct event before = event;
        event = next_logged(trid);
        if (is_host && event.info.posix_event_id == POSIX_TRACE_ERROR) {
            error = event;
            event = next_logged(trid);
        }
        good = good && is_of_order(&event, i, 4);
        apart = apart && (i % 10 == 0 || are_apart(&before, i - 1, &event, i));
    }
    check("H40 error: the log has it",
          is_type(&error, POSIX_TRACE_ERROR) && number_in(&error) == ENOSPC);
    check("H18 full disk: nothing is lost", good && logged(trid, POSIX_TRACE_STOP) && ends(trid));
    check("H41 failed flush: the times are as they were", apart);
    returns("H18 close", 0, posix_trace_close(trid));
    close(fd);
}

static void test_full_at_the_end(void)
{
    trace_id_t trid, other;
    int fd, more = new_file();
    prepare("H19 full disk at the end: create", &trid, &fd, POSIX_TRACE_LOOP);
    record(10, 4);
    returns("H19 flush", 0, posix_trace_flush(trid));
    record(10, 5);
    reason = ENOSPC;
    returns("H19 full disk at the end: another one", ENOSPC,
            posix_trace_create_withlog(process, NULL, more, &other));
    settle();
    returns("H19 full disk at the end: shutdown", ENOSPC, posix_trace_shutdown(trid));
    reason = 0;
    settle();
    returns("H19 full disk at the end: it is gone", EINVAL, posix_trace_flush(trid));
    trid = open_log("H19 reopened", fd);
    check("H19 full disk at the end: what was flushed",
          logged(trid, POSIX_TRACE_START) && are_logged(trid, 10, 4) && ends(trid));
    returns("H19 close", 0, posix_trace_close(trid));
    close(more);
    close(fd);
}

// Skips what the log reports about the disk.
static struct event next_of_stream(trace_id_t trid)
{
    struct event event = next_logged(trid);
    while (!event.unavailable && event.info.posix_event_id == POSIX_TRACE_ERROR)
        event = next_logged(trid);
    return event;
}

// A flush that fails frees nothing: what it read still blocks the events that come then.
static void check_kept(int policy)
{
    trace_id_t trid;
    struct event event;
    uint32_t number = 0;
    bool failed = true;
    int fd;
    prepare("H48 failed flush keeps: create", &trid, &fd, policy);
    record_from(0, 10);
    returns("H48 flush", 0, posix_trace_flush(trid));
    reason = ENOSPC;
    record_from(10, 20);
    failed = failed && posix_trace_flush(trid) == ENOSPC;
    for (uint32_t i = 20; i < 200; i += 60) {
        record_from(i, i + 60);
        failed = failed && posix_trace_flush(trid) == ENOSPC;
    }
    struct posix_trace_status_info status = status_of(trid);
    check("H48 failed flush keeps: full, overrun",
          failed && status.posix_stream_full_status == POSIX_TRACE_FULL &&
              status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN);
    reason = 0;
    returns("H48 flush of the rest", 0, posix_trace_flush(trid));
    end("H48 shutdown", trid);
    trid = open_log("H48 reopened", fd);
    bool good = logged(trid, POSIX_TRACE_START);
    while ((event = next_of_stream(trid)).info.posix_event_id == user_type)
        good = good && is_of_order(&event, number++, 4);
    if (policy == POSIX_TRACE_LOOP) {
        struct event resume = next_of_stream(trid), next = next_of_stream(trid);
        good = good && number == 10 && is_type(&event, POSIX_TRACE_OVERFLOW) &&
               is_type(&resume, POSIX_TRACE_RESUME) && is_type(&next, user_type) &&
               are_apart(&event, 10, &next, next.data[0]);
    } else
        good = good && number > 10 + RING_WORDS / 16 && is_type(&event, POSIX_TRACE_STOP) &&
               number_in(&event) != 0;
    check("H48 failed flush keeps: what was flushed, and what came then", good);
    returns("H48 close", 0, posix_trace_close(trid));
    close(fd);
}

// ---- H21, H34, H38, H55: what a log says of a target ----

static void test_two_logs(void)
{
    trace_id_t a, b;
    int one, two;
    prepare("H21 two logs: create", &a, &one, is_host ? POSIX_TRACE_FLUSH : POSIX_TRACE_LOOP);
    record(30, 4);
    prepare("H21 two logs: create another", &b, &two, POSIX_TRACE_UNTIL_FULL);
    record(20, 5);
    returns("H21 flush", 0, posix_trace_flush(a));
    record(10, 6);
    stop_and_end("H21 shutdown", a);
    record(5, 7);
    stop_and_end("H21 shutdown of the other", b);
    a = open_log("H21 reopened", one);
    b = open_log("H21 reopened, the other", two);
    check("H21 two logs: the first", logged(a, POSIX_TRACE_START) && are_logged(a, 30, 4) &&
                                         are_logged(a, 20, 5) && are_logged(a, 10, 6) &&
                                         logged(a, POSIX_TRACE_STOP) && ends(a));
    check("H21 two logs: the second", logged(b, POSIX_TRACE_START) && are_logged(b, 20, 5) &&
                                          are_logged(b, 10, 6) && are_logged(b, 5, 7) &&
                                          logged(b, POSIX_TRACE_STOP) && ends(b));
    returns("H21 close", 0, posix_trace_close(a));
    returns("H21 close of the other", 0, posix_trace_close(b));
    close(one);
    close(two);
}

// Names of both sides that are registered when the log is long there.
static void test_later_names(void)
{
    char name[TRACE_EVENT_NAME_MAX + 1] = "";
    trace_event_id_t asked = 0;
    trace_id_t trid;
    int fd;
    prepare("H34 later names: create", &trid, &fd, POSIX_TRACE_LOOP);
    record(1, 4);
    returns("H34 flush", 0, posix_trace_flush(trid));
    trace_event_id_t late = named_there("h34 late");
    returns("H34 later names: open", 0, posix_trace_trid_eventid_open(trid, "h34 asked", &asked));
    obey(&(struct order){.verb = RECORD, .type = late, .count = 1, .bytes = 4});
    obey(&(struct order){.verb = RECORD, .type = asked, .count = 1, .bytes = 4});
    end("H34 shutdown", trid);
    trid = open_log("H34 reopened", fd);
    check("H34 later names: the events", logged(trid, POSIX_TRACE_START) &&
                                             are_logged(trid, 1, 4) && logged(trid, late) &&
                                             logged(trid, asked));
    check("H34 later names: the firmware's",
          !posix_trace_eventid_get_name(trid, late, name) && !strcmp(name, "h34 late"));
    check("H34 later names: the controller's",
          !posix_trace_eventid_get_name(trid, asked, name) && !strcmp(name, "h34 asked"));
    returns("H34 close", 0, posix_trace_close(trid));
    close(fd);
}

// Its ring and its clock, which does not show the time of day: the first event has the time at
// which it was read.
static void test_facts(void)
{
    struct timespec before, after, resolution = {0};
    trace_attr_t attr;
    size_t live = 0, size = 1;
    trace_id_t trid;
    int fd;
    clock_gettime(CLOCK_REALTIME, &before);
    prepare("H55 attributes: create", &trid, &fd, POSIX_TRACE_LOOP);
    record(3, 4);
    posix_trace_get_attr(trid, &attr);
    posix_trace_attr_getstreamsize(&attr, &live);
    end("H55 shutdown", trid);
    clock_gettime(CLOCK_REALTIME, &after);
    trid = open_log("H55 reopened", fd);
    posix_trace_get_attr(trid, &attr);
    posix_trace_attr_getstreamsize(&attr, &size);
    posix_trace_attr_getclockres(&attr, &resolution);
    double ticks = seconds(&resolution) * target_hz();
    check("H55 attributes: the target's ring", size == live && size > RING_WORDS);
    check("H55 attributes: the target's clock", ticks >= 1 && ticks < 1.01);
    struct event event = next_logged(trid);
    double time = seconds(&event.info.posix_timestamp);
    check("H38 time of day", is_type(&event, POSIX_TRACE_START) &&
                                 time >= seconds(&before) - 1e-6 && time <= seconds(&after) + 1e-6);
    returns("H55 close", 0, posix_trace_close(trid));
    close(fd);
}

void test_disk(void)
{
    test_full_disk();
    test_full_at_the_end();
    check_kept(POSIX_TRACE_LOOP);
    check_kept(POSIX_TRACE_UNTIL_FULL);
    test_two_logs();
    test_later_names();
    test_facts();
    test_by_itself();
    test_file_limit();
    test_stop_of_a_flushed_one();
}
