// SPDX-License-Identifier: MIT
// snapshot: the consistent copy of a slot ring, with one verdict per entry.
//
// The header was read when the ring was found. Registry and entries are contiguous, and copied with
// one read. Then the live write position is read again. Slots that the writer may have touched in
// between are marked in the verdicts. For a running target, the newest entry is read before and
// after the copy, because the write position alone does not show that the writer has lapped the
// reader.
#include "base/cursor.h"
#include "base/grow.h"
#include "snapshot/snapshot_room.h"
#include "memory/memory_hooks.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    LIVE_WINDOW = 52,     // maximum bytes of one read of both live words
    HOLE_STEPS = 64,      // a span with holes is read in at most about this many parts
    EARLY_TEST = 1 << 20, // one byte of rings larger than this is read before memory is allocated
    MAX_ANCHOR = 64,      // maximum bytes of a slot that can be an anchor
    NEWEST_TRIES = 7      // attempts to copy, each with half as many of the newest entries
};

// Returns the number of bytes that [a, b) and [c, d) have in common.
static uint64_t common(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t start = a > c ? a : c, end = b < d ? b : d;

    return end > start ? end - start : 0;
}

// Clears the registry slots that [from, to) touches. They would be printed with half a name.
static void blank_objects(struct extract_snapshot *snapshot, uint64_t from, uint64_t to)
{
    const struct extract_slots *registry = &snapshot->ring.registry;
    uint64_t at = registry->start - snapshot->ring.address;

    for (uint32_t slot = 0; slot < registry->count; slot++, at += registry->slot_bytes)
        if (common(from, to, at, at + registry->slot_bytes))
            memset(snapshot->bytes + at, 0, registry->slot_bytes);
}

// Notes that [from, to) (offsets from the ring's start) could not be read. Its entries are
// unreadable.
static void mark_hole(void *context, uint64_t from, uint64_t to)
{
    struct extract_snapshot *snapshot = context;
    const struct extract_ring *ring = &snapshot->ring;
    uint64_t first = ring->entries.start - ring->address, bytes = ring->entries.slot_bytes;

    snapshot->registry_missing +=
        common(from, to, ring->registry.start - ring->address, ring->registry.end - ring->address);
    blank_objects(snapshot, from, to);
    if (to <= first)
        return;
    uint64_t slot = from > first ? (from - first) / bytes : 0;
    for (; slot < ring->entries.count && first + slot * bytes < to; slot++)
        snapshot->verdict[slot] = EXTRACT_UNREADABLE_ENTRY;
}

// Returns where memory continues after a hole at `address`: the next known region, or a step
// further.
static uint64_t behind_hole(struct extract_memory *memory, uint64_t address, uint64_t step)
{
    struct extract_region region;

    if (!extract_memory_region(memory, 0, &region))
        return address + step;
    for (size_t i = 0; extract_memory_region(memory, i, &region); i++)
        if (region.address > address)
            return region.address;
    return UINT64_MAX;
}

void extract_snapshot_copy(struct extract_snapshot *snapshot, struct extract_memory *memory,
                           uint64_t base, uint64_t from, uint64_t to,
                           void (*hole)(void *context, uint64_t from, uint64_t to), void *context)
{
    const struct extract_ring *ring = &snapshot->ring;
    uint64_t at = from, end = from, step = ring->length / HOLE_STEPS + 1;

    for (;;) {
        size_t got = 0;
        if (at < to)
            extract_memory_read(memory, base + at, snapshot->bytes + at, (size_t)(to - at), &got,
                                NULL);
        if (end < at) // after the read, which may have filled the rest of an object's slot
            hole(context, end, at);
        end = at + got;
        if (end >= to)
            break;
        at = behind_hole(memory, base + end, step) - base;
        at = at > to ? to : at;
    }
}

// The live write position. One read also gets the filter word if it is near enough.
struct live {
    uint64_t pointer;
    bool pointer_known;
};

static bool read_word(struct extract_memory *memory, const struct extract_ring *ring,
                      uint64_t address, unsigned bytes, uint64_t *value)
{
    uint8_t raw[8];
    size_t got;

    if (extract_memory_read(memory, address, raw, bytes, &got, NULL))
        return false;
    struct extract_cursor c = extract_cursor_make(raw, bytes, ring->byte_order);
    *value = extract_cursor_word(&c, bytes);
    return true;
}

static void read_window(struct extract_memory *memory, struct extract_ring *ring, struct live *live)
{
    uint8_t raw[LIVE_WINDOW];
    uint64_t low =
        ring->current_symbol < ring->filter_symbol ? ring->current_symbol : ring->filter_symbol;
    uint64_t pointer_end = ring->current_symbol + ring->pointer_bytes;
    uint64_t filter_end = ring->filter_symbol + ring->word_bytes;
    size_t length = (size_t)((pointer_end > filter_end ? pointer_end : filter_end) - low), got;

    if (extract_memory_read(memory, low, raw, length, &got, NULL))
        return;
    struct extract_cursor c = extract_cursor_make(raw, length, ring->byte_order);
    extract_cursor_seek(&c, ring->current_symbol - low);
    live->pointer = extract_cursor_word(&c, ring->pointer_bytes);
    extract_cursor_seek(&c, ring->filter_symbol - low);
    ring->filter = extract_cursor_word(&c, ring->word_bytes);
    live->pointer_known = ring->filter_known = true;
}

static bool window_fits(const struct extract_ring *ring)
{
    uint64_t a = ring->current_symbol, b = ring->filter_symbol;
    uint64_t apart = a > b ? a - b : b - a;

    return a && b && apart + 8 <= LIVE_WINDOW;
}

static void read_live(struct extract_memory *memory, struct extract_ring *ring, struct live *live)
{
    if (window_fits(ring)) {
        read_window(memory, ring, live);
    } else if (ring->current_symbol) {
        live->pointer_known =
            read_word(memory, ring, ring->current_symbol, ring->pointer_bytes, &live->pointer);
    }
    ring->enabled_known = live->pointer_known;
    ring->enabled = live->pointer != 0;
}

static bool in_ring(const struct extract_ring *ring, uint64_t pointer)
{
    return pointer >= ring->entries.start && pointer < ring->entries.end;
}

// Reads the header's copy of the write position, as an address of the ring.
static bool read_current(struct extract_memory *memory, const struct extract_ring *ring,
                         uint64_t *pointer)
{
    if (!read_word(memory, ring, ring->address + ring->current_offset, ring->word_bytes, pointer))
        return false;
    // Modulo the word, because a 64-bit target may store the lower halves only.
    uint64_t all = ring->word_bytes == 8 ? UINT64_MAX : UINT32_MAX;
    *pointer = ring->address + ((*pointer + ring->base_delta - ring->address) & all);
    return true;
}

// Finds the write position after the copy: the live one, or the header's. Returns false if the
// target runs and neither can be read.
static bool find_writer(struct extract_memory *memory, struct extract_ring *ring, uint64_t *pointer)
{
    struct live live = {0, false};

    read_live(memory, ring, &live);
    bool alive = live.pointer_known && in_ring(ring, live.pointer);
    *pointer = alive ? live.pointer : ring->current;
    if (alive || !extract_memory_is_running(memory))
        return true;
    return read_current(memory, ring, pointer) && in_ring(ring, *pointer);
}

// The newest entry before the copy. While the target runs, its writer may lap the reader, which the
// write position does not show. The anchor is the last entry that a lap overwrites: as long as it
// is unchanged, only the slots that the write position passed have changed.
struct anchor {
    uint8_t bytes[MAX_ANCHOR];
    bool is_known;
};

static void read_anchor(struct extract_memory *memory, const struct extract_ring *ring,
                        struct anchor *anchor)
{
    const struct extract_slots *entries = &ring->entries;
    uint64_t end = ring->current == entries->start ? entries->end : ring->current;
    size_t got;

    anchor->is_known = entries->slot_bytes <= sizeof anchor->bytes &&
                       !extract_memory_read(memory, end - entries->slot_bytes, anchor->bytes,
                                            entries->slot_bytes, &got, NULL);
}

static bool is_same(const struct extract_ring *ring, const struct anchor *before,
                    const struct anchor *after)
{
    return before->is_known && after->is_known &&
           ring->format->slots->is_same(ring, before->bytes, after->bytes);
}

// Marks all entries as overwritten, because none is known to be complete.
static void mark_all_overwritten(struct extract_snapshot *snapshot)
{
    uint32_t count = snapshot->ring.entries.count;

    for (uint32_t slot = 0; slot < count; slot++)
        if (snapshot->verdict[slot] != EXTRACT_UNREADABLE_ENTRY)
            snapshot->verdict[slot] = EXTRACT_OVERWRITTEN;
    snapshot->moved = true;
    snapshot->moved_entries = count;
}

// Returns whether the target ran while an image of it was made. A writer that was halted between
// its two stores leaves the live position one slot ahead of the header's; a larger distance shows
// that it ran.
static bool has_run(const struct extract_ring *ring, uint64_t pointer)
{
    uint64_t slots = ring->entries.count, bytes = ring->entries.slot_bytes;
    uint64_t from = (ring->current - ring->entries.start) / bytes;
    uint64_t to = (pointer - ring->entries.start) / bytes;

    return (to + slots - from) % slots > 1;
}

// Returns whether the header's write position moves although the target is reported halted. That
// happens if a debugger attached without halting it.
static bool is_running_after_all(struct extract_memory *memory, struct extract_ring *ring,
                                 uint64_t pointer)
{
    uint64_t now;

    if (pointer == ring->current || !read_current(memory, ring, &now) || now == ring->current ||
        !in_ring(ring, now))
        return false;
    ring->current = now;
    return true;
}

// Copies `count` slots from `first` on, which may pass the ring's end.
static bool copy_slots(struct extract_snapshot *snapshot, struct extract_memory *memory,
                       uint32_t first, uint32_t count)
{
    const struct extract_ring *ring = &snapshot->ring;
    uint32_t bytes = ring->entries.slot_bytes, after = ring->entries.count - first;
    uint32_t row = count < after ? count : after;
    uint64_t at = ring->entries.start + (uint64_t)first * bytes;
    size_t got;

    return !extract_memory_read(memory, at, snapshot->bytes + (at - ring->address),
                                (size_t)row * bytes, &got, NULL) &&
           (row == count || copy_slots(snapshot, memory, 0, count - row));
}

// Copies only the newest `wanted` entries. Returns false if the writer overwrote them, too.
static bool copy_newest(struct extract_snapshot *snapshot, struct extract_memory *memory,
                        uint32_t wanted)
{
    struct extract_ring *ring = &snapshot->ring;
    uint32_t count = ring->entries.count;
    struct anchor before, after;
    uint64_t pointer;

    if (!find_writer(memory, ring, &ring->current))
        return false;
    uint32_t top = (uint32_t)((ring->current - ring->entries.start) / ring->entries.slot_bytes);
    uint32_t first = (top + count - wanted) % count;
    read_anchor(memory, ring, &before);
    if (!copy_slots(snapshot, memory, first, wanted) || !find_writer(memory, ring, &pointer))
        return false;
    read_anchor(memory, ring, &after);
    uint32_t now = (uint32_t)((pointer - ring->entries.start) / ring->entries.slot_bytes);
    if (!is_same(ring, &before, &after) || (now + count - top) % count + wanted >= count)
        return false;
    memset(snapshot->verdict, EXTRACT_GOOD, count);
    ring->format->slots->validate(snapshot, pointer, false);
    for (uint32_t i = wanted; i < count; i++)
        snapshot->verdict[(first + i) % count] = EXTRACT_OVERWRITTEN;
    snapshot->moved = true;
    snapshot->moved_entries = count;
    return true;
}

// Copies as many of the newest entries as possible, because the writer is too fast for all of them.
static void save_newest(struct extract_snapshot *snapshot, struct extract_memory *memory)
{
    uint32_t wanted = snapshot->ring.entries.count / 2;

    for (int i = 0; i < NEWEST_TRIES && wanted; i++, wanted /= 2)
        if (copy_newest(snapshot, memory, wanted))
            return;
    mark_all_overwritten(snapshot);
}

// Copies and validates registry and entries. Returns false if the target was reported halted and
// has moved; its write position is then updated.
static bool copy_and_validate(struct extract_snapshot *snapshot, struct extract_memory *memory,
                              bool running)
{
    struct extract_ring *ring = &snapshot->ring;
    struct anchor before, after;
    uint64_t pointer;

    snapshot->registry_missing = 0;
    memset(snapshot->verdict, EXTRACT_GOOD, ring->entries.count);
    if (running)
        read_anchor(memory, ring, &before);
    extract_snapshot_copy(snapshot, memory, ring->address, ring->header_bytes, ring->length,
                          mark_hole, snapshot);
    bool found = find_writer(memory, ring, &pointer);
    if (!running && is_running_after_all(memory, ring, pointer))
        return false;
    if (running)
        read_anchor(memory, ring, &after);
    ring->format->slots->validate(snapshot, pointer, !running && !has_run(ring, pointer));
    if (running && (!found || !is_same(ring, &before, &after)))
        save_newest(snapshot, memory);
    return true;
}

// Determines the byte of a large ring that is read first, before memory for the ring is allocated:
// its last one. In a ring of bytes with known positions, it is the newest one, which will be read
// anyway: if the ring is in shared memory, pages that were never written do not exist, and reading
// them would allocate them. Returns false if nothing was written.
static bool find_early_byte(const struct extract_ring *ring, uint64_t *address)
{
    const struct extract_stream *stream = ring->format->stream;
    uint64_t size = ring->entries.end - ring->entries.start;
    struct extract_ring_counters counters;

    *address = ring->entries.end - 1;
    if (!stream || !stream->newest_is_known ||
        !stream->read_counters(ring, ring->header, &counters))
        return true;
    *address = ring->entries.start + (counters.head - 1) % size;
    return counters.head != counters.tail;
}

enum extract_code extract_snapshot_unreadable(const struct extract_ring *ring,
                                              struct extract_error *error)
{
    char hint[80];

    snprintf(hint, sizeof hint, "dump 0x%llx to 0x%llx, too",
             (unsigned long long)ring->missing_start, (unsigned long long)ring->missing_end);
    return extract_error_set(
        error, EXTRACT_UNREADABLE, "trace ring",
        ring->missing_end ? hint : "check that the dump is complete, or that the target responds",
        "none of its entries at 0x%llx can be read", (unsigned long long)ring->entries.start);
}

enum extract_code extract_snapshot_allocate(struct extract_snapshot *snapshot,
                                            struct extract_memory *memory, uint64_t slack_bytes,
                                            struct extract_error *error)
{
    const struct extract_ring *ring = &snapshot->ring;
    uint64_t early;
    uint8_t byte;
    size_t got;

    if (ring->length > EARLY_TEST && find_early_byte(ring, &early) &&
        extract_memory_read(memory, early, &byte, 1, &got, NULL))
        return extract_error_set(error, EXTRACT_UNREADABLE, "trace ring",
                                 "check that the header belongs to this firmware",
                                 "the byte at 0x%llx, of its %llu, cannot be read",
                                 (unsigned long long)early, (unsigned long long)ring->length);
    snapshot->bytes = calloc(1, (size_t)(ring->length + slack_bytes));
    snapshot->verdict = calloc(1, (size_t)ring->entries.count + 1);
    if (snapshot->bytes && snapshot->verdict) {
        extract_block_advise(snapshot->bytes, (size_t)(ring->length + slack_bytes));
        return EXTRACT_OK;
    }
    extract_snapshot_free(snapshot);
    return extract_error_set(error, EXTRACT_NOMEM, "trace ring", NULL,
                             "out of memory for %llu bytes", (unsigned long long)ring->length);
}

static void count_verdicts(struct extract_snapshot *snapshot)
{
    for (uint32_t slot = 0; slot < snapshot->ring.entries.count; slot++)
        snapshot->counts[snapshot->verdict[slot]]++;
}

static enum extract_code take_slot_ring(struct extract_snapshot *snapshot,
                                        struct extract_memory *memory, struct extract_error *error)
{
    const struct extract_ring *ring = &snapshot->ring;
    enum extract_code code = extract_snapshot_allocate(snapshot, memory, 0, error);

    if (code)
        return code;
    memcpy(snapshot->bytes, ring->header, ring->header_bytes);
    if (!copy_and_validate(snapshot, memory, extract_memory_is_running(memory)))
        copy_and_validate(snapshot, memory, true);
    return EXTRACT_OK;
}

enum extract_code extract_snapshot_take(struct extract_snapshot *snapshot,
                                        struct extract_memory *memory,
                                        const struct extract_ring *ring,
                                        struct extract_error *error)
{
    memset(snapshot, 0, sizeof *snapshot);
    snapshot->ring = *ring;
    enum extract_code code =
        (ring->format->stream ? extract_stream_take : take_slot_ring)(snapshot, memory, error);
    if (code)
        return code;
    count_verdicts(snapshot);
    snapshot->cost = extract_memory_cost(memory);
    snapshot->is_part = extract_memory_is_part(memory);
    if (!ring->format->stream &&
        snapshot->counts[EXTRACT_UNREADABLE_ENTRY] == ring->entries.count) {
        extract_snapshot_free(snapshot);
        return extract_snapshot_unreadable(ring, error);
    }
    return EXTRACT_OK;
}

void extract_snapshot_free(struct extract_snapshot *snapshot)
{
    free(snapshot->bytes);
    free(snapshot->verdict);
    free(snapshot->index);
    memset(snapshot, 0, sizeof *snapshot);
}

uint32_t extract_snapshot_valid(const struct extract_snapshot *snapshot)
{
    return snapshot->counts[EXTRACT_GOOD] + snapshot->counts[EXTRACT_PROVISIONAL];
}

uint32_t extract_snapshot_damaged(const struct extract_snapshot *snapshot)
{
    return snapshot->ring.entries.count - extract_snapshot_valid(snapshot) -
           snapshot->counts[EXTRACT_UNUSED];
}
