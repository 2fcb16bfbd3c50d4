// SPDX-License-Identifier: MIT
// follow: emits verified entries of a slot ring. After a lap, it skips to the newest entries that
// can still be read safely, and reports the gap before them as a loss.
//
// How large the gap is, the ring does not tell: it is known modulo the ring's slots, from the
// positions of the last entry before and the first one after. Only if the clock counts events is it
// exact. Entries among the newest that services may still fill in are held back until another read
// finds them unchanged, or RECORD_HELD newer ones have been written.
#include "follow/internal.h"
#include <string.h>

static uint32_t held_most(const struct extract_recorder *r)
{
    uint32_t half = (r->ring.entries.count - 1) / 2;
    return half < RECORD_HELD ? half : RECORD_HELD;
}

// How many of the newest can be read before the writer overwrites them: it goes on meanwhile, and
// the oldest of them must not be overwritten by then. What went wrong before makes it careful.
static uint32_t safe_entries_of(const struct extract_recorder *r)
{
    double most = r->ring.entries.count - 1, load = 1.1 * r->poll_interval.load;
    if (r->follower.stopped)
        return (uint32_t)most;
    double fixed = link_model_poll(&r->link_model, &r->ring, 0);
    double each = link_model_poll(&r->link_model, &r->ring, 1) - fixed;
    double safe_entries = (most - load * fixed) / (1 + load * each) * r->safe_fraction;
    return safe_entries < 1 ? 1 : safe_entries > most ? (uint32_t)most : (uint32_t)safe_entries;
}

// How many at the end of a span may not be final: from the first on that a service may still fill
// in, that lies among the newest, and that was not read before as it is.
static uint32_t count_open(const struct extract_recorder *r,
                           const struct extract_follower_span *span)
{
    uint32_t bytes = r->ring.entries.slot_bytes, most = held_most(r);
    const struct extract_slot_ring *follow = r->ring.format->slots;
    uint64_t end = span->first + span->count;
    uint32_t open = (uint32_t)(r->follower.head - end < most ? most - (r->follower.head - end) : 0);
    for (open = open < span->count ? open : span->count; open; open--) {
        const uint8_t *entry = span->entries + (size_t)(span->count - open) * bytes;
        uint64_t place = end - open - r->due; // among those that were held back
        bool seen =
            place < r->provisional_count && !memcmp(entry, r->provisional + place * bytes, bytes);
        if (!seen && follow->late_words(&r->ring, entry))
            break;
    }
    return open;
}

static enum extract_code put_loss(struct extract_recorder *r, uint64_t lost, uint64_t modulo,
                                  struct extract_error *error)
{
    enum extract_log_loss kind = r->gap_is_unreadable ? EXTRACT_LOSS_UNREADABLE
                                 : r->gap_is_torn     ? EXTRACT_LOSS_TORN
                                                      : EXTRACT_LOSS_LAPPED;
    r->gap_is_torn = r->gap_is_unreadable = false;
    return lost || modulo ? out_loss(&r->out, kind, lost, modulo, error) : EXTRACT_OK;
}

static void drop_front(const struct extract_recorder *r, struct extract_follower_span *span,
                       uint64_t count)
{
    count = count < span->count ? count : span->count;
    span->first += count;
    span->count -= (uint32_t)count;
    span->entries += count * r->ring.entries.slot_bytes;
}

// A ring whose content is new: what was never written is no entry, and what was written before it
// was found is lost, nobody knows how much.
static enum extract_code begin(struct extract_recorder *r, struct extract_follower_span *span,
                               struct extract_error *error)
{
    const struct extract_slot_ring *follow = r->ring.format->slots;
    bool whole = false; // the ring has not wrapped: all that was ever written is there
    for (; span->count && !follow->is_written(&r->ring, span->entries); whole = true)
        drop_front(r, span, 1);
    if (!span->count)
        return EXTRACT_OK;
    whole |= r->not_wrapped;
    r->status.has_all = whole;
    r->due = span->first;
    r->phase = RECORD_FOLLOWING;
    if (r->ring_was_replaced && (r->gap_is_unknown || !whole))
        return out_loss(&r->out, r->gap_is_unknown ? EXTRACT_LOSS_RESET : EXTRACT_LOSS_LAPPED, 0,
                        EXTRACT_LOG_ANY_MORE, error);
    return EXTRACT_OK;
}

enum extract_code record_emit(struct extract_recorder *r, struct extract_follower_span *span,
                              struct extract_error *error)
{
    uint32_t bytes = r->ring.entries.slot_bytes;
    enum extract_code code = r->phase != RECORD_FOLLOWING ? begin(r, span, error) : EXTRACT_OK;
    if (span->first < r->due) // was held back, and went out when the writer lapped the reader
        drop_front(r, span, r->due - span->first);
    if (!span->count)
        return code;
    bool gap = span->first != r->due || r->is_lapped;
    uint64_t lost = span->first - r->due;
    bool known = !r->is_lapped || r->gap_is_counted;
    // A log without room takes neither the loss nor the entries: each is accounted for.
    if (r->clock_went_back) // the write position after a reset says nothing of the gap
        code = put_loss(r, 0, EXTRACT_LOG_ANY_MORE, error);
    else if (gap)
        code = put_loss(r, lost, known ? 0 : r->ring.entries.count, error);
    r->is_lapped = r->gap_is_counted = r->clock_went_back = false;
    uint64_t end = span->first + span->count;
    uint32_t open = count_open(r, span);
    struct extract_follower_span final = {span->first, span->count - open, span->entries};
    r->due = end - open;
    r->next = end;
    r->provisional_count = open;
    memcpy(r->provisional, span->entries + (size_t) final.count * bytes, (size_t)open * bytes);
    if (final.count)
        extract_follower_set_anchor(&r->follower, r->due - 1,
                                    span->entries + (size_t)(final.count - 1) * bytes);
    else if (r->follower.number >= r->due)
        extract_follower_set_anchor(&r->follower, r->due, r->provisional);
    ring_clock_add(&r->clock, &r->ring, &final, gap);
    objects_note(&r->objects, &r->ring, &final);
    r->follower.still = r->clock.clock.direction == EXTRACT_CLOCK_NONE;
    enum extract_code put = out_entries(&r->out, &r->ring, &final, 0, code ? NULL : error);
    return code ? code : put;
}

enum extract_code record_emit_provisional(struct extract_recorder *r, struct extract_error *error)
{
    struct extract_follower_span span = {r->due, r->provisional_count, r->provisional};
    if (!r->provisional_count)
        return EXTRACT_OK;
    ring_clock_add(&r->clock, &r->ring, &span, false);
    r->due += span.count;
    r->provisional_count = 0;
    return out_entries(&r->out, &r->ring, &span, span.count, error);
}

// Numbers the entries after a lap. What is certain is the writer's position in the ring and the
// laps that it was seen to complete, so that numbers are never too high, and right modulo the
// ring's size. If the stamps count events, they are exact. The old anchor has been overwritten, so
// every entry that is there now comes after it.
static void settle_lap(struct extract_recorder *r, struct extract_follower_span *span, uint64_t top)
{
    uint64_t slots = r->ring.entries.count, laps = 0, distance;
    // The last read was that of the anchor, right after the second look.
    poll_interval_note_burst(&r->poll_interval, r->follower.head - top, r->asked - r->looked);
    if (span->first <= r->lapped_anchor)
        laps = (r->lapped_anchor - span->first + slots) / slots;
    uint64_t before = r->follower.number - (r->due - 1), least = before + laps * slots;
    r->gap_is_counted =
        ring_clock_counts(&r->clock, &r->ring, r->follower.anchor, least, &distance);
    distance = r->gap_is_counted ? distance : least;
    span->first += distance - before;
    extract_follower_shift(&r->follower, distance - before);
    poll_interval_shift(&r->poll_interval, distance - before);
}

// What lies in front of the newest entry, part by part: entries [first, top - 1).
struct way {
    uint64_t first, top;
    enum extract_follower_result result;
};

// One part, and behind the last one the newest entry itself. That stays the anchor until then.
static enum extract_code bring_part(struct extract_recorder *r, struct way *way,
                                    struct extract_error *error)
{
    uint32_t bytes = r->ring.entries.slot_bytes;
    uint64_t left = way->top - 1 - way->first;
    uint32_t count = left < r->buffer_slots ? (uint32_t)left : r->buffer_slots;
    bool last = count == left;
    struct extract_follower_span span;
    way->result = extract_follower_read(&r->follower, way->first, count, r->buffer, &span);
    if (way->result)
        return EXTRACT_OK;
    uint64_t number = r->follower.number;
    struct extract_follower newest = r->follower;
    if (last)
        memcpy(span.entries + (size_t)span.count++ * bytes, newest.anchor, bytes);
    r->gap_is_torn |= r->phase == RECORD_FOLLOWING && !r->is_lapped && span.first > way->first &&
                      r->due >= way->first;
    if (r->is_lapped)
        settle_lap(r, &span, way->top);
    uint64_t shift = r->follower.number - number;
    way->top += shift;
    way->first += shift + count + last;
    enum extract_code code = record_emit(r, &span, error);
    if (!last)
        extract_follower_set_anchor(&r->follower, way->top - 1, newest.anchor);
    return code;
}

// How far back the ring holds what is wanted.
static uint64_t oldest_wanted(struct extract_recorder *r)
{
    uint64_t head = r->follower.head, safe_entries = safe_entries_of(r);
    uint8_t entry[EXTRACT_MAX_ENTRY];
    uint64_t slot = (head + r->follower.phase) % r->ring.entries.count;
    uint64_t first = head - safe_entries;
    r->not_wrapped = false;
    // Behind the writer's place, a ring that has not wrapped is empty: do not read that.
    if (r->phase != RECORD_FOLLOWING &&
        extract_follower_fetch(&r->follower, head + 1, 1, entry) == 1 &&
        !r->ring.format->slots->is_written(&r->ring, entry) && slot + 1 < r->ring.entries.count) {
        r->not_wrapped = slot <= safe_entries;
        first = slot < safe_entries ? head - slot : first;
    }
    bool follows = r->phase == RECORD_FOLLOWING && !r->is_lapped && first < r->next;
    return follows ? r->next : first;
}

// The newest entry as the anchor. False: not now.
static bool anchor_newest(struct extract_recorder *r)
{
    bool anchored = r->follower.anchored;
    uint64_t number = r->follower.number;
    enum extract_follower_result result = extract_follower_anchor_newest(&r->follower);
    if (result != EXTRACT_FOLLOWER_ANCHOR_CHANGED) {
        r->failed_reads += result != EXTRACT_FOLLOWER_OK;
        return result == EXTRACT_FOLLOWER_OK;
    }
    r->status.laps += anchored && r->phase == RECORD_FOLLOWING;
    r->lapped_anchor = anchored ? number : r->lapped_anchor;
    r->is_lapped = r->phase == RECORD_FOLLOWING;
    return true;
}

enum extract_code record_resync(struct extract_recorder *r, struct extract_error *error)
{
    enum extract_code code = record_emit_provisional(r, error);
    struct extract_follower before = r->follower;
    r->resync_pending = true;
    if (code || !anchor_newest(r))
        return code;
    if (r->is_lapped && before.anchored && record_is_reset(r))
        return record_reset(r, error);
    if (r->is_lapped && before.anchored &&
        ring_clock_went_back(&r->clock, &r->ring, r->follower.anchor, r->looked, r->options.held)) {
        r->clock_went_back = true;
        code = out_mark(&r->out, EXTRACT_MARK_CLOCK, 0,
                        "the clock of the target went back: reset or wrap", error);
    }
    struct way way = {oldest_wanted(r), r->follower.head, EXTRACT_FOLLOWER_OK};
    while (!way.result && !code && way.first < way.top)
        code = bring_part(r, &way, error);
    if (way.result == EXTRACT_FOLLOWER_ANCHOR_CHANGED) {
        r->safe_fraction = r->safe_fraction > 0.01 ? r->safe_fraction / 2 : r->safe_fraction;
        if (!r->is_lapped) // the newest entry had been proven, and is overwritten
            r->lapped_anchor = r->follower.number;
        r->is_lapped = r->phase == RECORD_FOLLOWING;
        r->follower.anchored = false;
    } else if (way.result) { // as if nothing had been tried
        r->failed_reads++;
        extract_follower_set_anchor(&r->follower, before.number, before.anchor);
        r->follower.anchored = before.anchored;
        r->is_lapped &= !before.anchored;
    } else {
        r->safe_fraction = r->safe_fraction < 0.95 ? r->safe_fraction + 0.05 : 1;
        r->failed_reads = 0;
        r->resync_pending = false;
    }
    if (r->phase != RECORD_FOLLOWING) // nothing is known that the next entries could follow
        r->follower.anchored = false;
    // The ring was empty: what comes from now on is missed when it is not read.
    r->ring_was_replaced |= r->phase != RECORD_FOLLOWING && !r->resync_pending;
    return code;
}

// Counts the entries that are missing at the end, at least and modulo the ring's size. When the
// anchor has been overwritten, the writer has passed its slot once more.
static uint64_t count_missing(struct extract_recorder *r, bool is_lapped, bool *exact)
{
    uint8_t newest[EXTRACT_MAX_ENTRY];
    uint64_t slots = r->ring.entries.count, head = r->follower.head, distance;
    while (is_lapped && r->follower.anchored && head < r->follower.number + slots)
        head += slots;
    if (!*exact && extract_follower_fetch(&r->follower, r->follower.head - 1, 1, newest) == 1 &&
        ring_clock_counts(&r->clock, &r->ring, newest, head - r->due, &distance)) {
        *exact = true;
        return distance;
    }
    return head - r->due;
}

enum extract_code record_report_unread(struct extract_recorder *r, struct extract_error *error)
{
    enum extract_code code = record_emit_provisional(r, error);
    bool gone = r->phase != RECORD_SEARCHING && r->status.gone && !r->drained;
    r->gap_is_unreadable |= r->failed_reads || gone;
    if (r->phase != RECORD_FOLLOWING) { // not a single entry of it came out
        bool lost = (r->ring_was_replaced && r->gap_is_unknown) || r->resync_pending || gone;
        r->gap_is_unknown = r->resync_pending = false;
        return code || !lost ? code : put_loss(r, 0, EXTRACT_LOG_ANY_MORE, error);
    }
    bool whole = !r->is_lapped && r->follower.anchored && !gone;
    if (code || (whole && r->follower.head == r->due))
        return code;
    enum extract_follower_result proof =
        whole ? extract_follower_verify(&r->follower) : EXTRACT_FOLLOWER_READ_FAILED;
    bool exact = proof == EXTRACT_FOLLOWER_OK, is_known = exact;
    uint64_t missing = count_missing(r, proof == EXTRACT_FOLLOWER_ANCHOR_CHANGED, &is_known);
    r->due = r->next = r->follower.head;
    r->is_lapped = r->gap_is_counted = false;
    r->follower.anchored &= exact;
    uint64_t modulo = gone ? EXTRACT_LOG_ANY_MORE : r->ring.entries.count;
    return put_loss(r, missing, is_known && !gone ? 0 : modulo, error);
}
