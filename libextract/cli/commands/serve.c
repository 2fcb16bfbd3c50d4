// SPDX-License-Identifier: MIT
// cli: `ringside serve` is a GDB server over a dump, or passes packets on between GDB and the
// server of a live target. GDB starts it with `target remote |`, or connects to the port of
// --listen.
#include "cli/cli.h"
#include "memory/live/listener.h"
#include <errno.h>
#include <extract/serve.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORT = 3333, WAIT_MS = 200 };

static enum extract_code lost_client(const char *name, struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_IO, name, NULL, "%s", strerror(errno));
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EAGAIN) {
            struct pollfd ready = {.fd = fd, .events = POLLOUT};
            poll(&ready, 1, WAIT_MS);
        } else if (written < 0 && errno != EINTR) {
            return false;
        } else if (written > 0) {
            bytes += written;
            length -= (size_t)written;
        }
        if (cli_ending_signal())
            return false;
    }
    return true;
}

// Waits until a file can be read. Returns false if the program was asked to end.
static bool await(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};

    while (!cli_ending_signal())
        if (poll(&ready, 1, WAIT_MS) > 0)
            return true;
    return false;
}

// Serves one client until it goes.
static enum extract_code serve_client(struct extract_server *server, int in, int out,
                                      const char *name, struct extract_error *error)
{
    char bytes[4096];
    size_t length;

    while (!extract_server_has_ended(server) && await(in)) {
        ssize_t got = read(in, bytes, sizeof bytes);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (got < 0)
            return lost_client(name, error);
        if (!got)
            break;
        if (extract_server_receive(server, bytes, (size_t)got))
            return extract_error_set(error, EXTRACT_NOMEM, name, NULL, "out of memory");
        const char *output = extract_server_output(server, &length);
        if (!write_all(out, output, length))
            return cli_ending_signal() ? EXTRACT_OK : lost_client(name, error);
    }
    return EXTRACT_OK;
}

// What a client of GDB is served from.
struct service {
    const struct cli_options *options;
    struct extract_remains remains; // with --remote, only its symbols
};

static enum extract_code serve_dump(const struct service *service, int in, int out,
                                    const char *name, struct extract_error *error)
{
    struct extract_server *server;
    enum extract_code code = extract_server_new(&server, &service->remains, error);

    if (!code)
        code = serve_client(server, in, out, name, error);
    extract_server_free(server);
    return code;
}

// ---- a live target ----

static enum extract_code send_output(struct extract_proxy *proxy, int out, const char *name,
                                     struct extract_error *error)
{
    size_t length;
    const char *output = extract_proxy_output(proxy, &length);

    return length && !write_all(out, output, length) ? lost_client(name, error) : EXTRACT_OK;
}

// Passes packets between GDB and the server, until one of them goes.
static enum extract_code relay(struct extract_proxy *proxy, int in, int out, const char *name,
                               struct extract_error *error)
{
    char bytes[4096];
    enum extract_code code = EXTRACT_OK;

    while (!code && !extract_proxy_has_ended(proxy) && !cli_ending_signal()) {
        struct pollfd ready[] = {{.fd = in, .events = POLLIN},
                                 {.fd = extract_proxy_server(proxy), .events = POLLIN}};
        if (poll(ready, 2, WAIT_MS) <= 0)
            continue;
        if (ready[1].revents)
            code = extract_proxy_serve(proxy, error);
        if (!code && ready[0].revents) {
            ssize_t got = read(in, bytes, sizeof bytes);
            if (got < 0 && (errno == EAGAIN || errno == EINTR))
                continue;
            if (got <= 0)
                return got ? lost_client(name, error) : EXTRACT_OK;
            code = extract_proxy_receive(proxy, bytes, (size_t)got, error);
        }
        enum extract_code sent = send_output(proxy, out, name, error);
        code = code ? code : sent;
    }
    return code;
}

static enum extract_code serve_live(const struct service *service, int in, int out,
                                    const char *name, struct extract_error *error)
{
    struct extract_proxy *proxy;
    enum extract_code code =
        extract_proxy_open(&proxy, service->options->remote, service->remains.symbols,
                           service->options->timeout_ms, NULL, error);

    if (!code)
        code = relay(proxy, in, out, name, error);
    extract_proxy_close(proxy);
    return code;
}

// ---- clients ----

static enum extract_code serve_one(const struct service *service, int in, int out, const char *name,
                                   struct extract_error *error)
{
    return service->options->remote ? serve_live(service, in, out, name, error)
                                    : serve_dump(service, in, out, name, error);
}

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
static enum extract_code serve_port(const struct service *service, struct extract_error *error)
{
    const char *place = service->options->feeding.listen;
    char name[128], client[128], host[32];
    int listener;
    enum extract_code code =
        listener_open(&listener, *place ? place : "127.0.0.1", PORT, name, sizeof name, error);

    if (code)
        return code;
    if (!service->options->quiet)
        cli_print_note(name, "waiting for GDB: target remote %s", name_for_clients(name, host));
    while (await(listener)) {
        int fd = listener_accept(listener, client, sizeof client);
        if (fd < 0)
            continue;
        if (serve_one(service, fd, fd, client, error))
            cli_complain(error);
        close(fd);
    }
    close(listener);
    return EXTRACT_OK;
}

static int run_serve(const struct cli_options *options)
{
    struct service service = {.options = options};
    struct extract_error error;
    bool has_port = options->feeding.listen;

    if (!has_port && isatty(STDIN_FILENO))
        return cli_refuse("serve", "use \"target remote | ringside serve ...\" in GDB, or --listen",
                          "GDB speaks through standard input, which is a terminal");
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
        code = has_port ? serve_port(&service, &error)
                        : serve_one(&service, STDIN_FILENO, STDOUT_FILENO, "GDB", &error);
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
            "target, and\nthe threads are added. With --listen, GDB connects to a TCP port of this "
            "computer.\n",
    .takes = CLI_REGISTERS | CLI_SERVE,
    .run = run_serve,
};
