// SPDX-License-Identifier: MIT
// The programs on this host that are traced, or were when they were killed.
//
// The memory that a program shares with its controllers (/dev/shm/ringside-posix.PID) stays if the
// program is killed. Its trace can be read as that of a program that runs
// (extract_memory_open_process), until it is one of too many.
#ifndef EXTRACT_POSIX_TRACED_H
#define EXTRACT_POSIX_TRACED_H

#include <extract/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum {
    EXTRACT_TRACED_NAME = 16,    // bytes of a stream's name with its NUL
    EXTRACT_TRACED_PROGRAM = 256 // bytes of a program's path with its NUL; longer ones are cut
};

// A stream that is bound.
struct extract_traced {
    uint64_t pid;
    bool is_killed;  // the program does not run any more
    bool is_in_core; // a core of the program will contain the stream; false if it was killed
    unsigned stream; // its number
    char name[EXTRACT_TRACED_NAME];
    bool is_recording, is_full;
    uint64_t recorded;     // events since the stream was bound or cleared
    uint64_t memory_bytes; // of all streams of the program
    int64_t started; // when the program was started, in seconds since 1970 (UTC); 0: not known
    // Path of the executable; if it was killed, the first 15 bytes of its file name. "": not known.
    char program[EXTRACT_TRACED_PROGRAM];
};

// Lists the bound streams of all programs whose memory the caller may read, by process id. The
// caller frees *list with free(). Errors: NOMEM.
enum extract_code extract_traced_list(struct extract_traced **list, size_t *count,
                                      struct extract_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
