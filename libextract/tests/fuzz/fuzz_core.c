// SPDX-License-Identifier: MIT
// fuzz: the bytes of a file that is memory: an ELF core, a .trx, Intel HEX, S-records, a dump as
// text or one of CrashCatcher.
//
// Nothing may crash, leak or hang. In addition, regions are sorted and disjoint, and contain no
// more than the file. Each region can be read to its last byte, and ends where it claims to end.
#include "memory/core_dump.h"
#include "session/input_kinds.h"
#include "memory/memory_hooks.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static bool is_held(const struct extract_memory *memory, uint64_t address)
{
    struct extract_region region;
    for (size_t i = 0; extract_memory_region(memory, i, &region); i++)
        if (address - region.address < region.length)
            return true;
    return false;
}

// Reads a region and one more byte.
static void ask_region(struct extract_memory *memory, const struct extract_region *region)
{
    size_t length = (size_t)region->length, got = 0;
    uint8_t *buffer = malloc(length + 1);
    struct extract_error error;
    uint64_t behind = region->address + region->length;
    if (!buffer)
        return;
    check(extract_memory_read(memory, region->address, buffer, length, &got, &error) == EXTRACT_OK);
    check(got == length);
    enum extract_code code =
        extract_memory_read(memory, region->address, buffer, length + 1, &got, &error);
    bool more = behind != 0 && is_held(memory, behind);
    check(code == (more ? EXTRACT_OK : EXTRACT_UNREADABLE));
    check(more || (got == length && error.where == behind));
    free(buffer);
}

static void ask_core(const struct extract_core *core, size_t size)
{
    unsigned sum = 0;
    for (size_t i = 0; core && i < core->note_count; i++) {
        check(core->notes[i].length <= size);
        for (size_t n = 0; n < core->notes[i].length && n < 64; n++)
            sum += core->notes[i].bytes[n];
    }
    check(sum <= size * 255 * 64);
    uint64_t entry;
    if (core)
        extract_core_entry(core, &entry);
}

static void ask(struct extract_memory *memory, size_t size)
{
    struct extract_region region;
    uint64_t next = 0; // the lowest address of the next region
    for (size_t i = 0; extract_memory_region(memory, i, &region); i++) {
        check(region.length > 0 && region.length <= size);
        check(i == 0 || (next && region.address >= next));
        next = region.address + region.length;
        check(next == 0 || next > region.address);
        if (i < 32)
            ask_region(memory, &region);
    }
    ask_core(extract_core_of(memory), size);
}

static extract_loader *loader_of(const char *kind)
{
    static const struct {
        const char *kind;
        extract_loader *load;
    } loaders[] = {
        {"core", extract_core_load},
        {"elf", extract_core_load},
        {"trx", extract_trx_load},
        {"ihex", extract_hex_load},
        {"srec", extract_srec_load},
        {"raw", extract_raw_load},
        {"hook", extract_hooks_load},
        {"hookstream", extract_raw_load},
        {"rkhring", extract_raw_load},
        {"ptr", extract_raw_load},
        {"log", extract_raw_load},
        {"text", extract_text_dump_load},
        {"crashcatcher", extract_crashcatcher_load}}; // streams, their dumps and logs: not memory
    for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++)
        if (strcmp(kind, loaders[i].kind) == 0)
            return loaders[i].load;
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct extract_memory *memory = NULL;
    struct extract_error error = {0};
    struct extract_input input = {.name = "input", .length = size};
    const char *kind = extract_kind_of(data, size);
    input.bytes = malloc(size ? size : 1);
    if (!input.bytes || extract_memory_new_images(&memory, NULL))
        abort();
    if (size)
        memcpy(input.bytes, data, size);
    enum extract_code code = loader_of(kind)(extract_images_of(memory), &input, &error);
    check(code == error.code);
    check(code == EXTRACT_OK || (error.what[0] && error.why[0]));
    free(input.bytes);
    // Lines of "*" in a text stand for up to 16 MiB.
    ask(memory, size + (strcmp(kind, "text") == 0 ? 16 << 20 : 0));
    extract_memory_close(memory);
    return 0;
}
