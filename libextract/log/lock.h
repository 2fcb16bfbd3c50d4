// SPDX-License-Identifier: MIT
// log: one writer a log. In: the log's path. Out: FILE.lock, made and held, or who holds it.
//
// The file is the agreement with writers in other languages (docs/formats/log.md, One writer); a
// flock on it decides between two that both find the lock of a dead one.
#ifndef EXTRACT_LOG_LOCK_H
#define EXTRACT_LOG_LOCK_H

#include <extract/error.h>
#include <stdbool.h>

struct log_lock {
    int fd; // -1: not held
    char *path;
};

// A path with something behind it, to be freed; NULL: no memory.
char *extract_log_path(const char *path, const char *suffix);

// Makes the lock of the log `path`. Errors: LIMIT (another process holds it), IO, NOMEM.
enum extract_code extract_log_lock(struct log_lock *lock, const char *path, const char *creator,
                                   struct extract_error *error);

// Removes it and frees what it needed. One that is not held is allowed.
void extract_log_unlock(struct log_lock *lock);

// Whether a process that is there holds the log's lock. Errors: NOMEM.
enum extract_code extract_log_is_locked(bool *locked, const char *path,
                                        struct extract_error *error);

// The lock on the file itself, which is all that a writer has who was given a descriptor. False,
// with errno EWOULDBLOCK: another writer holds it.
bool extract_log_flock(int fd);
// Whether a writer holds it. Who asks holds it for a moment, too, and is no writer's obstacle.
bool extract_log_file_is_locked(int fd);

#endif
