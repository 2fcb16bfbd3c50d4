// SPDX-License-Identifier: MIT
// formats/posix: decodes process blocks and stream blocks, and checks them before they are trusted.
//
// Source: docs/formats/posix-ring.md, "The process block", "A stream block".
#include "formats/posix/posix.h"
#include <string.h>

enum { UNUSED_BYTES = 20 }; // of the process block, before its entry
enum byte_of_layout {
    LAYOUT_PIDS = 1 << 16,
    LAYOUT_REALTIME = 1 << 17,
    LAYOUT_SHARED = 1 << 18,
    LAYOUT_CORES = 1 << 19
};

static struct posix_layout layout_of(uint32_t word, enum extract_byte_order order)
{
    return (struct posix_layout){.order = order,
                                 .address_bytes = (uint8_t)word,
                                 .stamp_bits = (uint8_t)(word >> 8),
                                 .pids = word & LAYOUT_PIDS,
                                 .realtime = word & LAYOUT_REALTIME,
                                 .shared = word & LAYOUT_SHARED,
                                 .cores = word & LAYOUT_CORES};
}

uint32_t posix_layout_word(const struct posix_layout *layout)
{
    return (uint32_t)layout->address_bytes | (uint32_t)layout->stamp_bits << 8 |
           (layout->pids ? LAYOUT_PIDS : 0u) | (layout->realtime ? LAYOUT_REALTIME : 0u) |
           (layout->shared ? LAYOUT_SHARED : 0u) | (layout->cores ? LAYOUT_CORES : 0u);
}

// Returns a cursor after the magic number. Sets *order to UNKNOWN if that is not there.
static struct extract_cursor cursor_after_magic(const uint8_t *bytes, size_t length, uint32_t magic,
                                                enum extract_byte_order *order)
{
    *order = extract_magic_order(bytes, length, magic);
    struct extract_cursor c = extract_cursor_make(bytes, length, *order);
    if (length < POSIX_HEADER)
        *order = EXTRACT_ORDER_UNKNOWN;
    extract_cursor_seek(&c, 4);
    return c;
}

static void read_words(struct extract_cursor *c, uint32_t *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *words[i] = extract_cursor_u32(c);
}

static uint64_t read_pair(struct extract_cursor *c)
{
    uint64_t low = extract_cursor_u32(c);

    return low | (uint64_t)extract_cursor_u32(c) << 32;
}

bool posix_block_read(struct posix_block *b, const uint8_t *bytes, size_t length)
{
    uint32_t *const words[] = {
        &b->version,    &b->header_bytes, &b->total_bytes,   &b->generation,  &b->active,
        &b->streams,    &b->stream_bytes, &b->streams_at,    &b->names_at,    &b->name_bytes,
        &b->names_room, &b->names_used,   &b->names_claimed, &b->layout_word, &b->clock_hz,
        &b->ids,        &b->pid};
    enum extract_byte_order order;
    struct extract_cursor c = cursor_after_magic(bytes, length, POSIX_PROCESS_MAGIC, &order);

    *b = (struct posix_block){0};
    if (!order)
        return false;
    read_words(&c, words, sizeof words / sizeof *words);
    b->birth = read_pair(&c);
    b->lock = extract_cursor_u32(&c);
    extract_cursor_span(&c, UNUSED_BYTES);
    b->entry = read_pair(&c);
    const uint8_t *program = extract_cursor_span(&c, sizeof b->program - 1);
    if (program)
        memcpy(b->program, program, sizeof b->program - 1);
    b->layout = layout_of(b->layout_word, order);
    return true;
}

bool posix_stream_read(struct posix_stream *s, const uint8_t *bytes, size_t length)
{
    uint32_t *const first[] = {&s->version,    &s->header_bytes, &s->back,        &s->ring_at,
                               &s->ring_words, &s->layout_word,  &s->clock_hz,    &s->generation,
                               &s->state,      &s->policy,       &s->max_data,    &s->head,
                               &s->tail,       &s->recorded,     &s->overwritten, &s->refused,
                               &s->episodes};
    uint32_t *const second[] = {
        &s->episode_read, &s->request_done,  &s->read_pos,        &s->request,
        &s->wanted,       &s->wanted_policy, &s->wanted_max_data, &s->wanted_clears,
        &s->clears_done,  &s->pid,           &s->controller,      &s->flags};
    enum extract_byte_order order;
    struct extract_cursor c = cursor_after_magic(bytes, length, POSIX_STREAM_MAGIC, &order);

    *s = (struct posix_stream){0};
    if (!order)
        return false;
    read_words(&c, first, sizeof first / sizeof *first);
    s->lost_stamp = read_pair(&c);
    read_words(&c, second, sizeof second / sizeof *second);
    s->layout = layout_of(s->layout_word, order);
    return true;
}

// ---- Checks ----

static bool is_inside(uint32_t at, uint64_t bytes, uint32_t total)
{
    return at >= POSIX_HEADER && at % 4 == 0 && at <= total && bytes <= total - at;
}

static bool has_valid_addresses(const struct posix_layout *layout)
{
    return layout->address_bytes == 4 || layout->address_bytes == 8;
}

static bool has_valid_stamps(const struct posix_layout *layout)
{
    return layout->stamp_bits >= 16 && layout->stamp_bits <= 64;
}

static const char wrong_address[] = "addresses must have 4 or 8 bytes";
static const char wrong_stamp[] = "timestamps must have from 16 to 64 bits";

enum extract_code posix_block_check(const struct posix_block *b, uint64_t address,
                                    struct extract_error *error)
{
    uint64_t names = (uint64_t)b->names_room * b->name_bytes;
    uint64_t streams = (uint64_t)b->streams * b->stream_bytes;
    uint64_t min_bytes = POSIX_STREAM_AT_FILTER + 2 * (uint64_t)posix_filter_bytes(b->ids);
    const struct extract_check checks[] = {
        {b->version == POSIX_VERSION, "version", b->version, "only 1 is known"},
        {b->header_bytes == POSIX_HEADER, "header_bytes", b->header_bytes, "must be 128"},
        {address + b->total_bytes >= address, "total_bytes", b->total_bytes,
         "the object would run past the end of the address space"},
        {has_valid_addresses(&b->layout), "layout", b->layout_word, wrong_address},
        {has_valid_stamps(&b->layout), "layout", b->layout_word, wrong_stamp},
        {b->ids % 32 == 0 && b->ids && b->ids <= POSIX_MAX_IDS, "ids", b->ids,
         "must be a multiple of 32, at most 65536"},
        {b->streams >= 1 && b->streams <= POSIX_MAX_STREAMS, "streams", b->streams,
         "must be from 1 to 32"},
        {b->stream_bytes % 4 == 0 && b->stream_bytes >= min_bytes, "stream_bytes", b->stream_bytes,
         "a stream block with its filters is longer"},
        {is_inside(b->streams_at, streams, b->total_bytes), "streams_at", b->streams_at,
         "the stream blocks are outside of the object"},
        {b->name_bytes % 4 == 0 && b->name_bytes >= 4 && b->name_bytes <= POSIX_MAX_NAME,
         "name_bytes", b->name_bytes, "must be a multiple of 4, at most 1024"},
        {b->names_room >= 1 && b->names_room <= POSIX_MAX_IDS - POSIX_USER, "names_room",
         b->names_room, "must be from 1 to 65504"},
        {is_inside(b->names_at, names, b->total_bytes), "names_at", b->names_at,
         "the names are outside of the object"},
    };

    return extract_checks_run(checks, sizeof checks / sizeof *checks, "POSIX trace", address,
                              error);
}

enum extract_code posix_stream_check(const struct posix_stream *s, uint64_t address,
                                     struct extract_error *error)
{
    uint64_t object = address - s->back, ring = (uint64_t)s->ring_words * 4;
    const struct extract_check checks[] = {
        {s->version == POSIX_VERSION, "version", s->version, "only 1 is known"},
        {s->header_bytes == POSIX_HEADER, "header_bytes", s->header_bytes, "must be 128"},
        {s->back >= POSIX_HEADER && s->back % 4 == 0 && s->back <= address, "back", s->back,
         "no object can begin there"},
        {has_valid_addresses(&s->layout), "layout", s->layout_word, wrong_address},
        {has_valid_stamps(&s->layout), "layout", s->layout_word, wrong_stamp},
        {s->ring_words >= POSIX_MIN_RING && s->ring_words <= POSIX_MAX_RING &&
             !(s->ring_words & (s->ring_words - 1)),
         "ring_words", s->ring_words, "must be a power of two from 64 to 2^24"},
        {s->ring_at >= POSIX_HEADER && s->ring_at % 4 == 0 && object + s->ring_at >= object &&
             object + s->ring_at + ring >= object + s->ring_at,
         "ring_at", s->ring_at, "no ring can begin there"},
    };

    return extract_checks_run(checks, sizeof checks / sizeof *checks, "POSIX trace", address,
                              error);
}

bool posix_stream_has_valid_positions(const struct posix_stream *s)
{
    return s->head - s->tail <= s->ring_words;
}

// The window of a LOOP stream slides from the first overwritten record until a reader reads.
bool posix_stream_is_full(const struct posix_stream *s)
{
    if (s->policy == POSIX_POLICY_LOOP)
        return s->episodes && s->episode_read == s->read_pos;
    return s->state & POSIX_STATE_STOPPED_FULL;
}

bool posix_stream_stays_full(const struct posix_stream *s)
{
    return s->state & POSIX_STATE_STOPPED_FULL && s->policy == POSIX_POLICY_UNTIL_FULL &&
           s->read_pos != s->head && s->wanted_clears == s->clears_done;
}
