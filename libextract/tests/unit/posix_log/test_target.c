// SPDX-License-Identifier: MIT
// Logs of firmware behind a memory, made by hand, and logs that a recorder wrote. Truth: what was
// put into the ring.
#include "tests/unit/posix/image.h"
#include "tests/unit/posix_log/logging.h"
#include <extract/record.h>

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
    char name[TRACE_EVENT_NAME_MAX];
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

static void test_h22_target(void **state)
{
    (void)state;
    check_target(false, false);
    check_target(true, false);
    check_target(false, true);
    check_target(true, true);
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
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_h22_target),
                                       cmocka_unit_test(test_h23_recorded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
