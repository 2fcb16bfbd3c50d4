// SPDX-License-Identifier: MIT
// serve: the connection of a proxy to the server.
#ifndef EXTRACT_SERVE_UPSTREAM_H
#define EXTRACT_SERVE_UPSTREAM_H

#include "memory/live/live_packet.h"
#include <extract/memory.h>
#include <extract/text.h>

// The cache of memory. Memories begin and end at multiples of a line.
enum { UPSTREAM_LINES = 64, UPSTREAM_LINE = 256 };

// Whether zeros that the server gives may stand for memory that it cannot read, as OpenOCD's may.
enum upstream_zeros { ZEROS_UNASKED, ZEROS_DOUBTED, ZEROS_TRUSTED };

typedef int upstream_dial(struct connection *connection);

struct upstream {
    struct connection connection;
    struct packets packets;
    size_t packet_size; // bytes that the server accepts
    enum upstream_zeros zeros;
    struct upstream_line {
        uint64_t address;
        bool is_valid;
        bool is_wanted; // it was read at the stop before, so that it will be read again
        bool is_zero;   // as the server has confirmed
        uint8_t bytes[UPSTREAM_LINE];
    } lines[UPSTREAM_LINES];
};

// Connects to a server by `dial`, which gets `context` in the connection. Returns false after a
// fault (upstream->connection.error).
bool upstream_open(struct upstream *upstream, const char *place, upstream_dial *dial, void *context,
                   unsigned timeout_ms, const volatile sig_atomic_t *cancel);
void upstream_close(struct upstream *upstream);

// Sends a request and reads its answer, which is the body of upstream->packets. Stop replies that
// nobody has asked for are passed over. Returns false after a fault.
bool upstream_ask(struct upstream *upstream, const void *request, size_t length);
bool upstream_ask_text(struct upstream *upstream, const char *request);
// Sends a request without waiting.
bool upstream_tell(struct upstream *upstream, const void *request, size_t length);
// Reads the next packet.
bool upstream_next(struct upstream *upstream);
// Reads up to the next stop reply. All packets before it have the time of one answer.
bool upstream_await_stop(struct upstream *upstream);
// Begins an operation: all its answers together may take the time of `timeouts` answers.
void upstream_begin(struct upstream *upstream, unsigned timeouts);

// Returns whether the body is exactly a text; whether it reports that the target has stopped.
bool upstream_is(const struct upstream *upstream, const char *text);
bool upstream_is_stop(const struct upstream *upstream);

// Reads the memory of the target, which is halted. The read function of a memory. Lines of memory
// are kept until upstream_forget. The first one that is read after it brings with it those that
// were kept until then: all requests are sent at once, and so need the time of one.
size_t upstream_read(void *upstream, uint64_t address, void *buffer, size_t length);
void upstream_forget(struct upstream *upstream);

// Reads a document by qXfer. Returns false after a fault, or if the server does not have it.
bool upstream_read_document(struct upstream *upstream, const char *object, const char *annex,
                            struct extract_text *document);

#endif
