// SPDX-License-Identifier: MIT
// events: finds out whether threads had cores at the same time in a trace whose events do not name
// their core. Then the events do not show who had which core.
//
// On one core, each switch takes the core from the thread that the switch before gave it to. If a
// switch was not recorded, the next one names a thread that had lost the core before, as far as the
// events show. But on several cores, it names a thread that still has the core of an older switch:
//
//     gets a core     A        B                 C
//     core 0     ─────●────────┼─────────────────●───   A loses the core, although B was the
//     core 1     ──────────────●─────────────────────   newest thread that got one
//
// The first walk over all events passes each of them to overlap_note, in order.
#include "events/event_names.h"
#include <string.h>

static void remove_taker(struct overlap *overlap, unsigned i)
{
    overlap->count--;
    memmove(&overlap->takers[i], &overlap->takers[i + 1],
            (overlap->count - i) * sizeof *overlap->takers);
}

// Returns the place after that of the newest taker of a core, if `thread` is NULL, or of the thread
// on it; 0: none.
static unsigned find_taker(const struct overlap *overlap, uint8_t core, const uint64_t *thread)
{
    for (unsigned i = overlap->count; i > 0; i--)
        if (overlap->takers[i - 1].core == core &&
            (!thread || overlap->takers[i - 1].thread == *thread))
            return i;
    return 0;
}

static void add_taker(struct overlap *overlap, uint8_t core, uint64_t thread)
{
    unsigned again = thread ? find_taker(overlap, core, &thread) : 0;

    overlap->missed += again != 0; // it lost the core without an event
    if (again)
        remove_taker(overlap, again - 1);
    else if (overlap->count == OVERLAP_TAKERS)
        remove_taker(overlap, 0);
    overlap->takers[overlap->count].core = core;
    overlap->takers[overlap->count++].thread = thread;
}

void overlap_note(struct overlap *overlap, const struct extract_scheduler *kernel,
                  const struct extract_event *event, const struct extract_role_fields *role)
{
    bool is_whole = !extract_event_is_mark(event) && !(event->flags & EXTRACT_FLAG_GAP) &&
                    !(kernel && kernel->is_control && kernel->is_control(event->type));

    if (!is_whole)
        overlap->count = 0;
    if (role->role != EXTRACT_ROLE_SWITCH)
        return;
    if (role->thread) {
        const uint64_t left = extract_role_field(event, role->thread);
        unsigned place = find_taker(overlap, event->core, &left);
        unsigned newest = find_taker(overlap, event->core, NULL);
        if (newest && newest != place)
            *(place ? &overlap->at_once : &overlap->missed) += 1;
        if (place)
            remove_taker(overlap, place - 1);
    }
    add_taker(overlap, event->core, extract_role_field(event, role->next));
}

bool overlap_is_likely(const struct overlap *overlap)
{
    return overlap->at_once > 1 && overlap->at_once > overlap->missed;
}
