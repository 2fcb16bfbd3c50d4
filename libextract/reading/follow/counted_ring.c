// SPDX-License-Identifier: MIT
// follow: how a byte ring whose header counts (POSIX trace, hook words) is located, read and
// verified.
//
// Positions are counts of bytes modulo 2^32. The oldest complete entry begins at the tail, the next
// one will at the head, and the writer moves the tail before it overwrites what comes after it:
//
//            tail       place              head
//    --------+----------+------------------+--------
//            | was read | is read now      | the writer
//
// So what was read between the last place and the head is verified if the tail, read again, has not
// passed that place. If it has, the newest entries are taken. They begin at a tail that was read
// after them, since an entry begins there, or at the first entry boundary that is found from the
// head back, if the format can find one. A reader that is slower than the writer takes only as
// many bytes as will still be there when it has read them (safe_bytes).
//
// If the head passes entries before they are complete, reading ends before the first of these, and
// the next poll continues there. An entry that holds up half of the ring is taken as it is: its
// writer has died.
//
// The count of entries. The writer counts an entry before its head passes it, and both move on
// between two words that are read. A count holds at a head if two reads of the header find both
// unchanged and, where the format shows that an entry has been begun, none had been begun at that
// head in between: a writer that was interrupted there has counted an entry that its head has not
// passed. A target that is halted needs one read.
//
// Otherwise the count at a head lies between that of the read before it, less one, and that of the
// read after it. A gap then states the least number that is missing. Once a count holds again at
// the place that was read up to, a loss in earlier gaps makes up the difference, so that all losses
// add up to the target's own count.
//
// A writer that wraps between two words of one read leaves a tail that has passed its head: all
// before the tail is overwritten, which is no contradiction. Positions and counts only grow, so a
// ring has restarted if one of them went back, or its generation is another one.
#include "follow/follow_room.h"
#include "memory/memory_hooks.h"
#include <string.h>

enum {
    MIN_ARRAY = 64,         // bytes
    HEADER_TRIES = 4,       // reads of words that contradict each other
    MAX_COUNT_READS = 4,    // reads of the header to find a count that holds
    COUNT_READS_SHARE = 4,  // of the bytes that a slow reader reads, what these may cost
    NEWEST_TRIES = 12,      // to read the newest entries
    MAX_BLOCK_BYTES = 2048, // of a log: they fit into the sections of any
    ABANDONED_SHARE = 2     // what holds up so large a part of the ring will never be complete
};

// Returns how far `place` comes after `from`; negative: before it.
static int32_t distance(uint32_t place, uint32_t from)
{
    return (int32_t)(place - from);
}

static const struct extract_counted_ring *counted_of(const struct extract_recorder *r)
{
    return r->ring.format->stream->counted;
}

static bool can_follow(const struct extract_ring *ring)
{
    const struct extract_stream *stream = ring->format->stream;
    uint64_t size = ring->entries.end - ring->entries.start;

    // Positions wrap at 2^32, so the array's size must divide that.
    return stream && stream->counted && size >= MIN_ARRAY && size < UINT32_MAX / 2 &&
           !(size & (size - 1));
}

// ---- the header ----

static bool is_alike(const struct extract_ring_counters *a, const struct extract_ring_counters *b)
{
    return a->head == b->head && a->tail == b->tail && a->written == b->written &&
           a->generation == b->generation;
}

// Returns whether the ring was cleared or created again between two reads of its header.
static bool has_restarted(const struct extract_ring_counters *before,
                          const struct extract_ring_counters *after)
{
    return after->generation != before->generation || distance(after->head, before->head) < 0 ||
           distance(after->written, before->written) < 0 || distance(after->lost, before->lost) < 0;
}

// Notes counters that were read, and whether their count holds. A target that is halted for its
// reads does not move between two of them in one poll.
static void note_counters(struct extract_recorder *r, const struct extract_ring_counters *counters)
{
    struct byte_ring *b = &r->bytes;
    bool is_same = is_alike(counters, &b->counters);
    bool could_move = extract_memory_is_running(r->memory) || b->counters_poll != r->status.polls;

    if (counted_of(r)->open)
        b->count_holds = is_same && b->head_is_clear;
    else if (could_move || !is_same)
        b->count_holds = is_same && could_move;
    b->head_is_clear = b->head_is_clear && is_same;
    b->counters = *counters;
    b->counters_poll = r->status.polls;
    r->trace_disabled = !counters->running;
    record_note_located(r);
    record_note_wall(r);
}

// Reads the header's words until they do not contradict each other. If the head has lapped the tail
// twice, and not alike, the writer is between them, and they are good. A target that has ended
// writes no more, nor does it complete what it was writing. Returns OK, NO_RESPONSE or RESTARTED.
static enum ring_result read_counters(struct extract_recorder *r,
                                      struct extract_ring_counters *counters)
{
    const struct extract_counted_ring *counted = counted_of(r);
    struct extract_ring_counters last = {0};
    uint8_t header[EXTRACT_HEADER_MAX];
    bool has_ended = extract_memory_has_ended(r->memory); // before its last words are read

    memcpy(header, r->ring.header, sizeof header);
    r->bytes.is_last_poll |= has_ended;
    for (unsigned i = 0; i < HEADER_TRIES; i++) {
        if (!record_read(r, r->ring.address + counted->live_from, header + counted->live_from,
                         counted->live_to - counted->live_from))
            return RING_NO_RESPONSE;
        bool holds = r->ring.format->stream->read_counters(&r->ring, header, counters);
        bool moves =
            counters->head_lapped_tail && last.head_lapped_tail && !is_alike(counters, &last);
        last = *counters;
        if (!holds && !moves)
            continue;
        if (distance(counters->head, counters->tail) > (int64_t)bytes_size(r))
            counters->tail = counters->head - bytes_size(r);
        counters->running = counters->running && !has_ended;
        note_counters(r, counters);
        return RING_OK;
    }
    return RING_RESTARTED;
}

// Returns whether the count that was read last holds at its head. If the format shows by the word
// there whether an entry has been begun, reads that, which also serves the next read.
static bool verify_count(struct extract_recorder *r)
{
    struct byte_ring *b = &r->bytes;
    const struct extract_open_entries *open = counted_of(r)->open;
    uint8_t word[4];

    if (b->count_holds || !open)
        return b->count_holds;
    if (!b->head_is_clear)
        b->head_is_clear = bytes_read(r, b->counters.head, sizeof word, word) &&
                           !open->is_begun(&r->ring, word, b->counters.head);
    b->count_holds = b->head_is_clear && !extract_memory_is_running(r->memory);
    return b->count_holds;
}

// ---- entries ----

// Returns the length of the entry at the start of these bytes; all that is left if it is none.
static uint32_t entry_length(const struct extract_recorder *r, const uint8_t *bytes, uint32_t left)
{
    uint32_t length = r->ring.format->stream->counted->length(&r->ring, bytes, left);

    return length && length <= left ? length : left;
}

static uint32_t count_entries(const struct extract_recorder *r, const uint8_t *bytes,
                              uint32_t length)
{
    uint32_t count = 0;

    for (uint32_t at = 0; at < length; count++)
        at += entry_length(r, bytes + at, length - at);
    return count;
}

// Notes the objects that entries name: the registry may not have them yet.
static void note_objects(struct extract_recorder *r, const uint8_t *bytes, uint32_t length)
{
    const struct extract_stream *stream = r->ring.format->stream;
    uint64_t address;

    for (uint32_t at = 0, next; stream->counted->open && at < length; at = next) {
        next = at + entry_length(r, bytes + at, length - at);
        if (stream->counted->open->object(&r->ring, bytes + at, next - at, &address))
            objects_note_address(&r->objects, address);
    }
}

// Returns how many of the new bytes hold entries that are complete, or never will be.
static uint32_t count_finished(struct extract_recorder *r, const uint8_t *bytes, uint32_t length)
{
    const struct extract_stream *stream = r->ring.format->stream;
    uint32_t at = 0, most = r->bytes.is_last_poll ? 0 : bytes_size(r) / ABANDONED_SHARE;

    if (!stream->counted->open)
        return length;
    for (;;) {
        at += stream->counted->open->finished(&r->ring, bytes + at, length - at);
        r->bytes.entry_incomplete = at < length;
        if (!r->bytes.entry_incomplete || length - at <= most)
            return at;
        at += entry_length(r, bytes + at, length - at);
    }
}

// Emits an entry that is longer than a block in parts. The last part counts as the entry.
static enum extract_code put_long_entry(struct extract_recorder *r, const uint8_t *bytes,
                                        uint32_t length, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    for (uint32_t at = 0; at < length && !code; at += MAX_BLOCK_BYTES) {
        bool last = length - at <= MAX_BLOCK_BYTES;
        code = out_bytes(&r->out, bytes + at, last ? length - at : MAX_BLOCK_BYTES, last, error);
    }
    return code;
}

// Emits entries in blocks that begin at entry boundaries, except in entries longer than a block.
static enum extract_code put_entries(struct extract_recorder *r, const uint8_t *bytes,
                                     uint32_t length, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    uint32_t from = 0, count = 0;

    for (uint32_t at = 0, next; at < length && !code; at = next) {
        next = at + entry_length(r, bytes + at, length - at);
        bool is_long = next - at > MAX_BLOCK_BYTES, is_full = next - from > MAX_BLOCK_BYTES;
        if (is_full && at > from) {
            code = out_bytes(&r->out, bytes + from, at - from, count, error);
            from = at;
            count = 0;
        }
        count += !is_long;
        if (is_long && !code)
            code = put_long_entry(r, bytes + at, next - at, error);
        from = is_long ? next : from;
    }
    return code || from == length ? code
                                  : out_bytes(&r->out, bytes + from, length - from, count, error);
}

// Emits new bytes, as far as their entries are complete.
static enum extract_code put_new(struct extract_recorder *r, const uint8_t *bytes, uint32_t fill,
                                 struct extract_error *error)
{
    struct byte_ring *b = &r->bytes;
    uint32_t length = count_finished(r, bytes, fill);
    uint32_t count = count_entries(r, bytes, length);

    b->place += length;
    b->least += count;
    b->most += count;
    b->counted_entries += count;
    b->entries += count;
    b->bytes += length;
    bytes_set_anchor(b, bytes, length);
    note_objects(r, bytes, length);
    poll_interval_note_head(&r->poll_interval, r->located_ns, b->place);
    return put_entries(r, bytes, length, error);
}

// ---- locate, read and verify ----

static enum ring_result locate_counted(struct extract_recorder *r)
{
    struct byte_ring *b = &r->bytes;
    struct extract_ring_counters counters, before = b->counters;
    enum ring_result result = read_counters(r, &counters);

    if (result == RING_NO_RESPONSE)
        return result;
    b->written_before_restart = before.written;
    if (result || (r->phase == RECORD_FOLLOWING && has_restarted(&before, &counters)))
        return RING_RESTARTED;
    uint32_t fill = r->phase != RECORD_FOLLOWING ? 0 : counters.head - (uint32_t)b->place;
    record_note_fill(r, fill);
    if (!fill && r->phase == RECORD_FOLLOWING)
        poll_interval_note_head(&r->poll_interval, r->located_ns, b->place);
    return RING_OK;
}

static enum ring_result read_counted(struct extract_recorder *r, unsigned part,
                                     struct ring_span *span)
{
    struct byte_ring *b = &r->bytes;
    const struct extract_ring_counters *counters = &b->counters;
    uint32_t from = (uint32_t)b->place, fill = counters->head - from, anchor = b->anchor_bytes;

    if (part)
        return RING_NOTHING_NEW;
    if (r->phase != RECORD_FOLLOWING || r->resync_pending || fill > bytes_size(r) ||
        distance(counters->tail, from) > 0 || (b->safe_bytes && fill > b->safe_bytes))
        return RING_RESYNC;
    if (!fill && !r->must_verify_anchor)
        return RING_NOTHING_NEW;
    if (distance(counters->tail, from - anchor) > 0) // a part of the anchor has left the ring
        anchor = 0;
    *span = (struct ring_span){.first = b->place,
                               .asked = fill,
                               .count = fill,
                               .anchor_bytes = anchor,
                               .data = r->buffer + anchor};
    return bytes_read(r, b->place - anchor, anchor + fill, r->buffer) ? RING_OK : RING_NO_RESPONSE;
}

// Notes that `written` bytes were written while `length` bytes were read. This shows how many bytes
// are safe to read at this speed. If entries are found from the head back, three quarters of the
// ring may be written by then; otherwise the tail is to come to the middle of what is read. The
// estimate sinks at once and rises bit by bit.
static void note_safe_bytes(struct extract_recorder *r, uint32_t length, uint32_t written)
{
    struct byte_ring *b = &r->bytes;
    bool has_boundaries = counted_of(r)->open;
    uint64_t all = (uint64_t)bytes_size(r) * (has_boundaries ? length / 4 * 3 : length);
    uint64_t fits = all / ((uint64_t)(has_boundaries ? length : length / 2) + written + 1) + 4;
    uint64_t grown = (uint64_t)b->safe_bytes + b->safe_bytes / 4 + 4;

    fits = b->safe_bytes && fits > grown ? grown : fits;
    b->safe_bytes = (uint32_t)(fits < bytes_size(r) ? fits : bytes_size(r)) / 4 * 4;
}

static enum ring_result verify_counted(struct extract_recorder *r, struct ring_span *span)
{
    struct byte_ring *b = &r->bytes;
    struct extract_ring_counters before = b->counters, after;
    uint32_t from = (uint32_t)span->first, anchor = span->anchor_bytes;
    enum ring_result result = read_counters(r, &after);

    b->written_before_restart = b->most;
    if (result || has_restarted(&before, &after))
        return result ? result : RING_RESTARTED;
    b->safe_bytes = 0;
    if (distance(after.tail, from) > 0) {
        note_safe_bytes(r, anchor + span->count, after.head - before.head);
        return RING_RESYNC;
    }
    bool has_anchor = distance(after.tail, from - anchor) <= 0;
    if (has_anchor &&
        memcmp(span->data - anchor, b->anchor + b->anchor_bytes - anchor, anchor) != 0)
        return RING_RESTARTED;
    return RING_OK;
}

static enum extract_code emit_counted(struct extract_recorder *r, struct ring_span *span,
                                      struct extract_error *error)
{
    r->must_verify_anchor = false;
    return put_new(r, span->data, span->count, error);
}

// ---- resync ----

// The newest entries of the ring.
struct newest {
    struct extract_ring_counters counters; // before the read
    uint32_t from, length;                 // position and bytes of the complete ones
    uint32_t least, most;                  // entries before the head, as the ring counts them
};

static bool is_exact(const struct newest *newest)
{
    return newest->least == newest->most;
}

// Reads the header, several times if that may show how many entries it had counted by its head,
// unless each time costs much of what is read.
static enum ring_result find_count(struct extract_recorder *r, struct newest *newest)
{
    struct byte_ring *b = &r->bytes;
    const struct extract_counted_ring *counted = counted_of(r);
    uint32_t cost = COUNT_READS_SHARE * (counted->live_to - counted->live_from);
    unsigned reads = 1 + b->safe_bytes / cost;

    reads = b->safe_bytes && reads < MAX_COUNT_READS ? reads : MAX_COUNT_READS;
    for (unsigned i = 0; i < reads; i++) {
        struct extract_ring_counters before = b->counters;
        enum ring_result result = read_counters(r, &newest->counters);
        newest->least = before.written - 1;
        newest->most = newest->counters.written;
        if (result)
            return result;
        if ((i || r->phase == RECORD_FOLLOWING) && has_restarted(&before, &newest->counters))
            return RING_RESTARTED;
        if (verify_count(r)) {
            newest->least = newest->most;
            break;
        }
    }
    return RING_OK;
}

// Returns where an entry begins in bytes that end where one does; their end: not found.
static uint32_t find_boundary(const struct extract_recorder *r, const uint8_t *bytes, uint32_t from,
                              uint32_t to)
{
    const struct extract_open_entries *open = counted_of(r)->open;

    return open ? from + open->boundary(&r->ring, bytes, to - from, to) : to;
}

// Reads the newest bytes, at most `max_bytes`, and finds which of them hold complete entries.
// *passed: none, because the writer was faster. None, and not passed: no entry boundary was found.
static enum ring_result read_newest(struct extract_recorder *r, struct newest *newest,
                                    uint32_t max_bytes, bool *passed)
{
    const struct extract_ring_counters *counters = &newest->counters;
    struct extract_ring_counters after;
    uint32_t known = counters->tail, to = counters->head, from;

    newest->length = 0;
    *passed = distance(known, to) > 0;
    if (*passed)
        return RING_OK;
    if (r->phase == RECORD_FOLLOWING && distance((uint32_t)r->bytes.place, known) > 0)
        known = (uint32_t)r->bytes.place;
    from = to - known > max_bytes ? to - max_bytes : known;
    if (!bytes_read(r, from, to - from, r->buffer))
        return RING_NO_RESPONSE;
    enum ring_result result = read_counters(r, &after);
    if (result || has_restarted(counters, &after))
        return result ? result : RING_RESTARTED;
    if (!is_exact(newest)) {
        newest->most = after.written;
        if (after.head == to && r->bytes.count_holds)
            newest->least = newest->most;
    }
    uint32_t start = distance(after.tail, from) > 0 ? after.tail : from;
    *passed = distance(start, to) > 0;
    if (*passed || r->bytes.safe_bytes)
        note_safe_bytes(r, to - from, after.head - to);
    if (*passed)
        return RING_OK;
    if (start != known && start != after.tail)
        start = find_boundary(r, r->buffer + (start - from), start, to);
    newest->from = start;
    newest->length = to - start;
    memmove(r->buffer, r->buffer + (start - from), newest->length);
    return RING_OK;
}

static enum extract_code put_lapped(struct extract_recorder *r, uint32_t lost, bool exact,
                                    struct extract_error *error)
{
    return out_loss(&r->out, EXTRACT_LOSS_LAPPED, lost, exact ? 0 : EXTRACT_LOG_ANY_MORE, error);
}

// Reports the gap between the place that was read up to and the newest `count` entries.
static enum extract_code put_gap(struct extract_recorder *r, const struct newest *newest,
                                 uint32_t count, struct extract_error *error)
{
    struct byte_ring *b = &r->bytes;
    uint32_t least = newest->least - count, most = newest->most - count;
    int32_t lost = (int32_t)(least - b->most);
    bool exact = lost >= 0 && least == most && b->least == b->most;

    if (lost < 0)
        lost = 0;
    b->least = least;
    b->most = most;
    b->counted_entries += (uint32_t)lost;
    b->owes_losses |= !exact;
    r->status.laps++;
    return put_lapped(r, (uint32_t)lost, exact, error);
}

// Takes the first entries of a ring, of which the newest `count` were read. What an earlier reader
// would have had of it is not lost, except if the ring replaces one that was followed: it counts
// from 0, so the least that is missing is lost for certain.
static enum extract_code begin_following(struct extract_recorder *r, const struct newest *newest,
                                         uint32_t count, struct extract_error *error)
{
    struct byte_ring *b = &r->bytes;

    b->place = newest->from;
    b->least = newest->least - count;
    b->most = newest->most - count;
    if (b->least > b->most) // it is below 0
        b->least = 0;
    b->counted_entries = r->ring_was_replaced ? b->least : b->most;
    b->is_based = r->ring_was_replaced || is_exact(newest);
    b->owes_losses = r->ring_was_replaced && !is_exact(newest);
    b->refused = r->ring_was_replaced ? 0 : newest->counters.lost;
    r->status.has_all = is_exact(newest) && !b->counted_entries;
    if (!r->ring_was_replaced || (!b->counted_entries && !b->owes_losses))
        return EXTRACT_OK;
    return put_lapped(r, b->counted_entries, !b->owes_losses, error);
}

static enum extract_code resynchronize_counted(struct extract_recorder *r, enum ring_result *result,
                                               struct extract_error *error)
{
    struct byte_ring *b = &r->bytes;
    struct newest newest = {.length = 0};
    bool has_newest = false;

    b->written_before_restart = b->most;
    for (unsigned i = 0; i < NEWEST_TRIES && !has_newest; i++) {
        bool passed = false;
        *result = find_count(r, &newest);
        bool is_slow = b->safe_bytes && !is_exact(&newest);
        if (*result == RING_OK)
            *result = read_newest(r, &newest, is_slow ? b->safe_bytes : bytes_size(r), &passed);
        if (*result != RING_OK)
            return EXTRACT_OK;
        has_newest = !passed && (newest.length || newest.counters.head == newest.counters.tail);
    }
    r->resync_pending = !has_newest;
    if (!has_newest && r->phase == RECORD_FOLLOWING)
        return EXTRACT_OK;
    if (!has_newest) { // of a ring that is new: what is written from here on and not read is lost
        newest.from = newest.counters.head;
        newest.length = 0;
    }
    uint32_t count = count_entries(r, r->buffer, newest.length);
    enum extract_code code = EXTRACT_OK;
    if (r->phase != RECORD_FOLLOWING) {
        code = begin_following(r, &newest, count, error);
    } else {
        if (newest.from != (uint32_t)b->place)
            code = put_gap(r, &newest, count, error);
        b->place += newest.from - (uint32_t)b->place;
    }
    b->anchor_bytes = 0;
    r->phase = RECORD_FOLLOWING;
    return code ? code : put_new(r, r->buffer, newest.length, error);
}

// ---- after reading ----

// Takes the ring's count at the place that was read up to, if it holds there. The gaps since the
// last such count reported the least number that was missing; the rest is a loss in earlier gaps.
static enum extract_code adopt_count(struct extract_recorder *r, enum ring_result *result,
                                     struct extract_error *error)
{
    struct byte_ring *b = &r->bytes;
    struct extract_ring_counters counters, before = b->counters;

    if (b->counters.head != (uint32_t)b->place || (b->is_based && !b->owes_losses))
        return EXTRACT_OK;
    bool holds = verify_count(r);
    bool can_hold = counted_of(r)->open ? b->head_is_clear : extract_memory_is_running(r->memory);
    if (!holds && can_hold && !read_counters(r, &counters)) {
        if (has_restarted(&before, &counters)) {
            b->written_before_restart = before.written;
            *result = RING_RESTARTED;
            return EXTRACT_OK;
        }
        holds = b->count_holds && b->counters.head == (uint32_t)b->place;
    }
    if (!holds)
        return EXTRACT_OK;
    int32_t owed = (int32_t)(b->counters.written - b->counted_entries);
    bool is_exact_sum = b->is_based && owed >= 0, owes_losses = b->owes_losses;
    b->least = b->most = b->counted_entries = b->counters.written;
    b->is_based = true;
    b->owes_losses = false;
    if (!owes_losses)
        return EXTRACT_OK;
    return out_loss(&r->out, EXTRACT_LOSS_EARLIER, owed > 0 ? (uint32_t)owed : 0,
                    is_exact_sum ? 0 : EXTRACT_LOG_ANY_MORE, error);
}

static enum extract_code conclude_counts(struct extract_recorder *r, enum ring_result *result,
                                         struct extract_error *error)
{
    struct byte_ring *b = &r->bytes;

    *result = RING_OK;
    enum extract_code code = adopt_count(r, result, error);
    if (code || *result)
        return code;
    // Entries that the target itself had no space for.
    uint32_t refused = b->counters.lost - b->refused;
    b->refused = b->counters.lost;
    return refused ? out_loss(&r->out, EXTRACT_LOSS_REFUSED, refused, 0, error) : EXTRACT_OK;
}

static bool counted_is_drained(const struct extract_recorder *r)
{
    return r->phase == RECORD_FOLLOWING && r->bytes.counters.head == (uint32_t)r->bytes.place;
}

// ---- start and end ----

static enum extract_code start_counted(struct extract_recorder *r, struct extract_error *error)
{
    struct extract_ring_counters counters;
    enum extract_code code = bytes_start(r, error);

    if (!code)
        read_counters(r, &counters); // what the first poll compares with
    return code;
}

// The count of a ring that restarted can no longer be read: what it had counted, and was not
// read, is lost, and what came after that is unknown. The loss comes before the mark of the
// restart, since no later count includes it.
static enum extract_code report_counted_restart(struct extract_recorder *r,
                                                struct extract_error *error)
{
    // The newest entry may have been counted before it was written.
    int32_t owed = (int32_t)(r->bytes.written_before_restart - 1 - r->bytes.most);

    if (r->phase != RECORD_FOLLOWING && !r->ring_was_replaced)
        return EXTRACT_OK;
    return out_loss(&r->out, EXTRACT_LOSS_RESET,
                    r->phase != RECORD_FOLLOWING || owed < 0 ? 0 : (uint32_t)owed,
                    EXTRACT_LOG_ANY_MORE, error);
}

// If a resync was not completed, at least as many entries are lost as the ring has counted.
static enum extract_code report_unread_counted(struct extract_recorder *r, bool can_read,
                                               struct extract_error *error)
{
    int32_t owed = (int32_t)(r->bytes.counters.written - r->bytes.most);
    enum extract_code code = EXTRACT_OK;
    (void)can_read;

    if (r->resync_pending)
        code = put_lapped(r, r->phase != RECORD_FOLLOWING || owed < 0 ? 0 : (uint32_t)owed, false,
                          error);
    return code ? code : bytes_report_gone(r, error);
}

static uint64_t counted_position(const struct extract_recorder *r)
{
    return r->bytes.least == r->bytes.most ? UINT64_C(1) + r->bytes.least : 0;
}

const struct ring_kind record_counted_rings = {.counts_bytes = true,
                                               .can_follow = can_follow,
                                               .start = start_counted,
                                               .locate = locate_counted,
                                               .read = read_counted,
                                               .verify = verify_counted,
                                               .emit = emit_counted,
                                               .resynchronize = resynchronize_counted,
                                               .conclude = conclude_counts,
                                               .is_drained = counted_is_drained,
                                               .report_restart = report_counted_restart,
                                               .report_unread = report_unread_counted,
                                               .position = counted_position};
