// SPDX-License-Identifier: MIT
// probe/qemu: QEMU's gdbstub. In: requests. Out: packets; replies, and the stops between them.
#include "probe/qemu/gdbstub.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PACKET = 8192, TRAP = 5, DESCRIPTIONS = 16 };

static bool send_packet(struct gdbstub *gdb, const char *body)
{
    char packet[PACKET];
    unsigned sum = 0;
    for (const char *c = body; *c; c++)
        sum += (unsigned char)*c;
    int length = snprintf(packet, sizeof packet, "$%s#%02x", body, sum & 0xFF);
    return length < (int)sizeof packet && channel_send(&gdb->channel, packet, (size_t)length);
}

// Reads the next packet. Returns false if there is none (yet). Checksums are not checked, and
// packets are not acknowledged: this is a local stream, which loses nothing, and QEMU does not wait
// for acknowledgements. An acknowledgement that reaches a running guest would stop it.
static bool receive(struct gdbstub *gdb, char reply[PACKET], bool wait)
{
    size_t used = 0;
    int c;
    do {
        c = channel_byte(&gdb->channel, wait);
    } while (c >= 0 && c != '$');
    while (c >= 0 && (c = channel_byte(&gdb->channel, true)) >= 0 && c != '#')
        if (used < PACKET - 1)
            reply[used++] = (char)c;
    reply[used] = '\0';
    return c >= 0 && channel_byte(&gdb->channel, true) >= 0 &&
           channel_byte(&gdb->channel, true) >= 0;
}

static bool is_stop(const char *reply)
{
    return *reply == 'T' || *reply == 'S';
}

// A stop at a breakpoint or after a single step, and not one that was requested.
static bool is_trap(const char *reply)
{
    const char digits[] = {is_stop(reply) ? reply[1] : '0', is_stop(reply) ? reply[2] : '0', '\0'};
    return strtoul(digits, NULL, 16) == TRAP;
}

static bool is_exit(const char *reply)
{
    return *reply == 'W' || *reply == 'X';
}

// A request and its reply; stops that were reported before it are skipped, and console output.
static bool ask(struct gdbstub *gdb, const char *request, char reply[PACKET])
{
    if (!gdb_is_attached(gdb) || !send_packet(gdb, request))
        return false;
    do {
        if (!receive(gdb, reply, true))
            return false;
    } while (is_stop(reply) || (*reply == 'O' && reply[1] != 'K'));
    return true;
}

static bool ask_ok(struct gdbstub *gdb, const char *request)
{
    char reply[PACKET];
    return ask(gdb, request, reply) && !strcmp(reply, "OK");
}

bool gdb_is_attached(const struct gdbstub *gdb)
{
    return gdb->channel.fd >= 0 && !gdb->channel.dead;
}

// The whole of a target description, which comes in parts; NULL or owned by the caller.
static char *fetch(struct gdbstub *gdb, const char *name)
{
    char request[128], reply[PACKET], *text = calloc(1, 1);
    size_t used = 0;
    do {
        snprintf(request, sizeof request, "qXfer:features:read:%s:%zx,ffb", name, used);
        if (!text || !ask(gdb, request, reply) || (*reply != 'm' && *reply != 'l'))
            break;
        size_t length = strlen(reply + 1);
        char *longer = realloc(text, used + length + 1);
        if (!longer)
            break;
        text = longer;
        memcpy(text + used, reply + 1, length + 1);
        used += length;
        if (*reply == 'l' || !length)
            return text;
    } while (used < 1 << 20);
    free(text);
    return NULL;
}

// The value of an attribute of the XML element that starts at `element`; false: it has none.
static bool attribute(const char *element, const char *name, char *value, size_t size)
{
    const char *end = strchr(element, '>'), *at = strstr(element, name);
    size_t length = strlen(name);
    if (!end || !at || at > end || at[length] != '=' || !strchr("\"'", at[length + 1]))
        return false;
    at += length + 2; // after the quote
    size_t used = strcspn(at, "\"'");
    if (used >= size)
        used = size - 1;
    memcpy(value, at, used);
    value[used] = '\0';
    return true;
}

// Numbers the registers of one description: each follows the one before it, or has its own number.
static void number_registers(struct gdbstub *gdb, const char *text, unsigned *next)
{
    char value[GDB_NAME] = "";
    for (const char *at = strstr(text, "<reg "); at; at = strstr(at + 1, "<reg ")) {
        if (attribute(at, " regnum", value, sizeof value))
            *next = (unsigned)strtoul(value, NULL, 0);
        if (*next < GDB_REGISTERS && attribute(at, " name", value, sizeof value)) {
            memcpy(gdb->names[*next], value, sizeof value);
            unsigned long bits =
                attribute(at, " bitsize", value, sizeof value) ? strtoul(value, NULL, 0) : 32;
            gdb->sizes[*next] = bits <= 64 ? (uint8_t)(bits / 8) : 16;
        }
        ++*next;
    }
}

// QEMU answers for single registers only after its description was read.
static bool describe(struct gdbstub *gdb)
{
    char *target = fetch(gdb, "target.xml"), name[64];
    unsigned next = 0;
    if (!target)
        return false;
    const char *at = strstr(target, "<xi:include ");
    for (int i = 0; at && i < DESCRIPTIONS; i++, at = strstr(at + 1, "<xi:include ")) {
        char *text = attribute(at, " href", name, sizeof name) ? fetch(gdb, name) : NULL;
        if (text)
            number_registers(gdb, text, &next);
        free(text);
    }
    number_registers(gdb, target, &next);
    free(target);
    return true;
}

bool gdb_attach(struct gdbstub *gdb)
{
    char reply[PACKET];
    if (gdb_is_attached(gdb))
        return true;
    if (!gdb->address_length)
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    channel_close(&gdb->channel);
    channel_open(&gdb->channel, fd);
    if (connect(fd, (struct sockaddr *)&gdb->address, gdb->address_length) ||
        !ask(gdb, "qSupported:xmlRegisters=i386,arm", reply) || !describe(gdb)) {
        channel_close(&gdb->channel);
        return false;
    }
    return true;
}

int gdb_number(const struct gdbstub *gdb, const char *name)
{
    for (int i = 0; i < GDB_REGISTERS; i++)
        if (!strcmp(gdb->names[i], name))
            return i;
    return -1;
}

static bool is_register(const struct gdbstub *gdb, int number)
{
    return number >= 0 && number < GDB_REGISTERS && *gdb->names[number];
}

// A request that is answered with bytes, the lowest first, of which at most 8 are taken.
static bool ask_value(struct gdbstub *gdb, const char *request, uint64_t *value)
{
    char reply[PACKET];
    if (!ask(gdb, request, reply) || *reply == 'E')
        return false;
    *value = 0;
    for (unsigned i = 0; i < 8 && reply[2 * i] && reply[2 * i + 1]; i++) {
        char byte[3] = {reply[2 * i], reply[2 * i + 1], '\0'};
        *value |= (uint64_t)strtoul(byte, NULL, 16) << 8 * i;
    }
    return *reply != '\0';
}

// A request that ends with bytes, the lowest first; those after the 8 of the value are 0.
static bool send_value(struct gdbstub *gdb, const char *request, unsigned bytes, uint64_t value)
{
    char whole[96];
    int used = snprintf(whole, sizeof whole, "%s", request);
    for (unsigned i = 0; i < bytes; i++)
        used += snprintf(whole + used, sizeof whole - (size_t)used, "%02x",
                         i < 8 ? (unsigned)(value >> 8 * i & 0xFF) : 0);
    return ask_ok(gdb, whole);
}

bool gdb_read_number(struct gdbstub *gdb, int number, uint64_t *value)
{
    char request[32];
    snprintf(request, sizeof request, "p%x", (unsigned)number);
    return is_register(gdb, number) && ask_value(gdb, request, value);
}

bool gdb_write_number(struct gdbstub *gdb, int number, uint64_t value)
{
    char request[32];
    snprintf(request, sizeof request, "P%x=", (unsigned)number);
    return is_register(gdb, number) && send_value(gdb, request, gdb->sizes[number], value);
}

bool gdb_read_register(struct gdbstub *gdb, const char *name, uint64_t *value)
{
    return gdb_read_number(gdb, gdb_number(gdb, name), value);
}

bool gdb_write_register(struct gdbstub *gdb, const char *name, uint64_t value)
{
    return gdb_write_number(gdb, gdb_number(gdb, name), value);
}

bool gdb_read_memory(struct gdbstub *gdb, uint64_t address, unsigned bytes, uint64_t *value)
{
    char request[48];
    snprintf(request, sizeof request, "m%" PRIx64 ",%x", address, bytes);
    return ask_value(gdb, request, value);
}

bool gdb_write_memory(struct gdbstub *gdb, uint64_t address, unsigned bytes, uint64_t value)
{
    char request[48];
    snprintf(request, sizeof request, "M%" PRIx64 ",%x:", address, bytes);
    return send_value(gdb, request, bytes, value);
}

bool gdb_insert(struct gdbstub *gdb, uint64_t address)
{
    char request[32];
    snprintf(request, sizeof request, "Z1,%" PRIx64 ",2", address);
    return ask_ok(gdb, request);
}

bool gdb_remove(struct gdbstub *gdb, uint64_t address)
{
    char request[32];
    snprintf(request, sizeof request, "z1,%" PRIx64 ",2", address);
    return ask_ok(gdb, request);
}

bool gdb_step(struct gdbstub *gdb, bool masked)
{
    char reply[PACKET];
    // Bits of QEMU: 1 single-step, 2 without interrupts, 4 without timers.
    if (!ask_ok(gdb, masked ? "Qqemu.sstep=0x7" : "Qqemu.sstep=0x1") || !send_packet(gdb, "s"))
        return false;
    do {
        if (!receive(gdb, reply, true) || is_exit(reply))
            return false;
    } while (!is_trap(reply));
    return true;
}

bool gdb_resume(struct gdbstub *gdb)
{
    return gdb_is_attached(gdb) && send_packet(gdb, "c");
}

void gdb_skip(struct gdbstub *gdb)
{
    char reply[PACKET];
    while (gdb_is_attached(gdb) && receive(gdb, reply, false))
        continue;
}
