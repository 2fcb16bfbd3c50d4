// SPDX-License-Identifier: MIT
// formats/hook: the records of a copied ring. In: its bytes, between two places. Out: an index of
// records, and of what lies between them and is none.
//
// Behind damage a record is looked for from which others follow, up to the end or far enough that
// it is no chance. Nothing else proves that such a place is a border: it is provisional.
#include "formats/hook/hook.h"

enum {
    CHAIN = 4,     // records that follow each other
    CHAIN_OWN = 2, // behind one's own length
    BLANKS = 64    // blanked ones that do as well; so that a search over many of them ends soon
};

struct walk {
    struct extract_snapshot *snapshot;
    const uint8_t *buffer; // and behind it what it starts with
    uint32_t size, to, cpus;
    uint32_t base; // of the buffer in the copy
    enum extract_byte_order order;
    bool narrow; // a stamp has 32 bits
};

uint64_t hook_spill(const struct extract_ring *ring)
{
    uint64_t size = ring->entries.end - ring->entries.start;
    return size < HOOK_MAX_RECORD ? size : HOOK_MAX_RECORD;
}

static bool record_at(const struct walk *walk, uint32_t at, struct hook_record *record)
{
    uint32_t left = walk->to - at;
    left = left < HOOK_MAX_RECORD ? left : HOOK_MAX_RECORD;
    return hook_record_read(record, walk->buffer + at % walk->size, left, walk->order, walk->cpus);
}

// Whether `record`, which is none, was put there to say so.
static bool is_blank(const struct walk *walk, uint32_t at, const struct hook_record *record)
{
    return hook_frame_is_blank(record->frame) && record->length <= walk->to - at;
}

static bool holds(const struct walk *walk, uint32_t at, unsigned chain)
{
    struct hook_record record;
    for (unsigned blanks = BLANKS; chain && blanks && at != walk->to;) {
        if (record_at(walk, at, &record))
            chain--;
        else if (is_blank(walk, at, &record))
            blanks--;
        else
            return false;
        at += record.length;
    }
    return true;
}

static uint32_t search(const struct walk *walk, uint32_t at)
{
    while (at != walk->to && !holds(walk, at, CHAIN))
        at += 4;
    return at;
}

// Where the records go on behind one that is none. *proven says that its own length leads there.
static uint32_t behind(const struct walk *walk, uint32_t at, const struct hook_record *record,
                       bool *proven)
{
    uint32_t own = record->length;
    *proven = is_blank(walk, at, record) || (own >= 8 && own % 4 == 0 && own <= walk->to - at &&
                                             holds(walk, at + own, CHAIN_OWN));
    return *proven ? at + own : search(walk, at + 4);
}

static bool note(struct walk *walk, uint32_t at, uint32_t length, enum extract_verdict verdict,
                 const struct hook_record *record)
{
    bool stamped = verdict <= EXTRACT_PROVISIONAL && record->frame & HOOK_FRAME_STAMP;
    struct extract_extent place = {.at = at % walk->size,
                                   .length = length,
                                   .layout = stamped,
                                   .stamp = stamped ? record->stamp : 0};
    place.offset = walk->base + place.at;
    walk->narrow |= stamped && !(record->frame & HOOK_FRAME_STAMP_8);
    return extract_snapshot_note(walk->snapshot, &place, verdict);
}

static bool note_all(struct walk *walk, uint32_t at, bool proven)
{
    struct hook_record record;
    bool fits = true;
    while (fits && at != walk->to) {
        uint32_t next;
        if (record_at(walk, at, &record)) {
            next = at + record.length;
            fits = note(walk, at, next - at, proven ? EXTRACT_GOOD : EXTRACT_PROVISIONAL, &record);
            proven = true;
        } else {
            next = behind(walk, at, &record, &proven);
            fits = note(walk, at, next - at, EXTRACT_INVALID, &record);
        }
        at = next;
    }
    return fits;
}

static bool has_stamp(const struct extract_snapshot *snapshot, uint32_t i)
{
    return snapshot->index[i].layout && snapshot->verdict[i] <= EXTRACT_PROVISIONAL;
}

// A record without a stamp has that of the one before it, those in front of the first have that
// one. What lies in a hole has none: its bytes are not the target's.
void hook_stamps(struct extract_snapshot *snapshot, uint32_t from)
{
    uint32_t count = snapshot->ring.entries.count, first = from;
    uint64_t stamp = 0;
    while (first < count && !has_stamp(snapshot, first))
        first++;
    if (first < count)
        stamp = snapshot->index[first].stamp;
    for (uint32_t i = from; i < count; i++) {
        if (has_stamp(snapshot, i))
            stamp = snapshot->index[i].stamp;
        else
            snapshot->index[i].stamp = stamp;
    }
}

bool hook_walk(struct extract_snapshot *snapshot, uint32_t from, uint32_t to, bool boundary)
{
    struct extract_ring *ring = &snapshot->ring;
    uint32_t base = (uint32_t)(ring->entries.start - ring->address), first = ring->entries.count;
    uint8_t *buffer = snapshot->bytes + base;
    struct walk walk = {.snapshot = snapshot,
                        .buffer = buffer,
                        .size = (uint32_t)(ring->entries.end - ring->entries.start),
                        .to = from + (to - from) / 4 * 4, // a log may end anywhere
                        .cpus = hook_cpus(ring),
                        .base = base,
                        .order = ring->byte_order};
    if (from % walk.size + (to - from) > walk.size)
        memcpy(buffer + walk.size, buffer, (size_t)hook_spill(ring));
    bool fits = note_all(&walk, boundary ? from : search(&walk, from), boundary) &&
                (walk.to == to || note(&walk, walk.to, to - walk.to, EXTRACT_INVALID, NULL));
    hook_stamps(snapshot, first);
    if (walk.narrow)
        ring->timer_mask &= UINT32_MAX;
    return fits;
}

uint32_t hook_length(const struct extract_ring *ring, const uint8_t *bytes, uint32_t left)
{
    struct hook_record record;
    left = left < HOOK_MAX_RECORD ? left : HOOK_MAX_RECORD;
    return hook_record_read(&record, bytes, left, ring->byte_order, hook_cpus(ring)) ? record.length
                                                                                     : 0;
}
