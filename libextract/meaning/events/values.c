// SPDX-License-Identifier: MIT
// events: finds the values of an event by the names that users give them. A label may mean fields
// of several event types; the place of the field is looked up once per type.
#include "events/values.h"
#include "base/nearest.h"
#include <stdio.h>
#include <string.h>

static const struct value_known known_names[] = {
    {"ticks", NAME_TICKS, true},
    {"time", NAME_TICKS, true},
    {"dt", NAME_DT, true},
    {"blocked_for", NAME_BLOCKED_FOR, true},
    {"seq", NAME_SEQ, true},
    {"core", NAME_CORE, true},
    {"id", NAME_ID, true},
    {"priority", NAME_PRIORITY, true},
    {"event", NAME_EVENT, false},
    {"thread", NAME_THREAD, false},
    {"object", NAME_OBJECT, false},
    {"class", NAME_CLASS, false},
    {"context", NAME_CONTEXT, false},
    {"info1", NAME_INFO, true},
    {"info2", NAME_INFO + 1, true},
    {"info3", NAME_INFO + 2, true},
    {"info4", NAME_INFO + 3, true},
    {"info5", NAME_INFO + 4, true},
    {"info6", NAME_INFO + 5, true},
    {"info7", NAME_INFO + 6, true},
    {"info8", NAME_INFO + 7, true},
};

enum { KNOWN_NAMES = sizeof known_names / sizeof *known_names };

const struct value_known *value_known_find(const char *text)
{
    for (size_t i = 0; i < KNOWN_NAMES; i++)
        if (strcmp(known_names[i].text, text) == 0)
            return &known_names[i];
    return NULL;
}

// ---- labels ----

// Returns whether a name means a label. In names, a _ stands for each character of a label that is
// not a letter or a digit.
static bool is_label(const char *name, const char *label)
{
    for (; *name && *label; name++, label++) {
        bool is_plain = (*label >= 'a' && *label <= 'z') || (*label >= 'A' && *label <= 'Z') ||
                        (*label >= '0' && *label <= '9') || *label & 0x80;
        if (*name != (is_plain ? *label : '_'))
            return false;
    }
    return !*name && !*label;
}

// Returns the number of the field with a label, from 1 on; 0 if the type has none.
static unsigned field_of(const struct extract_event_type *type, const char *name)
{
    for (unsigned i = 0; i < type->fields; i++)
        if (type->field[i].kind != EXTRACT_KIND_NONE && is_label(name, type->field[i].label))
            return i + 1;
    return 0;
}

// Returns whether reports print a word for values of a kind.
static bool has_words(enum extract_kind kind)
{
    uint64_t key;

    if (kind == EXTRACT_KIND_WAIT || kind == EXTRACT_KIND_BOOL || kind == EXTRACT_KIND_IPV4)
        return true;
    return kind >= EXTRACT_KIND_THREAD_STATE && kind != EXTRACT_KIND_EVENT &&
           kind != EXTRACT_KIND_POOL && !extract_value_key(kind, 0, &key);
}

// Returns the i-th event type: those of the trace, those of its format that user-defined types
// replace, those that names of user events tell, then markers. Returns NULL after the last. All ids
// without a type of their own have the same type.
static const struct extract_event_type *type_at(const struct extract_trace *trace, size_t i)
{
    const struct extract_format *format = extract_trace_snapshot(trace)->ring.format;
    size_t of_format = trace->user_types ? EXTRACT_COMMON_IDS : 0;
    size_t named = trace->has_named_types ? EXTRACT_NAMED_TYPES : 0;

    if (i < EXTRACT_COMMON_IDS)
        return extract_trace_type(trace, (uint32_t)i);
    i -= EXTRACT_COMMON_IDS;
    if (i < of_format)
        return format->type((uint32_t)i);
    i -= of_format;
    if (i < named)
        return trace->named_types[i] ? format->named_types->events(trace->named_types[i])
                                     : format->type(format->user_ids);
    return extract_mark_type_at(i - named);
}

bool value_label_find(struct value_label *label, const struct extract_trace *trace)
{
    const struct extract_event_type *type, *last = NULL;
    bool is_found = false;
    uint64_t key;

    for (size_t i = 0; (type = type_at(trace, i)); last = type, i++) {
        unsigned field = type == last ? 0 : field_of(type, label->text);
        if (!field)
            continue;
        enum extract_kind kind = type->field[field - 1].kind;
        is_found = true;
        label->has_objects |= extract_value_key(kind, 0, &key);
        label->has_words |= has_words(kind);
    }
    return is_found;
}

// The name that is most similar to an unknown one.
struct suggestion {
    const char *word;
    char nearest[NEAREST_MAX_LETTERS + 1];
    unsigned least;
};

// Compares the unknown name with a label, as the label is written in expressions.
static void consider_label(struct suggestion *suggestion, const char *label)
{
    char name[NEAREST_MAX_LETTERS + 1];
    size_t length = strlen(label);

    if (length > NEAREST_MAX_LETTERS)
        return;
    for (size_t i = 0; i <= length; i++)
        name[i] = is_label("_", (char[]){label[i], 0}) ? '_' : label[i];
    if (nearest_is_better(suggestion->word, name, &suggestion->least))
        memcpy(suggestion->nearest, name, length + 1);
}

enum extract_code value_refuse_name(const struct extract_trace *trace, const char *name,
                                    struct extract_error *error)
{
    struct suggestion suggestion = {name, "", NEAREST_TOO_FAR};
    const struct extract_event_type *type, *last = NULL;
    char hint[sizeof error->hint];

    for (size_t i = 0; i < KNOWN_NAMES; i++)
        consider_label(&suggestion, known_names[i].text);
    for (size_t i = 0; (type = type_at(trace, i)); last = type, i++)
        for (unsigned k = 0; type != last && k < type->fields; k++)
            if (type->field[k].kind != EXTRACT_KIND_NONE)
                consider_label(&suggestion, type->field[k].label);
    if (*suggestion.nearest)
        snprintf(hint, sizeof hint, "use '%s', or a field of 'report --json'", suggestion.nearest);
    else
        snprintf(hint, sizeof hint,
                 "use ticks, dt, event, thread, object, info1 or a field of 'report --json'");
    return extract_error_set(error, EXTRACT_USAGE, NULL, hint, "unknown name \"%.40s\"", name);
}

// ---- values ----

unsigned value_label_locate(struct value_label *label, const struct extract_event *event)
{
    const struct extract_event_type *type = event->type;
    struct value_place *place = &label->places[(uintptr_t)type / sizeof *type % VALUE_PLACES];

    if (place->type != type)
        *place = (struct value_place){type, field_of(type, label->text)};
    return place->field <= event->fields ? place->field : 0;
}

// Returns whether a field has a value: that of an event without a pool has none.
static bool has_value(const struct extract_event *event, unsigned i)
{
    bool is_pool = i < event->type->fields && event->type->field[i].kind == EXTRACT_KIND_POOL;

    return i < event->fields && (!is_pool || event->field[i] != EXTRACT_NO_POOL);
}

bool value_of_name(const struct extract_event *event, unsigned name, uint64_t *value)
{
    switch (name) {
    case NAME_TICKS:
        *value = event->ticks;
        return !(event->flags & EXTRACT_FLAG_UNTIMED);
    case NAME_SEQ:
        *value = event->seq;
        return true;
    case NAME_CORE:
        *value = event->core;
        return true;
    case NAME_ID:
        *value = event->id;
        return true;
    case NAME_PRIORITY:
        *value = event->priority;
        return event->context == EXTRACT_THREAD && event->priority != EXTRACT_NO_PRIORITY;
    default: // infoN
        *value = event->field[name - NAME_INFO];
        return has_value(event, name - NAME_INFO);
    }
}

bool value_of_label(struct value_label *label, const struct extract_event *event, uint64_t *value)
{
    unsigned field = value_label_locate(label, event);

    if (!field || !has_value(event, field - 1))
        return false;
    *value = event->field[field - 1];
    return true;
}
