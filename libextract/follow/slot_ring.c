// SPDX-License-Identifier: MIT
// follow: reads the entries of a slot ring from the last known one to the writer's place. The
// recorder calls it right after it has read that place.
//
// All in one read, as long as the writer cannot lap the reader meanwhile. Else in parts that are
// proven one by one; when the writer is too near, the newest are worth more than the oldest.
#include "follow/internal.h"

enum {
    PARTS = 8,       // of a poll, at most
    LEAST_PART = 16, // entries
    PATIENCE = 3     // polls that may fail to read the entries before some are given up
};

// Whether `count` entries can be read while the writer, who is `behind` entries ahead of the
// anchor, goes on.
static bool is_safe(const struct extract_recorder *r, uint64_t behind, uint64_t count)
{
    double writes =
        1.25 * r->poll_interval.load * link_model_poll(&r->link_model, &r->ring, (double)count);
    return (double)behind + writes < (double)r->ring.entries.count - 1;
}

// How many entries to read next, from the oldest that was not read; 0: they are being overwritten.
static uint32_t choose_part(const struct extract_recorder *r)
{
    uint64_t behind = r->follower.head - r->follower.number - 1;
    uint64_t all = r->follower.head - (r->next - r->provisional_count),
             part = r->ring.entries.count / PARTS;
    part = part < LEAST_PART ? LEAST_PART : part;
    uint64_t want = is_safe(r, behind, all) || part > all ? all : part;
    if (!is_safe(r, behind, want))
        return 0;
    return want < r->buffer_slots ? (uint32_t)want : r->buffer_slots;
}

// Entries that cannot be read again and again are given up, ever more of them.
static void give_up(struct extract_recorder *r)
{
    uint32_t more = r->failed_reads - PATIENCE;
    uint64_t skip = UINT64_C(1) << (more < 20 ? more : 20), left = r->follower.head - r->next;
    r->next += skip < left ? skip : left;
    r->gap_is_unreadable = true;
}

static enum extract_code trouble(struct extract_recorder *r, struct extract_follower_span *span,
                                 struct extract_error *error)
{
    r->failed_reads++;
    if (span->count)
        return record_emit(r, span, error);
    if (r->failed_reads < PATIENCE || r->follower.head == r->next)
        return EXTRACT_OK;
    enum extract_code code = record_emit_provisional(r, error);
    give_up(r);
    return code;
}

static enum extract_code lapped(struct extract_recorder *r, struct extract_error *error)
{
    if (record_is_reset(r))
        return record_reset(r, error);
    enum extract_follower_result result = extract_follower_poll(&r->follower);
    record_note_look(r);
    if (result)
        return EXTRACT_OK; // the next poll's look says the same, and does something about it
    return record_resync(r, error);
}

// One part. *more says whether there is another one.
static enum extract_code follow_part(struct extract_recorder *r, uint32_t part, bool *more,
                                     struct extract_error *error)
{
    struct extract_follower_span span;
    uint64_t first = r->next - r->provisional_count;
    enum extract_follower_result result =
        extract_follower_read(&r->follower, first, part, r->buffer, &span);
    *more = false;
    if (result == EXTRACT_FOLLOWER_ANCHOR_CHANGED)
        return lapped(r, error);
    if (result)
        return trouble(r, &span, error);
    r->failed_reads = 0;
    r->must_verify_anchor = false;
    enum extract_code code = record_emit(r, &span, error);
    *more = !code && r->next < r->follower.head;
    return code;
}

enum extract_code record_follow(struct extract_recorder *r, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    bool more = r->follower.head != r->next || r->provisional_count || r->must_verify_anchor;
    if (!r->follower.anchored)
        return record_resync(r, error);
    for (unsigned i = 0; more && !code && i < PARTS; i++) {
        uint32_t part = choose_part(r);
        if (i && extract_follower_poll(&r->follower))
            break;
        if (!part && r->follower.head != r->next)
            return record_resync(r, error);
        code = follow_part(r, part, &more, error);
    }
    return code;
}
