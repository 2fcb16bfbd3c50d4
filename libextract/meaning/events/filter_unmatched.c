// SPDX-License-Identifier: MIT
// events: says which names of a filter match nothing, and which ones exist (filter_compile.h).
#include "events/filter_compile.h"
#include "events/where.h"
#include <stdio.h>

// Returns the first name that an entry of the trace gives a user event; NULL if there is none.
static const char *find_user_event_name(const struct extract_trace *trace, uint32_t id)
{
    const struct extract_object *objects;
    uint32_t first = filter_format(trace)->user_ids;
    size_t count = first && id >= first ? extract_trace_objects(trace, &objects) : 0;

    for (size_t i = 0; i < count; i++)
        if (objects[i].number_kind == EXTRACT_KIND_USER_EVENT && objects[i].address == id - first)
            return objects[i].name;
    return NULL;
}

// Lists the types of a trace's events by their names, without markers.
static void list_seen_types(const struct extract_trace *trace, struct extract_listing *listing)
{
    uint32_t id = 0;
    size_t place = 0;
    char shown[256], number[12];

    while (!listing->full) {
        while (id < EXTRACT_COMMON_IDS && !(trace->seen[id / 8] & 1u << id % 8))
            id++;
        uint32_t next = id;
        if (id < EXTRACT_COMMON_IDS)
            id++;
        else if (!extract_trace_next_rare_id(trace, &place, &next))
            return;
        const struct extract_event_type *type = extract_trace_type(trace, next);
        const char *name = find_user_event_name(trace, next);
        extract_event_type_number(type, next, number);
        snprintf(shown, sizeof shown, type->range && !name ? "%s %s" : "%s",
                 name ? name : type->name, number);
        extract_listing_put(listing, shown);
    }
}

void filter_note_absent(struct filter_compile *c)
{
    static const char *const why[FILTER_WORDS] = {
        [EXTRACT_FILTER_EVENT] = "no such event in this trace",
        [EXTRACT_FILTER_CLASS] = "no event of this class in this trace",
        [EXTRACT_FILTER_CORE] = "no event of this core in this trace"};
    const struct filter_condition *first[FILTER_WORDS] = {NULL};
    bool has_present[FILTER_WORDS] = {false};
    struct extract_listing listing = {.used = 0};
    char hint[sizeof listing.text + 32], core[8];
    unsigned word = 0;

    for (size_t i = 0; i < c->count && !c->trace->has_loss_marks; i++) {
        const struct filter_condition *item = &c->conditions[i];
        if (item->negative || !why[item->word])
            continue;
        has_present[item->word] |= !item->absent;
        first[item->word] = first[item->word] ? first[item->word] : item;
    }
    while (word < FILTER_WORDS && (!first[word] || has_present[word]))
        word++;
    if (word == FILTER_WORDS)
        return;
    if (word == EXTRACT_FILTER_EVENT)
        list_seen_types(c->trace, &listing);
    for (unsigned k = 0; word == EXTRACT_FILTER_CLASS && k < EXTRACT_CLASSES; k++)
        if (c->trace->seen_classes >> k & 1)
            extract_listing_put(&listing, extract_class_name((enum extract_class)k));
    for (unsigned k = 0; word == EXTRACT_FILTER_CORE && k < 8 * sizeof c->trace->seen_cores; k++)
        if (filter_has_core(c->trace, k)) {
            snprintf(core, sizeof core, "%u", k);
            extract_listing_put(&listing, core);
        }
    snprintf(hint, sizeof hint, "use one of: %s", listing.text);
    extract_error_set(&c->view->absent, EXTRACT_NOTFOUND,
                      extract_filter_word_name((enum extract_filter_word)word),
                      listing.used ? hint : "the trace has no events", "\"%s\": %s",
                      first[word]->value, why[word]);
}

// Returns a hint for a name that matches nothing. Fills `listing` with the names that exist.
static const char *make_hint(const struct filter_compile *c, const struct filter_condition *item,
                             struct extract_listing *listing)
{
    const struct extract_target_filter *target = filter_format(c->trace)->target;
    const struct extract_object *objects;
    size_t count = extract_trace_objects(c->trace, &objects);
    bool threads = item->word == EXTRACT_FILTER_THREAD;
    bool signals = item->kind == EXTRACT_TARGET_SIGNAL;

    if (target && item->word == EXTRACT_FILTER_EVENT)
        target->list(item->kind == EXTRACT_TARGET_NONE ? EXTRACT_TARGET_EVENT : item->kind,
                     item->value, listing);
    else if (item->word == EXTRACT_FILTER_EVENT)
        list_seen_types(c->trace, listing);
    for (size_t i = 0; item->word != EXTRACT_FILTER_EVENT && i < count; i++)
        if (threads   ? objects[i].thread
            : signals ? objects[i].number_kind == EXTRACT_KIND_SIGNAL
                      : !objects[i].thread)
            extract_listing_put(listing, objects[i].shown);
    struct filter_compile walk = {.trace = c->trace, .described = listing};
    if (item->word == EXTRACT_FILTER_OBJECT && !signals && extract_trace_symbols(c->trace))
        filter_walk_described(&walk);
    if (signals && !target)
        return "only RKH has signals";
    if (threads)
        return "use a name that 'objects' lists, isr (interrupts) or init (start-up)";
    if (item->word == EXTRACT_FILTER_OBJECT && !listing->used)
        return "the trace names no objects; use addresses that events contain";
    return item->word == EXTRACT_FILTER_EVENT
               ? "use an id, a symbol or a name as in reports; patterns may contain * ? and []"
               : "use a name that 'objects' lists; patterns may contain * ? and []";
}

enum extract_code filter_report_unmatched(const struct filter_compile *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct filter_condition *item = &c->conditions[i];
        struct extract_listing listing = {.used = 0};
        char names[sizeof listing.text + 16];
        uint64_t number;
        if (item->found)
            continue;
        const char *hint = make_hint(c, item, &listing);
        snprintf(names, sizeof names, "use one of: %s", listing.text);
        return extract_error_set(
            c->error, EXTRACT_NOTFOUND, extract_filter_word_name(item->written),
            listing.used ? names : hint, "\"%s\": no such %s in this trace", item->value,
            extract_number_parse(item->value, &number) ? "number" : "name");
    }
    return EXTRACT_OK;
}

enum extract_code filter_report_unmatched_where(const struct filter_compile *c)
{
    const struct extract_error *unmatched = c->view->where ? where_unmatched(c->view->where) : NULL;

    if (!unmatched)
        return EXTRACT_OK;
    return extract_error_set(c->error, EXTRACT_NOTFOUND, unmatched->what, unmatched->hint, "%s",
                             unmatched->why);
}
