// SPDX-License-Identifier: MIT
// unit: what a run reads from its environment: margin, tabs, byte order, names, logs. Also the
// limits of a run.
#include "tests/unit/scratch.h"
#include <extract/templates.h>

// The settings of the next run.
struct setup {
    struct extract_templates *templates;
    struct extract_formatter *formatter;
    struct extract_entry entry;
    struct extract_outcome outcome;
    unsigned margin;
    bool expand;
};

static const uint8_t five_words[24] = {0x01, 0x0E, 0, 5, 0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE,
                                       0,    0,    0, 3, 0, 0, 0, 4, 0,    0,    0,    42};

static struct extract_template_host host; // host of the open formatter

static void open_templates(struct setup *s, const char *text)
{
    assert_int_equal(extract_templates_open(&s->templates, 0, NULL), EXTRACT_OK);
    assert_int_equal(extract_templates_add(s->templates, "test", text, strlen(text), false, NULL),
                     EXTRACT_OK);
    assert_int_equal(extract_templates_link(s->templates, NULL), EXTRACT_OK);
    assert_int_equal(extract_formatter_open(&s->formatter, s->templates, &host, NULL), EXTRACT_OK);
}

static struct setup setup_of(const char *text)
{
    struct setup s = {0};
    memset(&host, 0, sizeof host);
    open_templates(&s, text);
    assert_int_equal(extract_entry_parse(&s.entry, five_words, sizeof five_words, 32, false, NULL),
                     EXTRACT_OK);
    return s;
}

static void close_setup(struct setup *s)
{
    extract_formatter_close(s->formatter);
    extract_templates_close(s->templates);
}

static void run(struct setup *s)
{
    extract_formatter_run(s->formatter,
                          extract_templates_find(s->templates, EXTRACT_HOOKS_16, s->entry.hook),
                          &s->entry, s->margin, s->expand, &s->outcome);
}

static void assert_run(struct setup *s, const char *expected)
{
    run(s);
    assert_int_equal(s->outcome.length, strlen(expected));
    assert_memory_equal(s->outcome.text, expected, strlen(expected));
}

static void begins_lines_with_the_margin(void **state)
{
    struct setup s = setup_of("010 1.0 \"a\" \\n \"b\" \\n\\n X2 \\n");
    (void)state;
    s.margin = 5;
    assert_run(&s, "a\n     b\n\n     0005\n");
    close_setup(&s);
    s = setup_of("010 1.0 \"a\" \\n $RELLINENO \\n W6 X1");
    s.margin = 2;
    assert_run(&s, "a\n  0002\n  RUNTIME:E-SHORT");
    assert_int_equal(s.outcome.ending, EXTRACT_ENDS_FAULT);
    assert_string_equal(s.outcome.fault, "E-SHORT");
    close_setup(&s);
}

static void makes_blanks_of_tabs(void **state)
{
    struct setup s = setup_of("010 1.0 \"a\" \\t \"1234567\" \\t \"12345678\" \\t \"x\" "
                              "\\n \\t \"\xc3\xa9\" \\t \"y\"");
    (void)state;
    s.margin = 3;
    s.expand = true;
    assert_run(&s, "a       1234567 12345678        x\n           \xc3\xa9       y");
    s.expand = false;
    assert_run(&s, "a\t1234567\t12345678\tx\n   \t\xc3\xa9\ty");
    close_setup(&s);
    s = setup_of("010 1.0 \"a\tb\" \"c\"");
    assert_run(&s, "a\tb c");
    s.expand = true;
    assert_run(&s, "a       b c");
    close_setup(&s);
}

// Numbers in the buffer have the target's byte order, and those before it have that of the
// language.
static void reads_little_buffers(void **state)
{
    static const uint8_t bytes[] = {0x01, 0,    0,    0x20, 0,    0,    0,    1,    0x01, 0x02,
                                    0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0,    0,    0xC0, 0x3F,
                                    2,    0,    'h',  'i',  0x34, 0x12, 0xFE, 0xFF, 0xFF, 0xFF};
    struct setup s = setup_of("010 1.0 \"\" $D1 G4 X4 X2 R2 X3 R3 X4 R4 X8 R8 B0.8 X16");
    (void)state;
    assert_int_equal(extract_entry_parse(&s.entry, bytes, sizeof bytes, 32, false, NULL),
                     EXTRACT_OK);
    s.entry.little = true;
    assert_run(&s, "0001 00000001 0201 010203 04030201 0807060504030201 00000001 "
                   "020304050607080000C03F0200686934");
    close_setup(&s);
    s = setup_of("010 1.0 \"\" G16 F4 S2 U2 D4 $DATAPOINTER");
    assert_int_equal(extract_entry_parse(&s.entry, bytes, sizeof bytes, 32, false, NULL),
                     EXTRACT_OK);
    s.entry.little = true;
    assert_run(&s, "1.5000E+00 hi 4660 -2 001E");
    s.entry.little = false;
    assert_run(&s, "6.8965E-41 RUNTIME:E-SHORT");
    close_setup(&s);
}

struct asked {
    uint64_t value;
    unsigned word, count;
};

static const char *name_of(void *context, const struct extract_entry *entry, uint64_t value,
                           unsigned word, size_t *length)
{
    struct asked *asked = context;
    assert_non_null(entry);
    *asked = (struct asked){value, word, asked->count + 1};
    *length = 2;
    return value == 1 ? "wa" : value == 3 ? (*length = 0, "") : NULL;
}

static void asks_the_host_for_names(void **state)
{
    struct asked asked = {0};
    struct setup s = setup_of("010 1.0 \"\" \"t=\" W1 PW \"x\" W2 P4 \"y\" W5 PW");
    (void)state;
    host.context = &asked;
    host.name = name_of;
    assert_run(&s, "t=wa x 4294967294 y 42");
    assert_int_equal(asked.count, 3);
    assert_int_equal(asked.value, 42);
    assert_int_equal(asked.word, 5);
    host.wide_unknown = true;
    assert_run(&s, "t=wa x 0xfffffffe y 0x2a");
    close_setup(&s);
    // An empty name is printed as nothing. A number that spans two words belongs to no word.
    s = setup_of("010 1.0 \"a\" W3 PW \"b\" G6 P4");
    host.context = &asked;
    host.name = name_of;
    assert_run(&s, "a b 131071");
    assert_int_equal(asked.word, 0);
    close_setup(&s);
}

static void tells_the_place_of_an_error(void **state)
{
    struct setup s = setup_of("010 1.0 \"a\" $ERROR \"b\"");
    (void)state;
    s.entry.log_file = "a\x1blog";
    s.entry.log_offset = 0x1A4;
    assert_run(&s, "a\nERROR: hook 0010 at offset 0x1a4 of a\\x1blog");
    assert_int_equal(s.outcome.ending, EXTRACT_ENDS_ERROR);
    assert_null(s.outcome.fault);
    close_setup(&s);
}

static void escapes_foreign_texts(void **state)
{
    struct setup s = setup_of("010 1.0 \"\" $EXECPATH $SVC $LOGFILE $TRACEENV");
    (void)state;
    s.entry.exec = "a\nb";
    host.kernel_bits = 64;
    assert_run(&s, "a\\x0ab 64");
    s.entry.svc = "\xff";
    s.entry.log_file = "log";
    assert_run(&s, "a\\x0ab \\xff log 64");
    close_setup(&s);
}

// ---- bounds ----

static void assert_bounded(const char *text, const char *fault)
{
    struct setup s = setup_of(text);
    s.margin = 40;
    run(&s);
    assert_true(s.outcome.length <= EXTRACT_MAX_OUTPUT);
    assert_int_equal(s.outcome.ending, EXTRACT_ENDS_FAULT);
    assert_string_equal(s.outcome.fault, fault);
    size_t marker = strlen("RUNTIME:") + strlen(fault);
    assert_true(s.outcome.length >= marker);
    assert_memory_equal(s.outcome.text + s.outcome.length - marker, "RUNTIME:", 8);
    close_setup(&s);
}

static void ends_what_does_not_end(void **state)
{
    (void)state;
    assert_bounded("010 1.0 \"\" LOOP 65536 { \"0123456789\" }", "E-OUTPUT");
    assert_bounded("010 1.0 \"\" LOOP 65536 { \\n }", "E-OUTPUT");
    assert_bounded("010 1.0 \"\" LOOP 65536 { \"a\" \\n }", "E-OUTPUT");
    assert_bounded("010 1.0 \"\" LOOP 65536 { G4 B8 }", "E-OUTPUT");
    assert_bounded("010 1.0 \"\" LOOP 65536 { G4 X16 }", "E-OUTPUT");
    assert_bounded("010 1.0 \"\" LOOP 65536 { \\t }", "E-OUTPUT");
    assert_bounded("010 1.0 \"\" LOOP 65536 { G4 T4 }", "E-OUTPUT");
    assert_bounded("010 1.0 \"\" LOOP 65536 { G4 F4 }", "E-OUTPUT");
    assert_bounded("010 1.0 \"\" A0.65535 A0.65535", "E-OUTPUT");
    assert_bounded("010 1.0 \"\" LOOP 65536 { A0.60000 \\n }", "E-LOOPMAX");
    char text[4096 + 64];
    snprintf(text, sizeof text, "010 1.0 \"\" LOOP 65536 { \"%4096s\" \\n }", "");
    assert_bounded(text, "E-LOOPMAX");
    assert_bounded("010 1.0 \"\" LOOP 65536 { LOOP 65536 { LOOP 65536 { } } }", "E-LOOPMAX");
    assert_bounded("010 1.0 \"\" LOOP 65536 { $111 }\n111 1.0 \"\" LOOP 65536 { }", "E-LOOPMAX");
    assert_bounded("010 1.0 \"\" $111\n111 1.0 \"\" $010", "E-DEPTH");
}

// The output is filled up to its last byte, and by one byte too many.
static void fills_its_output(void **state)
{
    (void)state;
    for (unsigned blanks = 65100; blanks <= 65535; blanks += 7) {
        char text[64];
        snprintf(text, sizeof text, "010 1.0 \"\" A0.%u X2 \"x\"", blanks);
        struct setup s = setup_of(text);
        run(&s);
        assert_true(s.outcome.length <= EXTRACT_MAX_OUTPUT);
        if (s.outcome.ending == EXTRACT_ENDS_WELL)
            assert_int_equal(s.outcome.length, blanks + 6);
        else
            assert_string_equal(s.outcome.fault, "E-OUTPUT");
        close_setup(&s);
    }
}

static void starts_anew_each_time(void **state)
{
    struct setup s = setup_of("010 1.0 \"\" $x {{ $x = $x + 7 }} $x $BASEPOINTER "
                              "{{ $BASEPOINTER = 4 }} $DATAPOINTER \\n $RELLINENO");
    (void)state;
    assert_run(&s, "0000 0007 0000 0002\n0002");
    long live = alloc_live;
    alloc_countdown = 0; // the next allocation would fail
    assert_run(&s, "0000 0007 0000 0002\n0002");
    assert_int_equal(alloc_countdown, 0);
    alloc_countdown = -1;
    assert_int_equal(alloc_live, live);
    close_setup(&s);
}

static void links_again(void **state)
{
    static const char more[] = "111 1.0 \"new\" \"text\" X2 \"t\"";
    struct setup s = setup_of("010 1.0 \"a\" \"b\" X2 $111 \"c\" \"d\"\n111 1.0 \"old\"");
    (void)state;
    assert_run(&s, "a b 0005 old c d");
    assert_int_equal(extract_templates_add(s.templates, "more", more, strlen(more), false, NULL),
                     EXTRACT_OK);
    assert_int_equal(extract_templates_link(s.templates, NULL), EXTRACT_OK);
    assert_int_equal(extract_templates_link(s.templates, NULL), EXTRACT_OK);
    assert_run(&s, "a b 0005 new text 0000 t c d");
    close_setup(&s);
}

static void refuses_half_a_hook_word(void **state)
{
    struct extract_entry entry;
    struct extract_error error;
    (void)state;
    assert_int_equal(extract_entry_parse(&entry, five_words, 3, 32, false, &error),
                     EXTRACT_TRUNCATED);
    assert_int_equal(extract_entry_parse(&entry, five_words, 7, 64, false, &error),
                     EXTRACT_TRUNCATED);
    assert_int_equal(extract_entry_parse(&entry, five_words, 4, 32, false, &error), EXTRACT_OK);
    assert_int_equal(entry.bytes_of_data, 0);
}

// Every allocation fails in turn. If there is no memory to optimize, the text is the same.
static void survives_failing_allocations(void **state)
{
    static const char text[] = "010 1.0 \"a\" \"b\" X2 \"c\" \"d\"";
    unsigned refused = 0, ran = 0;
    (void)state;
    memset(&host, 0, sizeof host);
    for (long fail = 0; fail < 200; fail++) {
        struct setup s = {0};
        extract_entry_parse(&s.entry, five_words, sizeof five_words, 32, false, NULL);
        alloc_countdown = fail;
        bool opened = !extract_templates_open(&s.templates, 0, NULL);
        bool well = opened &&
                    !extract_templates_add(s.templates, "t", text, strlen(text), false, NULL) &&
                    !extract_templates_link(s.templates, NULL) &&
                    !extract_formatter_open(&s.formatter, s.templates, &host, NULL);
        bool failed = alloc_countdown < 0;
        alloc_countdown = -1;
        refused += !well;
        if (well)
            assert_run(&s, "a b 0005 c d");
        ran += well && failed;
        close_setup(&s);
    }
    assert_true(refused > 5);
    assert_true(ran > 0);
    assert_int_equal(alloc_live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_lines_with_the_margin),
        cmocka_unit_test(makes_blanks_of_tabs),
        cmocka_unit_test(reads_little_buffers),
        cmocka_unit_test(asks_the_host_for_names),
        cmocka_unit_test(tells_the_place_of_an_error),
        cmocka_unit_test(escapes_foreign_texts),
        cmocka_unit_test(ends_what_does_not_end),
        cmocka_unit_test(fills_its_output),
        cmocka_unit_test(starts_anew_each_time),
        cmocka_unit_test(links_again),
        cmocka_unit_test(refuses_half_a_hook_word),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
