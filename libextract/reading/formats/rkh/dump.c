// SPDX-License-Identifier: MIT
// formats/rkh: saves a ring in RAM to a file, describes it for a log, and restores it from either.
// Both consist of a record of its live words; the file also has the array as it was in RAM.
//
// Source: docs/formats/rkh.md, "A ring as a file".
#include "base/cursor.h"
#include "formats/rkh/rkh.h"
#include "memory/images.h"
#include <stdlib.h>

enum {
    VERSION = 1,
    HAS_CHK = 1, // flags
    MERGED = 2,  // in merged logs only: each frame contains its settings
    WIDE = 4,    // in merged logs only: addresses may have 8 bytes
    SETTINGS = 56,
    MAX_SIZE = 1 << 20,
    FROM_BITS = 4
};

static const uint8_t signature[8] = {'R', 'K', 'H', 'r', 'i', 'n', 'g', 0};

_Static_assert(SETTINGS + 4 * EXTRACT_RKH_KEYS + EXTRACT_RKH_KEYS / 2 == RKH_RECORD,
               "the record has space for every setting");

bool extract_rkh_dump_is(const uint8_t *bytes, size_t length)
{
    return length >= RKH_RECORD && memcmp(bytes, signature, sizeof signature) == 0;
}

// ---- Writing ----

static void write_live_words(uint8_t record[RKH_RECORD], const struct extract_ring *ring,
                             uint32_t valid)
{
    struct rkh_live live = rkh_live_of(ring->header);

    memset(record, 0, RKH_RECORD);
    memcpy(record, signature, sizeof signature);
    extract_store(record + 8, VERSION, 4, EXTRACT_LITTLE);
    extract_store(record + 12, ring->byte_order, 4, EXTRACT_LITTLE);
    extract_store(record + 16, live.start, 8, EXTRACT_LITTLE);
    extract_store(record + 24, live.size, 4, EXTRACT_LITTLE);
    extract_store(record + 28, live.size ? live.head % live.size : 0, 4, EXTRACT_LITTLE);
    extract_store(record + 32, live.pending, 4, EXTRACT_LITTLE);
    extract_store(record + 36, valid, 4, EXTRACT_LITTLE);
    bool is_wide = live.merged && ring->word_bytes == 8;
    extract_store(record + 40,
                  (live.chk_known ? HAS_CHK : 0u) | (live.merged ? MERGED : 0u) |
                      (is_wide ? WIDE : 0u),
                  4, EXTRACT_LITTLE);
    extract_store(record + 44, live.chk_known ? live.chk : 0, 4, EXTRACT_LITTLE);
}

uint32_t rkh_describe(const struct extract_ring *ring, uint8_t record[EXTRACT_HEADER_MAX])
{
    const struct extract_rkh *rkh = &ring->rkh;
    uint64_t from = 0;

    write_live_words(record, ring, 0);
    extract_store(record + 48, ring->near, 8, EXTRACT_LITTLE);
    for (unsigned key = 0; key < EXTRACT_RKH_KEYS; key++) {
        extract_store(record + SETTINGS + 4 * key, rkh->value[key], 4, EXTRACT_LITTLE);
        from |= (uint64_t)rkh->from[key] << FROM_BITS * key;
    }
    extract_store(record + SETTINGS + 4 * EXTRACT_RKH_KEYS, from, 8, EXTRACT_LITTLE);
    return RKH_RECORD;
}

// Stuffs the frames again that the walk unstuffed in place.
static void stuff_frames(uint8_t *array, uint32_t size, const struct extract_snapshot *snapshot)
{
    for (uint32_t i = 0; i < snapshot->ring.entries.count; i++) {
        const struct extract_extent *place = &snapshot->index[i];
        const uint8_t *bytes = snapshot->bytes + place->offset;
        uint32_t at = place->at, end = at + place->length - 1;
        bool here = place->offset < snapshot->ring.length && end <= size;
        for (uint32_t k = 0; here && k < place->whole && at < end; k++) {
            bool escape = bytes[k] == RKH_FLAG || bytes[k] == RKH_ESCAPE;
            if (escape)
                array[at++] = RKH_ESCAPE;
            if (at < end)
                array[at++] = escape ? bytes[k] ^ RKH_XOR : bytes[k];
        }
    }
}

enum extract_code rkh_dump(struct extract_text *text, const struct extract_snapshot *snapshot,
                           struct extract_error *error)
{
    const struct extract_ring *ring = &snapshot->ring;
    struct rkh_live live = rkh_live_of(ring->header);
    uint32_t valid = live.valid ? live.valid : live.size; // bytes before the write position
    if (snapshot->moved) // only the frames in the copy, and the flag before them
        valid = ring->entries.count ? (live.head - snapshot->index[0].at) % live.size + 1 : 0;
    uint8_t record[RKH_RECORD], *array = malloc((size_t)live.size + 1);

    if (array) {
        memcpy(array, snapshot->bytes + (ring->entries.start - ring->address), live.size);
        stuff_frames(array, live.size, snapshot);
        for (uint32_t i = 0; i < live.size - valid; i++)
            array[(live.head + i) % live.size] = 0;
        write_live_words(record, ring, valid);
        extract_text_put(text, (const char *)record, sizeof record);
        extract_text_put(text, (const char *)array, live.size);
    }
    enum extract_code code = array ? text->code : EXTRACT_NOMEM;
    free(array);
    return code ? extract_error_set(error, code, "RKH ring", NULL, "out of memory") : EXTRACT_OK;
}

// ---- Reading ----

struct record {
    uint32_t version, order, size, head, pending, valid, flags, chk;
    uint64_t start, near;
};

static bool read_record(struct record *r, struct extract_cursor *c)
{
    const uint8_t *start = extract_cursor_span(c, sizeof signature);

    r->version = extract_cursor_u32(c);
    r->order = extract_cursor_u32(c);
    r->start = extract_cursor_u64(c);
    r->size = extract_cursor_u32(c);
    r->head = extract_cursor_u32(c);
    r->pending = extract_cursor_u32(c);
    r->valid = extract_cursor_u32(c);
    r->flags = extract_cursor_u32(c);
    r->chk = extract_cursor_u32(c);
    r->near = extract_cursor_u64(c);
    return !c->failed && memcmp(start, signature, sizeof signature) == 0;
}

static bool is_plausible(const struct record *r)
{
    return r->version == VERSION && (r->order == EXTRACT_LITTLE || r->order == EXTRACT_BIG) &&
           r->size && r->size <= MAX_SIZE && r->head < r->size && r->pending <= r->size &&
           r->valid <= r->size && r->start + r->size >= r->start;
}

// Takes the settings of the record, except those that are known from a better source.
static void restore_settings(struct extract_rkh *rkh, struct extract_cursor *c)
{
    uint32_t value[EXTRACT_RKH_KEYS];

    for (unsigned key = 0; key < EXTRACT_RKH_KEYS; key++)
        value[key] = extract_cursor_u32(c);
    uint64_t from = extract_cursor_u64(c);
    for (unsigned key = 0; !c->failed && key < EXTRACT_RKH_KEYS; key++) {
        unsigned one = (unsigned)(from >> FROM_BITS * key) & 0xF;
        if (one && one <= EXTRACT_RKH_USER && rkh_allows((enum extract_rkh_key)key, value[key]))
            rkh_set(rkh, (enum extract_rkh_key)key, value[key], (enum extract_rkh_from)one);
    }
}

static void fill_ring(struct extract_ring *ring, const struct record *r)
{
    struct rkh_live live = {.start = r->start,
                            .size = r->size,
                            .head = r->size + r->head,
                            .pending = r->pending,
                            .valid = r->valid,
                            .dump = true,
                            .merged = r->flags & MERGED,
                            .chk_known = r->flags & HAS_CHK,
                            .chk = (uint8_t)r->chk};

    ring->format = &extract_format_rkh;
    ring->address = r->start;
    ring->length = r->size;
    ring->byte_order = r->order == EXTRACT_BIG ? EXTRACT_BIG : EXTRACT_LITTLE;
    ring->word_bytes = r->flags & MERGED && r->flags & WIDE ? 8 : 4;
    ring->timer_mask = UINT32_MAX;
    ring->near = r->near;
    ring->registry = (struct extract_slots){r->start, r->start, 0, 0};
    ring->entries = (struct extract_slots){r->start, r->start + r->size, 0, 0};
    if (ring->rkh.view == EXTRACT_RKH_VIEW_AUTO)
        ring->rkh.view = EXTRACT_RKH_HISTORY;
    rkh_live_store(ring->header, &live);
}

void rkh_make_merged(struct extract_ring *ring, uint64_t start, uint64_t bytes, bool is_wide)
{
    const struct record r = {.order = EXTRACT_LITTLE,
                             .start = start,
                             .size = bytes < MAX_SIZE ? (uint32_t)bytes : MAX_SIZE,
                             .flags = MERGED | (is_wide ? WIDE : 0u)};

    fill_ring(ring, &r);
}

bool rkh_dump_at(struct extract_ring *ring, struct extract_memory *memory, uint64_t address)
{
    uint8_t bytes[RKH_RECORD];
    struct record r;
    size_t got;

    if (extract_memory_read(memory, address, bytes, sizeof bytes, &got, NULL))
        return false;
    struct extract_cursor c = extract_cursor_make(bytes, sizeof bytes, EXTRACT_LITTLE);
    if (!read_record(&r, &c) || !is_plausible(&r))
        return false;
    fill_ring(ring, &r);
    restore_settings(&ring->rkh, &c);
    return true;
}

static bool is_whole(const struct extract_input *input)
{
    struct extract_cursor c = extract_cursor_make(input->bytes, input->length, EXTRACT_LITTLE);
    struct record r;

    return read_record(&r, &c) && is_plausible(&r) &&
           RKH_RECORD + (uint64_t)r.size == input->length;
}

// Loads a file: the array at its address, and the record after it.
static enum extract_code load_file(struct extract_images *images, struct extract_input *input,
                                   struct extract_error *error)
{
    struct record r;

    extract_images_mend_line_ends(images, input, is_whole);
    struct extract_cursor c = extract_cursor_make(input->bytes, input->length, EXTRACT_LITTLE);
    if (input->length < RKH_RECORD || !read_record(&r, &c) || !is_plausible(&r))
        return extract_error_set(error, EXTRACT_BAD, input->name, "save the ring again",
                                 "not a dump of an RKH ring");
    if (input->length - RKH_RECORD < r.size)
        return extract_error_set(error, EXTRACT_TRUNCATED, input->name, "save the ring again",
                                 "ends after %zu of %u bytes of the array",
                                 input->length - RKH_RECORD, r.size);
    uint64_t end = r.start + r.size;
    extract_images_end_at(images, input, RKH_RECORD + (uint64_t)r.size);
    struct extract_image spans[] = {{r.start, r.size, input->bytes + RKH_RECORD, 0, NULL},
                                    {end, RKH_RECORD, input->bytes, 0, NULL}};
    images->byte_order = r.order == EXTRACT_BIG ? EXTRACT_BIG : EXTRACT_LITTLE;
    images->starts = true;
    images->start = end;
    return extract_images_add(images, input, spans, 2, error);
}

enum extract_code extract_rkh_dump_open(struct extract_memory **memory, const char *path,
                                        struct extract_error *error)
{
    return extract_images_open(memory, path, load_file, error);
}
