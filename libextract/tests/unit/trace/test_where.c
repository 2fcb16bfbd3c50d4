// SPDX-License-Identifier: MIT
// unit: the meaning of names in --where expressions for events.
//
// Truth: the ring and the logs are written here word by word, and the events that pass are counted
// by hand.
#include "tests/unit/log_builder.h"
#include "tests/unit/scratch.h"
#include <extract/filter.h>

static struct look look;
static struct ring_image image;

enum {
    MAIN = 0x20004000,
    WORKER = 0x20004100,
    QUEUE = 0x20005000,
    MUTEX = 0x20005100,
    IP = 0x20005200,
    SP = 0x20001000
};

static const struct ring_object objects[] = {
    {0, 1, 0x80, 16, MAIN, 0x20008000, 1024, "main"},
    {0, 1, 0x80, 5, WORKER, 0x20008400, 1024, "worker[1]"},
    {0, 3, 0, 0, QUEUE, 40, 1, "queue 0"},
    {0, 5, 0, 0, MUTEX, 1, 0, "a \"b\""},
};

// Letter, ticks, who, event. The worker waits for the queue from d to f, main sleeps from k to m. i
// and j only move the worker to another priority, and n resumes a thread that is ready.
//  a   0  init    60 queue create    queue, 4, start, 10
//  b  10  main    69 queue send      queue, source, forever, 3
//  c  20  worker  68 queue receive   queue, destination, 50, 0
//  d  25  worker   2 suspend         worker, queue, sp, main
//  e  45  isr      3 isr enter       sp, 15, 1, 0
//  f  50  isr      1 resume          worker, queue, sp, worker
//  g  60  isr      4 isr exit        sp, 15, 1, 0
//  h  70  worker  52 mutex get       mutex, none, main, 1
//  i  71  worker   2 suspend         worker, priority change, sp, 0
//  j  72  worker   1 resume          worker, priority change, sp, 0
//  k  80  main     2 suspend         main, sleep, sp, 0
//  l  90  worker 4097 user event     1, 2, 3, 0xffffffff
//  m 100  isr      1 resume          main, sleep, sp, worker
//  n 110  worker   1 resume          main, ready, sp, worker
//  o 120  worker 300 arp receive     ip, 10.0.0.7, packet
static const struct ring_entry entries[] = {
    {RING_IN_INIT, 0, 60, 100, {QUEUE, 4, 0x20006000, 10}},
    {MAIN, 0x80100010, 69, 110, {QUEUE, 0x20006010, 0xFFFFFFFF, 3}},
    {WORKER, 0x80050005, 68, 120, {QUEUE, 0x20006020, 50, 0}},
    {WORKER, 0x80050005, 2, 125, {WORKER, 5, SP, MAIN}},
    {RING_IN_ISR, MAIN, 3, 145, {SP, 15, 1, 0}},
    {RING_IN_ISR, MAIN, 1, 150, {WORKER, 5, SP, WORKER}},
    {RING_IN_ISR, MAIN, 4, 160, {SP, 15, 1, 0}},
    {WORKER, 0x80050005, 52, 170, {MUTEX, 0, MAIN, 1}},
    {WORKER, 0x80050005, 2, 171, {WORKER, 14, SP, 0}},
    {WORKER, 0x80050005, 1, 172, {WORKER, 14, SP, 0}},
    {MAIN, 0x80100010, 2, 180, {MAIN, 4, SP, 0}},
    {WORKER, 0x80050005, 4097, 190, {1, 2, 3, 0xFFFFFFFF}},
    {RING_IN_ISR, WORKER, 1, 200, {MAIN, 4, SP, WORKER}},
    {WORKER, 0x80050005, 1, 210, {MAIN, 0, SP, WORKER}},
    {WORKER, 0x80050005, 300, 220, {IP, 0x0A000007, 0x20007000, 0}},
};

enum { ENTRIES = sizeof entries / sizeof *entries };

static void make_ring(void)
{
    struct ring_spec spec = ring_plain;

    spec.objects = 4;
    spec.entries = 20;
    ring_build(&image, &spec);
    ring_fill(&image, objects, sizeof objects / sizeof *objects, entries, ENTRIES);
}

static int open_look(void **state)
{
    (void)state;
    make_ring();
    look_open(&look, &image);
    return scratch_make(state);
}

static int close_look(void **state)
{
    look_close(&look);
    return scratch_remove(state);
}

struct seen {
    char text[64]; // one letter per event: 'a' + its sequence number; '#' for a marker
    size_t used;
};

static bool note(void *context, const struct extract_event *events, size_t count)
{
    struct seen *seen = context;

    for (size_t i = 0; i < count; i++)
        seen->text[seen->used++] =
            extract_event_is_mark(&events[i]) ? '#' : (char)('a' + events[i].seq);
    return true;
}

struct condition {
    enum extract_filter_word word;
    const char *value;
};

#define WHERE EXTRACT_FILTER_WHERE

static enum extract_code run(const struct extract_trace *trace, const struct condition *conditions,
                             size_t count, uint64_t hz, struct seen *seen,
                             struct extract_error *error)
{
    struct extract_filter *filter;
    struct extract_view *view;
    struct extract_sink sink = {.events = note, .context = seen};
    enum extract_code code = extract_filter_new(&filter, error);

    memset(seen, 0, sizeof *seen);
    if (code)
        return code;
    for (size_t i = 0; i < count && !code; i++)
        code = extract_filter_add(filter, conditions[i].word, conditions[i].value, error);
    if (!code) {
        code = extract_view_new(&view, filter, trace, hz, error);
        if (view) {
            extract_view_run(view, &sink);
            struct seen first = *seen;
            memset(seen, 0, sizeof *seen);
            extract_view_run(view, &sink); // a second walk gives the same
            assert_string_equal(first.text, seen->text);
        }
        extract_view_free(view);
    }
    extract_filter_free(filter);
    return code;
}

static void assert_passes(const struct extract_trace *trace, const char *expression, uint64_t hz,
                          const char *passes)
{
    const struct condition condition = {WHERE, expression};
    struct extract_error error = {.why = ""};
    struct seen seen;

    if (run(trace, &condition, 1, hz, &seen, &error))
        fail_msg("%s: %s", expression, error.why);
    if (strcmp(seen.text, passes) != 0)
        fail_msg("%s: \"%s\", not \"%s\"", expression, seen.text, passes);
}

static void names_mean_what_events_have(void **state)
{
    static const struct {
        const char *expression, *passes;
    } cases[] = {
        {"ticks == 45", "e"},
        {"time >= 100", "mno"},
        {"seq < 3", "abc"},
        {"id == 52", "h"},
        {"core == 0", "abcdefghijklmno"},
        {"core > 0", ""},
        {"priority == 16", "bk"}, // only threads have one
        {"priority != 16", "cdhijlno"},
        {"priority < 16", "cdhijlno"},
        {"info1 == 0x20005000", "abc"},
        {"info2 == 15 && info3 == 1", "eg"},
        {"info4 == 4294967295", "l"},
        {"info4 == -1", ""},
        {"info1 < info2", "bcl"}, // two names
        {"info5 == 0 || info5 != 0", ""},
        {"event == \"queue*\"", "abc"},
        {"event == 'TX_TRACE_QUEUE_SEND'", "b"},
        {"event == 69", "b"},
        {"event == 0x45", "b"},
        {"event == '69'", "b"},
        {"event != \"*queue*\"", "defghijklmno"},
        {"event == 'user event 4097'", "l"},
        {"thread == \"main\"", "bk"},
        {"thread == 0x20004000", "bk"},
        {"thread == 'worker[1]'", "cdhijlno"},
        {"thread == 'w*'", "cdhijlno"},
        {"thread != 'main'", "acdefghijlmno"},
        {"thread == 'isr'", "efgm"},
        {"thread == 'init'", "a"},
        {"object == 'queue 0'", "abc"},
        {"object == 'queue *'", "abc"},
        {"object == 0x20005100", "h"},
        {"object == 'main'", "dhkmn"},   // any field: the next thread, the owner
        {"object != 'main'", "abcfijo"}, // l, e and g have no field with an object
        {"!(object == 'main')", "abcefgijlo"},
        {"object == 'a \"b\"'", "h"},
        {"class == 'INT'", "eg"},
        {"class == \"kern\"", "dfijkmn"},
        {"class != 'SVC'", "defgijklmn"},
        {"context == 'thread'", "bcdhijklno"},
        {"context == 'isr'", "efgm"},
        {"context == 'interrupt'", "efgm"},
        {"context == 'init' || context == 'start-up'", "a"},
        {"context == 'i*t'", "aefgm"}, // interrupt, init
        {"context != 'thread'", "aefgm"},
        {"context == 'recorder'", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_passes(look.trace, cases[i].expression, 0, cases[i].passes);
}

static void labels_are_names(void **state)
{
    static const struct {
        const char *expression, *passes;
    } cases[] = {
        {"enqueued == 3", "b"},
        {"enqueued != 3", "c"}, // others have no such field
        {"!(enqueued == 3)", "acdefghijklmno"},
        {"queue == 'queue 0'", "abc"},
        {"queue == 0x20005000", "abc"},
        {"queue != 'queue 0'", ""},
        {"owner == 'main'", "h"},
        {"thread == 'main' && fields.thread == 'main'", "k"},
        {"fields.thread == 'worker[1]'", "dfij"},
        {"fields.thread == 0x20004000", "kmn"},
        {"new_state == 'queue'", "d"}, // a word, not the object
        {"new_state == 5", "d"},
        {"new_state == 's*'", "k"},
        {"new_state == 'priority change'", "i"},
        {"new_state != 'sleep'", "di"},
        {"prev_state == 'ready'", "n"},
        {"next_thread == 'worker[1]'", "fmn"},
        {"next_thread == 0", "ijk"},
        {"wait == 'forever'", "b"},
        {"wait == 'none'", "h"},
        {"wait == 50", "c"},
        {"wait > 0 && wait < 1000", "c"},
        {"wait != 'forever'", "ch"},
        {"isr_number >= 15", "eg"},
        {"src_ip == '10.0.0.7'", "o"},
        {"src_ip == '10.0.*'", "o"},
        {"src_ip == '10.1.*'", ""},
        {"src_ip == 0x0A000007", "o"},
        {"flags == 0", ""}, // of a type that is not in this trace
        {"fields.ticks == 5", ""},
        {"lost_at_least > 0", ""}, // of a marker
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_passes(look.trace, cases[i].expression, 0, cases[i].passes);
}

static void times_have_units_and_history(void **state)
{
    static const struct {
        const char *expression;
        uint64_t hz;
        const char *passes;
    } cases[] = {
        {"dt == 10", 0, "bcghlmno"},
        {"dt == 20", 0, "e"},
        {"dt < 5", 0, "ij"},
        {"dt != 10", 0, "defijk"}, // a has none
        {"!(dt == 10)", 0, "adefijk"},
        {"dt > ticks", 0, ""},
        {"dt == 10ms", 1000, "bcghlmno"},
        {"dt > 9999.999us && dt < 10.001ms", 1000, "bcghlmno"},
        {"dt > 8ms", 1000, "bceghlmno"},
        {"dt >= 8.5ms && dt <= 10.5ms", 1000, "bcghlmno"},
        {"ticks > 0.1s", 1000, "no"},
        {"ticks >= 0.1s", 1000, "mno"},
        {"ticks == 100000000ns", 1000, "m"},
        {"ticks == 100000001ns", 1000, ""},
        {"blocked_for == 25", 0, "f"},
        {"blocked_for == 20", 0, "m"},
        {"blocked_for >= 0", 0, "fm"},
        {"blocked_for != 25", 0, "m"},
        {"blocked_for > 20ms", 1000, "f"},
        {"blocked_for > 0 && dt == 5", 0, "f"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_passes(look.trace, cases[i].expression, cases[i].hz, cases[i].passes);
}

// A thread that is created, deleted, reset or terminated no longer waits. A later resumption does
// not end that wait.
static void a_wait_may_end_otherwise(void **state)
{
    static const unsigned ends[] = {100, 101, 110, 115, 0};
    struct ring_image other;
    struct look waits;

    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const struct ring_entry some[] = {
            {MAIN, 0x80100010, 2, 100, {WORKER, 5, SP, MAIN}},
            {MAIN, 0x80100010, ends[i] ? ends[i] : 88, 110, {WORKER, 5, SP, 0}},
            {MAIN, 0x80100010, 1, 120, {WORKER, 3, SP, MAIN}},
        };
        struct ring_spec spec = ring_plain;
        spec.objects = 4;
        spec.entries = 4;
        ring_build(&other, &spec);
        ring_fill(&other, objects, sizeof objects / sizeof *objects, some, 3);
        look_open(&waits, &other);
        assert_passes(waits.trace, "blocked_for == 20", 0, ends[i] ? "" : "c");
        look_close(&waits);
    }
}

static void expressions_narrow_other_filters(void **state)
{
    static const struct {
        struct condition conditions[3];
        const char *passes;
    } cases[] = {
        {{{WHERE, "dt == 10"}, {WHERE, "class == 'SVC'"}}, "bcho"},
        {{{WHERE, "dt == 10"}, {EXTRACT_FILTER_CLASS, "SVC"}}, "bcho"},
        {{{WHERE, "dt == 10"}, {EXTRACT_FILTER_CLASS, "!SVC"}}, "glmn"},
        {{{EXTRACT_FILTER_EVENT, "!thread*"}, {WHERE, "context == 'thread'"}}, "bchlo"},
        // The history is that of the trace, whatever the other filters leave out.
        {{{WHERE, "blocked_for == 20"}, {EXTRACT_FILTER_FROM, "95"}}, "m"},
        {{{WHERE, "dt == 10"}, {EXTRACT_FILTER_FROM, "10"}, {EXTRACT_FILTER_TO, "20"}}, "bc"},
        {{{WHERE, "dt == 10"}, {EXTRACT_FILTER_LAST, "2"}}, "no"},
        {{{WHERE, "enqueued >= 0"}, {EXTRACT_FILTER_LAST, "1"}}, "c"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seen seen;
        size_t count = 0;
        while (count < 3 && cases[i].conditions[count].value)
            count++;
        assert_int_equal(run(look.trace, cases[i].conditions, count, 0, &seen, NULL), EXTRACT_OK);
        if (strcmp(seen.text, cases[i].passes) != 0)
            fail_msg("case %zu: \"%s\", not \"%s\"", i, seen.text, cases[i].passes);
    }
}

static void errors_are_said(void **state)
{
    static const struct {
        const char *expression;
        enum extract_code code;
        const char *what, *why, *hint;
    } cases[] = {
        {"inf1 == 5", EXTRACT_USAGE, "where", "column 1: unknown name \"inf1\"", "use 'info1'"},
        {"dt == 5 && thraed == 'main'", EXTRACT_USAGE, "where",
         "column 12: unknown name \"thraed\"", "use 'thread'"},
        {"nev_state == 5", EXTRACT_USAGE, "where", "unknown name \"nev_state\"", "use 'new_state'"},
        {"zzzzzzzz == 5", EXTRACT_USAGE, "where", "unknown name \"zzzzzzzz\"", "use ticks, dt"},
        {"fields.zzzzzzzz == 5", EXTRACT_USAGE, "where", "unknown name \"zzzzzzzz\"", ""},
        {"new == 5", EXTRACT_USAGE, "where", "unknown name \"new\"", ""},
        {"dt > 1ms", EXTRACT_USAGE, "where", "column 6: \"1ms\": the clock's rate is not known",
         "hz"},
        {"ticks == 'main'", EXTRACT_USAGE, "where", "column 10: \"ticks\" has no names", "number"},
        {"enqueued == 'x'", EXTRACT_USAGE, "where", "\"enqueued\" has no names", "number"},
        {"event < 5", EXTRACT_USAGE, "where", "column 7: \"event\" has no order", "=="},
        {"queue > 'queue 0'", EXTRACT_USAGE, "where", "column 7: \"queue\" has no order", "=="},
        {"class == 'MAIN'", EXTRACT_USAGE, "where", "column 10: \"MAIN\": unknown class", "SVC"},
        {"context == 'main'", EXTRACT_USAGE, "where", "column 12: \"main\": unknown context",
         "isr"},
        {"event == ''", EXTRACT_USAGE, "where", "column 10: \"\": empty name", ""},
        {"event == 'qeue*'", EXTRACT_NOTFOUND, "event", "\"qeue*\": no such name", "queue send"},
        {"thread == 'mian'", EXTRACT_NOTFOUND, "thread", "\"mian\": no such name", "main"},
        {"object == 'main' || object == 'mine'", EXTRACT_NOTFOUND, "object", "\"mine\"", ""},
        {"queue == 'queue 1'", EXTRACT_NOTFOUND, "object", "\"queue 1\": no such name", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct condition condition = {WHERE, cases[i].expression};
        struct extract_error error = {.why = ""};
        struct seen seen;
        enum extract_code code = run(look.trace, &condition, 1, 0, &seen, &error);
        if (code != cases[i].code || strcmp(error.what, cases[i].what) != 0 ||
            !strstr(error.why, cases[i].why) || !strstr(error.hint, cases[i].hint))
            fail_msg("%s: %d, \"%s: %s; %s\"", cases[i].expression, code, error.what, error.why,
                     error.hint);
    }
}

// The syntax is checked before there is a trace; names and rates are not.
static void syntax_is_checked_at_once(void **state)
{
    struct extract_filter *filter;
    struct extract_error error;

    (void)state;
    assert_int_equal(extract_filter_new(&filter, &error), EXTRACT_OK);
    assert_int_equal(extract_filter_add(filter, WHERE, "info1 = 5", &error), EXTRACT_USAGE);
    assert_string_equal(error.what, "where");
    assert_string_equal(error.why, "column 7: unexpected \"=\"");
    assert_int_equal(extract_filter_add(filter, WHERE, "", &error), EXTRACT_USAGE);
    assert_int_equal(extract_filter_add(filter, WHERE, "ticks == 'x'", &error), EXTRACT_USAGE);
    assert_int_equal(extract_filter_add(filter, WHERE, "nothing == 5ms", &error), EXTRACT_OK);
    assert_int_equal(extract_filter_add(filter, WHERE, "!(a == 'b,c')", &error), EXTRACT_OK);
    extract_filter_free(filter);
}

// In a log, a loss or a restart ends what is known of earlier events.
static void logs_lose_their_history(void **state)
{
    static const struct {
        enum extract_log_mark mark; // in the middle, from d to e; 0: a loss
        const char *expression, *passes;
    } cases[] = {
        {0, "blocked_for >= 0", "#m"}, // losses are always shown
        {0, "dt == 20", "#e"},         // but time goes on
        {0, "event == 'isr enter'", "#e"},
        {EXTRACT_MARK_FILTER, "blocked_for >= 0", "fm"},
        {EXTRACT_MARK_FILTER, "dt == 20", "e"},
        {EXTRACT_MARK_FILTER, "dt >= 0 && seq <= 4", "bcde"},
        {EXTRACT_MARK_RESET, "blocked_for >= 0", "m"},
        {EXTRACT_MARK_RESET, "dt >= 0 && seq <= 4", "bcd"},
        {EXTRACT_MARK_FILTER, "context == 'recorder'", "#"},
        {EXTRACT_MARK_FILTER, "event == 'RINGSIDE_FILTER' || seq == 0", "a#"},
        {EXTRACT_MARK_FILTER, "event == 'filter set'", "#"},
        {EXTRACT_MARK_FILTER, "text == 'queue*' && filter == 7", "#"},
        {EXTRACT_MARK_FILTER, "text != 'mutex*'", "#"},
        {EXTRACT_MARK_FILTER, "priority >= 0 && seq < 4", "bcd"},
        {EXTRACT_MARK_FILTER, "!(thread == 'main') && !(thread != 'main')", "#"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct log_file file;
        struct log_look log;
        unlink(scratch_path("where.log"));
        log_open(&file, scratch_path("where.log"), &image);
        log_entries(&file, &image, 0, 4);
        if (cases[i].mark)
            log_mark(&file, cases[i].mark, 7, "queue,mutex");
        else
            log_loss(&file, EXTRACT_LOSS_LAPPED, 0, 20);
        log_entries(&file, &image, 4, ENTRIES - 4);
        log_close(&file);
        log_look_open(&log, file.path, NULL);
        assert_passes(log.trace, cases[i].expression, 0, cases[i].passes);
        log_look_close(&log);
    }
}

static bool note_last(void *context, const struct extract_event *events, size_t count)
{
    uint64_t *last_seq = context;

    *last_seq = events[count - 1].seq;
    return true;
}

// Other filters let a walk over a log begin in the middle. An expression with a history needs what
// was before. The worker is suspended at 100 and resumed at 16110, after 1,600 other events.
static void a_long_log_is_read_from_its_start(void **state)
{
    enum { OTHERS = 1600, BLOCK = 100 };
    static const struct ring_entry suspend = {MAIN, 0x80100010, 2, 100, {WORKER, 5, SP, MAIN}};
    const struct ring_entry resume = {
        MAIN, 0x80100010, 1, 110 + OTHERS * 10, {WORKER, 5, SP, MAIN}};
    static struct ring_image longer;
    struct ring_spec spec = ring_plain;
    struct log_file file;
    struct log_look log;
    struct extract_filter *filter;
    struct extract_view *view;
    uint64_t stamp = 110, seq = 0;
    const struct extract_sink sink = {.events = note_last, .context = &seq};

    (void)state;
    spec.entries = OTHERS + 10;
    spec.objects = 4;
    ring_build(&longer, &spec);
    ring_fill(&longer, objects, sizeof objects / sizeof *objects, &suspend, 1);
    ring_run(&longer, OTHERS, &stamp, 10);
    ring_insert(&longer, &resume);
    unlink(scratch_path("long.log"));
    log_open(&file, scratch_path("long.log"), &longer);
    for (unsigned at = 0; at < OTHERS; at += BLOCK)
        log_entries(&file, &longer, at, BLOCK);
    log_entries(&file, &longer, OTHERS, 2);
    log_close(&file);
    log_look_open(&log, file.path, NULL);
    assert_int_equal(extract_filter_new(&filter, NULL), EXTRACT_OK);
    assert_int_equal(extract_filter_add(filter, EXTRACT_FILTER_FROM, "16000", NULL), EXTRACT_OK);
    assert_int_equal(extract_filter_add(filter, WHERE, "blocked_for == 16010", NULL), EXTRACT_OK);
    assert_int_equal(extract_view_new(&view, filter, log.trace, 0, NULL), EXTRACT_OK);
    assert_int_equal(extract_view_run(view, &sink), 1);
    assert_int_equal(seq, OTHERS + 1);
    extract_view_free(view);
    extract_filter_free(filter);
    log_look_close(&log);
}

static enum extract_code run_all_names(void)
{
    static const struct condition conditions[] = {
        {WHERE, "blocked_for == 25 && dt == 5 && context == 'isr'"},
        {WHERE, "event == 'thread*' && prev_state == 'queue' && fields.thread == 'w*'"},
        {WHERE, "src_ip == '10.*' || object == 'worker[1]' && class == 'KERN'"}};
    struct seen seen;
    enum extract_code code = run(look.trace, conditions, 3, 0, &seen, NULL);

    if (!code)
        assert_string_equal(seen.text, "f");
    return code;
}

static void memory_runs_out(void **state)
{
    (void)state;
    each_allocation_fails(run_all_names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_mean_what_events_have),
        cmocka_unit_test(labels_are_names),
        cmocka_unit_test(times_have_units_and_history),
        cmocka_unit_test(a_wait_may_end_otherwise),
        cmocka_unit_test(expressions_narrow_other_filters),
        cmocka_unit_test(errors_are_said),
        cmocka_unit_test(syntax_is_checked_at_once),
        cmocka_unit_test(logs_lose_their_history),
        cmocka_unit_test(a_long_log_is_read_from_its_start),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests_name("where", tests, open_look, close_look);
}
