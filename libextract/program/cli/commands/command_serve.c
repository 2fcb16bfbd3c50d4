// SPDX-License-Identifier: MIT
// cli: `ringside serve` is a GDB server over a dump, or passes packets on between GDB and the
// server of a live target. GDB starts it with `target remote |`, or connects to the port of
// --listen.
#define _GNU_SOURCE // POLLRDHUP
#include "base/now.h"
#include "cli/cli.h"
#include "cli/lobby.h"
#include "memory/live/connection.h"
#include <errno.h>
#include <extract/serve.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    WAIT_MS = 200,
    MOST_READ = 1024,       // bytes of a client that are answered at once
    MOST_WRITTEN = 4096,    // bytes for which a pipe has room if it has any
    PARTING_NS = 500000000, // how long a client has time to read after the server has ended
};

// What a client of GDB is served from.
struct service {
    const struct cli_options *options;
    struct extract_remains remains; // with --remote, only its symbols
};

// ---- a session with one client ----
//
// Nothing is taken of either side while output is left to be written, so that none of them can make
// it grow.

struct session {
    const char *name; // of the client
    int in, out;
    struct caller *caller;         // NULL: GDB has started this program
    struct extract_server *server; // of a dump; NULL: of a live target
    struct extract_proxy *proxy;
    struct lobby *lobby;    // other clients; NULL: there are none
    const char *place;      // of the proxy's server
    const char *at;         // output that is to be written
    size_t left;            // its bytes
    uint64_t server_end_ns; // when the server was found to have ended; 0: not
};

static enum extract_code lost_client(const struct session *s, struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_IO, s->name, NULL, "%s", strerror(errno));
}

// The server may take long to answer, and other clients need not wait for that.
static void tend_others(void *context)
{
    lobby_tend(context);
}

static enum extract_code open_session(struct session *s, const struct service *service,
                                      struct extract_error *error)
{
    enum extract_code code;

    if (!service->options->remote)
        return extract_server_new(&s->server, &service->remains, error);
    s->place = service->options->remote;
    code = extract_proxy_open(&s->proxy, s->place, service->remains.symbols,
                              service->options->timeout_ms, cli_ending_flag(), error);
    if (!code)
        extract_proxy_watch(s->proxy, s->out);
    if (!code && s->lobby)
        extract_proxy_meanwhile(s->proxy, tend_others, s->lobby);
    return code;
}

static bool has_ended(const struct session *s)
{
    return s->proxy ? extract_proxy_has_ended(s->proxy) : extract_server_has_ended(s->server);
}

// Writes what can be written without waiting.
static enum extract_code write_some(struct session *s, struct extract_error *error)
{
    while (s->left) {
        struct pollfd ready = {.fd = s->out, .events = POLLOUT};
        ssize_t written = send(s->out, s->at, s->left, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (written < 0 && errno == ENOTSOCK && poll(&ready, 1, 0) > 0)
            written = write(s->out, s->at, s->left < MOST_WRITTEN ? s->left : MOST_WRITTEN);
        if (written < 0)
            return errno == EAGAIN || errno == EINTR || errno == ENOTSOCK ? EXTRACT_OK
                                                                          : lost_client(s, error);
        s->at += written;
        s->left -= (size_t)written;
    }
    return EXTRACT_OK;
}

// Writes what the session has for the client.
static enum extract_code write_output(struct session *s, struct extract_error *error)
{
    s->at = s->proxy ? extract_proxy_output(s->proxy, &s->left)
                     : extract_server_output(s->server, &s->left);
    return write_some(s, error);
}

// Takes bytes of the client. Those of one that turns out not to be GDB are discarded.
static enum extract_code take(struct session *s, const char *bytes, size_t length,
                              struct extract_error *error)
{
    enum extract_code code;

    if (s->caller && caller_take(s->caller, bytes, length) == CALLER_FOREIGN)
        return extract_error_set(error, EXTRACT_BAD, s->name, NULL, "not a client of GDB");
    if (s->proxy)
        code = extract_proxy_receive(s->proxy, bytes, length, error);
    else if ((code = extract_server_receive(s->server, bytes, length)) != EXTRACT_OK)
        (void)extract_error_set(error, code, s->name, NULL, "out of memory");
    // Of a failure, GDB gets what was answered before it.
    enum extract_code written = write_output(s, code ? NULL : error);
    return code ? code : written;
}

static enum extract_code read_client(struct session *s, bool *is_over, struct extract_error *error)
{
    char bytes[MOST_READ];
    ssize_t got = read(s->in, bytes, sizeof bytes);

    if (got > 0)
        return take(s, bytes, (size_t)got, error);
    *is_over = !got;
    return !got || errno == EAGAIN || errno == EINTR ? EXTRACT_OK : lost_client(s, error);
}

static enum extract_code read_server(struct session *s, struct extract_error *error)
{
    enum extract_code code = extract_proxy_serve(s->proxy, error);
    enum extract_code written = write_output(s, code ? NULL : error);

    return code ? code : written;
}

// The server has ended, but the client does not read what it sent before that.
static enum extract_code note_server_end(struct session *s, struct extract_error *error)
{
    if (!s->server_end_ns)
        s->server_end_ns = extract_now();
    if (extract_now() - s->server_end_ns < PARTING_NS)
        return EXTRACT_OK;
    return extract_error_set(error, EXTRACT_IO, s->place, NULL,
                             "the server has closed the connection");
}

// Serves a client until it goes, the server goes or a signal comes.
static enum extract_code run_session(struct session *s, struct extract_error *error)
{
    struct pollfd ready[4 + LOBBY_GUESTS];
    enum extract_code code = EXTRACT_OK;
    bool is_over = false;

    while (!code && !is_over && !cli_ending_signal() && (s->left || !has_ended(s))) {
        int server = s->proxy ? extract_proxy_server(s->proxy) : -1;
        ready[0] = (struct pollfd){.fd = s->left ? -1 : s->in, .events = POLLIN};
        ready[1] =
            (struct pollfd){.fd = s->out, .events = s->left ? POLLRDHUP | POLLOUT : POLLRDHUP};
        ready[2] = (struct pollfd){.fd = s->server_end_ns ? -1 : server,
                                   .events = s->left ? POLLRDHUP : POLLIN};
        size_t count = 3 + (s->lobby ? lobby_poll(s->lobby, ready + 3) : 0);
        if (poll(ready, count, WAIT_MS) < 0)
            continue;
        if (s->lobby)
            lobby_tend(s->lobby);
        bool has_gone = ready[1].revents & (POLLRDHUP | POLLHUP | POLLERR);
        if (s->left && ready[1].revents & POLLOUT)
            code = write_some(s, error);
        else if (s->left && (ready[2].revents || s->server_end_ns))
            code = note_server_end(s, error);
        else if (!s->left && ready[0].revents)
            code = read_client(s, &is_over, error);
        else
            is_over = has_gone;
        if (!code && !is_over && !s->left && server >= 0 && !has_ended(s))
            code = read_server(s, error);
    }
    // It is not an error if the client has gone, or a signal came.
    return cli_ending_signal() || (code && connection_has_gone(s->out)) ? EXTRACT_OK : code;
}

static enum extract_code serve_one(const struct service *service, struct session *s,
                                   const struct guest *guest, struct extract_error *error)
{
    enum extract_code code = open_session(s, service, error);

    if (!code && guest)
        code = take(s, guest->held, guest->used, error);
    if (!code)
        code = run_session(s, error);
    extract_proxy_close(s->proxy);
    extract_server_free(s->server);
    return code;
}

// ---- clients ----

// Returns the address that a client uses. A port of all addresses has that of this computer.
static const char *name_for_clients(const char *name, char host[static 32])
{
    static const char *const all[] = {"0.0.0.0:", "[::]:"};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strncmp(name, all[i], strlen(all[i])) == 0) {
            snprintf(host, 32, "localhost:%s", name + strlen(all[i]));
            return host;
        }
    return name;
}

// Serves one client after the other, until a signal. What fails for one does not end the others.
static void serve_guests(const struct service *service, struct lobby *lobby)
{
    struct pollfd ready[1 + LOBBY_GUESTS];
    struct extract_error error;
    struct guest *guest;

    while (!cli_ending_signal()) {
        poll(ready, lobby_poll(lobby, ready), WAIT_MS);
        lobby_tend(lobby);
        while (!cli_ending_signal() && (guest = lobby_next(lobby)) != NULL) {
            struct session session = {.name = guest->name,
                                      .in = guest->fd,
                                      .out = guest->fd,
                                      .caller = &guest->caller,
                                      .lobby = lobby};
            if (serve_one(service, &session, guest, &error))
                cli_complain(&error);
            lobby_dismiss(guest);
        }
    }
}

static enum extract_code serve_port(const struct service *service, struct extract_error *error)
{
    const struct cli_options *options = service->options;
    struct lobby *lobby = calloc(1, sizeof *lobby);
    char host[32];

    if (!lobby)
        return extract_error_set(error, EXTRACT_NOMEM, "serve", NULL, "out of memory");
    enum extract_code code = lobby_open(lobby, options->feeding.listen, options->quiet, error);
    if (!code) {
        if (!options->quiet)
            cli_print_note(lobby->name, "waiting for GDB: target remote %s",
                           name_for_clients(lobby->name, host));
        serve_guests(service, lobby);
        lobby_close(lobby);
    }
    free(lobby);
    return code;
}

static enum extract_code serve_pipe(const struct service *service, struct extract_error *error)
{
    struct session session = {.name = "GDB", .in = STDIN_FILENO, .out = STDOUT_FILENO};

    return serve_one(service, &session, NULL, error);
}

static int run_serve(const struct cli_options *options)
{
    struct service service = {.options = options};
    struct extract_error error;
    bool has_port = options->feeding.listen;

    if (!has_port && isatty(STDIN_FILENO))
        return cli_refuse("serve", "use \"target remote | ringside serve ...\" in GDB, or --listen",
                          "GDB speaks through standard input, which is a terminal");
    if (options->openocd)
        return cli_refuse("--openocd",
                          "use --remote HOST:3333, the port of OpenOCD's own GDB server (gdb_port)",
                          "serve reads a live target through a GDB server");
    if (options->remote && !options->elf)
        return cli_refuse("--elf", "use --elf FILE, the program that runs on the target",
                          "threads are found by the types in its debug information");
    if (options->remote && (options->input_count || options->registers))
        return cli_refuse("--remote", "use one of them",
                          "a live target cannot be combined with an input or --registers");
    cli_catch_ending();
    signal(SIGPIPE, SIG_IGN);
    enum extract_code code = options->remote
                                 ? cli_symbols_open(&service.remains.symbols, options, &error)
                                 : cli_remains_open(&service.remains, options, false, &error);
    if (!code && !options->remote)
        cli_remains_check(&service.remains, options);
    if (!code)
        code = has_port ? serve_port(&service, &error) : serve_pipe(&service, &error);
    int status = code ? cli_complain(&error) : CLI_SUCCESS;
    cli_remains_close(&service.remains);
    return status;
}

const struct cli_command cli_serve = {
    .group = CLI_EXAMINE,
    .name = "serve",
    .arguments = "--elf ELF INPUT... | --remote SERVER",
    .summary = "serve GDB, with all threads",
    .help = "In GDB: target remote | ringside serve --elf ELF INPUT...\n"
            "Each thread of the kernel has its name, its state and its saved registers. The dump "
            "cannot\nbe changed. With --remote, packets pass between GDB and the server of a live "
            "target, and\nthe threads are added. With --listen=unix:PATH, GDB connects to a socket "
            "of this user; with\n--listen, to a TCP port of this computer.\n",
    .takes = CLI_REGISTERS | CLI_SERVE,
    .run = run_serve,
};
