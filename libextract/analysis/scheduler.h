// SPDX-License-Identifier: MIT
// analysis: follows what a core executes from one event to the next.
//
// An event names the context that recorded it. What runs after the event follows from the event's
// role: a suspend names the next thread, the exit of the outermost interrupt returns to the thread
// that is ready, and so on.
//
// Source: TraceX user guide, chapter 4. The next context of suspend and resume is in their fourth
// word, of relinquish in the second, of a time slice in the first. After an interrupt, it is the
// interrupted thread or, if an old kernel does not record it, the thread of the next event.
#ifndef EXTRACT_ANALYSIS_SCHEDULER_H
#define EXTRACT_ANALYSIS_SCHEDULER_H

#include "formats/format.h"

enum extract_runs { EXTRACT_RUNS_THREAD, EXTRACT_RUNS_ISR, EXTRACT_RUNS_IDLE, EXTRACT_RUNS_INIT };

// What a core executes.
struct extract_execution {
    enum extract_runs kind;
    uint64_t thread; // of EXTRACT_RUNS_THREAD
};

// One core. Zero-initialize.
struct extract_scheduler {
    unsigned depth;   // nested interrupts that were entered
    uint64_t pending; // thread that an interrupt made ready to run next; 0: none
    bool has_last;
    struct extract_execution last; // the last thread, or idle, that had the core
};

// Processes an event, and returns what runs between it and the next event of the core (NULL: there
// is none).
struct extract_execution extract_scheduler_add_event(struct extract_scheduler *scheduler,
                                                     const struct extract_role_fields *role,
                                                     const struct extract_event *event,
                                                     const struct extract_event *next_event);

#endif
