// SPDX-License-Identifier: MIT
// Spans: the times between two events that the user chooses, such as a request and its answer.
//
//     NAME: EVENT .. EVENT [by FIELD]          request: 4096 .. 4097 by info1
//
// An EVENT is an id, a name or a pattern, or an expression of EXTRACT_FILTER_WHERE, or both: "4096
// && info2 == 3". The first one begins a span, the second one ends it.
//
// With FIELD, an end belongs to the newest begin that has not ended and has the same value of that
// field. Without it, an end belongs to the newest such begin of the thread that recorded the end;
// if that thread has none, to the newest of any thread. Such a pair is likely, not certain, and so
// are pairs in a format that does not show threads.
//
// A begin whose end is missing, and an end whose begin is missing, are counted and never measured.
// Nothing is paired across a gap. See ringside-stats(1).
#ifndef EXTRACT_SPAN_H
#define EXTRACT_SPAN_H

#include <extract/stats.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum {
    EXTRACT_SPANS_MAX = 64,    // definitions
    EXTRACT_SPANS_OPEN = 4096, // spans of a definition that are open at the same time
    EXTRACT_SPANS_WORST = 1000 // longest spans that are kept
};

// One span that was measured.
struct extract_span {
    uint64_t from, to;
    uint64_t from_seq, to_seq; // of its events
    uint64_t thread;           // that recorded the begin; if none did, the end; see has_thread
    bool has_thread;
    bool is_likely; // begin and end may not belong together
};

// The spans of a definition.
struct extract_span_stats {
    const char *name;
    struct extract_distribution duration; // of all spans that were measured
    uint64_t likely;                      // of them, those that are not certain
    uint64_t open;                        // begins that have not ended at the end of the range
    uint64_t without_end;                 // other begins whose end is missing
    uint64_t dropped;       // of them, those dropped since EXTRACT_SPANS_OPEN were open
    uint64_t without_begin; // ends whose begin is missing
    uint64_t untimed;       // pairs whose times are not known
    size_t worst_count;
    const struct extract_span *worst; // the longest ones that took any time, the longest first
};

struct extract_spans;

// Parses definitions, which the caller frees with extract_spans_free. Errors: USAGE (the error
// names the definition), NOMEM.
enum extract_code extract_spans_new(struct extract_spans **spans, const char *const *definitions,
                                    size_t count, struct extract_error *error);
// Finds the spans of a trace in the range of a view (NULL: the whole trace), and forgets those of
// the call before. Other conditions of the view have no effect. `hz` is the ticks per second; 0:
// not known, which makes times with units errors. `worst` is the number of longest spans to keep,
// at most EXTRACT_SPANS_WORST. Errors: USAGE (a field or an expression), NOTFOUND (the trace has no
// such event), NOMEM.
enum extract_code extract_spans_find(struct extract_spans *spans, const struct extract_view *view,
                                     const struct extract_trace *trace, uint64_t hz, size_t worst,
                                     struct extract_error *error);
// Returns the number of definitions.
size_t extract_spans_count(const struct extract_spans *spans);
// Returns the spans of the i-th definition. They are valid until the next call of
// extract_spans_find or extract_spans_free.
const struct extract_span_stats *extract_spans_get(const struct extract_spans *spans, size_t i);
// NULL is allowed.
void extract_spans_free(struct extract_spans *spans);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
