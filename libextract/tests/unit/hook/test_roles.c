// SPDX-License-Identifier: MIT
// Tests role files of hook words: their language, how lines apply to entries, and the schedule and
// statistics of streams. Truth: ringside-roles(5), and figures worked out by hand in the comments.
#include "formats/format.h"
#include "formats/hook/roles.h"
#include "tests/unit/hook/hook_builder.h"
#include "tests/unit/scratch.h"
#include <extract/stats.h>

static struct extract_error error;

static struct extract_hook_roles *open_text(const char *text)
{
    const char *path = scratch_puts("test.roles", text);
    struct extract_hook_roles *roles;
    assert_int_equal(extract_hook_roles_open(&roles, &path, 1, &error), EXTRACT_OK);
    return roles;
}

// ---- the language ----

static const struct {
    const char *text, *what, *why; // parts of the message
} wrong[] = {
    {"12 dispatch", ":1", "\"12\" is not a hook id"},
    {"\n\n12345 dispatch", ":3", "\"12345\" is not a hook id"},
    {"xyz dispatch", ":1", "\"xyz\" is not a hook id"},
    {"000 dispatch", ":1", "\"000\" is not a hook id"},
    {"106", ":1", "\"106\" has no role"},
    {"106 # dispatch", ":1", "\"106\" has no role"},
    {"106 dispach", ":1", "\"dispach\" is not a role"},
    {"106 dispatch thread", ":1", "\"thread\" is not a value"},
    {"106 dispatch lock=D1", ":1", "\"lock\" is not a value of this role"},
    {"106 dispatch color=D1", ":1", "\"color\" is not a value of this role"},
    {"106 dispatch thread=D1 thread=D2", ":1", "\"thread\" is given twice"},
    {"106 dispatch thread=", ":1", "\"\" is not an expression"},
    {"106 dispatch thread=D0", ":1", "\"D0\" is not an expression"},
    {"106 dispatch thread=D9", ":1", "\"D9\" is not an expression"},
    {"106 dispatch thread=D10", ":1", "\"D10\" is not an expression"},
    {"106 dispatch thread=D1[", ":1", "\"D1[\" is not an expression"},
    {"106 dispatch thread=D1[7:0]", ":1", "\"D1[7:0]\" is not an expression"},
    {"106 dispatch thread=D1[0:64]", ":1", "\"D1[0:64]\" is not an expression"},
    {"106 dispatch thread=D1[0:7]x", ":1", "\"D1[0:7]x\" is not an expression"},
    {"106 dispatch thread=@4", ":1", "\"@4\" is not an expression"},
    {"106 dispatch thread=@4.3", ":1", "\"@4.3\" is not an expression"},
    {"106 dispatch thread=@65537.4", ":1", "\"@65537.4\" is not an expression"},
    {"106 dispatch thread=-1", ":1", "\"-1\" is not an expression"},
    {"106 dispatch thread=18446744073709551616", ":1", "is not an expression"},
    {"100 interrupt-entry", ":1", "\"interrupt-entry\" lacks a value that it needs"},
    {"100 interrupt-entry level=third", ":1", "\"third\" is not a level"},
    {"112 lock-get", ":1", "\"lock-get\" lacks a value that it needs"},
    {"134 thread name=D1", ":1", "\"D1\" is not the place of a text"},
    {"134 thread name=@65537", ":1", "\"@65537\" is not the place of a text"},
    {"106 dispatch when", ":1", "a condition is not complete"},
    {"106 dispatch when D1 ==", ":1", "a condition is not complete"},
    {"106 dispatch when D1 = 1", ":1", "\"=\" does not compare"},
    {"106 dispatch when D1 == x", ":1", "\"x\" is not a number"},
    {"106 dispatch when x == 1", ":1", "\"x\" is not an expression"},
    {"106 dispatch when D1 == 1 or", ":1", "\"or\" is not expected"},
    {"106 dispatch when D1 == 1 and", ":1", "a condition is not complete"},
    {"106 dispatch when D1 == 1 and D1 == 2 and D1 == 3 and D1 == 4 and D1 == 5", ":1",
     "more than 4 conditions"},
    {"106 dispatch\n106 idle", ":2", "this hook id has a line without a condition before"},
    {"106 dispatch\n1060 idle when D1 == 1", ":2", "has a line without a condition before"},
};

static void test_errors(void **state)
{
    struct extract_hook_roles *roles;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *path = scratch_puts("wrong.roles", wrong[i].text);
        assert_int_equal(extract_hook_roles_open(&roles, &path, 1, &error), EXTRACT_BAD);
        assert_null(roles);
        const char *end = error.what + strlen(error.what) - strlen(wrong[i].what);
        assert_string_equal(end, wrong[i].what);
        assert_non_null(strstr(error.what, "wrong.roles"));
        if (!strstr(error.why, wrong[i].why))
            fail_msg("%s: %s", wrong[i].text, error.why);
        assert_true(error.hint[0]);
    }
}

static void assert_refused(const void *text, size_t length, enum extract_code code, const char *why)
{
    const char *path = scratch_write("hostile.roles", text, length);
    struct extract_hook_roles *roles;
    assert_int_equal(extract_hook_roles_open(&roles, &path, 1, &error), code);
    assert_non_null(strstr(error.why, why));
}

static void test_hostile_files(void **state)
{
    static char text[2 * 1024 * 1024];
    size_t used = 0;
    (void)state;
    memset(text, ' ', 1001);
    assert_refused(text, 1001, EXTRACT_BAD, "more than 1000 bytes");
    assert_refused("106 idle\0x", 10, EXTRACT_BAD, "a byte 0");
    for (unsigned i = 0; i < 10000; i++)
        used += (size_t)sprintf(text + used, "%04x idle\n", i + 1);
    assert_refused(text, used, EXTRACT_BAD, "more than 4096 lines");
    used = 0;
    for (unsigned i = 0; i < 4097; i++)
        used += (size_t)sprintf(text + used, "106 idle when D1 == %u\n", i);
    assert_refused(text, used, EXTRACT_BAD, "more than 4096 lines");
    memset(text, '\n', sizeof text);
    assert_refused(text, sizeof text, EXTRACT_LIMIT, "");
    const char *none = scratch_path("none.roles");
    struct extract_hook_roles *roles;
    assert_int_equal(extract_hook_roles_open(&roles, &none, 1, &error), EXTRACT_IO);
}

static void test_later_files_replace(void **state)
{
    const char *names[] = {"aix", scratch_puts("mine.roles", "106 none\n\r\n# x\n10c idle #\r\n")};
    struct extract_hook_roles *roles;
    (void)state;
    assert_int_equal(extract_hook_roles_open(&roles, names, 2, &error), EXTRACT_OK);
    const struct {
        uint16_t id;
        enum extract_role role;
    } is[] = {{0x1000, EXTRACT_ROLE_ISR_ENTER},    {0x1010, EXTRACT_ROLE_SYSCALL_ENTER},
              {0x1020, EXTRACT_ROLE_ISR_ENTER},    {0x1030, EXTRACT_ROLE_ISR_EXIT},
              {0x1040, EXTRACT_ROLE_SYSCALL_EXIT}, {0x1060, EXTRACT_ROLE_NONE},
              {0x10C0, EXTRACT_ROLE_SWITCH},       {0x1190, EXTRACT_ROLE_NONE},
              {0x1340, EXTRACT_ROLE_EXEC},         {0x1350, EXTRACT_ROLE_EXIT},
              {0x1390, EXTRACT_ROLE_FORK},         {0x2000, EXTRACT_ROLE_ISR_RETURN},
              {0x4650, EXTRACT_ROLE_THREAD}};
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        assert_true(roles->first[is[i].id]);
        const struct hook_role *role = &roles->list[roles->first[is[i].id] - 1];
        assert_int_equal(role->fields.role, is[i].role);
        assert_int_equal(role->next, 0);
    }
    assert_false(roles->list[roles->first[0x1000] - 1].fields.second_level);
    assert_true(roles->list[roles->first[0x1020] - 1].fields.second_level);
    extract_hook_roles_close(roles);
}

static enum extract_code open_aix(void)
{
    static const char *const names[] = {"aix"};
    struct extract_hook_roles *roles;
    enum extract_code code = extract_hook_roles_open(&roles, names, 1, &error);
    extract_hook_roles_close(roles);
    return code;
}

static void test_memory_is_short(void **state)
{
    (void)state;
    each_allocation_fails(open_aix);
}

// ---- entries ----

enum { STAMPED = HOOKS_TID | HOOKS_STAMP };

// Puts an entry with up to three data words.
static void put(struct hooks *hooks, uint64_t stamp, uint64_t tid, uint32_t hook, unsigned words,
                uint64_t d1, uint64_t d2, uint64_t d3)
{
    struct hooks_record record = {.frame = STAMPED,
                                  .hook = hook | (words ? 0xE0000 : 0x90000),
                                  .words = words,
                                  .data = {d1, d2, d3},
                                  .tid = tid,
                                  .stamp = stamp};
    hooks_put(hooks, &record);
}

static void look_with(struct look *look, const struct hooks *hooks,
                      const struct extract_hook_roles *roles)
{
    struct extract_ring_options at = {.size = sizeof at, .hook_roles = roles};
    memset(look, 0, sizeof *look);
    look->memory = hooks_memory(hooks);
    at.address_known = true;
    at.address = hooks->address;
    assert_int_equal(extract_ring_find(&look->ring, look->memory, NULL, &at, &error), EXTRACT_OK);
    assert_int_equal(extract_snapshot_take(&look->snapshot, look->memory, &look->ring, &error),
                     EXTRACT_OK);
    assert_int_equal(extract_trace_open(&look->trace, &look->snapshot, NULL, &error), EXTRACT_OK);
}

// Returns the thread to which a line says that an entry switches; 0 if the line does not apply.
static uint64_t next_thread(const char *line, const struct hooks *hooks)
{
    struct extract_hook_roles *roles = open_text(line);
    uint64_t next = 0;
    struct look look;
    look_with(&look, hooks, roles);
    struct extract_event event = *look_event(&look, 0);
    const struct extract_role_fields *role = hook_translate(&look.ring, &event);
    if (role) {
        assert_int_equal(role->role, EXTRACT_ROLE_SWITCH);
        next = extract_role_field(&event, role->next);
    }
    look_close(&look);
    extract_hook_roles_close(roles);
    return next;
}

static void test_expressions(void **state)
{
    // The data words are 0x11223344 and 0xA0B0C0D0, the hook data 0x1234.
    static const struct {
        const char *line;
        uint64_t big, little;
    } rows[] = {
        {"106 dispatch thread=D1", 0x11223344, 0x11223344},
        {"106 dispatch thread=D2[8:15]", 0xC0, 0xC0},
        {"106 dispatch thread=D2[31]", 1, 1},
        {"106 dispatch thread=D2[0:63]", 0xA0B0C0D0, 0xA0B0C0D0},
        {"106 dispatch thread=D3", 0, 0}, // the entry has no third word
        {"106 dispatch thread=HD", 0x1234, 0x1234},
        {"106 dispatch thread=HD[4:11]", 0x23, 0x23},
        {"106 dispatch thread=TID", 0x77, 0x77},
        {"106 dispatch thread=99", 99, 99},
        {"106 dispatch thread=0x99", 0x99, 0x99},
        {"106 dispatch thread=@0.1", 0x11, 0x44},
        {"106 dispatch thread=@2.2", 0x3344, 0x1122},
        {"106 dispatch thread=@4.4", 0xA0B0C0D0, 0xA0B0C0D0},
        {"106 dispatch thread=@0.8", UINT64_C(0x11223344A0B0C0D0), UINT64_C(0xA0B0C0D011223344)},
        {"106 dispatch thread=@6.4", 0, 0}, // beyond the entry
        {"106 dispatch thread=5 when D1 == 0x11223344", 5, 5},
        {"106 dispatch thread=5 when D1 != 0x11223344", 0, 0},
        {"106 dispatch thread=5 when D1[0:7] == 0x44 and D2[4:7] == 0xD", 5, 5},
        {"106 dispatch thread=5 when D1[0:7] == 0x44 and D2[4:7] != 0xD", 0, 0},
        {"106 dispatch thread=5 when D3 != 1", 0, 0}, // unknown is not unequal
        {"106 dispatch thread=5 when D1 == 1\n106 dispatch thread=6", 6, 6},
        {"106 dispatch thread=5 when HD == 0x1234\n106 dispatch thread=6", 5, 5},
        {"107 dispatch thread=5", 0, 0},
        {"1060 dispatch thread=5", 5, 5},
    };
    static struct hooks hooks;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned big = 0; big < 2; big++) {
            hooks_build(&hooks, big, 4096, 0);
            put(&hooks, 1, 0x77, 0x10601234, 2, 0x11223344, 0xA0B0C0D0, 0);
            uint64_t is = next_thread(rows[i].line, &hooks);
            if (is != (big ? rows[i].big : rows[i].little))
                fail_msg("%s: 0x%llx", rows[i].line, (unsigned long long)is);
        }
}

static void test_wide_entries(void **state)
{
    // Flags 8000, size 16, hook id 106A, subhook 0042.
    static const struct hooks_record record = {.frame = HOOKS_WIDE | HOOKS_TID | HOOKS_TID_8 |
                                                        HOOKS_STAMP,
                                               .hook = UINT64_C(0x80000010106A0042),
                                               .words = 2,
                                               .data = {UINT64_C(0x1122334455667788), 9},
                                               .tid = UINT64_C(1) << 40,
                                               .stamp = 1};
    static struct hooks hooks;
    (void)state;
    hooks_build(&hooks, true, 4096, 0);
    hooks_put(&hooks, &record);
    assert_int_equal(next_thread("106A dispatch thread=D1", &hooks), record.data[0]);
    assert_int_equal(next_thread("106A dispatch thread=D1[60:63]", &hooks), 1);
    assert_int_equal(next_thread("106A dispatch thread=HD", &hooks), 0x42);
    assert_int_equal(next_thread("106A dispatch thread=TID", &hooks), record.tid);
    assert_int_equal(next_thread("106A dispatch thread=@2.2", &hooks), 0x3344);
    assert_int_equal(next_thread("106A dispatch thread=@8.8", &hooks), 9);
    assert_int_equal(next_thread("106A dispatch thread=@9.8", &hooks), 0);
    assert_int_equal(next_thread("106 dispatch thread=D1", &hooks), 0);
}

// ---- streams ----

static const char layout[] = "100 interrupt-entry level=first number=D1\n"
                             "101 syscall-entry number=D1\n"
                             "102 interrupt-entry level=second number=D1\n"
                             "103 interrupt-exit\n"
                             "104 syscall-exit number=D1 error=D2\n"
                             "106 idle when D1 == 0\n"
                             "106 dispatch thread=D1 process=D2 kernel=D3\n"
                             "112 lock-miss lock=D1 when HD == 1\n"
                             "112 lock-busy lock=D1 when HD == 2\n"
                             "112 lock-wait lock=D1 when HD == 3\n"
                             "112 lock-get lock=D1\n"
                             "113 lock-release lock=D1\n"
                             "134 thread name=@4\n"
                             "135 exit\n"
                             "200 resume\n";

enum { A = 0xA1, B = 0xB1, C = 0xC1, WAIT = 0x77 };

// The stream of the tests below, in ticks from its first entry on:
//
//   0 dispatch A   10 application   50 call 5   90 application   100 interrupt 3   120 second level
//   150 interrupt 3   160 dispatch B   170 B's application   200 call 6   220 idle   300 interrupt
//   3 310 dispatch B   325 B in call 6   345 its application   365 dispatch C, of the kernel   370
//   C 400 dispatch A   405 application   425 call 5   445 exit: not known   455 idle   500 the end
static void build_stream(struct hooks *hooks)
{
    hooks_build(hooks, true, 4096, 0);
    put(hooks, 1000, A, 0x10600000, 3, A, 7, 0);
    put(hooks, 1010, A, 0x20000000, 0, 0, 0, 0);
    put(hooks, 1050, A, 0x10100000, 1, 5, 0, 0);
    put(hooks, 1090, A, 0x10400000, 2, 5, 0, 0);
    put(hooks, 1100, A, 0x10000000, 1, 3, 0, 0);
    put(hooks, 1120, A, 0x10200000, 1, 8, 0, 0);
    put(hooks, 1150, A, 0x10300000, 0, 0, 0, 0);
    put(hooks, 1160, A, 0x10600000, 3, B, 9, 0);
    put(hooks, 1170, B, 0x20000000, 0, 0, 0, 0);
    put(hooks, 1200, B, 0x10100000, 1, 6, 0, 0);
    put(hooks, 1220, B, 0x10600000, 3, 0, 0, 0);
    put(hooks, 1300, WAIT, 0x10000000, 1, 3, 0, 0);
    put(hooks, 1310, WAIT, 0x10600000, 3, B, 9, 0);
    put(hooks, 1325, B, 0x20000000, 0, 0, 0, 0);
    put(hooks, 1345, B, 0x10400000, 2, 6, 2, 0);
    put(hooks, 1365, B, 0x10600000, 3, C, 2, 1);
    put(hooks, 1370, C, 0x20000000, 0, 0, 0, 0);
    put(hooks, 1400, C, 0x10600000, 3, A, 7, 0);
    put(hooks, 1405, A, 0x20000000, 0, 0, 0, 0);
    put(hooks, 1425, A, 0x10100000, 1, 5, 0, 0);
    put(hooks, 1445, A, 0x13500000, 0, 0, 0, 0);
    put(hooks, 1455, A, 0x10600000, 3, 0, 0, 0);
    put(hooks, 1500, WAIT, 0x20000000, 0, 0, 0, 0);
}

static struct extract_interval intervals[32];
static size_t interval_count;

static void take_interval(void *context, const struct extract_interval *interval)
{
    (void)context;
    assert_true(interval_count < 32);
    intervals[interval_count++] = *interval;
}

static void assert_intervals(const struct look *look, const struct extract_interval *is,
                             size_t count)
{
    const struct extract_schedule_sink sink = {.interval = take_interval};
    interval_count = 0;
    assert_int_equal(extract_schedule_run(NULL, look->trace, &sink, &error), EXTRACT_OK);
    for (size_t i = 0; i < interval_count && i < count; i++) {
        assert_int_equal(intervals[i].from, is[i].from);
        assert_int_equal(intervals[i].to, is[i].to);
        assert_int_equal(intervals[i].runner, is[i].runner);
        assert_int_equal(intervals[i].thread, is[i].thread);
        assert_int_equal(intervals[i].isr_known, is[i].isr_known);
        assert_int_equal(intervals[i].isr, is[i].isr);
        assert_int_equal(intervals[i].is_unsure, is[i].is_unsure);
    }
    assert_int_equal(interval_count, count);
}

#define RUNS(at, end, who)                                                                         \
    {                                                                                              \
        .from = at, .to = end, .runner = EXTRACT_RUNNER_THREAD, .thread = who                      \
    }
#define IDLE(at, end)                                                                              \
    {                                                                                              \
        .from = at, .to = end, .runner = EXTRACT_RUNNER_IDLE                                       \
    }
#define ISR(at, end, who, number)                                                                  \
    {                                                                                              \
        .from = at, .to = end, .runner = EXTRACT_RUNNER_ISR, .thread = who, .isr = number,         \
        .isr_known = true                                                                          \
    }
#define ISR_OF(at, end, who)                                                                       \
    {                                                                                              \
        .from = at, .to = end, .runner = EXTRACT_RUNNER_ISR, .thread = who                         \
    }

static void test_schedule(void **state)
{
    static const struct extract_interval is[] = {
        RUNS(0, 100, A),     ISR(100, 120, A, 3), ISR(120, 150, A, 8), ISR(150, 160, A, 3),
        ISR(160, 170, B, 3), RUNS(170, 220, B),   IDLE(220, 300),      ISR(300, 310, 0, 3),
        ISR(310, 325, B, 3), RUNS(325, 365, B),   RUNS(365, 400, C),   RUNS(400, 455, A),
        IDLE(455, 500),
    };
    static struct hooks hooks;
    struct extract_hook_roles *roles = open_text(layout);
    struct look look;
    (void)state;
    build_stream(&hooks);
    look_with(&look, &hooks, roles);
    assert_intervals(&look, is, sizeof is / sizeof *is);
    look_close(&look);
    extract_hook_roles_close(roles);
}

// Without the layout of the data, threads follow from the ids of the entries, and interrupts have
// no numbers. A dispatch (hook 106) is then a change at some time before the next entry, and hook
// 10C an idle core.
static void test_schedule_of_aix(void **state)
{
    static const struct extract_interval is[] = {
        RUNS(0, 100, A), ISR_OF(100, 130, A), RUNS(130, 170, B),
        IDLE(170, 300),  ISR_OF(300, 310, 0), RUNS(310, 350, B),
    };
    static const char *const names[] = {"aix"};
    static struct hooks hooks;
    struct extract_hook_roles *roles;
    struct look look;
    (void)state;
    hooks_build(&hooks, true, 4096, 0);
    put(&hooks, 1000, A, 0x10100000, 1, 5, 0, 0);
    put(&hooks, 1100, A, 0x10000000, 1, 3, 0, 0);
    put(&hooks, 1110, A, 0x10200000, 1, 3, 0, 0);
    put(&hooks, 1120, A, 0x10300000, 0, 0, 0, 0);
    put(&hooks, 1125, A, 0x10600000, 0, 0, 0, 0);
    put(&hooks, 1130, A, 0x20000000, 0, 0, 0, 0);
    put(&hooks, 1140, B, 0x10400000, 0, 0, 0, 0);
    put(&hooks, 1160, B, 0x10600000, 0, 0, 0, 0);
    put(&hooks, 1170, B, 0x10C00000, 0, 0, 0, 0);
    put(&hooks, 1300, WAIT, 0x10000000, 1, 3, 0, 0);
    put(&hooks, 1305, WAIT, 0x10600000, 0, 0, 0, 0);
    put(&hooks, 1310, WAIT, 0x20000000, 0, 0, 0, 0);
    put(&hooks, 1350, B, 0x10400000, 0, 0, 0, 0);
    assert_int_equal(extract_hook_roles_open(&roles, names, 1, &error), EXTRACT_OK);
    look_with(&look, &hooks, roles);
    assert_intervals(&look, is, sizeof is / sizeof *is);
    struct extract_stats *stats;
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_int_equal(stats->interrupts, 2);
    assert_int_equal(stats->interrupt_count, 0); // none has a number by which it could be listed
    extract_stats_free(stats);
    look_close(&look);
    extract_hook_roles_close(roles);
}

// Entries without thread ids belong to the thread that was dispatched last. A dispatch is the end
// of the old thread's time, even if its entry has the id of the new one. A system call shows that
// the interrupt before it has ended, but not when. The time between is then that of the thread, as
// for all formats: whoever has the core at an event had it since the event before.
static void test_evidence(void **state)
{
    static const struct extract_interval is[] = {RUNS(0, 30, A), RUNS(30, 50, B), RUNS(50, 100, A)};
    static struct hooks hooks;
    struct extract_hook_roles *roles = open_text(layout);
    struct hooks_record bare = {
        .frame = HOOKS_STAMP, .hook = 0x106E0000, .words = 3, .data = {A, 7, 0}, .stamp = 0};
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    hooks_put(&hooks, &bare);
    bare.stamp = 30;
    bare.data[0] = B;
    hooks_put(&hooks, &bare);
    put(&hooks, 50, A, 0x10600000, 3, A, 7, 0); // the entry has the id of the new thread
    put(&hooks, 70, A, 0x10000000, 1, 3, 0, 0); // an interrupt without an end
    put(&hooks, 85, A, 0x10100000, 1, 5, 0, 0);
    put(&hooks, 100, A, 0x10400000, 2, 5, 0, 0);
    look_with(&look, &hooks, roles);
    assert_intervals(&look, is, sizeof is / sizeof *is);
    look_close(&look);
    extract_hook_roles_close(roles);
}

static const struct extract_thread_stats *thread_of(const struct extract_stats *stats,
                                                    uint64_t address)
{
    for (size_t i = 0; i < stats->thread_count; i++)
        if (stats->threads[i].thread->address == address)
            return &stats->threads[i];
    fail();
    return NULL;
}

// An entry without a thread id, between two dispatches, is counted for the dispatched thread.
static void test_calls_without_thread_ids(void **state)
{
    static struct hooks hooks;
    struct extract_hook_roles *roles = open_text(layout);
    struct hooks_record entry = {
        .frame = HOOKS_STAMP, .hook = 0x106E0000, .words = 3, .data = {B, 9, 0}, .stamp = 10};
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    hooks_put(&hooks, &entry);
    entry = (struct hooks_record){
        .frame = HOOKS_STAMP, .hook = 0x101A0000, .words = 1, .data = {6}, .stamp = 25};
    hooks_put(&hooks, &entry);
    entry.hook = 0x104E0000;
    entry.words = 2;
    entry.stamp = 65;
    hooks_put(&hooks, &entry);
    look_with(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_int_equal(thread_of(stats, B)->syscalls, 1);
    assert_int_equal(thread_of(stats, B)->mode_ticks[EXTRACT_MODE_SYSCALL], 40);
    assert_int_equal(stats->syscalls[0].elapsed.sum, 40);
    extract_stats_free(stats);
    look_close(&look);
    extract_hook_roles_close(roles);
}

static void assert_modes(const uint64_t *ticks, const uint64_t is[EXTRACT_MODES])
{
    for (unsigned i = 0; i < EXTRACT_MODES; i++)
        assert_int_equal(ticks[i], is[i]);
}

static void assert_distribution(const struct extract_distribution *is, uint64_t count, uint64_t sum,
                                uint64_t min, uint64_t max)
{
    assert_int_equal(is->count, count);
    assert_int_equal(is->sum, sum);
    assert_int_equal(is->min, min);
    assert_int_equal(is->max, max);
}

static void test_modes(void **state)
{
    // application, system calls, kernel, first level, second level, dispatch, idle, unknown
    static const uint64_t all[] = {40 + 10 + 30 + 20 + 20, 40 + 20 + 20 + 20, 30, 20 + 10 + 10, 30,
                                   10 + 10 + 15 + 5 + 5,   80 + 45,           10};
    static const uint64_t a[] = {40 + 10 + 20, 40 + 20, 0, 0, 0, 10 + 5, 0, 10};
    static const uint64_t b[] = {30 + 20, 20 + 20, 0, 0, 0, 0, 0, 0};
    static const uint64_t c[] = {0, 0, 30, 0, 0, 5, 0, 0};
    static struct hooks hooks;
    struct extract_hook_roles *roles = open_text(layout);
    struct extract_stats *stats;
    struct look look;
    (void)state;
    build_stream(&hooks);
    look_with(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_true(stats->has_modes);
    assert_false(stats->has_waits);
    assert_modes(stats->mode_ticks, all);
    assert_modes(stats->cores[0].mode_ticks, all);
    assert_modes(thread_of(stats, A)->mode_ticks, a);
    assert_modes(thread_of(stats, B)->mode_ticks, b);
    assert_modes(thread_of(stats, C)->mode_ticks, c);
    assert_int_equal(thread_of(stats, A)->ready_ticks, 0);
    assert_int_equal(stats->interrupts, 2);
    assert_int_equal(stats->nested_interrupts, 0);
    assert_int_equal(stats->interrupt_ticks, 20 + 30 + 10 + 10 + 10 + 15);
    assert_int_equal(stats->context_switches, 6);

    // Processes 7 (A: 155 ticks), 9 (B: 90) and 2 (C: 35), and the thread of the idle process.
    assert_int_equal(stats->process_count, 4);
    assert_int_equal(stats->processes[0].process, 7);
    assert_int_equal(stats->processes[0].syscalls, 2);
    assert_modes(stats->processes[0].mode_ticks, a);
    assert_int_equal(stats->processes[1].process, 9);
    assert_int_equal(stats->processes[2].process, 2);
    assert_false(stats->processes[3].is_known);

    // Calls 5: from 50 to 90; from 425, which exit ended. Call 6: from 200 to 345, with an error;
    // its thread ran from 200 to 220 and from 325 to 345.
    assert_int_equal(stats->syscall_count, 2);
    const struct extract_syscall_stats *five = &stats->syscalls[0], *six = &stats->syscalls[1];
    assert_int_equal(five->number, 5);
    assert_int_equal(five->count, 2);
    assert_int_equal(five->unfinished, 1);
    assert_int_equal(five->errors, 0);
    assert_distribution(&five->elapsed, 1, 40, 40, 40);
    assert_distribution(&five->running, 1, 40, 40, 40);
    assert_int_equal(six->number, 6);
    assert_int_equal(six->count, 1);
    assert_int_equal(six->unfinished, 0);
    assert_int_equal(six->errors, 1);
    assert_distribution(&six->elapsed, 1, 145, 145, 145);
    assert_distribution(&six->running, 1, 40, 40, 40);

    // Interrupt 3: 100 to 120, 150 to 170, 300 to 325; it lasts from 100 to 170, and from 300 to
    // 325. The second-level handler 8 runs from 120 to 150.
    assert_int_equal(stats->interrupt_count, 2);
    assert_int_equal(stats->interrupt_list[0].number, 3);
    assert_int_equal(stats->interrupt_list[0].count, 2);
    assert_int_equal(stats->interrupt_list[0].ticks, 65);
    assert_distribution(&stats->interrupt_list[0].duration, 2, 95, 25, 70);
    assert_true(stats->interrupt_list[1].is_second_level);
    assert_int_equal(stats->interrupt_list[1].number, 8);
    assert_int_equal(stats->interrupt_list[1].ticks, 30);
    extract_stats_free(stats);
    look_close(&look);
    extract_hook_roles_close(roles);
}

// A thread whose first event ends a system call was in it before. A call whose end states another
// number has no end.
static void test_calls_at_the_edges(void **state)
{
    static const uint64_t a[] = {10, 30 + 20, 0, 0, 0, 0, 0, 0};
    static struct hooks hooks;
    struct extract_hook_roles *roles = open_text("101 syscall-entry number=D1\n"
                                                 "104 syscall-exit number=D1\n"
                                                 "106 dispatch thread=D1\n");
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    put(&hooks, 100, A, 0x10600000, 1, A, 0, 0);
    put(&hooks, 130, A, 0x10400000, 1, 5, 0, 0);
    put(&hooks, 140, A, 0x10100000, 1, 6, 0, 0);
    put(&hooks, 160, A, 0x10400000, 1, 7, 0, 0);
    look_with(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_modes(stats->mode_ticks, a);
    assert_modes(thread_of(stats, A)->mode_ticks, a);
    assert_int_equal(stats->syscall_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(stats->syscalls[i].number, 5 + i);
        assert_int_equal(stats->syscalls[i].count, i == 1);
        assert_int_equal(stats->syscalls[i].unfinished, i == 1);
        assert_int_equal(stats->syscalls[i].elapsed.count, 0);
        assert_false(stats->syscalls[i].errors_known);
    }
    extract_stats_free(stats);
    look_close(&look);
    extract_hook_roles_close(roles);
}

// Two cores. Thread A runs on core 0 from 0 to 50, which no system call explains, and on core 1
// from 60 on, where it calls 5 from 90 to 110. Thread B runs on core 0 from 50 to 100.
static void test_modes_of_cores(void **state)
{
    static const uint64_t core0[] = {50, 0, 0, 0, 0, 0, 0, 50};
    static const uint64_t core1[] = {30, 20, 0, 0, 0, 0, 0, 0};
    static const uint64_t a[] = {30, 20, 0, 0, 0, 0, 0, 50};
    static const struct {
        uint64_t stamp;
        uint32_t core;
        uint64_t tid;
        uint32_t hook;
        uint64_t word;
    } entries[] = {{0, 0, A, 0x106A0000, A},   {50, 0, A, 0x106A0000, B},
                   {60, 1, B, 0x106A0000, A},  {90, 1, A, 0x101A0000, 5},
                   {100, 0, B, 0x101A0000, 5}, {110, 1, A, 0x104A0000, 5}};
    static struct hooks hooks;
    struct extract_hook_roles *roles = open_text("106 dispatch thread=D1\n"
                                                 "101 syscall-entry number=D1\n"
                                                 "104 syscall-exit number=D1\n");
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        struct hooks_record record = {.frame = STAMPED | entries[i].core << 24,
                                      .hook = entries[i].hook,
                                      .words = 1,
                                      .data = {entries[i].word},
                                      .tid = entries[i].tid,
                                      .stamp = entries[i].stamp};
        hooks_put(&hooks, &record);
    }
    look_with(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_int_equal(stats->core_count, 2);
    assert_modes(stats->cores[0].mode_ticks, core0);
    assert_modes(stats->cores[1].mode_ticks, core1);
    assert_modes(thread_of(stats, A)->mode_ticks, a);
    extract_stats_free(stats);
    look_close(&look);
    extract_hook_roles_close(roles);
}

static void assert_dispatches(const struct extract_dispatches *is, uint64_t count, uint64_t again,
                              uint64_t same_core)
{
    assert_int_equal(is->count, count);
    assert_int_equal(is->again, again);
    assert_int_equal(is->same_core, same_core);
}

// Two cores, 0 and 1, and the threads that they dispatch:
//
//   time     0   10   20   30   40   50   60   70   80
//   core 0   A              B         idle      A
//   core 1        B    A         A         A         A
//
// At 40, core 1 dispatches A again, which it runs already, and at 60 in an interrupt that began at
// 55. A is dispatched 6 times: first to core 0, then to the cores 1, 1, 1, 0 and 1, so 2 of 5
// dispatches are to the core that it had. B is dispatched to core 1, then to core 0: 0 of 1.
static void test_dispatches(void **state)
{
    static const struct {
        uint64_t stamp;
        uint32_t core;
        uint64_t tid;
        uint32_t hook;
        uint64_t word;
    } entries[] = {{0, 0, A, 0x106A0000, A},  {10, 1, B, 0x106A0000, B}, {20, 1, B, 0x106A0000, A},
                   {30, 0, A, 0x106A0000, B}, {40, 1, A, 0x106A0000, A}, {50, 0, B, 0x106A0000, 0},
                   {55, 1, A, 0x100A0000, 3}, {60, 1, A, 0x106A0000, A}, {62, 1, A, 0x200A0000, 0},
                   {70, 0, 0, 0x106A0000, A}, {80, 1, A, 0x106A0000, A}};
    static struct hooks hooks;
    struct extract_hook_roles *roles = open_text(layout);
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        struct hooks_record record = {.frame = STAMPED | entries[i].core << 24,
                                      .hook = entries[i].hook | 0xE0000,
                                      .words = 3,
                                      .data = {entries[i].word, 7},
                                      .tid = entries[i].tid,
                                      .stamp = entries[i].stamp};
        hooks_put(&hooks, &record);
    }
    look_with(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    const struct extract_core_stats *cores = stats->cores;
    const struct extract_thread_stats *a = thread_of(stats, A), *b = thread_of(stats, B);
    assert_dispatches(&a->dispatches, 6, 5, 2);
    assert_dispatches(&b->dispatches, 2, 1, 0);
    assert_dispatches(&stats->dispatches, 8, 6, 2);
    assert_dispatches(&cores[0].dispatches, 3, 2, 0);
    assert_dispatches(&cores[1].dispatches, 5, 4, 2);
    assert_int_equal(cores[0].idle_dispatches, 1);
    assert_int_equal(cores[1].idle_dispatches, 0);
    assert_int_equal(cores[0].thread_dispatches[a - stats->threads], 2);
    assert_int_equal(cores[1].thread_dispatches[a - stats->threads], 4);
    assert_int_equal(cores[0].thread_dispatches[b - stats->threads], 1);
    assert_int_equal(cores[1].thread_dispatches[b - stats->threads], 1);
    extract_stats_free(stats);
    look_close(&look);
    extract_hook_roles_close(roles);
}

// Puts an entry with a text behind one data word.
static void put_text(struct hooks *hooks, uint64_t stamp, uint64_t tid, uint32_t hook,
                     uint64_t word, const char *text)
{
    struct hooks_record record = {.frame = STAMPED,
                                  .hook = hook | 0x80000 | (uint32_t)strlen(text),
                                  .words = 1,
                                  .data = {word},
                                  .buffer = text,
                                  .buffer_bytes = (unsigned)strlen(text),
                                  .tid = tid,
                                  .stamp = stamp};
    hooks_put(hooks, &record);
}

static const char *process_name(const struct extract_stats *stats, uint64_t process)
{
    for (size_t i = 0; i < stats->process_count; i++)
        if (stats->processes[i].is_known && stats->processes[i].process == process)
            return stats->processes[i].name;
    fail();
    return NULL;
}

// A runs process 7, which becomes "sh". It forks process 9 with thread B, which is "sh" until its
// exec of "ls"; and process 10 with thread C, which stays "sh". The thread 0xD1 runs "cat" before
// its process 11 is known. A name of a thread is not that of its process 12.
static void test_process_names(void **state)
{
    enum { D = 0xD1, E = 0xE1 };
    static struct hooks hooks;
    struct extract_hook_roles *roles = open_text("106 dispatch thread=D1 process=D2\n"
                                                 "134 exec name=@4\n"
                                                 "139 fork thread=D1 process=D2\n"
                                                 "465 thread name=@4\n");
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    put(&hooks, 0, A, 0x10600000, 2, A, 7, 0);
    put_text(&hooks, 10, A, 0x13400000, 0, "login");
    put_text(&hooks, 15, A, 0x13400000, 0, "sh");
    put(&hooks, 20, A, 0x13900000, 2, B, 9, 0);
    put(&hooks, 25, A, 0x13900000, 2, C, 10, 0);
    put(&hooks, 30, A, 0x10600000, 2, B, 9, 0);
    put_text(&hooks, 40, B, 0x13400000, 0, "ls");
    put_text(&hooks, 45, D, 0x13400000, 0, "cat");
    put(&hooks, 50, B, 0x10600000, 2, D, 11, 0);
    put(&hooks, 60, D, 0x10600000, 2, E, 12, 0);
    put_text(&hooks, 70, E, 0x46500000, 0, "worker");
    put_text(&hooks, 80, E, 0x13400000, 0, "");
    look_with(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_int_equal(stats->process_count, 5);
    assert_string_equal(process_name(stats, 7), "sh");
    assert_string_equal(process_name(stats, 9), "ls");
    assert_string_equal(process_name(stats, 10), "sh");
    assert_string_equal(process_name(stats, 11), "cat");
    assert_null(process_name(stats, 12));
    assert_string_equal(extract_trace_thread(look.trace, E)->shown, "worker");
    assert_string_equal(extract_trace_thread(look.trace, B)->shown, "ls");
    extract_stats_free(stats);
    look_close(&look);
    extract_hook_roles_close(roles);
}

static void test_locks(void **state)
{
    enum { L = 0x1000, M = 0x2000, R = 0x3000 };
    static struct hooks hooks;
    struct extract_hook_roles *roles = open_text(layout);
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    put(&hooks, 10, A, 0x11200000, 1, L, 0, 0);
    put(&hooks, 30, B, 0x11200001, 1, L, 0, 0); // B misses it twice, and waits
    put(&hooks, 40, B, 0x11200001, 1, L, 0, 0);
    put(&hooks, 50, B, 0x11200003, 1, L, 0, 0);
    put(&hooks, 70, A, 0x11200000, 1, L, 0, 0); // A gets it again
    put(&hooks, 80, A, 0x11300000, 1, L, 0, 0);
    put(&hooks, 95, A, 0x11300000, 1, L, 0, 0);
    put(&hooks, 110, B, 0x11200000, 1, L, 0, 0);
    put(&hooks, 130, B, 0x11300000, 1, L, 0, 0);
    put(&hooks, 140, B, 0x11200002, 1, L, 0, 0);
    put(&hooks, 150, B, 0x11200000, 1, M, 0, 0); // is not released
    put(&hooks, 160, B, 0x11300000, 1, R, 0, 0); // was got before the trace
    put(&hooks, 170, A, 0x11200000, 1, R, 0, 0); // two readers
    put(&hooks, 180, B, 0x11200000, 1, R, 0, 0);
    put(&hooks, 195, A, 0x11300000, 1, R, 0, 0);
    put(&hooks, 200, B, 0x11300000, 1, R, 0, 0);
    look_with(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_int_equal(stats->lock_count, 3);
    const struct extract_lock_stats *l = &stats->locks[0], *r = &stats->locks[1];
    const struct extract_lock_stats *m = &stats->locks[2];
    assert_int_equal(l->address, L);
    assert_int_equal(l->acquisitions, 3);
    assert_int_equal(l->misses, 2);
    assert_int_equal(l->waits, 1);
    assert_int_equal(l->busy, 1);
    assert_distribution(&l->held, 2, 85 + 20, 20, 85);
    assert_distribution(&l->waited, 1, 80, 80, 80);
    assert_int_equal(l->still_held, 0);
    assert_int_equal(r->address, R);
    assert_int_equal(r->acquisitions, 2);
    assert_distribution(&r->held, 2, 25 + 20, 20, 25);
    assert_int_equal(m->address, M);
    assert_int_equal(m->still_held, 1);
    assert_int_equal(m->held.count, 0);
    extract_stats_free(stats);
    look_close(&look);
    extract_hook_roles_close(roles);
}

// A lock of which 65 threads want to have it at once: the last one is counted, but not measured.
static void test_many_users_of_a_lock(void **state)
{
    static struct hooks hooks;
    struct extract_hook_roles *roles = open_text(layout);
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 16384, 0);
    for (unsigned i = 0; i < 65; i++)
        put(&hooks, i, 1 + i, 0x11200000, 1, 0x1000, 0, 0);
    for (unsigned i = 0; i < 65; i++)
        put(&hooks, 100 + i, 1 + i, 0x11300000, 1, 0x1000, 0, 0);
    look_with(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_int_equal(stats->locks[0].acquisitions, 65);
    assert_distribution(&stats->locks[0].held, 64, 64 * 100, 100, 100);
    assert_true(stats->locks[0].has_more_users);
    extract_stats_free(stats);
    look_close(&look);
    extract_hook_roles_close(roles);
}

static void test_names(void **state)
{
    static struct hooks hooks;
    struct extract_hook_roles *roles = open_text(layout);
    struct hooks_record record = {.frame = STAMPED,
                                  .hook = 0x1348000B,
                                  .words = 1,
                                  .data = {9},
                                  .buffer = "/bin/demo\0x",
                                  .buffer_bytes = 11,
                                  .tid = B,
                                  .stamp = 5};
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    put(&hooks, 1, A, 0x10600000, 3, B, 9, 0);
    hooks_put(&hooks, &record);
    look_with(&look, &hooks, roles);
    assert_string_equal(extract_trace_thread(look.trace, B)->shown, "/bin/demo");
    assert_string_equal(extract_trace_thread(look.trace, A)->shown, "0x000000a1");
    look_close(&look);
    extract_hook_roles_close(roles);
}

// With a role for waits, a thread that loses its core without one is ready.
static void test_waits(void **state)
{
    static struct hooks hooks;
    struct extract_hook_roles *roles = open_text("106 dispatch thread=D1\n"
                                                 "11E suspend\n"
                                                 "11F ready thread=D1\n");
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    put(&hooks, 0, A, 0x10600000, 1, A, 0, 0);
    put(&hooks, 10, A, 0x11E00000, 0, 0, 0, 0); // A waits from 10 to 50
    put(&hooks, 20, A, 0x10600000, 1, B, 0, 0);
    put(&hooks, 50, B, 0x11F00000, 1, A, 0, 0); // and is ready from 50 to 60
    put(&hooks, 60, B, 0x10600000, 1, A, 0, 0); // B is ready from 60 on
    put(&hooks, 90, A, 0x10600000, 1, B, 0, 0);
    look_with(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_true(stats->has_waits);
    assert_int_equal(thread_of(stats, A)->suspended_ticks, 40);
    assert_int_equal(thread_of(stats, A)->ready_ticks, 10);
    assert_int_equal(thread_of(stats, B)->ready_ticks, 20 + 30);
    assert_int_equal(stats->switches[EXTRACT_SWITCH_GAVE_UP], 1);
    assert_int_equal(stats->switches[EXTRACT_SWITCH_PREEMPTED], 2); // B at 60, A at 90
    extract_stats_free(stats);
    look_close(&look);
    extract_hook_roles_close(roles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_hostile_files),
        cmocka_unit_test(test_later_files_replace),
        cmocka_unit_test(test_memory_is_short),
        cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_wide_entries),
        cmocka_unit_test(test_schedule),
        cmocka_unit_test(test_schedule_of_aix),
        cmocka_unit_test(test_evidence),
        cmocka_unit_test(test_calls_without_thread_ids),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_calls_at_the_edges),
        cmocka_unit_test(test_modes_of_cores),
        cmocka_unit_test(test_dispatches),
        cmocka_unit_test(test_process_names),
        cmocka_unit_test(test_locks),
        cmocka_unit_test(test_many_users_of_a_lock),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_waits),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
