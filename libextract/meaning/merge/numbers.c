// SPDX-License-Identifier: MIT
// merge: gives numbers of inputs a number in the log: those of types of user events, signals, pools
// and processes. Different things must not have the same number.
//
//     user events   by their names: a type that has the same name in two inputs is one type
//     signals       of boards: those of the second board are 10, 100, … higher, those of the third
//     and pools     twice as much, so that the numbers of the first board stay as they are
//     processes     of boards: the second one of a number gets a higher one
//
// Numbers of the first input never change.
#include "formats/format.h"
#include "merge/merge.h"
#include <stdlib.h>
#include <string.h>

enum { PROCESS_STEP = 10000000 }; // above all ids of processes that systems use

// ---- what an input contains ----

static void note_number(void *context, enum extract_kind kind, uint64_t number)
{
    struct merge_input *input = context;
    struct merge_numbers *own = &input->numbers;

    if (kind == EXTRACT_KIND_SIGNAL)
        own->max_signal = number > own->max_signal ? number : own->max_signal;
    else if (kind == EXTRACT_KIND_POOL)
        own->max_pool = number > own->max_pool ? number : own->max_pool;
    else if (number) { // a process
        uint32_t *owner = extract_map_at(own->owners, number);
        own->is_short |= !owner;
        if (owner && !*owner)
            *owner = own->index + 1;
    }
}

bool merge_note_numbers(struct merge_input *input, const struct extract_event *event)
{
    const struct extract_format *format = extract_trace_snapshot(input->trace)->ring.format;
    const struct extract_encoder *encoder = format->encoder;
    uint32_t number = event->id - format->user_ids;

    if (encoder->user_events && event->id >= format->user_ids && number < encoder->user_events)
        input->numbers.used[number / 8] |= (uint8_t)(1u << number % 8);
    if (encoder->numbers)
        encoder->numbers(event, note_number, input);
    return !input->numbers.is_short;
}

bool merge_open_numbers(struct merge *merge, size_t i)
{
    struct merge_input *input = &merge->inputs[i];
    const struct extract_format *format = extract_trace_snapshot(input->trace)->ring.format;

    if (!i && !extract_map_init(&merge->owners, 0))
        return false;
    input->numbers = (struct merge_numbers){.index = (uint32_t)i, .owners = &merge->owners};
    input->numbers.used = calloc(1, format->encoder->user_events / 8 + 1);
    return input->numbers.used && extract_map_init(&input->numbers.user_events, 0);
}

void merge_close_numbers(struct merge *merge)
{
    for (size_t i = 0; i < merge->count; i++) {
        struct merge_numbers *numbers = &merge->inputs[i].numbers;
        free(numbers->used);
        extract_map_free(&numbers->user_events);
        *numbers = (struct merge_numbers){0};
    }
    extract_map_free(&merge->owners);
    free(merge->user_names);
    merge->user_names = NULL;
}

// ---- types of user events ----

// The numbers of user events in the log, while they are given out.
struct numbering {
    struct merge *merge;
    uint32_t limit;
    uint8_t *taken; // bit per number: it is that of a type in the log
    uint8_t *used;  // bit per number: it is that of a type in an input
    struct extract_map by_name;
};

static bool has_bit(const uint8_t *bits, uint32_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

static void set_bit(uint8_t *bits, uint32_t i)
{
    bits[i / 8] |= (uint8_t)(1u << i % 8);
}

static uint64_t name_key(const char *name)
{
    uint64_t key = UINT64_C(0xCBF29CE484222325); // FNV-1a

    for (; *name; name++)
        key = (key ^ (uint8_t)*name) * UINT64_C(0x100000001B3);
    return key;
}

static const char *name_of(const struct merge_input *input, uint32_t number)
{
    const struct extract_object *object =
        extract_trace_object(input->trace, extract_number_key(EXTRACT_KIND_USER_EVENT, number));

    return object ? object->name : "";
}

// Returns a number that no type has; `limit` if there is none. Numbers of other inputs come last.
static uint32_t find_free(const struct numbering *n)
{
    uint32_t other = n->limit;

    for (uint32_t i = 1; i < n->limit; i++) {
        if (!has_bit(n->taken, i) && !has_bit(n->used, i))
            return i;
        if (!has_bit(n->taken, i) && other == n->limit)
            other = i;
    }
    return other;
}

// Chooses the number in the log of a type of an input; `limit` if there is none.
static uint32_t choose_number(struct numbering *n, const struct merge_input *input, uint32_t number,
                              const char *name)
{
    const char **names = n->merge->user_names;
    bool is_shared = n->merge->options.kind != MERGE_BOARDS; // numbers mean the same in all inputs
    uint32_t same = *name ? extract_map_get(&n->by_name, name_key(name)) : 0;

    if (!input->numbers.index)
        return number;
    if (same && strcmp(names[same - 1], name) == 0)
        return same - 1;
    if (!has_bit(n->taken, number))
        return number;
    bool is_named = *names[number] != 0;
    if ((!*name && !is_named) || (is_shared && (!*name || !is_named)))
        return number;
    return find_free(n);
}

static enum extract_code number_type(struct numbering *n, struct merge_input *input,
                                     uint32_t number, struct extract_error *error)
{
    const char *name = name_of(input, number);
    uint32_t chosen = choose_number(n, input, number, name);

    if (chosen == n->limit)
        return extract_error_set(error, EXTRACT_LIMIT, input->name, "merge fewer inputs",
                                 "the inputs have more than %u types of user events with "
                                 "different names",
                                 (unsigned)n->limit);
    set_bit(n->taken, chosen);
    uint32_t *place = extract_map_at(&input->numbers.user_events, number);
    if (!place)
        return extract_error_set(error, EXTRACT_NOMEM, "merge", NULL, "out of memory");
    *place = chosen + 1;
    if (!*name || *n->merge->user_names[chosen])
        return EXTRACT_OK;
    n->merge->user_names[chosen] = name;
    uint32_t *same = extract_map_at(&n->by_name, name_key(name));
    if (!same)
        return extract_error_set(error, EXTRACT_NOMEM, "merge", NULL, "out of memory");
    *same = *same ? *same : chosen + 1;
    return EXTRACT_OK;
}

// Marks the types that have a name, too, even if no event has the type.
static void mark_named(struct merge_input *input, uint32_t limit)
{
    const struct extract_object *objects;
    size_t count = extract_trace_objects(input->trace, &objects);

    for (size_t i = 0; i < count; i++)
        if (objects[i].number_kind == EXTRACT_KIND_USER_EVENT && objects[i].address < limit)
            set_bit(input->numbers.used, (uint32_t)objects[i].address);
}

static enum extract_code number_all(struct numbering *n, struct extract_error *error)
{
    struct merge *merge = n->merge;
    enum extract_code code = EXTRACT_OK;

    for (uint32_t i = 0; i < n->limit; i++)
        merge->user_names[i] = "";
    for (size_t i = 0; i < merge->count; i++) {
        mark_named(&merge->inputs[i], n->limit);
        for (uint32_t k = 0; k <= n->limit / 8; k++)
            n->used[k] |= merge->inputs[i].numbers.used[k];
    }
    for (size_t i = 0; i < merge->count && !code; i++)
        for (uint32_t k = 0; k < n->limit && !code; k++)
            if (has_bit(merge->inputs[i].numbers.used, k))
                code = number_type(n, &merge->inputs[i], k, error);
    for (uint32_t i = 0; i < n->limit; i++)
        merge->user_count = has_bit(n->taken, i) ? i + 1 : merge->user_count;
    return code;
}

static enum extract_code number_user_events(struct merge *merge, uint32_t limit,
                                            struct extract_error *error)
{
    struct numbering n = {.merge = merge,
                          .limit = limit,
                          .taken = calloc(1, limit / 8 + 1),
                          .used = calloc(1, limit / 8 + 1)};
    enum extract_code code = EXTRACT_NOMEM;

    merge->user_names = calloc(limit + 1, sizeof *merge->user_names);
    if (extract_map_init(&n.by_name, 0) && n.taken && n.used && merge->user_names)
        code = number_all(&n, error);
    else
        extract_error_set(error, EXTRACT_NOMEM, "merge", NULL, "out of memory");
    extract_map_free(&n.by_name);
    free(n.taken);
    free(n.used);
    return code;
}

// ---- signals and pools ----

// Chooses the difference between the numbers of two boards: a power of ten above all numbers, or
// the next number if that would be too high. Returns 0 if there is none.
static uint64_t choose_step(uint64_t highest, size_t boards, uint64_t limit)
{
    uint64_t step = 10;

    while (step <= highest)
        step *= 10;
    if (step * (boards - 1) + highest < limit)
        return step;
    step = highest + 1;
    return step * (boards - 1) + highest < limit ? step : 0;
}

static enum extract_code number_boards(struct merge *merge, const struct extract_encoder *encoder,
                                       struct extract_error *error)
{
    uint64_t max_signal = 0, max_pool = 0;

    for (size_t i = 0; i < merge->count; i++) {
        const struct merge_numbers *own = &merge->inputs[i].numbers;
        max_signal = own->max_signal > max_signal ? own->max_signal : max_signal;
        max_pool = own->max_pool > max_pool ? own->max_pool : max_pool;
    }
    uint64_t signals = choose_step(max_signal, merge->count, UINT64_C(1) << 32);
    uint64_t pools = encoder->pools ? choose_step(max_pool, merge->count, encoder->pools) : 1;
    if (!signals || !pools)
        return extract_error_set(error, EXTRACT_LIMIT, "merge", "merge fewer inputs",
                                 "the inputs have too many %s for one log: numbers up to %llu",
                                 signals ? "pools" : "signals",
                                 (unsigned long long)(signals ? max_pool : max_signal));
    for (size_t i = 0; i < merge->count; i++) {
        merge->inputs[i].numbers.signal_offset = i * signals;
        merge->inputs[i].numbers.pool_offset = i * pools;
    }
    return EXTRACT_OK;
}

enum extract_code merge_plan_numbers(struct merge *merge, struct extract_error *error)
{
    const struct extract_encoder *encoder =
        extract_trace_snapshot(merge->inputs[0].trace)->ring.format->encoder;
    enum extract_code code = EXTRACT_OK;

    if (encoder->user_events)
        code = number_user_events(merge, encoder->user_events, error);
    if (!code && encoder->numbers && merge->options.kind == MERGE_BOARDS)
        code = number_boards(merge, encoder, error);
    return code;
}

uint64_t merge_number(const void *context, enum extract_kind kind, uint64_t number)
{
    const struct merge_numbers *own = context;

    if (kind == EXTRACT_KIND_SIGNAL)
        return number + own->signal_offset;
    if (kind == EXTRACT_KIND_POOL)
        return number + own->pool_offset;
    if (kind == EXTRACT_KIND_USER_EVENT) {
        uint32_t place = extract_map_get(&own->user_events, number);
        return place ? place - 1 : number;
    }
    uint32_t owner = extract_map_get(own->owners, number);
    bool is_taken = own->is_of_board && owner && owner != own->index + 1;
    return is_taken ? number + (uint64_t)own->index * PROCESS_STEP : number;
}
