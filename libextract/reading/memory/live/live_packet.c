// SPDX-License-Identifier: MIT
// memory/live: sends and receives packets of the GDB remote serial protocol (live_packet.h).
//
//   $data#checksum   a packet; the checksum is two hexadecimal digits
//   %data#checksum   a notification, which is never acknowledged and is skipped here
//   }c               an escape: the byte c ^ 0x20
//   c*n              a run: c, and n - 29 more of it
//   + -              the acknowledgement of a packet, and the request to repeat it
//
// A "$" inside a packet means that the rest of that packet was lost. A server that sends too much
// of anything is given up: garbage, repetitions and the length of a packet are all bounded.
#include "base/hex.h"
#include "memory/live/live_memory.h"
#include "memory/live/live_packet.h"
#include <string.h>

enum {
    ESCAPE = '}',
    ESCAPE_BIT = 0x20,
    RUN = '*',
    RUN_BIAS = 29,          // a run adds as many bytes as its character's code, less this
    REPEATS = 3,            // how often one damaged packet is repeated
    MAX_GARBAGE = 64 * 1024 // most bytes between two packets
};

enum body { BODY_GOOD, BODY_DAMAGED, BODY_FAULT };

static const char hint_port[] = "check that this is the port of a GDB server";

size_t packet_frame(uint8_t *frame, const void *data, size_t length)
{
    const uint8_t *from = data;
    uint8_t sum = 0, *to = frame;

    *to++ = '$';
    for (size_t i = 0; i < length; i++) {
        uint8_t byte = from[i];
        if (byte == '$' || byte == '#' || byte == ESCAPE || byte == RUN) {
            *to++ = ESCAPE;
            sum = (uint8_t)(sum + ESCAPE);
            byte ^= ESCAPE_BIT;
        }
        *to++ = byte;
        sum = (uint8_t)(sum + byte);
    }
    *to++ = '#';
    *to++ = (uint8_t)EXTRACT_HEX_DIGITS[sum >> 4];
    *to++ = (uint8_t)EXTRACT_HEX_DIGITS[sum & 15];
    return (size_t)(to - frame);
}

bool packet_send(struct packets *packets, const void *data, size_t length)
{
    if (length > PACKET_SENT)
        return connection_fail(packets->connection, CONNECTION_LATE, EXTRACT_BAD, NULL,
                               "a request of %zu bytes is longer than %d", length, PACKET_SENT);
    packets->sent_length = packet_frame(packets->sent, data, length);
    return connection_send(packets->connection, packets->sent, packets->sent_length);
}

// Adds a byte to the body `count` times. Returns false if the body is full.
static bool append_byte(struct packets *packets, uint8_t byte, unsigned count)
{
    if (count > PACKET_CAPACITY - packets->used)
        return connection_fail(packets->connection, CONNECTION_BROKEN, EXTRACT_BAD, hint_port,
                               "a packet is longer than %d bytes", PACKET_CAPACITY);
    memset(packets->body + packets->used, byte, count);
    packets->used += count;
    return true;
}

// Reads the two digits of a checksum and compares them with `sum`.
static enum body read_checksum(struct packets *packets, uint8_t sum)
{
    int high = connection_byte(packets->connection);
    int low = high < 0 ? -1 : connection_byte(packets->connection);

    if (low < 0)
        return BODY_FAULT;
    high = extract_hex_value(high);
    low = extract_hex_value(low);
    return high >= 0 && low >= 0 && (high << 4 | low) == sum ? BODY_GOOD : BODY_DAMAGED;
}

// Reads the byte after "}" or "*" and adds it to the checksum. Returns it, or -1 after a fault.
static int read_raw_byte(struct packets *packets, uint8_t *sum)
{
    int byte = connection_byte(packets->connection);

    if (byte >= 0)
        *sum = (uint8_t)(*sum + byte);
    return byte;
}

// Reads a packet from the byte after "$" to its checksum. A malformed body is read to its end, too,
// and is damaged whatever its checksum.
static enum body read_body(struct packets *packets)
{
    uint8_t sum = 0;
    bool malformed = false;

    for (packets->used = 0;;) {
        int byte = connection_byte(packets->connection);
        unsigned count = 1;
        if (byte < 0)
            return BODY_FAULT;
        if (byte == '#')
            break;
        sum = (uint8_t)(sum + byte);
        if (byte == '$') { // the rest of this packet was lost, and another begins
            packets->used = 0;
            sum = 0;
            malformed = false;
            continue;
        }
        if (byte == ESCAPE && (byte = read_raw_byte(packets, &sum)) >= 0) {
            byte ^= ESCAPE_BIT;
        } else if (byte == RUN && (byte = read_raw_byte(packets, &sum)) >= 0) {
            bool allowed = packets->used && byte > RUN_BIAS && byte < 127 && byte != '#';
            count = allowed ? (unsigned)(byte - RUN_BIAS) : 0;
            malformed |= !allowed;
            byte = packets->used ? packets->body[packets->used - 1] : 0;
        }
        if (byte < 0 || !append_byte(packets, (uint8_t)byte, count))
            return BODY_FAULT;
    }
    enum body body = read_checksum(packets, sum);
    return malformed && body == BODY_GOOD ? BODY_DAMAGED : body;
}

// Skips bytes up to and including the next "$" or "%". Returns that byte, or -1 after a fault.
// Repeats the last packet sent if the server requests it.
static int find_start(struct packets *packets)
{
    unsigned again = 0;

    for (size_t skipped = 0; skipped < MAX_GARBAGE; skipped++) {
        int byte = connection_byte(packets->connection);
        if (byte < 0 || byte == '$' || byte == '%')
            return byte;
        if (byte == '-' && packets->acks && again++ < REPEATS &&
            !connection_send(packets->connection, packets->sent, packets->sent_length))
            return -1;
    }
    connection_fail(packets->connection, CONNECTION_BROKEN, EXTRACT_BAD, hint_port,
                    "does not speak the GDB remote protocol");
    return -1;
}

bool packet_waits(struct packets *packets)
{
    struct connection *connection = packets->connection;

    while (connection_has_byte(connection)) {
        int byte = connection_byte(connection);
        if (byte == '$')
            connection->at--; // packet_receive reads it again
        if (byte < 0 || byte == '$')
            return byte == '$';
    }
    return false;
}

bool packet_receive(struct packets *packets)
{
    for (unsigned damaged = 0; damaged <= REPEATS;) {
        int start = find_start(packets);
        enum body body = start < 0 ? BODY_FAULT : read_body(packets);
        if (body == BODY_FAULT)
            return false;
        if (start == '%') // notifications are not acknowledged
            continue;
        if (body == BODY_GOOD)
            return !packets->acks || connection_send(packets->connection, "+", 1);
        if (!packets->acks)
            break;
        damaged++;
        if (!connection_send(packets->connection, "-", 1))
            return false;
    }
    return connection_fail(packets->connection, CONNECTION_BROKEN, EXTRACT_BAD,
                           "check the link for noise", "packets arrive damaged (wrong checksum)");
}

uint64_t packet_process(const struct packets *packets)
{
    static const char key[] = "thread:p";
    struct extract_cursor c = extract_cursor_make(packets->body, packets->used, EXTRACT_LITTLE);
    uint64_t process = 0;

    while (extract_cursor_left(&c) >= sizeof key - 1) {
        if (memcmp(c.bytes + c.at, key, sizeof key - 1) == 0) {
            extract_cursor_span(&c, sizeof key - 1);
            live_number(&c, 16, &process);
            return process;
        }
        extract_cursor_u8(&c);
    }
    return 0;
}
