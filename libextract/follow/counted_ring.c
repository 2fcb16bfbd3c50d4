// SPDX-License-Identifier: MIT
// follow: following a ring of bytes whose places are counts (hook words). In: the header's words,
// the buffer. Out: what is new, as it lies there; losses, by the ring's own count of entries.
//
// The oldest whole entry begins at the tail, the next one will at the head, and the writer moves
// the tail before it overwrites what lies behind it. So what was read between the last place and
// the head is whole when the tail, read again, has not passed that place. Where it has, the newest
// entries are taken: from a tail on that was read behind them, since there an entry begins, or from
// the first that is found from the head back, where the format has that. A reader that is slower
// than the writer takes them only, as far back as what it reads will hold: its reach.
//
// Where the head passes entries before they are finished, what is read ends in front of the first
// of these, which is come back to; unless it holds up so much that its writer has died.
//
// The writer counts an entry before its head passes it, and both move on between two words that
// are read. A count holds at a head when two looks find both unchanged and, where the format shows
// that an entry has been begun, none had been begun at that head in between: a writer that was
// interrupted there has counted an entry that its head has not passed. A target that is halted
// needs one look.
//
// Without that, the count at a head is known to lie between that of the look before it, less one,
// and that of the look after it. A gap then states the least number that is missing. Once a count
// holds again at the place that was read up to, a loss in earlier gaps makes up the difference, so
// that the losses add up to the target's own count.
//
// A writer that wraps between two words of one look leaves a tail that has passed its head:
// all that lies in front of the tail is overwritten, which is no contradiction. Places and counts
// only grow, so that the ring begins again where one of them went back, or the era is another one.
#include "follow/internal.h"
#include <string.h>

enum {
    READS = 4,       // of words that do not fit
    LOOKS = 4,       // for two that are alike
    LOOKS_SHARE = 4, // of the bytes that a slow reader reads, what further looks may cost
    TRIES = 12,      // to take the newest
    BLOCK_BYTES = 2048,
    HELD_SHARE = 2 // what holds up so large a part of the ring will never be finished
};

// How far `place` lies behind `from`; negative: in front of it.
static int32_t behind(uint32_t place, uint32_t from)
{
    return (int32_t)(place - from);
}

static bool is_alike(const struct extract_ring_counters *a, const struct extract_ring_counters *b)
{
    return a->head == b->head && a->tail == b->tail && a->written == b->written &&
           a->generation == b->generation;
}

// A target that is halted for its reads does not move between two looks of one poll.
static void note_look(struct extract_recorder *r, const struct extract_ring_counters *counters)
{
    struct bytes *b = &r->bytes;
    bool same = is_alike(counters, &b->seen);
    bool apart = extract_memory_is_running(r->memory) || b->seen_at != r->status.polls;
    if (r->ring.format->stream->counted->open)
        b->count_holds = same && b->is_clear;
    else if (apart || !same)
        b->count_holds = same && apart;
    b->is_clear = b->is_clear && same;
    b->seen = *counters;
    b->seen_at = r->status.polls;
    record_note_look(r);
    record_note_wall(r);
}

// Looks at the header's words until they hold. Where tail and head lie apart, twice and not alike,
// the writer is under way, and they are what it is known by. A target that has ended writes no
// more, nor does it finish what it was writing.
static enum extract_follower_result look(struct extract_recorder *r,
                                         struct extract_ring_counters *counters)
{
    struct extract_ring_counters last = {0};
    const struct extract_stream *stream = r->ring.format->stream;
    uint8_t header[EXTRACT_HEADER_MAX];
    bool has_ended = extract_memory_has_ended(r->memory); // before its last words are read
    memcpy(header, r->ring.header, sizeof header);
    r->bytes.last |= has_ended;
    for (unsigned i = 0; i < READS; i++) {
        if (!record_read(r, r->ring.address + stream->counted->live_from,
                         header + stream->counted->live_from,
                         stream->counted->live_to - stream->counted->live_from))
            return EXTRACT_FOLLOWER_NO_RESPONSE;
        bool holds = stream->read_counters(&r->ring, header, counters);
        bool moves =
            counters->head_lapped_tail && last.head_lapped_tail && !is_alike(counters, &last);
        last = *counters;
        if (!holds && !moves)
            continue;
        if (behind(counters->head, counters->tail) > (int64_t)bytes_size(r))
            counters->tail = counters->head - bytes_size(r);
        counters->running = counters->running && !has_ended;
        note_look(r, counters);
        return EXTRACT_FOLLOWER_OK;
    }
    return EXTRACT_FOLLOWER_BAD_HEAD;
}

// Returns whether the count of the last look holds at its head. Reads the word there when the
// format shows by it that an entry has been begun, which tells the next look more, too.
static bool prove_count(struct extract_recorder *r)
{
    struct bytes *b = &r->bytes;
    const struct extract_stream *stream = r->ring.format->stream;
    uint8_t word[4];
    if (b->count_holds || !stream->counted->open)
        return b->count_holds;
    if (!b->is_clear)
        b->is_clear = bytes_fetch(r, b->seen.head, sizeof word, word) &&
                      !stream->counted->open->is_begun(&r->ring, word, b->seen.head);
    b->count_holds = b->is_clear && !extract_memory_is_running(r->memory);
    return b->count_holds;
}

static enum extract_code put_lapped(struct extract_recorder *r, uint32_t lost, bool exact,
                                    struct extract_error *error)
{
    return out_loss(&r->out, EXTRACT_LOSS_LAPPED, lost, exact ? 0 : EXTRACT_LOG_ANY_MORE, error);
}

// The ring began again, so that the count of the one before cannot be read any more: what it had
// counted at `last`, and was not read, is lost, and nobody knows what came after that. The loss
// stands in front of the mark, since no later count includes it.
static enum extract_code begin_anew(struct extract_recorder *r, uint32_t last,
                                    struct extract_error *error)
{
    // The newest entry may have been counted before it was written.
    int32_t owed = (int32_t)(last - 1 - r->bytes.most);
    bool has_read = r->phase == RECORD_FOLLOWING || r->ring_was_replaced;
    enum extract_code code = EXTRACT_OK;
    if (has_read)
        code = out_loss(&r->out, EXTRACT_LOSS_RESET,
                        r->phase != RECORD_FOLLOWING || owed < 0 ? 0 : (uint32_t)owed,
                        EXTRACT_LOG_ANY_MORE, error);
    return code ? code : record_reset(r, error);
}

static enum extract_code fail(struct extract_recorder *r, enum extract_follower_result result,
                              struct extract_error *error)
{
    if (result == EXTRACT_FOLLOWER_NO_RESPONSE)
        return record_note_disconnect(r, error);
    return begin_anew(r, r->bytes.most, error);
}

// Whether the ring was cleared, or begun again, behind a look at it.
static bool has_restarted(const struct extract_ring_counters *before,
                          const struct extract_ring_counters *after)
{
    return after->generation != before->generation || behind(after->head, before->head) < 0 ||
           behind(after->written, before->written) < 0 || behind(after->lost, before->lost) < 0;
}

// ---- entries ----

// The length of the entry at the start of these bytes, or all that is left when it is none.
static uint32_t entry_of(const struct extract_recorder *r, const uint8_t *bytes, uint32_t left)
{
    uint32_t length = r->ring.format->stream->counted->length(&r->ring, bytes, left);
    return length && length <= left ? length : left;
}

static uint32_t count_entries(const struct extract_recorder *r, const uint8_t *bytes,
                              uint32_t length)
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < length; count++)
        at += entry_of(r, bytes + at, length - at);
    return count;
}

// What entries name may be new to the registry.
static void note_objects(struct extract_recorder *r, const uint8_t *bytes, uint32_t length)
{
    const struct extract_stream *stream = r->ring.format->stream;
    uint64_t address;
    for (uint32_t at = 0, next; stream->counted->open && at < length; at = next) {
        next = at + entry_of(r, bytes + at, length - at);
        if (stream->counted->open->object(&r->ring, bytes + at, next - at, &address))
            objects_note_one(&r->objects, address);
    }
}

// How much of new bytes is finished, or will never be.
static uint32_t finished(struct extract_recorder *r, const uint8_t *bytes, uint32_t length)
{
    const struct extract_stream *stream = r->ring.format->stream;
    uint32_t at = 0, most = r->bytes.last ? 0 : bytes_size(r) / HELD_SHARE;
    if (!stream->counted->open)
        return length;
    for (;;) {
        at += stream->counted->open->finished(&r->ring, bytes + at, length - at);
        r->bytes.entry_incomplete = at < length;
        if (!r->bytes.entry_incomplete || length - at <= most)
            return at;
        at += entry_of(r, bytes + at, length - at);
    }
}

// A long entry goes out in pieces, of which the last counts.
static enum extract_code put_pieces(struct extract_recorder *r, const uint8_t *bytes,
                                    uint32_t length, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    for (uint32_t at = 0; at < length && !code; at += BLOCK_BYTES) {
        bool last = length - at <= BLOCK_BYTES;
        code = out_bytes(&r->out, bytes + at, last ? length - at : BLOCK_BYTES, last, error);
    }
    return code;
}

// Blocks begin where an entry does, as far as entries are shorter than blocks.
static enum extract_code put_entries(struct extract_recorder *r, const uint8_t *bytes,
                                     uint32_t length, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    uint32_t from = 0, count = 0;
    for (uint32_t at = 0, next; at < length && !code; at = next) {
        next = at + entry_of(r, bytes + at, length - at);
        bool is_long = next - at > BLOCK_BYTES, is_full = next - from > BLOCK_BYTES;
        if (is_full && at > from) {
            code = out_bytes(&r->out, bytes + from, at - from, count, error);
            from = at;
            count = 0;
        }
        count += !is_long;
        if (is_long && !code)
            code = put_pieces(r, bytes + at, next - at, error);
        from = is_long ? next : from;
    }
    return code || from == length ? code
                                  : out_bytes(&r->out, bytes + from, length - from, count, error);
}

// Sends new bytes on, as far as they are finished.
static enum extract_code deliver(struct extract_recorder *r, const uint8_t *bytes, uint32_t fill,
                                 struct extract_error *error)
{
    struct bytes *b = &r->bytes;
    uint32_t length = finished(r, bytes, fill);
    uint32_t count = count_entries(r, bytes, length);
    b->place += length;
    b->least += count;
    b->most += count;
    b->counted_entries += count;
    b->entries += count;
    b->taken += length;
    bytes_drop_anchor(b, bytes, length);
    note_objects(r, bytes, length);
    poll_interval_look(&r->poll_interval, r->looked, b->place);
    return put_entries(r, bytes, length, error);
}

// ---- the newest ----

struct newest {
    struct extract_ring_counters counters; // in front of the read
    uint32_t from, length;                 // of what is whole
    uint32_t least, most;                  // entries in front of the head, as the ring counts them
};

static bool is_exact(const struct newest *newest)
{
    return newest->least == newest->most;
}

// Looks that a search for a count may take: several, unless each costs much of what is read.
static unsigned looks_for_count(const struct extract_recorder *r)
{
    const struct extract_stream *stream = r->ring.format->stream;
    uint32_t cost = LOOKS_SHARE * (stream->counted->live_to - stream->counted->live_from);
    unsigned looks = 1 + r->bytes.safe_bytes / cost;
    return r->bytes.safe_bytes && looks < LOOKS ? looks : LOOKS;
}

// What the header said at this look, and how many entries it had counted by its head.
static enum extract_follower_result look_for_count(struct extract_recorder *r,
                                                   struct newest *newest)
{
    struct bytes *b = &r->bytes;
    enum extract_follower_result result = EXTRACT_FOLLOWER_OK;
    for (unsigned i = 0; i < looks_for_count(r) && !result; i++) {
        struct extract_ring_counters before = b->seen;
        result = look(r, &newest->counters);
        newest->least = before.written - 1;
        newest->most = newest->counters.written;
        if (!result && (i || r->phase == RECORD_FOLLOWING) &&
            has_restarted(&before, &newest->counters))
            result = EXTRACT_FOLLOWER_BAD_HEAD;
        if (!result && prove_count(r)) {
            newest->least = newest->most;
            break;
        }
    }
    return result;
}

// What was written while `length` bytes were read tells how far the reach goes at that speed. Where
// entries are found from the head back, three quarters of the ring are to be written by then; else
// the tail is to come to the middle of what is read. Less is believed at once, more bit by bit.
static void note_safe_bytes(struct extract_recorder *r, uint32_t length, uint32_t written)
{
    struct bytes *b = &r->bytes;
    bool found = r->ring.format->stream->counted->open;
    uint64_t most = (uint64_t)bytes_size(r) * (found ? length / 4 * 3 : length);
    uint64_t fits = most / ((uint64_t)(found ? length : length / 2) + written + 1) + 4;
    uint64_t grown = (uint64_t)b->safe_bytes + b->safe_bytes / 4 + 4;
    fits = b->safe_bytes && fits > grown ? grown : fits;
    b->safe_bytes = (uint32_t)(fits < bytes_size(r) ? fits : bytes_size(r)) / 4 * 4;
}

// Where an entry begins in bytes that end where one does; their end: nowhere.
static uint32_t find_boundary(const struct extract_recorder *r, const uint8_t *bytes, uint32_t from,
                              uint32_t to)
{
    const struct extract_stream *stream = r->ring.format->stream;
    return stream->counted->open
               ? from + stream->counted->open->boundary(&r->ring, bytes, to - from, to)
               : to;
}

// Reads the newest bytes, `most` at most, and finds what of them is whole, from a border on.
// *passed: nothing, the writer was faster. Nothing and not passed: no border lies in them.
static enum extract_follower_result read_newest(struct extract_recorder *r, struct newest *newest,
                                                uint32_t most, bool *passed)
{
    const struct extract_ring_counters *counters = &newest->counters;
    struct extract_ring_counters after;
    uint32_t known = counters->tail, to = counters->head, from;
    newest->length = 0;
    *passed = behind(known, to) > 0;
    if (*passed)
        return EXTRACT_FOLLOWER_OK;
    if (r->phase == RECORD_FOLLOWING && behind((uint32_t)r->bytes.place, known) > 0)
        known = (uint32_t)r->bytes.place;
    from = to - known > most ? to - most : known;
    if (!bytes_fetch(r, from, to - from, r->buffer))
        return EXTRACT_FOLLOWER_NO_RESPONSE;
    enum extract_follower_result result = look(r, &after);
    if (result || has_restarted(counters, &after))
        return result ? result : EXTRACT_FOLLOWER_BAD_HEAD;
    if (!is_exact(newest)) {
        newest->most = after.written;
        if (after.head == to && r->bytes.count_holds)
            newest->least = newest->most;
    }
    uint32_t start = behind(after.tail, from) > 0 ? after.tail : from;
    *passed = behind(start, to) > 0;
    if (*passed || r->bytes.safe_bytes)
        note_safe_bytes(r, to - from, after.head - to);
    if (*passed)
        return EXTRACT_FOLLOWER_OK;
    if (start != known && start != after.tail)
        start = find_boundary(r, r->buffer + (start - from), start, to);
    newest->from = start;
    newest->length = to - start;
    memmove(r->buffer, r->buffer + (start - from), newest->length);
    return EXTRACT_FOLLOWER_OK;
}

// As much as can be had of a writer that goes on: its speed says how much that is.
static enum extract_follower_result take_newest(struct extract_recorder *r, struct newest *newest,
                                                bool *got)
{
    *got = false;
    for (unsigned i = 0; i < TRIES && !*got; i++) {
        bool passed = false;
        enum extract_follower_result result = look_for_count(r, newest);
        bool slow = r->bytes.safe_bytes && !is_exact(newest);
        if (!result)
            result = read_newest(r, newest, slow ? r->bytes.safe_bytes : bytes_size(r), &passed);
        if (result)
            return result;
        *got = !passed && (newest->length || newest->counters.head == newest->counters.tail);
    }
    return EXTRACT_FOLLOWER_OK;
}

static enum extract_code put_loss(struct extract_recorder *r, const struct newest *newest,
                                  uint32_t count, struct extract_error *error)
{
    struct bytes *b = &r->bytes;
    uint32_t least = newest->least - count, most = newest->most - count;
    int32_t lost = (int32_t)(least - b->most);
    bool exact = lost >= 0 && least == most && b->least == b->most;
    if (lost < 0)
        lost = 0;
    b->least = least;
    b->most = most;
    b->counted_entries += (uint32_t)lost;
    b->owes |= !exact;
    r->status.laps++;
    return put_lapped(r, (uint32_t)lost, exact, error);
}

// Goes on at the newest entries: at the start, or when the writer has overwritten what comes next.
static enum extract_code jump(struct extract_recorder *r, struct extract_error *error)
{
    struct bytes *b = &r->bytes;
    struct newest newest;
    bool got;
    enum extract_follower_result result = take_newest(r, &newest, &got);
    if (result)
        return fail(r, result, error);
    r->resync_pending = !got;
    if (!got)
        return EXTRACT_OK;
    uint32_t count = count_entries(r, r->buffer, newest.length);
    enum extract_code code = EXTRACT_OK;
    if (r->phase == RECORD_FOLLOWING) {
        if (newest.from != (uint32_t)b->place)
            code = put_loss(r, &newest, count, error);
        b->place += newest.from - (uint32_t)b->place;
    } else {
        b->place = newest.from;
        b->least = newest.least - count;
        b->most = newest.most - count;
        if (b->least > b->most) // it is below 0
            b->least = 0;
        // What lies in front of the first ring is not lost, and the most that it may be is left
        // out. A ring that began again counts from 0, so that the least was lost for certain.
        b->counted_entries = r->ring_was_replaced ? b->least : b->most;
        b->is_based = r->ring_was_replaced || is_exact(&newest);
        b->owes = r->ring_was_replaced && !is_exact(&newest);
        r->status.has_all = is_exact(&newest) && !b->counted_entries;
        b->refused = r->ring_was_replaced ? 0 : newest.counters.lost;
        if (r->ring_was_replaced && (b->counted_entries || b->owes))
            code = put_lapped(r, b->counted_entries, !b->owes, error);
    }
    b->anchored = 0;
    r->phase = RECORD_FOLLOWING;
    return code ? code : deliver(r, r->buffer, newest.length, error);
}

// ---- polls ----

// What is new, behind the anchor, where that is still in the ring.
static enum extract_code follow(struct extract_recorder *r,
                                const struct extract_ring_counters *counters,
                                struct extract_error *error)
{
    struct bytes *b = &r->bytes;
    struct extract_ring_counters after;
    uint32_t from = (uint32_t)b->place, fill = counters->head - from, anchor = b->anchored;
    if (!fill && !r->must_verify_anchor)
        return EXTRACT_OK;
    if (behind(counters->tail, from - anchor) > 0)
        anchor = 0;
    if (!bytes_fetch(r, b->place - anchor, anchor + fill, r->buffer))
        return record_note_disconnect(r, error);
    enum extract_follower_result result = look(r, &after);
    if (result || has_restarted(counters, &after))
        return fail(r, result ? result : EXTRACT_FOLLOWER_BAD_HEAD, error);
    b->safe_bytes = 0;
    if (behind(after.tail, from) > 0) {
        note_safe_bytes(r, anchor + fill, after.head - counters->head);
        return jump(r, error);
    }
    bool stands = behind(after.tail, from - anchor) <= 0;
    if (stands && memcmp(r->buffer, b->anchor + b->anchored - anchor, anchor))
        return begin_anew(r, b->most, error);
    r->must_verify_anchor = false;
    return deliver(r, r->buffer + anchor, fill, error);
}

// Takes the ring's count at the place that was read up to, once it holds there. The gaps since the
// last such count stated the least number that was missing; the rest is a loss in earlier gaps.
static enum extract_code take_count(struct extract_recorder *r, struct extract_error *error)
{
    struct bytes *b = &r->bytes;
    struct extract_ring_counters counters, before = b->seen;
    if (b->seen.head != (uint32_t)b->place || (b->is_based && !b->owes))
        return EXTRACT_OK;
    bool holds = prove_count(r);
    bool can_hold =
        r->ring.format->stream->counted->open ? b->is_clear : extract_memory_is_running(r->memory);
    if (!holds && can_hold && !look(r, &counters)) {
        if (has_restarted(&before, &counters))
            return begin_anew(r, before.written, error);
        holds = b->count_holds && b->seen.head == (uint32_t)b->place;
    }
    if (!holds)
        return EXTRACT_OK;
    int32_t owed = (int32_t)(b->seen.written - b->counted_entries);
    bool exact = b->is_based && owed >= 0, owes = b->owes;
    b->least = b->most = b->counted_entries = b->seen.written;
    b->is_based = true;
    b->owes = false;
    return owes ? out_loss(&r->out, EXTRACT_LOSS_EARLIER, owed > 0 ? (uint32_t)owed : 0,
                           exact ? 0 : EXTRACT_LOG_ANY_MORE, error)
                : EXTRACT_OK;
}

// Entries that the target itself had no room for.
static enum extract_code put_refused(struct extract_recorder *r, struct extract_error *error)
{
    struct bytes *b = &r->bytes;
    uint32_t refused = b->seen.lost - b->refused;
    b->refused = b->seen.lost;
    return refused ? out_loss(&r->out, EXTRACT_LOSS_REFUSED, refused, 0, error) : EXTRACT_OK;
}

// That it goes on is said in front of what is new, and that it does not behind the last of it.
static enum extract_code put_state(struct extract_recorder *r, bool on, struct extract_error *error)
{
    if (r->phase != RECORD_FOLLOWING || r->trace_disabled != on || r->bytes.seen.running != on)
        return EXTRACT_OK;
    r->trace_disabled = r->drained = !on;
    if (on)
        return out_mark(&r->out, EXTRACT_MARK_ENABLED, 0, "the trace is on again", error);
    const char *why =
        extract_memory_has_ended(r->memory) ? "the traced process has ended" : "the trace is off";
    return out_mark(&r->out, EXTRACT_MARK_DISABLED, 0, why, error);
}

enum extract_code counted_poll(struct extract_recorder *r, struct extract_error *error)
{
    struct bytes *b = &r->bytes;
    struct extract_ring_counters counters, before = b->seen;
    enum extract_follower_result result = look(r, &counters);
    if (result == EXTRACT_FOLLOWER_NO_RESPONSE)
        return record_note_disconnect(r, error);
    enum extract_code code = record_note_reconnect(r, error);
    if (code)
        return code;
    if (result || (r->phase == RECORD_FOLLOWING && has_restarted(&before, &counters)))
        return begin_anew(r, before.written, error);
    uint32_t size = bytes_size(r),
             fill = r->phase != RECORD_FOLLOWING ? 0 : counters.head - (uint32_t)b->place;
    r->status.fill = fill < size ? fill : size;
    r->status.fill_most =
        r->status.fill > r->status.fill_most ? r->status.fill : r->status.fill_most;
    if (!fill && r->phase == RECORD_FOLLOWING)
        poll_interval_look(&r->poll_interval, r->looked, b->place);
    code = put_state(r, true, error);
    if (code)
        return code;
    bool lapped = r->phase != RECORD_FOLLOWING || r->resync_pending || fill > size ||
                  behind(counters.tail, (uint32_t)b->place) > 0;
    lapped |= b->safe_bytes && fill > b->safe_bytes;
    code = lapped ? jump(r, error) : follow(r, &counters, error);
    if (code || r->phase != RECORD_FOLLOWING || r->status.gone)
        return code;
    code = take_count(r, error);
    if (code || r->phase != RECORD_FOLLOWING)
        return code;
    code = put_refused(r, error);
    if (code || b->seen.head != (uint32_t)b->place)
        return code;
    return put_state(r, false, error);
}

enum extract_code counted_start(struct extract_recorder *r, struct extract_error *error)
{
    struct extract_ring_counters counters;
    r->bytes.counted = true;
    look(r, &counters);
    enum extract_code code = objects_start(&r->objects, &r->ring, error);
    code = code ? code : out_ring(&r->out, &r->ring, error);
    return code ? code : objects_read(r, error);
}

// All that the writer was too fast for is lost, at least as much as it has counted.
enum extract_code counted_end(struct extract_recorder *r, struct extract_error *error)
{
    struct bytes *b = &r->bytes;
    int32_t owed = (int32_t)(b->seen.written - b->most);
    if (!r->resync_pending)
        return EXTRACT_OK;
    return put_lapped(r, r->phase != RECORD_FOLLOWING || owed < 0 ? 0 : (uint32_t)owed, false,
                      error);
}
