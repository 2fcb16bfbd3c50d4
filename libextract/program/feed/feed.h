// SPDX-License-Identifier: MIT
// feed: bytes of a stream as they arrive, from a pipe, a serial port, the clients of a TCP port or
// a file that grows.
//
// A source may disappear and return: an adapter is unplugged, a client disconnects, a file is
// replaced. feed_next() returns either bytes or news of the source. No wait is longer than the
// caller allows, and a signal ends every wait.
//
//               bytes: FEED_BYTES; none: FEED_QUIET
//                   ┌────┐
//                   ▼    │     lost: FEED_LOST
//   open ────────► CONNECTED ──────────────────► WAITING     serial port, TCP port
//                   ▲  │ │                          │
//                   │  │ └─ replaced: FEED_OPEN     │        file, TCP port
//                   └──┼──── returned: FEED_OPEN ───┘
//                      ├──── end: FEED_END                   pipe
//                      └──── read error: FEED_FAULT          pipe, file
#ifndef EXTRACT_FEED_FEED_H
#define EXTRACT_FEED_FEED_H

#include "feed/web.h"
#include <extract/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum feed_news {
    FEED_BYTES,
    FEED_QUIET, // no bytes came within the time
    FEED_OPEN,  // the source is open: connected, reconnected or replaced; `message` says which
    FEED_LOST,  // the source is lost and its return is awaited; `message` says how
    FEED_END,   // no more bytes will come
    FEED_FAULT  // no more bytes will come; `error` is the reason
};

enum { FEED_TEXT = 128, FEED_PORT = 6602 };

struct feed_serial; // settings of a serial port

struct feed {
    enum feed_news (*next)(struct feed *feed, uint8_t *bytes, size_t size, size_t *got,
                           unsigned wait_ms);
    void (*close)(struct feed *feed);
    const char *path;            // path or address that the user gave
    char name[FEED_TEXT];        // name in messages
    char message[2 * FEED_TEXT]; // message of the last news
    struct extract_error error;  // reason of FEED_FAULT
    int fd;                      // descriptor that is read; -1 if no source is connected
    int listener;                // listening socket; -1 if there is none
    uint64_t heard;              // extract_now() of the last readable frame or connection
    bool has_rest;               // bytes came after `heard`, but no readable frame
    enum web_verdict web;        // on a TCP client
    size_t held, given;          // the first bytes of it: how many there are, and were passed on
    uint8_t first[WEB_LINE];
    uint64_t offset;        // bytes of a file that were read
    uint64_t device, inode; // identity of a file
    uint32_t baud;
    struct feed_serial *serial;
};

// The functions feed_open_… open a source. Paths and addresses must outlive it. Errors: IO, NOMEM.
//
// Opens a pipe, a FIFO, a socket or anything else that has an end; "-" is standard input.
enum extract_code feed_open_pipe(struct feed *feed, const char *path, struct extract_error *error);
// Opens a file, which is read from its start; bytes that are appended later follow. A file that is
// truncated or replaced is read from its start again.
enum extract_code feed_open_file(struct feed *feed, const char *path, struct extract_error *error);
// Opens a serial port: 8 bits, no parity, 1 stop bit, no flow control, `baud` bits per second.
// Closing it restores its settings. If it disappears, its return is awaited.
enum extract_code feed_open_serial(struct feed *feed, const char *path, uint32_t baud,
                                   struct extract_error *error);
// Listens on a TCP port or a UNIX socket and reads one client after another, while others wait. A
// client that has sent no readable frame for three seconds (feed_note_frame) is replaced by one
// that waits. A request of a browser ends its connection, and nothing of it is passed on. `place`
// is
// "[ADDRESS:]PORT", "ADDRESS" or "unix:PATH"; the default address is 127.0.0.1. Errors: also USAGE
// (not an address).
enum extract_code feed_open_listener(struct feed *feed, const char *place,
                                     struct extract_error *error);

// Waits for bytes or news of the source, for at most `wait_ms`. FEED_BYTES: *got bytes were stored.
static inline enum feed_news feed_next(struct feed *feed, uint8_t *bytes, size_t size, size_t *got,
                                       unsigned wait_ms)
{
    *got = 0;
    return feed->next(feed, bytes, size, got, wait_ms);
}

// Notes that a frame was read from the bytes of the last feed_next.
void feed_note_frame(struct feed *feed);

void feed_close(struct feed *feed);

// The functions below are for the sources (feed.c).
//
// Waits for input on `fd`, and on `other` unless that is -1. Returns whether `fd` has input, and
// sets *from_other to whether `other` has.
bool feed_await(int fd, int other, unsigned wait_ms, bool *from_other);
// Formats the message of news, and returns the news.
enum feed_news feed_note_news(struct feed *feed, enum feed_news news, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Reads available bytes from a source that may return. If it is lost, closes it and returns
// FEED_LOST with the message `gone`.
enum feed_news feed_take(struct feed *feed, uint8_t *bytes, size_t size, size_t *got,
                         const char *gone);
// Reads available bytes. Returns their number, 0 at the end, -1 if there are none now, or -2 after
// an error (errno).
int feed_read(struct feed *feed, uint8_t *bytes, size_t size);

#endif
