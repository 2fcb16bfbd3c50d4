// SPDX-License-Identifier: MIT
// memory/live: packets of the GDB remote serial protocol. In: data. Out: data, its checksum proved.
// Source: Debugging with GDB, appendix "GDB Remote Serial Protocol", "Overview".
#ifndef EXTRACT_LIVE_PACKET_H
#define EXTRACT_LIVE_PACKET_H

#include "memory/live/connection.h"

enum {
    MAX_PACKET = 65536,              // data of a packet that we announce or believe
    PACKET_ROOM = MAX_PACKET + 8192, // what a server may send that counts otherwise
    PACKET_SENT = 4096               // data of a packet that we send
};

struct packets {
    struct connection *connection;
    bool acks;   // each side confirms each packet
    size_t used; // of body: the last packet's data, with escapes and runs undone
    size_t sent_length;
    uint8_t body[PACKET_ROOM];
    uint8_t sent[PACKET_SENT * 2 + 4]; // as it went out: the server may ask for it again
};

// Sends `length` bytes (at most PACKET_SENT) as a packet.
bool packet_send(struct packets *packets, const void *data, size_t length);

// Takes the next packet. Notifications are passed over.
bool packet_receive(struct packets *packets);

// Whether a packet has begun to arrive; does not wait. What stands before it is passed over.
bool packet_waits(struct packets *packets);

#endif
