// SPDX-License-Identifier: MIT
// follow: follows a ring of bytes that has no counts (RKH), by the writer's pointer alone. It emits
// new bytes as they are stored, and a loss where the writer has lapped the reader.
//
// The writer stores one byte after the other. The newest bytes that a poll reads are the anchor of
// the next poll. A writer that wraps overwrites them last: if they are unchanged before and after a
// read, nothing that was read was overwritten in between. If they have changed, the newest bytes
// are taken, as many as can be verified. The numbers of the entries on both sides of the gap tell
// how many are missing, modulo 256.
#include "base/cursor.h"
#include "follow/internal.h"
#include <stdlib.h>
#include <string.h>

enum {
    ANCHOR = 32,       // bytes
    LEAST = 64,        // bytes of an array
    TRIES = 4,         // to take the newest, each of half as much as the one before, or less
    ENTRY_ROOM = 4096, // of one whose number is asked for
    EMPTY_BYTES = 128, // zeros at the array's end that no entry is likely to hold
    PROBE_BYTES = 4096,
    PROBE_WORDS = 4,   // bytes of a word, or two
    BLOCK_BYTES = 2048 // of a log: they fit into the sections of any
};

uint32_t bytes_size(const struct extract_recorder *r)
{
    return (uint32_t)(r->ring.entries.end - r->ring.entries.start);
}

bool bytes_can_follow(const struct extract_ring *ring)
{
    const struct extract_stream *stream = ring->format->stream;
    unsigned bytes = 0;
    uint64_t size = ring->entries.end - ring->entries.start;
    if (!stream || size < LEAST || size >= UINT32_MAX / 2)
        return false;
    if (stream->counted) // places go round at 2^32
        return !(size & (size - 1));
    return stream->terminated && stream->terminated->pointer(ring, &bytes) && bytes && bytes <= 8;
}

void bytes_free(struct bytes *bytes)
{
    free(bytes->anchor);
    free(bytes->frame);
    *bytes = (struct bytes){0};
}

// ---- reading ----

// Where the writer's pointer stands: bytes from the array's start.
static enum extract_follower_result look(struct extract_recorder *r, uint32_t *at)
{
    unsigned width;
    uint8_t raw[8];
    uint64_t address = r->ring.format->stream->terminated->pointer(&r->ring, &width);
    if (!record_read(r, address, raw, width))
        return EXTRACT_FOLLOWER_NO_RESPONSE;
    struct extract_cursor c = extract_cursor_make(raw, width, r->ring.byte_order);
    uint64_t pointer = width == 2 ? extract_cursor_u16(&c) : extract_cursor_word(&c, width);
    uint64_t offset = pointer - r->ring.entries.start;
    record_note_wall(r);
    if (pointer < r->ring.entries.start || offset > bytes_size(r))
        return EXTRACT_FOLLOWER_BAD_HEAD;
    *at = (uint32_t)offset % bytes_size(r); // behind the last byte, it is about to go round
    return EXTRACT_FOLLOWER_OK;
}

// `length` bytes from a place on; two reads where the array ends between.
bool bytes_fetch(struct extract_recorder *r, uint64_t place, uint32_t length, uint8_t *to)
{
    uint32_t size = bytes_size(r), first = (uint32_t)(place % size);
    uint32_t here = length < size - first ? length : size - first;
    uint64_t start = r->ring.entries.start;
    return (!here || record_read(r, start + first, to, here)) &&
           (here == length || record_read(r, start, to + here, length - here));
}

static bool stands(struct extract_recorder *r, uint64_t place, const uint8_t *bytes, uint32_t count)
{
    uint8_t now[ANCHOR];
    return bytes_fetch(r, place - count, count, now) && !memcmp(now, bytes, count);
}

// ---- entries ----

// The number of the entry that ends at `end`; what began in front of the bytes is in
// r->bytes.frame.
static int number_of(struct extract_recorder *r, const uint8_t *bytes, uint32_t from, uint32_t end)
{
    struct bytes *b = &r->bytes;
    const struct extract_stream *stream = r->ring.format->stream;
    uint32_t length = end - from;
    if (!b->aligned || length > ENTRY_ROOM - b->frame_bytes)
        return -1;
    if (!b->frame_bytes)
        return stream->terminated->number(&r->ring, bytes + from, length);
    memcpy(b->frame + b->frame_bytes, bytes + from, length);
    return stream->terminated->number(&r->ring, b->frame, b->frame_bytes + length);
}

// Walks over the entries in new bytes. Returns how many are missing in front of them by their
// numbers, modulo those, or -1.
static int walk(struct extract_recorder *r, const uint8_t *bytes, uint32_t length)
{
    struct bytes *b = &r->bytes;
    uint32_t from = 0, before = 0;
    int first = -1;
    for (uint32_t i = 0; i < length; i++) {
        if (bytes[i] != r->ring.format->stream->terminated->terminator)
            continue;
        int number = number_of(r, bytes, from, i);
        if (number >= 0 && b->number >= 0 && first < 0)
            first = (int)((unsigned)(number - b->number - 1) - before) & (BYTES_NUMBERS - 1);
        if (number >= 0)
            b->number = number;
        before += b->aligned && i > from;
        from = i + 1;
        b->frame_bytes = 0;
        b->aligned = true;
    }
    uint32_t rest = length - from;
    b->aligned &= rest <= ENTRY_ROOM - b->frame_bytes;
    if (b->aligned) {
        memcpy(b->frame + b->frame_bytes, bytes + from, rest);
        b->frame_bytes += rest;
    }
    return first;
}

// Keeps the newest bytes as the anchor.
void bytes_drop_anchor(struct bytes *b, const uint8_t *bytes, uint32_t length)
{
    uint32_t more = length < ANCHOR ? length : ANCHOR;
    uint32_t keep = b->anchored < ANCHOR - more ? b->anchored : ANCHOR - more;
    memmove(b->anchor, b->anchor + b->anchored - keep, keep);
    memcpy(b->anchor + keep, bytes + length - more, more);
    b->anchored = keep + more;
}

static enum extract_code deliver(struct extract_recorder *r, const uint8_t *bytes, uint32_t length,
                                 struct extract_error *error)
{
    struct bytes *b = &r->bytes;
    enum extract_code code = EXTRACT_OK;
    bytes_drop_anchor(b, bytes, length);
    b->taken += length;
    poll_interval_look(&r->poll_interval, r->looked, b->place);
    for (uint32_t at = 0; at < length && !code; at += BLOCK_BYTES) {
        uint32_t part = length - at < BLOCK_BYTES ? length - at : BLOCK_BYTES, count = 0;
        for (uint32_t i = 0; i < part; i++)
            count += bytes[at + i] == r->ring.format->stream->terminated->terminator;
        b->entries += count;
        code = out_bytes(&r->out, bytes + at, part, count, error);
    }
    return code;
}

// ---- the newest ----

struct newest {
    uint32_t at;          // the writer's place behind them
    const uint8_t *bytes; // in the recorder's buffer
    uint32_t length;
    bool whole; // the array has not wrapped
};

// What was never written is no part of it: zeros up to the array's start, where the flag stands
// that a stream begins with.
static void trim(const struct extract_recorder *r, struct newest *newest)
{
    uint32_t unused = 0;
    while (unused < newest->length && !newest->bytes[unused])
        unused++;
    newest->whole = unused && newest->length - unused == newest->at && newest->at &&
                    newest->bytes[unused] == r->ring.format->stream->terminated->terminator;
    if (!newest->whole)
        return;
    newest->bytes += unused;
    newest->length -= unused;
}

// Copies the newest bytes of which it is proven that none was written over meanwhile. `at` is the
// writer's place; none: it was faster, or does not answer.
static enum extract_follower_result take_newest(struct extract_recorder *r, struct newest *newest)
{
    uint32_t size = bytes_size(r), to;
    newest->length = 0;
    for (unsigned i = 0; i < TRIES; i++) {
        uint32_t length = size >> i, at = newest->at, drop = 0;
        uint8_t anchor[ANCHOR];
        if (!bytes_fetch(r, (uint64_t)at + size - ANCHOR, ANCHOR, anchor) ||
            !bytes_fetch(r, (uint64_t)at + size - length, length, r->buffer))
            return EXTRACT_FOLLOWER_NO_RESPONSE;
        enum extract_follower_result result = look(r, &to);
        if (result)
            return result;
        bool stood = stands(r, (uint64_t)at + size, anchor, ANCHOR);
        // The byte at the pointer is stored before the pointer moves on.
        uint32_t passed = (to - at + size) % size + extract_memory_is_running(r->memory);
        drop = passed + length > size ? passed + length - size : 0;
        if (stood && drop < length) {
            newest->bytes = r->buffer + drop;
            newest->length = length - drop;
            break;
        }
        newest->at = to;
    }
    trim(r, newest);
    return EXTRACT_FOLLOWER_OK;
}

// The numbers of the entries on both sides say how many are missing, modulo 256.
static enum extract_code put_loss(struct extract_recorder *r, int first,
                                  struct extract_error *error)
{
    r->status.laps++;
    return first < 0
               ? out_loss(&r->out, EXTRACT_LOSS_LAPPED, 0, EXTRACT_LOG_ANY_MORE, error)
               : out_loss(&r->out, EXTRACT_LOSS_LAPPED, (unsigned)first, BYTES_NUMBERS, error);
}

// Continues at the newest bytes. Places stay right modulo the array's size; how often the writer
// filled the array in between is not known.
static enum extract_code jump(struct extract_recorder *r, uint32_t at, struct extract_error *error)
{
    struct bytes *b = &r->bytes;
    uint32_t size = bytes_size(r), apart;
    struct newest newest = {.at = at};
    bool before = b->anchored;
    enum extract_follower_result result = take_newest(r, &newest);
    if (result == EXTRACT_FOLLOWER_NO_RESPONSE)
        return record_note_disconnect(r, error);
    if (result)
        return record_reset(r, error);
    r->resync_pending = !newest.length;
    if (r->resync_pending)
        return EXTRACT_OK;
    apart = (uint32_t)((newest.at + size - b->place % size) % size);
    b->frame_bytes = b->anchored = 0;
    poll_interval_start(&r->poll_interval); // a place that is known modulo the array's size says
                                            // nothing of the load
    b->aligned = newest.whole;
    r->status.has_all = newest.whole;
    b->place += before ? apart + size : newest.at;
    int first = walk(r, newest.bytes, newest.length);
    enum extract_code code = EXTRACT_OK;
    if (before)
        code = put_loss(r, first, error);
    else if (r->ring_was_replaced && (r->gap_is_unknown || !newest.whole))
        code = out_loss(&r->out, r->gap_is_unknown ? EXTRACT_LOSS_RESET : EXTRACT_LOSS_LAPPED, 0,
                        EXTRACT_LOG_ANY_MORE, error);
    r->phase = RECORD_FOLLOWING;
    r->gap_is_unknown = false;
    return code ? code : deliver(r, newest.bytes, newest.length, error);
}

// The anchor is gone: the writer has lapped the reader, or the ring was emptied. An emptied array
// is zero from the write position to its end, which a full one is not, but for a short rest: the
// end of every entry is a byte that is not zero.
static enum extract_code lapped(struct extract_recorder *r, uint32_t at,
                                struct extract_error *error)
{
    uint32_t left = bytes_size(r) - at;
    bool is_empty = left >= EMPTY_BYTES;
    if (is_empty && !bytes_fetch(r, at, left, r->buffer))
        return record_note_disconnect(r, error);
    for (uint32_t i = 0; i < left && is_empty; i++)
        is_empty = !r->buffer[i];
    return is_empty ? record_reset(r, error) : jump(r, at, error);
}

// ---- polls ----

enum extract_code bytes_poll(struct extract_recorder *r, struct extract_error *error)
{
    struct bytes *b = &r->bytes;
    if (b->counted)
        return counted_poll(r, error);
    uint32_t at, size = bytes_size(r), anchor = b->anchored;
    enum extract_follower_result result = look(r, &at);
    if (result == EXTRACT_FOLLOWER_NO_RESPONSE)
        return record_note_disconnect(r, error);
    record_note_look(r);
    enum extract_code code = record_note_reconnect(r, error);
    if (code)
        return code;
    if (result)
        return record_reset(r, error);
    if (r->phase != RECORD_FOLLOWING)
        return jump(r, at, error);
    uint32_t fill = (uint32_t)((at + size - b->place % size) % size);
    r->status.fill = fill;
    r->status.fill_most = fill > r->status.fill_most ? fill : r->status.fill_most;
    if (!fill)
        poll_interval_look(&r->poll_interval, r->looked, b->place);
    if (!fill && !r->must_verify_anchor)
        return EXTRACT_OK;
    if (!bytes_fetch(r, b->place + size - anchor, anchor + fill, r->buffer))
        return record_note_disconnect(r, error);
    if (memcmp(r->buffer, b->anchor, anchor) || !stands(r, b->place + size, b->anchor, anchor))
        return lapped(r, at, error);
    r->must_verify_anchor = false;
    b->place += fill;
    walk(r, r->buffer + anchor, fill);
    return deliver(r, r->buffer + anchor, fill, error);
}

// What the ring's content tells of its settings.
static void settle(struct extract_recorder *r, const struct newest *newest)
{
    struct extract_snapshot snapshot = {.ring = r->ring, .bytes = (uint8_t *)newest->bytes};
    struct extract_ring *ring = &snapshot.ring;
    ring->address = ring->entries.start;
    ring->length = newest->length;
    ring->entries.end = ring->entries.start + newest->length;
    if (newest->length && !ring->format->stream->resolve_layout(&snapshot, 0, newest->length, NULL))
        r->ring.rkh = ring->rkh;
}

static bool make_room(struct extract_recorder *r)
{
    bytes_free(&r->bytes);
    free(r->buffer);
    r->buffer = malloc((size_t)bytes_size(r) + ANCHOR);
    r->bytes = (struct bytes){
        .follows = true, .anchor = malloc(ANCHOR), .frame = malloc(ENTRY_ROOM), .number = -1};
    return r->buffer && r->bytes.anchor && r->bytes.frame;
}

// Two reads of different length say what the link can do.
static void probe_link(struct extract_recorder *r)
{
    uint32_t length = bytes_size(r) < PROBE_BYTES ? bytes_size(r) : PROBE_BYTES;
    uint64_t start = r->ring.entries.start;
    record_read(r, start, r->buffer, PROBE_WORDS); // the first of a connection may cost more
    r->link_model = (struct link_model){0};
    record_read(r, start, r->buffer, PROBE_WORDS);
    record_read(r, start, r->buffer, length);
    record_read(r, start, r->buffer, PROBE_WORDS);
}

enum extract_code bytes_start(struct extract_recorder *r, struct extract_error *error)
{
    struct newest newest = {0};
    if (!make_room(r))
        return extract_error_set(error, EXTRACT_NOMEM, "recorder", NULL, "out of memory");
    r->measure = r->ring;
    r->measure.entries.slot_bytes = 1;
    r->measure.entries.count = bytes_size(r);
    poll_interval_start(&r->poll_interval);
    r->phase = RECORD_FOUND;
    r->provisional_count = 0;
    if (!r->link_model.words.count)
        probe_link(r);
    if (r->ring.format->stream->counted)
        return counted_start(r, error);
    if (!look(r, &newest.at) && !take_newest(r, &newest))
        settle(r, &newest);
    return out_ring(&r->out, &r->ring, error);
}

enum extract_code bytes_end(struct extract_recorder *r, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    bool gone = r->phase != RECORD_SEARCHING && r->status.gone && !r->drained;
    if (r->bytes.counted && r->phase != RECORD_SEARCHING)
        code = counted_end(r, error);
    else if (r->resync_pending)
        code = out_loss(&r->out, EXTRACT_LOSS_LAPPED, 0, EXTRACT_LOG_ANY_MORE, error);
    // What it wrote since the last look, nobody will ever know.
    return code || !gone
               ? code
               : out_loss(&r->out, EXTRACT_LOSS_UNREADABLE, 0, EXTRACT_LOG_ANY_MORE, error);
}
