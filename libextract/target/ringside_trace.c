// SPDX-License-Identifier: MIT
// target: the recorder, the same for all ports.
// In: trace points, a controller's requests. Out: records in the rings
// (docs/formats/posix-ring.md).
//
// A record is begun in a critical section, its data are copied outside of it, and one store makes
// it done; so an interrupt waits for a short time that does not depend on the data. Words that
// others read go through RINGSIDE_LOAD and RINGSIDE_STORE.
#ifndef RINGSIDE_TRACE_PORT
#define RINGSIDE_TRACE_PORT "ports/linux.h"
#endif
#include RINGSIDE_TRACE_PORT
#include "layout.h"

#ifndef RINGSIDE_LOAD
#define RINGSIDE_LOAD(word)         (*(const volatile uint32_t *)&(word))
#define RINGSIDE_STORE(word, value) (*(volatile uint32_t *)&(word) = (value))
#endif
#ifndef RINGSIDE_CORE
#define RINGSIDE_CORE static // what a port's own sources call is not
#endif

#define SLOW   __attribute__((noinline, cold))
#define INLINE static inline __attribute__((always_inline))
// Of what is computed so far, the compiler knows the value only: it keeps no parts in registers.
#define HIDE(value)      __asm__("" : "+r"(value))
#define ADD(word, value) RINGSIDE_STORE(word, RINGSIDE_LOAD(word) + (value))

enum {
    ADDRESS_WORDS = sizeof(uintptr_t) / 4,
    STAMP_WORDS = RINGSIDE_PORT_STAMP_BITS > 32 ? 2 : 1,
    OVERHEAD = 3 + 2 * ADDRESS_WORDS + RINGSIDE_PORT_PROCESS + STAMP_WORDS, // words beside the data
    FILTER_WORDS = RINGSIDE_IDS / 32,
    STOP_WORDS = OVERHEAD + 1,
    START_WORDS = OVERHEAD + FILTER_WORDS,
    LONGEST = 0xFFF, // words of a record
    ALL = -1         // of active: a controller wants something
};

#define OPEN      (UINT32_C(1) << 30)
#define DONE      (UINT32_C(2) << 30)
#define CUT       (UINT32_C(1) << 28)
#define STATE(w)  ((w)&UINT32_C(3) << 30)
#define LENGTH(w) ((w) >> 16 & LONGEST)
#define TRAILER   (UINT32_C(0xA) << 28)

#ifdef RINGSIDE_PORT_OBJECT
struct ringside_memory ringside_posix __attribute__((aligned(8)));
#endif

// ---- rings ----

INLINE uint32_t ring_words(const struct ringside_stream *s)
{
#ifdef RINGSIDE_PORT_RING_WORDS
    return RINGSIDE_PORT_RING_WORDS(s);
#else
    (void)s;
    return RINGSIDE_TRACE_WORDS;
#endif
}

INLINE uint32_t word_of(struct ringside_memory *m, unsigned i, uint32_t position)
{
    return RINGSIDE_LOAD(m->rings[i][position & (ring_words(&m->streams[i]) - 1)]);
}

// Whether the record that begins with `first` at `tail` can lie in the `used` words there: memory
// may be damaged.
INLINE bool sound(uint32_t first, uint32_t tail, uint32_t used)
{
    return LENGTH(first) >= OVERHEAD && LENGTH(first) <= used && (first ^ tail) << 16 == 0 &&
           STATE(first);
}

// Whether nobody read since the episode of losses began that is told.
INLINE bool same_episode(const struct ringside_stream *s, uint32_t read)
{
    return RINGSIDE_LOAD(s->episode_read) == read && RINGSIDE_LOAD(s->episodes);
}

static SLOW void begin_episode(struct ringside_stream *s, const uint32_t *stamp)
{
    for (unsigned k = 0; k < STAMP_WORDS; k++)
        RINGSIDE_STORE(s->lost_stamp[k], stamp[k]);
    RINGSIDE_STORE(s->episode_read, RINGSIDE_LOAD(s->read_pos));
    ADD(s->episodes, 1);
}

// `count` events, the first at `stamp`.
static SLOW void refuse_many(struct ringside_stream *s, uint32_t count, const uint32_t *stamp)
{
    ADD(s->refused, count);
    if (!same_episode(s, RINGSIDE_LOAD(s->read_pos)))
        begin_episode(s, stamp);
}

// An event, or one of the system's.
static SLOW void refuse(struct ringside_memory *m, unsigned i)
{
    uint32_t stamp[STAMP_WORDS];
    ringside_port_stamp(stamp);
    refuse_many(&m->streams[i], 1, stamp);
    ringside_port_stuck(m, i);
}

// The event that the call is of.
static void refuse_event(struct ringside_memory *m, unsigned i)
{
    ringside_port_note(&m->streams[i], i, RINGSIDE_REFUSES);
    refuse(m, i);
}

// Of the oldest record, which is overwritten next.
static SLOW void begin_episode_at(struct ringside_memory *m, unsigned i, uint32_t tail)
{
    uint32_t stamp[STAMP_WORDS];
    for (unsigned k = 0; k < STAMP_WORDS; k++)
        stamp[k] = word_of(m, i, tail + OVERHEAD - 1 - STAMP_WORDS + k);
    begin_episode(&m->streams[i], stamp);
}

// Moves the tail over the oldest record, unless that is still open, or unread and has to stay.
static bool pass_oldest(struct ringside_memory *m, unsigned i, uint32_t tail, uint32_t used)
{
    struct ringside_stream *s = &m->streams[i];
    uint32_t first = word_of(m, i, tail), read = RINGSIDE_LOAD(s->read_pos);
    bool unread = read - tail - 1 >= used;
    if (!sound(first, tail, used)) {
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
        if (!same_episode(s, read))
            begin_episode_at(m, i, tail);
        ADD(s->overwritten, 1);
    }
    return true;
}

static SLOW bool make_room(struct ringside_memory *m, unsigned i, uint32_t words, uint32_t limit)
{
    struct ringside_stream *s = &m->streams[i];
    uint32_t head = RINGSIDE_LOAD(s->head), tail;
    while (tail = RINGSIDE_LOAD(s->tail), head - tail + words > limit)
        if (!pass_oldest(m, i, tail, head - tail))
            return false;
    ringside_port_barrier();
    return true;
}

// The same, fast, where overwriting goes on: a loop that nobody reads. Moves the tail until `room`
// words are in use at most; returns false where that ends otherwise.
INLINE bool overwrite(struct ringside_memory *m, unsigned i, uint32_t tail, uint32_t head,
                      uint32_t room)
{
    struct ringside_stream *s = &m->streams[i];
    if (RINGSIDE_LOAD(s->read_pos) != RINGSIDE_LOAD(s->loop_read))
        return false;
    do {
        uint32_t first = word_of(m, i, tail);
        if (!sound(first, tail, head - tail) || !(first & DONE))
            return false;
        tail += LENGTH(first);
        ringside_port_note(s, i, RINGSIDE_PASSES);
        RINGSIDE_STORE(s->tail, tail);
        ADD(s->overwritten, 1);
    } while (head - tail > room);
    ringside_port_barrier();
    return true;
}

// ---- records ----

// Of an address or a stamp: one word, or two, the low one first.
INLINE uint32_t put_address(uint32_t *ring, uint32_t mask, uint32_t at, uintptr_t address)
{
    RINGSIDE_STORE(ring[at++ & mask], (uint32_t)address);
#if UINTPTR_MAX > UINT32_MAX
    RINGSIDE_STORE(ring[at++ & mask], (uint32_t)(address >> 32));
#endif
    return at;
}

// Opens a record at `head`, which is at ring[at]: all but its data, then the head. `mask` has all
// bits where the record does not run over the ring's end. Returns its first word.
INLINE uint32_t begin(struct ringside_stream *s, uint32_t head, uint32_t *ring, uint32_t mask,
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

struct unaligned {
    uint32_t word;
} __attribute__((packed, may_alias));

// The last data, fewer than 4 bytes, as they lie in memory; then the record is done.
static __attribute__((noinline)) void last_word(uint32_t *word, uint32_t *first,
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

// The data, then the store that makes the record done.
INLINE void finish(uint32_t *ring, uint32_t mask, uint32_t at, uint32_t first, const uint8_t *data,
                   uint32_t bytes)
{
    uint32_t to = at + OVERHEAD - 1;
    for (uint32_t words = bytes / 4; words; words--, data += 4) {
        RINGSIDE_STORE(ring[to++ & mask], ((const struct unaligned *)data)->word);
        HIDE(words);
    }
    if (bytes % 4) { // not by the length in `first`: of a damaged block it may be another one
        HIDE(bytes);
        last_word(&ring[(at + OVERHEAD - 1 + bytes / 4) & mask], &ring[at & mask], data, bytes % 4);
        return;
    }
    ringside_port_barrier();
    RINGSIDE_STORE(ring[at & mask], first + (DONE - OPEN));
}

// Of an event type of the system's.
INLINE bool is_wanted(const struct ringside_stream *s, uint32_t id)
{
    return !(RINGSIDE_LOAD(s->filter[0]) >> id & 1);
}

static SLOW void set_state(struct ringside_stream *s, uint32_t state)
{
    bool runs = state & RINGSIDE_RUNNING;
    RINGSIDE_STORE(s->state, state);
    RINGSIDE_STORE(s->data_end, runs ? RINGSIDE_LOAD(s->max_data) + 1 : 0);
}

// An event of the system's, as a whole, and the state that it tells of, in the caller's critical
// section; there is room. No call of the program made it.
static SLOW void put_system(struct ringside_memory *m, unsigned i, uint32_t id,
                            const uint32_t *data, uint32_t words, uint32_t state)
{
    struct ringside_stream *s = &m->streams[i];
    uint32_t mask = ring_words(s) - 1, head = RINGSIDE_LOAD(s->head);
    ringside_port_turn(s, state);
    ringside_port_note(s, i, RINGSIDE_SYSTEM);
    uint32_t first =
        begin(s, head, m->rings[i], mask, head, OVERHEAD + words, id | words << 18, 0, OPEN);
    finish(m->rings[i], mask, head, first, (const uint8_t *)data, words * 4);
    set_state(s, state);
    ringside_port_note(s, i, RINGSIDE_NOTHING);
    ringside_port_turn(s, 0);
}

// The stream is full: it stops by itself, and says so.
static SLOW void stop_full(struct ringside_memory *m, unsigned i)
{
    static const uint32_t by_itself = 1;
    struct ringside_stream *s = &m->streams[i];
    if (RINGSIDE_LOAD(s->state) & RINGSIDE_RUNNING && is_wanted(s, POSIX_TRACE_STOP) &&
        make_room(m, i, STOP_WORDS, ring_words(s)))
        put_system(m, i, POSIX_TRACE_STOP, &by_itself, 1, RINGSIDE_BOUND | RINGSIDE_FULL);
    else
        set_state(s, RINGSIDE_BOUND | RINGSIDE_FULL);
}

// Room for an event of `words` words; without, a stream that is no loop stops.
static SLOW bool have_room(struct ringside_memory *m, unsigned i, uint32_t words)
{
    struct ringside_stream *s = &m->streams[i];
    if (make_room(m, i, words, RINGSIDE_LOAD(s->limit)))
        return true;
    if (RINGSIDE_LOAD(s->policy) != POSIX_TRACE_LOOP)
        stop_full(m, i);
    return false;
}

static SLOW void start(struct ringside_memory *m, unsigned i)
{
    struct ringside_stream *s = &m->streams[i];
    const uint32_t runs = RINGSIDE_BOUND | RINGSIDE_RUNNING;
    bool tells = is_wanted(s, POSIX_TRACE_START), has_room = !tells || have_room(m, i, START_WORDS);
    if (tells && has_room) {
        put_system(m, i, POSIX_TRACE_START, s->filter, FILTER_WORDS, runs);
        return;
    }
    if (tells)
        refuse(m, i);
    if (has_room || RINGSIDE_LOAD(s->policy) == POSIX_TRACE_LOOP)
        set_state(s, runs);
}

static SLOW void stop(struct ringside_memory *m, unsigned i)
{
    static const uint32_t by_request = 0;
    struct ringside_stream *s = &m->streams[i];
    bool tells = is_wanted(s, POSIX_TRACE_STOP);
    if (tells && make_room(m, i, STOP_WORDS, ring_words(s))) {
        put_system(m, i, POSIX_TRACE_STOP, &by_request, 1, RINGSIDE_BOUND);
        return;
    }
    if (tells)
        refuse(m, i);
    set_state(s, RINGSIDE_BOUND);
}

INLINE bool is_read(const struct ringside_stream *s)
{
    return RINGSIDE_LOAD(s->read_pos) == RINGSIDE_LOAD(s->head);
}

// Starts or stops. A stream that is full and unread does neither; one that was read is only
// stopped.
static SLOW void set_running(struct ringside_memory *m, unsigned i, bool wanted)
{
    struct ringside_stream *s = &m->streams[i];
    uint32_t state = RINGSIDE_LOAD(s->state);
    if (state & RINGSIDE_FULL && !is_read(s))
        return;
    if (wanted && !(state & RINGSIDE_RUNNING))
        start(m, i);
    else if (!wanted && state & RINGSIDE_RUNNING)
        stop(m, i);
    else if (state & RINGSIDE_FULL)
        set_state(s, RINGSIDE_BOUND);
}

// Whether the stream runs. One that is full starts again when all of it was read, unless it is to
// be stopped by now; as long as it is full, the event is lost.
static SLOW bool is_running(struct ringside_memory *m, unsigned i)
{
    struct ringside_stream *s = &m->streams[i];
    if (RINGSIDE_LOAD(s->state) & RINGSIDE_FULL && is_read(s))
        set_running(m, i, RINGSIDE_LOAD(s->wanted) & RINGSIDE_RUNNING);
    if (RINGSIDE_LOAD(s->state) & RINGSIDE_FULL)
        refuse_event(m, i);
    return RINGSIDE_LOAD(s->state) & RINGSIDE_RUNNING;
}

// Of a user event.
INLINE bool filtered(const struct ringside_stream *s, uint32_t id)
{
    uint32_t user = id - POSIX_TRACE_UNNAMED_USEREVENT;
    return RINGSIDE_LOAD(s->filter[1 + user / 32]) >> (user % 32) & 1;
}

// A user event that is not recorded is lost.
INLINE bool loses(const struct ringside_stream *s, uint32_t id)
{
    return RINGSIDE_LOAD(s->state) & (RINGSIDE_RUNNING | RINGSIDE_FULL) && !filtered(s, id);
}

// The lock was kept from an event.
static SLOW void miss(struct ringside_memory *m, unsigned i, uint32_t id)
{
    ringside_port_note(&m->streams[i], i, RINGSIDE_REFUSES);
    if (loses(&m->streams[i], id))
        ringside_port_miss(m, i);
}

// A record in the stream's critical section, after whatever has to be done before.
static SLOW void record_any(struct ringside_memory *m, unsigned i, uint32_t id, const uint8_t *data,
                            size_t length, uintptr_t caller)
{
    struct ringside_stream *s = &m->streams[i];
    ringside_port_note(s, i, RINGSIDE_TURNS);
    ringside_port_state inside = ringside_port_enter(m);
    if (!ringside_port_entered(inside)) {
        miss(m, i, id);
        return;
    }
    uint32_t mask = ring_words(s) - 1, max = RINGSIDE_LOAD(s->max_data);
    uint32_t bytes = length > max ? max : (uint32_t)length, words = OVERHEAD + (bytes + 3) / 4;
    bool runs = !filtered(s, id) && is_running(m, i), has_room = runs && have_room(m, i, words);
    if (runs && !has_room)
        refuse_event(m, i);
    uint32_t head = RINGSIDE_LOAD(s->head), flags = length > max ? OPEN | CUT : OPEN;
    if (has_room && (head ^ (head + words)) & ~mask)
        ringside_port_lap(m, i); // may release the stream
    if (!has_room || !(RINGSIDE_LOAD(s->state) & RINGSIDE_RUNNING)) {
        ringside_port_leave(m, inside);
        return;
    }
    ringside_port_note(s, i, RINGSIDE_RECORDS);
    uint32_t first =
        begin(s, head, m->rings[i], mask, head, words, id | bytes << 16, caller, flags);
    ringside_port_leave(m, inside);
    finish(m->rings[i], mask, head, first, data, bytes);
}

// A record that is not cut, does not reach the ring's end, and needs nothing done before: with no
// call.
INLINE void record(struct ringside_memory *m, unsigned i, uint32_t id, const uint8_t *data,
                   size_t length, uintptr_t caller)
{
    struct ringside_stream *s = &m->streams[i];
    ringside_port_note(s, i, RINGSIDE_TURNS);
    ringside_port_state inside = ringside_port_enter(m);
    if (!ringside_port_entered(inside)) {
        miss(m, i, id);
        return;
    }
    if (filtered(s, id)) {
        ringside_port_leave(m, inside);
        return;
    }
    uint32_t bytes = (uint32_t)length, words = (bytes + 4 * OVERHEAD + 3) / 4;
    HIDE(words);
    uint32_t head = RINGSIDE_LOAD(s->head), tail = RINGSIDE_LOAD(s->tail);
    uint32_t room = RINGSIDE_LOAD(s->limit) - words, size = ring_words(s);
    if (length >= RINGSIDE_LOAD(s->data_end) ||
        (head - tail > room && !overwrite(m, i, tail, head, room)) ||
        (head & (size - 1)) + words >= size) {
        ringside_port_leave(m, inside);
        record_any(m, i, id, data, length, caller);
        return;
    }
    uint32_t *ring = m->rings[i] + (head & (size - 1));
    HIDE(ring);
    ringside_port_note(s, i, RINGSIDE_RECORDS);
    uint32_t first = begin(s, head, ring, UINT32_MAX, 0, words, id | bytes << 16, caller, OPEN);
    ringside_port_leave(m, inside);
    finish(ring, UINT32_MAX, 0, first, data, bytes);
}

// ---- requests ----

static bool any_open(struct ringside_memory *m, unsigned i)
{
    struct ringside_stream *s = &m->streams[i];
    uint32_t head = RINGSIDE_LOAD(s->head), at = RINGSIDE_LOAD(s->tail);
    while (at != head) {
        uint32_t first = word_of(m, i, at);
        if (!sound(first, at, head - at))
            return false;
        if (STATE(first) == OPEN)
            return true;
        at += LENGTH(first);
    }
    return false;
}

// Empties the stream: positions go on, counts begin again.
static void empty(struct ringside_stream *s)
{
    ADD(s->generation, 1);
    ringside_port_barrier();
    RINGSIDE_STORE(s->tail, RINGSIDE_LOAD(s->head));
    RINGSIDE_STORE(s->recorded, 0);
    RINGSIDE_STORE(s->overwritten, 0);
    RINGSIDE_STORE(s->refused, 0);
    RINGSIDE_STORE(s->episodes, 0);
    RINGSIDE_STORE(s->episode_read, ~RINGSIDE_LOAD(s->read_pos)); // no episode goes on
    RINGSIDE_STORE(s->loop_read, ~RINGSIDE_LOAD(s->read_pos));
    RINGSIDE_STORE(s->clears_done, RINGSIDE_LOAD(s->wanted_clears));
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// START, one event with all its data and STOP fit into the ring together.
static void bind(struct ringside_stream *s)
{
    uint32_t policy = RINGSIDE_LOAD(s->wanted_policy), words = ring_words(s);
    uint32_t most = least(words - STOP_WORDS - START_WORDS, LONGEST) - OVERHEAD;
    empty(s);
    RINGSIDE_STORE(s->policy, policy);
    RINGSIDE_STORE(s->limit, policy == POSIX_TRACE_LOOP ? words : words - STOP_WORDS);
    most = least(most * 4, RINGSIDE_TRACE_MAX_DATA);
    RINGSIDE_STORE(s->max_data, least(most, RINGSIDE_LOAD(s->wanted_max_data)));
    for (unsigned k = 0; k < FILTER_WORDS; k++)
        RINGSIDE_STORE(s->filter[k], RINGSIDE_LOAD(s->wanted_filter[k]));
    set_state(s, RINGSIDE_BOUND);
}

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
    bool tells = state & RINGSIDE_RUNNING && is_wanted(s, POSIX_TRACE_FILTER);
    if (tells && have_room(m, i, OVERHEAD + 2 * FILTER_WORDS))
        put_system(m, i, POSIX_TRACE_FILTER, both, 2 * FILTER_WORDS, state);
    else if (tells)
        refuse(m, i);
    for (unsigned k = 0; k < FILTER_WORDS; k++)
        RINGSIDE_STORE(s->filter[k], both[FILTER_WORDS + k]);
}

// Binding and clearing wait while a record is open: its writer still stores into the ring.
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
        bind(s);
    else if (clears)
        empty(s);
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

// Events that the lock was kept from are refused ones.
static void count_missed(struct ringside_memory *m, unsigned i)
{
    struct ringside_stream *s = &m->streams[i];
    uint32_t stamp[2], missed = ringside_port_take_missed(m, i, stamp);
    if (missed && RINGSIDE_LOAD(s->state))
        refuse_many(s, missed, stamp);
    if (missed)
        ringside_port_counted_missed(m, i);
}

// In the critical section. A request that came meanwhile, or that has to wait, leaves all bits set.
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

// Returns the id of the standard's event type of that name; 0: the standard has none.
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

static bool same_name(const char *slot, const char *name)
{
    unsigned k = 0;
    while (k < RINGSIDE_TRACE_NAME_BYTES && slot[k] == name[k] && name[k])
        k++;
    return k < RINGSIDE_TRACE_NAME_BYTES && slot[k] == name[k];
}

// The slot of `name` among [from, to), or `to`.
static uint32_t find_name(struct ringside_memory *m, const char *name, uint32_t from, uint32_t to)
{
    while (from < to && !same_name(m->names[from], name))
        from++;
    return from;
}

// In the critical section: `name` is not among the first `seen`.
static uint32_t add_name(struct ringside_memory *m, const char *name, uint32_t seen)
{
    uint32_t used = least(RINGSIDE_LOAD(m->process.names_used), RINGSIDE_TRACE_USER_EVENTS);
    uint32_t claimed = least(RINGSIDE_LOAD(m->process.names_claimed), RINGSIDE_TRACE_USER_EVENTS);
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

static bool is_too_long(const char *name)
{
    uint32_t length = 0;
    while (length < RINGSIDE_TRACE_NAME_BYTES && name[length])
        length++;
    return length == RINGSIDE_TRACE_NAME_BYTES;
}

RINGSIDE_CORE int ringside_core_name(struct ringside_memory *m, const char *name,
                                     trace_event_id_t *event)
{
    uint32_t slot;
    uint32_t used = least(RINGSIDE_LOAD(m->process.names_used), RINGSIDE_TRACE_USER_EVENTS);
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

static uint32_t offset_in(const struct ringside_memory *m, const void *part)
{
    return (uint32_t)((const char *)part - (const char *)m);
}

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
    empty(s);
}

// `m` is zero, or was made before.
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

// When a controller wants something.
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
// Not inlined: its return address tells the call.
__attribute__((noinline)) void(posix_trace_event)(trace_event_id_t event, const void *data,
                                                  size_t bytes)
{
    ringside_core_event(&ringside_posix, RINGSIDE_LOAD(ringside_posix.process.active), event, data,
                        bytes, RINGSIDE_PORT_CALLER(__builtin_return_address(0)));
}

int posix_trace_eventid_open(const char *name, trace_event_id_t *event)
{
    return ringside_core_name(&ringside_posix, name, event);
}

void ringside_trace_init(void)
{
    ringside_core_make(&ringside_posix, RINGSIDE_TRACE_CORE + 1);
}

// As a controller asks.
static void ask(uint32_t wanted)
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
    ask(RINGSIDE_BOUND | RINGSIDE_RUNNING);
}

void ringside_trace_stop(void)
{
    ask(RINGSIDE_BOUND);
}

void ringside_trace_poll(void)
{
    if (RINGSIDE_LOAD(ringside_posix.process.active) == (uint32_t)ALL)
        (void)attend_all(&ringside_posix);
}
#else
#include "linux_core.h"
#endif
