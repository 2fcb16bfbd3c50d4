// SPDX-License-Identifier: MIT
// memory/live: waits for clients on a TCP port or a UNIX socket (live_listener.h).
// Standard: IEEE Std 1003.1-2017 (listen, accept); Linux unix(7).
#define _GNU_SOURCE // struct ucred
#include "memory/live/live_listener.h"
#include "memory/live/connection.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { QUEUE = 4, IDLE_SECONDS = 10, PROBES = 3 };

static void name_address(const struct sockaddr *address, socklen_t length, char *name, size_t size)
{
    char host[64], port[8];

    if (address->sa_family == AF_UNIX)
        snprintf(name, size, "%s", ((const struct sockaddr_un *)address)->sun_path);
    else if (getnameinfo(address, length, host, sizeof host, port, sizeof port,
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

int listener_accept(int listener, char *name, size_t size)
{
    struct sockaddr_storage from;
    socklen_t length = sizeof from, peer_size = sizeof(struct ucred);
    struct ucred peer;
    int one = 1;
    int fd = accept4(listener, (struct sockaddr *)&from, &length, SOCK_CLOEXEC);

    if (fd < 0)
        return -1;
    if (from.ss_family == AF_UNIX) {
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size))
            peer.pid = 0;
        snprintf(name, size, "process %d", (int)peer.pid);
        return fd;
    }
    enable_keepalive(fd);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    name_address((struct sockaddr *)&from, length, name, size);
    return fd;
}

static bool split(const char *place, unsigned standard, char host[static MAX_HOST],
                  char port[static MAX_PORT])
{
    if (connection_split(place, true, host, port)) {
        if (strcmp(host, "localhost") == 0)
            strcpy(host, "127.0.0.1");
        return true;
    }
    if (!*place || strchr(place, ':') || strlen(place) >= MAX_HOST)
        return false;
    strcpy(host, place);
    snprintf(port, MAX_PORT, "%u", standard);
    return true;
}

static enum extract_code listen_on(int *listener, const struct addrinfo *at, char *name,
                                   size_t size, struct extract_error *error)
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
        return extract_error_set(error, EXTRACT_IO, name,
                                 fault == EADDRINUSE ? "another program listens there: end it, or "
                                                       "use another port"
                                 : fault == EACCES   ? "use a port above 1023"
                                                     : "use [ADDRESS:]PORT of this computer",
                                 "%s", strerror(fault));
    }
    *listener = fd;
    if (!getsockname(fd, (struct sockaddr *)&bound, &length))
        name_address((struct sockaddr *)&bound, length, name, size);
    return EXTRACT_OK;
}

// ---- UNIX sockets ----

// Returns whether a file is a socket on which nobody listens.
static bool is_left(const struct sockaddr_un *address)
{
    struct stat status;

    if (lstat(address->sun_path, &status) || !S_ISSOCK(status.st_mode))
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool is_refused = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) &&
                      errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return is_refused;
}

static enum extract_code refuse_path(const char *path, int fault, struct extract_error *error)
{
    struct stat status;
    bool is_taken = fault == EADDRINUSE,
         is_socket = !lstat(path, &status) && S_ISSOCK(status.st_mode);

    if (is_taken && !is_socket)
        return extract_error_set(error, EXTRACT_IO, path, "use a path that does not exist",
                                 "exists and is not a socket");
    return extract_error_set(error, EXTRACT_IO, path,
                             is_taken ? "another program listens there: end it, or use another path"
                                      : "use a path in a directory of yours",
                             "%s", strerror(fault));
}

// Listens at a path. The file has its mode from the start: Linux takes that of the socket for it.
static enum extract_code listen_at(int *listener, const char *path, struct extract_error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (!*path || strlen(path) >= sizeof address.sun_path)
        return extract_error_set(
            error, EXTRACT_USAGE, *path ? path : "unix:", "use a path such as /tmp/gdb.sock",
            "the path of a UNIX socket has 1 to %zu bytes", sizeof address.sun_path - 1);
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || fchmod(fd, S_IRUSR | S_IWUSR) || (is_left(&address) && unlink(path)) ||
        bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, QUEUE)) {
        int fault = errno;
        if (fd >= 0)
            close(fd);
        return refuse_path(path, fault, error);
    }
    *listener = fd;
    return EXTRACT_OK;
}

void listener_close(int listener)
{
    struct sockaddr_un address;
    socklen_t length = sizeof address;
    bool has_path = !getsockname(listener, (struct sockaddr *)&address, &length) &&
                    address.sun_family == AF_UNIX;

    close(listener);
    if (has_path && is_left(&address)) // nobody else has taken its place
        unlink(address.sun_path);
}

enum extract_code listener_open(int *fd, const char *place, unsigned port, char *name, size_t size,
                                struct extract_error *error)
{
    static const char unix_prefix[] = "unix:";
    char host[MAX_HOST], service[MAX_PORT];
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list;

    *fd = -1;
    if (strncmp(place, unix_prefix, sizeof unix_prefix - 1) == 0) {
        place += sizeof unix_prefix - 1;
        snprintf(name, size, "%s", place);
        return listen_at(fd, place, error);
    }
    snprintf(name, size, "%s", place);
    if (!split(place, port, host, service))
        return extract_error_set(error, EXTRACT_USAGE, place, "use [ADDRESS:]PORT or unix:PATH",
                                 "not an address to listen on");
    int code = getaddrinfo(host, service, &wanted, &list);
    if (code)
        return extract_error_set(error, EXTRACT_IO, place, "use [ADDRESS:]PORT of this computer",
                                 "%s", gai_strerror(code));
    enum extract_code result = listen_on(fd, list, name, size, error);
    freeaddrinfo(list);
    return result;
}
