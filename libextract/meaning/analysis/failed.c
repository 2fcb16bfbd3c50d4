// SPDX-License-Identifier: MIT
// analysis: which calls of services failed.
//
// The result of a call is not in its event. Two kinds of failures can be seen all the same:
//
//   call (may wait) ── suspended ── the time is over, or the wait is aborted
//   call (may not wait), and the event states that there is nothing to get, or no room
#include "analysis/failed.h"
#include "base/grow.h"
#include "schedule/walk.h"
#include <stdlib.h>

// The newest call of a thread that could begin a wait.
struct newest_call {
    uint64_t seq;
    bool is_known;
};

struct search {
    struct failed_calls *failed;
    const struct extract_trace *trace;
    struct extract_map thread_of_address; // index + 1
    struct newest_call *calls;            // per thread
    size_t count, capacity;
    bool is_short; // of memory
};

static void add_call(struct search *search, uint64_t seq, uint32_t value)
{
    uint32_t *entry = extract_map_at(&search->failed->seqs, seq);

    if (entry)
        *entry = value;
    else
        search->is_short = true;
}

static struct newest_call *call_of(struct search *search, uint64_t thread)
{
    uint32_t *index = extract_map_at(&search->thread_of_address, thread);

    if (index && *index)
        return &search->calls[*index - 1];
    struct newest_call *calls =
        index ? extract_grow(search->calls, &search->capacity, search->count, sizeof *calls) : NULL;
    if (!calls) {
        search->is_short = true;
        return NULL;
    }
    search->calls = calls;
    calls[search->count] = (struct newest_call){.is_known = false};
    *index = (uint32_t)++search->count;
    return &calls[*index - 1];
}

uint64_t failed_calls_room(const struct extract_trace *trace, uint64_t seq, uint64_t address)
{
    const struct extract_object *queue = extract_trace_object_at(trace, address, seq);
    const struct extract_ring *ring = &extract_trace_snapshot(trace)->ring;
    // In a merged log, words are wider than those of the target.
    uint64_t word = ring->pointer_bytes && ring->pointer_bytes < ring->word_bytes
                        ? ring->pointer_bytes
                        : ring->word_bytes;

    return queue && queue->registered && queue->param2 && queue->param2 < UINT32_MAX
               ? queue->param1 / (queue->param2 * word)
               : 0;
}

// Returns whether a call that may not wait could not succeed.
static bool fails_at_once(const struct search *search, const struct extract_event *event,
                          const struct extract_role_fields *role)
{
    uint64_t object = extract_role_field(event, role->object);
    uint64_t owner = extract_role_field(event, role->owner);

    if (!role->begins || !role->timeout || extract_role_field(event, role->timeout))
        return false;
    if (role->queued && role->is_send) {
        uint64_t room = failed_calls_room(search->trace, event->seq, object);
        return room && extract_role_field(event, role->queued) >= room;
    }
    if (role->queued)
        return !extract_role_field(event, role->queued);
    if (role->left)
        return !extract_role_field(event, role->left);
    if (role->instances)
        return !extract_role_field(event, role->instances);
    return role->role == EXTRACT_ROLE_MUTEX_GET && owner && owner != event->thread;
}

static void add_event(void *context, const struct extract_event *event,
                      const struct extract_role_fields *role, uint8_t standing)
{
    struct search *search = context;

    (void)standing;
    if (fails_at_once(search, event, role))
        add_call(search, event->seq, CALL_FAILED);
    struct newest_call *call =
        role->begins && event->context == EXTRACT_THREAD ? call_of(search, event->thread) : NULL;
    if (call)
        *call = (struct newest_call){event->seq, true};
}

static void add_wake(void *context, const struct extract_wake *wake)
{
    struct search *search = context;
    struct newest_call *call = call_of(search, wake->thread);

    if (!call || !call->is_known)
        return;
    if (wake->reason == EXTRACT_WAKE_TIMEOUT || wake->is_aborted)
        add_call(search, call->seq, CALL_FAILED);
    else if (wake->reason == EXTRACT_WAKE_UNKNOWN || wake->is_likely)
        add_call(search, call->seq, CALL_MAY_HAVE_FAILED);
}

static void add_gap(void *context, const struct extract_event *marker)
{
    struct search *search = context;

    (void)marker;
    for (size_t i = 0; i < search->count; i++)
        search->calls[i].is_known = false;
}

enum extract_code failed_calls_find(struct failed_calls *failed, const struct extract_trace *trace,
                                    struct extract_error *error)
{
    struct search search = {.failed = failed, .trace = trace};
    const struct extract_schedule_sink sink = {.context = &search, .wake = add_wake};
    const struct schedule_observer observer = {
        .context = &search, .event = add_event, .gap = add_gap};
    enum extract_code code = EXTRACT_OK;

    if (failed->is_known)
        return EXTRACT_OK;
    search.is_short =
        !extract_map_init(&failed->seqs, 16) || !extract_map_init(&search.thread_of_address, 16);
    if (!search.is_short)
        code = schedule_walk(NULL, trace, &sink, &observer, error);
    free(search.calls);
    extract_map_free(&search.thread_of_address);
    if (!code && search.is_short)
        code = extract_error_set(error, EXTRACT_NOMEM, "failed calls", NULL, "out of memory");
    if (code)
        failed_calls_free(failed);
    failed->is_known = !code;
    return code;
}

void failed_calls_free(struct failed_calls *failed)
{
    extract_map_free(&failed->seqs);
    failed->is_known = false;
}
