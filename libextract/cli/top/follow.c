// SPDX-License-Identifier: MIT
// cli/top: a log that is being written. In: its blocks, those that are new since the last look.
// Out: the same blocks into the window; of entries, only those that it can hold.
#include "cli/top/top.h"
#include "formats/format.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Whether the log has changed since it was read; an error shows when it is opened.
static bool has_changed(struct top_source *source)
{
    struct stat now;

    if (stat(source->path, &now))
        return true;
    int64_t changed[3] = {now.st_size, now.st_mtim.tv_sec, now.st_mtim.tv_nsec};
    bool same = memcmp(changed, source->changed, sizeof changed) == 0;
    memcpy(source->changed, changed, sizeof changed);
    return !same || source->writing || source->unreadable; // its writer may have gone
}

// Counts the blocks, and finds when the newest of them was read from the target.
static size_t survey(struct extract_log *log, uint64_t *wall)
{
    struct extract_log_block block;
    size_t blocks = 0;

    *wall = 0;
    while (extract_log_block_at(log, blocks, &block)) {
        *wall = extract_log_holds_entries(&block) ? block.wall : *wall;
        blocks++;
    }
    return blocks;
}

// The block from which on entries may find room in the window: not more than it holds, and of its
// seconds.
static size_t first_wanted(struct extract_log *log)
{
    uint64_t wall, entries = 0, span = TOP_SECONDS * EXTRACT_SECOND;
    struct extract_log_block block;
    size_t i = survey(log, &wall);
    size_t earliest = wall > span ? extract_log_seek(log, wall - span) : 0;

    for (; i > earliest && entries < TOP_ENTRIES; i--)
        if (extract_log_block_at(log, i - 1, &block) && extract_log_holds_entries(&block))
            entries += block.count;
    return i;
}

// A block that cannot be read is lost, with its entries; the window begins again behind it.
static void take_lost(struct top_source *source, const struct extract_log_block *block)
{
    if (!extract_log_holds_entries(block))
        return;
    struct extract_log_block loss = {.type = EXTRACT_LOG_LOSS,
                                     .lost = block->count,
                                     .first = block->first + block->count,
                                     .wall = block->wall};
    top_window_take(&source->window, &loss, NULL);
}

static enum extract_code take_payload(struct top_source *source,
                                      const struct extract_log_block *block, const void *payload,
                                      struct extract_error *error)
{
    struct extract_ring ring;
    const uint8_t *objects;
    uint64_t address;
    size_t length;
    enum extract_code code = EXTRACT_OK;

    switch (block->type) {
    case EXTRACT_LOG_RING:
        code = extract_log_ring(&ring, payload, block->length, error);
        if (!code && source->symbols)
            ring.format->apply_symbols(&ring, source->symbols);
        return code ? code : top_window_ring(&source->window, &ring, error);
    case EXTRACT_LOG_OBJECTS:
        code = extract_log_objects(&address, &objects, &length, payload, block->length, error);
        return code ? code : top_window_objects(&source->window, objects, length, error);
    case EXTRACT_LOG_NAMES:
        return top_window_names(&source->window, payload, block->length, error);
    default:
        top_window_take(&source->window, block, payload);
        return code;
    }
}

static enum extract_code take_block(struct top_source *source, struct extract_log *log,
                                    const struct extract_log_block *block,
                                    struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    void *payload = malloc(block->length ? block->length : 1);
    if (!payload)
        return extract_error_set(error, EXTRACT_NOMEM, source->path, NULL, "out of memory");
    if (extract_log_read(log, block, payload, NULL))
        take_lost(source, block);
    else
        code = take_payload(source, block, payload, error);
    free(payload);
    return code;
}

static enum extract_code take_blocks(struct top_source *source, struct extract_log *log,
                                     struct extract_error *error)
{
    struct extract_log_block block;
    size_t wanted = first_wanted(log);
    enum extract_code code = EXTRACT_OK;

    for (size_t i = 0; !code && extract_log_block_at(log, i, &block); i++) {
        if (block.type == EXTRACT_LOG_GONE || block.number < source->next_block)
            continue;
        source->next_block = block.number + 1;
        if (extract_log_holds_entries(&block) && i < wanted)
            top_window_skip(&source->window, &block);
        else
            code = take_block(source, log, &block, error);
    }
    return code;
}

// Another recording in a file of the same name is followed from its start.
static void begin(struct top_source *source, const struct extract_log_status *status)
{
    if (status->created == source->created)
        return;
    top_window_free(&source->window);
    source->next_block = 0;
    source->created = status->created;
}

enum extract_code top_follow_log(struct top_source *source, struct extract_error *error)
{
    struct extract_log *log;
    source->polled = extract_now();
    if (!has_changed(source))
        return EXTRACT_OK;
    enum extract_code code = extract_log_open(&log, source->path, error);
    if (code)
        return code;
    const struct extract_log_status *status = extract_log_status(log);
    source->writing = status->writing;
    source->closed = status->closed;
    begin(source, status);
    code = take_blocks(source, log, error);
    extract_log_free(log);
    return code;
}
