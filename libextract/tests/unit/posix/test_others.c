// SPDX-License-Identifier: MIT
// Another controller makes requests of the same streams, as `ringside stop --pid` does. Truth:
// docs/formats/posix-ring.md, "Asking a target": the requests of the other one remain in force.
#include "tests/unit/posix/image.h"
#include "tests/unit/posix/streams.h"
#include "tests/unit/posix_log/logging.h"
#include <time.h>

enum {
    USER = 32,
    OTHER = 33,
    BOUND = 1,
    RUNNING = 2,
    AT_STREAMS = 32, // offsets in the process block
    AT_IDS = 64,
    PID = 80
};

// ---- the other controller of this program's stream, which is the first ----

static struct extract_memory *shared;

static uint32_t word_at(uint32_t offset)
{
    uint32_t word;
    size_t got;
    assert_int_equal(extract_memory_read(shared, offset, &word, sizeof word, &got, NULL),
                     EXTRACT_OK);
    return word;
}

static void put_at(uint32_t offset, uint32_t word)
{
    assert_int_equal(extract_memory_write(shared, offset, &word, sizeof word, NULL), EXTRACT_OK);
}

// Changes a wanted word, and has it carried out.
static void ask(uint32_t at, uint32_t word)
{
    uint32_t block = word_at(AT_STREAMS);
    put_at(block + at, word);
    put_at(block + IMAGE_REQUEST, word_at(block + IMAGE_REQUEST) + 1);
    put_at(IMAGE_ACTIVE, UINT32_MAX);
    for (unsigned i = 0; word_at(block + IMAGE_REQUEST_DONE) != word_at(block + IMAGE_REQUEST); i++)
        assert_true(i < 1000000);
}

static void ask_clear(void)
{
    uint32_t block = word_at(AT_STREAMS);
    ask(IMAGE_WANTED_CLEARS, word_at(block + IMAGE_WANTED_CLEARS) + 1);
}

static void ask_filter(trace_event_id_t id)
{
    uint32_t at = IMAGE_FILTER + word_at(AT_IDS) / 8 + id / 32 * 4;
    ask(at, word_at(word_at(AT_STREAMS) + at) | 1U << id % 32);
}

static void begin(trace_id_t trid)
{
    assert_int_equal(extract_memory_open_process(&shared, (uint64_t)getpid(), NULL), EXTRACT_OK);
    assert_int_equal(posix_trace_start(trid), 0);
}

static trace_id_t create_shared(const trace_attr_t *attr)
{
    trace_id_t trid = create(attr);
    begin(trid);
    expect(trid, POSIX_TRACE_START);
    return trid;
}

static void end_shared(trace_id_t trid)
{
    end(trid);
    extract_memory_close(shared);
}

static bool is_filtered(trace_id_t trid, trace_event_id_t id)
{
    trace_event_set_t set;
    int member;
    assert_int_equal(posix_trace_get_filter(trid, &set), 0);
    assert_int_equal(posix_trace_eventset_ismember(id, &set, &member), 0);
    return member;
}

static void set_filter(trace_id_t trid, trace_event_id_t id, int how)
{
    trace_event_set_t set;
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(id, &set);
    assert_int_equal(posix_trace_set_filter(trid, &set, how), 0);
}

// ---- programs ----

static void test_d5_cleared(void **state)
{
    (void)state;
    trace_id_t trid = create_shared(NULL);
    for (uint32_t i = 0; i < 3; i++) {
        event_numbers(USER, 0, 5);
        ask_clear();
        event_numbers(USER, 10 * i, 10 * i + 2);
        struct got first = expect(trid, USER), second = expect(trid, USER);
        assert_int_equal(number_in(&first), 10 * i);
        assert_int_equal(number_in(&second), 10 * i + 1);
        expect_none(trid);
    }
    event_numbers(USER, 0, 5);
    assert_int_equal(posix_trace_clear(trid), 0);
    expect_none(trid);
    event_numbers(USER, 7, 8);
    struct got got = expect(trid, USER);
    assert_int_equal(number_in(&got), 7);
    expect_none(trid);
    end_shared(trid);
}

// What is recorded after a clear is in the log, including what the end of the stream flushes.
static void check_cleared_log(int policy)
{
    int fd = new_file();
    trace_attr_t attr = log_attributes(policy, POSIX_TRACE_APPEND, 1 << 20, 1);
    trace_id_t trid = create_log(fd, &attr);
    begin(trid);
    event_numbers(USER, 1000, 1010);
    ask_clear();
    event_numbers(USER, 0, 100);
    end_shared(trid);
    trid = open_log(fd);
    uint32_t count = 0;
    for (struct got got = next(trid); !got.unavailable; got = next(trid))
        if (got.info.posix_event_id == USER && number_in(&got) < 1000)
            assert_int_equal(number_in(&got), count++);
    assert_int_equal(count, 100);
    assert_int_equal(posix_trace_close(trid), 0);
    close(fd);
}

static void test_h17_cleared_log(void **state)
{
    (void)state;
    check_cleared_log(POSIX_TRACE_LOOP);
    check_cleared_log(POSIX_TRACE_FLUSH);
}

static void test_g3_filtered(void **state)
{
    (void)state;
    trace_id_t trid = create_shared(NULL);
    ask_filter(OTHER);
    assert_true(is_filtered(trid, OTHER));
    expect(trid, POSIX_TRACE_FILTER);
    set_filter(trid, USER, POSIX_TRACE_ADD_EVENTSET);
    expect(trid, POSIX_TRACE_FILTER);
    assert_true(is_filtered(trid, OTHER) && is_filtered(trid, USER));
    posix_trace_event(OTHER, NULL, 0);
    posix_trace_event(USER, NULL, 0);
    expect_none(trid);
    set_filter(trid, USER, POSIX_TRACE_SUB_EVENTSET);
    expect(trid, POSIX_TRACE_FILTER);
    posix_trace_event(OTHER, NULL, 0);
    posix_trace_event(USER, NULL, 0);
    expect(trid, USER);
    expect_none(trid);
    end_shared(trid);
}

// One who read the number of the last request before we made two gives his own a lower one. The
// stream is still ours.
static void test_crossed(void **state)
{
    (void)state;
    trace_id_t trid = create_shared(NULL);
    uint32_t at = word_at(AT_STREAMS) + IMAGE_REQUEST, request = word_at(at);
    assert_int_equal(posix_trace_stop(trid), 0);
    assert_int_equal(posix_trace_start(trid), 0);
    assert_true(word_at(at) > request + 1);
    put_at(at, request + 1);
    put_at(IMAGE_ACTIVE, UINT32_MAX);
    posix_trace_event(USER, NULL, 0);
    expect(trid, POSIX_TRACE_STOP);
    expect(trid, POSIX_TRACE_START);
    expect(trid, USER);
    expect_none(trid);
    end_shared(trid);
}

// A change of the filter starts nothing that another has stopped, and a clearing neither.
static void test_stopped(void **state)
{
    (void)state;
    trace_id_t trid = create_shared(NULL);
    ask(IMAGE_WANTED, BOUND);
    expect(trid, POSIX_TRACE_STOP);
    set_filter(trid, OTHER, POSIX_TRACE_ADD_EVENTSET);
    assert_int_equal(posix_trace_clear(trid), 0);
    posix_trace_event(USER, NULL, 0);
    expect_none(trid);
    expect_status(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    ask(IMAGE_WANTED, BOUND | RUNNING);
    expect(trid, POSIX_TRACE_START);
    posix_trace_event(USER, NULL, 0);
    expect(trid, USER);
    assert_int_equal(posix_trace_stop(trid), 0);
    expect(trid, POSIX_TRACE_STOP);
    end_shared(trid);
}

// A stream that loops reports its losses as the current filter states, whoever has set it.
static void test_g4_unheard_overflow(void **state)
{
    const trace_attr_t attr = attributes(POSIX_TRACE_LOOP, 500, 64);
    (void)state;
    trace_id_t trid = create_shared(&attr);
    ask_filter(POSIX_TRACE_OVERFLOW);
    event_numbers(USER, 0, 100);
    expect(trid, POSIX_TRACE_RESUME);
    expect(trid, USER);
    end_shared(trid);
}

// The log does not contain the events of its own flushing either.
static void test_h13_unheard_flush(void **state)
{
    int fd = new_file();
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 1000, 1);
    (void)state;
    trace_id_t trid = create_log(fd, &attr);
    begin(trid);
    ask_filter(POSIX_TRACE_FLUSH_START);
    event_numbers(USER, 0, 1);
    assert_int_equal(posix_trace_flush(trid), 0);
    end_shared(trid);
    trid = open_log(fd);
    unsigned stops = 0;
    for (struct got got = next(trid); !got.unavailable; got = next(trid)) {
        assert_int_not_equal(got.info.posix_event_id, POSIX_TRACE_FLUSH_START);
        stops += got.info.posix_event_id == POSIX_TRACE_FLUSH_STOP;
    }
    assert_true(stops > 0);
    assert_int_equal(posix_trace_close(trid), 0);
    close(fd);
}

// ---- a board, of either byte order; it carries out requests when it checks for them ----

static void check_board(bool big)
{
    static struct image image;
    trace_id_t trid;
    image = (struct image){.big = big, .hz = 1000};
    image_make(&image);
    assert_int_equal(extract_posix_attach(PID, image.memory, NULL, IMAGE_ADDRESS, NULL),
                     EXTRACT_OK);
    assert_int_equal(posix_trace_create(PID, NULL, &trid), 0);
    assert_int_equal(posix_trace_start(trid), 0);
    image_serve(&image);
    expect(trid, POSIX_TRACE_START);
    image_set(&image, 0, IMAGE_WANTED, BOUND);
    image_set(&image, 0, IMAGE_WANTED_FILTER + 4, 2);
    image_set(&image, 0, IMAGE_REQUEST, image_word(&image, 0, IMAGE_REQUEST) + 1);
    image_put(&image, IMAGE_ACTIVE, UINT32_MAX);
    assert_true(is_filtered(trid, OTHER)); // what is asked for, before it is done
    expect_status(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    set_filter(trid, USER, POSIX_TRACE_ADD_EVENTSET);
    image_serve(&image);
    assert_int_equal(image_word(&image, 0, IMAGE_STATE), BOUND);
    assert_int_equal(image_word(&image, 0, IMAGE_FILTER + 4), 3);
    assert_int_equal(extract_posix_detach(PID, NULL), EXTRACT_OK);
    image_close(&image);
}

static void test_board(void **state)
{
    (void)state;
    check_board(false);
    check_board(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_d5_cleared),        cmocka_unit_test(test_h17_cleared_log),
        cmocka_unit_test(test_g3_filtered),       cmocka_unit_test(test_crossed),
        cmocka_unit_test(test_stopped),           cmocka_unit_test(test_g4_unheard_overflow),
        cmocka_unit_test(test_h13_unheard_flush), cmocka_unit_test(test_board),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
