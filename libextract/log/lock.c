// SPDX-License-Identifier: MIT
// log: FILE.lock, which says who writes FILE: "PID START CREATOR". In: a path. Out: the lock, or
// who has it. Standard: IEEE Std 1003.1-2017 (open with O_EXCL); flock(2) and proc(5) of Linux.
#define _GNU_SOURCE // O_TMPFILE
#include "log/lock.h"
#include "base/file.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOCK ".lock"

enum { LINE = 256, STAT = 1024, START_FIELD = 22, TRIES = 16 };
enum { PAUSES = 20, PAUSE = 1000000 }; // for those who ask whether a file is held; nanoseconds

// Who holds a lock.
struct holder {
    long pid;
    unsigned long long start; // of the process, clock ticks since the host started
};

// Up to size - 1 bytes of a file's start, ended by a NUL. False when it cannot be read.
static bool read_start(int fd, char *buffer, size_t size)
{
    ssize_t n;
    do
        n = pread(fd, buffer, size - 1, 0);
    while (n < 0 && errno == EINTR);
    buffer[n > 0 ? n : 0] = 0;
    return n >= 0;
}

// Field 22 of /proc/PID/stat. The second field is a name in parentheses, which may hold anything;
// the third is the state. False when the process is not there, or has ended (and nobody asked yet).
static bool start_of(long pid, unsigned long long *start)
{
    char path[64], text[STAT];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && read_start(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    char *at = good ? strrchr(text, ')') : NULL;
    if (!at || strncmp(at, ") Z", 3) == 0 || strncmp(at, ") X", 3) == 0)
        return false;
    for (int field = 2; at && field < START_FIELD; field++)
        at = strchr(at + 1, ' ');
    return at && sscanf(at, "%llu", start) == 1;
}

static bool parse(const char *line, struct holder *holder)
{
    return isdigit((unsigned char)line[0]) &&
           sscanf(line, "%ld %llu", &holder->pid, &holder->start) == 2 && holder->pid > 0;
}

static bool is_there(const struct holder *holder)
{
    unsigned long long start;
    return start_of(holder->pid, &start) && start == holder->start;
}

static enum extract_code held(const char *path, const struct holder *holder,
                              struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_LIMIT, path,
                             "let it end, or give another name to this log",
                             "process %ld is writing it", holder->pid);
}

static enum extract_code not_ours(const struct log_lock *lock, const char *why,
                                  struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_LIMIT, lock->path,
                             "remove it if nothing writes that log", "%s", why);
}

static bool write_line(int fd, const char *creator)
{
    char line[LINE];
    unsigned long long start = 0;
    start_of((long)getpid(), &start);
    int n =
        snprintf(line, sizeof line, "%ld %llu %.*s\n", (long)getpid(), start, LINE / 2, creator);
    if ((uint64_t)n > extract_file_most()) { // the system's signal would end the process
        errno = EFBIG;
        return false;
    }
    return pwrite(fd, line, (size_t)n, 0) == n && ftruncate(fd, n) == 0;
}

// Whether the path still leads to the open file.
static bool is_at(int fd, const char *path)
{
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && lstat(path, &there) == 0 && mine.st_dev == there.st_dev &&
           mine.st_ino == there.st_ino;
}

static bool is_regular(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

// A lock that is there is taken over when its holder is not there any more. *again: it went away
// while it was looked at.
static enum extract_code take_over(struct log_lock *lock, const char *path, bool *again,
                                   struct extract_error *error)
{
    struct holder holder;
    char line[LINE];
    if (!is_regular(lock->fd) || !read_start(lock->fd, line, sizeof line))
        return not_ours(lock, "it is no lock of a log", error);
    if (!parse(line, &holder))
        return not_ours(lock, "the lock is there, and does not say whose it is", error);
    if (is_there(&holder))
        return held(path, &holder, error);
    if (flock(lock->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return held(path, &holder, error);
    // Another may have taken it over between the two looks, and even have ended since.
    char line_now[LINE];
    *again = !is_at(lock->fd, lock->path) || !read_start(lock->fd, line_now, sizeof line_now) ||
             strcmp(line, line_now) != 0;
    return EXTRACT_OK;
}

// A file without a name in the folder of the lock; -1 where the file system has none.
static int open_unnamed(const char *path)
{
    char *folder = extract_log_path(path, "");
    char *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash)
        slash[1] = 0;
    int fd = folder ? open(slash ? folder : ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0666) : -1;
    free(folder);
    return fd;
}

// A new lock says whose it is from its first instant on: one that was made empty would stay when
// its maker is killed before it wrote. -1 with errno EEXIST: there is a lock.
static int open_new(const char *path, const char *creator)
{
    char self[64];
    int fd = open_unnamed(path);
    if (fd < 0)
        return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    flock(fd, LOCK_EX | LOCK_NB);
    if (write_line(fd, creator) && linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0)
        return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

// One try: a new lock, or the one that is there.
static enum extract_code try_lock(struct log_lock *lock, const char *path, const char *creator,
                                  bool *again, struct extract_error *error)
{
    static const char hint[] = "a log is written beside its lock: give a path in a folder that can "
                               "be written to";
    lock->fd = open_new(lock->path, creator);
    if (lock->fd >= 0) {
        flock(lock->fd, LOCK_EX | LOCK_NB);
        return EXTRACT_OK;
    }
    if (errno != EEXIST)
        return extract_file_error(lock->path, errno == EFBIG ? NULL : hint, error);
    lock->fd = open(lock->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (lock->fd >= 0)
        return take_over(lock, path, again, error);
    *again = errno == ENOENT;
    return *again ? EXTRACT_OK : extract_file_error(lock->path, hint, error);
}

static void drop(struct log_lock *lock)
{
    if (lock->fd >= 0)
        close(lock->fd);
    lock->fd = -1;
}

char *extract_log_path(const char *path, const char *suffix)
{
    size_t size = strlen(path) + strlen(suffix) + 1;
    char *copy = malloc(size);
    if (copy)
        snprintf(copy, size, "%s%s", path, suffix);
    return copy;
}

static enum extract_code no_memory(const char *path, struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_NOMEM, path, NULL, "out of memory");
}

enum extract_code extract_log_lock(struct log_lock *lock, const char *path, const char *creator,
                                   struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    bool again = true;
    lock->fd = -1;
    lock->path = extract_log_path(path, LOCK);
    if (!lock->path)
        return no_memory(path, error);
    for (int i = 0; i < TRIES && again && !code; i++) {
        drop(lock);
        again = false;
        code = try_lock(lock, path, creator, &again, error);
    }
    if (!code && again)
        code = not_ours(lock, "it comes and goes", error);
    if (!code && !write_line(lock->fd, creator)) {
        code = extract_file_error(lock->path,
                                  errno == EFBIG ? NULL : "free some space on that disk", error);
        unlink(lock->path);
    }
    if (code) {
        drop(lock);
        free(lock->path);
        lock->path = NULL;
    }
    return code;
}

void extract_log_unlock(struct log_lock *lock)
{
    if (lock->fd >= 0 && is_at(lock->fd, lock->path))
        unlink(lock->path);
    drop(lock);
    free(lock->path);
    lock->path = NULL;
}

bool extract_log_flock(int fd)
{
    const struct timespec pause = {0, PAUSE};
    for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
        if (errno != EWOULDBLOCK || i == PAUSES)
            return false;
        nanosleep(&pause, NULL);
        errno = EWOULDBLOCK;
    }
    return true;
}

// Asked through a descriptor of its own: a lock that this one's copies have would be changed.
bool extract_log_file_is_locked(int fd)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool held = own >= 0 && flock(own, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (own >= 0) {
        flock(own, LOCK_UN); // also for a copy that a child has by now
        close(own);
    }
    return held;
}

enum extract_code extract_log_is_locked(bool *locked, const char *path, struct extract_error *error)
{
    struct holder holder;
    char line[LINE];
    char *name = extract_log_path(path, LOCK);
    if (!name)
        return no_memory(path, error);
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    *locked = fd >= 0 && is_regular(fd) && read_start(fd, line, sizeof line) &&
              parse(line, &holder) && is_there(&holder);
    if (fd >= 0)
        close(fd);
    free(name);
    return EXTRACT_OK;
}
