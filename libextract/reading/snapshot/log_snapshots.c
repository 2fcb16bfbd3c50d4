// SPDX-License-Identifier: MIT
// snapshot: presents a log, block by block, as validated snapshots.
//
// One buffer contains the block that was requested last, so that memory does not grow with the log.
// Opening notes the indices of the blocks with rings and registries, of which there are few. A
// block of entries is decoded with the ring whose key it contains.
#include "snapshot/log_snapshots.h"
#include "base/cursor.h"
#include "base/grow.h"
#include "base/now.h"
#include "formats/format.h"
#include "snapshot/byte_log.h"
#include "log/log_block.h"
#include "snapshot/snapshot_room.h"
#include <stdlib.h>

// Indices of blocks, ascending.
struct places {
    size_t *at;
    size_t count, capacity;
};

// What is known of the ring in a RING block.
struct ring_place {
    size_t readable; // number of the last readable ring up to this one; SIZE_MAX: none
    uint16_t key;    // the key by which blocks refer to it; 0: they do not
};

enum { OPENINGS = 8 }; // attempts to open a log whose writer wraps faster than it is read

struct extract_log_snapshots {
    struct extract_log *log;
    struct extract_snapshot head;
    size_t head_at; // index of the block that contains its ring
    size_t ending;  // index of the block that contains the stream's end; SIZE_MAX: none
    struct places rings, registries;
    struct ring_place *ring_places; // one per element of `rings`
    size_t ring_places_capacity;
    size_t first_readable;          // number of the first readable ring; SIZE_MAX: none
    uint64_t *passed_at;            // one per registry: number of the event after it
    struct extract_ring ring;       // the ring in block `ring_at`
    size_t ring_at;                 // SIZE_MAX: none
    struct extract_log_block block; // the last header read; its index is SIZE_MAX if there is none
    size_t loaded;                  // index of the block in the buffer; SIZE_MAX: none
    size_t framed;                  // index of the block that `piece` presents; SIZE_MAX: none
    struct extract_snapshot piece;  // borrows from the buffer, or from the byte log
    bool unrolled;                  // the byte log was read
    struct extract_byte_log byte_log;
    uint8_t *buffer;
    size_t capacity;
    uint8_t *verdicts;
    size_t verdict_capacity;
    uint64_t damaged;
    bool passed;  // the writer dropped blocks of the log before they were read
    bool lapped;  // the writer dropped the newest of them, too
    bool gone;    // the last block that was requested was dropped by the writer
    bool starved; // memory ran out
};

static bool note_place(struct places *places, size_t i)
{
    size_t *at = extract_grow(places->at, &places->capacity, places->count, sizeof *at);

    if (!at)
        return false;
    places->at = at;
    places->at[places->count++] = i;
    return true;
}

// Returns how many of the places are before `i`.
static size_t places_before(const struct places *places, size_t i)
{
    size_t low = 0, high = places->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (places->at[middle] < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct extract_log_block *extract_log_snapshots_block(struct extract_log_snapshots *snapshots,
                                                            size_t i)
{
    if (snapshots->block.index == i)
        return &snapshots->block;
    if (!extract_log_block_at(snapshots->log, i, &snapshots->block)) {
        snapshots->block.index = SIZE_MAX;
        return NULL;
    }
    snapshots->block.index = i;
    return &snapshots->block;
}

static bool grow_buffer(struct extract_log_snapshots *snapshots, uint8_t **bytes, size_t *capacity,
                        size_t want)
{
    if (want <= *capacity)
        return true;
    uint8_t *more = realloc(*bytes, want);
    snapshots->starved |= !more;
    if (!more)
        return false;
    *bytes = more;
    *capacity = want;
    return true;
}

// Reads a block's payload into the buffer, unless it is there.
static bool load_block(struct extract_log_snapshots *snapshots,
                       const struct extract_log_block *block)
{
    struct extract_memory_cost *cost = &snapshots->head.cost;

    if (snapshots->loaded == block->index)
        return true;
    snapshots->loaded = snapshots->framed = SIZE_MAX;
    if (block->length > EXTRACT_RING_LIMIT ||
        !grow_buffer(snapshots, &snapshots->buffer, &snapshots->capacity, block->length))
        return false;
    uint64_t start = extract_now();
    enum extract_code code = extract_log_read(snapshots->log, block, snapshots->buffer, NULL);
    bool whole = !code && block->type != EXTRACT_LOG_GONE;
    snapshots->gone = code == EXTRACT_ABSENT;
    cost->nanoseconds += extract_now() - start;
    cost->reads++;
    cost->bytes += whole ? block->length : 0;
    cost->failed += !whole && !snapshots->gone;
    if (whole)
        snapshots->loaded = block->index;
    return whole;
}

bool extract_log_snapshots_verify(struct extract_log_snapshots *snapshots,
                                  const struct extract_log_block *block)
{
    snapshots->gone = false;
    return load_block(snapshots, block);
}

bool extract_log_snapshots_gone(const struct extract_log_snapshots *snapshots)
{
    return snapshots->gone;
}

static enum extract_code read_ring(struct extract_log_snapshots *snapshots, size_t i,
                                   struct extract_error *error)
{
    const struct extract_log_block *block = extract_log_snapshots_block(snapshots, i);

    snapshots->ring_at = SIZE_MAX;
    if (!block || !load_block(snapshots, block) || block->type != EXTRACT_LOG_RING)
        return extract_error_set(error, EXTRACT_BAD, extract_log_name(snapshots->log), NULL,
                                 "the block that describes the ring is damaged");
    enum extract_code code =
        extract_log_ring(&snapshots->ring, snapshots->buffer, block->length, error);
    if (!code)
        snapshots->ring_at = i;
    if (!code && snapshots->unrolled)
        snapshots->ring.timer_mask = snapshots->head.ring.timer_mask;
    return code;
}

// Returns the number of the last readable ring before a block, or else of the first one after it. A
// block without a key belongs to the ring before it, even if that is not readable. Returns SIZE_MAX
// if there is none.
static size_t find_ring(const struct extract_log_snapshots *snapshots,
                        const struct extract_log_block *block)
{
    size_t before = places_before(&snapshots->rings, block->index);

    if (!block->kind)
        return before && snapshots->ring_places[before - 1].readable == before - 1 ? before - 1
                                                                                   : SIZE_MAX;
    size_t readable = before ? snapshots->ring_places[before - 1].readable : SIZE_MAX;
    return readable != SIZE_MAX ? readable : snapshots->first_readable;
}

// Reads the ring that a block belongs to. Returns false if it is not known.
static bool ring_of(struct extract_log_snapshots *snapshots, const struct extract_log_block *block)
{
    size_t n = find_ring(snapshots, block);

    snapshots->gone = n == SIZE_MAX && snapshots->passed;
    if (n == SIZE_MAX || (block->kind && block->kind != snapshots->ring_places[n].key))
        return false;
    size_t at = snapshots->rings.at[n];
    return snapshots->ring_at == at || !read_ring(snapshots, at, NULL);
}

const struct extract_ring *extract_log_snapshots_ring(struct extract_log_snapshots *snapshots,
                                                      size_t n, size_t *i)
{
    *i = n < snapshots->rings.count ? snapshots->rings.at[n] : SIZE_MAX;
    if (*i == SIZE_MAX || (snapshots->ring_at != *i && read_ring(snapshots, *i, NULL)))
        return NULL;
    return &snapshots->ring;
}

// Makes `piece` present the bytes as `count` slots, which are entries or objects.
static void frame_slots(struct extract_log_snapshots *snapshots, bool entries, uint64_t address,
                        uint8_t *bytes, uint32_t count)
{
    struct extract_snapshot *piece = &snapshots->piece;
    const struct extract_ring *ring = &snapshots->ring;
    struct extract_slots slots = entries ? ring->entries : ring->registry;
    uint64_t length = (uint64_t)count * slots.slot_bytes;

    memset(piece, 0, sizeof *piece);
    piece->ring = *ring;
    piece->ring.address = address;
    piece->ring.header_bytes = 0;
    piece->ring.length = length;
    slots = (struct extract_slots){address, address + length, slots.slot_bytes, count};
    piece->ring.entries.count = piece->ring.registry.count = 0;
    *(entries ? &piece->ring.entries : &piece->ring.registry) = slots;
    piece->bytes = bytes;
    piece->verdict = snapshots->verdicts;
}

// Counts the verdicts. Most blocks contain only good entries, and testing for that is faster.
static void count_verdicts(struct extract_snapshot *snapshot)
{
    uint32_t count = snapshot->ring.entries.count, others = 0;

    for (uint32_t slot = 0; slot < count; slot++)
        others += snapshot->verdict[slot] != EXTRACT_GOOD;
    snapshot->counts[EXTRACT_GOOD] = others ? 0 : count;
    for (uint32_t slot = 0; others && slot < count; slot++)
        snapshot->counts[snapshot->verdict[slot]]++;
}

static void validate_entries(struct extract_snapshot *piece, uint32_t provisional)
{
    uint32_t count = piece->ring.entries.count;

    piece->ring.format->slots->validate_recorded(piece);
    for (uint32_t i = 1; i <= provisional && i <= count; i++)
        if (piece->verdict[count - i] == EXTRACT_GOOD)
            piece->verdict[count - i] = EXTRACT_PROVISIONAL;
    count_verdicts(piece);
}

// Makes `piece` present the entries that end in block `i`.
static const struct extract_snapshot *frame_bytes(struct extract_log_snapshots *snapshots, size_t i)
{
    snapshots->gone = false;
    snapshots->framed = SIZE_MAX;
    if (!extract_byte_log_block_of(&snapshots->byte_log, i, &snapshots->piece))
        return NULL;
    snapshots->framed = i;
    return &snapshots->piece;
}

enum extract_code extract_log_snapshots_unroll(struct extract_log_snapshots *snapshots,
                                               const struct extract_rkh *rkh,
                                               struct extract_error *error)
{
    if (!extract_stream_is_recorded(snapshots->head.ring.format->stream))
        return EXTRACT_OK;
    snapshots->ring_at = SIZE_MAX;
    snapshots->unrolled = true;
    bool *known_keys = calloc(UINT16_MAX + 1, sizeof *known_keys);
    if (!known_keys)
        return extract_error_set(error, EXTRACT_NOMEM, "log", NULL, "out of memory");
    for (size_t n = 0; n < snapshots->rings.count; n++)
        known_keys[snapshots->ring_places[n].key] |= snapshots->ring_places[n].readable == n;
    enum extract_code code = extract_byte_log_read(&snapshots->byte_log, snapshots->log,
                                                   &snapshots->head.ring, known_keys, rkh, error);
    free(known_keys);
    return code;
}

const struct extract_snapshot *
extract_log_snapshots_all(const struct extract_log_snapshots *snapshots)
{
    return snapshots->unrolled ? &snapshots->byte_log.all : NULL;
}

const struct extract_snapshot *
extract_log_snapshots_entries(struct extract_log_snapshots *snapshots,
                              const struct extract_log_block *block)
{
    const struct extract_log_block copy = *block; // reading the ring overwrites the last header

    if (snapshots->framed == copy.index)
        return &snapshots->piece;
    if (copy.type == EXTRACT_LOG_BYTES)
        return frame_bytes(snapshots, copy.index);
    if (copy.type != EXTRACT_LOG_ENTRIES || !copy.count || !ring_of(snapshots, &copy) ||
        (uint64_t)copy.count * snapshots->ring.entries.slot_bytes != copy.length ||
        !load_block(snapshots, &copy) ||
        !grow_buffer(snapshots, &snapshots->verdicts, &snapshots->verdict_capacity, copy.count))
        return NULL;
    frame_slots(snapshots, true, snapshots->ring.entries.start, snapshots->buffer, copy.count);
    validate_entries(&snapshots->piece,
                     copy.flags & EXTRACT_LOG_PROVISIONAL ? copy.provisional : 0);
    snapshots->framed = copy.index;
    return &snapshots->piece;
}

// Makes `piece` present a block of names as a registry that contains nothing else.
static bool frame_names(struct extract_log_snapshots *snapshots,
                        const struct extract_log_block *block)
{
    struct extract_log_names names;

    if (!load_block(snapshots, block) ||
        extract_log_names(&names, snapshots->buffer, block->length, NULL))
        return false;
    snapshots->framed = SIZE_MAX;
    snapshots->ring.registry.slot_bytes = names.slot_bytes;
    frame_slots(snapshots, false, snapshots->ring.address,
                snapshots->buffer + (names.bytes - snapshots->buffer), names.count);
    return true;
}

// Makes `piece` present the registry in block `i`.
static bool frame_registry(struct extract_log_snapshots *snapshots, size_t i)
{
    uint64_t address;
    const uint8_t *bytes;
    size_t length;
    const struct extract_log_block *block = extract_log_snapshots_block(snapshots, i);

    if (!block)
        return false;
    const struct extract_log_block copy = *block; // reading the ring overwrites the last header
    if (!ring_of(snapshots, &copy))
        return false;
    if (copy.type == EXTRACT_LOG_NAMES)
        return frame_names(snapshots, &copy);
    if (!snapshots->ring.registry.slot_bytes || !load_block(snapshots, &copy) ||
        copy.type != EXTRACT_LOG_OBJECTS ||
        extract_log_objects(&address, &bytes, &length, snapshots->buffer, copy.length, NULL))
        return false;
    uint64_t slots = length / snapshots->ring.registry.slot_bytes;
    snapshots->framed = SIZE_MAX;
    frame_slots(snapshots, false, address, snapshots->buffer + (bytes - snapshots->buffer),
                (uint32_t)slots);
    return true;
}

const struct extract_snapshot *
extract_log_snapshots_registry(struct extract_log_snapshots *snapshots, size_t *i)
{
    size_t before = places_before(&snapshots->registries, *i);

    for (; before; before--) {
        *i = snapshots->registries.at[before - 1];
        if (frame_registry(snapshots, *i))
            return &snapshots->piece;
    }
    return NULL;
}

bool extract_log_snapshots_names(struct extract_log_snapshots *snapshots, const uint8_t **bytes,
                                 size_t *length)
{
    uint64_t address;

    for (size_t n = snapshots->registries.count; n; n--) {
        const struct extract_log_block *block =
            extract_log_snapshots_block(snapshots, snapshots->registries.at[n - 1]);
        if (!block || block->type != EXTRACT_LOG_OBJECTS)
            continue;
        const struct extract_log_block copy = *block; // reading the ring overwrites the last header
        if (ring_of(snapshots, &copy) && snapshots->ring.format->stream &&
            load_block(snapshots, &copy) &&
            !extract_log_objects(&address, bytes, length, snapshots->buffer, copy.length, NULL))
            return true;
    }
    return false;
}

bool extract_log_snapshots_ending(struct extract_log_snapshots *snapshots,
                                  struct extract_log_ending *ending)
{
    const struct extract_log_block *block =
        snapshots->ending == SIZE_MAX ? NULL
                                      : extract_log_snapshots_block(snapshots, snapshots->ending);

    return block && block->type == EXTRACT_LOG_ATTRIBUTES && load_block(snapshots, block) &&
           extract_log_ending(ending, snapshots->buffer, block->length);
}

void extract_log_snapshots_pass(struct extract_log_snapshots *snapshots, size_t i, uint64_t seq)
{
    const struct places *places = &snapshots->registries;
    size_t n = places_before(places, i);

    if (n < places->count && places->at[n] == i)
        snapshots->passed_at[n] = seq;
}

size_t extract_log_snapshots_registry_of(const struct extract_log_snapshots *snapshots,
                                         uint64_t seq)
{
    size_t low = 0, high = snapshots->registries.count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (snapshots->passed_at[middle] <= seq)
            low = middle;
        else
            high = middle;
    }
    return high ? snapshots->registries.at[low] : 0;
}

bool extract_log_snapshots_text(struct extract_log_snapshots *snapshots, size_t i,
                                struct extract_text *text)
{
    const struct extract_log_block *block = extract_log_snapshots_block(snapshots, i);

    if (!block || block->type != EXTRACT_LOG_MARK || !load_block(snapshots, block))
        return false;
    extract_text_put(text, (const char *)snapshots->buffer, block->length);
    return true;
}

bool extract_log_snapshots_are_merged(struct extract_log_snapshots *snapshots)
{
    const struct extract_log_block *block;
    struct extract_text text;
    bool is = false;
    size_t i = 0;

    while ((block = extract_log_snapshots_block(snapshots, i)) &&
           !extract_log_holds_entries(block) &&
           (block->type != EXTRACT_LOG_MARK || block->kind != EXTRACT_MARK_START))
        i++;
    extract_text_init(&text, NULL, NULL);
    if (block && extract_log_snapshots_text(snapshots, i, &text))
        is = text.used >= strlen(EXTRACT_LOG_MERGED) &&
             memcmp(text.data, EXTRACT_LOG_MERGED, strlen(EXTRACT_LOG_MERGED)) == 0;
    extract_text_free(&text);
    return is;
}

bool extract_log_snapshots_read_at(struct extract_log_snapshots *snapshots, size_t block,
                                   uint64_t *after, uint64_t *before)
{
    const struct places *places = &snapshots->registries;
    size_t n = places_before(places, block);
    const struct extract_log_block *next;

    if (n >= places->count || places->at[n] != block || snapshots->passed_at[n] == UINT64_MAX ||
        (n == 0 && extract_log_snapshots_are_merged(snapshots)))
        return false;
    *after = *before = snapshots->passed_at[n];
    do
        next = extract_log_snapshots_block(snapshots, ++block);
    while (next && !extract_log_holds_entries(next));
    *before = next ? *before + next->count : UINT64_MAX;
    return true;
}

// Notes a ring. One that cannot be read is noted too, because the blocks after it do not belong to
// the ring before it. *first is set to the error of the first ring that has a valid checksum but
// cannot be decoded.
static enum extract_code scan_ring(struct extract_log_snapshots *snapshots, size_t i,
                                   struct extract_error *first)
{
    struct extract_error error;
    const struct extract_log_block block = *extract_log_snapshots_block(snapshots, i);
    enum extract_code code =
        load_block(snapshots, &block) ? read_ring(snapshots, i, &error) : EXTRACT_BAD;

    if (code == EXTRACT_NOMEM || snapshots->starved)
        return EXTRACT_NOMEM;
    if (code && snapshots->loaded == i) {
        snapshots->damaged++;
        *first = first->code ? *first : error;
    }
    snapshots->passed |= code && snapshots->gone;
    if (!code) {
        snapshots->head.ring = snapshots->ring;
        snapshots->head_at = i;
    }
    struct ring_place *places =
        extract_grow(snapshots->ring_places, &snapshots->ring_places_capacity,
                     snapshots->rings.count, sizeof *places);
    if (!places)
        return EXTRACT_NOMEM;
    size_t n = snapshots->rings.count;
    size_t readable = !code ? n : n ? places[n - 1].readable : SIZE_MAX;
    snapshots->ring_places = places;
    places[n] = (struct ring_place){readable, block.kind};
    if (!code && snapshots->first_readable == SIZE_MAX)
        snapshots->first_readable = n;
    return note_place(&snapshots->rings, i) ? EXTRACT_OK : EXTRACT_NOMEM;
}

// Notes a registry. One that has a valid checksum but cannot be decoded counts as damaged.
static enum extract_code scan_registry(struct extract_log_snapshots *snapshots, size_t i)
{
    struct extract_log_names names;
    uint64_t address;
    const uint8_t *bytes;
    size_t length;
    const struct extract_log_block block = *extract_log_snapshots_block(snapshots, i);

    if (load_block(snapshots, &block)) {
        enum extract_code code =
            block.type == EXTRACT_LOG_NAMES
                ? extract_log_names(&names, snapshots->buffer, block.length, NULL)
                : extract_log_objects(&address, &bytes, &length, snapshots->buffer, block.length,
                                      NULL);
        snapshots->damaged += code != EXTRACT_OK;
    }
    return !snapshots->starved && note_place(&snapshots->registries, i) ? EXTRACT_OK
                                                                        : EXTRACT_NOMEM;
}

// Explains why no ring was found in the log.
static enum extract_code report_missing_ring(const struct extract_log_snapshots *snapshots,
                                             const struct extract_error *first,
                                             struct extract_error *error)
{
    const struct extract_log_status *status = extract_log_status(snapshots->log);
    const char *name = extract_log_name(snapshots->log);

    if (first->code) {
        if (error)
            *error = *first;
        return first->code;
    }
    if (status->converted && !snapshots->passed)
        return extract_error_set(error, EXTRACT_BAD, name, "transfer it as binary",
                                 "no block describes the ring, and each byte 0x0A follows a 0x0D: "
                                 "line ends were converted on the way (likely)");
    if ((status->damaged || status->missing || status->cut) && !snapshots->passed)
        return extract_error_set(error, EXTRACT_BAD, name, "restore the file from a copy",
                                 status->cut ? "no complete block describes the ring"
                                             : "every block that describes the ring is "
                                               "damaged");
    return extract_error_set(error, EXTRACT_ABSENT, name, "check that the target was ever reached",
                             "the log describes no trace ring: nothing was recorded");
}

// Finds the blocks with rings and registries.
static enum extract_code scan_log(struct extract_log_snapshots *snapshots,
                                  struct extract_error *error)
{
    const struct extract_log_block *block;
    struct extract_error first = {0};
    enum extract_code code = EXTRACT_OK;

    snapshots->rings.count = snapshots->registries.count = 0;
    snapshots->damaged = 0;
    snapshots->passed = snapshots->lapped = false;
    snapshots->ending = snapshots->first_readable = SIZE_MAX;
    snapshots->head.ring.format = NULL;
    for (size_t i = 0; !code && (block = extract_log_snapshots_block(snapshots, i)); i++) {
        uint16_t type = block->type;
        snapshots->lapped = type == EXTRACT_LOG_GONE;
        snapshots->passed |= snapshots->lapped;
        if (type == EXTRACT_LOG_ATTRIBUTES)
            snapshots->ending = i;
        else if (extract_log_holds_entries(block))
            snapshots->ending = SIZE_MAX;
        if (type == EXTRACT_LOG_RING)
            code = scan_ring(snapshots, i, &first);
        else if (type == EXTRACT_LOG_OBJECTS || type == EXTRACT_LOG_NAMES)
            code = scan_registry(snapshots, i);
    }
    if (code)
        return extract_error_set(error, code, "log", NULL, "out of memory");
    return snapshots->head.ring.format ? EXTRACT_OK : report_missing_ring(snapshots, &first, error);
}

// Scans again if the writer of a LOOP log dropped the only block that describes the ring, or all
// blocks, during the scan.
static enum extract_code scan_again(struct extract_log_snapshots *snapshots,
                                    struct extract_error *error)
{
    enum extract_code code = scan_log(snapshots, error);

    for (unsigned i = 1; i < OPENINGS; i++) {
        if (!(code == EXTRACT_ABSENT && snapshots->passed) && !(!code && snapshots->lapped))
            break;
        snapshots->ring_at = snapshots->loaded = snapshots->block.index = SIZE_MAX;
        code = extract_log_again(snapshots->log, error);
        code = code ? code : scan_log(snapshots, error);
    }
    return code;
}

static bool begin_passing(struct extract_log_snapshots *snapshots)
{
    size_t count = snapshots->registries.count;

    snapshots->passed_at = malloc((count + 1) * sizeof *snapshots->passed_at);
    for (size_t i = 0; snapshots->passed_at && i < count; i++)
        snapshots->passed_at[i] = UINT64_MAX;
    return snapshots->passed_at != NULL;
}

enum extract_code extract_log_snapshots_open(struct extract_log_snapshots **snapshots,
                                             struct extract_log *log, struct extract_error *error)
{
    struct extract_log_snapshots *p = calloc(1, sizeof *p);

    *snapshots = NULL;
    if (!p)
        return extract_error_set(error, EXTRACT_NOMEM, "log", NULL, "out of memory");
    p->log = log;
    p->ring_at = p->loaded = p->framed = p->block.index = SIZE_MAX;
    // A block without a payload is read, too, and needs an address.
    enum extract_code code = EXTRACT_NOMEM;
    if (grow_buffer(p, &p->buffer, &p->capacity, 1))
        code = scan_again(p, error);
    if (!code && !begin_passing(p))
        code = EXTRACT_NOMEM;
    if (code == EXTRACT_NOMEM)
        extract_error_set(error, EXTRACT_NOMEM, "log", NULL, "out of memory");
    if (code)
        extract_log_snapshots_close(p);
    else
        *snapshots = p;
    return code;
}

void extract_log_snapshots_close(struct extract_log_snapshots *snapshots)
{
    if (!snapshots)
        return;
    free(snapshots->rings.at);
    free(snapshots->ring_places);
    free(snapshots->registries.at);
    free(snapshots->passed_at);
    free(snapshots->buffer);
    free(snapshots->verdicts);
    extract_byte_log_free(&snapshots->byte_log);
    free(snapshots);
}

struct extract_log *extract_log_snapshots_log(const struct extract_log_snapshots *snapshots)
{
    return snapshots->log;
}

struct extract_snapshot *extract_log_snapshots_head(struct extract_log_snapshots *snapshots)
{
    return &snapshots->head;
}

uint64_t extract_log_snapshots_damaged(const struct extract_log_snapshots *snapshots)
{
    return snapshots->damaged;
}

bool extract_log_snapshots_starved(const struct extract_log_snapshots *snapshots)
{
    return snapshots->starved;
}

// ---- The ring as the log ends ----

// Returns the index of the block from which on the newest `most` printable entries are, and in
// *found the number of entries in these blocks.
static size_t find_newest(struct extract_log_snapshots *snapshots, uint64_t most, uint64_t *found)
{
    size_t end = 0, last = snapshots->head_at;

    while (extract_log_snapshots_block(snapshots, end))
        end++;
    *found = 0;
    for (; end > last + 1 && *found < most; end--) {
        const struct extract_log_block *block = extract_log_snapshots_block(snapshots, end - 1);
        if (!block)
            break;
        if (block->type == EXTRACT_LOG_MARK && block->kind == EXTRACT_MARK_RESET)
            break;
        const struct extract_snapshot *piece = block->type == EXTRACT_LOG_ENTRIES
                                                   ? extract_log_snapshots_entries(snapshots, block)
                                                   : NULL;
        *found += piece ? extract_snapshot_valid(piece) : 0;
    }
    return end;
}

static void copy_entries(struct extract_snapshot *image, const struct extract_snapshot *piece,
                         uint64_t *skip)
{
    const struct extract_slots *slots = &image->ring.entries;

    for (uint32_t i = 0; i < piece->ring.entries.count; i++) {
        if (piece->verdict[i] > EXTRACT_PROVISIONAL)
            continue;
        if (*skip) {
            --*skip;
            continue;
        }
        if (image->current == slots->count) // the log has grown in the meantime
            return;
        memcpy(image->bytes + (slots->start - image->ring.address) +
                   (uint64_t)image->current * slots->slot_bytes,
               piece->bytes + (uint64_t)i * slots->slot_bytes, slots->slot_bytes);
        image->verdict[image->current++] = piece->verdict[i];
    }
}

static void copy_registry(struct extract_log_snapshots *snapshots, struct extract_snapshot *image)
{
    const struct extract_slots *slots = &image->ring.registry;
    size_t i = SIZE_MAX;
    const struct extract_snapshot *piece = extract_log_snapshots_registry(snapshots, &i);

    if (!piece || piece->ring.registry.slot_bytes != slots->slot_bytes)
        return;
    uint64_t capacity = slots->end - slots->start, length = piece->ring.length;
    memcpy(image->bytes + (slots->start - image->ring.address), piece->bytes,
           (size_t)(length < capacity ? length : capacity));
}

static bool allocate(struct extract_snapshot *image)
{
    image->bytes = calloc(1, (size_t)image->ring.length);
    image->verdict = malloc(image->ring.entries.count);
    if (!image->bytes || !image->verdict)
        return false;
    memcpy(image->bytes, image->ring.header, image->ring.header_bytes);
    memset(image->verdict, EXTRACT_UNUSED, image->ring.entries.count);
    return true;
}

static void *copy_of(const void *from, size_t bytes)
{
    void *to = malloc(bytes + 1);
    if (to && bytes)
        memcpy(to, from, bytes);
    return to;
}

// Copies the bytes of a byte log. Names of user events, which are in blocks of their own, go before
// the entries.
static uint8_t *copy_bytes(struct extract_log_snapshots *snapshots, struct extract_snapshot *image)
{
    const struct extract_snapshot *all = &snapshots->byte_log.all, *names = NULL;
    uint64_t length = all->ring.length + all->ring.format->stream->slack_bytes(&all->ring);
    size_t i = SIZE_MAX;

    if (all->ring.format->user_ids)
        names = extract_log_snapshots_registry(snapshots, &i);
    size_t front = names ? (size_t)names->ring.length : 0;
    uint8_t *bytes = malloc(front + (size_t)length + 1);
    if (!bytes)
        return NULL;
    if (names) {
        memcpy(bytes, names->bytes, front);
        image->ring.registry = names->ring.registry;
        image->ring.length += front;
    }
    memcpy(bytes + front, all->bytes, (size_t)length);
    for (uint32_t k = 0; image->index && k < all->ring.entries.count; k++)
        image->index[k].offset += (uint32_t)front;
    return bytes;
}

static enum extract_code copy_all(struct extract_log_snapshots *snapshots,
                                  struct extract_snapshot *image, struct extract_error *error)
{
    const struct extract_snapshot *all = &snapshots->byte_log.all;
    size_t count = all->ring.entries.count;

    *image = *all;
    image->verdict = copy_of(all->verdict, count);
    image->index = copy_of(all->index, count * sizeof *all->index);
    image->bytes = copy_bytes(snapshots, image);
    if (image->bytes && image->verdict && image->index) {
        count_verdicts(image);
        return EXTRACT_OK;
    }
    extract_snapshot_free(image);
    return extract_error_set(error, EXTRACT_NOMEM, "log", NULL, "out of memory");
}

enum extract_code extract_log_snapshots_image(struct extract_log_snapshots *snapshots,
                                              struct extract_snapshot *image,
                                              struct extract_error *error)
{
    const struct extract_log_block *block;
    uint64_t found, skip;

    memset(image, 0, sizeof *image);
    if (snapshots->unrolled)
        return copy_all(snapshots, image, error);
    image->ring = snapshots->head.ring;
    if (!allocate(image)) {
        extract_snapshot_free(image);
        return extract_error_set(error, EXTRACT_NOMEM, "trace ring", NULL,
                                 "out of memory for %llu bytes",
                                 (unsigned long long)snapshots->head.ring.length);
    }
    uint32_t count = image->ring.entries.count;
    size_t i = find_newest(snapshots, count, &found);
    skip = found > count ? found - count : 0;
    copy_registry(snapshots, image);
    for (; (block = extract_log_snapshots_block(snapshots, i)); i++) {
        const struct extract_snapshot *piece = block->type == EXTRACT_LOG_ENTRIES
                                                   ? extract_log_snapshots_entries(snapshots, block)
                                                   : NULL;
        if (piece)
            copy_entries(image, piece, &skip);
    }
    image->wrapped = image->current == count;
    image->current %= count;
    count_verdicts(image);
    return EXTRACT_OK;
}
