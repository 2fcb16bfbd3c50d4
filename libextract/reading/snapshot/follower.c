// SPDX-License-Identifier: MIT
// snapshot: the ring follower (follower.h): reads new entries of a live slot ring, and proves them.
#include "base/cursor.h"
#include "snapshot/follower.h"

static const struct extract_slot_ring *follow_of(const struct extract_follower *follower)
{
    return follower->ring->format->slots;
}

static uint32_t slots_of(const struct extract_follower *follower)
{
    return follower->ring->entries.count;
}

void extract_follower_start(struct extract_follower *follower, const struct extract_ring *ring,
                            uint64_t head)
{
    follower->ring = ring;
    follower->head = head;
    follower->placed = follower->anchored = follower->proven = follower->stopped = false;
}

static void place(struct extract_follower *follower, uint64_t at)
{
    uint32_t slots = slots_of(follower);

    if (!follower->placed) {
        follower->phase = (uint32_t)((at % slots + slots - follower->head % slots) % slots);
        follower->placed = true;
        return;
    }
    uint64_t before = (follower->head + follower->phase) % slots;
    follower->head += (at % slots + slots - before) % slots;
}

enum extract_follower_result extract_follower_poll(struct extract_follower *follower)
{
    const struct extract_ring *ring = follower->ring;
    bool live = !follower->stopped;
    uint8_t raw[8];
    unsigned bytes;
    size_t got;
    uint64_t at, address = follow_of(follower)->head_address(ring, live, &bytes);
    if (!follower->read(follower->context, address, raw, bytes, &got))
        return EXTRACT_FOLLOWER_NO_RESPONSE;
    struct extract_cursor c = extract_cursor_make(raw, bytes, ring->byte_order);
    switch (follow_of(follower)->head(ring, live, extract_cursor_word(&c, bytes), &at)) {
    case EXTRACT_HEAD_OFF:
        return EXTRACT_FOLLOWER_TRACE_DISABLED;
    case EXTRACT_HEAD_WILD:
        return EXTRACT_FOLLOWER_BAD_HEAD;
    default:
        place(follower, at);
        return EXTRACT_FOLLOWER_OK;
    }
}

// Reads the slots of entries [first, first + count), which do not pass the ring's end. Returns the
// number of bytes.
static size_t fetch_row(struct extract_follower *follower, uint64_t first, uint32_t count,
                        uint8_t *buffer)
{
    const struct extract_slots *entries = &follower->ring->entries;
    uint64_t slot = (first + follower->phase) % entries->count;
    size_t got = 0;

    follower->read(follower->context, entries->start + slot * entries->slot_bytes, buffer,
                   (size_t)count * entries->slot_bytes, &got);
    return got;
}

uint32_t extract_follower_fetch(struct extract_follower *follower, uint64_t first, uint32_t count,
                                uint8_t *buffer)
{
    uint32_t slots = slots_of(follower), bytes = follower->ring->entries.slot_bytes;
    uint32_t left = slots - (uint32_t)((first + follower->phase) % slots); // up to the ring's end
    uint32_t row = count < left ? count : left;
    size_t got = row ? fetch_row(follower, first, row, buffer) : 0;

    if (count > row && got == (size_t)row * bytes)
        got += fetch_row(follower, first + row, count - row, buffer + got);
    return (uint32_t)(got / bytes);
}

// Returns whether two readings of a slot show the same entry. If timestamps do not change, all
// words except those that services fill in must be the same. An entry that is not proven may be
// half-written in either reading; then all words must be the same.
static bool is_same(const struct extract_follower *follower, const uint8_t *before,
                    const uint8_t *after)
{
    const struct extract_ring *ring = follower->ring;
    uint32_t late = follow_of(follower)->late_words(ring, before), word = ring->word_bytes;

    if (!follower->proven)
        return memcmp(before, after, ring->entries.slot_bytes) == 0;
    if (!ring->format->slots->is_same(ring, before, after))
        return false;
    for (uint32_t i = 0; follower->still && i < ring->entries.slot_bytes / word; i++)
        if (!(late >> i & 1) && memcmp(before + i * word, after + i * word, word))
            return false;
    return true;
}

enum extract_follower_result extract_follower_verify(struct extract_follower *follower)
{
    const struct extract_slots *entries = &follower->ring->entries;
    uint64_t slot = (follower->number + follower->phase) % entries->count;
    uint8_t again[EXTRACT_MAX_ENTRY];
    bool whole = follower->still || !follower->proven;
    size_t got, length = follow_of(follower)->anchor_words * follower->ring->word_bytes;
    length = whole ? entries->slot_bytes : length;
    if (!follower->read(follower->context, entries->start + slot * entries->slot_bytes, again,
                        length, &got))
        return EXTRACT_FOLLOWER_NO_RESPONSE;
    memcpy(again + length, follower->anchor + length, entries->slot_bytes - length);
    return is_same(follower, follower->anchor, again) ? EXTRACT_FOLLOWER_OK
                                                      : EXTRACT_FOLLOWER_ANCHOR_CHANGED;
}

void extract_follower_set_anchor(struct extract_follower *follower, uint64_t number,
                                 const uint8_t *entry)
{
    memcpy(follower->anchor, entry, follower->ring->entries.slot_bytes);
    follower->number = number;
    follower->anchored = follower->proven = true;
}

enum extract_follower_result extract_follower_anchor_newest(struct extract_follower *follower)
{
    uint8_t newest[EXTRACT_MAX_ENTRY];
    if (extract_follower_fetch(follower, follower->head - 1, 1, newest) != 1)
        return EXTRACT_FOLLOWER_READ_FAILED;
    enum extract_follower_result result = EXTRACT_FOLLOWER_ANCHOR_CHANGED;
    if (follower->anchored && follower->proven)
        result = extract_follower_verify(follower);
    if (result == EXTRACT_FOLLOWER_NO_RESPONSE)
        return result;
    extract_follower_set_anchor(follower, follower->head - 1, newest);
    follower->proven = result == EXTRACT_FOLLOWER_OK;
    return result;
}

// Verifies a span before the anchor. Entries are complete if the writer has not reached their
// slots: it has not lapped the reader, because the anchor is unchanged.
static enum extract_follower_result verify_front(struct extract_follower *follower,
                                                 struct extract_follower_span *span)
{
    enum extract_follower_result result = extract_follower_poll(follower);

    result = result ? result : extract_follower_verify(follower);
    if (result)
        return result;
    // The slot at the write position may be half-written.
    uint64_t slots = slots_of(follower);
    uint64_t whole = follower->head >= slots ? follower->head - slots + 1 : 0;
    if (follower->number < whole)
        return EXTRACT_FOLLOWER_ANCHOR_CHANGED;
    follower->proven = true;
    uint64_t gone = whole > span->first ? whole - span->first : 0;
    gone = gone < span->count ? gone : span->count;
    span->first += gone;
    span->count -= (uint32_t)gone;
    span->entries += gone * follower->ring->entries.slot_bytes;
    return EXTRACT_FOLLOWER_OK;
}

enum extract_follower_result extract_follower_verify_span(struct extract_follower *follower,
                                                          uint32_t requested,
                                                          struct extract_follower_span *span)
{
    bool front = follower->number >= span->first + requested || !follower->proven;
    enum extract_follower_result result =
        front ? verify_front(follower, span) : extract_follower_verify(follower);

    if (result)
        span->count = 0;
    return result;
}

enum extract_follower_result extract_follower_read(struct extract_follower *follower,
                                                   uint64_t first, uint32_t count, uint8_t *buffer,
                                                   struct extract_follower_span *span)
{
    uint32_t got = extract_follower_fetch(follower, first, count, buffer);

    *span = (struct extract_follower_span){first, got, buffer};
    enum extract_follower_result result = extract_follower_verify_span(follower, count, span);
    return !result && got < count ? EXTRACT_FOLLOWER_READ_FAILED : result;
}

void extract_follower_shift(struct extract_follower *follower, uint64_t distance)
{
    follower->head += distance;
    follower->number += distance;
}
