// SPDX-License-Identifier: MIT
// probe: the loop over all sockets. In: characters of OpenOCD, lines of control clients, events of
// the back end. Out: answers. Nothing that a peer sends or does not read can stop the others.
#define _GNU_SOURCE // accept4, ppoll
#include "probe/control.h"
#include "probe/sockets.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    SPIN = 60000 // ns by which a sleep takes longer than requested
};

enum slot { SIGNALS, BACK_END, LISTENER, OPENOCD, CONTROL, FIRST_CLIENT };
enum { SLOTS = FIRST_CLIENT + CONTROL_CLIENTS };

static void join_arm(struct probe *probe)
{
    ap_init(&probe->aps[0], &probe->bus, AP_AHB);
    ap_init(&probe->aps[1], &probe->debug_bus, AP_APB);
    probe->dp.aps = probe->aps;
    probe->dp.ap_count = probe->debug.read ? 2 : 1;
    probe->dp.knobs = &probe->knobs;
    probe->tap.device = dp_device(&probe->dp);
}

static void join_riscv(struct probe *probe)
{
    probe->dm.sba.bus = &probe->bus;
    sba_reset(&probe->dm.sba);
    probe->dtm.dm = &probe->dm;
    probe->dtm.knobs = &probe->knobs;
    probe->tap.device = dtm_device(&probe->dtm);
}

enum extract_code probe_open(struct probe *probe, struct extract_error *error)
{
    probe->socket_fd = probe->control_fd = probe->signal_fd = probe->client_fd = -1;
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        probe->clients[i].fd = -1;
    probe->tear.target = &probe->target;
    probe->bus = (struct bus){&probe->target, &probe->knobs, &probe->tear, true};
    probe->debug_bus = (struct bus){&probe->debug, &probe->knobs, &probe->tear, true};
    if (probe->dm.hart)
        join_riscv(probe);
    else
        join_arm(probe);
    probe->tap.counters = &probe->knobs.counters;
    probe->bitbang.tap = &probe->tap;
    probe->bitbang.target = &probe->target;
    probe->bitbang.due = &probe->knobs.link.due;
    probe->in = malloc(PROBE_BATCH);
    probe->out = malloc(PROBE_BATCH);
    if (!probe->in || !probe->out)
        return extract_error_set(error, EXTRACT_NOMEM, "probe", NULL, "out of memory");
    return EXTRACT_OK;
}

enum extract_code probe_listen(struct probe *probe, const char *socket, const char *control,
                               struct extract_error *error)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    probe->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
    if (probe->signal_fd < 0)
        return extract_error_set(error, EXTRACT_IO, "signals", NULL, "%s", strerror(errno));
    enum extract_code code = EXTRACT_OK;
    if (control)
        code = socket_listen(control, &probe->control_fd, error);
    if (code)
        return code;
    probe->control_path = control;
    code = socket_listen(socket, &probe->socket_fd, error);
    if (!code)
        probe->socket_path = socket;
    return code;
}

static void drop_client(struct probe *probe)
{
    close(probe->client_fd);
    probe->client_fd = -1;
    probe->in_at = probe->in_used = probe->out_at = probe->out_used = 0;
    probe->drop = false;
}

static void accept_openocd(struct probe *probe)
{
    probe->client_fd = accept4(probe->socket_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (probe->client_fd >= 0)
        bitbang_restart(&probe->bitbang);
}

static bool would_block(void)
{
    return errno == EAGAIN || errno == EINTR;
}

// Sends what there is. Returns false if the connection has ended.
static bool flush_openocd(struct probe *probe)
{
    size_t left = probe->out_used - probe->out_at;
    ssize_t sent = send(probe->client_fd, probe->out + probe->out_at, left, MSG_NOSIGNAL);
    if (sent < 0)
        return would_block();
    probe->out_at += (size_t)sent;
    if (probe->out_at == probe->out_used)
        probe->out_at = probe->out_used = 0;
    return true;
}

// Works off what OpenOCD has sent, as far as the link lets us.
static bool work(struct probe *probe)
{
    size_t answered;
    if (probe->knobs.link.due && knobs_now() < probe->knobs.link.due)
        return true;
    probe->knobs.link.due = 0;
    probe->in_at +=
        bitbang_feed(&probe->bitbang, probe->in + probe->in_at, probe->in_used - probe->in_at,
                     probe->out + probe->out_used, &answered);
    probe->out_used += answered;
    if (probe->out_used && !flush_openocd(probe))
        return false;
    return !probe->bitbang.quit;
}

static bool receive_openocd(struct probe *probe)
{
    ssize_t got = recv(probe->client_fd, probe->in, PROBE_BATCH, 0);
    if (got <= 0)
        return got < 0 && would_block();
    probe->in_at = 0;
    probe->in_used = (size_t)got;
    return true;
}

// Characters are taken only when those before them are answered, and their answers sent: so both
// buffers are as large as they need to be.
static void serve_openocd(struct probe *probe, short events)
{
    bool alive = !probe->drop;
    if (alive && probe->out_used)
        alive = !events || flush_openocd(probe);
    else if (alive && probe->in_at == probe->in_used && events)
        alive = receive_openocd(probe);
    if (alive && !probe->out_used && probe->in_at < probe->in_used)
        alive = work(probe);
    if (!alive)
        drop_client(probe);
}

static void close_control(struct control_client *client)
{
    close(client->fd);
    extract_text_free(&client->answers);
    client->fd = -1;
}

static void accept_control(struct probe *probe)
{
    int fd = accept4(probe->control_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    for (size_t i = 0; i < CONTROL_CLIENTS && fd >= 0; i++) {
        struct control_client *client = &probe->clients[i];
        if (client->fd >= 0)
            continue;
        *client = (struct control_client){.fd = fd};
        extract_text_init(&client->answers, NULL, NULL);
        return;
    }
    if (fd >= 0)
        close(fd);
}

static bool flush_control(struct control_client *client)
{
    struct extract_text *answers = &client->answers;
    if (answers->code)
        return false;
    ssize_t sent =
        send(client->fd, answers->data + client->sent, answers->used - client->sent, MSG_NOSIGNAL);
    if (sent < 0)
        return would_block();
    client->sent += (size_t)sent;
    if (client->sent == answers->used)
        client->sent = answers->used = 0;
    return true;
}

// Takes the next complete line out of the buffer and answers it. Returns false if there is none.
static bool answer_line(struct probe *probe, struct control_client *client)
{
    char *end = memchr(client->line, '\n', client->used);
    if (!end && client->used < CONTROL_LINE)
        return false;
    if (!end) {
        client->skipping = true;
        client->used = 0;
        return false;
    }
    size_t length = (size_t)(end - client->line);
    *end = '\0';
    if (client->skipping || memchr(client->line, '\0', length))
        extract_text_printf(&client->answers, "error: line: %s; see help\n",
                            client->skipping ? "too long" : "holds a NUL byte");
    else
        control_run(probe, client->line, &client->answers);
    client->skipping = false;
    client->used -= length + 1;
    memmove(client->line, end + 1, client->used);
    return true;
}

// One answer is sent before the next line is taken, so that a client that does not read waits.
static bool serve_control(struct probe *probe, struct control_client *client)
{
    if (client->answers.used) {
        if (!flush_control(client))
            return false;
    } else {
        ssize_t got = recv(client->fd, client->line + client->used, CONTROL_LINE - client->used, 0);
        if (got <= 0)
            return got < 0 && would_block();
        client->used += (size_t)got;
    }
    while (!client->answers.used && answer_line(probe, client))
        if (!flush_control(client))
            return false;
    return true;
}

// What each part waits for. A part without a descriptor, or that waits for another one, has -1.
static void plan(const struct probe *probe, struct pollfd slots[SLOTS])
{
    bool has_input = probe->in_at < probe->in_used;
    for (size_t i = 0; i < SLOTS; i++)
        slots[i] = (struct pollfd){-1, POLLIN, 0};
    slots[SIGNALS].fd = probe->signal_fd;
    slots[BACK_END].fd = probe->target.event_fd;
    slots[LISTENER].fd = probe->client_fd < 0 ? probe->socket_fd : -1;
    slots[OPENOCD].fd = probe->client_fd;
    slots[OPENOCD].events = probe->out_used ? POLLOUT : has_input ? 0 : POLLIN;
    slots[CONTROL].fd = probe->control_fd;
    for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
        const struct control_client *client = &probe->clients[i];
        slots[FIRST_CLIENT + i].fd = client->fd;
        slots[FIRST_CLIENT + i].events = client->answers.used ? POLLOUT : POLLIN;
    }
}

// Waits for a socket, or for the link to be free. Short waits are not slept: the link would be
// slower than it was set to.
static void wait_for(const struct probe *probe, struct pollfd slots[SLOTS])
{
    struct timespec pause = {0, 0};
    bool has_work = !probe->out_used && probe->in_at < probe->in_used;
    if (has_work && probe->knobs.link.due) {
        uint64_t now = knobs_now(), due = probe->knobs.link.due;
        uint64_t left = due > now + SPIN ? due - now - SPIN : 0;
        pause = (struct timespec){(time_t)(left / 1000000000), (long)(left % 1000000000)};
    }
    if (ppoll(slots, SLOTS, has_work ? &pause : NULL, NULL) < 0)
        for (size_t i = 0; i < SLOTS; i++)
            slots[i].revents = 0;
}

static void serve(struct probe *probe, const struct pollfd slots[SLOTS])
{
    for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
        struct control_client *client = &probe->clients[i];
        if (slots[FIRST_CLIENT + i].revents && !serve_control(probe, client))
            close_control(client);
    }
    if (slots[CONTROL].revents)
        accept_control(probe);
    if (probe->client_fd >= 0)
        serve_openocd(probe, slots[OPENOCD].revents);
    if (slots[LISTENER].revents)
        accept_openocd(probe);
}

enum extract_code probe_run(struct probe *probe, struct extract_error *error)
{
    struct pollfd slots[SLOTS];
    while (!probe->quit) {
        plan(probe, slots);
        wait_for(probe, slots);
        if (slots[SIGNALS].revents)
            break;
        if (slots[BACK_END].revents && !probe->target.pump(probe->target.context))
            return extract_error_set(error, EXTRACT_ABSENT, "QEMU", NULL, "has ended");
        serve(probe, slots);
    }
    return EXTRACT_OK;
}

void probe_close(struct probe *probe)
{
    const int fds[] = {probe->client_fd, probe->socket_fd, probe->control_fd, probe->signal_fd};
    if (probe->socket_path)
        unlink(probe->socket_path);
    if (probe->control_path)
        unlink(probe->control_path);
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        if (probe->clients[i].fd >= 0)
            close_control(&probe->clients[i]);
    tear_free(&probe->tear);
    free(probe->in);
    free(probe->out);
}
