// SPDX-License-Identifier: MIT
// Events of a kernel in POSIX traces: their fields in every layout, names of objects, and the
// schedule. Truth: the header that firmware includes, and computation by hand.
#include "crash/crash_room.h"
#include "target/ringside_rtos_hooks.h"
#include "tests/unit/posix_format/rtos_events.h"
#include <extract/assert.h>
#include <extract/report.h>
#include <extract/schedule.h>
#include <extract/stats.h>
#include <stdio.h>
#include <stdlib.h>

static const struct extract_event *open_one(struct look *look)
{
    size_t count;

    look_open_memory(look, ptr_memory(&ptr), PTR_ADDRESS, NULL);
    const struct extract_event *events = look_events(look, &count);
    assert_int_equal(count, 1);
    return events;
}

// ---- fields ----

// Readers know every event that the header has.
static void check_known(const struct ptr_kind *kind, const char *name)
{
    struct look look;

    begin(kind);
    put(name, A, 0x20001234, 2, 1);
    const struct extract_event *event = open_one(&look);
    assert_string_equal(event->type->name, name);
    assert_int_equal(event->id, FIRST_ID);
    assert_int_equal(event->field[1], 0x08000101);
    look_close(&look);
}

static void test_all_are_known(void **state)
{
    const struct ptr_kind kinds[] = {narrow, {true, false, 4, 32}, {false, true, 8, 64}};
    (void)state;
#define CHECK_EVENT(key, name)                                                                     \
    for (unsigned i = 0; i < 3; i++)                                                               \
        check_known(&kinds[i], name);
    RINGSIDE_RTOS_EVENTS(CHECK_EVENT)
#undef CHECK_EVENT
}

static uint64_t field_of(const struct extract_event *event, const char *label)
{
    for (unsigned i = 0; i < event->fields; i++)
        if (strcmp(event->type->field[i].label, label) == 0)
            return event->field[i];
    fail_msg("no field %s", label);
    return 0;
}

static void test_fields(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        const struct ptr_kind kind = {i & 1, i & 2, i & 4 ? 8 : 4, 32};
        struct look look;
        begin(&kind);
        put("rtos_queue_block", A, QUEUE, A, 1);
        const struct extract_event *event = open_one(&look);
        assert_int_equal(field_of(event, "queue"), QUEUE);
        assert_int_equal(field_of(event, "thread"), A);
        assert_int_equal(field_of(event, "sends"), 1);
        assert_int_equal(event->thread, A);
        look_close(&look);
    }
}

// Without a number of its own, an interrupt has that of the record.
static void test_interrupts(void **state)
{
    struct look look;
    (void)state;
    begin(&narrow);
    put("rtos_isr_enter", TICK_ISR, 0, 0, 0);
    const struct extract_event *event = open_one(&look);
    assert_int_equal(field_of(event, "exception"), TICK_ISR);
    assert_int_equal(field_of(event, "interrupt"), TICK_ISR);
    assert_int_equal(event->context, EXTRACT_ISR);
    look_close(&look);
}

// An event with fewer words, or with another name, is a user event.
static void test_other_events(void **state)
{
    static const struct {
        const char *name;
        unsigned bytes;
    } cases[] = {{"rtos_switch", 4}, {"rtos_switch", 7}, {"rtos_switches", 12},
                 {"rtos_", 12},      {"rtos", 12},       {"beta", 12}};
    const uint8_t data[12] = {1};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct look look;
        begin(&narrow);
        put_bytes(cases[i].name, A, false, data, cases[i].bytes);
        const struct extract_event *event = open_one(&look);
        assert_string_equal(event->type->name, "user event");
        assert_int_equal(event->data_bytes, cases[i].bytes);
        look_close(&look);
    }
}

static void test_names(void **state)
{
    struct look look;
    uint8_t data[20] = {0};
    const uint64_t words[] = {QUEUE};
    (void)state;
    begin(&narrow);
    memcpy(data + store_words(data, words, 1), "sam\033ples", 8);
    put_bytes("rtos_object_name", A, false, data, 12);
    look_open_memory(&look, ptr_memory(&ptr), PTR_ADDRESS, NULL);
    const struct extract_object *object = extract_trace_object(look.trace, QUEUE);
    assert_non_null(object);
    assert_string_equal(object->name, "sam\033ples");
    assert_null(strchr(object->shown, '\033'));
    look_close(&look);
}

static void name_object(uint64_t object, const char *name)
{
    uint8_t data[8 + 16] = {0};
    size_t bytes = store_words(data, &object, 1);

    memcpy(data + bytes, name, strlen(name));
    put_bytes("rtos_object_name", A, false, data, bytes + 16);
}

// A control block that is used again is another thread, and memory of a queue another object.
static void test_used_again(void **state)
{
    static const char *const threads[] = {"uploader", "logger"}, *const queues[] = {"in", "out"};
    struct look look;
    (void)state;
    begin(&narrow);
    for (unsigned i = 0; i < 2; i++) {
        put("rtos_thread_create", A, B, 5 + i, 0);
        name_object(B, threads[i]);
        put("rtos_queue_create", A, QUEUE, 4, 0);
        name_object(QUEUE, queues[i]);
        put("rtos_switch", A, A, B, 0);
        for (unsigned k = 0; k <= i; k++)
            put("rtos_queue_send", B, QUEUE, 1 + k, 0);
        put("rtos_switch", B, B, A, 0);
        put("rtos_queue_delete", A, QUEUE, 0, 0);
        put("rtos_thread_delete", A, B, 0, 0);
    }
    struct extract_stats *stats = open_stats(&look);
    size_t count;
    const struct extract_event *events = look_events(&look, &count);
    unsigned sends = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(events[i].type->name, "rtos_queue_send") != 0)
            continue;
        unsigned life = sends++ > 0;
        const struct extract_object *thread = extract_trace_object(look.trace, events[i].thread);
        const struct extract_object *queue =
            extract_trace_object(look.trace, field_of(&events[i], "queue"));
        assert_string_equal(thread->shown, threads[life]);
        assert_string_equal(queue->shown, queues[life]);
        assert_int_equal(extract_trace_address(look.trace, events[i].thread), B);
    }
    assert_int_equal(sends, 3);
    unsigned rows = 0;
    for (size_t i = 0; i < stats->thread_count; i++) {
        const struct extract_thread_stats *row = &stats->threads[i];
        for (unsigned life = 0; life < 2; life++)
            if (row->thread && strcmp(row->thread->shown, threads[life]) == 0) {
                assert_int_equal(row->events, 2 + life);
                rows++;
            }
    }
    assert_int_equal(rows, 2);
    extract_stats_free(stats);
    look_close(&look);
}

// ---- the schedule ----

static char said[4096];

static void say_state(void *context, const struct extract_state *state)
{
    size_t used = strlen(said);

    (void)context;
    snprintf(said + used, sizeof said - used, "%s %llu-%llu %s%s%s%s%s\n",
             state->thread == A   ? "a"
             : state->thread == B ? "b"
                                  : "?",
             (unsigned long long)state->from, (unsigned long long)state->to,
             extract_thread_state_name(state->state), state->wait ? " on " : "",
             state->wait ? state->wait : "", state->holder == B ? " of b" : "",
             state->is_unsure ? ", likely" : "");
}

static void say_wake(void *context, const struct extract_wake *wake)
{
    size_t used = strlen(said);

    (void)context;
    snprintf(said + used, sizeof said - used, "%s woken at %llu: %s\n",
             wake->thread == A ? "a" : "b", (unsigned long long)wake->at,
             wake->reason == EXTRACT_WAKE_SERVICE ? wake->service->name
                                                  : extract_wake_reason_name(wake->reason));
}

static void say_owner(void *context, const struct extract_ownership *owner)
{
    size_t used = strlen(said);

    (void)context;
    snprintf(said + used, sizeof said - used, "mutex %llu-%llu %s\n",
             (unsigned long long)owner->from, (unsigned long long)owner->to,
             owner->thread == A   ? "a"
             : owner->thread == B ? "b"
                                  : "free");
}

static void check_schedule(const char *expected)
{
    const struct extract_schedule_sink sink = {
        .state = say_state, .wake = say_wake, .owner = say_owner};
    struct look look;

    *said = 0;
    look_open_memory(&look, ptr_memory(&ptr), PTR_ADDRESS, NULL);
    assert_int_equal(extract_schedule_run(NULL, look.trace, &sink, NULL), EXTRACT_OK);
    assert_string_equal(said, expected);
    look_close(&look);
}

// a waits for a message, and b sends it.
static void test_message(void **state)
{
    (void)state;
    begin(&narrow);
    put("rtos_queue_block", A, QUEUE, A, 0); // 0
    put("rtos_switch", A, A, B, 0);          // 10
    put("rtos_queue_send", B, QUEUE, 1, 0);  // 20
    put("rtos_thread_ready", B, A, 0, 0);    // 30
    put("rtos_switch", B, B, A, 0);          // 40
    put("rtos_switch", A, A, B, 0);          // 50
    check_schedule("a woken at 30: rtos_queue_send\nb 0-10 ready\na 0-30 blocked on queue\n"
                   "a 30-40 ready\nb 10-40 running\na 40-50 running\nb 40-50 ready\n");
}

// a waits for the mutex of b, which is free when b puts it. a takes it when it runs again.
static void test_mutex(void **state)
{
    (void)state;
    begin(&narrow);
    put("rtos_mutex_block", A, MUTEX, A, B); // 0
    put("rtos_switch", A, A, B, 0);          // 10
    put("rtos_mutex_put", B, MUTEX, B, 0);   // 20
    put("rtos_thread_ready", B, A, 0, 0);    // 30
    put("rtos_switch", B, B, A, 0);          // 40
    put("rtos_mutex_get", A, MUTEX, A, 0);   // 50
    put("rtos_switch", A, A, B, 0);          // 60
    check_schedule("mutex 0-20 b\na woken at 30: rtos_mutex_put\nb 0-10 ready\n"
                   "a 0-30 blocked on mutex of b\nmutex 20-50 free\na 30-40 ready\n"
                   "b 10-40 running\nmutex 50-60 a\na 40-60 running\nb 40-60 ready\n");
}

// a waits for the mutex of b, which inherits the priority of a. Within the call that puts the
// mutex, b gets its own priority back, and FreeRTOS reports b as ready, too.
static void test_inheritance(void **state)
{
    (void)state;
    begin(&narrow);
    put("rtos_mutex_block", A, MUTEX, A, B);     // 0
    put("rtos_priority_inherit", A, B, 5, 0);    // 10
    put("rtos_switch", A, A, B, 0);              // 20
    put("rtos_mutex_put", B, MUTEX, B, 0);       // 30
    put("rtos_priority_disinherit", B, B, 3, 0); // 40
    put("rtos_thread_ready", B, B, 0, 0);        // 50
    put("rtos_thread_ready", B, A, 0, 0);        // 60
    put("rtos_switch", B, B, A, 0);              // 70
    put("rtos_mutex_get", A, MUTEX, A, 0);       // 80
    put("rtos_switch", A, A, B, 0);              // 90
    check_schedule("mutex 0-30 b\na woken at 60: rtos_mutex_put\nb 0-20 ready\n"
                   "a 0-60 blocked on mutex of b\nmutex 30-80 free\na 60-70 ready\n"
                   "b 20-70 running\nmutex 80-90 a\na 70-90 running\nb 70-90 ready\n");
}

// A mutex is free from its creation on, and has no owner before it or after its deletion.
static void test_life_of_a_mutex(void **state)
{
    (void)state;
    begin(&narrow);
    put("rtos_mutex_create", A, MUTEX, 0, 0); // 0
    put("rtos_mutex_get", A, MUTEX, A, 0);    // 10
    put("rtos_mutex_put", A, MUTEX, A, 0);    // 20
    put("rtos_mutex_delete", A, MUTEX, 0, 0); // 30
    put("rtos_switch", A, A, B, 0);           // 40
    check_schedule(
        "mutex 0-10 free\nmutex 10-20 a\nmutex 20-30 free\na 0-40 running\nb 0-40 ready\n");
}

// FreeRTOS records the wait for a stream buffer and, within it, one for a notification. The third
// time, the notification is there before the wait.
static void test_stream_of_freertos(void **state)
{
    enum { STREAM = 0x20004400 };
    (void)state;
    begin(&narrow);
    put("rtos_stream_block", A, STREAM, A, 0); // 0
    put("rtos_notify_block", A, A, 0, 0);      // 10
    put("rtos_switch", A, A, B, 0);            // 20
    put("rtos_stream_send", B, STREAM, 4, 0);  // 30
    put("rtos_notify", B, 0, 0, 0);            // 40
    put("rtos_thread_ready", B, A, 0, 0);      // 50
    put("rtos_switch", B, B, A, 0);            // 60
    put("rtos_notify_get", A, A, 0, 0);        // 70
    put("rtos_stream_block", A, STREAM, A, 0); // 80
    put("rtos_notify_get", A, A, 0, 0);        // 90
    put("rtos_switch", A, A, B, 0);            // 100
    check_schedule(
        "a woken at 50: rtos_stream_send\nb 0-20 ready\na 0-50 blocked on stream buffer\n"
        "a 50-60 ready\nb 20-60 running\na 60-100 running\nb 60-100 ready\n");
}

static void say_response(void *context, const struct extract_response *response)
{
    size_t used = strlen(said);

    (void)context;
    snprintf(said + used, sizeof said - used, "a from %llu to %llu\n",
             (unsigned long long)response->from, (unsigned long long)response->to);
}

// A wait for a stream buffer ends a response only if the thread then waits: in FreeRTOS, it does
// not if the notification is there before.
static void test_responses_of_streams(void **state)
{
    enum { STREAM = 0x20004400 };
    (void)state;
    begin(&narrow);
    put("rtos_notify_block", A, A, 0, 0);      // 0
    put("rtos_switch", A, A, B, 0);            // 10
    put("rtos_thread_ready", B, A, 0, 0);      // 20
    put("rtos_switch", B, B, A, 0);            // 30
    put("rtos_stream_block", A, STREAM, A, 0); // 40
    put("rtos_notify_get", A, A, 0, 0);        // 50
    put("rtos_stream_block", A, STREAM, A, 0); // 60
    put("rtos_notify_block", A, A, 0, 0);      // 70
    put("rtos_switch", A, A, B, 0);            // 80
    put("rtos_thread_ready", B, A, 0, 0);      // 90
    put("rtos_switch", B, B, A, 0);            // 100
    put("rtos_stream_block", A, STREAM, A, 0); // 110
    put("rtos_switch", A, A, B, 0);            // 120

    const struct extract_schedule_sink sink = {.response = say_response};
    struct look look;
    *said = 0;
    look_open_memory(&look, ptr_memory(&ptr), PTR_ADDRESS, NULL);
    assert_int_equal(extract_schedule_run(NULL, look.trace, &sink, NULL), EXTRACT_OK);
    assert_string_equal(said, "a from 20 to 60\na from 90 to 110\n");
    look_close(&look);
}

// An interrupt notifies before it records that it sent.
static void test_stream_of_an_interrupt(void **state)
{
    enum { STREAM = 0x20004400 };
    (void)state;
    begin(&narrow);
    put("rtos_stream_block", A, STREAM, A, 0);       // 0
    put("rtos_notify_block", A, A, 0, 0);            // 10
    put("rtos_switch", A, A, B, 0);                  // 20
    put("rtos_isr_enter", TICK_ISR, 0, 0, 0);        // 30
    put("rtos_notify", TICK_ISR, 0, 0, 0);           // 40
    put("rtos_thread_ready", TICK_ISR, A, 0, 0);     // 50
    put("rtos_stream_send", TICK_ISR, STREAM, 4, 0); // 60
    check_schedule("a woken at 50: rtos_notify\na 0-50 blocked on stream buffer\na 50-60 ready\n"
                   "b 0-20 ready\nb 20-60 running\n");
}

static void test_timeout(void **state)
{
    (void)state;
    begin(&narrow);
    put("rtos_queue_block", A, QUEUE, A, 0);     // 0
    put("rtos_switch", A, A, B, 0);              // 10
    put("rtos_isr_enter", TICK_ISR, 0, 0, 0);    // 20
    put("rtos_tick", TICK_ISR, 7, 0, 0);         // 30
    put("rtos_thread_ready", TICK_ISR, A, 0, 0); // 40
    check_schedule("a woken at 40: timeout\na 0-40 blocked on queue\n"
                   "b 0-10 ready\nb 10-40 running\n");
}

// A thread that deletes itself has the core until the next one gets it.
static void test_deletion_by_itself(void **state)
{
    (void)state;
    begin(&narrow);
    put("rtos_switch", B, B, A, 0);        // 0
    put("rtos_thread_delete", A, A, 0, 0); // 10
    put("rtos_switch", A, A, B, 0);        // 20
    put("rtos_idle_enter", B, 0, 0, 0);    // 30
    check_schedule("b 0-20 ready\nb 20-30 running\na 0-10 running\na 10-30 completed\n");
}

// a waits, for something that no event shows: a less urgent thread runs. Of an equally urgent one,
// it is not known whether a waits.
static void test_wait_without_event(void **state)
{
    const char *const shown[] = {"unknown", "ready, likely", "ready"};
    char expected[200];

    (void)state;
    for (unsigned priority = 0; priority < 3; priority++) {
        begin(&narrow);
        (void)id_of("rtos_priority_high_first");
        put("rtos_thread_priority", A, A, 1, 0);        // 0
        put("rtos_thread_priority", A, B, priority, 0); // 10
        put("rtos_switch", A, A, B, 0);                 // 20
        put("rtos_switch", B, B, A, 0);                 // 30
        put("rtos_notify_get", A, A, 0, 0);             // 40
        snprintf(expected, sizeof expected,
                 "b 0-20 ready\na 0-20 running\na 20-30 %s\na 30-40 running\n"
                 "b 20-30 running\nb 30-40 %s\n",
                 shown[priority], shown[2 - priority]);
        check_schedule(expected);
    }
}

// The idle task may be as urgent as another one, which then waits or shares the core with it.
static void test_idle_by_turns(void **state)
{
    const uint64_t words[] = {B};
    uint8_t data[8];

    (void)state;
    begin(&narrow);
    (void)id_of("rtos_priority_high_first");
    size_t length = store_words(data, words, 1);
    memcpy(data + length, "IDLE", 4);
    put("rtos_thread_priority", A, A, 0, 0); // 0
    put("rtos_thread_priority", A, B, 0, 0); // 10
    put_bytes("rtos_object_name", A, false, data, length + 4);
    put("rtos_switch", A, A, B, 0);     // 30
    put("rtos_switch", B, B, A, 0);     // 40
    put("rtos_notify_get", A, A, 0, 0); // 50
    check_schedule("a 0-30 running\na 30-40 ready, likely\na 40-50 running\n");
}

// A queue has the messages that a send counts, or those that a receive counts and the one that it
// took.
static void test_levels(void **state)
{
    struct look look;
    (void)state;
    begin(&narrow);
    put("rtos_switch", A, A, B, 0);            // 0
    put("rtos_queue_receive", B, MUTEX, 4, 0); // 10
    put("rtos_queue_send", B, QUEUE, 1, 0);    // 20
    put("rtos_queue_send", B, QUEUE, 2, 0);    // 30
    struct extract_stats *stats = open_stats(&look);
    assert_int_equal(stats->level_count, 2);
    assert_int_equal(stats->levels[0].most_queued, 5);
    assert_int_equal(stats->levels[1].most_queued, 2);
    extract_stats_free(stats);
    look_close(&look);
}

// The response of a thread ends when it is deleted, also while it waits for a mutex.
static void test_deletion_ends_a_response(void **state)
{
    struct look look;
    (void)state;
    begin(&narrow);
    put("rtos_queue_block", A, QUEUE, A, 0); // 0
    put("rtos_switch", A, A, B, 0);          // 10
    put("rtos_thread_ready", B, A, 0, 0);    // 20
    put("rtos_switch", B, B, A, 0);          // 30
    put("rtos_mutex_block", A, MUTEX, A, B); // 40
    put("rtos_switch", A, A, B, 0);          // 50
    put("rtos_thread_delete", B, A, 0, 0);   // 60
    struct extract_stats *stats = open_stats(&look);
    assert_int_equal(stats->threads[0].response.count, 1);
    assert_int_equal(stats->threads[0].response.max, 40);
    extract_stats_free(stats);
    look_close(&look);
}

// ---- priority inversions ----

enum { C = 0x20004400 };

// A waits for a mutex that B owns, while C runs for 20 ticks.
static void put_inversion(const char *order, bool has_all, uint64_t inherited)
{
    begin(&narrow);
    if (order)
        (void)id_of(order); // never recorded
    put("rtos_thread_create", A, A, 5, 0);
    put("rtos_thread_create", A, B, 1, 0);
    if (has_all)
        put("rtos_thread_create", A, C, 3, 0);
    put("rtos_start", B, B, 0, 0);
    put("rtos_mutex_get", B, MUTEX, B, 0);
    put("rtos_thread_ready", B, A, 0, 0);
    put("rtos_switch", B, B, A, 0);
    if (inherited)
        put("rtos_priority_inherit", A, B, inherited, 0);
    put("rtos_mutex_block", A, MUTEX, A, B); // 70, if nothing is inherited
    put("rtos_switch", A, A, B, 0);
    put("rtos_thread_ready", B, C, 0, 0);
    put("rtos_switch", B, B, C, 0);
    put("rtos_notify_get", C, C, 0, 0);
    put("rtos_switch", C, C, B, 0);
    put("rtos_mutex_put", B, MUTEX, B, 0);
    put("rtos_thread_ready", B, A, 0, 0);
    put("rtos_switch", B, B, A, 0);
}

static void test_inversion(void **state)
{
    struct look look;
    (void)state;
    put_inversion("rtos_priority_high_first", true, 0);
    struct extract_stats *stats = open_stats(&look);
    assert_true(stats->has_inversions);
    assert_int_equal(stats->inversions_unsure, 0);
    assert_int_equal(stats->inversion_count, 1);
    const struct extract_inversion *found = &stats->inversions[0];
    assert_true(found->waiter == A && found->holder == B && found->third == C);
    assert_int_equal(found->mutex, MUTEX);
    assert_int_equal(found->ticks, 20);
    assert_int_equal(found->from, 70);
    assert_int_equal(found->to, 140);
    for (size_t i = 0; i < stats->thread_count; i++) {
        const struct extract_thread_stats *thread = &stats->threads[i];
        uint64_t address = thread->thread->address;
        assert_int_equal(thread->priority_low, address == A ? 5 : address == B ? 1 : 3);
    }
    extract_stats_free(stats);
    look_close(&look);
}

// With unknown priorities, an inversion is neither counted nor excluded.
static void test_no_inversion(void **state)
{
    const struct {
        const char *order;
        bool has_all;
        uint64_t inherited;
        bool is_known;
        uint64_t unsure;
    } tests[] = {
        {"rtos_priority_low_first", true, 0, true, 0},
        {"rtos_priority_high_first", true, 5, true, 0}, // the owner is as urgent as the waiter
        {"rtos_priority_high_first", false, 0, true, 1},
        {NULL, true, 0, false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        struct look look;
        put_inversion(tests[i].order, tests[i].has_all, tests[i].inherited);
        struct extract_stats *stats = open_stats(&look);
        assert_int_equal(stats->has_inversions, tests[i].is_known);
        assert_int_equal(stats->inversion_count, 0);
        assert_int_equal(stats->inversions_unsure, tests[i].unsure);
        extract_stats_free(stats);
        look_close(&look);
    }
}

static void test_no_schedule(void **state)
{
    struct look look;
    (void)state;
    begin(&narrow);
    ptr_put_number(&ptr, 0, 1);
    look_open_memory(&look, ptr_memory(&ptr), PTR_ADDRESS, NULL);
    assert_int_equal(extract_schedule_run(NULL, look.trace, NULL, NULL), EXTRACT_UNSUPPORTED);
    look_close(&look);
}

// ---- the chart ----

static void check_chart(const char *expected)
{
    const struct extract_report_options options = {.size = sizeof options};
    struct extract_view *view;
    struct extract_text text;
    struct look look;

    look_open_memory(&look, ptr_memory(&ptr), PTR_ADDRESS, NULL);
    assert_int_equal(extract_view_new(&view, NULL, look.trace, 0, NULL), EXTRACT_OK);
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_report_chart(&text, view, look.trace, true, &options, NULL, NULL),
                     EXTRACT_OK);
    extract_text_putc(&text, 0);
    const char *arrows = strstr(text.data, ";\n\n");
    assert_string_equal(arrows ? arrows + 3 : text.data, expected);
    extract_text_free(&text);
    extract_view_free(view);
    look_close(&look);
}

// The kernel puts a message into the queue even if a thread waits for it. That thread then takes
// it, which is a dot in the picture, and no arrow.
static void test_chart_of_messages(void **state)
{
    (void)state;
    begin(&narrow);
    put("rtos_queue_block", A, QUEUE, A, 0);   // 0
    put("rtos_switch", A, A, B, 0);            // 10
    put("rtos_queue_send", B, QUEUE, 1, 0);    // 20
    put("rtos_thread_ready", B, A, 0, 0);      // 30
    put("rtos_queue_send", B, QUEUE, 2, 0);    // 40
    put("rtos_switch", B, B, A, 0);            // 50
    put("rtos_queue_receive", A, QUEUE, 1, 0); // 60, whichever of the two
    put("rtos_queue_receive", A, QUEUE, 0, 0); // 70, the other one
    put("rtos_queue_send", A, QUEUE, 1, 0);    // 80
    put("rtos_queue_receive", A, QUEUE, 0, 0); // 90, the only one
    check_chart("e0>e0: waits: 0x20004200; # 0\n"
                "e1=>e0: rtos_queue_send: 0x20004200; # 20\n"
                "e1->e2: rtos_queue_send: 0x20004200; # 40\n"
                "e2->e0: rtos_queue_receive: 0x20004200; # 70\n"
                "e0->e2: rtos_queue_send: 0x20004200; # 80\n"
                "e2->e0: rtos_queue_receive: 0x20004200, from 0x20004000, +10; # 90\n");
}

static void test_chart_of_semaphore(void **state)
{
    (void)state;
    begin(&narrow);
    put("rtos_semaphore_put", A, QUEUE, 1, 0);   // 0
    put("rtos_semaphore_get", A, QUEUE, 0, 0);   // 10
    put("rtos_semaphore_block", A, QUEUE, A, 0); // 20
    put("rtos_switch", A, A, B, 0);              // 30
    put("rtos_semaphore_put", B, QUEUE, 1, 0);   // 40
    put("rtos_thread_ready", B, A, 0, 0);        // 50
    put("rtos_switch", B, B, A, 0);              // 60
    put("rtos_semaphore_get", A, QUEUE, 0, 0);   // 70, which is a dot
    check_chart("e0->e2: rtos_semaphore_put: 0x20004200; # 0\n"
                "e2->e0: rtos_semaphore_get: 0x20004200; # 10\n"
                "e0>e0: waits: 0x20004200; # 20\n"
                "e1=>e0: rtos_semaphore_put: 0x20004200; # 40\n");
}

static void test_chart_of_timeout(void **state)
{
    (void)state;
    begin(&narrow);
    put("rtos_queue_block", B, QUEUE, B, 1);     // 0
    put("rtos_switch", B, B, A, 0);              // 10
    put("rtos_isr_enter", TICK_ISR, 0, 0, 0);    // 20
    put("rtos_tick", TICK_ISR, 7, 0, 0);         // 30
    put("rtos_thread_ready", TICK_ISR, B, 0, 0); // 40
    check_chart("e1>e1: waits: 0x20004200; # 0\n"
                "e0>>e1: timeout: 0x20004200; # 40\n");
}

// ---- reports ----

static void check_report(const char *line)
{
    const struct extract_report_options options = {.size = sizeof options};
    struct extract_report_outcome outcome;
    struct extract_view *view;
    struct extract_text text;
    struct look look;

    look_open_memory(&look, ptr_memory(&ptr), PTR_ADDRESS, NULL);
    assert_int_equal(extract_view_new(&view, NULL, look.trace, 0, NULL), EXTRACT_OK);
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_report_events(&text, view, look.trace, &options, &outcome),
                     EXTRACT_OK);
    extract_text_putc(&text, 0);
    assert_non_null(strstr(text.data, line));
    extract_text_free(&text);
    extract_view_free(view);
    look_close(&look);
}

// Numbers in hexadecimal have no blank after 0x, whatever the size of an address.
static void test_hexadecimal(void **state)
{
    const struct ptr_kind wide = {false, true, 8, 64};
    const struct ptr_kind *const kinds[] = {&narrow, &wide};
    (void)state;

    for (unsigned i = 0; i < 2; i++) {
        begin(kinds[i]);
        put("rtos_flags_set", A, QUEUE, 3, 0);
        check_report("set=0x0000000000000003\n");
        begin(kinds[i]);
        put("rtos_memory_allocate", A, 0x20004060, 24, 0);
        check_report("block=0x0000000020004060 bytes=24\n");
    }
}

// ---- names of events ----

static void check_holds(const char *assertion)
{
    struct extract_assertion_result result;
    struct extract_assertions *assertions;
    struct look look;

    look_open_memory(&look, ptr_memory(&ptr), PTR_ADDRESS, NULL);
    assert_int_equal(extract_assertions_new(&assertions, look.trace, NULL, 0, true, NULL),
                     EXTRACT_OK);
    assert_int_equal(extract_assertions_check(assertions, assertion, &result, NULL), EXTRACT_OK);
    assert_int_equal(result.result, EXTRACT_ASSERTION_HOLDS);
    extract_assertions_free(assertions);
    look_close(&look);
}

// Names are those of the events, or as in reports. A user event comes before a name as in reports.
static void test_short_names(void **state)
{
    (void)state;
    begin(&narrow);
    put("rtos_queue_send", A, QUEUE, 1, 0);
    put("rtos_queue_send", A, QUEUE, 2, 0);
    check_holds("count(rtos_queue_send) == 2");
    check_holds("count(queue send) == 2 && count(queue_send) == 2 && count(Queue*) == 2");
    put("queue_send", A, QUEUE, 3, 0);
    check_holds("count(rtos_queue_send) == 2 && count(queue_send) == 1");
}

// A call that failed has an event of its own, and no other one.
static void test_failed_calls(void **state)
{
    (void)state;
    begin(&narrow);
    put("rtos_start", A, A, 0, 0);
    put("rtos_queue_send", A, QUEUE, 1, 0);
    put("rtos_queue_send_failed", A, QUEUE, 0, 0);
    put("rtos_queue_receive", A, QUEUE, 0, 0);
    id_of("rtos_queue_receive_failed");
    check_holds("count(rtos_queue_send failed) == 1 && count(queue_send failed) == 1");
    check_holds("never(rtos_queue_receive failed) && count(queue_* failed) == 1");
}

// ---- a reset ----

// The kernel has no threads. A trace in which start-up code alone has recorded is no earlier one.
// Who ran last is who got the core last, even if the trace ends there.
static void test_reset(void **state)
{
    static const struct {
        bool has_switch;
        uint64_t thread, last;
    } cases[] = {{false, 0, 0}, {false, A, 0}, {true, A, B}, {true, TICK_ISR, B}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct extract_kernel kernel = {.thread_count = 0};
        struct extract_remains remains = {.kernel = &kernel};
        struct extract_crash crash = {.kind = NULL};
        struct look look;
        begin(&narrow);
        put("rtos_semaphore_create", 0, QUEUE, 1, 0);
        if (cases[i].thread)
            put("rtos_semaphore_put", A, QUEUE, 1, 0);
        if (cases[i].has_switch)
            put("rtos_switch", cases[i].thread, A, B, 0);
        look_open_memory(&look, ptr_memory(&ptr), PTR_ADDRESS, NULL);
        struct crash_build build = {.crash = &crash, .remains = &remains, .trace = look.trace};
        crash_read_history(&build);
        const bool is_reset = cases[i].thread;
        assert_int_equal(crash.finding_count, is_reset);
        if (is_reset)
            assert_string_equal(crash.findings[0].kind, "watchdog");
        if (cases[i].has_switch) {
            assert_int_equal(build.ran_last, cases[i].last);
            assert_non_null(strstr(crash.findings[0].text, "the name of the thread that ran last"));
        }
        free(crash.findings);
        look_close(&look);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_known),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_interrupts),
        cmocka_unit_test(test_other_events),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_used_again),
        cmocka_unit_test(test_message),
        cmocka_unit_test(test_mutex),
        cmocka_unit_test(test_inheritance),
        cmocka_unit_test(test_life_of_a_mutex),
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_stream_of_freertos),
        cmocka_unit_test(test_responses_of_streams),
        cmocka_unit_test(test_stream_of_an_interrupt),
        cmocka_unit_test(test_deletion_by_itself),
        cmocka_unit_test(test_wait_without_event),
        cmocka_unit_test(test_idle_by_turns),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_deletion_ends_a_response),
        cmocka_unit_test(test_inversion),
        cmocka_unit_test(test_no_inversion),
        cmocka_unit_test(test_no_schedule),
        cmocka_unit_test(test_chart_of_messages),
        cmocka_unit_test(test_chart_of_semaphore),
        cmocka_unit_test(test_chart_of_timeout),
        cmocka_unit_test(test_hexadecimal),
        cmocka_unit_test(test_short_names),
        cmocka_unit_test(test_failed_calls),
        cmocka_unit_test(test_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
