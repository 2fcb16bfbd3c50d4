// SPDX-License-Identifier: MIT
// Tests role files of hook words: their language, how lines apply to entries, and the schedule of
// streams. Truth: ringside-roles(5), and figures worked out by hand in the comments.
#include "tests/unit/hook/roles_builder.h"
#include "tests/unit/scratch.h"

static struct extract_error error;

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

// Returns the thread to which a line says that an entry switches; 0 if the line does not apply.
static uint64_t next_thread(const char *line, const struct hooks *hooks)
{
    struct extract_hook_roles *roles = roles_open_text(line);
    uint64_t next = 0;
    struct look look;
    roles_look(&look, hooks, roles);
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
            hooks_put_words(&hooks, 1, 0x77, 0x10601234, 2, 0x11223344, 0xA0B0C0D0, 0);
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
    struct extract_hook_roles *roles = roles_open_text(roles_layout);
    struct look look;
    (void)state;
    roles_build_stream(&hooks);
    roles_look(&look, &hooks, roles);
    assert_intervals(&look, is, sizeof is / sizeof *is);
    look_close(&look);
    extract_hook_roles_close(roles);
}

// Without the roles_layout of the data, threads follow from the ids of the entries, and interrupts
// have no numbers. A dispatch (hook 106) is then a change at some time before the next entry, and
// hook 10C an idle core.
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
    hooks_put_words(&hooks, 1000, A, 0x10100000, 1, 5, 0, 0);
    hooks_put_words(&hooks, 1100, A, 0x10000000, 1, 3, 0, 0);
    hooks_put_words(&hooks, 1110, A, 0x10200000, 1, 3, 0, 0);
    hooks_put_words(&hooks, 1120, A, 0x10300000, 0, 0, 0, 0);
    hooks_put_words(&hooks, 1125, A, 0x10600000, 0, 0, 0, 0);
    hooks_put_words(&hooks, 1130, A, 0x20000000, 0, 0, 0, 0);
    hooks_put_words(&hooks, 1140, B, 0x10400000, 0, 0, 0, 0);
    hooks_put_words(&hooks, 1160, B, 0x10600000, 0, 0, 0, 0);
    hooks_put_words(&hooks, 1170, B, 0x10C00000, 0, 0, 0, 0);
    hooks_put_words(&hooks, 1300, WAIT, 0x10000000, 1, 3, 0, 0);
    hooks_put_words(&hooks, 1305, WAIT, 0x10600000, 0, 0, 0, 0);
    hooks_put_words(&hooks, 1310, WAIT, 0x20000000, 0, 0, 0, 0);
    hooks_put_words(&hooks, 1350, B, 0x10400000, 0, 0, 0, 0);
    assert_int_equal(extract_hook_roles_open(&roles, names, 1, &error), EXTRACT_OK);
    roles_look(&look, &hooks, roles);
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
    struct extract_hook_roles *roles = roles_open_text(roles_layout);
    struct hooks_record bare = {
        .frame = HOOKS_STAMP, .hook = 0x106E0000, .words = 3, .data = {A, 7, 0}, .stamp = 0};
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    hooks_put(&hooks, &bare);
    bare.stamp = 30;
    bare.data[0] = B;
    hooks_put(&hooks, &bare);
    hooks_put_words(&hooks, 50, A, 0x10600000, 3, A, 7,
                    0); // the entry has the id of the new thread
    hooks_put_words(&hooks, 70, A, 0x10000000, 1, 3, 0, 0); // an interrupt without an end
    hooks_put_words(&hooks, 85, A, 0x10100000, 1, 5, 0, 0);
    hooks_put_words(&hooks, 100, A, 0x10400000, 2, 5, 0, 0);
    roles_look(&look, &hooks, roles);
    assert_intervals(&look, is, sizeof is / sizeof *is);
    look_close(&look);
    extract_hook_roles_close(roles);
}

static void test_names(void **state)
{
    static struct hooks hooks;
    struct extract_hook_roles *roles = roles_open_text(roles_layout);
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
    hooks_put_words(&hooks, 1, A, 0x10600000, 3, B, 9, 0);
    hooks_put(&hooks, &record);
    roles_look(&look, &hooks, roles);
    assert_string_equal(extract_trace_thread(look.trace, B)->shown, "/bin/demo");
    assert_string_equal(extract_trace_thread(look.trace, A)->shown, "0x000000a1");
    look_close(&look);
    extract_hook_roles_close(roles);
}

// With a role for waits, a thread that loses its core without one is ready.
static void test_waits(void **state)
{
    static struct hooks hooks;
    struct extract_hook_roles *roles = roles_open_text("106 dispatch thread=D1\n"
                                                       "11E suspend\n"
                                                       "11F ready thread=D1\n");
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    hooks_put_words(&hooks, 0, A, 0x10600000, 1, A, 0, 0);
    hooks_put_words(&hooks, 10, A, 0x11E00000, 0, 0, 0, 0); // A waits from 10 to 50
    hooks_put_words(&hooks, 20, A, 0x10600000, 1, B, 0, 0);
    hooks_put_words(&hooks, 50, B, 0x11F00000, 1, A, 0, 0); // and is ready from 50 to 60
    hooks_put_words(&hooks, 60, B, 0x10600000, 1, A, 0, 0); // B is ready from 60 on
    hooks_put_words(&hooks, 90, A, 0x10600000, 1, B, 0, 0);
    roles_look(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_true(stats->has_waits);
    assert_int_equal(roles_thread_of(stats, A)->suspended_ticks, 40);
    assert_int_equal(roles_thread_of(stats, A)->ready_ticks, 10);
    assert_int_equal(roles_thread_of(stats, B)->ready_ticks, 20 + 30);
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
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_waits),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
