// SPDX-License-Identifier: MIT
// memory/live: packets of the GDB remote serial protocol.
//
// A packet is "$data#checksum". The caller sends and receives data only. This layer adds and checks
// the frame, escapes bytes, expands runs, and requests damaged packets again.
// Source: Debugging with GDB, appendix "GDB Remote Serial Protocol", "Overview".
#ifndef EXTRACT_LIVE_LIVE_PACKET_H
#define EXTRACT_LIVE_LIVE_PACKET_H

#include "memory/live/connection.h"

enum {
    MAX_PACKET = 65536, // largest packet size that is believed, in bytes of data
    PACKET_CAPACITY =
        MAX_PACKET + 8192, // largest packet that is accepted: servers count differently
    PACKET_SENT = 16384    // largest packet that is sent, in bytes of data
};

struct packets {
    struct connection *connection;
    bool acks;   // each side acknowledges each packet
    size_t used; // bytes of body, which is the data of the last packet received
    size_t sent_length;
    uint8_t body[PACKET_CAPACITY];
    uint8_t sent[PACKET_SENT * 2 + 4]; // the last packet sent, with its frame, to be repeated
};

// Writes `length` bytes of data with their frame, for which there must be 2 * length + 4 bytes.
// Returns the length of both.
size_t packet_frame(uint8_t *frame, const void *data, size_t length);
// Sends `length` bytes as a packet. Returns false after a fault, which more than PACKET_SENT bytes
// are, too.
bool packet_send(struct packets *packets, const void *data, size_t length);

// Waits for the next packet and stores its data in `body`. Skips notifications. Returns false after
// a fault.
bool packet_receive(struct packets *packets);

// Returns the process of the stop reply "T05thread:p1.2;…", or 0 if it names none. QEMU numbers
// processes if its last client wanted that, and then detaches from a process only by its number.
uint64_t packet_process(const struct packets *packets);

// Returns whether the start of a packet has arrived, without waiting. Discards the bytes before it.
bool packet_waits(struct packets *packets);

#endif
