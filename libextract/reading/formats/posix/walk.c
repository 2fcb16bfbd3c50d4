// SPDX-License-Identifier: MIT
// formats/posix: finds the records of a copied ring. The result is an index of the records, and of
// the bytes between them that do not belong to a record.
//
// A record's first word and its last contain its position and length, so that records can be found
// in either direction. A record after damage may have been written one lap earlier; therefore the
// first one there is provisional.
#include "formats/posix/posix.h"

struct walk {
    struct extract_snapshot *snapshot;
    const uint8_t *buffer; // followed by a copy of its start, for records that pass its end
    uint32_t size, offset; // size of the buffer, and its offset in the copy
    uint32_t from, to;
    uint32_t position; // position of the buffer's start in words, if it is not a multiple of size
    struct posix_layout layout;
    bool log;       // records of a log are where they were appended, not at their positions
    uint64_t stamp; // timestamp of the last record
};

uint64_t posix_slack_bytes(const struct extract_ring *ring)
{
    uint64_t size = ring->entries.end - ring->entries.start;

    return size < POSIX_MAX_RECORD ? size : POSIX_MAX_RECORD;
}

// Returns the position that a record contains.
static uint32_t own_position(const uint8_t *bytes, uint32_t left, const struct posix_layout *layout)
{
    struct extract_cursor c = extract_cursor_make(bytes, left, layout->order);

    return extract_cursor_u32(&c) & 0xFFFF;
}

static bool record_at(const struct walk *walk, uint32_t at, struct posix_record *record)
{
    const uint8_t *bytes = walk->buffer + at % walk->size;
    uint32_t left = walk->to - at;

    left = left < POSIX_MAX_RECORD ? left : POSIX_MAX_RECORD;
    uint32_t position =
        walk->log ? own_position(bytes, left, &walk->layout) : walk->position + at / 4;
    return posix_record_read(record, bytes, left, &walk->layout, position);
}

// Decodes a record at the position that it contains itself.
static bool read_at_own_position(struct posix_record *record, const struct extract_ring *ring,
                                 const uint8_t *bytes, uint32_t left)
{
    struct posix_stream stream;

    posix_stream_read(&stream, ring->header, sizeof ring->header);
    uint32_t position = own_position(bytes, left, &stream.layout);
    return posix_record_read(record, bytes, left, &stream.layout, position);
}

uint32_t posix_length(const struct extract_ring *ring, const uint8_t *bytes, uint32_t left)
{
    struct posix_record record;

    return read_at_own_position(&record, ring, bytes, left) ? record.words * 4 : 0;
}

uint32_t posix_finished(const struct extract_ring *ring, const uint8_t *bytes, uint32_t length)
{
    struct posix_record record;

    for (uint32_t at = 0; at < length; at += record.words * 4) {
        if (!read_at_own_position(&record, ring, bytes + at, length - at))
            break; // an invalid record will not become valid
        if (!record.done)
            return at;
    }
    return length;
}

// Returns whether an open first word for this position is there. A word that is left from an
// earlier lap has another position, or is done.
bool posix_is_begun(const struct extract_ring *ring, const uint8_t *bytes, uint32_t head)
{
    enum { OPEN = 1 };
    struct extract_cursor c = extract_cursor_make(bytes, 4, ring->byte_order);
    uint32_t first = extract_cursor_u32(&c);

    return first >> 30 == OPEN && posix_record_words(first, head / 4);
}

bool posix_entry_object(const struct extract_ring *ring, const uint8_t *bytes, uint32_t length,
                        uint64_t *number)
{
    struct posix_record record;

    if (!read_at_own_position(&record, ring, bytes, length) || record.id < POSIX_USER)
        return false;
    *number = record.id - POSIX_USER;
    return true;
}

// Returns the first entry boundary after `from` that is found from the end backwards, by the last
// words of records.
static uint32_t walk_back(const struct walk *walk)
{
    uint32_t at = walk->to;

    for (;;) {
        uint32_t last = (at - 4) % walk->size;
        struct extract_cursor c =
            extract_cursor_make(walk->buffer + last, sizeof(uint32_t), walk->layout.order);
        uint32_t bytes = posix_trailer_words(extract_cursor_u32(&c), walk->position + at / 4) * 4;
        struct posix_record record;
        if (!bytes || bytes > at - walk->from || !record_at(walk, at - bytes, &record))
            return at;
        at -= bytes;
    }
}

uint32_t posix_boundary(const struct extract_ring *ring, const uint8_t *bytes, uint32_t length,
                        uint32_t end)
{
    struct posix_stream stream;
    struct walk walk = {
        .buffer = bytes, .size = length, .to = length, .position = (end - length) / 4};

    posix_stream_read(&stream, ring->header, sizeof ring->header);
    walk.layout = stream.layout;
    return length ? walk_back(&walk) : 0;
}

static uint32_t search(const struct walk *walk, uint32_t at)
{
    struct posix_record record;

    while (at != walk->to && !record_at(walk, at, &record))
        at += 4;
    return at;
}

static bool note_extent(struct walk *walk, uint32_t at, uint32_t length,
                        enum extract_verdict verdict)
{
    struct extract_extent place = {.at = at % walk->size, .length = length, .stamp = walk->stamp};

    place.offset = walk->offset + place.at;
    return extract_snapshot_note(walk->snapshot, &place, verdict);
}

static bool note_all(struct walk *walk, uint32_t at)
{
    struct posix_record record;
    bool fits = true, proven = true;

    while (fits && at != walk->to) {
        uint32_t next;
        if (record_at(walk, at, &record)) {
            enum extract_verdict verdict = proven ? EXTRACT_GOOD : EXTRACT_PROVISIONAL;
            next = at + record.words * 4;
            walk->stamp = record.stamp;
            fits = note_extent(walk, at, next - at, record.done ? verdict : EXTRACT_TORN);
            proven = true;
        } else {
            next = search(walk, at + 4);
            fits = note_extent(walk, at, next - at, EXTRACT_INVALID);
            proven = false;
        }
        at = next;
    }
    return fits;
}

bool posix_walk(struct extract_snapshot *snapshot, uint32_t from, uint32_t to, bool boundary)
{
    const struct extract_ring *ring = &snapshot->ring;
    struct posix_stream stream;
    struct walk walk = {.snapshot = snapshot,
                        .size = (uint32_t)(ring->entries.end - ring->entries.start),
                        .from = from,
                        .to = from + (to - from) / 4 * 4, // a log may end at any byte
                        .log = !ring->header_bytes};

    posix_stream_read(&stream, ring->header, sizeof ring->header);
    walk.layout = stream.layout;
    walk.offset = (uint32_t)posix_copy_ring(ring);
    uint8_t *buffer = snapshot->bytes + walk.offset;
    walk.buffer = buffer;
    if (from % walk.size + (to - from) > walk.size)
        memcpy(buffer + walk.size, buffer, (size_t)posix_slack_bytes(ring));
    if (!boundary)
        from = walk.log ? search(&walk, from) : walk_back(&walk);
    return note_all(&walk, from) &&
           (walk.to == to || note_extent(&walk, walk.to, to - walk.to, EXTRACT_INVALID));
}
