// SPDX-License-Identifier: MIT
// follow: emits verified entries of a slot ring. After a lap, it skips to the newest entries that
// can still be read safely, and reports the gap before them as a loss.
//
// The ring does not tell how large a gap is: it is known modulo the ring's slots, from the
// positions of the last entry before and the first one after. It is exact only if the clock counts
// events. Services may still fill in some of the newest entries. Such an entry is provisional: it
// is kept back until another read finds it unchanged, or RECORD_MAX_PROVISIONAL newer entries have
// been written.
//
// A resync makes the newest entry the anchor, and then reads the entries before it, oldest first,
// in parts. The oldest of them must not be overwritten before they are read, so the load and the
// link decide how far back a resync begins. If the writer overwrites the new anchor as well, the
// next poll tries again with half as many entries (safe_fraction).
#include "follow/follow_room.h"
#include <string.h>

static uint32_t max_provisional(const struct extract_recorder *r)
{
    uint32_t half = (r->ring.entries.count - 1) / 2;

    return half < RECORD_MAX_PROVISIONAL ? half : RECORD_MAX_PROVISIONAL;
}

// Returns how many of the newest entries can be read before the writer, which continues in the
// meantime, overwrites the oldest of them. Failures make the estimate more careful.
static uint32_t safe_entries_of(const struct extract_recorder *r)
{
    double all = r->ring.entries.count - 1, load = 1.1 * r->poll_interval.load;

    if (r->slots.follower.stopped)
        return (uint32_t)all;
    double fixed = link_model_poll(&r->link_model, &r->ring, 0);
    double each = link_model_poll(&r->link_model, &r->ring, 1) - fixed;
    double safe_entries = (all - load * fixed) / (1 + load * each) * r->slots.safe_fraction;
    return safe_entries < 1 ? 1 : safe_entries > all ? (uint32_t)all : (uint32_t)safe_entries;
}

bool slots_have_restarted(struct extract_recorder *r)
{
    struct extract_follower *follower = &r->slots.follower;
    uint8_t entries[2 * EXTRACT_MAX_ENTRY];
    uint32_t bytes = r->ring.entries.slot_bytes;

    if (!record_has_header(r))
        return true;
    // A writer that has lapped the reader has written every slot. If the slot at the write position
    // or the one after it was never written, the ring was emptied. (The former may be half-written,
    // which is why one slot is not enough.)
    uint32_t got = extract_follower_fetch(follower, follower->head, 2, entries);
    for (uint32_t i = 0; i < got; i++)
        if (!r->ring.format->slots->is_written(&r->ring, entries + (size_t)i * bytes))
            return true;
    return false;
}

// ---- emitting ----

// Returns how many entries at the end of a span are provisional: from the first on that a service
// may still fill in, that is among the newest, and that was not read as it is before.
static uint32_t count_provisional(const struct extract_recorder *r,
                                  const struct extract_follower_span *span)
{
    const struct slot_ring *s = &r->slots;
    uint32_t bytes = r->ring.entries.slot_bytes, newest = max_provisional(r);
    uint64_t end = span->first + span->count, newer = s->follower.head - end;
    uint32_t open = newer < newest ? newest - (uint32_t)newer : 0;

    for (open = open < span->count ? open : span->count; open; open--) {
        const uint8_t *entry = span->entries + (size_t)(span->count - open) * bytes;
        uint64_t i = end - open - s->due; // index among those that were kept back
        bool was_seen =
            i < s->provisional_count && memcmp(entry, s->provisional + i * bytes, bytes) == 0;
        if (!was_seen && r->ring.format->slots->late_words(&r->ring, entry))
            break;
    }
    return open;
}

static enum extract_code put_loss(struct extract_recorder *r, uint64_t lost, uint64_t modulo,
                                  struct extract_error *error)
{
    struct slot_ring *s = &r->slots;
    enum extract_log_loss kind = s->gap_is_unreadable ? EXTRACT_LOSS_UNREADABLE
                                 : s->gap_is_torn     ? EXTRACT_LOSS_TORN
                                                      : EXTRACT_LOSS_LAPPED;

    s->gap_is_torn = s->gap_is_unreadable = false;
    return lost || modulo ? out_loss(&r->out, kind, lost, modulo, error) : EXTRACT_OK;
}

static void drop_oldest(const struct extract_recorder *r, struct extract_follower_span *span,
                        uint64_t count)
{
    count = count < span->count ? count : span->count;
    span->first += count;
    span->count -= (uint32_t)count;
    span->entries += count * r->ring.entries.slot_bytes;
}

// Takes the first entries of a ring. Slots that were never written hold no entry. What the ring
// had overwritten before it was found is lost, in an unknown number.
static enum extract_code begin_following(struct extract_recorder *r,
                                         struct extract_follower_span *span,
                                         struct extract_error *error)
{
    bool has_all = false; // all that was ever written to the ring is still there

    for (; span->count && !r->ring.format->slots->is_written(&r->ring, span->entries);
         has_all = true)
        drop_oldest(r, span, 1);
    if (!span->count)
        return EXTRACT_OK;
    has_all |= r->slots.has_not_wrapped;
    r->status.has_all = has_all;
    r->slots.due = span->first;
    r->phase = RECORD_FOLLOWING;
    if (!r->ring_was_replaced || (has_all && !r->gap_is_unknown))
        return EXTRACT_OK;
    return out_loss(&r->out, r->gap_is_unknown ? EXTRACT_LOSS_RESET : EXTRACT_LOSS_LAPPED, 0,
                    EXTRACT_LOG_ANY_MORE, error);
}

enum extract_code slots_emit_verified(struct extract_recorder *r,
                                      struct extract_follower_span *span,
                                      struct extract_error *error)
{
    struct slot_ring *s = &r->slots;
    uint32_t bytes = r->ring.entries.slot_bytes;
    enum extract_code code = EXTRACT_OK;

    if (r->phase != RECORD_FOLLOWING)
        code = begin_following(r, span, error);
    if (span->first < s->due) // was provisional, and was emitted when the writer lapped the reader
        drop_oldest(r, span, s->due - span->first);
    if (!span->count)
        return code;
    bool has_gap = span->first != s->due || s->is_lapped;
    uint64_t lost = span->first - s->due;
    bool is_exact = !s->is_lapped || s->gap_is_counted;
    // A log without space takes neither the loss nor the entries: each is accounted for.
    if (s->clock_went_back) // after a reset, the write position does not show the gap
        code = put_loss(r, 0, EXTRACT_LOG_ANY_MORE, error);
    else if (has_gap)
        code = put_loss(r, lost, is_exact ? 0 : r->ring.entries.count, error);
    s->is_lapped = s->gap_is_counted = s->clock_went_back = false;

    uint64_t end = span->first + span->count;
    uint32_t open = count_provisional(r, span);
    struct extract_follower_span final = {span->first, span->count - open, span->entries};
    s->due = end - open;
    s->next = end;
    s->provisional_count = open;
    memcpy(s->provisional, span->entries + (size_t) final.count * bytes, (size_t)open * bytes);
    if (final.count)
        extract_follower_set_anchor(&s->follower, s->due - 1,
                                    span->entries + (size_t)(final.count - 1) * bytes);
    else if (s->follower.number >= s->due)
        extract_follower_set_anchor(&s->follower, s->due, s->provisional);
    ring_clock_add(&s->clock, &r->ring, &final, has_gap);
    objects_note_entries(&r->objects, &r->ring, &final);
    s->follower.still = s->clock.clock.direction == EXTRACT_CLOCK_NONE;
    enum extract_code put = out_entries(&r->out, &r->ring, &final, 0, code ? NULL : error);
    return code ? code : put;
}

enum extract_code slots_emit_provisional(struct extract_recorder *r, struct extract_error *error)
{
    struct slot_ring *s = &r->slots;
    struct extract_follower_span span = {s->due, s->provisional_count, s->provisional};

    if (!s->provisional_count)
        return EXTRACT_OK;
    ring_clock_add(&s->clock, &r->ring, &span, false);
    s->due += span.count;
    s->provisional_count = 0;
    return out_entries(&r->out, &r->ring, &span, span.count, error);
}

// ---- resync ----

// Numbers the entries after a lap. Certain are the writer's position in the ring and the laps that
// it was seen to complete, so numbers are never too high, and right modulo the ring's slots. If the
// timestamps count events, they are exact. The old anchor has been overwritten, so every entry that
// is in the ring now comes after it.
static void number_after_lap(struct extract_recorder *r, struct extract_follower_span *span,
                             uint64_t top)
{
    struct slot_ring *s = &r->slots;
    uint64_t slots = r->ring.entries.count, laps = 0, distance;

    // The last read was that of the anchor, right after the write position was read again.
    poll_interval_note_burst(&r->poll_interval, s->follower.head - top, r->read_ns - r->located_ns);
    if (span->first <= s->lapped_anchor)
        laps = (s->lapped_anchor - span->first + slots) / slots;
    uint64_t before = s->follower.number - (s->due - 1), least = before + laps * slots;
    s->gap_is_counted =
        ring_clock_counts(&s->clock, &r->ring, s->follower.anchor, least, &distance);
    distance = s->gap_is_counted ? distance : least;
    span->first += distance - before;
    extract_follower_shift(&s->follower, distance - before);
    poll_interval_shift(&r->poll_interval, distance - before);
}

// The entries before the newest one that a resync has still to read: [first, top - 1).
struct resync_range {
    uint64_t first, top;
    enum extract_follower_result result; // of the last read
};

// Reads and emits one part of the range. The newest entry remains the anchor in the meantime; it is
// emitted itself after the last part.
static enum extract_code resync_part(struct extract_recorder *r, struct resync_range *range,
                                     struct extract_error *error)
{
    struct slot_ring *s = &r->slots;
    uint32_t bytes = r->ring.entries.slot_bytes;
    uint64_t left = range->top - 1 - range->first;
    uint32_t count = left < s->buffer_slots ? (uint32_t)left : s->buffer_slots;
    bool is_last = count == left;
    struct extract_follower_span span;

    range->result = extract_follower_read(&s->follower, range->first, count, r->buffer, &span);
    if (range->result)
        return EXTRACT_OK;
    uint64_t number = s->follower.number;
    struct extract_follower newest = s->follower;
    if (is_last)
        memcpy(span.entries + (size_t)span.count++ * bytes, newest.anchor, bytes);
    s->gap_is_torn |= r->phase == RECORD_FOLLOWING && !s->is_lapped && span.first > range->first &&
                      s->due >= range->first;
    if (s->is_lapped)
        number_after_lap(r, &span, range->top);
    uint64_t shift = s->follower.number - number;
    range->top += shift;
    range->first += shift + count + is_last;
    enum extract_code code = slots_emit_verified(r, &span, error);
    if (!is_last)
        extract_follower_set_anchor(&s->follower, range->top - 1, newest.anchor);
    return code;
}

// Returns the number of the oldest entry that a resync should read.
static uint64_t oldest_wanted(struct extract_recorder *r)
{
    struct slot_ring *s = &r->slots;
    uint64_t head = s->follower.head, safe_entries = safe_entries_of(r);
    uint64_t slot = (head + s->follower.phase) % r->ring.entries.count;
    uint64_t first = head - safe_entries;
    uint8_t entry[EXTRACT_MAX_ENTRY];

    s->has_not_wrapped = false;
    // A ring that has not wrapped is empty after the write position: that is not read.
    if (r->phase != RECORD_FOLLOWING &&
        extract_follower_fetch(&s->follower, head + 1, 1, entry) == 1 &&
        !r->ring.format->slots->is_written(&r->ring, entry) && slot + 1 < r->ring.entries.count) {
        s->has_not_wrapped = slot <= safe_entries;
        first = slot < safe_entries ? head - slot : first;
    }
    bool is_connected = r->phase == RECORD_FOLLOWING && !s->is_lapped && first < s->next;
    return is_connected ? s->next : first;
}

// Makes the newest entry the anchor. Returns false if that is not possible now.
static bool anchor_newest(struct extract_recorder *r)
{
    struct slot_ring *s = &r->slots;
    bool was_anchored = s->follower.anchored;
    uint64_t number = s->follower.number;
    enum extract_follower_result result = extract_follower_anchor_newest(&s->follower);

    if (result != EXTRACT_FOLLOWER_ANCHOR_CHANGED) {
        s->failed_reads += result != EXTRACT_FOLLOWER_OK;
        return result == EXTRACT_FOLLOWER_OK;
    }
    r->status.laps += was_anchored && r->phase == RECORD_FOLLOWING;
    s->lapped_anchor = was_anchored ? number : s->lapped_anchor;
    s->is_lapped = r->phase == RECORD_FOLLOWING;
    return true;
}

// Notes how a resync ended; `before` is the follower as it was.
static void end_resync(struct extract_recorder *r, enum extract_follower_result result,
                       const struct extract_follower *before)
{
    struct slot_ring *s = &r->slots;

    if (result == EXTRACT_FOLLOWER_ANCHOR_CHANGED) {
        s->safe_fraction = s->safe_fraction > 0.01 ? s->safe_fraction / 2 : s->safe_fraction;
        if (!s->is_lapped) // the newest entry had been verified, and has been overwritten
            s->lapped_anchor = s->follower.number;
        s->is_lapped = r->phase == RECORD_FOLLOWING;
        s->follower.anchored = false;
    } else if (result) { // as if nothing had been tried
        s->failed_reads++;
        extract_follower_set_anchor(&s->follower, before->number, before->anchor);
        s->follower.anchored = before->anchored;
        s->is_lapped &= !before->anchored;
    } else {
        s->safe_fraction = s->safe_fraction < 0.95 ? s->safe_fraction + 0.05 : 1;
        s->failed_reads = 0;
        r->resync_pending = false;
    }
    if (r->phase == RECORD_FOLLOWING)
        return;
    s->follower.anchored = false; // no entry is known that the next ones could follow
    // What is overwritten before any entry was read is lost, and so is, if the ring was empty, all
    // that comes from now on unless it is read.
    r->ring_was_replaced |= result == EXTRACT_FOLLOWER_ANCHOR_CHANGED || !r->resync_pending;
}

enum extract_code slots_resynchronize(struct extract_recorder *r, enum ring_result *result,
                                      struct extract_error *error)
{
    struct slot_ring *s = &r->slots;
    enum extract_code code = slots_emit_provisional(r, error);
    const struct extract_follower before = s->follower;

    *result = RING_OK;
    r->resync_pending = true;
    if (code || !anchor_newest(r))
        return code;
    if (s->is_lapped && before.anchored && slots_have_restarted(r)) {
        *result = RING_RESTARTED;
        return EXTRACT_OK;
    }
    if (s->is_lapped && before.anchored &&
        ring_clock_went_back(&s->clock, &r->ring, s->follower.anchor, r->located_ns,
                             r->options.ignore_host_clock)) {
        s->clock_went_back = true;
        code = out_mark(&r->out, EXTRACT_MARK_CLOCK, 0,
                        "the clock of the target went back: reset or wrap", error);
    }
    struct resync_range range = {oldest_wanted(r), s->follower.head, EXTRACT_FOLLOWER_OK};
    while (!range.result && !code && range.first < range.top)
        code = resync_part(r, &range, error);
    end_resync(r, range.result, &before);
    return code;
}

// ---- the end ----

// Counts the entries that are missing at the end, at least and modulo the ring's slots. If the
// anchor has been overwritten, the writer has passed its slot once more.
static uint64_t count_missing(struct extract_recorder *r, bool anchor_is_lapped, bool *exact)
{
    const struct slot_ring *s = &r->slots;
    uint64_t slots = r->ring.entries.count, head = s->follower.head, distance;
    uint8_t newest[EXTRACT_MAX_ENTRY];

    while (anchor_is_lapped && s->follower.anchored && head < s->follower.number + slots)
        head += slots;
    if (!*exact &&
        extract_follower_fetch(&r->slots.follower, s->follower.head - 1, 1, newest) == 1 &&
        ring_clock_counts(&s->clock, &r->ring, newest, head - s->due, &distance)) {
        *exact = true;
        return distance;
    }
    return head - s->due;
}

enum extract_code slots_report_unread(struct extract_recorder *r, bool can_read,
                                      struct extract_error *error)
{
    struct slot_ring *s = &r->slots;
    bool is_missing = r->status.gone || r->resync_pending || s->is_lapped || s->failed_reads;
    enum extract_code code = slots_emit_provisional(r, error);
    bool gone = r->phase != RECORD_SEARCHING && r->status.gone && !r->drained;

    if (code || (!can_read && !is_missing))
        return code;
    s->gap_is_unreadable |= s->failed_reads || gone;
    if (r->phase != RECORD_FOLLOWING) { // no entry of this ring has been emitted
        bool has_loss = (r->ring_was_replaced && r->gap_is_unknown) || r->resync_pending || gone;
        r->gap_is_unknown = r->resync_pending = false;
        return has_loss ? put_loss(r, 0, EXTRACT_LOG_ANY_MORE, error) : EXTRACT_OK;
    }
    bool is_connected = !s->is_lapped && s->follower.anchored && !gone;
    if (is_connected && s->follower.head == s->due)
        return EXTRACT_OK;
    enum extract_follower_result proof =
        is_connected ? extract_follower_verify(&s->follower) : EXTRACT_FOLLOWER_READ_FAILED;
    bool is_verified = proof == EXTRACT_FOLLOWER_OK, is_exact = is_verified;
    uint64_t missing = count_missing(r, proof == EXTRACT_FOLLOWER_ANCHOR_CHANGED, &is_exact);
    s->due = s->next = s->follower.head;
    s->is_lapped = s->gap_is_counted = false;
    s->follower.anchored &= is_verified;
    uint64_t modulo = gone ? EXTRACT_LOG_ANY_MORE : r->ring.entries.count;
    return put_loss(r, missing, is_exact && !gone ? 0 : modulo, error);
}
