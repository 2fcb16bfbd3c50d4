// SPDX-License-Identifier: MIT
// memory/live: waits for clients on a TCP port (listener.h).
// Standard: IEEE Std 1003.1-2017 (listen, accept).
#include "memory/live/listener.h"
#include "memory/live/connection.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { QUEUE = 4, IDLE_SECONDS = 10, PROBES = 3 };

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

int listener_accept(int listener, char *name, size_t size)
{
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    int one = 1;
    int fd = accept(listener, (struct sockaddr *)&from, &length);

    if (fd < 0)
        return -1;
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

enum extract_code listener_open(int *fd, const char *place, unsigned port, char *name, size_t size,
                                struct extract_error *error)
{
    char host[MAX_HOST], service[MAX_PORT];
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list;

    *fd = -1;
    snprintf(name, size, "%s", place);
    if (!split(place, port, host, service))
        return extract_error_set(error, EXTRACT_USAGE, place, "use [ADDRESS:]PORT",
                                 "not an address to listen on");
    int code = getaddrinfo(host, service, &wanted, &list);
    if (code)
        return extract_error_set(error, EXTRACT_IO, place, "use [ADDRESS:]PORT of this computer",
                                 "%s", gai_strerror(code));
    enum extract_code result = listen_on(fd, list, name, size, error);
    freeaddrinfo(list);
    return result;
}
