// SPDX-License-Identifier: MIT
// Recordings of POSIX trace rings: the target's own recorder, on a memory of its own, is followed
// while it continues. Polls come in the middle of an event, between any two of its accesses to the
// ring. Events, and interrupts in them, come between any two words that a poll reads. Truth: what
// the test recorded, and the recorder's own counts.
#define RINGSIDE_TRACE_STREAMS 1
#define RINGSIDE_TRACE_WORDS   256
#define RINGSIDE_TRACE_PORT    "tests/unit/target/model_port.h"
// The library has a recorder, too.
#define posix_trace_event        model_trace_event
#define posix_trace_record_event model_trace_record_event
#define posix_trace_eventid_open model_trace_eventid_open
#define ringside_posix           model_posix
#define ringside_trace_init      model_trace_init
#define ringside_trace_start     model_trace_start
#define ringside_trace_stop      model_trace_stop
#define ringside_trace_poll      model_trace_poll
#include "target/ringside_trace.c"

#include "tests/unit/scratch.h"
#include "tests/unit/samples.h"
#include <extract/record.h>
#include <extract/trace.h>
#include <stdarg.h>
#include <stdlib.h>
// clang-format off
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

enum { ADDRESS = 0x20000000, THREAD_EVENT = 33, INTERRUPT_EVENT = 34 };

static struct extract_error error;

// ---- the target ----

static struct {
    uint32_t asked[2]; // events of the thread and of interrupts
    unsigned rate;     // times in a thousand words that are read that it goes on
    unsigned burst;    // events each time
    unsigned nested;   // interrupts in a thousand accesses
    unsigned looks;    // polls in a thousand accesses
    bool writing, polling;
    uint32_t seed;
} model;

static struct recording {
    struct extract_memory *memory;
    struct extract_recorder *recorder;
    struct extract_log_writer *log;
    uint64_t now; // ns
} recording;

static bool chance(unsigned of_thousand)
{
    model.seed = model.seed * 1664525 + 1013904223;
    return (model.seed >> 8) % 1000 < of_thousand;
}

static void put_event(bool interrupt)
{
    uint32_t number = model.asked[interrupt]++;
    const uint32_t data[3] = {number, ~number, number * 2654435761u};
    model_clock++;
    posix_trace_event(interrupt ? INTERRUPT_EVENT : THREAD_EVENT, data, 8 + number % 2 * 4);
}

static void put_interrupt(void)
{
    unsigned before = model.nested;
    model_interrupt = 15;
    model.nested = 0;
    put_event(true);
    model.nested = before;
    model_interrupt = 0;
}

static void poll_once(void)
{
    model.polling = true;
    recording.now += 1000000;
    assert_int_equal(extract_recorder_poll(recording.recorder, &error), EXTRACT_OK);
    model.polling = false;
}

// Before each access of the target to what others read.
static void model_access(void)
{
    if (!model.writing || model_interrupt || (!model.nested && !model.looks))
        return;
    if (!model_masked && chance(model.nested))
        put_interrupt();
    if (!model.polling && recording.recorder && chance(model.looks))
        poll_once();
}

static void model_stored(uint32_t *word, uint32_t before)
{
    (void)word, (void)before;
}

static void write_events(unsigned count)
{
    while (count--) {
        model.writing = true;
        put_event(false);
        model.writing = false;
    }
}

// Between two words that are read: an event, when the target is not stopped in the middle of one.
static void pass_time(void)
{
    unsigned looks = model.looks;
    if (model.writing || !chance(model.rate))
        return;
    model.looks = 0;
    write_events(model.burst);
    model.looks = looks;
}

static size_t read_live(void *context, uint64_t address, void *buffer, size_t length)
{
    const uint8_t *from = (const uint8_t *)&ringside_posix;
    (void)context;
    if (address < ADDRESS || address - ADDRESS > sizeof ringside_posix ||
        length > sizeof ringside_posix - (address - ADDRESS))
        return 0;
    for (size_t at = 0; at < length; at++) {
        if (at % 4 == 0)
            pass_time();
        ((uint8_t *)buffer)[at] = from[address - ADDRESS + at];
    }
    return length;
}

static struct ringside_stream *stream(void)
{
    return &ringside_posix.streams[0];
}

static void boot(int policy)
{
    trace_event_id_t id;
    memset(&ringside_posix, 0, sizeof ringside_posix);
    memset(&model.asked, 0, sizeof model.asked);
    ringside_trace_init();
    posix_trace_eventid_open("thread", &id);
    posix_trace_eventid_open("interrupt", &id);
    ringside_trace_start(policy);
}

// ---- the recording ----

static uint64_t clock_of(void *context)
{
    return *(uint64_t *)context += 1000;
}

static void begin_log(bool running, unsigned rate, unsigned nested, unsigned looks)
{
    struct recording *r = &recording;
    struct extract_memory_source source = {.read = read_live, .running = running};
    struct extract_log_options log = {.size = sizeof log, .limit = 8 << 20};
    struct extract_record_options options = {.size = sizeof options,
                                             .format = "posix",
                                             .ring_known = true,
                                             .ring = ADDRESS,
                                             .now = clock_of,
                                             .clock = &r->now};
    *r = (struct recording){.now = 1};
    unlink(scratch_path("a.log"));
    unlink(scratch_path("a.log.lock")); // of a test that failed
    assert_int_equal(extract_memory_new(&r->memory, &source, &error), EXTRACT_OK);
    assert_int_equal(extract_log_create(&r->log, scratch_path("a.log"), &log, &error), EXTRACT_OK);
    options.log = r->log;
    struct extract_recorder *recorder;
    assert_int_equal(extract_recorder_open(&recorder, r->memory, NULL, &options, &error),
                     EXTRACT_OK);
    r->recorder = recorder;
    model.rate = rate;
    model.burst = 1;
    model.nested = nested;
    model.looks = looks;
}

static struct extract_record_status end_log(void)
{
    struct recording *r = &recording;
    struct extract_record_status status;
    model.rate = model.nested = model.looks = 0;
    poll_once();
    poll_once();
    assert_int_equal(extract_recorder_finish(r->recorder, &status, &error), EXTRACT_OK);
    assert_int_equal(extract_log_close(r->log, &error), EXTRACT_OK);
    extract_memory_close(r->memory);
    r->recorder = NULL;
    return status;
}

// ---- what its log gives ----

struct replay {
    uint32_t next[2]; // number of the next event of the thread, of interrupts
    uint32_t users, system;
    uint64_t lost, refused;
    unsigned losses, exact, resets, open;
    bool gap; // a loss stands in front
};

static void check_data(const struct extract_event *event, uint32_t number)
{
    const uint32_t data[3] = {number, ~number, number * 2654435761u};
    assert_int_equal(event->data_bytes, 8 + number % 2 * 4);
    assert_memory_equal(event->data, data, event->data_bytes);
}

static void note_user(struct replay *p, const struct extract_event *event)
{
    bool interrupt = event->context == EXTRACT_ISR;
    uint32_t number;
    assert_int_equal(event->id, interrupt ? INTERRUPT_EVENT : THREAD_EVENT);
    memcpy(&number, event->data, sizeof number);
    check_data(event, number);
    assert_true(number >= p->next[interrupt]);
    p->next[interrupt] = number + 1;
    p->users++;
}

static void note(struct replay *p, const struct extract_event *event)
{
    if (event->id == EXTRACT_ID_LOST && event->field[0] == EXTRACT_LOSS_REFUSED) {
        p->refused += event->field[1];
    } else if (event->id == EXTRACT_ID_LOST) {
        p->lost += event->field[EXTRACT_LOST_AT_LEAST];
        p->losses += event->field[0] != EXTRACT_LOSS_EARLIER;
        p->exact += event->field[0] != EXTRACT_LOSS_EARLIER && event->field[EXTRACT_LOST_EXACT];
    } else if (event->id == EXTRACT_ID_MARK + EXTRACT_MARK_RESET) {
        p->resets++;
        memset(p->next, 0, sizeof p->next);
    } else if (!extract_event_is_mark(event)) {
        if (event->id >= THREAD_EVENT)
            note_user(p, event);
        else
            p->system++;
    }
}

static void play(struct replay *p, uint64_t damaged)
{
    struct extract_trace_options options = {.size = sizeof options};
    struct extract_event events[64];
    struct extract_reader reader;
    struct extract_trace *trace;
    struct extract_log *log;
    size_t count;
    memset(p, 0, sizeof *p);
    assert_int_equal(extract_log_open(&log, scratch_path("a.log"), &error), EXTRACT_OK);
    assert_int_equal(extract_trace_open_log(&trace, log, &options, &error), EXTRACT_OK);
    extract_reader_init(&reader, trace);
    while ((count = extract_reader_next(&reader, events, 64)))
        for (size_t i = 0; i < count; i++)
            note(p, &events[i]);
    assert_int_equal(extract_trace_info(trace)->entries_damaged, damaged);
    extract_trace_close(trace);
    extract_log_free(log);
}

// Each requested event is in the ring, was lost on the way, or was refused.
static void check_sum(const struct replay *p, const struct extract_record_status *status)
{
    uint64_t asked = (uint64_t)model.asked[0] + model.asked[1];
    assert_int_equal(p->users + p->system + p->lost, stream()->recorded);
    assert_int_equal(p->refused, stream()->refused);
    assert_int_equal(stream()->recorded + stream()->refused, asked + 1); // and the start
    assert_int_equal(status->lost, p->lost + p->refused);
    assert_true(status->lost_is_exact); // by the stream's own counts, though single gaps are not
    assert_int_equal(status->entries, p->users + p->system);
}

// ---- the tests ----

// Polls in the middle of events, that are often enough: whole, in order, without a loss.
static void test_whole(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed < 40; seed += sample_step()) {
        struct replay p;
        model.seed = seed;
        boot(POSIX_TRACE_LOOP);
        begin_log(seed % 2, 0, seed % 4 * 10, 20);
        for (unsigned i = 0; i < 300; i++) {
            write_events(2);
            poll_once();
        }
        struct extract_record_status status = end_log();
        play(&p, 0);
        assert_true(!status.gaps_not_exact && !p.losses && !p.resets);
        check_sum(&p, &status);
    }
}

// The writer laps the reader between polls, and in the middle of them, now and then. (In the middle
// of an event its count and its head differ: a target that runs is not met twice there.)
static void test_laps(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed < 60; seed += sample_step()) {
        struct replay p;
        model.seed = seed;
        boot(POSIX_TRACE_LOOP);
        begin_log(seed % 3, seed % 3 ? seed % 7 * 60 : 0, seed % 5 * 8, 0);
        for (unsigned i = 0; i < 200; i++) {
            write_events(model.seed % 40);
            poll_once();
        }
        struct extract_record_status status = end_log();
        play(&p, 0);
        assert_true(p.losses > 5 && p.users > 50 && !p.resets);
        check_sum(&p, &status);
    }
}

// The writer wraps between two words that are read, of the stream block too, once and many
// times; now and then it pauses.
static void test_passed_by_words(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed < 60; seed += 2 * sample_step()) {
        struct replay p;
        model.seed = seed;
        boot(POSIX_TRACE_LOOP);
        begin_log(true, 0, seed % 4 * 8, 0);
        model.burst = 15 + seed * 2;
        for (unsigned i = 0; i < 120; i++) {
            model.rate = i % 20 < 15 ? 1000 / (1 + seed % 3) : 0;
            write_events(3);
            poll_once();
        }
        struct extract_record_status status = end_log();
        play(&p, 0);
        assert_true(p.losses > 5 && p.users > 50);
        assert_int_equal(p.resets + status.resets, 0);
        check_sum(&p, &status);
    }
}

// A record is never finished: the events before it are read at once, and those after it at the end,
// or earlier if it blocks half of the ring.
static void test_open(void **state)
{
    (void)state;
    for (unsigned behind = 1; behind < 16; behind += 6) {
        struct replay p;
        uint32_t at;
        model.seed = behind;
        boot(POSIX_TRACE_LOOP);
        begin_log(true, 0, 0, 0);
        write_events(5);
        at = stream()->head & (RINGSIDE_TRACE_WORDS - 1);
        write_events(1);
        uint32_t *first = &ringside_posix.rings[0][at];
        *first = (*first & 0x3FFFFFFF) | UINT32_C(1) << 30;
        write_events(behind);
        poll_once();
        uint64_t seen = extract_recorder_status(recording.recorder)->entries;
        assert_int_equal(seen, behind < 10 ? 6 : 7 + behind);
        struct extract_record_status status = end_log();
        play(&p, 1);
        assert_int_equal(p.users, 5 + behind);
        assert_int_equal(status.entries, 7 + behind);
        assert_int_equal(p.losses, 0);
    }
}

// The stream is cleared, and the firmware boots again: each is marked, and nothing is taken for
// something else.
static void test_anew(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 2; kind++) {
        struct replay p;
        boot(POSIX_TRACE_LOOP);
        begin_log(true, 0, 0, 0);
        write_events(10);
        poll_once();
        if (kind) {
            boot(POSIX_TRACE_LOOP);
        } else {
            stream()->wanted_clears++;
            stream()->request++;
            ringside_posix.process.active = UINT32_MAX;
            ringside_trace_poll();
            memset(&model.asked, 0, sizeof model.asked);
        }
        write_events(kind ? 14 : 4);
        poll_once();
        end_log();
        play(&p, 0);
        assert_int_equal(p.resets, 1);
        assert_int_equal(p.next[0], kind ? 14 : 4);
    }
}

// A stream that stops when it is full keeps the oldest events. What it refused is reported.
static void test_until_full(void **state)
{
    struct replay p;
    (void)state;
    boot(POSIX_TRACE_UNTIL_FULL);
    begin_log(true, 0, 0, 0);
    for (unsigned i = 0; i < 20; i++) {
        write_events(5);
        poll_once();
    }
    struct extract_record_status status = end_log();
    play(&p, 0);
    assert_true(p.refused > 50);
    assert_int_equal(p.system, 2); // start and stop
    assert_int_equal(p.losses, 0);
    assert_int_equal(status.entries, stream()->recorded);
    assert_int_equal(p.refused, stream()->refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole),
                                       cmocka_unit_test(test_laps),
                                       cmocka_unit_test(test_passed_by_words),
                                       cmocka_unit_test(test_open),
                                       cmocka_unit_test(test_anew),
                                       cmocka_unit_test(test_until_full)};
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
