// SPDX-License-Identifier: MIT
// unit: a POSIX trace of a kernel's events, each with up to three words, for tests.
#ifndef TEST_RTOS_EVENTS_H
#define TEST_RTOS_EVENTS_H

#include "tests/unit/posix_format/ptr_builder.h"
#include <extract/stats.h>

enum { A = 0x20004000, B = 0x20004100, QUEUE = 0x20004200, MUTEX = 0x20004300 };
enum { FIRST_ID = 35, SLOTS = PTR_NAMES - 3, WORDS = 3, TICK_ISR = 15 };

static const struct ptr_kind narrow = {false, false, 4, 32};
static struct ptr ptr;
static uint64_t now;
static uint64_t step = 10; // of the clock, between two events

static inline void begin(const struct ptr_kind *kind)
{
    ptr_build(&ptr, kind, MAX_PTR_WORDS, 0);
    now = 0;
}

// Registers a name, unless that has been done. Returns its id.
static inline unsigned id_of(const char *name)
{
    for (unsigned slot = 3; slot < PTR_NAMES; slot++) {
        char *place = (char *)ptr.bytes + PTR_NAMES_AT + slot * PTR_NAME;
        if (!*place)
            memcpy(place, name, strlen(name));
        if (strcmp(place, name) == 0)
            return 32 + slot;
    }
    fail_msg("no room for the name %s", name);
    return 0;
}

static inline size_t store_words(uint8_t *data, const uint64_t *words, unsigned count)
{
    unsigned bytes = ptr.kind.address_bytes;

    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < bytes; k++)
            data[i * bytes + k] = (uint8_t)(words[i] >> 8 * (ptr.kind.big ? bytes - 1 - k : k));
    return count * bytes;
}

static inline void put_bytes(const char *name, uint64_t thread, bool is_interrupt, const void *data,
                             size_t bytes)
{
    const struct ptr_record record = {.id = id_of(name),
                                      .data = data,
                                      .data_bytes = (unsigned)bytes,
                                      .address = 0x08000101,
                                      .thread = thread,
                                      .stamp = now += step,
                                      .interrupt = is_interrupt};
    ptr_put(&ptr, 0, &record);
}

static inline void put(const char *name, uint64_t thread, uint64_t one, uint64_t two,
                       uint64_t three)
{
    const uint64_t words[WORDS] = {one, two, three};
    uint8_t data[WORDS * 8];
    bool is_interrupt = thread == TICK_ISR;

    put_bytes(name, thread, is_interrupt, data, store_words(data, words, WORDS));
}

static inline struct extract_stats *open_stats(struct look *look)
{
    struct extract_stats *stats;
    struct extract_view *view;

    look_open_memory(look, ptr_memory(&ptr), PTR_ADDRESS, NULL);
    assert_int_equal(extract_view_new(&view, NULL, look->trace, 0, NULL), EXTRACT_OK);
    assert_int_equal(extract_stats_new(&stats, view, look->trace, NULL), EXTRACT_OK);
    extract_view_free(view);
    return stats;
}

#endif
