// SPDX-License-Identifier: MIT
// Logs that are damaged, cut, or of another kind of machine. Truth: the numbers that were put in,
// and the checksums of docs/formats/log.md, computed here by hand.
#include "tests/unit/posix_log/logging.h"
#include <extract/log.h>
#include <extract/report.h>
#include <sys/stat.h>

enum { USER = 32, EVENTS = 2000, HEAD = 96, SUMS = 80, ATTRIBUTES = 8, BYTES = 10, ROUNDS = 400 };

struct file {
    uint8_t *bytes;
    size_t length;
};

static struct file make_file(int policy)
{
    struct stat st;
    struct file file;
    int fd = new_file();
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, policy, 200000, 200000);
    trace_id_t trid = create_log(fd, &attr);
    assert_int_equal(posix_trace_start(trid), 0);
    for (uint32_t i = 0; i < EVENTS; i += 100) {
        event_numbers(USER, i, i + 100);
        assert_int_equal(posix_trace_flush(trid), 0);
    }
    assert_int_equal(posix_trace_shutdown(trid), 0);
    assert_int_equal(fstat(fd, &st), 0);
    file.length = (size_t)st.st_size;
    file.bytes = malloc(file.length);
    assert_non_null(file.bytes);
    assert_int_equal(pread(fd, file.bytes, file.length, 0), file.length);
    close(fd);
    return file;
}

static int file_of(const struct file *file)
{
    int fd = new_file();
    assert_int_equal(write(fd, file->bytes, file->length), file->length);
    return fd;
}

static uint64_t load(const uint8_t *from, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

static void store(uint8_t *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static size_t block_length(const uint8_t *head)
{
    return HEAD + ((size_t)load(head + 12, 4) + 7) / 8 * 8;
}

// Returns the offset of the n-th block of a type in the first section; 0: there is none.
static size_t find_block(const struct file *file, unsigned type, unsigned n)
{
    for (size_t at = 0; at + HEAD < file->length && !memcmp(file->bytes + at, "RLBK", 4);
         at += block_length(file->bytes + at))
        if (load(file->bytes + at + 4, 2) == type && !n--)
            return at;
    return 0;
}

static void seal(uint8_t *head)
{
    uint64_t one = 0, two = 0;
    store(head + SUMS, 0, 8);
    store(head + SUMS + 8, 0, 8);
    for (size_t at = 0; at < block_length(head); at += 4) {
        one += load(head + at, 4);
        two += one;
    }
    store(head + SUMS, one, 8);
    store(head + SUMS + 8, two, 8);
}

// ---- another kind of machine ----

static void test_h25_foreign(void **state)
{
    struct file file = make_file(POSIX_TRACE_APPEND);
    trace_id_t trid;
    (void)state;
    size_t at = find_block(&file, ATTRIBUTES, 0);
    assert_int_not_equal(at, 0);
    uint8_t *order = file.bytes + at + HEAD + 4, *address = order + 4;
    seal(file.bytes + at); // as it is
    int fd = file_of(&file);
    trid = open_log(fd);
    assert_int_equal(posix_trace_close(trid), 0);
    close(fd);
    *order ^= 3;
    seal(file.bytes + at);
    fd = file_of(&file);
    assert_int_equal(posix_trace_open(fd, &trid), EINVAL);
    close(fd);
    *order ^= 3;
    *address = 2;
    seal(file.bytes + at);
    fd = file_of(&file);
    assert_int_equal(posix_trace_open(fd, &trid), EINVAL);
    close(fd);
    free(file.bytes);
}

// ---- damage ----

// Numbers only rise. Where some are missing, an overflow is reported.
static uint32_t count_rising(trace_id_t trid)
{
    uint32_t count = 0, due = 0;
    bool told = false;
    for (struct got got = next(trid); !got.unavailable; got = next(trid)) {
        told |= got.info.posix_event_id == POSIX_TRACE_OVERFLOW;
        if (got.info.posix_event_id != USER)
            continue;
        uint32_t number = number_in(&got);
        assert_true(number >= due && number < EVENTS);
        assert_true(number == due || told || !count);
        due = number + 1;
        told = false;
        count++;
    }
    return count;
}

// One block of records is damaged: the others are there.
static void test_h26_damaged_block(void **state)
{
    struct file file = make_file(POSIX_TRACE_APPEND);
    (void)state;
    size_t at = find_block(&file, BYTES, 3);
    assert_int_not_equal(at, 0);
    uint32_t held = (uint32_t)load(file.bytes + at + 16, 4);
    file.bytes[at + HEAD + 200] ^= 0x10;
    int fd = file_of(&file);
    trace_id_t trid = open_log(fd);
    uint32_t count = count_rising(trid);
    assert_true(count < EVENTS && count + held >= EVENTS);
    assert_int_equal(posix_trace_rewind(trid), 0);
    assert_int_equal(count_rising(trid), count);
    assert_int_equal(posix_trace_close(trid), 0);
    close(fd);
    free(file.bytes);
}

static void read_if_it_opens(const struct file *file)
{
    int fd = file_of(file);
    trace_id_t trid;
    if (!posix_trace_open(fd, &trid)) {
        count_rising(trid);
        assert_int_equal(posix_trace_close(trid), 0);
    }
    close(fd);
}

static void test_h27_anywhere(void **state)
{
    uint32_t random = 0x1234567;
    (void)state;
    for (int policy = POSIX_TRACE_LOOP; policy <= POSIX_TRACE_APPEND; policy++) {
        if (policy == POSIX_TRACE_FLUSH)
            continue;
        struct file file = make_file(policy);
        for (unsigned i = 0; i < ROUNDS; i++) {
            random = random * 1103515245 + 12345;
            size_t at = random % (i % 2 ? file.length : 20000);
            file.bytes[at] ^= 0x41;
            read_if_it_opens(&file);
            file.bytes[at] ^= 0x41;
            struct file cut = {file.bytes, at};
            if (i % 4 == 0)
                read_if_it_opens(&cut);
        }
        free(file.bytes);
    }
}

// Blocks that are sealed and say anything.
static void test_h28_hostile(void **state)
{
    uint32_t random = 0x7654321;
    (void)state;
    struct file file = make_file(POSIX_TRACE_APPEND);
    uint8_t *was = malloc(file.length);
    assert_non_null(was);
    memcpy(was, file.bytes, file.length);
    for (unsigned i = 0; i < ROUNDS; i++) {
        trace_id_t trid;
        struct got got;
        random = random * 1103515245 + 12345;
        unsigned type = random >> 16 & 1 ? BYTES : 1 + (random >> 20) % 10;
        size_t at = find_block(&file, type, random >> 17 & 3);
        uint8_t *payload = file.bytes + at + HEAD;
        size_t length = block_length(file.bytes + at) - HEAD;
        for (unsigned k = 0; length && k < 1 + (random & 7); k++) {
            random = random * 1103515245 + 12345;
            payload[(random >> 8) % (random & 1    ? length
                                     : length < 64 ? length
                                                   : 64)] ^= (uint8_t)(random >> 24);
        }
        seal(file.bytes + at);
        int fd = file_of(&file);
        if (!posix_trace_open(fd, &trid)) {
            do
                got = next(trid);
            while (!got.unavailable);
            assert_int_equal(posix_trace_close(trid), 0);
        }
        close(fd);
        memcpy(file.bytes, was, file.length);
    }
    free(was);
    free(file.bytes);
}

// A block of records that does not end with a word: what is before it is shown, and the rest
// is damage.
static void test_h42_odd_lengths(void **state)
{
    (void)state;
    struct file file = make_file(POSIX_TRACE_APPEND);
    size_t at = find_block(&file, BYTES, 1);
    assert_int_not_equal(at, 0);
    uint32_t length = (uint32_t)load(file.bytes + at + 12, 4);
    uint64_t in_front = load(file.bytes + at + 48, 8);
    assert_true(in_front >= 100);
    for (uint32_t less = 1; less < 8; less++) {
        struct extract_log *log;
        struct extract_trace *trace;
        struct extract_error error;
        struct extract_text text;
        store(file.bytes + at + 12, length - less, 4);
        memset(file.bytes + at + HEAD + length - less, 0, less);
        memset(file.bytes + at + 72, 0, 8); // the head sum is not given
        seal(file.bytes + at);
        int fd = file_of(&file);
        assert_int_equal(extract_log_open_fd(&log, fd, &error), EXTRACT_OK);
        assert_int_equal(extract_trace_open_log(&trace, log, NULL, &error), EXTRACT_OK);
        assert_true(extract_trace_info(trace)->entries_valid >= in_front);
        assert_true(extract_trace_info(trace)->entries_damaged);
        extract_text_init(&text, NULL, NULL);
        assert_int_equal(extract_export_ring(&text, trace, &error), EXTRACT_OK);
        extract_text_free(&text);
        extract_trace_close(trace);
        extract_log_free(log);
        close(fd);
    }
    free(file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_h25_foreign), cmocka_unit_test(test_h26_damaged_block),
        cmocka_unit_test(test_h27_anywhere), cmocka_unit_test(test_h28_hostile),
        cmocka_unit_test(test_h42_odd_lengths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
