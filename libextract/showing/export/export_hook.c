// SPDX-License-Identifier: MIT
// export: writes a hook-word ring as a file: control block and buffer as they were in memory. The
// entries of a log become a ring that is large enough for them.
//
// Source: docs/formats/hook.md, "The file".
#include "export/export_room.h"
#include "formats/hook/hook.h"
#include <stdlib.h>

struct image {
    uint8_t *bytes;
    uint32_t size; // bytes of the buffer
    enum extract_byte_order order;
};

static void put_word(struct image *image, enum extract_hooks_word at, uint64_t value)
{
    extract_store(image->bytes + at, (uint32_t)value, 4, image->order);
}

// Writes the clock that the events have. The control block may differ: a target may change its
// clock while it is read, and all entries with narrow timestamps may have been blanked.
static void put_clock(struct image *image, const struct extract_ring *ring)
{
    uint32_t bits = 0;

    while (bits < 64 && ring->timer_mask >> bits)
        bits++;
    put_word(image, EXTRACT_HOOKS_AT_CLOCK_HZ, ring->hz);
    put_word(image, EXTRACT_HOOKS_AT_CLOCK_BITS, bits);
}

// Blanks bytes that hold no valid entry, so that reading the file gives the same events. They may
// be more than the length of one entry can express.
static void blank_bytes(struct image *image, uint32_t at, uint32_t length)
{
    while (length) {
        uint32_t part = length < HOOK_MAX_FRAME ? length : HOOK_MAX_FRAME;
        uint8_t *to = image->bytes + EXTRACT_HOOKS_HEADER + at % image->size;
        extract_store(to, HOOK_FRAME_NONE | part, 4, image->order);
        at += part;
        length -= part;
    }
}

// Writes head and tail by the entries of the copy, which may not hold all that the target's words
// claim, and blanks the entries that are not valid.
static void put_entries(struct image *image, const struct extract_snapshot *snapshot)
{
    struct extract_ring_counters counters;
    uint32_t length = 0;

    hook_read_counters(&snapshot->ring, image->bytes, &counters);
    uint32_t head = counters.head / 4 * 4;
    for (uint32_t i = 0; i < snapshot->ring.entries.count; i++) {
        const struct extract_extent *place = &snapshot->index[i];
        if (snapshot->verdict[i] > EXTRACT_PROVISIONAL)
            blank_bytes(image, place->at, place->length);
        length += place->length;
    }
    put_word(image, EXTRACT_HOOKS_AT_HEAD, head);
    put_word(image, EXTRACT_HOOKS_AT_TAIL, head - length);
}

// Makes the file of a ring, as it was copied.
static bool copy_ring(struct image *image, const struct extract_snapshot *snapshot)
{
    const struct extract_ring *ring = &snapshot->ring;

    image->size = (uint32_t)(ring->entries.end - ring->entries.start);
    image->bytes = malloc((size_t)EXTRACT_HOOKS_HEADER + image->size);
    if (!image->bytes)
        return false;
    memcpy(image->bytes, snapshot->bytes, (size_t)EXTRACT_HOOKS_HEADER + image->size);
    put_entries(image, snapshot);
    return true;
}

// Makes the file of a log's entries, as a ring that is large enough for them.
static bool copy_recording(struct image *image, const struct extract_snapshot *snapshot)
{
    uint32_t at = 0, count = snapshot->ring.entries.count;

    image->size = HOOK_MIN_BUFFER;
    while (image->size < snapshot->ring.length)
        image->size *= 2;
    image->bytes = calloc(1, (size_t)EXTRACT_HOOKS_HEADER + image->size);
    if (!image->bytes)
        return false;
    memcpy(image->bytes, snapshot->ring.header, EXTRACT_HOOKS_HEADER);
    for (uint32_t i = 0; i < count; i++) {
        const struct extract_extent *place = &snapshot->index[i];
        if (snapshot->verdict[i] > EXTRACT_PROVISIONAL)
            blank_bytes(image, at, place->length);
        else
            memcpy(image->bytes + EXTRACT_HOOKS_HEADER + at, snapshot->bytes + place->offset,
                   place->length);
        at += place->length;
    }
    put_word(image, EXTRACT_HOOKS_AT_BUFFER_BYTES, image->size);
    put_word(image, EXTRACT_HOOKS_AT_TAIL, 0);
    put_word(image, EXTRACT_HOOKS_AT_HEAD, at);
    put_word(image, EXTRACT_HOOKS_AT_RECORDS, count);
    put_word(image, EXTRACT_HOOKS_AT_LOST,
             snapshot->unwritten < UINT32_MAX ? snapshot->unwritten : UINT32_MAX);
    return true;
}

enum extract_code export_hook(struct extract_text *text, const struct extract_trace *trace,
                              struct extract_error *error)
{
    const struct extract_snapshot *snapshot = extract_trace_snapshot(trace);
    const struct extract_ring *ring = &snapshot->ring;
    struct image image = {.order = ring->byte_order};
    bool is_ring = ring->address != ring->entries.start;

    if (!(is_ring ? copy_ring : copy_recording)(&image, snapshot))
        return extract_error_set(error, EXTRACT_NOMEM, "hook ring", NULL, "out of memory");
    uint64_t address = ring->entries.start - EXTRACT_HOOKS_HEADER;
    put_clock(&image, ring);
    put_word(&image, EXTRACT_HOOKS_AT_ADDRESS, address);
    put_word(&image, EXTRACT_HOOKS_AT_ADDRESS + 4, address >> 32);
    extract_text_put(text, (const char *)image.bytes, (size_t)EXTRACT_HOOKS_HEADER + image.size);
    free(image.bytes);
    return text->code ? extract_error_set(error, text->code, "hook ring", NULL, "out of memory")
                      : EXTRACT_OK;
}
