// SPDX-License-Identifier: MIT
// probe/qemu: a stream socket to QEMU. In: bytes, at any pace. Out: lines or single bytes, each
// within a time. What does not come, or comes without end, makes the channel dead.
#ifndef PROBE_CHANNEL_H
#define PROBE_CHANNEL_H

#include <extract/error.h>
#include <stdbool.h>
#include <stddef.h>

struct channel {
    int fd;       // -1: none
    char *buffer; // owned
    size_t size, at, used;
    bool dead;
};

// Takes over a connected socket.
void channel_open(struct channel *channel, int fd);
void channel_close(struct channel *channel);

bool channel_send(struct channel *channel, const char *data, size_t length);

// The next line without its end, NUL-ended, valid until the next call. NULL: the channel is dead,
// or, with `wait` false, there is no whole line yet.
char *channel_line(struct channel *channel, bool wait);

// The next byte, or -1 as above.
int channel_byte(struct channel *channel, bool wait);

#endif
