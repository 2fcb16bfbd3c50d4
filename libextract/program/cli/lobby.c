// SPDX-License-Identifier: MIT
// cli: the clients of `serve --listen`. A client is served once it has sent a packet of GDB's
// protocol; until then, the target is not touched. One client is served at a time.
//
//                 a valid packet, and nobody is served
//     WAITING ──────────────────────────────────────────> served, until it goes
//        │ │
//        │ └─ a valid packet, while another is served ──> REFUSED ──> disconnected
//        └─ silent for 3 s while others are there, or not a client of GDB ──> disconnected
#include "cli/lobby.h"
#include "base/now.h"
#include "cli/cli.h"
#include "memory/live/connection.h"
#include "memory/live/live_listener.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORT = 3333, SILENT_SECONDS = 3, PARTING_SECONDS = 1 };

static void note(const struct lobby *lobby, const struct guest *guest, const char *what)
{
    if (!lobby->is_quiet)
        cli_print_note(guest->name, "%s", what);
}

void lobby_dismiss(struct guest *guest)
{
    close(guest->fd);
    guest->state = GUEST_NONE;
}

enum extract_code lobby_open(struct lobby *lobby, const char *place, bool is_quiet,
                             struct extract_error *error)
{
    lobby->is_quiet = is_quiet;
    return listener_open(&lobby->listener, *place ? place : "127.0.0.1", PORT, lobby->name,
                         sizeof lobby->name, error);
}

void lobby_close(struct lobby *lobby)
{
    for (size_t i = 0; i < LOBBY_GUESTS; i++)
        if (lobby->guests[i].state != GUEST_NONE)
            lobby_dismiss(&lobby->guests[i]);
    listener_close(lobby->listener);
}

static struct guest *free_chair(struct lobby *lobby)
{
    for (size_t i = 0; i < LOBBY_GUESTS; i++)
        if (lobby->guests[i].state == GUEST_NONE)
            return &lobby->guests[i];
    return NULL;
}

size_t lobby_poll(const struct lobby *lobby, struct pollfd *list)
{
    size_t count = 0, chairs = 0;

    for (size_t i = 0; i < LOBBY_GUESTS; i++) {
        const struct guest *guest = &lobby->guests[i];
        chairs += guest->state == GUEST_NONE;
        if (guest->state == GUEST_WAITS || guest->state == GUEST_IS_REFUSED)
            list[count++] = (struct pollfd){.fd = guest->fd, .events = POLLIN};
    }
    if (chairs)
        list[count++] = (struct pollfd){.fd = lobby->listener, .events = POLLIN};
    return count;
}

static void accept_guests(struct lobby *lobby)
{
    struct guest *guest;

    while ((guest = free_chair(lobby)) != NULL) {
        int fd = listener_accept(lobby->listener, guest->name, sizeof guest->name);
        if (fd < 0)
            return;
        memset(&guest->caller, 0, sizeof guest->caller);
        guest->used = 0;
        guest->since = extract_now();
        guest->fd = fd;
        guest->state = GUEST_WAITS;
    }
}

// Tells a client of GDB who is served. It is disconnected when it has read that.
static void refuse(const struct lobby *lobby, struct guest *guest, const char *user)
{
    struct extract_text answer;
    char text[2 * LOBBY_NAME];

    snprintf(text, sizeof text, "E.in use by %s: end that session first", user);
    extract_text_init(&answer, NULL, NULL);
    extract_text_putc(&answer, '+');
    serve_put_packet(&answer, text, strlen(text));
    // If this fails, the client has gone.
    ssize_t sent = send(guest->fd, answer.data, answer.used, MSG_DONTWAIT | MSG_NOSIGNAL);
    extract_text_free(&answer);
    shutdown(guest->fd, SHUT_WR);
    guest->state = GUEST_IS_REFUSED;
    guest->since = extract_now();
    note(lobby, guest, sent < 0 ? "has gone" : "refused: another GDB is connected");
}

// Takes what a client has sent. Returns false if it is to be disconnected.
static bool hear(const struct lobby *lobby, struct guest *guest)
{
    char ignored[4096];
    bool is_refused = guest->state == GUEST_IS_REFUSED;
    char *to = is_refused ? ignored : guest->held + guest->used;
    size_t room = is_refused ? sizeof ignored : sizeof guest->held - guest->used;
    ssize_t got = recv(guest->fd, to, room, MSG_DONTWAIT);

    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    if (!got) // also if it has sent more than any packet
        return false;
    if (is_refused)
        return true;
    guest->used += (size_t)got;
    if (caller_take(&guest->caller, to, (size_t)got) != CALLER_FOREIGN)
        return true;
    note(lobby, guest, "not a client of GDB, disconnected");
    return false;
}

static bool has_spoken(const struct guest *guest)
{
    return guest->caller.kind == CALLER_READS || guest->caller.kind == CALLER_GDB;
}

// Returns whether a client has had its time.
static bool is_late(const struct guest *guest, bool has_others)
{
    uint64_t age = extract_now() - guest->since;

    return guest->state == GUEST_IS_REFUSED ? age > PARTING_SECONDS * EXTRACT_SECOND
           : has_spoken(guest)              ? false
                                            : has_others && age > SILENT_SECONDS * EXTRACT_SECOND;
}

// Returns the client that is served; NULL: none is, or it has gone, which its session will notice.
static const struct guest *find_user(const struct lobby *lobby)
{
    for (size_t i = 0; i < LOBBY_GUESTS; i++) {
        const struct guest *guest = &lobby->guests[i];
        if (guest->state == GUEST_IS_SERVED && !connection_has_gone(guest->fd))
            return guest;
    }
    return NULL;
}

void lobby_tend(struct lobby *lobby)
{
    const struct guest *user;
    size_t count = 0;

    accept_guests(lobby);
    for (size_t i = 0; i < LOBBY_GUESTS; i++)
        count += lobby->guests[i].state != GUEST_NONE;
    for (size_t i = 0; i < LOBBY_GUESTS; i++) {
        struct guest *guest = &lobby->guests[i];
        if (guest->state != GUEST_WAITS && guest->state != GUEST_IS_REFUSED)
            continue;
        bool is_there = hear(lobby, guest);
        if (is_there && guest->state == GUEST_WAITS && has_spoken(guest) &&
            (user = find_user(lobby)) != NULL)
            refuse(lobby, guest, user->name);
        if (!is_there || is_late(guest, count > 1))
            lobby_dismiss(guest);
    }
}

struct guest *lobby_next(struct lobby *lobby)
{
    for (size_t i = 0; i < LOBBY_GUESTS; i++)
        if (lobby->guests[i].state == GUEST_WAITS && has_spoken(&lobby->guests[i])) {
            lobby->guests[i].state = GUEST_IS_SERVED;
            return &lobby->guests[i];
        }
    return NULL;
}
