// SPDX-License-Identifier: MIT
// posix: sets of event types (posix_trace_eventset_…).
//
// A set has one bit per id: ids 1 to 31 are the system's event types, of which the standard defines
// eight, and ids from POSIX_USER on are user event types. A filter is a set, too: the types in it
// are not recorded.
//
// Source: IEEE Std 1003.1-2008, posix_trace_eventset_…, posix_trace_eventid_equal.
#include "posix/posix_room.h"
#include <string.h>

// Returns whether an event type can have this id.
static bool is_id(trace_event_id_t id)
{
    return posix_system_name(id) || (id >= POSIX_USER && id < POSIX_SET_IDS);
}

static void set_bit(trace_event_set_t *set, trace_event_id_t id, bool present)
{
    uint32_t bit = UINT32_C(1) << id % 32;
    uint32_t *word = &set->ringside_words[id / 32];

    *word = present ? *word | bit : *word & ~bit;
}

int posix_trace_eventset_add(trace_event_id_t event_id, trace_event_set_t *set)
{
    if (!set || !is_id(event_id))
        return EINVAL;
    set_bit(set, event_id, true);
    return 0;
}

int posix_trace_eventset_del(trace_event_id_t event_id, trace_event_set_t *set)
{
    if (!set || !is_id(event_id))
        return EINVAL;
    set_bit(set, event_id, false);
    return 0;
}

int posix_trace_eventset_empty(trace_event_set_t *set)
{
    if (!set)
        return EINVAL;
    memset(set, 0, sizeof *set);
    return 0;
}

// This implementation has no event types of its own, so POSIX_TRACE_WOPID_EVENTS is an empty set.
int posix_trace_eventset_fill(trace_event_set_t *set, int what)
{
    uint32_t end = what == POSIX_TRACE_ALL_EVENTS      ? POSIX_SET_IDS
                   : what == POSIX_TRACE_SYSTEM_EVENTS ? POSIX_USER
                                                       : 0;

    if (!set || what < POSIX_TRACE_WOPID_EVENTS || what > POSIX_TRACE_ALL_EVENTS)
        return EINVAL;
    memset(set, 0, sizeof *set);
    for (trace_event_id_t id = 0; id < end; id++)
        if (is_id(id))
            set_bit(set, id, true);
    return 0;
}

int posix_trace_eventset_ismember(trace_event_id_t event_id, const trace_event_set_t *restrict set,
                                  int *restrict ismember)
{
    if (!set || !ismember || !is_id(event_id))
        return EINVAL;
    *ismember = set->ringside_words[event_id / 32] >> event_id % 32 & 1;
    return 0;
}

int posix_trace_eventid_equal(trace_id_t trid, trace_event_id_t event1, trace_event_id_t event2)
{
    (void)trid;
    return event1 == event2;
}
