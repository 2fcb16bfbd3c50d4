// SPDX-License-Identifier: MIT
// Logs and who writes them: a second writer, children of the first, and what a log says when its
// writer was killed, or its disk is full. Truth: the numbers that the trace points were given, and
// IEEE Std 1003.1-2008.
#define _GNU_SOURCE // unshare
#include "tests/unit/posix_log/logging.h"
#include <extract/log.h>
#include <signal.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { USER = 32, HEAD = 96, MARK = 6, FULL = 3 };

static off_t size_of(int fd)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    return st.st_size;
}

// The numbers from 0 on that a log holds.
static uint32_t count_events(int fd)
{
    trace_id_t trid = open_log(fd);
    uint32_t count = 0;
    for (struct got got = next(trid); !got.unavailable; got = next(trid))
        if (got.info.posix_event_id == USER)
            assert_int_equal(number_in(&got), count++);
    assert_int_equal(posix_trace_close(trid), 0);
    return count;
}

// ---- a second writer ----

static int create_again(int fd, int policy)
{
    trace_attr_t attr = log_attributes(POSIX_TRACE_UNTIL_FULL, policy, 20000, 100000);
    trace_id_t trid;
    int error = posix_trace_create_withlog(0, &attr, fd, &trid);
    return error ? error : posix_trace_shutdown(trid);
}

// What a child gets that tries it too.
static int create_in_child(const char *path)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child)
        _exit(create_again(open(path, O_RDWR), POSIX_TRACE_APPEND));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void check_second(int policy)
{
    char path[] = "/tmp/posix-log-XXXXXX";
    const struct extract_log_options options = {.size = sizeof options,
                                                .policy = EXTRACT_LOG_APPEND};
    struct extract_log_writer *writer;
    struct extract_error error;
    int fd = mkstemp(path), other = open(path, O_RDWR);
    trace_attr_t attr = log_attributes(POSIX_TRACE_UNTIL_FULL, policy, 20000, 100000);
    trace_id_t trid = create_log(fd, &attr);
    assert_int_equal(posix_trace_start(trid), 0);
    event_numbers(USER, 0, 100);
    assert_int_equal(posix_trace_flush(trid), 0);
    assert_int_equal(create_again(fd, policy), EINVAL);
    assert_int_equal(create_again(other, policy), EINVAL);
    assert_int_equal(create_in_child(path), EINVAL);
    assert_int_equal(extract_log_create(&writer, path, &options, &error), EXTRACT_LIMIT);
    event_numbers(USER, 100, 200);
    assert_int_equal(posix_trace_shutdown(trid), 0);
    assert_int_equal(count_events(fd), 200);
    assert_int_equal(create_again(other, policy), 0);
    close(other);
    close(fd);
    unlink(path);
}

static void test_h29_one_writer(void **state)
{
    (void)state;
    check_second(POSIX_TRACE_LOOP);
    check_second(POSIX_TRACE_UNTIL_FULL);
    check_second(POSIX_TRACE_APPEND);
}

// A writer that is no more holds nothing, and a child of one does not either.
static void test_h30_killed_writer(void **state)
{
    int fd = new_file(), ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        trace_attr_t attr = log_attributes(POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 20000, 0);
        trace_id_t trid;
        if (posix_trace_create_withlog(0, &attr, fd, &trid))
            _exit(1);
        pid_t self = fork() ? 0 : getpid();
        if (self && write(ends[1], &self, sizeof self) < 0)
            _exit(1);
        for (;;)
            pause();
    }
    pid_t grandchild;
    close(ends[1]);
    assert_int_equal(read(ends[0], &grandchild, sizeof grandchild), sizeof grandchild);
    int held = create_again(fd, POSIX_TRACE_APPEND);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    int freed = create_again(fd, POSIX_TRACE_APPEND);
    kill(grandchild, SIGKILL);
    assert_int_equal(held, EINVAL);
    assert_int_equal(freed, 0);
    close(ends[0]);
    close(fd);
}

// What a child has of the log is a copy: it writes nothing, whatever it does.
static void test_h31_children(void **state)
{
    int fd = new_file(), status;
    (void)state;
    trace_attr_t attr = log_attributes(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, 20000, 0);
    trace_id_t trid = create_log(fd, &attr);
    assert_int_equal(posix_trace_start(trid), 0);
    event_numbers(USER, 0, 100);
    assert_int_equal(posix_trace_flush(trid), 0);
    off_t before = size_of(fd);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        bool good = posix_trace_flush(trid) == EINVAL && posix_trace_shutdown(trid) == EINVAL;
        exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(size_of(fd), before);
    event_numbers(USER, 100, 200);
    assert_int_equal(posix_trace_shutdown(trid), 0);
    assert_int_equal(count_events(fd), 200);
    close(fd);
}

// ---- what is left of a writer that was killed ----

// The file as it is by now: what a writer leaves that is killed at this moment.
static int copy_file(int fd, off_t bytes)
{
    char *buffer = malloc((size_t)bytes);
    int copy = new_file();
    assert_non_null(buffer);
    assert_int_equal(pread(fd, buffer, (size_t)bytes, 0), bytes);
    assert_int_equal(write(copy, buffer, (size_t)bytes), bytes);
    free(buffer);
    return copy;
}

static void check_status(int fd, int full, int log_overrun, int overrun)
{
    trace_id_t trid = open_log(fd);
    for (int i = 0; i < 2; i++) {
        struct posix_trace_status_info status = status_of(trid);
        assert_int_equal(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
        assert_int_equal(status.posix_log_full_status, full);
        assert_int_equal(status.posix_log_overrun_status, log_overrun);
        assert_int_equal(status.posix_stream_overrun_status, overrun);
        assert_int_equal(status.posix_stream_flush_error, 0);
    }
    assert_int_equal(posix_trace_close(trid), 0);
    close(fd);
}

// Returns whether the file ends with a marker that the log is full.
static bool ends_full(int fd, off_t bytes)
{
    uint8_t head[8];
    assert_int_equal(pread(fd, head, sizeof head, bytes - HEAD), sizeof head);
    return !memcmp(head, "RLBK", 4) && head[4] == MARK && head[6] == FULL;
}

// A log that is full says so, and so does one whose writer came no further than its last record.
static void test_h32_killed_full(void **state)
{
    int fd = new_file();
    uint32_t next = 0;
    (void)state;
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, 20000, 50000);
    trace_id_t trid = create_log(fd, &attr);
    assert_int_equal(posix_trace_start(trid), 0);
    event_numbers(USER, 0, next = 10);
    assert_int_equal(posix_trace_flush(trid), 0);
    check_status(copy_file(fd, size_of(fd)), POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN,
                 POSIX_TRACE_NO_OVERRUN);
    for (; status_of(trid).posix_log_full_status != POSIX_TRACE_FULL; next += 10) {
        assert_true(next < 5000);
        event_numbers(USER, next, next + 10);
        assert_int_equal(posix_trace_flush(trid), 0);
    }
    off_t size = size_of(fd);
    assert_true(ends_full(fd, size));
    check_status(copy_file(fd, size), POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN,
                 POSIX_TRACE_NO_OVERRUN);
    check_status(copy_file(fd, size - HEAD), POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN,
                 POSIX_TRACE_NO_OVERRUN);
    assert_int_equal(posix_trace_shutdown(trid), 0);
    close(fd);
}

// What the stream lost before the log is no loss of the log's.
static void test_h33_killed_overrun(void **state)
{
    int fd = new_file();
    (void)state;
    trace_attr_t attr = log_attributes(POSIX_TRACE_LOOP, POSIX_TRACE_APPEND, 4000, 0);
    trace_id_t trid = create_log(fd, &attr);
    assert_int_equal(posix_trace_start(trid), 0);
    event_numbers(USER, 0, 1000);
    assert_int_equal(posix_trace_flush(trid), 0);
    check_status(copy_file(fd, size_of(fd)), POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN,
                 POSIX_TRACE_OVERRUN);
    assert_int_equal(posix_trace_shutdown(trid), 0);
    close(fd);
}

// ---- names ----

// One that is registered when the log is long there is in it, also when the writer is killed.
static void test_h34_later_names(void **state)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_event_id_t early, late;
    int fd = new_file();
    (void)state;
    assert_int_equal(posix_trace_eventid_open("h34 early", &early), 0);
    trace_attr_t attr = log_attributes(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, 20000, 0);
    trace_id_t trid = create_log(fd, &attr);
    assert_int_equal(posix_trace_start(trid), 0);
    posix_trace_event(early, NULL, 0);
    assert_int_equal(posix_trace_flush(trid), 0);
    assert_int_equal(posix_trace_trid_eventid_open(trid, "h34 late", &late), 0);
    posix_trace_event(late, NULL, 0);
    assert_int_equal(posix_trace_flush(trid), 0);
    int copy = copy_file(fd, size_of(fd));
    assert_int_equal(posix_trace_shutdown(trid), 0);
    trid = open_log(copy);
    expect_logged(trid, POSIX_TRACE_START);
    expect_logged(trid, early);
    expect_logged(trid, late);
    assert_int_equal(posix_trace_eventid_get_name(trid, early, name), 0);
    assert_string_equal(name, "h34 early");
    assert_int_equal(posix_trace_eventid_get_name(trid, late, name), 0);
    assert_string_equal(name, "h34 late");
    assert_int_equal(posix_trace_close(trid), 0);
    close(copy);
    close(fd);
}

// ---- while it is written ----

// A reader has the events that existed when it opened the log. A later reader of a log that wraps
// has newer ones. What is overwritten in the meantime is reported, and never taken for something
// else.
static void check_reading(int policy, size_t log_size)
{
    int fd = new_file();
    trace_attr_t attr = log_attributes(POSIX_TRACE_UNTIL_FULL, policy, 20000, log_size);
    trace_id_t trid = create_log(fd, &attr), early = 0;
    bool gap = false;
    assert_int_equal(posix_trace_start(trid), 0);
    for (uint32_t i = 0; i < 5000; i += 100) {
        event_numbers(USER, i, i + 100);
        assert_int_equal(posix_trace_flush(trid), 0);
        if (i == 400)
            early = open_log(fd);
    }
    uint32_t count = 0, due = 0;
    for (struct got got = next(early); !got.unavailable; got = next(early)) {
        gap |= got.info.posix_event_id == POSIX_TRACE_OVERFLOW;
        if (got.info.posix_event_id != USER)
            continue;
        assert_true(number_in(&got) == due || (gap && number_in(&got) > due));
        due = number_in(&got) + 1;
        count++;
    }
    if (policy == POSIX_TRACE_APPEND)
        assert_int_equal(count, 500);
    else
        assert_true(count < 500);
    assert_int_equal(posix_trace_close(early), 0);
    assert_int_equal(posix_trace_shutdown(trid), 0);
    if (policy == POSIX_TRACE_APPEND)
        assert_int_equal(count_events(fd), 5000);
    close(fd);
}

static void test_h35_while_written(void **state)
{
    (void)state;
    check_reading(POSIX_TRACE_APPEND, 0);
    check_reading(POSIX_TRACE_LOOP, 20000);
}

// ---- a full disk ----

// Makes a file system of 256 KiB that no other process sees. Returns false if that is not possible
// here.
static bool make_disk(const char *path)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", path, "tmpfs", 0, "size=256k") == 0;
}

enum { NO_DISK = 2, BAD = 1 };

// Fills the file system, checks the first error, makes space, and continues: nothing that was
// accepted is lost.
static int fill_disk(int fd, int filler)
{
    trace_attr_t attr = log_attributes(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, 20000, 0);
    trace_id_t trid = create_log(fd, &attr);
    struct posix_trace_status_info status;
    uint32_t next = 0;
    int error = posix_trace_start(trid);
    for (; !error && next < 20000; next += 100) {
        event_numbers(USER, next, next + 100);
        error = posix_trace_flush(trid);
    }
    uint32_t flushed = next - 100;
    if (error != ENOSPC || posix_trace_get_status(trid, &status) ||
        status.posix_stream_flush_error != ENOSPC || count_events(fd) < flushed)
        return BAD;
    if (ftruncate(filler, 0) || posix_trace_flush(trid) || posix_trace_shutdown(trid))
        return BAD;
    return count_events(fd) == next ? 0 : BAD;
}

static void test_h36_full_disk(void **state)
{
    char folder[] = "/tmp/posix-disk-XXXXXX";
    int status;
    (void)state;
    assert_non_null(mkdtemp(folder));
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        if (!make_disk(folder) || chdir(folder))
            _exit(NO_DISK);
        int filler = open("filler", O_RDWR | O_CREAT, 0600);
        int fd = open("log", O_RDWR | O_CREAT, 0600);
        bool filled = filler >= 0 && fd >= 0 && posix_fallocate(filler, 0, 128 * 1024) == 0;
        _exit(filled ? fill_disk(fd, filler) : NO_DISK);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    rmdir(folder);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_DISK)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_h29_one_writer),     cmocka_unit_test(test_h30_killed_writer),
        cmocka_unit_test(test_h31_children),       cmocka_unit_test(test_h32_killed_full),
        cmocka_unit_test(test_h33_killed_overrun), cmocka_unit_test(test_h34_later_names),
        cmocka_unit_test(test_h35_while_written),  cmocka_unit_test(test_h36_full_disk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
