// SPDX-License-Identifier: MIT
// unit: the compiler of templates: the faults that it reports, their positions, and the operations
// that it generates.
//
// Truth: positions counted by hand, programs written by hand.
#include "templates/program.h"
#include "tests/unit/scratch.h"
#include <extract/templates.h>
#include <inttypes.h>
#include <stdio.h>

static struct extract_templates *templates;
static struct extract_error error;
static unsigned dialect;

static void open_templates(void)
{
    assert_int_equal(extract_templates_open(&templates, dialect, &error), EXTRACT_OK);
}

static void add(const char *text)
{
    assert_int_equal(extract_templates_add(templates, "a.fmt", text, strlen(text), false, &error),
                     EXTRACT_OK);
}

// Returns all diagnostics as "LINE:COLUMN NAME", separated by ", ".
static const char *told(void)
{
    static char text[4096];
    const struct extract_diagnostic *list;
    size_t count = extract_templates_diagnostics(templates, &list), used = 0;
    text[0] = 0;
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u:%u %s", i ? ", " : "",
                                 list[i].line, list[i].column, list[i].name);
    return text;
}

// ---- faults ----

#define H "010 1.0 \"\" " // 11 bytes

static const struct {
    const char *text, *told;
} faults[] = {
    {"010", "1:4 E-HEADER"},
    {"# x\n\n10C   \n", "3:7 E-HEADER"},
    {"12 1.0 x", "1:1 E-HOOKID"},
    {"  12345 1.0 x", "1:3 E-HOOKID"},
    {"0101 1.0 x", "1:1 E-HOOKID"},
    {"+ 010 1.0 x", "1:1 E-HOOKID"},
    {"XYZ 1.0 x\n", "1:1 E-HOOKID"},
    {"010 1 \"x\"", "1:5 E-VERSION"},
    {"010 \"x\"", "1:5 E-VERSION"},
    {"010 1. x", "1:5 E-VERSION"},
    {"010 1.99999999999 x", "1:5 E-VERSION"},
    {"010 1.0 L=USER x", "1:9 E-LEVEL"},
    {"010 1.0   L=appl x", "1:11 E-LEVEL"},
    {"010 1.0 L=", "1:9 E-LEVEL"},
    {"010 1.0", "1:8 E-LABEL"},
    {"010 1.0 L=APPL", "1:15 E-LABEL"},
    {"010 1.0 $D1", "1:9 E-LABEL"},
    {"010 1.0 x X2 \\", "1:14 E-CONT"},
    {"010 1.0 x \\\n  X2 \\  \n# end\n", "2:6 E-CONT"},
    {H "\\ X2", "1:12 E-CONT"},
    {H "\"abc", "1:12 E-STRING"},
    {H "\"a\" `b $D1", "1:16 E-STRING"},
    {"010 1.0 \"x\\\" X2", "1:9 E-STRING"},
    {H "LOOP 2 { X1", "1:19 E-BRACE"},
    {H "X1 }", "1:15 E-BRACE"},
    {H "{ X1 }", "1:12 E-BRACE"},
    {H "{{ $a = 1", "1:12 E-BRACE"},
    {H "{{ $a = 1 }", "1:12 E-BRACE"},
    {H "LOOP 2 X1", "1:19 E-LOOP"},
    {H "LOOP { X1 }", "1:17 E-LOOP"},
    {H "LOOP \"a\" { X1 }", "1:17 E-LOOP"},
    {H "LOOP $SVC { X1 }", "1:17 E-OPERAND"},
    {H "LOOP G4 { X1 }", "1:17 E-OPERAND"},
    {H "LOOP $111 { X1 }", "1:17 E-OPERAND"},
    {H "BITFLAGS A4, 1 a", "1:21 E-OPERAND"},
    {H "BITFLAGS T4, 1 a", "1:21 E-OPERAND"},
    {H "G4, 1 \"x\"", "1:12 E-OPERAND"},
    {H "F4, 1 \"x\"", "1:12 E-OPERAND"},
    {H "X9, 1 \"x\"", "1:12 E-OPERAND"},
    {H "$111, 1 \"x\"", "1:12 E-OPERAND"},
    {H "$BREAK, 1 \"x\"", "1:12 E-OPERAND"},
    {H "$a%S1, 1 \"x\"", "1:12 E-OPERAND"},
    {H "X17", "1:12 E-CODE-RANGE"},
    {H "a\n011 1.0 x F5 b\n012 1.0 x G1.9", "2:11 E-CODE-RANGE, 3:11 E-CODE-RANGE"},
    {H "$a%D9", "1:15 E-MACRO-FMT"},
    {H "$a%X17", "1:15 E-MACRO-FMT"},
    {H "`a X17`", "1:15 E-CODE-RANGE"},
    {H "{{ $a = U9 }}", "1:20 E-CODE-RANGE"},
    {H "S4", "1:12 E-CODE-RANGE"},
    {H "B0", "1:12 E-CODE-RANGE"},
    {H "A70000", "1:12 E-CODE-RANGE"},
    {H "X2, zz \"a\"", "1:16 E-MATCH"},
    {H "D2, 1f \"a\"", "1:16 E-MATCH"},
    {H "o2, 8 \"a\"", "1:16 E-MATCH"},
    {H "B0.2, 12 \"a\"", "1:18 E-MATCH"},
    {H "U2, 18446744073709551616 a", "1:16 E-MATCH"},
    {H "A2, {X1}", "1:16 E-MATCH"},
    {H "X2, 1", "1:17 E-CASE"},
    {H "X2, 1, 2 \"b\"", "1:17 E-CASE"},
    {H "X2, 1 \"b\",", "1:22 E-CASE"},
    {H "X2, 1 X4", "1:18 E-CASE"},
    {H "\"a\", \"b\"", "1:15 E-COMMA"},
    {H "X2, 1 \"a\" b, 2 \"b\"", "1:23 E-COMMA"},
    {H "BITFLAGS X2, 1 a b, 0 c", "1:30 E-COMMA"},
    {H "\\* \"x\"", "1:12 E-WILD"},
    {H "LOOP 2 { \\* }", "1:21 E-WILD"},
    {H "\\q", "1:12 E-ESCAPE"},
    {H "`\\q`", "1:13 E-ESCAPE"},
    {H "\"a\x1b[m\"", "1:14 E-ESCAPE"},
    {H "\xff", "1:12 E-ESCAPE"},
    {H "\"a\xe2\x80\x8b\"", "1:14 E-ESCAPE"},
    {H "a\n\xef\xbb\xbf# a second mark", "2:1 E-ESCAPE"},
    {H "a\xef\xb8\x8f", "1:13 E-ESCAPE"},
    {H "a $", "1:14 E-MACRO"},
    {H "$%X2", "1:12 E-MACRO"},
    {H "$(date)", "1:12 E-MACRO"},
    {H "$PROCNAME $a", "1:12 E-MACRO"},
    {H "a ENDTEXT", "1:14 E-MACRO"},
    {H "$a%", "1:14 E-MACRO-FMT"},
    {H "$a% X2", "1:14 E-MACRO-FMT"},
    {H "$a%W3.1", "1:15 E-MACRO-FMT"},
    {H "$a%W0.64", "1:15 E-MACRO-FMT"},
    {H "$SVC%X2", "1:16 E-MACRO-FMT"},
    {H "{{ 5 = 1 }}", "1:15 E-ASSIGN"},
    {H "{{ $a 1 }}", "1:18 E-ASSIGN"},
    {H "{{ $a%X2 = 1 }}", "1:15 E-ASSIGN"},
    {H "{{ $a = }}", "1:20 E-EXPR"},
    {H "{{ $a = 1 + }}", "1:24 E-EXPR"},
    {H "{{ $a = (1 }}", "1:20 E-EXPR"},
    {H "{{ $a = 1 2 }}", "1:22 E-EXPR"},
    {H "{{ $a = A4 }}", "1:20 E-EXPR"},
    {H "{{ $a = X9 }}", "1:20 E-EXPR"},
    {H "{{ $a = $111 }}", "1:20 E-EXPR"},
    {H "{{ $a = 99999999999999999999 }}", "1:20 E-EXPR"},
    {H "{{ $a = 0x }}", "1:20 E-EXPR"},
    {H "{{ function f() }}", "1:15 E-EXPR"},
    {H "{{ $HD = 1 }}", "1:15 E-RESERVED"},
    {H "{{ $abc = 1 }}", "1:15 E-RESERVED"},
    {H "{{ $BREAK }}", "1:15 E-RESERVED"},
    {H "$111%X4", "1:16 E-SUB-FMT"},
    {H "$DEFAULT%D4", "1:20 E-SUB-FMT"},
    {H "BITFLAGS X2, 1", "1:26 E-BITFLAGS"},
    {H "BITFLAGS 1 \"a\"", "1:21 E-BITFLAGS"},
    {H "BITFLAGS X2 1 \"a\"", "1:24 E-BITFLAGS"},
    {H "BITFLAGS X2, 1 a,", "1:29 E-BITFLAGS"},
    {H "BITFLAGS X2, zz \"a\"", "1:25 E-FLAGVAL"},
    {H "BITFLAGS X2, & 1 zz \"a\"", "1:29 E-FLAGVAL"},
    {H "BITFLAGS X2, o8 \"a\"", "1:25 E-FLAGVAL"},
    {H "starttimer(1)", "1:12 E-TIMER"},
    {H "ENDTIMER(1, )", "1:12 E-TIMER"},
    {H "endtimer 1, 2", "1:12 E-TIMER"},
    {H "BITFLAGS X2, & F0 1 \"a\"", "1:25 W-NEVER"},
    {H "BITFLAGS X2, 1 a & 0x1 o2 b", "1:29 W-NEVER"},
    {H "BITFLAGS $D1%o4, 00400 r, 080 w, 0x80 x", "1:38 W-OCTAL"},
    {H "BITFLAGS o2, 17 r & 8 0 w", "1:32 W-OCTAL"},
    {H "BITFLAGS o2, 1g r", "1:25 E-FLAGVAL"},
    {H "$v%A4", "1:15 W-FMT-DEFAULT"},
    {H "{{ $a = $b%F4 }}", "1:23 W-FMT-DEFAULT"},
    {H "x\n" H "y", "2:1 W-DUP"},
    {H "x\n011 1.0 y\n0100 1.0 z\n", "3:1 W-DUP"},
    {H "x\n010 0.9 y\n", "2:1 W-DUP"},
    {H "pid=D4", "1:12 W-TEXTCODE"},
    {H "(a:X2 X4$D1", "1:12 W-TEXTCODE, 1:18 W-TEXTCODE"},
    // A comma is missing.
    {H "$D1, 0 \"a\", 1 \"b\" 2 \"c\"", "1:30 W-COMMA"},
    {H "$D1, 0 a, 1 b 2 c", "1:26 W-COMMA"},
    {H "$D1%D2, -2 \"a\" -1 \"b\"", "1:27 W-COMMA"},
    {H "X1, a {X1}, b {X2}  c \"x\"", "1:32 W-COMMA"},
    {H "o2, 7 `a` 10 `b`", "1:22 W-COMMA"},
    {H "B0.2, 01 a \\\n 0x2 \"b\"", "2:2 W-COMMA"},
    {H "$D1, 0 {{ $a = 1 }} 1 {{ $a = 2 }}", "1:32 W-COMMA"},
    {H "$HOOKENV, 32 \"a\" 64 \"b\"", "1:29 W-COMMA"},
    {H "X1, 0 {$D1, 1 \"a\" 2 \"b\"} 3 \"c\"", "1:30 W-COMMA, 1:37 W-COMMA"},
    {H "X1, 0 \"a\" 1 \"b\", 2 \"c\"", "1:22 W-COMMA, 1:27 E-COMMA"},
    {H "X1, 0 \"a\", \\* \"b\" 2 \"c\"", "1:30 W-COMMA"},
    {H "X1, 0 \"a\" 1 {X1}", "1:22 W-COMMA, 1:24 E-BRACE"},
    // A case can never be reached. Each switch reports this once.
    {H "X1, \\* \"a\", 1 \"b\", 2 \"c\"", "1:24 W-WILD"},
    {H "X1, 0 a, \\* b, \\* c", "1:27 W-WILD"},
    {H "A2, \\* a, b c", "1:22 W-WILD"},
    // A level is printed instead of set.
    {"010 1.0 \"x\" L=APPL y", "1:13 W-LEVEL"},
    {"010 1.0 L=SVC x \\\n  L=INT", "2:3 W-LEVEL"},
    {"010 1.0 l=appl \"x\"", "1:9 W-LEVEL"},
    {"010 1.0 L = Kern \"x\"", "1:9 W-LEVEL"},
    {"010 1.0 L =SVC x", "1:9 W-LEVEL"},
    {H "X1, 0 L=APPL", "1:18 W-LEVEL"},
    // A comment is printed.
    {H "\\\n  # the pump\n", "2:3 W-COMMENT"},
    {H "a \\\n\t## its valve \\\n X2 \\\n #end", "2:2 W-COMMENT, 4:2 W-COMMENT"},
};

// These templates are legal and sensible, so the compiler reports nothing.
static const char *const sensible[] = {
    H "$D1, 0 \"read\", 1 \"write\" 4 bytes",
    H "$D1, 0 \"a\", 1 \"b\" 2",
    H "$D1, 0 \"a\", 1 \"b\" 2 $D2",
    H "$D1, 0 \"a\", 1 \"b\" 2 X1",
    H "$D1, 0 \"a\", 1 \"b\" 5\"V\"",
    H "$D1, 0 \"a\", 1 \"b\" \"2\" \"c\"",
    H "$D1, 0 \"a\", 1 \"b\" 2 {{ $a = 1 }}",
    H "$D1, 0 \"is not\", 1 \"is\" a \"pump\"",
    H "$D1%D2, 0 \"a\", 1 \"b\" 1f \"c\"",
    H "A1, a \"b\" c \"d\"",
    H "A2, on \"b\" 12 \"d\"",
    H "L=$D1 L=4 \"L=APPL\" `L=APPL` L=APPLE L=$SVC l=long",
    "010 1.0 L=APPL L X2",
    "010 1.0 L=APPL \"L=APPL\"",
    H "A4, L=APPL a",
    H "count \\\n  #$D1 \\\n # $D2 \\\n #items=$D3 \\\n # X1 \\\n #5 \\\n \"# the end\"",
    H "X2 # a comment on the same line",
    "  # indented\n\t#\n" H "x\n   # \"unclosed\n",
    "\xef\xbb\xbf" H "x",
    H "d\xc3\xa9j\xc3\xa0 \xe7\xb7\x9a \xe2\x9d\xa4\xef\xb8\x8f",
    "\xef\xbb\xbf# a comment\n" H "x",
    "\xef\xbb\xbf",
};

static void says_nothing_of_what_is_sensible(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof sensible / sizeof *sensible; i++) {
        open_templates();
        add(sensible[i]);
        if (extract_templates_link(templates, &error) || *told()) {
            print_error("%s\n  got %s\n", sensible[i], told());
            wrong++;
        }
        extract_templates_close(templates);
    }
    assert_int_equal(wrong, 0);
}

// Only a whole set of templates reveals these faults: macros that nothing sets, and calls in a
// cycle.
static const struct {
    const char *text, *told;
} sets[] = {
    {H "{{ $count = X1 }} $cuont%D4 $cuont", "1:30 W-UNSET"},
    {H "a \\\n# x\n \\\n  LOOP $n {X1} `n=$n`", "4:8 W-UNSET"},
    {H "$a, 1 x BITFLAGS $b, 1 y {{ $c = $d + 1 }}", "1:12 W-UNSET, 1:29 W-UNSET, 1:45 W-UNSET"},
    {H "$n%S1", "1:12 W-UNSET"},
    // A macro is set later, in a branch, or by another template of the same event.
    {H "LOOP 2 { $a {{ $a = 1 }} } X1, 1 {{{ $b = 1 }}} $b", ""},
    {H "$011\n011 1.0 x $called\n012 1.0 x {{ $caller = 1 }} $011", ""},
    {H "$011 $x\n011 1.0 x {{ $y = 1 }}", ""},
    {H "$011 $x\n011 1.0 x $012\n012 1.0 x {{ $y = 1 }}", ""},
    {H "$011 $012\n011 1.0 x $x\n012 1.0 x {{ $y = 1 }}", ""},
    {H "$011\n011 1.0 x $first $second\n012 1.0 x {{ $a = 1 }} $011", "2:18 W-UNSET"},
    {H "{{ $x = 1 }}\n011 1.0 x $x", "2:11 W-UNSET"},
    // A caller passes the value by its position.
    {"010 1.0 \"@value\" {{ $value }} $value%D4", ""},
    {"010 1.0 \"@value\" $value%D4 {{ $value }}", ""},
    // Sets of files with errors are not checked.
    {H "$a\n011 1.0 x \"", "2:11 E-STRING"},
    {H "$a $777", "1:15 E-NOSUB"},
    {H "$010", "1:12 W-SELF"},
    {H "$DEFAULT\n008 1.0 x $010", "1:12 W-SELF"},
    {H "$011 $012\n011 1.0 x $012\n012 1.0 x LOOP 2 {$010}", "3:19 W-SELF"},
    {H "$D1, 1 {$010}", "1:20 W-SELF"},
    {H "$HD%W3.3, 1 {$010}", "1:25 W-SELF"},
    {H "HB, 1 {X1}, \\* {$010}", "1:28 W-SELF"},
    {H "LOOP $HL {$010}", "1:22 W-SELF"},
    {H "$010 $BREAK", "1:12 W-SELF"},
    {H "$011\n011 1.0 x X1 $011", "2:14 W-SELF"},
    {"0100 1.0 x $010", "1:12 W-SELF"},
    // The data may end these cycles.
    {H "X1, 1 {$010}", ""},
    {H "LOOP U1 {$010}", ""},
    {H "{{ $n = U1 }} $n, 1 {$010}", ""},
    {H "{{ $n = U1 }} LOOP $n {$011}\n011 1.0 x $010", ""},
    {H "$DATAPOINTER%D2, 9 x, \\* {$010}", ""},
    {H "X1, 0 {$BREAK} $010", ""},
    {H "$BREAK $010", ""},
    {H "$011 $010\n011 1.0 x X1, 0 {$SKIP}", ""},
    {H "$011 $012\n011 1.0 x $012\n012 1.0 x", ""},
};

static void warns_of_sets(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        open_templates();
        add(sets[i].text);
        extract_templates_link(templates, &error);
        if (strcmp(told(), sets[i].told) != 0) {
            print_error("%s\n  expected %s\n  got      %s\n", sets[i].text, sets[i].told, told());
            wrong++;
        }
        extract_templates_close(templates);
    }
    assert_int_equal(wrong, 0);
}

// Each link reports its warnings again, unless the called templates now exist.
static void warns_anew_at_each_link(void **state)
{
    (void)state;
    open_templates();
    add("010 1.0 x $v\n011 1.0 x $011\n012 1.0 x D=D4\n");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(extract_templates_link(templates, &error), EXTRACT_OK);
        assert_string_equal(told(), "1:11 W-UNSET, 2:11 W-SELF, 3:11 W-TEXTCODE");
    }
    add("011 1.0 x X1\n013 1.0 x {{ $v = 1 }} $010\n");
    assert_int_equal(extract_templates_link(templates, &error), EXTRACT_OK);
    assert_string_equal(told(), "3:11 W-TEXTCODE");
    extract_templates_close(templates);
}

// Thousands of faults of one link leave nothing that the next link could mistake for its own.
static void forgets_more_than_it_tells(void **state)
{
    static char text[3000 * 24];
    const struct extract_diagnostic *list;
    size_t used = 0;
    (void)state;
    for (unsigned i = 0; i < 3000; i++)
        used += (size_t)sprintf(text + used, "%03X 1.0 x $FFF $unset\n", i);
    open_templates();
    add(text);
    assert_int_equal(extract_templates_link(templates, &error), EXTRACT_BAD);
    assert_int_equal(extract_templates_diagnostics(templates, &list), 1000);
    assert_string_equal(list[0].name, "E-NOSUB");
    add("FFF 1.0 x\n");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(extract_templates_link(templates, &error), EXTRACT_OK);
        assert_int_equal(extract_templates_diagnostics(templates, &list), 1000);
        assert_string_equal(list[0].name, "W-UNSET");
        assert_string_equal(list[0].what, "$unset is never set, and is always 0");
        assert_string_equal(list[999].what,
                            "$unset is never set, and is always 0; more warnings are not reported");
    }
    extract_templates_close(templates);
}

static void tells_name_and_place(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        open_templates();
        add(faults[i].text);
        if (strcmp(told(), faults[i].told) != 0) {
            print_error("%s\n  expected %s\n  got      %s\n", faults[i].text, faults[i].told,
                        told());
            wrong++;
        }
        extract_templates_close(templates);
    }
    assert_int_equal(wrong, 0);
}

// Calls are checked when all files are added. A missing template may come later; otherwise each
// link reports it again.
static void tells_missing_templates(void **state)
{
    (void)state;
    open_templates();
    add("010 1.0 x a \\\n  $7FE $0110\n011 1.0 x $DEFAULT\n012 1.0 \"x\n");
    assert_string_equal(told(), "4:9 E-STRING");
    assert_int_equal(extract_templates_link(templates, &error), EXTRACT_BAD);
    assert_string_equal(told(), "2:3 E-NOSUB, 3:11 E-NOSUB, 4:9 E-STRING");
    assert_string_equal(error.what, "a.fmt:2:3");
    assert_string_equal(error.why, "E-NOSUB: template 7FE, which is called, does not exist");
    extract_templates_close(templates);

    open_templates();
    add("010 1.0 x $7FE\n");
    assert_int_equal(extract_templates_link(templates, &error), EXTRACT_BAD);
    assert_int_equal(extract_templates_link(templates, &error), EXTRACT_BAD);
    assert_string_equal(told(), "1:11 E-NOSUB");
    add("7FE0 1.0 y\n");
    assert_int_equal(extract_templates_link(templates, &error), EXTRACT_OK);
    assert_string_equal(told(), "");
    extract_templates_close(templates);
}

static void limits_macros_and_nesting(void **state)
{
    static char text[8192];
    size_t used;
    (void)state;
    for (unsigned count = 255; count <= 256; count++) {
        used = (size_t)sprintf(text, "010 1.0 x");
        for (unsigned i = 0; i < count; i++)
            used += (size_t)sprintf(text + used, " $m_%u", i);
        open_templates();
        add(text);
        assert_string_equal(told(), count == 255 ? "" : "1:1686 E-MACRO-LIMIT");
        extract_templates_close(templates);
    }
    for (unsigned depth = 64; depth <= 65; depth++) {
        used = (size_t)sprintf(text, "010 1.0 x");
        for (unsigned i = 0; i < depth; i++)
            used += (size_t)sprintf(text + used, " LOOP 1 {");
        memset(text + used, '}', depth);
        text[used + depth] = 0;
        open_templates();
        add(text);
        assert_string_equal(told(), depth == 64 ? "" : "1:594 E-BRACE");
        extract_templates_close(templates);
    }
    // 1+2*( keeps two values per level: 78 for 39 levels. 1+2*3 adds three more.
    for (unsigned depth = 38; depth <= 39; depth++) {
        used = (size_t)sprintf(text, "010 1.0 x {{ $a = ");
        for (unsigned i = 0; i < depth; i++)
            used += (size_t)sprintf(text + used, "1+2*(");
        used += (size_t)sprintf(text + used, "1+2*3");
        memset(text + used, ')', depth);
        strcpy(text + used + depth, " }}");
        open_templates();
        add(text);
        assert_string_equal(told(), depth == 38 ? "" : "1:218 E-EXPR");
        extract_templates_close(templates);
    }
}

static void tells_a_thousand_errors(void **state)
{
    char *text = malloc(8 * 3000 + 1);
    const struct extract_diagnostic *list;
    (void)state;
    for (unsigned i = 0; i < 3000; i++)
        memcpy(text + i * 8, "010 1.0\n", 9);
    open_templates();
    add(text);
    assert_int_equal(extract_templates_diagnostics(templates, &list), 1000);
    assert_string_equal(list[998].what, "label is missing");
    assert_string_equal(list[999].what, "label is missing; more errors are not reported");
    assert_int_equal(list[999].line, 1000);
    extract_templates_close(templates);
    free(text);
}

static void says_what_and_which_way_out(void **state)
{
    const struct extract_diagnostic *list;
    (void)state;
    open_templates();
    assert_int_equal(
        extract_templates_add(templates, "a\x1b[2J", H "X17 \xc3\xa9", 17, false, &error),
        EXTRACT_OK);
    assert_int_equal(extract_templates_diagnostics(templates, &list), 1);
    assert_string_equal(list[0].file, "a\\x1b[2J");
    assert_string_equal(list[0].what, "code X17 is out of range");
    assert_string_equal(list[0].hint, "use X0 to X16 or XW, or quote the text");
    assert_false(list[0].warning);
    assert_null(extract_templates_at(templates, 0));
    extract_templates_close(templates);
}

// ---- programs ----

static const char *const names[] = {
    [OP_END] = "END",           [OP_TEXT] = "TEXT",        [OP_NEWLINE] = "NEWLINE",
    [OP_TAB] = "TAB",           [OP_BLANKS] = "BLANKS",    [OP_PUT] = "PUT",
    [OP_COUNT_PUT] = "COUNTED", [OP_GO_TO] = "GO",         [OP_FORWARD] = "FORWARD",
    [OP_BACK] = "BACK",         [OP_WORD] = "WORD",        [OP_CONST] = "CONST",
    [OP_READ] = "READ",         [OP_MACRO] = "MACRO",      [OP_SYSTEM] = "SYSTEM",
    [OP_ADD] = "ADD",           [OP_SUBTRACT] = "SUB",     [OP_MULTIPLY] = "MUL",
    [OP_DIVIDE] = "DIV",        [OP_NEGATE] = "NEG",       [OP_CUT] = "CUT",
    [OP_STORE] = "STORE",       [OP_STORE_SYSTEM] = "SET", [OP_SHOW] = "SHOW",
    [OP_SHOW_SYSTEM] = "NAME",  [OP_DROP] = "DROP",        [OP_READ_TEXT] = "READTEXT",
    [OP_SYSTEM_TEXT] = "WORDS", [OP_UNLESS] = "UNLESS",    [OP_UNLESS_TEXT] = "UNLESSTEXT",
    [OP_SHOW_TEXT] = "OUTTEXT", [OP_JUMP] = "JUMP",        [OP_FLAG] = "FLAG",
    [OP_LOOP] = "LOOP",         [OP_AGAIN] = "AGAIN",      [OP_CALL] = "CALL",
    [OP_ERROR] = "ERROR",       [OP_BREAK] = "BREAK",      [OP_SKIP] = "SKIP",
    [OP_STOP] = "STOP"};

static const char *const kinds[] = {"X",  "D",  "U", "o", "B", "A", "S", "F",
                                    "HB", "HT", "T", "E", "P", "W", "-"};

// Prints an operation. Targets are relative to the start of the program, so that they can be
// written by hand.
static int put_op(char *to, size_t size, const struct template_op *op, uint32_t program)
{
    const char *strings = templates->strings;
    const char *flags[] = {"", "<", ">", "<>"}; // abuts, open
    int used = snprintf(to, size, "%s%s", names[op->code], flags[op->flags]);
    to += used, size -= (size_t)used;
    switch (op->code) {
    case OP_TEXT:
        return used + snprintf(to, size, " '%.*s'", (int)op->value, strings + op->arg);
    case OP_UNLESS_TEXT:
        return used + snprintf(to, size, " '%.*s' %u", (int)op->value, strings + op->other,
                               op->arg - program);
    case OP_UNLESS:
        return used + snprintf(to, size, " %" PRIx64 " %u", op->value, op->arg - program);
    case OP_FLAG:
        return used + snprintf(to, size, " %" PRIx64 " %" PRIx64 " %u", op->value, op->other,
                               op->arg - program);
    case OP_JUMP:
    case OP_LOOP:
    case OP_AGAIN:
        return used + snprintf(to, size, " %u", op->arg - program);
    case OP_PUT:
    case OP_COUNT_PUT:
    case OP_READ:
    case OP_READ_TEXT:
    case OP_SHOW:
    case OP_SHOW_TEXT:
    case OP_CUT:
        return used + snprintf(to, size, " %s%u.%" PRIu64, kinds[op->kind], op->width, op->value);
    case OP_MACRO:
    case OP_SYSTEM:
    case OP_STORE:
    case OP_STORE_SYSTEM:
    case OP_SHOW_SYSTEM:
    case OP_SYSTEM_TEXT:
        return used + snprintf(to, size, " %u", op->arg);
    default:
        return used + (op->value ? snprintf(to, size, " %" PRIx64, op->value) : 0);
    }
}

static const char *program_of(const char *id)
{
    static char text[4096];
    size_t used = 0;
    const struct extract_template *t;
    for (size_t i = 0; (t = extract_templates_at(templates, i)) && strcmp(t->id, id) != 0;)
        i++;
    assert_non_null(t);
    for (const struct template_op *op = templates->ops + t->program;; op++) {
        used += (size_t)put_op(text + used, sizeof text - used, op, t->program);
        if (op->code == OP_END)
            return text;
        used += (size_t)snprintf(text + used, sizeof text - used, "; ");
    }
}

static const struct {
    const char *text, *program;
    unsigned dialect;
} programs[] = {
    {"", "END", 0},
    {"one   two", "TEXT 'one'; TEXT 'two'; END", 0},
    {"\"a  b\" \"\" \"\\\"q\\\"\" \"\\n\"", "TEXT 'a  b'; TEXT '\"q\"'; TEXT '\\n'; END", 0},
    {"a=\"b\" \"c=\" d", "TEXT> 'a='; TEXT< 'b'; TEXT> 'c='; TEXT 'd'; END", 0},
    {"\"c=\" d", "TEXT 'c='; TEXT 'd'; END", EXTRACT_DIALECT_BLANK_EQUALS},
    {"a\"\"b \"\"c", "TEXT 'a'; TEXT< 'b'; TEXT 'c'; END", 0},
    {"\\n\\n \\ta", "NEWLINE>; NEWLINE<>; TAB>; TEXT< 'a'; END", 0},
    {"G2.3 O1 R0 R2 W1", "GO 13; FORWARD 8; BACK; BACK 10; WORD 1; END", 0},
    {"A0 A5 A8.16 A0.3", "PUT> A1.0; PUT A5.0; PUT> A8.16; BLANKS> 3; END", 0},
    {"S0 S1 S2 S3 SW", "PUT> S1.0; PUT S1.0; PUT S2.0; PUT S4.0; PUT S0.0; END", 0},
    {"B1 B2.3 B0.19", "PUT B8.0; PUT B19.0; PUT B19.0; END", 0},
    {"X0 X16 XW D1 U8 o4 oW",
     "PUT> X1.0; PUT X16.0; PUT X0.0; PUT D1.0; PUT U8.0; PUT o4.0; "
     "PUT o0.0; END",
     0},
    {"F4 F8 HB HT T4 TW E1 EW P8",
     "PUT F4.0; PUT F8.0; PUT HB0.0; PUT HT0.0; PUT T4.0; "
     "PUT T0.0; PUT E1.0; PUT E0.0; PUT P8.0; END",
     0},
    {"x4 Hb H O4X AW F4.1 o",
     "TEXT 'x4'; TEXT 'Hb'; TEXT 'H'; TEXT 'O4X'; TEXT 'AW'; "
     "TEXT 'F4.1'; TEXT 'o'; END",
     0},
    {"val=$D1%D4.", "TEXT> 'val='; SYSTEM 2; SHOW< D4.0; TEXT< '.'; END", 0},
    {"$rv $b%X0 $rv%W24.27 $b%B2",
     "MACRO 0; SHOW -0.0; MACRO 1; SHOW> X1.0; MACRO 0; "
     "SHOW W24.27; MACRO 1; SHOW B16.0; END",
     0},
    {"$n%S1$n%S0", "MACRO 0; COUNTED S1.0; MACRO 0; COUNTED<> S1.0; END", 0},
    {"$SVC $HOOKENV $HOOKENV%D2 $SKIP", "NAME 32; NAME 30; SYSTEM 30; SHOW D2.0; SKIP; END", 0},
    {"$ERROR $BREAK $STOP", "ERROR; BREAK; STOP; END", 0},
    {"$010 a$0100", "CALL 100; TEXT 'a'; CALL< 100; END", 0},
    {"{{ $a }} {{ $b = 7 + 6 }}", "CONST 7; CONST 6; ADD; STORE 1; END", 0},
    {"{{$a=-(1+$b)*0x10/X2-HB}}",
     "CONST 1; MACRO 1; ADD; NEG; CONST 10; MUL; READ X2.0; DIV; "
     "READ HB0.0; SUB; STORE 0; END",
     0},
    {"{{ $DATAPOINTER = $HD%D1 }}", "SYSTEM 12; CUT D1.0; SET 0; END", 0},
    {"`n $x end`", "TEXT 'n '; MACRO 0; SHOW< -0.0; TEXT< ' end'; END", 0},
    {"a`X2  {,\\`\\n`b", "TEXT 'a'; PUT< X2.0; TEXT< '  {,`'; NEWLINE<>; TEXT< 'b'; END", 0},
    {"X2, 1f one, \\* { U1 } z",
     "READ X2.0; UNLESS 1f 4; TEXT 'one'; JUMP 6; DROP; PUT U1.0; "
     "TEXT 'z'; END",
     0},
    {"$a%D2,-1 \"m\",0x10 {}",
     "MACRO 0; CUT D2.0; UNLESS ffffffffffffffff 5; TEXT 'm'; JUMP 8; "
     "UNLESS 10 7; JUMP 8; DROP; END",
     0},
    {"(\"\"$a, 1 b", "TEXT '('; MACRO 0; UNLESS 1 5; TEXT< 'b'; JUMP 6; DROP; END", 0},
    {"$a, 1 b", "MACRO 0; UNLESS 1 4; TEXT 'b'; JUMP 5; SHOW -0.0; END",
     EXTRACT_DIALECT_SHOW_UNMATCHED},
    {"A4, ab b, \"c d\" \"\"",
     "READTEXT A4.0; UNLESSTEXT 'ab' 4; TEXT 'b'; JUMP 6; "
     "UNLESSTEXT 'c d' 6; JUMP 6; END",
     0},
    {"S1, a b", "READTEXT S1.0; UNLESSTEXT 'a' 4; TEXT 'b'; JUMP 5; OUTTEXT S1.0; END",
     EXTRACT_DIALECT_SHOW_UNMATCHED},
    {"$HOOKENV, 32 a", "WORDS 30; UNLESSTEXT '32' 4; TEXT 'a'; JUMP 4; END", 0},
    {"LOOP 3 {X0}b", "CONST 3; LOOP 4; PUT> X1.0; AGAIN 2; TEXT 'b'; END", 0},
    {"LOOP $n%D1 { LOOP D4 {{ $n = 1 }} }",
     "MACRO 0; CUT D1.0; LOOP 9; READ D4.0; LOOP 8; CONST 1; STORE 0; AGAIN 5; AGAIN 3; END", 0},
    {"BITFLAGS X2, 10 aa \"b\" o17 c & 0xF0 40 d e",
     "READ X2.0; FLAG 10 10 4; TEXT 'aa'; JUMP 5; TEXT 'b'; FLAG f f 7; TEXT 'c'; "
     "FLAG f0 40 9; TEXT 'd'; DROP; TEXT 'e'; END",
     0},
    {"BITFLAGS $D1%o4, 00400 \"r\" \"-\" 0 \"none\"",
     "SYSTEM 2; CUT o4.0; FLAG 100 100 5; TEXT> 'r'; JUMP 6; TEXT> '-'; "
     "FLAG ffffffffffffffff 0 8; TEXT 'none'; DROP; END",
     0},
    {"BITFLAGS X2, '&' F0 40 d '&' F 1 e, '&'F 2 f",
     "READ X2.0; FLAG f0 40 3; TEXT 'd'; FLAG f 1 5; TEXT 'e'; FLAG f 2 7; TEXT 'f'; DROP; END", 0},
    {"BITFLAGS X2, 1 a '& 'F0", "READ X2.0; FLAG 1 1 3; TEXT 'a'; DROP; TEXT ''&'; TEXT ''F0'; END",
     0},
    {"BITFLAGS X2, 10 a, 0x10 b",
     "READ X2.0; FLAG 8 8 3; TEXT 'a'; FLAG 10 10 5; TEXT 'b'; "
     "DROP; END",
     EXTRACT_DIALECT_OCTAL_FLAGS},
    {"a StartTimer(1, $x) b endtimer (2,3)", "TEXT 'a'; TEXT 'b'; END", 0},
};

static void writes_programs(void **state)
{
    char text[256];
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        dialect = programs[i].dialect;
        open_templates();
        snprintf(text, sizeof text, "010 1.0 \"\" %s\n", programs[i].text);
        add(text);
        const char *got = told();
        if (!*got)
            got = program_of("010");
        if (strcmp(got, programs[i].program) != 0) {
            print_error("%s\n  expected %s\n  got      %s\n", programs[i].text, programs[i].program,
                        got);
            wrong++;
        }
        extract_templates_close(templates);
    }
    dialect = 0;
    assert_int_equal(wrong, 0);
}

static void counts_lines_of_operations(void **state)
{
    (void)state;
    open_templates();
    add("# one\n010 1.0 a \\\r\n* three\n X2 \\\r\n\t\"b\\\nc\" \\\n\n011 1.0 \"\" z");
    assert_string_equal(told(), "");
    assert_string_equal(program_of("010"), "TEXT 'a'; PUT X2.0; TEXT 'bc'; END");
    assert_int_equal(templates->ops[0].line, 2);
    assert_int_equal(templates->ops[1].line, 4);
    assert_int_equal(templates->ops[2].line, 5);
    const struct extract_template *t = extract_templates_at(templates, 0);
    assert_int_equal(t->line, 2);
    assert_int_equal(t->line_count, 6);
    assert_int_equal(t->source_length,
                     strlen("010 1.0 a \\\r\n* three\n X2 \\\r\n\t\"b\\\nc\" \\\n\n"));
    assert_memory_equal(t->source, "010 1.0 a", 9);
    t = extract_templates_at(templates, 1);
    assert_int_equal(t->line, 8);
    assert_int_equal(t->line_count, 1);
    assert_int_equal(t->source_length, strlen("011 1.0 \"\" z"));
    extract_templates_close(templates);
}

// ---- sets ----

static const char *text_of(enum extract_hook_space space, uint32_t id)
{
    const struct extract_template *t = extract_templates_find(templates, space, id);
    return t ? t->label : NULL;
}

static void finds_by_hook_and_by_digits(void **state)
{
    (void)state;
    open_templates();
    add("100 1.0 three\n1000 1.0 four\n0200 1.0 low\nabCD 1.0 L=SVC \"@high \\\"q\\\"\"\nFFF 2.30 "
        "\"\"\n");
    assert_string_equal(told(), "");
    assert_string_equal(text_of(EXTRACT_HOOKS_16, 0x1000), "four");
    assert_string_equal(text_of(EXTRACT_HOOKS_PLAIN, 0x100), "three");
    assert_string_equal(text_of(EXTRACT_HOOKS_PLAIN, 0x1000), "four");
    assert_string_equal(text_of(EXTRACT_HOOKS_16, 0x200), "low");
    assert_string_equal(text_of(EXTRACT_HOOKS_PLAIN, 0x20), "low");
    assert_null(text_of(EXTRACT_HOOKS_PLAIN, 0x200));
    assert_null(text_of(EXTRACT_HOOKS_16, 0x100));
    assert_null(text_of(EXTRACT_HOOKS_16, 0x11000));
    assert_string_equal(text_of(EXTRACT_HOOKS_16, 0xABCD), "high \"q\"");
    assert_string_equal(text_of(EXTRACT_HOOKS_16, 0xFFF0), "");
    assert_null(text_of(EXTRACT_HOOKS_PLAIN, 0xFFF0));
    const struct extract_template *t = extract_templates_at(templates, 3);
    assert_string_equal(t->id, "ABCD");
    assert_true(t->muted && t->level_given);
    assert_int_equal(t->level, EXTRACT_SVC);
    t = extract_templates_at(templates, 4);
    assert_int_equal(t->version, 2);
    assert_int_equal(t->release, 30);
    assert_int_equal(t->level, EXTRACT_KERN);
    assert_false(t->level_given);
    assert_string_equal(extract_templates_at(templates, 0)->id, "0200");
    assert_string_equal(extract_templates_at(templates, 1)->label, "three");
    assert_null(extract_templates_at(templates, 5));
    // This spelling of the hook id is the later one.
    add("100 1.1 again\n");
    assert_string_equal(text_of(EXTRACT_HOOKS_16, 0x1000), "again");
    assert_string_equal(text_of(EXTRACT_HOOKS_PLAIN, 0x1000), "four");
    assert_null(extract_templates_at(templates, 5));
    extract_templates_close(templates);
}

// hhh and hhh0 are the same hook id. Within a file, the newer version is valid, or the later one of
// equal versions.
static void compares_versions_of_spellings(void **state)
{
    static const char shipped[] = "126 1.10 new\n1260 1.9 old\n1230 9.0 shipped\n";
    (void)state;
    open_templates();
    add("123 2.0 new\n1230 1.9 old\n1240 1.10 new\n124 1.9 old\n125 1.0 first\n1250 1.0 last\n"
        "127 1.0 a\n1270 3.0 b\n127 2.0 c\n");
    assert_string_equal(text_of(EXTRACT_HOOKS_16, 0x1230), "new");
    assert_string_equal(text_of(EXTRACT_HOOKS_16, 0x1240), "new");
    assert_string_equal(text_of(EXTRACT_HOOKS_16, 0x1250), "last");
    assert_string_equal(text_of(EXTRACT_HOOKS_16, 0x1270), "b");
    assert_string_equal(text_of(EXTRACT_HOOKS_PLAIN, 0x123), "new");
    assert_string_equal(text_of(EXTRACT_HOOKS_PLAIN, 0x1230), "old");
    assert_string_equal(text_of(EXTRACT_HOOKS_PLAIN, 0x127), "c");
    add("1240 0.1 later\n");
    assert_string_equal(text_of(EXTRACT_HOOKS_16, 0x1240), "later");
    assert_int_equal(
        extract_templates_add(templates, "shipped", shipped, strlen(shipped), true, &error),
        EXTRACT_OK);
    assert_string_equal(text_of(EXTRACT_HOOKS_16, 0x1230), "new");
    assert_string_equal(text_of(EXTRACT_HOOKS_16, 0x1260), "new");
    extract_templates_close(templates);
}

static void gives_way_beneath(void **state)
{
    static const char shipped[] = "010 1.0 shipped $020\n0100 1.0 twice\n020 1.0 more a b\n"
                                  "2000 1.0 wide\n";
    (void)state;
    open_templates();
    add("010 1.0 own\n300 1.0 x $2000\n200 1.0 hook\n");
    assert_int_equal(
        extract_templates_add(templates, "shipped", shipped, strlen(shipped), true, &error),
        EXTRACT_OK);
    assert_string_equal(told(), "");
    assert_string_equal(text_of(EXTRACT_HOOKS_PLAIN, 0x10), "own");
    assert_string_equal(text_of(EXTRACT_HOOKS_PLAIN, 0x20), "more");
    assert_string_equal(text_of(EXTRACT_HOOKS_16, 0x2000), "hook");
    assert_string_equal(text_of(EXTRACT_HOOKS_PLAIN, 0x2000), "wide");
    assert_string_equal(extract_templates_find(templates, EXTRACT_HOOKS_PLAIN, 0x20)->file,
                        "shipped");
    // A call matches the digits first: $2000 is not 200.
    assert_int_equal(extract_templates_link(templates, &error), EXTRACT_OK);
    const struct extract_template *t = extract_templates_find(templates, EXTRACT_HOOKS_16, 0x3000);
    const struct template_op *call = &templates->ops[t->program + 1];
    assert_int_equal(call->code, OP_CALL);
    assert_string_equal(templates->list[call->arg].label, "wide");
    extract_templates_close(templates);
}

static void replaces_and_calls_the_later_one(void **state)
{
    (void)state;
    open_templates();
    add("010 1.0 x $011\n011 1.0 \"old\" \"\n");
    assert_string_equal(told(), "2:15 E-STRING");
    assert_null(text_of(EXTRACT_HOOKS_16, 0x110));
    extract_templates_close(templates);
    open_templates();
    add("010 1.0 x $011\n011 1.0 old\n");
    assert_int_equal(extract_templates_link(templates, &error), EXTRACT_OK);
    add("011 1.0 new\n");
    assert_string_equal(told(), "");
    assert_int_equal(extract_templates_link(templates, &error), EXTRACT_OK);
    const struct extract_template *t = extract_templates_find(templates, EXTRACT_HOOKS_16, 0x100);
    const struct template_op *call = &templates->ops[t->program + 1];
    assert_string_equal(templates->list[call->arg].label, "new");
    extract_templates_close(templates);
}

static void mutes_labels_of_called_templates(void **state)
{
    static const char text[] = "010 1.0 x $011 $012\n011 1.0 said a\n012 1.0 @not b\n";
    (void)state;
    for (dialect = 0; dialect <= EXTRACT_DIALECT_MUTE_SUBROUTINES;
         dialect += EXTRACT_DIALECT_MUTE_SUBROUTINES) {
        open_templates();
        add(text);
        assert_int_equal(extract_templates_link(templates, &error), EXTRACT_OK);
        const struct extract_template *t =
            extract_templates_find(templates, EXTRACT_HOOKS_16, 0x100);
        const struct template_op *op = &templates->ops[t->program + 1];
        uint32_t said = extract_templates_find(templates, EXTRACT_HOOKS_16, 0x110)->program;
        uint32_t mute = extract_templates_find(templates, EXTRACT_HOOKS_16, 0x120)->program;
        assert_int_equal(templates->list[op[0].arg].program, said + (dialect != 0));
        assert_int_equal(templates->list[op[1].arg].program, mute);
        extract_templates_close(templates);
    }
    dialect = 0;
}

static void reads_dialects(void **state)
{
    unsigned bits = 99;
    (void)state;
    assert_int_equal(extract_dialect_parse(&bits, "generic-8", NULL), EXTRACT_OK);
    assert_int_equal(bits, 1);
    assert_int_equal(extract_dialect_parse(&bits, "mute-subroutines,octal-flags", NULL),
                     EXTRACT_OK);
    assert_int_equal(bits, 18);
    assert_int_equal(extract_dialect_parse(&bits, "blank-equals,show-unmatched", NULL), EXTRACT_OK);
    assert_int_equal(bits, 12);
    assert_int_equal(extract_dialect_parse(&bits, "generic", &error), EXTRACT_USAGE);
    assert_string_equal(error.why, "unknown word \"generic\"");
    assert_int_equal(extract_dialect_parse(&bits, "generic-8,", &error), EXTRACT_USAGE);
    assert_int_equal(bits, 12);
}

static void reads_files(void **state)
{
    (void)state;
    open_templates();
    assert_int_equal(extract_templates_add_file(templates, "/nonexistent/x", &error), EXTRACT_IO);
    assert_int_equal(extract_templates_add(templates, "x", "", (16 << 20) + 1, false, &error),
                     EXTRACT_LIMIT);
    extract_templates_close(templates);
}

static enum extract_code add_and_link(void)
{
    static const char text[] =
        "010 1.0 \\\n x $abc $b X2, 1 a, \\* {b}\n010 1.0 y \"\nABC 1.0 z a=D1\n";
    static const char warned[] = "010 1.0 x $011 $b\n011 1.0 x $010 L=APPL";
    enum extract_code code = extract_templates_open(&templates, 16, &error);
    if (code)
        return code;
    code = extract_templates_add(templates, "a.fmt", text, strlen(text), false, &error);
    if (!code)
        code = extract_templates_link(templates, &error);
    extract_templates_close(templates);
    if (code != EXTRACT_BAD)
        return code;
    code = extract_templates_open(&templates, 0, &error);
    if (code)
        return code;
    code = extract_templates_add(templates, "a.fmt", warned, strlen(warned), false, &error);
    if (!code)
        code = extract_templates_link(templates, &error);
    extract_templates_close(templates);
    return code;
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    each_allocation_fails(add_and_link);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_name_and_place),
        cmocka_unit_test(says_nothing_of_what_is_sensible),
        cmocka_unit_test(warns_of_sets),
        cmocka_unit_test(warns_anew_at_each_link),
        cmocka_unit_test(forgets_more_than_it_tells),
        cmocka_unit_test(tells_missing_templates),
        cmocka_unit_test(limits_macros_and_nesting),
        cmocka_unit_test(tells_a_thousand_errors),
        cmocka_unit_test(says_what_and_which_way_out),
        cmocka_unit_test(writes_programs),
        cmocka_unit_test(counts_lines_of_operations),
        cmocka_unit_test(finds_by_hook_and_by_digits),
        cmocka_unit_test(compares_versions_of_spellings),
        cmocka_unit_test(gives_way_beneath),
        cmocka_unit_test(replaces_and_calls_the_later_one),
        cmocka_unit_test(mutes_labels_of_called_templates),
        cmocka_unit_test(reads_dialects),
        cmocka_unit_test(reads_files),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
