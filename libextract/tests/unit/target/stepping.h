// SPDX-License-Identifier: MIT
// tests: runs a child step by step (ptrace), or to its next stop. The child stops itself with
// SIGSTOP where the test is to meet it.
#ifndef TESTS_TARGET_STEPPING_H
#define TESTS_TARGET_STEPPING_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static void await_stop(pid_t child, int number)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(WSTOPSIG(status), number);
}

// Executes one instruction. `number` is a signal for the child, or 0.
static void step(pid_t child, long number)
{
    assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)number), 0);
    await_stop(child, SIGTRAP);
}

static void let_go_on(pid_t child, long number)
{
    assert_int_equal(ptrace(PTRACE_CONT, child, NULL, (void *)number), 0);
}

// Continues the child to its next stop.
static void go_on(pid_t child, long number)
{
    let_go_on(child, number);
    await_stop(child, SIGSTOP);
}

static pid_t begin_stepping(void (*run)(void))
{
    pid_t child = fork();
    if (!child)
        run();
    await_stop(child, SIGSTOP);
    assert_int_equal(ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_EXITKILL), 0);
    return child;
}

// Continues a child with signal `number` to its end. The child must exit with status 0.
static void end_stepping(pid_t child, long number)
{
    int status;
    let_go_on(child, number);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#endif
