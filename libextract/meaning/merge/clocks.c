// SPDX-License-Identifier: MIT
// merge: finds what the clocks of the inputs have to do with each other.
//
// The time of the log is that of the first input. Every input has a line that leads from its own
// ticks to it:
//
//     snapshots     by the events that a snapshot and an earlier one have in common (join.c)
//     cores         by the timestamps, since the clock is the same
//     boards        by shared events (shared.c), or by an offset that the user states
#include "events/events_room.h"
#include "merge/merge.h"

enum { NEAREST = 16 };

int64_t merge_time(const struct merge_input *input, uint64_t ticks)
{
    const struct merge_line *clock = &input->clock;
    double bent = clock->start + (clock->rate - 1) * (double)ticks;

    return input->base + (int64_t)ticks + (int64_t)(bent < 0 ? bent - 0.5 : bent + 0.5);
}

// Sets the clock of a snapshot that has no events in common with the one before it. The timestamps
// show the time between them only as far as the clock has not wrapped.
static void continue_after(struct merge_input *input, const struct merge_input *before,
                           bool alternate)
{
    const struct extract_clock *clock = &extract_trace_info(before->trace)->clock;
    uint64_t step = input->raw_first - before->raw_last;

    if (clock->modulus && input->raw_first >= before->raw_last)
        step %= clock->modulus;
    else if (clock->modulus)
        step = clock->modulus - (0 - step) % clock->modulus;
    if (clock->modulus ? step > clock->modulus / 2 : input->raw_first < before->raw_last)
        input->back = clock->modulus - step;
    step = clock->direction == EXTRACT_CLOCK_NONE || step > INT64_MAX / 4 ? 0 : step;
    // A stream is no ring, and other rings do not show whether they are in their first lap.
    bool is_restart = extract_trace_snapshot(input->trace)->ring.format->slots &&
                      !extract_trace_info(input->trace)->wrapped &&
                      !extract_trace_info(input->trace)->log && input->is_whole;
    input->gap = alternate    ? EXTRACT_LOSS_BETWEEN
                 : is_restart ? EXTRACT_LOSS_RESET
                              : EXTRACT_LOSS_LAPPED;
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
        continue_after(input, newest, merge->options.alternate);
        input->chain = i;
        return code;
    }
    input->chain = before->chain;
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

int64_t merge_first_difference(const struct merge *merge, const struct merge_input *input)
{
    const struct merge_input *first = &merge->inputs[0];
    uint64_t modulus = extract_trace_info(first->trace)->clock.modulus;
    uint64_t ahead = input->raw_first - first->raw_first;

    if (merge->options.kind == MERGE_BOARDS || !modulus || modulus > INT64_MAX)
        return (int64_t)ahead;
    int64_t difference = (int64_t)ahead % (int64_t)modulus;
    if (difference > (int64_t)(modulus / 2))
        difference -= (int64_t)modulus;
    else if (difference < -(int64_t)(modulus / 2))
        difference += (int64_t)modulus;
    return difference;
}

// Returns whether the rates of an input's clock and of the first one's are known, and differ.
static bool has_other_rate(const struct merge *merge, const struct merge_input *input)
{
    uint64_t first = extract_trace_snapshot(merge->inputs[0].trace)->ring.hz;
    uint64_t own = extract_trace_snapshot(input->trace)->ring.hz;

    return merge->options.kind == MERGE_BOARDS && !merge->options.hz && first && own &&
           first != own;
}

// Finds the time in the log at which the ticks of a clock are 0 if its timestamps and those of the
// first input are 0 at the same time. Sets *rate to its rate. Returns false if that is too far
// away.
static bool find_base(const struct merge *merge, const struct merge_input *input, double *rate,
                      int64_t *base)
{
    const struct merge_input *first = &merge->inputs[0];
    int64_t aligned = (int64_t)first->ticks_first - (int64_t)input->ticks_first;
    __int128 difference = merge_first_difference(merge, input);

    *rate = 1;
    if (has_other_rate(merge, input)) {
        uint64_t hz = extract_trace_snapshot(first->trace)->ring.hz;
        uint64_t own_hz = extract_trace_snapshot(input->trace)->ring.hz;
        __int128 zero = (__int128)input->raw_first - (__int128)input->ticks_first;
        *rate = (double)hz / (double)own_hz;
        difference = zero * (__int128)hz / (__int128)own_hz - (__int128)first->raw_first;
        aligned = (int64_t)first->ticks_first;
    }
    if (difference > INT64_MAX / 4 || difference < INT64_MIN / 4)
        return false;
    *base = aligned + (int64_t)difference;
    return true;
}

// Sets the clocks of cores, and those of boards with an offset.
static enum extract_code apply_offsets(struct merge *merge, struct extract_error *error)
{
    for (size_t i = 0; i < merge->count; i++) {
        struct merge_input *input = &merge->inputs[i];
        int64_t base;
        if (i && !input->has_offset && merge->options.kind != MERGE_CORE_RINGS)
            continue;
        if (!find_base(merge, input, &input->clock.rate, &base) ||
            __builtin_add_overflow(base, input->offset, &base) || base > INT64_MAX / 4 ||
            base < INT64_MIN / 4)
            return extract_error_set(error, EXTRACT_USAGE, input->name,
                                     "use an offset that brings the clocks together",
                                     "with its offset, it is more than 2^61 ticks away from "
                                     "the first input");
        input->base = base;
        input->clock.certainty = input->has_offset ? MERGE_GIVEN : MERGE_CERTAIN;
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

static enum extract_code relate_clocks(struct merge *merge, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    if (merge->options.kind == MERGE_SNAPSHOTS) {
        code = join_snapshots(merge, error);
        merge_find_time_order(merge);
        return code;
    }
    if (merge->options.kind == MERGE_BOARDS)
        code = check_boards(merge, error);
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

// Chooses the timestamp of the time 0 in the log. Timestamps are those of the first input, unless
// events are so long before its first one that they would be negative.
static void choose_start(struct merge *merge)
{
    const struct merge_input *first = &merge->inputs[0];
    uint64_t zero = first->raw_first - first->ticks_first;
    __int128 earliest =
        (__int128)first->raw_first - (__int128)first->ticks_first + (__int128)merge->origin;

    merge->start = earliest < 0 || earliest > UINT64_MAX / 2
                       ? first->raw_first - (uint64_t)merge->origin
                       : zero;
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
    choose_start(merge);
    return EXTRACT_OK;
}

enum extract_code merge_find_clocks(struct merge *merge, struct extract_error *error)
{
    enum extract_code code = relate_clocks(merge, error);

    return code ? code : finish_clocks(merge, error);
}
