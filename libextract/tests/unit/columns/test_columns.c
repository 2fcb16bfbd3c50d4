// SPDX-License-Identifier: MIT
// unit: reports in columns: layouts, pages, duplicates, templates.
//
// Truth: written by hand from the ring's words and docs/man/ringside-report.1.
#include "base/text_writer.h"
#include "tests/unit/ring_builder.h"
#include "tests/unit/scratch.h"
#include <extract/session.h>
#include <inttypes.h>

enum { MAIN = 0x20004000, LONG = 0x20004100 };

static struct ring_image image;
static struct extract_memory *memory;
static struct extract_columns columns;
static struct extract_session_options options;
static const char *files[2];

// In the following ring, a tick is a microsecond.
static void make_ring(void)
{
    static const struct ring_entry entries[] = {
        {MAIN, 0x80080010, 69, 1000, {7, 2, 3, 4}},
        {RING_IN_ISR, MAIN, 3, 1500, {9, 15, 1, 0}},
        {MAIN, 0x80100010, 4097, 1501500, {1, 2, 3, 4}},
        {MAIN, 0x80100010, 4097, 1501500, {1, 2, 3, 4}},
        {LONG, 0x80100010, 1, 1501600, {MAIN, 2, 3, 4}},
    };
    static const struct ring_object objects[] = {
        {0, 1, 0x80, 16, MAIN, 0, 0, "main"},
        {0, 1, 0x80, 16, LONG, 0, 0, "a thread with a name of 32 byte"},
    };
    struct ring_spec spec = ring_plain;
    spec.entries = 8;
    ring_build(&image, &spec);
    ring_fill(&image, objects, 2, entries, sizeof entries / sizeof *entries);
}

static int open_all(void **state)
{
    make_ring();
    extract_memory_new_images(&memory, NULL);
    return scratch_make(state) || extract_memory_add_bytes(memory, "ring", image.bytes,
                                                           image.length, image.spec.address, NULL);
}

static int close_all(void **state)
{
    extract_memory_close(memory);
    return scratch_remove(state);
}

static const char own[] = "045 1.0 L=SVC \"send\" queue=$D1%U4\n"
                          "003 1.0 L=INT \"enter\"\n"
                          "1001 1.0 L=APPL \"mine\" \\n second=$D2%U4\n"
                          "001 1.0 L=KERN \"resume\" W1 PW\n";

// Sets what every test starts with: these templates alone, and their layout.
static void start(const char *templates, bool compat)
{
    extract_columns_init(&columns, compat);
    files[0] = scratch_puts("own.fmt", templates);
    options = (struct extract_session_options){.size = sizeof options,
                                               .hz = 1000000,
                                               .template_files = files,
                                               .template_count = 1,
                                               .only_templates = true,
                                               .columns = &columns};
}

static struct extract_session *session_open(void)
{
    struct extract_session *session;
    assert_int_equal(extract_session_open(&session, memory, NULL, &options, NULL), EXTRACT_OK);
    return session;
}

// Runs a command, and returns its text with a terminating NUL. It is valid until the next call.
static const char *run(struct extract_session *session, const char *verb, enum extract_code code)
{
    static char buffer[8192];
    struct extract_error error;
    struct extract_text text;
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_session_run(session, verb, &text, &error), code);
    assert_true(text.used < sizeof buffer);
    if (text.used)
        memcpy(buffer, text.data, text.used);
    buffer[text.used] = 0;
    extract_text_free(&text);
    return buffer;
}

static void assert_report(const char *expected)
{
    struct extract_session *session = session_open();
    assert_string_equal(run(session, "report", EXTRACT_OK), expected);
    extract_session_close(session);
}

static void layout_of_trcrpt(void **state)
{
    (void)state;
    start(own, true);
    columns.source = "a.trx";
    assert_report("\nSystem: threadx\nMachine: 32-bit little-endian\nTrace: a.trx\n\n"
                  "ID      ELAPSED_SEC     DELTA_MSEC  APPL    SYSCALL KERNEL  INTERRUPT\n"
                  "\n"
                  "045     0.000000000       0.000000          send queue=7\n"
                  "003     0.000500000       0.500000                          enter\n"
                  "1001    1.500500000    1500.000000  mine\n"
                  "                                    second=2\n"
                  "001     1.500600000       0.100000                  resume main\n");
}

static void columns_of_trcrpt(void **state)
{
    (void)state;
    start(own, true);
    options.no_header = true;
    columns.exec = columns.svc = true;
    assert_report(
        "045  main               queue send          0.000000000       0.000000          send "
        "queue=7\n"
        "003  interrupt/main   1                     0.000500000       0.500000                   "
        "       enter\n"
        "1001 main                                   1.500500000    1500.000000  mine\n"
        "                                                                        second=2\n"
        "001  a thread with a                        1.500600000       0.100000                  "
        "resume main\n");
}

static void layout_of_ringside(void **state)
{
    (void)state;
    start(own, false);
    columns.prio = columns.pid = true;
    assert_report(
        "SEQ  ID    THREAD                               PID  PRIO  ELAPSED_SEC   DELTA_MSEC  APPL "
        "   "
        "SYSCALL KERNEL  INTERRUPT\n"
        "  0  045   main                          0x20004000  16/8  0.000000000     0.000000       "
        "   "
        "send queue=7\n"
        "  1  003   interrupt/main                0x20004000  -     0.000500000     0.500000       "
        "   "
        "                enter\n"
        "  2  1001  main                          0x20004000  16    1.500500000  1500.000000  "
        "mine\n"
        "                                                                                     "
        "second=2\n"
        "  3  1001  main                          0x20004000  16    1.500500000     0.000000  "
        "mine\n"
        "                                                                                     "
        "second=2\n"
        "  4  001   a thread with a name of 32 …  0x20004100  16    1.500600000     0.100000       "
        "   "
        "        resume main  [provisional]\n");
}

// An address of 64 bits is whole, with what it is in.
static void addresses_are_whole(void **state)
{
    static const uint64_t thread = UINT64_C(0xffffffffc0004000);
    static const struct ring_entry entries[] = {
        {UINT64_C(0xFFFFFFFF), thread, 3, 1000, {9, 15, 1, 0}},
        {thread, 0x80100010, 4097, 2000, {1, 2, 3, 4}},
    };
    static struct ring_image high;
    struct extract_memory *small = memory;
    struct ring_spec spec = ring_plain;
    (void)state;

    spec.word_bytes = 8;
    spec.mask = UINT64_MAX;
    spec.entries = 8;
    ring_build(&high, &spec);
    ring_fill(&high, NULL, 0, entries, sizeof entries / sizeof *entries);
    extract_memory_new_images(&memory, NULL);
    extract_memory_add_bytes(memory, "ring", high.bytes, high.length, spec.address, NULL);
    start(own, false);
    options.no_header = true;
    columns.seq = false;
    assert_report(
        "003   interrupt/0xffffffffc0004000  0.000000000    0.000000                          "
        "enter\n"
        "1001  0xffffffffc0004000            0.001000000    1.000000  mine\n"
        "                                                             second=2\n");
    extract_memory_close(memory);
    memory = small;
}

static void two_lines_an_event(void **state)
{
    (void)state;
    start(own, true);
    options.no_header = true;
    columns.two_lines = true;
    assert_report("045     0.000000000       0.000000\n"
                  "                send queue=7\n"
                  "003     0.000500000       0.500000\n"
                  "                                enter\n"
                  "1001    1.500500000    1500.000000\n"
                  "        mine\n"
                  "        second=2\n"
                  "001     1.500600000       0.100000\n"
                  "                        resume main\n");
}

static void times_of_every_kind(void **state)
{
    static const struct extract_condition newest[] = {{EXTRACT_FILTER_LAST, "2"}};
    (void)state;
    start("1001 1.0 L=APPL \"mine\"\n001 1.0 L=APPL \"it\"\n", false);
    options.no_header = true;
    options.conditions = newest;
    options.condition_count = 1;
    columns.exec = columns.seq = false;
    columns.times = EXTRACT_TIMES_SHORT;
    assert_report("1001     1.500500  mine\n001      1.500600  it  [provisional]\n");
    columns.times = EXTRACT_TIMES_MICRO;
    assert_report("1001   1500500.000       0.000  mine\n"
                  "001    1500600.000     100.000  it  [provisional]\n");
    columns.times = EXTRACT_TIMES_NONE;
    assert_report("1001  mine\n001   it  [provisional]\n");
    columns.ids = false;
    assert_report("mine\nit  [provisional]\n");
    options.hz = 0;
    columns.times = EXTRACT_TIMES_FULL;
    assert_report("      1500500            0  mine\n"
                  "      1500600          100  it  [provisional]\n");
}

// A page has three lines: the header and two lines of events. The lines of one event stay together.
static void pages_have_heads(void **state)
{
    (void)state;
    start(own, false);
    columns = (struct extract_columns){.size = sizeof columns, .page_lines = 3};
    columns.times = EXTRACT_TIMES_NONE;
    assert_report("APPL    SYSCALL KERNEL  INTERRUPT\n"
                  "        send queue=7\n"
                  "                        enter\n"
                  "\n"
                  "APPL    SYSCALL KERNEL  INTERRUPT\n"
                  "mine\n"
                  "second=2\n"
                  "\n"
                  "APPL    SYSCALL KERNEL  INTERRUPT\n"
                  "                resume main  [provisional]\n");
}

// A page that is too small for the header still has one event.
static void a_page_has_an_event(void **state)
{
    (void)state;
    start(own, false);
    columns = (struct extract_columns){.size = sizeof columns, .page_lines = 1};
    columns.times = EXTRACT_TIMES_NONE;
    assert_report("APPL    SYSCALL KERNEL  INTERRUPT\n"
                  "        send queue=7\n"
                  "\n"
                  "APPL    SYSCALL KERNEL  INTERRUPT\n"
                  "                        enter\n"
                  "\n"
                  "APPL    SYSCALL KERNEL  INTERRUPT\n"
                  "mine\n"
                  "second=2\n"
                  "\n"
                  "APPL    SYSCALL KERNEL  INTERRUPT\n"
                  "                resume main  [provisional]\n");
}

static void repeated_events_are_counted(void **state)
{
    (void)state;
    start(own, true);
    struct extract_session *session = session_open();
    run(session, "report", EXTRACT_OK);
    assert_int_equal(extract_session_shown(session), 4);
    assert_true(extract_session_is_whole(session));
    assert_string_equal(run(session, "damage", EXTRACT_OK),
                        "1 event repeats the previous one and is not shown (removedups)\n");
    extract_session_close(session);
    columns.duplicates = true;
    session = session_open();
    run(session, "report", EXTRACT_OK);
    assert_int_equal(extract_session_shown(session), 5);
    assert_string_equal(run(session, "damage", EXTRACT_OK), "");
    extract_session_close(session);
}

static void histogram_counts_hook_ids(void **state)
{
    (void)state;
    start(own, false);
    columns.histogram = true;
    assert_report("COUNT  PERCENT  ID    LABEL\n"
                  "    2   40.000  1001  mine\n"
                  "    1   20.000  001   resume\n"
                  "    1   20.000  003   enter\n"
                  "    1   20.000  045   send\n"
                  "5 events\n");
}

// Word 9 does not exist. The text reports that, and the report is incomplete.
static void faults_are_told(void **state)
{
    (void)state;
    start("045 1.0 L=SVC \"send\"\n003 1.0 L=INT \"enter\" W9 X4\n1001 1.0 L=APPL \"mine\" $SKIP\n"
          "001 1.0 \"resume\" W9 X4\n",
          true);
    options.no_header = true;
    struct extract_session *session = session_open();
    assert_string_equal(
        run(session, "report", EXTRACT_OK),
        "045     0.000000000       0.000000          send\n"
        "003     0.000500000       0.500000                          enter RUNTIME:E-SHORT\n"
        "001     1.500600000    1500.100000                  resume RUNTIME:E-SHORT\n");
    assert_false(extract_session_is_whole(session));
    assert_int_equal(extract_session_shown(session), 3);
    assert_string_equal(run(session, "damage", EXTRACT_OK),
                        "2 events could not be formatted to the end by their templates (E-SHORT; "
                        "the first at seq 1, hook id 003)\n"
                        "1 event repeats the previous one and is not shown (removedups)\n");
    extract_session_close(session);
}

static void a_template_stops_the_report(void **state)
{
    (void)state;
    start("045 1.0 L=SVC \"send\"\n003 1.0 L=INT \"enter\" $STOP\n", true);
    options.no_header = true;
    assert_report("045     0.000000000       0.000000          send\n"
                  "003     0.000500000       0.500000                          enter\n");
}

static void errors_of_templates_are_handed_over(void **state)
{
    const struct extract_diagnostic *list;
    (void)state;
    start("045 1.0 L=SVC \"send\n003 1.0 L=INT \"enter\" X17\n", false);
    struct extract_session *session = session_open();
    assert_null(extract_session_templates(session));
    for (int i = 0; i < 2; i++)
        assert_string_equal(run(session, "report", EXTRACT_BAD), "");
    assert_int_equal(extract_templates_diagnostics(extract_session_templates(session), &list), 2);
    assert_string_equal(list[0].name, "E-STRING");
    assert_int_equal(list[0].line, 1);
    assert_string_equal(list[1].name, "E-CODE-RANGE");
    assert_int_equal(list[1].line, 2);
    extract_session_close(session);
    files[0] = scratch_path("none.fmt");
    session = session_open();
    for (int i = 0; i < 2; i++)
        assert_string_equal(run(session, "report", EXTRACT_IO), "");
    extract_session_close(session);
}

// A later file overrides an earlier one, and both override the built-in templates.
static void files_lie_on_each_other(void **state)
{
    (void)state;
    start(own, true);
    files[1] = scratch_puts("more.fmt", "003 1.0 L=INT \"other\"\n");
    options.template_count = 2;
    options.only_templates = false;
    options.no_header = true;
    options.only_hooks = "003,053,002,045";
    options.not_hooks = "045";
    assert_report("003     0.000500000       0.000000                          other\n");
    files[0] = files[1];
    options.template_count = 1;
    options.not_hooks = "003";
    assert_report("045     0.000000000       0.000000          queue send queue=0x0007 "
                  "source=0x0002 wait=3 enqueued=4\n");
}

static void hook_ids_are_checked(void **state)
{
    static const char *const bad[] = {"",          "45",       "045,",  "0x45",
                                      "045, ,044", "045,,044", "queue", "123456789"};
    struct extract_session *session;
    struct extract_error error;
    (void)state;
    start(own, false);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        options.only_hooks = bad[i];
        assert_int_equal(extract_session_open(&session, memory, NULL, &options, &error),
                         EXTRACT_USAGE);
        assert_string_equal(error.what, "only_hooks");
    }
}

static bool ask(void *context)
{
    return ++*(int *)context < 0;
}

static void reports_can_be_ended(void **state)
{
    int asked = 0;
    (void)state;
    start(own, false);
    options.may_continue = ask;
    options.context = &asked;
    struct extract_session *session = session_open();
    run(session, "report", EXTRACT_OK);
    assert_int_equal(asked, 1);
    assert_int_equal(extract_session_shown(session), 1);
    extract_session_close(session);
}

// docs/formats/hook.md: a control block, and an entry of 40 bytes: frame, hook word, five words,
// thread, 64-bit timestamp. The ring has little-endian words. Bit 2 of the flags says that there
// may be several cores, and that no event states its core.
static void raw_entries_are_a_file(void **state)
{
    static const uint32_t expected[] = {
        0x4B4F4F48, 1, 64, 64,         4,          1000000, 64, 40, 0, 1,          0,    0, 4,
        1,          0, 0,  0x00160028, 0x045E0045, 7,       2,  3,  4, 0x80080010, MAIN, 0, 0};
    static const struct extract_condition first[] = {{EXTRACT_FILTER_EVENT, "69"}};
    struct extract_text text;
    (void)state;
    start(own, false);
    options.conditions = first;
    options.condition_count = 1;
    struct extract_session *session = session_open();
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_session_run(session, "raw", &text, NULL), EXTRACT_OK);
    assert_int_equal(text.used, 128);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        uint8_t word[4];
        ring_number(word, expected[i], 4, false);
        assert_memory_equal(text.data + 4 * i, word, 4);
    }
    for (size_t i = sizeof expected; i < text.used; i++)
        assert_int_equal(text.data[i], 0);
    extract_text_free(&text);
    extract_session_close(session);
}

static void words_set_columns(void **state)
{
    static const char *const bad[] = {"",           "dance",       "exec=maybe",   "pagesize=501",
                                      "pagesize",   "timestamp=4", "timestamp=-1", "exec,,pid",
                                      "starttime=1"};
    struct extract_error error;
    (void)state;
    extract_columns_init(&columns, false);
    assert_int_equal(extract_columns_set(&columns,
                                         "2line,exec=off,pid=on,pagesize=500,timestamp=3,"
                                         "removedups=on,hist",
                                         NULL, NULL, &error),
                     EXTRACT_OK);
    assert_true(columns.two_lines && !columns.exec && columns.pid && !columns.duplicates);
    assert_true(columns.histogram && columns.ids && columns.seq && !columns.tid);
    assert_int_equal(columns.page_lines, 500);
    assert_int_equal(columns.times, EXTRACT_TIMES_NONE);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(extract_columns_set(&columns, bad[i], NULL, NULL, &error), EXTRACT_USAGE);
}

static enum extract_code attempt(void)
{
    struct extract_session *session;
    struct extract_text text;
    enum extract_code code = extract_session_open(&session, memory, NULL, &options, NULL);
    if (code)
        return code;
    extract_text_init(&text, NULL, NULL);
    code = extract_session_run(session, columns.histogram ? "report" : "raw", &text, NULL);
    if (!code && !columns.histogram)
        code = extract_session_run(session, "report", &text, NULL);
    extract_text_free(&text);
    extract_session_close(session);
    return code;
}

static void memory_runs_out(void **state)
{
    (void)state;
    start(own, true);
    columns.exec = columns.svc = columns.filename = true;
    each_allocation_fails(attempt);
    columns.histogram = true;
    each_allocation_fails(attempt);
}

static void check_number(uint64_t value)
{
    char room[TEXT_WRITER_NUMBER], expected[24];
    struct text_writer writer = {NULL, room, room + sizeof room};
    text_writer_dec(&writer, value);
    *writer.at = 0;
    snprintf(expected, sizeof expected, "%" PRIu64, value);
    assert_string_equal(room, expected);
}

static void numbers_of_every_length(void **state)
{
    (void)state;
    check_number(0);
    check_number(UINT64_MAX);
    for (unsigned i = 0; i < 20; i++)
        for (uint64_t digit = 1; digit < 10; digit++) {
            check_number(text_writer_powers[i] * digit -
                         1); // at 10^19 these wrap, to numbers all the same
            check_number(text_writer_powers[i] * digit);
        }
    for (uint64_t value = 12345678; value > 0; value = value * 7 / 9)
        check_number(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_length),
        cmocka_unit_test(layout_of_trcrpt),
        cmocka_unit_test(columns_of_trcrpt),
        cmocka_unit_test(layout_of_ringside),
        cmocka_unit_test(addresses_are_whole),
        cmocka_unit_test(two_lines_an_event),
        cmocka_unit_test(times_of_every_kind),
        cmocka_unit_test(pages_have_heads),
        cmocka_unit_test(a_page_has_an_event),
        cmocka_unit_test(repeated_events_are_counted),
        cmocka_unit_test(histogram_counts_hook_ids),
        cmocka_unit_test(faults_are_told),
        cmocka_unit_test(a_template_stops_the_report),
        cmocka_unit_test(errors_of_templates_are_handed_over),
        cmocka_unit_test(files_lie_on_each_other),
        cmocka_unit_test(hook_ids_are_checked),
        cmocka_unit_test(reports_can_be_ended),
        cmocka_unit_test(raw_entries_are_a_file),
        cmocka_unit_test(words_set_columns),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests_name("columns", tests, open_all, close_all);
}
