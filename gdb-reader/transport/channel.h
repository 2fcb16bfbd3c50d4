// SPDX-License-Identifier: MIT
// gdb-reader: the request and answer files between GDB's command line and the reader.
#ifndef RINGSIDE_CHANNEL_H
#define RINGSIDE_CHANNEL_H

#include <extract/error.h>
#include <stdbool.h>
#include <stddef.h>

enum { CHANNEL_MAX_ARGUMENTS = 32 }; // of a request

// File descriptors of two memory files. Only this process and its children can reach them, under
// /proc/self/fd.
struct channel {
    int request; // written by GDB's `dump` and `append`, and by `pipe`
    int answer;  // read by GDB's `source`
};

// One command as the user typed it. All strings point into `bytes`.
struct request {
    char *bytes; // owned
    const char *command;
    char *arguments[CHANNEL_MAX_ARGUMENTS]; // quotes removed
    size_t argument_count;
    unsigned width;        // columns of a line in GDB; 0: unlimited, or not asked for
    const char *registers; // output of GDB's `info registers`; NULL: not asked for
    const char *files;     // output of GDB's `info files`
    const char *hooks;     // output of GDB's `show user`; NULL if the command did not send it
};

// Creates the two files, with the descriptors in `channel`, or with any if these are -1. Errors:
// IO.
enum extract_code channel_open(struct channel *channel, struct extract_error *error);

// Returns whether a complete request is waiting. Must be cheap: GDB calls the reader for every
// frame that it unwinds.
bool channel_pending(const struct channel *channel);

// Moves the waiting request out of the file, even if an error is returned. The caller frees it with
// request_free in any case. Errors: IO, NOMEM, BAD, LIMIT (more than CHANNEL_MAX_ARGUMENTS).
enum extract_code channel_take(const struct channel *channel, struct request *request,
                               struct extract_error *error);

void request_free(struct request *request);

// Replaces the two files by unused ones with the same descriptors. If they were closed, GDB could
// give these numbers to files of its own, and a command that is still defined would overwrite them.
void channel_retire(const struct channel *channel);

// Replaces the contents of the answer file, which GDB sources next, by `script`. Errors: IO.
enum extract_code channel_answer(const struct channel *channel, const char *script, size_t length,
                                 struct extract_error *error);

#endif
