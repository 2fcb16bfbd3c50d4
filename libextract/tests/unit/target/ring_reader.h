// SPDX-License-Identifier: MIT
// unit: reads the streams of an object that nobody changes in the meantime.
//
// Truth: docs/formats/posix-ring.md, and nothing else.
#ifndef RING_READER_H
#define RING_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct ring_stream {
    const uint8_t *object;
    uint8_t *block;
};

struct ring_record {
    uint32_t position, words, id, bytes, pid;
    bool open, cut, interrupt;
    uint64_t caller, thread, stamp;
    uint8_t data[512];
};

// Offsets in a stream block.
enum {
    RING_WORDS = 20,
    RING_LAYOUT = 24,
    RING_GENERATION = 32,
    RING_STATE = 36,
    RING_POLICY = 40,
    RING_MAX_DATA = 44,
    RING_HEAD = 48,
    RING_TAIL = 52,
    RING_RECORDED = 56,
    RING_OVERWRITTEN = 60,
    RING_REFUSED = 64,
    RING_EPISODES = 68,
    RING_LOST_STAMP = 72,
    RING_DONE = 84,
    RING_READ = 88,
    RING_REQUEST = 92,
    RING_WANTED = 96,
    RING_WANTED_POLICY = 100,
    RING_WANTED_MAX = 104,
    RING_WANTED_CLEARS = 108,
    RING_CONTROLLER = 120,
    RING_FILTER = 144
};

static inline uint32_t ring_get(const uint8_t *bytes, uint32_t offset)
{
    uint32_t word;
    memcpy(&word, bytes + offset, 4);
    return word;
}

static inline void ring_set(uint8_t *bytes, uint32_t offset, uint32_t value)
{
    memcpy(bytes + offset, &value, 4);
}

static inline struct ring_stream ring_stream(uint8_t *object, unsigned number)
{
    uint8_t *block = object + ring_get(object, 32) + number * ring_get(object, 28);
    return (struct ring_stream){object, block};
}

static inline uint32_t ring_of(struct ring_stream s, uint32_t offset)
{
    return ring_get(s.block, offset);
}

static inline uint32_t ring_word(struct ring_stream s, uint32_t position)
{
    uint32_t words = ring_of(s, RING_WORDS);
    return ring_get(s.object, ring_of(s, 16) + position % words * 4);
}

static inline uint64_t ring_wide(struct ring_stream s, uint32_t *position, bool wide)
{
    uint64_t value = ring_word(s, (*position)++);
    return wide ? value | (uint64_t)ring_word(s, (*position)++) << 32 : value;
}

// Reads the record at `position`. Returns false if the words there are not a record.
static inline bool ring_record(struct ring_stream s, uint32_t position, struct ring_record *r)
{
    uint32_t layout = ring_of(s, RING_LAYOUT), first = ring_word(s, position), at = position + 2;
    bool wide = (layout & 0xFF) == 8;
    *r = (struct ring_record){.position = position, .words = first >> 16 & 0xFFF};
    r->open = first >> 30 == 1;
    r->cut = first >> 28 & 1;
    r->interrupt = first >> 29 & 1;
    r->id = ring_word(s, position + 1) & 0xFFFF;
    r->bytes = ring_word(s, position + 1) >> 16;
    r->caller = ring_wide(s, &at, wide);
    r->thread = ring_wide(s, &at, wide);
    r->pid = layout >> 16 & 1 ? ring_word(s, at++) : 0;
    r->stamp = ring_wide(s, &at, (layout >> 8 & 0xFF) > 32);
    for (uint32_t k = 0; k < r->bytes && k < sizeof r->data; k += 4) {
        uint32_t word = ring_word(s, at + k / 4);
        memcpy(r->data + k, &word, 4);
    }
    uint32_t trailer = ring_word(s, position + r->words - 1);
    return (first >> 30 == 1 || first >> 30 == 2) && (first & 0xFFFF) == (position & 0xFFFF) &&
           trailer == ((first & 0x0FFFFFFF) | 0xA0000000) &&
           (r->words == at - position + (r->bytes + 3) / 4 + 1 ||
            (r->cut && !r->bytes && r->words > at - position)); // its writer died
}

// Reads at most `room` records, oldest first. Returns -1 if the ring is not sound.
static inline int ring_records(struct ring_stream s, struct ring_record *records, int room)
{
    uint32_t at = ring_of(s, RING_TAIL), head = ring_of(s, RING_HEAD);
    int count = 0;
    if (head - at > ring_of(s, RING_WORDS))
        return -1;
    for (; at != head && count < room; at += records[count++].words)
        if (!ring_record(s, at, &records[count]) || records[count].words > head - at)
            return -1;
    return count;
}

#endif
