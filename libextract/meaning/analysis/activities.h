// SPDX-License-Identifier: MIT
// analysis: the activities of a trace: what a system does again and again. They are the parts that
// two traces are compared by (diff.c).
//
//   response    of a thread. It costs the time that the thread runs in it without holding a mutex.
//   hold        of a mutex by a thread. It costs the time that the thread runs or sleeps while this
//               is the mutex that it got last.
//   interrupt   It costs the time that it has a core, without interrupts on top of it.
//
// No time is counted in two activities. Each activity has a few hundred samples, evenly chosen from
// the whole trace, which are explained as extract/why.h does; so memory does not grow with the
// trace.
#ifndef EXTRACT_ANALYSIS_ACTIVITIES_H
#define EXTRACT_ANALYSIS_ACTIVITIES_H

#include "analysis/analysis_room.h"
#include <extract/diff.h>

enum { ACTIVITY_SAMPLES = 256, MAX_ACTIVITIES = 4096, MAX_DELAY_THREADS = 512 };

// Mean and variance of values, by Welford's method.
struct moments {
    uint64_t count;
    double mean, squares; // squares: sum of the squared differences to the mean
};

struct activity {
    enum extract_activity kind;
    uint64_t thread;      // RESPONSE, HOLD: address
    uint64_t object;      // HOLD: address of the mutex; INTERRUPT: number, if has_number
    bool has_number;      // INTERRUPT
    bool is_second_level; // INTERRUPT: a second-level handler of hook words
    uint64_t count;
    struct moments cost; // ticks, of each sample
    struct moments gap;  // ticks from one begin to the next
    uint64_t caused;     // how often another one made it begin
    size_t first_cause;  // of activities.causes
    size_t pair;         // of diff.c
    // While the trace is read:
    uint64_t begin, ticks; // of the newest one; see has_begun
    bool has_begun;        // since the last gap
    struct history_window *samples;
};

// How often one activity made another one begin.
struct activity_cause {
    size_t activity, by; // indexes
    uint64_t count;
};

struct activity_thread {
    const struct extract_object *object;
    uint16_t priority;         // with which most of its events were recorded
    bool has_other_priorities; // it had others as well
};

struct activities {
    const struct extract_trace *trace;
    struct activity *list; // owned
    size_t count, capacity;
    bool is_cut;                   // there are more than MAX_ACTIVITIES; the others are left out
    struct activity_cause *causes; // by `activity`; owned
    size_t cause_count;
    struct activity_thread *threads; // owned
    size_t thread_count;
    // Ticks that threads lost to other ones in their responses: [victim * thread_count + culprit].
    // NULL if there are more than MAX_DELAY_THREADS. Owned.
    double *delays;
};

static inline void moments_add(struct moments *moments, double value)
{
    double difference = value - moments->mean;

    moments->count++;
    moments->mean += difference / (double)moments->count;
    moments->squares += difference * (value - moments->mean);
}

// Finds the activities of a trace, which must outlive them. The caller frees them with
// activities_free, also after an error. Errors: NOMEM, and those of extract_schedule_run.
enum extract_code activities_find(struct activities *activities, const struct extract_trace *trace,
                                  struct extract_error *error);
void activities_free(struct activities *activities);

#endif
