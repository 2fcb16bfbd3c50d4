// SPDX-License-Identifier: MIT
// events: whole periods of a clock that pass between two entries of a ring. Two timestamps do not
// show them. A clock of the length of the kernel's tick, such as SysTick's, hides one in each
// silence that is longer than a tick. Entries to the tick's interrupt show them: it enters once in
// each period, at the same place of it.
//
//     timestamps    4      4            2      4          (period 10)
//               ────┴──────┴────────────┴──────┴────
//     truth         4     14           32     44
//     interrupt  enters  enters              enters      the last one 30 later, which looks like 0
//
// So between two of its entries passes one period at least. If the timestamps show less than half
// of one, a period is hidden in between. It is taken to be just before the later entry: otherwise,
// the interrupt would have been late by all that was recorded after it.
#include "events/events_room.h"
#include "formats/role_tables.h"
#include <stdlib.h>

enum {
    BATCH = 256,
    MAX_INTERRUPTS = 16, // different ones that are compared
    PLACES = 16,         // in which a period is divided
    MIN_ENTRIES = 16     // of an interrupt that is taken for the tick's
};

// An interrupt that may be the tick's.
struct candidate {
    uint64_t number, last; // time of its newest entry, without hidden periods
    bool has_last;         // since the newest gap
    uint64_t entries, hidden;
    uint64_t place[PLACES]; // entries by where in the period they are
    bool is_missing;        // more than one period passes without an entry
};

struct search {
    struct extract_trace *trace;
    uint64_t modulus;
    struct candidate candidates[MAX_INTERRUPTS];
    size_t count;
    // NULL: the tick's interrupt is not found yet. Afterwards, only it is a candidate.
    uint8_t *marks;
};

// Returns what is known of an interrupt, which is added if needed; NULL: it is not a candidate.
static struct candidate *find_candidate(struct search *search, uint64_t number)
{
    for (size_t i = 0; i < search->count; i++)
        if (search->candidates[i].number == number)
            return &search->candidates[i];
    if (search->marks || search->count == MAX_INTERRUPTS)
        return NULL;
    search->candidates[search->count] = (struct candidate){.number = number};
    return &search->candidates[search->count++];
}

// Notes an entry. Returns whether a period is hidden before it.
static bool add_entry(struct candidate *candidate, uint64_t modulus, uint64_t ticks)
{
    uint64_t passed = ticks - candidate->last;
    bool is_hidden = candidate->has_last && passed < modulus / 2;

    candidate->is_missing |= candidate->has_last && passed / 2 >= modulus - modulus / 4;
    candidate->hidden += is_hidden;
    candidate->entries++;
    candidate->place[(uint64_t)((unsigned __int128)(ticks % modulus) * PLACES / modulus)]++;
    candidate->last = ticks;
    candidate->has_last = true;
    return is_hidden;
}

// Returns whether an interrupt enters once in each period: seven of eight entries are in one place
// or its neighbor, and most follow the one before after a period.
static bool is_tick(const struct candidate *candidate)
{
    uint64_t most = 0;

    for (unsigned i = 0; i < PLACES; i++) {
        uint64_t sum = candidate->place[i] + candidate->place[(i + 1) % PLACES];
        most = sum > most ? sum : most;
    }
    return candidate->entries >= MIN_ENTRIES && !candidate->is_missing &&
           most >= candidate->entries - candidate->entries / 8 &&
           candidate->hidden < candidate->entries / 2;
}

// Walks over the entries to interrupts.
static void walk(struct search *search)
{
    struct extract_trace *trace = search->trace;
    const struct extract_ring *ring = &trace->snapshot->ring;
    struct extract_event events[BATCH], scratch;
    struct extract_reader reader;
    size_t got;

    extract_reader_init(&reader, trace);
    while ((got = extract_reader_next(&reader, events, BATCH)))
        for (size_t i = 0; i < got; i++) {
            const struct extract_event *event = &events[i];
            bool is_break = extract_event_is_mark(event) || event->flags & EXTRACT_FLAG_GAP;
            for (size_t k = 0; is_break && k < search->count; k++)
                search->candidates[k].has_last = false;
            if (extract_event_is_mark(event))
                continue;
            uint64_t ticks = event->ticks;
            uint32_t slot = event->slot;
            const struct extract_role_fields *role = extract_ring_role(ring, &event, &scratch);
            if (role->role != EXTRACT_ROLE_ISR_ENTER || !role->number)
                continue;
            struct candidate *entered =
                find_candidate(search, extract_role_field(event, role->number));
            if (entered && add_entry(entered, search->modulus, ticks) && search->marks)
                search->marks[slot / 8] |= (uint8_t)(1u << slot % 8);
        }
}

bool extract_periods_find(struct extract_trace *trace)
{
    uint64_t modulus = trace->info.clock.modulus;
    struct search search = {.trace = trace, .modulus = modulus};
    struct candidate *tick = NULL;

    if (trace->snapshots || modulus < PLACES)
        return true;
    walk(&search);
    for (size_t i = 0; i < search.count; i++)
        if (is_tick(&search.candidates[i]) && (!tick || search.candidates[i].hidden < tick->hidden))
            tick = &search.candidates[i];
    trace->info.may_hide_periods = !tick;
    if (!tick || !tick->hidden)
        return true;
    search.marks = calloc(trace->snapshot->ring.entries.count / 8 + 1, 1);
    if (!search.marks)
        return false;
    trace->info.hidden_periods = tick->hidden;
    trace->info.tick_number = tick->number;
    search.candidates[0] = (struct candidate){.number = tick->number};
    search.count = 1;
    walk(&search);
    trace->hidden_periods = search.marks;
    return true;
}
