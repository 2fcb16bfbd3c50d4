// SPDX-License-Identifier: MIT
// A parent that traces a program from its first instruction. The child waits until the stream is
// running, and only then executes PROGRAM.
#define _POSIX_C_SOURCE 200809L
#include "../example.h"
#include <errno.h>
#include <sys/wait.h>

static void become(char **words, int gate)
{
    char go;
    if (read(gate, &go, 1) != 1) // the parent has failed
        _exit(1);
    close(gate);
    execvp(words[0], words);
    perror(words[0]);
    _exit(1);
}

int main(int argc, char **argv)
{
    trace_id_t trid;
    int gate[2], status;
    if (argc < 2) {
        fprintf(stderr, "usage: %s PROGRAM [ARGUMENT...]\n", argv[0]);
        return EINVAL;
    }
    need(pipe(gate) ? errno : 0, "pipe");
    pid_t child = fork();
    need(child < 0 ? errno : 0, "fork");
    if (child == 0) {
        close(gate[1]);
        become(argv + 1, gate[0]);
    }
    close(gate[0]);
    need(posix_trace_create(child, NULL, &trid), "posix_trace_create");
    need(posix_trace_start(trid), "posix_trace_start");
    need(write(gate[1], "g", 1) == 1 ? 0 : errno, "write");
    close(gate[1]);
    need(waitpid(child, &status, 0) == child ? 0 : errno, "waitpid");
    need(posix_trace_stop(trid), "posix_trace_stop");
    print_available(trid);
    need(posix_trace_shutdown(trid), "posix_trace_shutdown");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
