// SPDX-License-Identifier: MIT
// cli: `ringside serve` is a GDB server over a dump. GDB starts it with `target remote |`, or
// connects to the port of --listen.
#include "cli/cli.h"
#include "memory/live/listener.h"
#include <errno.h>
#include <extract/serve.h>
#include <poll.h>
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

static enum extract_code serve_one(const struct cli_dead *dead, int in, int out, const char *name,
                                   struct extract_error *error)
{
    const struct extract_server_options options = {.size = sizeof options,
                                                   .memory = dead->memory,
                                                   .symbols = dead->symbols,
                                                   .kernel = dead->kernel,
                                                   .cores = dead->cores,
                                                   .core_count = dead->core_count};
    struct extract_server *server;
    enum extract_code code = extract_server_new(&server, &options, error);

    if (!code)
        code = serve_client(server, in, out, name, error);
    extract_server_free(server);
    return code;
}

// Serves one client after the other, until a signal.
static enum extract_code serve_port(const struct cli_dead *dead, const struct cli_options *options,
                                    struct extract_error *error)
{
    const char *place = *options->feeding.listen ? options->feeding.listen : "127.0.0.1";
    char name[128];
    int listener;
    enum extract_code code = listener_open(&listener, place, PORT, name, sizeof name, error);

    if (code)
        return code;
    if (!options->quiet)
        cli_print_note(name, "waiting for GDB: target remote %s", name);
    while (!code && await(listener)) {
        char client[128];
        int fd = listener_accept(listener, client, sizeof client);
        if (fd < 0)
            continue;
        code = serve_one(dead, fd, fd, client, error);
        close(fd);
        if (code == EXTRACT_IO) { // this client is gone, the next one may come
            cli_complain(error);
            code = EXTRACT_OK;
        }
    }
    close(listener);
    return code;
}

static int run_serve(const struct cli_options *options)
{
    struct cli_dead dead;
    struct extract_error error;
    bool has_port = options->feeding.listen;

    if (!has_port && isatty(STDIN_FILENO))
        return cli_refuse("serve", "use \"target remote | ringside serve ...\" in GDB, or --listen",
                          "GDB speaks through standard input, which is a terminal");
    cli_catch_ending();
    signal(SIGPIPE, SIG_IGN);
    enum extract_code code = cli_dead_open(&dead, options, &error);
    if (!code)
        code = has_port ? serve_port(&dead, options, &error)
                        : serve_one(&dead, STDIN_FILENO, STDOUT_FILENO, "GDB", &error);
    int status = code ? cli_complain(&error) : CLI_SUCCESS;
    cli_dead_close(&dead);
    return status;
}

const struct cli_command cli_serve = {
    .group = CLI_EXAMINE,
    .name = "serve",
    .arguments = "--elf ELF INPUT...",
    .summary = "serve a dump to GDB, with all threads",
    .help = "In GDB: target remote | ringside serve --elf ELF INPUT...\n"
            "Each thread of the kernel has its name, its state and its saved registers. The dump "
            "cannot\nbe changed. With --listen, GDB connects to a TCP port of this computer.\n",
    .takes = CLI_REGISTERS | CLI_SERVE,
    .run = run_serve,
};
