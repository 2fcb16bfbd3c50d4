// SPDX-License-Identifier: MIT
// serve: answers of the proxy to GDB, its own and those of the server.
#include "serve/serve_room.h"
#include <string.h>

void proxy_answer(struct extract_proxy *proxy, const void *bytes, size_t length)
{
    proxy->last.used = 0;
    serve_put_packet(&proxy->last, bytes, length);
    extract_text_put(&proxy->output, proxy->last.data, proxy->last.used);
}

void proxy_answer_text(struct extract_proxy *proxy, const char *text)
{
    proxy_answer(proxy, text, strlen(text));
}

// Returns true: the server has not failed.
bool proxy_refuse(struct extract_proxy *proxy, const char *text)
{
    proxy_answer_text(proxy, text);
    return true;
}

void proxy_answer_body(struct extract_proxy *proxy)
{
    proxy_answer(proxy, proxy->upstream.packets.body, proxy->upstream.packets.used);
}

void proxy_answer_made(struct extract_proxy *proxy)
{
    proxy_answer(proxy, proxy->answer.used ? proxy->answer.data : "", proxy->answer.used);
}

// Answers with a part of a document.
void proxy_answer_part(struct extract_proxy *proxy, const struct extract_text *document,
                       size_t offset, size_t length)
{
    offset = offset < document->used ? offset : document->used;
    size_t left = document->used - offset, most = PACKET_MOST / 2;
    length = length < most ? length : most; // escapes may double the data
    proxy->answer.used = 0;
    extract_text_putc(&proxy->answer, left > length ? 'm' : 'l');
    extract_text_put(&proxy->answer, document->data + offset, left < length ? left : length);
    proxy_answer_made(proxy);
}

// Passes the packet at hand to the server, and its answer to GDB.
bool proxy_pass(struct extract_proxy *proxy)
{
    if (!upstream_ask(&proxy->upstream, proxy->input.data, proxy->input.used))
        return false;
    proxy_answer_body(proxy);
    return true;
}

// Passes the packet on, and means the registers of a core.
bool proxy_pass_to_core(struct extract_proxy *proxy, unsigned core)
{
    if (!cores_select(&proxy->cores, &proxy->upstream, core)) {
        proxy_answer_text(proxy, "E01");
        return proxy->upstream.connection.fault == CONNECTION_GOOD;
    }
    return proxy_pass(proxy);
}

// Returns the id of the thread that has the core which stopped. The end of a step has the id of the
// thread that was stepped, also if another one has the core now: GDB fails otherwise.
static uint64_t stopped_id(struct extract_proxy *proxy)
{
    const struct step step = proxy->step;

    proxy->step.id = 0;
    if (proxy->binding.state == BINDING_AT_START &&
        binding_swap(&proxy->binding, proxy_current_id(proxy)) > proxy->cores.count) {
        proxy->binding.state = BINDING_FREE;
        proxy_forget(proxy);
    }
    if (step.id && (step.is_alone || step.core == proxy->cores.stopped))
        proxy_bind(proxy, BINDING_AT_STOP, step.id);
    return proxy_current_id(proxy);
}

// Keeps the stop reply that the server has sent: other packets follow before GDB gets it.
void proxy_take_stop(struct extract_proxy *proxy)
{
    const struct packets *p = &proxy->upstream.packets;

    proxy->stop.used = 0;
    extract_text_put(&proxy->stop, (const char *)p->body, p->used);
    if (p->body[1] == '0' && p->body[2] == '2') // SIGINT
        proxy->interrupt_ns = 0;
    cores_take_stop(&proxy->cores, &proxy->upstream);
    proxy_forget(proxy);
}

bool proxy_has_exited(const struct extract_proxy *proxy)
{
    return proxy->stop.used && (proxy->stop.data[0] == 'W' || proxy->stop.data[0] == 'X');
}

// Reports the stop: the signal, the thread, and what the server adds, such as a watchpoint.
void proxy_answer_stop(struct extract_proxy *proxy)
{
    const char *at = proxy->stop.data, *end = at + proxy->stop.used;

    proxy->state = PROXY_HALTED;
    if (proxy_has_exited(proxy)) {
        proxy_answer(proxy, at, proxy->stop.used);
        return;
    }
    proxy->selected = proxy->reported = stopped_id(proxy);
    proxy->answer.used = 0;
    extract_text_printf(&proxy->answer, "T%.2sthread:%llx;", at + 1,
                        (unsigned long long)proxy->selected);
    for (at += 3; at < end;) {
        const char *stop = memchr(at, ';', (size_t)(end - at));
        size_t length = stop ? (size_t)(stop - at) : (size_t)(end - at);
        if (length > 7 && strncmp(at, "thread:", 7) != 0 && strncmp(at, "core:", 5) != 0) {
            extract_text_put(&proxy->answer, at, length);
            extract_text_putc(&proxy->answer, ';');
        }
        at += length + 1;
    }
    proxy_answer_made(proxy);
}
