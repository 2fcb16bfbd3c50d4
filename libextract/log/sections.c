// SPDX-License-Identifier: MIT
// log: which sections a file holds. In: a file. Out: a table in the order of their numbers, and
// what the newest one says of the log.
#define _GNU_SOURCE // SEEK_DATA
#include "log/room.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FACTS_MOST = 4096 - LOG_HEAD };

// A section begins within the first 4 GiB, or this is no log.
#define SEARCH_MOST (UINT64_C(4) << 30)

// The next multiple of `step` from `offset` (which is one) on with data behind it, or the file's
// size: a file that claims to be large may be one large hole.
static uint64_t next_data(const struct extract_log *log, uint64_t offset, uint64_t step)
{
    off_t data = offset < log->size ? lseek(log->fd, (off_t)offset, SEEK_DATA) : -1;
    if (data < 0)
        return offset < log->size && errno != ENXIO ? offset : log->size;
    return (uint64_t)data > offset ? (uint64_t)data / step * step : offset;
}

// The SECTION block at an offset, when it is whole.
static bool section_at(struct extract_log *log, uint64_t offset, struct extract_log_block *block,
                       struct log_facts *facts)
{
    const uint8_t *bytes = extract_log_peek(log, offset, LOG_HEAD);
    if (!bytes || !extract_log_decode(block, bytes) || block->type != EXTRACT_LOG_SECTION ||
        block->length > FACTS_MOST)
        return false;
    block->offset = offset;
    if (!extract_log_verify(log, block, NULL))
        return false;
    bytes = extract_log_peek(log, offset + LOG_HEAD, block->length);
    return bytes && extract_log_facts_decode(facts, bytes, block->length);
}

// The first whole SECTION block, which tells how long sections are.
static enum extract_code find_first(struct extract_log *log, struct log_facts *facts,
                                    struct extract_error *error)
{
    struct extract_log_block block;
    uint64_t most = log->size < SEARCH_MOST ? log->size : SEARCH_MOST;
    for (uint64_t at = 0; at < most;) {
        if (section_at(log, at, &block, facts)) {
            if (facts->version > LOG_VERSION)
                return extract_error_set(error, EXTRACT_UNSUPPORTED, log->path,
                                         "use a later ringside",
                                         "the log has the layout %lu, which is not known",
                                         (unsigned long)facts->version);
            if (at % facts->section_bytes == 0)
                return EXTRACT_OK;
        }
        at = next_data(log, at + LOG_SECTION_STEP, LOG_SECTION_STEP);
    }
    return extract_error_set(error, EXTRACT_BAD, log->path, "is this a file of ringside record?",
                             "no section of a trace log is whole in it");
}

static enum extract_code add(struct extract_log *log, const struct log_section *section,
                             struct extract_error *error)
{
    struct log_section *sections =
        extract_grow(log->sections, &log->section_room, log->section_count, sizeof *sections);
    if (!sections)
        return extract_error_set(error, EXTRACT_NOMEM, log->path, NULL, "out of memory");
    log->sections = sections;
    log->sections[log->section_count++] = *section;
    return EXTRACT_OK;
}

static void adopt(struct extract_log *log, const struct log_facts *facts)
{
    struct extract_log_status *s = &log->status;
    s->policy = facts->policy;
    s->limit = facts->limit;
    s->created = facts->created;
    if (facts->byte_order)
        s->byte_order = facts->byte_order;
    memcpy(s->creator, facts->creator, sizeof s->creator);
    log->turn = facts->sections;
}

// Whether a whole section of this log begins at an offset, and its blocks may lie up to `end`.
static bool begins_at(struct extract_log *log, uint64_t at, uint64_t end,
                      struct extract_log_block *block, struct log_facts *facts)
{
    return section_at(log, at, block, facts) && extract_log_size(block->length) <= end - at &&
           facts->section_bytes == log->status.section_bytes && facts->version == LOG_VERSION;
}

// Whether the writer of a SECTION block continued a log that ended in the section before.
static bool continues(const struct extract_log *log, const struct extract_log_block *block)
{
    return block->value && block->value <= block->offset &&
           block->offset - block->value < log->status.section_bytes;
}

// What a section's blocks lie in front of: its own end, that of the file, or that which the file
// had when the log was continued behind it. What was appended since decides nothing about them.
static uint64_t end_at(struct extract_log *log, uint64_t at)
{
    struct extract_log_block next;
    struct log_facts facts;
    uint64_t bytes = log->status.section_bytes;
    if (log->size - at <= bytes)
        return log->size;
    if (begins_at(log, at + bytes, UINT64_MAX, &next, &facts) && continues(log, &next))
        return next.value;
    return at + bytes;
}

// What lies at a place: a section; one whose SECTION block is gone, when there are blocks of one;
// or nothing.
static enum extract_code look(struct extract_log *log, uint64_t place, uint64_t *newest,
                              struct extract_error *error)
{
    struct extract_log_block block;
    struct log_facts facts;
    uint64_t at = place * log->status.section_bytes, end = end_at(log, at);
    bool whole = begins_at(log, at, end, &block, &facts);
    if (!whole && !extract_log_next_head(log, &block, at, end, NULL, 0, 0)) {
        log->blank += end - at;
        return EXTRACT_OK;
    }
    log->status.damaged_bytes += log->blank;
    log->blank = 0;
    struct log_section section = {.number = block.section,
                                  .place = place,
                                  .end = end,
                                  .headless = !whole,
                                  .continues = whole && continues(log, &block)};
    if (whole && (!log->section_count || block.section >= *newest)) {
        adopt(log, &facts);
        *newest = block.section;
    }
    return add(log, &section, error);
}

static int by_number(const void *a, const void *b)
{
    const struct log_section *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

// A section number stands once in a log.
static void drop_twins(struct extract_log *log)
{
    size_t kept = 1;
    for (size_t i = 1; i < log->section_count; i++) {
        if (log->sections[i].number == log->sections[kept - 1].number)
            log->status.damaged++;
        else
            log->sections[kept++] = log->sections[i];
    }
    log->section_count = kept;
}

enum extract_code extract_log_find_sections(struct extract_log *log, struct extract_error *error)
{
    struct log_facts facts;
    uint64_t newest = 0;
    enum extract_code code = find_first(log, &facts, error);
    if (code)
        return code;
    log->status.section_bytes = facts.section_bytes;
    adopt(log, &facts);
    for (uint64_t at = 0; at < log->size && !code;) {
        code = look(log, at / facts.section_bytes, &newest, error);
        at = next_data(log, at + facts.section_bytes, facts.section_bytes);
    }
    if (code)
        return code;
    if (log->section_count) {
        qsort(log->sections, log->section_count, sizeof *log->sections, by_number);
        drop_twins(log);
    }
    return EXTRACT_OK;
}
