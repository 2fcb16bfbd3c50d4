// SPDX-License-Identifier: MIT
// log: finds the blocks of a file, section by section. The result is an index of the blocks in the
// order of writing, and the counts of what is damaged or missing between them.
//
// Each block is searched where the previous one ends. If there is none, the walk skips bytes until
// a header fits. Block numbers are consecutive, so a gap in them shows how many blocks are missing.
// A copy of a missing or damaged block replaces it.
#include "base/cursor.h"
#include "log/log_room.h"

enum { DOUBTS = 16 }; // limits what a hostile file can cost: each may read a section

// A walk through the sections, in order. The newest block is pending until another one follows or
// the log ends: only then it is known whether it is damaged, or was never finished.
struct walk {
    struct extract_log *log;
    size_t sections;               // number of sections already walked
    uint64_t number;               // number of the next block if none is missing
    uint64_t at;                   // file offset after the last block
    uint64_t last_offset;          // highest value of `at`
    uint64_t section_end;          // end of the section that `last_offset` is in
    struct extract_log_block last; // the newest block
    bool has_block;                // at least one block was found
    bool is_pending;
    bool is_listed;   // the last block is in the index
    bool is_verified; // the checksum of the last block was computed
    bool is_whole;    // the checksum of the last block is correct
    bool is_out;      // the last block was removed from the log, because it was never finished
    bool in_head;     // only blocks of repeated types have followed the SECTION block
    bool is_counted;  // bytes skipped after the last block are already counted as damage
    // One bit for each of the last 64 block numbers; bit 0 is that of the last block.
    uint64_t missing; // no block with that number was found
    uint64_t damaged; // the block was found, but is not valid
    // Set if the oldest section has no SECTION block, as is the case while it is being overwritten.
    bool is_overwriting;
    uint64_t overwriting_bytes; // bytes skipped there
    uint64_t overwriting_copy;  // copy_distance of the SECTION block after them; 0: there is none
};

// ---- One block ----

static uint64_t add(uint64_t a, uint64_t b)
{
    return a + b >= a ? a + b : UINT64_MAX;
}

static void count_block(struct extract_log *log, const struct extract_log_block *block)
{
    struct extract_log_status *s = &log->status;

    s->blocks++;
    if (extract_log_holds_entries(block))
        s->entries = add(s->entries, block->count);
    if (block->type == EXTRACT_LOG_LOSS) {
        s->lost = add(s->lost, block->lost);
        bool is_whole = !s->dropped || log->has_start || block->kind != EXTRACT_LOSS_EARLIER;
        bool is_exact = !block->modulo && is_whole;
        log->loss_sum = extract_log_sum_after_loss(log->loss_sum, block->kind, is_exact);
        s->lost_known = log->loss_sum == LOG_LOSS_SUM_EXACT;
    }
    if (block->type == EXTRACT_LOG_MARK) {
        s->full = block->kind == EXTRACT_MARK_FULL;
        if (block->kind == EXTRACT_MARK_START || block->kind == EXTRACT_MARK_RESET) {
            log->loss_sum = extract_log_sum_after_break(log->loss_sum);
            log->has_start = true;
        }
    }
}

static void note_order(struct extract_log *log, const struct extract_log_block *ring)
{
    enum { AT_ORDER = 44 };
    size_t length = ring->length < LOG_RING_PAYLOAD ? ring->length : LOG_RING_PAYLOAD;
    const uint8_t *bytes = extract_log_peek(log, ring->offset + LOG_HEAD, length);
    struct extract_cursor c = extract_cursor_make(bytes, length, EXTRACT_LITTLE);

    extract_cursor_seek(&c, AT_ORDER);
    uint32_t order = extract_cursor_u32(&c);
    if (order == EXTRACT_LITTLE || order == EXTRACT_BIG)
        log->status.byte_order = (enum extract_byte_order)order;
}

static void note_program(struct extract_log *log, const struct extract_log_block *block)
{
    const size_t length = block->length < LOG_PROGRAM_PAYLOAD ? 0 : LOG_PROGRAM_PAYLOAD;
    const uint8_t *bytes = extract_log_peek(log, block->offset + LOG_HEAD, length);
    struct extract_cursor c = extract_cursor_make(bytes, bytes ? length : 0, EXTRACT_LITTLE);
    uint64_t entry = extract_cursor_u64(&c);

    if (c.failed)
        return;
    log->program_moved |= log->has_program && log->entry != entry;
    log->has_program = true;
    log->entry = entry;
}

// Returns whether a valid block contains nothing new: it is a copy, or in the head of its section,
// and has the payload of the newest block of its type.
static bool is_known_repeat(struct walk *walk, const struct extract_log_block *block,
                            const struct log_digest *now)
{
    struct log_digest *last = &walk->log->digests[extract_log_repeated(block->type)];
    bool is_repeat = block->copy_distance || (walk->in_head && block->type != EXTRACT_LOG_SECTION);
    bool same = is_repeat && last->known && last->length == now->length &&
                last->sums.one == now->sums.one && last->sums.two == now->sums.two;

    *last = *now;
    if (block->type == EXTRACT_LOG_RING)
        note_order(walk->log, block);
    if (block->type == EXTRACT_LOG_PROGRAM)
        note_program(walk->log, block);
    return same;
}

static bool list_block(struct extract_log *log, const struct extract_log_block *block)
{
    uint32_t *blocks = extract_grow(log->blocks, &log->capacity, log->count, sizeof *blocks);

    if (!blocks)
        return false;
    log->blocks = blocks;
    log->blocks[log->count++] = (uint32_t)(block->offset % log->status.section_bytes / 8);
    return true;
}

// Adds the last block to the counts.
static void count_last_block(struct walk *walk)
{
    struct extract_log *log = walk->log;

    if (!walk->is_pending)
        return;
    walk->is_pending = false;
    if (walk->is_verified && !walk->is_whole) {
        extract_log_count_unwhole(log, &walk->last);
        if (walk->is_listed)
            log->blocks[log->count - 1] |= LOG_DAMAGED;
    } else if (walk->is_listed) {
        count_block(log, &walk->last);
    }
}

static uint64_t shift(uint64_t bits, uint64_t by)
{
    return by < 64 ? bits << by : 0;
}

// Returns the number of the oldest section that the writer of a LOOP log has not dropped.
static uint64_t oldest_section(const struct extract_log *log)
{
    uint64_t newest = log->sections[log->section_count - 1].number;

    return newest >= log->turn ? newest - log->turn + 1 : 0;
}

// Counts the blocks that are missing between the last one and the one with this number.
static void count_gap(struct walk *walk, uint64_t number)
{
    struct extract_log *log = walk->log;
    struct extract_log_status *s = &log->status;
    uint64_t gap = number - walk->number;

    walk->missing = shift(walk->missing, gap + 1);
    walk->damaged = shift(walk->damaged, gap + 1);
    if (!gap)
        return;
    if (!walk->has_block && s->policy == EXTRACT_LOG_LOOP && oldest_section(log)) {
        bool has_oldest = log->sections[0].number <= oldest_section(log);
        s->dropped = number;
        s->damaged += !has_oldest;
        s->damaged_of[0] += !has_oldest;
        return;
    }
    walk->missing |= gap < 63 ? (shift(1, gap) - 1) << 1 : ~UINT64_C(1);
    s->missing = add(s->missing, gap);
    if (walk->is_counted)
        return;
    s->damaged++;
    s->damaged_of[0]++;
}

// Notes that a copy replaces a block that is missing or damaged.
static void note_copy(struct walk *walk, const struct extract_log_block *copy)
{
    struct extract_log_status *s = &walk->log->status;
    uint64_t distance = copy->copy_distance;

    if (!distance || distance > 62)
        return;
    uint64_t bit = UINT64_C(1) << distance;
    if (walk->missing & bit) {
        // If this is the only block missing there, the type of the damaged block is now known.
        bool is_alone = !(walk->missing & (bit << 1 | bit >> 1));
        s->damaged_of[0] -= is_alone && s->damaged_of[0];
        s->damaged_of[copy->type]++;
        s->missing--;
        s->restored++;
        walk->missing &= ~bit;
    } else if (walk->damaged & bit) {
        s->restored++;
        walk->damaged &= ~bit;
    }
}

// Adds the next block to the walk. Verifies it, unless it contains entries: those are verified when
// they are read.
static bool accept_block(struct walk *walk, const struct extract_log_block *block)
{
    bool is_repeated = extract_log_repeated(block->type) < LOG_REPEATED, repeat = false;
    struct log_digest digest = {0};

    count_last_block(walk);
    count_gap(walk, block->number);
    walk->is_verified = !extract_log_holds_entries(block);
    walk->is_whole = walk->is_verified && extract_log_verify(walk->log, block, &digest);
    if (is_repeated && walk->is_whole) {
        note_copy(walk, block);
        repeat = is_known_repeat(walk, block, &digest);
    } else if (is_repeated) { // the newest content of this type is unknown until it is repeated
        walk->log->digests[extract_log_repeated(block->type)].known = false;
    }
    walk->damaged |=
        walk->is_verified && !walk->is_whole && !extract_log_is_overwritten(walk->log, block);
    walk->in_head = block->type == EXTRACT_LOG_SECTION || (walk->in_head && is_repeated);
    walk->is_listed = !repeat;
    walk->last = *block;
    walk->number = block->number + 1;
    walk->at = block->offset + extract_log_size(block->length);
    walk->last_offset = walk->at > walk->last_offset ? walk->at : walk->last_offset;
    walk->has_block = walk->is_pending = true;
    walk->is_counted = walk->is_out = false;
    return repeat || list_block(walk->log, block);
}

// ---- Sections ----

// Returns whether the writer of a LOOP log overwrites this section next.
static bool is_next(const struct extract_log *log, const struct log_section *section)
{
    const struct log_section *newest = &log->sections[log->section_count - 1];

    return log->status.policy == EXTRACT_LOG_LOOP && section != newest &&
           section->place == (newest->place + 1) % log->turn;
}

// The bounds of a section in the file, and of its blocks' numbers.
struct bounds {
    uint64_t start, end;
    uint64_t section;
    uint64_t max_missing; // number of blocks that can be missing before the next one
    unsigned doubts;      // number of blocks that may still be verified
};

// Returns the maximum number of blocks in a section.
static uint64_t max_blocks(const struct extract_log *log)
{
    return log->status.section_bytes / LOG_HEAD;
}

static struct bounds bounds_of(const struct walk *walk, const struct log_section *section)
{
    const struct extract_log_status *s = &walk->log->status;
    struct bounds b = {.start = section->place * s->section_bytes,
                       .end = section->end,
                       .section = section->number,
                       .max_missing = UINT64_MAX,
                       .doubts = DOUBTS};

    // Missing blocks were in this section, or in those since the last block.
    uint64_t passed = walk->has_block ? section->number - walk->last.section + 1 : 0;
    uint64_t in_one = max_blocks(walk->log);
    if (walk->has_block && passed < UINT64_MAX / in_one)
        b.max_missing = passed * in_one;
    return b;
}

// Returns whether the length in a header can be trusted. If the next block does not follow, the
// length may be wrong and hide other blocks; then the checksum decides.
static bool is_sound(struct walk *walk, const struct extract_log_block *block, struct bounds *b)
{
    struct extract_log_block next;
    uint64_t at = block->offset + extract_log_size(block->length);

    if (extract_log_head_at(walk->log, &next, at, b->end, b->section, block->number + 1, 0))
        return true;
    return !b->doubts || (b->doubts-- && extract_log_verify(walk->log, block, NULL));
}

// Finds the first sound block at `at` or later. If there is none, finds the first that has at least
// a header: it is damaged, or was being written. Returns false if there is none.
static bool find_block(struct walk *walk, struct extract_log_block *block, uint64_t at,
                       struct bounds *b)
{
    struct extract_log *log = walk->log;
    struct extract_log_block doubtful;
    bool doubt = false;
    bool is = extract_log_head_at(log, block, at, b->end, b->section, walk->number, b->max_missing);

    while (is || extract_log_next_head(log, block, at + 8, b->end, &b->section, walk->number,
                                       b->max_missing)) {
        if (is_sound(walk, block, b))
            return true;
        if (!doubt)
            doubtful = *block;
        doubt = true;
        is = false;
        at = block->offset;
    }
    if (doubt)
        *block = doubtful;
    return doubt;
}

// Counts the bytes from `at` to the next block as damage, unless a writer has begun to overwrite
// them.
static void count_damage(struct walk *walk, const struct log_section *section, uint64_t at,
                         const struct extract_log_block *next, const struct bounds *b)
{
    walk->is_counted = true;
    if (at == b->start && section->headless && is_next(walk->log, section)) {
        walk->is_overwriting = true;
        walk->overwriting_bytes = next->offset - at;
        walk->overwriting_copy = next->type == EXTRACT_LOG_SECTION ? next->copy_distance : 0;
        return;
    }
    walk->log->status.damaged++;
    walk->log->status.damaged_of[0]++;
    walk->log->status.damaged_bytes += next->offset - at;
}

static bool walk_section(struct walk *walk, struct log_section *section)
{
    struct extract_log_block block;
    struct bounds b = bounds_of(walk, section);

    section->first = walk->log->count;
    for (uint64_t at = b.start; at < b.end && find_block(walk, &block, at, &b); at = walk->at) {
        if (block.offset != at)
            count_damage(walk, section, at, &block, &b);
        if (!accept_block(walk, &block))
            return false;
        if (walk->at == walk->last_offset)
            walk->section_end = b.end;
        b.max_missing = max_blocks(walk->log);
    }
    return true;
}

// ---- The end ----

// Returns whether a writer began something after the last block.
static bool is_begun(struct walk *walk)
{
    struct extract_log *log = walk->log;
    const struct log_section *newest = &log->sections[log->section_count - 1];
    struct extract_log_block block;
    bool turned = log->status.policy == EXTRACT_LOG_LOOP && newest->number >= log->turn;

    if (!turned)
        return log->size > walk->last_offset;
    const uint8_t *head = extract_log_peek(log, walk->at, LOG_HEAD);
    return head && extract_log_decode(&block, head) && block.section == newest->number &&
           block.number == walk->number;
}

// Removes the last block of one writer from the log, if that block is not valid.
static void remove_torn(struct walk *walk)
{
    struct extract_log *log = walk->log;
    const struct extract_log_block *b = &walk->last;

    if (!walk->is_pending ||
        (walk->is_verified ? walk->is_whole : extract_log_verify(log, b, NULL)))
        return;
    walk->is_pending = false;
    walk->is_out = true;
    log->count -= walk->is_listed;
    for (size_t i = walk->sections; i-- && log->sections[i].first > log->count;)
        log->sections[i].first = log->count;
    // If it is also the last of the file, a writer that continues the log uses its number again.
    if (walk->last_offset != walk->at)
        return;
    walk->last_offset = b->offset;
    walk->number = b->number;
}

static void read_totals(struct extract_log *log, const struct extract_log_block *status)
{
    const uint8_t *bytes =
        extract_log_peek(log, status->offset + LOG_HEAD,
                         status->length < LOG_STATUS_PAYLOAD ? status->length : LOG_STATUS_PAYLOAD);

    if (bytes && status->length >= LOG_STATUS_PAYLOAD)
        extract_log_totals_decode(&log->status.totals, bytes, LOG_STATUS_PAYLOAD);
}

// Counts the missing SECTION block of the oldest section as damaged. Called if the log was closed:
// then no section was being overwritten.
static void count_overwriting(struct walk *walk)
{
    struct extract_log_status *s = &walk->log->status;

    s->damaged++;
    s->damaged_bytes += walk->overwriting_bytes;
    s->damaged_of[walk->overwriting_copy ? EXTRACT_LOG_SECTION : 0]++;
    if (!walk->overwriting_copy || walk->overwriting_copy > s->dropped)
        return;
    s->dropped -= walk->overwriting_copy;
    s->restored++;
}

static void finish_walk(struct walk *walk)
{
    struct extract_log *log = walk->log;
    struct extract_log_status *s = &log->status;

    remove_torn(walk);
    count_last_block(walk);
    bool torn = walk->is_out || is_begun(walk);
    s->closed = !torn && walk->last.type == EXTRACT_LOG_STATUS;
    if (s->closed)
        read_totals(log, &walk->last);
    if (walk->is_overwriting && s->closed)
        count_overwriting(walk);
    log->end = walk->section_end;
    log->is_torn = walk->is_out;
    log->next_number = walk->number;
    s->cut = torn || (walk->is_overwriting && !s->closed);
}

enum extract_code extract_log_walk(struct extract_log *log, struct extract_error *error)
{
    struct walk walk = {.log = log, .section_end = log->size};
    log->status.lost_known = true;
    for (; walk.sections < log->section_count; walk.sections++) {
        struct log_section *section = &log->sections[walk.sections];
        if (section->follows_torn)
            remove_torn(&walk);
        if (!walk_section(&walk, section))
            return extract_error_set(error, EXTRACT_NOMEM, log->path, NULL,
                                     "out of memory for an index of its blocks");
    }
    if (log->section_count)
        finish_walk(&walk);
    return EXTRACT_OK;
}
