// SPDX-License-Identifier: MIT
// log: the lock file FILE.lock, which contains one line, "PID START CREATOR", of the process that
// writes FILE. The start time distinguishes a process from a later one with the same PID, so the
// lock file of a dead process can be taken over.
//
// Sources: IEEE Std 1003.1-2017 (open with O_EXCL); flock(2) and proc(5) of Linux.
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
enum {
    PAUSES = 20,
    PAUSE_NS = 1000000
}; // retries after a collision with extract_log_file_is_locked

// The process that has a lock.
struct holder {
    long pid;
    unsigned long long start; // of the process, clock ticks since the host started
};

// Reads up to size - 1 bytes from a file's start, and ends them with a NUL. Returns false if it
// cannot be read.
static bool read_start(int fd, char *buffer, size_t size)
{
    ssize_t n;

    do
        n = pread(fd, buffer, size - 1, 0);
    while (n < 0 && errno == EINTR);
    buffer[n > 0 ? n : 0] = 0;
    return n >= 0;
}

// Reads the start time of a process: field 22 of /proc/PID/stat. The second field is a name in
// parentheses, which may contain anything; the third is the state. Returns false if there is no
// such process, or if it has ended and is a zombie.
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

static bool parse_holder(const char *line, struct holder *holder)
{
    return isdigit((unsigned char)line[0]) &&
           sscanf(line, "%ld %llu", &holder->pid, &holder->start) == 2 && holder->pid > 0;
}

static bool is_alive(const struct holder *holder)
{
    unsigned long long start;

    return start_of(holder->pid, &start) && start == holder->start;
}

static enum extract_code report_holder(const char *path, const struct holder *holder,
                                       struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_LIMIT, path,
                             "wait until it ends, or use another name for this log",
                             "process %ld is writing it", holder->pid);
}

static enum extract_code report_foreign_lock(const struct log_lock *lock, const char *why,
                                             struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_LIMIT, lock->path,
                             "remove it if no process writes that log", "%s", why);
}

static bool write_line(int fd, const char *creator)
{
    char line[LINE];
    unsigned long long start = 0;

    start_of((long)getpid(), &start);
    int n =
        snprintf(line, sizeof line, "%ld %llu %.*s\n", (long)getpid(), start, LINE / 2, creator);
    if ((uint64_t)n > extract_file_most()) { // a longer write would raise SIGXFSZ
        errno = EFBIG;
        return false;
    }
    return pwrite(fd, line, (size_t)n, 0) == n && ftruncate(fd, n) == 0;
}

// Returns whether the path still leads to the open file.
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

// Takes over an existing lock file if its process has ended. Sets *again if the file disappeared in
// the meantime.
static enum extract_code take_over_lock(struct log_lock *lock, const char *path, bool *again,
                                        struct extract_error *error)
{
    struct holder holder;
    char line[LINE];

    if (!is_regular(lock->fd) || !read_start(lock->fd, line, sizeof line))
        return report_foreign_lock(lock, "not a lock file of a log", error);
    if (!parse_holder(line, &holder))
        return report_foreign_lock(lock, "lock file exists but names no owner", error);
    if (is_alive(&holder))
        return report_holder(path, &holder, error);
    if (flock(lock->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return report_holder(path, &holder, error);
    // Another process may have taken it over after the first read, and even have ended since.
    char line_now[LINE];
    *again = !is_at(lock->fd, lock->path) || !read_start(lock->fd, line_now, sizeof line_now) ||
             strcmp(line, line_now) != 0;
    return EXTRACT_OK;
}

// Opens a file without a name in the lock's directory; -1 if the file system does not support it.
static int open_unnamed(const char *path)
{
    char *directory = extract_log_path(path, "");
    char *slash = directory ? strrchr(directory, '/') : NULL;

    if (slash)
        slash[1] = 0;
    int fd = directory ? open(slash ? directory : ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0666) : -1;
    free(directory);
    return fd;
}

// Creates a lock file that contains its line from the first instant. An empty one would remain
// forever if its process were killed before it wrote the line. Returns -1 with errno EEXIST if
// there is a lock file.
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

// Tries once to create the lock file, or to take over the existing one.
static enum extract_code try_lock(struct log_lock *lock, const char *path, const char *creator,
                                  bool *again, struct extract_error *error)
{
    static const char hint[] = "use a path in a writable directory: the lock file is created there";

    lock->fd = open_new(lock->path, creator);
    if (lock->fd >= 0) {
        flock(lock->fd, LOCK_EX | LOCK_NB);
        return EXTRACT_OK;
    }
    if (errno != EEXIST)
        return extract_file_error(lock->path, errno == EFBIG ? NULL : hint, error);
    lock->fd = open(lock->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (lock->fd >= 0)
        return take_over_lock(lock, path, again, error);
    *again = errno == ENOENT;
    return *again ? EXTRACT_OK : extract_file_error(lock->path, hint, error);
}

static void close_lock(struct log_lock *lock)
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

static enum extract_code report_no_memory(const char *path, struct extract_error *error)
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
        return report_no_memory(path, error);
    for (int i = 0; i < TRIES && again && !code; i++) {
        close_lock(lock);
        again = false;
        code = try_lock(lock, path, creator, &again, error);
    }
    if (!code && again)
        code = report_foreign_lock(lock, "lock file appears and disappears", error);
    if (!code && !write_line(lock->fd, creator)) {
        code = extract_file_error(lock->path,
                                  errno == EFBIG ? NULL : "free some space on that disk", error);
        unlink(lock->path);
    }
    if (code) {
        close_lock(lock);
        free(lock->path);
        lock->path = NULL;
    }
    return code;
}

void extract_log_unlock(struct log_lock *lock)
{
    if (lock->fd >= 0 && is_at(lock->fd, lock->path))
        unlink(lock->path);
    close_lock(lock);
    free(lock->path);
    lock->path = NULL;
}

bool extract_log_flock(int fd)
{
    const struct timespec pause = {0, PAUSE_NS};

    for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
        if (errno != EWOULDBLOCK || i == PAUSES)
            return false;
        nanosleep(&pause, NULL);
        errno = EWOULDBLOCK;
    }
    return true;
}

// Opens a descriptor of its own for the test, because it would change a lock that duplicates of
// `fd` share.
bool extract_log_file_is_locked(int fd)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool is_locked = own >= 0 && flock(own, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (own >= 0) {
        flock(own, LOCK_UN); // also for a copy that a child has by now
        close(own);
    }
    return is_locked;
}

enum extract_code extract_log_is_locked(bool *locked, const char *path, struct extract_error *error)
{
    struct holder holder;
    char line[LINE];
    char *name = extract_log_path(path, LOCK);
    if (!name)
        return report_no_memory(path, error);
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    *locked = fd >= 0 && is_regular(fd) && read_start(fd, line, sizeof line) &&
              parse_holder(line, &holder) && is_alive(&holder);
    if (fd >= 0)
        close(fd);
    free(name);
    return EXTRACT_OK;
}
