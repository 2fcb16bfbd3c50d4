// SPDX-License-Identifier: MIT
// memory/live: the sockets of a connection (connection.h).
//
// Every socket is nonblocking. All waiting is done by poll, in slices of at most SLICE_MS that do
// not go beyond the deadline. A set `cancel` is noticed between two slices. The exception is the
// lookup of a host name that is neither an address nor in /etc/hosts: the resolver has deadlines of
// its own (resolv.conf), and nothing ends it before. Standard: IEEE Std 1003.1-2017.
#define _GNU_SOURCE // POLLRDHUP
#include "memory/live/connection.h"
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

enum { SLICE_MS = 100 }; // longest wait between two checks of `cancel`, in ms

// The parts of a place: a path in `local`, or a host and a port.
struct address {
    char host[MAX_HOST], port[MAX_PORT];
    struct sockaddr_un local;
    bool is_local;
};

bool connection_fail(struct connection *connection, enum connection_fault fault,
                     enum extract_code code, const char *hint, const char *why, ...)
{
    char text[sizeof connection->error.why];
    va_list args;

    va_start(args, why);
    vsnprintf(text, sizeof text, why, args);
    va_end(args);
    connection->fault = fault;
    extract_error_set(&connection->error, code, connection->place, hint, "%s", text);
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

bool connection_split(const char *place, bool any, char host[static MAX_HOST],
                      char port[static MAX_PORT])
{
    const char *colon = strrchr(place, ':'), *name = place;
    const char *number = colon ? colon + 1 : place;
    size_t length = colon ? (size_t)(colon - place) : 0;

    if (length >= 2 && name[0] == '[' && name[length - 1] == ']') {
        name++;
        length -= 2;
    } else if (memchr(name, ':', length)) {
        return false; // an IPv6 address needs brackets: any colon could start the port
    }
    if (!is_port(number, any) || length >= MAX_HOST)
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
    static const char hint[] = "use PORT, HOST:PORT or the path of a UNIX socket";

    memset(address, 0, sizeof *address);
    address->is_local = strchr(place, '/') != NULL;
    if (!address->is_local)
        return connection_split(place, false, address->host, address->port)
                   ? EXTRACT_OK
                   : extract_error_set(error, EXTRACT_USAGE, place, hint,
                                       "not the address of a server");
    if (strlen(place) >= sizeof address->local.sun_path)
        return extract_error_set(
            error, EXTRACT_USAGE, place, "use a shorter path",
            "longer than %zu bytes, the most that a UNIX socket's path can have",
            sizeof address->local.sun_path - 1);
    address->local.sun_family = AF_UNIX;
    strcpy(address->local.sun_path, place);
    return EXTRACT_OK;
}

enum extract_code connection_check(const char *place, struct extract_error *error)
{
    struct address address;
    return split(&address, place, error);
}

void connection_begin(struct connection *connection)
{
    uint64_t end = extract_now() + connection->timeout;

    connection->deadline = end < connection->limit ? end : connection->limit;
}

bool connection_has_gone(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLRDHUP};

    return poll(&one, 1, 0) > 0;
}

static bool is_cancelled(struct connection *connection)
{
    bool has_signal = connection->cancel && *connection->cancel;

    if (!has_signal && (!connection->client || !connection_has_gone(*connection->client)))
        return false;
    connection_fail(connection, CONNECTION_CANCELLED, EXTRACT_IO, NULL, "interrupted");
    return true;
}

static bool be_late(struct connection *connection)
{
    return connection_fail(
        connection, CONNECTION_LATE, EXTRACT_IO,
        "check that the target responds; for a slow link, pass a longer --timeout",
        "no answer within %.3g s", (double)connection->timeout / (double)EXTRACT_SECOND);
}

static int slice_until(uint64_t end)
{
    uint64_t now = extract_now();
    uint64_t ms = end > now ? (end - now + 999999) / 1000000 : 0;

    return ms < SLICE_MS ? (int)ms : SLICE_MS;
}

// Waits for `events` on a socket, at most until the deadline. Returns false after a fault.
static bool await(struct connection *connection, int fd, short events)
{
    struct pollfd one = {.fd = fd, .events = events};

    for (;;) {
        if (is_cancelled(connection))
            return false;
        int slice = slice_until(connection->deadline);
        int ready = poll(&one, 1, slice);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return connection_fail(connection, CONNECTION_BROKEN, EXTRACT_IO, NULL, "%s",
                                   strerror(errno));
        if (!slice)
            return be_late(connection);
        if (!ready && connection->meanwhile)
            connection->meanwhile(connection->meanwhile_context);
    }
}

bool connection_wait_until(struct connection *connection, uint64_t until)
{
    while (extract_now() < until) {
        if (is_cancelled(connection))
            return false;
        if (extract_now() >= connection->limit)
            return be_late(connection);
        poll(NULL, 0, slice_until(until < connection->limit ? until : connection->limit));
    }
    return true;
}

// Connects a socket. Returns 0 or an errno, or -1 after a fault that ended the wait.
static int try_connect(struct connection *connection, int fd, const struct sockaddr *to,
                       socklen_t length)
{
    int fault = 0;
    socklen_t size = sizeof fault;

    if (!connect(fd, to, length))
        return 0;
    if (errno != EINPROGRESS && errno != EINTR)
        return errno;
    if (!await(connection, fd, POLLOUT))
        return -1;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &fault, &size) ? errno : fault;
}

// Returns a connected socket, or -1. Sets *fault as try_connect returns it.
static int connect_to(struct connection *connection, const struct sockaddr *to, socklen_t length,
                      int *fault)
{
    int one = 1;
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    *fault = fd < 0 ? errno : try_connect(connection, fd, to, length);
    if (!*fault) {
        if (to->sa_family != AF_UNIX) // small commands must leave at once
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

static int connect_host(struct connection *connection, const struct address *address, int *fault)
{
    struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *list;
    int fd = -1;
    int code = getaddrinfo(address->host, address->port, &wanted, &list);

    *fault = -1;
    if (code) {
        connection_fail(connection, CONNECTION_BROKEN, EXTRACT_IO, "check the host name", "%s",
                        gai_strerror(code));
        return -1;
    }
    for (struct addrinfo *i = list; i && fd < 0; i = i->ai_next) {
        fd = connect_to(connection, i->ai_addr, i->ai_addrlen, fault);
        if (*fault < 0)
            break;
    }
    freeaddrinfo(list);
    return fd;
}

int connection_open(struct connection *connection)
{
    struct address address;
    int fault = 0, fd;

    if (split(&address, connection->place, &connection->error)) {
        connection->fault = CONNECTION_BROKEN;
        return -1;
    }
    if (address.is_local)
        fd = connect_to(connection, (const struct sockaddr *)&address.local, sizeof address.local,
                        &fault);
    else
        fd = connect_host(connection, &address, &fault);
    if (fault > 0 && fd < 0)
        connection_fail(connection, CONNECTION_BROKEN, EXTRACT_IO, connection->hint, "%s",
                        strerror(fault));
    return fd;
}

bool connection_connect(struct connection *connection)
{
    connection->at = connection->used = 0;
    connection->fault = CONNECTION_GOOD;
    connection_begin(connection);
    connection->fd = connection->dial(connection);
    return connection->fd >= 0;
}

void connection_close(struct connection *connection)
{
    if (connection->fd >= 0)
        close(connection->fd);
    connection->fd = -1;
    connection->at = connection->used = 0;
}

static bool has_closed(struct connection *connection)
{
    return connection_fail(connection, CONNECTION_BROKEN, EXTRACT_IO,
                           "check that no other client uses it, and read the server's own messages",
                           "the server has closed the connection");
}

bool connection_send(struct connection *connection, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;

    while (length) {
        ssize_t n = send(connection->fd, at, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            at += n;
            length -= (size_t)n;
        } else if (errno == EPIPE || errno == ECONNRESET) {
            return has_closed(connection);
        } else if (errno != EAGAIN && errno != EINTR) {
            return connection_fail(connection, CONNECTION_BROKEN, EXTRACT_IO, NULL, "%s",
                                   strerror(errno));
        } else if (!await(connection, connection->fd, POLLOUT)) {
            return false;
        }
    }
    return true;
}

// Receives what has arrived, after waiting for the first byte. Returns false after a fault.
static bool fill(struct connection *connection)
{
    for (;;) {
        if (!await(connection, connection->fd, POLLIN))
            return false;
        ssize_t n =
            recv(connection->fd, connection->buffer, sizeof connection->buffer, MSG_DONTWAIT);
        if (n > 0) {
            connection->at = 0;
            connection->used = (size_t)n;
            // Without this check, a server that never stops sending would never be late.
            return extract_now() < connection->deadline || be_late(connection);
        }
        if (!n || errno == ECONNRESET)
            return has_closed(connection);
        if (errno != EAGAIN && errno != EINTR)
            return connection_fail(connection, CONNECTION_BROKEN, EXTRACT_IO, NULL, "%s",
                                   strerror(errno));
    }
}

int connection_byte(struct connection *connection)
{
    if (connection->at == connection->used && !fill(connection))
        return -1;
    return connection->buffer[connection->at++];
}

bool connection_has_byte(struct connection *connection)
{
    struct pollfd one = {.fd = connection->fd, .events = POLLIN};

    return connection->at < connection->used || (connection->fd >= 0 && poll(&one, 1, 0) > 0);
}
