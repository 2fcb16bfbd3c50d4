// SPDX-License-Identifier: MIT
// unit: user-defined event types from .trxc files: valid files, and each kind of bad line.
//
// Truth: the file format of the TraceX user guide (docs/formats/threadx.md, "User events file").
#include "tests/unit/ring_builder.h"
#include "tests/unit/scratch.h"

#define TAIL ",AA,1,2,3,4,5,6,"

static struct ring_image image;
static struct extract_user_types *types;
static struct extract_error error;

static enum extract_code open_text(const char *text)
{
    types = NULL;
    memset(&error, 0, sizeof error);
    return extract_user_types_open(&types, scratch_puts("events.trxc", text), &error);
}

// Opens a trace with one event of each id, using `types`.
static struct extract_trace *trace_of(struct look *look, const unsigned *ids, unsigned count)
{
    struct extract_trace_options options = {.size = sizeof options, .user_types = types};
    struct extract_trace *trace;
    ring_build(&image, &ring_plain);
    for (unsigned i = 0; i < count; i++)
        ring_insert(&image, &(struct ring_entry){.thread = 0x20004000, .id = ids[i], .stamp = i});
    look_open(look, &image);
    assert_int_equal(extract_trace_open(&trace, &look->snapshot, &options, &error), EXTRACT_OK);
    return trace;
}

static void check_type(const struct extract_event_type *type, const char *name, unsigned fields)
{
    assert_string_equal(type->name, name);
    assert_int_equal(type->fields, fields);
    assert_int_equal(type->class_, EXTRACT_APPL);
    assert_false(type->range);
}

static void test_good(void **state)
{
    static const unsigned ids[] = {4096, 5000, 88, 4097, 65535};
    struct extract_event events[5];
    struct extract_reader reader;
    struct look look;
    (void)state;
    assert_int_equal(open_text("a comment, with commas,,,\n4096 is one too\r\nStart\r\n"
                               "5000,motor on" TAIL "speed,torque,,\r\n"
                               "\n"
                               "  0x1000 , spaced name ,AA,1,2,3,4,5,6, only ,,,\n"
                               "65535,gap" TAIL ",,third,\n"
                               "88,mine now" TAIL "a,b,c,d\n"
                               "End\n99999,behind the end\n"),
                     EXTRACT_OK);
    struct extract_trace *trace = trace_of(&look, ids, 5);
    extract_reader_init(&reader, trace);
    assert_int_equal(extract_reader_next(&reader, events, 5), 5);
    check_type(events[0].type, "spaced name", 1);
    check_type(events[1].type, "motor on", 2);
    check_type(events[2].type, "mine now", 4);
    check_type(events[4].type, "gap", 3);
    assert_string_equal(events[0].type->field[0].label, "only");
    assert_string_equal(events[1].type->field[1].label, "torque");
    assert_int_equal(events[4].type->field[0].kind, EXTRACT_KIND_NONE);
    assert_int_equal(events[4].type->field[2].kind, EXTRACT_KIND_HEX);
    assert_true(events[3].type->range); // 4097 is in the event table
    assert_ptr_equal(extract_trace_type(trace, 5000), events[1].type);
    assert_string_equal(extract_trace_type(trace, 87)->symbol, "TX_TRACE_SEMAPHORE_PRIORITIZE");
    extract_trace_close(trace);
    look_close(&look);
    extract_user_types_close(types);
}

// Files without events, as in the template that TraceX ships; without an End; in capitals.
static void test_empty(void **state)
{
    static const char *const texts[] = {"Start\nEnd\n", "Start\n", "Start", "START\nend\n",
                                        "x\n\n  Start  \n\n\n"};
    static const unsigned id = 4096;
    struct look look;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(open_text(texts[i]), EXTRACT_OK);
        struct extract_trace *trace = trace_of(&look, &id, 1);
        assert_string_equal(extract_trace_type(trace, 4096)->symbol, "TX_TRACE_USER_EVENT_START");
        extract_trace_close(trace);
        look_close(&look);
        extract_user_types_close(types);
    }
}

static const struct {
    const char *text, *says;
} bad[] = {
    {"", "Start"},
    {"4096,x" TAIL ",,,\nEnd\n", "Start"},
    {"Start\n4096,x,AA,1,2,3,4,5,6,a,b,c\n", ":2: not 13 items"},
    {"Start\n4096,x" TAIL "a,b,c,d,e\n", ":2: not 13 items"},
    {"Start\nnonsense\n", ":2: not 13 items"},
    {"Start\n\n\nabc,x" TAIL ",,,\n", ":4: event number"},
    {"Start\n,x" TAIL ",,,\n", ":2: event number"},
    {"Start\n-1,x" TAIL ",,,\n", ":2: event number"},
    {"Start\n65536,x" TAIL ",,,\n", ":2: event number"},
    {"Start\n4294971392,x" TAIL ",,,\n", ":2: event number"},
    {"Start\n99999999999999999999999,x" TAIL ",,,\n", ":2: event number"},
    {"Start\n4096 x,x" TAIL ",,,\n", ":2: event number"},
    {"Start\n4096," TAIL "a,b,c,\n", ":2: event has no name"},
    {"Start\n4096, ,AA,1,2,3,4,5,6,a,b,c,d\n", ":2: event has no name"},
    {"Start\n4096,x" TAIL ",,,\n4097,y" TAIL ",,,\n4096,z" TAIL ",,,\n", "4096 is defined twice"},
};

static void test_bad(void **state)
{
    char message[700];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(open_text(bad[i].text), EXTRACT_BAD);
        assert_null(types);
        extract_error_format(&error, message, sizeof message);
        if (!strstr(message, bad[i].says) || !strstr(message, "events.trxc") || !error.hint[0])
            fail_msg("case %zu says: %s", i, message);
    }
}

static void test_no_text(void **state)
{
    static const char bytes[] = "Start\n4096,x\0y,AA,1,2,3,4,5,6,,,,\n";
    (void)state;
    const char *path = scratch_write("zero.trxc", bytes, sizeof bytes - 1);
    assert_int_equal(extract_user_types_open(&types, path, &error), EXTRACT_BAD);
    assert_non_null(strstr(error.why, "not a text file"));
    assert_int_equal(extract_user_types_open(&types, scratch_path("none"), &error), EXTRACT_IO);
    assert_null(types);
}

// A file of more than a megabyte is not a list of events.
static void test_too_long(void **state)
{
    size_t length = 1024 * 1024 + 1;
    char *text = malloc(length);
    (void)state;
    assert_non_null(text);
    memset(text, '\n', length);
    const char *path = scratch_write("long.trxc", text, length);
    assert_int_equal(extract_user_types_open(&types, path, &error), EXTRACT_LIMIT);
    free(text);
}

static enum extract_code open_many(void)
{
    enum extract_code code = extract_user_types_open(&types, scratch_path("many.trxc"), &error);
    assert_true(!code == !!types);
    extract_user_types_close(types);
    return code;
}

static void test_failing_allocations(void **state)
{
    char text[4096] = "Start\n";
    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%u,event" TAIL "a,b,c,d\n", 5000 - i);
    }
    scratch_puts("many.trxc", text);
    each_allocation_fails(open_many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),     cmocka_unit_test(test_empty),
        cmocka_unit_test(test_bad),      cmocka_unit_test(test_no_text),
        cmocka_unit_test(test_too_long), cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
