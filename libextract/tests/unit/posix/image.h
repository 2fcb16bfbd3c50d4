// SPDX-License-Identifier: MIT
// tests: a target's memory with a POSIX process block and its streams. In: records, part by part,
// and requests of a controller. Out: a memory.
//
// Source: docs/formats/posix-ring.md. Written from those facts alone and sharing no code with the
// recorder or the reader.
#ifndef TESTS_POSIX_IMAGE_H
#define TESTS_POSIX_IMAGE_H

#include <extract/posix/attach.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum {
    IMAGE_ADDRESS = 0x20000100,
    IMAGE_NAMES = 128, // offsets
    IMAGE_NAME_BYTES = 32,
    IMAGE_NAMES_ROOM = 6,
    IMAGE_STREAMS = IMAGE_NAMES + IMAGE_NAME_BYTES * IMAGE_NAMES_ROOM,
    IMAGE_STREAM_BYTES = 160, // two filters of 64 types
    IMAGE_RINGS = IMAGE_STREAMS + 2 * IMAGE_STREAM_BYTES,
    IMAGE_MAX_RING = 8192, // words
    IMAGE_BYTES = IMAGE_RINGS + 2 * IMAGE_MAX_RING * 4,
    // Offsets in the process block.
    IMAGE_GENERATION = 16,
    IMAGE_ACTIVE = 20,
    IMAGE_NAMES_USED = 48,
    IMAGE_NAMES_CLAIMED = 52,
    // Offsets in a stream block.
    IMAGE_RING_AT = 16,
    IMAGE_RING_WORDS = 20,
    IMAGE_CLOCK_HZ = 28,
    IMAGE_STREAM_GENERATION = 32,
    IMAGE_STATE = 36,
    IMAGE_POLICY = 40,
    IMAGE_MAX_DATA = 44,
    IMAGE_HEAD = 48,
    IMAGE_TAIL = 52,
    IMAGE_RECORDED = 56,
    IMAGE_OVERWRITTEN = 60,
    IMAGE_REFUSED = 64,
    IMAGE_EPISODES = 68,
    IMAGE_LOST_STAMP = 72,
    IMAGE_EPISODE_READ = 80,
    IMAGE_REQUEST_DONE = 84,
    IMAGE_READ_POS = 88,
    IMAGE_REQUEST = 92,
    IMAGE_WANTED = 96,
    IMAGE_WANTED_POLICY = 100,
    IMAGE_WANTED_MAX_DATA = 104,
    IMAGE_WANTED_CLEARS = 108,
    IMAGE_CLEARS_DONE = 112,
    IMAGE_CONTROLLER = 120,
    IMAGE_NAME = 128,
    IMAGE_FILTER = 144,
    IMAGE_WANTED_FILTER = 152,
    // Flags of a record's first word.
    IMAGE_OPEN = 1 << 30,
    IMAGE_DONE = (int)(2U << 30),
    IMAGE_CUT = 1 << 28
};

struct image {
    bool big, wide, day; // big-endian; addresses of 8 bytes; stamps are the time of day
    unsigned stamp_bits;
    uint32_t hz, ring_words;
    uint64_t clock; // stamp of the next record
    uint8_t bytes[IMAGE_BYTES];
    struct extract_memory *memory;
    bool read_only, halted;
    uint32_t refused_offset; // writes there fail; 0: none
    // Called before each word is read, at the word's offset.
    void (*before)(struct image *image, uint32_t offset);
    unsigned reads;     // of the source, and
    unsigned fail_from; // the one from which all fail; 0: none
};

// Makes the blocks, unbound, and the memory. `image`: what is set of it above `bytes` holds.
void image_make(struct image *image);
void image_close(struct image *image);
void image_put(struct image *image, uint32_t offset, uint32_t word);
uint32_t image_get(const struct image *image, uint32_t offset);
// Words of a stream's block.
uint32_t image_block(unsigned stream);
void image_set(struct image *image, unsigned stream, uint32_t at, uint32_t word);
uint32_t image_word(const struct image *image, unsigned stream, uint32_t at);
// Registers a name as the target does; returns its id.
trace_event_id_t image_name(struct image *image, const char *name);
// Binds a stream that runs, beginning at a position.
void image_bind(struct image *image, unsigned stream, int policy, uint32_t position);
// Writes a record of a stream as a recorder in a loop does. `flags`: IMAGE_DONE or IMAGE_OPEN, and
// others of the first word. The address is 0x8001000 + id, the thread 0x7000 + id. Returns its
// position.
uint32_t image_record(struct image *image, unsigned stream, uint32_t flags, trace_event_id_t id,
                      const void *data, uint32_t bytes);
// Carries out what a controller asked for, as a recorder does at its next trace point.
void image_serve(struct image *image);

#endif
