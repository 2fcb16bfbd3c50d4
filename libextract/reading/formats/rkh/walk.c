// SPDX-License-Identifier: MIT
// formats/rkh: finds the frames of a copied stream. The result is an index of frames with one
// verdict each, unstuffed in place, and the number of frames missing between them.
//
// A frame is valid if its checksum is correct, where there is one, and it has the exact length of
// its event's arguments. Any other frame ends at the next flag all the same.
#include "formats/rkh/rkh.h"

enum {
    NO_EVENT = 0xFFFF, // a length: the id belongs to no event
    ANY_LENGTH = 0xFFFE,
    MAX_WHOLE = 0xFFFF // bytes of a frame
};

#define NO_RECORD UINT32_MAX

// What a layout means for frames. It is computed when a frame first has the layout.
struct tables {
    bool is_made;
    struct rkh_wire wire;
    uint16_t length[RKH_IDS]; // of the arguments, by the id on the wire
    uint8_t id[RKH_IDS];      // as 3.x has it, by the id on the wire
};

struct walk {
    struct extract_snapshot *snapshot;
    uint8_t *bytes; // the byte at position `from`, and those after it
    uint32_t end;   // number of these bytes
    uint32_t from, size;
    uint32_t first;         // index of the first frame of this walk
    bool merged;            // each frame contains its settings
    struct rkh_wire wire;   // of the current layout
    uint8_t layout;         // its number
    const uint16_t *length; // its tables
    const uint8_t *id;
    struct tables *tables; // of all layouts
    uint64_t stamp;        // of the last frame that has one
    bool stamp_known;      // `stamp` is known
    uint8_t next;          // sequence number that is expected
    bool next_known;       // `next` is known
    bool after_record;     // a TCFG record was the last: the target may restart its numbers
    bool settings_changed; // that record changed the settings: the target does restart them
    bool unreadable;       // too many layouts: the current one could not be added
    bool has_left_out;     // that happened at least once
    uint32_t record;       // index of the last TCFG record; NO_RECORD: in an earlier walk
    uint32_t damaged;      // damaged frames since the last valid one
    // Without a checksum, the valid frame after the last gap may be half of a lost frame:
    bool doubted;
    uint32_t doubt;  // index of that frame
    uint8_t wanted;  // sequence number that was expected there
    uint32_t missed; // damaged frames before that frame
};

uint64_t rkh_slack_bytes(const struct extract_ring *ring)
{
    struct rkh_live live = rkh_live_of(ring->header);

    return live.stream ? 0 : live.size;
}

// Joins bytes that pass the array's end after the ring.
uint8_t *rkh_join_bytes(struct extract_snapshot *snapshot, uint32_t from, uint32_t to)
{
    const struct extract_ring *ring = &snapshot->ring;
    uint32_t size = (uint32_t)(ring->entries.end - ring->entries.start);
    uint8_t *buffer = snapshot->bytes + (ring->entries.start - ring->address);
    uint32_t first = from % size, length = to - from;

    if (length <= size - first)
        return buffer + first;
    uint8_t *to_bytes = snapshot->bytes + ring->length;
    memcpy(to_bytes, buffer + first, size - first);
    memcpy(to_bytes + (size - first), buffer, length - (size - first));
    return to_bytes;
}

// ---- The layout ----

static uint16_t sum_argument_bytes(const struct rkh_wire *wire, const uint8_t *words)
{
    uint16_t length = 0;

    for (; *words; words++) {
        if (*words >= RKH_WORD_str)
            return ANY_LENGTH;
        length = (uint16_t)(length + wire->size[*words]);
    }
    return length;
}

static void make_tables(struct tables *tables, uint32_t packed)
{
    tables->is_made = true;
    rkh_wire_unpack(&tables->wire, packed);
    for (unsigned i = 0; i < RKH_IDS; i++) {
        enum rkh_family family = tables->wire.family;
        int id = rkh_id(family, i);
        tables->id[i] = (uint8_t)(id < 0 ? 0 : id);
        tables->length[i] =
            id < 0 ? NO_EVENT : sum_argument_bytes(&tables->wire, rkh_words(family, (unsigned)id));
    }
}

static void use_layout(struct walk *walk, uint8_t number)
{
    struct tables *tables = &walk->tables[number];

    if (!tables->is_made)
        make_tables(tables, walk->snapshot->ring.rkh.layout[number].packed);
    walk->layout = number;
    walk->wire = tables->wire;
    walk->length = tables->length;
    walk->id = tables->id;
}

// Uses the settings that a frame of a merged log contains. Returns false if it does not contain
// any, or if there are too many layouts.
static bool use_own_layout(struct walk *walk, const uint8_t *bytes, uint32_t length)
{
    struct extract_rkh *rkh = &walk->snapshot->ring.rkh;
    struct extract_cursor c = extract_cursor_make(bytes, length, EXTRACT_LITTLE);
    uint8_t i = 0;

    extract_cursor_seek(&c, RKH_AT_PACKED);
    uint32_t packed = extract_cursor_u32(&c);
    if (c.failed || !rkh_packed_is_merged(packed))
        return false;
    while (i < rkh->layouts && rkh->layout[i].packed != packed)
        i++;
    if (i == EXTRACT_RKH_LAYOUTS) {
        walk->has_left_out = true;
        return false;
    }
    if (i == rkh->layouts) {
        rkh->layout[rkh->layouts++] = rkh_layout_merged(rkh, packed);
        walk->tables[i].is_made = false;
    }
    use_layout(walk, i);
    return true;
}

// Applies a TCFG record: if it has other settings, the frames after it have another layout. It does
// not contain the size of functions. Returns false if there are too many layouts; then no frame up
// to the next record can be read.
static bool change_layout(struct walk *walk, const struct rkh_frame *frame)
{
    struct extract_rkh *rkh = &walk->snapshot->ring.rkh;
    const struct extract_rkh_layout before = rkh_layout_of(rkh);
    uint32_t after = frame->at + frame->length + 1;
    uint8_t i = 0;

    if (!rkh_tcfg_read(rkh, walk->bytes + frame->at, frame->whole))
        return true;
    if (rkh_wire_pack(rkh) != rkh->layout[walk->layout].packed &&
        rkh->from[EXTRACT_RKH_FUN] <= EXTRACT_RKH_INFERENCE) {
        rkh->from[EXTRACT_RKH_FUN] = EXTRACT_RKH_DEFAULT;
        (void)rkh_infer(rkh, walk->bytes + after, walk->end - after, NULL);
    }
    struct extract_rkh_layout layout = rkh_layout_of(rkh);
    while (i < rkh->layouts && memcmp(rkh->layout[i].value, layout.value, sizeof layout.value) != 0)
        i++;
    walk->settings_changed |= walk->unreadable || i != walk->layout;
    walk->unreadable = i == EXTRACT_RKH_LAYOUTS;
    if (walk->unreadable) {
        memcpy(rkh->value, before.value, sizeof rkh->value);
        memcpy(rkh->from, before.from, sizeof rkh->from);
        walk->has_left_out = true;
        return false;
    }
    if (i == walk->layout)
        return true;
    walk->tables[i].is_made &= i < rkh->layouts;
    rkh->layout[i] = layout;
    rkh->layouts = i == rkh->layouts ? i + 1 : rkh->layouts;
    use_layout(walk, i);
    return true;
}

// ---- One frame ----

// Returns whether an id is that of a TCFG record without sequence number and timestamp.
static bool is_bare(const struct walk *walk, uint8_t id)
{
    return walk->id[id] == RKH_FWK_TCFG && walk->length[id] != NO_EVENT &&
           walk->wire.family <= RKH_FAMILY_244 && !walk->merged;
}

static uint32_t count_head_bytes(const struct walk *walk, uint8_t id)
{
    return is_bare(walk, id) ? 1 : 1u + walk->wire.front + walk->wire.nseq + walk->wire.ts;
}

// Returns whether a frame is a TCFG record. The record itself shows whether it has a checksum.
static bool is_tcfg(const struct walk *walk, const struct rkh_frame *frame)
{
    if (walk->id[walk->bytes[frame->at]] != RKH_FWK_TCFG)
        return false;
    struct extract_rkh record = {0};
    return rkh_tcfg_read_frame(&record, frame, walk->bytes);
}

// Returns what is wrong with an unstuffed frame.
static enum extract_verdict validate_whole(const struct walk *walk, const struct rkh_frame *frame)
{
    const uint8_t *bytes = walk->bytes + frame->at;
    uint8_t id = bytes[0];
    uint16_t length = walk->length[id];
    uint32_t head = count_head_bytes(walk, id), around = head + walk->wire.chk;
    bool is_record = walk->id[id] == RKH_FWK_TCFG;

    if (length == NO_EVENT)
        return EXTRACT_UNKNOWN_ID;
    if (frame->whole < around || (is_record && !walk->merged))
        return EXTRACT_BAD_LENGTH;
    if (is_record && walk->wire.family > RKH_FAMILY_244)
        return EXTRACT_GOOD; // it has no fields
    bool fits = length == frame->whole - around;
    if (length == ANY_LENGTH)
        fits = rkh_args_match(&walk->wire, walk->id[id], bytes + head, frame->whole - around);
    return fits ? EXTRACT_GOOD : EXTRACT_BAD_LENGTH;
}

// Discards the doubted frame, which is half of a lost one: its number is not valid, and neither is
// its timestamp if that is not between those around it.
static void discard_doubted(struct walk *walk, uint64_t stamp)
{
    struct extract_extent *index = walk->snapshot->index;
    uint32_t count = walk->snapshot->ring.entries.count, at = walk->doubt;
    uint64_t mask = walk->wire.ts ? UINT64_MAX >> (64 - 8 * walk->wire.ts) : 0;
    uint64_t before = at ? index[at - 1].stamp : stamp;

    index[at].lost = 0;
    if (!at || ((index[at].stamp - before) & mask) <= ((stamp - before) & mask))
        return;
    for (; at < count; at++)
        index[at].stamp = before;
}

// Returns the number of frames missing before number `seq`, without the damaged ones. A frame
// without a checksum, whose number is not between those around it, is half a frame.
static uint8_t find_lost(struct walk *walk, uint8_t seq, uint64_t stamp)
{
    uint8_t step = (uint8_t)(seq - walk->next);
    uint32_t damaged = walk->damaged;
    bool half = walk->doubted && step && (uint8_t)(walk->next - walk->wanted) + step > UINT8_MAX;

    walk->doubted = step && !walk->wire.chk && !half;
    if (half) {
        discard_doubted(walk, stamp);
        step = (uint8_t)(seq - walk->wanted);
        damaged += walk->missed + 1;
    } else if (walk->doubted) {
        walk->doubt = walk->snapshot->ring.entries.count;
        walk->wanted = walk->next;
        walk->missed = damaged;
    }
    return step > damaged ? (uint8_t)(step - damaged) : 0;
}

// Restarts the timestamps. Those of a session begin with its record, which gets that of the first
// frame, or otherwise with that frame.
static void restart_stamps(struct walk *walk, uint64_t stamp, struct extract_extent *place)
{
    struct extract_snapshot *snapshot = walk->snapshot;

    place->restarted = walk->record == NO_RECORD;
    for (uint32_t i = walk->record; i < snapshot->ring.entries.count; i++) {
        snapshot->index[i].stamp = stamp;
        snapshot->index[i].restarted = i == walk->record;
    }
}

// Reads sequence number and timestamp, and determines how many frames are missing before the frame.
static void read_head(struct walk *walk, const uint8_t *bytes, struct extract_extent *place)
{
    struct extract_snapshot *snapshot = walk->snapshot;
    bool is_record = walk->id[bytes[0]] == RKH_FWK_TCFG && !walk->merged;
    const uint8_t *own = bytes + 1 + walk->wire.front; // sequence number and timestamp
    uint64_t stamp = 0;

    if (is_record && walk->settings_changed) { // another session, which numbers frames from 0
        walk->next = 0;
        walk->next_known = walk->wire.nseq;
        walk->doubted = false;
        walk->damaged = 0;
    }
    if (is_bare(walk, bytes[0])) {
        place->restarted = walk->settings_changed && walk->stamp_known;
        walk->record = snapshot->ring.entries.count;
        walk->after_record = true;
        return;
    }
    for (unsigned i = 0; i < walk->wire.ts; i++)
        stamp |= (uint64_t)own[walk->wire.nseq + i] << 8 * i;
    bool is_new = walk->after_record && (!walk->wire.nseq || !own[0]);
    if ((is_new || walk->settings_changed) && walk->stamp_known)
        restart_stamps(walk, stamp, place);
    if (walk->wire.nseq) {
        uint8_t seq = own[0];
        place->lost =
            walk->next_known && !(walk->after_record && !seq) ? find_lost(walk, seq, stamp) : 0;
        walk->next = (uint8_t)(seq + 1);
    }
    walk->next_known = walk->wire.nseq;
    walk->after_record = is_record; // in versions whose record has a number and a timestamp
    walk->settings_changed = false;
    walk->record = NO_RECORD;
    walk->damaged = 0;
    if (walk->merged && !walk->wire.ts) // the time of the frames before goes on
        return;
    walk->stamp = stamp;
    for (uint32_t i = walk->first; !walk->stamp_known && i < snapshot->ring.entries.count; i++)
        snapshot->index[i].stamp = stamp;
    walk->stamp_known = true;
}

// Validates a frame of a merged log, and unstuffs it in place.
static enum extract_verdict validate_merged(struct walk *walk, const struct rkh_frame *frame,
                                            struct extract_extent *place)
{
    uint8_t *bytes = walk->bytes + frame->at;

    if (frame->torn)
        return EXTRACT_TORN;
    if (frame->sum)
        return EXTRACT_BAD_CHECKSUM;
    if (frame->whole > MAX_WHOLE)
        return EXTRACT_BAD_LENGTH;
    if (frame->escaped)
        rkh_frame_unstuff(frame, walk->bytes, bytes);
    place->whole = (uint16_t)frame->whole;
    return use_own_layout(walk, bytes, frame->whole) ? validate_whole(walk, frame)
                                                     : EXTRACT_BAD_LENGTH;
}

// Validates a frame, and unstuffs it in place if that is useful.
static enum extract_verdict validate_frame(struct walk *walk, const struct rkh_frame *frame,
                                           struct extract_extent *place)
{
    if (walk->merged)
        return validate_merged(walk, frame, place);
    bool tcfg = is_tcfg(walk, frame);
    if (frame->torn)
        return EXTRACT_TORN;
    if (walk->wire.chk && frame->sum && !tcfg)
        return EXTRACT_BAD_CHECKSUM;
    if (frame->whole > MAX_WHOLE || (walk->unreadable && !tcfg))
        return EXTRACT_BAD_LENGTH;
    if (frame->escaped)
        rkh_frame_unstuff(frame, walk->bytes, walk->bytes + frame->at);
    place->whole = (uint16_t)frame->whole;
    // With the user's settings, the header may be longer than the frame.
    uint32_t head = count_head_bytes(walk, walk->bytes[frame->at]);
    if (!tcfg || (head > 1 && frame->whole < head + walk->wire.chk))
        return validate_whole(walk, frame);
    return change_layout(walk, frame) ? EXTRACT_GOOD : EXTRACT_BAD_LENGTH;
}

// Adds a frame to the index. If `known`, a frame does begin here; otherwise it is one only if it is
// valid.
static bool note_frame(struct walk *walk, const struct rkh_frame *frame, bool known)
{
    const uint8_t *bytes = walk->bytes + frame->at;
    struct extract_extent place = {.at = (walk->from + frame->at) % walk->size,
                                   .length = frame->length + 1,
                                   .offset = (uint32_t)(bytes - walk->snapshot->bytes)};
    enum extract_verdict verdict = validate_frame(walk, frame, &place);

    if (verdict && !known)
        return true;
    if (verdict) {
        struct extract_rkh_damage *damage = &walk->snapshot->ring.rkh.damage;
        damage->torn += verdict == EXTRACT_TORN;
        damage->checksum += verdict == EXTRACT_BAD_CHECKSUM;
        damage->length += verdict == EXTRACT_BAD_LENGTH;
        damage->id += verdict == EXTRACT_UNKNOWN_ID;
        walk->damaged++;
    } else {
        read_head(walk, bytes, &place);
    }
    place.stamp = walk->stamp;
    place.layout = walk->layout & 0x7Fu;
    return extract_snapshot_note(walk->snapshot, &place, verdict);
}

// ---- The walk ----

static bool walk_frames(struct walk *walk, uint32_t length, bool boundary)
{
    struct extract_rkh *rkh = &walk->snapshot->ring.rkh;
    const struct rkh_live live = rkh_live_of(walk->snapshot->ring.header);
    struct rkh_frame frame;
    bool fits = true, first = true;

    for (uint32_t at = 0; at < length && fits; at = frame.at + frame.length + 1) {
        rkh_frame_scan(&frame, walk->bytes, at, length);
        bool known = !first || boundary;
        first = false;
        if (!known && !live.stream)
            continue;
        if (!frame.ended) {
            rkh->partial = frame.length;
            rkh->partial_checked = live.chk_known && !frame.torn && frame.sum == live.chk;
        } else if (frame.length) {
            fits = note_frame(walk, &frame, known);
        }
    }
    return fits;
}

// Continues where the walk over the previous part of a stream ended.
static void resume_walk(struct walk *walk)
{
    const struct extract_rkh_walked *walked = &walk->snapshot->ring.rkh.walked;

    walk->next = walked->next;
    walk->next_known = walked->next_known;
    walk->after_record = walked->after_record;
    walk->settings_changed = walked->settings_changed;
    walk->record = NO_RECORD;
    walk->stamp = walked->stamp;
    walk->stamp_known = walked->stamp_known;
    walk->damaged = walked->damaged;
}

// Stores the state of the walk, for resume_walk.
static void save_walk(const struct walk *walk)
{
    walk->snapshot->ring.rkh.walked =
        (struct extract_rkh_walked){.is_continued = true,
                                    .next_known = walk->next_known,
                                    .after_record = walk->after_record,
                                    .settings_changed = walk->settings_changed,
                                    .stamp_known = walk->stamp_known,
                                    .next = walk->next,
                                    .layout = walk->layout,
                                    .damaged = walk->damaged,
                                    .stamp = walk->stamp};
}

// Returns where the bytes begin that were not taken out yet, and whether a frame begins there.
// One begins there after a flag that was taken out; for a full array, this is not known.
static uint32_t find_pending(struct extract_snapshot *snapshot, uint32_t from, uint32_t to,
                             bool *boundary)
{
    struct rkh_live live = rkh_live_of(snapshot->ring.header);
    uint32_t start = live.head - live.pending;
    bool there = start - from <= to - from;
    const uint8_t *bytes = rkh_join_bytes(snapshot, from, to);

    *boundary = there && start != from && bytes[start - from - 1] == RKH_FLAG;
    return there ? start : from;
}

bool rkh_walk(struct extract_snapshot *snapshot, uint32_t from, uint32_t to, bool boundary)
{
    struct extract_ring *ring = &snapshot->ring;
    struct tables tables[EXTRACT_RKH_LAYOUTS];

    for (unsigned i = 0; i < EXTRACT_RKH_LAYOUTS; i++)
        tables[i].is_made = false;
    if (ring->rkh.view == EXTRACT_RKH_PENDING && !rkh_live_of(ring->header).stream)
        from = find_pending(snapshot, from, to, &boundary);
    struct walk walk = {.snapshot = snapshot,
                        .bytes = rkh_join_bytes(snapshot, from, to),
                        .end = to - from,
                        .from = from,
                        .size = (uint32_t)(ring->entries.end - ring->entries.start),
                        .first = ring->entries.count,
                        .merged = rkh_live_of(ring->header).merged,
                        .tables = tables};
    use_layout(&walk, ring->rkh.walked.layout);
    resume_walk(&walk);
    bool fits = extract_snapshot_reserve(snapshot, rkh_frame_count(walk.bytes, walk.end)) &&
                walk_frames(&walk, walk.end, boundary);
    save_walk(&walk);
    if (walk.merged && ring->rkh.layouts)
        memcpy(ring->rkh.value, ring->rkh.layout[walk.layout].value, sizeof ring->rkh.value);
    rkh_layouts_sum_up(ring);
    snapshot->lost_known = !walk.has_left_out;
    for (unsigned i = 0; i < ring->rkh.layouts; i++)
        snapshot->lost_known &= ring->rkh.layout[i].value[EXTRACT_RKH_NSEQ];
    return fits;
}

int rkh_number(const struct extract_ring *ring, const uint8_t *bytes, uint32_t length)
{
    const struct extract_rkh *rkh = &ring->rkh;
    enum rkh_family family = rkh_family_of(rkh->value[EXTRACT_RKH_VERSION]);
    struct rkh_frame frame;
    uint8_t head[4];

    rkh_frame_scan(&frame, bytes, 0, length);
    int id = length < sizeof head ? -1 : rkh_id(family, bytes[0]);
    bool bare = id == RKH_FWK_TCFG && family <= RKH_FAMILY_244;
    if (id < 0 || bare || frame.ended || frame.torn || !rkh->value[EXTRACT_RKH_NSEQ] ||
        (rkh->value[EXTRACT_RKH_CHK] && frame.sum))
        return -1;
    frame.length = sizeof head;
    rkh_frame_unstuff(&frame, bytes, head);
    return head[1];
}
