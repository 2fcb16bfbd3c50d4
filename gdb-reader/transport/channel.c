// SPDX-License-Identifier: MIT
// gdb-reader: the request and answer files between GDB's command line and the reader.
//
// The commands of ringside.gdb write a request as fields that end in NUL:
//     command, arguments …, ["\3", output of `show user`],
//     ["\4", output of `info registers`], ["\5" + columns of a line],
//     "\1", output of `info files` + "\2"
// Here it is split into a struct request. The answer is a script that GDB sources.
// Source: memfd_create(2); proc(5) for /proc/self/fd.
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
    MARKER_FILES = 1,
    MARKER_END = 2,
    MARKER_HOOKS = 3,
    MARKER_REGISTERS = 4,
    MARKER_WIDTH = 5,
    // Longer output of `info files` is truncated: only its first lines matter.
    MAX_REQUEST_BYTES = 1 << 20
};

static enum extract_code io_error(struct extract_error *error, const char *what)
{
    return extract_error_set(error, EXTRACT_IO, what, NULL, "%s", strerror(errno));
}

// Creates a memory file, with the descriptor *file if that is not -1. Its name contains the process
// id: a GDB that is started inside this one inherits the files, but must not use them.
static bool create_file(int *file, const char *purpose)
{
    char name[64];

    snprintf(name, sizeof name, "ringside-%s-%ld", purpose, (long)getpid());
    int created = memfd_create(name, 0); // inherited: the shell of GDB's `pipe` writes to it
    if (created < 0)
        return false;
    if (*file < 0) {
        *file = created;
        return true;
    }
    bool is_moved = dup2(created, *file) >= 0;
    close(created);
    return is_moved;
}

enum extract_code channel_open(struct channel *channel, struct extract_error *error)
{
    if (create_file(&channel->request, "request") && create_file(&channel->answer, "answer"))
        return EXTRACT_OK;
    return io_error(error, "memfd_create");
}

void channel_retire(const struct channel *channel)
{
    struct channel retired = *channel;

    if (channel->request < 0 || channel->answer < 0)
        return;
    create_file(&retired.request, "retired");
    create_file(&retired.answer, "retired");
}

bool channel_pending(const struct channel *channel)
{
    struct stat status;
    char end[2];

    return channel->request >= 0 && fstat(channel->request, &status) == 0 && status.st_size > 2 &&
           pread(channel->request, end, 2, status.st_size - 2) == 2 && end[0] == MARKER_END &&
           end[1] == 0;
}

// Reads at most MAX_REQUEST_BYTES of the file, and empties it.
static enum extract_code read_request(int file, char **bytes, size_t *length,
                                      struct extract_error *error)
{
    struct stat status;
    size_t size = MAX_REQUEST_BYTES;
    ssize_t got;

    *bytes = NULL;
    if (fstat(file, &status))
        return io_error(error, "request");
    if (status.st_size < MAX_REQUEST_BYTES)
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

// Removes quotes and backslashes in place, as a shell would: GDB passes arguments as typed.
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

// Returns the field at *at, and moves *at to the next one; NULL at the end.
static char *next_field(char **at, char *end)
{
    char *field = *at;

    if (field >= end)
        return NULL;
    *at = field + strlen(field) + 1;
    return field;
}

static bool is_marker(const char *field, char marker)
{
    return field[0] == marker && !field[1];
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
    while ((field = next_field(&at, end)) && !is_marker(field, MARKER_FILES)) {
        if (is_marker(field, MARKER_HOOKS)) {
            request->hooks = next_field(&at, end);
        } else if (is_marker(field, MARKER_REGISTERS)) {
            request->registers = next_field(&at, end);
        } else if (*field == MARKER_WIDTH) {
            request->width = (unsigned)strtoul(field + 1, NULL, 10);
        } else if (*field && request->argument_count == CHANNEL_MAX_ARGUMENTS) {
            return extract_error_set(error, EXTRACT_LIMIT, request->command, NULL,
                                     "more than %d arguments", CHANNEL_MAX_ARGUMENTS);
        } else if (*field) { // some versions of GDB write the NUL of a value, and so an empty field
            unquote(field);
            request->arguments[request->argument_count++] = field;
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
