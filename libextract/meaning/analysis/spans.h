// SPDX-License-Identifier: MIT
// analysis: the inside of spans (extract/span.h).
//
//   "request: 4096 .. 4097 && info2 == 0 by info1"
//        │
//        ▼
//   span_definition.c   takes the text apart, and binds it to a trace: events become views, the
//        │              field becomes its place in each event type
//        ▼
//   span.c              walks over the trace and pairs begins and ends
#ifndef EXTRACT_ANALYSIS_SPANS_H
#define EXTRACT_ANALYSIS_SPANS_H

#include "events/event_filter.h"
#include "events/values.h"
#include <extract/span.h>

// An event of a definition. At least one of the two texts is set.
struct span_event {
    char *name;                // as --event accepts it; NULL: any event. Owned
    char *expression;          // as --where accepts it; NULL: none. Owned
    struct extract_view *view; // of the trace that it is bound to; owned
};

// What the value of `by` is.
enum span_field {
    SPAN_FIELD_NONE,
    SPAN_FIELD_THREAD,
    SPAN_FIELD_DATA,
    SPAN_FIELD_NAME,
    SPAN_FIELD_LABEL
};

struct span_definition {
    char *name; // owned
    struct span_event begin, end;
    char *by;                  // NULL: none. Owned
    enum span_field field;     // of the trace that it is bound to
    unsigned value_name;       // of SPAN_FIELD_NAME
    struct value_label *label; // of SPAN_FIELD_LABEL; owned
};

// Parses a definition. Errors: USAGE, NOMEM. The caller frees it in any case.
enum extract_code span_definition_parse(struct span_definition *definition, const char *text,
                                        struct extract_error *error);
void span_definition_free(struct span_definition *definition);

// Looks up names in a trace. Errors: as extract_spans_find.
enum extract_code span_definition_bind(struct span_definition *definition,
                                       const struct extract_trace *trace, uint64_t hz,
                                       struct extract_error *error);
// Sets *key to the value by which an event is paired. Returns false if the event has none.
bool span_definition_key(struct span_definition *definition, const struct extract_event *event,
                         uint64_t *key);

#endif
