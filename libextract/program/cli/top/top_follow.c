// SPDX-License-Identifier: MIT
// cli/top: a log that another program writes as the source. Each poll reads the blocks that are
// new, and adds them to the window. Entries that the window could not hold are counted only.
#include "cli/top/top.h"
#include "formats/format.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Returns whether the log may have changed since the last poll. Errors are left to opening it.
static bool may_have_changed(struct top_source *source)
{
    struct stat now;

    if (stat(source->path, &now))
        return true;
    int64_t changed[3] = {now.st_size, now.st_mtim.tv_sec, now.st_mtim.tv_nsec};
    bool is_same = memcmp(changed, source->file_state, sizeof changed) == 0;
    memcpy(source->file_state, changed, sizeof changed);
    return !is_same || source->has_writer || source->is_unreadable; // the writer may have ended
}

// Returns the index of the first block whose entries the window can hold. They are among the newest
// TOP_MAX_ENTRIES, and at most TOP_MAX_SECONDS older than the newest entry.
static size_t first_wanted(struct extract_log *log)
{
    uint64_t newest_wall = 0, entries = 0, span_ns = TOP_MAX_SECONDS * EXTRACT_SECOND;
    struct extract_log_block block;
    size_t i = 0;

    for (; extract_log_block_at(log, i, &block); i++)
        newest_wall = extract_log_holds_entries(&block) ? block.wall : newest_wall;
    size_t earliest = newest_wall > span_ns ? extract_log_seek(log, newest_wall - span_ns) : 0;
    for (; i > earliest && entries < TOP_MAX_ENTRIES; i--)
        if (extract_log_block_at(log, i - 1, &block) && extract_log_holds_entries(&block))
            entries += block.count;
    return i;
}

// Reports the entries of a block that cannot be read as lost, which empties the window.
static void add_unreadable(struct top_source *source, const struct extract_log_block *block)
{
    if (!extract_log_holds_entries(block))
        return;
    struct extract_log_block loss = {.type = EXTRACT_LOG_LOSS,
                                     .lost = block->count,
                                     .first = block->first + block->count,
                                     .wall = block->wall};
    top_window_add_block(&source->window, &loss, NULL);
}

static enum extract_code add_payload(struct top_source *source,
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
        return code ? code : top_window_set_ring(&source->window, &ring, error);
    case EXTRACT_LOG_OBJECTS:
        code = extract_log_objects(&address, &objects, &length, payload, block->length, error);
        return code ? code : top_window_set_registry(&source->window, objects, length, error);
    case EXTRACT_LOG_NAMES:
        return top_window_set_names(&source->window, payload, block->length, error);
    default:
        top_window_add_block(&source->window, block, payload);
        return code;
    }
}

static enum extract_code add_block(struct top_source *source, struct extract_log *log,
                                   const struct extract_log_block *block,
                                   struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    void *payload = malloc(block->length ? block->length : 1);
    if (!payload)
        return extract_error_set(error, EXTRACT_NOMEM, source->path, NULL, "out of memory");
    if (extract_log_read(log, block, payload, NULL))
        add_unreadable(source, block);
    else
        code = add_payload(source, block, payload, error);
    free(payload);
    return code;
}

static enum extract_code add_new_blocks(struct top_source *source, struct extract_log *log,
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
            top_window_skip_block(&source->window, &block);
        else
            code = add_block(source, log, &block, error);
    }
    return code;
}

enum extract_code top_log_poll(struct top_source *source, struct extract_error *error)
{
    struct extract_log *log;
    source->polled_ns = extract_now();
    if (!may_have_changed(source))
        return EXTRACT_OK;
    enum extract_code code = extract_log_open(&log, source->path, error);
    if (code)
        return code;
    const struct extract_log_status *status = extract_log_status(log);
    source->has_writer = status->writing;
    source->is_closed = status->closed;
    if (status->created != source->created) { // a new log replaced the file: read it from its start
        top_window_free(&source->window);
        source->next_block = 0;
        source->created = status->created;
    }
    code = add_new_blocks(source, log, error);
    extract_log_free(log);
    return code;
}
