// SPDX-License-Identifier: MIT
// merge: plans a merge. It checks that the inputs fit together, reads each of them once, and then
// lets the other files plan clocks, numbers and objects.
#include "events/events_room.h"
#include "merge/merge.h"
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 256, NARROW_BITS = 32, WIDE_BITS = 48 };

static const char hint_kind[] = "use --cores for the rings of one target's cores, and --offset or "
                                "--align for boards";

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
        input->is_constant = true;
    }
    input->is_constant &= upward(input, event->raw_stamp) == input->raw_first;
    if (event->ticks >= input->ticks_last) {
        input->ticks_last = event->ticks;
        input->raw_last = upward(input, event->raw_stamp);
    }
    input->ticks_first = event->ticks < input->ticks_first ? event->ticks : input->ticks_first;
    input->last_number = event->seq;
    input->cores = event->core + 1u > input->cores ? event->core + 1u : input->cores;
    input->is_whole &= !(event->flags & EXTRACT_FLAG_GAP);
}

// Reads all events of an input.
static enum extract_code study_input(struct merge *merge, size_t i, struct extract_error *error)
{
    struct merge_input *input = &merge->inputs[i];
    struct extract_event events[BATCH];
    struct extract_reader reader;
    size_t got;
    bool fits = merge_open_numbers(merge, i) && merge_open_addresses(input);

    input->events = 0;
    input->is_whole = true;
    input->clock = (struct merge_line){.rate = 1, .certainty = MERGE_CERTAIN, .has_rate = true};
    extract_reader_init(&reader, input->trace);
    reader.has_addresses = true;
    while (fits && (got = extract_reader_next(&reader, events, BATCH)))
        for (size_t k = 0; k < got && fits; k++) {
            if (!extract_event_is_mark(&events[k])) {
                note_event(input, &events[k]);
                fits = merge_note_numbers(input, &events[k]) &&
                       merge_note_addresses(merge, input, &events[k]);
            } else if (input->events && extract_event_is_break(&events[k])) {
                input->is_whole = false;
            }
        }
    if (!fits)
        return extract_error_set(error, EXTRACT_NOMEM, "merge", NULL, "out of memory");
    if (!input->events)
        return extract_error_set(error, EXTRACT_USAGE, input->name, "leave it out",
                                 "it contains no events");
    // The reader keeps times from 0 to 2^64; half of them leave room for all sums.
    if (input->ticks_last > INT64_MAX / 4)
        return extract_error_set(error, EXTRACT_BAD, input->name, "use --modulus",
                                 "its timestamps span more than 2^61 ticks");
    return EXTRACT_OK;
}

// Snapshots whose timestamps are all the same have the order of their events in common. Boards and
// cores without timestamps have nothing in common.
static enum extract_code check_times(struct merge *merge, struct extract_error *error)
{
    bool are_constant = true;

    for (size_t i = 0; i < merge->count; i++) {
        const struct merge_input *input = &merge->inputs[i];
        bool is_untimed = input->is_constant && !input->raw_first && input->events > 1;
        are_constant &= input->is_constant;
        if (is_untimed && merge->options.kind != MERGE_SNAPSHOTS)
            return extract_error_set(error, EXTRACT_USAGE, input->name,
                                     "leave it out, or record it with timestamps",
                                     "its events have no timestamps: nothing states when they were "
                                     "among those of the other inputs");
    }
    for (size_t i = 0; i < merge->count && merge->options.kind == MERGE_SNAPSHOTS; i++) {
        struct merge_input *input = &merge->inputs[i];
        input->is_untimed = are_constant;
        if (are_constant) {
            input->ticks_first = 0;
            input->ticks_last = input->last_number;
        }
    }
    return EXTRACT_OK;
}

size_t merge_read(const struct merge_input *input, struct extract_reader *reader,
                  struct extract_event *events, size_t count)
{
    size_t got = extract_reader_next(reader, events, count);

    for (size_t i = 0; i < got && input->is_untimed; i++)
        events[i].ticks = events[i].seq;
    return got;
}

// Inputs with one clock that is likely to wrap elsewhere have wrong times, which differ between
// them: common events would be in the log twice, or out of order, and no other period can be given
// to a log. The clocks of boards differ, and --modulus states one period.
static enum extract_code check_period(const struct merge_input *input, struct extract_error *error)
{
    const struct extract_clock *clock = &extract_trace_info(input->trace)->clock;
    uint64_t likely = clock->likely_modulus;
    char hint[64];

    if (!likely && !clock->turns)
        return EXTRACT_OK;
    if (!likely)
        return extract_error_set(error, EXTRACT_USAGE, input->name,
                                 "use --modulus with the clock's period",
                                 "its clock is likely to wrap below its mask, at a period above "
                                 "%llu, so that its times are wrong",
                                 (unsigned long long)clock->above);
    snprintf(hint, sizeof hint, "use --modulus %llu, or its true period",
             (unsigned long long)likely);
    return extract_error_set(error, EXTRACT_USAGE, input->name, hint,
                             "its clock is likely to wrap at %llu, below its mask, so that its "
                             "times are wrong",
                             (unsigned long long)likely);
}

static enum extract_code check_ring(const struct merge_input *input,
                                    const struct merge_input *first, struct extract_error *error)
{
    const struct extract_ring *a = &extract_trace_snapshot(first->trace)->ring;
    const struct extract_ring *b = &extract_trace_snapshot(input->trace)->ring;

    if (!b->format->encoder)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, input->name, "use ThreadX traces",
                                 "traces of the format %s cannot be merged", b->format->name);
    if (a->format != b->format)
        return extract_error_set(error, EXTRACT_USAGE, input->name, "merge traces of one format",
                                 "it has the format %s, and %.100s has %s", b->format->name,
                                 first->name, a->format->name);
    if (b->format->slots && a->word_bytes != b->word_bytes)
        return extract_error_set(error, EXTRACT_USAGE, input->name, "merge traces of one word size",
                                 "it has words of %u bytes, and %.100s has words of %u",
                                 b->word_bytes, first->name, a->word_bytes);
    return EXTRACT_OK;
}

// Returns whether all timestamps of one input are before those of the other: cores and boards run
// at the same time, but buffers that are used in turn do not.
static bool are_apart(const struct merge_input *a, const struct merge_input *b)
{
    return a->raw_first <= a->raw_last && b->raw_first <= b->raw_last &&
           (a->raw_last < b->raw_first || b->raw_last < a->raw_first);
}

// Checks that snapshots are of one ring.
static enum extract_code check_same_ring(const struct merge_input *input,
                                         const struct merge_input *first,
                                         const struct merge_options *options,
                                         struct extract_error *error)
{
    const struct extract_ring *a = &extract_trace_snapshot(first->trace)->ring;
    const struct extract_ring *b = &extract_trace_snapshot(input->trace)->ring;
    // Merged logs of one ring have rings of different sizes, and so have parts of a raw stream,
    // which has no address.
    bool has_log = extract_trace_info(first->trace)->log || extract_trace_info(input->trace)->log;
    uint64_t size = a->entries.end - a->entries.start;
    bool is_same = has_log || (b->format->stream && !a->address && !b->address) ||
                   (a->address == b->address && size == b->entries.end - b->entries.start);
    is_same &= a->entries.start == b->entries.start || (has_log && a->address == b->address);
    if (options->kind != MERGE_SNAPSHOTS ||
        ((is_same || options->alternate) && a->byte_order == b->byte_order))
        return EXTRACT_OK;
    return extract_error_set(
        error, EXTRACT_USAGE, input->name,
        are_apart(input, first)
            ? "use --alternate for buffers that one core uses in turn, and --offset or "
              "--align for boards"
            : hint_kind,
        "not a snapshot of the same ring as %.100s", first->name);
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
        merge->cores = merge->inputs[i].first_core + merge->inputs[i].cores > merge->cores
                           ? merge->inputs[i].first_core + merge->inputs[i].cores
                           : merge->cores;
    }
    return has_numbers || cores <= MERGE_CORES
               ? EXTRACT_OK
               : extract_error_set(error, EXTRACT_LIMIT, "merge", "merge fewer inputs",
                                   "the inputs have %u cores together, more than %d", cores,
                                   MERGE_CORES);
}

// ---- encoding ----

// Chooses the bit from which on addresses contain the number of their board.
static unsigned choose_board_bit(const struct merge *merge)
{
    for (size_t i = 0; i < merge->count; i++) {
        const struct extract_ring *ring = &extract_trace_snapshot(merge->inputs[i].trace)->ring;
        if (ring->word_bytes != 4 || ring->near)
            return WIDE_BITS;
    }
    return NARROW_BITS;
}

static void plan_encoding(struct merge *merge)
{
    bool is_of_board = merge->options.kind == MERGE_BOARDS;
    unsigned board_bit = choose_board_bit(merge);

    for (size_t i = 0; i < merge->count; i++) {
        struct merge_input *input = &merge->inputs[i];
        input->numbers.is_of_board = is_of_board;
        input->encoding =
            (struct extract_encoding){.ring = &merge->ring,
                                      .input = &extract_trace_snapshot(input->trace)->ring,
                                      .board = is_of_board ? (unsigned)i : 0,
                                      .board_bit = board_bit,
                                      .prefix = is_of_board ? input->prefix : NULL,
                                      .is_untimed = input->is_untimed,
                                      .number = merge_number,
                                      .context = &input->numbers};
    }
}

enum extract_code merge_plan(struct merge *merge, struct merge_input *inputs, size_t count,
                             const struct merge_options *options, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    *merge = (struct merge){.inputs = inputs, .count = count, .options = *options};
    for (size_t i = 0; i < count && !code; i++)
        code = check_ring(&inputs[i], &inputs[0], error);
    for (size_t i = 0; i < count && !code; i++) {
        code = study_input(merge, i, error);
        if (!code)
            code = check_same_ring(&inputs[i], &inputs[0], options, error);
        if (!code && options->kind != MERGE_BOARDS)
            code = check_period(&inputs[i], error);
    }
    if (!code)
        code = check_times(merge, error);
    if (!code)
        code = merge_check_ids(merge, error);
    if (!code)
        code = number_cores(merge, error);
    if (!code)
        code = merge_find_clocks(merge, error);
    if (!code)
        code = merge_plan_numbers(merge, error);
    if (code)
        return code;
    plan_encoding(merge);
    code = merge_make_registry(merge, error);
    return code ? code : merge_collect_names(merge, error);
}

void merge_free(struct merge *merge)
{
    free(merge->registry);
    merge->registry = NULL;
    for (size_t i = 0; i < merge->count; i++)
        merge_close_addresses(&merge->inputs[i]);
    extract_text_free(&merge->object_names);
    merge_close_numbers(merge);
}
