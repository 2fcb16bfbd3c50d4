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

// An item as the trace's format takes it: "ao=server" is about threads, whatever its word.
struct wish {
    enum extract_filter_word word;
    enum extract_target_kind kind; // NONE: it is no word of the target's own filters
    const char *value;
    bool negative;
    bool found; // it names something
};

struct compile {
    struct extract_view *view;
    const struct extract_trace *trace;
    uint64_t hz;
    struct wish *wishes;
    size_t count;
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

static const struct extract_format *format_of(const struct extract_trace *trace)
{
    return extract_trace_snapshot(trace)->ring.format;
}

// What an item asks for. Words of the target's filters may stand wherever events are named.
static struct wish wish_of(const struct filter_item *item,
                           const struct extract_target_filter *target)
{
    static const enum extract_filter_word words[EXTRACT_TARGET_KINDS] = {
        EXTRACT_FILTER_EVENT, EXTRACT_FILTER_EVENT, EXTRACT_FILTER_THREAD, EXTRACT_FILTER_OBJECT};
    struct wish wish = {item->word, EXTRACT_TARGET_NONE, item->value, item->negative, false};
    if (!target || item->word > EXTRACT_FILTER_OBJECT)
        return wish;
    if (target->parse(item->value, &wish.kind, &wish.value))
        wish.word = words[wish.kind];
    else if (!strcmp(item->value, target->all))
        wish = (struct wish){EXTRACT_FILTER_EVENT, EXTRACT_TARGET_NONE, "*", item->negative, false};
    return wish;
}

// Whether the trace names a user event so.
static bool item_is_told(const struct extract_trace *trace, const struct wish *item, uint32_t id)
{
    const struct extract_object *objects;
    uint32_t first = format_of(trace)->user_ids;
    bool may = first && id >= first && id - first <= UINT16_MAX;
    size_t count = may ? extract_trace_objects(trace, &objects) : 0;
    for (size_t i = 0; i < count; i++)
        if (objects[i].number_kind == EXTRACT_KIND_USER_EVENT && objects[i].address == id - first &&
            matches(item->value, objects[i].name, 0))
            return true;
    return false;
}

static bool item_is_type(const struct extract_trace *trace, const struct wish *item,
                         const struct extract_event_type *type, uint32_t id)
{
    const struct extract_target_filter *target = format_of(trace)->target;
    uint64_t number;
    if (item->kind == EXTRACT_TARGET_GROUP)
        return target->fits(EXTRACT_TARGET_GROUP, id, item->value);
    if (extract_number_parse(item->value, &number))
        return number == id;
    char shown[256]; // reports add the id to the name of a range
    snprintf(shown, sizeof shown, type->range ? "%s %u" : "%s", type->name, id);
    return matches(item->value, type->symbol, FNM_CASEFOLD) ||
           matches(item->value, type->name, FNM_CASEFOLD) ||
           matches(item->value, shown, FNM_CASEFOLD) || item_is_told(trace, item, id) ||
           (target && target->fits(EXTRACT_TARGET_EVENT, id, item->value));
}

// What the items say of a type.
struct pick {
    bool narrows; // some name what is wanted
    bool in, out; // they name this one; as wanted, or not
};

// Marks the items that name the type.
static struct pick pick_type(const struct compile *c, const struct extract_event_type *type,
                             uint32_t id)
{
    struct pick pick = {false, false, false};
    for (size_t i = 0; i < c->count; i++) {
        struct wish *item = &c->wishes[i];
        if (item->word != EXTRACT_FILTER_EVENT)
            continue;
        bool is = item_is_type(c->trace, item, type, id);
        pick.narrows |= !item->negative;
        item->found |= is;
        pick.in |= is && !item->negative;
        pick.out |= is && item->negative;
    }
    return pick;
}

static bool type_wanted(const struct compile *c, const struct extract_event_type *type, uint32_t id)
{
    struct pick pick = pick_type(c, type, id);
    return (pick.in || !pick.narrows) && !pick.out;
}

// Marks of losses and damage are wanted in any case, unless items name some of them.
static bool compile_marks(struct compile *c)
{
    const struct extract_event_type *mark;
    bool named = false, added = true;
    for (size_t i = 0; (mark = extract_mark_type_at(i)); i++)
        named |= extract_id_is_loss(mark->id) && pick_type(c, mark, mark->id).in;
    for (size_t i = 0; added && (mark = extract_mark_type_at(i)); i++) {
        struct pick pick = pick_type(c, mark, mark->id);
        bool narrows = extract_id_is_loss(mark->id) ? named : pick.narrows;
        if ((pick.in || !narrows) && !pick.out)
            added = filter_set_add(&c->view->rare_ids, mark->id);
    }
    filter_set_close(&c->view->rare_ids);
    return added;
}

// Judges the types that occur: user-defined ones have their names from the trace only.
static enum extract_code compile_seen_types(struct compile *c)
{
    const struct extract_trace *trace = c->trace;
    for (uint32_t id = 0; id < EXTRACT_COMMON_IDS; id++) {
        uint8_t bit = (uint8_t)(1u << id % 8);
        if (trace->seen[id / 8] & bit && type_wanted(c, extract_trace_type(trace, id), id))
            c->view->ids[id / 8] |= bit;
    }
    bool marks = trace->snapshots || trace->snapshot->index;
    return marks && !compile_marks(c) ? out_of_memory(c) : EXTRACT_OK;
}

static bool types_all_found(const struct compile *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->wishes[i].word == EXTRACT_FILTER_EVENT && !c->wishes[i].found)
            return false;
    return true;
}

// What does not occur may still be a type of the format: then nothing was misspelt.
static enum extract_code compile_types(struct compile *c)
{
    const struct extract_format *format = extract_trace_snapshot(c->trace)->ring.format;
    const struct extract_event_type *mark;
    enum extract_code code = compile_seen_types(c);
    if (code || types_all_found(c))
        return code;
    for (uint32_t id = 0; id < EXTRACT_COMMON_IDS; id++)
        type_wanted(c, format->type(id), id);
    for (size_t i = 0; (mark = extract_mark_type_at(i)); i++)
        type_wanted(c, mark, mark->id);
    return EXTRACT_OK;
}

// By its short name or as reports print it.
static bool context_is(const char *value, enum extract_context context)
{
    const char *shown = context == EXTRACT_ISR ? "interrupt" : "start-up";
    return !strcmp(value, extract_context_name(context)) || !strcmp(value, shown);
}

// Whether an item names an object, or its place in the target's filters.
static bool names_object(const struct wish *item, const struct extract_object *object, bool placed,
                         uint64_t place)
{
    bool threads = item->word == EXTRACT_FILTER_THREAD;
    if (threads && !object->thread)
        return false;
    if (item->kind == EXTRACT_TARGET_SIGNAL && object->number_kind != EXTRACT_KIND_SIGNAL)
        return false;
    return (threads && placed && object->priority == place) ||
           matches(item->value, object->name, 0) || matches(item->value, object->shown, 0);
}

static enum extract_code compile_objects(struct compile *c, struct wish *item, bool placed,
                                         uint64_t place, struct filter_addresses *word)
{
    struct filter_set *set = item->negative ? &word->out : &word->in;
    struct filter_set *objects_set = item->negative ? &word->out_objects : &word->in_objects;
    const struct extract_object *objects;
    size_t count = extract_trace_objects(c->trace, &objects);
    for (size_t k = 0; k < count; k++) {
        const struct extract_object *object = &objects[k];
        if (!names_object(item, object, placed, place))
            continue;
        item->found = true;
        bool by_time = c->trace->snapshots && !object->shadowed;
        uint64_t key = object->address;
        if (object->number_kind != EXTRACT_KIND_NONE)
            extract_value_key(object->number_kind, object->address, &key);
        if (!filter_set_add(by_time ? objects_set : set, by_time ? k : key))
            return out_of_memory(c);
    }
    return EXTRACT_OK;
}

static enum extract_code add_address(struct compile *c, struct wish *item, uint64_t address,
                                     struct filter_set *set)
{
    if (extract_trace_snapshot(c->trace)->ring.word_bytes == 4) // the trace stores no more of it
        address &= UINT32_MAX;
    item->found = true;
    return filter_set_add(set, address) ? EXTRACT_OK : out_of_memory(c);
}

// A number is an address; where the target has filters of its own, it may be a priority, which has
// been looked for already, or a signal.
static enum extract_code compile_number(struct compile *c, struct wish *item, uint64_t number,
                                        struct filter_set *set)
{
    bool target = format_of(c->trace)->target != NULL;
    bool is_signal = target && item->word == EXTRACT_FILTER_OBJECT;
    bool is_priority = target && item->word == EXTRACT_FILTER_THREAD && item->found;
    if (is_signal && !filter_set_add(set, extract_number_key(EXTRACT_KIND_SIGNAL, number)))
        return out_of_memory(c);
    item->found |= is_signal;
    if (item->kind != EXTRACT_TARGET_NONE || is_priority)
        return EXTRACT_OK;
    return add_address(c, item, number, set);
}

// The name of a signal that the trace does not know may be one of the firmware's source.
static enum extract_code compile_signal(struct compile *c, struct wish *item,
                                        struct filter_set *set)
{
    struct extract_symbols *symbols = extract_trace_symbols(c->trace);
    const struct extract_format *format = format_of(c->trace);
    uint64_t number;
    if (item->found || !symbols || !format->target ||
        !format->target->signal_number(symbols, item->value, &number))
        return EXTRACT_OK;
    item->found = true;
    return filter_set_add(set, extract_number_key(EXTRACT_KIND_SIGNAL, number)) ? EXTRACT_OK
                                                                                : out_of_memory(c);
}

// Adds what an item names to its word's addresses: a context, objects by their names, a number, or
// a symbol of the firmware.
static enum extract_code compile_address(struct compile *c, struct wish *item,
                                         struct filter_addresses *word)
{
    bool *contexts = item->negative ? word->out_context : word->in_context;
    bool threads = item->word == EXTRACT_FILTER_THREAD;
    const struct extract_symbols *symbols = extract_trace_symbols(c->trace);
    struct extract_symbol symbol;
    uint64_t number = 0;

    word->narrows |= !item->negative;
    for (int context = EXTRACT_ISR;
         threads && item->kind == EXTRACT_TARGET_NONE && context <= EXTRACT_INIT; context++)
        if (context_is(item->value, (enum extract_context)context))
            contexts[context] = item->found = true;
    bool known = extract_number_parse(item->value, &number);
    bool placed = known && format_of(c->trace)->target && number != EXTRACT_NO_PRIORITY;
    enum extract_code code = compile_objects(c, item, placed, number, word);
    struct filter_set *set = item->negative ? &word->out : &word->in;
    if (code)
        return code;
    if (known)
        return compile_number(c, item, number, set);
    if (item->kind == EXTRACT_TARGET_SIGNAL)
        return compile_signal(c, item, set);
    if (!symbols || !extract_symbols_by_name(symbols, item->value, &symbol))
        return EXTRACT_OK;
    return add_address(c, item, symbol.address, set);
}

static void compile_classes(struct compile *c)
{
    unsigned in = 0, out = 0, all = (1u << EXTRACT_CLASSES) - 1;
    for (size_t i = 0; i < c->count; i++) {
        struct wish *item = &c->wishes[i];
        if (item->word != EXTRACT_FILTER_CLASS)
            continue;
        unsigned bit = 1u << filter_class_parse(item->value);
        in |= item->negative ? 0 : bit;
        out |= item->negative ? bit : 0;
        item->found = true;
    }
    c->view->classes = (in ? in : all) & ~out;
}

// Several times of one word widen it, as several names do: the earliest start, the latest end.
static enum extract_code compile_time(struct compile *c, const struct wish *item)
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

static enum extract_code compile_item(struct compile *c, struct wish *item)
{
    enum extract_code code = EXTRACT_OK;
    uint64_t number = 0;

    switch (item->word) {
    case EXTRACT_FILTER_THREAD:
        code = compile_address(c, item, &c->view->threads);
        break;
    case EXTRACT_FILTER_OBJECT:
        code = compile_address(c, item, &c->view->objects);
        break;
    case EXTRACT_FILTER_FROM:
    case EXTRACT_FILTER_TO:
        code = compile_time(c, item);
        item->found = true;
        break;
    case EXTRACT_FILTER_LAST:
        extract_number_parse(item->value, &number);
        c->view->last = number > c->view->last ? number : c->view->last;
        item->found = true;
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

    for (size_t i = 0; i < c->count && !code; i++)
        code = compile_item(c, &c->wishes[i]);
    compile_classes(c);
    if (!code && view->checks & 1u << EXTRACT_FILTER_EVENT)
        code = compile_types(c);
    close_sets(&view->threads);
    close_sets(&view->objects);
    return code;
}

// What there is in the place of a name that nothing has.
static const char *hint_of(const struct compile *c, const struct wish *item,
                           struct extract_listing *listing)
{
    const struct extract_target_filter *target = format_of(c->trace)->target;
    const struct extract_object *objects;
    size_t count = extract_trace_objects(c->trace, &objects);
    bool threads = item->word == EXTRACT_FILTER_THREAD;
    bool signals = item->kind == EXTRACT_TARGET_SIGNAL;
    if (target && item->word == EXTRACT_FILTER_EVENT)
        target->list(item->kind == EXTRACT_TARGET_NONE ? EXTRACT_TARGET_EVENT : item->kind,
                     item->value, listing);
    for (size_t i = 0; target && (threads || signals) && i < count; i++)
        if (threads ? objects[i].thread : objects[i].number_kind == EXTRACT_KIND_SIGNAL)
            extract_listing_put(listing, objects[i].shown);
    if (threads)
        return "`objects` lists the threads; isr and init stand for interrupts and start-up";
    return item->word == EXTRACT_FILTER_EVENT
               ? "write an id, a symbol or a name as reports show it; patterns may hold * ? and []"
               : "`objects` lists their names; patterns may hold * ? and []";
}

static enum extract_code first_unfound(const struct compile *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct wish *item = &c->wishes[i];
        struct extract_listing listing = {.used = 0};
        char there[sizeof listing.text + 16];
        if (item->found)
            continue;
        const char *hint = hint_of(c, item, &listing);
        snprintf(there, sizeof there, "there are: %s", listing.text);
        return extract_error_set(c->error, EXTRACT_NOTFOUND, extract_filter_word_name(item->word),
                                 listing.used ? there : hint,
                                 "\"%s\": nothing of this trace has that name", item->value);
    }
    return EXTRACT_OK;
}

static enum extract_code compile_filter(struct compile *c, const struct extract_filter *filter)
{
    c->wishes = calloc(filter->count, sizeof *c->wishes);
    if (!c->wishes)
        return out_of_memory(c);
    c->count = filter->count;
    for (size_t i = 0; i < filter->count; i++)
        c->wishes[i] = wish_of(&filter->items[i], format_of(c->trace)->target);
    return compile_all(c);
}

enum extract_code extract_view_new(struct extract_view **view, const struct extract_filter *filter,
                                   const struct extract_trace *trace, uint64_t hz,
                                   struct extract_error *error)
{
    struct compile c = {calloc(1, sizeof **view), trace, hz, NULL, 0, error};

    *view = c.view;
    if (!c.view)
        return out_of_memory(&c);
    c.view->trace = trace;
    if (extract_filter_is_empty(filter))
        return EXTRACT_OK;
    enum extract_code code = compile_filter(&c, filter);
    if (code) {
        extract_view_free(c.view);
        *view = NULL;
    } else {
        code = first_unfound(&c);
    }
    free(c.wishes);
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
