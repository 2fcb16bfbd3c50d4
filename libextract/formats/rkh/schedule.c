// SPDX-License-Identifier: MIT
// formats/rkh: what the events mean for the schedule. An active object is a thread that processes
// one event after the other, each to its end.
//
//   SMA_FIFO, SMA_LIFO    it gets an event
//   SMA_GET               it takes an event from its queue, and begins to process it
//   SM_EVT_PROC and the   its state machine has processed the event
//   errors of its group
//
// Other events of its state machine show that it runs. Events of queues, pools, timers and users do
// not state which active object, or interrupt, recorded them.
//
// Without sequence numbers, lost frames cannot be noticed; then no event has a meaning here. The
// same holds without timestamps, and for versions before 3.0, of which the events do not state how
// many events wait.
//
// Source: docs/formats/rkh.md.
#include "formats/rkh/rkh.h"
#include "formats/rkh/target/target.h"
#include <string.h>

enum {
    GET = 66,
    FIFO = 67,
    LIFO = 68,
    FIRST_OF_SM = 96,
    EVENT_PROCESSED = 105,
    LAST_END = 111,
    LAST_OF_SM = 113
};
// Numbers of fields, from 1 on, after the translation.
enum { OBJECT = 1, PENDING, SENDER };

// Returns the value of a field by its name. Returns false if the event does not have it.
static bool find_field(const struct extract_event *event, const char *name, uint64_t *value)
{
    for (unsigned i = 0; i < event->type->fields && i < event->fields; i++)
        if (strcmp(event->type->field[i].label, name) == 0) {
            *value = event->field[i];
            return true;
        }
    return false;
}

const struct extract_role_fields *rkh_translate(const struct extract_ring *ring,
                                                struct extract_event *event)
{
    static const struct extract_role_fields post = {
        .role = EXTRACT_ROLE_POST, .thread = OBJECT, .pending = PENDING, .sender = SENDER};
    static const struct extract_role_fields begin = {
        .role = EXTRACT_ROLE_STEP_BEGIN, .next = OBJECT, .pending = PENDING};
    static const struct extract_role_fields end = {.role = EXTRACT_ROLE_STEP_END, .thread = OBJECT};
    bool is_of_machine = event->id >= FIRST_OF_SM && event->id <= LAST_OF_SM;
    bool is_end = event->id >= EVENT_PROCESSED && event->id <= LAST_END;
    uint64_t object = event->thread, pending = 0, sender = 0;
    struct rkh_wire wire;

    (void)ring;
    rkh_wire_unpack(&wire, (uint32_t)event->priority_word);
    if (!is_of_machine)
        event->thread = 0; // the active object that the event is about need not have recorded it
    if (!wire.nseq || !wire.ts || !object)
        return NULL;
    bool is_counted = find_field(event, "nelem", &pending);
    bool has_sender = find_field(event, "sender", &sender);
    event->field[OBJECT - 1] = object;
    event->field[PENDING - 1] = pending;
    event->field[SENDER - 1] = has_sender ? sender : 0;
    if (event->id == GET)
        return is_counted ? &begin : NULL;
    if (event->id == FIFO || event->id == LIFO)
        return is_counted ? &post : NULL;
    return is_end ? &end : NULL;
}

static bool lacks_context(const struct extract_ring *ring)
{
    (void)ring;
    return true;
}

static enum extract_priority_order priority(struct extract_memory *memory,
                                            struct extract_symbols *symbols, uint64_t address,
                                            uint16_t *priority)
{
    return rkh_actor_priority(memory, symbols, address, priority) ? EXTRACT_PRIORITY_LOW_FIRST
                                                                  : EXTRACT_PRIORITY_ORDER_UNKNOWN;
}

const struct extract_scheduler rkh_kernel = {.translate = rkh_translate,
                                             .lacks_context = lacks_context,
                                             .has_steps = true,
                                             .order = EXTRACT_PRIORITY_LOW_FIRST,
                                             .priority = priority};
