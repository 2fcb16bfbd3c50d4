// SPDX-License-Identifier: MIT
// unit: time: masks, directions, wraps, counters, a modulus that is not a power of two, and clocks
// that step back.
//
// Truth: computation by hand from the timestamps.
#include "tests/unit/ring_builder.h"

enum { MAX_STAMPS = 40, TURNING_STAMPS = 256 };

#define UP      EXTRACT_CLOCK_UP
#define DOWN    EXTRACT_CLOCK_DOWN
#define NONE    EXTRACT_CLOCK_NONE
#define TURN_32 (UINT64_C(1) << 32)

static struct ring_image image;
static struct look look;

static const struct extract_event *events_of(unsigned word_bytes, uint64_t mask,
                                             const uint64_t *stamps, unsigned count)
{
    struct ring_spec spec = ring_plain;
    size_t shown;
    spec.word_bytes = word_bytes;
    spec.mask = mask;
    spec.entries = count + 1; // one stays unused, so the ring has not wrapped
    ring_build(&image, &spec);
    for (unsigned i = 0; i < count; i++)
        ring_insert(&image,
                    &(struct ring_entry){.thread = 0x20004000, .id = 88, .stamp = stamps[i]});
    look_open(&look, &image);
    const struct extract_event *events = look_events(&look, &shown);
    assert_int_equal(shown, count);
    return events;
}

struct clock_case {
    unsigned word_bytes, count;
    uint64_t mask;
    enum extract_direction direction;
    uint64_t modulus; // 0: 2^64
    uint64_t stamps[8], ticks[8];
};

static const struct clock_case cases[] = {
    // The clock counts up, without and with a wrap.
    {4, 3, 0xFFFFFFFF, UP, TURN_32, {10, 20, 50}, {0, 10, 40}},
    {4, 4, 0xFFFFFFFF, UP, TURN_32, {0xFFFFFF00, 0xFFFFFFF0, 0x10, 0x30}, {0, 0xF0, 0x110, 0x130}},
    // The clock counts down, without and with a wrap.
    {4, 3, 0xFFFFFFFF, DOWN, TURN_32, {50, 20, 10}, {0, 30, 40}},
    {4, 4, 0xFFFFFFFF, DOWN, TURN_32, {0x30, 0x10, 0xFFFFFFF0, 0xFFFFFF00}, {0, 0x20, 0x40, 0x130}},
    // Bits outside of the mask have no meaning.
    {4,
     4,
     0xFFFF,
     UP,
     0x10000,
     {0xDEADFF10, 0xBEEFFF20, 0x12340005, 0x00000007},
     {0, 0x10, 0xF5, 0xF7}},
    {4,
     4,
     0xFFFFFF,
     DOWN,
     0x1000000,
     {0xFF000005, 0x00000003, 0x80FFFFFF, 0x01FFFFFE},
     {0, 2, 6, 7}},
    // The lowest bits of the mask are 0: the clock steps by 256.
    {4, 4, 0xFF00, UP, 0x10000, {0xFD11, 0xFE22, 0xFFFF, 0x0044}, {0, 0x100, 0x200, 0x300}},
    // The timestamps have 64 bits; in the second case, the mask has 40 bits.
    {8, 3, UINT64_MAX, UP, 0, {UINT64_MAX - 15, UINT64_MAX - 5, 4}, {0, 10, 20}},
    {8, 4, UINT64_MAX, DOWN, 0, {20, 10, 5, UINT64_MAX}, {0, 10, 15, 21}},
    {8,
     3,
     UINT64_C(0xFFFFFFFFFF),
     UP,
     UINT64_C(1) << 40,
     {UINT64_C(0xAAFFFFFFFFF0), UINT64_C(0xBBFFFFFFFFF8), UINT64_C(0xCC0000000000)},
     {0, 8, 16}},
    // The timestamp never changes.
    {4, 4, 0xFFFFFFFF, NONE, TURN_32, {0, 0, 0, 0}, {0, 0, 0, 0}},
    {4, 3, 0xFF, NONE, 0x100, {0x100, 0x200, 0x300}, {0, 0, 0}},
    {4, 1, 0xFFFFFFFF, NONE, TURN_32, {77}, {0}},
    // Neighbors with equal timestamps are zero ticks apart.
    {4, 4, 0xFFFFFFFF, UP, TURN_32, {5, 5, 9, 9}, {0, 0, 4, 4}},
    // The timestamps are nanoseconds of a second, whatever the mask is (the Linux port).
    {4, 4, 0xFFFFFFFF, UP, 1000000000, {999999000, 999999500, 200, 700}, {0, 500, 1200, 1700}},
    {4,
     7,
     0xFFFFFFFF,
     UP,
     1000000000,
     {400000000, 700000000, 900000000, 100000000, 500000000, 950000000, 50000000},
     {0, 300000000, 500000000, 700000000, 1100000000, 1550000000, 1650000000}},
    // The same clock with a pause in a debugger, which ends anywhere in a second. The first fall is
    // an ordinary step modulo 10^9, so that the second one is a wrap, too.
    {4,
     6,
     0xFFFFFFFF,
     UP,
     1000000000,
     {500000000, 900000000, 200000000, 900000000, 500000500, 703089973},
     {0, 400000000, 700000000, 1400000000, 2000000500, 2203089973}},
    // A 32-bit clock whose only wrap ends in a silence no longer than others.
    {4,
     4,
     0xFFFFFFFF,
     UP,
     TURN_32,
     {3000000000, 4200000000, 500000000, 700000000},
     {0, 1200000000, TURN_32 - 2500000000, TURN_32 - 2300000000}},
    // One timestamp is 10^9 or more, so this is a 32-bit counter that wrapped.
    {4,
     4,
     0xFFFFFFFF,
     UP,
     TURN_32,
     {999999000, 1000000000, 200, 700},
     {0, 1000, UINT64_C(4294967296) - 999999000 + 200, UINT64_C(4294967296) - 999999000 + 700}},
    // Any other mask is used as it is.
    {4,
     4,
     0x3FFFFFFF,
     UP,
     UINT64_C(1) << 30,
     {999999000, 999999500, 200, 700},
     {0, 500, 73742824 + 200, 73742824 + 700}},
};

static void check_case(const struct clock_case *c)
{
    const struct extract_event *events = events_of(c->word_bytes, c->mask, c->stamps, c->count);
    const struct extract_info *info = extract_trace_info(look.trace);
    assert_int_equal(info->clock.mask, c->mask);
    assert_int_equal(info->clock.direction, c->direction);
    assert_int_equal(info->clock.modulus, c->modulus);
    assert_false(info->clock.counts_events);
    assert_int_equal(info->span_ticks, c->ticks[c->count - 1]);
    for (unsigned i = 0; i < c->count; i++) {
        assert_int_equal(events[i].ticks, c->ticks[i]);
        assert_int_equal(events[i].raw_stamp, c->stamps[i]);
        assert_int_equal(events[i].flags, 0);
    }
    look_close(&look);
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
}

// A 16-bit counter wraps every 3.3 entries, 12 times in the ring.
static void check_many_wraps(uint64_t step)
{
    uint64_t stamps[MAX_STAMPS];
    for (unsigned i = 0; i < MAX_STAMPS; i++)
        stamps[i] = 0xABCD0000u | ((0x8000 + i * step) & 0xFFFF);
    const struct extract_event *events = events_of(4, 0xFFFF, stamps, MAX_STAMPS);
    for (unsigned i = 0; i < MAX_STAMPS; i++)
        assert_int_equal(events[i].ticks, 20000 * i);
    look_close(&look);
}

static void test_many_wraps(void **state)
{
    (void)state;
    check_many_wraps(20000);
    check_many_wraps(-(uint64_t)20000);
}

// A clock that steps by one at each of at least 8 events counts events, and not time.
static void test_counters(void **state)
{
    uint64_t up[9], down[9];
    (void)state;
    for (unsigned i = 0; i < 9; i++) {
        up[i] = 0xFFFFFFFC + i;
        down[i] = 4 - i;
    }
    for (unsigned count = 8; count <= 9; count++)
        for (unsigned turn = 0; turn < 2; turn++) {
            const struct extract_event *events = events_of(4, 0xFFFFFFFF, turn ? down : up, count);
            assert_int_equal(extract_trace_info(look.trace)->clock.counts_events, count == 9);
            assert_int_equal(events[7].ticks, 7);
            look_close(&look);
        }
    up[8]++;
    events_of(4, 0xFFFFFFFF, up, 9);
    assert_false(extract_trace_info(look.trace)->clock.counts_events);
    look_close(&look);
}

// Cores that share a ring may store out of order. A step of nearly a full clock period is a step
// back.
static void test_backwards(void **state)
{
    static const uint64_t up[] = {1000, 2000, 1990, 3000}, down[] = {9000, 8000, 8010, 7000};
    static const uint64_t ticks[] = {0, 1000, 990, 2000};
    (void)state;
    for (unsigned turn = 0; turn < 2; turn++) {
        const struct extract_event *events = events_of(4, 0xFFFFFFFF, turn ? down : up, 4);
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(events[i].ticks, ticks[i]);
            assert_int_equal(events[i].flags, i == 2 ? EXTRACT_FLAG_BACKWARDS : 0);
        }
        look_close(&look);
    }
}

// A single step back of a 32-bit clock is no evidence of where it wraps, be it as small as stores
// out of order, as one tick of 10 ms at 480 MHz that was read before its interrupt, or larger.
static void test_backwards_is_no_wrap(void **state)
{
    static const uint64_t backs[] = {4194303, 4194304, 4800000, 300000000};
    (void)state;
    for (unsigned i = 0; i < sizeof backs / sizeof *backs; i++) {
        const uint64_t stamps[] = {100000000, 500000000, 500000000 - backs[i], 600000000};
        const struct extract_event *events = events_of(4, 0xFFFFFFFF, stamps, 4);
        assert_int_equal(extract_trace_info(look.trace)->clock.modulus, TURN_32);
        assert_int_equal(extract_trace_info(look.trace)->steps_back, 1);
        assert_int_equal(events[2].ticks, 400000000 - backs[i]);
        assert_int_equal(events[2].flags, EXTRACT_FLAG_BACKWARDS);
        assert_int_equal(events[3].ticks, 500000000);
        look_close(&look);
    }
}

// A fall that as a wrap is a long silence, but to a place far from all others, is a wrap.
static void test_far_is_no_step_back(void **state)
{
    static const uint64_t stamps[] = {3000000000, 3000001000, 2900000000, 2900001000};
    (void)state;
    const struct extract_event *events = events_of(4, 0xFFFFFFFF, stamps, 4);
    assert_int_equal(events[2].ticks, TURN_32 - 100000000);
    assert_int_equal(events[2].flags, 0);
    look_close(&look);
}

// Time never goes below 0, the time of the oldest event, and an event after it has its true time.
static void test_backwards_at_the_start(void **state)
{
    static const uint64_t stamps[] = {1000, 990, 3000, 4000};
    (void)state;
    const struct extract_event *events = events_of(4, 0xFFFFFFFF, stamps, 4);
    assert_int_equal(events[1].ticks, 0);
    assert_int_equal(events[1].flags, EXTRACT_FLAG_BACKWARDS);
    assert_int_equal(events[2].ticks, 2000);
    assert_int_equal(events[3].ticks, 3000);
    look_close(&look);
}

// A step back of a narrow counter looks like a wrap, so it counts as a wrap.
static void test_narrow_is_never_backwards(void **state)
{
    static const uint64_t stamps[] = {1000, 2000, 1990, 3000};
    (void)state;
    const struct extract_event *events = events_of(4, 0xFFFF, stamps, 4);
    assert_int_equal(events[2].ticks, 1000 + 65526);
    assert_int_equal(events[2].flags, 0);
    look_close(&look);
}

// What the caller specifies overrides what the timestamps suggest.
static void test_options(void **state)
{
    static const uint64_t stamps[] = {900, 400, 300};
    struct extract_trace_options options = {
        .size = sizeof options, .modulus = 1000, .direction = EXTRACT_CLOCK_UP};
    struct extract_event events[3];
    struct extract_reader reader;
    struct extract_trace *trace;
    (void)state;
    events_of(4, 0xFFFFFFFF, stamps, 3);
    assert_int_equal(extract_trace_open(&trace, &look.snapshot, &options, NULL), EXTRACT_OK);
    extract_reader_init(&reader, trace);
    assert_int_equal(extract_reader_next(&reader, events, 3), 3);
    assert_int_equal(events[1].ticks, 500);
    assert_int_equal(events[2].ticks, 1400);
    assert_int_equal(extract_trace_info(trace)->clock.modulus, 1000);
    assert_int_equal(extract_trace_info(trace)->clock.direction, EXTRACT_CLOCK_UP);
    extract_trace_close(trace);
    look_close(&look);
}

// Fills in the timestamps of a clock that returns to `base` after 250000 ticks, with steps of up to
// `longest` ticks.
static void fill_turns(uint64_t *stamps, uint64_t base, uint64_t longest, bool is_down)
{
    uint64_t time = 0, random = 1;

    for (unsigned i = 0; i < TURNING_STAMPS; i++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        time += (random >> 33) % longest;
        stamps[i] = base + (is_down ? 249999 - time % 250000 : time % 250000);
    }
}

// A clock that turns within a small part of its mask is likely to have a period that is a round
// number: one that counts down, one up, one that is inverted, one of 32 bits. One that turned
// seldom, or in one part only, is not.
static void test_likely_modulus(void **state)
{
    static const struct {
        uint64_t mask, base, longest, likely;
        bool is_down;
    } clocks[] = {
        {0xFFFFFF, 0, 60000, 250000, true},
        {0xFFFFFF, 0, 60000, 250000, false},
        {0xFFFFFF, 0xFFFFFF - 249999, 60000, 250000, false},
        {0xFFFFFFFF, 0, 60000, 250000, false},
        {0xFFFFFFFF, 0, 6000, 0, false},
        {0x3FFFF, 0, 60000, 0, false},
    };
    uint64_t stamps[TURNING_STAMPS];
    (void)state;
    for (unsigned i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        fill_turns(stamps, clocks[i].base, clocks[i].longest, clocks[i].is_down);
        events_of(4, clocks[i].mask, stamps, TURNING_STAMPS);
        assert_int_equal(extract_trace_info(look.trace)->clock.likely_modulus, clocks[i].likely);
        look_close(&look);
    }
    for (unsigned i = 0; i < TURNING_STAMPS; i++)
        stamps[i] = i < TURNING_STAMPS / 2 ? 1000 * i : 100 * (1000 + i) - (i % 2 ? 90000 : 0);
    events_of(4, 0xFFFFFFFF, stamps, TURNING_STAMPS);
    assert_int_equal(extract_trace_info(look.trace)->clock.likely_modulus, 0);
    look_close(&look);
}

// A clock that turns from two to seven times does not show its period, but that it turns. Old
// entries among new ones are no turns: time soon goes forward by as much.
static void test_few_turns(void **state)
{
    static const struct {
        uint64_t mask;
        unsigned count, turns;
        bool is_down, has_old;
    } rows[] = {
        {0xFFFFFF, 80, 3, false, false},   {0xFFFFFF, 80, 3, true, false},
        {0xFFFFFFFF, 180, 7, true, false}, {0xFFFFFFFF, 180, 7, false, false},
        {0xFFFFFFFF, 60, 2, false, false}, {0xFFFFFFFF, 24, 0, false, true},
        {0xFFFFFF, 24, 0, false, true},    {0xFFFFFFFF, 30, 0, false, false},
    };
    uint64_t stamps[TURNING_STAMPS];
    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (unsigned k = 0; k < rows[i].count; k++) {
            uint64_t place = 10000 * (k + 1) % 250000;
            bool is_old = rows[i].has_old && k % 8 > 5;
            stamps[k] = rows[i].is_down ? 249999 - place : place - (is_old ? place - k : 0);
        }
        events_of(4, rows[i].mask, stamps, rows[i].count);
        const struct extract_clock *clock = &extract_trace_info(look.trace)->clock;
        assert_int_equal(clock->likely_modulus, 0);
        assert_int_equal(clock->turns, rows[i].turns);
        assert_true(!clock->turns || (clock->above >= 240000 && clock->above < 250000));
        look_close(&look);
    }
}

// A clock that turns once may as well step back there, unless it would have a period of a power of
// two. Both are possible only if it comes from one end of its period to the other. A step back in
// another place is none, and so is an old entry, or a wrap of all bits.
static void test_one_turn(void **state)
{
    enum { COUNT = 120, TURN = 60, STEP = 10000 };
    static const struct {
        uint64_t mask, first, period; // 0: the clock does not wrap
        uint64_t back;                // it is set back by so many ticks at TURN
        bool is_down, is_old;         // only one entry is older
        uint64_t likely, fall, steps_back;
    } rows[] = {
        {0xFFFFFFFF, 16200000, 1 << 24, 0, false, false, 1 << 24, 0, 0},
        {0xFFFFFFFF, 590000, 1 << 24, 0, true, false, 1 << 24, 0, 0},
        {0xFFFFFFFF, 16200000, 20000000, 0, false, false, 0, 0, 0}, // does not reach its end
        {0xFFFFFFFF, 9400000, 10000000, 0, false, false, 0, 9990000, 0},
        {0xFFFFFFFF, 500000, 1000000, 0, false, false, 0, 990000, 1},
        {0xFFFFFFFF, 505000, 1000000, 0, true, false, 0, 990000, 1},
        {0xFFFFFFFF, 5000000, 0, 1000000, false, true, 0, 0, 1},
        {0xFFFFFFFF, 5000000, 0, 1000000, false, false, 0, 0, 1},
        {0xFFFFFFFF, 50000000, 0, 9000000, false, false, 0, 8990000, 0},
        {0xFFFFFFFF, 0xFFFFFFFF - 600000, UINT64_C(1) << 32, 0, false, false, 0, 0, 0},
        {0xFFFFFF, 16200000, 1 << 24, 0, false, false, 0, 0, 0},
        {0xFFFFFF, 500000, 1000000, 0, false, false, 0, 990000, 0},
    };
    uint64_t stamps[COUNT];
    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (unsigned k = 0; k < COUNT; k++) {
            uint64_t back = rows[i].is_old ? k == TURN : k >= TURN, time = (uint64_t)STEP * k;
            uint64_t place = rows[i].is_down ? rows[i].first + rows[i].period - time
                                             : rows[i].first + time - back * rows[i].back;
            stamps[k] = rows[i].period ? place % rows[i].period : place;
        }
        events_of(4, rows[i].mask, stamps, COUNT);
        const struct extract_info *info = extract_trace_info(look.trace);
        assert_int_equal(info->clock.likely_modulus, rows[i].likely);
        assert_int_equal(info->clock.turns, 0);
        assert_int_equal(info->clock.fall, rows[i].fall);
        assert_int_equal(info->steps_back, rows[i].steps_back);
        look_close(&look);
    }
}

// The span of a trace reaches to the latest event, also if older entries follow.
static void test_span_with_old_entries(void **state)
{
    static const uint64_t stamps[] = {1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 5500};
    (void)state;
    events_of(4, 0xFFFFFFFF, stamps, sizeof stamps / sizeof *stamps);
    assert_int_equal(extract_trace_info(look.trace)->span_ticks, 8000);
    look_close(&look);
}

// A clock stands still if all timestamps of several entries are equal.
static void test_still(void **state)
{
    uint64_t stamps[TURNING_STAMPS];
    (void)state;
    for (unsigned i = 0; i < TURNING_STAMPS; i++)
        stamps[i] = 0x1234;
    for (unsigned kind = 0; kind < 3; kind++) {
        events_of(4, 0xFFFFFFFF, stamps, kind ? TURNING_STAMPS : 1);
        assert_int_equal(extract_trace_info(look.trace)->clock.is_still, kind == 1);
        look_close(&look);
        stamps[kind == 1 ? TURNING_STAMPS - 1 : 0] += kind;
    }
}

// The period is a rounder number than the largest timestamp, if one is near.
static void test_round_modulus(void **state)
{
    static const uint64_t clocks[][3] = {
        // period, largest timestamp, likely period
        {10000, 9890, 10000},
        {48000, 47900, 48000},
        {25000, 24700, 25000},
        {10000, 9990, 10000},
        {10000, 9800, 10000},
        {9800, 9799, 9800},
        // Counters of 16 and 24 bits, and periods that are near a power of two.
        {65536, 65535, 65536},
        {65536, 65001, 65536},
        {65536, 64900, 65536},
        {64000, 63999, 64000},
        {131072, 130500, 131072},
        {1024, 1023, 1024},
        {1000, 999, 1000},
        {UINT64_C(1) << 24, 0xFFFFFF, UINT64_C(1) << 24},
        {UINT64_C(1) << 24, 16300001, UINT64_C(1) << 24},
        {16000000, 15999999, 16000000},
    };
    uint64_t stamps[TURNING_STAMPS];
    (void)state;
    for (unsigned i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        for (unsigned k = 0; k < TURNING_STAMPS; k++) {
            uint64_t stamp = clocks[i][0] / 23 * k % clocks[i][0];
            stamps[k] = stamp < clocks[i][1] ? stamp : clocks[i][1];
        }
        stamps[22] = clocks[i][1];
        events_of(4, 0xFFFFFFFF, stamps, TURNING_STAMPS);
        assert_int_equal(extract_trace_info(look.trace)->clock.likely_modulus, clocks[i][2]);
        look_close(&look);
    }
}

// A period of the user must be above the span of the timestamps, not above each of them.
static void test_modulus_above_span(void **state)
{
    struct extract_trace_options options = {.size = sizeof options, .modulus = 250000};
    uint64_t stamps[TURNING_STAMPS];
    struct extract_trace *trace;
    (void)state;
    fill_turns(stamps, 0xFFFFFF - 249999, 60000, false);
    events_of(4, 0xFFFFFF, stamps, TURNING_STAMPS);
    assert_int_equal(extract_trace_open(&trace, &look.snapshot, &options, NULL), EXTRACT_OK);
    assert_int_equal(extract_trace_info(trace)->clock.likely_modulus, 0);
    assert_int_equal(extract_trace_info(trace)->steps_back, 0);
    extract_trace_close(trace);
    options.modulus = 100000;
    assert_int_equal(extract_trace_open(&trace, &look.snapshot, &options, NULL), EXTRACT_USAGE);
    look_close(&look);
}

// Reading events one by one, or from a saved position, gives the same result as one call.
static void test_reader_places(void **state)
{
    uint64_t stamps[MAX_STAMPS];
    struct extract_reader reader, place;
    struct extract_event one, again;
    (void)state;
    for (unsigned i = 0; i < MAX_STAMPS; i++)
        stamps[i] = 0xFFFFFFE0 + i * i;
    events_of(4, 0xFFFFFFFF, stamps, MAX_STAMPS);
    extract_reader_init(&reader, look.trace);
    for (unsigned i = 0; i < MAX_STAMPS; i++) {
        place = reader;
        assert_int_equal(extract_reader_next(&reader, &one, 1), 1);
        assert_int_equal(extract_reader_next(&place, &again, 1), 1);
        assert_int_equal(one.seq, i);
        assert_int_equal(one.ticks, i * i);
        assert_int_equal(again.ticks, one.ticks);
    }
    assert_int_equal(extract_reader_next(&reader, &one, 1), 0);
    look_close(&look);
}

// ---- hidden periods ----

enum { TICKS = 24, PERIOD = 1000, ENTER = 3, EXIT = 4 };

// What makes the traces below: `number` enters after each period, and `second` after each entry at
// once, if it is not 0.
struct ticking {
    unsigned number, second;
    bool is_known; // the hidden periods can be known
};

static uint64_t add_at(uint64_t time, uint64_t id, uint64_t number)
{
    ring_insert(&image, &(struct ring_entry){.thread = RING_IN_ISR,
                                             .priority = 0x20004000,
                                             .id = id,
                                             .stamp = time % PERIOD,
                                             .info = {0, number, number, 0}});
    return time;
}

// Adds the entries and exits of all ticks, and returns how many there are; `times` gets their true
// times. An entry that is late by more than the one before follows a silence longer than a period:
// 20 ticks pass from an entry to its exit, so that 30 are enough.
static unsigned add_ticks(const struct ticking *ticking, uint64_t *times)
{
    static const unsigned late[TICKS] = {0, 30, 30, 0,  10, 390, 0, 0, 30, 0, 0,  0,
                                         5, 35, 0,  20, 5,  0,   0, 0, 30, 0, 30, 0};
    unsigned count = 0;

    for (unsigned i = 0; i < TICKS; i++) {
        uint64_t time = 100 + (uint64_t)PERIOD * i + late[i];
        times[count++] = add_at(time, ENTER, ticking->number + (ticking->is_known ? 0 : i % 2));
        times[count++] = add_at(time + 20, EXIT, ticking->number);
        if (!ticking->second)
            continue;
        times[count++] = add_at(time + 20, ENTER, ticking->second);
        times[count++] = add_at(time + 20, EXIT, ticking->second);
    }
    return count;
}

// A clock of the length of the tick, such as SysTick's: the entries of the tick's interrupt show
// silences that are longer. Without one interrupt that enters in each period, times are minima.
static void test_hidden_periods(void **state)
{
    static const struct ticking rows[] = {{15, 0, true}, {15, 7, true}, {15, 0, false}};
    const struct extract_trace_options options = {
        .size = sizeof options, .modulus = PERIOD, .direction = EXTRACT_CLOCK_UP};
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ring_spec spec = ring_plain;
        uint64_t times[4 * TICKS];
        size_t shown;
        spec.entries = 4 * TICKS + 1;
        spec.mask = 0xFFFF;
        ring_build(&image, &spec);
        unsigned count = add_ticks(&rows[i], times);
        look_open(&look, &image);
        extract_trace_close(look.trace);
        assert_int_equal(extract_trace_open(&look.trace, &look.snapshot, &options, NULL),
                         EXTRACT_OK);
        const struct extract_info *info = extract_trace_info(look.trace);
        const struct extract_event *events = look_events(&look, &shown);
        assert_int_equal(shown, count);
        assert_int_equal(info->may_hide_periods, !rows[i].is_known);
        assert_int_equal(info->hidden_periods, rows[i].is_known ? 7 : 0);
        for (unsigned k = 0; k < count && rows[i].is_known; k++)
            assert_int_equal(events[k].ticks, times[k] - times[0]);
        assert_true(rows[i].is_known || info->span_ticks < times[count - 1] - times[0]);
        look_close(&look);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_many_wraps),
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_backwards),
        cmocka_unit_test(test_backwards_is_no_wrap),
        cmocka_unit_test(test_far_is_no_step_back),
        cmocka_unit_test(test_backwards_at_the_start),
        cmocka_unit_test(test_narrow_is_never_backwards),
        cmocka_unit_test(test_likely_modulus),
        cmocka_unit_test(test_few_turns),
        cmocka_unit_test(test_one_turn),
        cmocka_unit_test(test_span_with_old_entries),
        cmocka_unit_test(test_round_modulus),
        cmocka_unit_test(test_still),
        cmocka_unit_test(test_modulus_above_span),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_reader_places),
        cmocka_unit_test(test_hidden_periods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
