// SPDX-License-Identifier: MIT
// memory/live: waits for clients on a TCP port or a UNIX socket.
#ifndef EXTRACT_LIVE_LIVE_LISTENER_H
#define EXTRACT_LIVE_LIVE_LISTENER_H

#include <extract/error.h>
#include <stddef.h>

// Listens at [ADDRESS:]PORT, or at ADDRESS with the port `port`; without an address, on the
// loopback interface; or on the UNIX socket of unix:PATH, which only the user may connect to. An
// existing file at PATH is an error, unless it is a socket on which nobody listens. Stores the
// socket, which does not block, and its address or path as text. Errors: IO, USAGE (not such a
// place).
enum extract_code listener_open(int *fd, const char *place, unsigned port, char *name, size_t size,
                                struct extract_error *error);

// Closes the socket, and removes the file of a UNIX socket.
void listener_close(int listener);

// Accepts a client that waits, and stores its address or process as text. Returns its socket; -1:
// there is none. TCP probes the connection while it is silent, and so finds out when the client is
// gone.
int listener_accept(int listener, char *name, size_t size);

#endif
