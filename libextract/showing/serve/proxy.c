// SPDX-License-Identifier: MIT
// serve: passes packets on between GDB and the GDB server of a live target, and adds the threads of
// the kernel (extract/serve.h). They are read only when GDB asks for them; at each stop, only which
// thread has the core is read.
//
//                 vCont, c, s              stop reply
//     HALTED ─────────────────> RUNNING ─────────────> HALTED
//        │                        ^  │                    ^
//        │ step of a thread       └──┘ ^C, console output │
//        │ that waits                                     │
//        └───────────> COMING ────────────────────────────┘
//                         its saved pc is reached: one step
#include "serve/proxy.h"
#include "base/now.h"
#include "serve/serve_room.h"
#include "symbols/dwarf.h"
#include <stdlib.h>
#include <string.h>

// Reads memory for the kernel's lists. Names are constants, which the ELF file has.
static size_t read_memory(void *context, uint64_t address, void *buffer, size_t length)
{
    struct extract_proxy *proxy = context;
    size_t got = extract_symbols_read_constant(proxy->symbols, address, buffer, length);

    return got ? got : upstream_read(&proxy->upstream, address, buffer, length);
}

// Returns whether the connection has a fault. What comes over it later could be taken for the
// answer to another request.
static bool has_failed(const struct extract_proxy *proxy)
{
    return proxy->upstream.connection.fault != CONNECTION_GOOD;
}

static enum extract_code result(const struct extract_proxy *proxy, bool is_good,
                                struct extract_error *error)
{
    if (!is_good || (has_failed(proxy) && !proxy->has_ended)) {
        if (error)
            *error = proxy->upstream.connection.error;
        return EXTRACT_IO;
    }
    if (proxy->output.code || proxy->answer.code || proxy->last.code || proxy->stop.code)
        return extract_error_set(error, EXTRACT_NOMEM, proxy->upstream.connection.place, NULL,
                                 "out of memory");
    return EXTRACT_OK;
}

// A server drops a packet that is too long for it, and never answers. While the target runs, GDB
// waits for its stop only.
static void refuse_long(struct extract_proxy *proxy)
{
    if (proxy->state != PROXY_HALTED)
        return;
    proxy->answer.used = 0;
    serve_put_long_error(&proxy->answer, proxy->most_passed);
    proxy_answer_made(proxy);
}

static bool take_interrupt(struct extract_proxy *proxy)
{
    static const uint8_t interrupt = 3;

    proxy->interrupt_ns = extract_now();
    return proxy->state == PROXY_HALTED ||
           connection_send(&proxy->upstream.connection, &interrupt, sizeof interrupt);
}

enum extract_code extract_proxy_receive(struct extract_proxy *proxy, const void *bytes,
                                        size_t length, struct extract_error *error)
{
    const uint8_t *from = bytes;
    bool is_good = true;

    for (size_t i = 0; i < length && is_good && !proxy->has_ended; i++) {
        enum serve_news news = serve_take_byte(&proxy->input, from[i]);
        bool is_packet = news == SERVE_GOOD || news == SERVE_LONG;
        if (!proxy->no_acks && (is_packet || news == SERVE_DAMAGED))
            extract_text_putc(&proxy->output, is_packet ? '+' : '-');
        if (is_packet && (news == SERVE_LONG || proxy->input.used > proxy->most_passed))
            refuse_long(proxy);
        else if (news == SERVE_GOOD)
            is_good = proxy_take_packet(proxy) && (proxy->has_ended || !has_failed(proxy));
        else if (news == SERVE_REPEAT && !proxy->no_acks && !proxy->output.used)
            extract_text_put(&proxy->output, proxy->last.data, proxy->last.used);
        else if (news == SERVE_INTERRUPT)
            is_good = take_interrupt(proxy);
    }
    return result(proxy, is_good, error);
}

int extract_proxy_server(const struct extract_proxy *proxy)
{
    return proxy->state == PROXY_HALTED ? -1 : proxy->upstream.connection.fd;
}

enum extract_code extract_proxy_serve(struct extract_proxy *proxy, struct extract_error *error)
{
    bool is_good = true;

    upstream_begin(&proxy->upstream, MOST_TIMEOUTS);
    while (is_good && proxy->state != PROXY_HALTED && proxy->output.used < OUTPUT_MOST) {
        connection_begin(&proxy->upstream.connection);
        if (!packet_waits(&proxy->upstream.packets)) {
            is_good = proxy->upstream.connection.fault == CONNECTION_GOOD;
            break;
        }
        is_good = upstream_next(&proxy->upstream);
        if (!is_good)
            break;
        if (!upstream_is_stop(&proxy->upstream)) {
            const struct packets *p = &proxy->upstream.packets;
            bool is_refusal = !p->used || p->body[0] == 'E';
            proxy_answer_body(proxy); // output of the program, or a request of it
            if (is_refusal)
                proxy->state = PROXY_HALTED;
            continue;
        }
        proxy_take_stop(proxy);
        if (proxy->state == PROXY_COMING && !proxy_has_exited(proxy))
            is_good = proxy_arrive(proxy);
        else
            proxy_answer_stop(proxy);
        break; // GDB may have sent ^C
    }
    return result(proxy, is_good, error);
}

void extract_proxy_watch(struct extract_proxy *proxy, int client)
{
    proxy->client = client;
    proxy->upstream.connection.client = &proxy->client;
}

void extract_proxy_meanwhile(struct extract_proxy *proxy, void (*function)(void *context),
                             void *context)
{
    proxy->upstream.connection.meanwhile = function;
    proxy->upstream.connection.meanwhile_context = context;
}

const void *extract_proxy_output(struct extract_proxy *proxy, size_t *length)
{
    *length = proxy->output.used;
    proxy->output.used = 0;
    return proxy->output.data;
}

bool extract_proxy_has_ended(const struct extract_proxy *proxy)
{
    return proxy->has_ended;
}

enum extract_code proxy_open(struct extract_proxy **proxy, const char *place,
                             struct extract_symbols *symbols, upstream_dial *dial, void *context,
                             unsigned timeout_ms, const volatile sig_atomic_t *cancel,
                             struct extract_error *error)
{
    const struct register_machine *machine = register_machine_of(symbols);
    struct extract_proxy *made;

    *proxy = NULL;
    if (!machine || !machine->features[0].name)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, extract_symbols_path(symbols),
                                 "use a program for Arm, AArch64, RISC-V or 68k",
                                 "the registers of the machine are not known");
    made = calloc(1, sizeof *made);
    if (!made)
        return extract_error_set(error, EXTRACT_NOMEM, place, NULL, "out of memory");
    const struct extract_memory_source source = {.read = read_memory,
                                                 .context = made,
                                                 .byte_order = extract_symbols_byte_order(symbols),
                                                 .name = place};
    made->symbols = symbols;
    made->machine = machine;
    made->selected = 1;
    made->most_passed = SERVE_PACKET;
    made->cores.count = 1;
    made->cores.selected = CORES_MOST;
    extract_text_init(&made->answer, NULL, NULL);
    extract_text_init(&made->last, NULL, NULL);
    extract_text_init(&made->output, NULL, NULL);
    extract_text_init(&made->stop, NULL, NULL);
    extract_text_init(&made->banks.target_xml, NULL, NULL);
    made->upstream.connection.fd = -1;
    enum extract_code code = extract_memory_new(&made->memory, &source, error);
    if (!code && !upstream_open(&made->upstream, place, dial, context, timeout_ms, cancel)) {
        if (error)
            *error = made->upstream.connection.error;
        code = EXTRACT_IO;
    }
    if (code) {
        extract_proxy_close(made);
        return code;
    }
    *proxy = made;
    return EXTRACT_OK;
}

enum extract_code extract_proxy_open(struct extract_proxy **proxy, const char *place,
                                     struct extract_symbols *symbols, unsigned timeout_ms,
                                     const volatile sig_atomic_t *cancel,
                                     struct extract_error *error)
{
    return proxy_open(proxy, place, symbols, connection_open, NULL, timeout_ms, cancel, error);
}

void extract_proxy_close(struct extract_proxy *proxy)
{
    if (!proxy)
        return;
    proxy_forget(proxy);
    upstream_close(&proxy->upstream);
    extract_memory_close(proxy->memory);
    extract_text_free(&proxy->answer);
    extract_text_free(&proxy->last);
    extract_text_free(&proxy->output);
    extract_text_free(&proxy->stop);
    extract_text_free(&proxy->banks.target_xml);
    free(proxy);
}
