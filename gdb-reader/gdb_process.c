// SPDX-License-Identifier: MIT
// gdb-reader: finds the POSIX trace of a program on this host, live or in a core. The program's
// symbols do not lead to it: the trace is in memory that the program shares with its controllers.
//
// In: the output of GDB's `info files`. Out: the address of the shared memory.
//
//     "Using the running image of child process 123." ──► /proc/123/maps
//     "\t0x7fbb19714000 - 0x7fbb19769000 is load7"    ──► the first word of each segment
#include "query.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SEGMENTS = 4096 };

static const char process_magic[] = {'P', 'T', 'R', 'C'};

// Finds the mapping in the process. GDB names a process, or one of its threads.
static bool find_mapping(unsigned long id, uint64_t *address)
{
    char path[48], line[512];
    uint64_t start, offset;
    bool found = false;

    snprintf(path, sizeof path, "/proc/%lu/maps", id);
    FILE *maps = fopen(path, "re");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        found = strstr(line, " /dev/shm/ringside-posix.") &&
                sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64, &start, &offset) == 2 && offset == 0;
        *address = found ? start : 0;
    }
    if (maps)
        fclose(maps);
    return found;
}

static bool find_in_process(const char *files, uint64_t *address)
{
    static const char head[] = "Using the running image of ";
    const char *line = strstr(files, head);
    const char *end = line ? strchr(line, '\n') : NULL,
               *process = line ? strstr(line, "process ") : 0,
               *thread = line ? strstr(line, "(LWP ") : NULL;

    if (thread && thread < end)
        return find_mapping(strtoul(thread + strlen("(LWP "), NULL, 10), address);
    return process && process < end &&
           find_mapping(strtoul(process + strlen("process "), NULL, 10), address);
}

static bool find_in_core(const char *files, struct extract_memory *memory, uint64_t *address)
{
    unsigned left = MOST_SEGMENTS;

    for (const char *at = files; (at = strstr(at, " is load")) && left--; at++) {
        const char *line = at;
        while (line > files && line[-1] != '\n')
            line--;
        uint64_t start = strtoull(line, NULL, 16);
        char magic[sizeof process_magic];
        size_t got;
        if (start && !extract_memory_read(memory, start, magic, sizeof magic, &got, NULL) &&
            memcmp(magic, process_magic, sizeof magic) == 0) {
            *address = start;
            return true;
        }
    }
    return false;
}

bool query_find_process(const char *files, struct extract_memory *memory, uint64_t *address)
{
    return find_in_process(files, address) || find_in_core(files, memory, address);
}
