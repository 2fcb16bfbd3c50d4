// SPDX-License-Identifier: MIT
// unit: files that take their name when they are complete: what their directory contains before
// that, after the process was killed, and after the file was kept or dropped.
#define _GNU_SOURCE // O_TMPFILE
#include "base/file.h"
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { LEAVE, DROP, KEEP };

static int make_directory(void **state)
{
    static char path[] = "/tmp/ringside-files.XXXXXX";

    *state = mkdtemp(path);
    return *state && chdir(path) == 0 ? 0 : -1;
}

static int remove_directory(void **state)
{
    return unlink("new") | unlink("old") | unlink("link") | (chdir("/") || rmdir(*state));
}

static unsigned count_files(void)
{
    DIR *directory = opendir(".");
    unsigned count = 0;

    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}

static void assert_content(const char *path, const char *expected)
{
    char text[16] = "";
    FILE *file = fopen(path, "re");

    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, expected);
}

// Writes a file up to a point, in a process that is then killed.
static void write_and_die(const char *path, bool is_exclusive, int end)
{
    struct extract_atomic_file file;
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (!child) {
        if (extract_atomic_file_open(&file, path, is_exclusive, NULL) ||
            !extract_atomic_file_write(&file, "new", 3))
            _exit(1);
        if (end == DROP)
            extract_atomic_file_drop(&file);
        if (end == KEEP && extract_atomic_file_keep(&file, NULL))
            _exit(2);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static bool has_unnamed_files(void)
{
    int fd = open(".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void a_killed_process_leaves_nothing(void **state)
{
    (void)state;
    if (!has_unnamed_files())
        skip();
    write_and_die("new", false, LEAVE);
    write_and_die("new", true, LEAVE);
    assert_int_equal(count_files(), 0);
}

static void a_dropped_file_leaves_nothing(void **state)
{
    (void)state;
    write_and_die("new", false, DROP);
    write_and_die("new", true, DROP);
    assert_int_equal(count_files(), 0);
}

static void a_kept_file_is_whole(void **state)
{
    (void)state;
    write_and_die("new", true, KEEP);
    assert_int_equal(count_files(), 1);
    assert_content("new", "new");
}

static void an_old_file_is_replaced_and_keeps_its_mode(void **state)
{
    struct stat status;
    FILE *file = fopen("old", "we");

    (void)state;
    assert_non_null(file);
    fputs("old", file);
    fclose(file);
    assert_int_equal(chmod("old", 0640), 0);
    assert_int_equal(symlink("old", "link"), 0);
    write_and_die("link", false, LEAVE);
    assert_content("old", "old");
    write_and_die("link", false, KEEP);
    assert_content("old", "new");
    assert_int_equal(lstat("link", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat("old", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    assert_int_equal(count_files(), 3); // with the new one of the test before
}

// The path must not exist, nor lead anywhere.
static void an_exclusive_file_replaces_nothing(void **state)
{
    const char *const taken[] = {"old", "link"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct extract_atomic_file file;
        assert_int_equal(extract_atomic_file_open(&file, taken[i], true, NULL), EXTRACT_OK);
        assert_true(extract_atomic_file_write(&file, "x", 1));
        assert_int_equal(extract_atomic_file_keep(&file, NULL), EXTRACT_IO);
        assert_content("old", "new");
    }
    assert_int_equal(count_files(), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_process_leaves_nothing),
        cmocka_unit_test(a_dropped_file_leaves_nothing),
        cmocka_unit_test(a_kept_file_is_whole),
        cmocka_unit_test(an_old_file_is_replaced_and_keeps_its_mode),
        cmocka_unit_test(an_exclusive_file_replaces_nothing),
    };
    return cmocka_run_group_tests_name("atomic file", tests, make_directory, remove_directory);
}
