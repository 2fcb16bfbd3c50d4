// SPDX-License-Identifier: MIT
// gdb-reader: the two channels between GDB's command line and the reader.
//
// In: requests, written by the commands of ringside.gdb as fields that end in NUL:
//     command, arguments …, ["\3", output of `show user`], "\1", output of `info files` + "\2"
// Out: the request in pieces; and scripts for GDB to `source`.
// Linux: memfd_create(2), proc(5) for /proc/self/fd.
#define _GNU_SOURCE
#include "channel.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MARK_FILES = 1,
    MARK_END = 2,
    MARK_HOOKS = 3,
    REQUEST_MAX = 1 << 20 // `info files` of a large process is cut; its first line is what counts
};

static enum extract_code io_error(struct extract_error *error, const char *what)
{
    return extract_error_set(error, EXTRACT_IO, what, NULL, "%s", strerror(errno));
}

// Makes a memory file, under the number *file if that is not -1.
// The name carries the process number, so that a GDB that was started inside of this one, and has
// inherited the files, does not take them for its own.
static bool open_file(int *file, const char *purpose)
{
    char name[64];

    snprintf(name, sizeof name, "ringside-%s-%ld", purpose, (long)getpid());
    int made = memfd_create(name, 0); // inherited: the shell behind GDB's `pipe` writes to it
    if (made < 0)
        return false;
    if (*file < 0) {
        *file = made;
        return true;
    }
    bool moved = dup2(made, *file) >= 0;
    close(made);
    return moved;
}

enum extract_code channel_open(struct channel *channel, struct extract_error *error)
{
    if (open_file(&channel->request, "request") && open_file(&channel->answer, "answer"))
        return EXTRACT_OK;
    return io_error(error, "memfd_create");
}

void channel_retire(const struct channel *channel)
{
    struct channel retired = *channel;

    if (channel->request < 0 || channel->answer < 0)
        return;
    open_file(&retired.request, "retired");
    open_file(&retired.answer, "retired");
}

bool channel_pending(const struct channel *channel)
{
    struct stat status;
    char end[2];

    return channel->request >= 0 && fstat(channel->request, &status) == 0 && status.st_size > 2 &&
           pread(channel->request, end, 2, status.st_size - 2) == 2 && end[0] == MARK_END &&
           end[1] == 0;
}

// Reads the start of the file, and empties it.
static enum extract_code read_request(int file, char **bytes, size_t *length,
                                      struct extract_error *error)
{
    struct stat status;
    size_t size = REQUEST_MAX;
    ssize_t got;

    *bytes = NULL;
    if (fstat(file, &status))
        return io_error(error, "request");
    if (status.st_size < REQUEST_MAX)
        size = (size_t)status.st_size;
    *bytes = malloc(size + 1);
    got = *bytes ? pread(file, *bytes, size, 0) : 0;
    if (ftruncate(file, 0) || got < 0)
        return io_error(error, "request");
    if (!*bytes)
        return extract_error_set(error, EXTRACT_NOMEM, "request", NULL, "out of memory");
    (*bytes)[got] = 0;
    *length = (size_t)got;
    return EXTRACT_OK;
}

// Removes quotes and backslashes as a shell would, in place: GDB hands arguments over as typed.
static void unquote(char *text)
{
    char quote = 0;
    char *to = text;

    for (; *text; text++) {
        if (quote ? *text == quote : *text == '"' || *text == '\'')
            quote = quote ? 0 : *text;
        else if (*text == '\\' && text[1] && quote != '\'')
            *to++ = *++text;
        else
            *to++ = *text;
    }
    *to = 0;
}

// The field at *at, which moves behind it; NULL at the end.
static char *next_field(char **at, char *end)
{
    char *field = *at;

    if (field >= end)
        return NULL;
    *at = field + strlen(field) + 1;
    return field;
}

static bool is_mark(const char *field, char mark)
{
    return field[0] == mark && !field[1];
}

enum extract_code channel_take(const struct channel *channel, struct request *request,
                               struct extract_error *error)
{
    size_t length = 0;
    char *field;

    memset(request, 0, sizeof *request);
    enum extract_code code = read_request(channel->request, &request->bytes, &length, error);
    if (code)
        return code;
    char *at = request->bytes;
    char *end = at + length;
    request->command = next_field(&at, end);
    request->files = "";
    while ((field = next_field(&at, end)) && !is_mark(field, MARK_FILES)) {
        if (is_mark(field, MARK_HOOKS)) {
            request->hooks = next_field(&at, end);
        } else if (*field && request->arguments == CHANNEL_ARGUMENTS) {
            return extract_error_set(error, EXTRACT_LIMIT, request->command, NULL,
                                     "more than %d arguments", CHANNEL_ARGUMENTS);
        } else if (*field) { // GDB versions differ in whether a value brings its NUL along
            unquote(field);
            request->argument[request->arguments++] = field;
        }
    }
    if (field && at < end)
        request->files = at;
    if (!request->command)
        return extract_error_set(error, EXTRACT_BAD, "request", NULL, "empty");
    return EXTRACT_OK;
}

void request_free(struct request *request)
{
    free(request->bytes);
    request->bytes = NULL;
}

enum extract_code channel_answer(const struct channel *channel, const char *script, size_t length,
                                 struct extract_error *error)
{
    if (ftruncate(channel->answer, 0))
        return io_error(error, "answer");
    for (size_t done = 0; done < length;) {
        ssize_t wrote = pwrite(channel->answer, script + done, length - done, (off_t)done);
        if (wrote <= 0)
            return io_error(error, "answer");
        done += (size_t)wrote;
    }
    return EXTRACT_OK;
}
