// SPDX-License-Identifier: MIT
// events: the events of a log: its entries, and the markers between them, in order of time.
//
// A reader walks over the blocks of the log. Blocks of entries are read as snapshots, one at a
// time; losses, markers and damaged blocks become markers of their own (marks.c):
//
//   blocks  ENTRIES   ENTRIES   LOSS           ENTRIES     (damaged)         MARK RESET
//   events  e0 … e9   e10 e11   RINGSIDE_LOST  e12 … e20   RINGSIDE_DAMAGED  RINGSIDE_RESET
//
// Every block states the number of its first entry. A number that is too high shows how many
// entries a damaged or missing block held.
//
// Timestamps alone do not show how long a gap is: the clock may have wrapped in it. The host's
// times at which the blocks were read show how often (hidden_ticks).
//
// The first walk over a log also collects what is known of it as a whole: the sums of its losses,
// the samples for the loss estimator, and the seek points at which later walks can start.
#include "base/stamps.h"
#include "events/events_room.h"
#include "snapshot/snapshot_room.h"
#include <stdlib.h>
#include <string.h>

enum { SEEK_POINT_STEP = 1024 };

// Returns a sum, UINT64_MAX at most.
static uint64_t add_saturating(uint64_t a, uint64_t b)
{
    return b < UINT64_MAX - a ? a + b : UINT64_MAX;
}

// ---- the time across a gap ----

uint64_t extract_snapshot_span(const struct extract_snapshot *snapshot,
                               const struct extract_clock *clock, uint64_t *first)
{
    uint64_t last = 0, span = 0;
    bool has_first = false;

    for (uint32_t slot = 0; slot < snapshot->ring.entries.count; slot++) {
        if (snapshot->verdict[slot] > EXTRACT_PROVISIONAL)
            continue;
        uint64_t stamp = extract_snapshot_stamp(snapshot, slot) & clock->mask;
        struct extract_step step = {0, false};
        if (has_first)
            step = extract_clock_advance(clock, last, stamp);
        else
            *first = stamp;
        span = step.back ? span - (step.ticks < span ? step.ticks : span)
                         : add_saturating(span, step.ticks);
        last = stamp;
        has_first = true;
    }
    return span;
}

// Returns the ticks of whole clock periods between the last entry and the next snapshot, which the
// timestamps do not show. When the two blocks were read, their newest entries were about equally
// old, so the time between the reads (`passed`) shows how many periods there were.
static uint64_t hidden_ticks(const struct extract_reader *reader, const struct extract_clock *clock,
                             uint64_t first, uint64_t span, uint64_t passed)
{
    struct extract_step step = extract_clock_advance(clock, reader->last_stamp, first);
    uint64_t modulus = clock->modulus, by_stamps = span;

    if (!modulus)
        return 0;
    if (!step.back)
        by_stamps = add_saturating(by_stamps, step.ticks);
    else if (step.ticks < by_stamps)
        by_stamps -= step.ticks;
    uint64_t rest = passed > by_stamps ? passed - by_stamps : 0;
    uint64_t wraps = rest / modulus + (rest % modulus > modulus / 2);
    return wraps < UINT64_MAX / modulus ? wraps * modulus : UINT64_MAX;
}

// Returns whether the host's times are needed to find how much time passed since the last entry.
static bool needs_host_time(const struct extract_reader *reader, const struct extract_epoch *epoch,
                            uint64_t passed)
{
    uint64_t modulus = epoch->clock.modulus;

    if (reader->gap || reader->restarted)
        return true;
    return modulus && passed > modulus / 2 &&
           modulus / 2 >= extract_rate_ticks(&epoch->rate, EXTRACT_MIN_WRAP_NS / 2);
}

// Advances the reader's time to the start of a block, before its first entry is read.
static void enter_block(struct extract_reader *reader, const struct extract_snapshot *entries,
                        const struct extract_log_block *block)
{
    const struct extract_epoch *epoch = extract_epoch_of(reader->trace, block->index);
    uint64_t passed = 0, first = 0;

    if (!extract_snapshot_valid(entries)) // nothing in the block has a time
        return;
    reader->restarted |= reader->started && reader->epoch != epoch->from;
    reader->epoch = epoch->from;
    if (reader->wall_ns && block->wall > reader->wall_ns)
        passed = extract_rate_ticks(&epoch->rate, block->wall - reader->wall_ns);
    if (reader->started && passed && needs_host_time(reader, epoch, passed)) {
        uint64_t span = extract_snapshot_span(entries, &epoch->clock, &first);
        uint64_t hidden = passed > span ? passed - span : 0;
        if (!reader->restarted)
            hidden = hidden_ticks(reader, &epoch->clock, first, span, passed);
        reader->ticks = add_saturating(reader->ticks, hidden);
    }
    if (reader->restarted)
        reader->started = false; // timestamps start again; ticks continue
    reader->restarted = false;
}

// ---- blocks to events ----

// Finds the number of the first entry that a block is about, or of the next entry. Returns false
// for blocks that state none.
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

// Returns whether damage hides entries before the entry `number`, which is read next. *missing is
// how many, as far as that is known.
static bool damaged_before(struct extract_reader *reader, uint64_t number, uint64_t *missing)
{
    bool jumps = reader->has_expected && number > reader->expected;

    *missing = jumps ? number - reader->expected : reader->unread_entries;
    // Numbers that fall start again: another recording was appended.
    bool found = reader->block_unreadable || (jumps && !reader->block_dropped);
    reader->gap |= found || jumps || (reader->has_expected && number < reader->expected);
    reader->expected = number;
    reader->has_expected = true;
    reader->block_unreadable = reader->block_dropped = false;
    reader->unread_entries = 0;
    return found;
}

// Moves to the next block. If the block was not read, its entries count as missing.
static void skip_block(struct extract_reader *reader, const struct extract_log_block *block,
                       bool was_read)
{
    reader->block++;
    reader->done = 0;
    if (was_read)
        return;
    reader->block_unreadable = true;
    reader->unread_entries =
        add_saturating(reader->unread_entries, extract_log_holds_entries(block) ? block->count : 0);
}

// Skips a block that cannot be read. A block that the loop policy dropped is not damage.
static void skip_unread(struct extract_reader *reader, const struct extract_log_block *block)
{
    bool was_dropped = extract_log_snapshots_gone(reader->trace->snapshots);

    reader->block_dropped |= was_dropped;
    skip_block(reader, block, was_dropped);
}

static size_t read_entries(struct extract_reader *reader, const struct extract_log_block *block,
                           struct extract_event *events, size_t count)
{
    const struct extract_snapshot *entries =
        extract_log_snapshots_entries(reader->trace->snapshots, block);

    if (!entries) {
        skip_unread(reader, block);
        return 0;
    }
    if (!reader->done)
        enter_block(reader, entries, block);
    size_t got = extract_reader_run(reader, entries, 0, events, count);
    if (reader->done < entries->ring.entries.count)
        return got;
    reader->expected = block->first + block->count;
    if (extract_snapshot_valid(entries))
        reader->wall_ns = block->wall;
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
    if (!starts || reader->started) { // before the very first entry, nothing is missing
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

    while (total < count && (head = extract_log_snapshots_block(snapshots, reader->block))) {
        const struct extract_log_block block = *head; // reading entries overwrites *head
        uint64_t number;
        bool has_number = block_number(&block, &number);
        bool must_verify = block.type == EXTRACT_LOG_GONE || (has_number && !reader->done);
        if (must_verify && !extract_log_snapshots_verify(snapshots, &block))
            skip_unread(reader, &block);
        else if (has_number && !reader->done && damaged_before(reader, number, &missing))
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

enum { NUMBERED_LAP = 256 }; // entries of a byte ring have numbers of 8 bits

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
    loss->at_least = add_saturating(loss->at_least, event->field[EXTRACT_LOST_AT_LEAST]);
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
        log->missing = add_saturating(log->missing, event->field[0]);
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

// Removes every second seek point when there are too many.
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

// Adds a seek point before these events if it is far enough from the last one. Until the walk ends,
// `lowest` covers the events up to the next seek point only.
static bool note_seek_point(struct extract_trace *trace, const struct extract_reader *before,
                            uint64_t highest)
{
    if (!trace->seek_points) {
        trace->seek_points = calloc(EXTRACT_MAX_SEEK_POINTS, sizeof *trace->seek_points);
        trace->seek_point_step = SEEK_POINT_STEP;
    }
    if (!trace->seek_points)
        return false;
    if (trace->seek_point_count &&
        trace->events - trace->seek_points[trace->seek_point_count - 1].events <
            trace->seek_point_step)
        return true;
    if (trace->seek_point_count == EXTRACT_MAX_SEEK_POINTS)
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
    struct extract_seek_point *point = &trace->seek_points[trace->seek_point_count - 1];
    for (size_t i = 0; i < count; i++) {
        const struct extract_event *event = &events[i];
        highest = event->ticks > highest ? event->ticks : highest;
        point->lowest = event->ticks < point->lowest ? event->ticks : point->lowest;
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

// Sums up the losses of all gaps. Estimates are per gap and cannot be summed. Only what is certain
// is known of the sum: a minimum, which the target's own count may make exact, and the sum of the
// largest numbers, if every gap has one.
static void sum_losses(struct extract_trace *trace)
{
    struct extract_info *info = &trace->info;
    const struct loss_estimator *estimator = &trace->estimator;
    uint64_t estimated = 0, more = 0;

    for (unsigned i = 0; i < EXTRACT_LOSS_REASONS; i++) {
        struct extract_loss_info *loss = &trace->log.losses[i];
        loss->is_exact = !loss->not_exact || trace->loss_sum == LOG_LOSS_SUM_EXACT;
        info->lost_at_least = add_saturating(info->lost_at_least, loss->at_least);
        info->gaps += loss->gaps;
        info->gaps_not_exact += loss->not_exact;
    }
    for (size_t i = 0; i < estimator->count; i++) {
        const struct loss_estimate *gap = &estimator->gaps[i];
        estimated += gap->is_known;
        more = add_saturating(more, gap->is_known ? gap->at_most - gap->at_least : 0);
    }
    info->lost_known = trace->loss_sum == LOG_LOSS_SUM_EXACT;
    bool is_bounded = info->lost_known || estimated == info->gaps_not_exact;
    more = info->lost_known ? 0 : more;
    info->lost_at_most = is_bounded ? add_saturating(info->lost_at_least, more) : UINT64_MAX;
    info->events_lost = info->lost_known ? info->lost_at_least : 0;
    info->overrun = info->gaps != 0;
}

// Notes a loss that no block reports: a log that was full was flushed to once more.
static void note_refused(struct extract_trace *trace)
{
    struct extract_log_info *log = &trace->log;
    const struct extract_log_status *status = &log->status;
    struct extract_loss_info *loss = &log->losses[EXTRACT_LOSS_LOG_FULL];
    bool is_full = status->policy == EXTRACT_LOG_UNTIL_FULL && status->full;

    if (!is_full || !log->ended || !log->ending.log_overrun || loss->gaps)
        return;
    loss->gaps = loss->not_exact = 1;
    trace->loss_sum = LOG_LOSS_SUM_AT_LEAST;
}

// Finds the boards of a merged log: its first marker states which cores are the first ones.
static void note_boards(struct extract_trace *trace)
{
    struct extract_log *log = extract_log_snapshots_log(trace->snapshots);
    struct extract_log_block block;

    for (size_t i = 0; extract_log_block_at(log, i, &block); i++) {
        if (block.type == EXTRACT_LOG_ENTRIES || block.type == EXTRACT_LOG_BYTES)
            return;
        if (block.type != EXTRACT_LOG_MARK || block.kind != EXTRACT_MARK_START)
            continue;
        trace->board_starts = block.value;
        return;
    }
}

void extract_log_events_end(struct extract_trace *trace, const struct extract_reader *end)
{
    struct extract_info *info = &trace->info;
    struct extract_log_info *log = &trace->log;
    uint64_t lowest = UINT64_MAX;

    for (size_t i = trace->seek_point_count; i-- > 0;) {
        struct extract_seek_point *point = &trace->seek_points[i];
        lowest = point->lowest = point->lowest < lowest ? point->lowest : lowest;
    }
    log->status = *extract_log_status(extract_log_snapshots_log(trace->snapshots));
    log->unreadable = extract_log_snapshots_damaged(trace->snapshots);
    log->ended = extract_log_snapshots_ending(trace->snapshots, &log->ending);
    note_refused(trace);
    note_boards(trace);
    // A damaged block of unknown type, or what follows it, may have reported a loss.
    if (log->status.damaged_of[0] || log->status.damaged_of[EXTRACT_LOG_LOSS] ||
        log->status.converted)
        trace->loss_sum = LOG_LOSS_SUM_AT_LEAST;
    loss_estimator_end(&trace->estimator);
    sum_losses(trace);
    info->log = log;
    info->entries_damaged = add_saturating(end->skipped, log->missing);
    info->entries_total = add_saturating(info->entries_valid, info->entries_damaged);
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
        // A gap of unknown size lacks at least one event, or it would not be reported.
        uint64_t least = i == EXTRACT_LOSS_BETWEEN ? 0 : loss->not_exact;
        lacking = add_saturating(lacking, loss->at_least ? loss->at_least : least);
    }
    return lacking;
}
