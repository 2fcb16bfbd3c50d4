// SPDX-License-Identifier: MIT
// events: whether the top bytes of ids are numbers of cores.
//
// A kernel for several cores stores the number of the core in the top byte of an entry's id. A
// kernel for one core stores ids of user events as the program passes them, which may have a top
// byte, too. An entry alone does not show which it is, but all of them together do:
//
//     entries in a row       as cores                          as user events of one core
//     same thread, and       the thread moved to another       nothing happened
//     another top byte       core meanwhile: rare
//     another thread after   two cores ran: usual              no switch can be there: impossible
//     an id with a top byte
//     fields of an event     are threads and objects           are whatever the program passed
//     of the kernel
//
// Snapshots of one ring show it together. The firmware's ELF shows it, too: a kernel for one core
// has one pointer to the running thread. In logs that were merged from several cores or boards, the
// top bytes are always numbers of cores.
#include "events/events_room.h"

// From so many observations on, of which the other reading explains at most one in RATIO, no
// message says that it is a conclusion.
enum { ENOUGH = 4, RATIO = 16 };

static bool is_as_user(enum extract_core_ids ids)
{
    return ids == EXTRACT_CORE_IDS_USER || ids == EXTRACT_CORE_IDS_LIKELY_USER;
}

// Returns the word of an event's id as the entry contains it.
static uint32_t id_word(const struct extract_trace *trace, const struct extract_event *event)
{
    return event->id | (uint32_t)event->core << trace->snapshot->ring.format->core_shift;
}

// Notes whether the threads and the object that an event of another core names are known.
static void note_fields(struct extract_trace *trace, const struct extract_event *event)
{
    struct extract_event scratch;
    const struct extract_event *meant = event;
    const struct extract_role_fields *role =
        extract_ring_role(&trace->snapshot->ring, &meant, &scratch);
    uint64_t thread = extract_role_field(meant, role->thread);
    uint64_t object = extract_role_field(meant, role->object);
    bool is_known = (!thread || extract_names_find(trace, true, thread, event->seq)) &&
                    (!object || extract_names_find(trace, false, object, event->seq));

    if (event->core && (thread || object))
        ++*(is_known ? &trace->core_evidence.cores : &trace->core_evidence.user);
}

void core_ids_note(struct extract_trace *trace, const struct extract_event *event)
{
    struct core_evidence *found = &trace->core_evidence;
    uint8_t shift = trace->snapshot->ring.format->core_shift;

    if (!shift || trace->read_ids_as)
        return;
    if (extract_event_is_mark(event) || event->flags & EXTRACT_FLAG_GAP)
        found->last_thread = 0;
    if (extract_event_is_mark(event))
        return;
    uint32_t top = id_word(trace, event) >> shift;
    found->has_split |= event->core != 0;
    found->has_whole |= event->id >> shift != 0;
    if (top)
        note_fields(trace, event);
    if (found->last_thread && event->thread && top != found->last_top) {
        if (event->thread == found->last_thread)
            found->user++;
        else if (found->last_top)
            found->cores++;
    }
    found->last_thread = event->thread;
    found->last_top = top;
}

// Decides by what entries show.
static enum extract_core_ids decide(const struct core_evidence *found, unsigned kernel_cores,
                                    bool has_moves)
{
    if (!found->has_split && !found->has_whole)
        return EXTRACT_CORE_IDS_NONE;
    if (kernel_cores && (kernel_cores > 1 || found->cores <= found->user))
        return kernel_cores > 1 ? EXTRACT_CORE_IDS_CORES : EXTRACT_CORE_IDS_USER;
    // If the trace's filter leaves out switches, threads of one core seem to run at the same time.
    if (found->cores > found->user)
        return found->cores >= ENOUGH && found->user <= found->cores / RATIO && has_moves
                   ? EXTRACT_CORE_IDS_CORES
                   : EXTRACT_CORE_IDS_LIKELY_CORES;
    if (found->user > found->cores)
        return found->user >= ENOUGH && found->cores <= found->user / RATIO
                   ? EXTRACT_CORE_IDS_USER
                   : EXTRACT_CORE_IDS_LIKELY_USER;
    return EXTRACT_CORE_IDS_UNSURE;
}

enum extract_core_ids core_ids_decide(const struct extract_trace *const *traces, size_t count)
{
    struct core_evidence sum = {.cores = 0};
    unsigned kernel_cores = 0;
    bool has_moves = false, has_boards = false;

    for (size_t i = 0; i < count; i++) {
        const struct core_evidence *found = &traces[i]->core_evidence;
        const struct extract_ring *ring = &traces[i]->snapshot->ring;
        bool is_kernel = ring->cores && ring->cores_from == EXTRACT_CORES_KERNEL;
        sum.cores += found->cores;
        sum.user += found->user;
        sum.has_split |= found->has_split;
        sum.has_whole |= found->has_whole;
        has_moves |= traces[i]->has_moves;
        has_boards |= traces[i]->board_starts && (found->has_split || found->has_whole);
        if (is_kernel && ring->cores > kernel_cores)
            kernel_cores = ring->cores;
    }
    return has_boards ? EXTRACT_CORE_IDS_CORES : decide(&sum, kernel_cores, has_moves);
}

bool core_ids_differ(const struct extract_trace *trace, enum extract_core_ids ids)
{
    const struct core_evidence *found = &trace->core_evidence;

    return ids > EXTRACT_CORE_IDS_UNSURE && (is_as_user(ids) ? found->has_split : found->has_whole);
}

void core_ids_apply(const struct extract_trace *trace, struct extract_event *events, size_t count)
{
    uint8_t shift = trace->snapshot->ring.format->core_shift;
    bool is_user = is_as_user(trace->read_ids_as);

    for (size_t i = 0; i < count; i++) {
        struct extract_event *event = &events[i];
        uint32_t word = id_word(trace, event);
        if (extract_event_is_mark(event) || !(word >> shift) || word >= EXTRACT_ID_MARKS)
            continue;
        event->id = is_user ? word : word & ((UINT32_C(1) << shift) - 1);
        event->core = (uint8_t)(is_user ? 0 : word >> shift);
        event->type = trace->snapshot->ring.format->type(event->id);
    }
}
