// SPDX-License-Identifier: MIT
// events: gives a snapshot or a log its meaning, and reads its events in order of time.
//
// A reader walks over the slots from the oldest to the newest. It decodes runs of valid slots that
// are next to each other in memory, so that the format is called once per run, and unwraps their
// times:
//
//   slots      ok ok ok │ damaged damaged │ ok ok
//   events     e0 e1 e2   RINGSIDE_BROKEN   e3 e4          (byte rings and logs)
//   flags                                   GAP
//
//   timestamp  0xF0 0xF8 0x04   ──►   ticks  0 8 20        (each step is modulo the clock period)
#include "base/stamps.h"
#include "events/events_room.h"
#include "snapshot/snapshot_room.h"
#include <stdlib.h>
#include <string.h>

static bool is_valid_entry(const struct extract_snapshot *snapshot, uint32_t slot)
{
    return snapshot->verdict[slot] <= EXTRACT_PROVISIONAL;
}

// Returns how many entries are missing before one, by its number.
static uint8_t lost_before(const struct extract_snapshot *snapshot, uint32_t slot)
{
    return snapshot->index ? snapshot->index[slot].lost : 0;
}

// Returns whether an entry must begin a new run: entries before it are missing, timestamps start
// again, or its layout is another one.
static bool must_begin_run(const struct extract_snapshot *snapshot, uint32_t slot)
{
    const struct extract_extent *index = snapshot->index;

    return index && (index[slot].lost || index[slot].restarted ||
                     (slot && index[slot].layout != index[slot - 1].layout));
}

static void fill_info(struct extract_trace *trace)
{
    const struct extract_snapshot *snapshot = trace->snapshot;
    struct extract_info *info = &trace->info;

    info->format = snapshot->ring.format->name;
    info->byte_order = snapshot->ring.byte_order;
    info->word_bytes = snapshot->ring.word_bytes;
    if (trace->snapshots) // for a log, the first walk fills the rest
        return;
    info->entries_total = snapshot->ring.entries.count;
    info->entries_valid = extract_snapshot_valid(snapshot);
    info->entries_unread = snapshot->counts[EXTRACT_UNREADABLE_ENTRY];
    info->entries_damaged = extract_snapshot_damaged(snapshot) - info->entries_unread;
    info->entries_unused = snapshot->counts[EXTRACT_UNUSED];
    info->wrapped = snapshot->wrapped;
    // Entries that hold no event may show that the ring has wrapped, or may have been lost.
    info->lost_known = !snapshot->wrapped && !snapshot->moved && !snapshot->counts[EXTRACT_INVALID];
    info->running = snapshot->ring.enabled;
    info->running_known = snapshot->ring.enabled_known;
    info->full = info->overrun = snapshot->wrapped;
    if (snapshot->index) {
        info->lost_known = snapshot->lost_known;
        info->events_lost = snapshot->lost;
        info->full = snapshot->full;
        info->overrun = snapshot->overrun;
    }
    for (uint32_t i = 0; snapshot->index && i < info->entries_total; i++)
        info->gaps += snapshot->index[i].lost != 0;
    info->gaps_not_exact = info->gaps; // numbers of 8 bits do not show how often they wrapped
    info->lost_at_least = info->lost_known ? info->events_lost : snapshot->lost;
    info->lost_known &= !info->gaps_not_exact && !snapshot->is_part;
    info->lost_at_most = info->lost_known ? info->events_lost : UINT64_MAX;
}

static enum extract_code new_trace(struct extract_trace **trace,
                                   const struct extract_trace_options *options,
                                   struct extract_error *error)
{
    struct extract_trace *t = *trace = calloc(1, sizeof *t);

    if (!t)
        return extract_error_set(error, EXTRACT_NOMEM, "trace", NULL, "out of memory");
    t->symbols = options ? options->symbols : NULL;
    t->symbol_objects = t->symbols ? symbol_objects_new() : NULL;
    t->user_types = options ? options->user_types : NULL;
    t->cores_seen = options ? options->cores_seen : 0;
    return EXTRACT_OK;
}

// Does what is the same for a ring and a log: clock, names, first walk. Closes the trace on
// failure.
static enum extract_code prepare_trace(struct extract_trace **trace,
                                       const struct extract_trace_options *options,
                                       struct extract_error *error)
{
    struct extract_trace *t = *trace;

    fill_info(t);
    enum extract_code code = extract_clock_study(t, options, error);
    if (!code && options && options->modulus && !extract_periods_find(t))
        code = extract_error_set(error, EXTRACT_NOMEM, "trace", NULL, "out of memory");
    if (!code)
        code = extract_names_build(t, options ? options->memory : NULL, error);
    if (!code && t->snapshots && extract_log_snapshots_starved(t->snapshots))
        code = extract_error_set(error, EXTRACT_NOMEM, "log", NULL, "out of memory");
    if (code) {
        extract_trace_close(t);
        *trace = NULL;
    }
    return code;
}

// Opens a ring. If `ids` is not NONE, ids are read in that way.
static enum extract_code open_ring(struct extract_trace **trace,
                                   const struct extract_snapshot *snapshot,
                                   const struct extract_trace_options *options,
                                   enum extract_core_ids ids, struct extract_error *error)
{
    enum extract_code code = new_trace(trace, options, error);

    if (code)
        return code;
    (*trace)->read_ids_as = (*trace)->info.core_ids = ids;
    (*trace)->snapshot = snapshot;
    (*trace)->is_part = options && options->is_part;
    (*trace)->oldest = snapshot->wrapped && !snapshot->index ? snapshot->current : 0;
    return prepare_trace(trace, options, error);
}

// Decides what the top bytes of ids are. Returns false, and closes the trace, if its first walk has
// read them in another way: it must be opened again. *found is then what it has shown.
static bool has_right_ids(struct extract_trace *trace, enum extract_core_ids *ids,
                          struct core_evidence *found)
{
    const struct extract_trace *const one = trace;

    if (trace->read_ids_as) // as the caller states
        return true;
    *ids = trace->info.core_ids = core_ids_decide(&one, 1);
    *found = trace->core_evidence;
    if (!core_ids_differ(trace, *ids))
        return true;
    extract_trace_close(trace);
    return false;
}

enum extract_code extract_trace_open(struct extract_trace **trace,
                                     const struct extract_snapshot *snapshot,
                                     const struct extract_trace_options *options,
                                     struct extract_error *error)
{
    enum extract_core_ids ids = options ? options->core_ids : EXTRACT_CORE_IDS_NONE;
    struct core_evidence found;
    enum extract_code code = open_ring(trace, snapshot, options, ids, error);

    if (code || has_right_ids(*trace, &ids, &found))
        return code;
    code = open_ring(trace, snapshot, options, ids, error);
    if (!code)
        (*trace)->core_evidence = found;
    return code;
}

static enum extract_code open_log(struct extract_trace **trace, struct extract_log *log,
                                  const struct extract_trace_options *options,
                                  enum extract_core_ids ids, struct extract_error *error)
{
    enum extract_code code = new_trace(trace, options, error);

    if (code)
        return code;
    struct extract_trace *t = *trace;
    t->read_ids_as = t->info.core_ids = ids;
    code = extract_log_snapshots_open(&t->snapshots, log, error);
    if (code) {
        extract_trace_close(t);
        *trace = NULL;
        return code;
    }
    struct extract_snapshot *head = extract_log_snapshots_head(t->snapshots);
    if (t->symbols)
        head->ring.format->apply_symbols(&head->ring, t->symbols);
    t->snapshot = head;
    code = options && options->hook_roles
               ? extract_ring_set_roles(&head->ring, options->hook_roles, error)
               : EXTRACT_OK;
    if (!code)
        code = extract_log_snapshots_unroll(t->snapshots, options ? options->rkh : NULL, error);
    if (code) {
        extract_trace_close(t);
        *trace = NULL;
        return code;
    }
    return prepare_trace(trace, options, error);
}

enum extract_code extract_trace_open_log(struct extract_trace **trace, struct extract_log *log,
                                         const struct extract_trace_options *options,
                                         struct extract_error *error)
{
    enum extract_core_ids ids = options ? options->core_ids : EXTRACT_CORE_IDS_NONE;
    struct core_evidence found;
    enum extract_code code = open_log(trace, log, options, ids, error);

    if (code || has_right_ids(*trace, &ids, &found))
        return code;
    code = open_log(trace, log, options, ids, error);
    if (!code)
        (*trace)->core_evidence = found;
    return code;
}

enum extract_code extract_trace_continue(struct extract_trace *trace,
                                         const struct extract_snapshot *snapshot, bool restarted,
                                         struct extract_error *error)
{
    struct extract_clock *clock = &trace->info.clock;
    struct extract_tally tally;

    extract_tally_begin(&tally, snapshot->ring.timer_mask, snapshot->ring.word_bytes);
    if (tally.mask != clock->mask)
        extract_tally_clock(&tally, clock);
    clock->direction = snapshot->ring.format->direction;
    trace->snapshot = snapshot;
    trace->start = trace->end;
    trace->start.done = trace->start.next_valid = trace->start.reported = 0;
    trace->events = 0;
    fill_info(trace);
    return extract_names_continue(trace, restarted, error);
}

void extract_trace_close(struct extract_trace *trace)
{
    if (!trace)
        return;
    extract_names_free(trace);
    symbol_objects_free(trace->symbol_objects);
    extract_log_snapshots_close(trace->snapshots);
    loss_estimator_free(&trace->estimator);
    free(trace->seek_points);
    free(trace->hidden_periods);
    extract_map_free(&trace->rare_ids);
    free(trace);
}

const struct extract_info *extract_trace_info(const struct extract_trace *trace)
{
    return &trace->info;
}

const struct extract_snapshot *extract_trace_snapshot(const struct extract_trace *trace)
{
    return trace->snapshot;
}

struct extract_symbols *extract_trace_symbols(const struct extract_trace *trace)
{
    return trace->symbols;
}

size_t extract_trace_objects(const struct extract_trace *trace,
                             const struct extract_object **objects)
{
    *objects = trace->objects;
    return trace->object_count;
}

const struct extract_object *extract_trace_object_at(const struct extract_trace *trace,
                                                     uint64_t address, uint64_t seq)
{
    return extract_names_find(trace, false, address, seq);
}

const struct extract_object *extract_trace_thread_at(const struct extract_trace *trace,
                                                     uint64_t address, uint64_t seq)
{
    return extract_names_find(trace, true, address, seq);
}

const struct extract_object *extract_trace_object(const struct extract_trace *trace,
                                                  uint64_t address)
{
    const struct extract_object *object = extract_names_find(trace, false, address, UINT64_MAX);

    return object ? object : symbol_objects_find(trace, address);
}

const struct extract_object *extract_trace_thread(const struct extract_trace *trace,
                                                  uint64_t address)
{
    return extract_names_find(trace, true, address, UINT64_MAX);
}

bool extract_object_is_thread(const struct extract_object *object)
{
    return !object->shadowed && object->thread;
}

// Returns the run of the target to which an event of a ring belongs.
static uint64_t run_of(const struct extract_trace *trace, uint64_t seq)
{
    size_t low = 0, high = trace->epoch_count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (trace->epochs[middle].first <= seq)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint64_t extract_trace_registry(const struct extract_trace *trace, uint64_t seq)
{
    return trace->snapshots ? extract_log_snapshots_registry_of(trace->snapshots, seq)
                            : run_of(trace, seq);
}

uint64_t extract_trace_naming(const struct extract_trace *trace, uint64_t seq)
{
    uint64_t registry = extract_trace_registry(trace, seq);

    return trace->life_count ? registry ^ lives_begun(trace, seq) << 40 : registry;
}

const struct extract_event_type *extract_trace_type(const struct extract_trace *trace, uint32_t id)
{
    const struct extract_event_type *type = NULL;

    if (id >= EXTRACT_ID_MARKS)
        return extract_mark_type(id);
    if (trace->user_types)
        type = extract_user_types_find(trace->user_types, id);
    return type ? type : trace->snapshot->ring.format->type(id);
}

bool extract_trace_note_event(struct extract_trace *trace, const struct extract_event *event)
{
    struct extract_map *rare = &trace->rare_ids;
    uint32_t id = event->id;

    trace->has_loss_marks |= extract_id_is_loss(id);
    trace->seen_classes |= extract_id_is_loss(id) ? 0 : 1u << event->type->class_;
    if (extract_event_is_mark(event))
        return true;
    trace->seen_cores[event->core / 8] |= (uint8_t)(1u << event->core % 8);
    trace->info.steps_back += (event->flags & EXTRACT_FLAG_BACKWARDS) != 0;
    if (event->core >= trace->cores_seen)
        trace->cores_seen = event->core + 1u;
    if (id < EXTRACT_COMMON_IDS) {
        trace->seen[id / 8] |= (uint8_t)(1u << id % 8);
        return true;
    }
    uint32_t *number = rare->values || extract_map_init(rare, 16) ? extract_map_at(rare, id) : NULL;
    if (number)
        *number = 1;
    return number;
}

bool extract_trace_next_rare_id(const struct extract_trace *trace, size_t *place, uint32_t *id)
{
    const struct extract_map *rare = &trace->rare_ids;

    for (; rare->values && *place <= rare->mask; ++*place)
        if (rare->values[*place]) {
            *id = (uint32_t)rare->keys[(*place)++];
            return true;
        }
    return false;
}

void extract_reader_init(struct extract_reader *reader, const struct extract_trace *trace)
{
    *reader = trace->start;
    reader->trace = trace;
}

// Returns the copy that holds the texts of a trace; NULL if there is none.
static const struct extract_snapshot *copy_of(const struct extract_trace *trace)
{
    return trace->snapshots ? extract_log_snapshots_all(trace->snapshots) : trace->snapshot;
}

bool extract_trace_inner(const struct extract_trace *trace, const struct extract_event *event,
                         struct extract_event *inner)
{
    const struct extract_format *format = trace->snapshot->ring.format;
    const struct extract_snapshot *snapshot = copy_of(trace);

    return format->describing && snapshot && !extract_event_is_mark(event) &&
           format->describing->inner(snapshot, event, inner);
}

bool extract_trace_text(const struct extract_trace *trace, uint64_t number,
                        struct extract_text *text)
{
    const struct extract_snapshot *snapshot = copy_of(trace);

    if (number & EXTRACT_TEXT_OF_LOG)
        return trace->snapshots &&
               extract_log_snapshots_text(trace->snapshots, (size_t)(number & ~EXTRACT_TEXT_OF_LOG),
                                          text);
    return snapshot && snapshot->ring.format->describing &&
           snapshot->ring.format->describing->text(snapshot, number, text);
}

enum extract_code extract_trace_image(const struct extract_trace *trace,
                                      struct extract_snapshot *image, struct extract_error *error)
{
    if (!trace->snapshots)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, "trace", NULL,
                                 "not a log, but a ring already");
    enum extract_code code = extract_log_snapshots_image(trace->snapshots, image, error);
    if (!code)
        image->unwritten = extract_log_events_lacking(trace);
    return code;
}

static uint32_t slot_at(const struct extract_snapshot *snapshot, uint32_t oldest, uint32_t at)
{
    return (uint32_t)(((uint64_t)oldest + at) % snapshot->ring.entries.count);
}

// Returns whether damaged slots at the reader's position are reported. A writer may be at work at
// both ends of a ring, so only those between valid entries are; a block of a log has no such ends.
static bool must_report_slots(struct extract_reader *reader,
                              const struct extract_snapshot *snapshot, uint32_t oldest)
{
    uint32_t count = snapshot->ring.entries.count;

    if (!reader->started || reader->trace->snapshots)
        return reader->started;
    if (reader->next_valid < reader->done)
        reader->next_valid = reader->done;
    while (reader->next_valid < count &&
           !is_valid_entry(snapshot, slot_at(snapshot, oldest, reader->next_valid)))
        reader->next_valid++;
    return reader->next_valid < count;
}

// Skips damaged entries at the reader's position that have the same verdict, and makes the marker
// that reports them. Returns false if the next entry is not damaged.
static bool read_damage(struct extract_reader *reader, const struct extract_snapshot *snapshot,
                        uint32_t oldest, struct extract_event *event)
{
    uint32_t count = snapshot->ring.entries.count, at = reader->done;
    uint64_t bytes = 0;

    if (at >= count)
        return false;
    uint8_t verdict = snapshot->verdict[slot_at(snapshot, oldest, at)];
    if (verdict <= EXTRACT_PROVISIONAL || verdict == EXTRACT_UNUSED ||
        (!snapshot->index && !must_report_slots(reader, snapshot, oldest)))
        return false;
    for (; at < count && snapshot->verdict[slot_at(snapshot, oldest, at)] == verdict; at++)
        bytes += snapshot->index ? snapshot->index[at].length : snapshot->ring.entries.slot_bytes;
    extract_mark_broken(reader, (enum extract_verdict)verdict, at - reader->done, bytes, event);
    reader->skipped += at - reader->done;
    reader->gap |= reader->started;
    reader->done = at;
    return true;
}

// Returns the number of valid slots at the reader's position that are next to each other in memory
// and of one layout, at most `max`; *first is the first of them. Skips slots that are not valid.
static size_t next_run(struct extract_reader *reader, const struct extract_snapshot *snapshot,
                       uint32_t oldest, size_t max, uint32_t *first)
{
    uint32_t count = snapshot->ring.entries.count, slot = 0;

    for (; reader->done < count; reader->done++) {
        slot = slot_at(snapshot, oldest, reader->done);
        if (is_valid_entry(snapshot, slot))
            break;
        reader->gap |= reader->started && snapshot->verdict[slot] != EXTRACT_UNUSED;
        reader->skipped += snapshot->verdict[slot] != EXTRACT_UNUSED;
    }
    size_t run = 0, left = count - reader->done, to_end = count - slot;
    max = max < left ? max : left;
    max = max < to_end ? max : to_end;
    while (run < max && is_valid_entry(snapshot, slot + (uint32_t)run) &&
           (!run || !must_begin_run(snapshot, slot + (uint32_t)run)))
        run++;
    *first = slot;
    return run;
}

// A step forward of nearly a whole clock period, for a wide clock, is taken for a step back: cores
// that share a ring may store their entries out of order, and a clock of two parts may be read
// between their changes.
inline struct extract_step extract_clock_advance(const struct extract_clock *clock, uint64_t from,
                                                 uint64_t to)
{
    uint64_t step = extract_clock_step(clock, from, to);

    if (extract_clock_is_back(clock, step))
        return (struct extract_step){clock->modulus - step, true};
    return (struct extract_step){step, false};
}

// Advances the reader's time to the timestamp of an event. An event from before the oldest one is
// at 0, too.
static void advance_time(struct extract_reader *reader, const struct extract_clock *clock,
                         struct extract_event *event)
{
    uint64_t stamp = event->raw_stamp & clock->mask;
    struct extract_step step = {0, false};
    const uint8_t *hidden = reader->trace->hidden_periods;

    if (reader->started)
        step = extract_clock_advance(clock, reader->last_stamp, stamp);
    if (hidden && reader->started && !step.back && hidden[event->slot / 8] >> event->slot % 8 & 1)
        step.ticks += clock->modulus;
    if (step.back) {
        uint64_t possible = step.ticks < reader->ticks ? step.ticks : reader->ticks;
        reader->ticks -= possible;
        reader->behind += step.ticks - possible;
        event->flags |= EXTRACT_FLAG_BACKWARDS;
    } else { // the sum of damaged timestamps of 64 bits may exceed 64 bits
        uint64_t made_up = step.ticks < reader->behind ? step.ticks : reader->behind;
        reader->behind -= made_up;
        step.ticks -= made_up;
        reader->ticks =
            step.ticks < UINT64_MAX - reader->ticks ? reader->ticks + step.ticks : UINT64_MAX;
    }
    reader->last_stamp = stamp;
    reader->started = true;
    event->ticks = reader->ticks;
}

// An entry that records a loss gets the type of the marker that stands for that loss.
static void use_mark_type(const struct extract_ring *ring, struct extract_event *event)
{
    uint32_t id = ring->format->entries->loss_mark(ring, event);

    if (id)
        event->type = extract_mark_type(id);
}

// Returns the clock of an entry. If the layout of entries changes, so may the width of timestamps.
static struct extract_clock clock_of(const struct extract_reader *reader,
                                     const struct extract_snapshot *snapshot, uint32_t slot)
{
    const struct extract_trace *trace = reader->trace;
    const struct extract_stream *stream = snapshot->ring.format->stream;
    struct extract_clock clock =
        trace->snapshots ? extract_epoch_of(trace, reader->block)->clock : trace->info.clock;
    uint64_t mask = 0;

    if (snapshot->index)
        mask = stream->stamp_mask(&snapshot->ring, snapshot->index[slot].layout);
    if (mask && mask != clock.mask) {
        clock.mask = mask;
        clock.modulus = mask + 1;
        clock.back = extract_clock_usual_back(clock.modulus);
    }
    return clock;
}

// Completes `run` decoded entries of one layout: number, time, flags.
static void finish_run(struct extract_reader *reader, const struct extract_snapshot *snapshot,
                       uint32_t slot, size_t run, struct extract_event *events)
{
    const struct extract_clock clock = clock_of(reader, snapshot, slot);
    const struct extract_ring *ring = &snapshot->ring;
    bool has_layouts = snapshot->index;

    reader->untimed =
        has_layouts && ring->format->stream->is_untimed(ring, snapshot->index[slot].layout);
    uint8_t flags = reader->untimed ? EXTRACT_FLAG_UNTIMED : 0;
    const uint8_t *verdict = snapshot->verdict + slot;
    for (size_t i = 0; i < run; i++) {
        struct extract_event *event = &events[i];
        event->flags = flags;
        if (verdict[i] == EXTRACT_PROVISIONAL)
            event->flags |= EXTRACT_FLAG_PROVISIONAL;
        event->slot = slot + (uint32_t)i;
        event->seq = reader->seq++;
        advance_time(reader, &clock, event);
    }
    bool may_be_marks = snapshot->ring.format->hooks == EXTRACT_HOOKS_16;
    for (size_t i = 0; may_be_marks && i < run; i++)
        use_mark_type(&snapshot->ring, &events[i]);
    for (size_t i = 0; snapshot->index && i < run; i++)
        events[i].slot = snapshot->index[slot + i].at;
    if (reader->gap)
        events[0].flags |= EXTRACT_FLAG_GAP;
    reader->gap = false;
}

static void use_user_types(const struct extract_user_types *types, struct extract_event *events,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct extract_event_type *type = extract_user_types_find(types, events[i].id);
        if (type)
            events[i].type = type;
    }
}

size_t extract_reader_run(struct extract_reader *reader, const struct extract_snapshot *snapshot,
                          uint32_t oldest, struct extract_event *events, size_t count)
{
    size_t total = 0;

    while (total < count) {
        uint32_t slot;
        if (read_damage(reader, snapshot, oldest, &events[total])) {
            total++;
            continue;
        }
        size_t run = next_run(reader, snapshot, oldest, count - total, &slot);
        if (!run)
            break;
        if (lost_before(snapshot, slot) && reader->reported != reader->done + 1) {
            extract_mark_missing(reader, lost_before(snapshot, slot), &events[total++]);
            reader->reported = reader->done + 1;
            reader->gap = true;
            continue;
        }
        if (snapshot->index && snapshot->index[slot].restarted)
            reader->started = false; // timestamps start again; ticks continue
        snapshot->ring.format->decode(snapshot, slot, run, events + total);
        finish_run(reader, snapshot, slot, run, events + total);
        reader->done += (uint32_t)run;
        total += run;
    }
    return total;
}

static void use_named_types(const struct extract_trace *trace, struct extract_event *events,
                            size_t count)
{
    const struct extract_ring *ring = &trace->snapshot->ring;
    uint32_t first = ring->format->user_ids;

    for (size_t i = 0; i < count; i++) {
        uint32_t number = events[i].id - first;
        if (number < EXTRACT_NAMED_TYPES && trace->named_types[number])
            ring->format->named_types->apply(trace->named_types[number], ring, &events[i]);
    }
}

size_t extract_reader_next(struct extract_reader *reader, struct extract_event *events,
                           size_t count)
{
    const struct extract_trace *trace = reader->trace;
    size_t total;

    if (trace->snapshots)
        total = extract_log_events_next(reader, events, count);
    else
        total = extract_reader_run(reader, trace->snapshot, trace->oldest, events, count);
    if (trace->read_ids_as > EXTRACT_CORE_IDS_UNSURE)
        core_ids_apply(trace, events, total);
    if (trace->has_named_types)
        use_named_types(trace, events, total);
    if (trace->user_types)
        use_user_types(trace->user_types, events, total);
    if (trace->life_count && !reader->has_addresses)
        lives_use_keys(trace, events, total);
    return total;
}
