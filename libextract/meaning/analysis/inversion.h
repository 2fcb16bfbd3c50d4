// SPDX-License-Identifier: MIT
// analysis: counts priority inversions.
//
// An inversion begins when a thread waits for a mutex that a thread of lower priority owns, and
// ends when the owner releases the mutex. It is undeterministic if a third thread, whose priority
// is lower than that of the waiting thread, runs in the meantime; otherwise it is deterministic.
//
// Source: TraceX user guide, chapter 4, "Performance statistics".
#ifndef EXTRACT_ANALYSIS_INVERSION_H
#define EXTRACT_ANALYSIS_INVERSION_H

#include "formats/format.h"

enum { EXTRACT_MAX_INVERSIONS = 16 }; // open at the same time; further ones are not counted

struct inversion_open {
    uint64_t mutex, owner, waiter;
    uint16_t waiter_priority;
    bool is_undeterministic;
};

// Zero-initialize.
struct extract_inversions {
    struct inversion_open open[EXTRACT_MAX_INVERSIONS];
    size_t open_count;
    uint64_t deterministic, undeterministic; // inversions that have ended
};

// Processes an event of a thread. `owner_priority` is that of the mutex's owner if the event takes
// a mutex; EXTRACT_NO_PRIORITY: unknown. An inversion that begins with an event that is not counted
// is not followed.
void extract_inversions_add_event(struct extract_inversions *inversions,
                                  const struct extract_role_fields *role,
                                  const struct extract_event *event, uint16_t owner_priority,
                                  bool is_counted);
// Ends all inversions that are still open, and counts them.
void extract_inversions_end(struct extract_inversions *inversions);

#endif
