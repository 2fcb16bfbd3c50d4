// SPDX-License-Identifier: MIT
// fuzz: the answers of a server, for the clients of OpenOCD's Tcl port and of the GDB remote
// protocol. The first byte selects the client. The server sends the other bytes and then ends the
// connection.
//
// Nothing may crash, leak or hang. In addition, every failure has a reason, no read returns more
// bytes than requested, and regions are sorted and disjoint.
#include "memory/live/live_memory.h"
#include "memory/memory_hooks.h"
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MODE_REMOTE = 1, MODE_NAMED = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct server {
    const uint8_t *bytes;
    size_t length;
    int fd; // the server's end; -1: no connection yet
};

static void check(bool holds)
{
    if (!holds)
        abort();
}

// Connects once and sends all bytes. A second connection is refused.
static int dial(struct connection *peer)
{
    struct server *server = peer->context;
    int pair[2];
    if (server->fd >= 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        connection_fail(peer, CONNECTION_LATE, EXTRACT_IO, NULL, "refused");
        return -1;
    }
    server->fd = pair[1];
    ssize_t sent = send(pair[1], server->bytes, server->length, MSG_DONTWAIT | MSG_NOSIGNAL);
    check(sent >= 0 || !server->length);
    shutdown(pair[1], SHUT_WR);
    return pair[0];
}

static void ask_read(struct extract_memory *memory, uint64_t address, size_t length)
{
    struct extract_error error = {0};
    uint8_t *buffer = malloc(length);
    size_t got = length + 1;
    check(buffer != NULL);
    enum extract_code code = extract_memory_read(memory, address, buffer, length, &got, &error);
    check(got <= length && (code == EXTRACT_OK) == (got == length));
    check(code == error.code && (!code || (error.what[0] && error.why[0])));
    free(buffer);
}

static void ask_regions(const struct extract_memory *memory)
{
    struct extract_region region;
    uint64_t next = 0;
    for (size_t i = 0; extract_memory_region(memory, i, &region); i++) {
        check(region.length && (!i || region.address >= next));
        next = region.address + region.length;
    }
}

static void ask(struct extract_memory *memory)
{
    struct extract_error error = {0};
    ask_regions(memory);
    ask_read(memory, 0x20000000, 16);
    ask_read(memory, 0x20000001, 7);
    ask_read(memory, 0x20000000, 3000);
    extract_memory_write(memory, 0x20000000, "\x01$#}*\x00\xff\x1a", 8, &error);
    extract_memory_is_running(memory);
    if (!extract_live_resume(memory, &error) && !extract_live_halt(memory, &error))
        ask_read(memory, 0x20000002, 2);
    check(extract_live_halts(memory).longest <= extract_live_halts(memory).nanoseconds);
    extract_live_release(memory, &error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct server server = {data + 1, size ? size - 1 : 0, -1};
    struct extract_live_options options = {.size = sizeof options, .timeout_ms = 3};
    struct extract_memory *memory = NULL;
    struct extract_error error = {0};
    unsigned mode = size ? data[0] : 0;
    options.target = mode & MODE_NAMED ? "chip.mem" : NULL;
    enum extract_code code =
        mode & MODE_REMOTE ? remote_open(&memory, "fuzz/remote", &options, dial, &server, &error)
                           : openocd_open(&memory, "fuzz/openocd", &options, dial, &server, &error);
    check(code == error.code && (code == EXTRACT_OK) == (memory != NULL));
    check(!code || (error.what[0] && error.why[0]));
    if (memory)
        ask(memory);
    extract_memory_close(memory);
    close(server.fd);
    return 0;
}
