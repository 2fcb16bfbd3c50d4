// SPDX-License-Identifier: MIT
// Logs of firmware in a memory that is made by hand, and logs that a recorder wrote. Truth: what
// was put into the ring.
#include "tests/unit/posix/image.h"
#include "tests/unit/posix_log/disk.h"
#include "tests/unit/posix_log/logging.h"
#include <extract/record.h>
#include <extract/report.h>
#include <time.h>

enum { PID = 7, RECORDS = 20 };

static struct image image;

static void attach(struct image settings)
{
    struct extract_error error;
    image = settings;
    image_make(&image);
    assert_int_equal(extract_posix_attach(PID, image.memory, NULL, IMAGE_ADDRESS, &error),
                     EXTRACT_OK);
}

static void detach(void)
{
    struct extract_error error;
    assert_int_equal(extract_posix_detach(PID, &error), EXTRACT_OK);
    image_close(&image);
}

static trace_id_t create_started(int fd, const trace_attr_t *attr)
{
    trace_id_t trid;
    assert_int_equal(posix_trace_create_withlog(PID, attr, fd, &trid), 0);
    image_serve(&image);
    assert_int_equal(posix_trace_start(trid), 0);
    image_serve(&image);
    return trid;
}

static void put_records(trace_event_id_t id, uint8_t from, uint8_t to)
{
    for (uint8_t i = from; i < to; i++)
        image_record(&image, 0, (uint32_t)IMAGE_DONE, id, &i, 1);
}

// Each event of the log, in order, 10 ticks of a microsecond apart.
static void check_log(int fd, trace_event_id_t id, unsigned count, bool started)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_id_t trid = open_log(fd);
    uint64_t before = 0;
    assert_int_equal(posix_trace_eventid_get_name(trid, id, name), 0);
    assert_string_equal(name, "sample");
    if (started)
        expect_logged(trid, POSIX_TRACE_START);
    for (unsigned i = 0; i < count; i++) {
        struct got got = expect_logged(trid, id);
        uint64_t now = nanoseconds(&got.info.posix_timestamp);
        assert_int_equal(got.length, 1);
        assert_int_equal(got.data[0], i);
        assert_int_equal((uint32_t)(uintptr_t)got.info.posix_prog_address, 0x8001000 + id);
        if (i)
            assert_int_equal(now - before, 10000);
        before = now;
    }
    assert_int_equal(posix_trace_close(trid), 0);
}

static void check_target(bool big, bool wide)
{
    int fd = new_file();
    trace_attr_t attr;
    attach((struct image){.big = big, .wide = wide, .hz = 1000000, .ring_words = 1024});
    trace_event_id_t id = image_name(&image, "sample");
    posix_trace_attr_init(&attr);
    posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
    trace_id_t trid = create_started(fd, &attr);
    for (uint8_t i = 0; i < RECORDS; i++) {
        image.clock = 1000 + 10U * i;
        put_records(id, i, i + 1);
        if (i % 8 == 7)
            assert_int_equal(posix_trace_flush(trid), 0);
    }
    image_record(&image, 0, IMAGE_OPEN, id, NULL, 0); // nobody will finish it
    image.halted = true;
    assert_int_equal(posix_trace_shutdown(trid), 0);
    detach();
    check_log(fd, id, RECORDS, true);
    close(fd);
}

// What the log says of the stream is the target's: its clock, and the ring that it has.
static void test_h55_attributes(void **state)
{
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 1000, 0);
    struct timespec resolution;
    size_t size, live;
    int fd = new_file();
    (void)state;
    attach((struct image){.hz = 1000, .ring_words = 1024});
    trace_id_t trid = create_started(fd, &attr);
    assert_int_equal(posix_trace_get_attr(trid, &attr), 0);
    posix_trace_attr_getstreamsize(&attr, &live);
    assert_int_equal(posix_trace_shutdown(trid), 0);
    detach();
    trid = open_log(fd);
    assert_int_equal(posix_trace_get_attr(trid, &attr), 0);
    posix_trace_attr_getclockres(&attr, &resolution);
    assert_int_equal(nanoseconds(&resolution), 1000000);
    posix_trace_attr_getstreamsize(&attr, &size);
    assert_int_equal(size, live);
    assert_in_range(size, 1000, 4096);
    posix_trace_attr_getmaxdatasize(&attr, &size);
    assert_int_equal(size, 64);
    assert_int_equal(posix_trace_close(trid), 0);
    close(fd);
}

static void test_h22_target(void **state)
{
    (void)state;
    check_target(false, false);
    check_target(true, false);
    check_target(false, true);
    check_target(true, true);
}

static unsigned looks; // at the request, behind which the firmware comes to a trace point

static void come_to_trace_point(struct image *target, uint32_t offset)
{
    if (offset == image_block(0) + IMAGE_REQUEST && looks && !--looks)
        image_serve(target);
}

// A target that runs is given time to stop: that is the last event.
static void test_h74_stop(void **state)
{
    int fd = new_file();
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 1000, 0);
    (void)state;
    attach((struct image){.hz = 1000000, .ring_words = 1024});
    trace_event_id_t id = image_name(&image, "sample");
    trace_id_t trid = create_started(fd, &attr);
    put_records(id, 0, RECORDS);
    looks = 12;
    image.before = come_to_trace_point;
    assert_int_equal(posix_trace_shutdown(trid), 0);
    assert_int_equal(looks, 0);
    detach();
    trid = open_log(fd);
    expect_logged(trid, POSIX_TRACE_START);
    for (unsigned i = 0; i < RECORDS; i++)
        expect_logged(trid, id);
    expect_logged(trid, POSIX_TRACE_STOP);
    assert_int_equal(posix_trace_close(trid), 0);
    close(fd);
}

// Four events 10 us apart, and four after a reset, 10 ms apart. Returns the time of the first.
static uint64_t check_times(trace_id_t trid, trace_event_id_t id, bool failed)
{
    uint64_t first = 0, before = 0;
    expect_logged(trid, POSIX_TRACE_START);
    for (uint8_t i = 0; i < 8; i++) {
        if (i == 4 && failed)
            expect_logged(trid, POSIX_TRACE_ERROR);
        if (i == 4)
            expect_logged(trid, POSIX_TRACE_START);
        struct got got = expect_logged(trid, id);
        uint64_t now = nanoseconds(&got.info.posix_timestamp);
        assert_int_equal(got.data[0], i);
        first = i ? first : now;
        if (i == 4)
            assert_true(now - before < UINT64_C(600) * 1000000000); // not a turn of the clock
        else if (i)
            assert_int_equal(now - before, i < 4 ? 10000 : 10000000);
        before = now;
    }
    return first;
}

static unsigned count_resets(int fd)
{
    struct extract_log *log;
    struct extract_log_block block;
    unsigned count = 0;
    assert_int_equal(extract_log_open_fd(&log, fd, NULL), EXTRACT_OK);
    for (size_t i = 0; extract_log_block_at(log, i, &block); i++)
        count += block.type == EXTRACT_LOG_MARK && block.kind == EXTRACT_MARK_RESET;
    extract_log_free(log);
    return count;
}

// The target is reset, with a clock of another rate: stamps begin again, and what the log says of
// its ring is said again, so that the times are right; once, though a `write` fails.
static void check_reset(bool big, bool wide, unsigned write)
{
    const uint32_t start = 4000000000;
    struct image made;
    char name[TRACE_EVENT_NAME_MAX + 1];
    int fd = new_file();
    attach((struct image){
        .big = big, .wide = wide, .hz = 1000000, .ring_words = 1024, .clock = start});
    trace_event_id_t id = image_name(&image, "sample");
    made = image;
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 1000, 0);
    trace_id_t trid = create_started(fd, &attr);
    for (uint8_t i = 0; i < 4; i++) {
        image.clock = start + 10U * (i + 1);
        put_records(id, i, i + 1);
    }
    assert_int_equal(posix_trace_flush(trid), 0);
    memcpy(image.bytes, made.bytes, sizeof image.bytes);
    image_put(&image, IMAGE_GENERATION, 2);
    image_set(&image, 0, IMAGE_CLOCK_HZ, 1000);
    image.clock = 5;
    assert_int_equal(posix_trace_flush(trid), 0); // finds it out, and asks again
    image_serve(&image);
    for (uint8_t i = 4; i < 8; i++) {
        image.clock = 100 + 10U * i;
        put_records(id, i, i + 1);
    }
    failing = write;
    assert_int_equal(posix_trace_flush(trid), write ? ENOSPC : 0);
    assert_int_equal(failing, 0);
    assert_int_equal(posix_trace_shutdown(trid), 0);
    detach();
    assert_int_equal(count_resets(fd), 1);
    trid = open_log(fd);
    uint64_t first = check_times(trid, id, write);
    assert_int_equal(posix_trace_rewind(trid), 0);
    assert_int_equal(check_times(trid, id, write), first);
    assert_int_equal(posix_trace_eventid_get_name(trid, id, name), 0);
    assert_string_equal(name, "sample");
    assert_int_equal(posix_trace_close(trid), 0);
    close(fd);
}

static void test_h37_reset(void **state)
{
    (void)state;
    check_reset(true, true, 0);
    for (unsigned write = 0; write < 4; write++) // the mark, the ring, the records
        check_reset(false, false, write);
}

// A clock that does not show the time of day gets that of the first record at the moment of its
// reading, whatever its value is.
static void test_h38_time_of_day(void **state)
{
    struct timespec before, after;
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 1000, 0);
    int fd = new_file();
    (void)state;
    attach((struct image){.hz = 1000000, .ring_words = 1024, .clock = 3000000000});
    trace_event_id_t id = image_name(&image, "sample");
    clock_gettime(CLOCK_REALTIME, &before);
    trace_id_t trid = create_started(fd, &attr);
    assert_int_equal(posix_trace_flush(trid), 0);
    put_records(id, 0, 1);
    assert_int_equal(posix_trace_flush(trid), 0);
    assert_int_equal(posix_trace_shutdown(trid), 0);
    clock_gettime(CLOCK_REALTIME, &after);
    detach();
    trid = open_log(fd);
    expect_logged(trid, POSIX_TRACE_START);
    struct got got = expect_logged(trid, id);
    assert_true(nanoseconds(&got.info.posix_timestamp) >= nanoseconds(&before));
    assert_true(nanoseconds(&got.info.posix_timestamp) <= nanoseconds(&after) + 1000000);
    assert_int_equal(posix_trace_close(trid), 0);
    close(fd);
}

// After a flush that failed, what is taken again has the times that it had.
static void test_h41_failed_flush(void **state)
{
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 1000, 0);
    uint64_t before = 0;
    int fd = new_file();
    (void)state;
    attach((struct image){.hz = 1000000, .ring_words = 1024, .clock = 10});
    trace_event_id_t id = image_name(&image, "sample");
    trace_id_t trid = create_started(fd, &attr);
    for (uint8_t i = 0; i < 4; i++) {
        image.clock = 100 + 10U * i;
        put_records(id, i, i + 1);
    }
    reason = ENOSPC;
    assert_int_equal(posix_trace_flush(trid), ENOSPC);
    reason = 0;
    assert_int_equal(posix_trace_flush(trid), 0);
    assert_int_equal(posix_trace_shutdown(trid), 0);
    detach();
    trid = open_log(fd);
    struct got error = expect_logged(trid, POSIX_TRACE_ERROR); // the host knows no better place
    assert_int_equal(number_in(&error), ENOSPC);
    struct got got = expect_logged(trid, POSIX_TRACE_START);
    assert_int_equal(nanoseconds(&got.info.posix_timestamp),
                     nanoseconds(&error.info.posix_timestamp));
    for (uint8_t i = 0; i < 4; i++) {
        got = expect_logged(trid, id);
        uint64_t now = nanoseconds(&got.info.posix_timestamp);
        assert_int_equal(got.data[0], i);
        if (i)
            assert_int_equal(now - before, 10000);
        before = now;
    }
    assert_int_equal(before - nanoseconds(&error.info.posix_timestamp), (130 - 10) * 1000);
    assert_int_equal(posix_trace_close(trid), 0);
    close(fd);
}

// The generations in the RING blocks of a log, in order.
static size_t read_generations(int fd, uint32_t *generations, size_t room)
{
    struct extract_log *log;
    struct extract_log_block block;
    struct extract_error error;
    uint8_t payload[256];
    size_t count = 0;
    assert_int_equal(extract_log_open_fd(&log, fd, &error), EXTRACT_OK);
    for (size_t i = 0; extract_log_block_at(log, i, &block); i++) {
        if (block.type != EXTRACT_LOG_RING)
            continue;
        assert_true(count < room && block.length <= sizeof payload);
        assert_int_equal(extract_log_read(log, &block, payload, &error), EXTRACT_OK);
        memcpy(&generations[count++], payload + 56 + IMAGE_STREAM_GENERATION, 4);
    }
    extract_log_free(log);
    return count;
}

// Clearing: what follows belongs to a ring that begins again, and the log says so, with what the
// stream was made with.
static void check_clear(int policy)
{
    uint32_t generations[8];
    char name[TRACE_NAME_MAX];
    int fd = new_file(), got_policy;
    attach((struct image){.hz = 1000000, .ring_words = 1024});
    trace_event_id_t id = image_name(&image, "sample");
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, policy, 1000, 100000);
    posix_trace_attr_setname(&attr, "h39");
    trace_id_t trid = create_started(fd, &attr);
    put_records(id, 0, 3);
    assert_int_equal(posix_trace_flush(trid), 0);
    assert_int_equal(posix_trace_clear(trid), 0);
    image_serve(&image);
    put_records(id, 3, 6);
    assert_int_equal(posix_trace_shutdown(trid), 0);
    uint32_t now = image_word(&image, 0, IMAGE_STREAM_GENERATION);
    detach();
    size_t count = read_generations(fd, generations, 8);
    assert_int_equal(generations[count - 1], now);
    trid = open_log(fd);
    if (policy == POSIX_TRACE_APPEND) {
        expect_logged(trid, POSIX_TRACE_START);
        for (uint8_t i = 0; i < 3; i++)
            assert_int_equal(expect_logged(trid, id).data[0], i);
    }
    for (uint8_t i = 3; i < 6; i++)
        assert_int_equal(expect_logged(trid, id).data[0], i);
    assert_int_equal(posix_trace_get_attr(trid, &attr), 0);
    posix_trace_attr_getname(&attr, name);
    assert_string_equal(name, "h39");
    posix_trace_attr_getlogfullpolicy(&attr, &got_policy);
    assert_int_equal(got_policy, policy);
    char event[TRACE_EVENT_NAME_MAX + 1];
    assert_int_equal(posix_trace_eventid_get_name(trid, id, event), 0);
    assert_string_equal(event, "sample");
    assert_int_equal(posix_trace_close(trid), 0);
    close(fd);
}

static void test_h39_clear(void **state)
{
    (void)state;
    check_clear(POSIX_TRACE_LOOP);
    check_clear(POSIX_TRACE_UNTIL_FULL);
    check_clear(POSIX_TRACE_APPEND);
}

// What a log's ring says of its stream's name. One that ends before that has none.
static void check_stream_name(int fd, const char *name)
{
    enum { AT_HEADER_BYTES = 40, HEADER = 56, WHOLE = 144, WITHOUT = 128 };
    struct extract_log *log;
    struct extract_log_block block = {0};
    struct extract_ring ring;
    struct extract_error error;
    uint8_t payload[HEADER + WHOLE];
    assert_int_equal(extract_log_open_fd(&log, fd, &error), EXTRACT_OK);
    for (size_t i = 0; block.type != EXTRACT_LOG_RING; i++)
        assert_true(extract_log_block_at(log, i, &block));
    assert_int_equal(block.length, sizeof payload);
    assert_int_equal(extract_log_read(log, &block, payload, &error), EXTRACT_OK);
    assert_int_equal(extract_log_ring(&ring, payload, sizeof payload, &error), EXTRACT_OK);
    assert_string_equal(ring.posix.name, name);
    payload[AT_HEADER_BYTES] = WITHOUT;
    assert_int_equal(extract_log_ring(&ring, payload, HEADER + WITHOUT, &error), EXTRACT_OK);
    assert_string_equal(ring.posix.name, "");
    extract_log_free(log);
}

// A log that a recorder wrote has no attributes but the ring's.
static void test_h23_recorded(void **state)
{
    char path[] = "/tmp/posix-log-XXXXXX";
    const struct extract_log_options options = {.size = sizeof options};
    struct extract_record_options record = {
        .size = sizeof record, .ring_known = true, .ring = IMAGE_ADDRESS};
    struct extract_recorder *recorder;
    struct extract_error error;
    trace_attr_t attr;
    size_t size;
    int fd = mkstemp(path), policy;
    (void)state;
    attach((struct image){.hz = 1000000, .ring_words = 1024});
    trace_event_id_t id = image_name(&image, "sample");
    image_bind(&image, 0, POSIX_TRACE_LOOP, 0);
    memcpy(image.bytes + image_block(0) + IMAGE_NAME, "board 7", 8);
    struct extract_log_writer *writer;
    assert_int_equal(extract_log_create_fd(&writer, fd, &options, &error), EXTRACT_OK);
    record.log = writer;
    assert_int_equal(extract_recorder_open(&recorder, image.memory, NULL, &record, &error),
                     EXTRACT_OK);
    for (uint8_t i = 0; i < RECORDS; i++) {
        image.clock = 1000 + 10U * i;
        put_records(id, i, i + 1);
        assert_int_equal(extract_recorder_poll(recorder, &error), EXTRACT_OK);
    }
    assert_int_equal(extract_recorder_close(recorder, &error), EXTRACT_OK);
    assert_int_equal(extract_log_close(writer, &error), EXTRACT_OK);
    detach();
    check_log(fd, id, RECORDS, false);
    trace_id_t trid = open_log(fd);
    assert_int_equal(posix_trace_get_attr(trid, &attr), 0);
    posix_trace_attr_getstreamfullpolicy(&attr, &policy);
    assert_int_equal(policy, POSIX_TRACE_LOOP);
    posix_trace_attr_getlogsize(&attr, &size);
    assert_int_equal(size, 64 << 20);
    assert_int_equal(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    assert_int_equal(posix_trace_close(trid), 0);
    check_stream_name(fd, "board 7");
    close(fd);
    unlink(path);
}

// A log of a ring that a recorder follows: at each poll so many events, of data 0, 1, and so on.
static void record_image(int fd, const struct extract_log_options *options, trace_event_id_t id,
                         uint8_t count, uint8_t step)
{
    struct extract_record_options record = {
        .size = sizeof record, .ring_known = true, .ring = IMAGE_ADDRESS};
    struct extract_recorder *recorder;
    assert_int_equal(extract_log_create_fd(&record.log, fd, options, NULL), EXTRACT_OK);
    enum extract_code code = extract_recorder_open(&recorder, image.memory, NULL, &record, NULL);
    assert_int_equal(code, EXTRACT_OK);
    for (uint8_t i = 0; i < count && !code; i += step) {
        put_records(id, i, i + step);
        code = extract_recorder_poll(recorder, NULL);
    }
    assert_true(!code || code == EXTRACT_LIMIT);
    extract_recorder_close(recorder, NULL);
    extract_log_close(record.log, NULL);
}

// Where a recorder said that events are missing, OVERFLOW and RESUME say so, and again when the
// reader has gone back between the two.
static void test_h56_rewound_in_a_gap(void **state)
{
    const struct extract_log_options options = {.size = sizeof options};
    int fd = new_file();
    (void)state;
    attach((struct image){.hz = 1000000, .ring_words = 64});
    trace_event_id_t id = image_name(&image, "sample");
    image_bind(&image, 0, POSIX_TRACE_LOOP, 0);
    record_image(fd, &options, id, 50, 50); // more than the ring has room for
    detach();
    trace_id_t trid = open_log(fd);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(next(trid).info.posix_event_id, POSIX_TRACE_OVERFLOW);
        assert_int_equal(posix_trace_rewind(trid), 0);
    }
    assert_int_equal(next(trid).info.posix_event_id, POSIX_TRACE_OVERFLOW);
    assert_int_equal(next(trid).info.posix_event_id, POSIX_TRACE_RESUME);
    assert_int_equal(next(trid).info.posix_event_id, id);
    assert_int_equal(posix_trace_close(trid), 0);
    close(fd);
}

// The log of a recorder that came to its limit ends as that of a stream does: with a STOP by the
// system itself.
static void test_h57_full(void **state)
{
    enum { SIZE = 16384 };
    const struct extract_log_options options = {.size = sizeof options,
                                                .policy = EXTRACT_LOG_UNTIL_FULL,
                                                .limit = SIZE,
                                                .section_bytes = SIZE / 4};
    uint8_t count = 0;
    int fd = new_file();
    (void)state;
    attach((struct image){.hz = 1000000, .ring_words = 1024});
    trace_event_id_t id = image_name(&image, "sample");
    image_bind(&image, 0, POSIX_TRACE_LOOP, 0);
    record_image(fd, &options, id, 255, 1);
    detach();
    trace_id_t trid = open_log(fd);
    for (unsigned round = 0; round < 2; round++) {
        struct got got = next(trid);
        for (count = 0; got.info.posix_event_id == id && !got.unavailable; got = next(trid))
            assert_int_equal(got.data[0], count++);
        assert_in_range(count, 20, 254);
        assert_int_equal(got.unavailable, 0);
        assert_int_equal(got.info.posix_event_id, POSIX_TRACE_STOP);
        assert_int_not_equal(number_in(&got), 0);
        expect_end(trid);
        assert_int_equal(posix_trace_rewind(trid), 0);
    }
    assert_int_equal(status_of(trid).posix_log_full_status, POSIX_TRACE_FULL);
    assert_int_equal(posix_trace_close(trid), 0);
    close(fd);
}

// A log that was made pass by pass.
static void test_h44_flushed(void **state)
{
    char folder[] = "/tmp/posix-log-XXXXXX", path[64];
    const struct extract_record_options options = {
        .size = sizeof options, .ring_known = true, .ring = IMAGE_ADDRESS};
    struct extract_record_status status;
    struct extract_error error;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/log", folder);
    attach((struct image){.hz = 1000000, .ring_words = 1024});
    trace_event_id_t id = image_name(&image, "sample");
    image_bind(&image, 0, POSIX_TRACE_LOOP, 0);
    for (uint8_t i = 0; i < RECORDS; i++) {
        image.clock = 1000 + 10U * i;
        put_records(id, i, i + 1);
        if (i % 7 == 6 || i == RECORDS - 1)
            assert_int_equal(
                extract_record_flush(path, image.memory, NULL, &options, &status, &error),
                EXTRACT_OK);
    }
    detach();
    int fd = open(path, O_RDONLY);
    check_log(fd, id, RECORDS, false);
    close(fd);
    unlink(path);
    rmdir(folder);
}

// A log as a file of a stream, whose address is stated.
static void save_log(int fd, const char *path, uint64_t *address)
{
    struct extract_log *log;
    struct extract_trace *trace;
    struct extract_error error;
    struct extract_text text;
    assert_int_equal(extract_log_open_fd(&log, fd, &error), EXTRACT_OK);
    assert_int_equal(extract_trace_open_log(&trace, log, NULL, &error), EXTRACT_OK);
    *address = extract_trace_snapshot(trace)->ring.address;
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_export_ring(&text, trace, &error), EXTRACT_OK);
    int file = open(path, O_WRONLY | O_TRUNC);
    assert_int_equal(write(file, text.data, text.used), text.used);
    close(file);
    extract_text_free(&text);
    extract_trace_close(trace);
    extract_log_free(log);
}

// A log that was saved as a stream is a stream that has ended, with all that the log had.
static void check_saved(bool big, bool wide)
{
    enum { PASSES = 8, EACH = 20 }; // more in all than the ring held
    char path[] = "/tmp/posix-log-XXXXXX", name[TRACE_EVENT_NAME_MAX + 1];
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 500, 0);
    struct extract_memory *memory;
    struct extract_error error;
    uint64_t address;
    int fd = new_file();
    close(mkstemp(path));
    attach((struct image){.big = big, .wide = wide, .hz = 1000, .ring_words = 256});
    trace_event_id_t id = image_name(&image, "sample");
    trace_id_t trid = create_started(fd, &attr);
    for (uint8_t i = 0; i < PASSES; i++) {
        put_records(id, (uint8_t)(i * EACH), (uint8_t)(i * EACH + EACH));
        assert_int_equal(posix_trace_flush(trid), 0);
    }
    assert_int_equal(posix_trace_shutdown(trid), 0);
    detach();
    save_log(fd, path, &address);
    close(fd);
    assert_int_equal(extract_posix_open(&memory, path, &error), EXTRACT_OK);
    assert_int_equal(extract_posix_open_memory(memory, NULL, address, -1, &trid, &error),
                     EXTRACT_OK);
    expect_logged(trid, POSIX_TRACE_START);
    for (uint8_t i = 0; i < PASSES * EACH; i++) {
        struct got got = expect_logged(trid, id);
        assert_int_equal(got.length, 1);
        assert_int_equal(got.data[0], i);
        assert_int_equal((uint32_t)(uintptr_t)got.info.posix_prog_address, 0x8001000 + id);
    }
    assert_int_equal(posix_trace_eventid_get_name(trid, id, name), 0);
    assert_string_equal(name, "sample");
    assert_int_equal(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    assert_int_equal(posix_trace_close(trid), 0);
    extract_memory_close(memory);
    unlink(path);
}

static void test_h45_saved(void **state)
{
    (void)state;
    check_saved(false, false);
    check_saved(true, false);
    check_saved(false, true);
    check_saved(true, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_h22_target),
                                       cmocka_unit_test(test_h74_stop),
                                       cmocka_unit_test(test_h23_recorded),
                                       cmocka_unit_test(test_h37_reset),
                                       cmocka_unit_test(test_h38_time_of_day),
                                       cmocka_unit_test(test_h39_clear),
                                       cmocka_unit_test(test_h41_failed_flush),
                                       cmocka_unit_test(test_h44_flushed),
                                       cmocka_unit_test(test_h45_saved),
                                       cmocka_unit_test(test_h55_attributes),
                                       cmocka_unit_test(test_h56_rewound_in_a_gap),
                                       cmocka_unit_test(test_h57_full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
