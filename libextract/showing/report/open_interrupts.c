// SPDX-License-Identifier: MIT
// report: the interrupts that each core has entered (open_interrupts.h).
#include "report/open_interrupts.h"
#include "events/events_room.h"
#include "formats/format.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_CORES = 256, MAX_NESTING = 16 };

struct open_interrupts {
    const struct extract_trace *trace;
    bool lacks_context;        // events need not state that they are in an interrupt
    unsigned depth[MAX_CORES]; // those deeper than MAX_NESTING are only counted
    uint64_t number[MAX_CORES][MAX_NESTING];
    bool is_known[MAX_CORES][MAX_NESTING]; // the number is
};

struct open_interrupts *open_interrupts_new(const struct extract_trace *trace)
{
    struct open_interrupts *open = calloc(1, sizeof *open);
    const struct extract_ring *ring = &extract_trace_snapshot(trace)->ring;

    if (!open)
        return NULL;
    open->trace = trace;
    open->lacks_context =
        ring->format->kernel->lacks_context && ring->format->kernel->lacks_context(ring);
    return open;
}

// Any event of a thread ends all interrupts of its core, since exits may not be recorded. Only
// threads make system calls.
void open_interrupts_enter(struct open_interrupts *open, const struct extract_event *event)
{
    struct extract_event scratch;

    if (extract_event_is_break(event))
        memset(open->depth, 0, sizeof open->depth);
    if (event->context != EXTRACT_ISR && !open->lacks_context) {
        open->depth[event->core] = 0;
        return;
    }
    const struct extract_role_fields *role = extract_trace_role(open->trace, &event, &scratch);
    unsigned *depth = &open->depth[event->core];
    if (role->role == EXTRACT_ROLE_SYSCALL_ENTER || role->role == EXTRACT_ROLE_SYSCALL_EXIT)
        *depth = 0;
    if (role->role != EXTRACT_ROLE_ISR_ENTER)
        return;
    if (*depth < MAX_NESTING) {
        open->number[event->core][*depth] = extract_role_field(event, role->number);
        open->is_known[event->core][*depth] = role->number != 0;
    }
    ++*depth;
}

void open_interrupts_exit(struct open_interrupts *open, const struct extract_event *event)
{
    unsigned *depth = &open->depth[event->core];
    struct extract_event scratch;

    if (!*depth)
        return;
    enum extract_role role = extract_trace_role(open->trace, &event, &scratch)->role;
    if (role == EXTRACT_ROLE_ISR_EXIT)
        --*depth;
    else if (role == EXTRACT_ROLE_ISR_RETURN)
        *depth = 0;
}

bool open_interrupts_find(const struct open_interrupts *open, uint8_t core, uint64_t *number)
{
    unsigned depth = open->depth[core];

    if (!depth || depth > MAX_NESTING || !open->is_known[core][depth - 1])
        return false;
    *number = open->number[core][depth - 1];
    return true;
}
