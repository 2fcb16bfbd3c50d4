// SPDX-License-Identifier: MIT
// follow: how a slot ring (ThreadX) is located, read and verified. resync.c has the rest: what
// becomes of verified entries, and how the recorder continues after a lap.
//
// The writer fills the slots in order. The newest entry that was read is the anchor: as long as it
// is found unchanged, the writer has not come back to it, so no slot between the anchor and the
// write position has been overwritten (snapshot/follower.h). A poll reads all that is new at once,
// if the writer cannot lap the reader in the meantime. Otherwise it reads parts that are verified
// one by one. If the writer is too near even for a part, the newest entries are worth more than
// the oldest, and the recorder resynchronizes.
//
// If the trace is disabled, the target clears its live pointer, and the header's copy of it shows
// where the writer stopped. What the trace left is read from there. A trace that is enabled again
// begins with an empty ring.
#include "follow/follow_room.h"
#include <stdlib.h>

enum {
    MAX_PARTS = 8,           // of a poll
    MIN_PART = 16,           // entries
    RETRIES_BEFORE_SKIP = 3, // polls that may fail to read the entries before some are skipped
    MAX_FAILED_READS = 32    // polls in vain for what a disabled trace has left
};

static bool can_follow(const struct extract_ring *ring)
{
    return ring->format->slots && ring->entries.count >= 2 &&
           ring->entries.slot_bytes <= EXTRACT_MAX_ENTRY;
}

static enum extract_code start_slots(struct extract_recorder *r, struct extract_error *error)
{
    struct slot_ring *s = &r->slots;
    uint32_t bytes = r->ring.entries.slot_bytes, max_slots = RECORD_MAX_BUFFER / bytes;
    uint64_t head = s->next + 2 * (uint64_t)r->ring.entries.count;

    s->buffer_slots = r->ring.entries.count < max_slots ? r->ring.entries.count : max_slots;
    free(r->buffer);
    // A part, and the newest entry, which is put after it.
    r->buffer = malloc(((size_t)s->buffer_slots + 1) * bytes);
    if (!r->buffer)
        return extract_error_set(error, EXTRACT_NOMEM, "recorder", NULL, "out of memory");
    r->measure = r->ring;
    s->follower.read = record_read_part;
    s->follower.context = r;
    extract_follower_start(&s->follower, &r->ring, head);
    ring_clock_start(&s->clock, &r->ring);
    s->provisional_count = s->failed_reads = 0;
    s->is_lapped = s->gap_is_torn = s->gap_is_unreadable = false;
    s->safe_fraction = 1;
    r->resync_pending = r->trace_disabled = r->drained = false;
    return EXTRACT_OK;
}

// ---- locate ----

// Returns whether the trace was enabled between two polls that found it disabled, of which the
// first saw the write position at `head`.
static bool was_enabled_since(struct extract_recorder *r, uint64_t head)
{
    struct extract_follower *follower = &r->slots.follower;
    uint8_t newest[EXTRACT_MAX_ENTRY];

    if (follower->head != head)
        return true;
    if (!r->drained)
        return false;
    if (follower->anchored)
        return extract_follower_verify(follower) == EXTRACT_FOLLOWER_ANCHOR_CHANGED;
    return r->phase != RECORD_FOLLOWING &&
           extract_follower_fetch(follower, head - 1, 1, newest) == 1 &&
           r->ring.format->slots->is_written(&r->ring, newest);
}

static enum ring_result locate_disabled(struct extract_recorder *r)
{
    struct extract_follower *follower = &r->slots.follower;
    uint64_t head = follower->head;
    bool was_disabled = r->trace_disabled;

    if (!record_has_header(r))
        return RING_RESTARTED;
    r->trace_disabled = follower->stopped = true;
    r->must_verify_anchor |= !was_disabled; // the writer may be exactly one lap ahead
    enum extract_follower_result result = extract_follower_poll(follower);
    record_note_located(r);
    if (result)
        return result == EXTRACT_FOLLOWER_BAD_HEAD ? RING_RESTARTED : RING_UNREADABLE;
    if (!was_disabled || !was_enabled_since(r, head))
        return RING_OK;
    r->gap_is_unknown = true; // it may have been enabled more than once
    return RING_REENABLED;
}

static enum ring_result locate_slots(struct extract_recorder *r)
{
    struct extract_follower *follower = &r->slots.follower;
    bool was_stopped = follower->stopped;

    follower->stopped = false; // the live pointer shows whether the trace is disabled
    enum extract_follower_result result = extract_follower_poll(follower);
    follower->stopped = was_stopped && result == EXTRACT_FOLLOWER_NO_RESPONSE;
    record_note_located(r);
    record_note_wall(r);
    switch (result) {
    case EXTRACT_FOLLOWER_NO_RESPONSE:
        return RING_NO_RESPONSE;
    case EXTRACT_FOLLOWER_TRACE_DISABLED:
        return locate_disabled(r);
    case EXTRACT_FOLLOWER_BAD_HEAD:
        return RING_RESTARTED;
    default:
        break;
    }
    poll_interval_note_head(&r->poll_interval, r->located_ns, follower->head);
    if (r->trace_disabled)
        return RING_REENABLED;
    record_note_fill(r, r->phase != RECORD_FOLLOWING ? 0 : follower->head - r->slots.next);
    return RING_OK;
}

// ---- read and verify ----

// Returns whether `count` entries can be read while the writer, who is `ahead` entries after the
// anchor, continues.
static bool is_safe(const struct extract_recorder *r, uint64_t ahead, uint64_t count)
{
    double writes =
        1.25 * r->poll_interval.load * link_model_poll(&r->link_model, &r->ring, (double)count);

    return (double)ahead + writes < (double)r->ring.entries.count - 1;
}

// Returns how many entries to read next, beginning with the oldest that is not final; 0: they are
// being overwritten.
static uint32_t choose_part(const struct extract_recorder *r)
{
    const struct slot_ring *s = &r->slots;
    uint64_t ahead = s->follower.head - s->follower.number - 1;
    uint64_t all = s->follower.head - (s->next - s->provisional_count);
    uint64_t part = r->ring.entries.count / MAX_PARTS;

    part = part < MIN_PART ? MIN_PART : part;
    uint64_t want = is_safe(r, ahead, all) || part > all ? all : part;
    if (!is_safe(r, ahead, want))
        return 0;
    return want < s->buffer_slots ? (uint32_t)want : s->buffer_slots;
}

static enum ring_result read_slots(struct extract_recorder *r, unsigned part,
                                   struct ring_span *span)
{
    struct slot_ring *s = &r->slots;
    uint64_t head = s->follower.head;

    if (r->trace_disabled && r->drained)
        return RING_NOTHING_NEW;
    if (!s->follower.anchored)
        return RING_RESYNC;
    bool has_more =
        part ? s->next < head : head != s->next || s->provisional_count || r->must_verify_anchor;
    if (!has_more || part >= MAX_PARTS)
        return RING_NOTHING_NEW;
    uint32_t count = choose_part(r);
    if (part && extract_follower_poll(&s->follower))
        return RING_NOTHING_NEW;
    if (!count && s->follower.head != s->next)
        return RING_RESYNC;
    *span = (struct ring_span){
        .first = s->next - s->provisional_count, .asked = count, .data = r->buffer};
    span->count = extract_follower_fetch(&s->follower, span->first, count, r->buffer);
    span->is_short = span->count < count;
    return RING_OK;
}

// If the anchor cannot be reread, the span counts as unread, and emit_slots notes the failure.
static enum ring_result verify_slots(struct extract_recorder *r, struct ring_span *span)
{
    struct extract_follower *follower = &r->slots.follower;
    struct extract_follower_span verified = {span->first, span->count, span->data};
    enum extract_follower_result result =
        extract_follower_verify_span(follower, span->asked, &verified);

    if (result == EXTRACT_FOLLOWER_ANCHOR_CHANGED) {
        if (slots_have_restarted(r))
            return RING_RESTARTED;
        result = extract_follower_poll(follower);
        record_note_located(r);
        return result ? RING_UNREADABLE : RING_RESYNC;
    }
    span->is_short |= result != EXTRACT_FOLLOWER_OK;
    span->first = verified.first;
    span->count = verified.count;
    span->data = verified.entries;
    return RING_OK;
}

// Skips entries that could not be read several times in a row, each time twice as many.
static enum extract_code skip_unreadable(struct extract_recorder *r, struct extract_error *error)
{
    struct slot_ring *s = &r->slots;

    if (s->failed_reads < RETRIES_BEFORE_SKIP || s->follower.head == s->next)
        return EXTRACT_OK;
    enum extract_code code = slots_emit_provisional(r, error);
    uint32_t more = s->failed_reads - RETRIES_BEFORE_SKIP;
    uint64_t skip = UINT64_C(1) << (more < 20 ? more : 20), left = s->follower.head - s->next;
    s->next += skip < left ? skip : left;
    s->gap_is_unreadable = true;
    return code;
}

static enum extract_code emit_slots(struct extract_recorder *r, struct ring_span *span,
                                    struct extract_error *error)
{
    struct extract_follower_span verified = {span->first, span->count, span->data};

    if (span->is_short) {
        r->slots.failed_reads++;
        return span->count ? slots_emit_verified(r, &verified, error) : skip_unreadable(r, error);
    }
    r->slots.failed_reads = 0;
    r->must_verify_anchor = false;
    return slots_emit_verified(r, &verified, error);
}

// ---- after reading ----

static enum extract_code note_clock(struct extract_recorder *r, enum ring_result *result,
                                    struct extract_error *error)
{
    (void)result;
    (void)error;
    if (!r->trace_disabled)
        ring_clock_note_poll(&r->slots.clock, &r->ring, r->located_ns);
    return EXTRACT_OK;
}

static bool slots_are_drained(const struct extract_recorder *r)
{
    const struct slot_ring *s = &r->slots;

    if (s->failed_reads >= MAX_FAILED_READS)
        return true;
    if (r->phase != RECORD_FOLLOWING)
        return !r->resync_pending;
    return s->follower.anchored && !s->is_lapped && !r->must_verify_anchor &&
           s->follower.head == s->next;
}

// What the ring had overwritten is reported once the new ring is found.
static enum extract_code report_slots_restart(struct extract_recorder *r,
                                              struct extract_error *error)
{
    return slots_emit_provisional(r, error);
}

static uint64_t slot_position(const struct extract_recorder *r)
{
    return 1 + (r->slots.due + r->slots.follower.phase) % r->ring.entries.count;
}

const struct ring_kind record_slot_rings = {.can_follow = can_follow,
                                            .start = start_slots,
                                            .locate = locate_slots,
                                            .read = read_slots,
                                            .verify = verify_slots,
                                            .emit = emit_slots,
                                            .resynchronize = slots_resynchronize,
                                            .conclude = note_clock,
                                            .is_drained = slots_are_drained,
                                            .report_restart = report_slots_restart,
                                            .report_unread = slots_report_unread,
                                            .position = slot_position};
