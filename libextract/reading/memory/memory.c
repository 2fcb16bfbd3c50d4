// SPDX-License-Identifier: MIT
// memory: the one interface to target memory, whatever it comes from: images of files, a live
// target, or a callback of the program that uses the library. Every read is counted and timed, so
// that a report can state what it has cost.
#include "base/now.h"
#include "memory/images.h"
#include "memory/live/live_memory.h"
#include "memory/memory_hooks.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct extract_memory {
    struct extract_memory_source source; // `source.name` points to the member `name` below
    struct extract_memory_cost cost;
    char name[];
};

enum extract_code extract_memory_new(struct extract_memory **memory,
                                     const struct extract_memory_source *source,
                                     struct extract_error *error)
{
    const char *name = source->name ? source->name : "target memory";
    size_t size = strlen(name) + 1;
    struct extract_memory *m = calloc(1, sizeof *m + size);

    *memory = m;
    if (!m)
        return extract_error_set(error, EXTRACT_NOMEM, name, NULL, "out of memory");
    memcpy(m->name, name, size);
    m->source = *source;
    m->source.name = m->name;
    return EXTRACT_OK;
}

struct extract_images *extract_images_of(const struct extract_memory *memory)
{
    return memory->source.read == extract_images_read ? memory->source.context : NULL;
}

struct live *live_of(const struct extract_memory *memory)
{
    return memory->source.read == live_read ? memory->source.context : NULL;
}

// Calls the source once and counts the call.
static size_t read_source(struct extract_memory *memory, uint64_t address, void *buffer,
                          size_t length)
{
    uint64_t start = extract_now();
    size_t n = memory->source.read(memory->source.context, address, buffer, length);

    memory->cost.nanoseconds += extract_now() - start;
    if (n > length)
        n = length; // a source with a bug must not make the caller read past the buffer
    memory->cost.reads++;
    memory->cost.bytes += n;
    memory->cost.failed += n < length;
    return n;
}

static enum extract_code unreadable(const struct extract_memory *memory, uint64_t address,
                                    uint64_t at, struct extract_error *error)
{
    const char *hint = extract_images_of(memory)
                           ? "pass the image that holds this address, too"
                           : "check the address, and that the target is connected and stopped";
    const struct extract_memory_source *source = &memory->source;

    if (!error) // while memory is searched, most reads fail and the text is not needed
        return EXTRACT_UNREADABLE;
    if (at >= address && source->explain && source->explain(source->context, at, error))
        error->code = EXTRACT_UNREADABLE;
    else if (at < address)
        extract_error_set(error, EXTRACT_UNREADABLE, extract_memory_name(memory), NULL,
                          "the read at 0x%" PRIx64 " runs past the end of the address space",
                          address);
    else
        extract_error_set(error, EXTRACT_UNREADABLE, extract_memory_name(memory), hint,
                          "no memory can be read at 0x%" PRIx64, at);
    error->where = at;
    return EXTRACT_UNREADABLE;
}

enum extract_code extract_memory_read(struct extract_memory *memory, uint64_t address, void *buffer,
                                      size_t length, size_t *got, struct extract_error *error)
{
    const struct extract_images *images = extract_images_of(memory);
    uint64_t space = address ? 0 - address : UINT64_MAX; // bytes up to the end of the address space
    size_t end = length < space ? length : (size_t)space;

    *got = 0;
    while (*got < end) {
        uint64_t at = address + *got;
        size_t part = end - *got;
        if (images)
            part = extract_images_extent(images, at, part);
        size_t n = read_source(memory, at, (uint8_t *)buffer + *got, part);
        *got += n;
        if (n < part)
            break;
    }
    return *got == length ? EXTRACT_OK : unreadable(memory, address, address + *got, error);
}

enum extract_code extract_memory_write(struct extract_memory *memory, uint64_t address,
                                       const void *bytes, size_t length,
                                       struct extract_error *error)
{
    const struct extract_memory_source *source = &memory->source;

    if (!source->write)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, extract_memory_name(memory), NULL,
                                 "only a live target can be written to");
    size_t done = source->write(source->context, address, bytes, length);
    if (done >= length)
        return EXTRACT_OK;
    if (!error)
        return EXTRACT_UNREADABLE;
    if (!source->explain || !source->explain(source->context, address + done, error))
        extract_error_set(error, EXTRACT_UNREADABLE, extract_memory_name(memory), NULL,
                          "no memory can be written at 0x%" PRIx64, address + done);
    error->where = address + done;
    return error->code = EXTRACT_UNREADABLE;
}

bool extract_memory_region(const struct extract_memory *memory, size_t i,
                           struct extract_region *region)
{
    const struct extract_images *images = extract_images_of(memory);

    if (memory->source.region)
        return memory->source.region(memory->source.context, i, region);
    if (!images || i >= images->count)
        return false;
    region->address = images->list[i].address;
    region->length = images->list[i].length;
    return true;
}

bool extract_memory_start(const struct extract_memory *memory, uint64_t *address)
{
    const struct extract_images *images = extract_images_of(memory);

    *address = images ? images->start : memory->source.start;
    return images ? images->starts : memory->source.starts;
}

uint64_t extract_memory_missing(const struct extract_memory *memory)
{
    const struct extract_images *images = extract_images_of(memory);

    return images ? images->missing : 0;
}

bool extract_memory_is_part(const struct extract_memory *memory)
{
    const struct extract_images *images = extract_images_of(memory);

    return images && images->is_part;
}

const char *extract_memory_remark(const struct extract_memory *memory, size_t i)
{
    const struct extract_images *images = extract_images_of(memory);

    return images && i < EXTRACT_REMARKS ? images->remarks[i] : NULL;
}

enum extract_byte_order extract_memory_byte_order(const struct extract_memory *memory)
{
    const struct extract_images *images = extract_images_of(memory);
    return images ? images->byte_order : memory->source.byte_order;
}

bool extract_memory_is_running(const struct extract_memory *memory)
{
    const struct extract_memory_source *source = &memory->source;

    return source->is_running ? source->is_running(source->context) : source->running;
}

bool extract_memory_has_ended(const struct extract_memory *memory)
{
    const struct extract_memory_source *source = &memory->source;

    return source->has_ended && source->has_ended(source->context);
}

const char *extract_memory_name(const struct extract_memory *memory)
{
    const struct extract_images *images = extract_images_of(memory);

    return images && images->name ? images->name : memory->name;
}

struct extract_memory_cost extract_memory_cost(const struct extract_memory *memory)
{
    return memory->cost;
}

void extract_memory_close(struct extract_memory *memory)
{
    if (!memory)
        return;
    if (memory->source.close)
        memory->source.close(memory->source.context);
    free(memory);
}
