// SPDX-License-Identifier: MIT
// feed: a serial port, whose bytes are read raw at a given speed.
//
// An adapter may be unplugged and plugged in again, so that the path is tried until it can be
// opened. termios2 (Linux) allows any speed, not only the constants of termios.
// Source: termios(3), ioctl_tty(2).
#include "base/file.h"
#include "base/now.h"
#include "feed/feed.h"
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { RETRY_MS = 200, NEAR = 32 }; // a speed may differ by 1/32 from the one that is wanted

struct feed_serial {
    struct termios2 before;
};

static enum extract_code refuse(const char *path, const char *hint, const char *why,
                                struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_IO, path, hint, "%s", why);
}

static enum extract_code refuse_open(const char *path, struct extract_error *error)
{
    static const char busy[] = "end the program that uses it";
    const char *hint = errno == EACCES ? "check that you are in the group of the device (dialout)"
                       : errno == EBUSY || errno == EWOULDBLOCK ? busy
                       : errno == ENOENT ? "check that the adapter is plugged in"
                                         : NULL;
    bool locked = errno == EWOULDBLOCK;

    return locked ? refuse(path, hint, "another program uses it", error)
                  : extract_file_error(path, hint, error);
}

static void make_raw(struct termios2 *settings, uint32_t baud)
{
    settings->c_iflag = IGNBRK;
    settings->c_oflag = 0;
    settings->c_lflag = 0;
    settings->c_cflag &= ~(unsigned)(CBAUD | CBAUD << IBSHIFT | CSIZE | CSTOPB | PARENB | CRTSCTS);
    settings->c_cflag |= BOTHER | BOTHER << IBSHIFT | CS8 | CREAD | CLOCAL;
    settings->c_ispeed = settings->c_ospeed = baud;
    settings->c_cc[VMIN] = 1;
    settings->c_cc[VTIME] = 0;
}

static enum extract_code set_up(struct feed *feed, struct termios2 *before,
                                struct extract_error *error)
{
    struct termios2 now;

    if (ioctl(feed->fd, TCGETS2, before))
        return refuse(feed->path, "use a serial port, as /dev/ttyUSB0", "not a terminal", error);
    now = *before;
    make_raw(&now, feed->baud);
    if (ioctl(feed->fd, TCSETS2, &now) || ioctl(feed->fd, TCGETS2, &now))
        return extract_file_error(feed->path, "use another speed (--baud)", error);
    uint32_t off =
        now.c_ispeed > feed->baud ? now.c_ispeed - feed->baud : feed->baud - now.c_ispeed;
    if (off <= feed->baud / NEAR)
        return EXTRACT_OK;
    ioctl(feed->fd, TCSETS2, before);
    return extract_error_set(error, EXTRACT_IO, feed->path, "use another speed (--baud)",
                             "cannot do %u baud, only %u", feed->baud, now.c_ispeed);
}

static enum extract_code open_port(struct feed *feed, struct termios2 *before,
                                   struct extract_error *error)
{
    enum extract_code code;

    feed->fd = open(feed->path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (feed->fd < 0)
        return refuse_open(feed->path, error);
    if (flock(feed->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        code = refuse_open(feed->path, error);
    else
        code = set_up(feed, before, error);
    if (code) {
        close(feed->fd);
        feed->fd = -1;
    }
    return code;
}

static enum feed_news try_again(struct feed *feed, unsigned wait_ms)
{
    struct termios2 before; // ignored: closing restores the settings of the first time

    poll(NULL, 0, (int)(wait_ms < RETRY_MS ? wait_ms : RETRY_MS));
    if (open_port(feed, &before, NULL))
        return FEED_QUIET;
    feed->heard = extract_now();
    return feed_note_news(feed, FEED_OPEN, "reconnected");
}

static enum feed_news next_of_port(struct feed *feed, uint8_t *bytes, size_t size, size_t *got,
                                   unsigned wait_ms)
{
    if (feed->fd < 0)
        return try_again(feed, wait_ms);
    if (!feed_await(feed->fd, -1, wait_ms, NULL))
        return FEED_QUIET;
    return feed_take(feed, bytes, size, got, "disconnected; waiting for it to return");
}

static void close_port(struct feed *feed)
{
    if (feed->fd >= 0) {
        ioctl(feed->fd, TCSETS2, &feed->serial->before);
        close(feed->fd);
    }
    feed->fd = -1;
    free(feed->serial);
    feed->serial = NULL;
}

enum extract_code feed_open_serial(struct feed *feed, const char *path, uint32_t baud,
                                   struct extract_error *error)
{
    *feed =
        (struct feed){.next = next_of_port, .path = path, .fd = -1, .listener = -1, .baud = baud};
    snprintf(feed->name, sizeof feed->name, "%s", path);
    feed->serial = calloc(1, sizeof *feed->serial);
    if (!feed->serial)
        return extract_error_set(error, EXTRACT_NOMEM, path, NULL, "out of memory");
    enum extract_code code = open_port(feed, &feed->serial->before, error);
    if (code) {
        free(feed->serial);
        feed->serial = NULL;
        return code;
    }
    feed->close = close_port;
    return EXTRACT_OK;
}
