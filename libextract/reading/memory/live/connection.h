// SPDX-License-Identifier: MIT
// memory/live: the connection to OpenOCD or a GDB server.
//
// The caller sends bytes and reads the server's bytes one at a time. A failure becomes a fault with
// an error, which the connection keeps; the functions then return false or -1.
//
// The server is never trusted to answer. An exchange takes at most `timeout`, and no wait continues
// after `limit`, after `cancel` was set, or after the other end of `client` has gone. Standard:
// IEEE Std 1003.1-2017 (connect, poll, recv, send).
#ifndef EXTRACT_LIVE_CONNECTION_H
#define EXTRACT_LIVE_CONNECTION_H

#include <extract/error.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum connection_fault {
    CONNECTION_GOOD,
    CONNECTION_BROKEN,   // the connection or its data failed: a new connection may succeed
    CONNECTION_LATE,     // a time-out, or a failure that another try would only repeat
    CONNECTION_CANCELLED // the caller set `cancel`, or the client has gone
};

struct connection {
    const char *place; // PORT, HOST:PORT or the path of a UNIX socket; not owned
    const char *hint;  // the hint of the error if connecting fails
    // Connects. Returns a socket, or -1 after connection_fail. This is connection_open except in
    // tests.
    int (*dial)(struct connection *connection);
    void *context;                       // for dial
    const volatile sig_atomic_t *cancel; // may be NULL
    const int *client;                   // a file whose end cancels, too; NULL: none
    // Is called about ten times a second while an answer is awaited; NULL: nothing is.
    void (*meanwhile)(void *context);
    void *meanwhile_context;
    uint64_t timeout;  // longest time of one exchange, in ns
    uint64_t limit;    // end of the whole operation, in CLOCK_MONOTONIC ns
    uint64_t deadline; // end of this exchange, in CLOCK_MONOTONIC ns
    int fd;            // the socket; -1: not connected
    enum connection_fault fault;
    struct extract_error error; // error of the last fault
    size_t at, used;            // [at, used) of buffer was received and not yet read
    uint8_t buffer[4096];
};

// Connects to `place`. Returns a socket, or -1 after connection_fail.
int connection_open(struct connection *connection);

// Splits PORT, HOST:PORT or [HOST]:PORT. Without a host, returns "localhost" as `host`. Port 0 is
// valid only with `any`. Returns false if `place` has another form.
enum { MAX_HOST = 256, MAX_PORT = 8 };
bool connection_split(const char *place, bool any, char host[static MAX_HOST],
                      char port[static MAX_PORT]);

// Checks the form of `place`, without connecting. Returns OK or USAGE.
enum extract_code connection_check(const char *place, struct extract_error *error);

// Connects with `dial`. Returns false after a fault.
bool connection_connect(struct connection *connection);

// Closes the socket, if it is open, and discards the received bytes.
void connection_close(struct connection *connection);

// Begins an exchange, which may take `timeout` and must end before `limit`.
void connection_begin(struct connection *connection);

// Sends all bytes. Returns false after a fault.
bool connection_send(struct connection *connection, const void *bytes, size_t length);

// Returns the next byte, or -1 after a fault. Waits for it.
int connection_byte(struct connection *connection);

// Returns whether the other end of a pipe or socket has gone.
bool connection_has_gone(int fd);

// Returns whether connection_byte would return at once: a byte has arrived, or the connection has
// ended.
bool connection_has_byte(struct connection *connection);

// Waits until CLOCK_MONOTONIC is `until` (ns). Returns false if `limit` or `cancel` ends the wait.
bool connection_wait_until(struct connection *connection, uint64_t until);

// Records a fault and its error. Returns false.
bool connection_fail(struct connection *connection, enum connection_fault fault,
                     enum extract_code code, const char *hint, const char *why, ...)
    __attribute__((format(printf, 5, 6)));

#endif
