// SPDX-License-Identifier: MIT
// log: which file a writer may write to: a new file, an empty one, or an APPEND log that it
// continues. Everything else is refused and not changed.
#define _GNU_SOURCE // O_PATH
#include "log/log_output.h"
#include "base/file.h"
#include "log/log_room.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char hint_name[] = "use another name, or remove the file";
static const char hint_directory[] = "use a path in a writable directory";

static enum extract_code refuse_kind(const char *path, const char *why, struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_USAGE, path, "use the name of a file", "%s", why);
}

// Determines what exists at the path: nothing, or a regular file of *size bytes. Refuses other
// kinds.
static enum extract_code examine_path(const char *path, bool *exists, uint64_t *size,
                                      struct extract_error *error)
{
    struct stat st;

    *exists = lstat(path, &st) == 0;
    *size = 0;
    if (!*exists)
        return errno == ENOENT ? EXTRACT_OK : extract_file_error(path, hint_directory, error);
    if (S_ISLNK(st.st_mode))
        return refuse_kind(path, "symbolic link, and a log is never written through one", error);
    if (S_ISDIR(st.st_mode))
        return refuse_kind(path, "is a directory", error);
    if (!S_ISREG(st.st_mode))
        return refuse_kind(path, "is a pipe, a socket or a device", error);
    *size = (uint64_t)st.st_size;
    return EXTRACT_OK;
}

// A log is continued only if this many numbers are left; a damaged block may contain any number.
#define NUMBERS_LEFT (UINT64_C(1) << 62)

// Takes over the settings of the log that is continued, and determines where to continue.
static enum extract_code adopt_log(struct log_output *output, struct log_settings *settings,
                                   struct extract_error *error)
{
    struct extract_log *log;
    enum extract_code code = output->lock.path ? extract_log_open(&log, output->path, error)
                                               : extract_log_open_fd(&log, output->fd, error);

    if (code == EXTRACT_BAD)
        return extract_error_set(error, EXTRACT_BAD, output->path, hint_name,
                                 "the existing file is not a log");
    if (code)
        return code;
    if (log->status.policy != EXTRACT_LOG_APPEND)
        code = extract_error_set(error, EXTRACT_BAD, output->path, hint_name,
                                 "the existing log has another full policy");
    settings->section_bytes = (uint32_t)log->status.section_bytes;
    settings->created = log->status.created;
    settings->limit = 0;
    output->section = log->sections[log->section_count - 1].number + 1;
    output->number = log->next_number;
    output->size = log->size;
    output->ended = log->end;
    output->is_torn = log->is_torn;
    output->index = (log->end + settings->section_bytes - 1) / settings->section_bytes;
    extract_log_free(log);
    if (!code && (output->section > NUMBERS_LEFT || output->number > NUMBERS_LEFT))
        code = extract_error_set(error, EXTRACT_BAD, output->path, hint_name,
                                 "the log is too damaged to be continued");
    return code;
}

// Continues the log after the section that holds its last block. Its blocks do not change, not even
// one that was half-written: the next section states where the log ended.
static enum extract_code continue_log(struct log_output *output, struct log_settings *settings,
                                      struct extract_error *error)
{
    enum extract_code code = adopt_log(output, settings, error);
    uint64_t begin = output->index * settings->section_bytes;

    if (code || output->size <= begin)
        return code;
    if (ftruncate(output->fd, (off_t)begin) != 0)
        return extract_file_error(output->path, NULL, error);
    output->size = begin;
    return EXTRACT_OK;
}

// Locks the file itself too, because a descriptor has no path for a lock file. The kernel releases
// this lock when its process ends. Not every file system supports such locks.
static enum extract_code lock_file(struct log_output *output, struct extract_error *error)
{
    output->file_locked = extract_log_flock(output->fd);
    if (output->file_locked || errno != EWOULDBLOCK)
        return EXTRACT_OK;
    return extract_error_set(error, EXTRACT_LIMIT, output->path,
                             "wait until it ends, or use another name for this log",
                             "another trace is being written to it");
}

static enum extract_code open_file(struct log_output *output, struct log_settings *settings,
                                   struct extract_error *error)
{
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    bool exists;
    enum extract_code code = examine_path(output->path, &exists, &output->size, error);

    if (code)
        return code;
    if (output->size && settings->policy != EXTRACT_LOG_APPEND)
        return extract_error_set(error, EXTRACT_BAD, output->path, hint_name,
                                 "an existing file is never overwritten");
    output->fd = open(output->path, exists ? flags : flags | O_CREAT | O_EXCL, 0666);
    if (output->fd < 0)
        return extract_file_error(output->path, hint_directory, error);
    output->created = !exists;
    code = lock_file(output, error);
    return !code && output->size ? continue_log(output, settings, error) : code;
}

enum extract_code extract_log_output_open(struct log_output *output, const char *path,
                                          struct log_settings *settings,
                                          struct extract_error *error)
{
    bool exists;

    memset(output, 0, sizeof *output);
    output->fd = output->lock.fd = -1;
    // Create no lock file for a path that can never be a log.
    enum extract_code code = examine_path(path, &exists, &output->size, error);
    if (code)
        return code;
    output->path = extract_log_path(path, "");
    if (!output->path)
        return extract_error_set(error, EXTRACT_NOMEM, path, NULL, "out of memory");
    code = extract_log_lock(&output->lock, path, settings->creator, error);
    if (!code)
        code = open_file(output, settings, error);
    if (code)
        extract_log_output_close(output, NULL);
    return code;
}

// ---- A file that is open ----

static enum extract_code refuse_fd(struct extract_error *error, const char *why)
{
    return extract_error_set(error, EXTRACT_USAGE, LOG_GIVEN,
                             "use a descriptor of a regular file that is open for writing", "%s",
                             why);
}

// Opens the descriptor's file again, because the descriptor may append, or not be open for reading.
// If that is not possible, duplicates the descriptor.
static enum extract_code reopen(struct log_output *output, int fd, struct extract_error *error)
{
    char path[32];
    struct stat st;
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || flags & O_PATH)
        return refuse_fd(error, "not open for writing");
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return refuse_fd(error, "not a regular file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    output->size = (uint64_t)st.st_size;
    output->fd = open(path, O_RDWR | O_CLOEXEC);
    if (output->fd < 0 && flags & O_APPEND)
        return refuse_fd(error, "appends (O_APPEND) and cannot be opened again");
    if (output->fd < 0)
        output->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return output->fd < 0 ? extract_file_error(output->path, NULL, error) : EXTRACT_OK;
}

// Continues or restarts the log in the file. A file that is not a log is not changed.
static enum extract_code prepare_content(struct log_output *output, struct log_settings *settings,
                                         struct extract_error *error)
{
    struct extract_log *log;

    if (!output->size)
        return EXTRACT_OK;
    enum extract_code code = extract_log_open_fd(&log, output->fd, error);
    if (code)
        return code;
    extract_log_free(log);
    if (settings->policy == EXTRACT_LOG_APPEND)
        return continue_log(output, settings, error);
    if (ftruncate(output->fd, 0) != 0)
        return extract_file_error(output->path, NULL, error);
    output->size = 0;
    return EXTRACT_OK;
}

enum extract_code extract_log_output_take(struct log_output *output, int fd,
                                          struct log_settings *settings,
                                          struct extract_error *error)
{
    memset(output, 0, sizeof *output);
    output->fd = output->lock.fd = -1;
    output->path = extract_log_path(LOG_GIVEN, "");
    if (!output->path)
        return extract_error_set(error, EXTRACT_NOMEM, LOG_GIVEN, NULL, "out of memory");
    enum extract_code code = reopen(output, fd, error);
    if (!code)
        code = lock_file(output, error);
    if (!code)
        code = prepare_content(output, settings, error);
    int reason = errno;
    if (code)
        extract_log_output_close(output, NULL);
    errno = reason;
    return code;
}

enum extract_code extract_log_output_close(struct log_output *output, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    if (output->file_locked) // explicitly, because duplicates of the descriptor share the lock
        flock(output->fd, LOCK_UN);
    if (output->fd >= 0 && close(output->fd) != 0)
        code = extract_file_error(output->path, NULL, error);
    extract_log_unlock(&output->lock);
    free(output->path);
    output->path = NULL;
    output->fd = -1;
    return code;
}

void extract_log_output_detach(struct log_output *output)
{
    output->file_locked = false;
    if (output->lock.fd >= 0)
        close(output->lock.fd);
    output->lock.fd = -1;
    extract_log_output_close(output, NULL);
}
