// SPDX-License-Identifier: MIT
// follow: sends entries, losses and marks to the log and then to the sink, as blocks. It numbers
// the entries, those that are certainly lost included.
//
// If the log takes a block only in part, or not at all (the disk is full), what is missing becomes
// a loss of its own, which is written before the next block.
#include "log/log_block.h"
#include "follow/follow_room.h"
#include <stdlib.h>
#include <string.h>

enum { NAMES_HEADER = 8 }; // bytes of a NAMES block before the names

static struct extract_log_block loss_block(const struct out *out, enum extract_log_loss kind,
                                           uint64_t at_least, uint64_t modulo)
{
    return (struct extract_log_block){.type = EXTRACT_LOG_LOSS,
                                      .kind = (uint16_t)kind,
                                      .flags = out->is_held ? EXTRACT_LOG_LOSS_HELD : 0u,
                                      .lost = at_least,
                                      .numbers = at_least,
                                      .modulo = modulo};
}

// The sum of two numbers that are known modulo `a` and `b` is known modulo their greatest common
// divisor. 0 means an exact number, 1 a number of which only the least value is known.
static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static enum extract_code put_to_log(struct out *out, const struct extract_log_block *block,
                                    const void *payload, struct extract_error *error)
{
    struct extract_log_block loss =
        loss_block(out, EXTRACT_LOSS_LOG_FULL, out->unlogged, out->modulo);

    loss.first = block->first - block->lost;
    loss.wall = out->wall;
    if (!out->log)
        return EXTRACT_OK;
    enum extract_code code = EXTRACT_OK;
    if (out->unlogged || out->modulo)
        code = extract_log_put(out->log, &loss, NULL, error);
    if (!code)
        out->unlogged = out->modulo = 0;
    return code ? code : extract_log_put(out->log, block, payload, error);
}

// Returns how many entries of a block that failed are in the log.
static uint32_t count_taken(const struct out *out, const struct extract_log_block *block)
{
    uint64_t next = extract_log_next(out->log), end = block->first + block->count;

    return next <= block->first ? 0 : next < end ? (uint32_t)(next - block->first) : block->count;
}

// Notes what a block that failed would have stated. It becomes a part of the next loss. After the
// end of a log that is full, nothing counts as lost.
static void note_unlogged(struct out *out, const struct extract_log_block *block, uint32_t entries,
                          enum extract_code code)
{
    out->unlogged += entries + block->lost;
    if (block->type == EXTRACT_LOG_LOSS)
        out->modulo = common_divisor(out->modulo, block->modulo);
    if (code != EXTRACT_LIMIT)
        out->status->lost += entries;
}

static enum extract_code put_block(struct out *out, struct extract_log_block *block,
                                   const void *payload, struct extract_error *error)
{
    block->wall = out->wall;
    enum extract_code code = put_to_log(out, block, payload, error);
    uint32_t taken = code ? count_taken(out, block) : block->count;
    out->status->entries += taken;
    if (code)
        note_unlogged(out, block, block->count - taken, code);
    if (!code && out->sink)
        code = out->sink(out->context, block, payload, error);
    return code;
}

enum extract_code out_ring(struct out *out, const struct extract_ring *ring,
                           struct extract_error *error)
{
    struct extract_log_block block = {.type = EXTRACT_LOG_RING,
                                      .length = (uint32_t)sizeof *ring,
                                      .first = out->number,
                                      .wall = out->wall};
    enum extract_code code = out->log ? extract_log_put_ring(out->log, ring, error) : EXTRACT_OK;

    if (!code && out->sink)
        code = out->sink(out->context, &block, ring, error);
    return code;
}

enum extract_code record_put_program(struct extract_log_writer *log,
                                     const struct extract_symbols *symbols,
                                     struct extract_error *error)
{
    uint64_t entry;
    bool is_known = log && symbols && extract_symbols_entry(symbols, &entry);

    return is_known ? extract_log_put_program(log, entry, error) : EXTRACT_OK;
}

// Emits the names that are in use of a registry of names.
static enum extract_code put_names(struct out *out, const struct extract_ring *ring,
                                   const uint8_t *bytes, size_t length, struct extract_error *error)
{
    uint32_t each = ring->registry.slot_bytes;

    while (length >= each && !bytes[length - each])
        length -= each;
    struct extract_log_block block = {
        .type = EXTRACT_LOG_NAMES, .length = (uint32_t)length + NAMES_HEADER, .first = out->number};
    uint8_t *payload = malloc(block.length);
    if (!payload)
        return extract_error_set(error, EXTRACT_NOMEM, "names of events", NULL, "out of memory");
    extract_log_store(payload, each, 4);
    extract_log_store(payload + 4, ring->format->user_ids, 4);
    memcpy(payload + NAMES_HEADER, bytes, length);
    enum extract_code code = put_block(out, &block, payload, error);
    free(payload);
    return code;
}

static enum extract_code put_objects(struct out *out, const struct extract_ring *ring,
                                     const uint8_t *bytes, size_t length,
                                     struct extract_error *error)
{
    uint64_t address = ring->registry.start;
    struct extract_log_block block = {.type = EXTRACT_LOG_OBJECTS,
                                      .length = (uint32_t)length,
                                      .first = out->number,
                                      .value = address,
                                      .wall = out->wall};
    enum extract_code code = EXTRACT_OK;

    if (out->log)
        code = extract_log_put_objects(out->log, address, bytes, length, error);
    if (!code && out->sink)
        code = out->sink(out->context, &block, bytes, error);
    return code;
}

enum extract_code out_objects(struct out *out, const struct extract_ring *ring,
                              const uint8_t *bytes, size_t length, struct extract_error *error)
{
    return (ring->format->user_ids ? put_names : put_objects)(out, ring, bytes, length, error);
}

enum extract_code out_mark(struct out *out, enum extract_log_mark kind, uint64_t value,
                           const char *text, struct extract_error *error)
{
    struct extract_log_block block = {.type = EXTRACT_LOG_MARK,
                                      .kind = (uint16_t)kind,
                                      .length = (uint32_t)strlen(text),
                                      .first = out->number,
                                      .value = value};

    if (kind == EXTRACT_MARK_RESET)
        out->loss_sum = extract_log_sum_after_break(out->loss_sum);
    return put_block(out, &block, text, error);
}

enum extract_code out_loss(struct out *out, enum extract_log_loss kind, uint64_t at_least,
                           uint64_t modulo, struct extract_error *error)
{
    struct extract_log_block block = loss_block(out, kind, at_least, modulo);

    out->number += at_least;
    block.first = out->number;
    out->status->lost += at_least;
    if (kind != EXTRACT_LOSS_EARLIER) {
        out->status->gaps++;
        out->status->gaps_not_exact += modulo != 0;
    }
    out->loss_sum = extract_log_sum_after_loss(out->loss_sum, kind, !modulo);
    out->status->lost_is_exact = out->loss_sum == LOG_LOSS_SUM_EXACT;
    return put_block(out, &block, NULL, error);
}

enum extract_code out_entries(struct out *out, const struct extract_ring *ring,
                              const struct extract_follower_span *span, uint32_t provisional,
                              struct extract_error *error)
{
    uint32_t bytes = ring->entries.slot_bytes;
    const struct extract_slot_ring *follow = ring->format->slots;

    if (!span->count)
        return EXTRACT_OK;
    const uint8_t *last = span->entries + (size_t)(span->count - 1) * bytes;
    struct extract_log_block block = {.type = EXTRACT_LOG_ENTRIES,
                                      .flags = EXTRACT_LOG_STAMPS |
                                               (provisional ? EXTRACT_LOG_PROVISIONAL : 0u),
                                      .length = span->count * bytes,
                                      .count = span->count,
                                      .provisional = provisional,
                                      .first = out->number,
                                      .first_stamp = follow->stamp(ring, span->entries),
                                      .last_stamp = follow->stamp(ring, last)};
    out->number += span->count;
    return put_block(out, &block, span->entries, error);
}

enum extract_code out_bytes(struct out *out, const uint8_t *bytes, uint32_t length, uint32_t count,
                            struct extract_error *error)
{
    struct extract_log_block block = {
        .type = EXTRACT_LOG_BYTES, .length = length, .count = count, .first = out->number};

    if (!length)
        return EXTRACT_OK;
    out->number += count;
    return put_block(out, &block, bytes, error);
}
