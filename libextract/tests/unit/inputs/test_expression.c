// SPDX-License-Identifier: MIT
// unit: which expressions are true, and the errors for texts that are not expressions. The names in
// these tests have fixed values.
//
// Truth: each result is known by hand.
#include "base/expression.h"
#include "tests/unit/scratch.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { FIVE, MINUS, HUGE, TICKS, NOTHING, COLOR, VOID, SIZE, NAMES };

// TICKS has the value 1.5 s at 1,000 ticks per second. NOTHING and VOID have no value.
static const struct {
    const char *name;
    bool has_numbers, has_texts;
    const char *text;
} names[NAMES] = {
    [FIVE] = {"five", true, false, NULL},       [MINUS] = {"minus.seven", true, false, NULL},
    [HUGE] = {"huge", true, false, NULL},       [TICKS] = {"ticks", true, false, NULL},
    [NOTHING] = {"nothing", true, false, NULL}, [COLOR] = {"color", false, true, "red"},
    [VOID] = {"void", false, true, NULL},       [SIZE] = {"size_3", true, true, "large"},
};

// The names that the expression asked for, and the tests that the binding made.
static struct toy {
    unsigned finds, evaluations, tests;
    struct {
        unsigned name;
        char text[64];
    } test[300];
} toy;

static enum extract_code find(void *context, const char *name, struct expression_name *found,
                              struct extract_error *error)
{
    assert_ptr_equal(context, &toy);
    toy.finds++;
    for (unsigned i = 0; i < NAMES; i++)
        if (strcmp(names[i].name, name) == 0) {
            *found = (struct expression_name){
                .index = i, .has_numbers = names[i].has_numbers, .has_texts = names[i].has_texts};
            return EXTRACT_OK;
        }
    return extract_error_set(error, EXTRACT_USAGE, NULL, "use another", "no name is \"%s\"", name);
}

static enum extract_code match(void *context, unsigned name, const char *text, unsigned *test,
                               struct extract_error *error)
{
    assert_ptr_equal(context, &toy);
    if (strcmp(text, "mauve") == 0)
        return extract_error_set(error, EXTRACT_NOTFOUND, NULL, "use red", "no such color");
    toy.test[toy.tests].name = name;
    snprintf(toy.test[toy.tests].text, sizeof toy.test[0].text, "%s", text);
    *test = toy.tests++;
    return EXTRACT_OK;
}

static bool number(void *context, unsigned name, expression_number *value)
{
    assert_ptr_equal(context, &toy);
    toy.evaluations++;
    switch (name) {
    case FIVE:
        *value = expression_integer(5);
        return true;
    case MINUS:
        *value = -expression_integer(7);
        return true;
    case HUGE:
        *value = expression_integer(UINT64_MAX);
        return true;
    case TICKS:
        *value = expression_integer(1500);
        return true;
    case SIZE:
        *value = expression_integer(3);
        return true;
    default:
        *value = expression_integer(77);
        return false;
    }
}

static enum expression_answer test(void *context, unsigned i)
{
    const char *text = names[toy.test[i].name].text;

    assert_ptr_equal(context, &toy);
    toy.evaluations++;
    if (!text)
        return EXPRESSION_NO_VALUE;
    return strcmp(text, toy.test[i].text) == 0 ? EXPRESSION_MATCHES : EXPRESSION_DIFFERS;
}

static const struct expression_source source = {&toy, number, test};

static enum extract_code compile(struct expression **expression, const char *text,
                                 struct extract_error *error)
{
    static const struct expression_unit units[] = {{"s", 1000, 1, EXPRESSION_ANY},
                                                   {"ms", 1000, 1000, EXPRESSION_ANY},
                                                   {"us", 1000, 1000000, EXPRESSION_ANY},
                                                   {"%", 1, 100, EXPRESSION_ANY},
                                                   {"lost", 0, 1, EXPRESSION_ANY}};
    const struct expression_binding binding = {.context = &toy,
                                               .find = find,
                                               .match = match,
                                               .units = units,
                                               .unit_count = 5,
                                               .unit_hint = "set the rate"};

    toy = (struct toy){0};
    return expression_compile(expression, text, "toy", &binding, error);
}

static bool is_true(const char *text)
{
    struct expression *expression;
    struct extract_error error;

    if (compile(&expression, text, &error)) {
        print_error("%s: %s\n", text, error.why);
        fail();
    }
    bool result = expression_is_true(expression, &source);
    assert_true(result == expression_is_true(expression, &source));
    expression_free(expression);
    return result;
}

// Each text is an expression, and whether it is true.
static const struct {
    const char *text;
    bool is_true;
} truths[] = {
    // Every operator, below, at and above the value.
    {"five == 4", false},
    {"five == 5", true},
    {"five == 6", false},
    {"five != 4", true},
    {"five != 5", false},
    {"five != 6", true},
    {"five < 4", false},
    {"five < 5", false},
    {"five < 6", true},
    {"five <= 4", false},
    {"five <= 5", true},
    {"five <= 6", true},
    {"five > 4", true},
    {"five > 5", false},
    {"five > 6", false},
    {"five >= 4", true},
    {"five >= 5", true},
    {"five >= 6", false},
    // The constant may come first.
    {"4 < five", true},
    {"6 < five", false},
    {"5 <= five", true},
    {"6 > five", true},
    {"\"red\" == color", true},
    {"'blue' != color", true},
    // Numbers: decimal, hexadecimal, negative, with decimals, of 64 bits.
    {"five == 0x5", true},
    {"five == 0X05", true},
    {"five == 005", true},
    {"five > -5", true},
    {"minus.seven == -7", true},
    {"minus.seven < -6.5", true},
    {"minus.seven > -7.5", true},
    {"minus.seven == -0x7", true},
    {"minus.seven == 7", false},
    {"five > 4.999999999999999999", true},
    {"five < 5.000000000000000001", true},
    {"five == 5.000000000000000001", false},
    {"five == 5.0", true},
    {"huge == 18446744073709551615", true},
    {"huge == 0xffffFFFFffffFFFF", true},
    {"huge == -1", false},
    {"huge > 18446744073709551614", true},
    {"huge > five", true},
    {"minus.seven < huge", true},
    {"five < five", false},
    {"five == five", true},
    // Units. 1.5 s are 1,500 ticks; 0.5 us are 0.0005 ticks.
    {"ticks == 1.5s", true},
    {"ticks == 1500ms", true},
    {"ticks == 1500000us", true},
    {"ticks > 1499.9995ms", true},
    {"ticks < 1500.0005ms", true},
    {"ticks == 1500.0005ms", false},
    {"ticks >= 1.500001s", false},
    {"ticks > -1s", true},
    {"ticks < 18446744073709551615s", true},
    {"five == 500%", true},
    {"five < 499%", false},
    // Strings in both quotes, which may contain the other one.
    {"color == \"red\"", true},
    {"color == 'red'", true},
    {"color == \"blue\"", false},
    {"color != \"red\"", false},
    {"color == 'r\"d'", false},
    {"color == \"r'd\"", false},
    {"color == 'a\\'b'", false},
    {"size_3 == 3", true},
    {"size_3 == 'large'", true},
    {"size_3 == '3'", false},
    {"color == 7", false},
    {"color != 7", true},
    // Without a value, each comparison is false, and only ! makes it true.
    {"nothing == 77", false},
    {"nothing != 77", false},
    {"nothing != 5", false},
    {"nothing < 100", false},
    {"nothing >= 0", false},
    {"5 != nothing", false},
    {"nothing == nothing", false},
    {"five != nothing", false},
    {"!(nothing == 77)", true},
    {"void == 'red'", false},
    {"void != 'red'", false},
    {"!(void == 'red')", true},
    // && binds closer than ||, ! closer than both, and ! takes a whole comparison.
    {"five == 5 || five == 4 && five == 3", true},
    {"(five == 5 || five == 4) && five == 3", false},
    {"five == 3 && five == 4 || five == 5", true},
    {"five == 3 && (five == 4 || five == 5)", false},
    {"!five == 4 && five == 5", true},
    {"!five == 5", false},
    {"!!five == 5", true},
    {"!(five == 4 || five == 5)", false},
    {"!(five == 4) || five == 4", true},
    {"!five == 5 || five == 5", true},
    {"!(five == 5 && five == 4)", true},
    {"five == 4 || five == 3 || five == 5", true},
    {"five == 4 || five == 3", false},
    {"five == 5 && five > 4 && five < 6", true},
    {"five == 5 && five > 5 && five < 6", false},
    {"((((five == 5))))", true},
    {"five==5&&!(five<5)||five>6", true},
    {" \t\n five\r==\n5 ", true},
};

static void expressions_are_true_or_false(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
        if (is_true(truths[i].text) != truths[i].is_true)
            fail_msg("%s: must be %s", truths[i].text, truths[i].is_true ? "true" : "false");
}

// Each result of three comparisons with && and ||, against C's own operators.
static void precedence_is_that_of_c(void **state)
{
    static const char *const operators[] = {"&&", "||"};
    unsigned expressions = 0;

    (void)state;
    for (unsigned i = 0; i < 32; i++) {
        bool a = i & 1, b = i & 2, c = i & 4;
        const char *first = operators[i >> 3 & 1], *second = operators[i >> 4 & 1];
        char text[80];
        snprintf(text, sizeof text, "five == %d %s five == %d %s five == %d", a ? 5 : 0, first,
                 b ? 5 : 0, second, c ? 5 : 0);
        bool expected = i >> 3 & 1 ? (i >> 4 & 1 ? a || b || c : a || (b && c))
                                   : (i >> 4 & 1 ? (a && b) || c : a && b && c);
        if (is_true(text) != expected)
            fail_msg("%s: must be %d", text, expected);
        expressions++;
    }
    assert_int_equal(expressions, 32);
}

// Names are looked up once, and what cannot change the result is not evaluated.
static void work_is_done_once(void **state)
{
    static const struct {
        const char *text;
        unsigned evaluations;
    } cases[] = {{"five == 4 && five == 5 && five == 5", 1},
                 {"five == 5 || five == 5 || five == 5", 1},
                 {"five == 5 && five == 4 && five == 5", 2},
                 {"(five == 4 && five == 5) || five == 5", 2},
                 {"five == 5 || (five == 5 && five == 5)", 1}};
    struct expression *expression;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(compile(&expression, cases[i].text, NULL), EXTRACT_OK);
        unsigned finds = toy.finds;
        assert_int_equal(finds, 3);
        expression_is_true(expression, &source);
        assert_int_equal(toy.evaluations, cases[i].evaluations);
        assert_int_equal(toy.finds, finds);
        expression_free(expression);
    }
}

static void assert_refused(const char *text, enum extract_code code, const char *why,
                           const char *hint)
{
    struct expression *expression = (void *)&toy;
    struct extract_error error;

    if (compile(&expression, text, &error) != code)
        fail_msg("%.80s: must be refused", text);
    assert_null(expression);
    assert_string_equal(error.what, "toy");
    if (!strstr(error.why, why) || !strstr(error.hint, hint))
        fail_msg("%.80s: \"%s; %s\" lacks \"%s; %s\"", text, error.why, error.hint, why, hint);
}

static void errors_name_the_column(void **state)
{
    static const struct {
        const char *text, *why, *hint;
    } cases[] = {
        {"", "column 1: name, number or string expected at the end", "info1 == 5"},
        {"   ", "column 4: name, number or string expected at the end", "info1 == 5"},
        {"five", "column 5: comparison expected at the end", "in quotes"},
        {"five ==", "column 8: name, number or string expected at the end", ""},
        {"five = 5", "column 6: unexpected \"=\"", "use =="},
        {"five == 5 & five == 4", "column 11: unexpected \"&\"", "use &&"},
        {"five == 5 | five == 4", "column 11: unexpected \"|\"", "use ||"},
        {"`a b` == 5", "column 1: unexpected \"`\"", "use _ for each blank"},
        {"five == 5 five == 4", "column 11: && or || expected before \"five\"", ""},
        {"five == 5 &&", "column 13: name, number or string expected at the end", ""},
        {"&& five == 5", "column 1: name, number or string expected before \"&&\"", ""},
        {"(five == 5", "column 1: \"(\" without \")\"", "closing"},
        {"five == 5)", "column 10: \")\" without \"(\"", "remove it"},
        {"()", "column 2: name, number or string expected before \")\"", ""},
        {"(five) == 5", "column 6: comparison expected before \")\"", "use == != "},
        {"1 < five < 9", "column 10: comparison of a comparison", "&&"},
        {"1 < 2", "column 1: comparison of two constants", "compare a name"},
        {"'a' == 'a'", "column 1: comparison of two constants", "compare a name"},
        {"!five", "column 6: comparison expected at the end", ""},
        {"five == 'red", "column 9: string without an end", "closing quote"},
        {"color == 'red\\'", "column 10: string without an end", "closing quote"},
        {"color == 'red\\", "column 10: string without an end", "closing quote"},
        {"five == 0x", "column 9: \"0x\" is not a number", "after 0x"},
        {"five == 0xfg", "column 9: \"0xfg\" is not a number", "after 0x"},
        {"five == 5x", "column 9: \"5x\" is not a number", "a time such as 1.5s"},
        {"five == 5 ms", "column 11: && or || expected before \"ms\"", ""},
        {"five == 1.2.3", "column 9: \"1.2.3\" is not a number", ""},
        {"five == 5.", "column 9: \"5.\" is not a number", ""},
        {"five == .5", "column 9: unexpected \".\"", ""},
        {"five == - 5", "column 9: unexpected \"-\"", ""},
        {"five == 18446744073709551616", "column 9: \"18446744073709551616\" has too many digits",
         "64"},
        {"five == 0x10000000000000000", "column 9: \"0x10000000000000000\" has too many digits",
         "64"},
        {"five == 1.0000000000000000001", "has too many digits", "18 decimals"},
        {"five == 5lost", "column 9: \"5lost\": the clock's rate is not known", "set the rate"},
        {"color < 'red'", "column 7: \"color\" has no order", "use == or !="},
        {"color >= 5", "column 7: \"color\" has no order", "use == or !="},
        {"five == 'red'", "column 9: \"five\" has no names", "with a number"},
        {"'red' == five", "column 1: \"five\" has no names", "with a number"},
        {"color == five", "column 1: \"color\" cannot be compared with another name", "string"},
        {"five == color", "column 9: \"color\" cannot be compared with another name", "string"},
        {"five == 5 && six == 6", "column 14: no name is \"six\"", "use another"},
        {"color == '\xc3\xa4\xc3\xb6' && six == 6", "column 18: no name is \"six\"", "use another"},
        {"five == 5 ; five", "column 11: unexpected \";\"", "use names, numbers"},
        {"five == \x01", "column 9: unexpected \"\\x01\"", "use names, numbers"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(cases[i].text, EXTRACT_USAGE, cases[i].why, cases[i].hint);
    assert_refused("color == 'mauve'", EXTRACT_NOTFOUND, "column 10: no such color", "use red");
}

// Writes `count` times `part` and returns the end.
static char *repeat(char *to, const char *part, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to = stpcpy(to, part);
    return to;
}

static void limits_are_exact(void **state)
{
    static char text[8192];
    static const char leaf[] = "five == 5";

    (void)state;
    strcpy(repeat(stpcpy(repeat(text, "(", 64), leaf), ")", 64), "");
    assert_true(is_true(text));
    strcpy(repeat(stpcpy(repeat(text, "(", 65), leaf), ")", 65), "");
    assert_refused(text, EXTRACT_USAGE, "column 65: more than 64 parentheses", "split");
    stpcpy(repeat(text, "!", 64), leaf);
    assert_true(is_true(text));
    stpcpy(repeat(text, "!", 65), leaf);
    assert_refused(text, EXTRACT_USAGE, "column 65: more than 64 parentheses", "split");
    stpcpy(repeat(text, "!(", 33), leaf);
    assert_refused(text, EXTRACT_USAGE, "column 65: more than 64 parentheses", "split");
    repeat(text, "(", sizeof text - 1);
    assert_refused(text, EXTRACT_USAGE, "longer than 4096 bytes", "split");

    strcpy(repeat(text, "five==5&&", 255), leaf);
    assert_true(is_true(text));
    strcpy(repeat(text, "five==5&&", 256), leaf);
    assert_refused(text, EXTRACT_USAGE, "column 2305: more than 256 comparisons", "split");

    strcpy(repeat(text, " ", 4096 - strlen(leaf)), leaf);
    assert_int_equal(strlen(text), 4096);
    assert_true(is_true(text));
    strcat(text, " ");
    assert_refused(text, EXTRACT_USAGE, "column 4097: longer than 4096 bytes", "split");
}

static enum extract_code compile_all(void)
{
    struct expression *expression;
    enum extract_code code =
        compile(&expression, "five == 4 || !(color == 'red') || ticks > 1s && size_3 != 3", NULL);

    if (!code)
        expression_free(expression);
    return code;
}

static void memory_runs_out(void **state)
{
    (void)state;
    each_allocation_fails(compile_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_are_true_or_false),
        cmocka_unit_test(precedence_is_that_of_c),
        cmocka_unit_test(work_is_done_once),
        cmocka_unit_test(errors_name_the_column),
        cmocka_unit_test(limits_are_exact),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests_name("expression", tests, NULL, NULL);
}
