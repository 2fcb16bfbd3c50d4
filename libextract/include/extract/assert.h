// SPDX-License-Identifier: MIT
// Assertions about a trace: conditions on its statistics and events that hold, fail, or cannot be
// decided, since events are missing.
//
//   latency(sensor).p99 < 200us      also response and period; .min .median .p99 .max .count; of
//                                    period also .jitter, in percent of the median
//   span(request).p99 < 2ms          a span that the user defines (extract/span.h); also .mean,
//                                    .open, .without_end and .without_begin
//   load(idle) > 20%                 a thread, idle, interrupts, init or unknown; percent of a core
//   count(thread suspend, thread=comms) < 10
//   never(queue send, object=log)    the same as count(...) == 0
//   never(queue_send failed)         calls that the trace shows to have failed
//   order(A, B, C)                   these events occur only in this order, again and again
//
// A number without a unit is in ticks, in percent or a count, as the figure is; a unit must be one
// of the figure. They are combined with &&, ||, ! and parentheses. See ringside-assert(1).
#ifndef EXTRACT_ASSERT_H
#define EXTRACT_ASSERT_H

#include <extract/span.h>
#include <extract/stats.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum extract_assertion {
    EXTRACT_ASSERTION_HOLDS,
    EXTRACT_ASSERTION_FAILS,
    EXTRACT_ASSERTION_UNKNOWN
};

// The result of an assertion.
struct extract_assertion_result {
    enum extract_assertion result;
    char values[240]; // the values of its names, as "load(idle) = 12.500 %"; NUL-ended
    char why[160];    // of UNKNOWN: why it is not known; otherwise empty
};

struct extract_assertions;

// Prepares assertions about a trace, which must outlive them. `spans` holds the spans of the trace,
// and must outlive them unchanged; NULL: none. `hz` is the ticks per second; 0: not known, which
// makes times with units errors. `is_whole`: no event is missing in between. The
// caller frees them with extract_assertions_free. Errors: NOMEM; those of extract_stats_new.
enum extract_code extract_assertions_new(struct extract_assertions **assertions,
                                         const struct extract_trace *trace,
                                         const struct extract_spans *spans, uint64_t hz,
                                         bool is_whole, struct extract_error *error);
// Checks one assertion. If entries are missing or damaged, the result is UNKNOWN unless no missing
// event can change it. It is also UNKNOWN if a figure that it needs has no value. Errors: USAGE
// (with the column), NOTFOUND (a name that is not in the trace), NOMEM.
enum extract_code extract_assertions_check(struct extract_assertions *assertions, const char *text,
                                           struct extract_assertion_result *result,
                                           struct extract_error *error);
// NULL is allowed.
void extract_assertions_free(struct extract_assertions *assertions);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
