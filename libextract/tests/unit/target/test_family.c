// SPDX-License-Identifier: MIT
// unit: children that inherit a stream. The tests make them in each possible way, from a parent
// that has or has not passed a trace point before. Other tests have children that do not inherit
// the stream, or more children than the object's process table can hold.
#define _GNU_SOURCE // vfork
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
// clang-format off
#include <cmocka.h>
#include "tests/unit/target/host_stream.h"
// clang-format on

enum { EACH = 3, WORDS = 4096, STATUS = 77, TYPE = 42 };

extern char **environ;

static void write_each(void)
{
    for (uint32_t k = 0; k < EACH; k++)
        posix_trace_event(TYPE, &k, sizeof k);
}

// Returns the number of events of all processes.
static unsigned events(struct traced *t)
{
    struct ring_record r[64];
    int there = ring_records(t->stream, r, 64);
    unsigned count = 0;
    assert_true(there >= 0 && there < 64);
    for (int k = 0; k < there; k++)
        count += r[k].id == TYPE;
    return count;
}

// ---- ways to make a child that writes ----

static char *const writer[] = {"test_family", "write", NULL};

static void finish(pid_t child)
{
    int status;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != STATUS)
        _exit(1);
}

static void by_fork(void)
{
    pid_t child = fork();
    if (!child) {
        write_each();
        _exit(STATUS);
    }
    finish(child);
}

static void by_two_forks(void)
{
    pid_t child = fork();
    if (!child) {
        by_fork();
        _exit(STATUS);
    }
    finish(child);
}

static void by_exec(void)
{
    pid_t child = fork();
    if (!child) {
        execv("/proc/self/exe", writer);
        _exit(1);
    }
    finish(child);
}

static void by_vfork(void)
{
    pid_t child = vfork();
    if (!child) {
        execv("/proc/self/exe", writer);
        _exit(1);
    }
    finish(child);
}

static void by_spawn(void)
{
    pid_t child;
    if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, writer, environ))
        _exit(1);
    finish(child);
}

// The shell between the two processes knows nothing of the recorder.
static void by_system(void)
{
    char command[64];
    snprintf(command, sizeof command, "/proc/%d/exe write; exit $?", (int)getpid());
    int status = system(command); // NOLINT: the command is this program
    if (!WIFEXITED(status) || WEXITSTATUS(status) != STATUS)
        _exit(1);
}

// ---- the traced process ----

struct process {
    pid_t pid;
    int go[2];
};

// Starts a process that waits for a byte, makes a child, and ends.
static struct process begin(void (*make)(void), bool traces_before)
{
    struct process p;
    assert_int_equal(pipe(p.go), 0);
    p.pid = fork();
    if (!p.pid) {
        alarm(100);
        await_byte(p.go[0]);
        if (traces_before)
            write_each();
        make();
        _exit(0);
    }
    return p;
}

static void let_run(struct process *p)
{
    assert_int_equal(write(p->go[1], "x", 1), 1);
    wait_for(p->pid, 0);
    close(p->go[0]);
    close(p->go[1]);
}

static void check_inherited(void (*make)(void), bool inherit, bool traces_before)
{
    struct process p = begin(make, traces_before);
    struct traced t = bind_stream(p.pid, POSIX_TRACE_LOOP, WORDS, inherit);
    let_run(&p);
    assert_int_equal(events(&t), EACH * ((unsigned)inherit + traces_before));
    assert_int_equal(count_of(&t, TYPE, (uint32_t)p.pid), EACH * (unsigned)traces_before);
    assert_int_equal(ring_of(t.stream, RING_REFUSED), 0);
    let_go(&t);
}

static void check_all(bool inherit, bool traces_before)
{
    void (*const ways[])(void) = {by_fork, by_two_forks, by_exec, by_vfork, by_spawn, by_system};
    for (unsigned k = 0; k < sizeof ways / sizeof *ways; k++)
        check_inherited(ways[k], inherit, traces_before);
}

static void test_inherited(void **state)
{
    (void)state;
    check_all(true, false);
    check_all(true, true);
}

static void test_not_inherited(void **state)
{
    (void)state;
    check_all(false, false);
    check_all(false, true);
}

// A child that existed before the stream was made inherits nothing.
static void test_older_child(void **state)
{
    struct process p;
    int go[2];
    (void)state;
    assert_int_equal(pipe(p.go), 0);
    assert_int_equal(pipe(go), 0);
    p.pid = fork();
    if (!p.pid) {
        alarm(100);
        pid_t child = fork();
        if (!child) {
            await_byte(go[0]);
            execv("/proc/self/exe", writer);
            _exit(1);
        }
        await_byte(p.go[0]);
        if (write(go[1], "x", 1) != 1)
            _exit(1);
        finish(child);
        _exit(0);
    }
    usleep(300000); // about 30 ticks of the clock that tells when processes began
    struct traced t = bind_stream(p.pid, POSIX_TRACE_LOOP, WORDS, true);
    let_run(&p);
    assert_int_equal(events(&t), 0);
    let_go(&t);
    close(go[0]);
    close(go[1]);
}

// ---- no free entry in the process table ----

// Gives the free entries of the object's process table to the traced process, which already has the
// first one. If not `fill`, frees them again.
static void fill_places(struct traced *t, bool fill)
{
    uint32_t at = ring_get(t->bytes, 32), end = ring_get(t->bytes + at, 16);
    while (memcmp(t->bytes + at, t->bytes + 68, 12) != 0)
        at += 4;
    const uint8_t *first = t->bytes + at;
    for (at += 16; at + 16 <= end; at += 16)
        if (ring_get(t->bytes, at) == (fill ? 0 : ring_get(first, 0)))
            memcpy(t->bytes + at, fill ? first : (const uint8_t[12]){0}, 12);
}

// Memory that is shared with the child: how many events it has made, and whether it must end.
static struct {
    volatile uint32_t made, ends;
} * report;

static void write_for_long(void)
{
    pid_t child = fork();
    while (!child && !report->ends) {
        write_each();
        report->made += EACH;
        usleep(20000);
    }
    if (!child)
        _exit(STATUS);
    finish(child);
}

static void await(const struct traced *t, uint32_t offset, uint32_t above)
{
    for (unsigned n = 0; n < 6000 && ring_of(t->stream, offset) <= above; n++) {
        ringside_trace_object_attend(t->object);
        usleep(10000);
    }
    assert_true(ring_of(t->stream, offset) > above);
}

static void test_no_place(void **state)
{
    (void)state;
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(report, MAP_FAILED);
    struct process p = begin(write_for_long, false);
    struct traced t = bind_stream(p.pid, POSIX_TRACE_LOOP, WORDS, true);
    fill_places(&t, true);
    assert_int_equal(write(p.go[1], "x", 1), 1);
    await(&t, RING_REFUSED, 2 * EACH);
    assert_int_equal(ring_of(t.stream, RING_RECORDED), 1);
    fill_places(&t, false);
    await(&t, RING_RECORDED, 2 * EACH);
    report->ends = 1;
    wait_for(p.pid, 0);
    ringside_trace_object_attend(t.object);
    assert_int_equal(ring_of(t.stream, RING_RECORDED) - 1 + ring_of(t.stream, RING_REFUSED),
                     report->made);
    let_go(&t);
    close(p.go[0]);
    close(p.go[1]);
    munmap(report, sizeof *report);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "write")) {
        write_each();
        return STATUS;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inherited),
        cmocka_unit_test(test_not_inherited),
        cmocka_unit_test(test_older_child),
        cmocka_unit_test(test_no_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
