// SPDX-License-Identifier: MIT
// snapshot: what is new in a live ring, and its proof. In: reads. Out: entries under their numbers.
#include "base/cursor.h"
#include "snapshot/delta.h"

static const struct extract_slot_ring *follow_of(const struct extract_delta *delta)
{
    return delta->ring->format->slots;
}

static uint32_t slots_of(const struct extract_delta *delta)
{
    return delta->ring->entries.count;
}

void extract_delta_start(struct extract_delta *delta, const struct extract_ring *ring,
                         uint64_t head)
{
    delta->ring = ring;
    delta->head = head;
    delta->placed = delta->anchored = delta->proven = delta->stopped = false;
}

static void place(struct extract_delta *delta, uint64_t at)
{
    uint32_t slots = slots_of(delta);
    if (!delta->placed) {
        delta->phase = (uint32_t)((at % slots + slots - delta->head % slots) % slots);
        delta->placed = true;
        return;
    }
    uint64_t before = (delta->head + delta->phase) % slots;
    delta->head += (at % slots + slots - before) % slots;
}

enum extract_delta_result extract_delta_look(struct extract_delta *delta)
{
    const struct extract_ring *ring = delta->ring;
    bool live = !delta->stopped;
    uint8_t raw[8];
    unsigned bytes;
    size_t got;
    uint64_t at, address = follow_of(delta)->head_address(ring, live, &bytes);
    if (!delta->read(delta->context, address, raw, bytes, &got))
        return EXTRACT_DELTA_MUTE;
    struct extract_cursor c = extract_cursor_make(raw, bytes, ring->byte_order);
    switch (follow_of(delta)->head(ring, live, extract_cursor_word(&c, bytes), &at)) {
    case EXTRACT_HEAD_OFF:
        return EXTRACT_DELTA_OFF;
    case EXTRACT_HEAD_WILD:
        return EXTRACT_DELTA_WILD;
    default:
        place(delta, at);
        return EXTRACT_DELTA_OK;
    }
}

// The slots of entries [first, first + count), which do not pass the ring's end.
static size_t fetch_row(struct extract_delta *delta, uint64_t first, uint32_t count,
                        uint8_t *buffer)
{
    const struct extract_slots *entries = &delta->ring->entries;
    uint64_t slot = (first + delta->phase) % entries->count;
    size_t got = 0;
    delta->read(delta->context, entries->start + slot * entries->slot_bytes, buffer,
                (size_t)count * entries->slot_bytes, &got);
    return got;
}

uint32_t extract_delta_fetch(struct extract_delta *delta, uint64_t first, uint32_t count,
                             uint8_t *buffer)
{
    uint32_t slots = slots_of(delta), bytes = delta->ring->entries.slot_bytes;
    uint32_t left = slots - (uint32_t)((first + delta->phase) % slots); // up to the ring's end
    uint32_t row = count < left ? count : left;
    size_t got = row ? fetch_row(delta, first, row, buffer) : 0;
    if (count > row && got == (size_t)row * bytes)
        got += fetch_row(delta, first + row, count - row, buffer + got);
    return (uint32_t)(got / bytes);
}

// Whether two readings of a slot are of one entry. When stamps do not move, all words must tell,
// but for those that services fill in. What is not proven may be half-written in either reading:
// then all words must be the same.
static bool is_same(const struct extract_delta *delta, const uint8_t *before, const uint8_t *after)
{
    const struct extract_ring *ring = delta->ring;
    uint32_t late = follow_of(delta)->late_words(ring, before), word = ring->word_bytes;
    if (!delta->proven)
        return !memcmp(before, after, ring->entries.slot_bytes);
    if (!ring->format->slots->is_same(ring, before, after))
        return false;
    for (uint32_t i = 0; delta->still && i < ring->entries.slot_bytes / word; i++)
        if (!(late >> i & 1) && memcmp(before + i * word, after + i * word, word))
            return false;
    return true;
}

enum extract_delta_result extract_delta_prove(struct extract_delta *delta)
{
    const struct extract_slots *entries = &delta->ring->entries;
    uint64_t slot = (delta->number + delta->phase) % entries->count;
    uint8_t again[EXTRACT_ENTRY_MOST];
    bool whole = delta->still || !delta->proven;
    size_t got, length = follow_of(delta)->anchor_words * delta->ring->word_bytes;
    length = whole ? entries->slot_bytes : length;
    if (!delta->read(delta->context, entries->start + slot * entries->slot_bytes, again, length,
                     &got))
        return EXTRACT_DELTA_MUTE;
    memcpy(again + length, delta->anchor + length, entries->slot_bytes - length);
    return is_same(delta, delta->anchor, again) ? EXTRACT_DELTA_OK : EXTRACT_DELTA_CHANGED;
}

void extract_delta_set_anchor(struct extract_delta *delta, uint64_t number, const uint8_t *entry)
{
    memcpy(delta->anchor, entry, delta->ring->entries.slot_bytes);
    delta->number = number;
    delta->anchored = delta->proven = true;
}

enum extract_delta_result extract_delta_newest(struct extract_delta *delta)
{
    uint8_t newest[EXTRACT_ENTRY_MOST];
    if (extract_delta_fetch(delta, delta->head - 1, 1, newest) != 1)
        return EXTRACT_DELTA_UNREAD;
    enum extract_delta_result result = EXTRACT_DELTA_CHANGED;
    if (delta->anchored && delta->proven)
        result = extract_delta_prove(delta);
    if (result == EXTRACT_DELTA_MUTE)
        return result;
    extract_delta_set_anchor(delta, delta->head - 1, newest);
    delta->proven = result == EXTRACT_DELTA_OK;
    return result;
}

// Of a span in front of the anchor, entries whose slots the writer has not come to are whole: it
// has not lapped the reader, since the anchor stands.
static enum extract_delta_result prove_front(struct extract_delta *delta,
                                             struct extract_delta_span *span)
{
    enum extract_delta_result result = extract_delta_look(delta);
    result = result ? result : extract_delta_prove(delta);
    if (result)
        return result;
    // The slot at the writer's place may be half-written.
    uint64_t slots = slots_of(delta);
    uint64_t whole = delta->head >= slots ? delta->head - slots + 1 : 0;
    if (delta->number < whole)
        return EXTRACT_DELTA_CHANGED;
    delta->proven = true;
    uint64_t gone = whole > span->first ? whole - span->first : 0;
    gone = gone < span->count ? gone : span->count;
    span->first += gone;
    span->count -= (uint32_t)gone;
    span->entries += gone * delta->ring->entries.slot_bytes;
    return EXTRACT_DELTA_OK;
}

enum extract_delta_result extract_delta_take(struct extract_delta *delta, uint64_t first,
                                             uint32_t count, uint8_t *buffer,
                                             struct extract_delta_span *span)
{
    *span = (struct extract_delta_span){first, 0, buffer};
    uint32_t got = extract_delta_fetch(delta, first, count, buffer);
    span->count = got;
    bool front = delta->number >= first + count || !delta->proven;
    enum extract_delta_result result =
        front ? prove_front(delta, span) : extract_delta_prove(delta);
    if (result)
        span->count = 0;
    if (!result && got < count)
        result = EXTRACT_DELTA_UNREAD;
    return result;
}

void extract_delta_shift(struct extract_delta *delta, uint64_t distance)
{
    delta->head += distance;
    delta->number += distance;
}
