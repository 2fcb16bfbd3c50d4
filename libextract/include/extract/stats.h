// SPDX-License-Identifier: MIT
// What a trace says of the system: load, switches, preemptions, inversions, stacks, services.
// Definitions follow the performance analysis of TraceX (user guide, chapter 4).
#ifndef EXTRACT_STATS_H
#define EXTRACT_STATS_H

#include <extract/filter.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct extract_thread_stats {
    const struct extract_object *thread;
    uint64_t events;     // recorded in its context
    uint64_t ticks;      // that it ran, in the stretch; 0 without loads
    uint64_t stack_size; // bytes; 0 when unknown
    uint64_t stack_free; // fewest free bytes seen
    uint64_t stack_seq;  // sequence number of the event that saw them
    bool stack_known;
    uint16_t priority_low, priority_high; // smallest and largest seen; EXTRACT_NO_PRIORITY: none
    uint16_t last_priority;               // at the newest event
    uint64_t suspends, resumes;
};

struct extract_service_stats {
    const struct extract_event_type *type;
    uint32_t id;
    uint64_t count;
    const struct extract_object *named; // what the trace calls a user event; NULL: nothing
};

// Counts are of the events that the view lets through. Times are those of its whole stretch (enum
// extract_standing), since who runs is told by all events.
struct extract_stats {
    bool has_loads; // false: of several cores, whose loads are not computed; what needs them
                    // is 0: switches, preemptions, inversions, and times but for the span
    uint64_t stretch_events; // let through or left out
    uint64_t events;
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
    uint64_t span_ticks; // of the stretch, without gaps; of one core the parts above and the
                         // threads' ticks add up to it
    size_t thread_count;
    struct extract_thread_stats *threads; // in the order of the objects; owned
    size_t service_count;
    struct extract_service_stats *services; // most frequent first; owned
};

// Computes the statistics of a view: counts of its events and of what they begin, and the time from
// each event of its stretch to the next one. With an empty filter that is the whole trace. Who runs
// is followed over all events, but not over the gaps of a log, in which nobody is known to have
// run; its marks are not counted. Errors: NOMEM.
enum extract_code extract_stats_new(struct extract_stats **stats, const struct extract_view *view,
                                    const struct extract_trace *trace, struct extract_error *error);
void extract_stats_free(struct extract_stats *stats);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
