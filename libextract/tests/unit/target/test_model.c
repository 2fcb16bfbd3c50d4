// SPDX-License-Identifier: MIT
// unit: the recorder's protocol, checked over every interleaving of memory accesses on a small
// ring. A thread records two events. Two interrupts come at any access, nested or one after the
// other. A reader on another bus master may pause before each of its loads. Positions pass 2^32. A
// controller makes a request at any access.
//
// The reader follows docs/formats/posix-ring.md and makes one load per step. The test keeps a set
// of the reader's states. After each store, the states that were about to load that word make one
// more step, and run on from there. So the set contains each state that any interleaving reaches.
#define RINGSIDE_TRACE_STREAMS 1
#define RINGSIDE_TRACE_WORDS   64
#define RINGSIDE_TRACE_PORT    "tests/unit/target/model_port.h"
#include "target/ringside_trace.c"

#include "tests/unit/target/ring_reader.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
// clang-format off
#include <cmocka.h>
// clang-format on

enum {
    RING = 64,
    NEVER = 10000,
    STATES = 1 << 16,
    TRUTHS = 64,
    LONGEST_RECORD = 16,
    STORES = 2000
};

// ---- the plan of a run ----

// The controller's request. It consists of three stores, one at each access from `ask_at` on.
enum ask { NOTHING, TO_STOP, TO_START, TO_FILTER, TO_CLEAR, ASKS };
enum { ASK_STORES = 3, FILTERED = 41 };

static struct {
    unsigned first, second; // unmasked accesses at which the interrupts come
    unsigned acknowledge;   // access at which read_pos is stored
    unsigned bytes;         // bytes of data per event
    unsigned burst;         // events of the first interrupt
    uint32_t read_pos;
    uint32_t origin; // the first position
    enum ask ask;
    unsigned ask_at, asked;
    unsigned unmasked, accesses;
    bool recording;
} plan;

// The stores of a run, and the records that they made.
static struct {
    uint32_t *word[STORES], value[STORES];
    unsigned count;
} stores;
static struct {
    uint32_t position, words[LONGEST_RECORD], length;
} truths[TRUTHS];
static unsigned truth_count, calls;

// For each call: `before` if it ended before the request, `after` if it began when that was carried
// out.
static struct {
    uint32_t who;
    bool before, after;
} made[TRUTHS];
static unsigned generations;
static uint32_t cleared_at;

static void user_event(uint32_t who)
{
    const struct ringside_stream *s = &ringside_posix.streams[0];
    const uint32_t data[2] = {calls | who << 16, ~(calls | who << 16)};
    unsigned call = calls++;
    assert_true(call < TRUTHS);
    made[call].who = who;
    made[call].after = plan.asked == ASK_STORES && s->request == s->request_done;
    model_clock++;
    posix_trace_event(40 + who, data, plan.bytes);
    made[call].before = plan.asked == 0;
}

static void controller_store(void)
{
    struct ringside_stream *s = &ringside_posix.streams[0];
    switch (plan.asked++) {
    case 0:
        s->wanted = plan.ask == TO_STOP ? RINGSIDE_BOUND : RINGSIDE_BOUND | RINGSIDE_RUNNING;
        s->wanted_clears += plan.ask == TO_CLEAR;
        if (plan.ask == TO_FILTER)
            s->wanted_filter[FILTERED / 32] |= UINT32_C(1) << FILTERED % 32;
        break;
    case 1:
        s->request++;
        break;
    default:
        ringside_posix.process.active = UINT32_MAX;
    }
}

static void interrupt(uint32_t number)
{
    uint32_t before = model_interrupt;
    model_interrupt = number;
    for (unsigned k = 0; k < (number == 1 ? plan.burst : 1); k++)
        user_event(number);
    model_interrupt = before;
}

static void model_access(void)
{
    if (!plan.recording)
        return;
    if (plan.accesses++ == plan.acknowledge)
        ringside_posix.streams[0].read_pos = plan.read_pos;
    if (plan.ask && plan.accesses > plan.ask_at && plan.asked < ASK_STORES)
        controller_store();
    if (model_masked)
        return;
    unsigned now = plan.unmasked++;
    if (now == plan.first)
        interrupt(1);
    if (now == plan.second)
        interrupt(2);
}

// Keeps the record at ring word `at`, which has just been marked done. `head` is at most one ring
// length after it.
static void remember_record(uint32_t at)
{
    struct ringside_stream *s = &ringside_posix.streams[0];
    uint32_t *ring = ringside_posix.rings[0], length = ring[at] >> 16 & 0xFFF;
    uint32_t back = (s->head - at) & (RING - 1);
    assert_true(truth_count < TRUTHS && length <= LONGEST_RECORD);
    truths[truth_count].position = s->head - (back ? back : RING);
    truths[truth_count].length = length;
    for (uint32_t k = 0; k < length; k++)
        truths[truth_count].words[k] = ring[(at + k) & (RING - 1)];
    truth_count++;
}

static void model_stored(uint32_t *word, uint32_t before)
{
    uint32_t *ring = ringside_posix.rings[0];
    if (plan.recording) {
        assert_true(stores.count < STORES);
        stores.word[stores.count] = word;
        stores.value[stores.count++] = *word;
    }
    if (word == &ringside_posix.streams[0].generation) {
        generations++;
        cleared_at = ringside_posix.streams[0].head;
    }
    if (word >= ring && word < ring + RING && before >> 30 == 1 && *word == before + (1u << 30))
        remember_record((uint32_t)(word - ring));
}

// ---- the writer's side of a run ----

static void request(uint32_t wanted)
{
    struct ringside_stream *s = &ringside_posix.streams[0];
    s->wanted = wanted;
    s->request++;
    ringside_posix.process.active = UINT32_MAX;
    ringside_trace_poll();
}

// Runs a stream with `filled` events in it, then records two more with interrupts among them.
// `before` receives the memory as it was before these two. The controller's request is complete at
// the end.
static void run_writer(int policy, unsigned filled, struct ringside_memory *before)
{
    struct ringside_stream *s = &ringside_posix.streams[0];
    memset(&ringside_posix, 0, sizeof ringside_posix);
    plan.recording = false;
    truth_count = stores.count = calls = plan.asked = 0;
    ringside_trace_init();
    s->head = s->tail = s->read_pos = plan.origin;
    s->wanted_policy = (uint32_t)policy;
    s->wanted_max_data = 64;
    request(RINGSIDE_BOUND | RINGSIDE_RUNNING);
    for (unsigned k = 0; k < filled; k++)
        user_event(0);
    if (plan.ask == TO_START)
        request(RINGSIDE_BOUND);
    plan.read_pos = s->head;
    generations = 0;
    if (before)
        *before = ringside_posix;
    plan.unmasked = plan.accesses = 0;
    plan.recording = true;
    user_event(0);
    user_event(0);
    plan.recording = false;
    while (plan.asked && plan.asked < ASK_STORES)
        controller_store();
    ringside_trace_poll();
}

static const void *truth_of(uint32_t position, uint32_t *length)
{
    for (unsigned k = 0; k < truth_count; k++)
        if (truths[k].position == position) {
            *length = truths[k].length;
            return truths[k].words;
        }
    return NULL;
}

// A user record's words: the address, thread and stamp are in words 2 to 6, the data in 7 and 8.
static void check_user_record(const uint32_t *words, bool *recorded)
{
    uint32_t who = (words[1] & 0xFFFF) - 40, call = words[7] & 0xFFFF;
    assert_int_equal(words[1] >> 16, plan.bytes);
    assert_int_equal(words[4], who ? who : 0x7000);
    assert_int_equal(words[0] >> 29 & 1, who != 0);
    if (!plan.bytes)
        return;
    assert_int_equal(words[7] >> 16, who);
    assert_int_equal(words[8], ~words[7]);
    assert_true(call < calls && !recorded[call]);
    recorded[call] = true;
}

// Checks that the records are those of the calls, and that the counters report every loss.
static void check_counts(void)
{
    struct ringside_stream *s = &ringside_posix.streams[0];
    unsigned user = 0, gone = 0, gone_unread = 0;
    bool recorded[TRUTHS] = {false};
    for (unsigned k = 0; k < truth_count; k++) {
        bool dropped = (int32_t)(truths[k].position - s->tail) < 0;
        gone += dropped;
        gone_unread += dropped && (int32_t)(truths[k].position - s->read_pos) >= 0;
        if ((truths[k].words[1] & 0xFFFF) < 40)
            continue;
        user++;
        check_user_record(truths[k].words, recorded);
    }
    assert_int_equal(s->recorded, truth_count);
    assert_int_equal(user + s->refused, calls);
    assert_true(s->overwritten <= gone && s->overwritten >= gone_unread);
}

// ---- the reader ----

// The ways to read: oldest first; newest first, by the last words of records; and oldest first
// without checking the positions in first words. Those 16 bits repeat after 65,536 words.
enum way { OLDEST_FIRST, NEWEST_FIRST, UNTAGGED, WAYS };

enum pc { GENERATION, HEAD, TAIL, BY_TRAILER, FIRST, WORD, TAIL_AGAIN, GENERATION_AGAIN, END };

struct reader {
    uint32_t pc, way;
    uint32_t generation, head, tail, at, k, length, torn;
    uint32_t worst, any_torn, records; // worst: position of the newest torn record
};

static struct {
    struct reader state[STATES];
    size_t waits[STATES]; // byte offset of the word that the state loads next
    uint32_t hash[2 * STATES];
    unsigned count;
} set;
static struct ringside_memory memory; // the reader's view
static unsigned long careless, most_states, passes;

static uint32_t *ring_word_at(uint32_t position)
{
    return &memory.rings[0][position & (RING - 1)];
}

static uint32_t *next_word(const struct reader *r)
{
    struct ringside_stream *s = &memory.streams[0];
    switch ((enum pc)r->pc) {
    case GENERATION:
    case GENERATION_AGAIN:
        return &s->generation;
    case HEAD:
        return &s->head;
    case TAIL:
    case TAIL_AGAIN:
        return &s->tail;
    case BY_TRAILER:
        return ring_word_at(r->at - 1);
    case FIRST:
        return ring_word_at(r->at);
    default:
        return ring_word_at(r->at + r->k);
    }
}

// Moves to the next record, in either direction. The words of the stream block limit the records.
static void go_on(struct reader *r)
{
    uint32_t end = r->way == NEWEST_FIRST ? r->tail : r->head;
    r->k = r->torn = 0;
    r->pc = r->at == end ? TAIL_AGAIN : r->way == NEWEST_FIRST ? BY_TRAILER : FIRST;
}

static void begin_records(struct reader *r, uint32_t tail)
{
    r->tail = tail;
    r->at = r->way == NEWEST_FIRST ? r->head : tail;
    r->pc = r->head - tail > RING ? END : TAIL_AGAIN; // the tail overtook the head: the pass ends
    if (r->pc != END)
        go_on(r);
}

static void take_trailer(struct reader *r, uint32_t word)
{
    uint32_t length = word >> 16 & 0xFFF;
    if (word >> 28 != 0xA || length < OVERHEAD || length > r->at - r->tail ||
        (word & 0xFFFF) != ((r->at - length) & 0xFFFF)) {
        r->pc = TAIL_AGAIN;
        return;
    }
    r->at -= length;
    r->pc = FIRST;
}

static void take_first(struct reader *r, uint32_t word)
{
    uint32_t length = word >> 16 & 0xFFF, true_length = 0;
    const uint32_t *truth = truth_of(r->at, &true_length);
    if (word >> 30 != 2 || length < OVERHEAD || length > r->head - r->at ||
        (r->way != UNTAGGED && (word & 0xFFFF) != (r->at & 0xFFFF))) {
        r->pc = TAIL_AGAIN; // open or overwritten
        return;
    }
    r->length = length;
    r->torn = !truth || true_length != length || truth[0] != word;
    r->k = 1;
    r->pc = WORD;
}

static void take_word(struct reader *r, uint32_t word)
{
    uint32_t true_length = 0;
    const uint32_t *truth = truth_of(r->at, &true_length);
    r->torn |= !truth || r->k >= true_length || truth[r->k] != word;
    if (++r->k < r->length)
        return;
    r->records++;
    if (r->torn && (!r->any_torn || (int32_t)(r->at - r->worst) > 0)) {
        r->any_torn = 1;
        r->worst = r->at;
    }
    if (r->way != NEWEST_FIRST)
        r->at += r->length;
    go_on(r);
}

static void step(struct reader *r)
{
    uint32_t word = *next_word(r);
    switch ((enum pc)r->pc) {
    case GENERATION:
        r->generation = word;
        r->pc = HEAD;
        break;
    case HEAD:
        r->head = word;
        r->pc = TAIL;
        break;
    case TAIL:
        begin_records(r, word);
        break;
    case BY_TRAILER:
        take_trailer(r, word);
        break;
    case FIRST:
        take_first(r, word);
        break;
    case WORD:
        take_word(r, word);
        break;
    case TAIL_AGAIN:
        careless += r->any_torn;
        passes++;
        assert_false(r->any_torn && (int32_t)(r->worst - word) >= 0);
        r->pc = GENERATION_AGAIN;
        break;
    default:
        assert_true(word == r->generation || plan.ask == TO_CLEAR); // the reader then starts again
        r->pc = END;
    }
}

// Adds a state to the set. Returns whether it is new.
static bool add_state(const struct reader *r)
{
    const uint32_t *words = (const uint32_t *)r;
    uint32_t h = 0, at;
    for (size_t k = 0; k < sizeof *r / 4; k++)
        h = (h ^ words[k]) * 2654435761u, h ^= h >> 15;
    for (at = h % (2 * STATES); set.hash[at]; at = (at + 1) % (2 * STATES))
        if (!memcmp(&set.state[set.hash[at] - 1], r, sizeof *r))
            return false;
    assert_true(set.count < STATES);
    set.state[set.count] = *r;
    set.waits[set.count] = (size_t)((char *)next_word(r) - (char *)&memory);
    set.hash[at] = ++set.count;
    return true;
}

static void run_on(struct reader r)
{
    while (r.pc != END && add_state(&r))
        step(&r);
}

// Makes every pass that a reader can make while the stores change the memory from `before` on.
static void read_every_way(const struct ringside_memory *before, uint32_t way)
{
    memory = *before;
    set.count = 0;
    memset(set.hash, 0, sizeof set.hash);
    run_on((struct reader){.pc = GENERATION, .way = way});
    for (unsigned n = 0; n < stores.count; n++) {
        size_t offset = (size_t)((char *)stores.word[n] - (char *)&ringside_posix);
        unsigned count = set.count;
        memcpy((char *)&memory + offset, &stores.value[n], 4);
        for (unsigned k = 0; k < count; k++)
            if (set.waits[k] == offset) {
                struct reader r = set.state[k];
                step(&r);
                run_on(r);
            }
    }
    most_states = set.count > most_states ? set.count : most_states;
}

// A pass over memory that nobody changes finds all of its records.
static void read_at_rest(uint32_t way)
{
    struct reader r = {.pc = GENERATION, .way = way};
    unsigned there = 0;
    memory = ringside_posix;
    while (r.pc != END)
        step(&r);
    for (unsigned k = 0; k < truth_count; k++)
        there += (int32_t)(truths[k].position - memory.streams[0].tail) >= 0;
    assert_int_equal(r.records, there);
}

// ---- all of them ----

// Checks one call against the request. `is_recorded` tells whether the call's event was recorded.
static void check_call(unsigned call, bool is_recorded)
{
    bool before = made[call].before, after = made[call].after, must = true, may = true;
    if (plan.ask == TO_STOP || (plan.ask == TO_FILTER && made[call].who == FILTERED - 40))
        must = before, may = !after;
    if (plan.ask == TO_START) // events that filled the ring came before the stop
        must = after || is_recorded, may = !before || is_recorded;
    assert_true(is_recorded ? may : !must || plan.burst > 1);
}

// Checks that the request was carried out exactly once. It applies to each call that began after
// it, and to none that ended before it. Without a burst, nothing is refused: there is space for
// open records.
static void check_asked(void)
{
    struct ringside_stream *s = &ringside_posix.streams[0];
    bool recorded[TRUTHS] = {false};
    static const uint32_t record_of[ASKS] = {0, POSIX_TRACE_STOP, POSIX_TRACE_START,
                                             POSIX_TRACE_FILTER, 0};
    unsigned kept = 0, of_request = 0;
    bool asked = plan.asked;
    for (unsigned k = 0; k < truth_count; k++) {
        uint32_t id = truths[k].words[1] & 0xFFFF;
        kept += (int32_t)(truths[k].position - (generations ? cleared_at : plan.origin)) >= 0;
        if (id >= 40)
            check_user_record(truths[k].words, recorded);
        else
            of_request += id == record_of[plan.ask];
    }
    for (unsigned call = 0; call < calls; call++)
        check_call(call, recorded[call]);
    assert_int_equal(s->request, s->request_done);
    assert_int_equal(s->state, plan.ask == (asked ? TO_STOP : TO_START) ? 1 : 3);
    assert_int_equal(ringside_posix.process.active, s->state >> 1);
    assert_int_equal(s->recorded, kept);
    assert_true(s->refused == 0 || plan.burst > 1);
    assert_int_equal(generations, plan.ask == TO_CLEAR && asked);
    assert_int_equal(of_request, plan.ask == TO_CLEAR ? 0 : asked + (plan.ask == TO_START));
}

// Runs all plans, up to the one whose interrupts come after all accesses.
static void every_run(int policy, unsigned filled)
{
    struct ringside_memory before;
    unsigned points = 1;
    for (unsigned first = 0; first <= points; first++)
        for (unsigned second = 0; second <= points; second++) {
            plan.first = first;
            plan.second = second;
            run_writer(policy, filled, &before);
            points = plan.unmasked > points ? plan.unmasked : points;
            check_counts();
            for (uint32_t way = 0; way < WAYS; way++) {
                read_every_way(&before, way);
                read_at_rest(way);
            }
        }
}

static void every_interleaving(int policy)
{
    careless = most_states = passes = 0;
    plan.acknowledge = NEVER;
    plan.burst = 1;
    plan.bytes = 8;
    for (unsigned filled = 0; filled < 14; filled++)
        every_run(policy, filled);
    plan.bytes = 0; // records then begin where those of the previous lap did
    for (unsigned filled = 6; filled < 10; filled++)
        every_run(policy, filled);
    plan.bytes = 8;
    plan.burst = 8; // more than the ring holds
    for (unsigned filled = 4; filled < 7; filled++)
        every_run(policy, filled);
    print_message("%lu passes, at most %lu states of a reader; believing tags alone: %lu wrong\n",
                  passes, most_states, careless);
}

static void test_loop(void **state)
{
    (void)state;
    every_interleaving(POSIX_TRACE_LOOP);
    assert_true(careless > 0); // proves that the check can fail
}

static void test_until_full(void **state)
{
    (void)state;
    every_interleaving(POSIX_TRACE_UNTIL_FULL);
}

// A reader acknowledges all earlier records, at any access. The counts stay correct.
static void test_acknowledging(void **state)
{
    (void)state;
    plan.burst = 1;
    plan.bytes = 8;
    for (int policy = POSIX_TRACE_LOOP; policy <= POSIX_TRACE_UNTIL_FULL; policy++)
        for (unsigned filled = 4; filled < 8; filled++)
            for (unsigned at = 0, accesses = 1; at < accesses; at++)
                for (unsigned first = 0; first < 14; first++)
                    for (unsigned second = 0; second < 14; second++) {
                        plan.first = first;
                        plan.second = second;
                        plan.acknowledge = at;
                        run_writer(policy, filled, NULL);
                        accesses = plan.accesses > accesses ? plan.accesses : accesses;
                        check_counts();
                    }
}

// Positions pass 2^32 at any point of the two events.
static void test_positions_wrap(void **state)
{
    (void)state;
    plan.acknowledge = NEVER;
    plan.burst = 1;
    plan.bytes = 8;
    for (int policy = POSIX_TRACE_LOOP; policy <= POSIX_TRACE_UNTIL_FULL; policy++)
        for (unsigned filled = 3; filled < 10; filled++) {
            plan.first = plan.second = NEVER;
            plan.origin = 0;
            run_writer(policy, filled, NULL);
            plan.origin = 0 - plan.read_pos - 7; // 2^32 is in the middle of the first one
            every_run(policy, filled);
        }
    plan.origin = 0;
}

static void every_request(unsigned filled)
{
    struct ringside_memory before;
    unsigned accesses = 1;
    for (plan.ask_at = 0; plan.ask_at <= accesses; plan.ask_at++)
        for (plan.first = 0; plan.first < 60; plan.first++) {
            run_writer(POSIX_TRACE_LOOP, filled, &before);
            accesses = plan.accesses > accesses ? plan.accesses : accesses;
            check_asked();
            read_every_way(&before, plan.first % WAYS);
            read_at_rest(OLDEST_FIRST);
        }
}

// The stores of a request come at any access, and an interrupt at any other.
static void test_requests(void **state)
{
    (void)state;
    plan.acknowledge = plan.second = NEVER;
    plan.burst = 1;
    plan.bytes = 8;
    for (plan.ask = TO_STOP; plan.ask < ASKS; plan.ask++)
        for (unsigned filled = 3; filled < 6; filled++)
            every_request(filled);
    plan.burst = 8; // overwrites what was cleared
    plan.ask = TO_CLEAR;
    every_request(3);
    plan.ask = NOTHING;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loop),          cmocka_unit_test(test_until_full),
        cmocka_unit_test(test_acknowledging), cmocka_unit_test(test_positions_wrap),
        cmocka_unit_test(test_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
