// SPDX-License-Identifier: MIT
// cli/top: the newest blocks of a byte ring, whose entries have different lengths.
//
// Blocks are kept whole. To be decoded, they are written to a log in memory, which is then read
// like any other log.
#define _GNU_SOURCE // memfd_create
#include "base/grow.h"
#include "cli/top/top.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SECTION_BYTES = 1024 * 1024 }; // of the log in memory

static struct top_block *block_at(struct top_blocks *blocks, size_t i)
{
    return &blocks->list[blocks->oldest + i];
}

static void drop_oldest(struct top_blocks *blocks)
{
    struct top_block *entry = block_at(blocks, 0);

    blocks->bytes -= entry->block.length;
    blocks->entries -= entry->block.count;
    free(entry->payload);
    blocks->oldest++;
    blocks->count--;
}

void top_blocks_shrink(struct top_blocks *blocks, uint64_t max_entries)
{
    while (blocks->count && blocks->entries > max_entries)
        drop_oldest(blocks);
}

void top_blocks_clear(struct top_blocks *blocks)
{
    while (blocks->count)
        drop_oldest(blocks);
    blocks->oldest = 0;
}

void top_blocks_free(struct top_blocks *blocks)
{
    top_blocks_clear(blocks);
    free(blocks->list);
    *blocks = (struct top_blocks){.list = NULL};
}

// Makes capacity for one more block. If the list is full and more than half of it was dropped, the
// rest moves to its start. Otherwise the list grows if it must. Returns false if memory is short.
static bool make_capacity(struct top_blocks *blocks)
{
    if (blocks->oldest > blocks->capacity / 2 &&
        blocks->oldest + blocks->count == blocks->capacity) {
        memmove(blocks->list, block_at(blocks, 0), blocks->count * sizeof *blocks->list);
        blocks->oldest = 0;
        return true;
    }
    struct top_block *list =
        extract_grow(blocks->list, &blocks->capacity, blocks->oldest + blocks->count, sizeof *list);
    blocks->list = list ? list : blocks->list;
    return list != NULL;
}

bool top_blocks_append(struct top_blocks *blocks, const struct extract_log_block *block,
                       const void *payload)
{
    uint8_t *copy = malloc((size_t)block->length + 1);

    if (!copy || !make_capacity(blocks)) {
        free(copy);
        return false;
    }
    if (block->length)
        memcpy(copy, payload, block->length);
    *block_at(blocks, blocks->count++) = (struct top_block){*block, copy};
    blocks->bytes += block->length;
    blocks->entries += block->count;
    while (blocks->bytes > TOP_MAX_BYTES)
        drop_oldest(blocks);
    return true;
}

static enum extract_code write_registry(const struct top_window *window,
                                        struct extract_log_writer *writer,
                                        struct extract_error *error)
{
    const struct extract_log_block names = {.type = EXTRACT_LOG_NAMES,
                                            .length = (uint32_t)window->registry_bytes};

    if (!window->registry)
        return EXTRACT_OK;
    if (window->has_names)
        return extract_log_put(writer, &names, window->registry, error);
    return extract_log_put_objects(writer, window->ring.registry.start, window->registry,
                                   window->registry_bytes, error);
}

static enum extract_code write_log(const struct top_window *window, int fd,
                                   struct extract_error *error)
{
    const struct extract_log_options options = {
        .size = sizeof options, .policy = EXTRACT_LOG_APPEND, .section_bytes = SECTION_BYTES};
    const struct top_blocks *blocks = &window->blocks;
    struct extract_log_writer *writer;
    enum extract_code code = extract_log_create_fd(&writer, fd, &options, error);

    if (code)
        return code;
    code = extract_log_put_ring(writer, &window->ring, error);
    code = code ? code : write_registry(window, writer, error);
    for (size_t i = 0; !code && i < blocks->count; i++) {
        const struct top_block *entry = &blocks->list[blocks->oldest + i];
        code = extract_log_put(writer, &entry->block, entry->payload, error);
    }
    enum extract_code closed = extract_log_close(writer, code ? NULL : error);
    return code ? code : closed;
}

enum extract_code top_window_make_log(const struct top_window *window, struct extract_log **log,
                                      struct extract_error *error)
{
    int fd = memfd_create("ringside-top", MFD_CLOEXEC);

    *log = NULL;
    if (fd < 0)
        return extract_error_set(error, EXTRACT_IO, "window", NULL, "%s", strerror(errno));
    enum extract_code code = write_log(window, fd, error);
    code = code ? code : extract_log_open_fd(log, fd, error);
    close(fd);
    return code;
}
