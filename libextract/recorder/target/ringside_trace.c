// SPDX-License-Identifier: MIT
// target: the recorder of the POSIX trace rings, the same for all ports.
//
// A program calls a trace point (posix_trace_event), and the recorder writes a record to the ring
// of every stream that runs. A controller (the firmware, a debugger, another process) writes
// requests to the same memory, and the next trace point carries them out. There is no third writer:
// a reader on the debugger's side only reads, and must be able to see which records are complete.
// docs/formats/posix-ring.md specifies every word.
//
// The main idea is a record that is written in three steps. The recorder opens it in a critical
// section, copies its data outside of that section, and completes it with one store. So interrupts
// are locked out for a short time that does not depend on the length of the data. An interrupt may
// therefore record events of its own between an open record and its completion.
//
//                      open_record(),                    complete_record()
//   a record      none ── in the critical section ─────► OPEN ───────────────────► DONE
//                   ▲                                            │                    │
//                   │                              never while OPEN          pass_oldest(),
//                   │                                                          overwrite()
//                   └───────────── tail moves past the record ◄───────────────────────┘
//
// The order of the stores, which is what a reader relies on. "──" is ringside_port_barrier(): no
// store above it becomes visible after a store below it.
//
//   writer                                          what a reader concludes
//   1. tail, past the records to be overwritten     If `tail` is unchanged after the copy, no word
//   ── barrier in make_space() and overwrite()      from `tail` on was overwritten during it.
//   2. first word (OPEN), all but the data, trailer If `head` is past a record, its first and last
//   ── barrier in open_record()                     words are those of this record, not older ones.
//   3. head, past the record
//   4. the data, after the critical section
//   ── barrier in complete_record()                 If the first word is DONE, the data that are
//      or store_last_word()                         read after it are complete.
//   5. first word (DONE)
//
// A reader that finds a record OPEN leaves it for later, or reports it as being written.
//
// The states of a stream are the bits of its word `state`:
//
//             bind               start              no space, not a loop
//   UNBOUND ────────► SUSPENDED ───────► RUNNING ────────────────────────────► FULL
//      ▲                │  ▲ ◄───────────── │ ▲                                │ │ │
//      │                │  │      stop      │ └── all is read, run is wanted ──┘ │ │
//      │                │  └────────────────┼──── all is read, or clear ─────────┘ │
//      └────────────────┴──── release ──────┴──────────────────────────────────────┘
//
//   UNBOUND 0    SUSPENDED BOUND    RUNNING BOUND | RUNNING    FULL BOUND | FULL
//
// Several fields are read and written by both sides at once, or by an interrupt. All accesses to
// them go through RINGSIDE_LOAD and RINGSIDE_STORE, which the compiler can neither split nor omit.
#ifndef RINGSIDE_TRACE_PORT
#define RINGSIDE_TRACE_PORT "ports/linux.h"
#endif
#define RINGSIDE_TRACE_FUNCTION // posix_trace_event is the function, which this file defines
#include RINGSIDE_TRACE_PORT
#include "layout.h"

#ifndef RINGSIDE_LOAD
#define RINGSIDE_LOAD(word)         (*(const volatile uint32_t *)&(word))
#define RINGSIDE_STORE(word, value) (*(volatile uint32_t *)&(word) = (value))
#endif
#ifndef RINGSIDE_CORE
#define RINGSIDE_CORE static // a port whose own sources call the core defines it as empty
#endif

#define SLOW   __attribute__((noinline, cold))
#define INLINE static inline __attribute__((always_inline))
// Hides from the compiler how a value was computed. It then keeps the value alone in a register,
// instead of its parts, which would cost registers and spills on the fast path.
#define HIDE(value)      __asm__("" : "+r"(value))
#define ADD(word, value) RINGSIDE_STORE(word, RINGSIDE_LOAD(word) + (value))

enum {
    ADDRESS_WORDS = sizeof(uintptr_t) / 4,
    STAMP_WORDS = RINGSIDE_PORT_STAMP_BITS > 32 ? 2 : 1,
    OVERHEAD = 3 + 2 * ADDRESS_WORDS + RINGSIDE_PORT_PROCESS + STAMP_WORDS, // words without data
    FILTER_WORDS = RINGSIDE_IDS / 32,
    STOP_WORDS = OVERHEAD + 1,
    START_WORDS = OVERHEAD + FILTER_WORDS,
    LONGEST = 0xFFF, // maximum words of a record: its length field has 12 bits
    ALL = -1         // value of `active` while a request of a controller is pending
};

// The bits of a record's first word and of its trailer (docs/formats/posix-ring.md, "A record").
#define OPEN      (UINT32_C(1) << 30)
#define DONE      (UINT32_C(2) << 30)
#define CUT       (UINT32_C(1) << 28)
#define STATE(w)  ((w)&UINT32_C(3) << 30)
#define LENGTH(w) ((w) >> 16 & LONGEST)
#define TRAILER   (UINT32_C(0xA) << 28)

// The name that a macro stands for, as text: whoever includes this file may rename its functions.
#define TEXT_OF(name) #name
#define TEXT(name)    TEXT_OF(name)

#ifdef RINGSIDE_PORT_OBJECT
struct ringside_memory ringside_posix __attribute__((aligned(8)));
#endif

// ---- rings ----
//
// `head` and `tail` count words since the start, modulo 2^32. They never wrap at the end of the
// ring, so head - tail is always the number of words in use, and a record's place in the ring is
// its position modulo the words of the ring.

// Returns the words of a stream's ring, a power of two. Firmware knows it when it is compiled.
INLINE uint32_t ring_words(const struct ringside_stream *s)
{
#ifdef RINGSIDE_PORT_RING_WORDS
    return RINGSIDE_PORT_RING_WORDS(s);
#else
    (void)s;
    return RINGSIDE_TRACE_WORDS;
#endif
}

// Returns the word at a position of ring `i`.
INLINE uint32_t word_of(struct ringside_memory *m, unsigned i, uint32_t position)
{
    return RINGSIDE_LOAD(m->rings[i][position & (ring_words(&m->streams[i]) - 1)]);
}

// Returns whether a record that begins with the word `first` can lie in the `used` words from
// `tail` on. Memory may be damaged, and a wrong length would make the tail run away: the length
// must fit, the tag must be the position's own, and the state must be OPEN or DONE.
INLINE bool is_sound(uint32_t first, uint32_t tail, uint32_t used)
{
    return LENGTH(first) >= OVERHEAD && LENGTH(first) <= used && (first ^ tail) << 16 == 0 &&
           STATE(first);
}

// Returns whether losses belong to the episode that is already counted. An episode is a series of
// losses during which no reader read, so it ends when `read_pos` changes. `read` is `read_pos`.
INLINE bool is_same_episode(const struct ringside_stream *s, uint32_t read)
{
    return RINGSIDE_LOAD(s->episode_read) == read && RINGSIDE_LOAD(s->episodes);
}

// Begins an episode of losses and notes the timestamp of its first lost event.
static SLOW void begin_episode(struct ringside_stream *s, const uint32_t *stamp)
{
    for (unsigned k = 0; k < STAMP_WORDS; k++)
        RINGSIDE_STORE(s->lost_stamp[k], stamp[k]);
    RINGSIDE_STORE(s->episode_read, RINGSIDE_LOAD(s->read_pos));
    ADD(s->episodes, 1);
}

// Counts `count` events that were not recorded, the first of which happened at `stamp`.
static SLOW void refuse_events(struct ringside_stream *s, uint32_t count, const uint32_t *stamp)
{
    ADD(s->refused, count);
    if (!is_same_episode(s, RINGSIDE_LOAD(s->read_pos)))
        begin_episode(s, stamp);
}

// Counts one event that happens now and is not recorded: a user event or one of the system's.
static SLOW void refuse(struct ringside_memory *m, unsigned i)
{
    uint32_t stamp[STAMP_WORDS];
    ringside_port_stamp(stamp);
    refuse_events(&m->streams[i], 1, stamp);
    ringside_port_stuck(m, i);
}

// Counts the event of the present call as not recorded. From the note, a port whose calls can be
// abandoned (Linux) knows what to complete if this one is.
static void refuse_event(struct ringside_memory *m, unsigned i)
{
    ringside_port_note(&m->streams[i], i, RINGSIDE_REFUSES);
    refuse(m, i);
}

// Begins an episode with the timestamp of the oldest record, which is overwritten next. Its words
// are still there: the tail has moved past them, but nothing was stored over them yet.
static SLOW void begin_episode_at(struct ringside_memory *m, unsigned i, uint32_t tail)
{
    uint32_t stamp[STAMP_WORDS];
    for (unsigned k = 0; k < STAMP_WORDS; k++)
        stamp[k] = word_of(m, i, tail + OVERHEAD - 1 - STAMP_WORDS + k);
    begin_episode(&m->streams[i], stamp);
}

// Moves the tail past the oldest record. Returns false if that record must stay: it is open, so its
// writer still stores into it, or it is unread and the policy is not to overwrite.
//
// A damaged record has no end that can be trusted, so the tail moves to the head: the ring is then
// empty.
static bool pass_oldest(struct ringside_memory *m, unsigned i, uint32_t tail, uint32_t used)
{
    struct ringside_stream *s = &m->streams[i];
    uint32_t first = word_of(m, i, tail), read = RINGSIDE_LOAD(s->read_pos);
    bool unread = read - tail - 1 >= used; // `read` is not in (tail, head], also after a wrap
    if (!is_sound(first, tail, used)) {
        RINGSIDE_STORE(s->tail, tail + used);
        return used;
    }
    if (STATE(first) == OPEN || (unread && RINGSIDE_LOAD(s->policy) != POSIX_TRACE_LOOP))
        return false;
    if (unread)
        ringside_port_note(s, i, RINGSIDE_PASSES);
    RINGSIDE_STORE(s->tail, tail + LENGTH(first));
    if (unread) {
        RINGSIDE_STORE(s->loop_read, read);
        if (!is_same_episode(s, read))
            begin_episode_at(m, i, tail);
        ADD(s->overwritten, 1);
    }
    return true;
}

// Moves the tail until `words` more words leave at most `limit` in use. Returns false if a record
// that must stay is in the way. After the barrier the words before the tail may be overwritten.
static SLOW bool make_space(struct ringside_memory *m, unsigned i, uint32_t words, uint32_t limit)
{
    struct ringside_stream *s = &m->streams[i];
    uint32_t head = RINGSIDE_LOAD(s->head), tail;
    while (tail = RINGSIDE_LOAD(s->tail), head - tail + words > limit)
        if (!pass_oldest(m, i, tail, head - tail))
            return false;
    ringside_port_barrier();
    return true;
}

// Does what make_space() does for the usual case of a full ring: a loop that was overwritten before
// and not read since. No episode begins then, so the counts are two stores. Moves the tail until at
// most `max_used` words are in use. Returns false, with whatever was moved, if the case is another
// one; the caller then takes the slow path.
INLINE bool overwrite(struct ringside_memory *m, unsigned i, uint32_t tail, uint32_t head,
                      uint32_t max_used)
{
    struct ringside_stream *s = &m->streams[i];
    if (RINGSIDE_LOAD(s->read_pos) != RINGSIDE_LOAD(s->loop_read))
        return false;
    do {
        uint32_t first = word_of(m, i, tail);
        if (!is_sound(first, tail, head - tail) || !(first & DONE))
            return false;
        tail += LENGTH(first);
        ringside_port_note(s, i, RINGSIDE_PASSES);
        RINGSIDE_STORE(s->tail, tail);
        ADD(s->overwritten, 1);
    } while (head - tail > max_used);
    ringside_port_barrier();
    return true;
}

// ---- records ----

// Stores an address: one word, or two with the low one first. Returns the index after it.
INLINE uint32_t put_address(uint32_t *ring, uint32_t mask, uint32_t at, uintptr_t address)
{
    RINGSIDE_STORE(ring[at++ & mask], (uint32_t)address);
#if UINTPTR_MAX > UINT32_MAX
    RINGSIDE_STORE(ring[at++ & mask], (uint32_t)(address >> 32));
#endif
    return at;
}

// Opens a record at position `head`, whose first word is ring[at]: stores all of it but the data,
// then moves the head past it. The caller is in the critical section and has made space.
//
// The barrier before the head makes the opened record visible first: a reader that sees the new
// head never takes words of an older lap for this record. The trailer carries the same tag as the
// first word, so that a reader can find the boundaries of records from `head` backward.
//
// `mask` is the words of the ring - 1, or all ones if the record does not cross the ring's end;
// the compiler then drops the masking. Returns the first word, for complete_record().
INLINE uint32_t open_record(struct ringside_stream *s, uint32_t head, uint32_t *ring, uint32_t mask,
                            uint32_t at, uint32_t words, uint32_t second, uintptr_t caller,
                            uint32_t flags)
{
    uint32_t tag = (head & 0xFFFF) | words << 16, trailer = at + words - 1, stamp[STAMP_WORDS];
    uint32_t first = tag | flags;
    uintptr_t thread = ringside_port_thread(&first);
    RINGSIDE_STORE(ring[at++ & mask], first);
    RINGSIDE_STORE(ring[at++ & mask], second);
    at = put_address(ring, mask, at, caller);
    at = put_address(ring, mask, at, thread);
#if RINGSIDE_PORT_PROCESS
    RINGSIDE_STORE(ring[at++ & mask], ringside_port_process());
#endif
    ringside_port_stamp(stamp);
    for (unsigned k = 0; k < STAMP_WORDS; k++)
        RINGSIDE_STORE(ring[at++ & mask], stamp[k]);
    RINGSIDE_STORE(ring[trailer & mask], tag | TRAILER);
    ADD(s->recorded, 1);
    ringside_port_barrier();
    RINGSIDE_STORE(s->head, head + words);
    return first;
}

// A word of the caller's data, which need not be aligned and may be of any type.
struct unaligned {
    uint32_t word;
} __attribute__((packed, may_alias));

// Stores the last 1 to 3 bytes of data in the order of memory, padded with zeros, and completes the
// record. Not inlined: it is needed by some events only and would cost the others registers.
static __attribute__((noinline)) void store_last_word(uint32_t *word, uint32_t *first,
                                                      const uint8_t *data, uint32_t bytes)
{
    union {
        uint8_t bytes[4];
        uint32_t word;
    } last = {.word = 0};
    for (uint32_t k = 0; k < bytes; k++)
        last.bytes[k] = data[k];
    RINGSIDE_STORE(*word, last.word);
    ringside_port_barrier();
    ADD(*first, DONE - OPEN);
}

// Copies the data, outside of the critical section, and completes the record with one store. The
// barrier before that store is what a reader relies on that reads the first word, sees DONE, and
// then reads the data. Interrupts may record events of their own in the meantime: their records
// come after this one in the ring, and this one keeps the tail from passing it while it is open.
INLINE void complete_record(uint32_t *ring, uint32_t mask, uint32_t at, uint32_t first,
                            const uint8_t *data, uint32_t bytes)
{
    uint32_t to = at + OVERHEAD - 1;
    for (uint32_t words = bytes / 4; words; words--, data += 4) {
        RINGSIDE_STORE(ring[to++ & mask], ((const struct unaligned *)data)->word);
        HIDE(words);
    }
    if (bytes % 4) { // the length in `first` is not used: a damaged block may have changed it
        HIDE(bytes);
        store_last_word(&ring[(at + OVERHEAD - 1 + bytes / 4) & mask], &ring[at & mask], data,
                        bytes % 4);
        return;
    }
    ringside_port_barrier();
    RINGSIDE_STORE(ring[at & mask], first + (DONE - OPEN));
}

// Returns whether the filter lets an event type of the system's through; its id is below 32.
INLINE bool is_wanted(const struct ringside_stream *s, uint32_t id)
{
    return !(RINGSIDE_LOAD(s->filter[0]) >> id & 1);
}

// Sets the state. `data_end` changes with it: it is 0 while the stream does not run, so that one
// comparison of record() covers both "does not run" and "the data are too long".
static SLOW void set_state(struct ringside_stream *s, uint32_t state)
{
    bool runs = state & RINGSIDE_RUNNING;
    RINGSIDE_STORE(s->state, state);
    RINGSIDE_STORE(s->data_end, runs ? RINGSIDE_LOAD(s->max_data) + 1 : 0);
}

// Records a complete event of the system's and sets the state that it reports. The caller is in the
// critical section and has made space. The address of the call is 0, since the program made none.
static SLOW void put_system(struct ringside_memory *m, unsigned i, uint32_t id,
                            const uint32_t *data, uint32_t words, uint32_t state)
{
    struct ringside_stream *s = &m->streams[i];
    uint32_t mask = ring_words(s) - 1, head = RINGSIDE_LOAD(s->head);
    ringside_port_turn(s, state);
    ringside_port_note(s, i, RINGSIDE_SYSTEM);
    uint32_t first =
        open_record(s, head, m->rings[i], mask, head, OVERHEAD + words, id | words << 18, 0, OPEN);
    complete_record(m->rings[i], mask, head, first, (const uint8_t *)data, words * 4);
    set_state(s, state);
    ringside_port_note(s, i, RINGSIDE_NOTHING);
    ringside_port_turn(s, 0);
}

// Stops a stream that is full and records a STOP with 1, "by itself". Space for that record is
// kept: `limit` leaves STOP_WORDS free in every stream that is not a loop.
static SLOW void stop_full(struct ringside_memory *m, unsigned i)
{
    static const uint32_t by_itself = 1;
    struct ringside_stream *s = &m->streams[i];
    if (RINGSIDE_LOAD(s->state) & RINGSIDE_RUNNING && is_wanted(s, POSIX_TRACE_STOP) &&
        make_space(m, i, STOP_WORDS, ring_words(s)))
        put_system(m, i, POSIX_TRACE_STOP, &by_itself, 1, RINGSIDE_BOUND | RINGSIDE_FULL);
    else
        set_state(s, RINGSIDE_BOUND | RINGSIDE_FULL);
}

// Makes space for an event of `words` words. If that fails, a stream that is not a loop stops. (A
// loop fails while its oldest record is open; it continues with the next event.)
static SLOW bool ensure_space(struct ringside_memory *m, unsigned i, uint32_t words)
{
    struct ringside_stream *s = &m->streams[i];
    if (make_space(m, i, words, RINGSIDE_LOAD(s->limit)))
        return true;
    if (RINGSIDE_LOAD(s->policy) != POSIX_TRACE_LOOP)
        stop_full(m, i);
    return false;
}

// Starts a stream with a START event whose data are the filter in force. If there is no space for
// it, it is counted as refused, and only a loop starts all the same.
static SLOW void start_stream(struct ringside_memory *m, unsigned i)
{
    struct ringside_stream *s = &m->streams[i];
    const uint32_t runs = RINGSIDE_BOUND | RINGSIDE_RUNNING;
    bool records_event = is_wanted(s, POSIX_TRACE_START);
    bool has_space = !records_event || ensure_space(m, i, START_WORDS);
    if (records_event && has_space) {
        put_system(m, i, POSIX_TRACE_START, s->filter, FILTER_WORDS, runs);
        return;
    }
    if (records_event)
        refuse(m, i);
    if (has_space || RINGSIDE_LOAD(s->policy) == POSIX_TRACE_LOOP)
        set_state(s, runs);
}

// Stops a stream by request, with a STOP event that holds 0. A stream stops even if there is no
// space for the event, which is then counted as refused.
static SLOW void stop_stream(struct ringside_memory *m, unsigned i)
{
    static const uint32_t by_request = 0;
    struct ringside_stream *s = &m->streams[i];
    bool records_event = is_wanted(s, POSIX_TRACE_STOP);
    if (records_event && make_space(m, i, STOP_WORDS, ring_words(s))) {
        put_system(m, i, POSIX_TRACE_STOP, &by_request, 1, RINGSIDE_BOUND);
        return;
    }
    if (records_event)
        refuse(m, i);
    set_state(s, RINGSIDE_BOUND);
}

// Returns whether a reader has read everything.
INLINE bool is_read(const struct ringside_stream *s)
{
    return RINGSIDE_LOAD(s->read_pos) == RINGSIDE_LOAD(s->head);
}

// Starts or stops a stream. A full stream keeps its state until everything was read. If it is then
// to be stopped, it leaves FULL without a STOP event: it has stopped already.
static SLOW void set_running(struct ringside_memory *m, unsigned i, bool wanted)
{
    struct ringside_stream *s = &m->streams[i];
    uint32_t state = RINGSIDE_LOAD(s->state);
    if (state & RINGSIDE_FULL && !is_read(s))
        return;
    if (wanted && !(state & RINGSIDE_RUNNING))
        start_stream(m, i);
    else if (!wanted && state & RINGSIDE_RUNNING)
        stop_stream(m, i);
    else if (state & RINGSIDE_FULL)
        set_state(s, RINGSIDE_BOUND);
}

// Returns whether the stream runs. A full stream starts again with the first event after everything
// was read, unless a controller wants it stopped. While it is full, the event is lost and counted.
static SLOW bool is_running(struct ringside_memory *m, unsigned i)
{
    struct ringside_stream *s = &m->streams[i];
    if (RINGSIDE_LOAD(s->state) & RINGSIDE_FULL && is_read(s))
        set_running(m, i, RINGSIDE_LOAD(s->wanted) & RINGSIDE_RUNNING);
    if (RINGSIDE_LOAD(s->state) & RINGSIDE_FULL)
        refuse_event(m, i);
    return RINGSIDE_LOAD(s->state) & RINGSIDE_RUNNING;
}

// Returns whether the filter holds a user event back. User events have ids from 32 on.
INLINE bool is_filtered(const struct ringside_stream *s, uint32_t id)
{
    uint32_t user = id - POSIX_TRACE_UNNAMED_USEREVENT;
    return RINGSIDE_LOAD(s->filter[1 + user / 32]) >> (user % 32) & 1;
}

// Returns whether a user event counts as lost if it is not recorded.
INLINE bool loses(const struct ringside_stream *s, uint32_t id)
{
    return RINGSIDE_LOAD(s->state) & (RINGSIDE_RUNNING | RINGSIDE_FULL) && !is_filtered(s, id);
}

// Counts an event that could not enter the critical section (Linux only: the lock was not free).
// The count is kept outside of the blocks; the next call that enters moves it to `refused`.
static SLOW void miss_event(struct ringside_memory *m, unsigned i, uint32_t id)
{
    ringside_port_note(&m->streams[i], i, RINGSIDE_REFUSES);
    if (loses(&m->streams[i], id))
        ringside_port_miss(m, i);
}

// Records a user event in stream `i`, whatever must be done first: restart a stream that was full,
// make space, truncate the data, cross the end of the ring. This is the slow and complete form of
// record().
static SLOW void record_any(struct ringside_memory *m, unsigned i, uint32_t id, const uint8_t *data,
                            size_t length, uintptr_t caller)
{
    struct ringside_stream *s = &m->streams[i];
    ringside_port_note(s, i, RINGSIDE_TURNS);
    ringside_port_state inside = ringside_port_enter(m);
    if (!ringside_port_entered(inside)) {
        miss_event(m, i, id);
        return;
    }
    uint32_t mask = ring_words(s) - 1, max = RINGSIDE_LOAD(s->max_data);
    uint32_t bytes = length > max ? max : (uint32_t)length, words = OVERHEAD + (bytes + 3) / 4;
    bool runs = !is_filtered(s, id) && is_running(m, i);
    bool has_space = runs && ensure_space(m, i, words);
    if (runs && !has_space)
        refuse_event(m, i);
    uint32_t head = RINGSIDE_LOAD(s->head), flags = length > max ? OPEN | CUT : OPEN;
    if (has_space && (head ^ (head + words)) & ~mask)
        ringside_port_lap(m, i); // Linux: releases the stream if its controller is gone
    if (!has_space || !(RINGSIDE_LOAD(s->state) & RINGSIDE_RUNNING)) {
        ringside_port_leave(m, inside);
        return;
    }
    ringside_port_note(s, i, RINGSIDE_RECORDS);
    uint32_t first =
        open_record(s, head, m->rings[i], mask, head, words, id | bytes << 16, caller, flags);
    ringside_port_leave(m, inside);
    complete_record(m->rings[i], mask, head, first, data, bytes);
}

// Records a user event in stream `i` on the fast path, without a call: the stream runs, the data
// are not truncated, the record does not reach the ring's end, and there is free space, or a loop
// that has no reader is overwritten. Everything else goes to record_any().
INLINE void record(struct ringside_memory *m, unsigned i, uint32_t id, const uint8_t *data,
                   size_t length, uintptr_t caller)
{
    struct ringside_stream *s = &m->streams[i];
    ringside_port_note(s, i, RINGSIDE_TURNS);
    ringside_port_state inside = ringside_port_enter(m);
    if (!ringside_port_entered(inside)) {
        miss_event(m, i, id);
        return;
    }
    if (is_filtered(s, id)) {
        ringside_port_leave(m, inside);
        return;
    }
    uint32_t bytes = (uint32_t)length, words = (bytes + 4 * OVERHEAD + 3) / 4;
    HIDE(words);
    uint32_t head = RINGSIDE_LOAD(s->head), tail = RINGSIDE_LOAD(s->tail);
    uint32_t max_used = RINGSIDE_LOAD(s->limit) - words, size = ring_words(s);
    if (length >= RINGSIDE_LOAD(s->data_end) ||
        (head - tail > max_used && !overwrite(m, i, tail, head, max_used)) ||
        (head & (size - 1)) + words >= size) {
        ringside_port_leave(m, inside);
        record_any(m, i, id, data, length, caller);
        return;
    }
    uint32_t *ring = m->rings[i] + (head & (size - 1));
    HIDE(ring);
    ringside_port_note(s, i, RINGSIDE_RECORDS);
    uint32_t first =
        open_record(s, head, ring, UINT32_MAX, 0, words, id | bytes << 16, caller, OPEN);
    ringside_port_leave(m, inside);
    complete_record(ring, UINT32_MAX, 0, first, data, bytes);
}

// ---- requests ----
//
// A controller and the recorder exchange requests without a lock that both can take: the controller
// may be a debug probe. The order of their stores is what keeps a request from being missed.
//
//   controller                              recorder, at the next trace point or poll
//   wanted, wanted_policy, wanted_filter …  sees that `active` is ALL
//   request + 1                             reads `request`, then the wanted words; does it
//   active = ALL                            ── barrier ──  stores `request_done` = request
//                                           stores `active`, the streams that run
//                                           ── fence: the store comes before the loads below ──
//                                           reads `request` again; if it differs, active = ALL
//
// A request that arrives while another is carried out is seen in one of two ways. Either its
// `request` was stored before the last read, which then finds it. Or it was stored later, and then
// the controller's own store of `active` comes after the recorder's and remains.
// A controller that sees its number in `request_done` sees everything that the request has changed.

// Returns whether a record of the stream is open. In a damaged ring none is: what follows the
// damage cannot be found.
static bool any_open(struct ringside_memory *m, unsigned i)
{
    struct ringside_stream *s = &m->streams[i];
    uint32_t head = RINGSIDE_LOAD(s->head), at = RINGSIDE_LOAD(s->tail);
    while (at != head) {
        uint32_t first = word_of(m, i, at);
        if (!is_sound(first, at, head - at))
            return false;
        if (STATE(first) == OPEN)
            return true;
        at += LENGTH(first);
    }
    return false;
}

// Empties the stream. Positions continue, counts begin again, and `generation` changes first, so
// that a reader that sees the moved tail also sees that what it read before is gone. Both notes of
// `read_pos` get a value that it does not have: no episode and no fast overwriting continue.
static void empty_stream(struct ringside_stream *s)
{
    ADD(s->generation, 1);
    ringside_port_barrier();
    RINGSIDE_STORE(s->tail, RINGSIDE_LOAD(s->head));
    RINGSIDE_STORE(s->recorded, 0);
    RINGSIDE_STORE(s->overwritten, 0);
    RINGSIDE_STORE(s->refused, 0);
    RINGSIDE_STORE(s->episodes, 0);
    RINGSIDE_STORE(s->episode_read, ~RINGSIDE_LOAD(s->read_pos));
    RINGSIDE_STORE(s->loop_read, ~RINGSIDE_LOAD(s->read_pos));
    RINGSIDE_STORE(s->clears_done, RINGSIDE_LOAD(s->wanted_clears));
}

static uint32_t smaller_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// Binds a stream to the policy, the filter and the size of data that are wanted. `max_data` is
// limited so that START, one event with all its data and STOP fit into the ring together, and so
// that the words of a record fit into its length field.
static void bind_stream(struct ringside_stream *s)
{
    uint32_t policy = RINGSIDE_LOAD(s->wanted_policy), words = ring_words(s);
    uint32_t max_data = smaller_of(words - STOP_WORDS - START_WORDS, LONGEST) - OVERHEAD;
    empty_stream(s);
    RINGSIDE_STORE(s->policy, policy);
    RINGSIDE_STORE(s->limit, policy == POSIX_TRACE_LOOP ? words : words - STOP_WORDS);
    max_data = smaller_of(max_data * 4, RINGSIDE_TRACE_MAX_DATA);
    RINGSIDE_STORE(s->max_data, smaller_of(max_data, RINGSIDE_LOAD(s->wanted_max_data)));
    for (unsigned k = 0; k < FILTER_WORDS; k++)
        RINGSIDE_STORE(s->filter[k], RINGSIDE_LOAD(s->wanted_filter[k]));
    set_state(s, RINGSIDE_BOUND);
}

// Sets the filter that is wanted. While the stream runs, records a FILTER event first, with the old
// filter and the new one; the old one decides whether that event is recorded.
static void set_filter(struct ringside_memory *m, unsigned i)
{
    struct ringside_stream *s = &m->streams[i];
    uint32_t both[2 * FILTER_WORDS], differ = 0;
    for (unsigned k = 0; k < FILTER_WORDS; k++) {
        both[k] = RINGSIDE_LOAD(s->filter[k]);
        both[FILTER_WORDS + k] = RINGSIDE_LOAD(s->wanted_filter[k]);
        differ |= both[k] ^ both[FILTER_WORDS + k];
    }
    if (!differ)
        return;
    uint32_t state = RINGSIDE_LOAD(s->state);
    bool records_event = state & RINGSIDE_RUNNING && is_wanted(s, POSIX_TRACE_FILTER);
    if (records_event && ensure_space(m, i, OVERHEAD + 2 * FILTER_WORDS))
        put_system(m, i, POSIX_TRACE_FILTER, both, 2 * FILTER_WORDS, state);
    else if (records_event)
        refuse(m, i);
    for (unsigned k = 0; k < FILTER_WORDS; k++)
        RINGSIDE_STORE(s->filter[k], both[FILTER_WORDS + k]);
}

// Carries out the request of a stream: bind or clear, filter, run, release, in this order. Binding
// and clearing wait while a record is open, since its writer still stores into the ring: the
// request then stays pending, and the next trace point tries again.
static void attend_stream(struct ringside_memory *m, unsigned i)
{
    struct ringside_stream *s = &m->streams[i];
    uint32_t request = RINGSIDE_LOAD(s->request);
    if (request == RINGSIDE_LOAD(s->request_done))
        return;
    ringside_port_barrier();
    uint32_t wanted = RINGSIDE_LOAD(s->wanted), state = RINGSIDE_LOAD(s->state);
    bool bound = state & RINGSIDE_BOUND, binds = wanted & RINGSIDE_BOUND && !bound;
    bool clears = bound && RINGSIDE_LOAD(s->wanted_clears) != RINGSIDE_LOAD(s->clears_done);
    if ((binds || clears) && any_open(m, i))
        return;
    if (clears && state & RINGSIDE_FULL)
        set_state(s, RINGSIDE_BOUND);
    if (binds)
        bind_stream(s);
    else if (clears)
        empty_stream(s);
    if (bound || binds) {
        set_filter(m, i);
        set_running(m, i,
                    (wanted & (RINGSIDE_BOUND | RINGSIDE_RUNNING)) ==
                        (RINGSIDE_BOUND | RINGSIDE_RUNNING));
    }
    if (!(wanted & RINGSIDE_BOUND))
        set_state(s, 0);
    ringside_port_barrier();
    RINGSIDE_STORE(s->request_done, request);
}

// Moves the events that could not enter the critical section (miss_event()) to `refused`.
static void count_missed(struct ringside_memory *m, unsigned i)
{
    struct ringside_stream *s = &m->streams[i];
    uint32_t stamp[2], missed = ringside_port_take_missed(m, i, stamp);
    if (missed && RINGSIDE_LOAD(s->state))
        refuse_events(s, missed, stamp);
    if (missed)
        ringside_port_counted_missed(m, i);
}

// Carries out the requests of all streams and computes `active`, in the critical section. If a
// request arrived in the meantime, or has to wait, `active` keeps all bits: see above.
RINGSIDE_CORE void ringside_core_attend(struct ringside_memory *m)
{
    uint32_t active = 0;
    for (unsigned i = 0; i < RINGSIDE_TRACE_STREAMS; i++) {
        count_missed(m, i);
        attend_stream(m, i);
        if (RINGSIDE_LOAD(m->streams[i].state) & (RINGSIDE_RUNNING | RINGSIDE_FULL))
            active |= UINT32_C(1) << i;
    }
    RINGSIDE_STORE(m->process.active, active);
    ringside_port_fence();
    for (unsigned i = 0; i < RINGSIDE_TRACE_STREAMS; i++)
        if (RINGSIDE_LOAD(m->streams[i].request) != RINGSIDE_LOAD(m->streams[i].request_done) ||
            ringside_port_missed(&m->streams[i]))
            RINGSIDE_STORE(m->process.active, (uint32_t)ALL);
}

// Enters the critical section to carry out requests. Returns `active`.
static SLOW uint32_t attend_all(struct ringside_memory *m)
{
    ringside_port_state inside = ringside_port_enter(m);
    if (ringside_port_entered(inside)) {
        ringside_core_attend(m);
        ringside_port_note(m->streams, 0, RINGSIDE_NOTHING);
        ringside_port_leave(m, inside);
    }
    return RINGSIDE_LOAD(m->process.active);
}

// ---- names ----
//
// Names are only ever added: slot n holds the name of event 32 + n from the moment that
// `names_used` exceeds n. The slot is written first, then a barrier, then `names_used`, so that a
// reader never sees half a name. The recorder takes slots from the start; a controller that does
// not share the memory claims slots from the end (`names_claimed`).

// Returns the id of the standard's event type with that name, or 0 if the standard has none.
static trace_event_id_t find_predefined(const char *name)
{
    static const char prefix[] = "posix_trace_";
    static const char types[][12] = {"error",  "start",  "stop",        "overflow",
                                     "resume", "filter", "flush_start", "flush_stop"};
    unsigned k = 0;
    for (; prefix[k]; k++)
        if (name[k] != prefix[k])
            return 0;
    name += k;
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        for (k = 0; types[i][k] && types[i][k] == name[k];)
            k++;
        if (types[i][k] == name[k])
            return POSIX_TRACE_ERROR + i;
    }
    return 0;
}

// Returns whether a slot holds exactly this name, ended by a zero within the slot.
static bool is_same_name(const char *slot, const char *name)
{
    unsigned k = 0;
    while (k < RINGSIDE_TRACE_NAME_BYTES && slot[k] == name[k] && name[k])
        k++;
    return k < RINGSIDE_TRACE_NAME_BYTES && slot[k] == name[k];
}

// Returns the slot of `name` among [from, to), or `to` if none of them holds it.
static uint32_t find_name(struct ringside_memory *m, const char *name, uint32_t from, uint32_t to)
{
    while (from < to && !is_same_name(m->names[from], name))
        from++;
    return from;
}

// Adds a name and returns its slot, in the critical section. The caller has looked through the
// first `seen` slots outside of it; the name may have come after them in the meantime, or be one
// that a controller has claimed. Returns 0, the unnamed event's slot, if the table is full.
static uint32_t add_name(struct ringside_memory *m, const char *name, uint32_t seen)
{
    uint32_t used = smaller_of(RINGSIDE_LOAD(m->process.names_used), RINGSIDE_TRACE_USER_EVENTS);
    uint32_t claimed =
        smaller_of(RINGSIDE_LOAD(m->process.names_claimed), RINGSIDE_TRACE_USER_EVENTS);
    uint32_t end = RINGSIDE_TRACE_USER_EVENTS - claimed, slot = find_name(m, name, seen, used);
    if (slot < used)
        return slot;
    slot = find_name(m, name, end, RINGSIDE_TRACE_USER_EVENTS);
    if (slot < RINGSIDE_TRACE_USER_EVENTS)
        return slot;
    if (used >= end)
        return 0;
    for (unsigned k = 0, more = 1; k < RINGSIDE_TRACE_NAME_BYTES; k++) {
        more = more && name[k];
        ((volatile char *)m->names[used])[k] = more ? name[k] : 0;
    }
    ringside_port_barrier();
    RINGSIDE_STORE(m->process.names_used, used + 1);
    return used;
}

// Returns whether a name does not fit into a slot with its zero.
static bool is_too_long(const char *name)
{
    uint32_t length = 0;
    while (length < RINGSIDE_TRACE_NAME_BYTES && name[length])
        length++;
    return length == RINGSIDE_TRACE_NAME_BYTES;
}

// Finds or registers an event type by its name. Returns 0 or ENAMETOOLONG. Known names, the usual
// case, are found without the critical section.
RINGSIDE_CORE int ringside_core_name(struct ringside_memory *m, const char *name,
                                     trace_event_id_t *event)
{
    uint32_t slot;
    uint32_t used = smaller_of(RINGSIDE_LOAD(m->process.names_used), RINGSIDE_TRACE_USER_EVENTS);
    *event = find_predefined(name);
    if (*event)
        return 0;
    if (is_too_long(name))
        return RINGSIDE_TRACE_ENAMETOOLONG;
    slot = find_name(m, name, 0, used);
    if (slot == used) {
        ringside_port_state inside = ringside_port_enter(m);
        slot = 0;
        if (ringside_port_entered(inside)) {
            slot = add_name(m, name, used);
            ringside_port_leave(m, inside);
        }
    }
    *event = POSIX_TRACE_UNNAMED_USEREVENT + slot;
    return 0;
}

// ---- the blocks ----

// Returns where a part of the object begins, in bytes from the object's start.
static uint32_t offset_in(const struct ringside_memory *m, const void *part)
{
    return (uint32_t)((const char *)part - (const char *)m);
}

// Makes stream block `i`, unbound. A request that was pending when memory survived a reset is
// dropped: `request_done` becomes `request`.
static void make_stream(struct ringside_memory *m, unsigned i)
{
    struct ringside_stream *s = &m->streams[i];
    s->magic = RINGSIDE_STREAM_MAGIC;
    s->version = RINGSIDE_VERSION;
    s->header_bytes = RINGSIDE_HEADER_BYTES;
    s->back = offset_in(m, s);
    s->ring_at = offset_in(m, m->rings[i]);
    s->ring_words = RINGSIDE_TRACE_WORDS;
    s->layout = m->process.layout;
    s->clock_hz = m->process.clock_hz;
    set_state(s, 0);
    s->request_done = s->request;
    empty_stream(s);
}

// Makes the process block, the names and the stream blocks. The memory is all zeros, or holds a
// block that was made before a reset. `magic` is 0 from the first store to the last: a reader takes
// the block for valid only when all of it is, and distinguishes two makings by `generation`.
RINGSIDE_CORE void ringside_core_make(struct ringside_memory *m, uint32_t pid)
{
    static const char unnamed[] = "posix_trace_unnamed_userevent";
    struct ringside_process *p = &m->process;
    RINGSIDE_STORE(p->magic, 0);
    RINGSIDE_STORE(p->active, 0);
    ringside_port_barrier();
    p->version = RINGSIDE_VERSION;
    p->header_bytes = RINGSIDE_HEADER_BYTES;
    p->total_bytes = sizeof *m;
    p->generation++;
    p->streams = RINGSIDE_TRACE_STREAMS;
    p->stream_bytes = sizeof m->streams[0];
    p->streams_at = offset_in(m, m->streams);
    p->names_at = offset_in(m, m->names);
    p->name_bytes = RINGSIDE_TRACE_NAME_BYTES;
    p->names_room = RINGSIDE_TRACE_USER_EVENTS;
    p->names_used = p->names_claimed = 0;
    p->layout = (uint32_t)sizeof(uintptr_t) | RINGSIDE_PORT_STAMP_BITS << 8 | RINGSIDE_PORT_LAYOUT;
    p->clock_hz = RINGSIDE_TRACE_CLOCK_HZ;
    p->ids = RINGSIDE_IDS;
    p->pid = pid;
    p->lock = 0;
    (void)add_name(m, unnamed, 0);
    for (unsigned i = 0; i < RINGSIDE_TRACE_STREAMS; i++)
        make_stream(m, i);
    ringside_port_barrier();
    RINGSIDE_STORE(p->magic, RINGSIDE_PROCESS_MAGIC);
}

// ---- what a program calls ----

// Carries out pending requests, and then records the event in every stream that is active.
static SLOW void event_any(struct ringside_memory *m, uint32_t id, const void *data, size_t bytes,
                           uintptr_t caller)
{
    uint32_t active = RINGSIDE_LOAD(m->process.active);
    if (active == (uint32_t)ALL)
        active = attend_all(m);
    active &= RINGSIDE_PORT_STREAMS(m);
    for (unsigned i = 0; i < RINGSIDE_TRACE_STREAMS; i++)
        if (active >> i & 1)
            record_any(m, i, id, data, bytes, caller);
}

// Records a user event in every active stream. `active` is the word that the trace point has
// tested; ids outside of the user's range are ignored. With one stream the loop and the test of
// its bit vanish: `active` is 1 then, or a request is pending.
RINGSIDE_CORE void ringside_core_event(struct ringside_memory *m, uint32_t active, uint32_t id,
                                       const void *data, size_t bytes, uintptr_t caller)
{
    if (id - POSIX_TRACE_UNNAMED_USEREVENT >= RINGSIDE_TRACE_USER_EVENTS)
        return;
    if (RINGSIDE_TRACE_STREAMS == 1 ? active != 1 : active == (uint32_t)ALL) {
        event_any(m, id, data, bytes, caller);
        return;
    }
    active &= RINGSIDE_PORT_STREAMS(m);
    for (unsigned i = 0; i < RINGSIDE_TRACE_STREAMS; i++)
        if (RINGSIDE_TRACE_STREAMS == 1 || active >> i & 1)
            record(m, i, id, data, bytes, caller);
}

#ifdef RINGSIDE_PORT_OBJECT
// Not inlined: its return address is the address of the call, which every record holds.
__attribute__((noinline)) void posix_trace_record_event(trace_event_id_t event, const void *data,
                                                        size_t bytes)
{
    ringside_core_event(&ringside_posix, RINGSIDE_LOAD(ringside_posix.process.active), event, data,
                        bytes, RINGSIDE_PORT_CALLER(__builtin_return_address(0)));
}
void posix_trace_event(trace_event_id_t event, const void *data, size_t bytes)
    __attribute__((alias(TEXT(posix_trace_record_event))));

int posix_trace_eventid_open(const char *name, trace_event_id_t *event)
{
    return ringside_core_name(&ringside_posix, name, event);
}

void ringside_trace_init(void)
{
    ringside_core_make(&ringside_posix, RINGSIDE_TRACE_CORE + 1);
}

// Makes a request as a controller does, and carries it out at once.
static void make_request(uint32_t wanted)
{
    struct ringside_stream *s = &ringside_posix.streams[0];
    RINGSIDE_STORE(s->wanted, wanted);
    ringside_port_barrier();
    ADD(s->request, 1);
    (void)attend_all(&ringside_posix);
}

void ringside_trace_start(int policy)
{
    struct ringside_stream *s = &ringside_posix.streams[0];
    RINGSIDE_STORE(s->wanted_policy, (uint32_t)policy);
    RINGSIDE_STORE(s->wanted_max_data, RINGSIDE_TRACE_MAX_DATA);
    make_request(RINGSIDE_BOUND | RINGSIDE_RUNNING);
}

void ringside_trace_stop(void)
{
    make_request(RINGSIDE_BOUND);
}

void ringside_trace_poll(void)
{
    if (RINGSIDE_LOAD(ringside_posix.process.active) == (uint32_t)ALL)
        (void)attend_all(&ringside_posix);
}
#else
#include "linux_core.h"
#endif
