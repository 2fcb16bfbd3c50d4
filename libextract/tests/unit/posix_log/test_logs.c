// SPDX-License-Identifier: MIT
// Logs of streams of this process, read back. Truth: what the trace points were given, and IEEE Std
// 1003.1-2008.
#include "tests/unit/log_builder.h"
#include "tests/unit/posix_log/logging.h"
#include <sys/stat.h>

static trace_event_id_t type(const char *name)
{
    trace_event_id_t id;
    assert_int_equal(posix_trace_eventid_open(name, &id), 0);
    return id;
}

// A stream that is started, given the numbers below `count`, and shut down.
static void make_log(int fd, const trace_attr_t *attr, trace_event_id_t id, uint32_t count)
{
    trace_id_t trid = create_log(fd, attr);
    assert_int_equal(posix_trace_start(trid), 0);
    event_numbers(id, 0, count);
    assert_int_equal(posix_trace_shutdown(trid), 0);
}

static void check_numbers(trace_id_t trid, trace_event_id_t id, uint32_t count)
{
    expect_logged(trid, POSIX_TRACE_START);
    for (uint32_t i = 0; i < count; i++) {
        struct got got = expect_logged(trid, id);
        assert_int_equal(number_in(&got), i);
        assert_int_equal(got.info.posix_pid, getpid());
        assert_true(pthread_equal(got.info.posix_thread_id, pthread_self()));
    }
    struct got stop = expect_logged(trid, POSIX_TRACE_STOP);
    assert_int_equal(number_in(&stop), 0);
    expect_end(trid);
}

static void test_h1_reopened(void **state)
{
    trace_attr_t attr, got;
    char name[TRACE_NAME_MAX], version[TRACE_NAME_MAX], was[TRACE_NAME_MAX];
    struct timespec before, after, created;
    size_t size;
    int policy, fd = new_file();
    (void)state;
    trace_event_id_t id = type("h1_event");
    posix_trace_attr_init(&attr);
    posix_trace_attr_setname(&attr, "h1");
    posix_trace_attr_setlogsize(&attr, 100000);
    clock_gettime(CLOCK_REALTIME, &before);
    make_log(fd, &attr, id, 100);
    clock_gettime(CLOCK_REALTIME, &after);
    trace_id_t trid = open_log(fd);
    memset(&got, 0x5A, sizeof got);
    assert_int_equal(posix_trace_get_attr(trid, &got), 0);
    posix_trace_attr_getname(&got, name);
    assert_string_equal(name, "h1");
    posix_trace_attr_getgenversion(&got, version);
    posix_trace_attr_getgenversion(&attr, was);
    assert_string_equal(version, was);
    posix_trace_attr_getlogsize(&got, &size);
    assert_int_equal(size, 100000);
    posix_trace_attr_getstreamfullpolicy(&got, &policy);
    assert_int_equal(policy, POSIX_TRACE_FLUSH);
    posix_trace_attr_getlogfullpolicy(&got, &policy);
    assert_int_equal(policy, POSIX_TRACE_LOOP);
    posix_trace_attr_getcreatetime(&got, &created);
    assert_true(nanoseconds(&created) >= nanoseconds(&before));
    assert_true(nanoseconds(&created) <= nanoseconds(&after));
    check_numbers(trid, id, 100);
    assert_int_equal(posix_trace_close(trid), 0);
    assert_int_equal(posix_trace_close(trid), EINVAL);
    close(fd);
}

// Every attribute that can be chosen, none of them as it would be by itself.
static void test_h47_attributes(void **state)
{
    enum { STREAM = 12345, LOG = 222222, DATA = 77 };
    trace_attr_t attr = log_attributes(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_UNTIL_FULL, STREAM, LOG);
    struct timespec resolution, was;
    size_t size;
    int value, fd = new_file();
    (void)state;
    assert_int_equal(posix_trace_attr_setmaxdatasize(&attr, DATA), 0);
    assert_int_equal(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    make_log(fd, &attr, POSIX_TRACE_UNNAMED_USEREVENT, 1);
    posix_trace_attr_getclockres(&attr, &was);
    trace_id_t trid = open_log(fd);
    assert_int_equal(posix_trace_get_attr(trid, &attr), 0);
    posix_trace_attr_getstreamsize(&attr, &size);
    assert_int_equal(size, STREAM);
    posix_trace_attr_getlogsize(&attr, &size);
    assert_int_equal(size, LOG);
    posix_trace_attr_getmaxdatasize(&attr, &size);
    assert_int_equal(size, DATA);
    posix_trace_attr_getinherited(&attr, &value);
    assert_int_equal(value, POSIX_TRACE_INHERITED);
    posix_trace_attr_getstreamfullpolicy(&attr, &value);
    assert_int_equal(value, POSIX_TRACE_UNTIL_FULL);
    posix_trace_attr_getlogfullpolicy(&attr, &value);
    assert_int_equal(value, POSIX_TRACE_UNTIL_FULL);
    posix_trace_attr_getclockres(&attr, &resolution);
    assert_int_equal(nanoseconds(&resolution), nanoseconds(&was));
    assert_int_equal(posix_trace_close(trid), 0);
    close(fd);
}

static void refuse(int fd)
{
    trace_id_t trid;
    assert_int_equal(posix_trace_open(fd, &trid), EINVAL);
}

// What is no log, or not of this kind of machine, and what is not open for reading.
static void test_h6_no_log(void **state)
{
    enum { AT_ORDER = 4 };
    char path[] = "/tmp/posix-log-XXXXXX";
    int fd = new_file(), ends[2], named = mkstemp(path);
    (void)state;
    refuse(fd);
    refuse(-1);
    assert_int_equal(write(fd, "a text and no log\n", 18), 18);
    refuse(fd);
    close(fd);
    assert_int_equal(pipe(ends), 0);
    refuse(ends[0]);
    close(ends[0]);
    close(ends[1]);
    make_log(named, NULL, POSIX_TRACE_UNNAMED_USEREVENT, 3);
    fd = open(path, O_WRONLY);
    refuse(fd);
    close(fd);
    assert_int_equal(ftruncate(named, 90), 0);
    refuse(named);
    close(named);
    unlink(path);
}

// A log that is whole, but of another kind of trace, or in which nothing was recorded.
static void test_h43_other_traces(void **state)
{
    static struct ring_image image;
    char folder[] = "/tmp/posix-log-XXXXXX", path[64];
    uint64_t stamp = 10;
    struct log_file log;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/log", folder);
    ring_build(&image, &ring_plain);
    ring_run(&image, 5, &stamp, 10);
    log_open(&log, path, &image);
    log_entries(&log, &image, 0, 5);
    log_close(&log);
    int fd = open(path, O_RDWR);
    refuse(fd);
    close(fd);
    unlink(path);
    memset(&log, 0, sizeof log);
    log_create(&log, path, NULL);
    log_mark(&log, EXTRACT_MARK_START, 0, "");
    log_close(&log);
    fd = open(path, O_RDWR);
    refuse(fd);
    close(fd);
    unlink(path);
    rmdir(folder);
}

// ---- creating ----

static void test_h7_descriptors(void **state)
{
    char path[] = "/tmp/posix-log-XXXXXX";
    trace_id_t trid;
    int named = mkstemp(path), ends[2], fd;
    (void)state;
    fd = open(path, O_RDONLY);
    assert_int_equal(posix_trace_create_withlog(0, NULL, fd, &trid), EBADF);
    close(fd);
    assert_int_equal(posix_trace_create_withlog(0, NULL, -1, &trid), EBADF);
    assert_int_equal(posix_trace_create_withlog(0, NULL, fd, &trid), EBADF);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(posix_trace_create_withlog(0, NULL, ends[1], &trid), EINVAL);
    close(ends[0]);
    close(ends[1]);
    fd = open("/dev/null", O_WRONLY);
    assert_int_equal(posix_trace_create_withlog(0, NULL, fd, &trid), EINVAL);
    close(fd);
    // What is not a log is not touched.
    assert_int_equal(write(named, "mine", 4), 4);
    assert_int_equal(posix_trace_create_withlog(0, NULL, named, &trid), EINVAL);
    struct stat st;
    assert_int_equal(fstat(named, &st), 0);
    assert_int_equal(st.st_size, 4);
    // Neither O_APPEND nor the position matter.
    assert_int_equal(ftruncate(named, 0), 0);
    fd = open(path, O_WRONLY | O_APPEND);
    make_log(fd, NULL, POSIX_TRACE_UNNAMED_USEREVENT, 10);
    make_log(fd, NULL, POSIX_TRACE_UNNAMED_USEREVENT, 20);
    close(fd);
    trid = open_log(named);
    check_numbers(trid, POSIX_TRACE_UNNAMED_USEREVENT, 20);
    assert_int_equal(posix_trace_close(trid), 0);
    close(named);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_h1_reopened),    cmocka_unit_test(test_h6_no_log),
        cmocka_unit_test(test_h7_descriptors), cmocka_unit_test(test_h43_other_traces),
        cmocka_unit_test(test_h47_attributes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
