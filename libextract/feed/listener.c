// SPDX-License-Identifier: MIT
// feed: the clients of a TCP port, such as a target or its gateway. One client is read at a time.
//
// A target that loses power does not close its connection. So TCP keep-alive probes a silent
// connection, and a silent client is replaced by one that waits. A client that sends bytes without
// any readable frame is replaced, too. Standard: IEEE Std 1003.1-2017 (listen, accept).
#include "base/now.h"
#include "feed/feed.h"
#include "memory/live/connection.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { QUEUE = 4, SILENT_SECONDS = 3, IDLE_SECONDS = 10, PROBES = 3, RETRY_MS = 10 };

static void name_address(const struct sockaddr *address, socklen_t length, char *name, size_t size)
{
    char host[64], port[8];

    if (getnameinfo(address, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV))
        snprintf(name, size, "unknown");
    else
        snprintf(name, size, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

static void enable_keepalive(int fd)
{
    int on = 1, idle = IDLE_SECONDS, probes = PROBES;

    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

static enum feed_news accept_client(struct feed *feed)
{
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    char name[FEED_TEXT];
    int fd = accept(feed->listener, (struct sockaddr *)&from, &length);

    if (fd < 0) { // the client has disconnected already, or too many files are open
        poll(NULL, 0, RETRY_MS);
        return FEED_QUIET;
    }
    bool other = feed->fd >= 0;
    if (other)
        close(feed->fd);
    enable_keepalive(fd);
    name_address((struct sockaddr *)&from, length, name, sizeof name);
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

// ---- the place ----

static bool split(const char *place, char host[static MAX_HOST], char port[static MAX_PORT])
{
    if (connection_split(place, true, host, port)) {
        if (strcmp(host, "localhost") == 0)
            strcpy(host, "127.0.0.1");
        return true;
    }
    if (!*place || strchr(place, ':') || strlen(place) >= MAX_HOST)
        return false;
    strcpy(host, place);
    snprintf(port, MAX_PORT, "%d", FEED_PORT);
    return true;
}

static enum extract_code listen_on(struct feed *feed, const struct addrinfo *at,
                                   struct extract_error *error)
{
    int on = 1;
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, QUEUE)) {
        int fault = errno;
        if (fd >= 0)
            close(fd);
        return extract_error_set(error, EXTRACT_IO, feed->name,
                                 fault == EADDRINUSE ? "another program listens there: end it, or "
                                                       "use another port"
                                 : fault == EACCES   ? "use a port above 1023"
                                                     : "use [ADDRESS:]PORT of this computer",
                                 "%s", strerror(fault));
    }
    feed->listener = fd;
    feed->close = close_listener;
    if (!getsockname(fd, (struct sockaddr *)&bound, &length))
        name_address((struct sockaddr *)&bound, length, feed->name, sizeof feed->name);
    return EXTRACT_OK;
}

enum extract_code feed_open_listener(struct feed *feed, const char *place,
                                     struct extract_error *error)
{
    char host[MAX_HOST], port[MAX_PORT];
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list;

    *feed = (struct feed){.next = next_of_clients, .path = place, .fd = -1, .listener = -1};
    snprintf(feed->name, sizeof feed->name, "%s", place);
    if (!split(place, host, port))
        return extract_error_set(error, EXTRACT_USAGE, place, "use [ADDRESS:]PORT",
                                 "not an address to listen on");
    int code = getaddrinfo(host, port, &wanted, &list);
    if (code)
        return extract_error_set(error, EXTRACT_IO, place, "use [ADDRESS:]PORT of this computer",
                                 "%s", gai_strerror(code));
    enum extract_code result = listen_on(feed, list, error);
    freeaddrinfo(list);
    return result;
}
