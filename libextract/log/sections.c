// SPDX-License-Identifier: MIT
// log: which sections a file holds. In: a file. Out: a table in the order of their numbers, and
// what the newest one says of the log.
#define _GNU_SOURCE // SEEK_DATA
#include "log/internal.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FACTS = 4096 - LOG_HEAD };

// A section begins within the first 4 GiB, or this is no log.
#define MAX_SEARCH (UINT64_C(4) << 30)

// The next multiple of `step` from `offset` (which is one) on with data behind it, or the file's
// size: a file that claims to be large may be one large hole.
static uint64_t next_data(const struct extract_log *log, uint64_t offset, uint64_t step)
{
    off_t data = offset < log->size ? lseek(log->fd, (off_t)offset, SEEK_DATA) : -1;
    if (data < 0)
        return offset < log->size && errno != ENXIO ? offset : log->size;
    return (uint64_t)data > offset ? (uint64_t)data / step * step : offset;
}

// Reads the SECTION block at an offset, if it is whole and a copy of the one `distance` blocks back
// (0: not a copy).
static bool read_section(struct extract_log *log, uint64_t offset, uint64_t distance,
                         struct extract_log_block *block, struct log_settings *facts)
{
    const uint8_t *bytes = extract_log_peek(log, offset, LOG_HEAD);
    if (!bytes || !extract_log_decode(block, bytes) || block->type != EXTRACT_LOG_SECTION ||
        block->copy_distance != distance || block->length > MAX_FACTS)
        return false;
    block->offset = offset;
    if (!extract_log_verify(log, block, NULL))
        return false;
    bytes = extract_log_peek(log, offset + LOG_HEAD, block->length);
    return bytes && extract_log_facts_decode(facts, bytes, block->length);
}

// Reads the SECTION block of the section that begins at an offset, or its copy.
static bool section_at(struct extract_log *log, uint64_t at, struct extract_log_block *block,
                       struct log_settings *facts)
{
    return read_section(log, at, 0, block, facts) ||
           read_section(log, at + LOG_SECTION_BLOCK, 1, block, facts);
}

// Refuses what a later version of the program may have written.
static enum extract_code check_facts(const struct extract_log *log,
                                     const struct log_settings *facts, struct extract_error *error)
{
    static const char hint[] = "use a later version of Ringside";
    if (facts->version > LOG_VERSION)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, log->path, hint,
                                 "version %lu of the log format is not supported, only 1 to %d",
                                 (unsigned long)facts->version, LOG_VERSION);
    if (facts->compression)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, log->path, hint,
                                 "compression method %lu of its payloads is not supported",
                                 (unsigned long)facts->compression);
    return EXTRACT_OK;
}

// Finds the first whole SECTION block, which tells how long sections are.
static enum extract_code find_first(struct extract_log *log, struct log_settings *facts,
                                    struct extract_error *error)
{
    struct extract_log_block block;
    uint64_t most = log->size < MAX_SEARCH ? log->size : MAX_SEARCH;
    for (uint64_t at = 0; at < most;) {
        if (section_at(log, at, &block, facts)) {
            enum extract_code code = check_facts(log, facts, error);
            if (code || at % facts->section_bytes == 0)
                return code;
        }
        at = next_data(log, at + LOG_SECTION_STEP, LOG_SECTION_STEP);
    }
    // Whole blocks near the beginning show that this was a log.
    if (extract_log_next_head(log, &block, 0, log->size < LOG_WINDOW ? log->size : LOG_WINDOW, NULL,
                              0, 0))
        return extract_error_set(error, EXTRACT_BAD, log->path, "restore the file from a copy",
                                 "every block that tells the layout of the log is damaged");
    return extract_error_set(error, EXTRACT_BAD, log->path,
                             "check that 'ringside record' wrote this file",
                             "no block of a trace log is whole in it");
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

static void adopt(struct extract_log *log, const struct log_settings *facts)
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

// Whether the writer of the section that begins at an offset continued a log that ended in the
// section before.
static bool continues(const struct extract_log *log, uint64_t at,
                      const struct extract_log_block *block)
{
    return block->value && block->value <= at && at - block->value < log->status.section_bytes;
}

// Whether a writer that continued a log may have found an unfinished block at its end. In version 1
// it did not say.
static bool may_be_torn(const struct extract_log_block *block, const struct log_settings *facts)
{
    return facts->version == 1 || block->flags & EXTRACT_LOG_TORN;
}

// What a section's blocks lie in front of: its own end, that of the file, or that which the file
// had when the log was continued behind it. What was appended since decides nothing about them.
static uint64_t end_at(struct extract_log *log, uint64_t at)
{
    struct extract_log_block next;
    struct log_settings facts;
    uint64_t bytes = log->status.section_bytes;
    if (log->size - at <= bytes)
        return log->size;
    if (section_at(log, at + bytes, &next, &facts) && facts.section_bytes == bytes &&
        continues(log, at + bytes, &next))
        return next.value;
    return at + bytes;
}

// What lies at a place: a section; one whose SECTION block is gone, when there are blocks of one;
// or nothing.
static enum extract_code look(struct extract_log *log, uint64_t place, uint64_t *newest,
                              struct extract_error *error)
{
    struct extract_log_block block;
    struct log_settings facts;
    uint64_t at = place * log->status.section_bytes, end = end_at(log, at);
    bool whole = section_at(log, at, &block, &facts);
    enum extract_code code = whole ? check_facts(log, &facts, error) : EXTRACT_OK;
    if (code)
        return code;
    whole = whole && facts.section_bytes == log->status.section_bytes &&
            block.offset + extract_log_size(block.length) <= end;
    if (!whole && !extract_log_next_head(log, &block, at, end, NULL, 0, 0)) {
        log->blank += end - at;
        return EXTRACT_OK;
    }
    log->status.damaged_bytes += log->blank;
    log->blank = 0;
    struct log_section section = {.number = block.section,
                                  .place = place,
                                  .end = end,
                                  .headless = !whole || block.copy_distance,
                                  .follows_torn = whole && may_be_torn(&block, &facts) &&
                                                  continues(log, at, &block)};
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
    struct log_settings facts;
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
