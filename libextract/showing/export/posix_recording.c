// SPDX-License-Identifier: MIT
// export: writes the POSIX trace records of a log as a file: a process block, and a stream whose
// ring is large enough for all of them.
//
// A record contains its own position in the ring, so each gets a new one. The stream block keeps
// its offset in the object; names and ring follow it.
//
// Source: docs/formats/posix-ring.md, "The file".
#include "export/export_room.h"
#include "formats/posix/posix.h"
#include <stdlib.h>

enum {
    AT_RING_WORDS = 20, // words of a stream block
    AT_RECORDED = 56,
    AT_REFUSED = 64,
    PLACE_MASK = 0xFFFF // of a record's first word and its last
};

struct recording {
    const struct extract_snapshot *snapshot;
    const struct extract_ring *ring;
    enum extract_byte_order order;
    struct posix_stream stream; // as the log describes it
    uint64_t address;           // of the object
    uint32_t names_room, name_bytes, ids, ring_words;
    uint32_t stream_bytes, names_at, ring_at; // offsets in it
};

static uint32_t round_to_words(uint32_t bytes)
{
    return (bytes + 3) / 4 * 4;
}

// ---- the sizes of the parts ----

// Chooses the smallest ring that all records fit into, and the table of names. Names that are
// longer than a slot may be are omitted.
static enum extract_code plan_file(struct recording *r, struct extract_error *error)
{
    const struct extract_slots *slots = &r->ring->registry;
    uint32_t max_names = POSIX_MAX_IDS - POSIX_USER;
    bool named = slots->count && slots->slot_bytes && slots->slot_bytes <= POSIX_MAX_NAME;
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < r->ring->entries.count; i++)
        bytes += round_to_words(r->snapshot->index[i].length);
    r->ring_words = POSIX_MIN_RING;
    while (r->ring_words < POSIX_MAX_RING && (uint64_t)r->ring_words * 4 < bytes)
        r->ring_words *= 2;
    if ((uint64_t)r->ring_words * 4 < bytes)
        return extract_error_set(error, EXTRACT_LIMIT, "POSIX trace",
                                 "use the log, which all commands read",
                                 "more than 64 MiB of events do not fit into the file of a stream");
    r->names_room = !named ? 1 : slots->count < max_names ? slots->count : max_names;
    r->name_bytes = named ? round_to_words(slots->slot_bytes) : 4;
    r->ids = (POSIX_USER + r->names_room + 31) / 32 * 32;
    r->address = r->ring->entries.start - r->stream.ring_at;
    r->stream_bytes = POSIX_STREAM_AT_FILTER + 2 * posix_filter_bytes(r->ids);
    uint64_t names_at = (uint64_t)r->stream.back + r->stream_bytes;
    uint64_t ring_at = names_at + (uint64_t)r->names_room * r->name_bytes;
    uint64_t total = ring_at + (uint64_t)r->ring_words * 4;
    if (total > UINT32_MAX || r->address + total < r->address)
        return extract_error_set(error, EXTRACT_BAD, "POSIX trace", "use the log instead",
                                 "stream block is too far from the process block");
    r->names_at = (uint32_t)names_at;
    r->ring_at = (uint32_t)ring_at;
    return EXTRACT_OK;
}

// ---- the parts ----

static void put_word(const struct recording *r, uint8_t *to, uint64_t value)
{
    extract_store(to, value, 4, r->order);
}

static uint8_t *put_process(const struct recording *r, uint8_t *to)
{
    const uint32_t words[] = {POSIX_PROCESS_MAGIC,
                              POSIX_VERSION,
                              POSIX_HEADER,
                              r->ring_at + r->ring_words * 4,
                              1, // generation
                              0, // nothing is active
                              1,
                              r->stream_bytes,
                              r->stream.back,
                              r->names_at,
                              r->name_bytes,
                              r->names_room,
                              r->names_room,
                              0, // none is being registered
                              r->stream.layout_word,
                              r->stream.clock_hz,
                              r->ids,
                              r->stream.pid};

    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        put_word(r, to + (size_t)4 * i, words[i]);
    put_word(r, to + POSIX_BLOCK_AT_ADDRESS, r->address);
    put_word(r, to + POSIX_BLOCK_AT_ADDRESS + 4, r->address >> 32);
    return to + POSIX_HEADER;
}

static uint8_t *put_names(const struct recording *r, uint8_t *to)
{
    const struct extract_slots *slots = &r->ring->registry;
    const uint8_t *names = posix_copy_names(r->snapshot);
    uint32_t count = slots->slot_bytes <= r->name_bytes ? r->names_room : 0;

    for (uint32_t i = 0; i < count && i < slots->count; i++)
        memcpy(to + (size_t)i * r->name_bytes, names + (size_t)i * slots->slot_bytes,
               slots->slot_bytes);
    return to + (size_t)r->names_room * r->name_bytes;
}

static uint8_t *put_stream(const struct recording *r, uint8_t *to, uint32_t used, uint32_t count)
{
    uint64_t lost = r->snapshot->unwritten < UINT32_MAX ? r->snapshot->unwritten : UINT32_MAX;

    memcpy(to, r->ring->header, POSIX_HEADER);
    memcpy(to + POSIX_STREAM_AT_NAME, r->ring->posix.name, POSIX_STREAM_NAME);
    memset(to + AT_RECORDED, 0, POSIX_STREAM_AT_REQUEST_DONE - AT_RECORDED);
    put_word(r, to + POSIX_STREAM_AT_RING_AT, r->ring_at);
    put_word(r, to + AT_RING_WORDS, r->ring_words);
    put_word(r, to + POSIX_STREAM_AT_STATE, r->stream.state & POSIX_STATE_BOUND);
    put_word(r, to + POSIX_STREAM_AT_HEAD, used / 4);
    put_word(r, to + POSIX_STREAM_AT_TAIL, 0);
    put_word(r, to + AT_RECORDED, count);
    put_word(r, to + AT_REFUSED, lost);
    put_word(r, to + POSIX_STREAM_AT_READ_POS, 0);
    put_word(r, to + POSIX_STREAM_AT_REQUEST, r->stream.request_done);
    return to + r->stream_bytes;
}

// Replaces the position in the first or last word of a record.
static void put_place(const struct recording *r, uint8_t *word, uint32_t place)
{
    struct extract_cursor c = extract_cursor_make(word, 4, r->order);

    put_word(r, word, (extract_cursor_u32(&c) & ~(uint32_t)PLACE_MASK) | (place & PLACE_MASK));
}

// Copies the records and leaves zeros between them. Returns the bytes used and sets *count to the
// number of records.
static uint32_t put_records(const struct recording *r, uint8_t *to, uint32_t *count)
{
    const struct extract_snapshot *snapshot = r->snapshot;
    uint32_t at = 0;

    *count = 0;
    for (uint32_t i = 0; i < snapshot->ring.entries.count; i++) {
        const struct extract_extent *place = &snapshot->index[i];
        if (snapshot->verdict[i] <= EXTRACT_TORN) {
            memcpy(to + at, snapshot->bytes + place->offset, place->length);
            put_place(r, to + at, at / 4);
            put_place(r, to + at + place->length - 4, at / 4);
            ++*count;
        }
        at += round_to_words(place->length);
    }
    return at;
}

enum extract_code export_posix_recording(struct extract_text *text,
                                         const struct extract_snapshot *snapshot,
                                         struct extract_error *error)
{
    struct recording r = {
        .snapshot = snapshot, .ring = &snapshot->ring, .order = snapshot->ring.byte_order};

    posix_stream_read(&r.stream, r.ring->header, sizeof r.ring->header);
    enum extract_code code = plan_file(&r, error);
    if (code)
        return code;
    size_t front = POSIX_HEADER + (size_t)r.names_room * r.name_bytes + r.stream_bytes;
    size_t length = front + (size_t)r.ring_words * 4;
    uint8_t *bytes = calloc(1, length);
    if (!bytes)
        return extract_error_set(error, EXTRACT_NOMEM, "POSIX trace", NULL, "out of memory");
    uint32_t count, used = put_records(&r, bytes + front, &count);
    put_stream(&r, put_names(&r, put_process(&r, bytes)), used, count);
    extract_text_put(text, (const char *)bytes, length);
    free(bytes);
    return text->code ? extract_error_set(error, text->code, "POSIX trace", NULL, "out of memory")
                      : EXTRACT_OK;
}
