// SPDX-License-Identifier: MIT
// log: which blocks a file holds. In: its sections. Out: an index of the blocks in the order of
// writing, and what is missing between them.
#include "base/cursor.h"
#include "log/room.h"

enum { DOUBTS = 16 }; // a hostile file could make each of them cost a section

// A walk through the sections, in order.
struct walk {
    struct extract_log *log;
    size_t sections;               // that have been walked
    uint64_t number;               // the next block has it, if nothing is missing
    uint64_t at;                   // offset behind the last block
    uint64_t reach;                // the farthest of these offsets
    struct extract_log_block last; // the newest block
    bool any;
    bool broken;      // what was passed over since the last block has been counted
    bool head;        // only what is repeated has followed the SECTION block
    bool listed;      // the last block is in the index
    bool whole;       // and is known to be whole
    bool out;         // or has been taken out of the log, since it is not
    uint64_t end;     // of the section that `reach` lies in
    bool overwriting; // the oldest section has lost its SECTION block, as when it is written over
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
        s->lost_known = s->lost_known && !block->modulo;
    }
    if (block->type == EXTRACT_LOG_MARK)
        s->full = block->kind == EXTRACT_MARK_FULL;
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

// Whether a block repeats the one of its type before it, at the head of its section.
static bool repeats(struct walk *walk, const struct extract_log_block *block)
{
    struct extract_log *log = walk->log;
    struct log_print *last = &log->prints[extract_log_repeated(block->type)];
    struct log_print now = {0};
    walk->whole = extract_log_verify(log, block, &now);
    if (!walk->whole) { // what holds from here on is not known before it is said again
        last->known = false;
        return false;
    }
    bool same = walk->head && last->known && last->length == now.length &&
                last->sums.one == now.sums.one && last->sums.two == now.sums.two;
    *last = now;
    if (block->type == EXTRACT_LOG_RING)
        note_order(log, block);
    if (block->type == EXTRACT_LOG_PROGRAM)
        note_program(log, block);
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

// What the numbers tell of blocks that are not there.
static void count_gap(struct walk *walk, uint64_t number)
{
    struct extract_log_status *s = &walk->log->status;
    if (number == walk->number)
        return;
    if (!walk->any && s->policy == EXTRACT_LOG_LOOP && walk->log->sections[0].number) {
        s->dropped = number;
        return;
    }
    s->missing = add(s->missing, number - walk->number);
    if (!walk->broken)
        s->damaged++;
}

static bool accept(struct walk *walk, const struct extract_log_block *block)
{
    bool repeat = false, facts = extract_log_repeated(block->type) < LOG_REPEATED;
    count_gap(walk, block->number);
    walk->whole = walk->out = false;
    if (facts)
        repeat = repeats(walk, block);
    walk->head = block->type == EXTRACT_LOG_SECTION || (walk->head && facts);
    walk->listed = !repeat;
    walk->last = *block;
    walk->number = block->number + 1;
    walk->at = block->offset + extract_log_size(block->length);
    walk->reach = walk->at > walk->reach ? walk->at : walk->reach;
    walk->any = true;
    walk->broken = false;
    if (repeat)
        return true;
    count(walk->log, block);
    return list(walk->log, block);
}

// ---- Sections ----

// Whether a writer that goes round comes to this section next.
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

static void count_damage(struct walk *walk, const struct log_section *section, uint64_t at,
                         uint64_t next, const struct bounds *b)
{
    walk->broken = true;
    if (at == b->start && section->headless && is_next(walk->log, section)) {
        walk->overwriting = true;
        return;
    }
    walk->log->status.damaged++;
    walk->log->status.damaged_bytes += next - at;
}

static bool walk_section(struct walk *walk, struct log_section *section)
{
    struct extract_log_block block;
    struct bounds b = bounds_of(walk, section);
    section->first = walk->log->count;
    for (uint64_t at = b.start; at < b.end && find_block(walk, &block, at, &b); at = walk->at) {
        if (block.offset != at)
            count_damage(walk, section, at, block.offset, &b);
        if (!accept(walk, &block))
            return false;
        if (walk->at == walk->reach)
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
        return log->size > walk->reach;
    const uint8_t *head = extract_log_peek(log, walk->at, LOG_HEAD);
    return head && extract_log_decode(&block, head) && block.section == newest->number &&
           block.number == walk->number;
}

// Takes the last block of what one writer left out of the log, when it is not whole.
static void take_out_torn(struct walk *walk)
{
    struct extract_log *log = walk->log;
    struct extract_log_status *s = &log->status;
    const struct extract_log_block *b = &walk->last;
    if (!walk->any || walk->whole || walk->out || extract_log_verify(log, b, NULL))
        return;
    walk->out = true;
    log->count -= walk->listed;
    for (size_t i = walk->sections; i-- && log->sections[i].first > log->count;)
        log->sections[i].first = log->count;
    s->blocks -= walk->listed;
    if (extract_log_holds_entries(b))
        s->entries -= b->count;
    if (b->type == EXTRACT_LOG_LOSS)
        s->lost -= b->lost;
    // Where it is the last of the file, too, a writer that continues uses its number again.
    if (walk->reach != walk->at)
        return;
    walk->reach = b->offset;
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

static void finish(struct walk *walk)
{
    struct extract_log *log = walk->log;
    struct extract_log_status *s = &log->status;
    take_out_torn(walk);
    bool torn = walk->out || is_begun(walk);
    s->closed = !torn && walk->last.type == EXTRACT_LOG_STATUS;
    if (s->closed)
        read_totals(log, &walk->last);
    s->damaged += walk->overwriting && s->closed;
    log->end = walk->end;
    log->next_number = walk->number;
    s->cut = torn || (walk->overwriting && !s->closed);
}

enum extract_code extract_log_walk(struct extract_log *log, struct extract_error *error)
{
    struct walk walk = {.log = log, .end = log->size};
    log->status.lost_known = true;
    for (; walk.sections < log->section_count; walk.sections++) {
        struct log_section *section = &log->sections[walk.sections];
        if (section->continues)
            take_out_torn(&walk);
        if (!walk_section(&walk, section))
            return extract_error_set(error, EXTRACT_NOMEM, log->path, NULL,
                                     "no memory for an index of its blocks");
    }
    if (log->section_count)
        finish(&walk);
    return EXTRACT_OK;
}
