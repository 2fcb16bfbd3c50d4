// SPDX-License-Identifier: MIT
// unit: which events of a known ring each filter condition selects.
//
// Truth: the ring is written here word by word, and the events that pass are counted by hand.
#include "tests/unit/ring_builder.h"
#include "tests/unit/scratch.h"
#include "events/event_filter.h"
#include <extract/filter.h>

static struct look look;
static struct ring_image image;

enum {
    MAIN = 0x20004000,
    WORKER = 0x20004100,
    QUEUE = 0x20005000,
    MUTEX = 0x20005100,
    SEMAPHORE = 0x20005200
};

// seq  ticks  who     event
//  0      0   init    60 queue create   queue
//  1     10   main    69 queue send     queue
//  2     20   isr      3 isr enter
//  3     30   main    88 semaphore put
//  4     40   worker  68 queue receive  queue
//  5     50   worker  52 mutex get      mutex, owner main
//  6     60   worker  4097 user event
//  7     70   main    83 semaphore get
static void make_ring(void)
{
    static const struct ring_entry entries[] = {
        {RING_IN_INIT, 0, 60, 100, {QUEUE, 4, 0x20006000, 10}},
        {MAIN, 0x80100010, 69, 110, {QUEUE, 0x20006010, 0xFFFFFFFF, 3}},
        {RING_IN_ISR, MAIN, 3, 120, {0x20001000, 15, 1, 0}},
        {MAIN, 0x80100010, 88, 130, {0x20005200, 1, 0, 0x20008100}},
        {WORKER, 0x80050005, 68, 140, {QUEUE, 0x20006020, 0, 2}},
        {WORKER, 0x80050005, 52, 150, {MUTEX, 0, MAIN, 1}},
        {WORKER, 0x80050005, 4097, 160, {1, 2, 3, 4}},
        {MAIN, 0x80100010, 83, 170, {0x20005200, 0, 1, 0x20008100}},
    };
    static const struct ring_object objects[] = {
        {0, 4, 0, 0, SEMAPHORE, 1, 0, "a,b"},
        {0, 1, 0x80, 16, MAIN, 0x20008000, 1024, "main"},
        {0, 1, 0x80, 5, WORKER, 0x20008400, 1024, "worker[1]"},
        {0, 3, 0, 0, QUEUE, 40, 1, "queue 0"},
        {0, 5, 0, 0, MUTEX, 1, 0, "!mutex 0"},
    };
    struct ring_spec spec = ring_plain;
    spec.objects = 5;
    spec.entries = 12;
    ring_build(&image, &spec);
    ring_fill(&image, objects, sizeof objects / sizeof *objects, entries,
              sizeof entries / sizeof *entries);
}

static int open_look(void **state)
{
    (void)state;
    make_ring();
    look_open(&look, &image);
    return 0;
}

static int close_look(void **state)
{
    (void)state;
    look_close(&look);
    return 0;
}

struct seen {
    char text[64]; // one digit per event: its sequence number
    size_t used;
};

static bool note(void *context, const struct extract_event *events, size_t count)
{
    struct seen *seen = context;
    for (size_t i = 0; i < count; i++)
        seen->text[seen->used++] = (char)('0' + events[i].seq);
    return true;
}

struct condition {
    enum extract_filter_word word;
    const char *value;
};

// Runs a filter. Returns the code of extract_view_new().
static enum extract_code run(const struct condition *conditions, size_t count, uint64_t hz,
                             struct seen *seen)
{
    struct extract_filter *filter;
    struct extract_view *view;
    struct extract_sink sink = {.events = note, .context = seen};
    enum extract_code code = extract_filter_new(&filter, NULL);
    memset(seen, 0, sizeof *seen);
    if (code)
        return code;
    for (size_t i = 0; i < count && !code; i++)
        code = extract_filter_add(filter, conditions[i].word, conditions[i].value, NULL);
    if (!code) {
        code = extract_view_new(&view, filter, look.trace, hz, NULL);
        uint64_t sent = view ? extract_view_run(view, &sink) : 0;
        assert_int_equal(sent, seen->used);
        extract_view_free(view);
    }
    extract_filter_free(filter);
    return code;
}

#define EVENT  EXTRACT_FILTER_EVENT
#define THREAD EXTRACT_FILTER_THREAD
#define OBJECT EXTRACT_FILTER_OBJECT
#define CLASS  EXTRACT_FILTER_CLASS
#define FROM   EXTRACT_FILTER_FROM
#define TO     EXTRACT_FILTER_TO
#define LAST   EXTRACT_FILTER_LAST

static void conditions_pass_what_they_name(void **state)
{
    static const struct {
        struct condition conditions[3];
        const char *passes;
    } cases[] = {
        {{{LAST, "100"}}, "01234567"},
        {{{EVENT, "69"}}, "1"},
        {{{EVENT, "0x45"}}, "1"},
        {{{EVENT, "TX_TRACE_QUEUE_SEND"}}, "1"},
        {{{EVENT, "queue send"}}, "1"},
        {{{EVENT, "Queue*"}}, "014"},
        {{{EVENT, "*SEMAPHORE*"}}, "37"},
        {{{EVENT, "4097"}}, "6"},
        {{{EVENT, "user event 4097"}}, "6"}, // the name as reports print it
        {{{EVENT, "User Event 40*"}}, "6"},
        {{{EVENT, "user event"}}, "6"},
        {{{EVENT, "user event 4098"}}, ""},
        {{{EVENT, "!user event 4097"}}, "0123457"},
        {{{EVENT, "queue send,68"}}, "14"},
        {{{EVENT, "69"}, {EVENT, "68"}}, "14"},
        {{{EVENT, "!queue*"}}, "23567"},
        {{{EVENT, "queue*"}, {EVENT, "!60"}}, "14"},
        {{{EVENT, "queue flush"}}, ""}, // known, but absent from this trace
        {{{THREAD, "main"}}, "137"},
        {{{THREAD, "0x20004000"}}, "137"},
        {{{THREAD, "536887552"}}, "456"},
        {{{THREAD, "worker[1]"}}, "456"}, // the name itself, though it looks like a pattern
        {{{THREAD, "w*"}}, "456"},
        {{{THREAD, "0x5599a00020004000"}}, "137"}, // the ring stores the lower half
        {{{OBJECT, "0x5599a00020005200"}}, "37"},
        {{{THREAD, "interrupt,start-up"}}, "02"}, // the names as reports print them
        {{{OBJECT, "a\\,b"}}, "37"},              // a comma in a name
        {{{OBJECT, "queue 0,a\\,b"}}, "01347"},
        {{{OBJECT, "!a\\,b,\\!mutex 0"}}, "5"},
        {{{OBJECT, "\\!mutex 0"}}, "5"}, // a name that starts like a negation
        {{{OBJECT, "!\\!mutex 0"}}, "0123467"},
        {{{THREAD, "isr"}}, "2"},
        {{{THREAD, "isr,init"}}, "02"},
        {{{THREAD, "!main"}}, "02456"},
        {{{THREAD, "!isr"}}, "0134567"},
        {{{OBJECT, "queue 0"}}, "014"},
        {{{OBJECT, "main"}}, "5"}, // refers to it: the owner of the mutex
        {{{OBJECT, "0x20005200"}}, "37"},
        {{{OBJECT, "*0"}}, "0145"},
        {{{OBJECT, "!queue 0"}}, "23567"},
        {{{CLASS, "int"}}, "2"},
        {{{CLASS, "SVC"}}, "013457"},
        {{{CLASS, "APPL,INT"}}, "26"},
        {{{CLASS, "!SVC"}}, "26"},
        {{{FROM, "30"}, {TO, "50"}}, "345"},
        {{{FROM, "30"}, {FROM, "60"}}, "34567"},
        {{{TO, "30"}, {TO, "0x0a"}}, "0123"},
        {{{LAST, "3"}}, "567"},
        {{{LAST, "0"}}, ""},
        {{{LAST, "2"}, {THREAD, "main"}}, "37"},
        {{{EVENT, "queue*"}, {THREAD, "main"}}, "1"},
        {{{EVENT, "queue*"}, {LAST, "1"}, {TO, "30"}}, "1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seen seen;
        size_t count = 0;
        while (count < 3 && cases[i].conditions[count].value)
            count++;
        assert_int_equal(run(cases[i].conditions, count, 0, &seen), EXTRACT_OK);
        if (strcmp(seen.text, cases[i].passes))
            print_error("case %zu: %s\n", i, cases[i].conditions[0].value);
        assert_string_equal(seen.text, cases[i].passes);
    }
}

// At 1,000 ticks per second, a millisecond is a tick. FROM rounds up and TO rounds down.
static void seconds_have_units(void **state)
{
    static const struct {
        struct condition conditions[2];
        uint64_t hz;
        const char *passes;
    } cases[] = {
        {{{FROM, "30ms"}, {TO, "0.05s"}}, 1000, "345"},
        {{{FROM, "29999us"}, {TO, "50999999ns"}}, 1000, "345"},
        {{{FROM, "30001us"}, {TO, ".05s"}}, 1000, "45"},
        {{{FROM, "1ns"}, {TO, "99999999999s"}}, UINT64_MAX, ""},
        {{{FROM, "0s"}, {TO, "1s"}}, 35, "0123"},
    };
    struct seen seen;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(run(cases[i].conditions, 2, cases[i].hz, &seen), EXTRACT_OK);
        assert_string_equal(seen.text, cases[i].passes);
    }
    assert_int_equal(run(cases[0].conditions, 2, 0, &seen), EXTRACT_USAGE);
}

static void nonsense_is_refused(void **state)
{
    static const struct condition cases[] = {{CLASS, "KERNEL"},
                                             {CLASS, ""},
                                             {EVENT, ""},
                                             {EVENT, "69,"},
                                             {THREAD, ",main"},
                                             {FROM, "soon"},
                                             {FROM, "1.5"},
                                             {FROM, "1.5.0s"},
                                             {FROM, "-1"},
                                             {TO, "s"},
                                             {TO, "5 ms"},
                                             {TO, "."},
                                             {LAST, "ten"},
                                             {LAST, "!3"},
                                             {FROM, "!3"},
                                             {LAST, "0x"},
                                             {LAST, "1e3"},
                                             {LAST, ""},
                                             {EVENT, "!"},
                                             {LAST, "18446744073709551616"},
                                             {FROM, "1234567890123456789s"}};
    struct extract_error error;
    struct seen seen;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(run(&cases[i], 1, 1000, &seen), EXTRACT_USAGE);
    struct extract_filter *filter;
    assert_int_equal(extract_filter_new(&filter, NULL), EXTRACT_OK);
    assert_int_equal(extract_filter_add(filter, CLASS, "X", &error), EXTRACT_USAGE);
    assert_string_equal(error.what, "class");
    assert_non_null(strstr(error.why, "\"X\""));
    assert_non_null(strstr(error.hint, "KERN"));
    assert_true(extract_filter_is_empty(filter));
    extract_filter_free(filter);
}

// A misspelt name is an error, and selects nothing.
static void a_name_of_nothing_is_not_found(void **state)
{
    static const struct condition cases[] = {
        {THREAD, "mian"}, {OBJECT, "queue 1"}, {EVENT, "queue sned"},       {THREAD, "queue 0"},
        {OBJECT, "a,b"},  {OBJECT, "a\\"},     {EVENT, "user event 4097x"}, {EVENT, "event 4097"}};
    struct seen seen;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(run(&cases[i], 1, 0, &seen), EXTRACT_NOTFOUND);
        assert_string_equal(seen.text, "");
    }
}

// So is a number that no event and no object of the trace has.
static void a_number_of_nothing_is_not_found(void **state)
{
    static const struct condition cases[] = {
        {THREAD, "0x20004200"}, {THREAD, "0x20005000"}, // the queue, no thread
        {THREAD, "!7"},         {OBJECT, "0x20005001"}, {OBJECT, "!0"}, {OBJECT, "queue 0,9"}};
    static const char *const passes[] = {"", "", "01234567", "", "01234567", "014"};
    struct seen seen;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(run(&cases[i], 1, 0, &seen), EXTRACT_NOTFOUND);
        assert_string_equal(seen.text, passes[i]);
    }
}

// User events have ids above 65,535, too.
static void ids_above_16_bits(void **state)
{
    static const struct ring_entry entries[] = {
        {MAIN, 0x80100010, 4097, 100, {0}},       {MAIN, 0x80100010, 70000, 110, {0}},
        {MAIN, 0x80100010, 0x01020304, 120, {0}}, {MAIN, 0x80100010, 70000, 130, {0}},
        {MAIN, 0x80100010, 69, 140, {QUEUE}},
    };
    static const struct {
        const char *value, *passes;
    } cases[] = {{"70000", "13"},   {"!70000", "024"},       {"user event 70000", "13"},
                 {"16909060", "2"}, {"user event*", "0123"}, {"!user event", "4"},
                 {"80000", ""}, // the kernel could trace it
                 {"queue*", "4"}};
    struct look all = look;
    (void)state;
    ring_build(&image, &ring_plain);
    ring_fill(&image, NULL, 0, entries, sizeof entries / sizeof *entries);
    look_open(&look, &image);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct condition condition = {EVENT, cases[i].value};
        struct seen seen;
        assert_int_equal(run(&condition, 1, 0, &seen), EXTRACT_OK);
        assert_string_equal(seen.text, cases[i].passes);
    }
    look_close(&look);
    look = all;
}

static void numbers(void **state)
{
    static const struct {
        const char *text;
        bool is;
        uint64_t value;
    } cases[] = {{"0", true, 0},
                 {"0x0", true, 0},
                 {"18446744073709551615", true, UINT64_MAX},
                 {"0xFFFFFFFFFFFFFFFF", true, UINT64_MAX},
                 {"0Xab", true, 0xAB},
                 {"010", true, 10},
                 {"18446744073709551616", false, 0},
                 {"0x10000000000000000", false, 0},
                 {"", false, 0},
                 {"0x", false, 0},
                 {" 1", false, 0},
                 {"+1", false, 0},
                 {"1 ", false, 0},
                 {"12ab", false, 0},
                 {"0xg", false, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value = 77;
        assert_int_equal(extract_number_parse(cases[i].text, &value), cases[i].is);
        assert_int_equal(value, cases[i].is ? cases[i].value : 77);
    }
}

static bool stop_at_once(void *context, const struct extract_event *events, size_t count)
{
    (void)events;
    *(size_t *)context += count;
    return false;
}

static void a_sink_can_stop(void **state)
{
    struct extract_view *view;
    size_t count = 0;
    struct extract_sink sink = {.events = stop_at_once, .context = &count};
    (void)state;
    assert_int_equal(extract_view_new(&view, NULL, look.trace, 0, NULL), EXTRACT_OK);
    uint64_t sent = extract_view_run(view, &sink);
    assert_int_equal(sent, count);
    assert_true(count >= 1 && count <= 8);
    extract_view_free(view);
}

static enum extract_code all_conditions(void)
{
    static const struct condition conditions[] = {
        {EVENT, "queue*,!60"}, {THREAD, "main,0x20004100"},
        {OBJECT, "queue 0"},   {CLASS, "SVC"},
        {FROM, "10"},          {TO, "50"},
        {LAST, "1"},           {EVENT, "1"},
        {EVENT, "2"},
    };
    struct seen seen;
    enum extract_code code = run(conditions, sizeof conditions / sizeof *conditions, 0, &seen);
    if (!code)
        assert_string_equal(seen.text, "4");
    return code;
}

static void memory_runs_out(void **state)
{
    (void)state;
    each_allocation_fails(all_conditions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_pass_what_they_name),
        cmocka_unit_test(seconds_have_units),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(a_name_of_nothing_is_not_found),
        cmocka_unit_test(a_number_of_nothing_is_not_found),
        cmocka_unit_test(ids_above_16_bits),
        cmocka_unit_test(numbers),
        cmocka_unit_test(a_sink_can_stop),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests_name("filter", tests, open_look, close_look);
}
