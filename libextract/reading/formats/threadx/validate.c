// SPDX-License-Identifier: MIT
// formats/threadx: assigns a verdict to every entry of a copied ring.
//
// The target writes an entry's words one by one before it moves the write position, and kernel
// services patch their own entries afterwards. Nothing in an entry shows that it is complete. What
// cannot be proven complete is provisional; what is proven to be a mix of two entries is torn. Only
// the bytes of the ring are used, so that a saved dump gets the same verdicts as the live ring.
//
// Source: docs/formats/threadx.md, "Torn and patched entries".
#include "base/stamps.h"
#include "formats/threadx/threadx.h"

enum { ENTRY_WORDS = 8, NEWEST_PATCHED = 4, WIDE_CLOCK_BITS = 24 };

static uint64_t thread_of(const struct extract_snapshot *snapshot, uint32_t slot)
{
    struct extract_cursor c = threadx_entry(snapshot, slot);

    return extract_cursor_word(&c, snapshot->ring.word_bytes);
}

// Returns the word of the event id.
static uint32_t id_of(const struct extract_snapshot *snapshot, uint32_t slot)
{
    unsigned word = snapshot->ring.word_bytes;
    struct extract_cursor c = threadx_entry(snapshot, slot);

    extract_cursor_span(&c, 2 * word);
    return (uint32_t)extract_cursor_word(&c, word);
}

uint64_t threadx_stamp(const struct extract_snapshot *snapshot, uint32_t slot)
{
    unsigned word = snapshot->ring.word_bytes;
    struct extract_cursor c = threadx_entry(snapshot, slot);

    extract_cursor_span(&c, 3 * word);
    return extract_cursor_word(&c, word);
}

static bool is_readable(const struct extract_snapshot *snapshot, uint32_t slot)
{
    return snapshot->verdict[slot] != EXTRACT_UNREADABLE_ENTRY;
}

// Returns whether a slot holds nothing but a thread: memory behind a data cache that never wrote
// back the rest of the entry.
static bool is_blank(const struct extract_snapshot *snapshot, uint32_t slot)
{
    unsigned word = snapshot->ring.word_bytes;
    struct extract_cursor c = threadx_entry(snapshot, slot);
    uint64_t bits = 0;

    extract_cursor_span(&c, 2 * word);
    for (unsigned i = 2; i < ENTRY_WORDS; i++)
        bits |= extract_cursor_word(&c, word);
    return !bits;
}

// Returns whether an entry's timestamp can be compared with its neighbors'.
static bool has_valid_stamp(const struct extract_snapshot *snapshot, uint32_t slot)
{
    return snapshot->verdict[slot] == EXTRACT_GOOD ||
           snapshot->verdict[slot] == EXTRACT_PROVISIONAL;
}

// Returns the i-th slot after the one at the write position. The second oldest entry is the first,
// the newest is the last.
static uint32_t slot_after_head(const struct extract_snapshot *snapshot, uint32_t i)
{
    return (uint32_t)(((uint64_t)snapshot->current + 1 + i) % snapshot->ring.entries.count);
}

// Derives the clock from all entries. The one at the write position is left out, or taken as the
// oldest.
static struct extract_clock clock_of(const struct extract_snapshot *snapshot, bool with_current)
{
    const struct extract_ring *ring = &snapshot->ring;
    struct extract_tally tally;
    struct extract_clock clock;

    extract_tally_begin(&tally, ring->timer_mask, ring->word_bytes);
    if (with_current)
        extract_tally_add(&tally, threadx_stamp(snapshot, snapshot->current));
    for (uint32_t i = 0; i + 1 < ring->entries.count; i++)
        if (has_valid_stamp(snapshot, slot_after_head(snapshot, i)))
            extract_tally_add(&tally, threadx_stamp(snapshot, slot_after_head(snapshot, i)));
    extract_tally_clock(&tally, &clock);
    return clock;
}

static uint64_t step_between(const struct extract_snapshot *snapshot,
                             const struct extract_clock *clock, uint32_t from, uint32_t to)
{
    return extract_clock_step(clock, threadx_stamp(snapshot, from) & clock->mask,
                              threadx_stamp(snapshot, to) & clock->mask);
}

// Returns the longest step between neighboring printable entries, without the one at the write
// position.
static uint64_t longest_step(const struct extract_snapshot *snapshot,
                             const struct extract_clock *clock)
{
    uint64_t longest = 0;

    for (uint32_t i = 1; i + 1 < snapshot->ring.entries.count; i++) {
        uint32_t from = slot_after_head(snapshot, i - 1), to = slot_after_head(snapshot, i);
        if (!has_valid_stamp(snapshot, from) || !has_valid_stamp(snapshot, to))
            continue;
        uint64_t step = step_between(snapshot, clock, from, to);
        longest = step > longest ? step : longest;
    }
    return longest;
}

// A clock period that is not a power of two shows only where the clock wraps. If the only wrap of
// the ring is between the entry at the write position and the second oldest, it must make that step
// an ordinary one. Returns whether it does.
static bool wraps_after_head(const struct extract_snapshot *snapshot,
                             const struct extract_clock *clock, uint32_t second, uint64_t longest)
{
    struct extract_clock whole = clock_of(snapshot, true);

    return whole.modulus != clock->modulus &&
           step_between(snapshot, &whole, snapshot->current, second) <= longest;
}

// Returns whether the entry at the write position is being written: its timestamp continues the
// newest entry, instead of preceding the second oldest.
static bool continues_newest(const struct extract_snapshot *snapshot)
{
    uint32_t newest = slot_after_head(snapshot, snapshot->ring.entries.count - 2);
    uint32_t second = slot_after_head(snapshot, 0);
    struct extract_clock clock = clock_of(snapshot, false);

    if (clock.direction == EXTRACT_CLOCK_NONE || !has_valid_stamp(snapshot, newest) ||
        !has_valid_stamp(snapshot, second))
        return false;
    uint64_t longest = longest_step(snapshot, &clock);
    uint64_t after = step_between(snapshot, &clock, newest, snapshot->current);
    uint64_t before = step_between(snapshot, &clock, snapshot->current, second);
    uint64_t half = clock.modulus ? clock.modulus / 2 : UINT64_C(1) << 63;
    bool wide = half >= UINT64_C(1) << (WIDE_CLOCK_BITS - 1);
    bool continues =
        (before > longest && after <= longest) || (wide && before > half && after <= half);
    return continues && !wraps_after_head(snapshot, &clock, second, longest);
}

static void set_verdict(struct extract_snapshot *snapshot, uint32_t slot,
                        enum extract_verdict verdict)
{
    if (is_readable(snapshot, slot))
        snapshot->verdict[slot] = (uint8_t)verdict;
}

// Returns whether the ring has wrapped: most slots after the write position have been written. If
// none of them can be read, the slot at the write position decides; if that cannot be read either,
// the ring may have wrapped.
static bool seems_wrapped(const struct extract_snapshot *snapshot)
{
    uint32_t count = snapshot->ring.entries.count, written = 0, readable = 0;

    for (uint32_t slot = snapshot->current + 1; slot < count; slot++) {
        readable += is_readable(snapshot, slot);
        written += is_readable(snapshot, slot) && thread_of(snapshot, slot) != 0;
    }
    if (readable)
        return written > readable / 2;
    return !is_readable(snapshot, snapshot->current) || thread_of(snapshot, snapshot->current) != 0;
}

static void validate_written(struct extract_snapshot *snapshot)
{
    uint32_t count = snapshot->ring.entries.count;

    for (uint32_t slot = 0; slot < count; slot++) {
        bool written = thread_of(snapshot, slot) != 0;
        bool expected = snapshot->wrapped || slot < snapshot->current;
        if (written != expected ||
            (written && (id_of(snapshot, slot) == THREADX_NO_EVENT || is_blank(snapshot, slot))))
            set_verdict(snapshot, slot, EXTRACT_INVALID);
        else
            set_verdict(snapshot, slot, written ? EXTRACT_GOOD : EXTRACT_UNUSED);
    }
}

// ---- a stale write position ----

// Returns the slot at which a full ring begins, if its header was written back from a data cache
// before its newest entries were. Time then goes on across the write position, and steps back in
// one other place. Directly behind the write position, that place is an entry that is being written
// instead.
static uint32_t begin_of_lap(const struct extract_snapshot *snapshot)
{
    uint32_t count = snapshot->ring.entries.count, begin = snapshot->current, steps = 0;
    struct extract_clock clock = clock_of(snapshot, true);
    uint64_t longest = 0;

    for (uint32_t i = 1; i < count; i++) {
        uint32_t from = (uint32_t)(((uint64_t)snapshot->current + i - 1) % count);
        uint32_t to = (from + 1) % count;
        if (!has_valid_stamp(snapshot, from) || !has_valid_stamp(snapshot, to))
            continue;
        uint64_t step = step_between(snapshot, &clock, from, to);
        if (extract_clock_is_back(&clock, step)) {
            begin = to;
            steps++;
        } else if (step > longest) {
            longest = step;
        }
    }
    uint32_t newest = (snapshot->current + count - 1) % count;
    bool goes_on = has_valid_stamp(snapshot, newest) &&
                   has_valid_stamp(snapshot, snapshot->current) &&
                   step_between(snapshot, &clock, newest, snapshot->current) <= longest;
    return steps == 1 && goes_on && begin != (snapshot->current + 1) % count ? begin
                                                                             : snapshot->current;
}

// Returns the slot behind the entries of the first lap, if more than the one that is being written
// are behind the write position, and time goes on there.
static uint32_t end_of_entries(const struct extract_snapshot *snapshot)
{
    uint32_t count = snapshot->ring.entries.count, end = snapshot->current;
    struct extract_clock clock = clock_of(snapshot, true);

    while (end && end < count && is_readable(snapshot, end) && thread_of(snapshot, end) &&
           !extract_clock_is_back(&clock, step_between(snapshot, &clock, end - 1, end)))
        end++;
    for (uint32_t slot = end; slot < count; slot++)
        if (thread_of(snapshot, slot))
            return snapshot->current;
    return end > snapshot->current + 1 ? end : snapshot->current;
}

static void mend_stale_pointer(struct extract_snapshot *snapshot)
{
    uint32_t current = snapshot->current;

    if (snapshot->ring.entries.count > 2)
        current = snapshot->wrapped ? begin_of_lap(snapshot) : end_of_entries(snapshot);
    snapshot->stale_pointer = current != snapshot->current;
    snapshot->current = current;
    if (snapshot->stale_pointer)
        validate_written(snapshot);
}

// ---- single slots ----

// Validates the slot at the write position: the oldest entry, or one that is being written for the
// first time.
static void validate_current(struct extract_snapshot *snapshot)
{
    uint32_t count = snapshot->ring.entries.count, slot = snapshot->current;

    if (!thread_of(snapshot, slot))
        return;
    if (!snapshot->wrapped || (count > 2 && continues_newest(snapshot)))
        set_verdict(snapshot, slot, EXTRACT_TORN);
    else if (snapshot->verdict[slot] == EXTRACT_GOOD)
        set_verdict(snapshot, slot, EXTRACT_PROVISIONAL);
}

static void validate_newest(struct extract_snapshot *snapshot)
{
    uint32_t count = snapshot->ring.entries.count;
    uint8_t core;

    for (uint32_t i = 1; i <= NEWEST_PATCHED && i < count; i++) {
        uint32_t slot = (snapshot->current + count - i) % count;
        uint32_t id = threadx_event_id(&snapshot->ring, id_of(snapshot, slot), &core);
        if (snapshot->verdict[slot] == EXTRACT_GOOD && threadx_late_words(id))
            set_verdict(snapshot, slot, EXTRACT_PROVISIONAL);
    }
}

// Marks the slots that the writer passed while the target ran: some of their words may be older or
// newer than others. The entry before them shows that the writer is not a lap ahead
// (threadx_is_same). If the writer has just completed that entry, its last words are not proven.
static void validate_moved(struct extract_snapshot *snapshot, uint32_t from)
{
    uint32_t count = snapshot->ring.entries.count, newest = (from + count - 1) % count;

    if (snapshot->verdict[newest] == EXTRACT_GOOD)
        set_verdict(snapshot, newest, EXTRACT_PROVISIONAL);
    snapshot->moved_entries = (snapshot->current + count - from) % count;
    snapshot->moved = snapshot->moved_entries != 0;
    for (uint32_t i = 0; i < snapshot->moved_entries; i++)
        set_verdict(snapshot, (from + i) % count, EXTRACT_OVERWRITTEN);
}

// Services change nothing but the four information words, which are the last.
bool threadx_is_same(const struct extract_ring *ring, const uint8_t *before, const uint8_t *after)
{
    return memcmp(before, after, ring->entries.slot_bytes / 2) == 0;
}

void threadx_validate(struct extract_snapshot *snapshot, uint64_t pointer, bool stopped)
{
    const struct extract_ring *ring = &snapshot->ring;
    uint32_t slot_bytes = ring->entries.slot_bytes;
    uint32_t before = (uint32_t)((ring->current - ring->entries.start) / slot_bytes);

    snapshot->current = before;
    if (pointer >= ring->entries.start && pointer < ring->entries.end)
        snapshot->current = (uint32_t)((pointer - ring->entries.start) / slot_bytes);
    snapshot->wrapped = seems_wrapped(snapshot);
    validate_written(snapshot);
    if (stopped)
        mend_stale_pointer(snapshot);
    else
        validate_moved(snapshot, before);
    validate_current(snapshot);
    validate_newest(snapshot);
}

// Validates recorded entries. Each word size has its own copy of the loop, because a log may be
// long.
static inline __attribute__((always_inline)) void
validate_words(struct extract_snapshot *snapshot, struct extract_cursor c, unsigned word)
{
    for (uint32_t slot = 0; slot < snapshot->ring.entries.count; slot++) {
        uint64_t thread = extract_cursor_word(&c, word);
        extract_cursor_span(&c, word);
        uint32_t id = (uint32_t)extract_cursor_word(&c, word);
        extract_cursor_span(&c, 5 * word);
        bool holds = thread && id != THREADX_NO_EVENT && (id || !is_blank(snapshot, slot));
        snapshot->verdict[slot] = holds ? EXTRACT_GOOD : EXTRACT_INVALID;
    }
}

void threadx_validate_recorded(struct extract_snapshot *snapshot)
{
    const struct extract_ring *ring = &snapshot->ring;
    struct extract_cursor c =
        extract_cursor_make(snapshot->bytes, (size_t)ring->length, ring->byte_order);

    extract_cursor_seek(&c, ring->entries.start - ring->address);
    if (ring->word_bytes == 4)
        validate_words(snapshot, c, 4);
    else
        validate_words(snapshot, c, 8);
}
