// SPDX-License-Identifier: MIT
// analysis/rkh: states. In: events of state machines. Out: the time in each state, and when it
// began.
//
// A machine is in a state from the record of it (SM_STATE) on, or from the last state that it
// entered where the target leaves such records out. An event is dispatched in the state that holds
// (SM_DCH): that tells the one in which a trace begins, or goes on behind a loss.
#include "analysis/rkh/analysis.h"

static void add_turn(struct rkh_analysis *study, const struct rkh_object *object,
                     const struct rkh_moment *at)
{
    struct rkh_turn *turns =
        extract_grow(study->turns, &study->turn_room, study->turn_count, sizeof *turns);
    if (!turns) {
        study->failed = true;
        return;
    }
    study->turns = turns;
    study->turns[study->turn_count++] =
        (struct rkh_turn){rkh_table_index(&study->objects, object), object->state, at->ticks,
                          object->state_known, at->in_stretch};
}

static struct rkh_state *state_at(struct rkh_analysis *study, const struct rkh_object *object,
                                  uint64_t state)
{
    size_t of = rkh_table_index(&study->objects, object);
    struct rkh_state *row = rkh_table_at(&study->states, rkh_pair_key(of, state), NULL);
    if (row) {
        row->of = of;
        row->seq = object->seq;
        row->object = object->address;
        row->state = state;
    }
    study->failed |= !row;
    return row;
}

// Gives the state that held until now its time; from here on it is another one, or none is known.
static void turn_to(struct rkh_analysis *study, struct rkh_object *object, bool known,
                    uint64_t state, const struct rkh_moment *at)
{
    uint64_t spent = at->span > object->since ? at->span - object->since : 0;
    bool changes = object->state_known != known || (known && object->state != state);
    if (object->state_known) {
        struct rkh_state *row = state_at(study, object, object->state);
        if (row)
            row->ticks += spent;
        object->state_ticks += spent;
    }
    object->since += spent;
    object->state_known = known;
    object->state = known ? state : 0;
    if (changes)
        add_turn(study, object, at);
}

static void enter(struct rkh_analysis *study, struct rkh_object *object, uint64_t state,
                  const struct rkh_moment *at)
{
    bool changes = at->counts && (!object->state_known || object->state != state);
    turn_to(study, object, true, state, at);
    struct rkh_state *row = state_at(study, object, state);
    if (row)
        row->entries += at->counts;
    object->state_changes += changes;
    study->state_changes += changes;
    object->entered = 0;
    object->stateless = false;
}

// The state in which an event is dispatched holds since the last change.
static void confirm(struct rkh_analysis *study, struct rkh_object *object, uint64_t state)
{
    if (object->entered && object->entered == state) {
        enter(study, object, state, &object->entered_at);
    } else if (!object->state_known && !object->stateless) {
        struct rkh_moment since = study->now;
        since.ticks = object->breaks ? study->breaks[object->breaks - 1].resumed : 0;
        object->state_known = true;
        object->state = state;
        add_turn(study, object, &since);
    } else if (object->state != state) { // a change that was not recorded
        turn_to(study, object, false, 0, &study->now);
        turn_to(study, object, true, state, &study->now);
    }
    object->entered = 0;
    object->stateless = false;
}

static void begin(struct rkh_analysis *study, struct rkh_object *object)
{
    turn_to(study, object, false, 0, &study->now);
    object->stateless = true;
    object->entered = 0;
}

void rkh_states_take(struct rkh_analysis *study, const struct extract_event *event)
{
    uint64_t address, state = 0;
    struct rkh_object *object;
    if (!rkh_field(event, "ao", &address) || !(object = rkh_object_at(study, address)))
        return;
    if (event->id == RKH_SM_INIT || event->id == RKH_SMA_TERM) {
        begin(study, object);
    } else if (event->id == RKH_SM_STATE && rkh_field(event, "nxtst", &state)) {
        enter(study, object, state, &study->now);
    } else if (event->id == RKH_SM_ENSTATE && rkh_field(event, "state", &state)) {
        object->entered = state;
        object->entered_at = study->now;
    } else if (event->id == RKH_SM_DCH && rkh_field(event, "state", &state)) {
        confirm(study, object, state);
    }
}

void rkh_states_break(struct rkh_analysis *study, bool restarted)
{
    struct rkh_break *breaks =
        extract_grow(study->breaks, &study->break_room, study->break_count, sizeof *breaks);
    if (!breaks) {
        study->failed = true;
        return;
    }
    study->breaks = breaks;
    study->breaks[study->break_count++] =
        (struct rkh_break){study->now, study->now.ticks, restarted};
}

// The state that is known ends with the first of the breaks; from the last one on, time waits for
// the next record to tell one.
void rkh_states_catch_up(struct rkh_analysis *study, struct rkh_object *object)
{
    if (object->breaks == study->break_count)
        return;
    const struct rkh_break *first = &study->breaks[object->breaks];
    const struct rkh_break *last = &study->breaks[study->break_count - 1];
    object->breaks = study->break_count;
    if (object->entered)
        enter(study, object, object->entered, &object->entered_at);
    turn_to(study, object, false, 0, &first->at);
    object->since = last->at.span;
    object->stateless = last->restarted;
}

void rkh_states_end(struct rkh_analysis *study)
{
    study->now.counts = study->now.in_stretch = false;
    rkh_states_break(study, true);
    for (size_t i = 0; i < study->objects.count && !study->failed; i++)
        rkh_states_catch_up(study, rkh_table_row(&study->objects, i));
}
