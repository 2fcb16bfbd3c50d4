// SPDX-License-Identifier: MIT
// serve: requests of a proxy to the server (upstream.h).
#include "serve/upstream.h"
#include "base/hex.h"
#include "base/now.h"
#include "memory/live/monitor.h"
#include <stdio.h>
#include <string.h>

enum {
    TIMEOUT_MS = 10000,
    MOST_PASSED = 64,
    DOCUMENT_PIECE = 0x400,
    DOCUMENT_MOST = 1 << 20,
    OUTPUT_MOST = 1 << 16 // bytes that a command prints
};

bool upstream_open(struct upstream *upstream, const char *place, upstream_dial *dial, void *context,
                   unsigned timeout_ms, const volatile sig_atomic_t *cancel)
{
    struct connection *connection = &upstream->connection;

    *connection =
        (struct connection){.place = place,
                            .hint = "check that a GDB server listens there",
                            .dial = dial,
                            .context = context,
                            .cancel = cancel,
                            .timeout = (uint64_t)(timeout_ms ? timeout_ms : TIMEOUT_MS) * 1000000,
                            .limit = UINT64_MAX,
                            .fd = -1};
    upstream->packets.connection = connection;
    upstream->packets.acks = true;
    upstream->packet_size = 400;
    upstream_forget(upstream);
    return connection_connect(connection);
}

void upstream_close(struct upstream *upstream)
{
    connection_close(&upstream->connection);
}

bool upstream_is(const struct upstream *upstream, const char *text)
{
    const struct packets *packets = &upstream->packets;

    return packets->used == strlen(text) && memcmp(packets->body, text, packets->used) == 0;
}

bool upstream_is_stop(const struct upstream *upstream)
{
    const struct packets *p = &upstream->packets;

    return p->used >= 3 && memchr("TSWX", p->body[0], 4) && extract_hex_value(p->body[1]) >= 0 &&
           extract_hex_value(p->body[2]) >= 0;
}

bool upstream_tell(struct upstream *upstream, const void *request, size_t length)
{
    connection_begin(&upstream->connection);
    return packet_send(&upstream->packets, request, length);
}

bool upstream_next(struct upstream *upstream)
{
    connection_begin(&upstream->connection);
    return packet_receive(&upstream->packets);
}

bool upstream_await_stop(struct upstream *upstream)
{
    connection_begin(&upstream->connection);
    do {
        if (!packet_receive(&upstream->packets))
            return false;
    } while (!upstream_is_stop(upstream));
    return true;
}

void upstream_begin(struct upstream *upstream, unsigned timeouts)
{
    upstream->connection.limit = extract_now() + timeouts * upstream->connection.timeout;
}

// Reads the next packet that is no stop reply: nobody has asked for it.
static bool next_answer(struct upstream *upstream)
{
    connection_begin(&upstream->connection);
    for (unsigned i = 0; i < MOST_PASSED; i++) {
        if (!packet_receive(&upstream->packets))
            return false;
        if (!upstream_is_stop(upstream))
            return true;
    }
    return connection_fail(&upstream->connection, CONNECTION_BROKEN, EXTRACT_BAD, NULL,
                           "sends stop replies without an end");
}

bool upstream_ask(struct upstream *upstream, const void *request, size_t length)
{
    return upstream_tell(upstream, request, length) && next_answer(upstream);
}

bool upstream_ask_text(struct upstream *upstream, const char *request)
{
    return upstream_ask(upstream, request, strlen(request));
}

// ---- memory ----

// Runs a command of the server's monitor. Its output is empty if the server refuses. Returns false
// after a fault.
static bool run_command(struct upstream *upstream, const char *command, struct extract_text *output)
{
    const struct packets *p = &upstream->packets;
    struct extract_text request;

    extract_text_init(&request, NULL, NULL);
    monitor_put_request(&request, command);
    bool is_good = !request.code && upstream_ask_text(upstream, request.data);
    extract_text_free(&request);
    while (is_good && p->used && p->body[0] == 'O' && !upstream_is(upstream, "OK")) {
        monitor_put_output(output, p, 1);
        is_good = output->used < OUTPUT_MOST
                      ? next_answer(upstream)
                      : connection_fail(&upstream->connection, CONNECTION_BROKEN, EXTRACT_BAD, NULL,
                                        "a command prints without an end");
    }
    if (is_good && p->used && p->body[0] != 'E')
        monitor_put_output(output, p, 0);
    extract_text_putc(output, 0);
    return is_good && !output->code;
}

// Returns whether zeros that the server has given are those of the memory. OpenOCD gives zeros if
// it cannot read it.
static bool confirm_zeros(struct upstream *upstream, uint64_t address, size_t length)
{
    struct extract_text command, output;
    size_t why_length;
    bool is_good = true;

    extract_text_init(&command, NULL, NULL);
    extract_text_init(&output, NULL, NULL);
    if (upstream->zeros == ZEROS_UNASKED) {
        is_good = run_command(upstream, MONITOR_VERSION, &output);
        if (is_good)
            upstream->zeros = monitor_is_openocd(output.data) ? ZEROS_DOUBTED : ZEROS_TRUSTED;
        output.used = 0;
    }
    if (is_good && upstream->zeros == ZEROS_DOUBTED) {
        monitor_put_question(&command, address, length);
        is_good = !command.code && run_command(upstream, command.data, &output) &&
                  !monitor_find_failure(output.data, &why_length);
    }
    extract_text_free(&command);
    extract_text_free(&output);
    return is_good;
}

static bool ask_for(struct upstream *upstream, uint64_t address, size_t length)
{
    char request[64];

    snprintf(request, sizeof request, "m%llx,%zx", (unsigned long long)address, length);
    return upstream_tell(upstream, request, strlen(request));
}

// Takes the bytes out of an answer to m. Returns how many there are, at most `most`.
static size_t take_bytes(const struct packets *p, uint8_t *buffer, size_t most)
{
    size_t got = 0;

    if (p->used % 2 || p->used / 2 > most)
        return 0;
    for (; got < p->used / 2; got++) {
        int high = extract_hex_value(p->body[2 * got]),
            low = extract_hex_value(p->body[2 * got + 1]);
        if (high < 0 || low < 0)
            break;
        buffer[got] = (uint8_t)(high << 4 | low);
    }
    return got;
}

// Reads bytes without the cache. Returns how many the server has given.
static size_t fetch_bytes(struct upstream *upstream, uint64_t address, uint8_t *buffer,
                          size_t length)
{
    size_t most = (upstream->packet_size - 5) / 2, done = 0;

    while (done < length) {
        size_t wanted = length - done < most ? length - done : most;
        if (!ask_for(upstream, address + done, wanted) || !next_answer(upstream))
            break;
        size_t got = take_bytes(&upstream->packets, buffer + done, wanted);
        if (!got)
            break;
        done += got;
    }
    return done;
}

// Does the same, and doubts zeros.
static size_t fetch(struct upstream *upstream, uint64_t address, uint8_t *buffer, size_t length)
{
    size_t got = fetch_bytes(upstream, address, buffer, length);

    return monitor_is_zero(buffer, got) && !confirm_zeros(upstream, address, got) ? 0 : got;
}

// Reads a line. Zeros are doubted unless it had them before.
static void fetch_line(struct upstream *upstream, size_t slot, uint64_t address)
{
    struct upstream_line *line = &upstream->lines[slot];
    bool is_known = line->address == address && line->is_zero;

    line->address = address;
    line->is_valid = (is_known ? fetch_bytes : fetch)(upstream, address, line->bytes,
                                                      UPSTREAM_LINE) == UPSTREAM_LINE;
    line->is_zero = line->is_valid && monitor_is_zero(line->bytes, UPSTREAM_LINE);
}

// Asks for all lines that are wanted. If the server wants acknowledgements, the answers are
// acknowledged in advance: it reads them in order, each behind its answer.
static bool ask_for_wanted(struct upstream *upstream)
{
    enum { MOST_REQUEST = 40 };
    uint8_t requests[UPSTREAM_LINES * MOST_REQUEST];
    char request[MOST_REQUEST - 5];
    size_t used = 0;

    for (size_t i = 0; i < UPSTREAM_LINES; i++) {
        if (!upstream->lines[i].is_wanted)
            continue;
        int length = snprintf(request, sizeof request, "m%llx,%x",
                              (unsigned long long)upstream->lines[i].address, UPSTREAM_LINE);
        used += packet_frame(requests + used, request, (size_t)length);
        if (upstream->packets.acks)
            requests[used++] = '+';
    }
    connection_begin(&upstream->connection);
    return !used || connection_send(&upstream->connection, requests, used);
}

// Reads the lines that were kept at the stop before.
static void fetch_wanted(struct upstream *upstream)
{
    bool acks = upstream->packets.acks;

    if (upstream->packet_size < 2 * UPSTREAM_LINE + 5 || !ask_for_wanted(upstream))
        return;
    upstream->packets.acks = false;
    for (size_t i = 0; i < UPSTREAM_LINES; i++) {
        if (!upstream->lines[i].is_wanted)
            continue;
        upstream->lines[i].is_wanted = false;
        if (!next_answer(upstream))
            break;
        struct upstream_line *line = &upstream->lines[i];
        bool is_whole = take_bytes(&upstream->packets, line->bytes, UPSTREAM_LINE) == UPSTREAM_LINE;
        bool is_zero = is_whole && monitor_is_zero(line->bytes, UPSTREAM_LINE);
        // A line that has become zero is read again if it is needed, and doubted.
        line->is_valid = is_whole && (!is_zero || line->is_zero);
        line->is_zero &= is_zero;
    }
    upstream->packets.acks = acks;
}

size_t upstream_read(void *context, uint64_t address, void *buffer, size_t length)
{
    struct upstream *upstream = context;
    uint8_t *to = buffer;
    size_t done = 0;

    while (done < length) {
        uint64_t at = address + done, line = at - at % UPSTREAM_LINE;
        size_t slot = (size_t)(line / UPSTREAM_LINE % UPSTREAM_LINES);
        size_t offset = (size_t)(at - line), part = UPSTREAM_LINE - offset;
        part = part < length - done ? part : length - done;
        if (!upstream->lines[slot].is_valid)
            fetch_wanted(upstream);
        if (!upstream->lines[slot].is_valid || upstream->lines[slot].address != line)
            fetch_line(upstream, slot, line);
        if (!upstream->lines[slot].is_valid) { // the end of a memory, or registers of a device
            size_t got = fetch(upstream, at, to + done, part);
            done += got;
            if (got < part)
                break;
            continue;
        }
        memcpy(to + done, upstream->lines[slot].bytes + offset, part);
        done += part;
    }
    return done;
}

void upstream_forget(struct upstream *upstream)
{
    for (size_t i = 0; i < UPSTREAM_LINES; i++) {
        upstream->lines[i].is_wanted |= upstream->lines[i].is_valid;
        upstream->lines[i].is_valid = false;
    }
}

bool upstream_read_document(struct upstream *upstream, const char *object, const char *annex,
                            struct extract_text *document)
{
    const struct packets *p = &upstream->packets;
    char request[256];

    document->used = 0;
    while (document->used < DOCUMENT_MOST) {
        snprintf(request, sizeof request, "qXfer:%s:read:%s:%zx,%x", object, annex, document->used,
                 DOCUMENT_PIECE);
        if (!upstream_ask_text(upstream, request) || !p->used ||
            (p->body[0] != 'm' && p->body[0] != 'l'))
            return false;
        extract_text_put(document, (const char *)p->body + 1, p->used - 1);
        if (p->body[0] == 'l')
            return !document->code;
        if (p->used == 1)
            return false;
    }
    return false;
}
