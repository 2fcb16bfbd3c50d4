// SPDX-License-Identifier: MIT
// probe: UNIX sockets. In: paths. Out: descriptors, close-on-exec.
#ifndef PROBE_SOCKETS_H
#define PROBE_SOCKETS_H

#include <extract/error.h>
#include <sys/socket.h>
#include <sys/un.h>

// The address of `path`. Errors: USAGE (too long, or empty).
enum extract_code socket_address(const char *path, struct sockaddr_un *address, socklen_t *length,
                                 struct extract_error *error);

// Listens at `path`; replaces a socket without a listener. Errors: USAGE
// (too long, in use, no socket), IO.
enum extract_code socket_listen(const char *path, int *fd, struct extract_error *error);

// Connects to `path`. Errors: USAGE (too long), IO.
enum extract_code socket_connect(const char *path, int *fd, struct extract_error *error);

#endif
