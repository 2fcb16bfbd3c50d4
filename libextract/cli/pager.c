// SPDX-License-Identifier: MIT
// cli: sends standard output to $PAGER, or to less.
//
// Standard: IEEE Std 1003.1-2017 (pipe, fork, dup2, waitpid).
#include "cli/cli.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// Exit statuses of the shell if it cannot run the command (POSIX, 2.8.2).
enum { NOT_EXECUTABLE = 126, NOT_FOUND };

static void run_pager(const int ends[2])
{
    const char *command = getenv("PAGER");

    if (!command || !*command)
        command = "less";
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    setenv("LESS", "R", 0); // shows colors, unless the user has set options
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(NOT_FOUND);
}

bool cli_pager_open(int *child)
{
    int ends[2];

    if (!isatty(STDOUT_FILENO) || pipe(ends) != 0)
        return false;
    *child = fork();
    if (*child == 0)
        run_pager(ends);
    if (*child > 0) {
        dup2(ends[1], STDOUT_FILENO);
        signal(SIGINT, SIG_IGN); // only the pager handles ^C
    }
    close(ends[0]);
    close(ends[1]);
    return *child > 0;
}

bool cli_pager_close(int child)
{
    int status = 0;

    close(STDOUT_FILENO); // the pager reads an end of file
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return !WIFEXITED(status) || WEXITSTATUS(status) < NOT_EXECUTABLE;
}
