// SPDX-License-Identifier: MIT
// unit: error values.
//
// Truth: texts that are written by hand.
#include <extract/error.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void error_is_filled_and_returned(void **state)
{
    struct extract_error error;
    (void)state;
    memset(&error, 0x55, sizeof error);
    assert_int_equal(
        extract_error_set(&error, EXTRACT_BAD, "a.trx", "try again", "word %d of %s", 3, "four"),
        EXTRACT_BAD);
    assert_int_equal(error.code, EXTRACT_BAD);
    assert_int_equal(error.where, 0);
    assert_string_equal(error.what, "a.trx");
    assert_string_equal(error.why, "word 3 of four");
    assert_string_equal(error.hint, "try again");
}

static void error_may_be_left_out(void **state)
{
    struct extract_error error;
    (void)state;
    assert_int_equal(extract_error_set(NULL, EXTRACT_IO, "a", "b", "c"), EXTRACT_IO);
    extract_error_set(&error, EXTRACT_IO, NULL, NULL, "c");
    assert_string_equal(error.what, "");
    assert_string_equal(error.hint, "");
}

static void control_characters_become_visible(void **state)
{
    struct extract_error error;
    (void)state;
    extract_error_set(&error, EXTRACT_BAD, "a\x1b[31m\n", "h\t", "%s", "\x01\x7f");
    assert_string_equal(error.what, "a\\x1b[31m\\x0a");
    assert_string_equal(error.why, "\\x01\\x7f");
    assert_string_equal(error.hint, "h\\x09");
    extract_error_set(&error, EXTRACT_BAD,
                      "stra\xc3\x9f"
                      "e",
                      NULL, "x");
    assert_string_equal(error.what, "stra\xc3\x9f"
                                    "e"); // UTF-8 stays readable
}

// A text of one character, which is escaped as `piece` characters, exceeds every field. It must be
// cut to the complete pieces that fit into the field.
static void assert_cut(char c, size_t piece)
{
    struct extract_error error;
    char text[1000];
    memset(text, c, sizeof text - 1);
    text[sizeof text - 1] = 0;
    extract_error_set(&error, EXTRACT_BAD, text, text, "%s", text);
    assert_int_equal(strlen(error.what), (sizeof error.what - 1) / piece * piece);
    assert_int_equal(strlen(error.hint), (sizeof error.hint - 1) / piece * piece);
    assert_int_equal(strlen(error.why), (sizeof error.why - 1) / piece * piece);
}

static void long_texts_are_cut(void **state)
{
    (void)state;
    assert_cut('x', 1);
    assert_cut('\x02', 4); // "\x02" is cut as a whole
}

static void error_is_formatted(void **state)
{
    struct extract_error error;
    char text[700], small[8];
    (void)state;
    extract_error_set(&error, EXTRACT_BAD, "file", "do this", "broken");
    assert_ptr_equal(extract_error_format(&error, text, sizeof text), text);
    assert_string_equal(text, "file: broken; do this");
    assert_string_equal(extract_error_format(&error, small, sizeof small), "file: b");
    extract_error_set(&error, EXTRACT_BAD, "file", NULL, "broken");
    assert_string_equal(extract_error_format(&error, text, sizeof text), "file: broken");
    extract_error_set(&error, EXTRACT_BAD, NULL, "do this", "broken");
    assert_string_equal(extract_error_format(&error, text, sizeof text), "broken; do this");
}

static void codes_have_names(void **state)
{
    (void)state;
    for (int code = EXTRACT_OK; code <= EXTRACT_LIMIT; code++) {
        const char *name = extract_code_name((enum extract_code)code);
        assert_non_null(name);
        assert_string_not_equal(name, "unknown");
        for (int other = EXTRACT_OK; other < code; other++)
            assert_string_not_equal(name, extract_code_name((enum extract_code)other));
    }
    assert_string_equal(extract_code_name(EXTRACT_UNREADABLE), "unreadable");
    assert_string_equal(extract_code_name((enum extract_code)(EXTRACT_LIMIT + 1)), "unknown");
    assert_string_equal(extract_code_name((enum extract_code) - 1), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_is_filled_and_returned),
        cmocka_unit_test(error_may_be_left_out),
        cmocka_unit_test(control_characters_become_visible),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(error_is_formatted),
        cmocka_unit_test(codes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
