// SPDX-License-Identifier: MIT
// events: compiles the types of events that a filter names (filter_compile.h): ids, symbols, names
// as in reports, and names of user events.
#define _GNU_SOURCE // FNM_CASEFOLD
#include "events/filter_compile.h"
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

// Returns whether a name is that of an event type. Blanks may be written as underscores.
static bool is_type_name(const char *pattern, const char *name)
{
    char joined[256];

    snprintf(joined, sizeof joined, "%s", name);
    for (char *at = joined; *at; at++)
        *at = *at == ' ' ? '_' : *at;
    return filter_matches(pattern, name, FNM_CASEFOLD) ||
           filter_matches(pattern, joined, FNM_CASEFOLD);
}

// Returns whether an item is a name as reports print it, without its beginning.
static bool is_short_name(const struct extract_trace *trace, const struct filter_condition *item,
                          const char *name)
{
    const char *const *unprinted = item->is_short ? filter_format(trace)->unprinted : NULL;

    while (unprinted && *unprinted && strncmp(name, *unprinted, strlen(*unprinted)) != 0)
        unprinted++;
    if (!unprinted || !*unprinted)
        return false;
    char shown[256];
    snprintf(shown, sizeof shown, "%s", name + strlen(*unprinted));
    for (char *at = shown; *at; at++)
        *at = *at == '_' ? ' ' : *at;
    return is_type_name(item->value, shown);
}

// Returns whether an entry of the trace gives a user event a name that matches.
static bool is_user_event_name(const struct extract_trace *trace,
                               const struct filter_condition *item, uint32_t id)
{
    const struct extract_object *objects;
    uint32_t first = filter_format(trace)->user_ids;
    bool may = first && id >= first && id - first <= UINT16_MAX;
    size_t count = may ? extract_trace_objects(trace, &objects) : 0;

    for (size_t i = 0; i < count; i++)
        if (objects[i].number_kind == EXTRACT_KIND_USER_EVENT && objects[i].address == id - first &&
            (filter_matches(item->value, objects[i].name, 0) ||
             is_short_name(trace, item, objects[i].name)))
            return true;
    return false;
}

// Returns whether an item means an event type, by its id, symbol or name.
static bool item_is_type(const struct extract_trace *trace, const struct filter_condition *item,
                         const struct extract_event_type *type, uint32_t id)
{
    const struct extract_target_filter *target = filter_format(trace)->target;
    uint64_t number;

    if (item->kind == EXTRACT_TARGET_GROUP)
        return target->fits(EXTRACT_TARGET_GROUP, id, item->value);
    if (extract_number_parse(item->value, &number))
        return number == id;
    char shown[256]; // for a range of ids, reports add the id to the name
    char in_name[12];
    extract_event_type_number(type, id, in_name);
    snprintf(shown, sizeof shown, type->range ? "%s %s" : "%s", type->name, in_name);
    return filter_matches(item->value, type->symbol, FNM_CASEFOLD) ||
           filter_matches(item->value, type->name, FNM_CASEFOLD) ||
           is_type_name(item->value, shown) || is_short_name(trace, item, type->name) ||
           is_user_event_name(trace, item, id) ||
           (target && target->fits(EXTRACT_TARGET_EVENT, id, item->value));
}

// Which items of the filter concern one event type.
struct pick {
    bool has_positive; // some items are positive
    bool in, out;      // positive and negative items match the type
};

// Compares all items with a type, and notes which of them match.
static struct pick match_type(const struct filter_compile *c, const struct extract_event_type *type,
                              uint32_t id)
{
    struct pick pick = {false, false, false};

    for (size_t i = 0; i < c->count; i++) {
        struct filter_condition *item = &c->conditions[i];
        if (item->word != EXTRACT_FILTER_EVENT)
            continue;
        bool is = item_is_type(c->trace, item, type, id);
        pick.has_positive |= !item->negative;
        item->found |= is;
        pick.in |= is && !item->negative;
        pick.out |= is && item->negative;
    }
    return pick;
}

static bool is_type_wanted(const struct filter_compile *c, const struct extract_event_type *type,
                           uint32_t id)
{
    struct pick pick = match_type(c, type, id);

    return (pick.in || !pick.has_positive) && !pick.out;
}

// Compiles the ids of markers. Those of losses and damage are wanted even if items name other
// events, unless an item names one of them.
static bool compile_marks(struct filter_compile *c)
{
    const struct extract_event_type *mark;
    bool named = false, added = true;

    for (size_t i = 0; (mark = extract_mark_type_at(i)); i++)
        named |= extract_id_is_loss(mark->id) && match_type(c, mark, mark->id).in;
    c->view->names_losses = named;
    for (size_t i = 0; added && (mark = extract_mark_type_at(i)); i++) {
        struct pick pick = match_type(c, mark, mark->id);
        bool must_match = extract_id_is_loss(mark->id) ? named : pick.has_positive;
        if ((pick.in || !must_match) && !pick.out)
            added = filter_set_add(&c->view->rare_ids, mark->id);
    }
    filter_set_sort(&c->view->rare_ids);
    return added;
}

// Compares the items with the types that occur in the trace. Only the trace has the names of
// user-defined types.
static enum extract_code compile_seen_types(struct filter_compile *c)
{
    const struct extract_trace *trace = c->trace;
    uint32_t rare;

    for (uint32_t id = 0; id < EXTRACT_COMMON_IDS; id++) {
        uint8_t bit = (uint8_t)(1u << id % 8);
        if (trace->seen[id / 8] & bit && is_type_wanted(c, extract_trace_type(trace, id), id))
            c->view->ids[id / 8] |= bit;
    }
    for (size_t place = 0; extract_trace_next_rare_id(trace, &place, &rare);)
        if (is_type_wanted(c, extract_trace_type(trace, rare), rare) &&
            !filter_set_add(&c->view->rare_ids, rare))
            return filter_out_of_memory(c);
    return compile_marks(c) ? EXTRACT_OK : filter_out_of_memory(c);
}

// Returns whether an item means an event type that occurs in the trace, or a marker.
static bool means_seen_type(const struct filter_compile *c, const struct filter_condition *item)
{
    const struct extract_trace *trace = c->trace;
    const struct extract_event_type *mark;
    bool is = false;
    uint32_t rare;

    for (uint32_t id = 0; id < EXTRACT_COMMON_IDS && !is; id++)
        is = trace->seen[id / 8] & 1u << id % 8 &&
             item_is_type(trace, item, extract_trace_type(trace, id), id);
    for (size_t place = 0; !is && extract_trace_next_rare_id(trace, &place, &rare);)
        is = item_is_type(trace, item, extract_trace_type(trace, rare), rare);
    for (size_t i = 0; !is && (mark = extract_mark_type_at(i)); i++)
        is = item_is_type(trace, item, mark, mark->id);
    return is;
}

// Returns whether an item means any event type of the format, or a marker.
static bool means_any_type(const struct filter_compile *c, const struct filter_condition *item)
{
    const struct extract_event_type *mark;
    uint64_t number;
    bool is = extract_number_parse(item->value, &number) && number >= EXTRACT_COMMON_IDS &&
              number < EXTRACT_ID_MARKS && filter_format(c->trace)->type((uint32_t)number)->range;

    for (uint32_t id = 0; id < EXTRACT_COMMON_IDS && !is; id++)
        is = item_is_type(c->trace, item, filter_format(c->trace)->type(id), id);
    for (size_t i = 0; !is && (mark = extract_mark_type_at(i)); i++)
        is = item_is_type(c->trace, item, mark, mark->id);
    return is;
}

// Finds items that are names as in reports, which lack a part: those that are no whole name.
// Returns whether there are any.
static bool choose_short_names(struct filter_compile *c)
{
    bool has_short = false;

    for (size_t i = 0; i < c->count; i++) {
        struct filter_condition *item = &c->conditions[i];
        if (item->word != EXTRACT_FILTER_EVENT || item->found)
            continue;
        item->is_short = true;
        if (!means_seen_type(c, item))
            continue;
        item->is_short = false;
        item->found = item->absent = means_any_type(c, item);
        item->is_short = !item->found;
        has_short |= item->is_short;
    }
    return has_short;
}

// Searches the format for names that do not occur in the trace: they are not misspelled. Only the
// first name that matches nothing is reported, so none is searched after it. The search compares
// each name with all ids that an event may have.
static void find_unseen_types(struct filter_compile *c)
{
    for (size_t i = 0; i < c->count; i++) {
        struct filter_condition *item = &c->conditions[i];
        if (item->word != EXTRACT_FILTER_EVENT || item->found)
            continue;
        item->found = item->absent = means_any_type(c, item);
        if (!item->found)
            return;
    }
}

enum extract_code filter_compile_types(struct filter_compile *c)
{
    enum extract_code code = compile_seen_types(c);

    if (!code && filter_format(c->trace)->unprinted && choose_short_names(c)) {
        memset(c->view->ids, 0, sizeof c->view->ids);
        c->view->rare_ids.count = 0;
        code = compile_seen_types(c);
    }
    if (!code)
        find_unseen_types(c);
    return code;
}
