// SPDX-License-Identifier: MIT
// log: which file a writer may write. In: a path. Out: a new file, an empty one, or an APPEND log
// that is continued; everything else is refused and left as it is.
#define _GNU_SOURCE // O_PATH
#include "log/output.h"
#include "base/file.h"
#include "log/internal.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char hint_name[] = "give another name, or remove it";
static const char hint_folder[] = "give a path in a folder that can be written to";

static enum extract_code refuse_kind(const char *path, const char *why, struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_USAGE, path, "give the name of a file", "%s", why);
}

// What is at the path may be nothing, or a regular file. *exists and its size.
static enum extract_code look(const char *path, bool *exists, uint64_t *size,
                              struct extract_error *error)
{
    struct stat st;
    *exists = lstat(path, &st) == 0;
    *size = 0;
    if (!*exists)
        return errno == ENOENT ? EXTRACT_OK : extract_file_error(path, hint_folder, error);
    if (S_ISLNK(st.st_mode))
        return refuse_kind(path, "it is a symbolic link, and a log is never written through one",
                           error);
    if (S_ISDIR(st.st_mode))
        return refuse_kind(path, "it is a directory", error);
    if (!S_ISREG(st.st_mode))
        return refuse_kind(path, "it is a pipe, a socket or a device", error);
    *size = (uint64_t)st.st_size;
    return EXTRACT_OK;
}

// Numbers that a log has room for behind those of a damaged one.
#define NUMBERS_LEFT (UINT64_C(1) << 62)

// Takes over what the log says of itself.
static enum extract_code adopt(struct log_output *place, struct log_settings *facts,
                               struct extract_error *error)
{
    struct extract_log *log;
    enum extract_code code = place->lock.path ? extract_log_open(&log, place->path, error)
                                              : extract_log_open_fd(&log, place->fd, error);
    if (code == EXTRACT_BAD)
        return extract_error_set(error, EXTRACT_BAD, place->path, hint_name,
                                 "there is a file of that name, and it is no log");
    if (code)
        return code;
    if (log->status.policy != EXTRACT_LOG_APPEND)
        code = extract_error_set(error, EXTRACT_BAD, place->path, hint_name,
                                 "it is a log with another full policy");
    facts->section_bytes = (uint32_t)log->status.section_bytes;
    facts->created = log->status.created;
    facts->limit = 0;
    place->section = log->sections[log->section_count - 1].number + 1;
    place->number = log->next_number;
    place->size = log->size;
    place->ended = log->end;
    place->is_torn = log->is_torn;
    place->index = (log->end + facts->section_bytes - 1) / facts->section_bytes;
    extract_log_free(log);
    if (!code && (place->section > NUMBERS_LEFT || place->number > NUMBERS_LEFT))
        code = extract_error_set(error, EXTRACT_BAD, place->path, hint_name,
                                 "the log is too damaged to be continued");
    return code;
}

// Goes on behind the section that holds the last block. Nothing of it changes, not even what was
// half-written there: the next section says where it ended.
static enum extract_code continue_log(struct log_output *place, struct log_settings *facts,
                                      struct extract_error *error)
{
    enum extract_code code = adopt(place, facts, error);
    uint64_t begin = place->index * facts->section_bytes;
    if (code || place->size <= begin)
        return code;
    if (ftruncate(place->fd, (off_t)begin) != 0)
        return extract_file_error(place->path, NULL, error);
    place->size = begin;
    return EXTRACT_OK;
}

// The file itself is locked too: a descriptor tells no path beside which a lock could lie. The
// system gives the lock back when its holder is no more. Not every file system knows such locks.
static enum extract_code hold_file(struct log_output *place, struct extract_error *error)
{
    place->held = extract_log_flock(place->fd);
    if (place->held || errno != EWOULDBLOCK)
        return EXTRACT_OK;
    return extract_error_set(error, EXTRACT_LIMIT, place->path,
                             "let it end, or give another name to this log",
                             "another trace is being written to it");
}

static enum extract_code open_file(struct log_output *place, struct log_settings *facts,
                                   struct extract_error *error)
{
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    bool exists;
    enum extract_code code = look(place->path, &exists, &place->size, error);
    if (code)
        return code;
    if (place->size && facts->policy != EXTRACT_LOG_APPEND)
        return extract_error_set(error, EXTRACT_BAD, place->path, hint_name,
                                 "there is a file of that name, and it is not overwritten");
    place->fd = open(place->path, exists ? flags : flags | O_CREAT | O_EXCL, 0666);
    if (place->fd < 0)
        return extract_file_error(place->path, hint_folder, error);
    place->created = !exists;
    code = hold_file(place, error);
    return !code && place->size ? continue_log(place, facts, error) : code;
}

enum extract_code extract_log_output_open(struct log_output *place, const char *path,
                                          struct log_settings *facts, struct extract_error *error)
{
    bool exists;
    memset(place, 0, sizeof *place);
    place->fd = place->lock.fd = -1;
    // What can never be a log gets no lock beside it.
    enum extract_code code = look(path, &exists, &place->size, error);
    if (code)
        return code;
    place->path = extract_log_path(path, "");
    if (!place->path)
        return extract_error_set(error, EXTRACT_NOMEM, path, NULL, "out of memory");
    code = extract_log_lock(&place->lock, path, facts->creator, error);
    if (!code)
        code = open_file(place, facts, error);
    if (code)
        extract_log_output_close(place, NULL);
    return code;
}

// ---- a file that is open ----

static enum extract_code refuse_fd(struct extract_error *error, const char *why)
{
    return extract_error_set(error, EXTRACT_USAGE, LOG_GIVEN,
                             "give a descriptor of a regular file that is open for writing", "%s",
                             why);
}

// Opened again: a descriptor may append whatever is written, or not be for reading. Where it cannot
// be opened again, it is copied.
static enum extract_code reopen(struct log_output *place, int fd, struct extract_error *error)
{
    char path[32];
    struct stat st;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || flags & O_PATH)
        return refuse_fd(error, "it is not open for writing");
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return refuse_fd(error, "it is no regular file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    place->size = (uint64_t)st.st_size;
    place->fd = open(path, O_RDWR | O_CLOEXEC);
    if (place->fd < 0 && flags & O_APPEND)
        return refuse_fd(error, "it appends (O_APPEND), and cannot be opened again");
    if (place->fd < 0)
        place->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return place->fd < 0 ? extract_file_error(place->path, NULL, error) : EXTRACT_OK;
}

// A log that is there is continued, or begun again; what is no log is not touched.
static enum extract_code take_content(struct log_output *place, struct log_settings *facts,
                                      struct extract_error *error)
{
    struct extract_log *log;
    if (!place->size)
        return EXTRACT_OK;
    enum extract_code code = extract_log_open_fd(&log, place->fd, error);
    if (code)
        return code;
    extract_log_free(log);
    if (facts->policy == EXTRACT_LOG_APPEND)
        return continue_log(place, facts, error);
    if (ftruncate(place->fd, 0) != 0)
        return extract_file_error(place->path, NULL, error);
    place->size = 0;
    return EXTRACT_OK;
}

enum extract_code extract_log_output_take(struct log_output *place, int fd,
                                          struct log_settings *facts, struct extract_error *error)
{
    memset(place, 0, sizeof *place);
    place->fd = place->lock.fd = -1;
    place->path = extract_log_path(LOG_GIVEN, "");
    if (!place->path)
        return extract_error_set(error, EXTRACT_NOMEM, LOG_GIVEN, NULL, "out of memory");
    enum extract_code code = reopen(place, fd, error);
    if (!code)
        code = hold_file(place, error);
    if (!code)
        code = take_content(place, facts, error);
    int reason = errno;
    if (code)
        extract_log_output_close(place, NULL);
    errno = reason;
    return code;
}

enum extract_code extract_log_output_close(struct log_output *place, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    if (place->held) // also for copies of the descriptor
        flock(place->fd, LOCK_UN);
    if (place->fd >= 0 && close(place->fd) != 0)
        code = extract_file_error(place->path, NULL, error);
    extract_log_unlock(&place->lock);
    free(place->path);
    place->path = NULL;
    place->fd = -1;
    return code;
}

void extract_log_output_detach(struct log_output *place)
{
    place->held = false;
    if (place->lock.fd >= 0)
        close(place->lock.fd);
    place->lock.fd = -1;
    extract_log_output_close(place, NULL);
}
