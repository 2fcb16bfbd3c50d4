// SPDX-License-Identifier: MIT
// target: the POSIX trace recorder, which is the same for all ports. It is compiled into firmware,
// and, with a port of its own, into programs on Linux. Trace points call it to store records, and a
// controller outside of the target (a debugger, or another process) reads them and changes the
// stream's state, only by reading and writing memory. The words and who writes them are specified
// in docs/formats/posix-ring.md.
//
// A record is begun in a critical section, its data are copied outside of it, and one store makes
// it done. So an interrupt is delayed by a short time that does not depend on the data, and a trace
// point that interrupts another one stores its own record after the one that is open:
//
//                    head moves            last store
//     (nothing) ------------------> OPEN ----------------> DONE
//                 critical section         data copied,
//                                          interruptible
//
// The order of stores is what a reader relies on. `|` is a barrier: all stores before it are
// visible before those after it.
//
//     make_room:  tail moves | the record's words may be overwritten
//     begin:      first word (OPEN), addresses, time, trailer, recorded + 1 | head moves
//     finish:     data | first word becomes DONE
//     a reader:   reads head, records, then tail: records that begin at or after that tail are
//                 intact, and those that are DONE are complete
//     empty:      generation + 1 | tail = head, counts = 0
//
// So a reader never takes an overwritten word for a record, and a target that was halted, or died,
// between any two stores leaves a ring that can be read: at most the records that were OPEN have no
// data. No reader ever waits for the writer, nor the writer for a reader.
//
// A stream has these states, in the bits BOUND, RUNNING and FULL of `state`:
//
//               bind               start                 no space, not a loop
//     (0) ----------------> BOUND --------> BOUND+RUNNING --------------------> BOUND+FULL
//      ^                    |   ^             |   ^                              |     |
//      +--------------------+   +-------------+   +------------------------------+     |
//              unbind           ^    stop              all was read: start             |
//                               +------------------------------------------------------+
//                                            cleared, or read and not to run
//
// A controller never writes `state`. It writes the state that it wants, and then adds 1 to
// `request`; the target carries that out at its next trace point (ringside_core_attend), and sets
// request_done. A trace point needs to test only one word for all of this: `active`, which has a
// bit for each stream that runs, or all bits if there may be a request.
//
// All words that others read or write go through RINGSIDE_LOAD and RINGSIDE_STORE, so that the
// compiler neither splits nor repeats nor reorders these accesses among themselves.
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
#define RINGSIDE_CORE static // empty in a port whose own sources call these functions
#endif

#define SLOW   __attribute__((noinline, cold))
#define INLINE static inline __attribute__((always_inline))
// Hides from the compiler how a value was computed, so that it keeps the value in one register and
// does not compute parts of it again.
#define HIDE(value)      __asm__("" : "+r"(value))
#define ADD(word, value) RINGSIDE_STORE(word, RINGSIDE_LOAD(word) + (value))

enum {
    ADDRESS_WORDS = sizeof(uintptr_t) / 4,
    STAMP_WORDS = RINGSIDE_PORT_STAMP_BITS > 32 ? 2 : 1,
    OVERHEAD = 3 + 2 * ADDRESS_WORDS + RINGSIDE_PORT_PROCESS +
               STAMP_WORDS, // words of a record without data
    FILTER_WORDS = RINGSIDE_IDS / 32,
    STOP_WORDS = OVERHEAD + 1,
    START_WORDS = OVERHEAD + FILTER_WORDS,
    LONGEST = 0xFFF, // words of a record at most: its length has 12 bits
    ALL = -1         // value of `active` if a controller may have a request
};

// The first word of a record: state in bits 31 and 30, CUT if its data were truncated, its length
// in words from bit 16 on, and the lower half of its position, by which a record can be told from
// leftovers of the lap before. The trailer repeats length and position, for readers from the end.
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

// Returns the ring's size in words, a power of two.
INLINE uint32_t ring_words(const struct ringside_stream *s)
{
#ifdef RINGSIDE_PORT_RING_WORDS
    return RINGSIDE_PORT_RING_WORDS(s);
#else
    (void)s;
    return RINGSIDE_TRACE_WORDS;
#endif
}

// Returns the word at a position. Positions count words, modulo 2^32; the ring's size divides that.
INLINE uint32_t word_of(struct ringside_memory *m, unsigned i, uint32_t position)
{
    return RINGSIDE_LOAD(m->rings[i][position & (ring_words(&m->streams[i]) - 1)]);
}

// Returns whether `first` can begin a record at `tail`, of which `used` words are in use there.
// Target memory may be damaged, and a length of zero would never end.
INLINE bool sound(uint32_t first, uint32_t tail, uint32_t used)
{
    return LENGTH(first) >= OVERHEAD && LENGTH(first) <= used && (first ^ tail) << 16 == 0 &&
           STATE(first);
}

// Returns whether no record has been read since the current episode of losses began. An episode is
// one row of losses: the stream reports the time of its first loss.
INLINE bool same_episode(const struct ringside_stream *s, uint32_t read)
{
    return RINGSIDE_LOAD(s->episode_read) == read && RINGSIDE_LOAD(s->episodes);
}

// Begins an episode of losses at a time.
static SLOW void begin_episode(struct ringside_stream *s, const uint32_t *stamp)
{
    for (unsigned k = 0; k < STAMP_WORDS; k++)
        RINGSIDE_STORE(s->lost_stamp[k], stamp[k]);
    RINGSIDE_STORE(s->episode_read, RINGSIDE_LOAD(s->read_pos));
    ADD(s->episodes, 1);
}

// Counts `count` events that were not recorded, the first of them at time `stamp`.
static SLOW void refuse_many(struct ringside_stream *s, uint32_t count, const uint32_t *stamp)
{
    ADD(s->refused, count);
    if (!same_episode(s, RINGSIDE_LOAD(s->read_pos)))
        begin_episode(s, stamp);
}

// Counts an event that was not recorded, now.
static SLOW void refuse(struct ringside_memory *m, unsigned i)
{
    uint32_t stamp[STAMP_WORDS];
    ringside_port_stamp(stamp);
    refuse_many(&m->streams[i], 1, stamp);
    ringside_port_stuck(m, i);
}

// Does the same for the event of the current call, which the port is told about first: a process
// that dies inside of the call must not leave the event uncounted, or counted twice.
static void refuse_event(struct ringside_memory *m, unsigned i)
{
    ringside_port_note(&m->streams[i], i, RINGSIDE_REFUSES);
    refuse(m, i);
}

// Begins an episode of losses at the time of the oldest record, which is overwritten next.
static SLOW void begin_episode_at(struct ringside_memory *m, unsigned i, uint32_t tail)
{
    uint32_t stamp[STAMP_WORDS];
    for (unsigned k = 0; k < STAMP_WORDS; k++)
        stamp[k] = word_of(m, i, tail + OVERHEAD - 1 - STAMP_WORDS + k);
    begin_episode(&m->streams[i], stamp);
}

// Moves the tail over the oldest record, and counts it if it was unread. Returns false if the
// record must stay: it is still open, or it is unread and the stream is not a loop. A damaged
// record ends what can be walked, so the tail moves to the head.
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

// Frees space until `words` more can be used within `limit` words. Returns false if that is not
// possible. The barrier makes the tail visible before the words that it passed are overwritten.
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

// Does the same for the most frequent case, a loop that is full and not being read. Moves the tail
// until at most `room` words are in use. Returns false if a record needs more care than that.
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

// Stores an address, as one word or as two, the low one first. Returns the index after it.
INLINE uint32_t put_address(uint32_t *ring, uint32_t mask, uint32_t at, uintptr_t address)
{
    RINGSIDE_STORE(ring[at++ & mask], (uint32_t)address);
#if UINTPTR_MAX > UINT32_MAX
    RINGSIDE_STORE(ring[at++ & mask], (uint32_t)(address >> 32));
#endif
    return at;
}

// Opens a record at position `head`, which is stored from ring[at] on: stores all words except its
// data, and then moves the head over it. The barrier before that is what makes the record appear
// with all of these words, or not at all. `mask` has all bits set if the record does not pass the
// ring's end. Runs in the critical section. Returns the record's first word.
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

// A word of data at any address.
struct unaligned {
    uint32_t word;
} __attribute__((packed, may_alias));

// Copies the last 1 to 3 bytes of data, in the order of memory, and marks the record as done.
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

// Copies the data, and marks the record as done by one store. Runs outside of the critical section:
// an interrupt may store other records in the meantime, which come after this one.
INLINE void finish(uint32_t *ring, uint32_t mask, uint32_t at, uint32_t first, const uint8_t *data,
                   uint32_t bytes)
{
    uint32_t to = at + OVERHEAD - 1;
    for (uint32_t words = bytes / 4; words; words--, data += 4) {
        RINGSIDE_STORE(ring[to++ & mask], ((const struct unaligned *)data)->word);
        HIDE(words);
    }
    if (bytes % 4) { // not the length in `first`, which damage may have changed
        HIDE(bytes);
        last_word(&ring[(at + OVERHEAD - 1 + bytes / 4) & mask], &ring[at & mask], data, bytes % 4);
        return;
    }
    ringside_port_barrier();
    RINGSIDE_STORE(ring[at & mask], first + (DONE - OPEN));
}

// Returns whether a system event type passes the filter.
INLINE bool is_wanted(const struct ringside_stream *s, uint32_t id)
{
    return !(RINGSIDE_LOAD(s->filter[0]) >> id & 1);
}

// Sets the state. data_end is 0 unless the stream runs, so that one comparison of the fast path
// tells an event that is too long, and a stream that does not run.
static SLOW void set_state(struct ringside_stream *s, uint32_t state)
{
    bool runs = state & RINGSIDE_RUNNING;
    RINGSIDE_STORE(s->state, state);
    RINGSIDE_STORE(s->data_end, runs ? RINGSIDE_LOAD(s->max_data) + 1 : 0);
}

// Stores a complete system event and then the state that it announces. The caller is in the
// critical section and has made room. The caller address is 0, since no trace point of the program
// made it.
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

// Stops a stream that is full. Its last record is the system event STOP: `limit` keeps space for
// it.
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

// Makes room for an event of `words` words. Returns false if there is none; then a stream that is
// not a loop stops.
static SLOW bool have_room(struct ringside_memory *m, unsigned i, uint32_t words)
{
    struct ringside_stream *s = &m->streams[i];
    if (make_room(m, i, words, RINGSIDE_LOAD(s->limit)))
        return true;
    if (RINGSIDE_LOAD(s->policy) != POSIX_TRACE_LOOP)
        stop_full(m, i);
    return false;
}

// Starts the stream, with the event START unless it is filtered. A loop starts even if there is no
// space for that event, which is then lost.
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

// Stops the stream, with the event STOP unless it is filtered or there is no space for it.
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

// Returns whether a reader has read everything.
INLINE bool is_read(const struct ringside_stream *s)
{
    return RINGSIDE_LOAD(s->read_pos) == RINGSIDE_LOAD(s->head);
}

// Starts or stops the stream as wanted. A full stream that is unread remains as it is. A full
// stream that was read counts as stopped.
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

// Returns whether the stream runs. A full stream starts again once all of it was read, if it is
// still wanted to run. As long as it is full, the current event is lost.
static SLOW bool is_running(struct ringside_memory *m, unsigned i)
{
    struct ringside_stream *s = &m->streams[i];
    if (RINGSIDE_LOAD(s->state) & RINGSIDE_FULL && is_read(s))
        set_running(m, i, RINGSIDE_LOAD(s->wanted) & RINGSIDE_RUNNING);
    if (RINGSIDE_LOAD(s->state) & RINGSIDE_FULL)
        refuse_event(m, i);
    return RINGSIDE_LOAD(s->state) & RINGSIDE_RUNNING;
}

// Returns whether the filter leaves out a user event type.
INLINE bool filtered(const struct ringside_stream *s, uint32_t id)
{
    uint32_t user = id - POSIX_TRACE_UNNAMED_USEREVENT;
    return RINGSIDE_LOAD(s->filter[1 + user / 32]) >> (user % 32) & 1;
}

// Returns whether a user event counts as lost if it is not recorded.
INLINE bool loses(const struct ringside_stream *s, uint32_t id)
{
    return RINGSIDE_LOAD(s->state) & (RINGSIDE_RUNNING | RINGSIDE_FULL) && !filtered(s, id);
}

// Notes a loss if the critical section could not be entered.
static SLOW void miss(struct ringside_memory *m, unsigned i, uint32_t id)
{
    ringside_port_note(&m->streams[i], i, RINGSIDE_REFUSES);
    if (loses(&m->streams[i], id))
        ringside_port_miss(m, i);
}

// Records an event in the general case: data are truncated if they are too long, the record may
// pass the ring's end, and the stream may have to be stopped or started before.
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

// Records an event in the most frequent case, without a function call: nothing is truncated, the
// record does not reach the ring's end, and the stream runs. Everything else goes to record_any.
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

// Returns whether a record is still open: its writer was interrupted, and will store into the ring.
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

// Empties the stream. Positions continue, so that a reader can never take a new record for an old
// one; counts begin at 0. The generation changes first: a reader that finds the same generation
// before and after its reads has read one set of counts.
static void empty(struct ringside_stream *s)
{
    ADD(s->generation, 1);
    ringside_port_barrier();
    RINGSIDE_STORE(s->tail, RINGSIDE_LOAD(s->head));
    RINGSIDE_STORE(s->recorded, 0);
    RINGSIDE_STORE(s->overwritten, 0);
    RINGSIDE_STORE(s->refused, 0);
    RINGSIDE_STORE(s->episodes, 0);
    RINGSIDE_STORE(s->episode_read, ~RINGSIDE_LOAD(s->read_pos)); // ends the episode
    RINGSIDE_STORE(s->loop_read, ~RINGSIDE_LOAD(s->read_pos));
    RINGSIDE_STORE(s->clears_done, RINGSIDE_LOAD(s->wanted_clears));
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// Binds a stream to a controller's settings. An event's data are limited so that START, one event
// and STOP fit into the ring together.
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

// Takes over the wanted filter, and records the event FILTER with the old and the new one.
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

// Carries out the request for one stream. The barrier after `request` makes the wanted words those
// that the controller wrote before it. Binding and clearing wait while a record is open: its writer
// still stores into the ring.
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

// Counts the events as lost that could not enter the critical section.
static void count_missed(struct ringside_memory *m, unsigned i)
{
    struct ringside_stream *s = &m->streams[i];
    uint32_t stamp[2], missed = ringside_port_take_missed(m, i, stamp);
    if (missed && RINGSIDE_LOAD(s->state))
        refuse_many(s, missed, stamp);
    if (missed)
        ringside_port_counted_missed(m, i);
}

// Carries out all requests, in the critical section, and computes `active`. The requests are read
// once more after `active` was stored, with a fence between: a controller stores its request before
// it sets all bits of `active`, so either this sees the request, or `active` keeps the controller's
// bits. A request that has to wait leaves all bits set, too.
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

// Enters the critical section and carries out all requests. Returns `active`.
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

// Returns the id of the event type of the standard with this name; 0: none.
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

// Compares a name with that of a slot, whose bytes a controller may be changing.
static bool same_name(const char *slot, const char *name)
{
    unsigned k = 0;
    while (k < RINGSIDE_TRACE_NAME_BYTES && slot[k] == name[k] && name[k])
        k++;
    return k < RINGSIDE_TRACE_NAME_BYTES && slot[k] == name[k];
}

// Returns the slot among [from, to) that holds a name, or `to`.
static uint32_t find_name(struct ringside_memory *m, const char *name, uint32_t from, uint32_t to)
{
    while (from < to && !same_name(m->names[from], name))
        from++;
    return from;
}

// Adds a name that is not among the first `seen`, in the critical section, unless it was added in
// the meantime. Names of the target grow from slot 0 up, names that a controller claims grow from
// the last slot down. Returns the slot; 0, that of unnamed events, if the table is full. The
// barrier makes the name visible before it counts.
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

// Returns an offset in the recorder's memory: blocks refer to each other by these, so that a copy
// of the memory at any address can be read.
static uint32_t offset_in(const struct ringside_memory *m, const void *part)
{
    return (uint32_t)((const char *)part - (const char *)m);
}

// Initializes a stream's block as unbound.
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

// Initializes the memory, which is zero or was initialized before. The magic word is removed first
// and stored last, so that a reader never finds a block that is half initialized.
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

// Records an event after a controller's requests were carried out.
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
// Not inlined: the return address identifies the call.
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

// Makes a request as a controller does, and carries it out.
static void request_state(uint32_t wanted)
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
    request_state(RINGSIDE_BOUND | RINGSIDE_RUNNING);
}

void ringside_trace_stop(void)
{
    request_state(RINGSIDE_BOUND);
}

void ringside_trace_poll(void)
{
    if (RINGSIDE_LOAD(ringside_posix.process.active) == (uint32_t)ALL)
        (void)attend_all(&ringside_posix);
}
#else
#include "linux_core.h"
#endif
