// SPDX-License-Identifier: MIT
// serve: packets of a GDB client, without a connection: bytes go in one at a time.
//
//                 '$'              '#'             digit           digit
//     BETWEEN ─────────> DATA ───────────> CHECKSUM ──────> LAST ─────────> BETWEEN
//        ^ │              ^ │
//        └─┘ + - ^C       └─┘ bytes; '$' begins again
#ifndef EXTRACT_SERVE_SERVE_PACKET_H
#define EXTRACT_SERVE_SERVE_PACKET_H

#include "memory/live/live_packet.h"
#include "registers/registers_room.h"
#include <extract/text.h>
#include <stdbool.h>
#include <stdint.h>

// Largest packet in bytes of data. What a client sends is passed on to a server, so that one limit
// holds for both.
enum { SERVE_PACKET = PACKET_SENT };

enum serve_state { SERVE_BETWEEN, SERVE_DATA, SERVE_CHECKSUM, SERVE_LAST };

// What a byte has completed.
enum serve_news {
    SERVE_NOTHING,
    SERVE_GOOD,      // a packet; its data are in `data`
    SERVE_DAMAGED,   // a packet with a wrong checksum
    SERVE_LONG,      // a packet that is longer than SERVE_PACKET
    SERVE_REPEAT,    // the client asks for the last packet again
    SERVE_INTERRUPT, // the client wants the target to stop
};

struct serve_input {
    enum serve_state state;
    bool is_escape, is_long;
    uint8_t sum, expected;
    size_t used;
    char data[SERVE_PACKET + 1]; // escapes are resolved; a NUL follows
};

enum serve_news serve_take_byte(struct serve_input *input, uint8_t byte);

// Appends a packet: frame, escapes and checksum.
void serve_put_packet(struct extract_text *output, const char *data, size_t length);

// Appends the answer to a packet that is longer than `most` bytes.
void serve_put_long_error(struct extract_text *answer, size_t most);

// Appends bytes as pairs of hexadecimal digits.
void serve_put_hex(struct extract_text *text, const uint8_t *bytes, size_t length);
// Does the same with a register, in the target's byte order; one that is not known is "xx".
void serve_put_register(struct extract_text *text, const struct extract_registers *registers,
                        unsigned index, unsigned bytes, enum extract_byte_order order);

#endif
