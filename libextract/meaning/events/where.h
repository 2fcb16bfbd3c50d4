// SPDX-License-Identifier: MIT
// events: the expressions of --where, as a condition of a filter.
//
// where.c gives the names of expressions (base/expression.h) their meaning for events. A view calls
// where_passes for each event that meets its other conditions. Expressions with `dt` or
// `blocked_for` depend on earlier events, too. They have a history: the view then shows them every
// event of the trace, in order.
#ifndef EXTRACT_EVENTS_WHERE_H
#define EXTRACT_EVENTS_WHERE_H

#include "events/event_filter.h"

struct where;

// Checks the syntax of an expression. Names and rates are not known before a trace is. Errors:
// USAGE, NOMEM.
enum extract_code where_check(const char *text, struct extract_error *error);

// Compiles all expressions of a filter for a trace. `hz` is needed for times with a unit; 0 if
// unknown. Errors: USAGE, NOMEM.
enum extract_code where_new(struct where **where, const struct extract_filter *filter,
                            const struct extract_trace *trace, uint64_t hz,
                            struct extract_error *error);
void where_free(struct where *where);

// Returns the error of the first text that no event, thread or object of the trace matches; NULL if
// there is none. The expressions are usable: the text differs from all values.
const struct extract_error *where_unmatched(const struct where *where);

// Returns whether the expressions have a history. Only then, where_begin must be called before a
// walk, with the reader at its start, and where_note for each event before where_passes.
bool where_has_history(const struct where *where);
void where_begin(struct where *where, const struct extract_reader *reader);
void where_note(struct where *where, const struct extract_event *event);

// Returns whether an event meets all expressions.
bool where_passes(struct where *where, const struct extract_event *event);

#endif
