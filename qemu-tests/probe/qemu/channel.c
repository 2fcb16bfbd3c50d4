// SPDX-License-Identifier: MIT
// probe/qemu: a stream socket to QEMU. In: bytes. Out: lines, bytes, or a dead channel.
#include "probe/qemu/channel.h"
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    PATIENCE = 20000, // ms that QEMU may take for an answer
    FIRST_SIZE = 65536,
    LINE_LIMIT = 4 << 20
};

void channel_open(struct channel *channel, int fd)
{
    *channel = (struct channel){.fd = fd};
}

void channel_close(struct channel *channel)
{
    if (channel->fd >= 0)
        close(channel->fd);
    free(channel->buffer);
    *channel = (struct channel){.fd = -1, .dead = true};
}

bool channel_send(struct channel *channel, const char *data, size_t length)
{
    while (length && !channel->dead) {
        ssize_t sent = send(channel->fd, data, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        channel->dead = sent <= 0;
        data += sent > 0 ? sent : 0;
        length -= sent > 0 ? (size_t)sent : 0;
    }
    return !channel->dead;
}

// Moves what is left to the front, which makes space after it.
static bool make_room(struct channel *channel)
{
    size_t left = channel->used - channel->at;
    if (left)
        memmove(channel->buffer, channel->buffer + channel->at, left);
    channel->at = 0;
    channel->used = left;
    if (left < channel->size)
        return true;
    size_t size = channel->size ? channel->size * 2 : FIRST_SIZE;
    char *buffer = size <= LINE_LIMIT ? realloc(channel->buffer, size) : NULL;
    if (!buffer)
        return false;
    channel->buffer = buffer;
    channel->size = size;
    return true;
}

// Reads more bytes. Returns false if there are none, or if none will come (the channel is then
// closed).
static bool fill(struct channel *channel, bool wait)
{
    struct pollfd slot = {channel->fd, POLLIN, 0};
    if (channel->dead || !make_room(channel)) {
        channel->dead = true;
        return false;
    }
    char *room = channel->buffer + channel->used;
    for (;;) {
        ssize_t got = recv(channel->fd, room, channel->size - channel->used, MSG_DONTWAIT);
        if (got > 0) {
            channel->used += (size_t)got;
            return true;
        }
        if (got == 0 || (errno != EAGAIN && errno != EINTR))
            break;
        if (!wait)
            return false;
        if (poll(&slot, 1, PATIENCE) == 0)
            break;
    }
    channel->dead = true;
    return false;
}

char *channel_line(struct channel *channel, bool wait)
{
    for (;;) {
        size_t left = channel->used - channel->at;
        char *line = left ? channel->buffer + channel->at : NULL;
        char *end = line ? memchr(line, '\n', left) : NULL;
        if (end) {
            *end = '\0';
            channel->at += (size_t)(end - line) + 1;
            return line;
        }
        if (!fill(channel, wait))
            return NULL;
    }
}

int channel_byte(struct channel *channel, bool wait)
{
    if (channel->at == channel->used && !fill(channel, wait))
        return -1;
    return (unsigned char)channel->buffer[channel->at++];
}
