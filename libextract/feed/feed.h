// SPDX-License-Identifier: MIT
// feed: bytes as they come, from sources that may go and come back.
//
// In: a pipe, a serial port, the clients of a TCP port, a file that grows. Out: bytes, or news of
// the source. No wait is longer than the caller allows, and a signal ends each.
#ifndef EXTRACT_FEED_FEED_H
#define EXTRACT_FEED_FEED_H

#include <extract/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum feed_news {
    FEED_BYTES,
    FEED_QUIET, // nothing came meanwhile
    FEED_CAME,  // the source is there (again), or is another one; `said` says it
    FEED_WENT,  // the source has gone and is waited for
    FEED_END,   // nothing will come any more
    FEED_FAULT  // `error` says why nothing will
};

enum { FEED_TEXT = 128, FEED_PORT = 6602 };

struct feed_serial; // what is known of a port

struct feed {
    enum feed_news (*next)(struct feed *feed, uint8_t *bytes, size_t size, size_t *got,
                           unsigned wait_ms);
    void (*close)(struct feed *feed);
    const char *path;           // where there is one
    char name[FEED_TEXT];       // what messages call it
    char said[2 * FEED_TEXT];   // of the last news
    struct extract_error error; // of FEED_FAULT
    int fd;                     // where bytes come from; -1: from nowhere now
    int listener;               // -1: none
    uint64_t heard;             // when the last readable frame came, or the source
    bool has_rest;              // bytes came after that, and no frame of them could be read
    uint64_t offset;            // of a file: bytes that were read
    uint64_t device, inode;     // of a file
    uint32_t baud;
    struct feed_serial *serial;
};

// Each opens a source. Paths and places must outlive it. Errors: IO (hint says what to do), NOMEM.
//
// A pipe, FIFO, socket or whatever ends; "-" is standard input.
enum extract_code feed_open_pipe(struct feed *feed, const char *path, struct extract_error *error);
// A file, from its start; what is added to it is waited for. One that is cut or replaced is read
// again.
enum extract_code feed_open_file(struct feed *feed, const char *path, struct extract_error *error);
// A serial port: 8 bits, no parity, 1 stop bit, no flow control. Its settings are those of before
// when it is closed. One that vanishes is waited for.
enum extract_code feed_open_serial(struct feed *feed, const char *path, uint32_t baud,
                                   struct extract_error *error);
// The clients of a TCP port, one after the other: others wait. A client that has sent no
// readable frame for three seconds (feed_note_frame) gives way to one that waits. `place` is
// "[ADDRESS:]PORT" or "ADDRESS"; without an address it is 127.0.0.1. Errors: USAGE (no such place).
enum extract_code feed_open_listener(struct feed *feed, const char *place,
                                     struct extract_error *error);

static inline enum feed_news feed_next(struct feed *feed, uint8_t *bytes, size_t size, size_t *got,
                                       unsigned wait_ms)
{
    *got = 0;
    return feed->next(feed, bytes, size, got, wait_ms);
}

// Notes that a frame was read from the bytes of the last feed_next.
void feed_note_frame(struct feed *feed);

void feed_close(struct feed *feed);

// feed.c, for the sources. Waits for bytes on `fd`, and on `other` (-1: none). False: none came.
bool feed_await(int fd, int other, unsigned wait_ms, bool *from_other);
enum feed_news feed_say(struct feed *feed, enum feed_news news, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Reads what is there from one that may come back; when it has gone, that is said with `gone`.
enum feed_news feed_take(struct feed *feed, uint8_t *bytes, size_t size, size_t *got,
                         const char *gone);
// Reads what is there. Returns the count, 0 at the end, -1 for nothing now, -2 for a fault (errno).
int feed_read(struct feed *feed, uint8_t *bytes, size_t size);

#endif
