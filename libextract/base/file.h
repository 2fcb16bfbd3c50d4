// SPDX-License-Identifier: MIT
// base: whole host files. In: a path. Out: its bytes, read once and bounded; or a file replaced in
// one step. Standard: IEEE Std 1003.1-2017 (open, fstat, read, write, fsync, rename).
//
// Files are read, never mapped: a file that shrinks under a mapping raises SIGBUS, which would
// kill the debugger that the library lives in.
#ifndef EXTRACT_BASE_FILE_H
#define EXTRACT_BASE_FILE_H

#include <extract/error.h>
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

// Reads up to `size` bytes from the start of the regular file `path`; *got says how many.
// Errors: IO, USAGE (not a regular file: what is read from a pipe is gone for the next reader).
enum extract_code extract_file_peek(const char *path, void *buffer, size_t size, size_t *got,
                                    struct extract_error *error);

// Makes `path` hold exactly these bytes: they are written to a new file beside it, which is then
// renamed, so that a reader or a crash sees the old file or the new one and never a half. A
// symbolic link is followed, the permissions of an old file are kept. What is no regular file (a
// pipe, a terminal) is written to as it is. Errors: IO (the old file is unchanged), NOMEM.
enum extract_code extract_file_replace(const char *path, const void *bytes, size_t length,
                                       struct extract_error *error);

// What errno says, as an error IO about the file `name`. `hint` may be NULL.
enum extract_code extract_file_error(const char *name, const char *hint,
                                     struct extract_error *error);

// How messages call `path`: itself, or "standard input" for "-".
const char *extract_file_name(const char *path);

#endif
