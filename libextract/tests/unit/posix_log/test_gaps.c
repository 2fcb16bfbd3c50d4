// SPDX-License-Identifier: MIT
// Logs of streams in which a record is damaged. The gap is reported once, the records around it are
// there once, whichever write of the flush fails, and a full stream continues. Truth: the numbers
// that were recorded.
#include "tests/unit/posix_log/disk.h"
#include "tests/unit/posix_log/logging.h"
#include <sys/mman.h>
#include <sys/stat.h>

enum { EVENTS = 20, DAMAGED = 10 };

// This process' object, as docs/formats/posix-ring.md has it.
struct object {
    uint8_t *bytes;
    size_t size;
    const uint32_t *stream; // words of the first stream's block
    uint32_t *ring;
};

static struct object map_own(void)
{
    struct object o;
    struct stat status;
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/ringside-posix.%d", (int)getpid());
    int file = open(path, O_RDWR);
    assert_int_equal(fstat(file, &status), 0);
    o.size = (size_t)status.st_size;
    o.bytes = mmap(NULL, o.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_ptr_not_equal(o.bytes, MAP_FAILED);
    close(file);
    o.stream = (const uint32_t *)(const void *)(o.bytes + ((uint32_t *)(void *)o.bytes)[8]);
    o.ring = (uint32_t *)(void *)(o.bytes + o.stream[4]);
    return o;
}

// Blanks the record that is so many before the newest.
static void damage(unsigned back)
{
    struct object o = map_own();
    uint32_t mask = o.stream[5] - 1, end = o.stream[12], words = 0;
    for (unsigned i = 0; i <= back; i++) {
        end -= words;
        words = o.ring[(end - 1) & mask] >> 16 & 0xFFF;
        assert_true(words > 2);
    }
    for (uint32_t i = 1; i <= words; i++)
        o.ring[(end - i) & mask] = 0;
    munmap(o.bytes, o.size);
}

static void expect_numbers(trace_id_t trid, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        struct got got = next_of_stream(trid);
        assert_int_equal(number_in(&got), i);
    }
}

// A logged stream with numbers from 0 on.
static trace_id_t begin_numbers(int fd, size_t size, uint32_t count, trace_event_id_t *id)
{
    trace_attr_t attr = log_attributes(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, size, 65536);
    trace_id_t trid = create_log(fd, &attr);
    assert_int_equal(posix_trace_eventid_open("number", id), 0);
    assert_int_equal(posix_trace_start(trid), 0);
    event_numbers(*id, 0, count);
    return trid;
}

// What was done goes wrong at the `write`th write, and is done again.
static bool check_failing(unsigned write)
{
    int fd = new_file();
    trace_event_id_t id;
    trace_id_t trid = begin_numbers(fd, 65536, EVENTS, &id);
    damage(EVENTS - 1 - DAMAGED);
    failing = write;
    int error = posix_trace_flush(trid);
    assert_true(error == 0 || error == ENOSPC);
    failing = 0;
    assert_int_equal(posix_trace_flush(trid), 0);
    assert_int_equal(posix_trace_shutdown(trid), 0);
    trid = open_log(fd);
    expect_logged(trid, POSIX_TRACE_START);
    expect_numbers(trid, 0, DAMAGED);
    expect_logged(trid, POSIX_TRACE_OVERFLOW);
    expect_logged(trid, POSIX_TRACE_RESUME);
    expect_numbers(trid, DAMAGED + 1, EVENTS);
    assert_int_equal(posix_trace_close(trid), 0);
    close(fd);
    return error;
}

static void test_h58_damage_and_failure(void **state)
{
    (void)state;
    unsigned write = 1;
    while (check_failing(write))
        write++;
    assert_true(write > 3); // what is in front, the loss, what is behind
}

static void test_h59_damage_at_the_end_of_a_full_stream(void **state)
{
    (void)state;
    int fd = new_file();
    trace_event_id_t id;
    trace_id_t trid = begin_numbers(fd, 4096, 1000, &id);
    assert_int_equal(status_of(trid).posix_stream_full_status, POSIX_TRACE_FULL);
    damage(0);
    assert_int_equal(posix_trace_flush(trid), 0);
    event_numbers(id, 2000, 2010);
    assert_int_equal(status_of(trid).posix_stream_status, POSIX_TRACE_RUNNING);
    assert_int_equal(posix_trace_shutdown(trid), 0);
    trid = open_log(fd);
    unsigned overflows = 0, later = 0;
    for (struct got got = next(trid); !got.unavailable; got = next(trid)) {
        overflows += got.info.posix_event_id == POSIX_TRACE_OVERFLOW;
        later += got.info.posix_event_id == id && number_in(&got) >= 2000;
    }
    assert_int_equal(overflows, 1);
    assert_int_equal(later, 10);
    assert_int_equal(posix_trace_close(trid), 0);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_h58_damage_and_failure),
        cmocka_unit_test(test_h59_damage_at_the_end_of_a_full_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
