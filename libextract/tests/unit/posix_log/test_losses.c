// SPDX-License-Identifier: MIT
// Losses of streams that loop and are flushed too slowly: the log reports them in their places, and
// their numbers are those of the missing events. Truth: the events number themselves.
#include "formats/posix/posix.h"
#include "tests/unit/posix_log/disk.h"
#include "tests/unit/posix_log/logging.h"
#include <extract/log.h>
#include <pthread.h>

// What a log reports, and what its numbers show.
struct sums {
    struct posix_layout layout;
    uint32_t next; // number that is due
    bool started;  // START was seen
    uint64_t had, lost, missing;
    uint64_t least; // missing at least, by losses since the last event; exactly if not `unknown`
    bool unknown, told;
    unsigned exact_places, places; // gaps with an exact number; gaps
};

static void take_gap(struct sums *s, uint32_t number)
{
    uint64_t missing = number - s->next + !s->started;
    s->started = true;
    s->missing += missing;
    s->next = number + 1;
    if (!s->told) {
        assert_int_equal(missing, 0);
        return;
    }
    assert_true(missing > 0);
    assert_true(s->unknown ? s->least <= missing : s->least == missing);
    s->places++;
    s->exact_places += !s->unknown;
    s->unknown = s->told = false;
    s->least = 0;
}

static void take_records(struct sums *s, const uint8_t *bytes, uint32_t length)
{
    struct posix_record record;
    for (uint32_t at = 0; at < length; at += record.words * 4) {
        struct extract_cursor c = extract_cursor_make(bytes + at, 4, s->layout.order);
        uint32_t position = extract_cursor_u32(&c) & 0xFFFF, number;
        assert_true(posix_record_read(&record, bytes + at, length - at, &s->layout, position));
        s->had += record.id == POSIX_ID_START || record.id >= POSIX_USER;
        s->started |= record.id == POSIX_ID_START;
        if (record.id < POSIX_USER)
            continue;
        memcpy(&number, bytes + at + record.data_at, sizeof number);
        take_gap(s, number);
    }
}

static void take_block(struct sums *s, struct extract_log *log,
                       const struct extract_log_block *block)
{
    uint8_t payload[65536];
    struct extract_ring ring;
    struct posix_stream stream;
    assert_true(block->length <= sizeof payload);
    assert_int_equal(extract_log_read(log, block, payload, NULL), EXTRACT_OK);
    switch (block->type) {
    case EXTRACT_LOG_RING:
        assert_int_equal(extract_log_ring(&ring, payload, block->length, NULL), EXTRACT_OK);
        assert_true(posix_stream_read(&stream, ring.header, sizeof ring.header));
        s->layout = stream.layout;
        break;
    case EXTRACT_LOG_LOSS:
        assert_int_equal(block->kind, EXTRACT_LOSS_LAPPED);
        s->told = true;
        s->unknown |= !(block->flags & EXTRACT_LOG_LOSS_EXACT);
        s->least += block->lost;
        s->lost += block->lost;
        break;
    case EXTRACT_LOG_BYTES:
        take_records(s, payload, block->length);
        break;
    default:
        break;
    }
}

// Closes the trace and reads its log.
static struct sums sum_up(trace_id_t trid, int fd)
{
    struct sums s = {0};
    struct extract_log *log;
    struct extract_log_block block;
    assert_int_equal(posix_trace_shutdown(trid), 0);
    assert_int_equal(extract_log_open_fd(&log, fd, NULL), EXTRACT_OK);
    for (size_t i = 0; extract_log_block_at(log, i, &block); i++)
        take_block(&s, log, &block);
    extract_log_free(log);
    close(fd);
    return s;
}

static trace_id_t start_log(int fd, size_t stream_size, trace_event_id_t *id)
{
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, stream_size, 0);
    trace_id_t trid = create_log(fd, &attr);
    assert_int_equal(posix_trace_eventid_open("number", id), 0);
    assert_int_equal(posix_trace_start(trid), 0);
    return trid;
}

// Every gap of a stream that is stopped while it is flushed has its exact number.
static void test_h70_each_gap_is_exact(void **state)
{
    enum { ROUNDS = 20, EVENTS = 5000 };
    (void)state;
    trace_event_id_t id;
    int fd = new_file();
    trace_id_t trid = start_log(fd, 20000, &id);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        event_numbers(id, i * EVENTS, (i + 1) * EVENTS);
        assert_int_equal(posix_trace_flush(trid), 0);
    }
    struct sums s = sum_up(trid, fd);
    assert_int_equal(s.places, ROUNDS);
    assert_int_equal(s.exact_places, ROUNDS);
    assert_int_equal(s.lost, s.missing);
    assert_int_equal(s.had + s.lost, ROUNDS * EVENTS + 1); // START
}

// What is flushed before it is overwritten is no loss, however often the ring wraps.
static void test_h71_none_is_lost(void **state)
{
    (void)state;
    trace_event_id_t id;
    int fd = new_file();
    trace_id_t trid = start_log(fd, 20000, &id);
    for (uint32_t i = 0; i < 300; i++) {
        event_numbers(id, i * 100, (i + 1) * 100);
        assert_int_equal(posix_trace_flush(trid), 0);
    }
    struct sums s = sum_up(trid, fd);
    assert_int_equal(s.places, 0);
    assert_int_equal(s.had, 30000 + 1);
}

struct writer {
    trace_event_id_t id;
    uint32_t end;
    _Atomic bool done;
};

static void *write_numbers(void *context)
{
    struct writer *w = context;
    event_numbers(w->id, 0, w->end);
    w->done = true;
    return NULL;
}

// A writer that does not wait: numbers may not be known, but none is wrong.
static void test_h72_a_writer_that_goes_on(void **state)
{
    (void)state;
    struct writer w = {.end = 400000};
    pthread_t thread;
    int fd = new_file();
    trace_id_t trid = start_log(fd, 30000, &w.id);
    assert_int_equal(pthread_create(&thread, NULL, write_numbers, &w), 0);
    while (!w.done)
        assert_int_equal(posix_trace_flush(trid), 0);
    pthread_join(thread, NULL);
    struct sums s = sum_up(trid, fd);
    s.missing += w.end - s.next; // those that no event follows
    assert_true(s.lost <= s.missing);
    assert_int_equal(s.had + s.missing, w.end + 1);
}

// The writer continues at any moment while a flush reads the ring, and adds any number of records
// before the next flushes, which read only the newest. A number that is reported as exact is exact.
static unsigned writes_at;     // the read in which it goes on, from now on; 0: in none
static unsigned writes_again;  // likewise, behind that one
static uint32_t steady_events; // that it writes in each read behind the next `steady_at`
static unsigned steady_at;
static trace_event_id_t written_id;
static uint32_t written;

ssize_t __real_pread(int file, void *to, size_t bytes, off_t at);
ssize_t __wrap_pread(int file, void *to, size_t bytes, off_t at);

ssize_t __wrap_pread(int file, void *to, size_t bytes, off_t at)
{
    enum { LAPS = 2000 };
    ssize_t got = __real_pread(file, to, bytes, at);
    if (steady_events && (!steady_at || !--steady_at)) {
        event_numbers(written_id, written, written + steady_events);
        written += steady_events;
    }
    if (writes_at && !--writes_at) {
        event_numbers(written_id, written, written + LAPS);
        written += LAPS;
        writes_at = writes_again;
        writes_again = 0;
    }
    return got;
}

static void check_writer_in(unsigned read, unsigned again, uint32_t added)
{
    enum { ROUNDS = 4 };
    int fd = new_file();
    trace_id_t trid = start_log(fd, 30000, &written_id);
    written = 0;
    writes_at = read;
    writes_again = again;
    for (unsigned round = 0; round < ROUNDS; round++) {
        event_numbers(written_id, written, written + added);
        written += added;
        assert_int_equal(posix_trace_flush(trid), 0);
    }
    writes_at = writes_again = 0;
    struct sums s = sum_up(trid, fd);
    s.missing += written - s.next; // those that no event follows
    assert_true(s.lost <= s.missing);
    assert_int_equal(s.had + s.missing, written + 1);
}

static void test_h75_a_writer_in_each_read(void **state)
{
    enum { READS = 32, AGAIN = 5 };
    static const uint32_t added[] = {1, 240};
    (void)state;
    for (unsigned k = 0; k < sizeof added / sizeof *added; k++)
        for (unsigned read = 1; read < READS; read++)
            for (unsigned again = 0; again < AGAIN; again++)
                check_writer_in(read, again, added[k]);
}

// A writer that never rests laps the reader again before a block of the log is full. Missing events
// are reported in each place, although no number is known.
static void test_h76_a_writer_that_never_rests(void **state)
{
    (void)state;
    for (unsigned at = 15; at < 21; at += 2) {
        int fd = new_file();
        trace_id_t trid = start_log(fd, 30000, &written_id);
        written = 1000;
        event_numbers(written_id, 0, written);
        steady_at = at;
        steady_events = 40;
        assert_int_equal(posix_trace_flush(trid), 0);
        steady_events = 0;
        struct sums s = sum_up(trid, fd);
        s.missing += written - s.next + !s.started;
        assert_true(s.lost <= s.missing);
        assert_int_equal(s.had + s.missing, written + 1);
    }
}

// Writes that fail: what could not be written and was overwritten since is a part of the loss.
static void test_h73_a_disk_that_was_full(void **state)
{
    (void)state;
    trace_event_id_t id;
    int fd = new_file();
    trace_id_t trid = start_log(fd, 20000, &id);
    event_numbers(id, 0, 100);
    assert_int_equal(posix_trace_flush(trid), 0);
    for (unsigned write = 1; write < 6; write++) {
        uint32_t from = 100 + (write - 1) * 3000;
        event_numbers(id, from, from + 2000);
        failing = write;
        int error = posix_trace_flush(trid);
        assert_true(error == 0 || error == ENOSPC);
        failing = 0;
        event_numbers(id, from + 2000, from + 3000);
        assert_int_equal(posix_trace_flush(trid), 0);
    }
    struct sums s = sum_up(trid, fd);
    assert_true(s.places >= 5);
    assert_int_equal(s.exact_places, s.places);
    assert_int_equal(s.lost, s.missing);
    assert_int_equal(s.had + s.missing, 100 + 5 * 3000 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_h70_each_gap_is_exact),
        cmocka_unit_test(test_h71_none_is_lost),
        cmocka_unit_test(test_h72_a_writer_that_goes_on),
        cmocka_unit_test(test_h75_a_writer_in_each_read),
        cmocka_unit_test(test_h76_a_writer_that_never_rests),
        cmocka_unit_test(test_h73_a_disk_that_was_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
