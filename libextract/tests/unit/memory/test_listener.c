// SPDX-License-Identifier: MIT
// Tests of memory/live/live_listener.c: UNIX sockets, their files, and who is accepted.
#define _GNU_SOURCE
#include "memory/live/live_listener.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[64], path[96], place[104], name[128];

static enum extract_code open_path(int *fd, struct extract_error *error)
{
    return listener_open(fd, place, 1, name, sizeof name, error);
}

static int connect_path(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    strcpy(address.sun_path, path);
    if (!connect(fd, (struct sockaddr *)&address, sizeof address))
        return fd;
    close(fd);
    return -1;
}

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/listener-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/s", folder);
    snprintf(place, sizeof place, "unix:%s", path);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

// The file is the user's from its first moment, whatever the umask is, and goes with the listener.
static void file_of_the_user(void **state)
{
    struct stat status;
    char client[64], expected[64];
    int listener;
    mode_t mask = umask(0);
    (void)state;

    assert_int_equal(open_path(&listener, NULL), EXTRACT_OK);
    umask(mask);
    assert_string_equal(name, path);
    assert_int_equal(lstat(path, &status), 0);
    assert_int_equal(status.st_mode, S_IFSOCK | 0600);
    assert_int_equal(listener_accept(listener, client, sizeof client), -1);
    int fd = connect_path();
    int accepted = listener_accept(listener, client, sizeof client);
    assert_true(accepted >= 0);
    snprintf(expected, sizeof expected, "process %d", (int)getpid());
    assert_string_equal(client, expected);
    close(accepted);
    close(fd);
    listener_close(listener);
    assert_int_equal(lstat(path, &status), -1);
}

static void replaces_only_what_is_left(void **state)
{
    struct extract_error error;
    struct stat status;
    int listener, other;
    (void)state;

    // Another listener.
    assert_int_equal(open_path(&other, NULL), EXTRACT_OK);
    assert_int_equal(open_path(&listener, &error), EXTRACT_IO);
    assert_non_null(strstr(error.hint, "another program listens there"));
    // One that was killed.
    close(other);
    assert_int_equal(lstat(path, &status), 0);
    assert_int_equal(open_path(&listener, NULL), EXTRACT_OK);
    // One that took its place is not removed.
    unlink(path);
    assert_int_equal(open_path(&other, NULL), EXTRACT_OK);
    listener_close(listener);
    int fd = connect_path();
    assert_true(fd >= 0);
    close(fd);
    listener_close(other);

    // A file, and a link to nothing.
    fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
    assert_int_equal(open_path(&listener, &error), EXTRACT_IO);
    assert_string_equal(error.why, "exists and is not a socket");
    assert_int_equal(lstat(path, &status), 0);
    assert_int_equal(status.st_size, 1);
    unlink(path);
    assert_int_equal(symlink("nowhere", path), 0);
    assert_int_equal(open_path(&listener, &error), EXTRACT_IO);
    assert_int_equal(lstat(path, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
}

static void paths(void **state)
{
    struct extract_error error;
    char longest[5 + 108 + 1] = "unix:";
    int listener;
    (void)state;

    assert_int_equal(listener_open(&listener, longest, 1, name, sizeof name, &error),
                     EXTRACT_USAGE);
    memset(longest + 5, 'x', 108);
    assert_int_equal(listener_open(&listener, longest, 1, name, sizeof name, &error),
                     EXTRACT_USAGE);
    assert_string_equal(error.why, "the path of a UNIX socket has 1 to 107 bytes");
    assert_int_equal(listener_open(&listener, "unix:/nowhere/s", 1, name, sizeof name, &error),
                     EXTRACT_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(file_of_the_user, set_up, tear_down),
        cmocka_unit_test_setup_teardown(replaces_only_what_is_left, set_up, tear_down),
        cmocka_unit_test(paths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
