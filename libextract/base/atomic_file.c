// SPDX-License-Identifier: MIT
// base: a host file that is written part by part and takes its name when it is complete.
//
// The bytes go to a file without a name in the same directory. When all are written and flushed to
// disk, the file gets its name. So a part of it is never seen: not by another program, and not by
// the user after a crash; and a process that is killed leaves nothing behind. Where a file system
// has no files without a name, the file has a temporary one.
//
// Standards: IEEE Std 1003.1-2017 (open, fsync, link, rename); open(2), O_TMPFILE.
#define _GNU_SOURCE // O_TMPFILE
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TEMPORARY_TRIES = 100,
    TEMPORARY_TAIL = 32, // 16 digits, ".", ".tmp"
    DESCRIPTOR_BYTES = 32
};

static const char way_out[] = "use a path in a directory that can be written to";

// Stores an unpredictable name in the directory of `path`. Returns false, with errno, if there are
// no random numbers.
static bool draw_name(const char *path, char *name, size_t size)
{
    uint64_t number;

    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return false;
    snprintf(name, size, "%s.%016llx.tmp", path, (unsigned long long)number);
    return true;
}

// Creates a file in the directory of `path` and stores its name. Returns -1, with errno, if that
// fails.
static int create_named(const char *path, char *name, size_t size)
{
    for (int i = 0; i < TEMPORARY_TRIES && draw_name(path, name, size); i++) {
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

// Stores the directory of `path`, with "/" at its end, in a buffer of strlen(path) + 2 bytes.
static void name_directory(const char *path, char *directory)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 2;

    memcpy(directory, slash ? path : "./", length);
    directory[length] = 0;
}

// Stores the path by which this process reaches an open file.
static void name_descriptor(int fd, char path[static DESCRIPTOR_BYTES])
{
    snprintf(path, DESCRIPTOR_BYTES, "/proc/self/fd/%d", fd);
}

// Creates a file without a name in the directory of `path`; `directory` is a buffer. Returns -1 if
// there are none here, or if it could not get a name later, because /proc is missing.
static int create_unnamed(const char *path, char *directory)
{
    char self[DESCRIPTOR_BYTES];

    name_directory(path, directory);
    int fd = open(directory, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    name_descriptor(fd, self);
    if (access(self, F_OK) == 0)
        return fd;
    close(fd);
    return -1;
}

// Gives the file the old one's mode, and its owner if the system allows it.
static bool keep_rights(int fd, const struct stat *old)
{
    if (fchown(fd, old->st_uid, old->st_gid) != 0)
        errno = 0;
    return fchmod(fd, old->st_mode & 0777) == 0;
}

// Flushes the directory of `path` to disk, so that the new name survives a crash. Directories that
// may not be read, and file systems that cannot do it (EINVAL), are skipped. `directory` is a
// buffer of strlen(path) + 2 bytes.
static bool sync_directory(const char *path, char *directory)
{
    name_directory(path, directory);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return true;
    bool good = fsync(fd) == 0 || errno == EINVAL;
    int reason = errno;
    close(fd);
    errno = reason;
    return good;
}

// Stores the path, with space after it for the name of the temporary file.
static enum extract_code keep_path(struct extract_atomic_file *file, const char *path,
                                   struct extract_error *error)
{
    size_t length = strlen(path) + 1;

    file->path = malloc(2 * length + TEMPORARY_TAIL);
    if (!file->path)
        return extract_error_set(error, EXTRACT_NOMEM, path, "free some memory on this host",
                                 "no memory for %zu bytes", 2 * length + TEMPORARY_TAIL);
    memcpy(file->path, path, length);
    return EXTRACT_OK;
}

static enum extract_code open_beside(struct extract_atomic_file *file, const char *path,
                                     const struct stat *old, struct extract_error *error)
{
    size_t length = strlen(path) + 1;
    enum extract_code code = keep_path(file, path, error);

    if (code)
        return code;
    file->name = file->path + length;
    file->fd = create_unnamed(path, file->name);
    file->is_unnamed = file->fd >= 0;
    if (!file->is_unnamed)
        file->fd = create_named(path, file->name, length + TEMPORARY_TAIL);
    if (file->fd >= 0 && (!old || keep_rights(file->fd, old)))
        return EXTRACT_OK;
    return extract_file_error(path, way_out, error);
}

// Opens a pipe, a terminal or a device, which is written to directly.
static enum extract_code open_through(struct extract_atomic_file *file, const char *path,
                                      struct extract_error *error)
{
    enum extract_code code = keep_path(file, path, error);

    if (code)
        return code;
    file->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return file->fd < 0 ? extract_file_error(path, NULL, error) : EXTRACT_OK;
}

static enum extract_code open_any(struct extract_atomic_file *file, const char *path,
                                  struct extract_error *error)
{
    struct stat st;
    char real[PATH_MAX];

    if (file->exclusive)
        return open_beside(file, path, NULL, error);
    if (stat(path, &st) != 0)
        return lstat(path, &st) == 0
                   ? extract_error_set(error, EXTRACT_IO, path, "use the name of a new file",
                                       "is a dangling symbolic link")
                   : open_beside(file, path, NULL, error);
    if (S_ISDIR(st.st_mode))
        return extract_error_set(error, EXTRACT_IO, path, "use a file in it", "is a directory");
    if (!S_ISREG(st.st_mode))
        return open_through(file, path, error);
    if (!realpath(path, real)) // rename would replace a link, not what it points to
        return extract_file_error(path, NULL, error);
    return open_beside(file, real, &st, error);
}

enum extract_code extract_atomic_file_open(struct extract_atomic_file *file, const char *path,
                                           bool exclusive, struct extract_error *error)
{
    *file = (struct extract_atomic_file){.fd = -1, .exclusive = exclusive};
    enum extract_code code = open_any(file, path, error);
    if (code)
        extract_atomic_file_drop(file);
    return code;
}

bool extract_atomic_file_write(struct extract_atomic_file *file, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    uint64_t most = file->name ? extract_file_most() : UINT64_MAX;

    while (length) {
        uint64_t left = most > file->bytes ? most - file->bytes : 0;
        size_t part = length < left ? length : (size_t)left;
        if (!part) {
            errno = EFBIG;
            return false;
        }
        ssize_t n = write(file->fd, at, part < SSIZE_MAX ? part : SSIZE_MAX);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        length -= (size_t)n;
        file->bytes += (uint64_t)n;
    }
    return true;
}

bool extract_atomic_file_write_zeros(struct extract_atomic_file *file, size_t length)
{
    static const uint8_t zeros[4096];
    bool may_have_holes = file->name && length <= extract_file_most() - file->bytes;

    if (may_have_holes && lseek(file->fd, (off_t)length, SEEK_CUR) >= 0) {
        file->bytes += length;
        file->has_holes = true;
        return true;
    }
    for (size_t part; length; length -= part) {
        part = length < sizeof zeros ? length : sizeof zeros;
        if (!extract_atomic_file_write(file, zeros, part))
            return false;
    }
    return true;
}

void extract_atomic_file_drop(struct extract_atomic_file *file)
{
    int reason = errno;

    if (file->fd >= 0)
        close(file->fd);
    if (file->fd >= 0 && file->name && !file->is_unnamed)
        unlink(file->name);
    free(file->path);
    *file = (struct extract_atomic_file){.fd = -1};
    errno = reason;
}

// Gives a file without a name its own name, or, if that may exist, a temporary one.
static bool link_unnamed(const struct extract_atomic_file *file)
{
    char self[DESCRIPTOR_BYTES];

    name_descriptor(file->fd, self);
    if (file->exclusive)
        return linkat(AT_FDCWD, self, AT_FDCWD, file->path, AT_SYMLINK_FOLLOW) == 0;
    for (int i = 0; i < TEMPORARY_TRIES; i++) {
        if (!draw_name(file->path, file->name, strlen(file->path) + 1 + TEMPORARY_TAIL))
            return false;
        if (linkat(AT_FDCWD, self, AT_FDCWD, file->name, AT_SYMLINK_FOLLOW) == 0)
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

// Gives a file that has its temporary name its own one. Keeps errno.
static bool rename_named(const struct extract_atomic_file *file)
{
    bool named =
        (file->exclusive ? link(file->name, file->path) : rename(file->name, file->path)) == 0;
    int reason = errno;

    if (!named || file->exclusive)
        unlink(file->name);
    errno = reason;
    return named;
}

// Flushes the file to disk and gives it its name.
static bool publish_file(struct extract_atomic_file *file)
{
    if (file->has_holes && ftruncate(file->fd, (off_t)file->bytes) != 0)
        return false;
    if (fsync(file->fd) != 0)
        return false;
    bool is_linked = file->is_unnamed;
    if (is_linked && !link_unnamed(file))
        return false;
    bool is_complete = is_linked && file->exclusive;
    file->is_unnamed = false;
    bool is_closed = close(file->fd) == 0;
    file->fd = -1;
    if (is_complete)
        return is_closed;
    if (is_closed)
        return rename_named(file);
    int reason = errno;
    unlink(file->name);
    errno = reason;
    return false;
}

enum extract_code extract_atomic_file_keep(struct extract_atomic_file *file,
                                           struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    if (!file->name) {
        int closed = close(file->fd);
        file->fd = -1;
        code = closed ? extract_file_error(file->path, NULL, error) : EXTRACT_OK;
    } else if (!publish_file(file)) {
        code = extract_file_error(file->path, way_out, error);
    } else if (!sync_directory(file->path, file->name)) {
        code = extract_file_error(file->path, NULL, error);
    }
    extract_atomic_file_drop(file);
    return code;
}
