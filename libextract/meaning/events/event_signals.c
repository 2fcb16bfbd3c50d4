// SPDX-License-Identifier: MIT
// events: collects the numbers of signals in a trace, so that the format can find names for them in
// the firmware's ELF.
//
// The first walk over all events passes each of them to extract_signals_note. Numbers come from
// fields of events, and from entries that give a number a name.
#include "events/events_room.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_SEEN = 1 << 12 }; // a trace with more signals is damaged, and fits no enumeration

bool extract_signals_note(struct extract_trace *trace, const struct extract_event *event)
{
    bool may_name = trace->symbols && trace->snapshot->ring.format->describing;

    for (unsigned i = 0; may_name && i < event->fields && i < event->type->fields; i++) {
        uint64_t number = event->field[i];
        if (event->type->field[i].kind != EXTRACT_KIND_SIGNAL ||
            extract_map_get(&trace->seen_signals, number) || trace->seen_signals.used >= MAX_SEEN)
            continue;
        uint32_t *place = extract_map_at(&trace->seen_signals, number);
        if (!place)
            return false;
        *place = 1;
        trace->has_unnamed = true;
    }
    return true;
}

static int compare_numbers(const void *left, const void *right)
{
    const struct extract_number *a = left, *b = right;

    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return (b->name != NULL) - (a->name != NULL); // numbers with a name come first
}

// Removes duplicates from a sorted list. A number with two different names gets an empty name,
// so the format does not rely on it.
static size_t merge_numbers(struct extract_number *list, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        struct extract_number *last = kept ? &list[kept - 1] : NULL;
        if (!last || last->value != list[i].value)
            list[kept++] = list[i];
        else if (last->name && list[i].name && strcmp(last->name, list[i].name) != 0)
            last->name = "";
    }
    return kept;
}

struct extract_number *extract_signals_list(const struct extract_trace *trace, size_t *count)
{
    const struct extract_map *seen = &trace->seen_signals;
    size_t used = 0;
    struct extract_number *list = malloc((trace->object_count + seen->used + 1) * sizeof *list);
    if (!list)
        return NULL;
    for (size_t i = 0; i < trace->object_count; i++) {
        const struct extract_object *object = &trace->objects[i];
        if (object->number_kind == EXTRACT_KIND_SIGNAL && object->registered)
            list[used++] = (struct extract_number){object->address, object->name};
    }
    for (size_t i = 0; seen->values && i <= seen->mask; i++)
        if (seen->values[i])
            list[used++] = (struct extract_number){seen->keys[i], NULL};
    qsort(list, used, sizeof *list, compare_numbers);
    *count = merge_numbers(list, used);
    return list;
}
