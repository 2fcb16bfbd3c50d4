// SPDX-License-Identifier: MIT
// snapshot: joins the bytes of a log's blocks into one copy, and indexes their entries.
//
// A block ends wherever a poll ended, so entries pass from one block to the next. Blocks that
// follow each other without a loss are a run; each run is walked as a whole.
#include "snapshot/byte_log.h"
#include "base/grow.h"
#include "formats/format.h"
#include <stdlib.h>
#include <string.h>

// Consecutive blocks without a loss between them.
struct run {
    uint32_t from;    // offset in the copy
    bool is_boundary; // an entry begins there
};

struct reading {
    struct extract_byte_log *s;
    struct extract_log *log;
    const bool *known_keys;  // of rings
    uint32_t used, capacity; // bytes of the copy
    uint64_t expected;       // number of the next entry
    uint64_t break_number;   // number of the next entry after the last break
    bool is_counted;         // the ring's header shows where entries begin
    bool is_broken;          // the next block does not continue the previous one
    bool is_boundary;        // an entry begins at the next block although it is a break
    struct run *runs;
    size_t run_count, run_capacity;
};

static enum extract_code report_no_memory(struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_NOMEM, "log", NULL, "out of memory");
}

static bool grow_bytes(struct reading *r, uint32_t length)
{
    uint64_t want = (uint64_t)r->used + length, capacity = r->capacity ? r->capacity : 1u << 16;

    if (r->s->all.bytes && want <= r->capacity)
        return true;
    while (capacity < want)
        capacity *= 2;
    uint8_t *bytes = realloc(r->s->all.bytes, (size_t)capacity);
    if (!bytes)
        return false;
    r->s->all.bytes = bytes;
    r->capacity = (uint32_t)capacity;
    return true;
}

static bool note_block(struct reading *r, size_t block)
{
    struct extract_byte_log *s = r->s;

    if (r->is_broken || !r->run_count) {
        struct run *runs = extract_grow(r->runs, &r->run_capacity, r->run_count, sizeof *runs);
        if (!runs)
            return false;
        r->runs = runs;
        r->runs[r->run_count++] = (struct run){r->used, r->is_boundary};
        r->is_broken = r->is_boundary = false;
    }
    struct extract_byte_log_block *list =
        extract_grow(s->list, &s->capacity, s->count, sizeof *list);
    if (!list)
        return false;
    s->list = list;
    s->list[s->count++] = (struct extract_byte_log_block){.block = block};
    return true;
}

// Appends a block of bytes.
static enum extract_code append_block(struct reading *r, const struct extract_log_block *block,
                                      struct extract_error *error)
{
    if ((uint64_t)r->used + block->length > EXTRACT_RING_LIMIT)
        return extract_error_set(error, EXTRACT_LIMIT, "log", "record with --size 256M or less",
                                 "more than 256 MiB of frames");
    if (!grow_bytes(r, block->length))
        return report_no_memory(error);
    enum extract_code code = extract_log_read(r->log, block, r->s->all.bytes + r->used, NULL);
    if (!code && block->kind && !r->known_keys[block->kind])
        code = EXTRACT_BAD;
    if (block->first != r->expected) {
        r->is_broken = true;
        r->is_boundary &= block->first == r->break_number;
    }
    r->expected = block->first + block->count;
    if (code == EXTRACT_NOMEM)
        return report_no_memory(error);
    if (code) {
        r->is_broken = true;
        r->is_boundary = false;
        return EXTRACT_OK;
    }
    if (!note_block(r, block->index))
        return report_no_memory(error);
    r->used += block->length;
    r->s->list[r->s->count - 1].end = r->used;
    return EXTRACT_OK;
}

// Returns whether the bytes after a block do not continue those before it.
static bool is_break(const struct extract_log_block *block)
{
    bool mark = block->type == EXTRACT_LOG_MARK &&
                (block->kind == EXTRACT_MARK_START || block->kind == EXTRACT_MARK_RESET);

    return mark || block->type == EXTRACT_LOG_LOSS || block->type == EXTRACT_LOG_GONE;
}

static enum extract_code read_blocks(struct reading *r, struct extract_error *error)
{
    struct extract_log_block block;
    enum extract_code code = EXTRACT_OK;

    for (size_t i = 0; !code && extract_log_block_at(r->log, i, &block); i++) {
        if (is_break(&block)) {
            r->is_broken = true;
            r->is_boundary = r->is_counted && block.type != EXTRACT_LOG_GONE;
            r->break_number = block.first;
        }
        if (block.type == EXTRACT_LOG_BYTES)
            code = append_block(r, &block, error);
    }
    return code;
}

// ---- The entries ----

static void apply_user_settings(struct extract_rkh *rkh, const struct extract_rkh *better)
{
    for (unsigned key = 0; better && key < EXTRACT_RKH_KEYS; key++)
        if (better->from[key] >= rkh->from[key] && better->from[key]) {
            rkh->value[key] = better->value[key];
            rkh->from[key] = better->from[key];
        }
    if (better)
        memcpy(rkh->signals, better->signals, sizeof rkh->signals);
}

// Makes the copy a ring of bytes that contains nothing else, with the slack bytes for its walk.
static bool frame_bytes(struct reading *r, const struct extract_ring *ring)
{
    struct extract_snapshot *all = &r->s->all;
    uint64_t start = ring->entries.start;

    all->ring = *ring;
    all->ring.address = start;
    all->ring.length = r->used;
    all->ring.header_bytes = 0;
    all->ring.rkh.view = EXTRACT_RKH_HISTORY;
    all->ring.entries = (struct extract_slots){start, start + r->used, 0, 0};
    uint64_t slack_bytes = ring->format->stream->slack_bytes(&all->ring);
    uint8_t *bytes = realloc(all->bytes, (size_t)(r->used + slack_bytes + 1));
    if (!bytes)
        return false;
    memset(bytes + r->used, 0, (size_t)slack_bytes + 1);
    all->bytes = bytes;
    return true;
}

static bool walk_runs(struct reading *r)
{
    struct extract_snapshot *all = &r->s->all;
    const struct extract_stream *stream = all->ring.format->stream;

    for (size_t i = 0; i < r->run_count; i++) {
        uint32_t to = i + 1 < r->run_count ? r->runs[i + 1].from : r->used;
        all->ring.rkh.walked = (struct extract_rkh_walked){.layout = all->ring.rkh.walked.layout};
        if (to != r->runs[i].from &&
            !stream->walk(all, r->runs[i].from, to, r->runs[i].is_boundary))
            return false;
    }
    return true;
}

// Assigns each entry to the block that contains its last byte.
static void assign_to_blocks(struct extract_byte_log *s)
{
    uint32_t entry = 0, count = s->all.ring.entries.count;

    for (size_t i = 0; i < s->count; i++) {
        struct extract_byte_log_block *part = &s->list[i];
        part->first = entry;
        while (entry < count && s->all.index[entry].at + s->all.index[entry].length <= part->end)
            entry++;
        part->count = entry - part->first;
    }
}

static enum extract_code find_entries(struct reading *r, struct extract_ring *ring,
                                      const struct extract_rkh *rkh, struct extract_error *error)
{
    struct extract_snapshot *all = &r->s->all;

    apply_user_settings(&ring->rkh, rkh);
    if (!frame_bytes(r, ring))
        return report_no_memory(error);
    enum extract_code code = EXTRACT_OK;
    if (r->used)
        code = ring->format->stream->resolve_layout(all, 0, r->used, error);
    if (!code && !walk_runs(r))
        code = report_no_memory(error);
    if (code)
        return code;
    assign_to_blocks(r->s);
    ring->rkh = all->ring.rkh;
    ring->timer_mask = all->ring.timer_mask;
    ring->hz = all->ring.hz;
    return EXTRACT_OK;
}

enum extract_code extract_byte_log_read(struct extract_byte_log *byte_log, struct extract_log *log,
                                        struct extract_ring *ring, const bool *known_keys,
                                        const struct extract_rkh *rkh, struct extract_error *error)
{
    struct reading r = {.s = byte_log,
                        .log = log,
                        .known_keys = known_keys,
                        .is_counted = ring->format->stream->counted};

    extract_byte_log_free(byte_log);
    enum extract_code code = read_blocks(&r, error);
    if (!code)
        code = find_entries(&r, ring, rkh, error);
    free(r.runs);
    if (code)
        extract_byte_log_free(byte_log);
    return code;
}

void extract_byte_log_free(struct extract_byte_log *byte_log)
{
    extract_snapshot_free(&byte_log->all);
    free(byte_log->list);
    *byte_log = (struct extract_byte_log){0};
}

bool extract_byte_log_block_of(const struct extract_byte_log *byte_log, size_t i,
                               struct extract_snapshot *piece)
{
    size_t low = 0, high = byte_log->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (byte_log->list[middle].block < i)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == byte_log->count || byte_log->list[low].block != i)
        return false;
    const struct extract_byte_log_block *part = &byte_log->list[low];
    *piece = byte_log->all;
    piece->ring.entries.count = part->count;
    piece->index = byte_log->all.index ? byte_log->all.index + part->first : NULL;
    piece->verdict = byte_log->all.verdict ? byte_log->all.verdict + part->first : NULL;
    piece->index_capacity = 0;
    for (uint32_t k = 0; k < part->count; k++)
        piece->counts[piece->verdict[k]]++;
    return true;
}
