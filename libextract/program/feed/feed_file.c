// SPDX-License-Identifier: MIT
// feed: a file that grows, such as the capture of a terminal program. Its bytes are read from the
// start, and then those that are appended. poll() does not report appended bytes of a file, so that
// the file is read again every ASK_MS. Standard: IEEE Std 1003.1-2017 (fstat, read).
#include "base/file.h"
#include "feed/feed.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ASK_MS = 100 };

// Opens the file at the path, if it is a regular one, in place of the present one.
static bool reopen(struct feed *feed)
{
    struct stat now;
    int fd = open(feed->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd >= 0 && (fstat(fd, &now) || !S_ISREG(now.st_mode))) {
        close(fd);
        errno = EINVAL;
        fd = -1;
    }
    if (fd < 0)
        return false;
    if (feed->fd >= 0)
        close(feed->fd);
    feed->fd = fd;
    feed->offset = 0;
    feed->device = now.st_dev;
    feed->inode = now.st_ino;
    return true;
}

// Checks, at the end of the file, whether it was truncated or whether its path leads to another
// file now. Otherwise waits.
static enum feed_news check_replaced(struct feed *feed, unsigned wait_ms)
{
    struct stat there, open_one;

    if (fstat(feed->fd, &open_one) == 0 && (uint64_t)open_one.st_size < feed->offset) {
        if (lseek(feed->fd, 0, SEEK_SET))
            return FEED_QUIET;
        feed->offset = 0;
        return feed_note_news(feed, FEED_OPEN, "truncated, and read again from its start");
    }
    if (stat(feed->path, &there) == 0 &&
        (there.st_dev != feed->device || there.st_ino != feed->inode) && reopen(feed))
        return feed_note_news(feed, FEED_OPEN, "another file has its name now, and is read");
    poll(NULL, 0, (int)(wait_ms < ASK_MS ? wait_ms : ASK_MS));
    return FEED_QUIET;
}

static enum feed_news next_of_file(struct feed *feed, uint8_t *bytes, size_t size, size_t *got,
                                   unsigned wait_ms)
{
    int count = feed_read(feed, bytes, size);

    if (count == -2) {
        extract_file_error(feed->name, NULL, &feed->error);
        return FEED_FAULT;
    }
    if (count <= 0)
        return check_replaced(feed, wait_ms);
    *got = (size_t)count;
    feed->offset += *got;
    return FEED_BYTES;
}

static void close_file(struct feed *feed)
{
    close(feed->fd);
    feed->fd = -1;
}

enum extract_code feed_open_file(struct feed *feed, const char *path, struct extract_error *error)
{
    *feed = (struct feed){.next = next_of_file, .path = path, .fd = -1, .listener = -1};
    snprintf(feed->name, sizeof feed->name, "%s", path);
    if (!reopen(feed))
        return extract_file_error(path, NULL, error);
    feed->close = close_file;
    return EXTRACT_OK;
}
