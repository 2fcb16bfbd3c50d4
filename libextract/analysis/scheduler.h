// SPDX-License-Identifier: MIT
// analysis: who runs next. In: events in order. Out: the context that follows each of them.
#ifndef EXTRACT_ANALYSIS_SCHEDULER_H
#define EXTRACT_ANALYSIS_SCHEDULER_H

#include "formats/format.h"

enum extract_runs { EXTRACT_RUNS_THREAD, EXTRACT_RUNS_ISR, EXTRACT_RUNS_IDLE, EXTRACT_RUNS_INIT };

// Who has the processor.
struct extract_who {
    enum extract_runs what;
    uint64_t thread; // of RUNS_THREAD
};

struct extract_scheduler {
    unsigned depth;   // of nested interrupts that were entered
    uint64_t pending; // the thread that an interrupt made ready to run next; 0: none
    bool has_last;
    struct extract_who last; // the last thread, or idle, that had the processor
};

// Takes one event and the one behind it (NULL at the end); returns who runs between the two.
// TraceX user guide, chapter 4: the next context of suspend and resume is their fourth word, of
// relinquish the second, of a time slice the first, of an interrupt's end the interrupted thread
// or, where old kernels do not tell it, the thread of the event behind.
struct extract_who extract_scheduler_step(struct extract_scheduler *scheduler,
                                          const struct extract_role_fields *role,
                                          const struct extract_event *event,
                                          const struct extract_event *behind);

#endif
