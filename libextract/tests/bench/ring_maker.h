// SPDX-License-Identifier: MIT
// bench: makes ThreadX trace rings in memory, word by word from the layout in the TraceX user
// guide, chapter 11 "Trace buffer format" (4-byte ULONG), of any size.
#ifndef TESTS_RING_MAKER_H
#define TESTS_RING_MAKER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAKER_HEADER = 48,
    MAKER_NAME = 32,
    MAKER_OBJECT = 16 + MAKER_NAME,
    MAKER_ENTRY = 32,
};

#define MAKER_ISR  0xFFFFFFFFu
#define MAKER_INIT 0xF0F0F0F0u
// A priority word of today's kernels.
#define MAKER_PRIORITY(priority, threshold)                                                        \
    (0x80000000u | (uint32_t)(threshold) << 16 | (uint32_t)(priority))

struct maker {
    uint8_t *bytes;
    size_t length;
    uint32_t base, slots, entries;
    uint32_t objects, events; // made so far
    bool big;
};

static inline void maker_word(struct maker *m, size_t at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        m->bytes[at + i] = (uint8_t)(value >> (m->big ? 24 - 8 * i : 8 * i));
}

static inline size_t maker_entry_at(const struct maker *m, uint32_t i)
{
    return MAKER_HEADER + (size_t)m->slots * MAKER_OBJECT + (size_t)i * MAKER_ENTRY;
}

// The slot that is written next; 0 once all are.
static inline void maker_current(struct maker *m, uint32_t slot)
{
    maker_word(m, 32, m->base + (uint32_t)maker_entry_at(m, slot));
}

static inline bool maker_open(struct maker *m, uint32_t base, uint32_t mask, uint32_t slots,
                              uint32_t entries, bool big)
{
    *m = (struct maker){NULL, 0, base, slots, entries, 0, 0, big};
    m->length = maker_entry_at(m, entries);
    m->bytes = calloc(1, m->length);
    if (!m->bytes)
        return false;
    maker_word(m, 0, 0x54585442);
    maker_word(m, 4, mask);
    maker_word(m, 8, base);
    maker_word(m, 12, base + MAKER_HEADER);
    m->bytes[big ? 19 : 18] = MAKER_NAME;
    maker_word(m, 20, base + (uint32_t)maker_entry_at(m, 0));
    maker_word(m, 24, base + (uint32_t)maker_entry_at(m, 0));
    maker_word(m, 28, base + (uint32_t)m->length);
    maker_word(m, 36, 0xAAAAAAAA);
    maker_word(m, 40, 0xBBBBBBBB);
    maker_word(m, 44, 0xCCCCCCCC);
    maker_current(m, 0);
    for (uint32_t i = 0; i < slots; i++) // never used: free, no type, no address
        m->bytes[MAKER_HEADER + (size_t)i * MAKER_OBJECT] = 1;
    return true;
}

static inline void maker_object(struct maker *m, uint8_t type, uint32_t address, uint32_t param1,
                                uint32_t param2, const char *name)
{
    size_t at = MAKER_HEADER + (size_t)m->objects++ * MAKER_OBJECT;
    m->bytes[at] = 0; // in use
    m->bytes[at + 1] = type;
    maker_word(m, at + 4, address);
    maker_word(m, at + 8, param1);
    maker_word(m, at + 12, param2);
    size_t length = strlen(name);
    memcpy(m->bytes + at + 16, name, length < MAKER_NAME ? length : MAKER_NAME - 1);
}

// Writes the next event; the ring wraps.
static inline void maker_event(struct maker *m, uint32_t thread, uint32_t priority, uint32_t id,
                               uint32_t stamp, const uint32_t info[4])
{
    const uint32_t words[] = {thread, priority, id, stamp, info[0], info[1], info[2], info[3]};
    size_t at = maker_entry_at(m, m->events++ % m->entries);
    for (unsigned i = 0; i < 8; i++)
        maker_word(m, at + 4 * i, words[i]);
    maker_current(m, m->events % m->entries);
}

static inline void maker_close(struct maker *m)
{
    free(m->bytes);
    m->bytes = NULL;
}

#endif
