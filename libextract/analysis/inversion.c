// SPDX-License-Identifier: MIT
// analysis: priority inversions. In: events in order. Out: counts of both kinds.
#include "analysis/inversion.h"

static void close_one(struct extract_inversions *inversions, size_t i)
{
    if (inversions->open[i].undeterministic)
        inversions->undeterministic++;
    else
        inversions->deterministic++;
    inversions->open[i] = inversions->open[--inversions->count];
}

static void open_one(struct extract_inversions *inversions, const struct extract_event *event,
                     uint64_t mutex, uint64_t owner)
{
    if (inversions->count == EXTRACT_INVERSIONS_OPEN)
        return;
    inversions->open[inversions->count++] =
        (struct extract_inversion){mutex, owner, event->thread, event->priority, false};
}

// A thread that has no part in an inversion runs while the waiting one, more urgent, cannot.
static void meet_third(struct extract_inversions *inversions, const struct extract_event *event)
{
    for (size_t i = 0; i < inversions->count; i++) {
        struct extract_inversion *open = &inversions->open[i];
        if (event->thread != open->owner && event->thread != open->waiter &&
            event->priority != EXTRACT_NO_PRIORITY && event->priority > open->waiter_priority)
            open->undeterministic = true;
    }
}

void extract_inversions_step(struct extract_inversions *inversions,
                             const struct extract_role_fields *role,
                             const struct extract_event *event, uint16_t owner_priority,
                             bool counts)
{
    meet_third(inversions, event);
    if (role->role == EXTRACT_ROLE_MUTEX_GET) {
        uint64_t owner = event->field[role->owner];
        // A smaller number is a higher priority.
        if (counts && owner && owner != event->thread && owner_priority != EXTRACT_NO_PRIORITY &&
            event->priority != EXTRACT_NO_PRIORITY && owner_priority > event->priority)
            open_one(inversions, event, event->field[role->object], owner);
    } else if (role->role == EXTRACT_ROLE_MUTEX_PUT && event->field[role->count] == 1) {
        for (size_t i = inversions->count; i-- > 0;)
            if (inversions->open[i].mutex == event->field[role->object])
                close_one(inversions, i);
    }
}

void extract_inversions_end(struct extract_inversions *inversions)
{
    while (inversions->count)
        close_one(inversions, inversions->count - 1);
}
