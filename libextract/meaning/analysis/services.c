// SPDX-License-Identifier: MIT
// analysis: how often each service was called, in all and by each thread.
//
// The counts of a thread are in an array by the numbers that services get when they are first
// called. At the end, they become lists in which the most frequent service is first.
#include "analysis/analysis_room.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_CELLS = 1 << 22 }; // counts of all threads; with more, no thread has a list

bool services_begin(struct analysis *analysis)
{
    analysis->service_of_id = calloc(SERVICE_IDS, sizeof *analysis->service_of_id);
    analysis->services_of_thread =
        calloc(analysis->stats->thread_count + 1, sizeof *analysis->services_of_thread);
    return analysis->service_of_id && analysis->services_of_thread &&
           extract_map_init(&analysis->services, 64);
}

void services_free(struct analysis *analysis)
{
    for (size_t i = 0; analysis->services_of_thread && i < analysis->stats->thread_count; i++)
        free(analysis->services_of_thread[i].counts);
    free(analysis->services_of_thread);
    free(analysis->service_of_id);
    extract_map_free(&analysis->services);
}

// Returns the name that the trace gives to a user event; NULL: none.
static const struct extract_object *find_user_event(const struct analysis *analysis,
                                                    const struct extract_event *event)
{
    uint32_t first = analysis->format->user_ids;

    if (!first || event->id < first || event->type != extract_trace_type(analysis->trace, first))
        return NULL;
    const struct extract_object *object = extract_trace_object(
        analysis->trace, extract_number_key(EXTRACT_KIND_USER_EVENT, event->id - first));
    return object && *object->name ? object : NULL;
}

// Adds a service at its first event. Returns false if memory is short.
static bool add_service(struct analysis *analysis, const struct extract_event *event)
{
    struct extract_stats *stats = analysis->stats;
    struct extract_service_stats *services = extract_grow(
        stats->services, &analysis->service_capacity, stats->service_count, sizeof *services);

    if (!services)
        return false;
    stats->services = services;
    services[stats->service_count++] =
        (struct extract_service_stats){event->type, event->id, 0, find_user_event(analysis, event)};
    return true;
}

size_t services_find(struct analysis *analysis, const struct extract_event *event)
{
    uint32_t *index = extract_map_at(&analysis->services, event->id);
    uint32_t stack_fields = 0;

    if (!index || (!*index && !add_service(analysis, event))) {
        analysis->failed = true;
        return SIZE_MAX;
    }
    if (!*index)
        *index = (uint32_t)analysis->stats->service_count;
    for (unsigned i = 0; i < event->type->fields; i++)
        if (event->type->field[i].kind == EXTRACT_KIND_STACK)
            stack_fields |= 1u << i;
    analysis->service_of_id[event->id % SERVICE_IDS] =
        (struct service_of_id){event->id, *index, stack_fields};
    return *index - 1;
}

bool services_grow_counts(struct analysis *analysis, struct thread_services *thread)
{
    size_t capacity = analysis->service_capacity, added = capacity - thread->capacity;

    if (added > MAX_CELLS - analysis->service_cells)
        analysis->has_too_many_services = true;
    if (analysis->has_too_many_services)
        return false;
    uint64_t *counts = realloc(thread->counts, capacity * sizeof *counts);
    if (!counts) {
        analysis->failed = true;
        return false;
    }
    memset(counts + thread->capacity, 0, added * sizeof *counts);
    analysis->service_cells += added;
    *thread = (struct thread_services){counts, capacity};
    return true;
}

static int compare_counts(const void *a, const void *b)
{
    const struct extract_service_stats *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

// Makes the list of one thread. Returns false if memory is short.
static bool list_services(struct extract_stats *stats, struct extract_thread_stats *thread,
                          const struct thread_services *counted)
{
    size_t count = 0;

    for (size_t i = 0; i < counted->capacity; i++)
        count += counted->counts[i] != 0;
    if (!count)
        return true;
    thread->services = calloc(count, sizeof *thread->services);
    if (!thread->services)
        return false;
    for (size_t i = 0; i < counted->capacity; i++) {
        if (!counted->counts[i])
            continue;
        thread->services[thread->service_count] = stats->services[i];
        thread->services[thread->service_count++].count = counted->counts[i];
    }
    qsort(thread->services, count, sizeof *thread->services, compare_counts);
    return true;
}

void services_end(struct analysis *analysis)
{
    struct extract_stats *stats = analysis->stats;

    for (size_t i = 0; i < stats->thread_count && !analysis->has_too_many_services; i++)
        if (!list_services(stats, &stats->threads[i], &analysis->services_of_thread[i]))
            analysis->failed = true;
    if (stats->service_count)
        qsort(stats->services, stats->service_count, sizeof *stats->services, compare_counts);
}
