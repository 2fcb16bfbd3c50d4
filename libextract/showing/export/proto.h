// SPDX-License-Identifier: MIT
// export: writes messages of Protocol Buffers into memory.
//
//     size_t packet = proto_open(&proto, 1);
//     proto_uint(&proto, 8, timestamp);
//     proto_close(&proto, packet);
//
// The length of a message is written when it is closed. Source: "Encoding", Protocol Buffers
// documentation.
#ifndef EXTRACT_EXPORT_PROTO_H
#define EXTRACT_EXPORT_PROTO_H

#include <stdlib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_BYTES = 2, PROTO_NUMBER = 24 };

// A zeroed one is empty.
struct proto {
    uint8_t *bytes; // owned
    size_t used, capacity;
    bool has_failed; // out of memory
};

static inline bool proto_need(struct proto *proto, size_t length)
{
    if (proto->capacity - proto->used >= length)
        return true;
    size_t wanted = proto->used + length + 4096;
    uint8_t *bytes = proto->has_failed ? NULL : realloc(proto->bytes, wanted);
    proto->has_failed |= !bytes;
    if (!bytes)
        return false;
    proto->bytes = bytes;
    proto->capacity = wanted;
    return true;
}

static inline void proto_varint(struct proto *proto, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        proto->bytes[proto->used++] = (uint8_t)(value | 0x80);
    proto->bytes[proto->used++] = (uint8_t)value;
}

static inline void proto_uint(struct proto *proto, uint32_t field, uint64_t value)
{
    if (!proto_need(proto, PROTO_NUMBER))
        return;
    proto_varint(proto, field << 3 | PROTO_VARINT);
    proto_varint(proto, value);
}

static inline void proto_fixed(struct proto *proto, uint32_t field, uint64_t value)
{
    if (!proto_need(proto, PROTO_NUMBER))
        return;
    proto_varint(proto, field << 3 | PROTO_FIXED64);
    for (unsigned i = 0; i < 8; i++)
        proto->bytes[proto->used++] = (uint8_t)(value >> 8 * i);
}

static inline void proto_double(struct proto *proto, uint32_t field, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    proto_fixed(proto, field, bits);
}

static inline void proto_bytes(struct proto *proto, uint32_t field, const char *bytes,
                               size_t length)
{
    if (!proto_need(proto, PROTO_NUMBER + length))
        return;
    proto_varint(proto, field << 3 | PROTO_BYTES);
    proto_varint(proto, length);
    memcpy(proto->bytes + proto->used, bytes, length);
    proto->used += length;
}

static inline void proto_string(struct proto *proto, uint32_t field, const char *string)
{
    proto_bytes(proto, field, string, strlen(string));
}

// Begins a message in a field. Returns what proto_close needs.
static inline size_t proto_open(struct proto *proto, uint32_t field)
{
    if (!proto_need(proto, PROTO_NUMBER))
        return 0;
    proto_varint(proto, field << 3 | PROTO_BYTES);
    return ++proto->used; // most lengths have one byte
}

static inline void proto_close(struct proto *proto, size_t begin)
{
    size_t length = proto->used - begin, more = 0;

    for (size_t rest = length >> 7; rest; rest >>= 7)
        more++;
    if (!proto_need(proto, more))
        return;
    if (more)
        memmove(proto->bytes + begin + more, proto->bytes + begin, length);
    proto->used = begin - 1;
    proto_varint(proto, length);
    proto->used += length;
}

#endif
