// SPDX-License-Identifier: MIT
// feed: the clients of a port, such as a target or its gateway. One client is read at a time.
//
// A target that loses power does not close its connection. So TCP keep-alive probes a silent
// connection, and a silent client is replaced by one that waits. A client that sends bytes without
// any readable frame is replaced, too. The first bytes of a client are held until they show that it
// is not a browser. Standard: IEEE Std 1003.1-2017 (listen, accept).
#include "base/now.h"
#include "feed/feed.h"
#include "memory/live/live_listener.h"
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SILENT_SECONDS = 3, RETRY_MS = 10 };

static enum feed_news accept_client(struct feed *feed)
{
    char name[FEED_TEXT];
    int fd = listener_accept(feed->listener, name, sizeof name);

    if (fd < 0) { // the client has disconnected already, or too many files are open
        poll(NULL, 0, RETRY_MS);
        return FEED_QUIET;
    }
    bool other = feed->fd >= 0;
    if (other)
        close(feed->fd);
    const char *what = !other ? "%s is connected"
                       : feed->has_rest
                           ? "%s is connected; the one before sent no frame that could be read"
                           : "%s is connected; the one before was silent";
    feed->fd = fd;
    feed->web = WEB_UNKNOWN;
    feed->held = feed->given = 0;
    feed_note_frame(feed);
    return feed_note_news(feed, FEED_OPEN, what, name);
}

// Passes held bytes on.
static enum feed_news give_held(struct feed *feed, uint8_t *bytes, size_t size, size_t *got)
{
    size_t left = feed->held - feed->given;

    *got = left < size ? left : size;
    memcpy(bytes, feed->first + feed->given, *got);
    feed->given += *got;
    return FEED_BYTES;
}

// Takes the first bytes of a client, which are passed on once it is known not to be a browser.
static enum feed_news take_first(struct feed *feed, uint8_t *bytes, size_t size, size_t *got)
{
    int count = feed_read(feed, feed->first + feed->held, sizeof feed->first - feed->held);

    if (count == -1)
        return FEED_QUIET;
    feed->held += count > 0 ? (size_t)count : 0;
    feed->web = count > 0 ? web_judge(feed->first, feed->held) : WEB_STREAM; // it has ended
    if (feed->web == WEB_UNKNOWN)
        return FEED_QUIET;
    if (feed->web == WEB_STREAM && feed->held)
        return give_held(feed, bytes, size, got);
    close(feed->fd);
    feed->fd = -1;
    return feed_note_news(feed, FEED_LOST, "%s; waiting for the next",
                          feed->held ? "the client sent a request of a browser, disconnected"
                                     : "the connection has ended");
}

static enum feed_news next_of_clients(struct feed *feed, uint8_t *bytes, size_t size, size_t *got,
                                      unsigned wait_ms)
{
    bool other, silent = extract_now() - feed->heard > SILENT_SECONDS * EXTRACT_SECOND;
    bool there =
        feed_await(feed->fd, feed->fd < 0 || silent ? feed->listener : -1, wait_ms, &other);

    // Bytes after a silence may be a frame: they are read before the client is replaced.
    if (other && (!there || feed->has_rest))
        return accept_client(feed);
    if (feed->fd >= 0 && feed->given < feed->held && feed->web == WEB_STREAM)
        return give_held(feed, bytes, size, got);
    if (!there)
        return FEED_QUIET;
    if (feed->web == WEB_UNKNOWN)
        return take_first(feed, bytes, size, got);
    return feed_take(feed, bytes, size, got, "the connection has ended; waiting for the next");
}

static void close_listener(struct feed *feed)
{
    if (feed->fd >= 0)
        close(feed->fd);
    listener_close(feed->listener);
    feed->fd = feed->listener = -1;
}

enum extract_code feed_open_listener(struct feed *feed, const char *place,
                                     struct extract_error *error)
{
    *feed = (struct feed){.next = next_of_clients, .path = place, .fd = -1, .listener = -1};
    enum extract_code code =
        listener_open(&feed->listener, place, FEED_PORT, feed->name, sizeof feed->name, error);
    if (!code)
        feed->close = close_listener;
    return code;
}
