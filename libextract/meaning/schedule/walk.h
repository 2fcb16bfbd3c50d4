// SPDX-License-Identifier: MIT
// schedule: the walk over the events of a trace, for other rooms that count events and measure the
// schedule at the same time. In: a view. Out: each event, what had its core until the next event of
// that core, and the parts of the schedule (extract/schedule.h).
//
//     event e       ── event(e)
//     event f       ── step(e): what had the core from e to f
//                      the sink: intervals, states and wake-ups that are complete now
//                      event(f)
//
// A format without roles has events only.
#ifndef EXTRACT_SCHEDULE_WALK_H
#define EXTRACT_SCHEDULE_WALK_H

#include "events/events_room.h"
#include "formats/role_tables.h"
#include <extract/schedule.h>

// An event, and what had its core until the next event of that core.
struct schedule_step {
    const struct extract_role_fields *role; // of the event
    uint64_t seq;                           // of the event
    uint64_t thread;                        // of the event's context
    uint64_t next; // the thread that the event names as the next one; 0: none
    enum extract_context context;
    uint8_t standing;                 // of the event in the view (events/event_filter.h)
    struct extract_interval interval; // from the event on; its length may be 0
};

// What receives the walk. All of it belongs to the core of the present event, except for
// `gap` and `marker`.
struct schedule_observer {
    void *context;
    bool has_standings; // of schedule_walk_times: events pass with their standings in the view
    bool shows_next;    // what is sent ends at the first event after a view's range, not with it
    // The sink also gets unknown intervals and states for times of which the trace has no data of
    // a core or thread (schedule/holes.c), as pictures need them.
    bool fills_holes;
    // Called for each event of the target, in the order of the trace. Its fields are those of its
    // role, and what it lacks of its context is filled in.
    void (*event)(void *context, const struct extract_event *event,
                  const struct extract_role_fields *role, uint8_t standing);
    // The same with the event as the trace has it, after `event`.
    void (*entry)(void *context, const struct extract_event *event, uint8_t standing);
    // Called for each gap or restart, after all that was known before it was completed.
    void (*gap)(void *context, const struct extract_event *marker);
    // Called for each marker, after `gap`.
    void (*marker)(void *context, const struct extract_event *marker, uint8_t standing);
    void (*step)(void *context, const struct schedule_step *step);
    // Called when what is known of the owner of a mutex changes. `thread` owns it from now on; 0:
    // nobody does, or it is not known. Not certain: the owner until now was not known, or the one
    // from now on is not.
    void (*owned)(void *context, uint64_t mutex, uint64_t thread, bool is_certain);
    // Another thread, or idle, gets a core after the event with this standing. `thread` had it
    // before; 0: it was idle.
    void (*switched)(void *context, enum extract_switch_kind kind, uint8_t core, uint64_t thread,
                     uint8_t standing);
};

// Returns whether events of the trace show when threads wait.
bool schedule_shows_waits(const struct extract_trace *trace);
// Returns UNSUPPORTED if the events of a trace do not show a schedule.
enum extract_code schedule_check(const struct extract_trace *trace, struct extract_error *error);

// Walks over all events of a view (NULL: of the trace). The sink and each of its members, and each
// member of the observer, may be NULL. If the view has a range, the walk ends at the first event
// after it. What is sent ends there, or at the end of the range if that is earlier. Errors: NOMEM.
enum extract_code schedule_walk(const struct extract_view *view, const struct extract_trace *trace,
                                const struct extract_schedule_sink *sink,
                                const struct schedule_observer *observer,
                                struct extract_error *error);
// The same for pictures of a time: FROM and TO of the view are taken as they are, whether there are
// events at them or not, and then all events of the trace pass with the standing LET_THROUGH,
// unless the observer wants their standings. Errors: also UNSUPPORTED, as schedule_check.
enum extract_code schedule_walk_times(const struct extract_view *view,
                                      const struct extract_trace *trace,
                                      const struct extract_schedule_sink *sink,
                                      const struct schedule_observer *observer,
                                      struct extract_error *error);

#endif
