// SPDX-License-Identifier: MIT
// unit: the shared memory object of a traced process on Linux. The test maps it by its name, as a
// malicious program can map it, too.
#ifndef HOST_OBJECT_H
#define HOST_OBJECT_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct object_path {
    char text[64];
};

static inline struct object_path object_path_of(pid_t pid)
{
    struct object_path path;
    snprintf(path.text, sizeof path.text, "/dev/shm/ringside-posix.%d",
             (int)(pid ? pid : getpid()));
    return path;
}

// Opens the object's file. `pid` 0 stands for this process.
static inline int open_object(pid_t pid)
{
    int file = open(object_path_of(pid).text, O_RDWR | O_CLOEXEC);
    if (file < 0)
        abort();
    return file;
}

// Removes the object's name. A process that was killed cannot do so itself.
static inline void unlink_object(pid_t pid)
{
    unlink(object_path_of(pid).text);
}

// Maps the whole object until the process ends.
static inline uint8_t *map_object(pid_t pid, size_t *length)
{
    struct stat status;
    int file = open_object(pid);
    if (fstat(file, &status))
        abort();
    *length = (size_t)status.st_size;
    uint8_t *bytes =
        mmap(NULL, *length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (bytes == MAP_FAILED)
        abort();
    close(file);
    return bytes;
}

#endif
