// SPDX-License-Identifier: MIT
// gdb-reader: the two channels between GDB's command line and the reader.
#ifndef RINGSIDE_CHANNEL_H
#define RINGSIDE_CHANNEL_H

#include <extract/error.h>
#include <stdbool.h>
#include <stddef.h>

enum { CHANNEL_ARGUMENTS = 32 }; // more than any command takes

// Two memory files, which only this process and the children that it starts can reach, under
// /proc/self/fd.
struct channel {
    int request; // written by GDB's `dump` and `append`, and by `pipe`
    int answer;  // read by GDB's `source`
};

// One command as it was typed. All strings point into `bytes`.
struct request {
    char *bytes; // owned
    const char *command;
    char *argument[CHANNEL_ARGUMENTS]; // quotes removed
    size_t arguments;
    const char *files; // what GDB's `info files` printed
    const char *hooks; // what `show user` printed; NULL unless the command sent it
};

// Makes the two files, under the numbers that `channel` has, or under any where it has -1.
// Errors: IO.
enum extract_code channel_open(struct channel *channel, struct extract_error *error);

// Whether a whole request waits. Cheap: GDB asks once for every frame that it looks at.
bool channel_pending(const struct channel *channel);

// Takes the request that waits: it is gone from the file, whatever is returned.
// Errors: IO, NOMEM, BAD, LIMIT (more arguments than any command takes).
enum extract_code channel_take(const struct channel *channel, struct request *request,
                               struct extract_error *error);
void request_free(struct request *request);

// Puts nameless files under the two numbers: were they closed, files of GDB's own could get them,
// which a command that is still defined would then overwrite.
void channel_retire(const struct channel *channel);

// Makes `script` what GDB's next `source` of the answer reads. Errors: IO.
enum extract_code channel_answer(const struct channel *channel, const char *script, size_t length,
                                 struct extract_error *error);

#endif
