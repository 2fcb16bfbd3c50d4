// SPDX-License-Identifier: MIT
// feed: functions that all sources share, and pipes, the simplest source: they have an end.
// Standard: IEEE Std 1003.1-2017 (poll, read).
#include "feed/feed.h"
#include "base/file.h"
#include "base/now.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_READ = 1 << 20 };

bool feed_await(int fd, int other, unsigned wait_ms, bool *from_other)
{
    struct pollfd two[] = {{.fd = fd, .events = POLLIN}, {.fd = other, .events = POLLIN}};
    bool any = poll(two, 2, (int)wait_ms) > 0;

    if (from_other)
        *from_other = any && two[1].revents;
    return any && two[0].revents;
}

enum feed_news feed_note_news(struct feed *feed, enum feed_news news, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(feed->message, sizeof feed->message, format, args);
    va_end(args);
    return news;
}

int feed_read(struct feed *feed, uint8_t *bytes, size_t size)
{
    ssize_t got = read(feed->fd, bytes, size < MAX_READ ? size : MAX_READ);

    feed->has_rest |= got > 0;
    if (got >= 0)
        return (int)got;
    return errno == EAGAIN || errno == EINTR ? -1 : -2;
}

enum feed_news feed_take(struct feed *feed, uint8_t *bytes, size_t size, size_t *got,
                         const char *gone)
{
    int count = feed_read(feed, bytes, size);

    if (count == -1)
        return FEED_QUIET;
    if (count > 0) {
        *got = (size_t)count;
        return FEED_BYTES;
    }
    close(feed->fd);
    feed->fd = -1;
    return feed_note_news(feed, FEED_LOST, "%s", gone);
}

void feed_note_frame(struct feed *feed)
{
    feed->heard = extract_now();
    feed->has_rest = false;
}

void feed_close(struct feed *feed)
{
    if (feed->close)
        feed->close(feed);
    feed->close = NULL;
}

// ---- pipes ----

static enum feed_news next_of_pipe(struct feed *feed, uint8_t *bytes, size_t size, size_t *got,
                                   unsigned wait_ms)
{
    if (!feed_await(feed->fd, -1, wait_ms, NULL))
        return FEED_QUIET;
    int count = feed_read(feed, bytes, size);
    if (count == -2) {
        extract_file_error(feed->name, NULL, &feed->error);
        return FEED_FAULT;
    }
    *got = count > 0 ? (size_t)count : 0;
    return count > 0 ? FEED_BYTES : count < 0 ? FEED_QUIET : FEED_END;
}

static void close_pipe(struct feed *feed)
{
    if (feed->fd > STDERR_FILENO)
        close(feed->fd);
    feed->fd = -1;
}

enum extract_code feed_open_pipe(struct feed *feed, const char *path, struct extract_error *error)
{
    *feed = (struct feed){.next = next_of_pipe, .path = path, .fd = STDIN_FILENO, .listener = -1};
    snprintf(feed->name, sizeof feed->name, "%s", extract_file_name(path));
    if (strcmp(path, "-") != 0)
        feed->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (feed->fd < 0)
        return extract_file_error(path, NULL, error);
    feed->close = close_pipe;
    return EXTRACT_OK;
}
