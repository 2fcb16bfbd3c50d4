// SPDX-License-Identifier: MIT
// base: whole host files. In: a path. Out: its bytes, read once and bounded; or a file replaced in
// one step. Standard: IEEE Std 1003.1-2017 (open, fstat, read, write, fsync, rename).
//
// Files are read, never mapped: a file that shrinks under a mapping raises SIGBUS, which would
// kill the debugger that the library lives in.
#ifndef EXTRACT_BASE_FILE_H
#define EXTRACT_BASE_FILE_H

#include <extract/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXTRACT_FILE_LIMIT   (UINT64_C(4) << 30) // bytes of one file
#define EXTRACT_STREAM_LIMIT (UINT64_C(1) << 30) // bytes of what tells no size: pipes, devices

// Reads all of the file `path` ("-" reads standard input to its end) into *bytes, which the caller
// frees with free(); *bytes is not NULL even when *length is 0. `limit` bounds regular files;
// everything else is bounded by EXTRACT_STREAM_LIMIT as well. Opening a FIFO waits for its writer.
// Errors: IO (cannot be opened or read, or is a directory), NOMEM, LIMIT.
enum extract_code extract_file_read(const char *path, uint64_t limit, uint8_t **bytes,
                                    size_t *length, struct extract_error *error);

// Does the same for a file that goes with a trace and should be there: from a FIFO or device,
// something must come every EXTRACT_SILENCE_SECONDS, and the end within EXTRACT_PATIENCE_SECONDS.
// Nobody writes to a FIFO that was forgotten, and a command that waits for it shows nothing. "-" is
// read without a limit. Errors also: IO (nothing came in time).
enum { EXTRACT_SILENCE_SECONDS = 10, EXTRACT_PATIENCE_SECONDS = 60 };
enum extract_code extract_file_read_in_time(const char *path, uint64_t limit, uint8_t **bytes,
                                            size_t *length, struct extract_error *error);

// Reads up to `size` bytes from the start of the regular file `path`; *got says how many.
// Errors: IO, USAGE (not a regular file: what is read from a pipe is gone for the next reader).
enum extract_code extract_file_peek(const char *path, void *buffer, size_t size, size_t *got,
                                    struct extract_error *error);

// Makes `path` hold exactly these bytes: they are written to a new file beside it, which is then
// renamed, so that a reader or a crash sees the old file or the new one and never a half. A
// symbolic link is followed, the permissions of an old file are kept. What is no regular file (a
// pipe, a terminal) is written to as it is. When this returns, a crash of the host takes nothing
// back. Errors: IO (the old file is unchanged, but where the folder alone could not be written to
// disk), NOMEM.
enum extract_code extract_file_replace(const char *path, const void *bytes, size_t length,
                                       struct extract_error *error);
// The same for a file that is not there; one that is there, even a link, is an error IO.
enum extract_code extract_file_create(const char *path, const void *bytes, size_t length,
                                      struct extract_error *error);

// draft.c: the same piece by piece. With `exclusive`, the file must not be there. A draft that was
// opened is ended by one of the last two. Errors: IO, NOMEM.
struct extract_atomic_file {
    int fd;
    char *path;     // owned; of the file that it will be
    char *name;     // behind it: of the file that it is; NULL: `path` is no regular file
    uint64_t bytes; // written so far
    bool exclusive; // the path must be free
};
enum extract_code extract_atomic_file_open(struct extract_atomic_file *draft, const char *path,
                                           bool exclusive, struct extract_error *error);
// False, with errno: it could not be written. At the limit of file sizes that is EFBIG; the limit
// is looked at before it is met, since the system's signal would end the process (SIGXFSZ).
bool extract_atomic_file_write(struct extract_atomic_file *draft, const void *bytes, size_t length);
enum extract_code extract_atomic_file_keep(struct extract_atomic_file *draft,
                                           struct extract_error *error);
void extract_atomic_file_drop(struct extract_atomic_file *draft);

// Returns how many bytes the system lets a file of this process have now (RLIMIT_FSIZE).
uint64_t extract_file_most(void);

// What errno says, as an error IO about the file `name`. `hint` may be NULL.
enum extract_code extract_file_error(const char *name, const char *hint,
                                     struct extract_error *error);

// How messages call `path`: itself, or "standard input" for "-".
const char *extract_file_name(const char *path);

#endif
