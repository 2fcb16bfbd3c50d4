// SPDX-License-Identifier: MIT
// Tests the strip of letters that shows the states of active objects. Truth: columns counted by
// hand.
#include "tests/unit/trazer/rkh_stream.h"

static void put_at(struct stream *s, uint32_t stamp, uint8_t id, const char *words)
{
    s->stamp = stamp;
    stream_put(s, id, words);
}

// Begins a stream with two active objects and three named states.
static void begin(struct stream *s)
{
    stream_begin(s);
    put_at(s, 1000, 174, "00000020 'server'");
    put_at(s, 1000, 174, "40000020 'client'");
    put_at(s, 1000, 175, "00000020 00010000 'one'");
    put_at(s, 1000, 175, "00000020 00020000 'two'");
    put_at(s, 1000, 175, "00000020 00030000 'three'");
}

static void expect_line(const struct stream *s, const char *name, const char *rest)
{
    struct extract_text text = stream_say(s, "stats", false, false);
    char line[FRAME_ROOM];
    const char *at = text.data;
    bool found = false;
    while (*at && !found) {
        at = stream_line(at, line);
        found = !strncmp(line, name, strlen(name)) && strstr(line, rest);
    }
    if (!found)
        print_error("%s", text.data);
    assert_true(found);
    extract_text_free(&text);
}

// Shows 600 ticks in columns of 10 ticks: 10 columns without a state, 20 of `one`, one column in
// which `two` and `three` begin, and 29 of `one`.
static void test_strip(void **state)
{
    struct stream s;
    (void)state;
    begin(&s);
    put_at(&s, 1100, 99, "00000020 00010000");
    put_at(&s, 1300, 99, "00000020 00020000");
    put_at(&s, 1304, 99, "00000020 00030000");
    put_at(&s, 1310, 99, "00000020 00010000");
    put_at(&s, 1590, 99, "40000020 00020000");
    put_at(&s, 1599, 160, "");
    expect_line(
        &s, "server ",
        "  ..........AAAAAAAAAAAAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAA  A one, B two, C three");
    expect_line(&s, "client ",
                "  ...........................................................A  A two");
}

// Three ticks need no more than three columns.
static void test_short(void **state)
{
    struct stream s;
    (void)state;
    begin(&s);
    put_at(&s, 1001, 99, "00000020 00010000");
    put_at(&s, 1002, 99, "00000020 00020000");
    expect_line(&s, "server ", "  .AB ");
}

// The stream has more states than there are letters, and a long time after them.
static void test_many(void **state)
{
    struct stream s;
    char words[32];
    (void)state;
    begin(&s);
    for (unsigned i = 0; i < 60; i++) {
        snprintf(words, sizeof words, "00000020 00%02X0000", 0x10 + i);
        put_at(&s, 1000 + i * 10, 99, words);
    }
    expect_line(&s, "server ",
                "  ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz********  A ");
    put_at(&s, 0x70000000, 160, "");
    expect_line(&s, "server ", "  ***********");
}

static void test_no_times(void **state)
{
    struct stream s;
    (void)state;
    stream_init(&s, 1, 0, true);
    stream_put(&s, TCFG, "0034 FFFF0200 14 42 11 02 14 E803");
    stream_put(&s, 99, "00000020 00010000");
    struct extract_text text = stream_say(&s, "stats", false, false);
    assert_null(strstr(text.data, "  A 0x"));
    extract_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strip),
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_no_times),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
