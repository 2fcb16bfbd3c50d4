// SPDX-License-Identifier: MIT
// record: proven entries on their way out, and the jump to the newest when there is no way from
// those before. In: spans. Out: entries, losses.
#include "record/room.h"
#include <string.h>

static uint32_t held_most(const struct extract_recorder *r)
{
    uint32_t half = (r->ring.entries.count - 1) / 2;
    return half < RECORD_HELD ? half : RECORD_HELD;
}

// How many of the newest can be read before the writer comes round: it goes on meanwhile, and the
// oldest of them must not be overwritten by then. What went wrong before makes it careful.
static uint32_t reach_of(const struct extract_recorder *r)
{
    double most = r->ring.entries.count - 1, load = 1.1 * r->pace.load;
    if (r->delta.stopped)
        return (uint32_t)most;
    double fixed = link_poll(&r->link, &r->ring, 0);
    double each = link_poll(&r->link, &r->ring, 1) - fixed;
    double reach = (most - load * fixed) / (1 + load * each) * r->share;
    return reach < 1 ? 1 : reach > most ? (uint32_t)most : (uint32_t)reach;
}

// How many at the end of a span may not be final: from the first on that a service may still fill
// in, that lies among the newest, and that was not read before as it is.
static uint32_t count_open(const struct extract_recorder *r, const struct extract_delta_span *span)
{
    uint32_t bytes = r->ring.entries.slot_bytes, most = held_most(r);
    const struct extract_follow *follow = r->ring.format->follow;
    uint64_t end = span->first + span->count;
    uint32_t open = (uint32_t)(r->delta.head - end < most ? most - (r->delta.head - end) : 0);
    for (open = open < span->count ? open : span->count; open; open--) {
        const uint8_t *entry = span->entries + (size_t)(span->count - open) * bytes;
        uint64_t place = end - open - r->due; // among those that were held back
        bool seen = place < r->held_count && !memcmp(entry, r->held + place * bytes, bytes);
        if (!seen && follow->late(&r->ring, entry))
            break;
    }
    return open;
}

// `modulo` as for out_loss. Behind a lap, no loss is an estimate, too.
static enum extract_code put_loss(struct extract_recorder *r, uint64_t lost, uint64_t modulo,
                                  struct extract_error *error)
{
    enum extract_log_loss kind = r->unreadable ? EXTRACT_LOSS_UNREADABLE
                                 : r->torn     ? EXTRACT_LOSS_TORN
                                               : EXTRACT_LOSS_LAPPED;
    r->torn = r->unreadable = false;
    return lost || modulo ? out_loss(&r->out, kind, lost, modulo, error) : EXTRACT_OK;
}

static void drop_front(const struct extract_recorder *r, struct extract_delta_span *span,
                       uint64_t count)
{
    count = count < span->count ? count : span->count;
    span->first += count;
    span->count -= (uint32_t)count;
    span->entries += count * r->ring.entries.slot_bytes;
}

// A ring whose content is new: what was never written is no entry, and what was written before it
// was found is lost, nobody knows how much.
static enum extract_code begin(struct extract_recorder *r, struct extract_delta_span *span,
                               struct extract_error *error)
{
    const struct extract_follow *follow = r->ring.format->follow;
    bool whole = false; // the ring has not gone round: all that was ever written is there
    for (; span->count && !follow->written(&r->ring, span->entries); whole = true)
        drop_front(r, span, 1);
    if (!span->count)
        return EXTRACT_OK;
    whole |= r->whole;
    r->due = span->first;
    r->fresh = false;
    if (r->again && (r->cut || !whole))
        return out_loss(&r->out, EXTRACT_LOSS_LAPPED, 0, 1, error);
    return EXTRACT_OK;
}

enum extract_code record_deliver(struct extract_recorder *r, struct extract_delta_span *span,
                                 struct extract_error *error)
{
    uint32_t bytes = r->ring.entries.slot_bytes;
    enum extract_code code = r->fresh ? begin(r, span, error) : EXTRACT_OK;
    if (span->first < r->due) // was held back, and went out when the writer came round
        drop_front(r, span, r->due - span->first);
    if (!span->count)
        return code;
    bool gap = span->first != r->due || r->lapped;
    uint64_t lost = span->first - r->due;
    bool known = !r->lapped || r->exact;
    // A log without room takes neither the loss nor the entries: each is accounted for.
    if (gap)
        code = put_loss(r, lost, known ? 0 : r->ring.entries.count, error);
    r->lapped = r->exact = false;
    uint64_t end = span->first + span->count;
    uint32_t open = count_open(r, span);
    struct extract_delta_span final = {span->first, span->count - open, span->entries};
    r->due = end - open;
    r->next = end;
    r->held_count = open;
    memcpy(r->held, span->entries + (size_t) final.count * bytes, (size_t)open * bytes);
    if (final.count)
        extract_delta_set_anchor(&r->delta, r->due - 1,
                                 span->entries + (size_t)(final.count - 1) * bytes);
    else if (r->delta.number >= r->due)
        extract_delta_set_anchor(&r->delta, r->due, r->held);
    gauge_add(&r->gauge, &r->ring, &final, gap, known ? lost : 0, r->looked);
    objects_note(&r->objects, &r->ring, &final);
    r->delta.still = r->gauge.clock.direction == EXTRACT_CLOCK_NONE;
    enum extract_code put = out_entries(&r->out, &r->ring, &final, 0, code ? NULL : error);
    return code ? code : put;
}

enum extract_code record_release(struct extract_recorder *r, struct extract_error *error)
{
    struct extract_delta_span span = {r->due, r->held_count, r->held};
    if (!r->held_count)
        return EXTRACT_OK;
    gauge_add(&r->gauge, &r->ring, &span, false, 0, r->looked);
    r->due += span.count;
    r->held_count = 0;
    return out_entries(&r->out, &r->ring, &span, span.count, error);
}

// Behind a lap the entries' numbers are known modulo the ring; the stamps tell the rest. All
// numbers of now rise by the turns that were missed. The old anchor has been overwritten, so that
// what is there now lies behind it.
static void settle_lap(struct extract_recorder *r, struct extract_delta_span *span, uint64_t top)
{
    uint64_t slots = r->ring.entries.count, turns = 0;
    // The last read was that of the anchor, right behind the second look.
    const struct gauge_gap gap = {span, r->delta.anchor, r->looked, (double)(r->delta.head - top),
                                  (double)(r->asked - r->looked)};
    if (span->first <= r->passed)
        turns = (r->passed - span->first + slots) / slots;
    uint64_t before = r->delta.number - (r->due - 1), least = before + turns * slots;
    uint64_t distance = gauge_distance(&r->gauge, &r->ring, &gap, least, &r->exact);
    span->first += distance - before;
    extract_delta_shift(&r->delta, distance - before);
    pace_more(&r->pace, distance - before);
}

// What lies in front of the newest entry, part by part: entries [first, top - 1).
struct way {
    uint64_t first, top;
    enum extract_delta_result result;
};

// One part, and behind the last one the newest entry itself. That stays the anchor until then.
static enum extract_code bring_part(struct extract_recorder *r, struct way *way,
                                    struct extract_error *error)
{
    uint32_t bytes = r->ring.entries.slot_bytes;
    uint64_t left = way->top - 1 - way->first;
    uint32_t count = left < r->buffer_slots ? (uint32_t)left : r->buffer_slots;
    bool last = count == left;
    struct extract_delta_span span;
    way->result = extract_delta_take(&r->delta, way->first, count, r->buffer, &span);
    if (way->result)
        return EXTRACT_OK;
    uint64_t number = r->delta.number;
    struct extract_delta newest = r->delta;
    if (last)
        memcpy(span.entries + (size_t)span.count++ * bytes, newest.anchor, bytes);
    r->torn |= !r->fresh && !r->lapped && span.first > way->first && r->due >= way->first;
    if (r->lapped)
        settle_lap(r, &span, way->top);
    uint64_t shift = r->delta.number - number;
    way->top += shift;
    way->first += shift + count + last;
    enum extract_code code = record_deliver(r, &span, error);
    if (!last)
        extract_delta_set_anchor(&r->delta, way->top - 1, newest.anchor);
    return code;
}

// How far back the ring holds what is wanted.
static uint64_t oldest_wanted(struct extract_recorder *r)
{
    uint64_t head = r->delta.head, reach = reach_of(r);
    uint8_t entry[EXTRACT_ENTRY_MOST];
    uint64_t slot = (head + r->delta.phase) % r->ring.entries.count;
    uint64_t first = head - reach;
    r->whole = false;
    // Behind the writer's place, a ring that has not gone round is empty: do not read that.
    if (r->fresh && extract_delta_fetch(&r->delta, head + 1, 1, entry) == 1 &&
        !r->ring.format->follow->written(&r->ring, entry) && slot + 1 < r->ring.entries.count) {
        r->whole = slot <= reach;
        first = slot < reach ? head - slot : first;
    }
    bool follows = !r->fresh && !r->lapped && first < r->next;
    return follows ? r->next : first;
}

// The newest entry as the anchor. False: not now.
static bool anchor_newest(struct extract_recorder *r)
{
    bool anchored = r->delta.anchored;
    uint64_t number = r->delta.number;
    enum extract_delta_result result = extract_delta_newest(&r->delta);
    if (result != EXTRACT_DELTA_CHANGED) {
        r->trouble += result != EXTRACT_DELTA_OK;
        return result == EXTRACT_DELTA_OK;
    }
    r->status.laps += anchored && !r->fresh;
    r->passed = anchored ? number : r->passed;
    r->lapped = !r->fresh;
    return true;
}

enum extract_code record_jump(struct extract_recorder *r, struct extract_error *error)
{
    enum extract_code code = record_release(r, error);
    struct extract_delta before = r->delta;
    r->behind = true;
    if (code || !anchor_newest(r))
        return code;
    if (r->lapped && before.anchored &&
        (record_is_reset(r) || gauge_went_back(&r->gauge, &r->ring, r->delta.anchor, r->looked)))
        return record_reset(r, error);
    struct way way = {oldest_wanted(r), r->delta.head, EXTRACT_DELTA_OK};
    while (!way.result && !code && way.first < way.top)
        code = bring_part(r, &way, error);
    if (way.result == EXTRACT_DELTA_CHANGED) {
        r->share = r->share > 0.01 ? r->share / 2 : r->share;
        if (!r->lapped) // the newest entry had been proven, and is overwritten
            r->passed = r->delta.number;
        r->lapped = !r->fresh;
        r->delta.anchored = false;
    } else if (way.result) { // as if nothing had been tried
        r->trouble++;
        extract_delta_set_anchor(&r->delta, before.number, before.anchor);
        r->delta.anchored = before.anchored;
        r->lapped &= !before.anchored;
    } else {
        r->share = r->share < 0.95 ? r->share + 0.05 : 1;
        r->trouble = 0;
        r->behind = false;
    }
    if (r->fresh) // nothing is known that the next entries could follow
        r->delta.anchored = false;
    // The ring was empty: what comes from now on is missed when it is not read.
    r->again |= r->fresh && !r->behind;
    return code;
}

// How many entries are missing at the end; modulo the ring, as the stamps guess, when the writer
// may have come round.
static uint64_t count_missing(struct extract_recorder *r, bool exact)
{
    uint8_t newest[EXTRACT_ENTRY_MOST];
    const struct extract_delta_span none = {0};
    const struct gauge_gap gap = {&none, newest, r->looked, 0, 0};
    uint64_t least = r->delta.head - r->due;
    if (exact || extract_delta_fetch(&r->delta, r->delta.head - 1, 1, newest) != 1)
        return least;
    return gauge_distance(&r->gauge, &r->ring, &gap, least, &exact);
}

enum extract_code record_forgo(struct extract_recorder *r, struct extract_error *error)
{
    enum extract_code code = record_release(r, error);
    bool gone = r->found && r->status.gone && !r->drained;
    r->unreadable |= r->trouble || gone;
    if (r->fresh) { // not a single entry of it came out
        bool lost = (r->again && r->cut) || r->behind || gone;
        r->cut = r->behind = false;
        return code || !lost ? code : put_loss(r, 0, 1, error);
    }
    bool whole = !r->lapped && r->delta.anchored && !gone;
    if (code || (whole && r->delta.head == r->due))
        return code;
    bool exact = whole && extract_delta_prove(&r->delta) == EXTRACT_DELTA_OK;
    uint64_t missing = count_missing(r, exact);
    r->due = r->next = r->delta.head;
    r->lapped = r->exact = false;
    r->delta.anchored &= exact;
    return put_loss(r, missing, exact ? 0 : gone ? 1 : r->ring.entries.count, error);
}
