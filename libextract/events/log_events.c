// SPDX-License-Identifier: MIT
// events: the events of a log. In: its blocks, one at a time. Out: entries, and the marks between
// them, in order of time; and on the first walk what is known of the log as a whole.
#include "base/stamps.h"
#include "events/internal.h"
#include <stdlib.h>
#include <string.h>

enum { MILESTONE_STEP = 1024 };

static uint64_t add(uint64_t a, uint64_t b)
{
    return b < UINT64_MAX - a ? a + b : UINT64_MAX;
}

// ---- the time across a gap ----

uint64_t extract_piece_span(const struct extract_snapshot *piece, const struct extract_clock *clock,
                            uint64_t *first)
{
    uint64_t last = 0, span = 0;
    bool any = false;
    for (uint32_t slot = 0; slot < piece->ring.entries.count; slot++) {
        if (piece->verdict[slot] > EXTRACT_PROVISIONAL)
            continue;
        uint64_t stamp = extract_snapshot_stamp(piece, slot) & clock->mask;
        struct extract_step step = {0, false};
        if (any)
            step = extract_clock_advance(clock, last, stamp);
        else
            *first = stamp;
        span = step.back ? span - (step.ticks < span ? step.ticks : span) : add(span, step.ticks);
        last = stamp;
        any = true;
    }
    return span;
}

// Ticks that the clock went on beyond what the stamps say: its whole turns. Both blocks' last
// entries were about as old when they were read, so that the times of reading tell how many.
static uint64_t hidden_ticks(const struct extract_reader *reader, const struct extract_clock *clock,
                             uint64_t first, uint64_t span, uint64_t passed)
{
    struct extract_step step = extract_clock_advance(clock, reader->last_stamp, first);
    uint64_t modulus = clock->modulus, told = span;
    if (!modulus)
        return 0;
    if (!step.back)
        told = add(told, step.ticks);
    else if (step.ticks < told)
        told -= step.ticks;
    uint64_t rest = passed > told ? passed - told : 0;
    uint64_t turns = rest / modulus + (rest % modulus > modulus / 2);
    return turns < UINT64_MAX / modulus ? turns * modulus : UINT64_MAX;
}

// Whether the times of reading are to be asked how long it was from one piece to the next.
static bool asks_wall(const struct extract_reader *reader, const struct extract_epoch *epoch,
                      uint64_t passed)
{
    uint64_t modulus = epoch->clock.modulus;
    if (reader->gap || reader->restarted)
        return true;
    return modulus && passed > modulus / 2 &&
           modulus / 2 >= extract_rate_ticks(&epoch->rate, EXTRACT_SLOW_TURN / 2);
}

static void enter_piece(struct extract_reader *reader, const struct extract_snapshot *piece,
                        const struct extract_log_block *block)
{
    const struct extract_epoch *epoch = extract_epoch_of(reader->trace, block->index);
    uint64_t passed = 0, first = 0;
    if (!extract_snapshot_valid(piece)) // no time is known of it
        return;
    reader->restarted |= reader->started && reader->epoch != epoch->from;
    reader->epoch = epoch->from;
    if (reader->wall && block->wall > reader->wall)
        passed = extract_rate_ticks(&epoch->rate, block->wall - reader->wall);
    if (reader->started && passed && asks_wall(reader, epoch, passed)) {
        uint64_t span = extract_piece_span(piece, &epoch->clock, &first);
        uint64_t hidden = passed > span ? passed - span : 0;
        if (!reader->restarted)
            hidden = hidden_ticks(reader, &epoch->clock, first, span, passed);
        reader->ticks = add(reader->ticks, hidden);
    }
    if (reader->restarted)
        reader->started = false; // the next stamp begins again; the ticks go on
    reader->restarted = false;
}

// ---- blocks to events ----

// The number of the first entry that a block stands for, or of the next one to come.
static bool block_number(const struct extract_log_block *block, uint64_t *number)
{
    switch (block->type) {
    case EXTRACT_LOG_ENTRIES:
    case EXTRACT_LOG_BYTES:
    case EXTRACT_LOG_MARK:
    case EXTRACT_LOG_STATUS:
        *number = block->first;
        return true;
    case EXTRACT_LOG_LOSS:
        *number = block->first - (block->numbers < block->first ? block->numbers : block->first);
        return true;
    default:
        return false;
    }
}

// What damage has left out in front of the entry `number`, which is read next. False: nothing.
static bool damaged_before(struct extract_reader *reader, uint64_t number, uint64_t *missing)
{
    bool jumps = reader->numbered && number > reader->expected;
    *missing = jumps ? number - reader->expected : reader->unread;
    // Numbers that fall begin again: another recording was appended.
    bool found = reader->broken || (jumps && !reader->dropped);
    reader->gap |= found || jumps || (reader->numbered && number < reader->expected);
    reader->expected = number;
    reader->numbered = true;
    reader->broken = reader->dropped = false;
    reader->unread = 0;
    return found;
}

static void skip_block(struct extract_reader *reader, const struct extract_log_block *block,
                       bool whole)
{
    reader->piece++;
    reader->done = 0;
    if (whole)
        return;
    reader->broken = true;
    reader->unread = add(reader->unread, extract_log_holds_entries(block) ? block->count : 0);
}

// A block that cannot be read. What the writer of a log that wraps has dropped is not damage.
static void skip_unread(struct extract_reader *reader, const struct extract_log_block *block)
{
    bool gone = extract_log_snapshots_gone(reader->trace->snapshots);
    reader->dropped |= gone;
    skip_block(reader, block, gone);
}

static size_t read_entries(struct extract_reader *reader, const struct extract_log_block *block,
                           struct extract_event *events, size_t count)
{
    const struct extract_snapshot *piece =
        extract_log_snapshots_entries(reader->trace->snapshots, block);
    if (!piece) {
        skip_unread(reader, block);
        return 0;
    }
    if (!reader->done)
        enter_piece(reader, piece, block);
    size_t got = extract_reader_run(reader, piece, 0, events, count);
    if (reader->done < piece->ring.entries.count)
        return got;
    reader->expected = block->first + block->count;
    if (extract_snapshot_valid(piece))
        reader->wall = block->wall;
    skip_block(reader, block, true);
    return got;
}

static void read_mark(struct extract_reader *reader, const struct extract_log_block *block,
                      struct extract_event *event)
{
    if (block->type == EXTRACT_LOG_LOSS)
        extract_mark_lost(reader, block, event);
    else
        extract_mark_put(reader, block, event);
    bool starts = event->id == EXTRACT_ID_MARK + EXTRACT_MARK_START;
    bool resets = event->id == EXTRACT_ID_MARK + EXTRACT_MARK_RESET ||
                  event->id == EXTRACT_ID_MARK + EXTRACT_MARK_CLOCK;
    if (!starts || reader->started) { // nothing is missing in front of the first entries of all
        reader->gap |= extract_event_is_break(event);
        reader->restarted |= starts || resets;
    }
    reader->expected = block->first;
    skip_block(reader, block, true);
}

size_t extract_log_events_next(struct extract_reader *reader, struct extract_event *events,
                               size_t count)
{
    struct extract_log_snapshots *snapshots = reader->trace->snapshots;
    const struct extract_log_block *head;
    size_t total = 0;
    uint64_t missing;
    while (total < count && (head = extract_log_snapshots_block(snapshots, reader->piece))) {
        const struct extract_log_block block = *head; // reading may take another in hand
        uint64_t number;
        bool numbered = block_number(&block, &number);
        bool ask = block.type == EXTRACT_LOG_GONE || (numbered && !reader->done);
        if (ask && !extract_log_snapshots_verify(snapshots, &block))
            skip_unread(reader, &block);
        else if (numbered && !reader->done && damaged_before(reader, number, &missing))
            extract_mark_damaged(reader, missing, &events[total++]);
        else if (extract_log_holds_entries(&block))
            total += read_entries(reader, &block, events + total, count - total);
        else if (block.type == EXTRACT_LOG_LOSS || block.type == EXTRACT_LOG_MARK)
            read_mark(reader, &block, &events[total++]);
        else {
            extract_log_snapshots_pass(snapshots, block.index, reader->seq);
            skip_block(reader, &block, true);
        }
    }
    if (total < count && damaged_before(reader, reader->expected, &missing))
        extract_mark_damaged(reader, missing, &events[total++]);
    return total;
}

// ---- the first walk ----

enum { NUMBERED_LAP = 256 }; // entries of a stream: their numbers have 8 bits

void extract_log_events_begin(struct extract_trace *trace)
{
    const struct extract_slots *entries =
        &extract_log_snapshots_head(trace->snapshots)->ring.entries;
    loss_estimator_start(&trace->estimator, entries->slot_bytes ? entries->count : NUMBERED_LAP);
}

static void note_loss(struct extract_trace *trace, const struct extract_event *event)
{
    uint64_t reason = event->field[EXTRACT_LOST_REASON];
    bool is_exact = event->field[EXTRACT_LOST_EXACT], is_gap = reason != EXTRACT_LOSS_EARLIER;
    bool has_start = trace->log.recordings || trace->log.resets;
    bool has_all =
        has_start || !extract_log_status(extract_log_snapshots_log(trace->snapshots))->dropped;
    reason = is_gap ? reason : EXTRACT_LOSS_LAPPED;
    struct extract_loss_info *loss = &trace->log.losses[reason < EXTRACT_LOSS_REASONS ? reason : 0];
    loss->gaps += is_gap;
    loss->not_exact += is_gap && !is_exact;
    loss->at_least = add(loss->at_least, event->field[EXTRACT_LOST_AT_LEAST]);
    trace->loss_sum = extract_log_sum_after_loss(trace->loss_sum, event->field[EXTRACT_LOST_REASON],
                                                 is_exact && (is_gap || has_all));
    if (!is_gap || (event->field[LOST_GAP] == LOST_NO_GAP && !is_exact))
        loss_estimator_break(&trace->estimator);
    else
        loss_estimator_gap(&trace->estimator, event->field[LOST_GAP],
                           event->field[EXTRACT_LOST_AT_LEAST], event->field[EXTRACT_LOST_MODULO]);
}

static void note_mark(struct extract_trace *trace, const struct extract_event *event)
{
    struct extract_log_info *log = &trace->log;
    struct extract_ring *ring = &extract_log_snapshots_head(trace->snapshots)->ring;
    if (event->id == EXTRACT_ID_LOST)
        note_loss(trace, event);
    else if (extract_event_is_break(event))
        loss_estimator_break(&trace->estimator);
    switch (event->id) {
    case EXTRACT_ID_DAMAGED:
        log->missing = add(log->missing, event->field[0]);
        break;
    case EXTRACT_ID_MARK + EXTRACT_MARK_START:
        log->recordings++;
        trace->loss_sum = extract_log_sum_after_break(trace->loss_sum);
        break;
    case EXTRACT_ID_MARK + EXTRACT_MARK_RESET:
        log->resets++;
        trace->loss_sum = extract_log_sum_after_break(trace->loss_sum);
        break;
    case EXTRACT_ID_MARK + EXTRACT_MARK_FILTER:
        ring->filter = event->field[0];
        ring->filter_known = true;
        break;
    }
}

// Every second place is given up when there are too many.
static void thin_seek_points(struct extract_trace *trace)
{
    trace->seek_point_count /= 2;
    trace->seek_point_step *= 2;
    for (size_t i = 0; i < trace->seek_point_count; i++) {
        struct extract_seek_point *to = &trace->seek_points[i];
        const struct extract_seek_point *first = &trace->seek_points[2 * i], *second = first + 1;
        uint64_t lowest = first->lowest < second->lowest ? first->lowest : second->lowest;
        *to = *first;
        to->lowest = lowest;
    }
}

// Notes the place in front of these events when it is far enough from the last one. Until the walk
// ends, `lowest` is that of the events up to the next place.
static bool note_seek_point(struct extract_trace *trace, const struct extract_reader *before,
                            uint64_t highest)
{
    if (!trace->seek_points) {
        trace->seek_points = calloc(EXTRACT_MILESTONES, sizeof *trace->seek_points);
        trace->seek_point_step = MILESTONE_STEP;
    }
    if (!trace->seek_points)
        return false;
    if (trace->seek_point_count &&
        trace->events - trace->seek_points[trace->seek_point_count - 1].events <
            trace->seek_point_step)
        return true;
    if (trace->seek_point_count == EXTRACT_MILESTONES)
        thin_seek_points(trace);
    trace->seek_points[trace->seek_point_count++] =
        (struct extract_seek_point){*before, trace->events, highest, UINT64_MAX};
    return true;
}

bool extract_log_events_note(struct extract_trace *trace, const struct extract_reader *before,
                             const struct extract_event *events, size_t count)
{
    uint64_t highest = trace->info.span_ticks;
    if (!note_seek_point(trace, before, highest))
        return false;
    struct extract_seek_point *place = &trace->seek_points[trace->seek_point_count - 1];
    for (size_t i = 0; i < count; i++) {
        const struct extract_event *event = &events[i];
        highest = event->ticks > highest ? event->ticks : highest;
        place->lowest = event->ticks < place->lowest ? event->ticks : place->lowest;
        if (extract_event_is_mark(event)) {
            note_mark(trace, event);
        } else {
            loss_estimator_entry(&trace->estimator, event->ticks);
            trace->info.entries_valid++;
        }
    }
    trace->info.span_ticks = highest;
    return true;
}

// The estimates are those of single gaps: of their sum, only what is certain is known, which may be
// all, by the target's own count. The largest number is that of all gaps together, if each has one.
static void sum_losses(struct extract_trace *trace)
{
    struct extract_info *info = &trace->info;
    const struct loss_estimator *estimator = &trace->estimator;
    uint64_t estimated = 0, more = 0;
    for (unsigned i = 0; i < EXTRACT_LOSS_REASONS; i++) {
        struct extract_loss_info *loss = &trace->log.losses[i];
        loss->is_exact = !loss->not_exact || trace->loss_sum == LOG_LOSS_SUM_EXACT;
        info->lost_at_least = add(info->lost_at_least, loss->at_least);
        info->gaps += loss->gaps;
        info->gaps_not_exact += loss->not_exact;
    }
    for (size_t i = 0; i < estimator->count; i++) {
        estimated += estimator->gaps[i].is_known;
        more = add(more, estimator->gaps[i].at_most - estimator->gaps[i].at_least);
    }
    info->lost_known = trace->loss_sum == LOG_LOSS_SUM_EXACT;
    bool is_bounded = info->lost_known || estimated == info->gaps_not_exact;
    more = info->lost_known ? 0 : more;
    info->lost_at_most = is_bounded ? add(info->lost_at_least, more) : UINT64_MAX;
    info->events_lost = info->lost_known ? info->lost_at_least : 0;
    info->overrun = info->gaps != 0;
}

// A log that is full, and was flushed to once more: what did not go in, no block tells.
static void note_refused(struct extract_trace *trace)
{
    struct extract_log_info *log = &trace->log;
    struct extract_loss_info *loss = &log->losses[EXTRACT_LOSS_LOG_FULL];
    bool full = log->status.policy == EXTRACT_LOG_UNTIL_FULL && log->status.full;
    if (!full || !log->ended || !log->ending.log_overrun || loss->gaps)
        return;
    loss->gaps = loss->not_exact = 1;
    trace->loss_sum = LOG_LOSS_SUM_AT_LEAST;
}

void extract_log_events_end(struct extract_trace *trace, const struct extract_reader *end)
{
    struct extract_info *info = &trace->info;
    struct extract_log_info *log = &trace->log;
    uint64_t lowest = UINT64_MAX;
    for (size_t i = trace->seek_point_count; i-- > 0;) {
        struct extract_seek_point *place = &trace->seek_points[i];
        lowest = place->lowest = place->lowest < lowest ? place->lowest : lowest;
    }
    log->status = *extract_log_status(extract_log_snapshots_log(trace->snapshots));
    log->unreadable = extract_log_snapshots_damaged(trace->snapshots);
    log->ended = extract_log_snapshots_ending(trace->snapshots, &log->ending);
    note_refused(trace);
    // A damaged block of which nobody knows what it was may have told of a loss.
    if (log->status.damaged_of[0] || log->status.damaged_of[EXTRACT_LOG_LOSS])
        trace->loss_sum = LOG_LOSS_SUM_AT_LEAST;
    loss_estimator_end(&trace->estimator);
    sum_losses(trace);
    info->log = log;
    info->entries_damaged = add(end->skipped, log->missing);
    info->entries_total = add(info->entries_valid, info->entries_damaged);
    info->wrapped = log->status.dropped != 0;
    info->running = log->status.writing;
    info->running_known = true;
    info->full = info->wrapped || log->status.full;
    info->overrun |= info->wrapped;
    if (!log->ended)
        return;
    info->running = log->ending.running;
    info->full = log->ending.full;
    info->overrun = log->ending.overrun;
}

uint64_t extract_log_events_lacking(const struct extract_trace *trace)
{
    uint64_t lacking = trace->log.missing;
    for (unsigned i = 0; i < EXTRACT_LOSS_REASONS; i++) {
        const struct extract_loss_info *loss = &trace->log.losses[i];
        // A gap of which nothing is known lacks one event, or it would not be reported.
        lacking = add(lacking, loss->at_least ? loss->at_least : loss->not_exact);
    }
    return lacking;
}
