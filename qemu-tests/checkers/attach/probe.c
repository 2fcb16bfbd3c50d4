// SPDX-License-Identifier: MIT
// qemu-tests/checkers/attach: I: what is possible only for a target that a debugger can halt.
#include "attach.h"
#include <stdlib.h>
#include <time.h>

// ---- I1: overwritten while it is read ----

// As images/posix/posixcalls.c makes it.
static bool is_of_storm(const struct event *event, uint32_t *number)
{
    *number = storm_number(event);
    bool good = event->length == 4 + *number % 32;
    for (size_t k = 4; k < event->length && good; k++)
        good = event->data[k] == (uint8_t)*number;
    return good;
}

// What is accepted is whole and in order, and an OVERFLOW comes before a gap.
static void test_torn(uint32_t each_tick)
{
    enum { ENOUGH = 300, SHARE = 30, PATIENCE = 60 }; // a slow debugger gets fewer than enough
    const struct order storm = {.verb = STORM, .type = user_type, .count = each_tick};
    uint32_t expected = 0, number, accepted = 0;
    bool had_loss = true, good = true;
    trace_id_t trid = create_started("I1 torn: create", NULL);
    post(&storm);
    time_t over = time(NULL) + PATIENCE;
    while (good && accepted < ENOUGH && time(NULL) < over) {
        struct event event = take(trid);
        if (event.unavailable) {
            const struct timespec pause = {.tv_nsec = 10000000};
            (void)extract_live_resume(memory, NULL);
            nanosleep(&pause, NULL);
            (void)extract_live_halt(memory, NULL);
        } else if (event.info.posix_event_id == user_type) {
            good = is_of_storm(&event, &number) &&
                   (had_loss ? number >= expected : number == expected);
            expected = number + 1;
            had_loss = false;
            accepted++;
        } else
            had_loss = had_loss || event.info.posix_event_id == POSIX_TRACE_OVERFLOW;
    }
    settle();
    printf("# %u a tick: %u events of %u\n", (unsigned)each_tick, (unsigned)accepted,
           (unsigned)expected);
    check("I1 torn: each is whole, in order, and a gap is reported", good);
    check("I1 torn: a reader gets its share", accepted >= SHARE);
    end("I1 shutdown", trid);
}

// ---- I2 to I4 ----

static void test_open(void)
{
    trace_id_t trid = create_started("I2 open: create", NULL);
    record(2, 4);
    obey(&(struct order){.verb = HALF, .type = user_type, .count = 1, .bytes = 5});
    record(3, 6);
    check("I2 open: read up to there", events_come(trid, 0, 2) && none(trid) && none(trid));
    obey(&(struct order){.verb = WHOLE});
    struct event event = take(trid);
    check("I2 open: done, it comes, and what follows",
          is_of_order(&event, 0, 5) && events_come(trid, 0, 3) && none(trid));
    end("I2 shutdown", trid);
}

static void test_lapped(void)
{
    struct event overflow, event;
    trace_id_t trid = create_started("I3 lapped: create", NULL);
    for (int round = 0; round < 2; round++) {
        record(1, 1);
        check("I3 lapped: not yet",
              events_come(trid, 0, 1) && status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL,
                                                   POSIX_TRACE_NO_OVERRUN));
        record(OVERFULL, 4);
        check("I3 lapped: full, overrun",
              status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN));
        check("I3 lapped: overflow, resume, the newest",
              comes(trid, POSIX_TRACE_OVERFLOW, &overflow) &&
                  comes(trid, POSIX_TRACE_RESUME, &event) && comes(trid, user_type, &event) &&
                  events_come(trid, event.data[0] + 1U, OVERFULL) && none(trid));
    }
    end("I3 shutdown", trid);
}

// A reset of the target: its blocks are made again. What was asked for is asked for again.
static void test_reset(void)
{
    enum { GENERATION = 16 };
    uint64_t at = address_of("ringside_posix") + GENERATION;
    uint32_t generation = peek(at);
    trace_event_set_t set;
    struct event event;
    trace_id_t trid = create_started("I4 reset: create", NULL);
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set);
    posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
    record(2, 4);
    check("I4 reset: before", comes(trid, POSIX_TRACE_FILTER, &event));
    obey(&(struct order){.verb = RENEW});
    check("I4 reset: another one", peek(at) == generation + 1);
    while (!take(trid).unavailable) { // what was copied before
    }
    settle();
    user_type = named_there("told");
    record(3, 5);
    check("I4 reset: started again, with the filter", comes(trid, POSIX_TRACE_START, &event) &&
                                                          event.length == sizeof set &&
                                                          !memcmp(event.data, &set, sizeof set));
    check("I4 reset: what follows", events_come(trid, 0, 3) && none(trid));
    check("I4 reset: overrun",
          status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_OVERRUN));
    end("I4 shutdown", trid);
}

// The START that comes when the stream was asked for again: what was copied is read before, the
// firmware's own stream is let go of, and ours is bound.
static struct event last_start(trace_id_t trid)
{
    struct event event, start = {0};
    for (int i = 0; i < 4; i++) {
        while (!(event = take(trid)).unavailable)
            if (event.info.posix_event_id == POSIX_TRACE_START)
                start = event;
        settle();
    }
    return start;
}

// The same if memory is cleared, as at a reset of a chip, so that all counts begin at 0. The
// firmware may also start a stream by itself. `ask`: what is requested before anybody reads.
static void check_boot(const char *name, uint32_t started, int (*ask)(trace_id_t trid))
{
    trace_attr_t attr = attributes(POSIX_TRACE_UNTIL_FULL, 12);
    trace_event_set_t set, got;
    struct event event;
    int policy = 0;
    size_t most = 0;
    trace_id_t trid = create_started(name, &attr);
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set);
    posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
    record(20, 4);
    check(name, comes(trid, POSIX_TRACE_FILTER, &event));
    obey(&(struct order){.verb = BOOT, .count = started});
    returns(name, 0, ask ? ask(trid) : 0);
    if (ask == posix_trace_stop)
        returns(name, 0, posix_trace_start(trid));
    event = last_start(trid);
    // Where the target runs it may have come before the clear, which takes it along.
    bool cleared = ask == posix_trace_clear && event.info.posix_event_id != POSIX_TRACE_START;
    check(name, cleared || (event.length == sizeof set && !memcmp(event.data, &set, sizeof set)));
    posix_trace_get_attr(trid, &attr);
    posix_trace_attr_getstreamfullpolicy(&attr, &policy);
    posix_trace_attr_getmaxdatasize(&attr, &most);
    check(name, policy == POSIX_TRACE_UNTIL_FULL && most == 12 &&
                    !posix_trace_get_filter(trid, &got) && !memcmp(&got, &set, sizeof set));
    user_type = named_there("told");
    record(3, 5);
    struct posix_trace_status_info status = status_of(trid);
    check(name, events_come(trid, 0, 3) && none(trid) &&
                    status.posix_stream_status == POSIX_TRACE_RUNNING &&
                    (status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN ||
                     ask == posix_trace_clear));
    end(name, trid);
}

static void test_boot(void)
{
    check_boot("I4 boot", 0, NULL);
    check_boot("I4 boot, the firmware starts a stream", 1, NULL);
    check_boot("I4 boot, then start", 0, posix_trace_start);
    check_boot("I4 boot, the firmware starts a stream, then start", 1, posix_trace_start);
    check_boot("I4 boot, then stop", 0, posix_trace_stop);
    check_boot("I4 boot, the firmware starts a stream, then stop", 1, posix_trace_stop);
    check_boot("I4 boot, then clear", 0, posix_trace_clear);
    check_boot("I4 boot, the firmware starts a stream, then clear", 1, posix_trace_clear);
}

// ---- I7: what is in memory, as a trace that has ended ----

static bool image_comes(trace_id_t image, trace_event_id_t type, struct event *event)
{
    int error = posix_trace_getnext_event(image, &event->info, event->data, sizeof event->data,
                                          &event->length, &event->unavailable);
    return !error && !event->unavailable && event->info.posix_event_id == type;
}

// What was read before remains until it is overwritten.
static bool image_has_all(trace_id_t image)
{
    struct event event;
    bool good = image_comes(image, POSIX_TRACE_START, &event);
    for (uint32_t i = 0; i < 5 && good; i++)
        good = image_comes(image, user_type, &event) && is_of_order(&event, i, 7);
    return good && image_comes(image, POSIX_TRACE_STOP, &event) && number_in(&event) == 0 &&
           !image_comes(image, 0, &event) && event.unavailable;
}

static void test_lies_there(void)
{
    struct extract_error error = {0};
    trace_id_t trid = create_started("I7 as it is in memory: create", NULL), image = 0;
    record(5, 7);
    posix_trace_stop(trid);
    settle();
    enum extract_code code = extract_posix_open_memory(memory, symbols, 0, -1, &image, &error);
    returns("I7 as it is in memory: open", EXTRACT_OK, (int)code);
    for (int round = 0; round < 2; round++) {
        check("I7 as it is in memory: all of it", image_has_all(image));
        returns("I7 as it is in memory: rewind", 0, posix_trace_rewind(image));
    }
    returns("I7 as it is in memory: start", EINVAL, posix_trace_start(image));
    returns("I7 as it is in memory: close", 0, posix_trace_close(image));
    check("I7 as it is in memory: the stream has them still", events_come(trid, 0, 5));
    end("I7 shutdown", trid);
}

// What was overwritten before the image was taken, and a record that is never completed.
static void test_lapped_image(void)
{
    struct event overflow, resume, event;
    trace_id_t trid = create_started("I16 lapped image: create", NULL), image = 0;
    record(OVERFULL, 4);
    returns("I16 lapped image: open", EXTRACT_OK,
            (int)extract_posix_open_memory(memory, symbols, 0, 0, &image, NULL));
    bool good = image_comes(image, POSIX_TRACE_OVERFLOW, &overflow) &&
                image_comes(image, POSIX_TRACE_RESUME, &resume) &&
                image_comes(image, user_type, &event);
    uint32_t number = event.data[0];
    check("I16 lapped image: overflow at the first lost, resume, the rest",
          good && are_apart(&overflow, 0, &event, number) &&
              !memcmp(&resume.info.posix_timestamp, &event.info.posix_timestamp,
                      sizeof event.info.posix_timestamp));
    while (good && ++number < OVERFULL)
        good = image_comes(image, user_type, &event) && is_of_order(&event, number, 4);
    check("I16 lapped image: the newest, in order", good && !image_comes(image, 0, &event));
    returns("I16 close", 0, posix_trace_close(image));
    end("I16 shutdown", trid);
}

static void test_open_image(void)
{
    struct event event;
    trace_id_t trid = create_started("I17 open: create", NULL), image = 0;
    record(2, 4);
    obey(&(struct order){.verb = HALF, .type = user_type, .count = 1, .bytes = 5});
    record(2, 6);
    returns("I17 open: open", EXTRACT_OK,
            (int)extract_posix_open_memory(memory, symbols, 0, 0, &image, NULL));
    bool good = image_comes(image, POSIX_TRACE_START, &event);
    for (uint32_t i = 0; i < 4 && good; i++)
        good = image_comes(image, user_type, &event) && is_of_order(&event, i % 2, i < 2 ? 4 : 6);
    check("I17 open: it is passed over", good && !image_comes(image, 0, &event));
    returns("I17 close", 0, posix_trace_close(image));
    obey(&(struct order){.verb = WHOLE});
    check("I17 open: the stream has it", events_come(trid, 0, 2) && events_come(trid, 0, 1) &&
                                             events_come(trid, 0, 2) && none(trid));
    end("I17 shutdown", trid);
}

// By a stream block's address; at an address where it is not; and by a number that is taken for a
// process id.
static void test_found(void)
{
    enum { OTHER = PID + 1 };
    uint64_t block = address_of("ringside_posix");
    trace_id_t trid = 0;
    returns("I12 found: by a stream's block", EXTRACT_OK,
            (int)extract_posix_attach(OTHER, memory, NULL, stream_word(1, 0), NULL));
    returns("I12 found: a stream of it", 0, posix_trace_create(OTHER, NULL, &trid));
    settle();
    returns("I12 found: it is shut down", 0, posix_trace_shutdown(trid));
    settle();
    returns("I12 found: attached already", EXTRACT_USAGE,
            (int)extract_posix_attach(OTHER, memory, NULL, block, NULL));
    returns("I12 found: detach", EXTRACT_OK, (int)extract_posix_detach(OTHER, NULL));
    returns("I12 found: detached already", EXTRACT_NOTFOUND,
            (int)extract_posix_detach(OTHER, NULL));
    returns("I12 found: no process", EXTRACT_USAGE,
            (int)extract_posix_attach(0, memory, NULL, block, NULL));
    returns("I12 found: next to it", EXTRACT_BAD,
            (int)extract_posix_attach(OTHER, memory, NULL, block + 8, NULL));
    returns("I12 found: no such stream", EXTRACT_USAGE,
            (int)extract_posix_open_memory(memory, NULL, block, 2, &trid, NULL));
}

void test_probe(void)
{
    test_torn(1);
    test_torn(100);
    test_open();
    test_lapped();
    test_reset();
    test_boot();
    test_lies_there();
    test_lapped_image();
    test_open_image();
    test_found();
}

// ---- I8: a word that cannot be written ----

// Nothing that was read is freed: the target overwrites it as if it were lost, the reader knows.
static void read_without_freeing(void)
{
    struct event event;
    trace_id_t trid = create_started("I8 refused: create", NULL);
    bool good = true;
    for (int i = 0; i < 5; i++) {
        record(30, 4);
        good = good && events_come(trid, 0, 30) && none(trid);
    }
    check("I8 refused: each comes once, and none is lost",
          good &&
              status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN));
    record(OVERFULL, 4);
    check("I8 refused: full, overrun",
          status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN));
    check("I8 refused: overflow, resume, the newest",
          comes(trid, POSIX_TRACE_OVERFLOW, &event) && comes(trid, POSIX_TRACE_RESUME, &event) &&
              comes(trid, user_type, &event) && events_come(trid, event.data[0] + 1U, OVERFULL) &&
              none(trid));
    end("I8 shutdown", trid);
}

void test_refused_word(void)
{
    enum { READ_POS = 88 };
    refused = stream_word(0, READ_POS);
    if (passing_attach("I8 refused: attach", true))
        read_without_freeing();
    passing_detach("I8 refused: detach");
    if (passing_attach("I18 read only: attach", false))
        returns("I18 read only: create", EPERM,
                posix_trace_create(process, NULL, &(trace_id_t){0}));
    passing_detach("I18 read only: detach");
}
