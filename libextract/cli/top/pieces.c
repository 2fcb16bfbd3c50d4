// SPDX-License-Identifier: MIT
// cli/top: the window over a recording of a stream, whose entries differ in length. In: its blocks.
// Out: the newest of them, as a log in memory, which is read as any other.
#define _GNU_SOURCE // memfd_create
#include "cli/top/top.h"
#include <errno.h>
#include "base/grow.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SECTION = 1024 * 1024 }; // bytes of that log's

static struct top_piece *piece_at(struct top_pieces *pieces, size_t i)
{
    return &pieces->list[pieces->oldest + i];
}

static void drop_oldest(struct top_pieces *pieces)
{
    struct top_piece *piece = piece_at(pieces, 0);
    pieces->bytes -= piece->block.length;
    pieces->entries -= piece->block.count;
    free(piece->payload);
    pieces->oldest++;
    pieces->count--;
}

void top_pieces_shrink(struct top_pieces *pieces, uint64_t entries)
{
    while (pieces->count && pieces->entries > entries)
        drop_oldest(pieces);
}

void top_pieces_clear(struct top_pieces *pieces)
{
    while (pieces->count)
        drop_oldest(pieces);
    pieces->oldest = 0;
}

void top_pieces_free(struct top_pieces *pieces)
{
    top_pieces_clear(pieces);
    free(pieces->list);
    *pieces = (struct top_pieces){.list = NULL};
}

// Room for one more: what was dropped in front makes room first.
static bool make_room(struct top_pieces *pieces)
{
    if (pieces->oldest > pieces->room / 2 && pieces->oldest + pieces->count == pieces->room) {
        memmove(pieces->list, piece_at(pieces, 0), pieces->count * sizeof *pieces->list);
        pieces->oldest = 0;
        return true;
    }
    struct top_piece *list =
        extract_grow(pieces->list, &pieces->room, pieces->oldest + pieces->count, sizeof *list);
    pieces->list = list ? list : pieces->list;
    return list != NULL;
}

bool top_pieces_put(struct top_pieces *pieces, const struct extract_log_block *block,
                    const void *payload)
{
    uint8_t *copy = malloc((size_t)block->length + 1);
    if (!copy || !make_room(pieces)) {
        free(copy);
        return false;
    }
    if (block->length)
        memcpy(copy, payload, block->length);
    *piece_at(pieces, pieces->count++) = (struct top_piece){*block, copy};
    pieces->bytes += block->length;
    pieces->entries += block->count;
    while (pieces->bytes > TOP_BYTES)
        drop_oldest(pieces);
    return true;
}

static enum extract_code put_registry(const struct top_window *window,
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

static enum extract_code put_all(const struct top_window *window, struct extract_log_writer *writer,
                                 struct extract_error *error)
{
    const struct top_pieces *pieces = &window->pieces;
    enum extract_code code = extract_log_put_ring(writer, &window->ring, error);
    code = code ? code : put_registry(window, writer, error);
    for (size_t i = 0; !code && i < pieces->count; i++) {
        const struct top_piece *piece = &pieces->list[pieces->oldest + i];
        code = extract_log_put(writer, &piece->block, piece->payload, error);
    }
    return code;
}

static enum extract_code write_log(const struct top_window *window, int fd,
                                   struct extract_error *error)
{
    const struct extract_log_options options = {
        .size = sizeof options, .policy = EXTRACT_LOG_APPEND, .section_bytes = SECTION};
    struct extract_log_writer *writer;
    enum extract_code code = extract_log_create_fd(&writer, fd, &options, error);
    if (code)
        return code;
    code = put_all(window, writer, error);
    enum extract_code closed = extract_log_close(writer, code ? NULL : error);
    return code ? code : closed;
}

enum extract_code top_window_log(const struct top_window *window, struct extract_log **log,
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
