// SPDX-License-Identifier: MIT
// Statistics of a trace: processor load, context switches, preemptions, priority inversions, stack
// use and how often each event occurred.
//
// The definitions follow the performance analysis of TraceX (user guide, chapter 4). Filters of the
// view limit what is counted. Times always cover all events between the view's FROM and TO, since
// only all events together show which thread ran.
#ifndef EXTRACT_STATS_H
#define EXTRACT_STATS_H

#include <extract/filter.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct extract_thread_stats {
    const struct extract_object *thread;
    uint64_t events;                      // number of events recorded in its context
    uint64_t ticks;                       // time that it ran; 0 without loads
    uint64_t stack_size;                  // bytes; 0: unknown
    uint64_t stack_free;                  // fewest free bytes that an event reported
    uint64_t stack_seq;                   // sequence number of that event
    bool stack_known;                     // an event reported the stack
    uint16_t priority_low, priority_high; // smallest and largest number; EXTRACT_NO_PRIORITY: none
    uint16_t last_priority;               // priority at the newest event
    uint64_t suspends, resumes;
};

struct extract_service_stats {
    const struct extract_event_type *type;
    uint32_t id;
    uint64_t count;
    const struct extract_object *named; // the trace's own name for a user event; NULL: none
};

struct extract_stats {
    // False if the trace comes from several cores: then the load is not computed, and context
    // switches, preemptions, inversions and all times except span_ticks are 0.
    bool has_loads;
    uint64_t range_events; // events between FROM and TO, whether the view lets them through or not
    uint64_t events;       // events that the view lets through; all counts below are of these
    uint64_t context_switches;
    uint64_t preemptions;
    uint64_t time_slices;
    uint64_t suspends;
    uint64_t resumes;
    uint64_t interrupts;
    uint64_t nested_interrupts;
    uint64_t inversions_deterministic;
    uint64_t inversions_undeterministic;
    uint64_t idle_ticks;
    uint64_t interrupt_ticks;
    uint64_t init_ticks;
    // Time between FROM and TO without gaps. On one core, it is the sum of the three times above
    // and of the ticks of all threads.
    uint64_t span_ticks;
    size_t thread_count;
    struct extract_thread_stats *threads; // in the order of the trace's objects; owned
    size_t service_count;
    struct extract_service_stats *services; // the most frequent first; owned
};

// Computes the statistics of a view, which the caller frees with extract_stats_free. With an empty
// filter, they cover the whole trace. Follows the running thread over all events, but not across
// the gaps of a log, in which it is unknown. Markers of a log are not counted. The trace must
// outlive *stats. Errors: NOMEM.
enum extract_code extract_stats_new(struct extract_stats **stats, const struct extract_view *view,
                                    const struct extract_trace *trace, struct extract_error *error);

// Frees the statistics. NULL is allowed.
void extract_stats_free(struct extract_stats *stats);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
