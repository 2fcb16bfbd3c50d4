// SPDX-License-Identifier: MIT
// merge: plans a merge. It checks that the inputs fit together, and finds what their clocks have to
// do with each other.
//
// The time of the log is that of the first input. Every input has a line that leads from its own
// ticks to it:
//
//     snapshots     by the events that a snapshot and an earlier one have in common (join.c)
//     cores         by the timestamps, since the clock is the same
//     boards        by shared events (shared.c), or by an offset that the user states
#include "events/internal.h"
#include "merge/merge.h"
#include <stdlib.h>

enum { BATCH = 256, NEAREST = 16 };

static const char hint_kind[] = "use --cores for the rings of one target's cores, and --offset or "
                                "--align for boards";

int64_t merge_time(const struct merge_input *input, uint64_t ticks)
{
    const struct merge_line *clock = &input->clock;
    double bent = clock->start + (clock->rate - 1) * (double)ticks;

    return input->base + (int64_t)ticks + (int64_t)(bent < 0 ? bent - 0.5 : bent + 0.5);
}

// ---- what an input contains ----

// Returns a timestamp as if the clock counted up.
static uint64_t upward(const struct merge_input *input, uint64_t raw_stamp)
{
    const struct extract_clock *clock = &extract_trace_info(input->trace)->clock;

    raw_stamp &= clock->mask;
    return clock->direction == EXTRACT_CLOCK_DOWN ? clock->mask - raw_stamp : raw_stamp;
}

static void note_event(struct merge_input *input, const struct extract_event *event)
{
    if (!input->events++) {
        input->ticks_first = input->ticks_last = event->ticks;
        input->raw_first = upward(input, event->raw_stamp);
    }
    if (event->ticks >= input->ticks_last) {
        input->ticks_last = event->ticks;
        input->raw_last = upward(input, event->raw_stamp);
    }
    input->ticks_first = event->ticks < input->ticks_first ? event->ticks : input->ticks_first;
    input->cores = event->core + 1u > input->cores ? event->core + 1u : input->cores;
    input->is_whole &= !(event->flags & EXTRACT_FLAG_GAP);
}

// Reads all events of an input.
static enum extract_code study_input(struct merge_input *input, struct extract_error *error)
{
    struct extract_event events[BATCH];
    struct extract_reader reader;
    size_t got;

    input->events = 0;
    input->is_whole = true;
    input->clock = (struct merge_line){.rate = 1, .certainty = MERGE_CERTAIN, .has_rate = true};
    extract_reader_init(&reader, input->trace);
    while ((got = extract_reader_next(&reader, events, BATCH)))
        for (size_t i = 0; i < got; i++) {
            if (!extract_event_is_mark(&events[i]))
                note_event(input, &events[i]);
            else if (input->events && extract_event_is_break(&events[i]))
                input->is_whole = false;
        }
    if (!input->events)
        return extract_error_set(error, EXTRACT_USAGE, input->name, "leave it out",
                                 "it contains no events");
    // The reader keeps times from 0 to 2^64; half of them leave room for all sums.
    if (input->ticks_last > INT64_MAX / 4)
        return extract_error_set(error, EXTRACT_BAD, input->name, "use --modulus",
                                 "its timestamps span more than 2^61 ticks");
    return EXTRACT_OK;
}

static enum extract_code check_ring(const struct merge_input *input,
                                    const struct merge_input *first, enum merge_kind kind,
                                    struct extract_error *error)
{
    const struct extract_ring *a = &extract_trace_snapshot(first->trace)->ring;
    const struct extract_ring *b = &extract_trace_snapshot(input->trace)->ring;

    if (!b->format->encoder)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, input->name, "use ThreadX traces",
                                 "traces of the format %s cannot be merged", b->format->name);
    if (a->format != b->format || a->word_bytes != b->word_bytes)
        return extract_error_set(
            error, EXTRACT_USAGE, input->name, "merge traces of one format and word size",
            "it has the format %s with words of %u bytes, and %.60s has %s "
            "with %u",
            b->format->name, b->word_bytes, first->name, a->format->name, a->word_bytes);
    // Merged logs of one ring have rings of different sizes.
    bool has_log = extract_trace_info(first->trace)->log || extract_trace_info(input->trace)->log;
    bool is_same =
        a->address == b->address && a->byte_order == b->byte_order &&
        (has_log || (a->entries.start == b->entries.start && a->entries.end == b->entries.end));
    if (kind != MERGE_SNAPSHOTS || is_same)
        return EXTRACT_OK;
    return extract_error_set(error, EXTRACT_USAGE, input->name, hint_kind,
                             "not a snapshot of the same ring as %.100s", first->name);
}

// ---- clocks ----

// Sets the clock of a snapshot that has no events in common with the one before it. The timestamps
// show the time between them only as far as the clock has not wrapped.
static void continue_after(struct merge_input *input, const struct merge_input *before)
{
    const struct extract_clock *clock = &extract_trace_info(before->trace)->clock;
    uint64_t step = input->raw_first - before->raw_last;

    if (clock->modulus)
        step = input->raw_first >= before->raw_last ? step : step + clock->modulus;
    step = clock->direction == EXTRACT_CLOCK_NONE || step > INT64_MAX / 4 ? 0 : step;
    input->follows_gap = true;
    input->base =
        merge_time(before, before->ticks_last) + (int64_t)step - (int64_t)input->ticks_first;
    input->clock.certainty = MERGE_UNKNOWN;
}

// Finds the clock of a snapshot by the one that reaches farthest of those before it, or by the
// nearest ones before it.
static enum extract_code join_snapshot(struct merge *merge, size_t i,
                                       const struct merge_input *newest,
                                       struct extract_error *error)
{
    struct merge_input *input = &merge->inputs[i];
    const struct merge_input *before = newest;
    enum extract_code code = EXTRACT_OK;
    bool overlaps = false;
    int64_t start = 0;

    for (size_t k = 0; k <= NEAREST && k <= i && !code && !overlaps; k++) {
        before = k ? &merge->inputs[i - k] : newest;
        if (!k || before != newest)
            code = merge_join(before, input, &overlaps, &start, error);
    }
    if (!overlaps) {
        continue_after(input, newest);
        return code;
    }
    input->base = before->base + start;
    input->clock.certainty = before->clock.certainty;
    return code;
}

// Finds the clocks of all snapshots.
static enum extract_code join_snapshots(struct merge *merge, struct extract_error *error)
{
    struct merge_input *newest = &merge->inputs[0];
    enum extract_code code = EXTRACT_OK;

    for (size_t i = 1; i < merge->count && !code; i++) {
        struct merge_input *input = &merge->inputs[i];
        code = join_snapshot(merge, i, newest, error);
        if (!code && (input->base > INT64_MAX / 4 || input->base < INT64_MIN / 4))
            code = extract_error_set(error, EXTRACT_LIMIT, input->name, "merge fewer snapshots",
                                     "the snapshots together span more than 2^61 ticks");
        if (merge_time(input, input->ticks_last) >= merge_time(newest, newest->ticks_last))
            newest = input;
    }
    return code;
}

// Returns the difference of the first timestamps of an input and of the first input. If their clock
// is the same, it may have wrapped in between: the nearest moment is meant.
static int64_t first_difference(const struct merge *merge, const struct merge_input *input)
{
    const struct merge_input *first = &merge->inputs[0];
    uint64_t modulus = extract_trace_info(first->trace)->clock.modulus;
    uint64_t ahead = input->raw_first - first->raw_first;

    if (merge->options.kind != MERGE_CORE_RINGS || !modulus || modulus > INT64_MAX)
        return (int64_t)ahead;
    int64_t difference = (int64_t)ahead % (int64_t)modulus;
    if (difference > (int64_t)(modulus / 2))
        difference -= (int64_t)modulus;
    else if (difference < -(int64_t)(modulus / 2))
        difference += (int64_t)modulus;
    return difference;
}

// Sets the clocks of cores, and those of boards with an offset.
static enum extract_code apply_offsets(struct merge *merge, struct extract_error *error)
{
    const struct merge_input *first = &merge->inputs[0];

    for (size_t i = 0; i < merge->count; i++) {
        struct merge_input *input = &merge->inputs[i];
        int64_t base = (int64_t)first->ticks_first - (int64_t)input->ticks_first;
        if (!i || input->has_offset || merge->options.kind == MERGE_CORE_RINGS) {
            if (__builtin_add_overflow(base, first_difference(merge, input), &base) ||
                __builtin_add_overflow(base, input->offset, &base) || base > INT64_MAX / 4 ||
                base < INT64_MIN / 4)
                return extract_error_set(error, EXTRACT_USAGE, input->name,
                                         "use an offset that brings the clocks together",
                                         "with its offset, it is more than 2^61 ticks away from "
                                         "the first input");
            input->base = base;
            input->clock.certainty = input->has_offset ? MERGE_GIVEN : MERGE_CERTAIN;
        }
    }
    return EXTRACT_OK;
}

static enum extract_code check_boards(const struct merge *merge, struct extract_error *error)
{
    for (size_t i = 1; i < merge->count; i++)
        if (!merge->inputs[i].has_offset && !merge->options.align)
            return extract_error_set(error, EXTRACT_USAGE, merge->inputs[i].name,
                                     "use --offset FILE=TICKS for it, or --align EVENT:FIELD",
                                     "nothing states how its clock is related to that of %.100s",
                                     merge->inputs[0].name);
    return EXTRACT_OK;
}

static enum extract_code find_clocks(struct merge *merge, struct extract_error *error)
{
    if (merge->options.kind == MERGE_SNAPSHOTS)
        return join_snapshots(merge, error);
    enum extract_code code =
        merge->options.kind == MERGE_BOARDS ? check_boards(merge, error) : EXTRACT_OK;
    if (!code)
        code = apply_offsets(merge, error);
    if (!code && merge->options.align)
        code = merge_align(merge, error);
    // Lines of shared events lead to the ticks of the first input, which may have an offset.
    for (size_t i = 1; i < merge->count && merge->options.align && !code; i++)
        if (!merge->inputs[i].has_offset)
            merge->inputs[i].base = merge->inputs[0].base;
    return code;
}

static bool is_small(double time)
{
    return time < 0x1p61 && time > -0x1p61;
}

// Refuses clocks that would take an event beyond the range of times. Sets the origin, and the
// offsets between the clocks.
static enum extract_code finish_clocks(struct merge *merge, struct extract_error *error)
{
    const struct merge_input *first = &merge->inputs[0];

    merge->origin = INT64_MAX;
    for (size_t i = 0; i < merge->count; i++) {
        struct merge_input *input = &merge->inputs[i];
        double last = input->clock.start + input->clock.rate * (double)input->ticks_last;
        if (!is_small(last) || !is_small(input->clock.start))
            return extract_error_set(error, EXTRACT_BAD, input->name, "use --offset FILE=TICKS",
                                     "its clock cannot be aligned: the rate is %g",
                                     input->clock.rate);
        int64_t time = merge_time(input, input->ticks_first);
        merge->origin = time < merge->origin ? time : merge->origin;
        int64_t by_stamps = (int64_t)(input->raw_first - first->raw_first);
        input->shift = (double)(time - (int64_t)first->ticks_first) - (double)by_stamps;
    }
    return EXTRACT_OK;
}

// ---- cores ----

static enum extract_code number_cores(struct merge *merge, struct extract_error *error)
{
    bool has_numbers = merge->options.kind == MERGE_SNAPSHOTS;
    unsigned cores = 0;

    for (size_t i = 0; i < merge->count; i++)
        has_numbers |= merge->options.kind == MERGE_CORE_RINGS && merge->inputs[i].cores > 1;
    for (size_t i = 0; i < merge->count; i++) {
        merge->inputs[i].first_core = has_numbers ? 0 : cores;
        cores += merge->inputs[i].cores;
    }
    return has_numbers || cores <= MERGE_CORES
               ? EXTRACT_OK
               : extract_error_set(error, EXTRACT_LIMIT, "merge", "merge fewer inputs",
                                   "the inputs have %u cores together, more than %d", cores,
                                   MERGE_CORES);
}

enum extract_code merge_plan(struct merge *merge, struct merge_input *inputs, size_t count,
                             const struct merge_options *options, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    *merge = (struct merge){.inputs = inputs, .count = count, .options = *options};
    for (size_t i = 0; i < count && !code; i++)
        code = check_ring(&inputs[i], &inputs[0], options->kind, error);
    for (size_t i = 0; i < count && !code; i++)
        code = study_input(&inputs[i], error);
    if (!code)
        code = number_cores(merge, error);
    if (!code)
        code = find_clocks(merge, error);
    if (!code)
        code = finish_clocks(merge, error);
    return code ? code : merge_make_registry(merge, error);
}

void merge_free(struct merge *merge)
{
    free(merge->registry);
    merge->registry = NULL;
}
