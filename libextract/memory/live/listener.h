// SPDX-License-Identifier: MIT
// memory/live: waits for clients on a TCP port.
#ifndef EXTRACT_LIVE_LISTENER_H
#define EXTRACT_LIVE_LISTENER_H

#include <extract/error.h>
#include <stddef.h>

// Listens at [ADDRESS:]PORT, or at ADDRESS with the port `port`; without an address, on the
// loopback interface. Stores the socket, which does not block, and its address as text. Errors: IO,
// USAGE (not such a place).
enum extract_code listener_open(int *fd, const char *place, unsigned port, char *name, size_t size,
                                struct extract_error *error);

// Accepts a client that waits, and stores its address as text. Returns its socket; -1: there is
// none. TCP probes the connection while it is silent, and so finds out when the client is gone.
int listener_accept(int listener, char *name, size_t size);

#endif
