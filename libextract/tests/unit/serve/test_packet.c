// SPDX-License-Identifier: MIT
// Tests of serve/serve_packet.c. Checksums are computed by hand: the sum of the bytes, modulo 256.
#include "serve/serve_packet.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

// Returns the last news of some bytes.
static enum serve_news feed(struct serve_input *input, const char *bytes, size_t length)
{
    enum serve_news news = SERVE_NOTHING;

    for (size_t i = 0; i < length; i++)
        news = serve_take_byte(input, (uint8_t)bytes[i]);
    return news;
}

static void expect(const char *bytes, enum serve_news news, const char *data)
{
    struct serve_input *input = calloc(1, sizeof *input);

    assert_non_null(input);
    assert_int_equal(feed(input, bytes, strlen(bytes)), news);
    if (data)
        assert_string_equal(input->data, data);
    free(input);
}

static void packets(void **state)
{
    (void)state;
    expect("$g#67", SERVE_GOOD, "g"); // 'g' is 0x67
    expect("+$?#3f", SERVE_GOOD, "?");
    expect("$#00", SERVE_GOOD, "");
    expect("noise$g#67", SERVE_GOOD, "g");
    expect("$lost$g#67", SERVE_GOOD, "g");
    expect("$g#68", SERVE_DAMAGED, NULL);
    expect("$g#x", SERVE_DAMAGED, NULL);
    expect("$g#6x", SERVE_DAMAGED, NULL);
    expect("$}\x03#80", SERVE_GOOD, "#"); // 0x7d + 0x03; 0x03 ^ 0x20 is '#'
    expect("-", SERVE_REPEAT, NULL);
    expect("\x03", SERVE_INTERRUPT, NULL);
    expect("$g#6", SERVE_NOTHING, NULL);
}

static void too_long(void **state)
{
    struct serve_input *input = calloc(1, sizeof *input);
    (void)state;

    assert_non_null(input);
    feed(input, "$", 1);
    for (size_t i = 0; i <= SERVE_PACKET; i++)
        feed(input, "\x40", 1); // the sum is (SERVE_PACKET + 1) * 64, or 64 modulo 256
    assert_int_equal(feed(input, "#40", 3), SERVE_LONG);
    assert_int_equal(feed(input, "$g#67", 5), SERVE_GOOD);
    free(input);
}

static void output(void **state)
{
    struct extract_text text;
    (void)state;

    extract_text_init(&text, NULL, NULL);
    serve_put_packet(&text, "OK", 2);
    serve_put_packet(&text, "", 0);
    serve_put_packet(&text, "#", 1);
    const char expected[] = "$OK#9a$#00$}\x03#80"; // 'O' + 'K' is 0x4f + 0x4b
    assert_int_equal(text.used, strlen(expected));
    assert_memory_equal(text.data, expected, text.used);
    extract_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(packets), cmocka_unit_test(too_long),
                                       cmocka_unit_test(output)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
