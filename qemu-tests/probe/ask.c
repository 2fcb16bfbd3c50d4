// SPDX-License-Identifier: MIT
// probe: a client of the control socket. In: a command. Out: its answer.
#include "probe/ask.h"
#include "probe/sockets.h"
#include <errno.h>
#include <extract/text.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_LIMIT = 1 << 20 };

static enum extract_code lost(const char *path, struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_IO, path, "does the probe still run?",
                             "no whole answer came");
}

static bool send_all(int fd, const char *data, size_t length)
{
    while (length) {
        ssize_t sent = send(fd, data, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        data += sent;
        length -= (size_t)sent;
    }
    return true;
}

// Reads up to the end of the line, which becomes a NUL.
static bool receive_line(int fd, struct extract_text *answer)
{
    while (answer->used < ANSWER_LIMIT) {
        char *room = extract_text_reserve(answer, 4096);
        ssize_t got = room ? recv(fd, room, 4096, 0) : -1;
        if (room && got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        answer->used += (size_t)got;
        char *end = memchr(room, '\n', (size_t)got);
        if (end) {
            *end = '\0';
            return true;
        }
    }
    return false;
}

static enum extract_code show(const char *answer, struct extract_error *error)
{
    const char *mark = "error: ";
    if (!strncmp(answer, mark, strlen(mark)))
        return extract_error_set(error, EXTRACT_BAD, "control", NULL, "%s", answer + strlen(mark));
    const char *text = !strncmp(answer, "ok", 2) ? answer + 2 + (answer[2] == ' ') : answer;
    struct extract_text line;
    extract_text_init(&line, NULL, NULL);
    extract_text_escaped(&line, text);
    if (line.used)
        printf("%.*s\n", (int)line.used, line.data);
    extract_text_free(&line);
    return fflush(stdout) ? extract_error_set(error, EXTRACT_IO, "standard output", NULL, "%s",
                                              strerror(errno))
                          : EXTRACT_OK;
}

enum extract_code ask(const char *path, char *const *words, size_t count,
                      struct extract_error *error)
{
    struct extract_text text;
    int fd;
    enum extract_code code = socket_connect(path, &fd, error);
    if (code)
        return code;
    extract_text_init(&text, NULL, NULL);
    for (size_t i = 0; i < count; i++) {
        extract_text_puts(&text, words[i]);
        extract_text_putc(&text, i + 1 < count ? ' ' : '\n');
    }
    bool sent = !text.code && send_all(fd, text.data, text.used);
    text.used = 0;
    code = sent && receive_line(fd, &text) ? show(text.data, error) : lost(path, error);
    extract_text_free(&text);
    close(fd);
    return code;
}
