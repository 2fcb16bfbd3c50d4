// SPDX-License-Identifier: MIT
// Tests of feed/web.c. The requests were recorded: those of curl 7.88 and of Chromium 156. The
// frames are those of docs/formats/rkh.md.
#include "feed/web.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define BYTES(text) text, sizeof text - 1

static void first_bytes(void **state)
{
    static const struct {
        const char *bytes;
        size_t length;
        enum web_verdict verdict;
    } rows[] = {
        {BYTES("POST / HTTP/1.1\r\nHost: 127.0.0.1:6602\r\n\r\n\x7e\xac"), WEB_REQUEST},
        {BYTES("GET /a?b=c,d HTTP/1.1\r\n"), WEB_REQUEST},
        {BYTES("PRI * HTTP/2.0\r\n\r\n"), WEB_REQUEST},
        {BYTES("~i~-~ / HTTP/1.1\n"), WEB_REQUEST}, // a method may hold flags of frames
        {BYTES("Host: x"), WEB_REQUEST},
        {BYTES("host: x\r\n"), WEB_REQUEST},
        {BYTES("\x16\x03\x01\x02\x00\x01"), WEB_REQUEST}, // TLS 1.0 to 1.3
        {BYTES("\x16\x03\x01\x02\x00"), WEB_UNKNOWN},
        {BYTES("\x00\x03\x00\x08\x21\x12\xa4\x42"), WEB_REQUEST}, // STUN: Allocate of TURN
        {BYTES("\x00\x01\x00\x5c\x21\x12\xa4\x42"
               "ab"),
         WEB_REQUEST},
        {BYTES("\x00\x70\x00\x01\x00\x5c\x21\x12\xa4\x42"), WEB_REQUEST}, // of ICE over TCP
        {BYTES("\x02\x01\x00\x01\x00\x5c\x21\x12\xa4\x42"), WEB_REQUEST},
        {BYTES("\x00\x70\x00\x01\x00\x5c\x21\x12\xa4"), WEB_UNKNOWN},
        {BYTES("\x00"), WEB_UNKNOWN},
        {BYTES("\x00\x03\x00\x08\x21\x12\xa4\x43"), WEB_STREAM},
        {BYTES("\x00\x02\x01"), WEB_STREAM},
        {BYTES("\x02\x01\x7e"), WEB_STREAM},
        {BYTES("POST / HTTP/1.1"), WEB_UNKNOWN},
        {BYTES("Hos"), WEB_UNKNOWN},
        {BYTES(""), WEB_UNKNOWN},
        {BYTES("\x7e\xac\x00\x34\xff\xff\x03\x00\x11\x42"), WEB_STREAM},
        {BYTES("\x69\x0a\x0a"), WEB_STREAM},
        {BYTES("\x16\x03\x01\x02\x00\x02"), WEB_STREAM},
        {BYTES("\x16\x7e"), WEB_STREAM},
        {BYTES("boot 1.0 ok\r\n\x7e\xac"), WEB_STREAM}, // of a gateway or a boot loader
        {BYTES("ready HTTP/1.1\r\n"), WEB_STREAM},      // no target
        {BYTES("\r\nPOST / HTTP/1.1\r\n"), WEB_STREAM}, // no browser begins so
        {BYTES("a (b) HTTP/1.1\r\n"), WEB_REQUEST},
        {BYTES("a(b) c HTTP/1.1\r\n"), WEB_STREAM},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (web_judge((const uint8_t *)rows[i].bytes, rows[i].length) != rows[i].verdict)
            fail_msg("row %zu: %s", i, rows[i].bytes);
}

// A line that does not end is not waited for without a bound.
static void long_line(void **state)
{
    static uint8_t line[WEB_LINE];
    (void)state;

    memset(line, '~', sizeof line);
    assert_int_equal(web_judge(line, sizeof line - 1), WEB_UNKNOWN);
    assert_int_equal(web_judge(line, sizeof line), WEB_REQUEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_bytes), cmocka_unit_test(long_line)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
