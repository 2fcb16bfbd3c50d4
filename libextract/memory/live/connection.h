// SPDX-License-Identifier: MIT
// memory/live: the connection to a server. In: a place, bytes to send. Out: the server's bytes, one
// at a time, or a fault with its reason. Standard: IEEE Std 1003.1-2017 (connect, poll, recv,
// send).
//
// No wait is longer than the peer's time-out, and none goes on behind `limit` or after `cancel`.
#ifndef EXTRACT_LIVE_PEER_H
#define EXTRACT_LIVE_PEER_H

#include <extract/error.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum connection_fault {
    PEER_FINE,
    PEER_BROKEN,   // the connection, or what came over it: a new one may do better
    PEER_LATE,     // a time-out: trying again would only double the wait
    PEER_CANCELLED // by the caller
};

struct connection {
    const char *place;
    const char *hint; // for a connection that cannot be made
    // Makes the connection: a socket, or -1 after connection_fail. connection_open, but in tests.
    int (*dial)(struct connection *connection);
    void *context;                       // of dial
    const volatile sig_atomic_t *cancel; // may be NULL
    uint64_t timeout;                    // ns
    uint64_t limit;                      // CLOCK_MONOTONIC ns: the end of the whole undertaking
    uint64_t deadline;                   // the end of this exchange
    int fd;                              // -1: not connected
    enum connection_fault fault;
    struct extract_error error; // of the last fault
    size_t at, used;
    uint8_t buffer[4096];
};

int connection_open(struct connection *connection);

// Takes PORT, HOST:PORT or [HOST]:PORT apart; `any`: port 0, too. False: it is none.
enum { PEER_HOST = 256, PEER_PORT = 8 };
bool connection_split(const char *place, bool any, char host[static PEER_HOST],
                      char port[static PEER_PORT]);

// Whether `place` can be dialled: USAGE when it is no place at all.
enum extract_code connection_check(const char *place, struct extract_error *error);

bool connection_is_open(struct connection *connection);
void connection_close(struct connection *connection);

// Begins an exchange: it may take the peer's time-out, and no longer than to `limit`.
void connection_begin(struct connection *connection);
bool connection_send(struct connection *connection, const void *bytes, size_t length);

// The next byte; -1: a fault.
int connection_byte(struct connection *connection);

// Whether a byte is there without a wait.
bool connection_has_byte(struct connection *connection);

// Waits until CLOCK_MONOTONIC is `until`. False: cancelled, or past `limit`.
bool connection_wait_until(struct connection *connection, uint64_t until);

// Notes a fault. Returns false.
bool connection_fail(struct connection *connection, enum connection_fault fault,
                     enum extract_code code, const char *hint, const char *why, ...)
    __attribute__((format(printf, 5, 6)));

#endif
