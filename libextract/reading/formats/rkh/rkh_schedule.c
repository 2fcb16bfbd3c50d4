// SPDX-License-Identifier: MIT
// formats/rkh: what the events mean for the schedule. An active object is a thread that processes
// one event after the other, each to its end.
//
//   SMA_FIFO, SMA_LIFO    it gets an event
//   SMA_GET               it takes an event from its queue, and begins to process it
//   SM_EVT_PROC and the   its state machine has processed the event
//   errors of its group
//   QUE_FIFO, QUE_LIFO,   how many events are in a queue
//   QUE_GET, QUE_GET_LAST
//   MP_GET, MP_PUT        how many blocks a pool has left
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
    POOL_GET = 1,
    POOL_PUT = 2,
    QUEUE_GET = 33,
    QUEUE_FIFO = 34,
    QUEUE_LIFO = 35,
    QUEUE_GET_LAST = 38,
    GET = 66,
    FIFO = 67,
    LIFO = 68,
    FIRST_OF_SM = 96,
    EVENT_PROCESSED = 105,
    LAST_END = 111,
    LAST_OF_SM = 113
};
// Numbers of fields, from 1 on, after the translation.
enum { OBJECT = 1, PENDING, SENDER, LEVEL = PENDING };

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

// Returns what an event of a queue or memory pool states of it; NULL: nothing.
static const struct extract_role_fields *find_level(struct extract_event *event)
{
    static const struct extract_role_fields queue = {.object = OBJECT, .queued_then = LEVEL};
    static const struct extract_role_fields pool = {.object = OBJECT, .left_then = LEVEL};
    uint64_t object = 0, level = 0;
    bool is_pool = event->id == POOL_GET || event->id == POOL_PUT;
    bool is_queue = event->id >= QUEUE_GET && event->id <= QUEUE_LIFO;

    if (event->id == QUEUE_GET_LAST)
        is_queue = true;
    else if (!find_field(event, is_pool ? "nfree" : "nelem", &level))
        return NULL;
    if (!(is_pool || is_queue) || !find_field(event, is_pool ? "mp" : "q", &object))
        return NULL;
    event->field[OBJECT - 1] = object;
    event->field[LEVEL - 1] = level;
    event->fields = LEVEL;
    return is_pool ? &pool : &queue;
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
    if (!wire.nseq || !wire.ts)
        return NULL;
    if (event->id < GET)
        return find_level(event);
    if (!object)
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
