// SPDX-License-Identifier: MIT
// follow: how a terminated ring (RKH) is located, read and verified. It is a byte ring whose
// entries end in a terminator and whose header counts nothing, so the writer's pointer is all that
// shows what is new.
//
// The writer stores one byte after the other. The newest bytes that a poll reads are the anchor of
// the next poll. A writer that wraps overwrites them last: if they are unchanged before and after a
// read, nothing that was read was overwritten in between. If they have changed, the newest bytes
// are taken, as many as can be verified. The numbers of the entries before and after the gap show
// how many are missing, modulo 256.
//
// Entries are not decoded here. New bytes go to the log as they are stored, and the reader of the
// log finds the entries in them. Only terminators are counted, and only the numbers of the entries
// before and after a gap are decoded.
#include "base/cursor.h"
#include "follow/follow_room.h"
#include "memory/memory_hooks.h"
#include <stdlib.h>
#include <string.h>

enum {
    MIN_ARRAY = 64,        // bytes
    TRIES = 4,             // to read the newest, each at most half as much as the one before
    EMPTY_BYTES = 128,     // zeros at the array's end that no entry is likely to hold
    MAX_BLOCK_BYTES = 2048 // of a log: they fit into the sections of any
};

// ---- locate, read and verify ----

static const struct extract_terminated_ring *terminated_of(const struct extract_recorder *r)
{
    return r->ring.format->stream->terminated;
}

static bool can_follow(const struct extract_ring *ring)
{
    const struct extract_stream *stream = ring->format->stream;
    uint64_t size = ring->entries.end - ring->entries.start;
    unsigned width = 0;

    return stream && stream->terminated && size >= MIN_ARRAY && size < UINT32_MAX / 2 &&
           stream->terminated->pointer(ring, &width) && width && width <= 8;
}

// Reads the writer's pointer, as an offset in the array.
static enum ring_result read_head(struct extract_recorder *r, uint32_t *head)
{
    unsigned width;
    uint8_t raw[8];
    uint64_t address = terminated_of(r)->pointer(&r->ring, &width);

    if (!record_read(r, address, raw, width))
        return RING_NO_RESPONSE;
    struct extract_cursor c = extract_cursor_make(raw, width, r->ring.byte_order);
    uint64_t pointer = width == 2 ? extract_cursor_u16(&c) : extract_cursor_word(&c, width);
    uint64_t offset = pointer - r->ring.entries.start;
    record_note_wall(r);
    if (pointer < r->ring.entries.start || offset > bytes_size(r))
        return RING_RESTARTED;
    *head = (uint32_t)offset % bytes_size(r); // after the last byte, it is about to wrap
    return RING_OK;
}

static enum ring_result locate_terminated(struct extract_recorder *r)
{
    struct byte_ring *b = &r->bytes;
    uint32_t size = bytes_size(r);
    enum ring_result result = read_head(r, &b->head);

    if (result == RING_NO_RESPONSE)
        return result;
    record_note_located(r);
    if (result || r->phase != RECORD_FOLLOWING)
        return result;
    uint32_t fill = (uint32_t)((b->head + size - b->place % size) % size);
    record_note_fill(r, fill);
    if (!fill)
        poll_interval_note_head(&r->poll_interval, r->located_ns, b->place);
    return RING_OK;
}

static enum ring_result read_terminated(struct extract_recorder *r, unsigned part,
                                        struct ring_span *span)
{
    struct byte_ring *b = &r->bytes;
    uint32_t size = bytes_size(r), anchor = b->anchor_bytes;

    if (r->phase != RECORD_FOLLOWING)
        return RING_RESYNC;
    uint32_t fill = (uint32_t)((b->head + size - b->place % size) % size);
    if (part || (!fill && !r->must_verify_anchor))
        return RING_NOTHING_NEW;
    *span = (struct ring_span){.first = b->place,
                               .asked = fill,
                               .count = fill,
                               .anchor_bytes = anchor,
                               .data = r->buffer + anchor};
    return bytes_read(r, b->place + size - anchor, anchor + fill, r->buffer) ? RING_OK
                                                                             : RING_NO_RESPONSE;
}

// Returns whether the bytes before a place are still those that were read there.
static bool is_unchanged(struct extract_recorder *r, uint64_t place, const uint8_t *bytes,
                         uint32_t count)
{
    uint8_t now[BYTES_MAX_ANCHOR];

    return bytes_read(r, place - count, count, now) && memcmp(now, bytes, count) == 0;
}

// Distinguishes a lap from an emptied ring. An emptied array is zero from the write position to its
// end. A full array is not, except for a short rest: every entry ends in a byte that is not zero.
static enum ring_result lapped_or_emptied(struct extract_recorder *r)
{
    uint32_t left = bytes_size(r) - r->bytes.head;

    if (left < EMPTY_BYTES)
        return RING_RESYNC;
    if (!bytes_read(r, r->bytes.head, left, r->buffer))
        return RING_NO_RESPONSE;
    for (uint32_t i = 0; i < left; i++)
        if (r->buffer[i])
            return RING_RESYNC;
    return RING_RESTARTED;
}

static enum ring_result verify_terminated(struct extract_recorder *r, struct ring_span *span)
{
    struct byte_ring *b = &r->bytes;
    uint32_t anchor = span->anchor_bytes;

    if (memcmp(span->data - anchor, b->anchor, anchor) == 0 &&
        is_unchanged(r, b->place + bytes_size(r), b->anchor, anchor))
        return RING_OK;
    return lapped_or_emptied(r);
}

// ---- entries ----

// Decodes the number of the entry that ends at `end`; -1: none. What comes before `bytes` is in
// the frame.
static int number_of(struct extract_recorder *r, const uint8_t *bytes, uint32_t from, uint32_t end)
{
    struct byte_ring *b = &r->bytes;
    uint32_t length = end - from;

    if (!b->is_aligned || length > BYTES_ENTRY_CAPACITY - b->frame_bytes)
        return -1;
    if (!b->frame_bytes)
        return terminated_of(r)->number(&r->ring, bytes + from, length);
    memcpy(b->frame + b->frame_bytes, bytes + from, length);
    return terminated_of(r)->number(&r->ring, b->frame, b->frame_bytes + length);
}

// Walks over the entries in new bytes. Returns how many are missing before them by their numbers,
// modulo those; -1: not known.
static int count_missing(struct extract_recorder *r, const uint8_t *bytes, uint32_t length)
{
    struct byte_ring *b = &r->bytes;
    uint32_t from = 0, before = 0;
    int missing = -1;

    for (uint32_t i = 0; i < length; i++) {
        if (bytes[i] != terminated_of(r)->terminator)
            continue;
        int number = number_of(r, bytes, from, i);
        if (number >= 0 && b->number >= 0 && missing < 0)
            missing = (int)((unsigned)(number - b->number - 1) - before) & (BYTES_NUMBERS - 1);
        if (number >= 0)
            b->number = number;
        before += b->is_aligned && i > from;
        from = i + 1;
        b->frame_bytes = 0;
        b->is_aligned = true;
    }
    uint32_t rest = length - from;
    b->is_aligned &= rest <= BYTES_ENTRY_CAPACITY - b->frame_bytes;
    if (b->is_aligned) {
        memcpy(b->frame + b->frame_bytes, bytes + from, rest);
        b->frame_bytes += rest;
    }
    return missing;
}

static enum extract_code put_bytes(struct extract_recorder *r, const uint8_t *bytes,
                                   uint32_t length, struct extract_error *error)
{
    struct byte_ring *b = &r->bytes;
    enum extract_code code = EXTRACT_OK;

    bytes_set_anchor(b, bytes, length);
    b->bytes += length;
    poll_interval_note_head(&r->poll_interval, r->located_ns, b->place);
    for (uint32_t at = 0; at < length && !code; at += MAX_BLOCK_BYTES) {
        uint32_t part = length - at < MAX_BLOCK_BYTES ? length - at : MAX_BLOCK_BYTES, count = 0;
        for (uint32_t i = 0; i < part; i++)
            count += bytes[at + i] == terminated_of(r)->terminator;
        b->entries += count;
        code = out_bytes(&r->out, bytes + at, part, count, error);
    }
    return code;
}

static enum extract_code emit_terminated(struct extract_recorder *r, struct ring_span *span,
                                         struct extract_error *error)
{
    r->must_verify_anchor = false;
    r->bytes.place += span->count;
    count_missing(r, span->data, span->count);
    return put_bytes(r, span->data, span->count, error);
}

// ---- resync ----

// The newest bytes of the ring.
struct newest {
    uint32_t head;        // the write position after them
    const uint8_t *bytes; // in the recorder's buffer
    uint32_t length;
    bool has_not_wrapped; // they are all that was ever written
};

// Leaves out what was never written: zeros up to the terminator that begins a stream, at the
// array's start.
static void trim_unwritten(const struct extract_recorder *r, struct newest *newest)
{
    uint32_t unused = 0;

    while (unused < newest->length && !newest->bytes[unused])
        unused++;
    newest->has_not_wrapped = unused && newest->length - unused == newest->head && newest->head &&
                              newest->bytes[unused] == terminated_of(r)->terminator;
    if (!newest->has_not_wrapped)
        return;
    newest->bytes += unused;
    newest->length -= unused;
}

// Reads the newest bytes before newest->head, and verifies which of them were not overwritten in
// the meantime. A length of 0: the writer was too fast.
static enum ring_result read_newest(struct extract_recorder *r, struct newest *newest)
{
    uint32_t size = bytes_size(r), head;

    newest->length = 0;
    for (unsigned i = 0; i < TRIES; i++) {
        uint32_t length = size >> i, at = newest->head;
        uint8_t anchor[BYTES_MAX_ANCHOR];
        if (!bytes_read(r, (uint64_t)at + size - BYTES_MAX_ANCHOR, BYTES_MAX_ANCHOR, anchor) ||
            !bytes_read(r, (uint64_t)at + size - length, length, r->buffer))
            return RING_NO_RESPONSE;
        enum ring_result result = read_head(r, &head);
        if (result)
            return result;
        bool is_anchored = is_unchanged(r, (uint64_t)at + size, anchor, BYTES_MAX_ANCHOR);
        // The byte at the pointer is stored before the pointer moves.
        uint32_t passed = (head - at + size) % size + extract_memory_is_running(r->memory);
        uint32_t drop = passed + length > size ? passed + length - size : 0;
        if (is_anchored && drop < length) {
            newest->bytes = r->buffer + drop;
            newest->length = length - drop;
            break;
        }
        newest->head = head;
    }
    trim_unwritten(r, newest);
    return RING_OK;
}

// Continues at the newest bytes. Places stay right modulo the array's size; how often the writer
// filled the array in between is not known.
static enum extract_code resynchronize_terminated(struct extract_recorder *r,
                                                  enum ring_result *result,
                                                  struct extract_error *error)
{
    struct byte_ring *b = &r->bytes;
    struct newest newest = {.head = b->head};
    uint32_t size = bytes_size(r);
    bool had_bytes = b->anchor_bytes;
    enum extract_code code = EXTRACT_OK;

    *result = read_newest(r, &newest);
    if (*result)
        return EXTRACT_OK;
    bool had_failed = r->resync_pending;
    r->resync_pending = !newest.length;
    if (r->resync_pending)
        return EXTRACT_OK;
    // Before the first entry could be read, everything in the ring was overwritten.
    r->ring_was_replaced |= had_failed && !had_bytes;
    uint32_t apart = (uint32_t)((newest.head + size - b->place % size) % size);
    b->frame_bytes = b->anchor_bytes = 0;
    b->is_aligned = r->status.has_all = newest.has_not_wrapped;
    b->place += had_bytes ? apart + size : newest.head;
    // A place that is known modulo the array's size does not show the load.
    poll_interval_start(&r->poll_interval);
    int missing = count_missing(r, newest.bytes, newest.length);
    if (had_bytes) {
        r->status.laps++;
        code = out_loss(&r->out, EXTRACT_LOSS_LAPPED, missing < 0 ? 0 : (unsigned)missing,
                        missing < 0 ? EXTRACT_LOG_ANY_MORE : BYTES_NUMBERS, error);
    } else if (r->ring_was_replaced && (r->gap_is_unknown || !newest.has_not_wrapped)) {
        code = out_loss(&r->out, r->gap_is_unknown ? EXTRACT_LOSS_RESET : EXTRACT_LOSS_LAPPED, 0,
                        EXTRACT_LOG_ANY_MORE, error);
    }
    r->phase = RECORD_FOLLOWING;
    r->gap_is_unknown = false;
    return code ? code : put_bytes(r, newest.bytes, newest.length, error);
}

// ---- start and end ----

// Prepares the ring, and finds out from its content how its entries are laid out.
static enum extract_code start_terminated(struct extract_recorder *r, struct extract_error *error)
{
    struct newest newest = {0};
    enum extract_code code = bytes_start(r, error);

    if (code || read_head(r, &newest.head) || read_newest(r, &newest) || !newest.length)
        return code;
    struct extract_snapshot snapshot = {.ring = r->ring, .bytes = (uint8_t *)newest.bytes};
    struct extract_ring *ring = &snapshot.ring;
    ring->address = ring->entries.start;
    ring->length = newest.length;
    ring->entries.end = ring->entries.start + newest.length;
    if (!ring->format->stream->resolve_layout(&snapshot, 0, newest.length, NULL))
        r->ring.rkh = ring->rkh;
    return EXTRACT_OK;
}

static enum extract_code conclude_terminated(struct extract_recorder *r, enum ring_result *result,
                                             struct extract_error *error)
{
    (void)r;
    (void)result;
    (void)error;
    return EXTRACT_OK;
}

// The target does not show whether its trace is disabled.
static bool terminated_is_drained(const struct extract_recorder *r)
{
    (void)r;
    return false;
}

// What was lost with the ring is reported once the new ring is found.
static enum extract_code report_terminated_restart(struct extract_recorder *r,
                                                   struct extract_error *error)
{
    (void)r;
    (void)error;
    return EXTRACT_OK;
}

static enum extract_code report_unread_terminated(struct extract_recorder *r, bool can_read,
                                                  struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    (void)can_read;

    if (r->resync_pending)
        code = out_loss(&r->out, EXTRACT_LOSS_LAPPED, 0, EXTRACT_LOG_ANY_MORE, error);
    return code ? code : bytes_report_gone(r, error);
}

static uint64_t terminated_position(const struct extract_recorder *r)
{
    int number = r->bytes.number;

    return number >= 0 ? UINT64_C(1) + (uint32_t)(number + 1) % BYTES_NUMBERS : 0;
}

const struct ring_kind record_terminated_rings = {.counts_bytes = true,
                                                  .can_follow = can_follow,
                                                  .start = start_terminated,
                                                  .locate = locate_terminated,
                                                  .read = read_terminated,
                                                  .verify = verify_terminated,
                                                  .emit = emit_terminated,
                                                  .resynchronize = resynchronize_terminated,
                                                  .conclude = conclude_terminated,
                                                  .is_drained = terminated_is_drained,
                                                  .report_restart = report_terminated_restart,
                                                  .report_unread = report_unread_terminated,
                                                  .position = terminated_position};
