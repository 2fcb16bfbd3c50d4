// SPDX-License-Identifier: MIT
// registers: reads target descriptions (description.h). Only elements are looked at: <reg name="pc"
// bitsize="32" regnum="15"/> and <xi:include href="core.xml"/>.
// Source: Debugging with GDB, "Target Description Format".
#include "registers/description.h"
#include "base/hex.h"
#include "registers/fpu.h"
#include "registers/register_text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_BYTES = 512, NAME_BYTES = 32, MOST_BITS = 65536 /* of a vector register */ };

// Finds the next element with a name, and copies its text. Returns false after the last one.
static bool next_tag(const char *xml, size_t length, size_t *at, const char *name,
                     char tag[TAG_BYTES])
{
    size_t name_length = strlen(name);

    for (; *at + name_length + 1 < length; ++*at) {
        const char *from = xml + *at;
        if (*from != '<' || strncmp(from + 1, name, name_length) != 0 ||
            !strchr(" \t\r\n", from[1 + name_length]))
            continue;
        const char *end = memchr(from, '>', length - *at);
        size_t bytes = end ? (size_t)(end - from) : length - *at;
        snprintf(tag, TAG_BYTES, "%.*s", (int)(bytes < TAG_BYTES ? bytes : TAG_BYTES - 1), from);
        *at += bytes;
        return true;
    }
    return false;
}

// Copies the value of an attribute. Returns false if the element does not have it.
static bool get_attribute(const char *tag, const char *name, char *value, size_t size)
{
    size_t length = strlen(name);

    for (const char *at = strstr(tag, name); at; at = strstr(at + 1, name)) {
        const char *from = at + length;
        if (at == tag || !strchr(" \t\r\n", at[-1]) || *from != '=' ||
            (from[1] != '"' && from[1] != '\''))
            continue;
        const char *end = strchr(from + 2, from[1]);
        if (!end)
            return false;
        snprintf(value, size, "%.*s", (int)(end - from - 2), from + 2);
        return true;
    }
    return false;
}

static void add_register(struct description *description, const struct described_register *added)
{
    size_t at = description->count;

    if (at == DESCRIBED_MOST)
        return;
    while (at && description->list[at - 1].number > added->number)
        at--;
    memmove(description->list + at + 1, description->list + at,
            (description->count - at) * sizeof *added);
    description->list[at] = *added;
    description->count++;
}

void description_add(struct description *description, const struct register_machine *machine,
                     const char *xml, size_t length)
{
    char tag[TAG_BYTES], name[NAME_BYTES], number[NAME_BYTES], bits[NAME_BYTES];

    for (size_t at = 0; next_tag(xml, length, &at, "reg", tag);) {
        struct described_register added = {.number = description->next};
        if (!get_attribute(tag, "name", name, sizeof name) ||
            !get_attribute(tag, "bitsize", bits, sizeof bits))
            continue;
        if (get_attribute(tag, "regnum", number, sizeof number))
            added.number = (unsigned)strtoul(number, NULL, 10);
        description->next = added.number + 1;
        unsigned long size = strtoul(bits, NULL, 10);
        added.bytes = ((unsigned)(size < MOST_BITS ? size : MOST_BITS) + 7) / 8;
        added.index = register_index(machine, name);
        added.fpu = fpu_register_number(machine, name);
        if (strlen(name) < sizeof added.variant && register_is_variant(machine, name))
            memcpy(added.variant, name, strlen(name) + 1);
        add_register(description, &added);
    }
}

bool description_next_include(const char *xml, size_t length, size_t *at, char *name, size_t size)
{
    char tag[TAG_BYTES];

    while (next_tag(xml, length, at, "xi:include", tag))
        if (get_attribute(tag, "href", name, size))
            return true;
    return false;
}

const struct described_register *description_find(const struct description *description,
                                                  unsigned index)
{
    for (size_t i = 0; i < description->count; i++)
        if (description->list[i].index == index)
            return &description->list[i];
    return NULL;
}

bool described_value(const struct described_register *reg, const char *digits,
                     enum extract_byte_order order, uint64_t *value)
{
    if (reg->bytes > sizeof *value)
        return false;
    *value = 0;
    for (unsigned i = 0; i < reg->bytes; i++) {
        int high = extract_hex_value(digits[2 * i]), low = extract_hex_value(digits[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        uint64_t byte = (uint64_t)(high << 4 | low);
        *value |= byte << 8 * (order == EXTRACT_BIG ? reg->bytes - 1 - i : i);
    }
    return true;
}

void described_fpu_take(const struct described_register *reg, const char *digits,
                        enum extract_byte_order order, struct extract_registers *registers)
{
    const unsigned half = sizeof(uint64_t);
    struct described_register low = *reg, high = {.bytes = 0};
    uint64_t value[2] = {0, 0};

    if (reg->bytes > half) {
        low.bytes = half;
        high.bytes = reg->bytes - half;
    }
    const bool is_big = order == EXTRACT_BIG;
    if (reg->fpu != NO_REGISTER &&
        described_value(&low, digits + (is_big ? 2 * high.bytes : 0), order, &value[0]) &&
        described_value(&high, digits + (is_big ? 0 : 2 * low.bytes), order, &value[1]))
        fpu_register_set(registers, reg->fpu, reg->bytes, value);
}

size_t description_take(const struct description *description, const char *text, size_t length,
                        enum extract_byte_order order, struct extract_registers *registers)
{
    size_t at = 0, taken = 0;
    uint64_t value;

    *registers = (struct extract_registers){.known = 0};
    for (; taken < description->count; taken++) {
        const struct described_register *reg = &description->list[taken];
        if (2 * (size_t)reg->bytes > length - at)
            break;
        if (reg->index != NO_REGISTER && described_value(reg, text + at, order, &value))
            register_set(registers, reg->index, value);
        described_fpu_take(reg, text + at, order, registers);
        at += 2 * (size_t)reg->bytes;
    }
    return taken;
}
