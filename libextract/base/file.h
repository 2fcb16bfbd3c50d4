// SPDX-License-Identifier: MIT
// base: host files: reading one completely, and replacing one in a single step.
// Standard: IEEE Std 1003.1-2017 (open, fstat, read, pread, write, fsync, rename).
//
// Files are read, never mapped: a file that shrinks under a mapping raises SIGBUS, which would
// kill the debugger that the library lives in.
#ifndef EXTRACT_BASE_FILE_H
#define EXTRACT_BASE_FILE_H

#include <extract/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXTRACT_FILE_LIMIT   (UINT64_C(4) << 30) // maximum bytes of one file
#define EXTRACT_STREAM_LIMIT (UINT64_C(1) << 30) // maximum bytes of a pipe or device

// Reads all of the file `path` ("-" reads standard input to its end) into *bytes, which the caller
// frees with free(); *bytes is not NULL even when *length is 0. `limit` bounds regular files;
// everything else is bounded by EXTRACT_STREAM_LIMIT as well. Opening a FIFO waits for its writer.
// Errors: IO (cannot be opened or read, or is a directory), NOMEM, LIMIT.
enum extract_code extract_file_read(const char *path, uint64_t limit, uint8_t **bytes,
                                    size_t *length, struct extract_error *error);

// Does the same for a file that accompanies a trace, with a time limit. A FIFO or device must
// deliver something every EXTRACT_SILENCE_SECONDS, and its end within EXTRACT_PATIENCE_SECONDS.
// Otherwise a command would wait silently for a FIFO that has no writer. "-" is read without a
// time limit. Errors: also IO (nothing came in time).
enum { EXTRACT_SILENCE_SECONDS = 10, EXTRACT_PATIENCE_SECONDS = 60 };
enum extract_code extract_file_read_in_time(const char *path, uint64_t limit, uint8_t **bytes,
                                            size_t *length, struct extract_error *error);

// Reads up to `size` bytes from the start of the regular file `path`, and sets *got to their
// number. Errors: IO, USAGE (not a regular file: bytes that are read from a pipe are lost to the
// next reader).
enum extract_code extract_file_peek(const char *path, void *buffer, size_t size, size_t *got,
                                    struct extract_error *error);

// Reads `length` bytes at `offset` of an open file into a buffer, without moving its position.
// Returns how many were read: fewer at the end of the file, or if it cannot be read there.
size_t extract_file_read_at(int fd, void *buffer, size_t length, uint64_t offset);

// Makes `path` hold exactly these bytes. They are written to a new file in the same directory,
// which is then renamed: a reader, or a crash, sees the old file or the new one, never a part. A
// symbolic link is followed, and the permissions of an old file are kept. A pipe, a terminal or a
// device is written to directly. After success, a crash of the host does not undo it. Errors: IO
// (the old file is unchanged, unless only the directory could not be flushed to disk), NOMEM.
enum extract_code extract_file_replace(const char *path, const void *bytes, size_t length,
                                       struct extract_error *error);

// Does the same for a file that must not exist yet; an existing one, even a link, is an error IO.
enum extract_code extract_file_create(const char *path, const void *bytes, size_t length,
                                      struct extract_error *error);

// A file that is written part by part and takes its name when it is complete (atomic_file.c). With
// `exclusive`, the path must not exist. A file that was opened is ended by _keep or _drop, which
// also free it. Errors: IO, NOMEM.
struct extract_atomic_file {
    int fd;
    char *path; // owned: the name that the file will have
    char *name; // in the same allocation: its temporary name; NULL if `path` is a pipe or device
    uint64_t bytes;  // bytes written so far
    bool exclusive;  // the path must not exist
    bool is_unnamed; // it has no name yet, so that nothing is left if the process is killed
    bool has_holes;  // `bytes` is the length of the file, whose end may be a hole
};
enum extract_code extract_atomic_file_open(struct extract_atomic_file *file, const char *path,
                                           bool exclusive, struct extract_error *error);
// Appends bytes. Returns false, with errno, if they could not be written. At the limit of file
// sizes errno is EFBIG; the limit is checked beforehand, since the system's SIGXFSZ would end the
// process.
bool extract_atomic_file_write(struct extract_atomic_file *file, const void *bytes, size_t length);
// Appends zeros, as a hole if the file can have one. Otherwise as extract_atomic_file_write.
bool extract_atomic_file_write_zeros(struct extract_atomic_file *file, size_t length);
// Flushes the file to disk and gives it its name.
enum extract_code extract_atomic_file_keep(struct extract_atomic_file *file,
                                           struct extract_error *error);
// Removes the file. Keeps errno.
void extract_atomic_file_drop(struct extract_atomic_file *file);

// Returns the maximum size in bytes of a file that this process may write now (RLIMIT_FSIZE).
uint64_t extract_file_most(void);

// Fills *error with the text of errno, as an error IO about the file `name`. `hint` may be NULL.
enum extract_code extract_file_error(const char *name, const char *hint,
                                     struct extract_error *error);

// Returns the name of `path` in messages: itself, or "standard input" for "-".
const char *extract_file_name(const char *path);

#endif
