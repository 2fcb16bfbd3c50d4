// SPDX-License-Identifier: MIT
// cli: the clients of `serve --listen` (lobby.c).
#ifndef RINGSIDE_CLI_LOBBY_H
#define RINGSIDE_CLI_LOBBY_H

#include "serve/caller.h"
#include <extract/error.h>
#include <poll.h>

enum { LOBBY_GUESTS = 8, LOBBY_HELD = 2 * SERVE_PACKET + 256, LOBBY_NAME = 128 };

enum guest_state { GUEST_NONE, GUEST_WAITS, GUEST_IS_SERVED, GUEST_IS_REFUSED };

struct guest {
    enum guest_state state;
    int fd;
    uint64_t since; // extract_now() of its connection, or of the moment it was refused
    char name[LOBBY_NAME];
    struct caller caller;
    size_t used; // of `held`: all that it has sent before it is served
    char held[LOBBY_HELD];
};

struct lobby {
    int listener;
    bool is_quiet;
    char name[LOBBY_NAME]; // address or path
    struct guest guests[LOBBY_GUESTS];
};

// Listens at a place of --listen. Errors: as listener_open.
enum extract_code lobby_open(struct lobby *lobby, const char *place, bool is_quiet,
                             struct extract_error *error);
void lobby_close(struct lobby *lobby);

// Stores what to poll for, at most 1 + LOBBY_GUESTS entries. Returns their number.
size_t lobby_poll(const struct lobby *lobby, struct pollfd *list);
// Accepts clients and reads what they have sent, without waiting. While one is served, other
// clients of GDB get the reason, and are disconnected.
void lobby_tend(struct lobby *lobby);
// Returns a client of GDB, to be served and then dismissed; NULL: there is none.
struct guest *lobby_next(struct lobby *lobby);
void lobby_dismiss(struct guest *guest);

#endif
