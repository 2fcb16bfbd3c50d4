// SPDX-License-Identifier: MIT
// formats/rkh/target: finds active objects among the firmware's variables, with name and priority,
// even if no record of the trace names them.
//
// An active object is a variable, or an element of an array, that has a queue `equeue`, and a
// member `prio`: its own, or that of the constants that one of its pointers leads to.
#include "formats/rkh/target/target.h"
#include "symbols/dwarf.h"
#include <stdio.h>

enum { MAX_CANDIDATES = 1 << 13, MAX_ELEMENTS = 256, MAX_PRIORITY = 255 };

// Reads a word: constants from the ELF, variables from memory.
static bool read_word(struct extract_memory *memory, const struct extract_symbols *symbols,
                      uint64_t address, uint64_t bytes, uint64_t *value)
{
    uint8_t raw[8];
    size_t got;
    if (!bytes || bytes > sizeof raw)
        return false;
    got = extract_symbols_read_constant(symbols, address, raw, (size_t)bytes);
    if (got != bytes &&
        (!memory || extract_memory_read(memory, address, raw, (size_t)bytes, &got, NULL)))
        return false;
    bool big = extract_symbols_byte_order(symbols) == EXTRACT_BIG;
    *value = 0;
    for (uint64_t i = 0; i < bytes; i++)
        *value |= (uint64_t)raw[i] << 8 * (big ? bytes - 1 - i : i);
    return true;
}

static void read_text(struct extract_memory *memory, const struct extract_symbols *symbols,
                      uint64_t address, char text[static RKH_NAME_BYTES])
{
    uint64_t byte = 1;
    size_t got = extract_symbols_read_constant(symbols, address, text, RKH_NAME_BYTES - 1);
    text[got] = 0;
    if (got)
        return;
    while (got < RKH_NAME_BYTES - 1 && byte && read_word(memory, symbols, address + got, 1, &byte))
        text[got++] = (char)byte;
    text[got] = 0;
}

// Reads the active object at an address. Returns false if it is not initialized.
static bool read_actor(struct extract_memory *memory, struct extract_symbols *symbols,
                       const struct extract_inner *inner, uint64_t address, struct rkh_actor *actor)
{
    unsigned pointer_bytes = extract_symbols_pointer_bytes(symbols);
    uint64_t holder = address, priority, name;
    *actor = (struct rkh_actor){.address = address};
    if (inner->is_indirect &&
        (!read_word(memory, symbols, address + inner->pointer, pointer_bytes, &holder) || !holder))
        return false;
    if (!read_word(memory, symbols, holder + inner->member, inner->size, &priority) ||
        priority > MAX_PRIORITY)
        return false;
    actor->priority = (uint16_t)priority;
    if (inner->has_second &&
        read_word(memory, symbols, holder + inner->second, pointer_bytes, &name) && name)
        read_text(memory, symbols, name, actor->name);
    return true;
}

// Returns whether the variable at an address is an active object, or an array of them.
static bool is_actor(struct extract_symbols *symbols, uint64_t address, struct extract_inner *inner)
{
    struct extract_inner queue;
    return extract_symbols_inner(symbols, address, "equeue", NULL, false, &queue) &&
           extract_symbols_inner(symbols, address, "prio", "name", true, inner);
}

bool rkh_actors_next(struct rkh_actors *walk, struct rkh_actor *actor)
{
    struct extract_symbol symbol;
    struct extract_inner inner;
    for (; extract_symbols_at(walk->symbols, walk->next, &symbol);
         walk->next++, walk->element = 0) {
        bool may = !symbol.function && symbol.size >= extract_symbols_pointer_bytes(walk->symbols);
        if (!may || walk->asked++ > MAX_CANDIDATES ||
            !is_actor(walk->symbols, symbol.address, &inner))
            continue;
        while (walk->element < inner.count && walk->element < MAX_ELEMENTS) {
            uint64_t i = walk->element++, at = symbol.address + i * inner.stride;
            if (!read_actor(walk->memory, walk->symbols, &inner, at, actor))
                continue;
            int used = snprintf(actor->symbol, sizeof actor->symbol, "%s", symbol.name);
            if (inner.stride && used > 0 && (size_t)used < sizeof actor->symbol)
                snprintf(actor->symbol + used, sizeof actor->symbol - (size_t)used, "[%u]",
                         (unsigned)i);
            return true;
        }
    }
    return false;
}

bool rkh_actor_priority(struct extract_memory *memory, struct extract_symbols *symbols,
                        uint64_t address, uint16_t *priority)
{
    struct extract_symbol symbol;
    struct extract_inner inner;
    struct rkh_actor actor;
    uint64_t offset;
    if (!extract_symbols_by_address(symbols, address, &symbol, &offset, NULL) || symbol.function ||
        !is_actor(symbols, symbol.address, &inner) ||
        (inner.stride ? offset % inner.stride : offset) ||
        !read_actor(memory, symbols, &inner, address, &actor))
        return false;
    *priority = actor.priority;
    return true;
}
