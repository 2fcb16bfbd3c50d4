// SPDX-License-Identifier: MIT
// serve: asks a live server for its cores (serve_cores.h).
#define _GNU_SOURCE // memmem
#include "serve/serve_cores.h"
#include "registers/live_registers.h"
#include <stdio.h>
#include <string.h>

enum { MOST_INCLUDES = 64 };

void cores_describe(struct cores *cores, struct upstream *upstream,
                    const struct register_machine *machine)
{
    struct extract_text xml, part;
    char name[64];
    size_t at = 0;

    extract_text_init(&xml, NULL, NULL);
    extract_text_init(&part, NULL, NULL);
    if (upstream_read_document(upstream, "features", "target.xml", &xml)) {
        description_add(&cores->description, machine, xml.data, xml.used);
        for (unsigned i = 0; i < MOST_INCLUDES &&
                             description_next_include(xml.data, xml.used, &at, name, sizeof name) &&
                             upstream_read_document(upstream, "features", name, &part);
             i++)
            description_add(&cores->description, machine, part.data, part.used);
    }
    extract_text_free(&xml);
    extract_text_free(&part);
}

bool cores_learn(struct cores *cores, struct upstream *upstream)
{
    const struct packets *p = &upstream->packets;
    struct extract_text ids;
    uint64_t mask = 0;

    extract_text_init(&ids, NULL, NULL);
    // Servers send the ids one by one, or all at once.
    bool is_good = upstream_ask_text(upstream, "qfThreadInfo");
    for (unsigned i = 0; is_good && p->used > 1 && p->body[0] == 'm' && i <= CORES_MOST; i++) {
        if (ids.used)
            extract_text_putc(&ids, ',');
        extract_text_put(&ids, (const char *)p->body + 1, p->used - 1);
        is_good = upstream_ask_text(upstream, "qsThreadInfo");
    }
    bool is_one = !ids.used || !memchr(ids.data, ',', ids.used);
    extract_text_putc(&ids, 0);
    cores->count = 1;
    if (is_good && !is_one && !ids.code && register_server_cores(ids.data, &mask) &&
        !(mask & (mask + 1)) && mask >> CORES_MOST == 0)
        while (mask >> cores->count)
            cores->count++;
    else if (is_good && !is_one)
        is_good = connection_fail(&upstream->connection, CONNECTION_LATE, EXTRACT_UNSUPPORTED,
                                  "use '-rtos none' for this target of OpenOCD, or connect GDB to "
                                  "the server itself",
                                  "shows the threads of an RTOS, and not its cores");
    extract_text_free(&ids);
    return is_good;
}

void cores_take_stop(struct cores *cores, const struct upstream *upstream)
{
    static const char key[] = "thread:";
    const struct packets *p = &upstream->packets;
    const char *at = (const char *)p->body, *end = at + p->used;
    const char *found = memmem(at, p->used, key, sizeof key - 1);
    char id[24];
    uint64_t mask = 0;

    cores_forget(cores);
    cores->stopped = 0;
    if (!found || cores->count == 1)
        return;
    found += sizeof key - 1;
    const char *stop = memchr(found, ';', (size_t)(end - found));
    snprintf(id, sizeof id, "%.*s", (int)((stop ? stop : end) - found), found);
    if (!register_server_cores(id, &mask))
        return;
    for (unsigned i = 0; i < cores->count; i++)
        if (mask >> i & 1)
            cores->stopped = i;
}

void cores_forget(struct cores *cores)
{
    // A server selects the core that has stopped.
    cores->selected = CORES_MOST;
    for (unsigned i = 0; i < cores->count; i++)
        cores->list[i].is_read = false;
}

bool cores_select(struct cores *cores, struct upstream *upstream, unsigned core)
{
    char request[16];

    if (cores->count == 1 || cores->selected == core)
        return true;
    snprintf(request, sizeof request, "Hg%x", core + 1);
    if (!upstream_ask_text(upstream, request) || !upstream_is(upstream, "OK"))
        return false;
    cores->selected = core;
    return true;
}

// Asks the selected core for one register. Returns false after a fault, or if it is not given.
static bool ask_register(const struct described_register *reg, struct upstream *upstream,
                         enum extract_byte_order order, struct extract_registers *registers)
{
    const struct packets *p = &upstream->packets;
    char request[16];
    uint64_t value;

    snprintf(request, sizeof request, "p%x", reg->number);
    if (!upstream_ask_text(upstream, request) || p->used != 2 * (size_t)reg->bytes ||
        !described_value(reg, (const char *)p->body, order, &value))
        return false;
    register_set(registers, reg->index, value);
    return true;
}

struct core *cores_read(struct cores *cores, struct upstream *upstream, unsigned core,
                        enum extract_byte_order order)
{
    const struct description *description = &cores->description;
    const struct packets *p = &upstream->packets;
    struct core *read = &cores->list[core];

    if (read->is_read)
        return read;
    if (!cores_select(cores, upstream, core) || !upstream_ask_text(upstream, "g") ||
        p->used > CORE_TEXT || (p->used && p->body[0] == 'E'))
        return NULL;
    memcpy(read->text, p->body, p->used);
    read->length = p->used;
    read->registers = (struct extract_registers){.known = 0};
    // QEMU leaves the stack pointers of a Cortex-M out of the reply.
    for (size_t i =
             description_take(description, read->text, read->length, order, &read->registers);
         i < description->count; i++)
        if (description->list[i].index != NO_REGISTER)
            ask_register(&description->list[i], upstream, order, &read->registers);
    read->is_read = true;
    read->is_searched = read->psp_is_found = false;
    return read;
}

bool cores_read_register(struct cores *cores, struct upstream *upstream, unsigned core,
                         unsigned index, enum extract_byte_order order,
                         struct extract_registers *registers)
{
    const struct described_register *reg = description_find(&cores->description, index);

    return reg && cores_select(cores, upstream, core) &&
           ask_register(reg, upstream, order, registers);
}

bool cores_step(struct cores *cores, struct upstream *upstream, unsigned core, bool others_run)
{
    char request[32] = "s";

    if (cores->count > 1)
        snprintf(request, sizeof request, "vCont;s:%x%s", core + 1, others_run ? ";c" : "");
    return upstream_tell(upstream, request, strlen(request));
}
