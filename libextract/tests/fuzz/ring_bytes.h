// SPDX-License-Identifier: MIT
// fuzz: opens bytes that may be a ring as the memory of a halted or a running target, and opens the
// ring in them.
#ifndef FUZZ_RING_BYTES_H
#define FUZZ_RING_BYTES_H

#include "tests/fuzz/trace_checks.h"
#include <stdlib.h>

enum { ADDRESS = 0x20000100 };

static inline struct extract_memory *stopped_target(const uint8_t *data, size_t size)
{
    struct extract_memory *memory = NULL;
    check(!extract_memory_new_images(&memory, NULL));
    check(!extract_memory_add_bytes(memory, "fuzz", data, size, ADDRESS, NULL));
    return memory;
}

// A running target: between any two reads, one of its bytes changes.
struct target {
    uint8_t *bytes;
    size_t size;
    unsigned reads, step; // step: bytes between one change and the next
};

static inline size_t target_read(void *context, uint64_t address, void *buffer, size_t length)
{
    struct target *target = context;
    uint64_t offset = address - ADDRESS;
    if (address < ADDRESS || offset >= target->size)
        return 0;
    size_t got = length < target->size - offset ? length : target->size - (size_t)offset;
    memcpy(buffer, target->bytes + offset, got);
    size_t at = target->reads++ * target->step + target->bytes[target->size - 1];
    target->bytes[at % target->size]++;
    return got;
}

// Opens the memory of a running target. Free target->bytes with free() after closing the memory.
static inline struct extract_memory *running_target(struct target *target, const uint8_t *data,
                                                    size_t size, unsigned step)
{
    struct extract_memory_source source = {.read = target_read, .context = target, .running = true};
    struct extract_memory *memory = NULL;
    *target = (struct target){.bytes = malloc(size), .size = size, .step = step};
    check(target->bytes && !extract_memory_new(&memory, &source, NULL));
    memcpy(target->bytes, data, size);
    return memory;
}

// Opens the ring. Returns NULL, with an error that gives a reason, if there is none. If `at`, the
// ring is expected at ADDRESS.
static inline struct extract_session *open_ring(struct extract_memory *memory, const char *format,
                                                bool at, bool json)
{
    struct extract_session_options options = {
        .size = sizeof options, .format = format, .ring_known = at, .ring = ADDRESS, .json = json};
    struct extract_session *session;
    struct extract_error error = {0};
    enum extract_code code = extract_session_open(&session, memory, NULL, &options, &error);
    check(!code == !!session);
    check(!code || (error.code == code && error.what[0] && error.why[0]));
    return session;
}

// Calls `check_entry` for each event except the markers of the recorder.
static inline void check_entries(const struct extract_trace *trace,
                                 void (*check_entry)(const struct extract_ring *ring,
                                                     const struct extract_event *event))
{
    const struct extract_ring *ring = &extract_trace_snapshot(trace)->ring;
    struct extract_event events[BATCH];
    struct extract_reader reader;
    size_t count;
    extract_reader_init(&reader, trace);
    while ((count = extract_reader_next(&reader, events, BATCH)))
        for (size_t i = 0; i < count; i++)
            if (!extract_event_is_mark(&events[i]))
                check_entry(ring, &events[i]);
}

#endif
