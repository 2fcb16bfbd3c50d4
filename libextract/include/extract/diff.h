// SPDX-License-Identifier: MIT
// What changed from one trace to another one of the same system: priorities, what responses of
// threads, holds of mutexes and interrupts cost, and how often they happen. Changes are ranked by
// the time that they contribute per second.
//
// The traces may have different lengths, rates and loads. Threads, mutexes and interrupts are
// matched by their names and numbers, never by addresses, unless they have no name. See
// ringside-diff(1), which defines each figure.
#ifndef EXTRACT_DIFF_H
#define EXTRACT_DIFF_H

#include <extract/stats.h>
#include <extract/why.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

// What a system does again and again.
enum extract_activity {
    EXTRACT_ACTIVITY_RESPONSE = 0, // of a thread; without the time that it holds mutexes
    EXTRACT_ACTIVITY_HOLD,         // of a mutex by a thread
    EXTRACT_ACTIVITY_INTERRUPT
};

enum extract_change_kind {
    EXTRACT_CHANGE_PRIORITY = 0, // of a thread
    EXTRACT_CHANGE_COST,         // time that an activity takes each time
    EXTRACT_CHANGE_RATE          // how often it happens
};

enum extract_certainty {
    EXTRACT_CERTAIN = 0, // events state it
    EXTRACT_LIKELY,      // it is larger than three standard errors
    EXTRACT_BY_CHANCE    // it may be chance
};

struct extract_change {
    enum extract_change_kind kind;
    enum extract_activity activity; // COST and RATE
    enum extract_certainty certainty;
    // Names of the thread (PRIORITY, RESPONSE, HOLD) and the mutex (HOLD), as reports print them;
    // otherwise NULL. Owned by the traces, or by the diff.
    const char *thread, *object;
    uint64_t number; // INTERRUPT; see has_number
    bool has_number, is_second_level;
    bool in_a, in_b; // it happens in that trace
    bool is_late;    // RATE: it happens less often since responses of its thread take longer
    // PRIORITY: the priority with which most events of the thread were recorded. COST: mean, in
    // seconds, or in ticks if extract_diff.has_seconds is false. RATE: per second or tick.
    double a, b;
    double rate; // COST: how often it happens in B, per second or tick
    // Time that it contributes to B: seconds per second, or ticks per tick. Positive: B takes
    // longer. PRIORITY: by how much the delays between the thread and others changed, in both
    // directions.
    double time;
    double least;   // the smallest amount of `time` that is likely; 0 if it may be chance
    double weight;  // `time`, less the more it may be chance
    double total;   // of this change and those that follow it: sum of `weight`
    size_t follows; // RATE: index of the change that explains it + 1; 0: none
};

// A thread in both traces. NULL: it is not in that trace.
struct extract_diff_thread {
    const struct extract_thread_stats *a, *b;
};

// What threads waited for in both traces, by objects. Time per second, or per tick.
struct extract_diff_wait {
    const char *wait, *object; // class and name
    double a, b;
};

// How often an event was recorded, per second or tick.
struct extract_diff_count {
    const char *name;
    double a, b;
    bool is_likely; // the change is larger than three standard errors
};

struct extract_diff_side {
    const struct extract_trace *trace;
    uint64_t hz; // ticks per second; 0: not known
    struct extract_stats *stats;
    double span;             // time of the trace without gaps: seconds, or ticks
    struct extract_why *why; // a response of the thread `worse`; NULL: none
};

struct extract_diff {
    struct extract_diff_side a, b;
    bool has_seconds; // both rates are known; otherwise all times are ticks
    // How much more often activities that nothing else in the trace causes happen in B. Rates that
    // differ by about as much are no changes. 1: about the same, or there is no common factor.
    double load;
    size_t change_count;
    struct extract_change *changes; // those that matter most first
    size_t thread_count;
    struct extract_diff_thread *threads; // those of A in its order, then those only in B
    size_t wait_count;
    struct extract_diff_wait *waits; // the largest difference first
    size_t count_count;
    struct extract_diff_count *counts; // the largest difference first
    const char *worse; // thread of which responses became longest by time per second; NULL: none
    bool is_cut;       // there were too many activities to compare all
    void *owned;       // strings
};

// Compares two traces, which must outlive *diff; the caller frees it with extract_diff_free. A rate
// (ticks per second) may be 0: not known. Errors: NOMEM; UNSUPPORTED (a trace does not show a
// schedule, or all of its events have the same time).
enum extract_code extract_diff_new(struct extract_diff **diff, const struct extract_trace *a,
                                   uint64_t hz_a, const struct extract_trace *b, uint64_t hz_b,
                                   struct extract_error *error);
// Frees it. NULL is allowed.
void extract_diff_free(struct extract_diff *diff);

// Return the words that outputs use: "cost", "hold" and "likely".
const char *extract_change_kind_name(enum extract_change_kind kind);
const char *extract_activity_name(enum extract_activity activity);
const char *extract_certainty_name(enum extract_certainty certainty);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
