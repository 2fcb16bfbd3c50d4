// SPDX-License-Identifier: MIT
// analysis: counts priority inversions. Keeps the open ones in a small table, and counts each when
// it ends.
#include "analysis/inversion.h"

static void end_inversion(struct extract_inversions *inversions, size_t i)
{
    if (inversions->open[i].is_undeterministic)
        inversions->undeterministic++;
    else
        inversions->deterministic++;
    inversions->open[i] = inversions->open[--inversions->open_count];
}

// Marks the inversions in which the thread of this event is the third: it takes no part, but runs
// while a waiting thread of higher priority cannot. A smaller number is a higher priority.
static void note_third_thread(struct extract_inversions *inversions,
                              const struct extract_event *event)
{
    if (event->priority == EXTRACT_NO_PRIORITY)
        return;
    for (size_t i = 0; i < inversions->open_count; i++) {
        struct inversion_open *open = &inversions->open[i];
        if (event->thread != open->owner && event->thread != open->waiter &&
            event->priority > open->waiter_priority)
            open->is_undeterministic = true;
    }
}

void extract_inversions_add_event(struct extract_inversions *inversions,
                                  const struct extract_role_fields *role,
                                  const struct extract_event *event, uint16_t owner_priority,
                                  bool is_counted)
{
    note_third_thread(inversions, event);
    if (role->role == EXTRACT_ROLE_MUTEX_GET) {
        uint64_t owner = extract_role_field(event, role->owner);
        bool is_inversion =
            owner && owner != event->thread && owner_priority != EXTRACT_NO_PRIORITY &&
            event->priority != EXTRACT_NO_PRIORITY && owner_priority > event->priority;
        if (is_counted && is_inversion && inversions->open_count < EXTRACT_MAX_INVERSIONS)
            inversions->open[inversions->open_count++] =
                (struct inversion_open){extract_role_field(event, role->object), owner,
                                        event->thread, event->priority, false};
    } else if (role->role == EXTRACT_ROLE_MUTEX_PUT &&
               extract_role_field(event, role->count) == 1) {
        for (size_t i = inversions->open_count; i-- > 0;)
            if (inversions->open[i].mutex == extract_role_field(event, role->object))
                end_inversion(inversions, i);
    }
}

void extract_inversions_end(struct extract_inversions *inversions)
{
    while (inversions->open_count)
        end_inversion(inversions, inversions->open_count - 1);
}
