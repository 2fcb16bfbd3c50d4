// SPDX-License-Identifier: MIT
// qemu-tests/checkers/attach: I: what only a target behind a debugger can do.
// In: a target that records what it is told. Out: a line for each assertion.
#include "attach.h"
#include <stdlib.h>
#include <time.h>

// ---- I1: overwritten while it is read ----

// As images/posix/posixcalls.c makes it.
static bool is_of_storm(const struct event *event, uint32_t *number)
{
    *number = event->data[0] | event->data[1] << 8 | event->data[2] << 16 |
              (uint32_t)event->data[3] << 24;
    bool good = event->length == 4 + *number % 32;
    for (size_t k = 4; k < event->length && good; k++)
        good = event->data[k] == (uint8_t)*number;
    return good;
}

// What is accepted is whole and in order, and a gap has an OVERFLOW in front of it.
static void test_torn(uint32_t each_tick)
{
    enum { ENOUGH = 300, PATIENCE = 60 };
    const struct order storm = {.verb = STORM, .type = told, .count = each_tick};
    uint32_t expected = 0, number, accepted = 0;
    bool told_loss = true, good = true;
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
        } else if (event.info.posix_event_id == told) {
            good = is_of_storm(&event, &number) &&
                   (told_loss ? number >= expected : number == expected);
            expected = number + 1;
            told_loss = false;
            accepted++;
        } else
            told_loss = told_loss || event.info.posix_event_id == POSIX_TRACE_OVERFLOW;
    }
    settle();
    printf("# %u a tick: %u events of %u\n", (unsigned)each_tick, (unsigned)accepted,
           (unsigned)expected);
    check("I1 torn: each is whole, in order, and a gap is told", good);
    check("I1 torn: a reader gets its share", accepted == ENOUGH);
    end("I1 shutdown", trid);
}

// ---- I2 to I4 ----

static void test_open(void)
{
    trace_id_t trid = create_started("I2 open: create", NULL);
    record(2, 4);
    obey(&(struct order){.verb = HALF, .type = told, .count = 1, .bytes = 5});
    record(3, 6);
    check("I2 open: read up to there", events_come(trid, 0, 2) && none(trid) && none(trid));
    obey(&(struct order){.verb = WHOLE});
    struct event event = take(trid);
    check("I2 open: done, it comes, and what follows",
          is_told(&event, 0, 5) && events_come(trid, 0, 3) && none(trid));
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
                  comes(trid, POSIX_TRACE_RESUME, &event) && comes(trid, told, &event) &&
                  events_come(trid, event.data[0] + 1U, OVERFULL) && none(trid));
    }
    end("I3 shutdown", trid);
}

// A reset of the target: its blocks are made anew. What was asked for is asked for again.
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
    told = named_there("told");
    record(3, 5);
    check("I4 reset: started again, with the filter", comes(trid, POSIX_TRACE_START, &event) &&
                                                          event.length == sizeof set &&
                                                          !memcmp(event.data, &set, sizeof set));
    check("I4 reset: what follows", events_come(trid, 0, 3) && none(trid));
    check("I4 reset: overrun",
          status_is(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_OVERRUN));
    end("I4 shutdown", trid);
}

// ---- I7: what lies there, as a trace that is over ----

static bool image_comes(trace_id_t image, trace_event_id_t type, struct event *event)
{
    int error = posix_trace_getnext_event(image, &event->info, event->data, sizeof event->data,
                                          &event->length, &event->unavailable);
    return !error && !event->unavailable && event->info.posix_event_id == type;
}

// What was read before is there still, until it is overwritten.
static bool image_has_all(trace_id_t image)
{
    struct event event;
    bool good = image_comes(image, POSIX_TRACE_START, &event);
    for (uint32_t i = 0; i < 5 && good; i++)
        good = image_comes(image, told, &event) && is_told(&event, i, 7);
    return good && image_comes(image, POSIX_TRACE_STOP, &event) && number_in(&event) == 0 &&
           !image_comes(image, 0, &event) && event.unavailable;
}

static void test_lies_there(void)
{
    struct extract_error error = {0};
    trace_id_t trid = create_started("I7 as it lies there: create", NULL), image = 0;
    record(5, 7);
    posix_trace_stop(trid);
    settle();
    enum extract_code code = extract_posix_open_memory(memory, symbols, 0, -1, &image, &error);
    returns("I7 as it lies there: open", EXTRACT_OK, (int)code);
    for (int round = 0; round < 2; round++) {
        check("I7 as it lies there: all of it", image_has_all(image));
        returns("I7 as it lies there: rewind", 0, posix_trace_rewind(image));
    }
    returns("I7 as it lies there: start", EINVAL, posix_trace_start(image));
    returns("I7 as it lies there: close", 0, posix_trace_close(image));
    check("I7 as it lies there: the stream has them still", events_come(trid, 0, 5));
    end("I7 shutdown", trid);
}

void test_probe(void)
{
    test_torn(1);
    test_torn(100);
    test_open();
    test_lapped();
    test_reset();
    test_lies_there();
}

// ---- I8: a word that cannot be written ----

static uint64_t refused;

// The target's memory; it stands while it is read, where it has to.
static size_t pass_read(void *context, uint64_t address, void *buffer, size_t length)
{
    size_t got = 0;
    bool ran = !extract_live_halts(context).now;
    (void)extract_live_halt(context, NULL);
    (void)extract_memory_read(context, address, buffer, length, &got, NULL);
    if (ran)
        (void)extract_live_resume(context, NULL);
    return got;
}

static size_t pass_write(void *context, uint64_t address, const void *bytes, size_t length)
{
    bool ran = !extract_live_halts(context).now;
    if (refused >= address && refused - address < length)
        return 0;
    (void)extract_live_halt(context, NULL);
    enum extract_code code = extract_memory_write(context, address, bytes, length, NULL);
    if (ran)
        (void)extract_live_resume(context, NULL);
    return code ? 0 : length;
}

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
              comes(trid, told, &event) && events_come(trid, event.data[0] + 1U, OVERFULL) &&
              none(trid));
    end("I8 shutdown", trid);
}

void test_refused_word(void)
{
    enum { STREAMS_AT = 32, READ_POS = 88 };
    uint64_t block = address_of("ringside_posix");
    struct extract_memory *passing;
    const struct extract_memory_source source = {.read = pass_read,
                                                 .write = pass_write,
                                                 .context = memory,
                                                 .byte_order = extract_memory_byte_order(memory),
                                                 .running = true,
                                                 .name = "target"};
    refused = block + peek(block + STREAMS_AT) + READ_POS;
    if (extract_memory_new(&passing, &source, NULL) ||
        extract_posix_attach(PID, passing, symbols, 0, NULL)) {
        check("I8 refused: attach", false);
        return;
    }
    read_without_freeing();
    check("I8 refused: detach", extract_posix_detach(PID, NULL) == EXTRACT_OK);
    extract_memory_close(passing);
}
