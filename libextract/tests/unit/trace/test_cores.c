// SPDX-License-Identifier: MIT
// unit: traces of several cores: how many there are and how that is known, their statistics, and
// the column of reports.
//
// Truth: computation by hand; docs/formats/threadx.md, "SMP"; docs/formats/hook.md; and the memory
// layout by a compiler.
#include "tests/unit/hook/hook_builder.h"
#include "tests/unit/log_builder.h"
#include "tests/unit/scratch.h"
#include <extract/stats.h>
#include <stdio.h>

enum { A = 0x20004000, B = 0x20004200, MUTEX = 0x20004600, SEMAPHORE = 0x20004700 };
enum {
    RESUME = 1,
    SUSPEND,
    ISR_ENTER,
    ISR_EXIT,
    TIME_SLICE,
    MUTEX_GET = 52,
    SEMAPHORE_PUT = 88,
    USER = 4096
};

static struct ring_image image;
static struct look look;

static void begin(unsigned entries)
{
    struct ring_spec spec = ring_plain;
    spec.entries = entries;
    ring_build(&image, &spec);
    ring_register(&image, 0, &(struct ring_object){0, 1, 0, 0, A, 0x20005000, 1024, "a"});
    ring_register(&image, 1, &(struct ring_object){0, 1, 0, 0, B, 0x20006000, 1024, "b"});
}

// Adds an event of thread A or B, or of the interrupt that interrupted one.
static void add(unsigned core, uint64_t stamp, uint64_t thread, uint64_t id, uint64_t i1,
                uint64_t i2)
{
    bool isr = id == ISR_ENTER || id == ISR_EXIT;
    uint64_t word = isr ? thread : thread == A ? 0x80140014 : 0x80050005;
    ring_insert(
        &image,
        &(struct ring_entry){
            isr ? RING_IN_ISR : thread, word, id | (uint64_t)core << 24, stamp, {i1, i2, i1, 0}});
}

static void assert_cores(const struct extract_trace *trace, unsigned cores,
                         enum extract_cores_from from)
{
    assert_int_equal(extract_trace_info(trace)->cores, cores);
    assert_int_equal(extract_trace_info(trace)->cores_from, from);
}

// ---- how many ----

static void test_seen(void **state)
{
    static const unsigned cores[] = {0, 1, 3, 255};
    (void)state;
    begin(16);
    look_open(&look, &image);
    assert_cores(look.trace, 0, EXTRACT_CORES_UNKNOWN); // there is no event yet
    look_close(&look);
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++) {
        begin(16);
        add(0, 1, A, USER, 0, 0);
        add(cores[i], 2, cores[i] ? B : A, USER, 0, 0);
        add(0, 3, A, USER, 0, 0);
        look_open(&look, &image);
        assert_cores(look.trace, cores[i] + 1, EXTRACT_CORES_SEEN);
        look_close(&look);
    }
}

// Entries that are not shown do not count as evidence of a core.
static void test_damaged(void **state)
{
    (void)state;
    begin(16);
    add(0, 1, A, USER, 0, 0);
    ring_put(&image, 9, &(struct ring_entry){A, 0, USER | 7 << 24, 2, {0}}); // after the pointer
    look_open(&look, &image);
    assert_int_equal(extract_trace_info(look.trace)->entries_damaged, 1);
    assert_cores(look.trace, 1, EXTRACT_CORES_SEEN);
    look_close(&look);
}

// The caller knows of cores that an earlier trace showed and this one no longer shows.
static void test_seen_earlier(void **state)
{
    const struct extract_trace_options options = {.size = sizeof options, .cores_seen = 3};
    struct extract_trace *trace;
    (void)state;
    begin(16);
    add(1, 1, A, USER, 0, 0);
    look_open(&look, &image);
    assert_int_equal(extract_trace_open(&trace, &look.snapshot, &options, NULL), EXTRACT_OK);
    assert_cores(trace, 3, EXTRACT_CORES_SEEN);
    extract_trace_close(trace);
    look_close(&look);
}

// Opens the image with the ELF of a kernel that has a variable. The caller closes the symbols after
// the look.
static struct extract_symbols *look_with_kernel(const char *variable)
{
    struct extract_memory *memory = images_open();
    struct extract_symbols *symbols;

    scratch_puts("kernel.c", variable);
    assert_true(scratch_run("gcc -w -nostdlib -static -no-pie -Wl,-e,0 -o kernel.elf kernel.c"));
    assert_int_equal(extract_symbols_open(&symbols, scratch_path("kernel.elf"), NULL), EXTRACT_OK);
    images_add(memory, &image, 0, image.length);
    look_open_memory(&look, memory, image.spec.address, symbols);
    return symbols;
}

// The kernel's array of running threads has one element per core that the kernel was built for.
static void test_kernel(void **state)
{
    static const struct {
        const char *variable;
        unsigned seen, cores;
        enum extract_cores_from from;
    } rows[] = {
        {"void *_tx_thread_current_ptr;", 1, 1, EXTRACT_CORES_KERNEL},
        {"void *_tx_thread_current_ptr[4];", 1, 4, EXTRACT_CORES_KERNEL},
        {"void *_tx_thread_current_ptr[4];", 4, 4, EXTRACT_CORES_KERNEL},
        // An event comes from a core that the kernel does not have, so the ELF belongs to another
        // firmware.
        {"void *_tx_thread_current_ptr[2];", 3, 3, EXTRACT_CORES_SEEN},
        // The kernel is for one core, so that the id is that of a user event.
        {"void *_tx_thread_current_ptr;", 2, 1, EXTRACT_CORES_KERNEL},
        // A variable that cannot be such an array is no evidence.
        {"char _tx_thread_current_ptr[13];", 2, 2, EXTRACT_CORES_SEEN},
        {"void *_tx_thread_current_ptr[257];", 2, 2, EXTRACT_CORES_SEEN},
        {"int other;", 2, 2, EXTRACT_CORES_SEEN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(16);
        add(rows[i].seen - 1, 1, A, USER, 0, 0);
        struct extract_symbols *symbols = look_with_kernel(rows[i].variable);
        assert_cores(look.trace, rows[i].cores, rows[i].from);
        look_close(&look);
        extract_symbols_close(symbols);
    }
}

// The header of a ring of hook words states the number of cores. In a file converted from something
// else, the events show it.
static void test_hooks(void **state)
{
    static struct hooks hooks;
    (void)state;
    hooks_build(&hooks, false, 1024, 0);
    hooks_word(&hooks, HOOKS_CPUS, 3);
    hooks_put_plain(&hooks, 1, 10);
    hooks_look(&look, &hooks);
    assert_cores(look.trace, 3, EXTRACT_CORES_HEADER);
    look_close(&look);
    hooks_word(&hooks, HOOKS_FLAGS, 1 | 4);
    hooks_look(&look, &hooks);
    assert_cores(look.trace, 3, EXTRACT_CORES_SEEN);
    look_close(&look);
}

static void test_log(void **state)
{
    const struct extract_session_options options = {.size = sizeof options};
    struct log_file log;
    struct log_look seen;
    (void)state;
    begin(16);
    add(0, 10, A, USER, 0, 0);
    add(2, 20, B, USER, 0, 0);
    add(0, 30, A, USER, 0, 0);
    log_open(&log, scratch_path("cores.log"), &image);
    for (unsigned slot = 0; slot < 3; slot++)
        log_entries(&log, &image, slot, 1);
    log_close(&log);
    log_look_open(&seen, scratch_path("cores.log"), &options);
    assert_cores(seen.trace, 3, EXTRACT_CORES_SEEN);
    const char *text = log_verb(&seen, "stats");
    assert_non_null(strstr(text, "\n   0  a        20  100.000\n"));
    assert_non_null(
        strstr(log_verb(&seen, "info"), "\ncores: 3 (at least: no event is from a higher core)\n"));
    log_look_close(&seen);
}

// ---- top bytes of ids ----

struct top_byte_case {
    const char *name;
    struct {
        uint64_t thread, id, object;
    } entries[12];
    unsigned cores;
    enum extract_core_ids ids;
    uint32_t second; // id of the second event
};

// Computed by hand from the rules of docs/formats/threadx.md, "Event id".
static const struct top_byte_case top_byte_cases[] = {
    {"user events between other events of their thread",
     {{A, USER, 0}, {A, 0x01000001, 7}, {A, USER, 0}, {A, 0x01000001, 8}, {A, USER, 0}},
     1,
     EXTRACT_CORE_IDS_USER,
     0x01000001},
    {"one of them",
     {{A, USER, 0}, {A, 0x01000001, 7}, {B, USER, 0}},
     1,
     EXTRACT_CORE_IDS_LIKELY_USER,
     0x01000001},
    {"numbers of no cores",
     {{A, USER, 0}, {A, 0x30000001, 7}, {A, 0x31001001, 0}, {A, 0x32000002, 8}, {A, USER, 0}},
     1,
     EXTRACT_CORE_IDS_USER,
     0x30000001},
    {"two cores at the same time",
     {{A, USER, 0},
      {B, 0x01001000, 0},
      {A, USER, 0},
      {B, 0x01001000, 0},
      {A, USER, 0},
      {B, 0x01001000, 0},
      {A, USER, 0},
      {B, 0x01001000, 0},
      {A, USER, 0},
      {0, RESUME, B}},
     2,
     EXTRACT_CORE_IDS_CORES,
     USER},
    {"two cores, or two threads of one core whose switches are not recorded",
     {{A, 0x01001000, 0},
      {B, 0x02001000, 0},
      {A, 0x01001000, 0},
      {B, 0x02001000, 0},
      {A, 0x01001000, 0},
      {B, 0x02001000, 0},
      {A, 0x01001000, 0},
      {B, 0x02001000, 0}},
     3,
     EXTRACT_CORE_IDS_LIKELY_CORES,
     USER},
    {"a user event above 65535 on another core",
     {{A, USER, 0}, {B, 0x01020000, 0}, {A, USER, 0}, {B, 0x01000001, B}, {A, USER, 0}},
     2,
     EXTRACT_CORE_IDS_LIKELY_CORES,
     0x20000},
    {"an event of the kernel about a known thread",
     {{A, USER, 0}, {0, 0x01000001, B}},
     2,
     EXTRACT_CORE_IDS_LIKELY_CORES,
     RESUME},
    {"nothing shows it",
     {{A, 0x01001000, 0}, {A, 0x01001000, 0}},
     2,
     EXTRACT_CORE_IDS_UNSURE,
     USER},
};

static void assert_top_bytes(const struct top_byte_case *row, const struct extract_trace *trace)
{
    struct extract_event events[2];
    struct extract_reader reader;

    extract_reader_init(&reader, trace);
    size_t got = extract_reader_next(&reader, events, 2);
    if (extract_trace_info(trace)->core_ids != row->ids || got != 2 || events[1].id != row->second)
        fail_msg("%s: %d, %zu events, id 0x%x", row->name, extract_trace_info(trace)->core_ids, got,
                 events[1].id);
    assert_cores(trace, row->cores, EXTRACT_CORES_SEEN);
}

// All entries of a ring or a log together show whether the top bytes of ids are numbers of cores.
static void test_top_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof top_byte_cases / sizeof *top_byte_cases; i++) {
        const struct top_byte_case *row = &top_byte_cases[i];
        const struct extract_session_options options = {.size = sizeof options};
        struct log_file log;
        struct log_look seen;
        char name[16];
        unsigned count = 0;
        snprintf(name, sizeof name, "top%zu.log", i);
        begin(16);
        for (; row->entries[count].id; count++)
            ring_insert(&image,
                        &(struct ring_entry){row->entries[count].thread ? row->entries[count].thread
                                                                        : RING_IN_ISR,
                                             0x80050005,
                                             row->entries[count].id,
                                             count,
                                             {row->entries[count].object}});
        look_open(&look, &image);
        assert_top_bytes(row, look.trace);
        look_close(&look);
        log_open(&log, scratch_path(name), &image);
        for (unsigned slot = 0; slot < count; slot++)
            log_entries(&log, &image, slot, 1);
        log_close(&log);
        log_look_open(&seen, scratch_path(name), &options);
        assert_top_bytes(row, seen.trace);
        log_look_close(&seen);
    }
}

// ---- statistics ----

static struct extract_stats *stats_of(const struct extract_trace *trace)
{
    struct extract_stats *stats;
    struct extract_view *view;
    assert_int_equal(extract_view_new(&view, NULL, trace, 0, NULL), EXTRACT_OK);
    assert_int_equal(extract_stats_new(&stats, view, trace, NULL), EXTRACT_OK);
    extract_view_free(view);
    return stats;
}

// Adds events of two cores that are always busy, with interrupts on both at the same time.
static void add_both(unsigned other)
{
    add(0, 0, A, USER, 0, 0);
    add(other, 10, B, USER, 0, 0);
    add(0, 20, A, ISR_ENTER, 0, 0);
    add(other, 21, B, ISR_ENTER, 0, 0); // not nested: it is on the other core
    add(0, 30, A, ISR_EXIT, 0, 0);
    add(other, 31, B, ISR_EXIT, 0, 0);
    ring_insert(&image, &(struct ring_entry){B, // more urgent than A, the mutex' owner
                                             0x80050005,
                                             MUTEX_GET | (uint64_t)other << 24,
                                             40,
                                             {MUTEX, 0xFFFFFFFF, A, 1}});
    add(0, 45, A, RESUME, B, 6);
    add(other, 50, B, TIME_SLICE, A, 0);
    add(0, 60, A, SUSPEND, A, 6);
}

// Each core has its own times. TraceX's way of counting and its inversions need one core.
static void test_two_cores(void **state)
{
    (void)state;
    begin(16);
    add_both(1);
    look_open(&look, &image);
    struct extract_stats *stats = stats_of(look.trace);
    assert_true(stats->has_loads && !stats->has_tracex);
    assert_int_equal(stats->events, 10);
    assert_int_equal(stats->interrupts, 2);
    assert_int_equal(stats->nested_interrupts, 0);
    assert_int_equal(stats->suspends, 1);
    assert_int_equal(stats->resumes, 1);
    assert_int_equal(stats->time_slices, 1);
    assert_false(stats->knows_time_slices); // it may be for slices of both cores, or of one
    assert_int_equal(stats->span_ticks, 60);
    assert_int_equal(stats->context_switches, 1); // a suspends itself
    assert_int_equal(stats->tracex.preemptions, 0);
    assert_int_equal(stats->inversions_deterministic + stats->inversions_undeterministic, 0);
    assert_int_equal(stats->core_count, 2);
    assert_int_equal(stats->cores[0].span_ticks, 60);
    assert_int_equal(stats->cores[0].interrupt_ticks, 10); // 20 to 30
    assert_int_equal(stats->cores[0].thread_ticks[0], 50);
    assert_int_equal(stats->cores[1].span_ticks, 40);      // 10 to 50
    assert_int_equal(stats->cores[1].interrupt_ticks, 10); // 21 to 31
    assert_int_equal(stats->cores[1].thread_ticks[1], 30);
    assert_int_equal(stats->interrupt_ticks, 20);
    assert_int_equal(stats->idle_ticks + stats->init_ticks + stats->unknown_ticks, 0);
    assert_int_equal(stats->threads[1].events, 3);
    assert_int_equal(stats->threads[1].resumes, 1); // by a
    assert_int_equal(stats->threads[0].resumes, 0);
    extract_stats_free(stats);
    look_close(&look);
    begin(16);
    add_both(0); // the same events on one core
    look_open(&look, &image);
    stats = stats_of(look.trace);
    assert_true(stats->has_tracex);
    assert_int_equal(stats->nested_interrupts, 1);
    assert_true(stats->context_switches > 0);
    assert_int_equal(stats->inversions_deterministic + stats->inversions_undeterministic, 1);
    extract_stats_free(stats);
    look_close(&look);
}

// No event shows who leaves a core. A thread has one core at a time all the same: that on which it
// has recorded an event last.
static void test_one_core_at_a_time(void **state)
{
    (void)state;
    begin(16);
    add(0, 1000, A, USER, 0, 0);
    add(0, 1100, A, USER, 0, 0);
    add(1, 1200, A, USER, 0, 0);
    add(1, 1900, A, USER, 0, 0);
    add(0, 2000, A, USER, 0, 0);
    add(1, 2100, B, USER, 0, 0);
    add(0, 2200, A, USER, 0, 0);
    struct extract_symbols *symbols = look_with_kernel("void *_tx_thread_current_ptr[2];");
    struct extract_stats *stats = stats_of(look.trace);
    assert_int_equal(stats->span_ticks, 1200);
    assert_int_equal(stats->cores[0].thread_ticks[0], 400); // 1000 to 1200, 2000 to 2200
    assert_int_equal(stats->cores[0].unknown_ticks, 800);
    assert_int_equal(stats->cores[1].thread_ticks[0], 800); // 1200 to 2000
    assert_int_equal(stats->cores[1].thread_ticks[1], 100);
    assert_int_equal(stats->cores[1].unknown_ticks, 0);
    assert_int_equal(stats->threads[0].ticks, 1200);
    extract_stats_free(stats);
    look_close(&look);
    extract_symbols_close(symbols);
}

// An interrupt without a recorded entry counts on its own core, whatever runs on another one.
static void test_interrupts_by_core(void **state)
{
    (void)state;
    begin(16);
    add(0, 0, A, ISR_ENTER, 0, 0);
    ring_insert(&image,
                &(struct ring_entry){RING_IN_ISR, B, SEMAPHORE_PUT | 1 << 24, 5, {SEMAPHORE}});
    add(0, 9, A, ISR_EXIT, 0, 0);
    look_open(&look, &image);
    struct extract_stats *stats = stats_of(look.trace);
    assert_int_equal(stats->interrupts, 2);
    extract_stats_free(stats);
    look_close(&look);
}

// Cores store slightly out of order. Time that goes back does not count twice.
static void test_span(void **state)
{
    (void)state;
    begin(16);
    add(0, 1000, A, USER, 0, 0);
    add(1, 2000, B, USER, 0, 0);
    add(0, 1990, A, USER, 0, 0);
    add(1, 3000, B, USER, 0, 0);
    add(0, 2995, A, USER, 0, 0);
    look_open(&look, &image);
    struct extract_stats *stats = stats_of(look.trace);
    assert_int_equal(stats->span_ticks, 2000);
    extract_stats_free(stats);
    look_close(&look);
}

// ---- text ----

static const char *answer(const char *verb, const struct extract_session_options *options)
{
    static char buffer[8192];
    struct extract_memory *memory = images_open();
    struct extract_session *session;
    struct extract_text text;
    images_add(memory, &image, 0, image.length);
    assert_int_equal(extract_session_open(&session, memory, NULL, options, NULL), EXTRACT_OK);
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_session_run(session, verb, &text, NULL), EXTRACT_OK);
    assert_true(text.used < sizeof buffer);
    memcpy(buffer, text.data, text.used);
    buffer[text.used] = 0;
    extract_text_free(&text);
    extract_session_close(session);
    extract_memory_close(memory);
    return buffer;
}

static void test_texts(void **state)
{
    struct extract_session_options options = {.size = sizeof options};
    (void)state;
    begin(16);
    add_both(1);
    assert_string_equal(answer("stats", &options),
                        "events: 10\ncontext switches: 1\npreemptions: 0\n"
                        "time slices: unknown\n"
                        "switch kinds: 1 gave up, 0 yielded, 0 preempted, 0 time sliced, 0 other\n"
                        "suspends: 1\nresumes: 1\ninterrupts: 2\n"
                        "nested interrupts: 0\npriority inversions: unknown\n"
                        "idle ticks: 0\ninterrupt ticks: 20\ninit ticks: 0\n"
                        "span ticks: 60\n\n"
                        "thread  prio  events  ticks  percent  ready  blocked  stack size  "
                        "min free  at event  suspends  resumes\n"
                        "a         20       3     50   83.333      0        0        1024  "
                        "       -         -         1        0\n"
                        "b          5       3     30   50.000      0        0        1024  "
                        "       -         -         0        1\n"
                        // Both cores are busy from 10 to 50.
                        "load: |▄▄▄▄▄▄▄▄▄▄████████████████████████████████████████▄▄▄▄▄▄▄▄▄▄| "
                        "(1 ticks each)\n\n"
                        "core  what          ticks  percent\n"
                        "   0  a                50   83.333\n"
                        "   0  (interrupts)     10   16.666\n"
                        "   1  b                30   75.000\n"
                        "   1  (interrupts)     10   25.000\n\n"
                        "interrupt  count  ticks  percent  every  min  median  p99  max\n"
                        "        0      2     20   33.333      1   10      10   10   10\n\n"
                        "count  percent  class  event\n"
                        "    2   20.000  INT    isr enter\n    2   20.000  INT    isr exit\n"
                        "    2   20.000  APPL   user event 4096\n"
                        "    1   10.000  KERN   thread resume\n"
                        "    1   10.000  KERN   thread suspend\n"
                        "    1   10.000  KERN   time slice\n    1   10.000  SVC    mutex get\n\n"
                        "thread  count  percent  class  event\n"
                        "a           1   33.333  KERN   thread resume\n"
                        "a           1   33.333  KERN   thread suspend\n"
                        "a           1   33.333  APPL   user event 4096\n"
                        "b           1   33.333  KERN   time slice\n"
                        "b           1   33.333  SVC    mutex get\n"
                        "b           1   33.333  APPL   user event 4096\n");
    assert_non_null(
        strstr(answer("info", &options),
               "\nword bytes: 4\ncores: 2 (at least: no event is from a higher core)\n"));
    options.json = true;
    const char *json = answer("stats", &options);
    assert_non_null(strstr(json, "\"context_switches\":1,\"preemptions\":0,"));
    assert_non_null(strstr(json, "\"tracex\":{\"context_switches\":null,\"preemptions\":null,"));
    assert_non_null(
        strstr(json, "{\"deterministic\":null,\"undeterministic\":null},"
                     "\"idle_ticks\":0,\"maybe_idle_ticks\":0,\"interrupt_ticks\":20,"
                     "\"init_ticks\":0,\"unknown_ticks\":0,\"unsure_ticks\":0,\"span_ticks\":60,"));
    assert_non_null(strstr(json, "\"events\":3,\"ticks\":50,\"percent\":83.333,"));
    assert_non_null(strstr(answer("info", &options), "\"cores\":2,\"cores_from\":\"events\","));
}

// The column depends on what the trace contains, not on what a filter lets through.
static void test_column(void **state)
{
    static const struct extract_condition of_core_0[] = {{EXTRACT_FILTER_THREAD, "a"}};
    struct extract_session_options options = {.size = sizeof options};
    struct extract_columns columns;
    (void)state;
    begin(16);
    add_both(1);
    options.conditions = of_core_0;
    options.condition_count = 1;
    options.columns = &columns;
    const struct {
        const char *words;
        bool compat, has_column;
    } rows[] = {{"seq", false, true},       {"cpuid=off", false, false},
                {"cpuid=on", false, true},  {"cpuid", false, true},
                {"seq", true, false},       {"cpuid=on", true, true},
                {"cpuid=off", true, false}, {"cpuid=off,cpuid=on", false, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        extract_columns_init(&columns, rows[i].compat);
        assert_int_equal(extract_columns_set(&columns, rows[i].words, NULL, NULL, NULL),
                         EXTRACT_OK);
        bool found = strstr(answer("report", &options), " CPU ") != NULL;
        assert_int_equal(found, rows[i].has_column);
    }
    begin(16);
    add_both(0); // one core has no column, unless the user requests it
    extract_columns_init(&columns, false);
    assert_null(strstr(answer("report", &options), " CPU "));
    assert_int_equal(extract_columns_set(&columns, "cpuid", NULL, NULL, NULL), EXTRACT_OK);
    assert_non_null(strstr(answer("report", &options), " CPU "));
    assert_int_equal(extract_columns_set(&columns, "cpuid=2", NULL, NULL, NULL), EXTRACT_USAGE);
}

// Raw entries state the trace's number of cores, and not that of the events that a filter selects.
static void test_raw(void **state)
{
    static const struct extract_condition of_core_0[] = {{EXTRACT_FILTER_THREAD, "a"}};
    struct extract_session_options options = {.size = sizeof options};
    (void)state;
    begin(16);
    add_both(2);
    options.conditions = of_core_0;
    options.condition_count = 1;
    const char *file = answer("raw", &options);
    assert_memory_equal(file + 52, "\3\0\0\0", 4);
    assert_memory_equal(file + 16, "\4\0\0\0", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seen),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_seen_earlier),
        cmocka_unit_test(test_kernel),
        cmocka_unit_test(test_hooks),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_top_bytes),
        cmocka_unit_test(test_two_cores),
        cmocka_unit_test(test_one_core_at_a_time),
        cmocka_unit_test(test_interrupts_by_core),
        cmocka_unit_test(test_span),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_column),
        cmocka_unit_test(test_raw),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
