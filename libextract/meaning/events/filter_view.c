// SPDX-License-Identifier: MIT
// events: compiles a filter for one trace: the names that the user wrote become bitmaps of event
// ids, sorted sets of addresses, and numbers.
//
// Each item of the filter becomes a condition: the item as the trace's format defines it. Those
// of each word are then compiled together: positive ones widen the word, negative ones leave events
// out.
//
//   event                   compared with the types in the trace        ──► view->ids
//   thread, object          compared with names and addresses           ──► view->threads, objects
//   class, from, to, last   numbers already                             ──► view->classes, from, …
//   where                   expressions, compiled by where.c            ──► view->where
//
// A condition that matches nothing is an error: the user most likely misspelled a name. The view is
// usable all the same, and lets nothing through for that condition.
//
// A type that the format defines, a class or a core may be absent from the trace and is then no
// error here: an assertion or a recording may be about events that never come. A command whose
// output would be empty finds the reason in view->absent.
#define _GNU_SOURCE // FNM_CASEFOLD
#include "events/filter_compile.h"
#include "events/where.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

// ---- sets of addresses ----

bool filter_set_add(struct filter_set *set, uint64_t address)
{
    uint64_t *values = extract_grow(set->values, &set->capacity, set->count, sizeof *values);

    if (!values)
        return false;
    set->values = values;
    set->values[set->count++] = address;
    return true;
}

static int compare_values(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

void filter_set_sort(struct filter_set *set)
{
    size_t kept = 0;

    if (!set->count)
        return;
    qsort(set->values, set->count, sizeof *set->values, compare_values);
    for (size_t i = 0; i < set->count; i++)
        if (!kept || set->values[kept - 1] != set->values[i])
            set->values[kept++] = set->values[i];
    set->count = kept;
}

bool filter_set_has(const struct filter_set *set, uint64_t address)
{
    size_t low = 0, high = set->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->values[middle] == address)
            return true;
        if (set->values[middle] < address)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

// ---- conditions ----
enum extract_code filter_out_of_memory(const struct filter_compile *c)
{
    return extract_error_set(c->error, EXTRACT_NOMEM, "filter", NULL, "out of memory");
}

bool filter_matches(const char *pattern, const char *name, int flags)
{
    return strcmp(pattern, name) == 0 || fnmatch(pattern, name, flags) == 0;
}

bool filter_is_life(const char *string, const struct extract_object *object)
{
    char address[32];
    const char *sign = object->life ? strchr(string, '#') : NULL;
    size_t length = sign ? (size_t)(sign - string) : sizeof address;
    uint64_t at, number;

    if (length >= sizeof address)
        return false;
    memcpy(address, string, length);
    address[length] = 0;
    return extract_number_parse(address, &at) && extract_number_parse(sign + 1, &number) &&
           at == object->address && number == object->life;
}

// Returns the condition of an item. Terms of the target's filters may be used wherever events are
// named.
static struct filter_condition make_condition(const struct filter_item *item,
                                              const struct extract_target_filter *target)
{
    static const enum extract_filter_word words[EXTRACT_TARGET_KINDS] = {
        EXTRACT_FILTER_EVENT, EXTRACT_FILTER_EVENT, EXTRACT_FILTER_THREAD, EXTRACT_FILTER_OBJECT};
    struct filter_condition condition = {.word = item->word,
                                         .written = item->word,
                                         .kind = EXTRACT_TARGET_NONE,
                                         .value = item->value,
                                         .negative = item->negative};

    if (item->word == EXTRACT_FILTER_SIGNAL) {
        condition.word = EXTRACT_FILTER_OBJECT;
        condition.kind = EXTRACT_TARGET_SIGNAL;
        return condition;
    }
    if (!target || item->word > EXTRACT_FILTER_OBJECT)
        return condition;
    if (target->parse(item->value, &condition.kind, &condition.value))
        condition.word = words[condition.kind];
    else if (strcmp(item->value, target->all) == 0)
        condition = (struct filter_condition){.word = EXTRACT_FILTER_EVENT,
                                              .written = item->word,
                                              .kind = EXTRACT_TARGET_NONE,
                                              .value = "*",
                                              .negative = item->negative};
    return condition;
}

// Returns whether a value names a context, by its short name or as reports print it.
static bool names_context(const char *value, enum extract_context context)
{
    const char *shown = context == EXTRACT_ISR ? "interrupt" : "start-up";

    return strcmp(value, extract_context_name(context)) == 0 || strcmp(value, shown) == 0;
}

// Returns whether an item names an object. `by_number` is set if the item is a number, which may be
// a thread's priority.
static bool names_object(const struct filter_condition *item, const struct extract_object *object,
                         bool by_number, uint64_t number)
{
    bool threads = item->word == EXTRACT_FILTER_THREAD;

    if (threads && !object->thread)
        return false;
    if (item->kind == EXTRACT_TARGET_SIGNAL && object->number_kind != EXTRACT_KIND_SIGNAL)
        return false;
    return (threads && by_number && object->priority == number) ||
           filter_is_life(item->value, object) || filter_matches(item->value, object->name, 0) ||
           filter_matches(item->value, object->shown, 0);
}

// Adds the objects that an item names to the sets of its word.
static enum extract_code compile_objects(struct filter_compile *c, struct filter_condition *item,
                                         bool by_number, uint64_t number,
                                         struct filter_addresses *word)
{
    struct filter_set *set = item->negative ? &word->out : &word->in;
    struct filter_set *objects_set = item->negative ? &word->out_objects : &word->in_objects;
    const struct extract_object *objects;
    size_t count = extract_trace_objects(c->trace, &objects);

    for (size_t k = 0; k < count; k++) {
        const struct extract_object *object = &objects[k];
        if (!names_object(item, object, by_number, number))
            continue;
        if (object->shadowed && lives_find(c->trace, 0, object->address, UINT64_MAX))
            continue; // nothing is known to be of it
        item->found = true;
        bool by_time = (c->trace->snapshots || c->trace->life_count) && !object->shadowed;
        if (!filter_set_add(by_time ? objects_set : set, by_time ? k : object->key))
            return filter_out_of_memory(c);
    }
    return EXTRACT_OK;
}

// Adds a number to a set. Whether something in the trace has it, seek_numbers finds out.
static enum extract_code add_key(struct filter_compile *c, struct filter_condition *item,
                                 uint64_t key, struct filter_set *set)
{
    item->keys[item->key_count++] = key;
    return filter_set_add(set, key) ? EXTRACT_OK : filter_out_of_memory(c);
}

// Adds an address to a set, with as many bits as the trace stores, or the key of an object that was
// at an address before another one.
static enum extract_code add_address(struct filter_compile *c, struct filter_condition *item,
                                     uint64_t address, struct filter_set *set)
{
    if (extract_trace_snapshot(c->trace)->ring.word_bytes == 4 && !lives_of_key(c->trace, address))
        address &= UINT32_MAX;
    return add_key(c, item, address, set);
}

// Adds a number, which is an address. If the target has filters of its own, the number may also be
// a signal, or a priority, for which compile_objects has searched already.
static enum extract_code compile_number(struct filter_compile *c, struct filter_condition *item,
                                        uint64_t number, struct filter_set *set)
{
    bool target = filter_format(c->trace)->target != NULL;
    bool is_signal = target && item->word == EXTRACT_FILTER_OBJECT;
    bool is_priority = target && item->word == EXTRACT_FILTER_THREAD && item->found;

    if (is_signal && add_key(c, item, extract_number_key(EXTRACT_KIND_SIGNAL, number), set))
        return EXTRACT_NOMEM;
    if (item->kind != EXTRACT_TARGET_NONE || is_priority)
        return EXTRACT_OK;
    return add_address(c, item, number, set);
}

// Searches the firmware's ELF for the name of a signal that the trace does not know.
static enum extract_code compile_signal(struct filter_compile *c, struct filter_condition *item,
                                        struct filter_set *set)
{
    struct extract_symbols *symbols = extract_trace_symbols(c->trace);
    const struct extract_format *format = filter_format(c->trace);
    uint64_t number;

    if (item->found || !symbols || !format->target ||
        !format->target->signal_number(symbols, item->value, &number))
        return EXTRACT_OK;
    return add_key(c, item, extract_number_key(EXTRACT_KIND_SIGNAL, number), set);
}

// Adds what an item names to the addresses of its word: a context, objects by name, a number, or a
// symbol of the firmware.
static enum extract_code compile_address(struct filter_compile *c, struct filter_condition *item,
                                         struct filter_addresses *word)
{
    bool *contexts = item->negative ? word->out_context : word->in_context;
    bool threads = item->word == EXTRACT_FILTER_THREAD;
    const struct extract_symbols *symbols = extract_trace_symbols(c->trace);
    struct extract_symbol symbol;
    uint64_t number = 0;

    word->has_in |= !item->negative;
    for (int context = EXTRACT_ISR;
         threads && item->kind == EXTRACT_TARGET_NONE && context <= EXTRACT_INIT; context++)
        if (names_context(item->value, (enum extract_context)context))
            contexts[context] = item->found = true;
    bool is_number = extract_number_parse(item->value, &number);
    bool by_number = is_number && filter_format(c->trace)->target && number != EXTRACT_NO_PRIORITY;
    enum extract_code code = compile_objects(c, item, by_number, number, word);
    struct filter_set *set = item->negative ? &word->out : &word->in;
    if (code)
        return code;
    if (is_number)
        return compile_number(c, item, number, set);
    if (item->kind == EXTRACT_TARGET_SIGNAL)
        return compile_signal(c, item, set);
    if (!symbols || !extract_symbols_by_name(symbols, item->value, &symbol))
        return EXTRACT_OK;
    return add_address(c, item, symbol.address, set);
}

// ---- objects that only the ELF names ----

// Adds an object to the conditions that it fits, or to the names that exist.
static void take_described(struct filter_compile *c, const struct extract_object *object)
{
    if (c->described)
        extract_listing_put(c->described, object->shown);
    for (size_t k = 0; k < c->count && !c->described; k++) {
        struct filter_condition *item = &c->conditions[k];
        if (item->word != EXTRACT_FILTER_OBJECT || item->kind != EXTRACT_TARGET_NONE ||
            !names_object(item, object, false, 0))
            continue;
        item->found = true;
        c->is_short |= !filter_set_add(
            item->negative ? &c->view->objects.out : &c->view->objects.in, object->address);
    }
}

static bool seek_described(void *context, const struct extract_event *events, size_t count)
{
    struct filter_compile *c = context;

    for (size_t i = 0; i < count; i++)
        for (unsigned f = 0; f < events[i].fields && f < events[i].type->fields; f++) {
            uint64_t key;
            if (!extract_value_key(events[i].type->field[f].kind, events[i].field[f], &key) ||
                extract_key_is_number(key) || extract_trace_object_at(c->trace, key, UINT64_MAX))
                continue;
            uint32_t *seen = extract_map_at(&c->addresses, key);
            const struct extract_object *object =
                seen && !*seen ? symbol_objects_find(c->trace, key) : NULL;
            if (object)
                take_described(c, object);
            c->is_short |= !seen;
            if (seen)
                *seen = 1;
        }
    return !c->is_short;
}

enum extract_code filter_walk_described(struct filter_compile *c)
{
    const struct extract_view all = {.trace = c->trace};
    const struct extract_sink sink = {.events = seek_described, .context = c};

    c->is_short = !extract_map_init(&c->addresses, 1);
    if (!c->is_short)
        extract_view_run(&all, &sink);
    extract_map_free(&c->addresses);
    return c->is_short ? filter_out_of_memory(c) : EXTRACT_OK;
}

// Searches them for names of objects that nothing else has.
static enum extract_code compile_described(struct filter_compile *c)
{
    bool is_sought = false;

    for (size_t i = 0; i < c->count; i++)
        is_sought |= c->conditions[i].word == EXTRACT_FILTER_OBJECT &&
                     c->conditions[i].kind == EXTRACT_TARGET_NONE &&
                     (strpbrk(c->conditions[i].value, "*?[") ||
                      (!c->conditions[i].found && !c->conditions[i].key_count));
    return is_sought && extract_trace_symbols(c->trace) ? filter_walk_described(c) : EXTRACT_OK;
}

static void compile_classes(struct filter_compile *c)
{
    unsigned in = 0, out = 0, all = (1u << EXTRACT_CLASSES) - 1;

    for (size_t i = 0; i < c->count; i++) {
        struct filter_condition *item = &c->conditions[i];
        if (item->word != EXTRACT_FILTER_CLASS)
            continue;
        unsigned bit = 1u << filter_class_parse(item->value);
        in |= item->negative ? 0 : bit;
        out |= item->negative ? bit : 0;
        item->found = true;
        item->absent = !(c->trace->seen_classes & bit);
    }
    c->view->classes = (in ? in : all) & ~out;
}

// Sets the start or end of the time range. Of several times, the earliest start and the latest end
// count, as several names of one word widen it.
static enum extract_code compile_time(struct filter_compile *c, const struct filter_condition *item)
{
    struct extract_view *view = c->view;
    bool from = item->word == EXTRACT_FILTER_FROM;
    bool first = !(view->checks & 1u << item->word);
    struct filter_time time;

    filter_time_parse(item->value, &time);
    if (time.per_second && !c->hz)
        return extract_error_set(c->error, EXTRACT_USAGE, extract_filter_word_name(item->word),
                                 "set the clock's rate with hz, or use ticks",
                                 "\"%s\": the clock's rate is not known", item->value);
    uint64_t ticks = filter_time_ticks(&time, c->hz, from);
    if (from)
        view->from = first || ticks < view->from ? ticks : view->from;
    else
        view->to = first || ticks > view->to ? ticks : view->to;
    return EXTRACT_OK;
}

bool filter_has_core(const struct extract_trace *trace, uint64_t core)
{
    return core / 8 < sizeof trace->seen_cores && trace->seen_cores[core / 8] & 1u << core % 8;
}

static enum extract_code compile_item(struct filter_compile *c, struct filter_condition *item)
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
    case EXTRACT_FILTER_CORE:
        extract_number_parse(item->value, &number);
        code = filter_set_add(&c->view->cores, number) ? EXTRACT_OK : filter_out_of_memory(c);
        item->found = true;
        item->absent = !filter_has_core(c->trace, number);
        break;
    case EXTRACT_FILTER_EVENT: // all items of this word are compiled together
    case EXTRACT_FILTER_CLASS:
    case EXTRACT_FILTER_SIGNAL: // make_condition has made it one of objects
        break;
    case EXTRACT_FILTER_WHERE: // where_new compiles all expressions together
        item->found = true;
        break;
    }
    c->view->checks |= 1u << item->word;
    return code;
}

static void sort_sets(struct filter_addresses *word)
{
    filter_set_sort(&word->in);
    filter_set_sort(&word->out);
    filter_set_sort(&word->in_objects);
    filter_set_sort(&word->out_objects);
}

static void free_sets(struct filter_addresses *word)
{
    free(word->in.values);
    free(word->out.values);
    free(word->in_objects.values);
    free(word->out_objects.values);
}

// Refuses a range whose start is after its end. Times with a unit that are equal, but between two
// ticks, become a range that is empty by one tick.
static enum extract_code check_range(const struct filter_compile *c)
{
    const struct extract_view *view = c->view;
    unsigned times = 1u << EXTRACT_FILTER_FROM | 1u << EXTRACT_FILTER_TO;

    if ((view->checks & times) != times || view->from <= view->to || view->from - view->to == 1)
        return EXTRACT_OK;
    return extract_error_set(c->error, EXTRACT_USAGE, "from", "exchange them",
                             "the start, %llu ticks, is after the end, %llu ticks",
                             (unsigned long long)view->from, (unsigned long long)view->to);
}

static enum extract_code compile_all(struct filter_compile *c)
{
    struct extract_view *view = c->view;
    enum extract_code code = EXTRACT_OK;

    for (size_t i = 0; i < c->count && !code; i++)
        code = compile_item(c, &c->conditions[i]);
    code = code ? code : compile_described(c);
    compile_classes(c);
    if (!code && view->checks & 1u << EXTRACT_FILTER_EVENT)
        code = filter_compile_types(c);
    sort_sets(&view->threads);
    sort_sets(&view->objects);
    filter_set_sort(&view->cores);
    return code ? code : check_range(c);
}

// ---- numbers ----

static bool has_key(const struct filter_condition *item, uint64_t key)
{
    return (item->key_count > 0 && item->keys[0] == key) ||
           (item->key_count > 1 && item->keys[1] == key);
}

static bool has_object(const struct filter_condition *item, const struct extract_object *object)
{
    return has_key(item, object->key) || (!object->number_kind && has_key(item, object->address));
}

// Returns whether an event has the number of a condition, as filter_run.c compares them.
static bool has_number(const struct filter_condition *item, const struct extract_event *event)
{
    bool has = false;

    if (item->word == EXTRACT_FILTER_THREAD)
        return event->context == EXTRACT_THREAD && has_key(item, event->thread);
    for (unsigned i = 0; i < event->fields && i < event->type->fields && !has; i++) {
        uint64_t key;
        has = extract_value_key(event->type->field[i].kind, event->field[i], &key) &&
              has_key(item, key);
    }
    return has;
}

static void mark_found(struct filter_compile *c, struct filter_condition *item)
{
    item->found = true;
    c->sought--;
}

static bool seek_in_events(void *context, const struct extract_event *events, size_t count)
{
    struct filter_compile *c = context;

    for (size_t i = 0; i < count && c->sought; i++)
        for (size_t k = 0; k < c->count; k++)
            if (c->conditions[k].key_count && !c->conditions[k].found &&
                has_number(&c->conditions[k], &events[i]))
                mark_found(c, &c->conditions[k]);
    return c->sought;
}

// Finds out which numbers of threads and objects occur in the trace: as an object that it knows, or
// in an event. Most occur early; the events are read until all have been found.
static void seek_numbers(struct filter_compile *c)
{
    const struct extract_view all = {.trace = c->trace};
    const struct extract_sink sink = {.events = seek_in_events, .context = c};
    const struct extract_object *objects;
    size_t count = extract_trace_objects(c->trace, &objects);

    for (size_t i = 0; i < c->count; i++)
        c->sought += c->conditions[i].key_count && !c->conditions[i].found;
    for (size_t i = 0; i < count && c->sought; i++)
        for (size_t k = 0; k < c->count; k++) {
            struct filter_condition *item = &c->conditions[k];
            bool fits = item->word != EXTRACT_FILTER_THREAD || objects[i].thread;
            if (item->key_count && !item->found && fits && has_object(item, &objects[i]))
                mark_found(c, item);
        }
    if (c->sought)
        extract_view_run(&all, &sink);
}

// Returns whether a word has names that must match, and none of them does.
static bool excludes_all(const struct filter_compile *c)
{
    unsigned wanted = 0, matched = 0; // bit 1 << word

    for (size_t i = 0; i < c->count; i++) {
        unsigned bit = c->conditions[i].negative ? 0 : 1u << c->conditions[i].word;
        wanted |= bit;
        matched |= c->conditions[i].found ? bit : 0;
    }
    return wanted & ~matched;
}

static enum extract_code compile_filter(struct filter_compile *c,
                                        const struct extract_filter *filter)
{
    c->conditions = calloc(filter->count, sizeof *c->conditions);
    if (!c->conditions)
        return filter_out_of_memory(c);
    c->count = filter->count;
    for (size_t i = 0; i < filter->count; i++)
        c->conditions[i] = make_condition(&filter->items[i], filter_format(c->trace)->target);
    enum extract_code code = compile_all(c);
    if (!code && c->view->checks & 1u << EXTRACT_FILTER_WHERE)
        code = where_new(&c->view->where, filter, c->trace, c->hz, c->error);
    return code;
}

enum extract_code extract_view_new(struct extract_view **view, const struct extract_filter *filter,
                                   const struct extract_trace *trace, uint64_t hz,
                                   struct extract_error *error)
{
    struct filter_compile c = {
        .view = calloc(1, sizeof **view), .trace = trace, .hz = hz, .error = error};

    *view = c.view;
    if (!c.view)
        return filter_out_of_memory(&c);
    c.view->trace = trace;
    if (extract_filter_is_empty(filter))
        return EXTRACT_OK;
    enum extract_code code = compile_filter(&c, filter);
    if (code) {
        extract_view_free(c.view);
        *view = NULL;
    } else {
        seek_numbers(&c);
        c.view->excludes_all = excludes_all(&c);
        filter_note_absent(&c);
        code = filter_report_unmatched(&c);
        code = code ? code : filter_report_unmatched_where(&c);
    }
    free(c.conditions);
    return code;
}

void extract_view_free(struct extract_view *view)
{
    if (!view)
        return;
    free(view->cores.values);
    free(view->rare_ids.values);
    free_sets(&view->threads);
    free_sets(&view->objects);
    where_free(view->where);
    free(view);
}
