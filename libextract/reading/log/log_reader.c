// SPDX-License-Identifier: MIT
// log: the reader. It opens a file, which may be damaged, hostile, or growing, and returns its
// blocks in the order of writing, and the state of the log as a whole.
//
// Opening reads all headers but no entries: sections.c finds the sections, and log_walk.c the
// blocks in them. extract_log_read then reads and verifies one payload at a time.
#include "base/file.h"
#include "base/line_ends.h"
#include "base/printable.h"
#include "log/lock.h"
#include "log/log_room.h"
#include "log/log_block.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// ---- Opening ----

// Opens the log's path, or duplicates the descriptor `fd`.
static enum extract_code open_file(struct extract_log *log, int fd, struct extract_error *error)
{
    struct stat st;

    // O_NONBLOCK: opening a FIFO must not wait for a writer.
    log->fd = log->is_descriptor ? fcntl(fd, F_DUPFD_CLOEXEC, 0)
                                 : open(log->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (log->fd < 0 || fstat(log->fd, &st) != 0)
        return extract_file_error(log->path, NULL, error);
    if (!S_ISREG(st.st_mode))
        return extract_error_set(error, EXTRACT_USAGE, log->path, "use the name of a file",
                                 "a log is read from a regular file only");
    log->size = (uint64_t)st.st_size;
    return EXTRACT_OK;
}

// Escapes control characters in the creator's name, which is a foreign text.
static void escape_creator(struct extract_log *log)
{
    struct extract_error clean;
    char text[LOG_CREATOR + 1] = {0};

    memcpy(text, log->status.creator, LOG_CREATOR);
    extract_error_set(&clean, EXTRACT_OK, text, NULL, "%s", "");
    snprintf(log->status.creator, sizeof log->status.creator, "%.*s", LOG_CREATOR - 1, clean.what);
}

static enum extract_code read_index(struct extract_log *log, int fd, struct extract_error *error)
{
    enum extract_code code = open_file(log, fd, error);

    if (!code && !log->is_descriptor)
        code = extract_log_is_locked(&log->status.writing, log->path, error);
    log->status.writing = log->status.writing || (!code && extract_log_file_is_locked(log->fd));
    if (!code)
        code = extract_log_find_sections(log, error);
    if (!code)
        code = extract_log_walk(log, error);
    if (code || log->status.damaged || log->status.cut) {
        struct extract_line_ends ends = {0};
        extract_line_ends_add_file(&ends, log->fd, log->size);
        log->status.converted = extract_line_ends_are_likely(&ends);
        code = code ? extract_line_ends_explain(&ends, code, error) : code;
    }
    if (code)
        return code;
    // A log that is being written is never truncated: its end is wherever its writer is.
    log->status.cut = log->status.cut && !log->status.writing;
    escape_creator(log);
    return EXTRACT_OK;
}

static enum extract_code open_log(struct extract_log **log, const char *path, int fd,
                                  struct extract_error *error)
{
    const char *called = path ? path : LOG_GIVEN;

    *log = NULL;
    struct extract_log *l = calloc(1, sizeof *l);
    char *name = l ? extract_log_path(called, "") : NULL;
    if (!name) {
        free(l);
        return extract_error_set(error, EXTRACT_NOMEM, called, NULL, "out of memory");
    }
    l->fd = -1;
    l->path = name;
    l->is_descriptor = !path;
    enum extract_code code = read_index(l, fd, error);
    if (code)
        extract_log_free(l);
    else
        *log = l;
    return code;
}

enum extract_code extract_log_open(struct extract_log **log, const char *path,
                                   struct extract_error *error)
{
    return open_log(log, path, -1, error);
}

enum extract_code extract_log_open_fd(struct extract_log **log, int fd, struct extract_error *error)
{
    return open_log(log, NULL, fd, error);
}

static void free_index(struct extract_log *log)
{
    if (log->fd >= 0)
        close(log->fd);
    free(log->sections);
    free(log->blocks);
}

enum extract_code extract_log_again(struct extract_log *log, struct extract_error *error)
{
    struct extract_log now = {.fd = -1, .path = log->path, .is_descriptor = log->is_descriptor};
    enum extract_code code = read_index(&now, log->fd, error);
    free_index(code ? &now : log);
    if (!code)
        *log = now;
    return code;
}

void extract_log_free(struct extract_log *log)
{
    if (!log)
        return;
    free_index(log);
    free(log->path);
    free(log);
}

bool extract_log_program(const struct extract_log *log, uint64_t *entry)
{
    *entry = log->entry;
    return log->has_program && !log->program_moved;
}

const char *extract_log_name(const struct extract_log *log)
{
    return log->path;
}

const struct extract_log_status *extract_log_status(const struct extract_log *log)
{
    return &log->status;
}

// ---- Blocks ----

// Returns the section that contains block i: the last one whose first block is i or before.
static const struct log_section *section_of(const struct extract_log *log, size_t i)
{
    size_t low = 0, high = log->section_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (log->sections[middle].first <= i)
            low = middle;
        else
            high = middle;
    }
    return &log->sections[low];
}

bool extract_log_block_at(struct extract_log *log, size_t i, struct extract_log_block *block)
{
    if (i >= log->count)
        return false;
    const struct log_section *section = section_of(log, i);
    uint64_t bytes = log->status.section_bytes, start = section->place * bytes;
    uint64_t offset = start + (uint64_t)(log->blocks[i] & ~LOG_DAMAGED) * 8;
    if (!extract_log_head_at(log, block, offset, start + bytes, section->number, 0, UINT64_MAX))
        memset(block, 0, sizeof *block);
    block->offset = offset;
    block->index = i;
    return true;
}

// Removes a block from the counts, once. Returns false if it was removed before.
static bool remove_from_counts(struct extract_log *log, const struct extract_log_block *block)
{
    struct extract_log_status *s = &log->status;

    if (block->index >= log->count || (log->blocks[block->index] & LOG_DAMAGED))
        return false;
    log->blocks[block->index] |= LOG_DAMAGED;
    s->blocks--;
    if (extract_log_holds_entries(block))
        s->entries = s->entries > block->count ? s->entries - block->count : 0;
    if (block->type == EXTRACT_LOG_LOSS)
        s->lost = s->lost > block->lost ? s->lost - block->lost : 0;
    return true;
}

static bool is_same_header(const struct extract_log_block *a, const struct extract_log_block *b)
{
    return a->number == b->number && a->section == b->section && a->type == b->type &&
           a->length == b->length && a->count == b->count && a->first == b->first;
}

bool extract_log_is_overwritten(const struct extract_log *log,
                                const struct extract_log_block *block)
{
    uint8_t head[LOG_HEAD];
    struct extract_log_block now;
    const struct iovec span = {head, sizeof head};

    if (!log->status.writing || log->status.policy != EXTRACT_LOG_LOOP)
        return false;
    return !extract_log_fetch(log->fd, &span, 1, block->offset) ||
           !extract_log_decode(&now, head) || !is_same_header(&now, block);
}

void extract_log_count_unwhole(struct extract_log *log, const struct extract_log_block *block)
{
    struct extract_log_status *s = &log->status;

    if (extract_log_is_overwritten(log, block)) {
        s->dropped++;
        return;
    }
    s->damaged++;
    s->damaged_of[block->type < EXTRACT_LOG_TYPES ? block->type : 0]++;
    s->damaged_bytes += extract_log_size(block->length);
}

// Sets the error of a block that is not available: dropped by the writer of a LOOP log, or damaged.
static enum extract_code refuse(struct extract_log *log, const struct extract_log_block *block,
                                struct extract_error *error)
{
    bool is_gone = block->type == EXTRACT_LOG_GONE && log->status.policy == EXTRACT_LOG_LOOP;

    if (is_gone || extract_log_is_overwritten(log, block)) {
        log->status.dropped += remove_from_counts(log, block);
        return extract_error_set(error, EXTRACT_ABSENT, log->path, NULL,
                                 "block %llu was dropped by the log's writer",
                                 (unsigned long long)block->number);
    }
    if (remove_from_counts(log, block))
        extract_log_count_unwhole(log, block);
    extract_error_set(error, EXTRACT_BAD, log->path, NULL,
                      "block %llu at offset %llu is damaged (wrong checksum)",
                      (unsigned long long)block->number, (unsigned long long)block->offset);
    if (error)
        error->where = block->offset;
    return EXTRACT_BAD;
}

// Reads spans: small blocks through the window, large ones directly into their buffers.
static bool fetch(struct extract_log *log, uint64_t offset, const struct iovec *spans, int count)
{
    size_t all = 0;

    for (int i = 0; i < count; i++)
        all += spans[i].iov_len;
    const uint8_t *bytes = all <= LOG_NEAR ? extract_log_peek(log, offset, all) : NULL;
    if (!bytes)
        return extract_log_fetch(log->fd, spans, count, offset);
    for (int i = 0; i < count; bytes += spans[i].iov_len, i++)
        if (spans[i].iov_len)
            memcpy(spans[i].iov_base, bytes, spans[i].iov_len);
    return true;
}

enum extract_code extract_log_read(struct extract_log *log, const struct extract_log_block *block,
                                   void *buffer, struct extract_error *error)
{
    uint8_t head[LOG_HEAD], tail[8] = {0};
    struct extract_log_block now;
    size_t whole = block->length / 8 * 8, rest = block->length % 8;
    struct iovec spans[] = {{head, sizeof head}, {buffer, whole}, {tail, rest ? sizeof tail : 0}};

    if (block->type == EXTRACT_LOG_GONE && log->status.policy == EXTRACT_LOG_LOOP)
        return refuse(log, block, error);
    bool had = fetch(log, block->offset, spans, 3);
    if (!had && errno)
        return extract_file_error(log->path, NULL, error);
    if (rest)
        memcpy((uint8_t *)buffer + whole, tail, rest);
    bool same = had && extract_log_decode(&now, head) && is_same_header(&now, block);
    struct log_sums sums = extract_log_sum_head(head);
    if (whole)
        extract_log_sum(&sums, buffer, whole);
    if (rest)
        extract_log_sum(&sums, tail, sizeof tail);
    if (same && extract_log_sums_are(&sums, head))
        return EXTRACT_OK;
    return refuse(log, block, error);
}

size_t extract_log_seek(struct extract_log *log, uint64_t wall)
{
    struct extract_log_block block;
    size_t low = 0, high = log->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        // A block that has been overwritten was older than all that remain.
        if (extract_log_block_at(log, middle, &block) && block.wall >= wall)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
