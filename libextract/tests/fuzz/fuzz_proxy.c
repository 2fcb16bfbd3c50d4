// SPDX-License-Identifier: MIT
// fuzz: bytes that a client and a server send to the proxy. The first two bytes are the length of
// what the server sends; it sends that and ends the connection. The rest are bytes of the client,
// which are passed as they are, and then, in another session, each line of them as a packet.
//
// Nothing may crash, leak or hang. In addition, every failure has a reason, and what the proxy
// sends to either side is a sequence of acknowledgements, interrupts and whole packets with right
// checksums.
#include "serve/proxy.h"
#include "tests/fuzz/packets.h"
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct server {
    const uint8_t *bytes;
    size_t length;
    int fd; // the server's end; -1: no connection
};

static int dial(struct connection *connection)
{
    struct server *server = connection->context;
    int pair[2];

    check(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
    server->fd = pair[1];
    ssize_t sent = send(pair[1], server->bytes, server->length, MSG_DONTWAIT | MSG_NOSIGNAL);
    check(sent >= 0 || !server->length || errno == EAGAIN);
    shutdown(pair[1], SHUT_WR);
    return pair[0];
}

// Checks what the server has got from the proxy.
static void check_requests(const struct server *server)
{
    static uint8_t bytes[1 << 20];
    size_t used = 0;
    ssize_t got;

    while (used < sizeof bytes &&
           (got = recv(server->fd, bytes + used, sizeof bytes - used, MSG_DONTWAIT)) > 0)
        used += (size_t)got;
    check(packets_are_whole(bytes, used));
}

// Passes bytes of the client on, and what the server says on its own. Returns false once the
// connection has failed.
static bool pass(struct extract_proxy *proxy, const void *bytes, size_t length)
{
    struct extract_error error = {0};
    enum extract_code code = extract_proxy_receive(proxy, bytes, length, &error);
    size_t output_length;

    if (!code && !extract_proxy_has_ended(proxy) && extract_proxy_server(proxy) >= 0)
        code = extract_proxy_serve(proxy, &error);
    const void *output = extract_proxy_output(proxy, &output_length);
    check(packets_are_whole(output, output_length));
    check(!code || (error.what[0] && error.why[0]));
    return !code && !extract_proxy_has_ended(proxy);
}

// Runs a session: with `as_packets`, each line of the client's is a packet.
static void run(struct extract_symbols *symbols, struct server server, const uint8_t *client,
                size_t length, bool as_packets)
{
    struct extract_proxy *proxy;
    struct extract_text packet;

    check(!proxy_open(&proxy, "fuzz", symbols, dial, &server, 3, NULL, NULL));
    extract_text_init(&packet, NULL, NULL);
    for (size_t at = 0; at < length;) {
        const uint8_t *end = as_packets ? memchr(client + at, '\n', length - at) : NULL;
        size_t part = end ? (size_t)(end - client) - at : length - at;
        packet.used = 0;
        if (as_packets)
            serve_put_packet(&packet, (const char *)client + at, part);
        else
            extract_text_put(&packet, (const char *)client + at, part);
        if (!pass(proxy, packet.data, packet.used))
            break;
        at += part + 1;
    }
    check_requests(&server);
    extract_text_free(&packet);
    extract_proxy_close(proxy);
    close(server.fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t answers = (size_t)data[0] << 8 | data[1];
    answers = answers < size - 2 ? answers : size - 2;
    const struct server server = {data + 2, answers, -1};
    const uint8_t *client = data + 2 + answers;
    size_t length = size - 2 - answers;
    struct extract_symbols *symbols = open_symbols();

    run(symbols, server, client, length, false);
    run(symbols, server, client, length, true);
    extract_symbols_close(symbols);
    return 0;
}
