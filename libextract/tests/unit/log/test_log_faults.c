// SPDX-License-Identifier: MIT
// Disks that are full, slow or broken, and memory that is not there: what was written before is
// whole, and the same put succeeds when there is room again.
#include "tests/unit/log/log_bytes.h"
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

// The disk: the write that fails, counted down; how many bytes of it are written all the same.
static struct {
    long countdown; // below 0: none
    int reason;
    size_t keep;
    size_t most;  // bytes that one call writes; 0: all
    long syncs;   // calls of fdatasync
    int sync_bad; // what they fail with; 0: they succeed
} disk = {.countdown = -1};

ssize_t __real_pwritev(int fd, const struct iovec *spans, int count, off_t offset);
ssize_t __wrap_pwritev(int fd, const struct iovec *spans, int count, off_t offset);
int __wrap_fdatasync(int fd);

static ssize_t write_some(int fd, const struct iovec *spans, int count, off_t offset, size_t most)
{
    ssize_t done = 0;
    for (int i = 0; i < count && (size_t)done < most; i++) {
        size_t left = most - (size_t)done;
        size_t n = spans[i].iov_len < left ? spans[i].iov_len : left;
        assert_int_equal(pwrite(fd, spans[i].iov_base, n, offset + done), n);
        done += (ssize_t)n;
    }
    return done;
}

ssize_t __wrap_pwritev(int fd, const struct iovec *spans, int count, off_t offset)
{
    if (disk.countdown == 0 && disk.keep) {
        size_t keep = disk.keep;
        disk.keep = 0; // the next call fails
        return write_some(fd, spans, count, offset, keep);
    }
    if (disk.countdown >= 0 && disk.countdown-- == 0) {
        errno = disk.reason;
        return -1;
    }
    return disk.most ? write_some(fd, spans, count, offset, disk.most)
                     : __real_pwritev(fd, spans, count, offset);
}

int __wrap_fdatasync(int fd)
{
    (void)fd;
    disk.syncs++;
    errno = disk.sync_bad;
    return disk.sync_bad ? -1 : 0;
}

// Writes blocks until one fails, tries that one again, and continues. The log must have all of
// them.
static void put_through(const char *path, enum extract_log_policy policy, long fails, int reason,
                        size_t keep)
{
    struct extract_log_writer *writer =
        create_log(path, policy, policy == EXTRACT_LOG_APPEND ? 0 : 65536);
    struct extract_error error = {0};
    bool failed = false;
    disk.countdown = fails;
    disk.reason = reason;
    disk.keep = keep;
    for (uint64_t i = 0; i < 20; i++) {
        uint32_t slots = i == 7 ? 4000 : 300; // the eighth is larger than a section
        uint64_t first = i * 300 + (i > 7 ? 3700 : 0);
        enum extract_code code = put_entries(writer, first, slots, &error);
        if (code) {
            failed = true;
            assert_error(code, EXTRACT_IO, &error, path, strerror(reason));
            assert_true(error.hint[0]);
            disk.countdown = -1;
            struct extract_log *log = open_log(path);
            assert_int_equal(extract_log_status(log)->damaged, 0);
            assert_int_equal(extract_log_status(log)->missing, 0);
            extract_log_free(log);
            assert_int_equal(put_entries(writer, first, slots, NULL), EXTRACT_OK);
        }
    }
    assert_true(failed);
    assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
}

static void check_all(const char *path, bool from_start)
{
    static uint8_t payload[65536];
    struct extract_log *log = open_log(path);
    const struct extract_log_status *status = extract_log_status(log);
    struct extract_log_block block;
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; extract_log_block_at(log, i, &block); i++) {
        read_whole(log, i, payload, sizeof payload);
        if (block.type != EXTRACT_LOG_ENTRIES)
            continue;
        check_entries(&block, payload);
        if (next == UINT64_MAX)
            next = from_start ? 0 : block.first;
        assert_int_equal(block.first, next);
        next += block.count;
    }
    assert_int_equal(next, 20 * 300 + 3700);
    assert_int_equal(status->totals.entries, 20 * 300 + 3700);
    assert_true(status->closed && !status->damaged && !status->missing && !status->cut);
    extract_log_free(log);
}

static void test_failing_writes(void **state)
{
    static const int reasons[] = {ENOSPC, EIO, EDQUOT};
    (void)state;
    for (long fails = 0; fails < 20; fails++)
        for (size_t keep = 0; keep < 3000; keep += 811)
            for (unsigned policy = 0; policy < 3; policy += 2) {
                const char *path = scratch_path("failing");
                put_through(path, policy, fails, reasons[fails % 3], keep);
                check_all(path, policy == EXTRACT_LOG_APPEND);
                assert_int_equal(unlink(path), 0);
            }
}

// A write may take less than it was given.
static void test_short_writes(void **state)
{
    (void)state;
    for (disk.most = 1; disk.most < 3000; disk.most += 487) {
        struct extract_log_writer *writer =
            create_log(scratch_path("short"), EXTRACT_LOG_APPEND, 0);
        assert_int_equal(put_entries(writer, 0, 301, NULL), EXTRACT_OK);
        assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
        struct extract_log *log = open_log(scratch_path("short"));
        static uint8_t payload[4096];
        struct extract_log_block block = read_whole(log, 1, payload, sizeof payload);
        check_entries(&block, payload);
        extract_log_free(log);
        unlink(scratch_path("short"));
    }
    disk.most = 0;
}

static void test_interrupted(void **state)
{
    (void)state;
    struct extract_log_writer *writer = create_log(scratch_path("eintr"), EXTRACT_LOG_APPEND, 0);
    disk.countdown = 0;
    disk.reason = EINTR;
    assert_int_equal(put_entries(writer, 0, 10, NULL), EXTRACT_OK);
    assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
}

static void test_sync(void **state)
{
    struct extract_log_options options = {.size = sizeof options, .sync = true};
    struct extract_log_writer *writer;
    struct extract_error error = {0};
    const char *path = scratch_path("sync");
    (void)state;
    disk.syncs = 0;
    assert_int_equal(extract_log_create(&writer, path, &options, NULL), EXTRACT_OK);
    assert_int_equal(put_entries(writer, 0, 10, NULL), EXTRACT_OK);
    assert_int_equal(disk.syncs, 3); // SECTION, its copy, ENTRIES
    disk.sync_bad = EIO;
    assert_error(put_entries(writer, 10, 10, &error), EXTRACT_IO, &error, path, strerror(EIO));
    disk.sync_bad = 0;
    assert_int_equal(put_entries(writer, 10, 10, NULL), EXTRACT_OK);
    assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
    struct extract_log *log = open_log(path);
    assert_int_equal(extract_log_status(log)->entries, 20);
    extract_log_free(log);
}

// A log that cannot be begun leaves nothing.
static void test_failing_start(void **state)
{
    struct extract_log_options options = {.size = sizeof options};
    struct extract_log_writer *writer;
    struct extract_error error = {0};
    (void)state;
    disk.countdown = 0;
    disk.reason = ENOSPC;
    disk.keep = 100;
    assert_error(extract_log_create(&writer, scratch_path("start"), &options, &error), EXTRACT_IO,
                 &error, "start", strerror(ENOSPC));
    assert_true(scratch_run("test ! -e start && test ! -e start.lock"));
}

// The system's limit of file sizes is named, and does not end the process.
static void test_file_limit(void **state)
{
    struct rlimit old, small;
    struct extract_error error = {0};
    const char *path = scratch_path("limited");
    uint64_t next = 0;
    (void)state;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 20000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct extract_log_writer *writer = create_log(path, EXTRACT_LOG_APPEND, 0);
    enum extract_code code;
    while (!(code = put_entries(writer, next, 100, &error)))
        next += 100;
    assert_error(code, EXTRACT_IO, &error, path, strerror(EFBIG));
    assert_non_null(strstr(error.hint, "ulimit"));
    assert_int_equal(next, 100 * ((20000 - SECTION_HEAD) / 896));
    extract_log_close(writer, NULL);
    setrlimit(RLIMIT_FSIZE, &old);
    struct extract_log *log = open_log(path);
    assert_int_equal(extract_log_status(log)->entries, next);
    assert_int_equal(extract_log_status(log)->cut, false);
    extract_log_free(log);

    // A limit that is too small even for the lock leaves no file.
    const struct extract_log_options options = {.size = sizeof options};
    small.rlim_cur = 4;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    code = extract_log_create(&writer, scratch_path("unlocked"), &options, &error);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(code, EXTRACT_IO);
    assert_string_equal(error.why, strerror(EFBIG));
    assert_non_null(strstr(error.hint, "ulimit"));
    assert_true(scratch_run("! ls | grep -q unlocked"));
}

// A real disk that is full, where one can be made.
static void test_full_disk(void **state)
{
    (void)state;
    if (!scratch_run("mkdir disk && mount -t tmpfs -o size=256k none disk"))
        skip();
    struct extract_log_writer *writer = create_log(scratch_path("disk/log"), EXTRACT_LOG_LOOP, 0);
    struct extract_error error = {0};
    uint64_t next = 0;
    enum extract_code code;
    while (!(code = put_entries(writer, next, 500, &error)))
        next += 500;
    bool named = code == EXTRACT_IO && strstr(error.why, strerror(ENOSPC)) && next > 20000;
    enum extract_code closed = extract_log_close(writer, NULL);
    struct extract_log *log;
    enum extract_code opened = extract_log_open(&log, scratch_path("disk/log"), NULL);
    uint64_t entries = opened ? 0 : extract_log_status(log)->entries;
    bool whole = !opened && !extract_log_status(log)->damaged && !extract_log_status(log)->cut;
    extract_log_free(log);
    assert_true(scratch_run("umount disk"));
    assert_true(named && whole);
    assert_true(closed == EXTRACT_OK || closed == EXTRACT_IO);
    assert_int_equal(entries, next);
}

// ---- Memory ----

static enum extract_code write_and_read(void)
{
    struct extract_log_options options = {.size = sizeof options, .policy = EXTRACT_LOG_APPEND};
    struct extract_log_writer *writer;
    struct extract_log *log;
    struct extract_error error = {0};
    uint8_t slots[800] = {0};
    struct extract_log_block block = {
        .type = EXTRACT_LOG_ENTRIES, .length = sizeof slots, .count = 100};
    enum extract_code code = extract_log_create(&writer, scratch_path("memory"), &options, &error);
    assert_true(!code || (error.code == code && error.why[0]));
    if (code)
        return code;
    code = extract_log_put_objects(writer, 0, slots, 100, NULL);
    for (unsigned i = 0; i < 100 && !code; i++) // more blocks than an index begins with
        code = extract_log_put(writer, &block, slots, NULL);
    enum extract_code closed = extract_log_close(writer, NULL);
    if (code || closed)
        return code ? code : closed;
    code = extract_log_open(&log, scratch_path("memory"), &error);
    assert_true(!code == !!log);
    if (!code)
        assert_int_equal(extract_log_status(log)->entries % 10000, 0);
    extract_log_free(log);
    return code;
}

static void test_failing_allocations(void **state)
{
    (void)state;
    extract_log_close(create_log(scratch_path("memory"), EXTRACT_LOG_APPEND, 0), NULL);
    each_allocation_fails(write_and_read);
    assert_true(scratch_run("test ! -e memory.lock"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failing_writes), cmocka_unit_test(test_short_writes),
        cmocka_unit_test(test_interrupted),    cmocka_unit_test(test_sync),
        cmocka_unit_test(test_failing_start),  cmocka_unit_test(test_file_limit),
        cmocka_unit_test(test_full_disk),      cmocka_unit_test(test_failing_allocations),
    };
    signal(SIGXFSZ, SIG_DFL); // the library must not run into it
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
