// SPDX-License-Identifier: MIT
// Tests the schedule of threads that use locks, by a role file: states, owners, wake-ups, and
// explanations. Truth: ringside-roles(5), and figures worked out by hand in the comments.
#include "tests/unit/hook/roles_builder.h"
#include "tests/unit/scratch.h"
#include <extract/report.h>
#include <extract/why.h>

static struct extract_error error;

enum { L = 0x1000, M = 0x2000, GET = 0x11200000, MISS, BUSY, WAITS, RELEASE = 0x11300000 };

static struct extract_state states[64];
static struct extract_ownership owners[16];
static struct extract_wake wakes[16];
static size_t state_count, owner_count, wake_count;

static void take_state(void *context, const struct extract_state *state)
{
    (void)context;
    assert_true(state_count < 64);
    states[state_count++] = *state;
}

static void take_owner(void *context, const struct extract_ownership *owner)
{
    (void)context;
    assert_true(owner_count < 16);
    owners[owner_count++] = *owner;
}

static void take_wake(void *context, const struct extract_wake *wake)
{
    (void)context;
    assert_true(wake_count < 16);
    wakes[wake_count++] = *wake;
}

static void derive(const struct look *look)
{
    const struct extract_schedule_sink sink = {
        .state = take_state, .owner = take_owner, .wake = take_wake};
    state_count = owner_count = wake_count = 0;
    assert_int_equal(extract_schedule_run(NULL, look->trace, &sink, &error), EXTRACT_OK);
}

static void assert_states(uint64_t thread, const struct extract_state *is, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < state_count; i++) {
        if (states[i].thread != thread)
            continue;
        assert_true(found < count);
        assert_int_equal(states[i].from, is[found].from);
        assert_int_equal(states[i].to, is[found].to);
        assert_int_equal(states[i].state, is[found].state);
        assert_int_equal(states[i].object, is[found].object);
        assert_int_equal(states[i].holder, is[found].holder);
        assert_true(!states[i].wait == !is[found].object);
        found++;
    }
    assert_int_equal(found, count);
}

static void assert_owners(const struct extract_ownership *is, size_t count)
{
    assert_int_equal(owner_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(owners[i].from, is[i].from);
        assert_int_equal(owners[i].to, is[i].to);
        assert_int_equal(owners[i].mutex, is[i].mutex);
        assert_int_equal(owners[i].thread, is[i].thread);
        assert_int_equal(owners[i].in_isr, is[i].in_isr);
        assert_int_equal(owners[i].isr_known, is[i].isr_known);
        assert_int_equal(owners[i].isr, is[i].isr);
        assert_int_equal(owners[i].core, is[i].core);
    }
}

static void assert_segments(const struct extract_why *why, const struct extract_segment *is,
                            size_t count)
{
    for (size_t i = 0; i < count && i < why->segment_count; i++) {
        const struct extract_segment *segment = &why->segments[i];
        assert_int_equal(segment->from, is[i].from);
        assert_int_equal(segment->to, is[i].to);
        assert_int_equal(segment->kind, is[i].kind);
        assert_int_equal(segment->who, is[i].who);
        assert_int_equal(segment->object, is[i].object);
        assert_int_equal(segment->depth, is[i].depth);
        assert_int_equal(segment->is_spinning, is[i].is_spinning);
        assert_int_equal(segment->is_cycle, is[i].is_cycle);
        assert_int_equal(segment->in_isr, is[i].in_isr);
        assert_int_equal(segment->by_isr, is[i].by_isr);
        assert_int_equal(segment->core, is[i].core);
        assert_int_equal(segment->has_who, is[i].has_who || is[i].who);
    }
    assert_int_equal(why->segment_count, count);
}

// Checks the arrows of the sequence chart.
static void assert_chart(const struct look *look, const char *expected)
{
    const struct extract_report_options options = {.size = sizeof options};
    struct extract_view *view;
    struct extract_text text;

    assert_int_equal(extract_view_new(&view, NULL, look->trace, 0, &error), EXTRACT_OK);
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_report_chart(&text, view, look->trace, true, &options, NULL, &error),
                     EXTRACT_OK);
    extract_text_putc(&text, 0);
    const char *arrows = strstr(text.data, ";\n\n");
    assert_string_equal(arrows ? arrows + 3 : text.data, expected);
    extract_text_free(&text);
    extract_view_free(view);
}

#define STATE(at, end, name)                                                                       \
    {                                                                                              \
        .from = at, .to = end, .state = EXTRACT_STATE_##name                                       \
    }
#define SPINS(at, end, lock)                                                                       \
    {                                                                                              \
        .from = at, .to = end, .state = EXTRACT_STATE_RUNNING, .object = lock                      \
    }
#define BLOCKED(at, end, lock, by)                                                                 \
    {                                                                                              \
        .from = at, .to = end, .state = EXTRACT_STATE_BLOCKED, .object = lock, .holder = by        \
    }
#define SEGMENT(at, end, name, level, ...)                                                         \
    {                                                                                              \
        .from = at, .to = end, .kind = EXTRACT_SEGMENT_##name, .depth = level, __VA_ARGS__         \
    }

#define OWNER(at, end, lock, by)                                                                   \
    {                                                                                              \
        .from = at, .to = end, .mutex = lock, .thread = by                                         \
    }
#define ISR_OWNER(at, end, lock, number, on)                                                       \
    {                                                                                              \
        .from = at, .to = end, .mutex = lock, .in_isr = true, .isr = number,                       \
        .isr_known = (number) != 0, .core = on                                                     \
    }

// An entry with one data word, on one of several cores.
struct core_entry {
    uint64_t stamp;
    uint32_t core;
    uint64_t tid;
    uint32_t hook;
    uint64_t word;
};

static void put_entries(struct hooks *hooks, uint32_t frame, const struct core_entry *entries,
                        size_t count)
{
    hooks_build(hooks, false, 4096, 0);
    for (size_t i = 0; i < count; i++) {
        struct hooks_record record = {.frame = STAMPED | frame | entries[i].core << 24,
                                      .hook = entries[i].hook | 0xE0000,
                                      .words = 3,
                                      .data = {entries[i].word, 7},
                                      .tid = entries[i].tid,
                                      .stamp = entries[i].stamp};
        hooks_put(hooks, &record);
    }
}

// A gets the lock at 10. B tries to get it from 30 on, and waits from 45 on. A releases it at 80.
// `ready` is when A makes B ready, and `suspend` when B states once more that it waits; 0: never.
static void build_lock_stream(struct hooks *hooks, uint64_t ready, uint64_t suspend)
{
    hooks_build(hooks, true, 4096, 0);
    hooks_put_words(hooks, 0, A, 0x10600000, 3, A, 7, 0);
    hooks_put_words(hooks, 10, A, GET, 1, L, 0, 0);
    hooks_put_words(hooks, 20, A, 0x10600000, 3, B, 7, 0);
    hooks_put_words(hooks, 30, B, MISS, 1, L, 0, 0);
    hooks_put_words(hooks, 35, B, MISS, 1, L, 0, 0);
    hooks_put_words(hooks, 45, B, WAITS, 1, L, 0, 0);
    if (suspend)
        hooks_put_words(hooks, suspend, B, 0x10800000, 0, 0, 0, 0);
    hooks_put_words(hooks, 50, B, 0x10600000, 3, A, 7, 0);
    hooks_put_words(hooks, 80, A, RELEASE, 1, L, 0, 0);
    if (ready)
        hooks_put_words(hooks, ready, A, 0x10700000, 1, B, 0, 0);
    hooks_put_words(hooks, 90, A, 0x10600000, 3, C, 7, 0);
    hooks_put_words(hooks, 100, C, 0x10600000, 3, B, 7, 0);
    hooks_put_words(hooks, 105, B, GET, 1, L, 0, 0);
    hooks_put_words(hooks, 120, B, RELEASE, 1, L, 0, 0);
    hooks_put_words(hooks, 130, B, 0x10600000, 3, 0, 0, 0);
}

static const struct extract_ownership two_owners[] = {OWNER(10, 80, L, A), OWNER(105, 120, L, B)};

// Without an event that makes B ready, it is ready since the lock was released.
static void test_lock_in_schedule(void **state)
{
    static const struct extract_state of_b[] = {STATE(0, 20, UNKNOWN), STATE(20, 30, RUNNING),
                                                SPINS(30, 45, L),      BLOCKED(45, 80, L, A),
                                                STATE(80, 100, READY), STATE(100, 130, RUNNING)};
    static const struct extract_segment chain[] = {
        SEGMENT(20, 30, RAN, 0),
        SEGMENT(30, 45, BLOCKED, 0, .who = A, .object = L, .is_spinning = true),
        SEGMENT(30, 45, UNKNOWN, 1),
        SEGMENT(45, 80, BLOCKED, 0, .who = A, .object = L),
        SEGMENT(45, 50, UNKNOWN, 1),
        SEGMENT(50, 80, RAN, 1),
        SEGMENT(80, 90, PREEMPTED, 0, .who = A),
        SEGMENT(90, 100, PREEMPTED, 0, .who = C),
        SEGMENT(100, 130, RAN, 0)};
    static struct hooks hooks;
    const struct extract_why_options options = {
        .size = sizeof options, .thread = "0xb1", .from = "20", .to = "130"};
    struct extract_hook_roles *roles = roles_open_text(roles_layout);
    struct extract_why *why;
    struct look look;
    (void)state;
    build_lock_stream(&hooks, 0, 0);
    roles_look(&look, &hooks, roles);
    derive(&look);
    assert_states(B, of_b, sizeof of_b / sizeof *of_b);
    assert_owners(two_owners, 2);
    assert_int_equal(wake_count, 0);
    assert_int_equal(extract_why_new(&why, look.trace, &options, &error), EXTRACT_OK);
    assert_segments(why, chain, sizeof chain / sizeof *chain);
    extract_why_free(why);
    look_close(&look);
    extract_hook_roles_close(roles);
}

// With roles for waits and wake-ups, B waits until A makes it ready, because A released the lock.
static void test_lock_with_wake_up(void **state)
{
    static const struct extract_state of_b[] = {STATE(0, 20, READY),   STATE(20, 30, RUNNING),
                                                SPINS(30, 45, L),      BLOCKED(45, 85, L, A),
                                                STATE(85, 100, READY), STATE(100, 130, RUNNING)};
    static struct hooks hooks;
    char text[1024];
    (void)state;
    snprintf(text, sizeof text, "%s107 ready thread=D1\n108 suspend\n", roles_layout);
    struct extract_hook_roles *roles = roles_open_text(text);
    struct look look;
    build_lock_stream(&hooks, 85, 47);
    roles_look(&look, &hooks, roles);
    derive(&look);
    assert_states(B, of_b, sizeof of_b / sizeof *of_b);
    assert_owners(two_owners, 2);
    assert_int_equal(wake_count, 1);
    assert_int_equal(wakes[0].at, 85);
    assert_int_equal(wakes[0].thread, B);
    assert_int_equal(wakes[0].by, A);
    assert_int_equal(wakes[0].reason, EXTRACT_WAKE_SERVICE);
    assert_int_equal(wakes[0].object, L);
    assert_chart(&look, "e0>e0: waits: 0x1000; # 45\n"
                        "e1=>e0: hook 113: 0x1000; # 85\n");
    look_close(&look);
    extract_hook_roles_close(roles);
}

// Two holders: the one that has had the lock for longer is the owner. M was got before the trace. A
// gets L twice. A thread that does not get the lock, and goes on, no longer spins.
static void test_owners_of_locks(void **state)
{
    static const struct extract_ownership is[] = {OWNER(0, 30, M, A), OWNER(10, 50, L, A),
                                                  OWNER(50, 60, L, B), OWNER(70, 100, L, B)};
    static const struct extract_state of_b[] = {STATE(0, 15, UNKNOWN), STATE(15, 62, RUNNING),
                                                SPINS(62, 66, M), STATE(66, 100, RUNNING)};
    static struct hooks hooks;
    struct extract_hook_roles *roles = roles_open_text("106 dispatch thread=D1\n"
                                                       "112 lock-miss lock=D1 when HD == 1\n"
                                                       "112 lock-busy lock=D1 when HD == 2\n"
                                                       "112 lock-get lock=D1 thread=D2\n"
                                                       "113 lock-release lock=D1 thread=D2\n");
    struct look look;
    (void)state;
    hooks_build(&hooks, true, 4096, 0);
    hooks_put_words(&hooks, 0, A, 0x10600000, 1, A, 0, 0);
    hooks_put_words(&hooks, 10, A, GET, 2, L, A, 0);
    hooks_put_words(&hooks, 12, A, GET, 2, L, A, 0);
    hooks_put_words(&hooks, 15, A, 0x10600000, 1, B, 0, 0);
    hooks_put_words(&hooks, 20, B, GET, 2, L, B, 0);
    hooks_put_words(&hooks, 25, B, RELEASE, 2, L, A, 0);
    hooks_put_words(&hooks, 30, B, RELEASE, 2, M, A, 0);
    hooks_put_words(&hooks, 50, B, RELEASE, 2, L, A, 0);
    hooks_put_words(&hooks, 60, B, RELEASE, 2, L, B, 0);
    hooks_put_words(&hooks, 62, B, MISS, 1, M, 0, 0);
    hooks_put_words(&hooks, 66, B, BUSY, 1, M, 0, 0);
    hooks_put_words(&hooks, 70, B, GET, 2, L, B, 0);
    hooks_put_words(&hooks, 100, B, 0x10600000, 1, B, 0, 0);
    roles_look(&look, &hooks, roles);
    derive(&look);
    assert_owners(is, sizeof is / sizeof *is);
    assert_states(B, of_b, sizeof of_b / sizeof *of_b);
    look_close(&look);
    extract_hook_roles_close(roles);
}

// A holds L and waits for M since 40, and B holds M and waits for L since 60. At 80, C runs.
static void test_deadlock_of_locks(void **state)
{
    static const struct extract_segment chain[] = {
        SEGMENT(40, 80, BLOCKED, 0, .who = B, .object = M), SEGMENT(40, 50, UNKNOWN, 1),
        SEGMENT(50, 60, RAN, 1),
        SEGMENT(60, 80, BLOCKED, 1, .who = A, .object = L, .is_cycle = true)};
    static struct hooks hooks;
    const struct extract_why_options options = {.size = sizeof options, .thread = "0xa1"};
    struct extract_hook_roles *roles = roles_open_text(roles_layout);
    struct extract_why *why;
    struct look look;
    (void)state;
    hooks_build(&hooks, true, 4096, 0);
    hooks_put_words(&hooks, 0, A, 0x10600000, 3, A, 7, 0);
    hooks_put_words(&hooks, 10, A, GET, 1, L, 0, 0);
    hooks_put_words(&hooks, 15, A, 0x10600000, 3, B, 7, 0);
    hooks_put_words(&hooks, 20, B, GET, 1, M, 0, 0);
    hooks_put_words(&hooks, 30, B, 0x10600000, 3, A, 7, 0);
    hooks_put_words(&hooks, 40, A, WAITS, 1, M, 0, 0);
    hooks_put_words(&hooks, 50, A, 0x10600000, 3, B, 7, 0);
    hooks_put_words(&hooks, 60, B, WAITS, 1, L, 0, 0);
    hooks_put_words(&hooks, 70, B, 0x10600000, 3, C, 7, 0);
    hooks_put_words(&hooks, 80, C, 0x20000000, 0, 0, 0, 0);
    roles_look(&look, &hooks, roles);
    assert_int_equal(extract_why_new(&why, look.trace, &options, &error), EXTRACT_OK);
    assert_int_equal(why->chain_count, 1);
    assert_true(why->chains[0].is_waiting);
    assert_segments(why, chain, sizeof chain / sizeof *chain);
    extract_why_free(why);
    look_close(&look);
    extract_hook_roles_close(roles);
}

// What the cores do, with the locks L and M:
//
//             core 0                                core 1
//      0      A
//      5                                            B
//      8      A gets M
//     10      interrupt 3
//     12      interrupt 3 gets L
//     15                                            B misses L, and spins
//     20      interrupt 5, for which 3 waits
//     24      interrupt 5 misses M: A has it
//     26      interrupt 3
//     40      interrupt 3 releases L
//     42                                            B gets L
//     45      A
//     50                                            B releases L
//     55      A releases M
//     60                                            the end
static void test_lock_of_an_interrupt(void **state)
{
    static const struct core_entry entries[] = {
        {0, 0, A, 0x10600000, A},  {5, 1, B, 0x10600000, B}, {8, 0, A, GET, M},
        {10, 0, A, 0x10000000, 3}, {12, 0, A, GET, L},       {15, 1, B, MISS, L},
        {20, 0, A, 0x10200000, 5}, {24, 0, A, MISS, M},      {26, 0, A, 0x10300000, 0},
        {40, 0, A, RELEASE, L},    {42, 1, B, GET, L},       {45, 0, A, 0x20000000, 0},
        {50, 1, B, RELEASE, L},    {55, 0, A, RELEASE, M},   {60, 1, B, 0x20000000, 0}};
    static const struct extract_ownership is[] = {ISR_OWNER(12, 40, L, 3, 0), OWNER(42, 50, L, B),
                                                  OWNER(8, 55, M, A)};
    static const struct extract_state of_b[] = {STATE(0, 5, UNKNOWN), STATE(5, 15, RUNNING),
                                                SPINS(15, 42, L), STATE(42, 60, RUNNING)};
    static const struct extract_segment chain[] = {
        SEGMENT(5, 15, RAN, 0),
        SEGMENT(15, 40, BLOCKED, 0, .who = 3, .object = L, .is_spinning = true, .in_isr = true),
        SEGMENT(15, 20, RAN, 1),
        SEGMENT(20, 24, ISR, 1, .who = 5),
        SEGMENT(24, 26, ISR, 1, .who = 5),
        SEGMENT(24, 26, BLOCKED, 2, .who = A, .object = M, .is_spinning = true, .is_cycle = true,
                .by_isr = true),
        SEGMENT(26, 40, RAN, 1),
        SEGMENT(40, 42, BLOCKED, 0, .object = L, .is_spinning = true),
        SEGMENT(42, 60, RAN, 0)};
    static struct hooks hooks;
    const struct extract_why_options options = {
        .size = sizeof options, .thread = "0xb1", .from = "5", .to = "60"};
    struct extract_hook_roles *roles = roles_open_text(roles_layout);
    struct extract_why *why;
    struct look look;
    (void)state;
    put_entries(&hooks, 0, entries, sizeof entries / sizeof *entries);
    roles_look(&look, &hooks, roles);
    derive(&look);
    assert_owners(is, sizeof is / sizeof *is);
    assert_states(B, of_b, sizeof of_b / sizeof *of_b);
    assert_int_equal(extract_why_new(&why, look.trace, &options, &error), EXTRACT_OK);
    assert_segments(why, chain, sizeof chain / sizeof *chain);
    extract_why_free(why);
    look_close(&look);
    extract_hook_roles_close(roles);
}

// Interrupt 3 gets L at 12, and ends at 30 without a release. The second-level handler 8 gets M at
// 16, and ends at 20: from then on, it is not known who has the locks. B gets L at 40; since
// somebody else may have it, too, it is not known when it is free. In core 1's interrupt, of which
// no event shows the end, an entry of the thread B at 60 does: the interrupt ended at the entry
// before.
static void test_interrupts_that_do_not_release(void **state)
{
    enum { N = 0x3000 };
    static const struct core_entry entries[] = {
        {0, 0, A, 0x10600000, A},  {5, 1, B, 0x10600000, B},  {10, 0, A, 0x10000000, 3},
        {12, 0, A, GET, L},        {14, 0, A, 0x10200000, 8}, {16, 0, A, GET, M},
        {20, 0, A, 0x10300000, 0}, {25, 1, B, MISS, L},       {30, 0, A, 0x20000000, 0},
        {40, 1, B, GET, L},        {45, 1, B, RELEASE, L},    {50, 1, B, 0x10000000, 4},
        {52, 1, B, GET, N},        {55, 1, B, 0x30000000, 0}, {60, 1, B, 0x10100000, 6},
        {70, 0, A, 0x30000000, 0}};
    static const struct extract_ownership is[] = {ISR_OWNER(16, 20, M, 8, 0),
                                                  ISR_OWNER(12, 30, L, 3, 0), OWNER(40, 45, L, B),
                                                  ISR_OWNER(52, 55, N, 4, 1)};
    static const struct extract_segment chain[] = {
        SEGMENT(25, 30, BLOCKED, 0, .who = 3, .object = L, .is_spinning = true, .in_isr = true),
        SEGMENT(25, 30, RAN, 1), SEGMENT(30, 40, BLOCKED, 0, .object = L, .is_spinning = true)};
    static struct hooks hooks;
    const struct extract_why_options options = {
        .size = sizeof options, .thread = "0xb1", .from = "25", .to = "40"};
    struct extract_hook_roles *roles = roles_open_text(roles_layout);
    struct extract_why *why;
    struct look look;
    (void)state;
    put_entries(&hooks, 0, entries, sizeof entries / sizeof *entries);
    roles_look(&look, &hooks, roles);
    derive(&look);
    assert_owners(is, sizeof is / sizeof *is);
    assert_int_equal(extract_why_new(&why, look.trace, &options, &error), EXTRACT_OK);
    assert_segments(why, chain, sizeof chain / sizeof *chain);
    extract_why_free(why);
    look_close(&look);
    extract_hook_roles_close(roles);
}

// Interrupt 3 of core 0 has L from 10 to 40. B waits for L from 12 on. Interrupt 4 of core 1, in C,
// misses L at 20 and at 30, and gets it at 42. Interrupt 3 also misses M from 15 to 25: C has it.
static void test_interrupts_that_want_a_lock(void **state)
{
    static const struct core_entry entries[] = {
        {0, 0, A, 0x10600000, A},  {1, 1, B, 0x10600000, B}, {8, 0, A, 0x10000000, 3},
        {10, 0, A, GET, L},        {12, 1, B, WAITS, L},     {13, 1, B, 0x10600000, C},
        {14, 1, C, GET, M},        {15, 0, A, MISS, M},      {18, 1, C, 0x10000000, 4},
        {20, 1, C, MISS, L},       {25, 0, A, BUSY, M},      {30, 1, C, MISS, L},
        {40, 0, A, RELEASE, L},    {42, 1, C, GET, L},       {45, 1, C, RELEASE, L},
        {50, 1, C, 0x10300000, 0}, {60, 1, C, 0x20000000, 0}};
    static const struct extract_segment chain[] = {
        SEGMENT(13, 18, RAN, 0),
        SEGMENT(18, 20, ISR, 0, .who = 4),
        SEGMENT(20, 42, ISR, 0, .who = 4),
        SEGMENT(20, 40, BLOCKED, 1, .who = 3, .object = L, .is_spinning = true, .in_isr = true,
                .by_isr = true),
        SEGMENT(20, 25, RAN, 2),
        SEGMENT(20, 25, BLOCKED, 3, .who = C, .object = M, .is_spinning = true, .is_cycle = true,
                .by_isr = true),
        SEGMENT(25, 40, RAN, 2),
        SEGMENT(40, 42, BLOCKED, 1, .object = L, .is_spinning = true, .by_isr = true),
        SEGMENT(42, 50, ISR, 0, .who = 4),
        SEGMENT(50, 60, RAN, 0)};
    static struct hooks hooks;
    const struct extract_why_options options = {
        .size = sizeof options, .thread = "0xc1", .from = "13", .to = "60"};
    struct extract_hook_roles *roles = roles_open_text(roles_layout);
    struct extract_why *why;
    struct look look;
    (void)state;
    put_entries(&hooks, 0, entries, sizeof entries / sizeof *entries);
    roles_look(&look, &hooks, roles);
    derive(&look);
    for (size_t i = 0; i < state_count; i++) {
        bool waits = states[i].thread == B && states[i].state == EXTRACT_STATE_BLOCKED;
        assert_int_equal(states[i].holder_in_isr, waits);
        assert_int_equal(states[i].holder_isr, waits ? 3 : 0);
    }
    assert_int_equal(extract_why_new(&why, look.trace, &options, &error), EXTRACT_OK);
    assert_segments(why, chain, sizeof chain / sizeof *chain);
    extract_why_free(why);
    look_close(&look);
    extract_hook_roles_close(roles);
}

// Interrupts whose entries are not recorded, on core 1: they have no number. M was got before the
// trace. L is got twice and released once, so it is still held at the end. An event that names a
// thread is that thread's.
static void test_locks_of_interrupts_without_entries(void **state)
{
    enum { N = 0x3000 };
    static const struct core_entry entries[] = {{0, 1, A, GET, L},      {10, 1, A, GET, L},
                                                {20, 1, A, RELEASE, M}, {30, 1, A, 0x11400000, N},
                                                {40, 1, A, RELEASE, L}, {50, 1, A, 0x30000000, 0}};
    static const struct extract_ownership is[] = {ISR_OWNER(0, 20, M, 0, 1),
                                                  ISR_OWNER(0, 50, L, 0, 1), OWNER(30, 50, N, 7)};
    static struct hooks hooks;
    char text[1024];
    struct look look;
    (void)state;
    snprintf(text, sizeof text, "%s114 lock-get lock=D1 thread=D2\n", roles_layout);
    struct extract_hook_roles *roles = roles_open_text(text);
    put_entries(&hooks, HOOKS_ISR, entries, sizeof entries / sizeof *entries);
    roles_look(&look, &hooks, roles);
    derive(&look);
    assert_owners(is, sizeof is / sizeof *is);
    look_close(&look);
    extract_hook_roles_close(roles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock_in_schedule),
        cmocka_unit_test(test_lock_with_wake_up),
        cmocka_unit_test(test_owners_of_locks),
        cmocka_unit_test(test_deadlock_of_locks),
        cmocka_unit_test(test_lock_of_an_interrupt),
        cmocka_unit_test(test_interrupts_that_do_not_release),
        cmocka_unit_test(test_interrupts_that_want_a_lock),
        cmocka_unit_test(test_locks_of_interrupts_without_entries),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
