// SPDX-License-Identifier: MIT
// unit: growable output: bytes, numbers, escapes for terminals and for JSON, flushing and failing.
#include "base/printable.h"
#include "tests/unit/scratch.h"
#include <extract/text.h>

static void assert_text(const struct extract_text *text, const char *expected)
{
    assert_int_equal(text->code, EXTRACT_OK);
    assert_int_equal(text->used, strlen(expected));
    assert_memory_equal(text->data, expected, text->used);
}

static void grows_and_keeps_its_bytes(void **state)
{
    struct extract_text text;
    char expected[200001];
    (void)state;
    extract_text_init(&text, NULL, NULL);
    for (int i = 0; i < 20000; i++)
        extract_text_puts(&text, "0123456789");
    for (int i = 0; i < 200000; i++)
        expected[i] = (char)('0' + i % 10);
    expected[200000] = 0;
    assert_text(&text, expected);
    extract_text_free(&text);
    assert_null(text.data);
}

static void writes_numbers(void **state)
{
    struct extract_text text;
    (void)state;
    extract_text_init(&text, NULL, NULL);
    extract_text_dec(&text, 0);
    extract_text_putc(&text, ' ');
    extract_text_dec(&text, UINT64_MAX);
    extract_text_putc(&text, ' ');
    extract_text_hex(&text, 0, 1);
    extract_text_putc(&text, ' ');
    extract_text_hex(&text, 0xBEEF, 8);
    extract_text_putc(&text, ' ');
    extract_text_hex(&text, UINT64_MAX, 40);
    extract_text_pad(&text, '.', 3);
    extract_text_printf(&text, "%s|%d", "x", -7);
    assert_text(&text, "0 18446744073709551615 0x0 0x0000beef 0xffffffffffffffff...x|-7");
    extract_text_free(&text);
}

// Each input, its escaped forms for a terminal and for JSON (RFC 8259, section 7), and its columns.
static void escapes(void **state)
{
    static const struct {
        const char *in, *terminal, *json;
        size_t columns;
    } cases[] = {
        {"plain", "plain", "\"plain\"", 5},
        {"", "", "\"\"", 0},
        {"a\x1b[31mb", "a\\x1b[31mb", "\"a\\u001b[31mb\"", 10},
        {"\x7f\n\t", "\\x7f\\x0a\\x09", "\"\\u007f\\u000a\\u0009\"", 12},
        {"q\"\\", "q\"\\", "\"q\\\"\\\\\"", 3},
        {"\xc3\xa9", "\xc3\xa9", "\"\xc3\xa9\"", 1},                         // U+00E9
        {"\xf0\x9f\x94\xa7", "\xf0\x9f\x94\xa7", "\"\xf0\x9f\x94\xa7\"", 2}, // U+1F527
        // A letter with an accent of its own (U+0301), Korean (U+AC00), and a fullwidth A (U+FF21).
        {"e\xcc\x81", "e\xcc\x81", "\"e\xcc\x81\"", 1},
        {"\xea\xb0\x80", "\xea\xb0\x80", "\"\xea\xb0\x80\"", 2},
        {"\xef\xbc\xa1", "\xef\xbc\xa1", "\"\xef\xbc\xa1\"", 2},
        {"\xc2\x9b", "\\xc2\\x9b", "\"\\u009b\"", 8},                              // C1: CSI
        {"a\xe2\x80\xae", "a\\xe2\\x80\\xae", "\"a\\u202e\"", 13},                 // U+202E
        {"\xf3\xa0\x80\xa1x", "\\xf3\\xa0\\x80\\xa1x", "\"\\udb40\\udc21x\"", 17}, // U+E0021
        // An emoji and an ideograph with the variation selectors U+FE0F and U+E0100.
        {"\xe2\x9d\xa4\xef\xb8\x8f", "\xe2\x9d\xa4\xef\xb8\x8f", "\"\xe2\x9d\xa4\xef\xb8\x8f\"", 1},
        {"\xe8\x91\x9b\xf3\xa0\x84\x80", "\xe8\x91\x9b\xf3\xa0\x84\x80",
         "\"\xe8\x91\x9b\xf3\xa0\x84\x80\"", 2},
        {"a\xef\xb8\x8f", "a\\xef\\xb8\\x8f", "\"a\\ufe0f\"", 13},
        {"\xe2\x9d\xa4\xef\xb8\x8f\xef\xb8\x8e", "\xe2\x9d\xa4\xef\xb8\x8f\\xef\\xb8\\x8e",
         "\"\xe2\x9d\xa4\xef\xb8\x8f\\ufe0e\"", 13},
        {"\xc0\xaf", "\\xc0\\xaf", "\"\\u00c0\\u00af\"", 8},                  // overlong
        {"\xed\xa0\x80", "\\xed\\xa0\\x80", "\"\\u00ed\\u00a0\\u0080\"", 12}, // surrogate
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "\"\\u00f4\\u0090\\u0080\\u0080\"", 16},
        {"\xe2\x82", "\\xe2\\x82", "\"\\u00e2\\u0082\"", 8}, // cut off
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct extract_text text;
        extract_text_init(&text, NULL, NULL);
        extract_text_escaped(&text, cases[i].in);
        assert_int_equal(text.used, strlen(cases[i].terminal));
        assert_memory_equal(text.used ? text.data : "", cases[i].terminal, text.used);
        text.used = 0;
        extract_text_json(&text, cases[i].in);
        assert_text(&text, cases[i].json);
        assert_int_equal(extract_text_columns(cases[i].in), cases[i].columns);
        extract_text_free(&text);
    }
}

// Every character of Unicode, alone.
//
// Truth: the ranges of Unicode 14.0, PropList.txt and DerivedCoreProperties.txt, as Perl's
// \p{Bidi_Control} and \p{Default_Ignorable_Code_Point} list them; general categories Cc, Zl and
// Zp; U+FFF9 to U+FFFB; U+FFFE and U+FFFF, which XML 1.0 excludes (section 2.2, Char).
static void hides_what_is_invisible(void **state)
{
    static const uint32_t ranges[][2] = {
        {0x00, 0x1f},       {0x7f, 0x9f},     {0x2028, 0x2029},   {0xfff9, 0xfffb},
        {0x61c, 0x61c},     {0x200e, 0x200f}, {0x202a, 0x202e},   {0x2066, 0x2069},
        {0xad, 0xad},       {0x34f, 0x34f},   {0x61c, 0x61c},     {0x115f, 0x1160},
        {0x17b4, 0x17b5},   {0x180b, 0x180f}, {0x200b, 0x200f},   {0x202a, 0x202e},
        {0x2060, 0x206f},   {0x3164, 0x3164}, {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
        {0xffa0, 0xffa0},   {0xfff0, 0xfff8}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
        {0xe0000, 0xe0fff}, {0xfffe, 0xffff},
    };
    static bool is_hidden[0x110000];
    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        for (uint32_t c = ranges[i][0]; c <= ranges[i][1]; c++)
            is_hidden[c] = true;
    for (uint32_t c = 1; c < 0x110000; c++) {
        char utf8[5] = {0};
        uint32_t decoded;
        size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        static const uint8_t leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
        if (c >= 0xd800 && c <= 0xdfff)
            continue;
        for (size_t i = length; i-- > 0;)
            utf8[i] = (char)(i ? 0x80 | (c >> 6 * (length - 1 - i) & 0x3f)
                               : leads[length] | c >> 6 * (length - 1));
        assert_int_equal(extract_utf8_decode(utf8, &decoded), length);
        assert_int_equal(decoded, c);
        if (extract_printable(utf8) != (is_hidden[c] ? 0 : length))
            fail_msg("U+%04X", (unsigned)c);
    }
}

struct drain {
    size_t calls, bytes, limit;
};

static bool drain(void *context, const char *data, size_t length)
{
    struct drain *d = context;
    (void)data;
    d->calls++;
    d->bytes += length;
    return d->bytes <= d->limit;
}

static void flushes_in_bounded_memory(void **state)
{
    struct drain d = {0, 0, SIZE_MAX};
    struct extract_text text;
    (void)state;
    extract_text_init(&text, drain, &d);
    for (int i = 0; i < 100000; i++)
        extract_text_puts(&text, "0123456789");
    assert_true(text.size <= 128 * 1024);
    assert_true(d.calls > 1);
    assert_int_equal(extract_text_flush(&text), EXTRACT_OK);
    assert_int_equal(d.bytes, 1000000);
    extract_text_free(&text);
}

static void a_failed_flush_is_sticky(void **state)
{
    struct drain d = {0, 0, 0};
    struct extract_text text;
    (void)state;
    extract_text_init(&text, drain, &d);
    extract_text_puts(&text, "x");
    assert_int_equal(extract_text_flush(&text), EXTRACT_IO);
    extract_text_puts(&text, "y");
    assert_null(extract_text_reserve(&text, 1));
    assert_int_equal(extract_text_flush(&text), EXTRACT_IO);
    assert_int_equal(d.calls, 1);
    extract_text_free(&text);
}

static enum extract_code write_much(void)
{
    struct extract_text text;
    extract_text_init(&text, NULL, NULL);
    for (int i = 0; i < 3; i++) {
        extract_text_pad(&text, 'x', 100000);
        extract_text_printf(&text, "%d", i);
        extract_text_json(&text, "\x1b");
    }
    enum extract_code code = text.code;
    extract_text_free(&text);
    return code;
}

static void memory_runs_out(void **state)
{
    (void)state;
    each_allocation_fails(write_much);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_keeps_its_bytes),
        cmocka_unit_test(writes_numbers),
        cmocka_unit_test(escapes),
        cmocka_unit_test(hides_what_is_invisible),
        cmocka_unit_test(flushes_in_bounded_memory),
        cmocka_unit_test(a_failed_flush_is_sticky),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
