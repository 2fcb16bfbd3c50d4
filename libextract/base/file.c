// SPDX-License-Identifier: MIT
// base: reading host files completely, with limits on their size and, for pipes, on the time.
// Standard: IEEE Std 1003.1-2017 (open, fstat, read, pread, poll).
#include "base/file.h"
#include "base/now.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_CHUNK = 64 * 1024 };

// A file while it is read. The buffer grows up to limit + 1 bytes: the extra byte distinguishes a
// file that ends at the limit from a longer one.
struct intake {
    const char *name;
    uint8_t *bytes;
    size_t length;
    size_t size;
    size_t limit;
    uint64_t end; // extract_now() at which everything must have come; 0 for no time limit
};

const char *extract_file_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

enum extract_code extract_file_error(const char *name, const char *hint,
                                     struct extract_error *error)
{
    int reason = errno;
    char buffer[128];

    if (!*name)
        return extract_error_set(error, EXTRACT_IO, "\"\"", "pass the name of a file",
                                 "the file name is empty");
    if (strerror_r(reason, buffer, sizeof buffer))
        snprintf(buffer, sizeof buffer, "system error %d", reason);
    if (reason == ENOSPC || reason == EDQUOT)
        hint = "free some space, or use a file on another disk";
    if (reason == EEXIST)
        hint = "use a new name, or remove the file";
    if (reason == EFBIG && !hint)
        hint = "raise the limit of file sizes (ulimit -f)";
    return extract_error_set(error, EXTRACT_IO, name, hint, "%s", buffer);
}

uint64_t extract_file_most(void)
{
    struct rlimit limit;
    bool has_limit = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < INT64_MAX;

    return has_limit ? limit.rlim_cur : INT64_MAX;
}

static enum extract_code no_memory(const char *name, size_t size, struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_NOMEM, name, "free some memory on this host",
                             "no memory for %zu bytes", size);
}

// Calls read(2), and again if a signal interrupts it.
static ssize_t read_some(int fd, void *buffer, size_t length)
{
    ssize_t n;

    do
        n = read(fd, buffer, length < SSIZE_MAX ? length : SSIZE_MAX);
    while (n < 0 && errno == EINTR);
    return n;
}

size_t extract_file_read_at(int fd, void *buffer, size_t length, uint64_t offset)
{
    size_t got = 0;

    while (got < length) {
        ssize_t n = pread(fd, (uint8_t *)buffer + got, length - got, (off_t)(offset + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    return got;
}

static bool intake_grow(struct intake *in, size_t size)
{
    uint8_t *bytes = realloc(in->bytes, size);

    if (!bytes)
        return false;
    in->bytes = bytes;
    in->size = size;
    return true;
}

// Waits for bytes or the end. A FIFO is silent until a first writer opens it, and reaches its end
// when the last one has closed it.
static enum extract_code await_bytes(int fd, const struct intake *in, struct extract_error *error)
{
    static const char hint[] = "write to it first, or use a regular file";
    uint64_t silence = extract_now() + EXTRACT_SILENCE_SECONDS * EXTRACT_SECOND;
    uint64_t due = silence < in->end ? silence : in->end, now;
    struct pollfd one = {.fd = fd, .events = POLLIN};

    while ((now = extract_now()) < due)
        if (poll(&one, 1, (int)((due - now) / (EXTRACT_SECOND / 1000)) + 1) > 0)
            return EXTRACT_OK;
    if (due == in->end)
        return extract_error_set(error, EXTRACT_IO, in->name, hint, "did not end within %d seconds",
                                 EXTRACT_PATIENCE_SECONDS);
    return extract_error_set(error, EXTRACT_IO, in->name, hint, "nothing came for %d seconds",
                             EXTRACT_SILENCE_SECONDS);
}

static enum extract_code read_to_end(int fd, struct intake *in, struct extract_error *error)
{
    for (;;) {
        enum extract_code code = in->end ? await_bytes(fd, in, error) : EXTRACT_OK;
        if (code)
            return code;
        if (in->length > in->limit)
            return extract_error_set(error, EXTRACT_LIMIT, in->name,
                                     "use only the part of the file that matters",
                                     "holds more than %zu bytes", in->limit);
        if (in->length == in->size) {
            size_t size = in->size < in->limit / 2 ? in->size * 2 : in->limit + 1;
            if (!intake_grow(in, size))
                return no_memory(in->name, size, error);
        }
        ssize_t n = read_some(fd, in->bytes + in->length, in->size - in->length);
        if (n < 0 && errno == EAGAIN && in->end) // another reader was faster
            continue;
        if (n < 0)
            return extract_file_error(in->name, NULL, error);
        if (n == 0)
            return EXTRACT_OK;
        in->length += (size_t)n;
    }
}

// Derives the limit and the first buffer from the kind and the size of the file.
static enum extract_code intake_start(int fd, struct intake *in, uint64_t limit,
                                      struct extract_error *error)
{
    struct stat st;
    size_t size = FIRST_CHUNK;

    if (fstat(fd, &st) != 0)
        return extract_file_error(in->name, NULL, error);
    if (S_ISDIR(st.st_mode))
        return extract_error_set(error, EXTRACT_IO, in->name, "use a file in it", "is a directory");
    if (!S_ISREG(st.st_mode) && limit > EXTRACT_STREAM_LIMIT)
        limit = EXTRACT_STREAM_LIMIT;
    in->limit = limit < SIZE_MAX / 2 ? (size_t)limit : SIZE_MAX / 2;
    // A file of /proc has the size 0 and yet holds bytes. A file that grows may hold more bytes
    // than its size.
    if (S_ISREG(st.st_mode) && st.st_size > 0) {
        if ((uint64_t)st.st_size > in->limit)
            return extract_error_set(
                error, EXTRACT_LIMIT, in->name, "use only the part of the file that matters",
                "holds %lld bytes, more than %zu", (long long)st.st_size, in->limit);
        size = (size_t)st.st_size + 1;
    }
    if (size > in->limit)
        size = in->limit + 1;
    return intake_grow(in, size) ? EXTRACT_OK : no_memory(in->name, size, error);
}

static int open_to_read(const char *path, int flags)
{
    if (strcmp(path, "-") == 0)
        return STDIN_FILENO;
    return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);
}

static enum extract_code read_whole(const char *path, uint64_t limit, uint64_t end, uint8_t **bytes,
                                    size_t *length, struct extract_error *error)
{
    struct intake in = {.name = extract_file_name(path), .end = end};
    int fd = open_to_read(path, end ? O_NONBLOCK : 0);

    if (fd < 0)
        return extract_file_error(in.name, NULL, error);
    enum extract_code code = intake_start(fd, &in, limit, error);
    if (!code)
        code = read_to_end(fd, &in, error);
    if (strcmp(path, "-") != 0)
        close(fd);
    if (code) {
        free(in.bytes);
        return code;
    }
    // The caller keeps the buffer for long, so that unused space is returned, if possible.
    if (in.size > in.length)
        intake_grow(&in, in.length ? in.length : 1);
    *bytes = in.bytes;
    *length = in.length;
    return EXTRACT_OK;
}

enum extract_code extract_file_read(const char *path, uint64_t limit, uint8_t **bytes,
                                    size_t *length, struct extract_error *error)
{
    return read_whole(path, limit, 0, bytes, length, error);
}

enum extract_code extract_file_read_in_time(const char *path, uint64_t limit, uint8_t **bytes,
                                            size_t *length, struct extract_error *error)
{
    bool is_standard = strcmp(path, "-") == 0;
    uint64_t end = is_standard ? 0 : extract_now() + EXTRACT_PATIENCE_SECONDS * EXTRACT_SECOND;

    return read_whole(path, limit, end, bytes, length, error);
}

static enum extract_code refuse_to_peek(const char *path, struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_USAGE, path, "pass the kind of input",
                             "the kind of a stream cannot be detected without consuming its bytes");
}

static enum extract_code peek_fd(int fd, const char *path, void *buffer, size_t size, size_t *got,
                                 struct extract_error *error)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return extract_file_error(path, NULL, error);
    if (S_ISDIR(st.st_mode))
        return extract_error_set(error, EXTRACT_IO, path, "use a file in it", "is a directory");
    if (!S_ISREG(st.st_mode))
        return refuse_to_peek(path, error);
    *got = 0;
    while (*got < size) {
        ssize_t n = read_some(fd, (uint8_t *)buffer + *got, size - *got);
        if (n < 0)
            return extract_file_error(path, NULL, error);
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return EXTRACT_OK;
}

enum extract_code extract_file_peek(const char *path, void *buffer, size_t size, size_t *got,
                                    struct extract_error *error)
{
    struct stat st;

    // A FIFO is not opened: its writer would take this for its reader, and its bytes would be lost.
    if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode))
        return refuse_to_peek(path, error);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return extract_file_error(path, NULL, error);
    enum extract_code code = peek_fd(fd, path, buffer, size, got, error);
    close(fd);
    return code;
}

static enum extract_code write_atomically(const char *path, bool exclusive, const void *bytes,
                                          size_t length, struct extract_error *error)
{
    struct extract_atomic_file file;
    enum extract_code code = extract_atomic_file_open(&file, path, exclusive, error);

    if (code)
        return code;
    if (extract_atomic_file_write(&file, bytes, length))
        return extract_atomic_file_keep(&file, error);
    code = extract_file_error(path, NULL, error);
    extract_atomic_file_drop(&file);
    return code;
}

enum extract_code extract_file_replace(const char *path, const void *bytes, size_t length,
                                       struct extract_error *error)
{
    return write_atomically(path, false, bytes, length, error);
}

enum extract_code extract_file_create(const char *path, const void *bytes, size_t length,
                                      struct extract_error *error)
{
    return write_atomically(path, true, bytes, length, error);
}
