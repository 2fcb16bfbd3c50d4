// SPDX-License-Identifier: MIT
// Tests of serve/caller.c. The requests were recorded: those of curl 7.88, and of Chromium 156 for
// a page with fetch (mode no-cors, and a method of packets), a WebSocket and https.
#include "serve/caller.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

// Returns the verdict on bytes that arrive at once, and checks that it is the same if they come one
// by one, as long as a stranger is recognized at all.
static enum caller_kind judge(const char *bytes, size_t length)
{
    struct caller *caller = calloc(2, sizeof *caller);

    assert_non_null(caller);
    enum caller_kind kind = caller_take(caller, bytes, length);
    for (size_t i = 0; i < length; i++)
        caller_take(caller + 1, bytes + i, 1);
    assert_int_equal(caller[1].kind, kind);
    free(caller);
    return kind;
}

static void clients(void **state)
{
    static const struct {
        const char *bytes;
        enum caller_kind kind;
    } rows[] = {
        {"+$qSupported:multiprocess+;swbreak+;hwbreak+#f4", CALLER_UNKNOWN}, // wrong sum
        {"+$qSupported:swbreak+#8b", CALLER_GDB},
        {"$?#3f", CALLER_GDB},
        {"+$m20000000,4#4f", CALLER_GDB},
        {"$M20000000,4:deadbeef#89", CALLER_GDB}, // no page can send this first
        {"+$QStartNoAckMode#b0", CALLER_READS},
        {"$g#67", CALLER_READS},
        {"$g#67+$?#3f", CALLER_GDB},
        {"++", CALLER_UNKNOWN},
        {"", CALLER_UNKNOWN},
        {"$qSupported", CALLER_UNKNOWN},
        // Requests of browsers; the page chooses the body.
        {"POST / HTTP/1.1\r\nHost: 127.0.0.1:3333\r\n\r\n+$M20000000,4:deadbeef#89",
         CALLER_FOREIGN},
        {"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", CALLER_FOREIGN},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", CALLER_FOREIGN},
        {"\x16\x03\x01\x02", CALLER_FOREIGN},
        {"Host: x\r\n", CALLER_FOREIGN},
        {"\r\n$?#3f", CALLER_FOREIGN},
        {"\x03", CALLER_FOREIGN},
        // A page of the same name may choose the method, which can be packets.
        {"+$k#6b / HTTP/1.1\r\n", CALLER_FOREIGN},
        {"$G00#a7 / HTTP/1.1\r\n", CALLER_FOREIGN},
        {"$k#6b", CALLER_FOREIGN},
        {"$c#63", CALLER_FOREIGN},
        {"$vKill#02", CALLER_FOREIGN},
        {"$#00", CALLER_FOREIGN},
        {"$g#67 / HTTP/1.1\r\n", CALLER_FOREIGN},
        {"$g#67$k#6b", CALLER_FOREIGN},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (judge(rows[i].bytes, strlen(rows[i].bytes)) != rows[i].kind)
            fail_msg("row %zu: %s", i, rows[i].bytes);
}

// A client that was recognized is not judged again: noise on its line is the protocol's matter.
static void once(void **state)
{
    struct caller *caller = calloc(1, sizeof *caller);
    (void)state;

    assert_non_null(caller);
    assert_int_equal(caller_take(caller, "$?#3f", 5), CALLER_GDB);
    assert_int_equal(caller_take(caller, "noise$k#6b", 10), CALLER_GDB);
    free(caller);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(clients), cmocka_unit_test(once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
