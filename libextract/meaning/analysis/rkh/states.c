// SPDX-License-Identifier: MIT
// analysis/rkh: the states of active objects. Follows each state machine, adds up the time in each
// state, and lists the changes as a timeline.
//
// Three events contain a state: SM_STATE (a transition has ended in it), SM_ENSTATE (it is being
// entered) and SM_DCH (an event is dispatched in it). Some targets do not record SM_STATE, so an
// entered state is kept until the next SM_DCH confirms it or a break comes. SM_DCH also shows the
// state in which an object is when the trace begins or continues after a break.
//
//                 SM_STATE, SM_DCH                         SM_STATE, or SM_DCH in
//   ┌─────────┐ ─────────────────────► ┌───────────────┐   another state
//   │ unknown │                        │ state known   │ ──┐
//   └─────────┘ ◄───────────────────── └───────────────┘ ◄─┘
//        ▲        gap                   │            ▲
//        │                  SM_INIT,    │            │ SM_STATE, SM_DCH
//        │ gap              SMA_TERM,   ▼            │
//        │                  restart   ┌────────────────┐
//        └─────────────────────────── │ not running    │   has_no_state
//                                     └────────────────┘
//
// SM_INIT, SMA_TERM and a restart of the target lead to "not running" from any state. Breaks
// concern all objects, but are applied to an object only when its next event comes
// (rkh_states_catch_up).
#include "analysis/rkh/analysis.h"

static void add_timeline_entry(struct rkh_analysis *analysis, const struct rkh_object *object,
                               const struct rkh_moment *at)
{
    struct rkh_timeline_entry *timeline =
        extract_grow(analysis->timeline, &analysis->timeline_capacity, analysis->timeline_count,
                     sizeof *timeline);

    if (!timeline) {
        analysis->failed = true;
        return;
    }
    analysis->timeline = timeline;
    analysis->timeline[analysis->timeline_count++] =
        (struct rkh_timeline_entry){rkh_table_index(&analysis->objects, object), object->state,
                                    at->ticks, object->state_known, at->is_in_range};
}

// Returns the row of an object's state; NULL: out of memory.
static struct rkh_state *state_at(struct rkh_analysis *analysis, const struct rkh_object *object,
                                  uint64_t state)
{
    size_t object_index = rkh_table_index(&analysis->objects, object);
    struct rkh_state *row =
        rkh_table_find_or_add(&analysis->states, rkh_pair_key(object_index, state));

    analysis->failed |= !row;
    if (row) {
        row->object_index = object_index;
        row->seq = object->seq;
        row->object = object->address;
        row->state = state;
    }
    return row;
}

// Charges the time since the last change to the state of an object, then sets its state: a known
// one or none.
static void set_state(struct rkh_analysis *analysis, struct rkh_object *object, bool is_known,
                      uint64_t state, const struct rkh_moment *at)
{
    uint64_t ticks = at->span > object->state_since ? at->span - object->state_since : 0;
    bool is_change = object->state_known != is_known || (is_known && object->state != state);

    if (object->state_known) {
        struct rkh_state *row = state_at(analysis, object, object->state);
        if (row)
            row->ticks += ticks;
        object->state_ticks += ticks;
    }
    object->state_since += ticks;
    object->state_known = is_known;
    object->state = is_known ? state : 0;
    if (is_change)
        add_timeline_entry(analysis, object, at);
}

// Completes a transition to a state.
static void enter_state(struct rkh_analysis *analysis, struct rkh_object *object, uint64_t state,
                        const struct rkh_moment *at)
{
    bool is_counted_change = at->is_counted && (!object->state_known || object->state != state);

    set_state(analysis, object, true, state, at);
    struct rkh_state *row = state_at(analysis, object, state);
    if (row)
        row->entries += at->is_counted;
    object->state_changes += is_counted_change;
    analysis->state_changes += is_counted_change;
    object->entered_state = 0;
    object->has_no_state = false;
}

// Handles SM_DCH, which contains the state that an object has been in since its last change. If the
// state was unknown, it becomes known from the last break on, or from the start of the trace. If it
// is another than the last known one, a change was not recorded.
static void confirm_state(struct rkh_analysis *analysis, struct rkh_object *object, uint64_t state)
{
    if (object->entered_state && object->entered_state == state) {
        enter_state(analysis, object, state, &object->entered_at);
    } else if (!object->state_known && !object->has_no_state) {
        struct rkh_moment since = analysis->now;
        since.ticks =
            object->breaks_seen ? analysis->breaks[object->breaks_seen - 1].resumed_at : 0;
        object->state_known = true;
        object->state = state;
        add_timeline_entry(analysis, object, &since);
    } else if (object->state != state) {
        set_state(analysis, object, false, 0, &analysis->now);
        set_state(analysis, object, true, state, &analysis->now);
    }
    object->entered_state = 0;
    object->has_no_state = false;
}

void rkh_states_add_event(struct rkh_analysis *analysis, const struct extract_event *event)
{
    uint64_t address, state = 0;

    if (!rkh_get_field(event, "ao", &address))
        return;
    struct rkh_object *object = rkh_object_at(analysis, address);
    if (!object)
        return;
    if (event->id == RKH_SM_INIT || event->id == RKH_SMA_TERM) {
        set_state(analysis, object, false, 0, &analysis->now);
        object->has_no_state = true;
        object->entered_state = 0;
    } else if (event->id == RKH_SM_STATE && rkh_get_field(event, "nxtst", &state)) {
        enter_state(analysis, object, state, &analysis->now);
    } else if (event->id == RKH_SM_ENSTATE && rkh_get_field(event, "state", &state)) {
        object->entered_state = state;
        object->entered_at = analysis->now;
    } else if (event->id == RKH_SM_DCH && rkh_get_field(event, "state", &state)) {
        confirm_state(analysis, object, state);
    }
}

void rkh_states_add_break(struct rkh_analysis *analysis, bool restarted)
{
    struct rkh_break *breaks = extract_grow(analysis->breaks, &analysis->break_capacity,
                                            analysis->break_count, sizeof *breaks);

    if (!breaks) {
        analysis->failed = true;
        return;
    }
    analysis->breaks = breaks;
    analysis->breaks[analysis->break_count++] =
        (struct rkh_break){analysis->now, analysis->now.ticks, restarted};
}

// The object's state ends at the first break that it has not seen. The time from there to the last
// break belongs to no state; from then on, the time counts for the state that the next event shows.
void rkh_states_catch_up(struct rkh_analysis *analysis, struct rkh_object *object)
{
    if (object->breaks_seen == analysis->break_count)
        return;
    const struct rkh_break *first = &analysis->breaks[object->breaks_seen];
    const struct rkh_break *last = &analysis->breaks[analysis->break_count - 1];
    object->breaks_seen = analysis->break_count;
    if (object->entered_state)
        enter_state(analysis, object, object->entered_state, &object->entered_at);
    set_state(analysis, object, false, 0, &first->at);
    object->state_since = last->at.span;
    object->has_no_state = last->restarted;
}

void rkh_states_end(struct rkh_analysis *analysis)
{
    analysis->now.is_counted = analysis->now.is_in_range = false;
    rkh_states_add_break(analysis, true);
    for (size_t i = 0; i < analysis->objects.count && !analysis->failed; i++)
        rkh_states_catch_up(analysis, rkh_table_row(&analysis->objects, i));
}
