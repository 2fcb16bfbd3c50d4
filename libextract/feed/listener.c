// SPDX-License-Identifier: MIT
// feed: the clients of a TCP port, such as a target or its gateway. One client is read at a time.
//
// A target that loses power does not close its connection. So TCP keep-alive probes a silent
// connection, and a silent client is replaced by one that waits. A client that sends bytes without
// any readable frame is replaced, too. Standard: IEEE Std 1003.1-2017 (listen, accept).
#include "base/now.h"
#include "feed/feed.h"
#include "memory/live/listener.h"
#include <poll.h>
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
    feed_note_frame(feed);
    return feed_note_news(feed, FEED_OPEN, what, name);
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
    if (!there)
        return FEED_QUIET;
    return feed_take(feed, bytes, size, got, "the connection has ended; waiting for the next");
}

static void close_listener(struct feed *feed)
{
    if (feed->fd >= 0)
        close(feed->fd);
    close(feed->listener);
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
