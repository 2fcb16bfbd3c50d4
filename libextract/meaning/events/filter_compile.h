// SPDX-License-Identifier: MIT
// events: a filter while it is compiled for one trace. filter_view.c compiles it, filter_types.c
// the types of events, and filter_unmatched.c says which names match nothing.
#ifndef EXTRACT_EVENTS_FILTER_COMPILE_H
#define EXTRACT_EVENTS_FILTER_COMPILE_H

#include "base/map.h"
#include "events/event_filter.h"
#include "events/events_room.h"
#include "formats/format.h"

// An item as the trace's format defines it: "ao=server" is about threads, whatever its word is.
struct filter_condition {
    enum extract_filter_word word;
    enum extract_filter_word written; // of the item
    enum extract_target_kind kind;    // NONE: it is not a term of the target's own filters
    const char *value;
    bool negative;
    bool found;    // it matches something in the trace, or may match events of the format
    bool absent;   // it is valid, but no event of the trace matches
    bool is_short; // of an event: it may be a name as in reports, which lacks a part
    // Of a thread or object by its number: what events would have, if one has it.
    uint64_t keys[2];
    size_t key_count;
};

struct filter_compile {
    struct extract_view *view;
    const struct extract_trace *trace;
    uint64_t hz;
    struct filter_condition *conditions;
    size_t count;
    size_t sought;                     // conditions by number that no event has matched yet
    struct extract_map addresses;      // of objects that only the ELF names, seen in events
    struct extract_listing *described; // their names, or NULL
    bool is_short;                     // of memory
    struct extract_error *error;
};

static inline const struct extract_format *filter_format(const struct extract_trace *trace)
{
    return extract_trace_snapshot(trace)->ring.format;
}

// filter_view.c: sets the error. Returns NOMEM.
enum extract_code filter_out_of_memory(const struct filter_compile *c);
// Returns whether an event is of a core.
bool filter_has_core(const struct extract_trace *trace, uint64_t core);
// Walks over the objects that reports call by a name of the ELF, such as a member of a variable.
// Lists their names if c->described is not NULL. Errors: NOMEM.
enum extract_code filter_walk_described(struct filter_compile *c);

// filter_types.c: compiles the event types. What is not the name of a type may be one as in
// reports, which lacks a part: a user event of that name comes first. Errors: NOMEM.
enum extract_code filter_compile_types(struct filter_compile *c);

// filter_unmatched.c: notes what makes the output empty although every name is valid: no type,
// class or core of a word occurs in the trace. If entries are missing, they may have been among
// these, and the output has the markers of losses.
void filter_note_absent(struct filter_compile *c);
// Reports the first condition that matches nothing.
enum extract_code filter_report_unmatched(const struct filter_compile *c);
// Reports the first name of the expressions that matches nothing.
enum extract_code filter_report_unmatched_where(const struct filter_compile *c);

#endif
