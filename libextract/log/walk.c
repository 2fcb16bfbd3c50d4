// SPDX-License-Identifier: MIT
// log: which blocks a file holds. In: its sections. Out: an index of the blocks in the order of
// writing, and what is missing between them.
#include "base/cursor.h"
#include "log/internal.h"

enum { DOUBTS = 16 }; // a hostile file could make each of them cost a section

// A walk through the sections, in order. The newest block is pending until another one follows or
// the log ends: only then it is known whether it is damaged, or was never finished.
struct walk {
    struct extract_log *log;
    size_t sections;               // that have been walked
    uint64_t number;               // the next block has it, if nothing is missing
    uint64_t at;                   // offset after the last block
    uint64_t last_offset;          // the farthest of these offsets
    uint64_t end;                  // end of the section that `last_offset` is in
    struct extract_log_block last; // the newest block
    bool any;
    bool is_pending;
    bool is_listed;   // the last block is in the index
    bool is_verified; // the checksum of the last block was computed
    bool is_whole;    // the checksum of the last block is right
    bool is_out;      // the last block was taken out of the log, since its writer did not finish it
    bool in_head;     // only blocks of repeated types have followed the SECTION block
    bool is_counted;  // what was passed over since the last block is counted as damage
    // One bit for each of the last 64 block numbers; bit 0 is that of the last block.
    uint64_t missing; // no block with that number was found
    uint64_t damaged; // the block was found, but is not whole
    // Set if the oldest section has lost its SECTION block, as it has while it is being
    // overwritten.
    bool is_overwriting;
    uint64_t overwriting_bytes; // bytes that were passed over there
    uint64_t overwriting_copy;  // copy_distance of the SECTION block after them; 0: there is none
};

// ---- One block ----

static uint64_t add(uint64_t a, uint64_t b)
{
    return a + b >= a ? a + b : UINT64_MAX;
}

static void count(struct extract_log *log, const struct extract_log_block *block)
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
    log->moves |= log->program && log->entry != entry;
    log->program = true;
    log->entry = entry;
}

// Whether a whole block tells nothing new: at the head of its section or as a copy, it has the
// payload of the newest one of its type.
static bool repeats(struct walk *walk, const struct extract_log_block *block,
                    const struct log_print *now)
{
    struct log_print *last = &walk->log->prints[extract_log_repeated(block->type)];
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

static bool list(struct extract_log *log, const struct extract_log_block *block)
{
    uint32_t *blocks = extract_grow(log->blocks, &log->room, log->count, sizeof *blocks);
    if (!blocks)
        return false;
    log->blocks = blocks;
    log->blocks[log->count++] = (uint32_t)(block->offset % log->status.section_bytes / 8);
    return true;
}

// Takes the last block into the counts.
static void settle(struct walk *walk)
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
        count(log, &walk->last);
    }
}

static uint64_t shift(uint64_t bits, uint64_t by)
{
    return by < 64 ? bits << by : 0;
}

// Returns the number of the oldest section that the writer of a LOOP log has not written over.
static uint64_t oldest_section(const struct extract_log *log)
{
    uint64_t newest = log->sections[log->section_count - 1].number;
    return newest >= log->turn ? newest - log->turn + 1 : 0;
}

// Counts the blocks that must have been between the last one and the one with this number.
static void count_gap(struct walk *walk, uint64_t number)
{
    struct extract_log *log = walk->log;
    struct extract_log_status *s = &log->status;
    uint64_t gap = number - walk->number;
    walk->missing = shift(walk->missing, gap + 1);
    walk->damaged = shift(walk->damaged, gap + 1);
    if (!gap)
        return;
    if (!walk->any && s->policy == EXTRACT_LOG_LOOP && oldest_section(log)) {
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

// Notes that a copy is read in place of a block that is missing or damaged.
static void note_copy(struct walk *walk, const struct extract_log_block *copy)
{
    struct extract_log_status *s = &walk->log->status;
    uint64_t distance = copy->copy_distance;
    if (!distance || distance > 62)
        return;
    uint64_t bit = UINT64_C(1) << distance;
    if (walk->missing & bit) {
        // Where this was the only block that is missing there, the damaged place has a name now.
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

// Takes the next block of the walk. Blocks with entries are verified when they are read, all others
// here.
static bool accept(struct walk *walk, const struct extract_log_block *block)
{
    bool is_repeated = extract_log_repeated(block->type) < LOG_REPEATED, repeat = false;
    struct log_print print = {0};
    settle(walk);
    count_gap(walk, block->number);
    walk->is_verified = !extract_log_holds_entries(block);
    walk->is_whole = walk->is_verified && extract_log_verify(walk->log, block, &print);
    if (is_repeated && walk->is_whole) {
        note_copy(walk, block);
        repeat = repeats(walk, block, &print);
    } else if (is_repeated) { // what holds from here on is unknown until a block repeats it
        walk->log->prints[extract_log_repeated(block->type)].known = false;
    }
    walk->damaged |=
        walk->is_verified && !walk->is_whole && !extract_log_is_overwritten(walk->log, block);
    walk->in_head = block->type == EXTRACT_LOG_SECTION || (walk->in_head && is_repeated);
    walk->is_listed = !repeat;
    walk->last = *block;
    walk->number = block->number + 1;
    walk->at = block->offset + extract_log_size(block->length);
    walk->last_offset = walk->at > walk->last_offset ? walk->at : walk->last_offset;
    walk->any = walk->is_pending = true;
    walk->is_counted = walk->is_out = false;
    return repeat || list(walk->log, block);
}

// ---- Sections ----

// Whether a writer that wraps comes to this section next.
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
    uint64_t most;   // blocks that can be missing in front of one
    unsigned doubts; // blocks that may still be verified
};

// Blocks that a section can hold.
static uint64_t blocks_most(const struct extract_log *log)
{
    return log->status.section_bytes / LOG_HEAD;
}

static struct bounds bounds_of(const struct walk *walk, const struct log_section *section)
{
    const struct extract_log_status *s = &walk->log->status;
    struct bounds b = {.start = section->place * s->section_bytes,
                       .end = section->end,
                       .section = section->number,
                       .most = UINT64_MAX,
                       .doubts = DOUBTS};
    // What is missing lies in this section, or in those between.
    uint64_t passed = walk->any ? section->number - walk->last.section + 1 : 0;
    uint64_t in_one = blocks_most(walk->log);
    if (walk->any && passed < UINT64_MAX / in_one)
        b.most = passed * in_one;
    return b;
}

// A head whose block is not followed by the next one may have a wrong length, behind which others
// are hidden: the checksum tells.
static bool is_sound(struct walk *walk, const struct extract_log_block *block, struct bounds *b)
{
    struct extract_log_block next;
    uint64_t at = block->offset + extract_log_size(block->length);
    if (extract_log_head_at(walk->log, &next, at, b->end, b->section, block->number + 1, 0))
        return true;
    return !b->doubts || (b->doubts-- && extract_log_verify(walk->log, block, NULL));
}

// The first sound block from an offset on. Without one, the first that has a head at least: it is
// damaged, or was being written. False: there is none.
static bool find_block(struct walk *walk, struct extract_log_block *block, uint64_t at,
                       struct bounds *b)
{
    struct extract_log *log = walk->log;
    struct extract_log_block doubtful;
    bool doubt = false;
    bool is = extract_log_head_at(log, block, at, b->end, b->section, walk->number, b->most);
    while (is ||
           extract_log_next_head(log, block, at + 8, b->end, &b->section, walk->number, b->most)) {
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
        if (!accept(walk, &block))
            return false;
        if (walk->at == walk->last_offset)
            walk->end = b.end;
        b.most = blocks_most(walk->log);
    }
    return true;
}

// ---- The end ----

// Whether a writer began something behind the last block.
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

// Takes the last block of what one writer left out of the log, if it is not whole.
static void take_out_torn(struct walk *walk)
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
    // Where it is the last of the file, too, a writer that continues uses its number again.
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

// In a log that was closed, nothing was being written over: the SECTION block is damaged.
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

static void finish(struct walk *walk)
{
    struct extract_log *log = walk->log;
    struct extract_log_status *s = &log->status;
    take_out_torn(walk);
    settle(walk);
    bool torn = walk->is_out || is_begun(walk);
    s->closed = !torn && walk->last.type == EXTRACT_LOG_STATUS;
    if (s->closed)
        read_totals(log, &walk->last);
    if (walk->is_overwriting && s->closed)
        count_overwriting(walk);
    log->end = walk->end;
    log->is_torn = walk->is_out;
    log->next_number = walk->number;
    s->cut = torn || (walk->is_overwriting && !s->closed);
}

enum extract_code extract_log_walk(struct extract_log *log, struct extract_error *error)
{
    struct walk walk = {.log = log, .end = log->size};
    log->status.lost_known = true;
    for (; walk.sections < log->section_count; walk.sections++) {
        struct log_section *section = &log->sections[walk.sections];
        if (section->follows_torn)
            take_out_torn(&walk);
        if (!walk_section(&walk, section))
            return extract_error_set(error, EXTRACT_NOMEM, log->path, NULL,
                                     "no memory for an index of its blocks");
    }
    if (log->section_count)
        finish(&walk);
    return EXTRACT_OK;
}
