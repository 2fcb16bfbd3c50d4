// SPDX-License-Identifier: MIT
// Tests of the proxy between GDB and a server that breaks the protocol: packets of any length and
// without an end. Each server is a process of its own at the other end of a socket. A proxy that
// waits forever is ended by SIGALRM.
#define _GNU_SOURCE // memmem
#include "base/now.h"
#include "serve/proxy.h"
#include "tests/fuzz/packets.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { TIMEOUT_MS = 300, LONGEST_S = 20, MOST_INCLUDED = 64, INCLUDES = 30000 };

// What a server does when it gets a request.
enum fault { ECHO_LENGTH, STAYS_SILENT, FLOODS, INCLUDES_FILES, GIVES_ZEROS };

struct session {
    struct extract_symbols *symbols;
    struct extract_proxy *proxy;
    enum fault fault;
    const char *trigger; // FLOODS: the request that is answered without an end
    pid_t server;
    volatile sig_atomic_t cancel;
    struct extract_error error;
};

// ---- servers ----

static void reply(int fd, const char *data)
{
    struct extract_text packet;

    extract_text_init(&packet, NULL, NULL);
    extract_text_putc(&packet, '+');
    serve_put_packet(&packet, data, strlen(data));
    if (write(fd, packet.data, packet.used) < 0)
        _exit(0);
    extract_text_free(&packet);
}

static void flood(int fd)
{
    char output[2002] = "O";

    memset(output + 1, '4', sizeof output - 2);
    for (;;)
        reply(fd, output);
}

// Sends a document that includes many files, and counts how many of them are read.
static void send_files(int fd, const char *request)
{
    static unsigned read_files;
    static char document[INCLUDES * 24 + 32];
    char part[0x400 + 2];
    unsigned long offset, length;

    if (sscanf(request, "qXfer:features:read:target.xml:%lx,%lx", &offset, &length) != 2) {
        char count[32];
        read_files += strstr(request, ":a:") != NULL;
        snprintf(count, sizeof count, "l<!-- %u -->", read_files);
        reply(fd, count);
        if (read_files > MOST_INCLUDED)
            _exit(1);
        return;
    }
    for (size_t i = strlen(document) / 24; i < INCLUDES; i++)
        memcpy(document + 24 * i, "<xi:include href=\"a\"/>  ", 24);
    size_t total = strlen(document);
    snprintf(part, sizeof part, "%c%.*s", offset + length < total ? 'm' : 'l', (int)length,
             document + offset);
    reply(fd, part);
}

// OpenOCD, which cannot read the memory from 0x2000 on, but gives zeros. It answers y with the
// number of commands, and y1 makes memory at 0x1000 readable no longer.
static void give_zeros(int fd, const char *request)
{
    static unsigned commands;
    static bool has_ended;
    static char data[2 * UPSTREAM_LINE + 1];
    struct extract_text command, output;
    unsigned address;

    extract_text_init(&command, NULL, NULL);
    extract_text_init(&output, NULL, NULL);
    if (request[0] == 'y') {
        has_ended |= request[1] == '1';
        extract_text_printf(&output, "%u", commands);
    } else if (sscanf(request, "m%x,", &address) == 1) {
        memset(data, '0', sizeof data - 1);
        data[0] = address == 0x1100 && !has_ended ? '7' : '0';
        extract_text_puts(&output, data);
    } else if (strncmp(request, "qRcmd,", 6) == 0) {
        commands++;
        for (const char *at = request + 6; *at; at += 2)
            extract_text_putc(&command, (char)strtoul((char[]){at[0], at[1], 0}, NULL, 16));
        extract_text_putc(&command, 0);
        const char *text = strcmp(command.data, "version") == 0 ? "Open On-Chip Debugger 0.12.0\n"
                           : has_ended || strstr(command.data, " 0x2")
                               ? "Error: no access\nringside: failed\n"
                               : "\n";
        serve_put_hex(&output, (const uint8_t *)text, strlen(text));
    }
    extract_text_putc(&output, 0);
    reply(fd, output.data);
    extract_text_free(&command);
    extract_text_free(&output);
}

static void answer(int fd, const struct session *session, const struct serve_input *request)
{
    char text[32];

    if (session->fault == STAYS_SILENT)
        return;
    if (session->fault == GIVES_ZEROS) {
        give_zeros(fd, request->data);
        return;
    }
    if (session->trigger && strncmp(request->data, session->trigger, strlen(session->trigger)) == 0)
        flood(fd);
    if (strncmp(request->data, "qXfer:features", 14) == 0)
        send_files(fd, request->data);
    else if (strncmp(request->data, "qSupported", 10) == 0)
        reply(fd, session->fault == INCLUDES_FILES ? "PacketSize=1000;qXfer:features:read+"
                                                   : "PacketSize=1000;QStartNoAckMode+");
    else if (strcmp(request->data, "QStartNoAckMode") == 0)
        reply(fd, "OK");
    else if (request->data[0] == '?')
        reply(fd, "T05thread:1;");
    else if (strncmp(request->data, "vAttach", 7) == 0)
        reply(fd, strcmp(request->data, "vAttach;1") == 0 ? "T05thread:1;" : "E22");
    else if (request->data[0] == 'g')
        reply(fd, "00");
    else if (request->data[0] == 'y') {
        snprintf(text, sizeof text, "%zu", request->used);
        reply(fd, text);
    } else if (request->data[0] != 'c')
        reply(fd, "");
}

static void serve(int fd, const struct session *session)
{
    static struct serve_input input;
    char bytes[4096];
    ssize_t got;

    alarm(LONGEST_S);
    while ((got = read(fd, bytes, sizeof bytes)) > 0)
        for (ssize_t i = 0; i < got; i++)
            if (serve_take_byte(&input, (uint8_t)bytes[i]) == SERVE_GOOD)
                answer(fd, session, &input);
    _exit(0);
}

static int dial(struct connection *connection)
{
    struct session *session = connection->context;
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    session->server = fork();
    if (!session->server) {
        close(pair[0]);
        serve(pair[1], session);
    }
    close(pair[1]);
    return pair[0];
}

// ---- sessions ----

static void begin(struct session *session)
{
    session->symbols = open_symbols();
    alarm(LONGEST_S);
    assert_int_equal(proxy_open(&session->proxy, "test", session->symbols, dial, session,
                                TIMEOUT_MS, &session->cancel, NULL),
                     EXTRACT_OK);
}

// Returns the status of the server.
static int end(struct session *session)
{
    int status = -1;

    extract_proxy_close(session->proxy);
    extract_symbols_close(session->symbols);
    waitpid(session->server, &status, 0);
    alarm(0);
    return status;
}

static enum extract_code send_packet(struct session *session, const char *data, size_t length)
{
    struct extract_text packet;

    extract_text_init(&packet, NULL, NULL);
    serve_put_packet(&packet, data, length);
    enum extract_code code =
        extract_proxy_receive(session->proxy, packet.data, packet.used, &session->error);
    extract_text_free(&packet);
    return code;
}

// Begins a session with a server that wants no acknowledgements.
static void begin_quietly(struct session *session)
{
    size_t length;

    begin(session);
    assert_int_equal(send_packet(session, "qSupported:a", 12), EXTRACT_OK);
    extract_proxy_output(session->proxy, &length);
}

static void expect_output(struct session *session, const char *expected)
{
    size_t length;
    const char *output = extract_proxy_output(session->proxy, &length);

    assert_int_equal(length, strlen(expected));
    assert_memory_equal(output, expected, length);
}

// ---- tests ----

// The longest packet, of which each byte is escaped, reaches the server; a longer one is refused.
static void longest_packet(void **state)
{
    struct session session = {.fault = ECHO_LENGTH};
    static char data[SERVE_PACKET + 1];
    size_t length;
    (void)state;

    begin(&session);
    memset(data, '*', sizeof data);
    data[0] = 'y';
    assert_int_equal(send_packet(&session, data, SERVE_PACKET), EXTRACT_OK);
    expect_output(&session, "+$16384#06"); // the sum of the five digits is 0x106
    assert_int_equal(send_packet(&session, data, SERVE_PACKET + 1), EXTRACT_OK);
    expect_output(&session, "+$E.a packet is longer than 16384 bytes#47");
    assert_int_equal(send_packet(&session, "qSupported:a", 12), EXTRACT_OK);
    extract_proxy_output(session.proxy, &length);
    assert_int_equal(send_packet(&session, data, 0x1001), EXTRACT_OK); // the server takes 0x1000
    expect_output(&session, "+$E.a packet is longer than 4096 bytes#14");
    assert_int_equal(end(&session), 0);
}

// Console output instead of an answer.
static void floods(void **state)
{
    static const struct {
        const char *request, *why;
    } rows[] = {{"?", "no answer within 0.3 s"}, {"qRcmd,41", "a command prints more than 16 MiB"}};
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct session session = {.fault = FLOODS, .trigger = rows[i].request};
        begin_quietly(&session);
        assert_int_equal(send_packet(&session, rows[i].request, strlen(rows[i].request)),
                         EXTRACT_IO);
        assert_string_equal(session.error.why, rows[i].why);
        end(&session);
    }
}

// While the target runs, output is passed on without an end, but no more than GDB takes.
static void output_while_running(void **state)
{
    struct session session = {.fault = FLOODS, .trigger = "c"};
    size_t length, total = 0;
    (void)state;

    begin_quietly(&session);
    assert_int_equal(send_packet(&session, "c", 1), EXTRACT_OK);
    expect_output(&session, "+");
    while (total < 1 << 20) {
        assert_int_equal(extract_proxy_serve(session.proxy, &session.error), EXTRACT_OK);
        extract_proxy_output(session.proxy, &length);
        assert_true(length < 128 * 1024);
        total += length;
    }
    // ^C is passed on nevertheless.
    assert_int_equal(extract_proxy_receive(session.proxy, "\x03", 1, &session.error), EXTRACT_OK);
    end(&session);
}

static void many_includes(void **state)
{
    struct session session = {.fault = INCLUDES_FILES};
    (void)state;

    begin(&session);
    assert_int_equal(send_packet(&session, "qSupported:a", 12), EXTRACT_OK);
    assert_int_equal(end(&session), 0);
}

static void count_calls(void *context)
{
    ++*(unsigned *)context;
}

// A silent server: the time-out, a signal and the end of the client end the wait.
static void silence(void **state)
{
    struct session session = {.fault = STAYS_SILENT};
    int pair[2];
    (void)state;

    unsigned calls = 0; // other clients are tended meanwhile
    begin(&session);
    extract_proxy_meanwhile(session.proxy, count_calls, &calls);
    assert_int_equal(send_packet(&session, "?", 1), EXTRACT_IO);
    assert_string_equal(session.error.why, "no answer within 0.3 s");
    assert_in_range(calls, 1, 4);
    end(&session);

    // Threads that cannot be read: a late answer would be taken for another one.
    static const char threads[] = "qXfer:threads:read::0,100";
    begin(&session);
    assert_int_equal(send_packet(&session, threads, strlen(threads)), EXTRACT_IO);
    end(&session);

    begin(&session);
    session.cancel = 1;
    uint64_t start = extract_now();
    assert_int_equal(send_packet(&session, "qRcmd,41", 8), EXTRACT_IO); // has 9 s
    assert_string_equal(session.error.why, "interrupted");
    assert_true(extract_now() - start < EXTRACT_SECOND);
    session.cancel = 0;
    end(&session);

    begin(&session);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    extract_proxy_watch(session.proxy, pair[0]);
    close(pair[1]);
    start = extract_now();
    assert_int_equal(send_packet(&session, "qRcmd,41", 8), EXTRACT_IO);
    assert_true(extract_now() - start < EXTRACT_SECOND);
    end(&session);
    close(pair[0]);
}

// A client that asks for the last packet again and again does not make the output grow.
static void repetitions(void **state)
{
    struct session session = {.fault = ECHO_LENGTH};
    static char again[4096];
    (void)state;

    begin(&session);
    assert_int_equal(send_packet(&session, "y", 1), EXTRACT_OK);
    expect_output(&session, "+$1#31");
    memset(again, '-', sizeof again);
    assert_int_equal(extract_proxy_receive(session.proxy, again, sizeof again, NULL), EXTRACT_OK);
    expect_output(&session, "$1#31");
    end(&session);
}

static void expect_read(struct upstream *upstream, uint64_t address, size_t expected,
                        const char *commands)
{
    uint8_t bytes[UPSTREAM_LINE];

    assert_int_equal(upstream_read(upstream, address, bytes, sizeof bytes), expected);
    assert_true(upstream_ask_text(upstream, "y"));
    assert_true(upstream_is(upstream, commands));
}

// Zeros of OpenOCD that stand for memory that it cannot read are no contents. A line of memory is
// asked about once, and again if it becomes zero.
static void doubted_zeros(void **state)
{
    struct session session = {.fault = GIVES_ZEROS};
    static struct upstream upstream;
    (void)state;

    alarm(LONGEST_S);
    assert_true(upstream_open(&upstream, "test", dial, &session, TIMEOUT_MS, NULL));
    upstream.packet_size = 4096;
    expect_read(&upstream, 0x1000, UPSTREAM_LINE, "2"); // the version, and the question
    expect_read(&upstream, 0x1100, UPSTREAM_LINE, "2"); // it is not zero
    expect_read(&upstream, 0x2200, 0, "4");             // a line, and then the bytes of it
    upstream_forget(&upstream);
    expect_read(&upstream, 0x1000, UPSTREAM_LINE, "4");
    expect_read(&upstream, 0x1100, UPSTREAM_LINE, "4");
    assert_true(upstream_ask_text(&upstream, "y1"));
    upstream_forget(&upstream);
    expect_read(&upstream, 0x1100, 0, "6");
    upstream_close(&upstream);
    waitpid(session.server, NULL, 0);
    alarm(0);
}

// What is not offered is not known, whatever the server would answer; and what stops ends a wait.
static void unusual_requests(void **state)
{
    static const char *const rows[][2] = {{"QNonStop:1", "+$#00"},
                                          {"vStopped", "+$#00"},
                                          {"vCtrlC", "+$#00"},
                                          {"vCont;t", "E.vCont: only the actions"},
                                          {"vCont;", "E.vCont: only the actions"},
                                          {"vCont;c;", "E.vCont: only the actions"},
                                          {"qThreadExtraInfo,1", "+$636f72653a20"},
                                          {"qThreadExtraInfo,9", "+$E01#a6"},
                                          {"vAttach;2", "+$E22#a9"},
                                          {"vAttach;1", "+$T05thread:1;#d7"}};
    struct session session = {.fault = ECHO_LENGTH};
    size_t length;
    (void)state;

    begin(&session);
    assert_int_equal(send_packet(&session, "?", 1), EXTRACT_OK);
    extract_proxy_output(session.proxy, &length);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(send_packet(&session, rows[i][0], strlen(rows[i][0])), EXTRACT_OK);
        const char *output = extract_proxy_output(session.proxy, &length);
        if (!memmem(output, length, rows[i][1], strlen(rows[i][1])))
            fail_msg("%s: %.*s", rows[i][0], (int)length, output);
    }
    // In reverse: the server does not know it, so that nothing runs.
    assert_int_equal(send_packet(&session, "bs", 2), EXTRACT_OK);
    expect_output(&session, "+");
    while (extract_proxy_server(session.proxy) >= 0)
        assert_int_equal(extract_proxy_serve(session.proxy, &session.error), EXTRACT_OK);
    expect_output(&session, "$#00");
    end(&session);
}

// ^C that comes after a stop belongs to what GDB lets run next, unless it comes much later.
static void late_interrupt(void **state)
{
    struct session session = {.fault = ECHO_LENGTH};
    (void)state;

    begin(&session);
    assert_int_equal(send_packet(&session, "?", 1), EXTRACT_OK);
    expect_output(&session, "+$T05thread:1;#d7");
    assert_int_equal(extract_proxy_receive(session.proxy, "\x03", 1, NULL), EXTRACT_OK);
    expect_output(&session, "");
    assert_int_equal(send_packet(&session, "vCont;s:1;c", 11), EXTRACT_OK);
    expect_output(&session, "+$T02thread:1;#d4");
    assert_int_equal(extract_proxy_server(session.proxy), -1);

    assert_int_equal(extract_proxy_receive(session.proxy, "\x03", 1, NULL), EXTRACT_OK);
    usleep(1100000);
    assert_int_equal(send_packet(&session, "c", 1), EXTRACT_OK);
    expect_output(&session, "+");
    assert_true(extract_proxy_server(session.proxy) >= 0);
    end(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(longest_packet),
                                       cmocka_unit_test(floods),
                                       cmocka_unit_test(output_while_running),
                                       cmocka_unit_test(many_includes),
                                       cmocka_unit_test(silence),
                                       cmocka_unit_test(repetitions),
                                       cmocka_unit_test(doubted_zeros),
                                       cmocka_unit_test(unusual_requests),
                                       cmocka_unit_test(late_interrupt)};
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
