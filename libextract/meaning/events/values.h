// SPDX-License-Identifier: MIT
// events: the values of an event by the names that users give them: `ticks`, `core`, `info1`, and
// the labels of its fields. Expressions (where.h) and spans (analysis/span.c) use these names.
#ifndef EXTRACT_EVENTS_VALUES_H
#define EXTRACT_EVENTS_VALUES_H

#include "events/events_room.h"

// The names that every trace has. INFO is the first of EXTRACT_FIELDS_MAX.
enum value_name {
    NAME_TICKS,
    NAME_DT,
    NAME_BLOCKED_FOR,
    NAME_SEQ,
    NAME_CORE,
    NAME_ID,
    NAME_PRIORITY,
    NAME_EVENT,
    NAME_THREAD,
    NAME_OBJECT,
    NAME_CLASS,
    NAME_CONTEXT,
    NAME_INFO,
    NAMES = NAME_INFO + EXTRACT_FIELDS_MAX
};

// A name that every trace has.
struct value_known {
    const char *text;
    enum value_name name;
    bool has_numbers;
};

enum { VALUE_PLACES = 64 };

// Where a label is in the events of a type. `field` counts from 1; 0: they have no such field.
struct value_place {
    const struct extract_event_type *type;
    unsigned field;
};

// A label of fields, as a user writes it.
struct value_label {
    char *text;                              // set by the caller
    bool has_objects, has_words;             // kinds of its fields in the types of the trace
    struct value_place places[VALUE_PLACES]; // cache; by the address of the type
};

// Returns the name that every trace has; NULL for any other.
const struct value_known *value_known_find(const char *text);
// Finds label->text among the event types of a trace, and notes the kinds of its fields. Returns
// false if no type has it.
bool value_label_find(struct value_label *label, const struct extract_trace *trace);
// Sets the error for a name that neither of them finds, with the most similar one. Returns USAGE.
enum extract_code value_refuse_name(const struct extract_trace *trace, const char *name,
                                    struct extract_error *error);
// Returns the number of the field that has a label, from 1 on; 0 if the event has none.
unsigned value_label_locate(struct value_label *label, const struct extract_event *event);
// Sets *value to a number of an event. Returns false if the event does not have it. The first
// function knows all names with numbers but those that depend on earlier events.
bool value_of_name(const struct extract_event *event, unsigned name, uint64_t *value);
bool value_of_label(struct value_label *label, const struct extract_event *event, uint64_t *value);

#endif
