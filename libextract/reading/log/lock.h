// SPDX-License-Identifier: MIT
// log: makes sure that a log has one writer, by means of a lock file, FILE.lock.
//
// Writers in other languages use the same lock file (docs/formats/log.md, "One writer"). Writers of
// this library also take a flock on it, which decides between two writers that both find the lock
// file of a dead process.
#ifndef EXTRACT_LOG_LOCK_H
#define EXTRACT_LOG_LOCK_H

#include <extract/error.h>
#include <stdbool.h>

struct log_lock {
    int fd; // -1: not locked
    char *path;
};

// Returns a path with a suffix, which the caller frees; NULL if memory runs out.
char *extract_log_path(const char *path, const char *suffix);

// Creates the lock file of the log `path`. Errors: LIMIT (another process has it), IO, NOMEM.
enum extract_code extract_log_lock(struct log_lock *lock, const char *path, const char *creator,
                                   struct extract_error *error);

// Removes the lock file, and frees the lock. Does nothing if it is not locked.
void extract_log_unlock(struct log_lock *lock);

// Determines whether a live process has the log's lock file. Errors: NOMEM.
enum extract_code extract_log_is_locked(bool *locked, const char *path,
                                        struct extract_error *error);

// Takes the lock on the file itself. It is the only lock of a writer that was given a descriptor.
// Returns false with errno EWOULDBLOCK if another writer has it.
bool extract_log_flock(int fd);
// Returns whether a writer has that lock. The test itself takes the lock for a moment, which
// writers tolerate by trying again.
bool extract_log_file_is_locked(int fd);

#endif
