// SPDX-License-Identifier: MIT
// unit: updates of a template file. The tests check the results. A kill or a failure at any system
// call leaves the old file, or the new file and a way to undo the update.
#include "tests/unit/scratch.h"
#include <errno.h>
#include <extract/templates.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

int __real_open(const char *path, int flags, ...);
int __real_rename(const char *from, const char *to);
int __real_link(const char *from, const char *to);
int __real_fsync(int fd);
ssize_t __real_write(int fd, const void *bytes, size_t length);
int __wrap_open(const char *path, int flags, ...);
int __wrap_rename(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);
int __wrap_fsync(int fd);
ssize_t __wrap_write(int fd, const void *bytes, size_t length);

static long calls_left = -1; // until a call is killed or fails; below 0: none
static bool calls_kill;      // kills the process before the call

static bool call_fails(void)
{
    if (calls_left < 0 || calls_left-- > 0)
        return false;
    if (calls_kill)
        raise(SIGKILL);
    errno = ENOSPC;
    return true;
}

int __wrap_open(const char *path, int flags, ...)
{
    return call_fails() ? -1 : __real_open(path, flags, 0600);
}

int __wrap_rename(const char *from, const char *to)
{
    return call_fails() ? -1 : __real_rename(from, to);
}

int __wrap_link(const char *from, const char *to)
{
    return call_fails() ? -1 : __real_link(from, to);
}

int __wrap_fsync(int fd)
{
    return call_fails() ? -1 : __real_fsync(fd);
}

// In the call that fails, only half of the bytes reach the file.
ssize_t __wrap_write(int fd, const void *bytes, size_t length)
{
    if (calls_left == 0 && length > 1)
        return __real_write(fd, bytes, length / 2) < 0 || call_fails() ? -1 : 0;
    return call_fails() ? -1 : __real_write(fd, bytes, length);
}

static const char old_text[] = "# head\n\n010 1.0 \"a\" \\\n  X2\n# of 011\n011 1.5 \"b\"\n"
                               "013 1.0 \"d\"\n# tail\n";
static const char update_text[] = "* /etc/trcfmt\n+ 011 1.10 \"B\"\n- 013\n+ 012 1.0 \"c\" D4\n";
static const char new_text[] = "# head\n\n010 1.0 \"a\" \\\n  X2\n# of 011\n011 1.10 \"B\"\n"
                               "012 1.0 \"c\" D4\n# tail\n";
static const char undo_text[] = "* /etc/trcfmt\n- 012\n+ 011 1.5 \"b\"\n+ 013 1.0 \"d\"\n";

static bool holds(const char *name, const char *text)
{
    char bytes[4096];
    FILE *file = fopen(scratch_path(name), "rb");
    if (!file)
        return false;
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return length == strlen(text) && !memcmp(bytes, text, length);
}

static bool exists(const char *name)
{
    struct stat st;
    return lstat(scratch_path(name), &st) == 0;
}

static struct extract_template_update outcome;
static struct extract_error fault;

static enum extract_code update(const char *target, const char *changes, bool any_version)
{
    struct extract_templates *templates;
    outcome = (struct extract_template_update){.size = sizeof outcome, .any_version = any_version};
    enum extract_code code = extract_templates_open(&templates, 0, &fault);
    if (!code)
        code = extract_templates_update(templates, scratch_path(target), scratch_path(changes),
                                        &outcome, &fault);
    extract_templates_close(templates);
    return code;
}

static void make_files(void)
{
    assert_true(scratch_run("rm -f t*"));
    scratch_puts("t.fmt", old_text);
    scratch_puts("t.trc", update_text);
}

// Asserts that an update with `lines` turns `before` into `after`, and that its undo file restores
// `before`.
static void check(const char *before, const char *lines, const char *after)
{
    make_files();
    scratch_puts("t.fmt", before);
    scratch_puts("t.trc", lines);
    assert_int_equal(update("t.fmt", "t.trc", false), EXTRACT_OK);
    assert_true(holds("t.fmt", after));
    if (!exists("t.undo.trc"))
        return;
    assert_int_equal(update("t.fmt", "t.undo.trc", true), EXTRACT_OK);
    assert_true(holds("t.fmt", before));
}

static void changes_are_applied_and_taken_back(void **state)
{
    (void)state;
    check(old_text, update_text, new_text);
    assert_true(holds("t.undo.trc", undo_text));
    check("", "* /etc/trcfmt\n+ 010 1.0 a", "010 1.0 a\n");
    check("# x\n", "* /etc/trcfmt\n+ 010 1.0 a", "# x\n010 1.0 a\n");
    check("010 1.0 a\n", "*\t/etc/trcfmt  \n- 010\n", "");
    check("010 1.0 a\n", "* /etc/trcfmt\n# - 010\n* - 010\n\n", "010 1.0 a\n");
    check("", "* /etc/trcfmt\n+ 010 1.0 a \\ \n# - 011\n - b\n+ 011 1.0 c\n# \\\n- 011\n",
          "010 1.0 a \\ \n# - 011\n - b\n");
}

// A last line without a line end gets one if another line follows it.
static void lines_are_ended(void **state)
{
    (void)state;
    make_files();
    scratch_puts("t.fmt", "010 1.0 a\n# x");
    scratch_puts("t.trc", "* /etc/trcfmt\n+ 010 1.0 b");
    assert_int_equal(update("t.fmt", "t.trc", false), EXTRACT_OK);
    assert_true(holds("t.fmt", "010 1.0 b\n# x"));
    scratch_puts("t2.trc", "* /etc/trcfmt\n- 010");
    assert_int_equal(update("t.fmt", "t2.trc", false), EXTRACT_OK);
    scratch_puts("t3.trc", "* /etc/trcfmt\n+ 012 1.0 b");
    assert_int_equal(update("t.fmt", "t3.trc", false), EXTRACT_OK);
    assert_true(holds("t.fmt", "# x\n012 1.0 b\n"));
}

static void changes_follow_one_another(void **state)
{
    (void)state;
    check("010 1.0 a\n", "* /etc/trcfmt\n- 010\n+ 010 0.1 b\n+ 010 0.2 c\n", "010 0.2 c\n");
    assert_int_equal(outcome.replaced, 1);
    check("020 1.0 a\n", "* /etc/trcfmt\n+ 010 1.0 b\n- 010\n", "020 1.0 a\n");
    check("020 1.0 a\n", "* /etc/trcfmt\n+ 010 1.0 b\n- 010\n+ 0100 2.0 c\n",
          "0100 2.0 c\n020 1.0 a\n");
}

static void version_decides(void **state)
{
    (void)state;
    check("010 1.9 a\n", "* /etc/trcfmt\n+ 010 1.10 b\n", "010 1.10 b\n");
    check("010 2.0 a\n", "* /etc/trcfmt\n+ 010 1.10 b\n", "010 2.0 a\n");
    assert_int_equal(outcome.kept, 1);
    check("010 1.1 a\n", "* /etc/trcfmt\n+ 010 1.01 b\n", "010 1.01 b\n");
    scratch_puts("t.fmt", "010 2.0 a\n");
    scratch_puts("t.trc", "* /etc/trcfmt\n+ 010 1.10 b\n");
    assert_true(scratch_run("rm -f t.undo*"));
    assert_int_equal(update("t.fmt", "t.trc", true), EXTRACT_OK);
    assert_true(holds("t.fmt", "010 1.10 b\n"));
}

// A file may define an id twice. The newer version is valid, and after an update the updated one.
static void double_templates(void **state)
{
    (void)state;
    make_files();
    scratch_puts("t.fmt", "010 1.0 a\n010 1.1 b\n");
    scratch_puts("t.trc", "* /etc/trcfmt\n+ 010 1.2 c\n");
    assert_int_equal(update("t.fmt", "t.trc", false), EXTRACT_OK);
    assert_true(holds("t.fmt", "010 1.0 a\n010 1.2 c\n"));
    scratch_puts("t3.fmt", "010 1.1 b\n010 1.0 a\n");
    scratch_puts("t3.trc", "* /etc/trcfmt\n+ 010 0.9 c\n");
    assert_int_equal(update("t3.fmt", "t3.trc", true), EXTRACT_OK);
    assert_true(holds("t3.fmt", "010 0.9 c\n"));
    assert_true(holds("t3.undo.trc", "* /etc/trcfmt\n+ 010 1.1 b\n"));
    scratch_puts("t2.trc", "* /etc/trcfmt\n- 010\n");
    assert_int_equal(update("t.fmt", "t2.trc", false), EXTRACT_OK);
    assert_true(holds("t.fmt", ""));
    assert_true(holds("t2.undo.trc", "* /etc/trcfmt\n+ 010 1.2 c\n"));
}

// 100 and 1000 have the same hook id, but they are two templates.
static void wide_ids_stay_apart(void **state)
{
    (void)state;
    check("100 1.0 a\n", "* /etc/trcfmt\n+ 1000 1.0 b\n", "100 1.0 a\n1000 1.0 b\n");
    check("100 1.0 a\n1000 1.0 b\n", "* /etc/trcfmt\n- 100\n- 1000\n", "");
}

// Asserts that the file is unchanged, or that it is updated and its undo file exists.
static void assert_either(void)
{
    if (holds("t.fmt", old_text))
        return;
    assert_true(holds("t.fmt", new_text));
    assert_true(holds("t.undo.trc", undo_text));
}

static void failing_calls_leave_old_or_new(void **state)
{
    (void)state;
    bool reached = true;
    long n = 0, refused = 0;
    for (; reached; n++) {
        make_files();
        calls_left = n;
        calls_kill = false;
        enum extract_code code = update("t.fmt", "t.trc", false);
        reached = calls_left < 0;
        calls_left = -1;
        // A directory that cannot be opened for syncing is ignored, and a file that cannot be made
        // without a name has a temporary one.
        assert_true(code == EXTRACT_OK || (reached && code == EXTRACT_IO));
        refused += code == EXTRACT_IO;
        assert_either();
        assert_true(scratch_run("! ls | grep -q tmp"));
        // A second update without the fault succeeds, whatever the first one left.
        assert_int_equal(update("t.fmt", "t.trc", false), EXTRACT_OK);
        assert_true(holds("t.fmt", new_text) && holds("t.undo.trc", undo_text));
    }
    assert_true(refused >= 8 && refused + 5 >= n);
}

// Returns the status of a child that makes the update and is killed before its n-th call.
static int killed_at(long n)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        calls_left = n;
        calls_kill = true;
        _exit(update("t.fmt", "t.trc", false) != EXTRACT_OK);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void kills_leave_old_or_new(void **state)
{
    long n = 0;
    int status;
    (void)state;
    do {
        make_files();
        status = killed_at(n++);
        assert_either();
        assert_int_equal(update("t.fmt", "t.trc", false), EXTRACT_OK);
        assert_true(holds("t.fmt", new_text) && holds("t.undo.trc", undo_text));
    } while (WIFSIGNALED(status));
    assert_int_equal(status, 0);
    assert_true(n > 10);
}

// Kills the same child after various times instead of before a call.
static void kills_at_any_time(void **state)
{
    (void)state;
    for (useconds_t i = 0; i < 60; i++) {
        int status;
        make_files();
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child)
            _exit(update("t.fmt", "t.trc", false) != EXTRACT_OK);
        usleep(i * 37);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_either();
    }
}

static enum extract_code attempt_update(void)
{
    make_files();
    return update("t.fmt", "t.trc", false);
}

static void allocations_may_fail(void **state)
{
    (void)state;
    each_allocation_fails(attempt_update);
}

// The time for many changes to the same ids grows only with their number.
static void many_changes(void **state)
{
    enum { COUNT = 200000 };
    (void)state;
    make_files();
    FILE *file = fopen(scratch_path("t.trc"), "w");
    assert_non_null(file);
    fputs("* /etc/trcfmt\n", file);
    for (unsigned i = 0; i < COUNT; i++)
        fprintf(file, "%c %04X%s\n", i % 3 ? '+' : '-', 0x1000 + i % 0xF000, i % 3 ? " 1.0 x" : "");
    assert_int_equal(fclose(file), 0);
    assert_int_equal(update("t.fmt", "t.trc", false), EXTRACT_OK);
    assert_int_equal(outcome.added + outcome.replaced, COUNT - (COUNT + 2) / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_applied_and_taken_back),
        cmocka_unit_test(lines_are_ended),
        cmocka_unit_test(changes_follow_one_another),
        cmocka_unit_test(version_decides),
        cmocka_unit_test(double_templates),
        cmocka_unit_test(wide_ids_stay_apart),
        cmocka_unit_test(failing_calls_leave_old_or_new),
        cmocka_unit_test(kills_leave_old_or_new),
        cmocka_unit_test(kills_at_any_time),
        cmocka_unit_test(allocations_may_fail),
        cmocka_unit_test(many_changes),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
