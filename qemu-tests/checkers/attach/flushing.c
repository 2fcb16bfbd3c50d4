// SPDX-License-Identifier: MIT
// qemu-tests/checkers/attach: H: what a flush writes to a log, and logs that are full.
#include "attach.h"
#include <sys/stat.h>
#include <unistd.h>

// ---- H10 ----

// The newest stay, those that were flushed before go; names and attributes stay in any case.
static void test_log_loop(void)
{
    enum { SIZE = 50000, EACH = 20, BYTES = 64 };
    const uint32_t rounds = is_host ? 500 : 100; // a file of many blocks drops the oldest
    trace_attr_t attr = log_attributes(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP, SIZE);
    char name[TRACE_NAME_MAX] = "", type[TRACE_EVENT_NAME_MAX + 1] = "";
    struct event event, last = {0};
    uint32_t count = 0, number = 0;
    size_t size = 0;
    struct stat file;
    int fd = new_file();
    bool good = true;
    trace_id_t trid = create_log("H10 log loop: create", fd, &attr);
    for (uint32_t i = 0; i < rounds; i++) {
        record(EACH, BYTES);
        good = good && !posix_trace_flush(trid);
    }
    struct posix_trace_status_info status = status_of(trid);
    posix_trace_stop(trid);
    settle();
    check("H10 log loop: full, overrun",
          good && status.posix_log_full_status == POSIX_TRACE_FULL &&
              status.posix_log_overrun_status == POSIX_TRACE_OVERRUN);
    end("H10 shutdown", trid);
    posix_trace_attr_getmaxusereventsize(&attr, BYTES, &size);
    if (is_host)
        check("H10 log loop: the file does not keep all",
              !fstat(fd, &file) && (size_t)file.st_size < size * EACH * rounds);
    trid = open_log("H10 reopened", fd);
    posix_trace_get_attr(trid, &attr);
    posix_trace_attr_getname(&attr, name);
    posix_trace_attr_getmaxusereventsize(&attr, BYTES, &size);
    check("H10 log loop: name and names stay",
          !strcmp(name, "logged") && !posix_trace_eventid_get_name(trid, user_type, type) &&
              !strcmp(type, "told"));
    for (; !(event = next_logged(trid)).unavailable; last = event)
        if (event.info.posix_event_id == user_type) {
            number = count++ ? (number + 1) % EACH : event.data[0];
            good = good && is_of_order(&event, number, BYTES);
        }
    check("H10 log loop: the newest, in order",
          good && number == EACH - 1 && count * size >= SIZE / 2 && count * BYTES <= SIZE);
    check("H10 log loop: STOP is the last", is_type(&last, POSIX_TRACE_STOP));
    returns("H10 close", 0, posix_trace_close(trid));
    close(fd);
}

// ---- H13, H16, H17 ----

static void test_flush_filtered(void)
{
    trace_attr_t attr = log_attributes(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP, 100000);
    trace_event_set_t set;
    int fd = new_file();
    trace_id_t trid = create_log("H13 flush filtered: create", fd, &attr);
    posix_trace_stop(trid);
    settle();
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(POSIX_TRACE_FLUSH_START, &set);
    posix_trace_eventset_add(POSIX_TRACE_FLUSH_STOP, &set);
    posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
    posix_trace_start(trid);
    record(2, 4);
    returns("H13 flush", 0, posix_trace_flush(trid));
    posix_trace_stop(trid);
    settle();
    end("H13 shutdown", trid);
    trid = open_log("H13 reopened", fd);
    static const trace_event_id_t around[] = {POSIX_TRACE_START, POSIX_TRACE_STOP,
                                              POSIX_TRACE_START};
    bool good = true;
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        struct event event = next(trid);
        good = good && is_type(&event, around[i]);
    }
    for (uint32_t i = 0; i < 2; i++) {
        struct event event = next(trid);
        good = good && is_of_order(&event, i, 4);
    }
    struct event event = next(trid);
    check("H13 flush filtered: nothing of it",
          good && is_type(&event, POSIX_TRACE_STOP) && next(trid).unavailable);
    returns("H13 close", 0, posix_trace_close(trid));
    close(fd);
}

// What LOOP overwrote before it was flushed is reported where it is missing.
static void test_overflow(void)
{
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0);
    struct event overflow, resume, event;
    int fd = new_file();
    trace_id_t trid = create_log("H16 overflow: create", fd, &attr);
    returns("H16 flush", 0, posix_trace_flush(trid));
    record(OVERFULL, 4);
    posix_trace_stop(trid);
    settle();
    end("H16 shutdown", trid);
    trid = open_log("H16 reopened", fd);
    bool good = logged(trid, POSIX_TRACE_START);
    overflow = next_logged(trid);
    resume = next_logged(trid);
    event = next_logged(trid);
    check("H16 overflow: overflow, resume, the rest",
          good && is_type(&overflow, POSIX_TRACE_OVERFLOW) &&
              is_type(&resume, POSIX_TRACE_RESUME) && is_type(&event, user_type));
    uint32_t number = event.data[0];
    check("H16 overflow: at the first lost", number > 0 && are_apart(&overflow, 0, &event, number));
    check("H16 overflow: resume at the next",
          !memcmp(&resume.info.posix_timestamp, &event.info.posix_timestamp,
                  sizeof event.info.posix_timestamp));
    good = true;
    while (++number < OVERFULL && good)
        event = next_logged(trid), good = is_of_order(&event, number, 4);
    check("H16 overflow: the newest, in order",
          good && logged(trid, POSIX_TRACE_STOP) && ends(trid));
    check("H16 overflow: the status shows it",
          status_of(trid).posix_stream_overrun_status == POSIX_TRACE_OVERRUN);
    returns("H16 close", 0, posix_trace_close(trid));
    close(fd);
}

// The first event in the log is then the first after the clearing.
static void test_clear(int policy)
{
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, policy, 6000);
    int fd = new_file();
    trace_id_t trid = create_log("H17 clear: create", fd, &attr);
    for (uint32_t i = 0; i < 30; i++) {
        record(20, 4);
        posix_trace_flush(trid);
    }
    check("H17 clear: full before", status_of(trid).posix_log_full_status == POSIX_TRACE_FULL);
    returns("H17 clear", 0, posix_trace_clear(trid));
    settle();
    struct posix_trace_status_info status = status_of(trid);
    check("H17 clear: running, not full, not overrun",
          status.posix_stream_status == POSIX_TRACE_RUNNING &&
              status.posix_log_full_status == POSIX_TRACE_NOT_FULL &&
              status.posix_log_overrun_status == POSIX_TRACE_NO_OVERRUN);
    record(2, 9);
    posix_trace_stop(trid);
    settle();
    end("H17 shutdown", trid);
    trid = open_log("H17 reopened", fd);
    check("H17 clear: what follows, and nothing else",
          are_logged(trid, 2, 9) && logged(trid, POSIX_TRACE_STOP) && ends(trid));
    returns("H17 close", 0, posix_trace_close(trid));
    close(fd);
}

// ---- H37 ----

// The target is reset: what was not flushed is lost, and what comes then is in the log, too.
static void test_reset(const struct order *reset)
{
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0);
    char type[TRACE_EVENT_NAME_MAX + 1] = "";
    int fd = new_file();
    trace_id_t trid = create_log("H37 reset: create", fd, &attr);
    record(4, 4);
    returns("H37 flush", 0, posix_trace_flush(trid));
    record(2, 7);
    obey(reset);
    for (int i = 0; i < 3; i++) { // finds it out, and asks again
        returns("H37 flush of a new one", 0, posix_trace_flush(trid));
        settle();
    }
    user_type = named_there("told");
    record(3, 5);
    posix_trace_stop(trid);
    settle();
    end("H37 shutdown", trid);
    trid = open_log("H37 reopened", fd);
    bool good = logged(trid, POSIX_TRACE_START) && are_logged(trid, 4, 4);
    check("H37 reset: what was flushed before, and what came after",
          good && logged(trid, POSIX_TRACE_START) && are_logged(trid, 3, 5) &&
              logged(trid, POSIX_TRACE_STOP));
    check("H37 reset: the names",
          !posix_trace_eventid_get_name(trid, user_type, type) && !strcmp(type, "told"));
    returns("H37 close", 0, posix_trace_close(trid));
    close(fd);
}

// ---- H46 ----

static bool is_cut(trace_id_t trid, size_t room, size_t length, int status)
{
    struct event event;
    int error = posix_trace_getnext_event(trid, &event.info, room ? event.data : NULL, room,
                                          &event.length, &event.unavailable);
    while (!error && !event.unavailable && event.info.posix_event_id != user_type)
        error = posix_trace_getnext_event(trid, &event.info, room ? event.data : NULL, room,
                                          &event.length, &event.unavailable);
    return !error && !event.unavailable && is_of_order(&event, 0, length) &&
           event.info.posix_truncation_status == status;
}

static void test_truncation(void)
{
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 0);
    posix_trace_attr_setmaxdatasize(&attr, 16);
    int fd = new_file();
    trace_id_t trid = create_log("H46 truncation: create", fd, &attr);
    record(1, 8);
    record(1, 20);
    end("H46 shutdown", trid);
    trid = open_log("H46 reopened", fd);
    check("H46 all", is_cut(trid, 32, 8, POSIX_TRACE_NOT_TRUNCATED));
    check("H46 cut by the record", is_cut(trid, 32, 16, POSIX_TRACE_TRUNCATED_RECORD));
    returns("H46 rewind", 0, posix_trace_rewind(trid));
    check("H46 no buffer", is_cut(trid, 0, 0, POSIX_TRACE_TRUNCATED_READ));
    check("H46 cut by both", is_cut(trid, 8, 8, POSIX_TRACE_TRUNCATED_READ));
    returns("H46 close", 0, posix_trace_close(trid));
    close(fd);
}

void test_flushing(void)
{
    test_log_loop();
    test_flush_filtered();
    test_overflow();
    test_clear(POSIX_TRACE_LOOP);
    test_clear(POSIX_TRACE_UNTIL_FULL);
    if (!is_host) { // a process does not begin again
        test_reset(&(struct order){.verb = RENEW});
        test_reset(&(struct order){.verb = BOOT});
        test_reset(&(struct order){.verb = BOOT, .count = 1});
    }
    test_truncation();
}
