// SPDX-License-Identifier: MIT
// log: the writer. It appends blocks to a file that is valid at any instant up to the last block.
// docs/formats/log.md specifies layout and policies (IEEE Std 1003.1-2008, 2.11, trace log).
//
// Each block is one write at its position. The writer's state changes only after a write has
// succeeded, so that any failed call can be repeated.
//
// The blocks without which a section cannot be read are written twice, each time as a block of its
// own: SECTION and its copy first, then the other repeated blocks, then their copies. If the
// process is killed in between, the originals are in the file.
#include "base/file.h"
#include "base/cursor.h"
#include "base/now.h"
#include "log/log_output.h"
#include "log/log_block.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#define LIMIT_DEFAULT (UINT64_C(64) << 20)

enum {
    SECTIONS_LEAST = 4,
    SECTIONS_WANTED = 16,
    SECTION_SMALL = 16 * 1024, // minimum, if the limit allows it
    SECTION_LARGE = 16 * 1024 * 1024,
    SECTION_APPEND = 1024 * 1024,
    COPY_SHARE = 8, // a block that takes more than 1/8 of a section has no copy in it
    STATUS_BLOCK = LOG_HEAD + LOG_STATUS_PAYLOAD,
    FULL_BLOCK = LOG_HEAD
};

// A block that is repeated at the start of every section, and its content.
struct repeat {
    uint8_t *bytes;
    uint32_t length; // 0: not written by the caller yet
    uint32_t capacity;
    bool is_due;      // this section does not contain it yet
    bool copy_is_due; // this section does not contain its copy yet
    uint64_t number;  // number of its newest block that is not a copy
};

struct extract_log_writer {
    struct log_output output;
    struct log_settings settings;
    bool sync, full;
    uint32_t used; // bytes of the current section; 0: not started
    uint64_t next; // number of the next entry
    uint64_t written_bytes;
    uint64_t max_file_bytes; // limit of the system on file sizes
    uint16_t ring_key;
    struct repeat repeats[LOG_REPEATED];
    uint8_t section[LOG_SECTION_PAYLOAD]; // the bytes of repeats[0]
    uint64_t split;                       // first number of the ENTRIES that are written in parts
    uint32_t split_done;                  // number of their slots that are written
    struct extract_log_totals totals;
    enum log_loss_sum loss_sum;
};

// ---- One write ----

static enum extract_code write_failed(const struct extract_log_writer *w,
                                      struct extract_error *error)
{
    const char *hint = "check that disk; the log is complete up to here";

    if (errno == ENOSPC || errno == EDQUOT)
        hint = "free some space on that disk; the log is complete up to here";
    if (errno == EFBIG)
        hint = "raise the limit of file sizes (ulimit -f); the log is complete up to here";
    return extract_file_error(w->output.path, hint, error);
}

static bool write_spans(int fd, struct iovec *spans, int count, uint64_t offset)
{
    while (count) {
        ssize_t n = pwritev(fd, spans, count, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        offset += (uint64_t)n;
        for (size_t left = (size_t)n; count && left >= spans->iov_len; spans++, count--)
            left -= spans->iov_len, n -= (ssize_t)spans->iov_len;
        if (count) {
            spans->iov_base = (uint8_t *)spans->iov_base + n;
            spans->iov_len -= (size_t)n;
        }
    }
    return true;
}

// Writes spans at an offset. Tests the system's limit on file sizes first: a write beyond it would
// raise a signal that ends the process. After an error, removes a partly written block.
static bool store_spans(struct extract_log_writer *w, struct iovec *spans, int count,
                        uint64_t offset, uint64_t size)
{
    if (offset + size > w->max_file_bytes) {
        errno = EFBIG;
        return false;
    }
    if (write_spans(w->output.fd, spans, count, offset))
        return !w->sync || fdatasync(w->output.fd) == 0;
    // Beyond the former end of the file, there may be a part of a block.
    int reason = errno;
    if (offset + size > w->output.size && ftruncate(w->output.fd, (off_t)w->output.size) != 0)
        w->output.size = offset + size; // the part remains, and readers detect it
    errno = reason;
    return false;
}

// Returns whether a block can only be understood together with its ring, whose key it contains.
static bool has_ring_key(const struct extract_log_block *block)
{
    return extract_log_holds_entries(block) || block->type == EXTRACT_LOG_RING ||
           block->type == EXTRACT_LOG_OBJECTS || block->type == EXTRACT_LOG_NAMES;
}

// Writes a block at the write position. The caller has made space for it.
static enum extract_code write_block(struct extract_log_writer *w, struct extract_log_block *block,
                                     const void *payload, struct extract_error *error)
{
    uint8_t head[LOG_HEAD], tail[8] = {0};
    size_t whole = block->length / 8 * 8, rest = block->length % 8;
    uint64_t size = extract_log_size(block->length);
    uint64_t offset = w->output.index * w->settings.section_bytes + w->used;

    block->number = w->output.number;
    block->section = w->output.section;
    if (has_ring_key(block))
        block->kind = w->ring_key;
    if (!block->wall)
        block->wall = extract_wall();
    if (rest)
        memcpy(tail, (const uint8_t *)payload + whole, rest);
    extract_log_encode(head, block);
    extract_log_seal(head, payload, tail, block->length);
    struct iovec spans[] = {
        {head, sizeof head}, {(void *)(uintptr_t)payload, whole}, {tail, rest ? sizeof tail : 0}};
    if (!store_spans(w, spans, 3, offset, size))
        return write_failed(w, error);
    w->used += (uint32_t)size;
    w->output.number++;
    w->written_bytes += size;
    if (offset + size > w->output.size)
        w->output.size = offset + size;
    return EXTRACT_OK;
}

// ---- Sections ----

// Returns whether a block gets a copy in this section. It must leave most of the section to
// entries.
static bool has_copy(const struct extract_log_writer *w, const struct repeat *repeat)
{
    return repeat->length &&
           extract_log_size(repeat->length) <= w->settings.section_bytes / COPY_SHARE;
}

// Returns the bytes of the repeated blocks that are due; of all of them, at the start of a section.
static uint32_t count_head_bytes(const struct extract_log_writer *w, bool begins)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < LOG_REPEATED; i++) {
        const struct repeat *repeat = &w->repeats[i];
        bool has_one = begins ? repeat->length != 0 : repeat->is_due;
        bool has_two = begins ? has_copy(w, repeat) : repeat->copy_is_due;
        bytes += extract_log_size(repeat->length) * ((uint64_t)has_one + has_two);
    }
    return (uint32_t)bytes;
}

// Returns whether a repeated block is not in this section yet.
static bool any_repeat_is_due(const struct extract_log_writer *w)
{
    return count_head_bytes(w, false);
}

// Drops the repeated blocks that are due, because no block will follow that needs them.
static void drop_due_repeats(struct extract_log_writer *w)
{
    for (unsigned i = 0; i < LOG_REPEATED; i++)
        w->repeats[i].is_due = w->repeats[i].copy_is_due = false;
}

static enum extract_code write_repeat(struct extract_log_writer *w, unsigned i, bool is_copy,
                                      struct extract_error *error)
{
    struct repeat *repeat = &w->repeats[i];
    bool *due = is_copy ? &repeat->copy_is_due : &repeat->is_due;
    struct extract_log_block block = {.type = log_repeated[i],
                                      .length = repeat->length,
                                      .first = w->next,
                                      .copy_distance =
                                          is_copy ? w->output.number - repeat->number : 0};

    if (block.type == EXTRACT_LOG_SECTION && w->output.ended) {
        block.value = w->output.ended;
        block.flags = w->output.is_torn ? EXTRACT_LOG_TORN : 0;
    }
    if (!*due)
        return EXTRACT_OK;
    enum extract_code code = write_block(w, &block, repeat->bytes, error);
    if (code)
        return code;
    *due = false;
    repeat->number = is_copy ? repeat->number : block.number;
    return EXTRACT_OK;
}

// Writes the repeated blocks that are due. SECTION and its copy are where readers look for them.
static enum extract_code write_head(struct extract_log_writer *w, struct extract_error *error)
{
    if (!w->used) {
        extract_log_settings_encode(w->section, &w->settings);
        for (unsigned i = 0; i < LOG_REPEATED; i++) {
            w->repeats[i].is_due = w->repeats[i].length != 0;
            w->repeats[i].copy_is_due = has_copy(w, &w->repeats[i]);
        }
    }
    enum extract_code code = write_repeat(w, 0, false, error);
    if (!code)
        code = write_repeat(w, 0, true, error);
    for (unsigned i = 1; !code && i < LOG_REPEATED; i++)
        code = write_repeat(w, i, false, error);
    for (unsigned i = 1; !code && i < LOG_REPEATED; i++)
        code = write_repeat(w, i, true, error);
    return code;
}

// Returns whether no section may follow this one.
static bool is_last(const struct extract_log_writer *w)
{
    return w->settings.policy == EXTRACT_LOG_UNTIL_FULL &&
           w->output.index + 1 >= w->settings.sections;
}

static void next_section(struct extract_log_writer *w)
{
    w->output.section++;
    w->output.index++;
    w->output.ended = 0;
    if (w->settings.policy == EXTRACT_LOG_LOOP && w->output.index >= w->settings.sections)
        w->output.index = 0;
    w->used = 0;
}

// Returns the bytes of this section that are not free: used, needed by its head, or `kept` free at
// the end of the log.
static uint64_t count_taken_bytes(const struct extract_log_writer *w, uint32_t kept)
{
    return (uint64_t)w->used + count_head_bytes(w, !w->used) + (is_last(w) ? kept : 0);
}

static bool has_space(const struct extract_log_writer *w, uint64_t size, uint32_t kept)
{
    return count_taken_bytes(w, kept) + size <= w->settings.section_bytes;
}

// Moves the write position to where `size` bytes are free. Returns LIMIT, without a message, if the
// log is full.
static enum extract_code make_space(struct extract_log_writer *w, uint64_t size, uint32_t kept,
                                    struct extract_error *error)
{
    if (!has_space(w, size, kept) && w->used) {
        if (is_last(w))
            return EXTRACT_LIMIT;
        next_section(w);
    }
    return has_space(w, size, kept) ? write_head(w, error) : EXTRACT_LIMIT;
}

// ---- A log that is full ----

static enum extract_code report_full(const struct extract_log_writer *w,
                                     struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_LIMIT, w->output.path,
                             "use a larger size, or the policy loop or append",
                             "the log is full (%llu bytes)", (unsigned long long)w->settings.limit);
}

// Ends the log with the marker FULL, and returns LIMIT.
static enum extract_code end_full_log(struct extract_log_writer *w, struct extract_error *error)
{
    struct extract_log_block mark = {
        .type = EXTRACT_LOG_MARK, .kind = EXTRACT_MARK_FULL, .first = w->next};

    drop_due_repeats(w);
    enum extract_code code = make_space(w, FULL_BLOCK, STATUS_BLOCK, error);
    if (!code)
        code = write_block(w, &mark, NULL, error);
    w->full = code == EXTRACT_OK;
    return code ? code : report_full(w, error);
}

static void count_block(struct extract_log_writer *w, const struct extract_log_block *block)
{
    struct extract_log_totals *t = &w->totals;

    if (extract_log_holds_entries(block)) {
        t->entries += block->count;
        w->next = block->first + block->count;
    } else if (block->type == EXTRACT_LOG_LOSS) {
        t->lost += block->lost;
        w->loss_sum = extract_log_sum_after_loss(w->loss_sum, block->kind, !block->modulo);
        t->lost_exact = w->loss_sum == LOG_LOSS_SUM_EXACT;
        w->next = block->first;
    } else if (block->type == EXTRACT_LOG_MARK) {
        t->resets += block->kind == EXTRACT_MARK_RESET;
        if (block->kind == EXTRACT_MARK_RESET)
            w->loss_sum = extract_log_sum_after_break(w->loss_sum);
    }
}

// Writes one block, in this section or in the next.
static enum extract_code put_one(struct extract_log_writer *w, struct extract_log_block *block,
                                 const void *payload, struct extract_error *error)
{
    if (w->full)
        return report_full(w, error);
    enum extract_code code =
        make_space(w, extract_log_size(block->length), FULL_BLOCK + STATUS_BLOCK, error);
    if (code == EXTRACT_LIMIT)
        return end_full_log(w, error);
    if (!code)
        code = write_block(w, block, payload, error);
    if (!code)
        count_block(w, block);
    return code;
}

// ---- Blocks from the caller ----

// Returns the maximum payload of a block that is alone in its section.
static uint64_t max_payload(const struct extract_log_writer *w)
{
    uint64_t taken = count_head_bytes(w, true) + LOG_HEAD;

    if (w->settings.policy == EXTRACT_LOG_UNTIL_FULL)
        taken += FULL_BLOCK + STATUS_BLOCK;
    return taken < w->settings.section_bytes ? (w->settings.section_bytes - taken) / 8 * 8 : 0;
}

static enum extract_code report_too_large(const struct extract_log_writer *w, const char *what,
                                          uint64_t bytes, struct extract_error *error)
{
    static const char hint[] = "use a larger size; a section is a sixteenth of it";

    return extract_error_set(error, EXTRACT_LIMIT, w->output.path, hint,
                             "%s of %llu bytes does not fit into a section of %lu", what,
                             (unsigned long long)bytes, (unsigned long)w->settings.section_bytes);
}

// Returns how many slots the next part of split ENTRIES gets: as many as fit into the rest of this
// section, or otherwise into an empty one.
static uint32_t count_part_slots(const struct extract_log_writer *w, uint32_t slots,
                                 uint64_t slot_bytes)
{
    uint64_t taken = count_taken_bytes(w, FULL_BLOCK + STATUS_BLOCK) + LOG_HEAD;
    uint64_t all = w->settings.section_bytes;
    uint64_t fit = all > taken ? (all - taken) / 8 * 8 / slot_bytes : 0;
    uint64_t most = max_payload(w) / slot_bytes;

    if (!fit || (fit < slots && slots <= most))
        fit = most;
    return fit < slots ? (uint32_t)fit : slots;
}

// Makes the part of `all` that follows the slots already written.
static struct extract_log_block make_part(const struct extract_log_writer *w,
                                          const struct extract_log_block *all, uint32_t slot_bytes)
{
    struct extract_log_block part = *all;
    uint32_t left = all->count - w->split_done;

    part.count = count_part_slots(w, left, slot_bytes);
    part.length = part.count * slot_bytes;
    part.first = all->first + w->split_done;
    uint32_t after = left - part.count; // entries that follow it
    part.provisional = all->provisional > after ? all->provisional - after : 0;
    if (part.provisional > part.count)
        part.provisional = part.count;
    part.flags &= ~(uint32_t)EXTRACT_LOG_STAMPS;
    if (!part.provisional)
        part.flags &= ~(uint32_t)EXTRACT_LOG_PROVISIONAL;
    part.first_stamp = part.last_stamp = 0;
    return part;
}

static enum extract_code put_parts(struct extract_log_writer *w,
                                   const struct extract_log_block *all, const uint8_t *payload,
                                   struct extract_error *error)
{
    uint32_t slot_bytes = all->length / all->count;

    if (slot_bytes > max_payload(w))
        return report_too_large(w, "an entry", slot_bytes, error);
    if (w->split != all->first || w->split_done >= all->count)
        w->split_done = 0;
    w->split = all->first;
    while (w->split_done < all->count) {
        struct extract_log_block part = make_part(w, all, slot_bytes);
        enum extract_code code =
            put_one(w, &part, payload + (size_t)w->split_done * slot_bytes, error);
        if (code)
            return code;
        w->split_done += part.count;
    }
    return EXTRACT_OK;
}

static enum extract_code put_block(struct extract_log_writer *w,
                                   const struct extract_log_block *block, const void *payload,
                                   struct extract_error *error)
{
    struct extract_log_block copy = *block;

    if (block->length <= max_payload(w))
        return put_one(w, &copy, payload, error);
    if (block->type == EXTRACT_LOG_ENTRIES)
        return put_parts(w, block, payload, error);
    return report_too_large(w, "a block", block->length, error);
}

// Returns what is wrong with a block; NULL if it is
// valid.
static const char *find_fault(const struct extract_log_block *b, const void *payload)
{
    if (b->type < EXTRACT_LOG_ENTRIES || b->type > EXTRACT_LOG_PROGRAM ||
        b->type == EXTRACT_LOG_STATUS)
        return "blocks of that type are written by the "
               "log itself";
    if (b->length && !payload)
        return "payload is missing";
    if (b->type != EXTRACT_LOG_ENTRIES)
        return NULL;
    if (!b->count || !b->length || b->length % b->count)
        return "payload is not a whole number of slots";
    return b->provisional > b->count ? "has more provisional entries than "
                                       "entries"
                                     : NULL;
}

// ---- Repeated blocks ----

// Stores the bytes `a` followed by `b` as the content of
// a repeated block. It becomes due if they differ from
// its former content.
static enum extract_code keep_repeat(struct extract_log_writer *w, uint16_t type, const void *a,
                                     size_t a_length, const void *b, size_t b_length,
                                     struct extract_error *error)
{
    struct repeat *repeat = &w->repeats[extract_log_repeated(type)];
    size_t length = a_length + b_length;

    if (length == repeat->length && memcmp(repeat->bytes, a, a_length) == 0 &&
        (!b_length || memcmp(repeat->bytes + a_length, b, b_length) == 0))
        return EXTRACT_OK;
    if (length > repeat->capacity) {
        uint8_t *bytes = realloc(repeat->bytes, length);
        if (!bytes)
            return extract_error_set(error, EXTRACT_NOMEM, "log", NULL,
                                     "out of memory for %zu bytes", length);
        repeat->bytes = bytes;
        repeat->capacity = (uint32_t)length;
    }
    memcpy(repeat->bytes, a, a_length);
    if (b_length)
        memcpy(repeat->bytes + a_length, b, b_length);
    repeat->length = (uint32_t)length;
    repeat->is_due = true;
    repeat->copy_is_due = has_copy(w, repeat);
    return EXTRACT_OK;
}

// Writes the repeated blocks that are due. If the section
// is not started yet, that writes all.
static enum extract_code write_due_repeats(struct extract_log_writer *w,
                                           struct extract_error *error)
{
    if (w->full)
        return report_full(w, error);
    if (!any_repeat_is_due(w))
        return EXTRACT_OK;
    enum extract_code code = make_space(w, 0, FULL_BLOCK + STATUS_BLOCK, error);
    return code == EXTRACT_LIMIT ? end_full_log(w, error) : code;
}

enum extract_code extract_log_put_ring(struct extract_log_writer *writer,
                                       const struct extract_ring *ring, struct extract_error *error)
{
    uint8_t payload[LOG_MAX_RING];
    uint32_t length = extract_log_ring_encode(payload, ring);

    writer->settings.byte_order = ring->byte_order;
    enum extract_code code = keep_repeat(writer, EXTRACT_LOG_RING, payload, length, NULL, 0, error);
    if (code)
        return code;
    writer->ring_key = extract_log_ring_key(payload, length);
    return write_due_repeats(writer, error);
}

enum extract_code extract_log_put_objects(struct extract_log_writer *writer, uint64_t address,
                                          const void *bytes, size_t length,
                                          struct extract_error *error)
{
    uint8_t start[LOG_OBJECTS_PAYLOAD];

    if (length > writer->settings.section_bytes / 2 - LOG_HEAD - sizeof start)
        return report_too_large(writer, "a registry", length, error);
    extract_log_store(start, address, sizeof start);
    enum extract_code code =
        keep_repeat(writer, EXTRACT_LOG_OBJECTS, start, sizeof start, bytes, length, error);
    return code ? code : write_due_repeats(writer, error);
}

static enum extract_code put_repeat(struct extract_log_writer *w, uint16_t type,
                                    const void *payload, size_t length, struct extract_error *error)
{
    if (length > w->settings.section_bytes / 2 - LOG_HEAD)
        return report_too_large(w, "a block", length, error);
    enum extract_code code = keep_repeat(w, type, payload, length, NULL, 0, error);
    return code ? code : write_due_repeats(w, error);
}

enum extract_code extract_log_put(struct extract_log_writer *writer,
                                  const struct extract_log_block *block, const void *payload,
                                  struct extract_error *error)
{
    const char *why = find_fault(block, payload);

    if (why)
        return extract_error_set(error, EXTRACT_USAGE, "log block", NULL, "%s", why);
    if (extract_log_repeated(block->type) < LOG_REPEATED)
        return put_repeat(writer, block->type, payload, block->length, error);
    enum extract_code code = put_block(writer, block, payload, error);
    if (!code)
        writer->split_done = 0;
    return code;
}

enum extract_code extract_log_put_program(struct extract_log_writer *writer, uint64_t entry,
                                          struct extract_error *error)
{
    uint8_t payload[LOG_PROGRAM_PAYLOAD];
    const struct extract_log_block block = {.type = EXTRACT_LOG_PROGRAM, .length = sizeof payload};

    extract_log_store(payload, entry, sizeof payload);
    return extract_log_put(writer, &block, payload, error);
}

// ---- Creating and closing ----

static uint32_t section_for(uint64_t limit)
{
    uint64_t bytes = limit / SECTIONS_WANTED;

    if (bytes < SECTION_SMALL)
        bytes = limit / SECTIONS_LEAST < SECTION_SMALL ? limit / SECTIONS_LEAST : SECTION_SMALL;
    if (bytes > SECTION_LARGE)
        bytes = SECTION_LARGE;
    return (uint32_t)(bytes / LOG_SECTION_STEP * LOG_SECTION_STEP);
}

static enum extract_code plan_settings(struct log_settings *settings,
                                       const struct extract_log_options *options, const char *path,
                                       struct extract_error *error)
{
    const char *creator = options->creator ? options->creator : "ringside " EXTRACT_VERSION;
    bool append = options->policy == EXTRACT_LOG_APPEND;

    memset(settings, 0, sizeof *settings);
    if ((unsigned)options->policy > EXTRACT_LOG_APPEND)
        return extract_error_set(error, EXTRACT_USAGE, path, "use loop, until_full or append",
                                 "no such full policy");
    settings->version = LOG_VERSION;
    settings->policy = options->policy;
    settings->limit = append ? 0 : options->limit ? options->limit : LIMIT_DEFAULT;
    settings->section_bytes = options->section_bytes ? options->section_bytes
                              : append               ? SECTION_APPEND
                                                     : section_for(settings->limit);
    settings->created = extract_wall();
    memcpy(settings->creator, creator, strnlen(creator, LOG_CREATOR));
    if (options->section_bytes % LOG_SECTION_STEP || options->section_bytes > LOG_MAX_SECTION)
        return extract_error_set(error, EXTRACT_USAGE, path, NULL,
                                 "sections must be multiples of 4096 bytes, "
                                 "at most 64 MiB");
    if (append)
        return EXTRACT_OK;
    uint64_t sections = settings->section_bytes ? settings->limit / settings->section_bytes : 0;
    if (sections < SECTIONS_LEAST || sections > UINT32_MAX)
        return extract_error_set(error, EXTRACT_USAGE, path, "use 16k or more",
                                 "a log of %llu bytes cannot have four "
                                 "sections, or has too many",
                                 (unsigned long long)settings->limit);
    settings->sections = (uint32_t)sections;
    return EXTRACT_OK;
}

void extract_log_note_limit(struct extract_log_writer *writer)
{
    writer->max_file_bytes = extract_file_most();
}

static void free_writer(struct extract_log_writer *w)
{
    for (unsigned i = 1; i < LOG_REPEATED; i++) // the first is a part of the writer
        free(w->repeats[i].bytes);
    free(w);
}

static enum extract_code close_and_free(struct extract_log_writer *w, struct extract_error *error)
{
    enum extract_code code = extract_log_output_close(&w->output, error);

    free_writer(w);
    return code;
}

void extract_log_detach(struct extract_log_writer *writer)
{
    if (!writer)
        return;
    extract_log_output_detach(&writer->output);
    free_writer(writer);
}

// Removes the file of a log whose creation failed.
// Preserves errno, which contains the cause.
static void remove_failed_log(struct extract_log_writer *w)
{
    int reason = errno;

    if (w->output.created)
        unlink(w->output.path);
    close_and_free(w, NULL);
    errno = reason;
}

// Creates the log at `path`, or, if `path` is NULL, in
// the file that `fd` is open for.
static enum extract_code create_log(struct extract_log_writer **writer, const char *path, int fd,
                                    const struct extract_log_options *options,
                                    struct extract_error *error)
{
    struct log_settings settings;
    const char *name = path ? path : LOG_GIVEN;

    *writer = NULL;
    enum extract_code code = plan_settings(&settings, options, name, error);
    if (code)
        return code;
    struct extract_log_writer *w = calloc(1, sizeof *w);
    if (!w)
        return extract_error_set(error, EXTRACT_NOMEM, name, NULL, "out of memory");
    code = path ? extract_log_output_open(&w->output, path, &settings, error)
                : extract_log_output_take(&w->output, fd, &settings, error);
    if (code) {
        free(w);
        return code;
    }
    w->settings = settings;
    w->sync = options->sync;
    extract_log_note_limit(w);
    w->totals.lost_exact = true;
    w->repeats[0] = (struct repeat){.bytes = w->section, .length = sizeof w->section};
    code = write_head(w, error);
    if (code)
        remove_failed_log(w);
    else
        *writer = w;
    return code;
}

enum extract_code extract_log_create(struct extract_log_writer **writer, const char *path,
                                     const struct extract_log_options *options,
                                     struct extract_error *error)
{
    return create_log(writer, path, -1, options, error);
}

enum extract_code extract_log_create_fd(struct extract_log_writer **writer, int fd,
                                        const struct extract_log_options *options,
                                        struct extract_error *error)
{
    return create_log(writer, NULL, fd, options, error);
}

void extract_log_note_cost(struct extract_log_writer *writer, uint64_t polls,
                           const struct extract_memory_cost *cost)
{
    writer->totals.polls = polls;
    writer->totals.reads = cost->reads;
    writer->totals.bytes = cost->bytes;
    writer->totals.failed = cost->failed;
}

uint64_t extract_log_written(const struct extract_log_writer *writer)
{
    return writer->written_bytes;
}

void extract_log_turn(struct extract_log_writer *writer)
{
    if (writer->used && !is_last(writer))
        next_section(writer);
}

uint64_t extract_log_overwritten(const struct extract_log_writer *writer)
{
    uint64_t section = writer->output.section, sections = writer->settings.sections;
    bool loop = writer->settings.policy == EXTRACT_LOG_LOOP;

    return loop && section >= sections ? section - sections + 1 : 0;
}

uint64_t extract_log_next(const struct extract_log_writer *writer)
{
    return writer->next;
}

uint64_t extract_log_space_left(const struct extract_log_writer *writer)
{
    if (writer->settings.policy != EXTRACT_LOG_UNTIL_FULL)
        return UINT64_MAX;
    if (writer->full)
        return 0;
    uint64_t sections = writer->settings.sections - writer->output.index;
    uint64_t taken = writer->used + FULL_BLOCK + STATUS_BLOCK;
    uint64_t all = sections * writer->settings.section_bytes;
    return all > taken ? all - taken : 0;
}

static enum extract_code write_status(struct extract_log_writer *w, struct extract_error *error)
{
    uint8_t payload[LOG_STATUS_PAYLOAD];
    struct extract_log_block block = {
        .type = EXTRACT_LOG_STATUS, .length = sizeof payload, .first = w->next};

    drop_due_repeats(w);
    enum extract_code code = make_space(w, STATUS_BLOCK, 0, error);
    extract_log_totals_encode(payload, &w->totals);
    return code ? code : write_block(w, &block, payload, error);
}

enum extract_code extract_log_close(struct extract_log_writer *writer, struct extract_error *error)
{
    if (!writer)
        return EXTRACT_OK;
    enum extract_code code = write_status(writer, error);
    enum extract_code closed = close_and_free(writer, code ? NULL : error);
    return code ? code : closed;
}
