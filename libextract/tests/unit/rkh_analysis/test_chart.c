// SPDX-License-Identifier: MIT
// Tests the sequence chart of RKH streams, as text and as a picture. Truth: written by hand for the
// frames of each case.
#include "tests/unit/trazer/rkh_stream.h"

enum { SERVER = 0x20000000, LINES = 4000 };

static void begin(struct stream *s)
{
    stream_begin(s);
    stream_put(s, 174, "00000020 'server'");
    stream_put(s, 174, "3C010020 'cli0'");
    stream_put(s, 180, "280B0020 '&l_isr_kbd'");
    stream_put(s, 167, "05 'PAUSE'");
    stream_put(s, 175, "00000020 24250000 'server_idle'");
    s->stamp = 1010; // 1000 ticks after the first frame
}

static void check_text(const struct stream *s, const char *expected)
{
    struct extract_text text = stream_say(s, "signalling", false, false);
    assert_string_equal(text.data, expected);
    extract_text_free(&text);
}

static void test_lines(void **state)
{
    struct stream s;
    (void)state;
    begin(&s);
    stream_put(&s, 67, "00000020 05 280B0020 00 00 01 03");
    stream_put(&s, 68, "3C010020 06 00000020 00 00 01 03");
    stream_put(&s, 66, "00000020 05 00 00 00 03");
    stream_put(&s, 99, "00000020 24250000");
    stream_put(&s, 99, "00000020 24250000"); // no change
    stream_put(&s, 71, "44010020 05");       // the running active object posts this
    stream_put(&s, 105, "00000020");
    stream_put(&s, 131, "78010020 05 3C010020");
    stream_put(&s, 67, "3C010020 05 00000000 00 00 01 03");
    stream_put(&s, 170, "191C0000 280B0020 00000020");
    stream_put(&s, 106, "3C010020 05");
    stream_put(&s, 36, "44010020");
    s.next++;
    stream_put(&s, 173, "'my;bsp' 5000");
    check_text(&s, "environment,\ntimers,\nl_isr_kbd,\nserver,\ncli0;\n\n"
                   "l_isr_kbd->server: PAUSE; # 1.000\n"
                   "server->cli0: 6 (first); # 1.010\n"
                   "server->server: server_idle; # 1.030\n"
                   "server>server: defer PAUSE; # 1.050\n"
                   "timers>>cli0: PAUSE; # 1.070\n"
                   "environment->cli0: PAUSE; # 1.080\n"
                   "l_isr_kbd=>server: 0x1c19; # 1.090\n"
                   "cli0>cli0: no trigger for event PAUSE; # 1.100\n"
                   "...: queue full: 0x20000144; # 1.110\n"
                   "...: 1 frame lost (modulo 256); # 1.120\n"
                   "---: assertion failed: my\\;bsp.c, line 80; # 1.120\n");
}

// If a name is not a word of the chart language, or belongs to another object, the chart shows it
// in a label.
static void test_names(void **state)
{
    struct stream s;
    (void)state;
    begin(&s);
    stream_put(&s, 174, "04000020 'server'");
    stream_put(&s, 174, "08000020 'box'");
    stream_put(&s, 174, "0C000020 'e7'");
    stream_put(&s, 174, "10000020 '&a->q[\"1\"]'");
    stream_put(&s, 67, "04000020 05 00000020 00 00 01 03");
    stream_put(&s, 67, "0C000020 05 08000020 00 00 01 03");
    stream_put(&s, 67, "10000020 05 10000020 00 00 01 03");
    check_text(&s, "server,\ne1 [label=\"box\"],\ne2 [label=\"server\"],\ne3 [label=\"e7\"],\n"
                   "e4 [label=\"a->q\\[\\\"1\\\"\\]\"];\n\n"
                   "server->e2: PAUSE; # 1.040\ne1->e3: PAUSE; # 1.050\ne4->e4: PAUSE; # 1.060\n");
}

// After a restart, the chart separates what came before from what comes after. Names and times from
// before the restart are not used after it.
static void test_restart(void **state)
{
    struct stream s;
    (void)state;
    begin(&s);
    stream_put(&s, 105, "00000020");
    stream_put(&s, 71, "44010020 05"); // no running active object is known
    stream_put(&s, TCFG, all_on);
    s.next = 0;
    stream_put(&s, 107, "00000020");
    check_text(&s, "environment,\ne1 [label=\"0x20000000\"];\n\n"
                   "environment>environment: defer PAUSE; # 1.010\n"
                   "...: the target was restarted; # 1.010\n"
                   "e1>e1: guard is false; # 1.010\n");
}

// ---- the picture ----

// Returns whether a text is one XML element whose inner elements are all closed, without a
// forbidden character.
static bool is_xml(const char *text)
{
    char open[16][32];
    unsigned depth = 0, roots = 0;
    for (const char *at = strstr(text, "?>"); at && *at; at++) {
        if ((unsigned char)*at < ' ' && *at != '\n')
            return false;
        if (*at == '&' && strncmp(at, "&amp;", 5) && strncmp(at, "&lt;", 4) &&
            strncmp(at, "&gt;", 4) && strncmp(at, "&quot;", 6))
            return false;
        if (*at != '<')
            continue;
        const char *end = strchr(at, '>');
        size_t name = strcspn(at + 1, " />");
        if (!end || name >= sizeof open[0] || depth == 16)
            return false;
        if (at[1] == '/') {
            size_t length = (size_t)(end - at) - 2;
            if (!depth-- || strlen(open[depth]) != length || strncmp(open[depth], at + 2, length))
                return false;
        } else if (end[-1] != '/') {
            snprintf(open[depth], sizeof open[0], "%.*s", (int)name, at + 1);
            roots += depth++ == 0;
        }
        at = end;
    }
    return depth == 0 && roots == 1;
}

static void test_xml_check(void **state)
{
    (void)state;
    assert_true(is_xml("<?xml?><a><b c=\"d\"/>x&lt;</a>"));
    assert_false(is_xml("<?xml?><a><b></a></b>"));
    assert_false(is_xml("<?xml?><a>"));
    assert_false(is_xml("<?xml?><a/><a>&x</a>"));
    assert_false(is_xml("<?xml?><a></a><a></a>"));
    assert_false(is_xml("<?xml?><a>\x1b</a>"));
}

static void check_svg(const struct stream *s, const char *const *pieces)
{
    struct extract_text text = stream_say(s, "chart", false, false);
    assert_true(is_xml(text.data));
    assert_pieces(text.data, pieces);
    extract_text_free(&text);
}

#define CHECK(s, ...) check_svg(s, (const char *const[]){__VA_ARGS__, NULL})

// Two columns of 104 pixels start at x = 96. An arrow goes from the middle of the first column to
// the middle of the second. After it come the get and the next state.
static void test_picture(void **state)
{
    struct stream s;
    (void)state;
    begin(&s);
    stream_put(&s, 67, "00000020 05 280B0020 00 00 01 03");
    stream_put(&s, 66, "00000020 05 00 00 00 03");
    stream_put(&s, 99, "00000020 05000000");
    stream_put(&s, 105, "00000020");
    stream_put(&s, 173, "'my<bsp>' 5000");
    CHECK(&s,
          "<path class=\"m\" d=\"M152 108H248\" marker-end=\"url(#m)\"/>"
          "<text class=\"w\" x=\"200\" y=\"103\" text-anchor=\"middle\">PAUSE</text>",
          "<circle class=\"dot\" cx=\"252\" cy=\"128\" r=\"3\"/>"
          "<text class=\"w g\" x=\"261\" y=\"132\">PAUSE +0.010</text>",
          "<path class=\"s\" d=\"M256 146h22v10h-18\" marker-end=\"url(#s)\"/>"
          "<text class=\"w st\" x=\"284\" y=\"155\">0x5</text>",
          "<rect class=\"bar\" x=\"248\" y=\"128\" width=\"8\" height=\"34\"/>",
          "text-anchor=\"end\">1.000</text>", "text-anchor=\"end\">1.040</text>",
          ">assertion failed: my&lt;bsp&gt;.c, line 80</text>",
          "<title>seq 6, seconds 1.000: post, PAUSE</title>");
}

// Names that are not XML text, and a name that is longer than its space.
static void test_hostile_names(void **state)
{
    struct stream s;
    (void)state;
    begin(&s);
    stream_put(&s, 174, "04000020 1B3C265B5D3E22EFBFBE8000");
    stream_put(&s, 167, "07 'ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZ'");
    stream_put(&s, 67, "04000020 07 04000020 00 00 01 03");
    CHECK(&s, ">\\x1b&lt;&amp;[]&gt;&quot;\\xef\\xbf\\xbe",
          ">ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF…</text>");
}

static void test_empty(void **state)
{
    struct stream s;
    (void)state;
    begin(&s);
    CHECK(&s, "The view has no event for a chart.");
    check_text(&s, "");
}

// Checks the lines of the caption, which start 12 pixels from the left. No letter (7 pixels wide)
// may cross the right border, and no line may be in the heads. Returns how many lines there are.
static long check_caption(const char *svg)
{
    static const char begins[] = " x=\"12\" y=\"";
    const char *head = strstr(svg, "rx=\"");
    long width = strtol(strstr(svg, "width=\"") + 7, NULL, 10), lines = 0;
    while (head && strncmp(head, " y=\"", 4))
        head--;
    for (const char *at = svg; (at = strstr(at, begins)); lines++) {
        const char *text = strchr(at, '>') + 1;
        assert_int_equal(strtol(at + sizeof begins - 1, NULL, 10), 18 * (lines + 1));
        assert_true(12 + 7 * (long)strcspn(text, "<") <= width);
        at = text;
    }
    assert_true(!head || strtol(head + 4, NULL, 10) >= 18 * lines + 10);
    return lines;
}

static void test_caption(void **state)
{
    static struct stream s;
    struct extract_text text;
    char words[64];
    (void)state;
    begin(&s);
    stream_put(&s, 67, "00000020 05 280B0020 00 00 01 03");
    text = stream_say(&s, "chart", false, false);
    assert_int_equal(check_caption(text.data), 2);
    assert_non_null(strstr(text.data, "Dashed: a timeout.</text>"));
    extract_text_free(&text);
    for (unsigned i = 0; i < 10; i++) { // columns for one line of the caption
        snprintf(words, sizeof words, "%02X000021 05 280B0020 00 00 01 03", i * 4);
        stream_put(&s, 67, words);
    }
    text = stream_say(&s, "chart", false, false);
    assert_int_equal(check_caption(text.data), 1);
    extract_text_free(&text);
    begin(&s);
    text = stream_say(&s, "chart", false, false);
    assert_int_equal(check_caption(text.data), 3);
    extract_text_free(&text);
}

// The chart has more lines than are drawn. The newest are drawn, and both forms state how many are
// missing.
static void test_many(void **state)
{
    static struct stream s;
    struct extract_text text;
    unsigned lines = 0;
    (void)state;
    stream_init(&s, 1, 1, true);
    stream_put(&s, TCFG, "0034 FFFF0300 11 22 11 02 14 E803");
    for (unsigned i = 0; i < LINES + 7; i++)
        stream_put(&s, 131, i == 7 ? "7801 06 3C01" : "7801 05 3C01");
    CHECK(&s, "7 older lines are left out: choose with --last, --from and --to.</text>");
    text = stream_say(&s, "signalling", false, false);
    assert_non_null(strstr(text.data, "# 7 older lines are left out\n"));
    assert_non_null(strstr(text.data, ";\n\ntimers>>e1: 6; #"));
    for (const char *at = text.data; (at = strstr(at, "timers>>")); at++)
        lines++;
    assert_int_equal(lines, LINES);
    extract_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),   cmocka_unit_test(test_names),
        cmocka_unit_test(test_restart), cmocka_unit_test(test_xml_check),
        cmocka_unit_test(test_picture), cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_empty),   cmocka_unit_test(test_many),
        cmocka_unit_test(test_caption),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
