// SPDX-License-Identifier: MIT
// snapshot: a log as a row of pieces. In: a log. Out: one block at a time, verified and judged.
//
// One buffer holds the block that was asked for last, so that memory does not grow with the log;
// the numbers of the blocks with rings and registries are kept, of which there are few.
#include "snapshot/pieces.h"
#include "base/cursor.h"
#include "base/grow.h"
#include "base/now.h"
#include "formats/format.h"
#include "snapshot/stretch.h"
#include <stdlib.h>

// Numbers of blocks, rising.
struct places {
    size_t *at;
    size_t count, room;
};

// What is known of the ring at each of the places of rings.
struct told_ring {
    size_t readable; // number of the last readable ring up to this one; SIZE_MAX: none
    uint16_t key;    // by which blocks tell that they belong to it; 0: they do not
};

enum { OPENINGS = 8 }; // of a log whose writer wraps faster than it is read

struct extract_pieces {
    struct extract_log *log;
    struct extract_snapshot head;
    size_t head_at; // the block that tells its ring
    size_t ending;  // and the one that tells its stream's end; SIZE_MAX: none
    struct places rings, registries;
    struct told_ring *told; // for each of the rings
    size_t told_room;
    size_t first_readable;          // number of the first readable ring; SIZE_MAX: none
    uint64_t *passed_at;            // numbers of the events behind each of the registries
    struct extract_ring ring;       // of the blocks behind `ring_at`
    size_t ring_at;                 // SIZE_MAX: none
    struct extract_log_block block; // the head in hand; its index is SIZE_MAX when there is none
    size_t loaded;                  // whose payload lies in the buffer; SIZE_MAX: none
    size_t framed;                  // and of which `piece` is made
    struct extract_snapshot piece;
    bool unrolled;
    struct extract_stretches stretches; // of a log of a stream
    uint8_t *buffer;
    size_t room;
    uint8_t *verdicts;
    size_t verdict_room;
    uint64_t damaged;
    bool passed;  // the writer had come to blocks of the log before they were looked at
    bool lapped;  // and to the newest of them
    bool gone;    // what was asked for last is not there any more, since its writer dropped it
    bool starved; // memory was short
};

static bool note_place(struct places *places, size_t i)
{
    size_t *at = extract_grow(places->at, &places->room, places->count, sizeof *at);
    if (!at)
        return false;
    places->at = at;
    places->at[places->count++] = i;
    return true;
}

// How many of the places lie in front of `i`.
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

const struct extract_log_block *extract_pieces_block(struct extract_pieces *pieces, size_t i)
{
    if (pieces->block.index == i)
        return &pieces->block;
    if (!extract_log_block_at(pieces->log, i, &pieces->block)) {
        pieces->block.index = SIZE_MAX;
        return NULL;
    }
    pieces->block.index = i;
    return &pieces->block;
}

static bool grow(struct extract_pieces *pieces, uint8_t **bytes, size_t *room, size_t want)
{
    if (want <= *room)
        return true;
    uint8_t *more = realloc(*bytes, want);
    pieces->starved |= !more;
    if (!more)
        return false;
    *bytes = more;
    *room = want;
    return true;
}

// Reads a block's payload into the buffer.
static bool load(struct extract_pieces *pieces, const struct extract_log_block *block)
{
    struct extract_memory_cost *cost = &pieces->head.cost;
    if (pieces->loaded == block->index)
        return true;
    pieces->loaded = pieces->framed = SIZE_MAX;
    if (block->length > EXTRACT_RING_LIMIT ||
        !grow(pieces, &pieces->buffer, &pieces->room, block->length))
        return false;
    uint64_t start = extract_now();
    enum extract_code code = extract_log_read(pieces->log, block, pieces->buffer, NULL);
    bool whole = !code && block->type != EXTRACT_LOG_GONE;
    pieces->gone = code == EXTRACT_ABSENT;
    cost->nanoseconds += extract_now() - start;
    cost->reads++;
    cost->bytes += whole ? block->length : 0;
    cost->failed += !whole && !pieces->gone;
    if (whole)
        pieces->loaded = block->index;
    return whole;
}

bool extract_pieces_verify(struct extract_pieces *pieces, const struct extract_log_block *block)
{
    pieces->gone = false;
    return load(pieces, block);
}

bool extract_pieces_gone(const struct extract_pieces *pieces)
{
    return pieces->gone;
}

static enum extract_code read_ring(struct extract_pieces *pieces, size_t i,
                                   struct extract_error *error)
{
    const struct extract_log_block *block = extract_pieces_block(pieces, i);
    pieces->ring_at = SIZE_MAX;
    if (!block || !load(pieces, block) || block->type != EXTRACT_LOG_RING)
        return extract_error_set(error, EXTRACT_BAD, extract_log_name(pieces->log), NULL,
                                 "the block that tells what was recorded is damaged");
    enum extract_code code = extract_log_ring(&pieces->ring, pieces->buffer, block->length, error);
    if (!code)
        pieces->ring_at = i;
    if (!code && pieces->unrolled)
        pieces->ring.timer_mask = pieces->head.ring.timer_mask;
    return code;
}

// Returns the number of the last readable ring before a block, or else of the first one after it. A
// block without a key belongs to the ring before it, even if that is not readable. Returns SIZE_MAX
// if there is none.
static size_t find_ring(const struct extract_pieces *pieces, const struct extract_log_block *block)
{
    size_t before = places_before(&pieces->rings, block->index);
    if (!block->kind)
        return before && pieces->told[before - 1].readable == before - 1 ? before - 1 : SIZE_MAX;
    size_t readable = before ? pieces->told[before - 1].readable : SIZE_MAX;
    return readable != SIZE_MAX ? readable : pieces->first_readable;
}

// Takes the ring in hand that a block belongs to. False: it is not known.
static bool ring_of(struct extract_pieces *pieces, const struct extract_log_block *block)
{
    size_t n = find_ring(pieces, block);
    pieces->gone = n == SIZE_MAX && pieces->passed;
    if (n == SIZE_MAX || (block->kind && block->kind != pieces->told[n].key))
        return false;
    size_t at = pieces->rings.at[n];
    return pieces->ring_at == at || !read_ring(pieces, at, NULL);
}

const struct extract_ring *extract_pieces_ring(struct extract_pieces *pieces, size_t n, size_t *i)
{
    *i = n < pieces->rings.count ? pieces->rings.at[n] : SIZE_MAX;
    if (*i == SIZE_MAX || (pieces->ring_at != *i && read_ring(pieces, *i, NULL)))
        return NULL;
    return &pieces->ring;
}

// Makes `piece` of the buffer: `count` slots, which are entries or objects.
static void frame(struct extract_pieces *pieces, bool entries, uint64_t address, uint8_t *bytes,
                  uint32_t count)
{
    struct extract_snapshot *piece = &pieces->piece;
    const struct extract_ring *ring = &pieces->ring;
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
    piece->verdict = pieces->verdicts;
}

// Most blocks hold nothing but good entries, which is found out faster than it is counted.
static void count_verdicts(struct extract_snapshot *snapshot)
{
    uint32_t count = snapshot->ring.entries.count, others = 0;
    for (uint32_t slot = 0; slot < count; slot++)
        others += snapshot->verdict[slot] != EXTRACT_GOOD;
    snapshot->counts[EXTRACT_GOOD] = others ? 0 : count;
    for (uint32_t slot = 0; others && slot < count; slot++)
        snapshot->counts[snapshot->verdict[slot]]++;
}

static void judge(struct extract_snapshot *piece, uint32_t provisional)
{
    uint32_t count = piece->ring.entries.count;
    piece->ring.format->slots->validate_recorded(piece);
    for (uint32_t i = 1; i <= provisional && i <= count; i++)
        if (piece->verdict[count - i] == EXTRACT_GOOD)
            piece->verdict[count - i] = EXTRACT_PROVISIONAL;
    count_verdicts(piece);
}

// Makes `piece` of the entries that end in block `i`.
static const struct extract_snapshot *frame_stretch(struct extract_pieces *pieces, size_t i)
{
    pieces->gone = false;
    pieces->framed = SIZE_MAX;
    if (!extract_stretches_piece(&pieces->stretches, i, &pieces->piece))
        return NULL;
    pieces->framed = i;
    return &pieces->piece;
}

enum extract_code extract_pieces_unroll(struct extract_pieces *pieces,
                                        const struct extract_rkh *rkh, struct extract_error *error)
{
    if (!extract_stream_is_recorded(pieces->head.ring.format->stream))
        return EXTRACT_OK;
    pieces->ring_at = SIZE_MAX;
    pieces->unrolled = true;
    bool *known_keys = calloc(UINT16_MAX + 1, sizeof *known_keys);
    if (!known_keys)
        return extract_error_set(error, EXTRACT_NOMEM, "log", NULL, "out of memory");
    for (size_t n = 0; n < pieces->rings.count; n++)
        known_keys[pieces->told[n].key] |= pieces->told[n].readable == n;
    enum extract_code code = extract_stretches_read(&pieces->stretches, pieces->log,
                                                    &pieces->head.ring, known_keys, rkh, error);
    free(known_keys);
    return code;
}

const struct extract_snapshot *extract_pieces_all(const struct extract_pieces *pieces)
{
    return pieces->unrolled ? &pieces->stretches.all : NULL;
}

const struct extract_snapshot *extract_pieces_entries(struct extract_pieces *pieces,
                                                      const struct extract_log_block *block)
{
    const struct extract_log_block copy = *block; // the head in hand may change
    if (pieces->framed == copy.index)
        return &pieces->piece;
    if (copy.type == EXTRACT_LOG_BYTES)
        return frame_stretch(pieces, copy.index);
    if (copy.type != EXTRACT_LOG_ENTRIES || !copy.count || !ring_of(pieces, &copy) ||
        (uint64_t)copy.count * pieces->ring.entries.slot_bytes != copy.length ||
        !load(pieces, &copy) || !grow(pieces, &pieces->verdicts, &pieces->verdict_room, copy.count))
        return NULL;
    frame(pieces, true, pieces->ring.entries.start, pieces->buffer, copy.count);
    judge(&pieces->piece, copy.flags & EXTRACT_LOG_PROVISIONAL ? copy.provisional : 0);
    pieces->framed = copy.index;
    return &pieces->piece;
}

// Makes `piece` of a block that tells names: a registry of nothing else.
static bool frame_names(struct extract_pieces *pieces, const struct extract_log_block *block)
{
    struct extract_log_names names;
    if (!load(pieces, block) || extract_log_names(&names, pieces->buffer, block->length, NULL))
        return false;
    pieces->framed = SIZE_MAX;
    pieces->ring.registry.slot_bytes = names.slot_bytes;
    frame(pieces, false, pieces->ring.address, pieces->buffer + (names.bytes - pieces->buffer),
          names.count);
    return true;
}

// Makes `piece` of block `i`, which holds a registry.
static bool frame_registry(struct extract_pieces *pieces, size_t i)
{
    uint64_t address;
    const uint8_t *bytes;
    size_t length;
    const struct extract_log_block *block = extract_pieces_block(pieces, i);
    if (!block)
        return false;
    const struct extract_log_block copy = *block; // the head in hand may change
    if (!ring_of(pieces, &copy))
        return false;
    if (copy.type == EXTRACT_LOG_NAMES)
        return frame_names(pieces, &copy);
    if (!pieces->ring.registry.slot_bytes || !load(pieces, &copy) ||
        copy.type != EXTRACT_LOG_OBJECTS ||
        extract_log_objects(&address, &bytes, &length, pieces->buffer, copy.length, NULL))
        return false;
    uint64_t slots = length / pieces->ring.registry.slot_bytes;
    pieces->framed = SIZE_MAX;
    frame(pieces, false, address, pieces->buffer + (bytes - pieces->buffer), (uint32_t)slots);
    return true;
}

const struct extract_snapshot *extract_pieces_registry(struct extract_pieces *pieces, size_t *i)
{
    size_t before = places_before(&pieces->registries, *i);
    for (; before; before--) {
        *i = pieces->registries.at[before - 1];
        if (frame_registry(pieces, *i))
            return &pieces->piece;
    }
    return NULL;
}

bool extract_pieces_ending(struct extract_pieces *pieces, struct extract_log_ending *ending)
{
    const struct extract_log_block *block =
        pieces->ending == SIZE_MAX ? NULL : extract_pieces_block(pieces, pieces->ending);
    return block && block->type == EXTRACT_LOG_ATTRIBUTES && load(pieces, block) &&
           extract_log_ending(ending, pieces->buffer, block->length);
}

void extract_pieces_pass(struct extract_pieces *pieces, size_t i, uint64_t seq)
{
    const struct places *places = &pieces->registries;
    size_t n = places_before(places, i);
    if (n < places->count && places->at[n] == i)
        pieces->passed_at[n] = seq;
}

size_t extract_pieces_registry_of(const struct extract_pieces *pieces, uint64_t seq)
{
    size_t low = 0, high = pieces->registries.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (pieces->passed_at[middle] <= seq)
            low = middle;
        else
            high = middle;
    }
    return high ? pieces->registries.at[low] : 0;
}

bool extract_pieces_text(struct extract_pieces *pieces, size_t i, struct extract_text *text)
{
    const struct extract_log_block *block = extract_pieces_block(pieces, i);
    if (!block || block->type != EXTRACT_LOG_MARK || !load(pieces, block))
        return false;
    extract_text_put(text, (const char *)pieces->buffer, block->length);
    return true;
}

// Notes a ring, also one that cannot be read: what follows does not belong to the ring before it.
// *first gets the error of the first ring that is whole but makes no sense.
static enum extract_code scan_ring(struct extract_pieces *pieces, size_t i,
                                   struct extract_error *first)
{
    struct extract_error error;
    const struct extract_log_block block = *extract_pieces_block(pieces, i);
    enum extract_code code = load(pieces, &block) ? read_ring(pieces, i, &error) : EXTRACT_BAD;
    if (code == EXTRACT_NOMEM || pieces->starved)
        return EXTRACT_NOMEM;
    if (code && pieces->loaded == i) {
        pieces->damaged++;
        *first = first->code ? *first : error;
    }
    pieces->passed |= code && pieces->gone;
    if (!code) {
        pieces->head.ring = pieces->ring;
        pieces->head_at = i;
    }
    struct told_ring *told =
        extract_grow(pieces->told, &pieces->told_room, pieces->rings.count, sizeof *told);
    if (!told)
        return EXTRACT_NOMEM;
    size_t n = pieces->rings.count;
    size_t readable = !code ? n : n ? told[n - 1].readable : SIZE_MAX;
    pieces->told = told;
    told[n] = (struct told_ring){readable, block.kind};
    if (!code && pieces->first_readable == SIZE_MAX)
        pieces->first_readable = n;
    return note_place(&pieces->rings, i) ? EXTRACT_OK : EXTRACT_NOMEM;
}

// Notes a registry; one that is whole but makes no sense counts as damaged.
static enum extract_code scan_registry(struct extract_pieces *pieces, size_t i)
{
    struct extract_log_names names;
    uint64_t address;
    const uint8_t *bytes;
    size_t length;
    const struct extract_log_block block = *extract_pieces_block(pieces, i);
    if (load(pieces, &block)) {
        enum extract_code code = block.type == EXTRACT_LOG_NAMES
                                     ? extract_log_names(&names, pieces->buffer, block.length, NULL)
                                     : extract_log_objects(&address, &bytes, &length,
                                                           pieces->buffer, block.length, NULL);
        pieces->damaged += code != EXTRACT_OK;
    }
    return !pieces->starved && note_place(&pieces->registries, i) ? EXTRACT_OK : EXTRACT_NOMEM;
}

// Says why a log tells of no ring.
static enum extract_code refuse(const struct extract_pieces *pieces,
                                const struct extract_error *first, struct extract_error *error)
{
    const struct extract_log_status *status = extract_log_status(pieces->log);
    const char *name = extract_log_name(pieces->log);
    if (first->code) {
        if (error)
            *error = *first;
        return first->code;
    }
    if ((status->damaged || status->missing || status->cut) && !pieces->passed)
        return extract_error_set(error, EXTRACT_BAD, name, "restore the file from a copy",
                                 status->cut ? "no whole block tells what was recorded"
                                             : "every block that tells what was recorded is "
                                               "damaged");
    return extract_error_set(error, EXTRACT_ABSENT, name, "check that the target was ever reached",
                             "the log describes no trace ring: nothing was recorded");
}

// Notes where rings and registries lie.
static enum extract_code scan(struct extract_pieces *pieces, struct extract_error *error)
{
    const struct extract_log_block *block;
    struct extract_error first = {0};
    enum extract_code code = EXTRACT_OK;
    pieces->rings.count = pieces->registries.count = 0;
    pieces->damaged = 0;
    pieces->passed = pieces->lapped = false;
    pieces->ending = pieces->first_readable = SIZE_MAX;
    pieces->head.ring.format = NULL;
    for (size_t i = 0; !code && (block = extract_pieces_block(pieces, i)); i++) {
        uint16_t type = block->type;
        pieces->lapped = type == EXTRACT_LOG_GONE;
        pieces->passed |= pieces->lapped;
        if (type == EXTRACT_LOG_ATTRIBUTES)
            pieces->ending = i;
        else if (extract_log_holds_entries(block))
            pieces->ending = SIZE_MAX;
        if (type == EXTRACT_LOG_RING)
            code = scan_ring(pieces, i, &first);
        else if (type == EXTRACT_LOG_OBJECTS || type == EXTRACT_LOG_NAMES)
            code = scan_registry(pieces, i);
    }
    if (code)
        return extract_error_set(error, code, "log", NULL, "out of memory");
    return pieces->head.ring.format ? EXTRACT_OK : refuse(pieces, &first, error);
}

// A writer that wraps may have come to the only place that says of a ring, or to all places.
static enum extract_code scan_again(struct extract_pieces *pieces, struct extract_error *error)
{
    enum extract_code code = scan(pieces, error);
    for (unsigned i = 1; i < OPENINGS; i++) {
        if (!(code == EXTRACT_ABSENT && pieces->passed) && !(!code && pieces->lapped))
            break;
        pieces->ring_at = pieces->loaded = pieces->block.index = SIZE_MAX;
        code = extract_log_again(pieces->log, error);
        code = code ? code : scan(pieces, error);
    }
    return code;
}

static bool begin_passing(struct extract_pieces *pieces)
{
    size_t count = pieces->registries.count;
    pieces->passed_at = malloc((count + 1) * sizeof *pieces->passed_at);
    for (size_t i = 0; pieces->passed_at && i < count; i++)
        pieces->passed_at[i] = UINT64_MAX;
    return pieces->passed_at != NULL;
}

enum extract_code extract_pieces_open(struct extract_pieces **pieces, struct extract_log *log,
                                      struct extract_error *error)
{
    struct extract_pieces *p = calloc(1, sizeof *p);
    *pieces = NULL;
    if (!p)
        return extract_error_set(error, EXTRACT_NOMEM, "log", NULL, "out of memory");
    p->log = log;
    p->ring_at = p->loaded = p->framed = p->block.index = SIZE_MAX;
    // A block without a payload is read as well, and needs a place.
    enum extract_code code = EXTRACT_NOMEM;
    if (grow(p, &p->buffer, &p->room, 1))
        code = scan_again(p, error);
    if (!code && !begin_passing(p))
        code = EXTRACT_NOMEM;
    if (code == EXTRACT_NOMEM)
        extract_error_set(error, EXTRACT_NOMEM, "log", NULL, "out of memory");
    if (code)
        extract_pieces_close(p);
    else
        *pieces = p;
    return code;
}

void extract_pieces_close(struct extract_pieces *pieces)
{
    if (!pieces)
        return;
    free(pieces->rings.at);
    free(pieces->told);
    free(pieces->registries.at);
    free(pieces->passed_at);
    free(pieces->buffer);
    free(pieces->verdicts);
    extract_stretches_free(&pieces->stretches);
    free(pieces);
}

struct extract_log *extract_pieces_log(const struct extract_pieces *pieces)
{
    return pieces->log;
}

struct extract_snapshot *extract_pieces_head(struct extract_pieces *pieces)
{
    return &pieces->head;
}

uint64_t extract_pieces_damaged(const struct extract_pieces *pieces)
{
    return pieces->damaged;
}

bool extract_pieces_starved(const struct extract_pieces *pieces)
{
    return pieces->starved;
}

// ---- the ring that a log leads to ----

// The block from which on the newest `most` entries that can be shown lie, and how many there are
// in all of these blocks.
static size_t find_newest(struct extract_pieces *pieces, uint64_t most, uint64_t *found)
{
    size_t end = 0, last = pieces->head_at;
    while (extract_pieces_block(pieces, end))
        end++;
    *found = 0;
    for (; end > last + 1 && *found < most; end--) {
        const struct extract_log_block *block = extract_pieces_block(pieces, end - 1);
        if (!block)
            break;
        if (block->type == EXTRACT_LOG_MARK && block->kind == EXTRACT_MARK_RESET)
            break;
        const struct extract_snapshot *piece =
            block->type == EXTRACT_LOG_ENTRIES ? extract_pieces_entries(pieces, block) : NULL;
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
        if (image->current == slots->count) // the log has grown since
            return;
        memcpy(image->bytes + (slots->start - image->ring.address) +
                   (uint64_t)image->current * slots->slot_bytes,
               piece->bytes + (uint64_t)i * slots->slot_bytes, slots->slot_bytes);
        image->verdict[image->current++] = piece->verdict[i];
    }
}

static void copy_registry(struct extract_pieces *pieces, struct extract_snapshot *image)
{
    const struct extract_slots *slots = &image->ring.registry;
    size_t i = SIZE_MAX;
    const struct extract_snapshot *piece = extract_pieces_registry(pieces, &i);
    if (!piece || piece->ring.registry.slot_bytes != slots->slot_bytes)
        return;
    uint64_t room = slots->end - slots->start, length = piece->ring.length;
    memcpy(image->bytes + (slots->start - image->ring.address), piece->bytes,
           (size_t)(length < room ? length : room));
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

// Names of users' events, which lie in blocks of their own, go in front of the entries.
static uint8_t *copy_bytes(struct extract_pieces *pieces, struct extract_snapshot *image)
{
    const struct extract_snapshot *all = &pieces->stretches.all, *names = NULL;
    uint64_t length = all->ring.length + all->ring.format->stream->slack_bytes(&all->ring);
    size_t i = SIZE_MAX;
    if (all->ring.format->user_ids)
        names = extract_pieces_registry(pieces, &i);
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

static enum extract_code copy_all(struct extract_pieces *pieces, struct extract_snapshot *image,
                                  struct extract_error *error)
{
    const struct extract_snapshot *all = &pieces->stretches.all;
    size_t count = all->ring.entries.count;
    *image = *all;
    image->verdict = copy_of(all->verdict, count);
    image->index = copy_of(all->index, count * sizeof *all->index);
    image->bytes = copy_bytes(pieces, image);
    if (image->bytes && image->verdict && image->index) {
        count_verdicts(image);
        return EXTRACT_OK;
    }
    extract_snapshot_free(image);
    return extract_error_set(error, EXTRACT_NOMEM, "log", NULL, "out of memory");
}

enum extract_code extract_pieces_image(struct extract_pieces *pieces,
                                       struct extract_snapshot *image, struct extract_error *error)
{
    const struct extract_log_block *block;
    uint64_t found, skip;
    memset(image, 0, sizeof *image);
    if (pieces->unrolled)
        return copy_all(pieces, image, error);
    image->ring = pieces->head.ring;
    if (!allocate(image)) {
        extract_snapshot_free(image);
        return extract_error_set(error, EXTRACT_NOMEM, "trace ring", NULL,
                                 "out of memory for %llu bytes",
                                 (unsigned long long)pieces->head.ring.length);
    }
    uint32_t count = image->ring.entries.count;
    size_t i = find_newest(pieces, count, &found);
    skip = found > count ? found - count : 0;
    copy_registry(pieces, image);
    for (; (block = extract_pieces_block(pieces, i)); i++) {
        const struct extract_snapshot *piece =
            block->type == EXTRACT_LOG_ENTRIES ? extract_pieces_entries(pieces, block) : NULL;
        if (piece)
            copy_entries(image, piece, &skip);
    }
    image->wrapped = image->current == count;
    image->current %= count;
    count_verdicts(image);
    return EXTRACT_OK;
}
