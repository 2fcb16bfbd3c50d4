// SPDX-License-Identifier: MIT
// unit: spans between two events that the user defines.
//
// Truth: the rings and logs are written here, and the spans are found by hand; for random traces,
// by a search over all begins for each end.
#include "tests/unit/log_builder.h"
#include "tests/unit/scratch.h"
#include <extract/span.h>
#include <stdio.h>
#include <stdlib.h>

enum { A = 0x20004000, B = 0x20004200, BEGIN = 4096, END = 4097, OTHER = 4098 };
enum { RING_ENTRIES = 1900 };

static struct ring_image image;
static struct look look;
static struct extract_spans *spans;
static uint64_t stamp;

static void begin(void)
{
    struct ring_spec spec = ring_plain;

    spec.entries = RING_ENTRIES;
    ring_build(&image, &spec);
    ring_register(&image, 0, &(struct ring_object){0, 1, 0, 0, A, 0x20005000, 1024, "a"});
    ring_register(&image, 1, &(struct ring_object){0, 1, 0, 0, B, 0x20006000, 1024, "b"});
}

static void add(uint64_t at, uint64_t thread, uint64_t id, uint64_t info1, uint64_t info2)
{
    ring_insert(&image, &(struct ring_entry){thread, 0x80100010, id, at, {info1, info2, 0, 0}});
}

// Finds the spans of one definition in the range of a view.
static const struct extract_span_stats *find_in(const struct extract_trace *trace,
                                                const struct extract_view *view,
                                                const char *definition, size_t worst)
{
    struct extract_error error = {.code = EXTRACT_OK};

    extract_spans_free(spans);
    if (extract_spans_new(&spans, &definition, 1, &error) ||
        extract_spans_find(spans, view, trace, 0, worst, &error))
        fail_msg("%s: %s: %s", definition, error.what, error.why);
    return extract_spans_get(spans, 0);
}

static const struct extract_span_stats *find(const char *definition)
{
    return find_in(look.trace, NULL, definition, 10);
}

static void open_ring(void)
{
    look_open(&look, &image);
}

static void done(void)
{
    extract_spans_free(spans);
    spans = NULL;
    look_close(&look);
}

// Checks how many spans were measured, and how many begins and ends are left over.
static void assert_counts(const struct extract_span_stats *span, unsigned measured, unsigned likely,
                          unsigned open, unsigned without_end, unsigned without_begin)
{
    assert_int_equal(span->duration.count, measured);
    assert_int_equal(span->likely, likely);
    assert_int_equal(span->open, open);
    assert_int_equal(span->without_end, without_end);
    assert_int_equal(span->without_begin, without_begin);
}

static void assert_span(const struct extract_span *span, uint64_t from, uint64_t to,
                        uint64_t from_seq, uint64_t to_seq, uint64_t thread)
{
    assert_int_equal(span->from, from);
    assert_int_equal(span->to, to);
    assert_int_equal(span->from_seq, from_seq);
    assert_int_equal(span->to_seq, to_seq);
    assert_true(span->has_thread);
    assert_int_equal(span->thread, thread);
}

// ---- pairs ----

// The innermost begin of the same thread is the one that ends.
static void a_thread_pairs_its_own(void **state)
{
    (void)state;
    begin();
    add(0, A, BEGIN, 0, 0);
    add(10, B, BEGIN, 0, 0);
    add(20, A, BEGIN, 0, 0);
    add(30, A, END, 0, 0);  // from 20
    add(70, A, END, 0, 0);  // from 0
    add(110, B, END, 0, 0); // from 10
    open_ring();
    const struct extract_span_stats *span = find("request: 4096 .. 4097");
    assert_string_equal(span->name, "request");
    assert_counts(span, 3, 0, 0, 0, 0);
    assert_int_equal(span->duration.min, 10);
    assert_int_equal(span->duration.median, 70);
    assert_int_equal(span->duration.max, 100);
    assert_int_equal(span->duration.sum, 180);
    assert_int_equal(span->worst_count, 3);
    assert_span(&span->worst[0], 10, 110, 1, 5, B);
    assert_span(&span->worst[1], 0, 70, 0, 4, A);
    assert_span(&span->worst[2], 20, 30, 2, 3, A);
    span = find_in(look.trace, NULL, "request: 4096 .. 4097", 2);
    assert_int_equal(span->worst_count, 2);
    assert_span(&span->worst[1], 0, 70, 0, 4, A);
    done();
}

// The end of another thread takes the newest begin, which is not certain.
static void another_thread_may_end_it(void **state)
{
    (void)state;
    begin();
    add(0, A, BEGIN, 0, 0);
    add(10, A, BEGIN, 0, 0);
    add(50, B, END, 0, 0); // likely from 10
    add(90, A, END, 0, 0); // certainly from 0
    open_ring();
    const struct extract_span_stats *span = find("request: 4096 .. 4097");
    assert_counts(span, 2, 1, 0, 0, 0);
    assert_span(&span->worst[1], 10, 50, 1, 2, A);
    assert_true(span->worst[1].is_likely);
    assert_false(span->worst[0].is_likely);
    // The thread as a field forbids it.
    span = find("request: 4096 .. 4097 by thread");
    assert_counts(span, 1, 0, 1, 0, 1);
    assert_span(&span->worst[0], 10, 90, 1, 3, A);
    done();
}

// An interrupt is not a thread: the thread of a span is then the one that ended it.
static void an_interrupt_may_begin_it(void **state)
{
    (void)state;
    begin();
    add(0, A, OTHER, 0, 0);
    add(5, RING_IN_ISR, BEGIN, 7, 0);
    add(9, B, END, 7, 0);
    add(10, RING_IN_ISR, BEGIN, 8, 0);
    add(30, RING_IN_ISR, END, 8, 0);
    open_ring();
    const struct extract_span_stats *span = find("irq: 4096 .. 4097 by info1");
    assert_counts(span, 2, 0, 0, 0, 0);
    assert_false(span->worst[0].has_thread);
    assert_span(&span->worst[1], 5, 9, 1, 2, B);
    // Without a field, the interrupts pair their own.
    assert_counts(find("irq: 4096 .. 4097"), 2, 1, 0, 0, 0);
    done();
}

static void a_field_pairs(void **state)
{
    (void)state;
    begin();
    add(0, A, BEGIN, 1, 5);
    add(1, A, BEGIN, 2, 5);
    add(2, A, BEGIN, 3, 5);
    add(12, B, END, 2, 5);   // 11
    add(15, B, END, 1, 6);   // 15
    add(22, B, END, 3, 5);   // 20
    add(23, B, END, 4, 5);   // no begin
    add(24, A, BEGIN, 5, 5); // no end
    open_ring();
    const struct extract_span_stats *span = find("request: 4096 .. 4097 by info1");
    assert_counts(span, 3, 0, 1, 0, 1);
    assert_int_equal(span->duration.min, 11);
    assert_int_equal(span->duration.median, 15);
    assert_int_equal(span->duration.max, 20);
    // With the other field, the last end but one has taken 0.
    span = find("request: 4096 .. 4097 by info2");
    assert_counts(span, 3, 0, 1, 0, 1);
    assert_int_equal(span->duration.max, 23 - 0);
    // Neither user event has this field.
    assert_counts(find("request: 4096 .. 4097 by next_thread"), 0, 0, 0, 4, 4);
    done();
}

static void one_event_may_be_both(void **state)
{
    (void)state;
    begin();
    add(0, A, BEGIN, 0, 0);
    add(10, A, BEGIN, 0, 0);
    add(30, A, BEGIN, 0, 0);
    open_ring();
    const struct extract_span_stats *span = find("period: 4096 .. 4096");
    assert_counts(span, 2, 0, 1, 0, 0);
    assert_int_equal(span->duration.min, 10);
    assert_int_equal(span->duration.max, 20);
    done();
}

// ---- events ----

static void events_are_names_and_expressions(void **state)
{
    static const struct {
        const char *definition;
        unsigned count, max;
    } cases[] = {
        {"x: 4096..4097", 2, 40},
        {"x : 0x1000 .. 0x1001 by thread", 2, 40},
        {"x: \"user event 4096\" .. 'user event 4097'", 2, 40},
        {"x: user_event_4096 .. user?event?4097", 2, 40},
        {"x: 4096 .. 4097,4098", 2, 30},
        {"x: 4096 && info2 == 3 .. 4097", 1, 40},
        {"x: 4096&&(info2 == 3 || info2 == 9) .. 4097 by info1", 1, 40},
        {"x: id == 4096 .. event == \"user event 4097\" && info1 != 1 by thread", 1, 20},
        {"x: (id == 4096) .. id == 4098", 2, 30},
        {"x: 4096 .. 4098 && dt > 5", 1, 30},
    };

    (void)state;
    begin();
    add(0, A, BEGIN, 1, 3);
    add(30, A, OTHER, 1, 0);
    add(40, A, END, 1, 0);
    add(60, A, BEGIN, 2, 4);
    add(64, A, OTHER, 2, 0);
    add(80, A, END, 2, 0);
    open_ring();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct extract_span_stats *span = find(cases[i].definition);
        if (span->duration.count != cases[i].count || span->duration.max != cases[i].max)
            fail_msg("%s: %u, at most %u", cases[i].definition, (unsigned)span->duration.count,
                     (unsigned)span->duration.max);
    }
    done();
}

static void errors_name_the_part(void **state)
{
    static const struct {
        const char *definition;
        enum extract_code code;
        const char *what, *why;
    } cases[] = {
        {"4096", EXTRACT_USAGE, "4096", "has no name"},
        {": 4096 .. 4097", EXTRACT_USAGE, "", "not a name of a span"},
        {"a(b: 4096 .. 4097", EXTRACT_USAGE, "a(b", "not a name of a span"},
        {"x: 4096", EXTRACT_USAGE, "x", "\"..\" is missing"},
        {"x: .. 4097", EXTRACT_USAGE, "x", "the begin of the span names no event"},
        {"x: 4096 ..", EXTRACT_USAGE, "x", "the end of the span names no event"},
        {"x: 4096 && .. 4097", EXTRACT_USAGE, "x", "the begin of the span names no event"},
        {"x: 4096 .. \"4097", EXTRACT_NOTFOUND, "end of span x: event", "no such name"},
        {"x: 4096 .. info1 ==", EXTRACT_USAGE, "end of span x: where", "column"},
        {"x: 4096 || 4098 .. 4097", EXTRACT_USAGE, "begin of span x: where", "comparison expected"},
        {"x: nothing .. 4097", EXTRACT_NOTFOUND, "begin of span x: event", "no such name"},
        {"x: 4096 .. thread == \"nobody\"", EXTRACT_NOTFOUND, "end of span x", "no such"},
        {"x: 4096 .. 4097 && dt > 1ms", EXTRACT_USAGE, "end of span x: where", "rate"},
        {"x: 4096 .. 4097 by nothing", EXTRACT_USAGE, "field of span x", "unknown name"},
        {"x: 4096 .. 4097 by dt", EXTRACT_USAGE, "field of span x: dt", "in common"},
        {"x: 4096 .. 4097 by event", EXTRACT_USAGE, "field of span x: event", "in common"},
    };
    const char *twice[] = {"x: 4096 .. 4097", "x: 4097 .. 4096"};
    const char *many[EXTRACT_SPANS_MAX + 1];
    struct extract_error error;
    char big[5000];

    (void)state;
    begin();
    add(0, A, BEGIN, 1, 3);
    add(1, A, END, 1, 3);
    open_ring();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum extract_code code = extract_spans_new(&spans, &cases[i].definition, 1, &error);
        code = code ? code : extract_spans_find(spans, NULL, look.trace, 0, 0, &error);
        if (code != cases[i].code || error.code != code || !strstr(error.what, cases[i].what) ||
            !strstr(error.why, cases[i].why))
            fail_msg("%s: %d: %s: %s", cases[i].definition, code, error.what, error.why);
        extract_spans_free(spans);
        spans = NULL;
    }
    assert_int_equal(extract_spans_new(&spans, twice, 2, &error), EXTRACT_USAGE);
    assert_string_equal(error.why, "two spans have this name");
    for (size_t i = 0; i <= EXTRACT_SPANS_MAX; i++)
        many[i] = twice[0];
    assert_int_equal(extract_spans_new(&spans, many, EXTRACT_SPANS_MAX + 1, &error), EXTRACT_USAGE);
    memset(big, '4', sizeof big - 1);
    big[sizeof big - 1] = 0;
    assert_int_equal(extract_spans_new(&spans, &(const char *){big}, 1, &error), EXTRACT_USAGE);
    assert_null(spans);
    done();
}

// ---- what is missing ----

static struct extract_view *view_of(const struct extract_trace *trace, const char *from,
                                    const char *to)
{
    struct extract_filter *filter;
    struct extract_view *view;

    assert_int_equal(extract_filter_new(&filter, NULL), EXTRACT_OK);
    assert_int_equal(extract_filter_add(filter, EXTRACT_FILTER_FROM, from, NULL), EXTRACT_OK);
    assert_int_equal(extract_filter_add(filter, EXTRACT_FILTER_TO, to, NULL), EXTRACT_OK);
    assert_int_equal(extract_filter_add(filter, EXTRACT_FILTER_THREAD, "a", NULL), EXTRACT_OK);
    assert_int_equal(extract_view_new(&view, filter, trace, 0, NULL), EXTRACT_OK);
    extract_filter_free(filter);
    return view;
}

// Times limit what is seen; the condition on the thread does not.
static void a_range_cuts_spans(void **state)
{
    (void)state;
    begin();
    add(0, B, BEGIN, 1, 0);
    add(10, B, END, 1, 0);
    add(20, B, BEGIN, 1, 0);
    add(25, B, END, 1, 0);
    add(30, B, BEGIN, 1, 0);
    add(40, B, END, 1, 0);
    open_ring();
    struct extract_view *view = view_of(look.trace, "5", "35");
    const struct extract_span_stats *span = find_in(look.trace, view, "x: 4096 .. 4097", 1);
    assert_counts(span, 1, 0, 1, 0, 1);
    assert_int_equal(span->duration.max, 5);
    extract_view_free(view);
    done();
}

// A log whose entries are those of the image, in one part or more.
static struct log_file file;
static struct log_look recorded;

static void begin_log(void)
{
    begin();
    unlink(scratch_path("spans.log"));
    log_open(&file, scratch_path("spans.log"), &image);
}

static void open_log(void)
{
    log_close(&file);
    log_look_open(
        &recorded, file.path,
        &(struct extract_session_options){.size = sizeof(struct extract_session_options)});
}

static void done_log(void)
{
    extract_spans_free(spans);
    spans = NULL;
    log_look_close(&recorded);
}

static void nothing_is_paired_across_a_loss(void **state)
{
    (void)state;
    begin_log();
    add(1000, A, BEGIN, 1, 0);
    add(1010, A, BEGIN, 2, 0);
    add(1020, A, END, 2, 0); // 10
    add(1100, A, END, 1, 0); // its begin was before the loss
    add(1110, A, BEGIN, 1, 0);
    add(1140, A, END, 1, 0); // 30
    add(1150, A, BEGIN, 1, 0);
    log_entries(&file, &image, 0, 3);
    log_loss(&file, EXTRACT_LOSS_TORN, 5, 0);
    log_entries(&file, &image, 3, 4);
    open_log();
    const char *const definitions[] = {"x: 4096 .. 4097", "x: 4096 .. 4097 by info1",
                                       "x: 4096 .. 4097 by thread"};
    for (size_t i = 0; i < 3; i++) {
        const struct extract_span_stats *span = find_in(recorded.trace, NULL, definitions[i], 0);
        assert_counts(span, 2, 0, 1, 1, 1);
        assert_int_equal(span->duration.min, 10);
        assert_int_equal(span->duration.max, 30);
    }
    done_log();
}

// ---- limits ----

// Writes what the image has, and empties it.
static void flush_image(void)
{
    log_entries(&file, &image, 0, image.current);
    begin();
}

static void add_to_log(uint64_t id, uint64_t info1)
{
    add(stamp += 10, A, id, info1, 0);
    if (image.current == RING_ENTRIES - 1)
        flush_image();
}

// Of too many open spans, the oldest are dropped.
static void open_spans_are_limited(void **state)
{
    enum { BEGINS = 5000, DROPPED = BEGINS - EXTRACT_SPANS_OPEN };

    (void)state;
    stamp = 0;
    begin_log();
    for (unsigned i = 0; i < BEGINS; i++)
        add_to_log(BEGIN, i);
    add_to_log(END, DROPPED - 1);
    add_to_log(END, DROPPED);
    add_to_log(END, BEGINS - 1);
    flush_image();
    open_log();
    const struct extract_span_stats *span =
        find_in(recorded.trace, NULL, "x: 4096 .. 4097 by info1", 1);
    assert_counts(span, 2, 0, EXTRACT_SPANS_OPEN - 2, DROPPED, 1);
    assert_int_equal(span->dropped, DROPPED);
    assert_int_equal(span->duration.min, 30);                          // BEGINS - 1
    assert_int_equal(span->duration.max, 10 * (BEGINS - DROPPED + 1)); // DROPPED
    // They are all of one thread without a field: the newest ones end.
    span = find_in(recorded.trace, NULL, "x: 4096 .. 4097", 1);
    assert_counts(span, 3, 0, EXTRACT_SPANS_OPEN - 3, DROPPED, 0);
    assert_int_equal(span->duration.max, 50);
    done_log();
}

// Keys are forgotten when nothing is open under them, but not those of open spans.
static void many_keys_pass(void **state)
{
    enum { PAIRS = 20000, LONG = 1000000 };

    (void)state;
    stamp = 0;
    begin_log();
    add_to_log(BEGIN, LONG);
    add_to_log(BEGIN, LONG + 1);
    add_to_log(BEGIN, LONG);
    for (unsigned i = 0; i < PAIRS; i++) {
        add_to_log(BEGIN, i);
        add_to_log(END, i);
    }
    add_to_log(END, LONG);
    add_to_log(END, LONG);
    flush_image();
    open_log();
    const struct extract_span_stats *span =
        find_in(recorded.trace, NULL, "x: 4096 .. 4097 by info1", 3);
    assert_counts(span, PAIRS + 2, 0, 1, 0, 0);
    assert_int_equal(span->duration.median, 10);
    assert_int_equal(span->worst[0].to - span->worst[0].from, 10 * (2 * PAIRS + 4));
    assert_int_equal(span->worst[1].to - span->worst[1].from, 10 * (2 * PAIRS + 1));
    assert_int_equal(span->worst[2].to - span->worst[2].from, 10);
    done_log();
}

// ---- random traces ----

struct random_event {
    uint64_t thread, id, key;
    bool is_taken;
};

static uint64_t random_bits(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

// Finds the begin of an end by a search over all events before it. Returns its index; -1: none.
static int search(const struct random_event *events, int end, bool by_key, bool *is_likely)
{
    int any = -1;

    *is_likely = false;
    for (int i = end - 1; i >= 0; i--) {
        if (events[i].id != BEGIN || events[i].is_taken)
            continue;
        any = any < 0 ? i : any;
        if (by_key ? events[i].key == events[end].key : events[i].thread == events[end].thread)
            return i;
    }
    *is_likely = any >= 0;
    return by_key ? -1 : any;
}

static void check_random(bool by_key, uint64_t seed)
{
    enum { EVENTS = 400 };
    static struct random_event events[EVENTS];
    unsigned measured = 0, likely = 0, open = 0, without_begin = 0;
    uint64_t sum = 0;

    begin();
    for (int i = 0; i < EVENTS; i++) {
        uint64_t bits = random_bits(&seed);
        events[i] = (struct random_event){.thread = bits & 1 ? A : B,
                                          .id = bits & 2    ? BEGIN
                                                : bits & 12 ? END
                                                            : OTHER,
                                          .key = bits >> 8 & 15};
        add((uint64_t)i * 3, events[i].thread, events[i].id, events[i].key, 0);
    }
    for (int i = 0; i < EVENTS; i++) {
        bool is_likely;
        if (events[i].id != END)
            continue;
        int from = search(events, i, by_key, &is_likely);
        without_begin += from < 0;
        if (from < 0)
            continue;
        events[from].is_taken = true;
        measured++;
        likely += is_likely;
        sum += (uint64_t)(i - from) * 3;
    }
    for (int i = 0; i < EVENTS; i++)
        open += events[i].id == BEGIN && !events[i].is_taken;
    open_ring();
    const struct extract_span_stats *span =
        find(by_key ? "x: 4096 .. 4097 by info1" : "x: 4096 .. 4097");
    assert_counts(span, measured, likely, open, 0, without_begin);
    assert_int_equal(span->duration.sum, sum);
    assert_true(measured > 50);
    done();
}

static void random_traces_match_a_search(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        check_random(false, seed * 0x9E3779B97F4A7C15);
        check_random(true, seed * 0x9E3779B97F4A7C15);
    }
}

// ---- memory ----

static enum extract_code find_all(void)
{
    const char *const definitions[] = {"x: 4096 && info1 == 1 .. 4097 by info1",
                                       "y: user_event_4096 .. 4097 by fields.info1"};
    enum extract_code code = extract_spans_new(&spans, definitions, 2, NULL);

    code = code ? code : extract_spans_find(spans, NULL, look.trace, 0, 5, NULL);
    if (!code)
        assert_int_equal(extract_spans_get(spans, 1)->duration.count, 1);
    extract_spans_free(spans);
    spans = NULL;
    return code;
}

static void memory_runs_out(void **state)
{
    (void)state;
    begin();
    add(0, A, BEGIN, 1, 3);
    add(1, A, END, 1, 3);
    open_ring();
    each_allocation_fails(find_all);
    done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_pairs_its_own),
        cmocka_unit_test(another_thread_may_end_it),
        cmocka_unit_test(an_interrupt_may_begin_it),
        cmocka_unit_test(a_field_pairs),
        cmocka_unit_test(one_event_may_be_both),
        cmocka_unit_test(events_are_names_and_expressions),
        cmocka_unit_test(errors_name_the_part),
        cmocka_unit_test(a_range_cuts_spans),
        cmocka_unit_test(nothing_is_paired_across_a_loss),
        cmocka_unit_test(open_spans_are_limited),
        cmocka_unit_test(many_keys_pass),
        cmocka_unit_test(random_traces_match_a_search),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
