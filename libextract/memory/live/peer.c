// SPDX-License-Identifier: MIT
// memory/live: sockets. In: HOST:PORT or the path of a UNIX socket. Out: bytes in order, or a
// fault. Standard: IEEE Std 1003.1-2017.
#include "memory/live/peer.h"
#include "base/now.h"
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { SLICE_MS = 100 }; // how long a wait goes on before `cancel` is looked at

// A place, taken apart.
struct address {
    char host[PEER_HOST], port[PEER_PORT];
    struct sockaddr_un local;
    bool is_local;
};

bool peer_fail(struct peer *peer, enum peer_fault fault, enum extract_code code, const char *hint,
               const char *why, ...)
{
    char text[sizeof peer->error.why];
    va_list args;
    va_start(args, why);
    vsnprintf(text, sizeof text, why, args);
    va_end(args);
    peer->fault = fault;
    extract_error_set(&peer->error, code, peer->place, hint, "%s", text);
    return false;
}

static bool is_port(const char *text, bool any)
{
    unsigned value = 0;
    size_t i = 0;
    for (; text[i] >= '0' && text[i] <= '9' && i < 5; i++)
        value = value * 10 + (unsigned)(text[i] - '0');
    return i && !text[i] && (value || any) && value <= UINT16_MAX;
}

bool peer_split(const char *place, bool any, char host[static PEER_HOST],
                char port[static PEER_PORT])
{
    const char *colon = strrchr(place, ':'), *name = place;
    const char *number = colon ? colon + 1 : place;
    size_t length = colon ? (size_t)(colon - place) : 0;
    if (length >= 2 && name[0] == '[' && name[length - 1] == ']') {
        name++;
        length -= 2;
    } else if (memchr(name, ':', length)) {
        return false; // which colon stands before the port?
    }
    if (!is_port(number, any) || length >= PEER_HOST)
        return false;
    memcpy(host, name, length);
    host[length] = 0;
    strcpy(port, number);
    if (!length)
        strcpy(host, "localhost");
    return true;
}

static enum extract_code split(struct address *address, const char *place,
                               struct extract_error *error)
{
    static const char hint[] = "write PORT, HOST:PORT or the path of a UNIX socket";
    memset(address, 0, sizeof *address);
    address->is_local = strchr(place, '/') != NULL;
    if (!address->is_local)
        return peer_split(place, false, address->host, address->port)
                   ? EXTRACT_OK
                   : extract_error_set(error, EXTRACT_USAGE, place, hint,
                                       "it is not the place of a server");
    if (strlen(place) >= sizeof address->local.sun_path)
        return extract_error_set(error, EXTRACT_USAGE, place, "use a shorter path",
                                 "a UNIX socket's path has at most %zu bytes",
                                 sizeof address->local.sun_path - 1);
    address->local.sun_family = AF_UNIX;
    strcpy(address->local.sun_path, place);
    return EXTRACT_OK;
}

enum extract_code peer_check(const char *place, struct extract_error *error)
{
    struct address address;
    return split(&address, place, error);
}

void peer_begin(struct peer *peer)
{
    uint64_t end = extract_now() + peer->timeout;
    peer->deadline = end < peer->limit ? end : peer->limit;
}

static bool is_cancelled(struct peer *peer)
{
    if (!peer->cancel || !*peer->cancel)
        return false;
    peer_fail(peer, PEER_CANCELLED, EXTRACT_IO, NULL, "interrupted");
    return true;
}

static bool be_late(struct peer *peer)
{
    return peer_fail(peer, PEER_LATE, EXTRACT_IO,
                     "is the target there? a slow link may need a longer time-out (--timeout)",
                     "no answer within %.3g s", (double)peer->timeout / (double)EXTRACT_SECOND);
}

static int slice_until(uint64_t end)
{
    uint64_t now = extract_now();
    uint64_t ms = end > now ? (end - now + 999999) / 1000000 : 0;
    return ms < SLICE_MS ? (int)ms : SLICE_MS;
}

// Waits for `events` on a socket until the deadline.
static bool await(struct peer *peer, int fd, short events)
{
    struct pollfd one = {.fd = fd, .events = events};
    for (;;) {
        if (is_cancelled(peer))
            return false;
        int slice = slice_until(peer->deadline);
        int ready = poll(&one, 1, slice);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return peer_fail(peer, PEER_BROKEN, EXTRACT_IO, NULL, "%s", strerror(errno));
        if (!slice)
            return be_late(peer);
    }
}

bool peer_nap(struct peer *peer, uint64_t until)
{
    while (extract_now() < until) {
        if (is_cancelled(peer))
            return false;
        if (extract_now() >= peer->limit)
            return be_late(peer);
        poll(NULL, 0, slice_until(until < peer->limit ? until : peer->limit));
    }
    return true;
}

// 0, or the errno of an attempt; -1 when the wait for it ended.
static int try_connect(struct peer *peer, int fd, const struct sockaddr *to, socklen_t length)
{
    int fault = 0;
    socklen_t size = sizeof fault;
    if (!connect(fd, to, length))
        return 0;
    if (errno != EINPROGRESS && errno != EINTR)
        return errno;
    if (!await(peer, fd, POLLOUT))
        return -1;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &fault, &size) ? errno : fault;
}

// A connected socket, or -1 with the reason in *fault.
static int connect_to(struct peer *peer, const struct sockaddr *to, socklen_t length, int *fault)
{
    int one = 1;
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    *fault = fd < 0 ? errno : try_connect(peer, fd, to, length);
    if (!*fault) {
        if (to->sa_family != AF_UNIX) // commands are small, and each is waited for
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

static int connect_host(struct peer *peer, const struct address *address, int *fault)
{
    struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *list;
    int fd = -1;
    int code = getaddrinfo(address->host, address->port, &wanted, &list);
    *fault = -1;
    if (code) {
        peer_fail(peer, PEER_BROKEN, EXTRACT_IO, "check the name of the host", "%s",
                  gai_strerror(code));
        return -1;
    }
    for (struct addrinfo *i = list; i && fd < 0; i = i->ai_next) {
        fd = connect_to(peer, i->ai_addr, i->ai_addrlen, fault);
        if (*fault < 0)
            break;
    }
    freeaddrinfo(list);
    return fd;
}

int peer_dial(struct peer *peer)
{
    struct address address;
    int fault = 0, fd;
    if (split(&address, peer->place, &peer->error)) {
        peer->fault = PEER_BROKEN;
        return -1;
    }
    if (address.is_local)
        fd =
            connect_to(peer, (const struct sockaddr *)&address.local, sizeof address.local, &fault);
    else
        fd = connect_host(peer, &address, &fault);
    if (fault > 0 && fd < 0)
        peer_fail(peer, PEER_BROKEN, EXTRACT_IO, peer->hint, "%s", strerror(fault));
    return fd;
}

bool peer_open(struct peer *peer)
{
    peer->at = peer->used = 0;
    peer->fault = PEER_FINE;
    peer_begin(peer);
    peer->fd = peer->dial(peer);
    return peer->fd >= 0;
}

void peer_close(struct peer *peer)
{
    if (peer->fd >= 0)
        close(peer->fd);
    peer->fd = -1;
    peer->at = peer->used = 0;
}

static bool has_closed(struct peer *peer)
{
    return peer_fail(peer, PEER_BROKEN, EXTRACT_IO,
                     "does another client use it? the server's own messages may say more",
                     "the server has closed the connection");
}

bool peer_send(struct peer *peer, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    while (length) {
        ssize_t n = send(peer->fd, at, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            at += n;
            length -= (size_t)n;
        } else if (errno == EPIPE || errno == ECONNRESET) {
            return has_closed(peer);
        } else if (errno != EAGAIN && errno != EINTR) {
            return peer_fail(peer, PEER_BROKEN, EXTRACT_IO, NULL, "%s", strerror(errno));
        } else if (!await(peer, peer->fd, POLLOUT)) {
            return false;
        }
    }
    return true;
}

// Takes what has arrived; waits for the first byte.
static bool fill(struct peer *peer)
{
    for (;;) {
        if (!await(peer, peer->fd, POLLIN))
            return false;
        ssize_t n = recv(peer->fd, peer->buffer, sizeof peer->buffer, MSG_DONTWAIT);
        if (n > 0) {
            peer->at = 0;
            peer->used = (size_t)n;
            // A server that never stops sending would else never be late.
            return extract_now() < peer->deadline || be_late(peer);
        }
        if (!n || errno == ECONNRESET)
            return has_closed(peer);
        if (errno != EAGAIN && errno != EINTR)
            return peer_fail(peer, PEER_BROKEN, EXTRACT_IO, NULL, "%s", strerror(errno));
    }
}

int peer_byte(struct peer *peer)
{
    if (peer->at == peer->used && !fill(peer))
        return -1;
    return peer->buffer[peer->at++];
}

bool peer_has_byte(struct peer *peer)
{
    struct pollfd one = {.fd = peer->fd, .events = POLLIN};
    return peer->at < peer->used || (peer->fd >= 0 && poll(&one, 1, 0) > 0);
}
