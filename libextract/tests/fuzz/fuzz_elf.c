// SPDX-License-Identifier: MIT
// fuzz: the bytes of an ELF file, and every kind of question about it.
//
// Nothing may crash, leak or hang. In addition, answers agree with each other.
#include "symbols/dwarf.h"
#include <extract/symbols.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void ask_address(struct extract_symbols *symbols, uint64_t address, size_t *cache)
{
    struct extract_symbol found, again;
    struct extract_place place;
    uint64_t offset = 0;
    uint8_t bytes[64];
    char name[64];

    if (extract_symbols_by_address(symbols, address, &found, &offset, cache)) {
        check(found.address <= address);
        check(found.address + offset == address || found.function);
        check(found.size == 0 || offset < found.size);
        check(*found.name && extract_symbols_by_name(symbols, found.name, &again));
        check(strcmp(again.name, found.name) == 0);
        check(extract_symbols_describe(symbols, address, true, name, sizeof name) && *name);
    }
    if (extract_symbols_place(symbols, address, &place))
        check(place.line > 0 && *place.file);
    check(extract_symbols_read_constant(symbols, address, bytes, sizeof bytes) <= sizeof bytes);
}

static bool read_zero(void *context, uint64_t address, unsigned bytes, uint64_t *value)
{
    (void)context, (void)bytes;
    *value = address & 0xFFF;
    return true;
}

// Unwinds from an address, at most as far as any stack is shown.
static void ask_callers(struct extract_symbols *symbols, uint64_t address)
{
    const struct extract_unwind_memory memory = {read_zero, NULL};
    struct extract_unwound frame = {.known = 0xFFFFFFFF, .pc = address};

    for (unsigned i = 0; i < 32; i++)
        if (!extract_symbols_caller(symbols, &memory, 13, i == 0, &frame))
            break;
    extract_symbols_is_m_profile(symbols);
}

static void ask_type(struct extract_symbols *symbols, const char *type)
{
    char path[64];
    uint64_t size, offset;

    (void)extract_symbols_type_size(symbols, type, &size);
    (void)extract_symbols_member(symbols, type, "inner.b", &offset, &size);
    (void)extract_symbols_member(symbols, type, "anonymous", &offset, &size);
    for (uint64_t at = 0; at < 40; at += 4)
        if (extract_symbols_member_at(symbols, type, at, path, sizeof path))
            check(*path && strlen(path) < sizeof path);
}

// Checks that each enumeration has as many enumerators as it claims.
static void ask_enums(struct extract_symbols *symbols)
{
    struct extract_enum one;
    const char *name;
    int64_t value;
    for (size_t i = 0; i < 4096 && extract_symbols_enum(symbols, i, &one); i++) {
        check(one.count > 0 && one.name);
        for (size_t k = 0; k < one.count; k++)
            check(extract_symbols_enumerator(symbols, &one, k, &name, &value) && *name);
        check(!extract_symbols_enumerator(symbols, &one, one.count, &name, &value));
        (void)extract_symbols_has_text(symbols, one.name);
    }
}

static void take_value(void *context, uint64_t value)
{
    size_t *count = context;
    ++*count;
    (void)value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = {"outer", "struct outer_tag", "union both", "loop", "u32"};
    static const char *const variables[] = {"object", "hidden"};
    struct extract_symbols *symbols;
    struct extract_symbol symbol;
    struct extract_error error;
    size_t cache = 0;

    if (extract_symbols_open_bytes(&symbols, "fuzz", data, size, &error) != EXTRACT_OK) {
        check(!symbols && error.why[0]);
        return 0;
    }
    for (uint64_t address = 0; address < 0x400; address += 13)
        ask_address(symbols, address, &cache);
    if (extract_symbols_by_name(symbols, "work", &symbol))
        for (uint64_t offset = 0; offset < 64; offset += 3) {
            ask_address(symbols, symbol.address + offset, &cache);
            ask_callers(symbols, symbol.address + offset);
        }
    // Asks inside of variables, whose members have names.
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (extract_symbols_by_name(symbols, variables[i], &symbol)) {
            struct extract_inner inner;
            if (extract_symbols_inner(symbols, symbol.address, "b", "a", true, &inner))
                check(inner.is_indirect || !inner.pointer);
            for (uint64_t offset = 0; offset < 40; offset += 4)
                ask_address(symbols, symbol.address + offset, &cache);
        }
    ask_address(symbols, UINT64_MAX, &cache);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        ask_type(symbols, types[i]);
    ask_enums(symbols);
    size_t count = 0;
    extract_symbols_constants(symbols, "u32", take_value, &count);
    check(count <= 1u << 16);
    extract_symbols_close(symbols);
    return 0;
}
