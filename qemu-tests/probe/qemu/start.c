// SPDX-License-Identifier: MIT
// probe/qemu: starting QEMU. In: a shell command. Out: QEMU with qtest and QMP on socket pairs
// and a gdbstub on a socket that listens under an abstract name, which the kernel chose (unix(7)).
#include "probe/qemu/start.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

// What QEMU gets of each channel.
struct ends {
    int qtest, qmp, gdb;
};

static enum extract_code failed(struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_IO, "QEMU", NULL, "cannot be started: %s",
                             strerror(errno));
}

static bool pair(struct channel *ours, int *theirs)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
        return false;
    channel_open(ours, fds[0]);
    *theirs = fds[1];
    return true;
}

static bool listen_unnamed(struct gdbstub *gdb, int *theirs)
{
    const struct sockaddr_un any = {.sun_family = AF_UNIX};
    *theirs = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    gdb->address_length = sizeof gdb->address;
    return *theirs >= 0 && !bind(*theirs, (const struct sockaddr *)&any, sizeof(sa_family_t)) &&
           !listen(*theirs, 1) &&
           !getsockname(*theirs, (struct sockaddr *)&gdb->address, &gdb->address_length);
}

// In the child. The signals that the probe takes itself are QEMU's own again.
static void become_qemu(const char *command, const struct ends *ends, pid_t parent)
{
    char line[16384];
    sigset_t none;
    int length =
        snprintf(line, sizeof line,
                 "exec %s -chardev socket,id=qtest,fd=%d -qtest chardev:qtest -qtest-log /dev/null"
                 " -chardev socket,id=probe-qmp,fd=%d -mon chardev=probe-qmp,mode=control"
                 " -chardev socket,id=probe-gdb,fd=%d,server=on,wait=off -gdb chardev:probe-gdb",
                 command, ends->qtest, ends->qmp, ends->gdb);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int null = open("/dev/null", O_RDONLY);
    if (length >= (int)sizeof line || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
        fcntl(ends->qtest, F_SETFD, 0) || fcntl(ends->qmp, F_SETFD, 0) ||
        fcntl(ends->gdb, F_SETFD, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
        _exit(127);
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
}

enum extract_code qemu_start(struct qemu *qemu, const char *command, struct extract_error *error)
{
    struct ends ends = {-1, -1, -1};
    enum extract_code code = EXTRACT_OK;
    pid_t parent = getpid(), child = -1;
    if (pair(&qemu->qtest.channel, &ends.qtest) && pair(&qemu->qmp.channel, &ends.qmp) &&
        listen_unnamed(&qemu->gdb, &ends.gdb))
        child = fork();
    if (child < 0)
        code = failed(error);
    else if (child == 0)
        become_qemu(command, &ends, parent);
    else
        qemu->pid = child;
    const int theirs[] = {ends.qtest, ends.qmp, ends.gdb};
    for (size_t i = 0; i < sizeof theirs / sizeof theirs[0]; i++)
        if (theirs[i] >= 0)
            close(theirs[i]);
    return code;
}
