// SPDX-License-Identifier: MIT
// events: a snapshot with meaning. In: a judged snapshot. Out: the clock, and events in order.
#include "base/stamps.h"
#include "events/room.h"
#include <stdlib.h>
#include <string.h>

enum { BACKWARDS_SHARE = 1024, WIDE_CLOCK_BITS = 24 };

static uint32_t slots_of(const struct extract_trace *trace)
{
    return trace->snapshot->ring.entries.count;
}

static bool is_shown(const struct extract_snapshot *snapshot, uint32_t slot)
{
    return snapshot->verdict[slot] <= EXTRACT_PROVISIONAL;
}

static enum extract_code study_clock(struct extract_trace *trace,
                                     const struct extract_trace_options *options,
                                     struct extract_error *error)
{
    const struct extract_snapshot *snapshot = trace->snapshot;
    struct extract_clock *clock = &trace->info.clock;
    struct extract_tally tally;
    uint32_t count = slots_of(trace);
    extract_tally_begin(&tally, snapshot->ring.timer_mask, snapshot->ring.word_bytes);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = (uint32_t)(((uint64_t)trace->oldest + i) % count);
        if (is_shown(snapshot, slot))
            extract_tally_add(&tally, snapshot->ring.format->stamp(snapshot, slot));
    }
    extract_tally_clock(&tally, clock);
    if (options && options->direction != EXTRACT_CLOCK_NONE)
        clock->direction = options->direction;
    if (!options || !options->modulus)
        return EXTRACT_OK;
    clock->modulus = options->modulus;
    if (tally.largest < clock->modulus)
        return EXTRACT_OK;
    return extract_error_set(error, EXTRACT_USAGE, "modulus",
                             "give the number of ticks after which the clock starts again",
                             "a stamp of %llu is not below it", (unsigned long long)tally.largest);
}

static void fill_info(struct extract_trace *trace)
{
    const struct extract_snapshot *snapshot = trace->snapshot;
    struct extract_info *info = &trace->info;
    info->format = snapshot->ring.format->name;
    info->byte_order = snapshot->ring.byte_order;
    info->word_bytes = snapshot->ring.word_bytes;
    info->entries_total = snapshot->ring.entries.count;
    info->entries_valid = extract_snapshot_valid(snapshot);
    info->entries_damaged = extract_snapshot_damaged(snapshot);
    info->entries_unused = snapshot->counts[EXTRACT_UNUSED];
    info->wrapped = snapshot->wrapped;
    info->lost_known = !snapshot->wrapped && !snapshot->moved;
    info->running = snapshot->ring.enabled;
    info->running_known = snapshot->ring.enabled_known;
    info->full = info->overrun = snapshot->wrapped;
}

enum extract_code extract_trace_open(struct extract_trace **trace,
                                     const struct extract_snapshot *snapshot,
                                     const struct extract_trace_options *options,
                                     struct extract_error *error)
{
    struct extract_trace *t = calloc(1, sizeof *t);
    *trace = NULL;
    if (!t)
        return extract_error_set(error, EXTRACT_NOMEM, "trace", NULL, "out of memory");
    t->snapshot = snapshot;
    t->symbols = options ? options->symbols : NULL;
    t->user_types = options ? options->user_types : NULL;
    t->oldest = snapshot->wrapped ? snapshot->current : 0;
    fill_info(t);
    enum extract_code code = study_clock(t, options, error);
    if (!code)
        code = extract_names_build(t, options ? options->memory : NULL, error);
    if (code) {
        extract_trace_close(t);
        return code;
    }
    *trace = t;
    return EXTRACT_OK;
}

void extract_trace_close(struct extract_trace *trace)
{
    if (!trace)
        return;
    extract_names_free(trace);
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

static const struct extract_object *lookup(const struct extract_trace *trace,
                                           const struct extract_map *map, uint64_t address)
{
    uint32_t i = extract_map_get(map, address);
    return i ? &trace->objects[i - 1] : NULL;
}

const struct extract_object *extract_trace_object(const struct extract_trace *trace,
                                                  uint64_t address)
{
    return lookup(trace, &trace->by_address, address);
}

const struct extract_object *extract_trace_thread(const struct extract_trace *trace,
                                                  uint64_t address)
{
    return lookup(trace, &trace->threads, address);
}

const struct extract_event_type *extract_trace_type(const struct extract_trace *trace, uint32_t id)
{
    const struct extract_event_type *type = NULL;
    if (trace->user_types)
        type = extract_user_types_find(trace->user_types, id);
    return type ? type : trace->snapshot->ring.format->type(id);
}

void extract_reader_init(struct extract_reader *reader, const struct extract_trace *trace)
{
    memset(reader, 0, sizeof *reader);
    reader->trace = trace;
}

// The run of shown slots at the reader's place that lie one behind the other in memory, at most
// `most`. Passes over slots that are not shown.
static size_t next_run(struct extract_reader *reader, size_t most, uint32_t *first)
{
    const struct extract_trace *trace = reader->trace;
    const struct extract_snapshot *snapshot = trace->snapshot;
    uint32_t count = slots_of(trace), slot = 0;
    for (; reader->done < count; reader->done++) {
        slot = (uint32_t)(((uint64_t)trace->oldest + reader->done) % count);
        if (is_shown(snapshot, slot))
            break;
        reader->gap |= reader->started && snapshot->verdict[slot] != EXTRACT_UNUSED;
    }
    size_t run = 0, left = count - reader->done, behind = count - slot;
    most = most < left ? most : left;
    most = most < behind ? most : behind;
    while (run < most && is_shown(snapshot, slot + (uint32_t)run))
        run++;
    *first = slot;
    return run;
}

// Steps the unwrapped time to a stamp. A step of nearly a whole turn of a wide clock is one back:
// cores that share a ring may store out of order.
static void advance(struct extract_reader *reader, const struct extract_clock *clock,
                    struct extract_event *event)
{
    uint64_t stamp = event->raw_stamp & clock->mask;
    uint64_t step = reader->started ? extract_clock_step(clock, reader->last_stamp, stamp) : 0;
    uint64_t back = clock->modulus - step; // modulus 0 is 2^64
    uint64_t share = (clock->modulus ? clock->modulus : UINT64_MAX) / BACKWARDS_SHARE;
    if (step && back < share && share >= UINT64_C(1) << (WIDE_CLOCK_BITS - 10)) {
        reader->ticks -= back < reader->ticks ? back : reader->ticks;
        event->flags |= EXTRACT_FLAG_BACKWARDS;
    } else { // damaged stamps of 64 bits may add up to more than time has ticks
        reader->ticks = step < UINT64_MAX - reader->ticks ? reader->ticks + step : UINT64_MAX;
    }
    reader->last_stamp = stamp;
    reader->started = true;
    event->ticks = reader->ticks;
}

static void finish_run(struct extract_reader *reader, uint32_t slot, size_t run,
                       struct extract_event *events)
{
    const struct extract_trace *trace = reader->trace;
    const struct extract_clock clock = trace->info.clock;
    const uint8_t *verdict = trace->snapshot->verdict + slot;
    for (size_t i = 0; i < run; i++) {
        struct extract_event *event = &events[i];
        event->flags = verdict[i] == EXTRACT_PROVISIONAL ? EXTRACT_FLAG_PROVISIONAL : 0;
        event->slot = slot + (uint32_t)i;
        event->seq = reader->seq++;
        advance(reader, &clock, event);
    }
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

size_t extract_reader_next(struct extract_reader *reader, struct extract_event *events,
                           size_t count)
{
    const struct extract_trace *trace = reader->trace;
    size_t total = 0;
    while (total < count) {
        uint32_t slot;
        size_t run = next_run(reader, count - total, &slot);
        if (!run)
            break;
        trace->snapshot->ring.format->decode(trace->snapshot, slot, run, events + total);
        finish_run(reader, slot, run, events + total);
        reader->done += (uint32_t)run;
        total += run;
    }
    if (trace->user_types)
        use_user_types(trace->user_types, events, total);
    return total;
}
