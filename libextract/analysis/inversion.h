// SPDX-License-Identifier: MIT
// analysis: priority inversions. In: events in order. Out: counts of both kinds.
//
// Source: TraceX user guide, chapter 4, "Performance statistics": a thread waits for a mutex that a
// thread of lower priority owns. It is undeterministic when a third thread, of lower priority than
// the waiting one, runs meanwhile.
#ifndef EXTRACT_ANALYSIS_INVERSION_H
#define EXTRACT_ANALYSIS_INVERSION_H

#include "formats/format.h"

enum { EXTRACT_INVERSIONS_OPEN = 16 }; // that are followed at the same time

struct extract_inversion {
    uint64_t mutex, owner, waiter;
    uint16_t waiter_priority;
    bool undeterministic;
};

struct extract_inversions {
    struct extract_inversion open[EXTRACT_INVERSIONS_OPEN];
    size_t count;
    uint64_t deterministic, undeterministic;
};

// Takes an event in a thread's context. `owner_priority` is that of the mutex's owner where the
// event takes a mutex, EXTRACT_NO_PRIORITY when unknown. An inversion that begins with an event
// that does not count is not followed.
void extract_inversions_step(struct extract_inversions *inversions,
                             const struct extract_role_fields *role,
                             const struct extract_event *event, uint16_t owner_priority,
                             bool counts);
// Counts those that are still open.
void extract_inversions_end(struct extract_inversions *inversions);

#endif
