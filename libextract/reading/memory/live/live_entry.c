// SPDX-License-Identifier: MIT
// memory/live: returns where the program of a process on this host was loaded.
//
// The kernel passes the loaded address of the entry point to each program in its auxiliary vector,
// and keeps a copy in /proc/PID/auxv. Source: Linux proc(5).
#include "memory/auxv.h"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { MAX_AUXV = 4096, PATH_ROOM = 48 };

// Reads the auxiliary vector of a process. Returns its bytes, 0 if it is not readable.
static size_t read_auxv(uint64_t pid, uint8_t bytes[MAX_AUXV])
{
    char path[PATH_ROOM];
    size_t used = 0;
    ssize_t got = 1;

    snprintf(path, sizeof path, "/proc/%llu/auxv", (unsigned long long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && got > 0 && used < MAX_AUXV) {
        got = read(fd, bytes + used, MAX_AUXV - used);
        used += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    return used;
}

bool extract_process_entry(uint64_t pid, unsigned pointer_bytes, uint64_t *entry)
{
    uint8_t bytes[MAX_AUXV];
    enum extract_byte_order order = EXTRACT_HOST_BIG ? EXTRACT_BIG : EXTRACT_LITTLE;

    return extract_auxv_entry(bytes, read_auxv(pid, bytes), order, pointer_bytes, entry);
}
