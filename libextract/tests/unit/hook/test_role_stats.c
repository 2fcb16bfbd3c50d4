// SPDX-License-Identifier: MIT
// Tests the statistics of streams of hook words: modes, system calls, processes, dispatches and
// locks. Truth: ringside-stats(1), and figures worked out by hand in the comments.
#include "tests/unit/hook/roles_builder.h"
#include "tests/unit/scratch.h"

static struct extract_error error;

// An entry without a thread id, between two dispatches, is counted for the dispatched thread.
static void test_calls_without_thread_ids(void **state)
{
    static struct hooks hooks;
    struct extract_hook_roles *roles = roles_open_text(roles_layout);
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
    roles_look(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_int_equal(roles_thread_of(stats, B)->syscalls, 1);
    assert_int_equal(roles_thread_of(stats, B)->events, 3); // with the dispatch
    assert_int_equal(roles_thread_of(stats, B)->mode_ticks[EXTRACT_MODE_SYSCALL], 40);
    assert_int_equal(stats->syscalls[0].elapsed.sum, 40);
    extract_stats_free(stats);
    look_close(&look);
    extract_hook_roles_close(roles);
}

// A dispatch counts for the thread that its entry has, which gets the processor, as in reports.
static void test_dispatches_with_thread_ids(void **state)
{
    static struct hooks hooks;
    struct extract_hook_roles *roles = roles_open_text("106 dispatch\n");
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    for (uint32_t i = 0; i < 8; i++) {
        struct hooks_record entry = {.frame = HOOKS_STAMP | HOOKS_TID,
                                     .hook = i % 2 ? 0x200E0000 : 0x106E0000,
                                     .tid = i / 2 % 2 ? B : A,
                                     .words = 1,
                                     .data = {7},
                                     .stamp = 10 * i};
        hooks_put(&hooks, &entry);
    }
    roles_look(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_int_equal(roles_thread_of(stats, A)->events, 4);
    assert_int_equal(roles_thread_of(stats, B)->events, 4);
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
    struct extract_hook_roles *roles = roles_open_text(roles_layout);
    struct extract_stats *stats;
    struct look look;
    (void)state;
    roles_build_stream(&hooks);
    roles_look(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_true(stats->has_modes);
    assert_false(stats->has_waits);
    assert_modes(stats->mode_ticks, all);
    assert_modes(stats->cores[0].mode_ticks, all);
    assert_modes(roles_thread_of(stats, A)->mode_ticks, a);
    assert_modes(roles_thread_of(stats, B)->mode_ticks, b);
    assert_modes(roles_thread_of(stats, C)->mode_ticks, c);
    assert_int_equal(roles_thread_of(stats, A)->ready_ticks, 0);
    assert_int_equal(stats->interrupts, 2);
    assert_int_equal(stats->nested_interrupts, 0);
    assert_int_equal(stats->interrupt_ticks, 20 + 30 + 10 + 10 + 10 + 15);
    // From A at 150, B at 220, idle at 310, B at 365, C at 400 and A at 455.
    assert_int_equal(stats->context_switches, 6);
    assert_int_equal(stats->switches[EXTRACT_SWITCH_OTHER], 1);
    assert_int_equal(stats->switches[EXTRACT_SWITCH_GAVE_UP], 1); // A has ended at 445
    assert_int_equal(stats->switches[EXTRACT_SWITCH_UNKNOWN], 4);
    assert_true(stats->has_switch_kinds);

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
    struct extract_hook_roles *roles = roles_open_text("101 syscall-entry number=D1\n"
                                                       "104 syscall-exit number=D1\n"
                                                       "106 dispatch thread=D1\n");
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    hooks_put_words(&hooks, 100, A, 0x10600000, 1, A, 0, 0);
    hooks_put_words(&hooks, 130, A, 0x10400000, 1, 5, 0, 0);
    hooks_put_words(&hooks, 140, A, 0x10100000, 1, 6, 0, 0);
    hooks_put_words(&hooks, 160, A, 0x10400000, 1, 7, 0, 0);
    roles_look(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_modes(stats->mode_ticks, a);
    assert_modes(roles_thread_of(stats, A)->mode_ticks, a);
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
    struct extract_hook_roles *roles = roles_open_text("106 dispatch thread=D1\n"
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
    roles_look(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_int_equal(stats->core_count, 2);
    assert_modes(stats->cores[0].mode_ticks, core0);
    assert_modes(stats->cores[1].mode_ticks, core1);
    assert_modes(roles_thread_of(stats, A)->mode_ticks, a);
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
    struct extract_hook_roles *roles = roles_open_text(roles_layout);
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
    roles_look(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    const struct extract_core_stats *cores = stats->cores;
    const struct extract_thread_stats *a = roles_thread_of(stats, A),
                                      *b = roles_thread_of(stats, B);
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

static void assert_switches(const uint64_t *is, uint64_t gave_up, uint64_t preempted,
                            uint64_t unknown)
{
    assert_int_equal(is[EXTRACT_SWITCH_GAVE_UP], gave_up);
    assert_int_equal(is[EXTRACT_SWITCH_PREEMPTED], preempted);
    assert_int_equal(is[EXTRACT_SWITCH_UNKNOWN], unknown);
    assert_int_equal(is[EXTRACT_SWITCH_YIELDED], 0);
    assert_int_equal(is[EXTRACT_SWITCH_TIME_SLICED], 0);
}

// Dispatches that state whether the thread before could have run on: 0 no, 1 yes; 2: they do not.
// The processes are A: 7, B: 8, C: 8.
//
//     0  A
//    10  B   A waits
//    20  A   B could have run on
//    30  A   once more: no switch
//    40      idle; A waits
//    50  C   none before
//    55      an interrupt, in which
//    60  B   is dispatched; C could have run on
//    70  A   not stated of B
//    80  C   A could have run on: it is ready until 90
//    90  A   C waits
//   100      the end
static void test_kinds_of_switches(void **state)
{
    static const struct {
        uint64_t stamp, tid;
        uint32_t hook;
        uint64_t next, process, ready;
    } entries[] = {
        {0, A, 0x10600000, A, 7, 2},  {10, A, 0x10600000, B, 8, 0}, {20, B, 0x10600000, A, 7, 1},
        {30, A, 0x10600000, A, 7, 1}, {40, A, 0x10600000, 0, 0, 0}, {50, WAIT, 0x10600000, C, 8, 0},
        {55, C, 0x10000000, 3, 0, 0}, {60, C, 0x10600000, B, 8, 1}, {65, B, 0x20000000, 0, 0, 0},
        {70, B, 0x10600000, A, 7, 2}, {80, A, 0x10600000, C, 8, 1}, {90, C, 0x10600000, A, 7, 0},
        {100, A, 0x20000000, 0, 0, 0}};
    static struct hooks hooks;
    struct extract_hook_roles *roles =
        roles_open_text("100 interrupt-entry level=first number=D1\n"
                        "106 idle ready=D3 when D1 == 0\n"
                        "106 dispatch thread=D1 process=D2 when D3 == 2\n"
                        "106 dispatch thread=D1 process=D2 ready=D3\n"
                        "200 resume\n");
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        hooks_put_words(&hooks, entries[i].stamp, entries[i].tid, entries[i].hook, 3,
                        entries[i].next, entries[i].process, entries[i].ready);
    roles_look(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_false(stats->has_waits);
    assert_true(stats->has_switch_kinds);
    assert_switches(roles_thread_of(stats, A)->switches, 2, 1, 0); // at 10 and 40; at 80
    assert_switches(roles_thread_of(stats, B)->switches, 0, 1, 1); // at 20; at 70
    assert_switches(roles_thread_of(stats, C)->switches, 1, 1, 0); // at 90; at 60
    assert_switches(stats->switches, 3, 3, 1);
    assert_int_equal(stats->switches[EXTRACT_SWITCH_OTHER], 1); // at 50, from idle
    assert_int_equal(stats->context_switches, 3 + 3 + 1 + 1);
    for (size_t i = 0; i < stats->process_count; i++) {
        if (stats->processes[i].process == 7)
            assert_switches(stats->processes[i].switches, 2, 1, 0);
        else if (stats->processes[i].process == 8)
            assert_switches(stats->processes[i].switches, 1, 2, 1);
    }
    // A is ready from 80 to 90, and B from 20 to 60. C is from 60 to 80.
    assert_int_equal(roles_thread_of(stats, A)->ready_ticks, 10);
    assert_int_equal(roles_thread_of(stats, B)->ready_ticks, 40);
    assert_int_equal(roles_thread_of(stats, C)->ready_ticks, 20);
    extract_stats_free(stats);
    look_close(&look);
    extract_hook_roles_close(roles);
}

// Without statements, only a wait for a lock shows why a thread loses the core: A at 20. Of B, it
// is not known. A that waits, but could have run on at 60, was preempted; it waits until then at
// most.
static void test_switches_of_waiting_threads(void **state)
{
    static struct hooks hooks;
    struct extract_hook_roles *roles =
        roles_open_text("106 dispatch thread=D1 ready=D2 when D3 == 1\n"
                        "106 dispatch thread=D1\n"
                        "112 lock-wait lock=D1\n");
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    hooks_put_words(&hooks, 0, A, 0x10600000, 3, A, 0, 0);
    hooks_put_words(&hooks, 10, A, 0x11200000, 3, 0x1000, 0, 0);
    hooks_put_words(&hooks, 20, A, 0x10600000, 3, B, 0, 0);
    hooks_put_words(&hooks, 30, B, 0x10600000, 3, A, 0, 0);
    hooks_put_words(&hooks, 50, A, 0x11200000, 3, 0x1000, 0, 0);
    hooks_put_words(&hooks, 60, A, 0x10600000, 3, B, 1, 1);
    hooks_put_words(&hooks, 80, B, 0x10600000, 3, A, 0, 0);
    roles_look(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_switches(roles_thread_of(stats, A)->switches, 1, 1, 0);
    assert_switches(roles_thread_of(stats, B)->switches, 0, 0, 2);
    assert_int_equal(roles_thread_of(stats, A)->ready_ticks, 20);
    assert_int_equal(roles_thread_of(stats, A)->blocked_ticks, 0); // it is not known for how long
    extract_stats_free(stats);
    look_close(&look);
    extract_hook_roles_close(roles);
}

// A ends at 10, and has the core until 20. It is not ready then, and was not preempted. B is.
static void test_switch_of_a_thread_that_ends(void **state)
{
    static struct hooks hooks;
    struct extract_hook_roles *roles = roles_open_text("106 dispatch thread=D1\n"
                                                       "108 suspend\n"
                                                       "135 exit\n");
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    hooks_put_words(&hooks, 0, A, 0x10600000, 1, A, 0, 0);
    hooks_put_words(&hooks, 10, A, 0x13500000, 0, 0, 0, 0);
    hooks_put_words(&hooks, 15, A, 0x20000000, 0, 0, 0, 0);
    hooks_put_words(&hooks, 20, A, 0x10600000, 1, B, 0, 0);
    hooks_put_words(&hooks, 30, B, 0x10600000, 1, C, 0, 0);
    hooks_put_words(&hooks, 40, C, 0x20000000, 0, 0, 0, 0);
    roles_look(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_true(stats->has_waits);
    assert_switches(roles_thread_of(stats, A)->switches, 1, 0, 0);
    assert_switches(roles_thread_of(stats, B)->switches, 0, 1, 0);
    assert_int_equal(roles_thread_of(stats, A)->ticks, 20);
    assert_int_equal(roles_thread_of(stats, A)->ready_ticks, 0);
    assert_int_equal(roles_thread_of(stats, B)->ready_ticks, 20 + 10); // before and after it ran
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
    struct extract_hook_roles *roles = roles_open_text("106 dispatch thread=D1 process=D2\n"
                                                       "134 exec name=@4\n"
                                                       "139 fork thread=D1 process=D2\n"
                                                       "465 thread name=@4\n");
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    hooks_put_words(&hooks, 0, A, 0x10600000, 2, A, 7, 0);
    put_text(&hooks, 10, A, 0x13400000, 0, "login");
    put_text(&hooks, 15, A, 0x13400000, 0, "sh");
    hooks_put_words(&hooks, 20, A, 0x13900000, 2, B, 9, 0);
    hooks_put_words(&hooks, 25, A, 0x13900000, 2, C, 10, 0);
    hooks_put_words(&hooks, 30, A, 0x10600000, 2, B, 9, 0);
    put_text(&hooks, 40, B, 0x13400000, 0, "ls");
    put_text(&hooks, 45, D, 0x13400000, 0, "cat");
    hooks_put_words(&hooks, 50, B, 0x10600000, 2, D, 11, 0);
    hooks_put_words(&hooks, 60, D, 0x10600000, 2, E, 12, 0);
    put_text(&hooks, 70, E, 0x46500000, 0, "worker");
    put_text(&hooks, 80, E, 0x13400000, 0, "");
    roles_look(&look, &hooks, roles);
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
    struct extract_hook_roles *roles = roles_open_text(roles_layout);
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    hooks_put_words(&hooks, 10, A, 0x11200000, 1, L, 0, 0);
    hooks_put_words(&hooks, 30, B, 0x11200001, 1, L, 0, 0); // B misses it twice, and waits
    hooks_put_words(&hooks, 40, B, 0x11200001, 1, L, 0, 0);
    hooks_put_words(&hooks, 50, B, 0x11200003, 1, L, 0, 0);
    hooks_put_words(&hooks, 70, A, 0x11200000, 1, L, 0, 0); // A gets it again
    hooks_put_words(&hooks, 80, A, 0x11300000, 1, L, 0, 0);
    hooks_put_words(&hooks, 95, A, 0x11300000, 1, L, 0, 0);
    hooks_put_words(&hooks, 110, B, 0x11200000, 1, L, 0, 0);
    hooks_put_words(&hooks, 130, B, 0x11300000, 1, L, 0, 0);
    hooks_put_words(&hooks, 140, B, 0x11200002, 1, L, 0, 0);
    hooks_put_words(&hooks, 150, B, 0x11200000, 1, M, 0, 0); // is not released
    hooks_put_words(&hooks, 160, B, 0x11300000, 1, R, 0, 0); // was got before the trace
    hooks_put_words(&hooks, 170, A, 0x11200000, 1, R, 0, 0); // two readers
    hooks_put_words(&hooks, 180, B, 0x11200000, 1, R, 0, 0);
    hooks_put_words(&hooks, 195, A, 0x11300000, 1, R, 0, 0);
    hooks_put_words(&hooks, 200, B, 0x11300000, 1, R, 0, 0);
    roles_look(&look, &hooks, roles);
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
    assert_distribution(&l->spun, 1, 20, 20, 20);
    assert_distribution(&l->waited, 1, 60, 60, 60);
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

static struct look short_look; // whose statistics are made with little memory

static enum extract_code make_statistics(void)
{
    struct extract_stats *stats;
    enum extract_code code = extract_stats_new(&stats, NULL, short_look.trace, &error);
    extract_stats_free(stats);
    return code;
}

static void test_memory_is_short(void **state)
{
    static struct hooks hooks;
    struct extract_hook_roles *roles = roles_open_text("106 dispatch thread=D1 process=D2\n"
                                                       "101 syscall-entry number=D1\n"
                                                       "112 lock-miss lock=D1 when HD == 1\n"
                                                       "112 lock-get lock=D1 caller=TID\n"
                                                       "134 exec name=@4\n"
                                                       "139 fork thread=D1 process=D2\n");
    (void)state;
    hooks_build(&hooks, false, 8192, 0);
    for (unsigned i = 0; i < 20; i++) {
        hooks_put_words(&hooks, 10 * i, A + i, 0x10600000, 2, A + i, 7 + i, 0);
        put_text(&hooks, 10 * i + 1, A + i, 0x13400000, 0, "login");
        hooks_put_words(&hooks, 10 * i + 2, A + i, 0x13900000, 2, A + i + 1, 8 + i, 0);
        hooks_put_words(&hooks, 10 * i + 3, A + i, 0x11200001, 1, 0x1000, 0, 0);
        hooks_put_words(&hooks, 10 * i + 4, A + i, 0x11200000, 1, 0x1000 + i, 0, 0);
        hooks_put_words(&hooks, 10 * i + 5, A + i, 0x10100000, 1, i, 0, 0);
    }
    roles_look(&short_look, &hooks, roles);
    each_allocation_fails(make_statistics);
    look_close(&short_look);
    extract_hook_roles_close(roles);
}

static void assert_user(const struct extract_lock_stats *lock, size_t i, uint64_t address,
                        const uint64_t counts[4], const uint64_t ticks[4])
{
    const struct extract_lock_user_stats *user = &lock->users[i];
    assert_int_equal(user->address, address);
    assert_int_equal(user->acquisitions, counts[0]);
    assert_int_equal(user->misses, counts[1]);
    assert_int_equal(user->busy, counts[2]);
    assert_int_equal(user->waits, counts[3]);
    assert_int_equal(user->held_ticks, ticks[0]);
    assert_int_equal(user->running_ticks, ticks[1]);
    assert_int_equal(user->spun_ticks, ticks[2]);
    assert_int_equal(user->waited_ticks, ticks[3]);
}

// Who has the core, and what A, B, C and the interrupt 3 do with the lock:
//
//     0  A   gets it at 5, and again at 8
//    10  B   misses it at 12, and again at 14
//    20  A   releases it once, at 25
//    30  B   still spins, and waits from 36 on
//    40  C   waits from 42 on
//    50  A   releases it at 58: held from 5 to 58, and ran from 5 to 10, 20 to 30 and 50 to 58
//    60  B   gets it at 61, and releases it at 69: waited from 36 to 61
//    70  C   misses it at 72, until it goes on without it at 75: waited from 42 to 72
//    80      interrupt 3: misses it at 82, gets it at 85, releases it at 89
//    90      the end
//
// B spins from 12 to 36, of which it runs from 12 to 20 and from 30 to 36.
static void test_users_of_a_lock(void **state)
{
    enum { LOCK = 0x1000, GET = 0x11200000, MISS, BUSY, WAITS, RELEASE = 0x11300000 };
    static const struct {
        uint64_t stamp, tid;
        uint32_t hook;
        uint64_t word;
    } entries[] = {{0, A, 0x10600000, A},  {5, A, GET, LOCK},      {8, A, GET, LOCK},
                   {10, A, 0x10600000, B}, {12, B, MISS, LOCK},    {14, B, MISS, LOCK},
                   {20, B, 0x10600000, A}, {25, A, RELEASE, LOCK}, {30, A, 0x10600000, B},
                   {36, B, WAITS, LOCK},   {40, B, 0x10600000, C}, {42, C, WAITS, LOCK},
                   {50, C, 0x10600000, A}, {58, A, RELEASE, LOCK}, {60, A, 0x10600000, B},
                   {61, B, GET, LOCK},     {69, B, RELEASE, LOCK}, {70, B, 0x10600000, C},
                   {72, C, MISS, LOCK},    {75, C, BUSY, LOCK},    {80, C, 0x10000000, 3},
                   {82, C, MISS, LOCK},    {85, C, GET, LOCK},     {89, C, RELEASE, LOCK},
                   {90, C, 0x20000000, 0}};
    static const uint64_t counts_of_a[] = {2, 0, 0, 0}, ticks_of_a[] = {53, 5 + 10 + 8, 0, 0};
    static const uint64_t counts_of_b[] = {1, 2, 0, 1}, ticks_of_b[] = {8, 8, 8 + 6, 25};
    static const uint64_t counts_of_c[] = {0, 1, 1, 1}, ticks_of_c[] = {0, 0, 3, 30};
    static const uint64_t counts_of_isr[] = {1, 1, 0, 0}, ticks_of_isr[] = {4, 4, 3, 0};
    static struct hooks hooks;
    struct extract_hook_roles *roles = roles_open_text(roles_layout);
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        hooks_put_words(&hooks, entries[i].stamp, entries[i].tid, entries[i].hook, 3,
                        entries[i].word, 7, 0);
    roles_look(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_int_equal(stats->lock_count, 1);
    const struct extract_lock_stats *lock = &stats->locks[0];
    assert_int_equal(lock->user_count, 4);
    assert_user(lock, 0, A, counts_of_a, ticks_of_a);
    assert_user(lock, 1, B, counts_of_b, ticks_of_b);
    assert_user(lock, 2, 0, counts_of_isr, ticks_of_isr);
    assert_true(lock->users[2].is_interrupts);
    assert_user(lock, 3, C, counts_of_c, ticks_of_c);
    assert_false(lock->users[3].is_interrupts);
    assert_distribution(&lock->held, 3, 53 + 8 + 4, 4, 53);
    assert_int_equal(lock->running_ticks, 23 + 8 + 4);
    assert_distribution(&lock->spun, 3, 14 + 3 + 3, 3, 14);
    assert_distribution(&lock->waited, 2, 25 + 30, 25, 30);
    assert_int_equal(lock->most_spinning, 1);
    assert_int_equal(lock->most_waiting, 2);
    assert_int_equal(lock->most_holds, 2);
    extract_stats_free(stats);
    look_close(&look);
    extract_hook_roles_close(roles);
}

static void assert_function(const struct extract_lock_stats *lock, size_t i, uint64_t address,
                            const uint64_t counts[4], const uint64_t holds[4],
                            const uint64_t ticks[3])
{
    const struct extract_lock_function_stats *function = &lock->functions[i];
    assert_int_equal(function->is_known, address != 0);
    assert_int_equal(function->address, address);
    assert_null(function->name);
    assert_int_equal(function->acquisitions, counts[0]);
    assert_int_equal(function->misses, counts[1]);
    assert_int_equal(function->busy, counts[2]);
    assert_int_equal(function->waits, counts[3]);
    assert_int_equal(function->holds, holds[0]);
    assert_int_equal(function->held_ticks, holds[1]);
    assert_int_equal(function->held_min, holds[2]);
    assert_int_equal(function->held_max, holds[3]);
    assert_int_equal(function->running_ticks, ticks[0]);
    assert_int_equal(function->spun_ticks, ticks[1]);
    assert_int_equal(function->waited_ticks, ticks[2]);
}

// Who has the core, and from where A and B use the lock:
//
//     0  A   gets it at 5 in F, and again at 8 in G
//    10  B   misses it at 12 in G, and again at 14 in F
//    20  A   releases it at 24 and 28: held from 5 to 28, and ran from 5 to 10 and 20 to 28
//    30  B   waits from 36 on in F
//    40  A   gets it at 42 in F, and releases it at 49
//    50  B   gets it at 51, in an entry without an address, and releases it at 60
//    70      goes on without it in G at 75
//    80      the end
//
// B spins from 12 to 36, of which it runs from 12 to 20 and 30 to 36, because of G; and waits from
// 36 to 51, because of F.
static void test_functions_of_a_lock(void **state)
{
    enum { LOCK = 0x1000, GET = 0x11200000, MISS, BUSY, WAITS, RELEASE = 0x11300000 };
    enum { F = 0x8010, G = 0x8020 };
    static const struct {
        uint64_t stamp, tid;
        uint32_t hook;
        unsigned words;
        uint64_t word, caller;
    } entries[] = {
        {0, A, 0x10600000, 1, A, 0},  {5, A, GET, 2, LOCK, F},      {8, A, GET, 2, LOCK, G},
        {10, A, 0x10600000, 1, B, 0}, {12, B, MISS, 2, LOCK, G},    {14, B, MISS, 2, LOCK, F},
        {20, B, 0x10600000, 1, A, 0}, {24, A, RELEASE, 2, LOCK, G}, {28, A, RELEASE, 2, LOCK, G},
        {30, A, 0x10600000, 1, B, 0}, {36, B, WAITS, 2, LOCK, F},   {40, B, 0x10600000, 1, A, 0},
        {42, A, GET, 2, LOCK, F},     {49, A, RELEASE, 1, LOCK, 0}, {50, A, 0x10600000, 1, B, 0},
        {51, B, GET, 1, LOCK, 0},     {60, B, RELEASE, 1, LOCK, 0}, {75, B, BUSY, 2, LOCK, G},
        {80, B, 0x10600000, 1, A, 0}};
    static const uint64_t counts_of_f[] = {2, 1, 0, 1}, holds_of_f[] = {2, 23 + 7, 7, 23};
    static const uint64_t counts_of_g[] = {1, 1, 1, 0}, holds_of_g[] = {0, 0, 0, 0};
    static const uint64_t counts_unknown[] = {1, 0, 0, 0}, holds_unknown[] = {1, 9, 9, 9};
    static const uint64_t ticks_of_f[] = {5 + 8 + 7, 0, 15}, ticks_of_g[] = {0, 8 + 6, 0};
    static const uint64_t ticks_unknown[] = {9, 0, 0};
    static struct hooks hooks;
    struct extract_hook_roles *roles =
        roles_open_text("106 dispatch thread=D1\n"
                        "112 lock-miss lock=D1 caller=D2 when HD == 1\n"
                        "112 lock-busy lock=D1 caller=D2 when HD == 2\n"
                        "112 lock-wait lock=D1 caller=D2 when HD == 3\n"
                        "112 lock-get lock=D1 caller=D2\n"
                        "113 lock-release lock=D1 caller=D2\n");
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        hooks_put_words(&hooks, entries[i].stamp, entries[i].tid, entries[i].hook, entries[i].words,
                        entries[i].word, entries[i].caller, 0);
    roles_look(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_int_equal(stats->lock_count, 1);
    const struct extract_lock_stats *lock = &stats->locks[0];
    assert_int_equal(lock->function_count, 3);
    assert_function(lock, 0, F, counts_of_f, holds_of_f, ticks_of_f);
    assert_function(lock, 1, 0, counts_unknown, holds_unknown, ticks_unknown);
    assert_function(lock, 2, G, counts_of_g, holds_of_g, ticks_of_g);
    assert_false(lock->has_more_functions);
    extract_stats_free(stats);
    look_close(&look);
    extract_hook_roles_close(roles);
}

// A lock that 257 functions use: the last one is not listed.
static void test_many_functions_of_a_lock(void **state)
{
    static struct hooks hooks;
    struct extract_hook_roles *roles = roles_open_text("112 lock-get lock=D1 caller=D2\n"
                                                       "113 lock-release lock=D1\n");
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 32768, 0);
    for (unsigned i = 0; i < 257; i++) {
        hooks_put_words(&hooks, 10 * i, A, 0x11200000, 2, 0x1000, 0x8000 + 4 * i, 0);
        hooks_put_words(&hooks, 10 * i + 5, A, 0x11300000, 1, 0x1000, 0, 0);
    }
    roles_look(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_int_equal(stats->locks[0].acquisitions, 257);
    assert_int_equal(stats->locks[0].held.count, 257);
    assert_int_equal(stats->locks[0].function_count, 256);
    assert_true(stats->locks[0].has_more_functions);
    extract_stats_free(stats);
    look_close(&look);
    extract_hook_roles_close(roles);
}

// A lock of which 65 threads want to have it at once: the last one is counted, but not measured.
static void test_many_users_of_a_lock(void **state)
{
    static struct hooks hooks;
    struct extract_hook_roles *roles = roles_open_text(roles_layout);
    struct extract_stats *stats;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 16384, 0);
    for (unsigned i = 0; i < 65; i++)
        hooks_put_words(&hooks, i, 1 + i, 0x11200000, 1, 0x1000, 0, 0);
    for (unsigned i = 0; i < 65; i++)
        hooks_put_words(&hooks, 100 + i, 1 + i, 0x11300000, 1, 0x1000, 0, 0);
    roles_look(&look, &hooks, roles);
    assert_int_equal(extract_stats_new(&stats, NULL, look.trace, &error), EXTRACT_OK);
    assert_int_equal(stats->locks[0].acquisitions, 65);
    assert_distribution(&stats->locks[0].held, 64, 64 * 100, 100, 100);
    assert_true(stats->locks[0].has_more_users);
    extract_stats_free(stats);
    look_close(&look);
    extract_hook_roles_close(roles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_without_thread_ids),
        cmocka_unit_test(test_dispatches_with_thread_ids),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_calls_at_the_edges),
        cmocka_unit_test(test_modes_of_cores),
        cmocka_unit_test(test_dispatches),
        cmocka_unit_test(test_kinds_of_switches),
        cmocka_unit_test(test_switches_of_waiting_threads),
        cmocka_unit_test(test_switch_of_a_thread_that_ends),
        cmocka_unit_test(test_process_names),
        cmocka_unit_test(test_locks),
        cmocka_unit_test(test_memory_is_short),
        cmocka_unit_test(test_users_of_a_lock),
        cmocka_unit_test(test_functions_of_a_lock),
        cmocka_unit_test(test_many_functions_of_a_lock),
        cmocka_unit_test(test_many_users_of_a_lock),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
