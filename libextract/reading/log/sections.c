// SPDX-License-Identifier: MIT
// log: finds the sections of a file. The result is a table in the order of their numbers, and the
// settings of the newest section. The first valid SECTION block gives the section size; sections
// begin at its multiples.
#define _GNU_SOURCE // SEEK_DATA
#include "log/log_room.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SETTINGS = 4096 - LOG_HEAD };

// A file without a SECTION block in its first 4 GiB is not a log.
#define MAX_SEARCH (UINT64_C(4) << 30)

// Returns the next multiple of `step` at `offset` (which is one) or later that is not in a hole of
// the file, or the file's size. A file that claims to be large may be one large hole.
static uint64_t next_data(const struct extract_log *log, uint64_t offset, uint64_t step)
{
    off_t data = offset < log->size ? lseek(log->fd, (off_t)offset, SEEK_DATA) : -1;

    if (data < 0)
        return offset < log->size && errno != ENXIO ? offset : log->size;
    return (uint64_t)data > offset ? (uint64_t)data / step * step : offset;
}

// Reads the SECTION block at an offset. Returns false if it is not valid, or not a copy of the one
// `distance` blocks before (0: not a copy).
static bool read_section(struct extract_log *log, uint64_t offset, uint64_t distance,
                         struct extract_log_block *block, struct log_settings *settings)
{
    const uint8_t *bytes = extract_log_peek(log, offset, LOG_HEAD);

    if (!bytes || !extract_log_decode(block, bytes) || block->type != EXTRACT_LOG_SECTION ||
        block->copy_distance != distance || block->length > MAX_SETTINGS)
        return false;
    block->offset = offset;
    if (!extract_log_verify(log, block, NULL))
        return false;
    bytes = extract_log_peek(log, offset + LOG_HEAD, block->length);
    return bytes && extract_log_settings_decode(settings, bytes, block->length);
}

// Reads the SECTION block of the section that begins at an offset, or its copy.
static bool section_at(struct extract_log *log, uint64_t at, struct extract_log_block *block,
                       struct log_settings *settings)
{
    return read_section(log, at, 0, block, settings) ||
           read_section(log, at + LOG_SECTION_BLOCK, 1, block, settings);
}

// Refuses settings that only a later version of the program understands.
static enum extract_code check_settings(const struct extract_log *log,
                                        const struct log_settings *settings,
                                        struct extract_error *error)
{
    static const char hint[] = "use a later version of Ringside";

    if (settings->version > LOG_VERSION)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, log->path, hint,
                                 "version %lu of the log format is not supported, only 1 to %d",
                                 (unsigned long)settings->version, LOG_VERSION);
    if (settings->compression)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, log->path, hint,
                                 "compression method %lu is not supported",
                                 (unsigned long)settings->compression);
    return EXTRACT_OK;
}

// Finds the first valid SECTION block, which contains the section size.
static enum extract_code find_first(struct extract_log *log, struct log_settings *settings,
                                    struct extract_error *error)
{
    struct extract_log_block block;
    uint64_t limit = log->size < MAX_SEARCH ? log->size : MAX_SEARCH;

    for (uint64_t at = 0; at < limit;) {
        if (section_at(log, at, &block, settings)) {
            enum extract_code code = check_settings(log, settings, error);
            if (code || at % settings->section_bytes == 0)
                return code;
        }
        at = next_data(log, at + LOG_SECTION_STEP, LOG_SECTION_STEP);
    }
    // Valid blocks near the start show that this was a log.
    if (extract_log_next_head(log, &block, 0, log->size < LOG_WINDOW ? log->size : LOG_WINDOW, NULL,
                              0, 0))
        return extract_error_set(error, EXTRACT_BAD, log->path, "restore the file from a copy",
                                 "every block that contains the layout of the log is damaged");
    return extract_error_set(error, EXTRACT_BAD, log->path,
                             "check that 'ringside record' wrote this file",
                             "contains no valid block of a trace log");
}

static enum extract_code add_section(struct extract_log *log, const struct log_section *section,
                                     struct extract_error *error)
{
    struct log_section *sections =
        extract_grow(log->sections, &log->section_capacity, log->section_count, sizeof *sections);

    if (!sections)
        return extract_error_set(error, EXTRACT_NOMEM, log->path, NULL, "out of memory");
    log->sections = sections;
    log->sections[log->section_count++] = *section;
    return EXTRACT_OK;
}

static void adopt_settings(struct extract_log *log, const struct log_settings *settings)
{
    struct extract_log_status *s = &log->status;

    s->policy = settings->policy;
    s->limit = settings->limit;
    s->created = settings->created;
    if (settings->byte_order)
        s->byte_order = settings->byte_order;
    memcpy(s->creator, settings->creator, sizeof s->creator);
    log->turn = settings->sections;
}

// Returns whether the section at an offset was begun by a writer that continued a log, and the log
// had ended in the section before.
static bool continues(const struct extract_log *log, uint64_t at,
                      const struct extract_log_block *block)
{
    return block->value && block->value <= at && at - block->value < log->status.section_bytes;
}

// Returns whether a writer that continued a log may have found an unfinished block at its end.
// Version 1 did not record this.
static bool may_be_torn(const struct extract_log_block *block, const struct log_settings *settings)
{
    return settings->version == 1 || block->flags & EXTRACT_LOG_TORN;
}

// Returns the offset before which all blocks of a section are: its own end, the end of the file, or
// the end that the file had when the log was continued after this section. Bytes that were appended
// later do not belong to the section.
static uint64_t end_at(struct extract_log *log, uint64_t at)
{
    struct extract_log_block next;
    struct log_settings settings;
    uint64_t bytes = log->status.section_bytes;

    if (log->size - at <= bytes)
        return log->size;
    if (section_at(log, at + bytes, &next, &settings) && settings.section_bytes == bytes &&
        continues(log, at + bytes, &next))
        return next.value;
    return at + bytes;
}

// Examines one position for a section. Adds it to the table, also if only its SECTION block is
// damaged. Bytes without any block are added to log->blank.
static enum extract_code examine_section(struct extract_log *log, uint64_t place, uint64_t *newest,
                                         struct extract_error *error)
{
    struct extract_log_block block;
    struct log_settings settings;
    uint64_t at = place * log->status.section_bytes, end = end_at(log, at);
    bool whole = section_at(log, at, &block, &settings);
    enum extract_code code = whole ? check_settings(log, &settings, error) : EXTRACT_OK;

    if (code)
        return code;
    whole = whole && settings.section_bytes == log->status.section_bytes &&
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
                                  .follows_torn = whole && may_be_torn(&block, &settings) &&
                                                  continues(log, at, &block)};
    if (whole && (!log->section_count || block.section >= *newest)) {
        adopt_settings(log, &settings);
        *newest = block.section;
    }
    return add_section(log, &section, error);
}

static int by_number(const void *a, const void *b)
{
    const struct log_section *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

// Drops sections with a number that occurs twice, and counts them as damaged.
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
    struct log_settings settings;
    uint64_t newest = 0;
    enum extract_code code = find_first(log, &settings, error);
    if (code)
        return code;
    log->status.section_bytes = settings.section_bytes;
    adopt_settings(log, &settings);
    for (uint64_t at = 0; at < log->size && !code;) {
        code = examine_section(log, at / settings.section_bytes, &newest, error);
        at = next_data(log, at + settings.section_bytes, settings.section_bytes);
    }
    if (code)
        return code;
    if (log->section_count) {
        qsort(log->sections, log->section_count, sizeof *log->sections, by_number);
        drop_twins(log);
    }
    return EXTRACT_OK;
}
