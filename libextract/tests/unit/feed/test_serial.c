// SPDX-License-Identifier: MIT
// unit: serial ports, by pseudo-terminals: their settings, their speeds, a port that vanishes and
// comes back, and the program on a port.
#define _GNU_SOURCE // ptsname, posix_openpt
#include "tests/unit/scratch.h"
#include "feed/feed.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>

enum { WAIT_MS = 100, PATIENCE = 200 }; // 20 s

static char port_path[PATH_MAX];

// Opens a terminal whose other side has the path `port_path`. Returns this side.
static int plug_in(void)
{
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(fd >= 0 && !grantpt(fd) && !unlockpt(fd));
    if (!*port_path)
        snprintf(port_path, sizeof port_path, "%s/port", scratch_folder);
    unlink(port_path);
    assert_int_equal(symlink(ptsname(fd), port_path), 0);
    return fd;
}

static void expect_bytes(struct feed *feed, const char *bytes)
{
    uint8_t got[64];
    size_t used = 0, count, length = strlen(bytes);
    for (unsigned i = 0; i < PATIENCE && used < length; i++) {
        enum feed_news news = feed_next(feed, got + used, sizeof got - used, &count, WAIT_MS);
        assert_true(news == FEED_BYTES || news == FEED_QUIET);
        used += count;
    }
    assert_int_equal(used, length);
    assert_memory_equal(got, bytes, length);
}

static void expect_news(struct feed *feed, enum feed_news wanted)
{
    uint8_t got[64];
    size_t count;
    enum feed_news news = FEED_QUIET;
    for (unsigned i = 0; i < PATIENCE && news == FEED_QUIET; i++)
        news = feed_next(feed, got, sizeof got, &count, WAIT_MS);
    assert_int_equal(news, wanted);
}

static void bytes_come_raw(void **state)
{
    struct termios before, during, after;
    struct feed feed;
    (void)state;
    int fd = plug_in(), other = open(port_path, O_RDWR | O_NOCTTY);
    assert_int_equal(tcgetattr(fd, &before), 0);
    assert_true(before.c_lflag & ICANON);
    assert_int_equal(feed_open_serial(&feed, port_path, 115200, NULL), EXTRACT_OK);
    assert_string_equal(feed.name, port_path);
    assert_int_equal(tcgetattr(fd, &during), 0);
    assert_false(during.c_lflag & (ICANON | ECHO | ISIG));
    assert_false(during.c_iflag & (ICRNL | IXON | ISTRIP));
    assert_int_equal(during.c_cflag & (CSIZE | PARENB | CSTOPB), CS8);
    assert_int_equal(write(fd, "\r\x03\x11\x04~}\xff", 7), 7);
    expect_bytes(&feed, "\r\x03\x11\x04~}\xff");
    feed_close(&feed);
    assert_int_equal(tcgetattr(fd, &after), 0);
    assert_int_equal(after.c_lflag, before.c_lflag);
    assert_int_equal(after.c_iflag, before.c_iflag);
    assert_int_equal(after.c_cflag, before.c_cflag);
    close(other);
    close(fd);
}

static void any_speed_will_do(void **state)
{
    struct feed feed;
    (void)state;
    int fd = plug_in();
    assert_int_equal(feed_open_serial(&feed, port_path, 250000, NULL), EXTRACT_OK);
    assert_int_equal(write(fd, "x", 1), 1);
    expect_bytes(&feed, "x");
    feed_close(&feed);
    close(fd);
}

static void a_port_vanishes_and_comes_back(void **state)
{
    struct feed feed;
    (void)state;
    int fd = plug_in();
    assert_int_equal(feed_open_serial(&feed, port_path, 9600, NULL), EXTRACT_OK);
    assert_int_equal(write(fd, "before", 6), 6);
    expect_bytes(&feed, "before");
    close(fd);
    expect_news(&feed, FEED_LOST);
    assert_non_null(strstr(feed.message, "waiting"));
    uint8_t byte;
    size_t count;
    for (unsigned i = 0; i < 3; i++) // the loss is reported once
        assert_int_equal(feed_next(&feed, &byte, 1, &count, WAIT_MS), FEED_QUIET);
    fd = plug_in();
    expect_news(&feed, FEED_OPEN);
    assert_int_equal(write(fd, "behind", 6), 6);
    expect_bytes(&feed, "behind");
    feed_close(&feed);
    close(fd);
}

static void refusals(void **state)
{
    struct extract_error error = {0};
    struct feed feed;
    (void)state;
    int fd = plug_in(), other = open(port_path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_int_equal(flock(other, LOCK_EX), 0);
    assert_int_equal(feed_open_serial(&feed, port_path, 9600, &error), EXTRACT_IO);
    assert_string_equal(error.why, "another program uses it");
    close(other);
    close(fd);
    assert_int_equal(feed_open_serial(&feed, port_path, 9600, &error), EXTRACT_IO);
    assert_string_equal(error.hint, "check that the adapter is plugged in");
    assert_int_equal(feed_open_serial(&feed, "/dev/null", 9600, &error), EXTRACT_IO);
    assert_string_equal(error.why, "not a terminal");
    feed_close(&feed); // the port was never opened
}

// ---- the program ----

static pid_t start_program(const char *out)
{
    char program[PATH_MAX + 32];
    ssize_t length = readlink("/proc/self/exe", program, PATH_MAX);
    assert_true(length > 0);
    program[length] = 0;
    for (unsigned i = 0; i < 3; i++) // BUILD/unit/feed/test_serial
        *strrchr(program, '/') = 0;
    strcat(program, "/ringside");
    pid_t child = fork();
    if (child)
        return child;
    int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    execl(program, program, "report", "--no-header", "--baud", "57600", port_path, (char *)NULL);
    _exit(127);
}

static bool file_has(const char *path, const char *text)
{
    static char bytes[1 << 16];
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(bytes, 1, sizeof bytes - 1, file) : 0;
    bytes[length] = 0;
    if (file)
        fclose(file);
    return strstr(bytes, text);
}

static void nap(void)
{
    const struct timespec time = {0, WAIT_MS * 1000000};
    nanosleep(&time, NULL);
}

static void expect_text(const char *path, const char *text)
{
    for (unsigned i = 0; i < PATIENCE; i++) {
        if (file_has(path, text))
            return;
        nap();
    }
    fail_msg("\"%s\" did not come", text);
}

static void the_program_reads_a_port(void **state)
{
    static const uint8_t frames[] = {0x7E, 0xAC, 0x00, 0x34, 0xFF, 0xFF, 0x03, 0x00, 0x11,
                                     0x42, 0x11, 0x02, 0x14, 0xE8, 0x03, 0xBA, 0x7E, 0x69,
                                     0x00, 0x00, 0x10, 0x00, 0x00, 0x20, 0x67, 0x7E};
    char out[PATH_MAX];
    int status;
    (void)state;
    snprintf(out, sizeof out, "%s/out", scratch_folder);
    int fd = plug_in();
    pid_t child = start_program(out);
    struct termios now = {.c_lflag = ICANON};
    for (unsigned i = 0; i < PATIENCE && now.c_lflag & ICANON; i++) {
        nap();
        tcgetattr(fd, &now);
    }
    assert_int_equal(write(fd, frames, sizeof frames), sizeof frames);
    expect_text(out, "event processed ao=0x20000010");
    close(fd);
    expect_text(out, "disconnected; waiting for it to return");
    fd = plug_in();
    expect_text(out, "reconnected");
    assert_int_equal(write(fd, frames, sizeof frames), sizeof frames);
    expect_text(out, "  3  069");
    kill(child, SIGINT);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    expect_text(out, ": 4 frames good, 0 torn,");
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_raw),
        cmocka_unit_test(any_speed_will_do),
        cmocka_unit_test(a_port_vanishes_and_comes_back),
        cmocka_unit_test(refusals),
        cmocka_unit_test(the_program_reads_a_port),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
