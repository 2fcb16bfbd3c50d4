// SPDX-License-Identifier: MIT
// formats/hook: finds the records of a copied ring. The result is an index of the records, and of
// the bytes between them that do not belong to a record.
//
// After damage, the walk searches for a record that is followed by others, up to the end or enough
// of them to exclude a coincidence. Nothing else proves that a record begins there, so that record
// is provisional.
#include "formats/hook/hook.h"

enum {
    CHAIN = 4,     // consecutive records that make a position credible
    CHAIN_OWN = 2, // the same at the end of a damaged record's own length
    BLANKS = 64    // blanked records in between; bounds the cost of a search over many of them
};

// The timestamp of a record, as `layout` of its extent.
enum stamp_source {
    NO_STAMP,     // that of the record before
    OWN_STAMP,    // its own
    UNKNOWN_STAMP // that of a missing record
};

struct walk {
    struct extract_snapshot *snapshot;
    const uint8_t *buffer; // followed by a copy of its start, for records that pass its end
    uint32_t size, to;
    struct hook_limits limits;
    uint32_t base; // offset of the buffer in the copy
    enum extract_byte_order order;
    bool narrow; // a record with a 32-bit timestamp was found
};

uint64_t hook_slack_bytes(const struct extract_ring *ring)
{
    uint64_t size = ring->entries.end - ring->entries.start;

    return size < HOOK_MAX_RECORD ? size : HOOK_MAX_RECORD;
}

static bool record_at(const struct walk *walk, uint32_t at, struct hook_record *record)
{
    uint32_t left = walk->to - at;

    left = left < HOOK_MAX_RECORD ? left : HOOK_MAX_RECORD;
    return hook_record_read(record, walk->buffer + at % walk->size, left, walk->order,
                            walk->limits);
}

// Returns whether an invalid `record` was put there to mark damaged bytes.
static bool is_blank(const struct walk *walk, uint32_t at, const struct hook_record *record)
{
    return hook_frame_is_blank(record->frame) && record->length <= walk->to - at;
}

// Returns whether `chain` consecutive records begin at `at`, or fewer up to the end.
static bool has_records_at(const struct walk *walk, uint32_t at, unsigned chain)
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
    while (at != walk->to && !has_records_at(walk, at, CHAIN))
        at += 4;
    return at;
}

static bool note_extent(struct walk *walk, uint32_t at, uint32_t length,
                        enum extract_verdict verdict, const struct hook_record *record)
{
    bool stamped = verdict <= EXTRACT_PROVISIONAL && record->frame & HOOK_FRAME_STAMP;
    struct extract_extent place = {.at = at % walk->size,
                                   .length = length,
                                   .layout = stamped ? OWN_STAMP : NO_STAMP,
                                   .stamp = stamped ? record->stamp : 0};

    place.offset = walk->base + place.at;
    walk->narrow |= stamped && !(record->frame & HOOK_FRAME_STAMP_8);
    return extract_snapshot_note(walk->snapshot, &place, verdict);
}

// Notes all records from `at` on. `proven` is whether a record is known to begin at the next
// position. After an invalid record, it is known if the record's own length leads to others.
static bool note_all(struct walk *walk, uint32_t at, bool proven)
{
    struct hook_record record;
    bool fits = true;

    while (fits && at != walk->to) {
        uint32_t next;
        if (record_at(walk, at, &record)) {
            next = at + record.length;
            fits = note_extent(walk, at, next - at, proven ? EXTRACT_GOOD : EXTRACT_PROVISIONAL,
                               &record);
            proven = true;
        } else {
            uint32_t own = record.length;
            proven =
                is_blank(walk, at, &record) || (own >= 8 && own % 4 == 0 && own <= walk->to - at &&
                                                has_records_at(walk, at + own, CHAIN_OWN));
            next = proven ? at + own : search(walk, at + 4);
            fits = note_extent(walk, at, next - at, EXTRACT_INVALID, &record);
        }
        at = next;
    }
    return fits;
}

static bool has_stamp(const struct extract_snapshot *snapshot, uint32_t i)
{
    return snapshot->index[i].layout == OWN_STAMP && snapshot->verdict[i] <= EXTRACT_PROVISIONAL;
}

// Gives records without a timestamp that of the record before; those before the first timestamp
// get the first one. Unreadable records have no timestamp, because their bytes are not the
// target's. After them, and at the start of a run that follows other records, a record without a
// timestamp has one that only the missing records had: its time is not known.
void hook_fill_stamps(struct extract_snapshot *snapshot, uint32_t from)
{
    uint32_t count = snapshot->ring.entries.count, first = from;
    uint64_t stamp = 0;
    bool is_known = !from;

    while (first < count && !has_stamp(snapshot, first))
        first++;
    if (first < count)
        stamp = snapshot->index[first].stamp;
    for (uint32_t i = from; i < count; i++) {
        bool is_valid = snapshot->verdict[i] <= EXTRACT_PROVISIONAL;
        is_known = is_valid && (is_known || has_stamp(snapshot, i));
        if (has_stamp(snapshot, i))
            stamp = snapshot->index[i].stamp;
        else
            snapshot->index[i].stamp = stamp;
        if (is_valid && !is_known)
            snapshot->index[i].layout = UNKNOWN_STAMP;
    }
}

bool hook_is_untimed(const struct extract_ring *ring, unsigned layout)
{
    (void)ring;
    return layout == UNKNOWN_STAMP;
}

bool hook_walk(struct extract_snapshot *snapshot, uint32_t from, uint32_t to, bool boundary)
{
    struct extract_ring *ring = &snapshot->ring;
    uint32_t base = (uint32_t)(ring->entries.start - ring->address), first = ring->entries.count;
    uint8_t *buffer = snapshot->bytes + base;
    struct walk walk = {.snapshot = snapshot,
                        .buffer = buffer,
                        .size = (uint32_t)(ring->entries.end - ring->entries.start),
                        .to = from + (to - from) / 4 * 4, // a log may end at any byte
                        .limits = hook_limits_of(ring),
                        .base = base,
                        .order = ring->byte_order};

    if (from % walk.size + (to - from) > walk.size)
        memcpy(buffer + walk.size, buffer, (size_t)hook_slack_bytes(ring));
    bool fits = note_all(&walk, boundary ? from : search(&walk, from), boundary) &&
                (walk.to == to || note_extent(&walk, walk.to, to - walk.to, EXTRACT_INVALID, NULL));
    hook_fill_stamps(snapshot, first);
    if (walk.narrow)
        ring->timer_mask &= UINT32_MAX;
    return fits;
}

uint32_t hook_length(const struct extract_ring *ring, const uint8_t *bytes, uint32_t left)
{
    struct hook_record record;

    left = left < HOOK_MAX_RECORD ? left : HOOK_MAX_RECORD;
    return hook_record_read(&record, bytes, left, ring->byte_order, hook_limits_of(ring))
               ? record.length
               : 0;
}
