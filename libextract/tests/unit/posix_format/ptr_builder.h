// SPDX-License-Identifier: MIT
// tests: synthetic POSIX traces. In: names, records, part by part. Out: the bytes of the object
// that a target holds.
//
// Source: docs/formats/posix-ring.md. Written from that page alone and sharing no code with the
// decoder, so that the two check each other.
#ifndef TESTS_PTR_BUILDER_H
#define TESTS_PTR_BUILDER_H

#include "tests/unit/ring_builder.h"
#include <extract/session.h>

enum {
    PTR_STREAMS = 2,
    PTR_NAMES = 16, // slots
    PTR_NAME = 32,  // bytes of one
    PTR_IDS = 64,
    PTR_STREAM_BYTES = 144 + 2 * PTR_IDS / 8,
    PTR_NAMES_AT = 128,
    PTR_STREAMS_AT = PTR_NAMES_AT + PTR_NAMES * PTR_NAME,
    PTR_RINGS_AT = PTR_STREAMS_AT + PTR_STREAMS * PTR_STREAM_BYTES,
    MAX_PTR_WORDS = 1024, // of a ring
    PTR_BYTES = PTR_RINGS_AT + PTR_STREAMS * MAX_PTR_WORDS * 4,
    PTR_ADDRESS = 0x20000100,
    PTR_FILTER = 144, // in a stream block
    PTR_WANTED_FILTER = 144 + PTR_IDS / 8
};

// Bytes of an address and of a stamp, byte order, process ids.
struct ptr_kind {
    bool big, pids;
    unsigned address_bytes, stamp_bits;
};

struct ptr {
    struct ptr_kind kind;
    uint32_t words; // of each ring
    uint8_t bytes[PTR_BYTES];
};

struct ptr_record {
    unsigned id;
    const void *data;
    unsigned data_bytes;
    uint64_t address, thread, stamp;
    uint32_t pid;
    bool cut, interrupt, open;
};

// An object with two streams, of which the first is bound, loops and runs; positions begin at
// `start`. Names: the unnamed one, "alpha", "beta".
void ptr_build(struct ptr *ptr, const struct ptr_kind *kind, uint32_t words, uint32_t start);

// Words of the process block and of a stream's block, at an offset.
void ptr_set(struct ptr *ptr, unsigned offset, uint32_t value);
void ptr_stream_set(struct ptr *ptr, unsigned stream, unsigned offset, uint32_t value);
uint32_t ptr_stream_get(const struct ptr *ptr, unsigned stream, unsigned offset);
// A word of a stream's ring, at a position.
void ptr_poke(struct ptr *ptr, unsigned stream, uint32_t position, uint32_t value);

// Writes a record as a loop's recorder does: the oldest give way, and are counted as overwritten.
// Returns its position.
uint32_t ptr_put(struct ptr *ptr, unsigned stream, const struct ptr_record *record);
// User event 1 ("alpha") with `number` as 4 bytes of data, stamp 1000 + 10 * number. 7 words of a
// target with 4-byte addresses, 32-bit stamps and no process ids.
uint32_t ptr_put_number(struct ptr *ptr, unsigned stream, uint32_t number);

struct extract_memory *ptr_memory(const struct ptr *ptr);

#endif
