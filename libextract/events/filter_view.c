// SPDX-License-Identifier: MIT
// events: compiling a filter for one trace. In: a filter's items, the trace's objects, types and
// symbols. Out: a view of bitmaps, sorted addresses and numbers.
#define _GNU_SOURCE // FNM_CASEFOLD
#include "events/filter.h"
#include "formats/format.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct compile {
    struct extract_view *view;
    const struct extract_filter *filter;
    const struct extract_trace *trace;
    uint64_t hz;
    bool *found; // an item: it names something
    struct extract_error *error;
};

static enum extract_code out_of_memory(const struct compile *c)
{
    return extract_error_set(c->error, EXTRACT_NOMEM, "filter", NULL, "out of memory");
}

// Texts that are patterns by accident ("task[1]") match themselves.
static bool matches(const char *pattern, const char *name, int flags)
{
    return !strcmp(pattern, name) || !fnmatch(pattern, name, flags);
}

// Whether the trace names a user event so.
static bool item_is_told(const struct extract_trace *trace, const struct filter_item *item,
                         uint32_t id)
{
    const struct extract_object *objects;
    uint32_t first = extract_trace_snapshot(trace)->ring.format->user_ids;
    bool may = first && id >= first && id - first <= UINT8_MAX;
    size_t count = may ? extract_trace_objects(trace, &objects) : 0;
    for (size_t i = 0; i < count; i++)
        if (objects[i].number_kind == EXTRACT_KIND_USER_EVENT && objects[i].address == id - first &&
            matches(item->value, objects[i].name, 0))
            return true;
    return false;
}

static bool item_is_type(const struct extract_trace *trace, const struct filter_item *item,
                         const struct extract_event_type *type, uint32_t id)
{
    uint64_t number;
    if (extract_number_parse(item->value, &number))
        return number == id;
    char shown[256]; // reports add the id to the name of a range
    snprintf(shown, sizeof shown, type->range ? "%s %u" : "%s", type->name, id);
    return matches(item->value, type->symbol, FNM_CASEFOLD) ||
           matches(item->value, type->name, FNM_CASEFOLD) ||
           matches(item->value, shown, FNM_CASEFOLD) || item_is_told(trace, item, id);
}

// Whether events of this type are wanted; marks the items that name it.
static bool type_wanted(const struct compile *c, const struct extract_event_type *type, uint32_t id)
{
    bool narrows = false, in = false, out = false;
    for (size_t i = 0; i < c->filter->count; i++) {
        const struct filter_item *item = &c->filter->items[i];
        if (item->word != EXTRACT_FILTER_EVENT)
            continue;
        bool is = item_is_type(c->trace, item, type, id);
        narrows |= !item->negative;
        c->found[i] |= is;
        in |= is && !item->negative;
        out |= is && item->negative;
    }
    return (in || !narrows) && !out;
}

// Judges the types that occur: user-defined ones have their names from the trace only.
static enum extract_code compile_seen_types(struct compile *c)
{
    const struct extract_trace *trace = c->trace;
    const struct extract_event_type *mark;
    for (uint32_t id = 0; id < EXTRACT_COMMON_IDS; id++) {
        uint8_t bit = (uint8_t)(1u << id % 8);
        if (trace->seen[id / 8] & bit && type_wanted(c, extract_trace_type(trace, id), id))
            c->view->ids[id / 8] |= bit;
    }
    for (size_t i = 0; trace->pieces && (mark = extract_mark_type_at(i)); i++)
        if (type_wanted(c, mark, mark->id) && !filter_set_add(&c->view->rare_ids, mark->id))
            return out_of_memory(c);
    filter_set_close(&c->view->rare_ids);
    return EXTRACT_OK;
}

static bool types_all_found(const struct compile *c)
{
    for (size_t i = 0; i < c->filter->count; i++)
        if (c->filter->items[i].word == EXTRACT_FILTER_EVENT && !c->found[i])
            return false;
    return true;
}

// What does not occur may still be a type of the format: then nothing was misspelt.
static enum extract_code compile_types(struct compile *c)
{
    const struct extract_format *format = extract_trace_snapshot(c->trace)->ring.format;
    enum extract_code code = compile_seen_types(c);
    if (!code && !types_all_found(c))
        for (uint32_t id = 0; id < EXTRACT_COMMON_IDS; id++)
            type_wanted(c, format->type(id), id);
    return code;
}

// By its short name or as reports print it.
static bool context_is(const char *value, enum extract_context context)
{
    const char *shown = context == EXTRACT_ISR ? "interrupt" : "start-up";
    return !strcmp(value, extract_context_name(context)) || !strcmp(value, shown);
}

// Adds what an item names to its word's addresses: a context, a number, objects by their names, or
// a symbol of the firmware.
static enum extract_code compile_address(struct compile *c, size_t i, struct filter_addresses *word)
{
    const struct filter_item *item = &c->filter->items[i];
    struct filter_set *set = item->negative ? &word->out : &word->in;
    struct filter_set *objects_set = item->negative ? &word->out_objects : &word->in_objects;
    bool *contexts = item->negative ? word->out_context : word->in_context;
    bool threads = item->word == EXTRACT_FILTER_THREAD;
    const struct extract_symbols *symbols = extract_trace_symbols(c->trace);
    const struct extract_ring *ring = &extract_trace_snapshot(c->trace)->ring;
    const struct extract_object *objects;
    struct extract_symbol symbol;
    uint64_t number = 0;

    word->narrows |= !item->negative;
    for (int context = EXTRACT_ISR; threads && context <= EXTRACT_INIT; context++)
        if (context_is(item->value, (enum extract_context)context))
            contexts[context] = c->found[i] = true;
    size_t count = extract_trace_objects(c->trace, &objects);
    for (size_t k = 0; k < count; k++) {
        const struct extract_object *object = &objects[k];
        if ((threads && !object->thread) ||
            (!matches(item->value, object->name, 0) && !matches(item->value, object->shown, 0)))
            continue;
        c->found[i] = true;
        bool by_time = c->trace->pieces && !object->shadowed;
        uint64_t key = object->address;
        if (object->number_kind != EXTRACT_KIND_NONE)
            extract_value_key(object->number_kind, object->address, &key);
        if (!filter_set_add(by_time ? objects_set : set, by_time ? k : key))
            return out_of_memory(c);
    }
    bool known = extract_number_parse(item->value, &number);
    if (!known && symbols && extract_symbols_by_name(symbols, item->value, &symbol)) {
        known = true;
        number = symbol.address;
    }
    if (ring->word_bytes == 4) // the trace stores no more of an address
        number &= UINT32_MAX;
    c->found[i] |= known;
    return known && !filter_set_add(set, number) ? out_of_memory(c) : EXTRACT_OK;
}

static void compile_classes(struct compile *c)
{
    unsigned in = 0, out = 0, all = (1u << EXTRACT_CLASSES) - 1;
    for (size_t i = 0; i < c->filter->count; i++) {
        const struct filter_item *item = &c->filter->items[i];
        if (item->word != EXTRACT_FILTER_CLASS)
            continue;
        unsigned bit = 1u << filter_class_parse(item->value);
        in |= item->negative ? 0 : bit;
        out |= item->negative ? bit : 0;
        c->found[i] = true;
    }
    c->view->classes = (in ? in : all) & ~out;
}

// Several times of one word widen it, as several names do: the earliest start, the latest end.
static enum extract_code compile_time(struct compile *c, const struct filter_item *item)
{
    struct extract_view *view = c->view;
    bool from = item->word == EXTRACT_FILTER_FROM;
    bool first = !(view->checks & 1u << item->word);
    struct filter_time time;

    filter_time_parse(item->value, &time);
    if (time.per_second && !c->hz)
        return extract_error_set(c->error, EXTRACT_USAGE, extract_filter_word_name(item->word),
                                 "give the clock's rate with hz, or the time in ticks",
                                 "\"%s\": the clock's ticks a second are not known", item->value);
    uint64_t ticks = filter_time_ticks(&time, c->hz, from);
    if (from)
        view->from = first || ticks < view->from ? ticks : view->from;
    else
        view->to = first || ticks > view->to ? ticks : view->to;
    return EXTRACT_OK;
}

static enum extract_code compile_item(struct compile *c, size_t i)
{
    const struct filter_item *item = &c->filter->items[i];
    enum extract_code code = EXTRACT_OK;
    uint64_t number = 0;

    switch (item->word) {
    case EXTRACT_FILTER_THREAD:
        code = compile_address(c, i, &c->view->threads);
        break;
    case EXTRACT_FILTER_OBJECT:
        code = compile_address(c, i, &c->view->objects);
        break;
    case EXTRACT_FILTER_FROM:
    case EXTRACT_FILTER_TO:
        code = compile_time(c, item);
        c->found[i] = true;
        break;
    case EXTRACT_FILTER_LAST:
        extract_number_parse(item->value, &number);
        c->view->last = number > c->view->last ? number : c->view->last;
        c->found[i] = true;
        break;
    case EXTRACT_FILTER_EVENT:
    case EXTRACT_FILTER_CLASS:
        break; // all items of these words are compiled together
    }
    c->view->checks |= 1u << item->word;
    return code;
}

static void close_sets(struct filter_addresses *word)
{
    filter_set_close(&word->in);
    filter_set_close(&word->out);
    filter_set_close(&word->in_objects);
    filter_set_close(&word->out_objects);
}

static void free_sets(struct filter_addresses *word)
{
    free(word->in.at);
    free(word->out.at);
    free(word->in_objects.at);
    free(word->out_objects.at);
}

static enum extract_code compile_all(struct compile *c)
{
    struct extract_view *view = c->view;
    enum extract_code code = EXTRACT_OK;

    for (size_t i = 0; i < c->filter->count && !code; i++)
        code = compile_item(c, i);
    compile_classes(c);
    if (!code && view->checks & 1u << EXTRACT_FILTER_EVENT)
        code = compile_types(c);
    close_sets(&view->threads);
    close_sets(&view->objects);
    return code;
}

static enum extract_code first_unfound(const struct compile *c)
{
    for (size_t i = 0; i < c->filter->count; i++) {
        const struct filter_item *item = &c->filter->items[i];
        const char *hint = "`objects` lists their names; patterns may hold * ? and []";
        if (c->found[i])
            continue;
        if (item->word == EXTRACT_FILTER_EVENT)
            hint = "write an id, a symbol or a name as reports show it; patterns may hold * ? and "
                   "[]";
        else if (item->word == EXTRACT_FILTER_THREAD)
            hint = "`objects` lists the threads; isr and init stand for interrupts and start-up";
        return extract_error_set(c->error, EXTRACT_NOTFOUND, extract_filter_word_name(item->word),
                                 hint, "\"%s\": nothing of this trace has that name", item->value);
    }
    return EXTRACT_OK;
}

enum extract_code extract_view_new(struct extract_view **view, const struct extract_filter *filter,
                                   const struct extract_trace *trace, uint64_t hz,
                                   struct extract_error *error)
{
    struct compile c = {calloc(1, sizeof **view), filter, trace, hz, NULL, error};
    enum extract_code code = EXTRACT_OK;

    *view = c.view;
    if (!c.view)
        return out_of_memory(&c);
    c.view->trace = trace;
    if (extract_filter_is_empty(filter))
        return EXTRACT_OK;
    c.found = calloc(filter->count, sizeof *c.found);
    code = c.found ? compile_all(&c) : out_of_memory(&c);
    if (code) {
        extract_view_free(c.view);
        *view = NULL;
    } else {
        code = first_unfound(&c);
    }
    free(c.found);
    return code;
}

void extract_view_free(struct extract_view *view)
{
    if (!view)
        return;
    free(view->rare_ids.at);
    free_sets(&view->threads);
    free_sets(&view->objects);
    free(view);
}
