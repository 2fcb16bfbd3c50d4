// SPDX-License-Identifier: MIT
// log: the writer. In: blocks. Out: a file that is whole at any instant up to the last block that
// was put. Layout and policies: docs/formats/log.md (IEEE Std 1003.1-2008, 2.11, trace log).
//
// Each block is one write at its place. The writer's state moves on only when that has succeeded,
// so that whatever failed can be tried again.
//
// What a section cannot be read without is written twice, each time as a block of its own: SECTION
// and its copy first, then the other repeated blocks, then their copies. If the writer is killed
// between the two, the original is there.
#include "base/file.h"
#include "base/cursor.h"
#include "base/now.h"
#include "log/output.h"
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
    SECTION_SMALL = 16 * 1024, // where the limit allows it
    SECTION_LARGE = 16 * 1024 * 1024,
    SECTION_APPEND = 1024 * 1024,
    COPY_SHARE = 8, // a block that takes a larger part of a section has no copy in it
    STATUS_BLOCK = LOG_HEAD + LOG_STATUS_PAYLOAD,
    FULL_BLOCK = LOG_HEAD
};

// A block that every section begins with.
struct repeat {
    uint8_t *bytes;
    uint32_t length; // 0: there is none yet
    uint32_t room;
    bool is_due;      // this section does not have it yet
    bool copy_is_due; // this section does not have its copy yet
    uint64_t number;  // of the newest block of it that is not a copy
};

struct extract_log_writer {
    struct log_output place;
    struct log_settings facts;
    bool sync, full;
    uint32_t used;  // bytes of the section; 0: it is not begun
    uint64_t next;  // number of the next entry
    uint64_t wrote; // bytes
    uint64_t most;  // bytes that the system lets a file have
    uint16_t ring_key;
    struct repeat repeats[LOG_REPEATED];
    uint8_t section[LOG_SECTION_PAYLOAD]; // bytes of the first of these
    uint64_t split;                       // ENTRIES from this number on that are being put in parts
    uint32_t split_done;                  // slots of them that are there
    struct extract_log_totals totals;
    enum log_loss_sum loss_sum;
};

// ---- One write ----

static enum extract_code write_failed(const struct extract_log_writer *w,
                                      struct extract_error *error)
{
    const char *hint = "look at that disk; the log is whole up to here";
    if (errno == ENOSPC || errno == EDQUOT)
        hint = "free some space on that disk; the log is whole up to here";
    if (errno == EFBIG)
        hint = "raise the limit of file sizes (ulimit -f); the log is whole up to here";
    return extract_file_error(w->place.path, hint, error);
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

// A limit of the system is asked for before it is met: it would send a signal that ends the
// process.
static bool store(struct extract_log_writer *w, struct iovec *spans, int count, uint64_t offset,
                  uint64_t size)
{
    if (offset + size > w->most) {
        errno = EFBIG;
        return false;
    }
    if (write_spans(w->place.fd, spans, count, offset))
        return !w->sync || fdatasync(w->place.fd) == 0;
    // What lies behind the end that the file had is a part of a block: nobody needs to see it.
    int reason = errno;
    if (offset + size > w->place.size && ftruncate(w->place.fd, (off_t)w->place.size) != 0)
        w->place.size = offset + size; // it stays; readers see that it is cut
    errno = reason;
    return false;
}

// Whether a block can only be understood with the ring that it tells the key of.
static bool has_ring_key(const struct extract_log_block *block)
{
    return extract_log_holds_entries(block) || block->type == EXTRACT_LOG_RING ||
           block->type == EXTRACT_LOG_OBJECTS || block->type == EXTRACT_LOG_NAMES;
}

// Writes a block at the writer's place, where there is room for it.
static enum extract_code write_block(struct extract_log_writer *w, struct extract_log_block *block,
                                     const void *payload, struct extract_error *error)
{
    uint8_t head[LOG_HEAD], tail[8] = {0};
    size_t whole = block->length / 8 * 8, rest = block->length % 8;
    uint64_t size = extract_log_size(block->length);
    uint64_t offset = w->place.index * w->facts.section_bytes + w->used;
    block->number = w->place.number;
    block->section = w->place.section;
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
    if (!store(w, spans, 3, offset, size))
        return write_failed(w, error);
    w->used += (uint32_t)size;
    w->place.number++;
    w->wrote += size;
    if (offset + size > w->place.size)
        w->place.size = offset + size;
    return EXTRACT_OK;
}

// ---- Sections ----

// A copy is worth its room while it leaves most of the section to what is recorded.
static bool has_copy(const struct extract_log_writer *w, const struct repeat *repeat)
{
    return repeat->length &&
           extract_log_size(repeat->length) <= w->facts.section_bytes / COPY_SHARE;
}

// Returns the bytes of the repeated blocks that are due; of all, at the beginning of a section.
static uint32_t head_bytes(const struct extract_log_writer *w, bool begins)
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

// Whether a repeated block is not in this section yet.
static bool is_due(const struct extract_log_writer *w)
{
    return head_bytes(w, false);
}

// Drops the repeated blocks that are due, since nothing follows that would need them.
static void forgo_repeats(struct extract_log_writer *w)
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
                                          is_copy ? w->place.number - repeat->number : 0};
    if (block.type == EXTRACT_LOG_SECTION && w->place.ended) {
        block.value = w->place.ended;
        block.flags = w->place.is_torn ? EXTRACT_LOG_TORN : 0;
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

// Writes the repeated blocks that are due. SECTION and its copy stand where readers look for them.
static enum extract_code write_head(struct extract_log_writer *w, struct extract_error *error)
{
    if (!w->used) {
        extract_log_facts_encode(w->section, &w->facts);
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

// Whether nothing may follow this section.
static bool is_last(const struct extract_log_writer *w)
{
    return w->facts.policy == EXTRACT_LOG_UNTIL_FULL && w->place.index + 1 >= w->facts.sections;
}

static void next_section(struct extract_log_writer *w)
{
    w->place.section++;
    w->place.index++;
    w->place.ended = 0;
    if (w->facts.policy == EXTRACT_LOG_LOOP && w->place.index >= w->facts.sections)
        w->place.index = 0;
    w->used = 0;
}

// Returns the bytes that are taken of this section: used, needed by its head, or `kept` free at the
// end of the log.
static uint64_t taken_here(const struct extract_log_writer *w, uint32_t kept)
{
    return (uint64_t)w->used + head_bytes(w, !w->used) + (is_last(w) ? kept : 0);
}

static bool has_room(const struct extract_log_writer *w, uint64_t size, uint32_t kept)
{
    return taken_here(w, kept) + size <= w->facts.section_bytes;
}

// Comes to a place with room for `size` bytes. LIMIT without a text: the log is full.
static enum extract_code make_room(struct extract_log_writer *w, uint64_t size, uint32_t kept,
                                   struct extract_error *error)
{
    if (!has_room(w, size, kept) && w->used) {
        if (is_last(w))
            return EXTRACT_LIMIT;
        next_section(w);
    }
    return has_room(w, size, kept) ? write_head(w, error) : EXTRACT_LIMIT;
}

// ---- A log that is full ----

static enum extract_code say_full(const struct extract_log_writer *w, struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_LIMIT, w->place.path,
                             "give a larger size, or the policy loop or append",
                             "the log is full (%llu bytes)", (unsigned long long)w->facts.limit);
}

// Ends the log with a mark.
static enum extract_code write_full(struct extract_log_writer *w, struct extract_error *error)
{
    struct extract_log_block mark = {
        .type = EXTRACT_LOG_MARK, .kind = EXTRACT_MARK_FULL, .first = w->next};
    forgo_repeats(w);
    enum extract_code code = make_room(w, FULL_BLOCK, STATUS_BLOCK, error);
    if (!code)
        code = write_block(w, &mark, NULL, error);
    w->full = code == EXTRACT_OK;
    return code ? code : say_full(w, error);
}

static void count(struct extract_log_writer *w, const struct extract_log_block *block)
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

// Puts a block where there is room.
static enum extract_code put_one(struct extract_log_writer *w, struct extract_log_block *block,
                                 const void *payload, struct extract_error *error)
{
    if (w->full)
        return say_full(w, error);
    enum extract_code code =
        make_room(w, extract_log_size(block->length), FULL_BLOCK + STATUS_BLOCK, error);
    if (code == EXTRACT_LIMIT)
        return write_full(w, error);
    if (!code)
        code = write_block(w, block, payload, error);
    if (!code)
        count(w, block);
    return code;
}

// ---- What is put ----

// Payload bytes that fit into a section of their own.
static uint64_t payload_most(const struct extract_log_writer *w)
{
    uint64_t taken = head_bytes(w, true) + LOG_HEAD;
    if (w->facts.policy == EXTRACT_LOG_UNTIL_FULL)
        taken += FULL_BLOCK + STATUS_BLOCK;
    return taken < w->facts.section_bytes ? (w->facts.section_bytes - taken) / 8 * 8 : 0;
}

static enum extract_code too_large(const struct extract_log_writer *w, const char *what,
                                   uint64_t bytes, struct extract_error *error)
{
    static const char hint[] = "give the log a larger size; a section is a sixteenth of it";
    return extract_error_set(error, EXTRACT_LIMIT, w->place.path, hint,
                             "%s of %llu bytes does not fit into a section of %lu", what,
                             (unsigned long long)bytes, (unsigned long)w->facts.section_bytes);
}

// Slots of the next part of ENTRIES that do not fit into a section: those that fit into the rest of
// this one, else those that fit into a whole one.
static uint32_t part_of(const struct extract_log_writer *w, uint32_t slots, uint64_t slot_bytes)
{
    uint64_t taken = taken_here(w, FULL_BLOCK + STATUS_BLOCK) + LOG_HEAD;
    uint64_t all = w->facts.section_bytes;
    uint64_t fit = all > taken ? (all - taken) / 8 * 8 / slot_bytes : 0;
    uint64_t most = payload_most(w) / slot_bytes;
    if (!fit || (fit < slots && slots <= most))
        fit = most;
    return fit < slots ? (uint32_t)fit : slots;
}

// The part of `all` that follows the slots that are there.
static struct extract_log_block part_make(const struct extract_log_writer *w,
                                          const struct extract_log_block *all, uint32_t slot_bytes)
{
    struct extract_log_block part = *all;
    uint32_t left = all->count - w->split_done;
    part.count = part_of(w, left, slot_bytes);
    part.length = part.count * slot_bytes;
    part.first = all->first + w->split_done;
    uint32_t behind = left - part.count; // entries that follow it
    part.provisional = all->provisional > behind ? all->provisional - behind : 0;
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
    if (slot_bytes > payload_most(w))
        return too_large(w, "an entry", slot_bytes, error);
    if (w->split != all->first || w->split_done >= all->count)
        w->split_done = 0;
    w->split = all->first;
    while (w->split_done < all->count) {
        struct extract_log_block part = part_make(w, all, slot_bytes);
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
    if (block->length <= payload_most(w))
        return put_one(w, &copy, payload, error);
    if (block->type == EXTRACT_LOG_ENTRIES)
        return put_parts(w, block, payload, error);
    return too_large(w, "a block", block->length, error);
}

// Why a block makes no sense; NULL when it does.
static const char *nonsense(const struct extract_log_block *b, const void *payload)
{
    if (b->type < EXTRACT_LOG_ENTRIES || b->type > EXTRACT_LOG_PROGRAM ||
        b->type == EXTRACT_LOG_STATUS)
        return "blocks of that type are the log's own";
    if (b->length && !payload)
        return "its payload is missing";
    if (b->type != EXTRACT_LOG_ENTRIES)
        return NULL;
    if (!b->count || !b->length || b->length % b->count)
        return "its payload is no whole number of slots";
    return b->provisional > b->count ? "it has more provisional entries than entries" : NULL;
}

// ---- What is repeated ----

// Keeps the bytes `a` and `b`, one behind the other, to be written when they are others than
// before.
static enum extract_code keep(struct extract_log_writer *w, uint16_t type, const void *a,
                              size_t a_length, const void *b, size_t b_length,
                              struct extract_error *error)
{
    struct repeat *repeat = &w->repeats[extract_log_repeated(type)];
    size_t length = a_length + b_length;
    if (length == repeat->length && memcmp(repeat->bytes, a, a_length) == 0 &&
        (!b_length || memcmp(repeat->bytes + a_length, b, b_length) == 0))
        return EXTRACT_OK;
    if (length > repeat->room) {
        uint8_t *bytes = realloc(repeat->bytes, length);
        if (!bytes)
            return extract_error_set(error, EXTRACT_NOMEM, "log", NULL, "no memory for %zu bytes",
                                     length);
        repeat->bytes = bytes;
        repeat->room = (uint32_t)length;
    }
    memcpy(repeat->bytes, a, a_length);
    if (b_length)
        memcpy(repeat->bytes + a_length, b, b_length);
    repeat->length = (uint32_t)length;
    repeat->is_due = true;
    repeat->copy_is_due = has_copy(w, repeat);
    return EXTRACT_OK;
}

// Writes what is due; a section that is not begun yet gets it anyway.
static enum extract_code settle(struct extract_log_writer *w, struct extract_error *error)
{
    if (w->full)
        return say_full(w, error);
    if (!is_due(w))
        return EXTRACT_OK;
    enum extract_code code = make_room(w, 0, FULL_BLOCK + STATUS_BLOCK, error);
    return code == EXTRACT_LIMIT ? write_full(w, error) : code;
}

enum extract_code extract_log_put_ring(struct extract_log_writer *writer,
                                       const struct extract_ring *ring, struct extract_error *error)
{
    uint8_t payload[LOG_MAX_RING];
    uint32_t length = extract_log_ring_encode(payload, ring);
    writer->facts.byte_order = ring->byte_order;
    enum extract_code code = keep(writer, EXTRACT_LOG_RING, payload, length, NULL, 0, error);
    if (code)
        return code;
    writer->ring_key = extract_log_ring_key(payload, length);
    return settle(writer, error);
}

enum extract_code extract_log_put_objects(struct extract_log_writer *writer, uint64_t address,
                                          const void *bytes, size_t length,
                                          struct extract_error *error)
{
    uint8_t start[LOG_OBJECTS_PAYLOAD];
    if (length > writer->facts.section_bytes / 2 - LOG_HEAD - sizeof start)
        return too_large(writer, "a registry", length, error);
    extract_log_store(start, address, sizeof start);
    enum extract_code code =
        keep(writer, EXTRACT_LOG_OBJECTS, start, sizeof start, bytes, length, error);
    return code ? code : settle(writer, error);
}

static enum extract_code put_repeat(struct extract_log_writer *w, uint16_t type,
                                    const void *payload, size_t length, struct extract_error *error)
{
    if (length > w->facts.section_bytes / 2 - LOG_HEAD)
        return too_large(w, "a block", length, error);
    enum extract_code code = keep(w, type, payload, length, NULL, 0, error);
    return code ? code : settle(w, error);
}

enum extract_code extract_log_put(struct extract_log_writer *writer,
                                  const struct extract_log_block *block, const void *payload,
                                  struct extract_error *error)
{
    const char *why = nonsense(block, payload);
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

static enum extract_code plan(struct log_settings *facts, const struct extract_log_options *options,
                              const char *path, struct extract_error *error)
{
    const char *creator = options->creator ? options->creator : "ringside " EXTRACT_VERSION;
    bool append = options->policy == EXTRACT_LOG_APPEND;
    memset(facts, 0, sizeof *facts);
    if ((unsigned)options->policy > EXTRACT_LOG_APPEND)
        return extract_error_set(error, EXTRACT_USAGE, path, "use loop, until_full or append",
                                 "no such full policy");
    facts->version = LOG_VERSION;
    facts->policy = options->policy;
    facts->limit = append ? 0 : options->limit ? options->limit : LIMIT_DEFAULT;
    facts->section_bytes = options->section_bytes ? options->section_bytes
                           : append               ? SECTION_APPEND
                                                  : section_for(facts->limit);
    facts->created = extract_wall();
    memcpy(facts->creator, creator, strnlen(creator, LOG_CREATOR));
    if (options->section_bytes % LOG_SECTION_STEP || options->section_bytes > LOG_MAX_SECTION)
        return extract_error_set(error, EXTRACT_USAGE, path, NULL,
                                 "sections are multiples of 4096 bytes, of 64 MiB at most");
    if (append)
        return EXTRACT_OK;
    uint64_t sections = facts->section_bytes ? facts->limit / facts->section_bytes : 0;
    if (sections < SECTIONS_LEAST || sections > UINT32_MAX)
        return extract_error_set(
            error, EXTRACT_USAGE, path, "give it from 16 KiB on",
            "a log of %llu bytes has no room for four sections, or for too many",
            (unsigned long long)facts->limit);
    facts->sections = (uint32_t)sections;
    return EXTRACT_OK;
}

void extract_log_note_limit(struct extract_log_writer *writer)
{
    writer->most = extract_file_most();
}

static void free_writer(struct extract_log_writer *w)
{
    for (unsigned i = 1; i < LOG_REPEATED; i++) // the first is a part of the writer
        free(w->repeats[i].bytes);
    free(w);
}

static enum extract_code release(struct extract_log_writer *w, struct extract_error *error)
{
    enum extract_code code = extract_log_output_close(&w->place, error);
    free_writer(w);
    return code;
}

void extract_log_detach(struct extract_log_writer *writer)
{
    if (!writer)
        return;
    extract_log_output_detach(&writer->place);
    free_writer(writer);
}

// A log that could not be begun leaves no file behind. errno still says why.
static void take_back(struct extract_log_writer *w)
{
    int reason = errno;
    if (w->place.created)
        unlink(w->place.path);
    release(w, NULL);
    errno = reason;
}

// Begins the log at `path`, or, when that is NULL, in the file that `fd` is open for.
static enum extract_code begin(struct extract_log_writer **writer, const char *path, int fd,
                               const struct extract_log_options *options,
                               struct extract_error *error)
{
    struct log_settings facts;
    const char *name = path ? path : LOG_GIVEN;
    *writer = NULL;
    enum extract_code code = plan(&facts, options, name, error);
    if (code)
        return code;
    struct extract_log_writer *w = calloc(1, sizeof *w);
    if (!w)
        return extract_error_set(error, EXTRACT_NOMEM, name, NULL, "out of memory");
    code = path ? extract_log_output_open(&w->place, path, &facts, error)
                : extract_log_output_take(&w->place, fd, &facts, error);
    if (code) {
        free(w);
        return code;
    }
    w->facts = facts;
    w->sync = options->sync;
    extract_log_note_limit(w);
    w->totals.lost_exact = true;
    w->repeats[0] = (struct repeat){.bytes = w->section, .length = sizeof w->section};
    code = write_head(w, error);
    if (code)
        take_back(w);
    else
        *writer = w;
    return code;
}

enum extract_code extract_log_create(struct extract_log_writer **writer, const char *path,
                                     const struct extract_log_options *options,
                                     struct extract_error *error)
{
    return begin(writer, path, -1, options, error);
}

enum extract_code extract_log_create_fd(struct extract_log_writer **writer, int fd,
                                        const struct extract_log_options *options,
                                        struct extract_error *error)
{
    return begin(writer, NULL, fd, options, error);
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
    return writer->wrote;
}

void extract_log_turn(struct extract_log_writer *writer)
{
    if (writer->used && !is_last(writer))
        next_section(writer);
}

uint64_t extract_log_overwritten(const struct extract_log_writer *writer)
{
    uint64_t section = writer->place.section, sections = writer->facts.sections;
    bool loop = writer->facts.policy == EXTRACT_LOG_LOOP;
    return loop && section >= sections ? section - sections + 1 : 0;
}

uint64_t extract_log_next(const struct extract_log_writer *writer)
{
    return writer->next;
}

uint64_t extract_log_room(const struct extract_log_writer *writer)
{
    if (writer->facts.policy != EXTRACT_LOG_UNTIL_FULL)
        return UINT64_MAX;
    if (writer->full)
        return 0;
    uint64_t sections = writer->facts.sections - writer->place.index;
    uint64_t taken = writer->used + FULL_BLOCK + STATUS_BLOCK;
    uint64_t all = sections * writer->facts.section_bytes;
    return all > taken ? all - taken : 0;
}

static enum extract_code write_status(struct extract_log_writer *w, struct extract_error *error)
{
    uint8_t payload[LOG_STATUS_PAYLOAD];
    struct extract_log_block block = {
        .type = EXTRACT_LOG_STATUS, .length = sizeof payload, .first = w->next};
    forgo_repeats(w);
    enum extract_code code = make_room(w, STATUS_BLOCK, 0, error);
    extract_log_totals_encode(payload, &w->totals);
    return code ? code : write_block(w, &block, payload, error);
}

enum extract_code extract_log_close(struct extract_log_writer *writer, struct extract_error *error)
{
    if (!writer)
        return EXTRACT_OK;
    enum extract_code code = write_status(writer, error);
    enum extract_code closed = release(writer, code ? NULL : error);
    return code ? code : closed;
}
