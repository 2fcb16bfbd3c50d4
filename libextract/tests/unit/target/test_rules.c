// SPDX-License-Identifier: MIT
// unit: the recorder's rules, one by one, on a port that the test plays.
// Standard: IEEE Std 1003.1-2008, 2.11.1 (stream policies), 2.11.2 (system events).
#define RINGSIDE_TRACE_STREAMS     2
#define RINGSIDE_TRACE_WORDS       64
#define RINGSIDE_TRACE_USER_EVENTS 32
#define RINGSIDE_TRACE_PORT        "tests/unit/target/model_port.h"
#include "target/ringside_trace.c"

#include "tests/unit/target/ring_reader.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
// clang-format off
#include <cmocka.h>
// clang-format on

enum {
    WORDS_OF_EVENT = 8, // without data: 64-bit addresses, one timestamp word
    RECORDS = 16
};

static void (*on_access)(void); // runs at each access outside of critical sections

static void model_access(void)
{
    void (*run)(void) = on_access;
    if (run && !model_masked)
        run();
}

static void model_stored(uint32_t *word, uint32_t before)
{
    (void)word, (void)before;
}

static uint8_t *object(void)
{
    return (uint8_t *)&ringside_posix;
}

static struct ring_stream stream(unsigned number)
{
    return ring_stream(object(), number);
}

static void request(unsigned number, uint32_t wanted)
{
    struct ring_stream s = stream(number);
    ring_set(s.block, RING_WANTED, wanted);
    ring_set(s.block, RING_REQUEST, ring_of(s, RING_REQUEST) + 1);
    ring_set(object(), 20, 0xFFFFFFFF);
    ringside_trace_poll();
    assert_int_equal(ring_of(s, RING_DONE), ring_of(s, RING_REQUEST));
}

static void begin_test(int policy)
{
    memset(&ringside_posix, 0, sizeof ringside_posix);
    on_access = NULL;
    model_clock = 100;
    ringside_trace_init();
    ring_set(stream(0).block, RING_WANTED_POLICY, (uint32_t)policy);
    ring_set(stream(0).block, RING_WANTED_MAX, 64);
    request(0, 3);
}

static __attribute__((noinline)) void event(uint32_t number)
{
    model_clock++;
    posix_trace_event(40, &number, sizeof number);
}

static void acknowledge(void)
{
    ring_set(stream(0).block, RING_READ, ring_of(stream(0), RING_HEAD));
}

static int records(struct ring_record *r)
{
    int count = ring_records(stream(0), r, RECORDS);
    assert_true(count >= 0);
    return count;
}

static uint32_t data_word(const struct ring_record *r, unsigned k)
{
    return ring_get(r->data, k * 4);
}

static void test_block(void **state)
{
    (void)state;
    begin_test(POSIX_TRACE_LOOP);
    assert_memory_equal(object(), "PTRC", 4);
    assert_int_equal(ring_get(object(), 4), 1);
    assert_int_equal(ring_get(object(), 8), 128);
    assert_int_equal(ring_get(object(), 12), sizeof ringside_posix);
    assert_int_equal(ring_get(object(), 16), 1);
    assert_int_equal(ring_get(object(), 20), 1);
    assert_int_equal(ring_get(object(), 24), 2);
    assert_int_equal(ring_get(object(), 56), sizeof(void *) | 32 << 8);
    assert_int_equal(ring_get(object(), 60), 1000);
    assert_int_equal(ring_get(object(), 64), 64);
    assert_int_equal(ring_get(object(), 68), 1);
    assert_string_equal((char *)object() + ring_get(object(), 36), "posix_trace_unnamed_userevent");
    assert_memory_equal(stream(1).block, "PTRS", 4);
    assert_int_equal(ring_of(stream(1), 12), stream(1).block - object());
    assert_int_equal(ring_of(stream(1), RING_WORDS), 64);
    ringside_trace_init();
    assert_int_equal(ring_get(object(), 16), 2);
    assert_int_equal(ring_get(object(), 20), 0);
}

static void test_names(void **state)
{
    trace_event_id_t a, b, again;
    char name[40] = "0123456789012345678901234567890";
    (void)state;
    begin_test(POSIX_TRACE_LOOP);
    assert_int_equal(posix_trace_eventid_open("one", &a), 0);
    assert_int_equal(posix_trace_eventid_open(name, &b), 0);
    assert_int_equal(posix_trace_eventid_open("one", &again), 0);
    assert_int_equal(a, 33);
    assert_int_equal(b, 34);
    assert_int_equal(again, a);
    assert_int_equal(posix_trace_eventid_open("on", &again), 0);
    assert_int_equal(again, 35);
    assert_int_equal(posix_trace_eventid_open("posix_trace_unnamed_userevent", &again), 0);
    assert_int_equal(again, 32);
    assert_int_equal(posix_trace_eventid_open("posix_trace_error", &again), 0);
    assert_int_equal(again, POSIX_TRACE_ERROR);
    assert_int_equal(posix_trace_eventid_open("posix_trace_flush_stop", &again), 0);
    assert_int_equal(again, POSIX_TRACE_FLUSH_STOP);
    name[31] = 'x';
    assert_int_equal(posix_trace_eventid_open(name, &b), ENAMETOOLONG);
    for (unsigned k = 4; k < 32; k++) {
        char other[2] = {(char)('A' + k), 0};
        assert_int_equal(posix_trace_eventid_open(other, &b), 0);
        assert_int_equal(b, 32 + k);
    }
    assert_int_equal(posix_trace_eventid_open("too many", &b), 0);
    assert_int_equal(b, POSIX_TRACE_UNNAMED_USEREVENT);
    assert_int_equal(ring_get(object(), 48), 32);
}

// A controller that does not share the memory registers names from the end of the table.
static void test_claimed_names(void **state)
{
    trace_event_id_t id;
    (void)state;
    begin_test(POSIX_TRACE_LOOP);
    strcpy((char *)object() + ring_get(object(), 36) + 31 * 32, "claimed");
    ring_set(object(), 52, 1);
    assert_int_equal(posix_trace_eventid_open("claimed", &id), 0);
    assert_int_equal(id, 63);
    ring_set(object(), 52, 31);
    assert_int_equal(posix_trace_eventid_open("no room", &id), 0);
    assert_int_equal(id, 32);
}

static void test_start_event_stop(void **state)
{
    struct ring_record r[RECORDS];
    (void)state;
    begin_test(POSIX_TRACE_LOOP);
    event(7);
    model_interrupt = 15;
    event(8);
    model_interrupt = 0;
    request(0, 3); // changes nothing
    request(0, 1);
    event(9);
    assert_int_equal(records(r), 4);
    assert_int_equal(r[0].id, POSIX_TRACE_START);
    assert_int_equal(r[0].bytes, 8);
    assert_int_equal(r[1].id, 40);
    assert_int_equal(r[1].bytes, 4);
    assert_int_equal(r[1].stamp, 101);
    assert_int_equal(r[1].thread, 0x7000);
    assert_false(r[1].interrupt);
    assert_int_equal(data_word(&r[1], 0), 7);
    assert_true(r[1].caller - (uintptr_t)event < 200);
    assert_true(r[2].interrupt);
    assert_int_equal(r[2].thread, 15);
    assert_int_equal(r[3].id, POSIX_TRACE_STOP);
    assert_int_equal(data_word(&r[3], 0), 0);
    assert_int_equal(ring_get(object(), 20), 0);
    assert_int_equal(ring_of(stream(0), RING_RECORDED), 4);
}

static void test_ids_that_are_none(void **state)
{
    struct ring_record r[RECORDS];
    (void)state;
    begin_test(POSIX_TRACE_LOOP);
    posix_trace_event(POSIX_TRACE_STOP, NULL, 0);
    posix_trace_event(64, NULL, 0);
    posix_trace_event(UINT32_MAX, NULL, 0);
    posix_trace_event(63, NULL, 0);
    assert_int_equal(records(r), 2);
    assert_int_equal(r[1].id, 63);
    assert_int_equal(r[1].bytes, 0);
}

// Data of every length up to the maximum of a record, and above it.
static void test_data(void **state)
{
    struct ring_record r[RECORDS];
    uint8_t data[100];
    (void)state;
    for (unsigned k = 0; k < sizeof data; k++)
        data[k] = (uint8_t)(k + 1);
    for (unsigned length = 0; length < sizeof data - 1; length++) {
        begin_test(POSIX_TRACE_LOOP);
        posix_trace_event(40, data + 1, length);
        int count = records(r);
        assert_int_equal(r[count - 1].bytes, length > 64 ? 64 : length);
        assert_int_equal(r[count - 1].cut, length > 64);
        assert_memory_equal(r[count - 1].data, data + 1, r[count - 1].bytes);
    }
}

static void test_max_data(void **state)
{
    struct ring_record r[RECORDS];
    uint8_t data[100] = {1};
    (void)state;
    begin_test(POSIX_TRACE_LOOP);
    request(0, 0);
    ring_set(stream(0).block, RING_WANTED_MAX, 0);
    request(0, 3);
    posix_trace_event(40, data, 1);
    assert_int_equal(records(r), 2);
    assert_int_equal(r[1].bytes, 0);
    assert_true(r[1].cut);
    request(0, 0);
    ring_set(stream(0).block, RING_WANTED_MAX, 0xFFFFFFFF);
    request(0, 3);
    assert_int_equal(ring_of(stream(0), RING_MAX_DATA), 64);
}

// START takes 10 of 64 words and an event takes 9: the seventh event overwrites START.
static void test_loop(void **state)
{
    struct ring_record r[RECORDS];
    (void)state;
    begin_test(POSIX_TRACE_LOOP);
    for (uint32_t k = 0; k < 6; k++)
        event(k);
    assert_int_equal(records(r), 7);
    assert_int_equal(ring_of(stream(0), RING_OVERWRITTEN), 0);
    event(6);
    assert_int_equal(ring_of(stream(0), RING_OVERWRITTEN), 1);
    assert_int_equal(ring_of(stream(0), RING_EPISODES), 1);
    assert_int_equal(ring_of(stream(0), RING_LOST_STAMP), 100);
    event(7);
    event(8);
    assert_int_equal(ring_of(stream(0), RING_OVERWRITTEN), 3);
    assert_int_equal(ring_of(stream(0), RING_EPISODES), 1);
    assert_int_equal(ring_of(stream(0), RING_LOST_STAMP), 100); // still that of the first loss
    assert_int_equal(records(r), 7);
    for (uint32_t k = 0; k < 7; k++)
        assert_int_equal(data_word(&r[k], 0), 2 + k);
    // A reader acknowledges three records. Overwriting these is not a loss; the next one begins a
    // new episode.
    ring_set(stream(0).block, RING_READ, r[3].position);
    for (uint32_t k = 9; k < 12; k++)
        event(k);
    assert_int_equal(ring_of(stream(0), RING_OVERWRITTEN), 3);
    event(12);
    assert_int_equal(ring_of(stream(0), RING_OVERWRITTEN), 4);
    assert_int_equal(ring_of(stream(0), RING_EPISODES), 2);
    assert_int_equal(ring_of(stream(0), RING_LOST_STAMP), 106); // the timestamp of event 5
    assert_int_equal(ring_of(stream(0), RING_STATE), 3);
    assert_int_equal(ring_of(stream(0), RING_REFUSED), 0);
}

// Records have many lengths. After START, as many of the oldest are overwritten as a new record
// needs.
static void test_loop_of_many_lengths(void **state)
{
    uint32_t length_of[1000], oldest = 0, used = 10, position = 0;
    struct ring_record r[RECORDS];
    uint8_t data[64] = {0};
    (void)state;
    begin_test(POSIX_TRACE_LOOP);
    length_of[0] = used;
    for (uint32_t k = 1; k < 1000; k++) {
        uint32_t bytes = k * k % 65;
        length_of[k] = WORDS_OF_EVENT + (bytes + 3) / 4;
        for (used += length_of[k]; used > 64; used -= length_of[oldest++])
            position += length_of[oldest];
        data[0] = (uint8_t)k;
        posix_trace_event(40, data, bytes);
        assert_int_equal(ring_of(stream(0), RING_TAIL), position);
        assert_int_equal(ring_of(stream(0), RING_HEAD), position + used);
        assert_int_equal(ring_of(stream(0), RING_OVERWRITTEN), oldest);
        int count = records(r);
        assert_int_equal(count, k + 1 - oldest);
        assert_int_equal(r[count - 1].bytes, bytes);
        assert_true(!bytes || r[count - 1].data[0] == (uint8_t)k);
    }
    assert_int_equal(ring_of(stream(0), RING_EPISODES), 1);
}

// START takes 10 words and STOP needs 9: five events fit, and the sixth stops the stream.
static void until_full(int policy)
{
    struct ring_record r[RECORDS];
    begin_test(policy);
    for (uint32_t k = 0; k < 8; k++)
        event(k);
    assert_int_equal(records(r), 7);
    assert_int_equal(data_word(&r[5], 0), 4);
    assert_int_equal(r[6].id, POSIX_TRACE_STOP);
    assert_int_equal(data_word(&r[6], 0), 1);
    assert_int_equal(ring_of(stream(0), RING_STATE), 5);
    assert_int_equal(ring_of(stream(0), RING_REFUSED), 3);
    assert_int_equal(ring_of(stream(0), RING_EPISODES), 1);
    assert_int_equal(ring_of(stream(0), RING_LOST_STAMP), 106);
    request(0, 1); // changes nothing: the stream is full
    request(0, 3);
    assert_int_equal(ring_of(stream(0), RING_STATE), 5);
    ring_set(stream(0).block, RING_READ, r[6].position); // not all of it is read yet
    event(8);
    assert_int_equal(ring_of(stream(0), RING_REFUSED), 4);
    assert_int_equal(ring_of(stream(0), RING_EPISODES), 2);
    uint32_t end = ring_of(stream(0), RING_HEAD);
    acknowledge();
    event(9);
    assert_int_equal(ring_of(stream(0), RING_STATE), 3);
    int count = records(r), k = 0;
    while (k < count && r[k].position != end)
        k++;
    assert_int_equal(count - k, 2);
    assert_int_equal(r[k].id, POSIX_TRACE_START);
    assert_int_equal(data_word(&r[k + 1], 0), 9);
    assert_int_equal(ring_of(stream(0), RING_REFUSED), 4);
}

static void test_until_full(void **state)
{
    (void)state;
    until_full(POSIX_TRACE_UNTIL_FULL);
}

static void test_flush(void **state)
{
    (void)state;
    until_full(POSIX_TRACE_FLUSH);
}

// If a full stream was read, a stop makes it an ordinary stopped stream.
static void test_stop_of_a_read_stream(void **state)
{
    struct ring_record r[RECORDS];
    (void)state;
    begin_test(POSIX_TRACE_UNTIL_FULL);
    for (uint32_t k = 0; k < 8; k++)
        event(k);
    acknowledge();
    int before = records(r);
    request(0, 1);
    event(9);
    assert_int_equal(ring_of(stream(0), RING_STATE), 1);
    assert_int_equal(records(r), before);
    assert_int_equal(ring_of(stream(0), RING_REFUSED), 3);
    request(0, 3);
    assert_int_equal(ring_of(stream(0), RING_STATE), 3);
}

static void want_filter(uint32_t low, uint32_t high)
{
    struct ring_stream s = stream(0);
    ring_set(s.block, RING_FILTER + 8, low);
    ring_set(s.block, RING_FILTER + 12, high);
}

// The ring has no space for a STOP, and the filter excludes START. So the stream runs while 5
// events and two STOP records that nobody has read use 63 of its 64 words. These records stay.
static void test_stop_without_room(void **state)
{
    struct ring_record r[RECORDS];
    (void)state;
    begin_test(POSIX_TRACE_UNTIL_FULL);
    request(0, 0);
    want_filter(1 << POSIX_TRACE_START, 0);
    request(0, 3);
    for (uint32_t k = 0; k < 5; k++)
        event(k);
    request(0, 1);
    request(0, 3);
    request(0, 1);
    request(0, 3);
    assert_int_equal(ring_of(stream(0), RING_REFUSED), 0);
    request(0, 1);
    request(0, 3);
    assert_int_equal(ring_of(stream(0), RING_REFUSED), 1);
    uint32_t tail = ring_of(stream(0), RING_TAIL);
    event(5);
    event(6);
    assert_int_equal(ring_of(stream(0), RING_TAIL), tail);
    assert_int_equal(ring_of(stream(0), RING_OVERWRITTEN), 0);
    assert_int_equal(ring_of(stream(0), RING_REFUSED), 3);
    assert_int_equal(ring_of(stream(0), RING_STATE), 5);
    assert_int_equal(records(r), 7);
    assert_int_equal(data_word(&r[0], 0), 0);
    assert_int_equal(r[6].id, POSIX_TRACE_STOP);
}

// Space for a STOP record is also reserved for a stop by request. Then START has no space.
static void test_stop_near_the_end(void **state)
{
    struct ring_record r[RECORDS];
    (void)state;
    begin_test(POSIX_TRACE_UNTIL_FULL);
    for (uint32_t k = 0; k < 5; k++)
        event(k);
    request(0, 1);
    assert_int_equal(records(r), 7);
    assert_int_equal(r[6].id, POSIX_TRACE_STOP);
    assert_int_equal(data_word(&r[6], 0), 0);
    request(0, 3);
    assert_int_equal(ring_of(stream(0), RING_STATE), 5);
    assert_int_equal(ring_of(stream(0), RING_REFUSED), 1);
    acknowledge();
    event(5);
    assert_int_equal(ring_of(stream(0), RING_STATE), 3);
}

static void test_filter(void **state)
{
    struct ring_record r[RECORDS];
    (void)state;
    begin_test(POSIX_TRACE_LOOP);
    want_filter(0, 1 << 8);
    event(1);
    request(0, 3);
    event(2);
    request(0, 3); // the filter is unchanged
    want_filter(4, 0);
    request(0, 3);
    event(3);
    assert_int_equal(records(r), 5);
    assert_int_equal(data_word(&r[1], 0), 1);
    assert_int_equal(r[2].id, POSIX_TRACE_FILTER);
    const uint32_t first[4] = {0, 0, 0, 1 << 8}, second[4] = {0, 1 << 8, 4, 0};
    assert_int_equal(r[2].bytes, 16);
    assert_memory_equal(r[2].data, first, 16);
    assert_int_equal(r[3].id, POSIX_TRACE_FILTER);
    assert_memory_equal(r[3].data, second, 16);
    assert_int_equal(data_word(&r[4], 0), 3);
    assert_int_equal(ring_of(stream(0), RING_REFUSED), 0);
}

// A change of the filter is not recorded while the stream is stopped; the next START reports it. So
// does the first START.
static void test_filter_before_start(void **state)
{
    struct ring_record r[RECORDS];
    (void)state;
    begin_test(POSIX_TRACE_LOOP);
    request(0, 1);
    want_filter(0, 0x80);
    request(0, 3);
    const uint32_t filter[2] = {0, 0x80};
    assert_int_equal(records(r), 3);
    assert_int_equal(r[2].id, POSIX_TRACE_START);
    assert_memory_equal(r[2].data, filter, 8);
}

static void test_filtered_is_not_refused(void **state)
{
    (void)state;
    begin_test(POSIX_TRACE_UNTIL_FULL);
    for (uint32_t k = 0; k < 8; k++)
        event(k);
    want_filter(0, 1 << 8);
    request(0, 3);
    event(8);
    assert_int_equal(ring_of(stream(0), RING_REFUSED), 3);
}

static void clear(void)
{
    ring_set(stream(0).block, RING_WANTED_CLEARS, ring_of(stream(0), RING_WANTED_CLEARS) + 1);
    request(0, 3);
}

static void test_clear(void **state)
{
    struct ring_record r[RECORDS];
    (void)state;
    begin_test(POSIX_TRACE_LOOP);
    for (uint32_t k = 0; k < 9; k++)
        event(k);
    uint32_t generation = ring_of(stream(0), RING_GENERATION);
    clear();
    assert_int_equal(records(r), 0);
    assert_int_equal(ring_of(stream(0), RING_GENERATION), generation + 1);
    assert_int_equal(ring_of(stream(0), RING_RECORDED), 0);
    assert_int_equal(ring_of(stream(0), RING_OVERWRITTEN), 0);
    assert_int_equal(ring_of(stream(0), RING_EPISODES), 0);
    assert_int_equal(ring_of(stream(0), RING_STATE), 3);
    event(9);
    assert_int_equal(records(r), 1);
    assert_int_equal(data_word(&r[0], 0), 9);
}

static void test_clear_of_a_full_stream(void **state)
{
    struct ring_record r[RECORDS];
    (void)state;
    begin_test(POSIX_TRACE_UNTIL_FULL);
    for (uint32_t k = 0; k < 9; k++)
        event(k);
    clear();
    assert_int_equal(ring_of(stream(0), RING_STATE), 3);
    event(9);
    assert_int_equal(records(r), 2);
    assert_int_equal(r[0].id, POSIX_TRACE_START);
    assert_int_equal(data_word(&r[1], 0), 9);
}

// Each of two streams has its own policy, filter and counts.
static void test_two_streams(void **state)
{
    struct ring_record r[RECORDS];
    (void)state;
    begin_test(POSIX_TRACE_UNTIL_FULL);
    ring_set(stream(1).block, RING_WANTED_POLICY, POSIX_TRACE_LOOP);
    ring_set(stream(1).block, RING_WANTED_MAX, 2);
    request(1, 3);
    assert_int_equal(ring_get(object(), 20), 3);
    for (uint32_t k = 0; k < 8; k++)
        event(k);
    assert_int_equal(ring_of(stream(0), RING_STATE), 5);
    assert_int_equal(ring_of(stream(1), RING_STATE), 3);
    assert_int_equal(ring_records(stream(1), r, RECORDS), 7);
    assert_int_equal(r[6].bytes, 2);
    assert_true(r[6].cut);
    request(0, 0);
    assert_int_equal(ring_get(object(), 20), 2);
    assert_int_equal(ring_of(stream(0), RING_STATE), 0);
    request(1, 1);
    assert_int_equal(ring_get(object(), 20), 0);
}

static void interrupt_fills(void)
{
    on_access = NULL;
    if (ring_get(object(), 20)) {
        model_interrupt = 3;
        for (uint32_t k = 100; k < 120; k++)
            event(k);
        model_interrupt = 0;
    }
}

// An interrupt in the middle of a thread's record laps the ring. It stops at the open record.
static void test_open_is_not_overwritten(void **state)
{
    struct ring_record r[RECORDS];
    static const uint32_t mine[2] = {0x11111111, 0x22222222};
    (void)state;
    begin_test(POSIX_TRACE_LOOP);
    on_access = interrupt_fills;
    model_clock++;
    record(&ringside_posix, 0, 41, (const uint8_t *)mine, sizeof mine, 0);
    assert_true(ring_of(stream(0), RING_REFUSED) > 10);
    int count = records(r), at = 0;
    while (at < count && r[at].id != 41)
        at++;
    assert_int_equal(at, 0);
    assert_false(r[0].open);
    assert_memory_equal(r[0].data, mine, sizeof mine);
    assert_int_equal(ring_of(stream(0), RING_REFUSED) + (uint32_t)count - 1, 20);
}

static bool waited;

static void interrupt_clears(void)
{
    on_access = NULL;
    struct ring_stream s = stream(0);
    ring_set(s.block, RING_WANTED_CLEARS, ring_of(s, RING_WANTED_CLEARS) + 1);
    ring_set(s.block, RING_REQUEST, ring_of(s, RING_REQUEST) + 1);
    ring_set(object(), 20, 0xFFFFFFFF);
    ringside_trace_poll();
    waited =
        ring_of(s, RING_DONE) != ring_of(s, RING_REQUEST) && ring_get(object(), 20) == 0xFFFFFFFF;
}

// Clearing waits until the open record is done, and happens at the next trace point.
static void test_clear_waits(void **state)
{
    struct ring_record r[RECORDS];
    static const uint32_t mine[2] = {1, 2};
    (void)state;
    begin_test(POSIX_TRACE_LOOP);
    on_access = interrupt_clears;
    record(&ringside_posix, 0, 41, (const uint8_t *)mine, sizeof mine, 0);
    assert_true(waited);
    event(5);
    assert_int_equal(records(r), 1);
    assert_int_equal(data_word(&r[0], 0), 5);
    assert_int_equal(ring_get(object(), 20), 1);
}

// The recorder skips memory that something else has overwritten, and does not follow it.
static void test_damage(void **state)
{
    (void)state;
    srand(1);
    for (unsigned round = 0; round < 2000; round++) {
        begin_test((int)(round % 3 + 1));
        for (uint32_t k = 0; k < 9; k++)
            event(k);
        for (unsigned k = 0; k < 4; k++)
            ringside_posix.rings[0][rand() % 64] = (uint32_t)rand();
        acknowledge();
        for (uint32_t k = 0; k < 40; k++)
            event(k);
        assert_true(ring_of(stream(0), RING_HEAD) - ring_of(stream(0), RING_TAIL) <= 64);
    }
}

// If the oldest record is damaged when it is to be overwritten, all records of the ring are
// dropped.
static void test_damage_in_a_loop(void **state)
{
    // Changes of its first word: neither open nor done; lengths 0, 4 and too long; another
    // position.
    const uint32_t damage[] = {0x80000000, 0x00090000, 0x000D0000, 0x0F000000, 0x00000100};
    struct ring_record r[RECORDS];
    (void)state;
    for (unsigned k = 0; k < sizeof damage / sizeof damage[0]; k++) {
        begin_test(POSIX_TRACE_LOOP);
        for (uint32_t number = 0; number < 20; number++)
            event(number);
        uint32_t oldest = ring_of(stream(0), RING_TAIL), head = ring_of(stream(0), RING_HEAD);
        uint32_t first = ring_word(stream(0), oldest), lost = ring_of(stream(0), RING_OVERWRITTEN);
        assert_int_equal(first, 0x80000000 | 9 << 16 | (oldest & 0xFFFF));
        ringside_posix.rings[0][oldest % 64] = first ^ damage[k];
        event(20);
        assert_int_equal(ring_of(stream(0), RING_TAIL), head);
        assert_int_equal(ring_of(stream(0), RING_OVERWRITTEN), lost);
        assert_int_equal(records(r), 1);
        assert_int_equal(data_word(&r[0], 0), 20);
    }
}

static void test_without_controller(void **state)
{
    struct ring_record r[RECORDS];
    (void)state;
    memset(&ringside_posix, 0, sizeof ringside_posix);
    event(1); // records nothing: the block does not exist yet
    ringside_trace_init();
    ringside_trace_start(POSIX_TRACE_LOOP);
    event(2);
    ringside_trace_stop();
    event(3);
    assert_int_equal(records(r), 3);
    assert_int_equal(data_word(&r[1], 0), 2);
    assert_int_equal(ring_of(stream(0), RING_CONTROLLER), 0);
}

// Positions are near 2^32: the counters wrap.
static void test_positions_wrap(void **state)
{
    struct ring_record r[RECORDS];
    (void)state;
    begin_test(POSIX_TRACE_LOOP);
    request(0, 0);
    ring_set(stream(0).block, RING_HEAD, 0xFFFFFFF0);
    ring_set(stream(0).block, RING_TAIL, 0xFFFFFFF0);
    ring_set(stream(0).block, RING_READ, 0xFFFFFFF0);
    request(0, 3);
    for (uint32_t k = 0; k < 8; k++)
        event(k);
    assert_int_equal(records(r), 7);
    assert_int_equal(data_word(&r[6], 0), 7);
    assert_int_equal(ring_of(stream(0), RING_OVERWRITTEN), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_claimed_names),
        cmocka_unit_test(test_start_event_stop),
        cmocka_unit_test(test_ids_that_are_none),
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_max_data),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_loop_of_many_lengths),
        cmocka_unit_test(test_until_full),
        cmocka_unit_test(test_flush),
        cmocka_unit_test(test_stop_of_a_read_stream),
        cmocka_unit_test(test_stop_without_room),
        cmocka_unit_test(test_stop_near_the_end),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_filter_before_start),
        cmocka_unit_test(test_filtered_is_not_refused),
        cmocka_unit_test(test_clear),
        cmocka_unit_test(test_clear_of_a_full_stream),
        cmocka_unit_test(test_two_streams),
        cmocka_unit_test(test_open_is_not_overwritten),
        cmocka_unit_test(test_clear_waits),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_damage_in_a_loop),
        cmocka_unit_test(test_without_controller),
        cmocka_unit_test(test_positions_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
